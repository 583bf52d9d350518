"""The fewest moves, and the fairest with a few, beside all allocations of whole tasks written down."""

import itertools
import random

import numpy as np
import pytest

from drfopt import Instance, Machine
from drfopt.base.errors import InstanceError
from drfopt.model.policies import policy_named
from drfopt.planning.rebalancing.current import Current
from drfopt.planning.rebalancing.rebalancing import rebalance


def cluster(rng, machines):
    """A tiny cluster with ties, limits of 0, users who fit nowhere, and something running where it may not."""
    n, m, k = rng.choice([1, 2, 3]), rng.choice([1, 2]), rng.choice([1, 2])
    rows = [[rng.choice([0, 1, 1, 2, 3]) for _ in range(m)] for _ in range(n)]
    rows = [row if any(row) else [1] * m for row in rows]
    classes = [
        Machine(f"c{c}", [rng.choice([2, 3, 4]) for _ in range(m)], rng.choice([1, 2]) if k == 1 else 1)
        for c in range(k)
    ]
    instance = Instance(
        rows if rng.random() < 0.7 else [rows[0]] * n,
        machines=classes,
        eligible=np.array([[rng.random() < 0.8 for _ in range(k)] for _ in range(n)]),
        max_tasks=[rng.choice([None, None, 0, 1, 3]) for _ in range(n)],
        weights=[rng.choice([1, 1, 2]) for _ in range(n)],
    )
    places = [(f"{machine.name}.{q}", c) for c, machine in enumerate(classes) for q in range(machine.count)]
    if not machines:
        places = [(machine.name, c) for c, machine in enumerate(classes)]
    running = np.array([[rng.choice([0, 0, 1, 2]) for _ in places] for _ in range(n)])
    return instance, Current(tuple(p for p, _ in places), tuple(c for _, c in places), running, machines)


def loads(instance, k):
    """Return what one machine of a class can run: tuples (n,)."""
    capacity = instance.exact_machine_capacity[k]
    most = [
        min(int(c // d) for c, d in zip(capacity, row, strict=True) if d) if instance.fits[i, k] else 0
        for i, row in enumerate(instance.exact_demands)
    ]
    for tasks in itertools.product(*(range(x + 1) for x in most)):
        used = [
            sum(x * row[j] for x, row in zip(tasks, instance.exact_demands, strict=True)) for j in range(instance.m)
        ]
        if all(u <= c for u, c in zip(used, capacity, strict=True)):
            yield tasks


def best(instance, current, moves):
    """Return the largest sorted levels within the moves, and the fewest moves for them; None where nothing is."""
    rates = policy_named("drf").exact_rates(instance)
    alone = [machine for k, machine in enumerate(instance.machines) for _ in range(machine.count)]
    classes = [instance.machine_names.index(machine.name) for machine in alone]
    members = [i for i in range(instance.n) if not instance.unplaced(integer=True)[i] and instance.exact_limits[i] != 0]
    found = None
    for packed in itertools.product(*(list(loads(instance, k)) for k in classes)):
        after = np.array(packed).T
        tasks = after.sum(axis=1)
        if any(u is not None and x > u for x, u in zip(tasks.tolist(), instance.exact_limits, strict=True)):
            continue
        if not current.machines:
            after = np.array([after[:, [c == k for c in classes]].sum(axis=1) for k in range(instance.k)]).T
        leaving = int(np.maximum(0, current.tasks - after).sum())
        if moves is not None and leaving > moves:
            continue
        levels = sorted(rates[i] * int(tasks[i]) for i in members)
        if found is None or (levels, -leaving) > found:
            found = (levels, -leaving)
    return found, members


@pytest.mark.sampled(3)
@pytest.mark.parametrize("machines", [True, False], ids=["machines", "classes"])
@pytest.mark.parametrize("seed", range(40))
def test_every_allocation_written_down(seed, machines):
    rng = random.Random(f"rebalance {seed}")
    instance, current = cluster(rng, machines)
    for moves in (None, rng.choice([0, 1, 2, 3])):
        expected, members = best(instance, current, moves)
        if expected is None:
            with pytest.raises(InstanceError, match=r"at least \d+ must move or be evicted before"):
                rebalance(instance, current, moves=moves)
            continue
        found = rebalance(instance, current, moves=moves)
        assert found.status == "optimal"
        assert sorted(found.levels[i] for i in members) == expected[0]
        assert found.count("move") + found.count("evict") == -expected[1]
        if moves is not None:
            assert -expected[1] <= moves


def test_steps_lead_from_today_to_the_answer():
    for seed in range(20):
        instance, current = cluster(random.Random(f"steps {seed}"), True)
        found = rebalance(instance, current)
        tasks = current.tasks.copy()
        for step in found.steps:
            i = instance.users.index(step.user)
            if step.source is not None:
                tasks[i, current.places.index(step.source)] -= step.tasks
            if step.target is not None:
                tasks[i, current.places.index(step.target)] += step.tasks
        assert (tasks == found.after).all()
