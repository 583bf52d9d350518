"""Leximin in one pool: everybody is at her limit or has a bottleneck, and what floats missed moves no level far.

A bottleneck of a user is a saturated resource that she uses and on which no other user of it has a higher level.
An allocation is max-min fair exactly when every placed user is at her limit or has one (Bertsekas and Gallager,
Data Networks, 1992, section 6.5.2, for one resource a link; Ghodsi et al., NSDI 2011, for dominant shares).

In floats that holds nearly only, and a condition nearly met is not a level nearly right: what thousands missed of
a resource together may be many times what one small user holds of it.  So the certificate bounds the levels themselves.

Theorem.  Let t_i be the levels found and T_i the true ones, h_j the highest level found on resource j, and

    full       resources of which at most 1e-9 is unused; s_j what is unused, or used too much, and what rounding hides
    marks      the different h_j of full resources, ascending, g for short; w how far below the lowest mark of her full
               resources somebody is who is not at her limit, relative to it
    A_jg       what users at levels of at least mark g hold of j; R_jg those of them who are not at their limits
    N_jg       what users hold of j who are at mark g or at most 2e-9 below it
    tied       full resources that g's users might meet elsewhere before: those of mark g and of higher ones whose
               A_jg' (1 - mark g / mark g') is no more than 2e-9 of j; a user's set of these is her pattern p
    F_pj       what users at mark g hold of j who are not at their limits and whose patterns lie within p

    down_g  =  max over full j, h_j >= mark g, of  (s_j + sum over g' < g of (R_jg' - R_j,g'+1) up_g') / A_jg   + w
    up_gp   =  min over j in p, h_j = mark g, of
                             (s_j + sum over g' < g of N_jg' down_g' + (N_jg - F_pj) down_g) / F_pj             + w
    up_g    =  max over patterns p of users at mark g who are below their limits.

If these are at most 1e-9, then T_i <= t_i exp(up_g) for users at mark g who are not at their limits, and
T_i >= t_i exp(-down_g) for those near it; all other levels are right.

Proof.  Let all levels rise by the clock of progressive filling, whose levels are the T, and take the first moment at
which somebody leaves these bounds.  (a) User i stops at T_i < t_i, so below her limit, on a resource j that is used up
then; let g be the first mark from t_i on.  All users of j have T <= T_i.  Who has T > t is below t_i, not at her limit,
and inside her bounds: all of these together have at most sum (R_jg' - R_j,g'+1) up_g' more than was found.  Everybody
at mark g or above, A_jg at least, has less, by the factor T_i / mark g or a smaller one.  As j is full in both
divisions but for s_j, T_i is at least mark g exp(-down_g): so i is near the mark, and inside her bounds.  (b) User i
still rises at t_i exp(up_g) =: z.  Take the j of her pattern; nobody had more than mark g of it.  Who stopped short of
what was found did so near a mark, by down_g' at most.  Who is in F_pj has not stopped: she is not at her limit, and
whatever else stopped her would be full before z, so be tied and in her pattern, thus in p, and would have stopped i
too.  So these hold exp(up_g - w) times what was found, and with the others more than there is of j.

Rounding is an estimate, of sums whose errors grow with the root of their length; all else is a bound.
"""

import math
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np

from ..base.tolerances import CAPACITY, LEVEL
from ..model.allocation import Certificate
from ..model.arrays import columns, in_blocks, in_mid_range
from ..model.instance import Instance
from ..model.policies import Policy
from .feasibility import infeasibility

__all__ = ["certify"]

ROUNDING = float(np.finfo(np.float64).eps)
"""Relative: of a level it counts `SAME` times, of a sum of n products a quarter of the root of n times more."""

SAME = 16
"""Roundings by which equal levels may differ: those of shares, of their sum, of a weight, and of the tasks."""

TIED = 10
"""Resources that run out at one level up to which users are told apart by the set of them they use."""

HUGE = 1e300
"""Times any positive demand this is above any level, so that the smaller of both is a user's level where she demands
something, and 0 elsewhere; two operations on floats, where a product with yes or no is slower."""

HALVES = 2.0**27 + 1
"""Splits a float into two of half its digits, whose products have no rounding (Dekker 1971)."""


