"""Tables of numbers at the door: a float array to compute with and, where floats would lose something, exact values.

A table keeps its `Fraction`s only when some value is not the shortest decimal of its float; otherwise the floats
say it all and the exact values are made on demand.

A table of two dimensions lies in memory column by column: what is done with a million users is done along a resource.
A float array that is read-only already, a memory-mapped file above all, is not copied and keeps its order.
"""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from ..base.errors import InstanceError
from ..base.loops import compiled
from ..base.numbers.double_double import DoubleDouble
from ..base.numbers.quantities import amount, exact
from ..base.numbers.shown import ALL_DIGITS, in_full
from ..base.parallel import cores, one_thread
from .naming import Places

__all__ = [
    "LARGEST",
    "LONG",
    "MOST_IN_SETS",
    "SMALLEST",
    "ExactTable",
    "Extent",
    "Gathered",
    "amount_in_range",
    "as_float",
    "columns",
    "constant",
    "in_blocks",
    "in_mid_range",
    "needed_sets",
    "table",
    "thaw",
]

Result = TypeVar("Result")

BLOCK = 1 << 14
"""Rows looked at in one go: those of some resources stay in the processor's cache."""

LONG = 1 << 16
"""The same of loops that keep little of them at a time."""

SMALL = 1 << 10
"""Rows up to which the linear algebra does not think of threads."""

FEW = 16
"""Numbers up to which going through them takes less than calling for their smallest and largest."""

BLOCKS_PER_CORE = 8
"""A thread with fewer blocks to do is not worth starting."""

INFINITY_BITS = 0x7FF0_0000_0000_0000
"""The bits of inf. Read as integers, the bits of floats from 0 on are in the order of the floats; those of NaN and of
everything negative are above."""

EXACT_INTEGERS = 2**53
"""Every integer up to here is a float."""

SMALLEST, LARGEST = 1e-280, 1e280
"""Positive floats outside of these are near the ends of the range: they, or products with them, lose digits."""

MOST_IN_SETS = 16
"""Columns up to which a row's set of those that are positive is a short number, and all sets are a small one."""

NO_LIMIT = ", or inf or None where there is no limit"
"""What may stand where a number may."""

LONG_BITS = 128
"""Numbers longer than this are not written out in an error."""


@dataclass(frozen=True)
class Extent:
    """What a table of demands spans: largest and smallest positive value a column (m,), 0 where it has none.

    `idle` is the first row without a positive value, None when every row has one; `sets` are the `needed_sets`, where
    they were found in passing.
    """

    highest: np.ndarray
    lowest: np.ndarray
    idle: int | None
    sets: np.ndarray | None = None


class Gathered:
    """A table of floats (n, m) that is put together from pieces of its columns, and looked at as they come."""

    def __init__(self, n: int, m: int):
        self._floats = np.empty((n, m), order="F")
        self._loops: Any = compiled(self._floats) if m <= MOST_IN_SETS else None
        self._highest, self._lowest = np.zeros(m, np.uint64), np.full(m, -1).view(np.uint64)
        self._sets = None if self._loops is None else _no_sets(n, m)

    def put(self, j: int, start: int, values: np.ndarray) -> np.ndarray | None:
        """Put numbers into a column, from a row on; return what is there now, where some may not be finite and >= 0."""
        here = self._floats[start : start + len(values), j]
        if self._sets is None:
            here[:] = values
            # NaN is neither.
            return None if here.min(initial=np.inf) >= 0 and here.max(initial=0) < np.inf else here
        if values.dtype != np.float64:
            here[:] = values
            values = here
        mine, bits = self._sets[start : start + len(values)], here.view(np.uint64)
        high, low = self._loops.copied(values.view(np.uint64), bits, mine.dtype.type(1 << j), mine)
        self._highest[j], self._lowest[j] = max(self._highest[j], high), min(self._lowest[j], low)
        return None if high < INFINITY_BITS else here

    def table(self) -> np.ndarray:
        """Return the table, read-only; what is known of it goes with it."""
        _freeze(self._floats)
        # The bits of -0 are those of something negative: who looks for that takes the table as it is.
        if self._sets is None or (self._highest >= INFINITY_BITS).any():
            return self._floats
        found = self._floats.view(_Surveyed)
        found.extent = _extent(self._highest, self._lowest, self._sets)
        return found


class _Surveyed(np.ndarray):
    """A table whose extent was found when it was made."""

    extent: Extent


def _extent(highest: np.ndarray, lowest: np.ndarray, sets: np.ndarray) -> Extent:
    """Return what columns span, from the bits of their largest numbers and of the smallest less one, and the sets."""
    idle = None if sets.all() else int(sets.argmin())
    return Extent(highest.view(np.float64), (lowest + np.uint64(1)).view(np.float64), idle, sets)


