"""Prices under rules of an organisation and with task types on machines: slopes are those of clusters divided again."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from drfopt import Group, Instance, Machine, Organisation, PolicyError, TaskType, price, solve, what_if
from drfopt.model.hierarchy import Clock
from drfopt.model.policies import policy_named
from drfopt.planning.pricing import clock_slopes
from drfopt.planning.pricing.units import units_of

USERS = {"A": {"cpu": 1, "memory": 3}, "B": {"cpu": 2, "memory": 1}, "C": {"cpu": 1, "memory": 1}}
RULES = {
    "guarantee": {"guarantees": {"A": {"cpu": 4}}},
    "broken guarantees": {"guarantees": {"A": {"cpu": 5}, "B": {"cpu": 6}}},
    "ceiling of a group": {"paths": {"A": "g", "B": "g"}, "groups": [Group("g", 2, ceiling={"cpu": 3})]},
    "guarantee of a group": {"paths": {"A": "g", "B": "g"}, "groups": [Group("g", 1, guarantee={"cpu": 7})]},
    "tiers": {"tiers": {"A": 1}},
}


def pool(capacity=None, **rules):
    return Instance(USERS, capacity or {"cpu": 9, "memory": 18}, organisation=Organisation(**rules))


def machines(cpu=8, **rules):
    kinds = [TaskType({"cpu": 2, "gpu": 1}, 60), TaskType({"cpu": 4}, 30, ["cpu"])]
    users = {"team": kinds, "batch": {"cpu": 1}, "gpus": {"cpu": 1, "gpu": 1}}
    classes = [Machine("cpu", {"cpu": 16}, 2), Machine("gpu", {"cpu": cpu, "gpu": 4}, 2)]
    return Instance(users, machines=classes, organisation=Organisation(**rules) if rules else None)


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
@pytest.mark.parametrize(("resource", "now"), [("cpu", 9), ("memory", 18)])
def test_slopes_in_a_pool_are_those_of_fractions(rules, resource, now):
    """The oracle divides a pool with a hair more, and less, in fractions; both sides of every rule."""
    found = price(pool(**rules), units=[resource])[resource]
    base = solve(pool(**rules), exact=True).tasks
    for side, sign in ((found.more, 1), (found.less, -1)):
        step = sign * Fraction(now, 10**12)
        after = solve(pool({"cpu": 9, "memory": 18} | {resource: now + step}, **rules), exact=True).tasks
        truth = np.array([float((x - y) / step) for x, y in zip(after, base, strict=True)])
        assert side.tasks == pytest.approx(truth, rel=1e-6, abs=1e-7 * float(max(base)) / now)


@pytest.mark.parametrize("policy", ["drf", "asset", "ceei", "alpha:2"])
@pytest.mark.parametrize("rules", [{}, {"guarantees": {"gpus": {"gpu": 3}}}], ids=["types", "types and guarantee"])
def test_slopes_on_machines_are_those_of_dividing_again(policy, rules):
    instance = machines(**rules)
    found = price(instance, policy, units=["gpu/cpu"])["gpu/cpu"]
    step = 1e-3
    sides = [solve(machines(cpu=8 + sign * step / 2, **rules), policy).tasks for sign in (1, -1)]
    truth = (sides[0] - sides[1]) / (2 * step)
    mean = (found.more.tasks + found.less.tasks) / 2
    assert mean == pytest.approx(truth, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("policy", ["drf", "asset", "tasks"])
def test_the_clock_and_the_links_say_the_same(policy):
    """Of a plain leximin the rounds know the slopes (`binding_rounds`): two ways that share no equations."""
    users = {"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}, "C": {"cpu": 1}}
    classes = [Machine("x", {"cpu": 9, "memory": 18}, 2), Machine("y", {"cpu": 6, "memory": 4})]
    instance = Instance(users, machines=classes, weights={"A": 2}, max_tasks={"C": 3})
    known = price(instance, policy)
    look = clock_slopes.divided(solve(instance, policy))
    for worth in known.units:
        for side, more in ((worth.more, True), (worth.less, False)):
            if side is not None:
                assert look.near(worth.unit, more).tasks == pytest.approx(side.tasks, rel=1e-6, abs=1e-6)
                assert look.price(worth.unit, more) == pytest.approx(side.price, rel=1e-6, abs=1e-12)


def test_sums_with_floors_have_prices_on_both_sides():
    """All of cpu is spent: a unit more goes to C, a share of 1/9; memory is left."""
    found = price(pool(guarantees={"A": {"cpu": 4}}), "throughput")
    assert found["cpu"].more.price == pytest.approx(1)
    assert 4 <= found["cpu"].less.until < 5  # with less than 4 the floor does not fit
    assert found["memory"].more.price == 0
    json.dumps(found.to_dict())


def test_tiers_of_a_group_that_has_others_beside_it_have_no_prices_in_a_market():
    with pytest.raises(PolicyError, match="has others beside it, who wait for none of them"):
        price(pool(tiers={"A": 1}, paths={"A": "g", "B": "g"}), "ceei")


def test_stops_that_are_wrong_prove_no_division_beside():
    """Slopes rest on divisions that the judge of stops accepts: with other prices it accepts none."""
    instance = pool(**RULES["guarantee"])
    look = clock_slopes.divided(solve(instance))
    unit = units_of(instance)[0]
    room = instance.room + 1e-3 * unit.growth
    assert look._run(room, look.breakpoints, instance.room) is not None
    wrong = tuple(replace(breakpoint, prices=breakpoint.prices[:, ::-1].copy()) for breakpoint in look.breakpoints)
    assert look._run(room, wrong, instance.room) is None
    assert policy_named("drf").objective == "leximin"


def test_slopes_that_are_drawn_have_no_range():
    """`from` and `to` showed the step of the difference quotient as if something else bound there."""
    found = price(pool(guarantees={"A": {"cpu": 4}}), "drf")
    assert all(side.until is None for worth in found.units for side in worth.one_sided)
    assert "how far they hold is not known" in str(found)
    assert "10 times" not in str(found)


@pytest.mark.parametrize("policy", ["utilitarian", "throughput"])
def test_one_more_of_what_promises_wait_for_is_worth_what_it_adds(policy):
    """A sum stood still in what was said of it, and rose in the division of the larger cluster."""
    short = Instance(
        {"A": {"cpu": 1}, "B": {"cpu": 2}},
        {"cpu": 6},
        organisation=Organisation(guarantees={"A": {"cpu": 4}, "B": {"cpu": 8}}),
    )
    found = price(short, policy)["cpu"]
    # Of a cpu more A gets a third and B two thirds.
    assert found.more.price == pytest.approx(1 / 6 if policy == "utilitarian" else 2 / 3)
    assert found.less.price == pytest.approx(found.more.price)
    assert found.more.until is None


def test_promises_that_just_fit_have_two_sides():
    full = Instance(
        {"A": {"cpu": 1}, "B": {"cpu": 4}},
        {"cpu": 6},
        organisation=Organisation(guarantees={"A": {"cpu": 2}, "B": {"cpu": 4}}),
    )
    found = price(full, "throughput")["cpu"]
    assert found.more.price == pytest.approx(1)
    assert found.less.price == pytest.approx(2 / 6 + 1 / 6)


def test_of_many_users_floats_look_beside(monkeypatch):
    promises = Organisation(guarantees={"A": {"cpu": 4}, "B": {"cpu": 8}})
    short = Instance({"A": {"cpu": 1}, "B": {"cpu": 2}}, {"cpu": 6}, organisation=promises)
    monkeypatch.setattr("drfopt.planning.pricing.unit_price.FRACTIONS", 1)
    assert price(short, "throughput")["cpu"].more.price == pytest.approx(2 / 3, rel=1e-4)


def test_whose_tasks_fit_nowhere_warns_nobody(recwarn):
    cluster = Instance({"A": {"gpu": 1}, "B": {"cpu": 1}}, {"cpu": 4, "gpu": 0}, max_tasks={"B": 9})
    assert price(cluster, "ceei")["cpu"].more.tasks.tolist() == pytest.approx([0, 1])
    assert not recwarn.list


def test_units_that_the_first_stops_do_not_tell_apart_have_slopes_of_their_own():
    """The slopes of a unit that leads elsewhere were given to others: one more of c1's cpu was worth nothing."""
    users = {"A": {"cpu": 1, "memory": 1}, "B": {"cpu": 1, "memory": 1}}
    machines = [Machine("c0", {"cpu": 4, "memory": 4}, 3), Machine("c1", {"cpu": 4, "memory": 8}, 3)]
    found = price(
        Instance(users, machines=machines, max_tasks={"A": "1/2"}, organisation=Organisation(paths={"B": "a"}))
    )
    gained = {name: found[name].more.tasks[1] for name in ("c0/cpu", "c1/cpu", "c0/memory", "c1/memory")}
    assert gained == pytest.approx({"c0/cpu": 0, "c1/cpu": 1, "c0/memory": 0, "c1/memory": 0}, abs=1e-6)
    lost = {name: found[name].less.tasks[1] for name in gained if found[name].less is not None}
    assert lost["c1/memory"] == pytest.approx(0, abs=1e-6)
    assert lost["c1/cpu"] == pytest.approx(1)


