"""Solvers of integer programs by name: HiGHS driven directly, and what PuLP can drive on this machine.

A linear program for HiGHS from rows of terms, as counting programs and their refutations write them.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import EngineError
from ..registry import Registry

__all__ = ["DIRECT", "SOLVERS", "Solver", "interface", "program", "quiet", "sparse_program"]


DIRECT = "highs"
"""The solver that is asked where none is named; no PuLP is between."""


@dataclass(frozen=True)
class Solver:
    """A row of the table: a solver and what PuLP calls its ways to it, the preferred one first."""

    name: str
    interfaces: tuple[str, ...]


SOLVERS = Registry(
    Solver(DIRECT, (DIRECT,)),
    Solver("highs-pulp", ("HiGHS", "HiGHS_CMD")),
    Solver("cbc", ("PULP_CBC_CMD", "COIN_CMD")),
    Solver("scip", ("SCIP_PY", "SCIP_CMD")),
    Solver("gurobi", ("GUROBI", "GUROBI_CMD")),
    Solver("cplex", ("CPLEX_PY", "CPLEX_CMD")),
    Solver("xpress", ("XPRESS_PY", "XPRESS")),
    Solver("copt", ("COPT", "COPT_CMD")),
    Solver("glpk", ("GLPK_CMD",)),
    what="solver",
    error=EngineError,
    also="what pulp.listSolvers() lists",
)
"""Whoever is not listed can be asked for under PuLP's own name."""


def interface(name: str) -> str:
    """Return `DIRECT`, or what PuLP calls the way to the solver of that name on this machine.

    Raises
    ------
    EngineError
        When nobody knows the solver, or it is not here.
    """
    if not isinstance(name, str):
        raise SOLVERS.unknown(name)
    if name == DIRECT:
        return DIRECT
    here, solver = _of_pulp(here=True), SOLVERS.get(name)
    asked = solver.interfaces if solver else (name,) if name in _of_pulp(here=False) else ()
    if not asked:
        raise SOLVERS.unknown(name)
    found = [way for way in asked if way in here]
    if found:
        return found[0]
    able = ", ".join(solver.name for solver in SOLVERS if {DIRECT, *here} & set(solver.interfaces))
    raise EngineError(
        f"solver {name!r} is not available on this machine (available: {able}): install it, or name one of those"
    )


def _of_pulp(here: bool) -> list[str]:
    """Return PuLP's names of all solvers, or of those that it finds here."""
    import pulp

    with quiet():
        names: list[str] = pulp.listSolvers(onlyAvailable=here)
    return names


def quiet() -> Any:
    """Return a context in which PuLP 3.3 does not warn of 4.0: which of the two is installed was not our choice."""
    return warnings.catch_warnings(action="ignore", category=DeprecationWarning)


def program(
    cost: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    rows: Sequence[tuple[float, float, Mapping[int, float]]],
) -> Any:
    """Return the `HighsLp` of columns (n,) between bounds and of rows ``low <= sum of factor * column <= high``."""
    starts: list[int] = [0]
    index: list[int] = []
    values: list[float] = []
    for _, _, terms in rows:
        index.extend(terms)
        values.extend(terms.values())
        starts.append(len(index))
    least, most = [row[0] for row in rows], [row[1] for row in rows]
    return sparse_program(cost, low, high, least, most, starts, index, values)


def sparse_program(
    cost: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    least: ArrayLike,
    most: ArrayLike,
    starts: ArrayLike,
    index: ArrayLike,
    values: ArrayLike,
) -> Any:
    """Return the same where terms stand row by row: their columns and factors, and where each row's begin and end."""
    import highspy

    model = highspy.HighsLp()
    model.col_cost_, model.col_lower_, model.col_upper_ = (np.array(v, dtype=float) for v in (cost, low, high))
    model.row_lower_, model.row_upper_ = np.array(least, dtype=float), np.array(most, dtype=float)
    model.num_col_, model.num_row_ = np.size(low), np.size(least)
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.array(starts, dtype=np.int32)
    model.a_matrix_.index_ = np.array(index, dtype=np.int32)
    model.a_matrix_.value_ = np.array(values, dtype=np.float64)
    return model
