"""Documents as numbers: JSON, fractions, and the report of what was checked."""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .exact_sums import LONG_BITS, Multiple, dot, over_one, products, total
from .work import bits, grant, spend

__all__ = [
    "Check",
    "Numbered",
    "Report",
    "Unread",
    "dot",
    "loads",
    "long_numbers",
    "number",
    "over_one",
    "products",
    "shown",
    "total",
    "with_long",
]


LARGEST_EXPONENT = 400
"""Decimal exponents beyond this one are no amounts, and would fill the memory."""

LONG = 4000
"""Characters beyond which a number is read in another way."""


FRACTION = re.compile(r"[+-]?[0-9]++(?:/[0-9]++)?+")

BITS_A_DIGIT = 6
"""Of a number that is read, twice as many as it has: reading takes longer than dividing."""

HALF_A_DIGIT = 2
"""Of a hexadecimal one: only that its halves have no common divisor costs more than a pass."""


KNOWN: ContextVar[dict[str, Fraction]] = ContextVar("known")
"""The long numbers of the document that is read."""


MULTIPLE = 12_000
"""Bits of a long number that a multiple of one brings at most: it stands for one, and is much shorter."""


class Unread(ValueError):
    """A text that is no number, and why."""


class Numbered(list[Any]):
    """What a cluster has of one kind, by number; what it has not is said to be so."""

    def __init__(self, kind: str, names: Iterable[Any]):
        super().__init__(names)
        self.kind = kind

    def index(self, name: Any, *ends: Any) -> int:
        """Return the number of a name."""
        try:
            return super().index(name, *ends)
        except ValueError:
            raise ValueError(f"the instance has no {self.kind} {name!r}") from None


@dataclass(frozen=True)
class Check:
    """One thing looked at: whether it holds (None: not decided), and the first fault, with its amounts."""

    name: str
    holds: bool | None
    worst: str = ""


@dataclass
class Report:
    """All that was looked at; `valid` is True where the claim is proven, False where a check failed, else None."""

    accuracy: Fraction = Fraction(0)
    checks: list[Check] = field(default_factory=list)

    @property
    def valid(self) -> bool | None:
        """What the checks say together."""
        held = [check.holds for check in self.checks]
        return False if False in held else None if None in held else True

    def add(self, name: str, faults: Iterable[str], undecided: str = "") -> None:
        """Record a check: it fails with its first fault; otherwise a reason leaves it undecided."""
        fault = next(iter(faults), "")
        self.checks.append(Check(name, False if fault else None if undecided else True, fault or undecided))


def number(value: Any) -> Fraction:
    """Return the value of an integer, a decimal or a text such as ``"63/25"``; a float is its shortest decimal."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction):
        raise Unread(f"{value!r} is not a number")
    given = repr(value) if isinstance(value, float) else value
    if isinstance(given, str):
        if "*" in given:
            return _multiple(given)
        try:
            return _written(given)
        except Unread:
            raise
        except (ValueError, ZeroDivisionError):
            raise Unread(f"{given[:40]!r} is not a number") from None
    return Fraction(given)


def _written(given: str) -> Fraction:
    """Return the value of a text; the digits are those from 0 to 9."""
    if not given.isascii():
        raise ValueError
    hexadecimal = given.lstrip("-")[:2] == "0x"  # Long numbers are, which is read in one pass.
    grant(HALF_A_DIGIT * len(given) if hexadecimal else 0)
    spend((HALF_A_DIGIT if hexadecimal else BITS_A_DIGIT) * len(given))
    if hexadecimal:
        top, _, bottom = given.partition("/")
        return Fraction(int(top, 16), int(bottom or "1", 16))
    exponent = given.lower().rpartition("e")[2] if "e" in given.lower() else "0"
    if abs(int(exponent)) > LARGEST_EXPONENT:
        raise Unread(f"{given[:40]!r} is beyond the range of numbers")
    if len(given) > LONG:  # Python refuses to read long integers; Decimal does not.
        if not FRACTION.fullmatch(given):
            raise Unread(f"{given[:40]!r}... is no fraction, and too long for another number")
        top, _, bottom = given.partition("/")
        return Fraction(int(Decimal(top)), int(Decimal(bottom or "1")))
    return Fraction(given)


def long_numbers(document: dict[str, Any]) -> dict[str, Fraction]:
    """Return the long numbers that a document writes once."""
    table = {name: number(value) for name, value in document.get("long", {}).items()}
    if low := [name for name, value in table.items() if value <= 0]:
        raise ValueError(f"{low[0]!r} is not positive, of which others are multiples")
    return table


@contextmanager
def with_long(table: dict[str, Fraction]) -> Iterator[None]:
    """Read multiples of these numbers in the block."""
    token = KNOWN.set(table)
    try:
        yield
    finally:
        KNOWN.reset(token)


def _multiple(given: str) -> Fraction:
    """Return a multiple of a long number of the document."""
    times, _, name = given.partition("*")
    if (long := KNOWN.get({}).get(name)) is None:
        raise ValueError(f"{given[:40]!r} is a multiple of {name[:40]!r}, which is not under 'long'")
    grant(min(bits(long), MULTIPLE))
    return Multiple(number(times), long)


def shown(value: Any) -> str:
    """Return an amount for a sentence; of a long fraction the nearest float."""
    long = isinstance(value, Fraction) and max(value.numerator.bit_length(), value.denominator.bit_length()) > LONG_BITS
    if not long:
        return str(value)
    try:
        return f"about {float(value):.17g}"
    except OverflowError:
        return f"a number of some {(bits(value.numerator) - bits(value.denominator)) * 3 // 10} digits"


def loads(text: str) -> dict[str, Any]:
    """Return the data of a JSON text: decimals stay as written, no key may stand twice, NaN is refused."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(found := dict(pairs)) < len(pairs):
            raise ValueError(f"a key stands twice among {', '.join(key for key, _ in pairs)[:80]}")
        return found

    data = json.loads(text, object_pairs_hook=once, parse_float=number, parse_constant=number)
    if not isinstance(data, dict):
        raise ValueError("a certificate is an object with keys")
    return data
