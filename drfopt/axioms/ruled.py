"""Properties where users have several task types on machines, or an organisation's rules: what is defined there.

With rules, whose part of the cluster is whose is for the rules to say, so that comparisons of one user with its part,
or with another user, mean nothing: sharing incentive, envy, and fairness on one resource are *not defined*.  What
compares a division with another one is: nobody could have more without another having less (and all rules kept),
nobody loses when another leaves or one resource grows, nobody gains by a report of its demand that is not true.

With task types and no rules a user's part of every machine and another's bundle are rooms, and the most tasks it could
run in a room, every type on its own classes, is a linear program.

Numbers here are floats with a certificate: what they decide is decided beyond `NOTICED`.  Whole tasks are counted;
what they need of rooms is in `ruled_whole`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, islice
from typing import Any

import numpy as np

from ..base.deadline import Deadline
from ..base.errors import DrfoptError, PolicyError, TimeLimitError
from ..base.numbers.shown import counted
from ..base.progress import report
from ..base.tolerances import LEVEL, NOTICED
from ..model.allocation import Allocation
from ..model.hierarchy.tree import closed_by
from ..model.instance import Instance
from ..model.policies import Policy
from ..solving.allocating import solve
from ..solving.integrality import whole_parts
from . import ruled_whole
from .verdicts import FAILS, HOLDS, UNDECIDED, Finding, Witness

__all__ = ["beyond", "findings"]

REPORTS = (0.5, 0.9, 1.1, 2.0, 4.0)
"""Times its demand of a resource, that a user is made to report."""

UNDEFINED_BY_RULES = (
    "sharing-incentive",
    "envy-freeness",
    "single-resource-fairness",
    "bottleneck-fairness",
    "envy-up-to-one-task",
    "no-justified-complaints",
)
UNDEFINED_OF_TYPES = UNDEFINED_BY_RULES[2:]
"""What speaks of one task of a user, or of one pool."""

GIVEN = "of the optimum that is given; others may be as good"
"""What is said of whole tasks, of which there may be several optima."""

POOLED = "user {} would have more if parts of several devices could carry one task; without that it is not decided"
"""What is said of whole tasks of several types on devices, which rooms pool."""

PAIRS = 200
"""Reports of two users together that are tried at most."""


@dataclass(frozen=True)
class Loss(Witness):
    """A user who has less than something that it could have, or had before."""

    property = ""
    user: str
    tasks: float
    instead: float
    when: str

    def __str__(self) -> str:
        tasks, instead = f"{self.tasks:.6g}", f"{self.instead:.6g}"
        if tasks == instead:  # what is found is more than rounding, and may be less than six digits show
            tasks, instead = f"{self.tasks:.12g}", f"{self.instead:.12g}"
        return f"user {self.user} runs {counted(tasks, 'task')}, and {instead} {self.when}"


def beyond(instance: Instance, integer: bool = False) -> bool:
    """Say whether an instance has rules or task types that the exact audits do not speak of."""
    return bool(instance.features - ({"types"} if not integer else set()))


def findings(
    instance: Instance,
    policy: Policy,
    asked: tuple[str, ...],
    by_default: bool,
    deadline: Deadline,
    integer: bool = False,
) -> tuple[tuple[Finding, ...], str]:
    """Return the findings on properties of these names, and what has to be said of those that are left out.

    Raises
    ------
    PolicyError
        When one was asked for by name that is not defined here.
    """
    ruled = "organisation" in instance.features
    rules = instance.organisation.rules if ruled and instance.organisation is not None else "several task types"
    undefined = UNDEFINED_BY_RULES if ruled else UNDEFINED_OF_TYPES
    out = [name for name in asked if name in undefined]
    if out and not by_default:
        able = ", ".join(name for name in CHECKS if name not in undefined)
        raise PolicyError(f"{out[0]} is not defined under {rules}: defined are {able}")
    case = _RuledCase(instance, policy, deadline, integer)
    found: list[Finding] = []
    for name in (name for name in asked if name not in out):
        report(f"auditing {name}")
        try:
            found.append(CHECKS[name](case))
        except TimeLimitError:
            if not found:
                raise
            found.append(Finding(name, UNDECIDED, exact=False, note="the time limit ran out", cut_short=True))
    return tuple(found), f"not defined under {rules}: {', '.join(out)}" if out else ""


class _RuledCase:
    """An instance under a policy, and divisions of changed ones."""

    def __init__(self, instance: Instance, policy: Policy, deadline: Deadline, integer: bool = False):
        self.instance, self.policy, self.deadline, self.integer = instance, policy, deadline, integer
        self.proven = integer
        self.truth = self.solved(instance)
        self.tasks = np.asarray(self.truth.tasks, dtype=float)
        self.tied = policy.objective == "sum" and not integer

    def solved(self, instance: Instance) -> Allocation:
        """Return the division of an instance."""
        self.deadline.check("the audit")
        left = self.deadline.left()
        found = solve(instance, self.policy, integer=self.integer, time_limit=left if left < np.inf else None)
        self.proven &= found.certificate.rigorous and found.status == "optimal"
        return found

    def after(self, **changes: Any) -> np.ndarray:
        """Return the tasks of a changed instance."""
        return np.asarray(self.solved(Instance(**(self.instance.parts() | changes))).tasks, dtype=float)

    def reporting(self, reports: dict[int, tuple[int, float]]) -> dict[int, float]:
        """Return what some users run of their own tasks when they report so many times their demand of a resource."""
        demands = self.instance.parts()["demands"]
        for i, (j, times) in reports.items():
            demands[i] = [d * Fraction(times) if h == j else d for h, d in enumerate(demands[i])]
        found = self.solved(Instance(**(self.instance.parts() | {"demands": demands})))
        runs = {}
        for i, (j, times) in reports.items():
            # What it is given carries so many of its own tasks: all that it needs may be what it reports.
            alone = np.flatnonzero(self.instance.demands[i]).tolist() == [j]
            part = times if alone else min(times, 1.0)
            carried = ruled_whole.carried(found, i, Fraction(part)) if self.integer else self._holds(found, i) * part
            runs[i] = min(carried, float(self.instance.limits[i]))
        return runs

    def _holds(self, found: Allocation, i: int) -> float:
        """Return the tasks of user i where one of its own fits: what it is given elsewhere carries none."""
        if self.instance.unplaced()[i]:
            return 0.0
        if found.placement is None or self.instance.fits is None:
            return float(found.tasks[i])
        return float(np.asarray(found.placement, dtype=float)[i][self.instance.fits[i]].sum())

    def _pooled(self, name: str, user: str) -> bool:
        """Say whether what a user could run in a room is counted as if parts of several devices carried one task."""
        if not self.integer or not self.instance.has_devices or name not in ("sharing-incentive", "envy-freeness"):
            return False
        kinds = self.instance.task_types
        several = kinds is not None and kinds[self.instance.users.index(user)] is not None
        return several or name == "envy-freeness"

    def finding(self, name: str, losses: Iterator[Loss], decided: bool, note: str = GIVEN) -> Finding:
        """Return the verdict: a loss, if there is one."""
        trials = 0
        whole = 0.5 if self.integer else 0.0
        for trials, loss in enumerate(losses, start=1):  # noqa: B007 -- how many there were is told
            # To who has nothing, what others' tasks may be off by is nothing.
            more = whole or loss.tasks * NOTICED + LEVEL * float(self.tasks.max(initial=0.0))
            if loss.instead > loss.tasks + more and self._pooled(name, loss.user):
                return Finding(name, UNDECIDED, exact=False, note=POOLED.format(loss.user), tied=self.tied)
            if loss.instead > loss.tasks + more:
                said = note if self.integer else ""
                return Finding(name, FAILS, loss, exact=self.proven, tied=self.tied, note=said)
        if not self.integer:
            note = f"to a part of {NOTICED:g} of the tasks, which are computed in floats" if decided else ""
        verdict = HOLDS if decided else UNDECIDED
        exact = decided and self.proven
        return Finding(name, verdict, exact=exact, trials=0 if decided else trials, note=note, tied=self.tied)


def _pareto(case: _RuledCase) -> Finding:
    """Ask for the most tasks all could have besides what they have, rules kept: of divisible ones a linear program."""
    if case.integer:
        held = [int(x) for x in case.truth.tasks]
        wasted, decided = ruled_whole.wasted(case.instance, held, case.policy, case.deadline)
        losses = (Loss(user, x, x + 1, "would take nothing from anybody else") for user, x in wasted)
        return case.finding("pareto-efficiency", losses, decided, "")
    from ..engines.problem import Problem
    from ..engines.promised import Promised
    from ..engines.sums import most_tasks

    instance, problem = case.instance, Problem(case.instance, case.policy)
    name = "pareto-efficiency"
    if not problem.n:
        return Finding(name, HOLDS)
    held = case.tasks[problem.members]
    ceilings = np.zeros((0, problem.n))
    if instance.organisation is not None and any(group.ceiling for group in instance.organisation.groups):
        ceilings = np.array(list(_ceilings(instance)))[:, problem.members]
    closed = np.isin(problem.members, list(closed_by(instance)))
    promised = Promised(held, closed, np.ones(problem.n), np.ones(problem.n), ceilings, ())
    scale = np.where(held > 0, held, max(float(held.max(initial=0.0)), 1.0))
    more = most_tasks(problem, 1 / scale, promised)
    # What the errors of all others together leave is measured in what a user could run alone, and is no waste.
    demands = instance.demands[problem.members]
    with np.errstate(divide="ignore", invalid="ignore"):
        alone = np.where(demands > 0, instance.capacity / demands, np.inf).min(axis=1)
    rows = (
        Loss(instance.users[i], float(x), float(y), "would take nothing from anybody else")
        for i, x, y in zip(problem.members.tolist(), held, more - NOTICED * alone, strict=True)
    )
    return case.finding(name, rows, decided=True)


def _ceilings(instance: Instance) -> Iterator[np.ndarray]:
    """Yield what one task of everybody is of each group's ceiling, (n,)."""
    from ..model.hierarchy import members_of

    below = members_of(instance.organisation, instance.n)
    for group in instance.organisation.groups if instance.organisation is not None else ():
        for resource, most in group.ceiling.items():
            column = np.zeros(instance.n)
            demand = instance.demands[below[group.name], instance.resources.index(resource)]
            # Below a ceiling of 0 nobody has anything, whatever the others do: that is no row of theirs.
            column[below[group.name]] = demand / float(most) if most else 0.0
            yield column


