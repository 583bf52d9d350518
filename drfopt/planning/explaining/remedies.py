"""What would raise a user's tasks, in one sentence that has been computed: more of something, a higher limit.

Under a leximin every number is where the rounds put her, which is what dividing the changed cluster again gives.

How far the limit of a user can rise until something else stops her, as the rounds tell it.

The room stays as it is, so all rates do, and with the limit of user i higher by s the levels t_r of the rounds
follow in straight lines:

    W_r t_r  =  const  -  q_ri s  -  sum_{q < r} V_rq t_q        W_r = sum of q_rl / rate_l over those stopped at r,
                                                                 V_rq the same over those who pay at r, stopped at q.

It ends where two such lines meet. Sums over all users are made once, so that a user costs a few numbers and not a look
at everybody.
"""

import math
from collections.abc import Collection, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from ...base.numbers.shown import changing, counted, in_full, in_units, towards
from ...base.tolerances import LEVEL
from ...certificates.bottleneck import certify
from ...certificates.chain import unit_costs
from ...model.allocation import Allocation
from ...model.instance import Instance
from ...model.policies import policy_on
from ...solving.allocating import solve
from ..pricing.binding_rounds import Held, held
from ..pricing.feasible_growth import TIGHT, Grown, Room
from ..pricing.price_table import Prices, Worth
from ..pricing.sensitivity import NO_SIDE
from ..pricing.unit_price import price
from ..pricing.units import MOST, Unit, units_of
from .tried_remedies import NO_LARGER, NOWHERE, SAME_POINT, RemedyTrials

__all__ = ["Raising", "Remedies", "alone"]


class Raising:
    """Limits that rise, each by itself, in the room there is."""

    def __init__(self, held: Held, room: Room):
        rounds, instance = held.rounds, held.instance
        self.held, self.room, self.place = held, room, held.at(room.now)
        levels, rates = self.place.levels, self.place.rates
        self.costs = np.array([np.maximum(binding.costs, 0.0) for binding in rounds]).reshape(len(rounds), instance.n)
        # Tasks for each unit of the level of every round (rounds, n).
        self.each = np.zeros((len(rounds), instance.n))
        for r, binding in enumerate(rounds):
            self.each[r, binding.finished] = 1 / rates[binding.finished]
        spent = self.costs @ self.each.T
        self.turns = -np.linalg.inv(np.tril(spent))
        highest = [(rates * self.place.tasks)[held.capped & (row > 0)].max(initial=0.0) for row in self.costs]
        stops = [(instance.limits[binding.finished] * rates[binding.finished]).min() for binding in rounds]
        # Who pays at a round is stopped there, or below; and it is above those that closed classes before.
        higher, lower = np.nonzero((spent > 0) & ~np.eye(len(rounds), dtype=bool))
        after = [(r, q) for r, binding in enumerate(rounds) for q in binding.after]
        higher, lower = np.append(higher, [r for r, _ in after]).astype(int), np.append(lower, [q for _, q in after])
        lower = lower.astype(int)
        with np.errstate(divide="ignore", invalid="ignore"):
            unit = np.eye(len(rounds)) / levels[:, None]
            between = unit[higher] - unit[lower] * (levels[lower] / levels[higher])[:, None]
            # What has to stay at 0 or above, relative to levels: now, and for each unit of the levels.
            self.now = np.concatenate(
                [np.ones(len(rounds)), 1 - highest / levels, stops / levels - 1, 1 - levels[lower] / levels[higher]]
            )
        self.growing = np.vstack([unit, unit, -unit, between])
        self.crowding, self.cuts_each = np.zeros(0), np.zeros((0, len(rounds)))

    def until(self, i: int, end: float) -> float:
        """Return by how many tasks the limit of user i, who is at it, can rise; `end` at most."""
        levels, rate = self.place.levels, self.place.rates[i]
        if not (levels > 0).all():
            return 0.0
        turns = self.turns @ self.costs[:, i]
        paid = levels[self.costs[:, i] > 0]
        now = np.concatenate([self.now, 1 - rate * self.place.tasks[i] / paid])
        slopes = np.concatenate([self.growing @ turns, (turns[self.costs[:, i] > 0] - rate) / paid])
        while True:
            self._see_cuts()
            crowding = self.cuts_each @ turns + self.room.costs[:, i]
            reached = _first(np.append(now, 1 - self.crowding), np.append(slopes, -crowding), end)
            tasks = self.place.tasks + reached * (turns @ self.each)
            tasks[i] += reached
            # Tasks change in straight lines: if there is a place for them at the end, there is one before.
            if reached <= 0 or self.room.asked(tasks, self.room.now) <= 1 + 2 * TIGHT:
                return reached

    def _see_cuts(self) -> None:
        if len(self.crowding) < len(self.room.costs):
            self.crowding, self.cuts_each = self.room.costs @ self.place.tasks, self.room.costs @ self.each.T


