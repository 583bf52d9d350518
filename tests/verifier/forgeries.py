"""Certificate files of every kind with one thing changed: a number, a key, what a value is, an entry, an answer.

``python tests/verifier/forgeries.py --count 10000`` forges so many of each kind and prints the table: what was refused,
left open, accepted with the claim as it was, accepted with another claim that is so, and what is accepted and not so,
of which there is to be nothing.  ``--only NAMES`` takes some kinds, ``--seed`` another row of forgeries.
"""

import argparse
import contextlib
import copy
import itertools
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # as a script too
sys.path.insert(0, str(Path(__file__).resolve().parent))

import test_verifier_audits as audits
import test_verifier_audits_forged as verdicts
import test_verifier_order as order
import test_verifier_whole_rules as ruled
from engines.whole_reference import Enumeration, Groups
from test_verifier_level_bounds import partly

from drfopt import Instance, Machine, Organisation, audit, solve
from drfopt.axioms.theorems import THEOREMS
from drfopt.base.errors import DrfoptError
from drfopt.certificates.document import certificate_document
from drfopt.certificates.verifier import loads, number, verify
from drfopt.io.native.reading import loads as read
from drfopt.model.policies import policy_named

__all__ = ["KINDS", "Tried", "files", "forge", "main", "tried"]

Data = dict[str, Any]

# ---- genuine files ---------------------------------------------------------------------------------------------------

LEXIMIN = ("drf", "asset", "single:r0", "tasks", "tsf")
MARKETS, ROOTS, SUMS = ("ceei", "alpha:2", "alpha:3"), ("alpha:0.5", "alpha:1.5"), ("utilitarian", "throughput")
BOTH = ({"exact": True}, {"exact": False})
WHOLE = ({"integer": True},)


def plain(seed: int, machines: bool) -> Instance:
    """Return a small cluster without rules: ties, zero demands, weights, limits."""
    chance = random.Random(f"plain {seed}")
    resources, users = ["r0", "r1"][: chance.randint(1, 2)], [f"u{i}" for i in range(chance.randint(2, 4))]
    rows = {u: {"r0": chance.choice((1, 1, 2, "1/2")), "r1": chance.choice((0, 1, 3))} for u in users}
    rows = {u: {r: d for r, d in row.items() if r in resources} for u, row in rows.items()}
    how: dict[str, Any] = {"weights": {u: chance.choice((1, 1, 2)) for u in users}}
    how["max_tasks"] = {u: chance.choice((None, None, 1, 2)) for u in users}
    if not machines:
        return Instance(rows, {r: chance.choice((4, 6, 7)) for r in resources}, **how)
    racks = [Machine(f"c{k}", {r: chance.choice((3, 4, 5)) for r in resources}, chance.randint(1, 2)) for k in range(2)]
    if chance.random() < 0.5:
        how["eligible"] = {u: chance.sample(["c0", "c1"], chance.randint(1, 2)) for u in users}
    return Instance(rows, machines=racks, **how)


def in_turns(seed: int, machines: bool) -> Instance:
    """Return a small cluster with tiers, a weight of 0 and a guarantee, and room that the first tier leaves."""
    chance, one = random.Random(f"turns {seed}"), plain(seed, machines)
    tiers = {u: chance.choice((0, 1)) for u in one.users} | {one.users[0]: 1}
    promise = {one.users[-1]: {"r0": 1}} if seed % 2 else {}
    weights = [0 if i == one.n - 1 and seed % 3 == 0 else 1 for i in range(one.n)]
    limits = [2 if i == 0 else None for i in range(one.n)]
    changed = {"organisation": Organisation(promise, tiers=tiers), "weights": weights, "max_tasks": limits}
    return Instance(**(one.parts() | changed))


