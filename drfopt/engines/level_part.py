"""Some users of a level program: their iterates, and every pass over them, of which no more leaves than sums over rows.

In the letters of `interior_point`.  Whoever owns a part keeps its amounts x, reduced costs s and multipliers lambda; a
pass is told prices and a few numbers, and returns sums of the size of the rows (class, resource), or of their matrix.
A pass either looks, and leaves all as it is, or changes the iterates: then it is a function of them and what it is
told, so that it can be done again where they were lost.  Users in memory are one such part.
"""

from dataclasses import dataclass

import numpy as np

from ..base.states import Worst
from .pair_layout import Layout, PairBlock, laplacian, summed

__all__ = ["Cap", "Falls", "LevelPart", "LevelStep", "bent"]

CLOSED = 1e200
"""Reduced cost of a closed pair in a table: what it would carry is nothing, and no number overflows."""

BINS = 400
"""Eighths of octaves in which falls are counted."""

TINY = np.finfo(float).tiny

LEAST = 1e-9
"""Part of what a group has that each of its pairs carries to begin with, at least."""


class Cap:
    """Who has a limit; of users without any there is nothing to do."""

    def due(self, level: float) -> bool:
        """Say whether somebody's limit is met at a level."""
        return False

    def meet(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Hold at their limits who has reached them, and return w and h (g,) from now on."""
        raise NotImplementedError


@dataclass(frozen=True)
class LevelStep:
    """What a part is told of a step: the level before it, and changes of prices (rows,) and of the level.

    `first` is the predictor's, `then` the corrector's; `most` the largest second-order term, `aim` what products are to
    be.
    """

    t: float
    first: tuple[np.ndarray, float]
    most: float
    then: tuple[np.ndarray, float] = (np.zeros(0), 0.0)
    aim: float = 0.0


class LevelPart:
    """The groups of a part, measured in what they have to begin with, so that x, t and what a row has are near 1.

    Parameters
    ----------
    layout : PairTable or PairList
        Its `need` is rescaled where groups are capped.
    weights, held : arrays (g,)
        w and h.
    cap : Cap
    keeps : bool
        Whether directions are kept between passes, two more arrays of the pairs, or made again.
    """

    def __init__(
        self, layout: Layout, weights: np.ndarray, held: np.ndarray, cap: Cap | None = None, keeps: bool = False
    ):
        self.layout, self.weights, self.held, self.keeps = layout, weights, held, keeps
        self.cap = Cap() if cap is None else cap
        self.x = np.zeros(0)
        self.middle: tuple[np.ndarray, np.ndarray] | None = None
        self.lam = np.zeros(0)
        self.total, self.rises = np.zeros(0), np.zeros(0)
        self.change = self.dearer = np.zeros(0)

    # ---- looks -------------------------------------------------------------------------------------------------------

    def reach(self) -> list:
        """Return what a unit of every open pair fills, (k, m): 0 where a row is nobody's."""
        layout = self.layout
        return summed(layout, lambda block: (layout.filled(block, layout.ones(block)),))

    def pay(self, prices: np.ndarray) -> tuple:
        """Return what groups pay at prices (rows,) on average of their classes, added up; the same by weight; and how
        many groups and pairs there are."""
        mean = np.empty(self.layout.g)
        self._cost(prices, mean, np.empty(self.layout.g), None)
        return float(mean.sum()), float(self.omega @ mean), self.layout.g, self.layout.count

    def weigh(self, t: float, tight: bool) -> tuple:
        """Return what the rows' equations are made of: sums per level, of amounts and of weights, and the matrix."""
        layout, amount = self.layout, self._amount(t)
        total = np.empty(layout.g)

        def weigh(block: PairBlock) -> tuple:
            d = self._open(block)
            total[block.groups] = each = layout.total(block, d)
            grow, has = (layout.spread(block, v[block.groups] / each) for v in (self.omega, amount))
            fixed = layout.squares(block, d) if tight else 0.0
            return layout.filled(block, d * grow), layout.filled(block, d * has), fixed

        sums = summed(layout, weigh)
        if self.keeps:
            self.total = total
        down, owed = float(self.omega @ (self.omega / total)), float(self.omega @ (amount / total))
        return (*sums, down, owed, laplacian(layout, self._open, total))

    def predict(self, step: LevelStep) -> tuple:
        """Return how far the predictor may go, its money, and what the corrector's aims are worth to the rows."""
        layout, amount = self.layout, self._amount(step.t)

        def predict(block: PairBlock) -> tuple:
            here, costs = self.x[block.pairs], self.s[block.pairs]
            per_cost = 1 / costs
            d = here * per_cost
            total = self._total(block, d)
            along = self._relative(block, d, total, step.first, amount[block.groups])[1]
            along *= per_cost
            falls = Falls.seen(1 + along, -along)
            money = here * costs
            sums = float(money.sum()), float(np.vdot(money, along)), float(np.vdot(money * along, along))
            second = bent(here, costs, along, step.most)
            one, two = (layout.total(block, v) / total for v in (per_cost, second))
            omega = self.omega[block.groups]
            owed = np.array([omega @ one, omega @ two])
            per_cost -= d * layout.spread(block, one)
            second -= d * layout.spread(block, two)
            return falls, np.array(sums), layout.filled(block, per_cost), layout.filled(block, second), owed

        return tuple(summed(layout, predict))

    def correct(self, step: LevelStep) -> list:
        """Return how far the corrector may go."""
        layout, amount = self.layout, self._amount(step.t)
        if self.keeps:
            if self.change.shape != self.x.shape:
                self.change, self.dearer = np.empty_like(self.x), np.empty_like(self.s)
            self.rises = np.empty(layout.g)

        def correct(block: PairBlock) -> tuple:
            rises, more, dear = self._corrected(block, step, amount[block.groups])
            if self.keeps:
                self.rises[block.groups], self.change[block.pairs], self.dearer[block.pairs] = rises, more, dear
            return (Falls.seen(-more / np.maximum(self.x[block.pairs], TINY), -dear / self.s[block.pairs]),)

        return summed(layout, correct)

    def spread(self) -> list:
        """Return what rows have at a level of 1, (k, m), when everybody is on all open classes by what these hold."""
        layout = self.layout

        def fill(block: PairBlock) -> tuple:
            return (layout.filled(block, self._spread(block) * layout.spread(block, self.weights[block.groups])),)

        return summed(layout, fill)

    def due(self, level: float) -> tuple[bool]:
        """Say whether somebody's limit is met at a level."""
        return (self.cap.due(level),)

    # ---- changes -----------------------------------------------------------------------------------------------------

    def start(self, amounts: np.ndarray | None, level: float) -> tuple:
        """Begin with amounts laid out, of every group ``w level + h``, or spread; return what rows have."""
        layout = self.layout
        if amounts is None:
            amounts = np.empty(layout.shape)
            for block in layout.blocks():
                amounts[block.pairs] = self._spread(block)
        self.x = amounts
        self.unit = level
        self.scale = self.weights * level + self.held
        layout.need = layout.need * self.scale[:, None]
        for block in layout.blocks():
            here = self.x[block.pairs]
            here /= layout.spread(block, np.maximum(layout.total(block, here), TINY))
            np.maximum(here, layout.spread(block, LEAST / layout.degree(block)), out=here)
            layout.close(block, here, 0.0)
            here /= layout.spread(block, layout.total(block, here))
        self._weigh()
        return (self._filled(1.0)[0],)

    def begin(self, prices: np.ndarray, average: float, size: float) -> tuple:
        """Choose multipliers at prices (rows,) so that everybody pays about as much as the others, and reduced costs.

        `average` is what groups pay on average of their classes, `size` what all is multiplied with.
        """
        layout = self.layout
        self.s = np.empty(layout.shape)
        mean, cheapest = np.empty(layout.g), np.empty(layout.g)
        self._cost(prices, mean, cheapest, self.s)
        self.lam = cheapest - np.maximum(mean, average)
        for block in layout.blocks():
            here = self.s[block.pairs]
            here -= layout.spread(block, self.lam[block.groups])
            here *= size
            layout.close(block, here, CLOSED)
        self.lam *= size
        return self._told(self._money(), 0.0)

    def meet(self, level: float) -> tuple:
        """Hold at their limits who has reached them; return whether anybody rises, and multipliers left by weight."""
        if self.cap.due(level):
            self.weights, self.held = self.cap.meet(level)
        return bool(self.weights.any()), float(self.weights @ (self.lam / self.scale))

    def again(self, t: float) -> tuple:
        """Go back to where there was room on all sides, when the level was t; return what rows have."""
        had = self._amount(t)
        if self.middle is not None:
            x, had = self.middle
            self.x = x.copy()
        self._rescale((self.weights * t * self.unit + self.held) / (self.scale * had))
        return (self._filled(t)[0],)

    def shrink(self, t: float) -> tuple:
        """Stay where all is at level t, in smaller units: what a group has shrinks with its unit, and x stays."""
        shrunk = (self.weights * t * self.unit + self.held) / (self.scale * self._amount(t))
        self.lam = self.lam * shrunk
        self._rescale(shrunk)
        for block in self.layout.blocks():
            self.s[block.pairs] *= self.layout.spread(block, shrunk[block.groups])
            self.layout.close(block, self.s[block.pairs], CLOSED)
        f, off = self._filled(t)
        return (f, *self._told(self._money(), off))

    def go(self, step: LevelStep, lengths: tuple[float, float], t: float, left: float, mark: bool) -> tuple:
        """Go so much of the corrector's step, to level t; what would lose more than all but `left` of itself keeps it.

        `mark` says whether `again` is to come back to where this step begins.
        """
        layout, before, amount = self.layout, self._amount(step.t), self._amount(t)
        first, dual = lengths
        if mark:
            self.middle = self.x.copy(), before
        self.lam = self.lam.copy()
        off = np.empty(layout.g)

        def go(block: PairBlock) -> tuple:
            here, costs = self.x[block.pairs], self.s[block.pairs]
            if self.keeps:
                rises, more, dearer = (
                    self.rises[block.groups],
                    first * self.change[block.pairs],
                    dual * self.dearer[block.pairs],
                )
            else:
                rises, more, dearer = self._corrected(block, step, before[block.groups])
                more *= first
                dearer *= dual
            self.lam[block.groups] += dual * rises
            clipped = 0
            more += here
            if left:
                least = left * here
                clipped = int(np.count_nonzero(more < least))
                np.maximum(more, least, out=more)
                dearer += costs
                least = left * costs
                least -= dearer
                short = np.maximum(-layout.cheapest(block, -least), 0)
                dearer += layout.spread(block, short)
                self.lam[block.groups] -= short
                layout.close(block, dearer, CLOSED)
                costs[:] = dearer
            else:
                costs += dearer
            # Beside what is clipped, rounding alone takes groups from what they are to have.
            more *= layout.spread(block, amount[block.groups] / layout.total(block, more))
            here[:] = more
            off[block.groups] = np.abs(amount[block.groups] - layout.total(block, here))
            return clipped, layout.filled(block, here), float(np.vdot(here, costs))

        clipped, f, money = summed(layout, go)
        return (clipped, f, *self._told(money, float(off.max())))

    def settle(self, t: float) -> None:
        """Put what the pairs carry in the groups' own units, exactly what each group has at level t."""
        layout, amounts = self.layout, self.scale * self._amount(t)
        for block in layout.blocks():
            here = self.x[block.pairs]
            layout.close(block, here, 0.0)
            here *= layout.spread(block, amounts[block.groups] / layout.total(block, here))

    # ---- what they are made of ---------------------------------------------------------------------------------------

    def _spread(self, block: PairBlock) -> np.ndarray:
        """Return the parts of each group on its classes, by what these could hold of it alone."""
        layout = self.layout
        part = 1 / layout.fullest(block)
        layout.close(block, part, 0.0)
        part /= layout.spread(block, layout.total(block, part))
        return part

    def _amount(self, t: float) -> np.ndarray:
        """Return what groups have at level t in their units, (g,)."""
        return self.omega * t + self.eta

    def _weigh(self) -> None:
        """Put w and h in the groups' units."""
        self.omega, self.eta = self.weights * self.unit / self.scale, self.held / self.scale

    def _rescale(self, shrunk: np.ndarray) -> None:
        """Measure groups in `shrunk` times the unit they had."""
        self.layout.need = self.layout.need * shrunk[:, None]
        self.scale = shrunk * self.scale
        self._weigh()

    def _told(self, money: float, off: float) -> tuple:
        """Return what follows every change: products of the pairs, multipliers by weight, what a group is off by."""
        return money, float(self.omega @ self.lam), Worst(off)

    def _table(self, rows: np.ndarray) -> np.ndarray:
        return rows.reshape(self.layout.k, self.layout.m)

    def _cost(self, prices: np.ndarray, mean: np.ndarray, cheapest: np.ndarray, out: np.ndarray | None) -> None:
        """Compute what groups pay on average of their classes and at least (g,), and what every pair costs."""
        layout, table = self.layout, self._table(prices)

        def price(block: PairBlock) -> tuple:
            cost = layout.cost(block, table)
            mean[block.groups] = layout.total(block, cost * layout.ones(block)) / layout.degree(block)
            cheapest[block.groups] = layout.cheapest(block, cost)
            if out is not None:
                out[block.pairs] = cost
            return ()

        summed(layout, price)

    def _filled(self, t: float) -> tuple[np.ndarray, float]:
        """Return what the rows have, (k, m), and what a group is off by at most from what it is to have at level t."""
        layout, has = self.layout, np.empty(self.layout.g)

        def fill(block: PairBlock) -> tuple:
            here = self.x[block.pairs]
            has[block.groups] = layout.total(block, here)
            return (layout.filled(block, here),)

        return summed(layout, fill)[0], float(np.abs(self._amount(t) - has).max())

    def _money(self) -> float:
        found: float = summed(self.layout, lambda block: (float(np.vdot(self.x[block.pairs], self.s[block.pairs])),))[0]
        return found

    def _open(self, block: PairBlock) -> np.ndarray:
        return self.x[block.pairs] / self.s[block.pairs]

    def _total(self, block: PairBlock, d: np.ndarray) -> np.ndarray:
        """Return the D of each group of a block together."""
        return self.total[block.groups] if self.keeps else self.layout.total(block, d)

    def _relative(
        self, block: PairBlock, d: np.ndarray, total: np.ndarray, change: tuple[np.ndarray, float], groups: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the change of the multipliers, and that of the reduced costs, for a change of prices and level."""
        price, level = change
        cost = self.layout.cost(block, self._table(price))
        rise = self.layout.total(block, cost * d)
        rise += groups
        rise += self.omega[block.groups] * level
        rise /= total
        cost -= self.layout.spread(block, rise)
        return rise, cost

    def _corrected(
        self, block: PairBlock, step: LevelStep, amount: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the changes of multipliers, amounts and reduced costs that the corrector makes of a block."""
        layout, here, costs = self.layout, self.x[block.pairs], self.s[block.pairs]
        per_cost = 1 / costs
        d = here * per_cost
        total = self._total(block, d)
        along = self._relative(block, d, total, step.first, amount)[1]
        along *= per_cost
        second = bent(here, costs, along, step.most)
        per_cost *= step.aim
        groups = amount - layout.total(block, per_cost) - layout.total(block, second)
        rises, dear = self._relative(block, d, total, step.then, groups)
        more = per_cost
        more -= here
        more += second
        d *= dear
        more -= d
        # What is closed stays at nothing, or its products would count.
        layout.close(block, more, 0.0)
        return rises, more, dear


def bent(here: np.ndarray, costs: np.ndarray, along: np.ndarray, most: float) -> np.ndarray:
    """Return what the second order of the predictor adds to amounts, at most so much of a product."""
    product = here * costs * along
    product *= 1 + along
    np.clip(product, -most, most, out=product)
    product /= costs
    return product


class Falls:
    """How much of themselves amounts and reduced costs lose in a step: the most, and how many lose how much."""

    def __init__(self, most: np.ndarray, counts: np.ndarray):
        self.most, self.counts = most, counts

    @classmethod
    def seen(cls, *falls: np.ndarray) -> "Falls":
        """Take notice of relative falls of amounts and of reduced costs."""
        counts = np.zeros((len(falls), BINS), dtype=np.int64)
        for count, values in zip(counts, falls, strict=True):
            much = values[values > 0.5]
            if much.size:
                count[:] = np.bincount(np.minimum((np.log2(much) * 8 + 8).astype(int), BINS - 1), minlength=BINS)
        return cls(np.array([float(values.max(initial=0.0)) for values in falls]), counts)

    def __add__(self, other: "Falls") -> "Falls":
        return Falls(np.maximum(self.most, other.most), self.counts + other.counts)

    def lengths(self, given: float, slack: np.ndarray, price: np.ndarray, part: float) -> tuple[float, float]:
        """Return the lengths of the steps that go `part` of the way to the boundary, at most 1.

        So many amounts and so many reduced costs may be `given` up: they would stop all others.
        """
        found = []
        for most, count, rows in zip(self.most, self.counts, (slack, price), strict=True):
            if given:
                beyond = count[::-1].cumsum()[::-1]
                stays = int(np.argmax(beyond <= given))
                most = min(most, 2.0 ** ((stays - 8) / 8))
            fall = max(float(most), float(rows.max(initial=0.0)))
            found.append(min(1.0, part / fall) if fall > 0 else 1.0)
        return found[0], found[1]
