"""CEEI and alpha fairness of one pool by Newton's method on the prices: m unknowns, however many users there are.

At prices p >= 0 of whole resources everybody buys what is best for her, and the dual objective

        sum_j p_j  +  sum_i  max over 0 <= x <= u_i of  (utility of x tasks - what they cost)

is convex in p.  Its gradient is 1 - used(p) and its Hessian bend(p), sums over the users that `crowd` adds up in one
pass.  At its least over p >= 0 nothing is overfull, what has a price is used up, and all have their best: the optimum.

A step goes to the least of the quadratic model over p >= 0 (`pivoting`), by which resources lose their price and get
one.  It is taken if the objective does not climb again at its end.  If it does, the step is made in the letters
z = p^(1/alpha) instead, in which the market of one resource is nearly a straight line, and is cut until it does not.
Where users at their limits leave little curvature, some is borrowed from what they would have without limits, in
proportion to how far away the end is, and to how much was too much before.

The prices start from those of a sample of the users, and the sample's from those of a smaller one: the first pass over
everybody is a few thousandths from the end.  There `bend` is taken from the sample at first, then found once and kept,
corrected by what the steps show (Broyden, Fletcher, Goldfarb and Shanno), unless progress is slow.

Convergence: from anywhere, the objective falls; near the end, where the users below their limits determine the prices,
each step squares the error.  Elsewhere (limits met exactly at the optimum, prices that are not unique) this is not
proven, and measured to be as good.  Users meet their first-order conditions by construction; what is left is whether
resources are used up, which is brought down to rounding.  What does not arrive ends in an exception.  With 10^6 users
there are about 5 passes over all of them.
"""

import numpy as np

from ..errors import SolverError
from ..progress import report
from .crowd import Crowd, View
from .pivoting import bounded_minimum
from .problem import Answer, Problem

__all__ = ["solve"]

EVERY = 16
"""A sample takes one user in so many: what it costs is lost beside a pass over all."""

FEWEST = 1_000
"""Users in the smallest sample: with fewer, the prices of all would be no nearer than those of nobody."""

ROUGH = 1e-3
"""Part of a resource to which a sample is solved: it differs from everybody by more."""

EXACT = 1e-14
"""Part of a resource that rounding leaves when what is used is added up."""

SETTLED = 1e-10
"""Part of a resource below which a step that brings nothing is the end: the certificate's tolerance is ten times it."""

STILL = 1e-12
"""Relative change of the prices, and so of everybody's tasks, that is not worth a pass any more."""

AHEAD = 4
"""Passes with a kept `bend` that cost more than finding it anew."""

SQUARED = 10.0
"""How many times the square of `off` a Newton step leaves, roughly: measured, 1 to 10."""

CLIMB = 0.3
"""Slope at the end of a step, relative to that at its beginning, up to which it was not too long."""

SHRINK = 0.7
"""Part of z, the root of a price, that a step in the letters z may take away."""

AWAY = 1e-3
"""Part of a usual price that a resource gets to which nothing else gives one."""

LEARNT = 0.1
"""Part of the curvature expected along a step that must have been met, for `bend` to be corrected by it."""

PASSES = 300
"""Passes over one crowd at most; 5 to 20 are usual, and a price that has to grow by 10^100 takes all of them."""

SHORTEST = 1e-12
"""Part of a step below which it leads nowhere."""

TINY = 1e-300
"""Stands for a price of 0 where something is divided by it."""


def solve(problem: Problem) -> Answer:
    """Return the optimum and its prices.

    Raises
    ------
    SolverError
        When the prices do not arrive, or are beyond the range of floats; `TimeLimitError` when time runs out.
    """
    crowd, worth = Crowd.of(problem)
    tasks = np.empty(crowd.n)
    # What is free, or beyond the range of floats, makes sums that are not finite, and these are looked at.
    with np.errstate(all="ignore"):
        p = _descended(problem, crowd, tasks)
        prices = p * crowd.unit * worth
    if not np.isfinite(prices).all():
        raise SolverError(f"the prices of {problem.policy.name} are beyond the range of floats: take a smaller alpha")
    return Answer(problem.of_members(tasks), prices=prices[None, :])


def _descended(problem: Problem, crowd: Crowd, tasks: np.ndarray) -> np.ndarray:
    """Return the prices (m,) at the optimum, and write the tasks (n,)."""
    there = crowd.capacity > 0
    p = np.where(there, crowd.money / crowd.m, 0.0)
    bend = None
    for every in _samples(crowd.n):
        sample = _Descent(problem, crowd.sample(every), p, bend)
        p, bend = sample.run(ROUGH), sample.bend
        # Somebody outside the sample may need what nobody in it does.
        p = np.where(there & (p == 0), AWAY * crowd.money / crowd.n, p)
    return _Descent(problem, crowd, p, bend).run(EXACT, tasks)


def _samples(n: int) -> list[int]:
    """Return how many users each one of a sample stands for, the smallest sample first."""
    parts: list[int] = []
    while n >= FEWEST * EVERY ** (len(parts) + 1):
        parts.append(EVERY ** (len(parts) + 1))
    return parts[::-1]


