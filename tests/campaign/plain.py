"""Random degenerate clusters as an instance file has them, changes to them, and what tasks on them are worth.

All of it is stated here once more, in fractions and from the words of the manual: nothing of the package computes here.
"""

import copy
import math
import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from simplex import Polytope

__all__ = [
    "POLICIES",
    "Document",
    "Edit",
    "Yardstick",
    "asked",
    "demand_of",
    "drawn_changes",
    "drawn_cluster",
    "entry_of",
    "limit",
    "resized",
    "resources_of",
    "setting",
    "users_of",
]

Document = dict[str, Any]

RESOURCES = ("cpu", "mem", "gpu")

NUMBERS = {
    "tied": (("0", "1", "1", "2"), ("1", "2", "4", "4", "8")),
    "small": (("0", "1", "2", "3"), ("1", "2", "3", "5", "7", "9")),
    "parts": (("0", "1/2", "1/3", "0.3", "1"), ("0.9", "3/2", "2", "7/3", "3")),
}
"""Demands and capacities."""

LEXIMIN = ("drf", "drf", "drf", "asset", "tsf", "tasks", "single:cpu")
MARKETS = ("ceei", "alpha:2", "utilitarian", "throughput")
POLICIES = LEXIMIN + MARKETS + ("per-server",)


# ---- clusters --------------------------------------------------------------------------------------------------------


def drawn_cluster(chance: random.Random, policy: str) -> Document:
    """Return a cluster of a few users; it may be one that is refused."""
    likely = {
        "machines": 0.55, "devices": 0.12, "types": 0.15, "limits": 0.6, "weights": 0.35, "each": 0.1, "last": 0.08,
        "guarantees": 0.2, "ceilings": 0.15, "tiers": 0.12, "groups": 0.2, "excluded": 0.1, "meaning": 0.12,
    }  # fmt: skip
    has = {trait for trait, part in likely.items() if chance.random() < part}
    needs, rooms = NUMBERS[chance.choice(list(NUMBERS))]
    names = RESOURCES[: chance.choice((2, 3) if "excluded" in has else (1, 2, 2, 3))]

    def demand() -> dict[str, str]:
        row = {name: chance.choice(needs) for name in names}
        if not any(Fraction(value) for value in row.values()) or policy == "single:cpu":
            row["cpu"] = row["cpu"] if Fraction(row["cpu"]) else needs[-1]
        return row | ({"dev": chance.choice(("0", "1/2", "1/3", "1", "2"))} if "devices" in has else {})

    def room() -> dict[str, str]:
        return {name: "0" if chance.random() < 0.06 else chance.choice(rooms) for name in names}

    document: Document = {}
    classes: list[str] = []
    if has & {"machines", "devices"}:
        classes = ["a", "b", "c"][: chance.choice((1, 2, 2, 3))]
        document["machines"] = []
        for name in classes:
            entry = {"name": name, "count": chance.choice((1, 1, 2, 3)), "capacity": room()}
            if "devices" in has:
                count = chance.choice((0, 1, 1, 2, 4))
                entry["capacity"]["dev"] = count
                entry |= {"devices": {"dev": count}} if count and chance.random() < 0.9 else {}
            document["machines"].append(entry)
    else:
        document["capacity"] = room()
    users: list[Document] = []
    for name in ["u", "v", "w", "x", "y"][: chance.choice((1, 2, 2, 3, 3, 4, 5))]:
        user: Document = {"name": name}
        if users and chance.random() < 0.25 and "demand" in users[-1]:
            user["demand"] = dict(users[-1]["demand"])
        elif "types" in has and chance.random() < 0.6:
            user["tasks"] = [
                {"demand": demand(), "count": chance.choice((1, 1, 2, 3))}
                | ({"machines": _some(chance, classes)} if classes and chance.random() < 0.3 else {})
                for _ in range(chance.choice((1, 2, 2)))
            ]
        else:
            user["demand"] = demand()
        # Who may use all there are may use a new one too: it is closed to nobody but whom some class is closed to.
        if classes and chance.random() < 0.3 and (open_to := _some(chance, classes)) != classes:
            user["machines"] = open_to
        if "limits" in has and "demand" in user and chance.random() < 0.7:
            user["max_tasks"] = chance.choice(("0", "1", "2", "3", "7/3", "1/2", "20"))
        if has & {"weights", "last"}:
            among = (("1", "1", "2", "3", "1/2", "0.3") if "weights" in has else ("1",)) + ("0", "0") * ("last" in has)
            user["weight"] = chance.choice(among)
        if "each" in has:
            user["weight"] = {name: chance.choice(("1", "1", "2", "1/2")) for name in (*names, *_devices(has))}
        users.append(user)
    document["users"] = users
    _organise(chance, document, has, names, policy)
    return document


