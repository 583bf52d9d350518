"""The optimum of whole tasks by a second solver, through PuLP, on programs of its own: CBC unless that was the first.

What they share with the engines is the arithmetic of `drfopt.model.packings`: demands as integers, and the maximal
packings of a machine, which the exact check of every answer's packing does not use.
"""

import math
import operator
import warnings
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from ..base.deadline import NEVER, Deadline
from ..base.errors import SolverError, TimeLimitError
from ..model.instance import Instance
from ..model.packings import integer_rows, maximal_patterns, most_alone, program_rows, program_values
from ..model.policies import Policy
from ..model.whole_values import WholeUsers
from .exhaustive_search import playing, worth

__all__ = ["FAR_APART", "TooLargeToAsk", "fewer", "hides_tasks", "larger", "listed_once", "optimum", "variable"]

CBC = "CBC"

DRIVERS: dict[str, tuple[str, dict[str, Any]]] = {
    CBC: ("PULP_CBC_CMD", {}),
    # The presolve of HiGHS 1.15.1 calls some feasible counting programs infeasible.
    "HiGHS": ("HiGHS", {"presolve": "off"}),
}
"""PuLP's driver of each solver that can be the second, and what it must be told besides."""

CHORDS = 200_000
"""Chords of logarithms that are written down for a solver: ten seconds of it."""

COLUMNS = 20_000
"""Tasks on single machines, a column each, beyond which the solver is not asked: stating that would take too long."""


FAR_APART = 1e8
"""Times that utilities may differ in a program: a task of the least is to be seen by a solver."""


class TooLargeToAsk(Exception):
    """The program is too large to be asked, or its numbers are too far apart."""


Packings = Callable[[Instance, int, Sequence[int], Deadline], list[dict[int, int]] | None]
"""Lists what one machine of a class can run at most, None where that is too much."""


def listed_once(packings: Packings) -> Packings:
    """Return what lists each class once, and remembers it: what can be run is the same in every question."""
    known: dict[int, list[dict[int, int]] | None] = {}

    def listed(instance: Instance, k: int, members: Sequence[int], deadline: Deadline) -> list[dict[int, int]] | None:
        if k not in known:
            known[k] = packings(instance, k, members, deadline)
        return known[k]

    return listed


def optimum(
    instance: Instance,
    policy: Policy,
    tasks: list[int],
    deadline: Deadline = NEVER,
    solver: str = CBC,
    packings: Packings = maximal_patterns,
) -> list[int]:
    """Return whole tasks (n,) that the solver finds at least as good as these: strictly better ones if there are any.

    Leximin is asked level by level: with the counts of stopped users below it kept, can fewer be at this level?
    """
    members = playing(instance)
    if not members:
        return list(tasks)
    if policy.objective != "leximin" and instance.features:
        return larger(WholeUsers(instance, policy, members), tasks, deadline, solver, packings)
    if policy.objective != "leximin":
        if policy.objective == "sum":
            rates = policy.exact_rates(instance)
            _ask_of([rates[i] for i in members], [tasks[i] for i in members])
        return _largest(instance, policy, members, deadline, solver, packings)
    users, packings = WholeUsers(instance, policy, members), listed_once(packings)
    for level in sorted(set(users.values(tasks))):
        if (found := fewer(users, tasks, level, deadline, solver, packings)) is not None:
            return found
    return list(tasks)


def hides_tasks(rates: Sequence[Fraction], tasks: Sequence[int]) -> bool:
    """Say whether a solver does not see a task of the least value beside the sum of all that is had."""
    return sum(map(operator.mul, rates, tasks)) > FAR_APART * min(filter(None, rates), default=0)


def _ask_of(rates: Sequence[Fraction], tasks: Sequence[int]) -> None:
    if hides_tasks(rates, tasks):
        raise TooLargeToAsk


