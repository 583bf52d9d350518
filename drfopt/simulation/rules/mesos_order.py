"""Apache Mesos: the order in which roles, and in them frameworks, are offered resources.

The order of a tree of clients, given as paths (``"eng/dev"``): siblings by share, then by how often they were given
something, then by name; the whole subtree of a sibling follows before the next.  The share of a node is the dominant
share of all that its subtree holds, over its weight.  This is the naive hierarchy: what one member takes of a resource
that nobody else wants counts against all of its group (`drfopt.simulation.rules.hierarchy` has the remedy).  A
client that has clients below it competes with them as ``eng/.``, of weight 1.

Source: Apache Mesos, src/master/allocator/mesos/sorter/drf/sorter.cpp, and its tests in src/tests/sorter_tests.cpp.
"""

import math
from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from operator import attrgetter, itemgetter
from typing import NamedTuple

from ..levels import Amount, Amounts, added

__all__ = ["Client", "RoleTree", "Volume", "order", "shares", "together"]


FEW = 8
"""Children of a node whose places are found one by one; when more have moved, all are sorted."""

VIRTUAL = "."
"""Name of the leaf that stands for an inner node that is a client itself."""


class Volume(NamedTuple):
    """A shared resource: whoever holds it is charged once, and a group is charged once for all its members."""

    name: str
    resource: str
    amount: Amount


@dataclass(frozen=True)
class Client:
    """What a client holds, and how often it was given something (which breaks ties and never falls)."""

    held: Amounts = field(default_factory=dict)
    allocations: int = 0
    volumes: frozenset[Volume] = frozenset()


Rank = tuple[Amount, int, str]
"""Share over weight in a unit common to the tree, allocations, path."""

NOTHING = Client()


class RoleTree:
    """Clients in their tree, each node's share computed again only when something below it has changed.

    Parameters
    ----------
    total : resources of the whole cluster, over all agents
    clients : path to what is held
    weights : path to weight, of roles inside the tree too; 1 where there is none
    excluded : resources that do not count in shares
    """

    def __init__(
        self,
        total: Amounts,
        clients: Mapping[str, Client],
        weights: Mapping[str, Amount] | None = None,
        excluded: Collection[str] = (),
    ) -> None:
        self.weights, self.excluded = weights or {}, excluded
        self._root = _Node("", 1)
        self._steps: dict[str, list[_Node]] = {}
        inner = {path.rsplit("/", depth)[0] for path in clients for depth in range(1, path.count("/") + 1)}
        for path in clients:
            node = self._root
            self._steps[path] = []
            for step in path.split("/") + ([VIRTUAL] if path in inner else []):
                below = f"{node.path}/{step}" if node.path else step
                node = node.children.setdefault(step, _Node(below, self.weights.get(below, 1), node))
                self._steps[path].append(node)
            node.client = path
        self._deep = any(child.children for child in self._root.children.values())
        self.resize(total)
        for path, client in clients.items():
            self.put(path, client)

    def put(self, path: str, client: Client) -> None:
        """Say what a client of the tree holds now."""
        for node in self._steps[path]:
            node.put(path, client)
            node.hear()

    def resize(self, total: Amounts) -> None:
        """Say what the whole cluster has now."""
        self.total = total
        counted = {name: amount for name, amount in total.items() if amount > 0 and name not in self.excluded}
        nodes = {node.path: node for steps in self._steps.values() for node in steps}.values()
        rates = [{name: 1 / (Fraction(amount) * node.weight) for name, amount in counted.items()} for node in nodes]
        self._unit = math.lcm(*{rate.denominator for row in rates for rate in row.values()})
        for node, row in zip(nodes, rates, strict=True):
            node.rates = [(name, int(rate * self._unit)) for name, rate in row.items()]
            node.hear()

    def order(self) -> Iterator[str]:
        """Yield the paths of the clients, first served first; the tree must not change meanwhile."""
        # Nearly always nobody is inside anybody: all are clients then.
        return self._below(self._root) if self._deep else map(attrgetter("client"), self._root.sorted())

    def shares(self) -> dict[str, Fraction]:
        """Return the weighted dominant share of every node, by path."""
        list(self.order())
        return {node.path: Fraction(node.rank[0]) / self._unit for steps in self._steps.values() for node in steps}

    def _below(self, node: "_Node") -> Iterator[str]:
        if node.client is not None:
            yield node.client
        for child in node.sorted():
            if child.children:
                yield from self._below(child)
            elif child.client is not None:
                yield child.client


