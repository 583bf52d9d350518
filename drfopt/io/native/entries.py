"""The instance file as pydantic models, and what pydantic finds wrong in it as one sentence."""

from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError, WithJsonSchema, model_validator

from ...base.errors import InstanceError, unknown_key
from ...base.numbers.quantities import NUMBERS, exact
from ..text.files import failure, refuse_newer, shown

__all__ = ["SCHEMA", "GroupEntry", "InstanceFile", "MachineEntry", "TypeEntry", "UserEntry", "validated"]

SCHEMA = "drfopt instance 1"
"""What a file may say of itself under ``schema``."""

EXPECTED = {
    "schema": f'"{SCHEMA}", or leave it out',
    "name": "a text in quotes",
    "source": "a text in quotes",
    "users": "a list of tables, one for each user",
    "machines": "a list of tables, one for each class of machines",
    "capacity": "a table of resource and amount, such as { cpu = 9, memory = 18 }",
    "devices": "a table of resource and number of devices, such as { gpu = 8 }",
    "demand": "a table of resource and amount, such as { cpu = 1, memory = 4 }",
    "tasks": "a list of tables with a demand and a count",
    "count": "a whole number",
    "tier": "a whole number, higher is served first",
    "group": 'its path from the root, such as "eng/dev"',
    "groups": "a list of tables, one for each group",
    "guarantees": 'one of "floor", "surplus", "normalised"',
    "excluded": 'a list of resources, such as ["gpu"]',
}
CLASS_NAMES = 'a list of machine classes, such as ["xl"]'
ENTRIES = {
    "users": "a table with a name and a demand",
    "machines": "a table with a name and a capacity",
    "groups": "a table with a name",
    "tasks": "a table with a demand and a count",
    "excluded": "the name of a resource in quotes",
}

COUNTS = "1, 2, 3 ..."

FLOAT_INTEGERS = 2**53


def _number(value: Any, write: str = NUMBERS) -> int | float | Fraction:
    """Return the exact value as the lightest number for it, so that plain files make plain arrays."""
    if type(value) is int and abs(value) <= FLOAT_INTEGERS:
        return value
    if type(value) is Decimal and value.is_finite() and Decimal(repr(float(value))) == value:
        return float(value) or 0
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction | Decimal | str):
        raise InstanceError(f"{shown(value)} is not a number: write {write}")
    fraction = exact(value, write)
    return fraction.numerator if fraction.denominator == 1 else fraction


def _whole(value: Any) -> int:
    number = _number(value, COUNTS)
    if number != int(number):
        raise InstanceError(f"{shown(value)} is not a whole number: write {COUNTS}")
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


