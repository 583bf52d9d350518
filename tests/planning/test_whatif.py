"""What if: winners and losers exactly, and rounding makes nobody one."""

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drfopt import Organisation, what_if
from drfopt.base.errors import InstanceError
from drfopt.io.readers.asking import read
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.model.users import TaskType
from drfopt.planning.changes import Change, changed
from drfopt.planning.sweeping import axis_of, sweep
from drfopt.reporting.measures import measures
from drfopt.solving.allocating import solve

PAPER = Instance.library("nsdi2011")


def test_the_paper_with_another_weight():
    found = what_if(PAPER, ["set-weight A=2"])
    assert found.exact
    assert [(row.user, row.before, row.after, row.verdict) for row in found.users] == [
        ("A", 3, F(54, 13), "wins"),
        ("B", 2, F(18, 13), "loses"),
    ]
    assert (found.winners, found.losers) == (("A",), ("B",))
    document = found.to_dict()
    assert document["users"][0]["change"] == "15/13"
    assert document["totals"]["tasks"] == {"before": "5", "after": "72/13"}
    assert document["measured_in"] == {"cluster": "before the changes", "levels": "drf", "shares": "dominant"}
    assert "1 win, 1 lose, 0 keep what they have" in str(found)


def test_who_comes_and_goes():
    found = what_if(PAPER, [Change("remove-user", "A"), "add-user C{cpu=1}"])
    assert [(row.user, row.verdict, row.change) for row in found.users] == [
        ("A", "leaves", None),
        ("B", "loses", F(-1, 2)),
        ("C", "joins", None),
    ]


@pytest.mark.parametrize("policy", ["drf", "asset", "ceei", "tasks", "utilitarian", "alpha:2", "tsf"])
@pytest.mark.parametrize("exact", [False, True])
def test_nothing_changed_makes_no_winner(policy, exact):
    for name in ("nsdi2011", "drfh-two-servers"):
        found = what_if(Instance.library(name), [], policy, exact=exact)
        assert {row.verdict for row in found.users} == {"same"}
        assert not any(row.change for row in found.users)


@given(st.integers(0, 10**6))
@settings(max_examples=40)
def test_floats_and_fractions_agree_who_wins(seed):
    random = np.random.default_rng(seed)
    n, m = int(random.integers(2, 6)), int(random.integers(1, 4))
    demands = random.integers(0, 4, (n, m))
    demands[:, 0] += demands.sum(axis=1) == 0
    pool = Instance(demands.astype(float), random.integers(1, 9, m).astype(float))
    change = [f"set-weight u{random.integers(1, n + 1)}={random.integers(1, 4)}", f"add {random.integers(1, 3)}*r1"]
    floats, fractions = (what_if(pool, change, exact=exact) for exact in (False, True))
    assert [row.verdict for row in floats.users] == [row.verdict for row in fractions.users]


def test_whole_tasks():
    found = what_if(PAPER, ["add 3*cpu"], integer=True)
    assert found.exact
    assert [row.after for row in found.users] == solve(changed(PAPER, ["add 3*cpu"]), integer=True).tasks.tolist()
    assert "in whole tasks" in str(found)


