"""Guarantees, tiers and groups: the stops of the clock of `drfopt.model.hierarchy`, replayed with the tasks.

What everybody has at a stop follows from who finished before it.  A stop is right when

*   nobody's tasks are fewer than what she has there: then the clock could get so far, since the answer is possible;
*   the prices of capacities and ceilings, none negative, are spent: ``sum of prices = sum_i q_i x_i``, q_i being what
    a task of user i costs on her cheapest class, each type of hers on its own.  Then in no possible allocation does
    somebody with ``q_i > 0`` have more while nobody has less: the clock could not go on for them, and some of them are
    finished;
*   whoever must pay, ``q_i > 0``, has not more than at the stop.

A stop that finishes nobody is the end of what can rise: all are at their limits, or all promises are kept.  After the
last, everybody is finished or at her limit.

What rounding leaves of the money unspent is shared out as in `drfopt.certificates.chain`: a user could rise by as much
as it pays for.  What rounding leaves of a full resource is nobody's: whoever rises on it alone may have to stop before.
And who is stopped with nothing may have no right to nothing: either the point at which its turn comes costs more than
there is, rounding aside, or promises and limits alone, in fractions, fill what it needs.
"""

from bisect import bisect_left
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from ..base.numbers.shown import changing
from ..base.tolerances import CAPACITY, LEVEL
from ..model.arrays import SMALLEST
from ..model.certificate import Certificate
from ..model.evidence import StopEvidence
from ..model.hierarchy import Breakpoint, Clock, SettledState, Trajectory
from ..model.hierarchy.tree import closed_by
from ..model.instance import Instance
from .chain import cheapest_costs, excess, firm, one_or_all, pays, unit_costs
from .feasibility import infeasibility

__all__ = ["certify", "costs", "exact_room", "exceeded", "floors", "kinds", "replayed"]

HIDDEN = float(np.finfo(float).eps)
"""Part of all money that the rounding of tasks and of their sum can hide."""

FULL = 8 * HIDDEN
"""Part of a capacity or ceiling that the rounding of what is used of it can hide."""


def certify(
    clock: Clock, tasks: np.ndarray, placement: np.ndarray | None, breakpoints: tuple[Breakpoint, ...]
) -> Certificate:
    """Return the certificate of tasks (n,), placed as (n, k); of `Fraction`s it is exact."""
    replay = _Replay(clock, tasks)
    fault = replay.impossible(placement)
    for number, breakpoint in enumerate(breakpoints, start=1):
        fault = fault or replay.stop(breakpoint, f"stop {number}")
    fault = fault or replay.unfinished()
    violation = float("inf") if fault else float(replay.violations.max())
    valid = not fault and violation <= (0 if clock.exact else LEVEL)
    if not fault and not valid:
        i = int(replay.violations.argmax())
        fault = f"user {clock.instance.users[i]!r} could have more, or should have less, by {violation:.1e} of it"
    return Certificate(
        kind="stops",
        valid=valid,
        violation=violation,
        gap=0.0 if clock.exact else None,
        stopped_by=partial(_bottlenecks, clock, tasks, breakpoints),
        evidence=StopEvidence(breakpoints=breakpoints),
        reason=fault,
        rigorous=clock.exact,
    )


def floors(clock: Clock, tasks: np.ndarray, breakpoints: tuple[Breakpoint, ...]) -> tuple[np.ndarray, np.ndarray, str]:
    """Return the tasks with which the stage of promises ends (n,), whom it stops, and which stop is wrong, in words.

    That they are possible is known from `tasks`, which are possible and must be no fewer.
    """
    replay = _Replay(clock, np.zeros(len(tasks)))
    has, stopped, fault = _last(clock, breakpoints)
    replay.tasks = has
    for number, breakpoint in enumerate(breakpoints, start=1):
        fault = fault or replay.stop(breakpoint, f"stop {number} of the guarantees")
    if not fault and replay.state.promising:
        fault = "the stops do not say how far all guarantees are kept"
    if not fault and (worst := float(replay.violations.max(initial=0.0))) > (0 if clock.exact else LEVEL):
        i = int(replay.violations.argmax())
        fault = f"the guarantee of user {clock.instance.users[i]!r} is not proven to be kept so far: {worst:.1e}"
    if not fault and (short := np.flatnonzero(tasks < has * (1 if clock.exact else 1 - CAPACITY))).size:
        fault = f"user {clock.instance.users[short[0]]!r} has less than its guarantee is worth"
    return has, stopped, fault


