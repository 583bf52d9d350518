"""Envy-freeness up to one task (EF1): who envies another no longer does once one task is taken from the bundle.

What is taken is one task's worth of the envious user; with the envied user's task taken instead, no whole division
is both Pareto efficient and free of such envy.
Source: Parkes, Procaccia and Shah, Beyond dominant resource fairness, TEAC 2015.
"""

from dataclasses import dataclass
from fractions import Fraction

from ...base.numbers.enclosures import Enclosure
from ..case import AuditCase
from ..economy import Number, high, low, shown
from ..verdicts import FAILS, Count, Finding, Witness

__all__ = ["NAME", "EnvyUpToOne", "check"]

NAME = "envy-up-to-one-task"


@dataclass(frozen=True)
class EnvyUpToOne(Witness):
    """A user who would rather have what another holds, even after one of her tasks is taken from it."""

    property = NAME
    user: str
    other: str
    tasks: Number
    instead: Number

    def __str__(self) -> str:
        return (
            f"user {self.user} runs {shown(self.tasks)} tasks, but would run {shown(self.instead)} with what user "
            f"{self.other} holds: taking one task from it is not enough"
        )


def check(case: AuditCase) -> Finding:
    """Compare every user's tasks, and one more, with those she could run on the bundle of every other."""
    count, truth, cluster = Count(), case.shared, case.cluster
    packed = truth.packing is not None
    note = "as the tasks are packed here, one way of several" if packed else ""
    for i, user in enumerate(cluster.users):
        for k, other in enumerate(cluster.users):
            if i == k:
                continue
            instead = case.of_another(i, k)
            if count.falls(truth.tasks[i], _one_less(instead)):
                witness = EnvyUpToOne(user, other, truth.tasks[i], instead)
                return Finding(NAME, FAILS, witness, exact=not truth.computed, note=note, tied=truth.tied or packed)
    return count.finding(NAME, exact=not truth.computed, note=note, tied=truth.tied or packed)


def _one_less(tasks: Number) -> Number:
    lower, upper = (max(end - 1, Fraction(0)) for end in (low(tasks), high(tasks)))
    return lower if lower == upper else Enclosure(lower, upper)
