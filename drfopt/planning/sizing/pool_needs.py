"""How many tasks a user of a pool has at least if something that another does not need may stop it.

Let i be at what it needs, and l a sibling that needs j as well, which i does not.  Either l has as much as if it needed
no more than i (`drfopt.planning.sizing.needs`), or l was stopped before, and by some such j that is used up: what i
needs is not, for i rises on.  Until then nobody is above the level of l but by what it is promised, so that each h has

    x[h]  <=  max(promised[h], min(limit[h], rho[h] x[l]))      rho[h] the level of a task of l in tasks of h, at most

and all of that fills j.  For any set S of users, then,

    C[j]  <=  sum over S of d[h, j] limit[h]  +  sum over others of d[h, j] (promised[h] + rho[h] x[l]),

from which x[l] is at least what the best S says: those who come to their limits first.
"""

import numpy as np

from .rates import Rates

__all__ = ["least_where_full"]

ROUNDED = 1 - 1e-9
"""What a lower bound is multiplied by after sums over many users in floats, and of divisions certified to so much."""


def least_where_full(
    rates: Rates, demands: np.ndarray, limits: np.ndarray, promised: np.ndarray, quotients: np.ndarray, low: np.ndarray
) -> np.ndarray:
    """Return the least tasks of every user whom a resource stops that is used up, (n, m); inf where it needs none.

    Parameters
    ----------
    rates : Rates
    demands : array (n, m)
    limits, promised : arrays (n,)
        The most tasks, and what guarantees are worth at the most.
    quotients : array (m, m)
        ``C[g] / C[j]`` is at least ``quotients[j, g]``.
    low : array (m,)
        The capacity that there is at least.
    """
    known = np.ones((1, 1)) if rates.fixed else quotients
    most, least = rates.most(rates.part, known), rates.least(rates.part, known)
    found = np.full(demands.shape, np.inf)
    for user in range(len(demands)):
        with np.errstate(divide="ignore", invalid="ignore"):
            rho = np.fmin.reduce(np.where(least > 0, most[user] / least, np.inf), axis=1)
            order = np.argsort(limits / rho)
        for j in np.flatnonzero(demands[user] > 0):
            d = demands[order, j]
            users, d = order[d > 0], d[d > 0]
            with np.errstate(divide="ignore", invalid="ignore"):
                full = np.concatenate([[0.0], np.cumsum(d * limits[users])])
                each, held = (d * amount for amount in (rho[users], np.minimum(promised, limits)[users]))
                rest, has = (np.append(np.cumsum(amount[::-1])[::-1], 0.0) for amount in (each, held))
                bounds = (low[j] - full - has) / rest
            found[user, j] = np.nanmax(np.where(np.isfinite(full + has), bounds, 0.0), initial=0.0) * ROUNDED
    return found
