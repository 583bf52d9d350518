"""Rounds on machines, solved to rounding: from a solver that stopped early, and from one that spared the finished."""

import numpy as np
import pytest
from scipy import sparse

from drfopt.engines.leximin.active_rows import ActiveSetEquations, Point
from drfopt.engines.leximin.vertices import StandardForm
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.solving.allocating import solve


def cluster(seed, users, classes, resources, open_to=1.0, limited=False):
    """Return a cluster of integers whose users differ."""
    random = np.random.default_rng(seed)
    demands = random.integers(0, 10, (users, resources))
    demands[demands.sum(axis=1) == 0, 0] = 1
    eligible = random.random((users, classes)) < open_to
    eligible[np.arange(users), random.integers(0, classes, users)] = True
    limits = np.where(random.random(users) < 0.4, random.integers(1, 40, users) / 4, np.inf) if limited else None
    rooms = random.integers(15, 200, (classes, resources))
    machines = [Machine(f"c{q}", row, count=int(random.integers(1, 5))) for q, row in enumerate(rooms)]
    return Instance(demands, machines=machines, eligible=eligible, max_tasks=limits)


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("open_to", [0.1, 0.4, 1.0])
@pytest.mark.parametrize("seed", range(2))
def test_levels_are_those_of_fractions(seed, open_to, limited):
    instance = cluster(seed, 60, 8, 3, open_to, limited)
    allocation, exact = solve(instance), solve(instance, exact=True).levels.astype(float)
    off = np.abs(allocation.levels - exact) / np.maximum(exact, 1e-300)
    assert off.max() <= 1e-12
    assert off.max() <= allocation.certificate.violation <= 1e-10


@pytest.mark.parametrize("off", [1e-9, 1e-7])
def test_from_where_a_solver_stopped_early(off):
    """One round of three users on two classes, in the letters of `lp_round`, each number a little off."""
    needs, rooms = np.array([[1, 1], [1, 2], [2, 1]]), np.array([[6, 8], [9, 7]])
    matrix = np.zeros((4, 6))
    for g in range(3):
        for k in range(2):
            matrix[2 * k : 2 * k + 2, 2 * g + k] = needs[g] / rooms[k]
    equations = ActiveSetEquations(sparse.csc_array(matrix), np.repeat(np.arange(3), 2), np.ones(3), np.zeros(3))
    from scipy.optimize import linprog

    adding = np.kron(np.eye(3), np.ones(2))
    found = linprog(
        [0] * 6 + [-1],
        np.vstack([np.hstack([-adding, np.ones((3, 1))]), np.hstack([matrix, np.zeros((4, 1))])]),
        [0] * 3 + [1] * 4,
        method="highs-ipm",
    )
    exact = Point(float(found.x[-1]), found.x[:6], np.maximum(-found.ineqlin.marginals[3:], 0))
    random = np.random.default_rng(0)
    start = Point(
        exact.level * (1 - off),
        np.maximum(exact.amounts, off) * (1 + off * random.standard_normal(6)),
        exact.prices * (1 + off * random.standard_normal(4)),
    )
    assert equations.missed(start) > off / 100
    sharp = equations.sharpened([start])
    assert equations.missed(sharp) <= 1e-14
    assert sharp.level == pytest.approx(exact.level, rel=1e-14)


@pytest.mark.slow
def test_a_thousand_users_whom_every_class_is_open_to():
    """HiGHS's interior point method ends 3e-9 from the optimum here, which no certificate would take."""
    random = np.random.default_rng(2)
    demands, rooms = random.integers(1, 10, (1000, 4)), random.integers(20, 200, (100, 4))
    machines = [Machine(f"c{q}", row, count=1 + q % 4) for q, row in enumerate(rooms)]
    assert solve(Instance(demands, machines=machines)).certificate.violation <= 1e-12


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array])
def test_what_a_basis_makes(kind):
    """Minimise -x - y under x + 2 y <= 4 and 3 x + y <= 7: both rows bind at (2, 1), at prices 0.4 and 0.2."""
    matrix, cost, high = kind(np.array([[1.0, 2.0], [3.0, 1.0]])), np.array([-1.0, -1.0]), np.array([4.0, 7.0])
    program = StandardForm(matrix, cost, np.full(2, -np.inf), high)
    both, none = np.ones(2, dtype=bool), np.zeros(2, dtype=bool)
    x, y = program.at(both, none)
    np.testing.assert_allclose(x, [2, 1], rtol=1e-15)
    np.testing.assert_allclose(y, [-0.4, -0.2], rtol=1e-15)
    assert program.missed(x, y) <= 1e-15
    assert program.missed(x * (1 + 1e-6), y) > 1e-7
    assert program.missed(x, y * 0.9) > 1e-3
    assert program.at(both, both) is None
    same = kind(np.array([[1.0, 2.0], [2.0, 4.0]]))
    assert StandardForm(same, cost, np.full(2, -np.inf), high).at(both, none) is None
