"""How fair and how efficient an allocation is, by the same numbers for all policies.

Levels are weighted dominant shares, whatever the policy compares: those of DRF.  Over the users who take part
(placed, with a limit above 0), for levels l and weights w

    lowest          min_i l_i
    jain            (sum_i l_i)^2 / (n sum_i l_i^2)              1 when all are equal, 1/n when one has everything
    nash            exp(sum_i w_i log l_i / sum_i w_i)           the weighted geometric mean, which CEEI makes largest
    sum_of_shares   sum of the unweighted dominant shares, of everybody
    utilization     mean over the resources that the cluster has
    envious         users who could run more tasks with w_i / w_k of what user k holds, for some k; of whole tasks more
                    whole ones, as the audit counts them
    envy            the largest such gain, relative to what she runs

Envy on machines is that of the placement at hand, class by class, and of whole tasks machine by machine.
Jain, Chiu, Hawe, DEC-TR-301, 1984; Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 3 (envy-freeness).
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..axioms.case import AuditCase
from ..axioms.economy import cluster_of, low
from ..axioms.outcomes import whole_outcome
from ..axioms.ruled import beyond
from ..base.tolerances import LEVEL_CEEI
from ..model.allocation import Allocation
from ..model.instance import Instance
from ..model.policies import policy_named, policy_on
from ..planning.baseline import Baseline
from ..solving.comparing import taking_part

__all__ = ["Measures", "envy", "measures", "weighted_shares"]

ENVY_USERS = 2000
"""Users up to which everybody is compared with everybody: four million pairs, a second."""

WHOLE_PAIRS = 200_000
"""Pairs of users, times the kinds of machines in the packing, up to which whole tasks are compared: some seconds."""

ROWS = 64
"""Users compared with all others at a time, so that the table of pairs stays small."""


@dataclass(frozen=True)
class Measures:
    """What is said about one allocation; None where it is not defined or would take too long."""

    lowest: float
    jain: float | None
    nash: float | None
    sum_of_shares: float
    utilization: float
    envious: int | None
    envy: float | None


def measures(allocation: Allocation, baseline: Baseline | None = None) -> Measures:
    """Return the measures of an allocation; of a changed cluster in terms of the cluster as it was."""
    instance = allocation.instance
    ruler, rows = (instance, np.arange(instance.n)) if baseline is None else baseline.ruler(instance)
    tasks, integer = allocation.tasks.astype(float), allocation.integer
    levels, there = weighted_shares(allocation, baseline)
    levels = levels[there]
    squares = float(levels @ levels)
    positive = instance.capacity > 0
    pairs = _whole_envy(allocation, there) if integer else envy(instance, tasks, allocation.placement, there)
    return Measures(
        lowest=float(levels.min()) if len(levels) else 0.0,
        jain=float(levels.sum()) ** 2 / (len(levels) * squares) if squares else None,
        nash=_geometric_mean(levels, ruler, rows[there]),
        sum_of_shares=float(policy_named("utilitarian").rates(ruler)[rows] @ tasks),
        utilization=float(allocation.utilization[positive].astype(float).mean()) if positive.any() else 0.0,
        envious=None if pairs is None else int((pairs > LEVEL_CEEI).sum()),
        envy=None if pairs is None else float(pairs.max(initial=0.0)),
    )


def weighted_shares(allocation: Allocation, baseline: Baseline | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return dominant shares over weights, (n,), and who takes part, bool (n,); or both in the cluster as it was."""
    instance, drf = allocation.instance, policy_named("drf")
    if baseline is None:
        return drf.rates(instance) * allocation.tasks.astype(float), taking_part(instance, allocation.integer)
    ruler, rows = baseline.ruler(instance)
    return drf.rates(ruler)[rows] * allocation.tasks.astype(float), baseline.taking_part(allocation, drf)


def _geometric_mean(levels: np.ndarray, instance: Instance, there: np.ndarray) -> float | None:
    if instance.weights_per_resource or not len(levels):
        return None
    weights = np.broadcast_to(instance.weights, instance.n)[there]
    if instance.organisation is not None:
        # The array of weights has 1 for who is served last, whose weight is 0.
        weights = weights * ~np.array(instance.organisation.last)[there]
    levels, weights = levels[weights > 0], weights[weights > 0]
    if not len(levels) or not levels.all():
        return 0.0 if len(levels) else None
    return float(np.exp(weights @ np.log(levels) / weights.sum()))


def _whole_envy(allocation: Allocation, there: np.ndarray) -> np.ndarray | None:
    """Return by how much each user would gain in whole tasks with the bundle she likes best, (n,), as in `envy`.

    None beyond `WHOLE_PAIRS`, under rules, and where users have several task types: of these no audit knows envy.
    """
    instance = allocation.instance
    if beyond(instance, True):
        return None
    found = whole_outcome(allocation)
    if instance.n**2 * max(len(found.packing or ()), 1) > WHOLE_PAIRS:
        return None
    case = AuditCase(cluster_of(instance), policy_on(allocation.policy, instance), integer=True)
    gains = np.zeros(instance.n)
    for i in np.flatnonzero(there).tolist():
        bundles = [low(case.limited(i, case.of_another(i, k, found))) for k in range(instance.n) if k != i]
        instead, own = max(bundles, default=Fraction(0)), low(found.tasks[i])
        gains[i] = max(float(instead / own) - 1, 0.0) if own else np.inf if instead else 0.0
    return gains


def envy(instance: Instance, tasks: np.ndarray, placement: np.ndarray | None, there: np.ndarray) -> np.ndarray | None:
    """Return by how much each user would gain with the bundle she likes best, relative to her tasks, (n,).

    None beyond `ENVY_USERS`, under rules (promises and tiers are no matter of envy, nor is a weight of 0), and where
    users have several task types on machines: what a bundle is worth then depends on how types are mixed. Who takes no
    part has nothing to gain; who could run something and has nothing gains inf.
    """
    if instance.n > ENVY_USERS or instance.type_table is not None or "organisation" in instance.features:
        return None
    demands = instance.demands
    weights = instance.weights if instance.weights_per_resource else instance.weights[:, None]
    bundle_rates = demands / weights
    held = tasks[None, :] if placement is None else None
    gains = np.zeros(instance.n)
    for start in range(0, instance.n, ROWS):
        rows = np.arange(start, min(start + ROWS, instance.n))
        rows = rows[there[rows]]
        needs = (demands / weights)[rows]
        # Her tasks in one task of the other, scaled: the scarcest of the resources that she needs decides.
        worth = np.full((len(rows), instance.n), np.inf)
        for j in range(instance.m):
            need = needs[:, None, j]
            ratio = np.divide(bundle_rates[None, :, j], need, where=need > 0, out=np.full(worth.shape, np.inf))
            np.minimum(worth, ratio, out=worth)
        open_to_her = held if placement is None else instance.fits[rows] @ placement.astype(float).T
        instead = np.minimum(worth * open_to_her, instance.limits[rows, None]).max(axis=1, initial=0.0)
        own = tasks[rows]
        more = np.divide(instead, own, where=own > 0, out=np.where(instead > 0, np.inf, 1.0)) - 1
        gains[rows] = np.maximum(more, 0.0)
    return gains