def carded(seed: int, _: bool) -> Instance:
    """Return two machines with devices of which tasks take parts."""
    chance = random.Random(f"devices {seed}")
    rows = {
        u: {"r0": chance.choice((0, 1, 2)), "gpu": chance.choice(("1/2", "1/3", "2/3", 1, 0))} for u in ("A", "B", "C")
    }
    racks = [Machine(f"c{k}", {"r0": chance.randint(2, 5)}, 1, {"gpu": chance.randint(1, 2)}) for k in range(2)]
    rules = Organisation({"A": {"r0": 2}}, tiers={"C": 1}) if seed % 2 else None
    rows = {u: row if any(map(bool, map(number, row.values()))) else {"r0": 1} for u, row in rows.items()}
    return Instance(rows, machines=racks, resources=["r0", "gpu"], organisation=rules)


def unlimited(seed: int, machines: bool) -> Instance:
    """Return a small cluster without limits, of which some resource may not count."""
    one = plain(seed, machines)
    rules = Organisation(excluded=["r1"]) if seed % 2 and one.m > 1 else None
    return Instance(**(one.parts() | {"max_tasks": None, "organisation": rules}))


def written(instance: Instance, policy: str, **how: Any) -> Data:
    """Return the file of an answer as it is read from JSON."""
    return json.loads(json.dumps(certificate_document(solve(instance, policy, **how))))


def answers(
    cluster: Callable[[int, bool], Instance],
    policies: tuple[str, ...],
    modes: tuple[dict[str, bool], ...],
    seeds: range,
    where: tuple[bool, ...] = (False, True),
) -> Iterator[Data]:
    """Yield the files of answers that are proven."""
    for seed, machines, policy, how in itertools.product(seeds, where, policies, modes):
        with contextlib.suppress(DrfoptError):
            data = written(cluster(seed, machines), policy, **how)
            if verify(loads(json.dumps(data))).valid:
                yield data


def of_floats(found: Any) -> Iterator[Data]:
    """Yield files that were read by the verifier's own reader as they are in JSON."""
    for data in found:
        yield json.loads(json.dumps(data, default=lambda value: float(value)))


def ruled_whole(kinds: tuple, policies: tuple[str, ...], seeds: range) -> Callable[[], Iterator[Data]]:
    return lambda: of_floats(ruled.answers(seeds, policies, kinds))


def tiers_of_whole(seeds: range) -> Iterator[Data]:
    return answers(in_turns, ("ceei", "throughput", "utilitarian", "alpha:2"), WHOLE, seeds)


def proven_in_part() -> Iterator[Data]:
    for seed, proven in itertools.product((0, 1, 3, 4), (0, 1)):
        with contextlib.suppress(IndexError):
            yield json.loads(partly(seed, proven)[1])


def audited() -> Iterator[Data]:
    for name, policy, instance, how in [*audits.LOST, *audits.HELD]:
        yield json.loads(json.dumps(audits_file(name, policy, instance, **how)))


def audits_file(name: str, policy: str, instance: Any, **how: Any) -> Data:
    return audit(audits.instance_of(instance), policy, name, **how).certificate()


def of_theorems() -> Iterator[Data]:
    for theorem in THEOREMS:
        if theorem.audited:
            yield json.loads(json.dumps(theorem.certificate()))


