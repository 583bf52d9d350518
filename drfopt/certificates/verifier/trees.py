"""Trees of multipliers: why no other whole tasks are better.

A tree is a list: a branch, what lies below it, what lies above it; and so on, down to leaves.  A branch says that so
many at most do something (below), or more do (above): every allocation is on one of its sides.  At a leaf prices refute
all that are there: tasks cost more, however their owners choose within the bounds, than all that the cluster can run is
worth.  Where prices do not, they may still tighten the bounds for what follows: beyond these they do (reduced-cost
fixing).  In front of a tree of a level are rounded rows, which hold of whole numbers of users (`branches.rounded`), and
which its leaves may use like what the cluster can run.

In a pool a task costs the resources that it uses.  On machines the tasks of each shape (demand, and classes open to it)
have a price, and a machine is worth its most valuable load; or, where a leaf prices the resources of its class, and
the parts that tasks take of its devices, what these are worth if no task there pays more than it uses.  A device is
worth the parts that are dearest together: a knapsack.

All numbers are integers: amounts in units in which every demand is one, and the room beneath rounded down, which no
whole task can notice.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from operator import mul
from typing import Any

from .branches import Bounds, Undecided, cheapest
from .claims import Claim
from .cluster import integers
from .devices import dealt, dearest
from .reading import number
from .whole import LONGEST
from .work import spend

__all__ = [
    "CELLS_A_STEP",
    "Carried",
    "Scale",
    "dealt",
    "price_of",
    "scale_of",
]

LOADS = 20_000
"""Steps in listing what one machine of a class can carry."""

CELLS_A_STEP = 8
"""Products of a load and a price that are counted as a step."""

Scale = Callable[[Any], int]
"""What makes a number of a leaf an integer."""


class Carried:
    """What whole tasks cost, and what the cluster can run is worth, at the prices of a leaf.

    A *shape* is a demand and the classes that are open to it; a *good* is a shape under the ceilings of some groups.
    """

    def __init__(self, claim: Claim):
        c, self.pool = claim.c, claim.c.pool
        self.resources, self.classes, self.count = c.resources, c.classes, c.count
        self.users = [i for i in claim.n if claim.plays[i]]
        self.tasks = {i: claim.sequences[i] for i in self.users}
        self.at = {name: i for i in self.users for name in [c.users[i]]}
        found: dict[Any, int] = {}
        goods: dict[Any, int] = {}
        self.good_at: dict[str, int] = {}
        self.goods: dict[int, tuple[int, ...]] = {}
        for i, mine in self.tasks.items():
            shapes = [
                found.setdefault((tuple(kind.d), tuple(fits)), len(found))
                for kind, fits in zip(mine.kinds, mine.fits, strict=True)
            ]
            under = tuple(b for b, (_, _, _, members) in enumerate(c.ceilings) if i in members)
            self.goods[i] = tuple(goods.setdefault((s, under), len(goods)) for s in shapes)
            self.good_at |= dict(zip(mine.names, shapes, strict=True))
        demands, fits = [list(d) for d, _ in found], [set(ks) for _, ks in found]
        self.shapes, self.shape_of = len(found), [s for s, _ in goods]
        self.fitting = [[s for s, ks in enumerate(fits) if k in ks] for k in range(len(c.classes))]
        self.rows = [integers([demands[s] for s in here], c.C[k]) for k, here in enumerate(self.fitting)]
        self.owned = [[c.resources[j] for j in owned] for owned in c.devices]
        self.devices = []
        for owned, here in zip(c.devices, self.fitting, strict=True):
            self.devices.append([(count, [demands[s][j] / size for s in here]) for j, (count, size) in owned.items()])
        self.together = integers(demands, c.cluster)
        self.loads: dict[int, list[tuple[int, ...]]] = {}
        self.tables: dict[int, list[tuple[int, ...]]] = {}
        self.capped = [(group, c.resources[j]) for group, j, *_ in c.ceilings]
        zero = number(0)
        held = [
            [demands[s][j] if b in under else zero for b, (_, j, *_) in enumerate(c.ceilings)] for s, under in goods
        ]
        self.under, self.ceilings = integers(held, [most for _, _, most, _ in c.ceilings])

    def alone(self, claim: Claim, i: int) -> int:
        """Return the most tasks that user i could run alone."""
        return self.tasks[i].most

    def cost(self, i: int, x: int, costs: Sequence[int]) -> int:
        """Return what x tasks of a user cost."""
        if len(self.goods[i]) == 1:
            return costs[self.goods[i][0]] * x
        return sum(map(mul, (costs[good] for good in self.goods[i]), self.tasks[i].started(x)))

    def table(self, i: int) -> list[tuple[int, ...]]:
        """Return how many of each type are among a user's first tasks, for each number of them."""
        if i not in self.tables:
            mine = self.tasks[i]
            if mine.most > LONGEST:
                raise Undecided("a sequence of tasks is longer than is looked at")
            self.tables[i] = [mine.started(x) for x in range(mine.most + 1)]
        return self.tables[i]

    def carried(self, k: int) -> list[tuple[int, ...]]:
        """Return the loads of one machine of class k to which no task can be added, by its shapes."""
        if k not in self.loads:
            self.loads[k] = list(_loads(*self.rows[k], self.devices[k]))
        return self.loads[k]

    def key(self, node: dict[str, Any]) -> tuple[int, tuple[int, ...]]:
        """Return the load of a class that a branch is about."""
        k = self.classes.index(node["class"])
        return k, self.load(k, node["load"])

    def load(self, k: int, given: dict[str, Any]) -> tuple[int, ...]:
        """Return a load that a branch names."""
        tasks = {self.good_at[name]: int(x) for name, x in given.items()}
        found = tuple(tasks.pop(s, 0) for s in self.fitting[k])
        if tasks or found not in self.carried(k):
            raise Undecided(f"a branch names what is no full load of {self.classes[k]}")
        return found

    def priced(self, leaf: dict[str, Any], integer: Scale, bounds: Bounds) -> tuple[list[int], Any] | None:
        """Return the price of a task of each good, and what everything is worth; None where bounds cannot be kept."""
        given = leaf.get("ceilings", {})
        capped = [price_of(given.get(group, {}).get(r, 0), integer) for group, r in self.capped]
        worth: Any = sum(map(mul, capped, self.ceilings))
        if self.pool:
            p = _row(leaf.get("prices", {}), self.resources, integer)
            rows, room = self.rows[0]
            return self.by_goods([sum(map(mul, p, row)) for row in rows], capped), worth + sum(map(mul, p, room))
        costs, classes, devices = [0] * self.shapes, leaf.get("classes", {}), leaf.get("devices", {})
        for name, price in leaf.get("tasks", {}).items():
            costs[self.good_at[name]] = price_of(price, integer)
        for k, name in enumerate(self.classes):
            values = [costs[s] for s in self.fitting[k]]
            if name in classes:
                sized = [self.by_filling(k, j, row, integer) for j, row in devices.get(name, {}).items()]
                p = _row(classes[name], self.resources, integer)
                most: Any = self.count[k] * self.by_resources(k, values, p, sized)
            elif any(values) or any(key[0] == k for key in bounds):
                most = self.by_loads(k, values, bounds)
            else:
                most = 0
            if most is None:
                return None
            worth += most
        return self.by_goods(costs, capped), worth

    def by_goods(self, costs: list[int], capped: list[int]) -> list[int]:
        """Return what a task of each good costs: that of its shape, and what it takes of ceilings."""
        if not any(capped):
            return [costs[s] for s in self.shape_of]
        return [costs[s] + sum(map(mul, capped, row)) for s, row in zip(self.shape_of, self.under, strict=True)]

    def by_resources(self, k: int, values: list[int], p: list[int], sized: list[tuple[list[Any], int]]) -> Any:
        """Return what one machine is worth when all prices are raised until no task is worth more than it uses.

        `sized` is of each resource with devices what a task of each shape pays for these, and what they are worth.
        """
        rows, room = self.rows[k]
        paid = [sum(map(mul, p, row)) + sum(each[at] for each, _ in sized) for at, row in enumerate(rows)]
        if any(value and not cost for value, cost in zip(values, paid, strict=True)):
            raise Undecided(f"a task is worth something, and all that it uses of {self.classes[k]} nothing")
        rise = max((Fraction(v, cost) for v, cost in zip(values, paid, strict=True) if v), default=Fraction(0))
        return rise * (sum(map(mul, p, room)) + sum(worth for _, worth in sized))

    def by_filling(self, k: int, resource: str, row: dict[str, Any], integer: Scale) -> tuple[list[Any], int]:
        """Return what tasks of each shape pay for devices of a resource, and what those of a machine are worth."""
        if resource not in self.owned[k]:
            raise Undecided(f"{self.classes[k]} has no devices of {resource!r}")
        count, needs = self.devices[k][self.owned[k].index(resource)]
        prices = {number(part): price_of(price, integer) for part, price in row.items()}
        if (worth := dearest(prices)) is None:
            raise Undecided("parts of a device are none, or finer than is looked at")
        one = number(1)
        return [prices.get(min(need, one), 0) * max(need, one) for need in needs], int(count) * worth

    def by_loads(self, k: int, values: list[int], bounds: Bounds) -> int | None:
        """Return what all machines of a class are worth with their most valuable loads; None where bounds forbid it."""
        loads, count = self.carried(k), self.count[k]
        spend(max(values, default=0).bit_length(), 1 + len(loads) * len(values) // CELLS_A_STEP)
        named = {key[1]: ends for key, ends in bounds.items() if key[0] == k}
        if not named:
            return count * max(sum(map(mul, load, values)) for load in loads)
        each = [-sum(map(mul, load, values)) for load in loads]
        found = cheapest(each, [named.get(load, (0, count)) for load in loads], count)
        return None if found is None else -found


# ---- numbers -------------------------------------------------------------------------------------------------------


def scale_of(leaf: dict[str, Any]) -> Scale:
    """Return what makes all numbers of a leaf integers, in one proportion."""
    rows = [leaf.get("prices", {}), leaf.get("tasks", {}), *leaf.get("classes", {}).values()]
    rows += leaf.get("ceilings", {}).values()
    rows += (row for of_class in leaf.get("devices", {}).values() for row in of_class.values())
    given = [
        *(v for row in rows for v in row.values()),
        *leaf.get("levels", ()),
        *leaf.get("rounds", ()),
        *leaf.get("held", {}).values(),
    ]
    unit = math.lcm(*(number(v).denominator for v in given))
    spend(unit.bit_length(), 1 + len(given))
    return lambda v: int(number(v) * unit)


def price_of(value: Any, integer: Scale) -> int:
    """Return a price as an integer; none is negative."""
    if (price := integer(value)) < 0:
        raise Undecided("a price is negative")
    return price


def _row(given: dict[str, Any], names: Sequence[str], integer: Scale) -> list[int]:
    if strange := set(given) - set(names):
        raise Undecided(f"{min(strange)!r} is no resource of the cluster")
    return [price_of(given[name], integer) if name in given else 0 for name in names]


Devices = list[tuple[Fraction, list[Fraction]]]
"""How many devices of a resource one machine has, and how many a task of each shape takes; of each such resource."""


def _loads(rows: list[list[int]], room: list[int], devices: Devices) -> Iterator[tuple[int, ...]]:
    """Yield what one machine can carry, and nothing besides."""
    found: list[tuple[tuple[int, ...], list[int]]] = [((), list(room))]
    steps = 0
    for place, row in enumerate(rows):
        longer = []
        for load, left in found:
            most = min(f // d for f, d in zip(left, row, strict=True) if d)
            steps += most + 1
            spend(0, 1 + most)
            if steps > LOADS:
                raise Undecided("a machine can carry more loads than are listed, and its resources have no prices")
            for x in range(most if place == len(rows) - 1 and not devices else 0, most + 1):
                if not all(dealt(count, needs, (*load, x)) for count, needs in devices):
                    break  # nor can more
                longer.append(((*load, x), [f - x * d for f, d in zip(left, row, strict=True)]))
        found = longer
    # Where of the last task only the most are listed, as many are beside one more of another, if these fit.
    every = {load for load, _ in found}
    for load, _ in found:
        if not any((*load[:s], x + 1, *load[s + 1 :]) in every for s, x in enumerate(load)):
            yield load
