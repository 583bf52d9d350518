"""The largest sum of levels, Nash product or alpha utility with whole tasks: integer programs over HiGHS.

Of a product, and of utilities above alpha = 1, when the placed users cannot all have a task at once, as many as
possible get one, and the weighted product, or sum, is over them.  The logarithm, or utility, is replaced by its chords
between neighbouring integers, which is exact on integers; chords are added where a solution needs them, until none is
missing.

Of tiers that are served in turn each is made the most, and then held while the next one is: a row says that it has as
many users with a task, and is worth no less.

The Nash product in one pool is also found by an exact search near the prices of the continuous optimum.  Allocations
whose loss against a bound is at most R are listed by `drfopt.certificates.meet_in_the_middle`; R grows until one is
found, and the best of all that lose no more than it is the optimum.  The work grows steeply with R and little with the
number of users: with more of them the optimum is nearer to the bound.  Where not all users can have a task at once, or
there are too many allocations to list, the program decides.
"""

import contextlib
import heapq
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from ...base.deadline import Deadline
from ...base.errors import SolverError, TimeLimitError
from ...base.progress import report
from ...certificates.branch_and_cut import Inconclusive
from ...certificates.exhaustive_search import SearchTooLong, worth
from ...certificates.meet_in_the_middle import MeetInTheMiddle, TooManyChoices
from ...certificates.packable import Packable
from ...certificates.second_solver import FAR_APART, hides_tasks
from ...certificates.utility_losses import BITS
from ...model.packings import program_rows, program_values
from ...model.whole_values import WholeUsers
from ..problem import Answer, Problem
from . import frontier, leximin_milp
from .filling_up import filled
from .integer_program import Model, Terms, UnfinishedProgram
from .milp import SEARCH, Supply, placed, supply

__all__ = [
    "first_chords",
    "greedily",
    "keep_promises",
    "missing_chords",
    "nearest",
    "of_some",
    "solve",
    "solve_by_halves",
    "solve_product",
    "together",
    "utility_columns",
]


@dataclass
class TaskColumns:
    """Columns of the tasks of each member, within what the cluster can run and rules allow.

    Attributes
    ----------
    supplied : Supply
    terms : list of terms
        The tasks of each member.
    numbers : list of dict
        Of a member with several types, a column of each number of tasks; empty for the others.
    rows : list of (dict from column to int, int)
        What tasks need of each capacity of a pool, or ceiling, in integers, and what there is.
    """

    supplied: Supply
    terms: list[Terms]
    numbers: list[dict[int, int]]
    rows: list[tuple[dict[int, int], int]]

    def beyond(self, values: np.ndarray) -> list[int]:
        """Return by how much a solution exceeds each row, which a solver's tolerance hides in large numbers."""
        needs = (sum(need * round(values[c]) for c, need in row.items()) - total for row, total in self.rows)
        return [max(0, need) for need in needs]

    def tasks(self, values: np.ndarray) -> list[int]:
        """Return the tasks of the members in a solution."""
        return [round(sum(x * values[c] for c, x in terms.items())) for terms in self.terms]


def task_columns(
    model: Model, problem: Problem, users: WholeUsers, kept: dict[int, int], spare: Sequence[int] = ()
) -> TaskColumns:
    """Add the tasks of the members to a model.

    `kept` says how many users may have a part of their guarantee, by its value; all others keep theirs.  `spare` is
    what to leave of each row.
    """
    rows = problem.by_type.members.tolist() if problem.instance.machines is not None else users.rows
    column = dict.fromkeys(rows, -1)
    for p, sequence in enumerate(users.sequences):
        for q, most in zip(sequence.rows, sequence.started(users.most[p]), strict=True):
            column[q] = model.column(most)
    # Types that fit nowhere.
    column = {q: c if c >= 0 else model.column(0) for q, c in column.items()}
    if problem.instance.machines is None:
        supplied = Supply([], [], [], [])
        demands, room = users.pool_rows
    else:
        problem.deadline.check("the program of whole tasks")
        supplied = supply(model, problem.by_type)
        supplied.within(model, [column[q] for q in rows])
        demands, room = users.ceiling_rows
    pairs = [
        (column[q], demands[good])
        for sequence, goods in zip(users.sequences, users.goods_of, strict=True)
        for q, good in zip(sequence.rows, goods, strict=True)
    ]
    exact = [({c: need[j] for c, need in pairs if need[j]}, total) for j, total in enumerate(room)]
    room = [total - left for total, left in zip(room, spare or [0] * len(room), strict=True)]
    for row, total in program_rows([need for _, need in pairs], room):
        model.row(-math.inf, total, {c: d for (c, _), d in zip(pairs, row, strict=True) if d})
    found = TaskColumns(supplied, [], [], exact)
    for p, sequence in enumerate(users.sequences):
        numbers = _numbers(model, users, p, column) if len(sequence.rows) > 1 else {}
        found.numbers.append(numbers)
        found.terms.append({c: float(x) for x, c in numbers.items()} or {column[sequence.rows[0]]: 1.0})
    keep_promises(model, users, found.terms, kept)
    return found


