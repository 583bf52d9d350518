"""What machines can carry, by loads of single machines; where they cannot, prices that show it.

Given   t[s]      tasks asked of each shape, count[k] machines of each class
        L[k]      loads: tasks of each shape that fit together on one machine of class k

Find    z[k, l] >= 0  machines of class k with load l, in fractions

    minimise    theta
    subject to  sum over k and l of l[s] z[k, l]  >=  t[s]             for every shape     (asked)
                sum over l of z[k, l]             <=  theta count[k]   for every class     (machines)

Where theta is above 1 the tasks cannot be packed, and the duals of (asked) are prices at which they cost more than all
machines with their most valuable loads are worth; rounded to integers, and that worth counted again, they are a row
that holds for whatever can be packed.  Loads are found as they are needed, by a search for the most valuable one
(Gilmore and Gomory, "A linear programming approach to the cutting stock problem", Operations Research 9, 1961).

Whole machines come of the same program: as many with a load as the whole part says are packed, and the rest is asked
again of the machines that are left, until everything is packed.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.deadline import NEVER, Deadline
from ..base.errors import SolverError
from ..base.progress import report
from ..model.instance import Instance
from ..model.packings import integer_rows

__all__ = ["Load", "MachineLoads", "Packed"]

Load = tuple[tuple[int, int], ...]
"""Pairs (shape, tasks) of one machine."""

Packed = list[tuple[int, int, Load]]
"""Class, number of machines, load."""

PATIENCE = (1_000, 10_000, 100_000)
"""Numbers of tasks tried in the search for a load: few at first, more where few find nothing."""

BITS = 30
"""Bits of the largest price."""

MET = 1e-9
"""Part by which theta may be above 1: a solver's own rounding."""

WORTH = 1e-7
"""Part by which a load has to be worth more than those known."""

UNITS = 10**12
"""Part of a load's worth that is added to what the search finds: thousands of roundings."""

SAFE = 1 + 1e-12
"""What a bound in floats is raised by: thousands of its roundings."""

CAREFUL = (1.0, 0.7, 0.4)
"""Parts of the machines that the program gives whole which are packed at first; the less, the more is still open."""


@dataclass(frozen=True)
class _Found:
    """The most valuable load that was found, if any beats what was known, and what none is worth more than."""

    value: float
    load: Load | None
    bound: float


SEARCHED = "the search for loads of machines"
"""What is said to have been looked for when the time is up."""


