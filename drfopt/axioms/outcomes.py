"""What a policy gives on a cluster, as numbers a verdict may rest on: one row for each kind of policy.

In a pool, leximin and sums of levels are fractions, the market of two resources fractions or enclosures, computed here
in microseconds, for an audit asks for thousands; few whole tasks are all written down.  All else is asked of `solve`,
exactly where an engine can, and otherwise (a user's file) enclosed in the error that is granted to it.

Markets of many clusters at once, in floats with their certificates: enough where nobody's tasks come near a bound.

An exact market of three resources takes a hundred times as long as one of a batch.  A search asks for thousands, and in
most of them a comparison is decided by the error that a certificate allows; only where it is not, the market is
computed exactly.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..base.errors import DrfoptError, EngineError
from ..base.solvers.exact_lp import largest
from ..base.tolerances import FILE_TASKS, LEVEL, LEVEL_CEEI, NOTICED
from ..engines.reference import enumeration
from ..engines.reference.algorithm1 import Machines
from ..engines.reference.path_filling import path_filling, progressive_filling
from ..model.allocation import Allocation
from ..model.devices import Dealt
from ..model.paths import Traveller
from ..model.policies import Policy
from ..solving.allocating import solve
from ..solving.batches.batch import solve_many
from .economy import Economy, Number, around, exactly, low
from .exact_market import clear

__all__ = [
    "Outcome",
    "batched",
    "computed",
    "error_of",
    "outcome",
    "packed",
    "pays",
    "rates",
    "travellers",
    "whole_outcome",
]


NOTHING = Fraction(0)


@dataclass(frozen=True)
class Outcome:
    """Tasks under a policy.

    Attributes
    ----------
    tasks : (n,)
    placement : n rows of k, or None for a pool
    priced : frozenset of int
        Resources that are certainly used up although the tasks are known as enclosures only.
    tied : bool
        Whether other tasks are, or may be, just as good under the policy; of whole tasks, the users listed first are
        served.
    computed : bool
        Whether the enclosures are those of a solver's tolerance rather than proven in fractions.
    packing : tuple of (class, machines, {user: tasks on each of them}), or None
        Where whole tasks run on machines, one of the ways in which they fit.
    shared : tuple of {resource: [{user: tasks}]}
        Entry by entry of the packing the devices of one machine that are shared; none where no machine has devices.
    span : (n,) pairs, or None
        Of whole tasks, the fewest and the most of each user in any equally good division, where all are known.
    """

    tasks: tuple[Number, ...]
    placement: tuple[tuple[Number, ...], ...] | None = None
    priced: frozenset[int] = frozenset()
    tied: bool = False
    computed: bool = False
    span: tuple[tuple[Fraction, Fraction], ...] | None = None
    packing: tuple[tuple[int, int, dict[int, int]], ...] | None = None
    shared: tuple[Dealt, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether all tasks are known exactly."""
        return all(exactly(x) for x in self.tasks)

    def amounts(self, i: int) -> tuple[Number, ...]:
        """Return the tasks of user i class by class; a pool is one class."""
        return (self.tasks[i],) if self.placement is None else self.placement[i]


def rates(cluster: Economy, policy: Policy) -> list[Fraction]:
    """Return the exact level of one task of each user, (n,)."""
    if cluster.machines is not None:
        return policy.exact_rates(cluster.instance())
    shares = [[d / c if c else NOTHING for d, c in zip(row, cluster.pool, strict=True)] for row in cluster.demands]
    return policy.exact_levels(shares, cluster.weights, cluster.weighted_per_resource, column_of(cluster, policy))


def travellers(cluster: Economy, policy: Policy) -> list[Traveller]:
    """Return the users of a pool on the path of a policy that has one, (n,)."""
    shares = [[d / c if c else NOTHING for d, c in zip(row, cluster.pool, strict=True)] for row in cluster.demands]
    return policy.on_path(shares, cluster.weights)


def column_of(cluster: Economy, policy: Policy) -> int | None:
    """Return the resource that a policy of one resource compares."""
    return cluster.resources.index(policy.argument) if policy.measure == "single" else None


def outcome(cluster: Economy, policy: Policy, integer: bool = False) -> Outcome:
    """Return what the policy gives on the cluster.

    Raises
    ------
    TooManyToListError
        When few users have too many whole tasks to be written down: `computed` finds one of the optima.
    """
    if not cluster.n:
        return Outcome((), None if cluster.machines is None else ())
    for takes, compute in KINDS:
        if takes(cluster, policy, integer):
            return compute(cluster, policy)
    return computed(cluster, policy, integer)


