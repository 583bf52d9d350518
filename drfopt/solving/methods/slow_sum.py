"""The largest sum of levels by scipy's interior point method, on rows built here: a second method."""

from collections.abc import Iterator

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ...base.errors import SolverError
from ...engines.problem import Problem
from ...engines.promised import kept
from ...model.instance import Instance

__all__ = ["tasks"]

SPARE = 1e-10
"""Part of a floor that a program may fall short of, so that rounding does not make several of them a contradiction."""


def tasks(problem: Problem) -> np.ndarray:
    """Return divisible tasks (n,) of the largest sum of levels; floors of guarantees are those of `promised`.

    A column is one user, or one of her task types, on one class, in units of the most tasks she could have there.
    """
    instance = problem.instance
    playing = ~instance.unplaced() & (instance.limits > 0)
    promised, members = kept(problem), problem.members
    low, high, ceilings = np.zeros(instance.n), instance.limits.copy(), np.zeros((len(promised.ceilings), instance.n))
    low[members], ceilings[:, members] = promised.floors, promised.ceilings
    high[members] = np.where(promised.stopped, promised.floors, high[members])
    playing &= high > 0
    result = np.zeros(instance.n)
    if not playing.any():
        return result
    kinds, columns, worth = [], [], []
    rates = np.zeros(instance.n)
    rates[members] = promised.rates
    classes = [instance.capacity] if instance.machines is None else [m.count * m.capacity for m in instance.machines]
    for q, (i, share, demand, fits) in enumerate(_kinds(instance)):
        for k, room in enumerate(classes):
            if not playing[i] or not fits[k]:
                continue
            needed = demand > 0
            alone = min(float((room[needed] / demand[needed]).min()), float(high[i]))
            used = np.zeros((len(classes), instance.m))
            used[k, needed] = demand[needed] * alone / room[needed]
            kinds.append((i, q, alone, share))
            columns.append(sparse.csc_array(used.reshape(-1, 1)))
            worth.append(rates[i] * alone)
    user, kind, most, part = map(np.array, zip(*kinds, strict=True))
    limited = [i for i in np.flatnonzero(playing) if np.isfinite(high[i])]
    rows = [sparse.hstack(columns)]
    rows += [sparse.csr_array(((user == i) * most / high[i])[None, :]) for i in limited]
    floored = [i for i in np.flatnonzero(playing) if low[i] > 0]
    rows += [sparse.csr_array(-((user == i) * most / low[i])[None, :]) for i in floored]
    rows += [sparse.csr_array((ceiling[user] * most)[None, :]) for ceiling in ceilings]
    most_of = np.ones(sum(row.shape[0] for row in rows))
    most_of[len(most_of) - len(ceilings) - len(floored) : len(most_of) - len(ceilings)] = -(1 - SPARE)
    matrix = sparse.vstack(rows, format="csr")
    # Types of one user in proportion: each against the first of hers.
    first = dict(zip(user[::-1].tolist(), kind[::-1].tolist(), strict=True))
    mixed = [
        ((kind == q) * most / part - (kind == first[i]) * most / part)[None, :]
        for i, q in sorted(set(zip(user.tolist(), kind.tolist(), strict=True)))
        if q != first[i]
    ]
    worth_array = np.array(worth)
    found = linprog(
        -worth_array / worth_array.max(),
        A_ub=matrix,
        b_ub=most_of,
        A_eq=np.vstack(mixed) if mixed else None,
        b_eq=np.zeros(len(mixed)) if mixed else None,
        method="highs-ipm",
    )
    if found.status != 0:
        raise SolverError(f"linprog ended without an optimum: {found.message}")
    np.add.at(result, user, found.x * most)
    return result


def _kinds(instance: Instance) -> Iterator[tuple[int, float, np.ndarray, np.ndarray]]:
    """Yield user, part of her tasks, demand (m,) and classes (k,) of every type; who has none is one of her own."""
    if (types := instance.type_table) is not None:
        yield from zip(types.owner.tolist(), types.part.tolist(), types.demands, types.fits, strict=True)
        return
    fits = np.ones((instance.n, 1), dtype=bool) if instance.fits is None else instance.fits
    for i in range(instance.n):
        yield i, 1.0, instance.demands[i], fits[i]
