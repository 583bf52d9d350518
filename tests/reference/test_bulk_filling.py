"""Filling in jumps is Algorithm 1 step by step: exactly, on small pools; and consistent with itself on huge ones."""

import random
from collections import Counter
from fractions import Fraction as F

import numpy as np
import pytest
from degenerate_pools import LIMITS, ROOMS, WEIGHTS, demand_rows
from hypothesis import given, settings
from hypothesis import strategies as st

from drfopt.base.errors import PolicyError
from drfopt.engines.reference.algorithm1 import Free, kinds_started, placements
from drfopt.engines.whole import bulk_filling as module
from drfopt.engines.whole.bulk_filling import bulk_filling
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.model.organisation import Group, Organisation
from drfopt.model.users import TaskType
from drfopt.solving import scheduling
from drfopt.solving.scheduling import schedule


def pool_filling(demands, capacity, *others):
    return bulk_filling(demands, [(capacity, 1)], *others).tasks


def step_by_step(demands, capacity, rates, limits, when_full):
    started = Counter(i for i, _ in placements(demands, [(capacity, 1)], rates, limits, when_full, None))
    return [started[i] for i in range(len(demands))]


def dominant(demands, capacity, weights):
    """Return dominant shares by weight; 1 for who needs only what is not there, as nothing depends on it."""
    levels = [max(d / c if c else F(0) for d, c in zip(row, capacity, strict=True)) for row in demands]
    return [level / weight or F(1) for level, weight in zip(levels, weights, strict=True)]


@st.composite
def runs(draw):
    n, m = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    demands = draw(demand_rows(n, m))
    capacity = [room * draw(st.sampled_from([1, 1, 10, 33])) for room in draw(st.lists(ROOMS, min_size=m, max_size=m))]
    weights = draw(st.lists(WEIGHTS, min_size=n, max_size=n))
    rates = draw(st.sampled_from([dominant(demands, capacity, weights), [1 / weight for weight in weights]]))
    limits = draw(st.lists(LIMITS, min_size=n, max_size=n))
    return demands, capacity, rates, limits, draw(st.sampled_from(["skip", "stop"]))


@given(runs())
@settings(max_examples=250)
def test_same_as_step_by_step(run):
    assert pool_filling(*run) == step_by_step(*run)


@given(runs())
@settings(max_examples=100)
def test_the_constants_change_the_way_and_not_the_answer(run):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "AHEAD", 1)
        patch.setattr(module, "ROOM", 0.4)
        assert pool_filling(*run) == step_by_step(*run)


def small(chance):
    """Return amounts of few kinds and a room for some dozens of tasks."""
    amount = [F(0), F(0), F(1), F(1), F(2), F(3), F(1, 2), F(7, 3)]
    kinds = [[chance.choice(amount) for _ in range(2)] for _ in range(3)]
    return [list(chance.choice(kinds)) for _ in range(chance.randint(1, 7))], [F(chance.randint(0, 60)) for _ in "12"]


def large(chance):
    """Return the same with room for some thousands."""
    demands, _ = small(chance)
    return demands, [F(chance.randint(0, 2000), chance.choice([1, 1, 7])) for _ in range(2)]


def uneven(chance):
    """Return sizes over four powers of ten: thousands of one user's tasks between two of another's."""
    demands, capacity = small(chance)
    return [[need * F(10) ** chance.randint(-3, 1) for need in row] for row in demands], capacity


def decimal(chance):
    """Return generic decimals, so that hardly anything is equal."""
    m = chance.randint(1, 3)
    rows = [[F(chance.randint(0, 99), 100) for _ in range(m)] for _ in range(chance.randint(1, 12))]
    return rows, [F(chance.randint(1, 50)) for _ in range(m)]


@pytest.mark.parametrize(
    "kind", [small, *(pytest.param(kind, marks=pytest.mark.slow) for kind in (large, uneven, decimal))]
)
def test_thousands_of_seeded_pools(kind):
    chance = random.Random(kind.__name__)
    for _ in range(250 if kind is uneven else 700):
        demands, capacity = kind(chance)
        for row in demands:
            row[0] = row[0] if any(row) else F(1)
        weights = [chance.choice([F(1), F(1), F(2), F(1, 3)]) for _ in demands]
        limits = [chance.choice([None, None, F(0), F(1, 2), F(5, 2), F(40), F(400)]) for _ in demands]
        run = (demands, capacity, dominant(demands, capacity, weights), limits, chance.choice(["skip", "stop"]))
        assert pool_filling(*run) == step_by_step(*run)


