"""How many tasks others have at least in a market, or where alpha is fair, when a user has what it needs.

With z[i] the level of a user, y[i] its income, a[i] = y[i] z[i] / x[i] the share of one task, and q[i] the price of the
cheapest place of one, ceilings above it paid, whoever has more than is promised and whoever is below its limit has

    a[i] z[i]^-A  >=  q[i]          a[l] z[l]^-A  <=  q[l]

Where user l may run on a class on which user i must be, needs nothing that i does not, and is under no ceiling that i
is not under, its task costs at most  r = max over j of d[l, j] / d[i, j]  times as much.  So with i at x[i]

    x[l]  >=  min(limit of l,  x[i] (a[i] y[l] / (a[l] y[i]))^(1 - 1/A) (y[l] / (y[i] r))^(1/A))

Who is served in a turn before i is at its limit: i would have taken what it could use.  Of a sum nothing follows.
"""

from dataclasses import dataclass

import numpy as np

from ...base.tolerances import LEVEL_CEEI
from ...model.instance import Instance
from ...model.policies import Policy
from .clock_needs import guaranteed_tasks
from .rates import Rates

__all__ = ["MarketNeeds", "market_needs"]

CERTIFIED = 1 - 4 * LEVEL_CEEI
"""What a lower bound is multiplied by, as levels of a market are certified to so much."""


@dataclass(frozen=True, eq=False)
class MarketNeeds:
    """Who has how much beside whom.

    Attributes
    ----------
    demands, part : arrays (n, m)
        Of one task; and over the income what of it counts.
    incomes, limits : arrays (n,)
    turns : int array (n,)
        In which turn everybody is served.
    least, most : arrays (n,)
        What guarantees are worth at the least and at the most.
    single : array of bool (n,)
        Who has one type of tasks.
    alpha : float
    """

    demands: np.ndarray
    part: np.ndarray
    incomes: np.ndarray
    limits: np.ndarray
    turns: np.ndarray
    least: np.ndarray
    most: np.ndarray
    single: np.ndarray
    alpha: float

    def raised(self, who: np.ndarray, able: np.ndarray, least: np.ndarray, quotients: np.ndarray) -> np.ndarray:
        """Return the least tasks (n,) that follow for everybody; as `ClockNeeds.raised` has it."""
        found = least.copy()
        full = np.where(np.isfinite(self.limits), self.limits, self.least)
        for row, i in enumerate(who.tolist()):
            if not least[i] > self.most[i]:
                continue
            found[able[row]] = np.maximum(found, self.least)[able[row]]
            before = able[row] & (self.turns < self.turns[i])
            found[before] = np.maximum(found, full)[before]
            users, times = self.times(i, able[row], quotients)
            found[users] = np.maximum(found[users], np.minimum(least[i] * times, self.limits[users]))
        return found

    def times(self, i: int, able: np.ndarray, quotients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return who of those able (n,) has below its limit at least how many times as many tasks as user i."""
        users = np.flatnonzero(able & (self.turns == self.turns[i]) & self.single & bool(self.single[i]))
        needs, own = self.demands[users] > 0, self.demands[i]
        dearer = np.divide(self.demands[users], own, where=needs, out=np.zeros((len(users), len(own)))).max(axis=1)
        has = (self.incomes[users] / (self.incomes[i] * dearer)) ** (1 / self.alpha) * CERTIFIED
        if self.alpha > 1:
            has *= self._over(np.array([i]), users, quotients)[0] ** (1 - 1 / self.alpha)
        elif self.alpha < 1:
            has *= self._over(users, np.array([i]), quotients)[:, 0] ** (1 / self.alpha - 1)
        return users, has

    def _over(self, high: np.ndarray, users: np.ndarray, quotients: np.ndarray) -> np.ndarray:
        """Return how many times the level of a task of `high` is that of `users` at the least, (high, users)."""
        at = (self.part[high][:, :, None] * quotients).max(axis=1)
        part = self.part[users]
        each = np.divide(at[:, None, :], part, where=part > 0, out=np.full((len(high), *part.shape), np.inf))
        found = each.min(axis=2)
        return np.where(np.isfinite(found), found, 0.0)


def market_needs(instance: Instance, policy: Policy, rates: Rates | None, limits: np.ndarray) -> MarketNeeds | None:
    """Return who has how much beside whom under a policy; None where that is not known here."""
    rules = instance.organisation
    turns = (0,) * instance.n if rules is None else rules.in_turn
    if policy.objective != "alpha" or not policy.alpha or rates is None or rates.incomes is None or turns is None:
        return None
    kinds = instance.task_types
    single = np.array([True] * instance.n if kinds is None else [row is None for row in kinds])
    least, most = guaranteed_tasks(instance)
    turn = np.array(turns)
    return MarketNeeds(
        instance.demands, rates.part, rates.incomes, limits, turn, least, most, single, float(policy.alpha)
    )