def replayed(clock: Clock, tasks: np.ndarray, breakpoints: tuple[Breakpoint, ...]) -> str:
    """Return what the stops lack to prove tasks (n,), in words; whether these are possible is not asked."""
    replay, fault = _Replay(clock, tasks), ""
    for number, breakpoint in enumerate(breakpoints, start=1):
        fault = fault or replay.stop(breakpoint, f"stop {number}")
    fault = fault or replay.unfinished()
    worst = float(replay.violations.max(initial=0.0))
    return fault or (f"somebody is off by {worst:.1e}" if worst > (0 if clock.exact else LEVEL) else "")


def _last(clock: Clock, breakpoints: tuple[Breakpoint, ...]) -> tuple[np.ndarray, np.ndarray, str]:
    """Return what everybody has after some stops of the stage of promises, and who is stopped."""
    state = clock.start()
    for breakpoint in breakpoints:
        if not breakpoint.promising or not state.promising:
            return state.has, state.finished, "a stop belongs to another stage than that of guarantees"
        state = clock.after(state, clock.trajectory(state).tasks(breakpoint.point), breakpoint.finished)
    return state.has, state.finished, ""


def exceeded(clock: Clock, tasks: np.ndarray, placement: np.ndarray | None) -> str:
    """Return which capacity, limit or ceiling tasks (n,) do not keep, in words; "" where all hold."""
    return _Replay(clock, tasks).impossible(placement)


