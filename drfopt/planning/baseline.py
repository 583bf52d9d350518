"""One measure for divisions of clusters that differ: levels and shares by the capacities and weights of one of them.

What sums a division up is measured in the cluster as it was before a change, or of which a sweep is made.  A share of
what is there *now* falls when a machine is bought that nobody waits for, though nobody has less than before.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..base.numbers.enclosures import least
from ..io.native import reading as reader
from ..model.allocation import Allocation
from ..model.document import document
from ..model.hierarchy import Clock
from ..model.hierarchy.market import market_rules
from ..model.instance import Instance
from ..model.naming import some
from ..model.policies import AnyPolicy, Policy, policy_named, policy_on
from ..solving.comparing import taking_part, wanting

__all__ = ["TOTALS", "Baseline", "unproven"]

TOTALS = ("lowest level", "sum of dominant shares", "tasks", "demand met")
"""The numbers that sum a division up; the last is None where nobody says how much it wants."""


class Baseline:
    """Measures divisions of changed clusters in the cluster as it was.

    Levels are those of the policy, ``rate_i * x_i``, with the rates of the cluster before; who joins is measured by its
    capacities too.  The lowest level is that of those who want anything and took part before, or fit in the division
    at hand: before a change it is that of who fitted then.
    """

    def __init__(self, instance: Instance, policy: AnyPolicy):
        named = policy_on(policy, instance)
        # What a formulation calls a level only its own file knows.
        self.instance, self.policy = instance, policy_named("drf") if named.objective == "formulation" else named
        self._share = policy_named("utilitarian")
        self._rulers: dict[bool, tuple[Instance, tuple[Instance, np.ndarray]]] = {}

    @property
    def measured_in(self) -> dict[str, str]:
        """Say, as data, in what totals are measured: which cluster, and whose levels and shares."""
        return {"cluster": "before the changes", "levels": self.policy.name, "shares": "dominant"}

    def ruler(self, instance: Instance, exact: bool = False) -> tuple[Instance, np.ndarray]:
        """Return the cluster as it was with all who were or are there, and the rows (n,) of a cluster's users in it.

        Demands are those of today, and all else what it was: weights, promises, and groups with who has left them.
        """
        # A division is measured in several ways, one after the other.
        if exact not in self._rulers or self._rulers[exact][0] is not instance:
            self._rulers[exact] = instance, self._ruler(instance, exact)
        return self._rulers[exact][1]

    def _ruler(self, instance: Instance, exact: bool) -> tuple[Instance, np.ndarray]:
        base, everybody = self.instance, np.arange(instance.n)
        if _same_users(instance, base, exact):
            return base, everybody
        now, then = document(instance), document(base)
        rows = {entry["name"]: row for row, entry in enumerate(then["users"])}
        for entry in now["users"]:
            if (row := rows.setdefault(entry["name"], len(rows))) == len(then["users"]):
                there = [name for name in entry.get("machines", ()) if name in base.machine_names]
                then["users"].append(entry | ({"machines": there} if "machines" in entry else {}))
            elif "demand" in entry:
                then["users"][row]["demand"] = entry["demand"]
        together = reader.loads(json.dumps(then), "json", "the cluster as it was with all who join it")
        return together, np.array([rows[user] for user in instance.users])

    def levels(self, allocation: Allocation) -> np.ndarray:
        """Return the level of every user, (n,)."""
        exact = allocation.exact
        ruler, rows = self.ruler(allocation.instance, exact)
        # Groups have incomes, and guarantees and what is excluded may change what is counted.
        if "organisation" in ruler.features and self.policy.objective in ("leximin", "alpha", "sum"):
            tasks = np.full(ruler.n, 0, dtype=allocation.tasks.dtype)
            tasks[rows] = allocation.tasks
            if self.policy.objective == "leximin":
                return Clock(ruler, self.policy, exact).levels(tasks)[rows]
            return np.asarray(market_rules(ruler, self.policy, exact).rates * tasks)[rows]
        return self._measured(self.policy, allocation)

    def shares(self, allocation: Allocation) -> np.ndarray:
        """Return the dominant share of every user, (n,), weights ignored."""
        return self._measured(self._share, allocation)

    def taking_part(self, allocation: Allocation, policy: Policy | None = None) -> np.ndarray:
        """Return whose level counts among the lowest, bool (n,); by default levels of the policy."""
        base, integer = self.instance, allocation.integer
        now, before = wanting(allocation.instance, integer), taking_part(base, integer)
        # Whoever took part and fits nowhere any more is the worst off; who fits now has a level, whenever it joined.
        there = dict(zip(base.users, before.tolist(), strict=True))
        placed = ~allocation.instance.unplaced(integer)
        counts = [placed[i] or there.get(user, False) for i, user in enumerate(allocation.instance.users)]
        # Of what the cluster as it was has none nobody has a share in it, and nobody could run anything alone.
        (ruler, rows), policy = self.ruler(allocation.instance), policy or self.policy
        known = policy.rates(ruler) > 0
        if policy.measure == "alone":
            known &= ~(ruler.demands[:, ruler.counted & (ruler.capacity == 0)] > 0).any(axis=1)
        known = known[rows] | (allocation.tasks.astype(float) == 0)
        return np.array(counts, dtype=bool) & now & known

    def joining(self, allocations: Iterable[Allocation]) -> list[str]:
        """Say whose level counts in some of these divisions only, as it fits nowhere in the cluster as it was."""
        base, counted, unknown = self.instance, dict[str, None](), dict[str, None]()
        for found in allocations:
            lost = {base.users[i] for i in np.flatnonzero(base.unplaced(found.integer)).tolist()}
            if not lost:
                continue
            there = self.taking_part(found).tolist()
            for user, tasks, counts in zip(found.instance.users, found.tasks.tolist(), there, strict=True):
                if user in lost and (counts or float(tasks)):
                    (counted if counts else unknown)[user] = None
        where = {
            "in the lowest level only where it fits, which is nowhere in the cluster unchanged": counted,
            "not in the lowest level, as its tasks have no level in the cluster unchanged": unknown,
        }
        return [f"{words}: {some(tuple(users))}" for words, users in where.items() if users]

    def totals(self, allocation: Allocation) -> dict[str, Any]:
        """Return what sums the division up, by `TOTALS`."""
        shares, levels = self.shares(allocation), self.levels(allocation)
        lowest = least(levels[self.taking_part(allocation)].tolist())
        sums = (sum(shares.tolist()), sum(allocation.tasks.tolist()), self._met(allocation))
        return dict(zip(TOTALS, (lowest, *sums), strict=True))

    def _met(self, allocation: Allocation) -> float | None:
        short = allocation.shortfall
        named = np.isfinite(short.asked)
        ruler, rows = self.ruler(allocation.instance)
        each = self._share.rates(ruler)[rows][named]
        asked = float(each @ short.asked[named])
        return float(each @ np.minimum(short.got, short.asked)[named]) / asked if asked else None

    def _measured(self, policy: Policy, allocation: Allocation) -> np.ndarray:
        ruler, rows = self.ruler(allocation.instance, allocation.exact)
        if not allocation.exact:
            return np.asarray(policy.rates(ruler)[rows] * allocation.tasks)
        rates = policy.exact_rates(ruler)
        return np.array([rates[row] * x for row, x in zip(rows, allocation.tasks, strict=True)], dtype=object)


def _same_users(one: Instance, other: Instance, exact: bool) -> bool:
    """Say whether two clusters have the same users with the same demands and weights."""
    alike = one.users == other.users and np.array_equal(one.demands, other.demands)
    if not alike or one.weights.shape != other.weights.shape or not np.array_equal(one.weights, other.weights):
        return False
    return not exact or (one.exact_demands, one.exact_weights) == (other.exact_demands, other.exact_weights)


def unproven(divisions: Mapping[str, Allocation]) -> list[str]:
    """Say which divisions are not proven the best, what that means, and of the first why; nothing where all are."""
    late = {name: found for name, found in divisions.items() if not found.finished}
    if not late:
        return []
    name, first = next(iter(late.items()))
    which = f", {some(tuple(late))}; {name}" if len(divisions) > 1 else ""
    return [
        "not proven the best, so that changes may be those of the search and not of the cluster"
        f"{which}: {first.certificate.reason or first.status}"
    ]
