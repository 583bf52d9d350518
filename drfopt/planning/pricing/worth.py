"""What one unit is worth: a little more of it, and a little less."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...base.errors import InstanceError
from ...base.tolerances import LEVEL
from .binding_rounds import Held
from .units import Unit

__all__ = ["Side", "Worth"]


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

    @property
    def two_sided(self) -> bool:
        """Whether a unit less is not the reverse of a unit more."""
        if self.more is None or self.less is None:
            return False
        a, b = self.more, self.less
        if a.tasks is None or b.tasks is None:
            return bool(abs(a.price - b.price) > LEVEL * max(abs(a.price), abs(b.price)))
        return bool(np.abs(a.tasks - b.tasks).max() > LEVEL * max(np.abs(a.tasks).max(), np.abs(b.tasks).max()))

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