def test_whom_a_ceiling_stops_first_leaves_the_price_to_whom_a_capacity_stops():
    rules = Organisation(paths={"A": "g"}, groups=[Group("g", ceiling={"cpu": 2})])
    found = price(Instance({"A": {"cpu": 1}, "B": {"cpu": 1}}, {"cpu": 10}, organisation=rules))["cpu"].more
    assert (found.price, found.tasks.tolist()) == (pytest.approx(1 / 10), pytest.approx([0, 1]))


def told_by_dividing(allocation, found):
    """Hold both sides of every unit against clusters that are divided again, whatever their prices."""
    slow = clock_slopes.Divided(allocation)
    for worth in found.units:
        for side, more in ((worth.more, True), (worth.less, False)):
            if side is not None:
                near = slow.near(worth.unit, more)
                assert side.tasks == pytest.approx(near.tasks, rel=1e-4, abs=1e-4), (worth.name, more)
                assert side.sum_of_shares == pytest.approx(near.shares, rel=1e-4, abs=1e-6), (worth.name, more)


def test_types_move_with_what_has_a_price_only(monkeypatch):
    """Memory costs nothing, nor does n, and m is as its cpu: of 16 sides those of one unit need dividing."""
    users = {"A": [TaskType({"cpu": 1}, 2, ["m"]), TaskType({"cpu": 1, "memory": 1}, 1, ["n"])], "B": {"cpu": 2}}
    classes = [Machine("m", {"cpu": 6, "memory": 9}), Machine("n", {"cpu": 4, "memory": 9})]
    allocation = solve(Instance(users, machines=classes, eligible={"B": ["m"]}), "ceei")
    divisions, at = [], clock_slopes.Divided.at
    monkeypatch.setattr(
        clock_slopes.Divided, "at", lambda self, unit, *given: divisions.append(unit.name) or at(self, unit, *given)
    )
    found = price(allocation.instance, "ceei", allocation=allocation)
    assert set(divisions) == {"cpu"}
    assert found["m/memory"].more.tasks.tolist() == [0, 0]
    assert found["m"].more.tasks == pytest.approx(6 * found["m/cpu"].more.tasks)
    told_by_dividing(allocation, found)


