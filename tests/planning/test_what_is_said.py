"""Sentences that were not so, each on the smallest instance where it was seen."""

import math
from fractions import Fraction

import pytest

from drfopt import (
    Group,
    Instance,
    Machine,
    Organisation,
    TaskType,
    audit,
    compare,
    explain,
    price,
    search,
    size,
    solve,
    verify,
    what_if,
)
from drfopt.axioms.counterexamples.space import Space
from drfopt.axioms.verdicts import HOLDS, UNDECIDED
from drfopt.base.errors import EngineError, InstanceError, PolicyError
from drfopt.base.numbers.shown import apart, at_most, fixed, not_above, not_below, part_of, share_of_all, written_in
from drfopt.planning.advice import TARGET, advise
from drfopt.planning.pricing.binding_rounds import held

MIXED = [TaskType({"gpu": 1}, 2), TaskType({"cpu": 1}, 2)]


def said(allocation):
    return [*allocation.shortfall.sentences(), *advise(allocation).sentences()]


def test_advice_on_types_that_fit_on_different_classes():
    machines = [Machine("plain", {"cpu": 4, "gpu": 0}), Machine("gpu", {"cpu": 0, "gpu": 2})]
    users = {"mixed": MIXED, "train": {"gpu": 1}}
    found = said(solve(Instance(users, machines=machines, max_tasks={"train": 2}), integer=True))
    assert any(line.startswith("to buy: 1 more gpu") for line in found)


def test_a_task_too_large_for_its_pool_lacks_what_is_missing():
    found = said(solve(Instance({"A": {"cpu": 20}, "B": {"cpu": 3}}, {"cpu": 10}), integer=True))
    assert found == ["unplaced: A: the pool would have to have 20 of cpu instead of 10"]


def test_nothing_is_proposed_that_brings_nothing():
    machines = [Machine("m1", {"cpu": 5, "memory": 8}), Machine("m2", {"cpu": 3, "memory": 10}, 2)]
    demands = {"A": {"cpu": 2, "memory": 1}, "B": {"cpu": 1, "memory": 3}, "C": {"cpu": 1, "memory": 1}}
    instance = Instance(demands, machines=machines, eligible={"B": ["m2"]}, weights={"C": 3}, max_tasks={"C": 4})
    assert (
        said(solve(instance, "utilitarian"))[-1]
        == "to buy: 'drfopt size' finds what meets a target, where something does"
    )


def test_a_slope_that_ends_within_a_machine_is_not_what_one_more_is_worth():
    machines = [Machine("m", {"cpu": 4, "gpu": "0.8"}, 2), Machine("n", {"cpu": 1, "gpu": 1})]
    users = {"mixed": [TaskType({"gpu": 1}, 2), TaskType({"cpu": 1}, 6)], "o": {"cpu": 2}}
    instance = Instance(users, machines=machines)
    assert "one more n begins to bring, in tasks for a whole one: mixed 4 (drfopt price)" in said(solve(instance))
    # Of whole tasks those that are missing are counted, not so many of their mean.
    lines = said(solve(instance, integer=True))
    assert "1 gpu, 2 cpu in all" in lines[0] and lines[1] == "  mixed: 5 of 8 tasks (62.5 %), short of 1 gpu, 2 cpu"


def test_what_no_machine_holds_gains_nothing_by_a_lie():
    machines = [Machine("m", {"cpu": 4}, 2)]
    rules = Organisation(guarantees={"A": {"cpu": 1}})
    ruled = Instance({"A": {"cpu": 1}, "huge": {"cpu": 8}}, machines=machines, organisation=rules)
    typed = Instance({"A": [TaskType({"cpu": 1}, 2), TaskType({"cpu": 2}, 1)], "huge": {"cpu": 8}}, machines=machines)
    for instance in (ruled, typed):
        assert audit(instance)["strategy-proofness"].verdict == UNDECIDED


def test_a_resource_that_helps_is_found_beside_the_one_that_is_named():
    rules = Organisation(guarantees={"A": {"cpu": 6}, "B": {"memory": 6}})
    demands = {"A": {"cpu": 4, "memory": 1}, "B": {"cpu": 1, "memory": 4}}
    found = explain(Instance(demands, {"cpu": 10, "memory": 10}, organisation=rules))
    assert "B: set-capacity memory=+1% would give it 2.01597 tasks instead of 2" in str(found)


def test_a_weight_of_0_is_shown_as_such():
    found = solve(Instance({"A": {"cpu": 1}, "Z": {"cpu": 1}}, {"cpu": 4}, weights={"A": 2, "Z": 0}))
    assert found.weights == [2, 0]
    assert [user["weight"] for user in found.to_dict()["users"]] == [2, 0]


def test_one_guarantee_that_limits_bar_does_not_clash_with_others():
    groups = [Group("x", guarantee={"cpu": 12}), Group("x/y", ceiling={"memory": 5})]
    rules = Organisation(paths={"A": "x/y", "B": "x"}, groups=groups)
    demands = {"A": {"cpu": 1, "memory": 1}, "B": {"cpu": 2, "memory": 1}}
    found = solve(Instance(demands, {"cpu": 20, "memory": 40}, max_tasks={"B": 1}, organisation=rules))
    assert "guarantees that cannot be met: group x has 7 of 12 cpu" in str(found)


def test_a_search_in_many_processes_ends_in_time():
    found = search("ceei", "strategy-proofness", Space(3, 3, 3), time_limit=1e-9, jobs=2)
    assert not found.complete and not found.audited


