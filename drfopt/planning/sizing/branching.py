"""Where a region of purchases is divided, and into which two smaller ones."""

import math
from dataclasses import replace

import numpy as np

from .regions import Region, Totals
from .steps import WHOLE, Steps
from .wanting import Wanting

__all__ = ["halves", "loosest", "many", "sides"]

FEW = 1000
"""Purchases in a region up to which steps alone are divided, and proportions no more."""

NARROW = 0.9
"""Proportions nearer to each other than this are divided in the middle, others by their quotient."""

SMALLEST = 1e-3
"""Part of a proportion, at a purchase, that counts as its least where nothing is known."""


def many(region: Region, steps: Steps) -> bool:
    """Say whether there are too many purchases in a region to go through them."""
    return not steps.whole.all() or float(np.prod(region.high - region.low + 1)) > FEW


def loosest(wanting: Wanting, region: Region, counts: np.ndarray, loose: float) -> tuple[int, int] | None:
    """Return the resources whose proportion, known better, would say most of what is needed; None for none.

    Parameters
    ----------
    wanting : Wanting
    region : Region
    counts : array (offers,)
        The cheapest purchase as far as is known: its proportions are what would be known.
    loose : float
        Part by which all needs together must grow to be worth it.
    """
    relaxation = wanting.relaxation
    totals, worth = relaxation.totals, relaxation.scale_of_users
    quotients, exact, here = totals.quotients(region), totals.exact_quotients(counts), totals.after(counts)
    known = float(worth @ wanting.least(region, quotients).at(here))
    found, best = None, loose * known
    for j, g in relaxation.pairs:
        if exact[j, g] > quotients[j, g]:
            sharper = quotients.copy()
            sharper[j, g] = exact[j, g]
            gain = float(worth @ wanting.least(region, sharper).at(here)) - known
            if gain > best:
                found, best = (j, g), gain
    return found


def sides(region: Region, totals: Totals, counts: np.ndarray, j: int, g: int) -> tuple[Region, Region]:
    """Return the region where ``C[g] / C[j]`` is above a quotient, and where it is below."""
    at = float(totals.exact_quotients(counts)[j, g])
    least = max(float(totals.quotients(region)[j, g]), at * SMALLEST)
    # Between what it is here and what is known, so that both sides say more.
    at = math.sqrt(at * least) if least < at * NARROW else (at + least) / 2
    above, below = region.floors.copy(), region.floors.copy()
    above[j, g] = max(above[j, g], at)
    below[g, j] = max(below[g, j], 1 / at)
    return replace(region, floors=above), replace(region, floors=below)


def halves(
    region: Region, steps: Steps, cost: np.ndarray, counts: np.ndarray, s: int | None = None
) -> tuple[Region, Region]:
    """Return the region with less and with more of an offer than in a purchase: by default of the widest, in money."""
    width = np.where(np.isfinite(region.high), region.high, np.maximum(1.0, 2 * counts) * 2) - region.low
    if s is None:
        s = int((width * cost).argmax())
    if not steps.whole[s]:
        # A cut at the very end would leave as much as there was.
        at = float(np.clip(counts[s], region.low[s] + width[s] / 10, region.low[s] + width[s] * 9 / 10))
        ends = (at, at)
    else:
        at = math.floor(counts[s] + WHOLE)
        ends = (at, at + 1) if at < region.high[s] else (at - 1, at)
    below, above = region.high.copy(), region.low.copy()
    below[s], above[s] = ends
    return replace(region, high=below), replace(region, low=above)
