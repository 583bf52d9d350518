"""What stops users where nothing but the answer is known: formulation files, and every machine by itself."""

from pathlib import Path

import pytest

from drfopt import Instance, Machine, explain, size, solve
from drfopt.planning.changes import changed

FORMULATIONS = Path(__file__).parents[2] / "formulations"
PAPER, SERVERS = Instance.library("nsdi2011"), Instance.library("drfh-two-servers")
ONE_TASK = """\"\"\"Everybody has one task, whatever there is.\"\"\"
from typing import NamedTuple, Any
import cvxpy

class Model(NamedTuple):
    problem: Any
    tasks: Any
    levels: Any = None

def build(data, held):
    x = cvxpy.Variable(len(data.demands))
    return Model(cvxpy.Problem(cvxpy.Minimize(0), [x == 1]), x)
"""


def test_every_machine_by_itself_is_stopped_where_its_machines_are_full():
    found = explain(SERVERS, "per-server")
    assert [row.reason for row in found.users] == ["capacity", "capacity"]
    assert found["u1"].stopped_by == ("memory-rich/cpu", "cpu-rich/memory")
    for row, change in zip(found.users, ("add 1*memory-rich", "add 1*cpu-rich"), strict=True):
        after = solve(changed(SERVERS, [change]), "per-server").tasks[SERVERS.users.index(row.user)]
        assert row.remedy == f"{change} would give it {after:.6g} tasks instead of {row.tasks:.6g}"


def test_classes_that_are_closed_or_too_small_stop_nobody():
    machines = [
        Machine("a", {"cpu": 4, "gpu": 1}),
        Machine("b", {"cpu": 4, "gpu": 0}),
        Machine("c", {"cpu": 4, "gpu": 1}),
    ]
    users = {"A": {"cpu": 1, "gpu": 1}, "B": {"cpu": 1}}
    cluster = Instance(users, machines=machines, eligible={"A": ["a", "b"], "B": ["b"]})
    found = explain(cluster, "per-server")
    assert (found["A"].stopped_by, found["B"].stopped_by) == (("a/gpu",), ("b/cpu",))


@pytest.mark.parametrize(("name", "integer"), [("drf.py", False), ("drf_integer.py", True)])
def test_a_formulation_file_is_explained_as_the_policy_that_it_states(name, integer):
    stated = explain(PAPER, str(FORMULATIONS / name), integer=integer)
    known = explain(PAPER, "drf", integer=integer)
    for row, same in zip(stated.users, known.users, strict=True):
        assert (row.reason, row.stopped_by, row.others) == (same.reason, same.stopped_by, same.others)
        assert row.alone_level is None, "what its levels are only the file knows"
        assert row.remedy.endswith(f"instead of {same.tasks:.6g}")


def test_room_that_a_notion_leaves_is_the_notions(tmp_path):
    path = tmp_path / "one.py"
    path.write_text(ONE_TASK)
    found = explain(PAPER, str(path))
    assert {row.reason for row in found.users} == {"notion"}
    assert found["A"].remedy == f"there is room for more of its tasks, and {path} gives it none"
    assert "2 left where the notion wants them" in str(found)


@pytest.mark.parametrize(("name", "integer"), [("drf.py", False), ("drf_integer.py", True)])
def test_a_purchase_is_judged_by_a_formulation_file_as_by_the_policy_that_it_states(name, integer):
    terms = ("A>=5,B>=4", {"cpu": 1, "memory": 1})
    known = size(PAPER, *terms, steps={"cpu": 2, "memory": 4}, integer=integer)
    found = size(PAPER, *terms, steps={"cpu": 2, "memory": 4}, integer=integer, policy=str(FORMULATIONS / name))
    assert (found.cost, found.bound, found.status) == (known.cost, known.bound, known.status)
    assert "the formulation file's own claim" in str(found)


def test_a_target_that_a_files_solver_misses_by_its_last_digits_is_met():
    """Two more units of cpu give A its 11/3 tasks, and a solver says that a few billionths are missing."""
    cluster = Instance({"A": {"cpu": 3}}, {"cpu": 9})
    found = size(cluster, "A>=11/3", {"cpu": 1}, steps={"cpu": 1}, policy=str(FORMULATIONS / "ceei.py"))
    assert (found.cost, found.status) == (2, "optimal")
