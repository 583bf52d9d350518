"""Linear programs in rational numbers, from a basis that somebody guessed.

    maximise c . x   subject to   A x <= b,  x >= 0

A basis names as many columns (of A, or the slack of a row) as there are rows; their values and the prices of the rows
follow from it, exactly.  Are all values and all reduced costs of the right sign, it is optimal, and nothing else was
needed: floats are good at finding bases and bad at being sure.  Otherwise pivots mend it: where values are negative,
one artificial column takes up what is missing and is driven out; then columns that gain enter until none does.  After
some pivots that gain nothing, the first column that may enters (Bland's rule), so that no basis comes back.

A linear program in fractions: the simplex method with Bland's rule, for the few users of an audit.

Given   v[i]      value of one task of user i, not negative     (n,)
        rows      what one task of each user takes of each room (r, n), not negative
        room      (r,), not negative

Find    x >= 0 tasks of the users

    maximise    sum_i v[i] x[i]
    subject to  sum_i rows[r][i] x[i] <= room[r]     for every r

Nobody's tasks is a feasible start, so one phase is enough; Bland's rule cannot cycle.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..deadline import NEVER, Deadline
from ..errors import SolverError
from ..numbers.rationals import fraction, number, over_one, whole

__all__ = ["ExactProgram", "Factors", "NoSolutionError", "Optimum", "UnboundedError", "largest", "maximise", "risen"]


class NoSolutionError(SolverError):
    """Nothing obeys the rows."""


class UnboundedError(SolverError):
    """What obeys the rows is worth as much as one likes."""


class Factors:
    """The factors of the sparse matrix with the given columns; the next pivot is one with few other entries in its row
    and column (Markowitz): the bases of linear programs are nearly triangular, and what is not fills in late.

    Parameters
    ----------
    columns : sequence of {row: value}
        As many as there are rows; no value is 0.

    Raises
    ------
    ZeroDivisionError
        When the matrix is singular.
    """

    def __init__(self, columns: Sequence[Mapping[int, Any]]):
        self.size = len(columns)
        rows: list[dict[int, Any]] = [{} for _ in range(self.size)]
        for position, column in enumerate(columns):
            for r, value in column.items():
                rows[r][position] = value
        self.steps: list[tuple[int, int, Any, dict[int, Any], list[tuple[int, Any]]]] = []
        members = [set(column) for column in columns]
        # Columns and rows by their number of entries, kept loosely: a count is looked up when its turn comes.
        waiting = set(range(self.size))
        single_columns = [p for p in waiting if len(members[p]) == 1]
        single_rows = [r for r in range(self.size) if len(rows[r]) == 1]
        done = [False] * self.size
        while waiting:
            row, position = self._pivot(rows, members, waiting, done, single_columns, single_rows)
            pivot_row = rows[row]
            pivot = pivot_row.pop(position)
            done[row] = True
            waiting.discard(position)
            for other in pivot_row:
                members[other].discard(row)
                if len(members[other]) == 1:
                    single_columns.append(other)
            below = []
            for r in members[position]:
                if r == row:
                    continue
                target = rows[r]
                factor = target.pop(position) / pivot
                below.append((r, factor))
                for other, value in pivot_row.items():
                    left = target[other] - factor * value if other in target else -factor * value
                    if left:
                        target[other] = left
                        members[other].add(r)
                    else:
                        del target[other]
                        members[other].discard(r)
                        if len(members[other]) == 1:
                            single_columns.append(other)
                if len(target) == 1:
                    single_rows.append(r)
            self.steps.append((row, position, pivot, pivot_row, below))

    @staticmethod
    def _pivot(
        rows: list[dict[int, Any]],
        members: list[set[int]],
        waiting: set[int],
        done: list[bool],
        single_columns: list[int],
        single_rows: list[int],
    ) -> tuple[int, int]:
        while single_columns:
            position = single_columns.pop()
            if position in waiting and len(members[position]) == 1:
                return next(iter(members[position])), position
        while single_rows:
            row = single_rows.pop()
            if not done[row] and len(rows[row]) == 1:
                return row, next(iter(rows[row]))
        position = min(waiting, key=lambda p: len(members[p]))
        if not members[position]:
            raise ZeroDivisionError("the matrix is singular")
        return min(members[position], key=lambda r: len(rows[r])), position

    def solve(self, right: Sequence[Any]) -> list[Any]:
        """Return x (by column) with ``sum_p columns[p] * x[p] = right``."""
        work = list(right)
        for row, _, _, _, below in self.steps:
            value = work[row]
            if value:
                for r, factor in below:
                    work[r] -= factor * value
        found: list[Any] = [0] * self.size
        for row, position, pivot, others, _ in reversed(self.steps):
            value = work[row]
            for other, entry in others.items():
                if found[other]:
                    value -= entry * found[other]
            found[position] = value / pivot
        return found

    def solve_transposed(self, right: Sequence[Any]) -> list[Any]:
        """Return y (by row) with ``columns[p] . y = right[p]`` for every column p."""
        work = list(right)
        found: list[Any] = [0] * self.size
        for row, position, pivot, others, _ in self.steps:
            value = work[position] / pivot
            found[row] = value
            if value:
                for other, entry in others.items():
                    work[other] -= value * entry
        for row, _, _, _, below in reversed(self.steps):
            for r, factor in below:
                if found[r]:
                    found[row] -= factor * found[r]
        return found


PATIENCE = 20
"""Pivots without a gain after which Bland's rule chooses."""


