"""CEEI and alpha fairness of one pool by Newton's method on the prices: m unknowns, however many users there are.

At given prices everybody's best is known in closed form (`demand_response`), so only the prices of the resources are
looked for (`descent`).  They start from those of a sample of the users, and the sample's from those of a smaller one:
the first pass over everybody is a few thousandths from the end, and with 10^6 users about 5 passes are enough.  A
sample that misleads costs passes, and nothing else.

Users meet their first-order conditions by construction; what is left is whether resources are used up, which is brought
down to rounding.  What does not arrive ends in an exception.

Beside the instance this needs the tasks, a sixteenth of the demands for the sample, for alpha other than 1 some vectors
(n,) more, and a megabyte for each thread.  Demands that are a memory-mapped file are read once a pass, a block at a
time.

Newton's method on the prices of one pool's resources: from prices to better ones, until nothing is overfull or idle.

The dual objective

        sum_j p_j  +  sum_i  max over 0 <= x <= u_i of  (utility of x tasks - what they cost)

is convex in p >= 0.  Its gradient is 1 - used(p) and its Hessian bend(p), sums over the users that `demand_response`
adds up in one pass.  At its least nothing is overfull, what has a price is used up, and all have their best: the
optimum.

A step goes to the least of the quadratic model over p >= 0 (`pivoting`), by which resources lose their price and get
one.  It is taken where the objective is level at its end, or still falls.  Where it climbs, the step is made in the
letters z = p^(1/alpha) instead, in which the market of one resource is nearly a straight line, and cut until it does
not.  Where users at their limits leave little curvature, some is borrowed from what they would have without limits, in
proportion to how far away the end is, and to how much was too much before.  `bend` costs three passes; near the end it
is kept, and corrected by what the steps show (Broyden, Fletcher, Goldfarb and Shanno), unless progress is slow.

Convergence.  Near the end, where the users below their limits determine the prices, each step squares the error.
Where they do not (limits met exactly at the optimum, prices that are not unique), and from far away, there is no proof
for the steps taken here; on thousands of pools made to be awkward, 5 to 60 passes were enough.
"""

from dataclasses import dataclass

import numpy as np

from ...base.deadline import Deadline
from ...base.errors import SolverError, TimeLimitError
from ...base.progress import report
from ...base.solvers.active_set import bounded_minimum
from ...base.tolerances import EXACT, FIRST_ORDER, TINY
from ..problem import Answer, Problem
from .demand_response import DemandResponse, PartedResponse, View

__all__ = ["AWAY", "Descent", "descended", "solve"]

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

CLOSE = 0.1
"""Exponents below which the market is nearly the linear program that `utilitarian` solves."""

PASSES = 300
"""Passes over one sample at most; 5 to 20 are usual, and a price that has to grow by 10^100 takes all of them."""

CUTS = 60
"""Lengths of a step that are tried before it is said to lead nowhere: the shortest are lost in rounding."""

ENOUGH = 8
"""Lengths after which a step that goes downhill is taken though it could be longer."""

NARROW = 0.1
"""Part of the interval between a step too short and one too long that is cut off at least."""

IDLE = 10
"""Steps, among what the certificate would not see any more, that may bring nothing before the end."""


