"""Seeded pools in floats that rounding likes least: ties, limits that bind at a saturation, demands of 1e-9 and 1e9."""

from collections.abc import Iterator

import numpy as np

from drfopt.engines.reference.path_filling import progressive_filling
from drfopt.model.instance import Instance
from drfopt.model.policies import policy_named

LIMITS = (0, 1e-9, 0.5, 1, 2, 3, 1e9)
WEIGHTS = (1, 2, 3, 0.5, 1 / 3)


def small(random: np.random.Generator, n: int, m: int) -> np.ndarray:
    return random.integers(0, 5, (n, m)).astype(float)


def tied(random: np.random.Generator, n: int, m: int) -> np.ndarray:
    return random.integers(0, 3, (n, m)) * random.choice([1, 0.1, 0.3], (n, 1))


def identical(random: np.random.Generator, n: int, m: int) -> np.ndarray:
    return np.repeat(random.integers(0, 4, (1, m)), n, axis=0).astype(float)


def single(random: np.random.Generator, n: int, m: int) -> np.ndarray:
    demands = np.zeros((n, m))
    demands[np.arange(n), random.integers(0, m, n)] = random.integers(1, 5, n)
    return demands


def scaled(random: np.random.Generator, n: int, m: int) -> np.ndarray:
    return random.integers(0, 4, (n, m)) * 10.0 ** random.integers(-9, 10, (n, m))


STYLES = {style.__name__: style for style in (small, tied, identical, single, scaled)}


def awkward_pools(seed: int, count: int, policy: str) -> Iterator[tuple[str, Instance, list]]:
    """Yield pools with the exact tasks of their users, each with what it is called."""
    random = np.random.default_rng(seed)
    for number in range(count):
        style = list(STYLES)[number % len(STYLES)]
        n, m = int(random.integers(1, 9)), int(random.integers(1, 5))
        demands = STYLES[style](random, n, m)
        demands[np.arange(n), random.integers(0, m, n)] += ~demands.any(axis=1)
        capacity = random.integers(0 if random.random() < 0.1 else 1, 20, m) * 1.0
        if style == "scaled":
            capacity *= 10.0 ** random.integers(-9, 10, m)
        weights = random.choice(WEIGHTS, n) if random.random() < 0.4 else None
        limits = np.where(random.random(n) < 0.6, random.choice(LIMITS, n), np.inf) if random.random() < 0.6 else None
        pool = Instance(demands, capacity, weights=weights, max_tasks=limits)
        tasks = exact_tasks(pool, policy)
        if random.random() < 0.4:
            # A limit at exactly what its user gets changes nothing, and meets the saturation that stops her.
            bound = list(pool.exact_limits)
            bound[number % n] = tasks[number % n]
            pool, style = Instance(demands, capacity, weights=weights, max_tasks=bound), style + ", a limit binds"
        yield f"{style} {number}", pool, tasks


def exact_tasks(pool: Instance, policy: str) -> list:
    rates = policy_named(policy).exact_rates(pool)
    return progressive_filling(pool.exact_demands, pool.exact_capacity, rates, pool.exact_limits)
