"""Resource monotonicity: when the cluster gets more of a resource, nobody runs fewer tasks.

On machines one class gets more of it on every machine, or one machine more.  One resource grows at a time: several
together can take from users from whom none of them takes alone.

The capacity theta of one resource is raised.  With positive demands and no limits a leximin policy gives every user
x[i](theta) = min_r g[i, r](theta), one g for each row that may be full.  Between two values of theta at which some
user's dominant resource changes, every g is one of 1 / (A + B theta), theta / (A + B theta), theta^2 / (A + B theta),
hence monotone.  So x[i] is least at an end of such an interval, and the few values d[i, j] c[k] / d[i, k] decide.
Number of tasks and share of one resource have no such values, and more capacity only raises the common level.
With sums of shares, in s = 1 / theta, user i loses exactly where a[i](s) load[r](s) > 1 / x[i] for some r, a and load
the sums of shares of a task and of the resource at level 1: polynomials, which are sampled between their roots.
Elsewhere a list of values is tried.
Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, section 3 and Theorem 6.

Population monotonicity: when a user leaves, nobody who stays runs fewer tasks.
Decided by removing the users one after the other, n outcomes, but where everybody needs everything: under a leximin
policy x[i] = min(u[i], t / r[i]) then, with the largest t for which no resource is exceeded, and t only grows when a
user leaves.  Source: ibid.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from ...base.numbers.polynomials import Polynomial, add, at, product, samples, scaled
from ...base.numbers.shown import counted
from ...base.progress import report
from ..case import AuditCase
from ..economy import Economy, Number, below, low, side_by_side, times, total
from ..verdicts import FAILS, Count, Finding, Witness

__all__ = [
    "FACTORS",
    "NAME",
    "POPULATION",
    "Harmed",
    "Shrunk",
    "asks",
    "asks_population",
    "check",
    "check_population",
    "grown",
]

POPULATION = "population-monotonicity"


@dataclass(frozen=True)
class Harmed(Witness):
    """A user who runs fewer tasks after another has left."""

    property = POPULATION
    user: str
    leaver: str
    tasks: Number
    after: Number

    def __str__(self) -> str:
        after, before = side_by_side(self.after, self.tasks)
        return f"user {self.leaver} leaves, and user {self.user} runs {counted(after, 'task')} instead of {before}"


def asks_population(case: AuditCase) -> Iterator[Economy]:
    """Yield the clusters whose outcomes are compared."""
    yield case.cluster
    for leaver in range(case.cluster.n if case.cluster.n > 1 else 0):
        yield case.cluster.without(leaver)


def check_population(case: AuditCase) -> Finding:
    """Remove every user in turn."""
    count, cluster = Count(), case.cluster
    if _rise_together(case):
        return count.finding(POPULATION, exact=True)
    tied = computed = False
    by_a_tie: Finding | None = None
    for leaver in range(cluster.n if cluster.n > 1 else 0):
        report(f"population monotonicity: {leaver} of {cluster.n} users removed")
        staying = [i for i in range(cluster.n) if i != leaver]
        if case.nobody_loses(cluster.without(leaver), staying):
            computed = True
            continue
        truth, after = case.chosen, case.without(leaver)
        error, choice = truth.computed or after.computed, truth.tied or after.tied
        tied, computed = tied or choice, computed or error
        for i, x in zip(staying, after.tasks, strict=True):
            if count.falls(x, truth.tasks[i]):
                witness = Harmed(cluster.users[i], cluster.users[leaver], truth.tasks[i], x)
                finding = Finding(POPULATION, FAILS, witness, exact=not error, tied=choice)
                if not finding.tied:
                    return finding
                by_a_tie = by_a_tie or finding
    return by_a_tie or count.finding(POPULATION, exact=not computed, tied=tied)


def _rise_together(case: AuditCase) -> bool:
    """Say whether one level stops all users who are not at their limits: what is full is needed by everybody."""
    pooled = not case.integer and case.cluster.machines is None and case.policy.objective == "leximin"
    return pooled and _positive(case.cluster)


def _positive(cluster: Economy) -> bool:
    return all(map(all, cluster.demands)) and all(cluster.pool)


NAME = "resource-monotonicity"

FACTORS = tuple(Fraction(p, q) for p, q in ((2, 1), (3, 2), (4, 1), (3, 1), (5, 4), (9, 8), (8, 1)))
"""Multiples of a capacity that are tried, in this order: a counterexample should have small numbers."""


FEW = 6
"""Users up to which polynomials decide; their degree is one more."""


@dataclass(frozen=True)
class Shrunk(Witness):
    """A user who runs fewer tasks after the cluster has grown."""

    property = NAME
    user: str
    resource: str
    capacity: Fraction
    raised: Fraction
    tasks: Number
    after: Number
    machines: str = ""

    def __str__(self) -> str:
        where = f" on every machine of class {self.machines}" if self.machines else ""
        (less, more), (after, before) = side_by_side(self.capacity, self.raised), side_by_side(self.after, self.tasks)
        return (
            f"{self.resource}{where} grows from {less} to {more}, and user {self.user} "
            f"runs {counted(after, 'task')} instead of {before}"
        )


@dataclass(frozen=True)
class Growth:
    """A larger cluster, and how its growth is told; `j` is the resource of which a pool has more."""

    cluster: Economy
    resource: str
    before: Fraction
    after: Fraction
    machines: str = ""
    j: int | None = None


def asks(case: AuditCase) -> Iterator[Economy]:
    """Yield the clusters whose outcomes are compared."""
    yield case.cluster
    for change in _changes(case):
        yield change.cluster


def check(case: AuditCase) -> Finding:
    """Raise the capacities one after the other."""
    count, users, idle = Count(), range(case.cluster.n), _idle(case)
    tied = computed = False
    by_a_tie: Finding | None = None
    for change in _changes(case):
        if change.j in idle:
            # Known without asking, and so a comparison all the same.
            count.made += case.cluster.n
            continue
        if case.nobody_loses(change.cluster, users):
            computed = True
            continue
        truth, after = case.chosen, case.compared(change.cluster, users)
        error, choice = truth.computed or after.computed, truth.tied or after.tied
        tied, computed = tied or choice, computed or error
        for i, x in enumerate(after.tasks):
            if count.falls(x, truth.tasks[i]):
                user = case.cluster.users[i]
                numbers = (change.before, change.after, truth.tasks[i], x, change.machines)
                finding = Finding(NAME, FAILS, Shrunk(user, change.resource, *numbers), exact=not error, tied=choice)
                if not finding.tied:
                    return finding
                by_a_tie = by_a_tie or finding
    decided = _decided(case) or len(idle) == case.cluster.m
    return by_a_tie or count.finding(NAME, exact=not computed, decided=decided, tied=tied)


def grown(case: AuditCase, witness: Shrunk) -> Economy:
    """Return the larger cluster of which a witness speaks."""
    told = (witness.resource, witness.capacity, witness.raised, witness.machines)
    return next(c.cluster for c in _changes(case) if (c.resource, c.before, c.after, c.machines) == told)


def _idle(case: AuditCase) -> frozenset[int]:
    """Return resources more of which changes nothing: in a market with equal incomes, what is not used up is free."""
    cluster = case.cluster
    if not case.market or case.policy.alpha != 1:
        return frozenset()
    used = [
        total(times(row[j], x) for x, row in zip(case.truth.tasks, cluster.demands, strict=True))
        for j in range(cluster.m)
    ]
    return frozenset(j for j, c in enumerate(cluster.pool) if below(used[j], c))


def _decided(case: AuditCase) -> bool:
    """Say whether the values that are tried are all that matter."""
    cluster, policy = case.cluster, case.policy
    if case.integer or cluster.machines is not None or policy.objective not in ("leximin", "alpha"):
        return False
    if cluster.n == 1 or cluster.m == 1:
        return True
    if not _positive(cluster) or policy.objective != "leximin":
        return False
    if policy.measure in ("tasks", "single"):
        return True
    return _summed(case) or (policy.measure == "dominant" and all(limit is None for limit in cluster.limits))


def _changes(case: AuditCase) -> Iterator[Growth]:
    cluster = case.cluster
    if cluster.machines is not None:
        yield from _more_machines(cluster)
        return
    for j, capacity in enumerate(cluster.pool):
        if not capacity:
            continue
        # Whole tasks notice only what lets one more of somebody's fit.
        tried = [*(capacity * factor for factor in FACTORS), *_switches(cluster, j)]
        if case.integer:
            tried = [*(capacity + row[j] for row in cluster.demands if row[j]), *tried]
        for raised in dict.fromkeys(tried):
            if raised > capacity:
                yield Growth(cluster.with_capacity(j, raised), cluster.resources[j], capacity, raised, j=j)
    if _summed(case):
        for j, raised in _losses(case):
            yield Growth(cluster.with_capacity(j, raised), cluster.resources[j], cluster.pool[j], raised)


def _switches(cluster: Economy, j: int) -> list[Fraction]:
    """Return the capacities of resource j at which some user's dominant resource changes."""
    found = set()
    for i, row in enumerate(cluster.demands):
        for k, d in enumerate(row):
            if k != j and d and row[j]:
                found.add(row[j] * cluster.pool[k] * cluster.weight(i, k) / (d * cluster.weight(i, j)))
    return sorted(found)


