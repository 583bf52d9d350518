"""What a planner wants to know of an allocation: who is short of what and where, what to buy, and what fits nowhere.

What is bought holds what is missing where most of it is missing: of a class that holds users down so many machines as
their missing tasks need of the resource that is used up there, of a pool so much of that resource; less what would
change nothing, since a ceiling or another resource holds users before it is used.  It is not the cheapest purchase,
which `size` finds, but one whose effect is known: the cluster that has it is divided again, and both divisions are
measured in shares of the cluster as it is.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np

from ..base.deadline import SHORTEST, Deadline
from ..base.errors import DrfoptError
from ..base.numbers.shown import counted, in_units, number, percent
from ..base.tolerances import LEVEL, TINY
from ..model.allocation import Allocation
from ..model.instance import Instance
from ..model.policies import parts_per_task, policy_on
from ..model.shortfall import ENDLESS, SHORT, Hold, Shortfall, cells_of
from ..solving.allocating import solve
from .before_and_after import WhatIf, as_float
from .changes import Change
from .full_ceilings import full_ceilings
from .least_needed import least_needed
from .pricing.price_table import Prices, Worth
from .pricing.units import units_of
from .sizing.clock_needs import guaranteed_tasks
from .sizing.targets import left_nothing, served_before

__all__ = ["LARGEST", "Advice", "ToBuy", "advise", "most_priced", "priced_quickly"]

TRIED = 3
"""Purchases that are tried: each divides the cluster again."""

LARGEST = 50_000
"""Pairs of users and classes up to which that is done unasked: a second or two."""

FEW = 30_000
"""Such pairs times units up to which a cluster with rules is priced, which divides it twice for each unit: a
quarter of a second for openb in departments."""

LONGEST = 5.0
"""Seconds for all divisions in whole tasks together."""

PART = Fraction(1, 10)
"""Part of a pool's resource that is added where nobody says how much is missing."""

TARGET = "'drfopt size' finds what meets a target, where something does"
"""What is said where no purchase is known to help."""

TRY = "'drfopt whatif' says what a purchase brings"
"""The same of levels along a path, which `size` does not take."""

NAMED, SHOWN = 5, 3
"""Users who fit nowhere and have a line of their own, and winners who are named."""


