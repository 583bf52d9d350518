"""Filling a tree of groups: hierarchical progressive filling, step by step, in fractions.

Given   a tree of nodes; at each node children of several ranks, lower ranks are served first
        use[i][c]     what one task of user i takes of column c (resources, ceilings ...)
        room[c]       how much there is of a column
        most[i]       most tasks of user i, None for no limit
        rows(node)    how a node measures what its users hold: the largest row is its level; affine
        shares(node)  what they hold in shares of all resources together, by the weight of the node; linear

At each node the children of the first rank that can rise, and whose level is lowest, rise together, at such speeds
that their levels stay equal.  Whoever has more waits for the others.  Going up the tree, the speed of a node's level is
that of its largest row.  A step ends when another row becomes the largest, when somebody who waited is met, when a
limit is met, or when a column is full: when nothing can go on without more of it everybody who uses it stops for good.

A node whose level stands still while its members rise goes first, for it costs nothing.  Of several such nodes those
go that have gained least in shares since they came to their level, or since a column was last full, all at one speed.

Source: A. Bhattacharya et al., Hierarchical scheduling for diverse datacenter workloads, SoCC 2013, section 4 (what
their algorithm tends to as tasks become small).
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

__all__ = ["GroupNode", "fill"]

Use = list[Fraction]


@dataclass(frozen=True, eq=False)
class GroupNode:
    """A node: children are (rank, user index or `GroupNode`); `rows` and `shares` measure what they hold together."""

    children: Sequence[tuple[tuple, "int | GroupNode"]]
    rows: Callable[[Use], list[Fraction]] = field(default=lambda use: [Fraction(0)])
    shares: Callable[[Use], Fraction] = field(default=lambda use: Fraction(0))

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
        self.since = dict[int, tuple[Fraction, Fraction]]()

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

    def gained(self, node: Node) -> Fraction:
        """Return what a node has gained since it came to its level."""
        if isinstance(node, int):
            return Fraction(0)
        level, shares = self.level(node), node.shares(self.held(node))
        if self.since.get(id(node), (None,))[0] != level:
            self.since[id(node)] = level, shares
        return shares - self.since[id(node)][1]

    def speeds(self, node: Node) -> tuple[list[Fraction], bool]:
        """Return speeds at which a node's level grows by 1 a unit of time, or, True, does not grow at all."""
        if isinstance(node, int):
            speeds = [Fraction(int(i == node)) for i in range(len(self.tasks))]
        else:
            speeds = self.below(node)
        slope = self.slope(node, speeds)
        return ([s / slope for s in speeds], False) if slope else (speeds, True)

    def below(self, node: GroupNode) -> list[Fraction]:
        """Return speeds at which levels below a node grow by 1, or shares of those whose levels stand still."""
        found = [(child, *self.speeds(child)) for child in self.front(node)]
        free = [(child, speeds) for child, speeds, costless in found if costless and not isinstance(child, int)]
        least = min((self.gained(child) for child, _ in free), default=Fraction(0))
        going = [speeds for _, speeds, _ in found]
        if free:
            going = [
                [s / child.shares(self.held(child, speeds)) for s in speeds]
                for child, speeds in free
                if self.gained(child) == least
            ]
        return [sum(parts, Fraction(0)) for parts in zip(*going, strict=True)]

    # ---- steps -----------------------------------------------------------------------------------------------------

    def step(self, root: GroupNode) -> tuple[list[int], bool]:
        """Rise until something happens; return the columns that are full then, and whether more of them was needed."""
        speeds = self.below(root)
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
        self.tasks = [x + length * s for x, s in zip(self.tasks, speeds, strict=True)]
        return full, not length

    def changes(self, node: Node, speeds: list[Fraction]) -> Iterator[Fraction]:
        """Yield after how long another row of a node is the largest, or two of its children meet, in level or gain."""
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
        front = [child for child in self.front(node) if not isinstance(child, int)] if self.can_rise(node) else []
        gains = [(self.gained(child), child.shares(self.held(child, speeds))) for child in front]
        for some in (children, gains):
            for low, fast in some:
                yield from ((high - low) / (fast - slow) for high, slow in some if high > low and fast > slow)
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
        full, needed = filling.step(root)
        if full and once:
            break
        if full and needed:
            filling.stopped |= {i for i in range(len(use)) if any(use[i][c] for c in full)}
            filling.since.clear()
    return filling.tasks, filling.stopped
