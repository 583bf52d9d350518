"""What the judges of sentences know of an instance: divisions of changed clusters, in fractions, and what is full."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from simplex import Polytope

from drfopt import Allocation, DrfoptError, Instance, Machine, solve
from drfopt.model.policies import policy_named
from drfopt.planning.changes import changed

__all__ = [
    "TINY",
    "Judge",
    "N",
    "Template",
    "Unit",
    "Unjudged",
    "World",
    "amount_of",
    "as_number",
    "asked_of",
    "below_limits",
    "cell_of",
    "grown",
    "judged_line",
    "matched",
    "near",
    "no_less",
    "number",
    "numbers",
    "scaled",
    "shares_of",
    "slope",
    "stops_of",
    "true_by_itself",
    "unit_of",
    "with_amount",
]

NEAR = 5.1e-6
"""Relative distance of a number in six digits from what it stands for, with room for floats."""

TINY = Fraction(1, 10**9)
"""Part of an amount at which slopes are taken, in fractions."""


class Unjudged(Exception):
    """Nothing can be said here, and why."""


# ---- the world of an instance ----------------------------------------------------------------------------------------


class World:
    """An instance, the policy it is asked, and what the oracle knows: divisions of changed clusters, in fractions."""

    def __init__(self, instance: Instance, policy: str, mode: str):
        self.instance, self.policy, self.mode, self.whole = instance, policy, mode, mode == "whole"
        self.rules, self.chosen = instance.organisation, policy_named(policy)
        self.known: dict[Any, Allocation] = {}
        self.said: dict[str, Any] = {}

    @cached_property
    def now(self) -> Allocation:
        """The division as it is."""
        return self.divided(self.instance)

    @cached_property
    def tasks(self) -> list[Any]:
        """What everybody has, (n,)."""
        return numbers(self.now)

    def divided(self, instance: Instance) -> Allocation:
        """Divide a cluster: whole tasks, fractions, or floats where there are no fractions."""
        if self.sums and self.mode != "exact" and instance is self.instance and not self.whole:
            return solve(instance, self.policy)  # of several optima the one that is explained
        if self.whole:
            found = solve(instance, self.policy, integer=True, time_limit=5)
            if not found.finished:
                raise Unjudged("whole tasks are not decided")
            return found
        try:
            return solve(instance, self.policy, exact=True)
        except DrfoptError:
            return solve(instance, self.policy)

    def after(self, changes: list[str]) -> Allocation:
        """Divide the cluster after changes in the words of `whatif`."""
        key = tuple(changes)
        if key not in self.known:
            self.known[key] = self.divided(changed(self.instance, changes))
        return self.known[key]

    def had(self, changes: list[str], i: int) -> float:
        """Return the tasks of user i after changes."""
        return float(numbers(self.after(changes))[i])

    def user(self, name: str) -> int:
        return self.instance.users.index(name)

    @cached_property
    def sums(self) -> bool:
        return self.chosen.objective == "sum"

    @cached_property
    def exactly(self) -> bool:
        """Whether slopes can be taken in fractions."""
        return not self.whole and self.now.exact and all(isinstance(x, Fraction | int) for x in self.now.tasks.tolist())

    @cached_property
    def place(self) -> "Places":
        """Where tasks run."""
        return Places(self.instance)

    def kinds(self, i: int) -> list[tuple[list[Fraction], Fraction, list[bool], int | None]]:
        """Return demand, part of the tasks, classes and count of every type of a user's tasks."""
        return self.place.kinds(i)

    @property
    def rooms(self) -> list[list[Fraction]]:
        """What there is of each resource on each class, (k, m)."""
        return self.place.rooms

    def filled(self, tasks: list[Any]) -> set[tuple[int, int]]:
        """Return the cells, by class and resource, that are full however these tasks are placed."""
        return self.place.filled(tasks)

    @cached_property
    def filled_now(self) -> set[tuple[int, int]]:
        """Return the cells that today's tasks fill wherever they run, or where every machine is divided, do run."""
        placed = self.now.placement
        if self.chosen.objective != "servers" or placed is None:
            return self.filled(self.tasks)
        used, room = placed.astype(float).T @ self.instance.demands, self.instance.room
        return {(int(k), int(j)) for k, j in np.argwhere((used >= room * (1 - 1e-8)) & (room > 0))}

    # Sums: of what users are owed in every optimum, and what they could have in one.

    def worth(self, found: Allocation, instance: Instance | None = None) -> list[float]:
        """Return the sum of every tier, in the order in which they are served."""
        rules = (instance or self.instance).organisation
        turns = [0] * self.instance.n if rules is None or rules.in_turn is None else list(rules.in_turn)
        each = [float(x) for x in found.levels]
        return [sum(v for v, turn in zip(each, turns, strict=True) if turn == at) for at in sorted(set(turns))]

    def as_good_with(self, changes: list[str], i: int, tasks: float) -> bool:
        """Say whether a division by a sum after changes is as good when user i is promised so many tasks."""
        demands = self.instance.exact_demands[i]
        promise = [
            f"set-guarantee {self.instance.users[i]}.{r}={Fraction(tasks) * d * (1 - Fraction(1, 10**5))}"
            for r, d in zip(self.instance.resources, demands, strict=True)
            if d
        ]
        there, best = self.after([*changes, *promise]), self.after(changes)
        if there.broken or self.now.broken:
            raise Unjudged("guarantees do not fit")
        if float(numbers(there)[i]) < tasks * (1 - 2e-5):
            return False
        return no_less(self.worth(there), self.worth(best))

    def as_good_without(self, changes: list[str], i: int, tasks: float) -> bool:
        """Say whether it is as good when user i may have a little less than so many tasks."""
        most = f"set-limit {self.instance.users[i]}={Fraction(tasks) * (1 - Fraction(1, 1000))}"
        return no_less(self.worth(self.after([*changes, most])), self.worth(self.after(changes)))