SEEN = 5e-7
"""Part by which tasks grow where a change is to be seen; of what may be had less is told where that is all."""


def _first(now: np.ndarray, slopes: np.ndarray, end: float) -> float:
    """Return where the first of some lines falls below 0, rounding aside; `end` at most."""
    if (now < -TIGHT).any():
        return 0.0
    falling = now + slopes * end < -TIGHT
    return min(end, float((np.maximum(now[falling], 0.0) / -slopes[falling]).min(initial=np.inf)))


class Remedies(RemedyTrials):
    """Finds sentences for the users of an allocation; what they share is computed once.

    `thorough` says whether the cluster may be divided again for a user, to know where a higher limit ends to matter;
    otherwise the rounds say up to where it does at least. `names` are the classes, or resources of a pool, that are
    priced; None for all.
    """

    def __init__(self, allocation: Allocation, thorough: bool, names: Collection[str] | None = None):
        super().__init__(allocation, thorough)
        self.names = names
        self.policy = policy_on(allocation.policy, allocation.instance)
        self._same: dict[str, bool] = {}

    def limit(self, i: int) -> str:
        """Return what a higher limit would do."""
        limit = float(self.instance.limits[i])
        if self._helpless(i):
            return NOWHERE.format(in_full(limit))
        if limit == 0 and not self._sums:
            return "its limit is 0: raise it"
        if text := self.all_run(i):
            return text
        if self.ceilings(i):
            return SAME_POINT
        if self._sums and self.thorough:
            return super().limit(i)
        if self._sums or not (self.thorough or self.policy.objective == "leximin"):
            return self._profit(i)
        if self.thorough:
            # Whatever her limit, she has that or what she would have without one, whichever is less.
            end, known = self._without_limit(i), "up to"
        else:
            end, known = limit + self._until(i), "at least up to"
        if end <= limit * (1 + NO_SIDE):
            return SAME_POINT
        before, _ = changing(limit, end)
        most = f"{known} {in_full(*towards(end, limit * (1 + NO_SIDE)))}"
        return f"raise its limit of {before}: it would have every task more that it allows, {most}"

    def capacity(self, i: int) -> str:
        """Return of what a little more gives her the most tasks."""
        slopes = [(_slope(worth, i), worth) for worth in self.prices.units]
        # What has a price comes first: the rest only makes her share of a larger whole smaller.
        # Machines are compared one for one, resources, which have no unit in common, as parts of what there is.
        helping = [
            (bool(worth.more and worth.more.price > 0), s * (1.0 if worth.kind == "machine" else worth.now), worth)
            for s, worth in slopes
            if s > 0
        ]
        helping.sort(key=lambda row: row[:2], reverse=True)
        said = (self._gives(worth, i) for *_, worth in helping)
        begins = (self._begins(worth, i) for *_, worth in helping)
        return next(filter(None, said), "") or next(begins, "") or self._of_everything(i)

    @cached_property
    def prices(self) -> Prices:
        """What units of the cluster are worth: resources of a pool, machines of classes."""
        units = units_of(self.instance)
        wanted = "resource" if self.instance.machines is None else "machine"
        chosen = tuple(
            unit for unit in units if unit.kind == wanted and (self.names is None or unit.name in self.names)
        )
        return price(self.instance, self.policy, units=chosen, allocation=self.allocation)

    @cached_property
    def _raising(self) -> Raising:
        return Raising(held(self.allocation), Room(self.instance, self.policy, self.allocation.tasks))

    def _gives(self, worth: Worth, i: int) -> str:
        """Return the sentence on one unit more, or on as much of one as the rounds speak of."""
        side, now = worth.more, float(self.allocation.tasks[i])
        if side is None or side.tasks is None:
            return ""
        there = self._there(worth)
        if side.held is None:
            return self._begins(worth, i)
        most = (MOST * worth.now if side.until is None else side.until) - worth.now
        amount = _rounded_down(most)
        if worth.kind == "machine" and amount < 1:
            # Nobody can buy a part of a machine, and of a whole one this is not known.
            told = self._begins(worth, i, "a whole one")
            return f"{told}: what it gives in all, 'drfopt whatif --add 1*{worth.name}' says"
        # Of bytes it takes many until there is anything to be seen.
        steps = [amount] if worth.kind == "machine" else _multiplied(amount, 1024 if self._unit(worth) else 10, most)
        for amount in steps:
            after = float(worth.tasks_at(worth.now + amount)[i])
            if after - now > SEEN * now:
                break
        if after - now <= LEVEL * now:
            return ""
        until = f"{MOST} times as much" if side.until is None else self._end(worth, side.until, worth.now + amount)
        stays = "stays so" if self._as_now(worth) else "changes at once, and then stays so"
        then, before = changing(after, now)
        gives = f"would give it {counted(then, 'task')} instead of {before}"
        return f"{self._shown(worth, amount)} more of {there} {gives}; what stops whom {stays} up to {until}"

    def _there(self, worth: Worth) -> str:
        return f"{_named(worth)} (now {self._shown(worth, worth.now)})"

    def _begins(self, worth: Worth, i: int, each: str = "each") -> str:
        """Return the sentence on the slope alone."""
        tasks = counted(in_full(_slope(worth, i), 4), "task")
        return f"more of {self._there(worth)} would begin to give it {tasks} for {each}"

    def _unit(self, worth: Worth) -> str:
        """Return what a unit's amounts are counted in, empty where nothing says so."""
        instance = self.instance
        return instance.units[instance.resources.index(worth.name)] if worth.kind == "resource" else ""

    def _shown(self, worth: Worth, amount: float) -> str:
        return in_units(amount, self._unit(worth), 6)

    def _end(self, worth: Worth, end: float, told: float) -> str:
        """Return up to where something holds, in so many digits that what is told is not above it."""
        rounded, digits = towards(end, told)
        return in_units(rounded, self._unit(worth), digits)

    def _as_now(self, worth: Worth) -> bool:
        """Say whether with more of it the same stops everybody: where several things run out together it may not."""
        if (known := self._same.get(worth.name)) is None:
            here, more = self._raising.held, worth.more.held if worth.more else None
            if more is None:
                known = False
            elif self.instance.machines is None:
                now, then = _bottlenecks(here, self.instance.room), _bottlenecks(more, self._room_with(worth))
                known = all(now[i] == then[i] for i in now.keys() & then.keys())
            else:
                known = more.stops() == here.stops()
            self._same[worth.name] = known
        return known

    def _room_with(self, worth: Worth) -> np.ndarray:
        """Return the room where there is more of a unit: some way off, as next to what there is all is full yet."""
        end = MOST * worth.now if worth.more is None or worth.more.until is None else worth.more.until
        return self.instance.room + (end - worth.now) / 2 * worth.unit.growth

    def _of_everything(self, i: int) -> str:
        """Return what a hundredth more of everything does: where several things run out together, none alone helps."""
        if (unknown := next((worth for worth in self.prices.units if worth.unknown), None)) is not None:
            more = f"what a little more of {_named(unknown)} gives it is not known"
            return f"{more}: compare two clusters with whatif instead"
        whole = Unit("all", "everything", 100.0, self.instance.room / 100, 0.0, np.inf)
        worth = price(self.instance, self.policy, units=(whole,)).units[0]
        if not _slope(worth, i) > 0:
            # A ceiling of its group is no part of the cluster, and is not grown with it.
            if i in self._full:
                stops = ", ".join(dict.fromkeys((*self.held_by(i), *self._full[i])))
                return f"no little more of the cluster raises it by an amount to be seen: what stops it is {stops}"
            return "no little more of one thing, nor of everything, raises it by an amount to be seen"
        return (
            "several things run out together, and more of one alone does not help: "
            f"1 % more of everything would begin to give it {counted(in_full(_slope(worth, i), 4), 'task')}"
        )

    def _until(self, i: int) -> float:
        """Return by how many tasks the limit of a user can rise until something else stops her."""
        return self._raising.until(i, (MOST - 1) * float(self.instance.limits[i]))

    def _without_limit(self, i: int) -> float:
        """Return the tasks of a user if she had no limit.

        With any limit below, she has that limit: if not, it would not bind, and an optimum of a convex problem in which
        a constraint does not bind is the optimum without it.
        """
        instance = self.instance
        limits = instance.limits.copy()
        limits[i] = np.inf
        return float(solve(Instance(**(instance.parts() | {"max_tasks": limits})), self.policy).tasks[i])

    def _profit(self, i: int) -> str:
        """Return whether one task more would be taken, at the prices there are."""
        prices = np.atleast_2d(np.zeros(self.instance.m) if self.allocation.prices is None else self.allocation.prices)
        cost = unit_costs(self.instance, prices * self.instance.room)[i].min()
        value = self.policy.rates(self.instance)[i]
        if self.policy.objective == "alpha":
            value *= self.instance.weights[i] * (value * self.allocation.tasks[i]) ** -self.policy.alpha
        if value > cost * (1 + LEVEL):
            limit = in_full(float(self.instance.limits[i]))
            return f"raise its limit of {limit}: at the prices there are a task more is worth more than it costs"
        if self._sums:
            return NO_LARGER.format(what="limit")
        return "its limit stops it, and prices do at the same point: a higher limit alone does not help"


