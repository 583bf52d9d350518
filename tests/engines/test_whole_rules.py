"""Whole tasks under guarantees, tiers, ceilings and of several types: engines, proofs and enumeration agree."""

import random
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from organised import again, organised_pool
from whole_reference import Enumeration, Groups, awkward, equal

from drfopt import (
    Group,
    Instance,
    InstanceError,
    Machine,
    Organisation,
    PolicyError,
    TaskType,
    TimeLimitError,
    crosscheck,
    schedule,
    solve,
    verify,
)
from drfopt.base.deadline import Deadline
from drfopt.certificates import exhaustive_search, group_stops, group_sweep, sequence_bound, whole
from drfopt.certificates.document import certificate_document, stated
from drfopt.certificates.sequence_bound import most_served, room_above
from drfopt.certificates.verifier.trees import Carried
from drfopt.certificates.verifier.whole_groups import Cuts, StopProof
from drfopt.model.evidence import WholeEvidence
from drfopt.model.policies import policy_named
from drfopt.model.users import TypeSequence
from drfopt.model.whole_values import WholeUsers

POLICIES = ("drf", "drf", "asset", "tasks")
KINDS = {
    "rules": {},
    "rules on machines": {"machines": True},
    "types": {"types": True, "rules": False},
    "types on machines": {"types": True, "rules": False, "machines": True},
    "types under rules": {"types": True},
    "types under rules on machines": {"types": True, "machines": True},
}


def compared(kind: str, seeds: range, policies: tuple[str, ...] = POLICIES, **drawn: bool) -> int:
    """Compare engines and enumeration; return how many instances could be taken."""
    number = 0
    for seed in seeds:
        instance = awkward(seed, **KINDS[kind], **drawn)
        number += equal(instance, policies[seed % len(policies)], (kind, seed))
    return number


@pytest.mark.parametrize("kind", KINDS)
def test_engines_equal_enumeration(kind):
    assert compared(kind, range(12)) > 8


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_engines_equal_enumeration_at_length(kind, some):
    assert compared(kind, range(100, 100 + some(900))) > some(600)


@pytest.mark.parametrize("policy", ["utilitarian", "alpha:2", "alpha:0.5"])
@pytest.mark.parametrize("others", [{}, {"B": {"r0": 1}}], ids=["alone", "beside another"])
def test_who_needs_what_is_excluded_and_may_have_none_of_it_has_nothing(policy, others):
    rules = Organisation(paths={"A": "b"}, groups=[Group("b", ceiling={"r1": 0})], excluded=["r1"])
    instance = Instance({"A": {"r1": 1}} | others, {"r0": 2, "r1": 2}, organisation=rules)
    found = solve(instance, policy, integer=True)
    assert found.tasks.tolist() == [0, 2][: instance.n] and found.certificate.valid
    document = certificate_document(found)
    assert verify(document).valid is True
    # Where all that it may have is one task less, what is written is not the best.
    document["users"][-1] |= {"tasks": document["users"][-1]["tasks"] - 1, "level": 0}
    assert verify(document).valid is False


@pytest.mark.parametrize("policy", ["ceei", "alpha:2", "alpha:0.5", "utilitarian"])
def test_who_may_have_nothing_leaves_the_others_what_is_proven(policy):
    """In a product and in utilities too, of which a tree is written."""
    rules = Organisation(paths={"A": "g"}, groups=[Group("g", ceiling={"r0": "1/2"})])
    machines = {"machines": [Machine("m", {"r0": 4}, 2), Machine("n", {"r0": 3})]}
    users = {u: {"r0": need} for u, need in zip("ABC", (1, 2, 1), strict=True)}
    for how in ({"capacity": {"r0": 11}}, machines):
        found = solve(Instance(users, **how, organisation=rules), policy, integer=True)
        assert found.tasks[0] == 0 and found.certificate.rigorous
        document = certificate_document(found)
        assert document["proof"]["trees"] and verify(document).valid is True


def test_a_sum_that_is_not_proven_has_a_bound_whatever_weights_per_resource_say():
    rules = Organisation(guarantees={"A": {"r1": 1}})
    users = {"A": {"r1": 1, "r2": 2}, "B": {"r1": 2, "r2": 1}}
    instance = Instance(users, {"r1": 9, "r2": 9}, weights={"A": {"r1": 1, "r2": 2}}, organisation=rules)
    users = WholeUsers(instance, policy_named("utilitarian"), [0, 1])
    proof = whole._bounded_without_rules(users, [1, 0], Deadline.after(0))
    assert proof.valid is None and proof.evidence.bound >= Fraction(2, 3)


