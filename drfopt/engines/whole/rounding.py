"""Whole tasks packed on machines: the whole part of the continuous optimum, the lowest levels first.

For a level L everybody is wished her tasks up to L, but no more than the whole part of her continuous optimum.  The
wishes are packed largest task first, on machines whose rest has the proportions of the task; whose wish does not come
true goes first the next time, some rounds long.  The highest L whose wishes can be packed so is found by halving.
Then tasks are added one by one, always to the user whose level is lowest: up to the continuous optimum, then beyond it.
At last whoever is lowest is given a task in the place of somebody's who runs it elsewhere, or has more without it.

Under rules of an organisation, and with several types of tasks, no continuous optimum is rounded: tasks are added one
by one from the beginning, always to whom those that it has are worth least.

Nothing is proven here: the certificate says how far from below the levels are the highest possible.  Evidence of the
answer is the whole part of everybody's continuous optimum, where there was time for it: who has less is told.
"""

import heapq
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import chain

import numpy as np

from ...base.deadline import Deadline
from ...base.errors import TimeLimitError
from ...base.progress import report
from ...base.tolerances import LEVEL
from ...model.packings import Packing, device_room, integer_rows, most_alone
from ...model.whole_values import WholeUsers
from ..leximin import lp_chain
from ..problem import Answer, Problem
from .milp import packed

__all__ = ["TaskByTask", "solve", "task_by_task"]

ROUNDS = 15
"""Times that wishes are packed again with other users first."""

LARGE = 2**62
"""Integers up to here are computed with as such by numpy."""

GRACE = 1.0
"""Seconds that tasks are given one by one where time has run out already: there is no other answer then."""

CONTINUOUS = 0.5
"""Part of the time that the continuous optimum may take."""

TRADES = 40
"""Machines on which a place is looked for that somebody else makes, for one task."""

FAILED = 2_000
"""Times in all that none may be found."""


Going = list[tuple[int, int]]
"""Pairs (member, tasks) that make room on a machine."""


def solve(problem: Problem) -> Answer:
    """Return the packing; its status says that it is feasible, not that it is optimal."""
    if problem.instance.features:
        return task_by_task(problem)
    continuous = Problem(problem.instance, problem.policy, False, problem.deadline.part(CONTINUOUS))
    tasks = np.zeros(problem.instance.n)
    known = False
    with suppress(TimeLimitError):
        tasks[continuous.members] = lp_chain.solve(continuous).tasks
        known = True
    used, total = tasks @ problem.instance.demands, problem.instance.capacity
    scarce = np.divide(used, total**2, where=total > 0, out=np.zeros(len(total)))
    cluster = _Cluster(problem, scarce)
    # A count that rounding put just below a whole number is that number.
    whole = np.floor(tasks[problem.members] * (1 + LEVEL)).astype(np.int64)
    target = np.minimum(whole, np.array(cluster.most, dtype=object)).astype(np.int64)
    _highest_packed(problem, cluster, target)
    cluster.fill_up(target.tolist())
    cluster.fill_up(cluster.most)
    cluster.trade(problem.deadline)
    answer = packed(problem, [int(x) for x in cluster.tasks], cluster.packing(), status="feasible")
    return replace(answer, whole_part=target) if known else answer


def filled(problem: Problem, start: Answer) -> Answer:
    """Return a packed answer with task after task added while some fit, whose values are lowest going first."""
    return task_by_task(problem, start)