def test_an_answer_beside_another_instance_is_told_what_to_name(tmp_path):
    one = Instance({"A": {"cpu": 1}}, {"cpu": 4})
    other = Instance({"B": {"cpu": 1}}, {"cpu": 4})
    with pytest.raises(InstanceError, match=r"name the instance it is the answer of$"):
        verify(solve(one).to_dict(), other)
    with pytest.raises(InstanceError, match="not a certificate: it has no 'users': give what 'solve --json'"):
        verify({}, one)
    (tmp_path / "a.toml").write_text("[capacity]\n")
    with pytest.raises(InstanceError, match=r"a\.toml: line 1 is no JSON: give what 'solve --json'"):
        verify(tmp_path / "a.toml")


GROUPED = Group("eng", guarantee={"cpu": 4, "memory": 8}, ceiling={"cpu": 4, "memory": 8})


def in_a_group():
    rules = Organisation(groups=(GROUPED,), paths={"A": "eng"})
    return Instance(
        {"A": {"cpu": 1, "memory": 2}},
        machines=[Machine("m", {"cpu": 8, "memory": 16})],
        max_tasks=[11],
        organisation=rules,
    )


@pytest.mark.parametrize("policy, ways", [("drf", ({}, {"exact": True}, {"integer": True})), ("utilitarian", ({},))])
def test_ceilings_of_a_group_that_bind_together_are_all_named_and_nothing_is_to_be_bought(policy, ways):
    both = "eng ceiling of cpu, eng ceiling of memory"
    for way in ways:
        found = said(solve(in_a_group(), policy, **way))
        assert found[-1] == f"to buy: nothing: ceilings and limits hold those who are short ({both})"
        if not way.get("integer"):
            assert found[1].endswith(f"stopped by a ceiling: {both}")


def test_a_ceiling_that_was_full_after_somebody_stopped_does_not_keep_it_from_what_is_bought():
    """More gpu gives A tasks at the cost of B, so that no more is met, and it was told that ceilings hold both."""
    rules = Organisation(groups=[Group("g", ceiling={"cpu": 4})], paths=dict.fromkeys("AB", "g"), excluded=["gpu"])
    pool = Instance({"A": {"cpu": 1, "gpu": 1}, "B": {"cpu": 1}}, {"cpu": 8, "gpu": 1}, max_tasks=[9, 9],
                    organisation=rules)  # fmt: skip
    found = solve(pool, "tasks")
    assert found.tasks == pytest.approx([1, 3]) and said(found)[-1] == f"to buy: {TARGET}"
    more = what_if(pool, ["set-capacity gpu=4"], "tasks").after
    assert more.tasks == pytest.approx([2, 2])
    assert said(more)[-1] == "to buy: nothing: ceilings and limits hold those who are short (g ceiling of cpu)"


def test_a_ceiling_that_was_full_after_somebody_stopped_does_not_stop_it():
    outer, inner = Group("a", ceiling={"cpu": 4}), Group("a/b", ceiling={"cpu": 1})
    rules = Organisation(groups=(outer, inner), paths={"A": "a/b", "B": "a"})
    users = {"A": {"cpu": 1}, "B": {"cpu": 1}}
    found = solve(Instance(users, machines=[Machine("m", {"cpu": 8})], organisation=rules)).certificate.bottlenecks
    assert found == (("a/b ceiling of cpu",), ("a ceiling of cpu",))


def test_the_ceiling_to_raise_is_named_where_there_are_several():
    def remedy(ceiling):
        rules = Organisation(ceilings={"A": ceiling})
        return explain(Instance({"A": {"cpu": 1, "memory": 1}}, {"cpu": 9, "memory": 9}, organisation=rules))[
            "A"
        ].remedy

    assert remedy({"cpu": 6, "memory": 2}) == (
        "raise its ceiling of memory: without that it would have 6 tasks instead of 2"
    )
    assert remedy({"cpu": 2, "memory": 2}) == (
        "raise its ceiling of cpu and memory: without these it would have 9 tasks instead of 2"
    )
    assert remedy({"cpu": 2}) == "raise its ceiling: without one it would have 9 tasks instead of 2"


def test_a_ceiling_stands_beside_what_a_next_whole_task_lacks():
    rules = Organisation(ceilings={"A": {"cpu": 1}})
    users = {"A": {"cpu": 1}, "B": {"cpu": 1}}
    found = explain(Instance(users, {"cpu": 2}, organisation=rules), integer=True)
    assert {row[0]: row[8] for row in found.sheet().rows} == {"A": "ceiling, cpu", "B": "cpu"}


def test_what_another_capacity_ends_at_once_is_worth_nothing():
    # One cpu more begins to bring tasks, and memory ends it 2e-10 further on.
    machines = [Machine("m", {"cpu": "13.64", "memory": 62142808064})]
    users = {name: {"cpu": 1, "memory": 4555924344} for name in ("A", "B")}
    rules = Organisation(guarantees={"A": {"cpu": 50}, "B": {"cpu": 40}})
    worth = price(Instance(users, machines=machines, organisation=rules))["cpu"]
    assert worth.more.tasks.tolist() == [0, 0] and worth.less.tasks.sum() == pytest.approx(1)


def test_the_total_price_says_which_rules_it_leaves_out():
    found = price(in_a_group())
    assert found["m"].more.total_price == 1
    assert "if there were no guarantees and no ceilings of groups" in str(found)


