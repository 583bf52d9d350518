"""Whether an answer of the package is right: what it holds is feasible, and as good as the oracle's, in fractions."""

import contextlib
import math
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from decimal import localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # as a script too

import market
import oracle
from cases import Case
from engines.whole_reference import MANY, Enumeration, Groups
from oracle import Model

from drfopt import Allocation, DrfoptError, solve
from drfopt.base.numbers.enclosures import Enclosure
from drfopt.base.numbers.quantities import exact
from drfopt.base.tolerances import CAPACITY, LEVEL, LEVEL_CEEI
from drfopt.model.policies import policy_named
from drfopt.solving.methods import slow_exact

__all__ = ["Verdict", "judge"]

ENUMERATED, TURNS = 20_000, 24
"""Vectors of whole tasks that are written down under rules, and tasks that the recursion of groups gives."""

SURE = Fraction(1, 10**9)
"""How near the oracle of markets has to be to the optimum: a tenth of what is allowed to the answer."""


FAR = 1e-3
"""How far off somebody may be at most where what the gradient could gain is all that is known."""


class Verdict(NamedTuple):
    """What was found: ``right``, ``wrong``, ``feasible`` (right as far as is known) or ``not judged``, and why."""

    word: str
    why: str = ""


class Wrong(Exception):
    """The answer is not what it should be."""


def judge(case: Case, found: Allocation) -> Verdict:
    """Judge an answer."""
    try:
        return _judged(case, found)
    except Wrong as wrong:
        return Verdict("wrong", str(wrong))
    except oracle.NoLevel:
        return Verdict("wrong", "it is answered, and somebody has no level")
    except oracle.TooMany:
        return Verdict("not judged", "too many allocations")


def _judged(case: Case, found: Allocation) -> Verdict:
    if case.policy == "per-server" and not case.machines:  # a pool is one machine
        case = replace(case, policy="drf")
    model = Model(case)
    tasks = list(map(fraction, found.tasks.tolist()))
    enclosed = any(isinstance(x, Enclosure) for x in found.tasks.tolist())
    slack = Fraction(0) if case.mode != "divisible" and not enclosed else Fraction(CAPACITY)
    if case.policy == "per-server":
        _unplaced(model, found)
        _feasible(model, found, tasks, slack)
        return _servers(case, found, tasks, Fraction(LEVEL) if slack else Fraction(0))
    if case.mode == "whole" and (case.types or case.organised):
        return _under_rules(case, found, tasks)
    _unplaced(model, found)
    _feasible(model, found, tasks, slack)
    if case.organised and policy_named(case.policy).objective != "leximin":
        return _bounded(case, tasks, slack)
    if case.organised:
        return _organised(case, tasks)
    if case.mode == "whole":
        return _whole(case, found, tasks)
    if case.policy in ("utilitarian", "throughput"):
        worth = [Fraction(1) if case.policy == "throughput" else max(model.shares(i)) for i in range(model.n)]
        best, has = oracle.largest_sum(case), sum(w * x for w, x in zip(worth, tasks, strict=True))
        _near([has], [best], Fraction(LEVEL) if slack else Fraction(0), "the sum")
        return Verdict("right")
    if case.policy == "ceei" or case.policy.startswith("alpha:"):
        return _market(case, model, found)
    expected = oracle.leximin(case)
    accuracy = Fraction(LEVEL) if slack else Fraction(0)
    _near(tasks, expected, accuracy, "tasks")
    rates = [model.rate(i, case.policy) if model.placed[i] else Fraction(0) for i in range(model.n)]
    levels = [rate * x for rate, x in zip(rates, expected, strict=True)]
    _near([fraction(v) for v in found.levels.tolist()], levels, accuracy, "levels")
    return Verdict("right")


