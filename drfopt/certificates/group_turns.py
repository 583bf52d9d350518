"""Whole tasks of several groups: whose turn it is, and what very many turns come to while nobody stops.

A group's turns are the same whatever its siblings have, and level and gain of a child, its *time*, never fall: so of
children that take turns each has, once the clock is past a time, what it has when its own time is past it.  Halving
times, or what is left from an end that is near, finds what a group has some tasks before anything that more bring on.
"""

import bisect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from operator import mul

from ..model.hierarchy.tree import Node, nodes
from ..model.whole_values import WholeUsers

__all__ = ["GroupTurns", "GroupWay", "Jump", "Marks", "Tasks", "more"]

NEAR = 2
"""Tasks of everybody that a jump leaves to single turns."""

Tasks = tuple[int, ...]
Marks = dict[str, tuple[int, int]]
Child = int | Node
Time = tuple[int, int]
Reached = Callable[[Tasks], bool]


@dataclass(frozen=True)
class GroupWay:
    """Who goes on, and what everybody has; how often at this moment's level it was somebody's turn.

    Of groups that had a turn since the last stop, `since` is their level and what they held when they came to it.
    """

    active: tuple[bool, ...]
    tasks: Tasks
    moment: tuple = ()
    turns: int = 0
    since: Marks = field(default_factory=dict, compare=False)


