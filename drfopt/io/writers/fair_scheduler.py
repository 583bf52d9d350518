"""``fair-scheduler.xml`` of YARN: a queue for each user with her weight, what she is given as its minimum."""

import re
from collections.abc import Mapping
from fractions import Fraction
from xml.sax.saxutils import escape, quoteattr

from ...model.allocation import Allocation
from .amounts import exact_amounts, rounded, shortfall, unique_names, yarn

__all__ = ["text"]

PLACES = 6
"""Decimals of a weight; YARN keeps it as a float."""


def text(allocation: Allocation, names: Mapping[str, str]) -> str:
    """Return the file; a dot in a user's name becomes an underscore, groups become queues around their members.

    Raises
    ------
    InstanceError
        On names of users or resources that YARN does not take.
    """
    instance = allocation.instance
    targets = yarn(allocation, names)
    amounts = exact_amounts(allocation.usage)
    steps = rounded(amounts, instance.exact_capacity, targets)
    lines = shortfall(amounts, steps, targets)
    if instance.weights_per_resource:
        lines.append("weights differ by resource, which YARN does not know: the queues have none")
    queues = unique_names(allocation.users, _queue, "queue")
    organisation = instance.organisation
    below: dict[str, list[str]] = {}
    for i, (queue, row) in enumerate(zip(queues, steps, strict=True)):
        weight = Fraction(1) if instance.weights_per_resource else instance.exact_weights[i]
        if organisation is not None and organisation.last[i]:
            weight = Fraction(0)
        least = ", ".join(f"{target.name}={amount}" for target, amount in zip(targets, row, strict=True))
        inner = [f"<weight>{_decimal(weight)}</weight>", f"<minResources>{escape(least)}</minResources>"]
        path = organisation.paths[i] if organisation is not None else ""
        below.setdefault(path, []).append(_element(f"<queue name={quoteattr(queue)}>", inner))
    for group in sorted(organisation.groups if organisation is not None else (), key=lambda one: -one.name.count("/")):
        inner = [f"<weight>{_decimal(Fraction(group.weight))}</weight>", *below.pop(group.name, [])]
        label = _queue(group.name.rpartition("/")[2])
        below.setdefault(group.parent, []).append(_element(f'<queue name={quoteattr(label)} type="parent">', inner))
    kind = "whole tasks" if allocation.integer else "divisible tasks"
    said = [f"{allocation.policy}, {kind}{f' of {instance.name}' if instance.name else ''}", *lines]
    comments = [f"<!-- {escape(line).replace('--', '- -')} -->" for line in said]
    policy = ["<defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy>"]
    root = _element('<queue name="root">', below.get("", []))
    body = _element("<allocations>", [*comments, *policy, root])
    return f'<?xml version="1.0"?>\n{body}\n'


def _element(start: str, inner: list[str]) -> str:
    tag = start[1:].partition(" ")[0].rstrip(">")
    lines = [f"  {line}" for part in inner for line in part.splitlines()]
    return "\n".join([start, *lines, f"</{tag}>"])


def _queue(name: str) -> str:
    return re.sub(r"[\s.\x00-\x1f]+", "_", name.strip())


def _decimal(weight: Fraction) -> str:
    return f"{float(weight):.{PLACES}f}".rstrip("0").rstrip(".")
