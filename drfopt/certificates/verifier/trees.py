"""Trees of multipliers: why no other whole tasks are better.

A tree is a list: a branch, what lies below it, what lies above it; and so on, down to leaves.  A branch says that so
many at most do something (below), or more do (above): every allocation is on one of its sides.  At a leaf prices refute
all that are there: tasks cost more, however their owners choose within the bounds, than all that the cluster can run is
worth.

In a pool a task costs the resources that it uses.  On machines the tasks of each shape (demand, and classes open to it)
have a price, and a machine is worth its most valuable load; or, where a leaf prices the resources of its class, what
these are worth if no task there pays more than it uses.

All numbers are integers: amounts in units in which every demand is one, and the room beneath rounded down, which no
whole task can notice.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from operator import mul
from typing import Any

from .claims import Claim
from .reading import number, shown
from .work import spend

__all__ = ["Undecided", "ValueProof", "levels_refuted", "value_refuted"]

LOADS = 20_000
"""Steps in listing what one machine of a class can carry."""

CELLS_A_STEP = 8
"""Products of a load and a price that are counted as a step."""

Bounds = dict[Any, tuple[int, int]]
"""Least and most that do something; what is not there is free."""

Tree = list[dict[str, Any]]

Scale = Callable[[Any], int]
"""What makes a number of a leaf an integer."""


class Undecided(Exception):
    """A tree does not say enough, which is no fault of the answer; in words."""


class Cluster:
    """What whole tasks cost, and what the cluster can run is worth, at the prices of a leaf."""

    def __init__(self, claim: Claim):
        c, self.pool = claim.c, claim.c.pool
        self.resources, self.classes, self.count = c.resources, c.classes, c.count
        self.at = {name: i for i, name in enumerate(c.users)}
        self.users = [i for i in claim.n if claim.plays[i]]
        found: dict[Any, int] = {}
        self.shape = {i: found.setdefault((tuple(c.d[i]), tuple(claim.fits[i])), len(found)) for i in self.users}
        demands, fits = [list(d) for d, _ in found], [set(ks) for _, ks in found]
        self.fitting = [[s for s, ks in enumerate(fits) if k in ks] for k in range(len(c.classes))]
        self.rows = [_integers([demands[s] for s in here], c.C[k]) for k, here in enumerate(self.fitting)]
        self.loads: dict[int, list[tuple[int, ...]]] = {}

    def alone(self, claim: Claim, i: int) -> int:
        """Return the most tasks that user i could run alone."""
        d, u = claim.c.d[i], claim.u[i]
        each = ((k, min(math.floor(r / n) for r, n in zip(claim.c.C[k], d, strict=True) if n)) for k in claim.fits[i])
        most = sum(self.count[k] * fit for k, fit in each)
        return most if u is None else min(most, int(u))

    def carried(self, k: int) -> list[tuple[int, ...]]:
        """Return the loads of one machine of class k to which no task can be added, by its shapes."""
        if k not in self.loads:
            self.loads[k] = list(_loads(*self.rows[k]))
        return self.loads[k]

    def key(self, node: dict[str, Any]) -> tuple[int, tuple[int, ...]]:
        """Return the load of a class that a branch is about."""
        k = self.classes.index(node["class"])
        return k, self.load(k, node["load"])

    def load(self, k: int, given: dict[str, Any]) -> tuple[int, ...]:
        """Return a load that a branch names."""
        tasks = {self.shape[self.at[name]]: int(x) for name, x in given.items()}
        found = tuple(tasks.pop(s, 0) for s in self.fitting[k])
        if tasks or found not in self.carried(k):
            raise Undecided(f"a branch names what is no full load of {self.classes[k]}")
        return found

    def priced(self, leaf: dict[str, Any], integer: Scale, bounds: Bounds) -> tuple[list[int], Any] | None:
        """Return the price of a task of each shape, and what everything is worth; None where bounds cannot be kept."""
        if self.pool:
            p = _row(leaf.get("prices", {}), self.resources, integer)
            rows, room = self.rows[0]
            return [sum(map(mul, p, row)) for row in rows], sum(map(mul, p, room))
        costs = [0] * len({*self.shape.values()})
        for name, price in leaf.get("tasks", {}).items():
            costs[self.shape[self.at[name]]] = _price(price, integer)
        worth, classes = 0, leaf.get("classes", {})
        for k, name in enumerate(self.classes):
            values = [costs[s] for s in self.fitting[k]]
            if name in classes:
                most: Any = self.count[k] * self.by_resources(k, values, _row(classes[name], self.resources, integer))
            elif any(values) or any(key[0] == k for key in bounds):
                most = self.by_loads(k, values, bounds)
            else:
                most = 0
            if most is None:
                return None
            worth += most
        return costs, worth

    def by_resources(self, k: int, values: list[int], p: list[int]) -> Any:
        """Return what one machine is worth when all prices are raised until no task is worth more than it uses."""
        rows, room = self.rows[k]
        paid = [sum(map(mul, p, row)) for row in rows]
        if any(value and not cost for value, cost in zip(values, paid, strict=True)):
            raise Undecided(f"a task is worth something, and all that it uses of {self.classes[k]} nothing")
        rise = max((Fraction(v, cost) for v, cost in zip(values, paid, strict=True) if v), default=Fraction(0))
        return rise * sum(map(mul, p, room))

    def by_loads(self, k: int, values: list[int], bounds: Bounds) -> int | None:
        """Return what all machines of a class are worth with their most valuable loads; None where bounds forbid it."""
        loads, count = self.carried(k), self.count[k]
        spend(max(values, default=0).bit_length(), 1 + len(loads) * len(values) // CELLS_A_STEP)
        named = {key[1]: ends for key, ends in bounds.items() if key[0] == k}
        if not named:
            return count * max((sum(map(mul, load, values)) for load in loads), default=0)
        each = [-sum(map(mul, load, values)) for load in loads]
        found = cheapest(each, [named.get(load, (0, count)) for load in loads], count)
        return None if found is None else -found


def cheapest(each: Sequence[int], ends: Sequence[tuple[int, int]], n: int) -> int | None:
    """Return the least cost at which n choose, so many each option as its bounds allow; None where they cannot."""
    left, cost = n - sum(low for low, _ in ends), sum(c * low for c, (low, _) in zip(each, ends, strict=True))
    if left < 0 or any(low > high for low, high in ends):
        return None
    for c, (low, high) in sorted(zip(each, ends, strict=True)):
        taken = min(left, high - low)
        cost, left = cost + c * taken, left - taken
    return None if left else cost


def leaves(
    tree: list[dict[str, Any]], key: Callable[[dict[str, Any]], Any], free: Callable[[Any], tuple[int, int]]
) -> Iterator[Any]:
    """Yield every leaf of a tree with the bounds that hold there, each key at its `free` ones at first."""
    waiting: list[Bounds] = [{}]
    for node in tree:
        if not waiting:
            raise Undecided("a tree goes on behind its last leaf")
        bounds = waiting.pop()
        spend(0, 1 + len(bounds))
        if "most" in node:
            what, most = key(node), int(node["most"])
            low, high = bounds.get(what, free(what))
            waiting += [bounds | {what: (max(low, most + 1), high)}, bounds | {what: (low, min(high, most))}]
        else:
            yield node, bounds
    if waiting:
        raise Undecided("a tree ends before all its branches do")


# ---- leximin -------------------------------------------------------------------------------------------------------


def levels_refuted(claim: Claim, trees: list[Tree]) -> Iterator[tuple[Fraction, str]]:
    """Yield every level that somebody has, from the lowest, with why its tree does not prove it; "" where it does.

    Sorted levels are the best when at none of them fewer users can be: with at most as many at each lower one, and all
    others above.  Everybody then chooses one of a few numbers of tasks.  Where all who could be at a lower level are
    there, they are known to be.
    """
    cluster = Cluster(claim)
    unit = math.lcm(*(claim.r[i].denominator for i in cluster.users))
    rate, tasks = {i: int(claim.r[i] * unit) for i in cluster.users}, {i: int(claim.x[i]) for i in cluster.users}
    alike = {i: (cluster.shape[i], rate[i], cluster.alone(claim, i)) for i in cluster.users}
    waiting, own = Counter(alike.values()), Counter(rate[i] * tasks[i] for i in cluster.users)
    stops: list[tuple[int, int]] = []
    fixed = [0] * len({*cluster.shape.values()})
    given = iter(trees)
    for level, count in sorted(own.items()):
        rows = [*stops, (level, count - 1)]
        options: dict[Any, list[tuple[int, int | None]]] = {}
        for kind in waiting:
            _, r, most = kind
            spend(0, 1 + len(rows))
            stay = [(at // r, row) for row, (at, n) in enumerate(rows) if n and at % r == 0 and at // r <= most]
            above = level // r + 1
            options[kind] = [*stay, *([(above, None)] if above <= most else [])]
        tree = next(given, [])
        yield Fraction(level, unit), _level(cluster, tree, options, waiting, rows, fixed, alike)
        may = {kind: n for kind, n in waiting.items() if level % kind[1] == 0 and level // kind[1] <= kind[2]}
        if sum(may.values()) == count:
            for kind, n in may.items():
                fixed[kind[0]] += n * (level // kind[1])
                del waiting[kind]
        else:
            stops.append((level, count))


def _level(
    cluster: Cluster,
    tree: Tree,
    options: dict[Any, list[tuple[int, int | None]]],
    number_of: Counter[Any],
    rows: list[tuple[int, int]],
    fixed: list[int],
    alike: dict[int, Any],
) -> str:
    def key(node: dict[str, Any]) -> Any:
        return cluster.key(node) if "class" in node else ("user", alike[cluster.at[node["user"]]], int(node["tasks"]))

    def free(what: Any) -> tuple[int, int]:
        return 0, number_of[what[1]] if what[0] == "user" else cluster.count[what[0]]

    for leaf, bounds in leaves(tree, key, free):
        integer = _scale(leaf)
        counts = [_price(v, integer) for v in leaf.get("levels", ())]
        if len(counts) != len(rows):
            raise Undecided(f"a leaf has {len(counts)} multipliers of {len(rows)} levels")
        if (found := cluster.priced(leaf, integer, bounds)) is None:
            continue
        costs, worth = found
        worth += sum(p * n for p, (_, n) in zip(counts, rows, strict=True))
        asked = [sum(map(mul, costs, fixed))]
        for kind, mine in options.items():
            each = [costs[kind[0]] * x + (0 if row is None else counts[row]) for x, row in mine]
            spend(0, 1 + len(each) // CELLS_A_STEP)
            n = number_of[kind]
            cost = cheapest(each, [bounds.get(("user", kind, x), (0, n)) for x, _ in mine], n)
            if cost is None:  # Nobody can choose so.
                break
            asked.append(cost)
        else:
            if sum(asked) <= worth:
                return f"tasks cost {shown(sum(asked))} at least, and all that can be run is worth {shown(worth)}"
    return ""


# ---- sums and products ---------------------------------------------------------------------------------------------


class Value:
    """What tasks are worth to user i, as integers, known from below and from above; more is better."""

    def __init__(self, claim: Claim, cluster: Cluster):
        self.users, self.own = cluster.users, [int(claim.x[i]) for i in cluster.users]
        self.most = {i: cluster.alone(claim, i) for i in self.users}
        self.product = claim.objective == "alpha"
        if not self.product:
            self.unit = math.lcm(*(claim.r[i].denominator for i in self.users))
            self.rate, self.margin = {i: int(claim.r[i] * self.unit) for i in self.users}, 1
        else:
            self.logarithms(claim)
        self.least = sum(self.low(i, x) for i, x in zip(self.users, self.own, strict=True))

    def logarithms(self, claim: Claim) -> None:
        """Prepare for products: whoever is served counts more than all products, and then logarithms are added."""
        weights = [claim.c.w[i][0] for i in self.users]
        unit = math.lcm(*(w.denominator for w in weights))
        common = math.gcd(*(int(w * unit) for w in weights))
        self.power = {i: int(w * unit) // common for i, w in zip(self.users, weights, strict=True)}
        exact = sum(w * self.most[i].bit_length() for i, w in self.power.items()) <= LONGEST
        # Another product of integers is larger by a part of itself that is no smaller than this.
        own = zip(self.users, self.own, strict=True)
        self.whole = math.prod(x ** self.power[i] for i, x in own if x) if exact else 0
        digits = DIGITS + len(str(self.whole))
        self.unit, self.context = 10**digits, Context(prec=digits + 20)
        self.margin = self.unit // (self.whole + 1) if exact else 0
        self.known: dict[int, int] = {}
        self.served = self.unit + sum(w * (self.log(self.most[i]) + 3) for i, w in self.power.items())

    def log(self, x: int) -> int:
        """Return the logarithm in units, rounded down: the true one is at most two units above."""
        if x not in self.known:
            spend(0, 20 + self.unit.bit_length() // 20)
            logarithm = self.context.multiply(self.context.ln(Decimal(x)), Decimal(self.unit))
            self.known[x] = int(logarithm.to_integral_value(ROUND_FLOOR)) - 1
        return self.known[x] if x > 1 else 0

    def low(self, i: int, x: int) -> int:
        """Return what x tasks are worth at least."""
        if not self.product:
            return self.rate[i] * x
        return self.served + self.power[i] * self.log(x) if x else 0

    def high(self, i: int, x: int) -> int:
        """Return what x tasks are worth at most."""
        return self.low(i, x) + (3 * self.power[i] if self.product and x > 1 else 0)

    def best(self, i: int, cost: int, low: int, high: int, parts: int) -> int:
        """Return a bound of what tasks between two numbers are worth in parts beyond their cost, which is concave."""
        near = {low, high, min(max(low, 1), high)}
        if self.product and cost:
            top = self.power[i] * self.unit // cost
            near |= {min(max(x, low), high) for x in (top, top + 1)}
        return max(parts * self.high(i, x) - cost * x for x in near)

    def better(self, tasks: list[int]) -> bool | None:
        """Say whether tasks are worth more than the file's, None where that is not known."""
        most = sum(self.high(i, x) for i, x in zip(self.users, tasks, strict=True))
        powers = [self.power[i] for i in self.users] if self.product else []
        alike = self.product and sorted(zip(powers, tasks, strict=True)) == sorted(zip(powers, self.own, strict=True))
        if alike or most < self.least + self.margin:
            return False
        served = sum(map(bool, tasks)) - sum(map(bool, self.own))
        if not self.product or served:
            return not self.product or served > 0
        if not self.whole:
            least = sum(self.low(i, x) for i, x in zip(self.users, tasks, strict=True))
            own = sum(self.high(i, x) for i, x in zip(self.users, self.own, strict=True))
            return True if least > own else None
        return math.prod(x**power for x, power in zip(tasks, powers, strict=True) if x) > self.whole


