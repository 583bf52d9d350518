"""Changes of who is there, and of what each user asks for and is promised."""

import re
from collections.abc import Callable

from ...base.errors import InstanceError
from ...base.numbers.quantities import exact
from .grammar import Document, amount, entry_of, one_of, pair, resources_of, sides, table_of, written

__all__ = ["add_user", "promise", "remove_user", "set_demand", "set_limit", "set_weight"]

USER = re.compile(r"\s*(?P<name>[^{}]+?)\s*\{(?P<table>[^{};]*)(?P<rest>(?:;[^{};]*)*)\}\s*")


def add_user(document: Document, text: str) -> None:
    """Add a user."""
    match = USER.fullmatch(text)
    if not match:
        raise InstanceError(
            f"{text!r} cannot be read: write NAME{{cpu=1,memory=4}} or NAME{{cpu=1;weight=2;max_tasks=9}}"
        )
    if any(user["name"] == match["name"] for user in document["users"]):
        raise InstanceError(f"there is a user {match['name']!r} already: give another name")
    demand = table_of(match["table"])
    for resource in demand:
        one_of(resource, resources_of(document), "resource")
    user: Document = {"name": match["name"], "demand": demand}
    for part in filter(None, (part.strip() for part in match["rest"].split(";"))):
        key, value = sides(part, "weight=2, max_tasks=9 or machines=a|b")
        one_of(key, ("weight", "max_tasks", "machines"), "property of a user")
        user[key] = [name.strip() for name in value.split("|")] if key == "machines" else written(exact(value))
    document["users"].append(user)


def remove_user(document: Document, text: str) -> None:
    """Leave a user out."""
    document["users"].remove(entry_of(document["users"], text, "user"))
    if not document["users"]:
        raise InstanceError("no user would be left")


def set_weight(document: Document, text: str) -> None:
    """Say a user's weight."""
    name, value = sides(text, "USER=2")
    entry_of(document["users"], name, "user")["weight"] = written(exact(value))


def set_limit(document: Document, text: str) -> None:
    """Say how many tasks a user wants at most."""
    name, value = sides(text, "USER=10 or USER=none")
    user = entry_of(document["users"], name, "user")
    if value == "none":
        user.pop("max_tasks", None)
    else:
        user["max_tasks"] = written(exact(value))


def set_demand(document: Document, text: str) -> None:
    """Say what one task of a user needs of a resource."""
    name, value = sides(text, "USER.RESOURCE=2")
    names = [user["name"] for user in document["users"]]
    user, resource = pair(name, ".", names, resources_of(document), ("user", "resource"))
    entry = entry_of(document["users"], user, "user")
    if "demand" not in entry:
        raise InstanceError(f"user {user!r} has several task types: its demand is not one number")
    entry["demand"][resource] = amount(value, entry["demand"].get(resource, 0))


def promise(key: str) -> Callable[[Document, str], None]:
    """Return the edit of what an organisation promises a user of a resource, or forbids her."""

    def edit(document: Document, text: str) -> None:
        name, value = sides(text, "USER.RESOURCE=4 or USER.RESOURCE=none")
        names = [user["name"] for user in document["users"]]
        user, resource = pair(name, ".", names, resources_of(document), ("user", "resource"))
        table = entry_of(document["users"], user, "user").setdefault(key, {})
        if value == "none":
            table.pop(resource, None)
        else:
            table[resource] = amount(value, table.get(resource, 0))

    return edit
