"""CEEI and alpha fairness: prices of the capacities, and what everybody would do at them.

At prices p >= 0 a task costs user i ``q_i``, the cheapest of her classes.  Her best response has the level
``(q_i / mu_i)^(-1/alpha)`` with mu_i the dominant share of one task, or her limit; for alpha = 1 that is
``x_i = w_i / q_i`` tasks.  With ``r_i = level_i / best level_i`` (for alpha = 1 it is x_i q_i / w_i) the allocation is
optimal exactly when r_i = 1 below the limit, r_i <= 1 at it, nobody sits on a class dearer than her cheapest, and a
resource that is not used up costs nothing.  The first, second and last are held to `FIRST_ORDER`; money spent on dear
classes counts in the gap.

The gap adds up what is missed, term by term and never as a difference of objectives: money left in unused priced
capacity, money spent on dear classes, and each user's loss against her best response, relative to all money spent.
Any prices make it an upper bound of optimum minus objective.  But a gap of e bounds level errors by sqrt(e) only, so
the first-order conditions are held to their own tolerance.

Users are looked at block by block: beside the instance and the tasks the proof needs some megabytes, and who was
stopped by what is found out when somebody asks.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..allocation import Certificate
from ..instance import Instance
from ..policies import Policy
from ..tolerances import CAPACITY, FIRST_ORDER, GAP
from .feasibility import infeasibility

__all__ = ["certify"]

AT_LIMIT = 1e-12
"""Relative distance from the limit at which a user counts as at it: a few roundings."""

SERIES = 1e-5
"""Distance of r from 1 up to which a loss is the first term of its series: the terms as written leave rounding only."""

BLOCK = 2**16
"""Demands in a block: half a megabyte, which stays in a core's cache."""


def certify(
    instance: Instance, policy: Policy, tasks: np.ndarray, placement: np.ndarray | None, prices: np.ndarray
) -> Certificate:
    """Return the certificate of tasks (n,), placed as (n, k), at prices (k, m) of one unit of each class."""
    infeasible, reason = infeasibility(instance, tasks, placement)
    market = _Market(instance, policy, np.maximum(prices, 0))
    users = _Users(market, tasks, placement)
    # Far from the optimum powers overflow; what is inf or NaN is not below the tolerances either.
    with np.errstate(all="ignore"):
        users.look()
        left = market.room - users.used
        unused = np.divide(np.abs(left), market.room, where=market.room > 0, out=np.zeros_like(left))
        uncleared = np.where(market.prices > 0, unused, 0.0)
        missed = float((market.prices * left).sum()) + users.missed
        gap = abs(missed) / users.money if users.money > 0 else 0.0
        violation = float(np.max([users.off, uncleared.max(), infeasible]))
    valid = infeasible <= CAPACITY and gap <= GAP and violation <= FIRST_ORDER
    if not reason and not valid:
        reason = _reason(instance, users, uncleared, gap)
    return Certificate(
        kind="prices",
        valid=bool(valid),
        violation=violation,
        gap=gap,
        bottlenecks=Bottlenecks(market, tasks),
        evidence={"prices": market.prices},
        reason=reason,
    )


class _Market:
    """An instance, a policy and prices (k, m) of one unit; what blocks of users pay, and where their limits are."""

    def __init__(self, instance: Instance, policy: Policy, prices: np.ndarray):
        self.instance, self.prices, self.alpha = instance, prices, policy.alpha
        self.room = instance.room
        self.demands = instance.demands.T
        self.budgets: np.ndarray | None = None if instance.weights.strides == (0,) else instance.weights
        self.unit = np.divide(1.0, instance.capacity, where=instance.capacity > 0, out=np.zeros(instance.m))
        # Who is unplaced can have nothing, as if by a limit; limits that were never given are one infinity, repeated.
        self.limits: np.ndarray | None = instance.limits
        if instance.machines is not None or not instance.capacity.all():
            self.limits = np.where(instance.unplaced(), 0.0, instance.limits)
        elif instance.limits.strides == (0,):
            self.limits = None

    def weights(self, rows: slice) -> np.ndarray | float:
        """Return the weights of a block; one number where all are equal."""
        return float(self.instance.weights[0]) if self.budgets is None else self.budgets[rows]

    def costs(self, rows: slice) -> np.ndarray:
        """Return what one task of each user of a block costs on each class, (k, b); inf where it does not fit."""
        costs = np.dot(self.prices, self.demands[:, rows])
        if self.instance.fits is not None:
            costs[~self.instance.fits[rows].T] = np.inf
        return costs