def test_an_axis_is_read():
    machines = Instance.library("drfh-two-servers")
    axis, values = axis_of(PAPER, "cpu=9..18/3")
    assert (axis.at(values[1]), values) == (Change("set-capacity", "cpu=12"), (9, 12, 15, 18))
    assert axis_of(PAPER, "cpu=0.5..1.5/0.5")[1] == (F(1, 2), 1, F(3, 2))
    assert axis_of(PAPER, "cpu=1/2..3/2/1/2")[1] == (F(1, 2), 1, F(3, 2))
    assert axis_of(PAPER, "weight:A=1,3/2")[0].at(F(3, 2)) == Change("set-weight", "A=3/2")
    assert axis_of(machines, "cpu-rich=1..3/1")[0].at(F(2)) == Change("set-count", "cpu-rich=2")
    assert axis_of(machines, "cpu-rich/cpu=1,2")[0].at(F(2)) == Change("set-capacity", "cpu-rich/cpu=2")
    assert axis_of(machines, "scale:all=1,2")[0].at(F(2)) == Change("scale", "all=2")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cpu", "NAME=FROM..TO/STEP"),
        ("cpu=", "NAME=FROM..TO/STEP"),
        ("cpu=1..2", "has no step"),
        ("limit:A=0,none", "none is not one"),
        ("cpu=2..1/1", "has no values"),
        ("cpu=1..2/0", "has no values"),
        ("cpu=1..2/-1", "has no values"),
        ("cpu=1..1e9/1", "take a larger step"),
        ("cpu=one", "'one' is not a number"),
        ("cpus=1,2", r"nothing called 'cpus' to sweep over: did you mean 'cpu'\?"),
        ("xyz=1,2", r"there are cpu, .*capacity:, scale:, weight:"),  # a pool has no count:
    ],
)
def test_an_axis_that_is_none(text, message):
    with pytest.raises(InstanceError, match=message):
        axis_of(PAPER, text)


def test_resources_of_machines_are_multiplied():
    with pytest.raises(InstanceError, match="write scale:cpu="):
        axis_of(Instance.library("drfh-two-servers"), "cpu=1,2")


@pytest.mark.parametrize("axis", ["cpu=-1,1", "demand:A.cpu=1,-1/2", "weight:A=-1", "scale:cpu=-1"])
def test_a_sweep_is_over_amounts(axis):
    """A row of cpu -1 was that of one cpu less."""
    with pytest.raises(InstanceError, match=r"=-1(/2)?: a sweep is over amounts: give positive numbers"):
        sweep(PAPER, axis, jobs=1)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_sweep_is_one_solve_a_value(jobs):
    axis, values = axis_of(PAPER, "weight:A=1..3/1")
    found = sweep(PAPER, values, axis=axis, changes=["add 3*cpu"], jobs=jobs, exact=True)
    expected = [solve(changed(PAPER, ["add 3*cpu", f"set-weight A={w}"]), exact=True).tasks.tolist() for w in values]
    assert [allocation.tasks.tolist() for allocation in found.allocations] == expected
    assert found.to_dict()["changes"] == ["set-weight A=1", "set-weight A=2", "set-weight A=3"]
    assert "tasks of A" in str(found)


def test_openb_with_more_of_what_is_scarce(data_folder):
    folder = data_folder / "openb"
    openb = read("openb", [folder / "openb_node_list_all_node.csv", folder / "openb_pod_list_gpuspec33.csv"]).instance
    found = what_if(openb, ["add 10*T4-96cpu-384GiB-4gpu"])
    t4 = tuple(user for user in openb.users if user.endswith("-T4"))
    assert found.winners and set(found.winners) <= set(t4)
    assert not found.losers
    # The same in fractions: floats took nobody for a winner who is none.
    assert what_if(openb, ["add 10*T4-96cpu-384GiB-4gpu"], exact=True).winners == found.winners


# ---- a purchase never looks like a loss ------------------------------------------------------------


def test_a_purchase_that_takes_nothing_from_anybody_does_not_lower_the_lowest_level():
    """One has all it asked for, one takes what is left: of a larger cluster the first holds a smaller part."""
    cluster = Instance([[1.0], [1.0]], [10.0], max_tasks=[1, None])
    found = what_if(cluster, ["add 2*r1"])
    assert found.winners == ("u2",) and not found.losers
    assert found.after.levels.min() < found.before.levels.min()
    assert found.totals()["lowest level"] == (F(1, 10), F(1, 10))
    along = sweep(cluster, "r1=10,12,20", jobs=1)
    assert [totals["lowest level"] for totals in along.totals] == pytest.approx([0.1, 0.1, 0.1])
    assert [totals["sum of dominant shares"] for totals in along.totals] == pytest.approx([1, 1.2, 2])