@dataclass(frozen=True)
class Tops:
    """The highest level on each resource (m,), and how far it could still rise in what is unused, relative to it (m,).

    A resource that nobody uses has a top of 0; one that is not full could rise for ever.
    """

    level: np.ndarray
    rise: np.ndarray


@dataclass(frozen=True)
class _Marks:
    """The levels at which full resources run out, ascending.

    Attributes
    ----------
    low, high : arrays (g,)
        The levels that are one mark to rounding.
    of : int array (m,)
        The mark of each resource, -1 where it is not full.
    window : float
        How far levels may be below their marks, relative to them.
    """

    low: np.ndarray
    high: np.ndarray
    of: np.ndarray
    window: float

    @classmethod
    def of_tops(cls, highest: np.ndarray, full: np.ndarray, window: float) -> "_Marks":
        """Return the marks of tops (m,)."""
        order = np.flatnonzero(full)[np.argsort(highest[full], kind="stable")]
        tops, of = highest[order], np.full(len(highest), -1)
        first = np.append(True, tops[1:] > tops[:-1] * (1 + window))[: len(tops)]
        of[order] = np.cumsum(first) - 1
        last = np.append(first[1:], True)[: len(tops)]
        return cls(tops[first], tops[last], of, window)

    @property
    def least(self) -> np.ndarray:
        """The least levels that count as at the marks, (g,)."""
        return self.low * (1 - self.window)


@dataclass(frozen=True)
class _Holdings:
    """What is held at the marks.

    Attributes
    ----------
    at, free, near : arrays (m, g)
        What users hold at the marks and above, how much of it below their limits, and what they hold near the marks.
    needed : bool array (g,)
        Whether somebody at the mark is below her limit.
    unclear : bool
        Whether somebody is so little below that rounding might decide.
    short, user : float, int
        Who misses most of her conditions: of what she uses, the lowest mark is the best for her.
    """

    marks: _Marks
    at: np.ndarray
    free: np.ndarray
    near: np.ndarray
    needed: np.ndarray
    unclear: bool
    short: float
    user: int


def certify(instance: Instance, policy: Policy, tasks: np.ndarray, rates: np.ndarray | None = None) -> Certificate:
    """Return the bottleneck certificate of tasks (n,) in a pool; ``evidence["error"]`` bounds that of every level.

    `rates` are those of the policy, (n,), where they have been computed before.  Two passes over the users, block by
    block, and further ones only where resources run out at one level, or the bound fails: beside the instance and the
    tasks the proof needs next to no memory.
    """
    infeasible, reason = infeasibility(instance, tasks, None)
    if not np.isfinite(infeasible):
        return Certificate(kind="bottleneck", valid=False, violation=infeasible, reason=reason)
    with np.errstate(all="ignore"):
        rates = policy.rates(instance) if rates is None else rates
        users = _Users(instance, rates, tasks, infeasible)
        tops, missed, i, error = users.examined()
    violation = max(missed, infeasible)
    valid = bool(infeasible <= CAPACITY and violation <= LEVEL and error <= LEVEL)
    if not reason and not valid:
        reason = (
            f"user {instance.users[i]!r} has no bottleneck and is not at its limit: "
            f"its level could rise by {missed:.1e} of it (exact=True computes in fractions)"
            if missed > LEVEL
            else f"floats prove its levels to {error:.1e} only (exact=True computes in fractions)"
        )
    return Certificate(
        kind="bottleneck",
        valid=valid,
        violation=violation,
        stopped_by=partial(users.bottlenecks, tops),
        evidence={"error": float(error)},
        reason=reason,
    )


