"""What a policy gives in an audit is what `solve` gives, exactly or enclosed."""

from fractions import Fraction

import numpy as np
import pytest

from drfopt import Instance, Machine, solve
from drfopt.axioms import exact_market
from drfopt.axioms.economy import around, below, cluster_of, high, least, low, reaches, shown, times, total
from drfopt.axioms.outcomes import computed, outcome
from drfopt.base.numbers.enclosures import Enclosure
from drfopt.base.numbers.polynomials import at, isolated, narrowed, product
from drfopt.base.solvers.exact_lp import largest
from drfopt.base.tolerances import NOTICED
from drfopt.model.policies import policy_named

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


@pytest.mark.parametrize("policy", ["drf", "asset", "tasks", "ceei", "throughput", "utilitarian", "alpha:2"])
@pytest.mark.parametrize("seed", range(12))
def test_it_is_what_solve_gives(policy, seed, draw):
    cluster = draw(seed, limits=True).cluster()
    found, instance = outcome(cluster, policy_named(policy)), cluster.instance()
    allocation = solve(instance, policy)
    rates = policy_named(policy).rates(instance)
    if policy_named(policy).objective == "sum":
        assert np.dot([float(x) for x in found.tasks], rates) == pytest.approx(
            (allocation.tasks * rates).sum(), rel=1e-9
        )
        return
    assert [float(x) for x in found.tasks] == pytest.approx(allocation.tasks, rel=2e-8, abs=1e-12)


@pytest.mark.parametrize("policy", ["drf", "asset", "ceei", "throughput"])
@pytest.mark.parametrize("seed", range(6))
def test_whole_tasks_are_as_good_as_what_solve_gives(policy, seed, draw):
    cluster = draw(seed, users=(1, 3), resources=(1, 2)).cluster()
    instance = cluster.instance()
    mine = [int(x) for x in outcome(cluster, policy_named(policy), integer=True).tasks]
    theirs = solve(instance, policy, integer=True).tasks
    rates = policy_named(policy).rates(instance)
    if policy == "ceei":
        assert np.prod(mine) == np.prod(theirs)
    elif policy == "throughput":
        assert sum(mine) == sum(theirs)
    else:
        assert np.sort(rates * mine) == pytest.approx(np.sort(rates * theirs))


def test_a_market_is_exact_where_it_is_rational_and_enclosed_where_it_is_not():
    rational = outcome(cluster_of(Instance.library("nsdi2011")), policy_named("ceei"))
    assert rational.tasks == (Fraction(45, 11), Fraction(18, 11))
    irrational = outcome(cluster_of(Instance.library("ceei-irrational-min")), policy_named("ceei"))
    assert not irrational.exact
    x = irrational.tasks[0]
    assert x.lower**2 < THIRD < x.upper**2


@pytest.mark.parametrize("seed", range(25))
def test_two_ways_to_a_market_meet(seed, draw):
    cluster = draw(seed, users=(2, 4), resources=(2, 2), zero=False).cluster()
    line = exact_market._two_resources(cluster.demands, cluster.pool, cluster.weights)
    theirs = exact_market._any(cluster.demands, cluster.pool, cluster.weights, cluster.limits)
    for one, other in zip(line.tasks, theirs.tasks, strict=True):
        assert not below(one, other)
        assert not below(other, one)
        assert one == other or not isinstance(one, Fraction) or not isinstance(other, Fraction)


def test_markets_that_share_nothing_are_apart():
    cluster = cluster_of(Instance([[1, 0, 0], [0, 1, 2], [0, 2, 1], [0, 1, 5]], [1, 1, 1]))
    alone = outcome(cluster.keeping([1, 2, 3]), policy_named("ceei")).tasks
    together = outcome(cluster, policy_named("ceei")).tasks
    assert together[0] == 1
    assert all(x is y for x, y in zip(alone, together[1:], strict=True))


