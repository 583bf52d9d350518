"""What would raise a user's tasks, by trying: where no binding rounds are known, the changed cluster is divided.

These are the clusters of organisations, with guarantees, tiers and groups, users with several types of tasks on
machines, and whole tasks: of these it is known what a user's next task lacks room of, beside all that run.  In a pool
these are the resources, and ceilings of groups, of which less is left than the task needs.  On machines they are those
of the machine of each class where least is missing, as the tasks are packed: other packings leave other remains, but
where the allocation is the optimum none of them takes the task.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...base.deadline import Deadline
from ...base.errors import CertificateError, SolverError, TimeLimitError
from ...base.numbers.shown import changing, counted, in_full
from ...base.tolerances import LEVEL
from ...certificates.exhaustive_search import playing
from ...model.allocation import Allocation
from ...model.devices import DeviceRoom
from ...model.hierarchy.market import market_rules, sums_in_turn
from ...model.hierarchy.tree import closed_by
from ...model.machine import accepts
from ...model.policies import policy_named, policy_on
from ...model.whole_values import WholeUsers
from ...solving.allocating import solve
from ..changes import changed
from ..full_ceilings import full_ceilings

__all__ = ["UNTRIED", "RemedyTrials", "WholeStops", "WholeTrials", "ceilings_met"]

TASK = "its task"

UNTRIED = "what would raise its tasks is found by dividing the cluster again: name the user"
MORE = 1
"""Percent of a pool's resource that is tried, and machines of a class."""

NOWHERE = "its limit is {}, and its task fits on nothing open to it"

SAME_POINT = "its limit stops it, and something else does at the same point: a higher limit alone does not help"

EVEN = "as well as not"
"""What a user would have after a change that makes no sum larger: more or less, as it has now."""

NO_LARGER = "its {what} stops it, and the sum would be no larger without one"
"""Of a sum as large there may be others, in which it has more: who wins what another loses is not helped by it."""


def ceilings_met(allocation: Allocation, i: int) -> list[str]:
    """Return the resources of which user i uses all that its own ceilings allow; what it does not need stops nobody."""
    instance = allocation.instance
    if instance.organisation is None:
        return []
    used = dict(zip(instance.resources, allocation.usage[i], strict=True))
    needs = dict(zip(instance.resources, instance.demands[i], strict=True))
    ceilings = instance.organisation.ceilings[i]
    return [name for name, most in ceilings.items() if needs[name] and used[name] >= float(most) * (1 - LEVEL)]


