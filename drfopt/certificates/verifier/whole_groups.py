"""Whole tasks of several groups: the clock of their rules, run again a task at a time for all ways to choose who stops.

A *way* gives all whose turn it is one more task, together; where that cannot be, some stop for good.  It is better
than another whose first stop comes earlier by the clock or, at the same time, stops more; then by the second stop, and
so on.  The tasks of the file are the end of a way, of which every step can be run, since the end can.

*Theorem.* Let a set of ways go on wherever nothing refutes that.  When at each stop of the file's way none of those
that were as good until then passes it, and none stops fewer there, no way is better.

*Proof.* Who may go on more often than can be run stops no earlier: at the first stop at which a way does what the set
does not, the set has one that goes on instead, and passes.  So the best of the set is no worse than the best there is.

What refutes tasks is counting: of a resource, or of a ceiling, they need more than there is.  Or it is a tree of the
file, at each of whose leaves they cost more than all that can be run is worth; a tree says nothing of any one way, and
so refutes whatever comes that is too much for it.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from operator import gt, mul
from typing import Any

from .branches import Tree, leaves
from .claims import Claim
from .reading import shown
from .trees import CELLS_A_STEP, Carried, scale_of
from .whole_courses import Course, Test
from .whole_turns import Tasks, TurnClock, Way, more
from .work import spend

__all__ = ["Cuts", "Stop", "StopProof"]

Stop = tuple[tuple[Any, ...], int, int]
"""What the clock shows, how often it was somebody's turn then, and how many stop."""

NEVER: tuple[tuple[Any, ...], int] = (2,), 0
"""A time after all others."""

ONE_BY_ONE = 64
"""Turns before many are left out, again and again after twice as many."""


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


class StopProof(TurnClock):
    """All ways that are as good as the file's, stop after stop.

    Attributes
    ----------
    proven : list of Stop
        The stops that no way has better.
    ways : list of Way
        Those that are as good until then.
    """

    def __init__(self, claim: Claim, cluster: Carried, cuts: Cuts):
        super().__init__(claim, cluster)
        self.cuts, own = cuts, [int(claim.x[i]) for i in self.users]
        # Who are alike may change places: the last ones listed stop first.
        for kind in self.alike:
            for p, x in zip(kind, sorted((own[p] for p in kind), reverse=True), strict=True):
                own[p] = x
        self.own = tuple(own)
        self.proven, self.ways, self.mine = list[Stop](), [self.start], self.start

    def fault(self) -> str:
        """Return what may be better than the tasks of the file; "" where nothing is."""
        while self.mine.active:
            at, stopping = self.own_stop()
            # The file's own way can be run until it is there.
            there = replace(at, turns=at.turns - 1)
            ways = (self.onward(there if each == self.mine else each, at.time) for each in self.ways)
            here = [way for way in ways if way is not None]
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
        alone = self.ways == [self.mine]
        course = self.course(self.mine, lambda tasks: any(map(gt, tasks, self.own)), not alone)
        return next((way, s) for way, turn in course if (s := [p for p in turn if way.tasks[p] >= self.own[p]]))

    def onward(self, way: Way, until: tuple[tuple[Any, ...], int] = NEVER) -> Way | None:
        """Return a way at its next stop, or once it is past a time; None where it stops before."""

        def beyond(tasks: Tasks) -> bool:
            return self.cuts.refuted(tasks) or self.due(replace(way, tasks=tasks, since={}))[0].moment > until[0]

        for at, turn in self.course(way, beyond, True):
            if at.time > until:
                return at
            after = more(at.tasks, turn)
            if any(after[p] > self.most[p] for p in turn) or self.cuts.refuted(after):
                return at if at.time == until or until == NEVER else None
        return None

    def course(self, way: Way, beyond: Test, counted: bool) -> Iterator[tuple[Way, list[int]]]:
        """Yield a way turn after turn, and whose turn it is; not each of many turns before it is beyond something.

        Turns that are not `counted` are left out at one level, too: where all ways are one until their next stop.
        """
        for number in itertools.count(1):
            way, turn = self.due(way)
            yield way, turn
            way = replace(way, tasks=more(way.tasks, turn))
            if number >= ONE_BY_ONE and not number & (number - 1):
                way = Course(self, way).jumped(beyond, counted)

    def stopped(self, ways: list[Way], most: int) -> list[Way] | Way:
        """Return the ways after so many of those whose turn it is stopped, or one after which fewer have to."""
        found: dict[Any, Way] = {}
        for way in ways:
            _, turn = self.due(replace(way, moment=()))
            must = {p for p in turn if way.tasks[p] == self.most[p]}
            # Who are alike, and due together, have the same.
            able = [[p for p in alike if p in turn and p not in must] for alike in self.alike]
            able = [alike for alike in able if alike]
            after = more(way.tasks, [p for p in turn if p not in must])
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
        return replace(way, active=way.active.difference(stopping), tasks=more(way.tasks, going), since={})


def _choices(able: list[list[int]], count: int) -> Iterator[list[int]]:
    """Yield choices of so many users, of those alike the last ones listed."""
    if not able:
        if not count:
            yield []
        return
    for taken in range(min(count, len(able[0])) + 1):
        for rest in _choices(able[1:], count - taken):
            yield [*able[0][len(able[0]) - taken :], *rest]
