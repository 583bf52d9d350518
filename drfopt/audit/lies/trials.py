"""Lies found by trying: every resource of the report more or less, from the best report so far.

What is found is verified like any other lie; that nothing is found proves nothing, and the number of reports is told.
"""

from collections.abc import Iterator
from fractions import Fraction

from ..bounds import below
from ..cluster import Row
from ..scene import Scene
from .response import Response, worth

__all__ = ["best", "nearby"]

FACTORS = tuple(Fraction(p, q) for p, q in ((2, 1), (1, 2), (3, 2), (2, 3), (4, 1), (1, 4), (3, 1), (5, 4), (4, 5)))

ROUNDS = 3
"""Times the search starts again from the best report."""


def best(scene: Scene, i: int) -> Response:
    """Return the best response among the reports tried."""
    truth = scene.truth.tasks[i]
    report, value, trials, tied = None, truth, 0, False
    seen = {scene.cluster.demands[i]}
    for _ in range(ROUNDS):
        start = report or scene.cluster.demands[i]
        for row in nearby(scene, i, start):
            if row in seen:
                continue
            seen.add(row)
            trials += 1
            got, broken = worth(scene, i, row)
            if below(value, got) and below(truth, got) and (not broken or report is None or tied):
                report, value, tied = row, got, broken
        if report is None or report == start:
            break
    if report is None:
        return Response(None, None, decided=False, trials=trials)
    return Response(report, value, None, decided=False, trials=trials, tied=tied or scene.truth.tied)


def nearby(scene: Scene, i: int, report: Row) -> Iterator[Row]:
    """Yield reports that differ from one in one resource, in all but one, or in the size of the task."""
    cluster = scene.cluster
    size = max((r / c for r, c in zip(report, cluster.pool, strict=True) if c), default=Fraction(1))
    for j in range(cluster.m):
        for factor in FACTORS:
            # A resource she does not need is claimed in proportion to the largest share of her task.
            mine = report[j] if report[j] else size * cluster.pool[j] / 4
            if mine:
                yield (*report[:j], mine * factor, *report[j + 1 :])
    if cluster.m == 1 or scene.policy.measure == "tasks":
        return
    for factor in FACTORS[:4]:
        yield tuple(factor * r for r in report)
