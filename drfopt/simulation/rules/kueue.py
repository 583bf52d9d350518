"""Kueue with fair sharing: the tree of cohorts holds a tournament for the task whose admission raises shares least.

Groups of the scenario are cohorts, users cluster queues whose nominal quota is their guarantee; what is guaranteed to
nobody is the root cohort's own.  In each cohort the children's candidates are compared by the share that the child
would have with the candidate admitted (`drfopt.simulation.schedulers.kueue`; rounded up to thousandths, so that ties
are frequent), then by tier, then by who came first.  A task is admitted when it fits on a machine.

Source: Kueue, pkg/scheduler/fair_sharing_iterator.go.
"""

from collections.abc import Mapping
from fractions import Fraction

from ..cluster import Cluster
from ..guarantees import whole_guarantees
from ..schedulers.amounts import Amounts, added
from ..schedulers.kueue import Node, Tree
from ..turns import Turns

__all__ = ["Kueue", "build"]

ROOT = ""


class Kueue(Turns):
    """Admit the winner of the tournament."""

    name = "kueue"

    def begin(self, cluster: Cluster) -> None:
        """Build the tree of cohorts."""
        scenario = cluster.plan.scenario
        self._names = scenario.resources
        self._queues = [f"{user.group}/#{i}" if user.group else f"#{i}" for i, user in enumerate(scenario.users)]
        self._quotas = [dict(zip(self._names, row, strict=True)) for row in whole_guarantees(cluster.plan)]
        self._nodes = {ROOT: Node()}
        for path, user, quota in zip(self._queues, scenario.users, self._quotas, strict=True):
            steps = path.split("/")
            for k in range(1, len(steps)):
                group, above = "/".join(steps[:k]), "/".join(steps[: k - 1])
                self._nodes.setdefault(group, Node(above, weight=Fraction(scenario.groups.get(group, 1))))
            self._nodes[path] = Node("/".join(steps[:-1]), quota, Fraction(user.weight))
        # A cohort's candidate is known before the cohort above asks for it.
        self._deepest_first = sorted(self._nodes, key=lambda name: -name.count("/") if name else 1)
        self.resized(cluster)

    def resized(self, cluster: Cluster) -> None:
        """Give the root what is guaranteed to nobody, of what is there now."""
        promised = added(*self._quotas)
        totals = zip(self._names, cluster.totals, strict=True)
        self._nodes[ROOT] = Node(None, {name: max(0, total - promised[name]) for name, total in totals})
        self._tree = Tree(self._nodes)

    def turn(self, cluster: Cluster, asking: Mapping[int, int]) -> int | None:
        """Return the winner at the root."""
        held = {path: self._amounts(row) for path, row in zip(self._queues, cluster.used, strict=True)}
        used = self._tree.used(held)
        winners: dict[str, dict[str, int]] = {name: {} for name in self._nodes}
        shares = {}
        for user, kind in asking.items():
            path = self._queues[user]
            shares[user] = self._tree.after(path, self._amounts(cluster.plan.kinds[kind].demand), used)
            winners[path][path] = user
        for name in self._deepest_first:
            above = self._nodes[name].parent
            if winners[name] and above is not None:
                winners[above][name] = self._best(cluster, winners[name], shares, asking)
        return self._best(cluster, winners[ROOT], shares, asking)

    def _best(self, cluster: Cluster, candidates: Mapping[str, int], shares: Mapping, asking: Mapping[int, int]) -> int:
        """Return the candidate with the lowest share of the child that nominates it."""
        users = cluster.plan.scenario.users

        def rank(child: str) -> tuple:
            user = candidates[child]
            first = cluster.queues[user][asking[user]][0].number
            return shares[user][child].value, -users[user].tier, first, user

        return candidates[min(candidates, key=rank)]

    def _amounts(self, row: list[int] | tuple[int, ...]) -> Amounts:
        return dict(zip(self._names, row, strict=True))


def build(argument: str = "") -> Kueue:
    """Return the rule."""
    return Kueue()
