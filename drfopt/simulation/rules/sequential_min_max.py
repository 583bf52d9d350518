"""SequentialMinMax: served is whose dominant share *after* her next task, divided by her weight, will be lowest.

Source: Parkes, Procaccia and Shah, Beyond Dominant Resource Fairness, EC 2012, section 5.
"""

from operator import add, mul

from ..state import ClusterState
from .drf import Drf

__all__ = ["SequentialMinMax", "build"]


class SequentialMinMax(Drf):
    """Serve whose weighted dominant share will be lowest."""

    name = "sequential-min-max"

    def level(self, cluster: ClusterState, user: int, kind: int) -> int:
        """Return the dominant share after a task of that kind, in a unit common to all."""
        after = map(add, cluster.used[user], cluster.demands[kind])
        return max(map(mul, after, self._rates[user]))


def build(argument: str = "") -> SequentialMinMax:
    """Return the rule."""
    return SequentialMinMax()
