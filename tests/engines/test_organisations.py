"""Guarantees, tiers and groups: floats, fractions, programs on machines and the step-by-step reference agree."""

from fractions import Fraction as F

import numpy as np
import pytest
from organised import again, on_machines, organised_pool

from drfopt import Group, Instance, Machine, Organisation, PolicyError, TaskType, schedule, solve, verify
from drfopt.base.tolerances import LEVEL
from drfopt.certificates.document import certificate_document
from drfopt.certificates.stops import certify
from drfopt.engines import hierarchy
from drfopt.engines.problem import Problem
from drfopt.engines.reference.path_filling import progressive_filling
from drfopt.io.native.reading import built
from drfopt.model.hierarchy import Clock
from drfopt.model.policies import policy_named
from drfopt.solving.crosschecking import crosscheck
from drfopt.solving.methods import slow_exact

POLICIES = ("drf", "drf", "asset", "tasks", "tsf")


def answers(seeds: range):
    """Yield instances, policies and exact allocations of those that the policy can take."""
    for seed in seeds:
        instance, policy = organised_pool(seed), POLICIES[seed % len(POLICIES)]
        if instance.organisation is None:
            continue
        try:
            yield instance, policy, solve(instance, policy, exact=True)
        except PolicyError:
            continue


def apart(one: np.ndarray, other: np.ndarray) -> float:
    return max(
        abs(float(a) - float(b)) / max(float(a), 1e-300) if a or b else 0.0 for a, b in zip(one, other, strict=True)
    )


def test_fractions_and_the_step_by_step_reference_are_equal():
    compared = 0
    for instance, policy, exact in answers(range(100)):
        assert exact.tasks.tolist() == slow_exact.tree_tasks(instance, policy_named(policy))
        compared += 1
    assert compared > 50


@pytest.mark.slow
def test_floats_are_within_the_accuracy_of_fractions():
    for instance, policy, exact in answers(range(1000, 1300)):
        found = solve(instance, policy)
        assert found.certificate.valid
        assert apart(exact.tasks, found.tasks) <= LEVEL


@pytest.mark.slow
def test_machines_of_one_class_are_a_pool():
    compared = 0
    for instance, policy, _ in answers(range(2000, 2150)):
        machines = on_machines(instance, seed=instance.n, classes=1)
        if machines.unplaced().any():
            continue
        pool = again(machines, dict(zip(machines.resources, machines.exact_capacity, strict=True)))
        assert apart(solve(pool, policy, exact=True).tasks, solve(machines, policy).tasks) <= LEVEL
        compared += 1
    assert compared > 30


@pytest.mark.parametrize("classes", [2, 3])
def test_machines_are_proven(classes: int):
    for instance, policy, _ in answers(range(3000, 3040)):
        found = solve(on_machines(instance, seed=instance.n, classes=classes), policy)
        assert found.certificate.valid
        assert found.certificate.violation <= LEVEL


def test_without_rules_the_clock_is_progressive_filling():
    for seed in range(4000, 4100):
        given = organised_pool(seed)
        demands = [dict(zip(given.resources, row, strict=True)) for row in given.exact_demands]
        plain = Instance(
            dict(zip(given.users, demands, strict=True)),
            dict(zip(given.resources, given.exact_capacity, strict=True)),
            weights=dict(zip(given.users, given.exact_weights, strict=True)),
            max_tasks=dict(zip(given.users, given.exact_limits, strict=True)),
        )
        for name in ("drf", "asset", "tasks"):
            policy = policy_named(name)
            problem = Problem(plain, policy)
            found = hierarchy.solve_exactly(problem).tasks if problem.n else []
            rates = policy.exact_rates(plain)
            expected = progressive_filling(plain.exact_demands, plain.exact_capacity, rates, plain.exact_limits)
            assert list(found) == [expected[i] for i in problem.members]


# ---- what each rule means ------------------------------------------------------------------------------------------