KINDS: dict[str, Callable[[], Iterator[Data]]] = {
    "leximin, pool": lambda: answers(plain, LEXIMIN, BOTH, range(4), (False,)),
    "leximin, machines (rounds)": lambda: answers(plain, LEXIMIN, BOTH, range(4), (True,)),
    "per-server": lambda: answers(unlimited, ("per-server",), BOTH, range(8)),
    "guarantees, tiers, excluded": lambda: of_floats(order.answered(range(20, 24), policies=("drf",))),
    "the same in floats": lambda: of_floats(order.answered(range(20, 24), exact=False, policies=("drf",))),
    "groups": lambda: of_floats(order.grouped(range(20, 23), policies=("drf",))),
    "markets": lambda: answers(plain, MARKETS, ({"exact": False},), range(4)),
    "markets, exact": lambda: answers(plain, MARKETS, ({"exact": True},), range(4)),
    "alpha, fractional": lambda: answers(plain, ROOTS, BOTH, range(3)),
    "markets under rules": lambda: (d for d in of_floats(order.traded_files(range(20, 24))) if d["policy"] not in SUMS),
    "markets under rules, exact": lambda: answers(
        order.companies, ("ceei", "alpha:2", "alpha:0.5"), BOTH[:1], range(4)
    ),
    "tiers of markets": lambda: answers(in_turns, ("ceei", "alpha:2", "alpha:0.5"), ({"exact": False},), range(6)),
    "sums": lambda: answers(plain, SUMS, BOTH, range(5)),
    "sums under rules": lambda: answers(order.companies, SUMS, BOTH, range(4)),
    "tiers of sums (held)": lambda: answers(in_turns, SUMS, BOTH, range(6)),
    "whole leximin (trees)": lambda: answers(plain, LEXIMIN, WHOLE, range(6)),
    "whole, under rules": ruled_whole(ruled.KINDS[:3], ("drf", "asset"), range(20, 23)),
    "whole, several types": ruled_whole(ruled.KINDS[3:], ("drf", "tasks"), range(20, 24)),
    "whole, groups": ruled_whole(ruled.GROUPS, ("drf",), range(20, 22)),
    "whole, devices": lambda: answers(carded, ("drf", "throughput", "ceei"), WHOLE, range(6), (True,)),
    "whole, per-server": lambda: answers(unlimited, ("per-server",), WHOLE, range(12), (True,)),
    "whole sums": lambda: answers(plain, SUMS, WHOLE, range(6)),
    "whole products and alpha": lambda: answers(plain, (*MARKETS, *ROOTS), WHOLE, range(4)),
    "whole sums, products under rules": ruled_whole(ruled.SUMMED, ruled.MARKETS, range(20, 22)),
    "whole tiers (held)": lambda: tiers_of_whole(range(6)),
    "whole, proven in part (bounds)": proven_in_part,
    "verdicts of audit": audited,
    "theorems": of_theorems,
}


@cache
def files(name: str) -> list[Data]:
    """Return the genuine files of a kind."""
    return list(KINDS[name]())


# ---- forgeries -------------------------------------------------------------------------------------------------------

Path_ = tuple[Any, ...]
STRANGE = (
    None,
    True,
    False,
    "",
    "x",
    "1/0",
    "nan",
    -1,
    0,
    1,
    1.5,
    "1e-30",
    "1e30",
    [],
    {},
    [1],
    {"a": "1"},
    "63/25*L1",
)
"""What is put in the place of something."""


def walk(tree: Any, path: Path_ = ()) -> Iterator[Path_]:
    """Yield the paths of all values."""
    if path:
        yield path
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in inside:
        yield from walk(value, (*path, key))


def at(tree: Any, path: Path_) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def put(tree: Any, path: Path_, value: Any) -> None:
    at(tree, path[:-1])[path[-1]] = value


def chosen(chance: random.Random, data: Data, fits: Callable[[Any], bool]) -> Path_ | None:
    """Return the path of some value that fits; parts of a file that are small are not passed over for large ones."""
    tops = [key for key in data if any(fits(at(data, (key, *path))) for path in [(), *walk(data[key])])]
    if not tops:
        return None
    key = chance.choice(tops)
    return (key, *chance.choice([path for path in [(), *walk(data[key])] if fits(at(data[key], path))]))


def amount(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, str | int | float) or (isinstance(value, str) and "*" in value):
        return False
    try:
        number(value)
    except (ValueError, ZeroDivisionError):
        return False
    return True


def numbered(chance: random.Random, data: Data, others: list[Data]) -> None:
    """Change a number."""
    if (path := chosen(chance, data, amount)) is None:
        return
    old = at(data, path)
    value = number(old)
    part = value.__class__(1, 10 ** chance.choice((1, 3, 6, 9, 12)))
    new = chance.choice(
        (value + 1, value - 1, 2 * value, -value, value / 2, value * 0, value * (1 + part), value * (1 - part))
    )
    put(data, path, int(new) if isinstance(old, int) else float(new) if isinstance(old, float) else str(new))