class RemedyTrials:
    """Sentences for the users of an allocation, each after some divisions of a changed cluster."""

    def __init__(self, allocation: Allocation, thorough: bool):
        self.allocation, self.instance, self.thorough = allocation, allocation.instance, thorough

    @cached_property
    def _full(self) -> dict[int, list[str]]:
        """The full ceilings of groups above users."""
        return full_ceilings(self.allocation)

    def ceilings(self, i: int) -> list[str]:
        """Return the resources of which its own ceilings hold user i."""
        return ceilings_met(self.allocation, i)

    def held_by(self, i: int) -> tuple[str, ...]:
        """Return what stops user i."""
        stopped_by = self.allocation.certificate.bottlenecks[i] or ()
        return (stopped_by,) if isinstance(stopped_by, str) else tuple(stopped_by)

    def unplaced(self, i: int) -> str:
        """Return what would let a user run a task at all; of several types, the first that fits nowhere."""
        task, exact, eligible = self._misfit(i)
        rules, least = self.instance.organisation, 1 if self.allocation.integer else 0
        needs = dict(zip(self.instance.resources, exact, strict=True))
        own = (
            []
            if rules is None
            else [
                f"{r} ({most})"
                for r, most in rules.ceilings[i].items()
                if most < least * needs[r] or (needs[r] and not most)
            ]
        )
        too = f"; its ceiling of {' and '.join(own)} would keep it from that too" if own else ""
        return self._would_let_in(task, exact, eligible) + too

    def _would_let_in(self, task: str, exact: Sequence[Fraction], eligible: np.ndarray) -> str:
        """Return what the cluster would have to have for a task."""
        instance = self.instance
        if instance.machines is None:
            rows = list(zip(instance.resources, exact, instance.exact_capacity, strict=True))
            # Of a task that is whole some is not enough, nor of what there is too little of beside.
            if not self.allocation.integer and (missing := [name for name, d, c in rows if d and not c]):
                return f"{task} needs {' and '.join(missing)}, of which the cluster has none: add some"
            needs = [f"{_full(d)} of {name} instead of {_full(c)}" for name, d, c in rows if d > c]
            what = "" if task == TASK else f", for {task}"
            return f"the pool would have to have {' and '.join(needs) or 'more'}{what}"
        capacity, needed = instance.exact_machine_capacity, [(j, d) for j, d in enumerate(exact) if d]
        fits = np.array([all(d <= row[j] for j, d in needed) for row in capacity])
        open_to = np.flatnonzero(eligible) if eligible.any() else np.arange(instance.k)
        if (fits & eligible).any():
            there = np.flatnonzero(fits & eligible)
            if any(self._devices(k, exact)[1] for k in there.tolist()):
                room = _some([instance.machine_names[k] for k in there])
                return f"{task} takes neither a part of one device of {room} nor whole ones: ask for one or the other"
            open_to = there
        elif fits.any():
            closed = [name for name, there in zip(instance.machine_names, fits, strict=True) if there]
            return f"{task} fits on {_some(closed)}, which it may not use: open one of them to it"
        k = min(open_to.tolist(), key=lambda k: max((1 - capacity[k][j] / d for j, d in needed), default=0))
        counted, odd = self._devices(k, exact)
        needs = [
            f"{_full(d)} of {instance.resources[j]} instead of {_full(capacity[k][j])}"
            for j, d in needed
            if d > capacity[k][j] and instance.resources[j] not in counted
        ]
        needs += counted.values()
        may_use = "" if eligible[k] else ", and to be open to it"
        what = "" if task == TASK else f", for {task}"
        takes = f"; it takes neither a part of one device of {' and '.join(odd)} nor whole ones" if odd else ""
        return (
            f"a machine of {instance.machine_names[k]} would have to have {' and '.join(needs)}{may_use}{what}{takes}"
        )

    def _devices(self, k: int, demand: Sequence[Fraction]) -> tuple[dict[str, str], list[str]]:
        """Return how many devices a task would need of class k, in words, and of which it takes no whole number."""
        devices = (self.instance.machines[k].devices if self.instance.machines else None) or {}
        counted, odd = dict[str, str](), list[str]()
        for resource, need in zip(self.instance.resources, demand, strict=True):
            one = devices.get(resource)
            if one is None or accepts(need, one):
                continue
            if (need / one.size).denominator > 1:
                odd.append(resource)
            else:
                of = "" if one.size == 1 else f" of {_full(one.size)}"
                counted[resource] = f"{need / one.size} {resource} devices{of} instead of {one.count}"
        return counted, odd

    def _misfit(self, i: int) -> tuple[str, Sequence[Fraction], np.ndarray]:
        """Return in words the task of a user that fits nowhere, its demand (m,) and the classes open to it (k,)."""
        instance = self.instance
        kinds = instance.task_types[i] if instance.task_types is not None else None
        eligible = np.ones(1, dtype=bool) if instance.machines is None else instance.eligible[i]
        for t, kind in enumerate(kinds or ()):
            if not instance.type_fits[i][t].any():
                named = [kind.machines is None or name in kind.machines for name in instance.machine_names]
                return f"its task {kind.name or t + 1}", kind.demand, eligible & np.array(named or [True])
        return TASK, instance.exact_demands[i], eligible

    def all_run(self, i: int) -> str:
        """Return that a user with task types runs all that it has, which no limit could raise; empty for others."""
        kinds = None if self.instance.task_types is None else self.instance.task_types[i]
        there = sum(kind.count for kind in kinds) if kinds else np.inf
        return f"all of its {counted(there, 'task')} run" if self.instance.limits[i] >= there else ""

    def limit(self, i: int) -> str:
        """Return what she would have without her limit."""
        if text := self.all_run(i):
            return text
        if not self.thorough:
            return UNTRIED
        if self._helpless(i):
            return NOWHERE.format(in_full(self.instance.limits[i]))
        limits = self.instance.whole_limits if self.allocation.integer else self.instance.limits
        asked = self.instance.max_tasks[i]
        limit, (without, will) = float(limits[i]), self._after(f"set-limit {self.instance.users[i]}=none", i)
        if without <= limit * (1 + LEVEL):
            if self._sums:
                return NO_LARGER.format(what="limit")
            return SAME_POINT
        named = limit if asked is None else float(asked)
        then, before = changing(without, named)
        return f"raise its limit of {before}: without one it {will} have {counted(then, 'task')}"

    def _helpless(self, i: int) -> bool:
        return bool(self.instance.helpless(self.allocation.integer)[i])

    def notion(self, i: int) -> str:
        """Return that nothing but the notion stops a user."""
        return f"there is room for more of its tasks, and {self.allocation.policy} gives it none"

    def search(self, i: int) -> str:
        """Return that nothing is known to stop a user of an allocation that is not proven the best."""
        return "another of its tasks fits beside the others', and what is the best is not proven: give it more time"

    def efficiency(self, i: int) -> str:
        """Return why a sum gives a user no more."""
        name, rules = self.allocation.policy, self.instance.organisation
        owed, more = "nobody anything", "its tasks"
        if rules is not None and rules.promises:
            mine = rules.guarantees[i] or any(group.guarantee for group in rules.above(rules.paths[i]))
            owed, more = ("it nothing beyond its guarantee", "more of its tasks") if mine else ("it nothing", more)
        turns = () if rules is None else rules.in_turn or ()
        what = "the sum of its tier" if len(set(turns)) > 1 else "the sum"
        return f"{name} owes {owed}: {more} come as long as they add the most to {what} for what they take"

    def guarantee(self, i: int) -> str:
        """Return why a sum gives a user just what it is owed."""
        return (
            "it has what its guarantee is worth: a task more would add no more to the sum than what it takes adds "
            "elsewhere"
        )

    def ceiling(self, i: int) -> str:
        """Return what she would have without the ceiling that she is at."""
        if not self.thorough:
            return UNTRIED
        user = self.instance.users[i]
        rules, held, now = self.instance.organisation, self.ceilings(i), float(self.allocation.tasks[i])
        every = list(rules.ceilings[i]) if rules is not None else []
        one_of_several = len(every) > 1
        # Of several the one that helps most, or else all that hold it, which may do so together, or would one after
        # the other.
        for tried in ([[name] for name in held], [held], [every]):
            (after, will), names = max(
                (self._after([f"set-ceiling {user}.{r}=none" for r in rs], i), rs) for rs in tried
            )
            if after > now * (1 + LEVEL):
                which = f" of {' and '.join(names)}" if one_of_several else ""
                without = (
                    "without one" if not one_of_several else "without that" if len(names) == 1 else "without these"
                )
                then, before = changing(after, now)
                has = f"it {will} have {counted(then, 'task')} instead of {before}"
                return f"raise its ceiling{which}: {without} {has}"
        if self._sums:
            return NO_LARGER.format(what="ceiling")
        return "its ceiling stops it, and something else does at the same point: a higher one alone does not help"

    def capacity(self, i: int) -> str:
        """Return of what a little more gives her the most tasks, of what is used up where she is."""
        if not self.thorough:
            return UNTRIED
        if i in (closed := closed_by(self.instance)):
            return f"what stops it is {', '.join(closed[i])}"
        names = stops = self.held_by(i)
        if self.instance.machines is None:
            # What stops her may be a ceiling of her group, which has a name as well.
            # Others may be used up as well, and under guarantees it may be those that matter.
            full = self.allocation.utilization >= 1 - LEVEL
            needed = [r for j, r in enumerate(self.instance.resources) if full[j] and self.instance.demands[i, j]]
            names = tuple(dict.fromkeys((*names, *needed)))
            tried = [f"set-capacity {name}=+{MORE}%" for name in names if name in self.instance.resources]
        else:
            # A cell is called class/resource, and either may have a slash in its name.
            classes = [c for c in self.instance.machine_names if any(name.startswith(f"{c}/") for name in names)]
            tried = [f"add {MORE}*{name}" for name in classes]
        found, failed = [], None
        for each in tried:
            try:
                found.append((self._after(each, i), each))
            except (SolverError, CertificateError) as error:
                failed = error
        if failed is not None and not found:
            raise failed
        now = float(self.allocation.tasks[i])
        (after, will), change = max(found, default=((now, ""), ""))
        if after <= now * (1 + LEVEL):
            # A ceiling of a group may be full at the same point, and is no less in its way.
            what = ", ".join(dict.fromkeys((*(stops or names), *self._full.get(i, [])))) or "a promise to others"
            # A guarantee of hers or of others may be what counts: then it takes more before she has any of it.
            vain, even = (
                " or ".join(each for (_, will), each in found if (will == EVEN) is so) for so in (False, True)
            )
            text = [f"{vain} would not raise it"] * bool(vain) + [f"with {even} the sum is no larger"] * bool(even)
            return f"{', and '.join(text)}: what stops it is {what}".removeprefix(": ")
        then, before = changing(after, now)
        return f"{change} {will} give it {counted(then, 'task')} instead of {before}"

    @property
    def _sums(self) -> bool:
        """Whether a sum decides, of which several divisions may be best: more for one may be worth nothing."""
        return policy_named(self.allocation.policy).objective == "sum"

    def _after(self, change: str | list[str], i: int) -> tuple[float, str]:
        """Return the tasks of a user after a change, and whether it would have them: of equal sums it could.

        Where the sum is what today's tasks make, and the user is not owed more, they are those of now (`EVEN`).
        """
        changes = [change] if isinstance(change, str) else change
        found = solve(changed(self.instance, changes), self.allocation.policy)
        if not self._sums:
            return float(found.tasks[i]), "would"
        now, (owed, most) = float(self.allocation.tasks[i]), _range(found, i)
        if most <= now * (1 + LEVEL):
            return now, "could"
        if owed > now * (1 + LEVEL):
            return most, "would" if most <= owed * (1 + LEVEL) else "could"
        return (most, "could") if self._larger(found) else (now, EVEN)

    def _larger(self, found: Allocation) -> bool:
        """Say whether the sum is more than today's tasks make there: of tiers that of the first one which changes."""
        there, policy = found.instance, policy_named(found.policy)
        rates = market_rules(there, policy).rates if "organisation" in there.features else policy.rates(there)
        both = (sums_in_turn(there, rates * one.tasks.astype(float)) for one in (found, self.allocation))
        pairs = ((one, now) for one, now in zip(*both, strict=True) if abs(one - now) > now * LEVEL)
        return any(one > now for one, now in itertools.islice(pairs, 1))


