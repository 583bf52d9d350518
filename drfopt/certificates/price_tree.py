"""Has anything a larger sum, or Nash product, than these whole tasks?  Branch and bound on prices, in integers.

For prices p >= 0 at which a task of user i costs q_i, and all that the cluster can run is worth W, any whole tasks x
within a box l <= x <= u have

    sum_i f_i(x_i)  <=  W  +  sum_i max over l_i <= v <= u_i of ( f_i(v) - v q_i )

where f_i is what tasks are worth, and concave: r_i v in a sum, w_i log v in a product, with more for the first task
than all logarithms together, so that users served come first.  A leaf of the tree is a box with prices at which the
right side is no more than the tasks at hand are worth, or a box of one allocation, which is compared exactly.  A branch
splits the tasks of one user, or the machines with some load.

Prices come from the duals of a linear program, by HiGHS: any prices are right.  What they prove is decided in integers,
by the verifier (`verifier.trees`) that also reads the tree when it is written.  The largest right side of what is left
bounds the optimum whenever the search ends.
"""

import heapq
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from ..base.deadline import NEVER, Deadline
from ..base.progress import report
from ..base.solvers.rows import program
from ..model.evidence import Evidence
from ..model.instance import Instance
from ..model.packings import PATTERNS, shapes
from ..model.policies import Policy, policy_named
from .document import document
from .exhaustive_search import powers
from .packing_bound import Machines, Pool, worth_of
from .refutation import FRACTIONAL
from .trees import Names, Node
from .verifier.claims import Claim
from .verifier.reading import Cluster
from .verifier.trees import Bounds, Undecided, ValueProof

__all__ = ["Outcome", "Undecided", "better", "larger", "search"]

NODES = 4_000
"""Boxes that are looked at before the search gives up: some seconds."""

TANGENTS = 12
"""Times that the program of a box is told more of the logarithms."""

TIGHT = 1e-9
"""Part of the largest value by which the program may overestimate a user's."""

FARTHER = (1, 10**3, 10**6)
"""Times that prices of what is not possible are raised: they prove it, and have to outweigh what is worth much."""

SIMPLE = (100, 10**4, 10**7)
"""Denominators of prices that are tried where those of floats do not suffice: duals of a sum are often simple."""


@dataclass(frozen=True)
class Outcome:
    """What a search found: tasks (n,) that are worth more, or the tree that proves that there are none, or neither.

    `more` is by how much the value can be exceeded at most: in levels of a sum, in logarithms of a product.
    """

    better: list[int] | None
    tree: list[Node] | None
    more: Fraction


def search(
    instance: Instance, policy: Policy, tasks: list[int], deadline: Deadline = NEVER, nodes: int | None = None
) -> Outcome:
    """Look for whole tasks (n,) with a larger sum or product; a deadline ends it as too many nodes do.

    Raises
    ------
    Undecided
        When not even a bound is known.
    """
    return _Search(instance, policy, tasks).grow(deadline, NODES if nodes is None else nodes)


def better(
    instance: Instance,
    members: Sequence[int],
    tasks: Sequence[int],
    deadline: Deadline = NEVER,
    nodes: int | None = None,
) -> list[int] | None:
    """Return whole tasks of the members with a larger product, or None where the tree proves that there are none.

    Raises
    ------
    Undecided
        When the tree grows too large.
    """
    own = [0] * instance.n
    for i, x in zip(members, tasks, strict=True):
        own[i] = int(x)
    found = search(instance, policy_named("ceei"), own, deadline, nodes)
    if found.better is None and found.tree is None:
        raise Undecided("the tree grows too large")
    return None if found.better is None else [found.better[i] for i in members]


@dataclass
class _Box:
    """A part of all allocations: its bounds, and what became of it."""

    bounds: Bounds
    leaf: Node | None = None
    branch: Node | None = None
    parts: list["_Box"] = field(default_factory=list)

    def nodes(self) -> Iterator[Node]:
        """Yield the tree below: a branch, its part below, its part above."""
        waiting = [self]
        while waiting:
            box = waiting.pop()
            yield box.branch or box.leaf or {}
            waiting += reversed(box.parts)


