"""The DRF paper's discrete scenario and its appendix told, Theorem 7 to Theorem 14, and two notes beyond the paper.

Each function takes the instance and returns lines, a verdict, and whether the numbers bear it out.
"""

from collections.abc import Sequence
from fractions import Fraction

from ..model.instance import Instance
from ..model.policies import policy_named
from ..solving.scheduling import schedule
from .auditing import audit
from .claim_rows import BENT, BREAKS, HOLDS
from .claims import POSITIVE, ZERO, claim_for, cut, proven, selected
from .counterexamples.space import Case, Space
from .economy import Economy, Row, cluster_of, low, shown
from .outcomes import outcome, rates
from .properties.property_table import EIGHT
from .verdicts import FAILS, row

__all__ = [
    "alike",
    "efficient",
    "envy_free",
    "equal_shares",
    "kalai_smorodinsky",
    "more_for_others",
    "not_the_only_one",
    "one_task_apart",
    "saturated",
    "sharing",
    "strategy_proof",
]

Telling = tuple[Sequence[str], str, bool]

DRF = policy_named("drf")


def _used_up(cluster: Economy, tasks: Sequence[Fraction]) -> list[int]:
    """Return the resources of which nothing is left."""
    used = [sum((x * d[j] for x, d in zip(tasks, cluster.demands, strict=True)), Fraction(0)) for j in range(cluster.m)]
    return [j for j, (u, c) in enumerate(zip(used, cluster.pool, strict=True)) if u == c]


def _drf(cluster: Economy) -> list[Fraction]:
    return [low(x) for x in outcome(cluster, DRF).tasks]


# ---- Theorem 7: whole tasks ----------------------------------------------------------------------------------------


def one_task_apart(cluster: Economy) -> Telling:
    """Theorem 7, which is true of two users beside each other, and false of a user beside its divisible share."""
    gaps = {}
    for rule in ("stop", "skip"):
        tasks = schedule(cluster.instance(), "drf", when_full=rule).tasks.tolist()
        shares = [speed * int(x) for speed, x in zip(rates(cluster, DRF), tasks, strict=True)]
        gaps[rule] = (tasks, max(shares) - min(shares))
    most = max(rates(cluster, DRF))
    lines = [
        f"Algorithm 1, when a task does not fit {rule}: {tuple(tasks)} tasks, shares {shown(gap)} apart"
        for rule, (tasks, gap) in gaps.items()
    ]
    first = gaps["stop"][1] <= most < gaps["skip"][1]
    alone = cluster_of(Instance([[2, 7], [4, 1]], [10, 10]))
    needed = tuple(map(max, zip(*alone.demands, strict=True)))
    tasks = _of_the_proof(alone, needed)
    speeds, divisible = rates(alone, DRF), _drf(alone)
    short, largest = [s * (y - x) for s, x, y in zip(speeds, tasks, divisible, strict=True)], max(speeds)
    lines += [
        "the other reading, nobody is more than one largest task from its divisible allocation, is false:",
        f"of (10, 10), demands (2, 7) and (4, 1), the algorithm of the proof, which ends where {row(needed)}, the most "
        f"needed of each resource, does not fit (Algorithm 1 goes on), runs {row(tasks)} tasks, "
        f"the divisible optimum {row(divisible)}: u2 is short of a share of {shown(max(short))}, "
        f"the largest task is {shown(largest)}",
    ]
    room, machines = Fraction(19, 10), 3
    at_most, each = machines * int(room), machines * room / 2
    worst = min(max(abs(each - x), abs(each - (at_most - x))) for x in range(at_most + 1))
    lines.append(
        f"on {machines} machines of {shown(room)} at most {at_most} tasks of size 1 run at all, and two users have "
        f"{shown(each)} of them each if they are divisible: however whole ones are divided, somebody is "
        f"{shown(worst)} tasks off"
    )
    verdict = (
        f"the largest task is {shown(most)} of a resource: shares stay within it for who stops, and not for who passes "
        "over users that do not fit; of the distance from the divisible allocation it is not true"
    )
    return lines, verdict, first and max(short) > largest and worst > 1


def _of_the_proof(cluster: Economy, needed: Row) -> list[Fraction]:
    """Return what the algorithm in the proof runs on one machine: it is left when the largest needs (m,) do not fit."""
    tasks, left = [Fraction(0)] * cluster.n, list(cluster.pool)
    speeds = rates(cluster, DRF)
    while all(rest >= need for rest, need in zip(left, needed, strict=True)):
        i = min(range(cluster.n), key=lambda k: (speeds[k] * tasks[k], k))
        tasks[i] += 1
        left = [rest - d for rest, d in zip(left, cluster.demands[i], strict=True)]
    return tasks


# ---- Lemma 8 to Theorem 12 -----------------------------------------------------------------------------------------


