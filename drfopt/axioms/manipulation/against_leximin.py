"""The best misreport against a leximin policy of one pool, exactly, from the filling without the misreporting user.

Without user i the others end at levels t[k] and leave of resource j, when all have risen to tau,

    left[j](tau) = c[j] - sum_k (d[k, j] / rate[k]) min(tau, t[k]),        piecewise linear, never rising.

Theorem.  Let the level of a bundle depend on the bundle alone, grow with it, and double with it (dominant share, sum
of shares, share of one resource, each by weight).  Then no report brings user i more of her own tasks than the truth.

Proof.  Whatever she reports, nothing that she takes of is used up before she stops, or she would have stopped; and what
she does not take of is used up when it is without her.  So until she stops, at a level tau, the others are where they
are without her, and her bundle b has  b <= left(tau).  It is worth v tasks of her own when  v d[i] <= b; the bundle
v d[i] is then at a level of at most tau, and as left never rises,

    v d[i, j] <= left[j](v rate[i])      for every j that she needs.                     (*)

The left side grows with v and the right side never does, so (*) holds up to the least root v of these lines and no
further.  With the truth she stops when (*) is met with equality for some j, which is that root, or at her limit, beyond
which tasks are worth nothing to her.  []

`best` looks for that equality in the instance rather than quote the theorem: at the truth, of level tau, the others are
without her where they are with her.  For who has stopped below tau has not stopped for what she needs, which would have
stopped her too, and it is all the same to the rest until tau whether she is there.  So (*) holds with equality for j
where j is used up and nobody who needs it is above tau, which is one look at every resource for all users; her own
filling without her is made where there is no such j.  A level that counts tasks depends on the report instead: claiming
a task K times as large keeps her level K times as low, and the others then leave her all that she can use.

A level along a path of bundles does not double with the bundle, and all else of this holds.  There `along_path` looks
at the truth v itself: (*) holds at v with equality for some j, so it fails beyond.

Nor do two users gain together, by the same argument.  Say both would have more of what they need.  Then both would end
at higher levels than in truth, so until the level t at which the first of them stopped in truth nothing that they claim
is used up, and the others rise as without both.  Of a resource r that she needs they leave left[r](t) from then on, and
if that is no more than the two hold in truth, one of them cannot have more of it.

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, for dominant shares; Li and Xue, Egalitarian division
under Leontief preferences, Economic Theory 2013, for the class of rules.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...engines.reference.path_filling import progressive_filling
from ...model.paths import Traveller
from ..case import AuditCase
from ..economy import low
from ..outcomes import rates, travellers
from . import misreports
from .misreports import Response, worth

__all__ = ["along_path", "best", "on_servers", "pair_gains_nothing"]

LARGEST_CLAIM = 64
"""Multiples of her task that are tried for the sentence; that some multiple pays is known before."""


def best(case: AuditCase, i: int) -> Response:
    """Return user i's best response."""
    if case.policy.measure == "tasks":
        return _larger_task(case, i)
    truth = case.truth.tasks[i]
    if low(truth) == case.cluster.limits[i] or i in case.kept("who has a bottleneck", _with_a_bottleneck):
        return Response(None, None, truth)
    most = case.limited(i, _least_root(case, i))
    return Response(None, None, most, decided=low(most) <= low(truth))


def _with_a_bottleneck(case: AuditCase) -> frozenset[int]:
    """Return who needs something that is used up and that nobody at a higher level needs."""
    cluster, tasks = case.cluster, [low(x) for x in case.truth.tasks]
    levels = [rate * x if x else x for rate, x in zip(rates(cluster, case.policy), tasks, strict=True)]
    found: set[int] = set()
    for j, room in enumerate(cluster.pool):
        users = [i for i, row in enumerate(cluster.demands) if row[j]]
        if users and sum((cluster.demands[i][j] * tasks[i] for i in users), Fraction(0)) == room:
            top = max(levels[i] for i in users)
            found.update(i for i in users if levels[i] == top)
    return frozenset(found)


