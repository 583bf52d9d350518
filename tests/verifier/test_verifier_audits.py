"""Files of audits: the package's own are decided, and each thing they say is refused when it is another."""

import copy
import json

import pytest
from typer.testing import CliRunner

from drfopt import Instance, Machine, audit
from drfopt.axioms.claims import CLAIMS
from drfopt.axioms.theorems import THEOREMS
from drfopt.base.errors import PolicyError
from drfopt.certificates.verifier import loads
from drfopt.certificates.verifier import verify as verified
from drfopt.cli.app import app
from drfopt.io.documents.allocation_models import AuditCertificateFile

PM, RM, SP = "population-monotonicity", "resource-monotonicity", "strategy-proofness"

UNEVEN = next(c for c in CLAIMS if (c.policy, c.property, c.domain) == ("tasks", "bottleneck-fairness", "whole tasks"))

LOST = [
    ("sharing-incentive", "asset", "thm1", {}),
    ("bottleneck-fairness", "asset", "thm2", {}),
    (RM, "asset", "thm3", {}),
    (SP, "ceei", "thm4", {}),
    (PM, "ceei", "thm5", {}),
    (SP, "drf", "nsdi2011", {"integer": True}),
    (SP, "utilitarian", "nsdi2011", {}),
    ("no-justified-complaints", "tasks", "nsdi2011", {}),
    ("bottleneck-fairness", "tasks", UNEVEN.instance(), {"integer": True}),
]
"""Verdicts that a property fails, which rest on no tie."""


def instance_of(name):
    return name if isinstance(name, Instance) else Instance.library(name)


def file_of(property, policy="drf", name="nsdi2011", **how):
    return loads(json.dumps(audit(instance_of(name), policy, property, **how).certificate()))


def rack():
    return Instance([[1, 2], [2, 1]], machines=[Machine("a", [4, 4], 2), Machine("b", [6, 3])])


def verdict(data):
    try:
        return verified(copy.deepcopy(data)).valid
    except ValueError:
        return False


@pytest.mark.parametrize(("property", "policy", "name", "how"), LOST)
def test_who_loses_is_proven(property, policy, name, how):
    data = file_of(property, policy, name, **how)
    AuditCertificateFile.model_validate(json.loads(json.dumps(data, default=str)))
    (finding,) = data["audits"][0]["findings"]
    assert finding["verdict"] == "fails"
    assert verdict(data) is True


def changes(data):
    """Yield the file with one thing of a verdict, or of the instance of one of its answers, changed."""
    (finding,) = data["audits"][0]["findings"]
    users = [user["name"] for user in data["audits"][0]["truth"]["users"]]

    def change(**values):
        other = copy.deepcopy(data)
        other["audits"][0]["findings"][0] |= values
        return other

    yield "verdict", change(verdict="holds")
    yield "user", change(user="nobody")
    for name in users:
        if name != finding["user"]:
            yield f"user {name}", change(user=name)
    yield "other", change(other="nobody")
    yield "property", change(property="envy-freeness")
    if finding.get("other") in users:
        yield "no other", change(other=finding["user"])
    yield "twice", change(after=[*finding.get("after", []), data["audits"][0]["truth"]])
    answers = [(["truth"], data["audits"][0]["truth"])]
    answers += [(["findings", 0, "after", k], one) for k, one in enumerate(finding.get("after", []))]
    for place, answer in answers:
        for what, amounts in answer_changes(answer):
            other = copy.deepcopy(data)
            at = other["audits"][0]
            for key in place[:-1]:
                at = at[key]
            at[place[-1]] = amounts
            yield f"{place}: {what}", other
    if "after" in finding:
        yield "the same answer", change(after=[data["audits"][0]["truth"]])
        yield "another policy", change(after=[finding["after"][0] | {"policy": "throughput"}])


def answer_changes(answer):
    for i, row in enumerate(answer["users"]):
        other = copy.deepcopy(answer)
        other["users"][i]["tasks"] = "1/7"
        yield f"tasks of {row['name']}", other
    for i, row in enumerate(answer["instance"]["users"]):
        for key, value in (("weight", 2), ("name", "x"), ("max_tasks", "1/9")):
            other = copy.deepcopy(answer)
            other["instance"]["users"][i][key] = value
            yield f"{key} of {row['name']}", other
        other = copy.deepcopy(answer)
        other["instance"]["users"][i]["demand"] = dict.fromkeys(row["demand"], "11/2")
        yield f"demand of {row['name']}", other
    for resource in answer["instance"]["capacity"]:
        other = copy.deepcopy(answer)
        other["instance"]["capacity"][resource] = "1/2"
        yield f"capacity of {resource}", other


@pytest.mark.parametrize(("property", "policy", "name", "how"), LOST)
def test_each_field_of_a_witness_is_held(property, policy, name, how):
    data = file_of(property, policy, name, **how)
    accepted = [what for what, other in changes(data) if verdict(other) is True]
    assert not accepted
    assert len(list(changes(data))) > 10


HELD = [
    ("envy-freeness", "drf", "nsdi2011", {}),
    ("envy-freeness", "drf", rack(), {}),
    ("sharing-incentive", "drf", rack(), {"integer": True}),
    ("pareto-efficiency", "ceei", "thm5", {}),
    ("pareto-efficiency", "single:r1", "thm4", {}),
    (PM, "drf", "nsdi2011", {}),
    ("single-resource-fairness", "drf", Instance([[1], [2], [3]], [9], max_tasks=[1, None, None]), {}),
    ("no-justified-complaints", "ceei", "thm4", {}),
    ("envy-up-to-one-task", "drf", "nsdi2011", {"integer": True}),
]


