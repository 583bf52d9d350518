"""How many tasks each user has at least, wherever the targets are met: the targets, and what fairness gives others.

Nobody can be given much while others who could use the same machines have little.  Of a leximin of divisible tasks:

    where user l may run on some machine on which user i must be, and demands nothing that i does not,
    level(l) >= min(level(i), level of l at her limit)

for otherwise less of i on it would leave room for more of l.  She must be on one where her target is more than fits on
all machines that are closed to l.  Under tiers and in groups that is so of two siblings, directly in the same group and
of the same tier, where i has more than is promised: until one of them is finished they are at the same level, and what
one gives up the other may have under every ceiling above both.  Levels are those of the cluster after the purchase,
whose whole capacity is C: so with i at her target t_i,

    x_l  >=  min(limit of l,  level(i) at t_i / level of one task of l).

Which of them that is depends on the proportions of the capacities alone, so the quotients C[g] / C[j] are bounded from
below here.  A user with several types of tasks gives up some of each, and gains where each of hers can use some of it,
or may go where there is plenty (`drfopt.planning.sizing.plenty`).  Guarantees of users that all fit into the cluster as
it is are kept in every larger one, before anybody has more.  What it means for users in other groups stands in
`drfopt.planning.sizing.clock_needs`, for markets in `drfopt.planning.sizing.market_needs`, for users of a pool who need
more than i in `drfopt.planning.sizing.pool_needs`.  All of it is computed in floats and rounded down.

A share s asks for more the more there is:  x_i >= s C[g] / d[i, g]  with g the resource of which that share is.  Then
level(i) is at least s / d[i, g] times the level of a task of i, times C[g]: a number that the proportions tell.  Of all
g that it may be the least counts, and who has a level L has L C[h] over the level of a task of its own, times C[h],
for every h.  In a market tasks of others are a multiple of those of i, and so are such lines.

Whole tasks of a user with several types are the first so many of its sequence, which may need less of something than as
many average ones.  So many average ones as the type that has started least are needed in any case; where some type
does not fit yet nothing is said, for a purchase may change the sequence.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...base.errors import SolverError
from ...base.tolerances import LEVEL
from ...engines.hierarchy import stops
from ...engines.problem import Problem
from ...model.hierarchy import Clock
from ...model.instance import Instance
from ...model.policies import Policy
from .clock_needs import clock_needs, guaranteed_tasks, past_ceilings
from .market_needs import market_needs
from .pool_needs import least_where_full
from .rates import DOWN, Rates, rates_of
from .targets import Target

__all__ = ["Least", "Needs", "TaskParts", "parts_of"]

PROMISING = ("leximin", "alpha", "sum")
"""Objectives that keep guarantees before anything else."""


@dataclass(frozen=True, eq=False)
class TaskParts:
    """Tasks to be placed: of which user, how many of them a task of hers is, what one needs, and where it fits."""

    user: np.ndarray
    share: np.ndarray
    demands: np.ndarray
    fits: np.ndarray


def parts_of(instance: Instance) -> TaskParts:
    """Return users without types as one part each, users with types as one a type; a pool is one class."""
    if instance.task_types is None or instance.machines is None:
        fits = np.ones((instance.n, 1), dtype=bool) if instance.fits is None else np.array(instance.fits)
        return TaskParts(np.arange(instance.n), np.ones(instance.n), np.array(instance.demands), fits)
    user: list[int] = []
    share: list[float] = []
    demands: list[np.ndarray] = []
    places: list[np.ndarray] = []
    for i, kinds in enumerate(instance.task_types):
        if kinds is None:
            user.append(i)
            share.append(1.0)
            demands.append(instance.demands[i])
            places.append(instance.fits[i])
            continue
        total = sum(kind.count for kind in kinds)
        for kind, where in zip(kinds, instance.type_fits[i], strict=True):
            user.append(i)
            share.append(kind.count / total)
            demands.append(np.array([float(d) for d in kind.demand]))
            places.append(where)
    return TaskParts(np.array(user), np.array(share), np.array(demands), np.array(places))


@dataclass(frozen=True, eq=False)
class Least:
    """The least tasks of every user: ``tasks (n,)``, or where that is more ``slopes (n, m) @ C``.

    It is `impossible` where somebody without an end would have to come to one first, or a group to more than its
    ceiling.  `low` (m,) is the capacity that the whole cluster has at least.
    """

    tasks: np.ndarray
    slopes: np.ndarray
    impossible: bool
    low: np.ndarray

    def at(self, capacity: np.ndarray) -> np.ndarray:
        """Return the least tasks (n,) where the capacity of the whole cluster (m,) is this."""
        return np.maximum(self.tasks, self.slopes @ np.where(np.isfinite(capacity), capacity, 0.0))

    def raised(self, tasks: np.ndarray) -> "Least":
        """Return the same with at least these tasks (n,) asked for."""
        sloping = self.slopes.any(axis=1)
        return replace(self, tasks=np.where(sloping, 0.0, np.maximum(self.tasks, tasks)))


class Needs:
    """The least tasks of all users (n,) wherever a cluster meets the targets.

    Parameters
    ----------
    instance, policy, targets
    useful : array of bool (k,) or None
        Which classes may be in the cluster; None for all.
    integer : bool
        With whole tasks only the targets themselves are needed.
    fresh : bool
        Whether the cluster is built from nothing.
    free : array of bool (parts,) or None
        Which parts of tasks nothing but limits can stop, before any purchase and after; None for none.
    """

    def __init__(
        self,
        instance: Instance,
        policy: Policy,
        targets: Sequence[Target],
        useful: np.ndarray | None = None,
        integer: bool = False,
        fresh: bool = False,
        free: np.ndarray | None = None,
    ):
        self.instance, self.targets, self.fresh = instance, targets, fresh
        self.most = instance.whole_limits if integer else instance.limits
        self.limits = np.where(np.isfinite(self.most), self.most * DOWN, np.inf)
        self.typed = np.zeros(instance.n, dtype=bool)
        if integer and instance.task_types is not None:
            self.typed = np.array([kinds is not None for kinds in instance.task_types])
        self.shared = [target for target in targets if self._of_shares(target)]
        self.rates = rates_of(instance, policy)
        self.ruled = "organisation" in instance.features
        self.plain = Rates(instance.demands, False, False)
        # One pool is one server.
        leximin = policy.objective == "leximin" or (policy.objective == "servers" and instance.machines is None)
        fair = leximin and not integer
        self.who = np.array(sorted({target.user for target in targets}), dtype=int)
        self.parts, self.on_machines = parts_of(instance), instance.machines is not None
        self.free = np.zeros(len(self.parts.user), dtype=bool) if free is None else free
        stopped = np.zeros(instance.n, dtype=bool)
        stopped[self.parts.user[~self.free]] = True
        # Who is stopped by limits alone has them.
        self.own = np.where(stopped, 0.0, self.limits)
        if self.ruled and not fresh and not integer:
            self.own = np.maximum(self.own, np.minimum(_kept(instance, policy), self.limits))
        if useful is not None:
            self.parts = replace(self.parts, fits=self.parts.fits & useful)
        self.held = np.flatnonzero(np.isin(self.parts.user, self.who))
        self.clock = clock_needs(instance, policy, self.limits) if fair else None
        self.market = None if integer else market_needs(instance, policy, self.rates, self.limits)
        known = fair or self.market is not None
        self.alike = self._alike() if known else np.zeros((len(self.held), len(self.parts.user)), dtype=bool)
        self.mates, self.ceilings = _siblings(instance, self.who) & fair, past_ceilings(instance, self.who)
        self.promised = guaranteed_tasks(instance)[1]
        together = fair and not self.on_machines and self.rates is not None and bool(self.mates.all())
        self.modest = self.who[(instance.demands[self.who] == 0).any(axis=1)] if together else self.who[:0]
        self.plain_levels = (
            fair and policy.measure == "dominant" and not instance.weighted and bool(instance.counted.all())
        )

    def _of_shares(self, target: Target) -> bool:
        """Say whether it is a share or level that average tasks tell: of whole tasks of several types no share is."""
        return target.measure == "level" or (target.measure == "share" and not self.typed[target.user])

    def _alike(self) -> np.ndarray:
        """Return which part of a user with a target needs all that another part needs: bool (their parts, parts)."""
        demands, user = self.parts.demands > 0, self.parts.user
        found = np.array([~(demands & ~demands[s]).any(axis=1) for s in self.held])
        found[user[self.held][:, None] == user] = False
        return found

    def _below(self, least: np.ndarray, room: np.ndarray) -> np.ndarray:
        """Return who can use some of what every user with a target must have: bool (users with targets, n).

        Each part of hers needs a part of that user that does not fit on what it alone may use, at the target:
        ``room (k, m)`` is the most there is.
        """
        parts, taken = self.parts, self.alike
        if self.on_machines and taken.any():
            demands = parts.demands[self.held]
            alone = np.full((len(self.held), len(room)), np.inf)
            for j in range(self.instance.m):
                needs = demands[:, j] > 0
                alone[needs] = np.minimum(alone[needs], room[:, j] / demands[needs, j][:, None])
            alone[~parts.fits[self.held]] = 0.0
            with np.errstate(invalid="ignore"):
                elsewhere = np.array([np.where(parts.fits, 0.0, row).sum(axis=1) for row in alone])
            wanted = (least[parts.user] * parts.share)[self.held] * DOWN
            taken = taken & (elsewhere < wanted[:, None])
        found = np.ones((len(self.who), self.instance.n), dtype=bool)
        for row, i in enumerate(self.who):
            some = taken[parts.user[self.held] == i].any(axis=0) | self.free
            found[row, parts.user[~some]] = False
        return found

    def _floor(self, below: np.ndarray, quotients: np.ndarray) -> np.ndarray:
        """Return the level (n,) that everybody has at least, of levels that are parts of capacities."""
        found = np.zeros(self.instance.n)
        if self.rates is None or self.rates.fixed:
            return found
        row = {int(i): r for r, i in enumerate(self.who)}
        for target in self.shared:
            level, i = float(target.least) * DOWN, target.user
            if target.measure == "share":
                # With g the resource of which its share is, it has share C[g] / demand[g] tasks.
                demands, lowest = self.plain.part[i], self.rates.least(self.rates.part[[i]], quotients)[0]
                may = _largest(demands[None, :], quotients)[0]
                level *= float((lowest[may] / demands[may]).min(initial=np.inf)) if may.any() else 0.0
            reached = below[row[i]].copy()
            reached[i] = True
            found[reached] = np.maximum(found[reached], level)
        return found

    def beyond(self, low: np.ndarray) -> list[tuple[Target, float]]:
        """Return the shares and levels asked for that a user at her limit is below, each with the most she can have.

        That is in every cluster of at least the capacity ``low (m,)``: the more there is, the less is one task of it.
        """
        found = []
        for target in self.shared:
            i, rates = target.user, self.plain if target.measure == "share" else self.rates
            if rates is None or np.isinf(self.most[i]):
                continue
            rows = rates.part[[i]]
            if rates.fixed or (low[rows[0] > 0] > 0).all():
                most = float(rates.of(rows, low)[0] * self.most[i])
                if most < float(target.least) * (1 - LEVEL) * DOWN:
                    found.append((target, most))
        return found

    def between(self, low: np.ndarray, high: np.ndarray, quotients: np.ndarray, room: np.ndarray) -> Least:
        """Return the least tasks in every cluster of a region.

        Parameters
        ----------
        low, high : array (m,)
            Ends of the capacity of the whole cluster; inf for no upper end.
        quotients : array (m, m)
            ``C[g] / C[j]`` is at least ``quotients[j, g]``, and on the diagonal 1.
        room : array (k, m)
            The most that there is of each class.
        """
        # There is at least what is used, and of one resource at least a part of another.
        for _ in range(2):
            least = np.maximum(self.own, self.asked(self.targets, low))
            low = np.minimum(np.maximum(low, least @ self.instance.demands * (1 - LEVEL)), high)
            low = np.maximum(low, (quotients * low[:, None]).max(axis=0) * DOWN)
        slopes = np.zeros((len(self.own), self.instance.m))
        risen = self._below(least, room)
        capped, early = np.zeros_like(risen), np.zeros_like(risen)
        for j, amount, _, stopped, promised in self.ceilings:
            if high[j] > amount:
                capped |= stopped
                early |= stopped & promised
        able = risen & ~capped
        # Who is promised as much as it needs may have it before its siblings rise.
        siblings = able & self.mates & ((least > self.promised) | (self.promised == 0))[self.who][:, None]
        if self.rates is not None and siblings.any():
            raise_ = _raise_sums if self.rates.summed else _raise
            fixed = np.ones((1, 1)) if self.rates.fixed else quotients
            raise_(self.rates.part, self.who, siblings, least, fixed)
            # Nobody is as high as others whom its limit keeps it below.
            least = np.minimum(least, self.limits)
        if len(self.modest):
            least = self._past_full(least, quotients, low)
        if self.clock is not None and risen.any():
            least = self.clock.raised(self.who, risen & ~early, capped, least, quotients, low, high)
        if self.market is not None and able.any():
            least = self.market.raised(self.who, able, least, quotients)
        impossible = bool(np.isinf(least).any())
        least = np.minimum(np.where(np.isinf(least), self.own, least), self.limits)
        for j, amount, users, *_ in self.ceilings:
            impossible |= float(least[users] @ self.instance.demands[users, j]) > amount * (1 + 4 * LEVEL)
        if self.shared:
            self._lines(siblings, able, least, slopes, low, high, quotients)
        return Least(least, slopes, impossible, low)

    def _past_full(self, least: np.ndarray, quotients: np.ndarray, low: np.ndarray) -> np.ndarray:
        """Return the least tasks (n,) where users with targets in a pool do not need all that others need."""
        if self.rates is None or not (low > 0).all():
            return least
        demands, found = self.instance.demands, least
        stopped = least_where_full(self.rates, demands, self.limits, self.promised, quotients, low)
        raise_ = _raise_sums if self.rates.summed else _raise
        fixed = np.ones((1, 1)) if self.rates.fixed else quotients
        for i in self.modest:
            if least[i] > self.promised[i]:
                risen = least.copy()
                raise_(self.rates.part, np.array([i]), np.ones((1, len(risen)), dtype=bool), risen, fixed)
                other = np.where(demands[i] > 0, np.inf, stopped).min(axis=1)
                found = np.maximum(found, np.minimum(np.minimum(risen, other), self.limits))
        return found

    def asked(self, targets: Sequence[Target], low: np.ndarray) -> np.ndarray:
        """Return the least tasks (n,) of which these targets themselves speak, in clusters of `low (m,)` or more.

        The less there is, the larger is the share of a task.  Of whole tasks of several types they are average ones.
        """
        least = np.zeros(self.instance.n)
        for target in targets:
            i, wanted = target.user, float(target.least) * DOWN
            if target.measure == "level" and self.rates is None and self.clock is not None:
                wanted = self.clock.at_level(i, wanted, low) * DOWN
            elif target.measure != "tasks":
                rates = self.plain if target.measure == "share" else self.rates
                if not self._of_shares(target) or rates is None or not (rates.fixed or (low > 0).all()):
                    continue
                rate = float(rates.of(rates.part[[i]], low)[0])
                wanted = wanted / rate if rate else 0.0
            least[i] = max(least[i], wanted)
        for i in np.flatnonzero(self.typed & (least > 0)).tolist():
            least[i] = self._average(i, math.ceil(least[i] * DOWN))
        return least

    def _average(self, i: int, tasks: int) -> float:
        """Return how many average tasks need no more of anything than so many whole ones of a user with several types.

        Of each type that is its number of started tasks over its part of all.
        """
        kinds, there = (self.instance.task_types or ())[i] or (), self.instance.type_fits[i]
        if self.instance.machines is not None:
            there = there[:, self.instance.counts > 0]
        total = sum(kind.count for kind in kinds)
        if self.fresh or not there.any(axis=1).all():
            return 0.0
        started = self.instance.types_started(i, min(tasks, total))
        return min(x * total / kind.count for x, kind in zip(started, kinds, strict=True)) * DOWN

    def _lines(
        self,
        siblings: np.ndarray,
        able: np.ndarray,
        least: np.ndarray,
        slopes: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        quotients: np.ndarray,
    ) -> None:
        """Where a share or a level is asked for: fill in what is needed for every unit of a resource there is.

        At a level at least x_l >= level C[g] / rate[g], with rate[g] / C[g] no less than the level of a task.
        """
        shares = np.zeros(self.instance.n)
        for target in self.shared:
            if target.measure == "share":
                shares[target.user] = float(target.least) * DOWN
        for rates, level in ((self.plain, shares), (self.rates, self._floor(siblings, quotients))):
            users = np.flatnonzero((level > 0) & ~self.typed)
            if rates is not None and users.size:
                most = rates.most(rates.part[users], quotients)
                each = np.divide(level[users, None], most, where=most > 0, out=np.zeros_like(most))
                self._line(users, each * DOWN, least, slopes, low, high)
        if self.market is not None:
            for row, i in enumerate(self.who.tolist()):
                if slopes[i].any() and not self.promised[i]:
                    users, times = self.market.times(i, able[row], quotients)
                    self._line(users, times[:, None] * slopes[i], least, slopes, low, high)

    def _line(
        self,
        users: np.ndarray,
        each: np.ndarray,
        least: np.ndarray,
        slopes: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
    ) -> None:
        """Take lines for what some users need, so much for a unit of a resource ``each (users, m)``, that say most.

        A line stands for her needs where her limit is never reached, and elsewhere is worth what it says at the least.
        """
        g = (each * low).argmax(axis=1)
        chosen = each[np.arange(len(users)), g]
        at_low, limits = chosen * low[g], self.limits[users]
        with np.errstate(invalid="ignore"):
            line = (chosen * high[g] <= limits) | (np.isinf(limits) & (chosen > 0))
        line &= at_low >= np.maximum(least, slopes @ low)[users] * DOWN**2
        # A row of the program has a line or a number, and no sum of both.
        number = ~line & ~slopes[users].any(axis=1)
        least[users] = np.where(number, np.maximum(least[users], np.minimum(at_low, limits)), 0.0)
        slopes[users[line]] = 0.0
        slopes[users[line], g[line]] = chosen[line]


def _kept(instance: Instance, policy: Policy) -> np.ndarray:
    """Return the tasks (n,) that guarantees are worth where all are kept, and are in every larger cluster; else 0.

    What those of groups are worth depends on what there is, and who fits nowhere may come to be placed, and share.
    """
    rules, nothing = instance.organisation, np.zeros(instance.n)
    if rules is None or policy.objective not in PROMISING or any(group.guarantee for group in rules.groups):
        return nothing
    promised = np.array([bool(given) for given in rules.guarantees])
    if not promised.any() or (promised & instance.unplaced()).any():
        return nothing
    leximin = replace(policy, objective="leximin")
    clock = Clock(instance, leximin)
    try:
        kept = next((state for _, state in stops(Problem(instance, leximin), clock) if not state.promising), None)
    except SolverError:  # What floats do not tell is not used.
        return nothing
    worth = clock.promised * (1 - LEVEL)
    return nothing if kept is None or (kept.has < worth).any() else worth


def _raise(part: np.ndarray, who: np.ndarray, below: np.ndarray, least: np.ndarray, quotients: np.ndarray) -> None:
    """Raise the least tasks of those whom fairness holds up together with who has a target; levels are largest shares.

    With g the resource of which l has most, she needs ``level(i) C[g] / part[l, g]``, and level(i) is at least
    ``x_i part[i, j] / C[j]`` for every j.
    """
    worth = least[who][:, None] * (part[who][:, :, None] * quotients).max(axis=1)
    # Of all who hold her up, whoever says most, resource by resource.
    together = np.stack([np.where(below, column[:, None], 0.0).max(axis=0, initial=0.0) for column in worth.T], axis=1)
    each = np.divide(together, part, where=_largest(part, quotients), out=np.full_like(part, np.inf)).min(
        axis=1, initial=np.inf
    )
    np.maximum(least, np.where(np.isfinite(each), each, 0.0) * DOWN, out=least)


def _largest(part: np.ndarray, quotients: np.ndarray) -> np.ndarray:
    """Return of which resources rows of parts may have their largest share: where no other surely has a larger one."""
    return np.asarray((part > 0) & (part >= (part[:, :, None] * quotients).max(axis=1) * DOWN))


def _raise_sums(part: np.ndarray, who: np.ndarray, below: np.ndarray, least: np.ndarray, quotients: np.ndarray) -> None:
    """Do the same where levels are sums of shares: both in shares of one resource, whichever says most."""
    over = np.divide(1.0, quotients.T, where=quotients.T > 0, out=np.full_like(quotients, np.inf))
    # In shares of g the level of i is at least, and that of a task of l at most:
    lowest = part @ quotients
    with np.errstate(invalid="ignore"):
        highest = np.where(part[:, :, None] > 0, part[:, :, None] * over, 0.0).sum(axis=1)
    for row, i in enumerate(who):
        users = np.flatnonzero(below[row])
        rows = part[users]
        each = np.divide(part[i], rows, where=rows > 0, out=np.full_like(rows, np.inf)).min(axis=1, initial=np.inf)
        each = np.maximum(each, (lowest[i] / highest[users]).max(axis=1, initial=0.0))
        least[users] = np.maximum(least[users], least[i] * each * DOWN)


def _siblings(instance: Instance, who: np.ndarray) -> np.ndarray:
    """Return who rises together with each user, once guarantees are kept, until one of them is finished: bool."""
    if (rules := instance.organisation) is None:
        return np.ones((len(who), instance.n), dtype=bool)
    ranks = list(zip(rules.paths, rules.tiers, rules.last, strict=True))
    numbers = {rank: number for number, rank in enumerate(dict.fromkeys(ranks))}
    found = np.array([numbers[rank] for rank in ranks])
    return np.asarray(found[who][:, None] == found)
