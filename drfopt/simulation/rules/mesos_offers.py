"""Apache Mesos: cycles of offers, of agents' free resources to frameworks, quotas first.

One cycle of offers: first, agent by agent, what is missing to the guarantees of roles with a quota, chopped out of
the agent, resource by resource, whether or not a task could use it; then, agent by agent, all that is free, but for
the headroom that guarantees still need, and within the limits of quotas.  Frameworks answer at once, and
what they take counts as held for the next agent.  Mesos takes the agents in random order; here it is the order given.

Source: Apache Mesos, src/master/allocator/mesos/hierarchical.cpp, and its tests in
src/tests/hierarchical_allocator_tests.cpp.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..levels import Amount, Amounts, added
from .mesos_order import Client, RoleTree, together

__all__ = ["MesosOffer", "Offering", "RoleQuota", "offers"]


@dataclass(frozen=True)
class RoleQuota:
    """What a role is promised, and the most it may hold; a resource without a limit has none.

    In Mesos roles below it count for it; not where it is `alone`, as each of these may be promised something itself.
    """

    guarantee: Amounts = field(default_factory=dict)
    limit: Amounts = field(default_factory=dict)
    alone: bool = False


class MesosOffer(NamedTuple):
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
        quotas: Mapping[str, RoleQuota] | None = None,
        excluded: Collection[str] = (),
    ) -> None:
        self.frameworks = {role: dict(frameworks) for role, frameworks in roles.items() if frameworks}
        self._quotas = quotas or {}
        self._whole = {role: together(frameworks.values()) for role, frameworks in self.frameworks.items()}
        self._ranks = RoleTree(total, self._whole, weights, excluded)
        self._inside = {role: RoleTree(total, clients, None, excluded) for role, clients in self.frameworks.items()}
        # What all hold; and of each bound what the role and the roles that count for it still lack.
        self._held: Amounts = added(*(client.held for client in self._whole.values()))
        self._lacks = {role: self._missing(role, quota.guarantee) for role, quota in self._quotas.items()}
        self._below = {role: self._missing(role, quota.limit) for role, quota in self._quotas.items()}
        self._lack: Amounts = added(*self._lacks.values())

    def put(self, role: str, framework: str, client: Client) -> None:
        """Say what a framework holds now."""
        before, whole = self.frameworks[role][framework], self._whole[role]
        self.frameworks[role][framework] = client
        self._inside[role].put(framework, client)
        more = added(client.held, {name: -amount for name, amount in before.held.items()})
        if client.volumes or whole.volumes:
            self._whole[role] = together(self.frameworks[role].values())
        else:
            given = whole.allocations + client.allocations - before.allocations
            self._whole[role] = Client(added(whole.held, more), given)
        self._ranks.put(role, self._whole[role])
        if self._quotas:
            self._held = added(self._held, more)
            for name in self._quotas:
                if role == name or role.startswith(f"{name}/"):
                    self._lacks[name] = self._missing(name, self._quotas[name].guarantee)
                    self._below[name] = self._missing(name, self._quotas[name].limit)
            self._lack = added(*self._lacks.values())

    def resize(self, total: Amounts) -> None:
        """Say what the whole cluster has now."""
        for tree in (self._ranks, *self._inside.values()):
            tree.resize(total)

    def cycle(
        self,
        agents: Mapping[int, Amounts],
        accept: Callable[[MesosOffer], Amounts],
        refused: Callable[[MesosOffer], bool] = lambda offer: False,
        tiers: Mapping[str, int] | None = None,
        asking: Collection[str] | None = None,
    ) -> None:
        """Offer what is free on agents, each amount once.

        Parameters
        ----------
        agents : number to what is free
        accept : is told an offer and returns what is taken of it, which is held from then on
        refused : whether an offer is not to be made (the framework said no to as much a moment ago)
        tiers : by role; roles of a higher one come first, whatever their shares
        asking : the roles whose frameworks may take something, by default all; `accept` may change it
        """
        asking = self.frameworks if asking is None else asking
        rooms = {k: dict(free) for k, free in agents.items()}
        for k, room in rooms.items() if self._quotas else ():
            for role in self._order(tiers) if any(self._lack.values()) else ():
                if role in self._quotas and role in asking:
                    lack = self._lacks[role]
                    self._offer(
                        k, role, {j: min(room.get(j, 0), most) for j, most in lack.items()}, room, accept, refused
                    )
        for k, room in rooms.items():
            for role in self._order(tiers):
                if role in asking:
                    self._offer(k, role, self._allowed(role, room), room, accept, refused)
                    if not any(room.values()):
                        break

    def _order(self, tiers: Mapping[str, int] | None) -> Iterable[str]:
        """Return the roles as they stand; who is served changes the order of the next agent only."""
        roles = self._ranks.order()
        if tiers:
            return sorted(roles, key=lambda role: -tiers.get(role, 0))
        # Without quotas whoever is served is offered all there is, and nobody is looked at after.
        return list(roles) if self._quotas else roles

    def _offer(
        self,
        k: int,
        role: str,
        amounts: Amounts,
        room: dict[str, Amount],
        accept: Callable[[MesosOffer], Amounts],
        refused: Callable[[MesosOffer], bool],
    ) -> None:
        """Offer the amounts to the first framework of the role that does not refuse them."""
        given = {name: amount for name, amount in amounts.items() if amount > 0}
        for framework in self._inside[role].order() if given else ():
            offer = MesosOffer(k, role, framework, given)
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
        below, mine, total = self._below.get(role, {}), self._lacks.get(role, {}), self._ranks.total
        return {
            name: max(
                0,
                min(
                    amount,
                    total.get(name, 0) - self._held.get(name, 0) - self._lack.get(name, 0) + mine.get(name, 0),
                    below.get(name, amount),
                ),
            )
            for name, amount in room.items()
        }

    def _missing(self, role: str, bound: Amounts) -> dict[str, Amount]:
        """Return what the role and the roles that count for it still lack of the bound."""
        below = () if self._quotas[role].alone else f"{role}/"
        held = added(*(whole.held for name, whole in self._whole.items() if name == role or name.startswith(below)))
        return {name: max(0, amount - held.get(name, 0)) for name, amount in bound.items()}


def offers(
    agents: Sequence[Amounts],
    total: Amounts,
    roles: Mapping[str, Mapping[str, Client]],
    *,
    weights: Mapping[str, Amount] | None = None,
    quotas: Mapping[str, RoleQuota] | None = None,
    excluded: Collection[str] = (),
    refused: Callable[[MesosOffer], bool] = lambda offer: False,
) -> list[MesosOffer]:
    """Return one cycle of offers, of each agent's free resources, all of which are taken.

    Parameters
    ----------
    agents : what is free on each
    total, roles, weights, quotas, excluded
        As in `Offering`.
    refused : as in `Offering.cycle`
    """
    made: list[MesosOffer] = []

    def accept(offer: MesosOffer) -> Amounts:
        made.append(offer)
        return offer.amounts

    Offering(total, roles, weights, quotas, excluded).cycle(dict(enumerate(agents)), accept, refused)
    return made
