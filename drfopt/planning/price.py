"""What one more unit is worth: shadow prices of resources and machines, who gains by them, and how far that holds.

Two questions that are easily taken for one:

- A *shadow price* is the dual of a program: what its value gains by one unit when shares go on being shares of the
  cluster as it is.  It is 0 where something is left over.
- *Slopes* say what happens when the cluster is really enlarged and divided again.  Then every share is a share of a
  larger whole: who needs most of what was added has a smaller share than before, and is given more tasks to make up
  for it.  So a unit that nobody waits for can still move tasks from one user to another.

Both are of one side: a unit more may be worth less than what a unit less costs.  Slopes of a leximin come from the
links that hold the users (`drfopt.planning.links`), and `until` says how far the same links do.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..allocation import Allocation
from ..errors import InstanceError, PolicyError
from ..instance import Instance
from ..policies import Policy, policy_named
from ..progress import report
from ..solve import solve
from ..tables import Column, Sheet
from ..tolerances import LEVEL
from .links import Held, held
from .market import Market, slopes_of
from .room import Room
from .sides import side
from .sums import Sums
from .units import Unit, units_of
from .yardstick import slopes_of_rates

__all__ = ["Prices", "Side", "Worth", "price"]

ROUNDING = 1e-11
"""A slope that moves less than this part of a user's tasks when everything is doubled is what rounding left of 0."""

KINDS = ("all", "resource", "machine", "cell")
"""Kinds of units in the order of the table."""

SHOWN = 2
"""Users named in the table for each unit."""

TOTAL = policy_named("utilitarian")
"""The policy whose value is the largest sum of dominant shares."""


@dataclass(frozen=True, eq=False)
class Side:
    """What follows from a little more, or a little less, of something; everything for each unit *more*.

    Attributes
    ----------
    price : float
        Shadow price in the objective of the policy: of the lowest level that a capacity holds, of the sum, of the
        market.  Shares are of the cluster as it is.
    lowest_level : float or None
        Slope of the lowest level of those below their limits, in the cluster that is enlarged; None where nobody is,
        and for a sum.
    sum_of_shares : float or None
        Slope of the sum of dominant shares, likewise.
    tasks : array (n,) or None
        Slopes of the tasks of every user; None for a sum, whose optimum leaves a choice.
    until : float or None
        The amount up to (down to) which the same holds the users, or the price is the same; None where that is beyond
        ten times what is there, or not known, as in a market.
    total_price : float
        Shadow price of the largest sum of dominant shares that any policy could reach.
    total_until : float or None
        The amount up to which that holds.
    """

    price: float
    lowest_level: float | None
    sum_of_shares: float | None
    tasks: np.ndarray | None
    until: float | None
    total_price: float
    total_until: float | None
    held: Held | None = field(default=None, repr=False)

    def to_dict(self, users: tuple[str, ...]) -> dict[str, Any]:
        """Return the object of ``drfopt price --json``; users whose tasks stay are left out."""
        tasks = None
        if self.tasks is not None:
            tasks = {users[i]: float(self.tasks[i]) for i in np.flatnonzero(self.tasks)}
        return {
            "price": self.price,
            "lowest_level": self.lowest_level,
            "sum_of_dominant_shares": self.sum_of_shares,
            "tasks": tasks,
            "until": self.until,
            "total_price": self.total_price,
            "total_until": self.total_until,
        }


@dataclass(frozen=True, eq=False)
class Worth:
    """What one unit is worth.

    Attributes
    ----------
    unit : Unit
        ``kind``: ``resource``, ``machine`` (one more of a class) or ``cell`` (a resource of a class's machines);
        ``name``: ``cpu``, ``v100`` or ``v100/cpu``; ``now``: how much there is.
    more, less : Side or None
        Above and below; they differ where something else becomes scarce right here.  None where not a bit more or
        less is possible without tasks fitting on machines on which they do not fit now, or the reverse.
    """

    unit: Unit
    more: Side | None
    less: Side | None

    @property
    def kind(self) -> str:
        """``resource``, ``machine`` or ``cell``."""
        return self.unit.kind

    @property
    def name(self) -> str:
        """What it is called: ``cpu``, ``v100`` or ``v100/cpu``."""
        return self.unit.name

    @property
    def now(self) -> float:
        """How much there is."""
        return self.unit.now

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides there are, more first."""
        return tuple(side for side in (self.more, self.less) if side is not None)

    @property
    def matters(self) -> bool:
        """Whether anybody's tasks, or a price, depend on it."""
        return any(
            side.price or side.total_price or (side.tasks is not None and bool(side.tasks.any())) for side in self.sides
        )

    def tasks_at(self, amount: float) -> np.ndarray:
        """Return the tasks of every user (n,) when there is so much of it, where the links say so.

        Raises
        ------
        InstanceError
            When the amount is not between `less.until` and `more.until`.
        """
        found = self.more if amount >= self.now else self.less
        end = None if found is None else found.until
        beyond = found is None or (end is not None and (amount - end) * (1 if found is self.more else -1) > 0)
        if found is None or found.held is None or beyond:
            raise InstanceError(
                f"{amount:g} of {self.name!r} is beyond what is known from {self.now:g}: compare the clusters by whatif"
            )
        instance = found.held.instance
        return found.held.at(instance.room + (amount - self.now) * self.unit.growth).tasks

    def to_dict(self, users: tuple[str, ...]) -> dict[str, Any]:
        """Return the entry of ``drfopt price --json``."""
        sides = {"more": self.more, "less": self.less}
        return {
            "kind": self.kind,
            "name": self.name,
            "now": self.now,
            **{name: None if found is None else found.to_dict(users) for name, found in sides.items()},
        }


