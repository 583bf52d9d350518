"""The linear program of a box of whole tasks, over HiGHS: where to split it, and which prices to try."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np

from ..base.deadline import NEVER, Deadline
from ..model.whole_values import WholeUsers
from .claim_options import FRACTIONAL
from .packing_bound import Machines, PackingProgram, Pool, asker
from .verifier.branches import Bounds, Undecided
from .verifier.whole_values import ValueProof

__all__ = ["BoxPoint", "BoxProgram", "OutOfTime"]

TANGENTS = 12
"""Times that the program of a box is told more of the logarithms."""

GRACE = 1.0
"""Seconds for the prices of a box where time has run out already: they bound what is not proven."""

NUMBERS = 20_000
"""Numbers of tasks, of all users with several types together, up to which each is a column."""

OVERESTIMATED = 1e-9
"""Part of the largest value by which the program may overestimate a user's."""

FAR = 10**9
"""Units of a program beyond which what tasks are worth is no number of it: no box that it is asked about has them."""


class OutOfTime(Undecided):
    """The program of a box has no prices in time."""


@dataclass(frozen=True)
class BoxPoint:
    """What the program of a box found: tasks of each user, machines with each load, and prices as rows of a leaf.

    Of tiers before, `held` has what each counts for.
    """

    tasks: np.ndarray
    machines: np.ndarray
    loads: Sequence[tuple[int, tuple[int, ...]]]
    prices: list[list[float]]
    held: list[float]
    ray: bool = False

    @property
    def whole_loads(self) -> list[tuple[int, tuple[int, ...], int]]:
        """Class, load and number of the whole machines with some load."""
        numbers = [math.floor(y + FRACTIONAL) for y in self.machines.tolist()]
        return [(k, load, number) for (k, load), number in zip(self.loads, numbers, strict=True) if number > 0]

    def branch(self, proof: ValueProof, bounds: Bounds, better: bool) -> tuple[Any, int]:
        """Return what is split after which number: what is farthest from a whole number, of loads if that is better."""
        users = proof.cluster.users
        tasks: list[tuple[Any, float]] = [(("user", i), x) for i, x in zip(users, self.tasks.tolist(), strict=True)]
        loads: list[tuple[Any, float]] = list(zip(self.loads, self.machines.tolist(), strict=True))
        for row in (tasks, loads) if better else (tasks,):
            what, x = max(row, key=lambda entry: abs(entry[1] - round(entry[1])), default=("", 0.0))
            if abs(x - round(x)) > FRACTIONAL:
                low, high = bounds.get(what, proof.free(what))
                return what, min(max(math.floor(x), low), high - 1)
        # A whole point that is worth no more: the box is cut beside it, where there is most to choose.
        for what, x in (*tasks, *loads):
            low, high = bounds.get(what, proof.free(what))
            if low < high:
                return what, min(max(round(x), low), high - 1)
        raise Undecided("nothing is left to split")


