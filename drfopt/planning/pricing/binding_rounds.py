"""What holds the users of a leximin where they are, as equations in the capacities of the cluster.

A *binding round* is a bottleneck with those whom it stops: prices p >= 0 of a unit of every resource on every class,
what a task costs each user at them, q_i (on the cheapest class open to her), and the users F finished there, at level
t.  In a pool a round is one saturated resource; on machines it is a round of the certificate's chain.  Its bound is
met:

    sum_i q_i x_i  =  p . room            x_i = t / rate_i  for i in F,  else from a lower round, or her limit

Neither p nor q depends on the capacities.  So when the room changes, and with it the rates, the rounds say where the
users go,

    t  =  (p . room - sum_{i not in F} q_i x_i) / sum_{i in F} q_i / rate_i        lower rounds first,

and that is the leximin allocation for as long as it can be placed, nobody who pays at a round is above its level,
and nobody is above her limit: for so long the same chain is its proof (`drfopt.certificates.chain`).

A round whose users are all at their limits stops nobody, but the classes that it fills are closed to who is above them:
a *closed* room, which is so for as long as sum_i q_i x_i = p . room goes on.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...base.errors import PolicyError, SolverError
from ...base.tolerances import LEVEL
from ...certificates.chain import CERTAIN, DEARER, excess, firm, stopped_by, unit_costs
from ...model.allocation import Allocation
from ...model.evidence import ChainEvidence
from ...model.instance import Instance
from ...model.policies import Policy, policy_on
from .feasible_growth import Grown, slopes_of_rates

__all__ = ["BindingRound", "Held", "HeldPoint", "held"]


@dataclass(frozen=True, eq=False)
class BindingRound:
    """A bottleneck and whom it stops.

    Attributes
    ----------
    level : float
    finished : int array
        Users stopped here, as rows of the instance.
    prices : array (k, m)
        Of one unit.
    costs : array (n,)
        What one task costs.
    after : tuple of int
        Rounds whose level must not be above this one's, because they closed classes to somebody who pays here.
    """

    level: float
    finished: np.ndarray
    prices: np.ndarray
    costs: np.ndarray
    after: tuple[int, ...] = ()

    @cached_property
    def others(self) -> np.ndarray:
        """Who pays here and is stopped elsewhere, as rows of the instance."""
        pays = self.costs > 0
        pays[self.finished] = False
        return np.flatnonzero(pays)


@dataclass(frozen=True, eq=False)
class Closed:
    """Classes that users at their limits fill, so that `rounds` pay elsewhere.

    Attributes
    ----------
    level : float
        Of the round.
    prices : array (k, m)
        Of one unit.
    costs : array (n,)
        What one task costs who pays here.
    rounds : tuple of int
        Those to whose users the classes are closed; their level must not be below that of who pays here.
    spare : float
        What rounding left of prices . room - costs . tasks, relative to the first.
    """

    level: float
    prices: np.ndarray
    costs: np.ndarray
    rounds: tuple[int, ...]
    spare: float = 0.0

    def slack(self, point: "HeldPoint", room: np.ndarray) -> float:
        """Return how far the classes are from being open again: below 0 they are."""
        full = float((self.prices * room).sum())
        if not full > 0:
            return -1.0
        moved = abs(1 - float(self.costs @ point.tasks) / full - self.spare)
        paying = (point.rates * point.tasks)[self.costs > 0].max(initial=0.0)
        return min([-moved, *(1 - paying / float(point.levels[r]) for r in self.rounds)])


@dataclass(frozen=True, eq=False)
class HeldPoint:
    """Where the rounds put the users: tasks (n,), rates (n,), levels of the rounds (rounds,)."""

    tasks: np.ndarray
    rates: np.ndarray
    levels: np.ndarray


@dataclass(frozen=True, eq=False)
class Held:
    """The users of an instance, held by rounds, or at their limits.

    Attributes
    ----------
    rounds : tuple of BindingRound
        The lowest first.
    capped : bool array (n,)
        Who is at her limit.
    closed : tuple of Closed
    """

    instance: Instance
    policy: Policy
    rounds: tuple[BindingRound, ...]
    capped: np.ndarray
    closed: tuple[Closed, ...] = ()

    def stops(self) -> dict[int, tuple[str, ...]]:
        """Return what the rounds have everybody pay for whom they stop, as the certificate names it."""
        nobody = np.zeros(0, dtype=np.intp)
        named = [(binding.finished, binding.prices, binding.level) for binding in self.rounds]
        named += [(nobody, closed.prices, closed.level) for closed in self.closed]
        found = stopped_by(self.instance, named)
        return {i: names for i, names in enumerate(found) if names and not self.capped[i]}

    def at(self, room: np.ndarray) -> HeldPoint:
        """Return where the rounds put everybody in a cluster with this room (k, m)."""
        larger: Any = Grown(self.instance, room)
        rates = self.policy.rates(larger)
        tasks = np.where(self.capped, self.instance.limits, 0.0)
        levels = np.zeros(len(self.rounds))
        for r, binding in enumerate(self.rounds):
            spent = binding.costs[binding.others] @ tasks[binding.others]
            weight = float((binding.costs[binding.finished] / rates[binding.finished]).sum())
            levels[r] = (float((binding.prices * room).sum()) - spent) / weight
            tasks[binding.finished] = levels[r] / rates[binding.finished]
        return HeldPoint(tasks, rates, levels)

    def slack(self, point: HeldPoint, room: np.ndarray) -> float:
        """Return how far the rounds are from being broken, relative to levels: below 0 something else holds."""
        least = np.inf
        stopped = self.instance.limits
        for r, binding in enumerate(self.rounds):
            level = point.levels[r]
            if not level > 0:
                return -1.0
            above = (point.rates[binding.others] * point.tasks[binding.others]).max(initial=0.0)
            further = (
                stopped[binding.finished] / np.maximum(point.tasks[binding.finished], np.finfo(float).tiny)
            ).min()
            lower = max((float(point.levels[other]) for other in binding.after), default=0.0)
            least = min(least, 1 - above / level, further - 1, 1 - lower / level)
        return float(min([least, *(closed.slack(point, room) for closed in self.closed)]))

    def slopes(
        self, growth: np.ndarray, more: bool, turning: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return how tasks (n,) and levels of the rounds change for each unit of growth (k, m), on one side.

        `turning` is how rates (n,) do, unless given as shares of what there is then.
        """
        point = self.at(self.instance.room)
        rates = point.rates
        if turning is None:
            turning = slopes_of_rates(self.policy, self.instance, growth, more)
        tasks, levels = np.zeros(self.instance.n), np.zeros(len(self.rounds))
        for r, binding in enumerate(self.rounds):
            here = binding.finished
            cost, rate, turn = binding.costs[here], rates[here], turning[here]
            weight = float((cost / rate).sum())
            change = float((binding.prices * growth).sum()) - binding.costs[binding.others] @ tasks[binding.others]
            levels[r] = (change + point.levels[r] * float((cost * turn / rate**2).sum())) / weight
            tasks[here] = levels[r] / rate - point.levels[r] * turn / rate**2
        return tasks, levels


