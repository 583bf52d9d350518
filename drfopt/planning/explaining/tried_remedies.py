"""What would raise a user's tasks, by trying: where no binding rounds are known, the changed cluster is divided.

These are the clusters of organisations, with guarantees, tiers and groups, and users with several types of tasks on
machines.
"""

import numpy as np

from ...base.tolerances import LEVEL
from ...model.allocation import Allocation
from ...solving.allocating import solve
from ..changes import changed

__all__ = ["UNTRIED", "RemedyTrials", "ceilings_met"]

TASK = "its task"

UNTRIED = "what would raise its tasks is found by dividing the cluster again: name the user"
MORE = 1
"""Percent of a pool's resource that is tried, and machines of a class."""


def ceilings_met(allocation: Allocation, i: int) -> list[str]:
    """Return the resources of which user i uses all that its own ceilings allow; what it does not need stops nobody."""
    instance = allocation.instance
    if instance.organisation is None:
        return []
    used = dict(zip(instance.resources, allocation.usage[i], strict=True))
    needs = dict(zip(instance.resources, instance.demands[i], strict=True))
    ceilings = instance.organisation.ceilings[i]
    return [name for name, most in ceilings.items() if needs[name] and used[name] >= float(most) * (1 - LEVEL)]


class RemedyTrials:
    """Sentences for the users of an allocation, each after some divisions of a changed cluster."""

    def __init__(self, allocation: Allocation, thorough: bool):
        self.allocation, self.instance, self.thorough = allocation, allocation.instance, thorough

    def ceilings(self, i: int) -> list[str]:
        """Return the resources of which its own ceilings hold user i."""
        return ceilings_met(self.allocation, i)

    def unplaced(self, i: int) -> str:
        """Return what would let a user run a task at all; of several types, the first that fits nowhere."""
        instance = self.instance
        if instance.machines is None:
            missing = [
                r for j, r in enumerate(instance.resources) if instance.demands[i, j] and not instance.capacity[j]
            ]
            if missing:
                return f"its task needs {' and '.join(missing)}, of which the cluster has none: add some"
            rows = zip(instance.resources, instance.exact_demands[i], instance.exact_capacity, strict=True)
            needs = [f"{float(d):.6g} of {name} instead of {float(c):.6g}" for name, d, c in rows if d > c]
            return f"the pool would have to have {' and '.join(needs) or 'more'}"
        task, demand, eligible = self._misfit(i)
        fits = (demand <= instance.machine_capacity).all(axis=1)
        if (fits & eligible).any():
            room = _some([name for name, there in zip(instance.machine_names, fits & eligible, strict=True) if there])
            return f"{task} takes neither a part of one device of {room} nor whole ones: ask for one or the other"
        if fits.any():
            closed = [name for name, there in zip(instance.machine_names, fits, strict=True) if there]
            return f"{task} fits on {_some(closed)}, which it may not use: open one of them to it"
        open_to = np.flatnonzero(eligible) if eligible.any() else np.arange(instance.k)
        lacks = np.maximum(demand - instance.machine_capacity[open_to], 0)
        nearest = int((lacks / np.maximum(demand, np.finfo(float).tiny)).max(axis=1).argmin())
        k = int(open_to[nearest])
        needs = [
            f"{demand[j]:.6g} of {instance.resources[j]} instead of {instance.machine_capacity[k, j]:.6g}"
            for j in np.flatnonzero(lacks[nearest])
        ]
        may_use = "" if eligible[k] else ", and to be open to it"
        what = "" if task == TASK else f", for {task}"
        return f"a machine of {instance.machine_names[k]} would have to have {' and '.join(needs)}{may_use}{what}"

    def _misfit(self, i: int) -> tuple[str, np.ndarray, np.ndarray]:
        """Return in words the task of a user that fits nowhere, its demand (m,) and the classes open to it (k,)."""
        instance = self.instance
        kinds = instance.task_types[i] if instance.task_types is not None else None
        for t, kind in enumerate(kinds or ()):
            if not instance.type_fits[i][t].any():
                named = [kind.machines is None or name in kind.machines for name in instance.machine_names]
                demand = np.array([float(amount) for amount in kind.demand])
                return f"its task {kind.name or t + 1}", demand, instance.eligible[i] & np.array(named)
        return TASK, instance.demands[i], instance.eligible[i]

    def all_run(self, i: int) -> str:
        """Return that a user with task types runs all that it has, which no limit could raise; empty for others."""
        kinds = None if self.instance.task_types is None else self.instance.task_types[i]
        there = sum(kind.count for kind in kinds) if kinds else np.inf
        return f"all of its {there} tasks run" if self.instance.limits[i] >= there else ""

    def limit(self, i: int) -> str:
        """Return what she would have without her limit."""
        if text := self.all_run(i):
            return text
        if not self.thorough:
            return UNTRIED
        limit, without = float(self.instance.limits[i]), self._after(f"set-limit {self.instance.users[i]}=none", i)
        if without <= limit * (1 + LEVEL):
            return "its limit stops it, and others' claims do at the same point: a higher limit alone does not help"
        return f"raise its limit of {limit:.6g}: without one it would have {without:.6g} tasks"

    def efficiency(self, i: int) -> str:
        """Return why a sum gives a user no more."""
        name = self.allocation.policy
        return f"{name} owes nobody anything: its tasks come as long as they add the most to the sum for what they take"

    def ceiling(self, i: int) -> str:
        """Return what she would have without the ceiling that she is at."""
        if not self.thorough:
            return UNTRIED
        user = self.instance.users[i]
        rules, held, now = self.instance.organisation, self.ceilings(i), float(self.allocation.tasks[i])
        one_of_several = rules is not None and len(rules.ceilings[i]) > 1
        # Of several the one that helps most, or else all that hold it, which may do so together.
        for tried in ([[name] for name in held], [held]):
            after, names = max((self._after([f"set-ceiling {user}.{r}=none" for r in rs], i), rs) for rs in tried)
            if after > now * (1 + LEVEL):
                which = f" of {' and '.join(names)}" if one_of_several else ""
                without = (
                    "without one" if not one_of_several else "without that" if len(names) == 1 else "without these"
                )
                return f"raise its ceiling{which}: {without} it would have {after:.6g} tasks instead of {now:.6g}"
        return "its ceiling stops it, and something else does at the same point: a higher one alone does not help"

    def capacity(self, i: int) -> str:
        """Return of what a little more gives her the most tasks, of what is used up where she is."""
        if not self.thorough:
            return UNTRIED
        stopped_by = self.allocation.certificate.bottlenecks[i] or ()
        names = (stopped_by,) if isinstance(stopped_by, str) else stopped_by
        if self.instance.machines is None:
            # What stops her may be a ceiling of her group, which has a name as well.
            # Others may be used up as well, and under guarantees it may be those that matter.
            full = self.allocation.utilization >= 1 - LEVEL
            needed = [r for j, r in enumerate(self.instance.resources) if full[j] and self.instance.demands[i, j]]
            names = tuple(dict.fromkeys((*names, *needed)))
            tried = [f"set-capacity {name}=+{MORE}%" for name in names if name in self.instance.resources]
        else:
            # A cell is called class/resource, and either may have a slash in its name.
            classes = [c for c in self.instance.machine_names if any(name.startswith(f"{c}/") for name in names)]
            tried = [f"add {MORE}*{name}" for name in classes]
        found = [(self._after(change, i), change) for change in tried]
        now = float(self.allocation.tasks[i])
        after, change = max(found, default=(now, ""))
        if after <= now * (1 + LEVEL):
            what = ", ".join(names) or "a promise to others"
            # A guarantee of hers or of others may be what counts: then it takes more before she has any of it.
            text = " or ".join(change for _, change in found)
            return f"{text} would not raise it: what stops it is {what}" if text else f"what stops it is {what}"
        return f"{change} would give it {after:.6g} tasks instead of {now:.6g}"

    def _after(self, change: str | list[str], i: int) -> float:
        changes = [change] if isinstance(change, str) else change
        return float(solve(changed(self.instance, changes), self.allocation.policy).tasks[i])


def _some(names: list[str]) -> str:
    return " or ".join(names[:3]) if len(names) <= 3 else f"{', '.join(names[:3])} and {len(names) - 3} other classes"
