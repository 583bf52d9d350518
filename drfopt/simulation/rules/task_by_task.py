"""DRF task by task: Algorithm 1, served is whose dominant share, divided by her weight, is lowest.

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, Algorithm 1; weights as in its section 4.3.

DRF as Algorithm 1 is printed: whoever is lowest is served next, and nobody before her, though others' tasks may fit.

Machines are left idle until there is room for her.  Where she is passed over instead (the rule ``drf``) small tasks
take every gap before it can grow large enough for hers, and she stays below her share as long as there are any.

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, Algorithm 1.

Asset fairness task by task: served is whose shares of all resources, summed and divided by her weight, are lowest.

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 4.1.

SequentialMinMax: served is whose dominant share *after* her next task, divided by her weight, will be lowest.

Source: Parkes, Procaccia and Shah, Beyond Dominant Resource Fairness, EC 2012, section 5.

First in, first out: served is whose waiting job came first; nobody's share is looked at.

What an unconfigured Hadoop did, and what fair sharing was invented against (Zaharia et al., Job Scheduling for
Multi-User MapReduce Clusters, UC Berkeley, 2009).

Slots: every machine has K of them, a task takes one whatever it needs, and slots are divided fairly.

What Hadoop's fair scheduler did before it knew of resources.  Served is who runs the fewest tasks, divided by her
weight.  Where tasks are small a machine is left idle; where they are large it is given more than it has, and slows down
(`drfopt.simulation.pace`).  The scheduler does not see either.

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, sections 2 and 7.2.

One resource only, CPU above all: it alone is divided fairly, and it alone is looked at when a task is placed.

The other resources may be given more than there is; the machine then slows down (`drfopt.simulation.pace`).

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 7.2, where the resource is the CPU.
"""

from operator import add, mul

from ...base.errors import PolicyError, suggestion
from ...base.numbers.quantities import only_digits
from ..levels import whole_rates, whole_weights
from ..plan import Plan
from ..state import ClusterState
from ..turns import LowestFirst

__all__ = ["AssetFairness", "Drf", "Fifo", "SequentialMinMax", "Single", "Slots", "single", "slots"]


class Drf(LowestFirst):
    """Serve the lowest weighted dominant share."""

    name = "drf"

    def resized(self, cluster: ClusterState) -> None:
        """Measure shares of what is there now."""
        super().resized(cluster)
        self._rates = whole_rates(cluster)

    def level(self, cluster: ClusterState, user: int, kind: int) -> int:
        """Return the dominant share, in a unit common to all."""
        return max(map(mul, cluster.used[user], self._rates[user]))

    def standing(self, cluster: ClusterState, user: int, used: list[int], running: int) -> int:
        """Return the dominant share of who holds so much."""
        return max(map(mul, used, self._rates[user]))


class DrfStop(Drf):
    """Serve the lowest weighted dominant share, and nobody before."""

    name = "drf-stop"

    def __init__(self) -> None:
        super().__init__("stop")


class AssetFairness(Drf):
    """Serve the lowest weighted sum of shares."""

    name = "asset"

    def level(self, cluster: ClusterState, user: int, kind: int) -> int:
        """Return the sum of shares, in a unit common to all."""
        return sum(map(mul, cluster.used[user], self._rates[user]))

    def standing(self, cluster: ClusterState, user: int, used: list[int], running: int) -> int:
        """Return the sum of shares of who holds so much."""
        return sum(map(mul, used, self._rates[user]))


class SequentialMinMax(Drf):
    """Serve whose weighted dominant share will be lowest."""

    name = "sequential-min-max"

    def level(self, cluster: ClusterState, user: int, kind: int) -> int:
        """Return the dominant share after a task of that kind, in a unit common to all."""
        after = map(add, cluster.used[user], cluster.demands[kind])
        return max(map(mul, after, self._rates[user]))


class Fifo(LowestFirst):
    """Serve the job that came first, of those that have tasks waiting which fit."""

    name = "fifo"
    by_job = True
    revokes = False

    def level(self, cluster: ClusterState, user: int, kind: int) -> tuple[float, int, int, int]:
        """Return the place of the user's first job with tasks of that kind waiting, by when it came."""
        place: tuple[float, int, int, int] = cluster.queues[user][kind][0].job.place
        return place


class Slots(LowestFirst):
    """Serve who runs the fewest tasks, in slots of which every machine has `count`."""

    oversubscribes = True

    def __init__(self, count: int, when_full: str = "skip"):
        super().__init__(when_full)
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise PolicyError(f"slots are {count!r} a machine: write a whole number, 1 or more")
        self.count = count
        self.name = f"slots:{count}"

    def room(self, capacity: tuple[int, ...]) -> tuple[int, ...]:
        """Return the slots of a machine."""
        return (self.count,)

    def need(self, demand: tuple[int, ...]) -> tuple[int, ...]:
        """Return the slot that a task takes."""
        return (1,)

    def begin(self, cluster: ClusterState) -> None:
        """Forget the run before."""
        super().begin(cluster)
        self._weights = whole_weights(cluster.plan.weights)

    def level(self, cluster: ClusterState, user: int, kind: int) -> int:
        """Return the tasks that run, divided by the weight, in a unit common to all."""
        return cluster.running[user] * self._weights[user]

    def standing(self, cluster: ClusterState, user: int, used: list[int], running: int) -> int:
        """Return so many tasks, divided by the weight."""
        return running * self._weights[user]


def slots(argument: str = "") -> Slots:
    """Return the rule ``slots:K``."""
    if not only_digits(argument):
        raise PolicyError(f"the rule slots:K is given {argument!r} slots: write a whole number, such as slots:4")
    return Slots(int(argument))


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


def single(argument: str = "") -> Single:
    """Return the rule ``single:RESOURCE``."""
    return Single(argument)
