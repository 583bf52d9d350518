"""Every kind of answer of whole tasks: random degenerate clusters of each, beside all that they could run.

``python tests/campaign/kinds.py --count 5000`` judges so many of each kind, ``--only NAMES`` those of some, ``--seconds
S`` ends after so much of CPU time, and ``--show NAME NUMBER`` prints one.  Kinds take turns, in batches.
"""

import argparse
import json
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # as a script too

from engines.whole_reference import MANY, Enumeration, Groups

from drfopt import Allocation, DrfoptError, Group, Instance, Machine, Organisation, PolicyError, TaskType, solve
from drfopt.certificates.document import certificate_document
from drfopt.certificates.verifier import loads, verify
from drfopt.model.policies import policy_named

__all__ = ["KINDS", "Kind", "drawn_of", "judged", "main"]

ENUMERATED, TURNS = 3_000, 14
"""Vectors of tasks of one instance, tasks that the recursion of groups gives."""

NUMBERS = {
    "tied": ((0, 1, 1, 2), (1, 2, 4, 4)),
    "small": ((0, 1, 2, 3), (1, 2, 3, 5, 7, 9)),
    "parts": ((0, "1/2", "1/3", "0.3", 1), ("0.9", "3/2", 2, "7/3", 3)),
}
"""Demands and capacities."""

PARTS = ("1/2", "1/3", "2/3", "2/5", 1, 2, 0)
LEXIMIN = ("drf", "drf", "asset", "tasks", "single:r0", "tsf")
SUMS, PRODUCTS = ("utilitarian", "throughput"), ("ceei",)
POWERS, ROOTS = ("alpha:2", "alpha:3", "alpha:7", "alpha:0"), ("alpha:0.5", "alpha:1.5", "alpha:0.25")
MARKETS = (*SUMS, *PRODUCTS, *POWERS, *ROOTS)


@dataclass(frozen=True)
class Kind:
    """What an instance of a kind always has, what it may have, and who is asked."""

    always: str
    at_times: str
    policies: tuple[str, ...]


RULES = "guarantees ceilings tiers last excluded group weights limits"
BOUNDS = "guarantees ceilings excluded group weights limits"

KINDS = {
    **{f"leximin, {p}, pool": Kind("", "limits weights", (p,)) for p in ("drf", "asset", "tasks", "single:r0", "tsf")},
    **{
        f"leximin, {p}, machines": Kind("machines", "limits weights", (p,))
        for p in ("drf", "asset", "tasks", "single:r0", "tsf")
    },
    "weights per resource": Kind("per resource", "machines limits guarantees", ("drf", "asset", "single:r0")),
    "types, pool": Kind("types", "weights limits", LEXIMIN),
    "types, machines": Kind("types machines", "weights limits", LEXIMIN[:-1]),
    "guarantees, floor": Kind("guarantees", "machines weights limits tiers", LEXIMIN),
    "guarantees, surplus": Kind("guarantees surplus", "machines weights limits tiers", ("drf", "asset", "single:r0")),
    "guarantees, normalised": Kind(
        "guarantees normalised", "machines weights limits tiers", ("drf", "asset", "single:r0")
    ),
    "ceilings": Kind("ceilings", "machines weights guarantees types", LEXIMIN),
    "one group, ceilings and guarantees": Kind("group", "machines guarantees weights limits types tiers", LEXIMIN),
    "tiers": Kind("tiers", "machines guarantees weights limits last", LEXIMIN),
    "weights of 0": Kind("last", "machines guarantees weights limits tiers", LEXIMIN),
    "excluded": Kind("excluded", "machines guarantees weights limits tiers", ("drf", "asset", "tasks", "tsf")),
    "types under rules": Kind("types guarantees", f"machines {RULES}", LEXIMIN[:-1]),
    "types, tsf, pool": Kind("types", "weights limits", ("tsf",)),
    "types, tsf, machines": Kind("types machines", "weights limits", ("tsf",)),
    "types, tsf, rules": Kind("types", f"machines devices {RULES}", ("tsf",)),
    "types, tsf, groups": Kind("types groups", f"machines devices {RULES}", ("tsf",)),
    "groups, pool": Kind("groups", "weights limits last", LEXIMIN),
    "groups, machines": Kind("groups machines", "weights limits last", LEXIMIN),
    "groups under rules": Kind("groups guarantees", f"machines surplus normalised {RULES}", LEXIMIN),
    "groups, types": Kind("groups types", f"machines {RULES}", LEXIMIN[:-1]),
    "devices": Kind("devices", "weights limits", LEXIMIN),
    "devices, types": Kind("devices types", "weights limits", LEXIMIN[:-1]),
    "devices under rules": Kind("devices guarantees", f"types {RULES}", LEXIMIN[:-1]),
    "devices, groups": Kind("devices groups", f"types {RULES}", LEXIMIN[:-1]),
    "devices, sums": Kind("devices", f"types {BOUNDS}", SUMS),
    "devices, products": Kind("devices", f"types {BOUNDS}", PRODUCTS),
    "devices, alpha": Kind("devices", f"types {BOUNDS}", POWERS + ROOTS),
    "sums": Kind("", "machines weights limits types", SUMS),
    "products": Kind("", "machines weights limits types", PRODUCTS),
    "alpha, whole": Kind("", "machines weights limits types", POWERS),
    "alpha, fractional": Kind("", "machines weights limits types", ROOTS),
    "sums under rules": Kind("guarantees", f"machines types {BOUNDS}", SUMS),
    "products under rules": Kind("guarantees", f"machines types {BOUNDS}", PRODUCTS),
    "alpha under rules": Kind("guarantees", f"machines types {BOUNDS}", POWERS + ROOTS),
    "sums in groups": Kind("groups", f"machines types {BOUNDS}", SUMS),
    "products in groups": Kind("groups", f"machines types {BOUNDS}", PRODUCTS),
    "alpha in groups": Kind("groups", f"machines types {BOUNDS}", POWERS + ROOTS),
    "tiers of sums": Kind("tiers", f"machines types last {BOUNDS}", SUMS),
    "tiers of products": Kind("tiers", f"machines types last {BOUNDS}", PRODUCTS),
    "tiers of alpha": Kind("tiers", f"machines types last {BOUNDS}", POWERS + ROOTS),
    "per-server": Kind("machines", "weights excluded", ("per-server",)),
    "per-server, devices": Kind("devices", "weights excluded", ("per-server",)),
    "all at once": Kind("", f"machines devices types groups surplus normalised {RULES}", (*LEXIMIN, *MARKETS)),
}


