"""Whole tasks cut short, at any moment: what is returned is possible, filled up, and no worse than what was found."""

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from organised import on_machines, organised_pool
from whole_pools import tied, tiny
from whole_reference import awkward

from drfopt import Allocation, Instance, Machine, PolicyError, TaskType, TimeLimitError, schedule, solve
from drfopt.base import deadline as clock
from drfopt.certificates import exhaustive_search, whole
from drfopt.certificates.remaining_room import room_for_more
from drfopt.engines.problem import Answer, Problem
from drfopt.engines.whole import filling_up
from drfopt.model.policies import policy_named, policy_on
from drfopt.model.whole_values import WholeUsers
from drfopt.solving import allocating

POLICIES = ("drf", "asset", "tasks", "ceei", "alpha:2", "alpha:1/2", "alpha:20", "utilitarian", "throughput")
TICK = 1e-3
"""Seconds by which the clock of these tests goes on whenever somebody looks at it."""


class _Time:
    """A clock by which a limit is a number of looks: where a search is cut short is the same every time."""

    def __init__(self) -> None:
        self.looks = itertools.count()

    def monotonic(self) -> float:
        return TICK * next(self.looks)


@pytest.fixture
def by_looks(monkeypatch) -> Iterator[list[tuple[Problem, Answer, Answer]]]:
    """Time goes on when somebody looks; what was filled up, before and after."""
    filled, seen = allocating._filled, list[tuple[Problem, Answer, Answer]]()

    def watched(problem: Problem, answer: Answer) -> Answer:
        seen.append((problem, answer, found := filled(problem, answer)))
        return found

    monkeypatch.setattr(clock, "time", _Time())
    monkeypatch.setattr(allocating, "_filled", watched)
    yield seen


def _cluster(seed: int) -> Instance:
    builds = (
        lambda: tiny(seed),
        lambda: tiny(seed, True),
        lambda: tied(4 + seed % 9, seed),
        lambda: awkward(seed),
        lambda: awkward(seed, types=True, machines=True),
        lambda: awkward(seed, types=True, market=True, tiers=True),
        lambda: awkward(seed, machines=True, market=True, tiers=True),
        lambda: organised_pool(seed),
        lambda: on_machines(organised_pool(seed), seed, 2),
        lambda: _devices(seed),
    )
    return builds[seed % len(builds)]()


def _devices(seed: int) -> Instance:
    machines = [Machine("node", {"cpu": 7 + seed % 5}, 2, devices={"gpu": 2})]
    return Instance({"a": {"gpu": "0.6", "cpu": 1}, "b": {"gpu": "0.3"}, "c": {"gpu": 1, "cpu": 2}}, machines=machines)


def _with_room(found: Allocation) -> list[int]:
    """Return whose next task is possible beside all that run, by trying it on every machine."""
    instance, tasks = found.instance, found.tasks.tolist()
    users = WholeUsers(instance, policy_on(found.policy, instance), exhaustive_search.playing(instance))
    packing = found.certificate.evidence.packing
    room = []
    for i, sequence, most in zip(users.members, users.sequences, users.most, strict=True):
        if tasks[i] >= most:
            continue
        more = [x + (h == i) for h, x in enumerate(tasks)]
        q = sequence.rows[sequence.next_type(tasks[i])]
        ways = [None] if instance.machines is None else _put(instance, packing or [], q)
        if any(not whole.impossible(users, more, way) for way in ways):
            room.append(i)
    return room


def _put(instance: Instance, packing: list, q: int) -> Iterator[list]:
    """Yield the packing with a task more of a row on one machine of each entry, and on an empty one of each class."""
    for at, (k, count, load) in enumerate(packing):
        rest = [*packing[:at], *([(k, count - 1, load)] if count > 1 else []), *packing[at + 1 :]]
        yield [*rest, (k, 1, {**load, q: load.get(q, 0) + 1})]
    for k in range(instance.k):
        yield [*packing, (k, 1, {q: 1})]


def _check(seen: list, found: Allocation) -> None:
    if found.certificate.valid is None:
        proof = found.certificate.evidence
        assert not _with_room(found) and proof.maximal and found.certificate.to_dict()["maximal"]
        assert "nobody has room for one task more" in found.certificate.reason
    for problem, before, after in seen:
        one, other = (problem.whole_users.spread(a.tasks.tolist()) for a in (before, after))
        assert all(x <= y for x, y in zip(one, other, strict=True))
        was, now = (whole.score(problem.instance, problem.policy, tasks) for tasks in (one, other))
        assert now >= was and (now > was or one == other or not now)


