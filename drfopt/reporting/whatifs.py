"""What the document says of sweeps and of changes: a row a value, and every user before and after."""

from dataclasses import asdict
from typing import Any

from ..model.allocation import Allocation
from ..planning.baseline import Baseline
from ..planning.before_and_after import WhatIf, as_float
from ..planning.sweeping import Sweep
from .measures import measures, weighted_shares

__all__ = ["sweep_to_dict", "whatif_to_dict"]

PAGE = {"levels": "drf"}
"""What a level is on a page, whatever the policy."""

VERDICTS = ("wins", "loses", "same", "joins", "leaves")
"""What changes may do to a user."""


def sweep_to_dict(sweep: Sweep) -> dict[str, Any]:
    """Return one row a value, in the measures of the page and in shares of the cluster as it is."""
    return {
        "policy": sweep.policy,
        "axis": sweep.axis.name,
        "finished": sweep.finished,
        "caveats": sweep.caveats(),
        "resources": list(sweep.instance.resources),
        "measured_in": sweep.baseline.measured_in | PAGE,
        "steps": [
            {
                "at": float(value),
                **asdict(measures(allocation, sweep.baseline)),
                "tasks": float(allocation.tasks.sum()),
                "demand_met": totals["demand met"],
                "used": allocation.utilization.astype(float).tolist(),
            }
            for value, totals, allocation in zip(sweep.values, sweep.totals, sweep.allocations, strict=True)
        ],
    }


def whatif_to_dict(found: WhatIf) -> dict[str, Any]:
    """Return the two clusters in one number each and every user before and after; fractions as floats."""
    users = [(row.user, as_float(row.before), as_float(row.after), row.verdict) for row in found.users]
    return {
        "policy": found.before.policy,
        "integer": found.before.integer,
        "changes": [str(change) for change in found.changes],
        "finished": found.finished,
        "caveats": found.caveats(),
        "verdicts": {verdict: sum(row[3] == verdict for row in users) for verdict in VERDICTS},
        "measured_in": found.baseline.measured_in | PAGE,
        "totals": [
            {"when": when, **{name: as_float(pair[side]) for name, pair in found.totals().items()}}
            | {"lowest level": _lowest(allocation, found.baseline)}
            for side, (when, allocation) in enumerate((("before", found.before), ("after", found.after)))
        ],
        "users": [
            {
                "name": name,
                "before": before,
                "after": after,
                "change": None if before is None or after is None else 0.0 if verdict == "same" else after - before,
                "part": _part(before, after, verdict),
                "verdict": verdict,
            }
            for name, before, after, verdict in users
        ],
    }


def _lowest(allocation: Allocation, baseline: Baseline) -> float:
    levels, there = weighted_shares(allocation, baseline)
    return float(levels[there].min()) if there.any() else 0.0


def _part(before: float | None, after: float | None, verdict: str) -> float | None:
    """Return the change relative to what there was before; None where that was nothing."""
    if verdict == "same":
        return 0.0
    return None if not before or after is None else after / before - 1
