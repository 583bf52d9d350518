"""Why users have what they have; what is said to raise it does, when the changed cluster is divided again."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_price import machines, pool

from drfopt import TaskType, explain, price
from drfopt.axioms.auditing import audit
from drfopt.base.errors import DrfoptError, InstanceError
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.model.organisation import Group, Organisation
from drfopt.planning.changes import changed
from drfopt.planning.explaining.remedies import Remedies, alone
from drfopt.solving.allocating import solve

PAPER = Instance.library("nsdi2011")
SERVERS = Instance.library("drfh-two-servers")

MORE = re.compile(
    r"(?P<amount>\S+) more of (?P<unit>\S+?)(?: machines)? \(now .*\) would give it (?P<tasks>\S+) tasks instead"
)
LIMIT = re.compile(r"raise its limit of (?P<limit>\S+): .* up to (?P<until>\S+)")


def test_the_paper():
    found = explain(PAPER)
    a, b = found.users
    assert (a.level, a.tasks, a.share) == (pytest.approx(2 / 3), pytest.approx(3), pytest.approx(2 / 3))
    assert (a.reason, a.stopped_by, a.shared_with) == ("capacity", ("cpu",), ("B",))
    assert (a.alone_tasks, b.alone_tasks) == (2.25, 1.5)
    assert a.gain == pytest.approx(1 / 3)
    assert a.remedy.startswith("1 more of cpu (now 9) would give it 3.10345 tasks instead of 3")
    assert explain(PAPER, "drf", "B").users == (b,)
    assert found.to_dict()["users"][0]["alone"] == {"tasks": 2.25, "level": 0.5}
    assert "B: 1 more of cpu" in str(found)


def test_a_limit():
    a, b = explain(Instance.library("nsdi2011-limit")).users
    assert (a.reason, a.stopped_by, a.remedy) == (
        "met",
        (),
        "raise its limit of 2: it would have every task more that it allows, up to 3",
    )
    assert b.reason == "capacity"


def test_a_limit_that_binds_exactly_at_a_saturation():
    """Both have 3 tasks when cpu runs out, and one of them wants no more: her limit alone is not what stops her."""
    (a, b) = explain(Instance([[1.0], [1.0]], [6.0], max_tasks=[3, None])).users
    assert (
        a.remedy == "its limit stops it, and something else does at the same point: a higher limit alone does not help"
    )
    assert b.reason == "capacity"


def test_several_things_run_out_together():
    """One user, two resources that run out at once: only both raise her."""
    (only,) = explain(Instance([[1.0, 1.0]], [4.0, 4.0]), "tasks").users
    assert only.remedy == (
        "several things run out together, and more of one alone does not help: "
        "1 % more of everything would begin to give it 0.04 tasks"
    )


def test_who_is_unplaced():
    cluster = Instance(
        {"big": {"cpu": 8, "gpu": 1}, "shut out": {"cpu": 1}, "small": {"cpu": 1}},
        machines=[Machine("a", {"cpu": 4, "gpu": 1}), Machine("b", {"cpu": 6, "gpu": 0})],
        eligible={"shut out": []},
    )
    big, shut_out, small = explain(cluster).users
    assert (big.reason, big.gain) == ("unplaced", None)
    assert big.remedy == "a machine of a would have to have 8 of cpu instead of 4"
    assert shut_out.remedy == "its task fits on a or b, which it may not use: open one of them to it"
    assert small.reason == "capacity"
    halves = Instance({"A": {"gpu": 1.5}, "B": {"gpu": 1}}, machines=[Machine("m", {"gpu": 4}, devices={"gpu": 4})])
    assert explain(halves)["A"].remedy == (
        "its task takes neither a part of one device of m nor whole ones: ask for one or the other"
    )
    assert not changed(cluster, ["set-capacity a/cpu=8"]).unplaced()[0]
    nothing = Instance({"A": {"cpu": 1, "gpu": 1}, "B": {"cpu": 1}}, {"cpu": 4, "gpu": 0})
    assert explain(nothing).users[0].remedy == "its task needs gpu, of which the cluster has none: add some"


@pytest.mark.parametrize("policy", ["ceei", "alpha:2", "utilitarian", "throughput", "asset", "tsf", "single:cpu"])
@pytest.mark.parametrize("instance", [PAPER, SERVERS, Instance.library("nsdi2011-limit")], ids=["a", "b", "c"])
def test_every_policy_has_something_to_say(instance, policy):
    found = explain(instance, policy)
    assert all(row.remedy for row in found.users)
    assert {row.reason for row in found.users} <= {"capacity", "met", "efficiency"}
    assert str(found)


def at_least(instance, policy, i):
    """Return what the rounds say of a limit, where nothing is divided again."""
    found = LIMIT.match(Remedies(solve(instance, policy), thorough=False).limit(i))
    assert found
    return found


@given(st.integers(0, 10**6), st.sampled_from(["drf", "asset", "tasks"]), st.booleans())
@settings(max_examples=25)
def test_what_would_raise_it_does(seed, policy, on_machines):
    random = np.random.default_rng(seed)
    instance = machines(random) if on_machines else pool(random)
    try:
        found = explain(instance, policy)
    except DrfoptError:
        with pytest.raises(DrfoptError):
            solve(instance, policy)
        return
    for i, row in enumerate(found.users):
        if match := MORE.match(row.remedy):
            change = f"add {match['amount']}*{match['unit']}"
            if not on_machines or float(match["amount"]) == 1:
                after = solve(changed(instance, [change]), policy).tasks[i]
                assert after == pytest.approx(float(match["tasks"]), rel=1e-5)
                assert after > row.tasks
        if match := LIMIT.match(row.remedy):
            until = float(match["until"])
            least = float(at_least(instance, policy, i)["until"])
            assert least <= until * (1 + 1e-5)
            for limit in ((float(match["limit"]) + until) / 2, until * (1 - 1e-5)):
                raised = solve(changed(instance, [f"set-limit {row.user}={limit!r}"]), policy)
                assert raised.tasks[i] == pytest.approx(limit)
            beyond = solve(changed(instance, [f"set-limit {row.user}={until * 1.05!r}"]), policy)
            assert beyond.tasks[i] < until * 1.05 - 1e-9


@given(st.integers(0, 10**6), st.booleans())
@settings(max_examples=30)
def test_alone_is_what_sharing_incentive_says(seed, on_machines):
    random = np.random.default_rng(seed)
    instance = machines(random) if on_machines else pool(random)
    (result,) = audit(instance, "throughput", ["sharing-incentive"]).results
    own = alone(instance)
    if result.witness is not None:
        i = instance.users.index(result.witness.user)
        assert own[i] == pytest.approx(float(result.witness.alone))


def test_an_organisation():
    """What is said is found by dividing again: of the capacity, of the ceiling, of the limit."""
    organisation = Organisation(
        ceilings={"C": {"cpu": 20}}, paths={"A": "eng", "B": "eng", "C": "ops"}, groups=[Group("eng", 2), Group("ops")]
    )
    cluster = Instance(
        {"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3}, "C": {"cpu": 2, "memory": 1}},
        {"cpu": 100, "memory": 200},
        max_tasks={"B": 3},
        organisation=organisation,
    )
    found = {row.user: row for row in explain(cluster).users}
    assert {user: row.reason for user, row in found.items()} == {"A": "capacity", "B": "met", "C": "ceiling"}
    assert found["A"].alone_tasks is None and found["A"].gain is None
    for user, change in (("A", "set-capacity memory=+1%"), ("B", "set-limit B=none"), ("C", "set-ceiling C.cpu=none")):
        i = cluster.users.index(user)
        after = solve(changed(cluster, [change])).tasks[i]
        assert after > found[user].tasks
        assert f"would {'give it' if user == 'A' else 'have'} {after:.6g} tasks" in found[user].remedy
    assert price(cluster)["memory"].more.tasks[0] > 0


def test_what_is_refused():
    with pytest.raises(InstanceError, match=r"there is no user 'AA': did you mean 'A'\?"):
        explain(PAPER, user="AA")


def test_alone_is_what_sharing_incentive_compares():
    # No task of u2 fits on a machine of m2, and a part of such a machine runs none.
    tight = Instance({"u1": [1, 1], "u2": [1, 2]}, machines=[Machine("m1", [1, 2]), Machine("m2", [2, 1])])
    assert alone(tight).tolist() == [1, 0.5]
    for cluster, verdict in (tight, "holds"), (Instance.library("drfh-sharing-incentive"), "fails"):
        assert audit(cluster, "drf", ["sharing-incentive"]).results[0].verdict == verdict


def test_a_sum_promises_nobody_more_under_another_policy():
    # A has as much under `ceei`, and less under `drf`.
    assert "fair policy" not in str(explain(PAPER, "utilitarian"))


def test_a_ceiling_of_a_group_is_no_capacity():
    groups = [Group("eng", ceiling={"cpu": 4}), Group("ops")]
    rules = Organisation(paths={"A": "eng", "B": "ops", "C": "eng"}, groups=groups)
    found = explain(Instance({name: {"cpu": 1} for name in "ABC"}, {"cpu": 10}, organisation=rules))
    assert "1 stopped by capacity; 2 stopped by ceilings of groups" in str(found)
    racks = [Machine("m", {"cpu": 10})]
    both = explain(Instance({name: {"cpu": 1} for name in "ABC"}, machines=racks, organisation=rules), "ceei")
    assert "1 stopped by capacity; 2 stopped by capacity and by ceilings of groups" in str(both)


def test_who_needs_what_no_machine_has_spoils_nobody_elses_price():
    # The unplaced user's rate is 0, and a warning would be an error here.
    found = explain(Instance([[0, 1], [2, 0], [2, 1]], machines=[Machine("m", [4, 0])]), "asset")
    assert [row.reason for row in found.users] == ["unplaced", "capacity", "unplaced"]
    assert "u2: " in str(found)


def test_of_two_classes_the_machine_that_gives_more_is_told():
    """A hundredth more of the many small machines would be more than one of the few large ones."""
    rack = Instance(
        {"A": {"cpu": 1}, "B": {"cpu": 1}},
        machines=[Machine("small", {"cpu": 1}, 100), Machine("large", {"cpu": 4}, 2)],
    )
    remedy = explain(rack, user="A").users[0].remedy
    assert remedy.startswith("1 more of large machines (now 2) would give it 56 tasks instead of 54")


def test_how_far_what_stops_whom_stays_so():
    # At 18 cpu a has its 6 tasks, and b is stopped by cpu there and beyond.
    tasks = [TaskType({"cpu": 1, "mem": 1}, 4), TaskType({"cpu": 1, "mem": 6}, 2)]
    users = {"a": tasks, "b": {"cpu": 2, "mem": 1}}
    assert (
        explain(Instance(users, {"cpu": 12, "mem": 24})).users[1].remedy.endswith("what stops whom stays so up to 18")
    )
    assert explain(Instance(users, {"cpu": 20, "mem": 24})).users[1].stopped_by == ("cpu",)


def test_what_is_told_to_help_is_not_above_where_it_ends():
    """9.9e-07 more of what is 1 now were said to help, "up to 1"."""
    rules = Organisation(ceilings={"A": {"io": 1}})
    cluster = Instance({"A": {"io": 2}, "B": {"io": "1e-6"}}, {"io": 1}, max_tasks={"B": 1}, organisation=rules)
    told = explain(cluster).users[0].remedy
    match = re.search(r"(\S+) more of io .* up to (\S+)$", told)
    assert match is None or 1 + float(match[1]) <= float(match[2]), told


@pytest.mark.parametrize(
    ("capacity", "limit", "told"),
    [
        (2469136, 1234567, "raise its limit of 1234567: it would have every task more that it allows, up to 1234568"),
        (3333333, 1666660, "raise its limit of 1666660: it would have every task more that it allows, up to 1666666"),
        (4, "1.999999", "raise its limit of 1.999999: it would have every task more that it allows, up to 2"),
        (2469136, 1234569, "1 more of cpu (now 2,469,136) would give it 1234568.5 tasks instead of 1234568; "),
        (4, "2.000001", "0.000002 more of cpu (now 4) would give it 2.000001 tasks instead of 2; "),
    ],
)
def test_small_differences_of_large_numbers_are_told(capacity, limit, told):
    """Six digits each were told, so that what was to be raised lay above the end, or nothing helped."""
    cluster = Instance({"a": {"cpu": 1}, "b": {"cpu": 1}}, {"cpu": capacity}, max_tasks={"a": limit})
    assert explain(cluster).users[0].remedy.startswith(told)
    whole = Instance({"a": {"cpu": 1}, "b": {"cpu": 1}}, {"cpu": 3333333}, max_tasks={"a": 1666660})
    assert (
        explain(whole, integer=True).users[0].remedy
        == "raise its limit of 1666660: without one it would have 1666666 tasks"
    )


def test_an_end_is_not_told_on_the_wrong_side_of_what_there_is():
    cluster = Instance({"a": {"cpu": 1}, "b": {"cpu": 1}}, {"cpu": 2469136}, max_tasks={"a": 1234569})
    assert " 2,469,138 " in str(price(cluster))
