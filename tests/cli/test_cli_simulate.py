"""drfopt simulate: what it prints and writes, what it refuses, and that processes make no difference."""

import csv
import io
import json

import pytest

from drfopt.simulation.rules.table import RULES
from drfopt.simulation.scenario_files import names


def test_one_rule_is_a_row_a_user(drfopt):
    ran = drfopt("simulate", "two-users")
    assert ran.status == 0
    assert "drf, simulated" in ran.out
    document = json.loads(drfopt("simulate", "two-users", "--json").out)
    assert [user["response"] for user in document["users"]] == [40, 60]
    assert document["tasks"] == {"started": 24, "ended": 24, "revoked": 0, "stopped": 0}
    assert document["utilization"]["cpu"] == pytest.approx(8 / 9)


def test_several_rules_are_a_row_a_rule(drfopt):
    ran = drfopt("simulate", "sec71", "--rule", "drf,fifo", "--until", "60", "--replications", "2", "--format", "csv")
    assert ran.status == 0
    assert [row["rule"] for row in csv.DictReader(io.StringIO(ran.out))] == ["drf", "fifo"]
    document = json.loads(drfopt("simulate", "two-users", "--rule", "drf,fifo", "--optimum", "--json").out)
    assert document["rules"][0]["measures"]["lowest level"]["mean"] == pytest.approx(1, abs=0.1)
    assert document["rules"][1]["measures"]["envy"]["mean"] > 0


def test_processes_print_the_same_bytes(drfopt):
    command = ("simulate", "sec71", "--rule", "drf,slots:3", "--until", "40", "--replications", "2", "--json")
    assert drfopt(*command, "--jobs", "1").out == drfopt(*command, "--jobs", "2").out


def test_tables_and_pictures_are_written(drfopt, tmp_path):
    pytest.importorskip("vl_convert")
    jobs, timeline, picture = tmp_path / "jobs.csv", tmp_path / "time.csv", tmp_path / "runs.svg"
    ran = drfopt(
        "simulate", "two-users", "--every", "5", "--records", jobs, "--timeline", timeline, "--plot", picture
    )  # fmt: skip
    assert ran.status == 0, ran.err
    assert [row["finished"] for row in csv.DictReader(jobs.open())] == ["40.0", "60.0"]
    assert len(list(csv.DictReader(timeline.open()))) == 2 * 13
    assert "<svg" in picture.read_text()


def test_revocation_and_slowdown_are_options(drfopt):
    document = json.loads(drfopt("simulate", "sec71", "--until", "150", "--preempt", "1", "--json").out)
    assert document["tasks"]["revoked"] > 0
    slow = drfopt("simulate", "two-users", "--rule", "single:cpu", "--slowdown", "memory=4", "--json")
    quick = drfopt("simulate", "two-users", "--rule", "single:cpu", "--slowdown", "memory=0,cpu=2", "--json")
    assert json.loads(slow.out)["seconds"] > json.loads(quick.out)["seconds"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["two-user"], "did you mean 'two-users'?"),
        (["nsdi2011"], "neither a file nor a library scenario"),
        (["two-users", "--rule", "drf,drff"], "there is no rule 'drff': did you mean 'drf'?"),
        (["two-users", "--rule", ","], "--rule names no rule"),
        (["two-users", "--slowdown", "memory"], "--slowdown has 'memory'"),
        (["two-users", "--rule", "slots:3", "--slowdown", "memory=-1"], "slowdown of 'memory' is -1.0"),
        (["two-users", "--rule", "drf,fifo", "--slowdown", "memory=2"], "which drf,fifo does to none: leave it out"),
        (["two-users", "--rule", "slots:3", "--slowdown", "cpus=1"], "did you mean 'cpu'?"),
        (["two-users", "--records", "jobs.txt"], "written as .csv or .parquet"),
        (["two-users", "--records", "no/jobs.csv"], "there is no folder 'no'"),
        (["two-users", "--records", "/dev/null/jobs.csv"], "'/dev/null' is a file: name a folder"),
        (["two-users", "--output", ""], "so is an empty name"),
        (["two-users", "--plot", "picture.txt"], "a picture is written as"),
        (["two-users", "--until", "-1"], "not a number of seconds"),
        (["two-users", "--until", "0"], "until is 0"),
        (["two-users", "--preempt", "0"], "write a positive number of seconds"),
        (["two-users", "--rule", "fifo", "--preempt", "5"], "of which fifo knows none: leave it out"),
        (["two-users", "--seed", "-1"], "--seed"),
        (["two-users", "--dask", "nowhere"], "nowhere"),
    ],
)
def test_bad_wishes_are_one_line(drfopt, words, told):
    ran = drfopt("simulate", *words)
    assert ran.status in (2, 3)
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    assert told in ran.err


def test_a_new_scenario_can_be_simulated_as_it_is(drfopt, tmp_path):
    path = tmp_path / "mine.toml"
    assert drfopt("new", "--scenario", "-o", path).status == 0
    ran = drfopt("simulate", path, "--json")
    assert ran.status == 0
    document = json.loads(ran.out)
    assert document["seconds"] == 600
    assert all(user["jobs"] or user["jobs_closed"] for user in document["users"])


def test_rules_and_scenarios_are_listed(drfopt):
    listed = list(csv.DictReader(io.StringIO(drfopt("rules", "--format", "csv").out)))
    assert [row["rule"] for row in listed] == [row.name for row in RULES]
    assert all(row["source"] for row in listed)
    shipped = json.loads(drfopt("scenarios", "--json").out)
    assert [row["scenario"] for row in shipped] == list(names())
