"""Whole tasks of several groups: where a way comes to in very many turns while nobody stops, without each of them.

Of the children of a group whose tier comes first those have a turn whose *key* is least: level and gain, of a user the
level only.  What a child comes to by its own turns does not depend on its siblings, and its key never falls.

*Theorem.* While nobody stops, a group comes to where each of these children is once its own key is k or more.

*Proof.* Whoever is below k comes before whoever is not, and has turns until it is not; till then nobody else has one.

So what a group has at k is what its children have there: users by a division, groups where keys of their own children
are found by halving.  Parts of guarantees are levels of users who are all children of the root.
"""

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

from .groups import TreeNode
from .whole_turns import Marks, Tasks, TurnClock, Way, more
from .work import spend

__all__ = ["Course"]

FEW = 2
"""Tasks of everybody that are left to go one by one."""

Key = tuple[int, int]
Test = Callable[[Tasks], bool]
"""Of tasks, whether they are beyond something; then all more are."""


class Course:
    """All that a way comes to while nobody stops.

    Attributes
    ----------
    children : dict from id of a group to list of (child, list of int)
        Of each group those whose turn it can be, and who below each of them goes on.
    full : list of int
        The most that everybody has until others have a turn, or until it stops.
    known : dict from id of a group to list of tasks
        What it comes to, as far as that was looked for.
    """

    def __init__(self, clock: TurnClock, way: Way):
        self.clock, self.way, self.start = clock, way, way.tasks
        self.lines, self.full = clock.lines, clock.most
        self.children = dict[int, list[tuple[int | TreeNode, list[int]]]]()
        self.known, self.came_with = defaultdict[int, list[Tasks]](list), dict[tuple[int, int], int]()
        if needy := [p for p in sorted(way.active) if way.tasks[p] < clock.promise[p]]:
            self.children[id(clock.root)] = [(p, [p]) for p in needy]
            self.lines = [[(clock.parts // f, 0)] if f else [] for f in clock.promise]
            self.full = clock.promise
        else:
            self.going(clock.root)

    def going(self, group: TreeNode) -> list[int]:
        """Return who below a group can have a turn, and note its children whose turn it can be."""
        ranks = self.clock.children(group, self.way)
        first = ranks[min(ranks)]
        found = [(child, [child] if isinstance(child, int) else self.going(child)) for child in first]
        self.children[id(group)] = found
        return [p for _, mine in found for p in mine]

    def jumped(self, beyond: Test, counted: bool) -> Way:
        """Return the way a few tasks before it is beyond something; where its turns are `counted`, new at a level."""
        root = self.clock.root
        tasks = self.before(root, beyond)
        if counted:
            level, _ = min(self.key(child, tasks) for child, _ in self.children[id(root)])
            tasks = cast(Tasks, self.together(root, (level, 0)))  # It is past that.
        return replace(self.way, tasks=tasks, since=self.marks(root, tasks))

    # ---- where groups come to -------------------------------------------------------------------------------------

    def before(self, group: TreeNode, beyond: Test) -> Tasks:
        """Return what a group comes to a few tasks before it is beyond something, or somebody has all it can.

        What is left of whoever has most to go is halved, again and again; who is at one level for good stays there.
        """
        known, going = self.known[id(group)], [p for _, mine in self.children[id(group)] for p in mine]
        at = bisect_left(known, True, key=beyond)
        low: Tasks = (self.start, *known)[at]
        high: Sequence[int] = (*known, self.full)[at]
        while True:
            wide, p = max((high[p] - low[p], p) for p in going)
            if wide <= FEW:
                return low
            wanted = list(high)
            wanted[p] -= wide // 2
            after = self.with_tasks(group, p, wanted)
            if after is None or after[p] < wanted[p]:
                high = wanted
            elif beyond(after):
                high = after
            else:
                low = after

    def with_tasks(self, group: TreeNode, p: int, wanted: Sequence[int]) -> Tasks | None:
        """Return what a group comes to once a user is where it has what is wanted; None where others cannot."""
        child = next(one for one, mine in self.children[id(group)] if p in mine)
        tasks = wanted if isinstance(child, int) else self.with_tasks(child, p, wanted)
        return None if tasks is None else self.together(group, self.key(child, tasks))

    def key(self, child: int | TreeNode, tasks: Sequence[int]) -> Key:
        """Return level and gain of a child."""
        if isinstance(child, int):
            return max(slope * tasks[child] - offset for slope, offset in self.lines[child]), 0
        level, held = self.clock.standing(child, tasks)
        return level, held - self.came(child, level)

    def together(self, group: TreeNode, key: Key) -> Tasks | None:
        """Return what a group comes to once its children are at a key; None where that is more than somebody can."""
        (level, gain), found = key, list(self.start)
        for child, mine in self.children[id(group)]:
            if self.key(child, self.start) >= key:
                continue
            if isinstance(child, int):
                # Users gain nothing: they are past a gain at their next level.
                needed = [-((-level - bool(gain) - o) // slope) for slope, o in self.lines[child] if slope]
                able = [x for x in needed if x <= self.full[child]]
                if not able:
                    return None
                found[child] = min(able)
            elif (tasks := self.reached(child, key)) is None:
                return None
            else:
                for p in mine:
                    found[p] = tasks[p]
        spend(0, 1 + len(found))
        insort(self.known[id(group)], tuple(found), key=sum)
        return tuple(found)

    def reached(self, group: TreeNode, key: Key) -> Tasks | None:
        """Return what a group comes to first at a key that it has not yet; None where somebody below it cannot."""
        level, gain = key

        def there(tasks: Tasks) -> bool:
            at, held = self.clock.standing(group, tasks)
            return at > level or (at == level and (not gain or held - self.came(group, level) >= gain))

        tasks = self.before(group, there)
        way = replace(self.way, tasks=tasks, since=self.marks(group, tasks))
        while not there(way.tasks):
            _, turn = self.clock.lowest(group, way)
            way = replace(way, tasks=more(way.tasks, turn))
            if any(way.tasks[p] > self.full[p] for p in turn):
                return None
        return way.tasks

    # ---- since when -----------------------------------------------------------------------------------------------

    def marks(self, group: TreeNode, tasks: Tasks) -> Marks:
        """Return the levels of the groups below a group, and what they held when they came to them."""
        below = [one for one in group.nodes() if one is not group and id(one) in self.children]
        levels = [self.clock.standing(one, tasks)[0] for one in below]
        return {one.name: (level, self.came(one, level)) for one, level in zip(below, levels, strict=True)}

    def came(self, group: TreeNode, level: int) -> int:
        """Return what a group held when it came to a level that it comes to, since the last stop."""
        if (id(group), level) not in self.came_with:
            at, held = self.clock.standing(group, self.start)
            if level != at:
                held = self.clock.standing(group, cast(Tasks, self.reached(group, (level, 0))))[1]
            elif (since := self.way.since.get(group.name, (None,)))[0] == level:
                held = since[1]
            self.came_with[id(group), level] = held
        return self.came_with[id(group), level]