class _Class:
    """One class of machines and the shapes that fit on it; amounts are integers."""

    def __init__(self, shapes: list[int], rows: list[list[int]], room: list[int], count: int):
        self.shapes, self.room, self.count = shapes, tuple(room), count
        self.rows = {s: tuple(row) for s, row in zip(shapes, rows, strict=True)}
        used = [j for j, most in enumerate(room) if most and any(row[j] for row in rows)]
        self.parts = np.array([[row[j] / room[j] for j in used] for row in rows]).reshape(len(rows), len(used))
        self._highs: Any = None

    def most(self, s: int) -> int:
        """Return the most tasks of a shape on one machine."""
        return min(f // d for f, d in zip(self.room, self.rows[s], strict=True) if d)

    def _resources(self, values: np.ndarray) -> np.ndarray:
        """Return prices of a machine's resources at which no task is worth more than it uses, (resources,)."""
        import highspy

        width = self.parts.shape[1]
        if self._highs is None:
            self._highs = highs = highspy.Highs()
            highs.setOptionValue("output_flag", False)
            highs.setOptionValue("presolve", "off")
            for _ in range(width):
                highs.addCol(1.0, 0.0, highspy.kHighsInf, 0, [], [])
            for row in self.parts:
                highs.addRow(0.0, highspy.kHighsInf, width, np.arange(width, dtype=np.int32), row)
        unit = float(values.max()) or 1.0
        for at, value in enumerate(values.tolist()):
            self._highs.changeRowBounds(at, value / unit, highspy.kHighsInf)
        self._highs.run()
        own: np.ndarray = np.maximum(np.array(self._highs.getSolution().col_value), 0.0) * unit
        # What the solver's tolerance forgave is made good where the task uses most.
        for value, row in zip(values, self.parts, strict=True):
            if (lacking := value - float(row @ own)) > 0:
                own[row.argmax()] += lacking / row.max()
        return own

    def heaviest(self, prices: Sequence[float], known: float, steps: int, asked: Sequence[int] | None = None) -> _Found:
        """Return the most valuable load at prices of the shapes: tasks that are worth most of what they use first.

        Parameters
        ----------
        prices : sequence
            Integers, then the answer is right to the last one, or floats.
        known : number
            What a load has to be worth more than.
        steps : int
            After so many only a bound is known.
        asked : sequence of int, optional
            The most tasks of each shape that are of any use.
        """
        values = np.array([float(prices[s]) for s in self.shapes])
        if not values.any():
            return _Found(known, None, known)
        paid = self.parts @ (own := self._resources(values))
        rated = [
            (value / cost, s, float(cost))
            for value, cost, s in zip(values.tolist(), paid.tolist(), self.shapes, strict=True)
            if value > 0 and (asked is None or asked[s] > 0)
        ]
        rated.sort(reverse=True)
        rates = [rate for rate, _, _ in rated] + [0.0]
        order = [(s, prices[s], cost, self.rows[s]) for _, s, cost in rated]
        exact = all(isinstance(price, int) for price in prices)
        least = 1 if exact else WORTH * max(float(known), np.finfo(float).tiny)
        whole = max(float(own.sum()) * max(1.0, rates[0]), 0.0) * SAFE
        whole = math.floor(whole) if exact else whole
        best, load, left = known, None, steps
        chosen = [0] * len(order)

        def extend(place: int, free: tuple[int, ...], unused: float, value: Any) -> None:
            nonlocal best, load, left
            if value >= best + least:
                best = value
                load = tuple((order[p][0], chosen[p]) for p in range(place) if chosen[p])
            while place < len(order):
                if value + rates[place] * unused * SAFE < best + least:
                    return
                row = order[place][3]
                for d, f in zip(row, free, strict=True):
                    if d > f:
                        break
                else:
                    break
                place += 1
            else:
                return
            s, price, cost, row = order[place]
            most = min(f // d for d, f in zip(row, free, strict=True) if d)
            if asked is not None:
                most = min(most, asked[s])
            # A bound is convex in x: where neither the next x nor 0 promises more, nothing between them does.
            without = value + rates[place + 1] * unused * SAFE
            for x in range(most, -1, -1):
                left -= 1
                within = value + x * price + rates[place + 1] * max(unused - x * cost, 0.0) * SAFE
                if left < 0 or max(within, without) < best + least:
                    break
                chosen[place] = x
                rest = tuple([f - x * d for d, f in zip(row, free, strict=True)]) if x else free
                extend(place + 1, rest, max(unused - x * cost, 0.0), value + x * price)
                if left < 0 or best >= whole:
                    break
            chosen[place] = 0

        extend(0, self.room, float(own.sum()), 0)
        return _Found(best, load, max(whole, best) if left < 0 else best)


class MachineLoads:
    """The loads of a cluster known so far, and what they say of tasks.

    Parameters
    ----------
    instance : Instance
        Machines without devices, and users of one type each.
    users : sequence of int
        The first user of each shape, as `drfopt.model.packings.shapes` lists them.

    Attributes
    ----------
    shapes : int
        Number of shapes.

    Raises
    ------
    TimeLimitError
        Like all that is asked of it.
    """

    def __init__(self, instance: Instance, users: Sequence[int], deadline: Deadline = NEVER):
        self.shapes, self.deadline = len(users), deadline
        self.classes: list[_Class] = []
        for k, room in enumerate(instance.exact_machine_capacity):
            deadline.check(SEARCHED)
            here = [s for s, i in enumerate(users) if instance.fits[i, k]]
            rows, amounts = integer_rows([instance.exact_demands[users[s]] for s in here], room)
            self.classes.append(_Class(here, rows, amounts, int(instance.counts[k])))
        self.known: dict[tuple[int, Load], None] = {}
        for k, kind in enumerate(self.classes):
            deadline.check(SEARCHED)
            for s in kind.shapes:
                self.known[k, ((s, kind.most(s)),)] = None

    def prices(self, asked: Sequence[float]) -> tuple[list[int], int] | None:
        """Return integer prices of the shapes and the worth of all machines, less than what is asked costs, or None.

        None where the tasks can be carried in fractions of machines, as far as floats tell.
        """
        program = _Program(self, asked, [kind.count for kind in self.classes])
        if program.solve(self.deadline, bounded=False):
            return None
        largest = max(program.prices, default=0.0)
        if largest <= 0:
            return None
        whole = [round(math.ldexp(price / largest, BITS)) for price in program.prices]
        worth = 0
        for kind in self.classes:
            self.deadline.check(SEARCHED)
            most = int(kind.heaviest(whole, 0, PATIENCE[-1]).bound)
            # The search prunes in floats, whose rounding is far less than a unit, or than such a part.
            worth += kind.count * (most + 1 + most // UNITS)
        return (whole, worth) if sum(p * x for p, x in zip(whole, asked, strict=True)) > worth else None

    def pack(self, asked: Sequence[int]) -> Packed | None:
        """Return machines with loads that carry the tasks asked, or None where none were found."""
        for careful in CAREFUL:
            if (found := self._dived(asked, careful)) is not None:
                return found
        return None

    def _dived(self, asked: Sequence[int], careful: float) -> Packed | None:
        left, counts = list(asked), [kind.count for kind in self.classes]
        packed: Packed = []
        while any(left):
            report(f"packing: {sum(left)} tasks left for {sum(counts)} machines")
            program = _Program(self, left, counts)
            if not program.solve(self.deadline, bounded=True):
                return None
            numbers = sorted(zip(program.numbers(), program.loads, strict=True), key=lambda pair: -pair[0])
            part = 1.0 if packed else careful
            sure = [(int((number + MET) * part), load) for number, load in numbers]
            sure = [(number, load) for number, load in sure if number] or [(1, numbers[0][1])]
            for number, (k, load) in sure:
                if number := min(number, counts[k]):
                    counts[k] -= number
                    packed.append((k, number, load))
                    for s, x in load:
                        left[s] = max(0, left[s] - number * x)
        return packed


class _Program:
    """The linear program for some tasks and machines; loads of no use for these tasks are left out, or cut down."""

    def __init__(self, owner: MachineLoads, asked: Sequence[float], counts: Sequence[int]):
        import highspy

        self.owner, self.counts, self.most = owner, counts, [math.ceil(x) for x in asked]
        self.infinite, self.refused = highspy.kHighsInf, highspy.HighsStatus.kError
        self.highs = highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.setOptionValue("presolve", "off")
        # Theta costs as much as there are machines: then a machine, and its load, is worth about 1.
        highs.addCol(float(max(sum(counts), 1)), 0.0, self.infinite, 0, [], [])
        for x in asked:
            highs.addRow(float(x), self.infinite, 0, [], [])
        for count in counts:
            highs.addRow(-self.infinite, 0.0, 1, np.zeros(1, dtype=np.int32), np.array([-float(count)]))
        self.loads: list[tuple[int, Load]] = []
        self._there: set[tuple[int, Load]] = set()
        self.prices: list[float] = []
        self.lonely = any(
            x and not any(counts[k] and s in kind.rows for k, kind in enumerate(owner.classes))
            for s, x in enumerate(asked)
        )
        self._add(owner.known)

    def _add(self, loads: Iterable[tuple[int, Load]]) -> bool:
        """Add the columns of loads of classes; say whether any of them is new, and of use."""
        starts, rows, values = [], list[int](), list[float]()
        for k, load in loads:
            mine = tuple((s, min(x, self.most[s])) for s, x in load if self.most[s])
            if not mine or not self.counts[k] or (k, mine) in self._there:
                continue
            self._there.add((k, mine))
            self.loads.append((k, mine))
            starts.append(len(rows))
            rows += [*(s for s, _ in mine), len(self.most) + k]
            values += [*(float(x) for _, x in mine), 1.0]
        number, none = len(starts), np.zeros(len(starts))
        table = np.array(starts, dtype=np.int32), np.array(rows, dtype=np.int32), np.array(values)
        if self.highs.addCols(number, none, none, none + self.infinite, len(rows), *table) == self.refused:
            most = max(values)
            raise SolverError(
                f"HiGHS takes no program with {most:.0e} tasks on a machine: give demands in larger units"
            )
        return number > 0

    def numbers(self) -> list[float]:
        """Return how many machines have each load."""
        return list(self.highs.getSolution().col_value[1:])

    def solve(self, deadline: Deadline, bounded: bool) -> bool:
        """Say whether the machines carry the tasks in fractions; if not, `prices` are those of the last program."""
        if self.lonely:
            return False
        number, patience = len(self.most), 0
        while True:
            deadline.check(SEARCHED)
            self.highs.setOptionValue("time_limit", self.highs.getRunTime() + deadline.left())
            self.highs.run()
            deadline.check(SEARCHED)
            solution = self.highs.getSolution()
            if solution.col_value[0] <= 1 + MET:
                return True
            self.prices = [max(0.0, price) for price in solution.row_dual[:number]]
            fresh = False
            for k, kind in enumerate(self.owner.classes):
                if not self.counts[k]:
                    continue
                deadline.check(SEARCHED)
                known = max(0.0, -solution.row_dual[number + k])
                asked = self.most if bounded else None
                found = kind.heaviest(self.prices, known * (1 + WORTH), PATIENCE[patience], asked)
                if found.load is not None and self._add([(k, found.load)]):
                    self.owner.known[k, found.load] = None
                    fresh = True
            if not fresh:
                patience += 1
                # Where machines are left to pack, others are tried sooner than a load is searched that long.
                if patience == len(PATIENCE) - bounded:
                    return False
