"""Is the allocation possible at all? Capacities, limits, eligibility; the same for every policy."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from operator import itemgetter

import numpy as np

from ..base.numbers.rationals import integer_columns
from ..base.tolerances import CAPACITY
from ..model.arrays import in_blocks
from ..model.instance import Instance
from ..model.packings import dealt

__all__ = ["exactly_feasible", "infeasibility"]

NAMED = 100_000
"""With more users than this a reason gives a user's number: names of a million users are not made for a sentence."""


def infeasibility(
    instance: Instance,
    tasks: np.ndarray,
    placement: np.ndarray | None,
    integer: bool = False,
    used: np.ndarray | None = None,
) -> tuple[float, str]:
    """Return the largest relative amount by which a constraint is broken, and which one, in words ("" if none).

    Parameters
    ----------
    tasks : array (n,)
    placement : array (n, k) or None for a pool; (q, k) by type where users have several task types
    integer : bool
        Whether tasks are whole: of several types so many of each as `Instance.types_started` says.
    used : array (m,) for a pool, (k, m) for machines, optional
        What is used, where it has been added up before.
    """
    worst, reason = 0.0, ""
    cells: tuple[str, ...] = instance.resources

    def seen(amounts: np.ndarray, words: str, name: Callable[[int], object]) -> None:
        nonlocal worst, reason
        if amounts.size and float(amounts.max()) > worst:
            index = int(amounts.argmax())
            worst = float(amounts.flat[index])
            reason = words.format(name(index)) + f" by {worst:.1e} of it"

    def users(i: int) -> object:
        return instance.users[i] if instance.n <= NAMED else i

    least, most = _ends(tasks)
    if not (most < np.inf and least > -np.inf) or (placement is not None and not np.isfinite(_ends(placement)).all()):
        return np.inf, "some number of tasks is not finite"
    if least < 0:
        # One task may be larger than the cluster: what is not there is measured in shares of it, not in tasks.
        seen(
            -np.minimum(tasks, 0) * _largest_share(instance, instance.demands),
            "user {!r} has a negative number of tasks",
            users,
        )
    if instance.limited:
        over, i = max(in_blocks(instance.n, partial(_over_limit, instance, tasks)), key=itemgetter(0))
        limit = "is above its limit" if instance.limits[i] else "has a limit of 0 and yet tasks, which is too much"
        seen(np.array([over]), f"user {{!r}} {limit}", lambda _: users(i))
    if placement is None:
        used = (tasks @ instance.demands if used is None else used)[None, :]
        used = used + (_by_types(instance, tasks) if integer else 0.0)
    else:
        types = instance.type_table
        demands, fits = (instance.demands, instance.fits) if types is None else (types.demands, types.fits)
        expected = tasks if types is None else types.part * tasks[types.owner]
        if types is not None and integer:
            for i in instance.type_fits:
                expected[types.owner == i] = instance.types_started(i, int(tasks[i]))
        used = placement.T @ demands if used is None else used
        cells = tuple(f"{c}/{r}" for c in instance.machine_names for r in instance.resources)
        scale = np.maximum(np.abs(expected), np.abs(placement).max(axis=1, initial=0))
        lost = np.abs(placement.sum(axis=1) - expected)

        def owners(row: int) -> object:
            return users(row if types is None else int(types.owner[row]))

        seen(
            np.divide(lost, scale, where=scale > 0, out=np.zeros(len(scale))),
            "user {!r}: tasks differ from placement",
            owners,
        )
        if _ends(placement)[0] < 0:
            short = -np.minimum(placement, 0).min(axis=1, initial=0)
            seen(short * _largest_share(instance, demands), "user {!r} has a negative placement", owners)
        misplaced = np.where(fits, 0, np.abs(placement)).max(axis=1, initial=0)
        seen(np.where(misplaced > 0, np.inf, 0), "user {!r} is placed where its task does not fit", owners)
    total = instance.room
    excess = np.divide(used - total, total, where=total > 0, out=np.where(used > 0, np.inf, 0.0))
    seen(excess.ravel(), "capacity of {!r} is exceeded", cells.__getitem__)
    return worst, "" if worst <= CAPACITY else reason


def _by_types(instance: Instance, tasks: np.ndarray) -> np.ndarray:
    """Return what whole tasks of several types use of a pool above as many average ones, (m,)."""
    more = np.zeros(instance.m)
    for i in instance.type_fits:
        kinds, counts = (instance.task_types or ())[i] or (), instance.types_started(i, int(tasks[i]))
        needs = zip(*(kind.demand for kind in kinds), strict=True)
        used = [sum(x * need for x, need in zip(counts, column, strict=True)) for column in needs]
        average = (int(tasks[i]) * need for need in instance.exact_demands[i])
        more += [float(total - each) for total, each in zip(used, average, strict=True)]
    return more


def _ends(values: np.ndarray) -> tuple[float, float]:
    """Return the least number, 0 at most, and the largest, 0 at least; NaN where there is one."""
    return values.min(initial=0), values.max(initial=0)


