"""The proof of an allocation as it is read: whether it holds, by how much it is missed, and what stopped whom."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from ..base.errors import CertificateError
from .evidence import Evidence, QuotedEvidence, WholeEvidence

__all__ = ["Certificate", "Kind"]

Kind = TypeVar("Kind", bound=Evidence)


@dataclass(frozen=True)
class Certificate:
    """A proof of an allocation, computed from the instance and the numbers alone.

    Attributes
    ----------
    kind : str
        ``bottleneck``, ``chain``, ``prices``, ``duals``, ``bound`` ... what the proof consists of.
    valid : bool | None
        Whether it proves the claim to the accuracy in `drfopt.base.tolerances`; None where only feasibility was
        checked.
    violation : float
        Largest relative amount by which an optimality or feasibility condition is missed.
    gap : float | None
        Relative distance between the objective and a bound that nothing can exceed; None where there is no bound.
        Of enclosures the widest, relative to what it encloses.
    rigorous : bool
        Whether `violation` and `gap` are upper bounds, decided in integers or fractions. Otherwise they are estimates:
        computed in floats, with sums added up so that their rounding stays some thousand times below the tolerances,
        but bounds they are not. ``drfopt verify`` decides in fractions about a file of floats as well.
    stopped_by : callable
        Returns what stopped each user, (n,); `bottlenecks` asks it once.
    evidence : Evidence
        What the proof is made of, by its kind: rounds, prices, breakpoints, claims shown infeasible.
    reason : str
        Where it does not hold: the first condition missed, in words.
    """

    kind: str
    valid: bool | None
    violation: float
    gap: float | None = 0.0
    stopped_by: Callable[[], tuple] = field(default=tuple, repr=False, compare=False)
    evidence: Evidence = field(default_factory=Evidence, repr=False, compare=False)
    reason: str = ""
    rigorous: bool = False

    @cached_property
    def bottlenecks(self) -> tuple:
        """What stopped each user, (n,): a resource, a tuple of ``class/resource``, or None at its limit.

        Empty where nothing is known. Made when asked for: names of a million users are not free.
        """
        return self.stopped_by()

    def to_dict(self) -> dict[str, Any]:
        """Return the part of the certificate that a reader of results looks at."""
        evidence = self.evidence
        if isinstance(evidence, QuotedEvidence):
            # Read from a document, of which this is all that is known.
            return dict(evidence.quoted)
        document: dict[str, Any] = {
            "kind": self.kind,
            "valid": self.valid,
            "violation": self.violation,
            "gap": self.gap,
        }
        if evidence.judge:
            document |= {"judge": evidence.judge, "rigorous": self.rigorous}
        if self.valid is None and self.reason:
            document |= {"reason": self.reason}
        if self.valid is None and isinstance(evidence, WholeEvidence) and evidence.bound is not None:
            proven = evidence.claims
            document |= {"proven_levels": len(proven), "proven_users": sum(count for _, count, _ in proven)}
            document |= {"next_level": float(evidence.level), "bound": float(evidence.bound)}
            if evidence.above:
                keys = ("level", "users", "bound")
                document["above"] = [
                    dict(zip(keys, (float(v), n, float(b)), strict=True)) for v, n, b in evidence.above
                ]
        if self.valid is None and isinstance(evidence, WholeEvidence) and evidence.maximal is not None:
            document["maximal"] = evidence.maximal
        if evidence.below_continuous is not None:
            document["below_continuous"] = [
                {"user": user, "tasks": tasks, "whole_part": promised}
                for user, tasks, promised in evidence.below_continuous
            ]
        return document

    def proof(self, kind: type[Kind]) -> Kind:
        """Return the evidence as one of that kind.

        Raises
        ------
        CertificateError
            When it is of another.
        """
        if not isinstance(self.evidence, kind):
            raise CertificateError(f"a certificate of kind {self.kind!r} was read from a document, without its proof")
        return self.evidence
