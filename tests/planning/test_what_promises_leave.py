"""What is said, and what is priced, where guarantees leave others nothing, or more than a sum would give."""

import pytest

from drfopt import Group, Instance, Machine, Organisation, explain, price, solve, what_if
from drfopt.certificates.bounds import left_by_promises
from drfopt.model.policies import policy_named
from drfopt.planning.advice import advise

ALIKE = {"A": {"gpu": 1}, "B": {"gpu": 1}}
PROMISED = Organisation(guarantees={"A": {"gpu": 2}})
POOL = Instance(ALIKE, {"gpu": 2}, max_tasks={"B": 2}, organisation=PROMISED)
MACHINES = Instance(
    ALIKE,
    machines=[Machine("m", {"gpu": 2}), Machine("k", {"cpu": 2})],
    max_tasks={"B": 2},
    organisation=PROMISED,
)
MARKETS = ("ceei", "alpha:2", "alpha:1/2", "utilitarian", "throughput")


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("policy", MARKETS)
@pytest.mark.parametrize(
    ("cluster", "cell", "bought", "more"),
    [(POOL, "gpu", ("gpu", 2), "gpu=+1%"), (MACHINES, "m/gpu", ("m", 1), "add 1*m")],
    ids=["pool", "machines"],
)
def test_who_is_left_nothing_by_a_promise_is_stopped_by_what_is_used_up(policy, cluster, cell, bought, more, exact):
    found = solve(cluster, policy, exact=exact)
    assert list(map(float, found.tasks)) == [2, 0]
    assert [cell in (stop or ()) for stop in found.certificate.bottlenecks] == [True, True]
    assert not any("ceiling" in line for line in found.shortfall.sentences())
    if exact:
        return
    advice = advise(found)
    assert [(one.name, one.amount) for one in advice.purchases] == [bought]
    one, other = explain(cluster, policy).users
    assert (one.reason, other.reason) == ("capacity", "capacity")
    assert one.stopped_by == other.stopped_by == (cell,)
    if policy in MARKETS[3:]:  # either may have what is added
        assert all(f"{more} could give it" in row.remedy for row in (one, other))
    else:
        assert f"{more} would not raise it" in one.remedy and f"{more} would give it" in other.remedy


@pytest.mark.parametrize("policy", MARKETS[3:])
def test_more_of_what_a_promise_lacks_goes_to_whom_it_is_made(policy):
    unmet = Organisation(guarantees={"C": {"cpu": 2}})
    cluster = Instance({"A": {"cpu": 1}, "C": {"cpu": 1, "gpu": 3}}, {"cpu": 4, "gpu": 5}, organisation=unmet)
    row = explain(cluster, policy, "C").users[0]
    assert row.remedy == "set-capacity gpu=+1% would give it 1.68333 tasks instead of 1.66667"
    after = what_if(cluster, ["set-capacity gpu=+1%"], policy).users[1].after
    assert float(after) == pytest.approx(5.05 / 3)


def test_what_only_moves_tasks_within_an_equal_sum_helps_nobody():
    rules = Organisation(groups=[Group("g", ceiling={"cpu": 2})], paths={"A": "g", "B": "g"})
    cluster = Instance({"A": {"cpu": 1}, "B": {"cpu": 1, "mem": 1}}, {"cpu": 4, "mem": 1}, organisation=rules)
    row = explain(cluster, "throughput", "B").users[0]
    assert row.remedy == "with set-capacity mem=+1% the sum is no larger: what stops it is g ceiling of cpu"


@pytest.mark.parametrize("policy", MARKETS)
def test_where_promises_leave_nothing_to_anybody_no_sum_is_to_be_proven(policy):
    unmet = Organisation(guarantees={"B": {"gpu": 3}, "C": {"gpu": 2}}, tiers={"A": 1})
    found = solve(
        Instance({"A": {"gpu": 3}, "B": {"gpu": 2}, "C": {"gpu": 1}}, {"gpu": "3.03"}, organisation=unmet), policy
    )
    assert found.tasks.tolist() == pytest.approx([0, 0.909, 1.212]) and found.certificate.valid


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("policy", ["ceei", "alpha:2", "alpha:1/2"])
def test_who_is_left_no_more_and_would_pay_more_than_the_prices_say_is_named(policy, exact):
    """A keeps all cpu, of which B would buy at any price and A at 1/9 or less; C has what it pays for."""
    users = {"A": {"cpu": 1}, "B": {"cpu": 1, "mem": 1}, "C": {"mem": 1}}
    rules = Organisation(guarantees={"A": {"cpu": 9}})
    cluster = Instance(users, {"cpu": 9, "mem": 4}, organisation=rules)
    found = solve(cluster, policy, exact=exact)
    assert (found.prices.tolist(), found.unpriced) == (pytest.approx([0, 0.25]), ("A", "B"))
    assert found.to_dict()["unpriced"] == ["A", "B"]
    for said in (found, price(cluster, policy)):
        assert "out who is left no more and would pay more: A, B" in " ".join(str(said).split())
    # A sum counts everybody, and who has all it could have would pay for no more.
    assert "unpriced" not in solve(cluster, "utilitarian", exact=exact).to_dict()
    assert solve(Instance(users, {"cpu": 9, "mem": 4}), policy, exact=exact).unpriced == ()
    limited = Instance({"A": {"cpu": 1}}, {"cpu": 9}, max_tasks={"A": 9}, organisation=rules)
    assert solve(limited, policy, exact=exact).unpriced == ()


