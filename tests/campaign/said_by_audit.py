"""What `audit` says, judged: verdicts that hold, and witnesses of those that fail.

A witness is judged by dividing the cluster that it speaks of; ``holds`` by the definition, and where it speaks of all
reports and all larger clusters by some of these.
"""

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

from sayings import NUMBER, Book, Template, agrees, close, number
from world import TooLarge, World, changed, divided, middle, without

from drfopt import Allocation, DrfoptError, Instance, Machine, audit
from drfopt.model.policies import policy_named

__all__ = ["BOOK", "Audited", "judged"]

MORE = Fraction(1, 10**6)
"""Part of its tasks from which on a loss is one where tasks are computed in floats."""

REPORTS, GROWTHS = 3, 2
"""Misreports of a user, and larger clusters, that are tried where a verdict is ``holds``."""


class Audited:
    """An instance under a policy, and the question that sentences are about."""

    def __init__(self, instance: Instance, policy: str, whole: bool, found: Any, chance: random.Random):
        self.instance, self.policy, self.whole, self.found, self.chance = instance, policy, whole, found, chance
        self.world = World(instance, whole)
        self.n, self.users = instance.n, list(instance.users)
        self.ruled = "organisation" in instance.features
        self.beyond = bool(instance.features - (set() if whole else {"types"}))
        self.finding: Any = None
        self._known: dict[Any, Allocation] = {}

    @cached_property
    def truth(self) -> Allocation:
        # Of several optima the one that is audited: under rules that of floats.
        return divided(self.instance, self.policy, self.whole, self.beyond)

    @cached_property
    def tasks(self) -> list[Fraction]:
        return [middle(x) for x in self.truth.tasks.tolist()]

    @property
    def exact(self) -> bool:
        return self.whole or self.truth.exact

    def less(self, mine: Fraction, other: Fraction) -> bool:
        """Say whether one number of tasks is less than another, beyond what floats and enclosures leave open."""
        return other - mine > MORE * max(mine, Fraction(1, 1000)) if not self.whole else mine < other

    def index(self, user: str) -> int:
        return self.users.index(user)

    def after(self, instance: Instance) -> list[Fraction]:
        return [middle(x) for x in divided(instance, self.policy, self.whole, self.beyond).tasks.tolist()]

    # ---- definitions ----------------------------------------------------------------------------------------------

    def limited(self, i: int, tasks: Fraction) -> Fraction:
        most = self.world.limits[i]
        tasks = tasks if most is None else min(tasks, most)
        return Fraction(math.floor(tasks)) if self.whole else tasks

    def alone(self, i: int) -> Fraction:
        """Return the tasks of a user in its part of every machine, or of the pool."""
        world, part = self.world, self.world.part(i)
        if not self.whole:
            rooms = [[count * c * p for c, p in zip(row, part, strict=True)] for row, count in world.classes]
            return world.most_in(i, rooms)
        if i in world.case.types or any(world.devices):
            raise TooLarge
        whole = 0
        for k, (row, count) in enumerate(world.classes):
            if world.pool or world.kinds[i][0][2][k]:
                whole += count * math.floor(
                    min(c * p / d for c, p, d in zip(row, part, world.demands[i], strict=True) if d)
                )
        return self.limited(i, Fraction(whole))

    def with_bundle(self, i: int, k: int, taken: int = 0) -> Fraction:
        """Return the tasks of a user with what another holds, scaled by weights; one task less where it is taken."""
        world = self.world
        scale = [world.weight(i, j) / world.weight(k, j) for j in range(world.m)]
        if not self.whole:
            rooms = [[a * s for a, s in zip(row, scale, strict=True)] for row in world.held(self.truth, k)]
            carried = world.most_in(i, rooms, limit=False)
            return self.limited(i, max(carried - taken, Fraction(0)))
        if i in world.case.types or k in world.case.types or any(world.devices):
            raise TooLarge
        each = min(
            d * s / mine for d, s, mine in zip(world.demands[k], scale, world.demands[i], strict=True) if mine
        )  # fmt: skip
        if world.pool:
            carried = math.floor(each * self.tasks[k])
        else:
            packing = self.truth.certificate.evidence.packing or ()
            carried = sum(
                count * math.floor(each * pattern.get(k, 0)) for c, count, pattern in packing if world.kinds[i][0][2][c]
            )
        return self.limited(i, Fraction(max(carried - taken, 0)))

    def reported(self, reports: dict[int, Sequence[Fraction]], limits: bool = False) -> dict[int, Fraction]:
        """Return what users run of their own tasks when they report these demands and no limit."""
        parts = self.instance.parts()
        for i, report in reports.items():
            parts["demands"][i] = list(report)
        if parts["max_tasks"] is not None and not limits:
            parts["max_tasks"] = [None if i in reports else v for i, v in enumerate(parts["max_tasks"])]
        found = divided(Instance(**parts), self.policy, self.whole, self.beyond)
        there = World(found.instance, self.whole)
        runs = {}
        for i, report in reports.items():
            mine = self.world.demands[i]
            each = min(r / d for r, d in zip(report, mine, strict=True) if d)
            fits = self.world.kinds[i][0][2]
            if self.whole:
                if any(self.world.devices):
                    raise TooLarge
                if self.world.pool:
                    carried = Fraction(math.floor(each * middle(found.tasks[i])))
                else:
                    packing = found.certificate.evidence.packing or ()
                    carried = Fraction(
                        sum(count * math.floor(each * p.get(i, 0)) for c, count, p in packing if fits[c])
                    )  # fmt: skip
            elif found.placement is None:
                carried = each * middle(found.tasks[i]) if self.world.placed[i] else Fraction(0)
            else:
                carried = sum(
                    (each * middle(x) for x, yes in zip(found.placement[i].tolist(), fits, strict=True) if yes),
                    Fraction(0),
                )
            runs[i] = self.limited(i, carried)
        assert there.n == self.n
        return runs

    def reports(self, i: int) -> Iterator[list[Fraction]]:
        """Yield some demands that a user may report."""
        mine = self.world.demands[i]
        for _ in range(REPORTS):
            report = list(mine)
            for j in self.chance.sample(range(len(mine)), self.chance.randint(1, len(mine))):
                if report[j]:
                    report[j] *= self.chance.choice([Fraction(1, 2), 2, Fraction(9, 8), Fraction(3, 4), 3, 4, 1])
                elif self.chance.random() < 0.6:
                    report[j] = self.chance.choice([v for v in mine if v]) * self.chance.choice([1, Fraction(1, 2)])
            if report != mine:
                yield report

    def grown(self) -> Iterator[tuple[str, Instance]]:
        """Yield some larger clusters."""
        world, instance = self.world, self.instance
        factors = [Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(5, 4), Fraction(9, 7)]
        for _ in range(GROWTHS):
            times = self.chance.choice(factors)
            if world.pool:
                j = self.chance.randrange(world.m)
                room = [c * times if h == j else c for h, c in enumerate(instance.exact_capacity)]
                yield f"{times} times r{j}", changed(instance, capacity=room)
            else:
                machines = instance.parts()["machines"]
                k = self.chance.randrange(len(machines))
                old = machines[k]
                machines[k] = Machine(old.name, old.capacity, old.count + 1, old.devices)
                yield f"one more {old.name}", changed(instance, machines=machines)


