"""Changes to a cluster as a planner writes them: ``add 10*v100``, ``set-weight A=2``, one row of a table each.

A change edits the instance as its file would be edited, so that whatever a file can say is kept, and what comes out is
checked like any file.  Numbers are exact; a name that is unknown is answered with the nearest.  What is set with a
sign is a difference: ``=+10``, ``=-10``, ``=+10%``.

Changes of what there is: machines of a class, or the capacity of a pool.

Changes of who is there, and of what each user asks for and is promised.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from ..base.errors import InstanceError
from ..base.numbers.quantities import exact
from ..base.registry import Registry
from ..io.native import reading as reader
from ..io.native.entries import validated
from ..io.native.syntax import tree
from ..model.document import document as instance_document
from ..model.instance import Instance, checked_instance
from .grammar import (
    Document,
    amount,
    entry_of,
    many,
    one_of,
    pair,
    resources_of,
    sides,
    table_of,
    whole,
    written,
)

__all__ = [
    "KINDS",
    "Change",
    "ChangeKind",
    "add",
    "add_user",
    "changed",
    "promise",
    "remove",
    "remove_user",
    "scale",
    "set_capacity",
    "set_count",
    "set_demand",
    "set_limit",
    "set_weight",
]


def add(document: Document, text: str) -> None:
    """Add machines of a class or of a new one, or an amount to a pool.

    A new class is open to all to whom no class is closed.
    """
    count, name, table = many(text, "10*CLASS, or 2*NEW{cpu=64,memory=256Gi}")
    if "capacity" in document:
        one_of(name, resources_of(document), "resource")
        document["capacity"][name] = written(exact(document["capacity"][name]) + count)
        return
    if table is None:
        entry = entry_of(document["machines"], name, "machine class")
        entry["count"] = entry.get("count", 1) + whole(count)
        return
    if any(entry["name"] == name for entry in document["machines"]):
        raise InstanceError(f"there is a machine class {name!r} already: leave its capacity out, or give another name")
    known, given = resources_of(document), table_of(table)
    for resource in given:
        one_of(resource, known, "resource")
    capacity = {resource: given.get(resource, 0) for resource in known}
    document["machines"].append({"name": name, "count": whole(count), "capacity": capacity})


def remove(document: Document, text: str) -> None:
    """Take machines of a class away, or an amount from a pool; a class without machines is forgotten."""
    count, name, table = many(text, "3*CLASS")
    if table is not None:
        raise InstanceError(f"{text!r} cannot be read: write 3*CLASS")
    if "capacity" in document:
        one_of(name, resources_of(document), "resource")
        document["capacity"][name] = amount(f"-{count}", document["capacity"][name])
        return
    entry, less = entry_of(document["machines"], name, "machine class"), whole(count)
    there = entry.get("count", 1)
    if less > there:
        raise InstanceError(f"{less} machines of class {name!r} cannot be removed: it has {there}")
    if less < there:
        entry["count"] = there - less
        return
    document["machines"].remove(entry)
    if not document["machines"]:
        raise InstanceError("no machine would be left")
    for user in document["users"]:
        for bearer in (user, *user.get("tasks", ())):
            if "machines" in bearer:
                bearer["machines"] = [other for other in bearer["machines"] if other != name]


def set_count(document: Document, text: str) -> None:
    """Say how many machines of a class there are."""
    name, value = sides(text, "CLASS=12 or CLASS=+2")
    if "capacity" in document:
        raise InstanceError("the cluster is one pool and has no machines: set its capacity instead")
    there = entry_of(document["machines"], name, "machine class").get("count", 1)
    more = whole(exact(amount(value, there))) - there
    if more:
        (add if more > 0 else remove)(document, f"{abs(more)}*{name}")


def set_capacity(document: Document, text: str) -> None:
    """Say how much there is in a pool, or in each machine of a class."""
    name, value = sides(text, "RESOURCE=100, or =+10, or =+10%")
    if "capacity" in document:
        table = document["capacity"]
        one_of(name, list(table), "resource")
        table[name] = amount(value, table[name])
        return
    if name in resources_of(document):
        raise InstanceError(
            f"the cluster has machines: write CLASS/{name}={value} for each machine of a class, or scale {name}=1.1"
        )
    names = [entry["name"] for entry in document["machines"]]
    machine, resource = pair(name, "/", names, resources_of(document), ("class", "resource"))
    entry = entry_of(document["machines"], machine, "machine class")
    _resize(entry, resource, exact(amount(value, entry["capacity"][resource])))


def _resize(entry: Document, resource: str, capacity: Fraction) -> None:
    """Give one machine of a class another capacity: its devices stay as large as they are, and their number changes."""
    devices, before = entry.get("devices", {}), exact(entry["capacity"][resource])
    entry["capacity"][resource] = written(capacity)
    if (given := devices.pop(resource, None)) is None:
        return
    size = exact(given["size"]) if isinstance(given, dict) else before / given
    if count := int(capacity / size):
        devices[resource] = count if count * size == capacity else {"count": count, "size": written(size)}


def scale(document: Document, text: str) -> None:
    """Multiply every capacity of a resource, or of all."""
    name, value = sides(text, "RESOURCE=1.5, or all=1.5")
    known = resources_of(document)
    if name != "all" or "all" in known:
        one_of(name, known, "resource")
        known = [name]
    times = exact(value)
    if not times > 0:
        raise InstanceError(f"a capacity cannot be multiplied by {value}: give a positive number")
    for entry in [document] if "capacity" in document else document["machines"]:
        for resource in known:
            _resize(entry, resource, exact(entry["capacity"][resource]) * times)


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
    user = entry_of(document["users"], name, "user")
    now = user.get("weight", 1)
    # By resource where somebody's is: what is set with a sign changes each.
    by_resource = isinstance(now, dict) and value[0] in "+-"
    user["weight"] = {r: amount(value, now[r]) for r in now} if by_resource else amount(value, now)


def set_limit(document: Document, text: str) -> None:
    """Say how many tasks a user wants at most."""
    name, value = sides(text, "USER=10 or USER=none")
    user = entry_of(document["users"], name, "user")
    if value == "none":
        user.pop("max_tasks", None)
    else:
        user["max_tasks"] = amount(value, user.get("max_tasks"))


def set_demand(document: Document, text: str) -> None:
    """Say what one task of a user needs of a resource."""
    name, value = sides(text, "USER.RESOURCE=2")
    names = [user["name"] for user in document["users"]]
    user, resource = pair(name, ".", names, resources_of(document), ("user", "resource"))
    entry = entry_of(document["users"], user, "user")
    if "demand" not in entry:
        raise InstanceError(f"user {user!r} has several task types, with a demand each: change them in the file")
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
            # Without a promise 0 is promised; without a ceiling there is no amount that could grow.
            table[resource] = amount(value, table.get(resource, 0 if key == "guarantee" else None))

    return edit


@dataclass(frozen=True)
class ChangeKind:
    """A row of the table: what a change is called, how it is written, and how it edits the document."""

    name: str
    grammar: str
    summary: str
    edit: Callable[[Document, str], None]
    cluster: bool = False
    """Whether users stay as they are, in a pool."""


@dataclass(frozen=True)
class Change:
    """One change to a cluster.

    Attributes
    ----------
    kind : str
        The name of a row of `KINDS`.
    text : str
        What is changed, in the grammar of that row.
    """

    kind: str
    text: str

    def __post_init__(self) -> None:
        KINDS.named(self.kind)

    @classmethod
    def of(cls, change: "Change | str") -> "Change":
        """Return a change written in one line, such as ``"set-weight A=2"``."""
        if isinstance(change, Change):
            return change
        kind, _, text = str(change).strip().removeprefix("--").partition(" ")
        return cls(kind, text.strip())

    def __str__(self) -> str:
        return f"{self.kind} {self.text}"


def changed(instance: Instance, changes: Iterable[Change | str]) -> Instance:
    """Return the instance after the changes, made one after the other.

    Raises
    ------
    InstanceError
        On a change that cannot be read or made; the message names it.
    """
    checked_instance(instance, "what is to be changed")
    made = list(map(Change.of, changes))
    # Writing and reading again takes longer than dividing a pool among many users: those who stay are not touched.
    resized = instance.machines is None and all(KINDS.named(change.kind).cluster for change in made)
    document = instance_document(instance, users=not resized)
    for change in made:
        try:
            KINDS.named(change.kind).edit(document, change.text)
        except InstanceError as error:
            raise InstanceError(f"{change}: {error}") from None
    if not resized:
        return reader.loads(json.dumps(document), "json", AFTER)
    # At the door of files the capacity is looked at with somebody beside it.
    alone = {"capacity": document["capacity"], "users": [{"name": "nobody", "demand": {}}]}
    capacity = validated(tree(json.dumps(alone), "json", AFTER), AFTER).capacity
    try:
        return instance.resized(capacity or {})
    except InstanceError as error:
        raise InstanceError(f"{AFTER}: {error}") from None


AFTER = "after the changes"
"""What errors call the instance that comes out."""


KINDS = Registry(
    ChangeKind("add", "10*CLASS or 2*NEW{cpu=64}", "machines more; of a pool 10*RESOURCE", add, True),
    ChangeKind("remove", "3*CLASS", "machines less; of a pool 3*RESOURCE", remove, True),
    ChangeKind("set-count", "CLASS=12", "how many machines of a class", set_count, True),
    ChangeKind("set-capacity", "RESOURCE=100 or CLASS/RESOURCE=8", "a pool, or each machine",
               set_capacity, True),
    ChangeKind("scale", "RESOURCE=1.5 or all=1.5", "every capacity of a resource, or of all, multiplied",
               scale, True),
    ChangeKind("remove-user", "USER", "a user leaves", remove_user),
    ChangeKind("add-user", "NAME{cpu=1,memory=4;weight=2;max_tasks=9}", "a user comes", add_user),
    ChangeKind("set-demand", "USER.RESOURCE=2", "what one task needs", set_demand),
    ChangeKind("set-weight", "USER=2", "a user's weight", set_weight),
    ChangeKind("set-guarantee", "USER.RESOURCE=4 or =none", "what a user is promised", promise("guarantee")),
    ChangeKind("set-ceiling", "USER.RESOURCE=4 or =none", "the most that a user may use", promise("ceiling")),
    ChangeKind("set-limit", "USER=10 or USER=none", "the most tasks of a user", set_limit),
    what="change", error=InstanceError,
)  # fmt: skip
"""Every change there is, in the order in which the command line makes them."""
