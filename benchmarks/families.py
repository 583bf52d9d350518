"""Families of instances: seeded by name and size, so that every run and every machine sees the same ones.

Demands are whole numbers (times powers of ten where scales are the point), so that a reference can be exact.
"""

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from drfopt.model.instance import Instance, Machine
from drfopt.model.policies import dominant_rates

__all__ = ["POOLS", "Family", "cluster", "family_named", "regions", "uneven", "whole_pool"]

RESOURCES = 8
NEEDED = 0.6
"""Part of the demands that is not zero, where a family does not say otherwise."""


@dataclass(frozen=True)
class Family:
    """A way to make a pool of any number of users."""

    name: str
    what: str
    build: Callable[[int], Instance]


def family_named(name: str) -> Family:
    """Return the family of pools of that name."""
    return {family.name: family for family in POOLS}[name]


def _random(name: str, *sizes: int) -> np.random.Generator:
    # Python's own hash of a text differs from process to process.
    return np.random.default_rng([zlib.crc32(name.encode()), *sizes])


def _demands(random: np.random.Generator, n: int, needed: float = NEEDED) -> np.ndarray:
    demands = random.integers(1, 100, (n, RESOURCES)) * (random.random((n, RESOURCES)) < needed)
    idle = np.flatnonzero(~demands.any(axis=1))
    demands[idle, random.integers(0, RESOURCES, len(idle))] = 50
    return demands


def _room(random: np.random.Generator, n: int) -> np.ndarray:
    """Return capacities of which an average user gets about a hundred tasks."""
    return random.integers(3_000, 9_000, RESOURCES) * n


def generic(n: int) -> Instance:
    random = _random("generic", n)
    return Instance(_demands(random, n), _room(random, n))


def tied(n: int) -> Instance:
    """Return users of five shapes only, on resources of one size: equal users, equal shares, equal levels."""
    random = _random("tied", n)
    shapes = np.zeros((5, RESOURCES), dtype=np.int64)
    shapes[0] = 10
    shapes[1, :4] = 20
    shapes[2, 4:] = 20
    shapes[3:] = _demands(random, 2)
    return Instance(shapes[random.integers(0, 5, n)], np.full(RESOURCES, 5_000 * n))


def zero_heavy(n: int) -> Instance:
    """Return users who need one resource or two: many levels, for resources have few users in common."""
    random = _random("zero-heavy", n)
    demands = np.zeros((n, RESOURCES), dtype=np.int64)
    for _ in range(2):
        demands[np.arange(n), random.integers(0, RESOURCES, n)] = random.integers(1, 100, n)
    return Instance(demands, _room(random, n))


def limits(n: int) -> Instance:
    """Return the generic kind with limits on most users, from far below the common level to far above, some of 0."""
    random = _random("limits", n)
    demands, room = _demands(random, n), _room(random, n)
    level = dominant_rates(Instance(demands, room))
    common = 1 / ((demands / room) / level[:, None]).sum(axis=0).max()
    most = np.ceil(random.uniform(0.1, 4, n) * common / level)
    most[random.random(n) < 0.3] = np.inf
    most[random.random(n) < 0.02] = 0
    return Instance(demands, room, max_tasks=most)


def ill_scaled(n: int) -> Instance:
    """Return tasks from 1e-4 to 1e4 of the usual size, in units from 1e-9 to 1e9."""
    random = _random("ill-scaled", n)
    sizes, units = random.integers(-4, 5, n), random.integers(-9, 10, RESOURCES)
    digits = _demands(random, n)
    demands = np.array(
        [[float(f"{d}e{s + u}") for d, u in zip(row, units, strict=True)] for row, s in zip(digits, sizes, strict=True)]
    )
    room = np.array([float(f"{c}e{u}") for c, u in zip(_room(random, n), units, strict=True)])
    return Instance(demands, room)


POOLS = (
    Family("generic", "demands 1 to 99, 60 % of them not zero", generic),
    Family("tied", "five shapes of tasks, resources of one size", tied),
    Family("zero-heavy", "every user needs one resource or two", zero_heavy),
    Family("limits", "generic, with limits on 70 % of the users", limits),
    Family("ill-scaled", "generic, sizes over 8 and units over 18 powers of ten", ill_scaled),
)
"""Pools of `RESOURCES` resources, for any number of users."""


