"""Second methods: the reference and the slow methods, each with what it can take.

They share with the engines the instance, a policy's level of one task and who is unplaced, which are what is asked.
Beyond that the reference, enumeration and the slow programs have rows and algorithms of their own; scipy's programs
end in the same HiGHS as the engines', CBC's have a list of the packings of a machine that the reference makes.
``rational chain`` and ``enclosure`` are engines for exact answers: HiGHS's basis and an engine's floats are where they
begin, and what they say is decided in fractions, with equations of their own and by the standalone verifier.  Where
exact answers are compared they are the engines, and others compute in fractions beside them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from ...base.errors import PolicyError
from ...certificates.verifier.powers import DEGREE
from ...engines.problem import Problem
from ...engines.promised import kept
from ...engines.reference.path_filling import path_filling, progressive_filling
from ...engines.registry import engines_for
from ...model.hierarchy import Clock
from ...model.instance import FEATURES, Instance
from ...model.organisation import Group, Organisation
from ...model.policies import policy_named
from ...model.single_machines import ON_EACH
from ..allocating import solve
from . import slow_chain, slow_dual, slow_exact, slow_market
from .whole_tasks import (
    ENUMERATED,
    WHOLE,
    Found,
    each_enumerated,
    enumerated,
    enumeration_takes,
    found,
    from_members,
    improved,
    in_groups,
    is_of,
    machine_by_machine,
)

__all__ = ["AUTHORS", "METHODS", "Found", "SecondMethod", "second_authors"]


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

EXACT_PAIRS = 500
"""Pairs of user and class up to which a chain in fractions takes about a second."""

ENCLOSED = 400
"""Pairs of user and class, times resources, up to which enclosing a market takes about a second."""

DENSE = 24
"""Pairs of user and class up to which the simplex method on a dense table of fractions takes seconds."""

PRICES, CELLS = 1_000, 2_000_000
"""Classes times resources, and times users, up to which the smoothed dual takes up to some ten seconds."""

CURVED = 8.0
"""Power of alpha fairness beyond which a conic program has not the digits to say anything."""


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
    return is_of(problem, "leximin", integer=False) and "organisation" not in problem.instance.features


def _tree(problem: Problem) -> Found:
    """Fill the tree step by step, in fractions."""
    tasks = slow_exact.tree_tasks(problem.instance, problem.policy)
    exact = Clock(problem.instance, problem.policy, exact=True)
    return np.array(exact.levels(np.array(tasks, dtype=object)), dtype=object), None


def _tree_takes(problem: Problem) -> bool:
    asked = is_of(problem, "leximin", integer=False) and "organisation" in problem.instance.features
    return asked and problem.instance.machines is None and problem.n <= STEPS


def _servers(problem: Problem) -> Found:
    """Fill every class by the reference, in fractions; under an order or a tree step by step."""
    instance = problem.instance
    if instance.machines is None:
        return _reference(Problem(instance, ON_EACH))
    rates, rules = problem.policy.exact_rates(instance), instance.organisation
    levels = [Fraction(0)] * instance.n
    for k, (room, count) in enumerate(zip(instance.exact_machine_capacity, instance.counts, strict=True)):
        users = np.flatnonzero(instance.fits[:, k]).tolist()
        if not users:
            continue
        pool = Instance(
            {instance.users[i]: dict(zip(instance.resources, instance.exact_demands[i], strict=True)) for i in users},
            dict(zip(instance.resources, [int(count) * c for c in room], strict=True)),
            weights={instance.users[i]: _weight(instance, i) for i in users},
            resources=instance.resources,
            organisation=rules
            and Organisation(
                tiers={instance.users[i]: rules.tiers[i] for i in users},
                paths={instance.users[i]: rules.paths[i] for i in users},
                groups=[Group(group.name, group.weight, tier=group.tier) for group in rules.groups],
                excluded=rules.excluded,
            ),
        )
        if pool.organisation is not None and not pool.organisation.only_excludes:
            tasks = slow_exact.tree_tasks(pool, ON_EACH)
        else:
            on_it = ON_EACH.exact_rates(pool)
            tasks = progressive_filling(pool.exact_demands, pool.exact_capacity, on_it, pool.exact_limits)
        for i, x in zip(users, tasks, strict=True):
            levels[i] += rates[i] * x
    return np.array([float(level) for level in levels]), None


def _weight(instance: Instance, i: int) -> Any:
    if instance.organisation is not None and instance.organisation.last[i]:
        return 0
    weight = instance.exact_weights[i]
    return dict(zip(instance.resources, weight, strict=True)) if isinstance(weight, tuple) else weight


def _servers_takes(problem: Problem) -> bool:
    rules = problem.instance.organisation
    stepwise = rules is not None and not rules.only_excludes
    work = problem.instance.n * problem.m * problem.k * problem.m
    few = work <= FRACTIONS and not (stepwise and problem.n > STEPS)
    return is_of(problem, "servers", integer=False) and few


def _chain(problem: Problem) -> Found:
    return slow_chain.levels(problem.instance, problem.policy), None


def _exactly(problem: Problem) -> Found:
    """Return the answer that is decided in fractions, and which the standalone verifier proves."""
    allocation = solve(problem.instance, problem.policy, exact=True, time_limit=_left(problem))
    return np.array([float(level) for level in allocation.levels]), None


def _enclosure_takes(problem: Problem) -> bool:
    if problem.instance.type_table is not None or "organisation" in problem.instance.features:
        return False
    asked = is_of(problem, "alpha", integer=False) and Fraction(str(problem.policy.alpha)).denominator <= DEGREE
    return bool(asked and problem.n) and len(problem.pairs[0]) * problem.m <= ENCLOSED


def _market(problem: Problem) -> Found:
    tasks, rates = slow_market.tasks(problem, problem.deadline.left()), np.zeros(problem.instance.n)
    rates[problem.members] = kept(problem).rates
    return found(problem, rates * tasks, tasks)


def _market_takes(problem: Problem) -> bool:
    return is_of(problem, "alpha", integer=False) and problem.policy.alpha <= CURVED


def _dual(problem: Problem) -> Found:
    policy, instance = problem.policy, problem.instance
    rates, deadline = policy.rates(instance), problem.deadline
    found = slow_dual.tasks(
        instance, policy.alpha, instance.weights, rates, lambda: deadline.check("the smoothed dual of the market")
    )
    return rates * found, None


def _dual_takes(problem: Problem) -> bool:
    typed = problem.instance.machines is not None and problem.instance.type_table is not None
    if typed or "organisation" in problem.instance.features or not is_of(problem, "alpha", integer=False):
        return False
    return problem.k * problem.m <= PRICES and problem.n * problem.k * problem.m <= CELLS


def _left(problem: Problem) -> float | None:
    left = problem.deadline.left()
    return None if left == math.inf else left


def _exact_chain_takes(problem: Problem) -> bool:
    plain = _plain(problem) and problem.instance.machines is not None
    return bool(plain and problem.n) and len(problem.pairs[0]) <= EXACT_PAIRS


def _sum_takes(problem: Problem) -> bool:
    return is_of(problem, "sum", integer=False)


def _sum(problem: Problem) -> Found:
    tasks, rates = slow_market.sum_tasks(problem), np.zeros(problem.instance.n)
    rates[problem.members] = kept(problem).rates
    return found(problem, rates * tasks, tasks)


def _enumeration(problem: Problem) -> Found:
    return from_members(problem, enumerated(problem))


def _cbc(problem: Problem) -> Found:
    return from_members(problem, improved(problem))


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
    SecondMethod("linprog", _sum_takes, _sum, reach="thousands of users; refuses where floats cannot decide"),
    SecondMethod(
        "simplex in fractions",
        _simplex_takes,
        _simplex,
        exact=True,
        reach=f"{DENSE} pairs of user and class",
    ),
    SecondMethod("enumeration", enumeration_takes, _enumeration, reach=f"{ENUMERATED:,} vectors of tasks"),
    SecondMethod(
        "CBC",
        lambda problem: problem.integer and problem.policy.objective in WHOLE and not in_groups(problem),
        _cbc,
        reach="as far as its time limit; packings listed by the reference",
    ),
    SecondMethod("reference, machine by machine", _servers_takes, _servers, exact=True, reach="a few thousand users"),
    SecondMethod(
        "enumeration, machine by machine",
        each_enumerated,
        partial(machine_by_machine, enumerated),
        reach=f"{ENUMERATED:,} vectors of tasks on a machine",
    ),
    SecondMethod(
        "CBC, machine by machine",
        lambda problem: is_of(problem, "servers", integer=True) and not in_groups(problem),
        partial(machine_by_machine, improved),
        reach="as far as its time limit; packings listed by the reference",
    ),
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