class _Node:
    """A node of the tree: the clients below it, and its place among its siblings."""

    def __init__(self, path: str, weight: Amount, above: "_Node | None" = None) -> None:
        self.path, self.weight, self.above = path, Fraction(weight), above
        self.client: str | None = None
        self.children: dict[str, _Node] = {}
        self.members: dict[str, Client] = {}
        self.rates: list[tuple[str, int]] = []
        self.held: dict[str, Amount] = {}
        self.allocations = 0
        self.shared: dict[str, frozenset[Volume]] = {}
        self.rank: Rank = 0, 0, path
        # Children in their order, by their ranks, and those whose place has to be found again.
        self._ranked: list[tuple[Rank, _Node]] = []
        self._moved: dict[_Node, None] = {}

    def put(self, path: str, client: Client) -> None:
        """Count what a client below holds instead of what it held."""
        before = self.members.get(path, NOTHING)
        self.members[path] = client
        self.held = added(self.held, client.held, {name: -amount for name, amount in before.held.items()})
        self.allocations += client.allocations - before.allocations
        if client.volumes or before.volumes:
            self.shared[path] = client.volumes

    def hear(self) -> None:
        """Have the place among the siblings found again."""
        if self.above is not None:
            self.above._moved[self] = None

    def sorted(self) -> "Iterator[_Node]":
        """Yield the children, first served first."""
        ranked, moved = self._ranked, self._moved
        if len(moved) > FEW or len(ranked) < len(self.children):
            for child in moved:
                child.rank = child._rank()
            ranked[:] = sorted((child.rank, child) for child in self.children.values())
        else:
            for child in moved:
                del ranked[bisect_left(ranked, (child.rank,))]
                child.rank = child._rank()
                insort(ranked, (child.rank, child))
        moved.clear()
        return map(itemgetter(1), ranked)

    def _rank(self) -> "Rank":
        held = self.held
        if self.shared:
            volumes = frozenset[Volume]().union(*self.shared.values())
            held = added(held, *({volume.resource: volume.amount} for volume in volumes))
        return max((held.get(name, 0) * rate for name, rate in self.rates), default=0), self.allocations, self.path


def order(
    total: Amounts,
    clients: Mapping[str, Client],
    weights: Mapping[str, Amount] | None = None,
    excluded: Collection[str] = (),
) -> list[str]:
    """Return the paths of the clients, who is to be served first at the front.

    Parameters
    ----------
    total, clients, weights, excluded
        As in `RoleTree`; all clients are taken to want more.

    >>> held = {"a": Client({"cpus": 2, "mem": 1}), "b": Client({"cpus": 1, "mem": 3})}
    >>> order({"cpus": 100, "mem": 100}, held)
    ['a', 'b']
    """
    return list(RoleTree(total, clients, weights, excluded).order())


def shares(
    total: Amounts,
    clients: Mapping[str, Client],
    weights: Mapping[str, Amount] | None = None,
    excluded: Collection[str] = (),
) -> dict[str, Fraction]:
    """Return the weighted dominant share of every node of the tree, by path."""
    return RoleTree(total, clients, weights, excluded).shares()


def together(clients: Iterable[Client]) -> Client:
    """Return what several clients hold as one."""
    some = list(clients)
    volumes = frozenset[Volume]().union(*(client.volumes for client in some))
    return Client(added(*(client.held for client in some)), sum(client.allocations for client in some), volumes)
