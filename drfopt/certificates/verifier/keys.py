"""What an instance may say: of anything else the verifier would not know what it changes."""

from fractions import Fraction
from typing import Any

from .reading import LONG, number

__all__ = ["all_known", "misshapen"]

KEYS = {"name", "source", "capacity", "machines", "users", "guarantees", "excluded", "groups"}
USER_KEYS = {"name", "demand", "tasks", "weight", "max_tasks", "machines", "ceiling", "guarantee", "tier", "group"}
CLASS_KEYS = {"name", "capacity", "count", "devices"}
GROUP_KEYS = {"name", "weight", "guarantee", "ceiling", "tier"}
TYPE_KEYS = {"name", "demand", "count", "machines"}

FORMS: dict[type, tuple[str, set[str]]] = {
    str: ("text", {"name", "source", "group", "guarantees"}),
    list: ("list", {"users", "tasks", "machines", "groups", "excluded"}),
    dict: ("table", {"capacity", "demand", "devices", "ceiling", "guarantee"}),
}
"""What stands under a key: a text would pass for the list of its letters."""


Form = str | list[Any] | dict[str, Any] | tuple[Any, ...]
"""What may stand at a place: a kind of value, a list of a form, a table whose keys are named (a mark for those that it
must have) or, under the empty name, anything, or one of several forms."""

AMOUNTS = {"": ("number", {"": ("number", {"": "number"})})}
NUMBERS = {"": "number"}
AMOUNT = ("number", {"lower!": "number", "upper!": "number"})
PAID = {"prices!": AMOUNTS, "ceilings": AMOUNTS, "finished": ["text"]}
PACKING = [{"class!": "text", "machines!": "number", "tasks!": NUMBERS, "devices": {"": [NUMBERS]}}]
NODE = {
    "user": "text", "tasks": ("number", NUMBERS), "most": "number", "class": "text", "load": NUMBERS, "prices": NUMBERS,
    "classes": AMOUNTS, "devices": {"": AMOUNTS}, "ceilings": AMOUNTS, "levels": ["number"], "held": NUMBERS,
    "rounds": ["number"], "divisor": "number", "base": NUMBERS,
}  # fmt: skip
TREES = [[NODE]]
PROOF: dict[str, Any] = {
    "rounds": [PAID | {"finished!": ["text"]}],
    "alone": {"": {"placement!": [NUMBERS], "prices!": AMOUNTS}},
    "prices": AMOUNTS,
    "ceilings": AMOUNTS,
    "promises": [PAID],
    "tiers": [PAID | {"turn!": "number", "full": [PAID], "held": NUMBERS}],
    "point": NUMBERS,
    "packing": PACKING,
    "trees": TREES,
    "bounds": [{"most!": {"user!": "text", "tasks!": "number"}, "tree!": [NODE]}],
    "servers": [{"trees": TREES}],
}
USER = {"name!": "text", "demand": NUMBERS, "guarantee": NUMBERS, "ceiling": NUMBERS, "max_tasks": ("none", "number")}
INSTANCE = {
    "capacity": NUMBERS,
    "machines": [{"name!": "text", "capacity!": NUMBERS}],
    "users!": [USER | {"tasks": [{"demand!": NUMBERS, "count!": "number"}]}],
}
HAD = {
    "users!": [{"name!": "text", "tasks!": AMOUNT, "level": ("none", *AMOUNT)}],
    "placement": ("none", {"": {"": AMOUNT}}),
    "types": ("none", {"": [{"tasks": AMOUNT, "placement": {"": AMOUNT}}]}),
    "proof": ("none", PROOF),
}
PROOF["answer"] = HAD
ANSWER = {
    **HAD,
    "integer!": "flag",
    "policy!": "text",
    "instance": ("none", "text", INSTANCE),
    "unplaced": ["text"],
}
AUDITED = {"audits": [{"truth!": ANSWER, "findings!": [{"property!": "text", "verdict!": "text", "after": [ANSWER]}]}]}

KINDS: dict[str, tuple[type, ...]] = {
    "none": (type(None),), "text": (str,), "flag": (bool,), "number": (int, float, str, Fraction),
}  # fmt: skip


def misshapen(document: dict[str, Any]) -> str:
    """Return which place of a document that cannot be read has what does not belong there; empty where none has."""
    return _astray(document, AUDITED if "audits" in document else ANSWER, "")


def _astray(value: Any, form: Form, place: str) -> str:
    """Return the first place at which a value is of another form."""
    if isinstance(form, tuple):
        found = [_astray(value, one, place) for one in form]
        # Of several forms the fault is of the one that the value has begun with.
        inside = [fault for one, fault in zip(form, found, strict=True) if isinstance(value, _type(one))]
        return "" if "" in found else (inside or found)[-1]
    if not isinstance(value, _type(form)) or (form == "number" and isinstance(value, bool)):
        return f"what it has under {place!r} is no {_word(form)}"
    if isinstance(form, list):
        return next((fault for at, one in enumerate(value) if (fault := _astray(one, form[0], f"{place}[{at}]"))), "")
    if isinstance(form, str):
        return "" if form != "number" or _read(value) else f"{value[:40]!r} is not a number, under {place!r}"
    for name in form:
        if name.endswith("!") and name[:-1] not in value:
            return f"it has no {name[:-1]!r}" + (f" under {place!r}" if place else "")
    for key, one in value.items():
        inner = form.get(key, form.get(f"{key}!", form.get("")))
        if inner is not None and (fault := _astray(one, inner, f"{place}.{key}" if place else key)):
            return fault
    return ""


def _type(form: Form) -> Any:
    return KINDS[form] if isinstance(form, str) else type(form)


def _word(form: Form) -> str:
    return form if isinstance(form, str) else "list" if isinstance(form, list) else "table"


def _read(value: Any) -> bool:
    """Say whether a number can be read; of long ones, and of multiples of those, it is not looked at."""
    if not isinstance(value, str) or len(value) > LONG or "*" in value:
        return True
    try:
        number(value)
    except ValueError:
        return False
    return True


def all_known(data: dict[str, Any]) -> None:
    """Refuse an instance that says what nobody knows."""
    if "capacity" in data and "machines" in data:
        raise ValueError("the cluster is one pool, or machines: it has 'capacity' and 'machines'")
    _known("an instance", [data], KEYS)
    users = data["users"]
    if not users:
        raise ValueError("an instance has a user at least, and this one has none")
    _known("a user", users, USER_KEYS)
    _known("a class of machines", data.get("machines", []), CLASS_KEYS)
    _known("a group", data.get("groups", []), GROUP_KEYS)
    _known("a task type", [kind for user in users for kind in user.get("tasks", ())], TYPE_KEYS)


def _known(what: str, rows: list[dict[str, Any]], keys: set[str]) -> None:
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError(f"what stands for {what} is no table")
    if beyond := sorted({key for row in rows for key in row} - keys):
        raise ValueError(f"the key {beyond[0]!r} of {what} is nothing that the verifier knows")
    for form, (word, named) in FORMS.items():
        if wrong := [key for row in rows for key in named & row.keys() if not isinstance(row[key], form)]:
            raise ValueError(f"what {what} has under {wrong[0]!r} is no {word}")
