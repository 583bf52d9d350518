"""Markets and sums with task types on machines, guarantees as floors, ceilings of groups: answers and their proofs."""

import itertools
import json
import random
from dataclasses import replace
from fractions import Fraction

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
    crosscheck,
    solve,
)
from drfopt.base.numbers.enclosures import Enclosure, upper
from drfopt.certificates import bounds, stops
from drfopt.certificates.document import certificate_document
from drfopt.engines.hierarchy import Programs
from drfopt.engines.nash import bounded, bounded_enclosure
from drfopt.engines.nash.apart import ends, unresolved
from drfopt.engines.problem import Problem
from drfopt.model.hierarchy import Clock
from drfopt.model.policies import policy_named
from drfopt.solving.verifying import verify

MARKETS, SUMS = ("ceei", "alpha:2", "alpha:0.5"), ("utilitarian", "throughput")


def random_cluster(seed: int) -> Instance:
    """Return a small degenerate instance: ties, zeros, limits of 0, types, floors that do not fit, ceilings."""
    r = random.Random(seed)
    resources = ["cpu", "memory", "gpu"][: r.choice([1, 2, 2, 3])]

    def demand():
        return {k: v for k in resources if (v := r.choice([0, 1, 1, 2, 3]))} or {resources[0]: 1}

    machines = None
    if r.random() < 0.6:
        machines = [
            Machine(f"c{k}", {x: r.choice([2, 3, 4, 6]) for x in resources}, r.choice([1, 1, 2]))
            for k in range(r.choice([1, 2, 3]))
        ]
    users = {}
    for i in range(r.choice([1, 2, 3, 4, 5])):
        several = [TaskType(demand(), r.choice([1, 2, 3])) for _ in range(r.choice([1, 2, 3]))]
        users[f"u{i}"] = several if r.random() < 0.5 else demand()
    groups = [
        Group(
            name,
            r.choice([1, 1, 2]),
            guarantee={r.choice(resources): 1} if r.random() < 0.3 else {},
            ceiling={r.choice(resources): r.choice([1, 2, 3])} if r.random() < 0.6 else {},
        )
        for name in ("g", "h", "g/x")
    ]
    rules = Organisation(
        guarantees={u: {r.choice(resources): r.choice([1, 2, "1/2"])} for u in users if r.random() < 0.4},
        paths={u: r.choice(["g", "h", "g/x"]) for u in users if r.random() < 0.6},
        groups=groups,
    )
    return Instance(
        users,
        None if machines else {x: r.choice([4, 6, 9, 12]) for x in resources},
        machines=machines,
        resources=resources,
        weights={u: r.choice([1, 1, 2, "1/3"]) for u in users},
        max_tasks={u: r.choice([None, None, None, 1, 2, 0]) for u in users},
        organisation=rules if r.random() < 0.75 else None,
    )


def pool(**rules):
    users = {"A": {"cpu": 1, "memory": 3}, "B": {"cpu": 2, "memory": 1}, "C": {"cpu": 1, "memory": 1}}
    return Instance(users, {"cpu": 9, "memory": 18}, organisation=Organisation(**rules))


def test_a_guarantee_is_a_floor_of_a_market():
    """Without it everybody spends a third of cpu, the only scarce one: 3, 3/2 and 3 tasks."""
    assert solve(pool(excluded=[]), "ceei").tasks == pytest.approx([3, 1.5, 3])
    found = solve(pool(guarantees={"A": {"cpu": 4}}), "ceei")
    assert found.tasks == pytest.approx([4, 1.25, 2.5], rel=1e-12)
    assert found.certificate.kind == "bounds"
    assert found.certificate.valid


def test_a_ceiling_of_a_group_has_a_price():
    rules = {"paths": {"A": "g", "B": "g"}, "groups": [Group("g", 2, ceiling={"cpu": 3})]}
    found = solve(pool(**rules), "ceei")
    assert found.tasks == pytest.approx([1.5, 0.75, 6], rel=1e-12)
    assert found.certificate.bottlenecks == ("g ceiling of cpu", "g ceiling of cpu", "cpu")


