"""No home to write to, the C locale, no terminal: what is asked is answered, with nothing on standard error."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HOMES = {
    # Not even root can write there: a folder that takes no files, a file in its place, nothing that could be made.
    "read-only": "/proc/self",
    "a file": os.devnull,
    "missing": f"{os.devnull}/home",
}

CHILD = """
import json, os, sys
from drfopt.cli import main

try:
    os.makedirs(os.path.join(os.path.expanduser("~"), ".cache", "drfopt"))
except OSError:
    pass
else:
    sys.exit("this home can be written to")
ended = []
for arguments in json.load(sys.stdin):
    try:
        main(arguments)
    except SystemExit as end:
        ended.append(end.code or 0)
print(file=sys.stderr)
print(json.dumps(ended), file=sys.stderr)

import drfopt
instance = drfopt.Instance([[1, 4], [3, 1]], [9, 18])
assert drfopt.solve(instance, "ceei").certificate.valid
assert len(drfopt.solve(instance).to_frame()) == 2
"""

SHORT = (
    ("solve", "nsdi2011"),
    ("solve", "drfh-two-servers", "-p", "ceei"),
    ("simulate", "two-users", "--plot", "shares.png"),
)
LONG = (
    *SHORT,
    *((command, "nsdi2011") for command in ("compare", "crosscheck", "schedule", "explain", "price")),
    ("report", "nsdi2011", "-o", "page.html"),
    ("solve", "nsdi2011", "--integer"),
    ("solve", "nsdi2011", "--exact"),
    ("audit", "nsdi2011", "--policy", "ceei", "--property", "envy-freeness"),
    ("whatif", "nsdi2011", "--set-limit", "A=1"),
    ("sweep", "nsdi2011", "--factors", "1,2", "--jobs", "2"),
    ("search", "--sample", "2"),
    ("export", "nsdi2011", "--to", "csv", "-o", "quota.csv"),
    ("--help",),
    ("new",),
)


@pytest.mark.parametrize(
    ("home", "commands"),
    [
        pytest.param("read-only", SHORT, id="read-only"),
        *(pytest.param(home, LONG, id=f"{home}, all", marks=pytest.mark.slow) for home in HOMES),
    ],
)
def test_no_home_is_written_to(home: str, commands: tuple, tmp_path: Path) -> None:
    bare = {"PATH": os.environ["PATH"], "HOME": HOMES[home], "LC_ALL": "C", "LANG": "C", "TMPDIR": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "-c", CHILD],
        input=json.dumps(commands).encode(),
        env=bare,
        cwd=tmp_path,
        capture_output=True,
        start_new_session=True,
        timeout=900,
    )
    assert ran.returncode == 0, ran.stderr.decode()
    said, ended = ran.stderr.decode().strip().rpartition("\n")[::2]
    assert json.loads(ended) == [0] * len(commands)
    assert not said.strip()
    assert (tmp_path / "shares.png").stat().st_size
