"""Where waiting tasks fit: kinds and machines looked at again only when something has changed for them."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from heapq import heappop, heappush
from operator import sub

from .state import ClusterState

__all__ = ["FittingMachines", "Full"]


class Full:
    """The kinds of waiting tasks that are known to fit nowhere, by what they need of each resource."""

    def __init__(self, cluster: ClusterState):
        # Of each resource: what kinds need of it, ascending, and the kinds in that order.
        self._by_need: list[tuple[list[int], list[int]]] = [([], []) for _ in cluster.rooms[0]]
        self._known: set[int] = set()
        self._choosy = any(kind.classes is not None for kind in cluster.plan.kinds)

    def chances(self, cluster: ClusterState) -> dict[int, list[int]]:
        """Return, by kind, the machines on which it may fit, the first one last; then take all kinds to be known."""
        opened = [kind for kind in cluster.opened if cluster.askers[kind]]
        chances = {kind: cluster.able[kind][::-1] for kind in opened}
        for machine in sorted(cluster.freed, reverse=True):
            for kind in self.fitting(cluster, machine):
                if kind not in cluster.opened:
                    chances.setdefault(kind, []).append(machine)
        self.learn(cluster)
        return chances

    def learn(self, cluster: ClusterState) -> None:
        """Take all kinds to be known for which somebody asks."""
        for kind in cluster.opened:
            if kind not in self._known:
                self._known.add(kind)
                for (needs, kinds), need in zip(self._by_need, cluster.needs[kind], strict=True):
                    place = bisect_right(needs, need)
                    needs.insert(place, need)
                    kinds.insert(place, kind)

    def fitting(self, cluster: ClusterState, machine: int) -> list[int]:
        """Return the known kinds that fit on a machine and are asked for; those nobody asks for are forgotten."""
        free, needs, askers = cluster.free[machine], cluster.needs, cluster.askers
        ends = [bisect_right(line[0], room) for line, room in zip(self._by_need, free, strict=True)]
        # What is scarce on the machine rules out most kinds before anything else is compared.
        scarce = ends.index(min(ends))
        near = self._by_need[scarce][1][: ends[scarce]]
        fit = [kind for kind in near if min(map(sub, free, needs[kind])) >= 0]
        found = [kind for kind in fit if askers[kind]]
        if len(found) < len(fit):
            for kind in fit:
                if not askers[kind]:
                    self._forget(cluster, kind)
        if self._choosy:
            of = cluster.plan.classes[machine]
            kinds = cluster.plan.kinds
            found = [kind for kind in found if (classes := kinds[kind].classes) is None or of in classes]
        return found

    def _forget(self, cluster: ClusterState, kind: int) -> None:
        self._known.discard(kind)
        for (needs, kinds), need in zip(self._by_need, cluster.needs[kind], strict=True):
            place = kinds.index(kind, bisect_left(needs, need))
            del needs[place], kinds[place]


class FittingMachines:
    """The machines on which each kind of waiting task fits, for rules that may keep a task waiting though it fits.

    A machine that refused a kind takes it again only when something has become free there, so nothing else is asked.
    """

    def __init__(self, cluster: ClusterState):
        self._full = Full(cluster)
        # Of each kind that fits somewhere the machines on which it may, as a heap, and the same as a set.
        self._heaps: dict[int, list[int]] = {}
        self._members: dict[int, set[int]] = {}

    @property
    def kinds(self) -> list[int]:
        """The kinds that are asked for and fit somewhere."""
        return list(self._heaps)

    def __contains__(self, kind: int) -> bool:
        return kind in self._heaps

    def __len__(self) -> int:
        return len(self._heaps)

    def first(self, kind: int) -> int:
        """Return the first machine on which a task of the kind fits."""
        return self._heaps[kind][0]

    def renew(self, cluster: ClusterState) -> None:
        """Take note of what has happened since the last dispatch."""
        heaps, members = self._heaps, self._members
        for kind in [kind for kind in heaps if not cluster.askers[kind] or kind in cluster.opened]:
            del heaps[kind], members[kind]
        # What has just been freed was looked at; machines that were there before may be full or lost by now.
        unsure = [*heaps, *cluster.opened]
        for kind, machines in self._full.chances(cluster).items():
            if kind not in heaps:
                machines.reverse()
                heaps[kind], members[kind] = machines, set(machines)
                continue
            for machine in machines:
                if machine not in members[kind]:
                    members[kind].add(machine)
                    heappush(heaps[kind], machine)
        self._prune(cluster, [kind for kind in unsure if kind in heaps])

    def filled(self, cluster: ClusterState, machine: int) -> list[int]:
        """Look at a machine again on which a task was started; return the kinds that now fit nowhere."""
        return self._prune(cluster, [kind for kind, heap in self._heaps.items() if heap[0] == machine])

    def _prune(self, cluster: ClusterState, kinds: Iterable[int]) -> list[int]:
        """Forget machines that are full and come first for a kind; return kinds that fit nowhere.

        Those behind the first of a kind are looked at when it is their turn.
        """
        free, full = cluster.free, []
        for kind in kinds:
            heap, need = self._heaps[kind], cluster.needs[kind]
            while heap and min(map(sub, free[heap[0]], need)) < 0:
                self._members[kind].discard(heappop(heap))
            if not heap:
                full.append(kind)
                del self._heaps[kind], self._members[kind]
        return full