def test_a_purchase_says_in_which_shares_it_meets_more():
    machines = [Machine("a", {"cpu": 6, "gpu": 0}, 3), Machine("b", {"cpu": 4, "gpu": 8})]
    users = {"u1": {"cpu": 5, "gpu": "1/2"}, "u2": {"cpu": 1, "gpu": 2}}
    instance = Instance(users, machines=machines, max_tasks=[10, 10])
    bought = advise(solve(instance)).purchases[0]
    assert bought.name == "b"
    met = solve(bought.found.after.instance).shortfall.demand_met
    assert f"in shares of the cluster as it is; {100 * met:.1f} % in those of the larger one" in bought.sentence()


@pytest.mark.parametrize(("types", "promised"), [(True, 0), (False, 2), (False, 5)])
def test_a_proof_that_no_file_holds_says_so(types, promised):
    """Of sums and products that do not keep a promise, and of no others."""
    users = {"A": MIXED if types else {"cpu": 1}, "B": {"cpu": 2}}
    rules = Organisation(guarantees={"A": {"cpu": promised}, "B": {"cpu": promised}})
    instance = Instance(users, {"cpu": 5, "gpu": 1}, organisation=None if types else rules)
    line = "that nothing is better is decided by exact search, which no file holds: 'verify' searches again"
    for policy in ("ceei", "utilitarian", "drf"):
        found = solve(instance, policy, integer=True)
        searched = policy != "drf" and promised == 5
        assert (line in str(found)) == searched
        assert verify(found).valid is True


@pytest.mark.parametrize(
    ("engine", "integer", "asked"),
    [
        ("frontier", True, "drf on a pool with several groups with whole tasks"),
        ("group-sweep", False, "drf on a pool with divisible tasks"),
        ("filling", False, "drf on a pool with ceilings, groups with divisible tasks"),
    ],
)
def test_an_engine_that_refuses_names_only_what_it_does_not_take(engine, integer, asked):
    rules = Organisation(groups=[Group("g", ceiling={"cpu": 2})], paths={"A": "g"})
    instance = Instance({"A": {"cpu": 1}, "B": {"cpu": 1}}, {"cpu": 3}, organisation=rules)
    with pytest.raises(EngineError, match=f"not {asked}: engines that do:"):
        solve(instance, engine=engine, integer=integer)


def test_a_price_of_fairness_that_is_not_known_says_why():
    rules = Organisation(tiers={"A": 1}, paths={"A": "g", "B": "g"})
    tiers = Instance({"A": {"cpu": 1}, "B": {"cpu": 1}, "C": {"cpu": 1}}, {"cpu": 3}, organisation=rules)
    found = compare(tiers, ["drf"])
    assert found.price_of_fairness == {"drf": None}
    assert "the sum under utilitarian is not known: utilitarian serves one tier after the other" in str(found)
    assert "not known" not in str(compare(Instance({"A": {"cpu": 1}}, {"cpu": 3}), ["drf"]))


@pytest.mark.parametrize("policy", ["drf", "ceei", "throughput"])
def test_a_ceiling_of_0_of_a_group_is_what_stops_its_members(policy):
    rules = Organisation(groups=[Group("a", ceiling={"gpu": 0})], paths={"A": "a", "B": "a", "C": "a"})
    demands = {"A": {"cpu": 8, "gpu": 1}, "B": {"cpu": 1, "gpu": 1}, "C": {"cpu": 1}}
    instance = Instance(demands, {"cpu": 4, "gpu": 10}, max_tasks={"A": 1, "B": 1}, organisation=rules)
    for exact in (False, True):
        found = solve(instance, policy, exact=exact)
        assert found["A"].bottleneck == found["B"].bottleneck == "a ceiling of gpu" != found["C"].bottleneck
    assert "A: what stops it is a ceiling of gpu" in str(explain(instance, policy))
    last = "to buy: nothing: ceilings and limits hold those who are short (a ceiling of gpu)"
    assert said(solve(instance, policy))[-1] == last
    assert audit(instance, policy)["pareto-efficiency"].verdict == HOLDS


def test_the_time_limit_holds_for_advice_that_gives_a_million_tasks():
    machines = [Machine("m", {"cpu": 8, "gpu": 4}), Machine("n", {"cpu": 4, "gpu": 8, "disk": 2}, 3)]
    demands = {"A": {"cpu": 1, "disk": 1}, "B": {"cpu": 1, "disk": 1}, "C": {"cpu": 2, "gpu": 1, "disk": 1}}
    rules = Organisation(guarantees={"A": {"cpu": 2}, "C": {"cpu": 2, "gpu": 1}})
    instance = Instance(demands, machines=machines, max_tasks={"A": 10**6, "C": 2}, organisation=rules)
    # Not the time is asked for, but that it ends: one task at a time, it took four minutes.
    assert said(solve(instance, "throughput", integer=True))


def test_a_slope_that_ends_at_once_is_not_drawn_beyond():
    # A part in 10^10 more of cpu brings something, and then memory binds.
    rules = Organisation(guarantees={"A": {"cpu": 50}, "B": {"cpu": 40}, "C": {"cpu": 10}})
    each = {"cpu": 1, "memory": "4.5559243447"}
    users = dict.fromkeys("ABC", each)
    instance = Instance(users, {"cpu": "13.64", "memory": "62.1428080643"}, organisation=rules)
    for more in (price(instance, units=[unit])[unit].more for unit in ("cpu", "memory")):
        assert more.tasks is None or abs(more.tasks).sum() < 1e-6


def test_two_capacities_that_run_out_together_are_worth_nothing_alone():
    rules = Organisation(guarantees={"A": {"cpu": 1}})
    found = price(Instance({"A": {"cpu": 1, "memory": 1}}, {"cpu": 4, "memory": 4}, organisation=rules))
    assert [(unit.more.tasks.tolist(), unit.less.tasks.round(9).tolist()) for unit in found.units] == [
        ([0.0], [1.0])
    ] * 2


