"""The tree of groups, and what a node's members have at each level of the node, as a policy measures it."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...base.errors import PolicyError, SolverError
from ..arrays import SMALLEST
from ..instance import Instance
from ..organisation import Organisation
from ..policies import Policy
from .curves import Curve, Segments, envelope, joined, snapped, summed

__all__ = ["Branch", "BranchPoint", "Counted", "Leaves", "Node", "closed_by", "members_of", "nodes"]

ROUNDING = 2.0**-50
"""Part of what a level is above, within which it is at it: tasks and shares are each rounded."""

Rank = tuple[int, bool]
"""Lower ones are served first: the tier with its sign turned, and whether the weight is 0."""


@dataclass(frozen=True, eq=False)
class Node:
    """A group, or the root with no name: users directly in it and groups below it, each with its rank among siblings.

    `rows` (r, columns) and `offsets` (r,) measure what all its users hold: its level is the largest of
    ``rows @ use - offsets``, which is below 0 where less than is promised is held of all of them.  `shares` (columns,)
    counts a unit of each resource as a part of its capacity, by the weight: how far a jump has come.
    """

    name: str
    users: dict[Rank, np.ndarray]
    groups: dict[Rank, list["Node"]]
    everyone: np.ndarray
    rows: np.ndarray
    offsets: np.ndarray
    shares: np.ndarray


@dataclass(frozen=True)
class BranchPoint:
    """A moment of a branch: which rank is rising, its level, and what those who jump at that level have gained."""

    phase: int
    time: Any
    part: Any


def members_of(organisation: Organisation | None, n: int) -> dict[str, np.ndarray]:
    """Return the users below each group, the root "" included, as rows of the instance."""
    if organisation is None:
        return {"": np.arange(n)}
    found: dict[str, list[int]] = {group.name: [] for group in organisation.groups}
    for i, path in enumerate(organisation.paths):
        while path:
            found[path].append(i)
            path = path.rpartition("/")[0]
    return {"": np.arange(n)} | {name: np.array(rows, dtype=np.intp) for name, rows in found.items()}


def closed_by(instance: Instance) -> dict[int, tuple[str, ...]]:
    """Return the names of the groups' ceilings of 0 below which a user can run nothing, by user."""
    organisation, found = instance.organisation, dict[int, tuple[str, ...]]()
    below = members_of(organisation, instance.n)
    for group in organisation.groups if organisation is not None else ():
        for resource in (resource for resource, most in group.ceiling.items() if not most):
            members = below[group.name]
            for i in members[instance.demands[members, instance.resources.index(resource)] > 0].tolist():
                found[i] = (*found.get(i, ()), f"{group.name} ceiling of {resource}")
    return found


def nodes(node: Node) -> Iterator[Node]:
    """Yield all groups below a node, children before their parents, and the node itself last."""
    for groups in node.groups.values():
        for group in groups:
            yield from nodes(group)
    yield node


@dataclass(frozen=True, eq=False)
class Leaves:
    """What is known of users by themselves, whatever the moment.

    Attributes
    ----------
    use : array (n, columns)
        What one task takes of every column.
    rows, offsets : arrays (n, r)
        The level of user i with x tasks is the largest of ``rows[i] * x - offsets[i]``.
    most : array (n,)
        Her limit, or more tasks than the cluster can hold.
    """

    use: np.ndarray
    rows: np.ndarray
    offsets: np.ndarray
    most: np.ndarray

    def levels(self, tasks: np.ndarray) -> np.ndarray:
        """Return the level of every user with these tasks, (n,)."""
        levels = (self.rows * tasks[:, None] - self.offsets).max(axis=1)
        noise = ROUNDING * self.offsets.max(axis=1) if levels.dtype == float else 0
        return np.where(np.abs(levels) > noise, levels, tasks - tasks)

    def segments(self, users: np.ndarray, has: np.ndarray) -> list[Segments]:
        """Return how some users rise from what they have, as a function of their own level."""
        bent = (self.offsets[users] != 0).any(axis=1)
        straight, rest = users[~bent], users[bent]
        rates = self.rows[straight].max(axis=1)
        gain = self.use[straight] * (self.most - has)[straight, None]
        pieces = [_pieces(rates * has[straight], rates * self.most[straight], gain)]
        for i in rest.tolist():
            zero = has[i] - has[i]
            ends = Curve(np.array([zero, zero + 1]), np.array([zero, zero]), np.array([[has[i]], [self.most[i]]]))
            curve, levels = envelope(ends, self.rows[i][:, None], self.offsets[i])
            tasks = curve.use[:, 0]
            pieces.append(_pieces(levels[:-1], levels[1:], np.diff(tasks)[:, None] * self.use[i]))
        return pieces

    def at(self, users: np.ndarray, has: np.ndarray, level: Any) -> np.ndarray:
        """Return the tasks of some users at a common level, (users,)."""
        low, top = has[users], self.most[users]
        rows, offsets = self.rows[users], self.offsets[users]
        counted = rows > 0
        one = np.where(counted, rows, rows + 1)
        tasks = np.where(counted, (offsets + level) / one, top[:, None]).min(axis=1)
        ends = (rows * top[:, None] - offsets).max(axis=1)
        return np.where(level >= ends, top, np.minimum(np.maximum(tasks, low), top))


