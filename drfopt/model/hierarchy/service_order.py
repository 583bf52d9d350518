"""Who is served next with a whole task under guarantees, tiers and groups: Algorithm 1 of the DRF paper on a tree.

First come those whose next task is within their guarantee, the one who has the smallest part of hers first.  Then, from
the root down, among the children below whom somebody can be served: those of the highest tier (weight 0 after it), and
of these the one whose level is lowest, of equals the one in whom somebody has the lowest rank.  Whoever's next task
would break the ceiling of a group above her is passed over for good, or goes on to her next type.  What a group holds,
and who has several types, is what their tasks use.

This is how YARN's fair scheduler and Mesos walk their trees; levels are compared exactly.

Whose guarantee is not kept: those that do not fit together are kept to one part as far as that goes.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ...base.tolerances import LEVEL
from ..organisation import Broken
from .clock import Clock
from .tree import Node

__all__ = ["TreeLine", "broken", "stages"]

Use = Callable[[int, Any, int], Any]
"""What so many tasks of a user need of a resource."""


def broken(clock: Clock, tasks: np.ndarray, whole: bool = False, use: Use | None = None) -> tuple[Broken, ...]:
    """Return the guarantees of users and of groups that tasks (n,) do not keep, in the order of the file.

    Of `whole` tasks, in fractions, a guarantee is worth those that it is worth in full.  `use` tells what whole tasks
    of a user need, where that is not so many times its demand: of several types some may run and others not.
    """
    clock = clock.promising
    instance, rules, found = clock.instance, clock.organisation, list[Broken]()
    promised = np.floor(clock.promised) if whole else clock.promised
    worth = promised.copy()
    for i, guarantee in enumerate(rules.guarantees):
        if guarantee and instance.unplaced()[i]:
            worth[i] = _asked(clock, i, guarantee) // 1 if whole else _asked(clock, i, guarantee)

    def needs(members: np.ndarray, tasks: np.ndarray, j: int) -> Any:
        if use is None:
            return clock.demands[members, j] @ tasks[members]
        return sum((use(i, tasks[i], j) for i in members.tolist()), clock.zero)

    def missed(owner: str, of_group: bool, members: np.ndarray, guarantee: Any, worth: np.ndarray) -> list[Broken]:
        """Return the guarantee of some members, where of no resource that it lists they hold what it is worth."""
        least = 1 if clock.exact else 1 - LEVEL
        short: dict[str, tuple[Any, Any, Any]] = {}
        for resource, amount in guarantee.items():
            j = instance.resources.index(resource)
            held, most = needs(members, tasks, j), needs(members, worth, j)
            if not most and (tasks[members] < worth[members]).any():
                most = clock.demands[members, j] @ worth[members]  # the first of several types may need none
            owed = min(most, amount if clock.exact else float(amount))
            if not owed:
                continue
            if held >= owed * least:
                return []
            short[resource] = (owed / (amount if clock.exact else float(amount)), held, owed)
        if not short:
            return []
        first = max(short, key=lambda resource: short[resource][0])
        return [Broken(owner, of_group, first, *short[first][1:])]

    for i, guarantee in enumerate(rules.guarantees):
        found += missed(instance.users[i], False, np.array([i]), guarantee, worth)
    for group in rules.groups:
        found += missed(group.name, True, clock.below[group.name], group.guarantee, promised)
    return tuple(found)


def _asked(clock: Clock, i: int, guarantee: dict[str, Any]) -> Any:
    """Return the tasks that a guarantee would be worth to a user whose task fits nowhere."""
    needs = dict(zip(clock.instance.resources, clock.demands[i], strict=True))
    limit = clock.instance.exact_limits[i]
    worth = [
        amount / needs[r] if clock.exact else float(amount) / needs[r] for r, amount in guarantee.items() if needs[r]
    ]
    worth += [] if limit is None else [limit if clock.exact else float(limit)]
    return min(worth, default=clock.zero)


def stages(clock: Clock, limits: Sequence[Fraction | None]) -> list[tuple[list[int], list[Fraction], list[Any]]] | None:
    """Return in which stages users are served who are in no groups: who, levels of one task (n,), most tasks (n,).

    First those who are promised tasks, by the parts of their guarantees; then rank by rank, by their levels: who is
    refused once is out, so nobody's turn comes before all who are served before it are at their limits or out.  None
    where there are groups, or levels that do not start at 0.
    """
    leaves, one = clock.leaves, Fraction(1)
    if clock.root.groups or (leaves.offsets != 0).any():
        return None
    within = [
        min(one * (worth // 1), worth if limit is None else limit)
        for worth, limit in zip(clock.promised, limits, strict=True)
    ]
    parts = [one / worth if worth else one for worth in clock.promised]
    found = [([i for i, most in enumerate(within) if most], parts, within)]
    rates = leaves.rows.max(axis=1).tolist()
    return found + [(users.tolist(), rates, list(limits)) for _, users in sorted(clock.root.users.items())]


class TreeLine:
    """The line for one run of Algorithm 1; see `drfopt.engines.reference.algorithm1.Line`."""

    def __init__(
        self,
        clock: Clock,
        ranks: Sequence[int],
        kinds: Mapping[int, Sequence[Sequence[Fraction]]],
        started: Sequence[Sequence[int]],
    ):
        """Take who comes first of equals (n,), by user what tasks of its several types need, and who has started what.

        Whoever has several types must be promised nothing: the clock knows what that is worth in tasks that are alike.
        """
        self.clock, self.ranks, self.kinds, self.started = clock, ranks, kinds, started
        instance = clock.instance
        # Of several types one that fits nowhere is left out; of divisible tasks it keeps all of them from running.
        self.waiting = ~instance.unplaced(integer=True) & (instance.limits > 0)

    def take(self) -> int | None:
        """Take out the user whose turn it is; None when nobody is left."""
        if not self.waiting.any():
            return None
        i = self._next()
        self.waiting[i] = False
        return i

    def back(self, i: int) -> None:
        """Put back a user, who may have more tasks now."""
        self.waiting[i] = True

    def _next(self) -> int:
        promised = self.clock.promised
        needy = [i for i in np.flatnonzero(self.waiting).tolist() if self._tasks(i) + 1 <= promised[i]]
        if needy:
            return min(needy, key=lambda i: (self._tasks(i) / promised[i], self.ranks[i]))
        node = self.clock.root
        while True:
            found = self._lowest(node)
            if isinstance(found, int):
                return found
            node = found

    def _lowest(self, node: Node) -> Node | int:
        """Return the child whose turn it is."""
        children: list[tuple[tuple, Node | int]] = [
            ((rank, self._level(i), self.ranks[i]), i)
            for rank, users in node.users.items()
            for i in users[self.waiting[users]].tolist()
        ]
        for rank, groups in node.groups.items():
            for group in groups:
                below = group.everyone[self.waiting[group.everyone]]
                if below.size:
                    first = min(self.ranks[i] for i in below.tolist())
                    children.append(((rank, self._level(group), first), group))
        return min(children, key=lambda child: child[0])[1]

    def _tasks(self, i: int) -> Fraction:
        return Fraction(sum(self.started[i]))

    def _level(self, node: Node | int) -> Fraction:
        if isinstance(node, int):
            leaves = self.clock.leaves
            if node in self.kinds:
                rows = self.clock.measured(node) @ self._use_of(node)[: self.clock.instance.m + 1]
            else:
                rows = leaves.rows[node] * self._tasks(node) - leaves.offsets[node]
        else:
            rows = node.rows @ self._used(node.everyone) - node.offsets
        return max(rows.tolist())

    def _used(self, users: np.ndarray) -> np.ndarray:
        """Return what some users use of every column of the clock."""
        alike = np.array([i not in self.kinds for i in users.tolist()], dtype=bool)
        tasks = np.array([self._tasks(i) for i in users[alike].tolist()], dtype=object)
        used = np.asarray(tasks @ self.clock.columns[users[alike]])
        return sum((self._use_of(i) for i in users[~alike].tolist()), used)

    def _use_of(self, i: int) -> np.ndarray:
        """Return the same of a user with several types: by ceiling what it uses below the group."""
        clock, m = self.clock, self.clock.instance.m
        rows = zip(self.started[i], self.kinds[i], strict=True)
        amounts = sum(
            (count * np.array(row, dtype=object) for count, row in rows), np.full(m, Fraction(0), dtype=object)
        )
        below = [amounts[j] if i in clock.below[name] else Fraction(0) for name, j in clock.ceilings]
        return np.array([*amounts, clock.columns[i, m] * self._tasks(i), *below], dtype=object)

    def bars(self, i: int, demand: Sequence[Fraction]) -> bool:
        """Say whether a task that needs so much would break the ceiling of a group above its user."""
        clock = self.clock
        for column, (name, j) in enumerate(clock.ceilings, start=clock.instance.m + 1):
            below = clock.below[name]
            if demand[j] and i in below and self._used(below)[column] + demand[j] > clock.room[column]:
                return True
        return False
