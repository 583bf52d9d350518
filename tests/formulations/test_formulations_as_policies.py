"""Formulation files where a policy has a name: whole tasks by themselves, in time, in true words, without a fault."""

import json
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from drfopt.axioms.auditing import audit
from drfopt.axioms.counterexamples.searching import search
from drfopt.axioms.counterexamples.space import Space
from drfopt.base.errors import EngineError, FormulationError, TimeLimitError
from drfopt.base.progress import reporting
from drfopt.cli.app import app
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.model.users import TaskType
from drfopt.solving.allocating import in_whole_tasks, solve
from drfopt.solving.comparing import compare

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:Solution may be inaccurate")

FOLDER = Path(__file__).resolve().parents[2] / "formulations"
DIVISIBLE, WHOLE = str(FOLDER / "drf.py"), str(FOLDER / "drf_integer.py")
POOL = Instance([[1, 4], [3, 1]], [9, 18], users=["x", "y"], resources=["cpu", "mem"], max_tasks=[None, 3])
RACKS = Instance(
    [[1, 2], [2, 1]], machines=[[4, 6], [6, 4]], users=["x", "y"], resources=["cpu", "mem"], max_tasks=[None, 3]
)
HEAD = (
    "from typing import Any, NamedTuple\nimport time\nimport numpy as np\nimport pulp\nimport cvxpy as cp\n\n"
    "class Program(NamedTuple):\n    problem: Any\n    tasks: Any\n    levels: Any = None\n\n"
    "def build(data, held):\n    n = len(data.demands)\n"
)


def run(*words):
    return CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)


def written(folder, name, body):
    file = folder / f"{name}.py"
    file.write_text(HEAD + "".join(f"    {line}\n" for line in body), encoding="utf-8")
    return str(file)


# ---- whole tasks ---------------------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("instance", [POOL, RACKS], ids=["pool", "machines"])
@pytest.mark.parametrize("file", sorted({*FOLDER.glob("*.py")} - {FOLDER / "rounds.py"}), ids=lambda file: file.stem)
def test_integer_variables_are_whole_tasks(file, instance):
    if file.stem == "hierarchy" and instance is RACKS:
        pytest.skip("a notion of one pool")
    whole = file.stem.endswith("_integer")
    assert in_whole_tasks(instance, str(file)) is whole, "hierarchy has integer variables, and divisible tasks"
    found = solve(instance, str(file))
    assert found.integer is whole
    assert f"{'whole' if whole else 'divisible'} tasks" in str(found)


def test_parts_of_integer_variables_are_not_whole(tmp_path):
    half = written(
        tmp_path,
        "half",
        [
            "problem = pulp.LpProblem('half', pulp.LpMaximize)",
            "y = [pulp.LpVariable(f'y_{i}', 0, 3, cat='Integer') for i in range(n)]",
            "problem += pulp.lpSum(y)",
            "return Program(problem, [0.5 * x for x in y])",
        ],
    )
    found = solve(Instance([[1], [1]], [9]), half)
    assert not found.integer
    assert found.tasks.tolist() == [1.5, 1.5]
    whole = written(
        tmp_path,
        "whole",
        [
            "x = cp.Variable(n, integer=True)",
            "return Program(cp.Problem(cp.Maximize(cp.sum(x)), [x >= 0, data.demands.T @ x <= data.capacity]), 1 * x)",
        ],
    )
    assert solve(Instance([[2], [2]], [9]), whole).integer


# ---- words and statuses --------------------------------------------------------------------------------------------


def test_what_is_best_is_the_files_own_claim():
    found = run("solve", "nsdi2011", "--policy", DIVISIBLE)
    assert found.exit_code == 0
    last = found.output.strip().splitlines()[-1]
    assert last.startswith("solved; certificate (feasibility) feasible, and what is best is the file's own claim")
    assert "optimal" not in found.output
    document = json.loads(run("solve", "nsdi2011", "--policy", WHOLE, "--json").output)
    assert (document["status"], document["integer"]) == ("solved", True)
    assert document["certificate"]["valid"] is None


