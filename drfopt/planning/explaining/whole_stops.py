"""What stops whole tasks: of what a user's next task lacks room, beside all that run; and how much more it takes.

In a pool these are the resources, and ceilings of groups, of which less is left than the task needs.  On machines they
are those of the machine of each class where least is missing, as the tasks are packed: other packings leave other
remains, but where the allocation is the optimum none of them takes the task.
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...certificates.exhaustive_search import playing
from ...model.allocation import Allocation
from ...model.policies import policy_named
from ...model.whole_values import WholeUsers
from ...solving.allocating import solve
from ..changes import changed
from .tried_remedies import UNTRIED, RemedyTrials

__all__ = ["WholeStops", "WholeTrials"]

TIMES = (1, 2, 4, 8)
"""Times what one task lacks, or machines, that are tried: what is added first serves who is lower."""


class WholeStops:
    """What the next task of each user of an allocation of whole tasks lacks."""

    def __init__(self, allocation: Allocation):
        self.allocation, self.instance = allocation, allocation.instance
        self.users = WholeUsers(self.instance, policy_named(allocation.policy), playing(self.instance))
        self.cluster = self.users.cluster
        self.place = {i: p for p, i in enumerate(self.users.members)}
        self.tasks = [int(x) for x in allocation.tasks.tolist()]

    def next_demand(self, i: int) -> tuple[int, Sequence[Fraction]] | None:
        """Return the row of a user's next task among all types, and what it needs; None where there is none."""
        sequence, x = self.users.sequences[self.place[i]], self.tasks[i]
        if len(sequence.rows) > 1 and x >= sum(sequence.counts):
            return None
        row = sequence.rows[sequence.next_type(x) if len(sequence.rows) > 1 else 0]
        return row, self.cluster.exact_demands[row]

    def lacks(self, i: int) -> dict[str, Fraction]:
        """Return how much is missing of what stops user i; nothing where its own limit or ceilings do."""
        if i not in self.place or (found := self.next_demand(i)) is None:
            return {}
        row, demand = found
        missing = {name: most for name, most in self._groups(i, demand) if most > 0}
        if self.instance.machines is None:
            rooms = zip(self.instance.resources, demand, self._left, strict=True)
            return missing | {name: d - left for name, d, left in rooms if d > left}
        for k, name in enumerate(self.instance.machine_names):
            if self.cluster.fits[row, k]:
                missing |= {f"{name}/{resource}": short for resource, short in self._nearest(k, demand).items()}
        return missing

    def ceilings(self, i: int) -> list[str]:
        """Return the resources of which a user's own ceiling does not let it have another task."""
        rules = self.instance.organisation
        if rules is None or i not in self.place:
            return []
        p, x = self.place[i], self.tasks[i]
        used = {name: self.users.use(p, x + 1, self.instance.resources.index(name)) for name in rules.ceilings[i]}
        return [name for name, most in rules.ceilings[i].items() if used[name] > most]

    def _used(self, members: Iterable[int], j: int) -> Fraction:
        """Return what members use of a resource together."""
        return sum((self.users.use(p, self.tasks[self.users.members[p]], j) for p in members), Fraction(0))

    @cached_property
    def _left(self) -> list[Fraction]:
        """What nobody uses of each resource of a pool, (m,)."""
        everybody = range(len(self.users.members))
        return [c - self._used(everybody, j) for j, c in enumerate(self.instance.exact_capacity)]

    @cached_property
    def _spare(self) -> list[Fraction]:
        """What is left below each ceiling of a group."""
        return [most - self._used(inside, j) for inside, j, most in self.users.ceilings]

    @cached_property
    def _remains(self) -> list[list[list[Fraction]]]:
        """What is left on a machine, (m,), of each class and pattern of its packing; the empty machine last."""
        found: list[list[list[Fraction]]] = [[] for _ in self.instance.machine_names]
        free = [int(count) for count in self.instance.counts]
        capacity, demands = self.instance.exact_machine_capacity, self.cluster.exact_demands
        for k, count, pattern in self.allocation.certificate.evidence.packing or []:
            free[k] -= count
            used = [sum((x * demands[q][j] for q, x in pattern.items()), Fraction(0)) for j in range(self.instance.m)]
            found[k].append([c - x for c, x in zip(capacity[k], used, strict=True)])
        return [left + ([list(capacity[k])] if free[k] else []) for k, left in enumerate(found)]

    def _groups(self, i: int, demand: Sequence[Fraction]) -> Iterator[tuple[str, Fraction]]:
        """Yield the ceilings of the groups that a user is in, and by how much its next task is above each."""
        rules = self.instance.organisation
        names = [(group.name, resource) for group in rules.groups for resource in group.ceiling] if rules else []
        for (group, resource), (inside, j, _), spare in zip(names, self.users.ceilings, self._spare, strict=False):
            if self.place[i] in inside and demand[j]:
                yield f"{group} ceiling of {resource}", demand[j] - spare

    def _nearest(self, k: int, demand: Sequence[Fraction]) -> dict[str, Fraction]:
        """Return what is missing on the machine of a class where least is, in parts of the task."""
        best: dict[str, Fraction] = {}
        for remains in self._remains[k]:
            rooms = zip(self.instance.resources, demand, remains, strict=True)
            short = {name: d - left for name, d, left in rooms if d > left}
            if not short:
                # There is room in all, but not on one device.
                devices = (self.instance.machines[k].devices if self.instance.machines else None) or {}
                short = {r: demand[j] for j, r in enumerate(self.instance.resources) if r in devices and demand[j]}
            part = {name: amount / demand[self.instance.resources.index(name)] for name, amount in short.items()}
            if not best or max(part.values(), default=0) < max(best.values()):
                best = part
        return {name: part * demand[self.instance.resources.index(name)] for name, part in best.items()}


