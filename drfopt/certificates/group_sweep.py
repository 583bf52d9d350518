"""Whole tasks of several groups: the clock of guarantees, tiers and groups, a task at a time.

Turns    While guarantees are kept it is the turn of those who have the smallest part of theirs.  Then, from the root
         down, of the children below whom somebody goes on: those of the highest tier, weight 0 after it, and of these
         all whose level is lowest; below a group of them the same is asked again.  The level of a group is that of all
         that its users hold, finished ones included.  Of equal levels that of a group which has *gained* less comes
         first: since it has its level, or since the last stop, in shares of all resources together, by its weight.
Stops    All whose turn it is have one more task, together.  Where that is not possible as few of them as can be stop,
         for good, with what they have; who is at her limit has to.
Fair     Of all ways to choose who stops, the one whose first stop is latest, by the levels at the root; of those the
         one that stops the fewest there; then by the second stop, and so on.

Without groups this is the leximin of whole tasks, and the smaller tasks are, the nearer is it to hierarchical DRF.  As
there, a member that cannot go on does not hold back its siblings: they go on until the group's level is due again.

States are swept together as in `drfopt.engines.whole.frontier`: which users go on, and what everybody has; of users
alike in all respects only how many of them stop is chosen.  Everything is decided in integers and fractions; on
machines what is possible is what can be packed, whatever ran where a moment before (`packable`).

Source: A. Bhattacharya et al., Hierarchical scheduling for diverse datacenter workloads, SoCC 2013, section 4 (whose
algorithm launches one task at a time, and never looks for the best choice of who stops).
"""

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ..base.deadline import NEVER, Deadline
from ..base.progress import report
from ..model.whole_values import WholeUsers
from .branch_and_cut import Inconclusive
from .group_turns import GroupTurns, GroupWay, Jump, Reached, Tasks, more
from .packable import Packable

__all__ = ["GroupSweep", "TooManyWays"]

STATES = 2_000
"""States that are kept at most."""

TRIED = 50_000
"""Choices of who stops that are tried at one moment, for all states together."""

ONE_BY_ONE = 64
"""Turns before many are taken at once, again and again after twice as many."""


class TooManyWays(Exception):
    """There are more ways to choose who stops than are looked at; `tasks` are those of one of them."""

    def __init__(self, tasks: Tasks, why: str = "too many ways to choose who stops"):
        super().__init__(why)
        self.tasks = tasks


