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

Nothing of this is lost where A and F are taken smaller than they are, or N larger.  Rounding is an estimate, of sums
whose errors grow with the root of their length; all else is a bound.

Leximin on every class of machines by itself, `certify_servers`: each class is a pool, and has the certificate of one;
where users are served in tiers, or rise in groups, that is its stops.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import itemgetter
from types import MappingProxyType

import numpy as np

from ..base.partitions import Partitions
from ..base.tolerances import CAPACITY, LEVEL
from ..model.certificate import Certificate
from ..model.evidence import BottleneckEvidence, EachStopsEvidence, Evidence
from ..model.hierarchy import Breakpoint, Clock
from ..model.instance import Instance
from ..model.policies import Policy
from ..model.single_machines import ON_EACH, pool_of
from . import stops
from .exact import certify_filling
from .feasibility import infeasibility
from .holders import FirstLook, Holders, Tops, together
from .marks import EPSILON, SAME, Marks, SetSums

__all__ = ["certify", "certify_parts", "certify_servers"]

TIED = 10
"""Resources that run out at one level up to which users are told apart by the set of them they use."""


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
    short, user : float, (int, int)
        Who misses most of her conditions, by part and number: of what she uses, the lowest mark is the best for her.
    sets : SetSums or None
        The sums that said so, where users were not looked at a second time.
    """

    marks: Marks
    at: np.ndarray
    free: np.ndarray
    near: np.ndarray
    needed: np.ndarray
    unclear: bool
    short: float
    user: tuple[int, int]
    sets: SetSums | None = None


def certify(instance: Instance, policy: Policy, tasks: np.ndarray, rates: np.ndarray | None = None) -> Certificate:
    """Return the bottleneck certificate of tasks (n,) in a pool; ``evidence.error`` bounds that of every level.

    `rates` are those of the policy, (n,), where they have been computed before.  Two passes over the users, block by
    block, and further ones only where resources run out at one level, or the bound fails: beside the instance and the
    tasks the proof needs next to no memory.
    """
    with np.errstate(all="ignore"):
        users = Holders(instance, policy.rates(instance) if rates is None else rates, tasks)
        return certify_parts(
            Partitions([users]),
            instance.capacity,
            instance.resources,
            instance.n,
            lambda part, i: f"user {instance.users[i]!r}",
            "exact=True computes in fractions",
            lambda tops: partial(users.bottlenecks, tops),
        )


def certify_parts(
    parts: Partitions,
    capacity: np.ndarray,
    resources: Sequence[str],
    n: int,
    called: Callable[[int, int], str],
    remedy: str,
    stopped: Callable[[Tops], Callable[[], tuple]] = lambda tops: tuple,
    seen: list[FirstLook] | None = None,
) -> Certificate:
    """Return the certificate of what users hold who lie in parts: sums over them, whatever their number.

    Parameters
    ----------
    parts : Partitions of Holders
    capacity, resources : array and names (m,)
    n : int
        Users of all parts.
    called : callable
        What a user is called, from the number of its part and its own there.
    remedy : str
        What helps where floats do not prove enough.
    stopped : callable
        Returns the certificate's ``stopped_by``.
    seen : list of FirstLook, optional
        What the first look at each part found, where it has been taken before.
    """
    proof = _Proof(parts, capacity, n)
    with np.errstate(all="ignore"):
        seen = parts.each(Holders.seen, what="proof") if seen is None else seen
        infeasible, reason = proof.possible(seen, resources)
        if not np.isfinite(infeasible):
            return Certificate(kind="bottleneck", valid=False, violation=infeasible, reason=reason)
        tops, missed, (part, i), error = proof.examined(seen, infeasible)
    violation = max(missed, infeasible)
    valid = bool(infeasible <= CAPACITY and violation <= LEVEL and error <= LEVEL)
    if not reason and not valid:
        reason = (
            f"{called(part, i)} has no bottleneck and is not at its limit: "
            f"its level could rise by {missed:.1e} of it ({remedy})"
            if missed > LEVEL
            else f"floats prove its levels to {error:.1e} only ({remedy})"
        )
    return Certificate(
        kind="bottleneck",
        valid=valid,
        violation=violation,
        stopped_by=stopped(tops),
        evidence=BottleneckEvidence(error=float(error)),
        reason=reason,
    )


class _Proof:
    """The proof of a pool whose users lie in parts: what the sums of all parts say."""

    def __init__(self, parts: Partitions, capacity: np.ndarray, n: int):
        self.parts, self.capacity, self.n = parts, capacity, n
        self.used = np.zeros(len(capacity))

    def possible(self, seen: list[FirstLook], resources: Sequence[str]) -> tuple[float, str]:
        """Return the largest relative amount by which a limit or a capacity is broken, and which one, in words."""
        self.used = reduce(np.add, [part.used for part in seen])
        infeasible, reason = max(((part.infeasible, part.reason) for part in seen), key=itemgetter(0))
        over = np.divide(
            self.used - self.capacity,
            self.capacity,
            where=self.capacity > 0,
            out=np.where(self.used > 0, np.inf, 0.0),
        )
        j = int(over.argmax())
        if over[j] > infeasible:
            infeasible, reason = float(over[j]), ""
            if infeasible > CAPACITY:
                reason = f"capacity of {resources[j]!r} is exceeded by {infeasible:.1e} of it"
        return infeasible, reason

    def examined(self, seen: list[FirstLook], infeasible: float) -> tuple[Tops, float, tuple[int, int], float]:
        """Return the tops, what is missed of the conditions at most and by whom, and a bound of the levels' error."""
        capacity = self.capacity
        highest = reduce(np.maximum, [part.highest for part in seen])
        in_range = all(part.in_range for part in seen)
        unused = capacity - self.used
        hidden = (SAME + math.sqrt(self.n) / 4) * EPSILON
        full = (np.abs(unused) <= LEVEL * capacity) & (capacity > 0) & (highest > 0)
        window = SAME * EPSILON + infeasible
        holdings = self._holdings(highest, full, window, reduce(_added, [part.by_set for part in seen]))
        rise, missed, error = self._bounded(holdings, unused, hidden)
        if holdings.sets is not None and not max(missed, error) <= LEVEL:
            holdings = self._holdings(highest, full, window)
            rise, missed, error = self._bounded(holdings, unused, hidden)
        tops, short, user = Tops(highest, rise), holdings.short, holdings.user
        missed = max(missed, short)
        if window < short <= LEVEL:
            # A solver's levels are equal to its own tolerance only.
            holdings = self._holdings(highest, full, 2 * short)
            error = self._bounded(holdings, unused, hidden)[-1]
        if missed <= LEVEL < error:
            unused[full] = self._unused(np.flatnonzero(full))
            error = self._bounded(holdings, unused, SAME * EPSILON)[-1]
        if missed > LEVEL:
            # Seldom, and then the reader wants to know by how much: every resource counts, saturated or not.
            tops = Tops(highest, self._rises(highest, np.abs(unused)))
            closer = self.parts.each(Holders.closer, tops, what="proof")
            part = max(range(len(closer)), key=lambda q: closer[q])
            missed, user = closer[part][0], (part, closer[part][1])
        return tops, missed, user, error if in_range else np.inf

    def _holdings(self, highest: np.ndarray, full: np.ndarray, window: float, sums: SetSums | None = None) -> _Holdings:
        """Return what is held at the marks of the full resources: by sums, where these tell, or else in one pass."""
        marks = Marks.of_tops(highest, full, window)
        inverse = np.divide(1, highest, where=full, out=np.zeros(len(highest)))[:, None]
        if sums is not None and (found := sums.at(marks, inverse)) is not None:
            at, free, near, needed, unclear, short = found
            return _Holdings(marks, at, free, near, needed, bool(unclear.any()), short, (0, 0), sums)
        parts = self.parts.each(Holders.held, marks, inverse, what="proof")
        at, free, near, needed, unclear, short, i, part = together([(*found, -q) for q, found in enumerate(parts)])
        return _Holdings(marks, at, free, near, needed, bool(unclear.any()), short, (-part, i))

    def _bounded(self, holdings: _Holdings, unused: np.ndarray, hidden: float) -> tuple[np.ndarray, float, float]:
        """Return how far the tops could rise (m,), what that makes missed at most, and the bound of the theorem."""
        marks, at, free, near = holdings.marks, holdings.at, holdings.free, holdings.near
        missed, window = 0.0, marks.window
        slack = np.abs(unused)
        rest = slack + hidden * self.capacity
        rise = np.full(len(self.capacity), np.inf)
        js = np.flatnonzero(marks.of >= 0)
        rise[js] = slack[js] / at[js, marks.of[js]]
        up, down = np.zeros(len(marks.low)), np.zeros(len(marks.low))
        for g in range(len(up)):
            later = js[marks.of[js] >= g]
            carried = (free[later, :g] - free[later, 1 : g + 1]) @ up[:g]
            down[g] = float(((rest[later] + carried) / at[later, g]).max()) + window
            tied = self._tied(marks, at, later, g)
            needed = holdings.needed[g]
            held = free[tied][:, [g] if needed else []] if len(tied) == 1 else self._by_pattern(holdings, tied, g)
            if held.size:
                # Of the resources of a pattern, the one that says most.
                missed = max(missed, float((slack[tied, None] / held).min(axis=0).max()))
                lost = rest[tied] + near[tied, :g] @ down[:g]
                found = (lost[:, None] + np.maximum(near[tied, g, None] - held, 0) * down[g]) / held
                up[g] = float(found.min(axis=0).max()) + window
        error = float(max(up.max(initial=window), down.max(initial=0.0)))
        return rise, missed, np.inf if holdings.unclear or holdings.short > window else error

    def _tied(self, marks: Marks, at: np.ndarray, later: np.ndarray, g: int) -> np.ndarray:
        """Return which of the full resources of a mark and later ones may run out before those who meet it stop."""
        reached = 1 - marks.low[g] * (1 + 2 * LEVEL) / marks.least
        certain = (at[later, g + 1 :] * reached[g + 1 :]).max(axis=1, initial=0.0)
        return later[(marks.of[later] == g) | (certain <= 2 * LEVEL * self.capacity[later])]

    def _by_pattern(self, holdings: _Holdings, tied: np.ndarray, g: int) -> np.ndarray:
        """Return F of the tied resources, by the patterns of those who need the mark, (tied, patterns)."""
        if len(tied) > TIED:
            return np.zeros((len(tied), 1))
        marks, sets = holdings.marks, holdings.sets
        if sets is not None:
            parts = [sets.by_pattern(marks, tied, g)]
        else:
            parts = self.parts.each(Holders.by_pattern, marks, tied, g, what="proof")
        held, needed = np.sum([part for part, _ in parts], axis=0), np.any([part for _, part in parts], axis=0)
        codes, bits = np.arange(1 << len(tied)), np.arange(len(tied))[:, None]
        own = ((codes >> bits) & 1 == 1) & (marks.of[tied] == g)[:, None]
        some = np.flatnonzero(needed & own.any(axis=0))
        within = (codes[:, None] & ~codes[some]) == 0
        return np.where(own[:, some], held @ within, 0.0)

    def _unused(self, js: np.ndarray) -> np.ndarray:
        """Return what floats leave of some resources (r,), rounded once: of each part come a sum and its error."""
        parts = np.array(self.parts.each(Holders.exactly_used, js, what="proof"))
        rooms = self.capacity[js].tolist()
        return np.array([math.fsum((room, *(-parts[..., r]).flat)) for r, room in enumerate(rooms)])

    def _rises(self, highest: np.ndarray, slack: np.ndarray) -> np.ndarray:
        """Return how far the tops of all resources could rise in what is unused, relative to them, (m,)."""
        held = np.sum(self.parts.each(Holders.at_the_top, highest * (1 - LEVEL), what="proof"), axis=0)
        used = (held > 0) & (highest > 0) & (self.capacity > 0)
        return np.divide(slack, held, where=used, out=np.full(len(highest), np.inf))