def test_whom_an_earlier_tier_leaves_nothing_is_not_in_the_prices():
    users = {"A": {"cpu": 1}, "B": {"cpu": 1}, "C": {"mem": 1}}
    found = solve(Instance(users, {"cpu": 9, "mem": 4}, organisation=Organisation(tiers={"A": 1})), "ceei")
    assert found.tasks.tolist() == pytest.approx([9, 0, 4])
    assert (found.prices.tolist(), found.unpriced) == (pytest.approx([0, 0.25]), ("B",))


BOUGHT = {"A": {"gpu": 1}, "B": {"gpu": "1/2", "cpu": 4}}


def with_guarantee(amount):
    return Instance(BOUGHT, {"gpu": 2, "cpu": 4}, organisation=Organisation(guarantees={"A": {"gpu": amount}}))


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("amount", [2, "7/4"])
def test_a_sum_prices_what_guarantees_use_up(amount, exact):
    assert float(solve(with_guarantee(amount), "utilitarian", exact=exact).prices[0]) == pytest.approx(2)


def test_where_floors_move_with_the_cluster_nobody_says_how_far_a_price_holds():
    worth = price(with_guarantee(2), "utilitarian")
    rows = {row[0]: row for row in worth.sheet().rows}
    assert rows["gpu"][2] == pytest.approx(2) and rows["gpu"][6:8] == (None, None)
    assert not any("slopes" in note for note in worth.sheet().notes)
    assert any("how far these prices hold is not known" in note for note in worth.sheet().notes)
    rows = {row[0]: row for row in price(with_guarantee("7/4"), "utilitarian").sheet().rows}
    assert rows["gpu"][6:8] == pytest.approx((1.75, 2.25))


@pytest.mark.parametrize("rules", [{"tiers": {"A": 1}}, {"tiers": {"B": -1}}])
def test_of_tiers_nobody_says_how_far_the_price_of_a_sum_holds(rules):
    users = {"A": {"cpu": 1}, "B": {"cpu": 2}}
    pool = Instance(users, {"cpu": 4}, max_tasks={"A": 6}, organisation=Organisation(**rules))
    (row,) = price(pool, "throughput").sheet().rows
    assert row[2] == pytest.approx(1) and row[6:8] == (None, None)


def test_who_has_what_it_is_owed_is_not_said_to_add_the_most():
    kept, other = explain(with_guarantee("7/4"), "utilitarian").users
    assert (kept.reason, other.reason) == ("guarantee", "efficiency")
    assert kept.remedy.startswith("it has what its guarantee is worth")
    assert other.remedy.startswith("utilitarian owes it nothing: its tasks come")
    floors, stopped = left_by_promises(
        POOL, policy_named("ceei"), solve(POOL, "ceei").tasks, solve(POOL, "ceei").certificate.evidence
    )
    assert (floors.tolist(), stopped.tolist()) == ([2, 0], [True, True])


@pytest.mark.parametrize("policy", ["throughput", "drf", "ceei"])
@pytest.mark.parametrize("pool", [True, False])
def test_a_limit_and_a_ceiling_at_one_point(policy, pool):
    there = {"capacity": {"cpu": 9}} if pool else {"machines": [Machine("m", {"cpu": 9})]}
    rules = Organisation(ceilings={"D": {"cpu": 2}})
    cluster = Instance({"D": {"cpu": 1}, "C": {"cpu": 3}}, **there, max_tasks={"D": 2}, organisation=rules)
    assert "a higher limit alone does not help" in explain(cluster, policy, "D").users[0].remedy


def test_a_limit_at_which_the_pool_is_full_is_not_to_be_raised():
    alone = Instance({"D": {"cpu": 1}}, {"cpu": 2}, max_tasks={"D": 2})
    assert "no larger without one" in explain(alone, "throughput", "D").users[0].remedy


def test_what_an_own_ceiling_is_of_is_named():
    users = {"D": {"cpu": 1, "mem": 1}, "C": {"mem": 1}}
    rules = Organisation(ceilings={"D": {"cpu": 2}})
    found = solve(Instance(users, {"cpu": 9, "mem": 9}, max_tasks={"D": 4}, organisation=rules), "drf")
    assert "D: 2 of 4 tasks (50 %), short of 2 cpu, which its ceiling of cpu does not let it have" in "".join(
        found.shortfall.sentences()
    )


@pytest.mark.parametrize("policy", ["drf", "ceei"])
@pytest.mark.parametrize("pool", [True, False])
def test_a_full_ceiling_and_a_full_capacity_at_one_point_are_both_named(policy, pool):
    there = {"capacity": {"cpu": 2}} if pool else {"machines": [Machine("m", {"cpu": 2})]}
    rules = Organisation(paths={"A": "g"}, groups=[Group("g", ceiling={"cpu": 2})])
    found = solve(Instance({"A": {"cpu": 1}}, **there, max_tasks={"A": 5}, organisation=rules), policy)
    assert advise(found).reason == "nothing: ceilings and limits hold those who are short (g ceiling of cpu)"
    assert "g ceiling of cpu" in explain(found.instance, policy).users[0].remedy
