"""Why a user has what she has: her level, what stopped her and whom it stopped besides, and what would raise it."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np

from ...base.deadline import Budget
from ...base.errors import (
    CertificateError,
    InstanceError,
    PolicyError,
    SolverError,
    checked_flags,
    suggestion,
)
from ...base.numbers.shown import tenths
from ...base.progress import report
from ...base.results import Result
from ...base.tables import Bar, Column, Percent, Sheet
from ...base.tolerances import LEVEL
from ...certificates.bounds import left_by_promises
from ...model.allocation import Allocation
from ...model.evidence import BoundsEvidence
from ...model.instance import Instance
from ...model.naming import some
from ...model.policies import AnyPolicy, policy_on
from ...model.shortfall import HAS_ALL, MET, cells_of, counted_as_means, left_out
from ...solving.allocating import solve
from ...solving.integrality import whole_parts
from ..baseline import unproven
from .fragmentation import Fragmentation
from .fragmentation import fragmentation as fragments_of
from .remedies import Remedies, alone
from .tried_remedies import RemedyTrials, WholeStops, WholeTrials
from .used_up import UsedUpTrials, used_up

__all__ = ["UNKNOWN", "Explained", "Explanation", "explain", "what_stops"]


FEW, FEW_WHOLE = 20, 6
"""Users for each of whom the cluster may be divided once more; in whole tasks that takes longer."""

NAMED = 50
"""Others who are named beside a user; of more the number is told."""

SENTENCES = 6
"""Users with a sentence of their own below the table."""

REASONS = {
    "capacity": "stopped by capacity",
    "met": "with all they asked for",
    "limit": "at their limits",
    "ceiling": "at their ceilings",
    "efficiency": "left where the sum wants them",
    "guarantee": "at their guarantees, which the sum would not give them",
    "notion": "left where the notion wants them",
    "search": "left where the search ended",
    "misfit": "with nothing left but what fits nowhere",
    "unplaced": "unplaced",
}
"""Why users have no more, in words."""

TABLED = {"met": HAS_ALL, "misfit": "the rest fits nowhere"}
"""What the table says of a reason, where that is not its name."""

ASKED = {"met": "limit", "misfit": "unplaced"}
"""Of which reason's remedies those are asked that have none of their own."""

HELD = ("capacity", "efficiency", "guarantee", "ceiling")
"""Reasons beside which it is said what is used up where a user is."""

UNKNOWN = ("servers", "formulation")
"""Objectives of which nothing is known but the answer."""

GROUPED = {True: "stopped by ceilings of groups", False: "stopped by capacity and by ceilings of groups"}
"""The same, of capacities that are a rule's: all of them, or some."""


