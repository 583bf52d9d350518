"""Second methods: the reference and the slow methods, each with what it can take.

They share with the engines the instance, a policy's level of one task and who is unplaced, which are what is asked.
Beyond that the reference, enumeration and the slow programs have rows and algorithms of their own; scipy's programs
end in the same HiGHS as the engines', CBC's have a list of the packings of a machine that the reference makes.
``rational chain`` and ``enclosure`` are engines for exact answers: HiGHS's basis and an engine's floats are where they
begin, and what they say is decided in fractions, with equations of their own and by the standalone verifier.  Where
exact answers are compared they are the engines, and others compute in fractions beside them.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ...base.errors import EngineError, PolicyError, SolverError
from ...certificates import second_solver, whole
from ...engines.problem import Problem
from ...engines.promised import kept
from ...engines.reference import enumeration
from ...engines.reference.path_filling import path_filling, progressive_filling
from ...engines.reference.tree_filling import Ambiguous
from ...engines.registry import engines_for
from ...model.hierarchy import Clock
from ...model.hierarchy.market import market_rules
from ...model.instance import FEATURES, Instance
from ...model.packings import machine_rows
from ...model.policies import policy_named
from ...model.whole_values import WholeUsers
from ..allocating import solve
from ..scheduling import schedule
from . import slow_chain, slow_dual, slow_exact, slow_market

__all__ = ["AUTHORS", "METHODS", "Found", "SecondMethod", "found", "from_members", "second_authors"]


Found = tuple[np.ndarray, Any]
"""Levels (n,), and the recomputed objective where optima are not unique, otherwise None."""

AUTHORS = dict.fromkeys(("frontier", "load-prices", "leximin-milp"), "levels swept upwards") | {
    "interior-chain": "who is finished, read from prices",
    "lp-chain": "who is finished, read from prices",
    "barrier": "equations of the market",
    "decimal-barrier": "equations of the market",
    "conic": "equations of the market",
    "bounded-barrier": "equations of the market",
}
"""Engines that share what decides their answer: where users must stop, or Newton's last steps and their equations."""

FRACTIONS = 400_000
"""Users times resources times events that the rational filling is asked to do: some seconds."""

STEPS = 60
"""Users up to whom the tree of groups is filled step by step: some seconds."""

ENUMERATED = 5_000
"""Vectors of tasks of a tiny cluster that are enumerated."""

EXACT_PAIRS = 500
"""Pairs of user and class up to which a chain in fractions takes about a second."""

ENCLOSED = 400
"""Pairs of user and class, times resources, up to which enclosing a market takes about a second."""

DENSE = 24
"""Pairs of user and class up to which the simplex method on a dense table of fractions takes seconds."""

PRICES, CELLS = 1_000, 2_000_000
"""Classes times resources, and times users, up to which the smoothed dual takes up to some ten seconds."""

WHOLE = ("leximin", "alpha", "sum")
"""What is done with whole tasks."""

CURVED = 8.0
"""Power of alpha fairness beyond which a conic program has not the digits to say anything."""

IMPROVEMENTS = 500
"""Times that the second solver may improve on a schedule."""


@dataclass(frozen=True)
class SecondMethod:
    """A way of computing that is no engine for the problem.

    Attributes
    ----------
    name : str
    takes : callable
        Says whether it can be asked about a problem.
    compute : callable
        Returns a `Found`.
    unpolished : bool
        Whether it is a solver's own answer, whose objective has all digits and whose tasks have not.
    engine : str
        The engine for exact answers that it is, if it is one.
    reach : str
        How large a cluster it can be asked about, in words.
    exact : bool
        Whether it is asked beside exact answers, too.
    """

    name: str
    takes: Callable[[Problem], bool]
    compute: Callable[[Problem], Found]
    unpolished: bool = False
    engine: str = ""
    reach: str = ""
    exact: bool = False

    def asked(self, problem: Problem, exact: bool) -> bool:
        """Say whether it is asked beside floats, or beside exact answers."""
        return (self.exact or not exact) and self.takes(problem)


def found(problem: Problem, levels: np.ndarray, tasks: np.ndarray) -> Found:
    """Return levels and, where optima are not unique, what is compared instead of them."""
    levels = _floats(levels)
    if problem.policy.objective == "formulation":
        return levels, None
    if problem.integer:
        return levels, whole.score(problem.instance, problem.policy, [int(x) for x in tasks])
    return levels, float(levels.sum()) if problem.policy.objective == "sum" else None


def _floats(levels: Sequence[Any] | np.ndarray) -> np.ndarray:
    return np.array([float(level) for level in levels])


