"""The cheapest purchase after which the fair allocation meets the targets: branch and bound over what is bought.

More machines are not better for everybody: a fair allocation may give a user less in a larger cluster.  So a purchase
is judged by nothing but the fair allocation of the cluster that it makes.  The search goes from cheap to dear: prices
prove what the purchases of a region cost at least (`pricing`), with what users need there (`needs`); the cheapest that
passes is judged; and where it fails, the region is divided, which makes the needs sharper.  A single purchase that
fails is out.
"""

import heapq
import itertools
import math
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from ..allocation import Allocation
from ..deadline import Deadline
from ..errors import CertificateError, SolverError, TimeLimitError
from ..instance import Instance
from ..policies import Policy
from ..progress import report
from ..solve import solve
from ..tolerances import LEVEL
from .needs import DOWN, Least, Needs
from .offers import Shop
from .pricing import Bound, Prices, Region, Relaxation
from .targets import Target

__all__ = ["Search", "Trial"]

WHOLE = 1e-6
"""Distance from a whole number up to which a number of machines of a linear program is one."""

CLOSED = 1e-4
"""Relative gap of the cost at which a purchase of divisible amounts counts as the cheapest; it is told as the gap."""

NICE = 10**6
"""Largest denominator of an amount of a divisible resource, where that is near enough."""

ROUNDS = 12
"""Tries to find a first purchase that passes; each asks for what the last one lacked."""

FIRST = 0.3
"""Part of the time that the first purchase and making it cheaper may take; the rest is for the proof."""

KEPT = 400
"""Prices kept to bound parts of the search before a linear program is solved: the newest."""

NARROWINGS = 4
"""Times the ends of everything are narrowed by what a first purchase costs, each time with sharper needs."""

LOOSE = 1e-4
"""Part by which all needs together would grow if a proportion were known better, for which it is worth dividing."""

MANY = 10**9
"""Steps of the cost from which on it counts as divisible: bounds in floats do not tell one from the next."""

FEW = 1000
"""Purchases in a region up to which steps alone are divided, and proportions no more."""

MENDED = 8
"""Every so many linear programs their purchase is mended: what it lacks at its own proportions is added, and judged."""

BEYOND = 1.01
"""Times the level that was missed, after each try, for the next."""

NARROW = 0.9
"""Proportions nearer to each other than this are divided in the middle, others by their quotient."""

SMALLEST = 1e-3
"""Part of a proportion, at a purchase, that counts as its least where nothing is known."""

Counts = tuple[Fraction, ...]


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


@dataclass(order=True)
class _Part:
    """A region of purchases, and what they cost at least."""

    bound: float
    number: int
    region: Region = field(compare=False)


