"""Whole tasks on single machines: demands as integers, and the maximal packings of one machine of a class."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction

from ..base.deadline import NEVER, Deadline
from ..base.numbers.rationals import integer_columns
from .devices import Dealt, DeviceRoom
from .instance import Instance

__all__ = [
    "LARGEST",
    "PATTERNS",
    "Packing",
    "dealt",
    "device_room",
    "integer_rooms",
    "integer_rows",
    "machine_rows",
    "maximal_patterns",
    "most_alone",
    "program_rows",
    "program_values",
    "shapes",
    "split",
    "too_many",
    "trimmed",
]

LARGEST = 10**7
"""Integers up to here go to a solver as they are: a unit of them is well above its tolerances."""

DROPPED, WIDEST = 10**8, 10**12
"""Part of a row's largest number below which HiGHS drops others, ten times that; and how far apart a row may be."""

PATTERNS = 3_000
"""Maximal patterns of a class that are listed; a class with more has a column for each user on each machine."""

USERS = 40
"""Users of one class beyond which its patterns are not listed: there would be too many."""

LOOKS = 100
"""Steps between two looks at the clock: with devices one takes a tenth of a millisecond."""

STEPS = 10
"""Steps in the search for them, per pattern that may be listed."""

Packing = tuple[int, int, dict[int, int]]
"""Class, number of machines, tasks of each user (a row of the instance) on every one of them."""


def integer_rows(
    demands: Sequence[Sequence[Fraction]], capacity: Sequence[Fraction]
) -> tuple[list[list[int]], list[int]]:
    """Return demands and capacity in units in which all demands are integers, resource by resource.

    Capacities are rounded down, which no whole number of tasks can notice.
    """
    rows, (room,) = integer_rooms(demands, [capacity])
    return rows, room


