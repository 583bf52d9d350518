"""Serve whose turn it is, where a task of one user changes the place of others, or not everybody may be served.

`drfopt.simulation.turns` needs a level for each user that only its own tasks change, and has no task waiting
that fits.  `Turns` asks the rule again after every task; `Ranked` serves the lowest rank, of which only that of the
served user changes.  A task goes to the first machine, in the order of the scenario, on which it fits; of several kinds
of a user's tasks that fit the one that came first is looked at.

Serve the lowest: as long as a waiting task fits, start one of the user who is lowest by some measure.

After a dispatch that passes over whoever does not fit, no waiting task fits on any machine.  So at the next one only
machines on which something became free, and kinds of tasks for which nobody asked before, have to be looked at: the
work of a moment does not grow with the number of machines, nor, for kinds are found by what is scarce on the machine,
with the number of users.  A task goes to the first machine, in the order of the scenario, on which it fits.
"""

from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from heapq import heapify, heappop, heappush
from operator import sub
from typing import Any

from ..base.errors import PolicyError, suggestion
from .places import FittingMachines, Full
from .plan import Plan
from .state import ClusterState

__all__ = ["LowestFirst", "Ranked", "Rule", "Turns"]


class Rule:
    """A scheduler; an instance is used for one run at a time, and `begin` makes it forget the one before.

    Attributes
    ----------
    name : str
    oversubscribes : bool
        Whether it may start tasks whose demands together exceed a machine; they are then slowed down.
    by_job : bool
        Whether like tasks of a user wait in the order of their jobs, a later stage before jobs that came after its own.
    revokes : bool
        Whether somebody can be below a share for which others' tasks may be stopped.
    regards : tuple of str
        What sets users apart that it looks at beside what its row of `RULES` says.
    """

    name = "rule"
    oversubscribes = False
    by_job = False
    revokes = True
    regards: tuple[str, ...] = ()

    def prepare(self, plan: Plan) -> None:
        """Look at the scenario before anything else, and refuse what the rule cannot take (see `refuse`)."""

    def room(self, capacity: tuple[int, ...]) -> tuple[int, ...]:
        """Return what the rule counts on a machine of this capacity: by default all resources; slots, say, are one."""
        return capacity

    def need(self, demand: tuple[int, ...]) -> tuple[int, ...]:
        """Return what a task of this demand takes of a machine's room."""
        return demand

    def begin(self, cluster: ClusterState) -> None:
        """Make ready for a run; nothing has come yet."""

    def resized(self, cluster: ClusterState) -> None:
        """Hear what there is in all: after `begin`, and whenever machines were lost or have come back."""

    def dispatch(self, cluster: ClusterState) -> None:
        """Start what should be started now."""
        raise NotImplementedError

    def standing(self, cluster: ClusterState, user: int, used: list[int], running: int) -> Any:
        """Return how high a user would stand who held so much and ran so many tasks; revocation takes from the highest.

        By default it is her weighted dominant share.
        """
        parts = zip(used, cluster.totals, strict=True)
        return (
            max(Fraction(held, total) if total else Fraction(0) for held, total in parts) / cluster.plan.weights[user]
        )

    def refuse(self, reason: str) -> PolicyError:
        """Return the error that this rule cannot take a scenario."""
        return PolicyError(f"the rule {self.name} {reason}")

    def require_equal_weights(self, cluster: ClusterState) -> None:
        """Refuse a scenario whose users have not all one weight."""
        first, *others = cluster.plan.scenario.users
        if other := next((user for user in others if user.weight != first.weight), None):
            raise self.refuse(
                f"gives all users equal parts, but {first.name!r} has weight {first.weight} and {other.name!r} "
                f"{other.weight}: give all the same weight, or use another rule"
            )


