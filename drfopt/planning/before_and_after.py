"""What would happen if: the division before and after some changes, and who wins and who loses by them.

Users are compared by their tasks, which mean the same before and after; a level or a share is a part of a cluster that
may have changed.  Where both answers are computed in fractions the comparison is exact.  Otherwise a difference counts
only where it is larger than what the certificates leave open in both: rounding makes nobody a winner.

What sums a division up is measured in the cluster as it was (`drfopt.planning.baseline`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ..base.deadline import Deadline
from ..base.errors import InstanceError, checked_flags, listed
from ..base.numbers.enclosures import Enclosure, above, text
from ..base.numbers.shown import DIGITS_OF_CELLS, number, percent, tenths
from ..base.results import Result
from ..base.tables import Column, Percent, Sheet
from ..base.tolerances import GAP, LEVEL, LEVEL_CEEI
from ..engines.problem import Problem
from ..engines.registry import engines_for
from ..model.allocation import Allocation
from ..model.instance import Instance
from ..model.policies import AnyPolicy, Policy, policy_named
from ..model.shortfall import counted_as_means
from ..solving.allocating import solve
from ..solving.neighbours import none_worse, searching
from .baseline import TOTALS, Baseline, unproven
from .changes import Change, changed

__all__ = ["Difference", "WhatIf", "as_data", "as_float", "what_if"]


CHEAP = 2_000
"""Pairs of user and class, or of user and resource in a pool, up to which both answers are computed in fractions
unasked: measured in hundredths of a second."""

LOOSE = 1e-5
"""Relative difference below which answers of a user's own formulation are called equal: solvers end it there."""

TOLERANCES = {"leximin": LEVEL, "servers": LEVEL, "path": LEVEL, "alpha": LEVEL_CEEI, "sum": GAP, "formulation": LOOSE}
"""What may be wrong with a user's tasks in floats, relative to them, by the objective of the policy."""

UNDECIDED = {
    "sum": "optima of a sum need not be unique: these are the differences between the two that were found",
    "whole": "optima in whole tasks need not be unique: these are the differences between the two that were found",
}
"""What has to be said beside winners and losers where an optimum leaves a choice."""


