"""Largest sums (utilitarian, throughput): prices bound what any allocation can reach.

With prices p >= 0 and a task of user i worth v_i, no allocation is worth more than
``sum p . capacity + sum_i max(0, v_i - q_i) u_i``, q_i the cost of a task on her cheapest class, u_i her limit.
Where an unlimited user's task is worth more than it costs, all prices are raised until it is not: that keeps the
bound a bound whatever the solver's rounding.
"""

from functools import partial

import numpy as np

from ..base.tolerances import CAPACITY, GAP
from ..model.certificate import Certificate
from ..model.evidence import PriceEvidence
from ..model.instance import Instance
from ..model.policies import Policy
from .chain import cheapest_costs, most_paid_for, unit_costs
from .feasibility import infeasibility

__all__ = ["certify"]


def certify(
    instance: Instance, policy: Policy, tasks: np.ndarray, placement: np.ndarray | None, prices: np.ndarray
) -> Certificate:
    """Return the certificate of tasks (n,), placed as (n, k), at prices (k, m) of one unit of each class."""
    infeasible, reason = infeasibility(instance, tasks, placement)
    total = instance.room
    budget = np.maximum(prices, 0) * total
    worth = policy.rates(instance)
    playing = ~instance.unplaced() & (instance.limits > 0)
    cheapest = np.where(playing, cheapest_costs(instance, unit_costs(instance, budget)), 1.0)
    unlimited = playing & np.isinf(instance.limits)
    if unlimited.any():
        with np.errstate(divide="ignore"):
            raised = max(1.0, float((worth[unlimited] / cheapest[unlimited]).max()))
        if raised == np.inf:
            free = instance.users[int(np.argmax(unlimited & (cheapest == 0)))]
            return Certificate(
                "duals",
                False,
                np.inf,
                gap=np.inf,
                reason=f"a task of user {free!r} costs nothing, and it has no limit",
            )
        budget, cheapest = budget * raised, cheapest * raised
    finite = playing & ~unlimited
    profit = np.zeros(instance.n)
    profit[finite] = np.maximum(worth[finite] - cheapest[finite], 0) * instance.limits[finite]
    bound = float(budget.sum() + profit.sum())
    objective = float(worth @ tasks)
    gap = abs(bound - objective) / objective if objective > 0 else float(bound > 0)
    violation = max(infeasible, np.inf if tasks[~playing].any() else 0.0)
    valid = infeasible <= CAPACITY and gap <= GAP and violation <= CAPACITY
    if not reason and not valid:
        reason = f"the sum is {objective:.12g}, and what the prices prove is that it is at most {bound:.12g}"
    return Certificate(
        kind="duals",
        valid=bool(valid),
        violation=violation,
        gap=gap,
        stopped_by=partial(
            most_paid_for,
            instance,
            np.maximum(prices, 0),
            instance.demands,
            budget > GAP * max(float(budget.max()), 0.0),
            tasks < instance.limits,
        ),
        evidence=PriceEvidence(prices=prices),
        reason=reason,
    )
