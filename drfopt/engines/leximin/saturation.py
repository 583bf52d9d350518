"""The levels at which the resources of one pool run out: all of a leximin that has to be found, in a pass or two.

With T_j the level at which resource j runs out, inf where it never does, and b_i the tasks with which user i has a
level of 1 (its pace), everybody has

    x_i = min(b_i min over the j that i uses of T_j,  u_i).

So only the m numbers T are looked for.  Once it is known who stops at a limit u, what is left are sums over the users
of each set of resources, whose filling is a matter of m steps; and who stops at a limit follows from T.  Each round
therefore takes everybody on her side of the T before, and fills again: Newton's method, for what is used of a resource
is concave and piecewise linear in the level at which it runs out, and the round is its tangent.  It ends when nobody
changes sides.

Where T is about known, from a sample, a user whose limit is far from it is on its side for good.  So one pass over
everybody adds these up and puts the few others aside, and the rounds are about those alone.  Should T turn out to be
farther away than was thought, the pass is made again.

Nothing but sums leaves a part, so users may lie anywhere.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...base.errors import SolverError
from ...base.loops import compiled
from ...base.partitions import Partitions
from ...base.tolerances import EXACT, ROUNDING
from ...model.arrays import LONG, columns, in_blocks

__all__ = ["MANY", "Rising", "Saturation", "magnification", "saturation", "tasks_at"]

SAMPLE = 1 << 15
"""Users in a sample: their levels are those of everybody to a hundredth or so."""

RUN = 64
"""Users in a row that a sample takes: cache lines are not read for one user each."""

MANY = 4 * SAMPLE
"""Users from which on a sample pays."""

PER_SET = 16
"""Users a set of resources that are added up in one go, at least: sums of all sets take time to make and to add."""

NEAR = 0.03
"""Relative distance from the levels of a sample within which a limit is looked at again, at least."""

FARTHER = 4.0
"""How many times a distance that was too short is taken for the next."""

PASSES = 12
"""Passes over everybody; one is usual, and two where a sample misleads."""

EVERYTHING = (0.0, np.inf)
"""Levels between which all are."""

ROUNDS = 100
"""Rounds after which the rounding has the word: five to ten are usual."""

LEAST = 1e-100
"""Makes nothing left something, whose digits are all lost."""

FLOAT_MAX = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class Rising:
    """Users as filling sees them.

    Attributes
    ----------
    demands : array (n, m)
    pace : array (n,)
        Tasks at a level of 1; 0 for who has no part in it.
    limits : array (n,) or None
        None where nobody has one.
    sets : int array (n,)
        The set of resources that each user needs, a bit each.
    """

    demands: np.ndarray
    pace: np.ndarray
    limits: np.ndarray | None
    sets: np.ndarray


@dataclass(frozen=True, eq=False)
class Saturation:
    """The levels (m,) at which resources run out, inf where they do not, and how certain they are.

    Attributes
    ----------
    levels : array (m,)
    magnified : float
        By what rounding was magnified, 1 or more.
    loose : array (m,)
        What there is of a resource over what was left of it for whom it stops; over what is left, if it does not.
    """

    levels: np.ndarray
    magnified: float
    loose: np.ndarray


class _Sides(NamedTuple):
    """What users take for a level of 1 by their set of resources, (2^m, m), what others hold at limits, and the rest.

    The rest are users (demands as columns, pace, limits, sets) of whom it is not known.
    """

    sums: np.ndarray
    taken: np.ndarray
    rest: tuple[np.ndarray, ...] | None


def saturation(parts: Partitions, capacity: np.ndarray, n: int, limited: bool) -> Saturation:
    """Return the saturation of a pool.

    Parameters
    ----------
    parts : Partitions of Rising
    capacity : array (m,)
    n : int
        Users of all parts.
    limited : bool
        Whether somebody has a limit.

    Raises
    ------
    SolverError
        When the rounds do not end.
    """
    if not limited:
        sums, taken, _ = _added(parts.each(_sides, *EVERYTHING, what="adding up"))
        return _filled(sums, taken, capacity)
    everywhere = (*EVERYTHING, np.zeros(len(capacity)))
    low, high, levels = _about(parts, capacity, n) if n >= MANY else everywhere
    near = NEAR
    for _ in range(PASSES):
        sides = parts.then(_sides, low, high).kept()
        sums, taken, _ = _added(sides.each(_sure, what="adding up"))
        found = _settled(sides, sums, taken, capacity, levels)
        levels = found.levels
        if not np.isfinite(found.magnified) or ((low <= levels) & (levels <= high)).all():
            return found
        # Somebody stands on the wrong side: once more, about where it leads.
        low, high = levels / (1 + near), levels * (1 + near)
        near *= FARTHER
    raise SolverError("filling a pool did not settle: take another engine, such as lp-chain")


def tasks_at(users: Rising, levels: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Write the tasks (n,) of users of a pool whose resources run out at levels (m,), and return them."""
    reach = _reaches(np.minimum(levels, FLOAT_MAX))

    def write(rows: slice) -> None:
        found = out[rows]
        np.take(reach, users.sets[rows], out=found, mode="clip")
        found *= users.pace[rows]
        if users.limits is not None:
            np.minimum(found, users.limits[rows], out=found)

    loops: Any = compiled(users.demands)
    if loops is not None:
        loops.reached(reach, users.sets, users.pace, np.empty(0) if users.limits is None else users.limits, out)
        return out
    with np.errstate(over="ignore"):
        in_blocks(len(out), write)
    return out