class BoxProgram(PackingProgram):
    """The linear program of a box: tasks, what they are worth (below chords of logarithms), machines with loads.

    What tasks are worth to one tier is made the most; to those before it they are worth what they are, or more.
    Utilities are counted from those of the tasks at hand on, in a `unit` of so many of the proof's: a program tells
    apart what is not much less than that.
    """

    def __init__(self, proof: ValueProof, tier: int, worth: Pool | Machines, whole: WholeUsers, unit: int = 1):
        import highspy

        super().__init__()
        self.value, self.worth, self.cluster, self.whole = proof.value, worth, proof.cluster, whole
        before, self.mine = proof.value.tiers[:tier], set(proof.value.tiers[tier])
        users = proof.cluster.users
        self.least, self.most = [proof.floor[i] for i in users], [proof.value.most[i] for i in users]
        # Several types of tasks need what they do by steps: every number of them is a column of its own.
        self.typed = [p for p, goods in enumerate(whole.goods_of) if len(goods) > 1]
        if sum(self.most[p] for p in self.typed) > NUMBERS:
            raise Undecided("users with several types of tasks have too many of them")
        self.curved = proof.value.curved
        self.unit, self.before = unit, [p for row in before for p in row]
        if proof.value.utility is not None:
            try:
                self.top = float(Fraction(unit, proof.value.unit))
            except OverflowError:
                self.top = 0.0
            if not self.top:
                raise Undecided("what tasks are worth is beyond the range of floats")
        elif self.curved:
            self.top = float(max(proof.value.power.values()))
            self.power = [proof.value.power[i] / self.top for i in users]
            self.first = float(Fraction(proof.value.served, proof.value.unit)) / self.top
        else:
            largest = max(proof.value.rate.values()) or 1  # nobody's tasks count where none can run
            self.top = float(largest)
            self.power = [proof.value.rate[i] / largest for i in users]
        n = len(users)
        self.n = n
        straight = [] if self.curved else [p for p in self.mine if p not in self.typed]
        self.cost += [-self.power[p] if p in straight else 0.0 for p in range(n)]
        self.high += map(float, self.most)
        # What is branched upon stands together, at the front.
        supplied = self.machine_columns(worth) if isinstance(worth, Machines) else []
        self.numbers = {
            p: [self.column(1.0, -self._worth(p, x) if p in self.mine else 0.0) for x in range(self.most[p] + 1)]
            for p in self.typed
        }
        for p, columns in self.numbers.items():
            self.row(1.0, 1.0, dict.fromkeys(columns, 1.0))
            self.row(0.0, 0.0, {p: -1.0} | {column: float(x) for x, column in enumerate(columns) if x})
        self.asked = [self._asked(p) for p in range(n)]
        if isinstance(worth, Pool):
            self._pool(worth)
        else:
            self._machines(worth, supplied)
        self.values = []
        if self.curved:
            high = [math.inf if most and p not in self.typed else 0.0 for p, most in enumerate(self.most)]
            self.values = [self.column(most, -1.0 if p in self.mine else 0.0) for p, most in enumerate(high)]
        self.held = [self._held(positions) for positions in before]
        self.chords: set[tuple[int, int]] = set()
        self.optimal, self.stopped = highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kTimeLimit
        self.highs: Any = asker()
        low = [0.0] * len(self.high)
        for p, column in enumerate(self.values):
            low[column] = 0.0 if p in self.typed else -math.inf
        self.highs.passModel(self.model(low))
        if self.curved:
            for p, most in ((p, most) for p, most in enumerate(self.most) if p not in self.numbers):
                own = proof.value.own[p]
                near = {0, 1, own - 1, own, own // 2, 2 * own, most - 1} | {2**e for e in range(most.bit_length())}
                for v in near:
                    self._chord(p, v)

    def _pool(self, worth: Pool) -> None:
        for j, most in enumerate(worth.room):
            self.units[0, j] = self._within(most, [row[j] for row in worth.demands])

    def _machines(self, worth: Machines, supplied: list[dict[int, float]]) -> None:
        for s, runs in enumerate(supplied):
            terms = self._terms([int(shape == s) for shape in worth.shapes])
            self.units[0, s] = (self.row(-math.inf, 0.0, terms | {column: -x for column, x in runs.items()}), 1.0)
        for b, most in enumerate(worth.ceilings):
            self.units[len(worth.counts) + 1, b] = self._within(most, [row[b] for row in worth.under])

    def _within(self, most: int, needs: Sequence[int]) -> tuple[int, float]:
        """Add the row of something of which a task of each good needs so much; return the row, and its unit."""
        unit = float(max([most, *needs]) or 1)
        terms = {column: x / unit for column, x in self._terms(needs).items()}
        return self.row(-math.inf, most / unit, terms), unit

    def _held(self, positions: Sequence[int]) -> tuple[int, float]:
        """Add the row in which a tier is worth what it is, or more; return the row, and its unit."""
        terms: dict[int, float] = {}
        for p in positions:
            if p in self.numbers:
                terms |= {column: self._worth(p, x) for x, column in enumerate(self.numbers[p]) if x}
            else:
                terms |= {self.values[p]: 1.0} if self.curved else {p: self.power[p]}
        unit = max(map(abs, terms.values()), default=1.0) or 1.0
        own = math.fsum(self._worth(p, self.value.own[p]) for p in positions)
        return self.row(own / unit, math.inf, {column: x / unit for column, x in terms.items()}), unit

    def _asked(self, p: int) -> dict[int, Sequence[int]]:
        """Return of how many of each type a column is."""
        if p not in self.numbers:
            return {p: (1,)}
        return {column: self.whole.sequences[p].started(x) for x, column in enumerate(self.numbers[p])}

    def _terms(self, needs: Sequence[int]) -> dict[int, float]:
        found: dict[int, float] = {}
        for goods, columns in zip(self.whole.goods_of, self.asked, strict=True):
            mine = [needs[good] for good in goods]
            if any(mine):
                found |= {column: float(sum(map(mul, mine, counts))) for column, counts in columns.items()}
        return found

    def _beyond(self, p: int, v: int) -> int:
        """Return what tasks are worth more than those at hand, in the proof's units of utility."""
        i = self.cluster.users[p]
        return self.value.low(i, v) - self.value.low(i, self.value.own[p])

    def _near(self, p: int, v: int) -> bool:
        """Say whether what so many tasks are worth is a number of the program."""
        return self.value.utility is None or abs(self._beyond(p, v)) <= FAR * self.unit

    def _worth(self, p: int, v: int) -> float:
        if self.value.utility is not None:
            return min(max(self._beyond(p, v), -FAR * self.unit), FAR * self.unit) / self.unit
        if not self.curved:
            return self.power[p] * v
        return self.first + self.power[p] * math.log(v) if v else 0.0

    def _chord(self, p: int, v: int) -> bool:
        """Tell the program the chord of a user's value after v tasks; say whether it is new."""
        if not 0 <= v < self.most[p] or (p, v) in self.chords or not (self._near(p, v) and self._near(p, v + 1)):
            return False
        self.chords.add((p, v))
        slope = self._worth(p, v + 1) - self._worth(p, v)
        row = np.array([self.values[p], p], dtype=np.int32), np.array([1.0, -slope])
        self.highs.addRow(-math.inf, self._worth(p, v) - slope * v, 2, *row)
        return True

    def solve(self, bounds: Bounds, deadline: Deadline = NEVER) -> BoxPoint:
        """Return what the program finds within bounds; after the deadline without more tangents.

        Raises
        ------
        Undecided
            When it ends without prices; `OutOfTime` when it has none `GRACE` after the deadline.
        """
        size = self.n + len(self.loads)
        low, high = np.array([*self.least, *(0 for _ in self.loads)], dtype=float), np.array(self.high[:size])
        at = {key: self.n + q for q, key in enumerate(self.loads)} if any(k[0] != "user" for k in bounds) else {}
        place = {i: p for p, i in enumerate(self.cluster.users)}
        for what, ends in bounds.items():
            column = place[what[1]] if what[0] == "user" else at[what]
            low[column], high[column] = ends
        self.highs.changeColsBounds(size, np.arange(size, dtype=np.int32), low, high)
        if self.value.utility is not None:
            self._within_box(low[: self.n].astype(int).tolist(), high[: self.n].astype(int).tolist())
        for p, columns in self.numbers.items():
            open_to = np.array([float(low[p] <= x <= high[p]) for x in range(len(columns))])
            self.highs.changeColsBounds(len(columns), np.array(columns, dtype=np.int32), 0 * open_to, open_to)
        last = deadline.grace(GRACE)
        for _ in range(TANGENTS if self.curved else 1):
            found, optimal = self._run(deadline, last)
            values = np.array(found.col_value)
            if not (self.curved and optimal and deadline.left() and self._sharper(values)):
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
        held = [abs(duals[row]) / unit for row, unit in self.held]
        return BoxPoint(tasks, machines, self.loads, prices, held, ray is not None)

    def _within_box(self, low: list[int], high: list[int]) -> None:
        """Count what those who have a choice can have, and nothing of the others, whose chords may be beyond floats."""
        free = [p for p in (*self.before, *self.mine) if p not in self.numbers and self.most[p]]
        for p in free:
            if low[p] < high[p]:
                self._chord(p, low[p])
                self._chord(p, high[p] - 1)
        at = np.array([self.values[p] for p in free], dtype=np.int32)
        most = np.array([self._worth(p, high[p]) for p in free])
        self.highs.changeColsBounds(len(at), at, np.full(len(at), -math.inf), most)
        costs = np.array([-1.0 if p in self.mine and low[p] < high[p] else 0.0 for p in free])
        self.highs.changeColsCost(len(at), at, costs)

    def _run(self, deadline: Deadline, ends: Deadline) -> tuple[Any, bool]:
        """Return the solution, with all fillings of devices that matter, as time allows, and whether it is one."""
        while True:
            self.highs.setOptionValue("time_limit", self.highs.getRunTime() + ends.left())
            self.highs.run()
            if (status := self.highs.getModelStatus()) == self.stopped:
                raise OutOfTime("the time limit ran out in the program of a box")
            optimal = status == self.optimal
            duals = (found := self.highs.getSolution()).row_dual
            if not optimal:
                _, there, row = self.highs.getDualRay()
                duals = -np.abs(row) if there else ()
            if not self.devices or not len(duals) or not deadline.left() or not self.filled(self.highs, duals):
                return found, optimal

    def _sharper(self, values: np.ndarray) -> bool:
        """Tell the program more where it overestimates somebody; say whether that was anything new."""
        new = False
        curved = ((p, column) for p, column in enumerate(self.values) if p not in self.numbers and self.most[p])
        for p, column in curved:
            x = values[p]
            v = min(max(math.floor(x + OVERESTIMATED), 0), self.most[p] - 1)
            true = self._worth(p, v) + (x - v) * (self._worth(p, v + 1) - self._worth(p, v))
            if values[column] > true + OVERESTIMATED:
                new |= self._chord(p, v)
        return new

    def _prices(self, duals: Sequence[float]) -> list[list[float]]:
        tables = 1 if isinstance(self.worth, Pool) else 1 + len(self.worth.counts) + bool(self.worth.ceilings)
        prices = {place: max(0.0, -duals[row]) * self.top / unit for place, (row, unit) in self.units.items()}
        return [[prices[place] for place in sorted(prices) if place[0] == table] for table in range(tables)]
