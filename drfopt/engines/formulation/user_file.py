"""A user's formulation, file or function: it builds programs, cvxpy or PuLP solves them, and faults get a line.

It is code.  It runs only because it was given as a policy, and whatever goes wrong in it is told as one
sentence that names the file, or the function, and the line.
"""

import importlib.util
import math
import sys
import traceback
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np

from ...base.errors import DrfoptError, FormulationError, SolverError, TimeLimitError
from ...base.progress import report
from ...model.hierarchy import Clock
from ...model.instance import Instance
from ...model.policies import policy_named
from ...model.whole_values import WholeUsers
from ..problem import Problem
from ..whole.milp import SEARCH
from .guest import aside, ended
from .modelling import SOLVERS

__all__ = ["Data", "UserFile", "said"]

MESSAGE = 300
"""Characters of what a file's own fault says; cvxpy takes several lines to name an expression."""


class Data:
    """What ``build`` is given: plain arrays by their names, the users who are placed only; it knows which were read."""

    def __init__(self, **arrays: Any):
        self._arrays, self._read = arrays, set[str]()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._arrays:
            raise AttributeError(f"data has no {name!r}: it has {', '.join(self._arrays)}")
        self._read.add(name)
        return self._arrays[name]

    def unread(self, names: Collection[str]) -> list[str]:
        """Return those of these arrays that are there and that nobody has asked for."""
        return [name for name in names if name in self._arrays and name not in self._read]


RULES = {
    "promised": "guarantees",
    "units": "guarantees that shares are parts of",
    "surplus": "guarantees above which levels are measured",
    "tiers": "tiers, or weights of 0",
    "counted": "resources that do not count",
    "grouped": "ceilings of groups",
    "parent": "groups",
    "group_tiers": "tiers of groups",
    "group_units": "guarantees of groups that shares are parts of",
    "group_surplus": "guarantees of groups above which their levels are measured",
}
"""What arrays of an organisation mean; a file that asks for none of them must not be given it."""


def said(problem: Problem) -> list[str]:
    """Return the names of the arrays of a problem that a file has to ask for, by what its instance has."""
    kinds = ["kinds"] if problem.integer and problem.instance.task_types is not None else []
    given = rules(problem)
    return [name for name in RULES if name in given] + kinds


def rules(problem: Problem) -> dict[str, np.ndarray]:
    """Return what an organisation adds to ``data``, in the letters of ``formulations/README.md``; {} without one.

    A tree whose users are all in one group orders nothing, and has ceilings at most.
    """
    instance, members = problem.instance, problem.members
    organisation = instance.organisation
    if organisation is None or "organisation" not in instance.features:
        return {}
    n, place = len(members), {group.name: g for g, group in enumerate(organisation.groups)}
    found: dict[str, Any] = {}
    # What a group is promised is worth to its members what they rise to, by what the policy counts.
    leximin = replace(problem.policy, objective="leximin")
    promised = Clock(instance, leximin, whole=problem.integer).promised[members]
    if promised.any():
        found["promised"] = promised
    given = [organisation.guarantees[i] for i in members.tolist()]
    if organisation.meaning != "floor" and any(given):
        found["units" if organisation.meaning == "normalised" else "surplus"] = _measured(instance, given)
    # Weights of 0 are one tier lower than the same tier with others.
    tiers = np.array([2 * organisation.tiers[i] - organisation.last[i] for i in members.tolist()])
    several = len({organisation.paths[i] for i in members.tolist()}) > 1
    # Beside groups a tier counts that all users have.
    if n and (tiers != (0 if several else tiers[0])).any():
        found["tiers"] = tiers
    if organisation.excluded:
        found["counted"] = instance.counted.copy()
    if capped := [group for group in organisation.groups if group.ceiling]:
        inside = [[f"{organisation.paths[i]}/".startswith(f"{group.name}/") for i in members] for group in capped]
        found["grouped"] = np.array(inside, dtype=float)
        most = [[float(group.ceiling.get(name, np.inf)) for name in instance.resources] for group in capped]
        found["ceilings"] = np.array(most)
    if several:
        found["parent"] = np.array([place.get(organisation.paths[i], -1) for i in members.tolist()])
        found["group_parent"] = np.array([place.get(group.parent, -1) for group in organisation.groups])
        found["group_weights"] = np.array([float(group.weight) for group in organisation.groups])
        if any(group.tier for group in organisation.groups) or not found["group_weights"].all():
            found["group_tiers"] = np.array([2 * group.tier - (not group.weight) for group in organisation.groups])
        given = [group.guarantee for group in organisation.groups]
        if organisation.meaning != "floor" and any(given):
            name = "group_units" if organisation.meaning == "normalised" else "group_surplus"
            found[name] = _measured(instance, given)
        if problem.integer and not instance.weights_per_resource:
            absent = np.zeros(len(place))
            for i in set(range(instance.n)) - set(members.tolist()):
                if organisation.paths[i]:
                    absent[place[organisation.paths[i]]] += float(instance.weights[i])
            found["group_absent"] = absent
    return found


