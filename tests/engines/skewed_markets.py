"""Seeded pools and machines whose demands, weights and capacities differ by ratios of 1e6; zeros, ties and limits."""

from collections.abc import Iterable, Iterator

import numpy as np

from drfopt.model.instance import Instance
from drfopt.model.machine import Machine

POLICIES = ("ceei", "alpha:2", "alpha:3", "alpha:0.5")

POOLS = 0.3
"""Part of the instances that are pools."""


def skewed_markets(seed: int, numbers: Iterable[int]) -> Iterator[tuple[str, str, Instance]]:
    """Yield instances with a policy for each, and what they are called; three of ten are pools."""
    for number in numbers:
        random = np.random.default_rng([seed, number])
        policy = POLICIES[int(random.integers(len(POLICIES)))]
        yield f"{seed}/{number}", policy, _market(random, float(random.random()) < POOLS)


def _market(random: np.random.Generator, pool: bool) -> Instance:
    n, k, m = int(random.integers(2, 9)), int(random.integers(1, 5)), int(random.integers(1, 5))
    demands = _sizes(random, (n, m)) * (random.random((n, m)) < random.choice([0.6, 1.0]))
    if n > 2 and random.random() < 0.2:
        demands[1] = demands[0] * random.choice([1, 2, 1e-6])
    if m > 1 and random.random() < 0.2:
        demands[:, 1] = demands[:, 0]
    demands[~demands.any(axis=1), 0] = 1
    # One whole task fits on any machine, so that nobody is unplaced.
    room = _sizes(random, (k, m)) + demands.max(axis=0)
    if k > 1 and random.random() < 0.2:
        room[1] = room[0]
    weights = _sizes(random, n) if random.random() < 0.5 else None
    limits = None
    if random.random() < 0.5:
        about = room.sum(axis=0) / np.maximum(demands, 1e-300)
        chosen = random.random(n) < 0.5
        limits = np.where(chosen, about.min(axis=1) * random.choice([1e-6, 1e-3, 0.1, 0.5, 1], n) / n, np.inf)
    if pool:
        return Instance(demands, room.sum(axis=0), weights=weights, max_tasks=limits)
    eligible = random.random((n, k)) < random.choice([0.5, 1.0])
    eligible[np.arange(n), random.integers(0, k, n)] = True
    machines = [Machine(f"c{q}", row, count=int(random.integers(1, 4))) for q, row in enumerate(room)]
    return Instance(demands, machines=machines, eligible=eligible, weights=weights, max_tasks=limits)


def _sizes(random: np.random.Generator, shape: object) -> np.ndarray:
    """Return numbers whose ratios are up to 1e6: of any digits, powers of ten, or small and large side by side."""
    kinds = (
        lambda: 10.0 ** random.uniform(0, 6, shape),
        lambda: 10.0 ** random.integers(0, 7, shape),
        lambda: random.choice([1.0, 2.0, 3.0, 1e6], shape),
        lambda: random.integers(1, 9, shape) * 1.0,
    )
    return kinds[random.integers(len(kinds))]()
