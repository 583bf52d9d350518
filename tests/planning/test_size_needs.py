"""What users need at the least where targets are met, beside what they have in fair divisions that meet them."""

import contextlib
import itertools
import random
from fractions import Fraction

import numpy as np
import pytest

from benchmarks.organisations import departments, teams
from drfopt import Group, Instance, Machine, Organisation, TaskType, solve
from drfopt.base.deadline import NEVER
from drfopt.base.errors import InstanceError, PolicyError, TimeLimitError
from drfopt.io.readers.asking import read
from drfopt.model.policies import policy_named
from drfopt.planning.sizing.judging import needs_of
from drfopt.planning.sizing.needs import parts_of
from drfopt.planning.sizing.offers import shop
from drfopt.planning.sizing.plenty import never_stopped
from drfopt.planning.sizing.purchase import size
from drfopt.planning.sizing.regions import Region, Totals
from drfopt.planning.sizing.targets import targets_of

ROUNDED = 1 + 1e-7


def drawn(seed, grouped=True):
    """Users, some in groups below the root, some with task types, on a few classes or in a pool; limits often bind."""
    chance = random.Random(seed)
    n, m, k = chance.randint(2, 5), chance.choice([1, 2, 3]), chance.choice([0, 1, 2, 3])
    users = [f"u{i}" for i in range(n)]
    classes = [f"c{c}" for c in range(k)]
    resources = [f"r{j}" for j in range(m)]

    def demand():
        row = {r: chance.choice([0, 1, 1, 2]) for r in resources}
        return row if any(row.values()) else row | {"r0": 1}

    def where():
        return chance.sample(classes, chance.randint(1, k)) if k and chance.random() < 0.4 else None

    demands, limits, eligible = {}, {}, {}
    for u in users:
        limits[u] = chance.choice([None, 1, 2, 3, 5])
        if k and chance.random() < 0.4:
            kinds = [TaskType(demand(), chance.choice([1, 2]), where()) for _ in range(2)]
            demands[u], limits[u] = kinds, chance.choice([None, sum(kind.count for kind in kinds)])
        else:
            demands[u] = demand()
            eligible[u] = where()
    inside = [u for u in users if chance.random() < 0.8] if grouped else []
    paths = {u: chance.choice("gh") for u in inside}
    rules = Organisation(paths=paths, groups=[Group("g", chance.choice([1, 2])), Group("h")]) if paths else None
    room = {"capacity": [chance.choice([2, 4, 9]) for _ in resources]}
    if k:
        each = [[chance.choice([2, 3, 4, 6]) for _ in resources] for _ in classes]
        sizes = zip(classes, each, strict=True)
        room = {"machines": [Machine(c, row, chance.choice([1, 2])) for c, row in sizes]}
        room["eligible"] = {u: names for u, names in eligible.items() if names}
    return Instance(
        demands,
        **room,
        resources=resources,
        max_tasks={u: most for u, most in limits.items() if most is not None},
        weights={u: chance.choice([1, 1, 2]) for u in users},
        organisation=rules,
    )


def ruled(seed, policy):
    """Promises of every meaning, tiers, weights of 0, ceilings of users and groups, and groups in groups."""
    chance = random.Random(seed)
    n, m, k = chance.randint(2, 6), chance.choice([1, 2, 2, 3]), chance.choice([0, 0, 1, 2])
    users, resources, classes = [f"u{i}" for i in range(n)], [f"r{j}" for j in range(m)], [f"c{c}" for c in range(k)]
    names = ["g", "h", "g/x", "g/y", "h/z"][: chance.randint(0, 5)] if chance.random() < 0.6 else []

    def some(part, made):
        return {u: made() for u in users if chance.random() < part}

    def amounts(sizes):
        return {r: chance.choice(sizes) for r in resources if chance.random() < 0.6}

    def group(name):
        promised = amounts([1, 2]) if chance.random() < 0.2 else {}
        most = amounts([2, 4]) if chance.random() < 0.2 else {}
        return Group(name, chance.choice([1, 1, 2, 0]), promised, most, chance.choice([0, 0, 0, 1]))

    rules = Organisation(
        guarantees=some(0.4, lambda: amounts([1, 1, 2, "1/2", 3])),
        ceilings=some(0.1, lambda: {"r0": 3}),
        tiers=some(0.2, lambda: 1),
        paths=some(0.8, lambda: chance.choice(names)) if names else {},
        groups=[group(name) for name in names],
        meaning=chance.choice(["floor", "floor", "surplus", "normalised"] if policy in ("drf", "asset") else ["floor"]),
        excluded=["r1"] if m > 1 and chance.random() < 0.15 else [],
    )
    room = {"capacity": [chance.choice([2, 4, 5, 9]) for _ in resources]}
    if k:
        sizes = [[chance.choice([3, 4, 6]) for _ in resources] for _ in classes]
        room = {"machines": [Machine(c, row, chance.choice([1, 2])) for c, row in zip(classes, sizes, strict=True)]}
        room["eligible"] = some(0.3, lambda: chance.sample(classes, chance.randint(1, k)))
    return Instance(
        {u: {r: chance.choice([1, 1, 2, 3] if r == "r0" else [0, 1, 2, 3]) for r in resources} for u in users},
        **room,
        resources=resources,
        max_tasks=some(0.5, lambda: chance.choice([1, 2, 3, 5])),
        weights={u: chance.choice([1, 1, 2, 0] if chance.random() < 0.2 else [1, 1, 2]) for u in users},
        organisation=rules,
    )


