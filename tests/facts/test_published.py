"""Every published number on these policies comes out: exactly where it is rational and the engine can, else to 1e-9."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from drfopt.base.numbers.enclosures import Enclosure
from drfopt.base.numbers.quantities import exact
from drfopt.certificates import whole
from drfopt.certificates.document import certificate_document
from drfopt.certificates.verifier import loads, verify
from drfopt.engines.problem import Problem
from drfopt.engines.registry import engines_for
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.model.policies import policy_named
from drfopt.solving.allocating import solve

FACTS = json.loads((Path(__file__).parent / "published.json").read_text(encoding="utf-8"))
CONTINUOUS = [fact for fact in FACTS if not fact["integer"]]
EXACT = [fact for fact in CONTINUOUS if policy_named(fact["policy"]).alpha != 0.5 and fact["policy"] != "per-server"]
WHOLE = [fact for fact in FACTS if fact["integer"]]


def instance_of(fact):
    given = fact["instance"]
    resources = given["resources"]
    machines = given.get("machines")
    return Instance(
        demands={user: dict(zip(resources, row, strict=True)) for user, row in given["demands"].items()},
        capacity=None if machines else dict(zip(resources, given["capacity"], strict=True)),
        machines=machines
        and [Machine(m["name"], dict(zip(resources, m["capacity"], strict=True)), m.get("count", 1)) for m in machines],
        weights={
            user: dict(zip(resources, w, strict=True)) if isinstance(w, list) else w
            for user, w in given.get("weights", {}).items()
        }
        or None,
        max_tasks=given.get("limits") or None,
        eligible=given.get("eligible"),
    )


def expected_tasks(fact):
    return [value if isinstance(value, float) else exact(value) for value in fact["tasks"]]


def test_there_are_facts_on_every_policy():
    policies = {fact["policy"].partition(":")[0] for fact in FACTS}
    assert policies == {
        "drf",
        "asset",
        "ceei",
        "single",
        "tasks",
        "tsf",
        "per-server",
        "utilitarian",
        "throughput",
        "alpha",
    }
    assert len(FACTS) > 120
    assert all(fact["source"] for fact in FACTS)
    assert len({fact["id"] for fact in FACTS}) == len(FACTS)


@pytest.mark.parametrize("fact", CONTINUOUS, ids=lambda fact: fact["id"])
def test_divisible_tasks(fact):
    instance, policy = instance_of(fact), policy_named(fact["policy"])
    tasks = expected_tasks(fact)
    engines = engines_for(Problem(instance, policy))
    assert engines
    for engine in engines:
        allocation = solve(instance, policy, engine=engine.name)
        assert allocation.certificate.valid
        if tasks:
            assert allocation.tasks == pytest.approx([float(x) for x in tasks], rel=1e-9, abs=1e-12), engine.name
        if "shares" in fact:
            shares = [float(exact(share)) for share in fact["shares"]]
            assert allocation.dominant_shares == pytest.approx(shares, rel=1e-9)
        if "saturated" in fact:
            full = {r for r, used in zip(instance.resources, allocation.utilization, strict=True) if used > 1 - 1e-9}
            assert full == set(fact["saturated"])
        if "prices" in fact:
            prices = [float(exact(price)) for price in fact["prices"]]
            assert allocation.prices == pytest.approx(prices, rel=1e-7, abs=1e-12)
    if "welfare" in fact:
        ours = solve(instance, policy).dominant_shares.sum()
        best = solve(instance, "utilitarian").dominant_shares.sum()
        assert [ours, best] == pytest.approx([float(exact(value)) for value in fact["welfare"]])


@pytest.mark.parametrize("fact", EXACT, ids=lambda fact: fact["id"])
def test_exactly_where_the_answer_is_rational(fact):
    allocation = solve(instance_of(fact), fact["policy"], exact=True)
    assert allocation.certificate.valid
    assert allocation.certificate.violation == 0
    if fact.get("irrational"):
        # Published as decimals: of an irrational optimum, which is enclosed.
        assert allocation.tasks.astype(float) == pytest.approx([float(x) for x in fact["tasks"]], rel=1e-12)
        assert any(isinstance(x, Enclosure) for x in allocation.tasks)
        return
    assert all(isinstance(level, Fraction) for level in allocation.levels)
    if fact["tasks"]:
        assert allocation.tasks.tolist() == expected_tasks(fact)
    if "shares" in fact:
        assert allocation.dominant_shares.tolist() == [exact(share) for share in fact["shares"]]
    if "prices" in fact:
        assert allocation.prices.tolist() == [exact(price) for price in fact["prices"]]
    report = verify(loads(json.dumps(certificate_document(allocation))))
    assert report.valid is True
    assert report.accuracy == 0


@pytest.mark.parametrize("fact", WHOLE, ids=lambda fact: fact["id"])
def test_whole_tasks(fact):
    instance, policy = instance_of(fact), policy_named(fact["policy"])
    allocation = solve(instance, policy, integer=True)
    assert allocation.certificate.valid
    assert allocation.tasks.dtype == np.int64
    # Optima need not be unique: what is compared is the exact score.
    published = whole.score(instance, policy, [int(exact(x)) for x in fact["tasks"]])
    assert whole.score(instance, policy, allocation.tasks.tolist()) == published


def test_theorem_5_is_irrational():
    fact = next(f for f in FACTS if f["id"] == "thm5-ceei-3users")
    tasks = solve(instance_of(fact), "ceei").tasks
    root = 373**0.5
    closed = [125 * (25 - root) / 63, 100 * (38 + root) / 1071, 25 * (root - 13) / 51]
    assert tasks == pytest.approx(closed, rel=1e-12)
