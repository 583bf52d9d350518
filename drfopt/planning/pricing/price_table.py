"""What one more unit of everything is worth, as a table."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.results import Result
from ...base.tables import Column, Sheet
from ...base.tolerances import LEVEL
from ...model.allocation import Allocation
from ...model.instance import Instance
from ...model.policies import policy_named
from .worth import Side, Worth

__all__ = ["Prices"]

KINDS = ("all", "resource", "machine", "cell")
"""Kinds of units in the order of the table."""

SHOWN = 2
"""Users named in the table for each unit."""

PRICED = {
    "leximin": "the lowest level that a capacity holds",
    "sum": "the sum",
    "alpha": "the market (the objective's dual)",
}
"""What a shadow price is the price of, by the objective of the policy."""


@dataclass(frozen=True, eq=False)
class Prices(Result):
    """What one more unit of everything is worth under a policy."""

    _schema = "drfopt prices 1"
    _rows = "units"

    instance: Instance
    policy: str
    allocation: Allocation
    units: tuple[Worth, ...]

    @property
    def lowest_level(self) -> float | None:
        """The lowest level of those who are placed and below their limits; None where nobody is."""
        instance = self.allocation.instance
        below = ~instance.unplaced() & (self.allocation.tasks < instance.limits * (1 - LEVEL))
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
        return Sheet(title, columns, rows, tuple(self._notes(len(self.units) - len(shown))), document=self.to_dict)

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
            notes.append("everybody is at its limit or unplaced: no capacity holds anybody down")
        else:
            notes.append(f"lowest level of those below their limits: {lowest:.6g}")
        if sided := [worth.name for worth in self.units if worth.two_sided]:
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
