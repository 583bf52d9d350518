"""Solvers of integer programs by name: HiGHS driven directly, and what PuLP can drive on this machine."""

import warnings
from dataclasses import dataclass
from typing import Any

from ..errors import EngineError
from ..registry import Registry

__all__ = ["DIRECT", "SOLVERS", "Solver", "interface", "quiet"]

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
