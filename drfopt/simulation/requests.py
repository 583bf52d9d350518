"""What users ask for: what runs and what waits."""

from .cluster import Cluster

__all__ = ["requests"]


def requests(cluster: Cluster) -> list[list[int]]:
    """Return n rows of m, in the plan's units; of a user with tasks without end no more than there is."""
    asked = []
    for used, queue in zip(cluster.used, cluster.queues, strict=True):
        row = list(used)
        for lot in (lot for line in queue.values() for lot in line):
            demand = cluster.plan.kinds[lot.kind].demand
            for j, need in enumerate(demand):
                row[j] += need * lot.waiting if not lot.endless else cluster.totals[j] * bool(need)
        asked.append([min(amount, total) for amount, total in zip(row, cluster.totals, strict=True)])
    return asked
