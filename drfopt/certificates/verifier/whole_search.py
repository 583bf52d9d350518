"""Sums, products and alpha fairness of whole tasks without trees: a look at all that could be better, if it is little.

Compared is first what is kept of promises, the parts sorted, then what tasks are worth.  Both only grow with anybody's
tasks: what some have, and the others could each have alone of what is left, bounds all that can be beside the former.
"""

from fractions import Fraction
from operator import le, sub

from .branches import Undecided
from .claims import Claim
from .devices import dealt
from .reading import number
from .trees import Carried
from .whole_levels import whole_promises
from .whole_values import Value
from .work import spend

__all__ = ["by_search", "found_better"]

BRANCHES = 20_000
"""Branches after which nothing is said, and tasks of all users together: some seconds."""

DEEP = 300
"""Users, and tasks that are placed, one below the other."""

Needs = tuple[Fraction, ...]

Room = tuple[int, Needs, tuple[Needs, ...]]
"""A machine: its class, what is left on it, and, where it has devices, what each of its tasks needs."""


def by_search(claim: Claim) -> None:
    """Look at all sums, products and utilities that could be better, under rules and on machines too."""
    try:
        found = found_better(claim)
    except Undecided as missing:
        return claim.report.add("nothing is better", [], f"the file has no trees, and {missing}")
    return claim.report.add("nothing is better", [] if found is None else [f"{found} is"])


def found_better(claim: Claim) -> dict[str, int] | None:
    """Return tasks by user that are better than the file's and can be run; None where everything was looked at.

    Raises
    ------
    Undecided
        When that would take too long.
    """
    return _Search(claim).extended({}, None)


class _Search:
    def __init__(self, claim: Claim):
        self.claim, self.cluster, promised = claim, Carried(claim), whole_promises(claim)
        self.value, self.branches, c = Value(claim, self.cluster), 0, claim.c
        if sum(self.value.most.values()) > BRANCHES or len(self.cluster.users) > DEEP:
            raise Undecided("there are too many tasks to look at everything that could be")
        self.promised = {i: promised[i] for i in self.cluster.users if promised[i]}
        self.turn = sorted(self.cluster.users, key=lambda i: i not in self.promised)
        self.room = (*c.cluster, *(most for _, _, most, _ in c.ceilings))
        self.needs = {i: [self.needed(i, x) for x in range(most + 1)] for i, most in self.value.most.items()}
        self.own = self.kept({i: int(claim.x[i]) for i in self.cluster.users})

    def needed(self, i: int, x: int) -> Needs:
        """Return what x tasks of a user need of everything: of each resource, and of each ceiling that it is below."""
        mine, c = self.claim.sequences[i], self.claim.c
        spend(0, 1 + len(mine.kinds))
        found = [mine.uses(x, j) for j in range(len(c.resources))]
        return (*found, *(found[j] if i in members else number(0) for _, j, _, members in c.ceilings))

    def kept(self, tasks: dict[int, int]) -> list[tuple[Fraction, tuple[Fraction, bool]]]:
        """Return what is kept of promises, in parts of them, sorted; of equal ones a lower tier's is missed first."""
        rank = self.claim.c.rank
        return sorted((min(Fraction(tasks[i], most), Fraction(1)), rank[i]) for i, most in self.promised.items())

    def better(self, tasks: dict[int, int]) -> bool | None:
        """Say whether tasks are better than the file's, None where that is not known."""
        kept = self.kept(tasks)
        return kept > self.own if kept != self.own else self.value.better([tasks[i] for i in self.cluster.users])

    def alone(self, i: int, left: Needs) -> int:
        """Return the most tasks that a user could have of what is left."""
        low, high = 0, len(self.needs[i]) - 1
        while low < high:
            middle = (low + high + 1) // 2
            fits = all(map(le, self.needs[i][middle], left))
            low, high = (middle, high) if fits else (low, middle - 1)
        return low

    def extended(self, chosen: dict[int, int], left: Needs | None) -> dict[str, int] | None:
        """Return what is better, and can be run, where these users have so much."""
        left = self.room if left is None else left
        self.branches += 1
        spend(0, 1 + len(self.turn) * len(left))
        if self.branches > BRANCHES:
            raise Undecided(f"more than {BRANCHES} branches would have to be looked at")
        most = chosen | {i: self.alone(i, left) for i in self.turn[len(chosen) :]}
        better = self.better(most)
        if better is False:
            return None
        if len(chosen) == len(self.turn):
            if better is None:
                raise Undecided("what tasks are worth is too near to that of others")
            return {self.claim.c.users[i]: x for i, x in chosen.items()} if self.runs(chosen) else None
        i = self.turn[len(chosen)]
        for x in range(most[i], -1, -1):
            rest = tuple(map(sub, left, self.needs[i][x]))
            if (found := self.extended(chosen | {i: x}, rest)) is not None:
                return found
        return None

    def runs(self, chosen: dict[int, int]) -> bool:
        """Say whether tasks can be run, which in a pool is known: on machines every way to place them is tried."""
        c = self.claim.c
        if c.pool:
            return True
        tasks = [
            (tuple(kind.d), fits)
            for i, x in chosen.items()
            for kind, fits, number_of in zip(
                self.claim.sequences[i].kinds,
                self.claim.sequences[i].fits,
                self.claim.sequences[i].started(x),
                strict=True,
            )
            for _ in range(number_of)
        ]
        if len(tasks) > DEEP:
            raise Undecided("there are too many tasks to try every way to place them")
        tasks.sort(key=lambda task: (len(task[1]), [-d for d in task[0]]))
        rooms: list[Room] = [
            (k, tuple(c.C[k]), ()) for k, count in enumerate(c.count) for _ in range(min(count, len(tasks)))
        ]
        return self.placed(tasks, rooms)

    def placed(self, tasks: list[tuple[Needs, list[int]]], rooms: list[Room]) -> bool:
        """Say whether tasks, from the first on, fit in what rooms are left."""
        self.branches += 1
        spend(0, 1 + len(rooms) * len(self.room))
        if self.branches > BRANCHES:
            raise Undecided(f"more than {BRANCHES} branches would have to be looked at")
        if not tasks:
            return True
        needs, fits = tasks[0]
        for k, room, shared in dict.fromkeys(rooms):
            devices = self.claim.c.devices[k]
            # Tasks come in one order, so that what is on a machine is told by what each of them needs.
            beside = (*shared, needs) if devices else ()
            dealt_out = all(
                dealt(count, [on[j] / size for on in beside], [1] * len(beside)) for j, (count, size) in devices.items()
            )
            if k in fits and all(map(le, needs, room)) and dealt_out:
                rest = list(rooms)
                rest[rooms.index((k, room, shared))] = k, tuple(map(sub, room, needs)), beside
                if self.placed(tasks[1:], rest):
                    return True
        return False
