"""Filling a tree of groups: hierarchical progressive filling, step by step, in fractions.

Given   a tree of nodes; at each node children of several ranks, lower ranks are served first
        use[i][c]     what one task of user i takes of column c (resources, ceilings ...)
        room[c]       how much there is of a column
        most[i]       most tasks of user i, None for no limit
        rows(node)    how a node measures what its users hold: the largest row is its level; affine

At each node the children of the first rank that can rise, and whose level is lowest, rise together, at such speeds
that their levels stay equal.  Whoever has more waits for the others.  Going up the tree, the speed of a node's level is
that of its largest row.  A step ends when another row becomes the largest, when somebody who waited is met, when a
limit is met, or when a column is full: then everybody who uses it stops for good.

A node whose level stands still while its members rise goes first, for it costs nothing.  Where several nodes are on
such a way and a column becomes full, the order in which they went matters: `Ambiguous`.

Source: A. Bhattacharya et al., Hierarchical scheduling for diverse datacenter workloads, SoCC 2013, section 4 (what
their algorithm tends to as tasks become small).
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

__all__ = ["Ambiguous", "GroupNode", "fill"]

Use = list[Fraction]


class Ambiguous(Exception):
    """The outcome depends on an order that the step-by-step rule does not give."""


@dataclass(frozen=True, eq=False)
class GroupNode:
    """A node: children are (rank, user index or `GroupNode`), and `rows` measures what they hold together."""

    children: Sequence[tuple[tuple, "int | GroupNode"]]
    rows: Callable[[Use], list[Fraction]] = field(default=lambda use: [Fraction(0)])

    def users(self) -> list[int]:
        """Return all users below."""
        below = [[child] if isinstance(child, int) else child.users() for _, child in self.children]
        return [i for users in below for i in users]


Node = int | GroupNode


class _Filling:
    """Tasks of everybody as they rise, and who was stopped."""

    def __init__(
        self,
        use: Sequence[Use],
        room: Sequence[Fraction | None],
        most: Sequence[Fraction | None],
        rows: Sequence[Callable[[Use], list[Fraction]]],
        tasks: Sequence[Fraction],
        stopped: Sequence[int],
    ):
        self.use, self.room, self.most, self.rows = use, room, most, rows
        self.tasks, self.stopped = list(tasks), set(stopped)
        self.several = False

    # ---- levels and how fast they change ---------------------------------------------------------------------------

    def held(self, node: Node, speeds: list[Fraction] | None = None) -> Use:
        """Return what a node's users hold, or how fast that grows."""
        users = [node] if isinstance(node, int) else node.users()
        x = self.tasks if speeds is None else speeds
        return [sum((x[i] * self.use[i][c] for i in users), Fraction(0)) for c in range(len(self.use[0]))]

    def values(self, node: Node) -> list[Fraction]:
        """Return the rows of a node."""
        return (self.rows[node] if isinstance(node, int) else node.rows)(self.held(node))

    def slopes(self, node: Node, speeds: list[Fraction]) -> list[Fraction]:
        """Return how fast the rows of a node grow."""
        rows = self.rows[node] if isinstance(node, int) else node.rows
        nothing = [Fraction(0)] * len(self.use[0])
        return [a - b for a, b in zip(rows(self.held(node, speeds)), rows(nothing), strict=True)]

    def level(self, node: Node) -> Fraction:
        """Return the largest row of a node."""
        return max(self.values(node))

    def slope(self, node: Node, speeds: list[Fraction]) -> Fraction:
        """Return how fast the level of a node grows: the fastest of its largest rows."""
        values = self.values(node)
        return max(s for v, s in zip(values, self.slopes(node, speeds), strict=True) if v == max(values))

    def can_rise(self, node: Node) -> bool:
        """Say whether somebody below is neither stopped nor at her limit."""
        users = [node] if isinstance(node, int) else node.users()
        below = [(most := self.most[i]) is None or self.tasks[i] < most for i in users if i not in self.stopped]
        return any(below)

    # ---- who rises, and how fast -----------------------------------------------------------------------------------

    def front(self, node: GroupNode) -> list[Node]:
        """Return the children that rise: of the first rank that can, those whose level is lowest."""
        able = [(rank, child) for rank, child in node.children if self.can_rise(child)]
        first = [child for rank, child in able if rank == min(rank for rank, _ in able)]
        lowest = min(map(self.level, first))
        return [child for child in first if self.level(child) == lowest]

    def speeds(self, node: Node) -> tuple[list[Fraction], bool]:
        """Return speeds at which a node's level grows by 1 a unit of time, or, True, does not grow at all."""
        speeds = [Fraction(0)] * len(self.tasks)
        if isinstance(node, int):
            speeds[node] = Fraction(1)
        else:
            found = [self.speeds(child) for child in self.front(node)]
            free = [each for each, costless in found if costless]
            self.several |= len(free) > 1
            for each in free or [each for each, _ in found]:
                speeds = [a + b for a, b in zip(speeds, each, strict=True)]
        slope = self.slope(node, speeds)
        return ([s / slope for s in speeds], False) if slope else (speeds, True)

    def going_free(self, node: Node, speeds: list[Fraction]) -> int:
        """Return how many users rise below nodes whose level stands still."""
        if isinstance(node, int):
            return int(speeds[node] > 0 and not self.slope(node, speeds))
        moving = [i for i in node.users() if speeds[i] > 0]
        if moving and not self.slope(node, speeds):
            return len(moving)
        return sum(self.going_free(child, speeds) for _, child in node.children)

    # ---- steps -----------------------------------------------------------------------------------------------------

    def step(self, root: GroupNode) -> list[int]:
        """Rise until something happens; return the columns that are full then."""
        speeds = self.clock(root)
        drain = self.held(root, speeds)
        held = zip(self.room, self.held(root), strict=True)
        left = {c: most - used for c, (most, used) in enumerate(held) if most is not None}
        until_full = {c: left[c] / drain[c] for c in left if drain[c]}
        steps = list(until_full.values()) + list(self.changes(root, speeds))
        steps += [
            (most - x) / s for most, x, s in zip(self.most, self.tasks, speeds, strict=True) if most is not None and s
        ]
        length = min(steps)
        full = [c for c, at in until_full.items() if at == length]
        self.several &= any(self.going_free(child, speeds) for _, child in root.children)
        if full and self.several:
            raise Ambiguous
        self.tasks = [x + length * s for x, s in zip(self.tasks, speeds, strict=True)]
        return full

    def clock(self, root: GroupNode) -> list[Fraction]:
        """Return the speeds at which the level of those who rise at the root grows by 1, unless some go free."""
        found = [self.speeds(child) for child in self.front(root)]
        free = [each for each, costless in found if costless]
        self.several |= len(free) > 1
        chosen = free or [each for each, _ in found]
        return [sum(parts, Fraction(0)) for parts in zip(*chosen, strict=True)]

    def changes(self, node: Node, speeds: list[Fraction]) -> Iterator[Fraction]:
        """Yield after how long another row of a node is the largest, or two of its children meet."""
        values, slopes = self.values(node), self.slopes(node, speeds)
        highest, fastest = max(values), self.slope(node, speeds)
        yield from (
            (highest - v) / (s - fastest) for v, s in zip(values, slopes, strict=True) if v < highest and s > fastest
        )
        if isinstance(node, int):
            return
        children = [
            (self.level(child), self.slope(child, speeds)) for _, child in node.children if self.can_rise(child)
        ]
        for low, fast in children:
            yield from ((high - low) / (fast - slow) for high, slow in children if high > low and fast > slow)
        for _, child in node.children:
            yield from self.changes(child, speeds)


def fill(
    root: GroupNode,
    use: Sequence[Use],
    room: Sequence[Fraction | None],
    most: Sequence[Fraction | None],
    rows: Sequence[Callable[[Use], list[Fraction]]],
    tasks: Sequence[Fraction],
    stopped: Sequence[int] = (),
    once: bool = False,
    until: Collection[int] | None = None,
) -> tuple[list[Fraction], set[int]]:
    """Return the tasks that everybody ends with, from the tasks there are, and who was stopped by a column.

    Parameters
    ----------
    root : GroupNode
        Users outside of it keep what they have.
    rows : one a user
        How she measures what she holds.
    stopped : users who do not rise
    once : bool
        Whether it all ends when the first column is full.
    until : users, all by default
        It ends when none of them can rise.
    """
    filling = _Filling(use, room, most, rows, tasks, stopped)
    while any(map(filling.can_rise, root.users() if until is None else until)):
        full = filling.step(root)
        filling.stopped |= {i for i in range(len(use)) if any(use[i][c] for c in full)}
        if full and once:
            break
    return filling.tasks, filling.stopped