def three(organisation: Organisation, **rest: object) -> list[F]:
    """Return the tasks of A, B and C, alike but for the rules, on 12 cpus."""
    instance = Instance({u: {"cpu": 1} for u in "ABC"}, {"cpu": 12}, organisation=organisation, **rest)
    found = solve(instance, exact=True)
    assert apart(found.tasks, solve(instance).tasks) <= LEVEL
    return found.tasks.tolist()


def test_a_guarantee_is_a_floor():
    assert three(Organisation(guarantees={"A": {"cpu": 6}})) == [6, 3, 3]
    assert three(Organisation(guarantees={"A": {"cpu": 3}})) == [4, 4, 4]


def test_a_surplus_counts_what_is_above_the_guarantee():
    assert three(Organisation(guarantees={"A": {"cpu": 6}, "B": {"cpu": 3}}, meaning="surplus")) == [7, 4, 1]


def test_normalised_levels_are_parts_of_the_guarantee():
    assert three(Organisation(guarantees={"A": {"cpu": 6}, "B": {"cpu": 2}}, meaning="normalised")) == [
        6,
        2,
        4,
    ]
    both = Organisation(guarantees={"A": {"cpu": 3}, "B": {"cpu": 1}, "C": {"cpu": 1}}, meaning="normalised")
    assert three(both) == [F(36, 5), F(12, 5), F(12, 5)]


def test_guarantees_that_do_not_fit_together_are_kept_to_the_same_part():
    assert three(Organisation(guarantees={"A": {"cpu": 12}, "B": {"cpu": 6}})) == [8, 4, 0]


def test_guarantees_beyond_the_cluster_are_kept_to_the_same_part():
    assert three(Organisation(guarantees={"A": {"cpu": 48}, "B": {"cpu": 12}})) == [F(48, 5), F(12, 5), 0]
    group = Group("g", guarantee={"cpu": 120})
    assert three(Organisation(paths={"A": "g", "B": "g"}, groups=[group]), weights={"A": 3}) == [9, 3, 0]


@pytest.mark.parametrize("limit", [0, 1])
def test_a_group_guarantee_promises_nothing_to_who_uses_none_of_it(limit: int):
    pool = Instance(
        {"A": {"cpu": 1}, "B": {"cpu": 1}, "C": {"gpu": 1}},
        {"cpu": 12, "gpu": 12},
        max_tasks={"C": limit},
        organisation=Organisation(paths={"A": "g", "C": "g"}, groups=[Group("g", guarantee={"gpu": 5})]),
    )
    for exact in (True, False):
        assert solve(pool, exact=exact).tasks.tolist() == [6, 6, limit]
    assert slow_exact.tree_tasks(pool, policy_named("drf")) == [6, 6, limit]


def test_what_rounding_leaves_of_a_promise_goes_to_nobody():
    demands = {"A": {"cpu": 0.1234567890123456}, "B": {"cpu": 0.9876543210987654}}
    rules = Organisation(guarantees={"B": {"cpu": 1}})
    found = solve(Instance(demands, {"cpu": 1}, organisation=rules))
    assert found.tasks[0] == 0
    assert found.engine == "rational-tree after tree-filling"
    assert found.certificate.valid


FIRST = {"name": "first", "demand": {"b": 1}, "max_tasks": 1}
LAST = {"name": "last", "demand": {"a": 1, "b": "1e-18"}}
PROMISED = {"guarantee": {"b": 1}}


