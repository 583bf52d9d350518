"""Whose guarantee is not kept: those that do not fit together are kept to one part as far as that goes."""

from typing import Any

import numpy as np

from ...base.tolerances import LEVEL
from ..allocation import Broken
from .clock import Clock

__all__ = ["broken"]


def broken(clock: Clock, tasks: np.ndarray, whole: bool = False) -> tuple[Broken, ...]:
    """Return the guarantees of users and of groups that tasks (n,) do not keep, in the order of the file.

    Of `whole` tasks, in fractions, a guarantee is worth those that it is worth in full.
    """
    instance, rules, found = clock.instance, clock.organisation, list[Broken]()
    promised = np.floor(clock.promised) if whole else clock.promised
    for i, guarantee in enumerate(rules.guarantees):
        here, worth = np.array([i]), promised
        if guarantee and instance.unplaced()[i]:
            worth = promised.copy()
            worth[i] = _asked(clock, i, guarantee) // 1 if whole else _asked(clock, i, guarantee)
        found += _missed(clock, instance.users[i], False, here, guarantee, tasks, worth)
    for group in rules.groups:
        found += _missed(clock, group.name, True, clock.below[group.name], group.guarantee, tasks, promised)
    return tuple(found)


def _asked(clock: Clock, i: int, guarantee: dict[str, Any]) -> Any:
    """Return the tasks that a guarantee would be worth to a user whose task fits nowhere."""
    needs = dict(zip(clock.instance.resources, clock.demands[i], strict=True))
    limit = clock.instance.exact_limits[i]
    worth = [
        amount / needs[r] if clock.exact else float(amount) / needs[r] for r, amount in guarantee.items() if needs[r]
    ]
    worth += [] if limit is None else [limit if clock.exact else float(limit)]
    return min(worth, default=clock.zero)


def _missed(
    clock: Clock,
    owner: str,
    of_group: bool,
    members: np.ndarray,
    guarantee: Any,
    tasks: np.ndarray,
    worth: np.ndarray,
) -> list[Broken]:
    """Return the guarantee of some members, where of no resource that it lists they hold what it is worth to them."""
    least = 1 if clock.exact else 1 - LEVEL
    short: dict[str, tuple[Any, Any, Any]] = {}
    for resource, amount in guarantee.items():
        demand = clock.demands[members, clock.instance.resources.index(resource)]
        held, most = demand @ tasks[members], demand @ worth[members]
        promised = min(most, amount if clock.exact else float(amount))
        if not promised:
            continue
        if held >= promised * least:
            return []
        short[resource] = (promised / (amount if clock.exact else float(amount)), held, promised)
    if not short:
        return []
    first = max(short, key=lambda resource: short[resource][0])
    return [Broken(owner, of_group, first, *short[first][1:])]
