"""How fast a machine is that was given more than it has.

The model is an assumption, and a small one.  With a load of q_j of resource j (what all tasks on the machine demand,
divided by what it has) every task on it runs at the speed

    prod_j  max(1, q_j) ** -e_j

An exponent e_j of 0 means that exceeding a resource costs nothing; of 1, that tasks take turns and lose nothing by it;
above 1, that the machine thrashes.  Nothing is slowed down as long as everything fits.  Exponents are 1 unless given:
what follows from other values is for whoever uses the model to sweep (see `drfopt.simulation.section7.region`).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..base.errors import InstanceError, suggestion
from ..base.numbers.reals import is_real
from .plan import Plan, StartedLot
from .state import ClusterState

__all__ = ["Pace", "Slowdown"]

TURNS = 1.0
"""The exponent by which tasks that share a resource take turns and lose nothing."""


@dataclass(frozen=True)
class Slowdown:
    """Exponents e_j by resource: how much a machine slows down when a resource is oversubscribed; 1 if not given."""

    exponents: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.exponents, Mapping):
            raise InstanceError(
                f"a slowdown has {self.exponents!r}: give exponents by resource, such as {{'memory': 4}}"
            )
        for resource, value in self.exponents.items():
            if not is_real(value) or not 0 <= value < math.inf:
                raise InstanceError(f"slowdown of {resource!r} is {value!r}: write an exponent, 0 or more")

    def of(self, resources: tuple[str, ...]) -> list[float]:
        """Return the exponents in the order of the resources.

        Raises
        ------
        InstanceError
            When one is given for a resource that the cluster does not have.
        """
        for resource in self.exponents:
            if resource not in resources:
                raise InstanceError(
                    f"a slowdown is given for {resource!r}, but the cluster has {', '.join(resources)}"
                    f"{suggestion(str(resource), resources)}"
                )
        return [float(self.exponents.get(resource, TURNS)) for resource in resources]


class Pace:
    """The speed of every machine, and the ends of batches as they follow from it.

    Attributes
    ----------
    speed : list of float (machines,)
    """

    def __init__(self, plan: Plan, slowdown: Slowdown):
        self._exponents = slowdown.of(plan.scenario.resources)
        self._plan = plan
        self.speed = [1.0] * len(plan.classes)

    def settle(self, cluster: ClusterState, fresh: list[StartedLot]) -> None:
        """Work out the speeds of the machines on which something began or ended, and foresee the ends anew."""
        now = cluster.now
        new = {batch.number for batch in fresh}
        for machine in sorted(cluster.freed.union(batch.machine for batch in fresh)):
            speed, before = self._speed(cluster, machine), self.speed[machine]
            self.speed[machine] = speed
            for batch in cluster.on[machine].values():
                if batch.number not in new:
                    if speed == before:
                        continue
                    batch.left = max(0.0, batch.left - (now - batch.since) * before)
                    batch.since = now
                batch.end = now + batch.left / speed if speed else math.inf
                if batch.end < math.inf:
                    cluster.foresee(batch.end, "ends", batch)

    def _speed(self, cluster: ClusterState, machine: int) -> float:
        capacity = self._plan.capacities[self._plan.classes[machine]]
        load = [0] * len(capacity)
        for batch in cluster.on[machine].values():
            demand = self._plan.kinds[batch.lot.kind].demand
            load = [total + batch.count * amount for total, amount in zip(load, demand, strict=True)]
        speed = 1.0
        for total, room, exponent in zip(load, capacity, self._exponents, strict=True):
            if total > room:
                speed *= (room / total) ** exponent
        return speed
