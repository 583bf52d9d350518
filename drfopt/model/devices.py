"""Devices of machines, such as GPUs: a task takes a part of one device, or whole ones that nobody else uses.

Given, for a class of machines and a resource of which it has devices:

    count, size    devices of one machine, and units of the resource on each; what is beyond ``count * size`` of the
                   machine's capacity is on no device
    d[i]           units that a task of user i needs: none, a *part* (less than the size), or *whole* devices (a
                   multiple of the size); a task that needs anything else fits on no machine of the class

Whole tasks fit together on one machine when its devices can be dealt out so that

    each part is on one device           a task never takes parts of two
    parts on one device are within its size
    whole devices carry nothing else

Tasks that take whole devices leave ``count - sum of their devices`` for the parts, so that what remains is bin packing:
decided by first fit in order of decreasing size, else exactly, device by device. On each the largest task left goes
first and as much is put beside it as fits, which loses nothing: what could be there as well moves there from a later
device. Every resource is dealt out by itself.

Divisible tasks know no devices: half-free ones add up, which bounds from above what whole tasks can have.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import Any

from ..base.errors import SolverError
from .machine import Devices

__all__ = ["Dealt", "DeviceRoom", "DeviceRows"]

STEPS = 200_000
"""Devices tried before dealing them out exactly gives up: some seconds."""

FILLINGS = 2_000
"""Ways to share one device that a program has columns for."""

KEPT = 200_000
"""Questions of bin packing whose answers are kept."""

Dealt = dict[str, list[dict[int, int]]]
"""Of each resource the devices of one machine that are shared, each with the tasks of every user on it."""

Parts = tuple[tuple[int, int], ...]
"""Sizes of parts, the largest first, and how many there are of each."""


class DeviceRoom:
    """The devices of one machine, for users of whom each has tasks of one demand.

    Parameters
    ----------
    devices : mapping from resource to Devices
    resources : sequence of str
    demands : sequence of rows (m,)
        What a task of each user needs, all of which the machine accepts; users are their positions.
    """

    def __init__(self, devices: Mapping[str, Devices], resources: Sequence[str], demands: Sequence[Sequence[Fraction]]):
        self.rows: list[tuple[str, int, int, list[int], list[int]]] = []
        for resource, one in devices.items():
            needs = [row[resources.index(resource)] / one.size for row in demands]
            unit = math.lcm(*(need.denominator for need in needs))
            whole = [int(need) if need.denominator == 1 else 0 for need in needs]
            parts = [0 if need.denominator == 1 else int(need * unit) for need in needs]
            if any(whole) or any(parts):
                self.rows.append((resource, one.count, unit, whole, parts))

    def most(self, position: int) -> int | None:
        """Return how many tasks of one user fit alone; None where devices do not bound them."""
        found = []
        for _, count, unit, whole, parts in self.rows:
            if whole[position]:
                found.append(count // whole[position])
            elif parts[position]:
                found.append(count * (unit // parts[position]))
        return min(found, default=None)

    def takes(self, position: int) -> bool:
        """Say whether a task of a user needs any device."""
        return any(whole[position] or parts[position] for *_, whole, parts in self.rows)

    def fit(self, tasks: Mapping[int, int]) -> bool:
        """Say whether so many tasks of each user fit together; exactly."""
        return all(self._bins(row, tasks) is not None for row in self.rows)

    def deal(self, tasks: Mapping[int, int]) -> Dealt | None:
        """Return which tasks share which device; None where they do not fit together."""
        found: Dealt = {}
        for row in self.rows:
            bins = self._bins(row, tasks)
            if bins is None:
                return None
            waiting: dict[int, Iterator[int]] = {}
            for part, _ in self._parts(row, tasks):
                mine = [i for i, x in tasks.items() if row[4][i] == part for _ in range(x)]
                waiting[part] = iter(mine)
            shared = []
            for device in bins:
                on: dict[int, int] = {}
                for part, number in device:
                    for _ in range(number):
                        i = next(waiting[part])
                        on[i] = on.get(i, 0) + 1
                shared.append(on)
            if shared:
                found[row[0]] = shared
        return found

    def rows_of(self, tasks: Sequence[Any]) -> Iterator["DeviceRows"]:
        """Yield what the devices of each resource allow, for a program with a term for the tasks of each user.

        Raises
        ------
        SolverError
            When a device can be shared in more than `FILLINGS` ways.
        """
        for resource, count, unit, whole, parts in self.rows:
            sizes = sorted({part for part in parts if part}, reverse=True)
            ways = _fillings(tuple((size, unit // size) for size in sizes), unit, unit)
            found = [dict(one) for one in islice(ways, FILLINGS + 1)] if sizes else []
            if len(found) > FILLINGS:
                raise SolverError(
                    f"a device of {resource!r} can be shared by {len(sizes)} sizes of tasks in more than {FILLINGS:,} "
                    "ways: ask of fewer users at once, or round their parts"
                )
            sharing = [
                ([t for t, part in zip(tasks, parts, strict=True) if part == size], [one.get(size, 0) for one in found])
                for size in sizes
            ]
            entire = [(t, number) for t, number in zip(tasks, whole, strict=True) if number]
            yield DeviceRows(count, len(found), entire, sharing)

    def _parts(self, row: tuple, tasks: Mapping[int, int]) -> Parts:
        parts: list[int] = row[4]
        number: dict[int, int] = {}
        for i, x in tasks.items():
            if x and parts[i]:
                number[parts[i]] = number.get(parts[i], 0) + x
        return tuple(sorted(number.items(), reverse=True))

    def _bins(self, row: tuple, tasks: Mapping[int, int]) -> tuple[Parts, ...] | None:
        _, count, unit, whole, _ = row
        left = count - sum(whole[i] * x for i, x in tasks.items())
        return None if left < 0 else _packed(self._parts(row, tasks), unit, left)


@dataclass(frozen=True)
class DeviceRows:
    """The devices of one resource of a machine as rows of an integer program.

    With ``y[f]`` devices that are filled in way f, of which there are `fillings`,

        sum of y + sum of number * tasks over `entire`  <=  count
        sum of tasks  <=  sum of holds[f] * y[f]            for each (tasks, holds) of `sharing`

    Attributes
    ----------
    count, fillings : int
    entire : list of (term, number)
        Terms of the tasks that take whole devices, and how many.
    sharing : list of (terms, holds)
        Terms of the tasks that take parts of one size, and how many of these a filling holds.
    """

    count: int
    fillings: int
    entire: list[tuple[Any, int]]
    sharing: list[tuple[list[Any], list[int]]]


def _fillings(parts: Parts, room: int, spare: int) -> Iterator[Parts]:
    """Yield what may go into the room of a device: nothing more fits, and no more than `spare` of it is left."""
    if not parts:
        if room <= spare:
            yield ()
        return
    (part, number), *rest = parts
    most = min(number, room // part)
    for x in range(most, -1, -1):
        # Of what could be there as well, nothing may fit at the end.
        for beside in _fillings(tuple(rest), room - x * part, min(spare, part - 1 if x < number else spare)):
            yield ((part, x), *beside) if x else beside


@lru_cache(KEPT)
def _packed(parts: Parts, size: int, bins: int) -> tuple[Parts, ...] | None:
    """Return what goes into each of some bins so that all parts are in one; None where they do not fit."""
    if sum(part * number for part, number in parts) > bins * size:
        return None
    if sum(number for part, number in parts if 2 * part > size) > bins:
        return None
    first = _first_fit(parts, size)
    if len(first) <= bins:
        return tuple(first)
    return _Search(size).packed(parts, bins)


def _first_fit(parts: Parts, size: int) -> list[Parts]:
    """Return the bins that first fit fills, the largest parts first."""
    free: list[int] = []
    held: list[dict[int, int]] = []
    for part, number in parts:
        at = 0
        while number:
            if at == len(free):
                free.append(size)
                held.append({})
            if taken := min(number, free[at] // part):
                free[at] -= taken * part
                held[at][part] = taken
                number -= taken
            at += 1
    return [tuple(one.items()) for one in held]


class _Search:
    """Bin packing bin by bin; what is known not to fit is not tried again."""

    def __init__(self, size: int):
        self.size, self.steps = size, 0
        self.hopeless: set[tuple[Parts, int]] = set()

    def packed(self, parts: Parts, bins: int) -> tuple[Parts, ...] | None:
        if not parts:
            return ()
        spare = bins * self.size - sum(part * number for part, number in parts)
        if spare < 0 or (parts, bins) in self.hopeless:
            return None
        (largest, number), *rest = parts
        left = ((largest, number - 1), *rest)
        for beside in _fillings(left, self.size - largest, spare):
            self.steps += 1
            if self.steps > STEPS:
                raise SolverError(
                    f"whether the tasks of one machine fit on its devices is not decided in {STEPS:,} steps: round "
                    "their parts, so that there are fewer sizes"
                )
            taken = dict(beside)
            after = tuple((part, x - taken.get(part, 0)) for part, x in left if x > taken.get(part, 0))
            found = self.packed(after, bins - 1)
            if found is not None:
                taken[largest] = taken.get(largest, 0) + 1
                return (tuple(taken.items()), *found)
        self.hopeless.add((parts, bins))
        return None
