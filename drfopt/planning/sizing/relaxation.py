"""What a purchase costs at least: a linear program in floats, and prices that prove it in a few sums.

Given   m[i]       the least tasks of user i, in every cluster of the region            (n,)
        c[s]       cost of one step of offer s                                          (offers,)
        a[s, k, j] what a step of offer s adds to resource j of class k                 (offers, k, m)
        R[k, j]    what is there before                                                 (k, m)

Find    b[s]       steps bought, low[s] <= b[s] <= high[s]
        z[i, k]    tasks of user i on class k, eligible and large enough, divisible

    minimise    c . b
    subject to  sum_i d[i, j] z[i, k]  <=  R[k, j] + sum_s a[s, k, j] b[s]     for every class and resource   (capacity)
                sum_k z[i, k]          >=  m[i]                                for every user                 (need)
                C[g]                   >=  f[j, g] C[j]                        for some resources          (proportions)
                sum_k y[i, k] N[k]     >=  m[i]                                for every user                  (servers)

where C[j] = sum_k (R[k, j] + sum_s a[s, k, j] b[s]): a region is two ends, low and high, and floors f of proportions.

Any prices p[k, j] >= 0 of the capacities prove a bound.  With q_i = min over k of p[k] . d[i], the cheapest place of a
task, and v_s the price of what a step of offer s adds, the needs cost sum_i q_i m_i in prices, which what there is must
be worth:  v . b >= sum_i q_i m_i - p . R.  So

    c . b  >=  sum_i q_i m_i - p . R + sum_s min((c_s - v_s) low_s, (c_s - v_s) high_s),

and with prices of the proportions and of the servers likewise, and where m[i] is a multiple of some C[j].  That is all
that is believed.
Where nothing between low and high suffices, the same with c = 0 is positive.
Where every machine is divided by itself, N[k] machines of a class give user i exactly y[i, k] tasks each, whatever else
is bought: the last rows are there under that policy alone, and say all of it.
A user with several types of tasks is as many users whose tasks stand in fixed proportions.
"""

from dataclasses import dataclass, replace

import highspy
import numpy as np
from scipy import sparse

from ...base.deadline import Deadline
from ...base.errors import SolverError, TimeLimitError
from ...base.tolerances import LEVEL
from ...engines.linear_programs import INFINITY, load, run
from .needs import Least, parts_of
from .offers import Shop
from .rates import DOWN
from .regions import BoundPrices, Region, Totals

__all__ = ["MISSING", "Bound", "Relaxation"]


MISSING = 1e-9
"""Overload, in parts of a machine, below which a program is met: solvers are asked for a tenth of it."""

SLACK = 4 * LEVEL
"""Part by which what a machine gives a user may be more than was computed."""

DEAR = 100.0
"""Times the dearest machine, or pool as it is, in steps of an offer, that an overload by one of every class costs."""


@dataclass(frozen=True, eq=False)
class Bound:
    """The cheapest purchase of the program in a region, and prices; or nothing suffices, and prices that say so."""

    counts: np.ndarray | None
    prices: BoundPrices
    useless: BoundPrices | None = None


