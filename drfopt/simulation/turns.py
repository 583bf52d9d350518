"""Serve whose turn it is, where a task of one user changes the place of others, or not everybody may be served.

`drfopt.simulation.lowest_first` is faster and needs a level for each user that only her own tasks change.  Here the
rule is asked again after every task.  A task goes to the first machine, in the order of the scenario, on which it fits.
"""

from collections.abc import Mapping

from .cluster import Cluster
from .rule import Rule

__all__ = ["Turns"]


class Turns(Rule):
    """A rule that says whose turn it is.

    Attributes
    ----------
    everywhere : bool
        Whether to look at every machine at every moment: needed where a task that fits may be kept waiting, since
        otherwise only what became free, and kinds of tasks that are new, need be looked at.
    """

    everywhere = False

    def turn(self, cluster: Cluster, asking: Mapping[int, int]) -> int | None:
        """Return the user to be served next, None for nobody.

        Parameters
        ----------
        cluster : Cluster
        asking : the users who have a waiting task that fits somewhere, in their order, and its kind
        """
        raise NotImplementedError

    def dispatch(self, cluster: Cluster) -> None:
        """Serve one after the other, as long as somebody can be served."""
        chances = self._chances(cluster)
        asking = {user: kind for user in range(cluster.n) if (kind := _next(cluster, user, chances)) >= 0}
        while asking and (user := self.turn(cluster, asking)) is not None:
            kind = asking[user]
            cluster.start(user, kind, chances[kind][-1])
            full = _pruned(cluster, chances)
            for other in [user, *(other for other, needs in asking.items() if needs in full)]:
                if (again := _next(cluster, other, chances)) >= 0:
                    asking[other] = again
                else:
                    asking.pop(other, None)

    def _chances(self, cluster: Cluster) -> dict[int, list[int]]:
        """Return the machines on which each kind of waiting task may fit, the first one last, and fits."""
        freed = sorted(cluster.freed, reverse=True)
        chances = {}
        for kind, askers in enumerate(cluster.askers):
            if askers and cluster.able[kind]:
                new = self.everywhere or kind in cluster.opened
                chances[kind] = cluster.able[kind][::-1] if new else [k for k in freed if cluster.fits(kind, k)]
        _pruned(cluster, chances)
        return chances


def _pruned(cluster: Cluster, chances: dict[int, list[int]]) -> set[int]:
    """Drop machines on which a kind does not fit, up to one on which it does; return the kinds that fit nowhere."""
    for kind, machines in chances.items():
        while machines and not cluster.fits(kind, machines[-1]):
            machines.pop()
    full = {kind for kind, machines in chances.items() if not machines}
    for kind in full:
        del chances[kind]
    return full


def _next(cluster: Cluster, user: int, chances: Mapping[int, list[int]]) -> int:
    """Return the kind of the user's next task that fits, of several the one that came first; -1 for none."""
    queue = cluster.queues[user]
    return min((kind for kind in queue if kind in chances), key=lambda kind: queue[kind][0].number, default=-1)