MARKETS = ("ceei", "utilitarian", "ceei", "throughput")
TIERED = (*MARKETS, "alpha:2", "alpha:0.5")


@pytest.mark.parametrize("kind", KINDS)
def test_sums_and_products_equal_enumeration(kind):
    assert compared(kind, range(10), MARKETS, market=True) > 7


@pytest.mark.parametrize("kind", KINDS)
def test_tiers_of_sums_and_products_equal_enumeration(kind):
    assert compared(kind, range(30, 42), TIERED, market=True, tiers=True) > 9


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_sums_and_products_equal_enumeration_at_length(kind, some):
    assert compared(kind, range(100, 100 + some(900)), MARKETS, market=True) > some(600)
    assert compared(kind, range(1000, 1000 + some(600)), TIERED, market=True, tiers=True) > some(400)


@pytest.mark.parametrize("kind", KINDS)
def test_what_wants_time_has_a_bound_that_nothing_exceeds(kind):
    """Of a sum or product that is not proven, whatever the rules; or what is better is found at once."""
    told = found = 0
    for seed in range(8):
        instance, policy = awkward(seed, **KINDS[kind], market=True), policy_named(MARKETS[seed % len(MARKETS)])
        try:
            best = solve(instance, policy, integer=True)
        except PolicyError:
            continue
        # Tasks that are not the best: those of a cluster in which the one who has most has a lower limit.
        limits = [
            min(most, max(x - (x == best.tasks.max()), 0)) for most, x in zip(instance.limits, best.tasks, strict=True)
        ]
        less = solve(Instance(**(instance.parts() | {"max_tasks": limits})), policy, integer=True)
        late = whole.certify(instance, policy, less.tasks, less.certificate.evidence.packing, Deadline.after(-1))
        found += late.valid is False
        if late.valid is None:
            told += 1
            assert late.evidence.late
            assert 0 <= late.gap <= 1
            users = whole.WholeUsers(instance, policy, [i for i in range(instance.n) if best.tasks[i]])
            value = sum(rate * int(best.tasks[i]) for i, rate in zip(users.members, users.rates, strict=True))
            if policy.objective == "alpha":
                logs = [
                    float(w) * np.log(int(best.tasks[i])) for i, w in zip(users.members, users.incomes, strict=True)
                ]
                value = np.exp(sum(logs) / float(sum(users.incomes))) * (1 - 1e-12)
            members = exhaustive_search.playing(instance)
            if "smallest part" in late.reason:
                value = whole.WholeUsers(instance, policy, members).parts([int(best.tasks[i]) for i in members])[0][0]
            if "have a task" in late.reason:
                value = sum(bool(best.tasks[i]) for i in members)
            assert late.evidence.bound >= value
    assert told + found > 4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("policy", ["drf", "throughput", "utilitarian", "ceei", "alpha:2", "alpha:0.5"])
def test_where_there_is_no_time_at_all_there_are_an_answer_and_a_bound(kind, policy):
    for seed in (3, 4):
        instance = awkward(seed, market=policy != "drf", **KINDS[kind])
        late = solve(instance, policy, integer=True, time_limit=1e-9).certificate
        assert late.valid or (late.valid is None and late.gap is not None and 0 <= late.gap <= 1), late.reason


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("kind", [kind for kind, drawn in KINDS.items() if not drawn.get("machines")])
def test_prices_of_the_whole_cluster_bound_every_sum_and_product(kind, few, monkeypatch):
    """By how much the best exceeds some tasks is never more than what is said of these, and often that."""
    if few:  # As where there are more numbers of tasks than can be looked at.
        for name, number in (("NUMBERS", 1), ("FEW", 2), ("NEAR", (0,))):
            monkeypatch.setattr(sequence_bound, name, number)
    said = exact = 0
    for seed in range(200, 206):
        policy = policy_named(MARKETS[seed % len(MARKETS)])
        instance = awkward(seed, market=True, **KINDS[kind])
        try:
            best = solve(instance, policy, integer=True)
        except PolicyError:
            continue
        users = WholeUsers(instance, policy, exhaustive_search.playing(instance))
        own = [int(best.tasks[i]) for i in users.members]
        less = [max(x - (p == seed % 3), 1) if x else 0 for p, x in enumerate(own)]
        weights = users.rates if policy.objective == "sum" else exhaustive_search.powers(users.incomes)
        for tasks in (own, less):
            more = room_above(users, tasks)
            if users.broken(users.spread(tasks)) != best.broken:
                continue
            if policy.objective == "sum":
                true = float(sum(w * (x - y) for w, x, y in zip(weights, own, tasks, strict=True)))
            else:
                true = sum(
                    float(w) * np.log(max(x, 1) / max(y, 1)) for w, x, y in zip(weights, own, tasks, strict=True)
                )
                assert most_served(users, tasks) >= sum(map(bool, own))
            assert more >= 0
            assert float(more) >= true - 1e-12, seed
            said, exact = said + 1, exact + (float(more) <= true + 1e-9)
    assert said > 3
    assert exact > 0


