"""At the ends of floats an answer is within 1e-9 of the exact one, level by level and task by task, or refused."""

import json
from fractions import Fraction

import numpy as np
import pytest
from float_ends import float_ends

from drfopt import Group, Machine, Organisation, TaskType, explain, price
from drfopt.base.errors import CertificateError, InstanceError, SolverError
from drfopt.base.tolerances import LEVEL
from drfopt.certificates import bottleneck
from drfopt.certificates.document import certificate_document
from drfopt.model.allocation import Allocation
from drfopt.model.instance import Instance
from drfopt.model.policies import policy_named
from drfopt.solving.allocating import solve
from drfopt.solving.verifying import verify


def off(floats, exact):
    """Return the largest relative error, exactly."""
    pairs = zip(floats.tolist(), exact.tolist(), strict=True)
    return max(abs(Fraction(x) - y) / y if y else Fraction(x != 0) for x, y in pairs)


def is_right_or_refused(seed, count):
    """Return how many were refused."""
    refused = 0
    for what, policy, pool in float_ends(seed, count):
        exact = solve(pool, policy, exact=True)
        try:
            found = solve(pool, policy)
        except CertificateError:
            refused += 1
            continue
        assert off(found.tasks, exact.tasks) <= LEVEL, what
        assert off(found.levels, exact.levels) <= LEVEL, what
    return refused


def test_pools_at_the_ends_of_floats():
    assert is_right_or_refused(1, 60) <= 3


@pytest.mark.slow
def test_thousands_of_pools_at_the_ends_of_floats(some):
    assert is_right_or_refused(2, some(20_000)) <= some(200)


def test_a_tie_may_be_broken_by_rounding():
    # Both resources run out at once, to 1e-16: should r2 be first, what A then leaves of r1 would be 1e-7 of B's level.
    pool = Instance([[1, 1], [1e-9, 0]], [1 + 1e-9, 1])
    tasks = np.array([1.0, 1.0])
    proof = bottleneck.certify(pool, policy_named("tasks"), tasks)
    assert proof.violation <= 1e-15 and proof.evidence.error > 1e-8
    assert not proof.valid
    assert solve(pool, "tasks").engine == "rational after filling"


def test_the_last_user_lives_on_what_rounding_leaves():
    # All but the last are at limits that take up nearly everything: conditions hold to 4e-14, levels to 7e-8.
    demands = [[2e8], [4e-8], [3e7], [400.0], [7e4]]
    weights = [10.0, 1e4, 1e-6, 9.999999999999999e-06, 1e-6]
    limits = [4.995004989016977e-12, 24975024.945084885, 3.330003326011318e-18, 2.497502494508488e-12, None]
    pool = Instance(demands, [1.0], weights=weights, max_tasks=limits)
    found = solve(pool, "tsf")
    assert found.engine == "rational after filling"
    assert off(found.tasks, solve(pool, "tsf", exact=True).tasks) <= LEVEL


@pytest.mark.parametrize("unit", [5e-324, 1e-310])
def test_subnormal_units_are_their_decimals(unit):
    # The float of 5e-324 is 4.94e-324: what is written is what counts.
    pool = Instance([[unit], [3 * unit]], [1e-300])
    exact = solve(pool, "drf", exact=True)
    assert off(solve(pool, "drf").tasks, exact.tasks) <= LEVEL


def test_what_floats_cannot_hold_is_refused():
    with pytest.raises((CertificateError, InstanceError), match=r"exact|range|units"):
        solve(Instance([[1e-160], [1e-160]], [1e-300], weights=[1e-200, 1e200]), "tasks")


TINY = Instance([["0.000000000001"], [3], [1]], machines=[[1000000000000], [1]])
GUARANTEED = Instance(
    {"A": {"a": "1e-12"}, "B": {"a": 3}},
    machines=[Machine("large", {"a": 10**12}), Machine("small", {"a": 1})],
    organisation=Organisation(guarantees={"B": {"a": 3}}),
)


