"""Every way to compute an allocation, side by side: engines, the reference, and slow methods.

Two engines of a market (``barrier`` and ``conic``) find the optimum by different algorithms from rows of their own and
share only the last Newton steps, after which the conic statement's rows are asked again.

A formulation file can be asked beside them.  What it says is a solver's own answer, good to that solver's tolerance,
and is held to `STATED` instead of the accuracy that proven answers are held to.

Agreement counts only between two independent computations; an instance that only one way can take is reported as
undecided, for an engine always agrees with itself.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..deadline import Deadline
from ..engines import Problem, engines_for
from ..errors import DrfoptError, SolverError
from ..instance import FEATURES, Instance
from ..policies import Policy, policy_named
from ..progress import report
from ..solve import solve
from ..tables import Column, Sheet
from ..tolerances import GAP, LEVEL, LEVEL_CEEI
from . import opinions

__all__ = ["CrossCheck", "Opinion", "crosscheck"]

STATED = {"leximin": 1e-6, "alpha": 2e-3, "sum": 1e-6}
"""Largest relative difference of a formulation's answer that its solver accounts for: linear programs hold rows to
1e-7, and a conic solver's tasks are good to about 1e-4."""


@dataclass(frozen=True, eq=False)
class Opinion:
    """What one way of computing says.

    Attributes
    ----------
    engine : str
    levels : array (n,) or None
        Levels of all users, sorted; None when it failed, or was not made for this instance.
    value : float or None
        What is compared where optima are not unique: the objective recomputed from the tasks.
    seconds : float
    reason : str
        Why there are no levels.
    """

    engine: str
    levels: np.ndarray | None
    value: Any
    seconds: float
    reason: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return a row of ``drfopt crosscheck --json``."""
        levels = None if self.levels is None else [float(level) for level in self.levels]
        row: dict[str, Any] = {"engine": self.engine, "levels": levels, "seconds": self.seconds}
        return row | ({"reason": self.reason} if self.reason else {})


@dataclass(frozen=True, eq=False)
class CrossCheck:
    """All opinions on one instance and policy.

    Attributes
    ----------
    agree : bool or None
        None with fewer than two opinions.
    max_disagreement : float or None
        Largest relative difference: of sorted levels for leximin and the strictly concave policies, of the objective
        where optima are not unique.
    opinions : tuple of Opinion
    """

    instance: Instance
    policy: str
    integer: bool
    agree: bool | None
    max_disagreement: float | None
    opinions: tuple[Opinion, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``drfopt crosscheck --json`` prints."""
        return {
            "agree": self.agree,
            "max_disagreement": self.max_disagreement,
            "engines": [opinion.to_dict() for opinion in self.opinions],
        }

    def sheet(self) -> Sheet:
        """Return the table: a row an opinion."""
        rows = []
        # Who is unplaced has level 0 and is not compared.
        unplaced = int(self.instance.unplaced(self.integer).sum())
        for opinion in self.opinions:
            levels = np.zeros(0) if opinion.levels is None else np.sort(opinion.levels)[unplaced:]
            shown = (f"{levels[0]:.9g}", f"{levels.sum():.12g}") if levels.size else ("", "")
            rows.append((opinion.engine, *shown, f"{opinion.seconds:.3g}", opinion.reason))
        columns = (
            Column("computed by"),
            Column("lowest level", number=True),
            Column("sum of levels", number=True),
            Column("seconds", number=True),
            Column(""),
        )
        verdict = {
            True: f"they agree: largest relative difference {self.max_disagreement or 0:.1e}",
            False: f"THEY DISAGREE: largest relative difference {self.max_disagreement or 0:.1e}",
            None: "undecided: fewer than two independent computations can take this instance",
        }[self.agree]
        kind = "whole tasks" if self.integer else "divisible tasks"
        title = f"{self.policy}, {kind}, {self.instance.n} users"
        return Sheet(title, columns, rows, (verdict,), document=self.to_dict)

    def __str__(self) -> str:
        return self.sheet().text()

    def _repr_html_(self) -> str:
        return self.sheet().html()


