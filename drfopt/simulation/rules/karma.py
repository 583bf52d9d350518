"""Karma: credits for demands that vary, on one resource: ``karma:cpu``.

Every `quantum` seconds, from 0 on, slices of the resource are divided anew by credits (`Karma`), whether anybody waits
or not: what is borrowed is paid for in every quantum.  A slice is the largest amount of which every demand is a
multiple; what does not divide into equal parts is nobody's, as public slices are, so that it can be borrowed.  Users
ask for the slices that their running and waiting tasks need.  Tasks beyond a user's slices are revoked, the latest
first, and begin anew later; tasks that need nothing of the resource are free to start.  All have equal parts in the
paper: a scenario with other weights is refused.

Source: Vuppalapati et al., Karma: Resource Allocation for Dynamic Demands, OSDI 2023.

Karma: credits for demands that vary, so that who lent yesterday borrows today.

Slices of one resource are divided anew in every round.  Part of them belongs to nobody (*public*), the rest to the
users in equal parts.  A user gets what she asks for up to her part.  Parts that are not asked for, and public slices,
go one by one to who asks for more, the richest in credits first, as long as she has a credit: a slice costs one.  It
comes from the poorest of those who lend, who earns the credit, and from the public ones last; what those earn is
divided among all, in equal parts, once there is more than one for each.

Every round a user gains `inflation` credits.  Equals are taken in the order in which users are given; the authors'
code takes an arbitrary one.

Source: Vuppalapati, Fikioris, Agarwal, Cidon, Khandelwal and Tardos, Karma: Resource Allocation for Dynamic Demands,
OSDI 2023, and its code (scripts/karma_sim/allocator).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...base.errors import InstanceError
from ..levels import Requests
from ..state import ClusterState
from ..turns import Ranked

__all__ = ["Karma", "KarmaRule", "build", "karma"]


@dataclass
class Karma:
    """What is remembered between rounds.

    Attributes
    ----------
    users : tuple of str
    slices, public : int
        All there are, and how many of them belong to nobody.
    inflation : int
        Credits that everybody gains in a round.
    credits : dict
        By user, as they stood when the last round was decided.
    """

    users: tuple[str, ...]
    slices: int
    public: int = 0
    inflation: int = 0
    credits: dict[str, int] = field(default_factory=dict)
    earned: dict[str, int] = field(default_factory=dict)
    pot: int = 0

    @property
    def part(self) -> int:
        """How many slices belong to each user."""
        return (self.slices - self.public) // len(self.users)

    def round(self, demands: Mapping[str, int]) -> dict[str, int]:
        """Return who gets how many slices in the next round, and remember who lent and who borrowed."""
        self._settle()
        given = {user: min(demands.get(user, 0), self.part) for user in self.users}
        spare = {user: self.part - given[user] for user in self.users}
        public = self.public
        purse = dict(self.credits)

        def richest() -> str | None:
            asking = [user for user in self.users if given[user] < demands.get(user, 0) and purse[user] > 0]
            return max(asking, key=purse.__getitem__, default=None)

        while (borrower := richest()) is not None:
            lender = min((user for user in self.users if spare[user]), key=purse.__getitem__, default=None)
            if lender is not None:
                spare[lender] -= 1
                purse[lender] += 1
                self.earned[lender] += 1
            elif public:
                public -= 1
                self.pot += 1
            else:
                break
            given[borrower] += 1
            purse[borrower] -= 1
            self.earned[borrower] -= 1
        return given

    def idle(self, rounds: int) -> None:
        """Let rounds pass in which nobody asks for anything, and so nobody lends."""
        self.round({})
        for user in self.users:
            self.credits[user] += (rounds - 1) * self.inflation

    def _settle(self) -> None:
        """Book what was earned and spent in the round before, and what everybody gains."""
        share, rest = divmod(self.pot, len(self.users)) if self.pot > len(self.users) else (0, self.pot)
        self.pot = rest
        for user in self.users:
            self.credits[user] = self.credits.get(user, 0) + self.earned.get(user, 0) + share + self.inflation
            self.earned[user] = 0


def karma(
    demands: Mapping[str, Sequence[int]], slices: int, *, public: int = 0, credits: int = 0, inflation: int = 0
) -> tuple[dict[str, list[int]], dict[str, int]]:
    """Return what each user gets round by round, and the credits as they stood when the last round was decided.

    Parameters
    ----------
    demands : slices that each user asks for, a number a round
    slices, public : all there are, and how many of them belong to nobody
    credits, inflation : what users start with, and gain every round

    Raises
    ------
    InstanceError
        When there are no users, or they have different numbers of rounds, or there are more public slices than slices.

    >>> karma({"A": [0, 4], "B": [4, 4]}, 4, public=2, credits=2)
    ({'A': [0, 3], 'B': [3, 1]}, {'A': 3, 'B': 0})
    """
    rounds = {len(row) for row in demands.values()}
    if len(rounds) != 1:
        raise InstanceError(f"demands have {sorted(rounds)} rounds: give every user one number a round")
    if not 0 <= public <= slices:
        raise InstanceError(f"{public} of {slices} slices are public: it must be between 0 and all of them")
    state = Karma(tuple(demands), slices, public, inflation, dict.fromkeys(demands, credits))
    given = [state.round({user: row[t] for user, row in demands.items()}) for t in range(rounds.pop())]
    return {user: [row[user] for row in given] for user in demands}, state.credits


QUANTUM = 60.0
"""Seconds between two divisions, unless given."""

MOST_SLICES = 1_000_000
"""Slices that are divided: each is lent by itself."""

PUBLIC = 0.5
"""Part of the slices that belongs to nobody, unless given."""


class KarmaRule(Ranked):
    """Divide one resource by credits.

    Parameters
    ----------
    resource : str
    quantum : float
        Seconds between two divisions.
    public : float
        Part of the slices that belongs to nobody.
    credits : int or None
        What every user starts with; None is ten times all slices.
    inflation : int
        What every user gains at a division.
    """

    def __init__(
        self,
        resource: str,
        quantum: float = QUANTUM,
        public: float = PUBLIC,
        credits: int | None = None,
        inflation: int = 0,
    ):
        self.name = f"karma:{resource}"
        self.resource, self.quantum, self.public = resource, quantum, public
        self.credits, self.inflation = credits, inflation

    def begin(self, cluster: ClusterState) -> None:
        """Cut the resource into slices."""
        super().begin(cluster)
        self.require_equal_weights(cluster)
        scenario = cluster.plan.scenario
        if self.resource not in scenario.resources:
            raise self.refuse(f"divides {self.resource!r}, but the cluster has {', '.join(scenario.resources)}")
        self._j = scenario.resources.index(self.resource)
        self._needs = [kind.demand[self._j] for kind in cluster.plan.kinds]
        self._slice = math.gcd(*self._needs)
        if not self._slice:
            raise self.refuse(f"divides {self.resource!r}, but no task needs any of it")
        self._users = cluster.n
        slices = cluster.totals[self._j] // self._slice
        if slices > MOST_SLICES:
            raise self.refuse(
                f"divides {self.resource!r} into {slices:.3g} slices, the largest of which all demands are multiples: "
                f"round the demands so that there are at most {MOST_SLICES:,}"
            )
        start = 10 * slices if self.credits is None else self.credits
        users = tuple(map(str, range(cluster.n)))
        self._state = Karma(users, slices, self._nobodys(slices), self.inflation, dict.fromkeys(users, start))
        self._parts = [0] * cluster.n
        self._requests = Requests(cluster)
        self._round = self._woken = 0

    def resized(self, cluster: ClusterState) -> None:
        """Divide what is there now, from the next division on."""
        super().resized(cluster)
        self._state.slices = cluster.totals[self._j] // self._slice
        self._state.public = self._nobodys(self._state.slices)

    def _nobodys(self, slices: int) -> int:
        """Return how many slices are public: the part that is, and what is left of the rest by equal parts."""
        public = int(self.public * slices)
        return public + (slices - public) % self._users

    def dispatch(self, cluster: ClusterState) -> None:
        """Divide anew if it is time, then serve everybody within her slices; who comes between divisions waits."""
        begun = self._begun(cluster.now)
        if begun >= self._round:
            now = begun * self.quantum == cluster.now
            if begun > self._round or not now:
                # Nobody was there, or it would have been divided.
                self._state.idle(begun - self._round + (not now))
                self._give(cluster, [0] * cluster.n)
            if now:
                self._divide(cluster)
            self._round = begun + 1
        if self._woken < self._round and (any(cluster.waiting) or any(cluster.running)):
            self._woken = self._round
            cluster.wake(self._round * self.quantum)
        super().dispatch(cluster)

    def _begun(self, now: float) -> int:
        """Return the number of the last division that is due at a moment, or was."""
        number = math.floor(now / self.quantum)
        # A quotient is rounded.
        return number + ((number + 1) * self.quantum <= now) - (number * self.quantum > now)

    def rank(self, cluster: ClusterState, user: int, kind: int) -> int | None:
        """Return what the user holds; None when the next task exceeds its slices."""
        held = cluster.used[user][self._j]
        return held if held + self._needs[kind] <= self._parts[user] else None

    def standing(self, cluster: ClusterState, user: int, used: list[int], running: int) -> int:
        """Return what she holds of the resource that is divided."""
        return used[self._j]

    def _divide(self, cluster: ClusterState) -> None:
        self._requests.renew(cluster, range(cluster.n))
        most = self._state.slices
        demands = {
            str(user): min(asked // self._slice, most) for user, asked in enumerate(self._requests.columns[self._j])
        }
        given = self._state.round(demands)
        self._give(cluster, [given[str(user)] * self._slice for user in range(cluster.n)])
        self._take_back(cluster)

    def _give(self, cluster: ClusterState, parts: list[int]) -> None:
        self._parts = parts
        self.forget(cluster, range(cluster.n))

    def _take_back(self, cluster: ClusterState) -> None:
        """Revoke what users hold beyond their slices, what started last first."""
        over = {user for user in range(cluster.n) if cluster.used[user][self._j] > self._parts[user]}
        running = [batch for on in cluster.on for batch in on.values() if batch.lot.user in over]
        for batch in sorted(running, key=lambda batch: -batch.number):
            need, user = self._needs[batch.lot.kind], batch.lot.user
            surplus = cluster.used[user][self._j] - self._parts[user]
            if need and surplus > 0:
                cluster.revoke(batch, min(batch.count, -(-surplus // need)))


def build(argument: str) -> KarmaRule:
    """Return the rule that divides that resource."""
    return KarmaRule(argument)
