"""What all the tasks that a cluster can run are worth at most, at given prices, in integers.

A pool prices its resources: a task costs what it uses, and no tasks together cost more than all there is.  Machines
price the tasks of each shape: no machine can carry more worth than its most valuable load.
"""

from collections.abc import Sequence
from fractions import Fraction
from operator import mul

from ..model.devices import DeviceRoom
from ..model.instance import Instance
from ..model.packings import device_room, integer_rows

__all__ = ["Machines", "Pool", "Prices", "worth_of"]

LOADS = 20_000
"""Steps in listing the loads of one machine; a class that needs more is priced by its resources."""

Prices = tuple[tuple[int, ...], ...]


class Pool:
    """One pool: prices are one row, of the resources."""

    def __init__(self, instance: Instance, users: Sequence[int]):
        self.demands, self.room = integer_rows([instance.exact_demands[i] for i in users], instance.exact_capacity)

    @property
    def free(self) -> Prices:
        """Prices at which everything costs nothing."""
        return ((0,) * len(self.room),)

    def priced(self, prices: Prices) -> tuple[list[int], int] | None:
        """Return the cost of a task of each shape, and of the room."""
        (row,) = prices
        used = [(j, price) for j, price in enumerate(row) if price]
        costs = [sum(price * demand[j] for j, price in used) for demand in self.demands]
        return costs, sum(price * self.room[j] for j, price in used)


class Machines:
    """Machines: the first row of prices is of the shapes, and one row a class is of its resources where it needs one.

    Attributes
    ----------
    loads : list, one per class
        All loads (tasks of each shape that fits on the class) of one machine that no other of them contains by its
        last shape; None where there are too many.
    fitting : list, one per class
        Shapes that fit on it.
    """

    def __init__(self, instance: Instance, users: Sequence[int]):
        self.users = users
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
        return ((0,) * len(self.users), *((0,) * len(room) for _, room in self.rows))

    def priced(self, prices: Prices) -> tuple[list[int], int] | None:
        """Return the price of a task of each shape, and the most valuable load of every machine together."""
        worth, by_class = prices[0], prices[1:]
        total = 0
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
        return list(worth), total


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


def worth_of(instance: Instance, users: Sequence[int]) -> Pool | Machines:
    """Return how the cluster of an instance prices tasks of the shapes that these users stand for."""
    return Pool(instance, users) if instance.machines is None else Machines(instance, users)
