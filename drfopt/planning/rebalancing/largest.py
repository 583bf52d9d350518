"""Where whole tasks run after a few moves, when a sum, a product or utilities are to be as large as they can be.

Given   V         what the best whole tasks are worth, in exact numbers: guarantees kept, users served, sum or product
        v[i](x)   what x tasks of user i add to that, concave: its share, income times log x, or its utility

Find    z[i, p] as in `drfopt.planning.rebalancing.moves`, x[i] = sum_p z[i, p]

    minimise    tasks that leave their place
    subject to  sum_i v[i](x[i])  >=  V - what a solver does not see             (as large, of every tier)
                as many users of it have a task; guarantees are kept as far as the best tasks keep them

v is written as its chords between neighbouring numbers of tasks, of which some are left out at first.  Every program
allows more than is asked, so that what it says of moves is a bound; an answer that lacks a chord gets it, one that is
worth less than V in exact numbers is cut off, and the first that is worth V has the fewest moves.

With at most K tasks leaving the largest is found first: guarantees, users served, then the sum, each kept for the next,
and tier after tier where they are served in turn; what is as good but for rounding is asked for, and compared exactly.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ...base.deadline import Deadline
from ...base.errors import SolverError, TimeLimitError
from ...base.progress import report
from ...certificates.exhaustive_search import SearchTooLong, exactly, powers, worth
from ...certificates.second_solver import FAR_APART
from ...engines.problem import Problem
from ...engines.whole.integer_program import Terms
from ...engines.whole.totals import first_chords, keep_promises, missing_chords, of_some, together, utility_columns
from ...model.packings import program_values
from ...model.whole_values import WholeUsers
from .current import Current
from .moves import Fairest, Placement, Tasks, Within, nearest

__all__ = ["Largest", "largest_within"]

ROUNDS = 200
"""Programs at most, each with a chord more or a worse answer cut off."""

ROUNDING = 1e-7, 1e-10
"""By how much a row may be missed by what meets it exactly: at least, and as a part of it."""

UNSEEN = 1e-6
"""By how much, or by which part, another answer may seem worse and be better: solvers print eight digits."""

SEARCH = 0.7
"""Part of the time in which all that is as good is looked through; the rest is for the tasks that are known."""

ALIKE = 30
"""Answers that are as good but for rounding, looked at before it is left open which is best."""


@dataclass
class Largest:
    """The plan with the fewest tasks leaving that is worth as much as given tasks.

    Attributes
    ----------
    tasks : list of int
        Of the members: what is to be reached.
    most : int or None
        The most tasks that may leave their place.
    undecided : bool
        Whether rounding hides what is best, or nearest.
    """

    problem: Problem
    current: Current
    tasks: list[int]
    most: int | None = None
    undecided: bool = False
    chords: list[set[int]] = field(default_factory=list, repr=False)
    worse: list[tuple[list[int], Sequence[int]]] = field(default_factory=list, repr=False)

    @cached_property
    def users(self) -> WholeUsers:
        """Who takes part, and what tasks are worth."""
        return self.problem.whole_users

    @cached_property
    def worth(self) -> Callable[[Sequence[int]], tuple]:
        """What tasks of the members are worth, larger is better, in exact numbers."""
        return worth(self.users)

    @cached_property
    def kept(self) -> dict[int, int]:
        """How many users have which part of their guarantees."""
        values = (scale.value(x) for scale, x in zip(self.users.scales, self.tasks, strict=True))
        return dict(Counter(value for value in values if value < self.users.first_level))

    def served(self, mine: Sequence[int]) -> int | None:
        """Return how many users of a tier have a task, where that comes first."""
        return sum(1 for p in mine if self.tasks[p]) if self.users.serving else None

    @property
    def far_apart(self) -> bool:
        """Whether no solver tells utilities apart, so that programs speak of moves alone."""
        users = self.users
        return users.policy.objective != "sum" and users.policy.alpha != 1 and users.utility_spread > FAR_APART

    def as_good(self, tasks: Sequence[int]) -> bool:
        """Say whether tasks of the members are worth as much, exactly.

        Raises
        ------
        SearchTooLong
            When no digits tell.
        """
        return list(tasks) == self.tasks or bool(self.worth(tasks) >= self.worth(self.tasks))

    def misses(self, plan: Placement) -> str:
        """Return what of a plan is not as good as was asked for, in words."""
        tasks = Tasks(self.problem, self.current).tasks(plan)
        return "" if self.as_good(tasks) else "it is worth less than was asked for"

    def fewest(self, deadline: Deadline) -> tuple[Placement, bool]:
        """Return a plan that is worth as much, and whether it is proven that no fewer tasks leave."""
        bound, sure, late = 0, True, False
        early = deadline.part(SEARCH)
        try:
            for attempt in range(ALIKE if self.far_apart else ROUNDS):
                report(f"moves: round {attempt + 1}, at least {bound}")
                program, totals = self.program(self.kept)
                for total in totals:
                    self._hold(program, total, self.tasks)
                plan, proven = nearest(program, early)
                tasks = program.tasks(plan)
                if late := not proven:
                    break
                bound = max(bound, plan.leaving(self.current)) if sure else bound
                if sum(total.missing(tasks) for total in totals):
                    continue
                try:
                    if self.as_good(tasks):
                        self.undecided = not sure
                        return plan, sure
                except SearchTooLong:
                    sure = False
                self.worse.append((tasks, range(len(tasks))))
        except TimeLimitError:
            late = True
        # The tasks that are known to be as good, wherever they run.
        program = Tasks(self.problem, self.current, self.most)
        for p, x in enumerate(self.tasks):
            program.model.row(float(x), float(x), program.of(p))
        plan, _ = nearest(program, deadline)
        fewest = plan.leaving(self.current) <= bound
        self.undecided = self.undecided or not (fewest or late)
        return plan, fewest

    def program(self, kept: dict[int, int]) -> tuple[Tasks, list["_Total"]]:
        """Return the program of what runs where, with what it is worth to each tier."""
        users = self.users
        program = Tasks(self.problem, self.current, self.most)
        terms = [program.of(p) for p in range(len(users.members))]
        keep_promises(program.model, users, terms, kept)
        for tasks, mine in self.worse:
            self._other(program, terms, tasks, mine)
        if users.policy.objective == "sum":
            totals = []
            for mine in users.tiers:
                rates = program_values([users.rates[p] for p in mine]) if mine else []
                worths = [{c: rate * x for c, x in terms[p].items()} for p, rate in zip(mine, rates, strict=True)]
                totals.append(_Total(mine, together(worths, range(len(mine))), {}, rates))
            return program, totals
        if self.far_apart:
            return program, [_Total(mine, {}, {}) for mine in users.tiers]
        if not self.chords:
            self.chords = [first_chords(most) for most in users.most]
            missing_chords(self.chords, [{} for _ in terms], users.most, self.tasks)
        served, worths = utility_columns(program.model, users, terms, program.chosen, self.chords)
        chords = self.chords, program.chosen, users.most
        return program, [
            _Total(mine, together(worths, mine), together(served, mine), [], chords) for mine in users.tiers
        ]

    def _hold(self, program: Tasks, total: "_Total", tasks: Sequence[int]) -> None:
        """Say that a tier has as many users with a task as these, and is worth no less, but for rounding."""
        if (served := self.served(total.mine)) is not None and total.served:
            program.model.row(float(served), math.inf, total.served)
        if total.terms:
            unit = self._sum(total, tasks)
            allowed = 0.5 if total.whole else ROUNDING[0] + ROUNDING[1] * abs(unit)
            program.model.row(unit - allowed, math.inf, total.terms)

    def _sum(self, total: "_Total", tasks: Sequence[int]) -> float:
        """Return what tasks are worth to a tier in a program."""
        users = self.users
        if total.rates:
            return math.fsum(rate * tasks[p] for p, rate in zip(total.mine, total.rates, strict=True))
        return math.fsum(users.utility(p, tasks[p]) / users.utility_unit for p in total.mine if tasks[p])

    def step(self, tasks: Sequence[int], mine: Sequence[int], whole: bool) -> float:
        """Return by how much what is better to a tier is worth more at least; 0 where that is not known."""
        users = self.users
        if whole or not mine:
            return 1.0
        if users.policy.objective == "sum" or users.policy.alpha != 1 or not exactly(users.incomes):
            return 0.0
        raised = powers(users.incomes)
        product = math.prod(tasks[p] ** raised[p] for p in mine if tasks[p])
        return float(users.incomes[0]) / raised[0] / product if product < 1 / UNSEEN else 0.0

    def _other(self, program: Tasks, terms: list[Terms], tasks: Sequence[int], mine: Sequence[int]) -> None:
        """Say that one of some has more or less tasks than these."""
        model, other = program.model, {}
        for p in mine:
            x, most = tasks[p], self.users.most[p]
            if x > 0:
                less = model.column(1.0)
                model.row(-math.inf, float(most), terms[p] | {less: float(most - x + 1)})
                other[less] = 1.0
            if x < most:
                more = model.column(1.0)
                model.row(0.0, math.inf, terms[p] | {more: -float(x + 1)})
                other[more] = 1.0
        model.row(1.0, math.inf, other or {model.column(0.0): 1.0})

    def best(
        self, kept: dict[int, int], tier: int, served: int | None, deadline: Deadline
    ) -> tuple[list[int], float, bool] | None:
        """Return the tasks of the members that are worth most to a tier, what they are worth, and if that is whole.

        So many users of it are `served`, or, where that is None and it comes first, the most.  To tiers before it tasks
        are worth what the tasks at hand are.  None where nothing is possible.
        """
        for _ in range(ROUNDS):
            program, totals = self.program(kept)
            for total in totals[:tier]:
                self._hold(program, total, self.tasks)
            mine = totals[tier]
            if served is not None:
                program.model.row(float(served), math.inf, mine.served)
            counted = served is None and self.users.serving
            for column, x in (mine.served if counted else mine.terms).items():
                program.model.cost[column] = -x
            values = program.model.solve(deadline)
            if values is None:
                return None
            tasks = program.tasks(program.plan(values))
            if not sum(total.missing(tasks) for total in totals):
                return tasks, self._sum(mine, tasks), mine.whole
        raise SolverError(f"the product's chords did not settle in {ROUNDS} rounds: use a smaller instance")

    def reach(self, kept: dict[int, int], tier: int, deadline: Deadline) -> bool:
        """Take the tasks that are best to a tier, those before it being held; return whether that is proven.

        What is as good but for rounding is compared exactly.
        """
        mine, there = self.users.tiers[tier], [p for turn in self.users.tiers[: tier + 1] for p in turn]
        known, served, value, unseen = list[int](), None, 0.0, 0.0
        self.worse, self.undecided = [], True
        if self.users.serving:
            if (most := self.best(kept, tier, None, deadline)) is None:
                raise Within("no plan keeps within the moves")
            served = sum(1 for p in mine if most[0][p])
        for attempt in range(1 + ALIKE):
            if (found := self.best(kept, tier, served, deadline)) is None and not attempt:
                raise Within("no plan keeps within the moves")
            if found is None or (attempt and found[1] < value - unseen):
                self.undecided = False
                break
            tasks, worth, whole = found
            if not attempt:
                known, value, unseen = tasks, worth, UNSEEN * max(1.0, abs(worth))
                if not tier and self.step(tasks, mine, whole) > 2 * unseen:
                    self.undecided = False
                    break
            self.worse.append((tasks, there))
            try:
                if self.worth(of_some(there, tasks)) > self.worth(of_some(there, known)):
                    known = tasks
            except SearchTooLong:
                break
        self.tasks, self.worse = known, []
        return not self.undecided


@dataclass
class _Total:
    """What tasks are worth to a tier in a program: an expression, and who of it is served.

    Of a sum it has the rates, else which chords there are.
    """

    mine: Sequence[int]
    terms: Terms
    served: Terms
    rates: list[float] = field(default_factory=list)
    chords: tuple[list[set[int]], list[dict[int, int]], list[int]] | None = None

    @property
    def whole(self) -> bool:
        """Whether it is a sum of whole numbers, which differ by 1 where they differ."""
        return bool(self.rates) and all(rate.is_integer() for rate in self.rates)

    def missing(self, tasks: Sequence[int]) -> int:
        """Add the chords that tasks need and the program lacked, and return how many these are."""
        if self.chords is None:
            return 0
        chords, numbers, most = self.chords
        return missing_chords(chords, numbers, most, tasks)


def largest_within(problem: Problem, current: Current, moves: int, deadline: Deadline) -> tuple[Largest, bool]:
    """Return what the best tasks are worth that so many moves can reach, and whether it is proven that none are better.

    Raises
    ------
    Within
        When nothing is within the moves.
    TimeLimitError
        When the time is up.
    """
    found = Largest(problem, current, [0] * len(problem.members), moves)
    kept = _kept_within(problem, current, moves, deadline) if any(found.users.promises) else {}
    if found.far_apart:
        raise SolverError(
            f"utilities of {problem.policy.name} are too far apart for a solver to tell: leave out the number of "
            "moves, or use a smaller alpha"
        )
    proven = True
    for tier in range(len(found.users.tiers)):
        proven = found.reach(kept, tier, deadline) and proven
    return replace(found, worse=[], undecided=not proven), proven


def _kept_within(problem: Problem, current: Current, moves: int, deadline: Deadline) -> dict[int, int]:
    """Return how many users have which part of their guarantees at best within the moves."""
    leximin = replace(problem, policy=replace(problem.policy, objective="leximin"))
    fairest = Fairest(leximin, current, moves)
    first = fairest.users.first_level
    while not (fairest.decided and fairest.decided[-1][0] >= first):
        if fairest.advance(deadline) is None:
            break
    return {value: count for value, count in fairest.decided if value < first}