@pytest.mark.parametrize(("property", "policy", "name", "how"), HELD)
def test_what_holds_by_finitely_many_comparisons_is_proven(property, policy, name, how):
    data = file_of(property, policy, name, **how)
    assert verdict(data) is True
    data["audits"][0]["findings"][0] |= {"verdict": "fails", "user": data["audits"][0]["truth"]["users"][0]["name"]}
    assert verdict(data) is not True


def test_answers_that_are_not_of_the_policy_prove_nothing():
    """Envy of a division that nobody computed."""
    data = file_of("envy-freeness")
    truth, (finding,) = data["audits"][0]["truth"], data["audits"][0]["findings"]
    for row, tasks in zip(truth["users"], ("0", "6"), strict=True):
        row["tasks"] = tasks
        del row["level"]
    finding |= {"verdict": "fails", "user": truth["users"][0]["name"], "other": truth["users"][1]["name"]}
    report = verified(data)
    assert report.valid is False
    assert [check.holds for check in report.checks] == [False, True]


@pytest.mark.parametrize(("property", "policy", "name"), [(RM, "asset", "thm3"), (PM, "ceei", "thm5")])
def test_other_answers_that_are_not_of_the_policy_prove_nothing(property, policy, name):
    """Everybody loses where nobody has anything."""
    data = file_of(property, policy, name)
    for row in data["audits"][0]["findings"][0]["after"][0]["users"]:
        row |= {"tasks": "0", "level": "0"}
    report = verified(data)
    assert report.valid is False
    assert [check.holds for check in report.checks] == [True, False, True]


def test_a_wasteful_answer_is_shown_by_a_better_one():
    claim = next(c for c in CLAIMS if (c.policy, c.property, c.verdict) == ("per-server", "pareto-efficiency", "fails"))
    data = file_of("pareto-efficiency", "per-server", claim.instance())
    assert (data["audits"][0]["findings"][0]["verdict"], verdict(data)) == ("fails", True)
    for i in range(2):
        worse = copy.deepcopy(data)
        worse["audits"][0]["findings"][0]["after"][0]["users"][i]["tasks"] = "0"
        assert verdict(worse) is False
    less = copy.deepcopy(data)
    truth = less["audits"][0]["truth"]
    better = less["audits"][0]["findings"][0]["after"][0]
    for key in ("users", "placement"):
        better[key] = truth[key]
    assert verdict(less) is False
    del less["audits"][0]["findings"][0]["after"]
    assert verdict(less) is None


def test_what_no_file_can_prove_is_not_decided():
    for data in (
        file_of(SP),
        file_of(RM, "single:r1", "thm4"),
        file_of("no-justified-complaints", "drf", rack()),
    ):
        assert verdict(data) is None
    assert verdict(file_of("envy-freeness", "alpha:0.5")) is True  # two fractions around irrational tasks decide
    missing = file_of(PM)
    del missing["audits"][0]["findings"][0]["after"][0]
    assert verdict(missing) is None


def test_a_file_without_a_verdict_and_one_of_another_schema_are_refused():
    data = file_of(SP)
    with pytest.raises(ValueError, match="the file has no verdict"):
        verified(data | {"audits": []})
    with pytest.raises(ValueError, match="are read alone, and under the schema"):
        verified(data | {"schema": "drfopt certificate 1"})


def test_two_users_are_not_one():
    """Strategy-proofness is about one report; a group that gains together shows nothing of it."""
    data = file_of("group-strategy-proofness", "ceei", "thm4")
    (finding,) = data["audits"][0]["findings"]
    assert (finding["verdict"], verdict(data)) == ("no violation found", None)
    lied = file_of(SP, "ceei", "thm4")
    (finding,) = lied["audits"][0]["findings"]
    finding |= {"property": "group-strategy-proofness", "users": [finding["user"]]}
    assert verdict(lied) is True
    finding |= {"property": SP, "users": ["u1", "u2"]}
    assert verdict(lied) is False


@pytest.mark.parametrize("told", THEOREMS, ids=lambda told: str(told.number))
def test_theorems_are_files_or_say_why_not(told):
    if told.audited:
        data = loads(json.dumps(told.certificate()))
        assert {finding["property"] for finding in data["audits"][0]["findings"]} == set(told.audited[1:])
        assert verdict(data) is True
    else:
        assert told.unwritten
        with pytest.raises(PolicyError, match="no file proves what theorem"):
            told.certificate()


def test_the_commands_write_what_verify_reads(tmp_path):
    run = CliRunner().invoke
    for command in (
        ["audit", "thm4", "--policy", "ceei", "--property", SP],
        ["theorems", "4"],
        ["theorems", "--policy", "asset", "--property", "sharing-incentive"],
    ):
        path = str(tmp_path / "proof.json")
        assert run(app, [*command, "--certificate", path]).exit_code in (0, 1)
        shown = run(app, ["verify", path])
        assert (shown.exit_code, "valid: decided in fractions" in shown.output) == (0, True), shown.output
    refused = run(app, ["audit", "--policy", "drf", "--certificate", str(tmp_path / "no.json")])
    assert refused.exit_code == 2
    assert "name one" in refused.output