class _Replay:
    """The clock run again: the state between two stops, and what was found to be wrong so far, (n,), relative."""

    def __init__(self, clock: Clock, tasks: np.ndarray):
        self.clock, self.tasks = clock, tasks
        self.state: SettledState = clock.start()
        self.violations = np.zeros(len(tasks))
        if not clock.exact:
            uses = np.where(clock.columns > 0, clock.columns, np.inf).min(axis=1, initial=1)
            self.smallest = SMALLEST / uses

    def impossible(self, placement: np.ndarray | None) -> str:
        """Return which capacity, limit or ceiling does not hold, in words."""
        clock, instance, tasks = self.clock, self.clock.instance, self.tasks
        allowed = 0 if clock.exact else CAPACITY
        if clock.exact:
            over = [c for c, most in clock.room.items() if tasks @ clock.columns[:, c] > most]
            if over or (tasks < 0).any() or (tasks > clock.leaves.most).any() or tasks[~clock.playing].any():
                return "a capacity, limit or ceiling does not hold"
            return _misplaced(instance, tasks, placement)
        worst, reason = infeasibility(instance, tasks, placement)
        if worst > allowed:
            return reason
        for c, (name, j) in enumerate(clock.ceilings, start=instance.m + 1):
            used, most = tasks @ clock.columns[:, c], clock.room[c]
            if used > most * (1 + allowed):
                used, most = changing(float(used), float(most))
                return f"the ceiling of group {name!r} for {instance.resources[j]!r}, {most}, is exceeded: {used}"
        above = np.flatnonzero((tasks > clock.leaves.most * (1 + allowed)) | (~clock.playing & (tasks != 0)))
        return f"user {instance.users[above[0]]!r} is above its limit or ceiling" if above.size else ""

    def stop(self, breakpoint: Breakpoint, name: str) -> str:
        """Replay a stop; return what it lacks beyond rounding, in words."""
        clock, state, tasks = self.clock, self.state, self.tasks
        if breakpoint.promising != state.promising or not clock.rising(state).any():
            return f"{name} belongs to another stage than that reached"
        trajectory = clock.trajectory(state)
        there = trajectory.tasks(breakpoint.point)
        waiting = ~state.finished
        self._wrong(waiting, there - tasks, tasks)
        if not clock.exact:
            if (lost := self._lost(trajectory, breakpoint, there)).any():
                user = clock.instance.users[lost.argmax()]
                return f"{name} leaves user {user!r} less than floats can hold: ask for exact=True"
            self._undecided(trajectory, breakpoint, there)
        if not len(breakpoint.finished):
            if breakpoint.point != trajectory.end:
                return f"{name} finishes nobody, and the clock could go on"
        else:
            if float(breakpoint.prices.min()) < 0 or float(min(breakpoint.bounds, default=0)) < 0:
                return f"{name} has a negative price"
            prices, bounds = self._firm(breakpoint)
            price = costs(clock, prices, bounds)
            paying = np.flatnonzero(waiting & (price > 0) & (price < np.inf))
            if astray := sorted({*breakpoint.finished.tolist()} - {*paying.tolist()}):
                return f"{name} finishes user {clock.instance.users[astray[0]]!r}, who pays nothing there"
            left = self._unspent(prices, bounds, price, there)
            done = np.asarray(breakpoint.finished, dtype=np.intp)
            self.violations[done] = np.maximum(self.violations[done], self._could_rise(left, price, there, done))
            if not clock.exact:
                money = float(prices.sum() + bounds.sum())
                spent = np.where(price < np.inf, price, 0)
                at_once = self._priced(prices, bounds) if clock.instance.machines is None else []
                if fault := self._begun(trajectory, spent, money, there, done[there[done] == 0], at_once):
                    return f"{name} {fault}"
                risen = np.where(waiting & (price < np.inf), there - state.has, 0)
                self._hidden(risen, np.where(risen > 0, price, 0), money, there, done)
            self._wrong(np.isin(np.arange(len(tasks)), paying), tasks - there, tasks)
        finished = np.zeros(len(tasks), dtype=bool)
        finished[breakpoint.finished] = True
        self.state = clock.after(state, np.where(finished, tasks, there), breakpoint.finished)
        return ""

    def unfinished(self) -> str:
        """Say who is left over after the last stop; compare everybody's tasks with those of the clock."""
        clock, state = self.clock, self.state
        if not clock.over(state):
            left = np.flatnonzero(clock.rising(state))
            return f"user {clock.instance.users[left[0]]!r} is neither finished nor at its limit"
        everybody = np.ones(len(self.tasks), dtype=bool)
        self._wrong(everybody, np.abs(state.has - self.tasks), self.tasks)
        if not clock.exact:
            self._cancelled()
        return ""

    def _wrong(self, who: np.ndarray, amount: np.ndarray, size: np.ndarray) -> None:
        """Hold an amount that should not be above 0 against some users, relative to what they have."""
        over = who & (amount > 0)
        if self.clock.exact:
            self.violations[over] = np.inf
        elif over.any():
            relative = np.divide(amount, size, where=size > 0, out=np.full(len(size), np.inf))
            self.violations[over] = np.maximum(self.violations[over], relative[over])

    def _cancelled(self) -> None:
        """Count what rounding leaves of a surplus that begins at a guarantee beyond all there is."""
        instance, tasks = self.clock.instance, self.tasks
        rules = instance.organisation
        if rules is None or rules.meaning != "surplus":
            return
        promised = [(np.array([i]), own) for i, own in enumerate(rules.guarantees) if own]
        promised += [(self.clock.below[group.name], group.guarantee) for group in rules.groups if group.guarantee]
        total = instance.capacity
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.nan_to_num(np.where(total > 0, instance.demands / total, 0)).max(axis=1) * tasks
        for users, guarantee in promised:
            parts = [
                float(most) / total[j]
                for j, r in enumerate(instance.resources)
                if (most := guarantee.get(r)) and total[j]
            ]
            if (beyond := sum(parts)) > 1:
                rounding = np.zeros(len(tasks))
                rounding[users] = HIDDEN * beyond
                self._wrong(rounding > 0, np.where(tasks > 0, rounding, 0), shares)

    def _lost(self, trajectory: Trajectory, breakpoint: Breakpoint, there: np.ndarray) -> np.ndarray:
        """Return who rises and has a level, or an amount of something, near the end of the range of floats, (n,)."""
        point = breakpoint.point
        begun = bool(point.time or point.part)
        lost = trajectory.lost(point) if begun else np.zeros(len(there), dtype=bool)
        return np.asarray(lost | (~self.state.finished & (there > 0) & (there < self.smallest)))

    def _hidden(self, risen: np.ndarray, price: np.ndarray, money: float, there: np.ndarray, done: np.ndarray) -> None:
        """Count for those who are done what rounding hides: of who rose since the last stop all live on what is left.

        Where that is a rounding of what others hold, it may be nothing.
        """
        spent = float(price @ risen)
        if spent > 0:
            part = np.divide(risen[done], there[done], where=there[done] > 0, out=np.zeros(len(done)))
            self.violations[done] = np.maximum(self.violations[done], HIDDEN * money / spent * part)

    def _undecided(self, trajectory: Trajectory, breakpoint: Breakpoint, there: np.ndarray) -> None:
        """Count for who uses a column that is full to rounding its rise since the rounding was all that was left."""
        clock, state = self.clock, self.state
        used, knots = there @ clock.columns, trajectory.knots(breakpoint.point)
        for c, most in clock.room.items():
            left = most * FULL
            if used[c] < most - left:
                continue
            since = used[c] - trajectory.curve.use[:knots, c]
            last = int(np.count_nonzero(since > left)) - 1
            users = ~state.finished & (clock.columns[:, c] > 0) & (there > 0)
            for knot in range(max(last, 0), min(last + 2, knots)):
                part = 1.0 if since[knot] <= left else left / since[knot]
                before = np.maximum(trajectory.tasks(trajectory.point(knot)), state.has)
                self._wrong(users, part * (there - before), there)

    def _priced(self, prices: np.ndarray, bounds: np.ndarray) -> list[int]:
        """Return the columns of a pool that have a price."""
        return [*np.flatnonzero(prices[0]), *(np.flatnonzero(bounds) + self.clock.instance.m + 1)]

    def _begun(
        self,
        trajectory: Trajectory,
        price: np.ndarray,
        money: float,
        there: np.ndarray,
        done: np.ndarray,
        at_once: list[int],
    ) -> str:
        """Return, in words, who of some users that are stopped with nothing may be so by rounding only.

        Where several columns stop the clock `at_once`, whichever is first may leave something of the others.
        """
        if not done.size:
            return ""

        def tasks(knot: int) -> np.ndarray:
            return trajectory.tasks(trajectory.point(knot))

        knots = range(len(trajectory.level))
        beyond = bisect_left(knots, True, key=lambda knot: float(price @ tasks(knot)) > money * (1 + FULL))
        late = tasks(beyond)[done] > 0 if beyond < len(knots) else np.ones(len(done), dtype=bool)
        unsure = done[late | (self.clock.columns[done][:, at_once] == 0).any(axis=1)]
        if not unsure.size:
            return ""
        begins = bisect_left(knots, True, key=lambda knot: bool(tasks(knot)[unsure].any()))
        # What nobody comes to before the stop fills nothing.
        full = self._filled(np.minimum(tasks(max(begins - 1, 0)), there))
        open_to = unsure[~(self.clock.columns[unsure][:, full] > 0).any(axis=1)]
        if not open_to.size:
            return ""
        user = self.clock.instance.users[open_to[0]]
        return f"leaves user {user!r} nothing, and rounding decides whether something is left: ask for exact=True"

    def _filled(self, there: np.ndarray) -> list[int]:
        """Return the columns that are full, in fractions, with what is promised or somebody's limit of tasks (n,)."""
        clock = self.clock
        exact = Clock(clock.instance, clock.policy, exact=True)
        has = np.where(there == clock.promised, exact.promised, clock.zero)
        limited = np.array([limit is not None for limit in clock.instance.exact_limits])
        has = np.where((there > 0) & limited & (there == clock.leaves.most), exact.leaves.most, has)
        return [c for c, most in exact.room.items() if has @ exact.columns[:, c] >= most]

    def _firm(self, breakpoint: Breakpoint) -> tuple[np.ndarray, np.ndarray]:
        if self.clock.exact:
            return breakpoint.prices, breakpoint.bounds
        both = firm(np.concatenate([breakpoint.prices.ravel(), breakpoint.bounds]))
        return both[: breakpoint.prices.size].reshape(breakpoint.prices.shape), both[breakpoint.prices.size :]

    def _unspent(self, prices: np.ndarray, bounds: np.ndarray, price: np.ndarray, there: np.ndarray) -> Any:
        if self.clock.exact:
            return prices.sum() + sum(bounds) - price @ there
        spent = np.where(np.isfinite(price), price, 0)
        return excess(np.concatenate([prices.ravel(), bounds]), spent, there)

    def _could_rise(self, left: Any, price: np.ndarray, there: np.ndarray, paying: np.ndarray) -> np.ndarray:
        """Return by how much users could rise on unspent money, relative to what they have."""
        if self.clock.exact:
            return np.full(len(paying), np.inf if left else 0.0)
        proven = price[paying] * np.where(there[paying] > 0, there[paying], self.clock.leaves.most[paying])
        return left / proven