def packed(cluster: Economy, policy: Policy) -> Outcome:
    """Return whole tasks on machines with the packing that the policy's engine found for them."""
    return computed(cluster, policy, integer=True)


def _filling(cluster: Economy, policy: Policy) -> Outcome:
    return Outcome(tuple(progressive_filling(cluster.demands, cluster.pool, rates(cluster, policy), cluster.limits)))


def _along_path(cluster: Economy, policy: Policy) -> Outcome:
    users = travellers(cluster, policy)
    path, shares = users[0].path, [user.shares for user in users]
    if path.m != cluster.m:
        policy.check(cluster.instance())
    return Outcome(tuple(path_filling(cluster.demands, cluster.pool, path.knots, path.levels, shares, cluster.limits)))


def _servers(cluster: Economy, policy: Policy) -> Outcome:
    """Fill one machine of each class by itself, in shares of that machine."""
    amounts = [[NOTHING] * len(cluster.machines or ()) for _ in range(cluster.n)]
    for k, machine in enumerate(cluster.machines or ()):
        users, pool = cluster.server(k)
        for i, x in zip(users, _filling(pool, policy).tasks, strict=True):
            amounts[i][k] = machine.count * low(x)
    return Outcome(tuple(sum(row, NOTHING) for row in amounts), tuple(map(tuple, amounts)))


def _market(cluster: Economy, policy: Policy) -> Outcome:
    found = clear(cluster)
    return Outcome(found.tasks, priced=found.priced)


def _program(cluster: Economy, policy: Policy) -> Outcome:
    values = rates(cluster, policy)
    rows = [[row[j] for row in cluster.demands] for j in range(cluster.m)]
    room = list(cluster.pool)
    for i, limit in enumerate(cluster.limits):
        if limit is not None:
            rows.append([Fraction(int(i == h)) for h in range(cluster.n)])
            room.append(limit)
    # Who cannot run a task must not look like another optimum.
    helpless = [any(d and not c for d, c in zip(row, cluster.pool, strict=True)) for row in cluster.demands]
    tasks, unique = largest([Fraction(0) if h else v for h, v in zip(helpless, values, strict=True)], rows, room)
    return Outcome(tuple(tasks), tied=not unique)


def _whole(cluster: Economy, policy: Policy) -> Outcome:
    machines: Machines = [(cluster.pool, 1)]
    eligible = None
    if cluster.machines is not None:
        machines = [c.row for c in cluster.machines]
        eligible = [[c.open_to[i] for c in cluster.machines] for i in range(cluster.n)]
    values = rates(cluster, policy)
    objective = {
        "leximin": lambda: enumeration.leximin(values),
        "alpha": lambda: enumeration.market(values, list(cluster.weights), policy.alpha),
        "sum": lambda: enumeration.total(values),
        "servers": lambda: enumeration.leximin(values),
    }[policy.objective]()
    best = enumeration.optimum(objective, cluster.demands, machines, cluster.limits, eligible)
    chosen = max(best.allocations)
    placement = None
    if cluster.machines is not None:
        # How the tasks lie on the machines is not unique; `packed` knows one way.
        placement = tuple(() for _ in chosen)
    span = tuple((Fraction(min(column)), Fraction(max(column))) for column in zip(*best.allocations, strict=True))
    return Outcome(tuple(Fraction(x) for x in chosen), placement, tied=len(best.allocations) > 1, span=span)


def computed(cluster: Economy, policy: Policy, integer: bool) -> Outcome:
    """Return what `solve` gives on the cluster; of whole tasks one optimum, others may be as good."""
    instance = cluster.instance()
    if integer:
        return whole_outcome(solve(instance, policy, integer=True))
    noise = [0.0] * cluster.n
    try:
        allocation, error = solve(instance, policy, exact=True), 0.0
    except EngineError:
        # No engine computes this exactly; its certificate says how far from the truth it may be.
        allocation, error = solve(instance, policy), error_of(policy)
        if policy.objective == "formulation":
            noise = [0.0 if limit == 0 else NOTICED * _alone(cluster, i) for i, limit in enumerate(cluster.limits)]
    prices = () if allocation.prices is None or cluster.machines else allocation.prices.tolist()
    placement = allocation.placement
    runs = [dict(cluster.classes(i)) for i in range(cluster.n)]
    return Outcome(
        tuple(_known(x, error, least) for x, least in zip(allocation.tasks.tolist(), noise, strict=True)),
        None
        if placement is None
        else tuple(
            # Where its tasks do not fit a user has nothing, and no solver's noise.
            tuple(_known(z, error, least if k in there else 0.0) for k, z in enumerate(row))
            for row, least, there in zip(placement.tolist(), noise, runs, strict=True)
        ),
        frozenset(j for j, p in enumerate(prices) if low(p) > 0),
        # Which of several largest sums a solver ends at says nothing.
        tied=policy.objective == "sum",
        computed=bool(error),
    )


