"""What is for sale, and the cluster after a purchase: machines of a class, or amounts of a pool's resource.

From floats of a program to what can be bought: whole steps where an offer is sold in steps, else near fractions.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ...base.errors import InstanceError, suggestion
from ...base.numbers.quantities import exact
from ...base.tolerances import LEVEL
from ...model.instance import Instance
from ...model.machine import Machine
from ...model.naming import some
from ...model.users import TaskType
from .regions import Region

__all__ = ["WHOLE", "Counts", "Offer", "Shop", "Steps", "shop"]

UNIT = "unit (steps)"
"""What an amount in which a resource is sold is called on the command line, and in Python."""


@dataclass(frozen=True)
class Offer:
    """One thing for sale.

    Attributes
    ----------
    name : str
        A machine class, or a resource of a pool.
    cost : Fraction
        Of one machine, or of one unit of the resource. Positive.
    most : Fraction or None
        As many machines or units may be bought; None for no limit.
    step : Fraction or None
        Pieces in which it is sold: 1 for machines; None for a resource sold in any amount.
    """

    name: str
    cost: Fraction
    most: Fraction | None = None
    step: Fraction | None = None


@dataclass(frozen=True)
class Shop:
    """An instance and what is for sale; a purchase is a number of steps, or an amount, of each offer.

    Attributes
    ----------
    instance : Instance
    offers : tuple of Offer
    empty : bool
        Whether the cluster is built from nothing: what the instance has is not there yet.
    """

    instance: Instance
    offers: tuple[Offer, ...]
    empty: bool = False

    @property
    def whole(self) -> list[bool]:
        """Whether an offer is sold in steps."""
        return [offer.step is not None for offer in self.offers]

    @property
    def prices(self) -> list[Fraction]:
        """Cost of one step, or of one unit where there are no steps."""
        return [offer.cost * (offer.step or 1) for offer in self.offers]

    @property
    def most(self) -> list[Fraction | None]:
        """Most steps or units that may be bought."""
        return [
            None if offer.most is None else Fraction(offer.most // offer.step) if offer.step else offer.most
            for offer in self.offers
        ]

    def cost(self, counts: Sequence[Fraction]) -> Fraction:
        """Return what a purchase costs."""
        return sum((price * count for price, count in zip(self.prices, counts, strict=True)), Fraction(0))

    def amounts(self, counts: Sequence[Fraction]) -> dict[str, Fraction]:
        """Return how many machines, or units, of each offer a purchase is."""
        return {offer.name: count * (offer.step or 1) for offer, count in zip(self.offers, counts, strict=True)}

    def rooms(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the capacity of one machine of each class, how many there are, and what a step of each offer adds.

        Shapes are (k, m), (k,) and (offers, k, m).  A pool is one machine of one class.
        """
        instance = self.instance
        if instance.machines is None:
            base = (np.zeros(instance.m) if self.empty else instance.capacity)[None, :]
            adds = np.zeros((len(self.offers), 1, instance.m))
            for s, offer in enumerate(self.offers):
                adds[s, 0, instance.resources.index(offer.name)] = float(offer.step or 1)
            return base, np.ones(1), adds
        adds = np.zeros((len(self.offers), instance.k, instance.m))
        for s, offer in enumerate(self.offers):
            k = instance.machine_names.index(offer.name)
            adds[s, k] = instance.machine_capacity[k] * float(offer.step or 1)
        counts = np.zeros(instance.k) if self.empty else instance.counts.astype(float)
        return instance.machine_capacity, counts, adds

    def machines(self) -> np.ndarray:
        """Return how many machines of each class a step of each offer adds, (offers, k)."""
        found = np.zeros((len(self.offers), self.instance.k))
        for s, offer in enumerate(self.offers):
            found[s, self.instance.machine_names.index(offer.name)] = float(offer.step or 1)
        return found

    def after(self, counts: Sequence[Fraction]) -> Instance | None:
        """Return the instance after a purchase, exactly; None where there is nothing in it."""
        instance, bought = self.instance, self.amounts(counts)
        if instance.machines is None:
            rows = zip(instance.resources, instance.exact_capacity, strict=True)
            capacity = {r: (0 if self.empty else c) + bought.get(r, Fraction(0)) for r, c in rows}
            return _with(instance, capacity, None, None) if any(capacity.values()) else None
        there = [0 if self.empty else machine.count for machine in instance.machines]
        total = [count + int(bought.get(name, 0)) for count, name in zip(there, instance.machine_names, strict=True)]
        kept = [k for k, count in enumerate(total) if count]
        if not kept:
            return None
        machines = [
            Machine(
                instance.machine_names[k],
                dict(zip(instance.resources, instance.exact_machine_capacity[k], strict=True)),
                total[k],
                instance.machines[k].devices,
            )
            for k in kept
        ]
        return _with(instance, None, machines, kept)


def _with(instance: Instance, capacity: Any, machines: list[Machine] | None, kept: list[int] | None) -> Instance:
    """Return the instance on another cluster, with the classes that are kept."""
    cluster: dict[str, Any] = {"capacity": capacity, "machines": machines}
    if kept is not None and machines is not None:
        cluster["eligible"] = instance.eligible[:, kept]
        if instance.task_types is not None:
            names = {machine.name for machine in machines}
            cluster["demands"] = [
                list(row) if kinds is None else [_kept(kind, names) for kind in kinds]
                for row, kinds in zip(instance.exact_demands, instance.task_types, strict=True)
            ]
    return Instance(**(instance.parts() | cluster))


