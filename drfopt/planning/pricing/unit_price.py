"""What one more unit is worth: shadow prices of resources and machines, who gains by them, and how far that holds.

Two questions that are easily taken for one:

- A *shadow price* is the dual of a program: what its value gains by one unit when shares go on being shares of the
  cluster as it is.  It is 0 where something is left over.
- *Slopes* say what happens when the cluster is really enlarged and divided again.  Then every share is a share of a
  larger whole: who needs most of what was added has a smaller share than before, and is given more tasks to make up
  for it.  So a unit that nobody waits for can still move tasks from one user to another.

Both are of one side: a unit more may be worth less than what a unit less costs.  Slopes of a leximin come from the
rounds that hold the users (`drfopt.planning.pricing.binding_rounds`), and `until` says how far the same rounds do.

How the two sides of a unit are looked at: by binding rounds, by a market's conditions, by the program of a sum, by
the sides of every class.

The largest sum of levels as a function of one amount: concave, in straight pieces, each the dual of a program.

The dual of the program for any amount is a line that the sum exceeds nowhere.  The lines found at the ends of what is
known cross where a price stops being true, or show that it is true all the way: a few programs find the piece next to
the amount there is, and its end, whatever ties there are.  Levels are shares of the cluster as it is.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from ...base.errors import CertificateError, InstanceError, PolicyError, SolverError, listed
from ...base.numbers.quantities import exact as exact_number
from ...base.progress import report
from ...base.tolerances import LEVEL
from ...engines.hierarchy import FRACTIONS
from ...engines.problem import Problem
from ...engines.promised import kept, market_of_incomes
from ...model.allocation import Allocation
from ...model.hierarchy.market import market_rules
from ...model.instance import FEATURES, Instance
from ...model.policies import AnyPolicy, Policy, policy_named, policy_on
from ...solving.allocating import solve
from .binding_rounds import held
from .class_slopes import ClassSlopes
from .clock_slopes import APART, TOTAL, divided
from .feasible_growth import Room, skewed, slopes_of_rates
from .market_slopes import MarketDifferential, slopes_of
from .price_table import Noise, OneSided, Prices, Worth
from .sensitivity import side
from .units import Unit, fine, grown, units_named, units_of

__all__ = ["LOOKS", "TOTAL", "Look", "Piece", "Sums", "price"]


ON_LINE = 1e-9
"""Distance from a line, relative to the sum, that the solver's tolerances account for."""

NEXT = 1e-8
"""Part of what there is, below which a piece is no piece: another begins right here."""

NOISE = 1e-7
"""A slope that moves less than this part of what it is of when everything is doubled is what differences left of 0."""

BESIDE = 1e-6
"""Part of what there is, at which a sum is looked at whose floors change with it; fractions have no rounding."""

ROUNDING = 1e-11
"""A slope that moves less than this part of what it is of when everything is doubled is what rounding left of 0."""

CUTS = 100
"""Programs for one side: more than have ever been needed."""


@dataclass(frozen=True)
class Piece:
    """What one unit more is worth next to the amount there is, and for how many units."""

    price: float
    reach: float


