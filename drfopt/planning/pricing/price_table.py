"""What one more unit of everything is worth, as a table.

What one unit is worth: a little more of it, and a little less.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ...base.errors import InstanceError
from ...base.numbers.shown import changing, counted
from ...base.results import Result
from ...base.tables import Column, End, Sheet
from ...base.tolerances import LEVEL, NOTICED
from ...model.allocation import Allocation
from ...model.instance import Instance
from ...model.naming import some
from ...model.policies import policy_on
from .binding_rounds import Held
from .units import Unit

__all__ = ["Noise", "OneSided", "Prices", "Worth"]


class Noise(NamedTuple):
    """What rounding may have left in slopes that are drawn between two divisions: of tasks one number for each user."""

    tasks: Any = 0.0
    lowest_level: float = 0.0
    sum_of_shares: float = 0.0


@dataclass(frozen=True, eq=False)
class OneSided:
    """What follows from a little more, or a little less, of something; everything for each unit *more*.

    Attributes
    ----------
    price : float
        Shadow price in the objective of the policy, of what `Prices.price_of` says, such as the lowest level that a
        capacity holds, the sum, or the market.  Shares are of the cluster as it is.
    lowest_level : float or None
        Slope of the lowest level of those below their limits, in the cluster that is enlarged; None where nobody is,
        and for a sum.
    sum_of_shares : float or None
        Slope of the sum of dominant shares, likewise.
    tasks : array (n,) or None
        Slopes of the tasks of every user; None for a sum, whose optimum leaves a choice.
    until : float or None
        The amount up to (down to) which the same holds the users, or the price is the same; None where that is beyond
        ten times what is there, or not known, as in a market and under rules.  Not looked for is where something else
        that is used up begins to hold them as well, since who fills it at a limit is above them no more.
    total_price : float
        Shadow price of the largest sum of dominant shares that any policy could reach, rules of an organisation left
        out.
    total_until : float or None
        The amount up to which that holds.
    ranged : bool
        Whether `until` is known, if only to be beyond what is looked at.
    noise : Noise
        What rounding may have left in slopes that are drawn between two divisions.
    """

    price: float
    lowest_level: float | None
    sum_of_shares: float | None
    tasks: np.ndarray | None
    until: float | None
    total_price: float
    total_until: float | None
    held: Held | None = field(default=None, repr=False)
    ranged: bool = field(default=True, repr=False)
    noise: Noise = field(default=Noise(), repr=False)

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


def _apart(one: Any, other: Any, noise: Any = 0.0) -> bool:
    """Say whether slopes, of one thing or of several in one unit, differ by more than rounding; None is not known."""
    if one is None or other is None:
        return False
    return bool((np.abs(one - other) > NOTICED * max(np.abs(one).max(), np.abs(other).max()) + noise).any())


@dataclass(frozen=True, eq=False)
class Worth:
    """What one unit is worth.

    Attributes
    ----------
    unit : Unit
        ``kind``: ``resource``, ``machine`` (one more of a class) or ``cell`` (a resource of a class's machines);
        ``name``: ``cpu``, ``v100`` or ``v100/cpu``; ``now``: how much there is.
    more, less : OneSided or None
        Above and below; they differ where something else becomes scarce right here.  None where not a bit more or
        less is possible without tasks fitting on machines on which they do not fit now, or the reverse.
    unknown : str
        Why there is neither: nothing is proven next to the amount; empty where that is not so.
    """

    unit: Unit
    more: OneSided | None
    less: OneSided | None
    unknown: str = ""

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
    def one_sided(self) -> tuple[OneSided, ...]:
        """The sides there are, more first."""
        return tuple(side for side in (self.more, self.less) if side is not None)

    @property
    def matters(self) -> bool:
        """Whether anybody's tasks, or a price, depend on it, as far as that is known."""
        return bool(self.unknown) or any(
            side.price or side.total_price or (side.tasks is not None and bool(side.tasks.any()))
            for side in self.one_sided
        )

    @property
    def two_sided(self) -> bool:
        """Whether a unit less is not the reverse of a unit more."""
        if self.more is None or self.less is None:
            return False
        a, b = self.more, self.less
        return (
            _apart(a.price, b.price)
            or _apart(a.lowest_level, b.lowest_level, a.noise.lowest_level + b.noise.lowest_level)
            or _apart(a.sum_of_shares, b.sum_of_shares, a.noise.sum_of_shares + b.noise.sum_of_shares)
            or _apart(a.tasks, b.tasks, a.noise.tasks + b.noise.tasks)
            or _apart(a.total_price, b.total_price)
        )

    def tasks_at(self, amount: float) -> np.ndarray:
        """Return the tasks of every user (n,) when there is so much of it, where the rounds say so.

        Raises
        ------
        InstanceError
            When the amount is not between `less.until` and `more.until`.
        """
        found = self.more if amount >= self.now else self.less
        end = None if found is None else found.until
        beyond = found is None or (end is not None and (amount - end) * (1 if found is self.more else -1) > 0)
        if found is None or found.held is None or beyond:
            there, now = changing(amount, self.now)
            raise InstanceError(
                f"{there} of {self.name!r} is beyond what is known from {now}: compare the clusters by whatif"
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
            "unknown": self.unknown or None,
        }


KINDS = ("all", "resource", "machine", "cell")
"""Kinds of units in the order of the table."""

SHOWN = 2
"""Users named in the table for each unit."""

PRICED = {
    "leximin": "the lowest level that a capacity holds",
    "sum": "the sum",
    "alpha": "the market (the objective's dual)",
    "servers": "the lowest levels that a capacity holds, one on each class, added up",
}
"""What a shadow price is the price of, by the objective of the policy."""

FIRST_STOP = "the level at which a capacity first stops somebody for good"
"""That of a leximin under rules: those of another group or tier may be below."""

TIERS = {"sum": " of all tiers together", "alpha": " of the tier that is served last"}
"""The same, where tiers are served in turn."""


@dataclass(frozen=True, eq=False)
class Prices(Result):
    """What one more unit of everything is worth under a policy.

    Attributes
    ----------
    instance : Instance
    policy : str
    allocation : Allocation
        At which the rates are taken.
    units : tuple of Worth
        Machine classes, or resources of a pool, and limits.
    asked : bool
        Whether units were asked for by name, so that the table has a row of each.
    """

    _schema = "drfopt prices 1"
    _rows = "units"

    instance: Instance
    policy: str
    allocation: Allocation
    units: tuple[Worth, ...]
    asked: bool = False

    @property
    def lowest_level(self) -> float | None:
        """The lowest level of those who run something and are below their limits and ceilings; None where nobody is."""
        instance = self.allocation.instance
        below = (self.allocation.tasks > 0) & (self.allocation.tasks < instance.limits * (1 - LEVEL))
        return float(self.allocation.levels[below].min()) if below.any() else None

    def named(self) -> dict[str, Any]:
        """Return what the units are worth, by name."""
        return {worth.name: worth for worth in self.units}

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``drfopt price --json`` prints."""
        return {
            "schema": self._schema,
            "instance": self.instance.name,
            "policy": self.policy,
            "lowest_level": self.lowest_level,
            "sum_of_dominant_shares": float(self.allocation.dominant_shares.sum()),
            "units": [worth.to_dict(self.instance.users) for worth in self.units],
        }

    def sheet(self) -> Sheet:
        """Return the table: a row a resource and a class, and of their cells those that matter or were asked for."""
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
        shown = [worth for worth in self.units if self.asked or worth.kind != "cell" or worth.matters]
        # What has a price comes first among its kind.
        shown.sort(
            key=lambda worth: (KINDS.index(worth.kind), -max((side.price for side in worth.one_sided), default=0.0))
        )
        rows = [self._row(worth) for worth in shown]
        title = f"{self.policy}, what one more is worth" + (f" - {self.instance.name}" if self.instance.name else "")
        return Sheet(title, columns, rows, tuple(self._notes(len(self.units) - len(shown))), document=self.to_dict)

    def _row(self, worth: Worth) -> tuple:
        more, less = worth.more, worth.less
        found = more or less
        start = worth.now if less is None else None if less.until is None else End(less.until, worth.now)
        end = worth.now if more is None else "10 times" if more.until is None else End(more.until, worth.now)
        if found is None:
            range_ = ("not known", None, None) if worth.unknown else ("", worth.now, worth.now)
            return (worth.name, worth.now, None, None, None, *range_, None)
        return (
            worth.name,
            worth.now,
            found.price,
            found.lowest_level,
            found.sum_of_shares,
            self._whom(found),
            *((None, None) if self._unranged else (start, end)),
            found.total_price,
        )

    @property
    def _unranged(self) -> str:
        """Why it is not known how far slopes hold; "" where it is."""
        objective = policy_on(self.policy, self.allocation.instance).objective
        if objective == "alpha":
            return "a market's slopes are those here; how far off a price becomes 0 or a limit is met is not told"
        sides = [side for worth in self.units for side in worth.one_sided]
        drawn = objective == "leximin" and all(side.held is None for side in sides)
        rules = self.allocation.instance.organisation
        drawn = drawn or not all(side.ranged for side in sides)
        drawn = drawn or (objective == "servers" and rules is not None and not rules.only_excludes)
        if not drawn:
            return ""
        between = (
            "slopes are drawn between clusters next to this one, of users who would have a ten-millionth more or less "
            "with twice as much of it in the cluster; how far they hold is not known"
        )
        return between if self._sloped else "how far these prices hold is not known"

    @property
    def _sloped(self) -> bool:
        """Whether there are slopes beside the prices: a sum leaves a choice, and has none."""
        return any(side.tasks is not None for worth in self.units for side in worth.one_sided)

    @property
    def price_of(self) -> str:
        """What the shadow price is the price of, in words."""
        objective = policy_on(self.policy, self.allocation.instance).objective
        above = " above guarantees, which do not fit" if objective == "leximin" and self.allocation.broken else ""
        rules = self.allocation.instance.organisation
        tiers = objective in TIERS and rules is not None and len(set(rules.in_turn or ())) > 1
        if objective == "leximin" and rules is not None and not rules.only_excludes:
            return FIRST_STOP + above
        return PRICED[objective] + (TIERS[objective] if tiers else above)

    def _whom(self, found: OneSided) -> str:
        if found.tasks is None:
            return ""
        order = np.argsort(-np.abs(found.tasks), kind="stable")
        moved = [i for i in order.tolist() if found.tasks[i]]
        named = ", ".join(f"{self.instance.users[i]} {found.tasks[i]:+.3g}" for i in moved[:SHOWN])
        return named if len(moved) <= SHOWN else f"{named} +{len(moved) - SHOWN}"

    def _notes(self, hidden: int) -> list[str]:
        lowest = self.lowest_level
        in_tasks = policy_on(self.policy, self.allocation.instance).measure == "tasks"
        notes = [
            "price: of "
            + self.price_of
            + (", in tasks" if in_tasks else ", in shares of the cluster as it is")
            + "; the slopes beside it are of the cluster enlarged and divided again" * self._sloped,
            "total price: of the largest sum of dominant shares any policy could reach"
            + (", if there were no guarantees and no ceilings of groups" * ("organisation" in self.instance.features)),
        ]
        if unpriced := self.allocation.unpriced:
            notes.append(f"the price leaves out who is left no more and would pay more: {some(unpriced)}")
        if lowest is None:
            notes.append("everybody is at its limit or ceiling, or runs nothing")
        else:
            who = "those who run something and are below their limits and ceilings"
            notes.append(f"lowest level of {who}: {lowest:.6g}")
        if sided := [worth.name for worth in self.units if worth.two_sided]:
            notes.append(
                "a unit less is not the reverse of a unit more (--json has both sides): "
                + ", ".join(sided[:10])
                + (f" +{len(sided) - 10}" if len(sided) > 10 else "")
            )
        if hidden:
            these = f"{counted(hidden, 'resource')} of single classes {'is' if hidden == 1 else 'are'} left out here"
            notes.append(f"{these}: a little more or less changes nobody's tasks")
        if self._unranged:
            notes.append(self._unranged)
        elif self._sloped:
            notes.append(
                "from, to: as far as what stops whom a little below, or a little above, stays so; slopes are those "
                "there, and turn as shares of a changing cluster do"
            )
        notes += [f"{worth.name} is not known: {worth.unknown}" for worth in self.units if worth.unknown]
        return notes
