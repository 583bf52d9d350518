"""Markets and sums that serve tiers in turn, beside markets by hand on what each tier leaves."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from drfopt import EngineError, Group, Instance, Machine, Organisation, PolicyError, crosscheck, explain, price, solve
from drfopt.certificates import bounds
from drfopt.certificates.document import certificate_document
from drfopt.io.native.reading import built
from drfopt.model.policies import policy_named
from drfopt.solving.verifying import verify

MARKETS, SUMS = ("ceei", "alpha:2", "alpha:0.5"), ("utilitarian", "throughput")
LEFT = Fraction(1, 10**9)


def drawn(seed: int, machines: bool = False) -> Instance:
    """Return a small instance with tiers, weights of 0, limits and zero demands."""
    r = random.Random(seed)
    resources = ["cpu", "memory", "gpu"][: r.choice([2, 2, 3])]

    def amounts(choice):
        return {k: v for k in resources if (v := r.choice(choice))} or {resources[0]: 1}

    users = {f"u{i}": amounts([0, 0, 1, 2, 3]) for i in range(r.choice([2, 3, 4, 5]))}
    kinds = [Machine(f"m{k}", {x: r.choice([3, 4, 6]) for x in resources}, r.choice([1, 2])) for k in range(2)]
    return Instance(
        users,
        None if machines else {x: r.choice([5, 9, 12]) for x in resources},
        machines=kinds if machines else None,
        resources=resources,
        weights=[r.choice([0, 1, 2, 3]) for _ in users],
        max_tasks=[r.choice([None, None, 1, 2]) for _ in users],
        organisation=Organisation(tiers={user: r.choice([0, 0, 1, 2]) for user in users}),
    )


def by_hand(instance: Instance, policy: str) -> dict[str, float]:
    """Divide a pool for one tier after the other; whoever needs what is used up has nothing."""
    left, found = dict(zip(instance.resources, map(Fraction, instance.exact_capacity), strict=True)), {}
    turns = turns_of(instance)
    demands = dict(zip(instance.users, instance.exact_demands, strict=True))
    whole = dict(zip(instance.resources, instance.exact_capacity, strict=True))
    for turn in sorted(set(turns)):
        mine = [user for user, at in zip(instance.users, turns, strict=True) if at == turn]
        found |= dict.fromkeys(mine, 0.0)
        needs = {user: dict(zip(instance.resources, demands[user], strict=True)) for user in mine}
        mine = [u for u in mine if all(left[k] > LEFT * whole[k] for k, d in needs[u].items() if d)]
        at = [instance.users.index(user) for user in mine]
        limits = [instance.exact_limits[i] for i in at]
        # Levels are of the whole cluster, which only alpha other than 1 notices: somebody who wants nothing fills it.
        there = [k for k in instance.resources if left[k] > LEFT * whole[k]]
        if not mine:
            continue
        filler = {k: whole[k] - left[k] for k in there if whole[k] > left[k]}
        users = {user: {k: needs[user][k] for k in there} for user in mine}
        held = Organisation(guarantees={"held": filler}) if filler else None
        users |= {"held": filler} if filler else {}
        part = Instance(
            users,
            {k: whole[k] for k in there},
            resources=there,
            weights=[instance.exact_weights[i] for i in at] + [1] * bool(filler),
            max_tasks=limits + [1] * bool(filler),
            organisation=held,
        )
        tasks = dict(zip(part.users, solve(part, policy).tasks.tolist(), strict=True))
        for user in mine:
            found[user] = tasks[user]
            for k in there:
                left[k] -= Fraction(tasks[user]) * needs[user][k]
    return found


@pytest.mark.sampled(2)
@pytest.mark.parametrize("policy", MARKETS)
@pytest.mark.parametrize("seed", range(12))
def test_a_pool_is_divided_as_by_hand(policy, seed):
    instance = drawn(seed)
    found = solve(instance, policy)
    assert found.certificate.valid
    expected = by_hand(instance, policy)
    assert found.tasks == pytest.approx([expected[user] for user in instance.users], rel=1e-7, abs=1e-7)
    assert verify(certificate_document(found)).valid is True


def turns_of(instance: Instance) -> tuple[int, ...]:
    """Return when everybody is served."""
    return (0,) * instance.n if instance.organisation is None else instance.organisation.in_turn


def lexicographic(instance: Instance, rates: np.ndarray) -> list[float]:
    """Return the sums of the tiers of a pool, by a program for each."""
    turns, sums, rows, most = turns_of(instance), [], [], []
    limits = [(0, None if u is None else float(u)) for u in instance.exact_limits]
    for turn in range(1 + max(turns)):
        own = np.where(np.array(turns) == turn, rates, 0.0)
        A, b = np.vstack([instance.demands.T, *rows]), np.concatenate([instance.capacity, most])
        found = linprog(-own, A_ub=A, b_ub=b, bounds=limits)
        sums.append(-found.fun)
        rows.append(-own[None, :])
        most.append(found.fun + 1e-10)
    return sums


@pytest.mark.parametrize("policy", SUMS)
@pytest.mark.parametrize("seed", range(12))
def test_a_sum_is_the_largest_of_each_tier_in_turn(policy, seed):
    instance, chosen = drawn(seed), policy_named(policy)
    rates = chosen.rates(instance)
    expected = lexicographic(instance, rates)
    for exact in (False, True):
        found = solve(instance, policy, exact=exact)
        levels, turns = rates * found.tasks.astype(float), np.array(turns_of(instance))
        assert [levels[turns == turn].sum() for turn in range(1 + max(turns))] == pytest.approx(expected, abs=1e-8)
        assert verify(certificate_document(found)).valid is True


@pytest.mark.parametrize("policy", [*MARKETS, *SUMS])
@pytest.mark.parametrize("seed", [1, 4])
def test_on_machines_another_author_agrees(policy, seed):
    instance = drawn(seed, machines=True)
    assert crosscheck(instance, policy).agree is True
    assert verify(certificate_document(solve(instance, policy))).valid is True


FIRST = {"demands": {"A": {"cpu": 1, "memory": 3}, "B": {"cpu": 1}, "C": {"cpu": 2, "memory": 1}, "D": {"memory": 1}}}


def first(**changes) -> Instance:
    """A and B come first and use up the cpu between them; of the memory 4.5 are left to D, and nothing to C."""
    rules = Organisation(**({"tiers": {"A": 1, "B": 1}} | changes))
    return Instance(FIRST["demands"], {"cpu": 9, "memory": 18}, organisation=rules)


def test_what_a_tier_leaves_is_all_that_the_next_has():
    assert solve(first(), "ceei", exact=True).tasks.tolist() == [Fraction(9, 2), Fraction(9, 2), 0, Fraction(9, 2)]
    found = solve(first(), "ceei")
    assert found.tasks == pytest.approx([4.5, 4.5, 0, 4.5], rel=1e-9)
    assert found.certificate.bottlenecks == ("cpu", "cpu", "cpu", "memory")


def test_what_later_tiers_are_promised_is_kept():
    """C has its 2 cpu before the first tier divides the other 7."""
    found = solve(first(guarantees={"C": {"cpu": 2}}), "ceei", exact=True)
    assert found.tasks.tolist() == [Fraction(7, 2), Fraction(7, 2), 1, Fraction(13, 2)]


def test_a_group_first_and_tiers_inside_of_one_that_is_alone():
    rules = {"tiers": {"A": 1}, "paths": {"A": "g", "B": "g"}, "groups": [Group("g", tier=1, weight=3)]}
    found = solve(first(**rules), "ceei", exact=True)
    assert found.tasks.tolist() == [6, 3, 0, 0]  # A, then B, then C and D
    assert first(**rules).organisation.in_turn == (0, 1, 2, 2)


def test_siblings_of_one_rank_share_the_income_of_their_group():
    """B comes after A in g and has all of its income again: 2 against the 1 of C, of the cpu that A leaves."""
    rules = Organisation(
        tiers={"A": 1}, paths=dict.fromkeys("ABC", "g"), groups=[Group("g", weight=2), Group("g/h", weight=2)]
    )
    rules = replace(rules, paths={"A": "g", "B": "g/h", "C": "g"})
    instance = Instance({user: {"cpu": 1} for user in "ABC"}, {"cpu": 8}, max_tasks={"A": 2}, organisation=rules)
    assert solve(instance, "ceei", exact=True).tasks.tolist() == [2, 4, 2]


@pytest.mark.parametrize("policy", [*MARKETS, *SUMS])
def test_tiers_inside_of_a_group_that_has_others_beside_it_are_no_order_of_all(policy):
    rules = Organisation(tiers={"A": 1}, paths={"A": "g", "B": "g"}, groups=[Group("g")])
    instance = Instance({user: {"cpu": 1} for user in "ABC"}, {"cpu": 8}, organisation=rules)
    assert instance.organisation.in_turn is None
    with pytest.raises(PolicyError, match="some group has tiers or weights of 0 inside and has others beside it"):
        solve(instance, policy)


def test_a_rank_among_nobody_is_no_order():
    """Who is alone in its group is neither before nor after anybody."""
    rules = Organisation(tiers={"A": 1}, paths={"A": "g", "B": "h"})
    tiered = Instance({"A": {"cpu": 1}, "B": {"cpu": 1}}, {"cpu": 8}, organisation=rules)
    assert solve(tiered, "ceei", exact=True).tasks.tolist() == [4, 4]
    assert solve(tiered, "ceei", integer=True).tasks.tolist() == [4, 4]


def test_what_is_irrational_leaves_nothing_that_fractions_know():
    users = {"A": {"cpu": 1}, "B": {"memory": 1, "cpu": 1}, "C": {"memory": 3, "cpu": 1}, "D": {"cpu": 1, "memory": 1}}
    users |= {"E": {"gpu": 1, "memory": 2}}
    rules = Organisation(tiers={"A": 1, "B": 1, "C": 1, "E": 1})
    instance = Instance(users, {"cpu": 5, "memory": 7, "gpu": 1}, organisation=rules)
    with pytest.raises(EngineError, match="what a tier has is irrational here"):
        solve(instance, "alpha:2", exact=True)
    assert solve(instance, "alpha:2").certificate.valid


@pytest.mark.parametrize("policy", [*MARKETS, *SUMS])
def test_a_perturbed_answer_is_rejected(policy):
    instance, chosen = first(), policy_named(policy)
    found = solve(instance, policy)
    evidence = found.certificate.evidence
    assert bounds.certify(instance, chosen, found.tasks, None, found.prices[None, :], evidence).valid
    document = certificate_document(found)
    for i in np.flatnonzero(found.tasks):
        tasks = found.tasks.copy()
        tasks[i] *= 1 - 1e-6
        assert not bounds.certify(instance, chosen, tasks, None, found.prices[None, :], evidence).valid
        rows = [{"name": row["name"], "tasks": x} for row, x in zip(document["users"], tasks.tolist(), strict=True)]
        assert verify(document | {"users": rows}).valid is False
    for tiers in (evidence.tiers[::-1], evidence.tiers[1:], evidence.tiers[:1]):
        less = replace(evidence, tiers=tiers)
        assert not bounds.certify(instance, chosen, found.tasks, None, found.prices[None, :], less).valid
        answer = document["proof"].get("answer", document)
        proof = answer["proof"] | {"tiers": answer["proof"]["tiers"][:1]}
        proof = proof if answer is document else {"answer": answer | {"proof": proof}}
        assert verify(document | {"proof": proof}).valid is not True


def test_the_order_of_another_file_is_not_proven():
    """The answer of all at once is not that of one after the other."""
    at_once = certificate_document(solve(first(tiers={}, guarantees={"D": {"memory": 1}}), "ceei"))
    in_turn = certificate_document(solve(first(guarantees={"D": {"memory": 1}}), "ceei"))
    assert verify(in_turn | {"users": at_once["users"]}).valid is False


def test_what_one_more_is_worth_to_tiers():
    """Of cpu both of the first tier have half; D has the memory that is left, and each unit of cpu costs it 3/2."""
    found = price(first(), "ceei", units=["cpu"])
    assert found["cpu"].more.tasks == pytest.approx([0.5, 0.5, 0, -1.5], abs=1e-6)
    assert found["cpu"].more.price == 0  # to D, who is served last
    worth = price(first(), "throughput", units=["cpu", "memory"])
    assert worth["cpu"].more.price == pytest.approx(1)  # B
    assert worth["memory"].more.price == pytest.approx(1)  # D


def test_a_limit_is_lifted_for_the_sum_of_its_tier():
    users = {"A": {"cpu": 1}, "B": {"cpu": 1}}
    instance = Instance(users, {"cpu": 9}, max_tasks={"A": 2}, organisation=Organisation(tiers={"A": 1}))
    assert "without one it could have 9 tasks" in explain(instance, "utilitarian").users[0].remedy


def test_a_tier_that_gets_nothing_takes_nothing_from_the_sums_before():
    """What a program may fall short of in the first tier is nine times as much in the second, and beyond its proof."""
    users = {"A": {"cpu": 1, "memory": 3}, "B": {"cpu": 3}}
    pool = Instance(users, {"cpu": 18, "memory": 6}, organisation=Organisation(tiers={"B": 1}))
    found = solve(pool, "utilitarian")
    assert found.tasks.tolist() == [0, 6]
    assert verify(certificate_document(found)).valid is True


def test_no_tier_is_let_fall_for_those_after_it():
    """A rounding of the sum of a tier is much to who has little: what floats do not keep apart fractions do."""
    demands = {"A": {"cpu": "0.9"}, "B": {"cpu": 1}, "C": {"cpu": "0.6"}}
    rules = Organisation(tiers={"A": 1, "C": 1})
    cluster = Instance(demands, {"cpu": 7}, max_tasks={"B": "8e-3", "C": 2}, organisation=rules)
    found = solve(cluster, "throughput")
    assert found.tasks.tolist() == [pytest.approx(58 / 9, rel=1e-12), 0, 2]
    assert verify(certificate_document(found)).valid
    machines = [Machine("m", {"cpu": 2}), Machine("n", {"cpu": 70})]
    demands = {"A": {"cpu": 9}, "B": {"cpu": 1}, "C": {"cpu": "0.006"}}
    cluster = Instance(demands, machines=machines, max_tasks={"C": 9}, organisation=Organisation(tiers={"B": -1}))
    assert solve(cluster, "utilitarian").tasks.tolist() == [pytest.approx(70 / 9), pytest.approx(1.946, rel=1e-12), 9]


def test_who_has_nothing_beside_what_it_needs_is_seen():
    """A third of a task is no part of 10^11 that a solver would notice."""
    users = [
        {"name": "A", "demand": {"cpu": 1, "mem": "1e-21"}, "guarantee": {"cpu": "1e11"}},
        {"name": "B", "demand": {"mem": "1e-10"}, "max_tasks": "1/3"},
        {"name": "C", "demand": {"cpu": "1e12"}, "weight": 0, "guarantee": {"cpu": "9.9999e11"}},
    ]
    cluster = built({"capacity": {"cpu": "1e12", "mem": "1e-9"}, "users": users}, "here")
    assert solve(cluster, "throughput")["B"].tasks == pytest.approx(1 / 3)


def test_tiers_whose_promises_only_fractions_keep_are_divided_in_floats():
    """What is held of earlier tiers was a fraction among floats: a TypeError."""
    users = {"A": {"a": 8900, "b": 53}, "B": {"a": "2.7e-5"}, "C": {"b": "3.8e-8"}}
    machines = [Machine("m", {"a": "7.1e6", "b": 57000}, 3), Machine("n", {"a": 57, "b": "4.4e7"}, 3)]
    rules = Organisation(tiers={"B": 2, "C": 2}, guarantees={"A": {"a": "0.11"}})
    cluster = Instance(users, machines=machines, max_tasks={"C": 670}, organisation=rules)
    found, exact = solve(cluster, "ceei"), solve(cluster, "ceei", exact=True)
    assert verify(certificate_document(found)).valid
    assert found.tasks == pytest.approx([float(tasks) for tasks in exact.tasks], rel=1e-9)
