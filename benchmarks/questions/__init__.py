"""The questions: what is asked, what was expected before anything was measured, and what happened.

An expectation is never edited after its first measurement; where it was wrong, `happened` says so.
"""

from . import (
    bulk,
    costs,
    crowds,
    exact,
    integers,
    machines,
    organisations,
    planning,
    pools,
    properties,
    purchases,
    reports,
    section7,
    simulation,
    tables,
)
from .question import Question

__all__ = ["QUESTIONS", "Question", "question_named"]

QUESTIONS: tuple[Question, ...] = (
    *pools.QUESTIONS,
    *crowds.QUESTIONS,
    *bulk.QUESTIONS,
    *tables.QUESTIONS,
    *machines.QUESTIONS,
    *organisations.QUESTIONS,
    *integers.QUESTIONS,
    *exact.QUESTIONS,
    *properties.QUESTIONS,
    *planning.QUESTIONS,
    *simulation.QUESTIONS,
    *purchases.QUESTIONS,
    *section7.QUESTIONS,
    *reports.QUESTIONS,
    *costs.QUESTIONS,
)
"""The registry. A question is one row in a file of this folder and one function."""


def question_named(name: str) -> Question:
    """Return the question of that name; `KeyError` lists what there is."""
    known = {question.name: question for question in QUESTIONS}
    if name not in known:
        raise KeyError(f"there is no question {name!r} (known: {', '.join(known)})")
    return known[name]
