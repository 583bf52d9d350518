"""The claims asked and proven again: what fails on its instance, what holds on the small instances of its domain.

Which properties a policy has on every instance: the claims, and where there are none, a search of small ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

from ..base.deadline import Deadline
from ..base.errors import PolicyError, suggestion
from ..base.tables import Column, Sheet
from ..model.paths import AMONG, BETWEEN
from ..model.policies import ALIASES, AnyPolicy, Policy, policy_named
from .auditing import Audit, audit
from .certified import audits_document, proof_of
from .claim_rows import (
    ASKEW,
    BENT,
    BREAKS,
    CLAIMS,
    DOMAINS,
    HOLDS,
    MACHINES,
    POSITIVE,
    SHORT,
    TIES,
    WHOLE,
    ZERO,
    PropertyClaim,
)
from .counterexamples.searching import Search, in_whole, search
from .counterexamples.space import Space, in_one_line
from .properties.property_table import PROPERTIES, properties_named
from .verdicts import FAILS, UNDECIDED, Finding

__all__ = [
    "BREAKS",
    "CLAIMS",
    "DOMAINS",
    "HOLDS",
    "MACHINES",
    "POSITIVE",
    "WHOLE",
    "ZERO",
    "PropertyClaim",
    "TestedClaim",
    "audit_policy",
    "certificate",
    "claim_for",
    "cut",
    "proven",
    "selected",
    "sheet",
    "table",
]


CALLED = {
    "single:r1": "max-min on one resource",
    BENT: "paths through the equal split",
    ASKEW: "paths past the equal split",
    "alpha:2": "alpha fairness, alpha > 1",
    "alpha:0.5": "alpha fairness, alpha < 1",
}
"""A policy with an argument stands for all of its kind."""

POLICIES = tuple(dict.fromkeys(claim.policy for claim in CLAIMS))


def claim_for(policy: str, property: str, domain: str) -> PropertyClaim | None:
    """Return the claim that settles a cell, by implication where it stands in another domain; None where none does.

    Raises
    ------
    PolicyError
        When the table has no such policy, property or domain.
    """
    policy = ALIASES.get(policy, policy)
    for word, known in ((policy, POLICIES), (property, tuple(SHORT.values())), (domain, DOMAINS)):
        if word not in known:
            raise PolicyError(f"no claim speaks of {word!r}{suggestion(word, known)} (known: {', '.join(known)})")
    rows = {c.domain: c for c in CLAIMS if c.policy == policy and c.property == property}
    if domain in rows:
        return rows[domain]
    wider, narrower = rows.get(ZERO), rows.get(POSITIVE)
    if domain == MACHINES:
        return None
    if domain == POSITIVE and wider is not None and wider.verdict != BREAKS:
        return wider
    if domain == ZERO and narrower is not None and narrower.verdict == BREAKS:
        return narrower
    return None


# ---- proving them again --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TestedClaim:
    """A claim after it has been put to the test.

    Attributes
    ----------
    claim : PropertyClaim
    stands : bool
        Its instance fails as claimed, or no small instance of its domain fails.
    finding : Finding or None
        What the audit of its instance found.
    tried : int
        Instances of the domain that were audited.
    """

    claim: PropertyClaim
    stands: bool
    finding: Finding | None = None
    tried: int = 0

    def __str__(self) -> str:
        if self.finding is not None:
            return str(self.finding.witness or self.finding.verdict)
        if self.claim.verdict == TIES:
            return self.claim.because
        return f"{self.claim.because}; {self.tried} instances audited without a violation"


def certificate(tested: Sequence[TestedClaim]) -> dict[str, Any]:
    """Return what ``drfopt theorems --certificate`` writes: every counterexample with its proofs, for `drfopt.verify`.

    That a property holds of every instance is a theorem; that small ones were audited proves nothing of the others.

    Raises
    ------
    PolicyError
        When no claim is shown by a counterexample.
    """
    shown = [(one.claim, one.finding) for one in tested if one.finding is not None]
    if not shown:
        raise PolicyError("no file proves what holds of every instance: choose claims that fail")
    return audits_document(proof_of(c.instance(), c.policy, c.integer, [finding]) for c, finding in shown)


def proven(claim: PropertyClaim) -> TestedClaim:
    """Return what is left of a claim after its instance, or every small instance of its domain, has been audited."""
    if claim.verdict == TIES:
        return TestedClaim(claim, stands=True)
    if claim.verdict == BREAKS:
        finding = audit(claim.instance(), claim.policy, claim.property, integer=claim.integer).results[0]
        return TestedClaim(claim, finding.verdict == FAILS and not finding.tied, finding)
    tried, failed = 0, 0
    for space in SPACES:
        found = _survey(claim.policy, claim.domain, space)
        tried += found.audited
        failed += found.verdicts[claim.property][FAILS]
    return TestedClaim(claim, failed == 0, tried=tried)


SPACES = ((2, 2, 3), (3, 1, 3), (3, 2, 2))
"""Users, resources and largest number of the spaces that a claim to hold must survive whenever it is told."""

DRAWN = 40
"""Instances drawn from each of them on two machines, where there are too many to try all in seconds."""


@cache
def _survey(policy: str, domain: str, size: tuple[int, int, int]) -> Search:
    """Audit the properties that a policy is claimed to have on all instances of one size."""
    claimed = [c.property for c in CLAIMS if c.policy == policy and c.domain == domain and c.verdict == HOLDS]
    users, resources, largest = size
    machines = 2 if domain == MACHINES else 0
    space = Space(
        users,
        resources,
        largest,
        largest + (domain == WHOLE),
        zero_demands=domain == ZERO,
        machines=machines,
        sample=DRAWN if machines else 0,
    )
    return search(cut(policy, resources), claimed, space, integer=domain == WHOLE)


def cut(policy: str, resources: int) -> str:
    """Return a policy for so many resources: of a path, its first coordinates."""
    word, _, bundles = policy.partition(":")
    if word != "path":
        return policy
    return f"{word}:{BETWEEN.join(AMONG.join(b.split(AMONG)[:resources]) for b in bundles.split(BETWEEN))}"


# ---- as tables -----------------------------------------------------------------------------------------------------


def table(domains: Sequence[str] = DOMAINS) -> str:
    """Return the table of claims in Markdown, a row a policy and domain, as README has it."""
    heading = ["policy", "domain", *SHORT]
    lines = [heading, ["---"] * len(heading)]
    for policy in POLICIES:
        for domain in domains:
            cells = [claim_for(policy, name, domain) for name in SHORT.values()]
            if any(cells):
                name = CALLED.get(policy, f"`{policy}`")
                lines.append([name, domain, *(MARKS[c.verdict] if c else "" for c in cells)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


MARKS = {HOLDS: "yes", BREAKS: "no", TIES: "tie"}


def sheet(standings: Sequence[TestedClaim]) -> Sheet:
    """Return what was claimed and what the test of it said, a row a claim."""
    letters = {name: short for short, name in SHORT.items()}
    rows = [
        (
            s.claim.policy,
            letters[s.claim.property],
            s.claim.domain,
            s.claim.verdict if s.stands else f"claimed: {s.claim.verdict}; NOT CONFIRMED",
            s.claim.at,
            str(s),
        )
        for s in standings
    ]
    columns = tuple(map(Column, ("policy", "property", "domain", "verdict", "instance", "because")))
    document = [
        {
            "policy": s.claim.policy,
            "property": s.claim.property,
            "domain": s.claim.domain,
            "verdict": s.claim.verdict,
            "confirmed": s.stands,
            "instance": s.claim.at or None,
            "because": str(s),
            "source": s.claim.source,
            "tried": s.tried,
        }
        for s in standings
    ]
    notes = (
        ", ".join(f"{short} {name}" for short, name in SHORT.items()),
        "a property that holds with zero demands holds without them; one that fails without them fails with them",
        "instance: capacities | demands of the users; 'holds' rests on its proof, and survived the instances audited",
        "users have equal weights; with a weight for every resource drf loses SI and BF: drfopt audit vector-weights",
    )
    return Sheet(f"{len(rows)} claims", columns, rows, notes, document=lambda: document)


def selected(policy: str | None = None, property: str | None = None) -> tuple[PropertyClaim, ...]:
    """Return the claims on a policy and a property, or on all of them."""
    policy = None if policy is None else ALIASES.get(policy, policy)
    if policy is not None and policy not in POLICIES:
        raise PolicyError(f"no claim speaks of {policy!r}{suggestion(policy, POLICIES)} (known: {', '.join(POLICIES)})")
    names = {row.name for row in properties_named(property)} if property else set(SHORT.values())
    return tuple(c for c in CLAIMS if policy in (None, c.policy) and c.property in names)


SHORTEST = 0.1
"""Seconds that a search is given when the time is over: the next look at the clock ends the audit."""

SEARCHED = (Space(2, 2, 2, 2), Space(3, 2, 2, 2))
"""What is searched for a policy or a property that no claim speaks of."""


def audit_policy(
    policy: AnyPolicy,
    properties: Sequence[str] | str | None = None,
    *,
    integer: bool = False,
    time_limit: float | None = None,
) -> Audit:
    """Return what is known of a policy on all instances with positive demands, or with whole tasks.

    A property holds by the proof its claim names; it fails on an instance, which is audited and told; and of what no
    claim speaks small instances are searched.
    """
    chosen = policy_named(policy)
    if chosen.measure == "single":
        # The resources of claims and searches are r1, r2 and so on, and one is as good as another.
        chosen = policy_named("single:r1")
    deadline = Deadline.asked(time_limit)
    integer = in_whole(SEARCHED[0], chosen, integer)
    found = tuple(_finding(chosen, row.name, integer, deadline) for row in properties_named(properties))
    return Audit(None, policy_named(policy).name, integer, found)


def _finding(policy: Policy, name: str, integer: bool, deadline: Deadline) -> Finding:
    deadline.check("the audit")
    claim = _claim(policy, name, WHOLE if integer else POSITIVE)
    if claim is not None and claim.verdict == HOLDS:
        return Finding(name, HOLDS, note=claim.because)
    if claim is not None and claim.verdict == BREAKS:
        instance = claim.instance()
        if policy.path is None or policy.path.m == instance.m:
            finding = audit(instance, policy, name, integer=integer).results[0]
            if finding.verdict == FAILS:
                return replace(finding, note=in_one_line(instance))
    tried = 0
    resources = 2 if policy.path is None else policy.path.m
    for space in (replace(space, resources=resources) for space in SEARCHED):
        result = search(policy, name, space, integer=integer, first=True, time_limit=deadline.left(least=SHORTEST))
        tried += result.audited
        for counterexample in result.counterexamples:
            return replace(counterexample.finding, note=in_one_line(counterexample.instance))
    note = claim.because if claim is not None else f"in {tried} small instances"
    return Finding(name, UNDECIDED, exact=False, trials=tried, note=note)


def _claim(policy: Policy, name: str, domain: str) -> PropertyClaim | None:
    """Return the claim on the policy, or on all of its kind."""
    kind = policy.name
    if policy.objective == "alpha":
        kind = "ceei" if policy.alpha == 1 else ("alpha:2" if policy.alpha > 1 else "alpha:0.5")
    elif policy.name.startswith("alpha:"):
        kind = "utilitarian"
    elif policy.path is not None:
        # Straight up to the equal split of two users it passes through those of more as well.
        straight = len(set(policy.path.slopes[0])) == 1
        kind = BENT if straight and policy.path.knots[1][0] >= Fraction(1, 2) else ASKEW
    known = kind in POLICIES and name in {row.name for row in PROPERTIES}
    return claim_for(kind, name, domain) if known else None
