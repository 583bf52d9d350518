"""Leximin on machines in rational numbers: floats find the basis of each round, exact arithmetic decides it.

The rounds are those of the chain of linear programs: the common level t of the users still rising is made as large as
it can be, the others held at theirs.

    maximise    t
    subject to  t / r_i  - sum_k z_ik  <=  0           user i rises       (r_i: level of one task)
                         - sum_k z_ik  <=  -y_i / r_i  user i is held at y_i
                sum_i d_ij z_ik        <=  c_kj        resource j of class k

HiGHS solves the program in floats, and only its basis is used: where that is not the optimal one, exact pivots mend it.
Where weights or demands span more than floats, it is none that obeys all rows: what the round before ended with is then
the better start.
At the exact optimum a positive price of a user's row finishes her at exactly t.  Whose limit lies at or below the
level is finished by it, and the program is solved again; where floats see her limit well below, no exact program is
needed to know that.
"""

import math
from fractions import Fraction
from functools import partial

import numpy as np
from scipy import sparse

from ...base.errors import SolverError
from ...base.numbers.rationals import integer_columns
from ...base.progress import report
from ...base.solvers.exact_lp import ExactProgram, Optimum, maximise, risen
from ...model.evidence import ChainEvidence, Round
from ..linear_programs import INFINITY, basic_columns, capacity_rows, load, run, user_rows
from ..problem import Answer, Problem, exact_types

__all__ = ["solve"]

CLEAR = 1e-6
"""Relative distance of a limit from the level that HiGHS cannot have got wrong; nearer ones are decided exactly."""


def solve(problem: Problem) -> Answer:
    """Return the leximin allocation as `Fraction`s, with prices of every round that prove it."""
    return _Chain(problem).answer()


