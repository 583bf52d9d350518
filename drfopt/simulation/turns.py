"""Serve whose turn it is, where a task of one user changes the place of others, or not everybody may be served.

`drfopt.simulation.lowest_first` needs a level for each user that only its own tasks change, and has no task waiting
that fits.  `Turns` asks the rule again after every task; `Ranked` serves the lowest rank, of which only that of the
served user changes.  A task goes to the first machine, in the order of the scenario, on which it fits; of several kinds
of a user's tasks that fit the one that came first is looked at.
"""

from collections.abc import Collection, Iterable, Mapping
from heapq import heapify, heappop, heappush
from typing import Any

from .places import FittingMachines
from .rule import Rule
from .state import ClusterState

__all__ = ["Ranked", "Turns"]


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
        asking: dict[int, int] = {}
        for user in sorted({user for kind in places.kinds for user in cluster.askers[kind]}):
            asking[user] = _next(cluster, user, places)
        while asking and (chosen := self.turn(cluster, asking)) is not None:
            user, kind = chosen, asking[chosen]
            machine = places.first(kind)
            cluster.start(user, kind, machine)
            self.changed(cluster, (user,))
            full = places.prune(cluster, machine)
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
        if not places.kinds:
            return
        self.catch_up(cluster)
        queue = [entry for kind in places.kinds for entry in askers[kind].values() if entry is not None]
        heapify(queue)
        while queue:
            entry = queue[0]
            _, user, _, kind = entry
            heappop(queue)
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
            for full in places.prune(cluster, machine):
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
    return min((kind for kind in queue if kind in places), key=lambda kind: queue[kind][0].number, default=-1)