def test_equal_spending_shows_what_is_spent():
    paper = Instance.library("nsdi2011")
    assert solve(paper, str(FOLDER / "asset_equality.py")).levels == pytest.approx([0.84, 0.84])
    assert solve(paper, str(FOLDER / "drf_equality.py")).levels == pytest.approx([2 / 3, 2 / 3])
    weighted = Instance([[1, 4], [3, 1]], [9, 18], weights=[2, 1])
    levels = solve(weighted, str(FOLDER / "asset_equality.py")).levels
    assert levels == pytest.approx(levels[0], rel=1e-9)


@pytest.mark.parametrize("file", [DIVISIBLE, WHOLE])
@pytest.mark.parametrize("integer", [False, True])
def test_a_file_is_not_solved_in_fractions(file, integer):
    with pytest.raises(EngineError, match="is solved as it is written, in floats"):
        solve(POOL, file, exact=True, integer=integer)


# ---- every command -------------------------------------------------------------------------------------------------

COMMANDS = [
    ("solve",),
    ("solve", "--integer"),
    ("solve", "--exact"),
    ("solve", "--integer", "--exact"),
    ("compare", "--policies", "drf,FILE"),
    ("compare", "--policies", "drf,FILE", "--integer"),
    ("crosscheck",),
    ("crosscheck", "--integer"),
    ("schedule",),
    ("audit",),
    ("audit", "--integer"),
    ("explain",),
    ("whatif", "--set-weight", "x=2"),
    ("price",),
    ("size", "--target", "x>=5", "--cost", "cpu=1,mem=1"),
    ("rebalance", "--current", "CURRENT"),
    ("sweep",),
    ("report", "-o", "REPORT", "--policies", "FILE"),
    ("report", "-o", "REPORT", "--policies", "drf,FILE", "--integer"),
    ("export", "--to", "csv"),
]
REFUSED = ("schedule", "price", "rebalance")


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("instance", [POOL, RACKS], ids=["pool", "machines"])
@pytest.mark.parametrize("stem", ["drf", "drf_integer", "ceei_integer", "efficient_sharing", "guarantees"])
def test_every_command_answers_or_says_why_not(stem, instance, words, tmp_path):
    file, cluster, today = str(FOLDER / f"{stem}.py"), tmp_path / "cluster.toml", tmp_path / "today.json"
    instance.save(cluster)
    today.write_text('{"tasks": {"x": 1}}', encoding="utf-8")
    put = {"FILE": file, "CURRENT": str(today), "REPORT": str(tmp_path / "report.html")}
    command, *rest = words
    for name, value in put.items():
        rest = [word.replace(name, value) for word in rest]
    policy = [] if "--policies" in rest else ["--policy", file]
    found = CliRunner().invoke(app, [command, str(cluster), *policy, *rest])
    assert "at fault" not in found.output
    if command in REFUSED or "--exact" in rest:
        assert found.exit_code == 2
    assert found.exit_code in (0, 1, 2, 3)
    if found.exit_code == 2:
        assert len(found.output.strip().splitlines()) == 1, found.output


def test_a_rule_of_a_simulation_is_no_file():
    found = run("simulate", "two-users", "--rule", DIVISIBLE)
    assert found.exit_code == 2
    assert "there is no rule" in found.output


def test_whole_tasks_of_a_file_on_machines_are_audited():
    found = audit(RACKS, WHOLE, "envy-freeness")
    assert found.integer
    assert found.results[0].verdict


def test_a_search_is_in_the_tasks_of_the_file():
    space = Space(2, 1, 2, 2)
    assert ", whole tasks" in str(search(str(FOLDER / "ceei_integer.py"), "pareto-efficiency", space))
    assert ", divisible tasks" in str(search(DIVISIBLE, "pareto-efficiency", Space(1, 1, 1, 1)))


