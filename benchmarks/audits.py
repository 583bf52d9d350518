"""Questions about audits and searches: the enumeration of a space, its throughput, what it finds, and two workers."""

import math
import random
import time
from collections.abc import Callable
from fractions import Fraction
from itertools import islice
from pathlib import Path

from drfopt.axioms import claims, exact_market
from drfopt.axioms.auditing import audit
from drfopt.axioms.case import AuditCase
from drfopt.axioms.counterexamples.searching import Search, search
from drfopt.axioms.counterexamples.space import Case as Small
from drfopt.axioms.counterexamples.space import Question, Space
from drfopt.axioms.economy import cluster_of, high, low
from drfopt.axioms.manipulation import against_markets, misreports
from drfopt.axioms.manipulation.misreports import Response
from drfopt.axioms.properties.property_table import EIGHT
from drfopt.base.errors import DrfoptError
from drfopt.model.instance import Instance
from drfopt.model.policies import policy_named
from drfopt.solving.allocating import solve

from .families import family_named
from .measure import Bench, Case, Failure, Row, Verdict, Way

__all__ = [
    "CELLS",
    "EXHAUSTIVE",
    "audit_growth",
    "best_misreports",
    "enumerate_drf",
    "find_counterexamples",
    "search_throughput",
]

EXHAUSTIVE = Space(users=3, resources=2, max_demand=4, max_capacity=4, zero_demands=True)
"""Every pool of 2 resources with 1 to 4 units and 3 users who need 0 to 4: 16 x C(24 + 2, 3) = 41,600."""

PAPER = {row.name for row in EIGHT}

CELLS = tuple(c for c in claims.CLAIMS if c.verdict == "fails" and c.domain == claims.POSITIVE and c.property in PAPER)
"""The cells of the paper's eight properties that fail with positive demands."""

FORMULATION = str(Path(__file__).resolve().parents[1] / "formulations" / "drf.py")

SPACES = ((2, 1, 3, 2), (2, 2, 3, 3), (3, 2, 3, 2))
"""Users, resources, largest demand and capacity of the spaces that are searched in turn for a cell."""


def enumerate_drf(bench: Bench, size: int) -> list[Row]:
    """Measure the complete enumeration, all eight properties, with so many as the largest demand and capacity."""
    space = Space(users=3, resources=2, max_demand=size, max_capacity=size, zero_demands=True)
    expected = size**2 * _multisets((size + 1) ** 2 - 1, 3)

    def judge(space: Space, found: Search) -> Verdict:
        if found.seen != found.total or found.total != expected or not found.complete:
            return Verdict(proof="invalid", note=f"{found.seen:,} of {expected:,} cases")
        failing = [name for name, count in found.verdicts.items() if count["fails"]]
        note = f"{found.seen:,} cases, {found.audited:,} audited; fails: {', '.join(failing)}"
        return Verdict(proof="valid", note=note)

    ways = tuple(
        Way(name, "drfopt", lambda space, jobs=jobs: search("drf", None, space, jobs=jobs), judge)
        for name, jobs in (("one worker", 1), ("two workers", 2))
    )

    def warm() -> Space:
        # Worker processes are started once and kept: what is measured is the search.
        search("drf", "pareto-efficiency", Space(1, 1, 2, 2), jobs=2)
        return space

    case = Case("all eight properties", f"0..{size}", 3, warm, ways, "the closed form", yardstick="")
    return bench.measure("audit-enumeration", case)


def _multisets(kinds: int, size: int) -> int:
    """Return how many sets of `size` there are of so many kinds, equal ones allowed."""
    total = 1
    for k in range(size):
        total = total * (kinds + k) // (k + 1)
    return total


def search_throughput(bench: Bench, policy: str) -> list[Row]:
    """Measure population monotonicity of the same cases, audited and by one solve a cluster through cvxpy."""
    space = Space(users=3, resources=2, max_demand=4, max_capacity=4)
    cases = list(islice((c for unit in range(7, space.units, 5) for c in space.cases(unit)), 0, 400, 40))

    def audited(cases: list[Small]) -> list[bool]:
        # Markets are remembered between cases; what an earlier repetition found must not count.
        exact_market._market.cache_clear()
        question = Question(policy, ("population-monotonicity",), space)
        return [question.findings(case)[0].verdict == "fails" for case in cases]

    def judge(cases: list[Small], answer: list[bool]) -> Verdict:
        same = answer == audited(cases)
        return Verdict(proof="valid" if same else "", note=f"{sum(answer)} of {len(answer)} fail")

    ways = (
        Way("one solve a case, cvxpy", "yardstick", lambda cases: [_loses(case, policy) for case in cases], judge),
        Way("audit, exact", "drfopt", audited, judge),
    )
    case = Case("throughput", policy, len(cases), lambda: list(cases), ways, yardstick="cvxpy")
    return bench.measure("audit-throughput", case)