class _Search:
    def __init__(self, instance: Instance, policy: Policy, tasks: list[int]):
        rates = policy.exact_rates(instance)
        levels = [rate * x for rate, x in zip(rates, tasks, strict=True)]
        counts = np.array(tasks, dtype=np.int64)
        data = document(instance, policy.name, counts, levels, None, Evidence(), integer=True)
        try:
            self.proof = ValueProof(Claim(Cluster(data["instance"]), data))
        except ValueError as error:
            raise Undecided(str(error)) from None
        self.instance, self.tasks = instance, tasks
        self.users = self.proof.cluster.users
        if not self.users:
            raise Undecided("nobody takes part")
        first = [self.users[positions[0]] for positions in shapes(instance, self.users)]
        self.worth, self.names = worth_of(instance, first), Names(instance, first)
        self.program = _Program(self.proof, self.worth, instance)

    def grow(self, deadline: Deadline, nodes: int) -> Outcome:
        """Split the box that leaves most room, until none does."""
        root = _Box({})
        count = 0
        waiting: list[tuple[Any, int, _Box, Any]] = []
        unit = self.proof.value.unit

        def look(box: _Box) -> list[int] | None:
            """Refute a box, or have it wait; return what is better in it."""
            nonlocal count
            count += 1
            found = self.program.solve(box.bounds)
            leaves = self.leaves(found)
            more = None
            for leaf in leaves:
                room = self.proof.bound(leaf, box.bounds)
                if room is None:
                    box.leaf = leaf
                    return None
                more = room if more is None else min(more, room)
            point = found.point(self.proof, self.worth)
            if point is not None and self.is_better(point):
                return point
            heapq.heappush(waiting, (-(more or 0), count, box, found))
            return None

        if nodes < 1:
            raise Undecided("the tree may not grow")
        point = look(root)
        while waiting and point is None:
            if count >= nodes or deadline.stopped or deadline.left() <= 0:
                return Outcome(None, None, max(Fraction(-waiting[0][0]), Fraction(0)) / unit)
            report(f"proof: {count} parts of what could be better looked at, {len(waiting)} left")
            _, _, box, found = heapq.heappop(waiting)
            for part in self.split(box, found):
                point = look(part) if point is None else point
        if point is not None:
            tasks = [0] * self.instance.n
            for i, x in zip(self.users, point, strict=True):
                tasks[i] = x
            return Outcome(tasks, None, Fraction(0))
        return Outcome(None, list(root.nodes()), Fraction(0))

    def is_better(self, point: list[int]) -> bool:
        """Say whether tasks are worth more than those at hand: exactly, whatever the weights."""
        value = self.proof.value
        found = value.better(point)
        if found is None and all(point) and all(value.own):
            return larger([self.instance.exact_weights[i] for i in self.users], point, value.own)
        return bool(found)

    def leaves(self, found: "_Solution") -> Iterator[Node]:
        """Yield leaves to try, of the prices that the program found."""
        yield self.leaf([[Fraction(repr(p)) for p in row] for row in found.prices])
        if found.ray:
            for more in FARTHER:
                yield self.leaf([[Fraction(repr(p)) * more for p in row] for row in found.prices])
        elif not self.proof.value.product:
            for most in SIMPLE:
                yield self.leaf([[Fraction(p).limit_denominator(most) for p in row] for row in found.prices])

    def leaf(self, rows: list[list[Fraction]]) -> Node:
        """Return prices as a leaf."""
        return self.names.prices(tuple(tuple(row) for row in rows), self.worth)

    def split(self, box: _Box, found: "_Solution") -> list[_Box]:
        """Return the two parts of a box."""
        what, most, low, high = found.branch(self.proof, box.bounds)
        if what[0] == "user":
            box.branch = {"user": self.instance.users[what[1]], "most": most}
        else:
            assert isinstance(self.worth, Machines)
            box.branch = self.names.load(what, self.worth) | {"most": most}
        box.parts = [_Box(box.bounds | {what: (low, most)}), _Box(box.bounds | {what: (most + 1, high)})]
        return box.parts


