"""explain, whatif and price as a planner types them."""

import json
from dataclasses import replace

import pytest

from drfopt import Instance, solve
from drfopt.planning.changes import KINDS


def document(ran):
    assert ran.status == 0, ran
    assert ran.err == ""
    return json.loads(ran.out)


def test_explain(drfopt, cluster):
    found = document(drfopt("explain", cluster, "--json"))
    assert (found["instance"], found["policy"]) == ("cluster", "drf")
    assert [user["name"] for user in found["users"]] == ["A", "B"]
    assert found["users"][0]["stopped_by"] == ["cpu"]
    assert found["users"][0]["shared_with"] == ["B"]
    ran = drfopt("explain", cluster, "B", "--policy", "ceei")
    assert ran.status == 0
    assert "B: more of cpu (now 9) would begin to give it 0.3636 tasks for each" in ran.out
    assert "A:" not in ran.out


def test_explain_ends_as_solve_does(drfopt, tmp_path):
    file = tmp_path / "cluster.toml"
    Instance({"A": {"cpu": 1}, "B": {"cpu": 2}}, {"cpu": 5}, max_tasks={"B": 4}).save(file)
    for how in ([], ["--integer"]):
        last = []
        for command in ("solve", "explain"):
            lines = drfopt(command, file, *how).out.splitlines()
            last.append(lines[next(k for k, line in enumerate(lines) if line.startswith("short: ")) :])
        assert last[0] == last[1]
        assert last[0][-1].startswith("to buy: ")


def test_whatif(drfopt, cluster):
    arguments = ("--set-weight", "A=2", "--set-capacity", "cpu=+10%", "--add-user", "C{cpu=1;max_tasks=1/2}")
    found = document(drfopt("whatif", cluster, *arguments, "--json"))
    assert found["changes"] == ["set-capacity cpu=+10%", "add-user C{cpu=1;max_tasks=1/2}", "set-weight A=2"]
    assert found["exact"] is True
    assert [user["verdict"] for user in found["users"]] == ["wins", "loses", "joins"]
    assert found["users"][2]["after"] == "1/2"
    table = drfopt("whatif", cluster, "--set-weight", "A=2", "--set-weight", "B=2")
    assert "0 win, 0 lose, 2 keep what they have" in table.out


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_a_sweep_is_drawn(drfopt, cluster, tmp_path, ending):
    pytest.importorskip("vl_convert")
    drawing = tmp_path / f"sweep.{ending}"
    ran = drfopt("whatif", cluster, "--sweep", "cpu=9..18/3", "--jobs", "1", "--plot", drawing, "--format", "csv")
    assert ran.status == 0
    assert [line.split(",")[0] for line in ran.out.splitlines()] == ["cpu", "9", "12", "15", "18"]
    assert drawing.read_bytes()[:4] in (b"<svg", b"%PDF", b"\x89PNG")


def test_a_sweep_after_changes(drfopt, cluster):
    found = document(
        drfopt("whatif", cluster, "--set-weight", "A=2", "--sweep", "weight:B=1,2", "--jobs", "1", "--json")
    )
    assert found["values"] == ["1", "2"]
    assert [a["users"][0]["tasks"] for a in found["allocations"]] == [pytest.approx(54 / 13), pytest.approx(3)]


def test_a_sweep_says_in_what_it_is_measured(drfopt, cluster):
    """With 18 cpu both have 3/4 of something: A of the memory, and B 13.5 cpu, 3/2 of the 9 that there are."""
    sweep = ("whatif", cluster, "--sweep", "cpu=18", "--jobs", "1", "--json")
    found = document(drfopt(*sweep))
    assert found["measured_in"] == {"cluster": "before the changes", "levels": "drf", "shares": "dominant"}
    assert found["totals"][0]["sum of dominant shares"] == pytest.approx(0.75 + 1.5)
    assert [user["dominant_share"] for user in found["allocations"][0]["users"]] == pytest.approx([0.75, 0.75])
    # What a file calls a level only it knows: its totals are in dominant shares.
    found = document(drfopt(*sweep, "--policy", "formulations/asset_equality.py"))
    assert found["measured_in"]["levels"] == "drf"


