"""Exact answers with prices: leximin on machines, sums, enclosures of markets, judged by the standalone verifier.

The document that a certificate file would hold is made, only its fractions not written, and
`drfopt.certificates.verifier` reads it as it would read the file: the answer is returned only when that says it is
proven.

Leximin in one pool, in rational numbers: the bottleneck condition decided exactly, without any tolerance.

The condition proves max-min fairness for any levels L_i(x_i) that grow strictly with a user's own tasks and depend on
nothing else, multiples of the tasks or not.  Let x meet it, let y be another allocation, and t the lowest of
min(L_i(x_i), L_i(y_i)) among the users whose tasks differ.  Say one of them has L_i(x_i) = t < L_i(y_i).  It is not at
its limit under x, so it has a bottleneck j, full under x, whose users are all at t or below; under y it has more of j,
so some user h of j has less, and L_h(y_h) < L_h(x_h) <= t, against the choice of t.  So all that are at t have it under
y and more under x, the users below t are the same, and x is leximin-better than y.  []
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from ..base.numbers.enclosures import Enclosure, lower, upper
from ..base.numbers.rationals import integer_columns, weighted_sums
from ..base.tolerances import CAPACITY, LEVEL, LEVEL_CEEI
from ..model.certificate import Certificate
from ..model.evidence import ChainEvidence, Evidence, PriceEvidence
from ..model.instance import Instance
from ..model.policies import Policy
from .chain import filled_at, most_paid_for, one_or_all
from .document import document
from .feasibility import infeasibility
from .verifier import verify

__all__ = ["certify", "certify_filling", "certify_rounded", "rounded", "used_exactly", "verified"]


def certify(
    instance: Instance,
    policy: Policy,
    tasks: np.ndarray,
    placement: np.ndarray | None,
    evidence: Evidence,
) -> Certificate:
    """Return the certificate of exact tasks (n,), Fractions or Enclosures, placed as (n, k)."""
    rates = policy.exact_rates(instance)
    levels = [rate * x for rate, x in zip(rates, tasks, strict=True)]
    valid, fault = verified(instance, policy, tasks, levels, placement, evidence)
    # Of an enclosure the answer is what is certain: how far its ends are apart is not a violation, but how good it is.
    widths = [float(x.width / x.upper) for x in tasks if isinstance(x, Enclosure) and x.upper]
    gap = None if policy.objective == "leximin" else max(widths, default=0.0)
    return Certificate(
        kind={"leximin": "chain", "sum": "duals", "alpha": "enclosures"}[policy.objective],
        valid=valid,
        violation=0.0 if valid else float("inf"),
        gap=0.0 if gap is None else gap,
        stopped_by=partial(_bottlenecks, instance, tasks, evidence),
        evidence=evidence,
        rigorous=True,
        reason=fault,
    )


def verified(
    instance: Instance,
    policy: Policy,
    tasks: np.ndarray,
    levels: Iterable[Any],
    placement: np.ndarray | None,
    evidence: Evidence,
) -> tuple[bool | None, str]:
    """Return what the standalone verifier says of tasks (n,), placed as (n, k) or by type, and the first fault."""
    claimed = document(instance, policy.name, tasks, levels, placement, evidence, written=False)
    report = verify(claimed, bounded=False, exact=tasks.dtype == object)
    return report.valid, next((f"{check.name}: {check.worst}" for check in report.checks if not check.holds), "")


def rounded(
    proof: Certificate,
    instance: Instance,
    policy: Policy,
    exact: np.ndarray,
    tasks: np.ndarray,
    placement: np.ndarray | None,
) -> Certificate:
    """Return the certificate of tasks (n,) that are floats next to exact ones with a proof: how far off they may be."""
    pairs = zip(tasks.tolist(), exact.tolist(), strict=True)
    off = max((max(abs(Fraction(x) - end) for end in (lower(y), upper(y))) / (upper(y) or 1) for x, y in pairs))
    infeasible, reason = infeasibility(instance, tasks, placement)
    violation = max(proof.violation, float(off), infeasible)
    accuracy = LEVEL if policy.objective in ("leximin", "servers") else LEVEL_CEEI
    valid = bool(proof.valid) and violation <= accuracy and infeasible <= CAPACITY
    reason = proof.reason or reason or ("" if valid else f"the nearest floats are {violation:.1e} off the exact answer")
    return replace(proof, valid=valid, violation=violation, reason=reason)


def _bottlenecks(instance: Instance, tasks: np.ndarray, evidence: Evidence) -> tuple:
    """Return what each user pays for where she is finished: a resource of a pool, ``class/resource`` on machines."""
    if isinstance(evidence, PriceEvidence):
        prices = np.frompyfunc(upper, 1, 1)(np.atleast_2d(evidence.prices))
        rising = [u is None or upper(x) < u for x, u in zip(tasks, instance.exact_limits, strict=True)]
        return most_paid_for(instance, prices, instance.exact_demands, prices > 0, rising)
    found: list[Any] = [None] * instance.n
    rounds = evidence.rounds if isinstance(evidence, ChainEvidence) else ()
    filled = filled_at([(np.asarray(link.prices), link.level) for link in rounds], instance.room.shape)
    for link in rounds:
        full = (filled <= link.level).astype(bool)
        for i in map(int, link.finished):
            paid = full & (instance.demands[i] > 0)
            if instance.machines is None:
                found[i] = one_or_all([instance.resources[j] for j in np.flatnonzero(paid[0])])
            else:
                cells = np.argwhere(paid & instance.fits[i][:, None])
                found[i] = tuple(f"{instance.machine_names[k]}/{instance.resources[j]}" for k, j in cells) or None
    return tuple(found)


def certify_filling(instance: Instance, policy: Policy, tasks: np.ndarray) -> Certificate:
    """Return the certificate of exact tasks (n,): all are at a limit or have a bottleneck, and nothing is overfull."""
    demands, capacity, limits = instance.exact_demands, instance.exact_capacity, instance.exact_limits
    levels = policy.levels(instance, tasks).tolist()
    # Along a path a task is worth what it is at this place: the condition asks for the order of levels only.
    rates = [level / x if x else Fraction(1) for level, x in zip(levels, tasks, strict=True)]
    used = used_exactly(instance, rates, levels, tasks)
    # Equal levels are one number, so that most comparisons of long fractions are comparisons of ranks.
    rank = {level: place for place, level in enumerate(sorted(set(levels)))}
    ranks = [rank[level] for level in levels]
    highest = [max((r for r, row in zip(ranks, demands, strict=True) if row[j]), default=-1) for j in range(instance.m)]
    saturated = [u == c and c > 0 for u, c in zip(used, capacity, strict=True)]
    unplaced = instance.unplaced()
    bottlenecks: list[str | tuple[str, ...] | None] = []
    reason = next(
        (
            f"{float(used[j]):.17g} of {r!r} are used, of {float(capacity[j]):.17g}"
            for j, r in enumerate(instance.resources)
            if used[j] > capacity[j]
        ),
        "",
    )
    for i, row in enumerate(demands):
        found = [j for j, d in enumerate(row) if d and saturated[j] and ranks[i] == highest[j]]
        limit = limits[i]
        at_limit = tasks[i] == limit
        bottlenecks.append(None if at_limit else one_or_all([instance.resources[j] for j in found]))
        if unplaced[i]:
            wrong = tasks[i] != 0
        else:
            wrong = tasks[i] < 0 or (limit is not None and tasks[i] > limit) or not (at_limit or found)
        if wrong and not reason:
            reason = f"user {instance.users[i]!r} is neither at its limit nor has it a bottleneck"
    return Certificate(
        kind="bottleneck",
        valid=not reason,
        violation=float("inf") if reason else 0.0,
        stopped_by=partial(tuple, bottlenecks),
        reason=reason,
        rigorous=True,
    )


def certify_rounded(
    instance: Instance, policy: Policy, exact: np.ndarray, tasks: np.ndarray, levels: np.ndarray
) -> Certificate:
    """Return the certificate of tasks and levels (n,) that are floats next to exact tasks: how far off they are."""
    proof = certify_filling(instance, policy, exact)
    pairs = [(x, y) for x, y in zip(tasks.tolist(), exact, strict=True)]
    pairs += list(zip(levels.tolist(), policy.levels(instance, exact).tolist(), strict=True))
    off = max(abs(Fraction(x) - y) / y if y else abs(Fraction(x)) for x, y in pairs)
    violation = max(proof.violation, math.nextafter(float(off), math.inf) if off else 0.0)
    valid = bool(proof.valid) and violation <= LEVEL
    reason = proof.reason or (
        "" if valid else f"the nearest floats are {violation:.1e} off the exact answer (exact=True returns it)"
    )
    return replace(proof, valid=valid, violation=violation, reason=reason)


def used_exactly(
    instance: Instance, rates: list[Fraction], levels: list[Fraction], tasks: np.ndarray
) -> list[Fraction]:
    """Return what is used of each resource, (m,): users of one level are summed up at a level of 1 first."""
    rows, scales = integer_columns(instance.exact_demands, instance.m)
    groups: dict[Fraction, list[int]] = defaultdict(list)
    for i, level in enumerate(levels):
        if level:
            groups[level].append(i)
    used = [Fraction(0)] * instance.m
    alone = [i for group in groups.values() if len(group) == 1 for i in group]
    sums = [weighted_sums([tasks[i] for i in alone], [rows[i] for i in alone], instance.m)]
    for level, group in groups.items():
        if len(group) > 1:
            each = weighted_sums([1 / rates[i] for i in group], [rows[i] for i in group], instance.m)
            sums.append([level * s for s in each])
    for found in sums:
        used = [u + s / scale for u, s, scale in zip(used, found, scales, strict=True)]
    return used
