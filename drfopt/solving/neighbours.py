"""Answers in whole tasks that are not proven, of clusters that are alike: none is worse than what another shows.

What runs before machines are added runs afterwards, and what runs with fewer runs with more: where a search was cut
short, the other's tasks are an answer too, and the better one is taken.  Without that a comparison of the two would say
more of searches than of clusters.
"""

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

from ..base.deadline import Deadline
from ..base.errors import SolverError, TimeLimitError
from ..base.solvers.table import DIRECT, interface
from ..certificates import whole
from ..engines.problem import Answer, Problem
from ..engines.whole.carrying import Running, carried
from ..model.allocation import Allocation
from ..model.evidence import WholeEvidence
from ..model.policies import policy_on
from .allocating import allocated, settled

__all__ = ["as_good", "none_worse", "searching"]

CARRIED = "carried"
"""The engine that answers are of which run on another cluster."""

SEARCHING = 0.9
"""Part of the time in which whole tasks are looked for; the rest is for what is carried to others."""


def searching(deadline: Deadline, integer: bool) -> Deadline:
    """Return the deadline of the answers themselves: of whole tasks some time is left for what is carried to others."""
    return deadline.part(SEARCHING) if integer else deadline


def none_worse(allocations: Iterable[Allocation], deadline: Deadline) -> list[Allocation]:
    """Return whole tasks of clusters that are alike, each that is not proven as good as its neighbours show it can be.

    All others are returned as they are.
    """
    found = list(allocations)
    upwards = list(pairwise(range(len(found))))
    steps = upwards + [(here, there) for there, here in reversed(upwards)]
    for number, (there, here) in enumerate(steps):
        if found[there].integer:
            ends = Deadline.after(deadline.share(len(steps) - number))
            found[here] = as_good(found[here], Running.of(found[there]), ends)
    return found


def as_good(found: Allocation, running: Running, deadline: Deadline) -> Allocation:
    """Return an allocation, or, where it is not proven and what runs elsewhere is better on its cluster, that.

    Which of two is better the policy's own order says, exactly; where it has no number, as in several groups, one is
    that lets nobody have less.  Policies of single machines and of formulation files are left alone.
    """
    policy = policy_on(found.policy, found.instance)
    if not found.integer or found.finished or policy.objective in ("formulation", "servers"):
        return found
    begun = time.perf_counter()
    problem = Problem(found.instance, policy, True, deadline, solver=interface(found.solver or DIRECT))
    answer: Answer | None = None
    with suppress(SolverError, TimeLimitError):
        answer = carried(problem, running)
    if answer is None:
        return found
    old, new = found.tasks.tolist(), problem.whole_users.spread(answer.tasks.tolist())
    here, there = whole.score(found.instance, policy, old), whole.score(found.instance, policy, new)
    if not (there > here or (not there and new != old and all(x >= y for x, y in zip(new, old, strict=True)))):
        return found
    # What is proven of the lowest levels is proven of those that are as high.
    known = WholeEvidence(packing=answer.evidence.packing, claims=found.certificate.proof(WholeEvidence).claims)
    answer = replace(answer, engine=f"{CARRIED} after {found.engine}", evidence=known)
    better = allocated(problem, settled(problem, answer), begun, found.solver or DIRECT)
    return replace(better, seconds=found.seconds + better.seconds)