def test_a_group_that_is_promised_a_limit_has_prices():
    rules = Organisation(
        guarantees={"A": {"cpu": 5}}, groups=[Group("g", guarantee={"cpu": 2, "gpu": 2})], paths={"B": "g"}
    )
    demands = {"A": {"cpu": 5, "gpu": 5}, "B": {"cpu": "1/2", "memory": 2}, "C": {"cpu": 1, "gpu": 1}}
    instance = Instance(demands, {"cpu": 6, "memory": 12, "gpu": 4}, max_tasks={"B": 1, "C": 4}, organisation=rules)
    assert not price(instance)["cpu"].more.tasks.any()


@pytest.mark.parametrize("policy", ["drf", "utilitarian"])
def test_ceilings_of_a_group_that_are_met_together_are_all_named(policy):
    rules = Organisation(groups=[Group("g", ceiling={"cpu": 4, "memory": 8}, guarantee={"cpu": 4})], paths={"A": "g"})
    instance = Instance({"A": {"cpu": 1, "memory": 2}}, machines=[Machine("m", {"cpu": 8, "memory": 16})],
                        max_tasks={"A": 11}, organisation=rules)  # fmt: skip
    both = "(g ceiling of cpu, g ceiling of memory)"
    for integer in (False, True):
        found = solve(instance, policy, integer=integer)
        assert said(found)[-1] == f"to buy: nothing: ceilings and limits hold those who are short {both}"
    assert "A: what stops it is g ceiling of cpu, g ceiling of memory" in str(explain(instance, policy))
    assert "any policy could reach, if there were no guarantees" in str(price(instance, policy))


def test_all_ceilings_of_its_own_are_raised_together():
    rules = Organisation(ceilings={"A": {"cpu": 2, "gpu": 2}})
    found = explain(Instance({"A": {"cpu": 1, "gpu": 1}, "B": {"cpu": 1}}, {"cpu": 6, "gpu": 18}, organisation=rules))
    assert "A: raise its ceiling of cpu and gpu: without these it would have" in str(found)


def test_where_two_resources_run_out_together_one_more_of_one_brings_nothing():
    def cluster(guarantee):
        rules = Organisation(guarantees={"A": guarantee})
        return Instance({"A": {"cpu": 1, "mem": 1}}, {"cpu": 4, "mem": 4}, max_tasks=[10], organisation=rules)

    worth = price(cluster({"cpu": 1}))["cpu"]
    assert (worth.more.tasks.tolist(), worth.less.tasks.tolist()) == ([0], [pytest.approx(1)])


def test_prices_are_known_where_the_stops_cannot_be_followed():
    rules = Organisation(
        guarantees={"A": {"cpu": 5, "mem": 1}}, groups=[Group("g", guarantee={"cpu": 2, "gpu": 2})], paths={"B": "g"}
    )
    demands = {"A": {"cpu": 5, "mem": 1, "gpu": 5}, "B": {"cpu": "1/2", "mem": 2}, "C": {"cpu": 1, "gpu": 1}}
    capacity = {"cpu": 6, "mem": 12, "gpu": 4}
    found = price(Instance(demands, capacity, max_tasks={"B": 1, "C": 4}, organisation=rules))
    assert found["cpu"].more.tasks.tolist() == [0, 0, 0]
    # With one device more A has all of the one task that it is promised.
    assert found["gpu"].more.tasks == pytest.approx([0.2, 0, 0])


def test_an_amount_that_is_to_be_reached_is_said_in_full():
    machines = [Machine("m", {"x": 1})]
    found = said(solve(Instance({"u": {"x": 1234567}, "v": {"x": 1}}, machines=machines)))
    assert "unplaced: u: a machine of m would have to have 1234567 of x instead of 1" in found


def test_a_purchase_of_which_nothing_is_to_be_seen_is_not_proposed():
    # Who is served first takes all but a thousandth of it.
    group = Group("eng", weight=2, guarantee={"cpu": 6}, ceiling={"mem": 40})
    rules = Organisation(groups=[group], paths={"A": "eng", "B": "eng"}, tiers={"C": 1})
    machines = [Machine("a", {"cpu": 8, "mem": 16}, 3), Machine("g", {"cpu": 16, "mem": 16, "gpu": 4}, 2)]
    users = {
        "A": [TaskType({"cpu": 1, "mem": 2}, 3), TaskType({"cpu": 2, "mem": 2, "gpu": "1/2"}, 1)],
        "B": {"cpu": 2, "mem": 1},
        "C": {"cpu": 1, "mem": 3},
    }
    instance = Instance(users, machines=machines, weights={"B": 2}, max_tasks={"B": 9}, organisation=rules)
    assert said(solve(instance))[-1] == "to buy: 'drfopt size' finds what meets a target, where something does"


def test_one_more_machine_is_worth_its_slope_only_where_that_holds_for_a_whole_one():
    """There is 1 and the slope holds up to 4/3: a whole one more brings 1/2, not 3/2."""
    lines = said(solve(Instance({"A": {"cpu": 2}}, machines=[Machine("m", {"cpu": 3})], max_tasks=[2])))
    assert lines[-1] == "one more m begins to bring, in tasks for a whole one: A 1.5 (drfopt price)"
    lines = said(solve(Instance({"A": {"cpu": 2}}, machines=[Machine("m", {"cpu": 3})], max_tasks=[3])))
    assert lines[-1] == "one more m brings, in tasks: A 1.5"


