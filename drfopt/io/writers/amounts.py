"""Amounts for other programs: what a resource is called there, the smallest step it takes, and rounding that fits.

Amounts are rounded down to whole steps, and what a float computation left a hair below a step up to it; where the sum
is then above the capacity, the largest amount gives the excess. So the sum never exceeds the capacity, exactly.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from shlex import quote
from typing import Any

from ...base.errors import InstanceError
from ...base.numbers.quantities import parse
from ...base.numbers.shown import counted
from ...model.allocation import Allocation
from ...model.instance import MEBIBYTE, MEGABYTES, in_bytes

__all__ = [
    "KUBERNETES",
    "LEAST_MEMORY",
    "MEMORY_WORDS",
    "MESOS",
    "SLURM",
    "YARN",
    "Names",
    "Shares",
    "TargetName",
    "exact_amounts",
    "kai",
    "kubernetes",
    "kueue",
    "mesos",
    "percent",
    "quantity",
    "rounded",
    "shortfall",
    "slurm",
    "told_apart",
    "yarn",
    "yunikorn",
]

HAIR = Fraction(1, 10**9)
"""Relative error of tasks that floats computed (design: 1e-9): an amount this close to a whole step is that step."""

NOTICED = Fraction(1, 100)
"""Part of a step that is more than the error of floats, however large the amount."""

LEAST_MEMORY = 2**30
"""Bytes below which the memory of a whole cluster is taken for a number in another unit."""

WHOLE_STEPS = 10**9
"""Steps of a whole of which parts are written."""

MEMORY_WORDS = ("memory", "memory-mb", "mem")

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
    unit : int
        Bytes in one of it, where it is memory; 0 where nothing but its part of the whole is written.
    """

    name: str
    scale: Fraction = Fraction(1)
    step: Fraction = Fraction(1)
    unit: int = 1


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
        least = NOTICED * target.step
        taken = [
            loss for loss, row in zip(lost, amounts, strict=True) if loss > min(HAIR * (row[j] * target.scale), least)
        ]
        users, total = len(taken), float(sum(taken, Fraction(0)))
        if users:
            step = f"{float(target.step):g}"
            lines.append(
                f"rounded down to steps of {step}: {target.name} of {counted(users, 'user')}, {total:.4g} in all"
            )
    return lines


# ---- names of resources ------------------------------------------------------------------------------------

MILLI = Fraction(1, 1000)

CPU = ("cpu", "cpus", "vcores")
GPU = ("gpu", "gpus", "gres/gpu", "nvidia.com/gpu", "yarn.io/gpu")
"""What programs call the same things."""


def _called(cpu: TargetName, memory: str, unit: int, gpu: TargetName, *others: TargetName) -> dict[str, TargetName]:
    """Return the table of one program, which counts memory in units of so many bytes."""
    return {
        **dict.fromkeys(CPU, cpu),
        "memory": TargetName(memory, Fraction(1, unit), unit=unit),
        **dict.fromkeys(MEGABYTES, TargetName(memory, Fraction(MEBIBYTE, unit), unit=unit)),
        **{other.name: other for other in others},
        **dict.fromkeys(GPU, gpu),
    }


KUBERNETES = _called(
    TargetName("cpu", step=MILLI),
    "memory",
    1,
    TargetName("nvidia.com/gpu"),
    TargetName("ephemeral-storage"),
    TargetName("pods"),
)
KUEUE = {name: target for name, target in KUBERNETES.items() if name not in ("gpu", "gpus")}
YUNIKORN = KUBERNETES | dict.fromkeys((*CPU, "vcore"), TargetName("vcore", step=MILLI))
KAI = _called(TargetName("cpu", Fraction(1000)), "memory", 10**6, TargetName("gpu", step=Fraction(1, 100)))
"""cpu in thousandths of a core, memory in 10^6 bytes, gpu in devices or hundredths of one."""

YARN = _called(TargetName("vcores"), "memory-mb", 2**20, TargetName("yarn.io/gpu"))
SLURM = _called(TargetName("cpu"), "mem", 2**20, TargetName("gres/gpu"))
MESOS = _called(TargetName("cpus", step=MILLI), "mem", 2**20, TargetName("gpus", step=MILLI), TargetName("disk"))

