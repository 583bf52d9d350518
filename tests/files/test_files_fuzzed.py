"""Spoiled files, given to every reader and to ``verify``: an answer or one line, in bounded time and memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import mutations
import pytest

FEW, MANY, AT_A_TIME = 60, 3_000, 500


def formats() -> list[str]:
    """The folder of samples of the formats: DRFOPT_FORMATS, or beside the traces, if there is one."""
    given = os.environ.get("DRFOPT_FORMATS"), os.environ.get("DRFOPT_DATA")
    folder = Path(given[0]) if given[0] else Path(given[1]).parent / "formats" if given[1] else None
    return [str(folder)] if folder is not None and folder.is_dir() else []


def wrong(folder: Path, first: int, last: int, samples: list[str]) -> list[dict]:
    """Return what went wrong with the files of these seeds, which a process of their own reads."""
    ran = subprocess.run(
        [sys.executable, mutations.__file__, str(folder), str(first), str(last), *samples],
        capture_output=True,
        text=True,
        timeout=1200,
        # Memory is bounded there: not to be spent on a thread for each of very many cores.
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    said = {line["seed"]: line for line in map(json.loads, ran.stdout.splitlines())}
    assert said or first == last, ran.stderr[-2000:]
    assert len(said) == last - first or any(line["wrong"] for line in said.values()), ran.stderr[-2000:]
    return [line for line in said.values() if line["wrong"]]


def test_a_few_spoiled_files(tmp_path: Path) -> None:
    assert wrong(tmp_path, 0, FEW, []) == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FEW, FEW + MANY, AT_A_TIME))
def test_many_spoiled_files(tmp_path: Path, first: int) -> None:
    assert wrong(tmp_path, first, first + AT_A_TIME, formats()) == []


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ("print('error: drfopt itself is at fault', file=sys.stderr); sys.exit(3)", "at fault"),
        ("print('error: out of memory', file=sys.stderr); sys.exit(3)", "out of memory"),
        ("print('error: one\\nerror: two', file=sys.stderr); sys.exit(2)", "not one line"),
        ("sys.exit(139)", "exit status 139"),
        ("raise KeyError('x')", "raises KeyError"),
        ("\nwhile True: pass", "seconds"),
        ("sys.exit(1)", ""),
    ],
)
def test_what_is_wrong_is_seen(monkeypatch, behaviour: str, words: str) -> None:
    monkeypatch.setattr(mutations, "METHODS", 0.2)
    monkeypatch.setattr("drfopt.cli.main", lambda arguments: exec(behaviour, {"sys": sys}))
    found = mutations.ran(["solve"])
    assert words in found and bool(found) == bool(words)