def _servers(case: Case, found: Allocation, tasks: Sequence[Fraction], accuracy: Fraction) -> Verdict:
    """Judge machines by themselves: tasks of divisible ones, of whole ones the levels on a machine of each entry."""
    if case.mode != "whole":
        expected = _under_their_rules(case) if case.organised else oracle.per_server(case)
        _near(tasks, expected, accuracy, "tasks")
        return Verdict("right")
    if any(case.tiers.values()) or case.paths or any(case.last):
        return Verdict("not judged", "whole tasks under rules on every machine")
    packing = found.certificate.evidence.packing
    if not found.certificate.valid:
        return Verdict("feasible", "whole tasks, not called the best")
    for k, _, pattern in packing:
        best, value = oracle.best_on_one(case, k)
        if value([pattern.get(i, 0) for i in range(case.n)]) != best:
            raise Wrong(f"a machine of class {k} runs {pattern}, and {best} is possible")
    machines = Counter(k for k, count, _ in packing for _ in range(count))
    left = [k for k, (_, count) in enumerate(case.machines) if machines[k] < count and oracle.best_on_one(case, k)[0]]
    if left:
        raise Wrong(f"machines of class {left[0]} are not divided")
    return Verdict("right")


def fraction(value: Any) -> Fraction:
    """Return a number as it is, a float bit by bit, of an enclosure its middle."""
    return sum(_ends(value)) / Fraction(2)


def _ends(value: Any) -> tuple[Fraction, Fraction]:
    return (value.lower, value.upper) if isinstance(value, Enclosure) else (Fraction(value), Fraction(value))


def _near(has: Sequence[Fraction], should: Sequence[Fraction], accuracy: Fraction, what: str) -> None:
    for i, (x, y) in enumerate(zip(has, should, strict=True)):
        if abs(x - y) > accuracy * y:
            off = float(abs(x - y) / y) if y else float("inf")
            raise Wrong(
                f"{what} of {i}: {float(x):.17g} instead of {y if len(str(y)) < 30 else float(y)}, off by {off:.1e}"
            )


def _unplaced(model: Model, found: Allocation) -> None:
    expected = tuple(f"u{i}" for i in range(model.n) if not model.placed[i] and model.asked[i] != 0)
    if found.unplaced != expected:
        raise Wrong(f"unplaced are {found.unplaced} instead of {expected}")


def _feasible(model: Model, found: Allocation, tasks: Sequence[Fraction], slack: Fraction) -> None:
    for i, (x, most) in enumerate(zip(tasks, model.limits, strict=True)):
        if x < 0 or (most is not None and x > most * (1 + slack)) or (x and not model.placed[i]):
            raise Wrong(f"user {i} has {float(x):.17g} tasks of at most {most}")
    if model.pool:
        _fits(model.classes[0][0], [(model.demands[i], x) for i, x in enumerate(tasks)], slack, "the pool")
        return
    rows = _placed(model, found)
    for i, t, amounts in rows:
        part, _, fits = model.kinds[i][t]
        if any(x < 0 or (x and not yes) for x, yes in zip(amounts, fits, strict=True)):
            raise Wrong(f"user {i} is placed where its tasks do not fit: {[float(x) for x in amounts]}")
        if abs(sum(amounts) - part * tasks[i]) > slack * part * tasks[i]:
            raise Wrong(f"user {i}: {float(sum(amounts))} tasks are placed of {float(part * tasks[i])}")
    for k, (room, count) in enumerate(model.classes):
        here = [(model.kinds[i][t][1], amounts[k]) for i, t, amounts in rows]
        _fits([count * c for c in room], here, slack, f"class {k}")
        if model.whole and count > 1 and not _packs(model, k, [int(x) for _, x in here]):
            raise Wrong(f"the tasks on class {k} do not fit on its machines one by one")


def _placed(model: Model, found: Allocation) -> list[tuple[int, int, list[Fraction]]]:
    """Of each user and each of its types what is placed on the classes."""
    by_type = found.placed_by_type is not None
    table = (found.placed_by_type if by_type else found.placement).tolist()
    kinds = [(i, t) for i in range(model.n) for t in range(len(model.kinds[i]) if by_type else 1)]
    return [(i, t, list(map(fraction, row))) for (i, t), row in zip(kinds, table, strict=True)]


