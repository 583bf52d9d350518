"""Random instances of a campaign, tiny and degenerate on purpose, as plain rows of which the oracle reads fractions.

A number is an integer, a decimal, a float or a string such as ``1/3``: what it stands for is ``exact(number)``.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from drfopt import Group, Instance, Machine, Organisation, TaskType

__all__ = ["Case", "Type", "bounded", "drawn", "exact", "skewed", "whole"]

MODES = {"divisible": {}, "exact": {"exact": True}, "whole": {"integer": True}}
LEXIMIN = ("drf", "drf", "asset", "tasks", "tsf", "single:r0")
SUMS = ("utilitarian", "throughput")
MARKETS = ("ceei", "ceei", "alpha:2", "alpha:0.5", "alpha:7")
SKEWED = ("ceei", "ceei", "ceei", "alpha:0.5", "alpha:2", "alpha:5", "alpha:7")
PATHS = ("", "a", "b", "a/x", "a/y")


def exact(number: Any) -> Fraction:
    """Return what a number stands for; a float for its shortest decimal."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


@dataclass(frozen=True)
class Type:
    """A task type of a user: demand (m,), count, and the classes it may use, None for all."""

    demand: Sequence
    count: int
    machines: Sequence[int] | None = None


@dataclass(frozen=True)
class Case:
    """An instance in plain rows, and what is asked of it."""

    style: str
    policy: str
    mode: str
    demands: list
    capacity: list | None
    machines: list = field(default_factory=list)
    open_to: list | None = None
    weights: list | None = None
    limits: list | None = None
    types: dict[int, list[Type]] = field(default_factory=dict)
    guarantees: dict[int, dict] = field(default_factory=dict)
    ceilings: dict[int, dict] = field(default_factory=dict)
    tiers: dict[int, int] = field(default_factory=dict)
    paths: dict[int, str] = field(default_factory=dict)
    groups: tuple[Group, ...] = ()
    meaning: str = "floor"
    excluded: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        return len(self.demands)

    @property
    def m(self) -> int:
        return len(self.demands[0])

    @property
    def organised(self) -> bool:
        """Whether there are rules beyond the users' own ceilings, which are limits."""
        rules = (*self.guarantees.values(), *self.tiers.values(), self.paths, self.groups, self.excluded)
        return any(rules) or any(self.last)

    @property
    def last(self) -> list[bool]:
        """Who has weight 0."""
        return [not isinstance(w, list) and exact(w) == 0 for w in self.weights or [1] * self.n]

    @property
    def kind(self) -> str:
        """Which row of the table it belongs to."""
        cluster = "machines" if self.machines else "pool"
        return f"{cluster}, {self.mode}{', organised' if self.organised else ''}"

    def instance(self) -> Instance:
        """Return it as the package takes it."""
        users = [f"u{i}" for i in range(self.n)]
        resources = [f"r{j}" for j in range(self.m)]
        rows: list[Any] = [dict(zip(resources, row, strict=True)) for row in self.demands]
        for i, kinds in self.types.items():
            rows[i] = [
                TaskType(
                    dict(zip(resources, kind.demand, strict=True)),
                    kind.count,
                    None if kind.machines is None else [f"c{k}" for k in kind.machines],
                )
                for kind in kinds
            ]
        cluster: dict[str, Any] = {"capacity": None}
        if self.machines:
            cluster["machines"] = [
                Machine(f"c{k}", dict(zip(resources, row, strict=True)), count)
                for k, (row, count) in enumerate(self.machines)
            ]
            if self.open_to is not None:
                cluster["eligible"] = {
                    u: [f"c{k}" for k, yes in enumerate(row) if yes] for u, row in zip(users, self.open_to, strict=True)
                }
        else:
            cluster["capacity"] = dict(zip(resources, self.capacity or (), strict=True))
        weights = {
            u: dict(zip(resources, w, strict=True)) if isinstance(w, list) else w
            for u, w in zip(users, self.weights or [], strict=False)
        }
        rules = None
        if self.organised or any(self.ceilings.values()):
            named = {
                name: {users[i]: value for i, value in getattr(self, name).items()}
                for name in ("guarantees", "ceilings", "tiers", "paths")
            }
            rules = Organisation(**named, groups=self.groups, meaning=self.meaning, excluded=self.excluded)
        return Instance(
            dict(zip(users, rows, strict=True)),
            **cluster,
            weights=weights or None,
            max_tasks=dict(zip(users, self.limits, strict=True)) if self.limits else None,
            organisation=rules,
        )