def drawn(name: str, number: int) -> tuple[Instance, str] | None:
    """Return the instance of that number of a kind and the policy it is asked, or None where it is none."""
    return drawn_of(KINDS[name], random.Random(f"{name}/{number}"))


def drawn_of(kind: Kind, chance: random.Random) -> tuple[Instance, str] | None:
    """Return an instance of a kind and the policy it is asked, or None where it is none."""
    has = {*kind.always.replace("per resource", "each").split()}
    has |= {trait for trait in kind.at_times.split() if chance.random() < 0.3}
    policy = chance.choice(kind.policies)
    demands_of, rooms_of = NUMBERS[chance.choice(list(NUMBERS))]
    resources = [f"r{j}" for j in range(chance.choice((2, 3)) if "excluded" in has else chance.choice((1, 2, 2, 3)))]
    users = [f"u{i}" for i in range(chance.choice((1, 2, 3, 3, 4, 5)))]
    rows: dict[str, Any] = {}

    def demand() -> dict[str, Any]:
        row = {r: chance.choice(demands_of) for r in resources}
        if not any(row.values()) or policy == "single:r0":
            row["r0"] = row["r0"] or demands_of[-1]
        return row | ({"gpu": chance.choice(PARTS)} if "devices" in has else {})

    for u in users:
        if rows and chance.random() < 0.25:
            rows[u] = rows[chance.choice(list(rows))]
        elif "types" in has and chance.random() < 0.7:
            rows[u] = [TaskType(demand(), chance.choice((1, 1, 2, 3))) for _ in range(chance.choice((1, 2, 2, 3)))]
        else:
            rows[u] = demand()

    def room(small: bool) -> dict[str, Any]:
        return {
            r: 0 if chance.random() < 0.03 else chance.choice(rooms_of[:4] if small else rooms_of) for r in resources
        }

    on: dict[str, Any] = {"capacity": room(False)}
    if has & {"machines", "devices"}:
        names = [f"c{k}" for k in range(chance.choice((1, 1, 2)))]
        listed = []
        for c in names:
            gpus = chance.choice((1, 1, 2, 3)) if "devices" in has else 0
            owned = {"gpu": gpus} if gpus and chance.random() < 0.85 else None
            listed.append(Machine(c, room(True) | ({"gpu": gpus} if gpus else {}), chance.choice((1, 1, 2)), owned))
        on = {"machines": listed}
        if chance.random() < 0.3:
            on["eligible"] = {u: [c for c in names if chance.random() < 0.8] for u in users}
    if "devices" in has:
        resources.append("gpu")
    if "limits" in has:
        on["max_tasks"] = {
            u: None if isinstance(rows[u], list) else chance.choice((None, None, 0, 1, 2, "7/3", "1/2")) for u in users
        }
    if has & {"weights", "last"}:
        among = ((1, 1, 2, 3, "1/2", "0.3") if "weights" in has else (1,)) + ((0, 0) if "last" in has else ())
        on["weights"] = {u: chance.choice(among) for u in users}
    if "each" in has:
        on["weights"] = {u: {r: chance.choice((1, 1, 2, "1/2")) for r in resources} for u in users}
    try:
        return Instance(rows, **on, organisation=_rules(chance, has, users, resources, policy)), policy
    except DrfoptError:
        return None