@dataclass(frozen=True)
class Explained:
    """Why one user has what she has.

    Attributes
    ----------
    user : str
    level, tasks, share : float
        Her weighted level under the policy, her tasks, her dominant share.
    reason : str
        ``met`` (it has all it asked for), ``limit``, ``ceiling``, ``unplaced``, ``misfit`` where it runs all that fits
        of its several types and what is left of them fits nowhere, ``capacity``,
        ``efficiency`` where a sum does not owe her anything, ``guarantee`` where it gives her no more than she is
        owed, ``notion`` where a formulation file leaves room, or ``search`` where whole tasks that are not proven the
        best leave it.
    stopped_by : tuple of str
        The resources, or ``class/resource``, that hold her where she is; empty at her limit, unplaced and ``misfit``.
    others : int
        How many others are held by one of the same.
    shared_with : tuple of str
        The first `NAMED` of them.
    alone_tasks, alone_level : float or None
        What she would have with her part of every machine, by weight, to herself; None where her part is not defined:
        in an organisation, and of divisible tasks of several types on machines.
    gain : float or None
        By what part her level is above that; None where she would have nothing alone.
    advice : callable
        Returns the `remedy`, which is asked for once: a table of many users shows few of them.
    asked, met : float or None
        Tasks it has to run, None for no end, and the part of them that runs.
    weight : float, or dict from resource to float
    """

    user: str
    level: float
    tasks: float
    share: float
    reason: str
    stopped_by: tuple[str, ...]
    others: int
    shared_with: tuple[str, ...]
    alone_tasks: float | None
    alone_level: float | None
    gain: float | None
    advice: Callable[[], str] = field(compare=False, repr=False)
    asked: float | None = None
    met: float | None = None
    weight: Any = 1.0

    @cached_property
    def remedy(self) -> str:
        """One sentence on what would raise her level, or why that is not known."""
        try:
            return self.advice()
        except (CertificateError, PolicyError, SolverError) as error:
            return f"what would help is not known: {error}"

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of ``drfopt explain --json``."""
        own = {"tasks": self.alone_tasks, "level": self.alone_level}
        return {
            "name": self.user,
            "level": self.level,
            "tasks": self.tasks,
            "weight": self.weight,
            "asked": self.asked,
            "got": self.tasks,
            "met": self.met,
            "dominant_share": self.share,
            "reason": self.reason,
            "stopped_by": list(self.stopped_by),
            "others": self.others,
            "shared_with": list(self.shared_with),
            "alone": None if self.alone_tasks is None else own,
            "gain": self.gain,
            "remedy": self.remedy,
        }


@dataclass(frozen=True, eq=False)
class Explanation(Result):
    """Why the users have what they have, one entry each.

    Attributes
    ----------
    instance : Instance
    policy : str
    allocation : Allocation
        What is explained.
    users : tuple of Explained
        In the order of the instance; those asked for.
    fragmentation : Fragmentation or None
        Where it was asked for, what whole tasks make of the devices.
    """

    _schema = "drfopt explanation 1"
    _rows = "users"

    instance: Instance
    policy: str
    allocation: Allocation
    users: tuple[Explained, ...]
    fragmentation: Fragmentation | None = None

    def named(self) -> dict[str, Any]:
        """Return the entries by user."""
        return {row.user: row for row in self.users}

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``drfopt explain --json`` prints."""
        return {
            "schema": self._schema,
            "instance": self.instance.name,
            "policy": self.policy,
            "status": self.allocation.status,
            "valid": self.allocation.certificate.valid,
            "users": [row.to_dict() for row in self.users],
            "unplaced": list(self.allocation.unplaced),
            **({"misfits": misfits} if (misfits := self.allocation.misfits) else {}),
            "broken_guarantees": self.allocation.broken_guarantees,
        } | ({} if self.fragmentation is None else {"fragmentation": self.fragmentation.to_dict()})

    def sheet(self) -> Sheet:
        """Return the table: a row a user, who is most short first."""
        short = self.allocation.shortfall
        ends = bool(np.isfinite(short.asked).any())
        place = {self.instance.users[i]: row for row, i in enumerate(short.order.tolist())}
        columns = (
            Column("user"),
            Column("weight", number=True, shown=self.instance.told_weights and not self.instance.weights_per_resource),
            Column("asked", number=True, shown=ends),
            Column("got", number=True, shown=ends),
            Column("tasks", number=True, shown=not ends),
            Column("met %", number=True, shown=ends),
            Column("level", number=True),
            Column("dominant share", number=True),
            Column("stopped by"),
            Column("with", number=True),
            Column("alone", number=True),
            Column("gain", number=True),
        )
        rows = [
            (
                row.user,
                row.weight,
                row.asked,
                row.tasks,
                row.tasks,
                None if row.met is None else Percent(100 * row.met),
                row.level,
                Bar(row.share),
                # A ceiling stops whole tasks beside what their next one lacks.
                ", ".join((("ceiling",) if row.reason == "ceiling" else ()) + row.stopped_by)
                or TABLED.get(row.reason, row.reason),
                row.others,
                row.alone_tasks,
                None if row.gain is None else tenths(row.gain, "+"),
            )
            for row in sorted(self.users, key=lambda row: place[row.user])
        ]
        whole = ", whole tasks" if self.allocation.integer else ""
        title = f"{self.policy}{whole}, why each has what it has"
        title += f" - {self.instance.name}" if self.instance.name else ""
        return Sheet(title, columns, rows, tuple(self._notes()), document=self.to_dict)

    def _reason(self, row: Explained) -> str:
        """Return why a user has no more, in words."""
        cells = cells_of(self.instance, row.stopped_by) if row.reason == "capacity" else []
        ruled = [cell.resource is None for cell in cells]
        return GROUPED[all(ruled)] if any(ruled) else REASONS[row.reason]

    def _pools_parts(self) -> bool:
        """Whether whole tasks of several types are counted on pooled devices in a part of the machines."""
        if not self.allocation.integer or (types := self.instance.task_types) is None:
            return False
        held = {r for machine in self.instance.machines or () for r in machine.devices or {}}
        columns = [j for j, r in enumerate(self.instance.resources) if r in held]
        several = [kinds is not None for kinds in types]
        return bool((self.instance.demands[several][:, columns] > 0).any())

    def _notes(self) -> list[str]:
        count = Counter(map(self._reason, self.users))
        order = (*REASONS.values(), *GROUPED.values())
        notes = ["; ".join(f"{count[words]} {words}" for words in order if count[words])]
        if any(row.alone_tasks is not None for row in self.users):
            pooled = "; devices are pooled in it for who has several task types" if self._pools_parts() else ""
            notes.append(
                f"alone: tasks in its part of every machine by weight, if it were its own; gain: above that{pooled}"
            )
        notes += counted_as_means(self.instance, self.allocation.integer)
        notes += left_out(self.allocation.misfits)
        notes += unproven({self.policy: self.allocation})
        if self.fragmentation is not None:
            notes += self.fragmentation.sentences()
        elif self.instance.has_devices and not self.allocation.integer:
            notes.append("devices are pooled here; how much of them whole tasks lose: --fragmentation")
        if broken := self.allocation.broken:
            notes.append(f"{self.allocation.unmet}: {', '.join(map(str, broken))}")
        if len(self.users) <= SENTENCES:
            notes += [f"{row.user}: {row.remedy}" for row in self.users]
        else:
            held = [row for row in self.users if row.reason not in ("limit", "met")]
            notes += [f"{row.user}: {row.remedy}" for row in held[:SENTENCES]]
            notes.append(f"a sentence on each of the {len(self.users)}: --json, or name the user")
        return notes


