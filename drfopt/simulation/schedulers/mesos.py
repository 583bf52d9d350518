"""Apache Mesos: the order in which roles, and in them frameworks, are offered resources.

The order of a tree of clients, given as paths (``"eng/dev"``): siblings by share, then by how often they were given
something, then by name; the whole subtree of a sibling follows before the next.  The share of a node is the dominant
share of all that its subtree holds, over its weight.  This is the naive hierarchy: what one member takes of a resource
that nobody else wants counts against all of its group (`drfopt.simulation.schedulers.hierarchy` has the remedy).  A
client that has clients below it competes with them as ``eng/.``, of weight 1.

Source: Apache Mesos, src/master/allocator/mesos/sorter/drf/sorter.cpp, and its tests in src/tests/sorter_tests.cpp.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from .amounts import Amount, Amounts, added, dominant_share

__all__ = ["Client", "Tree", "Volume", "order", "shares", "together"]

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


class Tree:
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
        self.total, self.weights, self.excluded = total, weights or {}, excluded
        self._root = _Node("", 1)
        self._steps: dict[str, list[_Node]] = {}
        inner = {path.rsplit("/", depth)[0] for path in clients for depth in range(1, path.count("/") + 1)}
        for path in clients:
            node = self._root
            self._steps[path] = []
            for step in path.split("/") + ([VIRTUAL] if path in inner else []):
                below = f"{node.path}/{step}" if node.path else step
                node = node.children.setdefault(step, _Node(below, self.weights.get(below, 1)))
                self._steps[path].append(node)
            node.client = path
        for path, client in clients.items():
            self.put(path, client)

    def put(self, path: str, client: Client) -> None:
        """Say what a client of the tree holds now."""
        for node in self._steps[path]:
            node.members[path] = client
            node.changed = True

    def resize(self, total: Amounts) -> None:
        """Say what the whole cluster has now."""
        self.total = total
        for node in (node for steps in self._steps.values() for node in steps):
            node.changed = True

    def order(self) -> Iterator[str]:
        """Yield the paths of the clients, first served first; the tree must not change meanwhile."""
        return self._below(self._root)

    def shares(self) -> dict[str, Fraction]:
        """Return the weighted dominant share of every node, by path."""
        return {node.path: self._rank(node)[0] for steps in self._steps.values() for node in steps}

    def _below(self, node: "_Node") -> Iterator[str]:
        if node.client is not None:
            yield node.client
        for child in sorted(node.children.values(), key=self._rank):
            yield from self._below(child)

    def _rank(self, node: "_Node") -> tuple[Fraction, int, str]:
        if node.changed:
            volumes = frozenset[Volume]().union(*(member.volumes for member in node.members.values()))
            held = added(*(m.held for m in node.members.values()), *({v.resource: v.amount} for v in volumes))
            share = dominant_share(held, self.total, self.excluded) / Fraction(node.weight)
            node.rank = share, sum(member.allocations for member in node.members.values()), node.path
            node.changed = False
        return node.rank


class _Node:
    """A node of the tree: the clients below it, and its place among its siblings."""

    def __init__(self, path: str, weight: Amount) -> None:
        self.path, self.weight = path, weight
        self.client: str | None = None
        self.children: dict[str, _Node] = {}
        self.members: dict[str, Client] = {}
        self.changed = True
        self.rank = Fraction(0), 0, path


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
        As in `Tree`; all clients are taken to want more.

    >>> held = {"a": Client({"cpus": 2, "mem": 1}), "b": Client({"cpus": 1, "mem": 3})}
    >>> order({"cpus": 100, "mem": 100}, held)
    ['a', 'b']
    """
    return list(Tree(total, clients, weights, excluded).order())


def shares(
    total: Amounts,
    clients: Mapping[str, Client],
    weights: Mapping[str, Amount] | None = None,
    excluded: Collection[str] = (),
) -> dict[str, Fraction]:
    """Return the weighted dominant share of every node of the tree, by path."""
    return Tree(total, clients, weights, excluded).shares()


def together(clients: Iterable[Client]) -> Client:
    """Return what several clients hold as one."""
    some = list(clients)
    volumes = frozenset[Volume]().union(*(client.volumes for client in some))
    return Client(added(*(client.held for client in some)), sum(client.allocations for client in some), volumes)
