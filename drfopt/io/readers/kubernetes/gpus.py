"""The GPUs of a node by the names that Koordinator has for them: one device, whichever name a pod asks for it by.

    nvidia.com/gpu, amd.com/gpu     1 is 100 of koordinator.sh/gpu-core and 100 of koordinator.sh/gpu-memory-ratio
    koordinator.sh/gpu              as much of both
    koordinator.sh/gpu-memory       bytes, of which koordinator.sh/gpu-memory-ratio is the percent of a device

Source: Koordinator, pkg/scheduler/plugins/deviceshare/utils.go (ResourceCombinationsMapper).
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from ..conversion import Amounts, Notes
from .pods import Pod

__all__ = ["of_one_device"]

CORE, RATIO, MEMORY = (f"koordinator.sh/gpu-{part}" for part in ("core", "memory-ratio", "memory"))

PERCENT = {"nvidia.com/gpu": 100, "amd.com/gpu": 100, "koordinator.sh/gpu": 1}
"""What one of each is of both, the cores and the memory of a device."""

NAMES = (*PERCENT, MEMORY, RATIO, CORE)


def of_one_device(pods: list[Pod], there: Iterable[Amounts], notes: Notes) -> list[Pod]:
    """Return pods that take of the percent of GPUs what they take of them by another name, where pods use several.

    Parameters
    ----------
    pods : list of Pod
    there : iterable of mapping from resource to Fraction
        What each node, or all of a pool, has.
    notes : Notes
    """
    if len({name for pod in pods if (name := _first(pod.demand))}) < 2:
        return pods
    there = [node for node in there if any(node.get(name) for name in NAMES)]
    listed = {name for node in there for name in (CORE, RATIO) if node.get(name)}
    if not listed:
        return pods
    rates = {node[RATIO] / node[MEMORY] for node in there if node.get(RATIO) and node.get(MEMORY)}
    for node in there:
        if not any(node.get(name) for name in listed):
            notes.assumed("node whose GPUs Koordinator does not list takes no pod that asks for one")
    return [_with_percent(pod, listed, rates, notes) for pod in pods]


def _first(demand: Amounts) -> str | None:
    return next((name for name in NAMES if demand.get(name)), None)


def _with_percent(pod: Pod, listed: set[str], rates: set[Fraction], notes: Notes) -> Pod:
    name, title = _first(pod.demand), f"{pod.namespace}/{pod.name}"
    more: Mapping[str, Fraction] = {}
    if name in PERCENT:
        more = dict.fromkeys(listed, pod.demand[name] * PERCENT[name])
    elif name == MEMORY and len(rates) == 1:
        more = {RATIO: pod.demand[name] * next(iter(rates))}
    elif name == MEMORY and RATIO in listed:
        notes.assumed(f"{MEMORY} is beside {RATIO}: which part of a GPU it is differs between nodes", title, pod.count)
    more = {resource: amount for resource, amount in more.items() if not pod.demand.get(resource)}
    if not more:
        return pod
    notes.assumed(f"{name} is so much of {' and '.join(sorted(more))}, too: these are the same GPUs", title, pod.count)
    return replace(pod, demand={**pod.demand, **more})