def _rules(
    chance: random.Random, has: set[str], users: list[str], resources: list[str], policy: str
) -> Organisation | None:
    if not has & {"guarantees", "surplus", "normalised", "ceilings", "tiers", "excluded", "group", "groups"}:
        return None
    leximin = policy_named(policy).objective == "leximin"
    amounts = (0, 1, 2, 3, 5, "1/2", "4/3")

    def some(often: float) -> dict[str, Any]:
        return {r: chance.choice(amounts) for r in resources if chance.random() < often}

    def capped(promise: dict[str, Any]) -> dict[str, Any]:
        return {r: max(Fraction(v), Fraction(promise.get(r, 0))) for r, v in some(0.6).items()}

    promised = {u: some(0.7) for u in users if "guarantees" in has and chance.random() < 0.7}
    found: dict[str, Any] = {"guarantees": promised}
    if "ceilings" in has:
        found["ceilings"] = {u: capped(promised.get(u, {})) for u in users if chance.random() < 0.6}
    if "tiers" in has:
        found["tiers"] = {u: chance.choice((0, 0, 1, -1)) for u in users}
    if "excluded" in has:
        found["excluded"] = [resources[1]]
    if meanings := sorted(has & {"surplus", "normalised"}):
        found["meaning"] = chance.choice(meanings) if leximin else "floor"
    if "groups" in has:
        paths = {u: chance.choice(("", "a", "b", "a/x", "a/y")) for u in users}
        found["paths"] = {u: path for u, path in paths.items() if path}
    elif "group" in has:
        found["paths"] = dict.fromkeys(users, "a")
    if paths := set(found.get("paths", {}).values()):
        groups = []
        for name in sorted(paths | {path.partition("/")[0] for path in paths}):
            promise = some(0.3) if chance.random() < 0.4 else {}
            weight = chance.choice((1, 1, 2, "1/3", *((0,) if leximin else ())))
            most = capped(promise) if chance.random() < 0.5 else {}
            groups.append(Group(name, weight, promise, most, chance.choice((0, 0, 1)) if leximin else 0))
        found["groups"] = groups if chance.random() < 0.85 else ()
    return Organisation(**found)


# ---- the judge -------------------------------------------------------------------------------------------------------


def judged(name: str, number: int, files: bool = False) -> tuple[str, str]:
    """Return what came of one: ``right``, ``wrong``, ``undecided``, ``refused`` or ``not drawn`` (large), and why."""
    drew = drawn(name, number)
    if drew is None:
        return "not drawn", ""
    instance, policy = drew
    if policy == "per-server":
        machines = [_alone(instance, k) for k in range(len(instance.machines or ()))]
        if any(math.prod(most + 1 for most in one.most) > ENUMERATED for one in machines):
            return "not drawn", ""
        return _answered(instance, policy, files, lambda found: _each_machine(machines, found))
    try:
        truth = Enumeration(instance, policy)
    except PolicyError:
        return _answered(instance, policy, files, lambda found: "it is answered, and nobody says what it means")
    groups = instance.several_groups and truth.policy.objective == "leximin"
    ways = math.prod(most + 1 for most in truth.most)
    if max(truth.most, default=0) >= MANY or ways > ENUMERATED or (groups and sum(truth.most) > TURNS):
        return "not drawn", ""

    def right(found: Allocation) -> str:
        tasks = [int(x) for x in found.tasks]
        if not truth.possible(tasks) or any(x > most for x, most in zip(tasks, truth.most, strict=True)):
            return f"{tasks} cannot be run"
        if groups:
            best: Any = Groups(instance, policy).best()
            return "" if tuple(tasks) in best else f"{tasks} is at the end of no best way: {sorted(best)}"
        best = truth.best()
        return "" if truth.score(tasks) == best else f"{tasks}, worth {truth.score(tasks)}, and {best} is possible"

    return _answered(instance, policy, files, right)


