"""What guarantees are to a market or a sum: floors, found by the first stage of the clock of an organisation.

And what tiers are to a market: markets in turn, of which each holds what those before it have as floors that are not to
be moved, and leaves out whoever comes later, and whom what is held leaves no more than its own floor.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..base.errors import SolverError, TimeLimitError
from ..base.numbers.enclosures import Enclosure
from ..base.tolerances import LEVEL
from ..certificates.bounds import noticed
from ..certificates.chain import excess, firm
from ..certificates.stops import costs, exact_room
from ..model.evidence import BoundsEvidence, TierEvidence
from ..model.hierarchy.clock import Breakpoint, Clock
from ..model.hierarchy.market import market_rules
from ..model.instance import Instance
from .hierarchy import FRACTIONS, ExactPrograms, Programs, stops
from .problem import Answer, Problem

__all__ = ["Promised", "Tier", "in_turn", "kept", "market_of_incomes", "tiers"]

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
    turns : int array (n,)
        When each is served.
    clock : Clock or None
        Of the rules, where there are any.
    sums : tuple of (rates (n,), number)
        Sums of levels that must not fall: those of tiers before.
    """

    floors: np.ndarray
    stopped: np.ndarray
    incomes: np.ndarray
    rates: np.ndarray
    ceilings: np.ndarray
    breakpoints: tuple[Breakpoint, ...]
    full: tuple[tuple[np.ndarray, np.ndarray], ...] = ()
    turns: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    clock: Clock | None = None
    sums: tuple[tuple[np.ndarray, Any], ...] = ()

    @property
    def in_floats(self) -> "Promised":
        """The same, rounded."""
        numbers = {key: getattr(self, key).astype(float) for key in ("floors", "incomes", "rates", "ceilings")}
        return replace(self, **numbers)


def kept(problem: Problem, exact: bool = False) -> Promised:
    """Return what is promised in a problem, in floats or fractions; without rules there is nothing but weights.

    Who is left nothing by what is promised to others is so in fractions: in floats a little room and none look alike.
    """
    n = problem.n
    if "organisation" not in problem.instance.features:
        none, weights, rates = np.zeros(n), problem.weights, problem.rates
        if exact:
            none = np.full(n, Fraction(0), dtype=object)
            given = zip(problem.instance.exact_weights, problem.policy.exact_rates(problem.instance), strict=True)
            both = np.array([[w, r] for w, r in given], dtype=object)[problem.members]
            weights, rates = (both[:, 0], both[:, 1]) if n else (none, none)
        return Promised(none, none > 0, weights, rates, np.zeros((0, n), dtype=none.dtype), ())
    try:
        return _kept(problem, exact)
    except TimeLimitError:
        raise
    except SolverError:
        # What floats drop fractions keep.
        if exact or n > FRACTIONS:
            raise
        rules = market_rules(problem.instance, problem.policy)
        return replace(kept(problem, exact=True).in_floats, clock=rules.clock)


def _kept(problem: Problem, exact: bool) -> Promised:
    """Return what the rules of an organisation promise."""
    rules = market_rules(problem.instance, problem.policy, exact)
    clock = rules.clock
    state, breakpoints = clock.start(), list[Breakpoint]()
    if state.promising:
        for breakpoint, state in stops(problem, clock):
            if not breakpoint.promising:
                break
            breakpoints.append(breakpoint)
            if not state.promising:
                break
    stopped = state.finished | ~clock.playing
    full = _all_filled(problem, clock, state.has, stopped)
    rows = problem.members
    found = Promised(
        state.has[rows],
        stopped[rows],
        rules.incomes[rows],
        rules.rates[rows],
        rules.ceilings[:, rows],
        tuple(breakpoints),
        tuple(full),
        rules.turns[rows],
        clock,
    )
    if exact or problem.n > FRACTIONS or not (stopped & clock.playing & (state.has == 0)).any():
        return found
    proven = kept(problem, exact=True)
    return replace(
        found,
        floors=proven.floors.astype(float),
        stopped=proven.stopped,
        breakpoints=proven.breakpoints,
        full=proven.full,
    )


def market_of_incomes(problem: Problem, promised: Promised) -> Instance | None:
    """Return the users with their incomes as weights and no organisation, where groups say nothing but what these are.

    None where something is promised or capped, or resources are excluded, where there are types, and without groups.
    """
    instance, rows = problem.instance, problem.members
    bounded = promised.floors.any() or promised.stopped.any() or len(promised.ceilings) or not instance.counted.all()
    if bounded or promised.clock is None or not problem.n or instance.task_types is not None:
        return None
    if len(set(promised.turns.tolist())) > 1:
        return None
    incomes = np.ones(instance.n)
    incomes[rows] = promised.incomes
    plain = {"organisation": None, "weights": incomes, "max_tasks": instance.exact_limits}
    return Instance(**(instance.parts() | plain))


