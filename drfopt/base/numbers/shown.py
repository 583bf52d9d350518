"""Numbers as a person reads them; the full value always stands beside, in a title or in the document."""

import math
import operator
from collections.abc import Callable, Iterable, Sequence

from ..tolerances import LEVEL

__all__ = [
    "ALL_DIGITS",
    "DIGITS",
    "DIGITS_OF_CELLS",
    "amount",
    "and_at_most",
    "apart",
    "at_most",
    "changing",
    "counted",
    "decimals",
    "fixed",
    "in_full",
    "in_places",
    "in_units",
    "not_above",
    "number",
    "part_of",
    "percent",
    "share_of_all",
    "towards",
    "written_in",
]

DIGITS = 3
"""Digits that a number on its own is given."""

DIGITS_OF_CELLS = 6
"""Digits of a number in a table on a terminal."""

ALL_DIGITS = 12
"""Digits of a float that rounding leaves."""

EVERY_DIGIT = 17
"""Digits in which every float is written."""

LONGEST = 1e15
"""Numbers from which on they are written with an exponent."""

BINARY = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")

MOST_DIGITS = 6
"""Digits of the largest number of a column, at most, so that the smaller ones show some."""

MOST_DECIMALS = 5
"""Decimals of a column at most; what is smaller than they show is said to be smaller."""


def number(value: float | None, digits: int = DIGITS + 1) -> str:
    """Return a number in so many digits, its thousands set apart, without an exponent where that can be."""
    if value is None:
        return "–"
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    power = math.floor(math.log10(abs(value)))
    if power < -6 or abs(value) >= LONGEST:
        return f"{value:.{digits}g}"
    text = f"{value:,.{max(0, digits - 1 - power)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def not_above(value: float, digits: int = DIGITS_OF_CELLS) -> float:
    """Return a positive number in so many digits, and no larger: what is said to hold up to it does."""
    return _rounded(value, digits, -1)


def not_below(value: float, digits: int = DIGITS_OF_CELLS, error: float = LEVEL) -> float:
    """Return a positive number in so many digits, and no smaller: what is said to be at most that is."""
    return _rounded(value, digits, 1, error)


def _rounded(value: float, digits: int, way: int, error: float = LEVEL) -> float:
    """Return a positive number in so many digits, on one side of it but for the relative error that it may have."""
    if not 0 < value < math.inf:
        return value
    nearest = float(f"{value:.{digits}g}")
    if way * (nearest - value) >= -value * error:
        return nearest
    return float(f"{nearest + way * 10.0 ** (math.floor(math.log10(value)) + 1 - digits):.{digits}g}")


def towards(end: float, now: float = 0.0, digits: int = DIGITS_OF_CELLS) -> tuple[float, int]:
    """Return where something ends that holds now, rounded to that side of it, and the digits that keep them apart.

    They are so many at least; a whole number is rounded to one.
    """
    rounded, within = (not_above, operator.ge) if end > now else (not_below, operator.le)
    whole = math.floor(math.log10(end)) + 1 if 1 <= end < LONGEST else 0
    apart = (d for d in range(digits, EVERY_DIGIT) if within(rounded(end, d), now))
    digits = next(apart, EVERY_DIGIT)
    return rounded(end, max(digits, whole)), digits


def _general(value: float, digits: int) -> str:
    return f"{value:.{digits}g}"


def apart(
    one: float, other: float, digits: int = DIGITS_OF_CELLS, told: Callable[[float, int], str] = _general
) -> tuple[str, str]:
    """Return two numbers in so many digits, or in as many as tell them apart: a change is not to print as none.

    `told` writes a number in so many digits.
    """
    for more in range(digits, ALL_DIGITS + 1):
        found = told(one, more), told(other, more)
        if found[0] != found[1]:
            return found
    return told(one, digits), told(other, digits)


def changing(one: float, other: float, digits: int = DIGITS_OF_CELLS) -> tuple[str, str]:
    """Return two numbers, whole ones in full, in so many digits, or as many as tell their difference to a tenth."""
    size, step = max(abs(one), abs(other)), abs(one - other)
    needed = math.ceil(math.log10(size / step)) + 1 if 0 < step < math.inf else digits
    return apart(one, other, min(max(digits, needed), ALL_DIGITS), in_full)


def in_full(value: float, digits: int = DIGITS_OF_CELLS) -> str:
    """Return a whole number in full, as far as floats hold it, and any other in so many digits."""
    whole = abs(value) < 10**ALL_DIGITS and abs(value - round(value)) <= abs(value) / 10**ALL_DIGITS
    return str(round(value)) if whole else _general(value, digits)


def and_at_most(value: float, bound: float) -> str:
    """Return a value and, rounded up, what it can be at most, in words and with the digits that tell them apart."""
    for digits in range(DIGITS_OF_CELLS, ALL_DIGITS + 1):
        one, other = f"{value:.{digits}g}", f"{not_below(bound, digits, error=0):.{digits}g}"
        if one != other:
            break
    return f"{one} and can be {other} at most"


def counted(count: float | str, noun: str) -> str:
    """Return a number of things in words: ``1 user``, ``2,000 users``, ``0 classes``; a number may be text already."""
    text = count if isinstance(count, str) else f"{count:,}"
    return f"{text} {noun if text == '1' else noun + ('es' if noun.endswith('s') else 's')}"


