"""Hundreds of thousands of small pools of one shape, solved and proven at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.errors import CertificateError, DrfoptError
from ...base.tolerances import FIRST_ORDER, GAP, LEVEL, LEVEL_CEEI
from ...certificates import bottleneck
from ...certificates import prices as by_prices
from ...model.allocation import Allocation
from ...model.arrays import LARGEST, SMALLEST
from ...model.instance import Instance
from ...model.policies import AnyPolicy
from ..allocating import solve
from .equilibrium import clear
from .filling import fill
from .pools import Batch, batch_of
from .proofs import bottlenecks, clearing

__all__ = ["Solutions", "solve_many"]

POOLS, ENTRIES = 8_192, 131_072
"""Most pools, and most demands, in a block: arrays of it stay in the cache, and a call of numpy is worth its price."""


CLOSE = 1e-12
"""Relative error of levels that a batch promises."""


@dataclass(frozen=True, eq=False)
class Solutions:
    """Proven allocations of a batch of pools; a row is what `solve` returns for the pool.

    Attributes
    ----------
    policy : str
    tasks : array (b, n)
    levels : array (b, n)
        The policy's weighted share of each user; for ``ceei`` the weighted dominant share.
    prices : array (b, m) or None
        Prices of one unit of each resource; None for leximin.
    unplaced : bool array (b, n)
        Users whose task needs something of which there is nothing, though they have no limit of 0: they have no task.
    violation, gap : arrays (b,)
        Of the certificates, which all hold to the accuracy in `drfopt.base.tolerances`.
    singly : bool array (b,)
        Pools that the batch could not prove, which `solve` finished one by one.
    """

    policy: str
    tasks: np.ndarray
    levels: np.ndarray
    prices: np.ndarray | None
    unplaced: np.ndarray
    violation: np.ndarray
    gap: np.ndarray
    singly: np.ndarray

    def __len__(self) -> int:
        return len(self.tasks)


def solve_many(
    demands: Any,
    capacity: Any,
    policy: AnyPolicy = "drf",
    *,
    weights: Any = None,
    limits: Any = None,
    resources: Sequence[str] | None = None,
) -> Solutions:
    """Return the proven allocations of many pools of one shape.

    Every allocation is the one that `solve` returns, to 1e-12 of every level (``ceei``: 1e-8), and has passed the same
    certificate, computed for many pools at once.  Pools that it does not prove are finished by `solve`, one by one, for
    leximin in fractions, so that nothing is returned without a proof.

    Parameters
    ----------
    demands : array (b, n, m), or list of b frames
        What one task of each user needs.  To leave a user out of some pools, give it a limit of 0 there.
    capacity : array (m,) or (b, m)
        Here and below whatever has labels (mapping, Series, frame, or a list of them) is aligned by users and
        resources; a frame of two dimensions has one pool a row.
    policy : str, Policy or function
        ``drf``, ``asset``, ``single:RESOURCE``, ``tsf``, ``tasks`` or ``ceei``.
    weights : array (n,) or (b, n), or per resource (1, n, m) or (b, n, m)
        Positive; 1 by default.
    limits : array (n,) or (b, n)
        The most tasks of each user, inf for no limit.
    resources : sequence of m names
        For ``single:RESOURCE``; r1, r2 ... by default, or those of the labels.

    Raises
    ------
    InstanceError, PolicyError
        On bad input; the message names the entry.
    SolverError, CertificateError
        When a pool is not solved one by one either; the message names the pool.

    Examples
    --------
    >>> found = solve_many([[[1, 4], [3, 1]], [[1, 1], [3, 1]]], [9, 18])
    >>> found.tasks.round(12).tolist()
    [[3.0, 2.0], [4.5, 1.5]]
    """
    batch = batch_of(demands, capacity, policy, weights, limits, resources)
    b, n, m = batch.demands.shape
    market = batch.policy.objective == "alpha"
    found = Solutions(
        policy=batch.policy.name,
        tasks=np.empty((b, n)),
        levels=np.empty((b, n)),
        prices=np.empty((b, m)) if market else None,
        unplaced=np.zeros((b, n), dtype=bool),
        violation=np.empty(b),
        gap=np.zeros(b),
        singly=np.zeros(b, dtype=bool),
    )
    size = max(1, min(POOLS, ENTRIES // (n * m)))
    for start in range(0, b, size):
        stop = min(start + size, b)
        _block(batch, found, slice(start, stop))
    for index in np.flatnonzero(found.singly):
        _alone(batch, found, int(index))
    return found


def _block(batch: Batch, found: Solutions, part: slice) -> None:
    """Solve and prove a block, and write it into its part of the answer."""
    pools = batch.block(part.start, part.stop)
    if found.prices is None:
        tasks = fill(pools)
        violation = bottlenecks(pools, tasks)
        for index in np.flatnonzero(~(violation <= LEVEL)).tolist():
            # The bound for many at once is coarse: that of a single pool decides.
            alone = Instance(**batch.alone(part.start + index))
            proof = bottleneck.certify(alone, batch.policy, tasks[:, index])
            violation[index] = proof.violation if proof.valid and proof.evidence["error"] <= CLOSE else np.inf
        proven = violation <= LEVEL
    else:
        tasks, prices = clear(pools)
        violation, gap, error = clearing(pools, tasks, prices)
        for index in np.flatnonzero((violation <= FIRST_ORDER) & ~(error <= LEVEL_CEEI)).tolist():
            alone = Instance(**batch.alone(part.start + index))
            if not by_prices.certify(alone, batch.policy, tasks[:, index], None, prices[:, index][None]).valid:
                violation[index] = np.inf
        proven = (violation <= FIRST_ORDER) & (gap <= GAP)
        found.prices[part], found.gap[part] = prices.T, gap
    found.tasks[part] = tasks.T
    found.levels[part] = (pools.rates * tasks).T
    found.violation[part] = violation
    found.singly[part] = ~proven
    if pools.unplaced is not None:
        found.unplaced[part] = pools.unplaced.T


def _alone(batch: Batch, found: Solutions, index: int) -> None:
    """Solve one pool by itself, and write it into the answer."""
    try:
        single = solve(Instance(**batch.alone(index)), batch.policy, exact=found.prices is None)
        if single.exact:
            _check_floats(single)
    except DrfoptError as error:
        raise type(error)(f"instance {index}: {error}") from error
    found.tasks[index], found.levels[index] = single.tasks, single.levels
    found.violation[index], found.gap[index] = single.certificate.violation, single.certificate.gap or 0.0
    if found.prices is not None:
        found.prices[index] = single.prices


def _check_floats(single: Allocation) -> None:
    """Raise when the floats nearest to exact tasks and levels are not near."""
    for value in [*single.tasks, *single.levels]:
        if value and not (SMALLEST <= value <= LARGEST):
            raise CertificateError(
                f"a number of tasks or level is {'below' if value < 1 else 'above'} what floats hold: change the units"
            )
