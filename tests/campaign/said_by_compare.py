"""What `compare` says, judged: every column of a row, and every note below the table."""

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

from sayings import Book, Template, close
from world import TooLarge, World, middle

from drfopt import Allocation, DrfoptError, Instance, compare, schedule, solve
from drfopt.model.policies import policy_named

__all__ = ["BOOK", "Compared", "judged", "taking_part", "unplaced"]

ACCURACY = Fraction(1, 10**7)
"""Part to which numbers of computed tasks are what they should be, with a digit to spare."""


class Compared:
    """A comparison, its instance and the row that is judged."""

    def __init__(self, instance: Instance, whole: bool, found: Any):
        self.instance, self.whole, self.found = instance, whole, found
        self.world = World(instance, whole)
        self.row: dict[str, Any] = {}
        self.allocation: Any = None

    @cached_property
    def largest(self) -> Fraction:
        """The largest possible sum of dominant shares, rules kept."""
        world, case = self.world, self.world.case
        if any(case.guarantees.values()) or any(case.tiers.values()) or any(case.last) or case.groups:
            # What such rules leave to a sum is judged by `campaign.py` and `kinds.py`.
            utilitarian = solve(self.instance, "utilitarian", integer=self.whole)
            return sum(shares(world, utilitarian.tasks.tolist()), Fraction(0))
        if self.whole:
            return max(sum(shares(world, row), Fraction(0)) for row in world.vectors)
        program = world.polytope()
        program.add("sum", {("X", i): world.dominant(i) for i in world.playing}, Fraction(0), free=True)
        most = program.maximise("sum")
        assert most is not None
        return most


def shares(world: World, tasks: Sequence[Any]) -> list[Fraction]:
    """Return dominant shares; a task of several types counts as the mean of them."""
    return [middle(x) * world.dominant(i) for i, x in enumerate(tasks)]


def taking_part(world: World) -> list[int]:
    """Return who is placed and may run something."""
    return [i for i in range(world.n) if world.placed[i] and world.wants[i]]


def unplaced(world: World) -> list[str]:
    """Return whose task fits on nothing open to it, though it asks for one."""
    return [
        user
        for i, user in enumerate(world.users)
        if not world.placed[i] and (world.asked[i] is None or world.asked[i] >= (1 if world.whole else 0))
        and world.asked[i] != 0
    ]  # fmt: skip


# ---- columns ---------------------------------------------------------------------------------------------------------


def _column(case: Compared, name: str) -> str | None:
    """Return what is false of a cell."""
    value, world, found = case.row[name], case.world, case.allocation
    tasks = found.tasks.tolist()
    if name.startswith("tasks of "):
        return _same(value, tasks[world.users.index(name.removeprefix("tasks of "))])
    if name == "lowest share":
        mine = shares(world, tasks)
        return _same(value, min((mine[i] for i in taking_part(world)), default=0))
    if name == "sum of shares":
        return _same(value, sum(shares(world, tasks)))
    if name == "price of fairness":
        if value is None:
            return "it is not known" if found.finished and not case.found.unpriced else None
        price = 1 - sum(shares(world, tasks)) / case.largest if case.largest else Fraction(0)
        return None if abs(Fraction(value) - price) <= 10 * ACCURACY else f"it is {float(price)}"
    if name.endswith(" used"):
        return _same(value, _utilization(case, found, world.resources.index(name.removesuffix(" used"))))
    if name == "proof":
        proof = found.certificate
        return None if value == (proof.kind if proof.valid else "feasible") else "it is another"
    return _integrality(case, name, value)


def _same(value: Any, should: Any) -> str | None:
    return None if close(value, middle(should), ACCURACY) else f"{value} is {float(should)}"


def _utilization(case: Compared, found: Allocation, j: int) -> Fraction:
    world, capacity = case.world, case.world.capacity[j]
    if not capacity:
        return Fraction(0)
    if not case.whole or not world.case.types:
        return (
            sum((middle(x) * world.demands[i][j] for i, x in enumerate(found.tasks.tolist())), Fraction(0)) / capacity
        )
    tasks = [int(x) for x in found.tasks]
    return Fraction(world.enumeration.used(tasks, list(range(world.n)), j)) / capacity