@dataclass(frozen=True, eq=False)
class ToBuy:
    """Something to buy, and what it brings.

    Attributes
    ----------
    name : str
        A machine class, or a resource of a pool.
    machines : bool
    now, amount : number
        How much there is, and how much more to buy.
    found : WhatIf
        The division before and after.
    worth : Worth or None
        What one more is worth; None where that is not known.
    """

    name: str
    machines: bool
    now: float
    amount: Fraction
    found: WhatIf
    worth: Worth | None

    @property
    def after(self) -> Shortfall:
        """Who is short then, in shares of the cluster as it is."""
        before, after = self.found.before, self.found.after
        return Shortfall.of(before.instance, after.tasks, before.integer, ())

    @property
    def for_endless(self) -> bool:
        """Whether all who say how much they want have it, so that it is bought for who names no end."""
        return not self.found.before.shortfall.count(SHORT)

    @property
    def gained(self) -> float:
        """Return what it brings: the part of what is asked for that is met, or the sum of dominant shares."""
        return float(self.after.got @ self.after.shares) if self.for_endless else self.after.demand_met or 0.0

    @property
    def helps(self) -> bool:
        """Whether more of what is asked for is met, or somebody has more where that is bought for who names no end."""
        short, then = self.found.before.shortfall, self.after
        before, after = short.demand_met, then.demand_met
        if self.for_endless or before is None or after is None:
            return bool(self.found.winners)
        # What is said of it must show: a purchase of which a thousandth is to be seen is none.
        seen = percent(after) != percent(before) or then.count(SHORT) < short.count(SHORT)
        return after > before * (1 + LEVEL) and seen

    @property
    def what(self) -> str:
        """Return what is bought, with its amount."""
        if self.machines:
            return f"{int(self.amount):,} more {self.name}"
        instance = self.found.before.instance
        unit = instance.units[instance.resources.index(self.name)]
        return f"{in_units(float(self.amount), unit)} more {self.name}"

    def sentence(self) -> str:
        """Return what it brings, as it was computed."""
        before, after, losers = self.found.before.shortfall, self.after, self.found.losers
        text = f"{self.what} (now {number(self.now)})" if self.machines else self.what
        if self.for_endless or before.demand_met is None:
            text += f": {self._winners()}"
        else:
            text += f": {percent(after.demand_met)} of what is asked for is met instead of {percent(before.demand_met)}"
            text += f", {after.count(SHORT):,} short instead of {before.count(SHORT):,}"
            own = self.found.after.shortfall.demand_met
            if percent(own) != percent(after.demand_met):
                # What `solve` says of the larger cluster, whose shares are others.
                text += f" (in shares of the cluster as it is; {percent(own)} in those of the larger one)"
        return text + (f"; {len(losers)} lose{'s' * (len(losers) == 1)} by it" if losers else "; nobody loses")

    def _winners(self) -> str:
        won = sorted(
            (row for row in self.found.users if row.verdict == "wins"),
            key=lambda row: -float(row.change) / max(float(row.before), TINY),
        )
        each = [
            f"{row.user} {counted(number(float(row.after)), 'task')} instead of {number(float(row.before))}"
            for row in won
        ]
        more = f" and {len(won) - SHOWN} more" if len(won) > SHOWN else ""
        return ", ".join(each[:SHOWN]) + more if each else "nobody has more"

    def one_more(self) -> str:
        """Return what one unit is worth, from `price`; empty where that is not known or it is worth nothing."""
        if not self.machines or self.worth is None or (side := self.worth.more) is None or side.tasks is None:
            return ""
        known = side.held is not None and (side.until is None or side.until >= self.now + 1)
        # Rates turn with the shares of a cluster that grows: of a whole machine they say what it begins to bring.
        gains = self.worth.tasks_at(self.now + 1) - self.found.before.tasks if known else side.tasks
        order = [i for i in np.argsort(-gains, kind="stable").tolist() if gains[i] > LEVEL * self.found.before.tasks[i]]
        named = ", ".join(f"{self.found.before.users[i]} {number(float(gains[i]), 3)}" for i in order[:SHOWN])
        if not named:
            return ""
        more = f" and {len(order) - SHOWN} others" if len(order) > SHOWN + 1 else " and another" * (len(order) > SHOWN)
        if known:
            return f"one more {self.name} brings, in tasks: {named}{more}"
        return f"one more {self.name} begins to bring, in tasks for a whole one: {named}{more} (drfopt price)"

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        before, after = self.found.before.shortfall, self.after
        return {
            "kind": "machine" if self.machines else "resource",
            "name": self.name,
            "now": self.now,
            "amount": float(self.amount),
            "text": self.sentence(),
            "gains": self._winners(),
            "one_more": self.one_more(),
            "demand_met": {"before": before.demand_met, "after": after.demand_met},
            "short": {"before": before.count(SHORT), "after": after.count(SHORT)},
            "winners": list(self.found.winners),
            "losers": list(self.found.losers),
            "users": [
                {"name": row.user, "before": as_float(row.before), "after": as_float(row.after)}
                for row in self.found.users
                if row.verdict != "same"
            ],
        }


@dataclass(frozen=True, eq=False)
class Advice:
    """What is said below an allocation.

    Attributes
    ----------
    allocation : Allocation
    purchases : tuple of ToBuy
        What helps most first; empty where nothing is missing, or nothing that could be bought.
    nowhere : tuple of (user, why)
        Whose tasks fit on nothing open to it, and what is missing on the class nearest to them.
    reason : str
        Why nothing is proposed, where somebody is short.
    """

    allocation: Allocation
    purchases: tuple[ToBuy, ...]
    nowhere: tuple[tuple[str, str], ...]
    reason: str = ""

    def sentences(self) -> list[str]:
        """Return the lines on what to buy and what fits nowhere."""
        said = [f"to buy: {self.purchases[0].sentence()}"] if self.purchases else []
        if self.purchases and (worth := self.purchases[0].one_more()):
            said.append(worth)
        if self.reason:
            said.append(f"to buy: {self.reason}")
        more = len(self.nowhere) - NAMED
        said += [f"unplaced: {user}: {why}" for user, why in self.nowhere[:NAMED]]
        return [*said, f"unplaced: {more} more"] if more > 0 else said

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        return {
            "to_buy": [found.to_dict() for found in self.purchases],
            "nowhere": [{"name": user, "why": why} for user, why in self.nowhere],
            "reason": self.reason,
        }


