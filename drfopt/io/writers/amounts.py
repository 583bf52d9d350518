"""Amounts for other programs: what a resource is called there, the smallest step it takes, and rounding that fits.

Amounts are rounded down to whole steps, and what a float computation left a hair below a step up to it; where the sum
is then above the capacity, the largest amount gives the excess. So the sum never exceeds the capacity, exactly.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ...base.errors import InstanceError
from ...base.numbers.quantities import parse
from ...model.allocation import Allocation

__all__ = [
    "TargetName",
    "dns_label",
    "exact_amounts",
    "kubernetes",
    "quantity",
    "rounded",
    "shortfall",
    "unique_names",
    "yarn",
]

HAIR = Fraction(1, 10**9)
"""Relative error of tasks that floats computed (design: 1e-9): an amount this close to a whole step is that step."""

LEAST_MEMORY = 2**30
"""Bytes below which the memory of a whole cluster is taken for a number in another unit."""

UNIT = re.compile(r"(?:[KMGTPE]i|[numkMGTPE])?")

Amounts = Sequence[Sequence[Fraction]]


@dataclass(frozen=True)
class TargetName:
    """A resource in another program.

    Attributes
    ----------
    name : str
    scale : Fraction
        How much of it one of the instance's is.
    step : Fraction
        The smallest amount that can be written.
    """

    name: str
    scale: Fraction = Fraction(1)
    step: Fraction = Fraction(1)


def exact_amounts(values: Any) -> list[list[Fraction]]:
    """Return an array (n, m) of numbers as `Fraction`s; an enclosure counts with its lower end."""
    return [[_exact(value) for value in row] for row in values]


def _exact(value: Any) -> Fraction:
    return Fraction(getattr(value, "lower", value))


def rounded(amounts: Amounts, capacity: Sequence[Fraction], targets: Sequence[TargetName]) -> list[list[int]]:
    """Return amounts (n, m) in steps of the targets; the sum over the users is never above the capacity (m,)."""
    columns = []
    for j, target in enumerate(targets):
        ratio = target.scale / target.step
        steps = [_down(row[j] * ratio) for row in amounts]
        excess = sum(steps) - math.floor(capacity[j] * ratio)
        while excess > 0:
            largest = max(range(len(steps)), key=steps.__getitem__)
            given = min(excess, steps[largest])
            steps[largest] -= given
            excess -= given
        columns.append(steps)
    return [[column[i] for column in columns] for i in range(len(amounts))]


def _down(value: Fraction) -> int:
    value = max(value, Fraction(0))
    return math.floor(value + min(value * HAIR, Fraction(1, 2)))


def shortfall(amounts: Amounts, steps: Sequence[Sequence[int]], targets: Sequence[TargetName]) -> list[str]:
    """Return a sentence for each resource of which rounding takes away more than floats do."""
    lines = []
    for j, target in enumerate(targets):
        lost = [row[j] * target.scale - own[j] * target.step for row, own in zip(amounts, steps, strict=True)]
        users = sum(loss > HAIR * (row[j] * target.scale) for loss, row in zip(lost, amounts, strict=True))
        total = float(sum(lost, Fraction(0)))
        if users and total > 0:
            step = f"{float(target.step):g}"
            lines.append(f"rounded down to steps of {step}: {target.name} of {users} users, {total:.4g} in all")
    return lines


# ---- names of resources ------------------------------------------------------------------------------------

MILLI = Fraction(1, 1000)

KUBERNETES: Mapping[str, TargetName] = {
    "cpu": TargetName("cpu", step=MILLI),
    "memory": TargetName("memory"),
    "ephemeral-storage": TargetName("ephemeral-storage"),
    "pods": TargetName("pods"),
    "vcores": TargetName("cpu", step=MILLI),
    "cpus": TargetName("cpu", step=MILLI),
    "memory-mb": TargetName("memory", Fraction(2**20)),
    "mem": TargetName("memory", Fraction(2**20)),
    "gpu": TargetName("nvidia.com/gpu"),
    "gpus": TargetName("nvidia.com/gpu"),
    "gres/gpu": TargetName("nvidia.com/gpu"),
    "yarn.io/gpu": TargetName("nvidia.com/gpu"),
}

YARN: Mapping[str, TargetName] = {
    "cpu": TargetName("vcores"),
    "cpus": TargetName("vcores"),
    "vcores": TargetName("vcores"),
    "memory": TargetName("memory-mb", Fraction(1, 2**20)),
    "memory-mb": TargetName("memory-mb"),
    "mem": TargetName("memory-mb"),
    "gpu": TargetName("yarn.io/gpu"),
    "gpus": TargetName("yarn.io/gpu"),
    "gres/gpu": TargetName("yarn.io/gpu"),
    "nvidia.com/gpu": TargetName("yarn.io/gpu"),
}

SLURM: Mapping[str, TargetName] = {
    "cpu": TargetName("cpu"),
    "cpus": TargetName("cpu"),
    "vcores": TargetName("cpu"),
    "memory": TargetName("mem", Fraction(1, 2**20)),
    "memory-mb": TargetName("mem"),
    "mem": TargetName("mem"),
    "gpu": TargetName("gres/gpu"),
    "gpus": TargetName("gres/gpu"),
    "nvidia.com/gpu": TargetName("gres/gpu"),
    "yarn.io/gpu": TargetName("gres/gpu"),
}

MESOS: Mapping[str, TargetName] = {
    "cpu": TargetName("cpus"),
    "cpus": TargetName("cpus"),
    "vcores": TargetName("cpus"),
    "memory": TargetName("mem", Fraction(1, 2**20)),
    "memory-mb": TargetName("mem"),
    "mem": TargetName("mem"),
    "gpu": TargetName("gpus"),
    "gpus": TargetName("gpus"),
    "nvidia.com/gpu": TargetName("gpus"),
}
"""Only read: Mesos has no file of quotas that could be written."""


def kubernetes(allocation: Allocation, names: Mapping[str, str]) -> list[TargetName]:
    """Return what each resource (m,) is in Kubernetes: cpu in thousandths of a core, memory in bytes, others whole.

    Raises
    ------
    InstanceError
        On a resource without a name there, or memory whose unit cannot be bytes.
    """
    return _targets(allocation, names, KUBERNETES, lambda name: "/" in name or name.startswith("hugepages-"))


def yarn(allocation: Allocation, names: Mapping[str, str]) -> list[TargetName]:
    """Return what each resource (m,) is in YARN: whole vcores and MB, others whole.

    Raises
    ------
    InstanceError
        As `kubernetes`.
    """
    return _targets(allocation, names, YARN, lambda name: "/" in name)


def _targets(
    allocation: Allocation, names: Mapping[str, str], known: Mapping[str, TargetName], taken: Callable[[str], bool]
) -> list[TargetName]:
    found = []
    for resource, capacity in zip(allocation.resources, allocation.instance.exact_capacity, strict=True):
        name, given, unit = names.get(resource, resource).partition(":")
        base = known.get(name, TargetName(name) if taken(name) else None)
        if base is None:
            usual = ", ".join(dict.fromkeys(target.name for target in known.values()))
            raise InstanceError(
                f"resource {resource!r} has no name there: say it with --resource {resource}=NAME, "
                f"one of {usual}, or such as example.com/{resource}"
            )
        if given:
            if not unit or not UNIT.fullmatch(unit):
                raise InstanceError(
                    f"--resource {resource}={names[resource]}: {unit!r} is no unit: use m, k, M, G, Ki, Mi, Gi"
                )
            base = TargetName(base.name, parse(f"1{unit}") * base.scale, base.step)
        elif base.name in ("memory", "memory-mb") and 0 < capacity * base.scale * _bytes(base) < LEAST_MEMORY:
            raise InstanceError(
                f"{resource} of the whole cluster is {float(capacity):g}, which cannot be "
                f"{'bytes' if base.scale == 1 and base.name == 'memory' else 'its unit there'}: "
                f"say its unit, --resource {resource}={resource}:Gi"
            )
        found.append(base)
    twice = next((one.name for i, one in enumerate(found) if one.name in [other.name for other in found[:i]]), None)
    if twice is not None:
        raise InstanceError(f"two resources would be called {twice!r} there: say other names with --resource")
    return found


def _bytes(target: TargetName) -> int:
    return 2**20 if target.name == "memory-mb" else 1


def quantity(steps: int, target: TargetName) -> str:
    """Return an amount in steps as a quantity of Kubernetes: ``2250m``, ``48Gi``, ``7``."""
    value = steps * target.step
    if value.denominator != 1:
        return f"{math.floor(value / MILLI)}m"
    if target.name == "memory" or target.name.startswith(("ephemeral", "hugepages")):
        for power, letter in ((4, "Ti"), (3, "Gi"), (2, "Mi"), (1, "Ki")):
            if value and value % 1024**power == 0:
                return f"{value.numerator // 1024**power}{letter}"
    return str(value.numerator)


# ---- names of users ----------------------------------------------------------------------------------------


def unique_names(users: Sequence[str], clean: Callable[[str], str], what: str) -> list[str]:
    """Return names that the other program takes.

    Raises
    ------
    InstanceError
        When two users would have the same one, or one would have none.
    """
    owners: dict[str, str] = {}
    for user in users:
        name = clean(user)
        if not name:
            raise InstanceError(f"user {user!r} has no letter or digit for {what}: rename it")
        if name in owners:
            raise InstanceError(
                f"users {owners[name]!r} and {user!r} would both be {what} {name!r}: rename one of them"
            )
        owners[name] = user
    return list(owners)


def dns_label(name: str) -> str:
    """Return a name as Kubernetes takes it: small letters, digits and hyphens, at most 63 of them."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower())[:63].strip("-")