# ---- numbers ---------------------------------------------------------------------------------------------------------

AMOUNTS = {
    "small": (0, 0, 1, 1, 2, 3, 5),
    "tied": (0, 1, 1, 1, 2),
    "decimal": (0, "0.1", "0.3", 0.1, 0.7, "1/3", "2.5", 1),
    "ratios": (0, 1, 3, 10**6, "1e-6", 10**12, "0.000000000001"),
    "ends": (0, 1.5e-140, 3e-140, 1e-141, 2.5e-139),
    "long": (0, 0.1234567890123456, 0.9876543210987654, 1.0000000000000002, 3.3333333333333335),
}
ROOMS = {
    "small": (1, 2, 6, 9, 12, 18),
    "tied": (2, 4, 4, 8),
    "decimal": ("0.9", 1, "7/2", 2.7, 10, "0.3"),
    "ratios": (1, 7, 10**6, 10**12, "1e-6", 3),
    "ends": (1e-140, 1.7e-138, 2.2e-139),
    "long": (7.000000000000001, 9.87654321098765, 1),
}
OFTEN = ("small", "small", "tied", "decimal", "ratios", "long") * 5 + ("ends",)
WEIGHTS = {"ratios": (1, 10**6, "1e-6", 3), "ends": (1, 1e-150, 2, 1e150)}


def drawn(seed: int, number: int) -> Case:
    """Return the instance of that number, and what is asked of it."""
    chance = random.Random(f"{seed}/{number}")
    mode = chance.choices(tuple(MODES), (60, 22, 18))[0]
    on_machines = chance.random() < (0.3 if mode != "whole" else 0.35)
    organised = mode != "whole" and chance.random() < 0.22
    style = chance.choice(OFTEN if mode != "whole" else ("small", "small", "tied", "decimal"))
    n, m = chance.choice((1, 2, 2, 3, 3, 4, 5)), chance.choice((1, 2, 2, 3))
    if on_machines or mode == "whole":
        n = min(n, 3 if mode == "whole" else 4)
    policy = _policy(chance, mode, organised)
    demands = _demands(chance, style, n, m)
    rooms = ROOMS[style]
    if mode == "whole" and chance.random() < 0.1:
        # Whole tasks of any size: the same counts in other units.
        demands, rooms = [[exact(d) * 10**9 for d in row] for row in demands], [exact(c) * 10**9 for c in rooms]
    case: dict[str, Any] = {"style": style, "policy": policy, "mode": mode, "demands": demands, "capacity": None}
    if on_machines:
        k = chance.choice((1, 2, 2, 3))
        case["machines"] = [(_room(chance, rooms, m), chance.choice((1, 1, 2, 3))) for _ in range(k)]
        if chance.random() < 0.6:
            case["open_to"] = [[chance.random() < 0.7 for _ in range(k)] for _ in range(n)]
    else:
        case["capacity"] = _room(chance, rooms, m)
    if chance.random() < 0.5:
        case["weights"] = _weights(chance, style, policy, n, m, organised)
    if chance.random() < 0.4:
        case["limits"] = [chance.choice((None, None, 0, 1, 2, "1/2", "7/3", 0.1, 10**6)) for _ in range(n)]
    elif chance.random() < 0.15 and (mode != "whole" or chance.random() < 0.1):
        case["types"] = _types(chance, style, n, m, len(case.get("machines", ())))
    if organised:
        case |= _rules(chance, n, m, [exact(r) for r in rooms])
    elif chance.random() < 0.05:
        case["ceilings"] = {0: {"r0": chance.choice(rooms)}}
    if mode == "whole" and "ceilings" not in case:
        # Drawn apart, so that what was found at a number before is found there still.
        _rules_of_whole(random.Random(f"whole {seed}/{number}"), case, [exact(r) for r in rooms])
    return Case(**_with_averages(case))


