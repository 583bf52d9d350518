"""What a pod asks of its node, as the scheduler of Kubernetes counts it.

    containers   together, with the sidecars (init containers with ``restartPolicy: Always``)
    ordinary init containers, one after the other, each beside the sidecars that were started before it
    the larger of the two, resource by resource; what the pod as a whole asks for replaces it
    plus the overhead of its runtime, plus one pod

A limit stands for the request that is missing.
"""

from fractions import Fraction

from ...text.parts import TreePart

__all__ = ["demand"]

Amounts = dict[str, Fraction]


def demand(spec: TreePart) -> Amounts:
    """Return the requests of a pod with this ``spec``; cpu in cores, memory in bytes, pods 1."""
    if not spec["initContainers"] and not spec["overhead"] and not spec["resources"]:
        return _sum(_together(spec), {"pods": Fraction(1)})
    sidecars: Amounts = {}
    starting: Amounts = {}
    for container in spec["initContainers"].each():
        asked = _requests(container["resources"])
        if container["restartPolicy"].text() == "Always":
            sidecars = _sum(sidecars, asked)
            starting = _larger(starting, sidecars)
        else:
            starting = _larger(starting, _sum(sidecars, asked))
    total = _larger(_sum(sidecars, _together(spec)), starting)
    whole = spec["resources"]
    total |= {resource: limit for resource, limit in whole["limits"].amounts().items() if resource not in total}
    total |= whole["requests"].amounts()
    return _sum(_sum(total, spec["overhead"].amounts()), {"pods": Fraction(1)})


def _together(spec: TreePart) -> Amounts:
    running: Amounts = {}
    for container in spec["containers"].each():
        asked = _requests(container["resources"])
        running = _sum(running, asked) if running else asked
    return running


def _requests(resources: TreePart) -> Amounts:
    return resources["limits"].amounts() | resources["requests"].amounts()


def _sum(one: Amounts, other: Amounts) -> Amounts:
    return one | {resource: one.get(resource, Fraction(0)) + amount for resource, amount in other.items()}


def _larger(one: Amounts, other: Amounts) -> Amounts:
    return one | {resource: max(one.get(resource, Fraction(0)), amount) for resource, amount in other.items()}