class _Chain:
    """The program of the rounds, in floats and in fractions, and how far it has got."""

    def __init__(self, problem: Problem):
        instance, members = problem.instance, problem.members.tolist()
        rates = problem.policy.exact_rates(instance)
        # Who has several task types is a row each, with its part of the tasks; they rise, and are finished, together.
        self.problem, self.by_type = problem, (by_type := problem.by_type)
        parts, demands_of = exact_types(problem)
        self.owner = by_type.user.tolist()
        self.parts = parts
        self.rates = [rates[i] for i in members]
        self.limits = [instance.exact_limits[i] for i in members]
        self.tops = [None if u is None else u * r for u, r in zip(self.limits, self.rates, strict=True)]
        self.rows, self.adding = capacity_rows(by_type), user_rows(by_type)
        demands, self.scales = integer_columns(demands_of, problem.m)
        cells = list(zip(self.rows.machine.tolist(), self.rows.resource.tolist(), strict=True))
        row_of = {cell: by_type.n + r for r, cell in enumerate(cells)}
        self.columns = []
        for q, k in zip(*(part.tolist() for part in by_type.pairs), strict=True):
            uses = {row_of[k, j]: Fraction(d) for j, d in enumerate(demands[q]) if d}
            self.columns.append({q: Fraction(-1), **uses})
        one_machine = instance.exact_machine_capacity
        counts = [machine.count for machine in instance.machines or ()]
        self.room = [counts[k] * one_machine[k][j] * self.scales[j] for k, j in cells]
        self.levels: list[Fraction | None] = [None] * problem.n
        self.rounds: list[Round] = []
        self.basis = [len(self.columns) + 1 + r for r in range(by_type.n + len(cells))]
        self.last: Optimum | None = None
        self.unit = 1 / float((problem.shares / problem.rates[:, None]).sum(axis=0).max())

    def answer(self) -> Answer:
        """Go from round to round until everybody is finished."""
        optimum = None
        while None in self.levels:
            finished = sum(level is not None for level in self.levels)
            report(f"round {len(self.rounds) + 1}: {finished} of {self.problem.n} users are finished")
            level = self._guess()
            rising = [i for i, held in enumerate(self.levels) if held is None]
            met = [i for i in rising if (top := self.tops[i]) is not None and float(top) <= level * (1 - CLEAR)]
            if not met or len(met) == len(rising):
                optimum = self._round(rising)
            else:
                optimum = None
                self._stop_at_limits(met)
        if optimum is None:
            raise SolverError("the last round of the chain was not solved exactly: this cannot be")
        return self._answer(optimum.x)

    def _stop_at_limits(self, users: list[int]) -> None:
        for i in users:
            self.levels[i] = self.tops[i]

    def _round(self, rising: list[int]) -> Optimum:
        """Solve the round exactly, and finish whom it finishes: at limits, or else by prices."""
        program, deadline = self._program(), self.problem.deadline
        self.last = optimum = maximise(
            program, self.basis, "a round of the exact chain", deadline, partial(self._risen, program)
        )
        self.basis = list(optimum.basis)
        level = optimum.x[-1]
        self.unit = float(level)
        met = [i for i in rising if (top := self.tops[i]) is not None and top <= level]
        if met:
            self._stop_at_limits(met)
            return optimum
        prices = optimum.prices[self.by_type.n :]
        paying = {self.owner[q] for q in range(self.by_type.n) if optimum.prices[q] > 0}
        paid = [i for i in rising if i in paying]
        for i in paid:
            self.levels[i] = level
        table = np.full((self.problem.k, self.problem.m), Fraction(0), dtype=object)
        for k, j, price, room in zip(self.rows.machine, self.rows.resource, prices, self.room, strict=True):
            table[k, j] = price * room
        self.rounds.append(Round(level, self.problem.members[paid], None, table))
        return optimum

    def _risen(self, program: ExactProgram) -> list[int]:
        """Return the basis where the level may rise no more as things stand after the last optimum.

        Those who were finished have their level whatever t does: the slack of one of them who paid takes its place.
        """
        last, width = self.last, len(self.columns) + 1
        if last is None:
            return list(range(width, width + len(program.b)))
        paid = [q for q in range(self.by_type.n) if last.prices[q] > 0 and self.levels[self.owner[q]] is not None]
        if not paid:
            return last.basis
        basis = [width + paid[0] if column == width - 1 else column for column in last.basis]
        return risen(program, basis, width - 1, last.x[-1])

    def _program(self) -> ExactProgram:
        rows = list(enumerate(zip(self.owner, self.parts, strict=True)))
        common = {q: part / self.rates[i] for q, (i, part) in rows if self.levels[i] is None}
        b = [Fraction(0) if (y := self.levels[i]) is None else -y * part / self.rates[i] for _, (i, part) in rows]
        c = [Fraction(0)] * len(self.columns) + [Fraction(1)]
        return ExactProgram([*self.columns, common], b + self.room, c)

    def _guess(self) -> float:
        """Return the level that floats reach; their basis is kept where they end, else the one there was."""
        problem, unit = self.by_type, self.unit
        user, _ = problem.pairs
        held = np.array([math.nan if y is None else float(y) / unit for y in self.levels])[problem.user]
        common = sparse.csr_matrix(-np.isnan(held).astype(float)[:, None])
        scaled = self.rows.matrix @ sparse.diags(unit / problem.rates[user])
        matrix = sparse.bmat([[self.adding, common], [scaled, None]], format="csr")
        rows, width = len(self.rows.machine), len(user) + 1
        low = np.concatenate([np.nan_to_num(held), np.full(rows, -INFINITY)])
        high = np.concatenate([np.full(problem.n, INFINITY), np.ones(rows)])
        cost = np.zeros(width)
        cost[-1] = -1
        highs = load(cost, np.full(width, INFINITY), matrix, low, high)
        try:
            solution = run(highs, "a round of the chain", problem.deadline)
        except SolverError:
            problem.deadline.check("a round of the chain")
            return 0.0
        basic = basic_columns(highs)
        if len(basic) == len(self.basis):
            self.basis = basic
        return float(solution.columns[-1]) * unit

    def _answer(self, x: list[Fraction]) -> Answer:
        """Return tasks and where they are: what the last program placed, without what is above the levels."""
        tasks = [
            u if u is not None and y == top else y / r
            for y, r, u, top in zip(self.levels, self.rates, self.limits, self.tops, strict=True)
            if y is not None
        ]
        surplus = [-tasks[i] * part for i, part in zip(self.owner, self.parts, strict=True)]
        users = self.by_type.pairs[0].tolist()
        for q, i in enumerate(users):
            surplus[i] += x[q]
        amounts = list(x[: len(users)])
        for q, i in enumerate(users):
            less = min(surplus[i], amounts[q])
            amounts[q] -= less
            surplus[i] -= less
        return Answer(
            np.array(tasks, dtype=object),
            amounts=np.array(amounts, dtype=object),
            evidence=ChainEvidence(rounds=self.rounds),
        )
