"""What can go wrong, as a small tree; every message names the culprit, its value and the remedy.

DrfoptError
├── InstanceError       (also ValueError)   the cluster or its file is not usable as it stands
├── PolicyError         (also ValueError)   the policy is unknown or cannot take this instance
│   └── FormulationError                    a user's formulation file is at fault
├── EngineError         (also ValueError)   the engine is unknown or cannot take this problem
├── SolverError         (also RuntimeError) a solver ended without an optimum
│   └── TimeLimitError                      ... because its time ran out
└── CertificateError    (also RuntimeError) an answer was found and could not be proven
"""

import difflib
from collections.abc import Iterable

__all__ = [
    "CertificateError",
    "DrfoptError",
    "EngineError",
    "FormulationError",
    "InstanceError",
    "PolicyError",
    "SolverError",
    "TimeLimitError",
    "suggestion",
]

ALIKE = 0.9
"""Names whose first letters differ are taken for one another from this likeness on."""


class DrfoptError(Exception):
    """Root of everything this package raises on purpose."""


class InstanceError(DrfoptError, ValueError):
    """The cluster, or the file it came from, is not usable as it stands."""


class PolicyError(DrfoptError, ValueError):
    """The policy is unknown, or it cannot take this instance."""


class FormulationError(PolicyError):
    """A formulation file is at fault: it lacks ``build``, returns the wrong shapes, or fails inside."""


class EngineError(DrfoptError, ValueError):
    """The engine is unknown, or it cannot take this problem."""


class SolverError(DrfoptError, RuntimeError):
    """A solver ended without an optimum; the message carries its status."""


class TimeLimitError(SolverError):
    """The time limit ran out; ``known`` says in one sentence what was proven until then."""

    def __init__(self, message: str, known: str = ""):
        super().__init__(f"{message}; {known}" if known else message)
        self.known = known


class CertificateError(DrfoptError, RuntimeError):
    """An answer was found, and its certificate does not hold; the answer is not returned."""


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return ``": did you mean 'gpu'?"`` for the known word nearest to `word`, or an empty string.

    A long name that begins as a short word does, such as that of a machine class, is near to it too.
    """
    words = list(known)
    near = [name for name in difflib.get_close_matches(word, words, n=3, cutoff=0.5) if _slip(word, name)]
    near = near or [name for name in words if word and name.casefold().startswith(word.casefold())]
    return f": did you mean {near[0]!r}?" if near else ""


def _slip(word: str, name: str) -> bool:
    """Say whether a slip of the fingers makes one of the other: a gpu that is missing is no cpu with a wrong letter."""
    a, b = word.casefold(), name.casefold()
    return a[:1] == b[:1] or sorted(a) == sorted(b) or difflib.SequenceMatcher(None, a, b).ratio() >= ALIKE
