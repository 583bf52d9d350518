"""Markets and sums of whole tasks that serve tiers in turn: what is held, and whether a forged proof is believed."""

from fractions import Fraction

import pytest

from drfopt import Instance, Organisation, crosscheck, solve
from drfopt.certificates import second_solver, whole
from drfopt.certificates.document import certificate_document, stated
from drfopt.certificates.exhaustive_search import playing, worth
from drfopt.certificates.objective_bound import told
from drfopt.certificates.verifier.branches import Undecided
from drfopt.certificates.verifier.whole_values import value_refuted
from drfopt.model.policies import policy_named
from drfopt.model.whole_values import WholeUsers
from drfopt.solving.verifying import verify

SUMS, MARKETS = ("utilitarian", "throughput"), ("ceei", "alpha:2", "alpha:0.5")


def pool(**rules) -> Instance:
    """A comes first and B after it; C and D have what is left, where A and B let them have it."""
    users = {"A": {"cpu": 2, "memory": 1}, "B": {"cpu": 3, "memory": 2}, "C": {"memory": 2}, "D": {"cpu": 1}}
    return Instance(users, {"cpu": 9, "memory": 10}, organisation=Organisation(tiers={"A": 2, "B": 1}, **rules))


@pytest.mark.parametrize("policy", [*SUMS, *MARKETS])
def test_a_tier_has_what_those_before_it_leave(policy):
    found = solve(pool(), policy, integer=True)
    assert found.tasks.tolist() == [4, 0, 3, 1]
    assert verify(certificate_document(found)).valid is True


def test_what_later_tiers_are_promised_is_kept():
    assert solve(pool(guarantees={"B": {"cpu": 3}}), "ceei", integer=True).tasks.tolist() == [3, 1, 2, 0]


@pytest.mark.parametrize("policy", ["drf", *SUMS, *MARKETS])
def test_of_two_equal_parts_the_higher_tiers_is_served_before_any_larger_part(policy):
    users, given = {"A": {"cpu": 2}, "B": {"cpu": 3}}, {"A": {"cpu": 4}, "B": {"cpu": 4}}
    for tiers, tasks in (({"A": 1}, [1, 0]), ({}, [0, 1])):
        rules = Organisation(tiers=tiers, guarantees=given)
        assert solve(Instance(users, {"cpu": 3}, organisation=rules), policy, integer=True).tasks.tolist() == tasks


def test_of_equal_optima_of_a_tier_the_next_has_the_best():
    """One task of A1 or one of A2 is all that the first tier can have; that of A2 leaves B two."""
    users = {"A1": {"cpu": 3, "memory": 1}, "A2": {"cpu": 3, "gpu": 1}, "B": {"memory": 1}}
    rules = Organisation(tiers={"A1": 1, "A2": 1})
    cluster = Instance(users, {"cpu": 3, "memory": 2, "gpu": 1}, organisation=rules)
    for policy in ("throughput", "ceei", "alpha:2"):
        assert solve(cluster, policy, integer=True).tasks.tolist() == [0, 1, 2]


@pytest.mark.parametrize("policy", [*SUMS, *MARKETS])
def test_what_a_tier_could_have_more_of_is_found(policy):
    """Less to A for more to the others, and less to D for nothing: neither is right, whatever trees say."""
    instance, genuine = pool(), certificate_document(solve(pool(), policy, integer=True))
    for tasks in ([3, 1, 2, 0], [4, 0, 3, 0], [4, 0, 2, 1]):
        rows = [{"name": name, "tasks": x} for name, x in zip(instance.users, tasks, strict=True)]
        for proof in (genuine["proof"], {}):
            assert verify(genuine | {"users": rows, "proof": proof}).valid is not True
        assert verify(genuine | {"users": rows, "proof": {}}).valid is False
        certificate = whole.certify(instance, policy_named(policy), solve(instance, policy).tasks * 0 + tasks, None)
        assert certificate.valid is False


@pytest.mark.parametrize("policy", ["utilitarian", "ceei", "alpha:2"])
def test_trees_prove_what_they_are_of(policy):
    found = solve(pool(), policy, integer=True)
    claim, trees = stated(pool(), policy_named(policy), found.tasks.tolist()), found.certificate.evidence.trees()
    assert len(trees) == 3 and value_refuted(claim, trees) == ""
    for tier in (1, 2):  # The first has all that it could have alone.
        assert "leaves room for" in value_refuted(claim, [*trees[:tier], [{"prices": {}}], *trees[tier + 1 :]])
    with pytest.raises(Undecided, match="ends before all its branches"):
        value_refuted(claim, trees[:2])


def test_what_is_held_counts_in_a_leaf_and_for_no_less_than_nothing():
    """Of cpu 9, which only the tier before may have, D has one that A leaves: that A has no less says so."""
    found = solve(pool(), "throughput", integer=True)
    claim, trees = stated(pool(), policy_named("throughput"), [4, 0, 3, 1]), found.certificate.evidence.trees()
    held = [leaf for leaf in trees[2] if "held" in leaf]
    assert held
    for weight in ("0", "1/1000"):
        less = [leaf | ({"held": dict.fromkeys(leaf["held"], weight)} if leaf in held else {}) for leaf in trees[2]]
        assert "leaves room for" in value_refuted(claim, [*trees[:2], less])
    below = [leaf | ({"held": dict.fromkeys(leaf["held"], "-1")} if leaf in held else {}) for leaf in trees[2]]
    with pytest.raises(Undecided, match="a price is negative"):
        value_refuted(claim, [*trees[:2], below])


@pytest.mark.parametrize("policy", ["utilitarian", "ceei", "alpha:2"])
def test_a_second_solver_finds_what_the_first_tier_that_is_not_best_lacks(policy):
    instance, chosen = pool(), policy_named(policy)
    users = WholeUsers(instance, chosen, playing(instance))
    best = solve(instance, policy, integer=True).tasks.tolist()
    for tasks in ([3, 0, 0, 0], [4, 0, 1, 0], best):
        found = second_solver.larger(users, tasks)
        assert worth(users)(found) >= worth(users)(tasks)
        assert (worth(users)(found) > worth(users)(tasks)) == (tasks != best)
    assert crosscheck(instance, policy, integer=True).agree is True


@pytest.mark.parametrize(("policy", "words"), [
    ("throughput", "the sum is 4 and can be 5 at most"),
    ("ceei", "the geometric mean of tasks is 1.73205 and can be 2.85567 at most"),
    ("alpha:0.5", "the power mean of levels is "),
])  # fmt: skip
def test_what_is_not_proven_is_said_of_the_first_such_tier(policy, words):
    users = WholeUsers(pool(), policy_named(policy), [0, 1, 2, 3])
    assert told(users, [4, 0, 3, 1], Fraction(1), 2).words.startswith(f"2 tiers proven; of the next {words}")


def test_of_a_tier_in_which_nobody_can_have_a_task_no_mean_is_told():
    """A is promised one of two, and C needs both: a mean of nobody would be an empty product, which is 1."""
    rules = Organisation(guarantees={"A": {"cpu": 1}}, tiers={"A": 1})
    instance = Instance({"A": {"cpu": 1}, "C": {"cpu": 2}}, {"cpu": 2}, organisation=rules)
    for policy in ("ceei", "alpha:2"):
        found = told(WholeUsers(instance, policy_named(policy), [0, 1]), [2, 0], None, 1)
        assert (found.words, found.gap) == ("1 tier proven; of the next nobody has a task, and nobody can", 0)