def integer_rooms(
    demands: Sequence[Sequence[Fraction]], capacities: Sequence[Sequence[Fraction]]
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the same of several capacities, k rows of m."""
    columns, rooms = [], []
    rows, scales = integer_columns(demands, len(capacities[0]))
    for j, (totals, scale) in enumerate(zip(zip(*capacities, strict=True), scales, strict=True)):
        column = [row[j] for row in rows]
        step = math.gcd(*column) or 1
        columns.append([d // step for d in column])
        rooms.append([math.floor(total * scale) // step for total in totals])
    return [list(row) for row in zip(*columns, strict=True)] if demands else [], [
        list(row) for row in zip(*rooms, strict=True)
    ]


def program_rows(demands: Sequence[Sequence[int]], room: Sequence[int]) -> Iterator[tuple[list[float], float]]:
    """Yield a row (coefficients, right-hand side) a resource, as a solver likes it.

    Small integers stay as they are: then rounding cannot hide a violation.  Large ones become fractions of the
    capacity, or multiples of the smallest where a solver would drop that; a solution that only rounding lets through
    is found by the exact check that follows every solve.
    """
    for j, total in enumerate(room):
        column = [row[j] for row in demands]
        if any(column):
            unit = 1 if max(total, *column) <= LARGEST else max(total, 1)
            least = min(d for d in column if d)
            if least * DROPPED < unit and max(column) <= WIDEST * least:
                unit = least
            yield [d / unit for d in column], total / unit


def program_values(values: Sequence[Fraction]) -> list[float]:
    """Return coefficients in the same proportion as the values: integers where they are small, else at most 1."""
    scale = math.lcm(*(value.denominator for value in values))
    whole = [int(value * scale) for value in values]
    step = math.gcd(*whole)
    largest = max(whole) // step
    unit = step if largest <= LARGEST else step * largest
    return [value / unit for value in whole]


def shapes(instance: Instance, members: Sequence[int]) -> list[list[int]]:
    """Return the positions of members whose tasks are alike: the same demands and, on machines, the same classes.

    Whoever runs tasks of one shape may run each other's: what can be packed is a matter of shapes.
    """
    found: dict[tuple, list[int]] = {}
    for position, i in enumerate(members):
        classes = b"" if instance.fits is None else instance.fits[i].tobytes()
        found.setdefault((instance.same_demands[i], classes), []).append(position)
    return list(found.values())


def machine_rows(instance: Instance) -> list[tuple[tuple[Fraction, ...], int, dict[int, tuple[int, Fraction]]]]:
    """Return what one machine of each class has (m,), how many there are, and its devices by column: count and size.

    A pool is one machine.
    """
    if instance.machines is None:
        return [(instance.exact_capacity, 1, {})]
    return [
        (row, one.count, {instance.resources.index(r): (d.count, d.size) for r, d in (one.devices or {}).items()})
        for row, one in zip(instance.exact_machine_capacity, instance.machines, strict=True)
    ]


def device_room(instance: Instance, k: int, users: Sequence[int]) -> DeviceRoom:
    """Return the devices of one machine of class k for users (rows of the instance) whose task it takes, in order."""
    devices = (instance.machines[k].devices if instance.machines else None) or {}
    return DeviceRoom(devices, instance.resources, [instance.exact_demands[i] for i in users] if devices else ())


def dealt(instance: Instance, packing: Sequence[Packing]) -> list[Dealt | None]:
    """Return which tasks share which device of a machine, entry by entry of a packing; None where they do not fit."""
    found: list[Dealt | None] = []
    for k, _, pattern in packing:
        users = list(pattern)
        deal = device_room(instance, k, users).deal({p: pattern[i] for p, i in enumerate(users)})
        found.append(
            None
            if deal is None
            else {r: [{users[p]: x for p, x in on.items()} for on in shared] for r, shared in deal.items()}
        )
    return found


def most_alone(instance: Instance, i: int) -> int:
    """Return the most whole tasks user i could run alone, her limit counted."""
    demands, rooms = instance.whole_amounts
    needed = demands[i].nonzero()[0]
    classes = [0] if instance.machines is None else instance.fits[i].nonzero()[0].tolist()
    fitting = (rooms[classes][:, needed] // demands[i, needed]).min(axis=1).tolist()
    if instance.has_devices:
        bounds = [device_room(instance, k, [i]).most(0) for k in classes]
        fitting = [fit if bound is None else min(fit, bound) for fit, bound in zip(fitting, bounds, strict=True)]
    counts = [1] if instance.machines is None else instance.counts[classes].tolist()
    most = sum(int(count) * fit for count, fit in zip(counts, fitting, strict=True))
    limit = instance.exact_limits[i]
    return most if limit is None else min(most, math.floor(limit))


def maximal_patterns(
    instance: Instance, k: int, members: Sequence[int], deadline: Deadline = NEVER, budget: int = PATTERNS
) -> list[dict[int, int]] | None:
    """Return every maximal set of tasks that fits on one machine of class k, None beyond `budget` or the deadline.

    Maximal means that no task of a member fits in addition; limits, which bind across machines, play no part.
    """
    users = [i for i in members if instance.fits[i, k]]
    if len(users) > USERS:
        return None
    demands, room = integer_rows([instance.exact_demands[i] for i in users], instance.exact_machine_capacity[k])
    devices = device_room(instance, k, users)
    if too_many(demands, room, devices, STEPS * budget):
        return None
    found: list[dict[int, int]] = []
    steps = 0

    def full(left: list[int], pattern: list[int]) -> bool:
        """Say whether no task of anybody fits in addition."""
        more = [p for p, row in enumerate(demands) if all(d <= f for d, f in zip(row, left, strict=True))]
        return not any(devices.fit({q: x + (q == p) for q, x in enumerate(pattern)}) for p in more)

    def extend(position: int, left: list[int], pattern: list[int]) -> bool:
        nonlocal steps
        steps += 1
        if steps > STEPS * budget or len(found) > budget or (steps % LOOKS == 0 and not deadline.left()):
            return False
        if position == len(users):
            if full(left, pattern):
                found.append({users[p]: x for p, x in enumerate(pattern) if x})
            return True
        row = demands[position]
        most = min((f // d for d, f in zip(row, left, strict=True) if d), default=0)
        while most and not devices.fit({**dict(enumerate(pattern)), position: most}):
            most -= 1
        # The last user takes all that fits: less would not be maximal.
        least = most if position == len(users) - 1 else 0
        for x in range(most, least - 1, -1):
            rest = [f - x * d for d, f in zip(row, left, strict=True)]
            if not extend(position + 1, rest, [*pattern, x]):
                return False
        return True

    return found if extend(0, room, []) else None


def too_many(demands: Sequence[Sequence[int]], room: Sequence[int], devices: DeviceRoom, steps: int) -> bool:
    """Say whether one machine surely holds more sets of tasks than so many, without listing them.

    Where t tasks fit as large as the largest of q users, those of any t of them do, repeated or not: these are
    C(q + t, t) sets. The last user may be one who only takes what is left, and is not counted.
    """
    sizes = [max((d / f for d, f in zip(row, room, strict=True) if d), default=0.0) for row in demands]
    largest, most = [0] * len(room), math.inf
    for q, p in enumerate(sorted(range(len(demands)), key=lambda p: sizes[p])):
        largest = [max(d, e) for d, e in zip(demands[p], largest, strict=True)]
        most = min([most, *(f // d for d, f in zip(largest, room, strict=True) if d)])
        if (alone := devices.most(p)) is not None:
            most = min(most, alone)
        if most < math.inf and math.comb(q + int(most), q) > steps:
            return True
    return False


def trimmed(packing: Sequence[Packing], tasks: dict[int, int]) -> list[Packing]:
    """Return the packing with surplus tasks taken off, so that every user has exactly her tasks."""
    surplus = {i: -x for i, x in tasks.items()}
    for _, count, pattern in packing:
        for i, x in pattern.items():
            surplus[i] = surplus.get(i, 0) + count * x
    result: list[Packing] = []
    waiting = [(k, count, dict(pattern)) for k, count, pattern in packing]
    while waiting:
        k, count, pattern = waiting.pop()
        spare = next((i for i, x in pattern.items() if x and surplus[i] > 0), None)
        if spare is None:
            if pattern:
                result.append((k, count, {i: x for i, x in pattern.items() if x}))
            continue
        whole = min(pattern[spare], surplus[spare] // count)
        if whole:
            surplus[spare] -= whole * count
            waiting.append((k, count, pattern | {spare: pattern[spare] - whole}))
        else:
            # Fewer tasks to take off than machines: one of them is packed differently from the others.
            surplus[spare] -= 1
            waiting.append((k, 1, pattern | {spare: pattern[spare] - 1}))
            if count > 1:
                waiting.append((k, count - 1, pattern))
    return result


def split(packing: Sequence[Packing], shape: int, owners: Sequence[tuple[int, int]]) -> list[Packing]:
    """Return the packing with the tasks of one shape handed to their owners, pairs (user, tasks), in turn.

    `shape` is the user under whom all of these tasks are packed so far; there must be as many as the owners have.
    """
    result: list[Packing] = []
    queue = [(user, x) for user, x in reversed(owners) if x]
    for k, machines, packed in packing:
        pattern = {i: x for i, x in packed.items() if i != shape}
        each, count = packed.get(shape, 0), machines
        while each and count:
            user, x = queue.pop()
            same = min(count, x // each)
            if same:
                result.append((k, same, pattern | {user: each}))
                left = x - same * each
            else:
                # Fewer tasks than one machine runs: this machine is shared with the next owners.
                shared, missing = {user: x}, each - x
                while missing:
                    user, x = queue.pop()
                    shared[user] = min(x, missing)
                    x -= shared[user]
                    missing -= shared[user]
                result.append((k, 1, pattern | shared))
                same, left = 1, x
            count -= same
            if left:
                queue.append((user, left))
        if not each:
            result.append((k, machines, pattern))
    return result