class WholeTrials(RemedyTrials):
    """Sentences for the users of an allocation of whole tasks: what is said was tried, and divided again."""

    def __init__(self, allocation: Allocation, thorough: bool, stops: WholeStops, time_limit: float | None):
        super().__init__(allocation, thorough)
        self.stops, self.time_limit = stops, time_limit

    def ceilings(self, i: int) -> list[str]:
        """Return the resources of which its own ceilings hold user i."""
        return self.stops.ceilings(i)

    def capacity(self, i: int) -> str:
        """Return how much more of what its next task lacks gives a user one, whoever is served before it."""
        if not self.thorough:
            return UNTRIED
        instance, now = self.instance, int(self.allocation.tasks[i])
        lacks = self.stops.lacks(i)
        for times in TIMES:
            for changes in self._more(lacks, times):
                after = self._after(changes, i)
                if after > now:
                    return f"{', '.join(changes)} would give it {after:.0f} tasks instead of {now}"
        what = ", ".join(lacks) or "a promise to others"
        added = "machines" if instance.machines is not None else "times what a task of it lacks"
        return f"what stops it is {what}; {TIMES[-1]} {added} more would not raise it"

    def _more(self, lacks: dict[str, Fraction], times: int) -> Iterator[list[str]]:
        """Yield changes that add so many times what a task lacks, or so many machines of each class that it fits on."""
        instance = self.instance
        if instance.machines is None:
            capacity = dict(zip(instance.resources, instance.exact_capacity, strict=True))
            if more := [f"set-capacity {r}={capacity[r] + times * x}" for r, x in lacks.items() if r in capacity]:
                yield more
            return
        for name in instance.machine_names:
            if any(cell.startswith(f"{name}/") for cell in lacks):
                yield [f"add {times}*{name}"]

    def _after(self, change: str | list[str], i: int) -> float:
        changes = [change] if isinstance(change, str) else change
        found = solve(changed(self.instance, changes), self.allocation.policy, integer=True, time_limit=self.time_limit)
        return float(np.asarray(found.tasks)[i])