class Turns(Rule):
    """A rule that says whose turn it is."""

    def turn(self, cluster: ClusterState, asking: Mapping[int, int]) -> int | None:
        """Return the user to be served next, None for nobody.

        Parameters
        ----------
        cluster : ClusterState
        asking : the users who have a waiting task that fits somewhere, in their order, and its kind
        """
        raise NotImplementedError

    def changed(self, cluster: ClusterState, users: Iterable[int]) -> None:
        """Hear of users who may hold something else than before: no others do."""

    def begin(self, cluster: ClusterState) -> None:
        """Forget the run before."""
        self._places = FittingMachines(cluster)

    def dispatch(self, cluster: ClusterState) -> None:
        """Serve one after the other, as long as somebody can be served."""
        places = self._places
        places.renew(cluster)
        self.changed(cluster, cluster.moved)
        queues = cluster.queues
        asking: dict[int, int] = {}
        for kind in places.kinds:
            for user in cluster.askers[kind]:
                if user not in asking:
                    asking[user] = kind if len(queues[user]) == 1 else _next(cluster, user, places)
        asking = dict(sorted(asking.items()))
        while asking and (chosen := self.turn(cluster, asking)) is not None:
            user, kind = chosen, asking[chosen]
            machine = places.first(kind)
            cluster.start(user, kind, machine)
            self.changed(cluster, (user,))
            full = places.filled(cluster, machine)
            for other in [user, *(other for other, needs in asking.items() if needs in full)] if full else (user,):
                if (again := _next(cluster, other, places)) >= 0:
                    asking[other] = again
                else:
                    asking.pop(other, None)


class Ranked(Rule):
    """A rule that serves the user whose `rank` is lowest, of equal ones the one listed first, or keeps it waiting.

    Ranks are worked out anew only for users who hold or want something else than before, whom `survey` names, or who
    are told to `forget`, and only when a waiting task fits somewhere.
    """

    def rank(self, cluster: ClusterState, user: int, kind: int) -> Any:
        """Return what is to be lowest of whoever is served next with a task of that kind; None to keep it waiting."""
        raise NotImplementedError

    def survey(self, cluster: ClusterState, users: Collection[int]) -> Iterable[int]:
        """Hear of users who hold or want something else than before; return those who are to be ranked anew."""
        return users

    def begin(self, cluster: ClusterState) -> None:
        """Forget the run before."""
        self._places = FittingMachines(cluster)
        self._stale: dict[int, None] = {}

    def resized(self, cluster: ClusterState) -> None:
        """Measure everybody anew."""
        self.forget(cluster, range(cluster.n))

    def forget(self, cluster: ClusterState, users: Iterable[int]) -> None:
        """Have the ranks of users worked out anew at the next dispatch."""
        cluster.moved.update(dict.fromkeys(users))

    def catch_up(self, cluster: ClusterState) -> None:
        """Work out anew what has changed since it was last asked for."""
        if self._stale:
            for user in self.survey(cluster, self._stale):
                self._note(cluster, user)
            self._stale.clear()

    def dispatch(self, cluster: ClusterState) -> None:
        """Serve the lowest as long as it is possible."""
        askers, places = cluster.askers, self._places
        self._stale.update(cluster.moved)
        places.renew(cluster)
        if not places:
            return
        self.catch_up(cluster)
        queue = [entry for kind in places.kinds for entry in askers[kind].values() if entry is not None]
        heapify(queue)
        while queue and places:
            entry = heappop(queue)
            _, user, _, kind = entry
            # An entry is of no use any more when its user has been served since, or such tasks fit nowhere.
            if kind not in places or askers[kind].get(user) is not entry:
                continue
            if len(cluster.queues[user]) > 1 and _next(cluster, user, places) != kind:
                continue
            machine = places.first(kind)
            cluster.start(user, kind, machine)
            for again in self._note(cluster, user):
                heappush(queue, again)
            # Whose earlier tasks fit nowhere any more may now be served with later ones.
            for full in places.filled(cluster, machine):
                for other in askers[full]:
                    kinds = cluster.queues[other]
                    for later in kinds if len(kinds) > 1 else ():
                        if (again := askers[later][other]) is not None:
                            heappush(queue, again)

    def _note(self, cluster: ClusterState, user: int) -> list[tuple[Any, int, int, int]]:
        """Write down the user's ranks where it asks, and return those that let it be served."""
        entries = []
        for kind, line in cluster.queues[user].items():
            rank = self.rank(cluster, user, kind)
            cluster.askers[kind][user] = entry = None if rank is None else (rank, user, line[0].number, kind)
            if entry is not None:
                entries.append(entry)
        return entries


def _next(cluster: ClusterState, user: int, places: FittingMachines) -> int:
    """Return the kind of the user's next task that fits, of several the one that came first; -1 for none."""
    queue = cluster.queues[user]
    if len(queue) < 2:  # as nearly always
        return next((kind for kind in queue if kind in places), -1)
    return min((kind for kind in queue if kind in places), key=lambda kind: queue[kind][0].number, default=-1)


