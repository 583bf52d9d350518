"""Every way to compute an allocation, side by side: engines, the reference, and slow methods.

Agreement counts only between two independent computations: different algorithms, and different code for the rows.
Engines that share what decides their answer are one (`second_methods.AUTHORS`), and so are two ways that end in one
engine.  Who refused or failed has said nothing; with fewer than two left the question is undecided, for an engine
always agrees with itself.

A formulation file can be asked beside them.  What it says is held to the same accuracy.  A conic solver's product has
more digits than its tasks, though: of a Nash product either the levels have to be the same, or the product itself
(the weighted geometric mean), to the gap that a certificate may leave.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from ..base.deadline import Deadline, ending
from ..base.errors import (
    DrfoptError,
    EngineError,
    FormulationError,
    PolicyError,
    SolverError,
    TimeLimitError,
    checked_flags,
)
from ..base.numbers.shown import counted
from ..base.progress import report
from ..base.results import Result
from ..base.tables import Column, Sheet
from ..base.tolerances import GAP, LEVEL, LEVEL_CEEI, SMALLEST_FLOAT
from ..engines.problem import Problem
from ..engines.promised import kept
from ..engines.registry import engine_for, engines_for
from ..model.hierarchy import Clock
from ..model.hierarchy.market import market_rules
from ..model.instance import FEATURES, Instance
from ..model.policies import AnyPolicy, Policy, policy_named, policy_on
from .allocating import in_whole_tasks, solve
from .methods import second_methods, whole_tasks

__all__ = ["CrossCheck", "MethodAnswer", "crosscheck"]


@dataclass(frozen=True, eq=False)
class MethodAnswer:
    """What one way of computing says.

    Attributes
    ----------
    engine : str
        What it is called.
    levels : array (n,) or None
        Levels of all users, sorted; None when it failed, or was not made for this instance.
    value : float or None
        What is compared where optima are not unique: the objective recomputed from the tasks.
    seconds : float
    reason : str
        Why there are no levels.
    author : str
        Whose answer it is: methods of one author are one computation.
    by_user : array (n,) or None
        The levels in the instance's order.
    unpolished : bool
        Whether it is a solver's own answer, whose product has more digits than its tasks.
    refused : bool
        Whether there are no levels because the engine cannot give any.
    """

    engine: str
    levels: np.ndarray | None
    value: Any
    seconds: float = field(compare=False)
    reason: str = ""
    author: str = ""
    by_user: np.ndarray | None = None
    unpolished: bool = False
    refused: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return a row of ``drfopt crosscheck --json``."""
        levels = None if self.levels is None else [float(level) for level in self.levels]
        row: dict[str, Any] = {"engine": self.engine, "levels": levels, "seconds": self.seconds}
        return row | ({"reason": self.reason} if self.reason else {})


@dataclass(frozen=True)
class Disagreement:
    """How far two methods are apart.

    Attributes
    ----------
    one, other : str
        Who says so.
    size, allowed : float
        Largest relative difference, and what it may be.
    of : str
        Of what, where it is not of levels.
    """

    one: str
    other: str
    size: float
    allowed: float
    of: str = ""

    @property
    def weight(self) -> float:
        """How much it is of what it may be."""
        if not self.size:
            return 0.0
        return self.size / self.allowed if self.allowed else float("inf")


