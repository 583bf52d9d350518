"""``drfopt audit``, ``search`` and ``theorems``: what they print and with which status they end."""

import json
import tomllib

import pytest


def test_audit_prints_a_verdict_a_property(drfopt, cluster):
    ran = drfopt("audit", cluster, "--policy", "ceei", "--property", "envy-freeness", "--json")
    assert ran.status == 0
    document = json.loads(ran.out)
    assert document["policy"] == "ceei"
    (result,) = document["results"]
    assert result == {
        "property": "envy-freeness",
        "verdict": "holds",
        "witness": None,
        "exact": True,
        "trials": 0,
    }


def test_audit_ends_with_1_when_a_property_fails(drfopt):
    ran = drfopt("audit", "thm4", "--policy", "ceei", "--json")
    assert ran.status == 1
    results = {row["property"]: row for row in json.loads(ran.out)["results"]}
    assert len(results) == 8
    witness = results["strategy-proofness"]["witness"]
    assert witness["report"] == ["16", "32/3"]
    assert witness["instead"] == "75/16"
    assert "75/16 tasks instead of 100/31" in witness["text"]


def test_audit_writes_irrational_numbers_as_enclosures(drfopt):
    ran = drfopt("audit", "thm5", "--policy", "ceei", "--property", "population-monotonicity", "--json")
    tasks = json.loads(ran.out)["results"][0]["witness"]["tasks"]
    assert set(tasks) == {"lower", "upper"}


def test_audit_prints_a_table(drfopt, cluster):
    ran = drfopt("audit", cluster)
    assert "resource-monotonicity" in ran.out
    assert "instead of 3" in ran.out


def test_audit_takes_whole_tasks_and_several_properties(drfopt):
    ran = drfopt(
        "audit", "int-leximin-si", "--integer", "--property", "sharing-incentive", "--property", "envy-freeness"
    )
    assert ran.status == 1
    assert "user u1 runs 1 task, but 2 alone" in ran.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("audit", "nsdi2011", "--property", "envy-freenes"), "did you mean 'envy-freeness'"),
        (("audit", "nsdi2011", "--policy", "dfr"), "'dfr'"),
        (("audit", "nsdi2012"), "nsdi2011"),
        (("audit", "nsdi2011", "--policy", "none.py"), "no formulation file"),
        (("search", "--users", "0"), "--users"),
        (("search", "--property", "fairness"), "no property"),
        (("search", "--policy", "drf", "--into", "no/such/folder"), "no folder"),
        (("search", "--policy", "ceei", "--formulation", "x.py"), "two policies"),
        (("search", "--policy", "single:cpu"), "r1, r2"),
        (("theorems", "15"), "not told here"),
        (("theorems", "--policy", "dfr"), "did you mean 'drf'"),
    ],
)
def test_what_is_wrong_is_one_line(drfopt, refused, arguments, words):
    refused(drfopt(*arguments), words)


def test_search_finds_minimises_and_writes(drfopt, tmp_path):
    ran = drfopt(
        "search", "--policy", "ceei", "--property", "strategy-proofness", "--max-demand", "3", "--jobs", "1",
        "--into", tmp_path, "--checkpoint", tmp_path / "log", "--json",
    )  # fmt: skip
    assert ran.status == 1
    document = json.loads(ran.out)
    assert document["complete"] is True
    assert document["seen"] == document["cases"] == 9 * 45
    (result,) = document["results"]
    assert result["fails"] > 0
    assert result["counterexample"]["instance"]["users"][0]["demand"] == {"r1": 1, "r2": 2}
    written = tomllib.loads((tmp_path / "ceei-strategy-proofness.toml").read_text())
    assert written["capacity"] == {"r1": 1, "r2": 1}
    again = drfopt(
        "search", "--policy", "ceei", "--property", "strategy-proofness", "--max-demand", "3", "--jobs", "1",
        "--checkpoint", tmp_path / "log", "--json",
    )  # fmt: skip
    assert json.loads(again.out) == document