def _alone(case: _RuledCase) -> Finding:
    """Compare everybody's tasks with those in its part of every machine."""
    instance, when = case.instance, "alone in its part of every machine"
    if case.integer:
        whole = zip(instance.users, case.tasks.tolist(), whole_parts(instance), strict=True)
        return case.finding("sharing-incentive", (Loss(user, x, y, when) for user, x, y in whole), decided=True)
    weights = instance.weights if instance.weights_per_resource else instance.weights[:, None]
    part = np.broadcast_to(weights / weights.sum(axis=0), instance.demands.shape)
    rows = (
        Loss(user, case.tasks[i], _most(instance, i, instance.room * part[i]), when)
        for i, user in enumerate(instance.users)
    )
    return case.finding("sharing-incentive", rows, decided=True)


def _envy(case: _RuledCase) -> Finding:
    """Compare everybody's tasks with those on the bundle of every other, class by class, scaled to its weight."""
    instance, types = case.instance, case.instance.type_table
    if case.integer:
        envied = ruled_whole.envied(case.truth, case.deadline)
        losses = (
            Loss(instance.users[i], case.tasks[i], y, f"with what user {instance.users[k]} holds, scaled to its weight")
            for i, k, y in envied
        )
        return case.finding("envy-freeness", losses, decided=True)
    placed = case.truth.placed_by_type
    rooms = [np.asarray(placed)[types.owner == k].T @ types.demands[types.owner == k] for k in range(instance.n)]
    weights = instance.weights if instance.weights_per_resource else np.repeat(instance.weights[:, None], instance.m, 1)

    def rows() -> Iterator[Loss]:
        for i, user in enumerate(instance.users):
            for k, other in enumerate(instance.users):
                if i != k:
                    case.deadline.check("the audit")
                    instead = _most(instance, i, rooms[k] * (weights[i] / weights[k]))
                    yield Loss(user, case.tasks[i], instead, f"with what user {other} holds, scaled to its weight")

    return case.finding("envy-freeness", rows(), decided=True)


