"""Which properties a policy has on every instance: the claims, and where there are none, a search of small ones."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from ..base.deadline import Deadline
from ..model.policies import AnyPolicy, Policy, policy_named
from .auditing import Audit, audit
from .claim_rows import ASKEW, BENT
from .claims import BREAKS, HOLDS, POLICIES, POSITIVE, WHOLE, PropertyClaim, claim_for
from .counterexamples.searching import in_whole, search, told
from .counterexamples.space import Space
from .properties.table import PROPERTIES, properties_named
from .verdicts import FAILS, UNDECIDED, Finding

__all__ = ["audit_policy"]

SHORTEST = 0.1
"""Seconds that a search is given when the time is over: the next look at the clock ends the audit."""

SPACES = (Space(2, 2, 2, 2), Space(3, 2, 2, 2))
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
    deadline = Deadline.after(time_limit)
    integer = in_whole(SPACES[0], chosen, integer)
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
                return replace(finding, note=told(instance))
    tried = 0
    resources = 2 if policy.path is None else policy.path.m
    for space in (replace(space, resources=resources) for space in SPACES):
        result = search(policy, name, space, integer=integer, first=True, time_limit=deadline.left(least=SHORTEST))
        tried += result.audited
        for counterexample in result.counterexamples:
            return replace(counterexample.finding, note=told(counterexample.instance))
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
