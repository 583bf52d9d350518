"""``fair-scheduler.xml``: weights, minima and maxima of a tree of queues.

An amount of resources is written in one of four ways, all of them taken here:

    "10000 mb, 10 vcores"        "50% memory, 25% cpu"        "50%"        "vcores=50%, memory-mb=8Gi, yarn.io/gpu=4"

A percentage is one of the whole cluster. What a minimum does not name is 0; what a maximum does not name has no bound.
A maximum below the minimum counts as that, as in YARN.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from ....base.errors import InstanceError
from ....base.numbers.quantities import parse
from ...text.files import failure, shown
from ...text.yaml_xml import Element
from ..conversion import Notes
from ..queues.tree import QueueNode

__all__ = ["UNITS", "YARN_UNITS", "amounts", "bounds_of_unlisted", "read_queues"]

NAMES = {
    "mb": "memory-mb",
    "memory": "memory-mb",
    "memory-mb": "memory-mb",
    "cpu": "vcores",
    "vcores": "vcores",
    "vcore": "vcores",
}
QUEUES = ("queue", "pool")

DEFAULT_BOUND = "queueMaxResourcesDefault"
"""What a queue may use at most that does not say it."""

MOST_OF_CHILD = "maxChildResources"
"""The same of a queue that is not listed, below the one that says it."""

YARN_UNITS = {
    unit: Fraction(1000) ** power for power, unit in enumerate(("p", "n", "u", "m", "", *"kMGTP"), start=-4)
} | {f"{unit}i": Fraction(1024) ** power for power, unit in enumerate("KMGTP", start=1)}
UNITS = YARN_UNITS | {"K": YARN_UNITS["k"], "g": YARN_UNITS["G"], "t": YARN_UNITS["T"]}
"""Units of amounts, YARN's and what is meant by others; memory is counted in Mi, which stands for none."""

TERM = re.compile(r"(?P<amount>[0-9.]+)\s*(?P<percent>%)?\s*(?P<name>[A-Za-z][\w./-]*)?")
NAMED = re.compile(r"(?P<name>[\w./-]+)\s*=\s*(?P<amount>[0-9.]+)\s*(?P<percent>%)?\s*(?P<unit>[A-Za-z]*)")

IGNORED = (
    "maxRunningApps",
    "maxAMShare",
    "maxContainerAllocation",
    "schedulingPolicy",
    "aclSubmitApps",
    "aclAdministerApps",
    "minSharePreemptionTimeout",
    "fairSharePreemptionTimeout",
    "fairSharePreemptionThreshold",
    "allowPreemptionFrom",
    "reservation",
)


def amounts(
    text: str, whole: Mapping[str, Fraction], place: str, units: Mapping[str, Fraction] | None = None
) -> dict[str, Fraction]:
    """Return an amount of resources as the file writes it; `whole` is what the cluster has.

    `units` is how much a number without a unit counts of a type of resource: the cluster says it, not the file.
    """
    found: dict[str, Fraction] = {}
    for term in filter(None, (part.strip() for part in text.split(","))):
        match = NAMED.fullmatch(term) or TERM.fullmatch(term)
        name = match["name"] if match else None
        if match is None or (name is None and not match["percent"]):
            raise failure(place, f"{shown(text)} is no amount of resources: write '8192 mb, 4 vcores' or 'vcores=4'")
        try:
            amount = parse(match["amount"])
        except InstanceError as error:
            raise failure(place, error) from None
        unit = match.groupdict().get("unit") or ""
        if unit not in UNITS:
            raise failure(
                place,
                f"{shown(text)} counts in {shown(unit)}: use percent or one of {', '.join(filter(None, YARN_UNITS))}",
            )
        resources = list(whole) if name is None else [NAMES.get(name.lower(), name)]
        if unit:
            amount *= UNITS[unit] / (UNITS["Mi"] if resources == [NAMES["memory"]] else 1)
        elif not match["percent"]:
            amount *= (units or {}).get(resources[0], 1)
        for resource in resources:
            found[resource] = amount * whole.get(resource, Fraction(0)) / 100 if match["percent"] else amount
    return found


