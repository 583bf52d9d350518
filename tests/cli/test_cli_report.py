"""``drfopt report``: a page or its numbers, written whole or not at all, and what it refuses."""

import importlib
import json
import sys
from dataclasses import replace

import pytest


def test_a_page_is_written(drfopt, cluster, tmp_path):
    path = tmp_path / "report.html"
    ran = drfopt("report", cluster, "-o", path)
    assert (ran.status, ran.out, ran.err) == (0, "", "")
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert text.endswith("</html>\n")
    assert "<h1><bdi>cluster</bdi></h1>" in text
    first = path.read_bytes()
    assert drfopt("report", cluster, "-o", path).status == 0
    assert path.read_bytes() == first


def test_the_numbers_are_those_of_compare(drfopt, cluster, tmp_path):
    report = json.loads(drfopt("report", cluster, "--policies", "drf,ceei,alpha:2", "--json").out)
    compared = json.loads(drfopt("compare", cluster, "--policies", "drf,ceei,alpha:2", "--json").out)
    for allocation in compared["allocations"]:
        del allocation["seconds"]
    assert report["comparison"] == compared
    path = tmp_path / "report.json"
    assert drfopt("report", cluster, "--policies", "drf,ceei,alpha:2", "-o", path).status == 0
    assert json.loads(path.read_text(encoding="utf-8")) == report


def test_sweeps_and_changes_are_told(drfopt, cluster, tmp_path):
    ran = drfopt(
        "report", cluster, "--sweep", "scale:cpu=1/2,1,2", "--sweep", "cpu=9..11/2",
        "--whatif", "set-weight A=2; scale cpu=2",
        "--whatif", "add-user C{cpu=1;weight=2}", "--title", "Ours", "--date", "today", "--json",
    )  # fmt: skip
    document = json.loads(ran.out)
    assert [len(sweep["steps"]) for sweep in document["sweeps"]] == [3, 2]
    assert [found["changes"] for found in document["whatifs"]] == [
        ["set-weight A=2", "scale cpu=2"],
        ["add-user C{cpu=1;weight=2}"],
    ]
    assert document["whatifs"][1]["verdicts"]["joins"] == 1
    assert (document["title"], document["date"]) == ("Ours", "today")
    assert [sweep["steps"][-1]["at"] for sweep in document["sweeps"]] == [2, 11]


def test_every_plot_is_written_as_png_and_svg(drfopt, cluster, tmp_path):
    pytest.importorskip("vl_convert")
    folder = tmp_path / "plots"
    assert drfopt("report", cluster, "-o", tmp_path / "r.html", "--plots", folder, "--sweep", "cpu=1,2").status == 0
    names = {path.name for path in folder.iterdir()}
    figures = ("holdings", "shares", "stops", "fairness", "sweep-1")
    assert names == {f"{figure}.{suffix}" for figure in figures for suffix in ("png", "svg")}


def test_a_policy_that_cannot_is_told_and_others_are_shown(drfopt, tmp_path):
    path = tmp_path / "zero.toml"
    path.write_text(
        "[capacity]\ncpu = 9\nmemory = 9\n"
        '[[users]]\nname = "A"\ndemand = { cpu = 1 }\n[[users]]\nname = "B"\ndemand = { memory = 1 }\n'
    )
    ran = drfopt("report", path, "--policies", "drf,single:cpu", "--json")
    assert ran.status == 0
    assert "single:cpu" in json.loads(ran.out)["comparison"]["refusals"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--policies", ","], ["--policies names no policy"]),
        (["--policies", "dfr"], ["'dfr'", "drf"]),
        (["--sweep", "cpu"], ["'cpu'", "cpu=100..200/10"]),
        (["--sweep", "=1,2"], ["'=1,2'"]),
        (["--sweep", "cpu="], ["'cpu='"]),
        (["--sweep", "cup=1,2"], ["'cup'", "did you mean 'cpu'"]),
        (["--sweep", "scale:cpu=0"], ["0", "positive"]),
        (["--sweep", "cpu=nan"], ["nan"]),
        (["--whatif", " ; "], ["--whatif names no change"]),
        (["--whatif", "dance"], ["'dance'"]),
        (["--whatif", "set-weight Z=2"], ["'Z'"]),
        (["-o", "no/such/folder/r.html"], ["no/such/folder"]),
        (["--plots", "no/such/folder"], ["no/such"]),
        (["-o", "r.pdf"], ["a page is not written as '.pdf'", ".html, or .json"]),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(drfopt, refused, cluster, options, words):
    refused(drfopt("report", cluster, *options), *words)


def test_plots_are_not_written_over_a_file(drfopt, refused, cluster, tmp_path):
    pytest.importorskip("vl_convert")
    path = tmp_path / "file"
    path.write_text("mine")
    refused(drfopt("report", cluster, "--plots", path), "is a file")
    assert path.read_text() == "mine"


@pytest.mark.parametrize("output", ["r.html", "r.json"])
def test_without_the_extra_pictures_are_refused_before_anything_is_solved(
    drfopt, refused, monkeypatch, tmp_path, output
):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    plots = ["--plots", tmp_path / "plots"] if output == "r.json" else []
    refused(drfopt("report", "no such instance", "-o", tmp_path / output, *plots), 'pip install "drfopt[plot]"')
    assert not list(tmp_path.iterdir())


def test_the_numbers_need_no_extra(drfopt, cluster, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    assert drfopt("report", cluster, "-o", tmp_path / "r.json").status == 0


def test_a_terminal_is_not_flooded_with_html(drfopt, refused, cluster, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    refused(drfopt("report", cluster), "-o report.html")


def test_a_solver_that_fails_leaves_a_page_and_status_3(drfopt, tmp_path, monkeypatch):
    from drfopt.base.errors import SolverError

    module = importlib.import_module("drfopt.solving.comparing")
    real = module.solve

    def fails(instance, policy, **rest):
        if policy == "ceei":
            raise SolverError("the solver gave up")
        return real(instance, policy, **rest)

    monkeypatch.setattr(module, "solve", fails)
    path = tmp_path / "r.html"
    ran = drfopt("report", "nsdi2011", "-o", path)
    assert (ran.status, ran.err) == (3, "incomplete: ceei: the solver gave up\n")
    assert "ceei gave no answer" in path.read_text(encoding="utf-8")


def test_of_one_policy_that_was_late_it_is_said_which(drfopt, tmp_path, monkeypatch):
    module = importlib.import_module("drfopt.solving.comparing")
    real = module.solve
    monkeypatch.setattr(module, "solve", lambda *given, **rest: replace(real(*given, **rest), status="feasible"))
    ran = drfopt("report", "nsdi2011", "-p", "drf", "-o", tmp_path / "r.html")
    assert (ran.status, ran.err) == (3, "incomplete: drf: not proven, feasible\n")


@pytest.mark.parametrize(
    ("asked", "limit"), [([], None), (["--integer"], 100), (["--integer", "--time-limit", "3"], 3)]
)
def test_whole_tasks_of_a_page_come_to_an_end(drfopt, tmp_path, monkeypatch, asked, limit):
    from drfopt.reporting import pages

    given, made = [], pages.report

    def noted(*args, **how):
        given.append(how["time_limit"])
        return made(*args, **how)

    monkeypatch.setattr(pages, "report", noted)
    drfopt("report", "nsdi2011", "--policies", "drf", "-o", tmp_path / "page.json", *asked)
    assert given == [limit]