def test_a_product_in_which_somebody_has_nothing_has_a_bound():
    late = Deadline.after(-1)
    # Whoever needs all of the cluster has nothing, or everybody else has: 3 of 4 can have a task.
    users = {"all": [12], "A": [3], "B": [2], "C": [2]}
    instance, policy = Instance(users, [12], organisation=Organisation(ceilings={"A": {"r1": 9}})), policy_named("ceei")
    assert np.prod(solve(instance, policy, integer=True).tasks[1:]) == 4
    found = whole.certify(instance, policy, np.array([0, 1, 1, 2]), None, late)
    assert found.valid is None
    assert 4 ** (1 / 3) <= found.evidence.bound < 6 ** (1 / 3)
    fewer = whole.certify(instance, policy, np.array([0, 3, 0, 0]), None, late)
    assert (fewer.evidence.level, fewer.evidence.bound) == (1, 3)


def test_a_sum_of_several_types_that_wants_time_has_a_bound():
    users = {"A": [TaskType([3, 1], 4), TaskType([1, 2], 2)], "B": [2, 2]}
    for machines in ({"capacity": [9, 7]}, {"machines": [Machine("m", [4, 4], 2)]}):
        instance, policy = Instance(users, **machines), policy_named("utilitarian")
        best = solve(instance, policy, integer=True)
        late = whole.certify(
            instance, policy, np.zeros(2, dtype=int), [] if "machines" in machines else None, Deadline.after(-1)
        )
        rates = policy.exact_rates(instance)
        value = sum(rate * int(x) for rate, x in zip(rates, best.tasks, strict=True))
        assert not late.valid
        assert value <= late.evidence.bound < 2 * value


def test_what_nothing_exceeds_even_without_rules_is_the_best():
    rules = Organisation(guarantees={"u1": {"r1": 2}})
    instance = Instance([[1], [1]], [5], users=["u1", "u2"], resources=["r1"], organisation=rules)
    for tasks, valid in (([2, 3], True), ([1, 4], None), ([2, 2], False)):
        found = whole.certify(instance, policy_named("throughput"), np.array(tasks), None, Deadline.after(-1))
        assert found.valid is valid, tasks
        assert found.gap == {(2, 3): 0.0, (1, 4): 0.5, (2, 2): 0.2}[tuple(tasks)]


@pytest.mark.parametrize("kind", [kind for kind, drawn in KINDS.items() if drawn.get("machines")])
def test_a_product_without_a_point_in_time_is_what_task_after_task_comes_to(kind):
    """On machines: an answer that can run, and no error without one."""
    answered = 0
    for seed in range(8):
        instance = awkward(seed, **KINDS[kind], market=True)
        try:
            found = solve(instance, "ceei", integer=True, time_limit=1e-9)
        except PolicyError:
            continue
        answered += found.status in ("time_limit", "optimal")
        assert found.certificate.valid is not False
    assert answered > 2


def in_groups(seeds: range) -> int:
    """Compare sums and products in several groups, which are incomes and ceilings to them; return how many."""
    number = 0
    for seed in seeds:
        drawn = organised_pool(seed)
        rules = drawn.organisation
        if max(drawn.exact_capacity) > 12 or not drawn.several_groups or any(rules.last):
            continue
        plain = replace(rules.named(drawn.users), tiers={}, meaning="floor", excluded=())
        groups = [replace(group, tier=0, weight=group.weight or 1) for group in plain.groups]
        instance = Instance(**(drawn.parts() | {"organisation": replace(plain, groups=groups)}))
        if np.prod([most + 1 for most in Enumeration(instance, "ceei").most]) > 3_000:
            continue
        number += equal(instance, MARKETS[seed % len(MARKETS)], seed)
    return number