# ---- witnesses -------------------------------------------------------------------------------------------------------


def _runs(case: Audited, i: int, tasks: str) -> str | None:
    if not agrees(tasks, case.tasks[i]):
        return f"it runs {float(case.tasks[i])}"
    return None


def _beside(case: Audited, i: int, tasks: str, more: str, other: Fraction) -> str | None:
    """Judge ``runs X, but Y`` where Y is another number of tasks."""
    if wrong := _runs(case, i, tasks):
        return wrong
    if not agrees(more, other):
        return f"it is {float(other)}"
    return None if case.less(case.tasks[i], other) else "that is no more"


def _alone(case: Audited, user: str, tasks: str, more: str, **_: str) -> str | None:
    i = case.index(user)
    return _beside(case, i, tasks, more, case.alone(i))


def _envies(case: Audited, user: str, tasks: str, more: str, other: str, scaled: str | None = None) -> str | None:
    i, k = case.index(user), case.index(other)
    if scaled is not None and bool(scaled) != (case.world.weights[i] != case.world.weights[k]):
        return "weights are equal, or nothing is said of them"
    return _beside(case, i, tasks, more, case.with_bundle(i, k))


def _envies_still(case: Audited, user: str, tasks: str, more: str, other: str) -> str | None:
    i, k = case.index(user), case.index(other)
    if wrong := _beside(case, i, tasks, more, case.with_bundle(i, k)):
        return wrong
    return None if case.less(case.tasks[i], case.with_bundle(i, k, 1)) else "one task is enough"


