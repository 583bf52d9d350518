"""A user's formulation file as an engine: its program solved once, or round by round until everybody is held.

A notion with levels is leximin, a round at a time: the lowest level is maximised, then each user at it is asked, by
holding everybody else there, whether she alone could rise; who cannot is held.  A round may say itself who is finished,
each with a level of its own: groups and tiers are raised so.  With whole tasks who stops is a choice,
so the smallest sets that let all others rise are tried, and the best outcome is kept.

When time runs out the answer is the best that a program gave until then, if any did: feasible, and nothing more.
"""

import itertools
from dataclasses import replace

import numpy as np

from ...base.errors import FormulationError, SolverError, TimeLimitError
from ...base.numbers.shown import changing
from ...base.progress import report
from ...base.tolerances import SAME
from ...model.policies import policy_named
from ...model.whole_values import WholeUsers
from ..linear_programs import INFINITY, capacity_rows, load, run, user_rows
from ..problem import Answer, Problem
from ..whole.integer_program import Model
from ..whole.milp import placed, supply
from .user_file import UserFile

__all__ = ["as_stated", "solve"]

WHOLE = 1e-5
"""Distance from a whole number at which a solver's number of tasks is one."""

FITS = 1e-6
"""Relative overuse that is a solver's tolerance; it is scaled away."""

SHOWN = 20
"""Numbers of tasks told where only they are known."""

SOLVES = 5000
"""Programs solved for one allocation of whole tasks before the choice of who stops is called too large."""


def as_stated(problem: Problem) -> Problem:
    """Return the problem in whole tasks where the file's tasks are integer variables, asked for or not."""
    if problem.integer or not problem.n or not UserFile(problem).whole:
        return problem
    return replace(problem, integer=True)


def solve(problem: Problem) -> Answer:
    """Return what the file's notion gives, its feasibility made sure of."""
    file = UserFile(problem)
    status, reason = "solved", ""
    try:
        tasks, levels = _leximin(file, problem) if file.has_levels else file.once()
    except TimeLimitError as error:
        if file.best is None:
            raise
        (tasks, levels), status = file.best, "time_limit"
        reason = f"{error}: these are the best tasks that it gave in {file.solves} programs"
    _not_negative(file, problem, tasks)
    if problem.integer:
        whole = np.round(tasks)
        if np.abs(whole - tasks).max(initial=0) > WHOLE:
            raise FormulationError(
                f"{file.path}: its tasks are not whole numbers: declare them integer, or drop integer=True (--integer)"
            )
        answer = _pack(problem, [int(x) for x in whole], file.path)
    else:
        answer = _place(problem, np.maximum(tasks, 0), file.path)
    return replace(answer, status=status, levels=levels, reason=reason)


# ---- leximin, a round at a time -----------------------------------------------------------------------------------