def point(seed, policy):
    """Return what everybody has, and the least that follows from what some have, nothing being bought."""
    instance, chance = drawn(seed), random.Random(-seed)
    has, some = solve(instance, policy).tasks, chance.choice([0.2, 0.5, 1])
    who = [u for u, x in zip(instance.users, has, strict=True) if x > 0 and chance.random() < some]
    if not who:
        return has, has * 0, has * 0
    row = {u: i for i, u in enumerate(instance.users)}
    wanted = targets_of([f"{u}>={has[row[u]] * chance.choice([1, 1, 0.7]) * (1 - 1e-9):.12g}" for u in who], instance)
    goods = instance.machine_names or instance.resources
    needs = needs_of(shop(instance, dict.fromkeys(goods, 1)), policy_named(policy), wanted, False)
    total = instance.capacity
    quotients = np.divide(total[None, :], total[:, None])
    return has, needs.between(total, total, quotients, instance.room).at(total), needs.own


@pytest.mark.parametrize("policy", ["drf", "asset", "tasks"])
def test_nobody_has_less_than_is_said_to_be_needed(policy):
    said = 0
    for seed in range(25):
        has, least, own = point(seed, policy)
        assert (least <= has * ROUNDED).all(), seed
        said += int((least > own * ROUNDED).sum())
    assert said > 10


@pytest.mark.parametrize("policy", ["drf", "asset", "tasks", "tsf", "ceei", "alpha:2", "alpha:1/2"])
def test_nobody_has_less_than_rules_are_said_to_give(policy):
    """What a user has at one moment of the clock bounds what the others have, in a cluster and where it may grow."""
    said = 0
    for seed in range(30):
        instance, chance = ruled(seed, policy), random.Random(-seed)
        try:
            found = solve(instance, policy)
        except PolicyError:  # a market has one order of tiers
            continue
        row, some = {u: i for i, u in enumerate(instance.users)}, chance.choice([0.2, 0.5, 1])
        who = [u for u, x in zip(instance.users, found.tasks, strict=True) if x > 1e-6 and chance.random() < some]
        part, wanted = chance.choice([1, 1, 0.7, 0.3]) * (1 - 1e-9), []
        for u in who:
            level = policy != "tsf" and found.levels[row[u]] > 1e-6 and chance.random() < 0.25
            asked = (f"{u}.level", found.levels[row[u]]) if level else (u, found.tasks[row[u]])
            wanted.append(f"{asked[0]}>={asked[1] * part:.12g}")
        if not wanted:
            continue
        sale = shop(instance, dict.fromkeys(instance.machine_names or instance.resources, 1))
        needs = needs_of(sale, policy_named(policy), targets_of(wanted, instance), False)
        total, m, others = instance.capacity, instance.m, np.ones(instance.n, dtype=bool)
        others[[row[u] for u in who]] = False
        low = total * [chance.choice([0, 0.5, 0.9, 1]) for _ in total]
        high = total * [chance.choice([np.inf, 1.1, 1, 2]) for _ in total]
        region = Region(np.zeros(m), high - low, np.zeros((m, m)))
        room = total[None, :] if instance.machines is None else instance.room
        for ends in (
            (total, total, np.divide(total[None, :], total[:, None]), room),
            (low, high, Totals(low, np.eye(m)).quotients(region), 2 * room),
        ):
            known = needs.between(*ends)
            assert not known.impossible, seed
            least = known.at(total)
            assert (least <= found.tasks * ROUNDED + 1e-12).all(), seed
            said += int((least > needs.own * ROUNDED)[others].sum())
    assert said > 1


