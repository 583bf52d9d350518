"""What an audit says of one property: a verdict, and where it fails a witness whose text is a sentence with numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

from ..base.numbers.enclosures import Enclosure, text
from .economy import Number, below, reaches, shown

__all__ = ["FAILS", "HOLDS", "UNDECIDED", "Count", "Finding", "Witness", "row"]

HOLDS, FAILS, UNDECIDED = "holds", "fails", "no violation found"


@dataclass(frozen=True)
class Witness:
    """Proof that a property fails: who loses what, in exact numbers; its text is a sentence."""

    property: ClassVar[str] = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the sentence and the numbers, fractions as text."""
        return {"text": str(self)} | {field.name: _plain(getattr(self, field.name)) for field in fields(self)}


@dataclass(frozen=True)
class Finding:
    """The verdict on one property.

    Attributes
    ----------
    property, verdict : str
        The verdict is ``holds``, ``fails`` or ``no violation found``.
    witness : Witness or None
    exact : bool
        Whether the verdict was reached in fractions, or in enclosures that they prove.
    trials : int
        How many cases were tried, where trying was all that could be done.
    note : str
    tied : bool
        Whether the policy leaves a choice between optima, one of which was audited.
    cut_short : bool
        Whether the time ran out before there was a verdict.
    """

    property: str
    verdict: str
    witness: Witness | None = None
    exact: bool = True
    trials: int = 0
    note: str = ""
    tied: bool = False
    cut_short: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return a row of ``drfopt audit --json``."""
        document = {
            "property": self.property,
            "verdict": self.verdict,
            "witness": None if self.witness is None else self.witness.to_dict(),
            "exact": self.exact,
            "trials": self.trials,
        }
        return document | ({"note": self.note} if self.note else {})

    def __str__(self) -> str:
        more = self.witness or self.note
        return f"{self.property} {self.verdict}" + (f": {more}" if more else "")


class Count:
    """Counts comparisons until one shows a violation: what the verdict of a property is made of."""

    def __init__(self) -> None:
        self.made = 0
        self.open = 0

    def falls(self, mine: Number, claim: Number) -> bool:
        """Say whether `mine` is certainly less than `claim`; what the enclosures leave open is counted."""
        self.made += 1
        if below(mine, claim):
            return True
        if not reaches(mine, claim):
            self.open += 1
        return False

    def finding(
        self, name: str, *, exact: bool, decided: bool = True, settled: str = "", note: str = "", tied: bool = False
    ) -> Finding:
        """Return the verdict when no violation was found: it holds where every comparison was decided.

        `settled` is a theorem that decides what enclosures leave open.
        """
        if self.open and settled:
            return Finding(name, HOLDS, note=settled)
        if decided and not self.open:
            return Finding(name, HOLDS, exact=exact, note=note, tied=tied)
        return Finding(name, UNDECIDED, exact=False, trials=self.made, note=note, tied=tied)


def row(values: Sequence[Number]) -> str:
    """Return a row of numbers as a sentence has it: ``(16, 32/3)``."""
    return f"({', '.join(map(shown, values))})"


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction | Enclosure):
        return text(value)
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    return value