@pytest.mark.parametrize(
    ("rules", "last"),
    [
        ({"users": [FIRST | {"tier": 1}, LAST]}, 0),
        ({"users": [FIRST, LAST | {"weight": 0}]}, 0),
        ({"users": [FIRST | PROMISED, LAST | {"guarantee": {"a": 0.5}}]}, F(1, 2)),
        ({"guarantees": "surplus", "users": [FIRST | PROMISED, LAST | {"guarantee": {"a": 0.5}}]}, F(1, 2)),
        ({"guarantees": "normalised", "users": [FIRST | PROMISED | {"tier": 1}, LAST]}, 0),
        ({"users": [FIRST | {"weight": 3}, LAST | {"group": "x"}], "groups": [{"name": "x"}]}, F(1, 3)),
    ],
)
@pytest.mark.parametrize("policy", ["drf", "asset"])
def test_what_rounding_leaves_of_a_full_resource_is_for_nobody(rules: dict, last: F, policy: str):
    instance = built({"capacity": {"a": 1, "b": 1}} | rules, "rules")
    found, exact = solve(instance, policy), solve(instance, policy, exact=True)
    assert float(exact.tasks[1]) == pytest.approx(float(last), rel=1e-15)
    assert apart(exact.tasks, found.tasks) <= LEVEL
    clock, filled = Clock(instance, policy_named(policy)), hierarchy.solve_pool(Problem(instance, policy_named(policy)))
    assert not certify(clock, filled.tasks, None, filled.evidence.breakpoints).valid


@pytest.mark.parametrize("policy", ["single:cpu", "asset", "drf"])
def test_nothing_counted_is_there(policy: str):
    pool = Instance({"A": {"cpu": 1}}, {"cpu": 0}, organisation=Organisation(tiers={"A": 1}))
    for exact in (True, False):
        assert solve(pool, policy, exact=exact).unplaced == ("A",)


def test_a_guarantee_is_worth_no_more_than_its_user_can_use():
    assert three(Organisation(guarantees={"A": {"cpu": 12}, "B": {"cpu": 6}}), max_tasks={"A": 2}) == [2, 6, 4]
    pool = Instance(
        {"A": {"cpu": 1, "gpu": 1}, "B": {"cpu": 1}},
        {"cpu": 10, "gpu": 10},
        organisation=Organisation(guarantees={"A": {"cpu": 9, "gpu": 7}}),
    )
    assert solve(pool, exact=True).tasks.tolist() == [7, 3]


def test_higher_tiers_come_first_and_weights_of_0_last():
    assert three(Organisation(tiers={"A": 1}), max_tasks={"A": 7}) == [7, F(5, 2), F(5, 2)]
    assert three(Organisation(tiers={"A": 1})) == [12, 0, 0]
    assert three(Organisation(), weights={"A": 0, "B": 0}, max_tasks={"C": 8}) == [2, 2, 8]


def test_guarantees_come_before_tiers():
    assert three(Organisation(tiers={"A": 1}, guarantees={"B": {"cpu": 2}})) == [10, 2, 0]


def test_ceilings_of_users_and_of_groups():
    assert three(Organisation(ceilings={"A": {"cpu": 2}})) == [2, 5, 5]
    group = Group("g", ceiling={"cpu": 4})
    assert three(Organisation(paths={"A": "g", "B": "g"}, groups=[group])) == [2, 2, 8]


def test_weights_of_groups_stand_against_their_siblings():
    groups = [Group("g", weight=2)]
    assert three(Organisation(paths={"A": "g", "B": "g"}, groups=groups)) == [4, 4, 4]
    assert three(Organisation(paths={"A": "g", "B": "g"})) == [3, 3, 6]
    assert three(Organisation(paths={"A": "g", "B": "g"}), max_tasks={"A": 1}) == [1, 5, 6]


def test_a_group_guarantee_is_for_its_members_together():
    groups = [Group("g", guarantee={"cpu": 10})]
    assert three(Organisation(paths={"A": "g", "B": "g"}, groups=groups)) == [5, 5, 2]
    assert three(Organisation(paths={"A": "g", "B": "g"}, groups=groups), max_tasks={"A": 1}) == [1, 9, 2]


def test_an_excluded_resource_binds_and_does_not_count():
    demands = {"A": {"cpu": 1, "gpu": 4}, "B": {"cpu": 1}}
    rules = Organisation(excluded=["gpu"])
    free = Instance(demands, {"cpu": 12, "gpu": 40}, organisation=rules)
    assert solve(free, exact=True).tasks.tolist() == [6, 6]
    scarce = Instance(demands, {"cpu": 12, "gpu": 8}, organisation=rules)
    assert solve(scarce, exact=True).tasks.tolist() == [2, 10]


