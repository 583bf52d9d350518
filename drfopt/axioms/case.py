"""What the properties of one audit share: the cluster, the policy's outcome, and outcomes of changed clusters."""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

from ..base.deadline import NEVER, Deadline
from ..base.numbers.enclosures import Enclosure
from ..model.policies import Policy
from .economy import Economy, Number, Row, high, least, low, reaches, times, total
from .outcomes import Outcome, outcome, packed

__all__ = ["AuditCase"]

Found = TypeVar("Found")


class AuditCase:
    """A cluster under a policy, asked "what if"; outcomes are kept, for several properties ask for the same."""

    def __init__(
        self,
        cluster: Economy,
        policy: Policy,
        integer: bool = False,
        deadline: Deadline = NEVER,
        batched: Mapping[Economy, Outcome] | None = None,
    ):
        self.cluster, self.policy, self.integer, self.deadline = cluster, policy, integer, deadline
        self._batched = batched or {}
        self._without: dict[int, Outcome] = {}
        self._kept: dict[str, Any] = {}

    @cached_property
    def truth(self) -> Outcome:
        """The outcome when everybody is there and truthful."""
        return self.run(self.cluster)

    @cached_property
    def shared(self) -> Outcome:
        """The outcome as users see each other's: whole tasks on machines with a packing."""
        if self.integer and self.cluster.machines is not None:
            self.deadline.check("the audit")
            return packed(self.cluster, self.policy)
        return self.truth

    @property
    def market(self) -> bool:
        """Whether the outcome is an equilibrium of prices in one pool: alpha fairness, of which CEEI is one."""
        return self.policy.objective == "alpha" and not self.integer and self.cluster.machines is None

    @property
    def fair_market(self) -> bool:
        """Whether shares fall slowly enough with prices for sharing incentive and envy-freeness: alpha >= 1.

        Shares are s[i] = w[i] (p . d[i])^(-1/alpha), in units in which dominant shares of a task are 1.  Then
        P = sum_j p[j] = sum_k w[k] (p . d[k])^(1 - 1/alpha) <= W P^(1 - 1/alpha), so p . d[i] <= P <= W^alpha and
        s[i] >= w[i] / W; whose bundle she envies pays more for a task, so has the smaller weighted share.
        """
        return self.market and self.policy.alpha >= 1

    def run(self, cluster: Economy) -> Outcome:
        """Return the policy's outcome on another cluster."""
        self.deadline.check("the audit")
        return outcome(cluster, self.policy, self.integer)

    def nobody_loses(self, cluster: Economy, users: Sequence[int]) -> bool:
        """Say whether batched outcomes show that these users, who are those of another cluster, have no less there."""
        before, after = self._batched.get(self.cluster), self._batched.get(cluster)
        if before is None or after is None:
            return False
        return all(reaches(x, before.tasks[i]) for x, i in zip(after.tasks, users, strict=True))

    def without(self, user: int) -> Outcome:
        """Return the outcome after a user has left; the others keep their order."""
        if user not in self._without:
            self._without[user] = self.run(self.cluster.without(user))
        return self._without[user]

    def kept(self, what: str, find: Callable[["AuditCase"], Found]) -> Found:
        """Return what is found of the case, found once: all users' questions rest on it."""
        if what not in self._kept:
            self._kept[what] = find(self)
        found: Found = self._kept[what]
        return found

    def limited(self, i: int, tasks: Number) -> Number:
        """Return how many of so many tasks user i makes use of: at most her limit, whole ones where tasks are whole."""
        limit = self.cluster.limits[i]
        useful = tasks if limit is None else least(limit, tasks)
        if not self.integer:
            return useful
        lower, upper = Fraction(math.floor(low(useful))), Fraction(math.floor(high(useful)))
        return lower if lower == upper else Enclosure(lower, upper)

    def per_task(self, i: int, bundle: Row) -> Fraction:
        """Return how many tasks of user i the amounts (m,) carry, fractions of a task counted."""
        return min(b / d for b, d in zip(bundle, self.cluster.demands[i], strict=True) if d)

    def of_another(self, i: int, k: int) -> Number:
        """Return the tasks user i would run with the bundle of user k, scaled to her own weight."""
        cluster = self.cluster
        scaled = tuple(cluster.weight(i, j) / cluster.weight(k, j) * d for j, d in enumerate(cluster.demands[k]))
        each = self.per_task(i, scaled)
        open_to_me = {c for c, _ in cluster.classes(i)}
        if self.shared.packing is not None:
            # Machine by machine: parts of a task on two machines are none.
            whole = sum(
                count * math.floor(each * pattern.get(k, 0))
                for c, count, pattern in self.shared.packing
                if c in open_to_me
            )
            return self.limited(i, Fraction(whole))
        amounts = self.truth.amounts(k)
        return self.limited(i, total(times(each, amounts[c]) for c in open_to_me))
