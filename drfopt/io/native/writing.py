"""An `Instance` as a native instance file in TOML, JSON or YAML; reading it again gives an equal instance.

The commented instance file that ``drfopt new`` prints.
"""

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

from ...base.errors import InstanceError
from ...base.numbers.quantities import LONGEST
from ...base.registry import unknown
from ...model.document import document
from ...model.instance import Instance
from ..text.files import format_of, write_whole
from .entries import SCHEMA

__all__ = ["dumps", "save", "text", "yaml_text"]


PLAIN_KEYS = ("name", "source", "guarantees", "excluded")
"""Keys at the top whose values are no tables."""

BARE_KEY = re.compile(r"[A-Za-z0-9_-]{1,64}")


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


def dumps(instance: Instance, format: str = "toml") -> str:
    """Return the instance as text in the format ``toml``, ``json`` or ``yaml``.

    Raises
    ------
    InstanceError
        On another format, or a value with so many digits that no file may hold it.
    """
    writers = {"toml": _toml, "json": _json, "yaml": yaml_text}
    if format not in writers:
        raise InstanceError(unknown("format", format, writers))
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
    # Programs write JSON for programs; the other two are for people.
    return json.dumps({"schema": SCHEMA} | data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


# ---- YAML --------------------------------------------------------------------------------------------------


def yaml_text(data: Mapping[str, Any]) -> str:
    """Return a tree as YAML that says the same to every reader of it."""
    import yaml

    from ..text.yaml_xml import resolve

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


def text() -> str:
    """Return a commented instance file that solves as it is."""
    return (files(__package__) / "template.toml").read_text(encoding="utf-8")
