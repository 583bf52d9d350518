"""Every sentence and number of ``rebalance``, beside all placements of whole tasks that there are.

``python tests/campaign/moved.py --count 2000 --seed 1`` draws clusters and what runs on them today; ``--only N`` shows
one.  What is best is enumerated (`engines.whole_reference`), and so is how few tasks have to leave their places for it.
"""

import json
import math
import random
import re
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # as a script too

from changed import Wrong, by_template, near, need, read
from engines.whole_reference import Enumeration, Groups
from many import judge_many
from plain import POLICIES, Document, Yardstick, drawn_cluster, users_of

from drfopt import DrfoptError, Instance, Machine, PolicyError, rebalance
from drfopt.model.instance import FEATURES
from drfopt.model.policies import policy_named
from drfopt.planning.rebalancing.rebalancing import Rebalancing

__all__ = ["Case", "drawn", "judged", "main"]

LOADS, STATES, TURNS = 200, 4_000, 14
"""Loads of one machine, and totals of all, up to which placements are enumerated; tasks that groups are asked about."""


@dataclass
class Case:
    """A cluster, what runs today, and how many may move."""

    number: int
    document: Document
    policy: str
    today: dict[str, Any]
    moves: int | None
    said: Counter = field(default_factory=Counter)

    def __str__(self) -> str:
        return f"{json.dumps(self.document)}\n{self.policy} --moves {self.moves} {json.dumps(self.today)}"

    @cached_property
    def instance(self) -> Instance:
        return read(self.document)

    @cached_property
    def typed(self) -> bool:
        return any("tasks" in user for user in self.document["users"])

    @cached_property
    def places(self) -> list[tuple[str, str | None, int]]:
        """Name, class and number of machines of each place."""
        if "capacity" in self.document:
            return [("the pool", None, 1)]
        if "placement" in self.today:
            return [(entry["name"], entry["name"], entry["count"]) for entry in self.document["machines"]]
        return [(name, entry["class"], 1) for name, entry in self.today["machines"].items()]

    def runs(self, place: str) -> dict[str, Any]:
        """Return what runs in a place today: of who has several types a table."""
        if "tasks" in self.today:
            return self.today["tasks"]
        if "placement" in self.today:
            return {u: row[place] for u, row in self.today["placement"].items() if place in row}
        return self.today["machines"][place]["tasks"]


def drawn(seed: int, at: int) -> Case:
    """Return the case of that number."""
    chance = random.Random(f"moved {seed}/{at}")
    policy = chance.choice(POLICIES)
    document = drawn_cluster(chance, policy)
    names = [user["name"] for user in document["users"]]

    def some(user: str, most: tuple = (0, 0, 1, 1, 2, 3)) -> Any:
        entry = users_of(document)[user]
        if "tasks" in entry and "machines" in document:
            return {str(t): chance.choice((0, 0, 1, 1)) for t in range(1, len(entry["tasks"]) + 1)}
        return chance.choice(most)

    if "capacity" in document:
        today: dict[str, Any] = {"tasks": {u: some(u) for u in names if chance.random() < 0.8}}
    elif chance.random() < 0.5:
        classes = [entry["name"] for entry in document["machines"]]
        today = {"placement": {u: {c: some(u) for c in classes if chance.random() < 0.6} for u in names}}
    else:
        machines = {}
        for entry in document["machines"]:
            for copy in range(1, entry["count"] + 1):
                held = {u: some(u, (0, 0, 0, 1, 1, 2)) for u in names if chance.random() < 0.5}
                machines[f"{entry['name']}-{copy}"] = {"class": entry["name"], "tasks": held}
        today = {"machines": machines}
    return Case(at, document, policy, today, chance.choice((None, None, 0, 1, 2, 3)))


# ---- what is possible ------------------------------------------------------------------------------------------------


class TooMany(Exception):
    """There is more than is enumerated."""