@dataclass(frozen=True, eq=False)
class Prices:
    """What one more unit of everything is worth under a policy."""

    instance: Instance
    policy: str
    allocation: Allocation
    units: tuple[Worth, ...]

    def __getitem__(self, name: str) -> Worth:
        return next(worth for worth in self.units if worth.name == name)

    @property
    def lowest_level(self) -> float | None:
        """The lowest level of those who are placed and below their limits; None where nobody is."""
        return _lowest(self.allocation)

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``drfopt price --json`` prints."""
        return {
            "instance": self.instance.name,
            "policy": self.policy,
            "lowest_level": self.lowest_level,
            "sum_of_dominant_shares": float(self.allocation.dominant_shares.sum()),
            "units": [worth.to_dict(self.instance.users) for worth in self.units],
        }

    def sheet(self) -> Sheet:
        """Return the table: a row a resource and a class, and of their cells those that matter."""
        columns = (
            Column("one more of"),
            Column("there is", number=True),
            Column("price", number=True),
            Column("lowest level", number=True),
            Column("sum of shares", number=True),
            Column("to whom (tasks)"),
            Column("from", number=True),
            Column("to", number=True),
            Column("total price", number=True),
        )
        shown = [worth for worth in self.units if worth.kind != "cell" or worth.matters]
        # What has a price comes first among its kind.
        shown.sort(key=lambda worth: (KINDS.index(worth.kind), -max((side.price for side in worth.sides), default=0.0)))
        rows = [self._row(worth) for worth in shown]
        title = f"{self.policy}, what one more is worth" + (f" - {self.instance.name}" if self.instance.name else "")
        return Sheet(title, columns, rows, tuple(self._notes(len(self.units) - len(shown))), document=self.to_dict())

    def _row(self, worth: Worth) -> tuple:
        more, less = worth.more, worth.less
        found = more or less
        start = worth.now if less is None else less.until
        end = worth.now if more is None else "10 times" if more.until is None else more.until
        if found is None:
            return (worth.name, worth.now, None, None, None, "", worth.now, worth.now, None)
        return (
            worth.name,
            worth.now,
            found.price,
            found.lowest_level,
            found.sum_of_shares,
            self._whom(found),
            *((None, None) if self._curved else (start, end)),
            found.total_price,
        )

    @property
    def _curved(self) -> bool:
        return policy_named(self.policy).objective == "alpha"

    def _whom(self, found: Side) -> str:
        if found.tasks is None:
            return ""
        order = np.argsort(-np.abs(found.tasks), kind="stable")
        moved = [i for i in order.tolist() if found.tasks[i]]
        named = ", ".join(f"{self.instance.users[i]} {found.tasks[i]:+.3g}" for i in moved[:SHOWN])
        return named if len(moved) <= SHOWN else f"{named} +{len(moved) - SHOWN}"

    def _notes(self, hidden: int) -> list[str]:
        lowest = self.lowest_level
        notes = [
            "price: of "
            + PRICED[policy_named(self.policy).objective]
            + ", in shares of the cluster as it is; the slopes"
            " beside it are of the cluster enlarged and divided again",
            "total price: of the largest sum of dominant shares any policy could reach",
        ]
        if lowest is None:
            notes.append("everybody is at her limit or unplaced: no capacity holds anybody down")
        else:
            notes.append(f"lowest level of those below their limits: {lowest:.6g}")
        if sided := [worth.name for worth in self.units if _sided(worth)]:
            notes.append(
                "a unit less is not the reverse of a unit more (--json has both sides): "
                + ", ".join(sided[:10])
                + (f" +{len(sided) - 10}" if len(sided) > 10 else "")
            )
        if hidden:
            notes.append(f"{hidden} resources of single classes on which nothing depends are left out here")
        if self._curved:
            notes.append("a market's slopes hold here and turn smoothly; there is no range to them")
        return notes

    def __str__(self) -> str:
        return self.sheet().text()

    def _repr_html_(self) -> str:
        return self.sheet().html()


PRICED = {
    "leximin": "the lowest level that a capacity holds",
    "sum": "the sum",
    "alpha": "the market (the objective's dual)",
}
"""What a shadow price is the price of, by the objective of the policy."""


def price(instance: Instance, policy: str | Policy = "drf", *, units: tuple[Unit, ...] | None = None) -> Prices:
    """Return what one more unit of every resource and machine class is worth, and to whom.

    Parameters
    ----------
    instance : Instance
    policy : str or Policy
        A leximin, a market or a sum, of divisible tasks.
    units : tuple of Unit, optional
        Those to look at; by default all of the cluster.

    Returns
    -------
    Prices

    Raises
    ------
    PolicyError
        When the policy's optimum has no prices.
    """
    chosen = policy_named(policy)
    if chosen.objective not in LOOKS:
        raise PolicyError(
            f"{chosen.name} has no prices: they are known of {', '.join(LOOKS)} policies, drf for example"
        )
    chosen.check(instance)
    allocation = solve(instance, chosen)
    totals = Sums(instance, TOTAL)
    look = LOOKS[chosen.objective](allocation, totals)
    wanted = units_of(instance) if units is None else units
    worths = []
    for done, unit in enumerate(wanted):
        report(f"{done} of {len(wanted)} units priced, now {unit.name}")
        more, less = (look(unit, more) for more in (True, False))
        worths.append(Worth(unit, more, less))
    return Prices(instance, chosen.name, allocation, tuple(worths))


Look = Callable[[Unit, bool], Side | None]


def _by_links(allocation: Allocation, totals: Sums) -> Look:
    """Look at a leximin: the links of each side say who goes where."""
    base = held(allocation)
    room = Room(base.instance, base.policy, allocation.tasks)

    def look(unit: Unit, more: bool) -> Side | None:
        reach = side(base, room, unit, more)
        if reach is None:
            return None
        found = reach.held
        place = found.at(base.instance.room)
        tasks, levels = found.slopes(unit.growth, more)
        tasks = _firm(tasks, place.tasks, unit)
        shadow, lowest = 0.0, None
        if found.links:
            first = found.links[0]
            weight = float((first.costs[first.finished] / place.rates[first.finished]).sum())
            shadow = float((first.prices * unit.growth).sum()) / weight
            tied = levels[place.levels <= place.levels.min() * (1 + LEVEL)]
            lowest = float(tied.min() if more else tied.max())
        total = totals.side(unit, more, unit.end(more))
        return Side(
            shadow,
            lowest,
            _of_shares(base.instance, unit, more, place.tasks, tasks),
            tasks,
            unit.until(more, reach.units),
            total.price,
            unit.until(more, total.reach),
            found,
        )

    return look


def _by_sums(allocation: Allocation, totals: Sums) -> Look:
    """Look at a sum: its value has a slope, its optimum leaves a choice."""
    policy = policy_named(allocation.policy)
    sums = totals if policy.measure == TOTAL.measure else Sums(allocation.instance, policy)

    def look(unit: Unit, more: bool) -> Side | None:
        end = unit.end(more)
        if end <= ROUNDING * unit.now:
            return None
        piece, total = sums.side(unit, more, end), totals.side(unit, more, end)
        until = unit.until(more, piece.reach)
        return Side(piece.price, None, None, None, until, total.price, unit.until(more, total.reach))

    return look


def _by_market(allocation: Allocation, totals: Sums) -> Look:
    """Look at a market: its conditions of the first order, differentiated."""
    market = Market(allocation)

    def look(unit: Unit, more: bool) -> Side | None:
        end = unit.end(more)
        if end <= ROUNDING * unit.now:
            return None
        tasks = _firm(slopes_of(market, unit, more), allocation.tasks, unit)
        total = totals.side(unit, more, end)
        return Side(
            market.price(unit),
            market.lowest(unit, more, tasks),
            _of_shares(allocation.instance, unit, more, allocation.tasks, tasks),
            tasks,
            None,
            total.price,
            unit.until(more, total.reach),
        )

    return look


LOOKS: dict[str, Callable[[Allocation, Sums], Look]] = {"leximin": _by_links, "alpha": _by_market, "sum": _by_sums}
"""How the sides of a unit are looked at, by the objective of the policy."""


def _firm(slopes: np.ndarray, tasks: np.ndarray, unit: Unit) -> np.ndarray:
    """Return the slopes without those that rounding made."""
    scale = max(float(np.abs(slopes).max(initial=0.0)), float(tasks.max(initial=0.0)) / unit.now)
    return np.where(np.abs(slopes) > ROUNDING * scale, slopes, 0.0)


def _of_shares(instance: Instance, unit: Unit, more: bool, tasks: np.ndarray, slopes: np.ndarray) -> float:
    """Return the slope of the sum of dominant shares, every share being one of the larger whole."""
    turning = slopes_of_rates(TOTAL, instance, unit.growth, more)
    return float(turning @ tasks + TOTAL.rates(instance) @ slopes)


def _lowest(allocation: Allocation) -> float | None:
    instance = allocation.instance
    below = ~instance.unplaced() & (allocation.tasks < instance.limits * (1 - LEVEL))
    return float(allocation.levels[below].min()) if below.any() else None


def _sided(worth: Worth) -> bool:
    """Say whether the two sides differ."""
    if worth.more is None or worth.less is None:
        return False
    a, b = worth.more, worth.less
    if a.tasks is None or b.tasks is None:
        return bool(abs(a.price - b.price) > LEVEL * max(abs(a.price), abs(b.price)))
    return bool(np.abs(a.tasks - b.tasks).max() > LEVEL * max(np.abs(a.tasks).max(), np.abs(b.tasks).max()))