def explain(
    instance: Instance,
    policy: AnyPolicy = "drf",
    user: str | None = None,
    *,
    integer: bool = False,
    fragmentation: bool = False,
    time_limit: float | None = None,
) -> Explanation:
    """Return why the users, or one of them, have what they have.

    Parameters
    ----------
    instance : Instance
    policy : str, Policy or function
        Of formulation files, and where every machine is divided by itself, what stops a user is what is used up.
    user : str, optional
        Whom to explain; by default everybody.
    integer : bool
        Whole tasks instead of divisible ones: what stops a user is what its next task lacks.
    fragmentation : bool
        Whether to pack whole tasks as well, and say how much of the devices they lose.
    time_limit : float, optional
        Seconds for all divisions: what would raise somebody is asked with what is left of them.

    Returns
    -------
    Explanation

    Raises
    ------
    InstanceError
        When nobody is called so.
    PolicyError
        When the policy cannot take the instance.

    Examples
    --------
    >>> cluster = Instance({"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}}, {"cpu": 9, "memory": 18})
    >>> explain(cluster)["A"].stopped_by
    ('cpu',)
    """
    if user is not None and (not isinstance(user, str) or user not in instance.users):
        raise InstanceError(
            f"there is no user {user!r}{suggestion(str(user), instance.users)} (there are {some(instance.users)})"
        )
    checked_flags(integer=integer, fragmentation=fragmentation)
    chosen = policy_on(policy, instance)
    budget = Budget(time_limit)
    with budget.spent() as deadline:
        # Half is for what helps, where that is asked by dividing again; and packing is as hard as dividing.
        allocation = solve(instance, chosen, integer=integer, time_limit=deadline.share(1 + integer + fragmentation))
        rows = range(instance.n) if user is None else [instance.users.index(user)]
        facts = _Facts(allocation, len(rows) <= (FEW_WHOLE if integer else FEW), budget)
        found = []
        for done, i in enumerate(rows):
            report(f"{done} of {len(rows)} users explained")
            found.append(facts.of(i))
        pooled = solve(instance, chosen) if fragmentation and integer else allocation
        lost = fragments_of(pooled, deadline.share(1 + integer)) if fragmentation else None
    return Explanation(instance, chosen.name, allocation, tuple(found), lost)


def what_stops(allocation: Allocation) -> list[tuple[str, tuple[str, ...]]]:
    """Return of each user, (n,), why it has no more, as in `Explained`, and what is used up or lacks where it is."""
    facts = _Facts(allocation, False, Budget(None))
    reasons = [facts.reason(i) for i in range(allocation.instance.n)]
    return [(why, facts.stopped_by[i] if why in HELD else ()) for i, why in enumerate(reasons)]


