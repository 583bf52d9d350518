"""Times beside yardsticks, accuracy beside times, and failures as rows.

Every way gets an instance nobody has touched. The ways of a case take turns, so that what else the machine does hits
all of them; the shortest time counts. After a way's first answer the clock has stopped, and the answer is judged.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from drfopt.base.errors import DrfoptError
from drfopt.model.certificate import Certificate

__all__ = ["Absent", "Bench", "Case", "Failure", "ProcessorTime", "Row", "Verdict", "Way", "proven", "without"]


class Failure(Exception):
    """A way ended without an answer; the message says how."""


class Absent(Failure):
    """What the way needs is not here; the message says what."""


class ProcessorTime(float):
    """Seconds of processor time that a program of its own took: they count in the place of those on the clock."""


@dataclass(frozen=True)
class Verdict:
    """What an answer is worth, found out after the clock has stopped.

    Attributes
    ----------
    error : float or None
        Largest relative error against the reference of the case.
    proof : str
        ``valid``, ``invalid``, ``feasible`` or empty: what a certificate says of it.
    violation, gap : float or None
        Of the certificate.
    note : str
    memory : float or None
        The most that was allocated at a time beside the demands, relative to them.
    """

    error: float | None = None
    proof: str = ""
    violation: float | None = None
    gap: float | None = None
    note: str = ""
    memory: float | None = None


@dataclass(frozen=True)
class Way:
    """One way to an answer.

    Attributes
    ----------
    name : str
    role : str
        ``drfopt``, ``peer`` or ``yardstick``.
    run : callable from an instance to an answer
        What is timed.
    judge : callable from an instance and the answer to a `Verdict`
    largest : int or None
        The largest n at which it is run at all, and `why`.
    """

    name: str
    role: str
    run: Callable[[Any], Any]
    judge: Callable[[Any, Any], Verdict] = lambda instance, answer: Verdict()
    largest: int | None = None
    why: str = ""


@dataclass(frozen=True)
class Case:
    """One instance and the ways that are measured on it.

    Attributes
    ----------
    group, name : str
        The table it stands in, and its column there.
    n : int
        Users.
    build : callable
        Makes the instance anew.
    ways : tuple of Way
    reference : str
        What errors are measured against.
    yardstick : str
        What the ways of role ``yardstick`` do; ratios are to the fastest of those that ended.
    """

    group: str
    name: str
    n: int
    build: Callable[[], Any]
    ways: tuple[Way, ...]
    reference: str = ""
    yardstick: str = "one LP"


@dataclass(frozen=True)
class Row:
    """One measurement, a line of the CSV file; None is an empty cell."""

    question: str
    group: str
    case: str
    n: int
    way: str
    role: str
    seconds: float | None
    repetitions: int
    yardstick: str
    ratio: float | None
    sum_ratio: float | None
    reference: str
    error: float | None
    proof: str
    violation: float | None
    gap: float | None
    note: str
    memory: float | None = None


@dataclass(eq=False)
class Bench:
    """The clock and its rules.

    Attributes
    ----------
    limit : float
        Seconds a way may take. Who would surely take more, growing with n from a smaller size, is left out.
    budget : float
        Seconds after which a way is not repeated any more.
    most : int
        Repetitions at most.
    say : callable
        Told what is being measured.
    """

    limit: float = 60.0
    budget: float = 1.5
    most: int = 15
    say: Callable[[str], None] = lambda text: None
    _slowest: dict[tuple[str, str, str], tuple[int, float]] = field(default_factory=dict)

    def measure(self, question: str, case: Case) -> list[Row]:
        """Return a row for every way of the case."""
        times: dict[str, list[float]] = {way.name: [] for way in case.ways}
        verdicts: dict[str, Verdict] = {}
        for way in case.ways:
            self.say(f"{question}, {case.group}, {case.name}: {way.name}")
            verdicts[way.name] = self._first(question, case, way, times[way.name])
        again = [way for way in case.ways if times[way.name]]
        while again := [way for way in again if self._repeats(times[way.name])]:
            for way in again:
                times[way.name].append(self._timed(way, case.build())[0])
        return [self._row(question, case, way, times, verdicts[way.name]) for way in case.ways]

    def _first(self, question: str, case: Case, way: Way, times: list[float]) -> Verdict:
        if way.largest is not None and case.n > way.largest:
            return Verdict(note=f"left out above n = {way.largest:,}: {way.why}")
        known = self._slowest.get((question, case.group, way.name))
        if known and known[1] * case.n / known[0] > self.limit:
            took = f"it took {known[1]:.3g} s" if known[1] < math.inf else "it failed"
            return Verdict(note=f"left out: {took} at n = {known[0]:,}")
        instance = case.build()
        begun = time.perf_counter()
        try:
            seconds, answer = self._timed(way, instance)
        except Absent as error:
            return Verdict(note=str(error))
        except (DrfoptError, Failure) as error:
            seconds = time.perf_counter() - begun
            reached = math.inf if seconds > self.limit else seconds
            self._slowest[question, case.group, way.name] = (case.n, reached)
            return Verdict(note=f"failed after {seconds:.3g} s: {str(error).splitlines()[0]}")
        self._slowest[question, case.group, way.name] = (case.n, seconds)
        times.append(seconds)
        return way.judge(instance, answer)

    def _timed(self, way: Way, instance: Any) -> tuple[float, Any]:
        begun = time.perf_counter()
        answer = way.run(instance)
        return answer if isinstance(answer, ProcessorTime) else time.perf_counter() - begun, answer

    def _repeats(self, times: list[float]) -> bool:
        # A second time at least, unless the first was long: the first pays for imports and cold caches.
        return len(times) < self.most and (sum(times) < self.budget or (len(times) == 1 and times[0] < 2 * self.budget))

    def _row(self, question: str, case: Case, way: Way, times: dict[str, list[float]], verdict: Verdict) -> Row:
        own = min(times[way.name], default=None)
        sums = min(times.get("D.sum()", []), default=None)
        rulers = [
            min(times[other.name])
            for other in case.ways
            if other.role == "yardstick" and other.name != "D.sum()" and times[other.name]
        ]
        ruler = min(rulers, default=None)
        return Row(
            question=question,
            group=case.group,
            case=case.name,
            n=case.n,
            way=way.name,
            role=way.role,
            seconds=own,
            repetitions=len(times[way.name]),
            yardstick=case.yardstick if ruler else "",
            ratio=own / ruler if own and ruler else None,
            sum_ratio=own / sums if own and sums else None,
            reference=case.reference if verdict.error is not None else "",
            error=verdict.error,
            proof=verdict.proof,
            violation=verdict.violation,
            gap=verdict.gap,
            note=verdict.note,
            memory=verdict.memory,
        )


def proven(certificate: Certificate, error: float | None = None, note: str = "") -> Verdict:
    """Return the verdict of a certificate, with the error found beside it."""
    word = {True: "valid", False: "invalid", None: "feasible"}[certificate.valid]
    return Verdict(error, word, certificate.violation, certificate.gap, note)


def without(error: float | None, note: str = "") -> Verdict:
    """Return the verdict of an answer that no certificate speaks of."""
    return Verdict(error, note=note)
