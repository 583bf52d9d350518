"""An instance in plain fractions, and what follows from the definitions alone: shares, parts, who could run what.

Divisible tasks are judged by linear programs of `simplex`, whole ones by writing down all that can be run
(`engines.whole_reference`).  What a policy gives is asked of `solve`, exactly where it can be: that it gives what it
should is what `campaign.py` and `kinds.py` judge.
"""

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # as a script too

from cases import Case, Type
from engines.whole_reference import Enumeration
from oracle import Model
from simplex import Polytope

from drfopt import Allocation, EngineError, Instance, solve
from drfopt.base.numbers.enclosures import Enclosure

__all__ = ["TooLarge", "World", "changed", "divided", "middle", "without"]

MANY = 3_000
"""Vectors of whole tasks that are written down."""


class TooLarge(Exception):
    """There is too much to write down."""


def middle(value: Any) -> Fraction:
    """Return a number as it is, of an enclosure its middle."""
    return (value.lower + value.upper) / 2 if isinstance(value, Enclosure) else Fraction(value)


def divided(instance: Instance, policy: str, whole: bool, floats: bool = False) -> Allocation:
    """Return what a policy gives, exactly where there is an engine for it, if not asked for floats."""
    if whole or floats:
        return solve(instance, policy, integer=whole)
    try:
        return solve(instance, policy, exact=True)
    except EngineError:
        return solve(instance, policy)


def changed(instance: Instance, **changes: Any) -> Instance:
    """Return an instance with other parts."""
    return Instance(**(instance.parts() | changes))


def without(instance: Instance, i: int) -> Instance:
    """Return an instance after a user has left."""
    parts = instance.parts()
    stay = [h for h in range(instance.n) if h != i]
    found = {key: parts[key] if parts[key] is None else [parts[key][h] for h in stay]
             for key in ("users", "demands", "weights", "max_tasks", "eligible")}  # fmt: skip
    if (rules := parts["organisation"]) is not None:
        gone = instance.users[i]
        of_users = {
            key: {u: v for u, v in getattr(rules, key).items() if u != gone}
            for key in ("guarantees", "ceilings", "tiers", "paths")
        }
        found["organisation"] = replace(rules, **of_users)
    if found["eligible"] is not None:
        import numpy as np

        found["eligible"] = np.array(found["eligible"])
    return changed(instance, **found)


def _case(instance: Instance, whole: bool) -> Case:
    """Return an instance as the plain rows that the oracle reads; its resources are r0, r1 and so on."""
    short = {name: f"r{j}" for j, name in enumerate(instance.resources)}
    classes = {name: k for k, name in enumerate(instance.machine_names)}
    rules = instance.organisation
    last = rules.last if rules is not None else (False,) * instance.n

    def amounts(table: Mapping) -> dict:
        return {short[r]: v for r, v in table.items()}

    types = {
        i: [Type(kind.demand, kind.count, kind.machines and [classes[c] for c in kind.machines]) for kind in kinds]
        for i, kinds in enumerate(instance.task_types or ())
        if kinds is not None
    }
    found: dict[str, Any] = {}
    if rules is not None:
        found = {
            "guarantees": {i: amounts(v) for i, v in enumerate(rules.guarantees)},
            "ceilings": {i: amounts(v) for i, v in enumerate(rules.ceilings)},
            "tiers": dict(enumerate(rules.tiers)),
            "paths": {i: path for i, path in enumerate(rules.paths) if path},
            "groups": tuple(
                replace(g, guarantee=amounts(g.guarantee), ceiling=amounts(g.ceiling)) for g in rules.groups
            ),
            "meaning": rules.meaning,
            "excluded": tuple(short[r] for r in rules.excluded),
        }
    machines = instance.machines
    return Case(
        style="",
        policy="drf",
        mode="whole" if whole else "divisible",
        demands=[list(row) for row in instance.exact_demands],
        capacity=None if machines is not None else list(instance.exact_capacity),
        machines=[
            (list(row), machine.count) for row, machine in zip(instance.exact_machine_capacity, machines, strict=True)
        ]
        if machines is not None
        else [],
        open_to=None if machines is None else [list(map(bool, row)) for row in instance.eligible],
        weights=[
            0 if gone else list(w) if isinstance(w, tuple) else w
            for w, gone in zip(instance.exact_weights, last, strict=True)
        ],
        limits=list(instance.max_tasks),
        types=types,
        **found,
    )