@dataclass(frozen=True)
class ExactTable:
    """A read-only float array and, where it is not the whole truth, the exact values (nested tuples, None for none)."""

    floats: np.ndarray
    fractions: tuple | None = None
    known_extent: Extent | None = None

    @cached_property
    def extent(self) -> Extent:
        """The extent of a table of two dimensions."""
        return self.known_extent or _survey(self.floats, self.floats)

    def exact(self) -> tuple:
        """Return the exact values as nested tuples; an infinite float (no limit) is None."""
        return self.fractions if self.fractions is not None else thaw(self.floats)

    def fine(self, rows: Any = slice(None)) -> DoubleDouble:
        """Return the values of some rows to 32 digits; an infinite float (no limit) stays what it is."""
        if len(self.floats) <= SMALL:
            # A copy, as it is of many.
            return DoubleDouble(self._small.high[rows].copy(), self._small.low[rows].copy())
        return self._fine(rows)

    @cached_property
    def _small(self) -> DoubleDouble:
        """All values to 32 digits: engine and judge ask for those of few users several times."""
        return self._fine(slice(None))

    def _fine(self, rows: Any) -> DoubleDouble:
        floats = self.floats[rows]
        if self.fractions is None:
            return DoubleDouble.of_decimals(floats)
        listed = np.empty(len(self.fractions), dtype=object)
        listed[:] = self.fractions
        leaves = [leaf for row in listed[rows] for leaf in (row if isinstance(row, tuple) else (row,))]
        found = DoubleDouble.of((Fraction(0) if leaf is None else leaf for leaf in leaves), floats.shape)
        return DoubleDouble(np.where(np.isfinite(floats), found.high, floats), found.low)


