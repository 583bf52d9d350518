"""Apache Mesos: roles and their frameworks in the order in which they are offered an agent's free resources.

The order of a tree of clients, given as paths (``"eng/dev"``): siblings by share, then by how often they were given
something, then by name; the whole subtree of a sibling follows before the next.  The share of a node is the dominant
share of all that its subtree holds, over its weight.  This is the naive hierarchy: complementary demands inside a
group add up against it (`drfopt.simulation.schedulers.hierarchy` has the remedy).  A client that has clients below
it competes with them as ``eng/.``, of weight 1.

One cycle of offers: first, agent by agent, what is missing to the guarantees of roles with a quota, chopped out of
the agent, resource by resource, whether or not a task could use it; then, agent by agent, all that is free, but for
the headroom that guarantees still need, and within the limits of quotas.  Offered counts as held.  Mesos takes the
agents in random order; here it is the order given.

Sources: Apache Mesos, src/master/allocator/mesos (sorter/drf/sorter.cpp, hierarchical.cpp), and its tests
src/tests/sorter_tests.cpp and hierarchical_allocator_tests.cpp.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from .amounts import Amount, Amounts, added, dominant_share

__all__ = ["Client", "Offer", "Quota", "Tree", "Volume", "offers", "order", "shares"]

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


@dataclass(frozen=True)
class Quota:
    """What a role is promised, and the most it may hold; a resource without a limit has none."""

    guarantee: Amounts = field(default_factory=dict)
    limit: Amounts = field(default_factory=dict)


class Offer(NamedTuple):
    """Resources of one agent, by its position, for a framework of a role."""

    agent: int
    role: str
    framework: str
    amounts: dict[str, Amount]


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


def offers(
    agents: Sequence[Amounts],
    total: Amounts,
    roles: Mapping[str, Mapping[str, Client]],
    *,
    weights: Mapping[str, Amount] | None = None,
    quotas: Mapping[str, Quota] | None = None,
    excluded: Collection[str] = (),
    refused: Callable[[int, str, str], bool] = lambda agent, role, framework: False,
) -> list[Offer]:
    """Return one cycle of offers: of each agent's free resources, to whom.

    Parameters
    ----------
    agents : what is free on each
    total : resources of the whole cluster, free or not
    roles : path of the role to its frameworks, in order of their names where all else is equal
    weights, quotas : by role
    refused : whether a filter keeps this framework from being offered this agent (it said no a moment ago)
    """
    promised = quotas or {}
    cycle = _Cycle(roles)
    rooms = [dict(agent) for agent in agents]
    made: list[Offer] = []

    def offer(k: int, role: str, wanted: dict[str, Amount]) -> None:
        """Offer the amounts on agent k to the first framework of the role that did not refuse it."""
        for framework in order(total, cycle.frameworks[role], None, excluded):
            given = {name: amount for name, amount in wanted.items() if amount > 0}
            if given and not refused(k, role, framework):
                cycle.give(role, framework, given)
                for name, amount in given.items():
                    rooms[k][name] -= amount
                made.append(Offer(k, role, framework, given))
                return

    for k, room in enumerate(rooms):
        for role in order(total, cycle.roles(), weights, excluded):
            if role in promised:
                missing = cycle.missing(role, promised[role].guarantee)
                offer(k, role, {name: min(room.get(name, 0), amount) for name, amount in missing.items()})
    for k, room in enumerate(rooms):
        for role in order(total, cycle.roles(), weights, excluded):
            headroom = added(
                *(cycle.missing(other, quota.guarantee) for other, quota in promised.items() if other != role)
            )
            free = added(*rooms)
            spare = {name: max(0, free[name] - headroom.get(name, 0)) for name in room}
            limit = promised[role].limit if role in promised else {}
            below = cycle.missing(role, limit)
            offer(
                k,
                role,
                {name: min(amount, spare[name], below.get(name, 0) if name in limit else amount)
                 for name, amount in room.items()},
            )  # fmt: skip
    return made


class _Cycle:
    """What roles and frameworks hold while offers are being made."""

    def __init__(self, roles: Mapping[str, Mapping[str, Client]]) -> None:
        self.frameworks = {role: dict(frameworks) for role, frameworks in roles.items()}

    def roles(self) -> dict[str, Client]:
        """Return what each role holds: all of its frameworks together."""
        return {
            role: Client(
                added(*(client.held for client in frameworks.values())),
                sum(client.allocations for client in frameworks.values()),
                frozenset[Volume]().union(*(client.volumes for client in frameworks.values())),
            )
            for role, frameworks in self.frameworks.items()
            if frameworks
        }

    def give(self, role: str, framework: str, amounts: Amounts) -> None:
        """Count what was offered as held."""
        client = self.frameworks[role][framework]
        self.frameworks[role][framework] = Client(added(client.held, amounts), client.allocations + 1, client.volumes)

    def missing(self, role: str, bound: Amounts) -> dict[str, Amount]:
        """Return what the role and the roles below it still lack of the bound."""
        held = added(
            *(
                client.held
                for name, frameworks in self.frameworks.items()
                if name == role or name.startswith(f"{role}/")
                for client in frameworks.values()
            )
        )
        return {name: max(0, amount - held.get(name, 0)) for name, amount in bound.items()}