def _devices(value: Any) -> dict[str, Any] | None:
    """Return the devices of a machine: a count each, or a table of count and size."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise InstanceError(f"{shown(value)} is no table: write {EXPECTED['devices']}")
    found: dict[str, Any] = {}
    for resource, given in value.items():
        try:
            if not isinstance(given, dict):
                found[resource] = _whole(given)
            else:
                found[resource] = _sized(given)
        except InstanceError as error:
            raise _AmountError(f"of {shown(resource)}: {error}") from None
    return found


def _sized(given: dict) -> dict[str, Any]:
    for key in given:
        if key not in DEVICE_KEYS:
            raise InstanceError(unknown_key(key, DEVICE_KEYS))
    missing = next((key for key in DEVICE_KEYS if key not in given), None)
    if missing is not None:
        raise InstanceError(f"the key {missing!r} is missing: write 8, or {{ count = 8, size = 1 }}")
    return {key: take(given[key]) for key, take in DEVICE_KEYS.items()}


DEVICE_KEYS: dict[str, Callable[[Any], Any]] = {"count": _whole, "size": _number}


class _AmountError(InstanceError):
    """One amount of a table is wrong; the message goes on from the name of the table."""


NUMBER: dict[str, Any] = {
    "anyOf": [{"type": "number"}, {"type": "string"}],
    "description": 'a number; as text a fraction such as "1/3" or a quantity such as "500m" or "4Gi"',
}
TABLE = {"type": "object", "additionalProperties": NUMBER, "description": "resource and amount"}
WHOLE = {"anyOf": [{"type": "integer"}, {"type": "string"}]}
NULL = {"type": "null"}

Number = Annotated[Any, PlainValidator(_number), WithJsonSchema(NUMBER)]
Whole = Annotated[Any, PlainValidator(_whole), WithJsonSchema(WHOLE)]
Limit = Annotated[Any, PlainValidator(_limit), WithJsonSchema({"anyOf": [NUMBER, NULL]})]
Weight = Annotated[Any, PlainValidator(_weight), WithJsonSchema({"anyOf": [NUMBER, TABLE, NULL]})]
Amounts = Annotated[Any, PlainValidator(_amounts), WithJsonSchema(TABLE)]
DEVICES: dict[str, Any] = {
    "type": "object",
    "additionalProperties": {
        "anyOf": [
            WHOLE,
            {
                "type": "object",
                "properties": {"count": WHOLE, "size": NUMBER},
                "required": ["count", "size"],
                "additionalProperties": False,
            },
        ]
    },
    "description": "resource and how many devices of it one machine has, of one size each",
}
OptionalDevices = Annotated[Any, PlainValidator(_devices), WithJsonSchema({"anyOf": [DEVICES, NULL]})]
OptionalAmounts = Annotated[Any, PlainValidator(_pool), WithJsonSchema({"anyOf": [TABLE, NULL]})]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class TypeEntry(_Table):
    """Tasks of one user that are alike."""

    demand: Amounts
    count: Whole
    name: str = ""
    machines: list[str] | None = Field(None, fail_fast=True)


class UserEntry(_Table):
    """One user: what a task of hers needs, or her types of tasks; her weight, limit, machines, group and promises."""

    name: str
    demand: OptionalAmounts = None
    tasks: list[TypeEntry] | None = Field(None, fail_fast=True)
    weight: Weight = None
    max_tasks: Limit = None
    machines: list[str] | None = Field(None, fail_fast=True)
    guarantee: OptionalAmounts = None
    ceiling: OptionalAmounts = None
    tier: int = 0
    group: str = ""

    @model_validator(mode="after")
    def _one_demand(self) -> "UserEntry":
        if (self.demand is None) == (self.tasks is None):
            neither = self.demand is None
            raise InstanceError(
                "the key 'demand' is missing: write " + EXPECTED["demand"]
                if neither
                else "both 'demand' and 'tasks' are given: write one task's demand, or a list of task types"
            )
        if self.tasks is not None and not self.tasks:
            raise InstanceError("tasks is an empty list: list at least one type, or write a demand")
        return self


class GroupEntry(_Table):
    """A node of the tree of groups."""

    name: str
    weight: Number = 1
    guarantee: OptionalAmounts = None
    ceiling: OptionalAmounts = None
    tier: int = 0


class MachineEntry(_Table):
    """A class of identical machines."""

    name: str
    capacity: Amounts
    count: Whole = 1
    devices: OptionalDevices = None


class InstanceFile(_Table):
    """The whole file: one pool (`capacity`) or `machines`, and the users."""

    name: str | None = None
    source: str | None = None
    capacity: OptionalAmounts = None
    machines: list[MachineEntry] | None = Field(None, fail_fast=True)
    users: list[UserEntry] = Field(fail_fast=True)
    groups: list[GroupEntry] | None = Field(None, fail_fast=True)
    guarantees: Literal["floor", "surplus", "normalised"] = "floor"
    excluded: list[str] | None = Field(None, fail_fast=True)
    schema_: str | None = Field(None, alias="schema")


KEYS: dict[tuple[str, ...], Iterable[str]] = {
    (): [field.alias or name for name, field in InstanceFile.model_fields.items()],
    ("users",): UserEntry.model_fields,
    ("users", "tasks"): TypeEntry.model_fields,
    ("machines",): MachineEntry.model_fields,
    ("groups",): GroupEntry.model_fields,
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
    # Before the keys: a newer file may well have one that is not known yet.
    refuse_newer(tree.get("schema"), (SCHEMA,), place)
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
        return f"{entry}{_inside(location)}the key {rest[-1]!r} is missing: write {EXPECTED[rest[-1]]}"
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
    """Return the words for a value inside an entry, such as ``machines[0]`` or ``tasks[1].demand``."""
    words = ""
    for key in keys:
        words += f"[{key}]" if isinstance(key, int) else f".{key}" if words else str(key)
    return words


def _expected(location: tuple) -> str:
    names = [part for part in location if isinstance(part, str)]
    if names[1:] and names[-1] == "machines":
        return CLASS_NAMES if isinstance(location[-1], str) else "the name of a machine class in quotes"
    return EXPECTED[names[-1]] if isinstance(location[-1], str) else ENTRIES[names[-1]]


def _unknown(location: tuple) -> str:
    key = str(location[-1])
    known = list(KEYS[tuple(part for part in location[:-1] if isinstance(part, str))])
    return f"{_inside(location)}{unknown_key(key, known)}"


def _inside(location: tuple) -> str:
    """Return the words for an entry inside an entry, such as ``tasks[1]: ``."""
    return f"{_called(location[2:-1])}: " if len(location) > 3 else ""
