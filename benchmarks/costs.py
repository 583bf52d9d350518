"""Questions about what surrounds an answer: whether it grows in proportion to the users."""

import json
import math
import time
from collections.abc import Callable
from typing import Any

from drfopt import explain
from drfopt.certificates.document import certificate_document
from drfopt.io.native import writing
from drfopt.model.allocation import Allocation
from drfopt.model.instance import Instance
from drfopt.planning.sweeping import sweep
from drfopt.solving.allocating import solve

from .families import family_named
from .measure import Bench, Case, Row, Verdict, Way

__all__ = ["WAYS", "exponent", "growth"]

ROWS = 10_000
"""Rows of a table that does not go to a terminal."""

WAYS: dict[str, Callable[[Allocation], Any]] = {
    "save": lambda found: writing.dumps(found.instance),
    "--certificate": lambda found: json.dumps(certificate_document(found)),
    "table": lambda found: found.sheet().text(rows=ROWS),
    "CSV": lambda found: found.sheet().csv(),
    "JSON": lambda found: json.dumps(found.to_dict()),
    "explain, JSON": lambda found: explain(found.instance).sheet().json(),
    "sweep of two": lambda found: sweep(found.instance, [1, 2], jobs=1),
}
"""What is made of an allocation. Its exact values are made anew: they are kept once they are there."""


def growth(bench: Bench, size: tuple[str, int]) -> list[Row]:
    """Measure what surrounds an answer for n users, beside the answer."""
    family, n = size

    def judge(way: Callable[[Allocation], Any]) -> Callable[[Any, Any], Verdict]:
        return lambda found, answer: Verdict(note=f"exponent {exponent(family, way, n):.2f} from a quarter as many")

    ways = (
        Way("solve", "yardstick", lambda found: solve(found.instance)),
        *(Way(name, "drfopt", way, judge(way)) for name, way in WAYS.items()),
    )
    case = Case(family, f"n = {n:,}", n, lambda: _solved(family, n), ways, yardstick="solve")
    return bench.measure("growth", case)


def exponent(family: str, way: Callable[[Allocation], Any], n: int, times: int = 3) -> float:
    """Return the power of n with which CPU seconds grow from a quarter of n users to n; the shortest times count."""
    small, large = (min(_cpu(family, way, size) for _ in range(times)) for size in (n // 4, n))
    return math.log(large / small, 4)


def _cpu(family: str, way: Callable[[Allocation], Any], n: int) -> float:
    found = _solved(family, n)
    begun = time.process_time()
    way(found)
    return time.process_time() - begun


def _solved(family: str, n: int) -> Allocation:
    instance: Instance = family_named(family).build(n)
    return solve(instance)