def test_one_more_machine_brings_what_dividing_again_brings():
    """With more of b x is measured by gpu instead of cpu: what begins as 1.6 tasks of y is 2.28 for a whole machine."""
    machines = [Machine("a", {"gpu": 9}), Machine("b", {"cpu": 8, "gpu": 4})]
    users = {"x": {"cpu": 2, "gpu": 3}, "y": {"cpu": 1, "gpu": 1}}
    cluster = Instance(users, machines=machines, max_tasks={"x": 4}, eligible={"x": ["b"]})
    found = what_if(cluster, ["add 1*b"])
    brought = [float(row.change) for row in found.users]
    assert brought == pytest.approx([0.5737, 2.2788], abs=1e-4)
    assert said(solve(cluster))[-1] == "one more b brings, in tasks: y 2.28, x 0.574"
    assert "slopes are those there, and turn as shares of a changing cluster do" in str(price(cluster, units=["b"]))


def test_nobody_else_is_blamed_where_there_is_nobody_else():
    alone = explain(Instance({"A": {"cpu": 1}}, {"cpu": 4}, max_tasks=[4]))["A"].remedy
    assert alone == "its limit stops it, and something else does at the same point: a higher limit alone does not help"


def test_a_limit_of_0_of_a_task_that_fits_nowhere_under_rules():
    rules = Organisation(excluded=("gpu",))
    machines = [Machine("m", {"cpu": 2, "gpu": 1})]
    found = explain(Instance({"A": {"cpu": 3, "gpu": 1}}, machines=machines, max_tasks=[0], organisation=rules))
    assert found["A"].remedy == "its limit is 0, and its task fits on nothing open to it"


def test_a_limit_of_0_is_not_to_be_raised_where_the_sum_would_be_no_larger():
    users = {"A": {"cpu": 1}, "C": {"cpu": 2}}
    found = explain(Instance(users, {"cpu": 4}, max_tasks={"C": 0}), "throughput")
    assert found["C"].remedy == "its limit stops it, and the sum would be no larger without one"
    assert explain(Instance(users, {"cpu": 4}, max_tasks={"A": 0}), "throughput")["A"].remedy.startswith("raise its")


def test_a_remedy_that_no_policy_can_try_is_not_known():
    """Whoever has a limit of 0 has no level where all it uses is excluded: without the limit the policy refuses it."""
    rules = Organisation(excluded=("b",))
    found = explain(Instance({"A": {"a": 1}, "B": {"b": 1}}, {"a": 4, "b": 4}, max_tasks={"B": 0}, organisation=rules))
    assert found["B"].remedy.startswith("what would help is not known: user 'B' uses only resources")


def test_a_weight_of_0_has_its_column():
    instance = Instance(
        {"a": {"cpu": 1}, "z": {"cpu": 1}}, {"cpu": 10}, weights={"z": 0, "a": 1}, max_tasks={"z": 1, "a": 9}
    )
    for told in (solve(instance), explain(instance)):
        assert "weight" in str(told).splitlines()[1].split()


def test_of_whole_tasks_what_is_used_up_is_short_and_not_what_is_idle():
    machines = [Machine("m", {"cpu": 8, "mem": 16}, 2), Machine("g", {"cpu": 8, "mem": 32, "gpu": 2})]
    users = {"a": {"cpu": 1, "mem": 4}, "b": {"cpu": 2, "mem": 2}, "tr": {"cpu": 1, "mem": 2, "gpu": 0.5}}
    instance = Instance(users, machines=machines, weights={"a": 1, "b": 2, "tr": 1}, max_tasks={"tr": 3})
    assert any("tr: 2 of 3 tasks" in line and "short of 1 cpu" in line for line in said(solve(instance, integer=True)))
    # Here 6 of 24 cpu are idle, and nowhere the 6 that a task needs.
    api = Instance(
        {"api": {"cpu": 6, "mem": 4, "gpu": 1}},
        machines=[Machine("m", {"cpu": 8, "mem": 64, "gpu": 2}, 3)],
        max_tasks=[8],
    )
    assert "  api: 3 of 8 tasks (37.5 %), short of 30 cpu, 5 gpu, 20 mem" in said(solve(api, integer=True))


def test_shares_of_several_types_in_whole_tasks_are_of_what_runs_and_sums_of_one_measure():
    kinds = [TaskType({"cpu": 1, "mem": 1}, 4), TaskType({"cpu": 1, "mem": 6}, 2)]
    instance = Instance({"a": kinds, "b": {"cpu": 2, "mem": 1}}, {"cpu": 10, "mem": 24})
    found = solve(instance, integer=True)
    assert found.dominant_resources == ("cpu", "cpu") and found.dominant_shares.tolist() == [0.4, 0.6]
    compared = compare(instance, ["drf", "utilitarian"], integer=True)
    # Four and six tasks of 1 and 8/3 of 24 on average: 4/9 and 6/9; two of b are 2/5.
    assert compared.price_of_fairness["drf"] == pytest.approx(1 - (4 / 9 + 3 / 5) / (6 / 9 + 2 / 5))


def test_who_fits_nowhere_is_told_that_its_ceiling_is_too_low_as_well():
    rules = Organisation(ceilings={"A": {"cpu": 4, "mem": 1}})
    pool = Instance({"A": {"cpu": 6, "mem": 1}, "B": {"cpu": 1}}, {"cpu": 5, "mem": 1}, organisation=rules)
    found = solve(pool, integer=True)
    assert found.unplaced == ("A",) and verify(found).valid
    said = "the pool would have to have 6 of cpu instead of 5; its ceiling of cpu (4) would keep it from that too"
    assert explain(pool, "drf", "A", integer=True).users[0].remedy == said
    assert advise(found).nowhere == (("A", said),)


