"""An instance in exact numbers, small and easy to change: what an audit asks "what if" about.

What an audit does with the numbers a verdict may rest on: `Fraction`s, and enclosures where those do not reach.

A comparison is made only where the enclosures decide it; where they overlap, neither `below` nor `reaches` holds.  The
numbers come from the audit itself, millions of them, so they are not looked at before they are compared.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Context
from fractions import Fraction
from functools import cached_property

from ..base.numbers.enclosures import Enclosure
from ..model.instance import Instance
from ..model.machine import Devices, Machine, accepts, resized

__all__ = [
    "Economy",
    "IdenticalMachines",
    "Number",
    "around",
    "below",
    "cluster_of",
    "exactly",
    "high",
    "least",
    "low",
    "reaches",
    "shown",
    "shown_above",
    "side_by_side",
    "times",
    "total",
]


Row = tuple[Fraction, ...]


@dataclass(frozen=True)
class IdenticalMachines:
    """Identical machines: the capacity (m,) of one, how many there are, and who may use them (n,)."""

    name: str
    capacity: Row
    count: int
    open_to: tuple[bool, ...]
    devices: tuple[tuple[int, Devices], ...] = ()

    def fits(self, i: int, demand: Row) -> bool:
        """Say whether one whole task of user i fits on one machine of the class, and may run there."""
        within = all(d <= c for d, c in zip(demand, self.capacity, strict=True))
        return self.open_to[i] and within and all(accepts(demand[j], one) for j, one in self.devices)

    @property
    def row(self) -> tuple[Row, int, dict[int, tuple[int, Fraction]]]:
        """What the reference is told of the class: capacity, count, and devices by resource."""
        return self.capacity, self.count, {j: (one.count, one.size) for j, one in self.devices}

    def machine(self, resources: Sequence[str]) -> Machine:
        """Return the class as an instance lists it."""
        devices = {resources[j]: one for j, one in self.devices}
        return Machine(self.name, list(self.capacity), self.count, devices or None)

    def with_capacity(self, j: int, capacity: Fraction) -> "IdenticalMachines":
        """Return the class with so much of a resource on each machine, and as many devices as that is."""
        row = _put(self.capacity, j, capacity)
        return replace(self, capacity=row, devices=tuple(resized(dict(self.devices), self.capacity, row).items()))

    @property
    def room(self) -> Row:
        """What all machines of the class have together, (m,)."""
        return tuple(self.count * c for c in self.capacity)


@dataclass(frozen=True)
class Economy:
    """Users and a pool, or machines, as `Fraction`s.

    Attributes
    ----------
    demands : n rows of m
    pool : (m,)
        Capacity of the pool; of the whole cluster where there are machines.
    weights : (n,), or n rows of m
    limits : (n,)
        None for no limit.
    users, resources : tuples of str
    machines : tuple of IdenticalMachines or None
    """

    demands: tuple[Row, ...]
    pool: Row
    weights: tuple
    limits: tuple[Fraction | None, ...]
    users: tuple[str, ...]
    resources: tuple[str, ...]
    machines: tuple[IdenticalMachines, ...] | None = None

    @property
    def n(self) -> int:
        """Number of users."""
        return len(self.demands)

    @property
    def m(self) -> int:
        """Number of resources."""
        return len(self.pool)

    @cached_property
    def weighted_per_resource(self) -> bool:
        """Whether weights are rows, one number a resource."""
        return bool(self.weights) and isinstance(self.weights[0], tuple)

    def weight(self, i: int, j: int) -> Fraction:
        """Return the weight of user i on resource j."""
        return self.weights[i][j] if self.weighted_per_resource else self.weights[i]

    @cached_property
    def all_weights(self) -> Row:
        """What all users' weights add up to on each resource, (m,)."""
        columns = zip(*self.weights, strict=True) if self.weighted_per_resource else (self.weights,) * self.m
        return tuple(sum(column, Fraction(0)) for column in columns)

    def classes(self, i: int) -> tuple[tuple[int, Row], ...]:
        """Return number and whole room of every class user i can run on; a pool is class 0."""
        if self.machines is None:
            return ((0, self.pool),)
        return tuple((k, c.room) for k, c in enumerate(self.machines) if c.fits(i, self.demands[i]))

    def places(self, i: int, whole: bool) -> set[int]:
        """Return the numbers of these classes; of a `whole` task that the empty pool is too small for, none."""
        if whole and self.machines is None and any(d > c for d, c in zip(self.demands[i], self.pool, strict=True)):
            return set()
        return {k for k, _ in self.classes(i)}

    # ---- what if ----------------------------------------------------------------------------------------------

    def keeping(self, users: Sequence[int]) -> "Economy":
        """Return the cluster with these users only, in this order."""

        def pick(values: tuple) -> tuple:
            return tuple(values[i] for i in users)

        machines = self.machines and tuple(replace(c, open_to=pick(c.open_to)) for c in self.machines)
        return replace(
            self,
            demands=pick(self.demands),
            weights=pick(self.weights),
            limits=pick(self.limits),
            users=pick(self.users),
            machines=machines,
        )

    def without(self, user: int) -> "Economy":
        """Return the cluster after a user has left."""
        return self.keeping([i for i in range(self.n) if i != user])

    def server(self, k: int) -> tuple[list[int], "Economy"]:
        """Return the users who may run something on machines of class k, and one of these as their pool."""
        machine = (self.machines or ())[k]
        users = [i for i, row in enumerate(self.demands) if machine.fits(i, row)]
        return users, replace(self.keeping(users), pool=machine.capacity, machines=None)

    def reporting(self, user: int, demand: Row) -> "Economy":
        """Return the cluster as it looks when the user says her task needs `demand`, and knows no limit."""
        return self.reporting_all({user: demand})

    def reporting_all(self, reports: Mapping[int, Row]) -> "Economy":
        """Return the cluster as it looks with these reports."""
        demands = tuple(reports.get(i, row) for i, row in enumerate(self.demands))
        limits = tuple(None if i in reports else limit for i, limit in enumerate(self.limits))
        return replace(self, demands=demands, limits=limits)

    def with_capacity(self, j: int, capacity: Fraction, k: int | None = None) -> "Economy":
        """Return the cluster with another capacity of resource j: of the pool, or of every machine of class k."""
        if self.machines is None or k is None:
            return replace(self, pool=_put(self.pool, j, capacity))
        return self._with_class(k, self.machines[k].with_capacity(j, capacity))

    def with_machines(self, k: int, count: int) -> "Economy":
        """Return the cluster with another number of machines of class k."""
        return self if self.machines is None else self._with_class(k, replace(self.machines[k], count=count))

    def _with_class(self, k: int, changed: IdenticalMachines) -> "Economy":
        machines = tuple(changed if number == k else c for number, c in enumerate(self.machines or ()))
        pool = tuple(sum((c.room[j] for c in machines), Fraction(0)) for j in range(self.m))
        return replace(self, machines=machines, pool=pool)

    # ---- back to an instance ----------------------------------------------------------------------------------

    def instance(self, name: str = "", source: str = "") -> Instance:
        """Return the instance of these numbers."""
        pool = self.machines is None
        weights = [list(row) for row in self.weights] if self.weighted_per_resource else list(self.weights)
        return Instance(
            [list(row) for row in self.demands],
            list(self.pool) if pool else None,
            machines=None if pool else [c.machine(self.resources) for c in self.machines or ()],
            users=self.users,
            resources=self.resources,
            weights=weights,
            max_tasks=list(self.limits),
            eligible=None
            if pool
            else {user: [c.name for c in self.machines or () if c.open_to[i]] for i, user in enumerate(self.users)},
            name=name,
            source=source,
        )


