"""How far the levels of a chain (see `chain`) are from the optimum's: what each round misses, carried on to the next.

What a bound leaves open can be small because two errors cancel: a row that is overfull and money that is paid on a
class too dear.  So they are counted apart.  Let round r miss

    miss_r  =  sum_kj p_kj |1 - used_kj|  +  sum_ik z_ik (cost_ik - lambda_i rate_i)

and let  M_rs  be the sum of lambda_i of round r over those whom round s finishes, M_rr of whom no round before has.

*Theorem.* Let the cluster's optimum y* finish the same users in the same order, on classes that are open here, by rows
that are full at it, and let its rounds have the same prices.  Let  held_r  be the sum of lambda_i e_i over those
finished before round r, with e_i what rounding has made of the level at which user i is held.  Then the levels t* of
the optimum's rounds differ from these by at most

    |t* - t|  <=  |M^-1| (miss + held)                                  (inverse and bound place by place)

*Proof.* At all levels  sum lambda_i y_i + (money idle) + (money paid too dear)  is  sum p.  At y* nothing of it is
negative: sum lambda_i y*_i <= sum p.  At y it holds with rows that may be overfull, so that  sum lambda_i y_i  is at
least  sum p - miss_r.  Subtract: sum lambda_i (y*_i - y_i) <= miss_r.  With y and y* exchanged the same holds of the
optimum, so that it is the absolute value that is bounded.  Everybody of round s moves by t*_s - t_s, but for rounding:
|M (t* - t)| <= miss + held.  M is triangular, row by row, with positive numbers: where one round is too high a later
one is too low, and the inverse keeps the signs that worst cases added up from round to round would lose, which can be
five digits after twenty rounds.

The prices of the optimum are these, but for a part that is as small as what is missed; so the bound of each level is
part of its user's violation, and an error that grew from round to round is seen.  What rounding makes of the inverse
itself is counted as missed: a dot product of r terms is off by r roundings of the sum of their absolute values.
"""

import numpy as np

__all__ = ["ROUNDINGS", "LevelErrors"]

ROUNDINGS = 8
"""Roundings that a term of the excess has gone through: share, rate, level, product, each by half a unit or so."""


class LevelErrors:
    """How far the levels of rounds are from the optimum's, by the rows of an inverse that grows with each."""

    def __init__(self, rounds: int):
        self.inverse = np.zeros((rounds, rounds))
        self.missed, self.bounds = np.zeros(rounds), np.zeros(rounds)
        self.known = 0

    def bound(self, shares: np.ndarray, missed: float) -> float:
        """Return the bound of the next round, of multipliers (rounds so far,) and what it misses; inf where none is."""
        r = self.known
        self.known += 1
        mass, before = float(shares[r]), np.flatnonzero(shares[:r])
        carried = float(shares[before] @ self.bounds[before])
        self.missed[r] = missed + ROUNDINGS * (r + 1) * np.finfo(float).eps * carried
        with np.errstate(all="ignore"):  # What is beyond floats proves nothing.
            row = shares[before] @ self.inverse[before, :r] / -mass
            off = float(np.abs(row) @ self.missed[:r]) + self.missed[r] / mass
        if not (mass > 0 and off < np.inf):
            # Who depends on it is not proven either; its row is not used.
            off = np.inf
        else:
            self.inverse[r, :r], self.inverse[r, r] = row, 1 / mass
        self.bounds[r] = off
        return off