def saturated(cluster: Economy) -> Telling:
    """Lemma 8: every user needs something that is used up."""
    tasks = _drf(cluster)
    full = _used_up(cluster, tasks)
    lines = [f"drf gives {row(tasks)} tasks; used up: {', '.join(cluster.resources[j] for j in full)}"]
    lines.append("proof: filling goes on for who needs nothing that is used up, and it has ended")
    tried = missing = 0
    for space in (Space(2, 2, 3, 3, zero_demands=True), Space(3, 2, 2, 2, zero_demands=True)):
        for unit in range(space.units):
            for case in filter(space.stands_for_itself, space.cases(unit)):
                small = case.cluster()
                ends = _used_up(small, _drf(small))
                tried += 1
                missing += not all(any(d[j] for j in ends) for d in small.demands)
    lines.append(f"{tried} small instances, zero demands among them: {missing} without it")
    limited = cluster_of(Instance([[1], [1]], [9], max_tasks=[2, 2]))
    lines.append(f"with limits it is not so: capacity 9, two users of at most 2 tasks each have {row(_drf(limited))}")
    return lines, "everybody without a limit needs a used-up resource", not missing and bool(full)


def _by_claims(cluster: Economy, proof: str, *letters: str) -> Telling:
    """Tell properties of drf: the audit of the instance, the proof, and the small instances that bear it out."""
    lines, fine = [f"drf gives {row(_drf(cluster))} tasks", f"proof: {proof}"], True
    for name in letters:
        (finding,) = audit(cluster.instance(), "drf", name).results
        tested = proven(next(c for c in selected("drf", name) if c.domain == ZERO))
        fine &= finding.verdict != FAILS and tested.stands and tested.claim.verdict == HOLDS
        lines.append(f"{name}: {finding.verdict} here; {tested.tried} small instances without a violation")
    return lines, "it holds, with zero demands too" if fine else "it is not borne out", fine


def efficient(cluster: Economy) -> Telling:
    """Theorem 9."""
    proof = "who has more has more of a used-up resource (Lemma 8), so somebody else who uses it has less"
    return _by_claims(cluster, proof, "pareto-efficiency")


def sharing(cluster: Economy) -> Telling:
    """Theorem 10."""
    proof = (
        "until all have a dominant share of 1/n nobody has more than 1/n of anything, so nothing is used up by less; "
        "where all need one resource most, at 1/n it is"
    )
    return _by_claims(cluster, proof, "sharing-incentive", "bottleneck-fairness")


def envy_free(cluster: Economy) -> Telling:
    """Theorem 11."""
    proof = (
        "whose bundle is better has more of all that the envious needs, of what stopped it too, so a larger share; but "
        "all who use what stopped it had stopped by then"
    )
    return _by_claims(cluster, proof, "envy-freeness")


def strategy_proof(cluster: Economy) -> Telling:
    """Theorem 12."""
    proof = (
        "a better bundle has a larger dominant share, which is reached later; the others rise as they do without the "
        "user, and leave no more by then of what stopped it in truth"
    )
    lines, verdict, fine = _by_claims(cluster, proof, "strategy-proofness")
    return [*lines, "the best response is computed on every one of them (docs: Table of theorems)"], verdict, fine


# ---- Theorems 13 and 14 --------------------------------------------------------------------------------------------


def equal_shares(cluster: Economy) -> Telling:
    """Theorem 13."""
    speeds = rates(cluster, DRF)
    loads = [
        sum((d[j] / c / speed for d, speed in zip(cluster.demands, speeds, strict=True)), Fraction(0))
        for j, c in enumerate(cluster.pool)
    ]
    share = 1 / max(loads)
    tasks = _drf(cluster)
    lines = (
        f"at dominant shares of 1 the users need {row(loads)} times the capacities: "
        f"the largest allows {shown(share)} of it for everybody",
        f"filling gives {row(tasks)} tasks",
    )
    same = all(speed * x == share for speed, x in zip(speeds, tasks, strict=True))
    return lines, f"all dominant shares are {shown(share)}" if same else "the shares differ", same


def more_for_others(cluster: Economy) -> Telling:
    """Theorem 14."""
    (positive,) = audit(cluster.instance(), "drf", "population-monotonicity").results
    zero = Instance([[0, 1], [1, 0], [1, 2]], [1, 1])
    (finding,) = audit(zero, "drf", "population-monotonicity").results
    lines = (
        f"whoever leaves, nobody of the others runs fewer tasks: {positive.verdict}",
        f"with zero demands, capacities (1, 1) and demands (0, 1), (1, 0), (1, 2): {finding.witness}",
    )
    confirmed = positive.verdict != FAILS and finding.verdict == FAILS
    return lines, "it holds, and the condition on demands is needed", confirmed


# ---- beyond the paper ----------------------------------------------------------------------------------------------