def crosscheck(
    instance: Instance,
    policy: str | Policy = "drf",
    *,
    integer: bool = False,
    time_limit: float | None = None,
    formulation: str | None = None,
) -> CrossCheck:
    """Compute the allocation in every way that can take the instance, and compare.

    Parameters
    ----------
    instance : Instance
    policy : str or Policy
    integer : bool
        Whole tasks.
    time_limit : float, optional
        Seconds for each computation that takes a limit.
    formulation : str, optional
        Path of a formulation file that states the same policy; its code is run.
    """
    chosen = policy_named(policy)
    chosen.check(instance, integer, FEATURES)
    problem = Problem(instance, chosen, integer)
    found: list[Opinion] = []
    for engine in engines_for(problem):
        if engine.heuristic:
            continue
        found.append(_timed(engine.name, partial(_solved, problem, engine.name, time_limit)))
    for second in opinions.SECONDS:
        if second.takes(problem):
            limited = Problem(instance, chosen, integer, Deadline.after(time_limit))
            found.append(_timed(second.name, partial(second.compute, limited)))
    given = [opinion for opinion in found if opinion.levels is not None]
    stated = None if formulation is None else _timed(formulation, partial(_stated, problem, formulation, time_limit))
    same = True
    if stated is not None:
        if stated.levels is not None and given:
            off = _difference(given[0], stated)
            allowed = 0.0 if integer else STATED[chosen.objective]
            same = off <= allowed
            stated = replace(stated, reason=f"off by {off:.1e}, of {allowed:.0e} that its solver may be")
        found.append(stated)
    if len(given) + (stated is not None and stated.levels is not None) < 2:
        return CrossCheck(instance, chosen.name, integer, None, None, tuple(found))
    difference = max((_difference(given[0], other) for other in given[1:]), default=0.0)
    agree = same and difference <= _tolerance(problem)
    return CrossCheck(instance, chosen.name, integer, agree, difference, tuple(found))


def _stated(problem: Problem, file: str, time_limit: float | None) -> opinions.Found:
    allocation = solve(problem.instance, file, integer=problem.integer, time_limit=time_limit)
    return opinions.found(problem, problem.policy.rates(problem.instance) * allocation.tasks, allocation.tasks)


def _solved(problem: Problem, engine: str, time_limit: float | None) -> opinions.Found:
    allocation = solve(
        problem.instance,
        problem.policy,
        integer=problem.integer,
        engine=engine,
        time_limit=time_limit,
    )
    if allocation.status != "optimal":
        raise SolverError(allocation.certificate.reason)
    return opinions.found(problem, allocation.levels, allocation.tasks)


def _timed(name: str, compute: Callable[[], opinions.Found]) -> Opinion:
    report(f"cross-checking with {name}")
    begun = time.perf_counter()
    try:
        levels, value = compute()
    except DrfoptError as error:
        return Opinion(name, None, None, time.perf_counter() - begun, str(error))
    return Opinion(name, np.sort(levels), value, time.perf_counter() - begun)


def _difference(one: Opinion, other: Opinion) -> float:
    """Return the largest relative difference of two opinions: 0 for equal exact values, inf for unequal ones."""
    if one.value is not None:
        if isinstance(one.value, float):
            return abs(one.value - other.value) / max(abs(one.value), abs(other.value), 5e-324)
        return 0.0 if one.value == other.value else float("inf")
    mine, theirs = np.asarray(one.levels), np.asarray(other.levels)
    scale = np.maximum(np.abs(mine), np.abs(theirs))
    return float(np.divide(np.abs(mine - theirs), scale, where=scale > 0, out=np.zeros(len(scale))).max())


def _tolerance(problem: Problem) -> float:
    if problem.integer:
        return 0.0
    return {"leximin": LEVEL, "alpha": LEVEL_CEEI}.get(problem.policy.objective, GAP)