class Sums:
    """The largest sum of levels under a policy, for a cluster that grows or shrinks.

    Floors of guarantees stay as they are, but where guarantees do not fit (`tight`) they grow with the cluster.  Rules
    are left out of a sum that is not `ruled`.
    """

    tight = False

    def __init__(self, instance: Instance, policy: Policy, ruled: bool = True):
        self.instance = instance
        self._problem = Problem(instance, policy)
        self._none = self._problem.n == 0
        if not self._none:
            from ...engines.sums import program

            by_type, promised = self._problem.by_type, None
            rates = self._problem.rates
            if "organisation" in instance.features and ruled:
                promised = kept(self._problem)
                rates = promised.rates
                self.tight = bool((promised.stopped & (promised.floors < self._problem.limits)).any())
            self._stated = program(by_type, rates[by_type.user], by_type.limits, promised)
            self.now, self._prices = self._solved(np.zeros_like(instance.room))

    def price(self, unit: Unit) -> float:
        """Return the price of one unit in the certificate of the sum; where there are several, one of them."""
        return 0.0 if self._none else float((self._prices * unit.growth).sum())

    def side(self, unit: Unit, more: bool, end: float) -> Piece:
        """Return the piece next to the amount there is, followed so many units far at most.

        Raises
        ------
        SolverError
            When the lines do not settle.
        """
        sign = 1.0 if more else -1.0
        slope = sign * self.price(unit)
        if self._none or (more and not slope):
            # A sum is concave and never falls: what is worth nothing now never will be.
            return Piece(0.0, end)
        others: list[tuple[float, float]] = []
        tried = np.inf
        for _ in range(CUTS):
            crossings = [(above / (slope - other), other) for above, other in others if other < slope]
            step, steeper = min(crossings, default=(end, slope))
            if step <= NEXT * unit.now:
                # That line begins where the first does: this side is its own.
                slope, tried = steeper, np.inf
                continue
            step = min(step, end)
            if step >= tried * (1 - ROUNDING):
                # The line found there is the one that crosses there: it is so steep that its value is not to be seen.
                return Piece(sign * slope, step)
            tried = step
            try:
                value, prices = self._solved(sign * step * unit.growth)
            except SolverError:
                # So far down not even the floors of guarantees fit.
                if step <= NEXT * unit.now or more:
                    raise
                end, tried = step / 2, np.inf
                continue
            if value >= self.now + slope * step - ON_LINE * self.now:
                return Piece(sign * slope, step)
            other = sign * float((prices * unit.growth).sum())
            others.append((max(value - other * step - self.now, 0.0), other))
        raise SolverError(f"{CUTS} programs do not tell how far the price of {unit.name!r} holds: use whatif instead")

    def beside(self, unit: Unit, more: bool) -> float:
        """Return the price next to the amount there is where floors change with it: from the sum of a changed cluster.

        Raises
        ------
        SolverError
            When others take part there.
        """
        from ...engines.sums import most_exactly, most_tasks

        few = self._problem.n <= FRACTIONS
        step = fine(unit, min((BESIDE if few else APART) * unit.now, unit.end(more) / 2))
        cluster, times = grown(self.instance, unit, step if more else -step)
        there = Problem(cluster, self._problem.policy)
        if there.members.tolist() != self._problem.members.tolist():
            raise SolverError(f"others take part where there is a little {'more' if more else 'less'} of {unit.name!r}")
        worth = kept(self._problem, exact=few).rates

        def most(problem: Problem) -> Any:
            promised = kept(problem, exact=few)
            return (
                most_exactly(problem, worth.tolist(), promised) if few else worth @ most_tasks(problem, worth, promised)
            )

        return abs(float(most(there) / (exact_number(times) if few else times) - most(self._problem))) / step

    def _solved(self, growth: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the largest sum, and the prices of a unit (k, m), in a cluster that has grown."""
        from ...engines.linear_programs import INFINITY, run

        stated, rows, room = self._stated, self._stated.rows, self.instance.room
        cells = (rows.machine, rows.resource)
        high = np.maximum(1 + growth[cells] / room[cells], 0.0)
        highs: Any = stated.highs
        highs.changeRowsBounds(len(high), np.arange(len(high)), np.full(len(high), -INFINITY), high)
        found = run(highs, "the largest sum of a changed cluster", self._problem.deadline)
        prices = np.zeros_like(room)
        prices[cells] = np.maximum(-found.duals[: len(rows.machine)], 0) * stated.largest / room[cells]
        return -found.objective * stated.largest, prices


Look = Callable[[Unit, bool], OneSided | None]


def _by_links(allocation: Allocation, totals: Sums) -> Look:
    """Look at a leximin: the rounds of each side say who goes where."""
    base = held(allocation)
    room = Room(base.instance, base.policy, allocation.tasks)

    def look(unit: Unit, more: bool) -> OneSided | None:
        reach = side(base, room, unit, more)
        if reach is None:
            return None
        found = reach.held
        place = found.at(base.instance.room)
        tasks, levels = found.slopes(unit.growth, more)
        tasks = _firm(tasks, place.tasks, place.rates, unit)
        shadow, lowest = 0.0, None
        if found.rounds:
            whole = unit.whole(base.instance)
            # Shares that stay those of the cluster as it is do not turn.
            _, rising = found.slopes(unit.growth, more, np.zeros(base.instance.n))
            # Who is at its limit and falls below it here is held from here on, and its level was not the lowest below.
            all_held = np.ones(len(found.rounds), dtype=bool)
            below = np.array([not base.capped[binding.finished].all() for binding in found.rounds])
            shadow = _slope_of_lowest(place.levels, rising, all_held, more, whole)
            lowest = _slope_of_lowest(place.levels, levels, below if below.any() else all_held, more, whole)
        total = totals.side(unit, more, unit.end(more))
        return OneSided(
            shadow,
            lowest,
            _of_shares(base.instance, unit, more, place.tasks, tasks),
            tasks,
            unit.until(more, reach.units),
            total.price,
            unit.until(more, total.reach),
            found,
        )

    return look


def _by_sums(allocation: Allocation, totals: Sums) -> Look:
    """Look at a sum: its value has a slope, its optimum leaves a choice."""
    policy = policy_on(allocation.policy, allocation.instance)
    ruled = "organisation" in allocation.instance.features
    rules = allocation.instance.organisation
    in_turn = rules is not None and len(set(rules.in_turn or ())) > 1
    sums = totals if in_turn or (policy.measure == TOTAL.measure and not ruled) else Sums(allocation.instance, policy)

    def look(unit: Unit, more: bool) -> OneSided | None:
        end = unit.end(more)
        if end <= ROUNDING * unit.now:
            return None
        total = totals.side(unit, more, end)
        if in_turn or sums.tight:
            total_until = unit.until(more, total.reach)
            slope = _of_tiers(allocation, unit, more) if in_turn else sums.beside(unit, more)
            return OneSided(slope, None, None, None, None, total.price, total_until, ranged=False)
        piece = sums.side(unit, more, end)
        until = unit.until(more, piece.reach)
        return OneSided(piece.price, None, None, None, until, total.price, unit.until(more, total.reach))

    return look


def _of_tiers(allocation: Allocation, unit: Unit, more: bool) -> float:
    """Return the price, in the sum of all tiers, next to the amount there is: a changed cluster is divided in turn."""
    instance, policy = allocation.instance, policy_on(allocation.policy, allocation.instance)
    few = instance.n <= FRACTIONS
    step = fine(unit, min((BESIDE if few else APART) * unit.now, unit.end(more) / 2))
    cluster, times = grown(instance, unit, step if more else -step)
    worth = market_rules(instance, policy, exact=few).rates
    now, there = (worth @ solve(one, policy, exact=few).tasks for one in (instance, cluster))
    return float(there / (exact_number(times) if few else times) - now) / (step if more else -step)


def _by_market(allocation: Allocation, totals: Sums) -> Look:
    """Look at a market: its conditions of the first order, differentiated."""
    market, rates = MarketDifferential(allocation), policy_named(allocation.policy).rates(allocation.instance)

    def look(unit: Unit, more: bool) -> OneSided | None:
        end = unit.end(more)
        if end <= ROUNDING * unit.now:
            return None
        tasks = _firm(slopes_of(market, unit, more), allocation.tasks, rates, unit)
        total = totals.side(unit, more, end)
        return OneSided(
            market.price(unit),
            market.lowest(unit, more, tasks),
            _of_shares(allocation.instance, unit, more, allocation.tasks, tasks),
            tasks,
            None,
            total.price,
            unit.until(more, total.reach),
        )

    return look


def _by_dividing(allocation: Allocation, totals: Sums, skewed: bool) -> Look:
    """Look at rules of an organisation, or types on machines: changed clusters are divided, by the same stops."""
    near = divided(allocation, skewed)
    instance = allocation.instance

    def look(unit: Unit, more: bool) -> OneSided | None:
        end = unit.end(more)
        if end <= ROUNDING * unit.now:
            return None
        found, whole = near.slopes(unit, more), unit.whole(instance)
        below = ~instance.unplaced() & (allocation.tasks > 0) & (allocation.tasks < instance.limits * (1 - LEVEL))
        lowest, least, shared = None, 0.0, float(allocation.dominant_shares.sum())
        if below.any():
            lowest = _slope_of_lowest(allocation.levels, found.levels, below, more, whole)
            least = float(allocation.levels[below].min())
        part = NOISE / whole
        noise = Noise(part * allocation.tasks, part * least, part * shared)
        tasks = np.where(np.abs(found.tasks) > noise.tasks, found.tasks, 0.0)
        shares = _beyond_noise(found.shares, shared, whole)
        total = totals.side(unit, more, end)
        until, value = unit.until(more, total.reach), near.price(unit, more)
        return OneSided(value, lowest, shares, tasks, None, total.price, until, noise=noise)

    return look


def _by_machine(allocation: Allocation, totals: Sums) -> Look:
    """Look at machines by themselves: each class is a pool, whose sides add up."""
    each, instance, policy = ClassSlopes(allocation, price), allocation.instance, policy_named(allocation.policy)
    tasks, rates = allocation.tasks, policy.rates(instance)
    below = ~instance.unplaced() & (tasks > 0)

    def look(unit: Unit, more: bool) -> OneSided | None:
        found = each.slopes(unit, more)
        if found is None:
            return None
        gained, shadow, reach = found
        gained, lowest, whole = _firm(gained, tasks, rates, unit), None, unit.whole(instance)
        if below.any():
            levels = slopes_of_rates(policy, instance, unit.growth, more) * tasks + rates * gained
            lowest = _slope_of_lowest(allocation.levels, levels, below, more, whole)
        shares = _beyond_noise(_of_shares(instance, unit, more, tasks, gained), allocation.dominant_shares.sum(), whole)
        total = totals.side(unit, more, unit.end(more))
        return OneSided(
            shadow,
            lowest,
            shares,
            gained,
            None if reach is None else unit.until(more, reach),
            total.price,
            unit.until(more, total.reach),
        )

    return look


LOOKS: dict[str, Callable[[Allocation, Sums], Look]] = {
    "leximin": _by_links,
    "alpha": _by_market,
    "sum": _by_sums,
    "servers": _by_machine,
}
"""How the sides of a unit are looked at, by the objective of the policy."""


def _firm(slopes: np.ndarray, tasks: np.ndarray, rates: np.ndarray, unit: Unit) -> np.ndarray:
    """Return the slopes without those that rounding made, in levels: a task of somebody may be most of a cluster."""
    known = np.isfinite(rates) & (rates > 0)
    rates = np.where(known, rates, 1.0)
    scale = max(
        float(np.abs(slopes * rates)[known].max(initial=0.0)), float((tasks * rates)[known].max(initial=0.0)) / unit.now
    )
    return np.where(np.abs(slopes) * rates > ROUNDING * scale, slopes, 0.0)


def _beyond_noise(slope: float, size: float, whole: float) -> float:
    """Return a slope, 0 where rounding made it: doubling everything would add next to nothing to the size."""
    return slope if abs(slope) * whole > NOISE * abs(size) else 0.0


def _slope_of_lowest(levels: np.ndarray, slopes: np.ndarray, among: np.ndarray, more: bool, whole: float) -> float:
    """Return the slope on one side of the lowest of some levels, without what rounding made."""
    least = float(levels[among].min())
    tied = slopes[among & (levels <= least + LEVEL * abs(least))]
    return _beyond_noise(float(tied.min() if more else tied.max()), least, whole)


def _of_shares(instance: Instance, unit: Unit, more: bool, tasks: np.ndarray, slopes: np.ndarray) -> float:
    """Return the slope of the sum of dominant shares, every share being one of the larger whole."""
    turning = slopes_of_rates(TOTAL, instance, unit.growth, more)
    terms = np.concatenate([turning * tasks, TOTAL.rates(instance) * slopes])
    total = float(terms.sum())
    # What all but cancels is what rounding left of 0.
    return total if abs(total) > ROUNDING * float(np.abs(terms).sum()) else 0.0


def price(
    instance: Instance,
    policy: AnyPolicy = "drf",
    *,
    units: Iterable[str | Unit] | None = None,
    allocation: Allocation | None = None,
) -> Prices:
    """Return what one more unit of every resource and machine class is worth, and to whom.

    Parameters
    ----------
    instance : Instance
    policy : str, Policy or function
        A leximin, a market or a sum, or `per-server`, of divisible tasks.
    units : iterable of str, optional
        Those to look at: resources, machine classes, ``CLASS/RESOURCE``; by default all of the cluster.
    allocation : Allocation, optional
        What `solve` gives for the instance and the policy, divisible tasks in floats, where it is at hand.

    Returns
    -------
    Prices

    Raises
    ------
    PolicyError
        When the policy's optimum has no prices.
    InstanceError
        When there is no such unit.
    SolverError or CertificateError
        When nothing is proven next to any of them; of single ones `Worth.unknown` says it.

    Examples
    --------
    >>> found = price(Instance({"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}}, {"cpu": 9, "memory": 18}))
    >>> round(found["cpu"].more.price, 4)
    0.0741
    """
    chosen = policy_on(policy, instance)
    if chosen.objective not in LOOKS:
        raise PolicyError(
            f"{chosen.name} has no prices: they are known of levels, markets and sums, such as drf: see what a change "
            "does, by whatif"
        )
    chosen.check(instance, knows=FEATURES)
    if allocation is None:
        allocation = solve(instance, chosen)
    elif not isinstance(allocation, Allocation) or (allocation.instance, allocation.policy) != (instance, chosen.name):
        raise PolicyError(f"the allocation is not what solve gives for this instance under {chosen.name}: leave it out")
    elif allocation.integer or (allocation.exact and chosen.objective != "sum"):
        kind = "of whole tasks" if allocation.integer else "in fractions"
        raise PolicyError(f"the allocation is {kind}, and prices are those of divisible tasks in floats: leave it out")
    totals = Sums(instance, TOTAL, ruled=False)
    apart = skewed(instance)
    beyond = (bool(instance.features - {"types"}) or apart) and chosen.objective not in ("sum", "servers")
    known = allocation
    if beyond and chosen.objective == "alpha":
        problem = Problem(instance, chosen)
        if (plain := market_of_incomes(problem, kept(problem))) is not None:
            known, beyond = replace(allocation, instance=plain), False
    look = _by_dividing(known, totals, apart) if beyond else LOOKS[chosen.objective](known, totals)
    named = units_of(instance) if units is None else listed(units, "units", InstanceError)
    each = ([unit] if isinstance(unit, Unit) else units_named(instance, unit) for unit in named)
    wanted = list(chain.from_iterable(each))
    worths: list[Worth] = []
    failed: SolverError | CertificateError | None = None
    for done, unit in enumerate(wanted):
        report(f"{done} of {len(wanted)} units priced, now {unit.name}")
        try:
            more, less = (look(unit, more) for more in (True, False))
            worths.append(Worth(unit, more, less))
        except (SolverError, CertificateError) as error:
            # What is not known of one says nothing of the others.
            worths.append(Worth(unit, None, None, str(error)))
            failed = error
    if failed is not None and all(worth.unknown for worth in worths):
        raise failed
    return Prices(instance, chosen.name, allocation, tuple(worths), units is not None)
