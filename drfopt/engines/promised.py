"""What guarantees are to a market or a sum: floors, found by the first stage of the clock of an organisation."""

from dataclasses import dataclass

import numpy as np

from ..certificates.chain import firm
from ..certificates.stops import costs
from ..model.hierarchy.clock import Breakpoint, Clock
from ..model.hierarchy.market import market_rules
from .hierarchy import Programs, stops
from .problem import Problem

__all__ = ["Promised", "kept"]

FULL = 1e-11
"""Relative distance from full that the rounding of floors leaves."""


@dataclass(frozen=True, eq=False)
class Promised:
    """Rules of an organisation for the users who take part, (n,) each.

    Attributes
    ----------
    floors : array (n,)
        Tasks that guarantees are worth, as far as they fit together.
    stopped : bool array (n,)
        Who can have no more than that while guarantees are kept.
    incomes, rates : arrays (n,)
    ceilings : array (b, n)
        Part of each ceiling that one task is.
    breakpoints : tuple of Breakpoint
        The stops of the clock that prove the floors.
    full : tuple of (prices (k, m), prices of ceilings (b,))
        At which the floors cost all that there is, so that who pays can have no more while they are kept.
    """

    floors: np.ndarray
    stopped: np.ndarray
    incomes: np.ndarray
    rates: np.ndarray
    ceilings: np.ndarray
    breakpoints: tuple[Breakpoint, ...]
    full: tuple[tuple[np.ndarray, np.ndarray], ...] = ()


def kept(problem: Problem) -> Promised:
    """Return what is promised in a problem; without an organisation there is nothing but weights."""
    n = problem.n
    if "organisation" not in problem.instance.features:
        none = np.zeros(n)
        return Promised(none, none > 0, problem.weights, problem.rates, np.zeros((0, n)), ())
    rules = market_rules(problem.instance, problem.policy)
    clock = rules.clock
    state, breakpoints = clock.start(), list[Breakpoint]()
    if state.promising:
        for breakpoint, state in stops(problem, clock):
            if not breakpoint.promising:
                break
            breakpoints.append(breakpoint)
            if not state.promising:
                break
    stopped, full = state.finished | ~clock.playing, list[tuple[np.ndarray, np.ndarray]]()
    while state.has.any() and (found := _filled(problem, clock, state.has, stopped)) is not None:
        full.append(found)
        stopped |= np.nan_to_num(costs(clock, *found), posinf=0.0) > 0
    rows = problem.members
    return Promised(
        state.has[rows],
        stopped[rows],
        rules.incomes[rows],
        rules.rates[rows],
        rules.ceilings[:, rows],
        tuple(breakpoints),
        tuple(full),
    )


def _filled(
    problem: Problem, clock: Clock, floors: np.ndarray, stopped: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return prices at which floors cost all there is and somebody pays who is not stopped yet; None for none."""
    instance, rising = problem.instance, ~stopped & (floors < clock.leaves.most)
    rows = [c for c in clock.room if c < instance.m or c > instance.m]
    over = [c for c in rows if floors @ clock.columns[:, c] >= clock.room[c] * (1 - FULL)]
    over = [c for c in over if (clock.columns[rising, c] > 0).any()]
    if over:
        capacity = np.where(instance.capacity > 0, instance.capacity, 1.0)
        paid = np.array([1.0 if j in over else 0.0 for j in range(instance.m)])
        bounds = np.array([1.0 if instance.m + 1 + b in over else 0.0 for b in range(len(clock.ceilings))])
        return instance.room / capacity * paid, bounds
    if instance.machines is None or not rising.any():
        return None
    way, _, prices = Programs(problem).reach(floors, np.where(rising, clock.leaves.most, floors))
    prices = firm(prices)
    pays = costs(clock, prices, np.zeros(len(clock.ceilings)))
    return (prices, np.zeros(len(clock.ceilings))) if way <= FULL and (pays[rising] > 0).any() else None
