"""Markets of one pool that are awkward on purpose, by seed; and pools of any size whose optimum is known beforehand."""

from dataclasses import dataclass

import numpy as np

from drfopt.model.instance import Instance
from drfopt.model.policies import dominant_rates
from drfopt.solving.allocating import solve

TENS = np.array([10.0**e for e in range(-9, 10)])
"""Sizes from 1e-9 to 1e9, side by side in one matrix."""


def awkward_market(seed: int) -> Instance:
    """Return a pool of few users: ties, dependent columns, more resources than users, limits that just bind ..."""
    random = np.random.default_rng(seed)
    n, m = int(random.choice([1, 2, 3, 5, 8, 20])), int(random.choice([1, 2, 3, 4, 6]))
    demands = _demands(random, n, m)
    capacity = random.choice([1, 1, 2, 3, 7, 10, 1e-3, 1e4], m).astype(float)
    if m > 1 and random.random() < 0.1:
        capacity[random.integers(m)] = 0
    weights = random.choice([1, 1, 2, 1 / 3, 10, 1e-4, 1e4], n) if random.random() < 0.4 else None
    plain = Instance(demands, capacity, weights=weights)
    if random.random() < 0.4:
        return plain
    return Instance(demands, capacity, weights=weights, max_tasks=_limits(random, plain))


def _demands(random: np.random.Generator, n: int, m: int) -> np.ndarray:
    kinds = (
        lambda: random.integers(0, 4, (n, m)).astype(float),
        lambda: random.random((n, m)) * (random.random((n, m)) < 0.6),
        lambda: random.choice(TENS, (n, m)) * (random.random((n, m)) < 0.7),
        lambda: random.integers(0, 4, (3, m)).astype(float)[random.integers(0, 3, n)],
    )
    demands = kinds[random.integers(4)]()
    if m > 1 and random.random() < 0.3:
        demands[:, 1] = demands[:, 0] * random.choice([1, 2, 0.5, 3])
    if random.random() < 0.2:
        demands *= random.choice(TENS, (n, 1))
    if m > 1 and random.random() < 0.2:
        demands[:, -1] = 0
    idle = ~demands.any(axis=1)
    demands[idle, 0] = 1
    return demands


def _limits(random: np.random.Generator, pool: Instance) -> np.ndarray:
    optimum = solve(pool, "ceei").tasks
    kinds = (
        lambda: random.choice([np.inf, 0, 0.5, 1, 2.5], pool.n),
        lambda: np.where(random.random(pool.n) < 0.5, optimum, np.inf),
        lambda: optimum * random.choice([0.5, 1, 1, 2, 1e-6], pool.n),
        lambda: optimum * random.choice([0.1, 0.5, 0.999], pool.n),
    )
    limits = kinds[random.integers(4)]()
    return np.where(random.random(pool.n) < 0.1, 0, limits)


@dataclass(frozen=True)
class Known:
    """A pool and its optimum: tasks (n,) and prices (m,) of one unit."""

    instance: Instance
    tasks: np.ndarray
    prices: np.ndarray


def known_market(n: int, m: int, alpha: float, seed: int) -> Known:
    """Return a pool made from its optimum: tasks and prices come first, capacities and weights follow from them.

    A third of the resources is free and not used up. Who needs nothing else is at her limit, and so are some others,
    who would like more, or just that. Sizes of tasks and of amounts go over six powers of ten each.
    """
    random = np.random.default_rng(seed)
    demands = random.integers(1, 100, (n, m)) * (random.random((n, m)) < 0.6) * 10.0 ** random.integers(-3, 4, (n, 1))
    demands[~demands.any(axis=1), 0] = 1
    prices = np.where(np.arange(m) % 3 == 2, 0, 10.0 ** random.uniform(-3, 3, m))
    tasks = random.uniform(1, 10, n) / demands.max(axis=1)
    capacity = tasks @ demands * np.where(prices > 0, 1, random.uniform(1.1, 3, m))
    plain = Instance(demands, np.where(capacity > 0, capacity, 1))
    cost, mu = demands @ prices, dominant_rates(plain)
    # At alpha = 1 what a user pays; in general what makes x her best response.
    weights = tasks * np.where(cost > 0, cost, 1) ** (1 / alpha) * mu ** (1 - 1 / alpha)
    at_limit = (cost == 0) | (random.random(n) < 0.3)
    weights *= np.where(at_limit, random.choice([1, 1.5, 10], n), 1)
    limits = np.where(at_limit, tasks, np.where(random.random(n) < 0.3, 2 * tasks, np.inf))
    return Known(Instance(demands, plain.capacity, weights=weights, max_tasks=limits), tasks, prices)
