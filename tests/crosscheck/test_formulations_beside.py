"""A formulation file asked beside the engines: held to its solver's tolerance, and found out where it is another."""

from pathlib import Path

import pytest

from benchmarks.families import cluster
from drfopt.model.instance import Instance
from drfopt.solving.allocating import solve
from drfopt.solving.crosschecking import crosscheck

FORMULATIONS = Path(__file__).resolve().parents[2] / "formulations"


@pytest.mark.parametrize("policy", ["drf", "asset", "tsf", "ceei"])
@pytest.mark.parametrize("name", ["nsdi2011", "cmmf-nested"])
def test_it_says_the_same(policy, name):
    found = crosscheck(Instance.library(name), policy, formulation=str(FORMULATIONS / f"{policy}.py"))
    assert found.agree is True
    stated = found.methods[-1]
    assert stated.engine.endswith(f"{policy}.py")
    assert "that it may be" in stated.reason


def test_another_notion_is_found_out():
    found = crosscheck(Instance.library("nsdi2011"), "drf", formulation=str(FORMULATIONS / "asset.py"))
    assert found.agree is False
    assert found.max_disagreement == pytest.approx(0.16), "what decided is told, not that the engines agree"
    assert "asset.py differ by 1.6e-01" in str(found)


def test_machines_are_asked_in_fractions_too():
    instance = Instance([[1, 1], [1, 2], [3, 1]], machines=[[4, 6], [6, 4]])
    found = crosscheck(instance, "drf")
    ways = ["interior-chain", "lp-chain", "one LP a user", "rational chain", "simplex in fractions"]
    assert [answer.engine for answer in found.methods] == ways
    assert found.agree is True


@pytest.mark.slow
def test_many_users_of_one_class_are_not_finished_before_their_time():
    """What forty users lose in a tolerance is more than a small one may have: nobody seems stuck, and yet some are."""
    found = crosscheck(cluster(40, 8, limited=False), formulation=str(FORMULATIONS / "drf.py"))
    assert found.agree is True


@pytest.mark.parametrize("machines", [None, [[3, 3], [3, 3]]])
def test_whole_tasks_of_users_who_are_alike_are_packed(machines):
    demands = [[1, 1], [1, 1], [2, 1], [1, 1]]
    instance = Instance(demands, [5, 6]) if machines is None else Instance(demands, machines=machines)
    mine = solve(instance, str(FORMULATIONS / "drf_integer.py"), integer=True)
    assert sorted(mine.levels) == pytest.approx(sorted(solve(instance, "drf", integer=True).levels))