def _summed(case: AuditCase) -> bool:
    """Say whether polynomials decide: sums of shares, positive demands, no limits, few users."""
    cluster = case.cluster
    unlimited = all(limit is None for limit in cluster.limits)
    return case.policy.measure == "asset" and not case.integer and _positive(cluster) and unlimited and cluster.n <= FEW


def _losses(case: AuditCase) -> Iterator[tuple[int, Fraction]]:
    """Yield resource and capacity where a user of sums of shares loses, one for each stretch on which she does."""
    cluster, tasks = case.cluster, case.truth.tasks
    one: Polynomial = [Fraction(1)]
    for j, capacity in enumerate(cluster.pool):
        each: list[Polynomial] = []
        for i, row in enumerate(cluster.demands):
            others = sum((row[k] / c / cluster.weight(i, k) for k, c in enumerate(cluster.pool) if k != j), Fraction(0))
            each.append([others, row[j] / cluster.weight(i, j)])
        whole = reduce(product, each, one)
        for r, c in enumerate(cluster.pool):
            load: Polynomial = []
            for k, row in enumerate(cluster.demands):
                share = [Fraction(0), row[j]] if r == j else [row[r] / c]
                load = add(load, product(share, reduce(product, each[:k] + each[k + 1 :], one)))
            for i, x in enumerate(tasks):
                lost = add(product(each[i], load), scaled(-1 / low(x), whole))
                for s in samples(lost, Fraction(0), 1 / capacity):
                    if at(lost, s) > 0:
                        yield j, 1 / s


def _more_machines(cluster: Economy) -> Iterator[Growth]:
    for k, machine in enumerate(cluster.machines or ()):
        more = cluster.with_machines(k, machine.count + 1)
        yield Growth(
            more,
            f"the number of machines of class {machine.name}",
            Fraction(machine.count),
            Fraction(machine.count + 1),
        )
        for j, capacity in enumerate(machine.capacity):
            for factor in FACTORS[:3]:
                if capacity:
                    raised = cluster.with_capacity(j, capacity * factor, k)
                    yield Growth(raised, cluster.resources[j], capacity, capacity * factor, machine.name)
