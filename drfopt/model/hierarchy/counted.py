"""How a policy measures what a node holds, row by row: the largest row is its level."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...base.errors import PolicyError
from ..instance import Instance
from ..organisation import Organisation
from ..policies import MEASURES, Policy

__all__ = ["Counted"]

RESOURCES = ("dominant", "asset", "single")
"""Measures of amounts of resources; the others are of tasks."""


class Counted:
    """The rows of one policy on one instance, in floats or in fractions.

    Columns are what is held of each resource, and last of all what tasks count for where the policy counts tasks.
    """

    def __init__(self, instance: Instance, policy: Policy, exact: bool):
        self.policy, self.resources = policy, instance.resources
        organisation = instance.organisation or Organisation()
        self.meaning = organisation.meaning
        promised = any(organisation.guarantees) or any(group.guarantee for group in organisation.groups)
        if policy.measure not in RESOURCES:
            self._refuse_amounts(organisation, promised)
        self.zero: Any = instance.exact_capacity[0] * 0 if exact else 0.0
        capacity = instance.exact_capacity if exact else instance.capacity.tolist()
        there = [j for j in range(instance.m) if capacity[j] and instance.resources[j] not in organisation.excluded]
        if policy.measure == "single":
            if policy.argument in organisation.excluded:
                raise PolicyError(f"{policy.name} compares shares of a resource that is excluded from them: drop one")
            there = [j for j in there if instance.resources[j] == policy.argument]
        self.capacity, self.there = capacity, there

    def _refuse_amounts(self, organisation: Organisation, promised: bool) -> None:
        text = "surplus and normalised guarantees" if promised and self.meaning != "floor" else ""
        text = "excluded resources" if organisation.excluded else text
        if text:
            raise PolicyError(
                f"{self.policy.name} counts tasks and not resources, so that {text} mean nothing to it: "
                "use drf or asset, or leave them out"
            )

    def rows(self, guarantee: Mapping[str, Any], weight: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return rows (r, m + 1) and offsets (r,) of a node with this guarantee and weight, one or one a resource."""
        weights = weight if isinstance(weight, list | tuple) else [weight] * len(self.capacity)
        each = []
        for j in self.there:
            unit, offset = self.capacity[j], self.zero
            promised = self.zero + self._number(guarantee.get(self.resources[j], 0))
            if promised and self.meaning == "normalised":
                unit = promised
            if self.meaning == "surplus":
                offset = promised / (unit * weights[j])
            row = np.full(len(self.capacity) + 1, self.zero)
            row[j] = 1 / (unit * weights[j])
            each.append((row, offset))
        # Where nothing that is counted is there, nobody who is placed uses any, and every level is 0.
        each = each or [(np.full(len(self.capacity) + 1, self.zero), self.zero)]
        if self.policy.measure == "asset":
            rows, offsets = zip(*each, strict=True)
            each = [(np.sum(rows, axis=0), sum(offsets, self.zero))]
        elif self.policy.measure not in RESOURCES:
            row = np.full(len(self.capacity) + 1, self.zero)
            row[-1] = 1 / (self.zero + weights[0])
            each = [(row, self.zero)]
        return np.array([row for row, _ in each]), np.array([offset for _, offset in each])

    def of_tasks(self, instance: Instance) -> np.ndarray:
        """Return what one task of each user counts for where tasks are counted, (n,); otherwise 0."""
        if self.policy.measure == "tasks":
            return np.full(instance.n, self.zero + 1)
        if self.policy.measure != "alone":
            return np.full(instance.n, self.zero)
        exact = not isinstance(self.zero, float)
        measure = MEASURES["alone"].machines
        if measure is not None and instance.machines is not None:
            return np.array(measure(instance, exact))
        shares = [
            [d / c if c else self.zero for d, c in zip(row, self.capacity, strict=True)]
            for row in (instance.exact_demands if exact else instance.demands.tolist())
        ]
        return np.array([max(row) for row in shares])

    def _number(self, value: Any) -> Any:
        return float(value) if isinstance(self.zero, float) else value
