"""A tree of groups, filled task by task: hierarchical DRF, and what simpler hierarchies do.

At every step the tree is walked from its root, at each node to the child that comes first, until a leaf is reached
that still has a task that fits; there one task starts.  By default the child with the lowest share over weight comes
first, and of equals the one listed first.  What differs is the share of a group:

=========  ================================================================================================
``sum``    what all below it hold together (Mesos, YARN).  Complementary tasks add up against a group: with
           children that need (1, 0) and (0, 1) it holds 1/2 of both and counts as holding 1/2, though each
           child has what one user with share 1/2 has; and a child whose resource nobody else wants goes on
           until the group's share keeps its siblings waiting
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

__all__ = ["MEASURES", "Leaf", "Node", "hierarchical_filling"]

MEASURES = ("sum", "scaled", "hdrf")


@dataclass(frozen=True)
class Leaf:
    """A user in the tree: the path to her, what one of her tasks needs, and how many she has."""

    path: str
    demand: Amounts
    tasks: int


class Node:
    """A node while the tree is filled.

    Attributes
    ----------
    name : str
        Its path, empty for the root.
    position : int
        When it was listed.
    weight : Fraction
        Against its siblings.
    held : dict
        What all below it hold, truly.
    counted : dict
        What its share is taken of.
    share : Fraction
        Dominant share of `counted`.
    blocked : bool
        Whether nothing below it can grow.
    """

    def __init__(self, name: str, position: int, weight: Amount) -> None:
        self.name, self.position, self.weight = name, position, Fraction(weight)
        self.children: dict[str, Node] = {}
        self.leaf: Leaf | None = None
        self.started = 0
        self.held: dict[str, Amount] = {}
        self.counted: dict[str, Amount] = {}
        self.share = Fraction(0)
        self.blocked = False

    @property
    def level(self) -> Fraction:
        """Share over weight."""
        return self.share / self.weight

    def update(self, capacity: Amounts, free: Amounts, measure: str) -> None:
        """Compute share and blocking of all below, and then of the node itself."""
        if self.leaf is not None:
            self.held = {name: amount * self.started for name, amount in self.leaf.demand.items()}
            self.counted = self.held
            self.blocked = self.started == self.leaf.tasks or not fits(self.leaf.demand, free)
        else:
            children = list(self.children.values())
            for child in children:
                child.update(capacity, free, measure)
            self.held = added(*(child.held for child in children))
            self.blocked = all(child.blocked for child in children)
            self.counted = added(*_scaled(children, measure))
        self.share = dominant_share(self.counted, capacity)


def hierarchical_filling(
    leaves: Sequence[Leaf],
    capacity: Amounts,
    weights: Mapping[str, Amount] | None = None,
    measure: str = "hdrf",
    key: Callable[[Node], Any] = lambda node: (node.level, node.position),
) -> list[str]:
    """Return the paths of the leaves in the order in which their tasks start, until nothing fits.

    Parameters
    ----------
    leaves : users, in the order that breaks ties
    capacity : one pool
    weights : by path, 1 where there is none
    measure : one of `MEASURES`
    key : what orders siblings; lowest first

    Raises
    ------
    PolicyError
        When the measure is unknown, or a path is empty or goes through a leaf.

    >>> sci, dev = Leaf("sci", {"cpu": 1, "gpu": 1}, 9), Leaf("eng/dev", {"cpu": 1}, 9)
    >>> order = hierarchical_filling([sci, dev, Leaf("eng/ops", {"gpu": 1}, 9)], {"cpu": 2, "gpu": 2})
    >>> {path: order.count(path) for path in order}
    {'sci': 1, 'eng/dev': 1, 'eng/ops': 1}
    """
    if measure not in MEASURES:
        raise PolicyError(f"measure is {measure!r}{suggestion(measure, MEASURES)} (known: {', '.join(MEASURES)})")
    root, free = _tree(leaves, weights or {}), dict(capacity)
    started: list[str] = []
    while True:
        root.update(capacity, free, measure)
        if root.blocked:
            return started
        node = root
        while node.leaf is None:
            node = min((child for child in node.children.values() if not child.blocked), key=key)
        node.started += 1
        free = {name: amount - node.leaf.demand.get(name, 0) for name, amount in free.items()}
        started.append(node.name)


def _scaled(children: Sequence[Node], measure: str) -> list[Amounts]:
    """Return what each child counts for in the share of the node above."""
    if measure == "sum":
        return [child.counted for child in children]
    whole = [child for child in children if child.blocked] if measure == "hdrf" else []
    rest = [child for child in children if child not in whole and child.share]
    lowest = min((child.level for child in rest), default=Fraction(0))
    scaled = [{name: amount * lowest / child.level for name, amount in child.counted.items()} for child in rest]
    return [*(child.counted for child in whole), *scaled]


def _tree(leaves: Sequence[Leaf], weights: Mapping[str, Amount]) -> Node:
    root = Node("", 0, 1)
    for position, leaf in enumerate(leaves):
        node = root
        for step in leaf.path.split("/"):
            name = f"{node.name}/{step}" if node.name else step
            if not step or node.leaf is not None:
                raise PolicyError(f"path {leaf.path!r} has an empty step or goes through a user: name groups only")
            node = node.children.setdefault(step, Node(name, position, weights.get(name, 1)))
        if node.children or node.leaf is not None:
            raise PolicyError(f"path {leaf.path!r} is a group, or was given before: give every user a path of her own")
        node.leaf = leaf
    return root