class Search:
    """The search, how far it has got, and what it has found.

    Attributes
    ----------
    best : Trial or None
        The cheapest purchase that passes.
    bound : Fraction
        No purchase costs less.
    done : bool
        Whether everything was looked at.
    nearest : Trial or None
        Of the purchases judged, the one that misses least.
    """

    def __init__(self, shop: Shop, policy: Policy, targets: tuple[Target, ...], integer: bool, deadline: Deadline):
        self.shop, self.policy, self.targets, self.integer = shop, policy, targets, integer
        self.deadline = deadline
        self.whole = np.array(shop.whole)
        self.most = np.array([math.inf if most is None else float(most) for most in shop.most])
        self.grain = _grain(shop)
        self.needs = self._needs(targets)
        self.relaxation = Relaxation(shop)
        self.totals = self.relaxation.totals
        self.trials: dict[Counts, Trial] = {}
        self.best: Trial | None = None
        self.nearest: Trial | None = None
        self.bound = Fraction(0)
        self.done = False
        self.solved = 0
        self._number = itertools.count()
        self._prices: list[Prices] = []

    def _needs(self, targets: tuple[Target, ...]) -> Needs:
        instance = self.shop.instance
        _, counts, adds = self.shop.rooms()
        useful = (counts > 0) | (adds > 0).any(axis=(0, 2))
        fits = None if instance.fits is None else instance.fits & useful
        return Needs(instance, self.policy, targets, fits, self.integer)

    # ---- the search -------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Search until the cheapest is proven, everything has failed, or the time is up (then it just stops)."""
        try:
            root = _Part(0.0, next(self._number), self.everything)
            first = self._relaxed(root)
            if first is None:
                self.done = True
                if np.isfinite(self.most).all():
                    self._judged(self._exact(self.most))
                return
            self.bound = self._lifted(root.bound)
            self._first_purchase(first)
            if self.best is not None and self.grain is not None and self.best.cost > self.grain * MANY:
                self.grain = None
            self._branch(root)
        except TimeLimitError:
            return

    @property
    def everything(self) -> Region:
        """All purchases."""
        m = self.shop.instance.m
        return Region(np.zeros(len(self.most)), self.most.copy(), np.zeros((m, m)))

    def _branch(self, root: _Part) -> None:
        for _ in range(NARROWINGS if self.best is not None else 0):
            if not root.region.empty:
                root.region = self._narrowed(root.region)
        waiting = [root]
        while waiting:
            part = heapq.heappop(waiting)
            self.bound = max(self.bound, self._lifted(part.bound))
            if self._hopeless(part.bound):
                break
            self.deadline.check("the search for the cheapest purchase")
            if part.region.empty:
                continue
            best = "none yet" if self.best is None else f"{float(self.best.cost):.6g}"
            judged = f"{len(self.trials)} judged, {len(waiting)} regions left"
            report(f"cheapest {best}, at least {float(self.bound):.6g}; {judged}")
            for smaller in self._divided(part):
                if not smaller.region.empty:
                    heapq.heappush(waiting, smaller)
        self.done = True
        if self.best is not None:
            self.bound = self.best.cost if self.grain is not None else self.best.cost * (1 - Fraction(CLOSED))

    def _narrowed(self, region: Region) -> Region:
        """Return the part of a region that is not dearer than the best purchase known, by programs of its own."""
        budget = float(self._price()) - (0.0 if self.grain is None else float(self.grain) / 2)
        return self._inwards(self.relaxation.narrowed(self._least(region), region, budget, self.deadline))

    def _price(self) -> Fraction:
        if self.best is None:
            raise SolverError("no purchase is known to compare with: this cannot be")
        return self.best.cost

    def _least(self, region: Region) -> Least:
        """Return the least tasks wherever a purchase of a region meets the targets."""
        low, high = self.totals.after(region.low), self.totals.after(region.high)
        return self.needs.between(low, high, self.totals.quotients(region), self.relaxation.most(region.high))

    def beyond(self, region: Region) -> list[tuple[Target, float]]:
        """Return the targets that users at their limits miss after every purchase of a region, and what they reach."""
        return self.needs.beyond(self.totals.after(region.low))

    def _divided(self, part: _Part) -> list[_Part]:
        """Return smaller parts in which every purchase of this one lies that is worth looking at."""
        if part.region.single:
            self._judged(self._exact(part.region.low))
            return []
        if self.best is not None:
            part.region = self._narrowed(part.region)
            if part.region.empty:
                return []
        found = self._relaxed(part)
        if found is None or self._hopeless(part.bound) or part.region.empty:
            return []
        region = part.region
        if found.counts is None:
            high = np.where(np.isfinite(region.high), region.high, 2 * region.low + 1)
            return self._split(part, (region.low + high) / 2)
        counts = np.clip(found.counts, region.low, region.high)
        if self.solved % MENDED == 1:
            self._mend(counts)
        if self._many(region) and (pair := self._loosest(region, counts)) is not None:
            return self._split_proportion(part, counts, *pair)
        off = np.where(self.whole, np.abs(counts - np.round(counts)), 0.0)
        if off.max(initial=0.0) > WHOLE:
            return self._split(part, counts, int((off * self.relaxation.cost).argmax()))
        counts = np.where(self.whole, np.round(counts), counts)
        trial = self._judged(self._exact(counts))
        if not trial.missed and self._hopeless(part.bound):
            return []
        return self._split(part, counts)

    def _many(self, region: Region) -> bool:
        """Say whether there are too many purchases in a region to go through them."""
        return not self.whole.all() or float(np.prod(region.high - region.low + 1)) > FEW

    def _loosest(self, region: Region, counts: np.ndarray) -> tuple[int, int] | None:
        """Return the resources whose proportion, known better, would say most of what is needed; None for none."""
        least, quotients = self._least(region), self.totals.quotients(region)
        exact, low = self.totals.exact_quotients(counts), self.totals.after(region.low)
        high, here = self.totals.after(region.high), self.totals.after(counts)
        worth = self.relaxation.scale_of_users
        room = self.relaxation.most(region.high)
        known = float(worth @ least.at(here))
        found, best = None, self._loose() * known
        for j, g in self.relaxation.pairs:
            if exact[j, g] > quotients[j, g]:
                sharper = quotients.copy()
                sharper[j, g] = exact[j, g]
                gain = float(worth @ self.needs.between(low, high, sharper, room).at(here)) - known
                if gain > best:
                    found, best = (j, g), gain
        return found

    def _loose(self) -> float:
        """Return the part by which needs must grow to be worth a division: less would be lost in whole steps."""
        if self.grain is None:
            return LOOSE
        return max(LOOSE, float(self.grain / self.bound) / 2) if self.bound else 1.0

    def _split_proportion(self, part: _Part, counts: np.ndarray, j: int, g: int) -> list[_Part]:
        at = float(self.totals.exact_quotients(counts)[j, g])
        region = part.region
        least = max(float(self.totals.quotients(region)[j, g]), at * SMALLEST)
        # Between what it is here and what is known, so that both sides say more.
        at = math.sqrt(at * least) if least < at * NARROW else (at + least) / 2
        above, below = region.floors.copy(), region.floors.copy()
        above[j, g] = max(above[j, g], at)
        below[g, j] = max(below[g, j], 1 / at)
        return [_Part(part.bound, next(self._number), replace(region, floors=floors)) for floors in (above, below)]

    def _split(self, part: _Part, counts: np.ndarray, s: int | None = None) -> list[_Part]:
        region = part.region
        width = np.where(np.isfinite(region.high), region.high, np.maximum(1.0, 2 * counts) * 2) - region.low
        if s is None:
            s = int((width * self.relaxation.cost).argmax())
        if not self.whole[s]:
            # A cut at the very end would leave as much as there was.
            at = float(np.clip(counts[s], region.low[s] + width[s] / 10, region.low[s] + width[s] * 9 / 10))
            ends = (at, at)
        else:
            at = math.floor(counts[s] + WHOLE)
            ends = (at, at + 1) if at < region.high[s] else (at - 1, at)
        below, above = region.high.copy(), region.low.copy()
        below[s], above[s] = ends
        return [
            _Part(part.bound, next(self._number), replace(region, high=below)),
            _Part(part.bound, next(self._number), replace(region, low=above)),
        ]

    def _relaxed(self, part: _Part) -> Bound | None:
        """Bound a part and narrow it; None where nothing in it suffices."""
        if self.beyond(part.region):
            return None
        needs, region = self._least(part.region), part.region
        cost = self.relaxation.cost
        for prices in reversed(self._prices):
            part.bound = max(part.bound, prices.bound(cost, needs, region, self.totals))
            if self._hopeless(part.bound):
                return None
        self.solved += 1
        found = self.relaxation.solve(needs, region, self.deadline)
        if found.counts is None:
            if found.useless is not None and found.useless.bound(0 * cost, needs, region, self.totals) > 0:
                return None
            return found
        self._prices = [*self._prices[-KEPT:], found.prices]
        part.bound = max(part.bound, found.prices.bound(cost, needs, region, self.totals))
        if self.best is not None and not self._hopeless(part.bound):
            self._narrow(part, found.prices)
        return found

    def _narrow(self, part: _Part, prices: Prices) -> None:
        """Leave out what the prices prove to cost more than the best purchase known."""
        region, spare = part.region, float(self._price()) - part.bound
        each = prices.each(self.relaxation.cost, self._least(region), region, self.totals)
        room = np.divide(spare, np.abs(each), where=each != 0, out=np.full(len(each), math.inf)) / DOWN
        if not np.isfinite(spare):
            return
        low = np.where(each < 0, np.maximum(region.low, region.high - np.where(each < 0, room, 0.0)), region.low)
        high = np.where(each > 0, np.minimum(region.high, region.low + room), region.high)
        part.region = self._inwards(replace(region, low=low, high=high))

    def _inwards(self, region: Region) -> Region:
        """Return ends with whole numbers of steps where an offer is sold in steps."""
        slack = WHOLE * np.maximum(1.0, np.where(np.isfinite(region.high), region.high, 1.0))
        return replace(
            region,
            low=np.where(self.whole, np.ceil(region.low - slack), region.low),
            high=np.where(self.whole, np.floor(region.high + slack), region.high),
        )

    # ---- a first purchase -------------------------------------------------------------------------------------

    def _first_purchase(self, first: Bound) -> None:
        """Find a purchase that passes by asking for what the last one lacked, then make it cheaper."""
        whole, self.deadline = self.deadline, self.deadline.part(FIRST)
        try:
            if first.counts is not None:
                self._grow(first.counts)
            if self.best is None and np.isfinite(self.most).all():
                self._judged(self._exact(self.most))
            if self.best is not None:
                self._shrink()
        except TimeLimitError:
            if whole.left() <= 0 or whole.stopped:
                raise
        finally:
            self.deadline = whole

    def _grow(self, counts: np.ndarray) -> None:
        extra = np.zeros(self.shop.instance.n)
        for tried in range(ROUNDS):
            up = np.minimum(np.where(self.whole, np.ceil(counts - WHOLE), counts), self.most)
            trial = self._judged(self._exact(up))
            if not trial.missed:
                return
            extra = np.maximum(extra, self._lacking(trial, up) * BEYOND**tried)
            found = self.relaxation.solve(self._at(up).raised(extra), self.everything, self.deadline)
            if found.counts is None:
                return
            counts = found.counts

    def _mend(self, counts: np.ndarray) -> None:
        """Judge the cheapest purchase for what is needed at the proportions of a purchase."""
        found = self.relaxation.solve(self._at(counts), self.everything, self.deadline)
        if found.counts is not None:
            up = np.minimum(np.where(self.whole, np.ceil(found.counts - WHOLE), found.counts), self.most)
            exact = self._exact(up)
            if self.best is None or self.shop.cost(exact) < self.best.cost:
                self._judged(exact)

    def _at(self, counts: np.ndarray) -> Least:
        """Return the least tasks where a single purchase meets the targets."""
        here = self.totals.after(counts)
        return self.needs.between(here, here, self.totals.exact_quotients(counts), self.relaxation.most(counts))

    def _lacking(self, trial: Trial, counts: np.ndarray) -> np.ndarray:
        """Return tasks (n,) with which everybody is as high as the users who miss their targets should be."""
        rates, least = self.needs.rates, self._at(counts).at(self.totals.after(counts))
        extra = np.zeros(self.shop.instance.n)
        if rates is None:
            for target, got in trial.missed:
                extra[target.user] = least[target.user] * min(2.0, float(target.least) / float(got) if got else 2.0)
            return np.minimum(extra, self.needs.limits)
        each = rates.of(rates.part, self.totals.after(counts))
        level = max((float(each[target.user] * least[target.user]) for target, _ in trial.missed), default=0.0)
        placed = ~self.relaxation.homeless()
        np.divide(level, each, where=placed & (each > 0), out=extra)
        return np.minimum(extra, self.needs.limits)

    def _shrink(self) -> None:
        """Leave out of the best purchase what it can do without, the dearest first, in halving steps."""
        for s in np.argsort(-self.relaxation.cost):
            best = self.best
            if best is None:
                return
            step = best.counts[s]
            while step > 0 and self.best is not None:
                step = Fraction(-(-step // 2)) if self.whole[s] else step / 2
                fewer = list(self.best.counts)
                fewer[s] = max(Fraction(0), fewer[s] - step)
                cheaper = self.shop.cost(fewer)
                if cheaper < self.best.cost and not self._hopeless_cost(cheaper):
                    self._judged(tuple(fewer))
                if step == 1 or (not self.whole[s] and step * 64 < best.counts[s]):
                    break

    def _hopeless_cost(self, cost: Fraction) -> bool:
        return cost < self.bound

    # ---- judging ----------------------------------------------------------------------------------------------

    def _judged(self, counts: Counts) -> Trial:
        """Return the purchase with the fair allocation after it, and keep it where it is the best so far."""
        if counts not in self.trials:
            trial = self.trials[counts] = self._trial(counts)
            if self.nearest is None or trial.worst > self.nearest.worst:
                self.nearest = trial
            if not trial.missed and (self.best is None or trial.cost < self.best.cost):
                self.best = trial
        return self.trials[counts]

    def _trial(self, counts: Counts) -> Trial:
        cost = self.shop.cost(counts)
        cluster = self.shop.after(counts)
        if cluster is None:
            return Trial(counts, cost, None, [(target, Fraction(0)) for target in self.targets])
        allocation = self._allocation(cluster)
        reached = [(target, target.reached(allocation)) for target in self.targets]
        return Trial(counts, cost, allocation, [(target, got) for target, got in reached if not target.met(got)])

    def _allocation(self, cluster: Instance) -> Allocation:
        """Return the fair allocation, in fractions where floats would not decide about every target.

        Divisions among organisations, and of several task types on machines, are not computed in fractions: there
        floats decide, to the error of a level.
        """
        if self.integer or cluster.features & {"organisation", "types on machines"}:
            return self._solved(cluster, False)
        try:
            found = self._solved(cluster, False)
        except TimeLimitError:
            raise
        except (CertificateError, SolverError):
            # Floats do not get there on a cluster that its users fill to the last digit; fractions decide.
            return self._solved(cluster, True)
        near = any(_near(target, target.reached(found)) for target in self.targets)
        return self._solved(cluster, True) if near else found

    def _solved(self, cluster: Instance, exact: bool) -> Allocation:
        left = self.deadline.left()
        if left <= 0:
            self.deadline.check("the fair allocation of a purchase")
        limit = None if left == math.inf else left
        return solve(cluster, self.policy, integer=self.integer, exact=exact, time_limit=limit)

    # ---- numbers ----------------------------------------------------------------------------------------------

    def _exact(self, counts: np.ndarray) -> Counts:
        return tuple(
            Fraction(round(float(x))) if whole else self._amount(float(x), most)
            for x, whole, most in zip(counts, self.whole, self.shop.most, strict=True)
        )

    def _amount(self, x: float, most: Fraction | None) -> Fraction:
        """Return a fraction a little above a float: what the float lacks by rounding must not fail a target."""
        value = Fraction(x)
        nice = value.limit_denominator(NICE)
        if abs(nice - value) > abs(value) * Fraction(LEVEL):
            nice = (value * Fraction(1 + LEVEL)).limit_denominator(10**12)
        return nice if most is None else min(nice, most)

    def _lifted(self, bound: float) -> Fraction:
        """Return the least cost that a purchase can have at or above a bound."""
        if self.grain is None or not math.isfinite(bound):
            return Fraction(max(0.0, bound)) if math.isfinite(bound) else Fraction(0)
        return math.ceil(Fraction(max(0.0, bound)) / self.grain) * self.grain

    def _hopeless(self, bound: float) -> bool:
        """Say whether nothing of that bound is cheaper than the best."""
        if self.best is None:
            return False
        if self.grain is not None:
            return self._lifted(bound) >= self.best.cost
        return bound >= float(self.best.cost) * (1 - CLOSED)


def _near(target: Target, got: Fraction | float) -> bool:
    """Say whether the error that a certified level may have decides about a target."""
    least = float(target.least)
    return abs(float(got) - least) <= 4 * LEVEL * least


def _grain(shop: Shop) -> Fraction | None:
    """Return what every cost is a multiple of; None where amounts are divisible."""
    if not all(shop.whole):
        return None
    scale = math.lcm(*(price.denominator for price in shop.prices))
    return Fraction(math.gcd(*(int(price * scale) for price in shop.prices)), scale)