def test_who_uses_only_excluded_resources_is_refused():
    instance = Instance(
        {"A": {"gpu": 1}, "B": {"cpu": 1}}, {"cpu": 1, "gpu": 1}, organisation=Organisation(excluded=["gpu"])
    )
    with pytest.raises(PolicyError, match=r"user 'A' uses only resources that are excluded .* count one of them"):
        solve(instance)


def test_what_has_no_levels_that_rise_refuses_by_name():
    rules = Organisation(tiers={"A": 1}, guarantees={"A": {"cpu": 1}})
    instance = Instance({"A": {"cpu": 1}}, machines=[Machine("m", {"cpu": 1})], organisation=rules)
    why = "and it divides every machine by itself.*: use drf"
    with pytest.raises(PolicyError, match=f"per-server is asked of an instance with guarantees, {why}"):
        solve(instance, "per-server")


def test_counting_tasks_refuses_what_counts_resources():
    rules = Organisation(guarantees={"A": {"cpu": 1}}, meaning="surplus")
    instance = Instance({"A": {"cpu": 1}}, {"cpu": 1, "gpu": 1}, organisation=rules)
    why = "tasks counts tasks and not resources, so that surplus and normalised guarantees mean nothing"
    with pytest.raises(PolicyError, match=why):
        solve(instance, "tasks")


def test_counting_tasks_counts_no_resources_that_could_be_excluded():
    """Their capacity binds all the same; of task shares those that one could run alone are of the others."""
    demands = {"A": {"cpu": 1, "gpu": 4}, "B": {"cpu": 2, "gpu": 1}}
    rules = Organisation(excluded=["gpu"])
    pool = Instance(demands, {"cpu": 12, "gpu": 12}, organisation=rules)
    assert solve(pool, "tasks", exact=True).tasks.tolist() == [F(12, 5), F(12, 5)]
    assert sum(solve(pool, "throughput", exact=True).tasks) == F(48, 7)  # 12/7 and 36/7 use up both
    assert solve(pool, "tsf", exact=True).tasks.tolist() == solve(pool, "drf", exact=True).tasks.tolist()
    racks = [Machine("m", {"cpu": 6, "gpu": 8}), Machine("n", {"cpu": 6, "gpu": 4})]
    excluding = Instance(demands, machines=racks, organisation=rules)
    assert crosscheck(pool, "tsf").agree
    assert policy_named("tsf").exact_rates(excluding) == [F(1, 12), F(1, 6)]
    assert policy_named("tsf").rates(excluding) == pytest.approx([1 / 12, 1 / 6])
    for integer in (False, True):
        assert crosscheck(excluding, "tsf", integer=integer).agree is not False
        assert verify(solve(excluding, "tsf", integer=integer)).valid is True


def test_task_shares_of_excluded_resources_alone_are_none():
    instance = Instance(
        {"A": {"gpu": 1}, "B": {"cpu": 1}}, {"cpu": 1, "gpu": 1}, organisation=Organisation(excluded=["gpu"])
    )
    with pytest.raises(PolicyError, match="user 'A' uses only resources that are excluded"):
        solve(instance, "tsf")
    assert solve(instance, "tasks", exact=True).tasks.tolist() == [1, 1]


def test_a_crosscheck_asks_the_reference():
    instance = Instance(
        {"A": {"cpu": 1}, "B": {"cpu": 1}}, {"cpu": 1}, organisation=Organisation(guarantees={"A": {"cpu": "3/4"}})
    )
    found = crosscheck(instance)
    assert found.agree
    assert [answer.engine for answer in found.methods] == ["tree-filling", "reference, step by step"]