# ---- what is full ----------------------------------------------------------------------------------------------------


SPARED, FULL = Fraction(1, 10**10), Fraction(1, 10**6)
"""Part of all tasks that rounding may have added, and of a cell that is as good as full: of floats, as of nothing else.

Next to where something else fills a cell less is left of it than that.
"""


class Places:
    """The rooms of an instance, and which of them some tasks fill wherever they run."""

    def __init__(self, instance: Instance):
        self.instance = instance

    def kinds(self, i: int) -> list[tuple[list[Fraction], Fraction, list[bool], int | None]]:
        """Return demand, part of the tasks, classes and count of every type of a user's tasks."""
        types, instance = self.instance.task_types, self.instance
        if types is None or types[i] is None:
            fits = [True] if instance.fits is None else instance.fits[i].tolist()
            return [(list(instance.exact_demands[i]), Fraction(1), fits, None)]
        total = sum(kind.count for kind in types[i])
        where = [[True]] * len(types[i]) if instance.machines is None else instance.type_fits[i].tolist()
        return [
            (list(kind.demand), Fraction(kind.count, total), fits, kind.count)
            for kind, fits in zip(types[i], where, strict=True)
        ]

    @cached_property
    def rooms(self) -> list[list[Fraction]]:
        """What there is of each resource on each class, (k, m)."""
        instance = self.instance
        if instance.machines is None:
            return [list(instance.exact_capacity)]
        pairs = zip(instance.exact_machine_capacity, instance.counts.tolist(), strict=True)
        return [[c * count for c in row] for row, count in pairs]

    def filled(self, tasks: list[Any]) -> set[tuple[int, int]]:
        """Return the cells, by class and resource, that are full however these tasks are placed."""
        cells = {(k, j) for k, row in enumerate(self.rooms) for j, room in enumerate(row) if room}
        exact = all(isinstance(x, Fraction | int) for x in tasks)
        if len(self.rooms) == 1:
            used = [sum(Fraction(x) * d[j] for x, d in zip(tasks, self.instance.exact_demands, strict=True))
                    for j in range(self.instance.m)]  # fmt: skip
            full = 1 if exact else 1 - Fraction(1, 10**8)
            return {(k, j) for k, j in cells if used[j] >= self.rooms[k][j] * full}
        return {cell for cell in cells if self._most_left(tasks, cell) <= (0 if exact else FULL)}

    def _most_left(self, tasks: list[Any], cell: tuple[int, int]) -> Fraction:
        """Return the largest part of a cell that a placement of these tasks leaves, or of all but so little of them."""
        try:
            return self._left(tasks, cell, Fraction(0))
        except Unjudged:
            return self._left(tasks, cell, SPARED)

    def _left(self, tasks: list[Any], cell: tuple[int, int], spared: Fraction) -> Fraction:
        names, placed = [], {}
        for i, x in enumerate(tasks):
            for t, (demand, part, fits, _) in enumerate(self.kinds(i)):
                if amount := Fraction(x) * part * (1 - spared):
                    placed[i, t] = amount, [(("z", i, t, k), demand) for k, fit in enumerate(fits) if fit]
                    names += [name for name, _ in placed[i, t][1]]
        plane = Polytope(names)
        for k, row in enumerate(self.rooms):
            for j, room in enumerate(row):
                use = {n: -d[j] for _, pairs in placed.values() for n, d in pairs if n[3] == k and d[j]}
                if use:
                    plane.add(("room", k, j), use, room)
        for at, (amount, pairs) in placed.items():
            plane.add(("over", *at), {name: Fraction(-1) for name, _ in pairs}, amount)
        plane.add("all", {n: Fraction(1) for _, pairs in placed.values() for n, _ in pairs}, Fraction(0), free=True)
        plane.maximise("all")
        for at in placed:
            if plane.value(("over", *at)) > 0:
                raise Unjudged("what runs is not placed by the oracle")
        for at in placed:
            plane.fix(("over", *at))
        room = self.rooms[cell[0]][cell[1]]
        if ("room", *cell) not in plane.order:
            return Fraction(1)
        plane.add("left", {("room", *cell): 1 / room}, Fraction(0), free=True)
        return plane.maximise("left") or Fraction(0)

    def full_at_levels(self, tasks: list[Any], levels: list[Any]) -> tuple[tuple[str, ...], ...]:
        """Return what stops each user of a leximin: cells that it needs, full when nobody is above its level.

        Nothing for who is at its limit.
        """
        instance, known, found = self.instance, dict[Any, set[tuple[int, int]]](), []
        pool = instance.machines is None
        for i, (x, level) in enumerate(zip(tasks, levels, strict=True)):
            limit = instance.exact_limits[i]
            if not x or (limit is not None and x >= limit):
                found.append(())
                continue
            if level not in known:
                pairs = zip(tasks, levels, strict=True)
                known[level] = self.filled([t if other <= level else t * level / other for t, other in pairs])
            cells = [(k, j) for k, j in sorted(known[level]) if any(d[j] and fit[k] for d, _, fit, _ in self.kinds(i))]
            names = instance.resources
            found.append(tuple(names[j] if pool else f"{instance.machine_names[k]}/{names[j]}" for k, j in cells))
        return tuple(found)


