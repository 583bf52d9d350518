"""A chain that floats found, to 32 digits: who is finished when, on which classes, by which rows, made numbers.

    sum_k z_ik  =  t_r / rate_i                     for every user i that round r finishes, or her limit
    sum_i d_ij z_ik  =  c_kj                        for every row with a price in some round
    sum_j d_ij (q_kj - q_lj)  =  0                  in every round, for classes k, l that a user who pays is on
    sum_kj c_kj q_kj  as before                     in every round

The exact numbers of the instance stand in them.  Neither system need have one solution: the nearest is wanted, by steps
of one factorisation in floats whose residuals are computed in 32 digits (see `vertices.settled`).
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import sparse

from ...base.numbers.double_double import DoubleDouble
from ...certificates.chain import DEARER, firm
from ...certificates.chain_point import ChainPoint
from ...certificates.point_errors import rooms
from ...model.evidence import ChainEvidence, Round
from ..problem import Answer, Problem
from .vertices import settled

__all__ = ["finer"]

STEPS = 24
"""Times a system is solved for what is left: each leaves a tenth at worst."""

MOST = 50_000
"""Pairs that carry something up to which it is done: beyond, factors take minutes."""


def finer(problem: Problem, answer: Answer) -> Answer | None:
    """Return the answer of which all numbers are the floats nearest to such of 32 digits; None where it has no such."""
    rounds = answer.evidence.rounds if isinstance(answer.evidence, ChainEvidence) else ()
    if not rounds:
        return None
    with np.errstate(all="ignore"):
        chain = _FineChain(problem, answer, rounds)
        if not chain.placed or len(chain.pairs) > MOST:
            return None
        amounts, levels = chain.filled()
        prices = [chain.priced(number) for number in range(len(rounds))]
    members, user = problem.members, chain.user
    if not ((amounts.high > 0).all() and all((table.high >= 0).all() for table in prices)):
        return None
    tasks = np.where(chain.round_of < 0, problem.limits, amounts.sums(chain.starts, user).high)
    table = np.zeros(len(problem.pairs[0]))
    table[chain.pairs] = amounts.high
    links = [
        replace(link, level=float(level), prices=(one * chain.room).high)
        for link, level, one in zip(rounds, levels.high.tolist(), prices, strict=True)
    ]
    point = ChainPoint(members[user], chain.place, amounts, levels, prices)
    return replace(answer, tasks=tasks, amounts=table, evidence=ChainEvidence(rounds=links), chain_point=point)


class _FineChain:
    """The letters above: of users who take part, on the pairs (p,) that carry something."""

    def __init__(self, problem: Problem, answer: Answer, rounds: Sequence[Round]):
        instance, members, self.rounds = problem.instance, problem.members, rounds
        self.m, self.n, self.deadline = problem.m, problem.n, problem.deadline
        self.need, self.room = instance.fine("demands", members), rooms(instance)
        self.limits = instance.fine("limits", members)
        exact = problem.policy.exact_rates(instance)
        self.rates = DoubleDouble.of(exact[i] for i in members.tolist())
        self.round_of = np.full(instance.n, -1)
        for r, link in enumerate(rounds):
            self.round_of[link.finished] = r
        self.round_of = self.round_of[members]
        self.paid = [np.ones(self.n, bool) if v is None else v[members] > 0 for v in (r.multipliers for r in rounds)]
        user, place = problem.pairs
        amounts = np.asarray(answer.amounts)
        carries = amounts > 0
        for link, pays in zip(rounds, self.paid, strict=True):
            costs = np.einsum("pj,pj->p", self.need.high[user], self._per_unit(link)[place])
            least = np.minimum.reduceat(np.where(carries, costs, np.inf), np.searchsorted(user, np.arange(self.n)))
            least[~pays] = 0.0
            carries &= ~(costs - least[user] > DEARER * costs)
        self.pairs = np.flatnonzero(carries)
        self.user, self.place = user[carries], place[carries]
        self.start = amounts[self.pairs]
        self.starts = np.searchsorted(self.user, np.arange(self.n))
        self.placed = len(np.unique(self.user)) == self.n

    def _per_unit(self, link: Round) -> np.ndarray:
        return firm(link.prices) / np.where(self.room.high > 0, self.room.high, 1.0)

    def filled(self) -> tuple[DoubleDouble, DoubleDouble]:
        """Return the amounts (pairs,) and the levels (rounds,)."""
        count, last = len(self.pairs), len(self.rounds)
        moving = np.flatnonzero(self.round_of >= 0)
        of_round = self.round_of[moving]
        has = np.bincount(self.user, weights=self.start, minlength=self.n)
        adding = sparse.csr_array((1 / has[self.user], (self.user, np.arange(count))), shape=(self.n, count))
        taking = sparse.csr_array((-1 / (self.rates.high * has)[moving], (moving, of_round)), shape=(self.n, last))
        full = np.any([firm(link.prices) > 0 for link in self.rounds], axis=0)
        pair, resource = np.nonzero(full[self.place] & (self.need.high[self.user] > 0))
        order = np.argsort(self.place[pair] * self.m + resource, kind="stable")
        pair, resource = pair[order], resource[order]
        _, starts, row = np.unique(self.place[pair] * self.m + resource, return_index=True, return_inverse=True)
        fills = self.need[self.user[pair], resource] / self.room[self.place[pair], resource]
        rows = sparse.csr_array((fills.high, (row, pair)), shape=(len(starts), count))

        def missing(x: DoubleDouble) -> np.ndarray:
            wanted = DoubleDouble(self.limits.high.copy(), self.limits.low.copy())
            wanted[moving] = x[count:][of_round] / self.rates[moving]
            short = (wanted - x[:count].sums(self.starts, self.user)).high / has
            return np.concatenate([short, (1.0 - (fills * x[pair]).sums(starts, row)).high])

        equations = sparse.block_array([[adding, taking], [rows, None]], format="csr")
        start = DoubleDouble(np.concatenate([self.start, [link.level for link in self.rounds]]))
        found = settled(equations, start, np.arange(count + last) >= count, missing, STEPS)
        return found[:count], found[count:]

    def priced(self, number: int) -> DoubleDouble:
        """Return the prices of one unit in a round, (k, m)."""
        self.deadline.check("the chain in 32 digits")
        start = self._per_unit(self.rounds[number])
        cells = np.flatnonzero(start)
        at = np.full(start.size, -1)
        at[cells] = np.arange(len(cells))
        pays = self.paid[number][self.user] & (self.need.high[self.user] * start[self.place]).any(axis=1)
        pairs = np.flatnonzero(pays)
        pair, resource = np.nonzero((self.need.high[self.user] > 0)[pairs] & (start > 0)[self.place[pairs]])
        cell = at[self.place[pairs[pair]] * self.m + resource]
        need = self.need[self.user[pairs[pair]], resource]
        room = self.room.reshape(-1)[cells]
        prices = DoubleDouble(start.ravel()[cells])
        begins = np.searchsorted(pair, np.arange(len(pairs)))
        costs = (need * prices[cell]).sums(begins, pair).high
        first = np.searchsorted(self.user[pairs], self.user[pairs])
        other = np.flatnonzero(first != np.arange(len(pairs)))
        matrix = sparse.csr_array((need.high, (pair, cell)), shape=(len(pairs), len(cells)))
        equal = sparse.diags_array(1 / costs[other]) @ (matrix[other] - matrix[first[other]])
        total = (prices * room).sum()
        whole = sparse.csr_array(room.high[None, :] / total.high)

        def missing(x: DoubleDouble) -> np.ndarray:
            now = (need * x[cell]).sums(begins, pair)
            uneven = (now[first[other]] - now[other]).high / costs[other]
            return np.append(uneven, ((total - (x * room).sum()) / total).high)

        found = settled(sparse.vstack([equal, whole], format="csr"), prices, np.zeros(len(cells), bool), missing, STEPS)
        table = DoubleDouble(np.zeros(start.size))
        table[cells] = found
        return table.reshape(*start.shape)
