"""What to buy for whole tasks of several types: the cheapest of all purchases tried, in a pool and on machines."""

import itertools
import random

import pytest
from engines.whole_reference import awkward

from drfopt import Instance, Machine, TaskType, size, solve
from drfopt.model.policies import policy_named
from drfopt.planning.sizing.needs import Needs
from drfopt.planning.sizing.targets import targets_of

MOST = 3


def grown(instance, bought):
    """Return the instance with so much more of each resource, or of each class."""
    parts = instance.parts()
    if instance.machines is None:
        capacity = [c + x for c, x in zip(parts["capacity"], bought, strict=True)]
        return Instance(**(parts | {"capacity": capacity}))
    machines = [Machine(c.name, c.capacity, c.count + x) for c, x in zip(parts["machines"], bought, strict=True)]
    return Instance(**(parts | {"machines": machines}))


def compared(seeds, machines) -> int:
    """Compare with the cheapest purchase tried; return how many instances were."""
    number = 0
    for seed in seeds:
        instance, chance = awkward(seed, types=True, rules=False, machines=machines), random.Random(f"cost {seed}")
        names = instance.resources if instance.machines is None else instance.machine_names
        measure, i = chance.choice(["", ".level", ".share"]), chance.randrange(instance.n)
        least = chance.choice([1, 2, 3]) if not measure else chance.choice(["1/4", "1/2", "2/3"])
        if machines and not instance.fits[i].any():
            continue
        if instance.unplaced(integer=True)[i] or (instance.limits[i] < 3 and not measure):
            continue
        costs = {name: chance.randint(1, 5) for name in names}
        wanted = f"{instance.users[i]}{measure}>={least}"
        (target,) = targets_of(wanted, instance, True)
        best = None
        for bought in itertools.product(range(MOST + 1), repeat=len(names)):
            cost = sum(x * c for x, c in zip(bought, costs.values(), strict=True))
            if best is None or cost < best:
                found = solve(grown(instance, bought), integer=True)
                best = cost if target.met(target.reached(found)) else best
        steps = dict.fromkeys(names, 1) if instance.machines is None else None
        found = size(instance, wanted, costs, integer=True, most=dict.fromkeys(names, MOST), steps=steps, time_limit=60)
        assert found.cost == best, (seed, machines)
        assert best is None or found.bound == best
        number += 1
    return number


@pytest.mark.parametrize("machines", [False, True], ids=["pool", "machines"])
def test_the_cheapest_purchase_is_that_of_all_tried(machines):
    assert compared(range(8), machines) > 3


@pytest.mark.slow
@pytest.mark.parametrize("machines", [False, True], ids=["pool", "machines"])
def test_the_cheapest_purchase_is_that_of_all_tried_at_length(machines, some):
    assert compared(range(100, 100 + some(400)), machines) > some(180)


def test_no_more_average_tasks_are_asked_for_than_whole_ones_need():
    kinds = [TaskType({"cpu": 1}, 5), TaskType({"memory": 4}, 1)]
    instance = Instance({"A": kinds, "B": {"cpu": 1}}, {"cpu": 4, "memory": 8})
    needs = Needs(instance, policy_named("drf"), (), integer=True)
    # The first two tasks are of the first type: nothing of the other is needed.
    assert needs._average(0, 2) == 0
    assert needs._average(0, 6) == pytest.approx(6)