class GroupSweep:
    """All best ways for the users of a cluster.

    Parameters
    ----------
    users : WholeUsers
        Of an instance whose organisation has groups.
    """

    def __init__(self, users: WholeUsers, deadline: Deadline = NEVER):
        self.users = users
        self.n = len(users.members)
        self.packable = Packable(users, deadline)
        self.turns = GroupTurns(users)
        kinds: dict[tuple, list[int]] = {}
        paths = users.paths
        for p in range(self.n):
            alike = (paths[p], users.goods_of[p], users.sequences[p].counts, users.scales[p])
            kinds.setdefault(alike, []).append(p)
        self.kinds = list(kinds.values())
        self.start = GroupWay((True,) * self.n, (0,) * self.n)

    def best(self, deadline: Deadline = NEVER) -> list[Tasks]:
        """Return the tasks of the members at the end of every best way, users alike in descending order.

        Raises
        ------
        TooManyWays, TimeLimitError
        """
        ways = [self.start]
        while any(ways[0].active):
            report(f"{self.n - sum(ways[0].active)} of {self.n} users stopped, {len(ways)} ways")
            halted = [self._until_stop(way, deadline, len(ways) > 1) for way in ways]
            last = max((way.moment, way.turns) for way in halted)
            ways = self._stopped([way for way in halted if (way.moment, way.turns) == last], deadline)
        return sorted({self.canonical(way.tasks) for way in ways}, reverse=True)

    def greedy(self, deadline: Deadline = NEVER) -> Tasks:
        """Return the end of one way, whoever is listed last of those whose turn it is stopping first."""
        way = self.start
        while any(way.active):
            way = self._until_stop(way, deadline, False, self._surely_fits)
            turn = self.turns.turn(way)[1]
            going = [p for p in turn if way.tasks[p] < self.users.most[p]]
            while going and not self._surely_fits(more(way.tasks, going)):
                going.pop()
            way = self._after(way, [p for p in turn if p not in going], going)
        return way.tasks

    def one_by_one(self, more: Callable[[int], int], deadline: Deadline, tasks: Sequence[int]) -> None:
        """Go on with some tasks until the deadline: whoever's turn it is stops when `more` runs no other task of it."""
        way = GroupWay(self.start.active, tuple(tasks))
        while any(way.active) and deadline.left() > 0:
            _, turn, since = self.turns.turn(way)
            way = replace(way, since=since)
            going = [p for p in turn if way.tasks[p] < self.users.most[p] and more(p)]
            way = self._after(way, [p for p in turn if p not in going], going)

    def canonical(self, tasks: Sequence[int]) -> Tasks:
        """Return tasks with those of users alike in descending order."""
        found = list(tasks)
        for alike in self.kinds:
            for p, x in zip(alike, sorted((tasks[p] for p in alike), reverse=True), strict=True):
                found[p] = x
        return tuple(found)

    # ---- moments ---------------------------------------------------------------------------------------------

    def _until_stop(self, way: GroupWay, deadline: Deadline, counted: bool, fits: Reached | None = None) -> GroupWay:
        """Return the way at its next moment at which not all whose turn it is can have a task more.

        Turns that are not `counted` are those of one way, which is compared with no other.
        """
        fits = fits or self._fits
        for number in itertools.count(1):
            report(f"{sum(way.active)} of {self.n} users go on, {sum(way.tasks):,} tasks run")
            deadline.check("the sweep of groups")
            moment, turn, since = self.turns.turn(way)
            turns = way.turns + 1 if moment == way.moment else 0
            after = more(way.tasks, turn)
            way = GroupWay(way.active, way.tasks, moment, turns, since)
            if any(after[p] > self.users.most[p] for p in turn) or not fits(after):
                break
            way = replace(way, tasks=after)
            if number >= ONE_BY_ONE and not number & (number - 1):
                way = Jump(self.turns, way).just_before(lambda tasks: not self._surely_fits(tasks), counted)
        return way

    # ---- who stops -------------------------------------------------------------------------------------------

    def _stopped(self, ways: list[GroupWay], deadline: Deadline) -> list[GroupWay]:
        """Return the ways after a stop of the fewest, of all that are at the same moment."""
        fewest, found, left = self.n + 1, dict[tuple, GroupWay](), TRIED
        for way in ways:
            turn = self.turns.turn(way)[1]
            must = [p for p in turn if way.tasks[p] == self.users.most[p]]
            able = [[p for p in alike if p in turn and p not in must] for alike in self._alike(way)]
            able = [alike for alike in able if alike]
            for count in range(max(len(must), 1), min(fewest, len(turn)) + 1):
                some = False
                for stopping in _choices(able, count - len(must)):
                    left -= 1
                    if left < 0:
                        raise TooManyWays(self.greedy())
                    deadline.check("the sweep of groups")
                    stops = {*must, *stopping}
                    going = [p for p in turn if p not in stops]
                    if self._fits(more(way.tasks, going)):
                        after = self._after(way, sorted(stops), going)
                        if count < fewest:
                            fewest, found = count, {}
                        found[after.active, after.tasks] = after
                        some = True
                if some:
                    break
        if len(found) > STATES:
            raise TooManyWays(self.greedy())
        return list(found.values())

    def _alike(self, way: GroupWay) -> Iterator[list[int]]:
        """Yield users who are alike and have the same."""
        for kind in self.kinds:
            same: dict[int, list[int]] = {}
            for p in kind:
                same.setdefault(way.tasks[p], []).append(p)
            yield from same.values()

    def _after(self, way: GroupWay, stops: Sequence[int], going: Sequence[int]) -> GroupWay:
        active = tuple(on and p not in stops for p, on in enumerate(way.active))
        return GroupWay(active, more(way.tasks, going), way.moment, way.turns, {} if stops else way.since)

    def _fits(self, tasks: Tasks) -> bool:
        try:
            return self.packable.fits(tasks)
        except Inconclusive:
            raise TooManyWays(self.greedy(), "a packing of machines is neither found nor refuted") from None

    def _surely_fits(self, tasks: Tasks) -> bool:
        with contextlib.suppress(Inconclusive):
            return self.packable.fits(tasks)
        return False


def _choices(able: list[list[int]], count: int) -> Iterator[list[int]]:
    """Yield choices of so many users, of those alike the last ones listed."""
    if not able:
        if not count:
            yield []
        return
    for taken in range(min(count, len(able[0])) + 1):
        for rest in _choices(able[1:], count - taken):
            yield [*able[0][len(able[0]) - taken :], *rest]
