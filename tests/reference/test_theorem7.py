"""Theorem 7 of the DRF paper, whole tasks on machines: what is true of it, what is not, and which rule breaks it.

Read as a bound between users (two of them differ by one task at most) it holds for every rule that serves the lowest
and stops when it cannot.  Read as a bound between a user's whole tasks and her divisible ones it fails, for the
algorithm of the proof on one machine and for every allocation on three.  Passing over who does not fit, as schedulers
do, breaks the first reading; stopping, as printed, wastes resources.
"""

import itertools
from fractions import Fraction as F

import numpy as np
import pytest

from drfopt.engines.reference.enumeration import packable
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.solving.allocating import solve
from drfopt.solving.scheduling import schedule


def shares_of(instance, tasks):
    capacity = instance.exact_capacity
    rows = [[d / c if c else F(0) for d, c in zip(row, capacity, strict=True)] for row in instance.exact_demands]
    return [max(row) * int(x) for row, x in zip(rows, tasks, strict=True)]


def one_task(instance):
    return shares_of(instance, [1] * instance.n)


def leaves_room_for_the_largest(instance):
    """Return the tasks of the algorithm in the proof: a machine is left when the largest task of all would not fit."""
    largest = [max(column) for column in zip(*instance.exact_demands, strict=True)]
    tasks, unit = [0] * instance.n, one_task(instance)
    rooms = [
        list(row)
        for row, count in zip(instance.exact_machine_capacity, instance.counts, strict=True)
        for _ in range(count)
    ]
    for room in rooms:
        while all(need <= left for need, left in zip(largest, room, strict=True)):
            i = min(range(instance.n), key=lambda i: unit[i] * tasks[i])
            tasks[i] += 1
            room[:] = [left - need for left, need in zip(room, instance.exact_demands[i], strict=True)]
    return tasks


def made(seed):
    rng = np.random.default_rng(seed)
    n, m, k = (int(rng.integers(low, high)) for low, high in ((2, 5), (1, 4), (1, 4)))
    demands = rng.integers(1, 6, (n, m))
    machines = [Machine(f"m{i}", rng.integers(5, 16, m), int(rng.integers(1, 4))) for i in range(k)]
    return Instance(demands, machines=machines)


@pytest.mark.parametrize("seed", range(40))
def test_between_users_it_holds_for_who_stops(seed):
    instance = made(seed)
    shares = shares_of(instance, schedule(instance, when_full="stop", trace=False).tasks)
    unit = one_task(instance)
    # Whoever is ahead was not when she got her last task.
    assert all(shares[i] - shares[j] <= unit[i] for i, j in itertools.permutations(range(instance.n), 2))


def test_between_users_it_breaks_for_who_passes_over():
    instance = Instance.library("thm7-skip")
    stopped, passed = (schedule(instance, when_full=rule, trace=False).tasks.tolist() for rule in ("stop", "skip"))
    assert passed == [2, 0]
    gap = shares_of(instance, passed)
    assert gap[0] - gap[1] == 1
    assert max(one_task(instance)) == F(3, 4)
    assert stopped == [1, 0]


def test_who_stops_wastes():
    instance = Instance([[1], [2]], [2])
    assert schedule(instance, when_full="stop").tasks.tolist() == [1, 0]
    assert schedule(instance, when_full="skip").tasks.tolist() == [2, 0]
    assert solve(instance, integer=True).tasks.tolist() == [2, 0]


def test_from_the_divisible_tasks_it_fails_on_one_machine():
    instance = Instance.library("thm7-deviation-k1")
    tasks = leaves_room_for_the_largest(instance)
    assert tasks == [1, 0]
    continuous = solve(instance).dominant_shares
    assert continuous == pytest.approx([7 / 9, 7 / 9])
    assert continuous[1] - float(shares_of(instance, tasks)[1]) > float(max(one_task(instance)))
    best = solve(instance, integer=True)
    assert best.tasks.tolist() == [1, 2], "no fault of whole tasks: the optimum is nearer"
    assert best.certificate.valid


def test_from_the_divisible_tasks_it_fails_for_every_allocation_on_three():
    instance = Instance.library("thm7-deviation-k3")
    rows = [(row, int(count)) for row, count in zip(instance.exact_machine_capacity, instance.counts, strict=True)]
    continuous = solve(instance, "drf").tasks
    assert continuous == pytest.approx([2.85, 2.85])
    every = packable(instance.exact_demands, rows, [None, None])
    assert {sum(tasks) for tasks in every} == {3}
    assert min(max(2.85 - x for x in tasks) for tasks in every) == pytest.approx(1.85)
    assert 2.85 - 3 / 2 > 1, "even an equal division of what the machines can run is more than a task away"


def test_the_algorithm_of_the_proof_is_not_that_of_the_table():
    paper = Instance.library("nsdi2011")
    one = Instance(paper.demands, machines=[Machine("pool", paper.capacity)])
    assert leaves_room_for_the_largest(one) == [2, 2]
    assert schedule(paper, when_full="stop", trace=False).tasks.tolist() == [3, 2]


# ---- SequentialMinMax -------------------------------------------------------------------------------------------


def served_last(instance):
    found = schedule(instance, rule="sequential-min-max")
    assert (schedule(instance, rule="sequential-min-max", trace=False).tasks == found.tasks).all()
    return found.tasks.tolist()


@pytest.mark.parametrize(
    ("capacity", "demands", "tasks"),
    [(4, (1, 3), [4, 0]), (4, (4, 3), [0, 1]), (4, (1, 3), [4, 0]), (3, (1, 2), [3, 0])],
)
def test_sequential_min_max_of_the_facts(capacity, demands, tasks):
    assert served_last(Instance([[d] for d in demands], [capacity])) == tasks


def test_sequential_min_max_is_manipulable():
    # Who needs all four alone gets nothing; reporting one, she gets four of those, which is one of her tasks.
    assert served_last(Instance([[4], [3]], [4])) == [0, 1]
    assert served_last(Instance([[1], [3]], [4])) == [4, 0]


@pytest.mark.parametrize("seed", range(60))
def test_sequential_min_max_gives_everybody_her_part(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    instance = Instance(rng.integers(1, 5, (n, m)), rng.integers(4, 20, m))
    tasks = served_last(instance)
    left = instance.capacity - np.array(tasks) @ instance.demands
    assert (left >= 0).all()
    assert not (instance.demands <= left).all(axis=1).any(), "nobody's task fits in what is left"
    part = instance.capacity / n
    assert all(x >= int((part / row).min()) for x, row in zip(tasks, instance.demands, strict=True))


def test_the_optimum_does_not_give_everybody_her_part():
    instance = Instance([[1], [3]], [4])
    assert solve(instance, integer=True).tasks.tolist() == [1, 1], "alone on half of it u1 runs 2"
    assert solve(instance, "ceei", integer=True).tasks.tolist() == [1, 1]


def test_limits_end_a_turn():
    assert served_last(Instance([[1], [1]], [9], max_tasks=[2, "5/2"])) == [2, 2]
