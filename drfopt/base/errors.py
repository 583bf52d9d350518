"""What can go wrong, as a small tree; every message names the culprit, its value and the remedy.

Two mistakes are answered with the error that Python has for them: `KeyError` for a part that a result does not have,
`AttributeError` for an attempt to change an `Instance`.

DrfoptError
├── InstanceError       (also ValueError)   the cluster or its file is not usable as it stands
├── PolicyError         (also ValueError)   what is asked of it is unknown or cannot be: a policy, an option beside it
│   └── FormulationError                    a user's formulation file is at fault
├── EngineError         (also ValueError)   the engine is unknown or cannot take this problem
├── SolverError         (also RuntimeError) a solver ended without an optimum
│   └── TimeLimitError                      ... because its time ran out
└── CertificateError    (also RuntimeError) an answer was found and could not be proven
"""

import difflib
from collections.abc import Collection, Iterable
from itertools import islice
from typing import Any

__all__ = [
    "UNRESOLVED",
    "CertificateError",
    "DrfoptError",
    "EngineError",
    "FormulationError",
    "InstanceError",
    "PolicyError",
    "SolverError",
    "TimeLimitError",
    "checked_flags",
    "listed",
    "renaming",
    "suggestion",
    "unknown_key",
]


class DrfoptError(Exception):
    """Root of what this package raises on purpose.

    But for the `KeyError` of a part that a result does not have, and the `AttributeError` of a change to an `Instance`.
    """


class InstanceError(DrfoptError, ValueError):
    """The cluster, or the file it came from, is not usable as it stands."""


class PolicyError(DrfoptError, ValueError):
    """What is asked of a cluster is unknown, has no such value, or cannot be asked of it: a policy, or an option."""


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


LONGEST_WORD, MOST_WORDS = 100, 10_000
"""Letters of a word and number of words that are compared: a mistake in a large file should cost no time."""

UNRESOLVED = "floats do not resolve it: choose units in which amounts are of like size, or solve with exact=True"
"""What is known where levels do not come apart in floats, be it for scales or for many users who are nearly tied."""

SHORT = 5
"""Letters below which another first letter makes another word: a gpu is no cpu."""


def suggestion(word: object, known: Iterable[object]) -> str:
    """Return ``": did you mean 'gpu'?"`` for the known word nearest to `word`, or an empty string.

    Near is a word with few letters changed, or a long one that begins as a short word does, such as the name of a
    machine class; no number is near to another.
    """
    near = _nearest(word, known)
    return "" if near is None else f": did you mean {near!r}?"


def renaming(word: str, there: Iterable[object]) -> str:
    """Return ``": write 'cpu' for 'CPU'"`` for what stands in place of a word that is missing, or an empty string."""
    near = _nearest(word, there)
    return "" if near is None else f": write {word!r} for {near!r}"


def _nearest(word: object, known: Iterable[object]) -> str | None:
    if not isinstance(word, str) or not word or len(word) > LONGEST_WORD or word.isdecimal():
        return None
    words = [name for name in islice(known, MOST_WORDS) if isinstance(name, str) and len(name) <= LONGEST_WORD]
    near = [name for name in difflib.get_close_matches(word, words, n=3, cutoff=0.5) if _slip(word, name)]
    near = near or [name for name in words if name.casefold().startswith(word.casefold())]
    return near[0] if near else None


def unknown_key(key: str, known: Collection[str], near: str | None = None) -> str:
    """Return the sentence on a key of a table that has only the `known`; `near` is said in place of the nearest one."""
    return (
        f"unknown key {key!r}: the keys here are {', '.join(known)}{suggestion(key, known) if near is None else near}"
    )


def checked_flags(**given: Any) -> None:
    """Refuse what stands for yes or no and is neither: the text "no" would count as yes.

    Raises
    ------
    PolicyError
        With the flag and what it is.
    """
    for name, value in given.items():
        if type(value).__name__ not in ("bool", "bool_"):
            raise PolicyError(f"{name} is {value!r}: give True or False")


def listed(values: Any, what: str, error: type[DrfoptError]) -> tuple[Any, ...]:
    """Return what a caller lists; a text is one thing, not its letters.

    Raises
    ------
    DrfoptError
        Of the kind of `error`, when they are no list.
    """
    if isinstance(values, str):
        return (values,)
    # An array without dimensions has what a list has, and nothing to list.
    if not isinstance(values, Iterable) or isinstance(values, bytes) or getattr(values, "ndim", 1) == 0:
        raise error(f"{what} are of type {type(values).__name__}: give a list of them")
    return tuple(values)


def _slip(word: str, name: str) -> bool:
    """Say whether a word can be a slip of the pen for a name."""
    edits = difflib.SequenceMatcher(None, word, name).get_opcodes()
    changed = sum(max(i2 - i1, j2 - j1) for kind, i1, i2, j1, j2 in edits if kind != "equal")
    kind, *_ = edits[0]
    begins = word.casefold()[0] == name.casefold()[0] or kind != "replace"
    return changed <= max(2, len(word) // 3) and (begins or (len(word) >= SHORT and changed == 1))