def _devices(has: set[str]) -> tuple[str, ...]:
    return ("dev",) if "devices" in has else ()


def _some(chance: random.Random, names: list[str]) -> list[str]:
    return [name for name in names if chance.random() < 0.6] or [chance.choice(names)]


def _organise(chance: random.Random, document: Document, has: set[str], names: tuple[str, ...], policy: str) -> None:
    leximin = policy in LEXIMIN
    amounts = ("0", "1", "2", "3", "1/2", "4/3", "6")

    def some(often: float) -> dict[str, str]:
        return {name: chance.choice(amounts) for name in names if chance.random() < often}

    def capped(promise: Mapping[str, str]) -> dict[str, str]:
        return {name: str(max(Fraction(v), Fraction(promise.get(name, 0)))) for name, v in some(0.6).items()}

    for user in document["users"]:
        if "guarantees" in has and chance.random() < 0.6:
            user["guarantee"] = some(0.7)
        if "ceilings" in has and chance.random() < 0.5:
            user["ceiling"] = capped(user.get("guarantee", {}))
        if "tiers" in has:
            user["tier"] = chance.choice((0, 0, 1))
        if "groups" in has and (path := chance.choice(("", "g", "g", "h", "g/i"))):
            user["group"] = path
    if "excluded" in has:
        document["excluded"] = [names[-1]]
    if "meaning" in has and leximin:
        document["guarantees"] = chance.choice(("surplus", "normalised"))
    if "groups" in has:
        paths = {user["group"] for user in document["users"] if "group" in user}
        document["groups"] = []
        for name in sorted(paths | {path.partition("/")[0] for path in paths}):
            promise = some(0.4) if chance.random() < 0.3 else {}
            group = {"name": name, "weight": chance.choice(("1", "1", "2", "1/3"))}
            group |= {"guarantee": promise} if promise else {}
            group |= {"ceiling": capped(promise)} if chance.random() < 0.5 else {}
            document["groups"].append(group)


# ---- changes ---------------------------------------------------------------------------------------------------------


class Edit:
    """A change: how it is written, and what it does to a document."""

    def __init__(self, text: str, edit: Callable[[Document], None]):
        self.text, self._edit = text, edit

    def __repr__(self) -> str:
        return self.text

    def made(self, document: Document) -> Document:
        """Return the document after it."""
        after = copy.deepcopy(document)
        self._edit(after)
        return after


def _now(text: str, before: Any) -> Fraction:
    """Return what ``5``, ``+2``, ``-2`` or ``+10%`` makes of an amount."""
    if text[0] not in "+-":
        return Fraction(text)
    before = Fraction(before)
    step = Fraction(text.rstrip("%")) * (before / 100 if text.endswith("%") else 1)
    return before + step


def entry_of(entries: list[Document], name: str) -> Document:
    return next(entry for entry in entries if entry["name"] == name)


def resized(entry: Document, resource: str, capacity: Fraction) -> None:
    """Devices stay as large as they are, and there are as many as fit."""
    before, devices = Fraction(entry["capacity"][resource]), entry.get("devices", {})
    entry["capacity"][resource] = str(capacity)
    if resource in devices:
        given = devices.pop(resource)
        size = Fraction(given["size"]) if isinstance(given, dict) else before / given
        if count := math.floor(capacity / size):
            devices[resource] = {"count": count, "size": str(size)}


