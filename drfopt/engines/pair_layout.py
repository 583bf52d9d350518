"""Pairs (user, class) laid out for passes over them, and the sums over all users that such passes make.

A layout knows what a unit of a group takes of each class open to it.  What has the size of the pairs is computed for
some groups at a time, and what is left of a pass has the size of the rows (class, resource).
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from ..base.crew import WORKING
from ..base.parallel import cores

__all__ = ["Layout", "PairBlock", "PairList", "PairTable", "laplacian", "pair_layout", "summed", "table_layout"]

BLOCK = 1 << 15
"""Pairs looked at in one go: a few arrays of them stay in the processor's cache."""

BLOCKS_PER_THREAD = 16
"""A thread with fewer blocks to do is not worth starting."""

SPARSE = 0.12
"""Part of the table that is open from which on it is faster with its closed pairs than without."""

COUPLES = 8.0
"""Couples of pairs of one group, for each pair, up to which they are added up one by one."""

CROWDED = 0.08
"""The same of the products over all groups: a product of tables is that much faster than one of lists."""

TALL = 256
"""Rows up to which one product of tall matrices is faster than one for each two resources."""


@dataclass(frozen=True)
class PairBlock:
    """Some groups, and where their pairs are in arrays of the layout."""

    groups: slice
    pairs: slice