def _most(case: Audited, i: int) -> Fraction:
    """Return the most tasks of a user where nobody else has less."""
    if not case.whole:
        return case.world.most_together(case.tasks, i)
    tasks = [int(x) for x in case.tasks]
    all_of = case.world.enumeration
    while (
        i in all_of.playing
        and tasks[i] < all_of.most[i]
        and all_of.possible([x + (h == i) for h, x in enumerate(tasks)])
    ):
        tasks[i] += 1
    return Fraction(tasks[i])


def _wastes(case: Audited, user: str, tasks: str, more: str) -> str | None:
    i = case.index(user)
    if wrong := _runs(case, i, tasks):
        return wrong
    most = _most(case, i)
    # What is given up by nobody is what is told: it need not be the most.
    if number(more) > most * (1 + Fraction(1, 10**5)) + (0 if case.whole else Fraction(1, 10**9)):
        return f"at most {float(most)}"
    return None if case.less(case.tasks[i], most) else "nothing is wasted"


def _shares(case: Audited, i: int, j: int) -> Fraction:
    world = case.world
    return case.tasks[i] * world.demands[i][j] / world.capacity[j] / world.weights[i][j]


def _uneven(case: Audited, user: str, share: str, resource: str, other: str, more: str, per: str | None) -> str | None:
    i, k, j = case.index(user), case.index(other), case.world.resources.index(resource)
    if not (agrees(share, _shares(case, i, j)) and agrees(more, _shares(case, k, j))):
        return f"{float(_shares(case, i, j))} and {float(_shares(case, k, j))}"
    if per is None and any(case.world.weights[h][j] != 1 for h in (i, k)):
        return "weights are not 1, and nothing is said of them"
    most = case.world.limits[i]
    return "its limit stops it" if most is not None and not case.less(case.tasks[i], most) else None


def _row(text: str) -> list[Fraction]:
    return [number(word) for word in text.split(", ")]


def _not_max_min(case: Audited, resource: str, shares: str, best: str) -> str | None:
    j = case.world.resources.index(resource)
    has = sorted(_shares(case, i, j) for i in range(case.n))
    each = [case.world.demands[i][j] / case.world.capacity[j] / case.world.weights[i][j] for i in range(case.n)]
    top = max(sorted(e * x for e, x in zip(each, row, strict=True)) for row in case.world.vectors)
    if not all(close(a, b) for a, b in zip(has, _row(shares), strict=True)):
        return f"shares are {list(map(str, has))}"
    if not all(close(a, b) for a, b in zip(top, _row(best), strict=True)):
        return f"the best are {list(map(str, top))}"
    return None if has < top else "it is the fairest"


def _misreports(
    case: Audited, user: str, report: str, demand: str, tasks: str, instead: str, limit: str | None,
    most: str | None, no_more: str | None,
) -> str | None:  # fmt: skip
    i = case.index(user)
    wrong = [h for h, d in enumerate(_row(demand)) if not close(d, case.world.demands[i][h])]
    if wrong:
        return "that is not its demand"
    witness = case.finding.witness
    exact = [Fraction(v) for v in witness.report]
    if not all(close(a, b) for a, b in zip(exact, _row(report), strict=True)):
        return "another report is meant"
    has = case.instance.exact_limits[i]
    if (limit is None) != (has is None) or (limit is not None and not agrees(limit, has)):
        return f"its limit is {has}"
    got = case.reported({i: exact})[i]
    if not agrees(tasks, got):
        return f"the report brings {float(got)}"
    if wrong_now := _runs(case, i, instead):
        return wrong_now
    if not case.less(case.tasks[i], got):
        return "that is no gain"
    if most is not None or no_more is not None:
        top = got if most is None else number(most)
        for other in case.reports(i):
            if (runs := case.reported({i: other})[i]) > top * (1 + Fraction(1, 10**5)):
                return f"({', '.join(map(str, other))}) brings {float(runs)}"
    return None


def _conspire(case: Audited, **gaps: str) -> str | None:
    witness = case.finding.witness
    pair = [case.index(u) for u in witness.users]
    got = case.reported({i: [Fraction(v) for v in r] for i, r in zip(pair, witness.reports, strict=True)})
    for i, key in zip(pair, ("one", "two"), strict=True):
        if not agrees(gaps[f"tasks_{key}"], got[i]) or _runs(case, i, gaps[f"instead_{key}"]):
            return f"user {i} runs {float(got[i])} instead of {float(case.tasks[i])}"
        if not case.less(case.tasks[i], got[i]):
            return "that is no gain"
    return None