def cluster(n: int, k: int, *, limited: bool, open_to: float = 0.3) -> Instance:
    """Return n users on k classes of machines with cpu, memory, gpu and disk; a class is open to 30 % of the users.

    Who is offered no class by chance gets one; her task may still be too large for it.
    """
    random = _random("cluster", n, k)
    cpu = random.choice([16, 32, 64, 96, 128], k)
    machines = [
        Machine(f"class{i}", [int(c), int(c * ratio), int(gpu), int(disk)], int(count))
        for i, (c, ratio, gpu, disk, count) in enumerate(
            zip(
                cpu,
                random.choice([2, 4, 8], k),
                random.choice([0, 0, 4, 8], k),
                random.choice([500, 1000, 4000], k),
                random.integers(5, 61, k),
                strict=True,
            )
        )
    ]
    cores = random.integers(1, 17, n)
    demands = np.column_stack(
        [
            cores,
            cores * random.integers(1, 9, n),
            np.where(random.random(n) < 0.2, random.integers(1, 5, n), 0),
            np.where(random.random(n) < 0.5, random.integers(1, 200, n), 0),
        ]
    )
    eligible = random.random((n, k)) < open_to
    eligible[np.arange(n), random.integers(0, k, n)] |= ~eligible.any(axis=1)
    plain = Instance(demands, machines=machines, eligible=eligible, resources=["cpu", "memory", "gpu", "disk"])
    if not limited:
        return plain
    # An n-th part of the cluster in tasks: about half of these limits are met.
    most = np.ceil(random.uniform(0.2, 3, n) / (n * dominant_rates(plain)))
    return Instance(demands, machines=machines, eligible=eligible, resources=plain.resources, max_tasks=most)


def uneven(n: int, k: int, *, open_to: float, scattered: bool = False, limited: bool = False) -> Instance:
    """Return users who need each of four resources or not, on k classes: several levels.

    Capacities are within a factor of four of each other, or scattered: log-normal, each by itself.  With limits half of
    the users have one, of a fifth of an n-th part of the cluster to three of them.
    """
    random = _random("uneven", n, k)
    demands = random.integers(1, 100, (n, 4)) * (random.random((n, 4)) < NEEDED)
    demands[~demands.any(axis=1), 0] = 50
    room = random.integers(500, 2_000, (k, 4)) * n // k + 200
    if scattered:
        room = np.ceil(random.lognormal(0, 1, (k, 4)) * n / k * 1_000)
    eligible = None
    if open_to < 1:
        eligible = random.random((n, k)) < open_to
        eligible[np.arange(n), random.integers(0, k, n)] = True
    machines = [Machine(f"class{q}", row) for q, row in enumerate(room)]
    most = None
    if limited:
        largest = (demands / room.sum(axis=0)).max(axis=1)
        most = np.where(random.random(n) < 0.5, np.ceil(random.uniform(0.2, 3, n) / (n * largest)), np.inf)
    return Instance(demands, machines=machines, eligible=eligible, max_tasks=most)


def regions(n: int, k: int, count: int) -> Instance:
    """Return a cluster in so many regions: a class is open to nearly all users of its own and to a few of others.

    Regions have as many classes as each other, and the first of them far more users than the last, so that there is a
    level or more for each; the few who may go elsewhere tie them together.
    """
    random = _random("regions", n, k, count)
    plain = cluster(n, k, limited=False, open_to=1.0)
    crowd = np.arange(count, 0, -1) / np.arange(count, 0, -1).sum()
    home = random.choice(count, n, p=crowd)
    place = np.arange(k) * count // k
    eligible = random.random((n, k)) < np.where(home[:, None] == place[None, :], 0.9, 0.002)
    classes = [np.flatnonzero(place == region) for region in range(count)]
    eligible[np.arange(n), [random.choice(classes[region]) for region in home.tolist()]] = True
    return Instance(plain.demands, machines=plain.machines, eligible=eligible, resources=plain.resources)


def whole_pool(n: int) -> Instance:
    """Return a pool in which a user can have about three whole tasks of 1 to 9 units of three resources."""
    random = _random("whole", n)
    return Instance(random.integers(1, 10, (n, 3)), random.integers(12, 18, 3) * n)
