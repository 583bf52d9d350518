"""How far what runs is from what would be fair at that moment, as exactly as that is known.

At every sample the users who run tasks or have tasks waiting stand for an instance: one pool of the machines that are
up, each user with the average demand of her tasks and as many tasks as she has.  Its fair optimum is solved and proven
(`drfopt.solve_many`), for divisible tasks, and for whole ones.  A rule cannot reach it, for its tasks sit on single
machines and end when they will; how near it comes is what is measured.

    lowest level    the run's, divided by that of the leximin optimum
    shortfall       how much the user who is worst off in this respect lies below her level in it
    Nash welfare    the run's geometric mean of dominant shares, by weights, divided by that of the equilibrium (CEEI)
    utilization     mean over the resources of the part in use, minus that in the leximin optimum
    envy            the most that a user's dominant share would rise if she ran the average tasks for which there is
                    room in what another has, by their weights
    whole tasks     the run's lowest level divided by that of the proven leximin of whole tasks in that pool, above 1
                    where some of a user's tasks fit and average ones do not; not measured of more than `CROWD` users

A user below her level may have been there for no longer than it took a task to end: distances are to be read over time.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..base.tolerances import LEVEL
from ..model.instance import Instance
from ..solving.allocating import solve
from ..solving.batches.batch import solve_many
from .plan import Plan
from .run import Run
from .scenario import Scenario

__all__ = ["MEASURES", "Distance", "distance"]

MEASURES = ("lowest level", "shortfall", "Nash welfare", "utilization", "envy", "whole tasks")
"""What is measured, in the order of the attributes of `Distance`."""

CROWD = 40
"""Users beyond whom the optimum of whole tasks of every moment would take too long."""

BLOCK = 64
"""Samples whose envy is looked at in one go: it takes their number times users times users times resources."""

KINDS = 1000
"""Denominators of averages of tasks without end, which are of so many lots."""


@dataclass(frozen=True, eq=False)
class Distance:
    """A run beside the optimum of every moment.

    Attributes
    ----------
    rule : str
    times : array (s,)
    lowest, shortfall, nash, utilization, envy, whole : arrays (s,)
        NaN where nobody has a task.
    """

    rule: str
    times: np.ndarray
    lowest: np.ndarray
    shortfall: np.ndarray
    nash: np.ndarray
    utilization: np.ndarray
    envy: np.ndarray
    whole: np.ndarray

    def columns(self) -> dict[str, np.ndarray]:
        """Return the measures by their names in `MEASURES`."""
        found = (self.lowest, self.shortfall, self.nash, self.utilization, self.envy, self.whole)
        return dict(zip(MEASURES, found, strict=True))

    def means(self) -> dict[str, float]:
        """Return the means over the time in which somebody has tasks, NaN if there is none."""
        spans = np.diff(self.times, append=self.times[-1])
        found = {}
        for name, values in self.columns().items():
            there = ~np.isnan(values)
            weight = spans * there
            total = weight.sum()
            found[name] = float((np.where(there, values, 0.0) * weight).sum() / total) if total else float("nan")
        return found


def distance(run: Run) -> Distance:
    """Return how far a run was from the fair optimum of every moment of which it has a sample."""
    samples = run.samples
    weights = np.array([float(user.weight) for user in run.scenario.users])
    asking: np.ndarray = np.asarray((samples.wanted > 0).any(axis=2))
    some = np.flatnonzero(asking.any(axis=1) & (samples.capacity > 0).any(axis=1))
    found = {name: np.full(len(samples.times), np.nan) for name in MEASURES}
    if some.size:
        present, capacity, wanted = asking[some], samples.capacity[some], samples.wanted[some]
        demands = np.where(present[:, :, None], wanted, 1.0)
        limits = np.where(present, samples.running[some] + samples.waiting[some], 0.0)
        fair = solve_many(demands, capacity, "drf", weights=weights, limits=limits)
        market = solve_many(demands, capacity, "ceei", weights=weights, limits=limits)
        able = present & ~fair.unplaced
        levels = samples.dominant_shares[some] / weights
        found["lowest level"][some] = _lowest(levels, fair.levels, able)
        found["shortfall"][some] = _certain(np.where(able, np.maximum(fair.levels - levels, 0), 0).max(axis=1))
        found["Nash welfare"][some] = _nash(levels, market.levels, able, weights)
        in_use = np.divide(
            (fair.tasks[:, :, None] * demands).sum(axis=1), capacity, out=np.zeros_like(capacity), where=capacity > 0
        )
        found["utilization"][some] = _certain(samples.utilization[some].mean(axis=1) - in_use.mean(axis=1))
        found["whole tasks"][some] = _whole(run.scenario, levels, demands, capacity, limits)
        held, mine = samples.used[some], samples.dominant_shares[some]
        parts = [slice(start, start + BLOCK) for start in range(0, len(some), BLOCK)]
        envies = [_envy(held[p], demands[p], mine[p], limits[p], capacity[p], able[p], weights) for p in parts]
        found["envy"][some] = _certain(np.concatenate(envies))
    return Distance(run.rule, samples.times, *(found[name] for name in MEASURES))


def _whole(
    scenario: Scenario, levels: np.ndarray, demands: np.ndarray, capacity: np.ndarray, limits: np.ndarray
) -> np.ndarray:
    """Return the lowest level by that of the proven optimum of whole tasks, (s,); 1 where the latter is 0."""
    found, known = np.full(len(levels), np.nan), dict[bytes, tuple[np.ndarray, np.ndarray] | None]()
    for at, (mine, needs, room, most) in enumerate(zip(levels, demands, capacity, limits, strict=True)):
        key = needs.tobytes() + room.tobytes() + most.tobytes()
        if key not in known:
            known[key] = _optimum(scenario, needs, room, most)
        if (best := known[key]) is not None:
            members, theirs = best
            lowest = theirs[members].min(initial=np.inf)
            found[at] = mine[members].min() / lowest if 0 < lowest < np.inf else 1.0
    return found


def _optimum(
    scenario: Scenario, demands: np.ndarray, capacity: np.ndarray, limits: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return who takes part in the optimum of whole tasks and its levels, (n,); None where it is not proven.

    Demands and capacity are made exact again: rounded, tasks that together fill the pool would not fit.
    """
    if np.count_nonzero(limits) > CROWD:
        return None
    units = Plan.of(scenario).units
    rows = [
        [_average(float(d), most, unit) for d, unit in zip(row, units, strict=True)]
        for row, most in zip(demands, limits.tolist(), strict=True)
    ]
    room = [Fraction(round(float(c) * unit), unit) for c, unit in zip(capacity, units, strict=True)]
    instance = Instance(rows, room, weights=[user.weight for user in scenario.users], max_tasks=limits)
    best = solve(instance, integer=True)
    members = ~instance.unplaced(integer=True) & (limits >= 1)
    return (members, best.levels) if best.certificate.valid else None


