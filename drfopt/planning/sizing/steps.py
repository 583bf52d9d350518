"""From floats of a program to what can be bought: whole steps where an offer is sold in steps, else near fractions."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...base.tolerances import LEVEL
from .offers import Shop
from .regions import Region

__all__ = ["WHOLE", "Counts", "Steps"]

WHOLE = 1e-6
"""Distance from a whole number up to which a number of machines of a linear program is one."""

NICE = 10**6
"""Largest denominator of an amount of a divisible resource, where that is near enough."""

Counts = tuple[Fraction, ...]
"""A purchase: steps of every offer."""


@dataclass(frozen=True, eq=False)
class Steps:
    """How what a shop offers is sold."""

    shop: Shop

    @cached_property
    def whole(self) -> np.ndarray:
        """Whether an offer is sold in steps, bool (offers,)."""
        return np.array(self.shop.whole)

    @cached_property
    def most(self) -> np.ndarray:
        """The most that may be bought, (offers,); inf for no end."""
        return np.array([math.inf if most is None else float(most) for most in self.shop.most])

    @property
    def everything(self) -> Region:
        """All purchases."""
        m = self.shop.instance.m
        return Region(np.zeros(len(self.most)), self.most.copy(), np.zeros((m, m)))

    @property
    def ending(self) -> bool:
        """Whether there is a largest purchase."""
        return bool(np.isfinite(self.most).all())

    def up(self, counts: np.ndarray) -> np.ndarray:
        """Return the next purchase that is not smaller, as far as what is for sale goes."""
        return np.minimum(np.where(self.whole, np.ceil(counts - WHOLE), counts), self.most)

    def inwards(self, region: Region) -> Region:
        """Return ends with whole numbers of steps where an offer is sold in steps."""
        slack = WHOLE * np.maximum(1.0, np.where(np.isfinite(region.high), region.high, 1.0))
        return replace(
            region,
            low=np.where(self.whole, np.ceil(region.low - slack), region.low),
            high=np.where(self.whole, np.floor(region.high + slack), region.high),
        )

    def exact(self, counts: np.ndarray) -> Counts:
        """Return a purchase of floats as one of fractions."""
        return tuple(
            Fraction(round(float(x))) if whole else _amount(float(x), most)
            for x, whole, most in zip(counts, self.whole, self.shop.most, strict=True)
        )

    def grain(self) -> Fraction | None:
        """Return what every cost is a multiple of; None where amounts are divisible."""
        if not self.whole.all():
            return None
        scale = math.lcm(*(price.denominator for price in self.shop.prices))
        return Fraction(math.gcd(*(int(price * scale) for price in self.shop.prices)), scale)


def _amount(x: float, most: Fraction | None) -> Fraction:
    """Return a fraction a little above a float: what the float lacks by rounding must not fail a target."""
    value = Fraction(x)
    nice = value.limit_denominator(NICE)
    if abs(nice - value) > abs(value) * Fraction(LEVEL):
        nice = (value * Fraction(1 + LEVEL)).limit_denominator(10**12)
    return nice if most is None else min(nice, most)
