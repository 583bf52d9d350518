"""Every JSON that the package prints has a published schema; what is newer than this program is refused in one line."""

import contextlib
import json
from functools import cache

import jsonschema
import pytest
from test_results import NSDI, RACK, RESULTS, TODAY, kinds

from drfopt import Allocation, Instance, InstanceError, PolicyError, schema, solve, verify
from drfopt.certificates.document import certificate_document
from drfopt.cli import main
from drfopt.cli.app import app
from drfopt.io.documents.published import DOCUMENTS
from drfopt.io.library import summaries
from drfopt.io.native import reading
from drfopt.io.native.writing import dumps

EXACT = {"exact": True}
COMMANDS = {
    "solve": ["nsdi2011"],
    "solve --exact": ["nsdi2011", "-p", "ceei", "--exact"],
    "compare": ["nsdi2011", "--integer"],
    "crosscheck": ["nsdi2011"],
    "verify": ["nsdi2011", "{answer}"],
    "audit": ["thm4", "-p", "ceei", "--property", "strategy-proofness"],
    "search": [
        "-p",
        "ceei",
        "--property",
        "strategy-proofness",
        "--users",
        "2",
        "--resources",
        "2",
        "--max-demand",
        "2",
    ],
    "theorems": ["4"],
    "theorems NAME": ["kalai-smorodinsky"],
    "theorems -p": ["-p", "throughput"],
    "schedule": ["nsdi2011"],
    "simulate": ["two-users"],
    "simulate -r": ["two-users", "-r", "drf,fifo"],
    "explain": ["nsdi2011"],
    "whatif": ["nsdi2011", "--set-weight", "A=2"],
    "price": ["nsdi2011"],
    "sweep": ["nsdi2011", "--factors", "1,2", "--jobs", "1"],
    "size": ["nsdi2011", "--target", "A>=5", "--cost", "cpu=1,memory=1", "--unit", "cpu=2,memory=4"],
    "rebalance": ["{rack}", "--current", "{current}"],
    "report": ["nsdi2011", "--sweep", "cpu=9,10", "--whatif", "set-weight A=2"],
    "engines": [],
    "policies": [],
    "library": [],
    "formats": [],
    "rules": [],
    "scenarios": [],
    "schema": [],
}
LISTINGS = {"engines", "policies", "library", "formats", "rules", "scenarios", "schema", "theorems -p"}
NO_JSON = {"convert", "export", "new"}
"""Commands that print an instance file, another program's format, or a text."""


validator = cache(lambda name: jsonschema.Draft202012Validator(schema(name)))


def faults(name, document):
    """Return what of a document its schema forbids."""
    return [error.message for error in validator(name).iter_errors(document)]


def test_every_schema_is_one():
    for row in DOCUMENTS:
        jsonschema.Draft202012Validator.check_schema(schema(row.name))


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_what_its_schema_says(name):
    found = json.loads(json.dumps(RESULTS[name][0]().to_dict()))
    (row,) = [row for row in DOCUMENTS if row.schema == found["schema"]]
    assert not faults(row.name, found)
    # A check must be able to fail: a key that nobody knows, and one that is missing.
    assert faults(row.name, found | {"sheme": 1})
    for key in schema(row.name)["required"]:
        assert faults(row.name, {k: value for k, value in found.items() if k != key})


def test_every_kind_of_result_has_a_schema():
    assert {kind._schema for kind in kinds()} <= {row.schema for row in DOCUMENTS}


def test_every_command_with_json_is_tried():
    known = {command.callback.__name__ for command in app.registered_commands}
    assert {command.split()[0] for command in COMMANDS} == known - NO_JSON


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_prints_what_its_schema_says(command, tmp_path, capsys):
    files = {"answer": tmp_path / "answer.json", "current": tmp_path / "current.json", "rack": tmp_path / "rack.json"}
    files["answer"].write_text(json.dumps(solve(NSDI).to_dict()))
    files["current"].write_text(json.dumps(TODAY))
    RACK.save(files["rack"])
    with contextlib.suppress(SystemExit):
        main([command.split()[0], *(argument.format(**files) for argument in COMMANDS[command]), "--json"])
    found = json.loads(capsys.readouterr().out)
    name = "listing" if command in LISTINGS else found["schema"].split()[1]
    assert not faults(name, found)


@pytest.mark.parametrize("name", [row.name for row in summaries()])
def test_a_packaged_instance_is_what_the_schema_says(name):
    found = json.loads(dumps(Instance.library(name), "json"))
    assert found["schema"] == "drfopt instance 1"
    assert not faults("instance", found)


@pytest.mark.parametrize(
    "wrong",
    [
        {"users": [{"name": "A", "demand": {"cpu": [1]}}], "capacity": {"cpu": 9}},
        {"users": [{"name": "A", "demand": {"cpu": 1}, "weigth": 2}], "capacity": {"cpu": 9}},
        {"users": [{"demand": {"cpu": 1}}], "capacity": {"cpu": 9}},
        {"capacity": {"cpu": 9}},
        {"users": [{"name": "A", "demand": {"cpu": 1}}], "capacity": {"cpu": 9}, "guarantees": "none"},
    ],
)
def test_what_the_reader_refuses_the_schema_refuses(wrong):
    assert faults("instance", wrong)
    with pytest.raises(InstanceError):
        reading.built(wrong, "x")


@pytest.mark.parametrize("how", [{}, {"policy": "ceei"}, EXACT, EXACT | {"policy": "ceei"}, {"integer": True}])
def test_a_certificate_file_is_what_the_schema_says(how):
    found = solve(NSDI, how.get("policy", "drf"), **{key: value for key, value in how.items() if key != "policy"})
    assert not faults("certificate", json.loads(json.dumps(certificate_document(found))))


@pytest.mark.parametrize("number", ["2", "10", "x", "0"])
def test_a_newer_instance_file_is_refused(number):
    text = f'schema = "drfopt instance {number}"\nnew = 1\n[capacity]\ncpu = 9\n'
    with pytest.raises(InstanceError, match=r"^<text>: schema is 'drfopt instance \w+'(, newer|: what)"):
        reading.loads(text, "toml")


def test_another_document_is_no_instance_file():
    with pytest.raises(
        InstanceError, match="schema is 'drfopt allocation 1': what is read here is 'drfopt instance 1'"
    ):
        reading.loads(json.dumps(solve(NSDI).to_dict()), "json")


def test_a_newer_answer_is_refused():
    newer = solve(NSDI).to_dict() | {"schema": "drfopt allocation 2"}
    with pytest.raises(InstanceError, match="the answer: schema is 'drfopt allocation 2', newer than this program"):
        Allocation.from_dict(newer)
    with pytest.raises(InstanceError, match="its schema is 'drfopt allocation 2'"):
        verify(newer, NSDI)
    with pytest.raises(InstanceError, match="schema is 7"):
        Allocation.from_dict(newer | {"schema": 7})


def test_an_older_answer_without_a_schema_is_read():
    found = solve(NSDI)
    older = {key: value for key, value in found.to_dict().items() if key != "schema"}
    assert Allocation.from_dict(older) == found


def test_a_command_stands_for_what_it_prints():
    assert schema("solve") == schema("allocation")
    without = {"export"}  # It writes what another program reads.
    for command in app.registered_commands:
        if (name := command.callback.__name__) not in without:
            assert schema(name)["title"].startswith("drfopt ")
    assert schema("engines") == schema("rules") == schema("listing")
    with pytest.raises(PolicyError, match="did you mean 'allocation'"):
        schema("alocation")