class _Facts:
    """What is known of all users of an allocation, and put together one by one."""

    def __init__(self, allocation: Allocation, thorough: bool, budget: Budget):
        instance = allocation.instance
        self.allocation, self.instance, self.budget = allocation, instance, budget
        self.objective = policy_on(allocation.policy, allocation.instance).objective
        self.unplaced = instance.unplaced(allocation.integer)
        limits, self.weights = instance.limits, allocation.weights
        limits = instance.whole_limits if allocation.integer else limits * (1 - LEVEL)
        self.met = ~self.unplaced & (allocation.shortfall.standing == MET)
        self.capped = ~self.unplaced & np.isfinite(limits) & (allocation.tasks >= limits)
        # Of these no rounds are known, and what would be a user's own part of the cluster has not been defined.
        beyond = bool(instance.features - {"types"})
        self.remedies: RemedyTrials = (RemedyTrials if beyond else Remedies)(allocation, thorough)
        self.alone = None if beyond else alone(instance)
        self.stops: WholeStops | None = None
        self.stopped_by = [_names(b) for b in allocation.certificate.bottlenecks or (None,) * instance.n]
        if allocation.integer:
            self.stops = stops = WholeStops(allocation)
            self.remedies = WholeTrials(allocation, thorough, stops)
            own = "organisation" not in instance.features
            self.alone = np.fromiter(whole_parts(instance), float, instance.n) if own else None
            self.stopped_by = [tuple(stops.lacks(i)) for i in range(instance.n)]
        elif self.objective in UNKNOWN:
            self.stopped_by = used_up(allocation)
            self.remedies = UsedUpTrials(allocation, thorough, self.stopped_by)
        self.promised, proof = None, allocation.certificate.evidence
        if isinstance(proof, BoundsEvidence) and "organisation" in instance.features:
            policy = policy_on(allocation.policy, instance)
            self.promised = left_by_promises(instance, policy, allocation.tasks, proof)
        self.rates = None if self.objective == "formulation" else policy_on(allocation.policy, instance).rates(instance)
        self.at: dict[str, list[int]] = {}
        self.found: dict[tuple[str, ...], tuple[int, ...]] = {}
        for i, names in enumerate(self.stopped_by):
            if self.reason(i) in HELD:
                for name in names:
                    self.at.setdefault(name, []).append(i)

    def reason(self, i: int) -> str:
        if self.unplaced[i]:
            return "unplaced"
        if self.met[i]:
            return "met"
        if self.stops is not None and self.stops.started(i):
            return "misfit"
        if self.remedies.ceilings(i):
            return "ceiling"
        if self.capped[i]:
            return "limit"
        if self.stops is not None and not self.allocation.finished and not self.stopped_by[i]:
            return "search"
        if self.objective in UNKNOWN and not self.stopped_by[i]:
            return "notion"
        sums = self.objective == "sum"
        if sums and self.promised is not None:
            floors, stopped = self.promised
            if stopped[i]:  # whatever the sum wants
                return "capacity"
            if 0 < self.allocation.tasks[i] <= floors[i] * (1 + LEVEL):
                return "guarantee"
        cells = cells_of(self.instance, self.stopped_by[i])
        # Below a full ceiling of its group it is not the sum that gives a user no more.
        return "efficiency" if sums and not (cells and all(cell.resource is None for cell in cells)) else "capacity"

    def _others(self, names: tuple[str, ...]) -> tuple[int, ...]:
        """Return all users who are stopped by one of these, found once: there may be as many as users."""
        if names not in self.found:
            self.found[names] = tuple(sorted({other for name in names for other in self.at.get(name, ())}))
        return self.found[names]

    def of(self, i: int) -> Explained:
        allocation, reason = self.allocation, self.reason(i)
        stopped_by = self.stopped_by[i] if reason in HELD else ()
        others = self._others(stopped_by) if stopped_by else ()
        tasks, own = float(allocation.tasks[i]), None if self.alone is None else float(self.alone[i])
        return Explained(
            user=self.instance.users[i],
            level=float(allocation.levels[i]),
            tasks=tasks,
            share=float(allocation.dominant_shares[i]),
            reason=reason,
            stopped_by=stopped_by,
            others=max(len(others) - 1, 0),
            shared_with=tuple(self.instance.users[other] for other in others[: NAMED + 1] if other != i)[:NAMED],
            alone_tasks=own,
            alone_level=None if own is None or self.rates is None else float(self.rates[i]) * own,
            gain=None if self.unplaced[i] or not own else _gain(tasks, own),
            asked=_ended(allocation.shortfall.asked[i]),
            met=_ended(allocation.shortfall.met[i]),
            weight=self.weights[i],
            advice=partial(self.advice, ASKED.get(reason, reason), i),
        )

    def advice(self, reason: str, i: int) -> str:
        """Return what would raise a user, in what is left of the time."""
        with self.budget.spent():
            return str(getattr(self.remedies, reason)(i))


def _ended(value: float) -> float | None:
    """Return a number of who names an end, None of others."""
    return float(value) if np.isfinite(value) else None


def _gain(tasks: float, alone: float) -> float:
    gain = tasks / alone - 1
    return 0.0 if abs(gain) <= LEVEL else gain


def _names(bottleneck: Any) -> tuple[str, ...]:
    if bottleneck is None:
        return ()
    return (bottleneck,) if isinstance(bottleneck, str) else tuple(bottleneck)