def test_sums_and_products_in_groups_equal_enumeration():
    assert in_groups(range(60)) > 5


@pytest.mark.slow
def test_sums_and_products_in_groups_equal_enumeration_at_length(some):
    assert in_groups(range(1000, 1000 + some(9_000))) > some(600)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_the_best_is_not_proven(kind):
    """Of all that can be run nothing else is called the best, and what cannot be run is called so."""
    rejected = 0
    for seed in range(6):
        instance = awkward(seed, **KINDS[kind])
        try:
            found = solve(instance, integer=True)
        except PolicyError:
            continue
        reference = Enumeration(instance, "drf")
        best = reference.score(found.tasks)
        for i in reference.playing:
            for step in (-1, 1):
                tasks = np.array(found.tasks)
                tasks[i] += step
                if tasks[i] < 0:
                    continue
                packing = None if instance.machines is None else found.certificate.evidence.packing
                proof = whole.certify(instance, policy_named("drf"), tasks, packing)
                if instance.machines is None:
                    possible = all(
                        x <= most for x, most in zip(tasks, reference.most, strict=True)
                    ) and reference.possible(tasks)
                    assert bool(proof.valid) == (possible and reference.score(tasks) == best)
                else:
                    assert not proof.valid, "it is not what was packed"
                rejected += not proof.valid
    assert rejected > 5


def three(organisation: Organisation, **rest: object) -> list[int]:
    """Return the tasks of A, B and C, alike but for the rules, on 12 cpus, on machines of 4 as in a pool."""
    demands = {u: {"cpu": 1} for u in "ABC"}
    pool = solve(Instance(demands, {"cpu": 12}, organisation=organisation, **rest), integer=True)
    machines = Instance(demands, machines=[Machine("m", {"cpu": 4}, 3)], organisation=organisation, **rest)
    assert sorted(solve(machines, integer=True).tasks) == sorted(pool.tasks)
    return pool.tasks.tolist()


def test_what_each_rule_means():
    assert three(Organisation(guarantees={"A": {"cpu": 6}})) == [6, 3, 3]
    assert three(Organisation(guarantees={"A": {"cpu": 6}, "B": {"cpu": 3}}, meaning="surplus")) == [7, 4, 1]
    assert three(Organisation(guarantees={"A": {"cpu": 6}, "B": {"cpu": 2}}, meaning="normalised")) == [6, 2, 4]
    assert three(Organisation(tiers={"A": 1, "B": 1}), max_tasks={"A": 5, "B": 4}) == [5, 4, 3]
    assert three(Organisation(), weights={"A": 0}, max_tasks={"B": 5, "C": 5}) == [2, 5, 5]
    group = Group("g", ceiling={"cpu": 8})
    assert three(Organisation(paths=dict.fromkeys("ABC", "g"), groups=[group]), max_tasks={"C": 2}) == [3, 3, 2]


def test_guarantees_that_do_not_fit_are_kept_to_the_best_parts_and_named():
    found = solve(
        Instance(
            {u: {"cpu": 1} for u in "AB"},
            {"cpu": 8},
            organisation=Organisation(guarantees={"A": {"cpu": 9}, "B": {"cpu": 3}}),
        ),
        integer=True,
    )
    assert found.tasks.tolist() == [6, 2]
    assert [str(row) for row in found.broken] == ["A has 6 of 9 cpu", "B has 2 of 3 cpu"]


@pytest.mark.parametrize("policy", ["drf", "throughput", "ceei"])
@pytest.mark.parametrize("order", ["BC", "CB"])
def test_of_two_guarantees_of_which_one_fits_the_higher_tiers_is_kept(policy, order):
    rules = Organisation(guarantees={u: {"cpu": 2} for u in "BC"}, tiers={"B": 1})
    cluster = Instance({u: {"cpu": 2} for u in order}, {"cpu": 3}, organisation=rules)
    found = solve(cluster, policy, integer=True)
    assert found.tasks.tolist() == [int(u == "B") for u in order]
    assert verify(certificate_document(found)).valid is True
    other = certificate_document(found) | {"users": [{"name": u, "tasks": int(u == "C")} for u in order]}
    assert verify(other).valid is not True
    if policy == "drf":
        # Every method, and one program a round.
        assert crosscheck(cluster, integer=True, formulation="formulations/guarantees_integer.py").agree


