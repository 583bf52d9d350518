"""What all the tasks that a cluster can run are worth at most, at given prices, in integers.

A pool prices its resources: a task costs what it uses, and no tasks together cost more than all there is.  Machines
price the tasks of each shape: no machine can carry more worth than its most valuable load.
"""

from fractions import Fraction
from operator import mul

from ..model.devices import DeviceRoom
from ..model.packings import device_room, integer_rows
from ..model.whole_values import WholeUsers

__all__ = ["Machines", "Pool", "Prices", "worth_of"]

LOADS = 20_000
"""Steps in listing the loads of one machine; a class that needs more is priced by its resources."""

Prices = tuple[tuple[int, ...], ...]


class Pool:
    """One pool: prices are one row, of the resources."""

    def __init__(self, users: WholeUsers):
        self.demands, self.room = users.pool_rows

    @property
    def free(self) -> Prices:
        """Prices at which everything costs nothing."""
        return ((0,) * len(self.room),)

    def priced(self, prices: Prices) -> tuple[list[int], int] | None:
        """Return the cost of a task of each good, and of the room."""
        (row,) = prices
        used = [(j, price) for j, price in enumerate(row) if price]
        costs = [sum(price * demand[j] for j, price in used) for demand in self.demands]
        return costs, sum(price * self.room[j] for j, price in used)


class Machines:
    """Machines: the first row of prices is of the shapes, and one row a class is of its resources where it needs one.

    Where groups have ceilings the last row is of these, which price what each good takes of them besides.

    Attributes
    ----------
    shapes : list of int
        The shape of each good.
    under, ceilings : lists
        What a task of each good takes of each ceiling, and what there is of it.
    loads : list, one per class
        All loads (tasks of each shape that fits on the class) of one machine that no other of them contains by its
        last shape; None where there are too many.
    fitting : list, one per class
        Shapes that fit on it.
    """

    def __init__(self, whole: WholeUsers):
        instance = whole.cluster
        self.users = users = [rows[0] for rows in whole.shapes]
        self.shapes = [shape for _, shape, _ in whole.goods]
        self.under, self.ceilings = whole.ceiling_rows
        self.counts = [int(count) for count in instance.counts]
        self.fitting = [[s for s, i in enumerate(users) if instance.fits[i, k]] for k in range(instance.k)]
        self.rows: list[tuple[list[list[int]], list[int]]] = []
        self.loads: list[list[tuple[int, ...]] | None] = []
        for k, shapes in enumerate(self.fitting):
            demands = [instance.exact_demands[users[s]] for s in shapes]
            rows, room = integer_rows(demands, instance.exact_machine_capacity[k])
            self.rows.append((rows, room))
            self.loads.append(_loads(rows, room, device_room(instance, k, [users[s] for s in shapes])))

    @property
    def free(self) -> Prices:
        """Prices at which everything costs nothing."""
        bounds = [(0,) * len(self.ceilings)] if self.ceilings else []
        return ((0,) * len(self.users), *((0,) * len(room) for _, room in self.rows), *bounds)

    def priced(self, prices: Prices) -> tuple[list[int], int] | None:
        """Return the price of a task of each good, and the most valuable load of every machine and all ceilings."""
        worth, *by_class = prices
        bounds = by_class.pop() if self.ceilings else ()
        total = sum(map(mul, bounds, self.ceilings))
        for shapes, loads, (rows, room), row, count in zip(
            self.fitting, self.loads, self.rows, by_class, self.counts, strict=True
        ):
            values = [worth[s] for s in shapes]
            if loads is not None:
                total += count * max((sum(map(mul, load, values)) for load in loads), default=0)
                continue
            most = Fraction(0)
            whole = sum(map(mul, row, room))
            for value, demand in zip(values, rows, strict=True):
                cost = sum(map(mul, row, demand))
                if value and not cost:
                    return None
                if value:
                    most = max(most, Fraction(value * whole, cost))
            total += count * -(-most.numerator // most.denominator)
        costs = [worth[s] + sum(map(mul, bounds, row)) for s, row in zip(self.shapes, self.under, strict=True)]
        return costs, total


def _loads(rows: list[list[int]], room: list[int], devices: DeviceRoom) -> list[tuple[int, ...]] | None:
    """Return what one machine can carry, of the last shape as much as fits; None after `LOADS` steps."""
    partial: list[tuple[tuple[int, ...], list[int]]] = [((), list(room))]
    steps = 0
    for position, row in enumerate(rows):
        longer = []
        for load, left in partial:
            most = min(f // d for f, d in zip(left, row, strict=True) if d)
            while most and not devices.fit({**dict(enumerate(load)), position: most}):
                most -= 1
            for x in range(most if position == len(rows) - 1 else 0, most + 1):
                longer.append(((*load, x), [f - x * d for f, d in zip(left, row, strict=True)]))
            steps += most + 1
            if steps > LOADS:
                return None
        partial = longer
    return [load for load, _ in partial]


def worth_of(users: WholeUsers) -> Pool | Machines:
    """Return how a cluster prices the tasks of its users."""
    return Pool(users) if users.instance.machines is None else Machines(users)
