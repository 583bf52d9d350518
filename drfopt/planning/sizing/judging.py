"""Purchases judged by the fair allocation after each: which pass, the best of them, and what could be cheaper."""

import math
from dataclasses import dataclass
from fractions import Fraction

from ...base.deadline import Deadline
from ...base.errors import CertificateError, SolverError, TimeLimitError
from ...base.tolerances import LEVEL
from ...model.allocation import Allocation
from ...model.instance import Instance
from ...model.policies import Policy
from ...solving.allocating import solve
from .offers import Counts, Shop
from .targets import Target

__all__ = ["Judge", "Trial"]

CLOSED = 1e-4
"""Relative gap of the cost at which a purchase of divisible amounts counts as the cheapest; it is told as the gap."""

MANY = 10**9
"""Steps of the cost from which on it counts as divisible: bounds in floats do not tell one from the next."""


@dataclass(frozen=True, eq=False)
class Trial:
    """A purchase judged by the fair allocation after it.

    Attributes
    ----------
    counts : tuple of Fraction
        Steps of every offer.
    cost : Fraction
    allocation : Allocation or None
        None where there is nothing to divide.
    missed : list of (Target, number)
        Targets that are missed, and what is reached instead.
    """

    counts: Counts
    cost: Fraction
    allocation: Allocation | None
    missed: list[tuple[Target, Fraction | float]]

    @property
    def worst(self) -> float:
        """The smallest part of a target that is reached, at most 1."""
        return min((float(got) / float(target.least) for target, got in self.missed), default=1.0)


class Judge:
    """The purchases that were judged.

    Attributes
    ----------
    trials : dict from counts to Trial
    best : Trial or None
        The cheapest purchase that passes.
    nearest : Trial or None
        Of the purchases judged, the one that misses least.
    grain : Fraction or None
        What every cost is a multiple of; None where it counts as divisible.
    """

    def __init__(self, shop: Shop, policy: Policy, targets: tuple[Target, ...], integer: bool, grain: Fraction | None):
        self.shop, self.policy, self.targets, self.integer = shop, policy, targets, integer
        self.grain = grain
        self.trials: dict[Counts, Trial] = {}
        self.best: Trial | None = None
        self.nearest: Trial | None = None

    # ---- what passes ------------------------------------------------------------------------------------------

    def judged(self, counts: Counts, deadline: Deadline) -> Trial:
        """Return the purchase with the fair allocation after it, and keep it where it is the best so far."""
        if counts not in self.trials:
            trial = self.trials[counts] = self._trial(counts, deadline)
            if self.nearest is None or trial.worst > self.nearest.worst:
                self.nearest = trial
            if not trial.missed and (self.best is None or trial.cost < self.best.cost):
                self.best = trial
        return self.trials[counts]

    def _trial(self, counts: Counts, deadline: Deadline) -> Trial:
        cost = self.shop.cost(counts)
        cluster = self.shop.after(counts)
        if cluster is None:
            return Trial(counts, cost, None, [(target, Fraction(0)) for target in self.targets])
        allocation = self._allocation(cluster, deadline)
        reached = [(target, target.reached(allocation)) for target in self.targets]
        return Trial(counts, cost, allocation, [(target, got) for target, got in reached if not target.met(got)])

    def _allocation(self, cluster: Instance, deadline: Deadline) -> Allocation:
        """Return the fair allocation, in fractions where floats would not decide about every target.

        Divisions among organisations, of several task types on machines, on every machine by itself and by a power
        that is no whole number are not computed in fractions: there floats decide, to the error of a level.
        """
        policy = self.policy
        irrational = policy.objective == "alpha" and not float(policy.alpha).is_integer()
        beyond = cluster.features & {"organisation", "types on machines"} or policy.objective == "servers" or irrational
        if self.integer or beyond:
            return self._solved(cluster, False, deadline)
        try:
            found = self._solved(cluster, False, deadline)
        except TimeLimitError:
            raise
        except (CertificateError, SolverError):
            # Floats do not get there on a cluster that its users fill to the last digit; fractions decide.
            return self._solved(cluster, True, deadline)
        near = any(_near(target, target.reached(found)) for target in self.targets)
        return self._solved(cluster, True, deadline) if near else found

    def _solved(self, cluster: Instance, exact: bool, deadline: Deadline) -> Allocation:
        left = deadline.left()
        if left <= 0:
            deadline.check("the fair allocation of a purchase")
        limit = None if left == math.inf else left
        return solve(cluster, self.policy, integer=self.integer, exact=exact, time_limit=limit)

    # ---- what could be cheaper --------------------------------------------------------------------------------

    @property
    def price(self) -> Fraction:
        """What the best costs."""
        if self.best is None:
            raise SolverError("no purchase is known to compare with: this cannot be")
        return self.best.cost

    @property
    def budget(self) -> float:
        """What a purchase may cost that is cheaper than the best."""
        return float(self.price) - (0.0 if self.grain is None else float(self.grain) / 2)

    @property
    def proven(self) -> Fraction:
        """What every purchase costs at least, once all that could be cheaper than the best has been looked at."""
        return self.price if self.grain is not None else self.price * (1 - Fraction(CLOSED))

    def lifted(self, bound: float) -> Fraction:
        """Return the least cost that a purchase can have at or above a bound."""
        if self.grain is None or not math.isfinite(bound):
            return Fraction(max(0.0, bound)) if math.isfinite(bound) else Fraction(0)
        return math.ceil(Fraction(max(0.0, bound)) / self.grain) * self.grain

    def hopeless(self, bound: float) -> bool:
        """Say whether nothing of that bound is cheaper than the best."""
        if self.best is None:
            return False
        if self.grain is not None:
            return self.lifted(bound) >= self.best.cost
        return not self.cheaper(bound)

    def cheaper(self, cost: float) -> bool:
        """Say whether a cost is below the best by more than counts."""
        return self.best is None or cost < float(self.best.cost) * (1 - CLOSED)

    def melt(self) -> None:
        """Count costs as divisible where their steps are too small beside the best."""
        if self.best is not None and self.grain is not None and self.best.cost > self.grain * MANY:
            self.grain = None


def _near(target: Target, got: Fraction | float) -> bool:
    """Say whether the error that a certified level may have decides about a target."""
    least = float(target.least)
    return abs(float(got) - least) <= 4 * LEVEL * least
