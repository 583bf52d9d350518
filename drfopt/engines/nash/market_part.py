"""Some users of a market: their iterates, and every pass over them, of which no more leaves than sums over rows.

In the letters of `barrier`.  Whoever owns a part keeps its amounts v, reduced costs s, marginal utilities y, and slacks
h and duals nu of limits; a pass is told prices and a few numbers, and returns sums of the size of the rows (class,
resource), or of their matrix.  A pass either looks, or changes the iterates, and then it makes new arrays of the old
ones: it can be done again where they were lost.  Users in memory are one such part, which keeps what passes compute on
the way from one to the next.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...base.states import First, Most
from ..pair_layout import PairBlock, laplacian, summed
from .apart import ends
from .scaled_market import MarketPoint, ScaledMarket

__all__ = ["MarketPart", "MarketStep"]

IDLE = 1e-3
"""Part of what its tasks are worth to a user that it pays at least, unless its limit holds it."""

CLOSED = 1e200
"""Reduced cost of a closed pair in a table."""

CARRIED = 1e-300
"""What a closed pair in a table carries."""

WORTH = 0.5
"""Part of what its cheapest pair costs that a unit is worth to a user to begin with, at most: reduced costs are then
all about as large as the costs."""

CURVED = 1.0
"""Largest second-order term of a tie."""

DRIFT = 1e-13
"""Relative error of a user's reduced costs from which on it is made good."""


class MarketStep(NamedTuple):
    """What a part is told of a step: the prices (rows,) before it, the largest second-order term of a product, whether
    roundings are to be looked at, and changes of prices, the predictor's `first` and the corrector's `then`; what
    products are to be."""

    p: np.ndarray
    most: float
    late: bool
    first: np.ndarray = np.zeros(0)
    then: np.ndarray = np.zeros(0)
    target: float = 0.0


@dataclass(eq=False)
class _Weighed:
    """What a step begins with: by user D added up, what roundings left of reduced costs (by pair), t less D times that,
    the inverse of b, that of the sum of the last and D, the product of these two, aimed at, pushed by."""

    total: np.ndarray
    lost: np.ndarray | None
    had: np.ndarray
    ground: np.ndarray
    taken: np.ndarray
    share: np.ndarray
    aim: np.ndarray
    pushed: np.ndarray


@dataclass(eq=False)
class _Predicted:
    """What the predictor finds: how far it may go, its money, and second-order terms of ties, limits and pairs; by user
    what the inverse of the reduced costs adds up to, and the last of these."""

    falls: Most
    sums: list
    tied: np.ndarray
    crossed: np.ndarray
    pairs: np.ndarray
    one: np.ndarray
    two: np.ndarray


@dataclass(eq=False)
class _Corrected:
    """What the corrector makes of users: how far it may go, changes of y, nu and h, of amounts and reduced costs."""

    falls: Most
    dy: np.ndarray
    dnu: np.ndarray
    dh: np.ndarray
    pairs: np.ndarray
    duals: np.ndarray