def _fits(room: Sequence[Fraction], users: Sequence[tuple], slack: Fraction, where: str) -> None:
    for j, there in enumerate(room):
        used = sum((row[j] * x for row, x in users), Fraction(0))
        if used > there * (1 + slack):
            raise Wrong(f"{where} has {float(there):g} of r{j}, and {float(used):.17g} are used")


def _packs(model: Model, k: int, tasks: list[int]) -> bool:
    alone = Model(model.case)
    alone.classes = [model.classes[k]]
    alone.__dict__ |= {"limits": [Fraction(x) for x in tasks], "kinds": _of_class(model, k)}
    return tuple(tasks) in oracle.reachable(alone)


def _of_class(model: Model, k: int) -> list:
    return [[(part, row, [fits[k]]) for part, row, fits in kinds] for kinds in model.kinds]


def _whole(case: Case, found: Allocation, tasks: Sequence[Fraction]) -> Verdict:
    if any(x.denominator != 1 for x in tasks):
        raise Wrong(f"tasks are not whole: {found.tasks.tolist()}")
    best, value = oracle.best_whole(case)
    has = value([int(x) for x in tasks])
    if has == best:
        return Verdict("right")
    if found.status == "optimal" or found.certificate.valid or has > best:
        raise Wrong(f"{found.tasks.tolist()} is called optimal, worth {has}, and {best} is possible")
    return Verdict("feasible", "whole tasks, not called the best")


def _under_rules(case: Case, found: Allocation, tasks: Sequence[Fraction]) -> Verdict:
    """Judge whole tasks of several types or under rules by the enumeration, or recursion, that states what they are."""
    instance, counts = case.instance(), [int(x) for x in tasks]
    if policy_named(case.policy).measure not in ("dominant", "asset", "tasks") or instance.weights_per_resource:
        return Verdict("not judged", "the enumeration does not know the measure or its weights")
    reference = Enumeration(instance, case.policy)
    if max(reference.most, default=0) >= MANY or math.prod(most + 1 for most in reference.most) > ENUMERATED:
        raise oracle.TooMany
    if any(x > most for x, most in zip(counts, reference.most, strict=True)) or not reference.possible(counts):
        raise Wrong(f"{counts} cannot be run")
    if case.machines:
        _where(Model(case), found, reference, counts)
    if instance.several_groups and policy_named(case.policy).objective == "leximin":
        if sum(reference.most) > TURNS:
            raise oracle.TooMany
        right = tuple(counts) in Groups(instance, case.policy).best()
        best = "the end of a best way"
    else:
        best = reference.best()
        right = reference.score(counts) == best
        if reference.score(counts) > best:
            raise Wrong(f"{counts} is worth {reference.score(counts)}, more than the best, {best}")
    if not right and (found.status == "optimal" or found.certificate.valid):
        raise Wrong(f"{counts} is called optimal, and is not {best}")
    return Verdict("right") if right else Verdict("feasible", "whole tasks, not called the best")


def _where(model: Model, found: Allocation, reference: Enumeration, counts: list[int]) -> None:
    """Look at what is placed: of each type as many as the sequence starts, where they fit, machine by machine."""
    rows = _placed(model, found)
    for i, x in enumerate(counts):
        due = Counter((tuple(demand), tuple(classes)) for demand, classes in reference.tasks[i][:x])
        has: Counter = Counter()
        for user, t, amounts in rows:
            if user == i and any(amounts):
                _, row, fits = model.kinds[i][t]
                if any(a < 0 or a.denominator != 1 or (a and not yes) for a, yes in zip(amounts, fits, strict=True)):
                    raise Wrong(f"user {i} is placed where its tasks do not fit: {list(map(str, amounts))}")
                has[tuple(row), tuple(k for k, yes in enumerate(fits) if yes)] += int(sum(amounts))
        if due != has:
            raise Wrong(f"of user {i} are placed {dict(has)} instead of {dict(due)}")
    for k, (room, count) in enumerate(model.classes):
        here = [(model.kinds[i][t][1], amounts[k]) for i, t, amounts in rows]
        if not _carried([list(room) for _ in range(count)], [row for row, x in here for _ in range(int(x))]):
            raise Wrong(f"the tasks on class {k} do not fit on its machines one by one")