def sampled(users: Rising, every: int) -> Rising:
    """Return about one in so many of the users, in runs from everywhere in the list; all of them where every is 1."""
    n = len(users.pace)
    if every <= 1:
        return users
    runs = max(n // (RUN * every), 1)
    rows = (np.linspace(0, max(n - RUN, 0), runs).astype(int)[:, None] + np.arange(min(RUN, n))).ravel()
    limits = None if users.limits is None else users.limits[rows]
    return Rising(np.asfortranarray(users.demands[rows]), users.pace[rows], limits, users.sets[rows])


def _about(parts: Partitions, capacity: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return between which levels, (m,) each, resources run out, as far as a sample can tell, and at which there.

    A level is as uncertain as what is used of its resource, times what is magnified by what was used before.
    """
    found: list[Rising] = parts.each(sampled, -(-n // SAMPLE), what="taking a sample")
    some = [part.limits if part.limits is not None else np.full(len(part.pace), np.inf) for part in found]
    sample = Rising(
        np.concatenate([part.demands for part in found]),
        np.concatenate([part.pace for part in found]),
        np.concatenate(some),
        np.concatenate([part.sets for part in found]),
    )
    drawn = len(sample.pace)
    about = saturation(Partitions([sample]), capacity * (drawn / n), drawn, limited=True)
    wider = NEAR * about.loose
    runs_out = np.isfinite(about.levels)
    last = float(about.levels.max(where=runs_out, initial=0.0))
    with np.errstate(all="ignore"):
        low = np.where(runs_out, about.levels / (1 + wider), np.where(wider < 1, np.inf, last / (1 + NEAR)))
        return low, np.where(runs_out & (wider < 1), about.levels * (1 + wider), np.inf), about.levels


def _reaches(levels: np.ndarray) -> np.ndarray:
    """Return the lowest of the levels (m,) of every set of resources, (2^m,)."""
    reach = np.array([np.inf])
    for level in levels:
        reach = np.concatenate([reach, np.minimum(reach, level)])
    return reach


def _by_set(block: np.ndarray, pace: np.ndarray, word: np.ndarray) -> np.ndarray:
    """Return what users take for a level of 1, added up by their set of resources, (2^m, m)."""
    m = len(block)
    if word.size and word.min() == (only := word.max()):
        # Of users who need the same a product is the sum, and takes a tenth of the time.
        alike = np.zeros((1 << m, m))
        alike[only] = block @ pace
        return alike
    taken, size, there = np.empty(len(pace)), 1 << m, None
    if len(word) < size:
        # Only of sets that there are.
        there, word = np.unique(word, return_inverse=True)
        size = len(there)
    word = word.astype(np.intp)
    sums = np.stack(
        [np.bincount(word, weights=np.multiply(row, pace, out=taken), minlength=size) for row in block], axis=1
    )
    if there is None:
        return sums
    of_all = np.zeros((1 << m, m))
    of_all[there] = sums
    return of_all


def _sides(users: Rising, low: np.ndarray | float, high: np.ndarray | float) -> _Sides:
    """Add up who is certain to stop at a limit, or not to, when resources run out between the levels (m,)."""
    n, m = users.demands.shape
    limits = users.limits
    least, most = (_reaches(np.broadcast_to(np.minimum(levels, FLOAT_MAX), (m,))) for levels in (low, high))

    def look(rows: slice) -> tuple[np.ndarray, np.ndarray, Any]:
        block, pace, word = columns(users.demands, rows), users.pace[rows], users.sets[rows]
        if limits is None:
            return _by_set(block, pace, word), np.zeros(m), None
        mine = limits[rows]
        with np.errstate(over="ignore"):
            stopped = mine < np.take(least, word) * pace
            free = mine > np.take(most, word) * pace
        unknown = np.flatnonzero(~(stopped | free) & (pace > 0))
        # A product with yes and no is quicker than a choice, which guesses; whoever is stopped has a finite limit.
        held = block @ (np.minimum(mine, FLOAT_MAX) * stopped)
        aside = (block[:, unknown], pace[unknown], mine[unknown], word[unknown]) if unknown.size else None
        return _by_set(block, pace * free, word), held, aside

    # What users take who need the same is a product.
    alike = limits is None and n > 0 and users.sets.min() == users.sets.max()
    loops: Any = None if alike else compiled(users.demands)

    def sum_up(rows: slice) -> tuple[np.ndarray, np.ndarray, Any]:
        # The last row is what users hold at limits.
        sums = np.zeros((len(least) + 1, m))
        ends = rows.start, rows.stop
        if limits is None:
            loops.by_set(users.demands.T, users.pace, users.sets, *ends, sums)
            return sums[:-1], sums[-1], None
        unknown = loops.sides(users.demands.T, users.pace, limits, users.sets, least, most, *ends, sums)
        aside = (users.demands[unknown].T, users.pace[unknown], limits[unknown], users.sets[unknown])
        return sums[:-1], sums[-1], aside if unknown.size else None

    found = in_blocks(n, look) if loops is None else in_blocks(n, sum_up, size=max(LONG, PER_SET << m))
    rest = [aside for *_, aside in found if aside is not None]
    together = tuple(np.concatenate([aside[q] for aside in rest], axis=-1) for q in range(4)) if rest else None
    return _added([_Sides(*part[:2], None) for part in found])._replace(rest=together)


def _sure(sides: _Sides) -> _Sides:
    """Return the sums alone."""
    return sides._replace(rest=None)


def _decided(sides: _Sides, levels: np.ndarray) -> _Sides | None:
    """Add up who was put aside, where resources run out at levels (m,)."""
    if sides.rest is None:
        return None
    block, pace, limits, word = sides.rest
    with np.errstate(all="ignore"):
        stopped = limits <= np.minimum(_reaches(levels)[word] * pace, FLOAT_MAX)
    return _Sides(_by_set(block, pace * ~stopped, word), block @ np.where(stopped, limits, 0.0), None)


def _added(parts: list[_Sides]) -> _Sides:
    """Add parts up."""
    first, *more = parts
    sums, taken = first.sums.copy(), first.taken.copy()
    for part in more:
        sums += part.sums
        taken += part.taken
    return _Sides(sums, taken, None)


def _settled(
    sides: Partitions, sums: np.ndarray, taken: np.ndarray, capacity: np.ndarray, levels: np.ndarray
) -> Saturation:
    """Return the saturation when who was put aside has settled on a side, from about what levels (m,) they are."""
    found = Saturation(levels, 1.0, np.ones(len(capacity)))
    for _ in range(ROUNDS):
        more = [part for part in sides.each(_decided, found.levels, what="settling limits") if part is not None]
        last = found
        if more:
            rest = _added(more)
            found = _filled(sums + rest.sums, taken + rest.taken, capacity)
        else:
            found = _filled(sums, taken, capacity)
        if not more or not np.isfinite(found.magnified) or _moved(last.levels, found.levels) <= EXACT:
            return found
    raise SolverError("filling a pool did not settle: take another engine, such as lp-chain")


def _moved(before: np.ndarray, after: np.ndarray) -> float:
    """Return the largest relative change of levels (m,); inf where one appears or goes."""
    known = np.isfinite(before)
    if (known != np.isfinite(after)).any():
        return np.inf
    change = np.abs(after[known] - before[known])
    with np.errstate(divide="ignore"):
        return float(np.divide(change, before[known], where=change > 0, out=np.zeros(len(change))).max(initial=0.0))


def _filled(sums: np.ndarray, taken: np.ndarray, capacity: np.ndarray) -> Saturation:
    """Fill a pool with one user for each set of resources (2^m, m), of which some is taken (m,) already."""
    m = len(capacity)
    levels, loose, magnified, level = np.full(m, np.inf), np.full(m, np.inf), 1.0, 0.0
    sets = np.flatnonzero(sums.any(axis=1))
    uses, sums = ((sets[:, None] >> np.arange(m)) & 1).astype(bool), sums[sets]
    with np.errstate(all="ignore"):
        while len(sums):
            climb = sums.sum(axis=0)
            free = capacity - taken
            reach = np.divide(free, climb, where=climb > 0, out=np.full(m, np.inf))
            # Rounding may leave a resource that ran out a trace of less or more: levels never fall.
            reach = np.maximum(reach, level)
            level = float(reach.min())
            if not (np.isfinite([free, climb]).all() and level < np.inf):
                # Beyond the range of floats: rounding counts without end, and fractions decide.
                return Saturation(levels, np.inf, loose)
            magnified = max(magnified, magnification(free, climb, capacity, level))
            full = reach <= level
            first = full & ~np.isfinite(levels)
            levels[first], loose[first] = level, np.abs(capacity / free)[first]
            stopped = uses[:, full].any(axis=1)
            taken = taken + level * sums[stopped].sum(axis=0)
            uses, sums = uses[~stopped], sums[~stopped]
        left = ~np.isfinite(levels)
        loose[left] = np.abs(capacity / (capacity - taken))[left]
    return Saturation(levels, magnified, loose)


def magnification(free: np.ndarray, climb: np.ndarray, capacity: np.ndarray, level: float) -> float:
    """Return by how much rounding counts more in what is left of those resources that may be the first to run out."""
    used = climb > 0
    rounding = ROUNDING * capacity[used]
    first = free[used] - rounding <= level * climb[used]
    left = np.maximum(free[used][first], rounding[first] * LEAST)
    # Nothing may be left that floats can tell from nothing: then rounding counts without end.
    with np.errstate(divide="ignore"):
        return float((capacity[used][first] / left).max(initial=1.0))