def advise(allocation: Allocation, *, endless: bool = False, prices: Prices | None = None) -> Advice:
    """Return what to buy for those who are short, proven by dividing the cluster that has it, and what fits nowhere.

    Parameters
    ----------
    allocation : Allocation
    endless : bool
        Whether something is proposed also where nobody is short because nobody says how much it wants.
    prices : Prices, optional
        What one more of every class, or of a pool's resources, is worth, where that is at hand.
    """
    nowhere = tuple((allocation.users[i], why) for i, why in _nowhere(allocation))
    short = allocation.shortfall
    wanting = np.flatnonzero(short.standing == SHORT)
    if not wanting.size and endless:
        wanting = np.flatnonzero(short.standing == ENDLESS)
    if not wanting.size:
        return Advice(allocation, (), nowhere)
    instance, policy = allocation.instance, policy_on(allocation.policy, allocation.instance)
    if (unknown := policy.objective == "formulation") or instance.n * max(instance.k, 1) > LARGEST:
        # Of formulation files and of whole tasks there are no prices.
        other = "whatif" if unknown or allocation.integer else "price"
        helps = f"'drfopt {other}' and 'drfopt size' say what helps" if policy.path is None else TRY
        return Advice(allocation, (), nowhere, helps)
    if policy.objective in ("leximin", "servers"):
        promised = guaranteed_tasks(instance)[1]
        before = left_nothing(instance, [i for i in wanting.tolist() if not promised[i]], allocation.integer)
        wanting = np.array([i for i in wanting.tolist() if i not in before], dtype=int)
        if not wanting.size:
            return Advice(allocation, (), nowhere, _by_turns(instance, before))
    if allocation.exact:
        # Ends of enclosures and floats are not ordered; in floats both are.
        try:
            allocation = _in_floats(allocation) if allocation.integer else solve(instance, policy)
        except DrfoptError:
            # An exact answer is not lost for what floats do not hold.
            return Advice(allocation, (), nowhere, "'drfopt whatif' and 'drfopt size' say what helps")
    wanted = list(_wanted(short, wanting, allocation.integer))[:TRIED]
    if not wanted:
        return Advice(allocation, (), nowhere, _nothing_helps(allocation, short, wanting, False))
    worths = _priced(allocation, [name for name, _ in wanted], prices)
    deadline = Deadline.asked(LONGEST if allocation.integer else None)
    tried = (_bought(allocation, name, amount, worths.get(name), deadline) for name, amount in wanted)
    found = [bought for bought in tried if bought is not None]
    # What meets most comes first; of what meets the same the smaller purchase.
    found.sort(key=lambda one: (-one.gained, one.amount))
    return Advice(allocation, tuple(found), nowhere, "" if found else _nothing_helps(allocation, short, wanting, True))


def _in_floats(allocation: Allocation) -> Allocation:
    """Return an exact answer in whole tasks as `solve` returns it otherwise."""

    def whole(numbers: np.ndarray | None) -> np.ndarray | None:
        return None if numbers is None else numbers.astype(np.int64)

    return replace(
        allocation,
        tasks=allocation.tasks.astype(np.int64),
        leveled=lambda: np.array([as_float(level) for level in allocation.levels]),
        placed=lambda: whole(allocation.placement),
        placed_by_type=whole(allocation.placed_by_type),
    )


def _wanted(short: Shortfall, users: np.ndarray, integer: bool) -> Iterator[tuple[str, Fraction]]:
    """Yield what is missing where most is missing: machines of classes, or resources of a pool."""
    instance = short.instance
    weight: dict[str, float] = {}
    amounts: dict[str, dict[int, float]] = {}
    for i in users.tolist():
        missing, lacking = short.missing[i], short.lacking(np.array([i]))[0]
        for cell in short.cells(i) if len(short.bottlenecks) else _open_to(short, i):
            if cell.resource is None:
                continue
            name = cell.machine or instance.resources[cell.resource]
            here = amounts.setdefault(name, {})
            here[cell.resource] = here.get(cell.resource, 0.0) + lacking[cell.resource]
            weight[name] = weight.get(name, 0.0) + (missing or 1.0) * short.shares[i]
    for name in sorted(weight, key=lambda name: -weight[name]):
        if instance.machines is None:
            j, missing = next(iter(amounts[name].items()))
            part = Fraction(instance.exact_capacity[j]) * PART
            if integer and not missing:
                # Of whole tasks less than one brings nothing, nor does what is told of it in some digits.
                missing = float(max(part, *(instance.exact_demands[i][j] for i in users.tolist())))
            yield name, _rounded_up(missing) if missing else part
        else:
            capacity = instance.machine_capacity[instance.machine_names.index(name)]
            most = max(missing / capacity[j] for j, missing in amounts[name].items() if capacity[j])
            # What rounding makes of a whole number of machines is not one more.
            yield name, Fraction(max(1, math.ceil(most * (1 - LEVEL))))