class Relaxation:
    """The program over HiGHS, loaded once; only the needs and the region change."""

    def __init__(self, shop: Shop, on_each: np.ndarray | None = None):
        """Take what is for sale and, where machines are divided one by one, what users have of each, (n, k)."""
        instance = shop.instance
        parts = parts_of(instance)
        room, counts, adds = shop.rooms()
        self.parts, self.room, self.there, self.adds = parts, room, room * counts[:, None], adds
        self.totals = Totals(self.there.sum(axis=0), adds.sum(axis=1))
        self.cost = np.array([float(price) for price in shop.prices])
        self.n, self.m, offers = instance.n, instance.m, len(self.cost)
        self.fits = parts.fits & ((counts > 0) | (adds > 0).any(axis=(0, 2)))
        part, place = np.nonzero(self.fits)
        # Units: a class's row is in machines of it, or in what a pool has; a user's tasks in what fills one machine.
        unit = np.where(room > 0, room, adds.max(axis=0, initial=0.0))
        self.unit = unit = np.where(unit > 0, unit, 1.0)
        filled = np.where(self.fits[:, :, None], parts.demands[:, None, :] / unit, 0.0).max(axis=(1, 2))
        self.scale = np.where(filled > 0, filled, 1.0)
        self.scale_of_users = np.zeros(self.n)
        np.add.at(self.scale_of_users, parts.user, self.scale * parts.share)
        self.asked, row = np.unique(part, return_inverse=True)
        entries = parts.demands[part] / unit[place] / self.scale[part][:, None]
        pair, resource = np.nonzero(entries)
        cells, index = np.unique(place[pair] * self.m + resource, return_inverse=True)
        self.cell = np.divmod(cells, self.m)
        width, used = len(part), len(cells)
        self.whole = whole = np.maximum(self.totals.there, self.totals.adds.max(axis=0, initial=0.0))
        whole[whole == 0] = 1.0
        self.pairs = [(j, g) for j in range(self.m) for g in range(self.m) if j != g]
        # Columns: tasks, steps, the capacity of the whole cluster, an overload of everything.
        self.steps = np.arange(width, width + offers, dtype=np.int32)
        self.totals_at = width + offers
        self.over = width + offers + self.m
        body = sparse.csr_matrix((entries[pair, resource], (index, pair)), shape=(used, width))
        bought = sparse.csr_matrix(-(adds / unit)[:, self.cell[0], self.cell[1]].T)
        over = sparse.csr_matrix(-np.ones((used, 1)))
        needed = sparse.csr_matrix((np.ones(width), (row, np.arange(width))), shape=(len(self.asked), width))
        each = np.zeros((0, len(counts))) if on_each is None else on_each * (1 + SLACK)
        self.given = each @ counts
        self.gives = np.zeros((0, offers)) if on_each is None else each @ shop.machines().T
        # Whom others leave nothing on any machine gets a task of what is too much.
        more = sparse.csr_matrix(np.where(each.any(axis=1), each.sum(axis=1), 1.0)[:, None])
        blocks = [
            [body, bought, sparse.csr_matrix((used, self.m)), over],
            [needed, None, None, None],
            [None, sparse.csr_matrix(-(self.totals.adds / whole).T), sparse.eye(self.m), None],
            [None, None, self._proportions(), sparse.csr_matrix(np.ones((len(self.pairs), 1)))],
            [None, sparse.csr_matrix(self.cost[None, :]), None, sparse.csr_matrix([[-self.cost.max()]])],
            *([[None, sparse.csr_matrix(self.gives), None, more]] if len(each) else ()),
        ]
        self.first = np.cumsum([used, len(self.asked), self.m, len(self.pairs)])
        none = np.full(len(self.pairs) + 1, -INFINITY)
        there = self.totals.there / whole
        low = np.concatenate([np.full(used, -INFINITY), np.zeros(len(self.asked)), there, none, -self.given])
        top = (self.there / unit)[self.cell]
        high = np.concatenate(
            [top, np.full(len(self.asked), INFINITY), there, np.full(len(none) + len(each), INFINITY)]
        )
        self.sloping: np.ndarray = np.zeros(self.n, dtype=bool)
        # Of a pool one overload saves as many steps as there are in it.
        pieces = np.divide(unit, adds, where=adds > 0, out=np.zeros_like(adds)).max(axis=(1, 2))
        self.worth = float((self.cost * pieces).max())
        self.dear = DEAR * max(self.worth, float(self.cost.max()))
        cost = np.concatenate([np.zeros(width), self.cost, np.zeros(self.m), [self.dear]])
        upper = np.full(self.over + 1, INFINITY)
        self.highs: highspy.Highs = load(cost, upper, sparse.bmat(blocks, format="csr"), low, high)

    def _proportions(self) -> sparse.csr_matrix:
        rows = np.zeros((len(self.pairs), self.m))
        for r, (j, g) in enumerate(self.pairs):
            # The entry that a region sets is there from the beginning.
            rows[r, g], rows[r, j] = 1.0, -1.0
        return sparse.csr_matrix(rows)

    def most(self, counts: np.ndarray) -> np.ndarray:
        """Return what there is of each class after a purchase, (k, m); inf where it is without end."""
        with np.errstate(invalid="ignore"):
            return self.there + np.where(self.adds > 0, self.adds * counts[:, None, None], 0.0).sum(axis=0)

    def homeless(self, integer: bool = False) -> np.ndarray:
        """Return who has a part that fits nowhere, of whole tasks no part that fits somewhere: bool (n,)."""
        found = np.full(self.n, integer)
        fits = self.fits.any(axis=1)
        found[self.parts.user[fits if integer else ~fits]] = not integer
        return found

    def solve(self, needs: Least, region: Region, deadline: Deadline) -> Bound:
        """Return the cheapest purchase of a region for these needs (n,), and prices that prove it."""
        self._ask(needs, region)
        found = run(self.highs, "the cheapest purchase", deadline)
        prices = self._prices(found.duals)
        if found.columns[self.over] <= MISSING:
            return Bound(found.columns[self.steps], prices)
        return Bound(None, prices, self._useless(deadline))

    def least_overload(self, needs: Least, region: Region, deadline: Deadline) -> float:
        """Return by how many machines of every class the needs are too much at the least."""
        self._ask(needs, region)
        self._useless(deadline)
        return float(self.highs.getSolution().col_value[self.over])

    def narrowed(self, needs: Least, region: Region, budget: float, deadline: Deadline) -> Region:
        """Return the part of a region in which every purchase within a budget lies that meets these needs.

        The budget has a price as well: what the other prices prove of steps, plus a multiple of what is overspent.
        """
        bill = int(self.first[-1])
        columns = np.append(self.steps, np.int32(self.over)).astype(np.int32)
        for s in range(len(self.cost)):
            for sign in (1.0, -1.0):
                self._ask(needs, region)
                self.highs.changeRowBounds(bill, -INFINITY, budget)
                aim = np.zeros(len(self.cost))
                aim[s] = sign
                # An overload saves or spends so much money, which may buy many of this one.
                dear = max(self.dear / float(self.cost[s]), DEAR * float(np.nan_to_num(region.high[s], posinf=1.0)))
                self.highs.changeColsCost(len(columns), columns, np.append(aim, dear))
                try:
                    found = run(self.highs, "the ends of a purchase", deadline)
                except TimeLimitError:
                    raise
                except SolverError:  # An end that is not known leaves the region as wide as it is.
                    continue
                finally:
                    self.highs.changeRowBounds(bill, -INFINITY, INFINITY)
                    self.highs.changeColsCost(len(columns), columns, np.append(self.cost, self.dear))
                spent = max(0.0, -float(found.duals[bill]))
                least = self._prices(found.duals).bound(aim + spent * self.cost, needs, region, self.totals)
                end = sign * (least - spent * budget * (2 - DOWN))
                low, high = region.low.copy(), region.high.copy()
                if sign > 0:
                    low[s] = max(low[s], min(end, high[s]))
                else:
                    high[s] = min(high[s], max(end, low[s]))
                region = replace(region, low=low, high=high)
        return region

    def _ask(self, needs: Least, region: Region) -> None:
        asked, first = self.asked, self.first
        rows = np.arange(first[0], first[1], dtype=np.int32)
        wanted = (needs.tasks[self.parts.user] * self.parts.share * self.scale)[asked]
        self._lines(needs.slopes, rows)
        for row, amount in zip(rows.tolist(), wanted.tolist(), strict=True):
            self.highs.changeRowBounds(row, amount, INFINITY)
        for i, given in enumerate(self.given.tolist()):
            self.highs.changeRowBounds(int(first[-1]) + 1 + i, float(needs.tasks[i]) - given, INFINITY)
        self.highs.changeColsBounds(len(self.steps), self.steps, region.low, np.minimum(region.high, INFINITY))
        for r, (j, g) in enumerate(self.pairs):
            floor = region.floors[j, g]
            if floor > 0:
                scaled = floor * self.whole[j] / self.whole[g]
                self.highs.changeCoeff(int(first[2]) + r, self.totals_at + j, -scaled)
            self.highs.changeRowBounds(int(first[2]) + r, 0.0 if floor > 0 else -INFINITY, INFINITY)

    def _lines(self, slopes: np.ndarray, rows: np.ndarray) -> None:
        """Set the entries by which needs grow with the capacity of the whole cluster."""
        now = np.array(slopes.any(axis=1))
        sloping = now | self.sloping
        for row, part in zip(rows.tolist(), self.asked.tolist(), strict=True):
            i = self.parts.user[part]
            if sloping[i]:
                unit = self.parts.share[part] * self.scale[part]
                for j in range(self.m):
                    self.highs.changeCoeff(row, self.totals_at + j, -float(slopes[i, j] * self.whole[j] * unit))
        self.sloping = now

    def _useless(self, deadline: Deadline) -> BoundPrices:
        """Return prices at which even all that may be bought is worth too little."""
        columns = np.append(self.steps, np.int32(self.over)).astype(np.int32)
        self.highs.changeColsCost(len(columns), columns, np.append(np.zeros(len(self.steps)), 1.0))
        found = run(self.highs, "the least overload", deadline)
        self.highs.changeColsCost(len(columns), columns, np.append(self.cost, self.dear))
        return self._prices(found.duals)

    def _prices(self, duals: np.ndarray) -> BoundPrices:
        table = np.zeros_like(self.room)
        table[self.cell] = np.maximum(0.0, -duals[: len(self.cell[0])])
        table /= self.unit
        each = np.where(self.fits, self.parts.demands @ table.T, np.inf).min(axis=1, initial=np.inf)
        task = np.zeros(self.n)
        np.add.at(task, self.parts.user, np.where(np.isfinite(each), each, 0.0) * self.parts.share)
        proportions = np.zeros((self.m, self.m))
        for r, (j, g) in enumerate(self.pairs):
            proportions[j, g] = max(0.0, float(duals[int(self.first[2]) + r])) / self.whole[g]
        steps, there = (self.adds * table).sum(axis=(1, 2)), float((self.there * table).sum())
        if len(self.given):
            served = np.maximum(0.0, duals[int(self.first[-1]) + 1 :])
            task, steps, there = task + served, steps + served @ self.gives, there + float(served @ self.given)
        return BoundPrices(task, steps, np.array(there), proportions)