def test_every_change_is_an_option(drfopt):
    ran = drfopt("whatif", "--help")
    assert not [row.name for row in KINDS if f"--{row.name} " not in ran.out]


def test_price(drfopt, cluster):
    found = document(drfopt("price", cluster, "--of", "cpu", "--json"))
    (unit,) = found["units"]
    assert unit["more"]["price"] == pytest.approx(1 / 13.5)
    assert unit["more"]["tasks"] == {"A": pytest.approx(1 / 9), "B": pytest.approx(8 / 27)}
    assert unit["more"]["until"] == pytest.approx(9 * 3**0.5)
    assert "what one more is worth" in drfopt("price", cluster).out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["whatif"], ["no change is given"]),
        (["whatif", "--add", "2*cpus"], ["add 2*cpus", "did you mean 'cpu'?"]),
        (["whatif", "--set-weight", "AB=1"], ["no user 'AB'", "did you mean '"]),
        (["whatif", "--set-weight", "A=NaN"], ["'NaN' is not a number"]),
        (["whatif", "--set-limit", "A=-1"], ["write what it shall be, 0 or more"]),
        (["whatif", "--remove", "10*cpu"], ["an amount must not be negative"]),
        (["whatif", "--sweep", "cpu=1..2"], ["has no step"]),
        (["whatif", "--sweep", "cpu=+1,+9"], ["is a difference, and a sweep is over amounts"]),
        (["whatif", "--sweep", "cpu=1..2/1e-300"], ["take a larger step"]),
        (["whatif", "--add", "1e400*cpu"], ["is no number anybody needs"]),
        (["whatif", "--set-capacity", "cpu=+"], ["'+' is not a number"]),
        (["whatif", "--sweep", "cpu=1,2", "--plot", "x.gif"], [".svg, .png, .pdf"]),
        (["whatif", "--set-weight", "A=2", "--plot", "x.svg"], ["--plot draws a sweep"]),
        (["whatif", "--set-weight", "A=2", "--jobs", "2"], ["--jobs and --dask"]),
        (["whatif", "--set-weight", "A=2", "--exact", "--integer", "--policy", "nothing"], ["no policy 'nothing'"]),
        (["explain", "AB"], ["no user 'AB'", "did you mean '"]),
        (["price", "--of", "cpus"], ["did you mean 'cpu'?"]),
    ],
)
def test_what_is_refused(drfopt, refused, cluster, arguments, words):
    command, *rest = arguments
    refused(drfopt(command, cluster, *rest), *words)


@pytest.mark.parametrize(
    "command",
    [
        ("sweep", "--factors", "1,17/10"),
        ("whatif", "--scale", "cpu=1.1"),
        ("whatif", "--sweep", "cpu=9,10"),
        ("explain",),
        ("schedule", "--optimum"),
    ],
    ids=" ".join,
)
def test_what_is_not_proven_is_said_to_be_so(drfopt, cluster, command, monkeypatch):
    name, *rest = command
    whole = () if name == "schedule" else ("--integer",)
    assert drfopt(name, cluster, *whole, *rest).status == 0

    def late(*given, **more):
        found = solve(*given, **more)
        proof = replace(found.certificate, valid=None, reason="no time")
        return replace(found, status="time_limit", certificate=proof)

    for room in ("planning.before_and_after", "planning.sweeping", "planning.explaining.explanation"):
        monkeypatch.setattr(f"drfopt.{room}.solve", late)
    monkeypatch.setattr("drfopt.solving.scheduling.solve", late)
    ran = drfopt(name, cluster, *whole, *rest, *(("--jobs", "1") if "weep" in "".join(command) else ()))
    assert ran.status == 3
    told = "the best known, not proven" if name == "schedule" else "not proven the best, so that changes may be"
    assert told in ran.out