def _pieces(begin: np.ndarray, end: np.ndarray, gain: np.ndarray) -> Segments:
    """Return segments of users, none of whom rises at one level."""
    zero = begin - begin
    return Segments(begin, end, gain, np.column_stack([zero, zero]))


class Branch:
    """A node at a state: how what its users hold grows with its level."""

    def __init__(self, node: Node, leaves: Leaves, has: np.ndarray, rising: np.ndarray):
        """Take a node whose users have tasks (n,), of whom some are `rising` (n,), bool: not finished, below limits."""
        self.node, self.leaves, self.has = node, leaves, has
        self.users: list[np.ndarray] = []
        self.branches: list[list[Branch]] = []
        for rank in sorted({*node.users, *node.groups}):
            users = node.users.get(rank, np.zeros(0, dtype=np.intp))
            users = users[rising[users]]
            groups = [group for group in node.groups.get(rank, ()) if rising[group.everyone].any()]
            if len(users) or groups:
                self.users.append(users)
                self.branches.append([Branch(group, leaves, has, rising) for group in groups])
                offset = max((group.offsets.max() for group in groups), default=0)
                levels = snapped([branch.level for branch in self.branches[-1]], offset)
                for branch, level in zip(self.branches[-1], levels, strict=True):
                    branch.level = level
        self._rise()

    def _rise(self) -> None:
        node = self.node
        base = has_used(self.leaves, self.has, node.everyone)
        curves, levels, phases = [], [], []
        for phase, (users, branches) in enumerate(zip(self.users, self.branches, strict=True)):
            pieces = self.leaves.segments(users, self.has) + [branch.segments() for branch in branches]
            curve, level = envelope(summed(base, joined(pieces)), node.rows, node.offsets)
            curves.append(curve)
            levels.append(level)
            phases.append(np.full(len(level), phase))
            base = curve.use[-1]
        self.phase = np.concatenate(phases)
        self.level = np.maximum.accumulate(np.concatenate(levels))
        self.curve = Curve(
            np.concatenate([curve.time for curve in curves]),
            np.concatenate([curve.part for curve in curves]),
            np.concatenate([curve.use for curve in curves]),
        )

    def segments(self) -> Segments:
        """Return how its users rise, as a function of its level."""
        gained = self._gained()
        parts = np.column_stack([gained[:-1], gained[1:]])
        return Segments(self.level[:-1], self.level[1:], np.diff(self.curve.use, axis=0), parts)

    def _gained(self) -> np.ndarray:
        """Return what is gained since it has its level at each point, (points,): the sum of shares, by its weight."""
        held = self.curve.use @ self.node.shares
        first = np.searchsorted(self.level, self.level, "left")
        return np.asarray(held - held[first])

    def point(self, knot: int, way: Any = 0) -> BranchPoint:
        """Return the moment at a point of the curve, or on the way from it to the next, 0 to 1."""
        time, part = self.curve.time, self.curve.part
        if not way:
            return BranchPoint(int(self.phase[knot]), time[knot], part[knot])
        begin, end = time[knot], time[knot + 1]
        if begin == end:
            return BranchPoint(int(self.phase[knot]), begin, part[knot] + (part[knot + 1] - part[knot]) * way)
        return BranchPoint(int(self.phase[knot]), begin + (end - begin) * way, begin - begin)

    def knots(self, point: BranchPoint) -> int:
        """Return how many points of the curve are not after a moment."""
        after = (self.phase > point.phase) | (
            (self.phase == point.phase)
            & ((self.curve.time > point.time) | ((self.curve.time == point.time) & (self.curve.part > point.part)))
        )
        return int(np.count_nonzero(~after))

    @property
    def end(self) -> BranchPoint:
        """The last moment, at which all its users are at their limits."""
        return self.point(len(self.level) - 1)

    def reached(self, level: Any, part: Any) -> BranchPoint:
        """Return the moment at which the node has a level, and has gained so much since, or all it can."""
        levels = self.level
        first = int(np.searchsorted(levels, level, "left"))
        after = int(np.searchsorted(levels, level, "right"))
        if after == 0 or first == len(levels):
            return self.point(min(first, len(levels) - 1))
        if first == after:
            return self.point(first - 1, (level - levels[first - 1]) / (levels[first] - levels[first - 1]))
        if after - first == 1 or part <= 0:
            return self.point(first)
        gained = self._gained()[first:after]
        k = min(int(np.searchsorted(gained, part, "right")) - 1, after - first - 1)
        if k == after - first - 1 or gained[k] == part:
            return self.point(first + k)
        return self.point(first + k, (part - gained[k]) / (gained[k + 1] - gained[k]))

    def tasks(self, point: BranchPoint) -> np.ndarray:
        """Return what everybody has at a moment of this branch, (n,)."""
        tasks = self.has.copy()
        self._put(tasks, point)
        return tasks

    def lost(self, point: BranchPoint) -> np.ndarray:
        """Return whose level at a moment of this branch, past its beginning, is below what floats hold, bool (n,)."""
        lost = np.zeros(len(self.has), dtype=bool)
        self._lose(lost, point)
        return lost

    def _lose(self, lost: np.ndarray, point: BranchPoint) -> None:
        if not point.part and 0 <= point.time < SMALLEST:
            users = self.users[point.phase]
            lost[users] = ~(self.leaves.offsets[users] != 0).any(axis=1)
        for branch in self.branches[point.phase]:
            # While others jump, who does not stands where it began.
            jumps = point.part and np.count_nonzero(branch.level == point.time) > 1
            if jumps or point.time > branch.level[0]:
                inner = branch.reached(point.time, point.part)
                # Where one of its ranks has come to an end, the next has nothing yet.
                if not inner.phase or inner.time or inner.part or point.time not in branch.level:
                    branch._lose(lost, inner)

    def _put(self, tasks: np.ndarray, point: BranchPoint) -> None:
        over = point == self.end  # where no rounding leaves anybody a little below a limit
        for phase, (users, branches) in enumerate(zip(self.users, self.branches, strict=True)):
            if over or phase < point.phase:
                tasks[users] = self.leaves.most[users]
                for branch in branches:
                    branch._put(tasks, branch.end)
            elif phase == point.phase:
                tasks[users] = self.leaves.at(users, self.has, point.time)
                for branch in branches:
                    branch._put(tasks, branch.reached(point.time, point.part))