def skewed(seed: int, number: int) -> Case:
    """Return a market of that number, whose demands, capacities, weights and limits are up to 10^6 apart."""
    chance = random.Random(f"market {seed}/{number}")
    on_machines = number % 5 == 0
    n, m = chance.randint(1, 4 if on_machines else 6), chance.randint(1, 4)

    def amount(digits: int = 17) -> float:
        return float(f"{10 ** chance.uniform(-3, 3):.{digits - 1}e}")

    digits = chance.choice((1, 3, 17))
    demands = [[amount(digits) * (chance.random() < 0.75) for _ in range(m)] for _ in range(n)]
    for row in demands:
        row[chance.randrange(m)] = amount(digits)
    case: dict[str, Any] = {"capacity": [amount(digits) for _ in range(m)]}
    if on_machines:
        k = chance.randint(1, 3)
        rows = [([amount(digits) for _ in range(m)], chance.choice((1, 1, 2, 30))) for _ in range(k)]
        case = {"capacity": None, "machines": rows}
        if chance.random() < 0.6:
            case["open_to"] = [[chance.random() < 0.7 for _ in range(k)] for _ in range(n)]
    if chance.random() < 0.5:
        case["weights"] = [amount(digits) for _ in range(n)]
    if chance.random() < 0.4:
        case["limits"] = [amount(digits) if chance.random() < 0.5 else None for _ in range(n)]
    policy = chance.choice(SKEWED)
    exact_too = chance.random() < 0.1
    return Case("skewed", policy, "exact" if exact_too else "divisible", demands, **case)


def bounded(seed: int, number: int) -> Case:
    """Return a market or a sum of that number, of divisible tasks under guarantees, ceilings and groups."""
    chance = random.Random(f"bounded {seed}/{number}")
    style = chance.choice(("small", "small", "tied", "decimal", "long", "ratios"))
    n, m = chance.choice((1, 2, 3, 3, 4, 5)), chance.choice((1, 2, 2, 3))
    demands, rooms = _demands(chance, style, n, m), ROOMS[style]
    case: dict[str, Any] = {"capacity": None}
    if chance.random() < 0.5:
        case["machines"] = [(_room(chance, rooms, m), chance.choice((1, 1, 2))) for _ in range(chance.choice((1, 2)))]
        if chance.random() < 0.5:
            case["open_to"] = [[chance.random() < 0.8 for _ in case["machines"]] for _ in range(n)]
        if chance.random() < 0.3:
            case["types"] = _types(chance, style, n, m, len(case["machines"]))
    else:
        case["capacity"] = _room(chance, rooms, m)
    if chance.random() < 0.5:
        among = (1, 1, 2, 3, "1/2", 0.3)
        case["weights"] = [chance.choice(among) for _ in range(n)]
    if chance.random() < 0.3 and "types" not in case:
        case["limits"] = [chance.choice((None, None, 0, 1, 2, "1/2", "7/3", 0.1)) for _ in range(n)]
    case |= _rules(chance, n, m, [exact(r) for r in rooms]) | {"tiers": {}, "meaning": "floor"}
    promised = chance.random() < 0.1
    case["groups"] = tuple(
        replace(group, tier=0, weight=group.weight or 1, guarantee=group.guarantee if promised else {})
        for group in case.get("groups", ())
    )
    policy = chance.choice(("ceei", "ceei", "alpha:0.5", "alpha:2", "utilitarian", "throughput"))
    mode = "exact" if chance.random() < 0.3 else "divisible"
    if policy in ("utilitarian", "throughput") and not case.get("paths") and chance.random() < 0.5:
        case["tiers"] = {i: chance.choice((0, 0, 1, -1)) for i in range(n)}
    return Case(style, policy, mode, **_with_averages({"demands": demands} | case))


