"""Tasks that fit nowhere: each with what the nearest class of machines lacks, and split off from those that fit.

Who has several types of tasks runs all of them in proportion, so that one type that fits nowhere would take the others
with it. It becomes a user of its own, ``user: type``, in the same group and promised nothing, which every answer names
as unplaced.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction

from .conversion import Contents
from .machine_classes import AlikeTasks, MachineClass, amount_text, distinct

__all__ = ["split"]

EXPLAINED = 12
"""Notes on single types of tasks; what comes after is counted."""


def split(
    cluster: Contents, users: dict[str, list[AlikeTasks]], classes: list[MachineClass], resources: list[str]
) -> dict[str, str]:
    """Take the types that fit nowhere out of the lists of `users`, and return whose each new user was.

    A user of whom nothing fits stays one user. Every type that fits nowhere is noted with its reason.
    """
    above: dict[str, str] = {}
    explained = 0
    for user, types in list(users.items()):
        lost = [one for one in types if not _fits(cluster, one, classes, resources)]
        for one in lost:
            explained += 1
            name = user if len(types) == 1 else f"{user}: {one.name}"
            reason = (
                _reason(cluster, one, classes, resources) if explained <= EXPLAINED else "for reasons like those above"
            )
            cluster.notes.assumed(f"fits nowhere: {reason}", name)
        if not lost or len(lost) == len(types):
            continue
        users[user] = [one for one in types if one not in lost]
        for one in lost:
            one.owner = distinct([*users, f"{user}: {one.name}"])[-1]
            above[one.owner] = user
            users[one.owner] = [one]
    return above


def _fits(cluster: Contents, one: AlikeTasks, classes: list[MachineClass], resources: list[str]) -> bool:
    if cluster.pool is not None:
        return all(cluster.pool.get(resource) for resource in one.demand)
    open_to = classes if one.classes is None else [classes[k] for k in one.classes]
    return any(not _lacks(one, has, resources) for has in open_to)


def _lacks(one: AlikeTasks, has: MachineClass, resources: Iterable[str]) -> dict[str, Fraction]:
    """Return what of each resource is there and too little."""
    return {r: there for r, there in zip(resources, has.capacity, strict=True) if one.demand.get(r, 0) > there}


def _reason(cluster: Contents, one: AlikeTasks, classes: list[MachineClass], resources: list[str]) -> str:
    """Return in words what the nearest class lacks: one that is open, otherwise one that is large enough."""
    if cluster.pool is not None:
        return "there is no " + " and no ".join(r for r in one.demand if not cluster.pool.get(r))
    open_to = classes if not one.classes else [classes[k] for k in one.classes]
    lacks = {id(has): _lacks(one, has, resources) for has in open_to}
    nearest = min(open_to, key=lambda has: _distance(one, lacks[id(has)]))
    words = [_short(one, resource, there) for resource, there in lacks[id(nearest)].items()]
    if not one.classes and one.classes is not None:
        words.append(cluster.missing(one.needs, nearest.nodes[0].features))
    return f"{nearest.name}, the nearest class, {' and '.join(filter(None, words)) or 'is not open to it'}"


def _distance(one: AlikeTasks, lacks: Mapping[str, Fraction]) -> tuple[Fraction, int]:
    return max(((one.demand[r] - there) / one.demand[r] for r, there in lacks.items()), default=Fraction(0)), len(lacks)


def _short(one: AlikeTasks, resource: str, there: Fraction) -> str:
    if not there:
        return f"has no {resource}"
    return f"has {amount_text(resource, there)} of {amount_text(resource, one.demand[resource])}"
