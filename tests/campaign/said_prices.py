"""The numbers of `price` and the lines below them, and who judges them: by fractions, from both sides."""

import itertools
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from said_world import (
    TINY,
    Template,
    Unit,
    Unjudged,
    World,
    below_limits,
    cell_of,
    grown,
    near,
    number,
    numbers,
    scaled,
    shares_of,
    slope,
    stops_of,
    true_by_itself,
)
from simplex import Polytope

from drfopt import Allocation, Instance
from drfopt.engines.hierarchy import stops
from drfopt.engines.problem import Problem
from drfopt.model.hierarchy import Clock

__all__ = ["NUMBERS", "PRICED"]

Number = Callable[[World, Unit, bool, dict[str, Any]], str]


def off(world: World, said: float | None, true: Any, size: float, unit: Unit) -> str:
    """Return that a slope is another, what moves next to nothing of its size aside."""
    value = 0.0 if said is None else said
    least = 2e-7 * abs(size) / float(unit.now)
    return "" if abs(value - float(true)) <= 2e-5 * abs(float(true)) + least else f"{value:.9g} is {float(true):.9g}"


def price_tasks(world: World, unit: Unit, more: bool, said: dict[str, Any]) -> str:
    if said["tasks"] is None:
        return ""
    for i, user in enumerate(world.instance.users):
        true = slope(world, unit, more, lambda a, times, i=i: a.tasks[i] / times)
        if wrong := off(world, said["tasks"].get(user, 0.0), true, max(map(float, world.tasks)), unit):
            return f"tasks of {user}: {wrong}"
    return ""


def price_shares(world: World, unit: Unit, more: bool, said: dict[str, Any]) -> str:
    if said["sum_of_dominant_shares"] is None:
        return ""

    def total(found: Allocation, times: int) -> Any:
        return sum(x * share for x, share in zip(found.tasks.tolist(), shares_of(found.instance), strict=True))

    return off(world, said["sum_of_dominant_shares"], slope(world, unit, more, total), float(total(world.now, 1)), unit)


def below_there(world: World, unit: Unit, more: bool) -> list[int]:
    """Return who runs something and is below its limit where there is a little more or less."""
    found, times = grown(world, unit, TINY if more else -TINY)
    limits = world.instance.limits
    return [i for i, x in enumerate(numbers(found)) if x and float(x) / times < float(limits[i]) * (1 - 1e-11)]


def price_lowest(world: World, unit: Unit, more: bool, said: dict[str, Any]) -> str:
    some = below_limits(world) or below_there(world, unit, more)
    if said["lowest_level"] is None:
        return "" if world.sums or not below_limits(world) else "there is a lowest level"
    if not some:
        return "" if world.chosen.objective == "servers" else "nobody is below its limit"
    if world.sums:
        return "a sum has none"
    true = slope(
        world,
        unit,
        more,
        lambda a, times: min(
            (number(a.levels[i]) / (times if world.policy == "tasks" else 1) for i in some), default=0
        ),
    )
    return off(world, said["lowest_level"], true, float(min(number(world.now.levels[i]) for i in some)), unit)


def price_total(world: World, unit: Unit, more: bool, said: dict[str, Any]) -> str:
    """Return that the largest sum of dominant shares, in shares of the cluster as it is, has another slope."""
    shares = shares_of(world.instance)
    part = Fraction(1, 10**7) if more else -Fraction(1, 10**7)
    now = largest(world, shares, world.rooms)
    rooms = [list(row) for row in world.rooms]
    for k, row in enumerate(rooms):
        for j in range(len(row)):
            if (
                (unit.kind == "machine" and unit.name == world.instance.machine_names[k])
                or (unit.kind == "resource" and unit.name == world.instance.resources[j])
                or (unit.kind == "cell" and cell_of(world, unit.name) == (k, j))
            ):
                row[j] *= 1 + part
    true = (largest(world, shares, rooms) - now) / (unit.now * part)
    return off(world, said["total_price"], true, float(now), unit)


