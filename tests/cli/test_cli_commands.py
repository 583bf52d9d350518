"""The other commands: what they print and with which status they end."""

import csv
import importlib
import io
import json
import tomllib
from fractions import Fraction

import pytest

from drfopt.model.policies import POLICIES


def test_compare_prints_one_object_a_policy(drfopt, cluster):
    ran = drfopt("compare", cluster, "--policies", "drf,asset,ceei", "--json")
    assert ran.status == 0
    document = json.loads(ran.out)
    assert document["instance"] == "cluster"
    assert [row["policy"] for row in document["allocations"]] == ["drf", "asset", "ceei"]
    assert all(row["version"] and row["instance"] == "cluster" for row in document["allocations"])
    assert set(document["price_of_fairness"]) >= {"drf", "asset", "ceei"}


def test_compare_shows_a_policy_that_cannot_as_a_row(drfopt, tmp_path):
    path = tmp_path / "zero.toml"
    path.write_text(
        "[capacity]\ncpu = 9\nmemory = 9\n"
        '[[users]]\nname = "A"\ndemand = { cpu = 1 }\n[[users]]\nname = "B"\ndemand = { memory = 1 }\n'
    )
    ran = drfopt("compare", path, "--policies", "drf,single:cpu")
    assert ran.status == 0
    assert "single:cpu" in ran.out


def test_compare_refuses_a_policy_that_does_not_exist(drfopt, refused, cluster):
    refused(drfopt("compare", cluster, "--policies", "drf,dfr"), "'dfr'")


def test_crosscheck_agrees_on_the_example(drfopt, cluster):
    ran = drfopt("crosscheck", cluster, "--json")
    assert ran.status == 0
    document = json.loads(ran.out)
    assert document["agree"] is True
    assert len(document["engines"]) >= 2


@pytest.mark.parametrize(("agree", "status"), [(True, 0), (False, 1), (None, 3)])
def test_the_status_of_crosscheck_is_its_verdict(drfopt, cluster, monkeypatch, agree, status):
    checking = importlib.import_module("drfopt.solving.crosschecking")
    from drfopt.base.tables import Sheet

    class Found:
        def sheet(self):
            return Sheet("verdict", (), [])

        def to_dict(self):
            return {"agree": agree}

    Found.agree = agree
    monkeypatch.setattr(checking, "crosscheck", lambda *args, **rest: Found())
    ran = drfopt("crosscheck", cluster, "--json")
    assert ran.status == status
    assert json.loads(ran.out) == {"agree": agree}
    assert ran.err == ""


def test_schedule_prints_tasks_and_trace(drfopt, cluster):
    document = json.loads(drfopt("schedule", cluster, "--json").out)
    assert document["tasks"] == {"A": 3, "B": 2}
    assert [step["user"] for step in document["trace"]] == ["A", "B", "A", "B", "A"]
    assert set(document["trace"][0]) >= {"step", "user", "dominant_shares", "used"}


def test_schedule_without_a_trace_does_not_count_the_tasks(drfopt, tmp_path):
    large = tmp_path / "large.toml"
    large.write_text(
        "[capacity]\ncpu = 9e9\nmemory = 18e9\n"
        '[[users]]\nname = "A"\ndemand = { cpu = 1, memory = 4 }\n'
        '[[users]]\nname = "B"\ndemand = { cpu = 3, memory = 1 }\n',
        encoding="utf-8",
    )
    document = json.loads(drfopt("schedule", str(large), "--no-trace", "--json").out)
    assert document["tasks"] == {"A": 3 * 10**9, "B": 2 * 10**9}
    assert document["trace"] is None


def test_schedule_refuses_what_is_not_leximin(drfopt, refused, cluster):
    refused(drfopt("schedule", cluster, "--policy", "ceei"), "ceei")


def test_new_solves_as_it_is(drfopt, tmp_path):
    printed = drfopt("new")
    assert printed.status == 0
    assert tomllib.loads(printed.out)["users"]
    path = tmp_path / "mine.toml"
    assert drfopt("new", "-o", path).status == 0
    assert path.read_text() == printed.out
    assert drfopt("solve", path).status == 0


def test_policies_and_engines_are_listed(drfopt):
    listed = list(csv.DictReader(io.StringIO(drfopt("policies", "--format", "csv").out)))
    assert [row["policy"] for row in listed] == [row.name for row in POLICIES]
    assert "filling" in [row["engine"] for row in json.loads(drfopt("engines", "--json").out)]


def test_the_library_is_listed_and_every_name_can_be_solved(drfopt):
    rows = json.loads(drfopt("library", "--json").out)
    assert "nsdi2011" in [row["name"] for row in rows]
    assert all(row["users"] > 0 and row["source"] and row["title"] for row in rows)
    assert drfopt("solve", "nsdi2011").status == 0


def test_convert_refuses_an_unknown_format(drfopt, refused, cluster):
    refused(drfopt("convert", "--from", "nothing", cluster), "'nothing'")


def test_converted_and_saved_is_the_same_instance(drfopt, tmp_path, monkeypatch):
    import drfopt.io.readers.asking as asking
    from drfopt.io.readers.conversion import UNUSED, Conversion, Note
    from drfopt.io.readers.formats import FORMATS
    from drfopt.model.instance import Instance

    instance = Instance({"A": {"cpu": "1/3"}}, {"cpu": 9}, name="as read")
    found = Conversion(instance, (Note(UNUSED, "label", 2, "a=b"),), {"A": {"pool": Fraction(3, 2)}})
    monkeypatch.setattr(asking, "read", lambda format, files, user_by, **asked: found)
    origin = FORMATS[0].name
    printed = drfopt("convert", "--from", origin, "any")
    assert tomllib.loads(printed.out)["name"] == "as read"
    path = tmp_path / "found.toml"
    current = tmp_path / "current.json"
    ran = drfopt("convert", "--from", origin, "any", "-o", path, "--current", current)
    assert ran.status == 0
    assert ran.err == "not used: 2 x label (such as a=b)\n"
    assert path.read_text().startswith("# not used: 2 x label (such as a=b)\n\nname")
    assert Instance.load(path) == instance
    assert json.loads(current.read_text()) == {"tasks": {"A": 1.5}}