def percent(value: float | None, digits: int = DIGITS) -> str:
    """Return a share as a percentage, of what is less than all with the digits that tell."""
    return "–" if value is None else f"{part_of(100 * value, 100, digits)} %"


def part_of(value: float, whole: float, digits: int = DIGITS_OF_CELLS, error: float = LEVEL) -> str:
    """Return a part of a whole in so many digits, of what is less than all with the digits that tell.

    What is less by no more than the relative `error` is all.
    """
    while (text := number(value, digits)) == number(whole, digits) and value < whole * (1 - error):
        if digits == ALL_DIGITS:
            return f"<{text}"
        digits += 1
    return text


def share_of_all(share: float, decimals: int = 4) -> str:
    """Return a share of all in decimals: the nearest, but of what is less than all no more than that."""
    less = share < 1 - LEVEL
    return f"{min(share, 1 - 10.0**-decimals) if less else share:.{decimals}f}"


def tenths(value: float, sign: str = "", decimals: int = 1) -> str:
    """Return a part with one decimal of a percentage, or with more where it would print as none or as all."""
    if 0 < abs(value) < 0.5 * 10.0 ** -(decimals + 2):
        return f"{100 * value:{sign}.1g}%"
    size = abs(value)
    while f"{size:.{decimals}%}" == f"{1:.{decimals}%}" and abs(size - 1) > LEVEL:
        decimals += 1
    return f"{value:{sign}.{decimals}%}"


def at_most(part: float, decimals: int = 4, error: float = LEVEL) -> str:
    """Return a bound from above, a part of all, as a percentage in decimals: rounded up, but less than all if it is."""
    if part <= 0:
        return tenths(part)
    while (up := math.ceil(part * 10 ** (decimals + 2) * (1 - error))) == 10 ** (decimals + 2) and part < 1 - LEVEL:
        decimals += 1
    return f"{up / 10 ** (decimals + 2):.{decimals}%}"


def amount(value: float, unit: str = "") -> str:
    """Return an amount in three digits, whole from a hundred on, with a suffix from ten million on.

    Or as `in_units` has it, of what is counted in such.
    """
    if unit in BINARY:
        return in_units(value, unit, DIGITS)
    if abs(value) < 100:
        return f"{value:.3g}"
    if abs(value) < 1e7:
        return f"{value:,.0f}"
    power = min(int(math.log10(abs(value))) // 3, 6)
    return f"{value / 1000**power:.3g}{' kMGTPE'[power]}"


def in_units(value: float, unit: str = "", digits: int = DIGITS + 1, told: Callable[[float, int], str] = number) -> str:
    """Return an amount of a resource: of one counted in bytes or ``MiB`` as ``16 GiB``, of others as a number.

    `told` writes the number in so many digits.
    """
    if unit not in BINARY or not math.isfinite(value):
        return told(value, digits)
    value *= 1024 ** BINARY.index(unit)
    power = min(int(math.log2(abs(value))) // 10, len(BINARY) - 1) if abs(value) >= 1 else 0
    return f"{told(value / 1024**power, digits)} {BINARY[power]}"


def written_in(unit: str, told: Callable[[float, int], str] = number) -> Callable[[float, int], str]:
    """Return how an amount is written in so many digits, for `apart`."""
    return lambda value, digits: in_units(value, unit, digits, told)


def decimals(values: Iterable[float | None], digits: int = DIGITS) -> int:
    """Return with how many decimals a column shows all it has, or most of its values in so many digits."""
    sizes = sorted(abs(value) for value in values if value)
    for places in range(digits):
        if all(value == round(value, places) for value in sizes):
            return places
    largest = digits - 1 - math.floor(math.log10(sizes[-1]))
    smaller = digits - 1 - math.floor(math.log10(sizes[len(sizes) // 3]))
    room = MOST_DIGITS - 1 - math.floor(math.log10(sizes[-1]))
    return max(0, largest, min(smaller, room, MOST_DECIMALS))


def fixed(
    values: Sequence[float | None],
    pool: Sequence[float | None] = (),
    *,
    share: bool = False,
    whole: float | None = None,
    error: float = LEVEL,
) -> list[str]:
    """Return the cells of a column, so that their points stand below each other; of shares as percentages.

    All values of the `pool` get as many decimals; what is less than the `whole`, of shares all, does not print as that.
    """
    times = 100 if share else 1
    whole = 100 if share else whole
    shown = [None if value is None else times * value for value in values]
    places = decimals([None if value is None else times * value for value in pool or values])
    return ["–" if value is None else in_places(value, places, whole, error) for value in shown]


def in_places(value: float, places: int, whole: float | None = None, error: float = LEVEL) -> str:
    """Return a number with so many decimals; what would print as none, or as the whole it is part of, as less.

    What is less by no more than the relative `error` is the whole.
    """
    smallest = 10.0**-places
    if value and abs(value) < smallest / 2:
        return f"<{smallest:.{places}f}"
    text = f"{value:,.{places}f}"
    less = whole is not None and value < whole * (1 - error) and text == f"{whole:,.{places}f}"
    return f"<{text}" if less else text