class _Users:
    """An instance and tasks (n,), looked at block by block; blocks are columns of the table of demands, (m, rows)."""

    def __init__(self, instance: Instance, rates: np.ndarray, tasks: np.ndarray, infeasible: float):
        self.instance, self.rates, self.tasks, self.infeasible = instance, rates, tasks, infeasible
        unplaced = instance.unplaced()
        self.unplaced = unplaced if unplaced.any() else None

    def levels(self, rows: slice) -> np.ndarray:
        return self.rates[rows] * self.tasks[rows]

    def examined(self) -> tuple[Tops, float, int, float]:
        """Return the tops, what is missed of the conditions at most and by whom, and a bound of the levels' error."""
        instance = self.instance
        highest, in_range = zip(*in_blocks(instance.n, self._highest), strict=True)
        highest = np.max(highest, axis=0)
        unused = instance.capacity - self.tasks @ instance.demands
        hidden = (SAME + math.sqrt(instance.n) / 4) * ROUNDING
        full = (np.abs(unused) <= LEVEL * instance.capacity) & (instance.capacity > 0) & (highest > 0)
        window = SAME * ROUNDING + self.infeasible
        holdings = self._holdings(highest, full, window)
        rise, missed, error = self._bounded(holdings, unused, hidden)
        tops, short, i = Tops(highest, rise), holdings.short, holdings.user
        missed = max(missed, short)
        if window < short <= LEVEL:
            # A solver's levels are equal to its own tolerance only.
            holdings = self._holdings(highest, full, 2 * short)
            error = self._bounded(holdings, unused, hidden)[-1]
        if missed <= LEVEL < error:
            unused[full] = _unused(instance, self.tasks, np.flatnonzero(full))
            error = self._bounded(holdings, unused, SAME * ROUNDING)[-1]
        if missed > LEVEL:
            # Seldom, and then the reader wants to know by how much: every resource counts, saturated or not.
            tops = Tops(highest, self._rises(highest, np.abs(unused)))
            missed, i = max(in_blocks(instance.n, lambda rows: self._closer(rows, tops)))
        return tops, missed, i, error if all(in_range) and instance.mid_range else np.inf

    def _highest(self, rows: slice) -> tuple[np.ndarray, bool]:
        """Return the highest level on each resource among some users, (m,), and whether floats hold what they have."""
        block, levels = columns(self.instance.demands, rows), self.levels(rows)
        in_range = in_mid_range(levels) and in_mid_range(self.tasks[rows]) and in_mid_range(self.rates[rows])
        return np.minimum(block * HUGE, levels).max(axis=1), in_range

    def _holdings(self, highest: np.ndarray, full: np.ndarray, window: float) -> _Holdings:
        """Return what is held at the marks of the full resources, in one pass."""
        marks = _Marks.of_tops(highest, full, window)
        inverse = np.divide(1, highest, where=full, out=np.zeros(self.instance.m))[:, None]
        parts = in_blocks(self.instance.n, partial(self._look, marks, inverse))
        at, free, near = (np.sum([part[q] for part in parts], axis=0) for q in range(3))
        needed, unclear = (np.any([part[q] for part in parts], axis=0) for q in (3, 4))
        return _Holdings(
            marks,
            at,
            free,
            near,
            needed,
            bool(unclear.any()),
            *max(part[5:] for part in parts),
        )

    def _bounded(self, holdings: _Holdings, unused: np.ndarray, hidden: float) -> tuple[np.ndarray, float, float]:
        """Return how far the tops could rise (m,), what that makes missed at most, and the bound of the theorem."""
        instance, marks, at, free, near = self.instance, holdings.marks, holdings.at, holdings.free, holdings.near
        missed, window = 0.0, marks.window
        slack = np.abs(unused)
        rest = slack + hidden * instance.capacity
        rise = np.full(instance.m, np.inf)
        js = np.flatnonzero(marks.of >= 0)
        rise[js] = slack[js] / at[js, marks.of[js]]
        up, down = np.zeros(len(marks.low)), np.zeros(len(marks.low))
        for g in range(len(up)):
            later = js[marks.of[js] >= g]
            carried = (free[later, :g] - free[later, 1 : g + 1]) @ up[:g]
            down[g] = float(((rest[later] + carried) / at[later, g]).max()) + window
            tied = self._tied(marks, at, later, g)
            needed = holdings.needed[g]
            held = free[tied][:, [g] if needed else []] if len(tied) == 1 else self._by_pattern(marks, tied, g)
            if held.size:
                # Of the resources of a pattern, the one that says most.
                missed = max(missed, float((slack[tied, None] / held).min(axis=0).max()))
                lost = rest[tied] + near[tied, :g] @ down[:g]
                found = (lost[:, None] + np.maximum(near[tied, g, None] - held, 0) * down[g]) / held
                up[g] = float(found.min(axis=0).max()) + window
        error = float(max(up.max(initial=window), down.max(initial=0.0)))
        return rise, missed, np.inf if holdings.unclear or holdings.short > window else error

    def _look(self, marks: _Marks, inverse: np.ndarray, rows: slice) -> tuple:
        """Look at some users: what they hold, as `_Holdings` has it."""
        block, levels, tasks = columns(self.instance.demands, rows), self.levels(rows), self.tasks[rows]
        bound = ((block > 0) * inverse).max(axis=0)
        none = bound == 0
        bound *= levels
        np.subtract(1, bound, out=bound)
        bound[none] = np.inf
        short = self._short_of_limit(rows)
        if short is not None:
            np.minimum(bound, short, out=bound)
        i = int(bound.argmax())
        above = levels >= marks.least[:, None]
        if short is None:
            # Without limits everybody is at the first mark or above: what that holds is all that is used.
            at = np.column_stack([block @ tasks, _held(block, tasks, above[1:])])
            near = at.copy()
            near[:, :-1] -= at[:, 1:]
            everybody = np.ones(len(marks.low), dtype=bool)
            return at, at, near, everybody, ~everybody, float(bound[i]), rows.start + i
        stops = short <= marks.window
        below = levels <= (marks.high * (1 + marks.window))[:, None]
        close = below & (levels >= (marks.low * (1 - 2 * LEVEL))[:, None])
        at, near, stuck = (_held(block, tasks, some) for some in (above, close, above & stops))
        free = above & below & ~stops
        needed, unclear = free.any(axis=1), (free & (short <= 2 * LEVEL)).any(axis=1)
        return at, at - stuck, near, needed, unclear, float(bound[i]), rows.start + i

    def _tied(self, marks: _Marks, at: np.ndarray, later: np.ndarray, g: int) -> np.ndarray:
        """Return which of the full resources of a mark and later ones may run out before those who meet it stop."""
        reached = 1 - marks.low[g] * (1 + 2 * LEVEL) / marks.least
        certain = np.array([np.max(at[j] * reached, where=np.arange(len(reached)) > g, initial=0.0) for j in later])
        return later[(marks.of[later] == g) | (certain <= 2 * LEVEL * self.instance.capacity[later])]

    def _by_pattern(self, marks: _Marks, tied: np.ndarray, g: int) -> np.ndarray:
        """Return F of the tied resources, by the patterns of those who need the mark, (tied, patterns)."""
        if len(tied) > TIED:
            return np.zeros((len(tied), 1))
        size, bits = 1 << len(tied), np.arange(len(tied))[:, None]

        def look(rows: slice) -> tuple[np.ndarray, np.ndarray]:
            block, levels = columns(self.instance.demands, rows)[tied], self.levels(rows)
            free = levels >= marks.least[g]
            needs = free & (levels <= marks.high[g])
            short = self._short_of_limit(rows)
            if short is not None:
                free, needs = free & (short > marks.window), needs & (short > marks.window)
            pattern = ((block > 0) << bits).sum(axis=0)
            tasks = self.tasks[rows] * free
            held = [np.bincount(pattern, weights=row * tasks, minlength=size) for row in block]
            return np.array(held), np.bincount(pattern[needs], minlength=size) > 0

        parts = in_blocks(self.instance.n, look)
        held, needed = np.sum([part for part, _ in parts], axis=0), np.any([part for _, part in parts], axis=0)
        codes = np.arange(size)
        own = ((codes >> bits) & 1 == 1) & (marks.of[tied] == g)[:, None]
        within = (codes[:, None] & ~codes) == 0
        return np.where(own, held @ within, 0.0)[:, needed & own.any(axis=0)]

    def _rises(self, highest: np.ndarray, slack: np.ndarray) -> np.ndarray:
        """Return how far the tops of all resources could rise in what is unused, relative to them, (m,)."""
        instance = self.instance
        nearly = highest * (1 - LEVEL)

        def look(rows: slice) -> np.ndarray:
            block, levels, tasks = columns(instance.demands, rows), self.levels(rows), self.tasks[rows]
            return np.array([row @ (tasks * (levels >= top)) for row, top in zip(block, nearly, strict=True)])

        held = np.sum(in_blocks(instance.n, look), axis=0)
        used = (held > 0) & (highest > 0) & (instance.capacity > 0)
        return np.divide(slack, held, where=used, out=np.full(instance.m, np.inf))

    def _closer(self, rows: slice, tops: Tops) -> tuple[float, int]:
        """Return the largest violation of some users, and whose it is, with every resource of theirs looked at."""
        found = _deficits(columns(self.instance.demands, rows), self.levels(rows), tops).min(axis=0)
        short = self._short_of_limit(rows)
        if short is not None:
            np.minimum(found, short, out=found)
        i = int(found.argmax())
        return float(found[i]), rows.start + i

    def bottlenecks(self, tops: Tops) -> tuple[str | None, ...]:
        """Return the bottleneck of each user, None at her limit; made only when somebody asks."""
        resources = self.instance.resources

        def look(rows: slice) -> list[str | None]:
            deficits = _deficits(columns(self.instance.demands, rows), self.levels(rows), tops)
            names: list[str | None] = [resources[j] for j in deficits.argmin(axis=0).tolist()]
            short = self._short_of_limit(rows)
            if short is not None:
                for i in np.flatnonzero(short <= np.minimum(deficits.min(axis=0), LEVEL)).tolist():
                    names[i] = None
            return names

        return tuple(chain.from_iterable(in_blocks(self.instance.n, look)))

    def _short_of_limit(self, rows: slice) -> np.ndarray | None:
        """Return how far users are below their limits, relative to them: inf without one; None where nobody has one.

        Who is unplaced and has nothing is where she must be.
        """
        if not self.instance.limited and self.unplaced is None:
            return None
        limits, tasks = self.instance.limits[rows], self.tasks[rows]
        limited = (limits > 0) & (limits < np.inf)
        short = np.divide(tasks, limits, where=limited, out=np.zeros(len(tasks)))
        short = np.where(limited, np.maximum(1 - short, 0), np.where(limits == 0, 0.0, np.inf))
        if self.unplaced is not None:
            unplaced = self.unplaced[rows]
            short[unplaced] = np.where(tasks[unplaced] == 0, 0.0, np.inf)
        return short