def whole(seed: int, number: int) -> Case:
    """Return whole tasks of that number: even, under rules on machines; odd, alpha fairness of several types."""
    chance = random.Random(f"whole tasks {seed}/{number}")
    of_types = number % 2 == 1
    style = chance.choice(("small", "tied", "decimal"))
    n, m = chance.choice((1, 2, 2, 3, 3, 4)), chance.choice((1, 1, 2))
    rooms = {"small": (1, 2, 3, 4, 6), "tied": (2, 3, 4), "decimal": (1, "0.9", "3/2", 2.7)}[style]
    case: dict[str, Any] = {"demands": _demands(chance, style, n, m), "capacity": None}
    if of_types and chance.random() < 0.5:
        case["capacity"] = _room(chance, ROOMS[style], m)
    else:
        case["machines"] = [(_room(chance, rooms, m), chance.choice((1, 1, 2))) for _ in range(chance.choice((1, 2)))]
        if chance.random() < 0.4:
            case["open_to"] = [[chance.random() < 0.7 for _ in case["machines"]] for _ in range(n)]
    if chance.random() < 0.5:
        case["weights"] = [chance.choice((1, 1, 2, 3, "1/2", 0.3)) for _ in range(n)]
    if of_types:
        policy = chance.choice(("alpha:0.5", "alpha:2", "alpha:3", "alpha:7", "alpha:1.5", "alpha:0.25"))
        case["types"] = _types(chance, style, n, m, len(case.get("machines", ())))
    else:
        policy = chance.choice(("drf", "drf", "drf", "asset", "tasks", "ceei", "alpha:2", "alpha:0.5", "utilitarian"))
        if chance.random() < 0.3:
            case["limits"] = [chance.choice((None, None, 0, 1, 2, "7/3")) for _ in range(n)]
        elif chance.random() < 0.2:
            case["types"] = _types(chance, style, n, m, len(case["machines"]))
    if not of_types or chance.random() < 0.3:
        case |= _rules(chance, n, m, [exact(r) for r in rooms])
        if policy not in LEXIMIN:
            case |= {"tiers": {}, "meaning": "floor"}
            case["groups"] = tuple(replace(group, tier=0, weight=group.weight or 1) for group in case.get("groups", ()))
    return Case(style, policy, "whole", **_with_averages(case))


def servers(seed: int, number: int) -> Case:
    """Return the instance of that number of `per-server`, whole, divisible or exact; some resources may not count.

    Of tasks that are not whole there may be tiers and weights of 0.
    """
    chance = random.Random(f"servers {seed}/{number}")
    mode = ("whole", "divisible", "whole", "exact")[number % 4]
    style = chance.choice(("small", "small", "tied", "decimal") if mode == "whole" else OFTEN)
    n, m = chance.choice((1, 2, 3, 3, 4)), chance.choice((1, 2, 2, 3))
    case: dict[str, Any] = {"demands": _demands(chance, style, n, m), "capacity": None}
    if chance.random() < 0.15:
        case["capacity"] = _room(chance, ROOMS[style], m)
    else:
        k = chance.choice((1, 2, 2, 3))
        case["machines"] = [(_room(chance, ROOMS[style], m), chance.choice((1, 1, 2, 3))) for _ in range(k)]
        if chance.random() < 0.5:
            case["open_to"] = [[chance.random() < 0.7 for _ in range(k)] for _ in range(n)]
    if chance.random() < 0.6:
        case["weights"] = _weights(chance, style, "per-server", n, m, False)
    if m > 1 and chance.random() < 0.3:
        case["excluded"] = (f"r{chance.randrange(m)}",)
    if mode != "whole" and n > 1 and chance.random() < 0.4:
        case["tiers"] = {i: chance.choice((-1, 0, 0, 1)) for i in range(n)}
        if case.get("weights") and not any(isinstance(w, list) for w in case["weights"]) and chance.random() < 0.5:
            case["weights"] = [chance.choice((0, 1, weight)) for weight in case["weights"]]
    return Case(style, "per-server", mode, **case)


def _rules_of_whole(chance: random.Random, case: dict[str, Any], rooms: list[Fraction]) -> None:
    """Give a case of whole tasks several types, or an organisation, or both; more often neither."""
    n, m = len(case["demands"]), len(case["demands"][0])
    if chance.random() < 0.2 and "limits" not in case:
        case["types"] = _types(chance, case["style"], n, m, len(case.get("machines", ())))
    if chance.random() < 0.3:
        case |= _rules(chance, n, m, rooms)
        if case["policy"] not in LEXIMIN:
            case |= {"tiers": {}, "meaning": "floor"}
            case["groups"] = tuple(replace(group, tier=0, weight=group.weight or 1) for group in case.get("groups", ()))


def _policy(chance: random.Random, mode: str, organised: bool) -> str:
    if organised and chance.random() < 0.97:
        return chance.choice(LEXIMIN)
    among = [LEXIMIN] * 6 + [SUMS, SUMS] + [MARKETS] * (2 if mode == "divisible" else 1)
    if mode == "whole":
        return chance.choice(chance.choice([LEXIMIN, LEXIMIN, SUMS, MARKETS]))
    if mode != "whole" and chance.random() < 0.05:
        return "per-server"
    return chance.choice(chance.choice(among))


