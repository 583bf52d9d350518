"""Roles of Mesos as ``/roles`` prints them: weights, what is given as the guarantee of a quota, a ceiling as its limit.

    {"roles": [{"name": "eng/dev", "weight": 2, "quota": {"role": "eng/dev",
                "guarantee": {"cpus": 24, "mem": 98304}, "limit": {"cpus": 32}}}]}

A user in a group is a role inside the group's. An operator gives weights to ``PUT /weights`` and quotas to the call
UPDATE_QUOTA, role by role. JSON has no comments, so that what is called otherwise stands under ``comments``.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from ...base.numbers.shown import counted
from ...model.allocation import Allocation
from .amounts import Names, Shares, mesos
from .exports import by_resource
from .kubernetes import heading
from .queues import RULES, exported_queues

__all__ = ["text"]

DEFAULT = "*"
"""The role of frameworks that name none."""


def text(allocation: Allocation, names: Names, lines: list[str]) -> str:
    """Return the roles, groups first.

    Raises
    ------
    InstanceError
        On names of users or resources that Mesos does not take.
    """
    shares = mesos(allocation, names)
    lines += by_resource(allocation, "Mesos")
    queues = exported_queues(allocation, shares, _name, lines, RULES)
    if any(not queue.weight for queue in queues):
        lines.append("a weight of 0 is written as 1: a role's is above 0")
    refused = [queue for queue in queues if queue.parent or queue.label == DEFAULT]
    if refused:
        lines.append(
            f"UPDATE_QUOTA takes no quota of {DEFAULT} or of a role in another: {counted(len(refused), 'role')}"
        )
    roles, paths = [], {"": ""}
    for queue in queues:
        role = f"{paths[queue.parent]}/{queue.label}".lstrip("/")
        if queue.user is None:
            paths[queue.path] = role
        quota: dict[str, Any] = {"role": role, "guarantee": _amounts(queue.steps, shares)}
        quota |= {"limit": _amounts(queue.ceiling, shares)} if queue.ceiling else {}
        roles.append({"name": role, "weight": float(queue.weight) if queue.weight else 1.0, "quota": quota})
    comments = heading(allocation, lines).replace("# ", "").splitlines()
    return json.dumps({"comments": comments, "roles": roles}, indent=2) + "\n"


def _amounts(steps: Mapping[int, int], shares: Shares) -> dict[str, float]:
    return {shares.targets[j].name: float(amount * shares.targets[j].step) for j, amount in steps.items()}


def _name(name: str) -> str:
    """Return a name that Mesos takes for a role: without white space and slashes, a hyphen first, or dots alone."""
    found = re.sub(r"[\s/\\]+", "-", name).lstrip("-")
    return "" if found in (".", "..") else found