def renamed(chance: random.Random, data: Data, others: list[Data]) -> None:
    """Change a key, drop it, or let it be another's."""
    path = chosen(chance, data, lambda value: isinstance(value, dict) and bool(value))
    table = at(data, path or ())
    key = chance.choice(list(table))
    value = table.pop(key)
    names = [p[-1] for p in walk(chance.choice(others)) if isinstance(p[-1], str)]
    if chance.random() < 0.6:
        table[chance.choice([*names, f"{key}s", ""])] = value


def retyped(chance: random.Random, data: Data, others: list[Data]) -> None:
    """Put something strange in the place of a value."""
    if (path := chosen(chance, data, lambda value: True)) is not None:
        put(data, path, copy.deepcopy(chance.choice(STRANGE)))


def swapped(chance: random.Random, data: Data, others: list[Data]) -> None:
    """Let two values of one list or table change places."""
    path = chosen(chance, data, lambda value: isinstance(value, dict | list) and len(value) > 1)
    if path is not None:
        table = at(data, path)
        one, other = chance.sample(list(table) if isinstance(table, dict) else range(len(table)), 2)
        table[one], table[other] = table[other], table[one]


def listed(chance: random.Random, data: Data, others: list[Data]) -> None:
    """Drop an entry of a list, have it twice, or turn the list round."""
    path = chosen(chance, data, lambda value: isinstance(value, list) and bool(value))
    if path is None:
        return
    rows, what = at(data, path), chance.random()
    k = chance.randrange(len(rows))
    if what < 0.4:
        del rows[k]
    elif what < 0.8:
        rows.insert(chance.randrange(len(rows) + 1), copy.deepcopy(rows[k]))
    else:
        rows.reverse()


def grafted(chance: random.Random, data: Data, others: list[Data]) -> None:
    """Take a part of another file of the kind: what is called the same."""
    other = chance.choice(others)
    here = set(walk(data))
    both = [path for path in walk(other) if path in here]
    if both:
        path = chance.choice(both)
        put(data, path, copy.deepcopy(at(other, path)))


def claimed(chance: random.Random, data: Data, others: list[Data]) -> None:
    """Give somebody more or less, or what another has less of, where it runs too; and say nothing of levels."""
    claims = [one["truth"] for one in data["audits"]] if "audits" in data else [data]
    claim = chance.choice(claims)
    rows = claim["users"]
    for row in rows:
        row.pop("level", None)
    if any(isinstance(row["tasks"], dict) for row in rows):
        row = chance.choice(rows)
        tasks = row["tasks"] if isinstance(row["tasks"], dict) else {"lower": row["tasks"], "upper": row["tasks"]}
        part = 1 + number(chance.choice(("1e-3", "-1e-3", "1e-12", "-1e-12", "1e-20")))
        row["tasks"] = {
            end: str(number(value) * (part if chance.random() < 0.7 else 1)) for end, value in tasks.items()
        }
        return
    one, other = chance.choice(rows), chance.choice(rows)
    whole = bool(claim.get("integer"))
    more = number(chance.choice((1, -1) if whole else ("1e-6", "-1e-6", "1/3", "-1/3", 1, -1)))
    for row, change in [(one, more)] + ([(other, -more)] if other is not one and chance.random() < 0.5 else []):
        _has(chance, claim, row, change, whole)