class GroupTurns:
    """The clock of guarantees, tiers and groups, in integers.

    Parameters
    ----------
    users : WholeUsers
        Of an instance whose organisation has groups.
    """

    def __init__(self, users: WholeUsers):
        self.users, self.root = users, users.root
        place, columns = {i: p for p, i in enumerate(users.members)}, users.columns
        below = {node.name: [i for i in node.everyone.tolist() if i in place] for node in nodes(self.root)}
        self.place, self.below = place, {name: [place[i] for i in mine] for name, mine in below.items()}
        rows = {
            node.name: [
                ([sum(map(mul, row, columns[i].tolist())) for i in below[node.name]], offset)
                for row, offset in zip(node.rows.tolist(), node.offsets.tolist(), strict=True)
            ]
            for node in nodes(self.root)
        }
        shares = {
            node.name: [sum(map(mul, node.shares.tolist(), columns[i].tolist())) for i in below[node.name]]
            for node in nodes(self.root)
        }
        numbers = [x for mine in rows.values() for row, offset in mine for x in (*row, offset)]
        numbers += [x for mine in users.lines for line in mine for x in line]
        numbers += [x for mine in shares.values() for x in mine]
        unit = math.lcm(*(x.denominator for x in numbers))
        self.rows = {
            name: [([int(x * unit) for x in row], int(offset * unit)) for row, offset in mine]
            for name, mine in rows.items()
        }
        self.shares = {name: [int(x * unit) for x in mine] for name, mine in shares.items()}
        self.lines = [[(int(slope * unit), int(offset * unit)) for slope, offset in mine] for mine in users.lines]
        self.parts = math.lcm(*(f for f in users.promises if f))

    def needy(self, way: GroupWay) -> dict[int, tuple[int, int]]:
        """Return what part of its guarantee each who is below it has; of several groups' equal parts all are due."""
        promises, ranks = self.users.promises, self.users.ranks
        return {
            p: (x * (self.parts // promises[p]), 0 if self.users.branches else ranks[p])
            for p, x in enumerate(way.tasks)
            if way.active[p] and x < promises[p]
        }

    def turn(self, way: GroupWay) -> tuple[tuple, list[int], Marks]:
        """Return what the clock shows, whose turn it is, and since when groups have their levels."""
        # Without several groups of equal parts that of the higher tier: elsewhere tiers are those of siblings.
        if needy := self.needy(way):
            least = min(needy.values())
            return (0, *least), [p for p, part in needy.items() if part == least], {}
        since = dict(way.since)
        time, turn = self.lowest(self.root, way, since)
        return (1, *time[:2]), turn, since

    def children(self, node: Node, way: GroupWay) -> tuple[tuple, list[Child]]:
        """Return the users and groups of a group of whom somebody goes on, those of the first rank, and that."""
        found: dict[tuple, list[Child]] = {}
        for rank, rows in node.users.items():
            found[rank] = [p for p in map(self.place.get, rows.tolist()) if p is not None and way.active[p]]
        for rank, groups in node.groups.items():
            here = [group for group in groups if any(way.active[p] for p in self.below[group.name])]
            found[rank] = [*found.get(rank, []), *here]
        return min((rank, mine) for rank, mine in found.items() if mine)

    def lowest(self, node: Node, way: GroupWay, since: Marks) -> tuple[tuple, list[int]]:
        """Return rank, level and gain of the children whose turn it is, and the users below them whose turn it is.

        What users gain at one level is 0.
        """
        rank, children = self.children(node, way)
        times: list[Time] = []
        for child in children:
            level, held = self.standing(child, way.tasks)
            if isinstance(child, Node):
                if since.get(child.name, (None,))[0] != level:
                    since[child.name] = level, held
                held -= since[child.name][1]
            times.append((level, held))
        first, turn = min(times), list[int]()
        for child, time in zip(children, times, strict=True):
            if time == first:
                turn += self.lowest(child, way, since)[1] if isinstance(child, Node) else [child]
        return (rank, *first), sorted(turn)

    def standing(self, child: Child, tasks: Tasks) -> Time:
        """Return the level of a user, or of all that a group's users hold, and that in shares of all, by weight."""
        if not isinstance(child, Node):
            return max(slope * tasks[child] + offset for slope, offset in self.lines[child]), 0
        held = [tasks[p] for p in self.below[child.name]]
        level = max(sum(map(mul, row, held)) - offset for row, offset in self.rows[child.name])
        return level, sum(map(mul, self.shares[child.name], held))


class Jump:
    """Very many turns of a way, while nobody stops.

    Attributes
    ----------
    seen : dict from name to list of tasks
        What groups come to, as far as that was looked for, in the order of their turns.
    """

    def __init__(self, clock: GroupTurns, way: GroupWay):
        self.clock, self.way, self.start = clock, way, way.tasks
        self.most, self.full = clock.users.most, [x + 1 for x in clock.users.most]
        self.seen, self.began = dict[str, list[Tasks]](), dict[tuple[str, int], int]()
        self.children = dict[str, list[tuple[Child, list[int]]]]()
        self.lines = clock.lines
        if needy := clock.needy(way):
            self.full = clock.users.promises
            self.lines = [[(clock.parts // f, 0)] if f else [] for f in self.full]
            self.children[""] = [(p, [p]) for p in needy]
        else:
            self._below(clock.root)

    def _below(self, node: Node) -> list[int]:
        found = [(c, self._below(c) if isinstance(c, Node) else [c]) for c in self.clock.children(node, self.way)[1]]
        self.children[node.name] = found
        return [p for _, mine in found for p in mine]

    def just_before(self, reached: Reached, counted: bool) -> GroupWay:
        """Return the way a few tasks before something; where turns are to be `counted`, before the first of a level."""
        tasks = self._before(self.clock.root, reached, counted)
        return replace(self.way, tasks=tasks, since=self._since(self.clock.root, tasks))

    def _before(self, node: Node, reached: Reached, counted: bool = False) -> Tasks:
        seen, children = self.seen.setdefault(node.name, [self.start]), self.children[node.name]
        at = bisect.bisect_left(seen, True, lo=1, key=reached)
        low, high = seen[at - 1], list(seen[at]) if at < len(seen) else list(self.full)
        step = NEAR
        while True:
            step *= 2
            p = max((p for _, mine in children for p in mine), key=lambda p: high[p] - low[p])
            if high[p] - low[p] <= NEAR:
                return low
            x = high[p] - min(step, (high[p] - low[p]) // 2)
            time = self._time(node, p, x)
            there = None if time is None else self._at(node, (time[0], 0) if counted else time)
            if time is not None and there is not None and there[p] <= low[p]:
                # All of what is next has one level: past it, or not at all.
                there = self._at(node, (time[0] + 1, 0))
                if there is None or reached(there):
                    return low
            if there is None:
                high[p] = x
            elif reached(there):
                high = list(there)
            else:
                low = there

    def _time(self, node: Node, p: int, x: int) -> Time | None:
        """Return the time of the child of a group in which a user has so many tasks; None where somebody cannot."""
        child = next(child for child, mine in self.children[node.name] if p in mine)
        if not isinstance(child, Node):
            return max(slope * x + offset for slope, offset in self.lines[p]), 0
        time = self._time(child, p, x)
        tasks = None if time is None else self._at(child, time)
        if tasks is None:
            return None
        level, held = self.clock.standing(child, tasks)
        return level, held - self._began(child, level)

    def _at(self, node: Node, time: Time) -> Tasks | None:
        """Return what a group has when none of its children is before a time; None where somebody has not so much."""
        (level, gain), found = time, list(self.start)
        for child, mine in self.children[node.name]:
            if isinstance(child, Node):
                if (tasks := self._group(child, time)) is None:
                    return None
                for p in mine:
                    found[p] = tasks[p]
                continue
            # Whoever gains nothing is past a gain at its next level.
            x = min(-((offset - level - (gain > 0)) // slope) for slope, offset in self.lines[child])
            found[child] = min(max(x, self.start[child]), self.full[child])
            if found[child] > self.most[child]:
                return None
        tasks, seen = tuple(found), self.seen.setdefault(node.name, [self.start])
        at = bisect.bisect_left(seen, sum(tasks), key=sum)
        if seen[at : at + 1] != [tasks]:
            seen.insert(at, tasks)
        return tasks

    def _group(self, child: Node, time: Time) -> Tasks | None:
        level, gain = time

        def reached(tasks: Tasks) -> bool:
            now, held = self.clock.standing(child, tasks)
            return now > level or (now == level and (not gain or held - self._began(child, level) >= gain))

        if reached(self.start):
            return self.start
        way = replace(self.way, tasks=self._before(child, reached))
        since = self._since(child, way.tasks)
        while not reached(way.tasks):
            turn = self.clock.lowest(child, way, since)[1]
            way = replace(way, tasks=more(way.tasks, turn))
            if any(way.tasks[p] > self.most[p] for p in turn):
                return None
        return way.tasks

    def _since(self, node: Node, tasks: Tasks) -> Marks:
        """Return the levels of the groups below a group, and what they held when they came to them."""
        found: Marks = {}
        for group in nodes(node):
            if group is not node and group.name in self.children:
                level = self.clock.standing(group, tasks)[0]
                found[group.name] = level, self._began(group, level)
        return found

    def _began(self, group: Node, level: int) -> int:
        """Return what a group held when it came to a level."""
        if (group.name, level) not in self.began:
            tasks, since = self.start, self.way.since.get(group.name)
            if level != self.clock.standing(group, tasks)[0]:
                tasks, since = self._group(group, (level, 0)) or tasks, None
            same = since is not None and since[0] == level
            self.began[group.name, level] = since[1] if since and same else self.clock.standing(group, tasks)[1]
        return self.began[group.name, level]


def more(tasks: Tasks, turn: Sequence[int]) -> Tasks:
    """Return tasks with one more for each whose turn it is."""
    found = list(tasks)
    for p in turn:
        found[p] += 1
    return tuple(found)
