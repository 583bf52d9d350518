"""Serve the lowest: as long as a waiting task fits, start one of the user who is lowest by some measure.

After a dispatch that passes over whoever does not fit, no waiting task fits on any machine.  So at the next one only
machines on which something became free, and kinds of tasks for which nobody asked before, have to be looked at: the
work of a moment does not grow with the number of machines, nor, for kinds are found by what is scarce on the machine,
with the number of users.  A task goes to the first machine, in the order of the scenario, on which it fits.
"""

from heapq import heapify, heappop, heappush
from operator import sub
from typing import Any

from ..base.errors import PolicyError, suggestion
from .places import Full
from .rule import Rule
from .state import ClusterState

__all__ = ["LowestFirst"]

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