DIGITS = 40
"""Decimals of a logarithm beyond those of the product."""

LONGEST = 4_000
"""Bits of a product that is compared exactly."""


class ValueProof:
    """What a tree has to refute for no sum, or product after users served, to be larger.

    By any prices, what tasks are worth is at most what all that can be run costs, and what each user's tasks within its
    bounds can be worth beyond their cost.
    """

    def __init__(self, claim: Claim):
        self.cluster = Cluster(claim)
        self.value = Value(claim, self.cluster)

    def key(self, node: dict[str, Any]) -> Any:
        """Return what a branch is about."""
        return self.cluster.key(node) if "class" in node else ("user", self.cluster.at[node["user"]])

    def free(self, what: Any) -> tuple[int, int]:
        """Return its bounds where nothing is branched upon."""
        return 0, self.value.most[what[1]] if what[0] == "user" else self.cluster.count[what[0]]

    def bound(self, leaf: dict[str, Any], bounds: Bounds) -> Fraction | None:
        """Return by how much all within bounds is worth more than the file's at most; None where nothing better is."""
        cluster, value = self.cluster, self.value
        ends = [bounds.get(("user", i), (0, value.most[i])) for i in cluster.users]
        spend(value.unit.bit_length(), len(ends))
        if any(low > high for low, high in ends):
            return None
        if all(low == high for low, high in ends) and value.better([low for low, _ in ends]) is False:
            return None
        # Prices are of units in which tasks are worth integers; of sums also in parts of them.
        integer = (lambda p: math.floor(number(p) * value.unit)) if value.product else _scale(leaf)
        parts = 1 if value.product else integer(1)
        if (found := cluster.priced(leaf, integer, bounds)) is None:
            return None
        costs, worth = found
        mine = zip(cluster.users, ends, strict=True)
        most = worth + sum(value.best(i, costs[cluster.shape[i]], low, high, parts) for i, (low, high) in mine)
        return None if most < parts * (value.least + value.margin) else Fraction(most - parts * value.least, parts)


