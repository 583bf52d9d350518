"""Rates of a cluster that grows: how much of the whole one task is, and how that turns as the whole grows.

Level and share are parts of the cluster, so a unit more of a resource makes every task a smaller part of it, whether
anybody waits for that resource or not.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...model.instance import Instance
from ...model.policies import Policy

__all__ = ["Grown", "slopes_of_rates"]

TIED = 1e-12
"""Relative distance at which two shares of a user are the same, so that either may be the larger one next door."""


class Grown:
    """An instance whose classes have another room (k, m); everything else is as it was, who may run where too."""

    def __init__(self, instance: Instance, room: np.ndarray):
        self._instance = instance
        self.capacity = room.sum(axis=0)
        self.room = room
        if instance.machines is not None:
            self.machine_capacity = room / instance.counts[:, None]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._instance, name)


def slopes_of_rates(policy: Policy, instance: Instance, growth: np.ndarray, more: bool) -> np.ndarray:
    """Return by how much the rates (n,) change for each unit of growth (k, m), on the side of more or of less."""
    if policy.measure == "alone" and instance.machines is not None:
        return _of_alone(policy, instance, growth, more)
    capacity = np.where(instance.capacity > 0, instance.capacity, np.inf)
    shares = instance.demands / capacity
    if policy.weights != "none" and instance.weighted:
        shares = shares / (instance.weights if instance.weights_per_resource else instance.weights[:, None])
    turning = -shares * (growth.sum(axis=0) / capacity)
    return SLOPES[policy.measure](shares, turning, more, policy.column(instance))


def _of_largest(shares: np.ndarray, turning: np.ndarray, more: bool, column: int | None) -> np.ndarray:
    """Return the slope of the largest share: of those that are it, the one that is largest next door."""
    top = shares.max(axis=1, keepdims=True)
    mine = shares >= top * (1 - TIED)
    return np.where(mine, turning, -np.inf).max(axis=1) if more else np.where(mine, turning, np.inf).min(axis=1)


def _of_alone(policy: Policy, instance: Instance, growth: np.ndarray, more: bool) -> np.ndarray:
    whole, turn = np.zeros(instance.n), np.zeros(instance.n)
    needs = instance.demands > 0
    inverse = np.divide(1.0, instance.demands, where=needs, out=np.zeros_like(instance.demands))
    for room, grows in zip(instance.room, growth, strict=True):
        fits = np.where(needs, room * inverse, np.inf)
        least = fits.min(axis=1, keepdims=True)
        mine = fits <= least * (1 + TIED)
        rising = grows * inverse
        whole += least[:, 0]
        turn += np.where(mine, rising, np.inf).min(axis=1) if more else np.where(mine, rising, -np.inf).max(axis=1)
    rates = policy.rates(instance)
    return np.where(whole > 0, -rates * turn / np.where(whole > 0, whole, 1.0), 0.0)


Slope = Callable[[np.ndarray, np.ndarray, bool, int | None], np.ndarray]

SLOPES: dict[str, Slope] = {
    "tasks": lambda shares, turning, more, column: np.zeros(len(shares)),
    "dominant": _of_largest,
    "alone": _of_largest,
    "asset": lambda shares, turning, more, column: turning.sum(axis=1),
    "single": lambda shares, turning, more, column: turning[:, column or 0],
}
"""How the level of a task turns, by measure, from shares (n, m) and how they turn."""
