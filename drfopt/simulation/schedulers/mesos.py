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

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from .amounts import Amount, Amounts, added, dominant_share

__all__ = ["Client", "Offer", "Offering", "Quota", "Tree", "Volume", "offers", "order", "shares"]

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


class Offering:
    """Roles and their frameworks as they are offered agents, cycle after cycle.

    Parameters
    ----------
    total : resources of the whole cluster, free or not
    roles : path of the role to its frameworks, in order of their names where all else is equal
    weights, quotas : by role
    excluded : resources that do not count in shares
    """

    def __init__(
        self,
        total: Amounts,
        roles: Mapping[str, Mapping[str, Client]],
        weights: Mapping[str, Amount] | None = None,
        quotas: Mapping[str, Quota] | None = None,
        excluded: Collection[str] = (),
    ) -> None:
        self.frameworks = {role: dict(frameworks) for role, frameworks in roles.items() if frameworks}
        self._quotas = quotas or {}
        whole = {role: _together(frameworks.values()) for role, frameworks in self.frameworks.items()}
        self._ranks = Tree(total, whole, weights, excluded)
        self._inside = {role: Tree(total, clients, None, excluded) for role, clients in self.frameworks.items()}

    def put(self, role: str, framework: str, client: Client) -> None:
        """Say what a framework holds now."""
        self.frameworks[role][framework] = client
        self._inside[role].put(framework, client)
        self._ranks.put(role, _together(self.frameworks[role].values()))

    def resize(self, total: Amounts) -> None:
        """Say what the whole cluster has now."""
        for tree in (self._ranks, *self._inside.values()):
            tree.resize(total)

    def cycle(
        self,
        agents: Mapping[int, Amounts],
        accept: Callable[[Offer], Amounts],
        refused: Callable[[Offer], bool] = lambda offer: False,
        tiers: Mapping[str, int] | None = None,
    ) -> None:
        """Offer what is free on agents, each amount once.

        Parameters
        ----------
        agents : number to what is free
        accept : is told an offer and returns what is taken of it, which is held from then on
        refused : whether an offer is not to be made (the framework said no to as much a moment ago)
        tiers : by role; roles of a higher one come first, whatever their shares
        """
        rooms = {k: dict(free) for k, free in agents.items()}
        for k, room in rooms.items() if self._quotas else ():
            for role in self._order(tiers):
                if role in self._quotas:
                    lack = self._missing(role, self._quotas[role].guarantee)
                    self._offer(
                        k, role, {j: min(room.get(j, 0), most) for j, most in lack.items()}, room, accept, refused
                    )
        for k, room in rooms.items():
            for role in self._order(tiers):
                self._offer(k, role, self._allowed(role, room), room, accept, refused)
                if not any(room.values()):
                    break

    def _order(self, tiers: Mapping[str, int] | None) -> list[str]:
        # Listed before anything is offered: who is served changes the order of the next agent only.
        roles = list(self._ranks.order())
        return sorted(roles, key=lambda role: -tiers.get(role, 0)) if tiers else roles

    def _offer(
        self,
        k: int,
        role: str,
        amounts: Amounts,
        room: dict[str, Amount],
        accept: Callable[[Offer], Amounts],
        refused: Callable[[Offer], bool],
    ) -> None:
        """Offer the amounts to the first framework of the role that does not refuse them."""
        given = {name: amount for name, amount in amounts.items() if amount > 0}
        for framework in self._inside[role].order() if given else ():
            offer = Offer(k, role, framework, given)
            if not refused(offer):
                client = self.frameworks[role][framework]
                held = added(client.held, accept(offer))
                self.put(role, framework, Client(held, client.allocations + 1, client.volumes))
                # What is offered is offered to nobody else in this cycle, taken or not.
                for name, amount in given.items():
                    room[name] -= amount
                return

    def _allowed(self, role: str, room: Amounts) -> Amounts:
        """Return how much of an agent the role may be offered: above headroom, and below its own limit."""
        if not self._quotas:
            return room
        held = added(*(client.held for clients in self.frameworks.values() for client in clients.values()))
        headroom = added(*(self._missing(o, quota.guarantee) for o, quota in self._quotas.items() if o != role))
        limit = self._quotas[role].limit if role in self._quotas else {}
        below = self._missing(role, limit)
        total = self._ranks.total
        return {
            name: max(
                0,
                min(
                    amount,
                    total.get(name, 0) - held.get(name, 0) - headroom.get(name, 0),
                    below[name] if name in limit else amount,
                ),
            )
            for name, amount in room.items()
        }

    def _missing(self, role: str, bound: Amounts) -> dict[str, Amount]:
        """Return what the role and the roles below it still lack of the bound."""
        held = added(
            *(
                client.held
                for name, clients in self.frameworks.items()
                if name == role or name.startswith(f"{role}/")
                for client in clients.values()
            )
        )
        return {name: max(0, amount - held.get(name, 0)) for name, amount in bound.items()}


def offers(
    agents: Sequence[Amounts],
    total: Amounts,
    roles: Mapping[str, Mapping[str, Client]],
    *,
    weights: Mapping[str, Amount] | None = None,
    quotas: Mapping[str, Quota] | None = None,
    excluded: Collection[str] = (),
    refused: Callable[[Offer], bool] = lambda offer: False,
) -> list[Offer]:
    """Return one cycle of offers, of each agent's free resources, all of which are taken.

    Parameters
    ----------
    agents : what is free on each
    total, roles, weights, quotas, excluded
        As in `Offering`.
    refused : as in `Offering.cycle`
    """
    made: list[Offer] = []

    def accept(offer: Offer) -> Amounts:
        made.append(offer)
        return offer.amounts

    Offering(total, roles, weights, quotas, excluded).cycle(dict(enumerate(agents)), accept, refused)
    return made


def _together(clients: Iterable[Client]) -> Client:
    """Return what several clients hold as one."""
    some = list(clients)
    volumes = frozenset[Volume]().union(*(client.volumes for client in some))
    return Client(added(*(client.held for client in some)), sum(client.allocations for client in some), volumes)