@dataclass(frozen=True, eq=False)
class CrossCheck(Result):
    """All methods on one instance and policy.

    Attributes
    ----------
    instance : Instance
    policy : str
    integer : bool
    agree : bool or None
        None with fewer than two independent computations, or when a formulation or fractions that were asked for gave
        no answer.
    max_disagreement : float or None
        The relative difference that decided: of levels for leximin and the strictly concave policies, of the objective
        where optima are not unique.
    methods : tuple of MethodAnswer
    between : Disagreement or None
        Who differs most, of what may be.
    silent : str
        The formulation, or the engines in fractions, that were asked for and gave no answer.
    """

    _schema = "drfopt cross-check 1"
    _rows = "engines"

    instance: Instance
    policy: str
    integer: bool
    agree: bool | None
    max_disagreement: float | None
    methods: tuple[MethodAnswer, ...]
    between: Disagreement | None = field(default=None)
    silent: str = ""

    def named(self) -> dict[str, Any]:
        """Return the methods by what they are called."""
        return {answer.engine: answer for answer in self.methods}

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``drfopt crosscheck --json`` prints."""
        return {
            "schema": self._schema,
            "agree": self.agree,
            "max_disagreement": self.max_disagreement,
            "engines": [answer.to_dict() for answer in self.methods],
        }

    def sheet(self) -> Sheet:
        """Return the table: a row an answer."""
        rows = []
        # Who is unplaced has level 0, which others may be below, and is not compared.
        placed = ~self.instance.unplaced(self.integer)
        for answer in self.methods:
            levels = np.zeros(0) if answer.by_user is None else answer.by_user[placed]
            shown = (f"{levels.min():.9g}", f"{levels.sum():.12g}") if levels.size else ("", "")
            rows.append((answer.engine, *shown, f"{answer.seconds:.3g}", answer.reason))
        columns = (
            Column("computed by"),
            Column("lowest level", number=True),
            Column("sum of levels", number=True),
            Column("seconds", number=True),
            Column(""),
        )
        kind = "whole tasks" if self.integer else "divisible tasks"
        title = f"{self.policy}, {kind}, {counted(self.instance.n, 'user')}"
        return Sheet(title, columns, rows, (self._verdict(),), document=self.to_dict)

    def _verdict(self) -> str:
        if self.agree is None:
            if self.silent:
                return f"undecided: {self.silent} gave no answer"
            return self._undecided()
        if self.agree or self.between is None:
            without = [answer.engine for answer in self.methods if answer.levels is None]
            said = f"they agree: largest relative difference {self.max_disagreement or 0:.1e}"
            said += self.between.of if self.between is not None else ""
            return said + (f"; no answer of {', '.join(without)}" if without else "")
        between = self.between
        allowed = f"{between.allowed:.0e} at most" if between.allowed else "not at all"
        return (
            f"THEY DISAGREE: {between.one} and {between.other} differ by {between.size:.1e} of the larger{between.of}, "
            f"and may differ {allowed}"
        )

    def _undecided(self) -> str:
        """Return who gave no answer or, where nobody else can be asked, who could be."""
        given = [answer.engine for answer in self.methods if answer.levels is not None]
        late = [answer.engine for answer in self.methods if answer.levels is None and not answer.refused]
        said = "undecided: fewer than two independent computations"
        if late:
            return f"{said}: no answer of {', '.join(late)}" + (f" beside {', '.join(given)}" if given else "")
        if [answer.engine for answer in self.methods] == ["formulation"]:
            # No engine knows what a file is meant to say, and the same file solved again is the same computation.
            return f"{said}: what {self.policy} says nothing but itself computes; --formulation names a second file"
        return f"{said} can take this instance" + (": a formulation would be one more" if self.integer else "")


def crosscheck(
    instance: Instance,
    policy: AnyPolicy = "drf",
    *,
    integer: bool = False,
    exact: bool = False,
    time_limit: float | None = None,
    formulation: AnyPolicy | None = None,
) -> CrossCheck:
    """Compute the allocation in every way that can take the instance, and compare.

    Parameters
    ----------
    instance : Instance
    policy : str, Policy or function
    integer : bool
        Whole tasks.
    exact : bool
        Compare answers in fractions, which have to be the same; enclosures with floats, to what floats are held to.
    time_limit : float, optional
        Seconds for all of it: each computation that takes a limit has its part of what the others have left.
    formulation : str or function, optional
        Path of a formulation file that states the same policy, or a function; its code is run.

    Raises
    ------
    PolicyError, EngineError
        When nothing can take the instance, as `solve` would.
    FormulationError
        When a formulation file is at fault.
    """
    checked_flags(integer=integer, exact=exact)
    chosen = policy_on(policy, instance)
    own = None if formulation is None else policy_named(formulation)
    if own is not None and own.objective != "formulation":
        raise PolicyError(f"{formulation!r} is no formulation: give the path of a *.py file, or a function")
    own = None if own is None else beside(own, chosen)
    deadline = Deadline.asked(time_limit)
    chosen.check(instance, integer, FEATURES)
    integer = in_whole_tasks(instance, chosen, integer)
    problem = Problem(instance, chosen, integer)
    exact = exact and not integer
    if exact and own is not None:
        raise PolicyError(f"{own.name} is solved as it is written, in floats: drop exact=True (--exact)")
    engine_for("auto", problem, exact)
    engines = [e for e in engines_for(problem, exact) if not e.heuristic and (e.most is None or problem.n <= e.most)]
    methods = [method for method in second_methods.METHODS if method.asked(problem, exact)]
    # A file that is at fault is told before anybody computes for long.
    limit = deadline.share(1 + len(engines) + len(methods))
    stated = None if own is None else _timed(own.name, partial(_stated, problem, own, limit), unpolished=True)
    silent = stated.engine if stated is not None and stated.levels is None else ""
    found: list[MethodAnswer] = []
    for place, engine in enumerate(engines):
        limit = deadline.share(len(engines) - place + len(methods))
        found.append(_timed(engine.name, partial(_solved, problem, engine.name, limit, exact)))
    if exact and all(answer.levels is None for answer in found):
        # What floats say among themselves is no answer in fractions.
        if found[0].refused:
            raise EngineError(found[0].reason)
        silent = " and ".join(answer.engine for answer in found)
    for place, method in enumerate(methods):
        limited = Problem(instance, chosen, integer, Deadline.asked(deadline.share(len(methods) - place)))
        compute = partial(_in_fractions, method.compute) if exact else method.compute
        found.append(_timed(method.name, partial(compute, limited), method.engine, method.unpolished))
    if stated is not None:
        if stated.levels is not None and (rival := next((o for o in found if o.levels is not None), None)) is not None:
            off = _difference(problem, rival, stated)
            stated = replace(stated, reason=f"off by {off.size:.1e}, of {off.allowed:.0e} that it may be")
        found.append(stated)
    given = [answer for answer in found if answer.levels is not None]
    pairs = [_difference(problem, *pair) for pair in combinations(given, 2)]
    worst = max(pairs, key=lambda pair: (pair.weight, pair.size), default=None)
    agree: bool | None = None
    if worst is not None and worst.weight > 1:
        agree = False
    elif len({answer.author for answer in given}) > 1 and not silent:
        agree = True
    # What is told is what decided: under equal rules the largest of all.
    size = None if agree is None or worst is None else worst.size
    return CrossCheck(instance, chosen.name, integer, agree, size, tuple(found), worst, silent)


def beside(own: Policy, chosen: Policy) -> Policy:
    """Return a formulation that knows which policy it stands beside, for one file can state several."""
    told = chosen.measure in ("asset", "tasks", "single", "alone")
    return replace(
        own,
        measure=chosen.measure if told else own.measure,
        argument=chosen.argument if chosen.measure == "single" else own.argument,
        weights=chosen.weights,
        alpha=0.0 if chosen.objective == "sum" else chosen.alpha,
    )


def _stated(problem: Problem, own: Policy, time_limit: float | None) -> whole_tasks.Found:
    if problem.policy.objective == "servers" and problem.integer:
        with ending(time_limit):
            return whole_tasks.machine_by_machine(partial(_tasks_stated, own), problem)
    allocation = solve(problem.instance, own, integer=problem.integer, time_limit=time_limit)
    if allocation.integer != problem.integer:
        raise FormulationError(f"{own.name}: its tasks are whole numbers: ask with integer=True (--integer)")
    if not allocation.finished:
        raise TimeLimitError(allocation.certificate.reason)
    if problem.integer:
        return whole_tasks.from_members(problem, allocation.tasks[problem.members].tolist())
    if "organisation" in problem.instance.features and problem.policy.objective != "leximin":
        levels = market_rules(problem.instance, problem.policy).rates * allocation.tasks
    elif "organisation" in problem.instance.features:
        levels = Clock(problem.instance, problem.policy).levels(allocation.tasks)
    else:
        levels = problem.policy.rates(problem.instance) * allocation.tasks
    return whole_tasks.found(problem, levels, allocation.tasks)


def _tasks_stated(own: Policy, problem: Problem) -> list[int]:
    """Return what a formulation says of one machine."""
    allocation = solve(problem.instance, own, integer=True)
    if not allocation.finished:
        raise TimeLimitError(allocation.certificate.reason)
    return [int(x) for x in allocation.tasks[problem.members].tolist()]


def _in_fractions(compute: Callable[[Problem], whole_tasks.Found], problem: Problem) -> whole_tasks.Found:
    """Return levels, and as what is compared the fractions themselves, or their sum where optima are not unique."""
    levels, value = compute(problem)
    return levels, _fractions(problem, levels) if levels.dtype == object else value


def _fractions(problem: Problem, levels: np.ndarray) -> tuple[Fraction, ...]:
    return (sum(levels.tolist(), Fraction(0)),) if problem.policy.objective == "sum" else tuple(levels.tolist())


def _solved(problem: Problem, engine: str, time_limit: float | None, exact: bool) -> tuple[np.ndarray, Any, str]:
    """Return what an engine says, and which engine it was in the end."""
    allocation = solve(
        problem.instance,
        problem.policy,
        integer=problem.integer,
        engine=engine,
        exact=exact,
        time_limit=time_limit,
    )
    if not allocation.finished:
        raise SolverError(allocation.certificate.reason)
    if exact and problem.policy.objective != "alpha":
        return allocation.levels, _fractions(problem, allocation.levels), allocation.engine
    packing = allocation.certificate.evidence.packing
    return *whole_tasks.found(problem, allocation.levels, allocation.tasks, packing), allocation.engine


def _timed(name: str, compute: Callable[[], tuple], engine: str = "", unpolished: bool = False) -> MethodAnswer:
    report(f"cross-checking with {name}")
    begun = time.perf_counter()
    try:
        levels, value, *who = compute()
    except FormulationError:
        raise
    except DrfoptError as error:
        refused = isinstance(error, EngineError)
        return MethodAnswer(name, None, None, time.perf_counter() - begun, str(error), refused=refused)
    spent = time.perf_counter() - begun
    levels = np.array([float(level) for level in levels])
    answered = who[0] if who else engine or name
    author = second_methods.AUTHORS.get(answered, answered)
    return MethodAnswer(
        name, np.sort(levels), value, spent, author=author, by_user=np.asarray(levels), unpolished=unpolished
    )


# ---- differences -------------------------------------------------------------------------------------------------


def _difference(problem: Problem, one: MethodAnswer, other: MethodAnswer) -> Disagreement:
    """Return how far two methods are apart, by what their policy makes unique."""
    if one.value is not None and other.value is not None:
        size = _apart(one.value, other.value)
        # Whole tasks and fractions have to be the same.
        floats = any(isinstance(value, float) for value in np.ravel(np.array(one.value, dtype=object)).tolist())
        of = " of the objective" if problem.policy.objective == "sum" else ""
        return Disagreement(one.engine, other.engine, size, GAP if floats else 0.0, of)
    mine, theirs = np.asarray(one.by_user), np.asarray(other.by_user)
    scale = np.maximum(np.abs(mine), np.abs(theirs))
    size = float(np.divide(np.abs(mine - theirs), scale, where=scale > 0, out=np.zeros(len(scale))).max(initial=0.0))
    found = Disagreement(one.engine, other.engine, size, LEVEL_CEEI if problem.policy.objective == "alpha" else LEVEL)
    if problem.policy.objective != "alpha" or not (one.unpolished or other.unpolished):
        return found
    name = one.engine if one.unpolished else other.engine
    of = f" of the objective (levels of {name!r} are a solver's own)"
    product = Disagreement(one.engine, other.engine, _mean_apart(problem, mine, theirs), GAP, of)
    return min(found, product, key=lambda difference: difference.weight)


def _mean_apart(problem: Problem, mine: np.ndarray, theirs: np.ndarray) -> float:
    """Return the relative difference of two weighted power means of levels, of those who take part.

    The mean is what an alpha fair allocation maximises: the geometric one of a Nash product, and in general of the
    power 1 - alpha.  Who has nothing in both is in neither.
    """
    mine, theirs = problem.of_members(mine), problem.of_members(theirs)
    there = (mine > 0) | (theirs > 0)
    if not ((mine > 0) & (theirs > 0))[there].all():
        return 1.0
    if not there.any():
        return 0.0
    mine, theirs, power = mine[there], theirs[there], 1 - problem.policy.alpha
    weights = kept(problem).incomes[there]
    weights = weights / weights.sum()
    if not power:
        return abs(float(np.expm1(weights @ np.log(mine / theirs))))
    # In terms of the lowest level, so that no power leaves the range of floats.
    unit = min(mine.min(), theirs.min())
    sums = [float(weights @ (levels / unit) ** power) for levels in (mine, theirs)]
    return abs(float(np.expm1(np.log(sums[0] / sums[1]) / power)))


def _apart(one: Any, other: Any) -> float:
    """Return the largest relative difference of two objectives: numbers, or tuples of exact ones; 0 only for equal."""
    mine, theirs = ((value,) if isinstance(value, float) else value for value in (one, other))
    if mine == theirs:
        return 0.0
    if len(mine) != len(theirs):
        return 1.0
    parts = [(Fraction(a), Fraction(b)) for a, b in zip(mine, theirs, strict=True) if a != b]
    return max(float(abs(a - b) / max(abs(a), abs(b))) for a, b in parts) or SMALLEST_FLOAT