def _reference(problem: Problem) -> Found:
    instance = problem.instance
    rates = problem.policy.exact_rates(instance)
    tasks = progressive_filling(instance.exact_demands, instance.exact_capacity, rates, instance.exact_limits)
    return np.array([rate * x for rate, x in zip(rates, tasks, strict=True)], dtype=object), None


def _along_path(problem: Problem) -> Found:
    instance, policy = problem.instance, problem.policy
    users = policy.travellers(instance)
    path, shares = users[0].path, [user.shares for user in users]
    given = (instance.exact_demands, instance.exact_capacity, path.knots, path.levels, shares, instance.exact_limits)
    return policy.levels(instance, np.array(path_filling(*given), dtype=object)), None


def _along_path_takes(problem: Problem) -> bool:
    path = problem.policy.path
    return path is not None and 0 < problem.instance.n**2 * problem.m**2 * len(path.slopes) <= FRACTIONS


def _reference_takes(problem: Problem) -> bool:
    limited = int(np.isfinite(problem.instance.limits).sum())
    work = problem.instance.n * problem.m * (limited + problem.m)
    return _plain(problem) and problem.instance.machines is None and work <= FRACTIONS


def _plain(problem: Problem) -> bool:
    """Say whether levels of divisible tasks are made leximin, and nothing is promised or ordered besides."""
    return _is(problem, "leximin", integer=False) and "organisation" not in problem.instance.features


def _tree(problem: Problem) -> Found:
    """Fill the tree step by step, in fractions."""
    try:
        tasks = slow_exact.tree_tasks(problem.instance, problem.policy)
    except Ambiguous:
        raise EngineError("the outcome depends on an order of steps that the reference does not know") from None
    exact = Clock(problem.instance, problem.policy, exact=True)
    return np.array(exact.levels(np.array(tasks, dtype=object)), dtype=object), None


def _tree_takes(problem: Problem) -> bool:
    asked = _is(problem, "leximin", integer=False) and "organisation" in problem.instance.features
    return asked and problem.instance.machines is None and problem.n <= STEPS


def _servers(problem: Problem) -> Found:
    """Fill every class by the reference, in fractions."""
    instance = problem.instance
    if instance.machines is None:
        return _reference(Problem(instance, policy_named("drf")))
    rates = problem.policy.exact_rates(instance)
    levels = [Fraction(0)] * instance.n
    for k, (room, count) in enumerate(zip(instance.exact_machine_capacity, instance.counts, strict=True)):
        users = np.flatnonzero(instance.fits[:, k]).tolist()
        if not users:
            continue
        pool = Instance(
            {instance.users[i]: dict(zip(instance.resources, instance.exact_demands[i], strict=True)) for i in users},
            dict(zip(instance.resources, [int(count) * c for c in room], strict=True)),
            weights={instance.users[i]: _weight(instance, i) for i in users},
        )
        on_it = policy_named("drf").exact_rates(pool)
        tasks = progressive_filling(pool.exact_demands, pool.exact_capacity, on_it, pool.exact_limits)
        for i, x in zip(users, tasks, strict=True):
            levels[i] += rates[i] * x
    return np.array([float(level) for level in levels]), None


def _weight(instance: Instance, i: int) -> Any:
    weight = instance.exact_weights[i]
    return dict(zip(instance.resources, weight, strict=True)) if isinstance(weight, tuple) else weight


def _servers_takes(problem: Problem) -> bool:
    work = problem.instance.n * problem.m * problem.k * problem.m
    return _is(problem, "servers", integer=False) and work <= FRACTIONS


def _chain(problem: Problem) -> Found:
    return slow_chain.levels(problem.instance, problem.policy), None


def _exactly(problem: Problem) -> Found:
    """Return the answer that is decided in fractions, and which the standalone verifier proves."""
    allocation = solve(problem.instance, problem.policy, exact=True, time_limit=_left(problem))
    return np.array([float(level) for level in allocation.levels]), None


def _enclosure_takes(problem: Problem) -> bool:
    if problem.instance.type_table is not None or "organisation" in problem.instance.features:
        return False
    asked = _is(problem, "alpha", integer=False) and float(problem.policy.alpha).is_integer()
    return bool(asked and problem.n) and len(problem.pairs[0]) * problem.m <= ENCLOSED


def _market(problem: Problem) -> Found:
    tasks, rates = slow_market.tasks(problem, problem.deadline.left()), np.zeros(problem.instance.n)
    rates[problem.members] = kept(problem).rates
    return found(problem, rates * tasks, tasks)


def _market_takes(problem: Problem) -> bool:
    return _is(problem, "alpha", integer=False) and problem.policy.alpha <= CURVED


def _dual(problem: Problem) -> Found:
    policy, instance = problem.policy, problem.instance
    rates, deadline = policy.rates(instance), problem.deadline
    found = slow_dual.tasks(
        instance, policy.alpha, instance.weights, rates, lambda: deadline.check("the smoothed dual of the market")
    )
    return rates * found, None