@dataclass(frozen=True)
class ExactProgram:
    """The letters above: `columns` of A as ``{row: value}`` without zeros, `b` by row, `c` by column."""

    columns: Sequence[dict[int, Fraction]]
    b: Sequence[Fraction]
    c: Sequence[Fraction]


@dataclass(frozen=True)
class Optimum:
    """Values of the columns, prices of the rows, the basis (a row's slack is its number after all columns), pivots."""

    x: list[Fraction]
    prices: list[Fraction]
    basis: list[int]
    pivots: int


def maximise(
    program: ExactProgram,
    basis: Sequence[int],
    what: str,
    deadline: Deadline = NEVER,
    known: Callable[[], Sequence[int]] | None = None,
) -> Optimum:
    """Return the optimum, reached from the basis.

    Parameters
    ----------
    basis : one column a row
        Any guess; a singular one is replaced by the slacks of all rows.
    known : callable, optional
        Returns a basis that takes the place of a guess that obeys not all rows, if it does: to mend one is a program of
        its own.
    what : str
        Names the program in an error.

    Raises
    ------
    NoSolutionError
        When the program has no solution.
    UnboundedError
        When it has no largest one.
    """
    return _Simplex(program, basis, what, deadline, known).optimum()


def risen(program: ExactProgram, basis: Sequence[int], column: int, value: Fraction) -> list[int]:
    """Return the basis that is reached where a column outside this one rises until another is used up.

    Parameters
    ----------
    value : Fraction
        Of the column at first: there all rows are obeyed.

    Raises
    ------
    UnboundedError
        When none is.
    """
    simplex = _Simplex(program, basis, "a column that rises", NEVER)
    along, at = simplex.along(column), number(value)
    left = [(v - at * step) / step for v, step in zip(simplex.values, along, strict=True) if step > 0]
    if not left:
        raise UnboundedError("a column that rises has no end: the instance is at fault")
    used = [position for position, step in enumerate(along) if step > 0][left.index(min(left))]
    return [column if position == used else one for position, one in enumerate(simplex.basis)]