def _carried(rooms: list[list[Fraction]], tasks: list[list[Fraction]]) -> bool:
    """Say whether tasks fit on machines of these rooms, every way tried."""
    if not tasks:
        return True
    for room in {tuple(room) for room in rooms}:
        left = [c - d for c, d in zip(room, tasks[0], strict=True)]
        if min(left) >= 0:
            at = rooms.index(list(room))
            if _carried([*rooms[:at], left, *rooms[at + 1 :]], tasks[1:]):
                return True
    return False


def _under_their_rules(case: Case) -> list[Fraction]:
    """Return tasks when every machine is a pool under the rules, of those who may use it."""
    tasks = [Fraction(0)] * case.n
    for k, (room, count) in enumerate(case.machines):
        here = [
            i
            for i, row in enumerate(case.demands)
            if (case.open_to is None or case.open_to[i][k])
            and all(have >= need for have, need in zip(map(exact, room), map(exact, row), strict=True))
        ]
        if not here:
            continue
        at = {i: place for place, i in enumerate(here)}
        alone = replace(
            case,
            policy="drf",
            demands=[case.demands[i] for i in here],
            capacity=room,
            machines=[],
            open_to=None,
            weights=None if case.weights is None else [case.weights[i] for i in here],
            tiers={at[i]: tier for i, tier in case.tiers.items() if i in at},
            paths={at[i]: path for i, path in case.paths.items() if i in at},
        )
        try:
            found = oracle.leximin(alone)
        except oracle.NotDefinedHere:
            found = slow_exact.tree_tasks(alone.instance(), policy_named("drf"))
        for i, x in zip(here, found, strict=True):
            tasks[i] += count * x
    return tasks


def _organised(case: Case, tasks: Sequence[Fraction]) -> Verdict:
    accuracy, judged = Fraction(0) if case.mode == "exact" else Fraction(LEVEL), False
    try:
        _near(tasks, oracle.leximin(case), accuracy, "tasks (by linear programs)")
        judged = True
    except oracle.NotDefinedHere:
        pass
    pool = _as_a_pool(case)
    if pool is not None:
        expected = slow_exact.tree_tasks(pool.instance(), policy_named(case.policy))
        _near(tasks, expected, accuracy, "tasks (by the reference)")
        judged = True
    return Verdict("right") if judged else Verdict("feasible", "groups on machines")