def _dual_takes(problem: Problem) -> bool:
    typed = problem.instance.machines is not None and problem.instance.type_table is not None
    if typed or "organisation" in problem.instance.features or not _is(problem, "alpha", integer=False):
        return False
    return problem.k * problem.m <= PRICES and problem.n * problem.k * problem.m <= CELLS


def _left(problem: Problem) -> float | None:
    left = problem.deadline.left()
    return None if left == math.inf else left


def _exact_chain_takes(problem: Problem) -> bool:
    plain = _plain(problem) and problem.instance.machines is not None
    return bool(plain and problem.n) and len(problem.pairs[0]) <= EXACT_PAIRS


def _sum_takes(problem: Problem) -> bool:
    return _is(problem, "sum", integer=False)


def _sum(problem: Problem) -> Found:
    tasks, rates = slow_market.sum_tasks(problem), np.zeros(problem.instance.n)
    rates[problem.members] = kept(problem).rates
    return found(problem, rates * tasks, tasks)


def _enumeration(problem: Problem) -> Found:
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
    return from_members(problem, list(best.tasks))


def _enumerated_values(problem: Problem) -> Found:
    """Take the best of all whole tasks that can be run and that rules allow."""
    users = WholeUsers(problem.instance, problem.policy, problem.members.tolist())
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
    for found in itertools.product(*(range(most + 1) for most in users.most)):
        if (score := whole.score(problem.instance, problem.policy, users.spread(found))) <= best:
            continue
        counts = users.counts(users.spread(found))
        asked = [counts[users.rows[q]] for q in able]
        within = all(
            sum((users.use(p, found[p], j) for p in inside), Fraction(0)) <= most for inside, j, most in users.ceilings
        )
        if within and any(all(x <= y for x, y in zip(asked, load, strict=True)) for load in loads):
            best, tasks = score, found
    return from_members(problem, list(tasks))


def _in_groups(problem: Problem) -> bool:
    """Say whether whole tasks are of several groups, which no value of them describes."""
    rules = problem.instance.organisation
    grouped = rules is not None and rules.branches and "organisation" in problem.instance.features
    return problem.integer and grouped and problem.policy.objective == "leximin"


def _enumeration_takes(problem: Problem) -> bool:
    if not problem.integer or problem.policy.objective not in WHOLE or not problem.n or _in_groups(problem):
        return False
    vectors = 1
    users = WholeUsers(problem.instance, problem.policy, problem.members.tolist())
    for most in users.most:
        vectors *= most + 1
        if vectors > ENUMERATED:
            return False
    return True


def _cbc(problem: Problem) -> Found:
    """Improve on a schedule with the second solver until it finds nothing better."""
    instance, policy = problem.instance, problem.policy
    order = "drf" if policy.objective != "leximin" else policy.name
    # A schedule follows rules, and orders types, in its own way.
    tasks = [0] * instance.n if instance.features else [int(x) for x in schedule(instance, order, trace=False).tasks]
    for _ in range(IMPROVEMENTS):
        better = second_solver.optimum(instance, policy, tasks, problem.deadline, packings=_packings)
        if whole.score(instance, policy, better) <= whole.score(instance, policy, tasks):
            return from_members(problem, [tasks[i] for i in problem.members.tolist()])
        tasks = better
    raise SolverError(f"CBC improved {IMPROVEMENTS} times and was not done")


def _packings(instance: Instance, k: int, members: Sequence[int]) -> list[dict[int, int]] | None:
    """Return what one machine of a class can run at most, listed by the reference and not by the engines."""
    users = [i for i in members if instance.fits[i, k]]
    try:
        row, _, devices = machine_rows(instance)[k]
        loads = enumeration.loads([instance.exact_demands[i] for i in users], row, devices)
    except SolverError:
        # Too many: then every machine has columns of its own.
        return None
    return [{i: x for i, x in zip(users, load, strict=True) if x} for load in loads]


def from_members(problem: Problem, tasks: list[int]) -> Found:
    """Return what whole tasks (n,) are worth, and the objective."""
    everybody = np.zeros(problem.instance.n, dtype=np.int64)
    everybody[problem.members] = tasks
    if problem.policy.objective == "leximin":
        users = WholeUsers(problem.instance, problem.policy, problem.members.tolist())
        levels = np.zeros(problem.instance.n)
        levels[problem.members] = [float(users.level(p, int(x))) for p, x in enumerate(tasks)]
        return found(problem, levels, everybody)
    if "organisation" in problem.instance.features:
        return found(problem, market_rules(problem.instance, problem.policy).rates * everybody, everybody)
    rates = problem.policy.exact_rates(problem.instance)
    levels = np.array([float(rate * Fraction(int(x))) for rate, x in zip(rates, everybody, strict=True)])
    return found(problem, levels, everybody)