def _leximin(file: UserFile, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Return tasks and levels when all are held."""
    held = np.full(problem.n, np.nan)
    if problem.integer and not file.says:
        found = _best_choice(file, held)
        return found[0], found[1]
    tasks = levels = held
    while np.isnan(held).any():
        tasks, levels = _must(file, file.round(held))
        rising = np.isnan(held)
        if file.finished is not None:  # it says so itself
            stopped = rising & file.finished
            if not stopped.any():
                raise FormulationError(f"{file.path}: a round calls nobody finished: one user at least must be")
            held[stopped] = levels[stopped]
            report(f"{int((~np.isnan(held)).sum())} of {problem.n} users held")
            continue
        level = float(levels[rising].min())
        report(f"level {level:.6g}: {int((~rising).sum())} of {problem.n} users held")
        candidates = np.flatnonzero(rising & (levels <= level + SAME * abs(level)))
        rise = np.array([_rise(file, held, int(i), level) for i in candidates])
        # Somebody is stuck in every round; if tolerances hide who, it is whoever can rise least: what others lose in
        # a tolerance may be much to a user who takes next to nothing, and she is told in a later round.
        held[candidates[rise <= max(10 * SAME, 2 * float(rise.min()))]] = level
    # Of whole tasks what was settled may be a number of anybody's, until the last program says whose.
    return _must(file, file.round(held)) if problem.integer else (tasks, held)


def _rise(file: UserFile, held: np.ndarray, user: int, level: float) -> float:
    """Return by how much one user alone can exceed the level, relative to it, everybody else kept at hers."""
    others = np.where(np.isnan(held), level, held)
    others -= SAME / 10 * np.abs(others)
    others[user] = np.nan
    found = file.round(others)
    # A level may be below 0, such as the logarithm of a share.
    return 0.0 if found is None else (float(found[1][user]) - level) / max(abs(level), float(np.finfo(float).tiny))


def _best_choice(file: UserFile, held: np.ndarray) -> tuple[np.ndarray, np.ndarray, tuple]:
    """Return tasks, levels and sorted levels of the best way to go on with whole tasks."""
    tasks, levels = _must(file, file.round(held))
    rising = np.flatnonzero(np.isnan(held))
    if not rising.size:
        return tasks, levels, tuple(np.sort(levels))
    level = float(levels[rising].min())
    for size in range(1, len(rising) + 1):
        outcomes = []
        for stopped in itertools.combinations(rising, size):
            if file.solves > SOLVES:
                raise SolverError(f"{file.path}: too many users tie to choose who stops ({SOLVES} programs solved)")
            trial = held.copy()
            trial[list(stopped)] = level
            found = file.round(trial)
            if found is None:
                continue
            others = np.isnan(trial)
            if not others.any() or float(found[1][others].min()) > level + SAME * max(abs(level), SAME):
                outcomes.append(_best_choice(file, trial))
        if outcomes:
            return max(outcomes, key=lambda outcome: tuple(np.round(outcome[2], 9)))
    raise SolverError(f"{file.path}: no set of users at level {level:.6g} lets the others rise")


def _must(file: UserFile, found: tuple[np.ndarray, np.ndarray] | None) -> tuple[np.ndarray, np.ndarray]:
    if found is None:
        raise FormulationError(
            f"{file.path}: a round is infeasible: guarantees must fit together, held levels be kept with >=, "
            "and nothing else be asked"
        )
    return found


# ---- making sure that the tasks fit ------------------------------------------------------------------------------


def _not_negative(file: UserFile, problem: Problem, tasks: np.ndarray) -> None:
    """Refuse tasks below 0 by more than a solver's tolerance, which is measured in shares of the cluster."""
    instance = problem.instance
    shares = np.divide(
        instance.demands[problem.members],
        instance.capacity,
        where=instance.capacity > 0,
        out=np.zeros((problem.n, instance.m)),
    ).max(axis=1, initial=0)
    if (tasks * shares < -FITS).any():
        i = int(np.argmin(tasks * shares))
        name = instance.users[problem.members[i]]
        raise FormulationError(f"{file.path}: user {name!r} has {tasks[i]:.6g} tasks: declare them nonnegative")


def _place(problem: Problem, tasks: np.ndarray, path: str) -> Answer:
    """Return the tasks placed with the least overuse, which must be a solver's tolerance, scaled away."""
    by_type = problem.by_type
    each = tasks[by_type.user] * by_type.part
    if problem.instance.machines is None:
        amounts = each
        over = float((capacity_rows(problem).matrix @ tasks).max(initial=0)) - 1
    else:
        amounts, over = _least_overuse(by_type, each)
    if over > FITS:
        raise FormulationError(f"{path}: its tasks need {over:.1e} more than some capacity: check its capacity rows")
    shrink = 1 / (1 + max(over, 0.0))
    capped = np.minimum(tasks * shrink, problem.limits)
    if (tasks > problem.limits * (1 + FITS)).any():
        i = int(np.argmax(tasks - problem.limits))
        user_name = problem.instance.users[problem.members[i]]
        has, limit = changing(float(tasks[i]), float(problem.limits[i]))
        raise FormulationError(f"{path}: user {user_name!r} has {has} tasks, above its limit {limit}")
    ratio = np.divide(capped, tasks, where=tasks > 0, out=np.zeros_like(tasks))
    return Answer(capped, amounts=amounts * ratio[by_type.user[by_type.pairs[0]]])


def _least_overuse(problem: Problem, tasks: np.ndarray) -> tuple[np.ndarray, float]:
    """Return amounts (pairs,) that add up to the tasks with the smallest largest overuse of a capacity."""
    from scipy import sparse

    user, _ = problem.pairs
    rows, adding = capacity_rows(problem), user_rows(problem)
    scale = np.where(tasks > 0, tasks, 1.0)[user]
    r = rows.matrix.shape[0]
    used = rows.matrix @ sparse.diags(scale)
    matrix = sparse.bmat([[used, sparse.csr_matrix(-np.ones((r, 1)))], [adding, None]], format="csr")
    share = np.where(tasks > 0, 1.0, 0.0)
    low = np.concatenate([np.full(r, -INFINITY), share])
    cost = np.zeros(len(user) + 1)
    cost[-1] = 1
    solution = run(
        load(cost, np.full(len(user) + 1, INFINITY), matrix, low, np.concatenate([np.ones(r), share])),
        "placing tasks",
    )
    amounts = np.maximum(solution.columns[:-1], 0) * scale
    total = np.bincount(user, weights=amounts, minlength=problem.n)
    amounts *= np.divide(tasks, total, where=total > 0, out=np.zeros_like(total))[user]
    return amounts, float((rows.matrix @ amounts).max(initial=0)) - 1


def _pack(problem: Problem, tasks: list[int], path: str) -> Answer:
    if problem.instance.machines is None and problem.instance.task_types is not None:
        # What several types need of a pool is looked at by the certificate.
        return Answer(np.array(tasks, dtype=np.int64))
    model, rows = Model(), problem.by_type
    supplied, users = supply(model, rows), WholeUsers(problem.instance, policy_named("drf"), problem.members.tolist())
    started = users.counts(users.spread(tasks)) if rows is not problem else tasks
    asked = [started[q] for q in rows.members.tolist()] if rows is not problem else tasks
    for positions, terms in zip(supplied.shapes, supplied.tasks, strict=True):
        model.row(sum(asked[p] for p in positions), float("inf"), terms)
    try:
        values = model.solve(problem.deadline)
    except TimeLimitError:
        raise TimeLimitError(
            f"{path}: the time limit ran out in packing its tasks on machines",
            f"its tasks are {', '.join(map(str, tasks[:SHOWN]))}{' ...' if len(tasks) > SHOWN else ''}, in whole",
        ) from None
    if values is None:
        raise FormulationError(f"{path}: its whole tasks do not fit on the machines: check its capacity rows")
    return placed(problem, supplied, values, tasks, users=users)