def costs(clock: Clock, prices: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """Return what a task of each user costs where it is cheapest, (n,); inf where there is nowhere.

    Prices (k, m) and `bounds` of ceilings are of whole classes and ceilings.
    """
    instance = clock.instance
    dear = _exact_costs(clock, prices) if clock.exact else unit_costs(instance, prices)
    cheapest = dear if clock.exact else cheapest_costs(instance, dear)
    first = instance.m + 1
    for c, bound in enumerate(bounds, start=first):
        if bound:
            cheapest = cheapest + clock.columns[:, c] * bound / clock.room[c]
    return cheapest


def exact_room(instance: Instance) -> np.ndarray:
    """Return what all machines of each class have, (k, m), as `Fraction`s; a pool is one class."""
    if instance.machines is None:
        return np.array([list(instance.exact_capacity)], dtype=object)
    rows = zip(instance.machines, instance.exact_machine_capacity, strict=True)
    return np.array([[machine.count * c for c in row] for machine, row in rows], dtype=object)


def kinds(instance: Instance, i: int) -> list[tuple[Fraction, tuple[Fraction, ...], np.ndarray]]:
    """Return part, demand (m,) and classes (k,) of every type of a user; in a pool all its tasks are as the average."""
    mine = None if instance.task_types is None or instance.machines is None else instance.task_types[i]
    if not mine:
        fits = np.ones(1, dtype=bool) if instance.machines is None else instance.fits[i]
        return [(Fraction(1), instance.exact_demands[i], fits)]
    total = sum(kind.count for kind in mine)
    rows = zip(mine, instance.type_fits[i], strict=True)
    return [(Fraction(kind.count, total), tuple(kind.demand), fits) for kind, fits in rows]


def _exact_costs(clock: Clock, prices: np.ndarray) -> np.ndarray:
    """Return what a task of each user costs on its cheapest class, by types, (n,); 0 for who fits nowhere."""
    instance = clock.instance
    each = [
        [p / c if c else p * 0 for p, c in zip(*rows, strict=True)]
        for rows in zip(prices, exact_room(instance), strict=True)
    ]
    if instance.machines is None:
        return np.asarray(clock.demands @ np.array(each[0], dtype=object))
    found = np.full(instance.n, clock.zero)
    for i in np.flatnonzero(clock.playing).tolist():
        for part, demand, fits in kinds(instance, i):
            on = [sum((d * p for d, p in zip(demand, each[k], strict=True)), clock.zero) for k in np.flatnonzero(fits)]
            found[i] += part * min(on)
    return found


def _misplaced(instance: Instance, tasks: np.ndarray, placement: np.ndarray | None) -> str:
    """Return what is wrong with an exact placement (n, k), or by type (q, k), in words."""
    if placement is None:
        return "" if instance.machines is None else "the placement is not known"
    used, room, row = exact_room(instance) * 0, exact_room(instance), 0
    for i in range(instance.n):
        for part, demand, fits in kinds(instance, i):
            amounts = placement[row]
            row += 1
            if sum(amounts) != part * tasks[i] or min(amounts) < 0 or any(amounts[~fits]):
                return f"user {instance.users[i]!r} is not placed as it should be"
            used = used + np.outer(amounts, np.array(demand, dtype=object))
    return "a class is overfull" if (used > room).any() else ""


def _bottlenecks(clock: Clock, tasks: np.ndarray, breakpoints: tuple[Breakpoint, ...]) -> tuple:
    """Return what finished each user: a resource or ceiling of a pool, a tuple of such on machines.

    None for whom nothing did, or who is at a limit or ceiling of her own.
    """
    instance = clock.instance
    pool = instance.machines is None
    names = instance.resources if pool else [f"{c}/{r}" for c in instance.machine_names for r in instance.resources]
    caps = [f"{name} ceiling of {instance.resources[j]}" for name, j in clock.ceilings]
    found: list[Any] = [None] * instance.n
    for i, closed in closed_by(instance).items():
        found[i] = one_or_all(closed) if pool else closed
    # Ceilings that bind together have one price between them: who is below one that is full is stopped by it as well,
    # once nobody below it rises any more.
    below = clock.columns[:, instance.m + 1 : instance.m + 1 + len(caps)] > 0
    used = tasks @ clock.columns[:, instance.m + 1 : instance.m + 1 + len(caps)]
    tight = 1 if clock.exact else 1 - LEVEL
    full = [b for b in range(len(caps)) if used[b] >= clock.room[instance.m + 1 + b] * tight]
    rising = np.array(tasks < clock.leaves.most * tight)
    needs = instance.demands > 0
    run_out = pool & (tasks.astype(float) @ instance.demands >= instance.capacity * (1 - LEVEL))
    for breakpoint in breakpoints:
        rising[breakpoint.finished] = False
        # So it is with what runs out at the same time in a pool.
        full_here = run_out & ~needs[rising].any(axis=0)
        priced = np.flatnonzero((breakpoint.prices.ravel() > 0) | (full_here if pool else False))
        capped = np.flatnonzero(np.array(breakpoint.bounds) > 0)
        for i in breakpoint.finished.tolist():
            if tasks[i] >= clock.leaves.most[i] * (1 if clock.exact else 1 - LEVEL):
                continue
            uses = pays(instance, np.array([i]), *np.divmod(priced, instance.m))[0]
            stops = [names[q] for q in priced[uses].tolist()]
            held = [b for b in capped.tolist() if below[i, b]]
            held += [b for b in full if held and b not in held and below[i, b] and not (below[:, b] & rising).any()]
            stops += [caps[b] for b in sorted(held)]
            found[i] = one_or_all(stops) if pool else tuple(stops) or None
    return tuple(found)
