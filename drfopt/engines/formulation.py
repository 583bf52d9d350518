"""A user's formulation file as an engine: build its program, solve it through cvxpy or PuLP, until all are held.

A file is code.  It runs only because its path was given as a policy, and whatever goes wrong in it is told as one
sentence with its line.  A notion with levels is leximin, a round at a time: the lowest level is maximised, then each
user at it is asked, by holding everybody else there, whether she alone could rise; who cannot is held.  With whole
tasks who stops is a choice, so the smallest sets that let all others rise are tried, and the best outcome is kept.
"""

import importlib.util
import itertools
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import DrfoptError, FormulationError, SolverError
from ..progress import report
from .linear import INFINITY, capacity_rows, load, run, user_rows
from .milp import Model, placed, supply
from .problem import Answer, Problem

__all__ = ["Data", "solve", "title"]

SAME = 1e-7
"""Relative difference of levels that a solver's tolerance can make; a notion of one's own is not scaled by us."""

WHOLE = 1e-5
"""Distance from a whole number at which a solver's number of tasks is one."""

FITS = 1e-6
"""Relative overuse that is a solver's tolerance; it is scaled away."""

SOLVES = 5000
"""Programs solved for one allocation of whole tasks before the choice of who stops is called too large."""


class Data(NamedTuple):
    """What ``build`` is given: plain arrays, the users who are placed only."""

    demands: np.ndarray
    capacity: np.ndarray
    machines: np.ndarray | None
    counts: np.ndarray | None
    eligible: np.ndarray | None
    weights: np.ndarray
    limits: np.ndarray


def solve(problem: Problem) -> Answer:
    """Return what the file's notion gives, its feasibility made sure of."""
    file = _File(problem)
    tasks, levels = _leximin(file, problem) if file.has_levels else file.once()
    if problem.integer:
        whole = np.round(tasks)
        if np.abs(whole - tasks).max(initial=0) > WHOLE:
            raise FormulationError(
                f"{file.path}: its tasks are not whole numbers: declare them integer, or drop --integer"
            )
        answer = _pack(problem, [int(x) for x in whole], file.path)
    else:
        answer = _place(problem, np.maximum(tasks, 0), file.path)
    if levels is not None:
        answer.evidence["levels"] = levels
    return answer


def title(path: str) -> str:
    """Return the first line of a file's docstring, read without running it."""
    import ast

    try:
        doc = ast.get_docstring(ast.parse(Path(path).read_text(encoding="utf-8")))
    except (OSError, SyntaxError, ValueError):
        doc = None
    return doc.splitlines()[0] if doc else Path(path).stem