@pytest.mark.parametrize("policy", ["ceei", "alpha:2"])
def test_groups_that_bound_nobody_have_the_prices_of_their_incomes(policy, monkeypatch):
    rules = Organisation(paths={"A": "g", "B": "g"}, groups=[Group("g", 2)])
    classes = [Machine("m", {"cpu": 9, "memory": 9}), Machine("n", {"cpu": 4, "memory": 18})]
    allocation = solve(Instance(USERS, machines=classes, organisation=rules, max_tasks={"C": 2}), policy)
    with monkeypatch.context() as patch:
        patch.setattr(clock_slopes.Divided, "near", None)
        found = price(allocation.instance, policy, allocation=allocation)
    told_by_dividing(allocation, found)


def test_what_rounding_leaves_of_a_slope_is_none():
    """Each class is a pool, and its levels do not move by its own capacity, of which they are shares."""
    users = {"a": {"cpu": 1}, "b": {"cpu": 2}, "c": {"cpu": 1}, "d": {"cpu": 3}}
    rules = Organisation(paths={"a": "x", "b": "x", "c": "y"}, groups=[Group("x"), Group("y")])
    classes = [Machine("m", {"cpu": 7}), Machine("n", {"cpu": 5}, 2)]
    found = price(Instance(users, machines=classes, organisation=rules), "per-server")
    for unit in found.units:
        for side in unit.one_sided:
            assert side.lowest_level == 0
            assert side.sum_of_shares == 0