def _demands(chance: random.Random, style: str, n: int, m: int) -> list[list]:
    rows: list[list] = []
    for _ in range(n):
        if rows and chance.random() < 0.25:
            rows.append(list(chance.choice(rows)))
            continue
        row = [chance.choice(AMOUNTS[style]) for _ in range(m)]
        if not any(map(exact, row)):
            row[chance.randrange(m)] = AMOUNTS[style][-1]
        rows.append(row)
    return rows


def _room(chance: random.Random, rooms: Sequence, m: int) -> list:
    return [0 if chance.random() < 0.04 else chance.choice(rooms) for _ in range(m)]


def _weights(chance: random.Random, style: str, policy: str, n: int, m: int, organised: bool) -> list:
    among = WEIGHTS.get(style, (1, 1, 2, 3, "1/2", 0.3))
    weights: list = [chance.choice(among) for _ in range(n)]
    if chance.random() < 0.2 and (policy in ("drf", "asset", "per-server") or chance.random() < 0.1):
        weights = [[chance.choice(among) for _ in range(m)] for _ in range(n)]
    elif organised and chance.random() < 0.3:
        weights[chance.randrange(n)] = 0
    return weights


def _types(chance: random.Random, style: str, n: int, m: int, k: int) -> dict[int, list[Type]]:
    def one() -> Type:
        classes = None if not k or chance.random() < 0.6 else sorted(chance.sample(range(k), chance.randint(1, k)))
        return Type(_demands(chance, style, 1, m)[0], chance.choice((1, 1, 2, 3, 5)), classes)

    return {i: [one() for _ in range(chance.choice((1, 2, 2)))] for i in range(n) if chance.random() < 0.5}


def _with_averages(case: dict[str, Any]) -> dict[str, Any]:
    """Put the average task of its types in a user's row, which is what the oracle of a pool reads."""
    for i, kinds in case.get("types", {}).items():
        total = sum(kind.count for kind in kinds)
        case["demands"][i] = [
            sum(kind.count * exact(kind.demand[j]) for kind in kinds) / total for j in range(len(case["demands"][i]))
        ]
    return case


def _rules(chance: random.Random, n: int, m: int, rooms: list[Fraction]) -> dict[str, Any]:
    resources = [f"r{j}" for j in range(m)]

    def amounts(often: float) -> dict[str, Any]:
        parts = (Fraction(0), Fraction(1, 8), Fraction(1, 4), Fraction(1, 2), Fraction(1))
        return {r: chance.choice(rooms) * chance.choice(parts) for r in resources if chance.random() < often}

    def capped(promise: dict) -> dict[str, Any]:
        return {r: max(most, promise.get(r, Fraction(0))) for r, most in amounts(0.5).items()}

    rules: dict[str, Any] = {}
    if chance.random() < 0.6:
        rules["guarantees"] = {i: amounts(0.6) for i in range(n) if chance.random() < 0.5}
    if chance.random() < 0.4:
        promised = rules.get("guarantees", {})
        rules["ceilings"] = {i: capped(promised.get(i, {})) for i in range(n) if chance.random() < 0.4}
    if chance.random() < 0.4:
        rules["tiers"] = {i: chance.choice((0, 0, 1, -1)) for i in range(n)}
    if chance.random() < 0.4:
        paths = {i: chance.choice(PATHS) for i in range(n)}
        rules["paths"] = {i: path for i, path in paths.items() if path}
        if chance.random() < 0.7:
            names = {p for path in paths.values() if path for p in (path, path.partition("/")[0])}
            found = []
            for name in sorted(names):
                promise = amounts(0.25)
                weight, tier = chance.choice((0, 1, 1, 2, Fraction(1, 3))), chance.choice((0, 0, 0, 1))
                found.append(Group(name, weight, promise, capped(promise) if chance.random() < 0.5 else {}, tier))
            rules["groups"] = tuple(found)
    if chance.random() < 0.15:
        rules["meaning"] = chance.choice(("surplus", "normalised"))
    if m > 1 and chance.random() < 0.1:
        rules["excluded"] = (resources[-1],)
    return rules
