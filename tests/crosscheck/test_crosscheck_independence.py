"""What counts as agreement: two independent computations, at the promised accuracy; a millionth off is found out."""

import math
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from drfopt.base.errors import EngineError, FormulationError, PolicyError, SolverError
from drfopt.cli.app import app
from drfopt.engines.problem import Problem
from drfopt.engines.registry import engine_for
from drfopt.model.instance import Instance
from drfopt.model.policies import policy_named
from drfopt.solving.crosschecking import crosscheck
from drfopt.solving.methods import second_methods

# The package's attribute of this name is the function; the module is found by its import name.
MODULE = sys.modules["drfopt.solving.crosschecking"]
FORMULATIONS = Path(__file__).resolve().parents[2] / "formulations"
POOL = Instance([[1, 4], [3, 1], [2, 2]], [9, 18], max_tasks=[None, None, 1])
RACKS = Instance([[1, 2], [2, 1], [1, 1]], machines=[[4, 6], [6, 4]])

ASKED = [
    (instance, policy, integer)
    for instance in (POOL, RACKS)
    for policy in ("drf", "asset", "tasks", "tsf", "ceei", "alpha:2", "utilitarian", "throughput", "per-server")
    for integer in (False, True)
    if not (integer and policy in ("alpha:2", "per-server")) and not (policy == "per-server" and instance is POOL)
]


def answers(instance, policy, integer):
    """Return the names of all ways that answer."""
    found = crosscheck(instance, policy, integer=integer)
    assert found.agree is True, found
    return [answer.engine for answer in found.methods if answer.levels is not None]


def spoiled(monkeypatch, name, change):
    """Let one way of computing, by its name, say something else."""
    timed = MODULE._timed

    def other(called, compute, *arguments, **options):
        def says():
            levels, value, *author = compute()
            return *change(levels, value), *author

        return timed(called, says if called == name else compute, *arguments, **options)

    monkeypatch.setattr(MODULE, "_timed", other)


def off(factor):
    """Return the change of everybody's level and of the objective by a factor; of exact tuples the last entry's."""

    def change(levels, value):
        if value is None:
            return levels * factor, None
        exact = type(value) is not float
        return levels * factor, (*value[:-1], value[-1] * Fraction(factor)) if exact else value * factor

    return change


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("instance", "policy", "integer"), ASKED)
def test_every_way_that_is_off_by_a_millionth_is_found_out(instance, policy, integer, monkeypatch):
    for name in answers(instance, policy, integer):
        with monkeypatch.context() as patch:
            spoiled(patch, name, off(1 + 1e-6))
            found = crosscheck(instance, policy, integer=integer)
            assert found.agree is False, (name, found)
            assert name in (found.between.one, found.between.other)
            assert f"{found.max_disagreement:.1e}" in str(found)
            assert found.max_disagreement > 5e-7


def test_one_user_off_by_a_millionth_is_found_out(monkeypatch):
    def change(levels, value):
        return levels * np.where(np.arange(len(levels)) == 1, 1 + 1e-6, 1.0), value

    for policy in ("drf", "ceei"):
        for name in answers(POOL, policy, False):
            with monkeypatch.context() as patch:
                spoiled(patch, name, change)
                assert crosscheck(POOL, policy).agree is False, name


def test_the_same_levels_for_other_users_are_not_the_same(monkeypatch):
    spoiled(monkeypatch, "reference", lambda levels, value: (levels[::-1], value))
    assert crosscheck(POOL).agree is False


@pytest.mark.sampled(3)
@pytest.mark.parametrize("policy", ["drf", "asset", "tsf", "ceei"])
@pytest.mark.parametrize("factor", [0.9985, 1 + 1e-6, 1 - 1e-6, 1 + 1e-7])
def test_a_formulation_that_is_off_is_found_out(policy, factor, monkeypatch):
    file = str(FORMULATIONS / f"{policy}.py")
    spoiled(monkeypatch, file, off(factor))
    found = crosscheck(POOL, policy, formulation=file)
    assert found.agree is False
    assert found.max_disagreement > 0.99 * abs(factor - 1)


@pytest.mark.parametrize("policy", ["drf", "asset", "tsf", "ceei"])
@pytest.mark.parametrize("instance", [POOL, RACKS], ids=["pool", "machines"])
def test_a_formulation_is_held_to_the_promised_accuracy(policy, instance):
    found = crosscheck(instance, policy, formulation=str(FORMULATIONS / f"{policy}.py"))
    assert found.agree is True
    assert found.max_disagreement <= (1e-8 if policy == "ceei" else 1e-9)


def test_engines_that_share_what_decides_are_one_computation(monkeypatch):
    monkeypatch.setattr(second_methods, "METHODS", ())
    found = crosscheck(RACKS, "ceei")
    assert [answer.engine for answer in found.methods] == ["barrier", "decimal-barrier", "conic"]
    assert found.agree is None, "both end in the same Newton steps"
    assert crosscheck(POOL, "drf", integer=True).agree is None, "both sweep the same levels upwards"
    assert crosscheck(POOL, "ceei").agree is True, "newton has equations of its own"


def test_a_way_that_ends_in_the_same_engine_is_no_second_one(monkeypatch):
    again = second_methods.SecondMethod(
        "again", lambda problem: True, lambda problem: second_methods._exactly(problem), engine="rational-chain"
    )
    chain = replace(again, name="rational chain")
    monkeypatch.setattr(second_methods, "METHODS", (chain, again))
    monkeypatch.setattr(MODULE, "engines_for", lambda problem, exact: ())
    assert crosscheck(RACKS).agree is None