def not_the_only_one(cluster: Economy) -> Telling:
    """Paths of bundles other than the straight one have all that DRF has."""
    bent = policy_named(BENT)
    lines = [
        f"drf gives {row(_drf(cluster))} tasks, {BENT} gives {row(outcome(cluster, bent).tasks)}: "
        "straight up to the equal split of two users, so through that of any number, and bent beyond",
    ]
    same = True
    for property in EIGHT:
        verdicts = {domain: claim_for(BENT, property.name, domain) for domain in (POSITIVE, ZERO)}
        same &= all(
            mine is not None and theirs is not None and mine.verdict == theirs.verdict
            for domain, mine in verdicts.items()
            for theirs in [claim_for("drf", property.name, domain)]
        )
        kept = [domain for domain, claim in verdicts.items() if claim is not None and claim.verdict == HOLDS]
        lost = [domain for domain, claim in verdicts.items() if claim is not None and claim.verdict == BREAKS]
        parts = [f"holds with {' and '.join(kept)}"] * bool(kept) + [f"fails with {' and '.join(lost)}"] * bool(lost)
        lines.append(f"{property.name}: {', '.join(parts)}, as drf")
    found, looked_at = _smallest_difference()
    lines.append(
        f"no instance with fewer users, fewer resources or smaller numbers tells them apart ({looked_at} tried)"
    )
    differs = found is not None and found.cluster().demands == tuple(sorted(cluster.demands))
    return lines, "drf is not the only policy with its properties", same and differs


def _smallest_difference() -> tuple[Case | None, int]:
    """Return the smallest case with positive demands on which the bent path is not drf, and how many were tried."""
    tried, found = 0, None
    for users, resources in ((1, 1), (2, 1), (1, 2), (2, 2)):
        space = Space(users, resources, 2, 2)
        bent = policy_named(cut(BENT, resources))
        for unit in range(space.units):
            for case in space.cases(unit):
                small = case.cluster()
                tried += 1
                if outcome(small, bent).tasks != outcome(small, DRF).tasks and (
                    found is None or case.size < found.size
                ):
                    found = case
    return found, tried


def alike(cluster: Economy, tasks: Sequence[Fraction]) -> bool:
    """Say whether tasks are the lexicographic Kalai-Smorodinsky solution of a pool without limits.

    The ideal point is what each could run alone; parts of it are max-min fair exactly when everybody needs a used-up
    resource of whose users nobody has a larger part.
    """
    parts = [x / low(a) for x, a in zip(tasks, _ideal(cluster), strict=True)]
    full = _used_up(cluster, tasks)
    most = {j: max(p for p, d in zip(parts, cluster.demands, strict=True) if d[j]) for j in full}
    return all(any(d[j] and parts[i] == most[j] for j in full) for i, d in enumerate(cluster.demands))


def _ideal(cluster: Economy) -> list[Fraction]:
    """Return what each user could run if everything were its own, as far as its limit."""
    alone = [min(c / d for c, d in zip(cluster.pool, row, strict=True) if d) for row in cluster.demands]
    return [a if limit is None else min(a, limit) for a, limit in zip(alone, cluster.limits, strict=True)]


def _reach(cluster: Economy) -> Fraction:
    """Return the part of the ideal point at which the line from nothing to it leaves what can run."""
    needs = [
        sum((a * d[j] for a, d in zip(_ideal(cluster), cluster.demands, strict=True)), Fraction(0))
        for j in range(cluster.m)
    ]
    return min(c / need for c, need in zip(cluster.pool, needs, strict=True) if need)


def kalai_smorodinsky(cluster: Economy) -> Telling:
    """DRF in a pool is the lexicographic Kalai-Smorodinsky solution."""
    ideal, tasks = _ideal(cluster), _drf(cluster)
    parts = [x / a for x, a in zip(tasks, ideal, strict=True)]
    shares = [speed * x for speed, x in zip(rates(cluster, DRF), tasks, strict=True)]
    lines = [
        f"the ideal point, what each could run alone: {row(ideal)}",
        f"drf gives {row(tasks)} tasks, parts {row(parts)} of it, dominant shares {row(shares)}: the same numbers",
    ]
    reach = _reach(cluster)
    lines.append(f"the line from nothing to the ideal point leaves what can run at {shown(reach)} of it")
    zero = cluster_of(Instance([[0, 1], [1, 0], [1, 2]], [1, 1]))
    lines.append(
        f"with zero demands the line ends before all have what they can: (1, 1) for (0, 1), (1, 0), (1, 2) gives "
        f"{row(_drf(zero))}, parts {row([x / a for x, a in zip(_drf(zero), _ideal(zero), strict=True)])}, leximin"
    )
    limited = cluster_of(Instance([[1], [1]], [1], max_tasks=[Fraction(1, 2), None]))
    lines.append(
        f"a limit moves the ideal point, and then they part: capacity 1, tasks of 1, u1 at most 1/2, drf gives "
        f"{row(_drf(limited))}, Kalai and Smorodinsky {row([_reach(limited) * a for a in _ideal(limited)])}"
    )
    fine = parts == shares and alike(cluster, tasks) and alike(zero, _drf(zero)) and set(parts) == {reach}
    fine &= _drf(limited) != [_reach(limited) * a for a in _ideal(limited)]
    verdict = "a dominant share is the part of what one could run alone, so drf is the lexicographic solution"
    return lines, verdict, fine