def whole_outcome(whole: Allocation) -> Outcome:
    """Return an allocation of whole tasks, with its packing on machines."""
    proof = whole.certificate.evidence
    packing = None if whole.instance.machines is None else proof.packing
    tasks = tuple(Fraction(int(x)) for x in whole.tasks)
    shared = tuple(on or {} for on in proof.devices(whole.instance))
    return Outcome(tasks, packing=None if packing is None else tuple(packing), shared=shared)


def _known(value: Any, error: float, least: float) -> Number:
    return around(value, error, least) if error else value


def _alone(cluster: Economy, i: int) -> float:
    """Return the tasks that user i could run with the whole cluster: what a solver's noise is measured in."""
    needs = [(j, d) for j, d in enumerate(cluster.demands[i]) if d]
    return float(sum(min((room[j] / d for j, d in needs), default=NOTHING) for _, room in cluster.classes(i)))


Takes = Callable[[Economy, Policy, bool], bool]

KINDS: tuple[tuple[Takes, Callable[[Economy, Policy], Outcome]], ...] = (
    (lambda c, p, whole: whole and p.objective in ("leximin", "sum", "alpha") and _small(c), _whole),
    (lambda c, p, whole: whole and p.objective == "servers" and c.machines is None and _small(c), _whole),
    (lambda c, p, whole: not whole and c.machines is None and p.objective in ("leximin", "servers"), _filling),
    (lambda c, p, whole: not whole and c.machines is None and p.path is not None, _along_path),
    (lambda c, p, whole: not whole and p.objective == "servers", _servers),
    (lambda c, p, whole: not whole and c.machines is None and p.alpha == 1, _market),
    (lambda c, p, whole: not whole and c.machines is None and p.objective == "sum", _program),
)
"""The first row that takes the policy computes it; what none takes is solved and enclosed."""

ERRORS = {"alpha": LEVEL_CEEI, "formulation": FILE_TASKS}
"""Relative error of tasks that are computed in floats, by objective; `LEVEL` for all others."""


def error_of(policy: Policy) -> float:
    """Return the relative error of tasks that the policy computes in floats."""
    return ERRORS.get(policy.objective, LEVEL)


MANY = 6
"""Users up to which whole tasks are written down."""


def _small(cluster: Economy) -> bool:
    return cluster.n <= MANY


def pays(cluster: Economy, policy: Policy) -> bool:
    """Say whether the exact outcome takes so long that batched ones are worth having: markets of no single line."""
    pool = cluster.machines is None and not cluster.weighted_per_resource
    return pool and policy.name == "ceei" and (cluster.m > 2 or any(limit is not None for limit in cluster.limits))


def batched(clusters: Iterable[Economy], policy: Policy) -> Mapping[Economy, Outcome]:
    """Return the outcomes of those clusters that a batch can take, enclosed in the error of their certificates."""
    shapes: dict[tuple[int, int], list[Economy]] = {}
    for cluster in dict.fromkeys(clusters):
        if cluster.n and all(cluster.pool):
            shapes.setdefault((cluster.n, cluster.m), []).append(cluster)
    found: dict[Economy, Outcome] = {}
    for alike in shapes.values():
        limits = [[np.inf if limit is None else float(limit) for limit in c.limits] for c in alike]
        try:
            solved = solve_many(
                np.array([c.demands for c in alike], dtype=float),
                np.array([c.pool for c in alike], dtype=float),
                policy,
                weights=np.array([c.weights for c in alike], dtype=float),
                limits=np.array(limits),
            )
        except DrfoptError:
            # One that no batch takes: all of them are computed exactly then.
            continue
        for cluster, row in zip(alike, solved.tasks.tolist(), strict=True):
            found[cluster] = Outcome(tuple(around(x, LEVEL_CEEI) for x in row), computed=True)
    return found