def _cluster(
    instance: Instance, members: list[int], name: str, packings: Packings, deadline: Deadline
) -> tuple[Any, dict[int, Any]]:
    """Return a program with integer tasks of the members on the cluster."""
    import pulp

    listed: list[Any] = []
    columns = 0
    for k, machine in enumerate(instance.machines or ()):
        listed.append(packings(instance, k, members, deadline))
        deadline.check("the second solver's list of packings")
        columns += machine.count * int(instance.fits[members, k].sum()) if listed[k] is None else 0
        if columns > COLUMNS:
            raise TooLargeToAsk
    model = pulp.LpProblem(name, pulp.LpMaximize)
    x = {i: variable(model, f"x_{i}", 0, most_alone(instance, i), "Integer") for i in members}
    if instance.machines is None:
        demands, room = integer_rows([instance.exact_demands[i] for i in members], instance.exact_capacity)
        for row, total in program_rows(demands, room):
            model += pulp.lpSum(d * x[i] for i, d in zip(members, row, strict=True)) <= total
        return model, x
    placed: dict[int, list] = {i: [] for i in members}
    for k, (machine, patterns) in enumerate(zip(instance.machines, listed, strict=True)):
        if patterns is not None:
            count = [variable(model, f"y_{k}_{q}", 0, machine.count, "Integer") for q in range(len(patterns))]
            model += pulp.lpSum(count) <= machine.count
            for column, pattern in zip(count, patterns, strict=True):
                for i, number in pattern.items():
                    placed[i].append(number * column)
            continue
        users = [i for i in members if instance.fits[i, k]]
        demands, room = integer_rows([instance.exact_demands[i] for i in users], instance.exact_machine_capacity[k])
        for copy in range(machine.count):
            z = {i: variable(model, f"z_{k}_{copy}_{i}", 0, None, "Integer") for i in users}
            for row, total in program_rows(demands, room):
                model += pulp.lpSum(d * z[i] for i, d in zip(users, row, strict=True)) <= total
            columns += _on_devices(model, instance, k, copy, z)
            if columns > COLUMNS:
                raise TooLargeToAsk
            for i in users:
                placed[i].append(z[i])
    for i in members:
        model += x[i] <= pulp.lpSum(placed[i])
    return model, x


def _on_devices(model: Any, instance: Instance, k: int, copy: int, tasks: dict[int, Any]) -> int:
    """Put the tasks of one machine on its devices, each a variable of its own; return how many variables that takes."""
    import pulp

    added = 0
    for resource, one in ((instance.machines[k].devices if instance.machines else None) or {}).items():
        j = instance.resources.index(resource)
        needs = {i: instance.exact_demands[i][j] / one.size for i in tasks}
        parts = {i: need for i, need in needs.items() if 0 < need < 1}
        unit = math.lcm(*(need.denominator for need in parts.values()))
        taken = []
        on: dict[int, list[Any]] = {i: [] for i in parts}
        added += one.count * (1 + len(parts))
        if added > COLUMNS:
            raise TooLargeToAsk
        for device in range(one.count):
            name = f"{k}_{copy}_{j}_{device}"
            # Entire: some task has the whole device, and nobody a part of it.
            entire = variable(model, f"w_{name}", 0, 1, "Integer")
            shares = {i: variable(model, f"v_{name}_{i}", 0, None, "Integer") for i in parts}
            model += pulp.lpSum(int(parts[i] * unit) * v for i, v in shares.items()) <= unit * (1 - entire)
            taken.append(entire)
            for i, v in shares.items():
                on[i].append(v)
        for i, shares_of in on.items():
            model += tasks[i] == pulp.lpSum(shares_of)
        model += pulp.lpSum(int(needs[i]) * tasks[i] for i in tasks if needs[i] >= 1) <= pulp.lpSum(taken)
    return added


def variable(model: Any, name: str, low: float | None, high: float | None, kind: str = "Continuous") -> Any:
    """Return a new variable of a program; PuLP 3.3 moved their making from the class to the program."""
    import pulp

    if hasattr(model, "add_variable"):
        return model.add_variable(name, low, high, cat=kind)
    return pulp.LpVariable(name, low, high, kind)


def fewer(
    users: WholeUsers,
    tasks: list[int],
    level: int,
    deadline: Deadline = NEVER,
    solver: str = CBC,
    packings: Packings = maximal_patterns,
) -> list[int] | None:
    """Return whole tasks (n,) with fewer users at a level and no more at each below, or None if none are found."""
    cluster, values = users.cluster, users.values(tasks)
    model, x = _cluster(cluster, users.rows, "fewer", packings, deadline)
    allowed = {below: values.count(below) - (below == level) for below in values if below <= level}
    stops = _stopping(model, users, x, allowed, level)
    if _solve(model, x, cluster.n, deadline, solver) is None:
        return None
    found = [0] * users.instance.n
    for i, scale, options in zip(users.members, users.scales, stops, strict=True):
        found[i] = next((number for s, number in options if round(s.value() or 0)), scale.least(level + 1))
    return found


