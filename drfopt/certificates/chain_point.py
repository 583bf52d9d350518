"""The chain's theorem (see `chain`) in numbers of 32 digits, of a point nearby: amounts, levels and prices of rounds.

What floats round of a capacity or of a level is held against later rounds, which live on what is left: after many it
can be millions of roundings of what they have.  The theorem does not ask whence a point comes.  At one to 32 digits,
computed from the instance's exact numbers, the same sums miss 1e-28 of what is spent, and no chain is long enough for
that; the floats are its roundings, and what they are off by is added.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..base.numbers.double_double import DoubleDouble
from ..base.tolerances import LEVEL
from ..model.certificate import Certificate
from ..model.instance import Instance
from ..model.policies import Policy
from .chain import CERTAIN, DEARER, ChainUsers, Round, Weighed, certify_users
from .point_errors import rooms

__all__ = ["ChainPoint", "FineAccount", "FineUsers", "certify"]

FINE = 2.0**-84
"""What sums of thousands of products may lose of their absolute terms: each operation loses a 2^14th of it at most."""


@dataclass(frozen=True, eq=False)
class ChainPoint:
    """A chain to 32 digits.

    Attributes
    ----------
    users, classes : int arrays (pairs,)
        Rows of the instance, in ascending order, and their classes.
    amounts : DoubleDouble (pairs,)
        Tasks.
    levels : DoubleDouble (rounds,)
    prices : sequence of DoubleDouble (k, m)
        Of one unit of each resource of a class, round by round.
    """

    users: np.ndarray
    classes: np.ndarray
    amounts: DoubleDouble
    levels: DoubleDouble
    prices: Sequence[DoubleDouble]


def certify(
    instance: Instance,
    policy: Policy,
    tasks: np.ndarray,
    placement: np.ndarray | None,
    rounds: Sequence[Round],
    point: ChainPoint,
) -> Certificate:
    """Return the chain certificate of tasks (n,) placed as (n, k), from the point of which they are the roundings."""
    with np.errstate(all="ignore"):  # What is beyond floats proves nothing.
        users = FineUsers(instance, policy, tasks, placement, point)
        return certify_users(users, rounds, FineAccount(users))


class FineUsers(ChainUsers):
    """Users, what they have, and the point near it; nobody has several task types."""

    def __init__(
        self, instance: Instance, policy: Policy, tasks: np.ndarray, placement: np.ndarray | None, point: ChainPoint
    ):
        super().__init__(instance, policy.rates(instance), tasks, placement)
        self.point, n = point, instance.n
        self.need = instance.fine("demands")
        self.fine_rates = DoubleDouble.of(policy.exact_rates(instance))
        self.user, self.place = np.nonzero(instance.fits)
        self.owners, self.starts = np.unique(self.user, return_index=True)
        held = DoubleDouble(np.zeros(n))
        owners, starts = np.unique(point.users, return_index=True)
        held[owners] = point.amounts.sums(starts, np.searchsorted(owners, point.users))
        self.fine_levels = held * self.fine_rates
        possible = (point.amounts.high >= 0).all() and instance.fits[point.users, point.classes].all()
        off = np.abs((held - tasks).high) / np.where(held.high > 0, held.high, 1.0)
        self.violations = np.maximum(self.violations, off if possible else np.inf)
        tops = instance.fine("limits") * self.fine_rates
        self.error = np.where(self.at_limit, np.abs((self.fine_levels - tops).high), 0.0)
        self._costs: tuple[int, DoubleDouble, DoubleDouble] | None = None

    def weighed(self, number: int, link: Round) -> tuple:
        """Return the same as `ChainUsers.weighed`, what levels cost to 32 digits."""
        _, held, shares = super().weighed(number, link)
        multipliers, level = self._fine(number, link)[1], self.point.levels[number]
        above = (self.fine_levels - level).high > 0
        reached = DoubleDouble(self.fine_levels.high.copy(), self.fine_levels.low.copy())
        reached[above] = level
        return (multipliers * reached).sum(), held, shares

    def _apart(self, number: int, link: Round) -> np.ndarray:
        return np.abs((self.fine_levels - self.point.levels[number]).high)

    def _fine(self, number: int, link: Round) -> tuple[DoubleDouble, DoubleDouble]:
        """Return what a task costs of all pairs on which it fits, and the multipliers (n,)."""
        if self._costs is None or self._costs[0] != number:
            prices, user, place = self.point.prices[number], self.user, self.place
            costs = DoubleDouble(np.zeros(len(user)))
            for j in range(self.instance.m):
                costs = costs + self.need[user, j] * prices[place, j]
            high = np.where(self.closed[user, place], np.inf, costs.high)
            least = DoubleDouble(np.zeros(self.instance.n))
            least.high[self.owners] = np.minimum.reduceat(high, self.starts)
            low = np.where(high == least.high[user], costs.low, np.inf)
            least.low[self.owners] = np.minimum.reduceat(low, self.starts)
            self.paying = np.isfinite(least.high) & (least.high > 0) & (self.fine_rates.high > 0)
            multipliers = least / self.fine_rates
            multipliers[~self.paying if link.multipliers is None else ~self.paying | (link.multipliers <= 0)] = 0.0
            self._costs = number, costs, multipliers
        return self._costs[1:]

    def _multipliers(self, number: int, link: Round) -> Weighed:
        multipliers = self._fine(number, link)[1].high
        return Weighed(number, multipliers * self.rates, multipliers, self.paying)

    def _settled(self, number: int, link: Round, left: float, closed: np.ndarray) -> float:
        """Return what the amounts pay beyond the multipliers, and note in `closed` what the round closes."""
        costs, multipliers = self._fine(number, link)
        slack = (costs - (multipliers * self.fine_rates)[self.user]).high
        few = self.rates * left / (CERTAIN * LEVEL * link.level)
        shut = (slack > DEARER * costs.high) & (slack >= few[self.user])
        closed[self.user[shut], self.place[shut]] = True
        over = np.zeros(closed.shape)
        over[self.user, self.place] = np.maximum(slack, 0)
        return float(over[self.point.users, self.point.classes] @ self.point.amounts.high)


class FineAccount:
    """What prices are worth at the point."""

    def __init__(self, users: FineUsers):
        instance, point = users.instance, users.point
        self.point, self.room = point, rooms(instance)
        order = np.argsort(point.classes, kind="stable")
        places, starts = np.unique(point.classes[order], return_index=True)
        used = DoubleDouble(np.zeros(instance.room.shape))
        for j in range(instance.m):
            taken = (users.need[point.users, j] * point.amounts)[order]
            used[places, j] = taken.sums(starts, np.searchsorted(places, point.classes[order]))
        self.off = np.abs((self.room - used).high)

    def left(self, number: int, link: Round, bought: DoubleDouble) -> float:
        """Return what is left open, and what these sums may have lost."""
        total = (self.point.prices[number] * self.room).reshape(-1).sum()
        return max(float((total - bought).high), 0.0) + FINE * float(total.high)

    def idle(self, number: int, link: Round) -> float:
        """Return what full rows lack or have too much, and what these sums may have lost."""
        prices = self.point.prices[number].high
        return float((prices * (self.off + FINE * self.room.high)).sum())