def _most(instance: Instance, i: int, room: np.ndarray) -> float:
    """Return the most tasks of a user in a room (k, m), every type on classes on which one fits as they are."""
    from scipy.optimize import linprog

    types = instance.type_table
    mine = np.flatnonzero(types.owner == i)
    pairs = [(q, k) for q in mine.tolist() for k in np.flatnonzero(types.fits[q]).tolist()]
    if instance.unplaced()[i] or not all(types.fits[q].any() for q in mine) or not instance.limits[i]:
        return 0.0
    # In units of what the room as it is carries of each pair.
    size = np.array([_carried(types.demands[q], instance.room[k]) for q, k in pairs])
    filled = np.zeros((instance.k * instance.m, len(pairs) + 1))
    mixed = np.zeros((len(mine), len(pairs) + 1))
    for p, (q, k) in enumerate(pairs):
        whole = np.where(instance.room[k] > 0, instance.room[k], 1.0)
        filled[k * instance.m : (k + 1) * instance.m, p] = types.demands[q] * size[p] / whole
        mixed[mine.tolist().index(q), p] = size[p] / (types.part[q] * size.max())
    mixed[:, -1] = -1.0
    whole = np.where(instance.room > 0, instance.room, 1.0)
    top = instance.limits[i] / size.max()
    found = linprog(
        np.append(np.zeros(len(pairs)), -1.0),
        A_ub=filled,
        b_ub=(room / whole).ravel(),
        A_eq=mixed,
        b_eq=np.zeros(len(mine)),
        bounds=[(0, None)] * len(pairs) + [(0, None if top == np.inf else top)],
        method="highs",
    )
    return float(-found.fun * size.max()) if found.status == 0 else 0.0