def test_the_members_of_other_groups_rise_as_well():
    """What a has makes its group as high as it is with b, so that c, alone in its group, has as much as both."""
    rules = Organisation(paths={"a": "g", "b": "g", "c": "h"}, groups=[Group("g"), Group("h")])
    cluster = Instance({u: {"cpu": 1} for u in "abc"}, machines=[Machine("m", {"cpu": 4})], organisation=rules)
    found = size(cluster, "a>=10", {"m": 1})
    assert (found.cost, found.bound, found.parts) == (9, 9, 1)
    assert found.allocation.tasks.tolist() == [10, 10, 20]


def test_who_is_in_no_group_counts_as_one():
    rules = Organisation(paths={"a": "g", "b": "g"}, groups=[Group("g", 2)])
    cluster = Instance({u: {"cpu": 1} for u in "abc"}, machines=[Machine("m", {"cpu": 4})], organisation=rules)
    # The group has twice what c has; so c at 3 has 3 beside 6, and a at 3 has 3, 3 and c 3.
    for wanted in ("a>=3", "c>=3"):
        found = size(cluster, wanted, {"m": 1})
        assert (found.cost, found.bound, found.parts) == (2, 2, 1), wanted


@pytest.mark.parametrize("policy", ["drf", "asset", "ceei", "utilitarian"])
def test_who_can_use_what_there_is_plenty_of_has_all_it_asks_for(policy):
    free = 0
    for seed in range(25):
        instance = drawn(seed, grouped=policy in ("drf", "asset"))
        if instance.machines is None:
            continue
        parts = parts_of(instance)
        never = never_stopped(parts, instance.limits, instance.room, NEVER)
        stopped = np.zeros(instance.n, dtype=bool)
        stopped[parts.user[~never]] = True
        free += int((~stopped).sum())
        has = solve(instance, policy).tasks
        assert has[~stopped] == pytest.approx(instance.limits[~stopped], rel=1e-6), seed
    assert free > 5


def test_what_is_filled_to_the_last_digit_is_not_plenty():
    def never(tasks):
        users = {"a": {"cpu": 1}, "b": [TaskType({"cpu": 1}, 1, ["n"]), TaskType({"cpu": 1}, 1, ["m"])]}
        cluster = Instance(
            users,
            machines=[Machine("m", {"cpu": 4}), Machine("n", {"cpu": 1})],
            max_tasks={"a": tasks, "b": 2},
            eligible={"a": ["m"]},
        )
        return never_stopped(parts_of(cluster), cluster.limits, cluster.room, NEVER).tolist()

    # Of m there is plenty for a and the second type of b together; n is full with its first.
    assert never(2) == [True, False, True]
    assert never(3) == [False, False, False]


@pytest.mark.slow
@pytest.mark.parametrize(("made", "cost"), [(departments, 840), (teams, 1200)])
def test_a_production_cluster_is_sized_to_the_end(made, cost, data_folder):
    folder = data_folder / "openb"
    trace = read("openb", [folder / "openb_node_list_all_node.csv", folder / "openb_pod_list_gpuspec33.csv"]).instance
    costs = {name: 30 for name in trace.machine_names if name.startswith(("T4", "G3", "G2", "V100"))}
    found = size(made(trace), "*>=60%", costs, time_limit=60)
    assert (found.status, found.cost, found.bound) == ("optimal", cost, cost)


def promised(guarantee, **more):
    rules = Organisation(guarantees={"a": guarantee}, **more)
    users = {"a": {"cpu": 2, "memory": 16}, "b": {"cpu": "3/2", "memory": 4}}
    return Instance(
        users,
        {"cpu": 96, "memory": 384},
        weights={"b": 2},
        max_tasks={"b": 40},
        organisation=rules,
        resources=["cpu", "memory"],
    )


@pytest.mark.parametrize("meaning", ["floor", "surplus", "normalised"])
def test_a_guarantee_below_the_target_leaves_the_bound_as_it_is(meaning):
    """B rises with A once the guarantee is kept, so that its 40 tasks are needed too: it was found in 13,761 tries."""
    costs = {"cpu": 1, "memory": 1}
    found = size(promised({"cpu": 4}, meaning=meaning), "a>=10", costs, steps=costs, from_nothing=True)
    assert (found.status, found.cost, found.bound) == ("optimal", 400, 400)
    assert found.parts < 400 and found.judged < 100
    more = size(promised({"cpu": 4}, meaning=meaning), "a>=20", costs, steps=costs)
    assert (more.status, more.cost) == ("optimal", 100)