def _without_class(document: Document, name: str) -> None:
    document["machines"] = [entry for entry in document["machines"] if entry["name"] != name]
    for user in document["users"]:
        for bearer in (user, *user.get("tasks", ())):
            if "machines" in bearer:
                bearer["machines"] = [other for other in bearer["machines"] if other != name]


def drawn_changes(chance: random.Random, document: Document) -> list[Edit]:
    """Return changes to a cluster, none that would be refused for itself; what comes of several may be."""
    found, now = [], document
    for _ in range(chance.choice((1, 1, 2, 3))):
        among = [edit for edit in (draw(chance, now) for draw in DRAWS) if edit is not None]
        edit = chance.choice(among)
        now = edit.made(now)
        found.append(edit)
    return found


def resources_of(document: Document) -> list[str]:
    return list(document["capacity"] if "capacity" in document else document["machines"][0]["capacity"])


def _amount(chance: random.Random) -> str:
    return chance.choice(("0", "1", "2", "4", "1/2", "+1", "+3", "-50%", "+100%", "5/3"))


def _add(chance: random.Random, document: Document) -> Edit | None:
    if "capacity" in document:
        name, more = chance.choice(resources_of(document)), chance.choice(("1", "2", "1/2", "5"))

        def pour(after: Document) -> None:
            after["capacity"][name] = str(Fraction(after["capacity"][name]) + Fraction(more))

        return Edit(f"add {more}*{name}", pour)
    count = chance.choice((1, 1, 2))
    if chance.random() < 0.3 and not any(entry["name"] == "new" for entry in document["machines"]):
        given = {name: chance.choice(("1", "2", "4")) for name in resources_of(document) if chance.random() < 0.8}

        def build(after: Document) -> None:
            room = {name: given.get(name, "0") for name in resources_of(after)}
            after["machines"].append({"name": "new", "count": count, "capacity": room})

        return Edit(f"add {count}*new{{{','.join(f'{name}={value}' for name, value in given.items())}}}", build)
    name = chance.choice(document["machines"])["name"]

    def more_of_it(after: Document) -> None:
        entry_of(after["machines"], name)["count"] += count

    return Edit(f"add {count}*{name}", more_of_it)


def _fewer(name: str, to: int) -> Callable[[Document], None]:
    def edit(after: Document) -> None:
        if to:
            entry_of(after["machines"], name)["count"] = to
        else:
            _without_class(after, name)

    return edit


def _remove(chance: random.Random, document: Document) -> Edit | None:
    if "capacity" in document:
        name = chance.choice(resources_of(document))
        there = Fraction(document["capacity"][name])
        if not there:
            return None
        less = there * chance.choice((1, Fraction(1, 2)))

        def pour(after: Document) -> None:
            after["capacity"][name] = str(Fraction(after["capacity"][name]) - less)

        return Edit(f"remove {less}*{name}", pour)
    entry = chance.choice(document["machines"])
    less = chance.randint(1, entry["count"])
    if less == entry["count"] and len(document["machines"]) == 1:
        return None
    return Edit(f"remove {less}*{entry['name']}", _fewer(entry["name"], entry["count"] - less))


def _set_count(chance: random.Random, document: Document) -> Edit | None:
    if "capacity" in document:
        return None
    entry = chance.choice(document["machines"])
    count = chance.choice((0, 1, 2, 4))
    if not count and len(document["machines"]) == 1:
        return None
    return Edit(f"set-count {entry['name']}={count}", _fewer(entry["name"], count))


def _set_capacity(chance: random.Random, document: Document) -> Edit | None:
    resource, value = chance.choice(resources_of(document)), _amount(chance)
    if "capacity" in document:

        def pour(after: Document) -> None:
            after["capacity"][resource] = str(_now(value, after["capacity"][resource]))

        return Edit(f"set-capacity {resource}={value}", pour)
    name = chance.choice(document["machines"])["name"]

    def each(after: Document) -> None:
        entry = entry_of(after["machines"], name)
        resized(entry, resource, _now(value, entry["capacity"][resource]))

    return Edit(f"set-capacity {name}/{resource}={value}", each)