def _is(problem: Problem, objective: str, *, integer: bool) -> bool:
    return problem.policy.objective == objective and problem.integer == integer


def _simplex(problem: Problem) -> Found:
    instance, policy = problem.instance, problem.policy
    if policy.objective == "leximin":
        return slow_exact.levels(instance, policy, problem.deadline), None
    levels = policy.levels(instance, slow_exact.tasks(instance, policy))
    return levels, float(sum(levels.tolist(), Fraction(0)))


def _simplex_takes(problem: Problem) -> bool:
    plain = problem.instance.type_table is None and "organisation" not in problem.instance.features
    asked = _plain(problem) or _sum_takes(problem)
    return bool(asked and plain and problem.n) and len(problem.pairs[0]) <= DENSE


METHODS = (
    SecondMethod("reference", _reference_takes, _reference, exact=True, reach="a few thousand users"),
    SecondMethod("reference, bend by bend", _along_path_takes, _along_path, exact=True, reach="200 users"),
    SecondMethod("reference, step by step", _tree_takes, _tree, exact=True, reach=f"{STEPS} users"),
    SecondMethod("one LP a user", _plain, _chain, reach="some hundred users; refuses where floats cannot decide"),
    SecondMethod(
        "rational chain",
        _exact_chain_takes,
        _exactly,
        engine="rational-chain",
        reach=f"{EXACT_PAIRS} pairs of user and class",
    ),
    SecondMethod(
        "enclosure",
        _enclosure_takes,
        _exactly,
        engine="enclosure",
        reach=f"{ENCLOSED} pairs of user and class, times resources; alpha a whole number",
    ),
    SecondMethod(
        "conic program",
        _market_takes,
        _market,
        unpolished=True,
        exact=True,
        reach="some thousand users; the product to 1e-9",
    ),
    SecondMethod(
        "smoothed dual",
        _dual_takes,
        _dual,
        exact=True,
        reach=f"{PRICES:,} prices, {CELLS:,} of them times users; levels to 1e-9",
    ),
    SecondMethod("linprog", _sum_takes, _sum, reach="thousands of users"),
    SecondMethod(
        "simplex in fractions",
        _simplex_takes,
        _simplex,
        exact=True,
        reach=f"{DENSE} pairs of user and class",
    ),
    SecondMethod("enumeration", _enumeration_takes, _enumeration, reach=f"{ENUMERATED:,} vectors of tasks"),
    SecondMethod(
        "CBC",
        lambda problem: problem.integer and problem.policy.objective in WHOLE and not _in_groups(problem),
        _cbc,
        reach="as far as its time limit; packings listed by the reference",
    ),
    SecondMethod("reference, machine by machine", _servers_takes, _servers, exact=True, reach="a few thousand users"),
)
"""The table; what its rows share with the engines is told above."""

ASKED = ("drf", "asset", "single:r1", "tsf", "tasks", "per-server", "ceei", "alpha:2", "utilitarian", "throughput")
"""Policies of the table of second authors; a path is of a pool only."""

KINDS = {"divisible tasks": (False, False), "whole tasks": (True, False), "exact answers": (False, True)}
"""Whether tasks are whole, and whether answers are exact."""


def second_authors() -> str:
    """Return who is asked about every policy, kind of tasks and of cluster, as Markdown: engines and the others."""
    clusters = {
        "a pool": Instance([[1, 2], [2, 1]], [9, 9]),
        "machines": Instance([[1, 2], [2, 1]], machines=[[9, 9], [5, 6]]),
    }
    rows: dict[tuple[str, ...], list[str]] = {}
    for tasks, (integer, exact) in KINDS.items():
        for where, instance in clusters.items():
            for name in (*ASKED, "path:1/2:1/2..3/4:1"):
                problem = Problem(instance, policy_named(name), integer)
                try:
                    problem.policy.check(instance, integer, FEATURES)
                except PolicyError:
                    continue
                engines = [row.name for row in engines_for(problem, exact) if not row.heuristic]
                if not engines:
                    continue
                seconds = [f"{row.name} ({row.reach})" for row in METHODS if row.asked(problem, exact)]
                rows.setdefault((tasks, where, ", ".join(engines), "; ".join(seconds)), []).append(f"`{name}`")
    lines = [["tasks", "cluster", "policies", "engines", "second authors, and how far they reach"], ["---"] * 5]
    lines += [
        [tasks, where, ", ".join(names), engines, seconds] for (tasks, where, engines, seconds), names in rows.items()
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