def in_blocks(n: int, work: Callable[[slice], Result], threads: bool = False, size: int = BLOCK) -> list[Result]:
    """Return ``work(rows)`` for rows of a table of n, some thousand (`size`) at a time, in order.

    So a pass over a table takes the same temporary memory whatever n is, and a file that is memory-mapped is never read
    whole.  `threads` divides the blocks among all cores if n is large, which is worth it where memory is touched for
    the first time; passes that compute were measured to win nothing.
    """
    if n <= SMALL:
        return [work(slice(0, n))] if n else []
    starts = range(0, n, size)
    workers = min(cores(), len(starts) // BLOCKS_PER_CORE) if threads else 1
    if workers < 2:
        # Two threads of the linear algebra on a block that lies in one core's cache take up to ten times the work.
        with one_thread():
            return [work(slice(start, min(start + size, n))) for start in starts]
    each = -(-len(starts) // workers)
    with ThreadPoolExecutor(workers) as pool:
        stretches = [range(q * each * size, min((q + 1) * each * size, n)) for q in range(workers)]
        parts = pool.map(
            lambda rows: [work(slice(s, min(s + size, rows.stop))) for s in range(rows.start, rows.stop, size)],
            stretches,
        )
        return [result for part in parts for result in part]


def constant(value: float, n: int) -> np.ndarray:
    """Return n times the same number, in the memory of one."""
    return np.ndarray((n,), buffer=np.float64(value).tobytes(), strides=(0,))


def columns(values: np.ndarray, rows: slice) -> np.ndarray:
    """Return some rows of a table (n, m) as its columns, (m, rows), each contiguous in memory."""
    block = values[rows].T
    return block if block.strides[-1] <= block.strides[0] else np.ascontiguousarray(block)


def needed_sets(values: np.ndarray) -> np.ndarray:
    """Return which columns of each row of a table (n, m) are positive, as a number with a bit for each, (n,).

    Of at most `MOST_IN_SETS` columns; the first is the lowest bit.
    """
    n, m = values.shape
    # Short numbers are many to a register.
    words = _no_sets(n, m)

    def look(rows: slice) -> None:
        word = words[rows]
        for uses in (columns(values, rows) > 0).view(np.uint8)[::-1]:
            word += word
            word += uses

    in_blocks(n, look)
    return words


def _no_sets(n: int, m: int) -> np.ndarray:
    return np.zeros(n, dtype=np.uint8 if m <= 8 else np.uint16)


def in_mid_range(values: np.ndarray) -> bool:
    """Say whether all of the numbers, none negative, are far from the ends of the range of floats, or 0, or inf."""
    if values.size <= FEW:
        return all(SMALLEST <= value <= LARGEST or value in (0, np.inf) for value in values.ravel().tolist())
    if not values.size or (values.min() >= SMALLEST and values.max() <= LARGEST):
        return True
    return bool((((values >= SMALLEST) & (values <= LARGEST)) | (values == 0) | (values == np.inf)).all())


def thaw(floats: np.ndarray) -> tuple:
    """Return what the floats stand for, their shortest decimals, as nested tuples; inf is None."""
    known = {value: None if value == np.inf else Fraction(repr(value)) for value in set(floats.ravel().tolist())}

    def thawed(values: list, depth: int) -> tuple:
        return tuple([thawed(row, depth - 1) for row in values] if depth > 1 else map(known.__getitem__, values))

    return thawed(floats.tolist(), floats.ndim)


def as_float(value: Fraction | None, place: str) -> float:
    """Return the float nearest to an exact value; None (no limit) is inf.

    Raises
    ------
    InstanceError
        When no float is near: the value is beyond 1.8e308, or so small that it would become 0.
    """
    if value is None:
        return float("inf")
    try:
        nearest = float(value)
    except OverflowError:
        nearest = float("inf")
    if nearest in (float("inf"), float("-inf")) or (nearest == 0 and value != 0):
        raise InstanceError(f"{place} is {_brief(value)}, outside the range of floats: change the unit")
    return nearest


def amount_in_range(value: Any, place: str) -> Fraction:
    """Return the exact value of an amount to which a float is near; `place` begins the sentence where it is none.

    Raises
    ------
    InstanceError
        When it is no number, negative, or beyond the range of floats.
    """
    found = amount(value, place)
    as_float(found, place)
    return found


def table(values: Any, shape: tuple[int, ...], places: "Places", *, unlimited: bool = False) -> ExactTable:
    """Return `values` as a table of the given shape.

    Parameters
    ----------
    values : array, or nested sequences of numbers
    shape : tuple of int
    places : Places
        Names the entry at fault in an error.
    unlimited : bool
        Whether None and inf may stand for "no limit".

    Raises
    ------
    InstanceError
        On a wrong shape, or on an entry that is not a finite, non-negative number.
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
        return _from_array(values, shape, places, unlimited)
    found = _shape(values)
    if -1 in found:
        rows = ((k, _shape(row)) for k, row in enumerate(values, start=1))
        k, of = next((k, of) for k, of in rows if of != shape[1:])
        has = "has rows of different lengths" if -1 in of else f"has shape {of}"
        raise InstanceError(f"{places.title}: row {k} {has}, but {shape[1:]} is needed {places.reason}".rstrip())
    if found != shape:
        raise InstanceError(f"{places.title} has shape {found}, but {shape} is needed {places.reason}".rstrip())
    plain = _plain(values, shape)
    return _from_values(values, shape, places, unlimited) if plain is None else ExactTable(_freeze(plain))


def _from_array(values: np.ndarray, shape: tuple[int, ...], places: Places, unlimited: bool) -> ExactTable:
    if values.shape != shape:
        raise InstanceError(f"{places.title} has shape {values.shape}, but {shape} is needed {places.reason}".rstrip())
    kept = values.dtype == np.float64 and not values.flags.writeable and values.flags.forc
    floats = np.asarray(values) if kept else np.empty(shape, order="F")
    extent = None
    if len(shape) == 2 and not unlimited:
        extent = values.extent if isinstance(values, _Surveyed) else _survey(values, floats)
    elif not kept:
        floats[...] = values
    if extent is None or (extent.highest.view(np.uint64) >= INFINITY_BITS).any():
        _check(floats, places, unlimited)
    fractions = None
    if values.dtype.kind in "iu" and values.size and int(values.max()) > EXACT_INTEGERS:
        fractions = _nest([Fraction(int(value)) for value in values.ravel()], shape)
    return ExactTable(_freeze(floats), fractions, extent)


def _survey(values: np.ndarray, floats: np.ndarray) -> Extent:
    """Return the extent of values (n, m), copied into `floats` in the same pass unless that is their own memory.

    Whatever is no number from 0 on is in `highest` where a column has it.
    """
    copying = not np.may_share_memory(values, floats)
    n, m = values.shape
    loops: Any = compiled(values, by_rows=True) if copying and m <= MOST_IN_SETS else None
    sets = None if loops is None else _no_sets(n, m)

    def copied(rows: slice) -> tuple[np.ndarray, np.ndarray, int | None]:
        highest, lowest = np.zeros(m, np.uint64), np.full(m, -1).view(np.uint64)
        given, taken = np.asarray(values).view(np.uint64), floats.T.view(np.uint64)
        first = loops.survey(given, taken, rows.start, rows.stop, highest, lowest, sets)
        return highest, lowest, None if first < 0 else first

    def look(rows: slice) -> tuple[np.ndarray, np.ndarray, int | None]:
        if copying:
            np.copyto(floats[rows].T, values[rows].T)
        bits = columns(floats, rows).view(np.uint64)
        highest = bits.max(axis=1)
        if (highest >= INFINITY_BITS).any():
            # + 0 makes 0 of -0, whose bits are those of something negative.
            bits = (columns(floats, rows) + 0.0).view(np.uint64)
            highest = bits.max(axis=1)
        # One less than 0 is the largest of all: the smallest of what is left is the smallest that is positive.
        lowest = (bits - np.uint64(1)).min(axis=1)
        most = bits.max(axis=0)
        return highest, lowest, None if most.all() else rows.start + int(np.argmin(most))

    found = in_blocks(n, look if loops is None else copied, threads=True)
    if loops is not None and any((highest >= INFINITY_BITS).any() for highest, *_ in found):
        found, sets = in_blocks(n, look), None
    highest, lowest, idle = zip(*found, strict=True)
    first_idle = next((row for row in idle if row is not None), None)
    least = np.min(lowest, axis=0) + np.uint64(1)
    return Extent(np.max(highest, axis=0).view(np.float64), least.view(np.float64), first_idle, sets)


def _plain(values: Any, shape: tuple[int, ...]) -> np.ndarray | None:
    """Return floats, where they are the whole truth and all of them are good: a table by names is mostly zeros."""
    leaves = _leaves(values, len(shape))
    if not set(map(type, leaves)) <= {int, float}:
        return None
    try:
        floats = np.array(leaves, dtype=np.float64).reshape(shape)
    except OverflowError:
        return None
    # Below the bound, not at it: the integer after 2**53 is rounded onto it.
    return floats + 0.0 if ((floats >= 0) & (floats < EXACT_INTEGERS)).all() else None


def _from_values(values: Any, shape: tuple[int, ...], places: Places, unlimited: bool) -> ExactTable:
    entries: list[Fraction | None] = []
    plain = True
    for index, value in zip(np.ndindex(*shape), _leaves(values, len(shape)), strict=True):
        if unlimited and (value is None or (isinstance(value, float) and value == float("inf"))):
            entries.append(None)
            continue
        try:
            entry = exact(value)
        except InstanceError as error:
            raise InstanceError(f"{places.at(index)}: {error}{NO_LIMIT if unlimited else ''}") from None
        if entry < 0:
            long = max(entry.numerator.bit_length(), entry.denominator.bit_length()) > LONG_BITS
            raise InstanceError(f"{places.at(index)} is {_brief(entry) if long else value}: it must {places.least}")
        plain = plain and (type(value) is float or (type(value) is int and value <= EXACT_INTEGERS))
        entries.append(entry)
    array = np.array(_as_floats(entries, shape, places), dtype=np.float64).reshape(shape)
    return ExactTable(_freeze(array), None if plain else _nest(entries, shape))


def _as_floats(entries: list[Fraction | None], shape: tuple[int, ...], places: Places) -> list[float]:
    """Return the floats nearest to exact values; an error names the place of the first that has none."""
    try:
        return [as_float(entry, places.title) for entry in entries]
    except InstanceError:
        return [as_float(entry, places.at(index)) for index, entry in zip(np.ndindex(*shape), entries, strict=True)]


def _check(floats: np.ndarray, places: Places, unlimited: bool) -> None:
    bad = ~(floats >= 0) if unlimited else ~((floats >= 0) & (floats < np.inf))
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        value = float(floats[index])
        none = NO_LIMIT if unlimited else ""
        rule = f"it must {places.least}" if -np.inf < value < 0 else f"write a finite number, 0 or more{none}"
        raise InstanceError(f"{places.at(index)} is {in_full(value, ALL_DIGITS)}: {rule}")


def _freeze(floats: np.ndarray) -> np.ndarray:
    floats.flags.writeable = False
    return floats


def _shape(values: Any) -> tuple[int, ...]:
    if isinstance(values, np.ndarray):
        return values.shape
    if not isinstance(values, list | tuple):
        return ()
    if not any(issubclass(kind, list | tuple | np.ndarray) for kind in set(map(type, values))):
        return (len(values),)
    inner = {_shape(value) for value in values}
    if len(inner) > 1:
        return (len(values), -1)
    return (len(values), *inner.pop())


def _leaves(values: Any, depth: int) -> list:
    if depth <= 1:
        return list(values)
    return [leaf for row in values for leaf in _leaves(row, depth - 1)]


def _nest(entries: list, shape: tuple[int, ...]) -> tuple:
    if len(shape) == 1:
        return tuple(entries)
    width = shape[1]
    return tuple(tuple(entries[i * width : (i + 1) * width]) for i in range(shape[0]))


def _brief(value: Fraction) -> str:
    # By logarithms: Python refuses to write out integers of more than 4300 digits.
    power = math.floor(math.log10(abs(value.numerator)) - math.log10(value.denominator))
    return f"about {'-' if value < 0 else ''}1e{power:+d}"
