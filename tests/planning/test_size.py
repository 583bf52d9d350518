"""What to buy: fairness costs more than room, proofs refuse wrong prices, and what cannot be is said."""

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from drfopt import (
    Group,
    Instance,
    InstanceError,
    Machine,
    Organisation,
    PolicyError,
    SolverError,
    TaskType,
    TimeLimitError,
    size,
    solve,
    what_if,
)
from drfopt.base.deadline import NEVER, Deadline
from drfopt.model.policies import policy_named
from drfopt.planning.sizing import branch_and_bound, purchase
from drfopt.planning.sizing.branch_and_bound import PurchaseSearch
from drfopt.planning.sizing.needs import Needs
from drfopt.planning.sizing.offers import shop
from drfopt.planning.sizing.regions import Region
from drfopt.planning.sizing.relaxation import Relaxation
from drfopt.planning.sizing.targets import Target, targets_of

PAPER = Instance.library("nsdi2011")
CLUSTER = Instance(
    {"A": {"cpu": 1, "gpu": 1}, "B": {"cpu": 4}},
    machines=[Machine("plain", {"cpu": 8, "gpu": 0}, 2), Machine("gpus", {"cpu": 8, "gpu": 4}, 1)],
    max_tasks={"A": 20},
)


def test_fairness_costs_more_than_room():
    targets = "A>=5,B>=4"
    fair = size(PAPER, targets, {"cpu": 1, "memory": 1}, steps={"cpu": 2, "memory": 4})
    assert fair.status == "optimal" and fair.cost == fair.bound == 22
    # 5 and 4 tasks need 17 CPUs and 24 GB: 8 and 6 more, 16 in these steps.  Fairness would not hand them out so.
    larger = Instance([list(row) for row in PAPER.exact_demands], [17, 26])
    assert solve(larger, exact=True).tasks[0] < 5
    assert fair.bought == {"cpu": 14, "memory": 8}
    assert fair.cluster.exact_capacity == (23, 26)


def test_a_market_has_the_room_it_pays_for():
    found = size(PAPER, "A>=5,B>=4", {"cpu": 1, "memory": 1}, policy="ceei", steps={"cpu": 1, "memory": 1})
    assert (found.status, found.cost) == ("optimal", 14)


def test_divisible_amounts_are_bought_to_within_the_gap():
    found = size(PAPER, "*.level>=7/10", {"cpu": 1, "memory": 1})
    # Both have memory or CPU as dominant: with C and M, 7/10 M / 4 tasks of A and 7/10 C / 3 of B must fit.
    assert found.status == "optimal" and found.gap <= 1e-4
    assert abs(found.cost - Fraction(3, 2)) <= Fraction(3, 2) / 10**4


def test_levels_after_the_purchase_are_of_the_larger_cluster():
    found = size(CLUSTER, "A.share>=1/2", {"gpus": 3, "plain": 1})
    gpus = found.cluster.exact_capacity[1]
    assert found.status == "optimal"
    assert found.allocation.tasks[0] >= gpus / 2


def test_from_nothing_only_what_is_bought_is_there():
    found = size(CLUSTER, "A>=8,B>=2", {"gpus": 3, "plain": 1}, from_nothing=True)
    # Two with 8 GPUs have the room, but levels are equal at 2/3: A would have 16/3 of her 8 tasks.
    assert found.cost == 9
    assert found.cluster.counts.tolist() == [int(count) for count in found.bought.values() if count]


def test_one_user_may_be_named_besides_everybody():
    targets = targets_of("B>=1,*>=2", CLUSTER)
    assert [str(target) for target in targets] == ["A>=2", "B>=1"]


@pytest.mark.parametrize(
    "wanted", ["A>=5,A>=4", "A>=4,A>=5", ["*>=9", "A>=5", "A>=4"], ["*>=9,A>=4", Target(0, "A", "tasks", 5)]]
)
def test_of_two_targets_for_one_user_none_is_dropped(wanted):
    assert str(targets_of(wanted, CLUSTER)[0]) == "A>=5"
    (both,) = {target.least for target in targets_of("*>=2,*>=3", CLUSTER)}
    assert both == 3


