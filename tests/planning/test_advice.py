"""What to buy is divided again: what is said of it holds, and machines are not proposed against a rule."""

from pathlib import Path

import pytest

from drfopt import price, size, what_if
from drfopt.base.errors import CertificateError, InstanceError, PolicyError
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.model.organisation import Group, Organisation
from drfopt.model.users import TaskType
from drfopt.planning import advice
from drfopt.planning.advice import advise
from drfopt.planning.least_needed import least_needed
from drfopt.solving.allocating import solve

FORMULATION = str(Path(__file__).parents[2] / "formulations" / "drf.py")

CLUSTER = Instance(
    {"train": {"cpu": 4, "gpu": 1}, "web": {"cpu": 2, "gpu": 0}, "huge": {"cpu": 500, "gpu": 0}},
    machines=[Machine("gpu", {"cpu": 32, "gpu": 8}, 4), Machine("plain", {"cpu": 64, "gpu": 0}, 10)],
    max_tasks={"train": 60, "web": 100, "huge": 3},
)


@pytest.mark.parametrize("policy", ["drf", "ceei", "utilitarian"])
def test_what_is_missing_is_bought_and_proven(policy):
    found = advise(solve(CLUSTER, policy))
    bought = found.purchases[0]
    # 28 GPUs are missing, and a machine has 8.
    assert (bought.name, bought.amount) == ("gpu", 4)
    assert bought.found.after.certificate.valid
    assert bought.after.met[:2].tolist() == [1, 1]
    assert bought.after.demand_met > bought.found.before.shortfall.demand_met
    again = what_if(CLUSTER, ["add 4*gpu"], policy)
    assert bought.found.after.tasks == pytest.approx(again.after.tasks)
    assert found.to_dict()["to_buy"][0]["short"] == {"before": 1, "after": 0}
    assert found.nowhere == (("huge", "a machine of plain would have to have 500 of cpu instead of 64"),)


def test_the_price_is_that_of_the_machine_not_of_the_resource_of_its_name():
    bought = advise(solve(CLUSTER)).purchases[0]
    machine = next(worth for worth in price(CLUSTER).units if worth.kind == "machine" and worth.name == "gpu")
    assert bought.worth.more.tasks[0] == machine.more.tasks[0] == pytest.approx(8)
    assert "one more gpu brings, in tasks: train 8" in bought.one_more()


def test_in_a_pool_an_amount_of_what_is_used_up():
    pool = Instance([[1, 4], [3, 1]], [9, 18], max_tasks=[4, 4], resources=["cpu", "memory"])
    bought = advise(solve(pool)).purchases[0]
    before, after = bought.found.before.tasks, bought.found.after.tasks
    assert bought.name == "cpu"
    assert bought.amount == pytest.approx(6.5), "all that memory lets them use: 3.5 and 4 tasks need 15.5"
    assert after.tolist() == pytest.approx([3.5, 4])
    assert (after >= before * (1 - 1e-9)).all()


def test_no_more_is_proposed_than_a_ceiling_of_the_group_lets_them_use():
    """Four gpus are missing on machines of one, and the group may use one more."""
    rules = Organisation(paths={"A": "g"}, groups=[Group("g", ceiling={"gpu": 2})])
    cluster = Instance({"A": {"gpu": 1}}, machines=[Machine("m", {"gpu": 1})], max_tasks={"A": 5}, organisation=rules)
    bought = advise(solve(cluster)).purchases[0]
    assert (bought.amount, bought.found.after.tasks.tolist()) == (1, [2])


def test_no_machine_is_proposed_against_a_ceiling():
    capped = Instance(
        {"A": {"cpu": 1}}, {"cpu": 9}, max_tasks={"A": 8}, organisation=Organisation(ceilings={"A": {"cpu": 5}})
    )
    found = advise(solve(capped))
    assert not found.purchases and "ceilings and limits" in found.reason
    assert found.sentences() == [f"to buy: {found.reason}"]


def test_nothing_is_proposed_where_all_is_met_or_no_end_is_named():
    assert advise(solve(Instance([[1.0]], [9.0], max_tasks=[3]))).sentences() == []
    endless = solve(Instance([[1.0]], [9.0]))
    assert advise(endless).sentences() == []
    assert advise(endless, endless=True).purchases[0].name == "r1"