HUGE_PAGES = re.compile(r"hugepages-[\w.-]+", re.ASCII)
OF_SLURM = re.compile(r"(gres|license|bb|fs)/[\w.:/-]+", re.ASCII)
RESOURCE_NAME = re.compile(r"[A-Za-z0-9][\w./-]*", re.ASCII)
QUALIFIED = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?/[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?", re.ASCII)
"""A name of a resource that Kubernetes and YARN take, and one of those with a domain before it."""


@dataclass(frozen=True)
class Shares:
    """What every user gets in the words of another program.

    Attributes
    ----------
    resources : list of str
        Those of the instance that are not left out, (r,).
    targets : list of TargetName (r,)
    steps : list of list of int (n, r)
        Amounts in steps of the targets.
    lines : list of str
        What is called otherwise there, what is left out, and what rounding takes away.
    """

    resources: list[str]
    targets: list[TargetName]
    steps: list[list[int]]
    lines: list[str]

    def in_steps(self, amounts: Mapping[str, Fraction]) -> dict[int, int]:
        """Return amounts of the instance's resources in whole steps of the targets, by the number of the column."""
        return {
            j: math.floor(Fraction(amounts[resource]) * target.scale / target.step)
            for j, (resource, target) in enumerate(zip(self.resources, self.targets, strict=True))
            if resource in amounts
        }

    def cut(self, ceilings: Sequence[Mapping[str, Fraction]]) -> list[str]:
        """Return a sentence for each resource of which a ceiling is no whole number of steps."""
        lines = []
        for resource, target in zip(self.resources, self.targets, strict=True):
            steps = [Fraction(one[resource]) * target.scale / target.step for one in ceilings if resource in one]
            if (queues := sum(amount.denominator > 1 for amount in steps)) and target.unit:
                step = f"{float(target.step):g}"
                lines.append(f"ceilings rounded down to steps of {step}: {target.name} of {counted(queues, 'queue')}")
        return lines


Names = Mapping[str, str | None]
"""What a resource is called there, with its unit behind a colon; None leaves it out."""


def kubernetes(allocation: Allocation, names: Names) -> Shares:
    """Return what each user gets in Kubernetes: cpu in thousandths of a core, memory in bytes, others whole.

    Raises
    ------
    InstanceError
        On a resource without a name there, or memory whose unit cannot be bytes.
    """
    return _shares(allocation, names, KUBERNETES, _of_kubernetes)


def kueue(allocation: Allocation, names: Names) -> Shares:
    """Return what each user gets in Kueue: as in Kubernetes, but a quota may have any name, so that those are kept."""
    shares = _shares(allocation, names, KUEUE, lambda name: RESOURCE_NAME.fullmatch(name) is not None)
    for target in shares.targets:
        if target.name in ("gpu", "gpus"):
            shares.lines.append(
                f"{target.name} keeps its name; pods that ask for another: give its name (--resource, in Python names)"
            )
    return shares


def yunikorn(allocation: Allocation, names: Names) -> Shares:
    """Return what each user gets in YuniKorn: as in Kubernetes, but vcore for cpu."""
    return _shares(allocation, names, YUNIKORN, _of_kubernetes)


def kai(allocation: Allocation, names: Names) -> Shares:
    """Return what each user gets in KAI, which knows cpu, memory and gpu."""
    return _shares(allocation, names, KAI, lambda name: False)


def yarn(allocation: Allocation, names: Names) -> Shares:
    """Return what each user gets in YARN: whole vcores and MB, others whole.

    Raises
    ------
    InstanceError
        As `kubernetes`.
    """
    return _shares(allocation, names, YARN, _qualified)


def percent(allocation: Allocation, names: Names) -> Shares:
    """Return what each user gets where parts of the whole are written: nobody asks for a resource's name or unit."""
    parts = {
        r: TargetName(r, step=c / WHOLE_STEPS or Fraction(1), unit=0)
        for r, c in zip(allocation.resources, allocation.instance.exact_capacity, strict=True)
    }
    shares = _shares(allocation, {r: None for r, name in names.items() if name is None}, parts, lambda name: False)
    shares.lines.extend(
        f"{resource} is not called {name} here: parts of the whole have no names"
        for resource, name in names.items()
        if name
    )
    return shares


def slurm(allocation: Allocation, names: Names) -> Shares:
    """Return what each user gets in Slurm: whole cores and MiB, others whole.

    Raises
    ------
    InstanceError
        As `kubernetes`.
    """
    return _shares(allocation, names, SLURM, lambda name: OF_SLURM.fullmatch(name) is not None)


def mesos(allocation: Allocation, names: Names) -> Shares:
    """Return what each user gets in Mesos: cpus and gpus in thousandths, others whole, mem in MB."""
    return _shares(allocation, names, MESOS, lambda name: False)


def _of_kubernetes(name: str) -> bool:
    return _qualified(name) or HUGE_PAGES.fullmatch(name) is not None


def _qualified(name: str) -> bool:
    return QUALIFIED.fullmatch(name) is not None


def _shares(
    allocation: Allocation, names: Names, known: Mapping[str, TargetName], taken: Callable[[str], bool]
) -> Shares:
    capacity = allocation.instance.exact_capacity
    kept = [j for j, resource in enumerate(allocation.resources) if names.get(resource, "") is not None]
    if not kept:
        raise InstanceError("every resource is left out: leave one of them in")
    instance = allocation.instance
    room, pool = (instance.room, capacity) if instance.machines is not None else (instance.room[:0], capacity)
    bytes_of = [in_bytes(instance.demands[:, j], room[:, j], pool[j]) for j in range(len(capacity))]
    targets = [_target(allocation.resources[j], capacity[j], bytes_of[j], names, known, taken) for j in kept]
    told_apart([target.name for target in targets])
    amounts = [[row[j] for j in kept] for row in exact_amounts(allocation.usage)]
    steps = rounded(amounts, [capacity[j] for j in kept], targets)
    resources = [allocation.resources[j] for j in kept]
    lines = [
        f"{r} is called {target.name} here" for r, target in zip(resources, targets, strict=True) if r != target.name
    ]
    lines += [f"{r} is left out" for j, r in enumerate(allocation.resources) if j not in kept]
    return Shares(resources, targets, steps, lines + shortfall(amounts, steps, targets))


def told_apart(called: Sequence[str], columns: Sequence[str] = ()) -> None:
    """Refuse resources of which two have one name there, or one that of another column of the table."""
    twice = next((name for i, name in enumerate(called) if name in called[:i] or name in columns), None)
    if twice is not None:
        both = "a resource and another column" if twice in columns else "two resources"
        raise InstanceError(
            f"{both} would be called {twice!r} there: give other names (--resource, in Python names), or leave "
            "one out (--leave-out, in Python leave_out)"
        )


def _target(
    resource: str,
    capacity: Fraction,
    in_bytes: bool,
    names: Names,
    known: Mapping[str, TargetName],
    taken: Callable[[str], bool],
) -> TargetName:
    said = names.get(resource) or resource
    name, given, unit = said.partition(":")
    if taken(said) and not UNIT.fullmatch(unit):
        name, given, unit = said, "", ""  # a type of device in Slurm, gres/gpu:a100
    own = TargetName(name) if taken(name) else None
    base = known.get(name, own)
    if base is not None and base.name != name and resource in names and own is not None:
        base = own  # who says a name that will do there gets it
    if base is None:
        usual = ", ".join(dict.fromkeys(target.name for target in known.values()))
        such = next(
            (f", or such as {own}" for own in (f"example.com/{resource}", "example.com/name") if taken(own)), ""
        )
        raise InstanceError(
            f"resource {resource!r} has no name there: say it with --resource {quote(resource)}=NAME, "
            f"in Python names={{{resource!r}: NAME}}, one of {usual}{such}, or leave it out with "
            f"--leave-out {quote(resource)}, in Python leave_out={[resource]}"
        )
    if name in MEGABYTES and in_bytes:
        base = replace(base, scale=base.scale / MEBIBYTE)
    if given:
        if not unit or not UNIT.fullmatch(unit):
            raise InstanceError(
                f"resource {resource!r} is called {said!r}: {unit!r} is no unit: use m, k, M, G, Ki, Mi, Gi"
            )
        # A unit of memory is one of bytes, whatever the other program counts it in.
        rate = Fraction(1, base.unit) if base.name in MEMORY_WORDS else base.scale
        return replace(base, scale=parse(f"1{unit}") * rate)
    if base.name in MEMORY_WORDS and 0 < capacity * base.scale * base.unit < LEAST_MEMORY:
        unit_said = f"{name if own is None or resource in names else base.name}:Gi"
        raise InstanceError(
            f"{resource} of the whole cluster is {float(capacity):g}, which cannot be "
            f"{'bytes' if base.scale * base.unit == 1 else 'its unit there'}: "
            f"say its unit, --resource {quote(resource)}={unit_said}, in Python names={{{resource!r}: {unit_said!r}}}"
        )
    return base


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
