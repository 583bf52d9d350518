"""Guarantees, tiers and groups of one pool by the reference: its tree and its rows are read from the instance anew."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ...engines.reference.tree_filling import GroupNode, fill
from ...model.instance import Instance
from ...model.policies import Policy

__all__ = ["tasks"]

Rows = Callable[[list[Fraction]], list[Fraction]]


def tasks(instance: Instance, policy: Policy) -> list[Fraction]:
    """Return the exact tasks of everybody, (n,)."""
    tree = _Tree(instance, policy)
    none = [Fraction(0)] * instance.n
    # Who has a limit of 0, or uses what there is nothing of.
    none_of = [any(use for use, most in zip(row, tree.room, strict=True) if most == 0) for row in tree.use]
    out = {i for i in range(instance.n) if tree.most[i] == 0 or none_of[i]}
    promised = tree.promised(out)
    having, stopped = none, out
    if some := [i for i, tasks in enumerate(promised) if tasks and i not in out]:
        parts = GroupNode([((), i) for i in some])
        of_promise = [_part(i, promised[i], instance) for i in range(instance.n)]
        having, stopped = fill(parts, tree.use, tree.room, promised, of_promise, none, sorted(out))
    found, _ = fill(tree.root, tree.use, tree.room, tree.most, tree.rows, having, sorted(stopped))
    return found


def _part(i: int, promised: Fraction, instance: Instance) -> Rows:
    """Measure what a user holds as a part of what is promised, by the first resource that she uses."""
    j = next(j for j, d in enumerate(instance.exact_demands[i]) if d)
    whole = promised * instance.exact_demands[i][j]
    return lambda use: [use[j] / whole]


class _Tree:
    """The instance in the letters of the reference."""

    def __init__(self, instance: Instance, policy: Policy):
        organisation: Any = instance.organisation
        self.instance, self.policy, self.organisation = instance, policy, organisation
        self.resources = {resource: j for j, resource in enumerate(instance.resources)}
        ceilings = [
            (g.name, self.resources[r], most) for g in self.organisation.groups for r, most in g.ceiling.items()
        ]
        count = self._tasks_count()
        self.use = [
            [*row, count[i], *(row[j] if self._below(i, name) else Fraction(0) for name, j, _ in ceilings)]
            for i, row in enumerate(instance.exact_demands)
        ]
        self.room: list[Fraction | None] = [*instance.exact_capacity, None, *(most for _, _, most in ceilings)]
        self.most = instance.exact_limits
        weights = instance.exact_weights
        self.rows = [self._measure(self.organisation.guarantees[i], weights[i]) for i in range(instance.n)]
        self.groups: dict[str, GroupNode] = {}
        self.root = self._group("")

    def promised(self, out: set[int]) -> list[Fraction]:
        """Return the tasks that guarantees are worth."""
        found = [self._promise(i) if i not in out else Fraction(0) for i in range(self.instance.n)]
        for group in reversed(self.organisation.groups):
            if not group.guarantee or not self.groups[group.name].children:
                continue
            room = [group.guarantee.get(r) for r in self.instance.resources] + [None] * (
                len(self.room) - self.instance.m
            )
            members = self.groups[group.name].users()
            used = [sum((found[i] * self.use[i][c] for i in members), Fraction(0)) for c in range(len(room))]
            using = {i for i in members if i not in out and any(self._need(i, r) for r in group.guarantee)}
            if all(most is None or u < most for u, most in zip(used, room, strict=True)):
                alone = [self.most[i] if i in using else self._bounded(i) for i in range(self.instance.n)]
                others = [tasks if i in members else Fraction(0) for i, tasks in enumerate(found)]
                node = self.groups[group.name]
                new, _ = fill(node, self.use, room, alone, self.rows, others, sorted(out), once=True, until=using)
                found = [new[i] if i in members else found[i] for i in range(self.instance.n)]
        return found

    def _below(self, i: int, name: str) -> bool:
        path = self.organisation.paths[i]
        return path == name or path.startswith(name + "/")

    def _bounded(self, i: int) -> Fraction:
        """Return her limit, or what is as good as none: twice what she could run alone."""
        cells = zip(self.instance.exact_demands[i], self.instance.exact_capacity, strict=True)
        alone = 2 * min(c / d for d, c in cells if d)
        limit = self.most[i]
        return alone if limit is None else min(limit, alone)

    def _promise(self, i: int) -> Fraction:
        worth = [amount / d for r, amount in self.organisation.guarantees[i].items() if (d := self._need(i, r))]
        limit = self.most[i]
        return min([*worth, *([] if limit is None else [limit])]) if worth else Fraction(0)

    def _need(self, i: int, resource: str) -> Fraction:
        return self.instance.exact_demands[i][self.resources[resource]]

    def _tasks_count(self) -> list[Fraction]:
        rows = zip(self.instance.exact_demands, strict=True)
        if self.policy.measure != "alone":
            return [Fraction(1) for _ in rows]
        cells = self.instance.exact_capacity
        return [max(d / c if c else Fraction(0) for d, c in zip(row, cells, strict=True)) for (row,) in rows]

    def _measure(self, guarantee: Any, weight: Any) -> Rows:
        instance, meaning = self.instance, self.organisation.meaning
        m = instance.m
        weights = weight if isinstance(weight, tuple) else (weight,) * m
        if self.policy.measure in ("tasks", "alone"):
            return lambda use: [use[m] / weights[0]]
        counted = [
            j
            for r, j in self.resources.items()
            if instance.exact_capacity[j]
            and r not in self.organisation.excluded
            and (self.policy.measure != "single" or r == self.policy.argument)
        ]

        def rows(use: list[Fraction]) -> list[Fraction]:
            found = []
            for j in counted:
                promise = guarantee.get(instance.resources[j], Fraction(0))
                unit = promise if promise and meaning == "normalised" else instance.exact_capacity[j]
                found.append((use[j] - (promise if meaning == "surplus" else 0)) / unit / weights[j])
            return [sum(found, Fraction(0))] if self.policy.measure == "asset" else found

        return rows

    def _group(self, name: str) -> GroupNode:
        o = self.organisation
        children: list = [((-o.tiers[i], o.last[i]), i) for i in range(self.instance.n) if o.paths[i] == name]
        for group in o.groups:
            if group.parent == name:
                children.append(((-group.tier, group.weight == 0), self._group(group.name)))
        here = next((group for group in o.groups if group.name == name), None)
        if here is None:
            return GroupNode(children)
        self.groups[name] = GroupNode(children, self._measure(here.guarantee, here.weight or Fraction(1)))
        return self.groups[name]