def cluster_of(instance: Instance) -> Economy:
    """Return an instance as a `Economy`."""
    machines = None
    if instance.machines is not None:
        machines = tuple(
            IdenticalMachines(
                machine.name,
                row,
                machine.count,
                tuple(bool(e) for e in instance.eligible[:, k]),
                tuple((instance.resources.index(r), one) for r, one in (machine.devices or {}).items()),
            )
            for k, (machine, row) in enumerate(zip(instance.machines, instance.exact_machine_capacity, strict=True))
        )
    return Economy(
        demands=instance.exact_demands,
        pool=instance.exact_capacity,
        weights=instance.exact_weights,
        limits=instance.exact_limits,
        users=instance.users,
        resources=instance.resources,
        machines=machines,
    )


def _put(row: Row, j: int, value: Fraction) -> Row:
    return (*row[:j], value, *row[j + 1 :])


DIGITS = 12
"""Digits of numerator and denominator together up to which a sentence shows a fraction."""


Number = Fraction | Enclosure


def low(value: Number) -> Fraction:
    """Return what the value is at least."""
    return value.lower if isinstance(value, Enclosure) else value


def high(value: Number) -> Fraction:
    """Return what the value is at most."""
    return value.upper if isinstance(value, Enclosure) else value


def exactly(value: Number) -> bool:
    """Say whether the value is known exactly."""
    return not isinstance(value, Enclosure)


