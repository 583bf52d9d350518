"""``drfopt solve``: what it prints, where it puts it, and with which status it ends."""

import csv
import importlib
import io
import json
import math
from dataclasses import replace

import pytest

from drfopt.base import errors
from drfopt.cli.output import versions

solving = importlib.import_module("drfopt.solving.allocating")

KEYS = {
    "schema",
    "instance",
    "policy",
    "integer",
    "engine",
    "status",
    "users",
    "resources",
    "unplaced",
    "short",
    "demand_met",
    "certificate",
    "seconds",
    "version",
}
USER = {"name", "tasks", "level", "dominant_resource", "dominant_share", "usage", "bottleneck"}
USER |= {"weight", "asked", "got", "met"}
RESOURCE = {"name", "capacity", "used", "utilization", "price"}


def test_json_is_the_object_of_the_contract(drfopt, cluster):
    ran = drfopt("solve", cluster, "--json")
    assert (ran.status, ran.err) == (0, "")
    document = json.loads(ran.out)
    assert set(document) == KEYS
    assert all(set(user) == USER for user in document["users"])
    assert all(set(resource) == RESOURCE for resource in document["resources"])
    assert set(document["certificate"]) == {"kind", "valid", "violation", "gap"}
    assert document["instance"] == "cluster"
    assert document["version"] == versions()
    assert [user["tasks"] for user in document["users"]] == pytest.approx([3, 2], rel=1e-9)
    assert document["users"][0]["level"] == pytest.approx(2 / 3, rel=1e-9)


def test_exact_numbers_are_fractions_in_text(drfopt, cluster):
    document = json.loads(drfopt("solve", cluster, "--policy", "asset", "--exact", "--json").out)
    assert [user["tasks"] for user in document["users"]] == ["63/25", "54/25"]


def test_the_table_shows_users_certificate_and_engine(drfopt, cluster):
    ran = drfopt("solve", cluster)
    assert ran.status == 0
    assert "dominant share" in ran.out
    assert "certificate (bottleneck) valid" in ran.out
    assert "\x1b" not in ran.out


def test_every_format_is_its_own(drfopt, cluster):
    rows = list(csv.DictReader(io.StringIO(drfopt("solve", cluster, "--format", "csv").out)))
    assert [row["user"] for row in rows] == ["A", "B"]
    assert drfopt("solve", cluster, "--format", "markdown").out.startswith("| user |")
    assert drfopt("solve", cluster, "--format", "latex").out.startswith(r"\begin{tabular}")
    assert json.loads(drfopt("solve", cluster, "--format", "json").out)["policy"] == "drf"


def test_all_rows_go_to_a_pipe(drfopt, tmp_path):
    path = tmp_path / "many.toml"
    users = "".join(f'[[users]]\nname = "user{i}"\ndemand = {{ cpu = 1 }}\n' for i in range(50))
    path.write_text("[capacity]\ncpu = 9\n" + users)
    out = drfopt("solve", path).out
    assert all(f"user{i} " in out for i in range(50))


def test_a_file_is_written_and_nothing_printed(drfopt, cluster, tmp_path):
    ran = drfopt("solve", cluster, "--json", "-o", tmp_path / "answer.txt")
    assert (ran.status, ran.out, ran.err) == (0, "", "")
    assert json.loads((tmp_path / "answer.txt").read_text())["policy"] == "drf"


@pytest.mark.parametrize(
    ("name", "begins"),
    [("a.json", "{"), ("a.csv", "user,"), ("a.md", "| user"), ("a.tex", r"\begin"), ("a.txt", "drf,")],
)
def test_without_a_format_the_name_of_the_file_decides(drfopt, cluster, tmp_path, name, begins):
    assert drfopt("solve", cluster, "-o", tmp_path / name).status == 0
    assert (tmp_path / name).read_text().startswith(begins)


def test_a_failed_solve_leaves_the_file_as_it_was(drfopt, cluster, tmp_path):
    kept = tmp_path / "kept.json"
    kept.write_text("before")
    assert drfopt("solve", cluster, "--policy", "nothing", "-o", kept).status == 2
    assert kept.read_text() == "before"
    assert [path.name for path in tmp_path.iterdir() if path != cluster] == ["kept.json"]


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (errors.InstanceError("no"), 2, "error: no\n"),
        (errors.PolicyError("no\nway"), 2, "error: no way\n"),
        (errors.FormulationError("no"), 2, "error: no\n"),
        (errors.EngineError("no"), 2, "error: no\n"),
        (errors.SolverError("no"), 3, "error: no\n"),
        (errors.TimeLimitError("late", "level 1 is proven"), 3, "error: late; level 1 is proven\n"),
        (errors.CertificateError("no"), 3, "error: no\n"),
        (FileNotFoundError(2, "No such file", "x.toml"), 2, "error: x.toml: No such file\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (BrokenPipeError(), 141, ""),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_every_error_has_its_status_and_one_line(drfopt, cluster, monkeypatch, error, status, line):
    def fail(*args, **rest):
        raise error

    monkeypatch.setattr(solving, "solve", fail)
    # Standard output is the test's own here: it must not be turned away from it.
    monkeypatch.setattr("drfopt.cli.status._silence", lambda stream: None)
    ran = drfopt("solve", cluster)
    assert (ran.status, ran.out, ran.err) == (status, "", line)


@pytest.mark.parametrize("error", [MemoryError(), KeyError("x"), RecursionError("deep")])
def test_even_a_mistake_of_ours_is_one_line(drfopt, cluster, monkeypatch, error):
    def fail(*args, **rest):
        raise error

    monkeypatch.setattr(solving, "solve", fail)
    ran = drfopt("solve", cluster)
    assert ran.status == 3
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1


def test_what_is_known_when_time_runs_out_is_printed(drfopt, cluster, monkeypatch):
    found = solving.solve

    def late(*args, **rest):
        allocation = found(*args, **rest)
        proof = replace(allocation.certificate, valid=None, gap=math.inf)
        return replace(allocation, status="time_limit", certificate=proof)

    monkeypatch.setattr(solving, "solve", late)
    ran = drfopt("solve", cluster, "--json")
    assert ran.status == 3
    assert ran.err == ""
    document = json.loads(ran.out, parse_constant=pytest.fail)
    assert document["status"] == "time_limit"
    assert document["certificate"]["gap"] is None


def test_standard_input_is_an_instance(drfopt, cluster, monkeypatch):
    class Standard(io.TextIOWrapper):
        name = "<stdin>"

    monkeypatch.setattr("sys.stdin", Standard(io.BytesIO(cluster.read_bytes()), encoding="utf-8"))
    document = json.loads(drfopt("solve", "-", "--json").out)
    assert document["instance"] == "stdin"


def test_a_file_wins_over_the_library(drfopt, cluster, monkeypatch, tmp_path):
    from drfopt.cli import options

    assert options.read("nsdi2011").name
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nsdi2011").mkdir()
    # A folder of that name is not an instance, but it is there: the user is told, not given something else.
    assert drfopt("solve", "nsdi2011").status == 2
