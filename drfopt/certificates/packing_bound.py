"""What all the tasks that a cluster can run are worth at most, at given prices, in integers.

A pool prices its resources: a task costs what it uses, and no tasks together cost more than all there is.  Machines
price the tasks of each shape: no machine can carry more worth than its most valuable load.  Where loads are too many
to list, a machine is worth what its resources and the fillings of its devices are, if no task pays more than it uses.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from operator import itemgetter, mul
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..base.deadline import NEVER, Deadline
from ..base.solvers.table import sparse_program
from ..model.devices import DeviceRoom
from ..model.packings import PATTERNS, device_room, integer_rows, too_many
from ..model.whole_values import SAFE, WholeUsers
from .fillings import Fillings, dearest, fillings_of

__all__ = ["Bounds", "Machines", "PackingProgram", "Pool", "Prices", "Terms", "asker", "cheapest", "worth_of"]

LOADS = 20_000
"""Steps in listing the loads of one machine; a class that needs more is priced by its resources and devices, and so is
one for which there is no time."""

DEARER = 1e-9
"""Part by which a filling has to be worth more than a device to be one more column: a solver's own rounding."""

Prices = tuple[tuple[int, ...], ...]

Bounds = dict[tuple[int, tuple[int, ...]], tuple[int, int]]
"""Least and most machines of a class with a load."""

Terms = tuple[Sequence[int] | np.ndarray, Sequence[float] | np.ndarray]
"""Columns of a row, and their factors."""


class Pool:
    """One pool: prices are one row, of the resources.

    Attributes
    ----------
    table : array (goods, resources)
        What a task of each good needs.
    most : int
        The largest amount of it.
    """

    def __init__(self, users: WholeUsers):
        self.demands, self.room = users.pool_rows
        self.most = max(map(max, self.demands), default=0)
        self.table = np.array(self.demands, dtype=np.int64 if self.most < SAFE else object).reshape(-1, len(self.room))

    def used(self, tasks: Sequence[int]) -> list[int]:
        """Return what tasks of each good use of each resource."""
        if self.most * sum(tasks) < SAFE:
            return (np.array(tasks, dtype=np.int64) @ self.table).tolist()
        return [sum(map(mul, tasks, column)) for column in zip(*self.demands, strict=True)]

    @property
    def free(self) -> Prices:
        """Prices at which everything costs nothing."""
        return ((0,) * len(self.room),)

    def priced(self, prices: Prices, bounds: Bounds | None = None) -> tuple[list[int], int]:
        """Return the cost of a task of each good, and of the room."""
        (row,) = prices
        whole = sum(map(mul, row, self.room))
        if self.most * sum(row) < SAFE:
            return (self.table @ np.array(row, dtype=np.int64)).tolist(), whole
        used = [(j, price) for j, price in enumerate(row) if price]
        return [sum(price * demand[j] for j, price in used) for demand in self.demands], whole


