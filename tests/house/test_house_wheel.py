"""The wheel holds the package and nothing else, and works where the repository is not."""

import json
import os
import subprocess
import sys
import zipfile

import pytest
from house_source import REPOSITORY

PACKAGE = REPOSITORY / "drfopt"
BUILD = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    ran = subprocess.run([*BUILD, folder], capture_output=True, text=True, timeout=600, cwd=REPOSITORY)
    assert ran.returncode == 0, ran.stderr
    (path,) = folder.iterdir()
    return path


def test_the_wheel_holds_exactly_the_package(wheel):
    with zipfile.ZipFile(wheel) as archive:
        shipped = {name for name in archive.namelist() if ".dist-info/" not in name}
    sources = {path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert {path.suffix for path in sources} == {".py", ".toml", ".typed", ".html", ".css", ".js"}
    assert shipped == {path.relative_to(REPOSITORY).as_posix() for path in sources}


def test_the_wheel_says_what_it_is(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (home,) = {name.partition("/")[0] for name in archive.namelist() if ".dist-info/" in name}
        about = archive.read(f"{home}/METADATA").decode()
        licence = archive.read(f"{home}/licenses/LICENSE")
        entry = archive.read(f"{home}/entry_points.txt").decode()
    assert "License-Expression: Apache-2.0" in about
    assert licence == (REPOSITORY / "LICENSE").read_bytes()
    assert "drfopt = drfopt.cli:main" in entry


@pytest.mark.wheel
def test_the_wheel_works_where_the_repository_is_not(wheel, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True, timeout=600)
    programs = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    elsewhere = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}

    def run(program, *arguments):
        ran = subprocess.run(
            [programs / program, *arguments], capture_output=True, text=True, timeout=600, cwd=tmp_path, env=elsewhere
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    run("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    where = run("python", "-c", "import drfopt; print(drfopt.__file__)")
    assert str(tmp_path / "venv") in where

    answer = json.loads(run("drfopt", "solve", "nsdi2011", "--json"))
    assert [user["tasks"] for user in answer["users"]] == [3, 2]
    assert answer["certificate"]["valid"]
    for options in (["--policy", "ceei"], ["--integer"], ["--exact"], ["--engine", "lp-chain"]):
        run("drfopt", "solve", "nsdi2011", *options)
    run("drfopt", "solve", "nsdi2011", "--policy", "ceei", "--engine", "conic")
    run("drfopt", "crosscheck", "nsdi2011", "--integer")
    assert len(json.loads(run("drfopt", "library", "--json"))) > 50
    run("drfopt", "new", "-o", "cluster.toml")
    run("drfopt", "compare", "cluster.toml")
    run("drfopt", "report", "cluster.toml", "-o", "report.json")
    # A page draws, which is an extra.
    asked = [programs / "drfopt", "report", "cluster.toml", "-o", "report.html"]
    ran = subprocess.run(asked, capture_output=True, text=True, cwd=tmp_path, env=elsewhere)
    assert ran.returncode == 2
    assert 'pip install "drfopt[plot]"' in ran.stderr
    run("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[plot]")
    run("drfopt", "report", "cluster.toml", "-o", "report.html")
    refused = "import formulations"
    ran = subprocess.run([programs / "python", "-c", refused], capture_output=True, cwd=tmp_path, env=elsewhere)
    assert ran.returncode == 1