class MarketPart:
    """The users of a part.

    Parameters
    ----------
    market : ScaledMarket
    keeps : bool
        Whether what a pass computes is kept for the next ones, or made again.
    number : int
        Which part it is.
    """

    def __init__(self, market: ScaledMarket, keeps: bool = False, number: int = 0):
        self.number, self.market, self.layout, self.alpha = number, market, market.layout, market.alpha
        self.n, self.g, self.u, self.limited = market.n, market.g, market.u, market.limited
        self.v = market.spread
        # The tie of y and t is a product of powers of which neither grows faster than linearly.
        self.power = max(self.alpha, 1.0)
        # What is nothing in floats is no point to go on from, and the method says so.
        with np.errstate(divide="ignore"):
            self.log_g = np.log(self.g)
        self.capped = bool(self.limited.any())
        # What has no limit has a dual of 0 and a slack of 1, and these stay.
        self.most, self.without = np.where(self.limited, self.u, 0.0), (~self.limited).astype(float)
        self.near: tuple[np.ndarray, ...] | None = None
        self.keeps, self._kept = keeps, dict[str, Any]()
        self.alone = keeps and len(self.layout.blocks()) == 1

    def ends(self) -> tuple:
        """Return the names of the resources, and who is furthest apart."""
        problem = self.market.problem
        return First(problem.instance.resources), *ends(problem, problem.weights, self.number)

    # ---- the beginning -----------------------------------------------------------------------------------------------

    def open(self) -> tuple:
        """Begin with amounts spread over all classes; return what rows have, and what a unit of all pairs fills."""
        layout = self.layout
        self.v = self.v.copy()
        self.t = np.empty(self.n)

        def fill(block: PairBlock) -> tuple:
            here = self.v[block.pairs]
            layout.close(block, here, CARRIED)
            self.t[block.groups] = layout.total(block, here)
            return layout.filled(block, here), layout.filled(block, layout.ones(block))

        return tuple(summed(layout, fill))

    def price(self, p: np.ndarray) -> tuple:
        """Take the shape of prices (rows,); return what one unit of all costs at least, g added up, and how many."""
        layout = self.layout
        self.s = np.empty(layout.shape)

        def price(block: PairBlock) -> tuple:
            self.s[block.pairs] = cost = layout.cost(block, self._table(p))
            return (float(layout.cheapest(block, cost).sum()),)

        return summed(layout, price)[0], float(self.g.sum()), self.n

    def begin(self, times: float, mean: float) -> tuple:
        """Choose duals, at so many times these prices; return how many products there are, and where all stands."""
        layout = self.layout
        self.y, self.h = self.g.copy(), np.where(self.limited, self.u - self.t, 1.0)
        self.nu = np.where(self.limited, mean / self.h, 0.0)
        self.s = self.s * times
        for block in layout.blocks():
            here, nu = self.s[block.pairs], self.nu[block.groups]
            y = self.y[block.groups]
            np.minimum(y, WORTH * layout.cheapest(block, here) + nu, out=y)
            here += layout.spread(block, nu - y)
            layout.close(block, here, CLOSED)
        return (layout.count + int(self.limited.sum()), *self._told())

    # ---- looks -------------------------------------------------------------------------------------------------------

    def weigh(self, step: MarketStep) -> tuple:
        """Return the users' part of the matrix over the rows, and what they are pushed by, (k, m)."""
        weighed, layout = self._weighed(step), self.layout

        def push(block: PairBlock) -> tuple:
            return (layout.filled(block, self._pushed(block, weighed, weighed.pushed)),)

        ground = weighed.ground
        matrix = laplacian(layout, self._open, weighed.total + ground, ground)
        return matrix, summed(layout, push)[0]

    def predict(self, step: MarketStep) -> tuple:
        """Return how far the predictor may go, its money, and what the corrector's two aims are worth to the rows."""
        weighed, found, layout = self._weighed(step), self._predicted(step), self.layout
        bent, to_target = -self.y * found.tied, np.zeros(1)
        if self.capped:
            to_target = self.limited / -self.h
            bent += found.crossed / self.h
        one = weighed.taken * (to_target * weighed.ground - found.one)
        two = weighed.taken * (bent * weighed.ground - found.two)

        def fill(block: PairBlock) -> tuple:
            costs = self.s[block.pairs]
            d = self._open(block)
            first = 1 / costs + d * layout.spread(block, one[block.groups])
            then = d * layout.spread(block, two[block.groups])
            then += found.pairs[block.pairs]
            return layout.filled(block, first), layout.filled(block, then)

        return found.falls, np.array(found.sums), *summed(layout, fill)

    def correct(self, step: MarketStep) -> tuple:
        """Return how far the corrector may go."""
        return (self._corrected(step).falls,)

    # ---- changes -----------------------------------------------------------------------------------------------------

    def go(self, step: MarketStep, lengths: tuple[float, float], mark: bool) -> tuple:
        """Go so much of the corrector's step; `mark` says whether `end` may come back to where it begins."""
        moved, (first, dual) = self._corrected(step), lengths
        if mark:
            self.near = self.v, self.s, self.t, self.nu
        v, s = moved.pairs, moved.duals
        for block in self.layout.blocks():
            for mine, before, length in ((v, self.v, first), (s, self.s, dual)):
                here = mine[block.pairs]
                here *= length
                here += before[block.pairs]
        self.v, self.s, self.h = v, s, self.h + first * moved.dh
        self.y, self.nu = self.y + dual * moved.dy, self.nu + dual * moved.dnu
        self._kept = {}
        self.t = np.empty(self.n)
        return self._told()

    def end(self, here: bool) -> tuple:
        """Stay here, or where the last step began that was marked."""
        if not here and self.near is not None:
            self.v, self.s, self.t, self.nu = self.near
        self.near, self._kept = None, {}
        return ()

    def point(self, p: np.ndarray, z: np.ndarray) -> MarketPoint:
        """Return where users are, with prices and slacks (k, m)."""
        flat = self.layout.flat
        return MarketPoint(flat(self.v), flat(self.s), p, z, self.t, self.nu)

    # ---- what they are made of ---------------------------------------------------------------------------------------

    def _table(self, rows: np.ndarray) -> np.ndarray:
        return rows.reshape(self.layout.k, self.layout.m)

    def _open(self, block: PairBlock) -> np.ndarray:
        """Return D: kept where all is one block, which costs no memory worth a word."""
        if self.alone:
            return self._once("open", lambda: self.v / self.s)
        return self.v[block.pairs] / self.s[block.pairs]

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what is made once between two changes if it may be kept."""
        found = self._kept.get(name)
        if found is None:
            found = make()
            if self.keeps:
                self._kept[name] = found
        return found

    def _told(self) -> tuple:
        """Return what follows every change: what rows have, products of all inequalities and their duals, the largest
        error of limits and ties and minus what the poorest pays, what all pay and what that is worth, and for how many.
        """
        layout = self.layout

        def fill(block: PairBlock) -> tuple:
            here = self.v[block.pairs]
            self.t[block.groups] = layout.total(block, here)
            return layout.filled(block, here), float(np.vdot(here, self.s[block.pairs]))

        f, gap = summed(layout, fill)
        t, a = self.t, self.power
        self.tie = a * np.expm1((self.log_g - np.log(self.y) - self.alpha * np.log(t)) / a)
        off = float(np.abs(self.tie).max())
        worth = paid = self.y * t
        if self.capped:
            # What limits are missed by.
            self.over = (self.most - t - self.h) * self.limited
            off = max(off, float(np.abs(self.over / self.u).max()))
            gap += float(self.nu @ self.h)
            paid = worth - self.nu * t
            # Whoever is held by its limit pays next to nothing, and nothing about it hangs on prices.
            paid = paid[paid > IDLE * worth]
        poorest = float(paid.min(initial=np.inf))
        return f, gap, Most([off, -poorest]), float(paid.sum()), float(worth.sum()), self.n

    def _drift(self, p: np.ndarray) -> np.ndarray | None:
        """Return what roundings have left of ``y - nu - cost + s`` of every pair; None where it is nothing to anybody.

        Who is poor began with more, and the roundings of that stay.
        """
        layout, lost = self.layout, np.empty(self.layout.shape)
        prices, off = self._table(p), np.empty(self.n)

        def look(block: PairBlock) -> tuple:
            here = self.s[block.pairs] - layout.cost(block, prices)
            here += layout.spread(block, (self.y - self.nu)[block.groups])
            layout.close(block, here, 0.0)
            lost[block.pairs] = here
            off[block.groups] = layout.total(block, np.abs(here)) / self.y[block.groups]
            return ()

        summed(layout, look)
        return lost if float(off.max()) > DRIFT else None

    def _weighed(self, step: MarketStep) -> _Weighed:
        return self._once("weighed", lambda: self._weigh(step))

    def _predicted(self, step: MarketStep) -> _Predicted:
        return self._once("predicted", lambda: self._predict(step))

    def _corrected(self, step: MarketStep) -> _Corrected:
        return self._once("corrected", lambda: self._correct(step))

    def _weigh(self, step: MarketStep) -> _Weighed:
        layout, total, had = self.layout, np.empty(self.n), self.t
        lost = self._drift(step.p) if step.late else None
        if lost is not None:
            had = had.copy()

        def weigh(block: PairBlock) -> tuple:
            d = self._open(block)
            total[block.groups] = layout.total(block, d)
            if lost is not None:
                had[block.groups] -= layout.total(block, d * lost[block.pairs])
            return ()

        summed(layout, weigh)
        bend = self.alpha * self.y / self.t
        ground = 1 / (bend + self.nu / self.h if self.capped else bend)
        taken = 1 / (ground + total)
        aim = self._aim(self.tie, -self.nu * self.h if self.capped else None)
        return _Weighed(total, lost, had, ground, taken, ground * taken, aim, taken * (aim * ground + had))

    def _aim(self, tied: np.ndarray, rn: np.ndarray | None) -> np.ndarray:
        """Return what ties and limits push users by."""
        pushed = self.y * tied
        if rn is not None:
            pushed += (self.nu * self.over - rn) / self.h
        return pushed

    def _pushed(self, block: PairBlock, weighed: _Weighed, pushed: np.ndarray) -> np.ndarray:
        """Return D times what users are pushed by, and what their reduced costs have lost."""
        found = self.layout.spread(block, pushed[block.groups])
        found = found if weighed.lost is None else found + weighed.lost[block.pairs]
        return self._open(block) * found

    def _spent(self, price: np.ndarray, costs: np.ndarray) -> np.ndarray:
        """Return what users pay at changed prices for their D, (n,), and write what each pair costs."""
        layout, spent = self.layout, np.empty(self.n)

        def spend(block: PairBlock) -> tuple:
            costs[block.pairs] = cost = layout.cost(block, self._table(price))
            spent[block.groups] = layout.total(block, cost * self._open(block))
            return ()

        summed(layout, spend)
        return spent

    def _changed(self, part: np.ndarray, change: np.ndarray, rn: np.ndarray | None) -> tuple:
        """Return the changes of nu and h that go with those of t and, relative to it, y; and how much of themselves all
        these may lose."""
        fallen = -float(part.min())
        if rn is None:
            return self.nu, self.nu, 0.0, fallen
        over = self.over - change
        dnu, dh = (rn - self.nu * over) / self.h, over * self.limited
        return dnu, dh, -float((dh / self.h).min()), max(fallen, -float((dnu / (self.nu + self.without)).min()))

    def _relative(self, block: PairBlock, cost: np.ndarray, lift: np.ndarray, lost: np.ndarray | None) -> np.ndarray:
        """Return the change of the reduced costs, in the place of that of the costs."""
        cost += self.layout.spread(block, lift[block.groups])
        if lost is not None:
            cost -= lost[block.pairs]
        return cost

    def _predict(self, step: MarketStep) -> _Predicted:
        layout, v, s, w, most = self.layout, self.v, self.s, self._weighed(step), step.most
        one, two = np.empty(self.n), np.empty(self.n)
        second = np.empty(layout.shape)
        spent = self._spent(step.first, second)
        change = (w.total * w.aim - w.had - spent) * w.share
        along_t = change / self.t
        part = self.tie - self.alpha * along_t
        nu, h = self.nu, self.h
        dnu, dh, slack, dual = self._changed(part, change, -nu * h if self.capped else None)
        # dnu - dy, but not as a difference: at a limit both are large.
        lift = -w.taken * (w.aim * w.ground + w.had + spent)

        def predict(block: PairBlock) -> tuple:
            here, costs = v[block.pairs], s[block.pairs]
            along = self._relative(block, second[block.pairs], lift, w.lost)
            along /= costs
            layout.close(block, along, 0.0)
            falls = Most([max(slack, 1 + float(along.max())), max(dual, -float(along.min()))])
            product = here * costs
            money = float(product.sum())
            product *= along
            sums = np.array([money, float(product.sum()), float(np.vdot(product, along))])
            along += 1
            product *= along
            _cut(product, most)
            one[block.groups] = layout.total(block, 1 / costs)
            # In the place of what pairs cost, of which nothing is left.
            np.divide(product, costs, out=along)
            second[block.pairs] = along
            two[block.groups] = layout.total(block, along)
            return falls, sums

        falls, sums = summed(layout, predict)
        of_limits, crossed = [0.0] * 4, np.zeros(0)
        if self.capped:
            of_limits = [float(a @ b) for a, b in ((nu, h), (dnu, h), (nu, dh), (dnu, dh))]
            crossed = _cut(dnu * dh, most)
        tied = _cut(self.alpha / self.power * part * along_t, CURVED)
        return _Predicted(falls, [*sums.tolist(), *of_limits], tied, crossed, second, one, two)

    def _correct(self, step: MarketStep) -> _Corrected:
        layout, v, s, w, first = self.layout, self.v, self.s, self._weighed(step), self._predicted(step)
        target, tied = step.target, self.tie - first.tied
        rn = target * self.limited - self.nu * self.h - first.crossed if self.capped else None
        aim = self._aim(tied, rn)
        brought = target * first.one + first.two - w.had
        moves, dears = first.pairs, np.empty(layout.shape)
        spent = self._spent(step.then, dears)
        change = (w.total * aim + brought - spent) * w.share
        part = tied - self.alpha * change / self.t
        dnu, dh, slack, dual = self._changed(part, change, rn)
        lift = -w.taken * (aim * w.ground - brought + spent)

        def correct(block: PairBlock) -> tuple:
            here, costs = v[block.pairs], s[block.pairs]
            dear, more = self._relative(block, dears[block.pairs], lift, w.lost), moves[block.pairs]
            # What products at `target` bring each pair beside its price.
            more += target / costs
            more -= here
            open_ = self._open(block)
            more -= open_ * dear
            layout.close(block, more, 0.0)
            # Differences between a user's classes may be huge; what they leave of its total is rounding.
            more += open_ * layout.spread(
                block, (change[block.groups] - layout.total(block, more)) / w.total[block.groups]
            )
            layout.close(block, dear, 0.0)
            return (Most([max(slack, -float((more / here).min())), max(dual, -float((dear / costs).min()))]),)

        (falls,) = summed(layout, correct)
        return _Corrected(falls, self.y * part, dnu, dh, moves, dears)


def _cut(terms: np.ndarray, most: float) -> np.ndarray:
    """Return the terms, none larger than `most`, in their place."""
    np.minimum(terms, most, out=terms)
    return np.maximum(terms, -most, out=terms)
