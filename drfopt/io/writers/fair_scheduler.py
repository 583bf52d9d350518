"""The XML of YARN's schedulers: a queue for each user, groups as queues around their members.

``fair-scheduler.xml`` has a user's weight, and what it is given as minimum. ``capacity-scheduler.xml`` has one number a
queue, its part of what the queue above has, in percent that add up to 100: a user's is its dominant share, against
those of its siblings; a group's that of all its members together. Shares of several resources add up to more than the
whole, so a queue is guaranteed less than its share of the resource that it uses most, and the file says how much less.
The most that a queue may have is one number too: the smallest part that a ceiling of it is, and no less than is given;
``user-limit-factor`` lets a single user have as much.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from xml.sax.saxutils import escape, quoteattr

from ...base.numbers.shown import not_above
from ...model.allocation import Allocation
from .amounts import YARN, Names, Shares, exact_amounts, percent, yarn
from .exports import by_resource, decimal, weight_texts
from .queues import RULES, ExportedQueue, exported_queues, refuse_root

__all__ = ["capacities", "text"]

PLACES = 6
"""Decimals of a weight; YARN keeps it as a float."""

PERCENT = 10**5
"""Steps in all of a queue: thousandths of a percent."""


def text(allocation: Allocation, names: Names, lines: list[str]) -> str:
    """Return ``fair-scheduler.xml``; a dot in a user's name becomes an underscore.

    Raises
    ------
    InstanceError
        On names of users or resources that YARN does not take.
    """
    shares = yarn(allocation, names)
    lines += by_resource(allocation, "YARN")
    queues = exported_queues(allocation, shares, _queue, lines, RULES)
    refuse_root(queue for queue in queues if not queue.parent)
    if plain := [target.name for target in shares.targets if target not in YARN.values() and target.scale == 1]:
        lines.append(f"YARN reads {', '.join(plain)} in the unit of its type there, which is taken to have none")
    below: dict[str, list[str]] = {}
    weights = weight_texts((queue.weight for queue in queues), PLACES, lines)
    for queue, weight in reversed([*zip(queues, weights, strict=True)]):
        inner = [f"<weight>{weight}</weight>"]
        if queue.user is not None:
            inner.append(f"<minResources>{escape(_amounts(queue.steps, shares))}</minResources>")
        if queue.ceiling:
            inner.append(f"<maxResources>{escape(_amounts(queue.ceiling, shares))}</maxResources>")
        kind = "" if queue.user is not None else ' type="parent"'
        start = f"<queue name={quoteattr(queue.label)}{kind}>"
        below.setdefault(queue.parent, []).insert(
            0, _element(start, inner + (below.pop(queue.path, []) if queue.path else []))
        )
    policy = ["<defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy>"]
    root = _element('<queue name="root">', below.get("", []))
    body = _element("<allocations>", [*_comments(allocation, lines), *policy, root])
    return f'<?xml version="1.0"?>\n{body}\n'


def capacities(allocation: Allocation, names: Names, lines: list[str]) -> str:
    """Return ``capacity-scheduler.xml``.

    Raises
    ------
    InstanceError
        As `text`.
    """
    # A resource that is left out is not counted in shares.
    shares = percent(allocation, names)
    shares = replace(shares, lines=[line for line in shares.lines if not line.startswith("rounded")])
    queues = exported_queues(allocation, shares, _queue, lines, ("ceilings", "groups"))
    refuse_root(queue for queue in queues if not queue.parent)
    if allocation.instance.weights_per_resource or len({queue.weight for queue in queues}) > 1:
        lines.append("weights are not written: a queue's capacity is what it is given")
    dominant = _dominant(allocation, shares, queues)
    found: list[tuple[str, str]] = [("resource-calculator", CALCULATOR)]
    least = Fraction(1)
    parents = ["", *(queue.path for queue in queues if queue.user is None)]
    paths = {"": "root"} | {queue.path: f"root.{queue.full}" for queue in queues if queue.user is None}
    guaranteed, tops = {"": Fraction(1)}, {"": Fraction(1)}
    if any(queue.ceiling for queue in queues):
        lines.append(
            "a ceiling bounds all resources alike: the smallest part that one is, or the queue's capacity if more"
        )
    for parent in parents:
        members = [queue for queue in queues if queue.parent == parent]
        if not members:
            continue
        found.append((f"{paths[parent]}.queues", ",".join(queue.label for queue in members)))
        for queue, steps in zip(members, _parts([dominant[id(queue)] for queue in members]), strict=True):
            part = Fraction(steps, PERCENT)
            at = queue.path if queue.user is None else f"/{queue.user}"
            guaranteed[at] = own = guaranteed[parent] * part
            tops[at] = min(tops[parent], max(own, _top(queue, shares, allocation)))
            if queue.user is not None and dominant[id(queue)]:
                least = min(least, own / dominant[id(queue)])
            found.append((f"root.{queue.full}.capacity", decimal(part * 100, PLACES)))
            if tops[parent]:  # below a maximum of 0 it is 0 whatever is written
                found.append((f"root.{queue.full}.maximum-capacity", decimal(tops[at] / tops[parent] * 100, PLACES)))
            if queue.user is not None and tops[at] > own > 0:  # a queue with a single user is kept at its capacity else
                found.append((f"root.{queue.full}.user-limit-factor", str(math.ceil(tops[at] / own))))
    if least < 1:
        words = f"{not_above(float(least), 3):g}"
        lines.append(f"percent of all resources alike guarantee {words} of a queue's dominant share at least")
    rows = [
        _element("<property>", [f"<name>{escape(PREFIX + name)}</name>", f"<value>{escape(value)}</value>"])
        for name, value in found
    ]
    body = _element("<configuration>", [*_comments(allocation, lines), *rows])
    return f'<?xml version="1.0"?>\n{body}\n'


PREFIX = "yarn.scheduler.capacity."
CALCULATOR = "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator"


def _top(queue: ExportedQueue, shares: Shares, allocation: Allocation) -> Fraction:
    """Return the smallest part of the cluster that a ceiling of a queue is; 1 without one."""
    whole = shares.in_steps(dict(zip(allocation.resources, allocation.instance.exact_capacity, strict=True)))
    return min((Fraction(most, whole[j]) for j, most in queue.ceiling.items() if whole[j]), default=Fraction(1))


def _dominant(allocation: Allocation, shares: Shares, queues: Sequence[ExportedQueue]) -> dict[int, Fraction]:
    """Return the dominant share of each queue, of the resources that are not left out; a group's of all its members."""
    instance = allocation.instance
    usage = dict(zip(allocation.users, exact_amounts(allocation.usage), strict=True))
    columns = [(j, instance.exact_capacity[j]) for j, r in enumerate(allocation.resources) if r in shares.resources]
    found = {}
    for queue in queues:
        inside = (
            [queue]
            if queue.user is not None
            else [one for one in queues if one.user is not None and f"{one.parent}/".startswith(f"{queue.path}/")]
        )
        rows = [usage[one.user] for one in inside if one.user is not None]
        found[id(queue)] = max(
            (sum((row[j] for row in rows), Fraction(0)) / c for j, c in columns if c), default=Fraction(0)
        )
    return found