def test_a_target_within_its_guarantee_asks_nothing_of_siblings():
    costs = {"cpu": 1, "memory": 1}
    found = size(promised({"cpu": 4}), "a>=2", costs, steps=costs, from_nothing=True)
    assert (found.status, found.cost) == ("optimal", 36)


@pytest.mark.parametrize(("policy", "cost"), [("ceei", 327), ("alpha:2", 387)])
def test_a_market_gives_others_what_they_would_pay_for(policy, cost):
    """B pays as much for what both use, so what A needs tells what B has: it was found in 4,289 tries."""
    costs = {"cpu": 1, "memory": 1}
    found = size(promised({}), "a>=10,b>=10", costs, policy=policy, steps=costs, from_nothing=True)
    assert (found.status, found.cost, found.bound) == ("optimal", cost, cost)
    assert found.parts < 20


def test_whom_an_endless_group_of_a_higher_tier_leaves_nothing_is_refuted_at_once():
    rules = Organisation(paths={"a": "g", "b": "h"}, groups=[Group("g", tier=1), Group("h")])
    cluster = Instance({"a": {"cpu": 1}, "b": {"cpu": 1}}, {"cpu": 4}, organisation=rules)
    found = size(cluster, "b>=1", {"cpu": 1}, steps={"cpu": 1})
    assert (found.status, found.parts) == ("infeasible", 0)


def test_a_ceiling_above_all_there_is_stops_nobody():
    """Only where more is bought than the ceiling of g may it leave B with less than A."""
    rules = Organisation(paths={"b": "g"}, groups=[Group("g", ceiling={"cpu": 30})])
    cluster = Instance({"a": {"cpu": 1}, "b": {"cpu": 1}}, {"cpu": 4}, organisation=rules)
    found = size(cluster, "a>=10", {"cpu": 1}, steps={"cpu": 1}, most={"cpu": 26})
    assert (found.status, found.cost, found.parts) == ("optimal", 16, 1)


def test_what_siblings_need_beyond_the_ceiling_of_their_group_is_refuted_at_once():
    rules = Organisation(paths={"a": "g", "b": "g"}, groups=[Group("g", ceiling={"cpu": 10})])
    cluster = Instance({"a": {"cpu": 1}, "b": {"cpu": 1}}, {"cpu": 4}, organisation=rules)
    found = size(cluster, "a>=6", {"cpu": 1}, steps={"cpu": 1})
    assert (found.status, found.parts) == ("infeasible", 0)
    assert size(cluster, "a>=5", {"cpu": 1}, steps={"cpu": 1}).cost == 6


def test_a_share_that_its_siblings_leave_no_room_for_is_refuted():
    """Both rise together, so A has 72 % of the memory and B of the cpu: more than there is, however much that is."""
    cluster = Instance({"A": {"cpu": 1, "memory": 2}, "B": {"cpu": 3, "memory": 2}}, {"cpu": 20, "memory": 20})
    costs = {"cpu": 1, "memory": 13}
    found = size(cluster, "A>=12,B.share>=0.72", costs, steps=dict.fromkeys(costs, 1), from_nothing=True)
    assert found.status == "infeasible" and found.parts < 50


@pytest.mark.parametrize("policy", ["drf", "ceei", "single:cpu"])
def test_a_share_of_one_resource_that_all_use_is_refuted(policy):
    """Of seven equals none has more than a seventh, even of machines that not all may use."""
    cluster = Instance(
        {f"u{i}": {"cpu": 1} for i in range(7)},
        machines=[Machine("m", {"cpu": 6}, 8), Machine("n", {"cpu": 6}, 8)],
        eligible={"u3": ["m"]},
    )
    found = size(cluster, "u3.share>=0.143,u1>=40", {"m": 1, "n": 2}, policy=policy)
    assert found.status == "infeasible" and found.parts < 200


def test_a_share_that_more_of_one_resource_gives_is_found():
    """C has half of the memory once there is so much cpu that its memory is what it has most of."""
    users = {"A": {"cpu": 1, "memory": 2}, "B": {"cpu": 1}, "C": {"cpu": 3, "memory": 1}}
    cluster = Instance(users, {"cpu": 48, "memory": 48}, max_tasks={"A": 8})
    found = size(cluster, "C.level>=1/2", {"cpu": 3, "memory": 13}, steps={"cpu": 2, "memory": 1})
    assert (found.status, found.cost) == ("optimal", 336)


