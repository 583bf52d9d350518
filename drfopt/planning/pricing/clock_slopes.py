"""Slopes where users have task types on machines, guarantees, tiers or groups: the clock, run in a changed cluster.

The stops of the clock (`drfopt.model.hierarchy`) have prices of a unit.  When the room changes a little, each stop is
where the tasks at its moment spend the new room at the same prices, which is found without a program; the division so
found is *proven* like any other: it can be placed (a program), and the stops are replayed by the judge of
`drfopt.certificates.stops`.  Where that fails, something else binds on this side, and the changed cluster is divided
anew.  Slopes are drawn through the division there is and two that are proven, so near that a curve is a line.

Of a market or a sum there are no stops: the changed clusters are divided.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...base.errors import DrfoptError, SolverError
from ...base.numbers.shown import in_full
from ...base.tolerances import LEVEL
from ...certificates.chain import firm
from ...certificates.stops import costs, replayed
from ...engines.hierarchy import stops
from ...engines.problem import Problem
from ...model.allocation import Allocation
from ...model.evidence import StopEvidence
from ...model.hierarchy import BranchPoint, Breakpoint, Clock, SettledState, Trajectory
from ...model.policies import Policy, dominant_rates, policy_named, policy_on
from ...solving.allocating import solve
from .feasible_growth import TIGHT, Grown, Room, slopes_of_rates
from .market_slopes import CURVED
from .units import Unit, fine, grown

__all__ = ["APART", "TOTAL", "Divided", "Near", "divided"]

STEP = 2e-5
"""Part of what there is, at which the clock is run again: a curve is off its line by the square of it, and the rounding
of tasks is this many times as large in a slope."""

APART = 1e-4
"""The same where the changed cluster is divided anew, to the accuracy of its certificate."""

SMALLER, TRIES = 10, 4
"""How much nearer one looks where what binds changes in between, and how often."""

BENT = 1e-2
"""Part of a slope by which two of them may differ before they are called those of two lines."""


TOTAL = policy_named("utilitarian")
"""The policy whose value is the largest sum of dominant shares."""


@dataclass(frozen=True, eq=False)
class Near:
    """Slopes (n,) of tasks and levels for each unit more, and of the sum of dominant shares."""

    tasks: np.ndarray
    levels: np.ndarray
    shares: float


@dataclass(frozen=True, eq=False)
class _Point:
    """A division of a changed cluster: tasks and levels (n,), sum of dominant shares, and its stops.

    Their prices are those of the classes of a `room` (k, m).
    """

    tasks: np.ndarray
    levels: np.ndarray
    shares: float
    breakpoints: tuple[Breakpoint, ...] = ()
    room: Any = None


def divided(allocation: Allocation, skewed: bool = False) -> "Divided":
    """Return who looks at the sides of a unit of an allocation with rules of an organisation, or types on machines.

    `skewed`: see `drfopt.planning.pricing.feasible_growth.skewed`.
    """
    policy = policy_on(allocation.policy, allocation.instance)
    if policy.objective == "leximin":
        return (_Stopped if skewed else _Clocked)(allocation)
    unscaled = policy.alpha == 1 and not allocation.instance.organisation and not skewed
    return (_Unscaled if unscaled else Divided)(allocation)


class Divided:
    """Slopes by dividing changed clusters."""

    part = APART

    def __init__(self, allocation: Allocation):
        self.allocation, self.instance = allocation, allocation.instance
        self.policy: Policy = policy_on(allocation.policy, allocation.instance)
        self.base = _Point(allocation.tasks, allocation.levels, float(allocation.dominant_shares.sum()))
        prices = allocation.prices
        self.prices = np.zeros_like(self.instance.room) if prices is None else np.atleast_2d(prices)
        self.known: dict[tuple[str, str, bool], Near] = {}

    @cached_property
    def largest(self) -> np.ndarray:
        """The tasks (n,) that would have each at the highest level there is; 0 for whom no level counts."""
        tasks, rates = self.allocation.tasks, self.policy.rates(self.instance)
        known = np.isfinite(rates) & (rates > 0)
        highest = (rates[known] * tasks[known]).max(initial=0.0)
        return np.divide(highest, rates, where=known, out=np.zeros_like(tasks))

    def price(self, unit: Unit, more: bool) -> float:
        """Return the shadow price of a unit: of the market, or of the level at which a capacity stops the clock."""
        return float((self.prices * unit.growth).sum())

    def slopes(self, unit: Unit, more: bool) -> Near:
        """Return what `near` does, and look once: a price may ask for both sides."""
        key = unit.kind, unit.name, more
        if key not in self.known:
            self.known[key] = self.near(unit, more)
        return self.known[key]

    def near(self, unit: Unit, more: bool) -> Near:
        """Return the slopes on one side.

        Raises
        ------
        SolverError
            When no two divisions next to the one there is lie on one line with it.
        """
        sign, end = 1.0 if more else -1.0, unit.end(more) / 2
        step, widest = (min(self.part * there, end) for there in (unit.now, unit.whole(self.instance)))
        found: Near | None = None
        still: Near | None = None
        for _ in range(TRIES):
            step = fine(unit, step)
            try:
                far, close = self.at(unit, 2 * sign * step, None), None
                close = self.at(unit, sign * step, far)
            except DrfoptError:
                close = None
            if close is not None:
                line, bent = self._through(close, far, sign * step)
                if bent:
                    # Where something else binds within the smallest step, what comes after it is what can be had.
                    found = _between(close, far, sign * step)
                elif line.tasks.any() or found is not None:
                    return line
                elif step < widest and still is None:
                    # One machine of a million moves nobody by more than tasks are exact to: a part of all may.
                    still, step = line, widest
                    continue
                else:
                    return still or line
            if still is not None:
                return still
            if unit.kind == "machine" and step <= fine(unit, 0.0):
                break
            step /= SMALLER
        if found is None:
            raise SolverError(
                f"no division is proven right {'above' if more else 'below'} {in_full(unit.now)} of {unit.name!r}: "
                "compare two clusters with whatif instead"
            )
        return found

    def _through(self, close: _Point, far: _Point, step: float) -> tuple[Near, bool]:
        """Return the slopes of a parabola through three points, and whether it is too bent to be one line."""

        def slope(name: str) -> Any:
            zero, one, two = (getattr(point, name) for point in (self.base, close, far))
            return (4 * (one - zero) - (two - zero)) / (2 * step)

        first, second = np.abs(close.tasks - self.base.tasks), np.abs(far.tasks - close.tasks)
        noise = LEVEL * np.maximum(self.base.tasks, LEVEL * self.largest)
        if (np.maximum(first, second) <= noise).all():
            # Less than tasks are exact to: another capacity, used up but for a rounding, ends whatever begins here.
            return Near(np.zeros_like(first), slope("levels"), float(slope("shares"))), False
        bent = bool((np.abs(far.tasks - 2 * close.tasks + self.base.tasks) > np.maximum(BENT * first, noise)).any())
        return Near(slope("tasks"), slope("levels"), float(slope("shares"))), bent

    def at(self, unit: Unit, amount: float, other: _Point | None) -> _Point:
        """Return the division with so much more of a unit."""
        cluster, times = grown(self.instance, unit, amount)
        found = solve(cluster, self.policy)
        return _Point(found.tasks / times, found.levels, float(found.dominant_shares.sum()))


class _Unscaled(Divided):
    """The same of CEEI, whose optimum depends on no shares: only what has a price, or lacks, moves anybody.

    More of what costs nothing changes no condition of the optimum, and with less of it what still fits is the best of
    less, too.  So tasks move alike with all units that are the same, or so many times as much, of what has a price.
    """

    def __init__(self, allocation: Allocation):
        super().__init__(allocation)
        self.room = Room(self.instance, self.policy, allocation.tasks)
        self.priced = self.prices > 0
        self.found: dict[tuple, np.ndarray] = {}

    def near(self, unit: Unit, more: bool) -> Near:
        """Return the slopes on one side."""
        instance, tasks = self.instance, self.allocation.tasks
        step = min(2 * self.part * unit.now, unit.end(more) / 2) * (1 if more else -1)
        growth = unit.growth[self.priced]
        size = float(growth.max(initial=0.0)) or 1.0
        key = (more, tuple((growth / size).round(12).tolist()))
        slopes = self.found.get(key, np.zeros(0)) * size if growth.any() else np.zeros(instance.n)
        off = CURVED * self.part**2 if slopes.any() else 2 * TIGHT
        if not slopes.size or self.room.asked(tasks + step * slopes, instance.room + step * unit.growth) > 1 + off:
            found = super().near(unit, more)
            self.found.setdefault(key, found.tasks / size)
            return found
        turned = (slopes_of_rates(policy, instance, unit.growth, more) * tasks for policy in (self.policy, TOTAL))
        levels, shares = (
            turning + policy.rates(instance) * slopes
            for policy, turning in zip((self.policy, TOTAL), turned, strict=True)
        )
        return Near(slopes, levels, float(shares.sum()))


class _Stopped(Divided):
    """The same of a leximin, whose stops tell prices.

    A program in floats would place what has no place where needs are skewed: slopes are by dividing there.
    """

    def __init__(self, allocation: Allocation):
        super().__init__(allocation)
        self.clock = Clock(self.instance, self.policy)
        evidence = allocation.certificate.evidence
        given = evidence.breakpoints if isinstance(evidence, StopEvidence) else None
        # Of a plain leximin the proof is a chain of rounds: its clock is run here.
        found = (
            [breakpoint for breakpoint, _ in stops(Problem(self.instance, self.policy), self.clock)]
            if given is None
            else given
        )
        self.breakpoints = tuple(breakpoint.in_floats() for breakpoint in found)
        self.room = Room(self.instance, self.policy, allocation.tasks)

    def price(self, unit: Unit, more: bool) -> float:
        """Return how the level at which a capacity first stops somebody for good rises, shares staying as they are.

        Where a unit more and a unit less do not move the same, nobody has risen to that stop or a ceiling is met at the
        same time, what it pays is of one side, or of none: the price is then that of the cluster beside this one.
        """
        tied = self._stop is not None and (self._first is None or self._stop[0].bounds.any())
        if tied or self._kinked(unit):
            step = fine(unit, min(STEP * unit.now, unit.end(more) / 4)) * (1 if more else -1)
            try:
                near, far = (self._beside(unit, amount) for amount in (step, 2 * step))
                # Shares are of clusters that have grown; where something else binds in between the nearer price holds.
                return 2 * near - far if abs(near - far) <= BENT * near else near
            except DrfoptError:
                pass  # no division is proven so near
        return self._price(unit, more)

    def _beside(self, unit: Unit, amount: float) -> float:
        """Return the price of a unit where there is so much more, in levels of the cluster as it is."""
        cluster, times = grown(self.instance, unit, amount)
        found = _Stopped(solve(cluster, self.policy))._price(unit, amount > 0)
        return found if self.policy.measure == "tasks" else times * found

    def _kinked(self, unit: Unit) -> bool:
        """Return whether a unit less of something is not known to be the reverse of a unit more."""
        if min(map(unit.end, (True, False))) <= LEVEL * unit.now:
            # With any less of it a task would no longer fit, and a limit may be met right here all the same.
            return True
        try:
            above, below = (self.slopes(unit, more).tasks for more in (True, False))
        except DrfoptError:
            return True
        return bool(np.abs(above - below).max(initial=0.0) > BENT * np.abs([above, below]).max(initial=0.0))

    def _price(self, unit: Unit, more: bool) -> float:
        """Return the price that the stops tell.

        Those of a stop are a bound of it: where several things run out together there are others as well.
        """
        if self._first is None:
            return 0.0
        rising, there, turns, fastest = self._first
        if not more:
            rising, turns = rising * fastest, turns / fastest
        bound, room = float((rising * unit.growth).sum()), self.instance.room
        step = min(self.part * unit.now, unit.end(more) / 2) * (1 if more else -1)
        far = self.room.furthest(there, turns, room + step * unit.growth, bound * step)
        if np.isinf(far):
            # What stopped others before this level gives way first, and the prices of this one do not tell how.
            return bound
        found = far / step
        size = max(bound, found)
        return bound if abs(found - bound) <= BENT * size else found if found > BENT * size else 0.0

    @cached_property
    def _stop(self) -> tuple[Breakpoint, Trajectory] | None:
        """Return the stop at which a capacity first stops somebody for good, and the trajectory to it."""
        state = self.clock.start()
        for breakpoint in self.breakpoints:
            trajectory = self.clock.trajectory(state)
            if not breakpoint.promising and len(breakpoint.finished) and firm(breakpoint.prices).any():
                return breakpoint, trajectory
            state = self.clock.after(state, trajectory.tasks(breakpoint.point), breakpoint.finished)
        return None

    @cached_property
    def _first(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, float] | None:
        """Return by how much that level rises for a unit of a cell more, (k, m), and tasks there and how they turn.

        Of several at that level the slowest rises so; the last is how many times as fast the fastest does, which falls
        below it first.  None where nobody rises to it.
        """
        if self._stop is None:
            return None
        (breakpoint, trajectory), room = self._stop, self.instance.room
        there, before = trajectory.tasks(breakpoint.point), _before(trajectory, breakpoint.point)
        if before is None:
            return None
        # A group's clock runs by its weight: what is priced is the lowest level of those who stop.
        levels = self.clock.levels(there)
        rises = levels - self.clock.levels(before)
        risen = [i for i in breakpoint.finished.tolist() if rises[i] > 0]
        if not risen:
            return None
        least = min(levels[risen])
        lowest = rises[[i for i in risen if levels[i] - least <= LEVEL * abs(least)]]
        turns = (there - before) / float(min(lowest))
        spent = float(_costs(self.clock, firm(breakpoint.prices), breakpoint.bounds) @ turns)
        paid = np.divide(firm(breakpoint.prices), room, where=room > 0, out=np.zeros_like(room))
        return (paid / spent, there, turns, float(max(lowest) / min(lowest))) if spent > 0 else None


class _Clocked(_Stopped):
    """The same by the stops alone."""

    part = STEP

    def __init__(self, allocation: Allocation):
        super().__init__(allocation)
        # By the same arithmetic as the divisions beside it, so that differences have no rounding of another engine.
        self.base = self._run(self.instance.room, self.breakpoints, self.instance.room) or self.base

        self.found: dict[tuple, Near] = {}
        self.followed = True

    def near(self, unit: Unit, more: bool) -> Near:
        """Return the slopes on one side, those of another unit where no stop can tell the two apart."""
        room = self.instance.room
        paid = [
            float((h.prices * np.divide(unit.growth, room, where=room > 0, out=np.zeros_like(room))).sum())
            for h in self.breakpoints
        ]
        # What a user could run alone depends on where something is added; all other rates on how much in all.
        grows = unit.growth if self.policy.measure == "alone" else unit.growth.sum(axis=0)
        key = (more, tuple(grows.ravel().tolist()), tuple(paid))
        if (known := self.found.get(key)) is None:
            self.followed = True
            known = self._near(unit, more)
            # Where other stops lead, they may tell apart what these do not.
            return self.found.setdefault(key, known) if self.followed else known
        # What remains to be seen is whether there is a place for the tasks.
        reach = min(2 * self.part * unit.now, unit.end(more))
        step = reach if more else -reach
        if self.room.asked(self.base.tasks + step * known.tasks, room + step * unit.growth) > 1 + 2 * TIGHT:
            return self._near(unit, more)
        return known

    def _near(self, unit: Unit, more: bool) -> Near:
        """Return the slopes by the stops, or where none can be followed by dividing changed clusters."""
        try:
            return super().near(unit, more)
        except SolverError:
            return Divided(self.allocation).near(unit, more)

    def at(self, unit: Unit, amount: float, other: _Point | None) -> _Point:
        """Return the division with so much more of a unit: by the stops there are, or those of the other division."""
        room = self.instance.room + amount * unit.growth
        # What has a place at both ends of a way has one in between, where the same stops lead all of it.
        between = other is not None and other.breakpoints is self.breakpoints
        found = self._run(room, self.breakpoints, self.instance.room, placed=between)
        self.followed = self.followed and found is not None
        if found is None and other is not None:
            found = self._run(room, other.breakpoints, other.room)
        elif found is None:
            cluster, _ = grown(self.instance, unit, amount)
            breakpoints = tuple(h for h, _ in stops(Problem(cluster, self.policy), Clock(cluster, self.policy)))
            found = self._run(room, breakpoints, room)
        if found is None:
            raise SolverError("what binds changes in between")
        return found

    def _run(
        self, room: np.ndarray, breakpoints: tuple[Breakpoint, ...], of: np.ndarray, placed: bool = False
    ) -> _Point | None:
        """Return the division of a cluster with this room (k, m) that stops lead to, proven; None if it is not.

        That there is a place for the tasks is not asked where it is known (`placed`).

        Prices of the stops are those of whole classes of a room `of`; a unit keeps its price.
        """
        instance: Any = Grown(self.instance, room)
        made = list[Breakpoint]()
        try:
            clock = _RememberingClock(instance, self.policy, rounded=True)
            state = clock.start()
            for breakpoint in breakpoints:
                if clock.over(state):
                    break
                trajectory = clock.trajectory(state)
                prices = np.divide(firm(breakpoint.prices) * room, of, where=of > 0, out=np.zeros_like(room))
                point = trajectory.end
                if len(breakpoint.finished):
                    budget = float(prices.sum() + np.sum(breakpoint.bounds))
                    point = _where(trajectory, _costs(clock, prices, breakpoint.bounds), budget, breakpoint.point)
                made.append(Breakpoint(state.promising, point, breakpoint.finished, prices, breakpoint.bounds))
                state = clock.after(state, trajectory.tasks(point), breakpoint.finished)
            fault = replayed(clock, state.has, tuple(made))
        except DrfoptError:
            return None
        tasks, first = state.has, self.instance.m + 1
        over = any(tasks @ clock.columns[:, c] > most * (1 + TIGHT) for c, most in clock.room.items() if c >= first)
        if fault or over or not (placed or self.room.asked(tasks, room) <= 1 + 2 * TIGHT):
            return None
        return _Point(tasks, clock.levels(tasks), float(dominant_rates(instance) @ tasks), breakpoints, of)


class _RememberingClock(Clock):
    """A clock in floats that goes through the same states twice: to find a division, and to judge it."""

    def __init__(self, *given: Any, **named: Any):
        super().__init__(*given, **named)
        self.known: dict[tuple, Trajectory] = {}

    def trajectory(self, state: SettledState) -> Trajectory:
        key = (state.promising, state.finished.tobytes(), state.has.tobytes())
        return self.known.get(key) or self.known.setdefault(key, super().trajectory(state))


def _between(close: _Point, far: _Point, step: float) -> Near:
    """Return the slopes between two points that lie a step apart."""
    tasks, levels = (far.tasks - close.tasks) / step, (far.levels - close.levels) / step
    return Near(tasks, levels, float(far.shares - close.shares) / step)


def _before(trajectory: Trajectory, point: BranchPoint) -> np.ndarray | None:
    """Return the tasks (n,) at the last point of the curve before a moment at which somebody's are others, or None.

    What is a rounding before tells nothing of how anybody rises.
    """
    there = trajectory.tasks(point)
    for knot in reversed(range(trajectory.knots(point))):
        tasks = trajectory.tasks(trajectory.point(knot))
        if trajectory.phase[knot] != point.phase:
            return None
        if (there - tasks > LEVEL * there).any():
            return tasks
    return None


def _costs(clock: Clock, prices: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Return what a task of each user costs, (n,); 0 for who fits nowhere."""
    price = costs(clock, prices, bounds)
    return np.where(np.isfinite(price), price, 0.0)


def _where(trajectory: Any, price: np.ndarray, budget: float, near: BranchPoint) -> Any:
    """Return the point, probably `near`, at which a trajectory costs a budget: the end where it never does."""
    last = len(trajectory.level) - 1

    def spent(point: int) -> float:
        return float(price @ trajectory.tasks(trajectory.point(point)))

    here = np.flatnonzero(trajectory.phase == near.phase)
    at = int(np.searchsorted(trajectory.curve.time[here], near.time)) + (int(here[0]) if here.size else 0)
    low, high = max(at - 2, 0), min(at + 2, last)
    if not spent(low) <= budget < spent(high):
        low, high = 0, last
        if spent(last) <= budget:
            return trajectory.end
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if spent(middle) <= budget else (low, middle)
    less, more = spent(low), spent(high)
    return trajectory.point(low, min(max((budget - less) / (more - less), 0.0), 1.0) if more > less else 0)