def read_queues(
    top: Element, place: str, whole: Mapping[str, Fraction], notes: Notes, units: Mapping[str, Fraction] | None = None
) -> list[QueueNode]:
    """Return the queues of a file, called by their path without ``root.``.

    Parameters
    ----------
    top : Element
        The root of ``fair-scheduler.xml``.
    place : str
        The file.
    whole : mapping from resource to Fraction
        What the cluster has, for percentages.
    notes : Notes
    units : mapping from resource to Fraction, optional
        As `amounts`.

    Raises
    ------
    InstanceError
        With file and queue.
    """
    if top.tag != "allocations":
        raise failure(
            place,
            f"begins with <{top.tag}>: a fair-scheduler.xml has <allocations>, a capacity-scheduler.xml "
            "<configuration>, and the resource manager prints JSON when asked with -H 'Accept: application/json'",
        )
    default = top.child(DEFAULT_BOUND)
    queues: list[QueueNode] = []
    for element in top.children:
        if element.tag in QUEUES:
            queues += _below(element, "", whole, notes, place, units)
        elif element.tag in ("user", "userMaxAppsDefault", "queueMaxAppsDefault"):
            notes.unused("limit on running apps", element.attributes.get("name", element.tag))
        elif element.tag != DEFAULT_BOUND:
            notes.unused(f"setting {element.tag}")
    if default is not None:
        bound = amounts(default.text, whole, f"{place}: {DEFAULT_BOUND}", units)
        queues = [q if q.maximum or q.name == "root" else replace(q, maximum=bound) for q in queues]
        if not any(queue.name == "root" and queue.maximum for queue in queues):
            notes.unused(f"{DEFAULT_BOUND} of the root queue, for all queues together: give root maxResources")
    return [_consistent(queue, notes) for queue in queues]


def _consistent(queue: QueueNode, notes: Notes) -> QueueNode:
    """Return the queue with a maximum that is nowhere below its minimum."""
    raised = {r: least for r, least in queue.minimum.items() if queue.maximum.get(r, least) < least}
    if raised:
        notes.assumed(f"maxResources below minResources count as these, as in YARN: {', '.join(raised)}", queue.name)
    return replace(queue, maximum={**queue.maximum, **raised})


def bounds_of_unlisted(
    top: Element, place: str, whole: Mapping[str, Fraction], units: Mapping[str, Fraction] | None = None
) -> dict[str, dict[str, Fraction]]:
    """Return the most that a queue may use that the file does not list, by the queue above it; under "" for any other.

    Raises
    ------
    InstanceError
        With file and queue.
    """
    found: dict[str, dict[str, Fraction]] = {}

    def look(element: Element, path: str) -> None:
        for child in element.children:
            if child.tag in QUEUES:
                label = child.attributes.get("name", "").strip()
                look(child, _path(label, path))
            elif child.tag == (MOST_OF_CHILD if path else DEFAULT_BOUND):
                found[path] = amounts(child.text, whole, f"{place}: queue {path}: {child.tag}", units)

    look(top, "")
    return found


def _path(label: str, parent: str) -> str:
    """Return what a queue is called that is `label` in the file: its path without ``root.``."""
    return (label if parent in ("", "root") or label == "root" else f"{parent}.{label}").removeprefix("root.")


def _below(
    element: Element,
    parent: str,
    whole: Mapping[str, Fraction],
    notes: Notes,
    place: str,
    units: Mapping[str, Fraction] | None,
) -> Iterator[QueueNode]:
    label = element.attributes.get("name", "").strip()
    if not label:
        raise failure(place, f"a <{element.tag}> has no name: write <{element.tag} name=...>")
    name = _path(label, parent)
    at = f"{place}: queue {name}"
    weight = element.child("weight")
    bounds = {}
    for tag in ("minResources", "maxResources"):
        child = element.child(tag)
        bounds[tag] = {} if child is None else amounts(child.text, whole, f"{at}: {tag}", units)
    try:
        worth = Fraction(1) if weight is None else parse(weight.text)
    except InstanceError as error:
        raise failure(f"{at}: weight", error) from None
    if worth < 0:
        raise failure(f"{at}: weight", f"is {weight.text if weight else ''}: write 0 or more")
    minimum = {resource: amount for resource, amount in bounds["minResources"].items() if amount}
    yield QueueNode(name, parent, worth, minimum, bounds["maxResources"], label=label.rpartition(".")[2])
    for child in element.children:
        if child.tag in QUEUES:
            yield from _below(child, name, whole, notes, place, units)
        elif child.tag in IGNORED:
            notes.unused(f"{child.tag} of a queue", name)
        elif child.tag not in ("weight", "minResources", "maxResources", MOST_OF_CHILD):
            notes.unused(f"element {child.tag} of a queue", name)
