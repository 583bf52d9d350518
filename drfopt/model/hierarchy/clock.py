"""One instance under one policy: what is promised, the states between two stops, and the trajectory from each."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ...base.errors import PolicyError
from ...base.tolerances import LEVEL
from ..instance import Instance
from ..organisation import Group, Organisation
from ..policies import Policy, without_level
from .curves import first_full
from .tree import Branch, BranchPoint, Counted, Leaves, Node, Rank, has_used, members_of, nodes

__all__ = ["Breakpoint", "Clock", "SettledState", "Trajectory"]

MENDINGS = 3
"""Newton steps to the last digit of a stop; the first leaves next to nothing."""

AT_ONCE = 1e-10
"""What two moments may be apart, in tasks of anybody, to be one: a tenth of what an answer may be off by."""

SETTLED = 1e-12
"""Part of what is used that the rounding of a curve hides."""

KEPT = 8
"""Clusters whose promises are kept: one question asks for those of the same a dozen times."""

BEYOND = 2
"""Times what a user could run alone: so far the clock is set to run for who has no limit; it stops before."""


@dataclass(frozen=True, eq=False)
class SettledState:
    """What is settled between two stops: who is finished (n,), bool, what everybody has (n,), and the stage.

    While promises are being kept, `promising` is True.
    """

    promising: bool
    finished: np.ndarray
    has: np.ndarray


@dataclass(frozen=True, eq=False)
class Breakpoint:
    """A stop of the clock: a moment, whom it finishes, and the prices that prove it.

    Attributes
    ----------
    promising : bool
        Whether it is in the stage in which guarantees are kept.
    point : BranchPoint
    finished : int array
        Rows of the instance.
    prices : array (k, m)
        Of the whole capacity of each class; a pool is one class.
    bounds : array (b,)
        Prices of the group ceilings, of each as a whole, in the order of `Clock.ceilings`.
    """

    promising: bool
    point: BranchPoint
    finished: np.ndarray
    prices: np.ndarray
    bounds: np.ndarray

    @property
    def level(self) -> Any:
        """What the clock shows."""
        return self.point.time

    def in_floats(self) -> "Breakpoint":
        """Return the same stop, where it was found in fractions, as near as floats come to it."""
        point = BranchPoint(self.point.phase, float(self.point.time), float(self.point.part))
        prices, bounds = (np.asarray(given, dtype=np.float64) for given in (self.prices, self.bounds))
        return replace(self, point=point, prices=prices, bounds=bounds)


class Trajectory(Branch):
    """The whole cluster at a state: `curve` is what is used as the clock runs, `tasks` what everybody has."""

    def first_stop(self, room: dict[int, Any]) -> tuple[int, Any, list[int]] | None:
        """Return where the clock stops at the latest: the point before, the way to the next, which columns are full.

        None where no column has more than its room.  Of many users a curve adds up a little wrong: in floats the way is
        mended until their tasks fill the column to the last digit, and what is full at once is so to rounding.
        """
        full = first_full(self.curve, room)
        if full is None or self.has.dtype == object:
            return full
        knot, way, (column, *_) = full
        gain = self.curve.use[min(knot + 1, len(self.level) - 1), column] - self.curve.use[knot, column]
        for _ in range(MENDINGS if gain > 0 else 0):
            used = math.fsum((self.tasks(self.point(knot, way)) * self.leaves.use[:, column]).tolist())
            way = min(max(way + (room[column] - used) / gain, 0.0), 1.0)
        use = self.curve.use
        here = use[knot] + (use[min(knot + 1, len(use) - 1)] - use[knot]) * way
        tasks = self.tasks(self.point(knot, way))
        columns = [c for c, most in room.items() if c == column or here[c] >= most * (1 - SETTLED)]
        return knot, way, [c for c in columns if c == column or self._together(tasks, c, room[c])]

    def _together(self, tasks: np.ndarray, column: int, most: Any) -> bool:
        """Say whether, when a column is full, everybody has these tasks: who has next to none is told by its own."""
        full = first_full(self.curve, {column: most})
        if full is None:
            return False
        there = self.tasks(self.point(*full[:2]))
        return bool((abs(there - tasks) <= AT_ONCE * there).all())


@lru_cache(maxsize=KEPT)
def _exactly_promised(instance: Instance, policy: Policy, levelled: Instance) -> np.ndarray:
    """Return the tasks that guarantees are worth, in fractions and then rounded, (n,), read-only."""
    found = Clock(instance, policy, exact=True, levelled=levelled).promised.astype(float)
    found.setflags(write=False)
    return found


class Clock:
    """The definition, for one instance and policy.

    Attributes
    ----------
    columns : array (n, columns)
        What one task uses: the resources, what counts as a task, then each group ceiling.
    room : dict of column to number
        Capacities of the whole cluster, and the ceilings.
    ceilings : tuple of (group, resource)
        The ceilings of groups, as rows of `groups` and of the resources.
    promised : array (n,)
        The tasks that guarantees are worth to each user.
    promising : Clock
        The one that says so: itself, but for whole tasks of which some are left out.
    """

    def __init__(
        self,
        instance: Instance,
        policy: Policy,
        exact: bool = False,
        rounded: bool = False,
        whole: bool = False,
        levelled: Instance | None = None,
    ):
        """Take an instance in floats or fractions; what groups' guarantees are worth may be `rounded` as well.

        Of `whole` tasks guarantees are worth what they are without the types that those leave out.  Users' levels may
        be those of their tasks in another instance, `levelled`.
        """
        if policy.objective != "leximin":
            raise PolicyError(f"{policy.name} makes no levels rise together, which guarantees, tiers and groups need")
        self.instance, self.policy, self.exact, self.levelled = instance, policy, exact, levelled or instance
        self.organisation = instance.organisation or Organisation().settled(
            instance.users, instance.resources, [False] * instance.n
        )
        self.counted = Counted(instance, policy, exact)
        self.zero = self.counted.zero
        self.below = members_of(self.organisation, instance.n)
        demands = np.array(instance.exact_demands, dtype=object) if exact else instance.demands
        self.demands: np.ndarray = demands
        self.ceilings = tuple(
            (group.name, instance.resources.index(resource))
            for group in self.organisation.groups
            for resource in group.ceiling
        )
        self.columns = self._columns()
        self.room = self._room()
        shares = [1 / c if c else self.zero for c in self.counted.capacity]
        rest = [self.zero] * (self.columns.shape[1] - instance.m)
        self.shares = np.array([*shares, *rest])
        self.playing = ~instance.unplaced() & (instance.limits > 0)
        for c in (c for c, most in self.room.items() if c > instance.m and not most):
            self.playing &= self.columns[:, c] == 0  # who is below a ceiling of 0 is at her limit
        self.leaves = self._leaves()
        self.root = self._node("", self.below[""])
        left = instance.without_misfits if whole and self.organisation.promises else instance
        self.promising = self if left is instance else Clock(left, policy, exact, rounded, levelled=instance)
        self.promised: np.ndarray = self._promises(rounded) if left is instance else self.promising.promised
        self.fractions = self._fractions()

    # ---- the clock ------------------------------------------------------------------------------------------------

    def start(self) -> SettledState:
        """Return the state before anybody has anything."""
        none = np.full(self.instance.n, self.zero)
        promising = bool((self.promised[self.playing] > 0).any())
        return SettledState(promising, ~self.playing, none)

    def over(self, state: SettledState) -> bool:
        """Say whether everybody is finished, or at her limit with all promises kept."""
        return not state.promising and not self.rising(state).any()

    def rising(self, state: SettledState) -> np.ndarray:
        """Return who may still get more, bool (n,)."""
        most = self.promised if state.promising else self.leaves.most
        return np.asarray(~state.finished & (state.has < most))

    def trajectory(self, state: SettledState) -> Trajectory:
        """Return what everybody has as the clock runs from a state on."""
        leaves = self.fractions if state.promising else self.leaves
        root = self._flat if state.promising else self.root
        return Trajectory(root, leaves, state.has, self.rising(state))

    def after(self, state: SettledState, tasks: np.ndarray, finished: np.ndarray) -> SettledState:
        """Return the state after a stop with tasks (n,) that finishes some users, rows of the instance.

        Without anybody who may get more the stage of promises is over.
        """
        done = state.finished.copy()
        done[finished] = True
        new = replace(state, finished=done, has=np.where(state.finished, state.has, tasks))
        return replace(new, promising=state.promising and bool(self.rising(new).any()))

    # ---- what there is --------------------------------------------------------------------------------------------

    def levels(self, tasks: np.ndarray) -> np.ndarray:
        """Return the level of every user among her siblings, (n,); 0 for who is unplaced and runs nothing.

        Whole tasks of some of her types may run where others fit nowhere.
        """
        idle = self.instance.unplaced() & ~(tasks > 0)
        return np.where(idle, tasks - tasks, self.leaves.levels(tasks))

    def measured(self, i: int) -> np.ndarray:
        """Return rows (r, m + 1): the level of a user who is promised nothing is the largest of them times its use."""
        weights = self.instance.exact_weights if self.exact else self.instance.weights.tolist()
        return self.counted.rows({}, 1 if self.policy.weights == "none" else weights[i])[0]

    def _number(self, value: Any) -> Any:
        return Fraction(value) if self.exact else float(value)

    def _columns(self) -> np.ndarray:
        extra = [self.counted.of_tasks(self.levelled)]
        for name, j in self.ceilings:
            column = np.full(self.instance.n, self.zero)
            column[self.below[name]] = self.demands[self.below[name], j]
            extra.append(column)
        return np.column_stack([self.demands, *extra])

    def _room(self) -> dict[int, Any]:
        instance = self.instance
        room = dict(enumerate(instance.exact_capacity if self.exact else instance.capacity.tolist()))
        groups = {group.name: group for group in self.organisation.groups}
        for b, (name, j) in enumerate(self.ceilings):
            room[instance.m + 1 + b] = self._number(groups[name].ceiling[instance.resources[j]])
        return room

    def _leaves(self) -> Leaves:
        instance, n = self.instance, self.instance.n
        weights = instance.exact_weights if self.exact else instance.weights.tolist()
        promises = self.organisation.guarantees
        several = instance.weights_per_resource and self.policy.weights != "none"
        if self.policy.weights == "none":
            weights = [1] * n
        alike: dict[Any, list[int]] = {}
        for i in range(n):
            weight = tuple(weights[i]) if several else weights[i]
            alike.setdefault((weight, tuple(promises[i].items())), []).append(i)
        demands: Any = self.levelled.exact_demands if self.exact else self.levelled.demands
        counts = np.column_stack([demands, self.columns[:, instance.m]])
        rows: list[Any] = [None] * n
        offsets: list[Any] = [None] * n
        for (weight, promise), users in alike.items():
            each, offset = self.counted.rows(dict(promise), weight)
            levels = counts[users] @ each.T
            for i, row in zip(users, levels, strict=True):
                rows[i], offsets[i] = row, offset
        found, taken = np.array(rows), np.array(offsets)
        # A resource that a user does not need counts in no level of hers, were it promised to her.
        idle, most = found == 0, found.argmax(axis=1)[:, None]
        found = np.where(idle, np.take_along_axis(found, most, axis=1), found)
        taken = np.where(idle, np.take_along_axis(taken, most, axis=1), taken)
        nothing = np.flatnonzero(self.playing & ~(found > 0).any(axis=1))
        if nothing.size:
            raise PolicyError(without_level(instance.users[nothing[0]]))
        capacity = self.counted.capacity
        if not self.exact:
            room = np.array([float(c) for c in capacity])
            with np.errstate(divide="ignore", invalid="ignore"):
                whole = np.where(self.demands > 0, room / self.demands, np.inf).min(axis=1) * BEYOND
            playing = self.playing
            tops = np.minimum(np.where(playing, whole, 0.0), np.where(playing, instance.limits, np.inf))
            return Leaves(self.columns, found, taken, tops)
        ends, limits = [], instance.exact_limits
        for row, limit, plays in zip(self.demands.tolist(), limits, self.playing.tolist(), strict=True):
            alone = min(c / d for d, c in zip(row, capacity, strict=True) if d) * BEYOND if plays else self.zero
            ends.append(alone if limit is None or not plays else min(limit, alone))
        return Leaves(self.columns, found, taken, np.array(ends))

    def _node(self, name: str, everyone: np.ndarray) -> Node:
        organisation, width = self.organisation, self.instance.m + 1
        users: dict[Rank, list[int]] = {}
        for i in (i for i in everyone.tolist() if organisation.paths[i] == name):
            users.setdefault((-organisation.tiers[i], organisation.last[i]), []).append(i)
        groups: dict[Rank, list[Node]] = {}
        for group in self._children(name):
            rank = (-group.tier, not group.weight)
            groups.setdefault(rank, []).append(self._node(group.name, self.below[group.name]))
        here = next((group for group in organisation.groups if group.name == name), Group("", 1))
        weight = self._number(here.weight or 1)
        rows, offsets = self.counted.rows(here.guarantee, weight)
        if not name:
            rows, offsets = rows[:1] * 0, offsets[:1] * 0
        wide = np.full((len(rows), self.columns.shape[1]), self.zero)
        wide[:, :width] = rows
        lists = {rank: np.array(found, dtype=np.intp) for rank, found in users.items()}
        return Node(name, lists, groups, everyone, wide, offsets, self.shares / weight)

    def _children(self, name: str) -> list[Group]:
        return [group for group in self.organisation.groups if group.parent == name]

    # ---- promises -------------------------------------------------------------------------------------------------

    def _promises(self, rounded: bool) -> np.ndarray:
        """Return the tasks that guarantees are worth, (n,): those of users first, then of groups from the leaves up.

        Whether a resource is used up just when somebody meets her limit is not for rounding to decide.
        """
        instance = self.instance
        if not (self.exact or rounded) and any(group.guarantee for group in self.organisation.groups):
            return _exactly_promised(instance, self.policy, self.levelled)
        found = np.full(instance.n, self.zero)
        for i in (i for i, promise in enumerate(self.organisation.guarantees) if promise and self.playing[i]):
            worth = [
                self._number(amount) / self.demands[i, j]
                for resource, amount in self.organisation.guarantees[i].items()
                if self.demands[i, j := instance.resources.index(resource)]
            ]
            limit = instance.exact_limits[i]
            worth += [] if limit is None or not worth else [self._number(limit)]
            found[i] = min(worth, default=self.zero)
        guarantees = {group.name: group.guarantee for group in self.organisation.groups}
        for node in nodes(self.root):
            if guarantees.get(node.name):
                found = self._worth_to_members(node, guarantees[node.name], found)
        if rounded:
            # Rounding leaves nobody below a limit that she meets.
            found = np.where(np.abs(found - self.leaves.most) <= LEVEL * self.leaves.most, self.leaves.most, found)
        return found

    def _worth_to_members(self, node: Node, guarantee: Any, has: np.ndarray) -> np.ndarray:
        """Return the tasks of members who rise by themselves until the first resource of a guarantee is used up.

        Where nobody who uses one of them can rise any more it ends as well: it promises nothing to who uses none.
        """
        room = {self.instance.resources.index(resource): self._number(amount) for resource, amount in guarantee.items()}
        most = self.leaves.most.copy()
        using = np.zeros(self.instance.n, dtype=bool)
        if self.exact:
            for i in np.flatnonzero(self.playing):
                alone = [amount / self.demands[i, j] for j, amount in room.items() if self.demands[i, j]]
                limit = self.instance.exact_limits[i]
                using[i] = bool(alone)
                most[i] = min([*alone, *([] if limit is None else [self._number(limit)])], default=most[i])
        else:
            needs = self.demands[:, list(room)]
            using = self.playing & (needs > 0).any(axis=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                whole = np.where(needs > 0, np.array(list(room.values())) / needs, np.inf).min(axis=1)
            ends = np.minimum(whole, self.instance.limits)
            most = np.where(self.playing & np.isfinite(ends), ends, most)
        self._let_rise(node, most, using)
        leaves, rising = replace(self.leaves, most=most), self.playing & (has < most)
        used = has_used(leaves, has, node.everyone)
        if not (rising & using)[node.everyone].any() or any(used[j] >= amount for j, amount in room.items()):
            return has
        branch = Branch(node, leaves, has, rising)
        # In floats the curve may end, or stand, a rounding below what its tasks use.
        reached = 1 if self.exact else 1 - SETTLED
        full = first_full(branch.curve, {j: amount * reached for j, amount in room.items()}, reached=True)
        if full is None:
            used = has_used(leaves, branch.tasks(branch.end), node.everyone)
            ends = [first_full(branch.curve, {j: used[j] * reached}, reached=True) for j in room]
            full = max((end for end in ends if end is not None), key=lambda end: end[:2])
        return branch.tasks(branch.point(*full[:2]))

    def _let_rise(self, node: Node, most: np.ndarray, using: np.ndarray) -> Any:
        """Let who uses nothing of a guarantee come to where its users end, in place; return that level, or None.

        In tasks that is no more than rows of her own, or of her group, allow at the level of siblings who use it.  Who
        comes before all of these, and has no limit, would rise for ever: she stays at `BEYOND`.
        """
        ranks, found = sorted({*node.users, *node.groups}), False
        for rank in ranks:
            members = [([i], self.leaves.rows[[i]], self.leaves.offsets[i]) for i in node.users.get(rank, ())]
            ends = [max(rows[0] * most[i] - offsets) for [i], rows, offsets in members if using[i] and self.playing[i]]
            for group in node.groups.get(rank, ()):
                below = group.everyone.tolist()
                members.append((below, self.columns[below] @ group.rows.T, group.offsets))
                end = self._let_rise(group, most, using)
                ends += [] if end is None else [end]
            if not ends:
                continue
            found, top = True, max(ends)
            for below, rows, offsets in members:
                for i, row in zip(below, rows, strict=True):
                    if self.playing[i] and not using[i] and self.instance.exact_limits[i] is None:
                        far = min((top + offset) / one for one, offset in zip(row, offsets, strict=True) if one > 0)
                        most[i] = max(most[i], far)
        if not found:
            return None
        return max(node.rows @ (most[node.everyone] @ self.columns[node.everyone]) - node.offsets)

    def _fractions(self) -> Leaves:
        """Return the users while promises are kept: her level is the part of hers that a user has."""
        some = self.promised > 0
        one = np.where(some, self.promised, self.zero + 1)
        self._flat = replace(self.root, users={(0, False): np.flatnonzero(some & self.playing)}, groups={}, name="")
        return Leaves(self.columns, (1 / one)[:, None], np.full((len(one), 1), self.zero), self.promised)