def no_less(one: list[float], other: list[float]) -> bool:
    """Say whether sums in turn are no less than others."""
    for a, b in zip(one, other, strict=True):
        if abs(a - b) > 1e-7 * max(abs(a), abs(b)):
            return a > b
    return True


def number(x: Any) -> Any:
    """Return a level or tasks as a number, the middle of what is enclosed."""
    return x if isinstance(x, Fraction | int) else float(x)


def numbers(found: Allocation) -> list[Any]:
    """Return tasks as numbers, the middles of what is enclosed."""
    return list(map(number, found.tasks.tolist()))


def as_number(text: str) -> float:
    """Return what is printed as a number."""
    return float(Fraction(text.replace(",", "")))


def near(printed: str | float, true: float, digits: float = NEAR, least: float = 1e-7) -> bool:
    """Say whether a number is printed right."""
    value = as_number(printed) if isinstance(printed, str) else printed
    return abs(value - float(true)) <= digits * abs(float(true)) + least * (float(true) == 0) + 1e-12


def stops_of(found: Allocation) -> tuple:
    """Return what stops everybody: of a leximin in fractions what is full, or else what the certificate names."""
    instance, limits = found.instance, found.instance.limits
    if policy_named(found.policy).objective == "leximin" and "organisation" not in instance.features and found.exact:
        return Places(instance).full_at_levels(found.tasks.tolist(), found.levels.tolist())
    names = found.certificate.bottlenecks or (None,) * instance.n
    return tuple(
        ()
        if name is None or float(x) >= limit * (1 - 1e-9)
        else tuple(sorted((name,) if isinstance(name, str) else name))
        for name, x, limit in zip(names, found.tasks, limits, strict=True)
    )