def test_where_two_things_run_out_together_each_is_named_and_it_is_said_when_another_stops_whom():
    """Which of two rounds of one level comes first is chance, and with more of one machine another order may hold."""
    machines = [Machine("m0", {"cpu": 3}), Machine("m2", {"cpu": 3})]
    tied = Instance({"u0": {"cpu": 2}, "u1": {"cpu": 1}}, machines=machines, eligible={"u0": ["m2"]})
    stops = {"u0": ("m2/cpu",), "u1": ("m0/cpu", "m2/cpu")}
    for exact in (False, True):
        assert dict(zip(tied.users, solve(tied, exact=exact).certificate.bottlenecks, strict=True)) == stops
    rows = explain(tied).named()
    assert {user: row.others for user, row in rows.items()} == {"u0": 1, "u1": 1}
    assert rows["u1"].remedy.endswith("instead of 3; what stops whom stays so up to 10 times as much")
    # Both are full at once; with more of a, b alone stops w.
    users = {"u": {"a": 1}, "v": {"b": 1}, "w": {"a": 1, "b": 1}}
    here, there = (explain(Instance(users, {"a": a, "b": 2})).named() for a in (2, 3))
    assert [row.stopped_by for row in here.values()] == [("a",), ("b",), ("a", "b")]
    assert [row.stopped_by for row in there.values()] == [("a",), ("b",), ("b",)]
    assert here["u"].remedy == (
        "1 more of a (now 2) would give it 2 tasks instead of 1; what stops whom changes at once, and then stays so up "
        "to 10 times as much"
    )


@pytest.mark.parametrize("most", [{}, {"b": 1}])
@pytest.mark.parametrize("exact", [False, True])
def test_who_goes_on_above_others_is_stopped_by_what_they_filled_as_well(most, exact):
    """What b fills on y is full for a too, which may run there: whether b stops there or has all that it asked for."""
    machines = [Machine("x", {"memory": 8}), Machine("y", {"memory": 2})]
    users = {"a": {"memory": 1}, "b": {"memory": 2}}
    cluster = Instance(users, machines=machines, eligible={"b": ["y"]}, max_tasks=most)
    found = solve(cluster, exact=exact)
    assert found.certificate.bottlenecks == (("x/memory", "y/memory"), None if most else ("y/memory",))
    row = explain(cluster).named()["a"]
    assert (row.stopped_by, row.others) == (("x/memory", "y/memory"), 0 if most else 1)
    if not exact:
        assert held(found).stops()[0] == row.stopped_by


def test_on_every_class_where_a_user_may_run_something_stops_it():
    machines = [Machine("x", {"cpu": 16, "mem": 32}), Machine("y", {"cpu": 12, "mem": 24}), Machine("z", {"cpu": 1})]
    users = {"a": {"cpu": 1, "mem": 4}, "b": {"cpu": 3, "mem": 1}, "g": {"cpu": 1, "mem": 1}}
    cluster = Instance(users, machines=machines, eligible={"b": ["y"], "g": ["x"]}, max_tasks={"g": 5})
    floats, fractions = (solve(cluster, exact=exact).certificate.bottlenecks for exact in (False, True))
    assert floats == fractions == (("x/mem", "y/cpu"), ("y/cpu",), None)


def test_the_lowest_level_after_a_change_is_also_that_of_who_fits_somewhere_at_last():
    machines = [Machine("m", {"cpu": 4}), Machine("k", {"cpu": 1})]
    cluster = Instance({"a": {"cpu": 1}, "b": {"cpu": 2}}, machines=machines, eligible={"b": ["k"]})
    assert what_if(cluster, ["set-capacity k/cpu=2"]).totals()["lowest level"] == (1, Fraction(2, 5))
    assert what_if(cluster, ["remove 1*k"]).totals()["lowest level"] == (1, Fraction(4, 5))
    small = Instance({"a": {"cpu": 2}, "b": {"cpu": 3}}, machines=[Machine("m", {"cpu": 1})], max_tasks={"a": 3})
    assert what_if(small, ["scale all=3"]).totals()["lowest level"] == (0, Fraction(3, 2))


def test_the_amount_that_a_task_lacks_is_told_whole():
    """Rounded down it would not do, and floats do not tell a third from what is next to it."""
    for least, shown in (("0", "0"), ("3333333333333333/10000000000000000", "0.3333333333333333")):
        found = said(solve(Instance({"u": {"cpu": "1/3"}}, machines=[Machine("m", {"cpu": least, "mem": 1})])))
        assert found == [f"unplaced: u: a machine of m would have to have 1/3 of cpu instead of {shown}"]
    assert said(solve(Instance({"u": {"cpu": 2}}, machines=[Machine("m", {"cpu": "0.1"})]))) == [
        "unplaced: u: a machine of m would have to have 2 of cpu instead of 0.1"
    ]


def test_whole_tasks_of_several_types_are_said_to_count_as_their_mean():
    """Two of three tasks run, and hold five of the nine cores that are asked for, not six."""
    job = [TaskType({"cpu": 4}, 2), TaskType({"cpu": 1}, 1)]
    whole = solve(Instance({"job": job}, {"cpu": 8}), integer=True)
    assert whole.dominant_shares.tolist() == [0.625] and whole.levels.tolist() == [0.75]
    means = "a task of who has several types counts as the mean of them in levels, in sums of shares and in what is met"
    cluster = whole.instance
    for told in (whole, explain(cluster, integer=True), compare(cluster, ["drf"], integer=True)):
        assert means in str(told)
    changes = ["set-capacity cpu=10"]
    assert means in str(what_if(cluster, changes, integer=True)) and means not in str(what_if(cluster, changes))
    assert means not in str(solve(cluster))