def test_ties_that_floats_do_not_see():
    # The keys of the tasks differ by one part in 10^30 and more; who is first decides who has the last task.
    for early, late in ((0, 10**-30), (10**-30, 0)):
        rates = [F(1, 3) + F(early), F(1, 3) + F(late)]
        run = ([[F(1)], [F(1)]], [F(2001)], rates, [None, None], "skip")
        assert pool_filling(*run) == step_by_step(*run) == ([1001, 1000] if early <= late else [1000, 1001])


def test_sums_that_floats_do_not_see():
    # 0.1 + 0.2 is 0.3 here, and one part in 10^40 less room is one task less.
    for room, tasks in ((F(3, 10), [1, 1]), (F(3, 10) - F(1, 10**40), [2, 0])):
        assert pool_filling([[F(1, 10)], [F(2, 10)]], [room], [F(1), F(1)], [None, None]) == tasks


def test_numbers_that_floats_do_not_hold():
    primes = [F(1, p) for p in (10**200 + 357, 10**200 + 627, 10**130 + 1113)]
    run = ([[p] for p in primes], [F(1, 10**130) * 20], [F(1), F(2), F(10) ** 299], [None] * 3, "skip")
    assert (
        pool_filling(*run[:3], [F(7), F(9), None]) == step_by_step(*run[:3], [F(7), F(9), None], "skip") == [7, 9, 19]
    )
    with pytest.raises(PolicyError, match="differ by more than 1e300"):
        pool_filling([[F(1)], [F(1)]], [F(5)], [F(1), F(10) ** 301], [None, None])


def huge(seed, n=40, m=3):
    chance = random.Random(seed)
    demands = [[F(chance.randint(0, 10**6), 10**6) for _ in range(m)] for _ in range(n)]
    for row in demands:
        row[0] = row[0] or F(1, 7)
    capacity = [sum(row[j] for row in demands) * chance.randint(1, 9) * 10**12 for j in range(m)]
    weights = [F(chance.randint(1, 9)) for _ in range(n)]
    return demands, capacity, dominant(demands, capacity, weights)


