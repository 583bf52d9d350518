"""Whole tasks of several groups: the clock of their rules, run again a task at a time for all ways to choose who stops.

A *way* gives all whose turn it is one more task, together; where that cannot be, some stop for good.  It is better
than another whose first stop comes earlier by the clock or, at the same time, stops more; then by the second stop, and
so on.  The tasks of the file are the end of a way, of which every step can be run, since the end can.

Of children at one level comes first who *gained* less: a group since it came to that, or since the last stop, in shares
of all resources together, by its weight; a user nothing.

*Theorem.* Let a set of ways go on wherever nothing refutes that.  When at each stop of the file's way none of those
that were as good until then passes it, and none stops fewer there, no way is better.

*Proof.* Who may go on more often than can be run stops no earlier: at the first stop at which a way does what the set
does not, the set has one that goes on instead, and passes.  So the best of the set is no worse than the best there is.

What refutes tasks is counting: of a resource, or of a ceiling, they need more than there is.  Or it is a tree of the
file, at each of whose leaves they cost more than all that can be run is worth; a tree says nothing of any one way, and
so refutes whatever comes that is too much for it.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from operator import mul
from typing import Any

from .branches import Tree, leaves
from .claims import Claim
from .clock import RuleClock
from .groups import TreeNode, tree
from .reading import shown
from .trees import CELLS_A_STEP, Carried, scale_of
from .whole_levels import whole_promises
from .work import spend

__all__ = ["Cuts", "Stop", "StopProof", "Way"]

Tasks = tuple[int, ...]
Marks = dict[str, tuple[int, int]]
"""The level of each group asked since the last stop, and what it held when it came to that."""
Stop = tuple[tuple[Any, ...], int, int]
"""What the clock shows, how often it was somebody's turn then, and how many stop."""

NEVER: tuple[tuple[Any, ...], int] = (2,), 0
"""A time after all others."""


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


