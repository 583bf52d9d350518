"""Parts of GPUs that pods ask for, as parts of devices.

    gpu-fraction (annotation)                               KAI
    nvidia.com/gpucores, gpumem, gpumem-percentage          HAMi, beside nvidia.com/gpu: of each of so many GPUs
    volcano.sh/vgpu-cores, vgpu-memory, ...-percentage      Volcano, beside volcano.sh/vgpu-number

HAMi and Volcano count cores and memory of a GPU apart; who asks for no memory has all of it, who asks for no cores has
none. Here a part of a GPU is the larger of both, so that those who share a device fit on it. Koordinator counts in
percent by itself.

Source: HAMi, pkg/device/nvidia/device.go (GenerateResourceRequests); Volcano, pkg/scheduler/api/devices/nvidia/vgpu.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction

from ....base.errors import InstanceError
from ....base.numbers.quantities import only_digits, parse
from ..conversion import Amounts, Notes
from .objects import Objects, annotations

__all__ = ["REGISTERS", "device_memory", "on_devices", "registered", "tell_counted"]

REGISTERS = {
    "hami.io/node-nvidia-register": "nvidia.com/gpu",
    "volcano.sh/node-vgpu-register": "volcano.sh/vgpu-number",
}
"""Annotations in which a node whose GPUs are shared lists them, and the resource that counts them."""

REGISTERED = re.compile(r"\"id\"\s*:|(?:^|:)\s*GPU-")
"""How a GPU begins in such a list, in JSON or between colons."""

MEMORIES = re.compile(r"\"devmem\"\s*:\s*([0-9]{1,12})|(?:^|:)\s*GPU-[^,:]*,[0-9]+,([0-9]{1,12}),")
"""The MiB of a GPU in such a list."""

FRACTION, SEVERAL, MEMORY = "gpu-fraction", "gpu-fraction-num-devices", "gpu-memory"
"""Annotations of KAI: the part of a GPU that a pod shares, of how many GPUs it takes such a part; or MiB of one."""

SHARES = "koordinator.sh/gpu.shared"
"""On how many GPUs a pod's percent of cores and memory are, in Koordinator."""

HAMI = "nvidia.com/gpu"

SHARED = {
    HAMI: ("nvidia.com/gpucores", "nvidia.com/gpumem", "nvidia.com/gpumem-percentage"),
    "volcano.sh/vgpu-number": ("volcano.sh/vgpu-cores", "volcano.sh/vgpu-memory", "volcano.sh/vgpu-memory-percentage"),
}
"""Resources that count GPUs, and what is of each of them: percent of its cores, MiB of its memory, percent of that."""


def registered(text: str) -> int:
    """Return how many GPUs a node registers."""
    return len(REGISTERED.findall(text))


def device_memory(objects: Objects) -> dict[str, Fraction]:
    """Return the MiB of a GPU by the resource that counts GPUs, where all that nodes register have the same."""
    found: dict[str, set[str]] = {}
    for item in objects.take("Node"):
        for mark, resource in REGISTERS.items():
            text = annotations(item).get(mark, "")
            some = [one or other for one, other in MEMORIES.findall(text)]
            found.setdefault(resource, set()).update(some if len(some) == registered(text) else ["", "0"])
    return {resource: Fraction(min(some)) for resource, some in found.items() if len(some) == 1 and int(min(some))}


def on_devices(
    asked: Amounts, marks: Mapping[str, str], memory: Mapping[str, Fraction], title: str, notes: Notes
) -> dict[str, Fraction]:
    """Return what a pod asks for with its parts of GPUs as such.

    Parameters
    ----------
    asked : mapping from resource to Fraction
    marks : mapping
        The pod's annotations.
    memory : mapping from resource to Fraction
        Of each GPU that the resource counts, where it is told.
    title : str
        What the pod is called.
    notes : Notes

    Raises
    ------
    InstanceError
        When an annotation is no part of a GPU.
    """
    found = dict(asked)
    if FRACTION in marks:
        try:
            part = parse(marks[FRACTION])
        except InstanceError:
            raise InstanceError(
                f"{title}: the annotation {FRACTION} is {marks[FRACTION]!r}: write a part of a GPU, such as 0.5"
            ) from None
        if not 0 < part <= 1:
            raise InstanceError(f"{title}: the annotation {FRACTION} is {marks[FRACTION]!r}: write a number up to 1")
        number = marks.get(SEVERAL, "1")
        if number != "1":
            notes.assumed("parts of several GPUs are whole ones", title)
            part = Fraction(number) if only_digits(number) else Fraction(1)
        found["nvidia.com/gpu"] = part
    elif MEMORY in marks:
        notes.unused(f"memory of a shared GPU ({MEMORY}): which part of a GPU it is is not told", title)
    if found.pop(SHARES, Fraction(1)) > 1:
        notes.assumed("parts of several GPUs are counted as of one", title)
    for counted, names in SHARED.items():
        of_each = {name: found.pop(name) for name in names if name in found}
        if of_each and not found.get(counted):
            # HAMi's webhook puts one there, Volcano none.
            if counted != HAMI:
                notes.unused(f"part of a GPU ({', '.join(of_each)}) without {counted}", title)
                continue
            notes.assumed(f"part of a GPU without {counted} is of one", title)
            found[counted] = Fraction(1)
        if of_each:
            part = _part(of_each, names, memory.get(counted), title, notes)
            if part < 1 and found[counted] == 1:
                found[counted] = part
            elif part < 1:
                notes.assumed("parts of several GPUs are whole ones", title)
    return found


def tell_counted(pods: Iterable[tuple[Amounts, Mapping[str, str]]], bounds: Collection[str], notes: Notes) -> None:
    """Note bounds on GPUs that count each share as one, where pods, as demand and annotations, take parts of GPUs."""
    for resource in SHARED.keys() & bounds:
        if any(demand.get(resource, 0) % 1 and FRACTION not in marks for demand, marks in pods):
            notes.assumed(f"bound on {resource} is of whole GPUs: the cluster counts each part of one as 1")


def _part(of_each: Amounts, names: tuple[str, str, str], memory: Fraction | None, title: str, notes: Notes) -> Fraction:
    """Return the part of a GPU that is the larger of those of its cores and its memory."""
    cores, amount, percent = (of_each.get(name, Fraction(0)) for name in names)
    if cores > 100:
        notes.assumed(f"{names[0]} above 100 is all of each GPU", title)
    if amount and memory is None:
        alone = "" if cores else ": without a part of its cores, a pod holds all of it"
        notes.unused(f"memory of a shared GPU ({names[1]}), which nodes do not register alike{alone}", title)
        return min(cores / 100, Fraction(1)) or Fraction(1)
    if not amount and not percent:
        notes.assumed(f"{names[0]} without an amount of memory: a pod has all memory of its GPU", title)
        return Fraction(1)
    notes.assumed("part of a GPU is the larger of those of its cores and of its memory", title)
    held = amount / memory if amount and memory else percent / 100
    return min(max(cores / 100, held), Fraction(1))
