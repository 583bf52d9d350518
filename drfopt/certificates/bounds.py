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

The floors are judged apart: tasks that all promises are worth are floors as they stand; where they do not fit together
the stops of the first stage are replayed (`stops`), which prove how far each can be kept.

Largest sums without any of these (utilitarian, throughput), `certify_sum`: with prices p >= 0 and a task of user i
worth v_i, no allocation is worth more than ``sum p . capacity + sum_i max(0, v_i - q_i) u_i``, q_i the cost of a task
on her cheapest class, u_i her limit.  Where an unlimited user's task is worth more than it costs, all prices are raised
until it is not: that keeps the bound a bound whatever the solver's rounding.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..base.tolerances import CAPACITY, FIRST_ORDER, GAP, LEVEL
from ..model.allocation import Certificate
from ..model.evidence import BoundsEvidence, PriceEvidence
from ..model.hierarchy import broken
from ..model.hierarchy.market import MarketRules, market_rules
from ..model.instance import Instance
from ..model.policies import Policy
from . import stops
from .chain import cell_names, cheapest_costs, excess, pays, unit_costs
from .feasibility import infeasibility

__all__ = ["certify", "certify_sum"]

AT = 1e-12
"""Relative distance from a floor or limit at which somebody counts as at it: a few roundings."""


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
        floors, stopped, wrong = _floors(rules, tasks, evidence)
        stuck |= stopped
        if wrong:
            return Certificate("bounds", False, np.inf, gap=None, reason=wrong)
    below = np.where(floors > 0, 1 - np.divide(tasks, floors, where=floors > 0, out=np.ones_like(tasks)), 0.0)
    if below.max(initial=0.0) > max(infeasible, CAPACITY):
        infeasible = float(below.max())
        reason = f"user {instance.users[int(below.argmax())]!r} is below its guarantee by {infeasible:.1e} of it"
    with np.errstate(all="ignore"):
        found = _judged(instance, policy, tasks, placement, np.maximum(prices, 0), beta, met, floors, limits, stuck,
                        rates, incomes if policy.weights != "none" else np.ones(instance.n),
                        np.zeros((0, instance.n)) if rules is None else rules.ceilings)  # fmt: skip
    gap, off, uncleared = found
    market = policy.objective == "alpha"
    worst = int(off.argmax()) if len(off) else 0
    violation = float(max(off.max(initial=0.0) if market else 0.0, uncleared if market else 0.0, infeasible))
    valid = bool(infeasible <= CAPACITY and gap <= GAP and (violation <= FIRST_ORDER))
    if not reason and not valid:
        reason = f"the gap is {gap:.1e}"
        if market and off.max(initial=0.0) > FIRST_ORDER:
            reason = f"user {instance.users[worst]!r} is off its best response at the prices by {off[worst]:.1e}"
        elif market and uncleared > FIRST_ORDER:
            reason = f"something has a price, but {uncleared:.1e} of it is unused"
    lost = () if rules is None else broken(rules.clock, tasks)
    proof = replace(evidence, prices=prices, bounds=beta, broken=lost)
    return Certificate(
        kind="bounds",
        valid=valid,
        violation=violation,
        gap=gap,
        stopped_by=partial(_bottlenecks, instance, rules, np.maximum(prices, 0), beta, tasks, limits, stuck),
        evidence=proof,
        reason=reason,
    )


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
    rates: np.ndarray,
    incomes: np.ndarray,
    ceilings: np.ndarray,
) -> tuple[float, np.ndarray, float]:
    """Return the gap, how far everybody is off its best response (n,), and the largest unused part of what is priced.

    Who is `stuck` has what it has in every allocation that keeps the guarantees.
    """
    room, types = instance.room, instance.type_table
    costs = unit_costs(instance, prices * room)
    cheapest = np.where(stuck, 0.0, cheapest_costs(instance, costs)) + beta @ ceilings
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
    if policy.objective == "sum":
        finite = np.isfinite(high)
        worth = rates
        if (playing & ~finite).any():
            rows = playing & ~finite
            raised = max(1.0, float((worth[rows] / cheapest[rows]).max()))
            if raised == np.inf:
                return np.inf, np.zeros(instance.n), uncleared
            if raised > 1:
                missed, cheapest = missed * raised, cheapest * raised
        profit = worth - cheapest
        best = np.where(profit > 0, np.where(finite, high, tasks), low)
        gain = np.where(playing, profit * (best - tasks), 0.0)
        value = float(rates @ tasks)
        gap = abs(missed + float(gain.sum())) / value if value > 0 else float(missed > 0)
        return gap, np.zeros(instance.n), uncleared
    alpha = policy.alpha
    levels = rates * tasks
    worth = incomes * rates * levels**-alpha
    ratio = cheapest / worth - 1  # above 0: it would have less, below 0: more
    at_limit = tasks >= high * (1 - AT)
    at_floor = (tasks <= low * (1 + AT)) & (low > 0)
    # Levels follow prices to the power 1/alpha: so far is everybody from the level it would choose.
    off = np.abs(ratio) / alpha
    off = np.where((at_limit & (ratio < 0)) | (at_floor & (ratio > 0)), 0.0, off)
    off = np.where(playing, np.where(np.isnan(off), np.inf, off), np.where(tasks == high, 0.0, np.inf))
    money = np.where(playing, worth * tasks, 0.0)
    # What somebody loses who is off by a little is of second order; the conditions hold whoever is off by more.
    lost = float((money * off**2).sum()) * alpha
    total = float(money.sum())
    return ((abs(missed) + lost) / total if total > 0 else 0.0), off, uncleared