def test_of_equal_parts_the_higher_tier_has_the_next_task():
    rules = Organisation(guarantees={u: {"cpu": 4} for u in "ABC"}, tiers={"C": 1})
    assert solve(Instance({u: {"cpu": 1} for u in "ABC"}, {"cpu": 10}, organisation=rules), integer=True).tasks[2] == 4


def test_a_guarantee_is_worth_whole_tasks():
    rules = Organisation(guarantees={"A": {"cpu": "5/2"}})
    found = solve(Instance({u: {"cpu": 1} for u in "AB"}, {"cpu": 4}, organisation=rules), integer=True)
    assert found.tasks.tolist() == [2, 2]
    assert found.broken == ()


def test_a_surplus_is_less_than_nothing_where_whole_tasks_do_not_reach_the_guarantee():
    rules = Organisation(guarantees={"A": {"cpu": "5/2"}}, meaning="surplus")
    found = solve(Instance({u: {"cpu": 1} for u in "AB"}, {"cpu": 4}, organisation=rules), integer=True)
    assert found.tasks.tolist() == [3, 1]
    assert found.levels.tolist() == [0.125, 0.25]


# ---- several types --------------------------------------------------------------------------------------------------


def test_tasks_of_several_types_come_in_the_proportions_of_their_counts():
    order = TypeSequence((0, 1, 2), (4, 2, 1))
    assert [order.next_type(x) for x in range(7)] == [0, 1, 0, 2, 0, 1, 0]
    assert [order.started(x) for x in (0, 3, 7)] == [(0, 0, 0), (2, 1, 0), (4, 2, 1)]


def test_what_types_use_is_what_is_told():
    kinds = [TaskType({"cpu": 1, "memory": 4}, 3, name="map"), TaskType({"cpu": 2}, 1, name="reduce")]
    instance = Instance({"A": kinds, "B": {"cpu": 1, "memory": 2}}, {"cpu": 6, "memory": 18})
    found = solve(instance, integer=True)
    # Its average task is 5/4 of 6 cpu; the first two are maps, which need 2 cpu.
    assert found.tasks.tolist() == [2, 4]
    assert found.levels[0] == pytest.approx(2 * 5 / 24)
    assert found.usage[0].tolist() == [2, 8]
    assert found.used.tolist() == [6, 16]
    assert found.types == {"A": [{"name": "map", "tasks": 2, "of": 3}, {"name": "reduce", "tasks": 0, "of": 1}]}
    assert type(found).from_dict(found.to_dict()) == found


def test_one_type_is_as_none():
    for machines in ({"capacity": [7, 9]}, {"machines": [Machine("m", [3, 4], 2)]}):
        one = Instance({"A": [TaskType([1, 2], 3)], "B": [2, 1]}, **machines)
        none = Instance({"A": [1, 2], "B": [2, 1]}, max_tasks={"A": 3}, **machines)
        assert solve(one, integer=True).tasks.tolist() == solve(none, integer=True).tasks.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_all_methods_agree(kind):
    for seed in range(40, 43):
        assert crosscheck(awkward(seed, **KINDS[kind]), integer=True).agree is not False


# ---- schedules beside the optimum -----------------------------------------------------------------------------------


def test_a_schedule_is_told_how_far_it_is_from_the_optimum():
    instance = Instance.library("sec71-phase3")
    found = schedule(instance, trace=False, optimum=True).optimum
    assert found.proven
    assert found.tasks.tolist() == [44, 78]
    assert (found.lowest, found.lowest_of_schedule) == pytest.approx((11 / 24, 38 / 96))
    assert (found.higher, found.lower) == (2, 0)
    with pytest.raises(PolicyError, match="leave the optimum out"):
        schedule(awkward(3, types=True, rules=False), optimum=True)


def test_no_schedule_is_above_the_optimum():
    for seed in range(20):
        instance = awkward(seed)
        try:
            found = schedule(instance, trace=False, optimum=True)
        except PolicyError:
            continue
        reference = Enumeration(instance, "drf")
        assert reference.score(found.tasks) <= reference.score(found.optimum.tasks)


