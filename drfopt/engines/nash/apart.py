"""Who is furthest apart in a market that floats do not resolve: for the sentence that says so."""

from collections.abc import Callable, Sequence

import numpy as np

from ...base.errors import SolverError
from ...base.states import Worst
from ..problem import Problem

__all__ = ["ends", "unresolved"]


def ends(problem: Problem, incomes: np.ndarray, number: int = 0) -> tuple[Worst, ...]:
    """Return whose weight is largest and whose least, and the same of what a task needs of each resource.

    Values are decimal logarithms, of the least ones their negatives; users who need nothing of a resource do not count.
    Who it is is the number of the part, and the row there.
    """
    instance, found = problem.instance, list[Worst]()
    for values in (np.asarray(incomes, dtype=float), *instance.demands[problem.members].T):
        there = np.flatnonzero(values > 0)
        size = np.log10(values[there])
        for signed in (size, -size):
            at = int(signed.argmax()) if len(there) else 0
            whose = [number, int(problem.members[there[at]])] if len(there) else []
            found.append(Worst(float(signed[at]) if len(there) else -np.inf, *whose))
    return tuple(found)


def unresolved(
    what: str, found: Sequence[Worst], resources: Sequence[str], called: Callable[[int, int], str]
) -> SolverError:
    """Return the error of a market whose `ends` are these, with who is furthest apart; `what` is what failed."""
    pairs = list(zip(found[::2], found[1::2], strict=True))
    said = ["the weights", *(f"the demands for {resource!r}" for resource in resources)]
    (most, least), amounts = max(zip(pairs, said, strict=True), key=lambda one: one[0][0].value + one[0][1].value)
    apart = most.value + least.value
    if not apart >= 1:
        return SolverError(
            f"{what}, though no weights or demands are ten times apart: bring limits, guarantees and capacities nearer "
            "to each other"
        )
    return SolverError(
        f"{what}: {amounts} of {called(*most.whose)} and {called(*least.whose)} are 10^{apart:.0f} apart: bring them "
        "nearer to each other"
    )
