"""Leximin in one pool, in rational numbers: the bottleneck condition decided exactly, without any tolerance."""

from fractions import Fraction
from functools import partial

import numpy as np

from ..allocation import Certificate
from ..instance import Instance
from ..policies import Policy

__all__ = ["certify"]


def certify(instance: Instance, policy: Policy, tasks: np.ndarray) -> Certificate:
    """Return the certificate of exact tasks (n,): all are at a limit or have a bottleneck, and nothing is overfull."""
    demands, capacity = instance.exact_demands, instance.exact_capacity
    used = [sum((x * row[j] for x, row in zip(tasks, demands, strict=True)), Fraction(0)) for j in range(instance.m)]
    levels = [rate * x for rate, x in zip(policy.exact_rates(instance), tasks, strict=True)]
    highest = [
        max((level for level, row in zip(levels, demands, strict=True) if row[j]), default=Fraction(0))
        for j in range(instance.m)
    ]
    saturated = [u == c and c > 0 for u, c in zip(used, capacity, strict=True)]
    unplaced = instance.unplaced()
    bottlenecks: list[str | None] = []
    reason = ""
    for j in range(instance.m):
        if used[j] > capacity[j]:
            reason = f"{used[j]} of {instance.resources[j]!r} are used, of {capacity[j]}"
    for i, user in enumerate(instance.users):
        found = [j for j in range(instance.m) if demands[i][j] and saturated[j] and levels[i] == highest[j]]
        at_limit = tasks[i] == instance.exact_limits[i]
        bottlenecks.append(None if at_limit or not found else instance.resources[found[0]])
        if unplaced[i]:
            wrong = tasks[i] != 0
        else:
            limit = instance.exact_limits[i]
            wrong = tasks[i] < 0 or (limit is not None and tasks[i] > limit) or not (at_limit or found)
        if wrong and not reason:
            reason = f"user {user!r} with {tasks[i]} tasks is neither at her limit nor has she a bottleneck"
    return Certificate(
        kind="bottleneck",
        valid=not reason,
        violation=float("inf") if reason else 0.0,
        stopped_by=partial(tuple, bottlenecks),
        reason=reason,
    )