@pytest.mark.parametrize(("integer", "more"), [(False, "0.4 more cpu: B 3.4"), (True, "1 more cpu: B 4")])
def test_who_names_no_end_is_bought_for_where_all_others_have_what_they_asked_for(integer, more):
    """That all of what is asked for is met before and after had made it "no help"; nor was a part of a task one."""
    cluster = Instance({"A": {"cpu": 1}, "B": {"cpu": 1, "mem": 1}}, {"cpu": 4, "mem": 10}, max_tasks={"A": 1})
    found = advise(solve(cluster, integer=integer), endless=True)
    assert found.sentences()[0] == f"to buy: {more} tasks instead of 3; nobody loses"


def test_of_two_purchases_for_who_names_no_end_that_which_brings_more_is_first():
    """More cpu brings B 0.4 tasks of 6/22 of the memory, 0.109, and more gpu, less of it, C a tenth."""
    users = {"A": {"cpu": 1}, "B": {"cpu": 1, "mem": 6}, "C": {"gpu": 1}}
    found = advise(solve(Instance(users, {"cpu": 4, "mem": 22, "gpu": 1}, max_tasks={"A": 1})), endless=True)
    assert [bought.name for bought in found.purchases] == ["cpu", "gpu"]


@pytest.mark.parametrize(
    ("policy", "integer", "named"),
    [(FORMULATION, False, "whatif"), ("drf", True, "whatif"), ("drf", False, "price")],
)
def test_where_nothing_is_tried_a_command_is_named_that_takes_it(policy, integer, named, monkeypatch):
    monkeypatch.setattr(advice, "LARGEST", 0)
    pool = Instance({"A": {"cpu": 1}}, {"cpu": 1}, max_tasks={"A": 2})
    assert advise(solve(pool, policy, integer=integer)).reason == f"'drfopt {named}' and 'drfopt size' say what helps"
    if policy == FORMULATION:
        with pytest.raises(PolicyError, match="has no prices"):
            price(pool, policy)
    assert what_if(pool, ["add 1*cpu"], policy, integer=integer).after.tasks.tolist() == pytest.approx([2])


def test_whole_tasks_and_fractions_have_an_answer_too():
    for how in ({"integer": True}, {"exact": True}):
        found = advise(solve(CLUSTER, **how))
        assert (found.purchases[0].name, found.purchases[0].amount) == ("gpu", 4)


def test_where_so_much_is_enough_for_everybody_the_cluster_is_divided_once(monkeypatch):
    """Eight tasks are missing, two machines of four; the half of them that other machines have room for needs none."""
    amounts = []
    tried = advice._tried
    monkeypatch.setattr(advice, "_tried", lambda *given: amounts.append(given[2]) or tried(*given))
    users = {"A": [TaskType({"cpu": 1}, 8, ["m"]), TaskType({"cpu": 1}, 8, ["n"])], "B": {"cpu": 1}}
    machines = [Machine("m", {"cpu": 4}), Machine("n", {"cpu": 50})]
    cluster = Instance(users, machines=machines, max_tasks={"B": 9}, eligible={"B": ["n"]})
    (bought,) = advise(solve(cluster)).purchases
    assert (bought.name, bought.amount, amounts) == ("m", 1, [1])
    assert bought.found.after.tasks == pytest.approx([16, 9])
    # A ceiling of a group holds those in it below what they ask for: what is missing is tried first, then less of it.
    amounts.clear()
    rules = Organisation(paths={"B": "g", "C": "g"}, groups=[Group("g", ceiling={"cpu": 4})])
    ruled = {"max_tasks": {"B": 9, "C": 9}, "eligible": {"B": ["n"], "C": ["n"]}, "organisation": rules}
    (bought,) = advise(solve(Instance(users | {"C": {"cpu": 1}}, machines=machines, **ruled))).purchases
    assert (bought.name, bought.amount, amounts) == ("m", 1, [2, 1])
    assert bought.found.after.tasks == pytest.approx([16, 2, 2])


