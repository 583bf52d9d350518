"""Many pools of one shape: the arrays at the door, and blocks of them with the batch axis last.

A row of the batch is a pool of n users and m resources.  Inside, a letter of a user and a resource is an array
(m, n, size): whatever is done to one pool is done to the block by one operation on contiguous memory, and a block is
small enough to stay in the cache from one operation to the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...base.errors import InstanceError, PolicyError, suggestion
from ...base.tolerances import RATIOS
from ...model.policies import MEASURES, POLICIES, AnyPolicy, Policy, policy_named
from .named import positional

__all__ = ["Batch", "Pools", "batch_of", "quiet"]

SMALLEST, LARGEST = RATIOS
"""Ratios of demand to capacity that an instance may have, as at the door of a single one."""


def quiet() -> np.errstate:
    """Return the state for functions whose divisions by 0 are not looked at, or make an answer unproven."""
    return np.errstate(divide="ignore", over="ignore", invalid="ignore")


@dataclass(frozen=True, eq=False)
class Batch:
    """A batch whose shapes and types are checked; its values are, block by block.

    Attributes
    ----------
    policy : Policy
    demands : array (b, n, m)
    capacity : array (b, m), or (1, m) for all
    weights : array (b, n) or (b, n, m), or with a first axis of 1 for all; None for equal ones
    limits : array (b, n), or (1, n) for all; None for no limits
    users, resources : tuples of str (n,) and (m,)
    """

    policy: Policy
    demands: np.ndarray
    capacity: np.ndarray
    weights: np.ndarray | None
    limits: np.ndarray | None
    users: tuple[str, ...]
    resources: tuple[str, ...]

    @property
    def column(self) -> int | None:
        """The resource of a measure of one resource."""
        return self.resources.index(self.policy.argument) if self.policy.measure == "single" else None

    @quiet()
    def block(self, start: int, stop: int) -> "Pools":
        """Return the pools from `start` up to `stop`, with checked values."""
        demands = _last(self.demands[start:stop])
        capacity = _of(self.capacity, start, stop)
        weights = None if self.weights is None else _of(self.weights, start, stop)
        limits = None if self.limits is None else _of(self.limits, start, stop)
        _check("demands", demands, start)
        _check("capacity", capacity, _first_of(self.capacity, start))
        if weights is not None:
            _check("weights", weights, _first_of(self.weights, start))
        if limits is not None:
            _check("limits", limits, _first_of(self.limits, start))
        pools = Pools(self.policy, self.column, demands, capacity, weights, limits)
        pools.check(start, self.resources)
        return pools

    def alone(self, index: int) -> dict[str, Any]:
        """Return one pool of the batch as the arguments of an `Instance`."""
        return {
            "demands": self.demands[index],
            "capacity": self.capacity[index % len(self.capacity)],
            "resources": self.resources,
            "weights": None if self.weights is None else self.weights[index % len(self.weights)],
            "max_tasks": None if self.limits is None else self.limits[index % len(self.limits)],
        }


@dataclass(frozen=True, eq=False)
class Pools:
    """A block of pools, the batch axis last; what is the same for all of them has a last axis of 1.

    Attributes
    ----------
    policy : Policy
    column : int or None
        The resource of a measure of one resource.
    demands : array (m, n, size)
    capacity : array (m, size)
    weights : array (n, size) or (m, n, size), or None
    limits : array (n, size), or None
    """

    policy: Policy
    column: int | None
    demands: np.ndarray
    capacity: np.ndarray
    weights: np.ndarray | None = None
    limits: np.ndarray | None = None

    @cached_property
    def shares(self) -> np.ndarray:
        """Share of the pool that one task takes, (m, n, size); of what is not there, 0."""
        capacity = self.capacity if self._empty is None else np.where(self._empty, np.inf, self.capacity)
        return self.demands / capacity[:, None]

    @cached_property
    def dominant(self) -> np.ndarray:
        """Dominant share of one task, weights ignored, (n, size)."""
        return self.shares.max(axis=0)

    @cached_property
    def rates(self) -> np.ndarray:
        """Level of one task, (n, size); 0 for users who can run none."""
        shares, weights = self.shares, self.weights
        if weights is not None and weights.ndim == 3:
            shares, weights = shares / weights, None
        elif self.policy.measure == "dominant":
            return self.dominant if weights is None else self.dominant / weights
        rates = MEASURES[self.policy.measure].floats(shares, self.column)
        return rates if weights is None else rates / weights

    @cached_property
    def unplaced(self) -> np.ndarray | None:
        """Who can run no task though she has no limit of 0, (n, size); None when it is nobody."""
        if self._empty is None:
            return None
        helpless = ((self.demands > 0) & self._empty[:, None]).any(axis=0)
        if self.limits is not None:
            helpless &= self.limits > 0
        return helpless if helpless.any() else None

    @cached_property
    def out(self) -> np.ndarray | None:
        """Who has no task whatever happens, (n, size); None when it is nobody."""
        out = self.unplaced
        if self.limits is not None and not self.limits.all():
            none = np.broadcast_to(self.limits == 0, self.demands.shape[1:])
            out = none if out is None else out | none
        return out

    def check(self, start: int, resources: Sequence[str]) -> None:
        """Raise when some pool of the block, the first of which is number `start`, is not usable."""
        needs = self.demands.max(axis=0)
        if not needs.all():
            user, index = _first(needs == 0)
            raise InstanceError(
                f"demands[{start + index}, {user}] are all 0: give the user a positive demand, and a limit of 0 where "
                "it is to have no task"
            )
        self._check_scale(start, resources)
        if self.column is not None and not self.demands[self.column].all():
            user, index = _first(self.demands[self.column] == 0)
            raise PolicyError(
                f"{self.policy.name} compares shares of {self.policy.argument!r}, but the user of "
                f"demands[{start + index}, {user}] demands none of it: give the user some, and a limit of 0 "
                "where it is to have no task, or use drf"
            )

    def _check_scale(self, start: int, resources: Sequence[str]) -> None:
        shares = self.shares
        lowest = shares.min()
        if lowest == 0:
            lowest = np.min(shares, where=shares > 0, initial=1.0)
        if lowest >= SMALLEST and shares.max() <= LARGEST:
            return
        small = (shares < SMALLEST) & (self.demands > 0) & (self.capacity > 0)[:, None]
        j, _, index = _first(small | (shares > LARGEST))
        raise InstanceError(
            f"in instance {start + index} demands of {resources[j]!r} are beyond 1e-150 to 1e150 of its capacity "
            f"{self.capacity[j, index % self.capacity.shape[-1]]:g}: check the units"
        )

    @cached_property
    def _empty(self) -> np.ndarray | None:
        """Resources of which there is nothing, (m, size); None when there are none."""
        return None if self.capacity.all() else self.capacity == 0


def batch_of(
    demands: Any,
    capacity: Any,
    policy: AnyPolicy,
    weights: Any,
    limits: Any,
    resources: Sequence[str] | None,
) -> Batch:
    """Return what was given as a batch of pools.

    Raises
    ------
    InstanceError
        On a shape that is none of those allowed, on what is not an array of numbers, or on a label at fault.
    PolicyError
        When batches of the policy are not solved.
    """
    demands, capacity, weights, limits, users, resources = positional(demands, capacity, weights, limits, resources)
    needs = _numbers("demands", demands)
    if needs.ndim != 3:
        raise InstanceError(f"demands have shape {needs.shape}: an array (b, n, m) is needed, a pool of (n, m) a row")
    b, n, m = needs.shape
    if n == 0 or m == 0:
        raise InstanceError(f"demands have shape {needs.shape}: every pool needs a user and a resource")
    room = _shaped("capacity", _numbers("capacity", capacity), {"(m,)": (m,), "(b, m)": (b, m)})
    names = tuple(f"r{j}" for j in range(1, m + 1)) if resources is None else tuple(map(str, resources))
    if len(names) != m or len(set(names)) < m:
        raise InstanceError(f"the resources are {', '.join(names)}: {m} different names are needed")
    chosen = _policy(policy, names)
    return Batch(
        chosen,
        needs,
        room if room.ndim == 2 else room[None],
        None if weights is None else _weights(chosen, _numbers("weights", weights), b, n, m),
        None if limits is None else _limits(_numbers("limits", limits), b, n),
        tuple(f"u{i}" for i in range(1, n + 1)) if users is None else tuple(users),
        names,
    )


def _policy(policy: AnyPolicy, resources: tuple[str, ...]) -> Policy:
    chosen = policy_named(policy)
    if chosen.objective != "leximin" and not (chosen.objective == "alpha" and chosen.alpha == 1):
        able = [row.name for row in POLICIES if row.objective == "leximin" or row.alpha == 1]
        raise PolicyError(f"batches are solved for {', '.join(able)}, not for {chosen.name}: use solve, one by one")
    if chosen.measure == "single" and chosen.argument not in resources:
        raise PolicyError(
            f"{chosen.name} names a resource that the pools do not have: they have {', '.join(resources)}"
            f"{suggestion(chosen.argument, resources)}"
        )
    return chosen


def _weights(policy: Policy, weights: np.ndarray, b: int, n: int, m: int) -> np.ndarray:
    shapes = {"(n,)": (n,), "(b, n)": (b, n), "(1, n, m)": (1, n, m), "(b, n, m)": (b, n, m)}
    found = _shaped("weights", weights, shapes)
    if found.ndim == 3:
        if policy.weights == "scalar":
            raise PolicyError(
                f"{policy.name} takes one weight a user, but these weights are per resource: use drf, or one each"
            )
        return found
    return found if found.ndim == 2 else found[None]


def _limits(limits: np.ndarray, b: int, n: int) -> np.ndarray:
    found = _shaped("limits", limits, {"(n,)": (n,), "(b, n)": (b, n)})
    return found if found.ndim == 2 else found[None]


def _numbers(name: str, values: Any) -> np.ndarray:
    try:
        found = np.asarray(values)
    except ValueError:
        raise InstanceError(f"{name} are rows of different lengths: give an array of numbers") from None
    if found.dtype.kind not in "fiu":
        raise InstanceError(f"{name} are of type {found.dtype}: give an array of floats or integers")
    return found


def _shaped(name: str, values: np.ndarray, shapes: dict[str, tuple[int, ...]]) -> np.ndarray:
    if values.shape not in shapes.values():
        allowed = " or ".join(f"{letters} = {shape}" for letters, shape in shapes.items())
        raise InstanceError(f"{name} have shape {values.shape}, but {allowed} is needed")
    return values


def _of(values: np.ndarray, start: int, stop: int) -> np.ndarray:
    """Return a part of the batch with the batch axis last; what is there once is taken for every part."""
    return _last(values[start:stop] if len(values) > 1 else values)


def _last(values: np.ndarray) -> np.ndarray:
    """Return floats with the axes in the opposite order, so that the batch is last."""
    return np.ascontiguousarray(values.T, dtype=np.float64)


def _first_of(values: Any, start: int) -> int:
    """Return the number of the first row of a part that starts at `start`; what is there once has one row only."""
    return start if len(values) > 1 else 0


def _check(name: str, part: np.ndarray, start: int) -> None:
    """Raise when an entry of a part, whose first row is number `start`, is not allowed in the array of that name."""
    limits, weights = name == "limits", name == "weights"
    # NaN fails every comparison, and the smallest of numbers among which one is NaN is NaN.
    if not part.size or (part.min() >= 0 and (limits or part.max() < np.inf) and not (weights and part.min() == 0)):
        return
    bad = ~(part > 0) if weights else ~(part >= 0)
    if not limits:
        bad |= ~(part < np.inf)
    *rest, index = _first(bad)
    value = float(part[(*rest, index)])
    place = ", ".join(map(str, (start + index, *reversed(rest))))
    rule = "write a finite number, " + ("above 0" if weights else "0 or more")
    if -np.inf < value <= 0:
        rule = "it must be positive" if weights else "it must not be negative"
    raise InstanceError(f"{name}[{place}] is {value:g}: {rule}")


def _first(wrong: np.ndarray) -> tuple[int, ...]:
    """Return the place of the first wrong entry, in the order of the batch, which is the last axis."""
    index = int(wrong.any(axis=tuple(range(wrong.ndim - 1))).argmax())
    return (*(int(i) for i in np.argwhere(wrong[..., index])[0]), index)
