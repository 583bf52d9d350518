"""Is this really the answer?  Decided in fractions by the verifier, which imports nothing and asks no solver."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..base.errors import InstanceError
from ..base.results import Result
from ..base.tables import Column, Sheet
from ..certificates.document import certificate_document
from ..certificates.verifier import Check, loads
from ..certificates.verifier import verify as verified
from ..io.text.files import read_text
from ..model.allocation import Allocation
from ..model.document import document
from ..model.instance import Instance, checked_instance

__all__ = ["Verification", "verify"]

HELD = {True: "holds", False: "FAILS", None: "not decided"}
VERDICTS = {True: "valid", False: "NOT valid", None: "feasibility checked, optimality not proven"}
IN_PART = "feasibility checked, optimality proven in part"
"""Of whole tasks of which some levels are proven: of those checks say that no fewer users can be there."""
OF_AN_AUDIT = VERDICTS | {None: "not all verdicts are decided"}


@dataclass(frozen=True, eq=False)
class Verification(Result):
    """What was checked of an answer.

    Attributes
    ----------
    valid : bool or None
        True where the claim is proven, False where a check failed, None where something that a proof needs is missing.
    accuracy : Fraction
        What numbers may be off by, relatively: 0 where they are fractions.
    checks : tuple of Check
        One a condition, with ``.name``, ``.holds`` (None: not decided) and ``.worst``, the first fault in words.
    answer : str
        The file, or what was verified.
    audit : bool
        Whether it has verdicts on properties.
    """

    _schema = "drfopt verification 1"
    _rows = "checks"

    valid: bool | None
    accuracy: Fraction
    checks: tuple[Check, ...]
    answer: str = ""
    audit: bool = False

    def named(self) -> dict[str, Check]:
        """Return the checks by name."""
        return {check.name: check for check in self.checks}

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``drfopt verify --json`` prints."""
        checks = [{"name": check.name, "holds": check.holds, "worst": check.worst} for check in self.checks]
        return {"schema": self._schema, "valid": self.valid, "accuracy": float(self.accuracy), "checks": checks}

    def sheet(self) -> Sheet:
        """Return the table: a row a check."""
        verdict = (OF_AN_AUDIT if self.audit else VERDICTS)[self.valid]
        if (
            self.valid is None
            and not self.audit
            and any(c.holds and c.name.startswith("no fewer") for c in self.checks)
        ):
            verdict = IN_PART
        floats = f"to {float(self.accuracy):.0e}, which is what floats are held to" if self.accuracy else "exactly"
        return Sheet(
            self.answer,
            (Column("check"), Column(""), Column("first fault")),
            [(check.name, HELD[check.holds], check.worst) for check in self.checks],
            (f"{verdict}: decided in fractions, {floats}",),
            document=self.to_dict,
        )


def verify(answer: Allocation | Mapping[str, Any] | str | Path, instance: Instance | None = None) -> Verification:
    """Check an answer in exact arithmetic, without any solver.

    Parameters
    ----------
    answer : Allocation, mapping, or path
        An allocation, with its proof; or what ``solve --json`` or ``--certificate`` wrote, as a file or read.
    instance : Instance, optional
        The instance that it is to be the answer of; certificate files and allocations have their own.

    Returns
    -------
    Verification

    Raises
    ------
    InstanceError
        When it is no such answer.

    Examples
    --------
    >>> verify(solve(Instance([[1, 4], [3, 1]], [9, 18]), exact=True)).valid
    True
    """
    if isinstance(answer, Instance):
        raise InstanceError("the answer comes first, and the instance after it: verify(allocation, instance)")
    if isinstance(answer, Allocation):
        place, text = f"{answer.policy} of {answer.instance.name or 'the instance'}", None
        data: Any = certificate_document(answer)
    elif isinstance(answer, Mapping):
        place, text, data = "the answer", None, dict(answer)
    else:
        place, text, data = str(answer), read_text(answer), None
    if instance is not None:
        checked_instance(instance)
    given = None if instance is None else document(instance)
    try:
        # Written and read, so that a float means its shortest decimal here as in a file.
        read = loads(json.dumps(data) if text is None else text)
        report = verified(read, given)
    except json.JSONDecodeError as error:
        raise InstanceError(
            f"{place}: line {error.lineno} is no JSON: give what 'solve --json' or 'solve --certificate' wrote"
        ) from None
    except (TypeError, ValueError, RecursionError) as error:
        what = (
            str(error) if "name " in str(error) else f"{error}: give what 'solve --json' or 'solve --certificate' wrote"
        )
        raise InstanceError(f"{place}: {what}") from None
    return Verification(report.valid, report.accuracy, tuple(report.checks), place, "audits" in read)
