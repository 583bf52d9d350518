"""A user's formulation file, loaded: it builds programs, they are solved through cvxpy or PuLP, and faults get a line.

A file is code.  It runs only because its path was given as a policy, and whatever goes wrong in it is told as one
sentence that names the file and the line.
"""

import importlib.util
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import DrfoptError, FormulationError, SolverError
from .problem import Problem

__all__ = ["Data", "UserFile"]


class Data(NamedTuple):
    """What ``build`` is given: plain arrays, the users who are placed only."""

    demands: np.ndarray
    capacity: np.ndarray
    machines: np.ndarray | None
    counts: np.ndarray | None
    eligible: np.ndarray | None
    weights: np.ndarray
    limits: np.ndarray


class UserFile:
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
