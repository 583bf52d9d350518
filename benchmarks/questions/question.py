"""What a question is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..measure import Bench, Row

__all__ = ["AWKWARD", "Question"]

AWKWARD = ("tied", "zero-heavy", "ill-scaled")
"""Families that are asked about at one size only."""


@dataclass(frozen=True)
class Question:
    """A question and how it is answered.

    Attributes
    ----------
    name : str
    question : str
    expectation : str
        Written before measuring.
    sizes : tuple
        What `run` is called with, one after the other; within a group from small to large.
    run : callable
        Measures one size: ``run(bench, size)`` returns its rows.
    smoke : tuple
        Sizes for a look whether everything runs.
    happened : str
        Written after the run whose results are committed.
    """

    name: str
    question: str
    expectation: str
    sizes: tuple
    run: Callable[[Bench, Any], list[Row]]
    smoke: tuple
    happened: str = ""