@dataclass(frozen=True)
class Difference:
    """What the changes do to a user; numbers are None where she is not there.

    `verdict` is ``wins``, ``loses``, ``same``, ``joins`` or ``leaves``.
    """

    user: str
    before: Any
    after: Any
    verdict: str

    @property
    def change(self) -> Any:
        """Tasks after minus tasks before; 0 where the difference is not proven to be one."""
        if self.before is None or self.after is None:
            return None
        return 0 * self.after if self.verdict == "same" else self.after - self.before

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of ``drfopt whatif --json``."""
        return {
            "name": self.user,
            "before": as_data(self.before),
            "after": as_data(self.after),
            "change": as_data(self.change),
            "verdict": self.verdict,
        }


@dataclass(frozen=True, eq=False)
class WhatIf(Result):
    """Two allocations, before and after the changes.

    Attributes
    ----------
    changes : tuple of Change
        In the order in which they were made.
    before, after : Allocation
    """

    _schema = "drfopt what-if 1"
    _rows = "users"

    changes: tuple[Change, ...]
    before: Allocation
    after: Allocation

    @property
    def exact(self) -> bool:
        """Whether the comparison is exact."""
        return self.before.integer or (self.before.exact and self.after.exact)

    @property
    def finished(self) -> bool:
        """Whether neither search for the best was cut short."""
        return self.before.finished and self.after.finished

    @cached_property
    def users(self) -> tuple[Difference, ...]:
        """Every user of either cluster, those of the first in their order, then who joined."""
        old = dict(zip(self.before.users, self.before.tasks.tolist(), strict=True))
        new = dict(zip(self.after.users, self.after.tasks.tolist(), strict=True))
        names = [*old, *(name for name in new if name not in old)]
        return tuple(self._difference(name, old.get(name), new.get(name)) for name in names)

    @property
    def winners(self) -> tuple[str, ...]:
        """Users with more tasks than before."""
        return tuple(row.user for row in self.users if row.verdict == "wins")

    @property
    def losers(self) -> tuple[str, ...]:
        """Users with fewer tasks than before."""
        return tuple(row.user for row in self.users if row.verdict == "loses")

    def _difference(self, user: str, before: Any, after: Any) -> Difference:
        if before is None:
            return Difference(user, before, after, "joins")
        if after is None:
            return Difference(user, before, after, "leaves")
        if _more(after, before, self._tolerance):
            return Difference(user, before, after, "wins")
        return Difference(user, before, after, "loses" if _more(before, after, self._tolerance) else "same")

    @cached_property
    def _tolerance(self) -> float:
        # Both answers may be off, each by so much.
        return 0.0 if self.exact else 2 * TOLERANCES[policy_named(self.before.policy).objective]

    def totals(self) -> dict[str, tuple[Any, Any]]:
        """Return what sums the two divisions up, before and after, in shares of the cluster as it was."""
        before, after = self.baseline.totals(self.before), self.baseline.totals(self.after)
        return {name: (before[name], after[name]) for name in TOTALS}

    @cached_property
    def baseline(self) -> Baseline:
        """The cluster as it was."""
        return Baseline(self.before.instance, self.before.policy)

    def named(self) -> dict[str, Any]:
        """Return the differences by user."""
        return {row.user: row for row in self.users}

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``drfopt whatif --json`` prints."""
        return {
            "schema": self._schema,
            "instance": self.before.instance.name,
            "policy": self.before.policy,
            "integer": self.before.integer,
            "changes": [str(change) for change in self.changes],
            "exact": self.exact,
            "winners": list(self.winners),
            "losers": list(self.losers),
            "users": [row.to_dict() for row in self.users],
            "measured_in": self.baseline.measured_in,
            "totals": {name: {"before": as_data(a), "after": as_data(b)} for name, (a, b) in self.totals().items()},
            "before": self.before.to_dict(instance=False),
            "after": self.after.to_dict(instance=False),
        }

    def sheet(self) -> Sheet:
        """Return the table: a row a user, who changes most on top."""
        old, new = self._met(self.before), self._met(self.after)
        met = old or new
        columns = (
            Column("user"),
            Column("before", number=True),
            Column("after", number=True),
            Column("change", number=True),
            Column("by", number=True),
            Column("met % before", number=True, shown=bool(met)),
            Column("met % after", number=True, shown=bool(met)),
            Column("verdict"),
        )
        # Those who come or go first, then by how much of what they had changes.
        ranked = sorted(self.users, key=lambda row: -_size(row))
        rows = [
            (
                row.user,
                _cell(row.before),
                _cell(row.after),
                _cell(row.change),
                _percent(row),
                old.get(row.user),
                new.get(row.user),
                row.verdict,
            )
            for row in ranked
        ]
        return Sheet(self._title(), columns, rows, tuple(self._notes()), document=self.to_dict)

    @staticmethod
    def _met(allocation: Allocation) -> dict[str, float]:
        """Return how much of what each user asked for it has, in percent; only who names an end."""
        pairs = zip(allocation.users, allocation.shortfall.met.tolist(), strict=True)
        return {user: Percent(100 * met) for user, met in pairs if not np.isnan(met)}

    def _title(self) -> str:
        what = ", ".join(map(str, self.changes)) or "nothing changed"
        name = self.before.instance.name
        return f"{self.before.policy}, what if: {what}" + (f" - {name}" if name else "")

    def caveats(self) -> list[str]:
        """Return what is to be said beside the differences: what is counted as what, not proven, or open to choice."""
        said = counted_as_means(self.after.instance, self.after.integer)
        said += unproven({"before": self.before, "after": self.after})
        objective = "whole" if self.before.integer else policy_named(self.before.policy).objective
        return [*said, UNDECIDED[objective]] if objective in UNDECIDED else said

    def _notes(self) -> list[str]:
        same = sum(row.verdict == "same" for row in self.users)
        notes = [f"{len(self.winners)} win, {len(self.losers)} lose, {same} keep what they have (tasks)"]
        notes[0] += "; levels and shares below are of the cluster as it was"
        for name, (a, b) in self.totals().items():
            if a is not None and b is not None:
                notes.append(f"{name}: {_shown(name, a)} before, {_shown(name, b)} after")
        notes += self.baseline.joining([self.after])
        pairs = zip(self.after.resources, self.before.utilization, self.after.utilization, strict=True)
        notes.append("used: " + ", ".join(f"{r} {tenths(float(a))} -> {tenths(float(b))}" for r, a, b in pairs))
        for when, allocation in (("before", self.before), ("after", self.after)):
            if allocation.broken:
                owed = ", ".join(map(str, allocation.broken))
                notes.append(f"{allocation.unmet} {when}: {owed}")
        notes += self.caveats()
        how = "in fractions" if self.exact and not self.before.integer else "in floats"
        if self.before.integer:
            how = "in whole tasks"
        notes.append(
            f"compared {how}"
            + ("" if self.exact else f"; a difference of less than {self._tolerance:.0e} of the tasks counts as none")
            + f"; {self.before.seconds + self.after.seconds:.3g} s"
        )
        return notes