class TaskByTask:
    """Machines to which tasks are added one by one, each where it fits first, ceilings of groups kept.

    Attributes
    ----------
    tasks : list of int
        What the members have.
    """

    def __init__(self, problem: Problem, users: WholeUsers, start: Answer | None = None):
        self.problem, self.users = problem, users
        self.cluster = _Cluster(problem.by_type, np.zeros(problem.m))
        self.place = {q: p for p, q in enumerate(self.cluster.members)}
        self.under, room = users.ceiling_rows
        self.tasks, self.left = [0] * problem.n, list(room)
        if start is not None:
            self.tasks = start.tasks.tolist()
            self.cluster.carry(start.evidence.packing or [])
            for p, sequence in enumerate(users.sequences):
                for good, count in zip(users.goods_of[p], sequence.started(self.tasks[p]), strict=True):
                    self.left = [f - count * d for d, f in zip(self.under[good], self.left, strict=True)]

    def more(self, p: int, number: int = 1) -> int:
        """Run up to so many more tasks of a member, of several types one; return for how many there was room."""
        sequence, t = self.users.sequences[p], 0
        if len(sequence.rows) > 1:
            t, number = sequence.next_type(self.tasks[p]), 1
        need = self.under[self.users.goods_of[p][t]]
        number = min([number, *(f // d for d, f in zip(need, self.left, strict=True) if d)])
        placed = self.cluster.place(self.place[sequence.rows[t]], number)
        self.tasks[p] += placed
        self.left = [f - placed * d for f, d in zip(self.left, need, strict=True)]
        return placed

    def answer(self, status: str = "feasible") -> Answer:
        """Return what runs."""
        return packed(self.problem, self.tasks, self.cluster.packing(), status)


def task_by_task(problem: Problem, start: Answer | None = None) -> Answer:
    """Return what task after task comes to under rules or with several types, whose values are lowest going first.

    Where time runs out, `GRACE` later at the earliest, that is what runs so far.
    """
    users = WholeUsers(problem.instance, problem.policy, problem.members.tolist())
    filling = TaskByTask(problem, users, start)
    queue = [(s.value(x), p) for p, (s, x) in enumerate(zip(users.scales, filling.tasks, strict=True)) if x < s.most]
    heapq.heapify(queue)
    deadline = Deadline.after(problem.deadline.left(GRACE))
    while queue and deadline.left() > 0:
        _, p = heapq.heappop(queue)
        scale, x = users.scales[p], filling.tasks[p]
        # She stays the lowest until she is worth what the next is: so many tasks are one step.
        number = min(scale.most, max(x + 1, scale.least(queue[0][0]) if queue else scale.most)) - x
        if filling.more(p, number) and filling.tasks[p] < scale.most:
            heapq.heappush(queue, (scale.value(filling.tasks[p]), p))
    return filling.answer()


def _highest_packed(problem: Problem, cluster: "_Cluster", target: np.ndarray) -> None:
    """Leave the cluster with the wishes of the highest level that could be packed."""
    rates = cluster.float_rates
    first = np.zeros(len(target))
    best = (first, np.zeros_like(target))
    # The first look is at everything; nearer than one task of the user with the smallest step nothing changes.
    level = high = float((rates * target).max())
    low = 0.0
    while level > low and high - low > rates.min() and problem.deadline.left():
        wishes = np.minimum(target, np.ceil(level / rates * (1 - LEVEL)).astype(np.int64))
        report(f"packing all tasks up to level {level:.6g}")
        order = _packed(cluster, wishes, first)
        if order is None:
            high = level
        else:
            low, first, best = level, order, (order, wishes)
        level = (low + high) / 2
    cluster.pack(best[1], _before(cluster, best[0]))


def _packed(cluster: "_Cluster", wishes: np.ndarray, first: np.ndarray) -> np.ndarray | None:
    """Return how often each user has to go first for the wishes to be packed; None where they never were."""
    first = first.copy()
    for _ in range(ROUNDS):
        cluster.pack(wishes, _before(cluster, first))
        short = cluster.tasks < wishes
        if not short.any():
            # As it was packed: the order was that of before.
            return first
        first[short] += 1
    return None


def _before(cluster: "_Cluster", first: np.ndarray) -> list[int]:
    return np.lexsort((-cluster.size, -first)).tolist()


class _Cluster:
    """Single machines, what is left on each, and the members' tasks on them, in integers.

    Attributes
    ----------
    rates, most : list
        Exact level of one task, most tasks, of each member.
    size : array (n,)
        How large a task is: its share of a resource, relative to the largest task's, where that is most.
    load : int array (n, machines)
    """

    def __init__(self, problem: Problem, scarce: np.ndarray):
        instance, self.members = problem.instance, problem.members.tolist()
        self.resources = instance.resources
        self.classes = np.repeat(np.arange(instance.k), instance.counts)
        demands = [instance.exact_demands[i] for i in self.members]
        rooms = []
        for row in instance.exact_machine_capacity:
            rows, room = integer_rows(demands, row)
            rooms.append(room)
        kind = np.int64 if max(max(map(max, rows)), max(map(max, rooms))) < LARGE else object
        self.demands, self.rooms = np.array(rows, dtype=kind), np.array(rooms, dtype=kind)
        self.eligible = instance.fits[self.members]
        self.devices = [
            device_room(instance, k, [i for i in self.members if instance.fits[i, k]])
            if (instance.machines[k].devices if instance.machines else None)
            else None
            for k in range(instance.k)
        ]
        # Of each resource with devices, what is on one of each class, in the units of demands; 0 for no devices.
        self.sizes: dict[int, np.ndarray] = {}
        for k, machine in enumerate(instance.machines or ()):
            for resource, one in (machine.devices or {}).items():
                j = self.resources.index(resource)
                unit = next((Fraction(d) / row[j] for row, (d) in zip(demands, (r[j] for r in rows), strict=True) if row[j]), Fraction(0))
                self.sizes.setdefault(j, np.zeros(instance.k, dtype=kind))[k] = int(one.size * unit)
        # Where each member is among those who fit on a class, whose devices know nobody else.
        self.at = np.cumsum(self.eligible, axis=0) - 1
        exact = problem.policy.exact_rates(instance)
        self.rates = [exact[i] for i in self.members]
        self.float_rates = np.array([float(rate) for rate in self.rates])
        self.most = [most_alone(instance, i) for i in self.members]
        shares = problem.shares
        largest = shares.max(axis=0)
        self.size = np.divide(shares, largest, where=largest > 0, out=np.zeros_like(shares)).max(axis=1)
        # Proportions are of shares of the cluster, and a resource matters as much as it is used.
        unit = np.divide(
            self.rooms.astype(float),
            instance.machine_capacity,
            where=instance.machine_capacity > 0,
            out=np.ones_like(instance.machine_capacity),
        ).max(axis=0)
        # What nobody needs has no unit, and no price.
        self.price = np.divide(scarce, unit, where=unit > 0, out=np.zeros_like(scarce))
        self.pack(np.zeros(len(self.members), dtype=np.int64), [])

    @property
    def tasks(self) -> np.ndarray:
        """Tasks of each member, (n,)."""
        return self.load.sum(axis=1)

    def pack(self, wishes: np.ndarray, order: list[int]) -> None:
        """Empty the machines and pack as much of the wishes as fits, members in that order."""
        self.left = self.rooms[self.classes]
        self.load = np.zeros((len(self.members), len(self.classes)), dtype=np.int64)
        # On devices of a machine: tasks by who runs them, and who fits there no more, which is so from then on.
        self.running: list[dict[int, int]] = [{} for _ in self.classes]
        self.refused = np.zeros((len(self.members), len(self.classes)), dtype=bool)
        for p in order:
            if wishes[p]:
                self.place(p, int(wishes[p]))

    def carry(self, packing: list[Packing]) -> None:
        """Put a packing on machines that are empty and have no devices."""
        place = {i: p for p, i in enumerate(self.members)}
        first = np.searchsorted(self.classes, np.arange(len(self.rooms))).tolist()
        for k, count, pattern in packing:
            here = slice(first[k], first[k] + count)
            first[k] += count
            for i, x in pattern.items():
                self.load[place[i], here] += x
                self.left[here] -= x * self.demands[place[i]]

    def fill_up(self, most: list[int]) -> None:
        """Give task after task to the user whose level is lowest, passing over whose fits nowhere any more."""
        tasks = self.tasks.tolist()
        queue = [(self.rates[p] * x, p) for p, x in enumerate(tasks) if x < most[p]]
        heapq.heapify(queue)
        while queue:
            level, p = heapq.heappop(queue)
            # She stays the lowest until she is above the next: so many tasks are one step.
            ahead = int((queue[0][0] - level) / self.rates[p]) if queue else most[p]
            number = max(1, min(ahead, most[p] - tasks[p]))
            if placed := self.place(p, number):
                tasks[p] += placed
                if tasks[p] < most[p] and placed == number:
                    heapq.heappush(queue, (self.rates[p] * tasks[p], p))

    def trade(self, deadline: Deadline) -> None:
        """Give the lowest a task where somebody else makes room, and ends elsewhere or above where the lowest was."""
        tasks, failed = self.tasks.tolist(), 0
        queue = [(self.rates[p] * x, p) for p, x in enumerate(tasks) if x < self.most[p]]
        heapq.heapify(queue)
        while queue and failed < FAILED and deadline.left():
            level, p = heapq.heappop(queue)
            if level != self.rates[p] * tasks[p]:
                continue  # There is a later entry: tasks were lost.
            for where, going in chain(self._giving(p, tasks), self._shared_devices(p)):
                if (lost := self._exchanged(p, where, going, tasks, level)) is not None:
                    tasks[p] += 1
                    for q, fewer in lost.items():
                        tasks[q] -= fewer
                    for r in [*lost, *([p] if tasks[p] < self.most[p] else [])]:
                        heapq.heappush(queue, (self.rates[r] * tasks[r], r))
                    break
                failed += 1

    def _giving(self, p: int, tasks: list[int]) -> Iterator[tuple[int, Going]]:
        """Yield machines and so many tasks of one member there, without which one of p fits; who keeps most first."""
        machines = np.flatnonzero(self.eligible[p][self.classes])
        q, at = np.nonzero(self.load[:, machines])
        where, others = machines[at], self.demands[q]
        lacking = np.maximum(self.demands[p] - self.left[where], 0)
        number = np.where(others > 0, -(-lacking // np.maximum(others, 1)), 0).max(axis=1, initial=1)
        able = (q != p) & ~((others == 0) & (lacking > 0)).any(axis=1) & (number <= self.load[q, where])
        kept = self.float_rates[q] * (np.array(tasks, dtype=float)[q] - number.astype(float))
        order = np.flatnonzero(able)[np.argsort(-kept[able], kind="stable")]
        # Machines of a class are much alike: of each pair of a member and a class the first.
        _, first = np.unique(q[order] * len(self.rooms) + self.classes[where[order]], return_index=True)
        for o in order[np.sort(first)[:TRADES]].tolist():
            yield int(where[o]), [(int(q[o]), int(number[o]))]

    def _shared_devices(self, p: int) -> Iterator[tuple[int, Going]]:
        """Yield machines and all that one of their devices runs, of several members; the emptiest first."""
        found = []
        for where in np.flatnonzero(self.eligible[p][self.classes]).tolist():
            if (devices := self.devices[k := int(self.classes[where])]) is not None:
                members = np.flatnonzero(self.eligible[:, k]).tolist()
                for resource, shared in (devices.deal(self.running[where]) or {}).items():
                    j = self.resources.index(resource)
                    for on in shared:
                        going = [(members[at], x) for at, x in on.items()]
                        found.append((sum(x * int(self.demands[q][j]) for q, x in going), where, going))
        for _, where, going in sorted(found)[:TRADES]:
            yield where, going

    def _exchanged(self, p: int, where: int, going: Going, tasks: list[int], level: Fraction) -> dict[int, int] | None:
        """Put a task of p in the place of others; return how many each of them lost, or None and nothing is changed."""
        rows = [p, *(q for q, _ in going)]
        load, left, refused = self.load[rows], self.left.copy(), self.refused[rows]
        for q, number in going:
            self._run(q, where, int(self.load[q, where]) - number)
            self.left[where] += number * self.demands[q]
        self.refused[:, where] = False
        if (self.left[where] >= self.demands[p]).all() and self._put(p, where, 1):
            lost = {q: number - self.place(q, number) for q, number in going}
            if all(not fewer or self.rates[q] * (tasks[q] - fewer) > level for q, fewer in lost.items()):
                return {q: fewer for q, fewer in lost.items() if fewer}
        for r, row in zip(rows, load, strict=True):
            for at in np.flatnonzero(self.load[r] != row).tolist():
                self._run(r, at, int(row[at]))
        self.left[:], self.refused[rows] = left, refused
        return None

    def _run(self, p: int, where: int, number: int) -> None:
        """Note how many tasks of a member a machine and its devices run."""
        self.load[p, where] = number
        k = int(self.classes[where])
        if self.devices[k] is not None:
            at = int(self.at[p, k])
            self.running[where][at] = number
            if not number:
                del self.running[where][at]

    def place(self, p: int, number: int) -> int:
        """Place up to so many tasks of a member; return how many fit.

        Machines whose rest is in the proportions of the demand come first, and each takes half of what fits, so that
        no machine is left with a resource that nobody can use; then what is missing is placed in the same way.
        """
        demand, missing = self.demands[p], number
        needed = np.flatnonzero(demand > 0)
        open_to = self.eligible[p][self.classes] & ~self.refused[p]
        able = np.flatnonzero(open_to & (self.left >= demand).all(axis=1))
        wish = demand * self.price
        while missing and len(able):
            rest = self.left[able].astype(float) * self.price
            alike = rest @ wish / np.maximum(np.linalg.norm(rest, axis=1), np.finfo(float).tiny)
            for where in able[np.lexsort((-alike, self._loose(p, able)))]:
                room = self.left[where]
                taken = min(missing, -(-min(int(room[j] // demand[j]) for j in needed) // 2))
                missing -= self._put(p, int(where), taken)
                if not missing:
                    break
            able = able[(self.left[able] >= demand).all(axis=1) & ~self.refused[p, able]]
        return number - missing

    def _loose(self, p: int, able: np.ndarray) -> np.ndarray:
        """Return what is left on a device beside a part that a task takes, on each machine; 0 where it takes none."""
        found = np.zeros(len(able))
        for j, sizes in self.sizes.items():
            size = sizes[self.classes[able]]
            own = self.demands[p, j]
            part = (size > 0) & (own % np.maximum(size, 1) > 0)
            found += np.where(part, (self.left[able, j] - own) % np.maximum(size, 1) / np.maximum(size, 1), 0.0)
        return found

    def _put(self, p: int, where: int, number: int) -> int:
        """Run as many of so many tasks of a member on a machine as its devices take; return how many, there is room."""
        taken = self._on_devices(p, where, number)
        self.left[where] -= taken * self.demands[p]
        self.load[p, where] += taken
        return taken

    def _on_devices(self, p: int, where: int, number: int) -> int:
        """Return how many of so many tasks of a member its devices take beside what runs on a machine, and run them."""
        k = int(self.classes[where])
        if (devices := self.devices[k]) is None:
            return number
        running, at = self.running[where], int(self.at[p, k])
        there, taken = running.get(at, 0), number
        while taken and not devices.fit({**running, at: there + taken}):
            taken -= 1
        if taken:
            running[at] = there + taken
        self.refused[p, where] = taken < number
        return taken

    def packing(self) -> list[Packing]:
        """Return the loads, those of machines that are alike together."""
        alike: Counter[tuple[int, tuple]] = Counter()
        for where, k in enumerate(self.classes.tolist()):
            row = self.load[:, where]
            if row.any():
                alike[k, tuple((self.members[p], int(row[p])) for p in np.flatnonzero(row))] += 1
        return [(k, count, dict(pattern)) for (k, pattern), count in alike.items()]
