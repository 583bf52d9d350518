"""What an instance may say: of anything else the verifier would not know what it changes."""

from typing import Any

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


ANSWER_FORMS: dict[str, tuple[type, str]] = {
    "instance": (dict, "table"),
    "users": (list, "list"),
    "placement": (dict, "table"),
    "types": (dict, "table"),
    "unplaced": (list, "list"),
    "proof": (dict, "table"),
    "audits": (list, "list"),
}
"""What stands under a key of an answer."""


def misshapen(document: dict[str, Any]) -> str:
    """Return what of a document that cannot be read is of another form than belongs there."""
    for key, (form, word) in ANSWER_FORMS.items():
        if key in document and not isinstance(document[key], form):
            return f"what it has under {key!r} is no {word}"
    for key in ("users", "placement", "types", "audits"):
        rows = document.get(key, [])
        form, word = (list, "list") if key == "types" else (dict, "table")
        if not all(isinstance(row, form) for row in (rows.values() if isinstance(rows, dict) else rows)):
            return f"an entry of its {key!r} is no {word}"
    return "something in it is of another form than belongs there, a text where a table does, or a list is too short"


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
