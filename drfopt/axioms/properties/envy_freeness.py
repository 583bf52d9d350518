"""Envy-freeness: nobody would run more tasks with what another user holds.

    x[i] >= tasks that user i could run in (w[i] / w[k]) of what user k holds,     for all i, k;

on machines class by class, on the classes that user i may use.  Whose whole task the empty cluster has no room for runs
none with what a weight scales to more than there is.  Without the weights, envy has no meaning where weights differ:
who counts twice holds more.
Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 3.

Most pairs need no look.  What k holds carries no more tasks of i than its amount of any one resource that i needs, so i
envies nobody of a crowd of users if of one such resource nobody among them has more for her weight than i has.  The
crowds are those who use the same resources: under drf, a crowd that uses what stopped i has no higher level, hence not
more of the dominant resource of i; and a crowd that does not use it has nothing of it.

Envy-freeness up to one task (EF1): who envies another no longer does once what one task of its own needs is taken from
the bundle.  With the envied user's task taken instead, no whole division is both
Pareto efficient and free of such envy.
Source: Parkes, Procaccia and Shah, Beyond dominant resource fairness, TEAC 2015.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from ...base.numbers.enclosures import Enclosure
from ...base.numbers.shown import counted
from ..case import AuditCase
from ..economy import Number, high, low, side_by_side
from ..verdicts import FAILS, Count, Finding, Witness

__all__ = ["NAME", "UP_TO_ONE", "Envy", "EnvyUpToOne", "check", "check_up_to_one"]

NAME = "envy-freeness"
UP_TO_ONE = "envy-up-to-one-task"

BY_PRICES = "a bundle it would rather have costs more than its income, scaled to its weight"
"""Why it holds at an equilibrium however its prices are enclosed."""


@dataclass(frozen=True)
class Envy(Witness):
    """A user who would rather have what another holds."""

    property = NAME
    user: str
    other: str
    tasks: Number
    instead: Number
    scaled: bool = False

    def __str__(self) -> str:
        what = f"what user {self.other} holds" + (", scaled to its own weight" if self.scaled else "")
        tasks, instead = side_by_side(self.tasks, self.instead)
        return f"user {self.user} runs {counted(tasks, 'task')}, but would run {instead} with {what}"


@dataclass(frozen=True)
class EnvyUpToOne(Witness):
    """A user who would rather have what another holds, even after what one of her own tasks needs is taken from it."""

    property = UP_TO_ONE
    user: str
    other: str
    tasks: Number
    instead: Number

    def __str__(self) -> str:
        tasks, instead = side_by_side(self.tasks, self.instead)
        return (
            f"user {self.user} runs {counted(tasks, 'task')}, but would run {instead} with what user "
            f"{self.other} holds: taking what one task of {self.user} needs from it is not enough"
        )


def check(case: AuditCase) -> Finding:
    """Compare every user's tasks with those she could run on the bundle of every other."""

    def envy(i: int, k: int, tasks: Number, instead: Number) -> Envy:
        names, weights = case.cluster.users, case.cluster.weights
        return Envy(names[i], names[k], tasks, instead, weights[i] != weights[k])

    return _compared(case, NAME, lambda carried: carried, envy, BY_PRICES if case.fair_market else "")


def check_up_to_one(case: AuditCase) -> Finding:
    """Compare every user's tasks, and one more, with those she could run on the bundle of every other."""

    def envy(i: int, k: int, tasks: Number, instead: Number) -> EnvyUpToOne:
        return EnvyUpToOne(case.cluster.users[i], case.cluster.users[k], tasks, instead)

    return _compared(case, UP_TO_ONE, _one_less, envy, "")


def _compared(
    case: AuditCase,
    name: str,
    left: Callable[[Number], Number],
    envy: Callable[[int, int, Number, Number], Witness],
    settled: str,
) -> Finding:
    """Look for a user with fewer tasks than what is `left` of those of hers that another's bundle carries."""
    perhaps, count, truth = _Perhaps(case), Count(), case.given
    packed = truth.packing is not None
    note = "as the tasks are packed here; there may be other ways" if packed else ""
    for i, mine in enumerate(truth.tasks):
        for k in perhaps(i):
            carried = case.of_another(i, k)
            if count.falls(mine, case.limited(i, left(carried))):
                witness = envy(i, k, mine, case.limited(i, carried))
                return Finding(name, FAILS, witness, exact=not truth.computed, note=note, tied=truth.tied or packed)
    return count.finding(name, exact=not truth.computed, settled=settled, note=note, tied=truth.tied or packed)


def _one_less(tasks: Number) -> Number:
    lower, upper = (max(end - 1, Fraction(0)) for end in (low(tasks), high(tasks)))
    return lower if lower == upper else Enclosure(lower, upper)


class _Perhaps:
    """Whom a user may envy: everybody else, or those whom no one look at their crowd leaves out."""

    def __init__(self, case: AuditCase):
        self.cluster, self.tasks = case.cluster, case.given.tasks
        self.held = _for_weight(case)
        alike: dict[tuple[bool, ...], list[int]] = {}
        for k, amounts in enumerate(self.held):
            alike.setdefault(tuple(map(bool, amounts)), []).append(k)
        # Of every crowd the most that somebody in it has of each resource.
        self.crowds = [
            (list(map(max, zip(*(self.held[k] for k in users), strict=True))), users) for users in alike.values()
        ]

    def __call__(self, i: int) -> Iterable[int]:
        """Return the users whom user i may envy, in order."""
        if not self.held:
            return (k for k in range(self.cluster.n) if k != i)
        if self.tasks[i] == self.cluster.limits[i]:
            return ()
        mine = [(j, amount) for j, amount in enumerate(self.held[i]) if self.cluster.demands[i][j]]
        crowds = [users for most, users in self.crowds if all(amount < most[j] for j, amount in mine)]
        return sorted(k for users in crowds for k in users if k != i)


def _for_weight(case: AuditCase) -> list[list[Fraction]]:
    """Return what everybody holds of each resource, divided by the weight there, (n, m); nothing of enclosures."""
    tasks = [x for x in case.given.tasks if isinstance(x, Fraction)]
    if len(tasks) < case.cluster.n:
        return []
    rows = enumerate(zip(case.cluster.demands, tasks, strict=True))
    return [[d * x / case.cluster.weight(k, j) for j, d in enumerate(demand)] for k, (demand, x) in rows]