def _numbers(model: Model, users: WholeUsers, p: int, column: dict[int, int]) -> dict[int, int]:
    """Say that tasks of several types are the first so many of their sequence; return a column of each number."""
    sequence = users.sequences[p]
    numbers = {x: model.column(1.0) for x in range(users.most[p] + 1)}
    model.row(1.0, 1.0, dict.fromkeys(numbers.values(), 1.0))
    started = {x: sequence.started(x) for x in numbers}
    for t, q in enumerate(sequence.rows):
        model.row(0.0, 0.0, {column[q]: 1.0} | {c: -float(started[x][t]) for x, c in numbers.items() if started[x][t]})
    return numbers


def keep_promises(model: Model, users: WholeUsers, terms: list[Terms], kept: dict[int, int]) -> None:
    """Add the guarantees: whoever does not have a part that so many may have keeps its own."""
    at: dict[int, Terms] = {value: {} for value in kept}
    for mine, scale in zip(terms, users.scales, strict=True):
        if not scale.promise:
            continue
        options = {value: model.column(1.0) for value in kept if scale.at(value) and scale.least(value) < scale.promise}
        for value, column in options.items():
            at[value][column] = 1.0
        model.row(0.0, 1.0, dict.fromkeys(options.values(), 1.0) or {model.column(0.0): 1.0})
        short = {column: float(scale.promise - scale.least(value)) for value, column in options.items()}
        model.row(float(scale.promise), math.inf, mine | short)
    for value, number in kept.items():
        model.row(0.0, number, at[value] or {model.column(0.0): 1.0})


def kept_parts(problem: Problem, users: WholeUsers) -> dict[int, int]:
    """Return how many users have which part of their guarantees, where not all can be kept: the best sorted parts."""
    if not any(users.promises):
        return {}
    within = all(f <= most for f, most in zip(users.promises, users.most, strict=True))
    with contextlib.suppress(Inconclusive):
        if within and Packable(users, problem.deadline).fits(users.promises):
            return {}
    leximin = replace(problem, policy=replace(problem.policy, objective="leximin"))
    engine = frontier if problem.instance.machines is None else leximin_milp
    found = engine.solve(leximin)
    if found.status != "optimal":
        raise TimeLimitError("the time limit ran out before it was known how far all guarantees can be kept")
    tasks = (int(x) for x in found.tasks.tolist())
    values = (scale.value(x) for scale, x in zip(users.scales, tasks, strict=True))
    return dict(Counter(value for value in values if value < users.first_level))


TOLD_APART = 2**50
"""Tasks of one user up to which floats count single ones, with some bits for a solver to be wrong by."""

RETRIES = 5
"""How often a program is asked again to leave as much of a capacity as its answer exceeded it by."""

Found = TypeVar("Found")


def _within_rows(ask: Callable[[Sequence[int]], tuple[Found, list[int]] | None]) -> Found | None:
    """Return the answer of a program that leaves as much of each row as its tolerance would hide.

    `ask` is told what to leave of each row, nothing at first, and returns an answer and by how much that is beyond each
    row; None where there is none any more: then the one before it is returned.
    """
    spare: list[int] = []
    known: Found | None = None
    for _ in range(1 + RETRIES):
        found = ask(spare)
        if found is None:
            break
        known, beyond = found
        if not any(beyond):
            break
        spare = [10 * left + more for left, more in zip(spare or [0] * len(beyond), beyond, strict=True)]
    return known


