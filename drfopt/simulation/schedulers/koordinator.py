"""Koordinator: the runtime quota of each group of one resource, in whole units.

A group starts with its minimum, or its guarantee where that is more, but with no more than it requests (a group that
does not lend keeps the whole minimum).  The rest is shared by weight among those who request more, by the method of
largest remainders; what exceeds a request is shared again among the others.

Source: Koordinator, pkg/scheduler/plugins/elasticquota/core/runtime_quota_calculator.go and its test.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from heapq import nsmallest
from typing import Any, TypeVar

__all__ = ["QuotaGroup", "runtime_quotas"]

Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class QuotaGroup:
    """What a group requests of one resource, its minimum, its guarantee, its weight, and whether it lends."""

    request: int
    minimum: int = 0
    weight: int = 1
    guarantee: int = 0
    lends: bool = True


def runtime_quotas(total: int, groups: Mapping[Name, QuotaGroup]) -> dict[Name, int]:
    """Return the runtime quota of each group.

    >>> runtime_quotas(10, {"a": Group(2, weight=1), "b": Group(9, weight=1), "c": Group(9, weight=1)})
    {'a': 2, 'b': 4, 'c': 4}
    """
    requests = {name: group.request for name, group in groups.items()}
    if sum(requests.values()) <= total and all(group.lends and group.weight > 0 for group in groups.values()):
        return requests
    floors = {name: max(group.minimum, group.guarantee) for name, group in groups.items()}
    quotas = {name: min(group.request, floors[name]) if group.lends else floors[name] for name, group in groups.items()}
    asking = [name for name, group in groups.items() if group.request > floors[name]]
    rest = total - sum(quotas.values())
    while rest > 0 and any(groups[name].weight > 0 for name in asking):
        for name, part in _largest_remainders(rest, {name: groups[name].weight for name in asking}).items():
            quotas[name] += part
        rest = sum(max(0, quotas[name] - groups[name].request) for name in asking)
        for name in asking:
            quotas[name] = min(quotas[name], groups[name].request)
        asking = [name for name in asking if quotas[name] < groups[name].request]
    return quotas


def _largest_remainders(amount: int, weights: Mapping[Any, int]) -> dict[Any, int]:
    """Share whole units by weight; of equal remainders the name that comes first gets the unit."""
    total = sum(weights.values())
    parts, remainders = {}, []
    for name, weight in weights.items():
        parts[name], rest = divmod(amount * weight, total)
        if weight:
            remainders.append((-rest, name))
    for _, name in nsmallest(amount - sum(parts.values()), remainders):
        parts[name] += 1
    return parts