def _measured(case: Compared, tasks: Sequence[Any]) -> Any:
    """Return the lowest level, the sum or the mean of whole tasks, as the measure of a policy says."""
    policy, world, chosen = case.allocation.policy, case.world, policy_named(case.allocation.policy)
    members = taking_part(world)
    if not members:
        return 0.0
    if chosen.objective == "leximin":
        there = _levels(case, policy)
        return min(there(i, int(tasks[i])) for i in members)
    rate = [Fraction(1) if chosen.measure == "tasks" else world.dominant(i) for i in range(world.n)]
    if chosen.objective == "sum":
        return sum(rate[i] * middle(tasks[i]) for i in members)
    weights = [float(world.weights[i][0]) for i in members]
    levels = [float(rate[i] * middle(tasks[i]) / world.weights[i][0]) for i in members]
    if policy == "ceei":
        x = [float(tasks[i]) for i in members]
        return math.exp(sum(w * math.log(v) for w, v in zip(weights, x, strict=True)) / sum(weights)) if all(x) else 0.0
    power = 1 - chosen.alpha
    if not any(levels) or (power < 0 and not all(levels)):
        return 0.0
    return (sum(w * v**power for w, v in zip(weights, levels, strict=True)) / sum(weights)) ** (1 / power)


def _levels(case: Compared, policy: str) -> Any:
    if "organisation" in case.instance.features or case.world.case.types:
        from engines.whole_reference import Enumeration

        return Enumeration(case.instance, policy).level
    return lambda i, x: case.world.rate(i, _short(case, policy)) * x


def _short(case: Compared, policy: str) -> str:
    if not policy.startswith("single:"):
        return policy
    return f"single:r{case.world.resources.index(policy.removeprefix('single:'))}"


def _integrality(case: Compared, name: str, value: Any) -> str | None:
    """Judge what stands beside whole tasks."""
    policy = case.allocation.policy
    beside = case.found.integrality.get(policy)
    if beside is None:
        return "nothing is beside it" if value is not None else None
    if policy == "per-server":
        raise TooLarge
    tasks = case.allocation.tasks.tolist()
    plain = not case.instance.features
    if name == "optimum":
        return _near(value, _measured(case, tasks))
    if name == "continuous":
        if value is None:
            return None
        # Nothing whole can be above it.
        best = max(_measured(case, row) for row in case.world.vectors)
        if float(best) > value * (1 + 1e-7) + 1e-12:
            return f"whole tasks reach {float(best)}"
        return "optimum above it" if float(_measured(case, tasks)) > value * (1 + 1e-7) + 1e-12 else None
    if name == "greedy":
        if value is None:
            return None
        made = schedule(case.instance, policy, trace=False)
        return _near(value, _measured(case, made.tasks.tolist()))
    if name == "rounded":
        if value is None:
            return "a pool without rules can be rounded" if plain and case.world.pool else None
        if not case.world.pool:
            best = max(_measured(case, row) for row in case.world.vectors)
            return f"above the best, {float(best)}" if value > float(best) * (1 + 1e-9) + 1e-12 else None
        return None
    return f"no judge of a column {name!r}"


def _near(value: float, should: Any) -> str | None:
    return None if abs(value - float(should)) <= 1e-7 * abs(float(should)) + 1e-12 else f"{value} is {float(should)}"


# ---- notes -----------------------------------------------------------------------------------------------------------


def _unplaced(case: Compared, names: str) -> str | None:
    should = unplaced(case.world)
    return None if names.split(", ") == should else f"unplaced are {should}"


def _broken(case: Compared, policy: str, owed: str) -> str | None:
    allocation = next(a for a in case.found.allocations if a.policy == policy)
    return None if owed == ", ".join(map(str, allocation.broken)) else "others are broken"


def _beside(case: Compared, text: str) -> str | None:
    for part in text.split("; "):
        policy, _, said = part.partition(" by ")
        measure, _, ahead = said.partition(" (sequential-min-max ")
        chosen = policy_named(policy)
        alone = "lowest level on a machine" if case.world.case.machines else "lowest level"
        want = {"leximin": "lowest level", "sum": "sum of levels", "servers": alone}.get(
            chosen.objective, "geometric mean of tasks" if chosen.alpha == 1 else "power mean of levels"
        )
        if measure.removeprefix("weighted ") != want:
            return f"{policy} is measured by {want}"
        if measure.startswith("weighted "):
            members = taking_part(case.world)
            if len({case.world.weights[i][0] for i in members}) < 2:
                return "weights are equal"
        if ahead and not (policy == "per-server" and case.world.case.machines):
            case.allocation = next(a for a in case.found.allocations if a.policy == policy)
            made = schedule(case.instance, policy, rule="sequential-min-max", trace=False)
            should = float(_measured(case, made.tasks.tolist()))
            if abs(float(ahead.removesuffix(")")) - should) > 6e-6 * abs(should):
                return f"sequential-min-max reaches {should}"
    return None


