"""Every file runs by itself: its example round by round, other numbers, and faults in one line; no drfopt anywhere."""

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from formulations import rounds

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:Solution may be inaccurate")

FOLDER = Path(__file__).resolve().parents[2] / "formulations"
EXAMPLE = {  # tasks of the paper's two users; what the two of organisations add to it is told in their files
    "drf": (3, 2),
    "drf_integer": (3, 2),
    "drf_equality": (3, 2),
    "tsf": (3, 2),
    "asset": (63 / 25, 54 / 25),
    "asset_equality": (63 / 25, 54 / 25),
    "asset_integer": (3, 2),
    "ceei": (45 / 11, 18 / 11),
    "ceei_integer": (3, 2),
    "efficient_sharing": (45 / 11, 18 / 11),
    "guarantees": (4, 5 / 3),
    "guarantees_integer": (4, 1),
    "hierarchy": (3 / 2, 3 / 2, 2),
    "hierarchy_integer": (1, 2, 2),
    "market_integer": (3, 2),
}
OF_KINDS = {"guarantees_integer", "hierarchy_integer", "market_integer"}
RACKS = {"demands": [[1, 1], [1, 2], [3, 1]], "machines": [[4, 6], [6, 4]], "counts": [2, 1]}


@pytest.fixture
def printed(monkeypatch, capsys):
    """Run a file as a script; return what it prints, or the words that it ends with."""

    def printed(stem, *arguments):
        monkeypatch.setattr(sys, "argv", [str(FOLDER / f"{stem}.py"), *map(str, arguments)])
        monkeypatch.syspath_prepend(FOLDER)
        try:
            runpy.run_path(str(FOLDER / f"{stem}.py"), run_name="__main__")
        except SystemExit as end:
            return str(end)
        finally:
            sys.modules.pop("rounds", None)
        return capsys.readouterr().out

    return printed


@pytest.mark.parametrize("stem", sorted(EXAMPLE))
def test_it_tells_its_example_round_by_round(stem, printed):
    text = printed(stem)
    title, program, _, capacity, *_ = text.splitlines()
    assert title.endswith(".") and program.startswith("max ")
    assert ("D[p, j] z[p] <= c[j]" if stem in OF_KINDS else "d[i, j] x[i] <= c[j]") in program
    assert capacity == "capacity   9 cpu, 18 memory"
    found = [float(x) for x in re.findall(r"^\w+ +([\d.]+)  +[\d.]+  +[\d.]+$", text, re.MULTILINE)]
    assert found == pytest.approx(EXAMPLE[stem], rel=1e-5)
    assert ("round 1" in text) != ("solved once" in text)
    if "round 1" in text:
        assert "finished" in text and "level" in text and "stopped" in text
    assert ("none: the program has whole numbers" in text) == (stem.endswith("_integer") or stem == "hierarchy")


def test_the_folder_has_no_other_file():
    assert {file.stem for file in FOLDER.glob("*.py")} == {*EXAMPLE, "rounds"}


def test_other_numbers_and_a_second_round(printed, tmp_path):
    (tmp_path / "own.json").write_text(json.dumps({"demands": [[1, 0], [0, 1], [0, 1]], "capacity": [1, 1]}))
    text = printed("drf", "--data", tmp_path / "own.json")
    assert re.findall(r"^round (\d) +level (.*)$", text, re.MULTILINE) == [("1", "0.5"), ("2", "1")]
    assert "user 2, user 3: a positive dual" in text
    assert "user 1 by resource 1" in text


def test_machines_and_limits(printed, tmp_path):
    (tmp_path / "own.json").write_text(json.dumps(RACKS | {"limits": [1, None, None]}))
    assert "user 1 by its limit" in printed("drf", "--data", tmp_path / "own.json")
    data = rounds.read(tmp_path / "own.json")
    assert data.eligible.all() and data.capacity.tolist() == [14, 16]
    assert rounds.steps(rounds_of("drf_integer"), data)[-1].tasks.tolist() == [1, 5, 2]


def rounds_of(stem):
    return runpy.run_path(str(FOLDER / f"{stem}.py"))["build"]


@pytest.mark.parametrize(
    "given, words",
    [
        ("[1]", "an object of arrays"),
        ("{", "Expecting property name"),
        ('{"demands": [[1]], "capacity": [4], "kk": 1}', "'kk' is no array"),
        ('{"demands": [[1]]}', "either capacity (of a pool) or machines"),
        ('{"demands": [[1, [1]]], "capacity": [4, 6]}', "every array is a list of numbers"),
        ('{"demands": [[1, 1]], "capacity": [4]}', "capacity has shape (1,), and (2,) is needed"),
        ('{"demands": [[1, 1], [0, 0]], "capacity": [4, 4]}', "'user 2' cannot run a task, or needs nothing"),
        ('{"demands": [[1]], "capacity": [4], "tiers": [1]}', "makes no use of tiers"),
        (None, "No such file"),
    ],
)
def test_a_fault_is_one_line(given, words, printed, tmp_path):
    if given is not None:
        (tmp_path / "own.json").write_text(given)
    text = printed("drf", "--data", tmp_path / "own.json")
    assert text.startswith("error: ") and words in text and "\n" not in text


def test_machines_are_refused_by_a_notion_of_one_pool(printed, tmp_path):
    (tmp_path / "own.json").write_text(json.dumps({"demands": [[1]], "machines": [[4]]}))
    assert "stated in one pool" in printed("hierarchy", "--data", tmp_path / "own.json")


def test_a_copy_says_what_it_needs_to_run(tmp_path, monkeypatch):
    (tmp_path / "drf.py").write_bytes((FOLDER / "drf.py").read_bytes())
    monkeypatch.setattr(sys, "path", [p for p in sys.path if Path(p or ".").resolve() != FOLDER])
    with pytest.raises(SystemExit, match=r"^error: rounds\.py, the loop over rounds, must lie beside this file"):
        runpy.run_path(str(tmp_path / "drf.py"), run_name="__main__")


def test_copies_run_where_nothing_of_this_repository_can_be_imported(tmp_path):
    for name in ("drf.py", "rounds.py"):
        (tmp_path / name).write_bytes((FOLDER / name).read_bytes())
    script = "import runpy, sys; sys.path[:0] = ['.']; runpy.run_path('drf.py', run_name='__main__')"
    command = [sys.executable, "-I", "-c", f"{script}; assert 'drfopt' not in sys.modules"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "round 1    level 0.666667" in ran.stdout


def test_who_stays_is_a_choice_of_whole_tasks():
    """Room for three tasks and two users alike: either has one; a third, smaller one is not kept by that."""
    data, *_ = rounds.arrays({"demands": [[2], [2], [1]], "capacity": [7]})
    found = rounds.steps(rounds_of("drf_integer"), data)
    assert sorted(found[-1].levels) == pytest.approx([2 / 7, 2 / 7, 3 / 7])
    assert [int(step.finished.sum()) for step in found] == [1, 1, 1, 0]


def test_a_program_without_an_optimum_is_refused():
    data, *_ = rounds.arrays({"demands": [[1]], "capacity": [1], "promised": [2]})
    with pytest.raises(ValueError, match="no optimum: infeasible"):
        rounds.steps(rounds_of("guarantees"), data)
