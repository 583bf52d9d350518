"""What `schedule` says, judged: every step by Algorithm 1 once more, and how far it is from the optimum."""

import random
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from said_by_compare import unplaced
from sayings import NUMBER, Book, Template, agrees
from world import TooLarge, World

from drfopt import Instance, PolicyError, schedule
from drfopt.base.tables import SHOWN
from drfopt.model.policies import policy_named

__all__ = ["BOOK", "judged"]


class Filled:
    """A schedule, its instance, and the same worked out once more."""

    def __init__(self, instance: Instance, policy: str, found: Any):
        self.instance, self.policy, self.found = instance, policy, found
        self.world = World(instance, True)
        self.short = policy
        if policy.startswith("single:"):
            self.short = f"single:r{self.world.resources.index(policy.removeprefix('single:'))}"

    @property
    def plain(self) -> bool:
        """Whether levels alone say whose turn it is."""
        return not self.instance.features and self.policy != "per-server"

    def steps(self) -> Iterator[tuple[int, int, list[int]]]:
        """Yield who is served, on which class, and all tasks then."""
        world, ahead = self.world, int(self.found.rule == "sequential-min-max")
        rates = [world.rate(i, self.short) if world.placed[i] else Fraction(0) for i in range(world.n)]
        machines = [
            (k, list(row), {j: [size] * number for j, (number, size) in world.devices[k].items()})
            for k, (row, count) in enumerate(world.classes)
            for _ in range(count)
        ]
        tasks, out = [0] * world.n, {i for i in range(world.n) if not world.placed[i]}
        while asking := [
            i for i in range(world.n) if i not in out and (world.limits[i] is None or tasks[i] < world.limits[i])
        ]:
            i = min(asking, key=lambda i: (rates[i] * (tasks[i] + ahead), i))
            k = self._placed(i, machines)
            if k is None:
                if self.found.when_full == "stop":
                    return
                out.add(i)
                continue
            tasks[i] += 1
            yield i, k, list(tasks)

    def _placed(self, i: int, machines: list) -> int | None:
        """Put a task on the first machine, and there on the first devices, on which it fits."""
        need = self.world.demands[i]
        for k, room, devices in machines:
            if not self.world.kinds[i][0][2][k] or any(d > c for d, c in zip(need, room, strict=True)):
                continue
            dealt = {}
            for j, free in devices.items():
                size, number = self.world.devices[k][j][1], self.world.devices[k][j][0]
                assert len(free) == number
                if not need[j]:
                    continue
                if need[j] < size:
                    at = next((d for d, left in enumerate(free) if left >= need[j]), None)
                    dealt[j] = None if at is None else [at]
                else:
                    whole = [d for d, left in enumerate(free) if left == size][: int(need[j] / size)]
                    dealt[j] = whole if len(whole) == need[j] / size else None
            if None in dealt.values():
                continue
            for j, places in dealt.items():
                for d in places:
                    devices[j][d] -= min(need[j], self.world.devices[k][j][1])
            for j, d in enumerate(need):
                room[j] -= d
            return int(k)
        return None


def _counts(text: str) -> list[tuple[str, list[int]]]:
    rows = [re.fullmatch(r"(\S+) ([0-9 +]+)", part.removesuffix(" ...")) for part in text.split(", ")]
    return [(row[1], [int(x) for x in row[2].split(" + ")]) for row in rows if row]


def _tasks(case: Filled, text: str) -> str | None:
    if [(user, [int(x)]) for user, x in zip(case.world.users, case.found.tasks, strict=True)][:SHOWN] != _counts(text):
        return f"they are {case.found.tasks.tolist()}"
    if not case.plain:
        tasks = case.found.tasks.tolist()
        return None if case.world.enumeration.possible(tasks) or case.world.case.types else "they do not fit"
    steps = list(case.steps())
    right = steps[-1][2] if steps else [0] * case.world.n
    return None if right == case.found.tasks.tolist() else f"Algorithm 1 starts {right}"


def _types(case: Filled, text: str) -> str | None:
    for user, counts in _counts(text):
        i = case.world.users.index(user)
        kinds = case.world.case.types[i]
        if len(counts) != len(kinds) or sum(counts) != case.found.tasks[i]:
            return f"{user} runs {case.found.tasks[i]} in all, of {len(kinds)} types"
        if any(x > kind.count for x, kind in zip(counts, kinds, strict=True)):
            return f"{user} has fewer"
    return None


def _optimum(case: Filled, word: str, lowest: str, here: str, more: str, less: str) -> str | None:
    from engines.whole_reference import Enumeration

    world, best = case.world, case.found.optimum.tasks.tolist()
    if word != "proven":
        return "the enumeration of it is short"
    if case.policy == "per-server" or world.instance.several_groups:
        raise TooLarge
    value = Enumeration(case.instance, case.policy)
    members = value.playing
    rows = list(world.vectors)
    score = value.score(best)
    if score != max(map(value.score, rows)):
        return f"{best} is not the optimum"
    for text, tasks in ((lowest, best), (here, case.found.tasks.tolist())):
        should = min((value.level(i, int(tasks[i])) for i in members), default=Fraction(0))
        if not agrees(text, should):
            return f"{float(should)} and not {text}"
    pairs = list(zip(best, case.found.tasks.tolist(), strict=True))
    counts = (sum(a > b for a, b in pairs), sum(a < b for a, b in pairs))
    return None if counts == (int(more), int(less)) else f"{counts}"


