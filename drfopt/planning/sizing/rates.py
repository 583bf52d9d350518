"""How the levels of users depend on the capacity of the cluster, where demands and weights alone say it."""

from dataclasses import dataclass

import numpy as np

from ...model.hierarchy.market import market_rules
from ...model.instance import Instance
from ...model.policies import Policy

__all__ = ["DOWN", "Rates", "rates_of", "weights_of"]

DOWN = 1 - 1e-12
"""What a lower bound is multiplied by after a few operations in floats, each of which may lose one part in 10^16."""

FROM_DEMANDS = ("dominant", "asset", "single", "tasks")
"""Measures of which a level is known from the demands and the capacity of the whole cluster alone."""


@dataclass(frozen=True, eq=False)
class Rates:
    """Levels of one task: the largest, or the sum, of ``part[i, j] / C[j]`` over some of the resources.

    `incomes` (n,) is what levels are divided by in a market; None elsewhere.
    """

    part: np.ndarray
    summed: bool
    fixed: bool
    incomes: np.ndarray | None = None

    def of(self, rows: np.ndarray, capacity: np.ndarray) -> np.ndarray:
        """Return the levels of one task of each row of parts; what is not there counts as nothing."""
        there = np.ones(self.part.shape[1]) if self.fixed else capacity
        with np.errstate(over="ignore"):  # of next to nothing a task may be any number of times as much
            shares = np.divide(rows, there, where=there > 0, out=np.zeros_like(rows))
        return shares.sum(axis=1) if self.summed else shares.max(axis=1, initial=0.0)

    def least(self, rows: np.ndarray, quotients: np.ndarray) -> np.ndarray:
        """Return times ``1 / C[g]`` of what the level of a task of each row is at the least, (rows, m)."""
        return rows @ quotients if self.summed else (rows[:, :, None] * quotients).max(axis=1)

    def most(self, rows: np.ndarray, quotients: np.ndarray) -> np.ndarray:
        """Return the same at the most, (rows, m); inf where proportions are not known."""
        if not self.summed:
            # What surely is not her largest share counts for nothing.
            rows = np.where(rows >= self.least(rows, quotients) * DOWN, rows, 0.0)
        over = np.divide(1.0, quotients, where=quotients > 0, out=np.full_like(quotients, np.inf))
        with np.errstate(invalid="ignore"):
            each = np.where(rows[:, None, :] > 0, rows[:, None, :] * over, 0.0)
        return each.sum(axis=2) if self.summed else each.max(axis=2)


def weights_of(instance: Instance, policy: Policy) -> np.ndarray:
    """Return what levels are divided by, (n, 1) or (n, m)."""
    weights = instance.weights if policy.weights != "none" else np.ones(instance.n)
    return weights if weights.ndim == 2 else weights[:, None]


def rates_of(instance: Instance, policy: Policy) -> Rates | None:
    """Return how levels depend on the capacity; None where that is not known here."""
    rules = instance.organisation
    if policy.measure == "alone" and instance.task_types is not None and instance.machines is None:
        # Types that need what a cluster has none of are left out of what fits alone, and others count in others.
        rows = [{tuple(d > 0 for d in kind.demand) for kind in kinds} for kinds in instance.task_types if kinds]
        if any(len(needs) > 1 for needs in rows):
            return None
    # Of the tasks that fit alone into a pool one has as large a part as of its dominant resource.
    measure = "dominant" if policy.measure == "alone" and instance.machines is None else policy.measure
    if measure not in FROM_DEMANDS or policy.objective == "formulation":
        return None
    if rules is not None and rules.meaning != "floor":
        return None
    over = weights_of(instance, policy)
    if rules is not None and policy.objective in ("alpha", "sum"):
        # In a market whoever is in a group has a part of its income, and its level is over that.
        over = market_rules(instance, policy).incomes[:, None]
    if measure == "tasks":
        return Rates(np.ones((instance.n, 1)) / over, False, True)
    part = np.where(instance.counted, instance.demands / over, 0.0)
    if measure == "single":
        part = np.where(np.arange(instance.m) == instance.resources.index(policy.argument), part, 0.0)
    return Rates(part, measure == "asset", False, over[:, 0] if policy.objective == "alpha" else None)
