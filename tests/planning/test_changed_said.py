"""What comparisons and sweeps say where users come and go, rules are promised later, and levels are not of `drf`."""

from fractions import Fraction as F

import pytest

from drfopt import Instance, Machine, Organisation, TaskType, report, solve, sweep, what_if
from drfopt.io.native import reading
from drfopt.planning.before_and_after import WhatIf
from drfopt.reporting.figures.changes import figure
from drfopt.reporting.whatifs import sweep_to_dict, whatif_to_dict

PAIR = Instance({"A": {"cpu": 1}, "B": {"cpu": 2}}, {"cpu": 8})


def test_a_sweep_has_a_column_for_everybody_who_is_there_at_some_value():
    gone = sweep(PAIR, "cpu=6,9", changes=["remove-user A"], jobs=1).sheet()
    assert [column.heading for column in gone.columns if "of " in column.heading][1:] == ["tasks of B"]
    assert [row[5] for row in gone.rows] == [3, 4.5]
    come = sweep(PAIR, "cpu=6,9", changes=["add-user C{cpu=1}"], jobs=1)
    assert "tasks of C" in str(come) and len(come.sheet().rows[0]) == len(come.sheet().columns)


@pytest.mark.parametrize("policy", ["ceei", "alpha:2"])
def test_who_stays_in_a_group_has_the_income_that_it_had(policy):
    """Its level is of half of the group's, though the other half's owner has left."""
    cluster = Instance(
        {"A": {"cpu": 1}, "B": {"cpu": 1}},
        {"cpu": 4},
        max_tasks={"A": 1},
        organisation=Organisation(paths={"A": "g", "B": "g"}),
    )
    found = what_if(cluster, ["remove-user B"], policy)
    # One task of four cpu over half of the group's income, before and after.
    assert found.totals()["lowest level"][1] == pytest.approx(0.5)


def test_who_has_just_what_is_promised_is_the_lowest_where_levels_are_above_that():
    rules = Organisation(guarantees={"A": {"cpu": 4}}, meaning="surplus")
    cluster = Instance({"A": {"cpu": 1}, "B": {"cpu": 1}}, {"cpu": 8}, max_tasks={"A": 4}, organisation=rules)
    assert solve(cluster).levels.tolist() == [0, 0.5]
    assert what_if(cluster, ["set-weight B=2"]).totals()["lowest level"] == (0, 0)


@pytest.mark.parametrize(("meaning", "tasks"), [("floor", [4, 4]), ("surplus", [5, 3]), ("normalised", [2, 6])])
def test_what_a_guarantee_means_is_kept_where_nothing_is_promised_yet(meaning, tasks):
    text = f'guarantees = "{meaning}"\n[capacity]\ncpu = 8\n[[users]]\nname = "A"\ndemand = {{ cpu = 1 }}\n'
    cluster = reading.loads(text + '[[users]]\nname = "B"\ndemand = { cpu = 1 }\n', "toml", "here")
    assert "organisation" not in cluster.features and solve(cluster).tasks.tolist() == [4, 4]
    assert what_if(cluster, ["set-guarantee A.cpu=2"]).after.tasks.tolist() == tasks


def test_levels_of_several_types_alone_are_the_same_before_and_after():
    types = [TaskType({"cpu": 1}, 1), TaskType({"mem": 1}, 1)]
    machines = [Machine("x", {"cpu": 4, "mem": 0}), Machine("y", {"cpu": 1, "mem": 2})]
    cluster = Instance({"A": types, "B": {"cpu": 1}}, machines=machines, max_tasks={"B": 1})
    found = what_if(cluster, ["set-demand B.mem=0", "set-weight B=1", "add-user C{cpu=1;max_tasks=1}"], "tsf")
    assert found.baseline.levels(found.after)[0] == found.before.levels[0]


def test_who_could_run_nothing_alone_has_no_task_share():
    pool = Instance({"a": {"mem": 1}, "b": {"cpu": 1, "mem": 1}}, {"cpu": 0, "mem": 4})
    found = what_if(pool, ["set-capacity cpu=2"], "tsf")
    assert found.totals()["lowest level"] == (1, F(2, 3))
    assert "not in the lowest level, as its tasks have no level in the cluster unchanged: b" in str(found)


@pytest.mark.parametrize("policy", ["asset", "tasks", "tsf"])
def test_on_a_page_levels_are_dominant_shares_over_weights_whatever_the_policy(policy):
    cluster = Instance({"A": {"cpu": 1, "mem": 1}, "B": {"cpu": 2}}, {"cpu": 8, "mem": 4}, weights={"B": 2})
    swept, compared = (
        sweep_to_dict(sweep(cluster, "cpu=8", policy=policy, jobs=1)),
        whatif_to_dict(what_if(cluster, ["add 1*cpu"], policy)),
    )
    a, b = solve(cluster, policy).tasks
    lowest = min(a / 4, b * 2 / 8 / 2)
    assert swept["steps"][0]["lowest"] == pytest.approx(lowest)
    assert compared["totals"][0]["lowest level"] == pytest.approx(lowest)
    assert swept["measured_in"]["levels"] == compared["measured_in"]["levels"] == "drf"


def test_one_wins_and_two_lose():
    one = Instance([[1], [1], [1]], [6], users=["A", "B", "C"])
    assert (
        figure(whatif_to_dict(what_if(one, ["set-weight A=2"])), 1).alternative
        == "1 user wins and 2 lose; from -25 % to 50 %."
    )
    assert figure(whatif_to_dict(what_if(one, ["add 3*r1"])), 1).alternative == "3 users win and 0 lose; by 50 %."
    assert (
        figure(whatif_to_dict(what_if(one, ["set-limit B=1"])), 1).alternative
        == "2 users win and 1 loses; from -50 % to 25 %."
    )


def test_a_page_says_what_is_open_to_choice_or_not_proven(monkeypatch):
    page = report(PAIR, ["drf"], integer=True, sweeps=["cpu=8"], what_ifs=["add 1*cpu"])
    assert "optima in whole tasks need not be unique" in page.html and page.complete
    monkeypatch.setattr(WhatIf, "finished", property(lambda self: False))
    assert not report(PAIR, ["drf"], integer=True, what_ifs=["add 1*cpu"]).complete