def _leaves(case: Audited, leaver: str, user: str, after: str, before: str) -> str | None:
    i, gone = case.index(user), case.index(leaver)
    left = case.after(without(case.instance, gone))[i - (i > gone)]
    if _runs(case, i, before) or not agrees(after, left):
        return f"{float(left)} instead of {float(case.tasks[i])}"
    return None if case.less(left, case.tasks[i]) else "that is no loss"


def _grows(case: Audited, what: str, less: str, more: str, user: str, after: str, before: str,
           where: str | None) -> str | None:  # fmt: skip
    witness, instance, i = case.finding.witness, case.instance, case.index(user)
    raised, now = Fraction(witness.raised), Fraction(witness.capacity)
    if not (agrees(less, now) and agrees(more, raised)):
        return "other numbers are meant"
    if what.startswith("the number of machines of class "):
        k = instance.machine_names.index(what.removeprefix("the number of machines of class "))
        machines = instance.parts()["machines"]
        if machines[k].count != now:
            return f"there are {machines[k].count}"
        machines[k] = Machine(machines[k].name, machines[k].capacity, int(raised), machines[k].devices)
        larger = changed(instance, machines=machines)
    elif where is None:
        j = instance.resources.index(what)
        if instance.machines is not None or instance.exact_capacity[j] != now:
            return "that is not what there is"
        larger = changed(instance, capacity=[raised if h == j else c for h, c in enumerate(instance.exact_capacity)])
    else:
        if any(case.world.devices):
            raise TooLarge
        j, k, machines = (
            instance.resources.index(what),
            instance.machine_names.index(where),
            instance.parts()["machines"],
        )
        row = list(instance.exact_machine_capacity[k])
        if row[j] != now:
            return f"there is {row[j]}"
        row[j] = raised
        machines[k] = Machine(machines[k].name, row, machines[k].count)
        larger = changed(instance, machines=machines)
    then = case.after(larger)[i]
    if _runs(case, i, before) or not agrees(after, then):
        return f"{float(then)} instead of {float(case.tasks[i])}"
    return None if case.less(then, case.tasks[i]) else "that is no loss"


def _full(case: Audited) -> list[bool]:
    used = case.world.used(case.tasks)
    return [u >= c * (1 - Fraction(1, 10**9)) for u, c in zip(used, case.world.capacity, strict=True)]


def _due(case: Audited, i: int) -> bool:
    """Say whether a user has its part of something that is used up, or cannot or need not have more."""
    world, most = case.world, case.world.limits[i]
    if not world.placed[i] or (most is not None and case.tasks[i] >= most * (1 - Fraction(1, 10**9))):
        return True
    part = world.part(i)
    return any(
        full and case.tasks[i] * world.demands[i][j] / world.capacity[j] >= part[j] * (1 - Fraction(1, 10**9))
        for j, full in enumerate(_full(case))
        if world.capacity[j]
    )


def _needs_nothing_full(case: Audited, user: str, tasks: str) -> str | None:
    i = case.index(user)
    needs = [j for j, full in enumerate(_full(case)) if full and case.world.demands[i][j] and case.world.capacity[j]]
    return _runs(case, i, tasks) or ("it needs some of what is used up" if needs or _due(case, i) else None)


def _complains(case: Audited, user: str, most: str, resource: str, part: str) -> str | None:
    i, j, world = case.index(user), case.world.resources.index(resource), case.world
    held = case.tasks[i] * world.demands[i][j] / world.capacity[j]
    if not agrees(most, held) or not agrees(part, world.part(i)[j]):
        return f"it holds {float(held)}, its part is {float(world.part(i)[j])}"
    more = [
        h
        for h, full in enumerate(_full(case))
        if full and world.capacity[h] and case.less(held, case.tasks[i] * world.demands[i][h] / world.capacity[h])
    ]
    return "it holds more of another" if more else "it has its due" if _due(case, i) else None


# ---- rules -----------------------------------------------------------------------------------------------------------


def _ruled_alone(case: Audited, user: str, tasks: str, more: str) -> str | None:
    return _alone(case, user, tasks, more)


def _ruled_envy(case: Audited, user: str, tasks: str, more: str, other: str) -> str | None:
    return _envies(case, user, tasks, more, other)


def _ruled_leaves(case: Audited, user: str, tasks: str, more: str, other: str) -> str | None:
    i, gone = case.index(user), case.index(other)
    left = case.after(without(case.instance, gone))[i - (i > gone)]
    if not agrees(tasks, left) or _runs(case, i, more):
        return f"{float(left)} and {float(case.tasks[i])}"
    return None if case.less(left, case.tasks[i]) else "that is no loss"