def _has(chance: random.Random, claim: Data, row: Data, change: Any, whole: bool) -> None:
    name, old = row["name"], number(row["tasks"])

    def told(value: Any, like: Any) -> Any:
        return int(value) if whole else float(value) if isinstance(like, float) else str(value)

    row["tasks"] = told(old + change, row["tasks"])
    places = claim.get("placement", {}).get(name)
    if not places:
        return
    k = chance.choice(list(places))
    places[k] = told(number(places[k]) + change, places[k])
    packing = claim.get("proof", {}).get("packing", [])
    for entry in [entry for entry in packing if entry["class"] == k and entry["tasks"].get(name, 0) + change >= 0][:1]:
        # One machine of the entry runs another number.
        new = copy.deepcopy(entry) | {"machines": 1}
        new["tasks"][name] = int(entry["tasks"].get(name, 0) + change)
        entry["machines"] -= 1
        at_ = packing.index(entry)
        packing[at_ : at_ + 1] = [new, *([entry] if entry["machines"] else [])]
        if servers := claim["proof"].get("servers"):
            servers.insert(at_, copy.deepcopy(servers[at_]))
            if not entry["machines"]:
                del servers[at_ + 1]


WAYS = (numbered, numbered, numbered, renamed, retyped, swapped, listed, grafted, claimed, claimed, claimed)


def forge(chance: random.Random, genuine: list[Data]) -> tuple[Data, Data, str]:
    """Return a file, a copy in which one thing or two are changed, and what."""
    found = chance.choice(genuine)
    data, ways = copy.deepcopy(found), [chance.choice(WAYS) for _ in range(chance.choice((1, 1, 1, 2)))]
    for way in ways:
        with contextlib.suppress(KeyError, IndexError, TypeError, ValueError, AttributeError, ZeroDivisionError):
            way(chance, data, genuine)
    return found, data, " and ".join(way.__name__ for way in ways)


# ---- what is so ------------------------------------------------------------------------------------------------------


def claim_of(data: Data) -> str:
    """Return what a file says is so: of whom, and what each has; or its verdicts."""
    if "audits" in data:
        parts = [
            (_division(one["truth"]), [_canonical({k: v for k, v in f.items() if k != "why"}) for f in one["findings"]])
            for one in data["audits"]
        ]
        return repr(parts)
    return _division(data)


def _division(data: Data) -> str:
    users = [(row["name"], _canonical(row["tasks"])) for row in data["users"]]
    instance = {key: value for key, value in data["instance"].items() if key not in ("name", "source")}
    return repr((_canonical(instance), data["policy"], bool(data.get("integer")), users))


