"""What answers are held against: exact fractions where they end soon, otherwise long double, by code of its own.

A long double has 64 bits of mantissa on x86-64 Linux, which is 2000 times finer than a float; on machines where it is
no more than a float, errors below 1e-15 mean nothing.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from drfopt.base.errors import DrfoptError
from drfopt.engines.reference.path_filling import progressive_filling
from drfopt.model.instance import Instance
from drfopt.model.policies import policy_named, shares_per_task

__all__ = ["attempt", "ceei_tasks", "leximin_levels", "lowest", "off"]

FRACTIONS = 100_000
"""Users times resources times events up to which the fraction reference is asked: about a second."""

Wide = np.longdouble


def leximin_levels(instance: Instance) -> tuple[np.ndarray, str]:
    """Return the levels (n,) of DRF on a pool, and how they were computed."""
    policy = policy_named("drf")
    events = instance.m + int(np.isfinite(instance.limits).sum())
    if instance.n * instance.m * events > FRACTIONS:
        return _filled(instance), "long double"
    rates = policy.exact_rates(instance)
    tasks = progressive_filling(instance.exact_demands, instance.exact_capacity, rates, instance.exact_limits)
    return np.array([float(rate * x) for rate, x in zip(rates, tasks, strict=True)]), "fractions"


def _filled(instance: Instance) -> np.ndarray:
    """Fill in long double: resource by resource the level at which it is full, the lowest of them first."""
    demands, capacity = instance.demands.astype(Wide), instance.capacity.astype(Wide)
    rates = (demands / capacity).max(axis=1)
    takes = demands / capacity / rates[:, None]
    tops = np.where(instance.limits > 0, instance.limits.astype(Wide) * rates, 0)
    levels = np.zeros(instance.n, dtype=Wide)
    rising = tops > 0
    open_resources = set(range(instance.m))
    while rising.any():
        free = 1 - takes[~rising].T @ levels[~rising]
        full = {j: _full_at(takes[rising, j], tops[rising], free[j]) for j in open_resources}
        level, first = min((level, j) for j, level in full.items())
        stopped = rising & ((takes[:, first] > 0) | (tops <= level))
        if level == np.inf:
            stopped = rising
        levels[stopped] = np.minimum(level, tops[stopped])
        rising &= ~stopped
        open_resources.discard(first)
    return levels


def _full_at(takes: np.ndarray, tops: np.ndarray, free: np.floating) -> np.floating:
    """Return the t with ``sum takes min(t, tops) = free``; inf if there is none.

    The sum is concave in t, so Newton's method comes from below and ends after finitely many corners.
    """
    level = Wide(0)
    while True:
        slope = takes[tops > level].sum()
        missing = free - (takes * np.minimum(level, tops)).sum()
        if slope == 0:
            return Wide(np.inf)
        further = level + max(missing, Wide(0)) / slope
        if further <= level:
            return level
        level = further


def ceei_tasks(instance: Instance, prices: np.ndarray) -> np.ndarray:
    """Return the tasks (n,) of CEEI on a pool: Newton's method on the prices, residuals in long double.

    `prices` (m,), somebody's answer, says where to begin and which are zero; that everybody spends her income and
    every priced resource is sold out is an equation of its own, whoever began.
    """
    shares = shares_per_task(instance).astype(Wide)
    incomes, most = instance.weights.astype(Wide), instance.limits.astype(Wide)
    priced = np.flatnonzero(prices > 0)
    price = (prices * instance.capacity)[priced].astype(Wide)
    needs = shares[:, priced]
    for _ in range(6):
        cost = needs @ price
        tasks = _bought(incomes, cost, most)
        free = tasks < most
        steep = np.where(free, incomes, 0) / np.where(free, cost, 1) ** 2
        slope = (needs.T * steep) @ needs
        missing = 1 - needs.T @ tasks
        step = np.linalg.lstsq(slope.astype(float), missing.astype(float), rcond=None)[0]
        price = np.maximum(price - step, 0)
    return _bought(incomes, needs @ price, most)


def _bought(incomes: np.ndarray, cost: np.ndarray, most: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.minimum(most, incomes / cost)


def lowest(levels: np.ndarray, instance: Instance) -> float:
    """Return the lowest level of those who may run something."""
    return float(levels[(instance.limits > 0) & ~instance.unplaced()].min())


def off(values: np.ndarray, reference: np.ndarray | None) -> float | None:
    """Return the largest relative difference; of two zeros it is 0, and None where there is no reference."""
    if reference is None:
        return None
    scale = np.maximum(np.abs(values), np.abs(reference)).astype(float)
    apart = np.abs(values - reference).astype(float)
    return float(np.divide(apart, scale, where=scale > 0, out=np.zeros(len(scale))).max(initial=0))


def attempt(compute: Callable[[], Any]) -> Any:
    """Return what `compute` does, or None where drfopt refuses: a reference that is not there ends no run."""
    try:
        return compute()
    except DrfoptError:
        return None