def test_search_that_finds_nothing_ends_with_0(drfopt):
    ran = drfopt("search", "--property", "envy-freeness", "--max-demand", "2", "--jobs", "1")
    assert ran.status == 0
    assert "40 of 40 cases" in ran.out


def test_theorem_4_is_told(drfopt):
    ran = drfopt("theorems", "4")
    assert ran.status == 0
    assert "runs 75/16 tasks instead of 100/31" in ran.out
    document = json.loads(drfopt("theorems", "4", "--json").out)
    assert document["confirmed"] is True


def test_claims_are_proven_as_they_are_printed(drfopt):
    ran = drfopt("theorems", "--policy", "drf", "--json")
    assert ran.status == 0
    rows = json.loads(ran.out)
    assert all(row["confirmed"] for row in rows)
    assert {"sharing-incentive", "resource-monotonicity"} <= {row["property"] for row in rows}
    assert "NOT CONFIRMED" not in drfopt("theorems", "--property", "resource-monotonicity", "--policy", "drf").out


def test_without_an_instance_it_is_about_all_of_them(drfopt):
    ran = drfopt("audit", "--policy", "ceei", "--json")
    assert ran.status == 1
    document = json.loads(ran.out)
    assert document["instance"] is None
    verdicts = {row["property"]: row["verdict"] for row in document["results"]}
    assert [name for name, verdict in verdicts.items() if verdict == "fails"] == [
        "strategy-proofness", "population-monotonicity", "resource-monotonicity",
    ]  # fmt: skip
    assert all(row["exact"] for row in document["results"])
    assert drfopt("audit", "--policy", "drf", "--property", "strategy-proofness").status == 0


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--policy", "single:cpu", "--property", "sharing-incentive"), "(1, 1) for (1, 1), (1, 2): user u1"),
        (("--policy", "drf", "--integer", "--property", "envy-freeness"), "(3) for (1), (2): user u1"),
        (("--policy", "drf", "--property", "no-justified-complaints"), "no more of any resource that is used up"),
        (("--policy", "drf", "--integer", "--property", "group-strategy-proofness"), "small instances"),
    ],
)
def test_policies_and_properties_of_every_kind_without_an_instance(drfopt, arguments, words):
    assert words in " ".join(drfopt("audit", *arguments).out.split())


def test_a_search_that_runs_out_of_time_says_so(drfopt, tmp_path):
    ran = drfopt(
        "search", "--property", "envy-freeness", "--users", "3", "--max-demand", "4", "--jobs", "1",
        "--time-limit", "0.01", "--checkpoint", tmp_path / "log",
    )  # fmt: skip
    assert ran.status == 3
    assert "stopped before the end" in ran.out


def test_what_is_known_when_the_time_runs_out_is_printed(drfopt):
    # With two resources single-resource fairness says nothing and takes no time; the lies are not looked for.
    asked = ("--property", "strategy-proofness", "--property", "single-resource-fairness", "--time-limit", "1e-9")
    ran = drfopt("audit", "nsdi2011", *asked)
    assert ran.status == 3
    assert "says nothing of 2 resources" in ran.out
    assert "the time limit ran out" in ran.out
    ran = drfopt("audit", "nsdi2011", "--property", "strategy-proofness", "--time-limit", "1e-9")
    assert ran.status == 3
    assert ran.err.startswith("error: the time limit ran out")


@pytest.mark.parametrize("format", ["csv", "markdown", "latex"])
def test_a_theorem_is_told_whole_in_every_format(drfopt, format):
    told = json.loads(drfopt("theorems", "2", "--json").out)
    text = drfopt("theorems", "2", "--format", format).out
    for words in (told["claim"], told["verdict"], *told["computation"]):
        assert all(word in text for word in words.split() if word.isalpha())
    assert len(text.splitlines()) >= 4 + len(told["computation"])
