"""Programs of cvxpy and PuLP, as a formulation file states them, given to solvers: gaps 0, tight, and in time.

Each is told the time that is left by the option of its own, and what it leaves when that is over is a point only if it
keeps the rows.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ...base.deadline import Deadline
from ...base.errors import SolverError
from ...base.tolerances import CONIC, SOLVER_FEASIBILITY
from ..whole.integer_program import ASKING, stop

__all__ = ["SOLVERS"]

LEAST = 0.1
"""Seconds that a solver is given at least: some take 0 for no limit."""

FEASIBLE = 1e-6
"""Violation of a row that is a solver's tolerance: a point with more, left when time ran out, is none."""

ALMOST = 1e-8
"""What Clarabel may call almost solved, where rounding lets it go no further: what it calls solved by itself."""

HIGHS = {f"{which}_feasibility_tolerance": SOLVER_FEASIBILITY for which in ("primal", "dual")} | {
    f"mip_{which}_gap": 0 for which in ("rel", "abs")
}

CLARABEL = {"tol_gap_abs": CONIC, "tol_gap_rel": CONIC, "tol_feas": CONIC} | {
    f"reduced_tol_{what}": ALMOST for what in ("gap_abs", "gap_rel", "feas")
}

LIMITED: dict[str, Callable[[float], dict[str, Any]]] = {
    "HIGHS": lambda seconds: {"time_limit": seconds},
    "CLARABEL": lambda seconds: {"time_limit": seconds},
    "SCIP": lambda seconds: {"scip_params": {"limits/time": seconds}},
    "GUROBI": lambda seconds: {"TimeLimit": seconds},
    "MOSEK": lambda seconds: {"mosek_params": {"MSK_DPAR_OPTIMIZER_MAX_TIME": seconds}},
    "XPRESS": lambda seconds: {"maxtime": math.ceil(seconds)},
    "CPLEX": lambda seconds: {"cplex_params": {"timelimit": seconds}},
}
"""How each solver of cvxpy is told its time; the first ones are what cvxpy brings along."""

MIXED_CONIC = ("MOSEK", "GUROBI", "XPRESS", "CPLEX", "SCIP")
"""Who may be asked a program that is neither linear nor continuous, the preferred one first."""


def _solve_cvxpy(model: Any, deadline: Deadline) -> str:
    import cvxpy as cp

    linear = model.objective.expr.is_affine() and all(
        argument.is_affine() for constraint in model.constraints for argument in constraint.args
    )
    solver, options = ("HIGHS", HIGHS) if linear else ("CLARABEL", CLARABEL)
    if not linear and model.is_mixed_integer():
        here = cp.installed_solvers()
        solver, options = next((name for name in MIXED_CONIC if name in here), "CLARABEL"), {}
    limit = {} if deadline.left() == math.inf else LIMITED[solver](deadline.left(LEAST))
    try:
        model.solve(solver=solver, **options, **limit)
    except cp.SolverError as error:
        raise SolverError(f"{solver} failed on a formulation's program: {error}") from None
    if limit and model.status not in ENDED:
        known = all(variable.value is not None for variable in model.variables())
        worst = max((float(np.max(c.violation(), initial=0.0)) for c in model.constraints), default=0.0) if known else 1
        return "feasible" if worst <= FEASIBLE else "stopped"
    return ENDED.get(model.status, str(model.status))


ENDED = {
    "optimal": "optimal",
    "optimal_inaccurate": "optimal",
    "infeasible": "infeasible",
    "infeasible_inaccurate": "infeasible",
    "unbounded": "unbounded",
    "unbounded_inaccurate": "unbounded",
}
"""What cvxpy's statuses come to; any other is the end of the time that was given, or a failure."""


def _solve_pulp(model: Any, deadline: Deadline) -> str:
    import pulp

    seconds = None if deadline.left() == math.inf else deadline.left(LEAST)
    options: dict[str, Any] = {"timeLimit": seconds}
    if deadline.stoppable:
        options |= {"callbackTuple": (partial(stop, deadline), None), "callbacksToActivate": ASKING}
    model.solve(pulp.HiGHS(msg=False, gapRel=0.0, gapAbs=0.0, **options))
    if model.status == pulp.LpStatusInfeasible:
        # The presolve of HiGHS 1.15.1 calls some feasible counting programs infeasible.  Without it, though, columns
        # that have no upper bound make it call some points optimal that are not: so it is asked only here.
        model.solve(pulp.HiGHS(msg=False, gapRel=0.0, gapAbs=0.0, presolve="off", **options))
    if model.status == pulp.LpStatusOptimal and model.sol_status == pulp.LpSolutionOptimal:
        return "optimal"
    if (seconds is not None or deadline.stopped) and model.status in (pulp.LpStatusOptimal, pulp.LpStatusNotSolved):
        # PuLP calls whatever HiGHS leaves at its time limit feasible.
        known = all(variable.value() is not None for variable in model.variables())
        return "feasible" if known and model.valid(FEASIBLE) else "stopped"
    return {-1: "infeasible", -2: "unbounded"}.get(model.status, str(pulp.LpStatus[model.status]).lower())


SOLVERS: dict[str, Callable[[Any, Deadline], str]] = {"cvxpy": _solve_cvxpy, "pulp": _solve_pulp}
"""How a program of each modelling language is solved: to ``optimal``, ``infeasible``, ``unbounded``, out of time to
``feasible`` or ``stopped``, or to a status that is a failure."""