def _carried(demand: np.ndarray, room: np.ndarray) -> float:
    needed = demand > 0
    return float((room[needed] / demand[needed]).min())


def _population(case: _RuledCase) -> Finding:
    """Let every user leave, and look at the others."""

    def rows() -> Iterator[Loss]:
        instance = case.instance
        for i, user in enumerate(instance.users if instance.n > 1 else ()):
            stay = [h for h in range(instance.n) if h != i]
            for h, x in zip(stay, case.after(**_without(instance, stay)), strict=True):
                yield Loss(instance.users[h], float(x), float(case.tasks[h]), f"while user {user} is there")

    return case.finding("population-monotonicity", rows(), decided=case.policy.objective != "sum")


def _without(instance: Instance, stay: list[int]) -> dict[str, Any]:
    """Return the arguments of an instance that change when only some users stay."""
    parts, names = instance.parts(), {instance.users[h] for h in stay}
    changes: dict[str, Any] = {"users": [instance.users[h] for h in stay]}
    for key in ("demands", "weights", "max_tasks", "eligible"):
        changes[key] = None if parts[key] is None else [parts[key][h] for h in stay]
    if changes["eligible"] is not None:
        changes["eligible"] = np.array(changes["eligible"])
    if (rules := parts["organisation"]) is not None:
        tables = {key: getattr(rules, key) for key in ("guarantees", "ceilings", "tiers", "paths")}
        kept = {key: {user: v for user, v in table.items() if user in names} for key, table in tables.items()}
        changes["organisation"] = replace(rules, **kept)
    return changes


