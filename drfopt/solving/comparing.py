"""Policies side by side on one instance, with the price of fairness."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..base.deadline import Deadline
from ..base.errors import (
    CertificateError,
    DrfoptError,
    EngineError,
    FormulationError,
    PolicyError,
    SolverError,
    checked_flags,
    listed,
)
from ..base.progress import report
from ..base.results import Result
from ..base.tables import Column, Sheet
from ..base.tolerances import LEVEL, SMALLEST_FLOAT
from ..model.allocation import Allocation
from ..model.instance import Instance
from ..model.policies import AnyPolicy, policy_named
from ..model.shortfall import Shortfall, counted_as_means
from .allocating import solve
from .integrality import Integrality, integrality_cost

__all__ = ["Comparison", "compare", "taking_part", "wanting"]

INTEGRALITY = ("continuous", "optimum", "greedy", "rounded")
"""Columns of whole tasks: what `Integrality` has, in that measure."""

USERS_SHOWN = 6
"""With so many users at most, the table has a column of tasks for each."""


@dataclass(frozen=True, eq=False)
class Comparison(Result):
    """Allocations of one instance under several policies.

    Attributes
    ----------
    instance : Instance
    integer : bool
        Whole tasks: asked for, or of all policies, which are files whose tasks are integer variables.
    policies : tuple of str
        Those asked for.
    allocations : tuple of Allocation
        In the order of the policies asked for.
    refusals : dict from policy to str
        Why a policy has no allocation.
    failed : bool
        Whether a solver failed or ran out of time or a formulation file is at fault, rather than a policy not applying.
    price_of_fairness : dict from policy to float or None
        1 - (sum of dominant shares) / (the utilitarian sum); None where that is not proven.  Under rules it may be
        below 0: promises are held first, and what they leave to `utilitarian` need not bear the largest sum there is.
    integrality : dict from policy to Integrality
        With whole tasks: the continuous bound, a greedy schedule and a rounding beside each optimum; nothing beside a
        formulation file's, which says not what it measures.
    unpriced : str
        Why the utilitarian sum is not known; empty where it is.
    """

    _schema = "drfopt comparison 1"

    instance: Instance
    integer: bool
    policies: tuple[str, ...]
    allocations: tuple[Allocation, ...]
    refusals: dict[str, str]
    failed: bool
    price_of_fairness: dict[str, float | None]
    integrality: dict[str, Integrality] = field(default_factory=dict)
    unpriced: str = ""

    def named(self) -> dict[str, Any]:
        """Return the allocations by policy."""
        return {allocation.policy: allocation for allocation in self.allocations}

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``drfopt compare --json`` prints."""
        document: dict[str, Any] = {
            "schema": self._schema,
            "instance": self.instance.name,
            "allocations": [allocation.to_dict(instance=False) for allocation in self.allocations],
            "price_of_fairness": self.price_of_fairness,
        }
        if self.integrality:
            document["whole_tasks"] = {policy: found.to_dict() for policy, found in self.integrality.items()}
        if self.refusals:
            document["refusals"] = self.refusals
        return document

    def to_frame(self) -> Any:
        """Return a pandas frame, one row a policy and user. Needs pandas (``pip install drfopt[frame]``)."""
        import pandas

        return pandas.concat({a.policy: a.to_frame() for a in self.allocations}, names=["policy"])

    def sheet(self) -> Sheet:
        """Return the table: a row a policy."""
        few = self.instance.n <= USERS_SHOWN
        users = self.instance.users if few else ()
        columns = (
            Column("policy"),
            *(Column(f"tasks of {user}", number=True) for user in users),
            Column("lowest share", number=True),
            Column("sum of shares", number=True),
            Column("price of fairness", number=True),
            *(Column(name, number=True) for name in (INTEGRALITY if self.integrality else ())),
            *(Column(f"{resource} used", number=True) for resource in self.instance.resources),
            Column("proof"),
        )
        solved = {allocation.policy: allocation for allocation in self.allocations}
        rows = [
            self._row(solved[policy], few) if policy in solved else self._refused(policy, len(columns))
            for policy in self.policies
        ]
        kind = "whole tasks" if self.integer else "divisible tasks"
        title = f"{kind}" + (f" - {self.instance.name}" if self.instance.name else "")
        # What is promised is held first, and by each policy in its own way: what is left need not bear the largest sum.
        whole = "sum under utilitarian" if "organisation" in self.instance.features else "largest possible sum"
        notes = [
            "shares are dominant shares of users who are placed and may run something; "
            f"price of fairness = 1 - sum of shares / {whole}"
        ]
        notes += counted_as_means(self.instance, self.integer)
        unplaced = next((allocation.unplaced for allocation in self.allocations if allocation.unplaced), ())
        if unplaced:
            notes.append("unplaced (a task fits on nothing open to it): " + ", ".join(unplaced[:20]))
        for allocation in self.allocations:
            if allocation.broken:
                owed = ", ".join(map(str, allocation.broken))
                notes.append(f"{allocation.policy}: {allocation.unmet}: {owed}")
        if self.integrality:
            notes.append("beside: " + "; ".join(f"{policy} by {b}" for policy, b in self.integrality.items()))
        if integral := [a.policy for a in self.allocations if a.integer and not self.integer]:
            notes.append(f"whole tasks, for their tasks are integer variables: {', '.join(integral)}")
        if self.unpriced and any(self.price_of_fairness[policy] is None for policy, a in solved.items() if a.finished):
            notes.append(f"price of fairness: the {whole} is not known: {self.unpriced}")
        notes.extend(f"{policy}: {a.certificate.reason}" for policy, a in solved.items() if not a.finished)
        notes.extend(f"{policy}: {reason}" for policy, reason in self.refusals.items())
        return Sheet(title, columns, rows, tuple(notes), document=self.to_dict)

    def _row(self, allocation: Allocation, few: bool) -> tuple:
        proof = allocation.certificate
        shares = _shares(allocation)
        price = self.price_of_fairness.get(allocation.policy)
        return (
            allocation.policy,
            *(map(float, allocation.tasks) if few else ()),
            float(min(shares[taking_part(self.instance, allocation.integer)], default=0.0)),
            float(shares.sum()),
            price,
            *(
                getattr(self.integrality.get(allocation.policy), name, None)
                for name in (INTEGRALITY if self.integrality else ())
            ),
            *(float(z) for z in allocation.utilization),
            proof.kind if proof.valid else "feasible",
        )

    def _refused(self, policy: str, width: int) -> tuple:
        return (policy, *[None] * (width - 2), self.refusals[policy])