def _range(found: Allocation, i: int) -> tuple[float, float]:
    """Return what user i is owed in a division by a sum, and the most that it has in one as good."""
    from ...engines.problem import Problem
    from ...engines.sums import most_of_equals

    problem = Problem(found.instance, policy_named(found.policy))
    (place,) = np.nonzero(problem.members == i)
    if not len(place):
        return 0.0, 0.0
    owed, most = most_of_equals(problem, found.tasks[problem.members].astype(float), int(place[0]))
    return owed, max(most, float(found.tasks[i]))


def _full(amount: Fraction) -> str:
    """Return an amount that is to be reached, all of it: as a decimal where it is one that floats hold."""
    short = repr(float(amount)).removesuffix(".0")
    return short if "e" not in short and Fraction(short) == amount else str(amount)


def _some(names: list[str]) -> str:
    return " or ".join(names[:3]) if len(names) <= 3 else f"{', '.join(names[:3])} and {len(names) - 3} other classes"


TIMES = (1, 2, 4, 8)
"""Times what one task lacks, or machines, that are tried: what is added first serves who is lower."""


class WholeStops:
    """What the next task of each user of an allocation of whole tasks lacks."""

    def __init__(self, allocation: Allocation):
        self.allocation, self.instance = allocation, allocation.instance
        self.users = WholeUsers(
            self.instance, policy_on(allocation.policy, allocation.instance), playing(self.instance)
        )
        self.cluster = self.users.cluster
        self.place = {i: p for p, i in enumerate(self.users.members)}
        self.tasks = [int(x) for x in allocation.tasks.tolist()]

    def next_demand(self, i: int) -> tuple[int, Sequence[Fraction]] | None:
        """Return the row of a user's next task among all types, and what it needs; None where there is none."""
        sequence, x = self.users.sequences[self.place[i]], self.tasks[i]
        if self.started(i):
            return None
        row = sequence.rows[sequence.next_type(x) if len(sequence.rows) > 1 else 0]
        return row, self.cluster.exact_demands[row]

    def started(self, i: int) -> bool:
        """Say whether a user with task types runs all tasks of those that fit somewhere."""
        types = self.instance.task_types
        several = types is not None and types[i] is not None and i in self.place
        return several and self.tasks[i] >= sum(self.users.sequences[self.place[i]].counts)

    def lacks(self, i: int) -> dict[str, Fraction]:
        """Return how much is missing of what stops user i; nothing where its own limit or ceilings do."""
        if i not in self.place or (found := self.next_demand(i)) is None:
            return {}
        row, demand = found
        groups = {name: most for name, most in self._groups(i, demand) if most > 0}
        if self.instance.machines is None:
            rooms = zip(self.instance.resources, demand, self._left, strict=True)
            return groups | {name: d - left for name, d, left in rooms if d > left}
        missing = dict(groups)
        for k, name in enumerate(self.instance.machine_names):
            if self.cluster.fits[row, k] and self._remains[k]:
                if not (nearest := self._nearest(k, row)):
                    return groups  # it finds room here: no machine stops it
                missing |= {f"{name}/{resource}": short for resource, short in nearest.items()}
        return missing

    def ceilings(self, i: int) -> list[str]:
        """Return the resources of which a user's own ceiling does not let it have another task."""
        instance = self.instance
        own = instance.max_tasks[i]
        if i not in self.place and ((own is not None and own < 1) or instance.unplaced(integer=True)[i]):
            return []  # that is what leaves it no task
        return instance.exceeded_ceilings(i, self.tasks[i] + 1)

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
    def _remains(self) -> list[list[tuple[list[Fraction], Mapping[int, int]]]]:
        """What is left on a machine, (m,), beside each pattern of a class's packing; the empty machine last."""
        found: list[list[tuple[list[Fraction], Mapping[int, int]]]] = [[] for _ in self.instance.machine_names]
        free = [int(count) for count in self.instance.counts]
        capacity, demands = self.instance.exact_machine_capacity, self.cluster.exact_demands
        for k, count, pattern in self.allocation.certificate.evidence.packing or []:
            free[k] -= count
            used = [sum((x * demands[q][j] for q, x in pattern.items()), Fraction(0)) for j in range(self.instance.m)]
            found[k].append(([c - x for c, x in zip(capacity[k], used, strict=True)], pattern))
        return [left + ([(list(capacity[k]), {})] if free[k] else []) for k, left in enumerate(found)]

    def _groups(self, i: int, demand: Sequence[Fraction]) -> Iterator[tuple[str, Fraction]]:
        """Yield the ceilings of the groups that a user is in, and by how much its next task is above each."""
        rules = self.instance.organisation
        names = [(group.name, resource) for group in rules.groups for resource in group.ceiling] if rules else []
        for (group, resource), (inside, j, _), spare in zip(names, self.users.ceilings, self._spare, strict=False):
            if self.place[i] in inside and demand[j]:
                yield f"{group} ceiling of {resource}", demand[j] - spare

    def _nearest(self, k: int, row: int) -> dict[str, Fraction]:
        """Return what a task lacks on the machine of a class where that is least, in parts of it; nothing for room."""
        demand, best = self.cluster.exact_demands[row], dict[str, Fraction]()
        for remains, pattern in self._remains[k]:
            rooms, undealt = zip(self.instance.resources, demand, remains, strict=True), self._undealt(k, row, pattern)
            # Whether parts of devices would add up to what is missing says nothing: none of them has room.
            short = {name: undealt.get(name, d - left) for name, d, left in rooms if d > left or name in undealt}
            if not short:
                return {}
            part = {name: amount / demand[self.instance.resources.index(name)] for name, amount in short.items()}
            # The largest first: of two machines that lack as much of one thing the nearer lacks less of another.
            if not best or sorted(part.values(), reverse=True) < sorted(best.values(), reverse=True):
                best = part
        return {name: part * demand[self.instance.resources.index(name)] for name, part in best.items()}

    def _undealt(self, k: int, row: int, pattern: Mapping[int, int]) -> dict[str, Fraction]:
        """Return what a task needs of devices that have no room for it, each kind by itself."""
        devices = (self.instance.machines[k].devices if self.instance.machines else None) or {}
        demand, rows = self.cluster.exact_demands[row], sorted({row, *pattern})
        tasks = {p: pattern.get(q, 0) + (q == row) for p, q in enumerate(rows)}
        needs = [self.cluster.exact_demands[q] for q in rows]
        return {
            r: demand[j]
            for j, r in enumerate(self.instance.resources)
            if r in devices and demand[j] and not DeviceRoom({r: devices[r]}, self.instance.resources, needs).fit(tasks)
        }