@pytest.mark.parametrize(
    ("cluster", "policy", "engine"),
    [
        (TINY, "tsf", "rational-chain after lp-chain"),
        (TINY, "drf", "rational-chain after lp-chain"),
        (GUARANTEED, "drf", "rational-tree after tree-chain"),
    ],
)
def test_what_programs_in_floats_would_drop_is_answered_in_fractions(cluster, policy, engine):
    found, exact = solve(cluster, policy), solve(cluster, policy, exact=True)
    assert found.engine == engine
    assert off(found.tasks, exact.tasks) <= LEVEL
    assert off(found.levels, exact.levels) <= LEVEL
    assert Allocation.from_dict(found.to_dict()) == found


def test_what_would_help_is_said_not_to_be_known_where_floats_lose_somebody():
    users = explain(TINY, "drf").users
    assert any("proven in fractions" in user.remedy for user in users)
    with pytest.raises(SolverError, match="compare two clusters with whatif"):
        price(TINY, "drf")


def test_exact_sums_of_several_types_have_coefficients_that_highs_takes():
    kinds = [TaskType({"a": "10/3"}, 2), TaskType({"a": "0.9876543210987654"}, 3)]
    cluster = Instance([kinds, {"a": "0.1234567890123456"}], machines=[Machine("m", {"a": "9.87654321098765"}, 2)])
    found = solve(cluster, "throughput", exact=True)
    assert found.certificate.valid
    assert found.tasks[1] > 0


THREE = {"A": {"a": "0.1"}, "B": {"a": "0.2"}, "C": {"a": "0.3"}}


def after_two_limits(**there):
    """C comes after A and B, who take 0.1 and 0.2 of what there is."""
    return Instance(THREE, max_tasks={"A": 1, "B": 1}, organisation=Organisation(tiers={"A": 1, "B": 1}), **there)


@pytest.mark.parametrize(("room", "left"), [("0.3", 0), ("0.30000000000000004", Fraction(2, 15) / 10**15)])
@pytest.mark.parametrize("pool", [True, False])
def test_whether_somebody_has_nothing_is_not_for_rounding_to_say(room, left, pool):
    cluster = after_two_limits(**({"capacity": {"a": room}} if pool else {"machines": [Machine("m", {"a": room})]}))
    found = solve(cluster, "drf")
    assert off(found.tasks, np.array([Fraction(1), Fraction(1), left])) <= LEVEL
    assert found.engine.startswith("rational-tree") == bool(left)


def test_somebody_without_anything_by_rounding_is_no_proof():
    with pytest.raises(CertificateError, match=r"leaves user 'C' nothing, .* ask for exact=True"):
        solve(after_two_limits(capacity={"a": "0.30000000000000004"}), "drf", engine="tree-filling")


def test_guarantees_that_fill_a_resource_leave_nothing_in_fractions():
    guaranteed = Organisation(guarantees={"A": {"a": "0.1"}, "B": {"a": "0.2"}})
    assert solve(Instance(THREE, capacity={"a": "0.3"}, organisation=guaranteed), "drf").engine == "tree-filling"
    more = solve(Instance(THREE, capacity={"a": "0.30000000000000004"}, organisation=guaranteed), "drf")
    assert more.engine == "rational-tree after tree-filling"
    assert 0 < more.tasks[2] < 1e-15


def test_a_limit_beyond_what_there_is_fills_nothing():
    """A, with C, stops where memory ends and a part of 5e-22 of the CPU is left, which is B's: floats see both end."""
    first = Organisation(tiers={"A": 1, "C": 1})
    users = {"A": {"cpu": "4e9", "memory": "2e-6"}, "B": {"cpu": "2e9"}, "C": {"memory": "2e9"}}
    pool = Instance(users, {"cpu": "1e-6", "memory": 2}, organisation=first, max_tasks={"A": "1e-6", "B": 2})
    found = solve(pool, "asset")
    assert found.engine == "rational-tree after tree-filling"
    assert off(found.tasks, solve(pool, "asset", exact=True).tasks) <= LEVEL
    assert found.tasks[1] > 0


def test_who_comes_later_has_nothing_that_an_earlier_tier_could_have_however_little_that_counts():
    """A, beside B, makes a part of 3e-11 of the sum: it is for A nevertheless that memory is there, and not for C."""
    users = {"A": {"memory": "7e5"}, "B": {"cpu": "6e-3"}, "C": {"memory": 10}}
    last = Organisation(tiers={"C": -1})
    found = solve(Instance(users, {"cpu": 2, "memory": "6e-3"}, organisation=last, max_tasks={"A": 5e5}), "throughput")
    assert found.tasks[0] == pytest.approx(0.006 / 7e5, rel=1e-9)
    assert found.tasks[2] == 0


