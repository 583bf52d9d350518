"""An allocation as comma-separated values: user, class, tasks, and what she holds of each resource.

On machines a row is what a user has on one class; users with several task types, whose mix differs between classes,
have one row for the whole cluster. Amounts are cut to ten digits of the capacity, and add up to no more than it.
"""

import csv
import io
import math
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from ..allocation import Allocation
from ..errors import InstanceError
from .amounts import Target, exact_amounts, rounded

__all__ = ["text"]

DIGITS = 10
"""Digits of an amount, counted from the first of the capacity."""


def text(allocation: Allocation, names: Mapping[str, str]) -> str:
    """Return the table; `names` may say what a resource is called.

    Raises
    ------
    InstanceError
        When a name has a unit: amounts are those of the instance.
    """
    for resource, name in names.items():
        if ":" in name:
            raise InstanceError(
                f"--resource {resource}={name}: CSV keeps the amounts of the instance: leave the unit out"
            )
    instance = allocation.instance
    parts = _parts(allocation)
    targets = [Target(r, step=_step(c)) for r, c in zip(instance.resources, instance.exact_capacity, strict=True)]
    amounts = exact_amounts([usage for *_, usage in parts])
    steps = rounded(amounts, instance.exact_capacity, targets)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    columns = ["user", *(["class"] if instance.machines is not None else []), "tasks"]
    writer.writerow(columns + [names.get(resource, resource) for resource in instance.resources])
    for (user, home, tasks, _), row in zip(parts, steps, strict=True):
        cells = [user, *([home] if instance.machines is not None else []), tasks]
        writer.writerow(cells + [_decimal(amount * one.step) for amount, one in zip(row, targets, strict=True)])
    return file.getvalue()


def _parts(allocation: Allocation) -> list[tuple]:
    """Return user, class, tasks and usage of every row."""
    instance, placement = allocation.instance, allocation.placement
    types = instance.task_types
    parts: list[tuple] = []
    for i, user in enumerate(allocation.users):
        mixed = types is not None and types[i] is not None
        homes = [] if placement is None or mixed else [k for k, tasks in enumerate(placement[i]) if tasks]
        for k in homes:
            demand = instance.exact_demands[i]
            tasks = placement[i][k] if placement is not None else 0
            held = Fraction(getattr(tasks, "lower", tasks))
            parts.append((user, instance.machine_names[k], tasks, [held * amount for amount in demand]))
        if not homes:
            parts.append((user, "", allocation.tasks[i], allocation.usage[i]))
    return parts


def _step(capacity: Fraction) -> Fraction:
    if not capacity:
        return Fraction(1)
    digits = math.floor(math.log10(capacity.numerator) - math.log10(capacity.denominator))
    return Fraction(10) ** (digits + 1 - DIGITS)


def _decimal(value: Fraction) -> str:
    """Return a decimal that terminates, written out."""
    if value.denominator == 1:
        return str(value.numerator)
    return f"{Decimal(value.numerator) / Decimal(value.denominator):f}"
