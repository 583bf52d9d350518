"""Whole tasks of several groups: whose turn it is by the clock of their rules.

Of children at one level comes first who *gained* less: a group since it came to that, or since the last stop, in shares
of all resources together, by its weight; a user nothing.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from operator import mul
from typing import Any

from .claims import Claim
from .clock import RuleClock
from .groups import TreeNode, tree
from .trees import CELLS_A_STEP, Carried
from .whole_levels import whole_promises
from .work import spend

__all__ = ["Marks", "Tasks", "TurnClock", "Way", "more"]

Tasks = tuple[int, ...]
Marks = dict[str, tuple[int, int]]
"""The level of each group asked since the last stop, and what it held when it came to that."""


@dataclass(frozen=True)
class Way:
    """Who goes on, by place, and what everybody has; what the clock shows, and how often it was anybody's turn then."""

    active: frozenset[int]
    tasks: Tasks
    moment: tuple[Any, ...] = ()
    turns: int = 0
    since: Marks = field(default_factory=dict, compare=False)

    @property
    def time(self) -> tuple[tuple[Any, ...], int]:
        """When it is."""
        return self.moment, self.turns


class TurnClock:
    """The clock of those who can have a task, in integers.

    Attributes
    ----------
    users : list of int
        Who can have a task; whatever else is of somebody is in this order.
    most, promise : list of int
        The most tasks, and those of guarantees; parts of these are counted in `parts`.
    alike : list of list of int
        Who are alike in all respects.
    """

    def __init__(self, claim: Claim, cluster: Carried):
        self.claim, self.cluster = claim, cluster
        self.users, self.root = cluster.users, tree(claim.c)
        self.place = {i: p for p, i in enumerate(self.users)}
        self.most = [cluster.tasks[i].most for i in self.users]
        self.promise = list(map(whole_promises(claim).__getitem__, self.users))
        self.parts = math.lcm(*(f for f in self.promise if f))
        clock = RuleClock(claim)
        self.members = {id(group): sorted(self.place[i] for i in group.everyone() if i in self.place)
                        for group in self.root.nodes()}  # fmt: skip
        rows = {id(group): clock.rows(group) for group in self.root.nodes()}
        numbers = [v for i in self.users for line in claim.lines[i] for v in line]
        numbers += [v for mine in rows.values() for row, offset in mine for v in (*row.values(), offset)]
        self.unit = math.lcm(*(v.denominator for v in numbers))
        held = {at: [clock.shares[self.users[p]] / weight for p in self.members[at]]
                for at, weight in ((id(group), group.weight or 1) for group in self.root.nodes())}  # fmt: skip
        scale = math.lcm(*(v.denominator for mine in held.values() for v in mine))
        self.shares = {at: [int(v * scale) for v in mine] for at, mine in held.items()}
        self.lines = [[(int(slope * self.unit), int(o * self.unit)) for slope, o in claim.lines[i]] for i in self.users]
        self.rows = {
            at: [([int(row.get(self.users[p], 0) * self.unit) for p in self.members[at]], int(o * self.unit))
                 for row, o in mine] for at, mine in rows.items()
        }  # fmt: skip
        alike: dict[Any, list[int]] = {}
        for p, i in enumerate(self.users):
            kind = (claim.c.paths[i], cluster.goods[i], cluster.tasks[i].counts, self.most[p], claim.c.rank[i])
            alike.setdefault((*kind, tuple(self.lines[p]), self.promise[p]), []).append(p)
        self.alike = list(alike.values())
        self.start = Way(frozenset(range(len(self.users))), (0,) * len(self.users))

    def due(self, way: Way) -> tuple[Way, list[int]]:
        """Return a way with what the clock shows, and whose turn it is."""
        spend(0, 1 + len(self.users))
        needy = [(x * (self.parts // f), p) for p in way.active if (x := way.tasks[p]) < (f := self.promise[p])]
        if needy:
            least = min(part for part, _ in needy)
            moment: tuple[Any, ...] = (0, least)
            turn = sorted(p for part, p in needy if part == least)
        else:
            way = replace(way, since=dict(way.since))
            (rank, level, _), turn = self.lowest(self.root, way)
            moment = (1, rank, level)
        return replace(way, moment=moment, turns=way.turns + 1 if moment == way.moment else 0), turn

    def children(self, group: TreeNode, way: Way) -> dict[Any, list[int | TreeNode]]:
        """Return the users and groups of a group of whom somebody goes on, by rank."""
        found: dict[Any, list[int | TreeNode]] = {}
        for p in (self.place[i] for i in group.users if i in self.place):
            if p in way.active:
                found.setdefault(self.claim.c.rank[self.users[p]], []).append(p)
        for child in group.groups:
            if not way.active.isdisjoint(self.members[id(child)]):
                found.setdefault(child.rank, []).append(child)
        return found

    def standing(self, child: int | TreeNode, tasks: Sequence[int]) -> tuple[int, int]:
        """Return the level of a user or a group, and what it holds in shares of all resources, a user nothing."""
        if isinstance(child, int):
            return max(slope * tasks[child] - offset for slope, offset in self.lines[child]), 0
        has, at = [tasks[p] for p in self.members[id(child)]], id(child)
        spend(0, 1 + len(has) * (1 + len(self.rows[at])) // CELLS_A_STEP)
        return max(sum(map(mul, row, has)) - o for row, o in self.rows[at]), sum(map(mul, self.shares[at], has))

    def lowest(self, group: TreeNode, way: Way) -> tuple[tuple[Any, int, int], list[int]]:
        """Return rank, level and gain of the children that come first, and whose turn it is below; note `way.since`."""
        ranks = self.children(group, way)
        rank, found = min(ranks), list[tuple[tuple[int, int], int | TreeNode]]()
        for child in ranks[rank]:
            level, held = self.standing(child, way.tasks)
            if not isinstance(child, int):
                if child.name not in way.since or way.since[child.name][0] != level:
                    way.since[child.name] = level, held
                held -= way.since[child.name][1]
            found.append(((level, held), child))
        first = min(key for key, _ in found)
        turn: list[int] = []
        for key, child in found:
            if key == first:
                turn += [child] if isinstance(child, int) else self.lowest(child, way)[1]
        return (rank, *first), sorted(turn)


def more(tasks: Tasks, turn: Sequence[int]) -> Tasks:
    """Return tasks with one more for each whose turn it is."""
    found = list(tasks)
    for p in turn:
        found[p] += 1
    return tuple(found)
