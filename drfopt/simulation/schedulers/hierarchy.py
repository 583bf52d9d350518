"""A tree of groups, filled task by task: hierarchical DRF, and what simpler hierarchies do.

At every step the tree is walked from its root, at each node to the child that comes first, until a leaf is reached
that still has a task that fits; there one task starts.  By default the child with the lowest share over weight comes
first, and of equals the one listed first.  What differs is the share of a group:

=========  ================================================================================================
``sum``    what all below it hold together (Mesos, YARN).  A child whose resource nobody else wants goes on taking
           it, the group's share rises with it, and its siblings, who hold little, wait behind other groups
``scaled`` every child's use scaled down to the lowest share among the children before adding: no child can
           raise the group's share alone.  A child that cannot grow holds the group at its low level: the
           others take more than their part
``hdrf``   scaled, but blocked children (out of tasks, or in need of a resource that is used up) are left
           unscaled and out of the lowest share.  This is hierarchical DRF
=========  ================================================================================================

Children that hold nothing are left out of the lowest share too.  Scaling is to the lowest share over weight; for
siblings of one weight that is what Volcano does, which scales without weights.

Sources: Bhattacharya, Culler, Friedman, Ghodsi, Shenker and Stoica, Hierarchical Scheduling for Diverse Datacenter
Workloads, SoCC 2013; Volcano, docs/design/hdrf.md and pkg/scheduler/plugins/drf (hdrf_test.go).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...errors import PolicyError, suggestion
from .amounts import Amount, Amounts, added, dominant_share, fits

__all__ = ["MEASURES", "Leaf", "Node", "Tree", "hierarchical_filling"]

MEASURES = ("sum", "scaled", "hdrf")


@dataclass(frozen=True)
class Leaf:
    """A user in the tree: the path to her, what one of her tasks needs, and how many she has."""

    path: str
    demand: Amounts
    tasks: int


class Node:
    """A node of the tree.

    Attributes
    ----------
    name : str
        Its path, empty for the root.
    position : int
        When it was listed.
    weight : Fraction
        Against its siblings.
    held : mapping
        What all below it hold, truly; of a leaf, as it was last told.
    blocked : bool
        Whether nothing below it can grow; of a leaf, as it was last told.
    counted : mapping
        What its share is taken of.
    share, level : Fraction
        Dominant share of `counted`, and the same over the weight.
    """

    def __init__(self, name: str, position: int, weight: Amount) -> None:
        self.name, self.position, self.weight = name, position, Fraction(weight)
        self.children: dict[str, Node] = {}
        self.leaf = False
        self.held: Amounts = {}
        self.counted: Amounts = {}
        self.blocked = False
        self.share = self.level = Fraction(0)

    def update(self, capacity: Amounts, measure: str) -> None:
        """Compute what follows from the leaves below."""
        if self.leaf:
            self.counted = self.held
        else:
            children = list(self.children.values())
            for child in children:
                child.update(capacity, measure)
            self.held = added(*(child.held for child in children))
            self.blocked = all(child.blocked for child in children)
            self.counted = added(*_scaled(children, measure))
        self.share = dominant_share(self.counted, capacity)
        self.level = self.share / self.weight


def _lowest(node: Node) -> tuple[Fraction, int]:
    return node.level, node.position


class Tree:
    """Users in groups, and whose turn it is.

    Parameters
    ----------
    paths : of the users, in the order that breaks ties
    weights : by path, of groups too; 1 where there is none
    measure : one of `MEASURES`
    key : what orders siblings, lowest first

    Attributes
    ----------
    leaves : dict
        Path to the node of a user, to be told what she holds and whether she is blocked.

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
        key: Callable[[Node], Any] = _lowest,
    ) -> None:
        if measure not in MEASURES:
            raise PolicyError(f"measure is {measure!r}{suggestion(measure, MEASURES)} (known: {', '.join(MEASURES)})")
        self.measure, self.key = measure, key
        self.root = Node("", 0, 1)
        self.leaves = {path: self._plant(path, position, weights or {}) for position, path in enumerate(paths)}

    def first(self, capacity: Amounts) -> Node | None:
        """Return the leaf whose turn it is; None when all are blocked."""
        self.root.update(capacity, self.measure)
        if self.root.blocked:
            return None
        node = self.root
        while not node.leaf:
            node = min((child for child in node.children.values() if not child.blocked), key=self.key)
        return node

    def _plant(self, path: str, position: int, weights: Mapping[str, Amount]) -> Node:
        node = self.root
        for step in path.split("/"):
            name = f"{node.name}/{step}" if node.name else step
            if not step or node.leaf:
                raise PolicyError(f"path {path!r} has an empty step or goes through a user: name groups only")
            node = node.children.setdefault(step, Node(name, position, weights.get(name, 1)))
        if node.children or node.leaf:
            raise PolicyError(f"path {path!r} is a group, or was given before: give every user a path of its own")
        node.leaf = True
        return node


def hierarchical_filling(
    leaves: Sequence[Leaf],
    capacity: Amounts,
    weights: Mapping[str, Amount] | None = None,
    measure: str = "hdrf",
    key: Callable[[Node], Any] = _lowest,
) -> list[str]:
    """Return the paths of the leaves in the order in which their tasks start, until nothing fits.

    Parameters
    ----------
    leaves : users, in the order that breaks ties
    capacity : one pool
    weights, measure, key
        As in `Tree`.

    >>> sci, dev = Leaf("sci", {"cpu": 1, "gpu": 1}, 9), Leaf("eng/dev", {"cpu": 1}, 9)
    >>> order = hierarchical_filling([sci, dev, Leaf("eng/ops", {"gpu": 1}, 9)], {"cpu": 2, "gpu": 2})
    >>> {path: order.count(path) for path in order}
    {'sci': 1, 'eng/dev': 1, 'eng/ops': 1}
    """
    tree, free = Tree([leaf.path for leaf in leaves], weights, measure, key), dict(capacity)
    left = {leaf.path: leaf.tasks for leaf in leaves}
    demands = {leaf.path: leaf.demand for leaf in leaves}
    started: list[str] = []
    while True:
        for path, node in tree.leaves.items():
            node.blocked = not left[path] or not fits(demands[path], free)
        if (found := tree.first(capacity)) is None:
            return started
        left[found.name] -= 1
        found.held = added(found.held, demands[found.name])
        free = {name: amount - demands[found.name].get(name, 0) for name, amount in free.items()}
        started.append(found.name)


def _scaled(children: Sequence[Node], measure: str) -> list[Amounts]:
    """Return what each child counts for in the share of the node above."""
    if measure == "sum":
        return [child.counted for child in children]
    whole = [child for child in children if child.blocked] if measure == "hdrf" else []
    rest = [child for child in children if child not in whole and child.share]
    lowest = min((child.level for child in rest), default=Fraction(0))
    scaled = [{name: amount * lowest / child.level for name, amount in child.counted.items()} for child in rest]
    return [*(child.counted for child in whole), *scaled]