@pytest.mark.sampled(20)
@pytest.mark.parametrize("seed", range(80))
def test_what_is_cut_short_is_possible_maximal_and_no_worse(by_looks, monkeypatch, seed):
    if seed % 3 == 0:  # Nobody is served one by one: all that is left goes at once.
        monkeypatch.setattr(filling_up, "GRACE", 0.0)
    for name, looks in itertools.product(POLICIES, (1, 3, 7, 15, 40, 120)):
        by_looks.clear()
        try:
            found = solve(_cluster(seed), name, integer=True, time_limit=looks * TICK)
        except (PolicyError, TimeLimitError):
            continue
        _check(by_looks, found)


@pytest.mark.parametrize("machines", [False, True])
def test_single_machines_are_filled_up_as_well(by_looks, machines):
    cluster = tied(30, 1)
    if machines:
        cluster = Instance(cluster.exact_demands, machines=[Machine("m", cluster.exact_capacity, 3)])
    ended = []
    for looks in (1, 4, 16, 10_000):
        found = solve(cluster, "per-server", integer=True, time_limit=looks * TICK)
        ended.append(found.certificate.valid)
        assert found.certificate.valid or (found.certificate.evidence.maximal and not _with_room(found))
    assert None in ended and True in ended


def _filled(tasks: list[int], cluster: Instance, policy: str) -> list[int]:
    problem = Problem(cluster, policy_named(policy), True)
    return filling_up.filled_pool(problem, tasks).tasks.tolist()


def test_the_order_of_what_is_added_is_the_policys():
    """Of 12: a takes 1 a task, b 2, c 3; b has much already."""
    cluster = Instance([[1, 2], [2, 1], [3, 0]], [12, 12])
    assert _filled([0, 3, 0], cluster, "drf") == [3, 3, 1]
    assert _filled([0, 3, 0], cluster, "throughput") == [4, 4, 0]
    assert _filled([0, 3, 0], cluster, "ceei") == [3, 3, 1]


def test_those_without_a_task_come_first_in_a_product():
    cluster = Instance([[1], [5]], [10], weights=[9, 1])
    assert _filled([0, 0], cluster, "ceei") == [5, 1]
    assert _filled([0, 0], cluster, "throughput") == [10, 0]


@given(st.lists(st.integers(0, 5), min_size=3, max_size=3))
def test_room_that_the_certificate_sees_is_room(tasks):
    cluster = Instance([[1, 2], [2, 1], [3, 0]], [12, 12], max_tasks=[3, 9, 9])
    tasks[0] = min(tasks[0], 3)
    users = Problem(cluster, policy_named("drf"), True).whole_users
    if whole.impossible(users, tasks, None):
        return
    expected = []
    for i in range(3):
        more = [x + (h == i) for h, x in enumerate(tasks)]
        expected += [i] if (i or more[0] <= 3) and not whole.impossible(users, more, None) else []
    assert room_for_more(users, tasks, None) == expected


def test_billions_of_tasks_are_filled_up_at_once_when_time_has_run_out(monkeypatch):
    monkeypatch.setattr(filling_up, "GRACE", 0.0)
    problem = Problem(Instance([[1, 2], [2, 1]], [10**12, 10**12]), policy_named("drf"), True, clock.PAST)
    first, second = filling_up.filled_pool(problem, [0, 0]).tasks.tolist()
    assert first + 2 * second > 10**12 - 2 or 2 * first + second > 10**12 - 2


@pytest.mark.parametrize("machines", [False, True])
def test_billions_of_tasks_are_filled_up_as_task_by_task(machines):
    demands, room = [[1, 2], [2, 1], [3, 5]], [10**10, 10**10]
    held = {"machines": [Machine("m", room, 2)]} if machines else {"capacity": room}
    cluster = Instance(demands, max_tasks=[None, None, 10**9 + 1], **held)
    found = filling_up.filled(Problem(cluster, policy_named("drf"), True)).tasks.tolist()
    assert found == pytest.approx(schedule(cluster, trace=False).tasks.tolist(), abs=1 + machines)


@pytest.mark.parametrize("grace", [0.0, filling_up.GRACE])
def test_millions_of_tasks_of_several_types_are_filled_up_in_their_proportions(monkeypatch, grace):
    monkeypatch.setattr(filling_up, "GRACE", grace)
    kinds = [TaskType([1, 2], 6 * 10**7), TaskType([2, 1], 3 * 10**7)]
    cluster = Instance([kinds, [3, 5]], machines=[Machine("m", [10**7, 10**7], 2)])
    limit = clock.PAST if not grace else clock.NEVER
    problem = Problem(cluster, policy_named("drf"), True, limit)
    found = filling_up.filled(problem)
    tasks = problem.whole_users.spread(found.tasks.tolist())
    assert not whole.impossible(problem.whole_users, found.tasks.tolist(), found.evidence.packing)
    assert room_for_more(problem.whole_users, found.tasks.tolist(), found.evidence.packing) == []
    if grace:
        assert tasks[0] * 5 / 3 == pytest.approx(tasks[1] * 5, rel=1e-5)  # Tasks of the first need 5/3 of memory.
