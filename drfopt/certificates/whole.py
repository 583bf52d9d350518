"""Whole tasks: feasible in exact arithmetic, and nothing strictly better is.

Feasibility is decided in integers, machine by machine.  Optimality is refuted or confirmed by somebody else than the
engine: first an exact search over what could be strictly better (`exhaust`), which needs no solver and ends quickly
unless very many users tie; where that search is too long, or tasks must be packed on machines, CBC is asked for the
optimum of a program of its own (`second_solver`), and its answer is compared in exact numbers.
"""

import time
from fractions import Fraction

import numpy as np

from ..allocation import Certificate
from ..deadline import NEVER, Deadline
from ..errors import SolverError
from ..instance import Instance
from ..packings import Packing
from ..policies import Policy
from . import exhaust, second_solver
from .feasibility import exactly_feasible
from .products import products

__all__ = ["certify", "score"]

Score = tuple
"""What is compared, larger is better: sorted levels; (users served, product); or the sum. Exact numbers only."""


def score(instance: Instance, policy: Policy, tasks: list[int]) -> Score:
    """Return the exact objective of whole tasks (n,), users who take part only."""
    playing = exhaust.playing(instance)
    rates = policy.exact_rates(instance)
    if policy.objective == "leximin":
        return tuple(sorted(rates[i] * tasks[i] for i in playing))
    if policy.objective == "sum":
        return (sum((rates[i] * tasks[i] for i in playing), Fraction(0)),)
    return products([instance.exact_weights[i] for i in playing])([tasks[i] for i in playing])


def certify(
    instance: Instance,
    policy: Policy,
    tasks: np.ndarray,
    packing: list[Packing] | None,
    deadline: Deadline = NEVER,
) -> Certificate:
    """Return the certificate of whole tasks (n,), on machines with the packing that places them."""
    counts = [int(x) for x in tasks.tolist()]
    wrong = (
        "" if all(x == y for x, y in zip(counts, tasks.tolist(), strict=True)) else "some number of tasks is not whole"
    )
    wrong = wrong or exactly_feasible(instance, counts, packing if instance.machines is not None else None)
    unplaced = instance.unplaced(integer=True)
    if not wrong and any(x and u for x, u in zip(counts, unplaced.tolist(), strict=True)):
        wrong = "an unplaced user has tasks"
    if wrong:
        return Certificate("bound", False, float("inf"), gap=None, reason=wrong)
    own = score(instance, policy, counts)
    begun = time.perf_counter()
    better = exhaust.better(instance, policy, counts, deadline) if instance.machines is None else None
    judge = "exact search"
    if better is None:
        judge = "CBC"
        found = second_solver.optimum(instance, policy, counts, deadline)
        theirs = score(instance, policy, found)
        better = theirs > own
        if theirs < own:
            raise SolverError(
                "CBC calls an allocation optimal that is worse than the one at hand: the solver is not believed"
            )
    evidence = {"judge": judge, "score": own, "seconds": time.perf_counter() - begun, "packing": packing}
    reason = f"{judge} finds a strictly better allocation" if better else ""
    gap = None if better else 0.0
    certain = judge == "exact search"
    return Certificate("bound", not better, 0.0, gap=gap, evidence=evidence, reason=reason, rigorous=certain)