@dataclass(frozen=True)
class _Solution:
    """What the program of a box found: tasks of each user, machines with each load, and prices as rows of a leaf."""

    tasks: np.ndarray
    machines: np.ndarray
    loads: Sequence[tuple[int, tuple[int, ...]]]
    prices: list[list[float]]
    listed: bool
    shape: dict[int, int]
    ray: bool = False

    def point(self, proof: ValueProof, worth: Pool | Machines) -> list[int] | None:
        """Return the tasks as whole numbers, where these are possible."""
        tasks = [round(x) for x in self.tasks.tolist()]
        if min(tasks) < 0 or any(x > proof.value.most[i] for i, x in zip(proof.cluster.users, tasks, strict=True)):
            return None
        asked = [0] * (1 + max(self.shape.values()))
        for i, x in zip(proof.cluster.users, tasks, strict=True):
            asked[self.shape[i]] += x
        if isinstance(worth, Pool):
            used = (
                sum(x * row[j] for x, row in zip(asked, worth.demands, strict=True)) for j in range(len(worth.room))
            )
            return tasks if all(u <= most for u, most in zip(used, worth.room, strict=True)) else None
        machines = [round(y) for y in self.machines.tolist()]
        if not self.listed or min(machines, default=0) < 0:
            return None
        left = list(worth.counts)
        for (k, load), number in zip(self.loads, machines, strict=True):
            left[k] -= number
            for s, x in zip(worth.fitting[k], load, strict=True):
                asked[s] -= number * x
        return tasks if min(left) >= 0 and max(asked) <= 0 else None

    def branch(self, proof: ValueProof, bounds: Bounds) -> tuple[Any, int, int, int]:
        """Return what is split after which number, and its ends: what is farthest from a whole number."""
        users = proof.cluster.users
        choices = [
            (abs(x - round(x)), ("user", i), math.floor(x)) for i, x in zip(users, self.tasks.tolist(), strict=True)
        ]
        loads = [
            (abs(y - round(y)), key, math.floor(y)) for key, y in zip(self.loads, self.machines.tolist(), strict=True)
        ]
        for row in (choices, loads):
            distance, what, most = max(row, default=(0.0, None, 0), key=lambda entry: entry[0])
            if distance > FRACTIONAL:
                low, high = bounds.get(what, proof.free(what))
                return what, min(max(most, low), high - 1), low, high
        # A whole point that is worth no more: the box is cut beside it, where there is most to choose.
        for what in [("user", i) for i in users] + list(self.loads):
            low, high = bounds.get(what, proof.free(what))
            if low < high:
                place = users.index(what[1]) if what[0] == "user" else self.loads.index(what)
                x = round(float((self.tasks if what[0] == "user" else self.machines)[place]))
                return what, x if low <= x < high else max(low, high - 1), low, high
        raise Undecided("nothing is left to split")