def test_incomes_go_down_the_tree():
    """Groups with weights 2 and 1 buy two thirds and a third of the one resource, whoever is in them."""
    users = {"A": {"cpu": 1}, "B": {"cpu": 1}, "C": {"cpu": 1}}
    rules = Organisation(paths={"A": "g", "B": "g", "C": "h"}, groups=[Group("g", 2), Group("h", 1)])
    found = solve(Instance(users, {"cpu": 12}, weights={"A": 3}, organisation=rules), "ceei")
    assert found.tasks == pytest.approx([6, 2, 4], rel=1e-12)


def test_guarantees_that_do_not_fit_are_kept_to_one_part_and_named():
    found = solve(pool(guarantees={"A": {"cpu": 5}, "B": {"cpu": 6}}), "alpha:2")
    assert found.tasks == pytest.approx([45 / 11, 27 / 11, 0], rel=1e-12)
    assert [row.owner for row in found.broken] == ["A", "B"]


def test_guarantees_of_groups_are_decided_by_the_verifier():
    rules = Organisation(paths={"a": "g"}, groups=(Group("g", guarantee={"cpu": 3}),))
    pool = Instance({"a": {"cpu": 1}, "b": {"cpu": 1}}, {"cpu": 4}, organisation=rules)
    genuine = certificate_document(solve(pool, "ceei"))
    assert verify(genuine).valid is True
    without_promise = Instance({"a": {"cpu": 1}, "b": {"cpu": 1}}, {"cpu": 4})
    halved = certificate_document(solve(without_promise, "ceei"))
    forged = genuine | {"users": halved["users"]}
    assert verify(forged).valid is False


@pytest.mark.parametrize("policy", [*MARKETS, *SUMS])
def test_levels_in_terms_of_guarantees_are_none_of_a_market(policy):
    with pytest.raises(PolicyError, match=r"knows guarantees as floors, and not that guarantees are \'surplus\'"):
        solve(pool(guarantees={"A": {"cpu": 1}}, meaning="surplus"), policy)


@pytest.mark.parametrize("policy", [*MARKETS, *SUMS])
def test_a_perturbed_answer_is_rejected(policy):
    """Of a market every user's tasks move by a millionth; of a sum somebody has less than the prices prove."""
    rules = {"guarantees": {"A": {"cpu": 4}}, "paths": {"B": "g"}, "groups": [Group("g", 1, ceiling={"cpu": 2})]}
    instance, chosen = pool(**rules), policy_named(policy)
    found = solve(instance, policy)
    evidence = found.certificate.evidence
    assert bounds.certify(instance, chosen, found.tasks, None, found.prices[None, :], evidence).valid
    for i in np.flatnonzero(found.tasks):
        for times in (1 - 1e-6, 1 + 1e-6):
            tasks = found.tasks.copy()
            tasks[i] *= times
            assert not bounds.certify(instance, chosen, tasks, None, found.prices[None, :], evidence).valid
    higher = replace(evidence, bounds=np.asarray(evidence.bounds) + 1e-3)
    assert not bounds.certify(instance, chosen, found.tasks, None, found.prices[None, :], higher).valid


def test_a_forged_proof_of_floors_is_rejected():
    instance = pool(guarantees={"A": {"cpu": 5}, "B": {"cpu": 6}})
    found = solve(instance, "ceei")
    evidence, chosen = found.certificate.evidence, policy_named("ceei")
    none = replace(evidence, breakpoints=())
    assert not bounds.certify(instance, chosen, found.tasks, None, found.prices[None, :], none).valid
    fewer = found.tasks * [1, 0.9, 1]
    assert not bounds.certify(instance, chosen, fewer, None, found.prices[None, :], evidence).valid


@pytest.mark.parametrize("policy", [*MARKETS, *SUMS])
@pytest.mark.parametrize("seed", range(4))
def test_a_second_author_agrees(seed, policy):
    _agrees(seed, policy)


@pytest.mark.slow
@pytest.mark.parametrize("tens", range(1, 30))
def test_a_second_author_agrees_on_many(tens, some):
    for seed, policy in itertools.product(range(some(30)), (*MARKETS, *SUMS)):
        _agrees(30 * tens + seed, policy)


def _agrees(seed, policy):
    try:
        instance = random_cluster(seed)
    except InstanceError:
        return
    found = crosscheck(instance, policy)
    answered = [answer for answer in found.methods if answer.levels is not None]
    # Clarabel has no answer now and then; nobody may have another one.
    assert found.agree is True or (found.agree is None and len(answered) >= 1), str(found)


