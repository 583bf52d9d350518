"""Hierarchies: groups of users compared before their members, by one of the measures of what a group holds.

A tree of groups, filled task by task.  At every step it is walked from its root, at each node to the child that comes
first, until a leaf is reached that still has a task that fits; there one task starts.  By default the child with the
lowest share over weight comes first, and of equals the one listed first.  What differs is the share of a group, in
``hierarchy:sum`` and so on:

=========  ================================================================================================
``sum``    what all below it hold together (Mesos, YARN).  A child whose resource nobody else wants goes on taking
           it, the group's share rises with it, and its siblings, who hold little, wait behind other groups
``scaled`` every child's use scaled down to the lowest share among the children before adding: no child can
           raise the group's share alone.  A child that cannot grow holds the group at its low level: the
           others take more than their part
``hdrf``   scaled, but blocked children (out of tasks, or in need of a resource that is used up) are left
           unscaled and out of the lowest share.  This is hierarchical DRF
=========  ================================================================================================

A user is blocked when no task of hers waits that fits anywhere at the moment.  Children that hold nothing
are left out of the lowest share too.  Scaling is to the lowest share over weight; for siblings of one weight that is
what Volcano does, which scales without weights.

Sources: Bhattacharya, Culler, Friedman, Ghodsi, Shenker and Stoica, Hierarchical Scheduling for Diverse Datacenter
Workloads, SoCC 2013; Volcano, docs/design/hdrf.md and pkg/scheduler/plugins/drf (hdrf_test.go).
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import add, attrgetter, mul, sub
from typing import Any

from ...base.errors import PolicyError, suggestion
from ..levels import Amount, Amounts, fits, whole_guarantees
from ..state import ClusterState
from ..turns import Turns

__all__ = ["MEASURES", "Hierarchy", "Leaf", "ShareNode", "ShareTree", "build", "hierarchical_filling"]


MEASURES = ("sum", "scaled", "hdrf")

Row = Sequence[Amount]
"""An amount of each resource, in one order."""


@dataclass(frozen=True)
class Leaf:
    """A user in the tree: the path to her, what one of her tasks needs, and how many she has."""

    path: str
    demand: Amounts
    tasks: int


class ShareNode:
    """A node of the tree.

    Attributes
    ----------
    name : str
        Its path, empty for the root.
    position : int
        When it was listed.
    weight : Fraction
        Against its siblings.
    held : list (m,)
        What all below it hold, truly.
    rates : list (m,)
        By these held amounts are shares over the weight, in a unit that is common to the tree.
    level : int or Fraction
        Share over weight, in that unit, of what the node counts for.
    """

    def __init__(self, name: str, position: int, weight: Amount, above: "ShareNode | None" = None) -> None:
        self.name, self.position, self.weight, self.above = name, position, Fraction(weight), above
        self.children: dict[str, ShareNode] = {}
        self.leaf = False
        self.held: Row = []
        self.rates: Row = []
        self.level: Amount = 0
        self.rank: Any = None
        # Of a group whose children are scaled: what each of them is counted with, and the sums of both kinds.
        self.counted: Row = []
        self.parts: dict[ShareNode, tuple[bool, Row, Row]] = {}
        self.whole: Row = []
        self.scaled: Row = []
        self.lowest: Amount | None = None


def _lowest(node: ShareNode) -> tuple[Any, int]:
    return node.level, node.position


class ShareTree:
    """Users in groups, and whose turn it is; only what has changed is worked out anew.

    Parameters
    ----------
    paths : of the users, in the order that breaks ties
    weights : by path, of groups too; 1 where there is none
    measure : one of `MEASURES`
    key : what orders siblings, lowest first; under the measure ``sum`` it may look at nothing but the node

    Attributes
    ----------
    leaves : dict
        Path to the node of a user.

    Raises
    ------
    PolicyError
        When the measure is unknown, or a path is empty, given twice, or goes through a user.
    """

    def __init__(
        self,
        paths: Sequence[str],
        weights: Mapping[str, Amount] | None = None,
        measure: str = "hdrf",
        key: Callable[[ShareNode], Any] = _lowest,
    ) -> None:
        if measure not in MEASURES:
            raise PolicyError(f"measure is {measure!r}{suggestion(measure, MEASURES)} (known: {', '.join(MEASURES)})")
        self.measure, self.key = measure, key
        self.root = ShareNode("", 0, 1)
        self.nodes: list[ShareNode] = []
        self.leaves = {path: self._plant(path, position, weights or {}) for position, path in enumerate(paths)}

    def resize(self, bounds: Callable[[ShareNode], Row]) -> None:
        """Say of how much of each resource shares are taken, of each node; amounts of 0 do not count."""
        none = Fraction(0)
        rates = [
            [1 / (bound * node.weight) if bound else none for bound in map(Fraction, bounds(node))]
            for node in self.nodes
        ]
        unit = math.lcm(*{rate.denominator for row in rates for rate in row})
        for node, row in zip(self.nodes, rates, strict=True):
            node.rates = [int(rate * unit) for rate in row]
            node.held = node.held or [0] * len(row)
            node.rank, node.parts, node.whole, node.scaled = None, {}, [0] * len(row), [0] * len(row)
            self._measure(node, node.held)

    def hold(self, leaf: ShareNode, held: Row) -> None:
        """Say what a user holds now."""
        if held is leaf.held:
            return
        more = list(map(sub, held, leaf.held))
        node: ShareNode | None = leaf.above
        while node is not None and node.above is not None:
            node.held = list(map(add, node.held, more))
            self._hear(node)
            node = node.above
        leaf.held = held
        self._hear(leaf)

    def first(self, able: Iterable[ShareNode]) -> ShareNode | None:
        """Return the leaf whose turn it is of those that can grow, given in their order; None when there are none."""
        below: dict[ShareNode, dict[ShareNode, None]] = {}
        for node in able:
            above = node.above
            while above is not None:
                rivals = below.setdefault(above, {})
                if node in rivals:
                    break
                rivals[node] = None
                node, above = above, above.above
        node = self.root
        while (rivals := below.get(node, {})) or node is not self.root:
            if not rivals:
                return node
            node = self._foremost(rivals, below)
        return None

    def _foremost(
        self, rivals: Mapping[ShareNode, None], below: Mapping[ShareNode, Mapping[ShareNode, None]]
    ) -> ShareNode:
        """Return which sibling comes first."""
        if len(rivals) == 1:
            return next(iter(rivals))
        for node in rivals:
            if self.measure != "sum" and not node.leaf:
                self._scale(node, below)
            if node.rank is None:
                node.rank = self.key(node)
        # In the order in which they are listed: some schedulers' comparisons go round in circles.
        return min(sorted(rivals, key=attrgetter("position")), key=attrgetter("rank"))

    def _hear(self, node: ShareNode) -> None:
        """Measure a node again that holds something else; a group whose children are scaled, when it is compared."""
        node.rank = None
        if node.leaf or self.measure == "sum":
            self._measure(node, node.held)

    def _measure(self, node: ShareNode, counted: Row) -> None:
        node.counted = counted
        node.level = max(map(mul, counted, node.rates), default=0)
        node.rank = None

    def _scale(self, node: ShareNode, below: Mapping[ShareNode, Mapping[ShareNode, None]]) -> None:
        """Work out what a group counts for: of what its children count for now, only what has changed is added anew."""
        able = below.get(node, {})
        lowest: Amount | None = None
        changed = not node.counted
        for child in node.children.values():
            if not child.leaf:
                self._scale(child, below)
            whole = self.measure == "hdrf" and child not in able
            if not whole and child.level and (lowest is None or child.level < lowest):
                lowest = child.level
            before = node.parts.get(child)
            if before is not None and before[0] == whole and before[1] is child.counted:
                continue
            changed = True
            if before is not None:
                self._count(node, before, sub)
            part = child.counted
            if not whole:
                # Who holds nothing counts for nothing.
                part = [Fraction(amount) / child.level if child.level else 0 for amount in child.counted]
            node.parts[child] = whole, child.counted, part
            self._count(node, node.parts[child], add)
        if changed or lowest != node.lowest:
            node.lowest, scale = lowest, lowest or 0
            self._measure(node, [one + other * scale for one, other in zip(node.whole, node.scaled, strict=True)])

    def _count(self, node: ShareNode, part: tuple[bool, Row, Row], how: Callable[[Any, Any], Any]) -> None:
        """Add what a child counts for to a group, or take it away again."""
        if part[0]:
            node.whole = list(map(how, node.whole, part[2]))
        else:
            node.scaled = list(map(how, node.scaled, part[2]))

    def _plant(self, path: str, position: int, weights: Mapping[str, Amount]) -> ShareNode:
        node = self.root
        for step in path.split("/"):
            name = f"{node.name}/{step}" if node.name else step
            if not step or node.leaf:
                raise PolicyError(f"path {path!r} has an empty step or goes through a user: name groups only")
            if step not in node.children:
                node.children[step] = ShareNode(name, position, weights.get(name, 1), node)
                self.nodes.append(node.children[step])
            node = node.children[step]
        if node.children or node.leaf:
            raise PolicyError(f"path {path!r} is a group, or was given before: give every user a path of its own")
        node.leaf = True
        return node


def hierarchical_filling(
    leaves: Sequence[Leaf],
    capacity: Amounts,
    weights: Mapping[str, Amount] | None = None,
    measure: str = "hdrf",
    key: Callable[[ShareNode], Any] = _lowest,
) -> list[str]:
    """Return the paths of the leaves in the order in which their tasks start, until nothing fits.

    Parameters
    ----------
    leaves : users, in the order that breaks ties
    capacity : one pool
    weights, measure, key
        As in `ShareTree`.

    >>> sci, dev = Leaf("sci", {"cpu": 1, "gpu": 1}, 9), Leaf("eng/dev", {"cpu": 1}, 9)
    >>> order = hierarchical_filling([sci, dev, Leaf("eng/ops", {"gpu": 1}, 9)], {"cpu": 2, "gpu": 2})
    >>> {path: order.count(path) for path in order}
    {'sci': 1, 'eng/dev': 1, 'eng/ops': 1}
    """
    tree, names = ShareTree([leaf.path for leaf in leaves], weights, measure, key), list(capacity)
    tree.resize(lambda node: list(capacity.values()))
    free, left = dict(capacity), [leaf.tasks for leaf in leaves]
    places = {path: i for i, path in enumerate(tree.leaves)}
    started: list[str] = []
    while True:
        able = [i for i, leaf in enumerate(leaves) if left[i] and fits(leaf.demand, free)]
        if (found := tree.first([tree.leaves[leaves[i].path] for i in able])) is None:
            return started
        i = places[found.name]
        left[i] -= 1
        demand = [leaves[i].demand.get(name, 0) for name in names]
        tree.hold(found, list(map(add, found.held, demand)))
        free = {name: amount - need for (name, amount), need in zip(free.items(), demand, strict=True)}
        started.append(found.name)


class Hierarchy(Turns):
    """Walk the tree from its root, at each node to the child that comes first.

    Parameters
    ----------
    measure : "hdrf", "scaled" or "sum"
    """

    def __init__(self, measure: str = "hdrf"):
        self.measure = measure
        self.name = f"hierarchy:{measure}"
        ShareTree([], measure=measure)

    def key(self, node: ShareNode) -> Any:
        """Return what orders siblings, lowest first."""
        return node.level, node.position

    def begin(self, cluster: ClusterState) -> None:
        """Build the tree of the scenario's groups; a user is a leaf in its own."""
        super().begin(cluster)
        scenario = cluster.plan.scenario
        # A user's own name may be a path or the name of a group: its number is neither.
        paths = [f"{user.group}/#{i}" if user.group else f"#{i}" for i, user in enumerate(scenario.users)]
        self._tree = ShareTree(paths, self.weights(cluster, paths), self.measure, self.key)
        self._leaves = [self._tree.leaves[path] for path in paths]
        self._users = {path: i for i, path in enumerate(paths)}
        self.guaranteed: dict[str, list[int]] = {}
        for path, amounts in zip(paths, whole_guarantees(cluster.plan), strict=True):
            steps = path.split("/")
            for above in ("/".join(steps[: k + 1]) for k in range(len(steps))):
                self.guaranteed[above] = list(map(add, self.guaranteed.get(above, [0] * cluster.m), amounts))
        self.resized(cluster)

    def weights(self, cluster: ClusterState, paths: Sequence[str]) -> dict[str, Amount]:
        """Return the weights of groups and users, by path."""
        groups = cluster.plan.scenario.groups
        if void := [name for name, weight in groups.items() if not weight]:
            raise self.refuse(f"divides shares by weights, and that of group {void[0]!r} is 0: make it positive")
        return {**groups, **dict(zip(paths, cluster.plan.weights, strict=True))}

    def resized(self, cluster: ClusterState) -> None:
        """Measure shares of what is there now."""
        self.totals = cluster.totals
        self._tree.resize(self.bounds)

    def bounds(self, node: ShareNode) -> list[int]:
        """Return of how much of each resource the share of a node is taken."""
        return self.totals

    def changed(self, cluster: ClusterState, users: Iterable[int]) -> None:
        """Tell the tree what users hold."""
        for user in users:
            self._tree.hold(self._leaves[user], cluster.used[user])

    def turn(self, cluster: ClusterState, asking: Mapping[int, int]) -> int | None:
        """Return the user at the end of the walk."""
        found = self._tree.first([self._leaves[user] for user in asking])
        return None if found is None else self._users[found.name]


def build(argument: str) -> Hierarchy:
    """Return the rule with that measure."""
    return Hierarchy(argument)