@pytest.mark.parametrize("seed", range(6))
def test_stopping_on_a_huge_pool_is_the_end_of_algorithm_1(seed):
    demands, capacity, rates = huge(seed)
    n, m = len(demands), len(capacity)
    found = pool_filling(demands, capacity, rates, [None] * n, "stop")
    # Before a little lower a level everything fits, so that is where Algorithm 1 passes; from there, step by step.
    level = max(rate * (x - 3) for rate, x in zip(rates, found, strict=True))
    tasks = [-int(-level // rate) for rate in rates]
    free = [c - sum(x * row[j] for x, row in zip(tasks, demands, strict=True)) for j, c in enumerate(capacity)]
    assert min(free) >= 0
    while True:
        i = min(range(n), key=lambda i: (rates[i] * tasks[i], i))
        if any(demands[i][j] > free[j] for j in range(m)):
            break
        free = [amount - need for amount, need in zip(free, demands[i], strict=True)]
        tasks[i] += 1
    assert found == tasks


@pytest.mark.parametrize("seed", range(6))
def test_a_huge_pool_in_different_jumps(seed, monkeypatch):
    demands, capacity, rates = huge(seed)
    limits = [F(10) ** (9 + i % 7) if i % 2 else None for i in range(len(demands))]
    found = pool_filling(demands, capacity, rates, limits)
    monkeypatch.setattr(module, "ROOM", 0.2)
    assert pool_filling(demands, capacity, rates, limits) == found
    monkeypatch.setattr(module, "AHEAD", 20)
    assert pool_filling(demands, capacity, rates, limits) == found


def test_no_room_is_left_on_a_huge_pool():
    demands, capacity, rates = huge(1)
    found = pool_filling(demands, capacity, rates, [None] * len(demands))
    left = [c - sum(x * row[j] for x, row in zip(found, demands, strict=True)) for j, c in enumerate(capacity)]
    assert min(left) >= 0
    assert all(any(need > amount for need, amount in zip(row, left, strict=True)) for row in demands)


def test_more_tasks_are_not_more_jumps(monkeypatch):
    jumps = Counter()
    one = module._Filling.jump

    def counted(self):
        jumps[size] += 1
        return one(self)

    monkeypatch.setattr(module._Filling, "jump", counted)
    demands, capacity, rates = huge(2)
    for size in (1, 10**6, 10**12):
        pool_filling(demands, [c * size / 10**12 for c in capacity], rates, [None] * len(demands))
    assert max(jumps.values()) < 60


# ---- the schedule --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["drf", "asset", "tasks", "single:cpu"])
@pytest.mark.parametrize("when_full", ["skip", "stop"])
def test_a_schedule_without_a_trace_is_the_one_with_it(policy, when_full):
    random_ = np.random.default_rng(4)
    for _ in range(30):
        n = int(random_.integers(1, 6))
        demands = random_.choice([0.1, 0.2, 0.2, 0.5, 1.0, 3.0], (n, 2))
        demands[:, 1] *= random_.random(n) < 0.7
        cluster = Instance(
            demands,
            random_.choice([0.3, 1.0, 7.0], 2),
            resources=["cpu", "memory"],
            weights=random_.choice([1.0, 2.0, 0.3], n),
            max_tasks=random_.choice([np.inf, 0.0, 2.5], n),
        )
        fast = schedule(cluster, policy, when_full=when_full, trace=False)
        assert fast.trace is None and fast.placement is None
        assert fast.tasks.tolist() == schedule(cluster, policy, when_full=when_full).tasks.tolist()


def test_an_unplaced_user_is_passed_over_at_once():
    cluster = Instance({"huge": {"cpu": 10}, "A": {"cpu": 1}, "gpu": {"gpu": 1}}, {"cpu": 4, "gpu": 0})
    for when_full in ("skip", "stop"):
        found = schedule(cluster, when_full=when_full, trace=False)
        assert found.tasks.tolist() == [0, 4, 0]
        assert found.unplaced == ("huge", "gpu")


@pytest.mark.parametrize("rule", ["algorithm-1", "sequential-min-max"])
def test_a_billion_tasks(rule):
    cluster = Instance([[1, 4], [3, 1]], [9 * 10**9, 18 * 10**9])
    for ties in ([], ["u2", "u1"]):
        assert schedule(cluster, rule=rule, ties=ties, trace=False).tasks.tolist() == [3 * 10**9, 2 * 10**9]


def test_a_billion_tasks_on_machines():
    nodes = Instance([[1, 4], [3, 1]], machines=[Machine("a", [9 * 10**9, 18 * 10**9], 2), Machine("b", [3, 9])])
    found = schedule(nodes, ties=["u2"], trace=False)
    assert found.placement.tolist() == [[6 * 10**9, 2], [4 * 10**9, 0]]
    # On the first machine is no room for a task of both.
    assert found.free[0][0][0] == [0, 4 * 10**9]
    with pytest.raises(PolicyError, match=r"a trace of about 1e\+10 tasks is too long to keep"):
        schedule(nodes)


def test_what_cannot_jump_is_not_begun():
    cluster = Instance([[1], [2]], [10**7], organisation=Organisation(paths={"u1": "g"}))
    with pytest.raises(PolicyError, match=r"up to 7e\+06 tasks of 2 users may take 7 minutes to start: ask in larger "):
        schedule(cluster, trace=False)


@pytest.mark.parametrize("trace", [True, False])
def test_what_is_small_in_a_large_cluster_is_begun(trace):
    """Ceilings of groups and classes that are open to nobody bound how long a schedule is."""
    groups = [Group("a", ceiling={"r1": 10}), Group("b", ceiling={"r1": 10})]
    rules = Organisation(paths={"u1": "a", "u2": "b"}, groups=groups)
    pool = Instance([[1], [1]], [5 * 10**6], organisation=rules)
    assert schedule(pool, trace=trace).tasks.tolist() == [10, 10]
    kinds = [TaskType({"cpu": 1}, 1), TaskType({"cpu": 2}, 1)]
    nodes = [Machine("big", {"cpu": 64}, 200_000), Machine("small", {"cpu": 8}, 2)]
    only = {"x": ["small"], "y": ["small"]}
    cluster = Instance({"x": kinds, "y": {"cpu": 1}}, machines=nodes, eligible=only)
    assert schedule(cluster, trace=trace).tasks.tolist() == [2, 13]


def test_tiers_and_guarantees_in_jumps():
    for size, trace in ((10, True), (10, False), (10**9, False)):
        rules = Organisation(tiers={"u3": 1}, guarantees={"u1": {"r1": size}, "u2": {"r1": 3 * size}})
        cluster = Instance([[1], [2], [4]], [10 * size], max_tasks={"u3": size}, organisation=rules)
        assert schedule(cluster, trace=trace).tasks.tolist() == [3 * size, 3 * size // 2, size]


@pytest.mark.parametrize("seed", range(30))
def test_jumps_in_stages_are_the_steps_under_rules(seed, monkeypatch):
    monkeypatch.setattr(module, "AHEAD", 1)
    monkeypatch.setattr(module, "ROOM", 0.4)
    monkeypatch.setattr(scheduling, "FEW", 0)
    draw = random.Random(seed)
    users = [f"u{i}" for i in range(draw.randint(1, 5))]
    amounts = {u: {draw.choice(["cpu", "memory"]): draw.choice([1, "5/2", 5])} for u in users if draw.random() < 0.6}
    rules = Organisation(tiers={u: draw.randint(0, 2) for u in users}, guarantees=amounts)
    rooms = [{"cpu": draw.choice([7, 20]), "memory": draw.choice([7, 20])} for _ in range(draw.randint(1, 3))]
    cluster = Instance(
        {u: {"cpu": draw.choice(["1/10", 1, 3]), "memory": draw.choice([0, "1/5", 2])} for u in users},
        capacity=rooms[0] if len(rooms) == 1 else None,
        machines=None if len(rooms) == 1 else [Machine(str(i), room, 2) for i, room in enumerate(rooms)],
        weights={u: draw.choice([0, 1, "1/3"]) for u in users},
        max_tasks={u: draw.choice([0, "5/2", 8]) for u in users if draw.random() < 0.4},
        organisation=rules,
    )
    for when_full in ("skip", "stop"):
        run = {"when_full": when_full, "ties": draw.sample(users, len(users) // 2)}
        fast, slow = (schedule(cluster, trace=trace, **run) for trace in (False, True))
        assert fast.tasks.tolist() == slow.tasks.tolist()
        assert np.array_equal(fast.placement, slow.placement)


MACHINES = st.lists(st.tuples(st.lists(ROOMS, min_size=2, max_size=2), st.integers(1, 4)), min_size=1, max_size=4)


@st.composite
def runs_on_machines(draw):
    n, machines = draw(st.integers(1, 5)), draw(MACHINES)
    demands = draw(demand_rows(n, 2))
    size = draw(st.sampled_from([1, 10, 33]))
    machines = [([room * size for room in row], count) for row, count in machines]
    rates = [1 / weight for weight in draw(st.lists(WEIGHTS, min_size=n, max_size=n))]
    limits = draw(st.lists(LIMITS, min_size=n, max_size=n))
    some = st.lists(st.booleans(), min_size=len(machines), max_size=len(machines))
    eligible = draw(st.one_of(st.none(), st.lists(some, min_size=n, max_size=n)))
    ranks = draw(st.one_of(st.none(), st.permutations(range(n))))
    return (
        demands,
        machines,
        rates,
        limits,
        draw(st.sampled_from(["skip", "stop"])),
        eligible,
        draw(st.integers(0, 1)),
        ranks,
    )


@given(runs_on_machines(), st.sampled_from([(3, 1e-9), (1, 0.4)]))
@settings(max_examples=150)
def test_same_as_step_by_step_on_machines(run, constants):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "AHEAD", constants[0])
        patch.setattr(module, "ROOM", constants[1])
        found = bulk_filling(*run)
    free: Free = []
    started = Counter((i, k) for i, _, k in kinds_started(*run[:7], ranks=run[7], free=free))
    assert found.placement == [[started[i, k] for k in range(len(run[1]))] for i in range(len(run[0]))]
    for (row, _), mine, other in zip(run[1], found.free, free, strict=True):
        assert [room for room in mine if room != row] == [room for room, _ in other if room != row]


def test_more_tasks_than_can_be_counted():
    with pytest.raises(PolicyError, match=r"user 'u1' would start about 1e\+30 tasks, .*: give it a limit"):
        schedule(Instance([[1]], [1e30]), trace=False)
    assert schedule(Instance([[1]], [1e30], max_tasks=[9]), trace=False).tasks.tolist() == [9]