def _measured(instance: Instance, guarantees: Sequence[Mapping[str, Any]]) -> np.ndarray:
    """Return guarantees as an array (rows, m): a share of 1 where levels are parts of them, else what is off."""
    parts = instance.organisation is not None and instance.organisation.meaning == "normalised"
    whole = np.where(instance.capacity > 0, instance.capacity, 1.0) if parts else np.zeros(instance.m)
    found = np.tile(whole, (len(guarantees), 1))
    for row, guarantee in zip(found, guarantees, strict=True):
        for resource, amount in guarantee.items():
            if amount:
                row[instance.resources.index(resource)] = float(amount)
    return found


def _compared(problem: Problem) -> dict[str, Any]:
    """Return what a policy compares beside which the file is asked; of a policy of one resource, which of them (m,).

    Of task-share fairness that is tasks as parts of those that a user could run alone, (n,).
    """
    policy, instance = problem.policy, problem.instance
    if policy.measure == "single":
        return {"measure": "dominant", "compared": np.arange(instance.m) == policy.column(instance)}
    if policy.measure != "alone":
        return {"measure": policy.measure}
    rates = replace(policy, weights="none").rates(instance)
    return {"measure": "alone", "alone": 1 / rates[problem.members]}


def _devices(problem: Problem) -> dict[str, np.ndarray]:
    """Return how many devices of each resource one machine of each class has, and their size, (k, m); {} for none."""
    instance = problem.instance
    if not instance.has_devices:
        return {}
    count, size = np.zeros((instance.k, instance.m), dtype=np.int64), np.ones((instance.k, instance.m))
    for k, machine in enumerate(instance.machines or ()):
        for resource, one in (machine.devices or {}).items():
            j = instance.resources.index(resource)
            count[k, j], size[k, j] = one.count, float(one.size)
    return {"devices": count, "device_size": size}


def _kinds(problem: Problem) -> dict[str, np.ndarray | None]:
    """Return the types of tasks, in the letters of ``formulations/README.md``; {} where nobody has several.

    Of divisible tasks in a pool nothing but the average task counts.
    """
    if not problem.integer:
        rows = problem.by_type
        if rows is problem:
            return {}
        parts = np.zeros((problem.n, rows.n))
        parts[rows.user, np.arange(rows.n)] = rows.part
        of_members = rows.members
        return {
            "kind_demands": rows.instance.demands[of_members],
            "kind_eligible": rows.instance.fits[of_members],
            "kind_parts": parts,
        }
    if problem.instance.task_types is None:
        return {}
    users = WholeUsers(problem.instance, policy_named("drf"), problem.members.tolist())
    cluster, place = users.cluster, {q: p for p, q in enumerate(users.rows)}
    kinds = np.full((problem.n, max(users.most, default=0)), -1)
    for i, (sequence, most) in enumerate(zip(users.sequences, users.most, strict=True)):
        kinds[i, :most] = [place[sequence.rows[sequence.next_type(x)]] for x in range(most)]
    return {
        "kind_demands": cluster.demands[users.rows],
        "kind_eligible": None if cluster.fits is None else cluster.fits[users.rows],
        "kinds": kinds,
    }