def value_refuted(claim: Claim, tree: Tree) -> str:
    """Return why a tree does not prove that no sum, or product after users served, is larger; "" where it does."""
    proof = ValueProof(claim)
    for leaf, bounds in leaves(tree, proof.key, proof.free):
        if (more := proof.bound(leaf, bounds)) is not None:
            return f"a leaf leaves room for {float(more / proof.value.unit):.6g} more"
    return ""


# ---- numbers -------------------------------------------------------------------------------------------------------


def _scale(leaf: dict[str, Any]) -> Scale:
    """Return what makes all numbers of a leaf integers, in one proportion."""
    rows = [leaf.get("prices", {}), leaf.get("tasks", {}), *leaf.get("classes", {}).values()]
    given = [*(v for row in rows for v in row.values()), *leaf.get("levels", ())]
    unit = math.lcm(*(number(v).denominator for v in given))
    spend(unit.bit_length(), 1 + len(given))
    return lambda v: int(number(v) * unit)


def _price(value: Any, integer: Scale) -> int:
    if (price := integer(value)) < 0:
        raise Undecided("a price is negative")
    return price


def _row(given: dict[str, Any], names: Sequence[str], integer: Scale) -> list[int]:
    if strange := set(given) - set(names):
        raise Undecided(f"{min(strange)!r} is no resource of the cluster")
    return [_price(given[name], integer) if name in given else 0 for name in names]