def test_what_runs_out_together_with_something_else_is_worth_nothing_alone_and_missed_where_there_is_less():
    """A guarantee that changes nothing changes no price: those of a stop are one choice of several."""
    users, promise = {"u": {"a": 1, "b": 1}, "v": {"a": 1, "b": 1}}, Organisation(guarantees={"v": {"a": 1}})
    for cluster in ({"capacity": {"a": 8, "b": 8}}, {"machines": [Machine("m", {"a": 4, "b": 4}, 2)]}):
        plain, ruled = (price(Instance(users, weights={"v": 3}, organisation=o, **cluster)) for o in (None, promise))
        assert [worth.name for worth in plain.units] == [worth.name for worth in ruled.units]
        for one, other in zip(plain.units, ruled.units, strict=True):
            for side in ("more", "less"):
                assert getattr(other, side).price == pytest.approx(getattr(one, side).price, abs=1e-9)
        assert ruled["a"].more.price == 0 and ruled["b"].less.price == pytest.approx(1 / 32)


@pytest.mark.parametrize(
    ("users", "weights", "machines"),
    [
        ({"x": {"cpu": 1, "mem": 1}, "y": {"cpu": 1}, "z": {"cpu": 1}}, {"z": 0}, [(4, 8), (8, 4)]),
        (
            {"x": [TaskType({"cpu": 2}, 100), TaskType({"cpu": 1, "mem": 1}, 100)], "y": {"mem": 1}},
            {},
            [(10, 1), (2, 3)],
        ),
    ],
    ids=["weight 0", "types"],
)
def test_what_a_user_could_run_alone_depends_on_the_class_that_has_more(users, weights, machines):
    classes = [Machine(name, {"cpu": cpu, "mem": mem}) for name, (cpu, mem) in zip("ab", machines, strict=True)]
    cluster, hair = Instance(users, machines=classes, weights=weights), Fraction(1, 1000)
    for name in ("a/cpu", "b/cpu", "a/mem", "b/mem"):
        more = what_if(cluster, [f"set-capacity {name}=+{hair}"], "tsf")
        drawn = [float(row.change / hair) for row in more.users]
        assert price(cluster, "tsf", units=[name])[name].more.tasks == pytest.approx(drawn, rel=5e-3, abs=1e-6), name


def test_under_weights_of_groups_the_price_is_of_a_level_that_is_printed():
    """The clock of a group runs by its weight: b rises by half a task, which is a twentieth of the cluster."""
    groups = [Group("eng", 2)]
    rules = Organisation(groups=groups, paths={"b": "eng"}, ceilings={"c": {"cpu": 4}})
    cluster = Instance({"b": {"cpu": 2}, "c": {"cpu": 1}}, {"cpu": 20}, organisation=rules)
    found = price(cluster)
    assert solve(cluster).levels.tolist() == pytest.approx([0.8, 0.2])
    assert found["cpu"].more.tasks == pytest.approx([0.5, 0])
    assert found["cpu"].more.price == found["cpu"].less.price == pytest.approx(0.05)


@pytest.mark.parametrize("policy", ["drf", "ceei", "alpha:2"])
def test_one_machine_of_a_hundred_thousand_moves_everybody_as_each_other_does(policy):
    """A part of it moved nobody by more than tasks are exact to, and was said to be worth nothing to anybody."""
    classes = [Machine("many", {"cpu": 8}, 100_000), Machine("one", {"cpu": 8})]
    rules = Organisation(guarantees={"A": {"cpu": 5}})
    cluster = Instance({"A": {"cpu": 1}, "B": {"cpu": 1}}, machines=classes, organisation=rules)
    for worth in price(cluster, policy, units=["many", "one"]).units:
        assert worth.more.tasks.tolist() == pytest.approx([4, 4], rel=1e-3)


def test_slopes_are_kept_of_whoever_has_far_fewer_tasks_than_another():
    users = {"B": {"cpu": 0, "io": 5}, "C": {"cpu": 8, "io": 8}}
    cluster = Instance(users, {"cpu": "1e-6", "io": 100}, organisation=Organisation(excluded=["cpu"]))
    for policy in ("drf", "alpha:2"):
        assert price(cluster, policy)["cpu"].more.tasks[1] == pytest.approx(1 / 8, rel=1e-3)
    users = {"B": {"cpu": 2, "gpu": 20}, "C": {"cpu": 2, "gpu": 0}}
    rules = Organisation(guarantees={"B": {"cpu": 4}})
    cluster = Instance(users, {"cpu": "1e12", "gpu": 18}, organisation=rules)
    for policy in ("drf", "ceei"):
        assert price(cluster, policy)["gpu"].more.tasks.tolist() == pytest.approx([1 / 20, 0], rel=1e-3)