def _open_to(short: Shortfall, i: int) -> list[Hold]:
    """Return where more would serve user i, when nothing is known of what holds it: wherever its task fits."""
    instance = short.instance
    j = int(parts_per_task(instance, i).argmax())
    if instance.machines is None:
        return [Hold(instance.resources[j], j)]
    # One of several task types may fit where there is nothing of what all of them together need most.
    having = instance.fits[i] & (instance.machine_capacity[:, j] > 0)
    classes = np.array(instance.machine_names)[having].tolist()
    return [Hold(instance.resources[j], j, name) for name in classes]


def _rounded_up(amount: float) -> Fraction:
    """Return an amount in two digits, not less than it is."""
    power = math.floor(math.log10(amount)) - 1
    unit = Fraction(10) ** power
    return math.ceil(Fraction(amount) * (1 - Fraction(LEVEL)) / unit) * unit


def _by_turns(instance: Instance, before: dict[int, list[str]]) -> str:
    """Return that whatever is bought goes to who is served first, of the first user who is short and how many more."""
    i, first = next(iter(before.items()))
    others = len(before) - 1
    same = f"; so it is with {counted(others, 'other')} who {'is' if others == 1 else 'are'} short" if others else ""
    return f"nothing: {served_before(first, instance.users[i])}{same}"


def _nothing_helps(allocation: Allocation, short: Shortfall, users: np.ndarray, tried: bool) -> str:
    """Return what to do where no purchase that was tried helps, or where none is known that could."""
    names = _holding_rules(allocation, short, users.tolist(), tried)
    if names is None:
        return TARGET if policy_on(allocation.policy, short.instance).path is None else TRY
    rules = ", ".join(list(dict.fromkeys(names))[:SHOWN])
    return f"nothing: ceilings and limits hold those who are short{f' ({rules})' if rules else ''}"


def _holding_rules(allocation: Allocation, short: Shortfall, users: list[int], tried: bool) -> list[str] | None:
    """Return the rules that hold some users whatever is bought, but for their own; None where they do not hold all."""
    if allocation.misfits.keys() & {short.instance.users[i] for i in users}:
        return None  # a type of its tasks that fits nowhere has room on something larger, and may be below the rules
    if not tried:  # nobody is held by a resource
        held = (short.got >= short.instance.limits * (1 - LEVEL)).tolist()
        ruled = all(held[i] or short.cells(i) for i in users)
        return [cell.name for i in users for cell in short.cells(i)] if ruled else None
    if allocation.integer:
        from .explaining.tried_remedies import WholeStops

        stops = WholeStops(allocation)
        lacks = {i: list(stops.lacks(i)) for i in users if not stops.ceilings(i)}
        names = list(chain(*lacks.values()))
        ruled = all(lacks.values()) and all(cells_of(short.instance, name)[0].resource is None for name in names)
        return names if ruled else None
    # What is used up holds them as well: neither helps alone.
    full = full_ceilings(allocation)
    if policy_on(allocation.policy, short.instance).objective == "leximin":
        # One that was full after a user stopped does not hold it: more of what does is its, at the cost of others.
        full = {i: [name for name in full.get(i, []) if name in {cell.name for cell in short.cells(i)}] for i in users}
    return [name for i in users for name in full[i]] if all(full.get(i) for i in users) else None


def _bought(
    allocation: Allocation, name: str, amount: Fraction, worth: Worth | None, deadline: Deadline
) -> ToBuy | None:
    """Return a purchase of so much at most, without what changes nothing; None where it does not help."""
    enough = _enough_for_all(allocation, name, amount)
    if enough is not None:
        bought = _tried(allocation, name, enough, worth, deadline)
        if bought is not None and _all_at_limits(bought.found.after):
            return bought if bought.helps else None
    bought = _tried(allocation, name, amount, worth, deadline)
    return _no_more_than_helps(bought, deadline) if bought is not None and bought.helps else None


def _enough_for_all(allocation: Allocation, name: str, amount: Fraction) -> Fraction | None:
    """Return how much is needed at least for everybody to be at its limit, if that is no more than so much.

    What everybody has then depends on no share, and is the same however much more there is.  Not asked of whole tasks,
    nor where rules hold somebody: what fits in fractions need not be had there.
    """
    short = allocation.shortfall
    limits = np.where(short.unplaced, 0.0, allocation.instance.limits)
    ruled = any(cell.resource is None for i in short.short.tolist() for cell in short.cells(i))
    if allocation.integer or ruled or not np.isfinite(limits).all():
        return None
    now = _amount_of(allocation.instance, name)
    step = _step(allocation.instance, amount)
    enough = math.ceil((Fraction(least_needed(allocation, name, limits)) - Fraction(now)) / step) * step
    return enough if 0 < enough <= amount else None


