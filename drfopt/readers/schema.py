"""The instance file as pydantic models, and what pydantic finds wrong in it as one sentence."""

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError

from ..errors import InstanceError, suggestion
from ..quantities import exact
from .text import failure, shown

__all__ = ["InstanceFile", "MachineEntry", "UserEntry", "validated"]

RESERVED = {
    "guarantee": "a guaranteed amount of resources",
    "ceiling": "an upper bound on resources",
    "tier": "priority between users",
    "group": "hierarchies of users",
    "groups": "hierarchies of users",
    "tasks": "several task types for one user",
}
"""Keys that have a meaning already and are not built yet."""

EXPECTED = {
    "name": "a text in quotes",
    "source": "a text in quotes",
    "users": "a list of tables, one for each user",
    "machines": "a list of tables, one for each class of machines",
    "capacity": "a table of resource and amount, such as { cpu = 9, memory = 18 }",
    "demand": "a table of resource and amount, such as { cpu = 1, memory = 4 }",
}
CLASS_NAMES = 'a list of machine classes, such as ["xl"]'
ENTRY = "a table with a name and a demand"
MACHINE_ENTRY = "a table with a name and a capacity"

FLOAT_INTEGERS = 2**53


def _number(value: Any) -> int | float | Fraction:
    """Return the exact value as the lightest number for it, so that plain files make plain arrays."""
    if type(value) is int and abs(value) <= FLOAT_INTEGERS:
        return value
    if type(value) is Decimal and value.is_finite() and Decimal(repr(float(value))) == value:
        return float(value) or 0
    if isinstance(value, dict | list) or value is None or isinstance(value, bool):
        raise InstanceError(f"{shown(value)} is not a number: write an integer, a decimal, a fraction or a quantity")
    fraction = exact(value)
    return fraction.numerator if fraction.denominator == 1 else fraction


def _whole(value: Any) -> int:
    number = _number(value)
    if number != int(number):
        raise InstanceError(f"{shown(value)} is not a whole number: write 1, 2, 3 ...")
    return int(number)


def _limit(value: Any) -> int | float | Fraction | None:
    if value is None:
        return None
    try:
        return _number(value)
    except InstanceError as error:
        raise InstanceError(f"{error}; for no limit leave max_tasks out") from None


def _weight(value: Any) -> Any:
    if value is None:
        return None
    return _amounts(value) if isinstance(value, dict) else _number(value)


def _amounts(value: Any) -> dict[str, int | float | Fraction]:
    """Return a table of amounts; unlike a ``dict`` field it stops at the first wrong one of a million."""
    if not isinstance(value, dict):
        raise InstanceError(
            f"{shown(value)} is no table: write resources and amounts, such as {{ cpu = 1, memory = 4 }}"
        )
    table = {}
    for resource, amount in value.items():
        try:
            table[resource] = _number(amount)
        except InstanceError as error:
            raise _AmountError(f"of {shown(resource)}: {error}") from None
    return table


def _pool(value: Any) -> dict[str, int | float | Fraction] | None:
    return None if value is None else _amounts(value)


class _AmountError(InstanceError):
    """One amount of a table is wrong; the message goes on from the name of the table."""


Amounts = Annotated[Any, PlainValidator(_amounts)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class UserEntry(_Table):
    """One user: what a task of hers needs, and how she is weighed, limited and placed."""

    name: str
    demand: Amounts
    weight: Annotated[Any, PlainValidator(_weight)] = None
    max_tasks: Annotated[Any, PlainValidator(_limit)] = None
    machines: list[str] | None = Field(None, fail_fast=True)


class MachineEntry(_Table):
    """A class of identical machines."""

    name: str
    capacity: Amounts
    count: Annotated[Any, PlainValidator(_whole)] = 1


class InstanceFile(_Table):
    """The whole file: one pool (`capacity`) or `machines`, and the users."""

    name: str | None = None
    source: str | None = None
    capacity: Annotated[Any, PlainValidator(_pool)] = None
    machines: list[MachineEntry] | None = Field(None, fail_fast=True)
    users: list[UserEntry] = Field(fail_fast=True)


KEYS: dict[tuple[str, ...], Iterable[str]] = {
    (): InstanceFile.model_fields,
    ("users",): UserEntry.model_fields,
    ("machines",): MachineEntry.model_fields,
}


def validated(tree: Any, place: str) -> InstanceFile:
    """Return the tree of a file as `InstanceFile`.

    Raises
    ------
    InstanceError
        On the first thing that is wrong, with its place in the file.
    """
    if not isinstance(tree, dict):
        raise failure(place, f"holds {shown(tree)}: an instance is a table with the keys {', '.join(KEYS[()])}")
    try:
        return InstanceFile.model_validate(tree)
    except ValidationError as error:
        errors = error.errors(include_url=False)
    # A key that is missing is often there under a wrong name, and that is the better thing to say.
    unknown = next((found for found in errors if found["type"] == "extra_forbidden"), None)
    first = unknown if unknown and errors[0]["type"] == "missing" else errors[0]
    raise failure(place, _sentence(tree, first))


def _sentence(tree: dict, error: Any) -> str:
    location, kind, value = error["loc"], error["type"], error["input"]
    entry, rest = _entry(tree, location)
    if kind == "extra_forbidden":
        return entry + _unknown(location)
    if kind == "missing":
        return f"{entry}the key {rest[-1]!r} is missing: write {EXPECTED[rest[-1]]}"
    if kind == "value_error":
        reason = error["ctx"]["error"]
        return f"{entry}{_called(rest)}{' ' if isinstance(reason, _AmountError) else ': '}{reason}"
    return f"{entry}{_called(rest)} is {shown(value)}: write {_expected(location)}"


def _entry(tree: dict, location: tuple) -> tuple[str, tuple]:
    """Return the words for the entry at fault, such as ``users[1] ('B'): ``, and the keys below it."""
    if len(location) < 2 or not isinstance(location[1], int):
        return "", location
    entry = tree[location[0]][location[1]]
    name = entry.get("name") if isinstance(entry, dict) else None
    called = f" ({shown(name)})" if isinstance(name, str) else ""
    words = f"{location[0]}[{location[1]}]{called}"
    return (f"{words}: ", location[2:]) if len(location) > 2 else (words, ())


def _called(keys: tuple) -> str:
    """Return the words for a value inside an entry, such as ``machines[0]``."""
    return f"{keys[0]}[{keys[1]}]" if len(keys) == 2 else str(keys[0]) if keys else ""


def _expected(location: tuple) -> str:
    if len(location) == 2:
        return ENTRY if location[0] == "users" else MACHINE_ENTRY
    if len(location) == 4:
        return "the name of a machine class in quotes"
    if location[0] == "users" and location[-1] == "machines":
        return CLASS_NAMES
    return EXPECTED[location[-1]]


def _unknown(location: tuple) -> str:
    key = str(location[-1])
    known = list(KEYS[tuple(part for part in location[:-1] if isinstance(part, str))])
    if key in RESERVED and (key == "groups") == (len(location) == 1):
        return f"the key {key!r} is reserved for {RESERVED[key]}, which is not built yet: leave it out"
    return f"unknown key {key!r}: the keys here are {', '.join(known)}{suggestion(key, known)}"