def amount_of(world: World, name: str) -> float:
    """Return how much there is of a resource of a pool, or machines of a class."""
    instance = world.instance
    if instance.machines is None:
        return float(instance.capacity[instance.resources.index(name)])
    return float(instance.counts[instance.machine_names.index(name)])


def with_amount(world: World, name: str, amount: float) -> Instance:
    """Return the cluster with so much of a pool's resource, or so many machines, of which parts are counted finer."""
    instance = world.instance
    if instance.machines is None:
        return changed(instance, [f"set-capacity {name}={Fraction(amount)}"])
    fine = 10**6
    counts = {name: round(amount * fine)}
    return scaled(instance, fine, counts)


def scaled(instance: Instance, times: int, counts: dict[str, int]) -> Instance:
    """Return a cluster with so many times the machines, tasks and promises, and of some classes so many."""
    parts = instance.parts()
    parts["machines"] = [
        Machine(one.name, one.capacity, counts.get(one.name, one.count * times), one.devices)
        for one in parts["machines"]
    ]
    types = instance.task_types
    if types is not None:
        parts["demands"] = [
            [replace(kind, count=kind.count * times) for kind in types[i]] if types[i] else row
            for i, row in enumerate(parts["demands"])
        ]
    if (limits := parts["max_tasks"]) is not None:
        parts["max_tasks"] = [None if u is None else u * times for u in limits]
    if parts["organisation"] is not None:
        parts["organisation"] = parts["organisation"].times(times)
    return Instance(**parts)


@dataclass(frozen=True)
class Unit:
    """A unit of `price`: its kind, its name and how much of it there is."""

    kind: str
    name: str
    now: Fraction


def unit_of(world: World, kind: str, name: str) -> Unit:
    instance = world.instance
    if kind == "machine":
        return Unit(kind, name, Fraction(int(instance.counts[instance.machine_names.index(name)])))
    if kind == "resource":
        return Unit(kind, name, Fraction(instance.exact_capacity[instance.resources.index(name)]))
    k, j = cell_of(world, name)
    return Unit(kind, name, world.rooms[k][j])


def cell_of(world: World, name: str) -> tuple[int, int]:
    """Return class and resource of ``class/resource``, or of a pool's resource."""
    instance = world.instance
    if instance.machines is None:
        return 0, instance.resources.index(name)
    return next(
        (k, j)
        for k, c in enumerate(instance.machine_names)
        for j, r in enumerate(instance.resources)
        if f"{c}/{r}" == name
    )


