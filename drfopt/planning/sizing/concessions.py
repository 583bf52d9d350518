"""Where nothing that may be bought meets the targets: by how much they must come down at the least.

All that is for sale is bought, and tasks are placed without regard to fairness: what does not fit then, fits never.
So these are bounds from above; what was judged are bounds from below.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ...base.deadline import Deadline
from ...base.numbers.shown import DIGITS_OF_CELLS, at_most, counted, not_above, not_below
from .branch_and_bound import PurchaseSearch
from .needs import Least
from .relaxation import MISSING, SLACK
from .targets import Target

__all__ = ["Concession", "concessions"]

HALVINGS = 30
"""Times an interval of factors is halved: to a billionth."""

ADDED = 4 * SLACK
"""Relative error by which a factor may be above what fits, the programs' own slack: that near it is rounded off."""

QUOTIENT = 1e-14
"""Relative error of a bound that is a quotient of floats, and no program's."""

NOTHING = 1e-6
"""Part of a target that is as good as nothing: tolerances of the program leave some."""

NAMED = 20
"""Targets that are looked at one by one, and no more."""

SHOWN = 5
"""Limits that are named in the sentences; all are in the document."""

METHODS = 10.0
"""For all of it: it is said when there is nothing better to say."""


@dataclass(frozen=True)
class Concession:
    """Factors between 0 and 1 that no purchase can exceed.

    Attributes
    ----------
    all : float
        Every target times this, at most, can be met together.
    alone : list of (Target, float)
        Where this target comes down to that part of it and no other does, at most.
    limited : list of (Target, float)
        Shares and levels that the user's own limit forbids, whatever is bought, and the most that it allows her.
    several : bool
        Whether more than one allocation may be best, of which the one that `solve` returns was judged.
    roomy : bool
        Whether all targets are numbers of divisible tasks: with a factor of 1 there is room for them.
    by_machine : bool
        Whether what every machine gives each user is known, and was counted.
    """

    all: float
    alone: tuple[tuple[Target, float], ...]
    limited: tuple[tuple[Target, float], ...] = ()
    several: bool = False
    roomy: bool = False
    by_machine: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "all": self.all,
            "alone": [
                {"user": t.name, "measure": t.measure, "least": float(t.least), "at_most": factor * float(t.least)}
                for t, factor in self.alone
            ],
            "limited": [
                {"user": t.name, "measure": t.measure, "least": float(t.least), "at_most": most}
                for t, most in self.limited
            ],
        }

    def sentences(self) -> list[str]:
        """Return it in words."""
        if self.all >= 1:
            judged = ", as far as solve() returns one of several that are best" if self.several else ""
            room = "there is room for all numbers of tasks, but " if self.roomy else ""
            return [f"{room}no fair allocation of anything for sale meets the targets{judged}"]
        if self.limited:
            text = ", ".join(
                f"{not_above(most):.{DIGITS_OF_CELLS}g} for {target}" for target, most in self.limited[:SHOWN]
            )
            more = f" and {len(self.limited) - SHOWN} more" if len(self.limited) > SHOWN else ""
            one = len(self.limited) == 1
            are, these, they = ("is", "this limit", "it allows") if one else ("are", "these limits", "they allow")
            return [
                f"{counted(len(self.limited), 'target')} {are} above what a user's own limit allows, whatever "
                "is bought",
                f"raise {these}, or ask for no more than {they}: {text}{more}",
                f"at most {at_most(self.all, error=QUOTIENT)} of every target can be met together",
            ]
        most = at_most(self.all, error=ADDED)
        found = [f"even without fairness at most {most} of every target fits"]
        if self.by_machine:
            found = [f"all for sale, each machine divided by itself, gives at most {most} of every target"]
        if able := [(target, factor) for target, factor in self.alone if factor > NOTHING]:
            text = ", ".join(f"{target.what} down to {_bound(factor * float(target.least))}" for target, factor in able)
            found.append(f"giving up one alone, at least: {text}")
        return found


def _bound(value: float) -> str:
    return f"{not_below(value, error=ADDED):.{DIGITS_OF_CELLS}g}"


def concessions(search: PurchaseSearch) -> Concession:
    """Return by how much the targets of a search that found nothing must come down at the least."""
    targets = search.targets
    if beyond := search.wanting.beyond(search.steps.everything):
        beyond.sort(key=lambda pair: pair[1] / float(pair[0].least))
        worst, most = beyond[0]
        return Concession(most / float(worst.least), (), tuple(beyond))
    deadline = Deadline.after(METHODS)
    everything = _largest(search, lambda factor: [_times(t, factor) for t in targets], deadline)
    alone = []
    if everything < 1 and 1 < len(targets) <= NAMED:
        for n, target in enumerate(targets):
            rest = [*targets[:n], *targets[n + 1 :]]
            alone.append((target, _largest(search, lambda f, t=target, r=rest: [*r, _times(t, f)], deadline)))
    judge = search.judge
    roomy = not judge.integer and all(target.measure == "tasks" for target in targets)
    several, by_machine = judge.integer or judge.policy.objective == "sum", bool(len(search.relaxation.given))
    return Concession(everything, tuple(alone), (), several, roomy, by_machine)


def _times(target: Target, factor: float) -> Target:
    return replace(target, least=target.least * Fraction(factor))


def _largest(search: PurchaseSearch, scaled: Any, deadline: Deadline) -> float:
    """Return the largest factor at which the scaled targets fit, rounded up."""
    low, high = 0.0, 1.0
    if _fits(search, scaled(1.0), deadline):
        return 1.0
    if not _fits(search, scaled(low), deadline):
        return 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if _fits(search, scaled(middle), deadline):
            low = middle
        else:
            high = middle
    return high if low else 0.0


def _fits(search: PurchaseSearch, targets: Sequence[Target], deadline: Deadline) -> bool:
    region, wanting = search.steps.everything, search.wanting
    low = search.relaxation.totals.after(region.low)
    tasks = wanting.needs.asked(targets, low)
    needs = Least(tasks, np.zeros((len(tasks), len(low))), False, low)
    return search.relaxation.least_overload(needs, region, deadline) <= MISSING
