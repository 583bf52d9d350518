"""What levels are worth to alpha fairness: m U(y) = m y^b / b with b = 1 - alpha, in integers, and compared exactly.

For whole b these are fractions.  Otherwise they are roots of fractions, which are enclosed by decimals; and that a sum
of them is 0 is decided as follows.

Claim.   Let b = p / q in lowest terms, and y_1, ..., y_k > 0 such that no y_i / y_j is the q-th power of a fraction.
         Then  sum_i f_i y_i^b = 0  for fractions f_i only if all of them are 0.
Proof.   y_i^b / y_j^b is rational only if y_i / y_j is a q-th power, p and q having no common divisor; and real roots
         of fractions no two of which have a rational ratio are linearly independent over the fractions (Besicovitch,
         On the linear independence of fractional powers of integers, J. London Math. Soc. 1940; Mordell, On the linear
         independence of algebraic numbers, Pacific J. Math. 1953).  []
"""

import math
from collections.abc import Iterable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction

from .exact_sums import total
from .work import bits, spend

__all__ = ["AlphaUtility"]

GUARD = 25
"""Digits beyond those that are wanted: for a power of a rounded quotient."""

FEW = 10**8
"""Tasks below which floats, whose logarithms of numbers of thousands of digits err by 1e-11, tell single ones apart."""

DIGITS = (40, 160, 640)
"""Digits to which sums are told apart, one after the other."""


class AlphaUtility:
    """The utility U(y) = y^(1 - alpha) / (1 - alpha) of a level, for alpha > 0 other than 1."""

    def __init__(self, alpha: Fraction):
        self.alpha, self.power = alpha, 1 - alpha
        self.rational = self.power.denominator == 1

    def exactly(self, weight: Fraction, level: Fraction) -> Fraction:
        """Return the weighted utility of a level, where alpha is whole."""
        spend(abs(int(self.power)) * bits(level))
        return weight * level ** int(self.power) / self.power

    def about(self, level: Fraction, digits: int) -> Fraction:
        """Return a level to the power 1 - alpha, to so many digits."""
        if self.rational:
            return level ** int(self.power)
        spend(4 * (digits + GUARD), 4)
        context = Context(prec=digits + GUARD, Emax=MAX_EMAX, Emin=MIN_EMIN)
        base = context.divide(Decimal(level.numerator), Decimal(level.denominator))
        power = context.divide(Decimal(self.power.numerator), Decimal(self.power.denominator))
        return Fraction(context.power(base, power))

    def units(self, weight: Fraction, level: Fraction, unit: int) -> int:
        """Return the weighted utility in units, rounded down: the true one is at most two units above."""
        if self.rational:
            return math.floor(self.exactly(weight, level) * unit)
        size = float(self.power) * self.log10(level) + self.log10(abs(weight / self.power) * unit)
        return math.floor(weight * self.about(level, max(0, math.ceil(size)) + 5) / self.power * unit) - 1

    @staticmethod
    def log10(value: Fraction) -> float:
        """Return the decimal logarithm of a positive fraction, beyond what floats reach too."""
        return (math.log2(value.numerator) - math.log2(value.denominator)) * math.log10(2)

    def chosen(self, weight: Fraction, rate: Fraction, cost: Fraction, most: int) -> int:
        """Return where weighted utility of tasks less their cost is largest, rounded down, at most one off."""
        # Marginal utility is weight rate (rate x)^-alpha, which is the cost there.
        at = (self.log10(weight * rate / cost) / float(self.alpha)) - self.log10(rate)
        if at > len(str(most)):
            return most
        if most < FEW and self.alpha >= 1:
            return min(math.floor(10.0**at), most)
        context = Context(prec=len(str(most)) + GUARD, Emax=MAX_EMAX, Emin=MIN_EMIN)
        spend(4 * context.prec, 4)
        ratio, root = weight * rate / cost, 1 / self.alpha
        base = context.divide(Decimal(ratio.numerator), Decimal(ratio.denominator))
        found = context.power(base, context.divide(Decimal(root.numerator), Decimal(root.denominator)))
        return min(math.floor(Fraction(found) / rate), most)

    def sign(self, terms: Iterable[tuple[Fraction, Fraction]]) -> int | None:
        """Return the sign of a sum of weighted utilities of levels; None where that is not known."""
        left = self.gathered(terms)
        if self.rational or not left:
            found = total(self.exactly(weight, level) for weight, level in left)
            return (found > 0) - (found < 0)
        largest = max(self.log10(abs(w)) + float(self.power) * self.log10(y) for w, y in left)
        for digits in DIGITS:
            found = total(w * self.about(y, digits) for w, y in left)
            if found and self.log10(abs(found)) > largest + math.log10(len(left)) - digits:
                return 1 if (found > 0) == (self.power > 0) else -1
        return None

    def gathered(self, terms: Iterable[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
        """Return terms of the same sum of which no two are rational multiples of each other, none of them 0."""
        found: dict[Fraction, Fraction] = {}
        for weight, level in terms:
            if level in found or self.rational:
                found[level] = found.get(level, Fraction(0)) + weight
                continue
            roots = ((known, self.root(level / known)) for known in found)
            known, root = next(((known, root) for known, root in roots if root is not None), (level, Fraction(1)))
            found[known] = found.get(known, Fraction(0)) + weight * root ** int(self.power.numerator)
        return [(weight, level) for level, weight in found.items() if weight]

    def root(self, ratio: Fraction) -> Fraction | None:
        """Return the root of a fraction that is another one's power of the denominator of 1 - alpha, or None."""
        degree, ends = self.power.denominator, []
        for whole in (ratio.numerator, ratio.denominator):
            spend(whole.bit_length(), whole.bit_length() // degree + 1)
            low, high = 1, 1 << (whole.bit_length() // degree + 1)
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if middle**degree <= whole else (low, middle)
            ends.append(low if low**degree == whole else 0)
        return Fraction(*ends) if all(ends) else None
