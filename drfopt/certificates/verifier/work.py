"""How much a verification may cost: whoever writes a file should not decide how long it is read.

Work is counted, not timed, so that a verdict is the same on every machine.  Numbers that are long cost the square of
their length, as dividing them does; all others a step.  A file is granted more the more numbers it has.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

__all__ = ["Unfinished", "bits", "grant", "metered", "spend", "to_multiply"]

LONG_WORK = 2**42
"""Squared bits that long numbers may cost: some seconds."""

STEPS = 2_000_000
"""Steps with other numbers: some seconds."""

LONG_GRANT, STEPS_GRANT = 2**24, 20
"""What every number of the file adds; a long one adds as much as reading it costs, as often as it is granted."""

LONG_GRANTS = 2**44
"""All that long numbers add at most: four times what any file may cost."""

SHORT_BITS = 2_000
"""Bits of a number that costs a step."""


SCHOOLBOOK, KARATSUBA = 2_100, 0.585
"""Bits up to which Python multiplies as it divides, and how the time to multiply by more grows with them."""


class Unfinished(Exception):
    """The work that a file may cost is done, and nothing is decided."""


@dataclass
class _Left:
    long: int = LONG_WORK
    steps: int = STEPS
    grants: int = LONG_GRANTS


LEFT: ContextVar[_Left | None] = ContextVar("left", default=None)


@contextmanager
def metered(bounded: bool) -> Iterator[None]:
    """Bound the work in the block; unbounded where whoever asks has made the file itself."""
    token = LEFT.set(_Left() if bounded else None)
    try:
        yield
    finally:
        LEFT.reset(token)


def grant(size: int) -> None:
    """Add what one number of a file brings, which reading costs as numbers of that many bits do."""
    if left := LEFT.get():
        more = min(LONG_GRANT + (size * size if size > SHORT_BITS else 0), left.grants)
        left.grants -= more
        left.long += more
        left.steps += STEPS_GRANT


def spend(size: int, steps: int = 1) -> None:
    """Count work on numbers of that many bits.

    Raises
    ------
    Unfinished
        When there is nothing left to spend.
    """
    left = LEFT.get()
    if left is None:
        return
    if size > SHORT_BITS:
        left.long -= size * size * steps
    else:
        left.steps -= steps
    if left.long < 0 or left.steps < 0:
        raise Unfinished


def bits(value: object) -> int:
    """Return the length of a fraction or an integer."""
    return value.numerator.bit_length() + value.denominator.bit_length()  # type: ignore[attr-defined]


def to_multiply(one: int, other: int) -> int:
    """Return the bits of numbers that it takes as long to divide as to multiply two of so many bits."""
    short, long = sorted((one, other))
    return math.isqrt(int(long * min(short, SCHOOLBOOK) * max(short / SCHOOLBOOK, 1) ** KARATSUBA))
