"""An allocation and its proof as the data of a certificate file: self-contained, every amount exact.

Schema, version 1 (``"schema": "drfopt certificate 1"``).  Every amount is text such as ``"63/25"``, or ``"0x3f/0x19"``
where it is long, or ``"63/25*L1"``, a multiple of what is long; in a file of floats tasks and levels are numbers.

    schema, program           what this is, and what wrote it
    instance                  the keys of an instance file
    policy, integer           the claim: these tasks are the policy's answer, of whole tasks or divisible ones
    users                     in the instance's order: name, tasks (or lower and upper), level
    placement                 {user: {class: tasks}}, for machines
    types                     {user: [{tasks, placement: {class: tasks}}]} of task types on machines, in their order
    long                      {name: amount}: long amounts that others are multiples of, such as L1
    proof.rounds              leximin: a list of level, finished (names), prices of one unit at that level, and of
                              ceilings of groups {group: {resource: price}}
    proof.promises            markets and sums under rules: rounds that keep the guarantees, of prices alone
    proof.prices              sums, CEEI, alpha: prices of one unit, {resource: price} or {class: {resource: price}}
    proof.ceilings            prices of one unit of the ceilings of groups, beside those of resources
    proof.point               enclosures: an allocation {user: tasks} that is possible, and nearly optimal
    proof.packing             whole tasks on machines: a list of class, machines, tasks of each user on one of them;
                              devices: of each resource those of one machine that are shared, tasks of each user on it
    proof.trees               whole tasks: a tree for each level of a leximin, one of a sum or product; its nodes,
                              a branch (user, or class and load; most; for levels tasks), or a leaf (prices of resources
                              or of tasks, of resources of classes, and multipliers of levels, integers in proportion)

Prices that are 0 are left out.  A pool needs no rounds: its levels are their own proof.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..base.numbers.enclosures import Enclosure, LongNumbers
from ..model.allocation import Allocation
from ..model.document import as_text
from ..model.document import document as instance_document
from ..model.evidence import Evidence, Text
from ..model.instance import Instance
from .verifier import SCHEMA

__all__ = ["certificate_document", "document"]


def _plain(value: Any) -> Any:
    return {"lower": value.lower, "upper": value.upper} if isinstance(value, Enclosure) else value


def certificate_document(allocation: Allocation) -> dict[str, Any]:
    """Return what ``drfopt solve --certificate`` writes, as plain data."""
    found = document(
        allocation.instance,
        allocation.policy,
        allocation.tasks,
        allocation.levels,
        allocation.placement,
        allocation.certificate.evidence,
        integer=allocation.integer,
    )
    return found | ({"types": types} if (types := allocation.types) is not None else {})


def document(
    instance: Instance,
    policy: str,
    tasks: np.ndarray,
    levels: Iterable[Any],
    placement: np.ndarray | None,
    evidence: Evidence,
    *,
    integer: bool = False,
    written: bool = True,
) -> dict[str, Any]:
    """Return the data of a certificate: tasks (n,), placed as (n, k), and what the proof is made of.

    What is not to be `written` keeps its fractions as such, for a verifier in the same program.
    """
    exact = tasks.dtype == object
    long = LongNumbers()
    text: Text = long.text if written else _plain

    def amount(value: Any) -> Any:
        return text(value) if exact else value.item() if isinstance(value, np.generic) else value

    rows = [
        {"name": name, "tasks": amount(x), "level": amount(y)}
        for name, x, y in zip(instance.users, tasks, levels, strict=True)
    ]
    found: dict[str, Any] = {
        "schema": SCHEMA,
        "instance": as_text(instance_document(instance)),
        "policy": policy,
        "integer": integer,
        "users": rows,
    }
    types = instance.type_table
    if placement is not None and types is not None and len(placement) == len(types.owner):
        # Told type by type, as they were placed.
        rows_of = {i: placement[types.owner == i] for i, kinds in enumerate(instance.task_types or ()) if kinds}
        found["types"] = {
            instance.users[i]: [
                {
                    "tasks": amount(sum(row)),
                    "placement": {c: amount(z) for c, z in zip(instance.machine_names, row, strict=True) if z},
                }
                for row in mine
            ]
            for i, mine in rows_of.items()
        }
        placement = types.summed(placement)
    if placement is not None:
        found["placement"] = {
            user: {c: amount(z) for c, z in zip(instance.machine_names, row, strict=True) if z}
            for user, row in zip(instance.users, placement, strict=True)
        }
    found["proof"] = evidence.written(instance, text)
    return found | ({"long": long.table} if long.table else {})