def held(allocation: Allocation) -> Held:
    """Return what holds the users of a continuous leximin allocation in floats.

    Raises
    ------
    PolicyError
        When the allocation is of another kind.
    """
    instance, policy = allocation.instance, policy_on(allocation.policy, allocation.instance)
    if policy.objective != "leximin" or allocation.integer or allocation.exact:
        raise PolicyError(
            f"{policy.name} is no leximin of divisible tasks in floats: nothing holds its users by levels"
        )
    policy.check(instance)
    placed = ~instance.unplaced()
    capped = placed & np.isfinite(instance.limits)
    capped[capped] = allocation.tasks[capped] >= instance.limits[capped] * (1 - LEVEL)
    if instance.machines is None:
        return Held(instance, policy, tuple(_resources(allocation, capped)), capped)
    rounds, closed = _rounds(allocation, policy, capped)
    return Held(instance, policy, rounds, capped, closed)


def _resources(allocation: Allocation, capped: np.ndarray) -> list[BindingRound]:
    """Return the saturated resources that are somebody's bottleneck, and whom they stop."""
    instance, resources = allocation.instance, allocation.resources
    names = allocation.certificate.bottlenecks
    number = {name: j for j, name in enumerate(resources)}
    # Of several that run out together one is as good as another: rounds are looked up again where it is not.
    firsts = [name if name is None or isinstance(name, str) else name[0] for name in names]
    stopped_by = np.array([-1 if name is None else number[name] for name in firsts])
    stopped_by[capped | (allocation.tasks == 0)] = -1
    rounds = []
    for j in range(instance.m):
        finished = np.flatnonzero(stopped_by == j)
        if finished.size:
            prices = np.zeros((1, instance.m))
            prices[0, j] = 1.0
            costs = np.where(allocation.tasks > 0, instance.demands[:, j], 0.0)
            rounds.append(BindingRound(float(allocation.levels[finished].max()), finished, prices, costs))
    return sorted(rounds, key=lambda binding: binding.level)


