"""Templates of sentences and numbers, each with the judge that says what would make it false.

A *saying* is a text that a command prints: a title, a cell, a note.  `judged` finds the template that it is of, asks
the template's judge, and counts; a text of no template is a fault, so that no sentence is printed that nobody judges.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

__all__ = ["NUMBER", "Book", "Template", "agrees", "close", "number"]

NUMBER = r"-?[0-9][0-9,]*(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?(?:/[0-9]+)?"
"""A number as sentences have it: ``75/16``, ``1,200``, ``0.333333``, ``1e-06``."""

PRINTED = Fraction(6, 10**6)
"""Relative difference that six digits leave."""


def number(text: str) -> Fraction:
    """Return a printed number."""
    return Fraction(text.replace(",", ""))


def close(one: Any, other: Any, part: Any = PRINTED) -> bool:
    """Say whether two numbers are the same to a part of the larger."""
    one, other = Fraction(one), Fraction(other)
    return abs(one - other) <= Fraction(part) * max(abs(one), abs(other)) + Fraction(1, 10**12)


def agrees(text: str, value: Any, part: Any = PRINTED) -> bool:
    """Say whether a printed number is that value."""
    return close(number(text), value, part)


@dataclass(frozen=True)
class Template:
    """A sentence with gaps, and its judge.

    Attributes
    ----------
    name : str
    pattern : str
        A regular expression that a whole text has to match.
    judge : callable
        ``judge(case, **gaps)`` returns what is false, or nothing.
    """

    name: str
    pattern: str
    judge: Callable[..., str | None]


@dataclass
class Book:
    """Templates of one command, and how often each was judged, and found false."""

    templates: tuple[Template, ...]
    seen: Counter = field(default_factory=Counter)
    false: Counter = field(default_factory=Counter)

    def judged(self, case: Any, texts: Iterable[str]) -> list[str]:
        """Return what is false of some texts."""
        found = []
        for text in texts:
            if not text:
                continue
            for template in self.templates:
                if match := re.fullmatch(template.pattern, text):
                    self.seen[template.name] += 1
                    if fault := template.judge(case, **match.groupdict()):
                        self.false[template.name] += 1
                        found.append(f"[{template.name}] {text!r}: {fault}")
                    break
            else:
                self.false["no template"] += 1
                found.append(f"[no template] {text!r}")
        return found

    def told(self, name: str, fault: str | None) -> list[str]:
        """Count a judged number or verdict that is no text; return what is false of it."""
        self.seen[name] += 1
        if fault:
            self.false[name] += 1
            return [f"[{name}] {fault}"]
        return []