def _growth(case: _RuledCase) -> Finding:
    """Let the cluster grow a little and a lot, a resource or a class at a time."""
    instance = case.instance
    changes: list[tuple[str, dict[str, Any]]] = []
    for times in (Fraction(11, 10), Fraction(2)):
        if instance.machines is None:
            for j, resource in enumerate(instance.resources):
                more = [c * times if h == j else c for h, c in enumerate(instance.exact_capacity)]
                changes.append((f"{float(times):g} times the {resource}", {"capacity": more}))
            continue
        for k, name in enumerate(instance.machine_names):
            extra = max(1, round(float(times - 1) * instance.machines[k].count))
            machines = instance.parts()["machines"]
            machines[k] = replace(machines[k], count=machines[k].count + extra)
            changes.append((f"{extra} more of {name}", {"machines": machines}))

    def rows() -> Iterator[Loss]:
        for what, change in changes:
            for user, x, before in zip(instance.users, case.after(**change), case.tasks, strict=True):
                yield Loss(user, float(x), float(before), f"without {what}")

    return case.finding("resource-monotonicity", rows(), decided=False)


def _reports(case: _RuledCase) -> Finding:
    """Let every user with one demand report more, or less, of a resource that it needs."""
    instance = case.instance

    def rows() -> Iterator[Loss]:
        for i, user in enumerate(instance.users):
            if instance.task_types is not None and instance.task_types[i] is not None:
                continue
            for j in np.flatnonzero(instance.demands[i]).tolist():
                for times in REPORTS:
                    try:
                        runs = case.reporting({i: (j, times)})[i]
                    except TimeLimitError:
                        raise
                    except DrfoptError:
                        continue
                    what = f"by reporting {times:g} times its demand of {instance.resources[j]}"
                    yield Loss(user, float(case.tasks[i]), runs, what)

    return case.finding("strategy-proofness", rows(), decided=False)


def _pairs(case: _RuledCase) -> Finding:
    """Let two users report together; both have to gain."""
    instance = case.instance
    single = [i for i in range(instance.n) if instance.task_types is None or instance.task_types[i] is None]
    tries = (
        (i, k, (j, times), (h, again))
        for i, k in combinations(single, 2)
        for j in np.flatnonzero(instance.demands[i]).tolist()
        for h in np.flatnonzero(instance.demands[k]).tolist()
        for times in (0.5, 2.0)
        for again in (0.5, 2.0)
    )

    def rows() -> Iterator[Loss]:
        for i, k, (j, times), (h, again) in islice(tries, PAIRS):
            try:
                runs = case.reporting({i: (j, times), k: (h, again)})
            except TimeLimitError:
                raise
            except DrfoptError:
                continue
            # Whoever gains least of the two: both have to.
            u, gained = min(runs.items(), key=lambda row: row[1] - case.tasks[row[0]])
            yield Loss(instance.users[u], float(case.tasks[u]), gained, "where two users report together")

    return case.finding("group-strategy-proofness", rows(), decided=False)


CHECKS: dict[str, Callable[[_RuledCase], Finding]] = {
    "sharing-incentive": _alone,
    "strategy-proofness": _reports,
    "envy-freeness": _envy,
    "pareto-efficiency": _pareto,
    "population-monotonicity": _population,
    "resource-monotonicity": _growth,
    "group-strategy-proofness": _pairs,
}
"""What is looked at here; what of it is defined depends on whether there are rules."""