def test_bytes_are_told_by_the_tasks_that_run_and_not_by_their_mean():
    job = [TaskType({"cpu": 1, "memory": 2**20}, 1), TaskType({"cpu": 1}, 2)]
    assert Instance({"job": job}, {"cpu": 4, "memory": 2**33}).units == ("", "bytes")


def test_a_mean_by_weights_is_said_to_be_one():
    demands, capacity = {"a": {"cpu": 1}, "b": {"cpu": 1}}, {"cpu": 4}
    for weights, said in (({}, "geometric mean of tasks"), ({"a": 3}, "weighted geometric mean of tasks")):
        found = compare(Instance(demands, capacity, weights=weights), ["ceei"], integer=True)
        assert f"beside: ceei by {said}" in str(found)


def test_one_purchase_and_one_task_are_not_called_several():
    cluster = Instance({"a": {"cpu": 1}, "b": {"cpu": 1}}, {"cpu": 2})
    assert "; 1 purchase judged by its fair allocation, " in str(size(cluster, ["a>=1"], {"cpu": 1}))
    row = explain(Instance({"a": {"cpu": 2}}, {"cpu": 1}, max_tasks=[4])).users[0]
    assert row.remedy == "1 more of cpu (now 1) would give it 1 task instead of 0.5; what stops whom stays so up to 8"


def test_the_policies_that_a_refusal_names_take_the_instance():
    rules = Organisation(guarantees={"a": {"cpu": 1}}, meaning="surplus")
    cluster = Instance({"a": {"cpu": 1}, "b": {"cpu": 1}}, machines=[Machine("m", {"cpu": 4})], organisation=rules)
    with pytest.raises(PolicyError, match=r"whole cluster: use (.*)") as caught:
        solve(cluster, "per-server")
    named = str(caught.value).rpartition("use ")[2].split(", ")
    assert named == ["drf", "asset", "single:RESOURCE"]
    for policy in named:
        assert solve(cluster, policy.replace("RESOURCE", "cpu")).certificate.valid


def test_what_else_is_used_up_is_not_what_stops_who_is_below_a_ceiling():
    """a stops at the ceiling of its group while there is cpu left, and b later when there is none."""
    rules = Organisation(groups=[Group("eng", ceiling={"cpu": 4})], paths={"a": "eng"})
    row = explain(Instance({"a": {"cpu": 1}, "b": {"cpu": 1}}, {"cpu": 10}, organisation=rules))["a"]
    assert row.stopped_by == ("eng ceiling of cpu",)
    assert row.remedy == "set-capacity cpu=+1% would not raise it: what stops it is eng ceiling of cpu"


def test_amounts_are_told_as_tables_tell_them_and_no_change_prints_as_none():
    gib = 2**30
    cluster = Instance(
        {"a": {"cpu": 1, "memory": 2 * gib}, "b": {"cpu": 1, "memory": 4 * gib}}, {"cpu": 100, "memory": 32 * gib}
    )
    assert explain(cluster)["a"].remedy == (
        "1 MiB more of memory (now 32 GiB) would give it 8.00024 tasks instead of 8; "
        "what stops whom stays so up to 282.843 GiB"
    )
    large = explain(Instance({"a": {"cpu": 1}, "b": {"cpu": 1}}, {"cpu": 10**9}))["a"].remedy
    assert large.startswith("1,000 more of cpu (now 1,000,000,000) would give it 500000500 tasks instead of 500000000;")


def test_guarantees_of_memory_that_cannot_be_met_are_told_as_tables_tell_memory():
    gib = 2**30
    users, rules = {u: {"memory": gib} for u in "ab"}, {u: {"memory": 48 * gib} for u in "ab"}
    cluster = Instance(users, {"memory": 64 * gib}, organisation=Organisation(guarantees=rules))
    said = "guarantees that cannot be met: a has 32 GiB of 48 GiB memory, b has 32 GiB of 48 GiB memory"
    assert said in solve(cluster).notes() and said in str(explain(cluster))
    rules = {"a": {"memory": 2**40 + 123 * 2**20}, "b": {"memory": 10**8}}
    cluster = Instance({u: {"memory": gib} for u in "ab"}, rules["a"], organisation=Organisation(guarantees=rules))
    said = "guarantees that cannot be met: a has 1 TiB of 1.0001 TiB memory, b has 95.36 MiB of 95.37 MiB memory"
    assert said in solve(cluster).notes()


def test_what_holds_up_to_an_amount_is_not_rounded_up():
    # Up to 3 - 10^-6 / 3.
    assert [not_above(x) for x in (2.9999997, 3.0000001, 3.0, 1234567.0)] == [2.99999, 3.0, 3.0, 1234560.0]
    assert apart(7.75000003, 7.75) == ("7.75000003", "7.75")
    assert apart(8.0, 7.75) == ("8", "7.75")
    assert apart(2**40, 2**40 + 2**26, 4, written_in("bytes")) == ("1 TiB", "1.0001 TiB")


