"""The linear program of a box of whole tasks, over HiGHS: where to split it, and which prices to try."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..base.solvers.table import program
from ..model.instance import Instance
from ..model.packings import shapes
from .packing_bound import Machines, PackingProgram, Pool
from .refutation import FRACTIONAL
from .verifier.trees import Bounds, Undecided
from .verifier.whole_values import ValueProof

__all__ = ["BoxPoint", "BoxProgram"]

TANGENTS = 12
"""Times that the program of a box is told more of the logarithms."""

OVERESTIMATED = 1e-9
"""Part of the largest value by which the program may overestimate a user's."""


@dataclass(frozen=True)
class BoxPoint:
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


class BoxProgram(PackingProgram):
    """The linear program of a box: tasks, what they are worth (below chords of logarithms), machines with loads."""

    def __init__(self, proof: ValueProof, worth: Pool | Machines, instance: Instance):
        import highspy

        super().__init__()
        self.value, self.worth, self.cluster = proof.value, worth, proof.cluster
        users = proof.cluster.users
        alike = shapes(instance, users)
        self.shape = {users[p]: s for s, positions in enumerate(alike) for p in positions}
        self.most = [proof.value.most[i] for i in users]
        self.curved = proof.value.curved
        if proof.value.utility is not None:
            self.first_task = max(abs(proof.value.low(i, 1) - proof.value.served) for i in users)
            self.top = float(Fraction(self.first_task, proof.value.unit))
        elif self.curved:
            self.top = float(max(proof.value.power.values()))
            self.power = [proof.value.power[i] / self.top for i in users]
            self.first = float(Fraction(proof.value.served, proof.value.unit)) / self.top
        else:
            largest = max(proof.value.rate.values())
            self.top = float(largest)
            self.power = [proof.value.rate[i] / largest for i in users]
        n = len(users)
        self.n = n
        self.cost += [0.0] * n if self.curved else [-w for w in self.power]
        self.high += map(float, self.most)
        if isinstance(worth, Pool):
            self._pool(worth)
        else:
            self._machines(worth)
        self.values = [self.column(math.inf, -1.0) for _ in users] if self.curved else []
        self.chords: set[tuple[int, int]] = set()
        self.optimal = highspy.HighsModelStatus.kOptimal
        self.highs: Any = highspy.Highs()
        self.highs.setOptionValue("output_flag", False)
        self.highs.setOptionValue("presolve", "off")
        low = [0.0] * len(self.high)
        for column in self.values:
            low[column] = -math.inf
        self.highs.passModel(program(self.cost, low, self.high, self.rows))
        if self.curved:
            for p, most in enumerate(self.most):
                own = proof.value.own[p]
                near = {0, 1, own - 1, own, own // 2, 2 * own, most - 1} | {2**e for e in range(most.bit_length())}
                for v in near:
                    self._chord(p, v)

    def _pool(self, worth: Pool) -> None:
        for j, most in enumerate(worth.room):
            column = [worth.demands[self.shape[i]][j] for i in self.cluster.users]
            unit = float(max([most, *column]) or 1)
            terms = {p: d / unit for p, d in enumerate(column) if d}
            self.units[0, j] = (self.row(-math.inf, most / unit, terms), unit)

    def _machines(self, worth: Machines) -> None:
        for s, supplied in enumerate(self.machine_columns(worth)):
            terms = {p: 1.0 for p, i in enumerate(self.cluster.users) if self.shape[i] == s}
            self.units[0, s] = (self.row(-math.inf, 0.0, terms | {column: -x for column, x in supplied.items()}), 1.0)

    def _worth(self, p: int, v: int) -> float:
        if self.value.utility is not None:
            return self.value.low(self.cluster.users[p], v) / self.first_task
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

    def solve(self, bounds: Bounds) -> BoxPoint:
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
        for _ in range(TANGENTS if self.curved else 1):
            self.highs.run()
            found = self.highs.getSolution()
            values = np.array(found.col_value)
            optimal = self.highs.getModelStatus() == self.optimal
            if not (self.curved and optimal and self._sharper(values)):
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
        return BoxPoint(tasks, machines, self.loads, prices, self.listed, self.shape, ray is not None)

    def _sharper(self, values: np.ndarray) -> bool:
        """Tell the program more where it overestimates somebody; say whether that was anything new."""
        new = False
        for p, column in enumerate(self.values):
            x = values[p]
            v = min(max(math.floor(x + OVERESTIMATED), 0), self.most[p] - 1)
            true = self._worth(p, v) + (x - v) * (self._worth(p, v + 1) - self._worth(p, v))
            if values[column] > true + OVERESTIMATED:
                new |= self._chord(p, v)
        return new

    def _prices(self, duals: Sequence[float]) -> list[list[float]]:
        tables = 1 if isinstance(self.worth, Pool) else 1 + len(self.worth.counts)
        prices = {place: max(0.0, -duals[row]) * self.top / unit for place, (row, unit) in self.units.items()}
        return [[prices[place] for place in sorted(prices) if place[0] == table] for table in range(tables)]