def test_the_noise_of_a_solver_is_no_violation(tmp_path):
    """The market gives just 1/2 and 1/4; Clarabel 2e-6 less or more, which is nobody's loss."""
    cluster = Instance([[1, 1], [1, 2]], [1, 1])
    properties = ["sharing-incentive", "bottleneck-fairness", "no-justified-complaints", "strategy-proofness"]
    found = audit(cluster, str(FOLDER / "ceei.py"), properties)
    assert not found.failed
    found = audit(cluster, written(tmp_path, "most", ["x = cp.Variable(n, nonneg=True)", MOST]), properties[0])
    assert "user u2 runs 0 tasks" in str(found.failed[0])
    assert "beyond an error of 0.0001 of the tasks, which is granted to a formulation" in str(found)


def test_whole_and_divisible_tasks_side_by_side():
    found = compare(RACKS, ["drf", WHOLE])
    assert [allocation.integer for allocation in found.allocations] == [False, True]
    assert "whole tasks, for their tasks are integer variables: " in str(found).replace("\n", " ")
    assert not found.failed
    found = compare(RACKS, ["drf", WHOLE], integer=True)
    assert set(found.integrality) == {"drf"}
    assert found.price_of_fairness[WHOLE] == pytest.approx(found.price_of_fairness["drf"])


def test_a_file_at_fault_is_a_failure_of_the_comparison(tmp_path):
    broken = written(tmp_path, "broken", ["raise RuntimeError('on purpose')"])
    found = compare(POOL, ["drf", broken])
    assert found.failed
    assert "line 14: RuntimeError: on purpose" in found.refusals[broken]


def test_columns_without_an_upper_bound_are_solved_to_the_optimum():
    """HiGHS 1.15.1 without presolve calls two tasks of the last user optimal; one of each of two users is."""
    instance = Instance(
        [[2, 3], [3, 2], [3, 3], [3, 0]],
        machines=[Machine("a", [4, 5], 2), Machine("b", [1, 1], 2)],
        weights=[1, 2, 1, 3],
        max_tasks=[None, None, None, 2],
    )
    for policy in ("ceei", str(FOLDER / "ceei_integer.py")):
        assert int((solve(instance, policy, integer=True).tasks > 0).sum()) == 2


def test_how_large_a_program_is_is_told_before_it_starts():
    told = []
    with reporting(told.append):
        solve(POOL, WHOLE)
    assert (
        told[0] == f"{WHOLE}: 2 whole numbers, 1 others and 5 rows a program; a time limit ends it with what is known"
    )


# ---- in time -------------------------------------------------------------------------------------------------------


def spent(*words):
    begun = time.monotonic()
    found = run(*words)
    return found, time.monotonic() - begun


@pytest.mark.slow
def test_a_long_program_ends_in_time_with_what_is_known():
    """Two jobs on 48 machines: the counting of whole tasks runs past ten minutes."""
    found, seconds = spent("solve", "sec71-phase3", "--policy", WHOLE, "--time-limit", 6, "--json")
    assert found.exit_code == 3
    assert seconds < 120
    document = json.loads(found.output)
    assert document["status"] == "time_limit"
    assert "the time limit ran out" in document["certificate"]["reason"]
    assert sum(user["tasks"] for user in document["users"]) > 0


@pytest.mark.parametrize("pause", [0, 1])
def test_all_rounds_together_have_the_time(tmp_path, pause):
    """The first round is done at once, and the next takes longer than the time that is left, on any machine."""
    rounds = written(
        tmp_path,
        "rounds",
        [
            f"time.sleep(0 if np.isnan(held).all() else {pause})",
            "x, t = cp.Variable(n, nonneg=True), cp.Variable()",
            "free = np.isnan(held)",
            "rows = [x >= np.nan_to_num(held) + free * t, data.demands.T @ x <= data.capacity, x <= data.limits]",
            "return Program(cp.Problem(cp.Maximize(t if free.any() else 0), rows), 1 * x, 1 * x)",
        ],
    )
    instance = Instance([[1], [1], [1]], [6], max_tasks=[1, 2, 9])
    if not pause:
        assert solve(instance, rounds).tasks == pytest.approx([1, 2, 3])
        return
    begun = time.monotonic()
    try:
        found = solve(instance, rounds, time_limit=0.8)
        assert found.status == "time_limit"
        assert not found.finished
        assert (found.tasks >= 1 - 1e-6).all()
        assert "the best tasks that it gave" in str(found)
    except TimeLimitError as error:
        assert "the time limit ran out" in str(error)
    assert time.monotonic() - begun < 60