def test_things_that_run_out_together_in_a_pool_are_all_named_by_fractions_and_floats():
    users = {"u": {"a": 1, "b": 1}, "v": {"a": 1, "b": 1}, "w": {"a": 1}}
    for cluster in (Instance(users, {"a": 3, "b": 2}), Instance(users, {"a": 3, "b": 2}, max_tasks={"w": 5})):
        for exact in (False, True):
            found = solve(cluster, "tasks", exact=exact)
            assert found.certificate.bottlenecks == (("a", "b"), ("a", "b"), "a")
            assert [user["bottleneck"] for user in found.to_dict()["users"]] == ["a", "a", "a"]
    rules = Organisation(guarantees={"u": {"a": "1/2"}})
    ruled = Instance({"u": {"a": 1, "b": 1}, "v": {"a": 1, "b": 1}}, {"a": 2, "b": 2}, organisation=rules)
    assert {solve(ruled, exact=exact).certificate.bottlenecks for exact in (False, True)} == {(("a", "b"), ("a", "b"))}


def test_what_is_excluded_from_shares_counts_in_none_that_is_told():
    users = {"u0": {"r0": 2, "r1": 1}, "u1": {"r0": 1, "r1": 2}, "u2": {"r0": 1}}
    rules = Organisation(excluded=["r1"])
    cluster = Instance(users, {"r0": 4, "r1": 1}, organisation=rules, max_tasks={"u0": 4, "u2": 4})
    for exact in (False, True):
        found = solve(cluster, "tasks", exact=exact)
        assert set(found.dominant_resources) == {"r0"}
        assert [float(x) for x in found.dominant_shares] == pytest.approx([1 / 6, 1 / 12, 3 / 4])
        assert found.shortfall.demand_met == pytest.approx((1 / 6 + 3 / 4) / 3)
    for unit in price(cluster, "tasks").units:
        # All of r0 is in use whatever there is.
        assert unit.more.sum_of_shares == unit.less.sum_of_shares == 0
    each = Instance(users, machines=[Machine("m", {"r0": 4, "r1": 1})], organisation=rules)
    assert [unit.more.sum_of_shares for unit in price(each, "per-server").units if unit.name == "m/r0"] == [0]


def test_two_ceilings_one_just_above_the_other_are_raised_together():
    rules = Organisation(ceilings={"a": {"cpu": 2, "gpu": 3}})
    cluster = Instance({"a": {"cpu": 2, "gpu": 2}}, {"cpu": 20, "gpu": 20}, organisation=rules)
    assert explain(cluster, integer=True)["a"].remedy == (
        "raise its ceiling of cpu and gpu: without these it would have 10 tasks instead of 1"
    )


def test_the_price_of_the_lowest_level_is_that_of_all_who_are_lowest():
    """Two resources hold two levels that are equal: more of one raises no lowest level, less of either lowers it."""
    cluster = Instance({"u": {"a": 2}, "v": {"b": 1}, "w": {"b": 1}}, {"a": 1, "b": 1})
    prices = {unit.name: (unit.more.price, unit.less.price) for unit in price(cluster, "tasks").units}
    assert prices == {"a": (0, 0.5), "b": (0, 0.5)}


def test_a_whole_task_is_told_all_that_the_pool_lacks_for_it():
    row = explain(Instance({"u": {"a": 2, "b": 1}}, {"a": 1, "b": 0}), integer=True)["u"]
    assert row.remedy == "the pool would have to have 2 of a instead of 1 and 1 of b instead of 0"


@pytest.mark.parametrize("exact", [False, True])
def test_who_is_served_after_tiers_that_are_at_their_limits_is_stopped_by_what_has_a_price(exact):
    rules = Organisation(tiers={"b": -1})
    cluster = Instance({"a": {"cpu": 1}, "b": {"cpu": 1}}, {"cpu": 4}, max_tasks={"a": 0}, organisation=rules)
    assert solve(cluster, "alpha:2", exact=exact).certificate.bottlenecks == (None, "cpu")
    assert explain(cluster, "alpha:2")["b"].remedy == "set-capacity cpu=+1% would give it 4.04 tasks instead of 4"


SAVED = [(0.000396286, 0.0004), (0.0121, 0.013), (0.5, 0.5), (0.0, 0.0), (0.996, 1.0)]


@pytest.mark.parametrize(("value", "text"), SAVED)
def test_what_could_be_saved_at_most_is_rounded_up(value: float, text: float) -> None:
    assert not_below(value, 2) == text


def test_a_bound_is_rounded_up_and_what_is_not_all_never_to_the_whole():
    assert [at_most(x) for x in (1 / 3, 0.5, 0.25 + 1e-16, 0.9999999)] == [
        "33.3334%",
        "50.0000%",
        "25.0000%",
        "99.99999%",
    ]
    assert [at_most(x) for x in (1.0, 1 - 1e-12, 0.0, 1e-9)] == ["100.0000%", "100.0000%", "0.0%", "0.0001%"]
    assert [share_of_all(x) for x in (0.99999, 1 - 1e-12, 1.0, 2 / 3, 0.99985, 1.5)] == [
        "0.9999", "1.0000", "1.0000", "0.6667", "0.9999", "1.5000",
    ]  # fmt: skip
    assert fixed([0.99999, 0.1234], whole=1) == ["<1.000", "0.123"] and fixed([0.99999, 0.1234])[0] == "1.000"
    assert fixed([1 - 5e-10, 0.5], share=True) == ["100.0", "50.0"]
    assert fixed([1 - 5e-10, 0.5], share=True, error=0) == ["<100.0", "50.0"]
    assert part_of(100 * (1 - 1e-10), 100) == "100" and part_of(100 * (1 - 1e-10), 100, error=0) == "99.99999999"
    assert part_of(math.nextafter(100, 0), 100, error=0) == "<100"
