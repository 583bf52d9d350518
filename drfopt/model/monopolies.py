"""What a user with several task types could run alone, if every machine were its own and open to it.

Task-share fairness compares tasks as parts of these.  Types run in their proportions, and each anywhere:

Given   p[t]     part of the user's tasks that are of type t, positive, and d[t][j] what one of them needs
        R[k][j]  units of resource j on all machines of class k

Find    y[t][k] >= 0  tasks of type t on class k, and h tasks of the user in all

    maximise    h
    subject to  p[t] h - sum_k y[t][k]  <=  0            for every type t               (multiplier: q[t])
                sum_t d[t][j] y[t][k]   <=  R[k][j]      for every class k, resource j  (price: v[k][j])

Theorem (duality).  Prices v >= 0 prove that h is the largest when  sum_kj R[k][j] v[k][j] <= h sum_t p[t] q[t],  q[t]
being what a task of type t costs where it is cheapest, and something having a cost: whoever runs h' tasks pays
h' sum_t p[t] q[t] at least, and nobody pays more than all there is.

Of one type h is sum_k min_j R[k][j] / d[j], which is the definition for users whose tasks are alike.  Tasks are counted
as divisible ones, on machines too small for a whole one as well; of resources that are excluded there is enough.  Types
that no machine has everything for are left out, as whole tasks that fit nowhere are.

Source: Wang, Li, Liang and Li, "Multi-resource fair sharing for datacenter jobs with placement constraints", SC 2016.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..base.solvers.exact_lp import ExactProgram, maximise

__all__ = ["Monopoly", "monopolies", "monopolies_written", "monopoly", "pooled_tasks"]

NOTHING = 1e-9
"""Part of a row, or of what a class could run, below which a float is read as 0 when a basis is guessed."""


@dataclass(frozen=True)
class Monopoly:
    """The most tasks of one user, how they are placed, and what proves it.

    Attributes
    ----------
    tasks : Fraction
        0 where no type could run anywhere.
    placed : list of {class: Fraction}
        Tasks of each type by the number of the class, y above.
    prices : list of {resource: Fraction}
        Of each class by the number of the resource, v above.
    costs : list of Fraction
        What a task of each type costs where it is cheapest, q above; ``sum_t p[t] q[t] = 1``.
    unique : bool
        Whether the prices are surely the only ones that prove it, so that they say what more room brings.
    """

    tasks: Fraction
    placed: list[dict[int, Fraction]]
    prices: list[dict[int, Fraction]]
    costs: list[Fraction]
    unique: bool = True


def monopoly(
    parts: Sequence[Fraction], demands: Sequence[Sequence[Fraction]], room: Sequence[Sequence[Fraction]]
) -> Monopoly:
    """Return what a user could run alone: parts (t,) of its tasks, what they need (t, m), what classes have (k, m).

    Examples
    --------
    >>> half, one = Fraction(1, 2), Fraction(1)
    >>> monopoly([half, half], [[one, 0], [0, one]], [[one, 3 * one], [3 * one, 0 * one]]).tasks
    Fraction(6, 1)
    """
    runs = [
        [k for k, row in enumerate(room) if any(d) and all(row[j] for j, need in enumerate(d) if need)] for d in demands
    ]
    kept = [t for t, classes in enumerate(runs) if classes]
    found = Monopoly(Fraction(0), [{} for _ in parts], [{} for _ in room], [Fraction(0) for _ in parts])
    if not kept:
        return found
    cells = sorted({(k, j) for t in kept for k in runs[t] for j, need in enumerate(demands[t]) if need})
    row_of = {cell: r for r, cell in enumerate(cells)}
    pairs = [(t, k) for t in kept for k in runs[t]]
    of_type = {t: len(cells) + r for r, t in enumerate(kept)}
    columns = [
        {row_of[k, j]: Fraction(need) for j, need in enumerate(demands[t]) if need} | {of_type[t]: Fraction(-1)}
        for t, k in pairs
    ]
    columns.append({of_type[t]: parts[t] for t in kept})
    b = [Fraction(room[k][j]) for k, j in cells] + [Fraction(0) for _ in kept]
    program = ExactProgram(columns, b, [Fraction(0)] * len(pairs) + [Fraction(1)])
    optimum = maximise(program, _guess(program, len(cells)), "what a user could run alone")
    for (t, k), y in zip(pairs, optimum.x, strict=False):
        if y:
            found.placed[t][k] = y
    for (k, j), price in zip(cells, optimum.prices, strict=False):
        if price:
            found.prices[k][j] = price
    for t in kept:
        found.costs[t] = optimum.prices[of_type[t]]
    used = [Fraction(0)] * len(b)
    for column, y in zip(columns, optimum.x, strict=True):
        for r, a in column.items() if y else ():
            used[r] += a * y
    above = sum(map(bool, optimum.x)) + sum(u < most for u, most in zip(used[: len(cells)], b, strict=False))
    return Monopoly(optimum.x[-1], found.placed, found.prices, found.costs, above == len(b))


def monopolies(instance: Any) -> tuple[Monopoly | None, ...]:
    """Return of every user of a cluster of machines what it could run alone; None of those whose tasks are alike."""
    counted = instance.counted.tolist()
    pairs = zip(instance.counts.tolist(), instance.exact_machine_capacity, strict=True)
    room = [[int(count) * c for c in row] for count, row in pairs]
    known: dict[tuple, Monopoly] = {}

    def of(kinds: Sequence[Any]) -> Monopoly:
        key = tuple((kind.count, kind.demand) for kind in kinds)
        if key not in known:
            total = sum(count for count, _ in key)
            needs = [[d if there else Fraction(0) for d, there in zip(row, counted, strict=True)] for _, row in key]
            known[key] = monopoly([Fraction(count, total) for count, _ in key], needs, room)
        return known[key]

    return tuple(None if kinds is None else of(kinds) for kinds in instance.task_types or (None,) * instance.n)


def pooled_tasks(instance: Any) -> list[Sequence[Fraction]] | None:
    """Return what the average task that users could run alone in a pool needs, n rows of m, on which h above depends.

    None where it is the average of all their tasks: where there is something of every resource.
    """
    cells = enumerate(zip(instance.exact_capacity, instance.counted.tolist(), strict=True))
    none = [j for j, (c, there) in cells if there and not c]
    if instance.task_types is None or not none:
        return None
    rows: list[Sequence[Fraction]] = list(instance.exact_demands)
    for i, kinds in enumerate(instance.task_types):
        if kinds is not None:
            kept = [kind for kind in kinds if not any(kind.demand[j] for j in none)]
            total = sum(kind.count for kind in kinds)
            needs = zip(*([Fraction(kind.count, total) * d for d in kind.demand] for kind in kept), strict=True)
            rows[i] = [sum(column, Fraction(0)) for column in needs] if kept else [Fraction(0)] * instance.m
    return rows


def monopolies_written(instance: Any, policy: str, text: Callable[[Any], Any]) -> dict[str, Any]:
    """Return what a document under a policy says of who has several types, as ``alone``, with what proves it."""
    if policy != "tsf" or instance.type_table is None:
        return {}

    def row(names: Sequence[str], amounts: dict[int, Any]) -> dict[str, Any]:
        return {names[at]: text(amount) for at, amount in amounts.items()}

    classes = instance.machine_names
    alone = {
        user: {
            "placement": [row(classes, placed) for placed in mine.placed],
            "prices": {
                name: row(instance.resources, prices)
                for name, prices in zip(classes, mine.prices, strict=True)
                if prices
            },
        }
        for user, mine in zip(instance.users, instance.alone, strict=True)
        if mine is not None
    }
    return {"alone": alone}


def _guess(program: ExactProgram, capacities: int) -> list[int]:
    """Return a basis to begin with: what floats have above 0, in units near 1; the slacks of the other rows."""
    from scipy.optimize import linprog

    rows, width = len(program.b), len(program.columns)
    slacks = list(range(width, width + rows))
    most = [min(program.b[r] / a for r, a in column.items() if a > 0) for column in program.columns[:-1]]
    # Each type by itself runs so many, and all of them together no more than the fewest.
    reach = [Fraction(0)] * rows
    for column, size in zip(program.columns, most, strict=False):
        reach[max(column)] += size
    last = program.columns[-1]
    unit = min(reach[r] / part for r, part in last.items())
    matrix: Any = np.zeros((rows, width))
    for at, (column, size) in enumerate(zip(program.columns, [*most, unit], strict=True)):
        for r, a in column.items():
            matrix[r, at] = float(a * size / (program.b[r] if r < capacities else last[r] * unit))
    right = np.concatenate([np.ones(capacities), np.zeros(rows - capacities)])
    found = linprog(-np.eye(width)[-1], matrix, right, method="highs-ds")
    if found.x is None:
        return slacks
    basic = np.flatnonzero(found.x > NOTHING).tolist()
    loose = (width + np.argsort(-found.slack, kind="stable")).tolist()
    return [*basic, *loose][:rows]