class _Users:
    """What all users miss: the sums and the worst that the proof consists of."""

    def __init__(self, market: _Market, tasks: np.ndarray, placement: np.ndarray | None):
        self.market, self.tasks, self.placement = market, tasks, placement
        self.used = np.zeros_like(market.room)
        self.money = self.missed = self.off = 0.0
        self.worst = 0

    def look(self) -> None:
        """Add up all blocks."""
        n, m = self.market.instance.n, self.market.instance.m
        length = max(1, BLOCK // m)
        for begin in range(0, n, length):
            self._add(slice(begin, min(begin + length, n)))

    def _add(self, rows: slice) -> None:
        market, tasks = self.market, self.tasks[rows]
        costs = market.costs(rows)
        cheapest = costs[0] if len(costs) == 1 else costs.min(axis=0)
        amounts = tasks[None, :] if self.placement is None else self.placement[rows].T
        self.used += np.dot(amounts, market.demands[:, rows].T)
        if self.placement is not None:
            self.missed += float(np.where(amounts > 0, amounts * (costs - cheapest), 0.0).sum())
        money, off = self._responses(rows, tasks, cheapest)
        if market.limits is not None:
            limits = market.limits[rows]
            # At the limit, whoever would like more does the best she can: she loses nothing.
            np.copyto(off, 0.0, where=(tasks >= limits * (1 - AT_LIMIT)) & (off < 0))
            out = limits == 0
            if out.any():
                off[out] = np.where(tasks[out] == 0, 0.0, np.inf)
                money = np.where(out, 0.0, money)
        self.missed += self._lost(money, off)
        self.money += float(money.sum()) if isinstance(money, np.ndarray) else money * len(tasks)
        np.abs(off, out=off)
        farthest = float(off.max())
        # Not a comparison by which NaN would go unseen.
        if not farthest <= self.off:
            self.off, self.worst = farthest, rows.start + int(off.argmax())

    def _responses(self, rows: slice, tasks: np.ndarray, cost: np.ndarray) -> tuple[np.ndarray | float, np.ndarray]:
        """Return the money each user of a block spends on what she has, and r - 1, her level against her best."""
        market, alpha = self.market, self.market.alpha
        weights = market.weights(rows)
        if alpha == 1:
            ratio = np.multiply(tasks, cost)
            ratio /= weights
            ratio -= 1
            return weights, ratio
        dominant = np.multiply(market.demands[:, rows], market.unit[:, None], order="C").max(axis=0)
        # Who needs only what is not there has nothing, and a limit of 0.
        dominant[dominant == 0] = 1
        levels = dominant * tasks / weights
        ratio = levels * (cost / dominant) ** (1 / alpha) - 1
        return weights * levels ** (1 - alpha), ratio

    def _lost(self, money: np.ndarray | float, off: np.ndarray) -> float:
        """Return what users lose against their best responses, where they are off them by r - 1."""
        alpha = self.market.alpha
        if max(float(off.max()), -float(off.min())) <= SERIES:
            return float(np.dot(off * money, off)) * alpha / 2
        ratio = off + 1
        # What one would gain is x^(1 - alpha) / (1 - alpha), a logarithm at 1, less what it is at r = 1.
        log = np.log(ratio)
        gained = log if alpha == 1 else np.expm1((1 - alpha) * log) / (1 - alpha)
        return float(np.sum(money * ratio ** (alpha - 1) * np.maximum(off - gained, 0)))


class Bottlenecks(Sequence):
    """What stopped each user, found out when asked for: what she pays most for, or None at her limit.

    On machines every priced resource of her cheapest classes, as a tuple of ``class/resource``.
    """

    def __init__(self, market: _Market, tasks: np.ndarray):
        self._market, self._tasks = market, tasks

    def __len__(self) -> int:
        return self._market.instance.n

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return tuple(self[k] for k in range(*i.indices(len(self))))
        market, instance = self._market, self._market.instance
        i = range(len(self))[i]
        if market.limits is not None and self._tasks[i] >= market.limits[i] * (1 - AT_LIMIT):
            return None
        demands = instance.demands[i]
        if instance.machines is None:
            return instance.resources[int((demands * market.prices[0]).argmax())]
        costs = market.costs(slice(i, i + 1))[:, 0]
        cheap = costs <= costs.min() * (1 + FIRST_ORDER)
        paid = (market.prices > 0) & (demands > 0) & cheap[:, None]
        names = instance.machine_names
        return tuple(f"{names[k]}/{instance.resources[j]}" for k, j in np.argwhere(paid))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]


def _reason(instance: Instance, users: _Users, uncleared: np.ndarray, gap: float) -> str:
    if not users.off <= FIRST_ORDER:
        return f"user {instance.users[users.worst]!r} is off her best response at the prices by {users.off:.1e}"
    if not uncleared.max() <= FIRST_ORDER:
        k, j = np.unravel_index(int(uncleared.argmax()), uncleared.shape)
        where = "" if instance.machines is None else f" of {instance.machine_names[k]!r}"
        return f"{instance.resources[j]!r}{where} has a price, but {uncleared[k, j]:.1e} of it is unused"
    return f"the gap is {gap:.1e}"