def test_types_on_machines_are_verified_from_the_file(tmp_path):
    kinds = [TaskType({"cpu": 2, "gpu": 1}, 6), TaskType({"cpu": 4}, 3, ["cpu"])]
    machines = [Machine("cpu", {"cpu": 16}, 2), Machine("gpu", {"cpu": 8, "gpu": 4})]
    instance = Instance({"team": kinds, "batch": {"cpu": 1}}, machines=machines)
    for policy in (*MARKETS, *SUMS):
        document = json.loads(json.dumps(solve(instance, policy).to_dict()))
        assert verify(document, instance).valid is True
        document["users"][1]["tasks"] *= 1 + 1e-6
        assert verify(document, instance).valid is False


@pytest.mark.parametrize("seed", range(8))
def test_rules_on_machines_in_fractions(seed):
    """The clock in fractions, its placement and its stops decided exactly, beside that of floats and programs."""
    try:
        instance = random_cluster(seed)
    except InstanceError:
        return
    if instance.machines is None or "organisation" not in instance.features:
        return
    found = solve(instance, exact=True)
    assert found.certificate.valid and found.certificate.rigorous
    assert [float(x) for x in found.tasks] == pytest.approx(solve(instance).tasks, rel=1e-9, abs=1e-12)


def _exactly(seed):
    """Of a small cluster exact markets and sums are those of floats; what is off by 1e-20 is rejected."""
    try:
        instance = random_cluster(seed)
    except InstanceError:
        return
    ruled = "organisation" in instance.features or instance.type_table is not None
    for policy in ("ceei", "alpha:2", *SUMS) if ruled else ():
        floats, found = solve(instance, policy), solve(instance, policy, exact=True)
        assert found.certificate.valid and found.certificate.rigorous
        assert verify(found.to_dict(), instance).valid is not False
        if policy in SUMS:
            assert float(sum(found.levels)) == pytest.approx(floats.levels.sum(), rel=1e-9)
            continue
        assert [float(x) for x in found.tasks] == pytest.approx(floats.tasks, rel=1e-8, abs=1e-12)
        if found.certificate.kind != "bounds":
            continue
        chosen, evidence, placed = policy_named(policy), found.certificate.evidence, found.placed_by_type
        placed = found.placement if placed is None else placed
        for i in np.flatnonzero(found.tasks)[:2]:
            tasks = found.tasks.copy()
            tasks[i] = upper(tasks[i]) * (1 + Fraction(1, 10**20))
            assert not bounds.certify_exactly(instance, chosen, tasks, placed, evidence).valid


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_markets_and_sums_with_bounds_in_fractions(seed):
    _exactly(seed)


def test_the_price_that_only_somebody_left_nothing_would_pay_is_none():
    """Everybody is at a floor or limit; A has none of what it asks for, and prices are next to nothing (floats)."""
    _exactly(22)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 30))
def test_markets_and_sums_with_bounds_in_fractions_many(seed):
    _exactly(seed)


def test_an_irrational_market_with_a_floor_is_enclosed():
    """A has its 4 tasks; B and C share 5 cpu, and 1 / (2/9 x^2) = 2 p, 1 / (2/9 y^2) = p: y is sqrt 2 times x."""
    users = {"A": {"cpu": 1, "memory": 3}, "B": {"cpu": 2, "memory": 1}, "C": {"cpu": 1, "memory": 8}}
    rules = Organisation(guarantees={"A": {"cpu": 4}})
    instance = Instance(users, {"cpu": 9, "memory": 36}, organisation=rules)
    found = solve(instance, "alpha:2", exact=True)
    a, b, c = found.tasks
    assert a.lower == 4 and isinstance(b, Enclosure) and b.width < Fraction(1, 10**29)
    x = 5 / (2 + 2**0.5)
    assert float(b) == pytest.approx(x, rel=1e-12)
    assert float(c) == pytest.approx(5 - 2 * x, rel=1e-12)


