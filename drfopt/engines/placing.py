"""The same tasks on fewer classes of machines: a vertex of all placements of them.

Where an optimum leaves a choice, an interior point method ends in the middle of it, with a little of everybody
everywhere.  With n users and r rows of capacities a vertex has at most n + r pairs.  Nothing that a certificate speaks
of changes: everybody keeps her tasks, classes that are full stay full, and only pairs that were used are used.

With many users most are put on one class each first.  In the order of what they need, users take classes as a sequence
of low discrepancy draws them from their parts, so that what each class holds changes by a few users only; one user in
`EACH` keeps its choice, and makes good for that by conjugate gradients (`pool_placing`).  Then one in `EACH` of those,
until a program can be asked of the rest.
"""

import numpy as np

from ..base.errors import SolverError
from ..base.tolerances import CAPACITY
from ..certificates.feasibility import infeasibility
from ..model.instance import Instance

__all__ = ["fewest"]

MOST = 10_000
"""Pairs of which a program is asked at once: it takes a fraction of a second, and minutes with ten times as many."""

ALL = 2_000_000
"""Pairs of which no programs are asked, one after the other, as that takes minutes: what rounding did is all."""

EACH = 4
"""One user in so many keeps its choice when the others are put where they have most."""

PER_ROW = 2
"""Users for each row that keep their choice at least: what rounding the others does to rows is theirs to make good."""

LITTLE = 1e-9
"""Part of a user's tasks that is a solver's tolerance and not a placement."""

FINE = 1e-12
"""What a placement on few classes may exceed a capacity by, or what the one before it did, if that is more."""

BRIM = 1e-11
"""Part of a row that a full one may leave."""

SHADES = 8
"""Steps in which proportions of demands are told apart for the order."""

GOLDEN = (5**0.5 - 1) / 2
"""Multiples of it, but for whole numbers, are as evenly spread as can be."""

PRIMAL = 4
"""HiGHS's number of the primal simplex method, the fastest where every point is as good as any other."""


def fewest(
    instance: Instance, tasks: np.ndarray, placement: np.ndarray | None, room: np.ndarray | None = None
) -> np.ndarray | None:
    """Return a placement (n, k) of the same tasks (n,) on few classes; the one given, where there is no other.

    Of types (q, k) it is the sum by users, as they were placed.  `room` (k, m) is what these users may fill, where that
    is less than there is.
    """
    if placement is not None and instance.type_table is not None:
        return instance.type_table.summed(placement)
    if placement is None or placement.dtype != np.float64:
        return placement
    used = placement > LITTLE * tasks[:, None]
    several = np.flatnonzero(used.sum(axis=1) > 1)
    if not several.size:
        return placement
    try:
        given = instance.room if room is None else room
        found, several = _rounded(instance, given, tasks, placement, used, several)
        split = several[:0]
        if np.count_nonzero(used[several]) > ALL:
            several = split
        while several.size:
            # Who is left on two classes or more is asked again with the next.
            on = np.count_nonzero(found[several] > LITTLE * tasks[several, None], axis=1).cumsum()
            some = max(1, int(np.searchsorted(on, MOST, side="right")))
            here, several = np.concatenate([split, several[:some]]), several[some:]
            user, machine = np.nonzero(found[here] > LITTLE * tasks[here, None])
            found = _vertex(instance, given, tasks, found, here[user], machine)
            split = here[np.count_nonzero(found[here] > LITTLE * tasks[here, None], axis=1) > 1]
    except SolverError:
        # Rounding may leave a full class no room for what fills it; then what was proven is what there is.
        return placement
    least = max(infeasibility(instance, tasks, placement)[0], FINE)
    fits = infeasibility(instance, tasks, found)[0] <= min(least, CAPACITY)
    if room is not None:
        fits = fits and bool((found.T @ instance.demands <= room * (1 + FINE)).all())
    # What is next to nothing of a user's tasks may be all that a small class holds, whose price needs it to be full.
    before, after = (z.T @ instance.demands for z in (placement, found))
    fits = fits and not ((before >= given * (1 - BRIM)) & (after < before * (1 - LITTLE))).any()
    return found if fits else placement