def along_path(case: AuditCase, i: int) -> Response:
    """Return user i's best response where levels are measured along a path of bundles."""
    cluster, truth = case.cluster, low(case.truth.tasks[i])
    none = any(d and not c for d, c in zip(cluster.demands[i], cluster.pool, strict=True))
    if none or truth == cluster.limits[i]:
        return Response(None, None, truth)
    users = travellers(cluster, case.policy)
    others, level = [k for k in range(cluster.n) if k != i], users[i].level(truth)
    ends = [low(x) for x in case.without(i).tasks]
    for j, need in enumerate(cluster.demands[i]):
        held = sum(
            (
                cluster.demands[k][j] * min(end, users[k].tasks(level))
                for k, end in zip(others, ends, strict=True)
                if end
            ),
            Fraction(0),
        )
        if need and held + truth * need == cluster.pool[j]:
            return Response(None, None, truth)
    return misreports.best(case, i)


def on_servers(case: AuditCase, i: int) -> Response:
    """Return user i's best response where every machine is filled by itself: there is one on each of them.

    A report that fits where her true demand does not brings her nothing there, and it changes nothing elsewhere.
    """
    most = Fraction(0)
    for k, machine in enumerate(case.cluster.machines or ()):
        users, pool = case.cluster.server(k)
        if i in users:
            most += machine.count * _least_root(AuditCase(pool, case.policy), users.index(i))
    return Response(None, None, most, decided=most <= low(case.truth.tasks[i]))


def _larger_task(case: AuditCase, i: int) -> Response:
    most = case.limited(i, case.per_task(i, case.cluster.pool))
    truth = case.truth.tasks[i]
    if low(most) <= low(truth):
        return Response(None, None, most)
    claim = 2
    while claim <= LARGEST_CLAIM:
        report = tuple(claim * d for d in case.cluster.demands[i])
        value, _ = worth(case, i, report)
        if low(value) > low(truth):
            return Response(report, value, most)
        claim *= 2
    return Response(None, None, most, decided=False, trials=claim)


def _least_root(case: AuditCase, i: int) -> Fraction:
    """Return the largest number of her own tasks whose bundle the others leave at its level."""
    cluster = case.cluster
    mine = rates(cluster, case.policy)
    others = [k for k in range(cluster.n) if k != i]
    demand = cluster.demands[i]
    if any(d and not c for d, c in zip(demand, cluster.pool, strict=True)):
        return Fraction(0)
    tasks = progressive_filling(
        [cluster.demands[k] for k in others],
        cluster.pool,
        [mine[k] for k in others],
        [cluster.limits[k] for k in others],
    )
    found = []
    for j, d in enumerate(demand):
        if not d:
            continue
        # At v tasks of hers user k holds d[k, j] min(v / slower[k], tasks[k]).
        ends = sorted(
            (tasks[p] * mine[k] / mine[i], cluster.demands[k][j] * mine[i] / mine[k], cluster.demands[k][j] * tasks[p])
            for p, k in enumerate(others)
            if cluster.demands[k][j] and tasks[p]
        )
        speed, left = d + sum(drain for _, drain, _ in ends), cluster.pool[j]
        for end, drain, held in ends:
            if left / speed <= end:
                break
            speed, left = speed - drain, left - held
        found.append(left / speed)
    return min(found)


def pair_gains_nothing(case: AuditCase, i: int, k: int) -> bool:
    """Say whether users i and k cannot both gain by misreporting together, where the bundle alone decides the level."""
    cluster, truth = case.cluster, [low(x) for x in case.truth.tasks]
    if any(truth[h] == cluster.limits[h] for h in (i, k)):
        return True
    users = _users(case)
    first = min((i, k), key=lambda h: users[h].level(truth[h]))
    level = users[first].level(truth[first])
    others = [h for h in range(cluster.n) if h not in (i, k)]
    alone = [low(x) for x in case.run(cluster.keeping(others)).tasks]
    for r, need in enumerate(cluster.demands[first]):
        if not need:
            continue
        held = sum(
            (cluster.demands[h][r] * min(users[h].tasks(level), x) for h, x in zip(others, alone, strict=True) if x),
            Fraction(0),
        )
        if cluster.pool[r] - held <= truth[i] * cluster.demands[i][r] + truth[k] * cluster.demands[k][r]:
            return True
    return False


@dataclass(frozen=True)
class _Linear:
    """A user whose level is a multiple of the tasks."""

    rate: Fraction

    def level(self, tasks: Fraction) -> Fraction:
        return self.rate * tasks

    def tasks(self, level: Fraction) -> Fraction:
        return level / self.rate


def _users(case: AuditCase) -> Sequence[_Linear | Traveller]:
    if case.policy.path is not None:
        return travellers(case.cluster, case.policy)
    return [_Linear(rate) for rate in rates(case.cluster, case.policy)]
