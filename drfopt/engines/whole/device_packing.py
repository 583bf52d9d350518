"""Parts of devices packed anew: which share one is a cutting stock problem, of all machines that are alike together.

Given machines whose devices take the same parts: what they run of these is taken off, a task more is needed, and how
devices are filled is found by column generation (`drfopt.certificates.machine_loads`: a device is a machine of one
resource).  The filled devices then go to machines with room for all else that their tasks need, the largest first.
"""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction

import numpy as np

from ...base.deadline import Deadline
from ...base.errors import TimeLimitError
from ...certificates.machine_loads import MachineLoads
from ...model.instance import Instance
from ...model.machine import Machine
from .machine_by_machine import SingleMachines

__all__ = ["repacked"]

Filling = list[int]
"""Members whose parts share a device, one entry a task."""


def repacked(cluster: SingleMachines, p: int, deadline: Deadline) -> bool:
    """Run a task more of a member on machines whose devices are filled anew; say whether a way was found in time."""
    with suppress(TimeLimitError):
        return any(_repacked(cluster, p, j, machines, deadline) for j, machines in _alike(cluster, p))
    return False


def _alike(cluster: SingleMachines, p: int) -> Iterator[tuple[int, np.ndarray]]:
    """Yield resources of which a member's tasks need devices, and machines whose devices take the same parts."""
    for j, sizes in cluster.sizes.items():
        groups: dict[tuple[int, bytes], list[int]] = defaultdict(list)
        for k in np.flatnonzero(cluster.eligible[p] & (sizes > 0)).tolist():
            parts = cluster.demands[:, j] % sizes[k] > 0
            groups[int(sizes[k]), (cluster.eligible[:, k] & parts).tobytes()].append(k)
        if cluster.demands[p, j]:
            for classes in groups.values():
                # Devices of a second resource would have to be dealt at once.
                if not any(other[classes].any() for at, other in cluster.sizes.items() if at != j):
                    yield j, np.flatnonzero(np.isin(cluster.classes, classes))


def _repacked(cluster: SingleMachines, p: int, j: int, machines: np.ndarray, deadline: Deadline) -> bool:
    size = int(cluster.sizes[j][cluster.classes[machines[0]]])
    needs = cluster.demands[:, j]
    sharing = np.flatnonzero(needs % size > 0)
    load = cluster.load[np.ix_(sharing, machines)]
    left = cluster.left[machines] + load.T @ cluster.demands[sharing]
    kept = cluster.load[:, machines].T @ np.where(needs % size > 0, 0, needs) // size
    slots = cluster.numbers[j][cluster.classes[machines]] - kept
    tasks = dict(zip(sharing.tolist(), load.sum(axis=1).tolist(), strict=True))
    own = -1
    if whole := int(needs[p] // size) if needs[p] % size == 0 else 0:
        able = np.flatnonzero((slots >= whole) & (left >= cluster.demands[p]).all(axis=1))
        if not len(able):
            return False
        own = int(able[np.argmax(_roomy(left[able] - cluster.demands[p], left))])
        slots[own] -= whole
        left[own] -= cluster.demands[p]
    else:
        tasks[p] += 1
    fillings = _fillings(tasks, needs, size, int(slots.sum()), deadline)
    placed = None if fillings is None else _placed(cluster, fillings, slots, left)
    if placed is None:
        return False
    for at, where in enumerate(machines.tolist()):
        for q in sharing.tolist():
            if cluster.load[q, where] or placed[at].get(q):
                cluster.run(q, where, placed[at].get(q, 0))
    if own >= 0:
        cluster.run(p, int(machines[own]), int(cluster.load[p, machines[own]]) + 1)
    cluster.left[machines] = left
    cluster.refused[:, machines] = False
    return True


def _fillings(
    tasks: dict[int, int], needs: np.ndarray, size: int, devices: int, deadline: Deadline
) -> list[Filling] | None:
    """Return how so many devices are filled with all tasks, None where no way is found."""
    waiting: dict[int, list[int]] = defaultdict(list)
    for q, x in tasks.items():
        waiting[int(needs[q])] += [q] * x
    parts = sorted((part for part, members in waiting.items() if members), reverse=True)
    if sum(part * len(waiting[part]) for part in parts) > devices * size:
        return None
    if not parts:
        return []
    stock = Instance([[Fraction(part)] for part in parts], machines=[Machine("device", [size], devices)])
    found = MachineLoads(stock, range(len(parts)), deadline).pack([len(waiting[part]) for part in parts])
    if found is None:
        return None
    fillings = [
        [waiting[parts[s]].pop() for s, x in held for _ in range(min(x, len(waiting[parts[s]])))]
        for _, number, held in found
        for _ in range(number)
    ]
    return [filling for filling in fillings if filling]


def _placed(
    cluster: SingleMachines, fillings: list[Filling], slots: np.ndarray, left: np.ndarray
) -> list[dict[int, int]] | None:
    """Put filled devices on machines with room, and take it; return each machine's tasks, None where one finds none."""
    placed: list[dict[int, int]] = [{} for _ in slots]
    largest = np.maximum(left.max(axis=0), 1)
    needed = [(cluster.demands[filling].sum(axis=0), filling) for filling in fillings]
    for wish, filling in sorted(needed, key=lambda one: -float((one[0] / largest).max())):
        able = np.flatnonzero((slots > 0) & (left >= wish).all(axis=1))
        if not len(able):
            return None
        at = int(able[np.argmax(_roomy(left[able] - wish, left))])
        slots[at] -= 1
        left[at] -= wish
        for q in filling:
            placed[at][q] = placed[at].get(q, 0) + 1
    return placed


def _roomy(rest: np.ndarray, left: np.ndarray) -> np.ndarray:
    """Return how much is left of what is scarcest on each machine, as a part of the most that any has."""
    scarcest: np.ndarray = (rest / np.maximum(left.max(axis=0), 1)).min(axis=1)
    return scarcest