def _rounded(
    instance: Instance,
    given: np.ndarray,
    tasks: np.ndarray,
    placement: np.ndarray,
    used: np.ndarray,
    several: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return a placement in which most users are on one class, and who is not, as rows of the instance.

    Of what users may be on, `used` (n, k), nothing is added; they fill what is `given` (k, m) at most.
    """
    from .pool_placing import placed

    found = placement.copy()
    room = np.maximum(given, found.T @ instance.demands)
    filled = found.T @ instance.demands
    full = filled >= room * (1 - BRIM)
    while np.count_nonzero(used[several]) > MOST:
        # Neighbours in this order need nearly the same.
        need = instance.demands[several] / instance.room.sum(axis=0)
        kind = need / need.max(axis=1, keepdims=True)
        order = several[np.lexsort((tasks[several] * need.max(axis=1), *np.round(kind.T * SHADES)))]
        stay = max(len(order) // EACH, PER_ROW * instance.room.size)
        if stay >= len(order):
            break
        keeps = np.zeros(len(order), dtype=bool)
        keeps[np.linspace(0, len(order) - 1, stay).astype(int)] = True
        chosen, kept = order[~keeps], np.sort(order[keeps])
        trial = found.copy()
        part = np.where(used[chosen], found[chosen], 0.0).cumsum(axis=1)
        draw = (np.arange(len(chosen)) * GOLDEN % 1.0) * part[:, -1]
        place = np.minimum((part <= draw[:, None]).sum(axis=1), instance.k - 1)
        trial[chosen] = 0.0
        trial[chosen, place] = tasks[chosen]
        trial[kept] = 0.0
        left = np.where(full, filled, room) - trial.T @ instance.demands
        if (left < 0).any():
            break
        owner, at = np.nonzero(used[kept])
        parts = placed(instance.demands[kept] * tasks[kept, None], left, owner, at, full, _unwatched)
        if parts is None:
            break
        trial[kept[owner], at] = parts * tasks[kept[owner]]
        found, several = trial, kept
    return found, several


def _unwatched(state: str) -> None:
    """Take no notice."""


def _vertex(
    instance: Instance,
    given: np.ndarray,
    tasks: np.ndarray,
    placement: np.ndarray,
    user: np.ndarray,
    machine: np.ndarray,
) -> np.ndarray:
    """Return a vertex of those who are on some pairs; columns are parts of a user's tasks.

    What others have is taken off the room that is given, (k, m).
    """
    from scipy import sparse

    from .linear_programs import INFINITY, load, run

    pairs = np.arange(len(user))
    need = instance.demands[user] * tasks[user, None]
    pair, resource = np.nonzero(need)
    row = machine[pair] * instance.m + resource
    present, row = np.unique(row, return_inverse=True)
    mine = np.zeros_like(placement)
    mine[user, machine] = placement[user, machine]
    room = given - (placement - mine).T @ instance.demands
    room = np.maximum(room, mine.T @ instance.demands).ravel()
    entries = need[pair, resource] / room[present][row]
    parts = sparse.csr_array((np.ones(len(user)), (user, pairs)), shape=(instance.n, len(user)))
    parts = parts[np.unique(user)]
    rows = sparse.csr_array((entries, (row, pair)), shape=(len(present), len(user)))
    highs = load(
        np.zeros(len(user)),
        np.full(len(user), INFINITY),
        sparse.vstack([parts, rows]),
        np.concatenate([np.ones(parts.shape[0]), np.full(len(present), -INFINITY)]),
        np.ones(parts.shape[0] + len(present)),
    )
    highs.setOptionValue("simplex_strategy", PRIMAL)
    part = np.maximum(run(highs, "the placement on few classes").columns, 0)
    total = np.bincount(user, weights=part, minlength=instance.n)
    table = placement - mine
    table[user, machine] = part * (tasks / np.where(total > 0, total, 1))[user]
    return table
