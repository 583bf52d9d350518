"""Questions about one pool: leximin and CEEI, from ten users to a hundred thousand, and on awkward families."""

from collections.abc import Callable

import numpy as np

from drfopt.certificates import prices
from drfopt.model.allocation import Allocation
from drfopt.model.instance import Instance
from drfopt.model.policies import policy_named
from drfopt.solving.allocating import solve

from . import peers
from .families import family_named
from .measure import Bench, Case, Row, Verdict, Way, proven, without
from .reference import attempt, ceei_tasks, leximin_levels, lowest, off

__all__ = ["STATEMENTS", "SUM", "ceei", "engine_way", "levels_of", "leximin", "lowest_level", "market", "one_lp"]

SLOW_CHAIN = 200
"""Users up to which the chain with one LP a user is asked; it solves thousands of programs beyond."""

CVXPY_LEXIMIN = {"ordered_outcomes": 10, "ordered_outcomes_big_M": 10, "saturation": 100}
"""The methods of cvxpy-leximin (the first is its default), and the users up to which each is asked: the first and the
second were still running after 90 s with 50, the third after minutes with 1,000. Its fourth, ordered_values, needs a
list of all levels there can be."""

STATEMENTS = {
    "one LP, a row a user, simplex": lambda i, seconds: peers.lowest_level(i, "highs-ds", seconds),
    "one LP, a row a user, interior point": lambda i, seconds: peers.lowest_level(i, "highs-ipm", seconds),
    "one LP, a row a user, no crossover": lambda i, seconds: peers.lowest_level(i, "ipm", seconds),
    "one LP, no row a user": peers.lowest_level_without_rows,
}
"""Ways to state and solve one max-min program; the last is for pools only."""

SUM = Way("D.sum()", "yardstick", lambda instance: instance.demands.sum())
"""One look at every demand: nothing that reads its input can be faster."""


def leximin(bench: Bench, size: tuple[str, int]) -> list[Row]:
    """Measure DRF on one pool of a family."""
    name, n = size
    build = family_named(name).build
    levels, source = leximin_levels(build(n))
    case = Case(
        group=name,
        name=f"n = {n:,}",
        n=n,
        build=lambda: build(n),
        reference=f"levels in {source}",
        yardstick="one LP",
        ways=(
            SUM,
            Way("Instance(...)", "drfopt", _again),
            *(
                engine_way("drf", name, bench.limit, lambda allocation: off(allocation.levels, levels))
                for name in ("filling", "lp-chain")
            ),
            *(one_lp(statement, bench.limit, levels) for statement in STATEMENTS),
            levels_of("one LP a user", peers.one_lp_a_user, levels, SLOW_CHAIN, "thousands of programs"),
            *(
                levels_of(
                    f"cvxpy-leximin {method}",
                    lambda instance, method=method: peers.leximin_cvxpy(instance, method),
                    levels,
                    largest,
                    "it ends in no minute",
                )
                for method, largest in CVXPY_LEXIMIN.items()
            ),
        ),
    )
    return bench.measure("leximin-pool", case)


def ceei(bench: Bench, size: tuple[str, int]) -> list[Row]:
    """Measure CEEI on one pool of a family."""
    name, n = size
    build = family_named(name).build
    instance = build(n)
    found = [
        attempt(lambda engine=engine: solve(instance, "ceei", engine=engine))
        for engine in ("newton", "barrier", "conic")
    ]
    first = next((allocation for allocation in found if allocation is not None), None)
    tasks = None if first is None else ceei_tasks(instance, first.prices)
    case = Case(
        group=name,
        name=f"n = {n:,}",
        n=n,
        build=lambda: build(n),
        reference="tasks in long double",
        yardstick="cvxpy + Clarabel",
        ways=(
            SUM,
            *(
                engine_way("ceei", name, bench.limit, lambda allocation: off(allocation.tasks, tasks))
                for name in ("newton", "barrier", "conic")
            ),
            market("CLARABEL", "yardstick", bench.limit, tasks),
            market("SCS", "peer", bench.limit, tasks),
        ),
    )
    return bench.measure("ceei-pool", case)


def market(solver: str, role: str, seconds: float, tasks: np.ndarray | None) -> Way:
    """Return the way of a conic solver, its answer held against ours and against our certificate."""

    def judge(instance: Instance, answer: peers.Market) -> Verdict:
        placement = None if instance.machines is None else answer.placement
        certificate = prices.certify(instance, policy_named("ceei"), answer.tasks, placement, answer.prices)
        note = "" if answer.status == "optimal" else f"the solver says {answer.status}"
        return proven(certificate, off(answer.tasks, tasks), note)

    label = {"CLARABEL": "cvxpy + Clarabel", "SCS": "cvxpy + SCS"}[solver]
    return Way(label, role, lambda instance: peers.nash_product(instance, solver, seconds), judge)


def _again(instance: Instance) -> Instance:
    """Check the same arrays once more, as a user's own arrays would be."""
    return Instance(np.array(instance.demands), np.array(instance.capacity), max_tasks=np.array(instance.limits))


def engine_way(
    policy: str, engine: str, seconds: float, error: Callable[[Allocation], float | None] = lambda allocation: None
) -> Way:
    """Return the way of one engine: to solve and to prove."""
    return Way(
        f"drfopt {engine}",
        "drfopt",
        lambda instance: solve(instance, policy, engine=engine, time_limit=seconds),
        lambda instance, allocation: proven(allocation.certificate, error(allocation)),
    )


def one_lp(statement: str, seconds: float, levels: np.ndarray | None) -> Way:
    """Return the way of one max-min program by HiGHS."""
    return lowest_level(statement, "yardstick", lambda instance: STATEMENTS[statement](instance, seconds), levels)


def lowest_level(
    label: str, role: str, run: Callable[[Instance], float], levels: np.ndarray | None, note: str = ""
) -> Way:
    """Return the way of one program, its level held against the lowest of the levels (n,)."""

    def judge(instance: Instance, level: float) -> Verdict:
        return without(None if levels is None else abs(level / lowest(levels, instance) - 1), note)

    return Way(label, role, run, judge)


def levels_of(
    label: str,
    run: Callable[[Instance], np.ndarray],
    levels: np.ndarray | None,
    largest: int | None = None,
    why: str = "",
) -> Way:
    """Return the way of a peer that computes levels (n,), held against others where there are any."""

    def judge(instance: Instance, answer: np.ndarray) -> Verdict:
        return without(off(answer, levels))

    return Way(label, "peer", run, judge, largest, why)
