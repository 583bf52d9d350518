"""Slots: every machine has K of them, a task takes one whatever it needs, and slots are divided fairly.

What Hadoop's fair scheduler did before it knew of resources.  Served is who runs the fewest tasks, divided by her
weight.  Where tasks are small a machine is left idle; where they are large it is given more than it has, and slows down
(`drfopt.simulation.pace`).  The scheduler does not see either.

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, sections 2 and 7.2.
"""

from ...base.errors import PolicyError
from ..levels import whole_weights
from ..lowest_first import LowestFirst
from ..state import ClusterState

__all__ = ["Slots", "build"]


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


def build(argument: str = "") -> Slots:
    """Return the rule ``slots:K``."""
    if not argument.isdecimal():
        raise PolicyError(f"the rule slots:K is given {argument!r} slots: write a whole number, such as slots:4")
    return Slots(int(argument))