def _ruled_growth(case: Audited, user: str, tasks: str, more: str, what: str) -> str | None:
    instance, i = case.instance, case.index(user)
    words = what.split(" ")
    if instance.machines is None:
        j = instance.resources.index(words[-1])
        times = Fraction(words[0])
        larger = changed(
            instance, capacity=[c * times if h == j else c for h, c in enumerate(instance.exact_capacity)]
        )  # fmt: skip
    else:
        k, machines = instance.machine_names.index(words[-1]), instance.parts()["machines"]
        old = machines[k]
        machines[k] = Machine(old.name, old.capacity, old.count + int(words[0]), old.devices)
        larger = changed(instance, machines=machines)
    then = case.after(larger)[i]
    if not agrees(tasks, then) or _runs(case, i, more):
        return f"{float(then)} and {float(case.tasks[i])}"
    return None if case.less(then, case.tasks[i]) else "that is no loss"


def _ruled_report(case: Audited, user: str, tasks: str, more: str, times: str, resource: str) -> str | None:
    i, j = case.index(user), case.instance.resources.index(resource)
    report = [d * Fraction(times) if h == j else d for h, d in enumerate(case.world.demands[i])]
    return _beside(case, i, tasks, more, case.reported({i: report}, limits=True)[i])


def _ruled_pair(case: Audited, user: str, tasks: str, more: str) -> str | None:
    i = case.index(user)
    if wrong := _runs(case, i, tasks):
        return wrong
    single = [h for h in range(case.n) if h not in case.world.case.types]
    for k in single:
        if k == i:
            continue
        for j, h, one, two in itertools.product(
            range(case.world.m), range(case.world.m), (Fraction(1, 2), 2), (Fraction(1, 2), 2)
        ):
            reports = {
                u: [d * t if c == at else d for c, d in enumerate(case.world.demands[u])]
                for u, at, t in ((i, j, one), (k, h, two))
            }
            try:
                got = case.reported(reports, limits=True)
            except DrfoptError:
                continue
            if agrees(more, got[i]) and all(case.less(case.tasks[u], got[u]) for u in (i, k)):
                return None
    return "no such pair of reports was found"


# ---- what holds ------------------------------------------------------------------------------------------------------


def _si_holds(case: Audited) -> str | None:
    for i in range(case.n):
        if case.less(case.tasks[i], case.alone(i)):
            return f"user {i} runs {float(case.tasks[i])} and {float(case.alone(i))} alone"
    return None


def _ef_holds(case: Audited, taken: int = 0) -> str | None:
    for i, k in itertools.permutations(range(case.n), 2):
        if case.less(case.tasks[i], case.with_bundle(i, k, taken)):
            return f"user {i} runs {float(case.tasks[i])} and {float(case.with_bundle(i, k))} with what {k} holds"
    return None


def _pe_holds(case: Audited) -> str | None:
    for i in range(case.n):
        if case.less(case.tasks[i], most := _most(case, i)):
            return f"user {i} runs {float(case.tasks[i])} and could run {float(most)}"
    return None


def _max_min(case: Audited, j: int) -> str | None:
    if not case.world.capacity[j]:
        return None
    if case.whole:
        each = [case.world.demands[i][j] / case.world.capacity[j] / case.world.weights[i][j] for i in range(case.n)]
        top = max(sorted(e * x for e, x in zip(each, row, strict=True)) for row in case.world.vectors)
        has = sorted(_shares(case, i, j) for i in range(case.n))
        return None if has == top else f"{list(map(str, has))}, and {list(map(str, top))} is possible"
    for i, k in itertools.permutations(range(case.n), 2):
        most = case.world.limits[i]
        if most is not None and not case.less(case.tasks[i], most):
            continue
        if case.less(_shares(case, i, j), _shares(case, k, j)):
            return f"user {i} holds less than {k}"
    return None


def _most_needed(case: Audited) -> list[int]:
    world = case.world
    if not all(world.capacity):
        return []
    return [j for j in range(world.m) if all(world.shares(i)[j] == max(world.shares(i)) for i in range(case.n))]


def _srf_holds(case: Audited) -> str | None:
    return _max_min(case, 0) if case.world.m == 1 and case.world.pool else None


def _bf_holds(case: Audited) -> str | None:
    if not case.world.pool:
        return None
    return next((fault for j in _most_needed(case) if (fault := _max_min(case, j))), None)