def test_a_sum_that_highs_calls_impossible_is_answered_in_fractions():
    pool = Instance([[0, 3], [3, "1e-6"], [1, 10**6]], [10**6, 10**6], max_tasks=["0.1", 2, 1])
    found = solve(pool, "utilitarian")
    assert found.certificate.valid
    assert found.engine == "rational-lp after lp"
    assert off(found.tasks, solve(pool, "utilitarian", exact=True).tasks) <= LEVEL


BELOW = {
    "its level": ({"A": 1, "B": 1e150}, 1e-300, 10),
    "what its group's shares are divided by": ({"A": 1, "B": 1}, 1e-290, 1e-140),
    "how fast it rises beside others": ({"A": 1e-17, "B": 1}, 1e290, 10),
}


@pytest.mark.parametrize("case", BELOW)
@pytest.mark.parametrize("pool", [True, False])
@pytest.mark.parametrize("policy", ["drf", "asset", "tasks"])
def test_what_floats_cannot_hold_in_a_tree_is_not_nothing(case, pool, policy):
    """What is multiplied or divided to find it is beyond the range of floats; what somebody has is not."""
    weights, group, room = BELOW[case]
    rows = {user: {"a": room / 10} for user in weights}
    there = {"capacity": {"a": room}} if pool else {"machines": [Machine("m", {"a": room})]}
    rules = Organisation(paths={"B": "g"}, groups=[Group("g", group)])
    cluster = Instance(rows, **there, weights=weights, organisation=rules)
    found, exact = solve(cluster, policy), solve(cluster, policy, exact=True)
    assert (found.tasks > 0).all()
    assert off(found.tasks, exact.tasks) <= LEVEL


def test_a_level_below_floats_is_no_proof_of_nothing():
    """Its tasks are 1e-300, and its level of 1e-450 is written as 0, which `verify` takes for it."""
    rules = Organisation(paths={"B": "g"}, groups=[Group("g", 1e-300)])
    cluster = Instance([{"a": 1}] * 2, {"a": 1}, users=["A", "B"], weights=[1, 1e150], organisation=rules)
    with pytest.raises(CertificateError, match=r"leaves user 'B' less than floats can hold: ask for exact=True"):
        solve(cluster, "drf", engine="tree-filling")
    document = json.loads(json.dumps(certificate_document(solve(cluster, "drf"))))
    assert document["users"][1]["level"] == 0 and verify(document).valid
    document["users"][1]["tasks"] = 0
    assert verify(document).valid is False


@pytest.mark.parametrize("pool", [True, False])
def test_who_begins_where_others_jump_has_nothing_and_not_too_little(pool):
    """While g's level stands, A2 rises alone until y is full: B2, whose g/b comes to its turn there, has 0."""
    users = {"X": {"x": 1}, "U": {"y": 1}, "A1": {"x": 1}, "A2": {"y": 1}, "B1": {"x": 1, "y": 1}, "B2": {"y": 1}}
    there = {"capacity": {"x": 20, "y": 20}} if pool else {"machines": [Machine("m", {"x": 10, "y": 10}, 2)]}
    paths = {user: f"g/{user[0].lower()}" for user in ("A1", "A2", "B1", "B2")}
    rules = Organisation(paths=paths, groups=[Group("g"), Group("g/a"), Group("g/b")], tiers={"A1": 1, "B1": 1})
    cluster = Instance(users, **there, weights=[1, "1.2", 1, 1, 1, 1], organisation=rules)
    found = solve(cluster, engine="tree-filling" if pool else "tree-chain")
    assert found.tasks == pytest.approx([10, 12, 5, 3, 5, 0], rel=1e-12)
    assert found.tasks[5] == solve(cluster, exact=True).tasks[5] == 0