def compare(
    instance: Instance,
    policies: Sequence[AnyPolicy] = ("drf", "asset", "ceei"),
    *,
    integer: bool = False,
    time_limit: float | None = None,
) -> Comparison:
    """Solve the instance under each policy and put the answers side by side.

    Parameters
    ----------
    instance : Instance
    policies : sequence of str, or of functions
        A policy that cannot take the instance is listed with its reason; an unknown one is an error.
    integer : bool
        Whole tasks.
    time_limit : float, optional
        Seconds for all of it: each computation has its part of what the others have left.

    Raises
    ------
    PolicyError
        When no policy is named, one is unknown, or none can take the instance.
    """
    checked_flags(integer=integer)
    names = tuple(dict.fromkeys(policy_named(policy).name for policy in listed(policies, "policies", PolicyError)))
    if not names:
        raise PolicyError("no policies are given: name at least one, such as drf")
    allocations: list[Allocation] = []
    refusals: dict[str, str] = {}
    failure: DrfoptError | None = None
    deadline = Deadline.asked(time_limit)
    for place, name in enumerate(names):
        report(f"solving {name}")
        # After the policies come the yardstick and, of whole tasks, what they cost.
        limit = deadline.share(len(names) - place + 1 + integer)
        try:
            allocations.append(solve(instance, name, integer=integer, time_limit=limit))
        except (SolverError, CertificateError, FormulationError) as error:
            # A formulation file that is at fault is no policy that does not apply.
            refusals[name] = str(error)
            failure = error
        except (PolicyError, EngineError) as error:
            refusals[name] = str(error)
    if not allocations:
        if failure is not None:
            raise failure
        first = next(iter(refusals))
        what = refusals[first] if refusals[first].startswith(f"{first} ") else f"{first}: {refusals[first]}"
        raise PolicyError(f"no policy could take the instance; {what}")
    # Files whose tasks are integer variables are of whole tasks, asked or not.
    integer = all(a.integer for a in allocations)
    # A formulation of whole tasks may stand among divisible ones: each is held against the largest sum of its kind.
    kinds = {a.integer for a in allocations}
    found = {kind: _most(instance, allocations, kind, deadline.share(len(kinds) + integer)) for kind in kinds}
    best, unpriced = (
        {kind: most for kind, (most, _) in found.items()},
        "; ".join(why for _, why in found.values() if why),
    )
    ended = {allocation.policy: allocation.finished for allocation in allocations}
    prices = {
        allocation.policy: None
        if (most := best[allocation.integer]) is None or not ended[allocation.policy]
        else _price(float(_shares(allocation).sum()), most)
        for allocation in allocations
    }
    whole = [a for a in allocations if integer and policy_named(a.policy).objective != "formulation"]
    others = {a.policy: integrality_cost(a, deadline.share(len(whole) - place)) for place, a in enumerate(whole)}
    failed = failure is not None or not all(ended.values())
    return Comparison(instance, integer, names, tuple(allocations), refusals, failed, prices, others, unpriced)


def taking_part(instance: Instance, integer: bool = False) -> np.ndarray:
    """Return who is placed and may run something, bool (n,): those whose shares are compared."""
    return ~instance.unplaced(integer) & wanting(instance, integer)


def wanting(instance: Instance, integer: bool = False) -> np.ndarray:
    """Return whose limit lets it run something, bool (n,)."""
    return np.asarray(instance.whole_limits >= 1 if integer else instance.limits >= SMALLEST_FLOAT)


def _most(
    instance: Instance, allocations: list[Allocation], integer: bool, time_limit: float | None
) -> tuple[float | None, str]:
    """Return the largest sum of dominant shares, or None and why it cannot be proven."""
    there = (a for a in allocations if a.policy == "utilitarian" and a.integer == integer)
    utilitarian = next(there, None)
    if utilitarian is None:
        report("solving utilitarian, the yardstick")
        try:
            utilitarian = solve(instance, "utilitarian", integer=integer, time_limit=time_limit)
        except DrfoptError as error:
            return None, str(error)
    if utilitarian.status != "optimal":
        return None, utilitarian.certificate.reason or "utilitarian is not proven"
    return float(_shares(utilitarian).sum()), ""


def _shares(allocation: Allocation) -> np.ndarray:
    """Return the dominant shares that policies count, (n,): of whole tasks of several types each is their mean."""
    if not allocation.integer or allocation.instance.task_types is None:
        return allocation.dominant_shares
    return Shortfall.of(allocation.instance, allocation.tasks, True, ()).shares * allocation.tasks


def _price(total: float, best: float) -> float:
    # Two sums that are equal differ by what levels may be off by: a price of that much would be noise.
    price = 1 - total / best if best > 0 else 0.0
    return price if abs(price) > LEVEL else 0.0
