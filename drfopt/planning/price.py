"""What one more unit is worth: shadow prices of resources and machines, who gains by them, and how far that holds."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..allocation import Allocation
from ..instance import Instance
from ..policies import Policy, policy_named
from ..solve import solve
from ..tables import Column, Sheet

__all__ = ["Prices", "Side", "Worth", "price"]


@dataclass(frozen=True, eq=False)
class Side:
    """What follows from a little more, or a little less, of something; everything for each unit more.

    Attributes
    ----------
    lowest_level, sum_of_shares : float
        Change of the lowest level of those below their limits, and of the sum of dominant shares.
    tasks : array (n,)
        Change of the tasks of every user.
    until : float or None
        The amount up to (down to) which the same users are held by the same things; None where that is beyond
        ten times what is there.
    """

    lowest_level: float
    sum_of_shares: float
    tasks: np.ndarray
    until: float | None


@dataclass(frozen=True, eq=False)
class Worth:
    """What one unit is worth.

    Attributes
    ----------
    kind : str
        ``resource``, ``machine`` (one machine of a class) or ``cell`` (a resource of the machines of a class).
    name : str
        ``cpu``, ``v100`` or ``v100/cpu``.
    now : float
        How much there is: units of the resource, machines of the class.
    price : float
        Shadow price of the lowest level, in shares of the cluster as it is.
    total_price : float
        Shadow price of the largest sum of dominant shares (``utilitarian``), likewise.
    more, less : Side
        Above and below `now`; they differ where something else becomes scarce right here.
    """

    kind: str
    name: str
    now: float
    price: float
    total_price: float
    more: Side
    less: Side


@dataclass(frozen=True, eq=False)
class Prices:
    """What one more unit of everything is worth under a policy."""

    instance: Instance
    policy: str
    allocation: Allocation
    units: tuple[Worth, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``drfopt price --json`` prints."""
        return {"instance": self.instance.name, "policy": self.policy, "units": []}

    def sheet(self) -> Sheet:
        """Return the table: a row a resource, a class, and a resource of a class that somebody waits for."""
        return Sheet(self.policy, (Column("unit"),), [], ())

    def __str__(self) -> str:
        return self.sheet().text()

    def _repr_html_(self) -> str:
        return self.sheet().html()


def price(instance: Instance, policy: str | Policy = "drf") -> Prices:
    """Return what one more unit of every resource and machine class is worth."""
    allocation = solve(instance, policy)
    return Prices(instance, policy_named(policy).name, allocation, ())