def test_who_can_run_nothing_is_not_everybody_and_that_is_said():
    cluster = Instance({"a": {"cpu": 1}, "b": {"cpu": 9}}, machines=[Machine("m", {"cpu": 4})], max_tasks=[10, 2])
    found = size(cluster, "*>=100%", {"m": 1})
    assert [target.name for target in found.targets] == ["a"]
    assert "unplaced (a task fits on nothing open to it), without a target: b" in str(found)


def test_a_percentage_is_of_the_limit():
    (target,) = targets_of("A>=50%", CLUSTER)
    assert target.least == 10


def test_what_does_not_fit_is_told_with_the_smallest_concession():
    found = size(PAPER, "A>=5,B>=4", {"cpu": 1, "memory": 1}, most={"cpu": 3, "memory": 8})
    assert found.status == "infeasible" and found.cost is None and found.gap is None
    # 12 CPUs: a part f of 5 + 12 CPUs.
    assert found.concessions.all == pytest.approx(12 / 17, abs=1e-6)
    alone = {target.name: factor for target, factor in found.concessions.alone}
    assert alone["A"] == pytest.approx(0, abs=1e-6) and alone["B"] == pytest.approx((12 - 5) / 3 / 4, abs=1e-6)
    assert "nothing that may be bought meets the targets" in str(found)


def test_room_without_fairness_is_told_apart():
    found = size(
        PAPER, "A>=5,B>=4", {"cpu": 1, "memory": 1}, most={"cpu": 8, "memory": 6}, steps={"cpu": 1, "memory": 1}
    )
    assert found.status == "infeasible" and found.concessions.all == 1
    assert "no fair allocation of anything for sale meets the targets\n" in str(found)
    assert found.nearest is not None


def test_shares_are_held_against_what_there_is():
    # Nine tenths of 18 GB for A, and of 9 CPUs or more for B, which needs 1 GB for 3 CPUs.
    found = size(PAPER, "A.share>=9/10,B.share>=9/10", {"cpu": 1})
    assert found.concessions.all == pytest.approx(18 / (16.2 + 2.7))
    assert "at least: A.share down to 0.85, B.share down to 0.6\n" in str(found)
    assert size(PAPER, "A.share>=9/10,B>=12", {"cpu": 1}).concessions.all == pytest.approx(18 / 28.2)


def test_room_for_whole_tasks_is_not_claimed_of_divisible_ones():
    # Three machines of three CPUs: of two each one runs one whole, and one and a half in parts.
    machines = [Machine("m", {"cpu": 3}, 3), Machine("g", {"gpu": 1})]
    cluster = Instance({"A": {"cpu": 2}, "B": {"gpu": 1}}, machines=machines)
    found = size(cluster, "A>=4,B>=1", {"g": 1}, integer=True, most={"g": 1})
    assert found.status == "infeasible"
    assert "\nno fair allocation of anything for sale meets the targets" in str(found)


def test_of_several_best_allocations_it_is_said_which_one_was_judged():
    alike = Instance({"A": {"cpu": 1}, "B": {"cpu": 1}}, {"cpu": 1})
    found = size(alike, "A>=1,B>=1", {"cpu": 1}, policy="throughput", most={"cpu": 1}, steps={"cpu": 1})
    assert (found.status, found.concessions.all) == ("infeasible", 1)  # one of each would be as good a sum
    assert "meets the targets, as far as solve() returns one of several that are best\n" in str(found)


def test_what_her_own_limit_forbids_is_told_at_once():
    limited = Instance(
        {"A": {"cpu": 1}, "B": {"cpu": 2}}, machines=[Machine("m", {"cpu": 10}, 4)], max_tasks={"A": 8, "B": 3}
    )
    found = size(limited, "*.level>=3/10,A.share>=1/4", {"m": 1})
    assert (found.status, found.parts, found.cost) == ("infeasible", 0, None)
    # At most 8/40 and 6/40 of today's CPUs, and of more CPUs less.
    told = {(target.name, target.measure): most for target, most in found.concessions.limited}
    expected = {("A", "level"): 1 / 5, ("A", "share"): 1 / 5, ("B", "level"): 3 / 20}
    assert told == pytest.approx(expected) and found.concessions.all == pytest.approx(1 / 2)
    assert "raise these limits, or ask for no more than they allow: 0.15 for B.level>=3/10, " in str(found)
    assert size(limited, "*.level>=3/20", {"m": 1}).cost == 0
    # Of a smaller cluster it is more.
    assert size(limited, "*.level>=3/10", {"m": 1}, from_nothing=True).cost == 1


