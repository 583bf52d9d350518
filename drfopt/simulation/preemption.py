"""Revocation: who is below her share does not wait for others' tasks to end, but has some of them stopped.

After the rule has started what fits, a user with waiting tasks who stands lowest may claim room: tasks of users who
stand higher are warned, and those that still run when the grace period is over are stopped, lose what they have done,
and wait again as the first of their users' tasks.  A claim is made only if it helps: the user whose task is stopped
must afterwards still stand at least as high as the one who claimed, when it is warned and when it is stopped.  Nobody
falls below her guarantee, and no task is stopped more than once on average, so that a rule which gives the room back to
whom it was taken from comes to an end.  Rules without shares of which somebody could be short (`Rule.revokes`) are left
as they are.

What is compared is the rule's own measure (`Rule.standing`) where it has one of each user alone.  Where users stand by
their groups and guarantees (`hierarchy`, `yarn`, `kueue`, `koordinator`, `mesos`) it is their weighted dominant share:
guarantees keep tasks from being stopped, and groups play no part in it.  The newest tasks are stopped first, of those
that hold what is lacking, on the machine on which the fewest have to be.
"""

from collections import Counter
from dataclasses import dataclass
from operator import add, mul, sub
from typing import Any

from ..base.errors import InstanceError
from ..base.numbers.reals import is_real
from .plan import Lot, Plan, StartedLot
from .state import ClusterState
from .turns import Rule

__all__ = ["Preempting", "Preemption"]

MACHINES = 64
"""Machines that are looked at for a claim, the first of those that could hold the task: a claim must stay cheap."""


@dataclass(frozen=True)
class Preemption:
    """Whether and how tasks are revoked: `grace` seconds after a warning."""

    grace: float

    def __post_init__(self) -> None:
        if not is_real(self.grace) or not 0 < self.grace < float("inf"):
            raise InstanceError(f"the grace period is {self.grace!r}: write a positive number of seconds")
        object.__setattr__(self, "grace", float(self.grace))


@dataclass
class _Claim:
    """Tasks that were warned so that a task of a user finds room: when they are stopped, and how many of each batch."""

    due: float
    user: int
    kind: int
    machine: int
    warned: list[tuple[StartedLot, int]]