def _scale(chance: random.Random, document: Document) -> Edit | None:
    which, times = chance.choice((*resources_of(document), "all", "all")), chance.choice(("2", "1/2", "3", "3/2"))

    def edit(after: Document) -> None:
        for resource in resources_of(after) if which == "all" else [which]:
            for entry in [after] if "capacity" in after else after["machines"]:
                resized(entry, resource, Fraction(entry["capacity"][resource]) * Fraction(times))

    return Edit(f"scale {which}={times}", edit)


def _add_user(chance: random.Random, document: Document) -> Edit | None:
    if any(user["name"] == "n" for user in document["users"]):
        return None
    demand = {name: chance.choice(("0", "1", "2", "1/2")) for name in resources_of(document)}
    if not any(map(Fraction, demand.values())):
        demand["cpu"] = "1"
    user: Document = {"name": "n", "demand": demand}
    rest = ""
    for key, among in (("weight", ("1", "2", "1/2")), ("max_tasks", ("0", "1", "3"))):
        if chance.random() < 0.4:
            user[key] = chance.choice(among)
            rest += f";{key}={user[key]}"
    there = [entry["name"] for entry in document.get("machines", ())]
    if there and chance.random() < 0.4:
        user["machines"] = _some(chance, there)
        rest += f";machines={'|'.join(user['machines'])}"
    return Edit(
        f"add-user n{{{','.join(f'{name}={value}' for name, value in demand.items())}{rest}}}",
        lambda after: after["users"].append(user),
    )


def _remove_user(chance: random.Random, document: Document) -> Edit | None:
    if len(document["users"]) == 1:
        return None
    name = chance.choice(document["users"])["name"]
    return Edit(f"remove-user {name}", lambda after: after["users"].remove(entry_of(after["users"], name)))


def _set_weight(chance: random.Random, document: Document) -> Edit | None:
    user = chance.choice(document["users"])
    value = chance.choice(("1", "2", "1/2", "3", "0"))
    if isinstance(user.get("weight"), dict):
        return None
    return Edit(f"set-weight {user['name']}={value}", setting(user["name"], "weight", value))


def _set_limit(chance: random.Random, document: Document) -> Edit | None:
    user = chance.choice(document["users"])
    if "tasks" in user:
        return None
    value = chance.choice(("0", "1", "2", "5/2", "10", "none"))
    return Edit(f"set-limit {user['name']}={value}", setting(user["name"], "max_tasks", value))


def setting(name: str, key: str, value: str) -> Callable[[Document], None]:
    def edit(after: Document) -> None:
        user = entry_of(after["users"], name)
        user.pop(key, None)
        if value != "none":
            user[key] = value

    return edit


def _set_demand(chance: random.Random, document: Document) -> Edit | None:
    user, resource = chance.choice(document["users"]), chance.choice(resources_of(document))
    if "tasks" in user:
        return None
    value = chance.choice(("0", "1", "2", "1/2", "+1", "+50%"))

    def edit(after: Document) -> None:
        demand = entry_of(after["users"], user["name"])["demand"]
        demand[resource] = str(_now(value, demand.get(resource, 0)))

    return Edit(f"set-demand {user['name']}.{resource}={value}", edit)


def _promise(key: str) -> Callable[[random.Random, Document], Edit | None]:
    def draw(chance: random.Random, document: Document) -> Edit | None:
        user, resource = chance.choice(document["users"]), chance.choice(resources_of(document))
        value = chance.choice(("0", "1", "2", "none"))

        def edit(after: Document) -> None:
            table = entry_of(after["users"], user["name"]).setdefault(key, {})
            table.pop(resource, None)
            if value != "none":
                table[resource] = value

        return Edit(f"set-{key} {user['name']}.{resource}={value}", edit)

    return draw


DRAWS: tuple[Callable[[random.Random, Document], Edit | None], ...] = (
    _add, _remove, _set_count, _set_capacity, _scale, _add_user, _remove_user, _set_demand, _set_weight,
    _promise("guarantee"), _promise("ceiling"), _set_limit,
)  # fmt: skip
"""One of every kind that there is."""