def _average(demand: float, tasks: float, unit: int) -> Fraction:
    """Return the exact average demand of so many tasks, each a multiple of 1 / unit; inf are tasks without end."""
    if math.isinf(tasks):
        return Fraction(demand * unit).limit_denominator(KINDS) / unit
    return Fraction(round(demand * unit * tasks), int(tasks) * unit) if tasks else Fraction(1)


def _certain(distances: np.ndarray) -> np.ndarray:
    """Return distances, 0 where they are less than what the optimum is known to."""
    return np.where(np.abs(distances) > LEVEL, distances, 0.0)


def _lowest(levels: np.ndarray, fair: np.ndarray, able: np.ndarray) -> np.ndarray:
    """Return the lowest level by that of the optimum, (s,); 1 where the latter is 0."""
    mine = np.where(able, levels, np.inf).min(axis=1)
    best = np.where(able, fair, np.inf).min(axis=1)
    return np.divide(mine, best, out=np.ones(len(mine)), where=(best > 0) & np.isfinite(best))


def _nash(levels: np.ndarray, fair: np.ndarray, able: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the geometric mean, by weights, of levels divided by those of the equilibrium, (s,)."""
    counted = able & (fair > 0)
    ratios = np.divide(levels, fair, out=np.ones_like(levels), where=counted)
    with np.errstate(divide="ignore"):
        logs = np.where(counted, np.log(ratios) * weights, 0.0)
    total = np.where(counted, weights, 0.0).sum(axis=1)
    return np.exp(np.divide(logs.sum(axis=1), total, out=np.zeros(len(total)), where=total > 0))


def _envy(
    held: np.ndarray,
    demands: np.ndarray,
    mine: np.ndarray,
    limits: np.ndarray,
    capacity: np.ndarray,
    able: np.ndarray,
    weights: np.ndarray,
) -> np.ndarray:
    """Return the most that anybody's dominant share would rise with what another has, (s,)."""
    s, n, m = held.shape
    others = np.full((s, n, n), np.inf)
    for j in range(m):
        need, has = demands[:, :, None, j], held[:, None, :, j]
        np.minimum(others, np.divide(has, need, out=np.full((s, n, n), np.inf), where=need > 0), out=others)
    others *= weights[:, None] / weights[None, :]
    others[:, range(n), range(n)] = 0.0  # Nobody envies herself.
    most = np.minimum(others, limits[:, :, None]).max(axis=2)
    room = capacity[:, None, :]
    share = np.divide(demands, room, out=np.zeros_like(demands), where=room > 0).max(axis=2)
    return np.where(able, np.maximum(most * share - mine, 0), 0.0).max(axis=1)