def _refused(case: Compared, policy: str, why: str) -> str | None:
    if policy in case.found.refusals:
        try:
            solve(case.instance, policy, integer=case.whole)
        except DrfoptError as error:
            return None if str(error) == why else f"solve says {error}"
        return "solve answers"
    allocation = next((a for a in case.found.allocations if a.policy == policy), None)
    return "it is finished" if allocation is None or allocation.finished else None


def _types(case: Compared) -> str | None:
    several = any(len(kinds) > 1 for kinds in case.world.case.types.values())
    return None if case.whole and several else "nobody has several types"


BOOK = Book(
    (
        Template(
            "what shares are",
            "shares are dominant shares of users who are placed and may run something; "
            "price of fairness = 1 - sum of shares / (?P<whole>largest possible sum|sum under utilitarian)",
            # The columns are judged by it.
            lambda case, whole: None if ("util" in whole) == ("organisation" in case.instance.features) else "not that",
        ),
        Template(
            "types count as means",
            "a task of who has several types counts as the mean of them in levels, in sums of shares and in what is "
            "met",
            _types,
        ),
        Template("unplaced", r"unplaced \(a task fits on nothing open to it\): (?P<names>.*)", _unplaced),
        Template(
            "broken", r"(?P<policy>\S+): guarantees that (?:cannot be met|are not met here): (?P<owed>.*)", _broken
        ),
        Template("beside", r"beside: (?P<text>.*)", _beside),
        Template(
            "unpriced",
            "price of fairness: the (?:largest possible sum|sum under utilitarian) is not known: (?P<why>.*)",
            lambda case, why: None if why == case.found.unpriced else "there is another reason",
        ),
        Template("refused", r"(?P<policy>[a-z-]+(?::\S+)?): (?P<why>.*)", _refused),
    )
)


def judged(instance: Instance, policy: str, whole: bool, chance: random.Random) -> list[str]:
    """Compare policies on an instance and return what is false of what is said."""
    names = list(dict.fromkeys([policy, *chance.sample(("drf", "asset", "ceei", "utilitarian", "throughput"), 2)]))
    found = compare(instance, names, integer=whole)
    case, sheet = Compared(instance, whole, found), found.sheet()
    wrong = BOOK.told("title", None if sheet.title == f"{'whole' if whole else 'divisible'} tasks" else sheet.title)
    headings = [column.heading for column in sheet.columns]
    document = found.to_dict()
    for row in sheet.rows:
        case.row = dict(zip(headings, row, strict=True))
        solved = [a for a in found.allocations if a.policy == row[0]]
        if not solved:
            wrong += BOOK.told("row without an answer", None if row[-1] == found.refusals[row[0]] else str(row))
            continue
        case.allocation = solved[0]
        for name in headings[1:]:
            try:
                fault = _column(case, name)
            except TooLarge:
                BOOK.seen["not judged"] += 1
                continue
            kind = "tasks" if name.startswith("tasks of") else "used" if name.endswith(" used") else name
            wrong += [f"{row[0]}, {name}: {w}" for w in BOOK.told(f"column: {kind}", fault)]
        price = document["price_of_fairness"][row[0]]
        wrong += BOOK.told("json: price", None if price == case.row["price of fairness"] else f"{price}")
        if beside := document.get("whole_tasks", {}).get(row[0]):
            wrong += BOOK.told("json: whole tasks", _above_and_below(case, beside))
    return wrong + BOOK.judged(case, sheet.notes)


def _above_and_below(case: Compared, beside: dict[str, Any]) -> str | None:
    for name in ("greedy", "optimum", "continuous", "rounded"):
        if beside[name] != case.row[name]:
            return f"{name} is {case.row[name]}"
    best = case.allocation.tasks.tolist()
    for rule, way in (("algorithm-1", "greedy"), ("sequential-min-max", "min_max")):
        if way in beside["users_above_and_below"] and case.allocation.policy != "per-server":
            other = schedule(case.instance, case.allocation.policy, rule=rule, trace=False).tasks.tolist()
            pair = [
                sum(a > b for a, b in zip(best, other, strict=True)),
                sum(a < b for a, b in zip(best, other, strict=True)),
            ]
            if pair != beside["users_above_and_below"][way]:
                return f"{way}: {pair}"
    return None
