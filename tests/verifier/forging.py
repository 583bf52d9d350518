"""Files with one thing changed, and whether what they then claim is so all the same: for every kind of certificate."""

import copy
import json
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from drfopt import solve
from drfopt.base.errors import DrfoptError
from drfopt.certificates.document import certificate_document
from drfopt.certificates.verifier import loads, number, verify
from drfopt.io.native.reading import loads as read
from drfopt.model.policies import policy_named

UNTOUCHED = ("name", "schema", "policy", "class", "integer", "source", "user", "group", "machines", "guarantees")

KINDS = ("proof", "proof", "instance", "instance", "moved", "moved", "traded", "swap", "drop", "prices", "tiny")
"""What is changed; one thing a file, but prices of next to nothing, which are to hide something."""


def file_of(instance: Any, policy: str = "drf", **how: Any) -> dict[str, Any]:
    """Return the certificate file of an answer."""
    return loads(json.dumps(certificate_document(solve(instance, policy, **how))))


def numbers(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all numbers, those of the instance among them."""
    if isinstance(tree, dict):
        return [p for key, value in tree.items() if key not in UNTOUCHED for p in numbers(value, (*path, key))]
    if isinstance(tree, list):
        return [p for at, value in enumerate(tree) for p in numbers(value, (*path, at))]
    if isinstance(tree, str | int | float | Fraction) and not isinstance(tree, bool):
        try:
            number(tree)
        except ValueError:
            return []
        return [path]
    return []


def at(tree: Any, path: tuple[Any, ...]) -> Any:
    """Return what stands at a path."""
    for key in path:
        tree = tree[key]
    return tree


def told(data: dict[str, Any], value: Fraction) -> Any:
    """Return a number as the file writes numbers of tasks."""
    tasks = [row["tasks"] for row in data["users"]]
    if all(isinstance(x, int) for x in tasks) and value.denominator == 1:
        return int(value)
    return str(value) if any(isinstance(x, str) for x in tasks) else float(value)


def moved(chance: random.Random, data: dict[str, Any]) -> None:
    """Change one number of tasks, the placement with it, and leave no level that would give it away."""
    row = chance.choice(data["users"])
    old = number(row["tasks"])
    new = chance.choice(
        [old * Fraction(999_999, 10**6), old * Fraction(10**6 + 1, 10**6), old / 2, old + 1, Fraction(0)]
    )
    places = data.get("placement", {}).get(row["name"])
    if places and old:
        for name, z in places.items():
            places[name] = told(data, number(z) * new / old)
    row["tasks"] = told(data, new)


def traded(chance: random.Random, data: dict[str, Any]) -> None:
    """Give one user what another has less of."""
    one, other = chance.sample(data["users"], 2) if len(data["users"]) > 1 else (data["users"][0],) * 2
    part = number(one["tasks"]) * chance.choice([Fraction(1, 10**6), Fraction(1, 3)])
    for row, more in ((one, -part), (other, part)):
        new = number(row["tasks"]) + more
        places = data.get("placement", {}).get(row["name"])
        if places:
            name = next(iter(places))
            places[name] = told(data, number(places[name]) + more)
        row["tasks"] = told(data, new)


def tiny(chance: random.Random, data: dict[str, Any], rounds: list[dict[str, Any]]) -> None:
    """Let something cost next to nothing in one round, and somebody be stopped by that with half of what it had."""
    prices = chance.choice(rounds)["prices"]
    path = chance.choice(numbers(prices))
    at(prices, path[:-1])[path[-1]] = str(Fraction(1, 10 ** chance.randint(3, 30)))
    moved(chance, data)


def forged(chance: random.Random, found: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return a copy in which one thing is changed, and what it was."""
    found = copy.deepcopy(found)
    for row in found["users"]:
        row.pop("level", None)
    rounds = found["proof"].get("rounds", [])
    kind = chance.choice(KINDS)
    if kind in ("proof", "instance") and (paths := numbers(found[kind])):
        path = chance.choice(paths)
        value = number(at(found[kind], path))
        new = chance.choice([value * 2, -value, value + 1, value / 2, Fraction(0), value * (1 + Fraction(1, 10**6))])
        whole = path[-1] in ("tier", "count", "most", "tasks", "machines") or (
            kind == "instance" and path[-1] == "max_tasks"
        )
        at(found[kind], path[:-1])[path[-1]] = int(new) if whole else str(new)
    elif kind == "drop" and rounds:
        del rounds[chance.randrange(len(rounds))]
    elif kind == "tiny" and any(numbers(part.get("prices")) for part in rounds):
        tiny(chance, found, [part for part in rounds if numbers(part.get("prices"))])
    elif kind == "swap" and len(found["users"]) > 1:
        one, other = chance.sample(found["users"], 2)
        one["tasks"], other["tasks"] = other["tasks"], one["tasks"]
        places = found.get("placement")
        if places:
            places[one["name"]], places[other["name"]] = places[other["name"]], places[one["name"]]
    elif kind == "prices" and len(rounds) > 1:
        one, other = chance.sample(rounds, 2)
        one["prices"], other["prices"] = other["prices"], one["prices"]
    else:
        (moved if kind != "traded" else traded)(chance, found)
        kind = "moved"
    return found, kind


def is_so(data: dict[str, Any]) -> bool:
    """Say whether the answer to the instance of the file, found again, is what the file says: of sums, as much."""
    instance, policy = read(json.dumps(data["instance"], default=str), "json"), data["policy"]
    exact = any(isinstance(row["tasks"], str) for row in data["users"])
    best = solve(instance, policy, exact=exact)
    tasks = [number(row["tasks"]) for row in data["users"]]
    if exact:
        return tasks == [Fraction(x) for x in best.tasks.tolist()]
    if policy in ("utilitarian", "throughput"):
        value = policy_named(policy).rates(instance) @ list(map(float, tasks))
        return bool(value >= best.levels.sum() * (1 - 3e-9))
    return all(abs(float(x) - y) <= 1e-7 * y for x, y in zip(tasks, best.tasks.tolist(), strict=True))


def attack(
    files: list[dict[str, Any]],
    times: int,
    seed: int,
    forge: Callable[[random.Random, dict[str, Any]], tuple[dict[str, Any], str]] = forged,
    right: Callable[[dict[str, Any]], bool] = is_so,
) -> int:
    """Forge files; what is accepted must be so. Return how many were refused or left open."""
    chance, refused = random.Random(seed), 0
    known: dict[str, bool] = {}
    for _ in range(times):
        data, kind = forge(chance, chance.choice(files))
        try:
            valid = verify(copy.deepcopy(data)).valid
        except ValueError:
            valid = False
        if valid is not True:
            refused += 1
            continue
        what = data["audits"] if "audits" in data else [data["instance"], [row["tasks"] for row in data["users"]]]
        key = json.dumps(what, default=str)
        if key not in known:
            try:
                known[key] = right(data)
            except DrfoptError:
                known[key] = False
        assert known[key], (kind, data)
    return refused
