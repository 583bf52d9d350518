"""What an instance may say: of anything else the verifier would not know what it changes."""

from typing import Any

__all__ = ["all_known"]

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


def all_known(data: dict[str, Any]) -> None:
    """Refuse an instance that says what nobody knows."""
    if "capacity" in data and "machines" in data:
        raise ValueError("the cluster is one pool, or machines: it has 'capacity' and 'machines'")
    users = data["users"]
    tables = {
        "an instance": ([data], KEYS),
        "a user": (users, USER_KEYS),
        "a class of machines": (data.get("machines", ()), CLASS_KEYS),
        "a group": (data.get("groups", ()), GROUP_KEYS),
        "a task type": ([kind for user in users for kind in user.get("tasks", ())], TYPE_KEYS),
    }
    for what, (rows, keys) in tables.items():
        if beyond := sorted({key for row in rows for key in row} - keys):
            raise ValueError(f"the key {beyond[0]!r} of {what} is nothing that the verifier knows")
        for form, (word, named) in FORMS.items():
            if wrong := [key for row in rows for key in named & row.keys() if not isinstance(row[key], form)]:
                raise ValueError(f"what {what} has under {wrong[0]!r} is no {word}")