@dataclass(frozen=True, eq=False)
class Tier:
    """A tier of a market: its turn, what is promised to it and held of others, what it bought, and who is stopped."""

    turn: int
    promised: Promised
    answer: Answer
    full: list[tuple[np.ndarray, np.ndarray]]


def tiers(problem: Problem, promised: Promised, solve: Callable[[Promised], Answer]) -> list[Tier]:
    """Return the tiers of a market in turn, each as `solve` divides what is left to it.

    Those in which nobody can rise are left out, and of one alone nothing is held.
    """
    rows, turns, clock = problem.members, promised.turns, promised.clock
    if clock is None:
        return [Tier(0, promised, solve(promised), [])]
    rising = ~promised.stopped & (promised.floors < problem.limits)
    there = sorted(set(turns[rising].tolist()))
    if len(there) < 2:
        return [Tier(there[0] if there else 0, promised, solve(promised), [])]
    has, stopped = (np.full(problem.instance.n, value) for value in (clock.zero, True))
    has[rows], stopped[rows] = promised.floors, promised.stopped
    found: list[Tier] = []
    for turn in there:
        mine = ~stopped[rows] & (turns == turn)
        if not mine.any():
            continue
        now = replace(promised, floors=has[rows], stopped=~mine)
        answer = solve(now)
        has[rows[mine]] = answer.tasks[mine]
        stopped[rows[turns <= turn]] = True
        # Of what is known between two ends only, nobody can say what it leaves.
        known = not any(isinstance(x, Enclosure) for x in has.tolist())
        found.append(Tier(turn, now, answer, _all_filled(problem, clock, has, stopped) if known else []))
    return found


def in_turn(problem: Problem, promised: Promised, solve: Callable[[Promised], Answer]) -> Answer:
    """Return what a market divides tier after tier, with what proves each; the last one places everybody."""
    found = tiers(problem, promised, solve)
    last = found[-1].answer
    if len(found) == 1 and not found[0].full:
        return last
    proofs, whole = list[TierEvidence](), BoundsEvidence()
    for tier in found:
        proof = tier.answer.evidence
        if not isinstance(proof, BoundsEvidence) or tier.answer.prices is None:
            raise SolverError("a tier came without prices")
        whole = proof
        proofs.append(TierEvidence(tier.turn, tier.answer.prices, proof.bounds, tier.full))
    return replace(last, evidence=replace(whole, tiers=tuple(proofs)))


def _all_filled(
    problem: Problem, clock: Clock, has: np.ndarray, stopped: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return prices at which what everybody has costs all there is, and stop who pays, in place."""
    full = list[tuple[np.ndarray, np.ndarray]]()
    while has.any() and (prices := _filled(problem, clock, has, stopped)) is not None:
        full.append(prices)
        price = costs(clock, *prices)
        stopped |= (price > 0) & (price < np.inf)
    return full


def _filled(
    problem: Problem, clock: Clock, floors: np.ndarray, stopped: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return prices at which floors cost all there is and somebody pays who is not stopped yet; None for none."""
    instance, rising = problem.instance, ~stopped & (floors < clock.leaves.most)
    rows = [c for c in clock.room if c < instance.m or c > instance.m]
    one, zero = clock.zero + 1, clock.zero
    over = [c for c in rows if floors @ clock.columns[:, c] >= clock.room[c] * (1 if clock.exact else 1 - FULL)]
    over = [c for c in over if (clock.columns[rising, c] > 0).any()]
    if over:
        capacity = np.array([clock.room[j] or one for j in range(instance.m)])
        paid = np.array([one if j in over else zero for j in range(instance.m)])
        bounds = np.array([one if instance.m + 1 + b in over else zero for b in range(len(clock.ceilings))])
        return (exact_room(instance) if clock.exact else instance.room) / capacity * paid, bounds
    if instance.machines is None or not rising.any():
        return None
    programs: Any = (ExactPrograms if clock.exact else Programs)(problem)
    _, _, prices = programs.reach(floors, np.where(rising, clock.leaves.most, floors))
    prices = prices if clock.exact else firm(prices)
    none = np.array([zero] * len(clock.ceilings))
    price = costs(clock, prices, none)
    paying = (price > 0) & ~stopped
    if clock.exact:
        spent = prices.sum() == price @ floors
    else:
        # How far the program gets says little: it is given more room than rounding takes.
        price = np.nan_to_num(price, posinf=0.0)
        held = noticed(clock, floors, paying)
        spent = not (excess(prices, price, floors) > LEVEL * price * held)[paying].any()
    return (prices, none) if spent and paying[rising].any() else None