class _Program:
    """The linear program of a box: tasks, what they are worth (below chords of logarithms), machines with loads."""

    def __init__(self, proof: ValueProof, worth: Pool | Machines, instance: Instance):
        import highspy

        self.value, self.worth, self.cluster = proof.value, worth, proof.cluster
        users = proof.cluster.users
        alike = shapes(instance, users)
        self.shape = {users[p]: s for s, positions in enumerate(alike) for p in positions}
        self.most = [proof.value.most[i] for i in users]
        self.product = proof.value.product
        if self.product:
            self.top = float(max(proof.value.power.values()))
            self.power = [proof.value.power[i] / self.top for i in users]
            self.first = float(Fraction(proof.value.served, proof.value.unit)) / self.top
        else:
            largest = max(proof.value.rate.values())
            self.top = float(largest)
            self.power = [proof.value.rate[i] / largest for i in users]
        n = len(users)
        self.n, self.cost = n, [0.0 if self.product else -w for w in self.power]
        self.high: list[float] = list(map(float, self.most))
        self.rows: list[tuple[float, float, dict[int, float]]] = []
        self.loads: list[tuple[int, tuple[int, ...]]] = []
        self.listed = False
        self.units: dict[tuple[int, int], tuple[int, float]] = {}
        if isinstance(worth, Pool):
            self._pool(worth)
        else:
            self._machines(worth)
        self.values = [self._column(math.inf, -1.0) for _ in users] if self.product else []
        self.chords: set[tuple[int, int]] = set()
        self.optimal = highspy.HighsModelStatus.kOptimal
        self.highs: Any = highspy.Highs()
        self.highs.setOptionValue("output_flag", False)
        self.highs.setOptionValue("presolve", "off")
        low = [0.0] * len(self.high)
        for column in self.values:
            low[column] = -math.inf
        self.highs.passModel(program(self.cost, low, self.high, self.rows))
        if self.product:
            for p, most in enumerate(self.most):
                own = proof.value.own[p]
                near = {0, 1, own - 1, own, own // 2, 2 * own, most - 1} | {2**e for e in range(most.bit_length())}
                for v in near:
                    self._chord(p, v)

    def _column(self, high: float, cost: float = 0.0) -> int:
        self.high.append(high)
        self.cost.append(cost)
        return len(self.high) - 1

    def _row(self, high: float, terms: dict[int, float]) -> int:
        self.rows.append((-math.inf, high, terms))
        return len(self.rows) - 1

    def _pool(self, worth: Pool) -> None:
        for j, most in enumerate(worth.room):
            column = [worth.demands[self.shape[i]][j] for i in self.cluster.users]
            unit = float(max([most, *column]) or 1)
            terms = {p: d / unit for p, d in enumerate(column) if d}
            self.units[0, j] = (self._row(most / unit, terms), unit)

    def _machines(self, worth: Machines) -> None:
        runs: list[dict[int, float]] = [{} for _ in worth.users]
        for k, (fitting, loads) in enumerate(zip(worth.fitting, worth.loads, strict=True)):
            if loads is None or len(loads) > PATTERNS:
                continue
            columns = [self._column(worth.counts[k]) for _ in loads]
            self.loads += [(k, load) for load in loads]
            self._row(worth.counts[k], dict.fromkeys(columns, 1.0))
            for column, load in zip(columns, loads, strict=True):
                for s, x in zip(fitting, load, strict=True):
                    runs[s][column] = float(x)
        self.listed = len({k for k, _ in self.loads}) == sum(map(bool, worth.fitting))
        for k, (fitting, (rows, room)) in enumerate(zip(worth.fitting, worth.rows, strict=True)):
            if worth.loads[k] is not None and len(worth.loads[k] or ()) <= PATTERNS:
                continue
            columns = [self._column(math.inf) for _ in fitting]
            for s, column in zip(fitting, columns, strict=True):
                runs[s][column] = 1.0
            for j, most in enumerate(room):
                unit = float(max((row[j] for row in rows), default=1) or 1)
                terms = {column: row[j] / unit for column, row in zip(columns, rows, strict=True) if row[j]}
                self.units[k + 1, j] = (self._row(worth.counts[k] * most / unit, terms), unit)
        for s, supplied in enumerate(runs):
            terms = {p: 1.0 for p, i in enumerate(self.cluster.users) if self.shape[i] == s}
            self.units[0, s] = (self._row(0.0, terms | {column: -x for column, x in supplied.items()}), 1.0)

    def _worth(self, p: int, v: int) -> float:
        return self.first + self.power[p] * math.log(v) if v else 0.0

    def _chord(self, p: int, v: int) -> bool:
        """Tell the program the chord of a user's value after v tasks; say whether it is new."""
        if not 0 <= v < self.most[p] or (p, v) in self.chords:
            return False
        self.chords.add((p, v))
        slope = self._worth(p, v + 1) - self._worth(p, v)
        row = np.array([self.values[p], p], dtype=np.int32), np.array([1.0, -slope])
        self.highs.addRow(-math.inf, self._worth(p, v) - slope * v, 2, *row)
        return True

    def solve(self, bounds: Bounds) -> _Solution:
        """Return what the program finds within bounds.

        Raises
        ------
        Undecided
            When it ends without prices.
        """
        size = self.n + len(self.loads)
        low, high = np.zeros(size), np.array(self.high[:size])
        at = {key: self.n + q for q, key in enumerate(self.loads)} if any(k[0] != "user" for k in bounds) else {}
        place = {i: p for p, i in enumerate(self.cluster.users)}
        for what, ends in bounds.items():
            column = place[what[1]] if what[0] == "user" else at[what]
            low[column], high[column] = ends
        self.highs.changeColsBounds(size, np.arange(size, dtype=np.int32), low, high)
        for _ in range(TANGENTS if self.product else 1):
            self.highs.run()
            found = self.highs.getSolution()
            values = np.array(found.col_value)
            optimal = self.highs.getModelStatus() == self.optimal
            if not (self.product and optimal and self._sharper(values)):
                break
        ray = None
        if not optimal or not found.dual_valid:
            # Nothing is possible in this box: a ray of the duals says why.
            _, there, row = self.highs.getDualRay()
            values, ray = low, np.array(row) if there else None
            duals = [0.0] * len(self.rows) if ray is None else (-np.abs(ray) / (np.abs(ray).max() or 1)).tolist()
        else:
            duals = found.row_dual
        prices = self._prices(duals)
        tasks, machines = values[: self.n], values[self.n : size]
        return _Solution(tasks, machines, self.loads, prices, self.listed, self.shape, ray is not None)

    def _sharper(self, values: np.ndarray) -> bool:
        """Tell the program more where it overestimates somebody; say whether that was anything new."""
        new = False
        for p, column in enumerate(self.values):
            x = values[p]
            v = min(max(math.floor(x + TIGHT), 0), self.most[p] - 1)
            true = self._worth(p, v) + (x - v) * (self._worth(p, v + 1) - self._worth(p, v))
            if values[column] > true + TIGHT:
                new |= self._chord(p, v)
        return new

    def _prices(self, duals: Sequence[float]) -> list[list[float]]:
        tables = 1 if isinstance(self.worth, Pool) else 1 + len(self.worth.counts)
        prices = {place: max(0.0, -duals[row]) * self.top / unit for place, (row, unit) in self.units.items()}
        return [[prices[place] for place in sorted(prices) if place[0] == table] for table in range(tables)]


# ---- exact comparisons ---------------------------------------------------------------------------------------------


def larger(weights: Sequence[Fraction], tasks: Sequence[int], others: Sequence[int]) -> bool:
    """Say whether tasks, each 1 or more, have a larger weighted product than others: exactly, whatever the weights.

    Logarithms of more and more digits decide; that two products are the same, their factors do.
    """
    raised = powers(weights)
    changed = [(w, x, y) for w, x, y in zip(raised, tasks, others, strict=True) if x != y]
    for digits in (40, 160, 640):
        context = Context(prec=digits)
        terms = [(w, Fraction(context.ln(Decimal(x))), Fraction(context.ln(Decimal(y)))) for w, x, y in changed]
        total = sum((w * (one - other) for w, one, other in terms), Fraction(0))
        # Each logarithm is rounded to so many digits.
        error = sum((w * (one + other) for w, one, other in terms), Fraction(0)) / 10 ** (digits - 1)
        if abs(total) > error:
            return total > 0
        if _same_product([(w, x) for w, x, _ in changed] + [(-w, y) for w, _, y in changed]):
            return False
    raise ArithmeticError(f"two products are the same to {digits} digits and not equal")


def _same_product(terms: list[tuple[int, int]]) -> bool:
    """Say whether the product of x to the power w is 1: numbers are broken up until none has a factor of another."""
    left = [(w, x) for w, x in terms if x > 1]
    base: dict[int, int] = {}
    while left:
        w, x = left.pop()
        shared = next((b for b in base if math.gcd(b, x) > 1), None)
        if shared is None:
            base[x] = w
            continue
        common = math.gcd(shared, x)
        power = base.pop(shared)
        left += [(power + w, common), (power, shared // common), (w, x // common)]
        left = [(v, b) for v, b in left if b > 1 and v]
    return not any(base.values())
