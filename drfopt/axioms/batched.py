"""Markets of many clusters at once, in floats with their certificates: enough where nobody's tasks come near a bound.

An exact market of three resources takes a hundred times as long as one of a batch.  A search asks for thousands, and in
most of them a comparison is decided by the error that a certificate allows; only where it is not, the market is
computed exactly.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from ..base.errors import DrfoptError
from ..base.tolerances import LEVEL_CEEI
from ..model.policies import Policy
from ..solving.batches.batch import solve_many
from .bounds import around
from .economy import Economy
from .outcomes import Outcome

__all__ = ["pays", "rough"]


def pays(cluster: Economy, policy: Policy) -> bool:
    """Say whether the exact outcome takes so long that a rough one is worth having: markets that are no single line."""
    pool = cluster.machines is None and not cluster.weighted_per_resource
    return pool and policy.name == "ceei" and (cluster.m > 2 or any(limit is not None for limit in cluster.limits))


def rough(clusters: Iterable[Economy], policy: Policy) -> Mapping[Economy, Outcome]:
    """Return the outcomes of those clusters that a batch can take, enclosed in the error of their certificates."""
    shapes: dict[tuple[int, int], list[Economy]] = {}
    for cluster in dict.fromkeys(clusters):
        if cluster.n and all(cluster.pool):
            shapes.setdefault((cluster.n, cluster.m), []).append(cluster)
    found: dict[Economy, Outcome] = {}
    for alike in shapes.values():
        limits = [[np.inf if limit is None else float(limit) for limit in c.limits] for c in alike]
        try:
            solved = solve_many(
                np.array([c.demands for c in alike], dtype=float),
                np.array([c.pool for c in alike], dtype=float),
                policy,
                weights=np.array([c.weights for c in alike], dtype=float),
                limits=np.array(limits),
            )
        except DrfoptError:
            # One that no batch takes: all of them are computed exactly then.
            continue
        for cluster, row in zip(alike, solved.tasks.tolist(), strict=True):
            found[cluster] = Outcome(tuple(around(x, LEVEL_CEEI) for x in row), computed=True)
    return found
