"""Single machines and what runs on them, in integers: tasks are put where they leave least that nobody can use."""

import heapq
from collections import Counter
from fractions import Fraction

import numpy as np

from ...base.deadline import NEVER, Deadline
from ...model.packings import Packing, device_room, most_alone
from ..problem import Problem

__all__ = ["SingleMachines"]

HASTE = 16
"""One in so many of its tasks is what a user is given more at a time when time has run out."""


class SingleMachines:
    """Single machines, what is left on each, and the members' tasks on them, in integers.

    Attributes
    ----------
    rates, most : list
        Exact level of one task, most tasks, of each member.
    size : array (n,)
        How large a task is: its share of a resource, relative to the largest task's, where that is most.
    load : int array (n, machines)
    devices : list, one per class
        What their devices take of those who fit on a class; None where there are none.
    sizes, numbers : dict from int to array (classes,)
        Of each resource with devices, what is on one of each class, and how many a machine has; 0 for no devices.
    """

    def __init__(self, problem: Problem, scarce: np.ndarray):
        instance, self.members = problem.instance, problem.members.tolist()
        self.resources = instance.resources
        self.classes = np.repeat(np.arange(instance.k), instance.counts)
        rows, self.rooms = instance.whole_amounts
        self.demands, kind = rows[self.members], rows.dtype
        self.eligible = instance.fits[self.members]
        self.devices = [
            device_room(instance, k, [i for i in self.members if instance.fits[i, k]])
            if (instance.machines[k].devices if instance.machines else None)
            else None
            for k in range(instance.k)
        ]
        # Where each member is among those who fit on a class, whose devices know nobody else; -1 who needs none.
        at = (np.cumsum(self.eligible, axis=0) - 1).tolist()
        self.at = [
            [
                place if fits and one is not None and one.takes(place) else -1
                for place, fits, one in zip(*row, strict=True)
            ]
            for row in zip(at, self.eligible.tolist(), [self.devices] * len(at), strict=True)
        ]
        self.sizes: dict[int, np.ndarray] = {}
        self.numbers: dict[int, np.ndarray] = {}
        for j, resource in enumerate(instance.resources):
            # Amounts are in the units in which demands are integers.
            first = next((i for i in self.members if rows[i, j]), None)
            unit = Fraction(0) if first is None else int(rows[first, j]) / instance.exact_demands[first][j]
            owned = [(machine.devices or {}).get(resource) for machine in instance.machines or ()]
            if any(owned) and unit:
                self.sizes[j] = np.array([int(one.size * unit) if one else 0 for one in owned], dtype=kind)
                self.numbers[j] = np.array([one.count if one else 0 for one in owned])
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

    def pack(self, wishes: np.ndarray, order: list[int], deadline: Deadline = NEVER) -> None:
        """Empty the machines and pack as much of the wishes as fits, and time allows, members in that order."""
        self.left = self.rooms[self.classes]
        self.load = np.zeros((len(self.members), len(self.classes)), dtype=np.int64)
        # On devices of a machine: tasks by who runs them, and who fits there no more, which is so from then on.
        self.running: list[dict[int, int]] = [{} for _ in self.classes]
        self.refused = np.zeros((len(self.members), len(self.classes)), dtype=bool)
        for p in order:
            if wishes[p] and deadline.left():
                self.place(p, int(wishes[p]))

    def carry(self, packing: list[Packing]) -> None:
        """Put a packing on machines that are empty."""
        place = {i: p for p, i in enumerate(self.members)}
        first = np.searchsorted(self.classes, np.arange(len(self.rooms))).tolist()
        for k, count, pattern in packing:
            here = range(first[k], first[k] + count)
            first[k] += count
            for i, x in pattern.items():
                self.left[here.start : here.stop] -= x * self.demands[place[i]]
                for where in here:
                    self.run(place[i], where, x)

    def state(self) -> tuple:
        """Return what runs where, to `restore` it."""
        return self.left.copy(), self.load.copy(), [dict(one) for one in self.running], self.refused.copy()

    def restore(self, state: tuple) -> None:
        """Have run again what ran when it was the `state`."""
        self.left, self.load, self.running, self.refused = state

    def fill_up(self, most: list[int], deadline: Deadline, ends: Deadline) -> None:
        """Give task after task to the user whose level is lowest, passing over whose fits nowhere any more.

        After the deadline, until it `ends`, several at a time: what is left is filled in steps that are no longer even.
        """
        tasks = self.tasks.tolist()
        queue = [(self.rates[p] * x, p) for p, x in enumerate(tasks) if x < most[p]]
        heapq.heapify(queue)
        while queue and ends.left():
            level, p = heapq.heappop(queue)
            # She stays the lowest until she is above the next: so many tasks are one step.
            ahead = int((queue[0][0] - level) / self.rates[p]) if queue else most[p]
            if not deadline.left():
                ahead = max(ahead, tasks[p] // HASTE)
            number = max(1, min(ahead, most[p] - tasks[p]))
            if placed := self.place(p, number):
                tasks[p] += placed
                if tasks[p] < most[p] and placed == number:
                    heapq.heappush(queue, (self.rates[p] * tasks[p], p))

    def place(self, p: int, number: int) -> int:
        """Place up to so many tasks of a member; return how many fit.

        Machines on whose devices a part leaves the least come first, then those whose rest is in the proportions of the
        demand; each takes half of what fits, so that no machine is left with a resource that nobody can use. Then what
        is missing is placed in the same way.
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
                missing -= self.put(p, int(where), taken)
                if not missing:
                    break
            able = able[(self.left[able] >= demand).all(axis=1) & ~self.refused[p, able]]
        return number - missing

    def _loose(self, p: int, able: np.ndarray) -> np.ndarray:
        """Return what is left on a device beside a part of it that a task takes, on each machine; 0 for no part."""
        found = np.zeros(len(able))
        for j, sizes in self.sizes.items():
            size = np.maximum(sizes[self.classes[able]], 1)
            own = self.demands[p, j]
            found += np.where(own % size > 0, (self.left[able, j] - own) % size / size, 0.0).astype(float)
        return found

    def run(self, p: int, where: int, number: int) -> None:
        """Note how many tasks of a member a machine and its devices run."""
        self.load[p, where] = number
        if (at := self.at[p][int(self.classes[where])]) >= 0:
            self.running[where][at] = number
            if not number:
                del self.running[where][at]

    def put(self, p: int, where: int, number: int) -> int:
        """Run as many of so many tasks of a member on a machine as its devices take; return how many, there is room."""
        taken = self._on_devices(p, where, number)
        self.left[where] -= taken * self.demands[p]
        self.load[p, where] += taken
        return taken

    def _on_devices(self, p: int, where: int, number: int) -> int:
        """Return how many of so many tasks of a member its devices take beside what runs on a machine, and run them."""
        k = int(self.classes[where])
        devices, at = self.devices[k], self.at[p][k]
        if devices is None or at < 0:
            return number
        running = self.running[where]
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
