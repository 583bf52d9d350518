"""Fairness properties audited, proven and searched: verdicts in exact numbers, witnesses that are sentences.

`audit` says which properties the outcome of a policy has on one instance.  `drfopt.axioms.claims` is the table of what
holds of every instance and what does not, `drfopt.axioms.counterexamples` finds counterexamples and makes them small.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..base.deadline import Deadline
from ..base.errors import PolicyError, checked_flags
from ..base.numbers.shown import counted
from ..base.results import Result
from ..base.tables import Column, Sheet
from ..base.tolerances import FILE_TASKS
from ..model.instance import FEATURES, Instance
from ..model.policies import AnyPolicy, policy_named, policy_on
from ..solving.allocating import in_whole_tasks
from . import ruled
from .economy import cluster_of
from .properties.property_table import findings, properties_named
from .verdicts import FAILS, Finding

__all__ = ["Audit", "audit"]


@dataclass(frozen=True, eq=False)
class Audit(Result):
    """The findings on one instance under one policy.

    Attributes
    ----------
    instance : Instance or None
        None where the findings are about all instances.
    policy : str
    integer : bool
    results : tuple of Finding
        One a property, with ``.property``, ``.verdict``, ``.witness``, ``.exact`` and ``.trials``.
    undefined : str
        Properties that were left out, as they mean nothing under the instance's rules.
    """

    _schema = "drfopt audit 1"
    _rows = "results"

    instance: Instance | None
    policy: str
    integer: bool
    results: tuple[Finding, ...]
    undefined: str = ""

    @property
    def failed(self) -> tuple[Finding, ...]:
        """The findings that show a violation."""
        return tuple(finding for finding in self.results if finding.verdict == FAILS)

    def certificate(self) -> dict[str, Any]:
        """Return what ``drfopt audit --certificate`` writes: the verdicts with proofs, for `drfopt.verify`.

        Raises
        ------
        PolicyError
            When the findings are about all instances, or about a formulation file.
        """
        from .certified import audits_document, proof_of

        if self.instance is None:
            raise PolicyError("a file proves verdicts on one instance: name one")
        return audits_document([proof_of(self.instance, self.policy, self.integer, self.results)])

    def named(self) -> dict[str, Any]:
        """Return the findings by property: ``audit["envy-freeness"]``."""
        return {finding.property: finding for finding in self.results}

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``drfopt audit --json`` prints."""
        return {
            "schema": self._schema,
            "instance": self.instance.name if self.instance else None,
            "policy": self.policy,
            "integer": self.integer,
            "results": [finding.to_dict() for finding in self.results],
        } | ({"undefined": self.undefined} if self.undefined else {})

    def sheet(self) -> Sheet:
        """Return the table: a row a property."""
        rows = [(f.property, f.verdict, _because(f)) for f in self.results]
        kind = "whole tasks" if self.integer else "divisible tasks"
        demands = "equal weights" if self.integer else "equal weights and positive demands"
        name = self.instance.name if self.instance else f"pools with {demands}"
        title = f"{self.policy}, {kind}" + (f" - {name}" if name else "")
        return Sheet(
            title,
            (Column("property"), Column("verdict"), Column("because")),
            rows,
            tuple(self._notes()),
            document=self.to_dict,
        )

    def _notes(self) -> list[str]:
        notes = ["each verdict is about this instance only; what holds of every instance: drfopt theorems"]
        if self.instance is None:
            notes = ["what holds rests on a proof, what fails on an instance: its capacities and demands are shown"]
        if self.undefined:
            notes.append(self.undefined)
        if any(finding.tied for finding in self.results):
            notes.append(
                "other divisions may be as good under this policy, here or on a changed cluster: verdicts are on the "
                "ones it gives, one each where divisions are compared (strategy-proofness, monotonicity)"
            )
        if not all(finding.exact for finding in self.results if finding.verdict == FAILS):
            notes.append(beyond_error(self.policy))
        return notes

    def __repr__(self) -> str:
        return f"<Audit {self.policy} of {self.instance!r}: {len(self.failed)} of {len(self.results)} fail>"


def beyond_error(policy: str) -> str:
    """Return what a violation in computed tasks has been shown to exceed."""
    try:
        own = policy_named(policy).objective == "formulation"
    except PolicyError:  # Its file is no longer there.
        own = True
    if own:
        return (
            f"a violation is shown beyond an error of {FILE_TASKS:g} of the tasks, which is granted to a formulation "
            "and not proven: what its solver gives may be further off"
        )
    return "a violation is shown beyond the error that the certificates of computed tasks allow"


def audit(
    instance: Instance,
    policy: AnyPolicy = "drf",
    properties: Sequence[str] | str | None = None,
    *,
    integer: bool = False,
    time_limit: float | None = None,
) -> Audit:
    """Say which fairness properties the policy's outcome on the instance has.

    Parameters
    ----------
    instance : Instance
    policy : str, Policy or function
        A name of the table, or the path of a formulation file.
    properties : sequence of str, optional
        The eight of the DRF paper by default; besides them there are ``envy-up-to-one-task``,
        ``no-justified-complaints`` and ``group-strategy-proofness``.
    integer : bool
        Whole tasks; so is a formulation file whose tasks are integer variables, asked for or not.
    time_limit : float, optional
        Seconds for all of it.

    Returns
    -------
    Audit
        A verdict is "holds", "fails" or "no violation found"; ``exact`` says whether it was reached in fractions.

    Raises
    ------
    PolicyError
        The policy cannot take the instance, or there is no such property.
    SolverError
        A solver ended without an optimum.
    TimeLimitError
        The time ran out before anything was found; later, the findings there are come back, the others cut short.

    Examples
    --------
    >>> print(audit(Instance([[16, 1], [1, 2]], [100, 100]), "ceei", "strategy-proofness").results[0].witness)
    user u1 reports (16, 32/3) instead of (16, 1) and runs 75/16 tasks instead of 100/31; no report brings more
    """
    checked_flags(integer=integer)
    chosen, asked = policy_on(policy, instance), properties_named(properties)
    built_in = chosen.objective in ("leximin", "alpha", "sum", "servers")
    chosen.check(instance, integer, FEATURES)
    deadline = Deadline.asked(time_limit)
    integer = in_whole_tasks(instance, chosen, integer)
    if ruled.beyond(instance, integer) and (built_in or chosen.objective == "formulation"):
        names = tuple(row.name for row in asked)
        found = ruled.findings(instance, chosen, names, properties is None, deadline, integer)
        return Audit(instance, chosen.name, integer, *found)
    results = findings(cluster_of(instance), chosen, asked, integer, deadline)
    return Audit(instance, chosen.name, integer, results)


def _because(finding: Finding) -> str:
    said = [str(part) for part in (finding.note, finding.witness) if part]
    tried = [f"{counted(finding.trials, 'case')} tried"] if finding.trials and finding.witness is None else []
    return "; ".join([*filter(None, [": ".join(said)]), *tried])