def _over_limit(instance: Instance, tasks: np.ndarray, rows: slice) -> tuple[float, int]:
    """Return by how much some users are above their limits at most, relative to them, and who is."""
    limits, has = instance.limits[rows], tasks[rows]
    with np.errstate(all="ignore"):
        over = has / limits
    none = np.flatnonzero(limits == 0)
    over[none] = np.where(has[none] == 0, 1.0, np.inf)
    i = int(over.argmax())
    return float(over[i]) - 1, rows.start + i


def _largest_share(instance: Instance, demands: np.ndarray) -> np.ndarray:
    """Return the largest part of any class's capacity that one task of each row of demands takes, (rows,)."""
    shares = np.zeros(len(demands))
    for room in instance.room:
        there = room > 0
        shares = np.maximum(shares, (demands[:, there] / room[there]).max(axis=1, initial=0.0))
    return shares


def exactly_feasible(instance: Instance, tasks: list[int], packing: list | None) -> str:
    """Return the first constraint that whole tasks break, in words, decided in exact arithmetic; "" when none is.

    `packing` is None for a pool; for machines a list of ``(class, machines, {user: tasks on each of them})``. Which
    tasks share which device `drfopt.model.packings.dealt` says; that no device is overfull is added up here.
    """
    for i, x in enumerate(tasks):
        limit = instance.exact_limits[i]
        if x < 0 or (limit is not None and x > limit):
            return f"user {instance.users[i]!r} has {x} tasks, outside 0 to {limit}"
    if packing is None:
        return _overfull(instance, dict(enumerate(tasks)), instance.exact_capacity, "the pool")
    placed = [0] * instance.n
    machines = [0] * instance.k
    devices = dealt(instance, packing) if instance.has_devices else [{}] * len(packing)
    for (k, count, pattern), shared in zip(packing, devices, strict=True):
        known = 0 <= k < instance.k and all(0 <= i < instance.n and x >= 0 for i, x in pattern.items())
        if not known or count < 1:
            return f"the packing speaks of {count} machines of class {k} with {pattern}, which cannot be"
        machines[k] += count
        for i, x in pattern.items():
            placed[i] += count * x
            if not instance.fits[i, k]:
                where = instance.machine_names[k]
                return f"user {instance.users[i]!r} is placed on {where!r}, where its task does not fit"
        if broken := _overfull(instance, pattern, instance.exact_machine_capacity[k], instance.machine_names[k]):
            return broken
        if broken := _torn(instance, k, pattern, shared):
            return broken
    for k, count in enumerate(machines):
        if count > instance.counts[k]:
            return f"{count} machines of {instance.machine_names[k]!r} are used, of {instance.counts[k]}"
    for i, (x, y) in enumerate(zip(tasks, placed, strict=True)):
        if x != y:
            return f"user {instance.users[i]!r} has {x} tasks, of which {y} are placed"
    return ""


def _torn(instance: Instance, k: int, pattern: dict[int, int], shared: dict[str, list[dict[int, int]]] | None) -> str:
    """Return what is wrong with the devices of one machine of class k that runs so many tasks of each user."""
    where, devices = instance.machine_names[k], (instance.machines[k].devices if instance.machines else None) or {}
    if shared is None:
        return f"{where}: its tasks do not fit on its devices"
    for resource, one in devices.items():
        j, on = instance.resources.index(resource), shared.get(resource, [])
        needs = {i: instance.exact_demands[i][j] / one.size for i in pattern}
        entire = sum((needs[i] * x for i, x in pattern.items() if needs[i] >= 1), Fraction(0))
        if any(need > 1 and need.denominator > 1 for need in needs.values()):
            return f"{where}: a task takes neither a part of one {resource!r} nor whole ones"
        if entire + len(on) > one.count:
            return f"{where}: {entire} whole {resource!r} and {len(on)} shared ones are used, of {one.count}"
        for device in on:
            if not set(device) <= set(pattern) or min(device.values(), default=0) < 0:
                return f"{where}: a shared {resource!r} holds {device}, of tasks {pattern}"
            if (used := sum((needs[i] * x for i, x in device.items()), Fraction(0))) > 1:
                return f"{where}: {used} of one {resource!r} is used"
        for i, x in pattern.items():
            if 0 < needs[i] < 1 and sum(device.get(i, 0) for device in on) != x:
                return f"{where}: not all {x} tasks of user {instance.users[i]!r} are on one {resource!r} each"
    return ""


def _overfull(instance: Instance, tasks: dict[int, int], capacity: tuple[Fraction, ...], where: str) -> str:
    rows, scales = integer_columns([instance.exact_demands[i] for i, x in tasks.items() if x], len(capacity))
    numbers = [x for x in tasks.values() if x]
    for j, (total, scale) in enumerate(zip(capacity, scales, strict=True)):
        used = Fraction(sum(x * row[j] for x, row in zip(numbers, rows, strict=True)), scale)
        if used > total:
            return f"{where}: {used} of {instance.resources[j]!r} are used, of {total}"
    return ""
