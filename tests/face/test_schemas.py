"""Every JSON that the package prints has a published schema; what is newer than this program is refused in one line."""

import contextlib
import json
from functools import cache

import jsonschema
import pyarrow
import pytest
from pyarrow import parquet
from test_results import NSDI, RACK, RESULTS, TODAY, kinds

from drfopt import Allocation, Instance, InstanceError, PolicyError, schema, solve, verify
from drfopt.certificates.document import certificate_document
from drfopt.cli import main
from drfopt.cli.app import app
from drfopt.io.documents.published import DOCUMENTS, FORMS
from drfopt.io.library import summaries
from drfopt.io.native import reading
from drfopt.io.native.writing import dumps

EXACT = {"exact": True}
AUDITED = ["-p", "ceei", "--property", "strategy-proofness"]
SEARCHED = ["--users", "2", "--resources", "2", "--max-demand", "2"]
BOUGHT = ["--cost", "cpu=1,memory=1", "--unit", "cpu=2,memory=4"]
COMMANDS = {
    "solve": [
        ["nsdi2011"],
        ["nsdi2011", "-p", "ceei", "--exact"],
        ["nsdi2011", "--integer"],
        ["nsdi2011", "-p", "path:1/2:1/2..3/4:1"],
        ["{rack}", "--exact"],
        ["{rack}", "-p", "per-server"],
        ["{rack}", "-p", "utilitarian"],
        ["tree-of-departments"],
        ["guarantee-floor", "--exact"],
        ["welfare-m3-n30", "--integer", "--time-limit", "0.001"],
        ["{users}", "--cluster", "{pool}", "--answer", "{folder}", "--jobs", "1"],
    ],
    "compare": [["nsdi2011", "--integer"], ["nsdi2011", "-p", "single:gpu,drf"], ["{rack}"]],
    "crosscheck": [["nsdi2011"], ["{rack}", "--integer"], ["guarantee-floor", "-p", "throughput", "--exact"]],
    "verify": [["nsdi2011", "{answer}"], ["nsdi2011", "{wrong}"], ["{rack}", "{answer}"]],
    "audit": [["thm4", *AUDITED], ["nsdi2011"], ["{rack}", "--integer", "-p", "drf"], ["-p", "drf"]],
    "search": [[*AUDITED, *SEARCHED], ["-p", "drf", "--property", "envy-freeness", *SEARCHED]],
    "theorems": [["4"], ["kalai-smorodinsky"], ["-p", "throughput"]],
    "schedule": [["nsdi2011"], ["nsdi2011", "--no-trace"], ["{rack}", "--optimum", "--when-full", "stop"]],
    "simulate": [
        ["two-users"],
        ["two-users", "-r", "drf,fifo"],
        ["two-users", "--replications", "2", "--jobs", "1"],
        ["two-users", "--optimum"],
    ],
    "explain": [["nsdi2011"], ["{rack}", "--integer"], ["guarantee-floor"]],
    "whatif": [
        ["nsdi2011", "--set-weight", "A=2"],
        ["nsdi2011", "--sweep", "cpu=9,10"],
        ["nsdi2011", "--set-weight", "A=2", "--sweep", "cpu=9,10", "--integer"],
        ["{rack}", "--set-weight", "A=2", "--exact"],
    ],
    "price": [["nsdi2011"], ["{rack}", "-p", "ceei"]],
    "sweep": [["nsdi2011", "--factors", "1,2", "--jobs", "1"]],
    "size": [
        ["nsdi2011", "--target", "A>=5", *BOUGHT],
        ["nsdi2011", "--target", "A>=5", "--integer", *BOUGHT],
        ["nsdi2011", "--target", "A>=50", "--max", "cpu=2", *BOUGHT],
    ],
    "rebalance": [["{rack}", "--current", "{current}"]],
    "report": [["nsdi2011", "--sweep", "cpu=9,10", "--whatif", "set-weight A=2"], ["{rack}", "--integer"]],
    "schema": [[], ["allocation"], ["simulate"]],
    **{listing: [[]] for listing in ("engines", "policies", "library", "formats", "rules", "scenarios")},
}
NO_JSON = {"convert", "export", "new"}
"""Commands that print an instance file, another program's format, or a text."""


validator = cache(lambda name: jsonschema.Draft202012Validator(schema(name)))


def faults(name, document):
    """Return what of a document its schema forbids."""
    return [error.message for error in validator(name).iter_errors(document)]


def test_every_schema_is_one():
    for name in (*DOCUMENTS.names, *FORMS):
        jsonschema.Draft202012Validator.check_schema(schema(name))


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
    assert set(COMMANDS) == known - NO_JSON


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        pytest.param(command, arguments, id=" ".join([command, *arguments]))
        for command, asked in COMMANDS.items()
        for arguments in asked
    ],
)
def test_a_command_prints_what_its_schema_says(command, arguments, tmp_path, capsys):
    names = ("answer.json", "wrong.json", "current.json", "rack.json", "pool.toml", "users", "folder")
    files = {name.partition(".")[0]: tmp_path / name for name in names}
    answer = solve(NSDI).to_dict()
    files["answer"].write_text(json.dumps(answer))
    files["wrong"].write_text(json.dumps(answer | {"users": [row | {"tasks": 9} for row in answer["users"]]}))
    files["current"].write_text(json.dumps(TODAY))
    files["pool"].write_text("[capacity]\ncpu = 9\nmemory = 18\n")
    files["users"].mkdir()
    parquet.write_table(pyarrow.table({"cpu": [1, 3], "memory": [4, 1]}), files["users"] / "a.parquet")
    RACK.save(files["rack"])
    with contextlib.suppress(SystemExit):
        main([command, *(argument.format(**files) for argument in arguments), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert not faults(command, found)
    # And of the document that it says it is; no schema of another command takes it.
    name = "listing" if isinstance(found, list) else found.get("schema", "").removeprefix("drfopt ").partition(" ")[0]
    if not name:
        return
    assert not faults(name, found)
    prints = {other for other in COMMANDS if name in printed(other)}
    assert command in prints
    if command != "schema":
        assert {other for other in COMMANDS if not faults(other, found)} <= prints | {"schema"}


def printed(command):
    """Return the documents that a command prints."""
    return FORMS.get(command, (DOCUMENTS.named(command).name,))


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
    assert schema("compare") == schema("comparison")
    assert schema("solve")["anyOf"] == [schema("allocation"), schema("partitioned-allocation")]
    without = {"export"}  # It writes what another program reads.
    for command in app.registered_commands:
        if (name := command.callback.__name__) not in without:
            assert schema(name)["title"].startswith("drfopt ")
    assert schema("engines") == schema("rules") == schema("listing")
    with pytest.raises(PolicyError, match="did you mean 'allocation'"):
        schema("alocation")
