"""Exact answers on machines: the float chain's levels to its accuracy, whatever basis the floats end with."""

import json
from fractions import Fraction as F

import numpy as np
import pytest
from clusters import clusters, pools
from hypothesis import given, settings
from hypothesis import strategies as st

from drfopt.base.errors import SolverError
from drfopt.base.numbers import rationals
from drfopt.base.solvers.exact_lp import ExactProgram, Factors, maximise
from drfopt.certificates.document import certificate_document
from drfopt.certificates.verifier import loads, verify
from drfopt.engines.leximin import rational_chain
from drfopt.io.readers.asking import read
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.solving.allocating import solve
from drfopt.solving.methods import slow_chain

SMALL = st.integers(-3, 3).map(F)


def without_flint(patch):
    patch.setattr(rationals, "FLINT", None)


@pytest.mark.parametrize("policy", ["drf", "asset", "tasks"])
@settings(max_examples=15)
@given(instance=clusters())
def test_exact_leximin_is_the_slow_chain(instance, policy):
    allocation = solve(instance, policy, exact=True)
    assert allocation.certificate.valid and allocation.certificate.violation == 0
    assert all(isinstance(x, F) for x in [*allocation.tasks, *allocation.placement.ravel()])
    assert allocation.levels.astype(float) == pytest.approx(slow_chain.levels(instance, policy), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("policy", ["utilitarian", "throughput"])
@pytest.mark.parametrize("strategy", [pools, clusters])
def test_exact_sums_are_those_of_floats(policy, strategy):
    @settings(max_examples=30)
    @given(instance=strategy(6))
    def check(instance):
        exact = solve(instance, policy, exact=True)
        assert exact.certificate.valid and exact.certificate.gap == 0
        floats = solve(instance, policy)
        ours, theirs = ((a.levels if policy == "utilitarian" else a.tasks).sum() for a in (exact, floats))
        assert float(ours) == pytest.approx(theirs, rel=1e-9, abs=1e-12)

    check()


@settings(max_examples=30)
@given(instance=clusters(), data=st.data())
def test_a_wrong_basis_is_mended_by_pivots(instance, data):
    expected = solve(instance, "drf", exact=True).levels.tolist()
    with pytest.MonkeyPatch.context() as patch:
        honest = rational_chain.basic_columns

        def wrong(highs):
            basis = honest(highs)
            everything = highs.getNumCol() + highs.getNumRow()
            return data.draw(st.permutations(range(everything)))[: len(basis)]

        patch.setattr(rational_chain, "basic_columns", wrong)
        if data.draw(st.booleans()):
            without_flint(patch)
        assert solve(instance, "drf", exact=True).levels.tolist() == expected


@settings(max_examples=30)
@given(instance=clusters())
def test_without_a_solver_pivots_do_it_all(instance):
    expected = solve(instance, "drf", exact=True).levels.tolist()
    with pytest.MonkeyPatch.context() as patch:

        def fails(*arguments):
            raise SolverError("it failed")

        patch.setattr(rational_chain, "run", fails)
        assert solve(instance, "drf", exact=True).levels.tolist() == expected


@given(data=st.data(), size=st.integers(1, 6))
def test_factors_solve_both_ways(data, size):
    columns = [{r: v for r in range(size) if (v := data.draw(SMALL))} for _ in range(size)]
    right = [data.draw(SMALL) for _ in range(size)]
    try:
        factors = Factors(columns)
    except ZeroDivisionError:
        dense = np.array([[float(c.get(r, 0)) for c in columns] for r in range(size)])
        assert abs(np.linalg.det(dense)) < 1e-6
        return
    x, y = factors.solve(right), factors.solve_transposed(right)
    assert [sum((c.get(r, F(0)) * v for c, v in zip(columns, x, strict=True)), F(0)) for r in range(size)] == right
    assert [sum((v * y[r] for r, v in c.items()), F(0)) for c in columns] == right


@given(data=st.data())
def test_programs_from_any_basis_satisfy_the_conditions(data):
    rows, width = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    columns = [{r: v for r in range(rows) if (v := data.draw(SMALL))} for _ in range(width)]
    b, c = [[data.draw(SMALL) for _ in range(size)] for size in (rows, width)]
    basis = data.draw(st.permutations(range(rows + width)))[:rows]
    try:
        found = maximise(ExactProgram(columns, b, c), basis, "the program")
    except SolverError as error:
        from scipy.optimize import linprog

        dense = np.array([[float(col.get(r, 0)) for col in columns] for r in range(rows)])
        status = linprog([-float(v) for v in c], dense, [float(v) for v in b]).status
        assert status in ((2, 4) if "no solution" in str(error) else (3, 4))
        return
    assert min([*found.x, *found.prices]) >= 0
    filled = [sum((col.get(r, F(0)) * v for col, v in zip(columns, found.x, strict=True)), F(0)) for r in range(rows)]
    assert all(f <= total for f, total in zip(filled, b, strict=True))
    assert all(sum((found.prices[r] * v for r, v in col.items()), F(0)) >= w for col, w in zip(columns, c, strict=True))
    value = sum((v * w for v, w in zip(found.x, c, strict=True)), F(0))
    assert value == sum((p * total for p, total in zip(found.prices, b, strict=True)), F(0))


def test_fractions_that_no_float_holds():
    third = Instance([["1/3", 1], [1, "1/7"]], machines=[Machine("a", ["1/3", 5]), Machine("b", [2, "10/7"], 3)])
    allocation = solve(third, exact=True)
    assert allocation.certificate.valid
    assert allocation.placement.sum(axis=1).tolist() == allocation.tasks.tolist()
    assert "chain" in str(allocation)
    assert all(isinstance(user["tasks"], str) for user in allocation.to_dict()["users"])


def test_openb_exactly(data_folder):
    folder = data_folder / "openb"
    files = [folder / "openb_node_list_all_node.csv", folder / "openb_pod_list_gpuspec33.csv"]
    allocation = solve(read("openb", files).instance, exact=True)
    assert allocation.certificate.valid and allocation.certificate.rigorous
    report = verify(loads(json.dumps(certificate_document(allocation))))
    assert report.valid is True and report.accuracy == 0
    assert allocation.levels.astype(float) == pytest.approx(solve(allocation.instance).levels, rel=1e-9)


def test_weights_beyond_floats_start_each_round_where_the_last_one_ended(monkeypatch):
    """Of the bases that floats found here none obeyed all rows from the second round on: 185 pivots mended them."""
    pivots = []

    def counted(*given):
        found = maximise(*given)
        pivots.append(found.pivots)
        return found

    monkeypatch.setattr(rational_chain, "maximise", counted)
    random = np.random.default_rng(0)
    demands = random.integers(1, 100, (16, 3)) * (np.arange(16)[:, None] % 3 != np.arange(3))
    machines = [Machine(name, row) for name, row in zip("abcd", random.integers(500, 2000, (4, 3)), strict=True)]
    eligible = random.random((16, 4)) < 0.3
    eligible[np.arange(16), np.arange(16) % 4] = True
    weights = 10.0 ** random.permutation(np.linspace(0, 290, 16))
    instance = Instance(demands, machines=machines, eligible=eligible, weights=weights)
    assert solve(instance, "drf", exact=True).certificate.valid
    assert len(pivots) == 8 and sum(pivots) < 30
