"""Whether tasks that one pool could hold fit on the machines too, and where: most clusters are one pool in disguise.

What is possible on machines is possible in the pool of all their capacities.  So where the fair division of that pool
fits on the machines, it is theirs, and the pool's prices are its proof.  With many users, each free to choose among
many classes, it nearly always fits, with room to spare: then no program over pairs need be solved, only equations.

Given   a[g, j]   what group g has of resource j in all, and size s[g] of that        (g, m)
        c[k, j]   room of class k                                                     (k, m)

Find    y[g, k] >= 0  parts of the group on the classes open to it, sum_k y[g, k] = 1

    minimise    sum_g s_g sum_k y_gk log (y_gk / r_k)   -   mu sum log v_kj
    subject to  sum_g a_gj y_gk / c_kj            =  1      for resources that the pool fills         price q_kj
                sum_g a_gj y_gk / c_kj  +  v_kj   =  1      for the others                            price q_kj > 0

At the optimum y is proportional to ``r_k exp(-sum_j a_gj q_kj / (s_g c_kj))``: only the prices are unknown.  Newton's
matrix is ``sum_g (diag(D_g) - D_g D_g' / s_g) (x) a_g a_g'`` with D = s y, and diag(v / q): the weighted Laplacian of
the interior point method.  Here D does not come near 0, every class shares users with every other, and conjugate
gradients, preconditioned by the blocks of the classes, need a few products, each one pass over the pairs.  The matrix
is never made.  A resource that is priced alike everywhere moves nobody: along that the equations have nothing to say.

Minimising an entropy under marginals is older than linear programming (R. Kruithof, Telefoonverkeersrekening, De
Ingenieur 1937); conjugate gradients are M. Hestenes's and E. Stiefel's (Journal of Research of the National Bureau of
Standards 1952).
"""

from collections.abc import Callable

import numpy as np

from .pair_layout import PairBlock, pair_layout, summed

__all__ = ["PoolPlacement", "placed"]

ITERATIONS = 40
"""Steps of Newton's method: five to ten are usual where it fits."""

WAIT = 6
"""Steps in which the error is not halved after which the tasks are said not to fit."""

ACCURATE = 1e-13
"""Error of the rows that is aimed at, and the roundings of a hundred thousand users."""

ENOUGH = 1e-12
"""The error that will do where rounding lets it fall no further."""

FARTHEST = 4.0
"""Largest change of a logarithm of a part in one step."""

KEEP = 0.9
"""Part of the way to the boundary that prices and slacks may go in one step."""

BARRIER = 0.1
"""What the logarithms of the slacks count for, in those of the parts."""

PRODUCTS = 40
"""Products with the matrix in one step."""

FORCING = 0.1, 1e-2, 1e-12
"""The residual of a step is to be so much of the error, within these two bounds."""

NOISE = 2e-14
"""Residual of a row that is rounding."""

SINGULAR = 1e-10
"""Added to the unit diagonal of a class's block, whose resources may be one."""

STIFF = 1e30
"""What keeps the prices of rows that are not full where they are."""

Watch = Callable[[str], None]


def placed(
    need: np.ndarray, room: np.ndarray, owner: np.ndarray, place: np.ndarray, full: np.ndarray, watch: Watch
) -> np.ndarray | None:
    """Return the part of each group on each of its classes, (pairs,), or None where they do not seem to fit.

    Parameters
    ----------
    need : array (g, m)
        What every group needs in all, something of something.
    room : array (k, m)
    owner, place : int arrays (pairs,)
        Group and class of every pair, sorted; every group has one.
    full : bool array (m,) or (k, m)
        Resources, or rows, of which the groups are to take all there is where somebody may use it.
    watch : callable
        Told how far it is before every step; may raise.
    """
    with np.errstate(all="ignore"):
        return PoolPlacement(need, room, owner, place, full).run(watch)


