"""Hundreds of thousands of small pools of one shape, solved and proven at once.

Progressive filling of many pools at once: all take their steps together, whatever step each of them is at.

With some users held at their ``levels``, resource j runs out when the others, who rise together, reach
``t_j = (1 - what is held of j) / (what the others take of j for a level of 1)``.  Let t be the least of these.  Rising
users whose limits lie at or below t are held there, and t is asked again: what they leave lets the others rise further.
Where there is none, t is a saturation, and whoever needs a resource that runs out at t is held at t.  So every step
holds somebody in every pool that is not finished, and without limits a pool is finished after m of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.errors import CertificateError, DrfoptError
from ...base.numbers.shown import counted
from ...base.results import Parts, Result
from ...base.tables import Column, Sheet
from ...base.tolerances import FIRST_ORDER, GAP, LEVEL, LEVEL_CEEI
from ...certificates import bottleneck
from ...certificates import prices as by_prices
from ...model.allocation import Allocation
from ...model.arrays import LARGEST, SMALLEST
from ...model.evidence import BottleneckEvidence
from ...model.instance import Instance
from ...model.policies import AnyPolicy
from ..allocating import solve
from .equilibrium import clear
from .named import PoolSolution
from .pool_proofs import bottlenecks, clearing
from .pools import Batch, Pools, batch_of, quiet

__all__ = ["Solutions", "fill", "solve_many"]


FEW = 0.6
"""Part of a block that is not finished, below which the others are put aside."""

NOTHING = 1e-300
"""Stands for nothing free: a resource that nobody drains lasts for ever then, whether there is some of it or none."""


@quiet()
def fill(pools: Pools) -> np.ndarray:
    """Return the leximin tasks of every pool, (n, size), exact up to rounding; NaN where floats do not hold them."""
    rates, out = pools.rates, pools.out
    if out is not None:
        rates = np.where(out, 1.0, rates)
    per_level = pools.shares / rates
    tops = None if pools.limits is None else pools.limits * rates
    if out is not None:
        per_level[:, out] = 0
        tops = np.where(out, 0.0, np.inf if tops is None else tops)
    levels = _levels(per_level, tops)
    tasks = levels / rates
    if pools.limits is not None:
        np.copyto(tasks, pools.limits, where=levels == tops)
    if out is not None:
        tasks[out] = 0
    return tasks


def _levels(per_level: np.ndarray, tops: np.ndarray | None) -> np.ndarray:
    """Return levels (n, size) in pools of ones, of users who take `per_level` for a level of 1, up to `tops`."""
    _, n, size = per_level.shape
    rising = per_level
    free: np.ndarray | float = 1.0
    found = levels = np.zeros((n, size))
    waiting = np.ones((n, size), dtype=bool)
    places = None
    for _ in range(n):
        reach = free / rising.sum(axis=1)
        level = reach.min(axis=0)
        full = reach <= level
        met = None
        if tops is not None:
            met = waiting & (tops <= level)
            full &= ~met.any(axis=0)
            np.copyto(levels, tops, where=met)
        stopped = ((rising > 0) & full[:, None]).any(axis=0)
        np.copyto(levels, level, where=stopped)
        waiting &= ~stopped if met is None else ~(stopped | met)
        going = waiting.any(axis=0)
        if places is not None:
            found[:, places] = levels
        kept = np.flatnonzero(going)
        if not kept.size:
            return found
        if kept.size < FEW * going.size:
            places = kept if places is None else places[kept]
            per_level, levels, waiting = per_level[..., kept], levels[:, kept], waiting[:, kept]
            tops = None if tops is None else tops[:, kept]
        rising = per_level * waiting
        free = np.maximum(1 - (per_level * levels).sum(axis=1), NOTHING)
    # Every step holds somebody, unless there are numbers that floats do not hold: then there is no answer.
    levels[waiting] = np.nan
    if places is not None:
        found[:, places] = levels
    return found


POOLS, ENTRIES = 8_192, 131_072
"""Most pools, and most demands, in a block: arrays of it stay in the cache, and a call of numpy is worth its price."""


CLOSE = 1e-12
"""Relative error of levels that a batch promises."""


@dataclass(frozen=True, eq=False)
class Solutions(Result):
    """Proven allocations of a batch of pools; a row is what `solve` returns for the pool, ``solutions[3]`` one of them.

    Attributes
    ----------
    policy : str
    users, resources : tuples of str (n,) and (m,)
        Of every pool; u1, u2 ... and r1, r2 ... where nothing named them.
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

    _schema = "drfopt batch 1"
    _rows = "pools"

    policy: str
    users: tuple[str, ...]
    resources: tuple[str, ...]
    tasks: np.ndarray
    levels: np.ndarray
    prices: np.ndarray | None
    unplaced: np.ndarray
    violation: np.ndarray
    gap: np.ndarray
    singly: np.ndarray

    def __len__(self) -> int:
        return len(self.tasks)

    def named(self) -> Parts:
        """Return the allocation of each pool, by its number from 0, each made when it is asked for."""
        return Parts(range(len(self)), self._pool)

    def _pool(self, b: int) -> PoolSolution:
        return PoolSolution(
            b,
            self.policy,
            self.users,
            self.resources,
            self.tasks[b],
            self.levels[b],
            None if self.prices is None else self.prices[b],
            self.unplaced[b],
            float(self.violation[b]),
            float(self.gap[b]),
            bool(self.singly[b]),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the policy and every pool's allocation as plain data."""
        return {
            "schema": self._schema,
            "policy": self.policy,
            "pools": [found.to_dict() for found in self.named().values()],
        }

    def to_frame(self) -> Any:
        """Return a pandas frame, one row a pool and user. Needs pandas (``pip install drfopt[frame]``)."""
        import pandas

        index = pandas.MultiIndex.from_product([range(len(self)), self.users], names=["pool", "user"])
        flat = {"tasks": self.tasks.ravel(), "level": self.levels.ravel(), "unplaced": self.unplaced.ravel()}
        return pandas.DataFrame(flat, index=index)

    def sheet(self) -> Sheet:
        """Return the table: a row a pool."""
        lowest, highest = self.levels.min(axis=1).tolist(), self.levels.max(axis=1).tolist()
        columns = tuple(
            Column(heading, number=True)
            for heading in ("pool", "tasks", "lowest level", "highest level", "violation", "gap")
        )
        totals = self.tasks.sum(axis=1).tolist()
        rows = list(
            zip(range(len(self)), totals, lowest, highest, self.violation.tolist(), self.gap.tolist(), strict=True)
        )
        alone = int(self.singly.sum())
        notes = (f"{alone} of {len(self)} were finished one by one",) if alone else ()
        pools, users = counted(len(self), "pool"), counted(len(self.users), "user")
        size = f"{pools} of {users} and {counted(len(self.resources), 'resource')}"
        return Sheet(f"{self.policy}: {size}", columns, rows, notes, document=self.to_dict)


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
        users=batch.users,
        resources=batch.resources,
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
            near = proof.valid and proof.proof(BottleneckEvidence).error <= CLOSE
            violation[index] = proof.violation if near else np.inf
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