class Descent:
    """Prices on their way down the dual objective of some users.

    Attributes
    ----------
    p, used, unused, bend : arrays (m,), (m,), (m,), (m, m)
        Prices, what is used and unused at them, and how it bends there, or did at earlier prices (`fresh` says which).
    off : float
        The largest part of a resource that is overused, or, where it has a price, unused.
    left : float
        Largest relative change of a price that the next step is expected to make.
    """

    def __init__(
        self, deadline: Deadline, response: DemandResponse | PartedResponse, p: np.ndarray, bend: np.ndarray | None
    ):
        self.deadline, self.response = deadline, response
        self.power = max(response.alpha, 1.0)
        self.passes = 0
        self.off, self.left = np.inf, np.inf
        self.usual = AWAY * p
        """What a price that fell to 0 starts from if it comes back."""
        # With that of a sample the first step is as good as the sample, wherever it is found.
        self.damping, self.rooted, self.finding = 1.0, False, bend is None
        self.written: np.ndarray | None = None
        self.p = p
        if bend is None:
            self._find()
            return
        self.bend, self.fresh = bend, False
        self.used = self._look(p, False).used
        self.unused, self.off = _unused(self.used), _off(p, self.used)

    def run(self, target: float, tasks: np.ndarray | None = None) -> np.ndarray:
        """Go on until `off` is at most the target, or rounding; return the prices and write the tasks (n,) if asked."""
        best, least, idle = self.p, self.off, 0
        while not (self.off <= target or (self.off <= SETTLED and self.left <= STILL)):
            if not self._move(tasks):
                break
            idle = 0 if self.off <= least / 2 or least > SETTLED else idle + 1
            if self.off < least:
                best, least = self.p, self.off
            if idle > IDLE:
                break
        if least > FIRST_ORDER >= target:
            raise SolverError(f"Newton's method on the prices ends where resources are off by {least:.1e}")
        if tasks is not None and self.written is not best:
            self.response.look(best, tasks=tasks)
        return best

    def _move(self, tasks: np.ndarray | None) -> bool:
        """Take one step, or find out more where the prices are; say whether there was anything to do."""
        trial = None
        if not self.rooted:
            trial = self._tried(np.maximum(self.p + self._step(1.0), 0), 1.0, tasks)
        self.rooted = False
        if trial is None or not trial.good:
            if not self.fresh:
                self._find()
                return True
            trial = self._search(tasks)
        if trial is None:
            return False
        if trial.length == 1 and trial.end < trial.begin / 2:
            self.damping = max(self.damping / 10, EXACT)
        self._arrive(trial.p, trial.view, trial.off)
        return True

    def _search(self, tasks: np.ndarray | None) -> "_Trial | None":
        """Return a step in the letters z that is not too long; None where it would be lost in rounding."""
        part = self._step(SHRINK * self.power) / np.where(self.p > 0, self.power * self.p, 1)

        def tried(length: float) -> _Trial:
            p = np.where(self.p > 0, self.p * (1 + length * part) ** self.power, length * part)
            return self._tried(p, length, tasks)

        beyond = tried(1.0)
        if beyond.good:
            return beyond
        self.rooted, self.damping = True, min(10 * self.damping, 1.0)
        short: _Trial | None = None
        settled = self.off <= SETTLED
        for cuts in range(ENOUGH if settled else CUTS):
            low = 0.0 if short is None else short.length
            # Where the slope would be 0 if it grew evenly; but where a user leaves her limit, it leaps: then halves.
            ahead = beyond.begin / (beyond.begin - beyond.end) if beyond.begin < 0 else 0.0
            if cuts > 0 and beyond.end < np.inf:
                ahead = 0.5
            trial = tried(low + (beyond.length - low) * min(max(ahead, NARROW), 1 - NARROW))
            if trial.good and (trial.end >= trial.begin / 2 or cuts >= ENOUGH):
                return trial
            if trial.begin < 0 and trial.end < 0:
                short = trial
            else:
                beyond = trial
        if short is None and not settled:
            raise SolverError(f"Newton's method on the prices is stuck where resources are off by {self.off:.1e}")
        return short

    def _tried(self, p: np.ndarray, length: float, tasks: np.ndarray | None) -> "_Trial":
        view = self._look(p, self.finding, tasks)
        step, off = (p - self.p) / length, _off(p, view.used)
        begin = float(self.unused @ step)
        end = float(_unused(view.used) @ step) if off < np.inf else np.inf
        return _Trial(length, p, view, off, begin, end, off <= self.off / 2 or (begin < 0 and end <= -CLIMB * begin))

    def _step(self, reach: float) -> np.ndarray:
        """Return the way (m,) to the least of the quadratic model that takes at most so many times a price away."""
        p, used = self.p, self.used
        scale = np.maximum(np.maximum(p, self.usual), TINY)
        # More than is there by a factor is as far away as less than is there by that factor.
        wants = [used - 1] if used.max() <= 1 else [np.where(used > 1, used * np.log(used), used - 1), used - 1]
        for want in wants:
            matrix = self.bend.copy()
            matrix.flat[:: len(p) + 1] += self._borrowed(want) / scale
            step = bounded_minimum(matrix, want, -reach * p)
            # Downhill: of the second, which is minus the gradient, that is certain.
            if float((used - 1) @ step) > 0:
                break
        return step

    def _borrowed(self, want: np.ndarray) -> np.ndarray:
        """Return the curvature to add, in units in which that of all users without limits adds up to used / alpha."""
        least = EXACT * np.abs(want)
        if self.response.limits is None:
            return least
        alpha = self.response.alpha
        at_limits = np.maximum(self.used - alpha * (self.bend @ self.p), 0)
        return self.damping * min(self.off, 1.0) * at_limits / alpha + least

    def _look(self, p: np.ndarray, bend: bool, tasks: np.ndarray | None = None) -> View:
        self.passes += 1
        known = f"resources were off by {self.off:.1e}"
        report(f"{self.response.n} users, pass {self.passes}: {known}")
        self.deadline.check("Newton's method on the prices", known)
        if self.passes > PASSES:
            far = f": off by {self.off:.1e}" if self.off < np.inf else ""
            near = ": next to alpha 0 take utilitarian, or a larger alpha" if self.response.alpha < CLOSE else ""
            raise SolverError(f"Newton's method on the prices did not arrive in {PASSES} passes{far}{near}")
        if tasks is not None and not bend:
            self.written = p
            return self.response.look(p, tasks=tasks)
        return self.response.look(p, bend)

    def _find(self) -> None:
        """Find `bend` where the prices are."""
        view = self._look(self.p, True)
        self.used, self.unused, self.bend, self.fresh = view.used, _unused(view.used), view.bend, True
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
        self.p, self.used, self.unused, self.off = p, view.used, _unused(view.used), off

    def _learn(self, step: np.ndarray, change: np.ndarray) -> None:
        """Correct `bend` so that it explains the change (m,) of what is used."""
        expected = self.bend @ step
        before, after = float(expected @ step), float(change @ step)
        if after > LEARNT * before > 0:
            self.bend = self.bend + np.outer(change, change / after) - np.outer(expected, expected / before)
        self.fresh = False