def test_targets_that_are_just_met_by_several_task_types_on_machines():
    mixed = Instance(
        {"A": [TaskType({"cpu": 1}, 6), TaskType({"cpu": 2}, 4, machines=("n",))]},
        machines=[Machine("m", {"cpu": 10}, 1), Machine("n", {"cpu": 10}, 1)],
    )
    found = size(mixed, "A>=10", {"m": 1})
    assert (found.status, found.cost) == ("optimal", 0)


def test_guarantees_and_groups_are_divided_as_they_are():
    shared = Instance(
        {"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}},
        {"cpu": 9, "memory": 18},
        organisation=Organisation(guarantees={"A": {"cpu": 3}}, ceilings={"B": {"cpu": 6}}),
    )
    found = size(shared, "A>=5,B>=2", {"cpu": 1, "memory": 1}, steps={"cpu": 1, "memory": 1}, time_limit=20)
    assert found.status == "optimal"
    again = solve(found.cluster)
    assert all(target.met(target.reached(again)) for target in found.targets)
    cheaper = [
        (cpu, memory)
        for cpu in range(8)
        for memory in range(8)
        if cpu + memory < found.cost
        and all(
            target.met(target.reached(solve(found.shop.after([Fraction(cpu), Fraction(memory)]))))
            for target in found.targets
        )
    ]
    assert not cheaper
    with pytest.raises(InstanceError, match="user 'B' may use 6, whatever is bought"):
        size(shared, "B>=3", {"cpu": 1})


def test_no_time_is_an_error_that_says_what_is_known():
    with pytest.raises(TimeLimitError, match="none costs less than"):
        size(PAPER, "A>=5", {"cpu": 1, "memory": 1}, time_limit=1e-9)


def test_amounts_that_may_be_any_number_are_turned_to_the_cheapest_proportions():
    found = size(PAPER, "A>=5,B>=4", {"cpu": 1, "memory": 1})
    assert (found.status, found.cost) == ("optimal", Fraction(55, 3))
    assert found.bought == {"cpu": 8, "memory": Fraction(31, 3)}


@pytest.mark.slow
def test_any_amount_for_one_target_is_proven():
    # With C of cpu A has 5 of a memory of 20 C / (C - 5), so that C + 20 C / (C - 5) is least at 15 and 30.
    found = size(PAPER, "A>=5", {"cpu": 1, "memory": 1}, time_limit=300)
    assert (found.status, found.cost) == ("optimal", 18)
    assert found.bought == {"cpu": 6, "memory": 12}


def test_a_search_without_an_end_says_what_to_give(monkeypatch):
    monkeypatch.setattr(purchase, "PATIENCE", 1)  # a first purchase is found in 0.03
    found = size(PAPER, "A>=5", {"cpu": 1, "memory": 1}, policy="utilitarian")
    assert found.status == "time_limit" and found.impatient
    assert "sell them in pieces (--unit)" in str(found)
    monkeypatch.setattr(purchase, "PATIENCE", 1e-9)
    with pytest.raises(TimeLimitError, match="sell them in pieces"):
        size(PAPER, "A>=5", {"cpu": 1, "memory": 1}, policy="utilitarian")
    monkeypatch.setattr(branch_and_bound, "VAIN", 20)
    with pytest.raises(TimeLimitError, match="in 21 linear programs: say how much may be bought at the most"):
        size(CLUSTER, "A.share>=1", {"gpus": 1, "plain": 1})


@pytest.mark.parametrize(
    ("targets", "costs", "more", "message"),
    [
        ("", {"cpu": 1}, {}, "is no target"),
        ("A>5", {"cpu": 1}, {}, "is no target: write for example"),
        ("C>=5", {"cpu": 1}, {}, "there is no user 'C'"),
        ("A.shares>=5", {"cpu": 1}, {}, "did you mean 'share'"),
        ("A>=0", {"cpu": 1}, {}, "ask for a positive number"),
        ("A>=inf", {"cpu": 1}, {}, "is not a number"),
        ("A>=1e300", {"cpu": 1}, {}, "nobody needs over"),
        ("A.share>=2", {"cpu": 1}, {}, "no share exceeds 1"),
        ("A>=50%", {"cpu": 1}, {}, "has no limit"),
        ("A>=5", {}, {}, "nothing is for sale"),
        ("A>=5", {"cpus": 1}, {}, "did you mean 'cpu'"),
        ("A>=5", {"cpu": 0}, {}, "cost of 'cpu' is 0"),
        ("A>=5", {"cpu": "x"}, {}, "'x' is not a number"),
        ("A>=5", {"cpu": 1}, {"most": {"memory": 3}}, "it is not for sale"),
        ("A>=5", {"cpu": 1}, {"most": {"cpu": -1}}, "most of 'cpu' is -1"),
        ("A>=5", {"cpu": 1}, {"steps": {"cpu": 0}}, r"unit \(steps\) of 'cpu' is 0"),
    ],
)
def test_bad_questions_are_answered_in_one_sentence(targets, costs, more, message):
    with pytest.raises(InstanceError, match=message):
        size(PAPER, targets, costs, **more)


@pytest.mark.parametrize(
    ("rule", "remedy"),
    [
        ({"organisation": Organisation(ceilings={"A": {"cpu": "1/2"}})}, "raise its ceiling"),
        ({}, "raise its max_tasks"),
    ],
)
def test_of_no_whole_task_there_is_no_part(rule, remedy):
    half = Instance({"A": {"cpu": 1}}, {"cpu": 8}, max_tasks=[3 if rule else "1/2"], **rule)
    with pytest.raises(InstanceError, match=f"may have no whole task of which this could be a part: {remedy}"):
        size(half, "A>=50%", {"cpu": 1}, integer=True)


def test_what_a_cluster_cannot_sell():
    with pytest.raises(InstanceError, match="machines are bought one by one"):
        size(CLUSTER, "A>=5", {"gpus": 1}, steps={"gpus": 2})
    with pytest.raises(InstanceError, match="fits on no machine that is there or for sale"):
        size(CLUSTER, "A>=5", {"plain": 1}, from_nothing=True)
    with pytest.raises(InstanceError, match="has at most 20 tasks"):
        size(CLUSTER, "A>=21", {"plain": 1})
    with pytest.raises(PolicyError, match="time limit"):
        size(CLUSTER, "A>=2", {"plain": 1}, time_limit=0)


def relaxation(targets="A>=8,B>=3"):
    sale = shop(CLUSTER, {"gpus": 3, "plain": 1})
    program = Relaxation(sale)
    needs = Needs(CLUSTER, policy_named("drf"), targets_of(targets, CLUSTER))
    region = Region(np.zeros(2), np.full(2, 10.0), np.zeros((2, 2)))
    low, high = program.totals.after(region.low), program.totals.after(region.high)
    return program, needs.between(low, high, program.totals.quotients(region), program.most(region.high)), region


def test_prices_prove_what_the_program_says_and_wrong_ones_less():
    program, needs, region = relaxation()
    found = program.solve(needs, region, NEVER)
    cost = float(program.cost @ found.counts)
    assert found.prices.bound(program.cost, needs, region, program.totals) == pytest.approx(cost, rel=1e-9)
    rng = np.random.default_rng(7)
    for _ in range(50):
        # Any prices at all are a proof, of less: here of capacities whatever they are worth.
        table = rng.exponential(size=program.room.shape)
        task = np.where(program.fits, program.parts.demands @ table.T, np.inf).min(axis=1)
        step, there = (program.adds * table).sum(axis=(1, 2)), float((program.there * table).sum())
        other = type(found.prices)(task, step, there, np.zeros((2, 2)))
        assert other.bound(program.cost, needs, region, program.totals) <= cost * (1 + 1e-9)


def test_needs_hold_at_every_purchase_that_meets_the_targets():
    targets = targets_of("A>=6,B>=3", CLUSTER)
    sale = shop(CLUSTER, {"gpus": 3, "plain": 1})
    program, needs = Relaxation(sale), Needs(CLUSTER, policy_named("drf"), targets)
    region = Region(np.zeros(2), np.full(2, 6.0), np.zeros((2, 2)))
    low, high = program.totals.after(region.low), program.totals.after(region.high)
    least = needs.between(low, high, program.totals.quotients(region), program.most(region.high))
    met = 0
    for plain in range(7):
        for gpus in range(7):
            found = solve(sale.after([Fraction(plain), Fraction(gpus)]), exact=True)
            if all(target.reached(found) >= target.least for target in targets):
                met += 1
                here = program.totals.after(np.array([plain, gpus], dtype=float))
                assert all(float(x) >= need for x, need in zip(found.tasks, least.at(here), strict=True))
    assert met


def test_the_search_says_how_far_it_has_got_when_it_is_stopped():
    search = PurchaseSearch(
        shop(PAPER, {"cpu": 1}), policy_named("drf"), targets_of("B>=4", PAPER), False, Deadline.after(0)
    )
    search.run()
    assert not search.done and search.best is None and search.bound == 0


def test_the_answer_as_data():
    found = size(PAPER, "A>=5,B>=4", {"cpu": 1, "memory": 1}, steps={"cpu": 2, "memory": 4}).to_dict()
    assert found["buy"][0] == {"name": "cpu", "cost": 1, "most": None, "amount": 14}
    assert [target["met"] for target in found["targets"]] == [True, True]
    assert found["allocation"]["certificate"]["valid"]


def test_levels_of_a_market_are_over_the_incomes_of_groups():
    """Nothing has to be bought: A has 2 tasks, 4/9 of the memory, of half its group's income."""
    groups = [Group("g", guarantee={"cpu": 2}, ceiling={"gpu": 8}), Group("g/k")]
    rules = Organisation(groups=groups, paths={"A": "g/k", "B": "g/k"})
    users = {"A": {"cpu": 1, "memory": 2, "gpu": 2}, "B": {"cpu": 1, "memory": 1, "gpu": 1}}
    cluster = Instance(users, {"cpu": 10, "memory": 9, "gpu": 9}, organisation=rules)
    found = size(cluster, "A.level>=3/5,B>=4", {"gpu": 4}, policy="ceei", integer=True, most={"gpu": 1})
    assert (found.status, found.cost) == ("optimal", 0)


def test_who_has_its_limit_in_a_market_meets_a_target_of_all_of_it():
    """What is enclosed by two fractions, the lower a hair below, is met as a float is."""
    cluster = Instance(
        {"A": {"cpu": "1/2", "mem": "1/2"}, "B": {"cpu": "1/3", "mem": "0.3"}},
        {"cpu": 3, "mem": "0.9"},
        max_tasks={"B": "1/2"},
    )
    for policy in ("ceei", "alpha:2"):
        found = size(cluster, "B>=100%", {"cpu": 1}, policy=policy, steps={"cpu": 1}, most={"cpu": 2})
        assert (found.status, found.cost) == ("optimal", 0)
        assert "targets missed: 0 of 1" in str(found)


def test_what_is_excluded_is_in_no_share():
    """Neither in what a target asks for nor in what `solve`, `whatif` and `compare` sum up."""
    rules = Organisation(excluded=("mem",))
    cluster = Instance({"A": {"cpu": 1, "mem": 1}}, {"cpu": 8, "mem": 2}, organisation=rules)
    assert solve(cluster).dominant_shares.tolist() == [0.25]
    assert what_if(cluster, ["set-weight A=2"]).totals()["sum of dominant shares"] == (Fraction(1, 4), Fraction(1, 4))
    assert size(cluster, "A.share>=1/2", {"mem": 1}, steps={"mem": 1}).cost == 2
    limited = Instance({"A": {"cpu": 1, "mem": 1}}, {"cpu": 8, "mem": 2}, max_tasks=[4], organisation=rules)
    assert solve(limited).shortfall.demand_met == what_if(limited, []).totals()["demand met"][0] == 0.5
    # Who needs nothing else is short of no part that could be told.
    apart = Instance({"A": {"mem": 1}}, {"cpu": 8, "mem": 2}, max_tasks=[4], organisation=rules)
    assert "2 mem in all\n" in str(solve(apart, "tasks")) and "demand met" not in str(what_if(apart, [], "tasks"))


@pytest.mark.parametrize("cpu, memory", [(1000, 1), (1, "1/1000"), (10**9, 1)])
def test_costs_far_apart_are_weighed(cpu, memory):
    """Of the cheap one more than a hundred times as much is bought as of the dear one, for the same money."""
    nsdi = Instance({"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}}, {"cpu": 9, "memory": 18})
    found = size(nsdi, "A>=5,B>=4", {"cpu": cpu, "memory": Fraction(memory)})
    # 17 cpu run 5 and 4 tasks; A's share 20 / M is then B's 12 / 17.
    assert float(found.cost) == pytest.approx(8 * cpu + float(Fraction(memory)) * 31 / 3, rel=2e-4)


def test_of_a_limit_of_whole_tasks_a_part_of_one_is_not_asked_for():
    cluster = Instance({"A": {"cpu": 3}}, {"cpu": 1}, max_tasks={"A": "5/2"})
    assert float(size(cluster, "A>=100%", {"cpu": 1}, integer=True).cost) == pytest.approx(5, rel=2e-4)
    with pytest.raises(InstanceError, match="user 'A' has at most 2 tasks"):
        size(cluster, "A>=5/2", {"cpu": 1}, integer=True)


def test_costs_far_apart_are_weighed_or_named(monkeypatch):
    costs = {"cpu": Fraction(1, 10**9), "memory": 10**12}
    most, steps = dict.fromkeys(costs, 100), dict.fromkeys(costs, 1)
    found = size(Instance.library("nsdi2011"), "A>=5", costs, most=most, steps=steps)
    assert found.bought["memory"] == 8 and found.gap <= 1e-4

    def refuses(search):
        raise SolverError("no optimum")

    monkeypatch.setattr(PurchaseSearch, "run", refuses)
    message = r"one memory costs 1e\+12 and one cpu 1e-09, further apart than a solver weighs: give costs"
    with pytest.raises(SolverError, match=message):
        size(Instance.library("nsdi2011"), "A>=5", costs, most=most, steps=steps)


def test_an_end_that_a_solver_does_not_find_is_not_needed():
    """HiGHS ended a program of one resource with the status 'Not Set', and so did size."""
    cluster = Instance({"a": {"cpu": 1}, "b": {"cpu": 1}}, {"cpu": 2469130}, max_tasks={"a": 1234567})
    assert size(cluster, "a>=1234567", {"cpu": 1}, steps={"cpu": 1}).cost == 4


def test_what_a_formulation_file_reaches_is_told_as_it_is():
    """Its solver is off by more than a level may be: a millionth is granted, said so, and not hidden."""
    cluster = Instance([[1]], [1])
    (target,) = targets_of("u1>=4", cluster)
    just, short = 4 * (1 - 9e-7), 4 * (1 - 2e-6)
    assert [target.met(just), target.met(just, claimed=True), target.met(short, claimed=True)] == [False, True, False]
    found = size(
        cluster, "u1>=4", {"r1": 1}, policy=str(Path(__file__).parents[2] / "formulations" / "drf.py"), steps={"r1": 1}
    )
    assert found.cost == 3 and "a target counts as met from 1e-06 of it below" in str(found)
    reached = found.to_dict()["targets"][0]["reached"]
    assert reached == found.allocation.tasks[0]


def test_what_a_limit_allows_can_be_asked_for():
    """1/6 was said to be 0.166667, which was refused with the same number."""
    users = {"A": {"cpu": 1}, "B": {"cpu": 1}}
    cluster = Instance(users, machines=[Machine("m", {"cpu": 6})], max_tasks={"A": 1})
    found = size(cluster, "A.share>=1/5", {"m": 1}, most={"m": 5})
    assert "raise this limit, or ask for no more than it allows: 0.166666 for A.share>=1/5" in str(found)
    assert "above is what came nearest of 1 purchase judged" in str(found)
    assert size(cluster, "A.share>=0.166666", {"m": 1}, most={"m": 5}).cost == 0
    # A third is 99.9998000004 % of it.
    just = size(Instance([[1]] * 2, [3], max_tasks=[1, None]), "u1.share>=0.333334", {"r1": 1})
    assert "at most 99.9999% of every target can be met together" in str(just)
