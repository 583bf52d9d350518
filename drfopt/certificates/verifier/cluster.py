"""The instance of a file in letters, with the devices of its machines, and what may stand in one.

d[i][j]  units of resource j a task of user i needs     C[k][j]  units of j on ONE machine of class k, count[k] of
w[i][j]  weights                                                 them; a pool is one class of which there is one
u[i]     most tasks, None for no limit                  room     count[k] * C[k][j], and cluster its sum over k
kinds    her tasks that are alike: one entry a user, but one for each of her task types on machines
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .exact_sums import over_one, total
from .keys import all_known
from .reading import Numbered, number
from .work import spend

__all__ = ["Cluster", "DevicesOf", "Kind", "devices_of", "integers", "taken"]

DevicesOf = dict[int, tuple[Fraction, Fraction]]
"""By resource (its number) how many devices one machine has, and how much is on each."""


def _numbered(group: dict[str, Any]) -> dict[str, Any]:
    """Return a group with its amounts as numbers, however they were written."""
    tables = {key: {r: number(v) for r, v in group[key].items()} for key in ("ceiling", "guarantee") if key in group}
    return group | {key: number(group[key]) for key in ("weight", "tier") if key in group} | tables


def devices_of(
    given: Mapping[str, Any], row: Sequence[Fraction], resources: Sequence[str], number: Callable[[Any], Fraction]
) -> DevicesOf:
    """Return the devices of one machine with so much of each resource, from their count and, where it is told, size."""
    found = {}
    for resource, said in given.items():
        j, told = resources.index(resource), isinstance(said, dict)
        count = number(said["count"] if told else said)
        size = number(said["size"]) if told else row[j] / (count or 1)
        if not 1 <= count <= MOST_DEVICES or count.denominator > 1 or size <= 0 or count * size > row[j]:
            raise ValueError(f"{count} devices do not make up {row[j]} of {resource!r}")
        found[j] = count, size
    return found


def taken(devices: DevicesOf, d: Sequence[Fraction]) -> dict[int, Fraction] | None:
    """Return how many devices a task takes of each resource; None where one of these cannot be."""
    needs = {j: d[j] / size for j, (_, size) in devices.items()}
    torn = any(need > 1 and need.denominator > 1 for need in needs.values())
    return None if torn or any(need > devices[j][0] for j, need in needs.items()) else needs


def integers(demands: list[list[Fraction]], capacity: Sequence[Fraction]) -> tuple[list[list[int]], list[int]]:
    """Return demands and what there is in units in which every demand is an integer, resource by resource."""
    columns, room = [], []
    for j, most in enumerate(capacity):
        unit = math.lcm(*(row[j].denominator for row in demands))
        column = [int(row[j] * unit) for row in demands]
        step = math.gcd(*column) or 1
        columns.append([d // step for d in column])
        room.append(math.floor(most * unit) // step)
    return [list(row) for row in zip(*columns, strict=True)], room


CELLS_A_STEP = 2
"""Cells of a table of which a file need say nothing, and which are passed over as fast as one step is counted."""

MOST_COUNTED, MOST_DEVICES, HIGHEST_TIER = 2**53, 10_000, 2**53
"""Of machines in a class and tasks of a type, of devices in a machine, and of tiers: what an instance may have."""

NOTHING_OR_LESS = "an amount of the instance is negative, or a weight, count or user's demand is nothing"

MEANINGS = ("floor", "surplus", "normalised")
"""What guarantees may mean: levels count all, what is above them, or count in them instead of in capacities."""


@dataclass(frozen=True)
class Kind:
    """Tasks of user `owner` that are alike: they are this part of hers, one needs d, and may run on these classes."""

    owner: int
    part: Fraction
    d: list[Fraction]
    open: frozenset[int]


class Cluster:
    """The instance in the letters above, from the data of an instance file."""

    def __init__(self, data: dict[str, Any]):
        all_known(data)
        self.data = data
        self.pool = "machines" not in data
        classes = [{"name": "", "capacity": data["capacity"]}] if self.pool else data["machines"]
        self.classes = Numbered("class", (c["name"] for c in classes))
        counts = [number(c.get("count", 1)) for c in classes]
        if any(count.denominator > 1 or count > MOST_COUNTED for count in counts):
            raise ValueError(f"a count of machines is no whole number up to {MOST_COUNTED:,}")
        self.count = list(map(int, counts))
        self.resources = Numbered("resource", dict.fromkeys(r for c in classes for r in c["capacity"]))
        self.C = [self._row(c["capacity"], 0) for c in classes]
        shared = [c.get("devices", {}) for c in classes]
        self.devices = [devices_of(*pair, self.resources, number) for pair in zip(shared, self.C, strict=True)]
        self.room = [[n * c for c in row] for n, row in zip(self.count, self.C, strict=True)]
        self.cluster: list[Any] = [sum(column) for column in zip(*self.room, strict=True)]
        users = [self._average(user) for user in data["users"]]
        self.typed = [i for i, user in enumerate(data["users"]) if "tasks" in user]
        self.users = [user["name"] for user in users]
        self.d = [self._row(user["demand"], 0) for user in users]
        given = [user.get("weight", 1) for user in users]
        last = [not isinstance(w, dict) and not number(w) for w in given]
        self.weighed = any(isinstance(w, dict) for w in given)  # One weight a resource, though they may be equal.
        self.w = [
            self._row(w if isinstance(w, dict) else dict.fromkeys(self.resources, 1 if late else w), 1)
            for w, late in zip(given, last, strict=True)
        ]
        self.max_tasks = [None if user.get("max_tasks") is None else number(user["max_tasks"]) for user in users]
        self.u = [self._most(user, row) for user, row in zip(users, self.d, strict=True)]
        # Whoever is served later, and what is promised, in the order of tiers; weights of 0 come last in theirs.
        self.rank = [(-number(user.get("tier", 0)), late) for user, late in zip(users, last, strict=True)]
        self.guarantee = [self._row(user.get("guarantee", {}), 0) for user in users]
        self.floor = [self._promise(i, user) for i, user in enumerate(users)]
        self.excluded = {self.resources.index(r) for r in data.get("excluded", ())}
        self.meaning = data.get("guarantees", "floor")
        if self.meaning not in MEANINGS:
            raise ValueError(f"guarantees that mean {self.meaning!r} are nothing that the verifier knows")
        self.ordered = len(set(self.rank)) > 1 or any(last) or any("guarantee" in user for user in users)
        self.groups = [_numbered(group) for group in data.get("groups", [])]
        self.paths = [str(user.get("group", "")) for user in users]
        self.ruled = bool(self.groups) or any(self.paths)
        self.ceilings = [
            (group["name"], self.resources.index(r), number(most), self._below(group["name"], users))
            for group in self.groups
            for r, most in group.get("ceiling", {}).items()
        ]
        if len(set(self.users)) < len(users) or len(set(self.classes)) < len(self.classes):
            raise ValueError("two users, or two classes, have one name")
        names = (*self.users, *self.resources, *(g["name"] for g in self.groups), *(() if self.pool else self.classes))
        if not all(names):
            raise ValueError("some name is empty")
        owners = [*users, *self.groups]
        tiers = [owner.get("tier", 0) for owner in (*users, *data.get("groups", ()))]
        if any(isinstance(t, str) or number(t).denominator > 1 or abs(number(t)) > HIGHEST_TIER for t in tiers):
            raise ValueError(f"a tier is no whole number from {-HIGHEST_TIER:,} to {HIGHEST_TIER:,}")
        tables = [table for user in data["users"] for table in (user, *user.get("tasks", ())) if "machines" in table]
        if (self.pool and tables) or {name for table in tables for name in table["machines"]} - set(self.classes):
            raise ValueError("some user lists machines that are none of the cluster's classes")
        pairs = [(number(v), u.get("ceiling", {}).get(r)) for u in owners for r, v in u.get("guarantee", {}).items()]
        if any(most is not None and v > number(most) for v, most in pairs):
            raise ValueError("a guarantee is above its ceiling")
        listed = [group["name"] for group in self.groups]
        if listed and any(p and not any(f"{name}/".startswith(f"{p}/") for name in listed) for p in self.paths):
            raise ValueError("a user is in a group that is not there")
        self.caps = [{r: number(v) for r, v in user.get("ceiling", {}).items()} for user in data["users"]]
        rest = [number(group.get("weight", 1)) for group in self.groups] + [v for v, _ in pairs]
        told = [
            rest,
            *self.C,
            *self.d,
            *self.guarantee,
            [u or number(0) for u in self.u],
            [c[2] for c in self.ceilings],
        ]
        sizes = [v for row in (*told, *(row.values() for row in self.caps)) for v in row]
        if min(sizes) < 0 or min(map(min, self.w)) <= 0 or min(map(max, self.d)) <= 0 or min(self.count) < 1:
            raise ValueError(NOTHING_OR_LESS)
        self.types = {i: self._types(i, data["users"][i]) for i in self.typed}
        self.kinds = [kind for i, user in enumerate(data["users"]) for kind in self._kinds(i, user)]
        self.kinds_of: list[list[int]] = [[] for _ in users]
        for q, kind in enumerate(self.kinds):
            self.kinds_of[kind.owner].append(q)
        # What a task of each kind needs, in units so small that these are integers.
        self.unit, flat = over_one([v for kind in self.kinds for v in kind.d])
        m = len(self.resources)
        self.needs = [flat[at : at + m] for at in range(0, len(flat), m)]

    def _most(self, user: dict[str, Any], demand: list[Fraction]) -> Fraction | None:
        """Return the most tasks of a user: her limit, or those at which she meets a ceiling of hers."""
        needs = dict(zip(self.resources, demand, strict=True))
        bounds = [number(most) / needs[r] for r, most in user.get("ceiling", {}).items() if needs[r]]
        bounds += [] if user.get("max_tasks") is None else [number(user["max_tasks"])]
        return min(bounds) if bounds else None

    def _promise(self, i: int, user: dict[str, Any]) -> Fraction:
        """Return the tasks at which a user uses up the first resource of its guarantee, or is at its limit."""
        needs = dict(zip(self.resources, self.d[i], strict=True))
        worth = [number(most) / needs[r] for r, most in user.get("guarantee", {}).items() if needs[r]]
        return min([*worth, *([] if self.u[i] is None else [self.u[i]])]) if worth else number(0)

    def _below(self, group: str, users: list[dict[str, Any]]) -> list[int]:
        spend(0, 1 + len(users))
        return [i for i, user in enumerate(users) if f"{user.get('group', '')}/".startswith(f"{group}/")]

    def _average(self, user: dict[str, Any]) -> dict[str, Any]:
        """Return a user with task types as one whose tasks are their average, of which she has their number."""
        if "tasks" not in user:
            return user
        counts = [number(kind["count"]) for kind in user["tasks"]]
        rows = [self._row(kind["demand"], 0) for kind in user["tasks"]]
        if not rows or min(counts) <= 0 or min(map(min, rows)) < 0 or min(map(max, rows)) <= 0:
            raise ValueError(NOTHING_OR_LESS)  # Of the average alone, one type could hide another's negative amount.
        mix = [
            total(n * d for n, d in zip(counts, column, strict=True)) / sum(counts)
            for column in zip(*rows, strict=True)
        ]
        most = [sum(counts), *([number(user["max_tasks"])] if user.get("max_tasks") is not None else [])]
        return user | {"demand": dict(zip(self.resources, mix, strict=True)), "max_tasks": min(most)}

    def _kinds(self, i: int, user: dict[str, Any]) -> list[Kind]:
        """Return the kinds of a user: in a pool all her tasks are as the average is."""
        if "tasks" not in user or self.pool:
            return [Kind(i, number(1), self.d[i], self._classes(user, set(self.classes)))]
        return [kind for kind, _ in self.types[i]]

    def _types(self, i: int, user: dict[str, Any]) -> list[tuple[Kind, int]]:
        """Return the types of a user's tasks, and how many there are of each."""
        own, counts = set(user.get("machines", self.classes)), [number(kind["count"]) for kind in user["tasks"]]
        if any(count.denominator > 1 or count > MOST_COUNTED for count in counts):
            raise ValueError(f"a count of tasks is no whole number from 1 to {MOST_COUNTED:,}")
        return [
            (Kind(i, count / sum(counts), self._row(kind["demand"], 0), self._classes(kind, own)), int(count))
            for kind, count in zip(user["tasks"], counts, strict=True)
        ]

    def _classes(self, given: dict[str, Any], own: set[str]) -> frozenset[int]:
        spend(0, 1 + len(self.classes) // CELLS_A_STEP)
        names = own & set(given["machines"]) if "machines" in given else own
        return frozenset(k for k, name in enumerate(self.classes) if name in names)

    def _row(self, row: Mapping[str, Any], missing: int) -> list[Fraction]:
        if strange := set(row) - set(self.resources):
            raise ValueError(f"{min(strange)!r} is no resource of the cluster")
        spend(0, 1 + len(self.resources) // CELLS_A_STEP)
        blank = Fraction(missing)
        return [number(row[r]) if r in row else blank for r in self.resources]

    @property
    def amounts(self) -> bool:
        """Whether somebody, or a group, is promised something, or a group has a ceiling: of the whole cluster."""
        return any(map(any, self.guarantee)) or any(g.get("guarantee") or g.get("ceiling") for g in self.groups)

    def machine(self, k: int, users: Sequence[int], whole: bool = True) -> "Cluster":
        """Return one machine of class k as a cluster of these users, without their limits; devices are a machine's.

        Or, where tasks are not `whole`, all machines of the class as a pool.
        """

        def told(row: Sequence[Fraction]) -> dict[str, Fraction]:
            return dict(zip(self.resources, row, strict=True))

        rows = [
            {
                "name": self.users[i],
                "demand": told(self.d[i]),
                "weight": 0 if self.rank[i][1] else told(self.w[i]),
                "tier": -self.rank[i][0],
                "group": self.paths[i],
            }
            for i in users
        ]
        room: dict[str, Any] = {"capacity": told((self.C if whole else self.room)[k])}
        if whole and self.devices[k]:
            shared = {self.resources[j]: {"count": n, "size": size} for j, (n, size) in self.devices[k].items()}
            room = {"machines": [room | {"name": self.classes[k], "devices": shared}]}
        excluded = [self.resources[j] for j in self.excluded]
        return Cluster(room | {"users": rows, "excluded": excluded, "groups": self.groups})

    def fits(self, kind: Kind, whole: bool) -> list[int]:
        """Return the classes on which a kind can run: a task fits on one machine; of a pool it may take a part."""
        part = self.pool and not whole
        spend(0, 1 + len(self.C) * len(self.resources) // CELLS_A_STEP)
        runs = (all(c >= d or (part and c > 0) for c, d in zip(row, kind.d, strict=True)) for row in self.C)
        return [
            k for k, fine in enumerate(runs) if fine and k in kind.open and taken(self.devices[k], kind.d) is not None
        ]

    def lines(self, i: int, policy: str, most: Mapping[int, Fraction]) -> list[tuple[Fraction, Fraction]]:
        """Return slopes and offsets: the level is the largest slope * x - offset; `most` are tasks run alone."""
        word, _, argument = policy.partition(":")
        plain = word == "utilitarian" or (word == "alpha" and number(argument) == 0)
        nothing = number(0)
        if word == "tsf":
            cells = [(j, d) for j, d in enumerate(self.d[i]) if d and j not in self.excluded]
            alone = most.get(i, total(min((room[j] / d for j, d in cells), default=nothing) for room in self.room))
            return [(1 / alone / self.w[i][0] if alone else nothing, nothing)]
        if word in ("tasks", "throughput"):
            return [(1 / self.w[i][0] if word == "tasks" else number(1), nothing)]
        found, rows = [], zip(self.d[i], self.cluster, self.w[i], self.guarantee[i], strict=True)
        for j, (d, c, w, promised) in enumerate(rows):
            if not c or j in self.excluded or (word == "single" and self.resources[j] != argument):
                continue
            unit = (promised if promised and self.meaning == "normalised" else c) * (1 if plain else w)
            found.append((d / unit, promised / unit if self.meaning == "surplus" else nothing))
        if word == "asset":
            found = [(total(slope for slope, _ in found), total(offset for _, offset in found))]
        elif not any(offset for _, offset in found):  # The steepest is above the others.
            found = [max(found, default=(nothing, nothing))]
        return [line for line in found if line[0]] or [(nothing, nothing)]  # What it does not need counts in none.