def _all_at_limits(allocation: Allocation) -> bool:
    placed = ~allocation.shortfall.unplaced
    return bool((allocation.tasks >= allocation.instance.limits * (1 - LEVEL))[placed].all())


def _amount_of(instance: Instance, name: str) -> float:
    """Return how much there is of a class, or of a pool's resource."""
    if instance.machines is None:
        return float(instance.capacity[instance.resources.index(name)])
    return float(instance.counts[instance.machine_names.index(name)])


def _step(instance: Instance, amount: Fraction) -> Fraction:
    """Return in what steps a purchase of an amount is made less: machines, or the second digit of a resource."""
    return Fraction(1) if instance.machines is not None else Fraction(10) ** (math.floor(math.log10(amount)) - 1)


def _tried(
    allocation: Allocation, name: str, amount: Fraction, worth: Worth | None, deadline: Deadline
) -> ToBuy | None:
    """Return a purchase with the division after it; None where that comes to no end."""
    instance = allocation.instance
    if deadline.left() <= SHORTEST:
        return None
    try:
        after = solve(
            _enlarged(instance, name, amount),
            allocation.policy,
            integer=allocation.integer,
            time_limit=deadline.share(1),
        )
    except DrfoptError:
        return None
    if not after.finished:
        return None
    found = WhatIf((Change("add", f"{amount}*{name}"),), allocation, after)
    return ToBuy(name, instance.machines is not None, _amount_of(instance, name), amount, found, worth)


def _no_more_than_helps(bought: ToBuy, deadline: Deadline) -> ToBuy:
    """Return the purchase without what changes nothing: where ceilings hold those who are short before it is used."""
    before, after = bought.found.before, bought.found.after
    step = _step(before.instance, bought.amount)
    # Where they do not fit the tasks are others, and where they just fit most likely these.
    needed = math.ceil((Fraction(least_needed(after, bought.name)) - Fraction(bought.now)) / step)
    low, high = Fraction(max(needed - 1, 0)), bought.amount / step
    first = [low + 1, high - 1]
    while high - low > 1:
        at = first.pop() if first else Fraction((low + high) // 2)
        if not low < at < high:
            continue
        fewer = _tried(before, bought.name, at * step, bought.worth, deadline)
        if fewer is not None and np.allclose(fewer.found.after.tasks, after.tasks, rtol=LEVEL, atol=0):
            bought, high = fewer, at
        else:
            low = at
    return bought


def _priced(allocation: Allocation, names: list[str], prices: Prices | None) -> dict[str, Worth]:
    """Return what one more is worth of what may be bought, by name; nothing where that is not known."""
    if allocation.integer or not priced_quickly(allocation.instance, len(names)):
        return {}
    # A class and a resource may have one name.
    kind = "resource" if allocation.instance.machines is None else "machine"
    if prices is None:
        from .pricing.unit_price import price  # Solvers are loaded where something is priced only.

        units = [unit for unit in units_of(allocation.instance) if unit.kind == kind and unit.name in names]
        try:
            prices = price(allocation.instance, allocation.policy, units=units, allocation=allocation)
        except DrfoptError:
            return {}
    return {worth.name: worth for worth in prices.units if worth.kind == kind}


def priced_quickly(instance: Instance, units: int) -> bool:
    """Say whether so many units are priced in a moment: with rules each side of each divides the cluster again."""
    return units <= most_priced(instance)


def most_priced(instance: Instance) -> float:
    """Return how many units are; infinity where all of any number are priced at once."""
    ruled = bool(instance.features - {"types"})
    return FEW // (instance.n * max(instance.k, 1)) if ruled else np.inf


def _enlarged(instance: Instance, name: str, amount: Fraction) -> Instance:
    """Return the cluster with so many machines of a class more, or so much more of a pool's resource."""
    parts = instance.parts()
    if instance.machines is None:
        pairs = zip(instance.resources, instance.exact_capacity, strict=True)
        return Instance(**parts | {"capacity": {r: c + amount * (r == name) for r, c in pairs}})
    machines = [
        replace(machine, count=machine.count + int(amount) * (machine.name == name)) for machine in instance.machines
    ]
    return Instance(**parts | {"machines": machines})


def _nowhere(allocation: Allocation) -> Iterator[tuple[int, str]]:
    helpless = np.flatnonzero(allocation.shortfall.unplaced).tolist()
    if not helpless:
        return
    from .explaining.remedies import Remedies
    from .explaining.tried_remedies import RemedyTrials

    known = allocation.instance.task_types is None
    remedies = (Remedies if known else RemedyTrials)(allocation, False)
    for i in helpless:
        yield i, remedies.unplaced(i)