def test_a_search_that_falls_back_says_so(monkeypatch):
    from drfopt.certificates import meet_in_the_middle
    from drfopt.engines.whole import frontier
    from drfopt.solving.allocating import solve

    monkeypatch.setattr(meet_in_the_middle, "CHOICES", 0)
    assert solve(POOL, "ceei", integer=True).engine == "nash-milp"
    monkeypatch.setattr(frontier, "STEPS", 0)
    assert solve(Instance([[1], [1], [1]], [2]), integer=True).engine in ("frontier", "leximin-milp")


def test_who_fails_has_not_agreed(monkeypatch):
    def fails(levels, value):
        raise SolverError("no luck today")

    monkeypatch.setattr(second_methods, "METHODS", [row for row in second_methods.METHODS if row.name == "linprog"])
    names = answers(POOL, "utilitarian", False)
    spoiled(monkeypatch, names[0], fails)
    found = crosscheck(POOL, "utilitarian")
    assert found.agree is None
    assert "undecided" in str(found)


def test_who_fails_beside_two_others_is_named(monkeypatch):
    def fails(levels, value):
        raise SolverError("no luck today")

    spoiled(monkeypatch, "lp-chain", fails)
    found = crosscheck(POOL)
    assert found.agree is True
    assert "no answer of lp-chain" in str(found)


def test_what_solve_refuses_is_refused():
    with pytest.raises(PolicyError, match=r"path:1:1 .*is not defined for whole tasks"):
        crosscheck(POOL, "path:1:1", integer=True)


def run(*words):
    return CliRunner().invoke(app, list(map(str, words)))


BROKEN = "def build(data, held):\n    raise RuntimeError('on purpose')\n"
WRONG = (FORMULATIONS / "drf.py").read_text(encoding="utf-8").replace("g / a, s)", "0.9985 * g / a, s)")
LATE = (
    "import time\nimport pulp\nfrom typing import Any, NamedTuple\n\n"
    "class Program(NamedTuple):\n    problem: Any\n    tasks: Any\n    levels: None = None\n\n"
    "def build(data, held):\n    time.sleep(0.5)\n    problem = pulp.LpProblem('late', pulp.LpMaximize)\n"
    "    x = [pulp.LpVariable(f'x_{i}', 0, 1) for i in range(len(data.demands))]\n"
    "    problem += pulp.lpSum(x)\n    return Program(problem, x)\n"
)


def test_a_file_at_fault_is_named(tmp_path):
    file = tmp_path / "broken.py"
    file.write_text(BROKEN, encoding="utf-8")
    with pytest.raises(FormulationError, match=r"broken.py, line 2: RuntimeError: on purpose"):
        crosscheck(POOL, formulation=str(file))
    for words in (("--formulation", file), ("--policy", file)):
        assert run("crosscheck", "nsdi2011", *words).exit_code == 2
    assert run("crosscheck", "nsdi2011", "--formulation", tmp_path / "missing.py").exit_code == 2
    with pytest.raises(PolicyError, match="is no formulation: give the path"):
        crosscheck(POOL, formulation="drf")


def test_a_file_that_disagrees_or_has_no_answer(tmp_path):
    wrong, late = tmp_path / "wrong.py", tmp_path / "late.py"
    wrong.write_text(WRONG, encoding="utf-8")
    late.write_text(LATE, encoding="utf-8")
    found = run("crosscheck", "nsdi2011", "--formulation", wrong)
    assert found.exit_code == 1
    assert "differ by 1.5e-03" in found.output.replace("\n", " ")
    found = run("crosscheck", "nsdi2011", "--formulation", late, "--time-limit", "0.25")
    assert found.exit_code == 3
    assert "late.py gave no answer" in found.output.replace("\n", "")


def test_a_file_of_whole_tasks_is_not_beside_divisible_ones():
    file = str(FORMULATIONS / "drf_integer.py")
    with pytest.raises(FormulationError, match="its tasks are whole numbers: ask with integer=True"):
        crosscheck(POOL, formulation=file)
    assert crosscheck(POOL, integer=True, formulation=file).agree is True


def test_differences_of_exact_objectives_are_finite():
    assert MODULE._apart((3, 10), (3, 11)) == pytest.approx(1 / 11)
    assert MODULE._apart((2, 10), (3, 10)) == pytest.approx(1 / 3)
    assert 0 < MODULE._apart((1, 10**400), (1, 10**400 + 1)) < 1e-300
    assert MODULE._apart(1.0, 1.0) == 0
    assert math.isfinite(MODULE._apart((1,), (0,)))


def test_authors_are_engines():
    from drfopt.engines.registry import ENGINES

    assert set(second_methods.AUTHORS) <= {engine.name for engine in ENGINES}
    assert {method.engine for method in second_methods.METHODS} - {""} <= {engine.name for engine in ENGINES}
    for policy, method in (("drf", "rational chain"), ("ceei", "enclosure")):
        row = next(row for row in second_methods.METHODS if row.name == method)
        assert engine_for("auto", Problem(RACKS, policy_named(policy)), exact=True).name == row.engine


def test_fractions_that_no_engine_gives_are_no_agreement_of_floats(monkeypatch):
    pool = Instance.library("nsdi2011")
    with pytest.raises(EngineError, match="roots of degree 5,000"):
        crosscheck(pool, "alpha:0.1234", exact=True)
    solved = MODULE._solved

    def failing(problem, engine, time_limit, exact):
        if exact:
            raise SolverError("too narrow")
        return solved(problem, engine, time_limit, exact)

    monkeypatch.setattr(MODULE, "_solved", failing)
    found = crosscheck(pool, "ceei", exact=True)
    assert found.agree is None
    assert "undecided: enclosure gave no answer" in str(found)