def _alone(instance: Instance, k: int | None) -> Enumeration:
    """Return one machine of a class, or a pool: what it can hold has nothing to do with rules."""
    cluster: dict[str, Any] = {"organisation": None, "weights": None}
    if k is not None:
        machine = (instance.machines or ())[k]
        one = Machine(machine.name, machine.capacity, 1, machine.devices)
        cluster |= {"capacity": None, "machines": [one], "eligible": instance.eligible[:, [k]]}
    return Enumeration(Instance(**(instance.parts() | cluster)), "tasks")


class Placements:
    """All totals that can be run, each with the fewest tasks that have to leave for it."""

    def __init__(self, case: Case):
        self.case, instance = case, case.instance
        names = list(instance.users)
        self.loads: dict[str | None, list[tuple[int, ...]]] = {}
        for _, of, _ in case.places:
            if of not in self.loads:
                alone = _alone(instance, None if of is None else instance.machine_names.index(of))
                if math.prod(most + 1 for most in alone.most) > 40 * LOADS:
                    raise TooMany
                ways = product(*(range(most + 1) for most in alone.most))
                self.loads[of] = [load for load in ways if of is None or alone.possible(list(load))]
                if len(self.loads[of]) > LOADS:
                    raise TooMany
        self.fewest: dict[tuple[int, ...], int] = {(0,) * len(names): 0}
        for place, of, count in case.places:
            there = [case.runs(place).get(u, 0) for u in names]
            held = {(0,) * len(names)}
            for _ in range(count):
                held = {_plus(one, load) for one in held for load in self.loads[of]}
                if len(held) > STATES:
                    raise TooMany
            found: dict[tuple[int, ...], int] = {}
            for total, left in self.fewest.items():
                for load in held:
                    here = left + sum(max(0, x - y) for x, y in zip(there, load, strict=True))
                    key = _plus(total, load)
                    found[key] = min(found.get(key, here), here)
                if len(found) > STATES:
                    raise TooMany
            self.fewest = found
        self.truth = Enumeration(instance, case.policy)
        self.fewest = {
            total: left
            for total, left in self.fewest.items()
            if all(x <= most for x, most in zip(total, self.truth.most, strict=True))
            and self.truth.possible(list(total))
        }

    def best(self) -> tuple[set[tuple[int, ...]], int | None]:
        """Return the totals that are best within the moves, and the fewest that leave for one of them."""
        moves = self.case.moves
        able = {total: left for total, left in self.fewest.items() if moves is None or left <= moves}
        if not able:
            return set(), None
        if self.case.instance.several_groups and self.truth.policy.objective == "leximin":
            if sum(self.truth.most) > TURNS:
                raise TooMany
            chosen = {tuple(one) for one in Groups(self.case.instance, self.case.policy).best()}
        else:
            scores = {total: self.truth.score(list(total)) for total in able}
            top = max(scores.values())
            chosen = {total for total, score in scores.items() if score == top}
        return chosen, min(able[total] for total in chosen)