@dataclass
class Tiers:
    """What tiers that are served in turn come to: each is made the most, and then held while the next one is.

    Attributes
    ----------
    held : list of (positions, users served, tasks of all)
        Of the tiers before: who is of it, how many of it have a task where that counts, and tasks that it is held at.
    mine : list of int
        Who is of the tier that is made the most.
    """

    users: WholeUsers
    held: list[tuple[list[int], int | None, list[int]]]
    mine: list[int]


def _in_turn(users: WholeUsers, solve: Callable[[Tiers], Answer]) -> Answer:
    """Return what makes each tier the most in turn, as `solve` does it; as far as there is time."""
    tiers = Tiers(users, [], users.tiers[0])
    known = solve(tiers)
    for mine in users.tiers[1:]:
        if known.status != "optimal":
            break
        tasks = [int(x) for x in known.tasks.tolist()]
        served = sum(bool(tasks[p]) for p in tiers.mine) if users.serving else None
        tiers.held.append((tiers.mine, served, tasks))
        tiers.mine = mine
        try:
            answer = solve(tiers)
        except TimeLimitError:
            return replace(known, status="time_limit")
        if _worse(users, [p for before, *_ in tiers.held for p in before], answer, known):
            raise SolverError("tiers before it have less in the program of a tier: the solver is not believed")
        known = answer
    return known


def _worse(users: WholeUsers, mine: Sequence[int], answer: Answer, known: Answer) -> bool:
    """Say whether an answer is worth less to some than another, in exact numbers, where digits tell."""
    value = worth(users)
    with contextlib.suppress(SearchTooLong):
        return bool(value(of_some(mine, answer.tasks.tolist())) < value(of_some(mine, known.tasks.tolist())))
    return False


def solve(problem: Problem) -> Answer:
    """Return whole tasks of the largest sum, tier by tier; of numbers beyond floats what is full, densest first."""
    users = problem.whole_users
    if max(users.most, default=0) > TOLD_APART:
        return replace(filled(problem), engine="")
    found = _in_time(problem, lambda: _in_turn(users, partial(_largest_sum, problem, kept_parts(problem, users))))
    if problem.instance.machines is None or not hides_tasks(users.rates, found.tasks.tolist()):
        return found
    # The program leaves out tasks that it does not see, where there is room for them.
    return replace(filled(problem, found), status=found.status)


def _largest_sum(problem: Problem, kept: dict[int, int], tiers: Tiers) -> Answer:
    users = tiers.users

    def ask(spare: Sequence[int]) -> tuple[Answer, list[int]] | None:
        model = Model(problem.solver)
        columns = task_columns(model, problem, users, kept, spare)

        def total(mine: Sequence[int], tasks: Sequence[int]) -> tuple[Terms, float]:
            rates = program_values([users.rates[p] for p in mine])
            found = {c: rate * x for p, rate in zip(mine, rates, strict=True) for c, x in columns.terms[p].items()}
            return found, math.fsum(rate * tasks[p] for p, rate in zip(mine, rates, strict=True))

        for mine, _, tasks in tiers.held:
            row, least = total(mine, tasks)
            model.row(least, math.inf, row)
        for column, rate in total(tiers.mine, [0] * len(users.members))[0].items():
            model.cost[column] = -rate
        status = "optimal"
        try:
            values = model.solve(problem.deadline.part(SEARCH))
        except UnfinishedProgram as error:
            if error.point is None:
                raise
            values, status = error.point, "time_limit"
        if values is None:
            return None
        answer = placed(problem, columns.supplied, values, columns.tasks(values), status, users)
        return answer, columns.beyond(values) if status == "optimal" else []

    found = _within_rows(ask)
    if found is None:
        raise SolverError("the program of whole tasks is called infeasible, though no tasks at all are feasible")
    return found


ROUNDS = 200

WORK, FEWEST = 1_000_000, 500
"""Columns at all nodes that a program of products branches on without a time limit, some seconds, and nodes at least.

What it has then goes on to branch and bound on prices, which mostly knows sooner what is best.
"""

