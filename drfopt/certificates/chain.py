"""Leximin on machines: a chain of dual vectors, one a round.

A round has a level t, prices p >= 0 of the capacities (per class and resource, of the whole class) and multipliers
lambda_i >= 0 of the users with  lambda_i * rate_i <= sum_j p_kj a_ikj  on every class k she may use.  Then in every
feasible allocation  sum_i lambda_i level_i <= sum_kj p_kj.

Let y be the levels of the allocation, each user finished at her limit or in exactly one round, and let every round
have  y_i <= t  for those finished before it and  y_i >= t  for the others.  If the bound is met with equality by
min(y, t), then whoever has a positive multiplier cannot exceed t while nobody of level at most t falls: a user who
could gain would, by convexity, gain a little without taking anybody above t down to it, and break the bound.  So every
user is at her limit or has nobody higher to take from: the levels are max-min fair, which is leximin.

What rounding leaves is ``excess = sum p - sum lambda min(y, t)``: while nobody falls, user i cannot exceed t by more
than ``excess / lambda_i``, and that is her violation, relative to t.  The excess is a difference of sums of the size of
``sum p``, so what their rounding can account for is not held against anybody; in return a price below `DUAL_POSITIVE`
of the largest counts as none.  That alone would let a user who takes next to nothing rise far on what others lose in
rounding, so the other half of optimality is asked for too: whoever must pay at the prices of a round, on every class
she may use, has a level of at most t.  This is the bottleneck's "nobody who uses it has a higher level".

A round that meets its bound says more: nobody is on a class that costs her more than lambda_i rate_i, or what is paid
there too much would be missing.  Such a pair is *closed*, and the rounds after it need not speak of it: levels that
meet the bound of a later round's t meet those of all before.  So a round's prices may be those of one part of the
cluster, and everybody else has a class that is free.

How far are the levels from the true ones?  What a bound leaves open can be small because two errors cancel: a row that
is overfull and money that is paid on a class too dear.  So they are counted apart.  Let round r miss

    miss_r  =  sum_kj p_kj |1 - used_kj|  +  sum_ik z_ik (cost_ik - lambda_i rate_i)

and let  mass_r  be the sum of lambda_i over those whom no earlier round has finished.

*Theorem.* Let the cluster's optimum y* finish the same users in the same order, on classes that are open here, by rows
that are full at it, and let  |y*_i - y_i| <= e_i  for those finished before round r.  Then the level t* of the round is
at most  t + (miss_r + sum_before lambda_i e_i) / mass_r,  and at least t less the same with the optimum's own prices.

*Proof.* At all levels  sum lambda_i y_i + (money idle) + (money paid too dear)  is  sum p.  At y* nothing of it is
negative: sum lambda_i y*_i <= sum p.  At y it holds with rows that may be overfull, so that  sum lambda_i y_i  is at
least  sum p - miss_r.  Subtract, and everybody in round r is at t or t*: mass_r (t* - t) <= miss_r + sum lambda_i e_i.
With y and y* exchanged and the prices of the optimum, at which by assumption y* misses nothing, the same inequality
bounds t - t*.

The prices of the optimum are these, but for a part that is as small as what is missed; so the bound of each level is
part of its user's violation, and an error that grew from round to round is seen.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..base.tolerances import CAPACITY, DUAL_POSITIVE, LEVEL
from ..model.allocation import Certificate
from ..model.evidence import ChainEvidence, Round
from ..model.instance import Instance
from ..model.policies import Policy
from .feasibility import infeasibility
from .open_pairs import OpenPairs

__all__ = [
    "CERTAIN",
    "DEARER",
    "Round",
    "cell_names",
    "certify",
    "cheapest_costs",
    "excess",
    "firm",
    "pays",
    "unit_costs",
]

CERTAIN = 0.1
"""Part of the promised accuracy that one round may spend."""

DEARER = 1e-7
"""Part of what a class costs a user that it must cost too much to be closed to her: far above what prices are off by;
what stays open by it does no harm."""

ROUNDINGS = 8
"""Roundings that a term of the excess has gone through: share, rate, level, product, each by half a unit or so."""

ROUNDED = 4 * np.finfo(float).eps
"""Relative rounding of a level, and of what is used of a row: sums of many terms, each rounded once or twice."""


def firm(prices: np.ndarray) -> np.ndarray:
    """Return the prices without those that rounding may have made."""
    return np.where(prices >= DUAL_POSITIVE * prices.max(initial=0.0), np.maximum(prices, 0), 0.0)


def excess(prices: np.ndarray, multipliers: np.ndarray, levels: np.ndarray) -> float:
    """Return what the bound leaves open at these levels, beyond what rounding accounts for."""
    total = float(prices.sum())
    if not math.isfinite(total):
        return math.inf
    left = math.fsum([*prices.ravel().tolist(), *(-multipliers * levels).tolist()])
    return max(left - ROUNDINGS * np.finfo(float).eps * total, 0.0)


def unit_costs(instance: Instance, prices: np.ndarray) -> np.ndarray:
    """Return what one task costs on each class at prices of whole classes, (n, k); inf where it does not fit.

    Where users have several task types these are rows, (q, k).
    """
    total = instance.room
    per_unit = np.divide(prices, total, where=total > 0, out=np.zeros_like(prices))
    if (types := instance.type_table) is not None:
        return np.where(types.fits, types.demands @ per_unit.T, np.inf)
    costs = instance.demands @ per_unit.T
    return costs if instance.fits is None else np.where(instance.fits, costs, np.inf)


def cheapest_costs(instance: Instance, costs: np.ndarray) -> np.ndarray:
    """Return what one task of each user costs, (n,): every type of hers on its cheapest class, in its proportion."""
    least = costs.min(axis=1)
    types = instance.type_table
    return least if types is None else types.summed(types.part * least)


def certify(
    instance: Instance, policy: Policy, tasks: np.ndarray, placement: np.ndarray | None, rounds: Sequence[Round]
) -> Certificate:
    """Return the chain certificate of tasks (n,) placed as (n, k), or by type (q, k)."""
    infeasible, reason = infeasibility(instance, tasks, placement)
    rates = policy.rates(instance)
    levels = rates * tasks
    tops = np.where(
        np.isfinite(instance.limits),
        rates * np.where(np.isfinite(instance.limits), instance.limits, 0),
        np.inf,
    )
    unplaced = instance.unplaced()
    at_limit = ~unplaced & (levels >= tops * (1 - LEVEL))
    times = np.zeros(instance.n, dtype=np.int64)
    violations = np.where(unplaced & (tasks != 0), np.inf, 0.0)
    named: list[tuple[np.ndarray, np.ndarray]] = []
    filled = _filled(instance, tasks, placement)
    error = ROUNDED * levels
    # A user at her limit is finished by it, from the first round whose level reaches her.
    before = np.zeros(instance.n, dtype=bool)
    rows = instance.n if instance.type_table is None else len(instance.type_table.owner)
    closed = np.zeros((rows, max(1, instance.k)), dtype=bool)
    types = instance.type_table
    blocks = OpenPairs.of(*closed.shape, instance.fits if types is None else types.fits)
    for link in rounds:
        finished = np.asarray(link.finished, dtype=np.intp)
        finished = finished[~at_limit[finished]]
        held = before | (at_limit & (levels <= link.level * (1 + LEVEL))) | unplaced
        violations = np.maximum(violations, _out_of_order(levels, held, unplaced, link.level))
        left, multipliers, paying, dear = _excess(instance, rates, levels, link, closed, blocks, filled)
        prices = firm(link.prices)
        missed = dear + float((prices * np.abs(1 - filled.rows)).sum()) + ROUNDED * float(prices.sum())
        mass = float(multipliers[~held].sum())
        before_it = held & (multipliers > 0)
        off = (missed + float(multipliers[before_it] @ error[before_it])) / mass if mass > 0 else np.inf
        error[finished] = off + np.abs(levels[finished] - link.level)
        violations = np.maximum(
            violations, np.where(paying & ~unplaced, np.maximum(_relative(levels, link.level) - 1, 0), 0)
        )
        proven = multipliers[finished] * link.level
        could_rise = np.divide(left, proven, where=proven > 0, out=np.full(len(finished), np.inf))
        off_level = _relative(error[finished], link.level)
        violations[finished] = np.maximum(violations[finished], np.maximum(could_rise, off_level))
        times[finished] += 1
        before[finished] = True
        named.append((finished, link.prices))
    astray = ~unplaced & ~at_limit & (times != 1)
    violations[astray] = np.inf
    violation = max(float(violations.max()), infeasible)
    valid = infeasible <= CAPACITY and violation <= LEVEL
    if not reason and not valid:
        i = int(violations.argmax())
        user = instance.users[i]
        reason = f"user {user!r} is not proven to be finished at level {levels[i]:.6g}: off by {violations[i]:.1e}"
    return Certificate(
        kind="chain",
        valid=valid,
        violation=violation,
        stopped_by=partial(_stopped_by, instance, named),
        evidence=ChainEvidence(rounds=tuple(rounds)),
        reason=reason,
    )


def _relative(values: np.ndarray, level: float) -> np.ndarray:
    """Return values in terms of a level; of a level of 0, which limits of 0 have, anything is infinitely much."""
    return np.divide(values, level, out=np.where(values > 0, np.inf, 0.0), where=level > 0)


def _out_of_order(levels: np.ndarray, held: np.ndarray, unplaced: np.ndarray, level: float) -> np.ndarray:
    """Return how far finished users are above the level of the round, and the others below it, relative to it."""
    if not level > 0:
        return np.full(len(levels), np.inf)
    off = np.where(held, levels - level, level - levels) / level
    return np.where(unplaced, 0, np.maximum(off, 0))


@dataclass(frozen=True, eq=False)
class _Filled:
    """A placement as the rounds see it: parts of the classes that are used (k, m), and tasks of every row (rows, k)."""

    rows: np.ndarray
    amounts: np.ndarray


def _filled(instance: Instance, tasks: np.ndarray, placement: np.ndarray | None) -> _Filled:
    amounts = tasks[:, None] if placement is None else placement
    types = instance.type_table
    demands = instance.demands if types is None or placement is None else types.demands
    room = instance.room
    return _Filled(np.divide(amounts.T @ demands, room, where=room > 0, out=np.ones_like(room)), amounts)


def _excess(
    instance: Instance,
    rates: np.ndarray,
    levels: np.ndarray,
    link: Round,
    closed: np.ndarray,
    blocks: list[OpenPairs],
    filled: _Filled,
) -> tuple[float, np.ndarray, np.ndarray, float]:
    """Return what the bound leaves open, the multipliers cut to what the prices allow, who must pay (n,), and what the
    amounts pay beyond the multipliers.

    What the round closes is noted in `closed` (n, k), by type (q, k) where users have several.  Costs of all pairs are
    made twice, for some users at a time, and never kept.
    """
    prices, types, total = firm(link.prices), instance.type_table, instance.room
    per_unit = np.divide(prices, total, where=total > 0, out=np.zeros_like(prices))
    demands = instance.demands if types is None else types.demands
    least = np.concatenate([pairs.cheapest(pairs.costs(demands, per_unit), closed) for pairs in blocks])
    cheapest = least if types is None else types.summed(types.part * least)
    allowed = np.divide(cheapest, rates, where=rates > 0, out=np.zeros(instance.n))
    most = np.where(np.isfinite(allowed), allowed, 0)
    multipliers = most if link.multipliers is None else np.clip(link.multipliers, 0, most)
    paying = np.isfinite(cheapest) & (cheapest > 0)
    left = excess(prices, multipliers, np.minimum(levels, link.level))
    accounted = multipliers * rates
    if types is not None:
        # Of a type the bound accounts for its cheapest class; what a dearer one costs too much is what is missing.
        rates = rates[types.owner]
        accounted = np.where(np.isfinite(least), least, 0)
    # What is dearer by this much so few tasks are on: what the bound leaves open pays for no more.
    few = np.divide(rates * left, CERTAIN * LEVEL * link.level, where=link.level > 0, out=np.full(len(rates), np.inf))
    dear = 0.0
    for pairs in blocks:
        costs = pairs.costs(demands, per_unit)
        slack = costs - pairs.spread(accounted)
        costs *= DEARER
        shut = slack > costs
        if shut.any():
            closed[pairs.at] |= shut & (slack >= pairs.spread(few))
        dear += float(np.vdot(filled.amounts[pairs.at], np.maximum(slack, 0, out=slack)))
    return left, multipliers, paying, dear


def _stopped_by(instance: Instance, named: list[tuple[np.ndarray, np.ndarray]]) -> tuple:
    """Return what every user must pay for, as names; None for who is finished by no round."""
    found: list = [None] * instance.n
    for finished, prices in named:
        for i, names in zip(finished.tolist(), _bottlenecks(instance, prices, finished), strict=True):
            found[i] = names
    return tuple(found)


def _bottlenecks(instance: Instance, prices: np.ndarray, users: np.ndarray) -> list[tuple[str, ...]]:
    """Return what each of the users (rows of the instance) must pay for, as names."""
    classes, resources = np.nonzero(firm(prices))
    names = cell_names(instance, classes, resources)
    paid = pays(instance, users, classes, resources)
    return [tuple(names[c] for c in np.flatnonzero(row).tolist()) for row in paid]


def cell_names(instance: Instance, classes: np.ndarray, resources: np.ndarray) -> list[str]:
    """Return the names of some resources of some classes, ``class/resource``; of a pool the resources alone."""
    if instance.machines is None:
        return [instance.resources[j] for j in resources.tolist()]
    where = zip(classes.tolist(), resources.tolist(), strict=True)
    return [f"{instance.machine_names[k]}/{instance.resources[j]}" for k, j in where]


def pays(instance: Instance, users: np.ndarray, classes: np.ndarray, resources: np.ndarray) -> np.ndarray:
    """Return whether a task of each user needs the resource and may run on the class, bool (users, priced)."""
    types = instance.type_table
    if types is None:
        open_to = True if instance.fits is None else instance.fits[np.ix_(users, classes)]
        return (instance.demands[np.ix_(users, resources)] > 0) & open_to
    return types.summed((types.demands[:, resources] > 0) & types.fits[:, classes])[users] > 0