def _held(block: np.ndarray, tasks: np.ndarray, some: np.ndarray) -> np.ndarray:
    """Return what some users (g, rows) hold of each resource, (m, g)."""
    return block @ (some * tasks).T


def _deficits(demands: np.ndarray, levels: np.ndarray, tops: Tops) -> np.ndarray:
    """Return how far users are from having each resource as a bottleneck, relative to its top; all (m, n)."""
    top, rise = tops.level[:, None], tops.rise[:, None]
    below = 1 - np.divide(levels, top, where=top > 0, out=np.zeros(demands.shape))
    return np.where(demands > 0, np.maximum(below, rise), np.inf)


def _unused(instance: Instance, tasks: np.ndarray, js: np.ndarray) -> np.ndarray:
    """Return what floats leave of some resources (r,), rounded once: products and sums with their errors."""

    def look(rows: slice) -> tuple[np.ndarray, np.ndarray]:
        block, done = columns(instance.demands, rows)[js], tasks[rows]
        product = block * done
        (high, low), (upper, lower) = _halves(block), _halves(done)
        error = ((high * upper - product) + high * lower + low * upper) + low * lower
        total, lost = _summed(product)
        return total, lost + error.sum(axis=1)

    parts = np.array(in_blocks(instance.n, look))
    rooms = instance.capacity[js].tolist()
    return np.array([math.fsum((room, *(-parts[..., r]).flat)) for r, room in enumerate(rooms)])


def _summed(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return sums along the second axis, and what rounding took from them: pairs are added with their error (Knuth)."""
    lost = np.zeros(len(values))
    while (half := values.shape[1] // 2) > 0:
        one, other = values[:, :half], values[:, half : 2 * half]
        both = one + other
        part = both - one
        lost += ((one - (both - part)) + (other - part)).sum(axis=1)
        values = np.concatenate([both, values[:, 2 * half :]], axis=1)
    return values.sum(axis=1), lost


def _halves(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scaled = values * HALVES
    high = scaled - (scaled - values)
    return high, values - high
