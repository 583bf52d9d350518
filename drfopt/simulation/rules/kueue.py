"""Kueue with fair sharing: the tree of cohorts holds a tournament for the task whose admission raises shares least.

Groups of the scenario are cohorts, users cluster queues whose nominal quota is their guarantee; what is guaranteed to
nobody is the root cohort's own.  In each cohort the children's candidates are compared by the share that the child
would have with the candidate admitted (`drfopt.simulation.schedulers.kueue`; rounded up to thousandths, so that ties
are frequent), then by tier, then by who came first.  A task is admitted when it fits on a machine.

Source: Kueue, pkg/scheduler/fair_sharing_iterator.go.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from operator import sub

from ..guarantees import whole_guarantees
from ..schedulers.amounts import Amounts, added
from ..schedulers.kueue import CohortNode, CohortTree
from ..state import ClusterState
from ..turns import Turns

__all__ = ["Kueue", "build"]

ROOT = ""


class Kueue(Turns):
    """Admit the winner of the tournament."""

    name = "kueue"

    def begin(self, cluster: ClusterState) -> None:
        """Build the tree of cohorts."""
        super().begin(cluster)
        scenario = cluster.plan.scenario
        self._names = scenario.resources
        self._queues = [f"{user.group}/#{i}" if user.group else f"#{i}" for i, user in enumerate(scenario.users)]
        self._quotas = [dict(zip(self._names, row, strict=True)) for row in whole_guarantees(cluster.plan)]
        self._nodes = {ROOT: CohortNode()}
        for path, user, quota in zip(self._queues, scenario.users, self._quotas, strict=True):
            steps = path.split("/")
            for k in range(1, len(steps)):
                group, above = "/".join(steps[:k]), "/".join(steps[: k - 1])
                self._nodes.setdefault(group, CohortNode(above, weight=Fraction(scenario.groups.get(group, 1))))
            self._nodes[path] = CohortNode("/".join(steps[:-1]), quota, Fraction(user.weight))
        self._paths = [path.split("/") for path in self._queues]
        self._held = cluster.used[:]
        self.resized(cluster)

    def resized(self, cluster: ClusterState) -> None:
        """Give the root what is guaranteed to nobody, of what is there now."""
        promised = added(*self._quotas)
        totals = zip(self._names, cluster.totals, strict=True)
        self._nodes[ROOT] = CohortNode(None, {name: max(0, total - promised[name]) for name, total in totals})
        self._tree = CohortTree(self._nodes)
        held = {path: self._amounts(row) for path, row in zip(self._queues, self._held, strict=True)}
        self._used = self._tree.used(held)
        self._shares: dict[str, dict[int, int]] = {name: {} for name in self._nodes}

    def changed(self, cluster: ClusterState, users: Iterable[int]) -> None:
        """Count what users hold, and what their cohorts do: no node keeps anything to itself."""
        for user in users:
            if (held := cluster.used[user]) is not self._held[user]:
                more = self._amounts(list(map(sub, held, self._held[user])))
                self._held[user] = held
                for name in self._tree.upwards(self._queues[user]):
                    self._used[name] = added(self._used[name], more)
                    self._shares[name].clear()

    def turn(self, cluster: ClusterState, asking: Mapping[int, int]) -> int | None:
        """Return the winner at the root: in each cohort the candidate with the lowest share of who nominates it."""
        users, nodes = cluster.plan.scenario.users, self._nodes
        # By depth, so that a cohort's candidate is known before the cohort above asks for it.
        levels: dict[int, list[tuple[str, int]]] = {}
        for user in asking:
            levels.setdefault(len(self._paths[user]), []).append((self._queues[user], user))
        winner = None
        for depth in range(max(levels), 0, -1):
            best: dict[str | None, tuple] = {}
            for name, user in levels.get(depth, ()):
                kind = asking[user]
                share = self._share(cluster, name, kind)
                rank = share, -users[user].tier, cluster.queues[user][kind][0].number, user
                above = nodes[name].parent
                if above not in best or rank < best[above]:
                    best[above] = rank
            winners = [(str(above), rank[-1]) for above, rank in best.items()]
            levels.setdefault(depth - 1, []).extend(winners)
            winner = winners[0][1]
        return winner

    def _share(self, cluster: ClusterState, name: str, kind: int) -> int:
        """Return the share that a node would have with another task of the kind."""
        known = self._shares[name]
        if kind not in known:
            grown = added(self._used[name], self._amounts(cluster.demands[kind]))
            known[kind] = self._tree.share(name, grown).value
        return known[kind]

    def _amounts(self, row: Sequence[int]) -> Amounts:
        return dict(zip(self._names, row, strict=True))


def build(argument: str = "") -> Kueue:
    """Return the rule."""
    return Kueue()
