"""Moves where every machine is divided by itself: what a user runs on one machine is a user of its own.

Machines have nothing in common, so that levels are the best on each exactly where all of them, in one list, are.  That
is `drf` of a cluster in which user (i, q) may run on machine q alone, with the weight w[i, j] C[q, j] / c[j]: then its
share of the cluster is the share of machine q, over the weight of i.

What leaves is counted by the places of today, which are machines or classes of them.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np

from ...base.deadline import Deadline
from ...base.errors import PolicyError
from ...engines.problem import Problem
from ...model.allocation import Allocation
from ...model.instance import Instance
from ...model.organisation import Organisation
from ...model.packings import Packing
from ...model.single_machines import ON_EACH
from .current import Current
from .moves import Placement, Tasks

__all__ = ["Separate"]


PAIRS = 2_000
"""Users on machines by themselves up to whom the program is made in seconds."""


@dataclass(frozen=True)
class Separate:
    """A cluster of machines that are divided one by one, and what runs there today."""

    instance: Instance
    today: Current
    deadline: Deadline

    @cached_property
    def classes(self) -> list[int]:
        """The class of every single machine, (q,): in the order of the places, where these are machines."""
        if self.today.machines:
            return list(self.today.classes)
        return [k for k, machine in enumerate(self.instance.machines or ()) for _ in range(machine.count)]

    @cached_property
    def who(self) -> list[tuple[int, int]]:
        """Users and the machines on which a task of theirs fits, in the order of the users of `problem`.

        Raises
        ------
        PolicyError
            When they are too many.
        """
        fits, classes = self.instance.fits, self.classes
        if (pairs := int(fits[:, classes].sum())) > PAIRS:
            raise PolicyError(
                f"rebalance of per-server looks at every user on every machine by itself, up to {PAIRS:,} in all, and "
                f"here there are {pairs:,}: ask for some of the machines"
            )
        return [(i, q) for i in range(self.instance.n) for q, k in enumerate(classes) if fits[i, k]]

    @cached_property
    def problem(self) -> Problem:
        """The cluster in which (i, q) is a user."""
        instance = self.instance
        machines = [replace((instance.machines or ())[k], name=f"{q}", count=1) for q, k in enumerate(self.classes)]
        weights = [instance.exact_weights[i] for i, _ in self.who]
        rows = [weight if isinstance(weight, tuple) else (weight,) * instance.m for weight in weights]
        given: dict[str, Any] = {
            "demands": [instance.exact_demands[i] for i, _ in self.who],
            "weights": [self._weights(q, row) for (_, q), row in zip(self.who, rows, strict=True)],
            "users": [f"{i}/{q}" for i, q in self.who],
            "eligible": np.array([[q == other for other in range(len(machines))] for _, q in self.who], dtype=bool),
        }
        rules = instance.organisation
        if rules is not None:
            if rules.groups:
                raise PolicyError(
                    "rebalance of per-server is one program of all machines, in which a group has one level, and it "
                    "has one on each of them: leave groups out, or use drf"
                )
            # Machines have nothing in common, so that one order of all is the order on each.
            turns = zip(given["users"], ((rules.in_turn or ())[i] for i, _ in self.who), strict=True)
            rules = Organisation(tiers={name: -turn for name, turn in turns}, excluded=rules.excluded)
        apart = Instance(machines=machines, resources=instance.resources, organisation=rules, **given)
        return Problem(apart, ON_EACH, integer=True, deadline=self.deadline)

    def _weights(self, q: int, weights: tuple[Fraction, ...]) -> list[Fraction]:
        cells = zip(
            weights, self.instance.exact_machine_capacity[self.classes[q]], self.instance.exact_capacity, strict=True
        )
        # Nobody on a machine needs what is not on it.
        return [w * here / all_of_it if here else w for w, here, all_of_it in cells]

    @cached_property
    def current(self) -> Current:
        """The machines as places; what runs today is in none, for `Leaving` counts it by its own places."""
        names = tuple(map(str, range(len(self.classes))))
        return Current(names, tuple(range(len(names))), np.zeros((len(self.who), len(names)), dtype=np.int64), True)

    @property
    def program(self) -> "partial[Leaving]":
        """The program of what runs where, as `Tasks` is called."""
        return partial(Leaving, separate=self)

    def running(self) -> Iterator[tuple[int, list[int]]]:
        """Yield how many tasks of each user run in each place today, and which users of `problem` are it there."""
        for i, place in np.argwhere(self.today.tasks).tolist():
            here = [place] if self.today.machines else [q for q, k in enumerate(self.classes) if k == place]
            yield int(self.today.tasks[i, place]), [p for p, (h, q) in enumerate(self.who) if h == i and q in here]

    def apart(self, found: Allocation) -> Placement:
        """Return an allocation as it was packed, in the rows and places of `problem`."""
        left: list[dict[int, int]] = [{} for _ in self.classes]
        for k, count, pattern in found.certificate.evidence.packing or []:
            free = [q for q, of in enumerate(self.classes) if of == k and not left[q]]
            for q in free[:count]:
                left[q] = pattern
        tasks = np.zeros((len(self.who), len(self.classes)), dtype=np.int64)
        for p, (i, q) in enumerate(self.who):
            tasks[p, q] = left[q].get(i, 0)
        return Placement(tasks, None)

    def together(self, plan: Placement) -> Placement:
        """Return a plan of `problem` in the rows and places of today."""
        tasks = np.zeros_like(self.today.tasks)
        patterns: list[dict[int, int]] = [{} for _ in self.classes]
        for p, (i, q) in enumerate(self.who):
            if x := int(plan.tasks[p, q]):
                tasks[i, q if self.today.machines else self.classes[q]] += x
                patterns[q][i] = x
        packing: list[Packing] = [(k, 1, held) for k, held in zip(self.classes, patterns, strict=True) if held]
        return Placement(tasks, None if self.today.machines else packing)


class Leaving(Tasks):
    """The program in which what leaves is counted by the places of today."""

    def __init__(self, problem: Problem, current: Current, most: int | None = None, *, separate: Separate):
        self.separate = separate
        super().__init__(problem, current, most)

    def _leaving(self) -> dict[tuple[int, int], int]:
        found = {}
        for number, (there, users) in enumerate(self.separate.running()):
            stay = {self.column[p, self.separate.who[p][1]]: 1.0 for p in users}
            # Where nothing of it may stay all of it leaves.
            column = found[number, 0] = self.model.column(there, low=0 if stay else there, whole=False)
            self.model.row(there, math.inf, {column: 1.0} | stay)
        return found
