"""Mesos: one machine's free resources at a time are offered to the role, and in it the framework, of the lowest share.

The users of the scenario are frameworks, their groups roles (without a group a user is a role of her own, with her
weight); weights of groups are weights of roles, a role's guarantee is the sum of its users' and is a quota that is
served first and kept free.  ``mesos-priority`` orders roles by the highest tier of their users before their shares.

A framework takes all of its tasks that fit into the offer and refuses the rest: for `refusal` seconds that machine is
not offered to it again, unless more is free on it than it refused, or tasks of a new kind come to it.  What it leaves
is offered in the next cycle, `interval` seconds later, to the next one.  Frameworks that have nothing waiting take
part in no offers; those that have are offered machines on which none of their tasks fit, and refuse.  Offers of a
machine on which nobody's task fits are not made, for nothing would come of them.  Machines are taken in the order of
the scenario, where Mesos takes them at random.

Source: Apache Mesos, src/master/allocator/mesos/hierarchical.cpp; `drfopt.simulation.schedulers.mesos`.
"""

import math
from collections.abc import Collection, Iterator

from ..cluster import Cluster
from ..guarantees import whole_guarantees
from ..rule import Rule
from ..schedulers.mesos import Client, Tree

__all__ = ["Mesos", "build"]

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

    def begin(self, cluster: Cluster) -> None:
        """Register all frameworks with their roles; nobody holds anything."""
        scenario = cluster.plan.scenario
        self._names = scenario.resources
        self._roles = [user.group or user.name for user in scenario.users]
        self._members: dict[str, list[int]] = {}
        for user, role in enumerate(self._roles):
            self._members.setdefault(role, []).append(user)
        own = {user.name: user.weight for user in scenario.users if not user.group}
        totals = self._amounts(cluster.totals)
        self._ranks = Tree(
            totals, {role: Client() for role in self._members}, {**own, **scenario.groups}, self.excluded
        )
        self._inside = {
            role: Tree(totals, {self._id(user): Client() for user in users}, None, self.excluded)
            for role, users in self._members.items()
        }
        self._tiers = {role: max(scenario.users[i].tier for i in users) for role, users in self._members.items()}
        promised = whole_guarantees(cluster.plan)
        self._quotas = {
            role: [sum(column) for column in zip(*(promised[i] for i in users), strict=True)]
            for role, users in self._members.items()
            if any(any(promised[i]) for i in users)
        }
        self._held = [[0] * cluster.m for _ in range(cluster.n)]
        self._offers = [0] * cluster.n
        self._kinds: list[set[int]] = [set() for _ in range(cluster.n)]
        self._refused: dict[int, dict[int, tuple[float, list[int]]]] = {user: {} for user in range(cluster.n)}
        self._open: set[int] = set()
        self._cycle = math.inf

    def resized(self, cluster: Cluster) -> None:
        """Measure shares of what is there now."""
        for tree in (self._ranks, *self._inside.values()):
            tree.resize(self._amounts(cluster.totals))

    def dispatch(self, cluster: Cluster) -> None:
        """Make a cycle of offers, at once when tasks of a new kind have come, else when it is time."""
        self._look(cluster)
        if cluster.opened or cluster.now >= self._cycle or not self.interval:
            self._cycle = math.inf
            while self._make_offers(cluster) and not self.interval:
                pass
        if self._open and self.interval and self._cycle == math.inf:
            self._cycle = (math.floor(cluster.now / self.interval) + 1) * self.interval
            cluster.wake(self._cycle)

    def _look(self, cluster: Cluster) -> None:
        """Take note of what tasks gave back, of kinds that are new to a framework, and of machines to be offered."""
        for user in range(cluster.n):
            if cluster.used[user] != self._held[user]:
                self._note(cluster, user)
            if kinds := cluster.queues[user].keys() - self._kinds[user]:
                self._kinds[user] |= kinds
                self._refused[user].clear()
        new = {machine for kind in cluster.opened for machine in cluster.able[kind]}
        # What is kept free for quotas may be needed no more wherever something ended.
        everything = range(len(cluster.up)) if self._quotas else ()
        self._open = {machine for machine in {*self._open, *cluster.freed, *new, *everything} if cluster.up[machine]}
        self._prune(cluster)

    def _prune(self, cluster: Cluster) -> None:
        asked = [kind for kind, askers in enumerate(cluster.askers) if askers]
        self._open = {machine for machine in self._open if any(cluster.fits(kind, machine) for kind in asked)}

    def _make_offers(self, cluster: Cluster) -> int:
        """Offer every machine that is open, first for quotas; return how many tasks were started."""
        before = cluster.started
        for machine in sorted(self._open) if self._quotas else ():
            for role in self._order():
                missing = self._missing(role)
                amounts = [min(free, lack) for free, lack in zip(cluster.free[machine], missing, strict=True)]
                self._offer(cluster, machine, role, amounts)
        for machine in sorted(self._open):
            for role in self._order():
                if self._offer(cluster, machine, role, self._spare(cluster, machine, role)):
                    break
        self._prune(cluster)
        return cluster.started - before

    def _order(self) -> Iterator[str]:
        roles = self._ranks.order()
        return iter(sorted(roles, key=lambda role: -self._tiers[role])) if self.priorities else roles

    def _missing(self, role: str) -> list[int]:
        """Return what the role lacks of its quota."""
        quota = self._quotas.get(role)
        if quota is None:
            return [0] * len(self._names)
        held = (sum(column) for column in zip(*(self._held[i] for i in self._members[role]), strict=True))
        return [max(0, most - amount) for most, amount in zip(quota, held, strict=True)]

    def _spare(self, cluster: Cluster, machine: int, role: str) -> list[int]:
        """Return what is free on the machine, but for what the quotas of other roles still need of the cluster."""
        if not self._quotas:
            return cluster.free[machine]
        free = list(cluster.totals)
        for row in self._held:
            free = [amount - used for amount, used in zip(free, row, strict=True)]
        for other in self._quotas:
            if other != role:
                free = [amount - lack for amount, lack in zip(free, self._missing(other), strict=True)]
        return [max(0, min(pair)) for pair in zip(cluster.free[machine], free, strict=True)]

    def _offer(self, cluster: Cluster, machine: int, role: str, amounts: list[int]) -> bool:
        """Offer the amounts to the role's first framework that has tasks and did not refuse as much; say if any."""
        if not any(amounts):
            return False
        for name in self._inside[role].order():
            user = int(name)
            until, refused = self._refused[user].get(machine, (-math.inf, amounts))
            if cluster.queues[user] and (until <= cluster.now or any(map(int.__gt__, amounts, refused))):
                left = self._accept(cluster, user, machine, list(amounts))
                self._refused[user][machine] = cluster.now + self.refusal, left
                return True
        return False

    def _accept(self, cluster: Cluster, user: int, machine: int, left: list[int]) -> list[int]:
        """Start all tasks that fit into the offer, those that came first first; return what remains of it."""
        self._offers[user] += 1
        for kind in sorted(cluster.queues[user], key=lambda kind: cluster.queues[user][kind][0].number):
            need = cluster.needs[kind]
            while kind in cluster.queues[user] and cluster.fits(kind, machine) and all(map(int.__le__, need, left)):
                cluster.start(user, kind, machine)
                left = [amount - part for amount, part in zip(left, need, strict=True)]
        self._note(cluster, user)
        return left

    def _note(self, cluster: Cluster, user: int) -> None:
        """Count what the framework holds for itself and for its role."""
        self._held[user] = list(cluster.used[user])
        role = self._roles[user]
        members = self._members[role]
        held = [sum(column) for column in zip(*(self._held[i] for i in members), strict=True)]
        self._inside[role].put(self._id(user), Client(self._amounts(self._held[user]), self._offers[user]))
        self._ranks.put(role, Client(self._amounts(held), sum(self._offers[i] for i in members)))

    def _amounts(self, row: list[int]) -> dict[str, int]:
        return dict(zip(self._names, row, strict=True))

    @staticmethod
    def _id(user: int) -> str:
        return f"{user:09}"


def build(argument: str = "") -> Mesos:
    """Return the rule with Mesos's own intervals."""
    return Mesos()