MOST = "return Program(cp.Problem(cp.Maximize(cp.sum(x)), [data.demands.T @ x <= data.capacity]), x)"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["raise SystemExit(0)"], "line 14: SystemExit: 0"),
        (["x = cp.Variable(n)", MOST.replace("cp.sum(x)", "x[0] - x[1]").replace("]), x", ", x >= -1, x <= 2]), x")],
         "user 'y' has -1 tasks: declare them nonnegative"),
        (["x = cp.Variable(n)", MOST.replace("Maximize", "Minimize")], "minimises what has no least value"),
        (["x = cp.Variable(n)", MOST.replace("]), x", ", x >= 0][1:]), x")], "else is maximised, must be bounded"),
        (["x = [pulp.LpVariable(f'x{i}', 0, 1) for i in range(n)]", "p = pulp.LpProblem('p', pulp.LpMaximize)",
          "p += pulp.lpSum(x)", "return Program(p, x[1:] + ['a'])"],
         "ValueError: could not convert string to float: 'a'"),
    ],
    ids=["exits", "negative", "minimised", "unbounded", "text"],
)  # fmt: skip
def test_a_file_at_fault_is_told_so(tmp_path, lines, words):
    with pytest.raises(FormulationError, match=words):
        solve(POOL, written(tmp_path, "fault", lines))
    for command in (["crosscheck", "nsdi2011", "--formulation"], ["audit", "nsdi2011", "-p"]):
        assert run(*command, written(tmp_path, "fault", lines)).exit_code == 2