def test_what_a_purchase_needs_at_least_is_no_more_than_it_needs():
    """Of 7 tasks 4 run on the machine that is there, two on each that is bought; every other of B needs a gpu."""
    users = {"A": {"cpu": 1}, "B": [TaskType({"cpu": 1}, 9), TaskType({"cpu": 1, "gpu": 1}, 9)]}
    cluster = Instance(
        {"A": {"cpu": 1}}, machines=[Machine("old", {"cpu": 4}), Machine("new", {"cpu": 2}, 9)], max_tasks={"A": 7}
    )
    assert least_needed(solve(cluster, "drf"), "new") == pytest.approx(1.5, rel=1e-6)
    assert least_needed(solve(cluster, "drf", integer=True), "new") == pytest.approx(1.5, rel=1e-6)
    assert least_needed(solve(Instance({"A": {"cpu": 1}}, {"cpu": 9}, max_tasks={"A": 7}), "drf"), "cpu") <= 7
    typed = Instance(users, machines=[Machine("m", {"cpu": 4, "gpu": 1}, 5)], max_tasks={"A": 2})
    assert least_needed(solve(typed, "drf"), "m") == pytest.approx(5, rel=1e-6)


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize("cluster", [{"capacity": {"cpu": 10}}, {"machines": [Machine("m", {"cpu": 5}, 2)]}])
def test_whom_an_endless_user_leaves_nothing_no_purchase_helps(cluster, integer):
    """It was told to ask size, which refuses it."""
    users = {"a": {"cpu": 1}, "c": {"cpu": 1}, "d": {"cpu": 1}}
    starved = Instance(users, **cluster, weights={"c": 0, "d": 0}, max_tasks={"c": 3, "d": 3})
    found = advise(solve(starved, integer=integer))
    said = "nothing: a is served before c, asks for tasks without an end and leaves nothing that c could use, "
    assert found.reason.startswith(said) and found.reason.endswith("; so it is with 1 other who is short")
    with pytest.raises(InstanceError, match="user 'a' is served before 'c'"):
        size(starved, "c>=1", {"m" if "machines" in cluster else "cpu": 1}, integer=integer)
    ended = Instance(users, **cluster, weights={"c": 0, "d": 0}, max_tasks={"a": 10, "c": 3, "d": 3})
    assert advise(solve(ended, integer=integer)).purchases


def test_all_endless_users_who_leave_nothing_are_to_be_limited():
    users = {"api": {"cpu": 1}, "serve": {"cpu": 1, "mem": 1}, "web": {"cpu": 3, "mem": 4}}
    tiers = Organisation(tiers={"api": 1, "serve": 2})
    cluster = Instance(users, {"cpu": 8, "mem": 16}, max_tasks={"web": 3}, organisation=tiers)
    said = advise(solve(cluster)).reason
    assert said.endswith("whatever is bought: give api, serve each a max_tasks or a ceiling, or web a guarantee")
    ended = Instance(users, {"cpu": 8, "mem": 16}, max_tasks={"web": 3, "api": 2, "serve": 2}, organisation=tiers)
    assert solve(ended)["web"].tasks == pytest.approx(4 / 3)


def test_along_a_path_no_size_is_named():
    users = {"a": {"cpu": 1, "mem": 1}, "c": {"cpu": 1, "mem": 1}}
    pool = Instance(users, {"cpu": 10, "mem": 10}, weights={"c": "1/1000"}, max_tasks={"c": 3})
    assert advise(solve(pool, "path:1/2:1/2..3/4:1")).reason == "'drfopt whatif' says what a purchase brings"
    assert advise(solve(pool)).reason == "'drfopt size' finds what meets a target, where something does"


def test_what_is_to_be_bought_for_a_whole_task_is_enough_as_it_is_told():
    cluster = Instance({"a": {"x": "1/3"}, "b": {"x": "1/3"}}, {"x": "1/2"})
    (bought,) = advise(solve(cluster, integer=True), endless=True).purchases
    assert bought.sentence().startswith("0.17 more x: ") and str(bought.amount) == "17/100"


def test_what_to_buy_for_exact_whole_tasks_is_in_whole_tasks(monkeypatch):
    machines = [Machine("n", {"cpu": 10}, 5)]
    cluster = Instance({"A": {"cpu": 4}, "B": {"cpu": 4}}, machines=machines, max_tasks={"A": 9, "B": 7})
    told = [advise(solve(cluster, integer=True, exact=exact)).to_dict() for exact in (False, True)]
    assert told[0] == told[1]
    assert told[0]["to_buy"][0]["amount"] == 3
    # The answer that is there is not searched for again.
    again = []
    monkeypatch.setattr(
        advice, "solve", lambda held, *given, **how: (again.append(held), solve(held, *given, **how))[1]
    )
    advise(solve(cluster, integer=True, exact=True))
    assert again and not any(held is cluster for held in again)


def test_an_exact_answer_is_not_lost_for_what_floats_do_not_hold(monkeypatch):
    exact = solve(CLUSTER, exact=True)

    def refuses(*given, **named):
        raise CertificateError("not proven")

    monkeypatch.setattr(advice, "solve", refuses)
    assert advise(exact).sentences()[0] == "to buy: 'drfopt whatif' and 'drfopt size' say what helps"
