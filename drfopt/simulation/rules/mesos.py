"""Mesos: one machine's free resources at a time are offered to the role, and in it the framework, of the lowest share.

The users of the scenario are frameworks, their groups roles (without a group a user is a role of her own, with her
weight); weights of groups are weights of roles, a role's guarantee is the sum of its own users' (Mesos has quotas of
top-level roles only) and is a quota that is served first and kept free for them.  ``mesos-priority`` orders roles by
the highest tier of their users before their shares.

A framework takes all of its tasks that fit into the offer and refuses the rest: for `refusal` seconds that machine is
not offered to it again, unless more is free on it than it refused, or tasks of a new kind come to it.  What it leaves
is offered in the next cycle, `interval` seconds later, to the next one.  Frameworks that have nothing waiting take
part in no offers; those that have are offered machines on which none of their tasks fit, and refuse.  Offers of a
machine on which nobody's task fits are not made, for nothing would come of them.  Machines are taken in the order of
the scenario, where Mesos takes them at random.  Offers that are refused are most of what a task costs, five times what
it costs under `drf`.

Source: Apache Mesos, src/master/allocator/mesos/hierarchical.cpp; `drfopt.simulation.rules.mesos_offers`.

Mesos with strict priorities: a role of a higher tier is offered every machine before any of a lower one.

However much the higher ones hold, nothing keeps the lower from starving.  Mesos leaves the order of roles to an
allocation module of the operator's; this is the simplest that is written.

Source: the allocation modules that Apache Mesos documents (docs/allocation-module.md), with priorities for the order.
"""

import math
from collections.abc import Collection, Sequence

from ..levels import Amount, Amounts, added, fits, whole_guarantees
from ..places import Full
from ..scenario import User, along
from ..state import ClusterState
from ..turns import Rule
from .mesos_offers import MesosOffer, Offering, RoleQuota
from .mesos_order import Client

__all__ = ["Mesos", "strict_priorities"]


INTERVAL = 1.0
"""Seconds between two cycles of offers (Mesos: --allocation_interval)."""

REFUSAL = 5.0
"""Seconds for which a refused machine is not offered again (Mesos: Filters.refuse_seconds)."""


