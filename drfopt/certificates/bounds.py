"""Markets and sums with floors, ceilings of groups and task types: prices that nobody can beat.

Let p >= 0 be prices of the capacities and beta >= 0 of the ceilings of groups.  A task of user i costs

    q_i  =  sum_q part_q min_k p_k . d_q  +  sum_c beta_c b_ci

(each of its types on its cheapest class, and its part of every ceiling), and is worth ``m_i``, the derivative of what
is maximised.  With floors l_i (what its guarantee is worth) and limits u_i, every possible allocation x has

    value(x)  <=  value(y) + p . (room - used) + beta . (ceilings - met) + money paid on dear classes
                           + sum_i max over l_i <= x_i <= u_i of  [ value_i(x_i) - value_i(y_i) - q_i (x_i - y_i) ]

by adding the prices times the constraints.  The right side less value(y) is the *gap*; of a market it is 0 exactly when
m_i = q_i between floor and limit, m_i <= q_i at the floor and m_i >= q_i at the limit, and what is priced is used up.
As in `prices` a gap of e bounds levels by sqrt(e) only, so that of a market these conditions are held to `FIRST_ORDER`.

In fractions the same sum decides without tolerances: a sum of levels is largest where the right side is value(y), and
of a market the point y of the enclosures is so near to the optimum x that by concavity
``sum_i loss_i(x_i) <= right side - value(y)``, where loss_i is what the tangent at y_i overestimates i's utility by:
whose enclosure ends where she would lose more than that has the optimum in it.

Tiers are judged one after the other, each with prices of its own, in the allocation as it is: what comes later is worth
nothing to a tier, so that whoever comes later and pays is at its floor; what a tier has is held, and at prices at which
that costs all there is nobody who pays has more than its floor in any of the tiers that follow.  A sum, whose tasks are
not unique, holds the sums of the tiers before it: they count in its own with a weight each, as a Lagrange multiplier.

The floors are judged apart: tasks that all promises are worth are floors as they stand; where they do not fit together
the stops of the first stage are replayed (`stops`), which prove how far each can be kept.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from ..base.numbers.enclosures import Enclosure, lower, upper
from ..base.tolerances import AT_LIMIT, CAPACITY, FIRST_ORDER, GAP, LEVEL
from ..model.certificate import Certificate
from ..model.evidence import BoundsEvidence, TierEvidence
from ..model.hierarchy import Clock, broken
from ..model.hierarchy.market import MarketRules, market_rules
from ..model.hierarchy.tree import closed_by
from ..model.instance import Instance
from ..model.policies import Policy
from . import stops
from .chain import cell_names, cheapest_costs, excess, pays, unit_costs
from .feasibility import infeasibility
from .verifier.powers import digits_between, marginal_between

__all__ = ["FRACTIONS", "certify", "certify_exactly", "left_by_promises", "most_alone", "noticed", "tangent_loss"]

LAX = 0.01
"""How far the gap of a market may let somebody's tasks be off: conditions bound those of who weighs enough far better,
but one of a millionth of a millionth of all weight has anything at a gap that is nothing."""

FRACTIONS = 1_000
"""Users up to whom it is proven in fractions that somebody is left nothing, as `drfopt.engines.promised` does."""


def certify(
    instance: Instance,
    policy: Policy,
    tasks: np.ndarray,
    placement: np.ndarray | None,
    prices: np.ndarray,
    evidence: BoundsEvidence,
) -> Certificate:
    """Return the certificate of tasks (n,), placed as (n, k) or by type, at prices (k, m) of one unit of each class.

    `evidence` has the prices of ceilings, and the breakpoints that keep the guarantees.
    """
    ruled = "organisation" in instance.features
    rules = market_rules(instance, policy) if ruled else None
    infeasible, reason = infeasibility(instance, tasks, placement)
    limits = np.where(instance.unplaced(), 0.0, instance.limits)
    beta = np.maximum(np.asarray(evidence.bounds), 0.0)
    floors, rates, incomes = np.zeros(instance.n), policy.rates(instance), instance.weights
    stuck = limits == 0
    met = np.zeros(len(beta))
    if rules is not None:
        ceilings, rates, incomes = rules.ceilings, rules.rates, rules.incomes
        # Where nobody plays there are no prices.
        beta = beta if len(beta) else np.zeros(len(ceilings))
        met = ceilings @ tasks
        over = float((met - 1).max(initial=0.0))
        if over > max(infeasible, CAPACITY):
            infeasible, reason = over, f"{rules.names[int(met.argmax())]} is exceeded by {over:.1e} of it"
        # What is proven in fractions is judged in fractions, of which tasks are roundings.
        judged, given = rules, tasks
        if evidence.in_fractions:
            judged, given = market_rules(instance, policy, exact=True), tasks * (1 + CAPACITY)
        floors, stopped, wrong = _floors(judged, given, evidence)
        floors, stuck = floors.astype(float), stuck | stopped
        nothing = stuck & (floors == 0) & rules.clock.playing
        if not wrong and not evidence.in_fractions and instance.n <= FRACTIONS and nothing.any():
            user = instance.users[int(nothing.argmax())]
            wrong = f"user {user!r} is left nothing, and only fractions tell that from next to nothing"
        if wrong:
            return Certificate("bounds", False, np.inf, gap=None, reason=wrong)
    below = np.where(floors > 0, 1 - np.divide(tasks, floors, where=floors > 0, out=np.ones_like(tasks)), 0.0)
    if below.max(initial=0.0) > max(infeasible, CAPACITY):
        infeasible = float(below.max())
        reason = f"user {instance.users[int(below.argmax())]!r} is below its guarantee by {infeasible:.1e} of it"
    tiers = _tiers(rules, prices, beta, evidence, stuck | (floors >= limits))
    if isinstance(tiers, str):
        return Certificate("bounds", False, np.inf, gap=None, reason=tiers)
    gap, off, uncleared, lax = 0.0, np.zeros(instance.n), 0.0, 0.0
    turns = np.zeros(instance.n) if rules is None else rules.turns
    market, has = policy.objective == "alpha", floors
    # What rounding leaves of a profit is worth nothing for tasks that nobody could have.
    most = limits if rules is None else np.minimum(limits, rules.clock.leaves.most.astype(float) * (1 + LEVEL))
    most = np.where(np.isfinite(limits), np.maximum(most, tasks), limits)
    judged, left = stuck | (floors >= limits), stuck & (limits > 0)
    for tier in tiers:
        judged |= turns == tier.turn
        if (~judged & (turns < tier.turn)).any():
            break
        later = ~stuck & (turns > tier.turn)
        # Of a sum everybody may still move, and counts as much as it does in this tier.
        out = stuck | later | (turns < tier.turn) if market else stuck
        own = rates * (turns == tier.turn)
        size = 0.0 if rules is None or len(tiers) == 1 else float((own * rules.clock.leaves.most).max())
        with np.errstate(all="ignore"):
            found = _judged(instance, policy, tasks, placement, np.maximum(tier.prices, 0), np.asarray(tier.bounds),
                            met, floors, limits if market else most, out, later & market,
                            rates * _weights(tier, turns), own, size,
                            incomes if policy.weights != "none" else np.ones(instance.n),
                            np.zeros((0, instance.n)) if rules is None else rules.ceilings)  # fmt: skip
        gap, uncleared, lax = max(gap, found[0]), max(uncleared, found[2]), max(lax, found[3])
        off = np.maximum(off, np.where(out & ~stuck, 0.0, found[1]))
        if market and rules is not None:
            has = np.where(turns <= tier.turn, tasks, has)
            served = stuck | (turns <= tier.turn)
            stuck, wrong = _spent(rules.clock, has, served, tier.full)
            judged, left = judged | stuck, left | (stuck & ~served)
            if wrong:
                return Certificate("bounds", False, np.inf, gap=None, reason=wrong)
    if not judged.all():
        user = instance.users[int(judged.argmin())]
        return Certificate("bounds", False, np.inf, gap=None, reason=f"the tier of user {user!r} has no proof")
    worst = int(off.argmax()) if len(off) else 0
    violation = float(max(off.max(initial=0.0) if market else 0.0, uncleared if market else 0.0, infeasible))
    valid = bool(infeasible <= CAPACITY and gap <= GAP and (violation <= FIRST_ORDER))
    if not reason and not valid:
        reason = f"the gap is {gap:.1e}"
        if market and off.max(initial=0.0) > FIRST_ORDER:
            reason = f"user {instance.users[worst]!r} is off its best response at the prices by {off[worst]:.1e}"
        elif market and uncleared > FIRST_ORDER:
            reason = f"something has a price, but {uncleared:.1e} of it is unused"
    if valid and not lax <= LAX:
        valid, reason = False, f"all conditions hold, but somebody's tasks may be off by {lax:.1e}: use exact=True"
    lost = () if rules is None else broken(rules.clock, tasks)
    outbid = _outbid(rules, policy, tasks, left, prices, beta)
    proof = replace(evidence, prices=prices, bounds=beta, broken=lost, unpriced=outbid)
    return Certificate(
        kind="bounds",
        valid=valid,
        violation=violation,
        gap=gap,
        stopped_by=partial(_first_bottlenecks, instance, rules, tiers, evidence, tasks, limits),
        evidence=proof,
        reason=reason,
    )


def certify_exactly(
    instance: Instance, policy: Policy, tasks: np.ndarray, placement: np.ndarray | None, evidence: BoundsEvidence
) -> Certificate:
    """Return the certificate of exact tasks (n,), fractions or enclosures, placed as (n, k) or by type.

    `evidence` has exact prices of one unit (k, m), prices of ceilings, and the breakpoints that keep the guarantees;
    of enclosures a point in them, which is what is placed.
    """
    leximin = replace(policy, objective="leximin")
    rules = market_rules(instance, policy, exact=True) if "organisation" in instance.features else None
    clock = rules.clock if rules is not None else Clock(instance, leximin, exact=True)
    point = tasks if evidence.point is None else evidence.point
    zero = Fraction(0)
    if not clock.playing.any():
        prices, beta = np.full(stops.exact_room(instance).shape, zero), np.full(len(clock.ceilings), zero)
    else:
        prices, beta = np.asarray(evidence.prices), np.asarray(evidence.bounds)
    fault = stops.exceeded(clock, point, placement)
    floors, stuck = np.full(instance.n, zero), ~clock.playing
    if rules is not None:
        rates, incomes = rules.rates, rules.incomes
        floors, stuck, wrong = _floors(rules, point, evidence)
        fault = fault or wrong
    else:
        rates = np.array(policy.exact_rates(instance), dtype=object)
        incomes = np.array(instance.exact_weights, dtype=object)
    market, has = policy.objective == "alpha", floors
    tiers = _tiers(rules, prices, beta, evidence, stuck | np.array(floors == clock.leaves.most))
    turns = np.zeros(instance.n) if rules is None else rules.turns
    judged, left = stuck | np.array(floors == clock.leaves.most), stuck & clock.playing
    if isinstance(tiers, str):
        fault, tiers = fault or tiers, ()
    for tier in tiers if not fault else ():
        judged |= turns == tier.turn
        if (~judged & (turns < tier.turn)).any():
            break
        out = stuck | (turns != tier.turn) if market else stuck
        own = np.flatnonzero(~out).tolist()
        fault = _judged_exactly(
            clock, policy, tasks, point, floors, own, np.flatnonzero(~stuck & (turns > tier.turn)).tolist(),
            tier, incomes, rates * _weights(tier, turns),
        )  # fmt: skip
        if market and rules is not None:
            has = np.where(turns <= tier.turn, point, has)
            later = not fault and tier is not tiers[-1]
            if later and any(isinstance(tasks[i], Enclosure) for i in own):
                fault = "what an earlier tier has is known between two ends only"
            served = stuck | (turns <= tier.turn)
            stuck, wrong = _spent(clock, has, served, tier.full)
            judged, left = judged | stuck, left | (stuck & ~served)
            fault = fault or wrong
    if not fault and not judged.all():
        fault = f"the tier of user {instance.users[int(judged.argmin())]!r} has no proof"
    astray = [i for i in range(instance.n) if not lower(tasks[i]) <= point[i] <= upper(tasks[i])]
    if not fault and astray:
        fault = f"the point is not in the enclosure of user {instance.users[astray[0]]!r}"
    widths = [float(x.width / x.upper) for x in tasks if isinstance(x, Enclosure) and x.upper]
    stopped_by = partial(
        _first_bottlenecks,
        instance,
        None if rules is None else market_rules(instance, policy),
        tiers or [TierEvidence(0, prices, beta)],
        evidence,
        point.astype(np.float64),
        instance.limits,
    )
    return Certificate(
        kind="bounds",
        valid=not fault,
        violation=float("inf") if fault else 0.0,
        gap=max(widths, default=0.0),
        stopped_by=stopped_by,
        evidence=replace(
            evidence,
            broken=() if rules is None else broken(clock, point),
            unpriced=_outbid(rules, policy, point, left, prices, beta),
        ),
        rigorous=True,
        reason=fault,
    )


def _judged_exactly(
    clock: Clock,
    policy: Policy,
    tasks: np.ndarray,
    point: np.ndarray,
    floors: np.ndarray,
    playing: list[int],
    later: list[int],
    tier: TierEvidence,
    incomes: np.ndarray,
    rates: np.ndarray,
) -> str:
    """Return, in words, what the prices of a tier do not prove in fractions of those who are `playing` in it."""
    instance, zero, one = clock.instance, Fraction(0), Fraction(1)
    prices, bounds = np.asarray(tier.prices), np.asarray(tier.bounds)
    if min([*prices.ravel().tolist(), *bounds.tolist(), *tier.held.values()], default=zero) < 0:
        return "some price is negative"
    budget = prices * stops.exact_room(instance)
    cost = stops.costs(clock, budget, bounds)
    left = budget.sum() + bounds.sum() - sum((cost[i] * point[i] for i in np.flatnonzero(point).tolist()), zero)
    limits, market = instance.exact_limits, policy.objective == "alpha"
    alpha, worth = Fraction(str(policy.alpha)) if market else one, dict[int, Fraction]()
    if market and not all(point[i] for i in playing):
        return "somebody of the market has nothing"
    if not market:
        # Nobody without a limit may gain by what is free to it: prices rise until nobody does.
        gains = [rates[i] / cost[i] if cost[i] else None for i in playing if limits[i] is None and rates[i]]
        if None in gains:
            return "a task of somebody without a limit costs nothing"
        rise = max([one, *(gain for gain in gains if gain is not None)])
        cost, left = cost * rise, left * rise
    gain = left
    if market:
        gain += sum((cost[i] * (point[i] - floors[i]) for i in later), zero)
    most = {i: most_alone(instance, i) for i in playing}
    ends = [(i, low) for i in playing if (low := lower(tasks[i])) > floors[i]]
    ends += [(i, high) for i in playing if (high := upper(tasks[i])) < most[i]]
    apart = ((end, point[i]) for i, end in ends)
    digits = digits_between(apart, (cost[i] for i in playing)) if market else 0
    for i in playing:
        worth[i] = high = rates[i]
        if market:
            worth[i], high = marginal_between(incomes[i], rates[i], point[i], alpha, digits)
        gain += max((high - cost[i]) * (most[i] - point[i]), (cost[i] - worth[i]) * (point[i] - floors[i]))
    lost = ((i, tangent_loss(worth[i], point[i], end, alpha)) for i, end in ends if market)
    outside = [i for i, loss in lost if loss < gain]
    if outside or gain < 0 or (not market and gain):
        who = instance.users[[*outside, 0][0]]
        return f"the prices do not prove what user {who!r} has: {float(gain):.1e} could be gained"
    return ""


def most_alone(instance: Instance, i: int) -> Fraction:
    """Return the tasks of user i for which there would be room if everything were its, or its limit."""
    room, limit = stops.exact_room(instance), instance.exact_limits[i]
    found = [] if limit is None else [limit]
    for part, demand, fits in stops.kinds(instance, i):
        there = [min(c / d for c, d in zip(room[k], demand, strict=True) if d) for k in np.flatnonzero(fits)]
        found.append(sum(there, Fraction(0)) / part)
    return min(found)


def tangent_loss(worth: Fraction, tasks: Fraction, other: Fraction, alpha: Fraction) -> Fraction:
    """Return what, at least, the tangent at some tasks overestimates a utility by at others: see `verifier.markets`."""
    s = other / tasks
    return worth * tasks * alpha * (s - 1) ** 2 / (2 if s < 1 else 2 + 2 * max(alpha, Fraction(1)) * (s - 1))


def _judged(
    instance: Instance,
    policy: Policy,
    tasks: np.ndarray,
    placement: np.ndarray | None,
    prices: np.ndarray,
    beta: np.ndarray,
    met: np.ndarray,
    floors: np.ndarray,
    limits: np.ndarray,
    stuck: np.ndarray,
    later: np.ndarray,
    rates: np.ndarray,
    own: np.ndarray,
    size: float,
    incomes: np.ndarray,
    ceilings: np.ndarray,
) -> tuple[float, np.ndarray, float, float]:
    """Return the gap, how far all are off their best responses (n,), the largest unused part of what has a price, and
    of a market how far somebody's tasks may be off by the gap alone.

    Who is `stuck` has what it has in every allocation that counts, or, `later`, may have more that is worth nothing.
    Of a sum `own` are the rates of those whose sum it is, and `size` is what one of them could have alone, or 0.
    """
    room, types = instance.room, instance.type_table
    costs = unit_costs(instance, prices * room)
    cheapest = np.where(stuck & ~later, 0.0, cheapest_costs(instance, costs)) + beta @ ceilings
    amounts = tasks[:, None] if placement is None else placement
    used = amounts.T @ (instance.demands if types is None or placement is None else types.demands)
    left = np.where(prices > 0, room - used, 0.0)
    unused = np.divide(np.abs(left), room, where=(room > 0) & (prices > 0), out=np.zeros_like(room))
    uncleared = max(float(unused.max(initial=0.0)), float(np.abs(1 - met)[beta > 0].max(initial=0.0)))
    lowest = np.where(np.isfinite(costs.min(axis=1)), costs.min(axis=1), 0.0)
    dear = np.where(amounts > 0, amounts * (costs - lowest[:, None]), 0.0)
    missed = float((prices * left).sum() + beta @ (1 - met) + dear.sum())
    # Of who is stuck, what is paid is paid in every allocation that counts.
    low, high = np.where(stuck, tasks, floors), np.where(stuck, tasks, limits)
    playing = ~stuck
    missed += float((cheapest * (tasks - floors))[later].sum())
    if policy.objective == "sum":
        finite = np.isfinite(high)
        worth = rates
        if (playing & ~finite & (worth > 0)).any():
            rows = playing & ~finite & (worth > 0)
            raised = max(1.0, float((worth[rows] / cheapest[rows]).max()))
            if raised == np.inf:
                return np.inf, np.zeros(instance.n), uncleared, 0.0
            if raised > 1:
                missed, cheapest = missed * raised, cheapest * raised
        profit = worth - cheapest
        best = np.where(profit > 0, np.where(finite, high, tasks), low)
        gain = np.where(playing, profit * (best - tasks), 0.0)
        value = float(own @ tasks)
        more = abs(missed + float(gain.sum()))
        if value <= 0 and size:  # What is left to a tier that has nothing is a part of what it could have alone.
            value = size
        # The smallest sum is infinitely more than none, where somebody could have it.
        gap = more / value if value > 0 else float(more > 0 and playing.any())
        return gap, np.zeros(instance.n), uncleared, 0.0
    alpha = policy.alpha
    levels = rates * tasks
    worth = incomes * rates * levels**-alpha
    ratio = cheapest / worth - 1  # above 0: it would have less, below 0: more
    at_limit = tasks >= high * (1 - AT_LIMIT)
    at_floor = (tasks <= low * (1 + AT_LIMIT)) & (low > 0)
    # Levels follow prices to the power 1/alpha: so far is everybody from the level it would choose.
    off = np.abs(ratio) / alpha
    off = np.where((at_limit & (ratio < 0)) | (at_floor & (ratio > 0)), 0.0, off)
    off = np.where(playing, np.where(np.isnan(off), np.inf, off), np.where(tasks == high, 0.0, np.inf))
    money = np.where(playing, worth * tasks, 0.0)
    # What somebody loses who is off by a little is of second order; the conditions hold whoever is off by more.
    lost = float((money * off**2).sum()) * alpha
    total, gap = float(money.sum()), abs(missed) + lost
    free = playing & ~at_limit & ~at_floor & (money > 0)
    # By concavity nobody is so far from the optimum that its tangent loses more than the gap: see `tangent_loss`.
    lax = (2 * gap / (alpha * money[free])) ** 0.5
    return (gap / total if total > 0 else 0.0), off, uncleared, float(lax.max(initial=0.0))


def _floors(rules: MarketRules, tasks: np.ndarray, evidence: BoundsEvidence) -> tuple[np.ndarray, np.ndarray, str]:
    """Return the floors (n,), who has no more than that while guarantees are kept, and what is wrong with the proof."""
    clock = rules.clock
    start = clock.start()
    out = ~clock.playing
    if not start.promising:
        return np.full(len(tasks), clock.zero), out, ""
    has, stopped, fault = stops.floors(clock, tasks, evidence.breakpoints)
    stopped, wrong = _spent(clock, has, stopped, evidence.full)
    return has, stopped, fault or wrong


def _outbid(
    rules: MarketRules | None, policy: Policy, tasks: np.ndarray, left: np.ndarray, prices: np.ndarray, beta: np.ndarray
) -> tuple[str, ...]:
    """Return who of those who are `left` no more than they have (n,) would pay for more of it than it costs.

    The market is without them: a multiplier of the program with them, if there is one, is larger.  Of who has nothing
    there is none, as the first part of a task is worth any price to it.
    """
    if rules is None or policy.objective != "alpha" or not left.any():
        return ()
    instance = rules.clock.instance
    room = stops.exact_room(instance) if rules.clock.exact else instance.room
    cost = stops.costs(rules.clock, prices * room, beta).astype(float)
    # Who needs only what there is none of, or what is excluded from shares, pays nothing for it.
    levels = np.where(rules.rates > 0, rules.rates * tasks, 1).astype(float)
    with np.errstate(divide="ignore", over="ignore"):
        worth = (rules.incomes * rules.rates).astype(float) * levels**-policy.alpha
    below = tasks < rules.clock.leaves.most
    return tuple(instance.users[i] for i in np.flatnonzero(left & below & (worth * (1 - LEVEL) > cost)))


def left_by_promises(
    instance: Instance, policy: Policy, tasks: np.ndarray, evidence: BoundsEvidence
) -> tuple[np.ndarray, np.ndarray]:
    """Return what guarantees are worth, (n,), and who has no more than that while they are kept, bool (n,).

    Of tasks (n,) that `evidence` proves.
    """
    rules = market_rules(instance, policy, exact=evidence.in_fractions)
    floors, stopped, _ = _floors(rules, tasks, evidence)
    return floors.astype(np.float64), stopped & rules.clock.playing


def _spent(
    clock: Clock, has: np.ndarray, stopped: np.ndarray, full: Sequence[tuple[np.ndarray, np.ndarray]]
) -> tuple[np.ndarray, str]:
    """Return who is stopped (n,) where what everybody has costs all there is, and what is wrong with these prices."""
    fault = ""
    for prices, bounds in full:
        price = stops.costs(clock, prices, bounds)
        price = price if clock.exact else np.nan_to_num(price, posinf=0.0)
        paying = (price > 0) & ~stopped
        held = noticed(clock, has, paying)
        if clock.exact:
            left, allowed = prices.sum() + bounds.sum() - price @ has, 0.0
        else:
            left, allowed = excess(np.concatenate([prices.ravel(), bounds]), price, has), LEVEL
        if prices.min() < 0 or (paying & (left > allowed * price * held)).any():
            fault = fault or "the floors do not cost all that there is at the prices that are to prove it"
        stopped = stopped | paying
    return stopped, fault


def noticed(clock: Clock, has: np.ndarray, asking: np.ndarray) -> np.ndarray:
    """Return tasks (n,) of which the accuracy is a part: what everybody has, or could run alone where it has nothing.

    Of who is `asking` that is counted where its tasks fit, which may be far less than in a pool of all that there is.
    """
    held = np.where(has > 0, has, clock.leaves.most)
    if not clock.exact and len(held) <= FRACTIONS:
        for i in np.flatnonzero(asking & (has <= 0)).tolist():
            held[i] = min(held[i], float(most_alone(clock.instance, i)))
    return held


def _tiers(
    rules: MarketRules | None, prices: np.ndarray, bounds: np.ndarray, evidence: BoundsEvidence, settled: np.ndarray
) -> Sequence[TierEvidence] | str:
    """Return what proves each tier, of one alone the prices of all; in words, whose tier has no proof.

    Who is `settled` (n,) needs none.
    """
    if rules is None:
        return [TierEvidence(0, prices, bounds)]
    turns = rules.turns
    there = sorted(set(turns[~settled].tolist()))
    if not evidence.tiers and len(there) < 2:
        return [TierEvidence(there[0] if there else 0, prices, bounds)]
    given = [tier.turn for tier in evidence.tiers]
    if given != sorted(set(given)):
        return "the tiers are not proven in their order"
    return evidence.tiers


def _weights(tier: TierEvidence, turns: np.ndarray) -> np.ndarray:
    """Return how much everybody counts in a tier, (n,): its own in full, earlier ones as they are held."""
    found = np.where(turns == tier.turn, 1, 0)
    for turn, weight in tier.held.items():
        if turn < tier.turn:
            found = np.where(turns == turn, weight, found)
    return found


def _first_bottlenecks(
    instance: Instance,
    rules: MarketRules | None,
    tiers: Sequence[TierEvidence],
    evidence: BoundsEvidence,
    tasks: np.ndarray,
    limits: np.ndarray,
) -> tuple:
    """Return what stops each user first: guarantees that leave it no more, then the tiers up to its own in order."""
    room, found = instance.room, list[Any]([None] * instance.n)
    unit = np.where(room > 0, room, 1.0)
    promised = [(stop.prices, stop.bounds) for stop in evidence.breakpoints] + [*evidence.full]
    each: list[tuple[Any, Any, Any]] = [(-1, prices / unit, bounds) for prices, bounds in promised]
    # The prices of one tier are everybody's, whichever it is: earlier ones may hold nobody who is not at its limit.
    single = rules is None or len(tiers) == 1
    for tier in tiers:
        turn = 0 if single else tier.turn
        each.append((turn, tier.in_floats.prices, tier.in_floats.bounds))
        each += [(turn, prices / unit, bounds) for prices, bounds in tier.full]
    turns = [0] * instance.n if rules is None or single else rules.turns.tolist()
    for at, prices, bounds in each:
        paid = np.maximum(np.asarray(prices, dtype=np.float64), 0), np.asarray(bounds, dtype=np.float64)
        here = _bottlenecks(instance, rules, *paid, tasks, limits)
        found = [one or (stop if turn >= at else None) for one, stop, turn in zip(found, here, turns, strict=True)]
    return tuple(found)


def _bottlenecks(
    instance: Instance,
    rules: MarketRules | None,
    prices: np.ndarray,
    beta: np.ndarray,
    tasks: np.ndarray,
    limits: np.ndarray,
) -> tuple:
    """Return what each user pays for below its limit: a resource of a pool, cells and ceilings on machines."""
    budget = prices * instance.room
    classes, resources = np.nonzero(budget > GAP * max(float(budget.max(initial=0.0)), 0.0))
    names = cell_names(instance, classes, resources)
    paid = pays(instance, np.arange(instance.n), classes, resources)
    pool = instance.machines is None
    full = np.zeros(0) if rules is None else np.asarray(rules.ceilings @ tasks >= 1 - LEVEL)
    found: list[Any] = []
    closed = closed_by(instance)
    for i in range(instance.n):
        mine = list(closed.get(i, ()))
        if not mine and tasks[i] < limits[i] * (1 - LEVEL):
            mine = [names[c] for c in np.flatnonzero(paid[i])]
            if rules is not None:
                mine += [rules.names[b] for b in np.flatnonzero(beta > 0) if rules.ceilings[b, i] > 0]
        if rules is not None and not mine and tasks[i] < instance.limits[i] * (1 - LEVEL):
            # Guarantees alone may fill the ceiling of a group, which has no price then.
            mine = [rules.names[b] for b in np.flatnonzero(full) if rules.ceilings[b, i] > 0]
        if pool and mine:
            costs = {name: prices[0, j] * instance.demands[i, j] for name, j in zip(names, resources, strict=True)}
            costs |= {} if rules is None else dict(zip(rules.names, beta * rules.ceilings[:, i], strict=True))
            mine = sorted(mine, key=lambda name: -costs.get(name, 0.0))
        found.append((mine[0] if pool else tuple(mine)) if mine else None)
    return tuple(found)
