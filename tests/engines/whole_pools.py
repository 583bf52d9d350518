"""Random instances of whole tasks: tiny and degenerate ones, and pools of a chosen kind of tie."""

import numpy as np

from drfopt.model.instance import Instance
from drfopt.model.machine import Machine


def tiny(seed: int, machines: bool = False) -> Instance:
    """Return 2 to 4 users and 1 to 3 resources; zero demands, limits, weights and identical users are common."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    kinds = rng.integers(0, 4, (2, m))
    kinds[kinds.sum(axis=1) == 0, 0] = 1
    demands = kinds[rng.integers(0, 2, n)] if rng.random() < 0.3 else rng.integers(0, 5, (n, m))
    demands[demands.sum(axis=1) == 0, 0] = 1
    limits = np.where(rng.random(n) < 0.3, rng.integers(0, 4, n), np.inf)
    weights = rng.choice([1.0, 1.0, 2.0, 0.5, 3.0], n)
    if not machines:
        return Instance(demands, rng.integers(1, 13, m), weights=weights, max_tasks=limits)
    k = int(rng.integers(1, 4))
    classes = [Machine(f"c{i}", rng.integers(0, 7, m), int(rng.integers(1, 3))) for i in range(k)]
    return Instance(demands, machines=classes, weights=weights, max_tasks=limits, eligible=rng.random((n, k)) < 0.8)


def tied(n: int, seed: int, most: int = 10, tasks: int = 6) -> Instance:
    """Return a pool with equal capacities in which every user's dominant demand is the same."""
    rng = np.random.default_rng([n, seed])
    demands = rng.integers(1, most + 1, (n, 4))
    demands[np.arange(n), rng.integers(0, 4, n)] = most
    return Instance(demands, np.full(4, int(tasks * demands.sum(axis=0).mean())))