class _Simplex:
    """A basis, its factors, and the pivots from it."""

    def __init__(
        self,
        program: ExactProgram,
        basis: Sequence[int],
        what: str,
        deadline: Deadline,
        known: Callable[[], Sequence[int]] | None = None,
    ):
        zero, one = number(Fraction(0)), number(Fraction(1))
        self.zero, self.one, self.what, self.deadline = zero, one, what, deadline
        self.rows, self.width = len(program.b), len(program.columns)
        self.columns = [{r: number(v) for r, v in column.items()} for column in program.columns]
        self.columns += [{r: one} for r in range(self.rows)]
        # The same with integers where that is what they are: for prices, which are looked at column by column.
        self.needs = [{r: whole(v) for r, v in column.items()} for column in program.columns]
        self.b = [number(value) for value in program.b]
        self.c = [number(value) for value in program.c] + [zero] * self.rows
        self.pivots = 0
        if not self._begin(basis) and known is not None and not self._begin(known()):
            self._begin(basis)

    def _begin(self, basis: Sequence[int]) -> bool:
        """Begin with a basis, or all slacks where it is singular; say whether it obeys all rows."""
        self.basis = list(basis)
        try:
            self._factor()
        except ZeroDivisionError:
            self.basis = list(range(self.width, self.width + self.rows))
            self._factor()
        self.values = self.factors.solve(self.b)
        return self._obeys()

    def _obeys(self) -> bool:
        return all(value >= 0 for value in self.values)

    def optimum(self) -> Optimum:
        """Pivot until values and reduced costs have the right signs."""
        if not self._obeys():
            self._repair()
        prices = self._improve(self.c)
        x = [Fraction(0)] * self.width
        for column, value in zip(self.basis, self.values, strict=True):
            if column < self.width:
                x[column] = fraction(value)
        return Optimum(x, [fraction(p) for p in prices], self.basis, self.pivots)

    def _factor(self) -> None:
        self.factors = Factors([self.columns[q] for q in self.basis])

    def along(self, column: int) -> list[Any]:
        """Return by how much the values fall for a unit of a column that enters."""
        right = [self.zero] * self.rows
        for r, value in self.columns[column].items():
            right[r] = value
        return self.factors.solve(right)

    def _repair(self) -> None:
        """Make all values non-negative with one artificial column, and drive it out."""
        short = [position for position, value in enumerate(self.values) if value < 0]
        artificial: dict[int, Any] = {}
        for position in short:
            for r, value in self.columns[self.basis[position]].items():
                artificial[r] = artificial.get(r, self.zero) - value
        self.columns.append({r: value for r, value in artificial.items() if value})
        leaving = min(short, key=lambda position: self.values[position])
        self._replace(leaving, len(self.columns) - 1, self.along(len(self.columns) - 1))
        self._improve([self.zero] * (len(self.columns) - 1) + [-self.one], stop=len(self.columns) - 1)
        last = len(self.columns) - 1
        if last in self.basis:
            position = self.basis.index(last)
            if self.values[position]:
                raise NoSolutionError(f"{self.what} has no solution: the instance is at fault")
            column = self._substitute(position)
            self._replace(position, column, self.along(column))
        self.columns.pop()

    def _substitute(self, position: int) -> int:
        """Return a column that can take the place of a basic one of value 0."""
        unit = [self.zero] * self.rows
        unit[position] = self.one
        row = self.factors.solve_transposed(unit)
        basic = set(self.basis)
        for q, column in enumerate(self.columns[: self.width + self.rows]):
            if q not in basic and sum((row[r] * value for r, value in column.items()), self.zero):
                return q
        raise SolverError(f"{self.what} has rows that depend on each other: this cannot be, slacks do not")

    def _improve(self, c: list[Any], stop: int | None = None) -> list[Any]:
        """Pivot until no column gains, or the column `stop` has left; return the prices of the rows."""
        idle = 0
        while True:
            self.deadline.check(self.what)
            prices = self.factors.solve_transposed([c[q] for q in self.basis])
            if stop is not None and stop not in self.basis:
                return prices
            entering = self._entering(c, prices, first=idle > PATIENCE)
            if entering is None:
                return prices
            along = self.along(entering)
            reach = [(self.values[p] / step, p) for p, step in enumerate(along) if step > 0]
            if not reach:
                raise UnboundedError(f"{self.what} has no largest value: the instance is at fault")
            shortest = min(length for length, _ in reach)
            ties = [p for length, p in reach if length == shortest]
            leaving = next((p for p in ties if self.basis[p] == stop), min(ties, key=lambda p: self.basis[p]))
            idle = 0 if shortest > 0 else idle + 1
            self._replace(leaving, entering, along)

    def _entering(self, c: list[Any], prices: list[Any], first: bool) -> int | None:
        """Return the column that gains most a unit, or the first that gains; None when none does."""
        best, found = self.zero, None
        basic = set(self.basis)
        common, tops = over_one(prices)
        for q, column in enumerate(self.columns):
            if q in basic:
                continue
            # Nearly always it is only asked whether there is a gain: integers say it without reducing fractions.
            needs = self.needs[q] if q < self.width else column
            cost = sum(tops[r] * value for r, value in needs.items() if tops[r])
            if cost >= c[q] * common:
                continue
            gain = c[q] - self.one * cost / common
            if gain > best:
                if first:
                    return q
                best, found = gain, q
        return found

    def _replace(self, position: int, column: int, along: list[Any]) -> None:
        """Let a column enter in a place of the basis; nothing is rounded, and so its value is taken from the others."""
        entering = self.values[position] / along[position]
        for p, step in enumerate(along):
            if step:
                self.values[p] -= entering * step
        self.values[position] = entering
        self.basis[position] = column
        self.pivots += 1
        self._factor()


def largest(
    values: Sequence[Fraction], rows: Sequence[Sequence[Fraction]], room: Sequence[Fraction]
) -> tuple[list[Fraction], bool]:
    """Return an optimal vertex (n,), and whether it is certainly the only optimum.

    Examples
    --------
    >>> largest([Fraction(1), Fraction(1)], [[Fraction(1), Fraction(3)], [Fraction(4), Fraction(1)]], [9, 18])
    ([Fraction(45, 11), Fraction(18, 11)], True)
    """
    n, r = len(values), len(rows)
    table = [
        [*row, *(Fraction(int(p == q)) for q in range(r)), Fraction(limit)]
        for p, (row, limit) in enumerate(zip(rows, room, strict=True))
    ]
    cost = [*values, *(Fraction(0) for _ in range(r + 1))]
    basis = list(range(n, n + r))
    while (entering := next((q for q in range(n + r) if cost[q] > 0), None)) is not None:
        ratios = [(row[-1] / row[entering], basis[p], p) for p, row in enumerate(table) if row[entering] > 0]
        _, _, leaving = min(ratios)
        _pivot(table, cost, leaving, entering)
        basis[leaving] = entering
    tasks = [Fraction(0)] * (n + r)
    for p, column in enumerate(basis):
        tasks[column] = table[p][-1]
    outside = set(range(n + r)) - set(basis)
    return tasks[:n], all(cost[q] < 0 for q in outside)


def _pivot(table: list[list[Fraction]], cost: list[Fraction], leaving: int, entering: int) -> None:
    pivot = table[leaving][entering]
    table[leaving] = chosen = [value / pivot for value in table[leaving]]
    for p, row in enumerate(table):
        if p != leaving and row[entering]:
            factor = row[entering]
            table[p] = [value - factor * other for value, other in zip(row, chosen, strict=True)]
    factor = cost[entering]
    cost[:] = [value - factor * other for value, other in zip(cost, chosen, strict=True)]