def test_an_exact_division_that_is_not_placed_or_not_fair_is_rejected():
    machines = [Machine("x", {"cpu": 3}), Machine("y", {"cpu": 5})]
    users = {"A": [TaskType({"cpu": 1}, 2), TaskType({"cpu": 2}, 1, ["y"])], "B": {"cpu": 1}}
    instance = Instance(users, machines=machines, organisation=Organisation(guarantees={"B": {"cpu": 5}}))
    found = solve(instance, exact=True)
    clock, breakpoints = Clock(instance, policy_named("drf"), exact=True), found.certificate.evidence.breakpoints
    placed = found.placed_by_type
    assert stops.certify(clock, found.tasks, placed, breakpoints).valid
    other = placed.copy()
    other[0, 0] += 1
    other[0, 1] -= 1
    assert not stops.certify(clock, found.tasks, other, breakpoints).valid
    assert not stops.certify(clock, found.tasks, None, breakpoints).valid
    fewer = found.tasks * Fraction(999_999, 1_000_000)
    assert not stops.certify(clock, fewer, placed * Fraction(999_999, 1_000_000), breakpoints).valid
    cheaper = tuple(replace(breakpoint, prices=breakpoint.prices * 0) for breakpoint in breakpoints)
    assert not stops.certify(clock, found.tasks, placed, cheaper).valid


def next_to_nothing() -> Instance:
    """Return a cluster where what is left beside a promise is a millionth of a millionth of what a user could have."""
    return Instance(
        {"A": {"cpu": 1e-6}, "B": {"cpu": 1e-6, "gpu": 1e-6}},
        machines=[Machine("small", {"cpu": 7, "gpu": 3}), Machine("large", {"cpu": 10**12, "gpu": 7})],
        eligible={"A": ["small"]},
        organisation=Organisation(guarantees={"B": {"gpu": 10**12}}),
    )


@pytest.mark.parametrize("policy", [*MARKETS, *SUMS])
def test_next_to_nothing_beside_a_promise_is_not_nothing(policy):
    assert solve(next_to_nothing(), policy).tasks == pytest.approx([4e6, 1e7], rel=1e-8)


def test_whom_floats_leave_nothing_is_proven_in_fractions():
    full = Instance(
        {"A": [1], "B": [1]}, [0.1 + 0.2], organisation=Organisation(guarantees={"A": {"r0": 1}}), resources=["r0"]
    )
    answer = solve(full, "ceei")
    assert list(answer.tasks) == [0.1 + 0.2, 0]
    proof = answer.certificate.evidence
    assert proof.in_fractions
    policy = policy_named("ceei")
    in_floats = replace(
        proof,
        breakpoints=tuple(
            replace(stop, prices=stop.prices.astype(float), bounds=np.asarray(stop.bounds, dtype=float))
            for stop in proof.breakpoints
        ),
        full=tuple((prices.astype(float), np.asarray(over, dtype=float)) for prices, over in proof.full),
    )
    doubted = bounds.certify(full, policy, answer.tasks, None, proof.prices, in_floats)
    assert not doubted.valid
    assert doubted.reason == "user 'B' is left nothing, and only fractions tell that from next to nothing"


def test_a_sum_that_floats_cannot_prove_is_that_of_fractions():
    asking = {"A": [3.3333333333333335], "B": [3.3333333333333335], "C": [0.1234567890123456]}
    promise = Organisation(guarantees={"B": {"cpu": 0.8750000000000001}})
    answer = solve(Instance(asking, [1], resources=["cpu"], organisation=promise), "throughput")
    assert answer.tasks == pytest.approx([0, 0.2625, 1.0125], abs=1e-6)


@pytest.mark.parametrize("exact", [False, True])
def test_whoever_is_at_a_floor_may_pay_far_more_than_a_task_is_worth(exact):
    users = {"A": ["2.5", "0.3"], "B": [1, 1], "C": ["1/3", "0.1"]}
    promises = Organisation(guarantees={"A": {"r1": "0.0675"}, "C": {"r0": "3.5"}})
    market = Instance(
        users, ["0.9", "0.3"], resources=["r0", "r1"], weights=[0.15, 3, 2], max_tasks={"C": 1}, organisation=promises
    )
    tasks = [float(upper(x)) if exact else x for x in solve(market, "alpha:2", exact=exact).tasks]
    assert tasks == pytest.approx([0.225, 0.9 - 0.5625 - 1 / 3, 1], rel=1e-7)


