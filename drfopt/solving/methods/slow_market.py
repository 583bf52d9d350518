"""Markets by conic programs, their answer taken as it is: a second method on CEEI and alpha fairness.

Given   d[q, j]   units of resource j that one task of type q of a user needs; who has no types is one of her own
        part[q]   of the user's tasks that are of the type
        C[k, j]   units of resource j on all machines of class k; a pool is one class
        w[i]      income;  l[i], u[i] fewest and most tasks;  b[c, i] part of ceiling c that a task is

Find    v[p] >= 0, tasks of type q on class k, for every pair p = (q, k) on which one fits, in units of the most that
        could run there alone;  x[i] tasks

    maximise    sum_i w[i] log x[i]
    subject to  sum_p of q v[p]             =   part[q] x[i]   for every type q of user i
                sum_p d[q, j] v[p] / C[k, j]  <=  1            for every class and resource j   (capacity)
                sum_i b[c, i] x[i]          <=  1              for every ceiling of a group
                l[i]  <=  x[i]  <=  u[i]

Alpha fairness is the same with other incomes: its optimum y spends  w[i] y[i]^(1 - alpha)  and is the largest product
with these, so the program is solved again with the incomes of its last answer until they stay.  (Its objective is of
second order in what they are off.)

The engines end with Newton's steps, and with them every slip that these could have.  Here nothing is polished:
Clarabel is asked for twelve digits: the objective has ten or more of them, the tasks of a degenerate optimum six.
The floors are those of `drfopt.engines.promised`, which is what is asked.

The largest sum of levels, `sum_tasks`, is asked of scipy's interior point method, on rows built here.
"""

import math
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from ...base.errors import SolverError, TimeLimitError
from ...base.tolerances import CONIC, GAP, ROUNDING
from ...engines.nash import bounded
from ...engines.problem import Problem
from ...engines.promised import Promised, kept, tiers
from ...engines.sums import NOTHING
from ...model.instance import Instance

__all__ = ["sum_tasks", "tasks"]

ALMOST = 1e-10
"""What Clarabel may stop at where rounding lets it go no further; short of that it has no answer."""

APART = 1e-6
"""Part of their first error that incomes are left with."""


def tasks(problem: Problem, seconds: float = float("inf")) -> np.ndarray:
    """Return divisible tasks (n,) of the largest sum of utilities; 0 for who is unplaced or has a limit of 0.

    Of tiers each is asked beside what the engine holds of those before it.
    """
    promised, result = kept(problem), np.zeros(problem.instance.n)
    result[problem.members] = promised.floors
    for tier in tiers(problem, promised, partial(bounded.of_tier, problem)):
        found = _of_tier(problem, tier.promised, seconds)
        mine = problem.members[~tier.promised.stopped]
        result[mine] = found[mine]
    return result


def _of_tier(problem: Problem, promised: Promised, seconds: float) -> np.ndarray:
    import cvxpy as cp

    instance = problem.instance
    result = np.zeros(instance.n)
    there = ~promised.stopped | (promised.floors > 0)
    playing = problem.members[there]
    if not playing.size:
        return result
    low, high = promised.floors[there], problem.limits[there]
    fixed = promised.stopped[there] | (low >= high)
    rooms = [instance.capacity] if instance.machines is None else [m.count * m.capacity for m in instance.machines]
    kinds = _kinds(instance, playing)
    pairs = [(q, k) for q, (_, _, _, fits) in enumerate(kinds) for k in range(len(rooms)) if fits[k]]
    alone = np.array([_alone(kinds[q][2], rooms[k]) for q, k in pairs])
    type_of = np.array([q for q, _ in pairs])
    shape = (len(kinds), len(pairs))
    share = np.array([part for _, part, _, _ in kinds])
    total = np.bincount(type_of, weights=alone) / share
    owner = np.array([p for p, _, _, _ in kinds])
    most = np.full(len(playing), np.inf)
    np.minimum.at(most, owner, total)
    v: Any = cp.Variable(len(pairs), nonneg=True)
    x: Any = cp.Variable(len(playing), nonneg=True)
    # The tasks of each type, as a part of all that could be its user's own.
    held = sparse.csr_array((alone / (share * most[owner])[type_of], (type_of, np.arange(len(pairs)))), shape=shape)
    rows: list[Any] = [held @ v == x[owner]]
    for k, room in enumerate(rooms):
        here = [p for p, (_, on) in enumerate(pairs) if on == k]
        if not here:
            continue
        used = np.array([kinds[pairs[p][0]][2] * alone[p] for p in here])
        rows += [(used[:, j] / room[j]) @ v[here] <= 1 for j in np.flatnonzero(used.any(axis=0))]
    rows += [(ceiling[there] * most) @ x <= 1 for ceiling in promised.ceilings if ceiling[there].any()]
    for sign, bound in ((1, np.minimum(high / most, 1e300)), (-1, -low / most)):
        bounded = np.flatnonzero(np.isfinite(high) if sign > 0 else low > 0)
        bounded = bounded[~fixed[bounded]]
        if bounded.size:
            rows.append(sign * x[bounded] <= bound[bounded])
    if fixed.any():
        rows.append(x[np.flatnonzero(fixed)] == (np.minimum(low, high) / most)[fixed])
    alpha, free = problem.policy.alpha, np.flatnonzero(~fixed)
    rates, incomes = promised.rates[there][free] * most[free], promised.incomes[there][free]
    weights = cp.Parameter(len(free), nonneg=True)
    model = cp.Problem(cp.Maximize(weights @ cp.log(x[free]) if free.size else 0), rows)
    asked = {f"tol_{what}": CONIC for what in ("gap_abs", "gap_rel", "feas")}
    asked |= {f"reduced_tol_{what}": ALMOST for what in ("gap_abs", "gap_rel", "feas")}
    if seconds < float("inf"):
        asked["time_limit"] = max(seconds, 0.1)
    size = np.log(incomes)
    # A fixed point of log incomes: it is approached by (alpha - 1) / (alpha + 1) a step, or 1 - alpha below 1.
    step, nearer = (2 / (1 + alpha), (alpha - 1) / (alpha + 1)) if alpha > 1 else (1.0, 1 - alpha)
    for _ in range(1 + (math.ceil(math.log(APART) / math.log(nearer)) if nearer else 0)):
        weights.value = np.exp(size - size.max(initial=0.0)) / np.exp(size - size.max(initial=0.0)).sum()
        _run(cp, model, asked)
        size = (1 - step) * size + step * (np.log(incomes) + (1 - alpha) * np.log(rates * x.value[free]))
    result[playing] = most * np.maximum(np.asarray(x.value), 0)
    return result