# ---- what tasks are worth --------------------------------------------------------------------------------------------


def users_of(document: Document) -> dict[str, Document]:
    """Return the users by name."""
    return {user["name"]: user for user in document["users"]}


def asked(user: Document, whole: bool) -> Fraction | None:
    """Return the tasks that a user has to run, None for no end."""
    if "tasks" in user:
        return Fraction(sum(kind.get("count", 1) for kind in user["tasks"]))
    if "max_tasks" not in user:
        return None
    most = Fraction(user["max_tasks"])
    return Fraction(math.floor(most)) if whole else most


def demand_of(user: Document, resource: str) -> Fraction:
    """Return what one task needs, of several types their mean."""
    if "demand" in user:
        return Fraction(user["demand"].get(resource, 0))
    total = sum(kind.get("count", 1) for kind in user["tasks"])
    return sum(kind.get("count", 1) * Fraction(kind["demand"].get(resource, 0)) for kind in user["tasks"]) / total


def limit(user: Document, whole: bool) -> Fraction | None:
    """Return the most tasks that a user may run by its own limit and ceiling, None for no end."""
    bounds = [most for most in [asked(user, False)] if most is not None]
    for resource, most in user.get("ceiling", {}).items():
        if need := demand_of(user, resource):
            bounds.append(Fraction(most) / need)
    if not bounds:
        return None
    return Fraction(math.floor(min(bounds))) if whole else min(bounds)