@pytest.mark.parametrize("policy", ["drf", "ceei"])
def test_of_what_is_used_up_a_little_is_no_rounding(policy):
    """A program gave C the room of m2 whose last billionths of cpu others have: 113 tasks where it has 100."""
    classes = [
        Machine("m0", {"gpu": 18, "io": 10, "cpu": 4}, 5),
        Machine("m1", {"gpu": 12, "cpu": 9}),
        Machine("m2", {"gpu": 6, "io": 20, "cpu": 9}, 3),
    ]
    users = {
        "B": {"io": 6, "cpu": 8},
        "C": {"gpu": "0.1", "io": "0.5", "cpu": "1e-9"},
        "D": {"gpu": "2/3", "cpu": 6},
        "E": {"io": 1},
    }
    cluster = Instance(users, machines=classes)
    worth = price(cluster, policy, units=["m2"]).units[0]
    step = Fraction(1, 50)
    grown = [Machine("m2", {"gpu": 6, "io": 20, "cpu": 9}, 151), Machine("m1", {"gpu": 12, "cpu": 9}, 50)]
    after = solve(Instance(users, machines=[Machine("m0", dict(classes[0].capacity), 250), *grown]), policy)
    drawn = (after.tasks / 50 - solve(cluster, policy).tasks) / float(step)
    assert worth.more.tasks.tolist() == pytest.approx(drawn.tolist(), rel=1e-2, abs=1e-3)
    # So it cannot be said how far.
    assert worth.more.held is None


def test_a_class_that_has_nothing_moves_nobody():
    classes = [Machine("some", {"cpu": 8}, 2), Machine("none", {"cpu": 0})]
    rules = Organisation(guarantees={"A": {"cpu": 5}})
    cluster = Instance({"A": {"cpu": 1}, "B": {"cpu": 1}}, machines=classes, organisation=rules)
    assert price(cluster, units=["none"]).units[0].more.tasks.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("rules", "limit", "there", "prices"),
    [
        (Organisation(guarantees={"C": {"cpu": 1}}), 6, 12, (1 / 12, 1 / 24)),
        (Organisation(guarantees={"C": {"cpu": 6}}), 4, 10, (1 / 10, 1 / 10)),
        (Organisation(paths={"C": "g"}, groups=[Group("g", guarantee={"cpu": 6})]), 4, 10, (1 / 10, 1 / 10)),
    ],
    ids=["a guarantee that changes nothing", "a guarantee", "of a group"],
)
def test_where_a_limit_is_met_as_a_resource_runs_out_each_side_has_its_price(rules, limit, there, prices):
    """One of them was printed for both, or 0."""
    users = {"A": {"cpu": 1}, "C": {"cpu": 1}}
    unit = price(Instance(users, {"cpu": there}, max_tasks={"A": limit}, organisation=rules))["cpu"]
    assert (unit.more.price, unit.less.price) == pytest.approx(prices, rel=1e-8)


ONE_SIDED = {
    "no unit less": (
        Instance(
            {"web": {"gpu": 1}, "train": {"gpu": 2}},
            machines=[Machine("node", {"gpu": 2}, 4)],
            max_tasks={"web": 4},
            organisation=Organisation(guarantees={"train": {"gpu": 2}}),
        ),
        "drf",
        "gpu",
        (1 / 8, None),
    ),
    "part of a machine, of tasks": (
        Instance(
            {"A": {"cpu": 1}, "B": {"cpu": 1}},
            machines=[Machine("m", {"cpu": 2}, 4)],
            max_tasks={"A": 4},
            organisation=Organisation(guarantees={"B": {"cpu": 1}}),
        ),
        "tasks",
        "m",
        (2, 1),
    ),
    "the ceiling of somebody else": (
        Instance(
            {"A": {"memory": 1}, "B": {"cpu": 1}},
            {"cpu": 4, "memory": 8},
            organisation=Organisation(paths={"A": "g"}, groups=[Group("g", ceiling={"memory": 4})]),
        ),
        "tasks",
        "cpu",
        (1, 1),
    ),
    "one level, two speeds": (
        Instance(
            {"A": {"cpu": 1}, "B": {"cpu": 1}, "C": {"cpu": 1}},
            {"cpu": 12},
            weights={"B": Fraction(1, 2), "C": 3},
            max_tasks={"C": 6},
            organisation=Organisation(paths={"B": "g", "C": "g"}, groups=[Group("g", 2)]),
        ),
        "drf",
        "cpu",
        (1 / 36, 1 / 9),
    ),
    "nobody rises": (
        Instance(
            {"A": {"cpu": 1, "gpu": 2}},
            {"cpu": 12, "gpu": 2},
            organisation=Organisation(guarantees={"A": {"gpu": 2}}, meaning="surplus"),
        ),
        "drf",
        "gpu",
        (1 / 24, None),
    ),
    "a group's level stands": (
        Instance(
            {"A": {"cpu": 1}, "B": {"memory": 1}, "C": {"memory": 1}},
            {"cpu": 8, "memory": 16},
            weights={"C": Fraction(3, 2)},
            max_tasks={"A": 4},
            organisation=Organisation(tiers={"A": 1}, paths={"A": "g", "B": "g"}, groups=[Group("g")]),
        ),
        "drf",
        "memory",
        (1 / 16, 1 / 16),
    ),
}


