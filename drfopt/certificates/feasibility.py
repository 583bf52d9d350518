"""Is the allocation possible at all? Capacities, limits, eligibility; the same for every policy."""

from fractions import Fraction

import numpy as np

from ..instance import Instance
from ..tolerances import CAPACITY

__all__ = ["exactly_feasible", "infeasibility"]


def infeasibility(instance: Instance, tasks: np.ndarray, placement: np.ndarray | None) -> tuple[float, str]:
    """Return the largest relative amount by which a constraint is broken, and which one, in words ("" if none).

    Parameters
    ----------
    tasks : array (n,)
    placement : array (n, k) or None for a pool
    """
    worst, reason = 0.0, ""

    def seen(amounts: np.ndarray, words: str, names: tuple[str, ...]) -> None:
        nonlocal worst, reason
        if amounts.size and float(np.nanmax(amounts)) > worst:
            index = int(np.nanargmax(amounts))
            worst = float(amounts.flat[index])
            reason = words.format(names[index] if index < len(names) else index) + f" by {worst:.1e} of it"

    if not np.isfinite(tasks).all():
        return np.inf, "some number of tasks is not finite"
    users = instance.users if instance.n <= 100_000 else ()
    seen(-np.minimum(tasks, 0), "user {!r} has a negative number of tasks", users)
    limited = np.isfinite(instance.limits)
    over = np.where(limited, tasks - np.where(limited, instance.limits, 0), 0)
    scale = np.where(limited & (instance.limits > 0), instance.limits, 1.0)
    seen(over / scale, "user {!r} is above her limit", users)
    if placement is None:
        used = (tasks @ instance.demands)[None, :]
        cells = instance.resources
    else:
        used = placement.T @ instance.demands
        cells = tuple(f"{c}/{r}" for c in instance.machine_names for r in instance.resources)
        scale = np.maximum(np.abs(tasks), np.abs(placement).max(axis=1, initial=0))
        lost = np.abs(placement.sum(axis=1) - tasks)
        seen(
            np.divide(lost, scale, where=scale > 0, out=np.zeros(instance.n)),
            "user {!r}: tasks differ from placement",
            users,
        )
        seen(-np.minimum(placement, 0).min(axis=1, initial=0), "user {!r} has a negative placement", users)
        misplaced = np.where(instance.fits, 0, np.abs(placement)).max(axis=1, initial=0)
        seen(np.where(misplaced > 0, np.inf, 0), "user {!r} is placed where her task does not fit", users)
    total = instance.room
    excess = np.divide(used - total, total, where=total > 0, out=np.where(used > 0, np.inf, 0.0))
    seen(excess.ravel(), "capacity of {!r} is exceeded", cells)
    return worst, "" if worst <= CAPACITY else reason


def exactly_feasible(instance: Instance, tasks: list[int], packing: list | None) -> str:
    """Return the first constraint that whole tasks break, in words, decided in exact arithmetic; "" when none is.

    `packing` is None for a pool; for machines a list of ``(class, machines, {user: tasks on each of them})``.
    """
    for i, x in enumerate(tasks):
        limit = instance.exact_limits[i]
        if x < 0 or (limit is not None and x > limit):
            return f"user {instance.users[i]!r} has {x} tasks, outside 0 to {limit}"
    if packing is None:
        return _overfull(instance, dict(enumerate(tasks)), instance.exact_capacity, "the pool")
    placed = [0] * instance.n
    machines = [0] * instance.k
    for k, count, pattern in packing:
        machines[k] += count
        for i, x in pattern.items():
            placed[i] += count * x
            if not instance.fits[i, k]:
                where = instance.machine_names[k]
                return f"user {instance.users[i]!r} is placed on {where!r}, where her task does not fit"
        if broken := _overfull(instance, pattern, instance.exact_machine_capacity[k], instance.machine_names[k]):
            return broken
    for k, count in enumerate(machines):
        if count > instance.counts[k]:
            return f"{count} machines of {instance.machine_names[k]!r} are used, of {instance.counts[k]}"
    for i, (x, y) in enumerate(zip(tasks, placed, strict=True)):
        if x != y:
            return f"user {instance.users[i]!r} has {x} tasks, of which {y} are placed"
    return ""


def _overfull(instance: Instance, tasks: dict[int, int], capacity: tuple[Fraction, ...], where: str) -> str:
    for j, total in enumerate(capacity):
        used = sum((x * instance.exact_demands[i][j] for i, x in tasks.items() if x), Fraction(0))
        if used > total:
            return f"{where}: {used} of {instance.resources[j]!r} are used, of {total}"
    return ""
