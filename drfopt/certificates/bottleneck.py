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

HUGE = 1e300
"""Times any positive demand this is above any level, so that the smaller of both is a user's level where she demands
something, and 0 elsewhere; two operations on floats, where a product with yes or no is slower."""

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

    `rates` are those of the policy, (n,), where they have been computed before.  Two passes over the users, block by
    block: beside the instance and the tasks the proof needs next to no memory.
    """
    infeasible, reason = infeasibility(instance, tasks, None)
    if not np.isfinite(infeasible):
        return Certificate(kind="bottleneck", valid=False, violation=infeasible, reason=reason)
    users = _Users(instance, policy.rates(instance) if rates is None else rates, tasks)
    tops, worst, i = users.examined()
    violation = max(worst, infeasible)
    valid = infeasible <= CAPACITY and violation <= LEVEL
    if not reason and not valid:
        reason = (
            f"user {instance.users[i]!r} has no bottleneck and is not at its limit: "
            f"its level could rise by {worst:.1e} of it (exact=True computes in fractions)"
        )
    return Certificate(
        kind="bottleneck",
        valid=valid,
        violation=violation,
        stopped_by=partial(users.bottlenecks, tops),
        reason=reason,
    )


class _Users:
    """An instance and tasks (n,), looked at block by block; blocks are columns of the table of demands, (m, rows)."""

    def __init__(self, instance: Instance, rates: np.ndarray, tasks: np.ndarray):
        self.instance, self.rates, self.tasks = instance, rates, tasks
        unplaced = instance.unplaced()
        self.unplaced = unplaced if unplaced.any() else None

    def levels(self, rows: slice) -> np.ndarray:
        return self.rates[rows] * self.tasks[rows]

    def examined(self) -> tuple[Tops, float, int]:
        """Return the tops, the largest violation, and whose it is.

        Of the saturated resources a user needs, the one whose top is lowest is the best for her: that bounds her
        violation from above, and who is near enough to it needs no closer look.  What is held at the tops is added up
        in the same pass, on the assumption that it is enough on every resource that is full.
        """
        instance, demands = self.instance, self.instance.demands
        highest = np.max(in_blocks(instance.n, self._highest), axis=0)
        unused = np.abs(instance.capacity - self.tasks @ demands)
        full = (unused <= LEVEL * instance.capacity) & (instance.capacity > 0) & (highest > 0)
        tops, worst, i = self._pass(highest, unused, full)
        if not (tops.rise[full] <= LEVEL).all():
            tops, worst, i = self._pass(highest, unused, tops.rise <= LEVEL)
        if worst > LEVEL:
            # Seldom, and then the reader wants to know by how much: every resource counts, saturated or not.
            tops = self._pass(highest, unused, (instance.capacity > 0) & (highest > 0))[0]
            worst, i = max(in_blocks(instance.n, lambda rows: self._closer(rows, tops)))
        return tops, worst, i

    def _highest(self, rows: slice) -> np.ndarray:
        """Return the highest level on each resource among some users, (m,)."""
        with np.errstate(over="ignore"):
            scaled = columns(self.instance.demands, rows) * HUGE
        return np.minimum(scaled, self.levels(rows), out=scaled).max(axis=1)

    def _pass(self, highest: np.ndarray, unused: np.ndarray, saturated: np.ndarray) -> tuple[Tops, float, int]:
        """Look at everybody, taking some resources for saturated."""
        instance = self.instance
        nearly = highest * (1 - LEVEL)
        inverse = np.divide(1, highest, where=saturated, out=np.zeros(instance.m))[:, None]

        def look(rows: slice) -> tuple[np.ndarray, float, int]:
            block, levels, tasks = columns(instance.demands, rows), self.levels(rows), self.tasks[rows]
            held = np.zeros(instance.m)
            for j in np.flatnonzero(saturated):
                there = np.flatnonzero(levels >= nearly[j])
                held[j] = block[j].take(there) @ tasks.take(there)
            bound = ((block > 0) * inverse).max(axis=0)
            none = bound == 0
            bound *= levels
            np.subtract(1, bound, out=bound)
            bound[none] = np.inf
            short = self._short_of_limit(rows)
            if short is not None:
                np.minimum(bound, short, out=bound)
            i = int(bound.argmax())
            return held, float(bound[i]), rows.start + i

        parts = in_blocks(instance.n, look)
        rise = self._rises(unused, np.sum([held for held, _, _ in parts], axis=0), saturated)
        tops = Tops(highest, rise)
        worst, i = max((worst, i) for _, worst, i in parts)
        return tops, max(worst, float(rise[saturated].max(initial=0.0))), i

    def _rises(self, unused: np.ndarray, held: np.ndarray, saturated: np.ndarray) -> np.ndarray:
        """Return how far the tops could rise in what is unused, relative to them, (m,)."""
        instance, unused = self.instance, unused.copy()
        full = unused <= LEVEL * instance.capacity
        for j in np.flatnonzero(saturated & full & (held < LITTLE * instance.capacity)):
            # The highest hold so little that rounding of what the others hold would decide.
            precisely = _unused if held[j] >= LEAST * instance.capacity[j] else _exactly_unused
            unused[j] = precisely(instance, self.tasks, int(j))
        return np.divide(unused, held, where=held > 0, out=np.full(instance.m, np.inf))

    def _closer(self, rows: slice, tops: Tops) -> tuple[float, int]:
        """Return the largest violation of some users, and whose it is, with every resource of theirs looked at."""
        found = _deficits(columns(self.instance.demands, rows), self.levels(rows), tops).min(axis=0)
        short = self._short_of_limit(rows)
        if short is not None:
            np.minimum(found, short, out=found)
        i = int(found.argmax())
        return float(found[i]), rows.start + i

    def bottlenecks(self, tops: Tops) -> tuple[str | None, ...]:
        """Return the bottleneck of each user, None at her limit; made only when somebody asks."""
        resources = self.instance.resources

        def look(rows: slice) -> list[str | None]:
            deficits = _deficits(columns(self.instance.demands, rows), self.levels(rows), tops)
            names: list[str | None] = [resources[j] for j in deficits.argmin(axis=0).tolist()]
            short = self._short_of_limit(rows)
            if short is not None:
                for i in np.flatnonzero(short <= np.minimum(deficits.min(axis=0), LEVEL)).tolist():
                    names[i] = None
            return names

        return tuple(chain.from_iterable(in_blocks(self.instance.n, look)))

    def _short_of_limit(self, rows: slice) -> np.ndarray | None:
        """Return how far users are below their limits, relative to them: inf without one; None where nobody has one.

        Who is unplaced and has nothing is where she must be.
        """
        if not self.instance.limited and self.unplaced is None:
            return None
        limits, tasks = self.instance.limits[rows], self.tasks[rows]
        limited = (limits > 0) & (limits < np.inf)
        short = np.divide(tasks, limits, where=limited, out=np.zeros(len(tasks)))
        short = np.where(limited, np.maximum(1 - short, 0), np.where(limits == 0, 0.0, np.inf))
        if self.unplaced is not None:
            unplaced = self.unplaced[rows]
            short[unplaced] = np.where(tasks[unplaced] == 0, 0.0, np.inf)
        return short


def _deficits(demands: np.ndarray, levels: np.ndarray, tops: Tops) -> np.ndarray:
    """Return how far users are from having each resource as a bottleneck, relative to its top; all (m, n)."""
    top, rise = tops.level[:, None], tops.rise[:, None]
    below = 1 - np.divide(levels, top, where=top > 0, out=np.zeros(demands.shape))
    return np.where(demands > 0, np.maximum(below, rise), np.inf)


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
