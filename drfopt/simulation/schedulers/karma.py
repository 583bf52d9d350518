"""Karma: credits for demands that vary, so that who lent yesterday borrows today.

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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...base.errors import InstanceError

__all__ = ["Karma", "karma"]


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