def what_if(
    instance: Instance,
    changes: Iterable[Change | str],
    policy: AnyPolicy = "drf",
    *,
    integer: bool = False,
    exact: bool | None = None,
    time_limit: float | None = None,
) -> WhatIf:
    """Return the division before and after some changes.

    Parameters
    ----------
    instance : Instance
    changes : sequence of Change or str
        Such as ``["add 10*v100", "set-weight A=2"]``, made in this order; `drfopt.planning.changes.KINDS` has
        them all.
    policy : str, Policy or function
    integer : bool
        Whole tasks.
    exact : bool, optional
        Compute in fractions; by default where that is cheap.
    time_limit : float, optional
        Seconds for both together.

    Returns
    -------
    WhatIf
        ``.winners``, ``.losers``, and ``.before`` and ``.after``, two allocations.

    Raises
    ------
    InstanceError
        On a change that cannot be made.

    Examples
    --------
    >>> cluster = Instance({"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}}, {"cpu": 9, "memory": 18})
    >>> what_if(cluster, ["set-weight A=2"]).losers
    ('B',)
    """
    checked_flags(integer=integer, **({} if exact is None else {"exact": exact}))
    wanted = tuple(map(Change.of, listed(changes, "changes", InstanceError)))
    chosen = policy_named(policy)
    after = changed(instance, wanted)
    fractions = exact if exact is not None else not integer and all(_cheap(i, chosen) for i in (instance, after))
    deadline = Deadline.asked(time_limit)
    search = searching(deadline, integer)
    pair = (
        solve(one, chosen, integer=integer, exact=fractions, time_limit=search.share(left))
        for one, left in ((instance, 2), (after, 1))
    )
    return WhatIf(wanted, *none_worse(pair, deadline))


def _cheap(instance: Instance, policy: Policy) -> bool:
    """Say whether an answer in fractions is at hand; a market's would be an enclosure, whose ends are not ordered."""
    if policy.objective not in ("leximin", "sum"):
        return False
    pairs = instance.n * instance.m if instance.fits is None else int(np.count_nonzero(instance.fits))
    return pairs <= CHEAP and bool(engines_for(Problem(instance, policy), exact=True))


def _more(a: Any, b: Any, tolerance: float) -> bool:
    """Say whether a is proven to be more than b; of enclosures, all of a than all of b."""
    if tolerance:
        return bool(a - b > tolerance * max(abs(a), abs(b)))
    return above(a, b) is True


def _shown(name: str, value: Any) -> str:
    return percent(float(value)) if name == "demand met" else number(float(value), DIGITS_OF_CELLS)


def _size(row: Difference) -> float:
    if row.change is None:
        return float("inf")
    largest = max(float(row.before), float(row.after))
    return abs(float(row.change)) / largest if largest else 0.0


def _percent(row: Difference) -> str:
    if row.change is None:
        return ""
    if not float(row.before):
        return "" if row.verdict == "same" else "from 0"
    return tenths(float(row.change) / float(row.before), "+") if row.verdict != "same" else "0"


def _cell(value: Any) -> Any:
    return None if value is None else float(value) if isinstance(value, Fraction | Enclosure) else value


def as_data(value: Any) -> Any:
    """Return a number as JSON has it: fractions and enclosures as text."""
    if isinstance(value, Fraction | Enclosure):
        return text(value)
    return value


def as_float(value: Any) -> float | None:
    """Return a number as a chart has it; None where there is none."""
    return None if value is None else float(value)