def _unplaced(case: Filled, names: str) -> str | None:
    return None if names.split(", ") == unplaced(case.world) else f"unplaced are {unplaced(case.world)}"


def _when(fact: Any) -> Any:
    return lambda case: None if fact(case) else "it is not so"


BOOK = Book(
    (
        Template("tasks", r"tasks: (?P<text>.*)", _tasks),
        Template("by type", r"by type: (?P<text>.*)", _types),
        Template(
            "optimum",
            r"optimum of whole tasks \((?P<word>proven|the best known, not proven)\): "
            rf"lowest level (?P<lowest>{NUMBER}), here (?P<here>{NUMBER}); "
            r"more in it: (?P<more>\d+) users?, less: (?P<less>\d+)",
            _optimum,
        ),
        Template(
            "of one machine",
            "shares, and what is used, are of one machine by itself; those of a class are alike",
            _when(lambda case: case.policy == "per-server"),
        ),
        Template(
            "sequential-min-max",
            "SequentialMinMax: served is whose level after the task is lowest",
            _when(lambda case: case.found.rule == "sequential-min-max"),
        ),
        Template(
            "stop",
            "a task that fits nowhere ends it, as printed in the paper: others' tasks may still fit",
            _when(lambda case: case.found.when_full == "stop"),
        ),
        Template("unplaced", r"unplaced \(a task fits on nothing open to it\): (?P<names>.*)", _unplaced),
    )
)


def judged(instance: Instance, policy: str, whole: bool, chance: random.Random) -> list[str]:
    """Schedule whole tasks one at a time and return what is false of what is said."""
    rule, when_full = (
        chance.choice(("algorithm-1", "algorithm-1", "sequential-min-max")),
        chance.choice(("skip", "stop")),
    )
    if policy_named(policy).objective not in ("leximin", "servers"):
        policy = "drf"
    optimum = chance.random() < 0.5
    try:
        found = schedule(instance, policy, rule=rule, when_full=when_full, optimum=optimum)
    except PolicyError:
        found = schedule(instance, policy, when_full=when_full)
    case, sheet = Filled(instance, policy, found), found.sheet()
    wrong = BOOK.told(
        "title", None if sheet.title == f"{found.policy}, whole tasks one at a time" else sheet.title
    )  # fmt: skip
    for fault in _trace(case, [column.heading for column in sheet.columns], sheet.rows):
        wrong += BOOK.told("step", fault)
    if not found.trace:
        # Without a trace the same tasks, jumped to.
        pass
    again = schedule(instance, policy, rule=found.rule, when_full=when_full, trace=False)
    wrong += BOOK.told(
        "without a trace", None if again.tasks.tolist() == found.tasks.tolist() else f"{again.tasks.tolist()}"
    )  # fmt: skip
    document = found.to_dict()
    wrong += BOOK.told("json", _document(case, document))
    return wrong + BOOK.judged(case, sheet.notes)


def _trace(case: Filled, headings: list[str], rows: list[tuple]) -> Iterator[str | None]:
    world, running = case.world, [0] * case.world.n
    expected = list(case.steps()) if case.plain else None
    if expected is not None and len(expected) != len(rows):
        yield f"{len(rows)} steps instead of {len(expected)}"
        return
    for at, row in enumerate(rows):
        told = dict(zip(headings, row, strict=True))
        i = world.users.index(told["serves"])
        running[i] += 1
        if told["step"] != at + 1:
            yield f"step {told['step']} is {at + 1}"
            continue
        if expected is not None:
            who, k, tasks = expected[at]
            if who != i or tasks != running:
                yield f"step {at + 1} serves {told['serves']} instead of u{who}"
                continue
            if "on" in told and told["on"] != case.instance.machine_names[k]:
                yield f"step {at + 1} is on class {k}"
                continue
            used = [
                sum((d[j] * x for d, x in zip(world.demands, running, strict=True)), Fraction(0))
                for j in range(world.m)
            ]
            yield _cells(case, told, i, running, used)
        else:
            yield None


def _cells(
    case: Filled, told: dict[str, Any], served: int, running: Sequence[int], used: Sequence[Fraction]
) -> str | None:
    world = case.world
    for heading, cell in told.items():
        if heading.endswith(" used"):
            j = world.resources.index(heading.removesuffix(" used"))
            text, _, whole = cell.partition("/")
            if not agrees(text, used[j]) or not agrees(whole, world.capacity[j]):
                return f"{heading}: {cell} is {float(used[j])}"
        elif " of " in heading:
            what, _, user = heading.partition(" of ")
            i = served if user == "the served" else world.users.index(user)
            each = world.dominant(i) if what == "share" else world.shares(i)[world.resources.index(what)]
            if not agrees(cell, each * running[i], Fraction(1, 1000)):
                return f"{heading}: {cell} is {float(each * running[i])}"
    return None


def _document(case: Filled, document: dict[str, Any]) -> str | None:
    if list(document["tasks"].values()) != case.found.tasks.tolist():
        return "other tasks"
    if document["unplaced"] != unplaced(case.world):
        return f"unplaced are {unplaced(case.world)}"
    if "placement" in document:
        sums = [sum(document["placement"][user].values()) for user in case.world.users]
        if sums != case.found.tasks.tolist():
            return f"placed are {sums}"
    trace = document["trace"] or []
    if len(trace) != (sum(case.found.tasks.tolist()) if case.policy != "per-server" else len(trace)):
        return f"{len(trace)} steps"
    return None
