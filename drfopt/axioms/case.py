"""What the properties of one audit share: the cluster, the policy's outcome, and outcomes of changed clusters."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

from ..base.deadline import NEVER, Deadline
from ..base.numbers.enclosures import Enclosure
from ..engines.reference.enumeration import TooManyToListError
from ..model.devices import Dealt
from ..model.policies import Policy
from .economy import Economy, Number, Row, high, least, low, reaches, times, total
from .outcomes import Outcome, computed, outcome, packed

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
        self._listed = True

    @cached_property
    def truth(self) -> Outcome:
        """The outcome when everybody is there and truthful."""
        return self.run(self.cluster)

    @cached_property
    def given(self) -> Outcome:
        """The truth as `solve` gives it: of several optima the same, and whole tasks on machines with a packing."""
        if not self.truth.tied and not self.packs:
            return self.truth
        self.deadline.check("the audit")
        return replace(computed(self.cluster, self.policy, self.integer), tied=self.truth.tied)

    @cached_property
    def chosen(self) -> Outcome:
        """The truth, as `given_on` has it."""
        return self.given_on(self.cluster)

    def given_on(self, cluster: Economy) -> Outcome:
        """Return the outcome on another cluster; of several optima in whole tasks the one that `solve` gives."""
        return self._given(cluster, self.run(cluster))

    def compared(self, cluster: Economy, users: Sequence[int]) -> Outcome:
        """Return the same of a cluster of these users, but for what no equally good division makes less than it was."""
        found = self.run(cluster)
        if found.span is not None and all(
            fewest >= low(self.chosen.tasks[i]) for (fewest, _), i in zip(found.span, users, strict=True)
        ):
            return found
        return self._given(cluster, found)

    def _given(self, cluster: Economy, found: Outcome) -> Outcome:
        if not self.integer or not found.tied:
            return found
        return replace(computed(cluster, self.policy, True), tied=True, span=found.span)

    @property
    def packs(self) -> bool:
        """Whether what somebody holds is a matter of how whole tasks are packed."""
        return self.integer and self.cluster.machines is not None

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
        if not cluster.n or self._listed:
            try:
                found = outcome(cluster, self.policy, self.integer)
            except TooManyToListError:
                self._listed = False  # it took seconds to find out, and a changed cluster has as many
            else:
                # Of several largest sums everything is asked of the one that `solve` gives.
                return computed(cluster, self.policy, False) if found.tied and not self.integer else found
        return computed(cluster, self.policy, self.integer)

    def placed(self, cluster: Economy) -> Outcome:
        """Return the policy's outcome in whole tasks on the machines of another cluster, with a packing."""
        self.deadline.check("the audit")
        return packed(cluster, self.policy)

    def nobody_loses(self, cluster: Economy, users: Sequence[int]) -> bool:
        """Say whether batched outcomes show that these users, who are those of another cluster, have no less there."""
        before, after = self._batched.get(self.cluster), self._batched.get(cluster)
        if before is None or after is None:
            return False
        return all(reaches(x, before.tasks[i]) for x, i in zip(after.tasks, users, strict=True))

    def without(self, user: int) -> Outcome:
        """Return the outcome after a user has left, as `compared` has it; the others keep their order."""
        if user not in self._without:
            staying = [i for i in range(self.cluster.n) if i != user]
            self._without[user] = self.compared(self.cluster.without(user), staying)
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

    def of_another(self, i: int, k: int, found: Outcome | None = None) -> Number:
        """Return the tasks of user i that the bundle of user k carries, scaled to her own weight, beyond any limit.

        The bundle is that of an outcome, or of what is `given`.
        """
        cluster = self.cluster
        scale = tuple(cluster.weight(i, j) / cluster.weight(k, j) for j in range(cluster.m))
        return self.carried(found or self.given, i, k, cluster.demands[k], scale)

    def with_what(self, found: Outcome, i: int, k: int, task: Row) -> Number:
        """Return the tasks user i would run with what user k holds for tasks like this one, (m,), in an outcome."""
        return self.limited(i, self.carried(found, i, k, task))

    def carried(self, found: Outcome, i: int, k: int, task: Row, scale: Row | None = None) -> Number:
        """Return the tasks of user i that are carried by what user k holds for tasks like this one, (m,).

        Of whole tasks on machines that is told by a packing, machine by machine and device by device, as parts of a
        task on two of them are none.
        """
        scale = scale or (Fraction(1),) * len(task)
        each = self.per_task(i, tuple(s * d for s, d in zip(scale, task, strict=True)))
        open_to_me = self.cluster.places(i, self.integer)
        if found.packing is None:
            amounts = found.amounts(k)
            return total(times(each, amounts[c]) for c in open_to_me)
        whole = 0
        for at, (c, count, pattern) in enumerate(found.packing):
            shared = found.shared[at] if found.shared else {}
            if c in open_to_me and (tasks := pattern.get(k, 0)):
                held = self._devices(c, k, task, tasks, shared)
                held = {j: [scale[j] * part for part in parts] for j, parts in held.items()}
                whole += count * self.on_devices(i, c, math.floor(each * tasks), held)
        return Fraction(whole)

    def on_devices(self, i: int, c: int, tasks: int, held: Mapping[int, Sequence[Fraction]]) -> int:
        """Return how many of so many tasks of user i run on what is held of each device of a machine of class c."""
        for j, one in self.cluster.machines[c].devices if self.cluster.machines else ():
            if need := self.cluster.demands[i][j]:
                tasks = min(tasks, one.carried(need, held[j]))
        return tasks

    def _devices(self, c: int, k: int, task: Row, tasks: int, shared: Dealt) -> dict[int, list[Fraction]]:
        """Return what user k holds of each device of a machine of class c, by resource, with so many tasks there."""
        cluster, held = self.cluster, {}
        for j, one in cluster.machines[c].devices if cluster.machines else ():
            if task[j] >= one.size:
                held[j] = [one.size] * int(tasks * task[j] / one.size)
            else:
                held[j] = [on.get(k, 0) * task[j] for on in shared.get(cluster.resources[j], ())]
        return held