class Preempting(Rule):
    """A rule that is helped along by revocation.

    Parameters
    ----------
    rule : Rule
    preemption : Preemption
    """

    def __init__(self, rule: Rule, preemption: Preemption):
        self.rule, self.preemption = rule, preemption
        self.name = rule.name
        self.oversubscribes = rule.oversubscribes
        self.by_job = rule.by_job
        self.regards = ("guarantees",) if rule.revokes else ()

    def prepare(self, plan: Plan) -> None:
        """Ask the rule."""
        self.rule.prepare(plan)

    def room(self, capacity: tuple[int, ...]) -> tuple[int, ...]:
        """Ask the rule."""
        return self.rule.room(capacity)

    def need(self, demand: tuple[int, ...]) -> tuple[int, ...]:
        """Ask the rule."""
        return self.rule.need(demand)

    def begin(self, cluster: ClusterState) -> None:
        """Forget the claims of the run before."""
        self._claims: list[_Claim] = []
        units, resources = cluster.plan.units, cluster.plan.scenario.resources
        self._guarantees = [
            [int(user.guarantee.get(name, 0) * unit) for name, unit in zip(resources, units, strict=True)]
            for user in cluster.plan.scenario.users
        ]
        self.rule.begin(cluster)

    def resized(self, cluster: ClusterState) -> None:
        """Tell the rule."""
        self.rule.resized(cluster)

    def standing(self, cluster: ClusterState, user: int, used: list[int], running: int) -> Any:
        """Ask the rule."""
        return self.rule.standing(cluster, user, used, running)

    def dispatch(self, cluster: ClusterState) -> None:
        """Stop what is due, let the rule serve, and warn whom it is time to warn."""
        if due := [claim for claim in self._claims if claim.due <= cluster.now]:
            self._claims = [claim for claim in self._claims if claim.due > cluster.now]
            self._meet(cluster, due)
        self.rule.dispatch(cluster)
        if not self.rule.revokes:
            return
        self._claims = [claim for claim in self._claims if cluster.queues[claim.user].get(claim.kind)]
        cluster.batch()  # What has just started can be warned too.
        while claim := self._claim(cluster):
            self._claims.append(claim)
            cluster.wake(claim.due)

    def _meet(self, cluster: ClusterState, due: list[_Claim]) -> None:
        """Stop what was warned, where that still helps who claimed: much may have ended since."""
        used, running, free = list(cluster.used), list(cluster.running), list(cluster.free)
        stopped: Counter[StartedLot] = Counter()
        for claim in due:
            user, kind, machine = claim.user, claim.kind, claim.machine
            if not cluster.queues[user].get(kind) or not cluster.up[machine]:
                continue
            after = self.standing(cluster, user, list(map(add, used[user], cluster.demands[kind])), running[user] + 1)
            held, tasks, taken = list(used), list(running), Counter[StartedLot]()
            lacks = list(map(sub, cluster.needs[kind], free[machine]))
            for batch, count in claim.warned:
                lot = batch.lot
                there = batch.count - stopped[batch] if batch.end >= 0 else 0
                while max(lacks) > 0 and taken[batch] < min(count, there):
                    self._move(cluster, held, tasks, lot.user, lot.kind, -1)
                    if not self._may_lose(cluster, lot.user, held, tasks, after):
                        self._move(cluster, held, tasks, lot.user, lot.kind, 1)
                        break
                    lacks = list(map(sub, lacks, cluster.needs[lot.kind]))
                    taken[batch] += 1
            if max(lacks) <= 0:
                used, running = held, tasks
                self._move(cluster, used, running, user, kind, 1)
                free[machine] = [-lack for lack in lacks]
                stopped += taken
        for batch, count in stopped.items():
            cluster.revoke(batch, count)

    def _claim(self, cluster: ClusterState) -> _Claim | None:
        """Return the next claim worth making, as if all that were made had been met already."""
        used, running = list(cluster.used), list(cluster.running)
        warned: Counter[int] = Counter()
        claimed: Counter[tuple[int, int]] = Counter()
        free: dict[int, list[int]] = {}
        for claim in self._claims:
            claimed[claim.user, claim.kind] += 1
            self._move(cluster, used, running, claim.user, claim.kind, 1)
            room = list(map(sub, free.get(claim.machine, cluster.free[claim.machine]), cluster.needs[claim.kind]))
            for batch, count in claim.warned:
                if batch.end >= 0:
                    warned[batch.number] += count
                    room = [r + count * more for r, more in zip(room, cluster.needs[batch.lot.kind], strict=True)]
                    self._move(cluster, used, running, batch.lot.user, batch.lot.kind, -count)
            free[claim.machine] = room
        asking = sorted(
            (self.standing(cluster, user, used[user], running[user]), user)
            for user, queue in enumerate(cluster.queues)
            if queue
        )
        for _, user in asking:
            queue = cluster.queues[user]
            for kind in sorted(queue, key=lambda kind: queue[kind][0].number):
                line = queue[kind]
                if sum(lot.waiting for lot in line) > claimed[user, kind] and cluster.able[kind]:
                    found = self._room_for(cluster, user, kind, used, running, warned, free)
                    if found:
                        machine = found[0][0].machine
                        return _Claim(cluster.now + self.preemption.grace, user, kind, machine, found)
        return None

    def _room_for(
        self,
        cluster: ClusterState,
        user: int,
        kind: int,
        used: list[list[int]],
        running: list[int],
        warned: Counter[int],
        room: dict[int, list[int]],
    ) -> list[tuple[StartedLot, int]]:
        """Return the fewest tasks that have to be stopped for a task of the user; none if it is not worth it."""
        after = self.standing(cluster, user, list(map(add, used[user], cluster.demands[kind])), running[user] + 1)
        best: Counter[StartedLot] = Counter()
        # The more a user has lost the less may it lose: of whom no task may be stopped none may be anywhere.
        never: set[tuple[int, int]] = set()
        for machine in cluster.able[kind][:MACHINES]:
            if not cluster.up[machine]:
                continue
            lacks = list(map(sub, cluster.needs[kind], room.get(machine, cluster.free[machine])))
            held, tasks = list(used), list(running)
            taken: Counter[StartedLot] = Counter()
            stopped: Counter[Lot] = Counter()
            no_more = set(never)
            for batch in sorted(cluster.on[machine].values(), key=lambda batch: -batch.number):
                lot, frees = batch.lot, cluster.needs[batch.lot.kind]
                if (key := (lot.user, lot.kind)) in no_more:
                    continue
                while lot.user != user and any(lack > 0 < gain for lack, gain in zip(lacks, frees, strict=True)):
                    if warned[batch.number] + taken[batch] >= batch.count or lot.revoked + stopped[lot] >= lot.tasks:
                        break
                    self._move(cluster, held, tasks, lot.user, lot.kind, -1)
                    if not self._may_lose(cluster, lot.user, held, tasks, after):
                        self._move(cluster, held, tasks, lot.user, lot.kind, 1)
                        no_more.add(key)
                        if tasks[lot.user] == running[lot.user]:
                            never.add(key)
                        break
                    lacks = list(map(sub, lacks, frees))
                    taken[batch] += 1
                    stopped[lot] += 1
            if max(lacks) > 0 or not taken:
                continue
            # What an older task frees may make a newer one needless.
            for batch in list(taken):
                frees = cluster.needs[batch.lot.kind]
                while taken[batch] and max(left := list(map(add, lacks, frees))) <= 0:
                    taken[batch], lacks = taken[batch] - 1, left
            if not best or taken.total() < best.total():
                best = taken
        return [(batch, count) for batch, count in best.items() if count]

    def _may_lose(
        self, cluster: ClusterState, user: int, used: list[list[int]], running: list[int], after: Any
    ) -> bool:
        """Whether a user who has lost a task keeps her guarantee, and stands no lower than who has won one."""
        promised = self._guarantees[user]
        kept = all(have >= much for have, much in zip(used[user], promised, strict=True) if much)
        return kept and self.standing(cluster, user, used[user], running[user]) >= after

    def _move(
        self, cluster: ClusterState, used: list[list[int]], running: list[int], user: int, kind: int, count: int
    ) -> None:
        demand = cluster.demands[kind]
        used[user] = list(map(add, used[user], map(mul, demand, [count] * len(demand))))
        running[user] += count