@pytest.mark.parametrize(("memory", "cpu"), [(48, 40), (25, 35)])
def test_who_needs_more_than_a_user_with_a_target_is_stopped_by_that_or_rises_too(memory, cpu):
    """B has as many tasks as A, or all of the memory, which A does not need."""
    cluster = Instance({"A": {"cpu": 1}, "B": {"cpu": 1, "memory": 1}}, {"cpu": 20, "memory": memory})
    found = size(cluster, "A>=30", {"cpu": 1}, policy="tasks", steps={"cpu": 1})
    assert (found.status, found.cost, found.parts) == ("optimal", cpu, 1)


def test_shares_of_a_resource_that_a_user_does_not_need_are_left_by_who_is_promised_some():
    rules = Organisation(guarantees={"B": {"memory": 4}})
    users = {"A": {"cpu": 1}, "B": {"cpu": 1, "memory": 4}, "C": {"cpu": 1, "memory": 1}}
    cluster = Instance(users, {"cpu": 20, "memory": 10}, organisation=rules)
    found = size(cluster, "A>=30", {"cpu": 1}, policy="tasks", steps={"cpu": 1})
    assert (found.status, found.cost, found.parts) == ("optimal", 14, 1)


def asked(instance, chance, now):
    """Return what is for sale in pieces, and what one or two users are to have; None where nobody can."""
    able = [
        u for u, out, most in zip(instance.users, instance.unplaced(), instance.limits, strict=True) if most and not out
    ]
    if not able:
        return None
    pool = instance.machines is None
    goods = list(instance.resources if pool else instance.machine_names)
    goods = chance.sample(goods, chance.randint(1, min(2, len(goods))))
    steps = {name: Fraction(chance.choice([1, 1, 2, "1/2"])) for name in goods} if pool else None
    most = {name: chance.choice([4, 7]) * (steps[name] if steps else 1) for name in goods}
    wanted = []
    for u in chance.sample(able, min(len(able), chance.choice([1, 1, 2]))):
        i = instance.users.index(u)
        least = Fraction(max(float(now.tasks[i]), 0.5) * chance.choice([1, 1.3, 1.7, 2])).limit_denominator(20)
        limit = instance.exact_limits[i]
        parts = {"share": now.dominant_shares[i], "level": now.levels[i]}
        if (measure := chance.choice(["tasks", "tasks", "share", "level"])) in parts and parts[measure] > 1e-3:
            wanted.append(f"{u}.{measure}>={min(1.0, float(parts[measure]) * chance.choice([0.7, 1, 1.2])):.3f}")
        else:
            wanted.append(f"{u}>={least if limit is None else min(least, limit)}")
    return wanted, {name: chance.choice([1, 2, 3, 7]) for name in goods}, most, steps, chance.random() < 0.3


@pytest.mark.sampled(30)
@pytest.mark.parametrize("policy", ["drf", "asset", "ceei", "tasks", "single:r0"])
@pytest.mark.parametrize("seed", range(80))
def test_the_cheapest_purchase_under_rules_is_that_of_all_tried(seed, policy):
    """Of pieces and machines its cost is that; any amounts cost no more, and their bound holds."""
    instance, chance = ruled(seed, policy), random.Random(f"{seed} {policy}")
    try:
        if (drawn := asked(instance, chance, solve(instance, policy))) is None:
            return
        wished, costs, most, steps, empty = drawn
        wanted = targets_of(wished, instance)
        found = size(instance, wished, costs, policy=policy, most=most, steps=steps, from_nothing=empty)
    except (PolicyError, InstanceError):  # a market has one order of tiers; a ceiling or a tier forbids a target
        return
    sale, best = shop(instance, costs, most, steps, empty), None
    counts = [tuple(map(Fraction, row)) for row in itertools.product(*(range(int(end) + 1) for end in sale.most))]
    for row in sorted(counts, key=sale.cost):
        after = sale.after(row)
        if after is not None and all(
            t.met(t.reached(allocation)) for allocation in [solve(after, policy)] for t in wanted
        ):
            best = sale.cost(row)
            break
    assert (found.status, found.cost) == ("infeasible" if best is None else "optimal", best)
    if best is not None:
        assert found.bound == best
    if not steps or best is None:
        return
    with contextlib.suppress(TimeLimitError):  # among any amounts none may be found in time
        free = size(instance, wished, costs, policy=policy, most=most, from_nothing=empty, time_limit=2)
        assert free.bound <= best and (free.status != "optimal" or free.cost <= best * (1 + Fraction(2, 10_000)))