class World(Model):
    """An instance in fractions; devices decide what fits where."""

    def __init__(self, instance: Instance, whole: bool):
        super().__init__(_case(instance, whole))
        self.instance = instance
        self.users, self.resources = list(instance.users), list(instance.resources)
        self.devices = [
            {self.resources.index(r): (one.count, Fraction(one.size)) for r, one in (machine.devices or {}).items()}
            for machine in instance.machines or [None]
            if machine is not None
        ] or [{}]

    def _fits(self, row: Sequence[Fraction], k: int, open_to: Sequence[bool], only: Sequence[int] | None) -> bool:
        here = self.devices[k]
        takes = all(
            row[j] <= size or (row[j] % size == 0 and row[j] / size <= count) for j, (count, size) in here.items()
        )
        return takes and super()._fits(row, k, open_to, only)

    @cached_property
    def placed(self) -> list[bool]:
        """Who can run its tasks somewhere: of whole tasks, some type of them."""
        some = any if self.whole else all
        return [some(any(fits) for _, _, fits in kinds) for kinds in self.kinds]

    @cached_property
    def kinds(self) -> list:
        """Of every user its types; of whole tasks in a pool too."""
        found = super().kinds
        if not self.pool or not self.whole:
            return found
        for i, types in self.case.types.items():
            total = sum(kind.count for kind in types)
            found[i] = [
                (Fraction(kind.count, total), list(kind.demand), [self._fits(kind.demand, 0, [True], None)])
                for kind in types
            ]
        return found

    @cached_property
    def wants(self) -> list[bool]:
        """Whose limits and ceilings let it run something: of whole tasks, one."""
        if self.whole:
            return [
                bool(self.enumeration.tasks[i]) and self.enumeration._allowed(i, 1)
                if self.placed[i]
                else self.asked[i] is None or self.asked[i] >= 1
                for i in range(self.n)
            ]
        return [most is None or most > 0 for most in self.limits]

    @cached_property
    def enumeration(self) -> Enumeration:
        """What users can run in whole tasks."""
        found = Enumeration(self.instance, "drf")
        if math.prod(most + 1 for most in found.most) > MANY or max(found.most, default=0) >= 60:
            raise TooLarge
        return found

    def weight(self, i: int, j: int) -> Fraction:
        """Return a weight."""
        return self.weights[i][j]

    def part(self, i: int) -> list[Fraction]:
        """Return which part of each resource is a user's by weight."""
        return [self.weights[i][j] / sum(row[j] for row in self.weights) for j in range(self.m)]

    def dominant(self, i: int) -> Fraction:
        """Return the dominant share of one task, or of the mean of its types, of resources that count in shares."""
        return max(
            (share for j, share in enumerate(self.shares(i)) if f"r{j}" not in self.case.excluded), default=Fraction(0)
        )

    def most_in(self, i: int, rooms: Sequence[Sequence[Fraction]], limit: bool = True) -> Fraction:
        """Return the divisible tasks of a user in a room of each class, each type where one of it fits."""
        cells = [
            (t, k) for t, (_, _, fits) in enumerate(self.kinds[i]) for k in range(len(self.classes)) if fits[k]
        ]  # fmt: skip
        if not self.placed[i]:
            return Fraction(0)
        program = Polytope([*cells, "h"])
        for k, room in enumerate(rooms):
            for j in range(self.m):
                use = {(t, k): -self.kinds[i][t][1][j] for t, c in cells if c == k and self.kinds[i][t][1][j]}
                if use:
                    program.add(("room", k, j), use, Fraction(room[j]))
        for t, (part, _, _) in enumerate(self.kinds[i]):
            program.add(("mix", t), {"h": -part} | {c: Fraction(1) for c in cells if c[0] == t}, Fraction(0))
        if limit and (most := self.limits[i]) is not None:
            program.add("limit", {"h": Fraction(-1)}, most)
        program.add("tasks", {"h": Fraction(1)}, Fraction(0), free=True)
        found = program.maximise("tasks")
        assert found is not None
        return found

    def held(self, found: Allocation, i: int) -> list[list[Fraction]]:
        """Return what a user holds of each class, divisible tasks."""
        if found.placement is None:
            return [[middle(found.tasks[i]) * d for d in self.demands[i]]]
        rows = found.placed_by_type if found.placed_by_type is not None else found.placement
        at = sum(len(self.kinds[h]) for h in range(i)) if found.placed_by_type is not None else i
        kinds = self.kinds[i] if found.placed_by_type is not None else [(1, self.demands[i], None)]
        return [
            [sum((middle(rows[at + t][k]) * row[j] for t, (_, row, _) in enumerate(kinds)), Fraction(0))
             for j in range(self.m)]
            for k in range(len(self.classes))
        ]  # fmt: skip

    def used(self, tasks: Sequence[Fraction]) -> list[Fraction]:
        """Return what divisible tasks use of each resource."""
        return [sum((d[j] * x for d, x in zip(self.demands, tasks, strict=True)), Fraction(0)) for j in range(self.m)]

    def most_together(self, held: Sequence[Fraction], i: int) -> Fraction:
        """Return the most divisible tasks of a user where everybody keeps what it has, and rules are kept."""
        if i not in self.playing:
            return held[i]
        program = self.polytope()
        for group in self.case.groups:
            for resource, most in group.ceiling.items():
                below = [h for h in self.playing if f"{self.case.paths.get(h, '')}/".startswith(f"{group.name}/")]
                use = {("X", h): -self.demands[h][int(resource[1:])] for h in below}
                program.add(("ceiling", group.name, resource), use, Fraction(most))
        others = [h for h in self.playing if h != i and held[h]]
        # Raised to what they have: the sum of what is missing is 0 at its end, if what they have is possible.
        for h in others:
            program.add(("top", h), {("X", h): Fraction(-1)}, held[h])
        program.add("kept", {("X", h): Fraction(1) for h in others}, Fraction(0), free=True)
        program.maximise("kept")
        total = sum((held[h] for h in others), Fraction(0))
        if program.value("kept") < total * (1 - Fraction(1, 10**9)):
            raise ArithmeticError(f"{[float(x) for x in held]} is not possible")
        price = (total or Fraction(1)) * 10**9
        program.add("goal", {("X", h): price for h in others} | {("X", i): Fraction(1)}, Fraction(0), free=True)
        program.maximise("goal")
        return program.value(("X", i))

    @property
    def vectors(self) -> Iterator[tuple[int, ...]]:
        """Everything that can be run in whole tasks."""
        all_of = self.enumeration

        def grown(at: int, tasks: list[int]) -> Iterator[tuple[int, ...]]:
            if at == self.n:
                yield tuple(tasks)
                return
            for x in range(all_of.most[at] + 1):
                tasks[at] = x
                if not all_of.possible(tasks):
                    break
                yield from grown(at + 1, tasks)
            tasks[at] = 0

        yield from grown(0, [0] * self.n)
