"""Solvers of integer programs by name: all find the same, none is believed, and who is not here is refused."""

import math
from functools import cache
from pathlib import Path

import highspy
import numpy as np
import pytest
from whole_pools import tiny

from drfopt.base.deadline import Deadline, stopping
from drfopt.base.errors import EngineError, SolverError
from drfopt.base.solvers.table import DIRECT, SOLVERS, interface
from drfopt.certificates import whole
from drfopt.engines.whole import integer_program
from drfopt.engines.whole.integer_program import Model, UnfinishedProgram
from drfopt.model.instance import Instance
from drfopt.model.policies import policy_named
from drfopt.solving.allocating import solve

FAULT = Path(__file__).parent / "data" / "highs_presolve_fault.mps"


def here():
    """Return the solvers of the table that are on this machine; the two of the package's own needs are."""
    found = []
    for solver in SOLVERS:
        try:
            interface(solver.name)
        except EngineError:
            continue
        found.append(solver.name)
    assert {DIRECT, "highs-pulp", "cbc"} <= set(found)
    return found


HERE = here()


def fault(solver):
    """Return the counting program that HiGHS 1.15.1 calls infeasible when its presolve is on."""
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.readModel(str(FAULT))
    given = highs.getLp()
    whole = [kind == highspy.HighsVarType.kInteger for kind in given.integrality_]
    model = Model(solver, list(given.col_lower_), list(given.col_upper_), list(given.col_cost_), whole)
    terms = [{} for _ in range(given.num_row_)]
    matrix = given.a_matrix_
    for column in range(given.num_col_):
        for place in range(matrix.start_[column], matrix.start_[column + 1]):
            terms[matrix.index_[place]][column] = matrix.value_[place]
    for low, high, row in zip(given.row_lower_, given.row_upper_, terms, strict=True):
        model.row(low, high, row)
    return model


def knapsack(solver="PULP_CBC_CMD"):
    """Return a program: as much as possible of two columns, 3 and 2 units a piece, in 7 units."""
    model = Model(solver)
    columns = [model.column(5.0, -3.0), model.column(5.0, -2.0)]
    model.row(-math.inf, 7, {columns[0]: 3.0, columns[1]: 2.0})
    return model


@pytest.mark.parametrize("solver", HERE)
def test_a_program_that_a_presolve_calls_infeasible_has_a_solution(solver):
    model = fault(interface(solver))
    values = model.solve()
    assert values is not None, "an integer program that has a solution is called infeasible"
    assert model.value(values) == pytest.approx(4)


@cache
def directly(seed, machines, name):
    instance = tiny(seed, machines)
    found = solve(instance, name, integer=True, solver=DIRECT)
    assert found.certificate.valid
    return whole.score(instance, policy_named(name), found.tasks.tolist())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("solver", [name for name in HERE if name != DIRECT])
@pytest.mark.parametrize("machines", [False, True])
def test_every_solver_finds_the_same(solver, machines):
    for seed in range(6):
        instance = tiny(seed, machines)
        for name in ("drf", "asset", "ceei", "utilitarian"):
            policy = policy_named(name)
            found = solve(instance, name, integer=True, solver=solver)
            assert found.certificate.valid
            assert whole.score(instance, policy, found.tasks.tolist()) == directly(seed, machines, name), (seed, name)
            assert found.to_dict()["solver"] == solver
            assert f" by {solver}," in str(found)


def test_the_machines_of_the_paper_by_another_solver():
    allocation = solve(Instance.library("sec72"), integer=True, solver="cbc")
    assert sorted(allocation.tasks.tolist()) == [21] * 4 + [54] * 4
    assert (allocation.status, allocation.engine) == ("optimal", "leximin-milp")


# ---- nobody is believed -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (("infeasible", None), "infeasible that has a solution"),
        (("optimal", np.array([2.0, 1.0])), "makes 8 of a row"),
        (("optimal", np.array([1.0, 6.0])), "puts 6 where 0 to 5"),
        (("optimal", np.array([0.5, 1.0])), "a fraction where a whole number"),
        (("optimal", np.array([1.0, 1.0])), "worse than a point that is known"),
    ],
)
def test_a_solver_that_lies_is_found_out(monkeypatch, claim, message):
    monkeypatch.setattr(integer_program, "_through_pulp", lambda *given: claim)
    with pytest.raises(SolverError, match=message):
        knapsack().solve(start={0: 1.0, 1: 2.0})


def test_a_false_optimum_is_found_out_by_the_certificate(monkeypatch):
    # Nothing at all is feasible, and called the largest sum.
    monkeypatch.setattr(integer_program, "_through_pulp", lambda model, *given: ("optimal", np.zeros(len(model.low))))
    with pytest.raises(Exception, match="strictly better allocation"):
        solve(Instance.library("nsdi2011"), "utilitarian", integer=True, solver="cbc")


def test_no_solution_is_none_where_both_say_so():
    model = knapsack()
    model.row(9, math.inf, {0: 3.0, 1: 2.0})
    assert model.solve() is None


