"""Whether the file that proves an answer is accepted, and one that says a little less is not."""

import copy
import json
from typing import Any

from judge import Verdict, fraction

from drfopt import Allocation
from drfopt.certificates.document import certificate_document
from drfopt.certificates.verifier import loads, verify
from drfopt.model.policies import policy_named

__all__ = ["filed"]

LESS = 1 - 1e-6
"""Part of its divisible tasks that a forged file leaves to a user."""


def filed(found: Allocation) -> Verdict:
    """Return ``right`` where a file is accepted, ``not decided`` where it is left open, else ``wrong``."""
    data = json.loads(json.dumps(certificate_document(found)))
    report = verify(loads(json.dumps(data)))
    if report.valid is False:
        return Verdict("wrong", f"its own file is refused: {next(c for c in report.checks if c.holds is False)}")
    if report.valid and (forged := _forged(found, data)) is not None and _accepted(forged):
        return Verdict("wrong", "a file in which somebody has less is accepted")
    if report.valid is None:
        return Verdict("not decided", str(next(c for c in report.checks if c.holds is None)))
    return Verdict("right")


def _accepted(data: dict[str, Any]) -> bool:
    try:
        return verify(loads(json.dumps(data))).valid is True
    except ValueError:  # It is no certificate at all.
        return False


def _forged(found: Allocation, data: dict[str, Any]) -> dict[str, Any] | None:
    """Return a file in which who has the highest level has less, None where that is not simple."""
    levels = [fraction(y) for y in found.levels.tolist()]
    worst = max(range(len(levels)), key=levels.__getitem__)
    name = found.users[worst]
    if not levels[worst] or name in data.get("types", {}) or policy_named(found.policy).objective == "formulation":
        return None
    forged = copy.deepcopy(data)
    for row in forged["users"]:
        row.pop("level")
    row, placed = forged["users"][worst], forged.get("placement", {}).get(name, {})
    if found.integer:
        row["tasks"] -= 1
        packing, servers = forged["proof"].get("packing", []), forged["proof"].get("servers", [])
        for at, entry in enumerate(packing):
            if entry["tasks"].get(name):
                # One machine runs one task less, and the others what they ran.
                packing.append(entry | {"machines": 1, "tasks": entry["tasks"] | {name: entry["tasks"][name] - 1}})
                servers += servers[at : at + 1]
                entry["machines"] -= 1
                placed[entry["class"]] -= 1
                break
        return forged
    if isinstance(row["tasks"], float):
        row["tasks"] *= LESS
        for k in placed:
            placed[k] *= LESS
        return forged
    return None