class Machines:
    """Machines: the first row of prices is of the shapes, and one row a class is of its resources where it needs one.

    Behind the resources are the sizes of parts of its devices.  Where groups have ceilings the last row is of these,
    which price what each good takes of them besides.

    Attributes
    ----------
    shapes : list of int
        The shape of each good.
    under, ceilings : lists
        What a task of each good takes of each ceiling, and what there is of it.
    loads : list, one per class
        All loads (tasks of each shape that fits on the class) of one machine to which no task can be added; None where
        there are too many, or the deadline has passed: what prices refute then, they refute with loads as well.
    fillings : list, one per class
        Of the devices of one machine; none where all loads are listed.
    fitting : list, one per class
        Shapes that fit on it.
    """

    def __init__(self, whole: WholeUsers, deadline: Deadline = NEVER):
        instance = whole.cluster
        self.users = users = [rows[0] for rows in whole.shapes]
        self.shapes = [shape for _, shape, _ in whole.goods]
        self.under, self.ceilings = whole.ceiling_rows
        self.counts = [int(count) for count in instance.counts]
        self.fitting = [[s for s, i in enumerate(users) if instance.fits[i, k]] for k in range(instance.k)]
        self.rows: list[tuple[list[list[int]], list[int]]] = []
        self.loads: list[list[tuple[int, ...]] | None] = []
        self.fillings: list[list[Fillings]] = []
        for k, shapes in enumerate(self.fitting):
            demands = [instance.exact_demands[users[s]] for s in shapes]
            rows, room = integer_rows(demands, instance.exact_machine_capacity[k])
            self.rows.append((rows, room))
            devices = device_room(instance, k, [users[s] for s in shapes])
            self.loads.append(_loads(rows, room, devices) if deadline.left() else None)
            self.fillings.append([] if self.loads[k] is not None else fillings_of(devices))

    @property
    def free(self) -> Prices:
        """Prices at which everything costs nothing."""
        bounds = [(0,) * len(self.ceilings)] if self.ceilings else []
        sizes = (sum(len(one.sizes) for one in devices) for devices in self.fillings)
        classes = ((0,) * (len(room) + more) for (_, room), more in zip(self.rows, sizes, strict=True))
        return ((0,) * len(self.users), *classes, *bounds)

    def sized(self, k: int, prices: Sequence[Any]) -> list[tuple[Fillings, Sequence[Any]]]:
        """Return the devices of a class with the prices of their sizes, from those behind its resources."""
        found, place = [], len(self.rows[k][1])
        for one in self.fillings[k]:
            found.append((one, prices[place : place + len(one.sizes)]))
            place += len(one.sizes)
        return found

    def priced(self, prices: Prices, bounds: Bounds | None = None) -> tuple[list[int], int] | None:
        """Return the price of a task of each good, and the most valuable load of every machine and all ceilings.

        `bounds` are the least and most machines with some loads, by class and load; None where they cannot be kept.
        """
        worth, *by_class = prices
        capped = by_class.pop() if self.ceilings else ()
        total = sum(map(mul, capped, self.ceilings))
        for k, (shapes, loads, (rows, room), row, count) in enumerate(
            zip(self.fitting, self.loads, self.rows, by_class, self.counts, strict=True)
        ):
            values = [worth[s] for s in shapes]
            mine = {key[1]: ends for key, ends in (bounds or {}).items() if key[0] == k}
            if loads is not None and mine:
                each = [-sum(map(mul, load, values)) for load in loads]
                least = cheapest(each, [mine.get(load, (0, count)) for load in loads], count)
                if least is None:
                    return None
                total -= least
                continue
            if loads is not None:
                total += count * max((sum(map(mul, load, values)) for load in loads), default=0)
                continue
            most = Fraction(0)
            devices = self.sized(k, row)
            whole = sum(p * f for p, f in zip(row, room, strict=False)) + sum(one.worth(q) for one, q in devices)
            for at, (value, demand) in enumerate(zip(values, rows, strict=True)):
                cost = sum(p * d for p, d in zip(row, demand, strict=False))
                cost += sum(q[place] * number for one, q in devices for place, number in [one.taken[at]])
                if value and not cost:
                    return None
                if value:
                    most = max(most, Fraction(value * whole, cost))
            total += count * -(-most.numerator // most.denominator)
        costs = [worth[s] + sum(map(mul, capped, row)) for s, row in zip(self.shapes, self.under, strict=True)]
        return costs, total


def cheapest(each: Sequence[int], ends: Sequence[tuple[int, int]], number: int) -> int | None:
    """Return the least price at which so many take options within bounds; None when they cannot."""
    left = number - sum(low for low, _ in ends)
    price = sum(cost * low for cost, (low, _) in zip(each, ends, strict=True))
    if left < 0 or any(low > high for low, high in ends):
        return None
    for cost, (low, high) in sorted(zip(each, ends, strict=True)):
        taken = min(left, high - low)
        price += cost * taken
        left -= taken
    return None if left else price


def _loads(rows: list[list[int]], room: list[int], devices: DeviceRoom) -> list[tuple[int, ...]] | None:
    """Return what one machine can carry, and no task besides; None after `LOADS` steps."""
    if too_many(rows, room, devices, LOADS):
        return None
    partial: list[tuple[tuple[int, ...], list[int]]] = [((), list(room))]
    steps = 0
    for position, row in enumerate(rows):
        longer = []
        for load, left in partial:
            most = min(f // d for f, d in zip(left, row, strict=True) if d)
            while most and not devices.fit({**dict(enumerate(load)), position: most}):
                most -= 1
            steps += most + 1
            if steps > LOADS:
                return None
            for x in range(most if position == len(rows) - 1 else 0, most + 1):
                longer.append(((*load, x), [f - x * d for f, d in zip(left, row, strict=True)]))
        partial = longer

    def takes(load: tuple[int, ...], left: list[int], s: int) -> bool:
        return all(d <= f for d, f in zip(rows[s], left, strict=True)) and bool(
            devices.fit({**dict(enumerate(load)), s: load[s] + 1})
        )

    return [load for load, left in partial if not any(takes(load, left, s) for s in range(len(rows)))]


def worth_of(users: WholeUsers, deadline: Deadline = NEVER) -> Pool | Machines:
    """Return how a cluster prices the tasks of its users; a deadline ends the listing of loads, class by class."""
    return Pool(users) if users.instance.machines is None else Machines(users, deadline)


def asker() -> Any:
    """Return HiGHS, which is asked one program after another: to begin it takes as long as to write one."""
    import highspy

    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("presolve", "off")
    return highs


class PackingProgram:
    """The columns and rows of a linear program over what a cluster runs.

    Attributes
    ----------
    high, cost : list of float
        A column each; all are at least 0.
    rows : list of (float, float, (columns, factors))
        Least, most, and terms.
    units : dict from (int, int) to (int, float)
        The row of each price, and the unit in which it is written.
    loads : list of (int, tuple of int)
        Class and load of the columns that count machines.
    listed : bool
        Whether every class is counted by its loads.
    devices : list of (Fillings, int, list of int)
        Rows of the devices of a class, and of the parts of each size on them; their columns are `filled` in.
    """

    def __init__(self) -> None:
        self.high: list[float] = []
        self.cost: list[float] = []
        self.rows: list[tuple[float, float, Terms]] = []
        self.units: dict[tuple[int, int], tuple[int, float]] = {}
        self.loads: list[tuple[int, tuple[int, ...]]] = []
        self.listed = False
        self.devices: list[tuple[Fillings, int, list[int]]] = []

    def column(self, high: float, cost: float = 0.0) -> int:
        """Add a column."""
        self.high.append(high)
        self.cost.append(cost)
        return len(self.high) - 1

    def row(self, low: float, high: float, terms: dict[int, float]) -> int:
        """Add a row of factors by column."""
        return self.sparse_row(low, high, (list(terms), list(terms.values())))

    def sparse_row(self, low: float, high: float, terms: Terms) -> int:
        """Add a row of columns and their factors."""
        self.rows.append((low, high, terms))
        return len(self.rows) - 1

    def model(self, least: ArrayLike) -> Any:
        """Return the `HighsLp` of columns that are at least so much."""
        low, high, terms = zip(*self.rows, strict=True) if self.rows else ((), (), ())
        at, factors = (np.concatenate([*map(itemgetter(part), terms), []]) for part in (0, 1))
        starts = np.cumsum([0, *(len(columns) for columns, _ in terms)])
        return sparse_program(self.cost, least, self.high, low, high, starts, at, factors)

    def machine_columns(self, worth: Machines) -> list[dict[int, float]]:
        """Add the machines of all classes; return by shape which columns run how many of its tasks.

        Columns of loads come first, so that what is branched upon stands together.
        """
        runs: list[dict[int, float]] = [{} for _ in worth.users]
        few = [loads is not None and len(loads) <= PATTERNS for loads in worth.loads]
        for k, (fitting, loads) in enumerate(zip(worth.fitting, worth.loads, strict=True)):
            if few[k] and loads is not None:
                columns = [self.column(worth.counts[k]) for _ in loads]
                self.loads += [(k, load) for load in loads]
                self.row(0.0, worth.counts[k], dict.fromkeys(columns, 1.0))
                for column, load in zip(columns, loads, strict=True):
                    for s, x in zip(fitting, load, strict=True):
                        runs[s][column] = float(x)
        self.listed = len({k for k, _ in self.loads}) == sum(map(bool, worth.fitting))
        for k, (fitting, (rows, room)) in enumerate(zip(worth.fitting, worth.rows, strict=True)):
            if few[k]:
                continue
            columns = [self.column(math.inf) for _ in fitting]
            for s, column in zip(fitting, columns, strict=True):
                runs[s][column] = 1.0
            for j, most in enumerate(room):
                unit = float(max((row[j] for row in rows), default=1) or 1)
                terms = {column: row[j] / unit for column, row in zip(columns, rows, strict=True) if row[j]}
                self.units[k + 1, j] = (self.row(-math.inf, worth.counts[k] * most / unit, terms), unit)
            place = len(room)
            for one in worth.fillings[k]:
                devices, parts = self._device_rows(one, worth.counts[k], columns)
                self.units |= {(k + 1, place + z): (row, 1.0) for z, row in enumerate(parts)}
                self.devices.append((one, devices, parts))
                place += len(parts)
        return runs

    def _device_rows(self, one: Fillings, machines: int, columns: Sequence[int]) -> tuple[int, list[int]]:
        """Add the devices of a class, filled with parts of one size or as is known for now; return their rows."""
        alone = (one.alone(z) for z in range(len(one.sizes)))
        fillings = {self.column(math.inf): held for held in dict.fromkeys([*alone, *one.known])}
        devices = self.row(-math.inf, machines * one.count, dict.fromkeys(fillings, 1.0))
        rows = []
        for z in range(len(one.sizes)):
            taking = zip(columns, one.taken, strict=True)
            terms = {column: float(number) for column, (place, number) in taking if number and place == z}
            terms |= {column: -float(held[z]) for column, held in fillings.items() if held[z]}
            rows.append(self.row(-math.inf, 0.0, terms))
        return devices, rows

    def filled(self, highs: Any, duals: Sequence[float]) -> bool:
        """Add fillings of devices that are worth more than a device at these duals; say whether there were any."""
        new = False
        for one, devices, parts in self.devices:
            prices = [max(0.0, -duals[row]) for row in parts]
            worth, held = dearest(one.sizes, prices, one.room)
            if worth > max(0.0, -duals[devices]) + DEARER * max(1.0, worth):
                rows = [(devices, 1.0), *((row, -float(x)) for row, x in zip(parts, held, strict=True) if x)]
                at = np.array([row for row, _ in rows], dtype=np.int32)
                highs.addCol(0.0, 0.0, math.inf, len(rows), at, np.array([x for _, x in rows]))
                one.known[tuple(held)] = None
                new = True
        return new
