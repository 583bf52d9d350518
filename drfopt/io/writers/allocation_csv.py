"""An allocation as comma-separated values: user, type, class, tasks, and what she holds of each resource.

On machines a row is what a user has on one class, of one task type where users have several. Amounts are cut to ten
digits of the capacity, but not above whole units, so that they add up to no more than it, on every class; tasks of
floats are cut too.
"""

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from ...base.errors import InstanceError
from ...model.allocation import Allocation
from ...model.instance import Instance
from .amounts import Names, TargetName, exact_amounts, rounded, told_apart
from .exports import left_out

__all__ = ["text"]

DIGITS = 10
"""Digits of an amount, counted from the first of the capacity."""

TOLD = 12
"""Digits of tasks in floats: they are computed to nine."""

ROUNDED = 2.0**-50
"""Relative error that a few roundings of floats leave: a number this close below another one stands for it."""


def text(allocation: Allocation, names: Names, lines: list[str]) -> str:
    """Return the table; `names` may say what a resource is called.

    Raises
    ------
    InstanceError
        When a name has a unit: amounts are those of the instance; when two columns would have one name.
    """
    for resource, name in names.items():
        if name is not None and ":" in name:
            raise InstanceError(
                f"resource {resource!r} is called {name!r}: CSV keeps the amounts of the instance: leave the unit out"
            )
    instance = allocation.instance
    lines += left_out(allocation, weights=False, classes=True)
    parts = _parts(allocation)
    targets = [TargetName(r, step=_step(c)) for r, c in zip(instance.resources, instance.exact_capacity, strict=True)]
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    shown = [True, instance.type_table is not None, instance.machines is not None, True]
    heading = [name for name, kept in zip(("user", "type", "class", "tasks"), shown, strict=True) if kept]
    kept = [j for j, resource in enumerate(instance.resources) if names.get(resource, "") is not None]
    called = [names.get(resource) or resource for resource in instance.resources]
    lines += [f"{r} is called {called[j]} here" for j, r in enumerate(instance.resources) if r != called[j]]
    lines += [f"{r} is left out" for j, r in enumerate(instance.resources) if j not in kept]
    told_apart([called[j] for j in kept], heading)
    writer.writerow(heading + [called[j] for j in kept])
    for part, row in zip(parts, _rounded(parts, instance, targets), strict=True):
        cells = [
            cell for cell, kept in zip((part.user, part.kind, part.home, _told(part.tasks)), shown, strict=True) if kept
        ]
        writer.writerow(cells + [_decimal(row[j] * targets[j].step) for j in kept])
    return file.getvalue()


@dataclass(frozen=True)
class _Part:
    """What a user has on a class, or altogether where `home` is empty."""

    user: str
    kind: str
    home: str
    tasks: Any
    usage: Sequence[Any]


def _parts(allocation: Allocation) -> list[_Part]:
    instance = allocation.instance
    placed, owners = allocation.placement, list(range(instance.n))
    demands: Any = instance.demands if placed is not None else ()
    kinds = [""] * instance.n
    if allocation.placed_by_type is not None:
        placed, owners = allocation.placed_by_type, instance.type_table.owner.tolist()
        demands = instance.type_table.demands
        kinds = [kind.name if kind else "" for some in instance.task_types or () for kind in (some or (None,))]
    parts = [
        _Part(instance.users[i], kind, home, tasks, demands[q] * _number(tasks))
        for q, (i, kind) in enumerate(zip(owners, kinds, strict=True))
        for home, tasks in zip(instance.machine_names, () if placed is None else placed[q], strict=placed is not None)
        if tasks
    ]
    there = {part.user for part in parts}
    alone = [
        _Part(user, "", "", allocation.tasks[i], allocation.usage[i])
        for i, user in enumerate(instance.users)
        if user not in there
    ]
    return parts + alone


def _told(tasks: Any) -> Any:
    """Return tasks as they are written: 3 and not 2.9999999999999996, but of 2/3 no more than there is."""
    if not isinstance(tasks, float):
        return tasks
    nearest = float(f"{tasks:.{TOLD}g}")
    if nearest - tasks <= ROUNDED * tasks:
        return nearest
    return float(Context(prec=TOLD, rounding=ROUND_FLOOR).create_decimal_from_float(tasks))


def _number(tasks: Any) -> float:
    return float(getattr(tasks, "lower", tasks))


def _rounded(parts: Sequence[_Part], instance: Instance, targets: Sequence[TargetName]) -> list[list[int]]:
    """Return the amounts of every part in steps; those on a class add up to no more than the class has."""
    amounts = exact_amounts([part.usage for part in parts])
    found: list[list[int]] = [[] for _ in parts]
    rooms = {"": instance.exact_capacity}
    for machine, capacity in zip(instance.machines or (), instance.exact_machine_capacity, strict=True):
        rooms[machine.name] = tuple(amount * machine.count for amount in capacity)
    for home, room in rooms.items():
        here = [index for index, part in enumerate(parts) if part.home == home]
        for index, row in zip(here, rounded([amounts[index] for index in here], room, targets), strict=True):
            found[index] = row
    return found


def _step(capacity: Fraction) -> Fraction:
    if not capacity:
        return Fraction(1)
    digits = math.floor(math.log10(capacity.numerator) - math.log10(capacity.denominator))
    return Fraction(10) ** min(digits + 1 - DIGITS, 0)


def _decimal(value: Fraction) -> str:
    """Return a decimal that terminates, written out."""
    if value.denominator == 1:
        return str(value.numerator)
    return f"{Decimal(value.numerator) / Decimal(value.denominator):f}"