@pytest.mark.parametrize(("cluster", "policy", "name", "prices"), ONE_SIDED.values(), ids=ONE_SIDED)
def test_the_price_is_that_of_its_side(cluster, policy, name, prices):
    """What the stop pays was printed: of the side that is not there, of a mixture of points, of 10,000 clusters."""
    unit = price(cluster, policy, units=[name])[name]
    for side, true in zip((unit.more, unit.less), prices, strict=True):
        assert true is None or side.price == pytest.approx(true, rel=1e-8)


def test_what_rounding_leaves_of_two_sides_is_one():
    """Promises of groups were a rounding less in one of the divisions beside: 3 parts of 10^8 of a slope."""
    users = {"web": {"cpu": 2, "mem": 4}, "etl": {"cpu": Fraction(7, 4), "mem": 3}}
    groups = [Group("sci", guarantee={"cpu": 16}), Group("eng", guarantee={"mem": 16})]
    rules = Organisation(paths={"web": "sci", "etl": "eng"}, groups=groups, meaning="normalised")
    unit = price(Instance(users, {"cpu": 48, "mem": 128}, organisation=rules))["cpu"]
    assert unit.more.tasks == pytest.approx([6 / 19, 4 / 19], rel=1e-9)
    assert unit.less.tasks == pytest.approx([6 / 19, 4 / 19], rel=1e-9)
    assert not unit.two_sided and "not the reverse" not in str(price(Instance(users, {"cpu": 48, "mem": 128})))


def test_sides_of_one_slope_and_two_prices_are_two():
    """With a bit more the level is held by memory, and C rises alone."""
    unit = price(Instance({"B": {"memory": 1}, "C": {"cpu": 1}}, {"cpu": 4, "memory": 8}))["cpu"]
    assert unit.more.tasks.tolist() == unit.less.tasks.tolist()
    assert (unit.more.price, unit.less.price) == (0, pytest.approx(1 / 4)) and unit.two_sided


@pytest.mark.parametrize("cpu", ["24", "24.04", "24.15"])
def test_who_needs_none_of_what_a_group_is_promised_is_promised_no_more_by_rounding(cpu):
    """The memory was used up but for a rounding, and db rose to all there is: 48 tasks where 2 are promised."""
    users = {"ci": {"cpu": 4, "mem": 2}, "db": {"cpu": 1}, "etl": {"mem": 2}}
    rules = Organisation(
        groups=[Group("g", guarantee={"mem": 1})], paths=dict.fromkeys(users, "g"), tiers={"ci": 1, "db": 1}
    )
    cluster = Instance(users, {"cpu": cpu, "mem": 32}, organisation=rules)
    promised = Clock(cluster, policy_named("drf"), rounded=True).promised
    assert promised.tolist() == pytest.approx([1 / 2, 2, 0], abs=1e-9)


@pytest.mark.parametrize("rules", [None, Organisation(guarantees={"C": {"cpu": 1}})], ids=["no rule", "a guarantee"])
def test_who_falls_below_its_limit_is_what_is_priced_and_the_lowest_level_is_still_that_of_who_was_below(rules):
    """Without a rule the level of A, which was at its limit, was told to be that of the lowest below: that is B."""
    users = {"A": {"cpu": 1, "gpu": 1}, "B": {"cpu": 2}, "C": {"cpu": 1}}
    pool = Instance(users, {"cpu": 6, "gpu": 1}, max_tasks={"A": 1, "C": 1}, organisation=rules)
    found = price(pool, "tasks")
    assert found.lowest_level == 2
    side = found["gpu"].less
    assert (side.price, side.lowest_level) == pytest.approx((1, -0.5)) and side.tasks == pytest.approx([1, -0.5, 0])