# ---- several groups -------------------------------------------------------------------------------------------------


def swept(seeds: range) -> int:
    """Compare the sweep of groups with the recursion; return how many instances have several groups."""
    branching = 0
    for seed in seeds:
        instance, policy = organised_pool(seed), POLICIES[seed % len(POLICIES)]
        if max(instance.exact_capacity) > 12 or "organisation" not in instance.features:
            continue
        if any(instance.organisation.paths) and not instance.several_groups:
            continue
        try:
            found = solve(instance, policy, integer=True, engine="group-sweep")
        except PolicyError:
            continue
        assert tuple(found.tasks.tolist()) in Groups(instance, policy).best(), seed
        assert found.certificate.valid
        assert found.certificate.rigorous
        branching += instance.several_groups
    return branching


def test_groups_are_swept_as_the_recursion_says():
    assert swept(range(60)) > 10


@pytest.mark.slow
def test_groups_are_swept_as_the_recursion_says_at_length(some):
    assert swept(range(1000, 1000 + some(9_000))) > some(1_500)


def out_of_time(self, *_):
    raise TimeLimitError("the time limit ran out in the sweep of groups")


@pytest.mark.parametrize("machines", [False, True], ids=["pool", "machines"])
def test_the_next_stop_of_groups_has_a_bound_that_no_way_exceeds(machines, monkeypatch):
    told = 0
    for seed in range(36):
        instance, policy = organised_pool(seed), POLICIES[seed % len(POLICIES)]
        if not instance.several_groups or max(instance.exact_capacity) > 12:
            continue
        if machines:
            room = {r: -(-c // 2) for r, c in zip(instance.resources, instance.exact_capacity, strict=True)}
            instance = again(instance, machines=[Machine("m", room, 2)])
        try:
            best = solve(instance, policy, integer=True)
        except (PolicyError, InstanceError):
            continue
        users = WholeUsers(instance, policy_named(policy), exhaustive_search.playing(instance))
        if not best.certificate.valid or not users.members:
            continue
        with monkeypatch.context() as late:
            late.setattr(group_sweep.GroupSweep, "best", out_of_time)
            late.setattr(group_stops.StopProof, "stopped", out_of_time)
            found = solve(instance, policy, integer=True)
        proof = found.certificate.proof(WholeEvidence)
        assert found.status == "time_limit"
        assert found.certificate.valid is None
        if proof.bound is not None:
            told += 1
            assert proof.level <= proof.bound
            claim = stated(instance, policy_named(policy), best.tasks.tolist())
            clock = StopProof(claim, cluster := Carried(claim), Cuts(cluster))
            first, latest = clock.own_stop()[0], clock.onward(clock.start)
            assert first.time <= latest.time, seed
            assert clock.level(first.moment) <= proof.bound == clock.level(latest.moment), seed
            assert "0 stops are proven, the next is at" in found.certificate.reason
    assert told > 3


K = 10**9
LARGE = {
    # At 3 (2 K - 1) / 3 cpus each 4 are left for a task of both.
    "a ceiling": (
        Instance({"A": {"cpu": 1, "memory": 1}, "B": {"cpu": 3, "memory": 2}}, {"cpu": 4 * K, "memory": 9 * K},
                 organisation=Organisation(paths={"A": "g"}, groups=[Group("g", ceiling={"cpu": 3 * K})])),
        [2 * K - 1, (2 * K + 1) // 3],
    ),
    # Half of the cpus has C, and half of the rest each of A and B; D has the memory, by which its group is at 1.
    "nested": (
        Instance({"A": {"cpu": 1}, "B": {"cpu": 2}, "C": {"cpu": 1}, "D": {"memory": 1}}, {"cpu": 8 * K, "memory": K},
                 organisation=Organisation(paths={"A": "g/h", "B": "g/k", "C": "m", "D": "g"})),
        [2 * K, K, 4 * K, K],
    ),
    # What is promised first; A needs none of what is left.
    "promises": (
        Instance({"A": {"cpu": 1}, "B": {"cpu": 1}}, {"cpu": K + 1}, organisation=Organisation(
            {"A": {"cpu": K // 2 + 7}}, paths={"A": "g", "B": "h"})),
        [K // 2 + 7, K // 2 - 6],
    ),
    "machines": (
        Instance({"A": {"cpu": 1}, "B": {"cpu": 3}}, machines=[Machine("m", {"cpu": 2 * K}, 2)],
                 organisation=Organisation(paths={"A": "g"})),
        [2 * K - 1, (2 * K + 1) // 3],
    ),
    # C and D have what A and B leave: 3 (K // 6) cpus each, and then 4 for a task of both.
    "tiers and weights": (
        Instance({"A": {"cpu": 1}, "B": {"cpu": 1}, "C": {"cpu": 3}, "D": {"cpu": 1}}, {"cpu": 4 * K},
                 max_tasks={"A": K}, organisation=Organisation(
                     paths={"A": "g", "B": "h", "C": "k", "D": "k"},
                     groups=[Group("g", tier=1), Group("h", 2), Group("k")])),
        [K, 2 * K, K // 6 + 1, K // 2 - 1],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_billions_of_tasks_in_groups_are_proven_as_few_are(name):
    instance, wanted = LARGE[name]
    found = solve(instance, integer=True)
    assert (found.tasks.tolist(), found.certificate.valid) == (wanted, True)
    written = certificate_document(found)
    assert verify(written).valid is True
    written["users"][-1]["tasks"] -= 1
    assert verify(written).valid is not True


def test_members_rise_together_and_who_stops_is_chosen_well():
    users = {"a1": {"cpu": 2}, "a2": {"cpu": 1}, "b": {"cpu": 1}}
    paths = {"a1": "a", "a2": "a", "b": "b"}
    instance = Instance(users, {"cpu": 10}, organisation=Organisation(paths=paths))
    found = solve(instance, integer=True)
    assert found.tasks.tolist() == [1, 3, 5]
    assert found.certificate.evidence.judge == "multipliers"
    worse = whole.certify(instance, policy_named("drf"), np.array([2, 1, 5]), None)
    assert worse.valid is False
    assert "best choice" in worse.reason


def swept_on_machines(seeds: range) -> int:
    """Compare the sweep of groups on machines with the recursion; return how many instances have several groups."""
    branching = 0
    for seed in seeds:
        chance, pool = random.Random(f"groups {seed}"), organised_pool(seed)
        if pool.n > 4 or not pool.several_groups:
            continue
        rooms = [{r: chance.choice([2, 3, 4]) for r in pool.resources} for _ in range(chance.randint(1, 2))]
        machines = [Machine(f"c{k}", room, chance.randint(1, 2)) for k, room in enumerate(rooms)]
        names = [machine.name for machine in machines]
        open_to = {u: [chance.choice(names)] for u in pool.users} if chance.random() < 0.4 else None
        instance, policy = again(pool, machines=machines, eligible=open_to), POLICIES[seed % len(POLICIES)]
        try:
            if sum(Enumeration(instance, policy).most) > 16:
                continue
            found = solve(instance, policy, integer=True)
        except PolicyError as error:
            assert "excluded" in str(error) or "mean nothing" in str(error), seed
            continue
        assert tuple(found.tasks.tolist()) in Groups(instance, policy).best(), seed
        assert found.certificate.valid, seed
        branching += 1
    return branching


def test_groups_on_machines_are_swept_as_the_recursion_says():
    assert swept_on_machines(range(60)) > 5


@pytest.mark.slow
def test_groups_on_machines_are_swept_as_the_recursion_says_at_length(some):
    assert swept_on_machines(range(1000, 1000 + some(9_000))) > some(900)


def test_groups_of_whole_tasks_on_machines_are_packed():
    rules = Organisation(paths={"A": "g", "B": "h"})
    users = {u: {"cpu": 3} for u in "AB"}
    machines = Instance(users, machines=[Machine("m", {"cpu": 4}, 3)], organisation=rules)
    # A task a machine: two of one of them, and one of the other; in a pool of 12 cpu two of each.
    found = solve(machines, integer=True)
    assert sorted(found.tasks) == [1, 2]
    assert found.placement.sum() == 3
    assert solve(Instance(users, {"cpu": 12}, organisation=rules), integer=True).tasks.tolist() == [2, 2]


def test_too_many_ways_are_told(monkeypatch):
    monkeypatch.setattr(group_sweep, "TRIED", 0)
    users = {f"u{i}": {"cpu": 1, "memory": i + 1} for i in range(6)}
    paths = {u: "a" if i % 2 else "b" for i, u in enumerate(users)}
    found = solve(Instance(users, {"cpu": 8, "memory": 30}, organisation=Organisation(paths=paths)), integer=True)
    assert found.status == "feasible"
    assert found.certificate.valid is None
    assert "too many ways" in found.certificate.reason


def test_who_needs_only_what_is_excluded_and_has_a_ceiling_of_0_has_nothing():
    rules = Organisation(
        paths={"A": "a", "C": "c"}, groups=[Group("a", weight=0, ceiling={"r1": 0}), Group("c")], excluded=["r1"]
    )
    users = {"A": {"r1": 5}, "C": {"r0": 3, "r1": 5}}
    for machines in ({"capacity": {"r0": 9, "r1": 12}}, {"machines": [Machine("m", {"r0": 9, "r1": 12})]}):
        instance = Instance(users, **machines, organisation=rules)
        assert [solve(instance, "asset", integer=whole).tasks[0] for whole in (False, True)] == [0, 0]


@pytest.mark.parametrize("policy", ["drf", "asset", "ceei", "utilitarian"])
@pytest.mark.parametrize("cpu", [0, 3])
def test_a_group_whose_ceiling_is_0_runs_nothing_though_a_member_needs_only_what_is_excluded(policy, cpu):
    rules = Organisation(paths={"A": "a", "B": "a"}, groups=[Group("a", ceiling={"gpu": 0})], excluded=["gpu"])
    users = {"A": {"gpu": 1}, "B": {"cpu": cpu, "gpu": 1}}
    for machines in ({"capacity": {"cpu": 8, "gpu": 8}}, {"machines": [Machine("m", {"cpu": 8, "gpu": 8}, 2)]}):
        found = solve(Instance(users, **machines, organisation=rules), policy, integer=True)
        assert (found.tasks.tolist(), found.certificate.valid) == ([0, 0], True)


@pytest.mark.parametrize("policy", ["drf", "ceei", "utilitarian"])
@pytest.mark.parametrize("limit, has", [(None, 2), (1, 1)])
@pytest.mark.parametrize("cluster", [{"capacity": {"r": 10}}, {"machines": [Machine("m", {"r": 10})]}])
def test_ceilings_of_a_user_with_types_count_what_these_need(policy, limit, has, cluster):
    """The first two tasks need 2 of a ceiling of 2; two average ones would need 6."""
    users = {"u": [TaskType({"r": 1}, 3), TaskType({"r": 9}, 1)], "v": {"r": 1}}
    own = Organisation(ceilings={"u": {"r": 2}})
    group = Organisation(paths={"u": "g"}, groups=[Group("g", ceiling={"r": 2})])
    for rules in (own, group):
        found = solve(Instance(users, **cluster, max_tasks=[limit, None], organisation=rules), policy, integer=True)
        assert found.tasks.tolist() == [has, 10 - has] and verify(found).valid is not False


def test_a_solver_that_does_not_see_a_task_is_no_judge_of_a_sum():
    """One task of the large user is worth a thousand million of the others': the program left them out, as optimal."""
    large = 10**9
    users = {
        "u0": [TaskType({"b": 1, "c": 2}, 1, ["m0"]), TaskType({"a": 5}, 5, ["m0"])],
        "u1": {"a": 5 * large, "b": 2 * large, "c": 3 * large},
        "u2": [TaskType({"b": 1, "c": 5}, 3)],
    }
    rooms = {"m0": (18, 2, 12), "m1": (2, 2, 2)}
    machines = [Machine(name, dict(zip("abc", [x * large for x in room], strict=True))) for name, room in rooms.items()]
    found = solve(Instance(users, machines=machines), "utilitarian", integer=True)
    assert dict(zip(found.users, found.tasks.tolist(), strict=True))["u2"] == 3
    assert found.certificate.valid is None
    assert 0 < found.certificate.gap < 1e-8


def test_a_pool_that_has_learned_that_not_all_have_a_task_asks_the_program():
    """Two machines run no task of each; filling the pool up went on for ever where nothing was left of it."""
    machines = [Machine("m", {"cpu": 5, "gpu": 3}, 2)]
    instance = Instance([[3, 1], [3, 2], [1, 1], [3, 1]], machines=machines, weights=["1/2", 3, "1/2", 2])
    found = solve(instance, "ceei", integer=True)
    assert (found.status, Enumeration(instance, "ceei").score(found.tasks.tolist())) == (
        "optimal",
        Enumeration(instance, "ceei").best(),
    )