class WholeTrials(RemedyTrials):
    """Sentences for the users of an allocation of whole tasks: what is said was tried, and divided again."""

    def __init__(self, allocation: Allocation, thorough: bool, stops: WholeStops):
        super().__init__(allocation, thorough)
        self.stops = stops

    def ceilings(self, i: int) -> list[str]:
        """Return the resources of which its own ceilings hold user i."""
        return self.stops.ceilings(i)

    def capacity(self, i: int) -> str:
        """Return how much more of what its next task lacks gives a user one, whoever is served before it."""
        if not self.thorough:
            return UNTRIED
        now, lacks = int(self.allocation.tasks[i]), self.stops.lacks(i)
        for times in TIMES:
            for changes in self._more(lacks, times):
                after, will = self._after(changes, i)
                if after > now:
                    return f"{', '.join(changes)} {will} give it {counted(f'{after:.0f}', 'task')} instead of {now}"
        stops = f"what stops it is {', '.join(lacks) or 'a promise to others'}"
        vain = " or ".join(", ".join(changes) for changes in self._more(lacks, TIMES[-1]))
        return f"{stops}; {vain} would not raise it" if vain else stops

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

    def _after(self, change: str | list[str], i: int) -> tuple[float, str]:
        changes = [change] if isinstance(change, str) else change
        # Of the time that is left half is for what is tried next.
        limit = Deadline.asked(None).share(2)
        found = solve(changed(self.instance, changes), self.allocation.policy, integer=True, time_limit=limit)
        if not found.finished:
            raise TimeLimitError(found.certificate.reason)
        return float(np.asarray(found.tasks)[i]), "could" if self._sums else "would"