def test_demand_met_stands_beside_the_levels():
    cluster = Instance([[1.0], [1.0]], [10.0], max_tasks=[4, 16])
    found = what_if(cluster, ["add 5*r1"])
    assert found.totals()["demand met"] == (pytest.approx(0.5), pytest.approx(0.75))
    assert "demand met: 50 % before, 75 % after" in str(found)
    assert what_if(Instance([[1.0]], [2.0]), ["add 1*r1"]).totals()["demand met"] == (None, None)
    assert [totals["demand met"] for totals in sweep(cluster, "r1=10,20", jobs=1).totals] == pytest.approx([0.5, 1])


OPENED = Instance(
    {"a": {"cpu": 1}, "b": {"cpu": 2}},
    machines=[Machine("m", {"cpu": 4}), Machine("k", {"cpu": 1})],
    eligible={"b": ["k"]},
)


@pytest.mark.parametrize("policy", ["drf", "ceei", "tsf"])
@pytest.mark.parametrize("integer", [False, True])
def test_who_fitted_nowhere_has_a_level_where_it_runs_tasks(policy, integer):
    found = what_if(OPENED, ["set-capacity k/cpu=2"], policy, integer=integer)
    assert found.totals()["lowest level"] == (pytest.approx(1), pytest.approx(0.4))
    assert "in the lowest level only where it fits, which is nowhere in the cluster unchanged: b" in str(found)
    along = sweep(OPENED, ["1", "2", "4"], policy=policy, integer=integer, jobs=1)
    assert [totals["lowest level"] for totals in along.totals] == pytest.approx([1, 0.4, 0.8])
    page = [measures(one, along.baseline) for one in along.allocations]
    assert [one.lowest for one in page] == pytest.approx([1, 0.4, 0.8])
    assert page[1].jain == pytest.approx(2**2 / (2 * (1.6**2 + 0.4**2)))
    assert along.sheet().notes[1].endswith("unchanged: b")


def test_the_lowest_level_where_nobody_fitted_and_of_what_there_was_none():
    nobody = Instance({"a": {"cpu": 2}, "b": {"cpu": 3}}, machines=[Machine("m", {"cpu": 1})], max_tasks={"a": 3})
    assert what_if(nobody, ["scale all=3"]).totals()["lowest level"] == (0, F(3, 2))
    pool = Instance({"a": {"cpu": 1}, "b": {"cpu": 1, "gpu": 1}}, {"cpu": 5, "gpu": 0})
    assert what_if(pool, ["set-capacity gpu=2"]).totals()["lowest level"] == (1, F(2, 7))
    # Who runs nothing but what was not there has no share in the cluster before, which is not one of 0.
    apart = Instance({"a": {"cpu": 1}, "b": {"gpu": 1}}, {"cpu": 5, "gpu": 0})
    found = what_if(apart, ["set-capacity gpu=2"])
    assert found.totals()["lowest level"] == (1, 1)
    assert "not in the lowest level, as its tasks have no level in the cluster unchanged: b" in str(found)
    assert what_if(apart, ["set-capacity gpu=2"], "tasks").totals()["lowest level"] == (5, 2)


def test_a_machine_that_makes_a_first_task_possible_is_no_loss_either():
    cluster = Instance(
        {"A": {"cpu": 1}, "huge": {"cpu": 9}}, machines=[Machine("m", {"cpu": 8}, 2)], max_tasks={"A": 4, "huge": 1}
    )
    found = what_if(cluster, ["add 1*big{cpu=10}"])
    before, after = found.totals()["lowest level"]
    assert found.before.unplaced == ("huge",) and not found.after.unplaced
    assert after >= before
    # And who loses its only machine has lost, though it is named instead of compared.
    lost = what_if(changed(cluster, ["add 1*big{cpu=10}"]), ["remove 1*big"])
    assert lost.totals()["lowest level"][1] == 0


