"""Every published fact on a property of these policies comes out, with the witness where one is printed."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from drfopt import Instance, audit
from drfopt.axioms.case import AuditCase
from drfopt.axioms.economy import cluster_of, exactly
from drfopt.axioms.manipulation.misreports import worth
from drfopt.axioms.outcomes import outcome
from drfopt.base.numbers.quantities import exact
from drfopt.model.policies import policy_named

FACTS = json.loads((Path(__file__).parent / "properties.json").read_text(encoding="utf-8"))
VERDICTS = {True: "holds", False: "fails"}


def row(values):
    return tuple(exact(value) for value in values)


def instance_of(fact):
    given = fact["instance"]
    weights = given.get("weights")
    return Instance(
        [list(row(demand)) for demand in given["demands"]],
        list(row(given["capacity"])),
        weights=weights and [list(row(w)) if isinstance(w, list) else exact(w) for w in weights],
    )


def audit_case_of(fact):
    return AuditCase(cluster_of(instance_of(fact)), policy_named(fact["policy"]), fact["integer"])


def facts_with(key):
    return pytest.mark.parametrize("fact", [f for f in FACTS if key in f], ids=lambda fact: fact["id"])


def test_there_are_facts_on_every_property_and_policy():
    assert {f["policy"].partition(":")[0] for f in FACTS} == {
        *("drf", "asset", "ceei", "single", "tasks", "utilitarian", "throughput", "alpha")
    }
    assert len({name for f in FACTS for name in f["verdicts"]}) == 10
    assert all(f["source"] for f in FACTS)
    assert len({f["id"] for f in FACTS}) == len(FACTS)


@facts_with("verdicts")
def test_the_verdicts(fact):
    found = audit(instance_of(fact), fact["policy"], list(fact["verdicts"]), integer=fact["integer"])
    assert {r.property: r.verdict for r in found.results} == {p: VERDICTS[v] for p, v in fact["verdicts"].items()}
    if not fact["policy"].startswith("alpha:0."):
        assert all(finding.exact for finding in found.results)


@facts_with("tasks")
def test_the_outcome(fact):
    assert audit_case_of(fact).truth.tasks == row(fact["tasks"])


@facts_with("witness")
def test_the_witness(fact):
    told = fact["witness"]
    finding = audit(instance_of(fact), fact["policy"], told["property"], integer=fact["integer"]).results[0]
    numbers = asdict(finding.witness)
    for key, value in told.items():
        if key in ("user", "other", "leaver"):
            assert numbers[key] == value
        elif isinstance(value, list):
            assert numbers[key] == row(value)
        elif key != "property":
            assert numbers[key] == exact(value)
            assert value in str(finding.witness)


@facts_with("left")
def test_what_happens_when_a_user_leaves(fact):
    after = audit_case_of(fact).without(fact["left"]["leaver"])
    assert after.tasks == row(fact["left"]["tasks"])


@facts_with("grown")
def test_what_happens_when_the_cluster_grows(fact):
    audit_case, grown = audit_case_of(fact), row(fact["grown"]["capacity"])
    (j,) = (j for j, (old, new) in enumerate(zip(audit_case.cluster.pool, grown, strict=True)) if old != new)
    assert audit_case.run(audit_case.cluster.with_capacity(j, grown[j])).tasks == row(fact["grown"]["tasks"])


@facts_with("lie")
def test_what_a_lie_brings(fact):
    lie = fact["lie"]
    value, _ = worth(audit_case_of(fact), lie["user"], row(lie["report"]))
    assert exactly(value)
    assert value == exact(lie["value"])


def test_no_justified_complaints_does_not_make_envy_free():
    # An allocation, not a policy: computed here from the definitions.
    cluster = cluster_of(Instance([[1, 0], [1, 0], [1, 6]], [1, 1]))
    tasks = row(["1/3", "1/2", "1/6"])
    assert sum(x * d[0] for x, d in zip(tasks, cluster.demands, strict=True)) == 1
    assert all(
        x * d[0] >= exact("1/3") or x * d[1] >= exact("1/3") for x, d in zip(tasks, cluster.demands, strict=True)
    )
    assert tasks[0] < tasks[1]


def test_the_market_of_theorem_5_is_irrational_and_enclosed():
    found = outcome(cluster_of(Instance.library("thm5")), policy_named("ceei")).tasks
    polynomials = ((63, -6250, 62500), (1071, -7600, 10000), (51, 650, -2500))
    for x, (a, b, c) in zip(found, polynomials, strict=True):
        signs = [a * end * end + b * end + c > 0 for end in (x.lower, x.upper)]
        assert signs[0] != signs[1]
        assert x.upper - x.lower < 1e-20
