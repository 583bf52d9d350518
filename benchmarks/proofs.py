"""Questions about exact answers: what fractions cost beside floats, and a certificate file beside both."""

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from drfopt.base.numbers.enclosures import Enclosure
from drfopt.certificates.document import certificate_document
from drfopt.certificates.verifier import Report, loads, verify
from drfopt.io.readers.asking import read
from drfopt.model.allocation import Allocation
from drfopt.model.document import document
from drfopt.model.instance import Instance
from drfopt.solving.allocating import solve

from .clusters import FILES, Shape, data_folder
from .families import family_named
from .measure import Absent, Bench, Case, Row, Verdict, Way, proven
from .reference import attempt, off

__all__ = ["Proof", "exact"]


READ = 200
"""Users up to which files are verified in which every number grows with the number of users."""


@dataclass(frozen=True)
class Proof:
    """A family of pools, a shape of cluster, or the trace; the policy, and the users."""

    family: str
    n: int
    policy: str = "drf"
    shape: Shape | None = None

    def build(self) -> Instance:
        """Make the instance."""
        if self.shape is not None:
            return self.shape.build()
        if self.family == "openb":
            return read("openb", [data_folder() / "openb" / name for name in FILES]).instance
        if self.family == "long decimals":
            return _long_decimals(self.n)
        return family_named(self.family).build(self.n)


def _long_decimals(n: int) -> Instance:
    """Return demands of sixteen digits: no two share a denominator, and an answer has some forty bits a user."""
    chance = random.Random(n)
    return Instance([[chance.random() for _ in range(8)] for _ in range(n)], [n / 2] * 8)


def exact(bench: Bench, size: Proof) -> list[Row]:
    """Measure an exact answer, its file and the verifier, beside the same in floats."""
    if size.family == "openb" and not (data_folder() / "openb").is_dir():
        return bench.measure("proofs", Case("openb", size.policy, size.n, lambda: None, (_missing(),)))
    limit = bench.limit
    floats = attempt(lambda: solve(size.build(), size.policy, time_limit=limit))
    found = attempt(lambda: solve(size.build(), size.policy, exact=True, time_limit=limit))
    text = json.dumps(certificate_document(found)) if found is not None else ""
    levels = None if floats is None else floats.levels
    long = size.policy == "asset" or size.family == "long decimals"
    most = (READ, "its file has megabytes of digits, and Python reads long integers in quadratic time") if long else ()

    def judge(instance: Instance, allocation: Allocation) -> Verdict:
        bits = max((_bits(x) for x in allocation.tasks), default=0)
        enclosed = sum(isinstance(x, Enclosure) for x in allocation.tasks)
        note = f"numbers of {bits} bits, a file of {len(text) / 1e6:.2g} MB"
        note += f", {enclosed} of {allocation.instance.n} users enclosed" if enclosed else ""
        error = None if levels is None else off(allocation.levels.astype(float), levels)
        return proven(allocation.certificate, error, note)

    ways = (
        Way("floats", "yardstick", _solved(size.policy, limit), lambda i, a: proven(a.certificate)),
        Way("drfopt exact", "drfopt", _solved(size.policy, limit, exact=True), judge),
        Way("drfopt verify", "drfopt", lambda instance: verify(loads(text), document(instance)), _read, *most),
    )
    name = f"{size.policy}, " + (f"{size.shape.n} x {size.shape.k}" if size.shape else f"n = {size.n:,}")
    name += ", limits" if size.shape is not None and size.shape.limited else ""
    case = Case(size.family, name, size.n, size.build, ways, "the same in floats", yardstick="floats")
    return bench.measure("proofs", case)


def _solved(policy: str, limit: float, exact: bool = False) -> Callable[[Instance], Allocation]:
    return lambda instance: solve(instance, policy, exact=exact, time_limit=limit)


def _read(instance: Instance, report: Report) -> Verdict:
    word = {True: "valid", False: "invalid", None: "feasible"}[report.valid]
    return Verdict(None, word, 0.0 if report.valid else None, None, f"{len(report.checks)} checks, exactly")


def _bits(value: Any) -> int:
    ends = (value.lower, value.upper) if isinstance(value, Enclosure) else (value,)
    return max(end.numerator.bit_length() for end in ends)


def _missing() -> Way:
    def run(instance: Instance) -> None:
        raise Absent("the trace is not here: set DRFOPT_DATA")

    return Way("drfopt exact", "drfopt", run)