@pytest.mark.parametrize("policy", ["drf", "asset", "ceei", "tsf", "tasks", "utilitarian", "alpha:2"])
@pytest.mark.parametrize("seed", range(6))
def test_where_nobody_loses_no_total_falls(policy, seed):
    random = np.random.default_rng(seed)
    cluster = Instance(
        random.integers(1, 6, (4, 2)), random.integers(20, 40, 2), max_tasks=random.integers(1, 12, 4).tolist()
    )
    found = what_if(cluster, [f"add {random.integers(1, 9)}*r{random.integers(1, 3)}"], policy)
    if not found.losers:
        for name, (before, after) in found.totals().items():
            assert float(after) >= float(before) * (1 - 1e-7), name


def test_levels_of_a_changed_user_are_of_the_weights_and_capacities_before():
    found = what_if(PAPER, ["set-weight A=2", "set-demand B.cpu=6", "add-user C{cpu=1}"])
    levels = found.baseline.levels(found.after)
    a, b, c = found.after.tasks
    assert levels.tolist() == pytest.approx([float(a) * 4 / 18, float(b) * 6 / 9, float(c) / 9])


def test_who_wanted_nothing_before_counts_when_it_wants_something():
    cluster = Instance({"A": {"cpu": 1}, "C": {"cpu": 1}}, {"cpu": 8}, max_tasks={"C": 0})
    assert what_if(cluster, ["set-limit C=1"]).totals()["lowest level"] == (1, F(1, 8))
    # A task that fits nowhere is nobody's level, whatever its limit.
    large = Instance({"A": {"cpu": 1}, "C": {"cpu": 9}}, machines=[Machine("m", {"cpu": 8})], max_tasks={"C": 0})
    assert what_if(large, ["set-limit C=1"]).totals()["lowest level"] == (1, 1)


def test_lowest_levels_of_an_organisation_are_those_of_solve():
    users = {"A": {"cpu": 1, "gpu": 1}, "B": {"cpu": 1}}
    for policy, rules in (
        ("ceei", Organisation(paths={"A": "g", "B": "g"})),
        ("drf", Organisation(excluded=("gpu",))),
        ("utilitarian", Organisation(excluded=("gpu",))),
    ):
        cluster = Instance(users, {"cpu": 8, "gpu": 2}, organisation=rules)
        for integer in (False, True):
            found = what_if(cluster, ["set-limit A=1"], policy, integer=integer)
            assert found.totals()["lowest level"][0] == pytest.approx(min(found.before.levels))


def test_a_user_who_runs_one_of_its_types_has_a_level():
    """Under rules too, though the other type fits nowhere."""
    types = [TaskType({"cpu": 1}, 3), TaskType({"cpu": 3}, 2)]
    cluster = Instance(
        {"A": types, "B": {"cpu": 1}},
        machines=[Machine("m", {"cpu": 2}, 2)],
        max_tasks={"B": 3},
        organisation=Organisation(tiers={"B": 1}),
    )
    assert solve(cluster, integer=True).levels.tolist() == [0.45, 0.75]
    assert "lowest level: 0.45 before, 0.45 after" in str(what_if(cluster, ["set-weight B=2"], integer=True))


@pytest.mark.parametrize("integer", [False, True])
def test_levels_of_machines_by_themselves_are_shares(integer):
    """Under groups and tiers too, where a market's levels are of incomes."""
    machine, paths = Machine("m", {"cpu": 12}), {"u1": "g", "u2": "g"}
    grouped = Instance([{"cpu": 1}] * 3, machines=[machine], organisation=Organisation(paths=paths))
    said = str(what_if(grouped, ["set-weight u3=3"], policy="per-server", integer=integer))
    assert "lowest level: 0.25 before, " in said
    weighted = Instance([[1, 0], [1, 0]], [4, 4], weights=[[1, 2], [1, 1]], organisation=Organisation(tiers={"u1": 1}))
    said = str(what_if(weighted, ["scale r1=2"], policy="per-server", integer=integer))
    assert "lowest level: 0 before, 0 after" in said