def _pm_holds(case: Audited) -> str | None:
    for gone in range(case.n if case.n > 1 else 0):
        left = case.after(without(case.instance, gone))
        for i, x in zip([h for h in range(case.n) if h != gone], left, strict=True):
            if case.less(x, case.tasks[i]):
                return f"user {gone} leaves, and {i} runs {float(x)} instead of {float(case.tasks[i])}"
    return None


def _rm_holds(case: Audited) -> str | None:
    for what, larger in case.grown():
        for i, x in enumerate(case.after(larger)):
            if case.less(x, case.tasks[i]):
                return f"{what}: user {i} runs {float(x)} instead of {float(case.tasks[i])}"
    return None


def _sp_holds(case: Audited) -> str | None:
    asked = [i for i in range(case.n) if not (i in case.world.case.types and case.whole)]
    for i in case.chance.sample(asked, min(2, len(asked))):
        for report in case.reports(i):
            got = case.reported({i: report})[i]
            if case.less(case.tasks[i], got):
                return f"user {i} reports ({', '.join(map(str, report))}): {float(got)}, not {float(case.tasks[i])}"
    return None


def _gsp_holds(case: Audited) -> str | None:
    pairs = list(itertools.combinations(range(case.n), 2))
    for i, k in case.chance.sample(pairs, min(2, len(pairs))):
        for one, two in zip(case.reports(i), case.reports(k), strict=False):
            got = case.reported({i: one, k: two})
            if all(case.less(case.tasks[u], got[u]) for u in (i, k)):
                return f"users {i} and {k} gain by {one}, {two}"
    return None


def _njc_holds(case: Audited) -> str | None:
    if not case.world.pool or case.whole:
        return None
    return next((f"user {i} may complain" for i in range(case.n) if not _due(case, i)), None)


HOLDS = {
    "sharing-incentive": _si_holds,
    "strategy-proofness": _sp_holds,
    "envy-freeness": _ef_holds,
    "pareto-efficiency": _pe_holds,
    "single-resource-fairness": _srf_holds,
    "bottleneck-fairness": _bf_holds,
    "population-monotonicity": _pm_holds,
    "resource-monotonicity": _rm_holds,
    "envy-up-to-one-task": lambda case: _ef_holds(case, 1),
    "no-justified-complaints": _njc_holds,
    "group-strategy-proofness": _gsp_holds,
}


# ---- notes -----------------------------------------------------------------------------------------------------------


def _only_if(fact: Any) -> Any:
    """Return the judge of a note that is true where something is so."""

    def judge(case: Audited, **gaps: str) -> str | None:
        return None if fact(case, **gaps) else "it is not so"

    return judge


def _market(case: Audited) -> bool:
    return policy_named(case.policy).objective == "alpha" and not case.whole and case.world.pool


def _undefined(case: Audited, rules: str, names: str) -> str | None:
    listed = {f.property for f in case.found.results} | set(names.split(", "))
    return None if set(HOLDS) >= listed and case.beyond else "others are left out"


N = NUMBER
USER = r"u\d+"
LOSS = rf"user (?P<user>{USER}) runs (?P<tasks>{N}) tasks?, and (?P<more>{N}) "
BUT = rf"user (?P<user>{USER}) runs (?P<tasks>{N}) tasks?, but (?P<more>{N}) "
REPORT = rf"\((?P<{{0}}>{N}(?:, {N})*)\)"