def test_the_simplex_knows_whether_an_optimum_is_the_only_one():
    rows, room = [[Fraction(1), Fraction(1)]], [Fraction(1)]
    assert largest([Fraction(2), Fraction(1)], rows, room) == ([1, 0], True)
    assert largest([Fraction(1), Fraction(1)], rows, room)[1] is False


def test_who_is_unplaced_has_no_tasks_and_makes_no_tie():
    cluster = cluster_of(Instance([[1, 1], [0, 1]], [0, 1]))
    for policy in ("drf", "ceei", "throughput"):
        found = outcome(cluster, policy_named(policy))
        assert found.tasks == (0, 1)


def test_machines_are_exact_too():
    cluster = cluster_of(Instance([[1, 1], [2, 1]], machines=[Machine("a", [4, 4], 2)]))
    found = outcome(cluster, policy_named("drf"))
    assert found.exact
    assert not found.computed
    assert found.amounts(0) == (found.tasks[0],)
    assert [float(x) for x in found.tasks] == pytest.approx(solve(cluster.instance(), "drf").tasks)


def test_bounds_decide_or_leave_open():
    wide = Enclosure(Fraction(1), Fraction(2))
    assert below(HALF, wide)
    assert not below(wide, wide)
    assert not reaches(wide, Enclosure(Fraction(1), Fraction(2)))
    assert reaches(wide, wide)
    assert least(wide, HALF) == HALF
    assert total([wide, HALF]) == Enclosure(Fraction(3, 2), Fraction(5, 2))
    assert times(HALF, wide) == Enclosure(HALF, Fraction(1))
    assert around(0.0, 1e-9) == 0
    assert around(2.0, 1e-9).lower < 2 < around(2.0, 1e-9).upper
    assert shown(Fraction(10**9, 10**9 + 1)) == "1"
    assert shown(Fraction(32, 3)) == "32/3"


@pytest.mark.parametrize("roots", [(1, 3), (2, 2, 5), (4,), (0, 8, 3), (1, 2, 3, 4, 5, 6, 7)])
def test_roots_are_isolated(roots):
    p = [Fraction(1), Fraction(0), Fraction(1)]
    for root in roots:
        p = product(p, [Fraction(-root, 8), Fraction(1)])
    found = isolated(p, Fraction(0), Fraction(1))
    inside = sorted({Fraction(root, 8) for root in roots if 0 < root < 8})
    assert len(found) == len(inside)
    for interval, root in zip(found, inside, strict=True):
        a, b = narrowed(p, interval, Fraction(1, 1000))
        assert a <= root <= b
        assert b - a <= Fraction(1, 1000)
        assert at(p, root) == 0


def test_what_a_formulation_computes_to_be_nothing_may_be_noise_but_where_nothing_can_be(tmp_path):
    """B comes last and has 0 or 1e-12; C has a limit of 0, and D fits nowhere."""
    notion = tmp_path / "last_has_nothing.py"
    notion.write_text(
        '"""The first user has all."""\nfrom typing import NamedTuple\nimport pulp\n'
        "class Model(NamedTuple):\n    problem: object\n    tasks: object\n    levels: object\n"
        "def build(data, held):\n    x, problem = pulp.LpVariable('x', 0, 2), pulp.LpProblem('p', pulp.LpMaximize)\n"
        "    problem += x\n    nothing = pulp.LpAffineExpression(constant=0)\n"
        "    return Model(problem, [x, *[nothing] * (len(data.demands) - 1)], None)\n"
    )
    pool = Instance({"A": {"a": 1}, "B": {"a": 1}, "C": {"a": 1}, "D": {"b": 1}}, {"a": 2, "b": 0}, max_tasks={"C": 0})
    a, b, c, d = computed(cluster_of(pool), policy_named(str(notion)), False).tasks
    assert below(b, a) and below(c, a)
    assert (low(b), high(b)) == (0, Fraction(NOTICED * 2))
    assert c == d == Fraction(0)
