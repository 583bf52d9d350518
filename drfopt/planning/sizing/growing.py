"""Purchases that pass: found by asking for what the last one lacked, and made cheaper by leaving out what it can."""

from fractions import Fraction

import numpy as np

from ...base.deadline import Deadline
from .judging import Judge
from .steps import Steps
from .wanting import Wanting

__all__ = ["grow", "mend", "shrink"]

ROUNDS = 12
"""Tries to find a first purchase that passes; each asks for what the last one lacked."""

BEYOND = 1.01
"""Times the level that was missed, after each try, for the next."""


def grow(judge: Judge, steps: Steps, wanting: Wanting, counts: np.ndarray, deadline: Deadline) -> None:
    """Ask for what a purchase lacks, again and again, until one passes."""
    extra = np.zeros(judge.shop.instance.n)
    for tried in range(ROUNDS):
        up = steps.up(counts)
        trial = judge.judged(steps.exact(up), deadline)
        if not trial.missed:
            return
        extra = np.maximum(extra, wanting.lacking(trial, up) * BEYOND**tried)
        found = wanting.relaxation.solve(wanting.at(up).raised(extra), steps.everything, deadline)
        if found.counts is None:
            return
        counts = found.counts


def mend(judge: Judge, steps: Steps, wanting: Wanting, counts: np.ndarray, deadline: Deadline) -> None:
    """Judge the cheapest purchase for what is needed at the proportions of a purchase."""
    found = wanting.relaxation.solve(wanting.at(counts), steps.everything, deadline)
    if found.counts is not None:
        exact = steps.exact(steps.up(found.counts))
        if judge.best is None or judge.shop.cost(exact) < judge.best.cost:
            judge.judged(exact, deadline)


def shrink(judge: Judge, steps: Steps, dearness: np.ndarray, bound: Fraction, deadline: Deadline) -> None:
    """Leave out of the best purchase what it can do without, the dearest (offers,) first, in halving steps.

    What would cost less than `bound` is known to fail.
    """
    for s in np.argsort(-dearness):
        best = judge.best
        if best is None:
            return
        step = best.counts[s]
        while step > 0 and judge.best is not None:
            step = Fraction(-(-step // 2)) if steps.whole[s] else step / 2
            fewer = list(judge.best.counts)
            fewer[s] = max(Fraction(0), fewer[s] - step)
            if bound <= judge.shop.cost(fewer) < judge.best.cost:
                judge.judged(tuple(fewer), deadline)
            if step == 1 or (not steps.whole[s] and step * 64 < best.counts[s]):
                break
