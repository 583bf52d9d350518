"""Alpha fairness of whole tasks where its program's numbers are too far apart: leximin, and from there what is better.

The larger alpha is, the nearer is its optimum to the leximin of levels, and the farther apart are utilities: more than
a solver's tolerance tells apart.  So what is fair to the lowest levels comes first, and then branch and bound on prices
(`drfopt.certificates.price_tree`), which compares in integers, is asked for something better until it knows nothing.
"""

import contextlib
from dataclasses import replace

import numpy as np

from ...certificates import price_tree
from ...model.whole_values import WholeUsers
from ..problem import Answer, Problem
from . import frontier, rounding
from .milp import SEARCH

__all__ = ["solve"]

BOXES = 1_000
"""Boxes in which something better is looked for: the proof looks at more, and what it meets is climbed to."""


def solve(problem: Problem) -> Answer:
    """Return whole tasks; their status says that they are feasible, not that they are optimal."""
    instance, pool = problem.instance, problem.instance.machines is None
    leximin = replace(problem, policy=replace(problem.policy, objective="leximin"))
    answer = replace((frontier if pool else rounding).solve(leximin), engine="")
    users = WholeUsers(instance, problem.policy, problem.members.tolist())
    own, deadline = answer.tasks.tolist(), problem.deadline.part(SEARCH)
    with contextlib.suppress(price_tree.Undecided):
        while not deadline.stopped:
            better = price_tree.search(instance, problem.policy, users.spread(own), deadline, BOXES).better
            if better is None:
                break
            own = [better[i] for i in users.members]
    if own == answer.tasks.tolist():
        return replace(answer, status="feasible")
    return Answer(np.array(own, dtype=np.int64), status="feasible") if pool else frontier.packed_as(problem, users, own)
