"""The largest sum of levels (utilitarian, throughput) as one linear program over HiGHS, for pools and machines.

The largest sum of levels in rational numbers: HiGHS finds the basis in floats, exact arithmetic decides it.

maximise    sum_i v_i sum_k z_ik                                          (v_i: what one task is worth)
subject to  sum_i d_ij z_ik  <=  c_kj    resource j of class k
            sum_k z_ik       <=  u_i     user i has a limit

Of tiers the sum of the first is made largest, and then, while those before it do not fall, that of each.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import highspy
import numpy as np
from scipy import sparse

from ..base.errors import SolverError, TimeLimitError
from ..base.numbers.rationals import integer_columns
from ..base.solvers.exact_lp import ExactProgram, maximise
from ..base.tolerances import SPARE, TINY
from ..certificates.stops import exact_room
from ..model.evidence import BoundsEvidence, Evidence, PriceEvidence, TierEvidence
from .linear_programs import INFINITY, Rows, Solution, basis_to_mend, capacity_rows, load, run, user_rows
from .problem import Answer, Problem, exact_types, in_floats
from .promised import Promised, kept

__all__ = [
    "NOTHING",
    "Stated",
    "largest",
    "most_exactly",
    "most_of_equals",
    "most_tasks",
    "program",
    "solve",
    "solve_exactly",
]


@dataclass(frozen=True, eq=False)
class Stated:
    """The program in HiGHS: capacity rows, then a row for each user who is limited; columns in steps of `step`."""

    highs: highspy.Highs
    rows: Rows
    limited: np.ndarray
    step: np.ndarray
    largest: float


def program(problem: Problem, rates: np.ndarray, limits: np.ndarray, promised: Promised | None = None) -> Stated:
    """Return the program, not solved yet: a task of user i is worth ``rates[i]``, and she has at most ``limits[i]``.

    Types of one user, where `problem` is by type, are held in their proportions by rows of their own.  With what is
    `promised` her limit's row has a floor, and ceilings of groups have rows after all others.
    """
    user, _ = problem.pairs
    if promised is not None:
        # Who is stopped while guarantees are kept has that and no more.
        most = np.where(promised.stopped, promised.floors, np.inf)[problem.user] * problem.part
        limits = np.minimum(limits, most)
    rows, adding = capacity_rows(problem), user_rows(problem)
    # One unit of a column is what the pair could place alone, or its user's limit: then columns and rows are near 1.
    alone = 1 / rows.matrix.max(axis=0).toarray().ravel()
    step = np.where(limits[user] > 0, np.minimum(alone, limits[user]), alone)
    worth = rates[user] * step
    largest = float(worth.max())
    if not 0 < largest < np.inf:
        raise SolverError("what the users' tasks are worth is beyond the range of floats: ask for an exact answer")
    limited = np.flatnonzero(np.isfinite(limits) & (limits > 0))
    limit_rows = sparse.diags(1 / limits[limited]) @ adding[limited]
    mixed = _mixed(problem, adding)
    some, bounds = _promised(problem, promised, adding)
    matrix = sparse.vstack([rows.matrix, limit_rows, mixed, *bounds]) @ sparse.diags(step)
    free, floors = rows.matrix.shape[0] + len(limited), len(some) + (0 if promised is None else len(promised.sums))
    ceilings = matrix.shape[0] - free - mixed.shape[0] - floors
    least, none = np.full(free, -INFINITY), np.zeros(mixed.shape[0])
    highs = load(
        -worth / largest,
        np.where(limits[user] > 0, INFINITY, 0.0),
        matrix,
        np.concatenate([least, none, np.full(floors, 1 - SPARE), np.full(ceilings, -INFINITY)]),
        np.concatenate([np.ones(free), none, np.full(floors, INFINITY), np.ones(ceilings)]),
    )
    return Stated(highs, rows, limited, step, largest)


def _mixed(problem: Problem, adding: sparse.csr_matrix) -> sparse.csr_matrix:
    """Return the rows that are 0 where a user has as many tasks of each type as their parts say."""
    later = np.flatnonzero(np.diff(problem.user, prepend=-1) == 0)
    shares = sparse.diags(problem.part.min() / problem.part) @ adding
    return shares[later] - shares[later - 1]


def _promised(problem: Problem, promised: Promised | None, adding: sparse.csr_matrix) -> tuple[np.ndarray, list]:
    """Return who has a floor (rows of the problem), and rows that are 1 at it, at sums held, and at ceilings."""
    if promised is None:
        return np.zeros(0, dtype=np.intp), []
    floors = promised.floors[problem.user] * problem.part
    some = np.flatnonzero(floors > 0)
    # Each of the others is met by the tasks of a user, whatever her types: by the first of them.
    first = np.where(np.diff(problem.user, prepend=-1) > 0, 1 / problem.part, 0.0)
    held = np.array([rates / value for rates, value in promised.sums]).reshape(-1, len(promised.rates))
    each = [sparse.csr_matrix(table[:, problem.user] * first) @ adding for table in (held, promised.ceilings)]
    return some, [sparse.diags(1 / floors[some]) @ adding[some], *each]


def solve(problem: Problem) -> Answer:
    """Return an allocation of the largest sum, tier by tier, and the prices that prove it."""
    if "organisation" not in problem.instance.features:
        return _largest(problem, problem.rates, None)[0]
    promised = kept(problem)
    try:
        answer = _in_turn(problem, promised, partial(_largest, problem))
        _complete(problem, promised, answer.tasks)
    except Unresolved:
        return replace(in_floats(solve_exactly(problem)), engine="bounded-rational-lp after bounded-lp")
    return answer


class Unresolved(SolverError):
    """What is a rounding of a sum is much to some user: a program of so few users is solved in fractions."""


def _complete(problem: Problem, promised: Promised, tasks: np.ndarray) -> None:
    """Refuse tasks of a pool of which somebody's could grow, beyond rounding, though nobody's of its turn fell.

    Raises
    ------
    Unresolved
    """
    if problem.k > 1 or problem.instance.type_table is not None or problem.n > FEW:
        return
    turns = promised.turns if len(promised.turns) else np.zeros(problem.n)
    for turn in set(turns.tolist()):
        # Whoever comes later has what it is promised, at least.
        _grown(problem, promised, np.where(turns > turn, np.minimum(tasks, promised.floors), tasks), turns <= turn)


def _grown(problem: Problem, promised: Promised, tasks: np.ndarray, asking: np.ndarray) -> None:
    rising = asking & ~promised.stopped & (promised.rates > 0) & (tasks < problem.limits * (1 - OVERLOOKED))
    left = 1 - tasks @ problem.shares
    with np.errstate(divide="ignore", invalid="ignore"):
        growth = np.where(problem.shares > 0, left / problem.shares, np.inf).min(axis=1)
        for bound in np.atleast_2d(promised.ceilings):
            growth = np.where(bound > 0, np.minimum(growth, (1 - bound @ tasks) / bound), growth)
    growth = np.minimum(growth, problem.limits - tasks)
    if (rising & (growth > OVERLOOKED * _alone(problem))).any():
        raise Unresolved("somebody has less than there is room for")


NOTHING = 1e-8
"""Part of what one of a tier could have alone that the spare of sums that are held may leave it: that is nothing."""

FELL = 1e-12
"""Part of the sum of a tier by which sums of floats may be off."""

FEW = 20_000
"""Pairs of users and classes up to which fractions take seconds: beyond, a tier may lose `SPARE` of its sum."""

OVERLOOKED = 1e-6
"""Part of what one could have alone by which tasks may be too few where what they need is left over."""

PRICED = 2.5e-10
"""Part of a sum that what is priced and unused may be worth where prices are those of another program: a quarter of
the gap that is allowed."""

Summed = tuple[Answer, Sequence[Any]]
"""An answer, and what each sum that is held is worth in its own."""


def _in_turn(problem: Problem, promised: Promised, solve: Callable[[np.ndarray, Promised], Summed]) -> Answer:
    """Return what makes the sum of each tier largest while those before it do not fall, with what proves each."""
    rates, turns = promised.rates, promised.turns
    rising = ~promised.stopped & (promised.floors < problem.limits) & (rates > 0)
    there, proofs, held = sorted(set(turns[rising].tolist())), list[TierEvidence](), list[int]()
    if len(there) < 2:
        return solve(rates, promised)[0]
    now, nothing, whole = promised, np.zeros(problem.n, dtype=bool), BoundsEvidence()
    before: Answer | None = None
    for turn in there:
        own = np.where(turns == turn, rates, rates * 0)
        answer, worth = solve(own, now)
        if rates.dtype != object and own @ (answer.tasks - now.floors) <= NOTHING * (own * _alone(problem)).max():
            if len(problem.pairs[0]) <= FEW:
                raise Unresolved("a tier has nothing, or next to nothing")
            nothing |= turns == turn
            # What seemed left was taken from the sums before: everybody has what it had.
            had = answer if before is None else before
            answer = _without(problem, replace(answer, tasks=had.tasks, amounts=had.amounts), nothing, now.floors)
        before = answer
        proof = answer.evidence
        if not isinstance(proof, BoundsEvidence) or answer.prices is None:
            raise SolverError("the sum of a tier came without prices")
        whole = proof
        weights = dict(zip(held, worth, strict=True))
        proofs.append(TierEvidence(turn, answer.prices, proof.bounds, held=weights))
        if value := own @ answer.tasks:
            now, held = replace(now, sums=(*now.sums, (own, value))), [*held, turn]
    if rates.dtype != object and len(problem.pairs[0]) <= FEW:
        _unchanged(now.sums[:-1], answer.tasks)
    answer = _without(problem, answer, nothing, promised.floors)
    proven = replace(whole, tiers=tuple(proofs))
    return replace(answer, evidence=proven, levels=promised.rates * answer.tasks)


def _unchanged(sums: Sequence[tuple[np.ndarray, Any]], tasks: np.ndarray) -> None:
    """Refuse tasks for which a tier before has less than its sum: a rounding of that may be much to others.

    Raises
    ------
    Unresolved
    """
    if any(worth @ tasks < value * (1 - FELL) for worth, value in sums):
        raise Unresolved("a tier has less than its sum")


def _alone(problem: Problem) -> np.ndarray:
    """Return the tasks that everybody could run alone, (n,), if the cluster were a pool."""
    most = 1 / np.maximum(problem.shares, TINY).max(axis=1)
    return np.minimum(most, problem.limits)


def _without(problem: Problem, answer: Answer, users: np.ndarray, floors: np.ndarray) -> Answer:
    """Return an answer in which some users have their floors."""
    if not users.any() or answer.amounts is None:
        return answer
    tasks = np.where(users, np.minimum(floors, answer.tasks), answer.tasks)
    part = np.divide(tasks, answer.tasks, where=answer.tasks > 0, out=np.ones(problem.n))
    amounts = answer.amounts * part[problem.by_type.user][problem.by_type.pairs[0]]
    return replace(answer, tasks=tasks, amounts=amounts)


def _largest(problem: Problem, rates: np.ndarray, promised: Promised | None) -> Summed:
    """Return the largest sum at some rates, and what each sum that is held is worth in it."""
    by_type = problem.by_type
    limits = by_type.limits
    stated = program(by_type, rates[by_type.user], limits, promised)
    (row, _), rows, largest = by_type.pairs, stated.rows, stated.largest
    solution = run(stated.highs, "the largest sum", problem.deadline)
    amounts = np.maximum(solution.columns, 0) * stated.step
    placed = np.bincount(row, weights=amounts, minlength=by_type.n)
    tasks = np.full(problem.n, np.inf)
    np.minimum.at(tasks, by_type.user, placed / by_type.part)
    tasks = np.minimum(tasks, problem.limits)
    if promised is not None:
        tasks = np.where(promised.stopped, promised.floors, np.maximum(tasks, promised.floors))
    wanted = tasks[by_type.user] * by_type.part
    amounts = amounts * np.divide(wanted, placed, where=placed > 0, out=np.zeros(by_type.n))[row]
    if promised is not None and (free := _priced_freely(problem, rates, promised, tasks, amounts)) is not None:
        solution, largest = free
    budget = np.maximum(-solution.duals[: len(rows.machine)], 0) * largest
    total = problem.instance.room
    prices = np.divide(rows.spread(budget, problem.k, problem.m), total, where=total > 0, out=np.zeros_like(total))
    if promised is None:
        return Answer(tasks, amounts=amounts, prices=prices, evidence=Evidence()), ()
    last = len(solution.duals) - len(promised.ceilings)
    bounds = np.maximum(-solution.duals[last:], 0) * largest
    held = np.maximum(solution.duals[last - len(promised.sums) : last], 0) * largest
    evidence = BoundsEvidence(bounds=bounds, breakpoints=promised.breakpoints, full=promised.full)
    answer = Answer(tasks, amounts=amounts, prices=prices, evidence=evidence, levels=promised.rates * tasks)
    return answer, [worth / value for worth, (_, value) in zip(held, promised.sums, strict=True)]


def _priced_freely(
    problem: Problem, rates: np.ndarray, promised: Promised, tasks: np.ndarray, amounts: np.ndarray
) -> tuple[Solution, float] | None:
    """Return the program's solution without the limits of those whom floors stop, and the unit of its objective.

    They are there since floors may fall by a rounding, and take its price from what floors use up.  None where nobody
    is stopped so, or where the prices are not those of these tasks (n,), placed as `amounts` (pairs,).
    """
    freed = _freed(problem, promised)
    if promised.sums or not (rates[promised.stopped & ~freed.stopped] > 0).any():
        return None
    by_type = problem.by_type
    stated = program(by_type, rates[by_type.user], by_type.limits, freed)
    try:
        found = run(stated.highs, "prices of the largest sum", problem.deadline)
    except TimeLimitError:
        raise
    except SolverError:
        return None
    budget = np.maximum(-found.duals, 0.0) * stated.largest
    left = 1 - stated.rows.matrix @ amounts
    missed = np.abs(budget[: len(left)] * left).sum()
    if len(promised.ceilings):
        missed += np.abs(budget[-len(promised.ceilings) :] * (1 - promised.ceilings @ tasks)).sum()
    return (found, stated.largest) if missed <= PRICED * float(rates @ tasks) else None


def _freed(problem: Problem, promised: Promised) -> Promised:
    """Return the rules where nobody is stopped but by what there is."""
    playing = np.ones(problem.n, dtype=bool) if promised.clock is None else promised.clock.playing[problem.members]
    return replace(promised, stopped=promised.stopped & ~playing)


def most_tasks(problem: Problem, worth: np.ndarray, promised: Promised) -> np.ndarray:
    """Return tasks of a largest worth (n,), floors and ceilings being those that are `promised`."""
    by_type = problem.by_type
    stated = program(by_type, worth[by_type.user], by_type.limits, promised)
    found = run(stated.highs, "the most that is possible", problem.deadline)
    placed = np.bincount(by_type.pairs[0], weights=np.maximum(found.columns, 0) * stated.step, minlength=by_type.n)
    tasks = np.full(problem.n, np.inf)
    np.minimum.at(tasks, by_type.user, placed / by_type.part)
    return tasks


def most_of_equals(problem: Problem, tasks: np.ndarray, i: int) -> tuple[float, float]:
    """Return what user i is owed, and the most that it has in divisions whose sums are those of `tasks` (n,)."""
    promised, one = kept(problem), np.zeros(problem.n)
    one[i] = 1.0
    turns = promised.turns if len(promised.turns) else np.zeros(problem.n)
    each = (np.where(turns == turn, promised.rates, 0.0) for turn in sorted(set(turns.tolist())))
    sums = [(rates, float(rates @ tasks)) for rates in each]
    held = replace(promised, sums=tuple((rates, value) for rates, value in sums if value > 0))
    most = float(most_tasks(problem, one, held)[i])
    # The spare of what is held is nothing.
    return float(promised.floors[i]), most if most - tasks[i] > NOTHING * _alone(problem)[i] else float(tasks[i])


def most_exactly(problem: Problem, worth: Sequence[Fraction], promised: Promised) -> Fraction:
    """Return the largest worth of tasks, floors and ceilings being those that are `promised`, in fractions."""
    limits = problem.instance.exact_limits
    tasks, *_ = _of_types(problem, worth, [limits[i] for i in problem.members.tolist()], promised)
    return sum((v * x for v, x in zip(worth, tasks, strict=True)), Fraction(0))


def solve_exactly(problem: Problem) -> Answer:
    """Return an allocation of the largest sum as `Fraction`s, and the prices that prove it."""
    limits, members = problem.instance.exact_limits, problem.members.tolist()
    most = [limits[i] for i in members]
    if "organisation" in problem.instance.features:
        return _in_turn(problem, kept(problem, exact=True), partial(_largest_exactly, problem))
    rates = problem.policy.exact_rates(problem.instance)
    worth = [rates[i] for i in members]
    if problem.instance.type_table is not None:
        found, amounts, prices, *_ = _of_types(problem, worth, most)
        return Answer(found, amounts=amounts, prices=prices, evidence=PriceEvidence(prices=prices))
    amounts, prices = largest(problem, worth, most)
    tasks = np.full(problem.n, Fraction(0), dtype=object)
    for i, z in zip(problem.pairs[0].tolist(), amounts, strict=True):
        tasks[i] += z
    return Answer(tasks, amounts=amounts, prices=prices, evidence=PriceEvidence(prices=prices))


def _largest_exactly(problem: Problem, rates: np.ndarray, promised: Promised) -> Summed:
    """Return the largest sum at some rates in fractions, and what each sum that is held is worth in it."""
    limits = problem.instance.exact_limits
    most = [limits[i] for i in problem.members.tolist()]
    found, amounts, prices, bounds, held = _of_types(problem, rates.tolist(), most, _freed(problem, promised))
    proof = BoundsEvidence(prices=prices, bounds=bounds, breakpoints=promised.breakpoints, full=promised.full)
    return Answer(found, amounts=amounts, prices=prices, evidence=proof, levels=promised.rates * found), held


def largest(
    problem: Problem, worth: Sequence[Fraction], limits: Sequence[Fraction | None]
) -> tuple[np.ndarray, np.ndarray]:
    """Return tasks of the pairs (pairs,) of the largest worth, and prices (k, m) of a unit that prove it."""
    instance, members = problem.instance, problem.members.tolist()
    most = np.array([np.inf if u is None else float(u) for u in limits])
    # Only the basis is read from floats, and in what unit worth is counted does not matter to it.
    unit = max(worth, default=Fraction(1)) or Fraction(1)
    asked = program(problem, np.array([float(v / unit) for v in worth]), most)
    basis = basis_to_mend(asked.highs, "the largest sum", problem.deadline)
    demands, scales = integer_columns([instance.exact_demands[i] for i in members], problem.m)
    cells = list(zip(asked.rows.machine.tolist(), asked.rows.resource.tolist(), strict=True))
    row_of = {cell: r for r, cell in enumerate(cells)}
    limit_row = {i: len(cells) + r for r, i in enumerate(asked.limited.tolist())}
    users, machines = (part.tolist() for part in problem.pairs)
    columns = []
    for i, k in zip(users, machines, strict=True):
        column = {row_of[k, j]: Fraction(d) for j, d in enumerate(demands[i]) if d}
        columns.append(column | ({limit_row[i]: Fraction(1)} if i in limit_row else {}))
    room = [instance.exact_capacity] if instance.machines is None else instance.exact_machine_capacity
    counts = [1] if instance.machines is None else [machine.count for machine in instance.machines]
    b = [counts[k] * room[k][j] * scales[j] for k, j in cells] + [limits[i] or Fraction(0) for i in limit_row]
    stated = ExactProgram(columns, b, [worth[i] for i in users])
    optimum = maximise(stated, basis, "the exact sum", problem.deadline)
    prices = np.full((problem.k, problem.m), Fraction(0), dtype=object)
    for (k, j), price in zip(cells, optimum.prices, strict=False):
        prices[k, j] = price * scales[j]
    return np.array(optimum.x, dtype=object), prices


def _near_one(stated: ExactProgram) -> highspy.Highs:
    """Return a program in floats whose bases are those of `stated`: its rows and columns in units that are near 1.

    HiGHS takes no coefficient beyond 1e15, and exact ones are integers of as many digits as demands have.  A row is
    counted in its bound, or in what columns give to it at most, and a column in the most that its rows let it be.
    """
    room = [abs(value) for value in stated.b]

    def most(column: dict[int, Fraction]) -> Fraction:
        bounds = [room[r] / a for r, a in column.items() if a > 0 and room[r]]
        return min(bounds, default=Fraction(1))

    unit = [most(column) for column in stated.columns]
    for column, size in zip(stated.columns, unit, strict=True):
        for r, a in column.items():
            room[r] -= min(a, Fraction(0)) * size
    unit = [most(column) for column in stated.columns]
    scale = [1 / size if size else Fraction(1) for size in room]
    entries = [
        (float(a * size * scale[r]), r, at)
        for at, (column, size) in enumerate(zip(stated.columns, unit, strict=True))
        for r, a in column.items()
    ]
    values, rows, columns = zip(*entries, strict=True)
    worth: list[Fraction] = [c * size for c, size in zip(stated.c, unit, strict=True)]
    largest = max(worth, default=Fraction(0)) or Fraction(1)
    return load(
        -np.array([float(c / largest) for c in worth]),
        np.full(len(unit), INFINITY),
        sparse.csr_matrix((values, (rows, columns)), shape=(len(room), len(unit))),
        np.full(len(room), -INFINITY),
        np.array([float(b * size) for b, size in zip(stated.b, scale, strict=True)]),
    )


def _of_types(
    problem: Problem,
    worth: Sequence[Fraction],
    limits: Sequence[Fraction | None],
    promised: Promised | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, list[Fraction]]:
    """Return tasks (n,), amounts (pairs,), prices (k, m), of ceilings (b,) and sums held, with several types or rules.

    maximise    sum_i v_i x_i
    subject to  sum_q d_qj z_qk            <=  c_kj    resource j of class k
                part_q x_i - sum_k z_qk    <=  0       type q of user i
                x_i                        <=  u_i     user i has a limit, or is stopped while guarantees are kept
              - x_i                        <=  -l_i    user i is promised l_i
              - sum_i s_hi x_i             <=  -V_h    the sum of tier h is held
                sum_i b_ci x_i             <=  1       ceiling c of a group
    """
    by_type, instance = problem.by_type, problem.instance
    floors, ceilings = [Fraction(0)] * problem.n, np.zeros((0, problem.n), dtype=object)
    sums: tuple[tuple[np.ndarray, Any], ...] = ()
    if promised is not None:
        floors, ceilings, sums = promised.floors.tolist(), promised.ceilings, promised.sums
        held = zip(promised.stopped.tolist(), floors, limits, strict=True)
        limits = [floor if stopped else limit for stopped, floor, limit in held]
    parts, demands_of = exact_types(problem)
    demands, scales = integer_columns(demands_of, problem.m)
    rows = capacity_rows(by_type)
    cells = list(zip(rows.machine.tolist(), rows.resource.tolist(), strict=True))
    row_of, types = {cell: r for r, cell in enumerate(cells)}, len(cells)
    limited = [i for i, u in enumerate(limits) if u is not None]
    limit_row = {i: types + by_type.n + r for r, i in enumerate(limited)}
    given = [i for i, floor in enumerate(floors) if floor]
    floor_row = {i: types + by_type.n + len(limited) + r for r, i in enumerate(given)}
    first = types + by_type.n + len(limited) + len(given)
    last = first + len(sums)
    columns: list[dict[int, Fraction]] = []
    for q, k in zip(*(part.tolist() for part in by_type.pairs), strict=True):
        uses = {row_of[k, j]: Fraction(d) for j, d in enumerate(demands[q]) if d}
        columns.append(uses | {types + q: Fraction(-1)})
    pairs = len(columns)
    for i in range(problem.n):
        column = {last + c: Fraction(b) for c, b in enumerate(ceilings[:, i].tolist()) if b}
        column |= {first + h: -worth_of[i] for h, (worth_of, _) in enumerate(sums) if worth_of[i]}
        column |= {limit_row[i]: Fraction(1)} if i in limit_row else {}
        columns.append(column | ({floor_row[i]: Fraction(-1)} if i in floor_row else {}))
    for q, (i, part) in enumerate(zip(by_type.user.tolist(), parts, strict=True)):
        columns[pairs + i][types + q] = part
    room = exact_room(instance)
    b = [room[k, j] * scales[j] for k, j in cells] + [Fraction(0)] * by_type.n
    b += [limits[i] or Fraction(0) for i in limited] + [-floors[i] for i in given]
    b += [-value for _, value in sums] + [Fraction(1)] * len(ceilings)
    stated = ExactProgram(columns, b, [Fraction(0)] * pairs + list(worth))
    basis = basis_to_mend(_near_one(stated), "the largest sum", problem.deadline)
    optimum = maximise(stated, basis, "the exact sum", problem.deadline)
    prices = np.full((problem.k, problem.m), Fraction(0), dtype=object)
    for (k, j), price in zip(cells, optimum.prices, strict=False):
        prices[k, j] = price * scales[j]
    tasks, amounts = list(optimum.x[pairs:]), list(optimum.x[:pairs])
    # What is placed beyond a type's part is left out.
    surplus = [-tasks[i] * part for i, part in zip(by_type.user.tolist(), parts, strict=True)]
    for at, q in enumerate(by_type.pairs[0].tolist()):
        surplus[q] += amounts[at]
    for at, q in enumerate(by_type.pairs[0].tolist()):
        less = min(surplus[q], amounts[at])
        amounts[at] -= less
        surplus[q] -= less
    bounds, worth_held = np.array(optimum.prices[last:], dtype=object), list(optimum.prices[first:last])
    return np.array(tasks, dtype=object), np.array(amounts, dtype=object), prices, bounds, worth_held