def largest(world: World, worth: list[Fraction], rooms: list[list[Fraction]]) -> Fraction:
    """Return the largest sum of what tasks are worth, rules left out."""
    use: dict[tuple[int, int], dict[Any, Fraction]] = {}
    names, value, tops = [], {}, []
    for i in range(world.instance.n):
        if world.instance.task_types is not None and world.instance.task_types[i]:
            raise Unjudged("types of tasks run as one mean")
        for demand, _, fits, _ in world.kinds(i):
            mine = [("z", i, k) for k, fit in enumerate(fits) if fit]
            names += mine
            value |= dict.fromkeys(mine, worth[i])
            if mine and world.instance.exact_limits[i] is not None:
                tops.append((i, mine, world.instance.exact_limits[i]))
            for name in mine:
                for j, d in enumerate(demand):
                    if d:
                        use.setdefault((name[2], j), {})[name] = -d
    if not names:
        return Fraction(0)
    plane = Polytope(names)
    for (k, j), terms in use.items():
        plane.add(("room", k, j), terms, rooms[k][j])
    for i, mine, most in tops:
        plane.add(("top", i), dict.fromkeys(mine, Fraction(-1)), most)
    plane.add("sum", value, Fraction(0), free=True)
    return plane.maximise("sum") or Fraction(0)


def price_price(world: World, unit: Unit, more: bool, said: dict[str, Any]) -> str:
    """Return that the shadow price is not what one unit adds when shares go on being those of the cluster as it is."""
    objective = world.chosen.objective
    if objective == "sum":
        if world.rules is not None and world.rules.excluded:
            raise Unjudged("what is excluded counts nothing")
        if world.policy != "throughput":
            raise Unjudged("shares of the cluster as it is")
        true = slope(world, unit, more, lambda a, times: sum(a.tasks.tolist()) / times)
        return off(world, said["price"], true, float(sum(world.tasks)), unit)
    if objective != "leximin" or not world.exactly:
        raise Unjudged("the price of that is not divided for here")
    if world.rules is not None:
        return price_of_stop(world, unit, more, said)
    if world.policy == "tsf":
        raise Unjudged("the price of that is not divided for here")
    # Weights that undo what the larger cluster does to shares; users without a share that counts are left alone.
    instance = world.instance
    if instance.task_types is not None or instance.has_devices or unit.kind == "machine":
        raise Unjudged("shares of the cluster as it is")
    part = TINY if more else -TINY
    there, _ = grown(world, unit, part)
    if world.policy != "tasks":
        ratio = [
            a / b if b else Fraction(1)
            for a, b in zip(instance.exact_capacity, there.instance.exact_capacity, strict=True)
        ]
        weights = [w if isinstance(w, tuple) else (w,) * instance.m for w in instance.exact_weights]
        parts = there.instance.parts() | {"weights": [[v * r for v, r in zip(w, ratio, strict=True)] for w in weights]}
        there = world.divided(Instance(**parts))
    # Who is at its limit now may be below it there, and held.
    rows, limits = stops_of(there), instance.exact_limits
    held = [i for i, x in enumerate(there.tasks) if rows[i] and (limits[i] is None or x < limits[i])]
    if not held:
        return "" if not said["price"] else "nobody is held"
    lowest = min(world.now.levels[i] for i in held)
    tied = [i for i in held if world.now.levels[i] <= lowest]
    true = (min(there.levels[i] for i in tied) - lowest) / (unit.now * part)
    return off(world, said["price"], true, float(lowest), unit)


def price_of_stop(world: World, unit: Unit, more: bool, said: dict[str, Any]) -> str:
    """Return that the level at which a capacity first stops somebody for good has another slope than the price."""
    one, two = (first_stop(world, unit, part if more else -part) for part in (TINY, 2 * TINY))
    if one is None or two is None:
        return "" if not said["price"] else "no capacity stops anybody who rises"
    true = (two - one) / (unit.now * TINY) * (1 if more else -1)
    return off(world, said["price"], true, float(one), unit)