def _bounded(case: Case, tasks: Sequence[Fraction], slack: Fraction) -> Verdict:
    """Judge a market or a sum of an organisation by what the gradient at the answer could gain.

    Where an answer is off by e its gradient is off by alpha e, so that more than that to gain shows that it is wrong;
    and the loss of the tangent is quadratic, so that what can be gained bounds how far off somebody can be.
    """
    market = case.policy == "ceei" or case.policy.startswith("alpha:")
    try:
        there = oracle.bounded(case, sums=not market)
    except oracle.NotDefinedHere as error:
        return Verdict("feasible", str(error))
    accuracy = Fraction(0) if case.mode == "exact" else Fraction(LEVEL)
    for name, most, used in there.ceilings(tasks):
        if used > most * (1 + slack):
            raise Wrong(f"{name} uses {float(used)} of {float(most)}")
    for i, x in enumerate(tasks):
        if i not in there.free and abs(x - there.floors[i]) > (Fraction(LEVEL) if market else accuracy) * x:
            raise Wrong(f"user {i} has {float(x)} and can have nothing but {float(there.floors[i])}")
        if x < there.floors[i] * (1 - (Fraction(LEVEL) if market else accuracy)):
            raise Wrong(f"user {i} has {float(x)} and is promised {float(there.floors[i])}")
    if not market:
        worth = [Fraction(1) if case.policy == "throughput" else share for share in there.shares]
        # A capacity may be exceeded by a rounding: in the sum of all, and of tiers in what others leave to each.
        alone = len(there.ranks) == 1
        rest = sum((worth[i] * there.floors[i] for i in range(case.n) if alone and i not in there.free), Fraction(0))
        for users, most in there.in_turn(dict(enumerate(worth))):
            has = sum((worth[i] * tasks[i] for i in (range(case.n) if alone else users)), Fraction(0))
            _near([has], [rest + most], accuracy, f"the sum of {users}")
        return Verdict("right")
    exponent = Fraction(1 if case.policy == "ceei" else case.policy.partition(":")[2])
    alpha = float(exponent)
    if any(tasks[i] <= 0 for i in there.free):
        raise Wrong(f"users {[i for i in there.free if tasks[i] <= 0]} have nothing")
    worth = {}
    for i in there.free:
        worth[i] = there.shares[i] * _falling(there.shares[i] * tasks[i] / there.incomes[i], exponent)
    spent = sum((v * tasks[i] for i, v in worth.items()), Fraction(0))
    gain = float(there.most(worth) / spent - 1) if spent else 0.0
    wide = LEVEL_CEEI if case.mode == "divisible" else 1e-20
    if gain > 4 * max(alpha, 1.0) * wide:
        raise Wrong(f"{gain:.1e} of what users pay could be gained")
    off = [(max(gain, 0.0) / float(v * tasks[i] / spent) * 2 / alpha) ** 0.5 for i, v in worth.items()]
    return Verdict("right") if max(off, default=0.0) < FAR else Verdict("not judged", f"off by {max(off):.1e} at most")


def _falling(level: Fraction, alpha: Fraction) -> Fraction:
    """Return a level to the power -alpha, to 70 digits where alpha is not whole."""
    if alpha.denominator == 1:
        return level ** -int(alpha)
    with localcontext(market.DIGITS):
        return Fraction(market.decimal(level) ** -market.decimal(alpha))


def _as_a_pool(case: Case) -> Case | None:
    """Return the same as a pool, where machines are as good as one."""
    if not case.machines:
        return case
    model = Model(case)
    if len(case.machines) > 1 or case.types or not all(model.placed) or 0 in model.capacity:
        return None
    return replace(case, machines=[], open_to=None, capacity=model.capacity)


def _market(case: Case, model: Model, found: Allocation) -> Verdict:
    alpha = Fraction(1) if case.policy == "ceei" else Fraction(case.policy.partition(":")[2])
    if model.pool:
        judged = market.polished(model, alpha, [fraction(p) for p in found.prices.tolist()])
    else:
        exact = found
        if case.mode == "divisible":
            # The bound of floats is as wide as the root of their rounding.
            with contextlib.suppress(DrfoptError):
                exact = solve(found.instance, case.policy, exact=True)
        prices = [list(map(fraction, row)) for row in exact.prices.tolist()]
        judged = market.bought(model, alpha, prices, _placed(model, exact))
    if judged is None or judged.worst > float(SURE):
        return Verdict(
            "not judged", f"the bound of the market is {'inf' if judged is None else float(judged.worst):.1}"
        )
    for i, y, off in zip(model.playing, judged.tasks, judged.off, strict=True):
        x, best = found.tasks.tolist()[i], Fraction(y)
        low, high = _ends(x)
        wide = Fraction(off) + (Fraction(LEVEL_CEEI) if case.mode == "divisible" else Fraction(1, 10**40))
        if low - best > wide * best or best - high > wide * best:
            raise Wrong(
                f"user {i} has {float(x):.17g} instead of {float(best):.17g}, off by {float(x) / float(best) - 1:.1e}"
            )
    return Verdict("right")
