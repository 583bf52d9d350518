"""The cheapest purchase after which the fair allocation meets the targets: branch and bound over what is bought.

More machines are not better for everybody: a fair allocation may give a user less in a larger cluster.  So a purchase
is judged by nothing but the fair allocation of the cluster that it makes (`judging`).  The search goes from cheap to
dear: prices prove what the purchases of a region cost at least (`relaxation`), with what users need there (`wanting`);
the cheapest that passes is judged; and where it fails, the region is divided (`branching`), which makes the needs
sharper.  A single purchase that fails is out.

Where a region of purchases is divided, and into which two smaller ones.
"""

import heapq
import itertools
import math
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from ...base.deadline import Deadline
from ...base.errors import TimeLimitError
from ...base.progress import report
from ...model.policies import Policy
from .judging import Judge, Trial, Wanting, grow, mend, needs_of, of_each_machine, shrink, turn
from .offers import WHOLE, Shop, Steps
from .rates import DOWN
from .regions import BoundPrices, Region, Totals
from .relaxation import Bound, Relaxation
from .targets import Target

__all__ = ["PurchaseSearch", "halves", "loosest", "many", "sides"]


FEW = 1000
"""Purchases in a region up to which steps alone are divided, and proportions no more."""

NARROW = 0.9
"""Proportions nearer to each other than this are divided in the middle, others by their quotient."""

SMALLEST = 1e-3
"""Part of a proportion, at a purchase, that counts as its least where nothing is known."""


def many(region: Region, steps: Steps) -> bool:
    """Say whether there are too many purchases in a region to go through them."""
    return not steps.whole.all() or float(np.prod(region.high - region.low + 1)) > FEW


def loosest(wanting: Wanting, region: Region, counts: np.ndarray, loose: float) -> tuple[int, int] | None:
    """Return the resources whose proportion, known better, would say most of what is needed; None for none.

    Parameters
    ----------
    wanting : Wanting
    region : Region
    counts : array (offers,)
        The cheapest purchase as far as is known: its proportions are what would be known.
    loose : float
        Part by which all needs together must grow to be worth it.
    """
    relaxation = wanting.relaxation
    totals, worth = relaxation.totals, relaxation.scale_of_users
    quotients, exact, here = totals.quotients(region), totals.exact_quotients(counts), totals.after(counts)
    known = float(worth @ wanting.least(region, quotients).at(here))
    found, best = None, loose * known
    for j, g in relaxation.pairs:
        if exact[j, g] > quotients[j, g]:
            sharper = quotients.copy()
            sharper[j, g] = exact[j, g]
            gain = float(worth @ wanting.least(region, sharper).at(here)) - known
            if gain > best:
                found, best = (j, g), gain
    return found


def sides(region: Region, totals: Totals, counts: np.ndarray, j: int, g: int) -> tuple[Region, Region]:
    """Return the region where ``C[g] / C[j]`` is above a quotient, and where it is below."""
    at = float(totals.exact_quotients(counts)[j, g])
    least = max(float(totals.quotients(region)[j, g]), at * SMALLEST)
    # Between what it is here and what is known, so that both sides say more.
    at = math.sqrt(at * least) if least < at * NARROW else (at + least) / 2
    above, below = region.floors.copy(), region.floors.copy()
    above[j, g] = max(above[j, g], at)
    below[g, j] = max(below[g, j], 1 / at)
    return replace(region, floors=above), replace(region, floors=below)


def halves(
    region: Region, steps: Steps, cost: np.ndarray, counts: np.ndarray, s: int | None = None
) -> tuple[Region, Region]:
    """Return the region with less and with more of an offer than in a purchase: by default of the widest, in money."""
    width = np.where(np.isfinite(region.high), region.high, np.maximum(1.0, 2 * counts) * 2) - region.low
    if s is None:
        s = int((width * cost).argmax())
    if not steps.whole[s]:
        # A cut at the very end would leave as much as there was.
        at = float(np.clip(counts[s], region.low[s] + width[s] / 10, region.low[s] + width[s] * 9 / 10))
        ends = (at, at)
    else:
        at = math.floor(counts[s] + WHOLE)
        ends = (at, at + 1) if at < region.high[s] else (at - 1, at)
    below, above = region.high.copy(), region.low.copy()
    below[s], above[s] = ends
    return replace(region, high=below), replace(region, low=above)


