"""Whole tasks packed on machines: the whole part of the continuous optimum, the lowest levels first.

For a level L everybody is wished her tasks up to L, but no more than the whole part of her continuous optimum.  The
wishes are packed largest task first, on machines whose rest has the proportions of the task; whose wish does not come
true goes first the next time, some rounds long.  The highest L whose wishes can be packed so is found by halving.
Then tasks are added one by one, always to the user whose level is lowest: up to the continuous optimum, then beyond it.
At last whoever is lowest is given a task in the place of somebody's who runs it elsewhere, or has more without it; or
where the parts of all devices that are alike, packed anew, make room for it; or by a chain of two such exchanges.

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
from itertools import chain, islice

import numpy as np

from ...base.deadline import Deadline
from ...base.errors import TimeLimitError
from ...base.progress import report
from ...base.tolerances import LEVEL
from ...certificates.packable import Packable
from ..leximin import lp_chain
from ..problem import Answer, Problem
from .device_packing import repacked
from .filling_up import GRACE, filled
from .machine_by_machine import SingleMachines
from .milp import packed

__all__ = ["solve"]

ROUNDS = 15
"""Times that wishes are packed again with other users first."""

CONTINUOUS = 0.5
"""Part of the time that the continuous optimum may take."""

TRADES = 40
"""Machines on which a place is looked for that somebody else makes, for one task."""

FAILED = 2_000
"""Times in all that none may be found."""

LINKS = 10
"""Places that are looked at for the second task of a chain."""

CHAINS, OF_ONE = 4_000, 400
"""Times in all that the second is tried, and for one task: some seconds on a thousand machines."""

Going = list[tuple[int, int]]
"""Pairs (member, tasks) that make room on a machine."""


def solve(problem: Problem) -> Answer:
    """Return the packing; its status says that it is feasible, not that it is optimal."""
    if problem.instance.features:
        return filled(problem)
    continuous = Problem(problem.instance, problem.policy, False, problem.deadline.part(CONTINUOUS))
    tasks = np.zeros(problem.instance.n)
    known = False
    with suppress(TimeLimitError):
        tasks[continuous.members] = lp_chain.solve(continuous).tasks
        known = True
    used, total = tasks @ problem.instance.demands, problem.instance.capacity
    scarce = np.divide(used, total**2, where=total > 0, out=np.zeros(len(total)))
    cluster = SingleMachines(problem, scarce)
    # A count that rounding put just below a whole number is that number.
    whole = np.floor(tasks[problem.members] * (1 + LEVEL)).astype(np.int64)
    most = np.array(cluster.most, dtype=object)
    target = np.minimum(whole, most).astype(np.int64)
    _highest_packed(problem, cluster, target if known else most.astype(np.int64))
    grace = problem.deadline.grace(GRACE)
    cluster.fill_up(target.tolist(), problem.deadline, grace)
    cluster.fill_up(cluster.most, problem.deadline, grace)
    trade(cluster, problem.deadline)
    answer = packed(problem, [int(x) for x in cluster.tasks], cluster.packing(), status="feasible")
    return replace(answer, whole_part=target) if known else answer


def _highest_packed(problem: Problem, cluster: SingleMachines, target: np.ndarray) -> None:
    """Leave the cluster with the wishes of the highest level that could be packed.

    Where time has run out already some level is looked for still, as there is no answer without.
    """
    rates = cluster.float_rates
    first = np.zeros(len(target))
    best = (first, np.zeros_like(target))
    # The first look is at everything; nearer than one task of the user with the smallest step nothing changes.
    level = high = float((rates * target).max())
    low, grace = 0.0, problem.deadline.grace(GRACE)
    # To the continuous optimum devices are a pool: what their fillings refute need not be packed in vain.
    users = problem.whole_users
    devices = Packable(users, problem.deadline) if problem.instance.has_devices else None
    while level > low and high - low > rates.min() and (ends := problem.deadline if low else grace).left():
        wishes = np.minimum(target, np.ceil(level / rates * (1 - LEVEL)).astype(np.int64))
        report(f"packing all tasks up to level {level:.6g}")
        if not problem.deadline.left():
            devices = None
        refuted = devices is not None and devices.refuted_at_once(wishes.tolist())
        order = None if refuted else _packed(cluster, wishes, first, problem.deadline, ends)
        if order is None:
            high = level
        else:
            low, first, best = level, order, (order, wishes)
        level = (low + high) / 2
    cluster.pack(best[1], _before(cluster, best[0]))


def _packed(
    cluster: SingleMachines, wishes: np.ndarray, first: np.ndarray, deadline: Deadline, ends: Deadline
) -> np.ndarray | None:
    """Return how often each user has to go first for the wishes to be packed; None where they never were.

    After the deadline wishes are packed once, and by no later than when it `ends`.
    """
    first = first.copy()
    for _ in range(ROUNDS):
        cluster.pack(wishes, _before(cluster, first), ends)
        short = cluster.tasks < wishes
        if not short.any():
            # As it was packed: the order was that of before.
            return first
        first[short] += 1
        if not deadline.left():
            break
    return None


def _before(cluster: SingleMachines, first: np.ndarray) -> list[int]:
    return np.lexsort((-cluster.size, -first)).tolist()


# ---- trades --------------------------------------------------------------------------------------------------------


def trade(cluster: SingleMachines, deadline: Deadline) -> None:
    """Give the lowest a task where somebody else makes room, and ends elsewhere or above where the lowest was.

    Where that is nobody, who makes room may be given its task back in the same way: a chain of two.
    """
    tasks, failed, chains = cluster.tasks.tolist(), 0, _Chains(cluster, deadline)
    queue = [(cluster.rates[p] * x, p) for p, x in enumerate(tasks) if x < cluster.most[p]]
    heapq.heapify(queue)
    while queue and failed < FAILED and deadline.left():
        level, p = heapq.heappop(queue)
        if level != cluster.rates[p] * tasks[p]:
            continue  # There is a later entry: tasks were lost.
        lost: dict[int, int] | None = None
        for where, going in chain(_giving(cluster, p, tasks), _shared_devices(cluster, p)):
            if (lost := chains.exchanged(p, where, going, tasks, level)) is not None:
                break
            failed += 1
            if not deadline.left():
                break
        if lost is None and deadline.left() and repacked(cluster, p, deadline):
            lost = {}
        if lost is None:
            lost = chains.of_two(p, tasks, level)
        if lost is not None:
            tasks[p] += 1
            for q, fewer in lost.items():
                tasks[q] -= fewer
            for r in [*lost, *([p] if tasks[p] < cluster.most[p] else [])]:
                heapq.heappush(queue, (cluster.rates[r] * tasks[r], r))


def _giving(cluster: SingleMachines, p: int, tasks: list[int]) -> Iterator[tuple[int, Going]]:
    """Yield machines and so many tasks of one member there, without which one of p fits; who keeps most first."""
    machines = np.flatnonzero(cluster.eligible[p][cluster.classes])
    q, at = np.nonzero(cluster.load[:, machines])
    where, others = machines[at], cluster.demands[q]
    lacking = np.maximum(cluster.demands[p] - cluster.left[where], 0)
    number = np.where(others > 0, -(-lacking // np.maximum(others, 1)), 0).max(axis=1, initial=1)
    able = (q != p) & ~((others == 0) & (lacking > 0)).any(axis=1) & (number <= cluster.load[q, where])
    kept = cluster.float_rates[q] * (np.array(tasks, dtype=float)[q] - number.astype(float))
    order = np.flatnonzero(able)[np.argsort(-kept[able], kind="stable")]
    # Machines of a class are much alike: of each pair of a member and a class the first.
    _, first = np.unique(q[order] * len(cluster.rooms) + cluster.classes[where[order]], return_index=True)
    for o in order[np.sort(first)[:TRADES]].tolist():
        yield int(where[o]), [(int(q[o]), int(number[o]))]


def _shared_devices(cluster: SingleMachines, p: int) -> Iterator[tuple[int, Going]]:
    """Yield machines and all that one of their devices runs, of several members; the emptiest first."""
    found = []
    for where in np.flatnonzero(cluster.eligible[p][cluster.classes]).tolist():
        if (devices := cluster.devices[k := int(cluster.classes[where])]) is not None:
            members = np.flatnonzero(cluster.eligible[:, k]).tolist()
            for resource, shared in (devices.deal(cluster.running[where]) or {}).items():
                j = cluster.resources.index(resource)
                for on in shared:
                    going = [(members[at], x) for at, x in on.items()]
                    found.append((sum(x * int(cluster.demands[q][j]) for q, x in going), where, going))
    for _, where, going in sorted(found)[:TRADES]:
        yield where, going


class _Chains:
    """Tasks put in the place of others, which go elsewhere: what is tried and does not help is taken back."""

    def __init__(self, cluster: SingleMachines, deadline: Deadline):
        self.cluster, self.deadline = cluster, deadline
        self.left, self.until = CHAINS, 0
        self.before: list[tuple[list[int], np.ndarray, np.ndarray, np.ndarray]] = []

    def of_two(self, p: int, tasks: list[int], level: Fraction) -> dict[int, int] | None:
        """Put a task of p in the place of others, of whom one gets its task in the place of a third's."""
        self.until = max(0, self.left - OF_ONE)
        for where, going in chain(_giving(self.cluster, p, tasks), _shared_devices(self.cluster, p)):
            if self.left <= self.until or not self.deadline.left():
                return None
            if (lost := self.exchanged(p, where, going, tasks, level, LINKS)) is not None:
                return lost
        return None

    def exchanged(
        self, p: int, where: int, going: Going, tasks: list[int], level: Fraction, links: int = 0
    ) -> dict[int, int] | None:
        """Put a task of p in the place of others; return how many each of them lost, or None and nothing is changed.

        With `links` so many places are looked at for each task that its owner cannot do without.
        """
        cluster, known = self.cluster, len(self.before)
        self.before.append(self._all_of(p, going))
        for q, number in going:
            cluster.run(q, where, int(cluster.load[q, where]) - number)
            cluster.left[where] += number * cluster.demands[q]
        cluster.refused[:, where] = False
        if (cluster.left[where] >= cluster.demands[p]).all() and cluster.put(p, where, 1):
            lost = Counter({q: number - cluster.place(q, number) for q, number in going})
            if self._spared(lost, p, tasks, level, links):
                del self.before[known:]
                return {q: fewer for q, fewer in lost.items() if fewer}
        for rows, load, left, refused in reversed(self.before[known:]):
            for r, row in zip(rows, load, strict=True):
                for at in np.flatnonzero(cluster.load[r] != row).tolist():
                    cluster.run(r, at, int(row[at]))
            cluster.left[:], cluster.refused[rows] = left, refused
        del self.before[known:]
        return None

    def _spared(self, lost: Counter[int], p: int, tasks: list[int], level: Fraction, links: int) -> bool:
        """Say whether all keep more than the level, if need be by further exchanges; `lost` is what they lost then."""
        for q in [q for q, fewer in lost.items() if fewer]:
            while lost[q] and self.cluster.rates[q] * (tasks[q] - lost[q]) <= level:
                if not links or (further := self._further(q, lost, p, tasks, level, links)) is None:
                    return False
                lost[q] -= 1
                lost.update(further)
        return True

    def _further(
        self, q: int, lost: Counter[int], p: int, tasks: list[int], level: Fraction, links: int
    ) -> dict[int, int] | None:
        """Run a task of q in the place of others who keep more than the level; return what they lost."""
        now = [x - lost[r] for r, x in enumerate(tasks)]
        for where, going in islice(_giving(self.cluster, q, now), links):
            if self.left <= self.until:
                break
            self.left -= 1
            if all(r != p for r, _ in going):
                kept = len(self.before)
                # What was changed by it is taken back with all before it, if the chain fails.
                self.before.append(self._all_of(q, going))
                if (further := self.exchanged(q, where, going, now, level)) is not None:
                    return further
                del self.before[kept:]
        return None

    def _all_of(self, q: int, going: Going) -> tuple[list[int], np.ndarray, np.ndarray, np.ndarray]:
        """Return whose tasks an exchange moves, where they are, and what is left on machines."""
        cluster, rows = self.cluster, [q, *(r for r, _ in going)]
        return rows, cluster.load[rows], cluster.left.copy(), cluster.refused[rows]
