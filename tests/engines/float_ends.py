"""Seeded pools at the ends of floats: weights of 1e-6 to 1e6, numbers of 1e-300 and 1e300, limits that just bind."""

from collections.abc import Iterator

import numpy as np

from drfopt.model.instance import Instance
from drfopt.solving.allocating import solve

POLICIES = ("drf", "asset", "tasks", "tsf", "single:r1")


def powers(random: np.random.Generator, low: float, high: float, size) -> np.ndarray:
    return 10.0 ** random.uniform(low, high, size)


def weighted(random, n, m):
    return random.random((n, m)), random.integers(1, 20, m) * 1.0, powers(random, -6, 6, n)


def far_out(random, n, m):
    at = random.uniform(-300, 300, m)
    return 10.0 ** np.clip(at + random.uniform(-20, 20, (n, m)), -300, 300), 10.0**at, None


def subnormal(random, n, m):
    at = random.uniform(-322, -300, m)
    least = 5e-324
    return np.maximum(10.0 ** (at + random.uniform(-3, 3, (n, m))), least), np.maximum(10.0**at, least), None


def ratios(random, n, m):
    capacity = powers(random, -9, 9, m)
    return capacity * powers(random, -149, 149, (n, m)), capacity, None


def tied(random, n, m):
    weights = random.choice([1, 2, 1 / 3, 1e-6, 1e6], n)
    return (
        random.integers(0, 4, (n, m)) * random.choice([1, 0.1, 0.3], (n, 1)),
        random.integers(1, 12, m) * 1.0,
        weights,
    )


def uneven(random, n, m):
    demands = random.integers(1, 9, (n, m)) * 10.0 ** random.integers(-9, 10, (n, m))
    return demands, random.integers(1, 20, m) * 1.0, 10.0 ** random.integers(-6, 7, n)


def traces(random, n, m):
    demands = random.random((n, m))
    demands[n // 2 :] *= powers(random, -12, 0, (n - n // 2, 1))
    return demands, random.random(m) + 0.5, None


STYLES = (weighted, far_out, subnormal, ratios, tied, uneven, traces)


def float_ends(seed: int, count: int) -> Iterator[tuple[str, str, Instance]]:
    """Yield pools with a policy for each, and what they are called."""
    random = np.random.default_rng(seed)
    for number in range(count):
        style, policy = STYLES[number % len(STYLES)], POLICIES[int(random.integers(len(POLICIES)))]
        n, m = int(random.integers(1, 9)), int(random.integers(1, 5))
        demands, capacity, weights = style(random, n, m)
        if random.random() < 0.5:
            demands = demands * (random.random((n, m)) < 0.6)
        demands[~demands.any(axis=1), 0] = capacity[0]
        if policy.startswith("single"):
            demands[demands[:, 0] == 0, 0] = capacity[0]
        pool = Instance(demands, capacity, weights=weights)
        kind = int(random.integers(4))
        if kind:
            tasks = solve(pool, policy, exact=True).tasks.tolist()
            factors = random.choice([0.5, 1, 1 - 1e-12, 1 + 1e-12, 1e-6], n).tolist() if kind == 3 else [1] * n
            # Limits at exactly what users get, at the float nearest to it, and near it.
            limits = [x if kind == 1 else float(x) * f for x, f in zip(tasks, factors, strict=True)]
            chosen = random.random(n) < 0.5
            if all(float(u) > 0 for u in limits):
                given = [u if c else None for u, c in zip(limits, chosen, strict=True)]
                pool = Instance(demands, capacity, weights=weights, max_tasks=given)
        yield f"{style.__name__} {seed}/{number}", policy, pool
