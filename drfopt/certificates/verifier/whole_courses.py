"""Whole tasks of several groups: where a way comes to in very many turns while nobody stops, without each of them.

Of the children of a group whose tier comes first those have a turn whose *key* is least: level and gain, of a user the
level only.  What a child comes to by its own turns does not depend on its siblings, and its key never falls.

*Theorem.* While nobody stops, a group comes to where each of these children is once its own key is k or more.

*Proof.* Whoever is below k comes before whoever is not, and has turns until it is not; till then nobody else has one.

So what a group has at k is what its children have there: users by a division, groups where keys of their own children
are found by halving.  Parts of guarantees are levels of users who are all children of the root.
"""

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace

from .groups import TreeNode
from .whole_turns import Marks, Tasks, TurnClock, Way, more
from .work import spend

__all__ = ["Course"]

FEW = 2
"""Tasks of everybody that are left to go one by one."""

Child = int | TreeNode
Key = tuple[int, int]
Test = Callable[[Tasks], bool]
"""Of tasks, whether they are beyond something; then all more are."""


class Course:
    """All that a way comes to while nobody stops.

    Attributes
    ----------
    children : dict from id of a group to list of (child, list of int)
        Of each group those whose turn it can be, and who below each of them goes on.
    known : dict from id of a group to list of tasks
        What it comes to, as far as that was looked for.
    """

    def __init__(self, clock: TurnClock, way: Way):
        self.clock, self.way, self.start = clock, way, way.tasks
        self.lines, self.full = clock.lines, tuple(x + 1 for x in clock.most)
        self.children = dict[int, list[tuple[Child, list[int]]]]()
        self.known, self.came_with = dict[int, list[Tasks]](), dict[tuple[int, int], int]()
        if needy := [p for p in sorted(way.active) if way.tasks[p] < clock.promise[p]]:
            self.children[id(clock.root)] = [(p, [p]) for p in needy]
            self.lines = [[(clock.parts // f, 0)] if f else [] for f in clock.promise]
            self.full = tuple(clock.promise)
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
        tasks, root = self.before(self.clock.root, beyond, counted), self.clock.root
        return self.way if tasks == self.start else replace(self.way, tasks=tasks, since=self.marks(root, tasks))

    # ---- where groups come to -------------------------------------------------------------------------------------

    def before(self, group: TreeNode, beyond: Test, levels: bool = False) -> Tasks:
        """Return what a group comes to a few tasks before it is beyond something; with `levels` new at a level.

        It is looked for near what is known to be beyond it first, and twice as far from there again and again.
        """
        known, going = self.known.setdefault(id(group), [self.start]), self.children[id(group)]
        at = max(1, bisect_left(known, True, key=beyond))
        low, high = known[at - 1], known[at] if at < len(known) else self.full
        step = FEW
        while True:
            step *= 2
            wide, p, child = max(((high[p] - low[p], p, c) for c, mine in going for p in mine), key=lambda one: one[:2])
            if wide <= FEW:
                return low
            x = high[p] - min(step, wide // 2)
            key = self.key_with(child, p, x)
            after = key and self.together(group, (key[0], 0) if levels else key)
            if key and after and after[p] <= low[p]:
                # It has many turns at this level, or for nothing.
                after = self.together(group, (key[0] + 1, 0))
                if after is None or beyond(after):
                    return low
            if after is None:
                high = (*high[:p], x, *high[p + 1 :])
            elif beyond(after):
                high = after
            else:
                low = after

    def key_with(self, child: Child, p: int, x: int) -> Key | None:
        """Return the key of a child once a user, or one below it, has so many tasks; None where others cannot."""
        if isinstance(child, int):
            return max(slope * x - offset for slope, offset in self.lines[p]), 0
        inner = next(one for one, mine in self.children[id(child)] if p in mine)
        key = self.key_with(inner, p, x)
        tasks = key and self.together(child, key)
        if not tasks:
            return None
        level, held = self.clock.standing(child, tasks)
        return level, held - self.came(child, level)

    def together(self, group: TreeNode, key: Key) -> Tasks | None:
        """Return what a group comes to once its children are at a key; None where that is more than somebody can."""
        found = list(self.start)
        for child, mine in self.children[id(group)]:
            if isinstance(child, int):
                if (x := self.least(child, key)) > self.clock.most[child]:
                    return None
                found[child] = x
            elif (tasks := self.reached(child, key)) is None:
                return None
            else:
                for p in mine:
                    found[p] = tasks[p]
        spend(0, 1 + len(found))
        known, tasks = self.known.setdefault(id(group), [self.start]), tuple(found)
        at = bisect_left(known, sum(tasks), key=sum)
        if known[at : at + 1] != [tasks]:
            known.insert(at, tasks)
        return tasks

    def least(self, p: int, key: Key) -> int:
        """Return the fewest tasks with which a user is at a key, or more than it can have."""
        needed = (-((-key[0] - (key[1] > 0) - o) // slope) for slope, o in self.lines[p] if slope)
        return min(max(self.start[p], min(needed, default=self.full[p])), self.full[p])

    def reached(self, child: TreeNode, key: Key) -> Tasks | None:
        """Return what a group comes to once it is at a key; None where that is more than somebody below it can have."""
        level, gain = key

        def there(tasks: Tasks) -> bool:
            at, held = self.clock.standing(child, tasks)
            return at > level or (at == level and (not gain or held - self.came(child, level) >= gain))

        return self.start if there(self.start) else self.one_by_one(child, self.before(child, there), there)

    def one_by_one(self, group: TreeNode, tasks: Tasks, there: Test) -> Tasks | None:
        """Return what a group comes to first that is there; None where that is more than somebody can have."""
        way = replace(self.way, tasks=tasks, since=self.marks(group, tasks))
        while not there(way.tasks):
            _, turn = self.clock.lowest(group, way)
            way = replace(way, tasks=more(way.tasks, turn))
            if any(way.tasks[p] > self.clock.most[p] for p in turn):
                return None
        return way.tasks

    # ---- since when -----------------------------------------------------------------------------------------------

    def marks(self, group: TreeNode, tasks: Tasks) -> Marks:
        """Return the levels of the groups below a group, and what they held when they came to them."""
        below = [one for one in group.nodes() if one is not group and id(one) in self.children]
        levels = [self.clock.standing(one, tasks)[0] for one in below]
        return {one.name: (level, self.came(one, level)) for one, level in zip(below, levels, strict=True)}

    def came(self, group: TreeNode, level: int) -> int:
        """Return what a group held when it came to a level, since the last stop."""
        if (id(group), level) not in self.came_with:
            at, held = self.clock.standing(group, self.start)
            if level != at:
                held = self.clock.standing(group, self.reached(group, (level, 0)) or self.start)[1]
            elif (since := self.way.since.get(group.name, (None,)))[0] == level:
                held = since[1]
            self.came_with[id(group), level] = held
        return self.came_with[id(group), level]