def _parts(shares: Sequence[Fraction]) -> list[int]:
    """Return shares in proportion, in steps that add up to `PERCENT`: what is cut off goes to the largest rests."""
    total = sum(shares, Fraction(0))
    exact = [share / total * PERCENT if total else Fraction(PERCENT, len(shares)) for share in shares]
    steps = [int(one) for one in exact]
    order = sorted(range(len(exact)), key=lambda i: steps[i] - exact[i])
    for i in order[: PERCENT - sum(steps)]:
        steps[i] += 1
    return steps


def _amounts(steps: Mapping[int, int], shares: Shares) -> str:
    return ", ".join(f"{shares.targets[j].name}={amount}" for j, amount in steps.items())


def _comments(allocation: Allocation, lines: Sequence[str]) -> list[str]:
    name = allocation.instance.name
    kind = "whole tasks" if allocation.integer else "divisible tasks"
    said = [f"{allocation.policy}, {kind}{f' of {name}' if name else ''}", *lines]
    return [f"<!-- {escape(line).replace('--', '- -')} -->" for line in said]


def _element(start: str, inner: list[str]) -> str:
    tag = start[1:].partition(" ")[0].rstrip(">")
    lines = [f"  {line}" for part in inner for line in part.splitlines()]
    return "\n".join([start, *lines, f"</{tag}>"])


def _queue(name: str) -> str:
    return re.sub(r"[\s.,\x00-\x1f]+", "_", name.strip())