def _loses(case: Small, policy: str) -> bool:
    """Say whether somebody loses when another leaves, by as many solves as there are clusters, in floats."""

    def tasks(users: tuple) -> list[float]:
        instance = Small(case.rooms, users).cluster().instance()
        try:
            if policy == "ceei":
                return solve(instance, "ceei", engine="conic").tasks.tolist()
            return solve(instance, FORMULATION).tasks.tolist()
        except DrfoptError as error:
            raise Failure(str(error)) from error

    everybody = tasks(case.users)
    for leaver in range(len(case.users)):
        after = tasks(case.users[:leaver] + case.users[leaver + 1 :])
        before = everybody[:leaver] + everybody[leaver + 1 :]
        if any(y < x * (1 - TIE) for x, y in zip(before, after, strict=True)):
            return True
    return False


TIE = 1e-6
"""What a conic solver's answers are believed to in a comparison."""


def find_counterexamples(bench: Bench, size: str) -> list[Row]:
    """Measure how long it takes to find a counterexample for every failing cell of a policy, or of all."""
    chosen = tuple(c for c in CELLS if size in ("all", c.policy))

    def judge(cells: tuple, found: list[Search]) -> Verdict:
        missing = [f"{c.policy} {c.property}" for c, s in zip(cells, found, strict=True) if not s.counterexamples]
        inexact = sum(not x.finding.exact for s in found for x in s.counterexamples)
        note = f"{len(cells) - len(missing)} of {len(cells)} cells found, {inexact} of them to a certificate's error"
        return Verdict(proof="invalid" if missing else "valid", note=note + "".join(f"; not {m}" for m in missing))

    def by(jobs: int) -> Callable[[tuple], list[Search]]:
        return lambda cells: [_found(claim, jobs) for claim in cells]

    ways = tuple(Way(f"{jobs} workers", "drfopt", by(jobs), judge) for jobs in (1, 2))
    case = Case("counterexamples", size, len(chosen), lambda: chosen, ways, "the table of claims", yardstick="")
    return bench.measure("audit-counterexamples", case)


def _found(claim: claims.PropertyClaim, jobs: int) -> Search:
    """Search growing spaces for one cell, without being told where but for the resources that a path is of."""
    path = policy_named(claim.policy).path
    for space in (Space(*size) for size in SPACES):
        if path is not None and path.m != space.resources:
            continue
        found = search(claim.policy, claim.property, space, first=True, jobs=jobs)
        if found.counterexamples:
            break
    return found


LIARS = 6
"""Users of a market whose best lies are looked for."""


LINEAR = ("strategy-proofness", "sharing-incentive", "envy-freeness", "pareto-efficiency", "resource-monotonicity")
"""Properties that one pass over the users decides under leximin."""


def audit_growth(bench: Bench, size: tuple[str, int]) -> list[Row]:
    """Measure the audit of DRF on one pool for n users, property by property, beside an exact solve."""
    family, n = size

    def seconds(name: str, users: int) -> float:
        instance = family_named(family).build(users)
        begun = time.process_time()
        audit(instance, "drf", name)
        return time.process_time() - begun

    def judge(name: str) -> Verdict:
        small, large = (min(seconds(name, users) for _ in range(2)) for users in (n // 4, n))
        return Verdict(note=f"exponent {math.log(large / small, 4):.2f} from a quarter as many, in CPU seconds")

    ways = (
        Way("exact solve", "yardstick", lambda instance: solve(instance, "drf", exact=True)),
        *(
            Way(
                name,
                "drfopt",
                lambda instance, name=name: audit(instance, "drf", name),
                lambda i, a, name=name: judge(name),
            )
            for name in LINEAR
        ),
    )
    case = Case(family, f"n = {n:,}", n, lambda: family_named(family).build(n), ways, yardstick="exact solve")
    return bench.measure("audit-growth", case)


def best_misreports(bench: Bench, size: tuple[int, int]) -> list[Row]:
    """Measure the best lies of all users of a market with equal incomes, by the bound and by trying reports."""
    resources, limits = size

    def build() -> AuditCase:
        dice = random.Random(17)
        rows = [[dice.randint(1, 9) for _ in range(resources)] for _ in range(LIARS)]
        most = [Fraction(1, 60) if i < limits else None for i in range(LIARS)]
        return AuditCase(cluster_of(Instance(rows, [1] * resources, max_tasks=most)), policy_named("ceei"))

    def judge(audit_case: AuditCase, found: list[Response]) -> Verdict:
        lies = [r for r in found if r.report is not None and r.value is not None]
        decided = sum(r.decided and (r.report is None or r.most is not None) for r in found)
        gaps = [float(high(r.most) / low(r.value)) - 1 for r in lies if r.most is not None]
        truths = zip(found, audit_case.truth.tasks, strict=True)
        gains = [float(low(r.value) / high(x)) - 1 for r, x in truths if r.report is not None and r.value is not None]
        note = f"{decided} of {len(found)} certified, {len(lies)} lie, the best for {max(gains, default=0):.1%} more"
        note += f", at most {max(gaps):.0e} below the bound" if gaps else ""
        return Verdict(proof="valid" if decided == len(found) else "", note=note)

    ways = (
        Way("bound in fractions", "drfopt", lambda s: [against_markets.best(s, i) for i in range(LIARS)], judge),
        Way("reports tried", "yardstick", lambda s: [misreports.best(s, i) for i in range(LIARS)], judge),
    )
    case = Case("best lies", f"{resources} resources, {limits} limits", LIARS, build, ways, yardstick="reports tried")
    return bench.measure("audit-lies", case)