class PairTable:
    """Pairs as a table (groups, classes), for when most are open; what is closed carries next to nothing.

    Parameters
    ----------
    need : array (g, m)
    room : array (k, m)
    owner, place : int arrays (pairs,)
        Group and class of every open pair, sorted.
    """

    def __init__(self, need: np.ndarray, room: np.ndarray, owner: np.ndarray, place: np.ndarray):
        self.need, self.place_rate = need, np.divide(1.0, room, where=room > 0, out=np.zeros_like(room))
        self.g, (self.k, self.m) = len(need), room.shape
        self.shape = (self.g, self.k)
        self.count = len(owner)
        self.open: np.ndarray | None = None
        if self.count < self.g * self.k:
            self.open = np.zeros(self.shape, dtype=bool)
            self.open[owner, place] = True
            self.closed = ~self.open

    def blocks(self) -> list[PairBlock]:
        """Return the groups in blocks."""
        return self._blocks

    @cached_property
    def _blocks(self) -> list[PairBlock]:
        step = max(16, BLOCK // self.k)
        slices = [slice(b, min(b + step, self.g)) for b in range(0, self.g, step)]
        return [PairBlock(rows, rows) for rows in slices]

    def laid(self, values: np.ndarray, closed: float) -> np.ndarray:
        """Return values of the open pairs (pairs,) in the layout."""
        if self.open is None:
            return values.reshape(self.shape).copy()
        table = np.full(self.shape, closed)
        table[self.open] = values
        return table

    def flat(self, table: np.ndarray) -> np.ndarray:
        """Return values of the open pairs, (pairs,)."""
        return table.ravel() if self.open is None else table[self.open]

    def close(self, block: PairBlock, values: np.ndarray, closed: float) -> None:
        """Put a value on the closed pairs of a block."""
        if self.open is not None:
            np.copyto(values, closed, where=self.closed[block.pairs])

    def degree(self, block: PairBlock) -> np.ndarray:
        """Return how many pairs each group of the block has."""
        return (
            np.full(block.groups.stop - block.groups.start, self.k)
            if self.open is None
            else self.open[block.pairs].sum(axis=1)
        )

    def ones(self, block: PairBlock) -> np.ndarray:
        """Return 1 at the open pairs of the block, 0 at the others."""
        if self.open is None:
            return np.ones((block.groups.stop - block.groups.start, self.k))
        return self.open[block.pairs].astype(float)

    def spread(self, block: PairBlock, values: np.ndarray) -> np.ndarray:
        """Return values of the block's groups at their pairs."""
        return values[:, None]

    def total(self, block: PairBlock, values: np.ndarray) -> np.ndarray:
        """Add up the pairs of each group."""
        return values.sum(axis=1)

    def cheapest(self, block: PairBlock, values: np.ndarray) -> np.ndarray:
        """Return the least value of each group's open pairs."""
        if self.open is not None:
            values = np.where(self.open[block.pairs], values, np.inf)
        return values.min(axis=1)

    def cost(self, block: PairBlock, prices: np.ndarray) -> np.ndarray:
        """Return what one unit of each pair costs at prices (k, m) of whole classes."""
        return self.need[block.groups] @ (prices * self.place_rate).T

    def of_classes(self, block: PairBlock, values: np.ndarray) -> np.ndarray:
        """Return values of the classes (k,) at the block's pairs."""
        return values[None, :]

    def fullest(self, block: PairBlock) -> np.ndarray:
        """Return the part of a class that one unit of each pair takes, of the resource of which it takes most."""
        need, rate = self.need[block.groups], self.place_rate
        found = need[:, :1] * rate[:, 0]
        for j in range(1, self.m):
            np.maximum(found, need[:, j : j + 1] * rate[:, j], out=found)
        return found

    def filled(self, block: PairBlock, values: np.ndarray) -> np.ndarray:
        """Return what values of the pairs fill of each row, (k, m)."""
        return self.placed(block, values, self.need[block.groups]) * self.place_rate

    def squares(self, block: PairBlock, values: np.ndarray) -> np.ndarray:
        """Return the same with the square of what a unit fills."""
        return self.placed(block, values, self.need[block.groups] ** 2) * self.place_rate**2

    def placed(self, block: PairBlock, values: np.ndarray, need: np.ndarray) -> np.ndarray:
        """Add up values of the block's pairs, times what their groups need (b, q), on each class, (k, q)."""
        return np.asarray(values.T @ need)

    def table(self, block: PairBlock, values: np.ndarray) -> np.ndarray:
        """Return values of a block's pairs as a table (groups, classes)."""
        return values


class PairList:
    """Pairs one after the other, group by group, for when few are open; the letters of `PairTable`."""

    def __init__(self, need: np.ndarray, room: np.ndarray, owner: np.ndarray, place: np.ndarray):
        self.need, self.place_rate = need, np.divide(1.0, room, where=room > 0, out=np.zeros_like(room))
        self.g, (self.k, self.m) = len(need), room.shape
        self.shape = (len(owner),)
        self.count = len(owner)
        self.owner, self.place = owner, place
        self.degrees = np.bincount(owner, minlength=self.g)
        self.starts = np.concatenate([[0], np.cumsum(self.degrees)])
        # Of every block a matrix, whose numbers are those of the last sum: to make one takes as long as to use it.
        self._rows: dict[int, sparse.csc_array] = {}

    @cached_property
    def couples(self) -> "Couples | None":
        """All couples of pairs of one group; None where they are many."""
        return Couples.of(self) if self.degrees @ (self.degrees - 1) / 2 <= COUPLES * self.count else None

    def blocks(self) -> list[PairBlock]:
        """Return the groups in blocks."""
        return self._blocks

    @cached_property
    def _blocks(self) -> list[PairBlock]:
        ends = np.searchsorted(self.starts, np.arange(BLOCK, self.count + BLOCK, BLOCK), side="left")
        ends = np.unique(np.minimum(ends, self.g))
        begins = np.concatenate([[0], ends[:-1]])
        return [
            PairBlock(slice(a, b), slice(int(self.starts[a]), int(self.starts[b])))
            for a, b in zip(begins.tolist(), ends.tolist(), strict=True)
        ]

    def laid(self, values: np.ndarray, closed: float) -> np.ndarray:
        """Return the values, as they are laid out."""
        return values.copy()

    def flat(self, table: np.ndarray) -> np.ndarray:
        """Return values of the pairs, (pairs,)."""
        return table

    def close(self, block: PairBlock, values: np.ndarray, closed: float) -> None:
        """Do nothing: what is closed is not here."""

    def degree(self, block: PairBlock) -> np.ndarray:
        """Return how many pairs each group of the block has."""
        return self.degrees[block.groups]

    def ones(self, block: PairBlock) -> np.ndarray:
        """Return 1 at the pairs of the block."""
        return np.ones(block.pairs.stop - block.pairs.start)

    def spread(self, block: PairBlock, values: np.ndarray) -> np.ndarray:
        """Return values of the block's groups at their pairs."""
        return np.repeat(values, self.degrees[block.groups])

    def _added(self, add: np.ufunc, block: PairBlock, values: np.ndarray) -> np.ndarray:
        return add.reduceat(values, self.starts[block.groups] - block.pairs.start)

    def total(self, block: PairBlock, values: np.ndarray) -> np.ndarray:
        """Add up the pairs of each group."""
        return self._added(np.add, block, values)

    def cheapest(self, block: PairBlock, values: np.ndarray) -> np.ndarray:
        """Return the least value of each group's pairs."""
        return self._added(np.minimum, block, values)

    def cost(self, block: PairBlock, prices: np.ndarray) -> np.ndarray:
        """Return what one unit of each pair costs at prices (k, m) of whole classes."""
        rates = (prices * self.place_rate)[self.place[block.pairs]]
        return np.einsum("pj,pj->p", self.need[self.owner[block.pairs]], rates)

    def of_classes(self, block: PairBlock, values: np.ndarray) -> np.ndarray:
        """Return values of the classes (k,) at the block's pairs."""
        return values[self.place[block.pairs]]

    def fullest(self, block: PairBlock) -> np.ndarray:
        """Return the part of a class that one unit of each pair takes, of the resource of which it takes most."""
        taken = self.need[self.owner[block.pairs]] * self.place_rate[self.place[block.pairs]]
        return np.asarray(taken.max(axis=1))

    def filled(self, block: PairBlock, values: np.ndarray) -> np.ndarray:
        """Return what values of the pairs fill of each row, (k, m)."""
        return self.placed(block, values, self.need[block.groups]) * self.place_rate

    def squares(self, block: PairBlock, values: np.ndarray) -> np.ndarray:
        """Return the same with the square of what a unit fills."""
        return self.placed(block, values, self.need[block.groups] ** 2) * self.place_rate**2

    def placed(self, block: PairBlock, values: np.ndarray, need: np.ndarray) -> np.ndarray:
        """Add up values of the block's pairs, times what their groups need (b, q), on each class, (k, q)."""
        if (rows := self._rows.get(block.pairs.start)) is None:
            starts = self.starts[block.groups.start : block.groups.stop + 1] - block.pairs.start
            rows = sparse.csc_array((values, self.place[block.pairs], starts), shape=(self.k, len(need)))
            self._rows[block.pairs.start] = rows
        rows.data = values
        return np.asarray(rows @ need)

    def table(self, block: PairBlock, values: np.ndarray) -> np.ndarray:
        """Return values of a block's pairs as a table (groups, classes)."""
        rows = np.zeros((block.groups.stop - block.groups.start, self.k))
        rows[self.owner[block.pairs] - block.groups.start, self.place[block.pairs]] = values
        return rows


@dataclass(frozen=True)
class Couples:
    """Couples of pairs of one group, by their classes: which pairs, int (q,) each, where the couples of two classes
    begin, (b,), and these classes, (b,) each, the first the lesser."""

    first: np.ndarray
    second: np.ndarray
    starts: np.ndarray
    classes: tuple[np.ndarray, np.ndarray]

    @classmethod
    def of(cls, pairs: "PairList") -> "Couples":
        """Return all couples."""
        after = np.repeat(pairs.starts[1:], pairs.degrees) - np.arange(pairs.count) - 1
        first = np.repeat(np.arange(pairs.count), after)
        second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(after) - after, after)
        code = pairs.place[first] * pairs.k + pairs.place[second]
        order = np.argsort(code, kind="stable")
        there, starts = np.unique(code[order], return_index=True)
        return cls(first[order], second[order], starts, (there // pairs.k, there % pairs.k))

    def added(self, values: np.ndarray) -> np.ndarray:
        """Add up values of the couples (q,) of each two classes, (b,)."""
        return np.add.reduceat(values, self.starts) if len(values) else values

    def products(self, layout: "PairList", open_: "Values", total: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the blocks off the diagonal of `laplacian`, (k m, k m), and what those on it are, (k, m, m)."""
        k, m, rate = layout.k, layout.m, layout.place_rate
        values = np.concatenate([open_(block) for block in layout.blocks()])
        owner, (one, two) = layout.owner[self.first], self.classes
        weight = values[self.first] * values[self.second] / total[owner]
        need = layout.need.T[:, owner]
        matrix, within = np.zeros((k * m, k * m)), np.zeros((k, m, m))
        flat = matrix.ravel()
        for j in range(m):
            weighed = weight * need[j]
            for other in range(j, m):
                part = self.added(weighed * need[other])
                within[:, j, other] = within[:, other, j] = np.bincount(one, part, k) + np.bincount(two, part, k)
                for a, b in {(j, other), (other, j)}:
                    scaled = part * rate[one, a]
                    scaled *= -rate[two, b]
                    row, column = one * m + a, two * m + b
                    flat[row * (k * m) + column] = flat[column * (k * m) + row] = scaled
        return matrix, within


Layout = PairTable | PairList


def pair_layout(need: np.ndarray, room: np.ndarray, owner: np.ndarray, place: np.ndarray) -> Layout:
    """Return the layout of which an iteration is the cheaper one."""
    kind = PairTable if len(owner) >= SPARSE * len(need) * len(room) else PairList
    return kind(need, room, owner, place)


def table_layout(need: np.ndarray, room: np.ndarray, opened: np.ndarray | None) -> Layout:
    """Return the same for a table (g, k) that says what is open, None where all is."""
    if opened is None or opened.all():
        # Of a table that is open everywhere pairs need not be named.
        return PairTable(need, room, *(np.broadcast_to(np.intp(0), len(need) * len(room)),) * 2)
    return pair_layout(need, room, *np.nonzero(opened))


Values = Callable[[PairBlock], np.ndarray]
"""What is wanted of the pairs of a block."""


def summed(layout: Layout, work: Callable[[PairBlock], tuple]) -> list:
    """Return the sums over all blocks of what `work` returns of each, in threads where there is much to do."""
    blocks = layout.blocks()
    if len(blocks) == 1:
        return list(work(blocks[0]))
    workers = 1 if WORKING.get() else min(cores(), len(blocks) // BLOCKS_PER_THREAD)

    def stretch(some: list[PairBlock]) -> list:
        totals = list(work(some[0]))
        for block in some[1:]:
            for q, value in enumerate(work(block)):
                totals[q] = totals[q] + value
        return totals

    if workers < 2:
        return stretch(blocks)
    each = -(-len(blocks) // workers)
    with ThreadPoolExecutor(workers) as pool:
        parts = list(pool.map(stretch, [blocks[q : q + each] for q in range(0, len(blocks), each)]))
    return [sum(values[1:], values[0]) for values in zip(*parts, strict=True)]


def laplacian(layout: Layout, open_: Values, total: np.ndarray, ground: np.ndarray | None = None) -> np.ndarray:
    """Return ``sum_g (diag(D_g) - D_g D_g' / total_g) (x) a_g a_g'`` over the rows, (k m, k m).

    Parameters
    ----------
    open_ : callable
        Returns D at the pairs of a block.
    total : array (g,)
        ``ground + sum_k D_gk``.
    ground : array (g,)
        What a group has beside its pairs, if anything.
    """
    k, m, rate = layout.k, layout.m, layout.place_rate.ravel()
    if isinstance(layout, PairList) and (couples := layout.couples) is not None:
        matrix, within = couples.products(layout, open_, total)
    else:
        gram = _tall(layout, open_, total) if k * m <= TALL else _by_resources(layout, open_, total)
        _on_diagonal(gram)[:] = 0
        within = gram.sum(axis=2)
        matrix = gram.reshape(k * m, k * m)
        matrix *= -rate
        matrix *= rate[:, None]
    if ground is not None:

        def alone(block: PairBlock) -> tuple:
            d = layout.table(block, open_(block)) * (ground[block.groups] / total[block.groups])[:, None]
            need = layout.need[block.groups]
            return (d.T @ (need[:, :, None] * need[:, None, :]).reshape(len(need), m * m),)

        within = within + summed(layout, alone)[0].reshape(k, m, m)
    within *= layout.place_rate[:, :, None]
    within *= layout.place_rate[:, None, :]
    _on_diagonal(matrix.reshape(k, m, k, m))[:] = within
    return matrix


def _on_diagonal(blocks: np.ndarray) -> np.ndarray:
    """Return the blocks (k, m, m) on the diagonal of a matrix of blocks (k, m, k, m), which are written to there."""
    return np.einsum("kikj->kij", blocks)


def _tall(layout: Layout, open_: Values, total: np.ndarray) -> np.ndarray:
    """Return ``sum_g D_gk D_gl / total_g a_g a_g'`` by one product of tall matrices, (k, m, k, m)."""
    k, m = layout.k, layout.m

    def product(block: PairBlock) -> tuple:
        need = layout.need[block.groups] / np.sqrt(total[block.groups])[:, None]
        tall = (layout.table(block, open_(block))[:, :, None] * need[:, None, :]).reshape(-1, k * m)
        return (tall.T @ tall,)

    return summed(layout, product)[0].reshape(k, m, k, m)


def _by_resources(layout: Layout, open_: Values, total: np.ndarray) -> np.ndarray:
    """Return the same, one pair of resources at a time: each time only of the groups that need both."""
    k, m = layout.k, layout.m
    found = np.zeros((k, m, k, m))
    needs = layout.need > 0
    twos = [(j, other) for j in range(m) for other in range(j, m) if (needs[:, j] & needs[:, other]).any()]
    if isinstance(layout, PairList) and layout.count <= CROWDED * layout.g * k:
        values = np.concatenate([open_(block) for block in layout.blocks()])
        rows = sparse.csr_array((values, layout.place, layout.starts), shape=(layout.g, k))

        def product(two: tuple[int, int]) -> np.ndarray:
            both, root = _roots(layout.need, total, two)
            tall = sparse.diags_array(root) @ rows[both]
            return (tall.T @ tall).toarray()

        parts = [product(two) for two in twos]
    else:

        def products(block: PairBlock) -> tuple:
            d = layout.table(block, open_(block))
            some = []
            for two in twos:
                both, root = _roots(layout.need[block.groups], total[block.groups], two)
                tall = d[both] * root[:, None]
                some.append(tall.T @ tall)
            return tuple(some)

        parts = summed(layout, products)
    for (j, other), part in zip(twos, parts, strict=True):
        found[:, j, :, other] = part
        found[:, other, :, j] = part
    return found


def _roots(need: np.ndarray, total: np.ndarray, two: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return who needs both of two resources, and the root of what a product of theirs is weighted with."""
    product = need[:, two[0]] * need[:, two[1]]
    both = np.flatnonzero(product > 0)
    return both, np.sqrt(product[both] / total[both])