class Mesos(Rule):
    """Offer machines to roles and frameworks.

    Parameters
    ----------
    interval, refusal : float
        Seconds; with an interval of 0 everything is offered at once until nobody takes anything.
    excluded : names of resources
        They do not count in shares.
    priorities : bool
        Whether roles are ordered by tier first.
    """

    def __init__(
        self,
        interval: float = INTERVAL,
        refusal: float = REFUSAL,
        excluded: Collection[str] = (),
        priorities: bool = False,
    ):
        self.interval, self.refusal, self.excluded, self.priorities = interval, refusal, excluded, priorities
        self.name = "mesos-priority" if priorities else "mesos"

    def begin(self, cluster: ClusterState) -> None:
        """Register all frameworks with their roles; nobody holds anything."""
        scenario = cluster.plan.scenario
        self._names = scenario.resources
        self._roles = self._named(scenario.users)
        own = {user.name: user.weight for user in scenario.users if not user.group}
        roles: dict[str, dict[str, Client]] = {role: {} for role in self._roles}
        promised: dict[str, dict[str, Amount]] = {}
        for user, (role, amounts) in enumerate(zip(self._roles, whole_guarantees(cluster.plan), strict=True)):
            roles[role][self._id(user)] = Client()
            if any(amounts):
                promised[role] = added(promised.get(role, {}), self._amounts(amounts))
        self._quotas = {role: RoleQuota(amounts, alone=True) for role, amounts in promised.items()}
        weights = {**own, **scenario.groups}
        if void := [name for name, weight in weights.items() if not weight]:
            raise self.refuse(f"divides shares by weights, and that of role {void[0]!r} is 0: make it positive")
        self._offering = Offering(self._amounts(cluster.totals), roles, weights, self._quotas, self.excluded)
        self._tiers: dict[str, int] = {}
        if self.priorities:
            for role, row in zip(self._roles, scenario.users, strict=True):
                self._tiers[role] = max(row.tier, self._tiers.get(role, row.tier))
        if len(set(self._tiers.values())) == 1:
            self._tiers.clear()
        self._held = [[0] * cluster.m for _ in range(cluster.n)]
        self._kinds: list[set[int]] = [set() for _ in range(cluster.n)]
        self._refused: list[dict[int, tuple[float, Amounts]]] = [{} for _ in range(cluster.n)]
        self._open: set[int] = set()
        self._changed: dict[int, None] = {}
        self._full = Full(cluster)
        self._members: dict[str, list[int]] = {role: [] for role in self._roles}
        for user, role in enumerate(self._roles):
            self._members[role].append(user)
        self._cycle = math.inf

    def _named(self, users: Sequence[User]) -> list[str]:
        """Return everybody's role; who is in no group must not be in one by its name."""
        groups = {path for user in users for path in along(user.group)}
        alone = {user.name for user in users if not user.group}
        for name in sorted(alone):
            if taken := [path for path in along(name) if path in groups or (path in alone and path != name)]:
                raise self.refuse(
                    f"knows roles by name, and by its name user {name!r} is in role {taken[0]!r}: rename it"
                )
        return [user.group or user.name for user in users]

    def resized(self, cluster: ClusterState) -> None:
        """Measure shares of what is there now."""
        self._offering.resize(self._amounts(cluster.totals))

    def dispatch(self, cluster: ClusterState) -> None:
        """Make a cycle of offers, at once when tasks of a new kind have come, else when it is time."""
        self._look(cluster)
        if cluster.opened or cluster.now >= self._cycle or not self.interval:
            self._cycle = math.inf
            self._prune(cluster)
            while self._make_offers(cluster) and not self.interval:
                pass
        elif self._cycle == math.inf:
            self._prune(cluster)
        if self._open and self.interval and self._cycle == math.inf:
            number = math.floor(cluster.now / self.interval) + 1
            # A quotient rounded down would make the next cycle this moment, again and again.
            self._cycle = self.interval * (number if self.interval * number > cluster.now else number + 1)
            cluster.wake(self._cycle)

    def _look(self, cluster: ClusterState) -> None:
        """Take note of whose tasks gave something back, of kinds that are new to a framework, and of open machines.

        Until the next cycle nothing else depends on them.
        """
        for user in cluster.moved:
            self._changed[user] = None
            if kinds := cluster.queues[user].keys() - self._kinds[user]:
                self._kinds[user] |= kinds
                self._refused[user].clear()
        self._full.learn(cluster)
        self._open.update(cluster.freed, *(cluster.able[kind] for kind in cluster.opened))

    def _prune(self, cluster: ClusterState) -> None:
        """Keep those machines open on which somebody's task fits."""
        self._open = {machine for machine in self._open if self._full.fitting(cluster, machine)}

    def _make_offers(self, cluster: ClusterState) -> int:
        """Offer every machine that is open; return how many tasks were started."""
        before = cluster.started
        for user in self._changed:
            if cluster.used[user] is not self._held[user]:
                self._note(cluster, user)
        self._changed.clear()

        self._asking = {self._roles[user] for user, waiting in enumerate(cluster.waiting) if waiting}

        def refused(offer: MesosOffer) -> bool:
            user = int(offer.framework)
            until, amounts = self._refused[user].get(offer.agent, (-math.inf, {}))
            return not cluster.waiting[user] or (until > cluster.now and fits(offer.amounts, amounts))

        def accept(offer: MesosOffer) -> Amounts:
            return self._accept(cluster, offer)

        rooms = {machine: self._amounts(cluster.free[machine]) for machine in sorted(self._open)}
        self._offering.cycle(rooms, accept, refused, self._tiers, self._asking)
        self._prune(cluster)
        return cluster.started - before

    def _accept(self, cluster: ClusterState, offer: MesosOffer) -> Amounts:
        """Start all tasks that fit into the offer, those that came first first; return what they take."""
        user, machine = int(offer.framework), offer.agent
        queue, left = cluster.queues[user], [int(offer.amounts.get(name, 0)) for name in self._names]
        for kind in sorted(queue, key=lambda kind: queue[kind][0].number):
            need = cluster.needs[kind]
            while kind in queue and cluster.fits(kind, machine) and all(map(int.__le__, need, left)):
                cluster.start(user, kind, machine)
                left = [amount - part for amount, part in zip(left, need, strict=True)]
        role = self._roles[user]
        if not queue and not any(cluster.waiting[member] for member in self._members[role]):
            self._asking.discard(role)
        self._refused[user][machine] = cluster.now + self.refusal, self._amounts(left)
        self._held[user] = cluster.used[user]
        rest = self._amounts(left)
        return {name: amount - rest[name] for name, amount in offer.amounts.items()}

    def _note(self, cluster: ClusterState, user: int) -> None:
        """Count what the framework holds since tasks of it have ended."""
        self._held[user] = cluster.used[user]
        role, name = self._roles[user], self._id(user)
        before = self._offering.frameworks[role][name].allocations
        self._offering.put(role, name, Client(self._amounts(self._held[user]), before))

    def _amounts(self, row: list[int]) -> dict[str, Amount]:
        return dict(zip(self._names, row, strict=True))

    @staticmethod
    def _id(user: int) -> str:
        return f"{user:09}"


def strict_priorities(argument: str = "") -> Mesos:
    """Return the rule."""
    return Mesos(priorities=True)
