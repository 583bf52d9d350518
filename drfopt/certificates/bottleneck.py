"""Leximin in one pool: everybody is at her limit or has a bottleneck.

A bottleneck of a user is a saturated resource that she uses and on which no other user of it has a higher level.
An allocation is max-min fair exactly when every placed user is at her limit or has one (Bertsekas and Gallager,
Data Networks, 1992, section 6.5.2, for one resource a link; Ghodsi et al., NSDI 2011, for dominant shares).

What rounding leaves is measured in levels: a user's deficit on a resource is how far she is below the highest level on
it, or how far the highest level could still rise in what is unused (relative to what the users at that level hold),
whichever is more.  Her violation is the smallest over her resources, and 0 at her limit.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import chain

import numpy as np

from ..allocation import Certificate
from ..arrays import columns, in_blocks
from ..instance import Instance
from ..policies import Policy
from ..tolerances import CAPACITY, LEVEL
from .feasibility import infeasibility

__all__ = ["certify"]

LITTLE = 1e-5
"""Part of a capacity that the users at the highest level on it hold, below which their sum with the others' tasks is
taken without rounding: a rounding of the capacity would be more than the accuracy promised of their level."""

LEAST = 1e-6
"""The same, below which even the rounding of decimals to floats would be: there the sum is taken in fractions."""

HALVES = 2.0**27 + 1
"""Splits a float into two of half its digits, whose products have no rounding (Dekker 1971)."""


@dataclass(frozen=True)
class Tops:
    """The highest level on each resource (m,), and how far it could still rise in what is unused, relative to it (m,).

    A resource that nobody uses has a top of 0 and could rise for ever.
    """

    level: np.ndarray
    rise: np.ndarray


def certify(instance: Instance, policy: Policy, tasks: np.ndarray, rates: np.ndarray | None = None) -> Certificate:
    """Return the bottleneck certificate of tasks (n,) in a pool.

    `rates` are those of the policy, (n,), where they have been computed before.  Four passes over the users.
    """
    infeasible, reason = infeasibility(instance, tasks, None)
    if not np.isfinite(infeasible):
        return Certificate(kind="bottleneck", valid=False, violation=infeasible, reason=reason)
    levels = (policy.rates(instance) if rates is None else rates) * tasks
    tops = _tops(instance, levels, tasks)
    short = _short_of_limit(instance, tasks)
    violations = _violations(instance, levels, tops)
    if short is not None:
        np.minimum(violations, short, out=violations)
    doubtful = np.flatnonzero(violations > LEVEL)
    if doubtful.size:
        # Seldom, and then the reader wants to know by how much: every resource of hers counts.
        violations[doubtful] = _deficits(instance.demands[doubtful].T, levels[doubtful], tops).min(axis=0)
        if short is not None:
            np.minimum(violations, short, out=violations)
    violation = max(float(violations.max()), infeasible)
    valid = infeasible <= CAPACITY and violation <= LEVEL
    if not reason and not valid:
        i = int(violations.argmax())
        reason = (
            f"user {instance.users[i]!r} has no bottleneck and is not at her limit: "
            f"her level could rise by {violations[i]:.1e} of it (exact=True computes in fractions)"
        )
    return Certificate(
        kind="bottleneck",
        valid=valid,
        violation=violation,
        stopped_by=partial(_names, instance, levels, tops, short),
        reason=reason,
    )


def _tops(instance: Instance, levels: np.ndarray, tasks: np.ndarray) -> Tops:
    """Return the top of each resource."""
    demands = instance.demands
    found = in_blocks(instance.n, lambda rows: ((columns(demands, rows) > 0) * levels[rows]).max(axis=1))
    highest = np.max(found, axis=0)
    nearly = (highest * (1 - LEVEL))[:, None]

    def hold(rows: slice) -> np.ndarray:
        return np.einsum("ji,ji->j", columns(demands, rows), (levels[rows] >= nearly) * tasks[rows])

    held = np.sum(in_blocks(instance.n, hold), axis=0)
    unused = np.abs(instance.capacity - tasks @ instance.demands)
    full = unused <= LEVEL * instance.capacity
    for j in np.flatnonzero(full & (held < LITTLE * instance.capacity) & (highest > 0)):
        # The highest hold so little that rounding of what the others hold would decide.
        precisely = _unused if held[j] >= LEAST * instance.capacity[j] else _exactly_unused
        unused[j] = precisely(instance, tasks, int(j))
    used = (instance.capacity > 0) & (highest > 0)
    return Tops(highest, np.divide(unused, held, where=used, out=np.full(instance.m, np.inf)))


def _violations(instance: Instance, levels: np.ndarray, tops: Tops) -> np.ndarray:
    """Return a bound on how far each user is from having a bottleneck, (n,); inf where none of hers is saturated.

    Of the saturated resources she uses the one whose top is lowest is the best for her.
    """
    saturated = tops.rise <= LEVEL
    inverse = np.divide(1, tops.level, where=saturated, out=np.zeros(instance.m))
    violations = np.empty(instance.n)

    def look(rows: slice) -> None:
        np.max((columns(instance.demands, rows) > 0) * inverse[:, None], axis=0, out=violations[rows])

    in_blocks(instance.n, look)
    without = violations == 0
    np.subtract(1, np.multiply(levels, violations, out=violations), out=violations)
    np.maximum(violations, tops.rise[saturated].max(initial=0.0), out=violations)
    violations[without] = np.inf
    return violations


def _deficits(demands: np.ndarray, levels: np.ndarray, tops: Tops) -> np.ndarray:
    """Return how far users are from having each resource as a bottleneck, relative to its top; all (m, n)."""
    top, rise = tops.level[:, None], tops.rise[:, None]
    below = 1 - np.divide(levels, top, where=top > 0, out=np.zeros(demands.shape))
    return np.where(demands > 0, np.maximum(below, rise), np.inf)


def _short_of_limit(instance: Instance, tasks: np.ndarray) -> np.ndarray | None:
    """Return how far each user is below her limit, relative to it, (n,): inf without one; None where nobody has one.

    Who is unplaced and has nothing is where she must be.
    """
    unplaced = np.flatnonzero(instance.unplaced())
    if not instance.limited and not unplaced.size:
        return None
    short = np.full(instance.n, np.inf)
    limits = instance.limits
    short[limits == 0] = 0.0
    positive = np.flatnonzero((limits > 0) & (limits < np.inf))
    short[positive] = np.maximum(1 - tasks[positive] / limits[positive], 0)
    short[unplaced] = np.where(tasks[unplaced] == 0, 0.0, np.inf)
    return short


def _unused(instance: Instance, tasks: np.ndarray, j: int) -> float:
    """Return what floats leave of resource j, rounded once: products with their errors, and a sum without any."""
    column = instance.demands[:, j]
    product = column * tasks
    (high, low), (upper, lower) = _halves(column), _halves(tasks)
    error = ((high * upper - product) + high * lower + low * upper) + low * lower
    return abs(math.fsum(chain((instance.capacity[j],), (-product).tolist(), (-error).tolist())))


def _halves(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scaled = values * HALVES
    high = scaled - (scaled - values)
    return high, values - high


def _exactly_unused(instance: Instance, tasks: np.ndarray, j: int) -> float:
    used = Fraction(0)
    for i, (x, row) in enumerate(zip(tasks.tolist(), instance.exact_demands, strict=True)):
        if row[j]:
            # Who is at her limit has the limit as it was written, of which the float is a rounding.
            limit = instance.exact_limits[i] if x == instance.limits[i] else None
            used += (Fraction(x) if limit is None else limit) * row[j]
    return abs(float(instance.exact_capacity[j] - used))


def _names(instance: Instance, levels: np.ndarray, tops: Tops, short: np.ndarray | None) -> tuple[str | None, ...]:
    """Return the bottleneck of each user, None at her limit; made only when somebody asks."""
    bottleneck, nearest = np.empty(instance.n, dtype=np.intp), np.empty(instance.n)

    def look(rows: slice) -> None:
        deficits = _deficits(columns(instance.demands, rows), levels[rows], tops)
        bottleneck[rows], nearest[rows] = deficits.argmin(axis=0), deficits.min(axis=0)

    in_blocks(instance.n, look)
    at_limit = np.zeros(instance.n, dtype=bool) if short is None else short <= np.minimum(nearest, LEVEL)
    resources = instance.resources
    return tuple(None if i else resources[j] for i, j in zip(at_limit.tolist(), bottleneck.tolist(), strict=True))
