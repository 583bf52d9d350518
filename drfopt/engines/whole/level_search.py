"""Leximin of a pool in whole tasks where ways to stop are too many to list: level by level, refuted or beaten.

An incumbent says at which level its next user must stop, and how many do there.  That no fewer can, with as many at
each level before, is the claim that its proof will need (`drfopt.certificates.level_claims`): it is refuted, or an
allocation comes of the search that is better, which is the next incumbent.  Refutations go to the certificate, which
checks them in integers.  Where the search for one ends without either, counting programs go on from there.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from ...base.errors import TimeLimitError
from ...base.progress import report
from ...certificates.branch_and_cut import Better, Inconclusive, Learned, refute
from ...certificates.level_claims import ABOVE, ClaimList, LevelClaim
from ...certificates.packing_bound import worth_of
from ...certificates.refutation import Refutation
from ...model.evidence import WholeEvidence
from ..problem import Answer, Problem
from .leximin_milp import Counting, Stops
from .milp import SEARCH
from .user_kinds import BOTTOM, KindPool, Spot, Vector

__all__ = ["LevelSearch"]


class LevelSearch:
    """The levels found so far with how many stop at each, and an incumbent.

    Parameters
    ----------
    problem : Problem
    pool : KindPool
    decided : list of (level, count)
        What is known already, from below.
    stops : list
        A way to stop these users.
    """

    def __init__(self, problem: Problem, pool: KindPool, decided: list[tuple[int, int]], stops: Stops):
        self.problem, self.pool, self.stops = problem, pool, stops
        self.active, self.left = pool.after(stops)  # How many of each kind are active, what the stopped leave over.
        self.deadline = problem.deadline.part(SEARCH)
        self.learned = Learned()
        self.claims, self.worth = ClaimList(pool.users), worth_of(pool.users)
        self.decided: list[tuple[int, int]] = []
        self.rows: list[int | None] = []  # Of each level, where it is among those at which it is open who stops.
        self.said: list[tuple[Fraction, int, Refutation | None]] = []
        for level, count in decided:
            self._record(level, count, None)

    def solve(self) -> Answer:
        """Return the optimum; where time runs out, the incumbent finished by greedy choices."""
        try:
            while (spot := self._next()) is not None:
                stopped = sum(count for _, count in self.decided)
                report(f"{stopped} of {self.problem.n} users stopped, {len(self.decided)} levels searched")
                self.deadline.check("counting who stops")
                self._advance(spot)
        except Inconclusive:
            counted = Counting(self.problem, self.pool, self.decided, self.stops).solve()
            return replace(counted, engine="leximin-milp")
        except TimeLimitError:
            level = self.decided[-1][0] if self.decided else BOTTOM
            return self._answer([*self.stops, *self.pool.finish(self.active, self.left, level)], "time_limit")
        return self._answer(self.stops, "optimal")

    def _answer(self, stops: Stops, status: str) -> Answer:
        tasks = np.array(self.pool.tasks(stops), dtype=np.int64)
        return Answer(tasks, status=status, evidence=WholeEvidence(claims=self.said))

    def _next(self) -> Spot | None:
        return self.pool.next_spot(self.active, self.left, self.decided[-1][0] if self.decided else BOTTOM)

    def _record(self, level: int, count: int, proof: Refutation | None) -> None:
        row = len(self.claims.rows)
        self.rows.append(row if self.claims.record(level, count) is None else None)
        self.decided.append((level, count))
        self.said.append((self.pool.level(level), count, proof))

    def _advance(self, spot: Spot) -> None:
        """Find how few must stop where the incumbent's next user must; none, when others could before."""
        stopping = self.pool.greedy(spot)
        known = before = [proof for _, _, proof in self.said[-1:] if proof is not None and proof.alone]
        proof = None
        while count := sum(stopping):
            if count == int(self.claims.must(spot.level).sum()) or (count == 1 and not self.claims.rows):
                break
            claim = self.claims.claim(spot.level, count)
            try:
                proof = refute(claim, self.worth, self.deadline, known=known, learned=self.learned)
                break
            except Better as better:
                stopping = self._replaced(claim, better.numbers, spot)
                count, least = sum(stopping), better.proof
                # Of one user alone nobody may stop at the level: options have other places in rows then.
                known = before if least is None or (count == 1 and least.rows) else [*before, least]
        if count:
            self._record(spot.level, count, proof)
            self.stops.append((stopping, spot.tasks))
            self.active = self.active - np.array(stopping)
            self.left = self.pool.minus(self.left, np.array(stopping), spot.tasks)

    def _replaced(self, claim: LevelClaim, numbers: Sequence[int], spot: Spot) -> Vector:
        """Put a better allocation in the place of the incumbent; return who stops at the level in it."""
        stopping = [[0] * len(self.claims.rest) for _ in claim.allowed]
        playing = np.flatnonzero(self.claims.rest).tolist()
        taken = iter(numbers)
        for kind, choice in zip(playing, claim.choices, strict=True):
            for (_, row), number in zip(choice.options, taken, strict=False):
                if row != ABOVE:
                    stopping[row][kind] = number
        for place, at in enumerate(self.rows):
            if at is not None:
                self.stops[place] = tuple(stopping[at]), self.stops[place][1]
        self.active, self.left = self.pool.after(self.stops)
        return tuple(stopping[-1])
