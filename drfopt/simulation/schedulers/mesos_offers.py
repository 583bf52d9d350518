"""Apache Mesos: cycles of offers, of agents' free resources to frameworks, quotas first.

One cycle of offers: first, agent by agent, what is missing to the guarantees of roles with a quota, chopped out of
the agent, resource by resource, whether or not a task could use it; then, agent by agent, all that is free, but for
the headroom that guarantees still need, and within the limits of quotas.  Frameworks answer at once, and
what they take counts as held for the next agent.  Mesos takes the agents in random order; here it is the order given.

Source: Apache Mesos, src/master/allocator/mesos/hierarchical.cpp, and its tests in
src/tests/hierarchical_allocator_tests.cpp.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .amounts import Amount, Amounts, added
from .mesos import Client, Tree, together

__all__ = ["Offer", "Offering", "Quota", "offers"]


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
        whole = {role: together(frameworks.values()) for role, frameworks in self.frameworks.items()}
        self._ranks = Tree(total, whole, weights, excluded)
        self._inside = {role: Tree(total, clients, None, excluded) for role, clients in self.frameworks.items()}

    def put(self, role: str, framework: str, client: Client) -> None:
        """Say what a framework holds now."""
        self.frameworks[role][framework] = client
        self._inside[role].put(framework, client)
        self._ranks.put(role, together(self.frameworks[role].values()))

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