def test_a_ceiling_that_only_promises_meet_has_no_price():
    cluster = Instance(
        {"A": [5], "B": [3], "C": [5]},
        [27],
        resources=["r0"],
        organisation=Organisation(
            guarantees={"B": {"r0": 3}, "C": {"r0": 3}},
            paths={"B": "g", "C": "g"},
            groups=[Group("g", ceiling={"r0": 3})],
        ),
    )
    assert solve(cluster, "alpha:2").tasks == pytest.approx([4.8, 0.5, 0.3])


def test_who_makes_room_by_moving_has_a_price_in_exact_markets():
    # C fills the small class, which has a price though nobody in the market is there: it would else be all C's.
    machines = [Machine("small", {"cpu": 1, "gpu": 1}), Machine("large", {"cpu": 9, "gpu": 9})]
    promises = Organisation(guarantees={"C": {"cpu": 2}, "B": {"gpu": 9}})
    cluster = Instance(
        {"A": {"cpu": 3}, "B": {"cpu": 3, "gpu": 5}, "C": {"cpu": 1, "gpu": 1}},
        machines=machines,
        organisation=promises,
    )
    floats, exact = solve(cluster, "ceei"), solve(cluster, "ceei", exact=True)
    assert [float(upper(x)) for x in exact.tasks] == pytest.approx(list(floats.tasks))


@pytest.mark.parametrize("policy", ["ceei", "alpha:2"])
def test_groups_without_ceilings_are_a_market_of_incomes(policy, monkeypatch):
    """Nothing bounds a and b, who share the income of their group: each has half of what c has, without the engine."""
    rules = Organisation(paths={"a": "g", "b": "g"}, groups=[Group("g")])
    machines = [Machine("m", {"cpu": 4}), Machine("n", {"cpu": 4})]
    eligible = {"a": ["m"], "b": ["m", "n"], "c": ["n"]}
    cluster = Instance({u: {"cpu": 1} for u in "abc"}, machines=machines, organisation=rules, eligible=eligible)
    kept = solve(Instance(**(cluster.parts() | {"max_tasks": {"b": 1}})), policy)
    capped = Organisation(paths={"a": "g", "b": "g"}, groups=[Group("g", ceiling={"cpu": 7})])
    slow = solve(Instance(**(cluster.parts() | {"organisation": capped, "max_tasks": {"b": 1}})), policy)
    assert kept.tasks == pytest.approx(slow.tasks)
    assert kept.certificate.valid and slow.certificate.valid
    assert kept.certificate.kind == slow.certificate.kind == "bounds"
    monkeypatch.setattr(bounded, "BoundedMarket", None)
    found = solve(cluster, policy)
    assert found.certificate.valid and found.levels == pytest.approx(found.levels[0])
    assert found.tasks == pytest.approx([2, 2, 4])


@pytest.mark.parametrize("policy", ["ceei", "alpha:2", "alpha:4", "alpha:1/2"])
@pytest.mark.parametrize(("room", "kept"), [(10, 9.999), ("1.00001", 1)])
@pytest.mark.parametrize("grouped", [False, True])
def test_who_is_fixed_leaves_little_and_is_no_part_of_the_program(policy, room, kept, grouped):
    """A's guarantee is all its limit, and B has a thousandth of the pool, or of its group's ceiling."""
    rules = Organisation(
        guarantees={"A": {"gpu": kept}},
        paths={"A": "g", "B": "g"} if grouped else {},
        groups=[Group("g", ceiling={"gpu": room})] if grouped else [],
    )
    there = {"gpu": 100 if grouped else room}
    cluster = Instance({"A": {"gpu": 1}, "B": {"gpu": 1}}, there, max_tasks={"A": kept}, organisation=rules)
    found = solve(cluster, policy)
    left = Fraction(str(room)) - Fraction(str(kept))
    assert found.tasks.tolist() == pytest.approx([kept, float(left)], rel=1e-9)
    assert [float(x) for x in solve(cluster, policy, exact=True).tasks] == pytest.approx(found.tasks.tolist(), rel=1e-9)


