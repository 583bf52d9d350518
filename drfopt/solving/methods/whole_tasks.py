"""Whole tasks by methods that are no engines: enumeration, CBC, and both on every machine by itself.

What is compared is what optima have in common: sorted levels, sums, products; tasks are not.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ...base.deadline import Deadline
from ...base.errors import SolverError
from ...certificates import second_solver, whole, whole_servers
from ...certificates.exhaustive_search import worth
from ...engines.problem import Problem
from ...engines.reference import enumeration
from ...engines.sums import NOTHING
from ...model.hierarchy.market import market_rules, sums_in_turn
from ...model.instance import Instance
from ...model.packings import Packing, machine_rows
from ...model.single_machines import ON_EACH, machine_of
from ..scheduling import schedule

__all__ = [
    "ENUMERATED",
    "WHOLE",
    "Found",
    "each_enumerated",
    "enumerated",
    "enumeration_takes",
    "found",
    "from_members",
    "improved",
    "in_groups",
    "is_of",
    "machine_by_machine",
]


Found = tuple[np.ndarray, Any]
"""Levels (n,), and the recomputed objective where optima are not unique, otherwise None."""

ENUMERATED = 5_000
"""Vectors of tasks of a tiny cluster that are enumerated."""

WHOLE = ("leximin", "alpha", "sum")
"""What is done with whole tasks."""

IMPROVEMENTS = 500
"""Times that the second solver may improve on a schedule."""


def found(problem: Problem, levels: np.ndarray, tasks: np.ndarray, packing: Sequence[Packing] | None = None) -> Found:
    """Return levels and, where optima are not unique, what is compared instead of them."""
    levels = _floats(levels)
    if problem.policy.objective == "formulation":
        return levels, None
    if problem.integer and problem.policy.objective == "servers":
        return levels, whole_servers.score(problem.instance, tasks.tolist(), packing)
    if problem.integer:
        return levels, whole.score(problem.instance, problem.policy, [int(x) for x in tasks])
    return levels, _sums(problem, levels) if problem.policy.objective == "sum" else None


def _sums(problem: Problem, levels: np.ndarray) -> float | tuple[float, ...]:
    """Return the sum of levels, or of tiers that of each; what is held to a rounding leaves those after it nothing."""
    least, sums = NOTHING * float(levels.sum()), sums_in_turn(problem.instance, levels)
    return float(sums[0]) if len(sums) == 1 else tuple(value if value > least else 0.0 for value in sums)


def _floats(levels: Sequence[Any] | np.ndarray) -> np.ndarray:
    return np.array([float(level) for level in levels])


def from_members(problem: Problem, tasks: Sequence[int]) -> Found:
    """Return what whole tasks (n,) are worth, and the objective."""
    everybody = np.zeros(problem.instance.n, dtype=np.int64)
    everybody[problem.members] = tasks
    if problem.policy.objective == "leximin":
        users = problem.whole_users
        levels = np.zeros(problem.instance.n)
        levels[problem.members] = [float(users.level(p, int(x))) for p, x in enumerate(tasks)]
        return found(problem, levels, everybody)
    if "organisation" in problem.instance.features and problem.policy.objective != "servers":
        return found(problem, market_rules(problem.instance, problem.policy).rates * everybody, everybody)
    rates = problem.policy.exact_rates(problem.instance)
    levels = np.array([float(rate * Fraction(int(x))) for rate, x in zip(rates, everybody, strict=True)])
    return found(problem, levels, everybody)


def is_of(problem: Problem, objective: str, *, integer: bool) -> bool:
    """Say whether this is done with these tasks."""
    return problem.policy.objective == objective and problem.integer == integer


def in_groups(problem: Problem) -> bool:
    """Say whether whole tasks are of several groups, which no value of them describes."""
    several = problem.integer and problem.policy.objective in ("leximin", "servers")
    return several and "organisation" in problem.instance.features and problem.instance.several_groups


def enumeration_takes(problem: Problem) -> bool:
    """Say whether all vectors of whole tasks can be looked at."""
    if not problem.integer or problem.policy.objective not in WHOLE or not problem.n or in_groups(problem):
        return False
    vectors = 1
    users = problem.whole_users
    for most in users.most:
        vectors *= most + 1
        if vectors > ENUMERATED:
            return False
    return True


def each_enumerated(problem: Problem) -> bool:
    """Say whether all of every machine by itself can be looked at."""
    if not is_of(problem, "servers", integer=True) or in_groups(problem):
        return False
    if problem.instance.machines is None:
        return enumeration_takes(Problem(problem.instance, ON_EACH, True))
    return all(enumeration_takes(one) for *_, one in machines_of(problem))


def machines_of(problem: Problem) -> Iterator[tuple[int, np.ndarray, Problem]]:
    """Yield the classes of machines, who can run something on one, and whole tasks on one as a problem by itself."""
    instance = problem.instance
    for k in np.flatnonzero(instance.fits.any(axis=0)).tolist():
        who = np.flatnonzero(instance.fits[:, k])
        yield k, who, Problem(machine_of(instance, who, k), ON_EACH, True, problem.deadline)


def machine_by_machine(tasks_of: Callable[[Problem], Sequence[int]], problem: Problem) -> Found:
    """Ask for the whole tasks of one machine of each class; a pool is one machine."""
    instance = problem.instance
    if instance.machines is None:
        return from_members(problem, tasks_of(Problem(instance, ON_EACH, True, problem.deadline)))
    tasks, packing = np.zeros(instance.n, dtype=np.int64), []
    for k, who, one in machines_of(problem):
        own = dict(zip(who[one.members].tolist(), tasks_of(one), strict=True))
        tasks[list(own)] += int(instance.counts[k]) * np.array(list(own.values()), dtype=np.int64)
        packing.append((k, int(instance.counts[k]), own))
    return found(problem, problem.all_rates * tasks, tasks, packing)


def enumerated(problem: Problem) -> list[int]:
    """Return the best of all whole tasks (members,) that can be run."""
    instance, policy = problem.instance, problem.policy
    members = problem.members.tolist()
    rates = policy.exact_rates(instance)
    objective = {
        "leximin": lambda: enumeration.leximin([rates[i] for i in members]),
        "alpha": lambda: enumeration.market(
            [rates[i] for i in members], [instance.exact_weights[i] for i in members], policy.alpha
        ),
        "sum": lambda: enumeration.total([rates[i] for i in members]),
    }[policy.objective]()
    pool = instance.machines is None
    if instance.features:
        return _enumerated_values(problem)
    best = enumeration.optimum(
        objective,
        [instance.exact_demands[i] for i in members],
        machine_rows(instance),
        [instance.exact_limits[i] for i in members],
        None if pool else [list(map(bool, instance.fits[i])) for i in members],
    )
    return list(best.tasks)


def _enumerated_values(problem: Problem) -> list[int]:
    """Take the best of all whole tasks that can be run and that rules allow."""
    users = problem.whole_users
    cluster = users.cluster
    eligible = None if cluster.machines is None else [list(map(bool, cluster.fits[q])) for q in users.rows]
    demands = [cluster.exact_demands[q] for q in users.rows]
    able = [q for q in range(len(demands)) if eligible is None or any(eligible[q])]
    loads = enumeration.packable(
        [demands[q] for q in able],
        machine_rows(cluster),
        [Fraction(max(users.most)) for _ in able],
        None if eligible is None else [eligible[q] for q in able],
    )
    best: tuple = ()
    tasks: tuple[int, ...] = ()
    leximin = problem.policy.objective == "leximin"
    value = (lambda found: users.score(users.spread(found))) if leximin else worth(users)
    for found in itertools.product(*(range(most + 1) for most in users.most)):
        if (score := value(found)) <= best:
            continue
        counts = users.counts(users.spread(found))
        asked = [counts[users.rows[q]] for q in able]
        within = all(
            sum((users.use(p, found[p], j) for p in inside), Fraction(0)) <= most for inside, j, most in users.ceilings
        )
        if within and any(all(x <= y for x, y in zip(asked, load, strict=True)) for load in loads):
            best, tasks = score, found
    return list(tasks)


def improved(problem: Problem) -> list[int]:
    """Improve on a schedule with the second solver until it finds nothing better."""
    instance, policy = problem.instance, problem.policy
    order = "drf" if policy.objective != "leximin" else policy.name
    packings, tasks = second_solver.listed_once(_packings), [0] * instance.n
    # A schedule follows rules, and orders types, in its own way.
    if not instance.features:
        tasks = schedule(instance, order, trace=False, time_limit=problem.deadline.share(1)).tasks.tolist()
    for _ in range(IMPROVEMENTS):
        try:
            better = second_solver.optimum(instance, policy, tasks, problem.deadline, packings=packings)
        except second_solver.TooLargeToAsk:
            raise SolverError("the program is too large for the solver, or its numbers are too far apart") from None
        if whole.score(instance, policy, better) <= whole.score(instance, policy, tasks):
            return [tasks[i] for i in problem.members.tolist()]
        tasks = better
    raise SolverError(f"CBC improved {IMPROVEMENTS} times and was not done")


def _packings(instance: Instance, k: int, members: Sequence[int], deadline: Deadline) -> list[dict[int, int]] | None:
    """Return what one machine of a class can run at most, listed by the reference and not by the engines."""
    users = [i for i in members if instance.fits[i, k]]
    try:
        row, _, devices = machine_rows(instance)[k]
        loads = enumeration.loads([instance.exact_demands[i] for i in users], row, devices)
    except SolverError:
        # Too many: then every machine has columns of its own.
        return None
    return [{i: x for i, x in zip(users, load, strict=True) if x} for load in loads]