BETTER = 1e-6
"""Part by which a program with more chords may seem better than the one before it: solvers print eight digits."""


def solve_product(problem: Problem) -> Answer:
    """Return whole tasks of the largest product, or sum of utilities."""
    users = problem.whole_users
    if problem.policy.alpha != 1 and users.utility_spread > FAR_APART:
        raise SolverError(
            f"utilities of {problem.policy.name} are {users.utility_spread:.1g} times apart, which no solver tells "
            "apart: use engine 'climbing', or a smaller alpha"
        )
    return _in_time(problem, lambda: _in_turn(users, partial(_largest_product, problem, kept_parts(problem, users))))


def _in_time(problem: Problem, program: Callable[[], Answer]) -> Answer:
    """Return the answer of a program; where time runs out, what is given task by task if that is worth more."""
    known: Answer | None = None
    with contextlib.suppress(TimeLimitError):
        known = program()
        if known.status == "optimal":
            return known
    if problem.policy.objective == "alpha" and problem.instance.machines is None:
        other = frontier.solve(replace(problem, policy=replace(problem.policy, objective="leximin")))
    else:
        other = filled(problem)
    # A program's first point may be next to nothing.
    if known is not None and not _worse(problem.whole_users, range(problem.n), known, other):
        return known
    return replace(other, status="time_limit" if known is None else known.status, engine="")