def around(value: float, error: float, least: float = 0.0) -> Number:
    """Return the enclosure of a computed value with a relative `error`, at least of `least`: without that 0 stays 0."""
    if not value and not least:
        return Fraction(0)
    centre, width = Fraction(value), max(Fraction(abs(value)) * Fraction(error), Fraction(least))
    return Enclosure(max(centre - width, Fraction(0)) if least else centre - width, centre + width)


def times(factor: Fraction, value: Number) -> Number:
    """Return a factor that is not negative times the value."""
    if isinstance(value, Enclosure):
        return Enclosure(factor * value.lower, factor * value.upper)
    return factor * value


def least(*values: Number) -> Number:
    """Return the smallest of the values, as an enclosure where one of them is."""
    if all(exactly(value) for value in values):
        return min(low(value) for value in values)
    lower, upper = min(map(low, values)), min(map(high, values))
    return lower if lower == upper else Enclosure(lower, upper)


def total(values: Iterable[Number]) -> Number:
    """Return the sum of the values."""
    listed = list(values)
    if all(exactly(value) for value in listed):
        return sum(map(low, listed), Fraction(0))
    return Enclosure(sum(map(low, listed), Fraction(0)), sum(map(high, listed), Fraction(0)))


def below(one: Number, other: Number) -> bool:
    """Say whether the one is certainly less than the other."""
    return high(one) < low(other)


def reaches(one: Number, other: Number) -> bool:
    """Say whether the one is certainly as much as the other."""
    return one is other or low(one) >= high(other)


def shown(value: Number) -> str:
    """Return the value as a sentence has it: a fraction or a decimal where that is short, else rounded."""
    if not low(value):  # What may be nothing is told as nothing.
        return "0"
    return _exactly(value) or _rounded((low(value) + high(value)) / 2, _digits(value))


def shown_above(value: Number) -> str:
    """Return what the value is at most as a sentence has it: a fraction where it is short, otherwise rounded up."""
    return _exactly(value) or _rounded(high(value), _digits(value), ROUND_CEILING)


def _exactly(value: Number) -> str:
    """Return a short fraction, or a decimal of a dozen digits, that is the value; empty where neither is."""
    if isinstance(value, Enclosure):
        return ""
    few = max(abs(value.numerator), value.denominator) <= 10**DIGITS
    if few and len(str(value.numerator)) + len(str(value.denominator)) <= DIGITS:
        return str(value)
    text = _rounded(value, DIGITS)
    return text if Fraction(text) == value else ""


def _digits(value: Number) -> int:
    """Return in how many digits a value is told: six, or all before the point and one after it."""
    return min(max(6, len(str(int(high(value)))) + 1), DIGITS)


def side_by_side(one: Number, other: Number) -> tuple[str, str]:
    """Return two values as one sentence has them: with more digits where different ones would look the same."""
    first, second = low(one), low(other)
    if first == second or f"{float(first):.6g}" != f"{float(second):.6g}":
        return shown(one), shown(other)
    digits = 9
    while (texts := (_rounded(first, digits), _rounded(second, digits)))[0] == texts[1]:
        digits += 3
    return texts


def _rounded(value: Fraction, digits: int, rounding: str = ROUND_HALF_EVEN) -> str:
    context = Context(prec=digits, rounding=rounding)
    return f"{context.divide(context.create_decimal(value.numerator), value.denominator).normalize(context):g}"