def has_used(leaves: Leaves, has: np.ndarray, users: np.ndarray) -> np.ndarray:
    """Return what some users hold with their tasks, (columns,)."""
    return has[users] @ leaves.use[users]


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
        if policy.measure not in RESOURCES:
            self._refuse_amounts(organisation.promises)
        self.zero: Any = instance.exact_capacity[0] * 0 if exact else 0.0
        capacity = instance.exact_capacity if exact else instance.capacity.tolist()
        there = [j for j in range(instance.m) if capacity[j] and instance.counted[j]]
        if policy.measure == "single":
            if policy.argument in organisation.excluded:
                raise PolicyError(f"{policy.name} compares shares of a resource that is excluded from them: drop one")
            there = [j for j in there if instance.resources[j] == policy.argument]
        self.capacity, self.there = capacity, there

    def _refuse_amounts(self, promised: bool) -> None:
        if promised and self.meaning != "floor":
            raise PolicyError(
                f"{self.policy.name} counts tasks and not resources, so that surplus and normalised guarantees mean "
                "nothing to it: use drf or asset, or leave them out"
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
                offset = promised / self._in_range(unit * weights[j], f"{self.resources[j]!r} and the weight")
            row = np.full(len(self.capacity) + 1, self.zero)
            row[j] = 1 / self._in_range(unit * weights[j], f"{self.resources[j]!r} and the weight")
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
        plain = replace(self.policy, weights="none")
        return np.array(plain.rates(instance) if isinstance(self.zero, float) else plain.exact_rates(instance))

    def _in_range(self, value: Any, of_what: str) -> Any:
        """Return a divisor that floats can hold, and one by it as well."""
        if isinstance(self.zero, float) and not sys.float_info.min <= value <= 1 / sys.float_info.min:
            raise SolverError(
                f"an amount of {of_what} by which it counts multiply to {value:.0e}, beyond what floats can hold: "
                "ask for exact=True"
            )
        return value

    def _number(self, value: Any) -> Any:
        return float(value) if isinstance(self.zero, float) else value
