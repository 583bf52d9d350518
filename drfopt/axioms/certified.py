"""An audit as a file that the verifier decides: the answers that are compared, each with its proof, and who loses.

Nothing of the audit's own numbers is written but whom it names: the verifier finds the amounts in the answers.
"""

import json
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from ..base.errors import EngineError, PolicyError
from ..certificates.document import certificate_document
from ..certificates.verifier import AUDITS, loads, verify
from ..model.instance import Instance
from ..model.policies import policy_named
from ..solving.allocating import solve
from .case import AuditCase
from .economy import Economy, cluster_of, low
from .outcomes import rates
from .properties.bottleneck_fairness import NotMaxMin, fairest, sorted_shares
from .properties.monotonicity import POPULATION, Harmed, Shrunk, grown
from .properties.pareto_efficiency import Waste, together
from .properties.strategy_proofness import Conspiracy, Misreport
from .verdicts import FAILS, HOLDS, Finding

__all__ = ["audits_document", "proof_of"]

LEAVERS = 50
"""Users up to which the answer without each of them is written, where nobody loses when another leaves."""

BY_A_TIE = "rests on a tie"
"""The verdict where the answer that is proven is another optimum than the one that was audited."""


def audits_document(audits: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return what ``drfopt audit --certificate`` writes, from the proofs of one audit or more."""
    return {"schema": AUDITS, "audits": list(audits)}


def proof_of(instance: Instance, policy: str, integer: bool, results: Sequence[Finding]) -> dict[str, Any]:
    """Return the answer under a policy with its proof, and every verdict with the other answers that show it.

    Raises
    ------
    PolicyError
        Of a formulation file, which says itself what is best.
    """
    if policy.endswith(".py"):
        raise PolicyError(f"{policy} says itself what is best, so that no file proves its answers: name a policy")
    truth, plain = _answer(instance, policy, integer), not instance.features
    case = AuditCase(cluster_of(instance), policy_named(policy), integer) if plain else None
    rows = [_told(finding, case, truth) for finding in results]
    for row, finding in zip(rows, results, strict=True):
        if (finding.tied or integer) and finding.verdict in (HOLDS, FAILS):
            file = audits_document([{"truth": truth, "findings": [row]}])
            if verify(loads(json.dumps(file)), bounded=False).valid is False:
                row |= {"verdict": BY_A_TIE, "why": "the answer that is proven is another optimum than the audited one"}
    return {"truth": truth, "findings": rows}


def _answer(instance: Instance, policy: str, integer: bool) -> dict[str, Any]:
    """Return an answer with its proof, in fractions where an engine computes it so."""
    try:
        return certificate_document(solve(instance, policy, exact=not integer, integer=integer))
    except EngineError:
        return certificate_document(solve(instance, policy, integer=integer))


def _told(finding: Finding, case: AuditCase | None, truth: dict[str, Any]) -> dict[str, Any]:
    """Return a verdict: who loses, and the other answers."""
    witness = finding.witness
    row: dict[str, Any] = {"property": finding.property, "verdict": finding.verdict}
    if finding.note:
        row["why"] = finding.note
    if case is None:
        return row
    at = case.cluster.users.index
    clusters: list[Economy] = []
    if isinstance(user := getattr(witness, "user", None), str):
        row["user"] = user
    if isinstance(other := getattr(witness, "other", None) or getattr(witness, "leaver", None), str):
        row["other"] = other
    match witness:
        case Misreport():
            clusters = [case.cluster.reporting(at(witness.user), witness.report)]
        case Conspiracy():
            row["users"] = list(witness.users)
            reports = dict(zip(map(at, witness.users), witness.reports, strict=True))
            clusters = [case.cluster.reporting_all(reports)]
        case Harmed():
            clusters = [case.cluster.without(at(witness.leaver))]
        case Shrunk():
            clusters = [grown(case, witness)]
        case Waste() if case.cluster.machines is not None and not case.integer:
            row["after"] = [truth | {"proof": {}} | _improved(case)]
        case NotMaxMin():
            row |= _fairer(case, witness, truth)
        case None if finding.property == POPULATION and finding.verdict == HOLDS and 1 < case.cluster.n <= LEAVERS:
            clusters = [case.cluster.without(i) for i in range(case.cluster.n)]
    if clusters:
        row["after"] = [_answer(cluster.instance(), case.policy.name, case.integer) for cluster in clusters]
    return row


def _improved(case: AuditCase) -> dict[str, Any]:
    """Return a division on machines in which somebody has more, and nobody less."""
    cluster = case.cluster
    placed = together(cluster, [low(x) for x in case.given.tasks], case.deadline)
    rows = {
        user: {m.name: str(placed[i, k]) for k, m in enumerate(cluster.machines or ()) if placed.get((i, k))}
        for i, user in enumerate(cluster.users)
    }
    tasks = [sum(map(Fraction, row.values()), Fraction(0)) for row in rows.values()]
    return {"users": _rows(case, tasks), "placement": rows}


def _fairer(case: AuditCase, witness: NotMaxMin, truth: dict[str, Any]) -> dict[str, Any]:
    """Return the fairest whole tasks in shares of a resource, and who holds less than somebody does there."""
    cluster, j = case.cluster, case.cluster.resources.index(witness.resource)
    each = [row[j] / cluster.pool[j] / cluster.weight(i, j) for i, row in enumerate(cluster.demands)]
    tasks = fairest(cluster, j, each)
    after = truth | {"users": _rows(case, tasks), "proof": {}}
    held = (rate * Fraction(row["tasks"]) for rate, row in zip(each, truth["users"], strict=True))
    mine = sorted(zip(held, cluster.users, strict=True))
    user = next(
        (name for (share, name), more in zip(mine, sorted_shares(each, tasks), strict=True) if share != more), ""
    )
    return {"user": user, "after": [after]}


def _rows(case: AuditCase, tasks: Sequence[Any]) -> list[dict[str, Any]]:
    told = zip(case.cluster.users, tasks, rates(case.cluster, case.policy), strict=True)
    return [{"name": user, "tasks": str(x), "level": str(rate * x)} for user, x, rate in told]
