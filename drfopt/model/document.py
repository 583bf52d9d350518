"""An instance as plain data, with the keys of its file: what is written, certified and changed."""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ..base.numbers.enclosures import text
from ..base.numbers.quantities import LONGEST
from .instance import Instance
from .organisation import Group
from .users import TaskType

__all__ = ["LARGEST_INTEGER", "as_text", "document"]

LARGEST_INTEGER = 2**63
"""TOML promises integers below this and no others."""


def document(instance: Instance, users: bool = True) -> dict[str, Any]:
    """Return the instance as plain data, with the keys and the order of an instance file; its users, if they are asked.

    A value is an int where it is whole, a float where it is exactly that float's shortest decimal, and
    otherwise a text: a longer decimal, or a fraction such as ``"1/3"``.  One with so many digits that no instance file
    may hold it stays a `Fraction`.
    """
    data: dict[str, Any] = {}
    if instance.name:
        data["name"] = instance.name
    if instance.source:
        data["source"] = instance.source
    if instance.machines is None:
        data["capacity"] = _amounts(instance.resources, instance.exact_capacity)
    else:
        data["machines"] = [
            {"name": machine.name}
            | ({"count": machine.count} if machine.count != 1 else {})
            | {"capacity": _amounts(instance.resources, row)}
            | _devices(instance.resources, row, machine.devices)
            for machine, row in zip(instance.machines, instance.exact_machine_capacity, strict=True)
        ]
    if (organisation := instance.organisation) is not None:
        if organisation.meaning != "floor":
            data["guarantees"] = organisation.meaning
        if organisation.excluded:
            data["excluded"] = list(organisation.excluded)
        if organisation.groups:
            data["groups"] = [_group(group) for group in organisation.groups]
    if users:
        data["users"] = [_user(instance, i) for i in range(instance.n)]
    return data


def as_text(data: Any) -> Any:
    """Return nested tables and lists with their fractions as text: those that an instance file would be refused for."""
    if isinstance(data, dict):
        return {key: as_text(value) for key, value in data.items()}
    if isinstance(data, list):
        return [as_text(value) for value in data]
    return text(data, hexadecimal=True) if isinstance(data, Fraction) else data


def _user(instance: Instance, i: int) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": instance.users[i]}
    kinds = None if instance.task_types is None else instance.task_types[i]
    weight, limit = instance.exact_weights[i], instance.max_tasks[i]
    if kinds is None:
        entry["demand"] = _needed(instance.resources, instance.exact_demands[i])
    else:
        entry["tasks"] = [_type(instance.resources, kind) for kind in kinds]
        # Their number is a limit that the file says already.
        limit = None if limit == sum(kind.count for kind in kinds) else limit
    if instance.weights_per_resource:
        entry["weight"] = _amounts(instance.resources, weight)
    elif weight != 1:
        entry["weight"] = _number(weight)
    if limit is not None:
        entry["max_tasks"] = _number(limit)
    if instance.eligible is not None and not instance.eligible[i].all():
        allowed = zip(instance.machine_names, instance.eligible[i], strict=True)
        entry["machines"] = [name for name, eligible in allowed if eligible]
    if (organisation := instance.organisation) is not None:
        if organisation.last[i]:
            entry["weight"] = 0
        entry |= _promises(organisation.guarantees[i], organisation.ceilings[i], organisation.tiers[i])
        if organisation.paths[i]:
            entry["group"] = organisation.paths[i]
    return entry


def _type(resources: tuple[str, ...], kind: TaskType) -> dict[str, Any]:
    named = {"name": kind.name} if kind.name else {}
    placed = {} if kind.machines is None else {"machines": list(kind.machines)}
    return named | {"demand": _needed(resources, kind.demand), "count": kind.count} | placed


def _group(group: Group) -> dict[str, Any]:
    weight = {} if group.weight == 1 else {"weight": _number(group.weight)}
    return {"name": group.name} | weight | _promises(group.guarantee, group.ceiling, group.tier)


def _promises(guarantee: Mapping, ceiling: Mapping, tier: int) -> dict[str, Any]:
    entry: dict[str, Any] = {
        key: {resource: _number(value) for resource, value in amounts.items()}
        for key, amounts in (("guarantee", guarantee), ("ceiling", ceiling))
        if amounts
    }
    return entry | ({"tier": tier} if tier else {})


def _devices(resources: tuple[str, ...], row: tuple[Fraction, ...], devices: Any) -> dict[str, Any]:
    """Return the entry of a class's devices; their size is told where they do not share all of its capacity."""
    there = dict(zip(resources, row, strict=True))
    told = {
        resource: one.count
        if one.count * one.size == there[resource]
        else {"count": one.count, "size": _number(one.size)}
        for resource, one in (devices or {}).items()
    }
    return {"devices": told} if told else {}


def _needed(resources: tuple[str, ...], row: tuple[Fraction, ...]) -> dict[str, Any]:
    return {resource: _number(d) for resource, d in zip(resources, row, strict=True) if d}


def _amounts(resources: tuple[str, ...], values: tuple[Fraction, ...]) -> dict[str, Any]:
    return {resource: _number(value) for resource, value in zip(resources, values, strict=True)}


def _number(value: Fraction) -> int | float | str | Fraction:
    if value.denominator == 1 and abs(value.numerator) < LARGEST_INTEGER:
        return value.numerator
    nearest = float(value)
    if Decimal(repr(nearest)).as_integer_ratio() == (value.numerator, value.denominator):
        return nearest
    if max(value.numerator.bit_length(), value.denominator.bit_length()) < 4 * LONGEST:
        written = _decimal(value) or str(value)
        if len(written) <= LONGEST:
            return written
    return value


def _decimal(value: Fraction) -> str | None:
    """Return a decimal that terminates, written out; None where it does not."""
    twos = (value.denominator & -value.denominator).bit_length() - 1
    rest, fives = value.denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return None
    places = max(twos, fives)
    digits = str(value.numerator * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{digits[: len(digits) - places]}.{digits[len(digits) - places :]}".rstrip(".")
