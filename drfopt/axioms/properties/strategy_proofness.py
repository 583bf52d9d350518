"""Strategy-proofness: nobody runs more tasks, by her true demand, after a misreport about it.

Her report may claim any demand; what it brings is worth min over j of (bundle[j] / d[i, j]) to her, at most her
limit.  How the best misreport is found is said in `drfopt.axioms.manipulation.best_response`, one file for each kind of
policy. Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 3.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from ...base.progress import report as say
from ..case import AuditCase
from ..economy import Number, Row, below, shown
from ..manipulation.best_response import best_response
from ..verdicts import FAILS, HOLDS, UNDECIDED, Finding, Witness, row

__all__ = ["NAME", "Misreport", "check"]

NAME = "strategy-proofness"


@dataclass(frozen=True)
class Misreport(Witness):
    """A report that brings a user more than the truth; `most` is what no report exceeds, where that is known."""

    property = NAME
    user: str
    demand: Row
    report: Row
    tasks: Number
    instead: Number
    most: Number | None = None

    def __str__(self) -> str:
        said = (
            f"user {self.user} reports {row(self.report)} instead of {row(self.demand)} and runs "
            f"{shown(self.instead)} tasks instead of {shown(self.tasks)}"
        )
        if self.most is None:
            return said
        if self.most == self.instead:
            return f"{said}; no report brings more"
        return f"{said}; no report brings more than {shown(self.most)}"


def check(case: AuditCase) -> Finding:
    """Ask every user for her best response."""
    truth, trials, decided, tied = case.truth, 0, True, case.truth.tied
    within, open_to_trials = Fraction(0), False
    misreport: tuple[Misreport, bool] | None = None
    for i, user in enumerate(case.cluster.users):
        say(f"strategy-proofness: {i} of {case.cluster.n} users asked")
        response = best_response(case, i)
        trials += response.trials
        within = max(within, response.within)
        if response.report is not None and response.value is not None and below(truth.tasks[i], response.value):
            numbers = (truth.tasks[i], response.value, response.most)
            found = Misreport(user, case.cluster.demands[i], response.report, *numbers)
            if misreport is None or (misreport[1] and not response.tied):
                misreport = found, response.tied
            if not response.tied:
                break
        elif not response.decided:
            decided, open_to_trials = False, open_to_trials or not response.tied
    if misreport is not None:
        witness, broken = misreport
        return Finding(NAME, FAILS, witness, exact=not truth.computed, trials=trials, tied=broken)
    if decided and within:
        return Finding(NAME, HOLDS, exact=False, note=f"no report brings more than (1 + {_rounded_up(within)}) times")
    if decided:
        return Finding(NAME, HOLDS, exact=not truth.computed, tied=tied)
    note = "" if open_to_trials else "nobody gains by a misreport unless a tie is broken in its favour"
    return Finding(NAME, UNDECIDED, exact=False, trials=trials, note=note, tied=tied)


def _rounded_up(within: Fraction) -> str:
    """Return the power of ten that is not below."""
    return f"1e{math.ceil(math.log10(within))}"