def _templates() -> Iterator[Template]:
    row = REPORT.format
    yield Template("sharing incentive fails", BUT + "alone in its part of every resource", _alone)
    yield Template(
        "envy",
        rf"user (?P<user>{USER}) runs (?P<tasks>{N}) tasks?, but would run (?P<more>{N}) with what user "
        rf"(?P<other>{USER}) holds(?P<scaled>|, scaled to its own weight)",
        _envies,
    )
    yield Template(
        "envy up to one task",
        rf"user (?P<user>{USER}) runs (?P<tasks>{N}) tasks?, but would run (?P<more>{N}) with what user "
        rf"(?P<other>{USER}) holds: taking what one task of (?P=user) needs from it is not enough",
        _envies_still,
    )
    yield Template("waste", BUT + "would take nothing from anybody else", _wastes)
    yield Template(
        "uneven",
        rf"user (?P<user>{USER}) holds (?P<share>{N}) of (?P<resource>\S+) and could use more, while user "
        rf"(?P<other>{USER}) holds (?P<more>{N})(?P<per>, each divided by the user's weight)?",
        _uneven,
    )
    yield Template(
        "not max-min",
        rf"shares of (?P<resource>\S+?)(?:, each divided by the user's weight,)? are {row('shares')}, the lowest "
        rf"first, but {row('best')} are possible and fairer",
        _not_max_min,
    )
    yield Template(
        "misreport",
        rf"user (?P<user>{USER}) reports {row('report')}(?: and no limit \(it has one of (?P<limit>{N})\))? instead of "
        rf"{row('demand')} and runs (?P<tasks>{N}) tasks? instead of (?P<instead>{N})"
        rf"(?P<no_more>; no report brings more(?: than (?P<most>{N}))?)?",
        lambda case, tasks, instead, **gaps: _misreports(case, tasks=tasks, instead=instead, **gaps),
    )
    reports = rf"user {USER} reports \([^)]*\)(?: and no limit \(it has one of {N}\))?"
    yield Template(
        "misreport of two",
        rf"{reports} and {reports}, and they run (?P<tasks_one>{N}) tasks instead of (?P<instead_one>{N}) and "
        rf"(?P<tasks_two>{N}) tasks instead of (?P<instead_two>{N})",
        _conspire,
    )
    yield Template(
        "population monotonicity fails",
        rf"user (?P<leaver>{USER}) leaves, and user (?P<user>{USER}) runs (?P<after>{N}) tasks? instead of "
        rf"(?P<before>{N})",
        _leaves,
    )
    yield Template(
        "resource monotonicity fails",
        rf"(?P<what>the number of machines of class \S+|\S+?)(?: on every machine of class (?P<where>\S+))? grows from "
        rf"(?P<less>{N}) to (?P<more>{N}), and user (?P<user>{USER}) runs (?P<after>{N}) tasks? instead of "
        rf"(?P<before>{N})",
        _grows,
    )
    yield Template(
        "complaint, nothing needed is used up",
        rf"user (?P<user>{USER}) runs (?P<tasks>{N}) tasks?, and needs nothing that is used up",
        _needs_nothing_full,
    )
    yield Template(
        "complaint",
        rf"user (?P<user>{USER}) holds (?P<most>{N}) of (?P<resource>\S+) and no more of any resource that is used up, "
        rf"though (?P<part>{N}) is its part",
        _complains,
    )
    yield Template("rules: alone", LOSS + "alone in its part of every machine", _ruled_alone)
    yield Template(
        "rules: envy", LOSS + rf"with what user (?P<other>{USER}) holds, scaled to its weight", _ruled_envy
    )  # fmt: skip
    yield Template("rules: waste", LOSS + "would take nothing from anybody else", _wastes)
    yield Template("rules: leaves", LOSS + rf"while user (?P<other>{USER}) is there", _ruled_leaves)
    yield Template("rules: growth", LOSS + r"without (?P<what>\S+ times the \S+|\d+ more of \S+)", _ruled_growth)
    yield Template(
        "rules: report",
        LOSS + rf"by reporting (?P<times>{N}) times its demand of (?P<resource>\S+)",
        _ruled_report,
    )
    yield Template("rules: two report", LOSS + "where two users report together", _ruled_pair)
    # Notes.
    yield Template(
        "as packed here", "as the tasks are packed here; there may be other ways",
        _only_if(lambda case: case.whole and not case.world.pool),
    )  # fmt: skip
    yield Template(
        "says nothing of resources", r"says nothing of (?P<m>\d+) resources",
        _only_if(lambda case, m: int(m) == case.world.m > 1),
    )  # fmt: skip
    yield Template("says nothing of machines", "says nothing of machines", _only_if(lambda case: not case.world.pool))
    yield Template(
        "needed most", "no resource is needed most by all", _only_if(lambda case: not _most_needed(case))
    )  # fmt: skip
    yield Template(
        "there is none", "there is none of the resource", _only_if(lambda case: 0 in case.world.capacity)
    )  # fmt: skip
    yield Template("priced", "only the resource that all need most is priced", _only_if(_market))
    yield Template(
        "by prices, alone", "its part of everything costs no more than its income at any prices that clear",
        _only_if(_market),
    )  # fmt: skip
    yield Template(
        "by prices, envy", "a bundle it would rather have costs more than its income, scaled to its weight",
        _only_if(_market),
    )  # fmt: skip
    yield Template(
        "whole income", "it spends its whole income on what is used up",
        _only_if(lambda case: _market(case) and case.policy == "ceei" and not any(case.world.limits)),
    )  # fmt: skip
    yield Template(
        "one pool only", "defined here for one pool only", _only_if(lambda case: not case.world.pool)
    )  # fmt: skip
    yield Template(
        "to the error", "to the error of the tasks, which are computed in floats",
        _only_if(lambda case: not case.truth.exact or any(map(_enclosed, case.truth.tasks.tolist()))),
    )  # fmt: skip
    yield Template(
        "no report more than", rf"no report brings more than \(1 \+ (?P<part>{N})\) times", lambda case, part: None
    )  # fmt: skip
    yield Template(
        "ties", "whether anybody gains by a misreport is decided by how ties are broken",
        _only_if(lambda case: policy_named(case.policy).objective == "sum" or case.whole),
    )  # fmt: skip
    yield Template(
        "given optimum", "of the optimum that is given; others may be as good",
        _only_if(lambda case: case.whole),
    )  # fmt: skip
    yield Template(
        "pooled", rf"user (?P<user>{USER}) would have more if parts of several devices could carry one task; without "
        "that it is not decided", _only_if(lambda case, user: case.whole and any(case.world.devices)),
    )  # fmt: skip
    yield Template(
        "to a part", r"to a part of 1e-06 of the tasks, which are computed in floats",
        _only_if(lambda case: not case.whole),
    )  # fmt: skip
    yield Template("time", "the time limit ran out", lambda case: "no limit was given")
    yield Template("tried", r"(?P<trials>[0-9,]+) cases? tried",
                   _only_if(lambda case, trials: number(trials) == case.finding.trials > 0))  # fmt: skip
    # Below the table.
    yield Template(
        "about this instance",
        "each verdict is about this instance only; what holds of every instance: drfopt theorems",
        lambda case: None,
    )
    yield Template(
        "not defined", "not defined under (?P<rules>.*): (?P<names>[-a-z, ]+)", _undefined
    )  # fmt: skip
    yield Template(
        "other divisions",
        "other divisions may be as good under this policy, here or on a changed cluster: verdicts are "
        r"on the ones it gives, one each where divisions are compared \(strategy-proofness, monotonicity\)",
        _only_if(lambda case: case.whole or policy_named(case.policy).objective == "sum"),
    )  # fmt: skip
    yield Template(
        "beyond the error", "a violation is shown beyond the error that the certificates of computed tasks allow",
        _only_if(lambda case: not all(f.exact for f in case.found.failed)),
    )  # fmt: skip


