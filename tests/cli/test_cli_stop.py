"""A search for whole tasks that is stopped, by its time limit or by Ctrl-C, prints what is known and exits with 3."""

import json
import signal
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest

from drfopt.cli import working
from drfopt.io.text.files import unfinished
from drfopt.model.instance import Instance
from drfopt.planning import advice

STOPPED = """
import os, signal
from drfopt.cli.app import app
from drfopt.engines.whole import integer_program

inner, pressed = integer_program.stop, []
def stop(deadline, kind, message, out, answer, data):
    # As soon as HiGHS knows an allocation, however long that takes here: seconds say nothing under load.
    if abs(out.mip_primal_bound) < 1e300 and not pressed:
        pressed.append(os.kill(os.getpid(), signal.SIGINT))
    inner(deadline, kind, message, out, answer, data)
integer_program.stop = stop
app()
"""


@pytest.fixture(scope="module")
def hard(tmp_path_factory):
    """Sixty users whose largest sum is out of reach for minutes."""
    rng = np.random.default_rng(3)
    file = tmp_path_factory.mktemp("hard") / "hard.toml"
    demands = rng.integers(1, 101, (60, 4))
    Instance(demands, np.floor(40 * demands.sum(axis=0) * rng.uniform(0.9, 1.1, 4))).save(file)
    return file


@pytest.mark.usefixtures("hears_control_c")
def test_ctrl_c_prints_what_is_known(hard):
    words = ["solve", str(hard), "--integer", "--policy", "utilitarian", "--json"]
    ran = subprocess.run([sys.executable, "-c", STOPPED, *words], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 3
    assert "Ctrl-C again" in ran.stderr
    found = json.loads(ran.stdout)
    assert found["status"] == "time_limit"
    assert found["certificate"]["valid"] is None
    assert sum(user["tasks"] for user in found["users"]) > 0


@pytest.mark.usefixtures("hears_control_c")
@pytest.mark.parametrize("presses", [1, 2])
@pytest.mark.parametrize("command", [["solve"], ["solve", "--integer"], ["explain"], ["explain", "--integer"]])
def test_ctrl_c_in_the_advice_leaves_the_answer(command, presses, drfopt, tmp_path, monkeypatch):
    """What is proven is printed, with its own exit status; only what to buy is left out."""
    file = tmp_path / "cluster.toml"
    Instance({"A": {"cpu": 1}, "B": {"cpu": 2}}, {"cpu": 5}, max_tasks={"B": 4}).save(file)
    whole = drfopt(command[0], file, *command[1:])
    tried = advice._tried

    def pressed(*given):
        for _ in range(presses):
            signal.raise_signal(signal.SIGINT)
        return tried(*given)

    monkeypatch.setattr(advice, "_tried", pressed)
    ran = drfopt(command[0], file, *command[1:])
    assert (ran.status, whole.status) == (0, 0)
    assert "Ctrl-C again" in ran.err
    lines = [[line for line in found.out.splitlines() if "engine" not in line] for found in (ran, whole)]
    assert lines[1][-1].startswith("to buy: ")
    assert lines[0] == lines[1][:-1]


def test_a_time_limit_prints_what_is_known(hard):
    words = ["solve", str(hard), "--integer", "--policy", "ceei", "--time-limit", "0.3", "--json"]
    ran = subprocess.run([sys.executable, "-m", "drfopt", *words], capture_output=True, text=True, timeout=300)
    found = json.loads(ran.stdout)
    assert ran.returncode == (0 if found["status"] == "optimal" else 3)
    assert found["certificate"]["gap"] < 0.01


def test_who_ends_the_process_takes_away_what_is_unfinished(tmp_path, monkeypatch, capsys):
    """A solver, or the end of a cluster of workers, does not let the block end within the grace."""
    ended = []
    monkeypatch.setattr(working, "GRACE", 0.0)
    monkeypatch.setattr(working.os, "_exit", lambda status: ended.append((status, list(tmp_path.iterdir()))))
    heard, writer = socket.socketpair()
    with unfinished(tmp_path / ".answer.part"):
        (tmp_path / ".answer.part").mkdir()
        with writer:
            writer.send(bytes([signal.SIGINT]))
        working._listen(heard, threading.Event(), lambda: None)
    assert ended == [(130, [])]
    assert capsys.readouterr().err == "interrupted\n"