def _kept(kind: TaskType, names: set[str]) -> TaskType:
    if kind.machines is None:
        return kind
    return TaskType(kind.demand, kind.count, tuple(name for name in kind.machines if name in names), kind.name)


def shop(
    instance: Instance,
    costs: Mapping[str, Any],
    most: Mapping[str, Any] | None = None,
    steps: Mapping[str, Any] | None = None,
    empty: bool = False,
) -> Shop:
    """Return the shop that sells machine classes, or resources of a pool, at these costs.

    Parameters
    ----------
    costs : mapping from name to number
        Of one machine, or of one unit of a resource.
    most : mapping from name to number, optional
        The most of it that may be bought.
    steps : mapping from resource to number, optional
        Amounts in which a resource of a pool is sold; any amount by default.
    empty : bool
        Build the cluster from nothing.

    Raises
    ------
    InstanceError
        When a name is unknown, a cost not positive, or a number out of range.
    """
    pool = instance.machines is None
    known = instance.resources if pool else instance.machine_names
    what = "resource" if pool else "machine class"
    for table, key in ((costs, "costs"), (most, "most"), (steps, "steps")):
        if table is not None and not isinstance(table, Mapping):
            raise InstanceError(f"{key} are {table!r}: give a table, such as {{{known[0]!r}: 10}}")
    if not costs:
        raise InstanceError(f"nothing is for sale: give the cost of a {what}, such as 10 for {known[0]}")
    for given, key in ((costs, "cost"), (most or {}, "most"), (steps or {}, UNIT)):
        for name in given:
            if name not in known:
                raise InstanceError(f"{key} of {name!r}: the cluster has {some(known)}{suggestion(name, known)}")
            if name not in costs:
                raise InstanceError(f"{key} of {name!r}: it is not for sale: give its cost too")
    if steps and not pool:
        raise InstanceError(f"machines are bought one by one: leave the {UNIT} out, or make the cluster one pool")
    offers = []
    for name in known:
        if name in costs:
            step = Fraction(1) if not pool else _number(steps, name, UNIT) if name in (steps or {}) else None
            limit = _number(most, name, "most", 0) if name in (most or {}) else None
            if limit is not None and not pool:
                limit = Fraction(math.floor(limit))
            offers.append(Offer(name, _number(costs, name, "cost"), limit, step))
    return Shop(instance, tuple(offers), empty)


def _number(given: Mapping[str, Any] | None, name: str, key: str, least: int | None = None) -> Fraction:
    try:
        value = exact((given or {})[name])
    except InstanceError as error:
        raise InstanceError(f"{key} of {name!r}: {error}") from None
    if value < 0 or (value == 0 and least is None):
        more = "a positive number" if least is None else "a number, 0 or more"
        raise InstanceError(f"{key} of {name!r} is {(given or {})[name]}: give {more}")
    return value


WHOLE = 1e-6
"""Distance from a whole number up to which a number of machines of a linear program is one."""

NICE = 10**6
"""Largest denominator of an amount of a divisible resource, where that is near enough."""

Counts = tuple[Fraction, ...]
"""A purchase: steps of every offer."""


@dataclass(frozen=True, eq=False)
class Steps:
    """How what a shop offers is sold."""

    shop: Shop

    @cached_property
    def whole(self) -> np.ndarray:
        """Whether an offer is sold in steps, bool (offers,)."""
        return np.array(self.shop.whole)

    @cached_property
    def most(self) -> np.ndarray:
        """The most that may be bought, (offers,); inf for no end."""
        return np.array([math.inf if most is None else float(most) for most in self.shop.most])

    @property
    def everything(self) -> Region:
        """All purchases."""
        m = self.shop.instance.m
        return Region(np.zeros(len(self.most)), self.most.copy(), np.zeros((m, m)))

    @property
    def ending(self) -> bool:
        """Whether there is a largest purchase."""
        return bool(np.isfinite(self.most).all())

    def up(self, counts: np.ndarray) -> np.ndarray:
        """Return the next purchase that is not smaller, as far as what is for sale goes."""
        return np.minimum(np.where(self.whole, np.ceil(counts - WHOLE), counts), self.most)

    def inwards(self, region: Region) -> Region:
        """Return ends with whole numbers of steps where an offer is sold in steps."""
        slack = WHOLE * np.maximum(1.0, np.where(np.isfinite(region.high), region.high, 1.0))
        return replace(
            region,
            low=np.where(self.whole, np.ceil(region.low - slack), region.low),
            high=np.where(self.whole, np.floor(region.high + slack), region.high),
        )

    def exact(self, counts: np.ndarray) -> Counts:
        """Return a purchase of floats as one of fractions."""
        return tuple(
            Fraction(round(float(x))) if whole else _amount(float(x), most)
            for x, whole, most in zip(counts, self.whole, self.shop.most, strict=True)
        )

    def grain(self) -> Fraction | None:
        """Return what every cost is a multiple of; None where amounts are divisible."""
        if not self.whole.all():
            return None
        scale = math.lcm(*(price.denominator for price in self.shop.prices))
        return Fraction(math.gcd(*(int(price * scale) for price in self.shop.prices)), scale)


def _amount(x: float, most: Fraction | None) -> Fraction:
    """Return a fraction a little above a float: what the float lacks by rounding must not fail a target."""
    value = Fraction(x)
    nice = value.limit_denominator(NICE)
    if abs(nice - value) > abs(value) * Fraction(LEVEL):
        nice = (value * Fraction(1 + LEVEL)).limit_denominator(10**12)
    return nice if most is None else min(nice, most)