def larger(
    users: WholeUsers,
    tasks: list[int],
    deadline: Deadline = NEVER,
    solver: str = CBC,
    packings: Packings = maximal_patterns,
) -> list[int]:
    """Return whole tasks (n,) that keep guarantees better than these, or as well and with the largest sum or product.

    Under rules, and of several types of one user; of tiers of the first one, of which larger ones are found.
    """
    values = users.values(tasks)
    parts = {value: values.count(value) for value in sorted(set(values)) if value < users.first_level}
    for level in parts:
        if (found := fewer(users, tasks, level, deadline, solver, packings)) is not None:
            return found
    compared, own = worth(users), [tasks[i] for i in users.members]
    for tier in range(len(users.tiers)):
        found = _larger_to(users, own, tier, parts, deadline, solver, packings)
        if tier + 1 == len(users.tiers) or compared([found[i] for i in users.members]) > compared(own):
            return found
    return list(tasks)


def _larger_to(
    users: WholeUsers,
    own: list[int],
    tier: int,
    parts: dict[int, int],
    deadline: Deadline,
    solver: str,
    packings: Packings,
) -> list[int]:
    """Return whole tasks (n,) that a tier makes the most of, which are worth no less to those before it."""
    import pulp

    cluster = users.cluster
    model, x = _cluster(cluster, users.rows, "largest", packings, deadline)
    _stopping(model, users, x, parts, users.first_level - 1)
    numbers: list[dict[int, Any]] = []
    for p, sequence in enumerate(users.sequences):
        chosen = {}
        if len(sequence.rows) > 1:
            chosen = {y: variable(model, f"n_{p}_{y}", 0, 1, "Binary") for y in range(users.most[p] + 1)}
            model += _sum(chosen.values()) == 1
            for t, q in enumerate(sequence.rows):
                model += x[q] == _sum(sequence.started(y)[t] * one for y, one in chosen.items())
        else:
            # A count of tasks and a ceiling are hers, and not of her row of the cluster.
            model += x[sequence.rows[0]] <= users.most[p]
        numbers.append(chosen)
    columns = [
        _sum(y * one for y, one in chosen.items()) if chosen else x[sequence.rows[0]]
        for chosen, sequence in zip(numbers, users.sequences, strict=True)
    ]
    for mine in users.tiers[: tier + 1]:
        if users.policy.objective == "sum":
            _ask_of([users.rates[p] for p in mine], [own[p] for p in mine])
            rates = program_values([users.rates[p] for p in mine])
            total = _sum(rate * columns[p] for p, rate in zip(mine, rates, strict=True))
            least = math.fsum(rate * own[p] for p, rate in zip(mine, rates, strict=True))
        else:
            plain = {p: columns[p] for p in mine if not numbers[p]}
            total, value = _utilities(pulp, model, plain, users, {p: numbers[p] for p in mine}, deadline)
            least = value(own)
        if mine is users.tiers[tier]:
            model += total
        else:
            model += total >= least
    if _solve(model, x, cluster.n, deadline, solver) is None:
        raise SolverError(f"{solver} calls a program infeasible that has a solution: the solver is not believed")
    found = [0] * users.instance.n
    for i, chosen, sequence in zip(users.members, numbers, users.sequences, strict=True):
        one = (y for y, taken in chosen.items() if round(taken.value() or 0))
        found[i] = next(one) if chosen else round(x[sequence.rows[0]].value() or 0)
    return found


def _stopping(
    model: Any, users: WholeUsers, x: dict[int, Any], allowed: dict[int, int], level: int
) -> list[list[tuple[Any, int]]]:
    """Say that so many users may stop at these values, that the others are above a level, and keep ceilings of groups.

    Returns of each member the variables that say that it stops, with its tasks there.
    """
    cluster = users.cluster
    stops: list[list[tuple[Any, int]]] = [[] for _ in users.members]
    for below in sorted(allowed):
        chosen = []
        for p, scale in enumerate(users.scales):
            if scale.at(below):
                s = variable(model, f"s_{len(stops[p])}_{p}", 0, 1, "Binary")
                stops[p].append((s, scale.least(below)))
                chosen.append(s)
        model += _sum(chosen) <= allowed[below]
    for p, (scale, sequence) in enumerate(zip(users.scales, users.sequences, strict=True)):
        total = _sum(s for s, _ in stops[p])
        model += total <= 1
        need = scale.least(level + 1)
        if need > scale.most:
            model += total >= 1
        each = [(1 - total, min(need, scale.most)), *stops[p]]
        for t, q in enumerate(sequence.rows):
            model += x[q] >= _sum(sequence.started(number)[t] * chosen for chosen, number in each)
    for inside, j, amount in users.ceilings:
        rows = [q for p in sorted(inside) for q in users.sequences[p].rows]
        demands, room = integer_rows([[cluster.exact_demands[q][j]] for q in rows], [amount])
        for row, total in program_rows(demands, room):
            model += _sum(d * x[q] for q, d in zip(rows, row, strict=True)) <= total
    return stops


