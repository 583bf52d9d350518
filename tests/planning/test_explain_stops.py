"""What explain and whatif say where a user's own ceiling, its number of tasks, a sum or an enclosure is in play."""

import re

import pytest

from drfopt import CertificateError, Instance, Machine, Organisation, PolicyError, TaskType, explain, solve, what_if
from drfopt.base.numbers.enclosures import Enclosure

ROWS = {"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 2, "memory": 1}}
ROOM = {"cpu": 9, "memory": 18}
TYPES = {"A": [TaskType({"cpu": 1}, 3), TaskType({"memory": 2}, 1)], "B": {"cpu": 1}}


@pytest.mark.parametrize("policy", ["drf", "ceei", "utilitarian"])
@pytest.mark.parametrize("cluster", [{"capacity": ROOM}, {"machines": [Machine("m", ROOM)]}])
def test_an_own_ceiling_is_named_and_what_raising_it_brings(policy, cluster):
    found = explain(Instance(ROWS, **cluster, organisation=Organisation(ceilings={"A": {"cpu": 1}})), policy, "A")
    row = found.users[0]
    assert row.reason == "ceiling"
    will = "could" if policy == "utilitarian" else "would"  # of several best sums one is told
    assert row.remedy.startswith(f"raise its ceiling: without one it {will} have") and row.remedy.endswith(
        "instead of 1"
    )


def test_a_sum_that_a_higher_limit_does_not_raise_is_said_to_be_as_large():
    rules = Organisation(guarantees={"A": {"cpu": 0}})
    users, limits = {"A": {"cpu": 1}, "B": {"cpu": 1}}, {"B": 1}
    found = explain(Instance(users, {"cpu": 3}, max_tasks=limits, organisation=rules), "throughput", "B").users[0]
    assert found.remedy == "its limit stops it, and the sum would be no larger without one"
    found = explain(Instance(users, {"cpu": 3}, max_tasks={"A": 1, "B": 1}, organisation=rules), "throughput", "B")
    assert re.fullmatch("raise its limit of 1: without one it could have [23] tasks", found.users[0].remedy)


def test_a_ceiling_of_what_a_user_does_not_need_stops_nobody():
    rules = Organisation(ceilings={"A": {"gpu": 0}})
    row = explain(Instance(ROWS, ROOM | {"gpu": 1}, organisation=rules), "drf", "A").users[0]
    assert (row.reason, row.stopped_by) == ("capacity", ("cpu",))


@pytest.mark.parametrize("policy", ["utilitarian", "throughput"])
def test_types_on_machines_under_a_sum(policy):
    cluster = Instance(TYPES, machines=[Machine("m", {"cpu": 2, "memory": 9})])
    for row in explain(cluster, policy).users:
        assert row.reason != "efficiency" or "owes nobody anything" in row.remedy


@pytest.mark.parametrize("cluster", [{"capacity": ROOM}, {"machines": [Machine("m", ROOM)]}])
def test_who_runs_all_its_types_is_not_told_to_raise_a_limit(cluster):
    row = explain(Instance(TYPES, **cluster), "drf", "A").users[0]
    assert (row.reason, row.remedy) == ("met", "all of its 4 tasks run")


def test_a_count_of_tasks_is_not_called_a_limit():
    with pytest.raises(PolicyError, match="knows no count of tasks on all of them, but user 'A' has one"):
        solve(Instance(TYPES, machines=[Machine("m", ROOM)]), "per-server")


def test_the_lowest_of_enclosures_is_enclosed():
    theorem = Instance([[4, 1], [1, 16], [16, 1]], [100, 100])
    found = what_if(theorem, ["set-weight u1=2"], "ceei", exact=True)
    before, after = found.totals()["lowest level"]
    assert isinstance(before, Enclosure) and isinstance(after, Enclosure)
    assert float(before) == pytest.approx(min(map(float, found.before.levels)), rel=1e-12)
    assert float(after) < float(before) and found.to_dict()["totals"]


def test_a_sum_of_which_another_has_what_a_limit_keeps_from_somebody():
    alike = Instance({"A": {"cpu": 1}, "B": {"cpu": 1}}, {"cpu": 3}, max_tasks={"B": 1})
    row = explain(alike, "throughput", "B").users[0]
    assert row.remedy == "its limit stops it, and the sum would be no larger without one"


@pytest.mark.parametrize("lost", ["first", "both"])
def test_a_remedy_of_which_nothing_is_proven_is_passed_over(monkeypatch, lost):
    from drfopt.planning.explaining import tried_remedies

    machines = [Machine(name, {"cpu": 4, "memory": 8}) for name in ("first", "second")]
    users = {"A": [TaskType({"cpu": 1}, 30), TaskType({"memory": 2}, 30)], "B": {"cpu": 1}}

    def failing(instance, *rest):
        counts = dict(zip(instance.machine_names, instance.counts.tolist(), strict=True))
        if lost == "both" or counts[lost] > 1:
            raise CertificateError("it is not proven")
        return solve(instance, *rest)

    found = explain(Instance(users, machines=machines), "drf", "A")
    monkeypatch.setattr(tried_remedies, "solve", failing)
    said = found.users[0].remedy
    assert said.startswith(
        "add 1*second would" if lost == "first" else "what would help is not known: it is not proven"
    )