def _answered(instance: Instance, policy: str, files: bool, fault: Any) -> tuple[str, str]:
    try:
        found = solve(instance, policy, integer=True)
    except DrfoptError as error:
        return "refused", f"{type(error).__name__}: {' '.join(w for w in str(error).split() if not _own(w))}"
    except Exception as error:
        return "wrong", repr(error)
    if why := fault(found):
        return "wrong", why
    if not (found.certificate.valid and found.status == "optimal"):
        return "undecided", str(found.certificate.reason)
    if files:
        report = verify(loads(json.dumps(certificate_document(found))))
        if report.valid is not True:
            open_ = next(check for check in report.checks if not check.holds)
            return ("wrong" if report.valid is False else "file undecided"), f"its file: {open_.name}, {open_.worst}"
    return "right", "" if found.certificate.rigorous else "not rigorous"


def _own(word: str) -> bool:
    """Say whether a word of an error names something of the instance."""
    return any(c.isdigit() for c in word)


def _alone(instance: Instance, k: int) -> Enumeration:
    """Return one machine of a class by itself."""
    machine = (instance.machines or ())[k]
    one = Machine(machine.name, machine.capacity, 1, machine.devices)
    cluster = {"capacity": None, "machines": [one], "eligible": instance.eligible[:, [k]]}
    return Enumeration(Instance(**(instance.parts() | cluster)), "drf")


def _each_machine(machines: list[Enumeration], found: Allocation) -> str:
    """Return what is wrong with machines that are divided by themselves."""
    best, divided = [one.best() for one in machines], Counter[int]()
    for k, number, pattern in found.certificate.evidence.packing:
        tasks = [pattern.get(i, 0) for i in range(machines[k].n)]
        if not machines[k].possible(tasks) or machines[k].score(tasks) != best[k]:
            return f"a machine of class {k} runs {tasks}, and {best[k]} is possible"
        divided[k] += number
    classes = found.instance.machines or ()
    idle = [k for k, one in enumerate(classes) if divided[k] < one.count and any(machines[k].most)]
    return f"machines of class {idle[0]} are not divided" if idle else ""


def rounds(names: list[str], first: int, count: int, batch: int) -> Iterator[tuple[str, range]]:
    """Yield batches of the numbers of each kind, in turn."""
    for begin in range(first, first + 20 * count, batch):
        for name in names:
            yield name, range(begin, begin + batch)


def table(names: list[str], count: dict[str, Counter], why: Counter, spent: Counter) -> str:
    """Return counts by kind and by what came of them, and the reasons of what was refused."""
    words = ("right", "wrong", "undecided", "file undecided", "refused", "not drawn")
    rows = [" ".join([f"{'':34}", *(f"{w:>14}" for w in words), "CPU s"])]
    rows += [" ".join([f"{name:34}", *(f"{count[name][w]:14}" for w in words), f"{spent[name]:.0f}"]) for name in names]
    return "\n".join([*rows, *(f"    {name}: {word} {n}: {text}" for (name, word, text), n in sorted(why.items()))])


def main() -> int:
    """Judge some and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--batch", type=int, default=200)
    parser.add_argument("--only", nargs="+", help="names of kinds")
    parser.add_argument("--part", default="0/1", help="K/N: every N-th kind from the K-th")
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--files", type=int, default=3, help="verify the file of every so many; 0 for none")
    parser.add_argument("--table", help="a file that has the table after every turn")
    parser.add_argument("--show", nargs=2)
    asked = parser.parse_args()
    if asked.show:
        print(drawn(asked.show[0], int(asked.show[1])), judged(asked.show[0], int(asked.show[1]), True), sep="\n")
        return 0
    k, n = map(int, asked.part.split("/"))
    names = (asked.only or list(KINDS))[k::n]
    count: dict[str, Counter] = {name: Counter() for name in names}
    why: Counter = Counter()
    spent: Counter = Counter()
    for name, numbers in rounds(names, asked.first, asked.count, asked.batch):
        if asked.table and name == names[0]:
            Path(asked.table).write_text(table(names, count, why, spent))
        if time.process_time() > asked.seconds:
            break
        begun = time.process_time()
        for number in numbers:
            if count[name]["right"] + count[name]["wrong"] >= asked.count:
                break
            word, reason = judged(name, number, bool(asked.files) and number % asked.files == 0)
            count[name][word] += 1
            if reason:
                why[name, word, reason if word == "refused" else ""] += 1
            if word in ("wrong", "undecided", "file undecided"):
                print(name, number, word, reason, flush=True)
        spent[name] += time.process_time() - begun
        if all(c["right"] + c["wrong"] >= asked.count for c in count.values()):
            break
    print(table(names, count, why, spent))
    return int(any(c["wrong"] for c in count.values()))


if __name__ == "__main__":
    sys.exit(main())