class PoolPlacement:
    """The placement of what `placed` is told, and how it gives way."""

    def __init__(self, need: np.ndarray, room: np.ndarray, owner: np.ndarray, place: np.ndarray, full: np.ndarray):
        total = room.sum(axis=0)
        self.size = np.divide(need, total, where=total > 0, out=np.zeros_like(need)).max(axis=1)
        self.layout = layout = pair_layout(need / self.size[:, None], room, owner, place)
        self.shape = (layout.k, layout.m)
        entered = summed(layout, lambda block: (layout.filled(block, layout.ones(block)),))[0] > 0
        self.there = entered.ravel()
        self.free = (entered & ~full).ravel()
        self.bias = np.log(np.divide(room, total, where=total > 0, out=np.zeros_like(room)).mean(axis=1))
        self.parts = np.empty(layout.shape)
        self.price = np.zeros(room.size)
        # A resource priced in proportion to the room costs the same everywhere.
        alike = np.where((entered & full) & (full | ~entered).all(axis=0), room, 0.0)
        size = np.square(alike).sum(axis=0)
        self.alike = alike / np.sqrt(np.where(size > 0, size, 1.0))

    def run(self, watch: Watch) -> np.ndarray | None:
        """Return the parts of the groups, (pairs,), or None."""
        free = self.free
        filled = self._fill()
        mu = BARRIER * float(self.size.sum()) / max(1, int(self.there.sum()))
        slack = np.where(free, np.maximum(1 - filled, 1.0), 0.0)
        self.price[free] = mu / slack[free]
        best, waited = np.inf, 0
        for step in range(ITERATIONS):
            filled = self._fill()
            miss = np.where(self.there, filled + slack - 1, 0.0)
            error = float(np.abs(miss).max())
            off = max(float(np.abs(miss[~free]).max(initial=0)), float((filled[free] - 1).max(initial=0)))
            watch(f"step {step}: rows off by {off:.1e}")
            best, waited = (error, 0) if error < best / 2 else (best, waited + 1)
            if off <= ACCURATE or (off <= ENOUGH and waited):
                return self._found()
            if not np.isfinite(error) or waited >= WAIT:
                break
            inside = np.where(free, self.price, 1.0)
            lacking = np.where(free, mu / inside - slack, 0.0)
            bend = np.where(free, slack / inside, 0.0)
            change = self._solved(bend, miss + lacking, error)
            more = np.where(free, lacking - bend * change, 0.0)
            length = min(1.0, FARTHEST / max(self._moved(change), FARTHEST))
            fall = max(
                float((-change[free] / inside[free]).max(initial=0)), float((-more / slack)[free].max(initial=0))
            )
            length = min(length, KEEP / max(fall, KEEP))
            self.price += length * change
            slack += length * more
        return None

    def _found(self) -> np.ndarray:
        layout = self.layout
        found = np.empty(layout.shape)
        for block in layout.blocks():
            found[block.pairs] = self.parts[block.pairs] / layout.spread(block, self.size[block.groups])
        return layout.flat(found)

    def mended(self, miss: np.ndarray) -> np.ndarray:
        """Return the change of the parts (pairs,) that fills so much less of each full row, (k, m), after `run`."""
        layout, most = self.layout, float(np.abs(miss).max())
        if not most > 0:
            return np.zeros(layout.count)
        with np.errstate(all="ignore"):
            change = most * self._solved(
                np.where(self.free, STIFF, 0.0), np.where(self.free, 0.0, (miss / most).ravel()), 0.0
            )
            found = np.empty(layout.shape)
            for block in layout.blocks():
                here = -self._leaving(block, change)
                here *= self.parts[block.pairs]
                found[block.pairs] = here
        return layout.flat(found)

    def _fill(self) -> np.ndarray:
        """Put everybody where the prices say; return what that fills of each row."""
        layout, prices = self.layout, self.price.reshape(self.shape)

        def fill(block: PairBlock) -> tuple:
            here = layout.cost(block, prices)
            np.subtract(layout.of_classes(block, self.bias), here, out=here)
            layout.close(block, here, -np.inf)
            here -= layout.spread(block, -layout.cheapest(block, -here))
            np.exp(here, out=here)
            here *= layout.spread(block, self.size[block.groups] / layout.total(block, here))
            self.parts[block.pairs] = here
            return (layout.filled(block, here),)

        return np.asarray(summed(layout, fill)[0].ravel())

    def _leaving(self, block: PairBlock, change: np.ndarray) -> np.ndarray:
        """Return how the logarithms of the parts of a block fall as prices change."""
        layout = self.layout
        found = layout.cost(block, change.reshape(self.shape))
        mean = layout.total(block, found * self.parts[block.pairs]) / self.size[block.groups]
        found -= layout.spread(block, mean)
        return found

    def _moved(self, change: np.ndarray) -> float:
        layout = self.layout

        def look(block: PairBlock) -> float:
            found = np.abs(self._leaving(block, change))
            layout.close(block, found, 0.0)
            return float(found.max(initial=0.0))

        return max(look(block) for block in layout.blocks())

    def _product(self, change: np.ndarray) -> np.ndarray:
        """Return the Laplacian's product with a change of prices."""
        layout = self.layout

        def fall(block: PairBlock) -> tuple:
            found = self._leaving(block, change)
            found *= self.parts[block.pairs]
            return (layout.filled(block, found),)

        return np.asarray(summed(layout, fall)[0].ravel())

    def _solved(self, bend: np.ndarray, right: np.ndarray, error: float) -> np.ndarray:
        """Return the change of prices, by conjugate gradients."""
        inverse = self._inverse(bend)

        def conditioned(left: np.ndarray) -> np.ndarray:
            return np.asarray(np.einsum("kij,kj->ki", inverse, left.reshape(self.shape)).ravel())

        table = right.reshape(self.shape)
        left = (table - self.alike * (self.alike * table).sum(axis=0)).ravel()
        part, most, least = FORCING
        enough = max(max(least, min(most, part * error)) * float(np.abs(left).max()), NOISE)
        found = np.zeros_like(left)
        along = down = conditioned(left)
        weight = float(left @ down)
        for _ in range(PRODUCTS):
            if not np.abs(left).max() > enough:
                break
            climb = self._product(along) + bend * along
            curve = float(along @ climb)
            if not curve > 0:
                break
            length = weight / curve
            found += length * along
            left = left - length * climb
            down = conditioned(left)
            before, weight = weight, float(left @ down)
            along = down + weight / before * along
        return found

    def _inverse(self, bend: np.ndarray) -> np.ndarray:
        """Return the inverses of the classes' blocks on the diagonal, (k, m, m)."""
        layout, m = self.layout, self.layout.m

        def weigh(block: PairBlock) -> tuple:
            parts = self.parts[block.pairs]
            weight, need = parts - parts**2 / layout.spread(block, self.size[block.groups]), layout.need[block.groups]
            return tuple(layout.placed(block, weight, need * need[:, j : j + 1]) for j in range(m))

        rate = layout.place_rate
        blocks = np.stack(summed(layout, weigh), axis=1) * rate[:, :, None] * rate[:, None, :]
        diagonal = np.arange(m)
        blocks[:, diagonal, diagonal] += (bend + ~self.there).reshape(self.shape)
        size = 1 / np.sqrt(np.maximum(blocks[:, diagonal, diagonal], np.finfo(float).tiny))
        blocks *= size[:, :, None] * size[:, None, :]
        blocks[:, diagonal, diagonal] += SINGULAR
        try:
            inverse = np.linalg.inv(blocks)
        except np.linalg.LinAlgError:  # It only makes the steps fewer: the diagonal does that, too.
            inverse = np.broadcast_to(np.eye(m), blocks.shape)
        inverse = inverse * size[:, :, None] * size[:, None, :]
        there = self.there.reshape(self.shape)
        return np.where(there[:, :, None] & there[:, None, :], inverse, 0.0)