def _integers(demands: list[list[Fraction]], capacity: Sequence[Fraction]) -> tuple[list[list[int]], list[int]]:
    """Return demands and what there is in units in which every demand is an integer, resource by resource."""
    columns, room = [], []
    for j, most in enumerate(capacity):
        unit = math.lcm(*(row[j].denominator for row in demands))
        column = [int(row[j] * unit) for row in demands]
        step = math.gcd(*column) or 1
        columns.append([d // step for d in column])
        room.append(math.floor(most * unit) // step)
    return [list(row) for row in zip(*columns, strict=True)] if demands else [], room


def _loads(rows: list[list[int]], room: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield what one machine can carry, and nothing besides."""
    found: list[tuple[tuple[int, ...], list[int]]] = [((), list(room))]
    steps = 0
    for place, row in enumerate(rows):
        longer = []
        for load, left in found:
            most = min(f // d for f, d in zip(left, row, strict=True) if d)
            for x in range(most if place == len(rows) - 1 else 0, most + 1):
                longer.append(((*load, x), [f - x * d for f, d in zip(left, row, strict=True)]))
            steps += most + 1
            spend(0, 1 + most)
            if steps > LOADS:
                raise Undecided("a machine can carry more loads than are listed, and its resources have no prices")
        found = longer
    for load, left in found:
        if not any(all(d <= f for d, f in zip(row, left, strict=True)) for row in rows):
            yield load
