"""The best misreport against each kind of policy: exact where the policy's structure allows it, by trials elsewhere."""

from collections.abc import Callable

from ..case import AuditCase
from . import filling, market_of_two, misreport, prices, sums, whole
from .misreport import Response

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
    (lambda s: s.integer, whole.best),
    (lambda s: _pool(s) and s.policy.objective in ("leximin", "servers"), filling.best),
    (lambda s: _pool(s) and s.policy.path is not None, filling.along_path),
    (lambda s: not s.integer and s.policy.objective == "servers", filling.on_servers),
    (lambda s: _pool(s) and s.policy.objective == "alpha" and s.cluster.m == 1, _one_resource),
    (lambda s: _two_resources(s) and s.policy.alpha == 1, market_of_two.best),
    (lambda s: s.market and s.fair_market, prices.best),
    (lambda s: _pool(s) and s.policy.objective == "sum" and s.policy.measure == "tasks", sums.most_tasks),
    (lambda s: _pool(s) and s.policy.objective == "sum" and s.policy.measure == "dominant", sums.best),
    (lambda s: True, misreport.best),
)
"""The first row that takes the case decides it."""