def first_stop(world: World, unit: Unit, part: Fraction) -> Fraction | None:
    """Return that level with a part of a unit more, by a clock in fractions whose shares are of the cluster as it is.

    Of those whom it stops below their limits the lowest that rises to it counts; None where nobody does.
    """
    found, times = grown(world, unit, part)
    if found.broken:
        raise Unjudged("guarantees do not fit")
    there = found.instance
    clock = Clock(world.instance if times == 1 else scaled(world.instance, times, {}), world.chosen, exact=True)
    limits, state = clock.instance.exact_limits, clock.start()
    clock.instance, clock.room = there, clock.room | dict(enumerate(there.exact_capacity))
    for stop, after in stops(Problem(there, world.chosen), clock):
        if stop.promising and len(stop.finished):
            raise Unjudged("guarantees do not fit")
        if not stop.promising and len(stop.finished) and stop.prices.any():
            trajectory = clock.trajectory(state)
            tasks = trajectory.tasks(stop.point)
            points = map(trajectory.point, reversed(range(trajectory.knots(stop.point))))
            before = next((x for x in map(trajectory.tasks, points) if (x != tasks).any()), tasks)
            levels, had = clock.levels(tasks), clock.levels(before)
            risen = [i for i in stop.finished.tolist() if levels[i] > had[i]]
            below = [levels[i] for i in risen if limits[i] is None or tasks[i] < limits[i]]
            return min(below) / (times if world.policy == "tasks" else 1) if below else None
        state = after
    return None


def price_sides(world: World, unit: Unit, more: bool, said: dict[str, Any]) -> str:
    """Return that a unit less is said to be the reverse of a unit more where it is not, or not to be where it is."""
    worth = next(w for w in world.said["units"] if (w["kind"], w["name"]) == (unit.kind, unit.name))
    if not more or worth["less"] is None or said["tasks"] is None:
        return ""
    pairs = [
        (said[key], worth["less"][key]) for key in ("price", "lowest_level", "sum_of_dominant_shares", "total_price")
    ]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    differ = any(abs(a - b) > 1e-5 * max(abs(a), abs(b)) for a, b in known)
    for i in range(world.instance.n):
        above, below = (slope(world, unit, side, lambda a, times, i=i: a.tasks[i] / times) for side in (True, False))
        differ = differ or bool(off(world, float(above), below, max(map(float, world.tasks)), unit))
    if differ is ((unit.kind, unit.name) in world.said["two-sided"]):
        return ""
    return "the sides differ, which is not said" if differ else "the sides are the same, and said to differ"


def price_until(world: World, unit: Unit, more: bool, said: dict[str, Any]) -> str:
    """Return that what stops whom changes before it is said to, or does not there."""
    if world.chosen.objective != "leximin" or world.said["unranged"] or not world.exactly:
        raise Unjudged("how far it holds is not asked here")
    end, now = said["until"], float(unit.now)
    if end is None:
        end = 10 * now if more else 0.0
    if abs(end - now) < 1e-6 * now:
        return ""
    parts = [Fraction((end - now) / now * p).limit_denominator(10**6) for p in (1e-4, 0.4, 0.8, 0.999)]
    found = [stops_of(grown(world, unit, part)[0]) for part in parts if part and part > -1]
    for a, b in itertools.pairwise(found):
        if a != b:
            return f"what stops whom changes before {end}: {a} and {b}"
    if said["until"] in (None, 0.0):
        return ""
    beside = [Fraction((end - now) / now * p).limit_denominator(10**6) for p in (0.97, 0.985, 1.015, 1.03)]
    return goes_on(world, beside, unit, end)