@pytest.mark.parametrize("alpha", [2, 4, 8, 20])
def test_who_keeps_nearly_all_there_is_does_not_hide_the_others(alpha):
    """With alpha of 4 a task is worth 1e-15 to A of what it is to B, which had the engine refuse it."""
    rules = Organisation(guarantees={"A": {"gpu": "9.998"}})
    market = Instance({"A": {"gpu": 1}, "B": {"gpu": 1}}, {"gpu": 10}, max_tasks={"A": "9.999"}, organisation=rules)
    found = solve(market, f"alpha:{alpha}")
    assert found.tasks.tolist() == pytest.approx([9.998, 0.002], rel=1e-9)
    assert found.certificate.valid and verify(found).valid
    if alpha < 8:  # Beyond, the enclosure of a price is wider than asked.
        assert solve(market, f"alpha:{alpha}", exact=True).tasks.tolist() == [Fraction(4999, 500), Fraction(1, 500)]


def test_numbers_that_floats_do_not_resolve_beside_a_guarantee_are_divided_in_decimals():
    """B has what it is promised of the large machine; a task of A and C is 1e-24 of one of B's."""
    users = {"A": {"cpu": "1e-12"}, "B": {"cpu": 10**12}, "C": {"cpu": "1e-12"}}
    machines = [Machine("small", {"cpu": 1}), Machine("large", {"cpu": 10**12})]
    rules = Organisation(guarantees={"B": {"cpu": 10**12 // 4}})
    market = Instance(users, machines=machines, weights={"B": "0.3"}, organisation=rules)
    rest = Fraction(3 * 10**12 + 4, 8) * 10**12
    found = solve(market, "ceei")
    assert found.tasks.tolist() == pytest.approx([float(rest), 0.25, float(rest)], rel=1e-12)
    assert found.engine == "bounded-enclosure after bounded-barrier"
    assert found.certificate.valid and verify(found).valid
    assert solve(market, "ceei", exact=True).tasks.tolist() == [rest, Fraction(1, 4), rest]


def test_promises_that_are_next_to_nothing_of_a_machine_are_kept_in_floats():
    """HiGHS would drop what A's promise takes of its machine, as promises fall to what D can have of its own."""
    machines = [Machine("small", {"r0": 7, "r1": 1}), Machine("large", {"r0": 10**12, "r1": 10**12})]
    users = {"A": {"r0": "1e-6", "r1": "1e-6"}, "B": {"r1": "1e-12"}, "D": {"r1": 1}}
    rules = Organisation(guarantees={"A": {"r0": Fraction(1, 8_000_000)}, "D": {"r1": 500_000}})
    open_to = {"A": ["small"], "B": ["small", "large"], "D": ["small"]}
    found = solve(Instance(users, machines=machines, eligible=open_to, organisation=rules), "ceei")
    assert found.tasks.tolist() == pytest.approx([2.5e-7, 1e24, 1], rel=1e-9)
    assert found.certificate.valid and verify(found).valid


@pytest.mark.parametrize(
    ("engine", "rules"),
    [("barrier", None), ("bounded-barrier", Organisation(guarantees={"C": {"gpu": "0.1"}}))],
)
def test_a_market_that_does_not_converge_says_who_is_furthest_apart(engine, rules):
    users = {"A": {"cpu": 1}, "B": {"cpu": 1, "gpu": 1}, "C": {"cpu": 1, "gpu": 1}}
    machines = [Machine("m", {"cpu": 1, "gpu": 1}), Machine("n", {"cpu": 1, "gpu": 2})]
    market = Instance(users, machines=machines, weights={"A": 1e150, "B": 1e-150}, organisation=rules)
    with pytest.raises(SolverError) as caught:
        solve(market, "alpha:7", engine=engine)
    assert str(caught.value) == (
        "the interior point method did not converge: the weights of user 'A' and user 'B' are 10^300 apart: bring "
        "them nearer to each other"
    )


def test_of_ends_the_furthest_is_told():
    """Who needs nothing of a resource has no place among its ends."""

    def called(_, i):
        return f"user {i}"

    market = Instance({"A": {"cpu": 1}, "B": {"cpu": 4, "gpu": "1e-5"}, "C": {"gpu": 2}}, {"cpu": 9, "gpu": 9})
    problem = Problem(market, policy_named("ceei"))
    said = str(unresolved("no", ends(problem, np.array([1.0, 2.0, 3.0])), market.resources, called))
    assert said == "no: the demands for 'gpu' of user 2 and user 1 are 10^5 apart: bring them nearer to each other"
    alike = Problem(Instance({"A": {"cpu": 1}}, {"cpu": 9}), policy_named("ceei"))
    assert "no weights or demands are ten times apart" in str(
        unresolved("no", ends(alike, np.ones(1)), ("cpu",), called)
    )


def test_whom_linear_programs_would_drop_is_named():
    machines = [Machine("small", {"cpu": 1}), Machine("large", {"cpu": 10**13})]
    rules = Organisation(guarantees={"A": {"cpu": "0.01"}})
    market = Instance({"A": {"cpu": 1}, "B": {"cpu": 1}}, machines=machines, organisation=rules)
    told = "user 'B' takes only 1e-14 of the 'cpu' of class 'large', which linear programs in floats would drop"
    with pytest.raises(SolverError, match=told):
        Programs(Problem(market, policy_named("drf"))).reach(np.zeros(2), np.array([1.0, 0.1]))


def test_a_sum_whose_freed_prices_highs_does_not_find_has_its_own():
    """What the group is promised A fills r1 with, but for 1e-18 of it."""
    users = {"A": {"r0": 1, "r1": 10**12}, "B": {"r0": "1e-12", "r1": "1e-6"}, "C": {"r0": 1, "r1": 10**12}}
    groups = (Group("a", guarantee={"r0": Fraction(1, 8)}), Group("a/y", ceiling={"r1": 0}))
    rules = Organisation(paths={"A": "a", "B": "a", "C": "a/y"}, groups=groups)
    cluster = Instance(users, {"r0": 3, "r1": "1e-6"}, organisation=rules)
    found = solve(cluster, "throughput")
    assert found.tasks.tolist() == pytest.approx([1e-18, 1e-18, 0], rel=1e-9)
    assert found.certificate.valid and verify(found).valid


@pytest.mark.sampled(40)
@pytest.mark.parametrize("seed", range(200))
def test_decimals_alone_find_what_floats_do(seed, monkeypatch):
    """No start is read from floats: what binds exactly, at no price, is told as well."""
    instance = random_cluster(seed)
    expected = [solve(instance, policy) for policy in MARKETS]
    monkeypatch.setattr(bounded_enclosure._Market, "in_floats", _nothing)
    for policy, other in zip(MARKETS, expected, strict=True):
        found = solve(instance, policy, exact=True)
        assert found.certificate.valid
        assert [float(upper(x)) for x in found.tasks] == pytest.approx(other.tasks.tolist(), rel=1e-8)


def _nothing(*_):
    raise SolverError("floats say nothing")


def test_decimals_of_twenty_users_end():
    """What a user has and what is placed of it cancel, and what rounding leaves of that is no error."""
    r = random.Random(5)
    users = {f"u{i}": {"a": r.randint(1, 999), "b": r.randint(1, 999)} for i in range(20)}
    machines = [Machine(f"m{k}", {"a": r.randint(5_000, 9_000), "b": r.randint(5_000, 9_000)}) for k in range(3)]
    found, other = (
        solve(Instance(users, machines=machines), "alpha:2", engine=e) for e in ("decimal-barrier", "barrier")
    )
    assert found.tasks == pytest.approx(other.tasks, rel=1e-8)


def test_who_weighs_next_to_nothing_has_what_fractions_give_it():
    """All conditions held to 1e-12 at prices of another optimum, and a had 1.6 times as much."""
    users = {
        "a": {"r": 3, "s": "1e-6"},
        "b": {"r": 1, "s": 1},
        "c": [TaskType({"r": 5}, 1), TaskType({"r": 3, "s": "1e6"}, 1)],
    }
    machines = [Machine("m", {"r": 3, "s": 3}), Machine("n", {"r": "1e-6", "s": 1})]
    cluster = Instance(users, machines=machines, weights={"a": "1e-6", "b": 1_000_000})
    exact = solve(cluster, "ceei", exact=True).tasks
    assert [float(x) for x in exact] == pytest.approx([1e-12, 3, 0], rel=1e-9, abs=0)
    assert solve(cluster, "ceei").tasks.tolist() == pytest.approx([float(x) for x in exact], rel=1e-8, abs=0)