def _added(one: SetSums | None, other: SetSums | None) -> SetSums | None:
    return None if one is None or other is None else one + other


def certify_servers(
    instance: Instance,
    tasks: np.ndarray,
    placement: np.ndarray | None,
    given: Mapping[int, tuple[Breakpoint, ...]] = MappingProxyType({}),
) -> Certificate:
    """Return the certificate of tasks (n,), placed as (n, k): the worst of the classes'; of fractions in fractions.

    `given` are the stops of the clock on each class, where rules say who rises with whom and after whom.
    """
    exact = tasks.dtype == object
    if placement is None:
        return certify_filling(instance, ON_EACH, tasks) if exact else certify(instance, ON_EACH, tasks)
    if exact:
        fine = (placement.sum(axis=1) == tasks).all() and not placement[~instance.fits].any() and (placement >= 0).all()
        violation, reason = (0.0, "") if fine else (float("inf"), "tasks are not those placed where they fit")
    else:
        violation, reason = infeasibility(instance, tasks, placement)
    valid = violation <= CAPACITY
    for k in np.flatnonzero(instance.fits.any(axis=0)).tolist():
        users = np.flatnonzero(instance.fits[:, k])
        pool = pool_of(instance, users, k, exact)
        rules = pool.organisation
        if rules is None or rules.only_excludes:
            one = (certify_filling if exact else certify)(pool, ON_EACH, placement[users, k])
        else:
            one = stops.certify(Clock(pool, ON_EACH, exact=exact), placement[users, k], None, given.get(k, ()))
        if not one.valid and not reason:
            reason = f"on {instance.machine_names[k]!r}, whose users are {users.tolist()}: {one.reason}"
        violation, valid = max(violation, one.violation), valid and bool(one.valid)
    evidence = EachStopsEvidence(classes=given) if given else Evidence()
    return Certificate(kind="bottleneck", valid=valid, violation=violation, reason=reason, evidence=evidence)