@dataclass(frozen=True, eq=False)
class _Trial:
    """Prices tried, what was seen there, and how steep the objective is on the way, at its beginning and its end.

    `good` says that the end is downhill from the beginning, or nearly level.
    """

    length: float
    p: np.ndarray
    view: View
    off: float
    begin: float
    end: float
    good: bool


def _unused(used: np.ndarray) -> np.ndarray:
    """Return the gradient of the objective; what is rounding is 0, however far a step goes along it."""
    unused = 1 - used
    return np.where(np.abs(unused) <= EXACT, 0.0, unused)


def _off(p: np.ndarray, used: np.ndarray) -> float:
    """Return the largest part of a resource that is overused, or, where it has a price, unused."""
    off = float(np.where(p > 0, np.abs(used - 1), used - 1).max())
    return max(off, 0.0) if np.isfinite(off) else np.inf


EVERY = 16
"""A sample takes one user in so many: what it costs is lost beside a pass over all."""

FEWEST = 1_000
"""Users in the smallest sample: with fewer, the prices of all would be no nearer than those of nobody."""

LITTLE = 0.1
"""Part of a usual price from which what was free in a small sample starts: too much is found out in a step, and too
little doubles in each."""

SOME = 4
"""Users whose money is paid for what was free in a larger sample, to begin with: some outside it need nothing else."""

ROUGH = 1e-3
"""Part of a resource to which a sample is solved: it differs from everybody by more."""


def solve(problem: Problem) -> Answer:
    """Return the optimum and its prices.

    Raises
    ------
    SolverError
        When the prices do not arrive, or are beyond the range of floats; `TimeLimitError` when time runs out.
    """
    response, worth = DemandResponse.of(problem)
    tasks = np.empty(response.n)
    # What is free, or beyond the range of floats, makes sums that are not finite, and these are looked at.
    with np.errstate(all="ignore"):
        p = descended(problem.deadline, response, tasks)
        prices = p * response.unit * worth
    if not np.isfinite(prices).all():
        raise SolverError(f"the prices of {problem.policy.name} are beyond the range of floats: take a smaller alpha")
    return Answer(problem.of_members(tasks), prices=prices[None, :])


def descended(
    deadline: Deadline,
    response: DemandResponse | PartedResponse,
    tasks: np.ndarray | None = None,
    largest: float = np.inf,
) -> np.ndarray:
    """Return the prices (m,) at the optimum, and write the tasks (n,) if asked; of samples up to a `largest`."""
    there = response.capacity > 0
    p = np.where(there, response.money / response.m, 0.0)
    bend = None
    for every in _samples(response.n):
        if response.n > largest * every:
            continue
        try:
            sample = Descent(deadline, response.sample(every), p, bend)
            p, bend = sample.run(ROUGH), sample.bend
        except TimeLimitError:
            raise
        except SolverError:
            # It is a place to start from; without it the way is longer.
            continue
        # Somebody outside the sample may need only what nobody in it pays for: where it was the last, some few do.
        seldom = LITTLE / response.m if every > EVERY else SOME / response.n
        p = np.where(there & (p == 0), seldom * response.money, p)
    return Descent(deadline, response, p, bend).run(EXACT, tasks)


def _samples(n: int) -> list[int]:
    """Return how many users each one of a sample stands for, the smallest sample first."""
    parts: list[int] = []
    while n >= FEWEST * EVERY ** (len(parts) + 1):
        parts.append(EVERY ** (len(parts) + 1))
    return parts[::-1]