class _File:
    """A loaded file: builds and solves its programs for one problem."""

    def __init__(self, problem: Problem):
        self.path = problem.policy.argument
        self.problem = problem
        self.build = self._load()
        instance, members = problem.instance, problem.members
        weights = instance.weights if instance.weights_per_resource else instance.weights[:, None]
        self.data = Data(
            demands=instance.demands[members],
            capacity=instance.capacity,
            machines=instance.machine_capacity,
            counts=instance.counts,
            eligible=None if instance.fits is None else instance.fits[members],
            weights=np.broadcast_to(weights, (instance.n, instance.m))[members],
            limits=problem.limits,
        )
        self.has_levels = self._built(np.full(problem.n, np.nan)).levels is not None
        self.solves = 0

    def once(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Solve a notion without levels."""
        found = self.round(np.full(self.problem.n, np.nan))
        if found is None:
            raise FormulationError(f"{self.path}: its program is infeasible: no tasks at all must be allowed")
        return found[0], None

    def round(self, held: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Return tasks (n,) and levels (n,) of a round, or None when it is infeasible."""
        self.problem.deadline.check(self.path)
        self.solves += 1
        built = self._built(held)
        if not self._optimal(built.problem):
            return None
        tasks = self._values(built.tasks, "tasks")
        levels = np.full(self.problem.n, np.nan) if built.levels is None else self._values(built.levels, "levels")
        return tasks, levels

    def _load(self) -> Callable:
        spec = importlib.util.spec_from_file_location(f"_formulation_{Path(self.path).stem}", self.path)
        if spec is None or spec.loader is None:
            raise FormulationError(f"{self.path}: it cannot be read as Python")
        module = importlib.util.module_from_spec(spec)
        self._guarded(spec.loader.exec_module, module)
        build = getattr(module, "build", None)
        if not callable(build):
            raise FormulationError(
                f"{self.path}: it defines no function build(data, held): see the protocol of formulation files"
            )
        return build

    def _built(self, held: np.ndarray) -> Any:
        built = self._guarded(self.build, self.data, held.copy())
        for name in ("problem", "tasks", "levels"):
            if not hasattr(built, name):
                raise FormulationError(
                    f"{self.path}: build returned no {name!r}: return a named tuple of problem, tasks, levels"
                )
        return built

    def _guarded(self, function: Callable, *arguments: Any) -> Any:
        """Call the user's code; what it raises becomes one sentence with its line."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return function(*arguments)
        except DrfoptError:
            raise
        except Exception as error:
            lines = [f.lineno for f in traceback.extract_tb(sys.exc_info()[2]) if f.filename == self.path]
            if isinstance(error, SyntaxError):
                lines = [error.lineno]
            where = f"{self.path}, line {lines[-1]}" if lines else self.path
            text = str(error).splitlines()[0] if str(error) else "no message"
            raise FormulationError(f"{where}: {type(error).__name__}: {text}") from None

    def _optimal(self, model: Any) -> bool:
        family = type(model).__module__.split(".")[0]
        if family not in SOLVERS:
            raise FormulationError(
                f"{self.path}: problem is a {type(model).__name__}: return an unsolved cvxpy.Problem or pulp.LpProblem"
            )
        status = self._guarded(SOLVERS[family], model)
        if status == "unbounded":
            raise FormulationError(
                f"{self.path}: its program is unbounded: every user's tasks must be bounded by a capacity"
            )
        if status not in ("optimal", "infeasible"):
            raise SolverError(f"{self.path}: the solver ended with status {status!r}")
        return status == "optimal"

    def _values(self, expression: Any, what: str) -> np.ndarray:
        if isinstance(expression, list | tuple):
            values = np.array([_number(term) for term in expression], dtype=float)
        else:
            found = getattr(expression, "value", expression)
            values = np.full(0, np.nan) if found is None else np.asarray(found, dtype=float)
        n = self.problem.n
        if values.shape != (n,):
            raise FormulationError(
                f"{self.path}: {what} has shape {values.shape}, but one for each user is needed: {(n,)}"
            )
        if not np.isfinite(values).all():
            raise FormulationError(
                f"{self.path}: {what} has no value for some user: make it an expression of the variables"
            )
        return values


def _number(term: Any) -> float:
    value = getattr(term, "value", None)
    found = value() if callable(value) else (term if value is None else value)
    return float("nan") if found is None else float(found)


def _solve_cvxpy(model: Any) -> str:
    import cvxpy as cp

    linear = model.objective.expr.is_affine() and all(
        argument.is_affine() for constraint in model.constraints for argument in constraint.args
    )
    solver = cp.HIGHS if linear else (None if model.is_mixed_integer() else cp.CLARABEL)
    model.solve(solver=solver)
    return {"optimal_inaccurate": "optimal", "infeasible_inaccurate": "infeasible"}.get(model.status, str(model.status))


def _solve_pulp(model: Any) -> str:
    import pulp

    model.solve(pulp.HiGHS(msg=False, gapRel=0.0, gapAbs=0.0, presolve="off"))
    return {1: "optimal", -1: "infeasible", -2: "unbounded"}.get(model.status, str(pulp.LpStatus[model.status]).lower())


SOLVERS: dict[str, Callable[[Any], str]] = {"cvxpy": _solve_cvxpy, "pulp": _solve_pulp}
"""How a program of each modelling language is solved: to ``optimal``, ``infeasible``, ``unbounded`` or a status."""


# ---- leximin, a round at a time -----------------------------------------------------------------------------------


def _leximin(file: _File, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Return tasks and levels when all are held."""
    held = np.full(problem.n, np.nan)
    if problem.integer:
        found = _best_choice(file, held)
        return found[0], found[1]
    tasks = levels = held
    while np.isnan(held).any():
        tasks, levels = _must(file, file.round(held))
        rising = np.isnan(held)
        level = float(levels[rising].min())
        report(f"level {level:.6g}: {int((~rising).sum())} of {problem.n} users held")
        candidates = np.flatnonzero(rising & (levels <= level * (1 + SAME)))
        stuck = [i for i in candidates if not _can_rise(file, held, int(i), level)]
        # Somebody is stuck in every round; if tolerances hide who, it is whoever can rise least.
        held[stuck if stuck else candidates] = level
    return tasks, held


def _can_rise(file: _File, held: np.ndarray, user: int, level: float) -> bool:
    """Say whether one user alone can exceed the level, everybody else kept at hers."""
    others = np.where(np.isnan(held), level * (1 - SAME / 10), held * (1 - SAME / 10))
    others[user] = np.nan
    found = file.round(others)
    return found is not None and float(found[1][user]) > level * (1 + 10 * SAME)


def _best_choice(file: _File, held: np.ndarray) -> tuple[np.ndarray, np.ndarray, tuple]:
    """Return tasks, levels and sorted levels of the best way to go on with whole tasks."""
    tasks, levels = _must(file, file.round(held))
    rising = np.flatnonzero(np.isnan(held))
    if not rising.size:
        return tasks, levels, tuple(np.sort(levels))
    level = float(levels[rising].min())
    for size in range(1, len(rising) + 1):
        outcomes = []
        for stopped in itertools.combinations(rising, size):
            if file.solves > SOLVES:
                raise SolverError(f"{file.path}: too many users tie to choose who stops ({SOLVES} programs solved)")
            trial = held.copy()
            trial[list(stopped)] = level
            found = file.round(trial)
            if found is None:
                continue
            others = np.isnan(trial)
            if not others.any() or float(found[1][others].min()) > level + SAME * max(level, SAME):
                outcomes.append(_best_choice(file, trial))
        if outcomes:
            return max(outcomes, key=lambda outcome: tuple(np.round(outcome[2], 9)))
    raise SolverError(f"{file.path}: no set of users at level {level:.6g} lets the others rise")


def _must(file: _File, found: tuple[np.ndarray, np.ndarray] | None) -> tuple[np.ndarray, np.ndarray]:
    if found is None:
        raise FormulationError(
            f"{file.path}: a round is infeasible: held levels must be kept with >=, and nothing else asked"
        )
    return found


# ---- making sure that the tasks fit ------------------------------------------------------------------------------


def _place(problem: Problem, tasks: np.ndarray, path: str) -> Answer:
    """Return the tasks placed with the least overuse, which must be a solver's tolerance, scaled away."""
    user, _ = problem.pairs
    rows = capacity_rows(problem)
    if problem.instance.machines is None:
        amounts = tasks
        over = float((rows.matrix @ tasks).max(initial=0)) - 1
    else:
        amounts, over = _least_overuse(problem, tasks)
    if over > FITS:
        raise FormulationError(f"{path}: its tasks need {over:.1e} more than some capacity: check its capacity rows")
    shrink = 1 / (1 + max(over, 0.0))
    capped = np.minimum(tasks * shrink, problem.limits)
    if (tasks > problem.limits * (1 + FITS)).any():
        i = int(np.argmax(tasks - problem.limits))
        user_name = problem.instance.users[problem.members[i]]
        raise FormulationError(
            f"{path}: user {user_name!r} has {tasks[i]:.6g} tasks, above her limit {problem.limits[i]:g}"
        )
    ratio = np.divide(capped, tasks, where=tasks > 0, out=np.zeros_like(tasks))
    return Answer(capped, amounts=amounts * ratio[user])


def _least_overuse(problem: Problem, tasks: np.ndarray) -> tuple[np.ndarray, float]:
    """Return amounts (pairs,) that add up to the tasks with the smallest largest overuse of a capacity."""
    from scipy import sparse

    user, _ = problem.pairs
    rows, adding = capacity_rows(problem), user_rows(problem)
    scale = np.where(tasks > 0, tasks, 1.0)[user]
    r = rows.matrix.shape[0]
    used = rows.matrix @ sparse.diags(scale)
    matrix = sparse.bmat([[used, sparse.csr_matrix(-np.ones((r, 1)))], [adding, None]], format="csr")
    share = np.where(tasks > 0, 1.0, 0.0)
    low = np.concatenate([np.full(r, -INFINITY), share])
    cost = np.zeros(len(user) + 1)
    cost[-1] = 1
    solution = run(
        load(cost, np.full(len(user) + 1, INFINITY), matrix, low, np.concatenate([np.ones(r), share])),
        "placing tasks",
    )
    amounts = np.maximum(solution.columns[:-1], 0) * scale
    total = np.bincount(user, weights=amounts, minlength=problem.n)
    amounts *= np.divide(tasks, total, where=total > 0, out=np.zeros_like(total))[user]
    return amounts, float((rows.matrix @ amounts).max(initial=0)) - 1


def _pack(problem: Problem, tasks: list[int], path: str) -> Answer:
    model = Model()
    supplied = supply(model, problem)
    for x, terms in zip(tasks, supplied.tasks, strict=True):
        model.row(x, float("inf"), terms)
    values = model.solve()
    if values is None:
        raise FormulationError(f"{path}: its whole tasks do not fit on the machines: check its capacity rows")
    return placed(problem, supplied, values, tasks)