class Yardstick:
    """Levels and shares in the cluster of a document, of users that may ask for something else by now.

    Capacity, weights, promises and the incomes of groups are those of the document; demands are those of the day.
    """

    def __init__(self, document: Document, policy: str):
        self.document, self.policy = document, policy
        self.resources = resources_of(document)
        self.classes = document.get("machines") or [{"name": "", "count": 1, "capacity": document["capacity"]}]
        self.capacity = {
            r: sum(entry.get("count", 1) * Fraction(entry["capacity"][r]) for entry in self.classes)
            for r in self.resources
        }
        self.counted = [r for r in self.resources if r not in document.get("excluded", ())]
        self.there = [r for r in self.counted if self.capacity[r]]
        self.users = users_of(document)
        self.ruled = bool(
            document.get("groups")
            or any(user.get(key) for user in document["users"] for key in ("guarantee", "ceiling", "tier", "group"))
            or any(user.get("weight") in ("0", 0) for user in document["users"])
        )

    def share(self, user: Document) -> Fraction:
        """Return the dominant share of a task."""
        return max((demand_of(user, r) / self.capacity[r] for r in self.there), default=Fraction(0))

    def weights(self, user: Document) -> dict[str, Fraction]:
        """Return its weight by resource: what it was, of who was there."""
        given = self.users.get(user["name"], user).get("weight", 1)
        row = given if isinstance(given, dict) else dict.fromkeys(self.resources, given)
        return {r: Fraction(row.get(r, 1)) or Fraction(1) for r in self.resources}

    def level(self, user: Document, tasks: Fraction, placed: bool = True, whole: bool = False) -> Fraction:
        """Return the level of so many tasks; who can run nothing by itself has none, which is told as 0."""
        policy, weights = self.policy, self.weights(user)
        one = next(iter(weights.values()))
        if policy == "utilitarian":
            return self.share(user) * tasks
        if policy == "throughput":
            return tasks
        if policy == "tasks":
            return tasks / one
        if policy == "ceei" or policy.startswith("alpha:"):
            return self.share(user) * tasks / self.income(user["name"], one)
        if policy == "tsf":
            alone = self.alone(user)
            return tasks / alone / one if alone else Fraction(0)
        promised = self.users.get(user["name"], user).get("guarantee", {})
        meaning = self.document.get("guarantees", "floor")
        parts = {}
        if not tasks and not (placed and limit(user, whole) != 0):
            return Fraction(0)
        for r in self.there:
            unit, owed = self.capacity[r], Fraction(promised.get(r, 0))
            if meaning == "normalised" and owed:
                unit = owed
            held = demand_of(user, r) * tasks - (owed if meaning == "surplus" else 0)
            if demand_of(user, r) or policy not in ("drf", "per-server"):
                parts[r] = held / unit / weights[r]
        if policy == "asset":
            return sum(parts.values(), Fraction(0))
        return parts.get("cpu", Fraction(0)) if policy == "single:cpu" else max(parts.values(), default=Fraction(0))

    def income(self, name: str, weight: Fraction) -> Fraction:
        """Return what a user may spend: its weight, in a group its part of the group's."""
        path = self.users.get(name, {}).get("group", "")
        if not path:
            return weight

        def rank(user: Document) -> tuple:
            return user.get("tier", 0), Fraction(user.get("weight", 1)) == 0

        siblings = [user for user in self.document["users"] if user.get("group", "") == path]
        me = self.users[name]
        rivals = sum(
            (self.weights(user)[self.resources[0]] for user in siblings if rank(user) == rank(me)), Fraction(0)
        )
        given = {group["name"]: group for group in self.document.get("groups", ())}
        # Groups are of one rank here, tier 0.
        if rank(me) == (0, False):
            below = {p for p in self.paths() if p.rpartition("/")[0] == path}
            rivals += sum((Fraction(given.get(p, {}).get("weight", 1)) for p in below), Fraction(0))
        return self.pot(path) * weight / rivals

    def paths(self) -> set[str]:
        """Return all groups, listed or not."""
        named = {user["group"] for user in self.document["users"] if user.get("group")}
        named |= {group["name"] for group in self.document.get("groups", ())}
        return {"/".join(path.split("/")[:depth]) for path in named for depth in range(1, path.count("/") + 2)}

    def pot(self, path: str) -> Fraction:
        """Return the income of a group."""
        given = {group["name"]: group for group in self.document.get("groups", ())}

        def weight(p: str) -> Fraction:
            return Fraction(given.get(p, {}).get("weight", 1))

        parent = path.rpartition("/")[0]
        if not parent:
            return weight(path)
        rivals = sum((weight(p) for p in self.paths() if p.rpartition("/")[0] == parent), Fraction(0))
        for user in self.document["users"]:
            if user.get("group", "") == parent and not user.get("tier", 0) and Fraction(user.get("weight", 1)):
                rivals += Fraction(user.get("weight", 1))
        return self.pot(parent) * weight(path) / rivals

    def alone(self, user: Document) -> Fraction:
        """Return the tasks that a user could run if all machines were its own and open, in parts as well."""
        before = self.users.get(user["name"], user)
        kinds = before["tasks"] if "tasks" in user else [{"demand": user["demand"], "count": 1}]
        if len(self.classes) == 1 and "capacity" in self.document:
            kinds = [{"demand": {r: demand_of(user, r) for r in self.resources}, "count": 1}]
        rows = [{r: Fraction(kind["demand"].get(r, 0)) for r in self.counted} for kind in kinds]
        able = [
            (t, k)
            for t, row in enumerate(rows)
            for k, entry in enumerate(self.classes)
            if any(row.values()) and all(Fraction(entry["capacity"][r]) for r, need in row.items() if need)
        ]
        if not able or {t for t, _ in able} != set(range(len(rows))):
            return Fraction(0)
        total = sum(kind.get("count", 1) for kind in kinds)
        program = Polytope([*able, "h"])
        for k, entry in enumerate(self.classes):
            for r in self.counted:
                use = {(t, k): -rows[t][r] for t in range(len(rows)) if (t, k) in able and rows[t][r]}
                if use:
                    program.add(("room", k, r), use, entry.get("count", 1) * Fraction(entry["capacity"][r]))
        for t, kind in enumerate(kinds):
            terms = {"h": Fraction(-kind.get("count", 1), total)} | {c: Fraction(1) for c in able if c[0] == t}
            program.add(("mix", t), terms, Fraction(0))
        program.add("tasks", {"h": Fraction(1)}, Fraction(0), free=True)
        return program.maximise("tasks") or Fraction(0)
