"""A sparse square matrix of rationals, factored once and solved with many right-hand sides, exactly.

Gaussian elimination on rows kept as dictionaries.  The next pivot is one with few other entries in its row and column
(Markowitz): the bases of linear programs are nearly triangular, and what is not fills in late.
"""

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["Factors"]


class Factors:
    """The factors of the matrix with the given columns.

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