def _sum(terms: Any) -> Any:
    import pulp

    return pulp.lpSum(terms)


def _largest(
    instance: Instance, policy: Policy, members: list[int], deadline: Deadline, solver: str, packings: Packings
) -> list[int]:
    import pulp

    model, x = _cluster(instance, members, "largest", packings, deadline)
    if policy.objective == "sum":
        rates = policy.exact_rates(instance)
        worth = program_values([rates[i] for i in members])
        model += pulp.lpSum(w * x[i] for i, w in zip(members, worth, strict=True))
    else:
        users = WholeUsers(instance, policy, members)
        plain = {p: x[i] for p, i in enumerate(members)}
        total, _ = _utilities(pulp, model, plain, users, {p: {} for p in plain}, deadline)
        model += total
    found = _solve(model, x, instance.n, deadline, solver)
    if found is None:
        raise SolverError(f"{solver} calls a program infeasible that has a solution: the solver is not believed")
    return found


def _utilities(
    pulp: Any, model: Any, x: dict[int, Any], users: WholeUsers, numbers: dict[int, dict[int, Any]], deadline: Deadline
) -> tuple[Any, Callable[[Sequence[int]], float]]:
    """Return users served, and then weighted logarithms, or utilities, of some: as columns, and of tasks as a number.

    `numbers` has them, and for those with several types a variable for each number of tasks; `x` the tasks of the
    others.  All chords are written out.
    """
    worth, served = [], []
    if sum(users.most[p] for p in x) > CHORDS:
        raise TooLargeToAsk
    if users.policy.alpha != 1 and users.utility_spread > FAR_APART:
        raise TooLargeToAsk
    unit = users.utility_unit
    ends = [[users.utility(p, y) for y in (1, users.most[p]) if y] for p in numbers]
    # One more user with a task is worth more than any product.
    first = 1 + sum(max(map(abs, row), default=0.0) for row in ends) / unit if users.serving else 0

    def value(tasks: Sequence[int]) -> float:
        return math.fsum(first + users.utility(p, tasks[p]) / unit for p in numbers if tasks[p])

    for p, chosen in numbers.items():
        most = users.most[p]
        if chosen:
            worth += [users.utility(p, y) / unit * one for y, one in chosen.items() if y]
            served += [one for y, one in chosen.items() if y]
            continue
        has: Any = 1
        if users.serving:
            has = variable(model, f"has_{p}", 0, 1, "Binary")
            model += x[p] >= has
            model += x[p] <= most * has
            served.append(has)
        values = [users.utility(p, y) / unit for y in range(1, most + 1)]
        mine = variable(model, f"worth_{p}", min([0.0, *values]), max([0.0, *values]))
        if most and not users.serving:
            model += mine <= values[0] * x[p]
        if most == 1:
            model += mine <= values[0] * has
        for q, (this, later) in enumerate(pairwise(values), 1):
            if q % 1000 == 0:
                deadline.check("stating the product for a second solver")
            model += mine <= (later - this) * x[p] + (this - (later - this) * q) * has
        worth.append(mine)
    return first * pulp.lpSum(served) + pulp.lpSum(worth), value


def _solve(model: Any, x: dict[int, Any], n: int, deadline: Deadline, solver: str) -> list[int] | None:
    import pulp

    deadline.check("the check of the optimum by a second solver")
    seconds = None if deadline is NEVER else deadline.left(least=0.1)
    with warnings.catch_warnings():
        # PuLP before 4.0, which is what is asked for, brings CBC along under this name only.
        warnings.simplefilter("ignore", DeprecationWarning)
        driver, more = DRIVERS[solver]
        model.solve(getattr(pulp, driver)(msg=False, timeLimit=seconds, gapRel=0, gapAbs=0, **more))
    if model.status == pulp.LpStatusInfeasible:
        return None
    if model.status != pulp.LpStatusOptimal or model.sol_status != pulp.LpSolutionOptimal:
        raise TimeLimitError(
            "the time limit ran out while a second solver checked the optimum",
            "an allocation is known, unproven",
        )
    tasks = [0] * n
    for i, column in x.items():
        tasks[i] = round(column.value() or 0)
    return tasks