class UserFile:
    """A loaded file: builds and solves its programs for one problem.

    Attributes
    ----------
    has_levels : bool
        Whether it is solved round by round.
    says : bool
        Whether its rounds say themselves who is finished.
    whole : bool
        Whether its tasks are whole numbers: sums of integer variables.
    finished : array (n,) or None
        Whom the last round calls finished, where it says so itself.
    best : tuple of tasks (n,) and what it compares (n,), or None
        The feasible tasks with the highest sorted levels that any program gave; what is known when time runs out.
    """

    def __init__(self, problem: Problem):
        self.deadline = problem.deadline.part(SEARCH)
        self.path = str(problem.policy.name)
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
            **_compared(problem),
            alpha=1.0 if math.isnan(problem.policy.alpha) else problem.policy.alpha,
            **rules(problem),
            **_devices(problem),
            **_kinds(problem),
        )
        built = self._built(np.full(problem.n, np.nan))
        if unread := self.data.unread(RULES):
            raise FormulationError(
                f"{self.path}: it makes no use of the instance's {RULES[unread[0]]} (data.{unread[0]}): "
                "leave them out, or name a file that does"
            )
        self.has_levels = built.levels is not None
        self.says = getattr(built, "finished", None) is not None
        self.whole = _integral(built.tasks)
        if self.whole and self.data.unread(["devices"]):
            raise FormulationError(
                f"{self.path}: its whole tasks make no use of the machines' devices (data.devices): leave these out, "
                "or name a file that does, such as formulations/drf_integer.py"
            )
        if not self.whole and self.data.unread(["kind_parts"]):
            raise FormulationError(
                f"{self.path}: it makes no use of task types on machines (data.kind_parts): give every user one, or "
                "name a file that does, such as formulations/drf.py"
            )
        if self.data.unread(["kinds"]):
            raise FormulationError(
                f"{self.path}: its whole tasks make no use of task types (data.kinds): give every user one, or name a "
                "file that does, such as formulations/guarantees_integer.py"
            )
        report(f"{self.path}: {_size(built.problem)} a program; a time limit ends it with what is known")
        self.best: tuple[np.ndarray, np.ndarray | None] | None = None
        self.solves = 0
        self.finished: np.ndarray | None = None

    def once(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Solve a notion without rounds; return tasks (n,), and the shares (n,) that it compares where it says so."""
        found = self.round(np.full(self.problem.n, np.nan))
        if found is None:
            raise FormulationError(f"{self.path}: its program is infeasible: no tasks at all must be allowed")
        return found

    def round(self, held: np.ndarray) -> tuple[np.ndarray, Any] | None:
        """Return tasks (n,) and levels (n,) of a round, or None when it is infeasible.

        Raises
        ------
        TimeLimitError
            Of a program that has not ended the best point found is kept in `best`, where there is one.
        """
        self.deadline.check(self.path)
        self.solves += 1
        built = self._built(held)
        status = self._solved(built.problem)
        if status == "infeasible":
            return None
        if status == "stopped":
            raise TimeLimitError(f"{self.path}: the time limit ran out in its program")
        if (ties := getattr(built, "ties", None)) is not None:
            status = self._fewest(built.problem, ties)
        tasks, compared = self._values(built.tasks, "tasks"), None
        if self.has_levels:
            compared = self._values(built.levels, "levels")
        elif (shares := getattr(built, "shares", None)) is not None:
            compared = self._values(shares, "shares")
        if self.best is None or (compared is not None and _higher(compared, self.best[1])):
            self.best = tasks, compared
        if status == "feasible":
            raise TimeLimitError(f"{self.path}: the time limit ran out in its program")
        # Asked now: the next program may be made of the same variables.
        self.finished = None if (says := getattr(built, "finished", None)) is None else self._says(says)
        return tasks, compared

    def _says(self, finished: Callable) -> np.ndarray:
        """Return whom a round calls finished, bool (n,)."""
        found = np.asarray(self._called(finished))
        if found.shape != (self.problem.n,) or found.dtype != bool:
            raise FormulationError(f"{self.path}: finished() must say True or False of each user: {(self.problem.n,)}")
        return found

    def _fewest(self, model: Any, ties: Any) -> str:
        """Solve again for the least of `ties` among the optima; cvxpy only."""
        import cvxpy as cp

        try:
            best = model.objective.expr >= model.objective.expr.value  # but for the solver's tolerance
            return self._solved(cp.Problem(cp.Minimize(ties), [*model.constraints, best]))
        except AttributeError:
            raise FormulationError(
                f"{self.path}: ties can be broken in cvxpy only: leave them out of the round"
            ) from None

    def _load(self) -> Callable:
        # The file whose lines are told: of a function in a notebook, its cell.
        self._source = self.path
        if self.problem.policy.build is not None:
            if (code := getattr(self.problem.policy.build, "__code__", None)) is not None:
                self._source = code.co_filename
            return self.problem.policy.build
        spec = importlib.util.spec_from_file_location(f"_formulation_{Path(self.path).stem}", self.path)
        if spec is None or spec.loader is None:
            raise FormulationError(f"{self.path}: it cannot be read as Python")
        self._source = spec.origin or self.path  # a whole path, as Python tells it of what runs
        module = importlib.util.module_from_spec(spec)
        self._called(spec.loader.exec_module, module)
        build = getattr(module, "build", None)
        if not callable(build):
            raise FormulationError(
                f"{self.path}: it defines no function build(data, held): see the protocol of formulation files"
            )
        return build

    def _built(self, held: np.ndarray) -> Any:
        built = self._called(self.build, self.data, held.copy())
        for name in ("problem", "tasks", "levels"):
            if not hasattr(built, name):
                raise FormulationError(
                    f"{self.path}: build returned no {name!r}: return a named tuple of problem, tasks, levels"
                )
        return built

    def _called(self, function: Callable, *arguments: Any) -> Any:
        """Call the user's own code: guarded, and ended in time; a solver ends by itself, with what it knows."""
        with ended(self.path, self.deadline):
            return self._guarded(function, *arguments)

    def _guarded(self, function: Callable, *arguments: Any) -> Any:
        """Call what the user wrote or made: what it raises, an exit too, becomes one sentence with its line."""
        try:
            with warnings.catch_warnings(), aside():
                warnings.simplefilter("ignore")
                return function(*arguments)
        except DrfoptError:
            raise
        except (Exception, SystemExit) as error:
            lines = [f.lineno for f in traceback.extract_tb(sys.exc_info()[2]) if f.filename == self._source]
            if isinstance(error, SyntaxError) and error.filename == self._source:
                lines = [error.lineno]
            where = f"{self.path}, line {lines[-1]}" if lines else self.path
            text = shorten(str(error), MESSAGE, placeholder=" ...") or "no message"
            raise FormulationError(f"{where}: {type(error).__name__}: {text}") from None

    def _solved(self, model: Any) -> str:
        """Solve: ``optimal``, ``infeasible``, or out of time ``feasible`` with a point and ``stopped`` without one."""
        family = type(model).__module__.split(".")[0]
        if family not in SOLVERS:
            raise FormulationError(
                f"{self.path}: problem is a {type(model).__name__}: return an unsolved cvxpy.Problem or pulp.LpProblem"
            )
        status: str = self._guarded(SOLVERS[family], model, self.deadline)
        if status == "unbounded":
            remedy = (
                "it minimises what has no least value: is it to be maximised?"
                if _minimises(model)
                else "every user's tasks, and whatever else is maximised, must be bounded by a capacity"
            )
            raise FormulationError(f"{self.path}: its program is unbounded: {remedy}")
        if status not in ("optimal", "infeasible", "feasible", "stopped"):
            raise SolverError(f"{self.path}: the solver ended with status {status!r}")
        return status

    def _values(self, expression: Any, what: str) -> np.ndarray:
        values = self._guarded(_numbers, expression)
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


def _numbers(expression: Any) -> np.ndarray:
    """Return what a solved expression of cvxpy, or a list of PuLP's, is worth."""
    if isinstance(expression, list | tuple):
        return np.array([_number(term) for term in expression], dtype=float)
    found = getattr(expression, "value", expression)
    return np.full(0, np.nan) if found is None else np.asarray(found, dtype=float)


def _number(term: Any) -> float:
    value = getattr(term, "value", None)
    found = value() if callable(value) else (term if value is None else value)
    return float("nan") if found is None else float(found)


def _minimises(model: Any) -> bool:
    """Say whether a program of cvxpy or PuLP looks for the least: PuLP does so where nothing is said."""
    return type(model.objective).__name__ == "Minimize" or getattr(model, "sense", 0) == 1


def _higher(one: np.ndarray, other: np.ndarray | None) -> bool:
    """Say whether sorted levels are lexicographically larger."""
    return other is None or tuple(np.sort(one)) > tuple(np.sort(other))


def _size(model: Any) -> str:
    """Return how large a program of cvxpy or PuLP is, in words: what is to come is told before it starts."""
    if hasattr(model, "numConstraints"):
        kinds, rows = [variable.cat == "Integer" for variable in model.variables()], model.numConstraints()
    elif hasattr(model, "constraints"):
        kinds = [
            bool(v.attributes["integer"] or v.attributes["boolean"]) for v in model.variables() for _ in range(v.size)
        ]
        rows = sum(row.size for row in model.constraints)
    else:
        return f"a {type(model).__name__}"
    return f"{sum(kinds)} whole numbers, {len(kinds) - sum(kinds)} others and {rows} rows"


def _integral(tasks: Any) -> bool:
    """Say whether tasks are made of integer variables alone; of parts of one they need not be whole."""
    if isinstance(tasks, list | tuple):
        return bool(tasks) and all(map(_integral_in_pulp, tasks))
    variables = tasks.variables() if hasattr(tasks, "variables") else []
    return bool(variables) and all(v.attributes["integer"] or v.attributes["boolean"] for v in variables)


def _integral_in_pulp(term: Any) -> bool:
    terms = list(term.items()) if hasattr(term, "items") else [(term, 1)]
    whole = all(getattr(variable, "cat", "") == "Integer" and float(factor).is_integer() for variable, factor in terms)
    return bool(terms) and whole and float(getattr(term, "constant", 0)).is_integer()
