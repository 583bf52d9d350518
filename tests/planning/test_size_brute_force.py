"""The cheapest purchase, beside all purchases written down and judged by fair allocations in fractions."""

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest

from drfopt import Instance, Machine, solve
from drfopt.planning.sizing.offers import shop
from drfopt.planning.sizing.purchase import size
from drfopt.planning.sizing.targets import targets_of


def pool(rng):
    """A small pool with zero demands, equal users, weights and limits, amounts for sale in steps."""
    n, m = rng.choice([1, 2, 3]), rng.choice([1, 2])
    rows = [[rng.choice([0, 1, 1, 2, 5]) for _ in range(m)] for _ in range(n)]
    rows = [row if any(row) else [1] * m for row in rows]
    capacity = [rng.choice([0, 1, 4, 9]) for _ in range(m)]
    instance = Instance(
        rows if n < 2 or rng.random() < 0.7 else [rows[0]] * n,
        capacity if any(capacity) else [4] * m,
        weights=[rng.choice([1, 1, 2]) for _ in range(n)],
        max_tasks=[rng.choice([None, None, 0, 2, 3]) for _ in range(n)],
    )
    names = rng.sample(instance.resources, rng.randint(1, m))
    steps = {name: rng.choice([1, "3/2", 4]) for name in names}
    return instance, names, steps


def machines(rng):
    """A few classes with users who may not use all of them."""
    n, m, k = rng.choice([1, 2, 3]), rng.choice([1, 2]), rng.choice([1, 2, 3])
    rows = [[rng.choice([0, 1, 1, 2]) for _ in range(m)] for _ in range(n)]
    rows = [row if any(row) else [1] * m for row in rows]
    classes = [Machine(f"c{c}", [rng.choice([1, 2, 4, 6]) for _ in range(m)], rng.choice([1, 2])) for c in range(k)]
    eligible = np.array([[rng.random() < 0.75 for _ in range(k)] for _ in range(n)])
    instance = Instance(
        rows,
        machines=classes,
        eligible=eligible,
        weights=[rng.choice([1, 1, 2]) for _ in range(n)],
        max_tasks=[rng.choice([None, None, 0, 2, 3]) for _ in range(n)],
    )
    names = rng.sample(instance.machine_names, rng.randint(1, min(2, k)))
    return instance, names, None


def targets_at_random(rng, instance):
    found = []
    for i, user in enumerate(instance.users):
        limit = instance.exact_limits[i]
        fits = instance.fits is None or instance.fits[i].any()
        if rng.random() < 0.6 and limit != 0 and fits:
            kind = rng.choice(["tasks", "tasks", "share", "level"])
            if kind == "tasks":
                most = 6 if limit is None else int(limit)
                found.append(f"{user}>={Fraction(rng.randint(1, 2 * most), 2)}")
            else:
                found.append(f"{user}.{kind}>={rng.choice(['1/5', '1/3', '2/3'])}")
    return found


def cheapest(sale, policy, wanted):
    """Return the least cost of all purchases whose fair allocation, in fractions, meets the targets."""
    best = None
    for counts in itertools.product(*(range(int(most) + 1) for most in sale.most)):
        cost = sale.cost([Fraction(c) for c in counts])
        if best is not None and cost >= best:
            continue
        cluster = sale.after([Fraction(c) for c in counts])
        if cluster is None:
            continue
        found = solve(cluster, policy, exact=True)
        if all(target.reached(found) >= target.least for target in wanted):
            best = cost
    return best


def compared(build, policy, seed):
    rng = random.Random(f"{build.__name__} {policy} {seed}")
    while True:
        instance, names, steps = build(rng)
        wished = targets_at_random(rng, instance)
        if wished:
            break
    costs = {name: rng.choice([1, 2, 3, 7]) for name in names}
    empty = rng.random() < 0.3
    most = {name: rng.choice([2, 5, 12]) for name in names}
    if steps:
        most = {name: number * Fraction(steps[name]) for name, number in most.items()}
    sale = shop(instance, costs, most, steps, empty)
    wanted = targets_of(wished, instance)
    expected = cheapest(sale, policy, wanted)
    try:
        found = size(instance, wished, costs, policy=policy, most=most, steps=steps, from_nothing=empty)
    except ValueError as error:
        assert "fits on no machine that is there or for sale" in str(error)
        assert expected is None
        return
    assert found.cost == expected
    assert found.status == ("infeasible" if expected is None else "optimal")
    if expected is not None:
        assert found.bound == expected
        again = solve(found.cluster, policy, exact=True)
        assert all(target.reached(again) >= target.least for target in wanted)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("policy", ["drf", "asset", "tasks"])
def test_pools(policy, seed):
    compared(pool, policy, seed)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("policy", ["drf", "asset"])
def test_machines(policy, seed):
    compared(machines, policy, seed)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("policy", ["utilitarian", "tsf"])
def test_policies_of_which_less_is_known(policy, seed):
    compared(machines, policy, seed)