def _canonical(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted((key, _canonical(v)) for key, v in value.items())
    if isinstance(value, list):
        return [_canonical(v) for v in value]
    return number(value) if amount(value) else value


def is_so(data: Data) -> bool:
    """Say whether what a file says is so: whole tasks by enumeration, others by dividing again."""
    if "audits" in data:
        for one in data["audits"]:
            one["truth"]["instance"].pop("name", None)
        return verdicts.is_so(loads(json.dumps(data)))
    instance, policy = read(json.dumps(data["instance"]), "json"), data["policy"]
    if data.get("integer"):
        return _is_best(data, instance, policy)
    tasks = [row["tasks"] for row in data["users"]]
    if any(isinstance(x, dict) for x in tasks):
        best = solve(instance, policy, exact=True, precision="1e-60").tasks
        ends = [(x, x) if not isinstance(x, dict) else (x["lower"], x["upper"]) for x in tasks]
        return all(
            number(low) <= getattr(y, "upper", y) and getattr(y, "lower", y) <= number(high)
            for (low, high), y in zip(ends, best.tolist(), strict=True)
        )
    exact = any(isinstance(x, str) for x in tasks)
    has = [float(number(x)) for x in tasks]
    best = solve(instance, policy, exact=exact)
    if policy in SUMS:
        return _sums(instance, policy, has, best.tasks.astype(float).tolist())
    return all(abs(x - float(y)) <= 1e-7 * abs(float(y)) for x, y in zip(has, best.tasks.tolist(), strict=True))


def _sums(instance: Instance, policy: str, has: list[float], best: list[float]) -> bool:
    """Say whether every tier has as much, the first that differs more."""
    rates, rules = policy_named(policy).rates(instance), instance.organisation
    turns = [0] * instance.n if rules is None or rules.in_turn is None else list(rules.in_turn)
    for turn in sorted(set(turns)):
        mine, most = (
            sum(r * x for r, x, t in zip(rates, tasks, turns, strict=True) if t == turn) for tasks in (has, best)
        )
        if abs(mine - most) > 3e-9 * most:
            return False
    return True


def _is_best(data: Data, instance: Instance, policy: str) -> bool:
    tasks = [int(number(row["tasks"])) for row in data["users"]]
    if policy == "per-server":
        return _divided(data, instance)
    truth = Enumeration(instance, policy)
    if any(x > most for x, most in zip(tasks, truth.most, strict=True)) or not truth.possible(tasks):
        return False
    if instance.several_groups and truth.policy.objective == "leximin":
        return tuple(tasks) in Groups(instance, policy).best()
    return truth.score(tasks) == truth.best()


def _divided(data: Data, instance: Instance) -> bool:
    at_ = {name: i for i, name in enumerate(instance.users)}
    for entry in data["proof"]["packing"]:
        k = list(instance.machine_names).index(entry["class"])
        machine = (instance.machines or ())[k]
        one = {
            "capacity": None,
            "machines": [Machine(machine.name, machine.capacity, 1, machine.devices)],
            "eligible": instance.eligible[:, [k]],
        }
        alone = Enumeration(Instance(**(instance.parts() | one)), "drf")
        tasks = [0] * instance.n
        for name, x in entry["tasks"].items():
            tasks[at_[name]] = int(x)
        if not alone.possible(tasks) or alone.score(tasks) != alone.best():
            return False
    return True


class Tried(Counter):
    """How many were refused, left open, accepted as they were (`harmless`), and accepted, so or not so."""

    slowest = 0.0


def tried(name: str, times: int, seed: int = 0, tell: Callable[..., None] = lambda *_: None) -> Tried:
    """Forge files of a kind; `tell` hears of what is accepted and not so, and of what is no plain refusal."""
    chance, count, known = random.Random(f"{name} {seed}"), Tried(), {}
    genuine, begun = files(name), time.process_time()
    for k in range(times):
        found, data, ways = forge(chance, genuine)
        if data == found:
            count["nothing changed"] += 1
            continue
        text = json.dumps(data)
        try:
            valid = verify(loads(text)).valid
        except ValueError:
            valid = False
        except Exception as error:
            count["fault"] += 1
            tell(name, k, ways, repr(error), text)
            continue
        finally:
            now = time.process_time()
            count.slowest, begun = max(count.slowest, now - begun), now
        if valid is not True:
            count["refused" if valid is False else "left open"] += 1
            continue
        claim = claim_of(data)
        if claim == claim_of(found):
            count["harmless"] += 1
            continue
        if claim not in known:
            try:
                known[claim] = is_so(data)
            except (DrfoptError, ValueError, KeyError, TypeError) as error:
                known[claim] = False
                tell(name, k, ways, f"{type(error).__name__}: {error}", "")
        count["another that is so" if known[claim] else "accepted"] += 1
        if not known[claim]:
            tell(name, k, ways, "accepted", text)
        begun = time.process_time()
    return count


def main() -> int:
    """Forge some of each kind and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", help="names of kinds")
    asked = parser.parse_args()
    words = ("refused", "left open", "harmless", "another that is so", "accepted", "fault", "nothing changed")
    print(f"{'':34}", f"{'files':>6}", *(f"{w:>18}" for w in words), "slowest", "CPU s")
    wrong = 0
    for name in asked.only or KINDS:
        genuine = files(name)
        begun = time.process_time()
        count = tried(name, asked.count, asked.seed, lambda *what: print(*what, flush=True))
        row = (f"{count[w]:18}" for w in words)
        spent = time.process_time() - begun
        print(f"{name:34}", f"{len(genuine):6}", *row, f"{count.slowest:7.2f}", f"{spent:.0f}", flush=True)
        wrong += count["accepted"] + count["fault"]
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