def _largest_product(problem: Problem, kept: dict[int, int], tiers: Tiers) -> Answer:
    users = tiers.users
    chords = [first_chords(u) for u in users.most]
    for mine, _, tasks in tiers.held:
        # What a tier is held at is no more than a program takes it to be.
        missing_chords(chords, [{} for _ in users.most], users.most, of_some(mine, tasks))
    served = _served(problem, tiers, kept, chords) if users.serving else None
    deadline = problem.deadline.part(SEARCH)
    best = -math.inf

    def ask(spare: Sequence[int]) -> tuple[Answer, list[int]] | None:
        nonlocal best
        for attempt in range(ROUNDS):
            report(f"product: round {attempt + 1}, {sum(map(len, chords))} chords")
            model, columns, has, worths = _product_program(problem, tiers, kept, chords, spare)
            for column, x in together(worths, tiers.mine).items():
                model.cost[column] = -x
            if served is not None:
                model.row(served, served, together(has, tiers.mine))
            model.nodes = max(FEWEST, WORK // len(model.low))
            try:
                values = model.solve(deadline)
            except UnfinishedProgram as error:
                if error.point is None and not error.late:
                    raise SolverError(
                        f"the product's program is not solved after {model.nodes} nodes of branching: use engine "
                        "'climbing', or give a time limit, which is then used"
                    ) from None
                if error.point is None:
                    raise
                tasks = columns.tasks(error.point)
                ended = "time_limit" if error.late else "feasible"
                return placed(problem, columns.supplied, error.point, tasks, ended, users), []
            if values is None:
                return None
            if (value := model.value(values)) < best - BETTER * max(1.0, abs(best)):
                raise SolverError(
                    "with more chords the product is larger than an earlier optimum: the solver is not believed"
                )
            best = value
            tasks, there = columns.tasks(values), [p for mine, *_ in tiers.held for p in mine] + tiers.mine
            if not missing_chords(chords, columns.numbers, users.most, of_some(there, tasks)):
                return placed(problem, columns.supplied, values, tasks, users=users), columns.beyond(values)
        raise SolverError(f"the product's chords did not settle in {ROUNDS} rounds: use a smaller instance")

    found = _within_rows(ask)
    if found is None:
        raise SolverError(
            "the product's program is called infeasible, which has a solution: the solver is not believed"
        )
    return found


def missing_chords(
    chords: list[set[int]], numbers: list[dict[int, int]], most: Sequence[int], tasks: Sequence[int]
) -> int:
    """Add the chords that a solution needs and lacks, and return how many these are."""
    missing = 0
    for p, x in enumerate(tasks):
        # A chord is exact at both of its ends, and every other one is above it there.
        if x > 1 and not numbers[p] and not chords[p] & {x - 1, x}:
            fresh = {q for q in (x - 1, x) if q < most[p]}
            chords[p] |= fresh
            missing += len(fresh)
    return missing


def first_chords(most: int) -> set[int]:
    """Return the integers q whose chord, from log q to log(q + 1), is there from the start: powers of two."""
    return {2**e for e in range(most.bit_length()) if 2**e < most}


def _served(problem: Problem, tiers: Tiers, kept: dict[int, int], chords: list[set[int]]) -> int:
    """Return how many users of a tier can have a task at once."""

    def ask(spare: Sequence[int]) -> tuple[int, list[int]] | None:
        for _ in range(ROUNDS):
            model, columns, has, _ = _product_program(problem, tiers, kept, chords if tiers.held else None, spare)
            mine = [has[p] for p in tiers.mine]
            for terms in mine:
                for column, x in terms.items():
                    model.cost[column] = -x
            values = model.solve(problem.deadline)
            if values is None:
                return None
            before = [p for positions, *_ in tiers.held for p in positions]
            if not missing_chords(chords, columns.numbers, tiers.users.most, of_some(before, columns.tasks(values))):
                served = round(sum(x * values[column] for terms in mine for column, x in terms.items()))
                return served, columns.beyond(values)
        raise SolverError(f"the chords of tiers before did not settle in {ROUNDS} rounds: use a smaller instance")

    served = _within_rows(ask)
    if served is None:
        raise SolverError("the program of whole tasks is called infeasible, though an allocation is known")
    return served


def of_some(mine: Sequence[int], tasks: Sequence[int]) -> list[int]:
    """Return the tasks of some, and none of others."""
    chosen = set(mine)
    return [x if p in chosen else 0 for p, x in enumerate(tasks)]


def _product_program(
    problem: Problem,
    tiers: Tiers,
    kept: dict[int, int],
    chords: list[set[int]] | None,
    spare: Sequence[int] = (),
) -> tuple[Model, TaskColumns, list[Terms], list[Terms]]:
    """Return the model, the columns of tasks, and for each member whether it has a task, and what its tasks are worth.

    `chords` are the chords of what tasks are worth, None for a model without that.  Tiers before have no less.
    """
    model, users = Model(problem.solver), tiers.users
    columns = task_columns(model, problem, users, kept, spare)
    has, worths = utility_columns(model, users, columns.terms, columns.numbers, chords)
    for mine, served, tasks in tiers.held:
        if served is not None:
            model.row(served, math.inf, together(has, mine))
        least = math.fsum(users.utility(p, tasks[p]) / users.utility_unit for p in mine if tasks[p])
        model.row(least, math.inf, together(worths, mine) or {model.column(0.0): 1.0})
    return model, columns, has, worths


def together(terms: Sequence[Terms], mine: Sequence[int]) -> Terms:
    """Return the terms of some, which have no columns in common."""
    return {column: x for p in mine for column, x in terms[p].items()}


def utility_columns(
    model: Model, users: WholeUsers, terms: list[Terms], numbers: list[dict[int, int]], chords: list[set[int]] | None
) -> tuple[list[Terms], list[Terms]]:
    """Add what tasks of the members are worth in a market, in units of `utility_unit`.

    `terms` and `numbers` are as `TaskColumns` has them; `chords` are those of what tasks are worth, None for a model
    without that.  Returns for each member whether it has a task, and what its tasks are worth at most.
    """
    served_by: list[Terms] = []
    worths: list[Terms] = []
    unit = users.utility_unit
    for p, (most, mine) in enumerate(zip(users.most, numbers, strict=True)):
        worths.append({})
        if mine:
            # Of several types every number of tasks has a column, and what it is worth is known.
            served_by.append({column: 1.0 for x, column in mine.items() if x})
            if chords is not None:
                worths[p] = {column: users.utility(p, x) / unit for x, column in mine.items() if x}
            continue
        tasks, has = terms[p], model.column(1.0)
        served_by.append({has: 1.0})
        model.row(0, math.inf, tasks | {has: -1.0})
        model.row(-math.inf, 0, tasks | {has: -float(most)})
        if chords is None or not most:
            continue
        ends = [0.0, users.utility(p, 1) / unit, users.utility(p, most) / unit]
        worth = model.column(max(ends), 0.0, min(ends), whole=False)
        worths[p] = {worth: 1.0}
        for q in sorted(chords[p]):
            this, later = users.utility(p, q) / unit, users.utility(p, q + 1) / unit
            # At most this + slope (x - q) for who has a task, and 0 for who has none.
            line = {column: (this - later) * x for column, x in tasks.items()}
            model.row(-math.inf, 0, {worth: 1.0} | line | {has: (later - this) * q - this})
        if most == 1:
            model.row(-math.inf, 0, {worth: 1.0, has: -ends[1]})
    return served_by, worths


GROWTH = ((1_000, 2.0), (50_000, 1.35), (math.inf, 1.15))
"""Factors by which the loss grows after a search with so many choices at most: a longer list must not be overshot."""

EVEN = 0.6
"""Part of the loss that a half may take in the search for a first allocation."""

SMALLEST = 1e-7
"""First loss, of what all that there is costs: next to nothing is listed."""


def solve_by_halves(problem: Problem) -> Answer:
    """Return whole tasks of the largest product or utility; in time, or of a greedy filling and leximin the better."""
    users = problem.whole_users
    tasks = [0] * len(users.members)
    try:
        halves = MeetInTheMiddle(users, deadline=problem.deadline)
        if not halves.fit:
            return _program(problem)
        tasks = greedily(halves)
        best = nearest(halves, tasks, problem.deadline.part(SEARCH))[0]
    except TooManyChoices:
        return _program(problem)
    except TimeLimitError:
        return _in_time(problem, lambda: Answer(np.array(tasks, dtype=np.int64), status="time_limit"))
    return Answer(np.array(best, dtype=np.int64))


def nearest(halves: MeetInTheMiddle, tasks: list[int], deadline: Deadline, ways: int = 1) -> list[list[int]]:
    """Return what is worth most, so many ways at most, best first; some tasks are known.

    Raises
    ------
    TooManyChoices, TimeLimitError
    """
    most, loss = halves.loss(tasks), int(SMALLEST * 2**BITS)
    while True:
        loss = min(loss, most)
        report(f"product: allocations within {loss / 2**BITS:.3g} of the bound")
        found = halves.within(loss, deadline, EVEN)
        if found or loss >= most:
            most = halves.loss(found[0]) if found else most
            report(f"product: all allocations within {most / 2**BITS:.3g} of the bound")
            return halves.within(most, deadline, ways=ways) or [tasks]
        loss = int(loss * next(factor for most_listed, factor in GROWTH if halves.listed <= most_listed))


def _program(problem: Problem) -> Answer:
    return replace(solve_product(problem), engine="nash-milp")


MIXED = 1 + 1e-9
"""What tasks of a mixture are raised by, which are rounded down: a whole number may be a rounding below."""


def greedily(halves: MeetInTheMiddle) -> list[int]:
    """Return tasks that fit: those of the best mixture, scaled down, then one after the other where it gains most."""
    low, high = 0, 1 << 40
    mixed = [math.floor(x * MIXED) for x in halves.mixed.tasks.tolist()]

    def scaled(part: int) -> list[int]:
        return [max(halves.least, x * part >> 40) for x in mixed]

    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if min(halves.remaining(scaled(middle))) >= 0 else (low, middle)
    tasks = scaled(high) if min(halves.remaining(scaled(high))) >= 0 else scaled(low)
    left = halves.remaining(tasks)
    queue = [(-halves.gain(p, x), p) for p, x in enumerate(tasks)]
    heapq.heapify(queue)
    while queue:
        _, i = heapq.heappop(queue)
        more = min((f // d for d, f in zip(halves.rows[i], left, strict=True) if d), default=0)
        if (more := min(more, halves.most[i] - tasks[i])) > 0:
            # A part of what fits at once: one by one, billions would not end.
            more = max(1, more // (4 * len(tasks)))
            tasks[i] += more
            left = [f - more * d for d, f in zip(halves.rows[i], left, strict=True)]
            heapq.heappush(queue, (-halves.gain(i, tasks[i]), i))
    return tasks