def grown(world: World, unit: Unit, part: Fraction) -> tuple[Allocation, int]:
    """Divide the cluster with a part of what there is of a unit more, and say how many times as large all of it is."""
    key = (unit, part)
    times = part.denominator if unit.kind == "machine" else 1
    if key not in world.known:
        instance, parts = world.instance, world.instance.parts()
        if instance.has_devices:
            raise Unjudged("devices are counted, and not in parts")
        if unit.kind == "machine":
            there = scaled(instance, times, {unit.name: int(unit.now * times * (1 + part))})
        elif instance.machines is None:
            there = changed(instance, [f"set-capacity {unit.name}={unit.now * (1 + part)}"])
        else:
            cells = (
                [(k, instance.resources.index(unit.name)) for k in range(instance.k)]
                if unit.kind == "resource"
                else [cell_of(world, unit.name)]
            )
            names = instance.resources
            rows = [
                {r: c * (1 + part * ((k, j) in cells)) for j, (r, c) in enumerate(zip(names, row, strict=True))}
                for k, row in enumerate(instance.exact_machine_capacity)
            ]
            parts["machines"] = [
                Machine(one.name, row, one.count) for one, row in zip(parts["machines"], rows, strict=True)
            ]
            there = Instance(**parts)
        if there.unplaced().tolist() != instance.unplaced().tolist():
            raise Unjudged("others fit there")
        if there.fits is not None and not np.array_equal(there.fits, instance.fits):
            raise Unjudged("others fit there")
        world.known[key] = world.divided(there)
    return world.known[key], times


def slope(world: World, unit: Unit, more: bool, read: Callable[[Allocation, int], Any]) -> Any:
    """Return the slope of what is read of a division, for each unit more, on one side."""
    if not world.exactly:
        raise Unjudged("there are no fractions of it")
    part = TINY if more else -TINY
    found, times = grown(world, unit, part)
    if not found.exact:
        raise Unjudged("there are no fractions of it")
    return (read(found, times) - read(world.now, 1)) / (unit.now * part)


def asked_of(world: World) -> list[float]:
    found = []
    for i, limit in enumerate(world.instance.max_tasks):
        types = world.instance.task_types
        kinds = None if types is None else types[i]
        asked = limit if kinds is None else sum(kind.count for kind in kinds)
        found.append(math.inf if asked is None else float(math.floor(asked) if world.whole else asked))
    return found


def shares_of(instance: Instance) -> list[Fraction]:
    """Return the dominant share of a task of everybody, of what is not excluded from shares."""
    excluded = () if instance.organisation is None else instance.organisation.excluded
    pairs = [(j, c) for j, c in enumerate(instance.exact_capacity) if c and instance.resources[j] not in excluded]
    return [max((Fraction(row[j]) / c for j, c in pairs), default=Fraction(0)) for row in instance.exact_demands]


def below_limits(world: World) -> list[int]:
    instance = world.instance
    return [i for i, x in enumerate(world.tasks) if x and float(x) < float(instance.limits[i]) * (1 - 1e-9)]


# ---- how lines read --------------------------------------------------------------------------------------------------


Judge = Callable[[World, int, re.Match], str]


class Template(NamedTuple):
    """How a line reads, ``<N>`` for a number, and who judges it."""

    name: str
    pattern: str
    judge: Judge

    def match(self, line: str) -> re.Match | None:
        """Return what stands where in a line that reads so."""
        return re.fullmatch(self.pattern.replace("<N>", N), line)


N = r"[-+]?[\d.,]+(?:e[-+]?\d+)?(?:/\d+)?"


def true_by_itself(world: World, i: int, m: re.Match) -> str:
    """It says where something is found, and claims nothing that could be false."""
    return ""


def matched(line: str, table: tuple[Template, ...]) -> tuple[Template, re.Match] | None:
    """Return the template of a line."""
    for template in table:
        if match := template.match(line):
            return template, match
    return None


def judged_line(world: World, i: int, line: str, table: tuple[Template, ...]) -> tuple[str, str]:
    """Return the template of a line and what is wrong with it."""
    if (found := matched(line, table)) is None:
        return "?", "no template reads so"
    template, match = found
    return template.name, template.judge(world, i, match)