def _floors(rules: MarketRules, tasks: np.ndarray, evidence: BoundsEvidence) -> tuple[np.ndarray, np.ndarray, str]:
    """Return the floors (n,), who has no more than that while guarantees are kept, and what is wrong with the proof."""
    clock = rules.clock
    start = clock.start()
    out = ~clock.playing
    if not start.promising:
        return np.zeros(len(tasks)), out, ""
    has, stopped, fault = stops.floors(clock, tasks, evidence.breakpoints)
    for prices, bounds in evidence.full:
        price = np.nan_to_num(stops.costs(clock, prices, bounds), posinf=0.0)
        left = excess(np.concatenate([prices.ravel(), bounds]), price, has)
        held = np.where(has > 0, has, clock.leaves.most)
        paying = (price > 0) & ~stopped
        if prices.min() < 0 or (paying & (left > LEVEL * price * held)).any():
            fault = fault or "the floors do not cost all that there is at the prices that are to prove it"
        stopped = stopped | paying
    return has, stopped, fault


def _bottlenecks(
    instance: Instance,
    rules: MarketRules | None,
    prices: np.ndarray,
    beta: np.ndarray,
    tasks: np.ndarray,
    limits: np.ndarray,
    stuck: np.ndarray,
) -> tuple:
    """Return what each user pays for below its limit: a resource of a pool, cells and ceilings on machines."""
    budget = prices * instance.room
    classes, resources = np.nonzero(budget > GAP * max(float(budget.max(initial=0.0)), 0.0))
    names = cell_names(instance, classes, resources)
    paid = pays(instance, np.arange(instance.n), classes, resources)
    pool = instance.machines is None
    found: list[Any] = []
    for i in range(instance.n):
        mine = [names[c] for c in np.flatnonzero(paid[i])] if tasks[i] < limits[i] * (1 - LEVEL) else []
        if rules is not None and tasks[i] < limits[i] * (1 - LEVEL):
            mine += [rules.names[b] for b in np.flatnonzero(beta > 0) if rules.ceilings[b, i] > 0]
        if pool and mine:
            costs = {name: prices[0, j] * instance.demands[i, j] for name, j in zip(names, resources, strict=True)}
            costs |= {} if rules is None else dict(zip(rules.names, beta * rules.ceilings[:, i], strict=True))
            mine = sorted(mine, key=lambda name: -costs.get(name, 0.0))
        found.append((mine[0] if pool else tuple(mine)) if mine else None)
    return tuple(found)


def certify_sum(
    instance: Instance, policy: Policy, tasks: np.ndarray, placement: np.ndarray | None, prices: np.ndarray
) -> Certificate:
    """Return the certificate of tasks (n,), placed as (n, k), at prices (k, m) of one unit of each class."""
    infeasible, reason = infeasibility(instance, tasks, placement)
    total = instance.room
    budget = np.maximum(prices, 0) * total
    worth = policy.rates(instance)
    playing = ~instance.unplaced() & (instance.limits > 0)
    cheapest = np.where(playing, cheapest_costs(instance, unit_costs(instance, budget)), 1.0)
    unlimited = playing & np.isinf(instance.limits)
    if unlimited.any():
        with np.errstate(divide="ignore"):
            raised = max(1.0, float((worth[unlimited] / cheapest[unlimited]).max()))
        if raised == np.inf:
            free = instance.users[int(np.argmax(unlimited & (cheapest == 0)))]
            return Certificate(
                "duals",
                False,
                np.inf,
                gap=np.inf,
                reason=f"a task of user {free!r} costs nothing, and it has no limit",
            )
        budget, cheapest = budget * raised, cheapest * raised
    finite = playing & ~unlimited
    profit = np.zeros(instance.n)
    profit[finite] = np.maximum(worth[finite] - cheapest[finite], 0) * instance.limits[finite]
    bound = float(budget.sum() + profit.sum())
    objective = float(worth @ tasks)
    gap = abs(bound - objective) / objective if objective > 0 else float(bound > 0)
    violation = max(infeasible, np.inf if tasks[~playing].any() else 0.0)
    valid = infeasible <= CAPACITY and gap <= GAP and violation <= CAPACITY
    if not reason and not valid:
        reason = f"the sum is {objective:.12g}, and what the prices prove is that it is at most {bound:.12g}"
    return Certificate(
        kind="duals",
        valid=bool(valid),
        violation=violation,
        gap=gap,
        stopped_by=partial(_sum_bottlenecks, instance, budget, tasks),
        evidence=PriceEvidence(prices=prices),
        reason=reason,
    )


def _sum_bottlenecks(instance: Instance, budget: np.ndarray, tasks: np.ndarray) -> tuple:
    """Return the priced resources that each user below her limit needs."""
    classes, resources = np.nonzero(budget > GAP * max(float(budget.max()), 0.0))
    names = cell_names(instance, classes, resources)
    found: list = []
    for needs, below in zip(
        pays(instance, np.arange(instance.n), classes, resources), tasks < instance.limits, strict=True
    ):
        mine = [names[q] for q in np.flatnonzero(needs)] if below else []
        found.append((mine[0] if instance.machines is None else tuple(mine)) if mine else None)
    return tuple(found)
