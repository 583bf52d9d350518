"""An `Instance` as a native instance file in TOML, JSON or YAML; reading it again gives an equal instance."""

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from ...base.errors import InstanceError, suggestion
from ...base.numbers.quantities import LONGEST
from ...model.instance import Instance
from ...model.organisation import Group
from ...model.task_types import TaskType
from ..text.input import format_of
from ..text.output import write_whole

__all__ = ["document", "dumps", "save", "yaml_text"]

LARGEST_INTEGER = 2**63
"""TOML promises integers below this and no others."""

PLAIN_KEYS = ("name", "source", "guarantees", "excluded")
"""Keys at the top whose values are no tables."""

BARE_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")


def document(instance: Instance) -> dict[str, Any]:
    """Return the instance as plain data, with the keys and the order of an instance file.

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
            for machine, row in zip(instance.machines, instance.exact_machine_capacity, strict=True)
        ]
    if (organisation := instance.organisation) is not None:
        if organisation.meaning != "floor":
            data["guarantees"] = organisation.meaning
        if organisation.excluded:
            data["excluded"] = list(organisation.excluded)
        if organisation.groups:
            data["groups"] = [_group(group) for group in organisation.groups]
    data["users"] = [_user(instance, i) for i in range(instance.n)]
    return data


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
        text = _decimal(value) or str(value)
        if len(text) <= LONGEST:
            return text
    return value


def _refuse_long(data: dict[str, Any]) -> None:
    """Raise when an amount has so many digits that no file may hold it."""
    words = {"machines": "machine class", "groups": "group", "users": "user"}
    owners = [(f"{word} {part['name']!r}", part) for key, word in words.items() for part in data.get(key, ())]
    for owner, part in [("the cluster", data.get("capacity")), *owners]:
        for value in _leaves(part):
            if isinstance(value, Fraction):
                raise InstanceError(
                    f"{owner} has an amount near {float(value):g} with more than {LONGEST} digits: round it first"
                )


def _leaves(data: Any) -> list[Any]:
    """Return the values of nested tables and lists."""
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else None
    return [data] if inner is None else [leaf for part in inner for leaf in _leaves(part)]


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


def dumps(instance: Instance, format: str = "toml") -> str:
    """Return the instance as text in the format ``toml``, ``json`` or ``yaml``.

    Raises
    ------
    InstanceError
        On another format, or a value with so many digits that no file may hold it.
    """
    writers = {"toml": _toml, "json": _json, "yaml": yaml_text}
    if format not in writers:
        raise InstanceError(f"unknown format {format!r}: use {', '.join(writers)}{suggestion(str(format), writers)}")
    data = document(instance)
    _refuse_long(data)
    return writers[format](data)


def save(instance: Instance, path: str | Path) -> None:
    """Write the instance to a file in the format of its suffix, whole or not at all.

    Raises
    ------
    InstanceError
        On an unknown suffix, or a file that cannot be written.
    """
    write_whole(path, dumps(instance, format_of(path)))


def _json(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


# ---- YAML --------------------------------------------------------------------------------------------------


def yaml_text(data: Mapping[str, Any]) -> str:
    """Return a tree as YAML that says the same to every reader of it."""
    import yaml

    from ..text.yaml_tree import resolve

    base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

    class Dumper(base):
        """Quotes odd characters, and what is a number here and not to PyYAML, such as ``1e5``."""

    def text(dumper: Any, value: str) -> Any:
        try:
            plain = value.isprintable() and isinstance(resolve(value), str)
        except ValueError:
            plain = False
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=None if plain else '"')

    Dumper.add_representer(str, text)
    # The width is beyond any line: folded lines are hard to compare.
    return yaml.dump(data, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=2**30, default_flow_style=False)


# ---- TOML --------------------------------------------------------------------------------------------------


def _toml(data: dict[str, Any]) -> str:
    blocks = ["\n".join(f"{key} = {_toml_value(data[key])}" for key in PLAIN_KEYS if key in data)]
    if "capacity" in data:
        blocks.append("\n".join(["[capacity]", *_toml_lines(data["capacity"])]))
    for heading in ("machines", "groups", "users"):
        blocks += ["\n".join([f"[[{heading}]]", *_toml_lines(entry)]) for entry in data.get(heading, [])]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _toml_lines(table: dict[str, Any]) -> list[str]:
    return [f"{_toml_key(key)} = {_toml_value(value)}" for key, value in table.items()]


def _toml_key(key: str) -> str:
    return key if BARE_KEY.fullmatch(key) else _toml_text(key)


def _toml_value(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(_toml_lines(value))} }}" if value else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_value, value))}]"
    return _toml_text(value) if isinstance(value, str) else repr(value)


def _toml_text(text: str) -> str:
    """Return a basic string of TOML: every control character, quote and backslash is escaped."""
    escaped = re.sub(
        r'[\x00-\x1f\x7f"\\]', lambda found: _ESCAPES.get(found.group(), f"\\u{ord(found.group()):04x}"), text
    )
    return f'"{escaped}"'


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