@pytest.mark.parametrize(("point", "kept"), [([1.0, 1.0], True), ([5.0, 5.0], False), (None, False)])
def test_out_of_time_only_a_feasible_point_is_kept(monkeypatch, point, kept):
    values = None if point is None else np.array(point)
    monkeypatch.setattr(integer_program, "_through_pulp", lambda *given: ("stopped", values))
    with pytest.raises(UnfinishedProgram) as caught:
        knapsack().solve()
    assert (caught.value.point is not None) == kept


@pytest.mark.parametrize("solver", HERE)
def test_the_time_limit_is_told_to_the_solver(solver):
    rng = np.random.default_rng(1)
    model = Model(interface(solver))
    columns = [model.column(1.0, 0.0) for _ in range(60)]
    over, under = model.column(math.inf, 1.0, whole=False), model.column(math.inf, 1.0, whole=False)
    # Sets of numbers with equal sums: out of reach of branching.
    for row in rng.integers(1, 100, (8, 60)).astype(float):
        terms = dict(zip(columns, row.tolist(), strict=True))
        model.row(row.sum() // 2, row.sum() // 2, terms | {over: -1.0, under: 1.0})
    deadline = Deadline.after(0.6)
    with pytest.raises(UnfinishedProgram):
        model.solve(deadline)
    assert not deadline.left()


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_solver_that_dies_is_no_answer(monkeypatch, interrupted):
    # Ctrl-C reaches the solver's process as well: then it was asked to stop, otherwise it failed.
    import pulp

    asked = []

    def dies(self, driver):
        asked.append(interrupted)
        raise pulp.PulpSolverError("Error while trying to execute")

    monkeypatch.setattr(pulp.LpProblem, "solve", dies)
    with stopping(lambda: any(asked)), pytest.raises(SolverError) as caught:
        knapsack().solve()
    assert isinstance(caught.value, UnfinishedProgram) == interrupted
    assert interrupted or "'PULP_CBC_CMD' failed on an integer program: Error while" in str(caught.value)


# ---- who is refused ---------------------------------------------------------------------------------------------


def test_an_unknown_solver_is_refused():
    with pytest.raises(EngineError, match=r"there is no solver 'cbx': did you mean 'cbc'\? \(known: highs, "):
        interface("cbx")


def test_a_solver_that_is_not_here_is_refused(monkeypatch):
    import pulp

    monkeypatch.setattr(pulp, "listSolvers", lambda onlyAvailable: ["HiGHS"] if onlyAvailable else ["HiGHS", "MOSEK"])
    for name in ("gurobi", "MOSEK"):
        with pytest.raises(
            EngineError, match=rf"solver '{name}' is not available on this machine \(available: highs, "
        ):
            interface(name)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({}, "ask for whole tasks"),
        ({"integer": True, "engine": "frontier"}, "engines that do: leximin-milp"),
    ],
)
def test_where_nobody_is_asked_a_solver_is_refused(how, message):
    with pytest.raises(EngineError, match=message):
        solve(Instance.library("nsdi2011"), solver="cbc", **how)


def test_a_solver_that_nobody_would_ask_is_called_as_it_was_and_may_be_left_out():
    with pytest.raises(EngineError, match="by integer programs of solver 'cbc': leave the solver out"):
        solve(Instance.library("nsdi2011"), "formulations/asset_integer.py", integer=True, solver="cbc")


def test_a_solver_that_must_leave_a_gap_is_refused(monkeypatch):
    import pulp

    class Rough:
        def __init__(self, msg=True):
            pass

    monkeypatch.setattr(pulp, "getSolver", lambda *given, **options: Rough())
    with pytest.raises(EngineError, match="cannot tell solver 'ROUGH' to leave no gap"):
        knapsack("ROUGH").solve()


def test_billions_of_tasks_beside_a_few_are_no_endless_program():
    # Met in a campaign: at a tolerance below the rounding of its largest column HiGHS 1.15.1 never came back.
    high = [1, 1, 1, 1, 1, 1, 2, 3, 4, 4_500_000_000, 3_000_000_000, 1, 1, 1, 1, 1, 1, 1]
    model = Model()
    for c, most in enumerate(high):
        model.column(most, float(c in (3, 4, 5)))
    model.rows = [
        (1, 1, {0: 1.0, 1: 1.0, 2: 1.0}),
        *((0, 1, {c: 1.0, c + 3: 1.0}) for c in range(3)),
        (0, 2, {6: 1.0}),
        (0, 9e9, {7: 3e9, 8: 2e9, 9: 1.0, 10: 3.0}),
        (0, 4.5e9, {9: 1.0, 10: 1.0}),
        (0, 1, dict.fromkeys(range(11, 18), 1.0)),
        (5, math.inf, {7: 1.0, 11: 2.0, 12: 1.0, 13: 1.0, 0: 3.0, 3: 1.0}),
        (5, math.inf, {8: 1.0, 12: 1.0, 14: 3.0, 15: 2.0, 16: 1.0, 1: 3.0, 4: 1.0}),
        (2, math.inf, {9: 1.0, 2: 1.0, 5: 1.0}),
        (1, math.inf, {6: 3.33e8, 10: 1.0, 12: 3.33e8, 13: 1e9, 15: 6.66e8, 16: 1.333e9, 17: 2e9, 2: 1.0}),
    ]
    point = model.solve()
    assert point is not None and model.value(point) == 1
