"""The weighted product of whole tasks as something that can be compared: users served first, then the product."""

import math
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from fractions import Fraction

__all__ = ["exactly", "larger", "powers_of", "products"]

EXPONENT = 1000
"""Largest exponent to which tasks are raised exactly; weights such as 0.3333333333333333 would need one of 10^16."""

DIGITS = 60
"""Digits of the logarithm that stands for the product beyond it: equal to so many digits counts as equal."""


def powers_of(weights: Sequence[Fraction]) -> list[int]:
    """Return the smallest integers in the proportions of the weights."""
    scale = math.lcm(*(weight.denominator for weight in weights)) if weights else 1
    powers = [int(weight * scale) for weight in weights]
    common = math.gcd(*powers) or 1
    return [power // common for power in powers]


def exactly(weights: Sequence[Fraction]) -> bool:
    """Say whether products under these weights are compared in integers, and not by digits of their logarithms."""
    return max(powers_of(weights), default=1) <= EXPONENT


def products(weights: Sequence[Fraction]) -> Callable[[Sequence[int]], tuple]:
    """Return the function from tasks (n,) to (users with a task, product over them); larger is better.

    The product is an exact integer when the weights are small multiples of one number; otherwise its logarithm, to
    `DIGITS` digits.
    """
    powers = powers_of(weights)
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


def larger(weights: Sequence[Fraction], tasks: Sequence[int], others: Sequence[int]) -> bool:
    """Say whether tasks, each 1 or more, have a larger weighted product than others: exactly, whatever the weights.

    Logarithms of more and more digits decide; that two products are the same, their factors do.
    """
    powers = powers_of(weights)
    changed = [(w, x, y) for w, x, y in zip(powers, tasks, others, strict=True) if x != y]
    for digits in (40, 160, 640):
        context = Context(prec=digits)
        terms = [(w, Fraction(context.ln(Decimal(x))), Fraction(context.ln(Decimal(y)))) for w, x, y in changed]
        total = sum((w * (one - other) for w, one, other in terms), Fraction(0))
        # Each logarithm is rounded to so many digits.
        error = sum((w * (one + other) for w, one, other in terms), Fraction(0)) / 10 ** (digits - 1)
        if abs(total) > error:
            return total > 0
        if _same_product([(w, x) for w, x, _ in changed] + [(-w, y) for w, _, y in changed]):
            return False
    raise ArithmeticError(f"two products are the same to {digits} digits and not equal")


def _same_product(terms: list[tuple[int, int]]) -> bool:
    """Say whether the product of x to the power w is 1: numbers are broken up until none has a factor of another."""
    left = [(w, x) for w, x in terms if x > 1]
    base: dict[int, int] = {}
    while left:
        w, x = left.pop()
        shared = next((b for b in base if math.gcd(b, x) > 1), None)
        if shared is None:
            base[x] = w
            continue
        common = math.gcd(shared, x)
        power = base.pop(shared)
        left += [(power + w, common), (power, shared // common), (w, x // common)]
        left = [(v, b) for v, b in left if b > 1 and v]
    return not any(base.values())