def test_a_fault_has_its_line_however_the_file_is_named(tmp_path, monkeypatch):
    whole = Path(written(tmp_path, "fault", ["raise ValueError('on purpose')"]))
    (tmp_path / "wrong.py").write_text("x = (\n")
    (tmp_path / "asks.py").write_text("x = 1\n\nimport wrong\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in (str(whole), whole.name, f"./{whole.name}"):
        with pytest.raises(FormulationError, match=f"{name}, line 14: ValueError: on purpose"):
            solve(POOL, name)
    # A fault in a file that it asks for is told where it asks.
    with pytest.raises(FormulationError, match=r"asks.py, line 3: SyntaxError: .*\(wrong.py, line 1\)"):
        solve(POOL, "asks.py")


def test_all_that_cvxpy_says_of_a_program_is_told(tmp_path):
    lines = ["x = cp.Variable(n, nonneg=True)", MOST.replace("cp.sum(x)", "cp.square(x[0])")]
    with pytest.raises(FormulationError, match=r"DCPError: .* Specifically: The objective is not DCP"):
        solve(POOL, written(tmp_path, "convex", lines))


def test_what_a_file_prints_is_no_part_of_the_answer(tmp_path):
    lines = ["print('as I said')", "x = cp.Variable(n, nonneg=True)", "import sys", "sys.stdout.close()", MOST]
    found = run("solve", "nsdi2011", "--json", "-p", written(tmp_path, "says", lines))
    assert found.exit_code == 0
    assert json.loads(found.stdout)["status"] == "solved"
    assert "as I said" in found.stderr


@pytest.mark.parametrize("before", ["", "try:\n        while True: pass\n    except Exception: pass\n    "])
def test_a_file_that_never_ends_is_ended(tmp_path, before):
    """Also one that goes on after it was told: it is told again."""
    with pytest.raises(TimeLimitError, match=r"the time limit ran out in .*endless\.py"):
        solve(POOL, written(tmp_path, "endless", [f"{before}while True: pass"]), time_limit=0.2)


def test_levels_may_be_below_0(tmp_path):
    """Logarithms of tasks: largest where the tasks are, and both levels are held."""
    rows = "data.demands.T @ x <= data.capacity, x <= data.limits, cp.log(x) >= np.where(free, -99, held) + free * t"
    lines = [
        "x, t, free = cp.Variable(n, nonneg=True), cp.Variable(), np.isnan(held)",
        f"rows = [{rows.replace('free * t', 'cp.multiply(free, t + 99)')}]",
        "return Program(cp.Problem(cp.Maximize(t if free.any() else 0), rows), x, cp.log(x))",
    ]
    found = solve(Instance([[1], [1], [1]], [1], max_tasks=[0.2, 9, 9]), written(tmp_path, "logarithm", lines))
    assert found.tasks == pytest.approx([0.2, 0.4, 0.4], rel=1e-4)
    assert found.levels == pytest.approx(np.log([0.2, 0.4, 0.4]), rel=1e-4)


def test_what_a_solver_leaves_is_a_point_only_if_it_keeps_the_rows(tmp_path, monkeypatch):
    import pulp

    from drfopt.base.deadline import Deadline
    from drfopt.engines.formulation import modelling

    problem = pulp.LpProblem("late", pulp.LpMaximize)
    x = pulp.LpVariable("x", 1, 4, cat="Integer")
    problem += x
    problem += 2 * x <= 5

    def gives_up(left):
        def solved(self, solver):
            x.varValue, self.status, self.sol_status = left, pulp.LpStatusOptimal, pulp.LpSolutionIntegerFeasible

        return solved

    for left, status in ((2.0, "feasible"), (3.0, "stopped"), (None, "stopped")):
        monkeypatch.setattr(pulp.LpProblem, "solve", gives_up(left))
        assert modelling.SOLVERS["pulp"](problem, Deadline.after(1.0)) == status
    assert np.isfinite(modelling.LEAST)


def test_cvxpy_is_told_the_time(monkeypatch):
    import cvxpy as cp

    from drfopt.base.deadline import Deadline
    from drfopt.engines.formulation import modelling

    told = []
    solve = cp.Problem.solve

    def listening(problem, *given, **named):
        told.append(named)
        return solve(problem, *given, **named)

    monkeypatch.setattr(cp.Problem, "solve", listening)
    x = cp.Variable(2, nonneg=True)
    for objective in (cp.sum(x), cp.sum(cp.log(x))):
        model = cp.Problem(cp.Maximize(objective), [cp.sum(x) <= 1])
        assert modelling.SOLVERS["cvxpy"](model, Deadline.after(20.0)) == "optimal"
    # What the solver makes of a moment that has passed depends on how fast it is: that it was told does not.
    modelling.SOLVERS["cvxpy"](model, Deadline(0.0))
    limits = [[value for key, value in named.items() if "time" in key] for named in told]
    assert all(len(limit) == 1 for limit in limits), told
    assert 0 < limits[-1][0] < limits[0][0] <= 20


# ---- task types on machines -----------------------------------------------------------------------------------------

TYPED = Instance(
    {
        "x": [TaskType({"cpu": 1, "mem": 2}, 2, ["a"]), TaskType({"cpu": 2}, 1)],
        "y": {"cpu": 2, "mem": 1},
        "z": [TaskType({"cpu": 1}, 1, ["b"]), TaskType({"mem": 1}, 3)],
    },
    machines=[Machine("a", {"cpu": 4, "mem": 7}, 2), Machine("b", {"cpu": 2, "mem": 5})],
    max_tasks={"x": 3, "z": 4},
    weights={"y": 2},
)


def test_types_of_divisible_tasks_are_told_to_the_file():
    for count in (1, 2, 5):
        machines = [Machine("a", {"cpu": 4, "mem": 7}, count), Machine("b", {"cpu": 2, "mem": 5})]
        instance = Instance(**(TYPED.parts() | {"machines": machines}))
        found, engine = solve(instance, DIVISIBLE), solve(instance)
        assert found.tasks == pytest.approx(engine.tasks, rel=1e-7), count
        assert found.levels == pytest.approx(engine.levels, rel=1e-7)
        assert found.placed_by_type is not None and found.certificate.violation <= 1e-9
    assert audit(TYPED, DIVISIBLE)["pareto-efficiency"].verdict == "holds"


def test_a_file_that_does_not_ask_for_types_is_refused():
    with pytest.raises(FormulationError, match=r"no use of task types on machines \(data.kind_parts\).*drf.py"):
        solve(TYPED, str(FOLDER / "ceei.py"))
