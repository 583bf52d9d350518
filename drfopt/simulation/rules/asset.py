"""Asset fairness task by task: served is whose shares of all resources, summed and divided by her weight, are lowest.

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 4.1.
"""

from operator import mul

from ..state import ClusterState
from .drf import Drf

__all__ = ["AssetFairness", "build"]


class AssetFairness(Drf):
    """Serve the lowest weighted sum of shares."""

    name = "asset"

    def level(self, cluster: ClusterState, user: int, kind: int) -> int:
        """Return the sum of shares, in a unit common to all."""
        return sum(map(mul, cluster.used[user], self._rates[user]))

    def standing(self, cluster: ClusterState, user: int, used: list[int], running: int) -> int:
        """Return the sum of shares of who holds so much."""
        return sum(map(mul, used, self._rates[user]))


def build(argument: str = "") -> AssetFairness:
    """Return the rule."""
    return AssetFairness()
