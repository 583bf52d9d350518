"""The weighted product of whole tasks as something that can be compared: users served first, then the product."""

import math
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from fractions import Fraction

__all__ = ["exactly", "products"]

EXPONENT = 1000
"""Largest exponent to which tasks are raised exactly; weights such as 0.3333333333333333 would need one of 10^16."""

DIGITS = 60
"""Digits of the logarithm that stands for the product beyond it: equal to so many digits counts as equal."""


def _powers(weights: Sequence[Fraction]) -> list[int]:
    """Return the smallest integers in the proportions of the weights."""
    scale = math.lcm(*(weight.denominator for weight in weights)) if weights else 1
    powers = [int(weight * scale) for weight in weights]
    common = math.gcd(*powers) or 1
    return [power // common for power in powers]


def exactly(weights: Sequence[Fraction]) -> bool:
    """Say whether products under these weights are compared in integers, and not by digits of their logarithms."""
    return max(_powers(weights), default=1) <= EXPONENT


def products(weights: Sequence[Fraction]) -> Callable[[Sequence[int]], tuple]:
    """Return the function from tasks (n,) to (users with a task, product over them); larger is better.

    The product is an exact integer when the weights are small multiples of one number; otherwise its logarithm, to
    `DIGITS` digits.
    """
    powers = _powers(weights)
    if exactly(weights):
        return lambda tasks: (
            sum(1 for x in tasks if x),
            math.prod(x**power for x, power in zip(tasks, powers, strict=False) if x),
        )
    context = Context(prec=DIGITS + 10)
    logarithms: dict[int, Decimal] = {}

    def log(x: int) -> Decimal:
        if x not in logarithms:
            logarithms[x] = context.ln(Decimal(x))
        return logarithms[x]

    def value(tasks: Sequence[int]) -> tuple:
        total = sum((power * log(x) for x, power in zip(tasks, powers, strict=False) if x), Decimal(0))
        return sum(1 for x in tasks if x), total.normalize(Context(prec=DIGITS))

    return value
