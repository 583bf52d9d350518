"""The files as files: imports, docstrings, names, copies; and what the README says of them."""

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import cvxpy as cp
import numpy as np
import pulp
import pytest

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

FOLDER = Path(__file__).parents[2] / "formulations"
FILES = [file for file in sorted(FOLDER.glob("*.py")) if file.stem != "rounds"]
README = (FOLDER / "README.md").read_text(encoding="utf-8")
SOLVED_ONCE = {
    "ceei",
    "ceei_integer",
    "drf_equality",
    "asset_equality",
    "efficient_sharing",
    "market_integer",  # without guarantees
}

every_file = pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)


def load(file):
    spec = importlib.util.spec_from_file_location(f"copied_{file.stem}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_folder_is_complete():
    assert {file.stem for file in FILES} == {
        "drf",
        "drf_integer",
        "asset",
        "asset_integer",
        "tsf",
        "guarantees",
        "guarantees_integer",
        "hierarchy",
        "hierarchy_integer",
    } | SOLVED_ONCE


@every_file
def test_imports(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    tree.body, (script,) = tree.body[:-1], tree.body[-1:]  # the script, which needs the loop beside it
    assert ast.unparse(script).startswith("if __name__ == '__main__'")
    imported = {
        name.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names
    } | {node.module.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.level]
    assert imported <= {"numpy", "cvxpy", "pulp", "typing", "math", "collections"}
    assert len(imported & {"cvxpy", "pulp"}) == 1
    assert ("pulp" in imported) == file.stem.endswith("_integer")


@every_file
def test_the_docstring_states_the_program(file):
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    title, empty, *rest = docstring.splitlines()
    assert title.endswith(".") and len(title) <= 100 and not empty
    words = "\n".join(rest)
    order = ["Given ", "Derived ", "Find ", "maximise ", "subject to ", "dual", "Source "]
    places = [words.index(word) for word in order]
    assert places == sorted(places)
    assert max(map(len, rest)) <= 100


@every_file
def test_names_of_the_constraints_stand_in_the_docstring(file, lab):
    source = file.read_text(encoding="utf-8")
    if file.stem.endswith("_integer"):
        data = lab.make([(1, 4), (3, 1)], machines=[(9, 18)], limits=(5, 5), devices=[(0, 2)])
        names = {name.split("_")[0] for name in lab.build(file.stem, data).problem.constraints}
        assert names == set(re.findall(r"\((\w+?)_[ipq]\w*\)$", source, re.MULTILINE))
    else:
        inside = re.search(r"cp\.Problem\(.*, \[(.*)\]\)", source).group(1)
        named = re.findall(r"  \((\w+)\)$", source.split("Source")[0], re.MULTILINE)
        assert inside.replace("*", "").split(", ") == named
        assert f"are {', '.join(named)}, in this order" in source


@every_file
def test_a_copy_works_alone_and_builds_without_solving(file, lab, tmp_path, monkeypatch):
    copy = tmp_path / file.name
    copy.write_bytes(file.read_bytes())
    monkeypatch.setattr(sys, "path", [p for p in sys.path if Path(p or ".").resolve() != FOLDER.parent.resolve()])
    where = {"capacity": (9, 18)} if file.stem == "hierarchy" else {"machines": [(4, 8), (5, 5)], "counts": [2, 1]}
    data = lab.make([(1, 4), (3, 1)], **where)
    before = {name: np.copy(value) for name, value in vars(data).items()}
    program = load(copy).build(data, np.full(2, np.nan))
    assert all(np.array_equal(before[name], value) for name, value in vars(data).items())
    assert isinstance(program, tuple) and program._fields[:3] == ("problem", "tasks", "levels")
    assert set(program._fields[3:]) <= {"shares", "ties", "finished"}
    assert (program.levels is None) == (file.stem in SOLVED_ONCE)
    if file.stem.endswith("_integer"):
        assert isinstance(program.problem, pulp.LpProblem)
        assert program.problem.sense == pulp.LpMaximize
        assert program.problem.status == pulp.LpStatusNotSolved
        assert len(program.tasks) == 2 and program.tasks[0].value() is None
        assert program.levels is None or len(program.levels) == 2
    else:
        assert isinstance(program.problem, cp.Problem) and isinstance(program.problem.objective, cp.Maximize)
        assert program.problem.status is None and program.tasks.value is None
        assert program.tasks.shape == (2,) and program.problem.is_dcp()
        assert program.levels is None or program.levels.shape == (2,)


def test_the_readme_lists_every_file_and_nothing_else():
    assert sorted(set(re.findall(r"^\| \[(\w+\.py)\]\(\1\)", README, re.MULTILINE))) == [f.name for f in FILES]
    assert "[rounds.py](rounds.py)" in README


def test_the_code_of_the_readme_prints_what_it_says(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out.strip().splitlines()
    assert printed == ["[1 2] [0.5 0.5]", "[0] [1.]", re.search(r"print\(steps.*\) +# (.*)", code).group(1)]


def test_what_the_readme_shows_of_a_run_is_printed():
    (shown,) = re.findall(r"```console\n\$ python formulations/drf.py\n(.*?)```", README, re.DOTALL)
    command = [sys.executable, str(FOLDER / "drf.py")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == shown


def test_the_example_of_the_readme(lab):
    data = lab.make([(1, 1), (1, 2), (3, 1)], (1, 1))
    share = np.array((1, 2, 3))
    stated = {"drf": ((2 / 5, 1 / 5, 2 / 15), 6 / 5), "efficient_sharing": ((1 / 3, 4 / 15, 2 / 15), 19 / 15)}
    for name, (tasks, total) in stated.items():
        found, _ = lab.solve(lab.build(name, data))
        assert found == pytest.approx(tasks) and share @ found == pytest.approx(total)
    x = cp.Variable(3, nonneg=True)
    assert cp.Problem(cp.Maximize(share @ x), [data.demands.T @ x <= 1]).solve(solver=cp.HIGHS) == pytest.approx(7 / 5)
    assert x.value == pytest.approx((0, 2 / 5, 1 / 5), abs=1e-9)
