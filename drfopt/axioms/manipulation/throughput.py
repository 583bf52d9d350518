"""The best lie against the largest number of tasks on one pool, exactly.

A user who claims that her task needs next to nothing is served first, whatever the others hold: claiming the fraction
e of her true demand makes her worth 1 / e of a task.  So the most she can get is what she runs alone, and there is a
lie exactly when the truth brings her less.
"""

from fractions import Fraction

from ..bounds import low
from ..case import Scene
from .misreport import Response, worth

__all__ = ["best"]

CLAIMS = tuple(Fraction(p, q) for p, q in ((3, 4), (2, 3), (1, 2), (1, 3), (1, 4), (1, 8), (1, 16), (1, 64), (1, 1024)))
"""Fractions of her task that are tried for the sentence; that some fraction pays is known before."""


def best(scene: Scene, i: int) -> Response:
    """Return user i's best response."""
    most = scene.limited(i, scene.per_task(i, scene.cluster.pool))
    truth = scene.truth.tasks[i]
    if low(most) <= low(truth):
        return Response(None, None, most)
    tied = None
    for claim in CLAIMS:
        report = tuple(claim * d for d in scene.cluster.demands[i])
        value, broken = worth(scene, i, report)
        if low(value) > low(truth):
            if not broken:
                return Response(report, value, most, tied=scene.truth.tied)
            tied = tied or Response(report, value, most, tied=True)
    return tied or Response(None, None, most, decided=False, trials=len(CLAIMS))