def _enclosed(value: Any) -> bool:
    return not isinstance(value, int | Fraction)


BOOK = Book(tuple(_templates()))


def _title(case: Audited) -> str:
    return f"{case.truth.policy}, {'whole' if case.whole else 'divisible'} tasks"


def judged(instance: Instance, policy: str, whole: bool, chance: random.Random) -> list[str]:
    """Audit an instance and return what is false of what is said."""
    names = list(HOLDS) if chance.random() < 0.2 else None
    try:
        found = audit(instance, policy, names, integer=whole)
    except DrfoptError:
        if names is None:
            raise
        found = audit(instance, policy, integer=whole)
    case = Audited(instance, policy, whole, found, chance)
    wrong: list[str] = []
    for finding in found.results:
        case.finding = finding
        try:
            if finding.verdict == "holds":
                wrong += BOOK.told(f"holds: {finding.property}", HOLDS[finding.property](case))
            # A sentence is told apart from the note before it, and from the number of cases after it.
            said = [finding.note, str(finding.witness or "")]
            cell = next(row[2] for row in found.sheet().rows if row[0] == finding.property)
            if finding.trials and finding.witness is None:
                said.append(cell.rpartition("; ")[2])
            if cell != "; ".join([*filter(None, [": ".join(filter(None, said[:2]))]), *said[2:]]):
                wrong += BOOK.told("cell", f"{cell!r} is not {said}")
            wrong += [f"{finding.property}: {fault}" for fault in BOOK.judged(case, said)]
            row = finding.to_dict()
            same = (row["verdict"], row["exact"], row["trials"]) == (finding.verdict, finding.exact, finding.trials)
            text = None if finding.witness is None else str(finding.witness)
            told = None if row["witness"] is None else row["witness"]["text"]
            wrong += BOOK.told("json", None if same and text == told else f"{row} is not the table")
            if finding.verdict == "fails" and finding.exact and not (case.exact or case.beyond):
                wrong += BOOK.told("exact", f"{finding.property} is called exact, and tasks are floats")
        except TooLarge:
            BOOK.seen["not judged"] += 1
    sheet = found.sheet()
    wrong += BOOK.told("title", None if sheet.title == _title(case) else sheet.title)
    return wrong + BOOK.judged(case, sheet.notes)