def _run(cp: Any, model: Any, asked: dict[str, float]) -> None:
    try:
        with warnings.catch_warnings():
            # "May be inaccurate" is short of twelve digits; the comparison says by how much.
            warnings.simplefilter("ignore")
            model.solve(solver=cp.CLARABEL, **asked)
    except cp.SolverError:
        raise SolverError("Clarabel reaches fewer than the ten digits that a comparison needs") from None
    if model.status == cp.USER_LIMIT:
        raise TimeLimitError("the time limit, or that of its steps, ran out in Clarabel")
    if model.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
        raise SolverError(f"Clarabel ended with status {model.status!r}")


def _kinds(instance: Any, playing: np.ndarray) -> list[tuple[int, float, np.ndarray, np.ndarray]]:
    """Return number among those who play, part, demand (m,) and classes (k,) of every type."""
    number = {int(i): p for p, i in enumerate(playing)}
    return [(number[i], part, d, fits) for i, part, d, fits in _all_kinds(instance) if i in number]


def _alone(demand: np.ndarray, room: np.ndarray) -> float:
    needed = demand > 0
    return float((room[needed] / demand[needed]).min())


ROUNDED = float(np.finfo(float).eps)
"""Part of its bound that a row may be off by, being of floats."""


def sum_tasks(problem: Problem) -> np.ndarray:
    """Return divisible tasks (n,) of the largest sum of levels, tier by tier; floors are those of `promised`.

    A column is one user, or one of her task types, on one class, in units of the most tasks she could have there.
    Floors and sums of earlier tiers are held whole: what they could spare may be much to a later tier.  Where they are
    at odds by a rounding, that is less than what the solver takes for feasible.

    Raises
    ------
    SolverError
        Where the program has no answer, or what a rounding is worth to a later tier is more than may be off.
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
    for q, (i, share, demand, fits) in enumerate(_all_kinds(instance)):
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
    most_of[len(most_of) - len(ceilings) - len(floored) : len(most_of) - len(ceilings)] = -1
    # Types of one user in proportion: each against the first of hers.
    first = dict(zip(user[::-1].tolist(), kind[::-1].tolist(), strict=True))
    mixed = [
        ((kind == q) * most / part - (kind == first[i]) * most / part)[None, :]
        for i, q in sorted(set(zip(user.tolist(), kind.tolist(), strict=True)))
        if q != first[i]
    ]
    turn, placed, sums = np.zeros(instance.n, dtype=np.intp), np.zeros(len(most)), list[tuple[float, float]]()
    turn[members] = promised.turns if len(promised.turns) else 0
    for now in np.unique(turn[user]).tolist():
        own = np.where(turn[user] == now, np.array(worth), 0.0)
        if not own.any():
            continue
        found = linprog(
            -own / own.max(),
            A_ub=sparse.vstack(rows, format="csr"),
            b_ub=most_of,
            A_eq=np.vstack(mixed) if mixed else None,
            b_eq=np.zeros(len(mixed)) if mixed else None,
            method="highs-ipm",
        )
        if found.status != 0:
            raise SolverError(f"linprog ended without an optimum: {found.message}")
        placed = np.maximum(found.x, 0)
        value, prices = float(own @ placed), np.abs(found.ineqlin.marginals) * own.max()
        sums.append((value, ROUNDED * float(prices.sum())))
        if value > ROUNDING * own.max():  # It does not fall for what comes later.
            rows.append(sparse.csr_array(-own[None, :] / value))
            most_of = np.append(most_of, -1)
    # Sums up to `NOTHING` are compared as none; half of it leaves no doubt which these are.
    if any(off > GAP * value and 2 * value > NOTHING * float(worth @ placed) for value, off in sums):
        raise SolverError("what a rounding leaves a later tier is too much of its sum: floats cannot decide")
    np.add.at(result, user, placed * most)
    return result


def _all_kinds(instance: Instance) -> Iterator[tuple[int, float, np.ndarray, np.ndarray]]:
    """Yield user, part of her tasks, demand (m,) and classes (k,) of every type; who has none is one of her own."""
    if (types := instance.type_table) is not None:
        yield from zip(types.owner.tolist(), types.part.tolist(), types.demands, types.fits, strict=True)
        return
    fits = np.ones((instance.n, 1), dtype=bool) if instance.fits is None else instance.fits
    for i in range(instance.n):
        yield i, 1.0, instance.demands[i], fits[i]