class _Descent:
    """Prices on their way down the dual objective of a crowd.

    Attributes
    ----------
    p, used, bend : arrays (m,), (m,), (m, m)
        Prices, what is used at them, and how it bends there, or did at earlier prices (`fresh` says which).
    off : float
        The largest part of a resource that is overused, or, where it has a price, unused.
    left : float
        Largest relative change of a price that the next step is expected to make.
    """

    def __init__(self, problem: Problem, crowd: Crowd, p: np.ndarray, bend: np.ndarray | None):
        self.problem, self.crowd = problem, crowd
        self.power = max(crowd.alpha, 1.0)
        self.passes = 0
        self.off, self.left = np.inf, np.inf
        self.usual = AWAY * p
        """What a price that fell to 0 starts from if it comes back."""
        self.damping, self.rooted, self.finding = 1.0, False, True
        self.written: np.ndarray | None = None
        self.p = p
        if bend is None:
            self._find()
            return
        self.bend, self.fresh = bend, False
        self.used = self._look(p, False).used
        self.off = _off(p, self.used)

    def run(self, target: float, tasks: np.ndarray | None = None) -> np.ndarray:
        """Go on until `off` is at most the target, or rounding; return the prices and write the tasks (n,) if asked."""
        while not (self.off <= target or (self.off <= SETTLED and self.left <= STILL)):
            report(f"{self.crowd.n} users, pass {self.passes}: off by {self.off:.1e}")
            self.problem.deadline.check("Newton's method on the prices", f"resources were off by {self.off:.1e}")
            if not self._move(tasks):
                break
        if tasks is not None and self.written is not self.p:
            self.crowd.look(self.p, tasks=tasks)
        return self.p

    def _move(self, tasks: np.ndarray | None) -> bool:
        """Take one step; say whether it was worth it."""
        length, rooted, self.rooted = 1.0, self.rooted, False
        while True:
            if length < SHORTEST:
                raise SolverError(f"Newton's method on the prices is stuck where resources are off by {self.off:.1e}")
            trial = self._trial(length, rooted)
            view = self._look(trial, self.finding, tasks)
            off = _off(trial, view.used)
            slope = float((self.used - 1) @ (trial - self.p))
            climb = float((1 - view.used) @ (trial - self.p)) if off < np.inf else np.inf
            if off <= self.off / 2 or (slope > 0 and climb <= CLIMB * slope):
                break
            if not self.fresh:
                self._find()
            elif self.off <= SETTLED:
                if off < self.off:
                    self._arrive(trial, view, off)
                return False
            elif not rooted:
                rooted = self.rooted = True
            else:
                self.rooted = True
                length *= min(max(slope / (slope + climb), 0.1), 0.5) if 0 < slope < np.inf > climb else 0.1
                self.damping = min(10 * self.damping, 1.0)
        if length == 1 and climb < -slope / 2:
            self.damping = max(self.damping / 10, EXACT)
        self._arrive(trial, view, off)
        return True

    def _trial(self, length: float, rooted: bool) -> np.ndarray:
        """Return where a step of some length leads, in the letters p or in their roots z."""
        p, used = self.p, self.used
        # More than is there by a factor is as far away as less than is there by that factor.
        want = used - 1
        if want.max() > 0:
            want = np.where(used > 1, used * np.log(np.maximum(used, 1)), want)
        matrix = self.bend.copy()
        matrix.flat[:: len(p) + 1] += self._borrowed(want) / np.maximum(np.maximum(p, self.usual), TINY)
        if not rooted:
            return np.maximum(p + bounded_minimum(matrix, want, -p), 0)
        step = bounded_minimum(matrix, want, -SHRINK * self.power * p)
        part = np.divide(step, p, where=p > 0, out=np.zeros_like(p))
        return np.where(p > 0, p * (1 + length * part / self.power) ** self.power, length * step)

    def _borrowed(self, want: np.ndarray) -> np.ndarray:
        """Return the curvature to add, in units in which that of all users without limits adds up to used / alpha."""
        least = EXACT * np.abs(want)
        if self.crowd.limits is None:
            return least
        alpha = self.crowd.alpha
        at_limits = np.maximum(self.used - alpha * (self.bend @ self.p), 0)
        return self.damping * min(self.off, 1.0) * at_limits / alpha + least

    def _look(self, p: np.ndarray, bend: bool, tasks: np.ndarray | None = None) -> View:
        self.passes += 1
        if self.passes > PASSES:
            raise SolverError(f"Newton's method on the prices did not arrive in {PASSES} passes: off by {self.off:.1e}")
        if tasks is not None and not bend:
            self.written = p
            return self.crowd.look(p, tasks=tasks)
        return self.crowd.look(p, bend)

    def _find(self) -> None:
        """Find `bend` where the prices are."""
        view = self._look(self.p, True)
        self.used, self.bend, self.fresh = view.used, view.bend, True
        self.off = _off(self.p, view.used)

    def _arrive(self, p: np.ndarray, view: View, off: float) -> None:
        """Make prices, and what was seen there, the present ones."""
        step = p - self.p
        faster = off / self.off
        self.left = faster * float((np.abs(step) / np.maximum(np.maximum(p, self.p), TINY)).max())
        if view.bend is None:
            self._learn(step, self.used - view.used)
        else:
            self.bend, self.fresh = view.bend, True
        # With a fresh `bend` the next step squares the error; with an old one it is as good as the last.
        self.finding = off * (min(faster, SQUARED * off) if self.fresh else faster) ** AHEAD > STILL
        self.usual = np.where(p > 0, AWAY * p, self.usual)
        self.p, self.used, self.off = p, view.used, off

    def _learn(self, step: np.ndarray, change: np.ndarray) -> None:
        """Correct `bend` so that it explains the change (m,) of what is used."""
        expected = self.bend @ step
        before, after = float(expected @ step), float(change @ step)
        if after > LEARNT * before > 0:
            self.bend = self.bend + np.outer(change, change / after) - np.outer(expected, expected / before)
        self.fresh = False


def _off(p: np.ndarray, used: np.ndarray) -> float:
    """Return the largest part of a resource that is overused, or, where it has a price, unused."""
    off = float(np.where(p > 0, np.abs(used - 1), used - 1).max())
    return max(off, 0.0) if np.isfinite(off) else np.inf
