"""The best misreport against each kind of policy: exact where the policy's structure allows it, by trials elsewhere."""

from collections.abc import Callable

from ..case import AuditCase
from . import against_leximin, against_markets, against_sums, against_two_prices, against_whole_tasks, misreports
from .misreports import Response

__all__ = ["Response", "best_response"]


def best_response(case: AuditCase, i: int) -> Response:
    """Return user i's best response to the truth of the others."""
    return next(best for takes, best in KINDS if takes(case))(case, i)


def _pool(case: AuditCase) -> bool:
    return not case.integer and case.cluster.machines is None


def _two_resources(case: AuditCase) -> bool:
    cluster = case.cluster
    unlimited = all(limit is None for limit in cluster.limits)
    return _pool(case) and cluster.m == 2 and all(cluster.pool) and unlimited


def _one_resource(case: AuditCase, i: int) -> Response:
    """What one resource brings a user depends on her weight and not on her report."""
    return Response(None, None, case.truth.tasks[i])


KINDS: tuple[tuple[Callable[[AuditCase], bool], Callable[[AuditCase, int], Response]], ...] = (
    (lambda s: s.integer, against_whole_tasks.best),
    (lambda s: _pool(s) and s.policy.objective in ("leximin", "servers"), against_leximin.best),
    (lambda s: _pool(s) and s.policy.path is not None, against_leximin.along_path),
    (lambda s: not s.integer and s.policy.objective == "servers", against_leximin.on_servers),
    (lambda s: _pool(s) and s.policy.objective == "alpha" and s.cluster.m == 1, _one_resource),
    (lambda s: _two_resources(s) and s.policy.alpha == 1, against_two_prices.best),
    (lambda s: s.market and s.fair_market, against_markets.best),
    (lambda s: _pool(s) and s.policy.objective == "sum" and s.policy.measure == "tasks", against_sums.most_tasks),
    (lambda s: _pool(s) and s.policy.objective == "sum" and s.policy.measure == "dominant", against_sums.best),
    (lambda s: True, misreports.best),
)
"""The first row that takes the case decides it."""