def _plus(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(x + y for x, y in zip(one, other, strict=True))


# ---- what is said ----------------------------------------------------------------------------------------------------


@dataclass
class Asked:
    """A plan, and what becomes of today's tasks by its steps."""

    case: Case
    found: Rebalancing

    @cached_property
    def today(self) -> dict[tuple[str, str, str], int]:
        """What runs today by user, type and place."""
        found: dict[tuple[str, str, str], int] = {}
        for place, _, _ in self.case.places:
            for user, held in self.case.runs(place).items():
                if isinstance(held, dict):
                    found |= {(user, t, place): x for t, x in held.items() if x}
                elif "tasks" in users_of(self.case.document)[user]:
                    # In a pool a number of tasks are the first of the sequence.
                    instance = self.case.instance
                    i = instance.users.index(user)
                    counts = instance.types_started(i, min(held, sum(instance.type_sequences[i].counts)))
                    found |= {(user, str(t), place): x for t, x in enumerate(counts, start=1) if x}
                elif held:
                    found[user, "", place] = held
        return found

    @cached_property
    def document(self) -> dict[str, Any]:
        return json.loads(json.dumps(self.found.to_dict()))

    @cached_property
    def counts(self) -> Counter:
        return Counter({kind: sum(s["tasks"] for s in self.document["steps"] if s["kind"] == kind) for kind in KINDS})


KINDS = ("move", "evict", "start")


def _step(asked: Asked, match: re.Match) -> None:
    row = {"kind": match["kind"], "user": match["user"], "tasks": int(match["tasks"])}
    row |= {"from": match["source"] or None, "to": match["target"] or None} | (
        {"type": match["type"]} if match["type"] else {}
    )
    need(row in asked.document["steps"], f"{match[0]} is no step")


def _made(asked: Asked, match: re.Match) -> None:
    for kind, noun in zip(KINDS, ("move", "eviction", "start"), strict=True):
        count = asked.counts[kind]
        need(f"{count} {noun}{'' if count == 1 else 's'}" in match["made"], f"{match[0]}: {dict(asked.counts)}")
    need(bool(match["few"]) == asked.found.fewest, match[0])
    need(
        match["few"] is None
        or match["few"]
        == {"levels": "these levels", "sum": "a sum as large"}.get(
            asked.found.goal, f"{'a ' * (asked.found.goal == 'product')}{asked.found.goal} as large"
        ),
        match[0],
    )


def _best(asked: Asked, match: re.Match) -> None:
    case = asked.case
    goal = GOALS.get(case.policy, "levels")
    need(match["goal"] == goal, f"{match[0]}: {goal}")
    moves = None if case.moves is None else f"{case.moves} task{'' if case.moves == 1 else 's'}"
    need(match["moves"] == moves, match[0])
    promised = goal != "levels" and "organisation" in case.instance.features
    need(bool(match["kept"]) == promised, match[0])


GOALS = {"utilitarian": "sum", "throughput": "sum", "ceei": "product", "alpha:2": "utilities"}


def _impossible(asked: Asked, match: re.Match) -> None:
    told = match["odd"].split("; ")
    for text in told:
        text = re.sub(r" and \d+ more$", "", text)
        for template, judge in TODAY.items():
            if found := re.fullmatch(template, text):
                judge(asked, found)
                asked.case.said[template] += 1
                break
        else:
            raise Wrong(f"no judge knows: {text}")


def _running(asked: Asked, place: str) -> Iterator[tuple[str, Document, dict, int]]:
    """Yield user, entry, type and number of what runs in a place today."""
    for (user, t, where), x in asked.today.items():
        if where == place:
            entry = users_of(asked.case.document)[user]
            yield user, entry, entry["tasks"][int(t) - 1] if t else entry, x


def _closed_there(asked: Asked, match: re.Match) -> None:
    need(
        any(
            user == match["user"] and not _fits(asked, entry, kind, match["place"])
            for user, entry, kind, _ in _running(asked, match["place"])
        ),
        match[0],
    )


def _fits(asked: Asked, entry: Document, kind: Document, place: str) -> bool:
    document = asked.case.document
    of = next(of for name, of, _ in asked.case.places if name == place)
    if of is None:
        return all(Fraction(kind["demand"].get(r, 0)) <= Fraction(c) for r, c in document["capacity"].items())
    machine = next(row for row in document["machines"] if row["name"] == of)
    if any("machines" in bearer and of not in bearer["machines"] for bearer in (entry, kind)):
        return False
    for r, c in machine["capacity"].items():
        d = Fraction(kind["demand"].get(r, 0))
        if d > Fraction(c) or (r in machine.get("devices", {}) and d > 1 and d.denominator > 1):
            return False
    return True


def _room_of(asked: Asked, place: str) -> dict[str, Fraction]:
    document = asked.case.document
    _, of, count = next(row for row in asked.case.places if row[0] == place)
    if of is None:
        return {r: Fraction(c) for r, c in document["capacity"].items()}
    machine = next(row for row in document["machines"] if row["name"] == of)
    return {r: count * Fraction(c) for r, c in machine["capacity"].items()}


def _used(asked: Asked, place: str, resource: str) -> Fraction:
    return sum((x * Fraction(kind["demand"].get(resource, 0)) for _, _, kind, x in _running(asked, place)), Fraction(0))


def _too_much(asked: Asked, match: re.Match) -> None:
    used, room = _used(asked, match["place"], match["resource"]), _room_of(asked, match["place"])[match["resource"]]
    need(used > room, f"{match[0]}: {used} of {room}")
    near(Fraction(match["used"]), used, match[0], 6)
    near(Fraction(match["room"]), room, match[0], 6)


def _crowded(asked: Asked, match: re.Match) -> None:
    """What is there is too much for whole machines, or devices: sums do not say so, an enumeration does."""
    need(not _packable(asked, match["place"]), f"{match[0]}, and it can be packed")


def _packable(asked: Asked, place: str) -> bool | None:
    """Say whether what runs in a place can be packed; None where somebody may not be there at all."""
    case = asked.case
    _, of, count = next(row for row in case.places if row[0] == place)
    running = [(kind, x) for _, entry, kind, x in _running(asked, place) if _fits(asked, entry, kind, place)]
    if of is None:
        room = _room_of(asked, place)
        return all(sum(x * Fraction(kind["demand"].get(r, 0)) for kind, x in running) <= c for r, c in room.items())
    machine = next(row for row in case.document["machines"] if row["name"] == of)
    alone = {"machines": [machine | {"count": count}]}
    alone["users"] = [{"name": f"t{t}", "demand": kind["demand"]} for t, (kind, _) in enumerate(running)]
    if not running:
        return True
    return Enumeration(read(alone), "tasks").possible([x for _, x in running])


TODAY: dict[str, Callable[[Asked, re.Match], None]] = {
    r"(?P<user>\w+) runs on (?P<place>.+), which its task may not use or does not fit on": _closed_there,
    r"(?P<place>.+) runs (?P<used>\S+) (?P<resource>\w+) of (?P<room>\S+)": _too_much,
    r"(?P<place>.+) needs at least \d+ devices of \w+ and has \d+": _crowded,
    r"(?P<place>.+) needs at least \d+ machines for \w+ and has \d+": _crowded,
    r"what (?P<place>.+) runs cannot be packed on (?:its \d+ machines|it), though there is enough of each resource":
        _crowded,
}  # fmt: skip


def _between(asked: Asked, match: re.Match) -> None:
    need("placement" in asked.case.today, match[0])


TASKS = r"(?P<tasks>\d+) of (?P<user>\w+)(?: \((?P<type>\w+)\))?"

NOTES: dict[str, Callable[[Asked, re.Match], None]] = {
    rf"(?P<kind>move) {TASKS} from (?P<source>.+) to (?P<target>.+)": _step,
    rf"(?P<kind>evict) {TASKS} from (?P<source>.+)(?P<target>)?": _step,
    rf"(?P<kind>start) {TASKS}(?P<source>)? on (?P<target>.+)": _step,
    r"\.\.\. and (?P<more>\d+) more steps \(json has them all\)": lambda asked, match: need(
        int(match["more"]) == len(asked.document["steps"]) - 20, match[0]
    ),
    r"(?P<made>\d+ moves?, \d+ evictions?, \d+ starts?): (?:no fewer moves and evictions lead to (?P<few>.*) "
    r"\(proven\)|fewer may do, .*)": _made,
    r"(?P<goal>levels|sum|product|utilities): no allocation of whole tasks(?P<kept> that keeps guarantees as well)?"
    r"(?: with at most (?P<moves>\d+ tasks?) moved or evicted)? (?:is fairer|has a larger sum|has more users with a "
    r"task, or as many and a larger product|has larger utilities) \(proven\)": _best,
    r"(?:sum|product|utilities): the best known, .*": lambda asked, match: need(not asked.found.fairest, match[0]),
    r"levels: the \d+ lowest of \d+ are proven .*": lambda asked, match: need(not asked.found.fairest, match[0]),
    r"today, by the file, there runs what cannot: (?P<odd>.*)": _impossible,
    r"whether what runs today can be packed was not decided: .*": lambda asked, match: None,
    r"counted between classes: the file names no machines, and moves within a class come on top": _between,
    r"(?P<status>optimal|feasible|time_limit), \S+ s": lambda asked, match: need(
        match["status"] == asked.found.status, match[0]
    ),
}  # fmt: skip


def _told(asked: Asked) -> None:
    case, found = asked.case, asked.found
    sheet = found.sheet()
    by_template(sheet.notes, NOTES, asked, case.said)
    text = "\n".join(sheet.notes)
    odd = [place for place, _, _ in case.places if _odd(asked, place)]
    if "not decided" not in text:
        need(bool(odd) == ("what cannot" in text), f"what cannot run today: {odd}")
    need(("counted between classes" in text) == ("placement" in case.today), "counted between classes")
    _steps(asked)
    stick, before, after = Yardstick(case.document, case.policy), Counter(), Counter()
    for (user, _, _), x in asked.today.items():
        before[user] += x
    for (user, _, _), x in _after(asked).items():
        after[user] += x
    for row in sheet.rows:
        user = row[0]
        entry = users_of(case.document)[user]
        need(list(row[1:3]) == [before[user], after[user]], f"{user} runs {row[1]} today, and then {row[2]}")
        done = [
            sum(s["tasks"] for s in asked.document["steps"] if s["user"] == user and s["kind"] == kind)
            for kind in KINDS
        ]
        need(list(row[5:]) == done, f"{user}: {row[5:]}")
        if "tasks" not in entry:
            lost = {case.instance.users[i] for i in range(case.instance.n) if case.instance.unplaced()[i]}
            for cell, tasks, when in ((row[3], before[user], "today"), (row[4], after[user], "then")):
                if user not in lost:
                    level = stick.level(entry, Fraction(tasks), whole=True)
                    near(cell, level, f"level of {user} {when}", 9, Fraction(1, 10**12))
        case.said["row of a plan"] += 1
    for key in asked.document:
        need(key in KEYS, f"no judge knows the key {key}")
        KEYS[key](asked, asked.document[key])
        case.said[f"key {key}"] += 1


def _odd(asked: Asked, place: str) -> bool:
    closed = any(not _fits(asked, entry, kind, place) for _, entry, kind, _ in _running(asked, place))
    room = _room_of(asked, place)
    over = any(_used(asked, place, r) > room[r] for r in room)
    return closed or over or not _packable(asked, place)


def _steps(asked: Asked) -> None:
    """The steps lead from today to what is told to run, and what is told is feasible."""
    after = _after(asked)
    need(all(x >= 0 for x in after.values()), "a step takes what is not there")
    placed = Counter()
    for (user, _, place), x in after.items():
        placed[user, place] += x
    told = {(u, p): x for u, row in asked.document["placement"].items() for p, x in row.items()}
    typed_pool = asked.case.typed and "capacity" in asked.case.document
    need(
        typed_pool or {key: x for key, x in placed.items() if x} == told, f"placement {told}, and by the steps {placed}"
    )


def _after(asked: Asked) -> Counter:
    found = Counter(asked.today)
    for step in asked.document["steps"]:
        t = step.get("type", "")
        if step["from"] is not None:
            found[step["user"], t, step["from"]] -= step["tasks"]
        if step["to"] is not None:
            found[step["user"], t, step["to"]] += step["tasks"]
    return found


def _counted(kind: str) -> Callable[[Asked, Any], None]:
    return lambda asked, value: need(value == asked.counts[kind], f"{kind}: {value}")


def _rows(asked: Asked, value: Any) -> None:
    need(
        [(r["name"], r["tasks_before"], r["tasks"]) for r in value] == [row[:3] for row in asked.found.sheet().rows],
        "users",
    )


KEYS: dict[str, Callable[[Asked, Any], None]] = {
    "schema": lambda asked, value: need(value == "drfopt rebalancing 1", value),
    "instance": lambda asked, value: need(not value, value),
    "policy": lambda asked, value: need(value == asked.case.policy, value),
    "status": lambda asked, value: need(value == asked.found.status, value),
    "at_most": lambda asked, value: need(value == asked.case.moves, value),
    "moves": _counted("move"),
    "evictions": _counted("evict"),
    "starts": _counted("start"),
    "fewest_proven": lambda asked, value: need(value == asked.found.fewest, value),
    "fairest_proven": lambda asked, value: need(value == asked.found.fairest, value),
    "users_proven": lambda asked, value: None,
    "places": lambda asked, value: need(
        value == {"tasks": "pool", "placement": "classes", "machines": "machines"}[next(iter(asked.case.today))], value
    ),
    "steps": lambda asked, value: None,
    "users": _rows,
    "placement": lambda asked, value: None,
    "impossible_today": lambda asked, value: need(
        bool(value) == any(_odd(asked, p) for p, _, _ in asked.case.places) or asked.document["undecided_today"], value
    ),
    "undecided_today": lambda asked, value: None,
    "types": lambda asked, value: need(asked.case.typed, "types"),
    "seconds": lambda asked, value: need(value >= 0, value),
}


def _fewest(asked: Asked) -> str:
    """Judge that it is best, and that no fewer tasks have to leave; say what could not be judged."""
    case, found = asked.case, asked.found
    tasks = tuple(row["tasks"] for row in asked.document["users"])
    if case.policy == "per-server":
        return "each machine by itself"
    if case.typed:
        truth = Enumeration(case.instance, case.policy)
        need(truth.possible(list(tasks)), f"{tasks} cannot be run")
        if (
            math.prod(most + 1 for most in truth.most) > STATES
            or case.moves is not None
            or case.instance.several_groups
        ):
            return "types"
        need(not found.fairest or truth.score(list(tasks)) == truth.best(), f"{tasks}: {truth.best()} is possible")
        return "types, moves"
    all_of_it = Placements(case)
    best, fewest = all_of_it.best()
    need(tasks in all_of_it.fewest, f"{tasks} cannot be run")
    leaving = asked.counts["move"] + asked.counts["evict"]
    if found.fairest:
        need(tasks in best, f"{tasks} runs, and the best are {sorted(best)[:5]}")
        need(not found.fewest or leaving == fewest, f"{leaving} leave, and {fewest} do")
    return ""


def judged(case: Case) -> tuple[str, str]:
    """Return ``right``, ``wrong``, ``refused`` or ``not drawn``, and why."""
    try:
        policy_named(case.policy).check(case.instance, True, FEATURES)
        Enumeration(case.instance, case.policy)
    except (DrfoptError, TypeError) as error:  # It knows no weights of a resource each in a market.
        return "not drawn", str(error)
    try:
        found = rebalance(case.instance, case.today, moves=case.moves, policy=case.policy, time_limit=60)
    except DrfoptError as error:
        return _refused(case, error)
    except Exception as error:
        return "wrong", "".join(traceback.format_exception(error)[-3:])
    try:
        asked = Asked(case, found)
        _told(asked)
        left = _fewest(asked)
        case.said["nothing else is judged: " + left if left else "the fewest moves, and the best"] += 1
    except Wrong as wrong:
        return "wrong", str(wrong)
    except TooMany:
        return "right, not enumerated", ""
    except Exception as error:
        return "wrong", "".join(traceback.format_exception(error)[-3:])
    return "right", found.status


def _refused(case: Case, error: DrfoptError) -> tuple[str, str]:
    """Judge how many must leave before anything else; other refusals are those of `solve` and of the door."""
    match = re.search(r"at least (\d+) must move or be evicted before anything else, and (\d+) may", str(error))
    if match is None:
        return "refused", f"{type(error).__name__}: {error}" if not isinstance(error, PolicyError) else "policy"
    try:
        if not case.typed:
            fewest = min(Placements(case).fewest.values())
            need(int(match[1]) == fewest and int(match[2]) == case.moves < fewest, f"{error}: {fewest}")
    except TooMany:
        pass
    except Wrong as wrong:
        return "wrong", str(wrong)
    case.said["at least so many must leave"] += 1
    return "right", "too few"


def main() -> int:
    """Judge some and print what came of them."""
    return judge_many(__doc__, drawn, judged, lambda _, word, why: why if word in ("right", "refused") else "")


if __name__ == "__main__":
    sys.exit(main())
