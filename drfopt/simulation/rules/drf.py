"""DRF task by task: Algorithm 1, served is whose dominant share, divided by her weight, is lowest.

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, Algorithm 1; weights as in its section 4.3.
"""

from operator import mul

from ..levels import whole_rates
from ..lowest_first import LowestFirst
from ..state import ClusterState

__all__ = ["Drf", "build"]


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


def build(argument: str = "") -> Drf:
    """Return the rule."""
    return Drf()
