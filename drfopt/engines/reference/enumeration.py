"""The optimum over all integer allocations of a tiny cluster: write them all down and take the best.

Given   demands    n rows of m, what one task of each user needs; every user needs something
        machines   k rows: what one machine of a class has (m), and their count; a pool is one machine; where it has
                   devices (see `device_by_device`), by resource how many, and how much of it is on each
        limits     n, most tasks, rounded down; None for no limit
        eligible   n rows of k, the classes each user may use; None for all

A task runs on one machine.  So the loads that one machine can carry are listed first, and then, machine by
machine, all that the machines so far can run together: each earlier sum plus each load.  A vector of tasks is
dropped when another gives every user at least as many, for each objective below strictly prefers the larger.
What is kept therefore holds all optima, and an objective is one pass over it.

A user who can run no task has level 0 in every allocation, which decides nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from math import floor, gcd, lcm, prod
from typing import Any, NamedTuple

from ...base.errors import SolverError
from .algorithm1 import Classes, Limits, Machines, Row
from .device_by_device import NO_DEVICES, DevicesOf, fit_together

__all__ = [
    "EnumeratedOptimum",
    "TooManyToListError",
    "alpha_utility",
    "leximin",
    "loads",
    "market",
    "nash_product",
    "optimum",
    "packable",
    "total",
]

BUDGET = 2_000_000
"""Loads, sums and comparisons before giving up: a few seconds."""

LISTED = 200_000
"""The same for the loads of one machine."""

LARGEST_EXPONENT = 10_000
"""Largest exponent of an integer product: more makes numbers of megabytes out of a tiny cluster."""

Tasks = tuple[int, ...]
Objective = Callable[[Tasks], Any]


class TooManyToListError(SolverError):
    """More loads, sums and comparisons than the budget."""


class EnumeratedOptimum(NamedTuple):
    """The best value of an objective, and every vector of tasks (n,) that attains it."""

    value: Any
    allocations: list[Tasks]

    @property
    def tasks(self) -> Tasks:
        """One vector of tasks that attains it, (n,)."""
        return self.allocations[0]


def leximin(rates: Row) -> Objective:
    """Compare levels, lowest first: the sorted levels, where `rates` (n,) are levels of one task."""
    return lambda tasks: tuple(sorted(rate * x for rate, x in zip(rates, tasks, strict=True)))


def total(rates: Row) -> Objective:
    """Compare sums of levels, where `rates` (n,) are levels of one task."""
    return lambda tasks: sum((rate * x for rate, x in zip(rates, tasks, strict=True)), Fraction(0))


def nash_product(weights: Row) -> Objective:
    """Compare how many users have a task and, of equals, the product of ``tasks[i] ** e[i]`` over them.

    The exponents e are the weights (n,) times what makes them integers without a common divisor.  The product
    is then an integer and orders allocations as the product with the weights themselves does.

    Raises
    ------
    SolverError
        When an exponent is beyond `LARGEST_EXPONENT`.
    """
    scale = lcm(*(Fraction(weight).denominator for weight in weights))
    whole = [int(weight * scale) for weight in weights]
    exponents = [weight // gcd(*whole) for weight in whole]
    if max(exponents) > LARGEST_EXPONENT:
        raise SolverError(
            f"enumeration compares integer products, and these weights need an exponent of {max(exponents)}, "
            f"above {LARGEST_EXPONENT}: give weights that are simpler multiples of each other"
        )

    def served_and_product(tasks: Tasks) -> tuple[int, int]:
        powers = [x**e for x, e in zip(tasks, exponents, strict=True) if x]
        return len(powers), prod(powers)

    return served_and_product


def market(rates: Row, weights: Row, alpha: float) -> Objective:
    """Compare what alpha fairness does: the Nash product at alpha = 1."""
    return nash_product(weights) if alpha == 1 else alpha_utility(rates, weights, alpha)


def alpha_utility(rates: Row, weights: Row, alpha: float) -> Objective:
    """Compare the weighted sums of U(level), U(z) = z^(1 - alpha) / (1 - alpha), where alpha is not 1.

    Above 1 U of nothing is no number: how many users have a task comes first, and the sum is over them.  `rates` (n,)
    are levels of one task.  Sums are exact for whole alpha and else of 60 digits, to which equal ones are equal.
    """
    power, longer, digits = 1 - Fraction(str(alpha)), Context(prec=90), Context(prec=60)
    known: dict[tuple[Fraction, Fraction], Any] = {}

    def worth(weight: Fraction, level: Fraction) -> Any:
        if (weight, level) not in known:
            if power.denominator == 1:
                known[weight, level] = weight * level ** int(power) / power
            else:
                ends = [longer.divide(Decimal(f.numerator), Decimal(f.denominator)) for f in (level, power, weight)]
                raised = longer.power(ends[0], ends[1])
                known[weight, level] = longer.divide(longer.multiply(ends[2], raised), ends[1])
        return known[weight, level]

    def served_and_sum(tasks: Tasks) -> tuple[int, Any]:
        terms = [worth(w, rate * x) for w, rate, x in zip(weights, rates, tasks, strict=True) if x]
        if power.denominator == 1:
            return len(terms), sum(terms, Fraction(0))
        found = Decimal(0)
        for term in terms:
            found = longer.add(found, term)
        return len(terms) if power < 0 else 0, digits.plus(found)

    return served_and_sum


def optimum(
    objective: Objective,
    demands: Sequence[Row],
    machines: Machines,
    limits: Limits,
    eligible: Classes = None,
    budget: int = BUDGET,
) -> EnumeratedOptimum:
    """Return the best value of the objective and all allocations that attain it.

    >>> optimum(nash_product([1, 1]), [[1, 4], [3, 1]], [([9, 18], 1)], [None, None])
    EnumeratedOptimum(value=(2, 6), allocations=[(3, 2)])
    """
    scored = [(objective(tasks), tasks) for tasks in packable(demands, machines, limits, eligible, budget)]
    best = max(value for value, _ in scored)
    return EnumeratedOptimum(best, [tasks for value, tasks in scored if value == best])


def packable(
    demands: Sequence[Row],
    machines: Machines,
    limits: Limits,
    eligible: Classes = None,
    budget: int = BUDGET,
) -> list[Tasks]:
    """Return the vectors of tasks (n,) that the machines can run and that are not below another.

    Raises
    ------
    TooManyToListError
        When more than `budget` loads, sums and comparisons would be needed.
    """
    meter = _Meter(budget)
    reached = [(0,) * len(demands)]
    for k, (room, count, *devices) in enumerate(machines):
        allowed = [limits[i] if eligible is None or eligible[i][k] else Fraction(0) for i in range(len(demands))]
        loads = _largest(_loads(demands, room, allowed, meter, *devices), meter)
        for _ in range(count):
            before = reached
            meter.spend(len(reached) * len(loads))
            reached = _largest((_sum(tasks, load, limits) for tasks in reached for load in loads), meter)
            if reached == before:
                break  # one more machine of this class adds nothing, and so does the rest of them
    return reached


def loads(demands: Sequence[Row], room: Row, devices: DevicesOf = NO_DEVICES, budget: int = LISTED) -> list[Tasks]:
    """Return what one machine can run of users without limits, (n,), and nothing that is below another.

    Raises
    ------
    TooManyToListError
        When more than `budget` steps would be needed.

    Examples
    --------
    >>> loads([[1, 4], [3, 1]], [4, 5])
    [(1, 1)]
    """
    meter = _Meter(budget)
    return _largest(_loads(demands, room, [None] * len(demands), meter, devices), meter) if demands else []


def _loads(
    demands: Sequence[Row], room: Row, limits: Limits, meter: "_Meter", devices: DevicesOf = NO_DEVICES
) -> Iterator[Tasks]:
    """Yield what one machine can run: any number of tasks of each user, and of the last as many as fit."""

    def extend(chosen: Tasks, left: Row) -> Iterator[Tasks]:
        meter.spend(1)
        i = len(chosen)
        if i == len(demands):
            if fit_together(demands, chosen, devices):
                yield chosen
            return
        fit = min(int(amount // need) for amount, need in zip(left, demands[i], strict=True) if need)
        limit = limits[i]
        most = fit if limit is None else min(fit, floor(limit))
        for x in range(most if i == len(demands) - 1 and not devices else 0, most + 1):
            yield from extend((*chosen, x), [a - x * d for a, d in zip(left, demands[i], strict=True)])

    return extend((), room)


def _sum(tasks: Tasks, load: Tasks, limits: Limits) -> Tasks:
    both = (a + b for a, b in zip(tasks, load, strict=True))
    return tuple(x if limit is None else min(x, floor(limit)) for x, limit in zip(both, limits, strict=True))


def _largest(candidates: Iterable[Tasks], meter: "_Meter") -> list[Tasks]:
    """Return the vectors that are not below another; only one with a larger sum can be above."""
    kept: list[Tasks] = []
    for tasks in sorted(set(candidates), key=lambda tasks: (-sum(tasks), tasks)):
        meter.spend(len(kept))
        if not any(all(a >= b for a, b in zip(other, tasks, strict=True)) for other in kept):
            kept.append(tasks)
    return kept


class _Meter:
    """Counts the work, and stops it at the budget."""

    def __init__(self, budget: int):
        self.budget = budget
        self.spent = 0

    def spend(self, nodes: int) -> None:
        self.spent += nodes
        if self.spent > self.budget:
            raise TooManyToListError(
                f"enumeration needs more than {self.budget:,} nodes here: it is meant for tiny clusters"
            )
