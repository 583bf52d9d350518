"""A small exact simplex: one polytope, walked from optimum to optimum, in integers.

A row of the tableau is ``[A_1, ..., A_s, C, over]`` and says ``over basic = C - sum_s A_s nonbasic_s``.  Bland's rule,
so that it ends.  A polytope is never built anew: rows that hold where it stands, and columns, are added to it, so that
there is no first phase.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import gcd, lcm

__all__ = ["Polytope"]

Name = tuple | str


class Polytope:
    """``{x >= 0 : A x <= b}`` with b >= 0, standing at a vertex; variables have names.

    A *free* row is a number that is watched and may have any sign.
    """

    def __init__(self, columns: Sequence[Name]):
        self.columns, self.order = list(columns), {name: at for at, name in enumerate(columns)}
        self.rows: dict[Name, list[int]] = {}
        self.free: set[Name] = set()

    def add(self, name: Name, terms: Mapping[Name, Fraction], constant: Fraction, free: bool = False) -> None:
        """Add the row ``name = constant + sum terms[v] v``, not negative where it stands unless it is free."""
        row = [Fraction(0)] * len(self.columns) + [Fraction(constant)]
        for variable, factor in terms.items():
            if variable in self.rows:
                *known, over = self.rows[variable]
                part = Fraction(factor) / over
                for at, value in enumerate(known[:-1]):
                    row[at] += part * value
                row[-1] += part * known[-1]
            else:
                row[self.columns.index(variable)] -= factor
        scale = lcm(*(value.denominator for value in row))
        if row[-1] < 0 and not free:
            raise ValueError(f"row {name} does not hold here")
        self.rows[name] = [int(value * scale) for value in row] + [scale]
        self.order[name] = len(self.order)
        if free:
            self.free.add(name)

    def value(self, name: Name) -> Fraction:
        """Return a variable's value at the vertex."""
        return Fraction(*self.rows[name][-2:]) if name in self.rows else Fraction(0)

    def maximise(self, name: Name) -> Fraction | None:
        """Go to a vertex where a row is largest and return its value; None when it has no end."""
        while True:
            row = self.rows[name]
            able = [at for at in range(len(self.columns)) if row[at] < 0]
            if not able:
                return self.value(name)
            entering = min(able, key=lambda at: self.order[self.columns[at]])
            best: tuple | None = None
            for key, other in self.rows.items():
                if (slope := other[entering]) > 0 and key not in self.free:
                    ratio = (Fraction(other[-2], slope), self.order[key], key)
                    best = ratio if best is None or ratio < best else best
            if best is None:
                return None
            self._pivot(best[2], entering)

    def fix(self, name: Name) -> None:
        """Hold at 0 for good a variable that is 0 here."""
        if name in self.rows:
            entering = next((at for at in range(len(self.columns)) if self.rows[name][at]), None)
            if entering is None:
                del self.rows[name]
                return
            self._pivot(name, entering)
        at = self.columns.index(name)
        del self.columns[at]
        for row in self.rows.values():
            del row[at]

    def hold(self, name: Name) -> None:
        """Keep a row at its largest value, at which it stands: whatever would lower it stays 0 for good."""
        for column in [c for c, factor in zip(self.columns, self.rows[name], strict=False) if factor > 0]:
            self.fix(column)

    def lower(self, column: Name, names: Sequence[Name]) -> None:
        """Add a variable, 0 here, that is subtracted from each of these."""
        new = dict.fromkeys(self.rows, 0)
        for name in names:
            if name in self.rows:
                new[name] += self.rows[name][-1]
                continue
            at = self.columns.index(name)
            for key, row in self.rows.items():
                new[key] += row[at]
        for key, row in self.rows.items():
            row.insert(len(self.columns), new[key])
        self.columns.append(column)
        self.order[column] = len(self.order)

    def _pivot(self, leaving: Name, at: int) -> None:
        chosen = self.rows.pop(leaving)
        pivot, over = chosen[at], chosen[-1]
        entering, self.columns[at] = self.columns[at], leaving
        for key, row in self.rows.items():
            if factor := row[at]:
                new = [value * pivot - factor * c for value, c in zip(row, chosen, strict=True)]
                new[at], new[-1] = -factor * over, row[-1] * pivot
                self.rows[key] = _reduced(new)
        chosen[at], chosen[-1] = over, pivot
        self.rows[entering] = _reduced(chosen)


def _reduced(row: list[int]) -> list[int]:
    common = gcd(*row) * (1 if row[-1] > 0 else -1)
    return row if common == 1 else [value // common for value in row]
