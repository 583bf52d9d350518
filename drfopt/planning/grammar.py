"""What stands in a change: names of what is there, amounts, sums and tables."""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from ..base.errors import InstanceError, suggestion
from ..base.numbers.quantities import exact
from ..model.naming import some

__all__ = [
    "Document",
    "amount",
    "entry_of",
    "many",
    "one_of",
    "pair",
    "resources_of",
    "sides",
    "table_of",
    "whole",
    "written",
]

Document = dict[str, Any]
"""An instance as its file says it."""


def entry_of(entries: list[Document], name: str, what: str) -> Document:
    """Return the entry of that name."""
    for entry in entries:
        if entry["name"] == name:
            return entry
    names = [entry["name"] for entry in entries]
    raise InstanceError(f"there is no {what} {name!r}{suggestion(name, names)} (there are {some(names)})")


def resources_of(document: Document) -> list[str]:
    """Return the names of the resources."""
    table = document["capacity"] if "capacity" in document else document["machines"][0]["capacity"]
    return list(table)


def one_of(name: str, names: Sequence[str], what: str) -> str:
    """Return a name that is one of those there are."""
    if name not in names:
        raise InstanceError(f"there is no {what} {name!r}{suggestion(name, names)} (there are {some(names)})")
    return name


def sides(text: str, grammar: str) -> tuple[str, str]:
    """Return what stands left and right of the last ``=``: names may hold others."""
    left, sign, right = text.rpartition("=")
    if not sign or not left.strip() or not right.strip():
        raise InstanceError(f"{text!r} cannot be read: write {grammar}")
    return left.strip(), right.strip()


def pair(text: str, joint: str, first: Sequence[str], second: Sequence[str], words: tuple[str, str]) -> tuple[str, str]:
    """Return the two names that are joined in a text, either of which may hold the joint itself."""
    places = [at for at, letter in enumerate(text) if letter == joint]
    for at in places:
        if text[:at] in first and text[at + 1 :] in second:
            return text[:at], text[at + 1 :]
    if not places:
        raise InstanceError(f"{text!r} cannot be read: write {words[0].upper()}{joint}{words[1].upper()}")
    left, _, right = text.rpartition(joint)
    if left not in first:
        one_of(left, first, words[0])
    one_of(right, second, words[1])
    raise InstanceError(f"{text!r} cannot be read: write {words[0].upper()}{joint}{words[1].upper()}")


def written(value: Fraction) -> int | str:
    """Return a number as a file has it."""
    return value.numerator if value.denominator == 1 else str(value)


def amount(text: str, now: Any) -> int | str:
    """Return what a text makes of an amount, None where there is none: ``100``, ``+10``, ``-10`` or ``+10%``."""
    if text[0] not in "+-":
        return written(exact(text))
    if now is None or isinstance(now, dict):
        raise InstanceError(f"{text} changes an amount, and there is none: write what it shall be, 0 or more, unsigned")
    step = exact(text.removesuffix("%"))
    before = exact(now)
    after = before + (before * step / 100 if text.endswith("%") else step)
    if after < 0:
        raise InstanceError(f"{text} of {before} leaves {after}: an amount must not be negative")
    return written(after)


def table_of(text: str) -> Document:
    """Return ``cpu=1,memory=4Gi`` as a table of amounts."""
    found: Document = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, value = sides(part, "resource=amount")
        found[name] = written(exact(value))
    return found


MANY = re.compile(r"\s*(?:(?P<count>[^*{}]*)\*)?\s*(?P<name>[^{}]+?)\s*(?:\{(?P<table>[^{}]*)\})?\s*")


def many(text: str, grammar: str) -> tuple[Fraction, str, str | None]:
    """Return count, name and table of ``2*name{...}``."""
    match = MANY.fullmatch(text)
    if not match:
        raise InstanceError(f"{text!r} cannot be read: write {grammar}")
    count = Fraction(1) if match["count"] is None else exact(match["count"])
    if not count > 0:
        raise InstanceError(f"{text!r}: how many must be positive, not {count}")
    return count, match["name"], match["table"]


def whole(count: Fraction) -> int:
    """Return a number of machines."""
    if count.denominator != 1:
        raise InstanceError(f"{count} machines cannot be: write a whole number")
    return count.numerator