class Cuts:
    """What refutes that tasks can be run: rows of what a task of each good costs, and all that can be run is worth.

    A tree is the rows of its leaves: tasks are refuted when they cost more by each of them.
    """

    def __init__(self, cluster: Carried, trees: Sequence[Tree] = ()):
        self.cluster, self.trees = cluster, list[list[tuple[list[int], Any]]]()
        rows, room = cluster.together
        self.trees += [[(cluster.by_goods([row[j] for row in rows], []), most)] for j, most in enumerate(room)]
        self.trees += [[([row[b] for row in cluster.under], most)] for b, most in enumerate(cluster.ceilings)]
        for tree_of_file in trees:
            self.add(tree_of_file)

    def add(self, given: Tree) -> None:
        """Take a tree of the file; leaves whose bounds no machines keep are of nothing."""
        cluster, found = self.cluster, []
        for leaf, bounds in leaves(given, cluster.key, lambda load: (0, cluster.count[load[0]])):
            if (priced := cluster.priced(leaf, scale_of(leaf), bounds)) is not None:
                found.append(priced)
        self.trees.append(found)

    def goods(self, tasks: Tasks) -> list[int]:
        """Return how many tasks of each good there are."""
        cluster = self.cluster
        found = [0] * len(cluster.shape_of)
        for i, x in zip(cluster.users, tasks, strict=True):
            for good, y in zip(cluster.goods[i], cluster.tasks[i].started(x), strict=True):
                found[good] += y
        return found

    def refuted(self, tasks: Tasks) -> bool:
        """Say whether everybody's tasks are known to be too many."""
        goods = self.goods(tasks)
        spend(0, 1 + len(goods) * sum(map(len, self.trees)) // CELLS_A_STEP)
        return any(all(sum(map(mul, costs, goods)) > worth for costs, worth in rows) for rows in self.trees)


class StopProof:
    """All ways that are as good as the file's, stop after stop.

    Attributes
    ----------
    proven : list of Stop
        The stops that no way has better.
    ways : list of Way
        Those that are as good until then.
    """

    def __init__(self, claim: Claim, cluster: Carried, cuts: Cuts):
        self.claim, self.cluster, self.cuts = claim, cluster, cuts
        self.users, self.root = cluster.users, tree(claim.c)
        self.place = {i: p for p, i in enumerate(self.users)}
        self.own = tuple(int(claim.x[i]) for i in self.users)
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
        self.proven, self.ways, self.mine = list[Stop](), [self.start], self.start

    def fault(self) -> str:
        """Return what may be better than the tasks of the file; "" where nothing is."""
        while self.mine.active:
            at, stopping = self.own_stop()
            here = [way for way in (self.onward(each, at.time) for each in self.ways) if way is not None]
            if late := next((way for way in here if way.time > at.time), None):
                return f"somebody stops at {self.told(at.moment)}, and all can have one more: {self.named(late)}"
            fewer = self.stopped(here, len(stopping))
            if isinstance(fewer, Way):
                return f"{len(stopping)} stop at {self.told(at.moment)}, and fewer can: {self.named(fewer)}"
            self.proven.append((*at.time, len(stopping)))
            self.ways, self.mine = fewer, self.after(at, stopping)
        return ""

    def told(self, moment: tuple[Any, ...]) -> str:
        """Return what the clock shows, in words."""
        return f"{'level' if moment[0] else 'part'} {shown(self.level(moment))}"

    def level(self, moment: tuple[Any, ...]) -> Fraction:
        """Return the level, or the part of guarantees, that the clock shows."""
        return Fraction(moment[-1], self.unit if moment[0] else self.parts)

    def named(self, way: Way) -> str:
        """Return everybody's tasks, in words."""
        return str(dict(zip((self.claim.c.users[i] for i in self.users), way.tasks, strict=True)))

    # ---- steps ----------------------------------------------------------------------------------------------------

    def own_stop(self) -> tuple[Way, list[int]]:
        """Return the file's way at its next stop, and who stops there: whoever has all that it has in the end."""
        way = self.mine
        while True:
            way, turn = self.due(way)
            if stopping := [p for p in turn if way.tasks[p] >= self.own[p]]:
                return way, stopping
            way = replace(way, tasks=_more(way.tasks, turn))

    def onward(self, way: Way, until: tuple[tuple[Any, ...], int] = NEVER) -> Way | None:
        """Return a way at its next stop, or once it is past a time; None where it stops before."""
        while True:
            way, turn = self.due(way)
            if way.time > until:
                return way
            after = _more(way.tasks, turn)
            if any(after[p] > self.most[p] for p in turn) or self.cuts.refuted(after):
                return way if way.time == until or until == NEVER else None
            way = replace(way, tasks=after)

    def stopped(self, ways: list[Way], most: int) -> list[Way] | Way:
        """Return the ways after so many of those whose turn it is stopped, or one after which fewer have to."""
        found: dict[Any, Way] = {}
        for way in ways:
            _, turn = self.due(replace(way, moment=()))
            must = {p for p in turn if way.tasks[p] == self.most[p]}
            # Who are alike, and due together, have the same.
            able = [[p for p in alike if p in turn and p not in must] for alike in self.alike]
            able = [alike for alike in able if alike]
            after = _more(way.tasks, [p for p in turn if p not in must])
            for count in range(max(1, len(must), len(must) + self.fewest(able, way.tasks, after)), most + 1):
                for chosen in _choices(able, count - len(must)):
                    spend(0, 1 + len(self.users) // CELLS_A_STEP)
                    next_one = self.after(way, sorted(must | set(chosen)))
                    if not self.cuts.refuted(next_one.tasks):
                        if count < most:
                            return next_one
                        found[next_one.active, next_one.tasks] = next_one
        return list(found.values())

    def fewest(self, able: list[list[int]], tasks: Tasks, after: Tasks) -> int:
        """Return how many have to stop at the least: those whose next tasks cost most together free no more."""
        goods, each = self.cuts.goods(after), [(alike, self.goods_of_next(alike[0], tasks)) for alike in able]
        least = 0
        for costs, worth in (rows[0] for rows in self.cuts.trees if len(rows) == 1):
            beyond = sum(map(mul, costs, goods)) - worth
            freed = sorted(((sum(map(mul, costs, one)), len(alike)) for alike, one in each), reverse=True)
            for needed, cost in enumerate((cost for cost, number_of in freed for _ in range(number_of)), 1):
                if beyond <= 0:
                    break
                beyond, least = beyond - cost, max(least, needed)
        return least

    def goods_of_next(self, p: int, tasks: Tasks) -> list[int]:
        """Return what the next task of a user is of each good."""
        i = self.users[p]
        found = [0] * len(self.cluster.shape_of)
        for x, sign in ((tasks[p] + 1, 1), (tasks[p], -1)):
            for good, y in zip(self.cluster.goods[i], self.cluster.tasks[i].started(x), strict=True):
                found[good] += sign * y
        return found

    def after(self, way: Way, stopping: Sequence[int]) -> Way:
        """Return a way after some of those whose turn it is stopped, and the others have one more."""
        going = [p for p in self.due(replace(way, moment=()))[1] if p not in stopping]
        return replace(way, active=way.active.difference(stopping), tasks=_more(way.tasks, going), since={})

    # ---- the clock ------------------------------------------------------------------------------------------------

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

    def lowest(self, group: TreeNode, way: Way) -> tuple[tuple[Any, int, int], list[int]]:
        """Return rank, level and gain of the children that come first, and whose turn it is below; note `way.since`."""
        found: list[tuple[tuple[Any, int, int], Any]] = []
        for p in (self.place[i] for i in group.users if i in self.place):
            if p in way.active:
                level = max(slope * way.tasks[p] - offset for slope, offset in self.lines[p])
                found.append(((self.claim.c.rank[self.users[p]], level, 0), p))
        for child in group.groups:
            mine = self.members[id(child)]
            if any(p in way.active for p in mine):
                has = [way.tasks[p] for p in mine]
                spend(0, 1 + len(has) * (1 + len(self.rows[id(child)])) // CELLS_A_STEP)
                level = max(sum(map(mul, row, has)) - offset for row, offset in self.rows[id(child)])
                held = sum(map(mul, self.shares[id(child)], has))
                if child.name not in way.since or way.since[child.name][0] != level:
                    way.since[child.name] = level, held
                found.append(((child.rank, level, held - way.since[child.name][1]), child))
        first = min(key for key, _ in found)
        turn: list[int] = []
        for key, child in found:
            if key == first:
                turn += [child] if isinstance(child, int) else self.lowest(child, way)[1]
        return first, sorted(turn)


def _more(tasks: Tasks, turn: Sequence[int]) -> Tasks:
    """Return tasks with one more for each whose turn it is."""
    found = list(tasks)
    for p in turn:
        found[p] += 1
    return tuple(found)


def _choices(able: list[list[int]], count: int) -> Iterator[list[int]]:
    """Yield choices of so many users, of those alike the last ones listed."""
    if not able:
        if not count:
            yield []
        return
    for taken in range(min(count, len(able[0])) + 1):
        for rest in _choices(able[1:], count - taken):
            yield [*able[0][len(able[0]) - taken :], *rest]