FIRST = 0.3
"""Part of the time that the first purchase and making it cheaper may take; the rest is for the proof."""

KEPT = 400
"""Prices kept to bound parts of the search before a linear program is solved: the newest."""

NARROWINGS = 4
"""Times the ends of everything are narrowed by what a first purchase costs, each time with sharper needs."""

LOOSE = 1e-4
"""Part by which all needs together would grow if a proportion were known better, for which it is worth dividing."""

MENDED = 8
"""Every so many linear programs their purchase is mended: what it lacks at its own proportions is added, and judged."""


VAIN = 500
"""Linear programs without a purchase that passes, where ever more may be bought, after which none is looked for."""


@dataclass(order=True)
class _Part:
    """A region of purchases, and what they cost at least."""

    bound: float
    number: int
    region: Region = field(compare=False)


class PurchaseSearch:
    """The search, how far it has got, and what it has found.

    Attributes
    ----------
    judge : Judge
        What was judged, the best and the nearest of it.
    bound : Fraction
        No purchase costs less.
    done : bool
        Whether everything was looked at.
    solved : int
        Regions for which a linear program was solved.
    vain : bool
        Whether it was given up, since ever more may be bought and nothing passed.
    """

    def __init__(self, shop: Shop, policy: Policy, targets: tuple[Target, ...], integer: bool, deadline: Deadline):
        self.shop, self.targets, self.deadline = shop, targets, deadline
        self.steps = Steps(shop)
        self.judge = Judge(shop, policy, targets, integer, self.steps.grain())
        needs = needs_of(shop, policy, targets, integer, deadline)
        self.relaxation = Relaxation(shop, of_each_machine(shop.instance, policy, integer))
        self.wanting = Wanting(needs, self.relaxation)
        self.bound = Fraction(0)
        self.done = False
        self.solved, self.vain = 0, False
        self._number = itertools.count()
        self._prices: BoundPrices | None = None

    @property
    def best(self) -> Trial | None:
        """The cheapest purchase that passes."""
        return self.judge.best

    def run(self) -> None:
        """Search until the cheapest is proven, everything has failed, or the time is up (then it just stops)."""
        try:
            root = _Part(0.0, next(self._number), self.steps.everything)
            first = self._relaxed(root)
            if first is None:
                self.done = True
                if self.steps.ending:
                    self._judged(self.steps.most)
                return
            self.bound = self.judge.lifted(root.bound)
            self._first_purchase(first)
            self.judge.melt()
            self._branch(root)
        except TimeLimitError:
            return

    def _first_purchase(self, first: Bound) -> None:
        """Find a purchase that passes by asking for what the last one lacked, then make it cheaper."""
        judge, steps, deadline = self.judge, self.steps, self.deadline.part(FIRST)
        try:
            if first.counts is not None:
                grow(judge, steps, self.wanting, first.counts, deadline)
            if self.best is None and steps.ending:
                judge.judged(steps.exact(steps.most), deadline)
            if self.best is not None:
                shrink(judge, steps, self.relaxation.cost, self.bound, deadline)
                turn(judge, steps, self.wanting, np.array([float(count) for count in self.best.counts]), deadline)
        except TimeLimitError:
            if self.deadline.left() <= 0 or self.deadline.stopped:
                raise

    def _branch(self, root: _Part) -> None:
        for _ in range(NARROWINGS if self.best is not None else 0):
            if not root.region.empty:
                root.region = self._narrowed(root.region)
        waiting = [root]
        while waiting:
            part = heapq.heappop(waiting)
            self.bound = max(self.bound, self.judge.lifted(part.bound))
            if self.judge.hopeless(part.bound):
                break
            self.deadline.check("the search for the cheapest purchase")
            self.vain = self.best is None and not self.steps.ending and self.solved > VAIN
            if self.vain:
                return
            if part.region.empty:
                continue
            best = "none yet" if self.best is None else f"{float(self.best.cost):.6g}"
            judged = f"{len(self.judge.trials)} judged, {len(waiting)} regions left"
            report(f"cheapest {best}, at least {float(self.bound):.6g}; {judged}")
            for smaller in self._divided(part):
                if not smaller.empty:
                    heapq.heappush(waiting, _Part(part.bound, next(self._number), smaller))
        self.done = True
        if self.best is not None:
            self.bound = self.judge.proven

    def _divided(self, part: _Part) -> tuple[Region, ...]:
        """Return smaller regions in which every purchase of this one lies that is worth looking at."""
        if part.region.single:
            self._judged(part.region.low)
            return ()
        if self.best is not None:
            part.region = self._narrowed(part.region)
            if part.region.empty:
                return ()
        found = self._relaxed(part)
        if found is None or self.judge.hopeless(part.bound) or part.region.empty:
            return ()
        region, steps, cost = part.region, self.steps, self.relaxation.cost
        if found.counts is None:
            high = np.where(np.isfinite(region.high), region.high, 2 * region.low + 1)
            return halves(region, steps, cost, (region.low + high) / 2)
        counts = np.clip(found.counts, region.low, region.high)
        if self.solved % MENDED == 1:
            mend(self.judge, steps, self.wanting, counts, self.deadline)
        if many(region, steps) and (pair := loosest(self.wanting, region, counts, self._loose())) is not None:
            return sides(region, self.relaxation.totals, counts, *pair)
        off = np.where(steps.whole, np.abs(counts - np.round(counts)), 0.0)
        if off.max(initial=0.0) > WHOLE:
            return halves(region, steps, cost, counts, int((off * cost).argmax()))
        if self.best is not None and not steps.whole.any() and self.solved % MENDED != 1:
            return halves(region, steps, cost, counts)
        counts = np.where(steps.whole, np.round(counts), counts)
        trial = self._judged(counts)
        if not trial.missed and self.judge.hopeless(part.bound):
            return ()
        return halves(region, steps, cost, counts)

    def _judged(self, counts: np.ndarray) -> Trial:
        return self.judge.judged(self.steps.exact(counts), self.deadline)

    def _loose(self) -> float:
        """Return the part by which needs must grow to be worth a division: less would be lost in whole steps."""
        if self.judge.grain is None:
            return LOOSE
        return max(LOOSE, float(self.judge.grain / self.bound) / 2) if self.bound else 1.0

    # ---- what a region costs at least -------------------------------------------------------------------------

    def _relaxed(self, part: _Part) -> Bound | None:
        """Bound a part and narrow it; None where nothing in it suffices."""
        if self.wanting.beyond(part.region):
            return None
        needs, totals = self.wanting.least(part.region), self.relaxation.totals
        region = part.region = self.steps.inwards(totals.reaching(part.region, needs.low))
        if needs.impossible or region.empty:
            return None
        cost = self.relaxation.cost
        if self._prices is not None:
            part.bound = max(part.bound, self._prices.bound(cost, needs, region, totals))
            if self.judge.hopeless(part.bound):
                return None
        self.solved += 1
        found = self.relaxation.solve(needs, region, self.deadline)
        if found.counts is None:
            if found.useless is not None and found.useless.bound(0 * cost, needs, region, totals) > 0:
                return None
            return found
        self._prices = BoundPrices.listed(found.prices, self._prices, KEPT)
        part.bound = max(part.bound, found.prices.bound(cost, needs, region, totals))
        if self.best is not None and not self.judge.hopeless(part.bound):
            self._narrow(part, found.prices)
        return found

    def _narrow(self, part: _Part, prices: BoundPrices) -> None:
        """Leave out what the prices prove to cost more than the best purchase known."""
        region, spare = part.region, float(self.judge.price) - part.bound
        each = prices.each(self.relaxation.cost, self.wanting.least(region), region, self.relaxation.totals)
        room = np.divide(spare, np.abs(each), where=each != 0, out=np.full(len(each), math.inf)) / DOWN
        if not np.isfinite(spare):
            return
        low = np.where(each < 0, np.maximum(region.low, region.high - np.where(each < 0, room, 0.0)), region.low)
        high = np.where(each > 0, np.minimum(region.high, region.low + room), region.high)
        part.region = self.steps.inwards(replace(region, low=low, high=high))

    def _narrowed(self, region: Region) -> Region:
        """Return the part of a region that is not dearer than the best purchase known, by programs of its own."""
        least = self.wanting.least(region)
        return self.steps.inwards(self.relaxation.narrowed(least, region, self.judge.budget, self.deadline))
