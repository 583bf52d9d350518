"""Changes to a cluster as a planner writes them: ``add 10*v100``, ``set-weight A=2``, one row of a table each.

A change edits the instance as its file would be edited, so that whatever a file can say is kept, and what comes out is
checked like any file.  Numbers are exact; a name that is unknown is answered with the nearest.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import InstanceError, suggestion
from ..instance import Instance
from ..naming import some
from ..quantities import exact
from ..readers import native as reader
from ..writers import native as writer

__all__ = ["KINDS", "Change", "Kind", "changed"]

Document = dict[str, Any]
"""An instance as its file says it."""


@dataclass(frozen=True)
class Kind:
    """A row of the table: what a change is called, how it is written, and how it edits the document."""

    name: str
    grammar: str
    summary: str
    edit: Callable[[Document, str], None]


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
        known = [row.name for row in KINDS]
        if self.kind not in known:
            raise InstanceError(
                f"there is no change {self.kind!r}{suggestion(self.kind, known)} (known: {', '.join(known)})"
            )

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
    document = writer.document(instance)
    for change in map(Change.of, changes):
        row = next(row for row in KINDS if row.name == change.kind)
        try:
            row.edit(document, change.text)
        except InstanceError as error:
            raise InstanceError(f"{change}: {error}") from None
    return reader.loads(json.dumps(document), "json", "after the changes")


# ---- reading what was written ---------------------------------------------------------------------------------


def _entry(entries: list[Document], name: str, what: str) -> Document:
    """Return the entry of that name."""
    for entry in entries:
        if entry["name"] == name:
            return entry
    names = [entry["name"] for entry in entries]
    raise InstanceError(f"there is no {what} {name!r}{suggestion(name, names)} (there are {some(names)})")


def _resources(document: Document) -> list[str]:
    table = document["capacity"] if "capacity" in document else document["machines"][0]["capacity"]
    return list(table)


def _known(name: str, names: Sequence[str], what: str) -> str:
    if name not in names:
        raise InstanceError(f"there is no {what} {name!r}{suggestion(name, names)} (there are {some(names)})")
    return name


def _sides(text: str, grammar: str) -> tuple[str, str]:
    """Return what stands left and right of the last ``=``: names may hold others."""
    left, sign, right = text.rpartition("=")
    if not sign or not left.strip() or not right.strip():
        raise InstanceError(f"{text!r} cannot be read: write {grammar}")
    return left.strip(), right.strip()


def _pair(
    text: str, joint: str, first: Sequence[str], second: Sequence[str], words: tuple[str, str]
) -> tuple[str, str]:
    """Return the two names that are joined in a text, either of which may hold the joint itself."""
    places = [at for at, letter in enumerate(text) if letter == joint]
    for at in places:
        if text[:at] in first and text[at + 1 :] in second:
            return text[:at], text[at + 1 :]
    if not places:
        raise InstanceError(f"{text!r} cannot be read: write {words[0].upper()}{joint}{words[1].upper()}")
    left, _, right = text.rpartition(joint)
    if left not in first:
        _known(left, first, words[0])
    _known(right, second, words[1])
    raise InstanceError(f"{text!r} cannot be read: write {words[0].upper()}{joint}{words[1].upper()}")


def _written(value: Fraction) -> int | str:
    return value.numerator if value.denominator == 1 else str(value)


def _amount(text: str, now: Any) -> int | str:
    """Return what a text makes of an amount: ``100``, ``+10``, ``-10`` or ``+10%``."""
    if text[0] not in "+-":
        return _written(exact(text))
    step = exact(text.removesuffix("%"))
    before = exact(now)
    after = before + (before * step / 100 if text.endswith("%") else step)
    if after < 0:
        raise InstanceError(f"{text} of {before} leaves {after}: an amount must not be negative")
    return _written(after)


def _table(text: str) -> Document:
    """Return ``cpu=1,memory=4Gi`` as a table of amounts."""
    found: Document = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, value = _sides(part, "resource=amount")
        found[name] = _written(exact(value))
    return found


MANY = re.compile(r"\s*(?:(?P<count>[^*{}]*)\*)?\s*(?P<name>[^{}]+?)\s*(?:\{(?P<table>[^{}]*)\})?\s*")
USER = re.compile(r"\s*(?P<name>[^{}]+?)\s*\{(?P<table>[^{};]*)(?P<rest>(?:;[^{};]*)*)\}\s*")


def _many(text: str, grammar: str) -> tuple[Fraction, str, str | None]:
    """Return count, name and table of ``2*name{...}``."""
    match = MANY.fullmatch(text)
    if not match:
        raise InstanceError(f"{text!r} cannot be read: write {grammar}")
    count = Fraction(1) if match["count"] is None else exact(match["count"])
    if not count > 0:
        raise InstanceError(f"{text!r}: how many must be positive, not {count}")
    return count, match["name"], match["table"]


def _whole(count: Fraction) -> int:
    if count.denominator != 1:
        raise InstanceError(f"{count} machines cannot be: write a whole number")
    return count.numerator


# ---- the cluster ----------------------------------------------------------------------------------------------


def _add(document: Document, text: str) -> None:
    count, name, table = _many(text, "10*CLASS, or 2*NEW{cpu=64,memory=256Gi}")
    if "capacity" in document:
        _known(name, _resources(document), "resource")
        document["capacity"][name] = _written(exact(document["capacity"][name]) + count)
        return
    if table is None:
        entry = _entry(document["machines"], name, "machine class")
        entry["count"] = entry.get("count", 1) + _whole(count)
        return
    if any(entry["name"] == name for entry in document["machines"]):
        raise InstanceError(f"there is a machine class {name!r} already: leave its capacity out, or give another name")
    known, given = _resources(document), _table(table)
    for resource in given:
        _known(resource, known, "resource")
    capacity = {resource: given.get(resource, 0) for resource in known}
    document["machines"].append({"name": name, "count": _whole(count), "capacity": capacity})


def _remove(document: Document, text: str) -> None:
    count, name, table = _many(text, "3*CLASS")
    if table is not None:
        raise InstanceError(f"{text!r} cannot be read: write 3*CLASS")
    if "capacity" in document:
        _known(name, _resources(document), "resource")
        document["capacity"][name] = _amount(f"-{count}", document["capacity"][name])
        return
    entry, less = _entry(document["machines"], name, "machine class"), _whole(count)
    there = entry.get("count", 1)
    if less > there:
        raise InstanceError(f"there are {there} machines of class {name!r}, and {less} cannot be removed")
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


def _set_count(document: Document, text: str) -> None:
    name, value = _sides(text, "CLASS=12")
    if "capacity" in document:
        raise InstanceError("the cluster is one pool and has no machines: set its capacity instead")
    wanted = exact(value)
    more = wanted - exact(_entry(document["machines"], name, "machine class").get("count", 1))
    if wanted < 0:
        raise InstanceError(f"{value} machines cannot be: write a whole number")
    if more:
        (_add if more > 0 else _remove)(document, f"{abs(more)}*{name}")


def _set_capacity(document: Document, text: str) -> None:
    name, value = _sides(text, "RESOURCE=100, or =+10, or =+10%")
    if "capacity" in document:
        table = document["capacity"]
        _known(name, list(table), "resource")
        table[name] = _amount(value, table[name])
        return
    if name in _resources(document):
        raise InstanceError(
            f"the cluster has machines: write CLASS/{name}={value} for each machine of a class, or scale {name}=1.1"
        )
    names = [entry["name"] for entry in document["machines"]]
    machine, resource = _pair(name, "/", names, _resources(document), ("class", "resource"))
    table = _entry(document["machines"], machine, "machine class")["capacity"]
    table[resource] = _amount(value, table[resource])


def _scale(document: Document, text: str) -> None:
    name, value = _sides(text, "RESOURCE=1.5, or all=1.5")
    known = _resources(document)
    if name != "all" or "all" in known:
        _known(name, known, "resource")
        known = [name]
    times = exact(value)
    if not times > 0:
        raise InstanceError(f"a capacity cannot be multiplied by {value}: give a positive number")
    for table in [document["capacity"]] if "capacity" in document else [m["capacity"] for m in document["machines"]]:
        table |= {resource: _written(exact(table[resource]) * times) for resource in known}


# ---- users ----------------------------------------------------------------------------------------------------


def _add_user(document: Document, text: str) -> None:
    match = USER.fullmatch(text)
    if not match:
        raise InstanceError(
            f"{text!r} cannot be read: write NAME{{cpu=1,memory=4}} or NAME{{cpu=1;weight=2;max_tasks=9}}"
        )
    if any(user["name"] == match["name"] for user in document["users"]):
        raise InstanceError(f"there is a user {match['name']!r} already: give another name")
    demand = _table(match["table"])
    for resource in demand:
        _known(resource, _resources(document), "resource")
    user: Document = {"name": match["name"], "demand": demand}
    for part in filter(None, (part.strip() for part in match["rest"].split(";"))):
        key, value = _sides(part, "weight=2, max_tasks=9 or machines=a|b")
        _known(key, ("weight", "max_tasks", "machines"), "property of a user")
        user[key] = [name.strip() for name in value.split("|")] if key == "machines" else _written(exact(value))
    document["users"].append(user)


def _remove_user(document: Document, text: str) -> None:
    document["users"].remove(_entry(document["users"], text, "user"))
    if not document["users"]:
        raise InstanceError("no user would be left")


def _set_weight(document: Document, text: str) -> None:
    name, value = _sides(text, "USER=2")
    _entry(document["users"], name, "user")["weight"] = _written(exact(value))


def _set_limit(document: Document, text: str) -> None:
    name, value = _sides(text, "USER=10 or USER=none")
    user = _entry(document["users"], name, "user")
    if value == "none":
        user.pop("max_tasks", None)
    else:
        user["max_tasks"] = _written(exact(value))


def _set_demand(document: Document, text: str) -> None:
    name, value = _sides(text, "USER.RESOURCE=2")
    names = [user["name"] for user in document["users"]]
    user, resource = _pair(name, ".", names, _resources(document), ("user", "resource"))
    entry = _entry(document["users"], user, "user")
    if "demand" not in entry:
        raise InstanceError(f"user {user!r} has several task types: her demand is not one number")
    entry["demand"][resource] = _amount(value, entry["demand"].get(resource, 0))


def _promise(key: str) -> Callable[[Document, str], None]:
    """Return the edit of what an organisation promises a user of a resource, or forbids her."""

    def edit(document: Document, text: str) -> None:
        name, value = _sides(text, "USER.RESOURCE=4 or USER.RESOURCE=none")
        names = [user["name"] for user in document["users"]]
        user, resource = _pair(name, ".", names, _resources(document), ("user", "resource"))
        table = _entry(document["users"], user, "user").setdefault(key, {})
        if value == "none":
            table.pop(resource, None)
        else:
            table[resource] = _amount(value, table.get(resource, 0))

    return edit


KINDS = (
    Kind("remove", "3*CLASS", "machines less; of a pool 3*RESOURCE", _remove),
    Kind("add", "10*CLASS or 2*NEW{cpu=64}", "machines more; of a pool 10*RESOURCE", _add),
    Kind("set-count", "CLASS=12", "how many machines of a class", _set_count),
    Kind("set-capacity", "RESOURCE=100 or CLASS/RESOURCE=8", "a pool, or each machine; or =+10%", _set_capacity),
    Kind("scale", "RESOURCE=1.5 or all=1.5", "every capacity of a resource, or of all, multiplied", _scale),
    Kind("remove-user", "USER", "a user leaves", _remove_user),
    Kind("add-user", "NAME{cpu=1,memory=4;weight=2;max_tasks=9}", "a user comes", _add_user),
    Kind("set-demand", "USER.RESOURCE=2", "what one task needs; also =+10%", _set_demand),
    Kind("set-weight", "USER=2", "a user's weight", _set_weight),
    Kind("set-guarantee", "USER.RESOURCE=4 or =none", "what a user is promised", _promise("guarantee")),
    Kind("set-ceiling", "USER.RESOURCE=4 or =none", "the most that a user may use", _promise("ceiling")),
    Kind("set-limit", "USER=10 or USER=none", "the most tasks of a user", _set_limit),
)  # fmt: skip
"""Every change there is, in the order in which the command line makes them."""