def _rounds(
    allocation: Allocation, policy: Policy, capped: np.ndarray
) -> tuple[tuple[BindingRound, ...], tuple[Closed, ...]]:
    """Return the rounds of the chain that finish somebody below her limit, and what others close to these."""
    instance, rates = allocation.instance, policy.rates(allocation.instance)
    closed_by = np.full((instance.n, instance.k), -1)
    room = instance.room
    proven = allocation.certificate.proof(ChainEvidence).rounds
    if any(chained.prices.dtype == object for chained in proven):
        raise SolverError(
            "this division was proven in fractions, users differ by more than floats hold, and so would its rates of "
            "change: compare two clusters with whatif instead"
        )
    rounds: list[BindingRound] = []
    # By their number in the chain: which of `rounds` it is, or else what it closes.
    kept: dict[int, int] = {}
    closed: dict[int, Closed] = {}
    for number, chained in enumerate(proven):
        finished = chained.finished[~capped[chained.finished]]
        prices = firm(chained.prices)
        costs = unit_costs(instance, prices)
        open_costs = np.where(closed_by >= 0, np.inf, costs)
        cheapest = open_costs.min(axis=1)
        pays = np.minimum(chained.multipliers * rates, np.where(np.isfinite(cheapest), cheapest, 0))
        # What is paid by somebody whose price is rounding is rounding.
        pays = np.where(pays * allocation.tasks > CERTAIN * LEVEL * prices.sum() / instance.n, pays, 0.0)
        per_unit = np.divide(prices, room, where=room > 0, out=np.zeros_like(prices))
        if finished.size:
            if not pays[finished].any():
                raise SolverError(
                    f"the proof does not say what {instance.users[finished[0]]!r} pays where it is stopped: compare "
                    "two clusters with whatif instead"
                )
            paying = pays > 0
            after = np.unique(closed_by[paying][costs[paying] < pays[paying, None] * (1 - DEARER)])
            lower = tuple(kept[r] for r in after.tolist() if r in kept)
            for r in (r for r in after.tolist() if r in closed):
                closed[r] = replace(closed[r], rounds=(*closed[r].rounds, len(rounds)))
            kept[number] = len(rounds)
            rounds.append(BindingRound(chained.level, finished, per_unit, pays, lower))
        elif prices.any():
            spare = 1 - float(pays @ allocation.tasks) / float(prices.sum())
            closed[number] = Closed(chained.level, per_unit, pays, (), spare)
        slack = open_costs - pays[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):  # who is unplaced may have no rate
            left = excess(prices, pays / rates, np.minimum(allocation.levels, chained.level))
            few = left <= CERTAIN * LEVEL * chained.level * slack / rates[:, None]
        closing = (closed_by < 0) & (slack > DEARER * open_costs) & few
        closed_by[closing] = number
    return tuple(rounds), tuple(one for one in closed.values() if one.rounds)