@pytest.mark.parametrize("policy", ["drf", "ceei", "throughput", "utilitarian"])
@pytest.mark.parametrize("integer", [False, True])
def test_ceilings_of_users_alone_are_limits_for_every_policy(policy: str, integer: bool):
    demands, capacity = {"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}}, {"cpu": 9, "memory": 18}
    ceiling = Organisation(ceilings={"A": {"cpu": 3, "memory": 8}})
    capped = solve(Instance(demands, capacity, organisation=ceiling), policy, integer=integer)
    limited = solve(Instance(demands, capacity, max_tasks={"A": 2}), policy, integer=integer)
    assert capped.tasks.tolist() == limited.tasks.tolist()
    assert capped.certificate.valid


def test_task_types_on_machines_rise_with_their_user():
    """A's two types need different machines; as she is guaranteed half of her tasks, B on the small ones has less."""
    machines = [Machine("small", {"cpu": 4}, 2), Machine("large", {"cpu": 8})]
    kinds = [TaskType({"cpu": 1}, 6, ["small"]), TaskType({"cpu": 6}, 2, ["large"])]
    rules = Organisation(guarantees={"A": {"cpu": 9}}, paths={"A": "g", "C": "g"})
    instance = Instance(
        {"A": kinds, "B": {"cpu": 1}, "C": {"cpu": 2}},
        machines=machines,
        eligible={"B": ["small"], "C": ["large"]},
        organisation=rules,
    )
    found = solve(instance)
    assert found.engine == "tree-chain"
    assert found.certificate.valid
    # 9 cpus are half of her tasks: 3 of the first kind and 1 of the second, of which the large machine has room for 1.
    np.testing.assert_allclose(found.tasks, [4, 5, 1], rtol=LEVEL)


def test_members_fill_what_their_group_is_not_held_back_by_as_if_by_themselves():
    """The group has all gpus, so its level is 1; what its other members get of the cpus is max-min fair even so."""
    demands = {"trainer": {"gpu": 1}, "small": {"cpu": 1}, "large": {"cpu": 1}}
    instance = Instance(
        demands,
        {"gpu": 1, "cpu": 10},
        max_tasks={"trainer": 1, "small": 2},
        organisation=Organisation(paths=dict.fromkeys(demands, "g")),
    )
    assert solve(instance, exact=True).tasks.tolist() == [1, 2, 8]
    assert solve(instance).tasks.tolist() == pytest.approx([1, 2, 8])


def test_who_ends_a_rounding_below_its_limit_is_at_it():
    """The level of u2 in its group ended one ulp short of the limit, and the clock stood still for ever."""
    demands = {"u0": {"cpu": 4}, "u1": {"cpu": 1}, "u2": {"cpu": 2}, "u3": {"cpu": 3}}
    instance = Instance(
        demands,
        {"cpu": 11},
        weights={"u2": 3},
        max_tasks={"u1": F(1, 2), "u2": 1, "u3": F(1, 2)},
        organisation=Organisation(
            paths={"u0": "a/x", "u1": "b", "u2": "b", "u3": "a/y"},
            groups=[Group("a"), Group("a/x", ceiling={"cpu": 1}), Group("a/y", weight=3), Group("b")],
        ),
    )
    found = solve(instance)
    assert found.tasks.tolist() == [0.25, 0.5, 1, 0.5]
    assert found.engine == "tree-filling"


def standing_still(of_x: F, of_y: F, weight: int, parts: int = 1) -> Instance:
    """Two groups with half of the gpus, whose levels stand still while tasks of so many cpus run in them."""
    demands = {
        "a": {"gpu": F(weight, parts)},
        "x": {"cpu": of_x},
        "b": {"gpu": F(1, parts)},
        "y": {"cpu": of_y},
        "z": {"cpu": 1},
    }
    return Instance(
        demands,
        {"gpu": 2 * weight, "cpu": 12},
        weights={"a": 3, "b": 6},
        max_tasks={"a": parts, "b": parts, "z": 5},
        organisation=Organisation(
            paths={"a": "g", "x": "g", "b": "h", "y": "h"},
            groups=[Group("g", weight), Group("h")],
            guarantees={"z": {"cpu": 5}},
        ),
    )


def test_groups_that_jump_together_gain_the_same():
    """At the level 1/2 of both, x has 1/6 of the cpus and y 1/12; of 12 cpus 4 are left."""
    assert solve(standing_still(F(1), F(1), 1), exact=True).tasks.tolist() == [1, 4, 1, 3, 5]


def test_the_clock_stops_at_the_last_moment_at_which_all_is_possible():
    """The gpus are used up when y's way begins, which needs none: c is finished after it, and then x has the rest."""
    instance = Instance(
        {"c": {"gpu": 1}, "x": {"cpu": 1}, "b": {"gpu": 1}, "y": {"cpu": 1}, "z": {"cpu": 1}},
        {"gpu": 2, "cpu": 8},
        weights={"c": 4, "b": 4},
        max_tasks={"b": 1, "z": 2},
        organisation=Organisation(
            paths={"c": "g", "x": "g", "b": "h", "y": "h"},
            groups=[Group("g"), Group("h")],
            guarantees={"z": {"cpu": 2}},
        ),
    )
    exact, found = solve(instance, exact=True), solve(instance)
    assert exact.tasks.tolist() == slow_exact.tree_tasks(instance, policy_named("drf")) == [1, 2, 1, 4, 2]
    assert apart(exact.tasks, found.tasks) <= LEVEL
    assert all(verify(certificate_document(answer)).valid for answer in (exact, found))


def test_what_is_used_up_at_once_is_so_to_floats():
    """The gpus and cpus are; a rounding between them let u5 have all of its way before u9 was found to be finished."""
    cpus = {"u0": {"cpu": 1, "mem": 1}, "u2": {"cpu": 3}, "u4": {"cpu": 1}, "u8": {"cpu": 2}}
    others = {"u1": {"gpu": 1}, "u5": {"mem": 1}, "u9": {"gpu": 1}, "u10": {"mem": 1}}
    instance = Instance(
        cpus | others,
        {"gpu": 2, "cpu": 24, "mem": 16},
        weights={"u0": 2, "u1": 6, "u4": 2, "u5": 2, "u9": 6},
        max_tasks={"u1": F(3, 2), "u9": 2},
        organisation=Organisation(
            paths={"u0": "a", "u1": "a", "u2": "a", "u4": "b", "u5": "b", "u8": "b/t", "u9": "c", "u10": "c"},
            groups=[Group("a", 3), Group("b"), Group("c"), Group("b/t")],
            guarantees={"u4": {"cpu": F(3, 2)}},
        ),
    )
    exact, found = solve(instance, exact=True), solve(instance)
    assert apart(exact.tasks, found.tasks) <= LEVEL
    assert all(verify(certificate_document(answer)).valid for answer in (exact, found))


@pytest.mark.parametrize("weight", [1, 3])
def test_whole_tasks_of_any_size_gain_the_same_while_levels_stand_still(weight: int):
    """Turns that were a task each gave y a part of what x has where its tasks are smaller."""
    divisible = solve(standing_still(F(1), F(1), weight), exact=True).tasks
    for of_x, of_y in ((F(1, 16), F(1, 64)), (F(1, 64), F(1, 16)), (F(1, 32), F(1, 32))):
        found = solve(standing_still(of_x, of_y, weight, 64), integer=True)
        assert found.certificate.rigorous
        assert abs(found["x"].tasks * of_x - divisible[1]) <= F(1, 16)
        assert abs(found["y"].tasks * of_y - divisible[3]) <= F(1, 16)


@pytest.mark.parametrize("policy", ["drf", "asset", "tasks"])
def test_a_ceiling_of_0_leaves_nothing(policy: str):
    rules = {
        "organisation": Organisation(paths={"A": "g", "B": "g"}, groups=[Group("g", guarantee={}, ceiling={"gpu": 0})])
    }
    demands = {"A": {"cpu": 1, "gpu": 1}, "B": {"cpu": 1}, "C": {"gpu": 1}}
    capacity = {"cpu": 4, "gpu": 4}
    for cluster in ({"capacity": capacity}, {"machines": [Machine("m", capacity)]}):
        found = solve(Instance(demands, **cluster, **rules), policy)
        assert found.certificate.valid
        assert found.tasks.tolist() == [0, 4, 4]
    assert crosscheck(Instance(demands, capacity, **rules), policy).agree


@pytest.mark.parametrize(
    ("policy", "tasks"),
    [("drf", (F(7, 2), F(9, 2))), ("asset", (F(9, 2), F(7, 2))), ("single:cpu", (F(23, 4), F(9, 4)))],
)
def test_a_surplus_is_counted_resource_by_resource(policy, tasks):
    """A's guarantee is worth the 2 tasks that use up its memory, of 3 cpu more it is below 0."""
    instance = Instance(
        {"A": {"cpu": 1, "mem": 1}, "B": {"cpu": 1, "mem": 1}},
        {"cpu": 10, "mem": 8},
        weights={"B": 3},
        organisation=Organisation(guarantees={"A": {"cpu": 5, "mem": 2}}, meaning="surplus"),
    )
    assert tuple(solve(instance, policy, exact=True).tasks) == tasks


BELOW = {"A": {"cpu": 5, "mem": 2}, "B": {"cpu": 3, "mem": 2}}
"""Worth two tasks each, with which A is 3/10 below what it is promised, and B 1/10."""


@pytest.mark.parametrize("how", [{}, {"exact": True}, {"integer": True}], ids=str)
@pytest.mark.parametrize(
    ("limit", "demand", "ceiling", "level"), [(0, 1, 5, 0), (None, 8, 5, 0), (None, 1, 0, F(-3, 5))]
)
def test_who_can_run_nothing_by_itself_has_no_level_below_that_of_nothing(limit, demand, ceiling, level, how):
    groups = [Group("g", ceiling={"cpu": ceiling})]
    rules = Organisation(guarantees={"A": {"cpu": 3}}, paths={"A": "g"}, groups=groups, meaning="surplus")
    users = {"A": {"cpu": demand}, "B": {"cpu": 1}}
    instance = Instance(
        users, machines=[Machine("m", {"cpu": 5})], max_tasks={"A": limit, "B": None}, organisation=rules
    )
    found = solve(instance, "drf", **how)
    assert (found.tasks.tolist(), [*map(float, found.levels)]) == ([0, 5], [float(level), 1])
    assert verify(found).valid
    assert crosscheck(instance, "drf", integer=bool(how.get("integer"))).agree is not False


@pytest.mark.parametrize("grouped", [False, True])
def test_who_is_furthest_below_its_guarantee_comes_first(grouped):
    """A has 3/4 task to itself until it is as far below as B; counted as 0 both went the same part of their way."""
    for parts in (1, 8):
        users = {u: {"cpu": F(1, parts), "mem": F(1, parts)} for u in BELOW}
        groups = [Group(u, guarantee=guarantee) for u, guarantee in BELOW.items()]
        named: dict = {"paths": {u: u for u in BELOW}, "groups": groups} if grouped else {"guarantees": BELOW}
        instance = Instance(users, {"cpu": 10, "mem": 6}, organisation=Organisation(meaning="surplus", **named))
        exact = solve(instance, "asset", exact=True)
        assert exact.tasks.tolist() == [F(27, 8) * parts, F(21, 8) * parts]
        assert crosscheck(instance, "asset").agree is True
        assert solve(instance, "asset").tasks == pytest.approx(exact.tasks.astype(float), rel=1e-9)
    # Tasks so small that none is cut: the same of whole ones, and of Algorithm 1.
    whole = solve(instance, "asset", integer=True)
    assert whole.tasks.tolist() == schedule(instance, "asset").tasks.tolist() == [27, 21]
    program = "formulations/hierarchy_integer.py" if grouped else "formulations/guarantees_integer.py"
    assert crosscheck(instance, "asset", integer=True, formulation=program).agree is True
    assert verify(exact).valid and verify(whole).valid


@pytest.mark.parametrize("integer", [False, True])
def test_a_level_below_0_is_shown(integer):
    """What is left of mem is nothing, so that both stay below."""
    users = {u: {"cpu": 1, "mem": 1} for u in BELOW}
    rules = Organisation(guarantees=BELOW, meaning="surplus")
    found = solve(Instance(users, {"cpu": 10, "mem": 4}, organisation=rules), "asset", integer=integer)
    assert found.levels == pytest.approx([-0.3, -0.1])
    assert found.certificate.valid


def test_a_limit_cuts_what_is_promised():
    users, promised = {"A": {"cpu": 1}, "B": {"cpu": 1}}, {"A": {"cpu": 9}, "B": {"cpu": 4}}
    limited = Instance(users, {"cpu": 6}, max_tasks={"A": 4}, organisation=Organisation(guarantees=promised))
    found = solve(limited, exact=True)
    assert found.tasks.tolist() == [3, 3]
    assert [row["promised"] for row in found.broken_guarantees] == ["4", "4"]


@pytest.mark.parametrize("amount", [8, 20, 100])
@pytest.mark.parametrize("limit", [None, 200])
@pytest.mark.parametrize("policy", ["drf", "asset"])
def test_more_than_there_is_may_be_promised_to_a_group(amount, policy, limit):
    """B, who needs none of it, rises beside A until it is used up; it stopped at twice what it could run alone."""
    instance = Instance(
        {"A": {"cpu": 1, "mem": 1}, "B": {"cpu": 1}},
        {"cpu": 4, "mem": 4},
        max_tasks={} if limit is None else {"B": limit},
        organisation=Organisation(paths={"A": "g", "B": "g"}, groups=[Group("g", guarantee={"mem": amount})]),
    )
    tasks = [2, 2] if policy == "drf" else [F(4, 3), F(8, 3)]
    found = solve(instance, policy, exact=True)
    assert found.tasks.tolist() == tasks
    assert verify(found).valid
    assert crosscheck(instance, policy).agree is True
    assert solve(instance, policy).tasks == pytest.approx(np.array(tasks, dtype=float), rel=1e-9)


def test_a_pool_is_one_machine_and_has_all_rules_of_it():
    """per-server of a pool is drf of it, whatever rules, limits and types there are, and is verified as that."""
    rules = Organisation(
        guarantees={"A": {"cpu": 2}},
        tiers={"B": 1},
        paths={"A": "g", "C": "g"},
        groups=[Group("g", ceiling={"cpu": 5})],
    )
    users = {"A": {"cpu": 1, "memory": 2}, "B": {"cpu": 2}, "C": [TaskType({"memory": 1}, 3), TaskType({"cpu": 1}, 1)]}
    pool = Instance(users, {"cpu": 9, "memory": 12}, max_tasks={"B": 2}, organisation=rules)
    for how in ({"exact": True}, {"integer": True}):
        found, as_drf = solve(pool, "per-server", **how), solve(pool, "drf", **how)
        assert found.policy == "per-server"
        assert sorted(found.levels.tolist()) == sorted(as_drf.levels.tolist())
        assert verify(found).valid is True
    assert crosscheck(pool, "per-server").agree is not False


def test_a_level_that_is_nothing_but_for_rounding_is_nothing_and_tiers_are_told():
    rules = Organisation(guarantees={"a": {"cpu": 4}, "b": {"cpu": 6}}, tiers={"a": 1}, meaning="surplus")
    found = solve(Instance({u: {"cpu": 1} for u in "ab"}, {"cpu": 10}, organisation=rules))
    assert found.levels.tolist() == [0, 0]
    assert "user  tier  tasks" in str(found)