WHEN_FULL = ("skip", "stop")

Entry = tuple[Any, int, int, int]
"""Who asks for what: level, user, number of the lot, kind.  Of one user the lot that came first is served first."""


class LowestFirst(Rule):
    """A rule that serves the user whose `level` is lowest, of equal ones the one listed first.

    Parameters
    ----------
    when_full : "skip" or "stop"
        Whether a user whose next task fits nowhere is passed over, or nobody is served before she is.
    """

    def __init__(self, when_full: str = "skip"):
        if when_full not in WHEN_FULL:
            raise PolicyError(f"when_full is {when_full!r}{suggestion(str(when_full), WHEN_FULL)} (known: skip, stop)")
        self.when_full = when_full

    def level(self, cluster: ClusterState, user: int, kind: int) -> Any:
        """Return what is to be lowest of whoever is served next, with a task of that kind; anything that compares."""
        raise NotImplementedError

    def begin(self, cluster: ClusterState) -> None:
        """Forget the run before."""
        self._full = Full(cluster)
        self._blocked: int | None = None
        self._stops = self.when_full == "stop"

    def resized(self, cluster: ClusterState) -> None:
        """Measure everybody anew: levels are relative to what there is."""
        cluster.moved.update(dict.fromkeys(range(cluster.n)))

    def dispatch(self, cluster: ClusterState) -> None:
        """Serve the lowest as long as it is possible."""
        askers, needs, free = cluster.askers, cluster.needs, cluster.free
        for user in cluster.moved:
            self._note(cluster, user)
        if len(cluster.freed) == 1 and not cluster.opened and not self._stops:
            (machine,) = cluster.freed
            self._fill(cluster, machine, self._full.fitting(cluster, machine))
            return
        chances = self._anywhere(cluster) if self._stops else self._full.chances(cluster)
        if not chances:
            return
        queue = [entry for kind in chances for entry in askers[kind].values()]
        heapify(queue)
        while queue:
            entry = queue[0]
            _, user, _, kind = entry
            # An entry is of no use any more when its user has been served since, or her tasks fit nowhere.
            if kind not in chances or askers[kind].get(user) is not entry:
                heappop(queue)
                continue
            rooms, need = chances[kind], needs[kind]
            # A machine that refused a kind never takes it again in this moment: what is free only shrinks.
            while rooms and min(map(sub, free[rooms[-1]], need)) < 0:
                rooms.pop()
            if rooms:
                cluster.start(user, kind, rooms[-1])
                heappop(queue)
                for again in self._note(cluster, user):
                    if again[3] in chances:
                        heappush(queue, again)
            elif self._stops:
                self._blocked = kind
                return
            else:
                del chances[kind]
                if not chances:
                    return

    def _fill(self, cluster: ClusterState, machine: int, kinds: list[int]) -> None:
        """Serve the lowest as long as it is possible on one machine: of most moments it is all there is to do."""
        askers, needs = cluster.askers, cluster.needs
        while kinds:
            _, user, _, kind = min([entry for kind in kinds for entry in askers[kind].values()])
            cluster.start(user, kind, machine)
            self._note(cluster, user)
            free = cluster.free[machine]
            kinds = [kind for kind in kinds if askers[kind] and min(map(sub, free, needs[kind])) >= 0]

    def _note(self, cluster: ClusterState, user: int) -> list[Entry]:
        """Write down the user's levels where she asks, and return what was written."""
        entries = []
        for kind, line in cluster.queues[user].items():
            entry = (self.level(cluster, user, kind), user, line[0].number, kind)
            cluster.askers[kind][user] = entry
            entries.append(entry)
        return entries

    def _anywhere(self, cluster: ClusterState) -> dict[int, list[int]]:
        """Return the machines on which each kind may fit: all, but for the kind before which nobody is served."""
        blocked, self._blocked = self._blocked, None
        chances = {}
        for kind, askers in enumerate(cluster.askers):
            if askers and (able := cluster.able[kind]):
                stuck = kind == blocked and kind not in cluster.opened
                chances[kind] = [k for k in reversed(able) if not stuck or k in cluster.freed]
        return chances
