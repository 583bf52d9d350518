"""Exact answers with prices: leximin on machines, sums, enclosures of markets, judged by the standalone verifier.

The document that a certificate file would hold is made, only its fractions not written, and
`drfopt.certificates.verifier` reads it as it would read the file: the answer is returned only when that says it is
proven.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from ..base.numbers.enclosures import Enclosure, lower, upper
from ..base.tolerances import CAPACITY, LEVEL_CEEI
from ..model.allocation import Certificate
from ..model.instance import Instance
from ..model.policies import Policy
from .document import document
from .feasibility import infeasibility
from .verifier import verify

__all__ = ["ChainLink", "certify", "rounded"]


@dataclass(frozen=True, eq=False)
class ChainLink:
    """A link of an exact chain: level, whom it finishes (rows of the instance), prices (k, m) of whole classes."""

    level: Fraction
    finished: np.ndarray
    prices: np.ndarray


def certify(
    instance: Instance,
    policy: Policy,
    tasks: np.ndarray,
    placement: np.ndarray | None,
    evidence: dict[str, Any],
) -> Certificate:
    """Return the certificate of exact tasks (n,), Fractions or Enclosures, placed as (n, k)."""
    rates = policy.exact_rates(instance)
    levels = [rate * x for rate, x in zip(rates, tasks, strict=True)]
    claimed = document(instance, policy.name, tasks, levels, placement, evidence, written=False)
    report = verify(claimed, bounded=False, exact=True)
    fault = next((f"{check.name}: {check.worst}" for check in report.checks if not check.holds), "")
    # Of an enclosure the answer is what is certain: how far its ends are apart is not a violation, but how good it is.
    widths = [float(x.width / x.upper) for x in tasks if isinstance(x, Enclosure) and x.upper]
    gap = None if policy.objective == "leximin" else max(widths, default=0.0)
    return Certificate(
        kind={"leximin": "chain", "sum": "duals", "alpha": "enclosures"}[policy.objective],
        valid=report.valid,
        violation=0.0 if report.valid else float("inf"),
        gap=0.0 if gap is None else gap,
        stopped_by=partial(_bottlenecks, instance, tasks, evidence),
        evidence=evidence,
        rigorous=True,
        reason=fault,
    )


def rounded(
    proof: Certificate, instance: Instance, exact: np.ndarray, tasks: np.ndarray, placement: np.ndarray | None
) -> Certificate:
    """Return the certificate of tasks (n,) that are floats next to exact ones with a proof: how far off they may be."""
    pairs = zip(tasks.tolist(), exact.tolist(), strict=True)
    off = max((max(abs(Fraction(x) - end) for end in (lower(y), upper(y))) / (upper(y) or 1) for x, y in pairs))
    infeasible, reason = infeasibility(instance, tasks, placement)
    violation = max(proof.violation, float(off), infeasible)
    valid = bool(proof.valid) and violation <= LEVEL_CEEI and infeasible <= CAPACITY
    reason = proof.reason or reason or ("" if valid else f"the nearest floats are {violation:.1e} off the exact answer")
    return replace(proof, valid=valid, violation=violation, reason=reason)


def _bottlenecks(instance: Instance, tasks: np.ndarray, evidence: dict[str, Any]) -> tuple:
    """Return what each user pays for where she is finished: a resource of a pool, ``class/resource`` on machines."""
    found: list[Any] = [None] * instance.n
    rounds = [(link.finished, link.prices) for link in evidence.get("rounds", ())]
    if "prices" in evidence:
        limits = instance.exact_limits
        rising = [i for i, u in enumerate(limits) if u is None or upper(tasks[i]) < u]
        rounds = [(rising, evidence["prices"])]
    for finished, prices in rounds:
        table = np.asarray(prices)
        for i in map(int, finished):
            paid = (table[None, :] if table.ndim == 1 else table).astype(bool) & (instance.demands[i] > 0)
            if instance.machines is None:
                js = np.flatnonzero(paid[0])
                found[i] = instance.resources[js[0]] if js.size else None
            else:
                cells = np.argwhere(paid & instance.fits[i][:, None])
                found[i] = tuple(f"{instance.machine_names[k]}/{instance.resources[j]}" for k, j in cells) or None
    return tuple(found)
