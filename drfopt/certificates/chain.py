"""Leximin on machines: a chain of dual vectors, one a round.

A round has a level t, prices p >= 0 of the capacities (per class and resource, of the whole class) and multipliers
lambda_i >= 0 of the users with  lambda_i * rate_i <= sum_j p_kj a_ikj  on every class k she may use.  Then in every
feasible allocation  sum_i lambda_i level_i <= sum_kj p_kj.

Let y be the levels of the allocation, each user finished at her limit or in exactly one round, and let every round
have  y_i <= t  for those finished before it and  y_i >= t  for the others.  If the bound is met with equality by
min(y, t), then whoever has a positive multiplier cannot exceed t while nobody of level at most t falls: a user who
could gain would, by convexity, gain a little without taking anybody above t down to it, and break the bound.  So every
user is at her limit or has nobody higher to take from: the levels are max-min fair, which is leximin.

What rounding leaves is ``excess = sum p - sum lambda min(y, t)``: while nobody falls, user i cannot exceed t by more
than ``excess / lambda_i``, and that is her violation, relative to t.  The excess is a difference of sums of the size of
``sum p``, so what their rounding can account for is not held against anybody; in return a price below `DUAL_POSITIVE`
of the largest counts as none.  That alone would let a user who takes next to nothing rise far on what others lose in
rounding, so the other half of optimality is asked for too: whoever must pay at the prices of a round, on every class
she may use, has a level of at most t.  This is the bottleneck's "nobody who uses it has a higher level".

A round that meets its bound says more: nobody is on a class that costs her more than lambda_i rate_i, or what is paid
there too much would be missing.  Such a pair is *closed*, and the rounds after it need not speak of it: levels that
meet the bound of a later round's t meet those of all before.  So a round's prices may be those of one part of the
cluster, and everybody else has a class that is free.

How far the levels are from the true ones, `level_errors` says; that bound is part of every user's violation.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from ..base.states import OnePart, Worst
from ..base.tolerances import CAPACITY, DUAL_POSITIVE, LEVEL
from ..model.certificate import Certificate
from ..model.evidence import ChainEvidence, Round
from ..model.instance import Instance
from ..model.policies import Policy
from .feasibility import infeasibility
from .level_errors import ROUNDINGS, LevelErrors
from .open_pairs import OpenPairs

__all__ = [
    "CERTAIN",
    "DEARER",
    "Account",
    "ChainUsers",
    "Round",
    "Weighed",
    "cell_name",
    "cell_names",
    "certify",
    "certify_parts",
    "certify_users",
    "cheapest_costs",
    "excess",
    "filled_at",
    "firm",
    "most_paid_for",
    "one_or_all",
    "pays",
    "stopped_by",
    "unit_costs",
]

CERTAIN = 0.1
"""Part of the promised accuracy that one round may spend."""

DEARER = 1e-7
"""Part of what a class costs a user that it must cost too much to be closed to her: far above what prices are off by;
what stays open by it does no harm."""

ROUNDED = 4 * np.finfo(float).eps
"""Relative rounding of a level, and of what is used of a row: sums of many terms, each rounded once or twice."""


def firm(prices: np.ndarray) -> np.ndarray:
    """Return the prices without those that rounding may have made."""
    return np.where(prices >= DUAL_POSITIVE * prices.max(initial=0.0), np.maximum(prices, 0), 0.0)


def excess(prices: np.ndarray, multipliers: np.ndarray, levels: np.ndarray) -> float:
    """Return what the bound leaves open at these levels, beyond what rounding accounts for."""
    total = float(prices.sum())
    if not math.isfinite(total):
        return math.inf
    left = math.fsum([*prices.ravel().tolist(), *(-multipliers * levels).tolist()])
    return max(left - ROUNDINGS * np.finfo(float).eps * total, 0.0)


def unit_costs(instance: Instance, prices: np.ndarray) -> np.ndarray:
    """Return what one task costs on each class at prices of whole classes, (n, k); inf where it does not fit.

    Where users have several task types these are rows, (q, k).
    """
    total = instance.room
    per_unit = np.divide(prices, total, where=total > 0, out=np.zeros_like(prices))
    if (types := instance.type_table) is not None:
        return np.where(types.fits, types.demands @ per_unit.T, np.inf)
    costs = instance.demands @ per_unit.T
    return costs if instance.fits is None else np.where(instance.fits, costs, np.inf)


def cheapest_costs(instance: Instance, costs: np.ndarray) -> np.ndarray:
    """Return what one task of each user costs, (n,): every type of hers on its cheapest class, in its proportion."""
    least = costs.min(axis=1)
    types = instance.type_table
    return least if types is None else types.summed(types.part * least)


def certify(
    instance: Instance, policy: Policy, tasks: np.ndarray, placement: np.ndarray | None, rounds: Sequence[Round]
) -> Certificate:
    """Return the chain certificate of tasks (n,) placed as (n, k), or by type (q, k)."""
    return certify_users(ChainUsers(instance, policy.rates(instance), tasks, placement), rounds)


def certify_users(users: "ChainUsers", rounds: Sequence[Round], account: "Account | None" = None) -> Certificate:
    """Return the certificate of users who lie in one part."""
    instance = users.instance
    return certify_parts(
        OnePart(users),
        instance.room,
        rounds,
        lambda part, i: f"user {instance.users[i]!r}",
        partial(cell_name, instance.machine_names if instance.machines is not None else None, instance.resources),
        partial(stopped_by, instance, users.named),
        account,
    )


class Passes(Protocol):
    """Users in one part or in many, and what the methods of `ChainUsers` return added up over them."""

    def look(self, what: str, *told: Any) -> list[Any]:
        """Return the sums of what a method returns that changes nothing."""

    def change(self, what: str, *told: Any) -> list[Any]:
        """Return the sums of what a method returns that changes its part."""


def certify_parts(
    users: Passes,
    room: np.ndarray,
    rounds: Sequence[Round],
    called: Callable[[int, int], str],
    cell: Callable[[int, int], str],
    stopped: Callable[[], tuple] = tuple,
    account: "Account | None" = None,
) -> Certificate:
    """Return the certificate of what users have who lie in parts: sums over them, whatever their number.

    Parameters
    ----------
    users : Passes
    room : array (k, m)
    rounds : sequence of Round
    called, cell : callable
        What a user is called, from the number of its part and its own there; what a resource of a class is called.
    stopped : callable
        The certificate's ``stopped_by``.
    account : Account, optional
        What prices are worth at a point nearby; without them, at what users have.
    """
    possible, used = users.look("seen")
    infeasible, reason = possible.value, possible.whose[0] if possible.whose else ""
    over = np.divide(used - room, room, where=room > 0, out=np.where(used > 0, np.inf, 0.0))
    if over.max() > infeasible:
        k, j = np.unravel_index(int(over.argmax()), over.shape)
        infeasible = float(over[k, j])
        reason = f"capacity of {cell(int(k), int(j))!r} is exceeded by {infeasible:.1e} of it"
    account = account or FloatAccount(np.divide(used, room, where=room > 0, out=np.ones_like(room)))
    errors = LevelErrors(len(rounds))
    for number, link in enumerate(rounds):
        bought, held, shares = users.look("weighed", number, link)
        left, idle = account.left(number, link, bought), account.idle(number, link)
        dear = users.look("dear", number, link, left)[0]
        off = errors.bound(shares, dear + idle + held)
        users.change("finish", number, link, left, off)
    worst = users.look("worst")[0]
    violation = max(worst.value, infeasible)
    valid = bool(infeasible <= CAPACITY and violation <= LEVEL)
    if valid or infeasible <= CAPACITY:
        reason = ""
    if not reason and not valid:
        part, i, level = worst.whose
        reason = f"{called(part, i)} is not proven to be finished at level {level:.6g}: off by {worst.value:.1e}"
    return Certificate(
        kind="chain",
        valid=valid,
        violation=violation,
        stopped_by=stopped,
        evidence=ChainEvidence(rounds=tuple(rounds)),
        reason=reason,
    )


class Account(Protocol):
    """What the prices of a round are worth, and what of it is not spent."""

    def left(self, number: int, link: Round, bought: Any) -> float:
        """Return what the bound leaves open where users have `bought` so much."""

    def idle(self, number: int, link: Round) -> float:
        """Return what full rows lack or have too much, at most."""


class FloatAccount:
    """The same in floats, of what is used of rows, (k, m), relative to them."""

    def __init__(self, filled: np.ndarray):
        self.off = np.abs(1 - filled)

    def left(self, number: int, link: Round, bought: float) -> float:
        """Return what is left open beyond what rounding accounts for."""
        total = float(firm(link.prices).sum())
        return max(total - bought - ROUNDINGS * np.finfo(float).eps * total, 0.0) if total < np.inf else np.inf

    def idle(self, number: int, link: Round) -> float:
        """Return what full rows lack or have too much, and what rounding may have made of that."""
        prices = firm(link.prices)
        return float((prices * self.off).sum()) + ROUNDED * float(prices.sum())


class ChainUsers:
    """Users of a part, what they have, and what the rounds so far have proven of it.

    Parameters
    ----------
    instance : Instance
        Its capacity is the whole cluster's.
    rates, tasks : arrays (n,)
    placement : array (n, k), by type (q, k), or None for a pool
    part : int
        Which part it is.
    finds : bool
        Whether it is found here whom each round finishes, all that it can, and not told by the rounds.
    """

    def __init__(
        self,
        instance: Instance,
        rates: np.ndarray,
        tasks: np.ndarray,
        placement: np.ndarray | None,
        part: int = 0,
        finds: bool = False,
    ):
        self.instance, self.rates, self.tasks, self.placement = instance, rates, tasks, placement
        self.part, self.finds = part, finds
        self.levels = rates * tasks
        limits = instance.limits
        tops = np.where(np.isfinite(limits), rates * np.where(np.isfinite(limits), limits, 0), np.inf)
        self.unplaced = instance.unplaced()
        self.at_limit = ~self.unplaced & (self.levels >= tops * (1 - LEVEL))
        self.violations = np.where(self.unplaced & (tasks != 0), np.inf, 0.0)
        self.error = ROUNDED * self.levels
        self.round = np.full(instance.n, -1)
        # A user at her limit is finished by it, from the first round whose level reaches her.
        self.before = np.zeros(instance.n, dtype=bool)
        self.times = np.zeros(instance.n, dtype=np.int64)
        types = instance.type_table
        self.closed = np.zeros((instance.n if types is None else len(types.owner), max(1, instance.k)), dtype=bool)
        self.named: list[tuple[np.ndarray, np.ndarray, float]] = []
        self._weighed: Weighed | None = None
        self._closing: tuple[int, np.ndarray] | None = None

    @property
    def amounts(self) -> np.ndarray:
        """Tasks of every row of demands on each class."""
        return self.tasks[:, None] if self.placement is None else self.placement

    def seen(self) -> tuple[Worst, np.ndarray]:
        """Return the largest part by which a constraint is broken, in words too, and what is used of rows (k, m)."""
        types = self.instance.type_table
        demands = self.instance.demands if types is None or self.placement is None else types.demands
        used = self.amounts.T @ demands
        known = used[0] if self.placement is None else used
        infeasible, reason = infeasibility(self.instance, self.tasks, self.placement, used=known)
        return Worst(infeasible, reason), used

    def weighed(self, number: int, link: Round) -> tuple[float, float, np.ndarray]:
        """Return what levels cost at the multipliers of a round, up to its own level; what rounding of the levels of
        whom it holds is worth; and the multipliers summed up by rounds that have finished users, those of whom none
        has last, (number + 1,)."""
        known = self._multipliers(number, link)
        multipliers = known.multipliers
        bought = math.fsum((multipliers * np.minimum(self.levels, link.level)).tolist())
        held = self._held(link)
        finished = held & (self.round >= 0)
        shares = np.zeros(number + 1)
        np.add.at(shares, self.round[finished], multipliers[finished])
        shares[number] = multipliers[~held].sum()
        carried = held & (multipliers > 0)
        return bought, float(multipliers[carried] @ self.error[carried]), shares

    def dear(self, number: int, link: Round, left: float) -> tuple[float]:
        """Return what is paid beyond the multipliers, where the bound of a round leaves so much open."""
        closed = self.closed.copy()
        cost = self._settled(number, link, left, closed)
        self._closing = number, closed
        return (cost,)

    def finish(self, number: int, link: Round, left: float, off: float) -> None:
        """Note who is finished by a round, whose level is right to `off`, what that proves, which pairs it closes."""
        levels, known = self.levels, self._multipliers(number, link)
        multipliers = known.multipliers
        if self._closing is None or self._closing[0] != number:
            self.dear(number, link, left)
        self.closed, self._closing = self._closing[1] if self._closing else self.closed, None
        held = self._held(link)
        violations = np.maximum(self.violations, _out_of_order(levels, held, self.unplaced, link.level))
        above = np.where(known.paying & ~self.unplaced, np.maximum(_relative(levels, link.level) - 1, 0), 0)
        violations = np.maximum(violations, above)
        with np.errstate(over="ignore"):  # What is beyond floats proves nothing.
            proven = multipliers * link.level
        proving = (proven > 0) & np.isfinite(proven)
        could_rise = np.divide(left, proven, where=proving, out=np.full(len(levels), np.inf))
        rounding = self._apart(number, link)
        off_level = _relative(off + rounding, link.level)
        if self.finds:
            finished = np.flatnonzero((could_rise <= LEVEL) & (off_level <= LEVEL) & ~held)
        else:
            finished = np.asarray(link.finished, dtype=np.intp)
        finished = finished[~self.at_limit[finished]]
        self.error[finished] = rounding[finished]
        self.round[finished] = np.where(self.round[finished] < 0, number, self.round[finished])
        violations[finished] = np.maximum(violations[finished], np.maximum(could_rise[finished], off_level[finished]))
        self.violations = violations
        self.times[finished] += 1
        self.before[finished] = True
        self.named.append((finished, link.prices, link.level))

    def worst(self) -> tuple[Worst]:
        """Return the largest violation, and whose it is: part, number and level."""
        astray = ~self.unplaced & ~self.at_limit & (self.times != 1)
        violations = np.where(astray, np.inf, self.violations)
        i = int(violations.argmax())
        return (Worst(float(violations[i]), self.part, i, float(self.levels[i])),)

    def _apart(self, number: int, link: Round) -> np.ndarray:
        """Return how far levels are from that of a round, (n,)."""
        return np.abs(self.levels - link.level)

    def _held(self, link: Round) -> np.ndarray:
        """Return who is finished before a round, or is at its limit by then."""
        return self.before | (self.at_limit & (self.levels <= link.level * (1 + LEVEL))) | self.unplaced

    def _pairs(self) -> tuple[np.ndarray, list[OpenPairs]]:
        """Return the demands of every row, and the classes open to them in blocks."""
        instance, types = self.instance, self.instance.type_table
        demands, fits = (instance.demands, instance.fits) if types is None else (types.demands, types.fits)
        return demands, OpenPairs.of(*self.closed.shape, fits)

    def _per_unit(self, prices: np.ndarray) -> np.ndarray:
        total = self.instance.room
        return np.divide(prices, total, where=total > 0, out=np.zeros_like(prices))

    def _multipliers(self, number: int, link: Round) -> "Weighed":
        """Return the multipliers of a round, cut to what its prices allow, and who must pay.

        Costs of all pairs are made twice a round, for some users at a time, and never kept.
        """
        if self._weighed is None or self._weighed.number != number:
            prices, types = firm(link.prices), self.instance.type_table

            demands, blocks = self._pairs()
            per_unit = self._per_unit(prices)
            least = np.concatenate([pairs.cheapest(pairs.costs(demands, per_unit), self.closed) for pairs in blocks])
            cheapest = least if types is None else types.summed(types.part * least)
            allowed = np.divide(cheapest, self.rates, where=self.rates > 0, out=np.zeros(self.instance.n))
            most = np.where(np.isfinite(allowed), allowed, 0)
            multipliers = most if link.multipliers is None else np.clip(link.multipliers, 0, most)
            paying = np.isfinite(cheapest) & (cheapest > 0)
            self._weighed = Weighed(number, least, multipliers, paying)
        return self._weighed

    def _settled(self, number: int, link: Round, left: float, closed: np.ndarray) -> float:
        """Return what the amounts pay beyond the multipliers, and note in `closed` what the round closes."""
        known, prices, types = self._multipliers(number, link), firm(link.prices), self.instance.type_table
        rates, accounted = self.rates, known.multipliers * self.rates
        if types is not None:
            # Of a type the bound accounts for its cheapest class; what a dearer one costs too much is what is missing.
            rates = rates[types.owner]
            accounted = np.where(np.isfinite(known.least), known.least, 0)

        # What is dearer by this much so few tasks are on: what the bound leaves open pays for no more.
        few = np.divide(
            rates * left, CERTAIN * LEVEL * link.level, where=link.level > 0, out=np.full(len(rates), np.inf)
        )
        (demands, blocks), per_unit, amounts, dear = self._pairs(), self._per_unit(prices), self.amounts, 0.0
        for pairs in blocks:
            costs = pairs.costs(demands, per_unit)
            slack = costs - pairs.spread(accounted)
            costs *= DEARER
            shut = slack > costs
            if shut.any():
                closed[pairs.at] |= shut & (slack >= pairs.spread(few))
            dear += float(np.vdot(amounts[pairs.at], np.maximum(slack, 0, out=slack)))
        return dear


@dataclass(frozen=True, eq=False)
class Weighed:
    """What a round asks of users: the cheapest class of every row of demands, multipliers (n,), and who must pay."""

    number: int
    least: np.ndarray
    multipliers: np.ndarray
    paying: np.ndarray


def _relative(values: np.ndarray, level: float) -> np.ndarray:
    """Return values in terms of a level; of a level of 0, which limits of 0 have, anything is infinitely much."""
    return np.divide(values, level, out=np.where(values > 0, np.inf, 0.0), where=level > 0)


def _out_of_order(levels: np.ndarray, held: np.ndarray, unplaced: np.ndarray, level: float) -> np.ndarray:
    """Return how far finished users are above the level of the round, and the others below it, relative to it."""
    if not level > 0:
        return np.full(len(levels), np.inf)
    off = np.where(held, levels - level, level - levels) / level
    return np.where(unplaced, 0, np.maximum(off, 0))


def stopped_by(instance: Instance, named: list[tuple[np.ndarray, np.ndarray, float]]) -> tuple:
    """Return what every user must pay for, as names; None for who is finished by no round."""
    found: list = [None] * instance.n
    filled = filled_at([(firm(prices), level) for _, prices, level in named], instance.room.shape).astype(float)
    classes, resources = np.nonzero(filled < np.inf)
    names, levels = cell_names(instance, classes, resources), filled[classes, resources]
    for finished, _, level in named:
        full = np.flatnonzero(levels <= level * (1 + LEVEL))
        paid = pays(instance, finished, classes[full], resources[full])
        for i, row in zip(finished.tolist(), paid, strict=True):
            found[i] = tuple(names[c] for c in full[row].tolist())
    return tuple(found)


def filled_at(rounds: Sequence[tuple[np.ndarray, Any]], shape: tuple[int, ...]) -> np.ndarray:
    """Return the lowest level of a round that has a price for each cell (k, m), inf for none.

    What a round fills is full for all who go on above it, and which of two rounds at one level comes first is chance:
    so a user is stopped by all that is full at its level and that it needs where it may run, whatever its own round.
    """
    filled = np.full(shape, np.inf, dtype=object)
    for prices, level in rounds:
        cells = np.atleast_2d(prices).astype(bool)
        filled[cells] = np.minimum(filled[cells], level)
    return filled


def one_or_all(names: Sequence[str]) -> str | tuple[str, ...] | None:
    """Return what stops a user of a pool: its name, or of several things that run out together all names."""
    return names[0] if len(names) == 1 else tuple(names) or None


def cell_names(instance: Instance, classes: np.ndarray, resources: np.ndarray) -> list[str]:
    """Return the names of some resources of some classes, ``class/resource``; of a pool the resources alone."""
    named = instance.machine_names if instance.machines is not None else None
    where = zip(classes.tolist(), resources.tolist(), strict=True)
    return [cell_name(named, instance.resources, k, j) for k, j in where]


def cell_name(classes: Sequence[str] | None, resources: Sequence[str], k: int, j: int) -> str:
    """Return what a resource of a class is called; None of classes is a pool."""
    return resources[j] if classes is None else f"{classes[k]}/{resources[j]}"


def pays(instance: Instance, users: np.ndarray, classes: np.ndarray, resources: np.ndarray) -> np.ndarray:
    """Return whether a task of each user needs the resource and may run on the class, bool (users, priced)."""
    types = instance.type_table
    if types is None:
        open_to = True if instance.fits is None else instance.fits[np.ix_(users, classes)]
        return (instance.demands[np.ix_(users, resources)] > 0) & open_to
    return types.summed((types.demands[:, resources] > 0) & types.fits[:, classes])[users] > 0


def most_paid_for(
    instance: Instance, prices: np.ndarray, demands: Iterable, priced: np.ndarray, rising: Iterable
) -> tuple:
    """Return the priced (k, m) resources that each rising user needs; of a pool the one on which it spends most.

    Prices (k, m) of a unit and demands (n, m) are floats or fractions.
    """
    classes, resources = np.nonzero(priced)
    names, found = cell_names(instance, classes, resources), list[Any]()
    needed = pays(instance, np.arange(instance.n), classes, resources)
    for demand, needs, rises in zip(demands, needed, rising, strict=True):
        mine = np.flatnonzero(needs).tolist() if rises else []
        if mine and instance.machines is None:
            spent = {q: prices[0, resources[q]] * demand[resources[q]] for q in mine}
            found.append(names[max(mine, key=spent.__getitem__)])
        else:
            found.append(tuple(names[q] for q in mine) or None)
    return tuple(found)