def goes_on(world: World, parts: list[Fraction], unit: Unit, end: float) -> str:
    """Return that nothing changes where something is said to: neither what stops whom, nor how fast anybody's tasks do.

    What stops whom has a price beside its name, and where that changes tasks turn.
    """
    if any(part <= -1 for part in parts) or parts[1] == parts[2]:
        return ""
    there = [grown(world, unit, part) for part in parts]
    if len({stops_of(found) for found, _ in there}) > 1:
        return ""
    for i in range(world.instance.n):
        x = [float(numbers(found)[i]) / times for found, times in there]
        before, after = ((x[b] - x[a]) / float(parts[b] - parts[a]) for a, b in ((0, 1), (2, 3)))
        if abs(before - after) > 1e-9 + 0.02 * abs(before):
            return ""
    return f"nothing changes at {end}"


NUMBERS: dict[str, Number] = {
    "tasks": price_tasks,
    "sum of shares": price_shares,
    "lowest level": price_lowest,
    "price": price_price,
    "total price": price_total,
    "from, to": price_until,
    "two sides": price_sides,
}
"""Judges of the numbers of a row of `price`, on each side."""


def lowest(world: World, i: int, m: re.Match) -> str:
    if world.sums:
        return ""
    true = min(float(world.now.levels[u]) for u in below_limits(world))
    return "" if near(m["level"], true) else f"it is {true}"


def nobody_below(world: World, i: int, m: re.Match) -> str:
    return f"{below_limits(world)} are below" if below_limits(world) and not world.sums else ""


def two_sided(world: World, i: int, m: re.Match) -> str:
    """Return that a unit named has the same slopes on both sides."""
    for worth in world.said["units"]:
        more, less = worth["more"], worth["less"]
        ends = {"until": 0, "total_until": 0}
        if worth["name"] in m["names"].split(", ") and more and less and more | ends == less | ends:
            return f"{worth['name']} is the same on both sides"
    return ""


def counted(world: World, i: int, m: re.Match) -> str:
    """Return that the price is of tasks, or of shares, where the policy compares the other."""
    return "" if (m["unit"] == "tasks") is (world.policy in ("tasks", "throughput")) else "another unit"


PRICED: tuple[Template, ...] = (
    Template(
        "price of",
        r"price: of .+, in (?P<unit>tasks|shares of the cluster as it is)(;.*)?",
        counted,
    ),
    Template(
        "total price of",
        r"total price: of the largest sum of dominant shares any policy could reach.*",
        true_by_itself,
    ),
    Template(
        "lowest",
        r"lowest level of those who run something and are below their limits and ceilings: (?P<level><N>)",
        lowest,
    ),
    Template(
        "nobody",
        r"everybody is at its limit or ceiling, or runs nothing",
        nobody_below,
    ),
    Template(
        "unpriced",
        r"the price leaves out who is left no more and would pay more: .+",
        true_by_itself,
    ),
    Template(
        "two-sided",
        r"a unit less is not the reverse of a unit more \(--json has both sides\): (?P<names>.+)",
        two_sided,
    ),
    Template(
        "hidden",
        r"\d+ resources? of single classes (?:is|are) left out here: a little more or less changes nobody's tasks",
        true_by_itself,
    ),
    Template(
        "market",
        r"a market's slopes are those here; how far off a price becomes 0 or a limit is met is not told",
        true_by_itself,
    ),
    Template(
        "drawn",
        r"slopes are drawn between clusters next to this one, of users who would have a ten-millionth more or less "
        r"with twice as much of it in the cluster; how far they hold is not known",
        true_by_itself,
    ),
    Template(
        "how far",
        r"how far these prices hold is not known",
        true_by_itself,
    ),
    Template(
        "range",
        r"from, to: as far as what stops whom a little below, or a little above, stays so; slopes are "
        r"those there, and turn as shares of a changing cluster do",
        true_by_itself,
    ),
    Template(
        "unknown",
        r"\S+ is not known: .+",
        true_by_itself,
    ),
)
"""Lines below the table of `price`."""