def test_money_near_the_largest_float_is_a_power_of_two_that_overflows_nothing():
    """32 digits were cut in halves to be multiplied by it, at 2^27 times as much."""
    machines = [Machine("a", [0, 1e-140], 2), Machine("b", [1.7e-138, 1.7e-138])]
    cluster = Instance([[1e-141, 3e-140]], machines=machines, weights=[1e150], max_tasks=["7/3"])
    with np.errstate(over="raise"):
        found = solve(cluster, "alpha:2")
    assert found.tasks.tolist() == [7 / 3] and found.certificate.valid


def test_money_beyond_the_largest_float_is_an_error_with_a_sentence():
    cluster = Instance([[1e-141]], machines=[Machine("a", [2.2e-139], 3)], weights=[1e150])
    with (
        np.errstate(over="raise"),
        pytest.raises(SolverError, match="prices of alpha:2 are beyond the range of floats"),
    ):
        solve(cluster, "alpha:2")


def test_what_tasks_are_worth_below_the_smallest_float_is_told_in_decimals_only():
    """Under a guarantee equations are relative to it, and were divided by 0."""
    rules = Organisation(guarantees={"B": {"a": 1}})
    users = {"A": {"a": 3}, "B": {"a": 3}}
    cluster = Instance(users, machines=[Machine("m", {"a": 22})], weights=["1e-150"] * 2, organisation=rules)
    with pytest.raises((SolverError, CertificateError), match=r"beyond the range of floats|at the prices by inf"):
        solve(cluster, "alpha:7")
    found = solve(cluster, "alpha:7", exact=True)
    assert found.certificate.valid
    assert [float(tasks) for tasks in found.tasks] == pytest.approx([11 / 3, 11 / 3], rel=LEVEL)


def test_what_tasks_are_worth_beyond_the_largest_float_is_counted_in_decimals():
    rules = Organisation(guarantees={"A": {"a": "4.25e-139"}})
    cluster = Instance({"A": {"a": "1.5e-140"}}, {"a": "2.2e-139"}, weights=["1e150"], organisation=rules)
    assert [float(tasks) for tasks in solve(cluster, "alpha:7", exact=True).tasks] == pytest.approx([44 / 3], rel=LEVEL)


def test_money_below_the_smallest_float_is_one_too():
    cluster = Instance(
        [[2.5e-139, 3e-140], [2.5e-139, 0]], [2.2e-139, 1e-140], weights=[1e-150] * 2, max_tasks=["7/3"] * 2
    )
    with pytest.raises(SolverError, match="beyond the range of floats"):
        solve(cluster, "alpha:7", engine="barrier")
    found, exact = solve(cluster, "alpha:7"), solve(cluster, "alpha:7", exact=True)
    assert found.certificate.valid
    assert found.tasks == pytest.approx([float(tasks) for tasks in exact.tasks], rel=LEVEL)


def test_a_predictor_that_falls_far_short_is_no_overflow():
    """Its products were more than 10^102 times those before, which no float holds to the third power."""
    machines = [Machine("m", {"a": 7}, count=2), Machine("n", {"a": 1}), Machine("o", {"a": 10**6}, count=3)]
    cluster = Instance([["1e-12"]] * 2, machines=machines, weights=["1e-6", 1], max_tasks=[None, 2])
    found = solve(cluster, "alpha:7", exact=True)
    assert [float(tasks) for tasks in found.tasks] == pytest.approx([3000015 * 10**12 - 2, 2], rel=LEVEL)


def test_no_profit_is_made_of_tasks_that_nobody_could_have():
    """What rounding left of a profit was counted for three tasks of B, which alone could have 1.5e-8."""
    types = [TaskType({"gpu": "0.001", "io": "0.01"}, 3), TaskType({"gpu": "1e5", "io": "1/3"}, 3)]
    others = [TaskType({"gpu": "1e5", "io": "1e4"}, 2), TaskType({"gpu": 20, "io": "0.01"}, 1)]
    rules = Organisation(tiers={"A": 1})
    cluster = Instance({"A": types, "B": others}, {"gpu": "1e-3", "io": 1000}, organisation=rules)
    found, exact = solve(cluster, "throughput"), solve(cluster, "throughput", exact=True)
    assert found.certificate.valid and exact.tasks.tolist() == [Fraction(2, 10**8 + 1), 0]
    assert found.tasks == pytest.approx([2 / (10**8 + 1), 0], rel=LEVEL)
