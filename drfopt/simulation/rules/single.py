"""One resource only, CPU above all: it alone is divided fairly, and it alone is looked at when a task is placed.

The other resources may be given more than there is; the machine then slows down (`drfopt.simulation.pace`).

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 7.2, where the resource is the CPU.
"""

from ...base.errors import suggestion
from ..levels import whole_rates
from ..lowest_first import LowestFirst
from ..plan import Plan
from ..state import ClusterState

__all__ = ["Single", "build"]


class Single(LowestFirst):
    """Serve the lowest weighted share of one resource, and see no other."""

    oversubscribes = True

    def __init__(self, resource: str, when_full: str = "skip"):
        super().__init__(when_full)
        self.resource = resource
        self.name = f"single:{resource}"

    def prepare(self, plan: Plan) -> None:
        """Find the resource, which every task has to need."""
        resources = plan.scenario.resources
        if self.resource not in resources:
            raise self.refuse(
                f"divides {self.resource!r}, but the cluster has {', '.join(resources)}"
                f"{suggestion(self.resource, resources)}"
            )
        self._column = resources.index(self.resource)
        for user, jobs in zip(plan.scenario.users, plan.stages, strict=True):
            if any(not plan.kinds[kind].demand[self._column] for stages in jobs for kind in stages):
                raise self.refuse(f"cannot count tasks of user {user.name!r} that need no {self.resource}")

    def room(self, capacity: tuple[int, ...]) -> tuple[int, ...]:
        """Return what a machine has of the resource."""
        return (capacity[self._column],)

    def need(self, demand: tuple[int, ...]) -> tuple[int, ...]:
        """Return what a task needs of it."""
        return (demand[self._column],)

    def resized(self, cluster: ClusterState) -> None:
        """Measure shares of what is there now."""
        super().resized(cluster)
        self._rates = [row[self._column] for row in whole_rates(cluster)]

    def level(self, cluster: ClusterState, user: int, kind: int) -> int:
        """Return the share of the resource, in a unit common to all."""
        return cluster.used[user][self._column] * self._rates[user]

    def standing(self, cluster: ClusterState, user: int, used: list[int], running: int) -> int:
        """Return the share of the resource of who holds so much."""
        return used[self._column] * self._rates[user]


def build(argument: str = "") -> Single:
    """Return the rule ``single:RESOURCE``."""
    return Single(argument)
