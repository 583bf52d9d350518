"""Numbers as a person reads them; the full value always stands beside, in a title or in the document.

Which users a picture shows by name: all of a few, of many the largest, and all the others together.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from .palette import USER_INKS

__all__ = ["Part", "amount", "decimals", "fixed", "number", "parts_of", "percent", "title_of"]


DIGITS = 3
"""Digits that a number on its own is given."""

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
    if power < -6 or power > 14:
        return f"{value:.{digits - 1}g}"
    text = f"{value:,.{max(0, digits - 1 - power)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(value: float | None, digits: int = DIGITS) -> str:
    """Return a share as a percentage."""
    return "–" if value is None else f"{number(100 * value, digits)} %"


def amount(value: float) -> str:
    """Return an amount in three digits, whole from a hundred on, with a suffix from a million on."""
    if value < 100:
        return f"{value:.3g}"
    power = min(int(math.log10(value)) // 3, 6)
    return f"{value:.0f}" if power < 2 else f"{value / 1000**power:.3g}{' kMGTPE'[power]}"


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


def fixed(values: Sequence[float | None], pool: Sequence[float | None] = (), *, share: bool = False) -> list[str]:
    """Return the cells of a column, so that their points stand below each other; of shares as percentages.

    All values of the `pool` get as many decimals.
    """
    times = 100 if share else 1
    shown = [None if value is None else times * value for value in values]
    places = decimals([None if value is None else times * value for value in pool or values])
    smallest = 10.0**-places
    cells = []
    for value in shown:
        if value is None:
            cells.append("–")
        elif value and abs(value) < smallest / 2:
            cells.append(f"<{smallest:.{places}f}")
        else:
            cells.append(f"{value:,.{places}f}")
    return cells


TITLES = {"drf": "DRF", "asset": "Asset fairness", "ceei": "CEEI"}
"""How the paper calls the policies; others go by their own name."""


@dataclass(frozen=True)
class Part:
    """What one user, or all the others together, hold in one picture."""

    name: str
    ink: str
    members: np.ndarray


def title_of(policy: str, integer: bool = False) -> str:
    """Return what a picture of the policy is called."""
    return TITLES.get(policy, policy) + (", whole tasks" if integer else "")


def parts_of(users: Sequence[str], shares: Sequence[np.ndarray]) -> list[Part]:
    """Return the parts of the columns, from the shares (n, m) of every picture they stand in."""
    room, everyone = len(USER_INKS), np.arange(len(users))
    if len(users) <= room:
        return [
            Part(user, ink, everyone[i : i + 1]) for i, (user, ink) in enumerate(zip(users, USER_INKS, strict=False))
        ]
    # One ranking for all pictures, so that a user keeps its colour from one to the next.
    largest = np.max([share.max(axis=1) for share in shares], axis=0)
    chosen = np.sort(np.argsort(-largest, kind="stable")[: room - 1])
    others = np.setdiff1d(everyone, chosen)
    named = [Part(users[i], ink, everyone[i : i + 1]) for i, ink in zip(chosen.tolist(), USER_INKS, strict=False)]
    return [*named, Part(f"{len(others)} others", "others", others)]