def _bottlenecks(held: Held, room: np.ndarray) -> dict[int, Any]:
    """Return what stops each user below its limit in a pool with this room, as its certificate would name it."""
    pool: Any = Grown(held.instance, room)
    point = held.at(room)
    names = certify(pool, held.policy, point.tasks, point.rates).bottlenecks
    # Who comes to its limit just here is still stopped by what it was.
    return {i: names[i] for i in np.flatnonzero(~held.capped).tolist() if names[i] is not None}


def _multiplied(amount: float, times: int, most: float) -> Iterator[float]:
    """Yield an amount, and ever so many times as much as long as that is not above the most."""
    yield amount
    while (amount := amount * times) <= most:
        yield amount


def _rounded_down(amount: float) -> float:
    """Return a positive amount in two digits, 1 at most: what is said of it must be true of what is said."""
    if amount >= 1:
        return 1.0
    places = 1 - math.floor(math.log10(amount))
    return math.floor(amount * 10**places) / 10**places


def _named(worth: Worth) -> str:
    """Return what a unit is called in a sentence."""
    return f"{worth.name}{' machines' if worth.kind == 'machine' else ''}"


def _slope(worth: Worth, i: int) -> float:
    """Return what one unit more gives a user, in tasks."""
    return 0.0 if worth.more is None or worth.more.tasks is None else float(worth.more.tasks[i])


def alone(instance: Instance) -> np.ndarray:
    """Return the tasks that each user could run in her part of the cluster, by weight, if it were hers alone, (n,).

    Divisible tasks, on the machines she may use where a task of hers fits; as sharing incentive is defined
    (`drfopt.audit`).
    """
    weights = instance.weights if instance.weights_per_resource else instance.weights[:, None]
    part = np.broadcast_to(weights / weights.sum(axis=0), instance.demands.shape)
    needs = instance.demands > 0
    inverse = np.divide(part, instance.demands, where=needs, out=np.full(instance.demands.shape, np.inf))
    tasks = np.zeros(instance.n)
    for k, room in enumerate(instance.room):
        with np.errstate(invalid="ignore"):
            here = np.where(needs, inverse * room, np.inf).min(axis=1)
        tasks += here if instance.fits is None else np.where(instance.fits[:, k], here, 0.0)
    return np.minimum(tasks, instance.limits)
