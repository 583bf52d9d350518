"""Purchases judged by the fair allocation after each: which pass, the best of them, and what could be cheaper.

What passes is found by asking for what the last one lacked, and made cheaper by leaving out what it can; both ask how
many tasks everybody needs at the least where a purchase, or a whole region of them, meets the targets.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from ...base.deadline import NEVER, Deadline
from ...base.errors import CertificateError, SolverError, TimeLimitError
from ...base.tolerances import LEVEL
from ...engines.whole.carrying import Running
from ...model.allocation import Allocation
from ...model.instance import Instance
from ...model.policies import Policy
from ...solving.allocating import solve
from ...solving.neighbours import as_good, searching
from .needs import Least, Needs
from .offers import Counts, Shop, Steps
from .plenty import free_parts
from .regions import Region
from .relaxation import Relaxation
from .targets import Target

__all__ = ["Judge", "Trial", "Wanting", "grow", "mend", "needs_of", "of_each_machine", "shrink", "turn"]

CLOSED = 1e-4
"""Relative gap of the cost at which a purchase of divisible amounts counts as the cheapest; it is told as the gap."""

MANY = 10**9
"""Steps of the cost from which on it counts as divisible: bounds in floats do not tell one from the next."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A purchase judged by the fair allocation after it.

    Attributes
    ----------
    counts : tuple of Fraction
        Steps of every offer.
    cost : Fraction
    allocation : Allocation or None
        None where there is nothing to divide.
    missed : list of (Target, number)
        Targets that are missed, and what is reached instead.
    """

    counts: Counts
    cost: Fraction
    allocation: Allocation | None
    missed: list[tuple[Target, Fraction | float]]

    @property
    def worst(self) -> float:
        """The smallest part of a target that is reached, at most 1."""
        return min((float(got) / float(target.least) for target, got in self.missed), default=1.0)


class Judge:
    """The purchases that were judged.

    Attributes
    ----------
    trials : dict from counts to Trial
    best : Trial or None
        The cheapest purchase that passes.
    nearest : Trial or None
        Of the purchases judged, the one that misses least.
    grain : Fraction or None
        What every cost is a multiple of; None where it counts as divisible.
    """

    def __init__(self, shop: Shop, policy: Policy, targets: tuple[Target, ...], integer: bool, grain: Fraction | None):
        self.shop, self.policy, self.targets, self.integer = shop, policy, targets, integer
        self.grain = grain
        self.trials: dict[Counts, Trial] = {}
        self.best: Trial | None = None
        self.nearest: Trial | None = None

    # ---- what passes ------------------------------------------------------------------------------------------

    def judged(self, counts: Counts, deadline: Deadline) -> Trial:
        """Return the purchase with the fair allocation after it, and keep it where it is the best so far."""
        if counts not in self.trials:
            trial = self.trials[counts] = self._trial(counts, deadline)
            if self.nearest is None or trial.worst > self.nearest.worst:
                self.nearest = trial
            if not trial.missed and (self.best is None or trial.cost < self.best.cost):
                self.best = trial
        return self.trials[counts]

    @property
    def undecided(self) -> list[Trial]:
        """Purchases cheaper than the best that missed by tasks which are not proven: what is proven may pass."""
        cheaper = [t for t in self.trials.values() if self.best is None or t.cost < self.best.cost]
        return [t for t in cheaper if t.missed and t.allocation is not None and not t.allocation.finished]

    def _trial(self, counts: Counts, deadline: Deadline) -> Trial:
        cost = self.shop.cost(counts)
        cluster = self.shop.after(counts)
        if cluster is None:
            return Trial(counts, cost, None, [(target, Fraction(0)) for target in self.targets])
        allocation = self._allocation(cluster, deadline)
        reached = [(target, target.reached(allocation)) for target in self.targets]
        claimed = allocation.status == "solved"
        missed = [(target, got) for target, got in reached if not target.met(got, claimed)]
        return Trial(counts, cost, allocation, missed)

    def _allocation(self, cluster: Instance, deadline: Deadline) -> Allocation:
        """Return the fair allocation, in fractions where floats would not decide about every target.

        Divisions among organisations, of several task types on machines, on every machine by itself and by a
        formulation file are not computed in fractions: there floats decide, to the error of a level or of the file's
        solver.
        """
        policy = self.policy
        beyond = cluster.features & {"organisation", "types on machines"}
        if self.integer or beyond or policy.objective in ("servers", "formulation"):
            return self._solved(cluster, False, deadline)
        try:
            found = self._solved(cluster, False, deadline)
        except TimeLimitError:
            raise
        except (CertificateError, SolverError):
            # Floats do not get there on a cluster that its users fill to the last digit; fractions decide.
            return self._solved(cluster, True, deadline)
        near = any(_near(target, target.reached(found)) for target in self.targets)
        return self._solved(cluster, True, deadline) if near else found

    def _solved(self, cluster: Instance, exact: bool, deadline: Deadline) -> Allocation:
        deadline.check("the fair allocation of a purchase")
        limit = searching(deadline, self.integer).share(1)
        found = solve(cluster, self.policy, integer=self.integer, exact=exact, time_limit=limit)
        known = self.best or self.nearest
        if known is None or known.allocation is None:
            return found
        return as_good(found, Running.of(known.allocation), deadline)

    # ---- what could be cheaper --------------------------------------------------------------------------------

    @property
    def price(self) -> Fraction:
        """What the best costs."""
        if self.best is None:
            raise SolverError("no purchase is known to compare with: this cannot be")
        return self.best.cost

    @property
    def budget(self) -> float:
        """What a purchase may cost that is cheaper than the best."""
        return float(self.price) - (0.0 if self.grain is None else float(self.grain) / 2)

    @property
    def proven(self) -> Fraction:
        """What every purchase costs at least, once all that could be cheaper than the best has been looked at."""
        return self.price if self.grain is not None else self.price * (1 - Fraction(CLOSED))

    def lifted(self, bound: float) -> Fraction:
        """Return the least cost that a purchase can have at or above a bound."""
        if self.grain is None or not math.isfinite(bound):
            return Fraction(max(0.0, bound)) if math.isfinite(bound) else Fraction(0)
        return math.ceil(Fraction(max(0.0, bound)) / self.grain) * self.grain

    def hopeless(self, bound: float) -> bool:
        """Say whether nothing of that bound is cheaper than the best."""
        if self.best is None:
            return False
        if self.grain is not None:
            return self.lifted(bound) >= self.best.cost
        return not self.cheaper(bound)

    def cheaper(self, cost: float) -> bool:
        """Say whether a cost is below the best by more than counts."""
        return self.best is None or cost < float(self.best.cost) * (1 - CLOSED)

    def melt(self) -> None:
        """Count costs as divisible where their steps are too small beside the best."""
        if self.best is not None and self.grain is not None and self.best.cost > self.grain * MANY:
            self.grain = None


def _near(target: Target, got: Fraction | float) -> bool:
    """Say whether the error that a certified level may have decides about a target."""
    least = float(target.least)
    return abs(float(got) - least) <= 4 * LEVEL * least


def needs_of(
    shop: Shop, policy: Policy, targets: tuple[Target, ...], integer: bool, deadline: Deadline = NEVER
) -> Needs:
    """Return what the targets ask for, on the classes that are there or for sale."""
    instance = shop.instance
    room, counts, adds = shop.rooms()
    useful = None if instance.machines is None else (counts > 0) | (adds > 0).any(axis=(0, 2))
    free = None if integer else free_parts(instance, policy, room * counts[:, None], deadline)
    return Needs(instance, policy, targets, useful, integer, shop.empty, free)


def of_each_machine(instance: Instance, policy: Policy, integer: bool) -> np.ndarray | None:
    """Return what each user has of one machine of every class, (n, k), where the policy divides machines one by one."""
    if policy.objective != "servers" or instance.machines is None:
        return None
    parts = instance.parts()
    single = [replace(machine, count=1) for machine in parts["machines"]]
    return solve(Instance(**(parts | {"machines": single})), policy, integer=integer).placement


@dataclass(frozen=True, eq=False)
class Wanting:
    """Needs, and the program that knows what clusters purchases make."""

    needs: Needs
    relaxation: Relaxation

    def beyond(self, region: Region) -> list[tuple[Target, float]]:
        """Return the targets that users at their limits miss after every purchase of a region, and what they reach."""
        return self.needs.beyond(self.relaxation.totals.after(region.low))

    def least(self, region: Region, quotients: np.ndarray | None = None) -> Least:
        """Return the least tasks wherever a purchase of a region meets the targets.

        Parameters
        ----------
        region : Region
        quotients : array (m, m), optional
            The least quotients of capacities; by default those that hold in the region.
        """
        totals = self.relaxation.totals
        known = totals.quotients(region) if quotients is None else quotients
        room = self.relaxation.most(region.high)
        return self.needs.between(totals.after(region.low), totals.after(region.high), known, room)

    def at(self, counts: np.ndarray) -> Least:
        """Return the least tasks where a single purchase meets the targets."""
        totals = self.relaxation.totals
        here = totals.after(counts)
        return self.needs.between(here, here, totals.exact_quotients(counts), self.relaxation.most(counts))

    def lacking(self, trial: Trial, counts: np.ndarray) -> np.ndarray:
        """Return tasks (n,) with which everybody is as high as the users who miss their targets should be."""
        capacity = self.relaxation.totals.after(counts)
        rates, least = self.needs.rates, self.at(counts).at(capacity)
        extra = np.zeros(len(least))
        if rates is None or self.needs.ruled:
            for target, got in trial.missed:
                extra[target.user] = least[target.user] * min(2.0, float(target.least) / float(got) if got else 2.0)
            return np.minimum(extra, self.needs.limits)
        each = rates.of(rates.part, capacity)
        level = max((float(each[target.user] * least[target.user]) for target, _ in trial.missed), default=0.0)
        placed = ~self.relaxation.homeless()
        np.divide(level, each, where=placed & (each > 0), out=extra)
        return np.minimum(extra, self.needs.limits)


ROUNDS = 12
"""Tries to find a first purchase that passes; each asks for what the last one lacked."""

ASKED = 4
"""Tries among groups or under promises, where what one user lacks may go to others first, before the rest double."""

BEYOND = 1.01
"""Times the level that was missed, after each try, for the next."""


SHORT = 1000
"""Largest denominator of a divisible amount that is tried because a person would rather order it."""

TURNED = 0.5
"""Part of a capacity by which a purchase of divisible amounts is turned at first."""

FINEST = 1e-6
"""Part of a capacity below which it is turned no more: its cost is then as good as the gap that counts."""


def grow(judge: Judge, steps: Steps, wanting: Wanting, counts: np.ndarray, deadline: Deadline) -> None:
    """Ask for what a purchase lacks, again and again, until one passes; in an organisation then for twice as much."""
    extra = np.zeros(judge.shop.instance.n)
    ruled = "organisation" in judge.shop.instance.features
    for tried in range(ROUNDS):
        up = steps.up(counts)
        trial = judge.judged(steps.exact(up), deadline)
        if not trial.missed:
            return
        if ruled and tried >= ASKED:
            counts = np.maximum(2 * up, 1.0)
            continue
        extra = np.maximum(extra, wanting.lacking(trial, up) * BEYOND**tried)
        found = wanting.relaxation.solve(wanting.at(up).raised(extra), steps.everything, deadline)
        if found.counts is None:
            return
        counts = found.counts


def mend(judge: Judge, steps: Steps, wanting: Wanting, counts: np.ndarray, deadline: Deadline) -> None:
    """Judge the cheapest purchase for what is needed at the proportions of a purchase."""
    found = wanting.relaxation.solve(wanting.at(counts), steps.everything, deadline)
    if found.counts is not None:
        _try(judge, steps, found.counts, deadline)
    turn(judge, steps, wanting, counts, deadline)


def turn(judge: Judge, steps: Steps, wanting: Wanting, counts: np.ndarray, deadline: Deadline) -> None:
    """Judge what a purchase of divisible amounts becomes where it is filled, and its proportions are the cheapest."""
    if steps.whole.all():
        return
    filled = _filled(wanting, counts)
    if np.isfinite(filled).all() and judge.cheaper(float(wanting.relaxation.cost @ filled)):
        _try(judge, steps, _turned(steps, wanting, filled), deadline)


def _try(judge: Judge, steps: Steps, counts: np.ndarray, deadline: Deadline) -> None:
    """Judge a purchase if it is cheaper than the best, and what is near it and has short numbers."""
    exact = steps.exact(steps.up(counts))
    if judge.best is not None and judge.shop.cost(exact) >= judge.best.cost:
        return
    judge.judged(exact, deadline)
    short = tuple(count.limit_denominator(SHORT) for count in exact)
    if short != exact and all(
        most is None or count <= most for count, most in zip(short, judge.shop.most, strict=True)
    ):
        judge.judged(short, deadline)


def _filled(wanting: Wanting, counts: np.ndarray) -> np.ndarray:
    """Return the smallest purchase for a pool of the proportions of this one in which its needs have room."""
    relaxation = wanting.relaxation
    totals, capacity = relaxation.totals, relaxation.totals.after(counts)
    used = wanting.at(counts).at(capacity) @ relaxation.parts.demands
    part = np.divide(used, capacity, where=capacity > 0, out=np.where(used > 0, np.inf, 0.0)).max() * (1 + LEVEL)
    if not np.isfinite(part):  # some of what is needed is not there at all
        return np.full(len(counts), np.inf)
    adds = totals.adds.sum(axis=1)
    return np.asarray(np.maximum(totals.adds @ (capacity * part - totals.there), 0.0) / adds**2)


def _turned(steps: Steps, wanting: Wanting, counts: np.ndarray) -> np.ndarray:
    """Return a filled purchase for a pool that is cheaper by its proportions, as far as the needs alone can say."""
    cost, totals, most = wanting.relaxation.cost, wanting.relaxation.totals, steps.most
    best, turn = counts, TURNED
    while turn > FINEST:
        before = cost @ best
        for s in range(len(cost)):
            for sign in (1, -1):
                there = float(totals.after(best) @ totals.adds[s]) / float(totals.adds[s].sum()) ** 2
                tried = best.copy()
                tried[s] = max(0.0, tried[s] + sign * turn * there)
                tried = _filled(wanting, tried)
                if np.isfinite(tried).all() and (tried <= most).all() and cost @ tried < cost @ best:
                    best = tried
        turn = turn if cost @ best < before else turn / 2
    return best


def shrink(judge: Judge, steps: Steps, dearness: np.ndarray, bound: Fraction, deadline: Deadline) -> None:
    """Leave out of the best purchase what it can do without, the dearest (offers,) first, in halving steps.

    What would cost less than `bound` is known to fail.
    """
    for s in np.argsort(-dearness):
        best = judge.best
        if best is None:
            return
        step = best.counts[s]
        while step > 0 and judge.best is not None:
            step = Fraction(-(-step // 2)) if steps.whole[s] else step / 2
            fewer = list(judge.best.counts)
            fewer[s] = max(Fraction(0), fewer[s] - step)
            if bound <= judge.shop.cost(fewer) < judge.best.cost:
                judge.judged(tuple(fewer), deadline)
            if step == 1 or (not steps.whole[s] and step * 64 < best.counts[s]):
                break
