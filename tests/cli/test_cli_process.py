"""What only a process of its own can show: pipes, signals, encodings, terminals, time to start."""

import contextlib
import os
import pty
import signal
import subprocess
import sys
import time

import pytest

PROGRAM = [sys.executable, "-m", "drfopt"]
LONG = 300  # seconds; a busy machine is no fault


def run(*arguments, **rest):
    return subprocess.run([*PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=LONG, **rest)


def test_a_broken_pipe_ends_in_silence(cluster):
    reader, writer = os.pipe()
    os.close(reader)
    ran = subprocess.run([*PROGRAM, "solve", cluster], stdout=writer, stderr=subprocess.PIPE, timeout=LONG)
    os.close(writer)
    assert ran.returncode == 141
    assert ran.stderr == b""


@pytest.mark.usefixtures("hears_control_c")
def test_control_c_is_one_line():
    waiting = subprocess.Popen(
        [*PROGRAM, "solve", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    # More than a pipe holds: when all is written, the program reads; soon after it waits for the end.
    waiting.stdin.write("# nothing\n" * 50_000)
    waiting.stdin.flush()
    for _ in range(LONG // 20):
        time.sleep(0.5)
        # Between two readings Python hears nothing: then it is pressed again.
        waiting.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            waiting.wait(timeout=20)
            break
    out, err = waiting.stdout.read(), waiting.stderr.read()
    assert waiting.returncode == 130
    assert (out, err) == ("", "interrupted\n")


@pytest.mark.usefixtures("hears_control_c")
def test_control_c_is_heard_inside_a_solver():
    work = (
        "import hashlib, os, signal, threading\n"
        "from drfopt.cli.working import working\n"
        "with working('deep in C'):\n"
        "    threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGINT]).start()\n"
        "    hashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)\n"
    )
    ran = subprocess.run([sys.executable, "-c", work], capture_output=True, text=True, timeout=LONG)
    assert ran.returncode == 130
    assert ran.stderr == "interrupted\n"


def test_an_encoding_without_blocks_gets_ascii(tmp_path, cluster):
    named = tmp_path / "named.toml"
    named.write_text(cluster.read_text().replace('"A"', '"Zoë"'), encoding="utf-8")
    ran = run("solve", named, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert ran.returncode == 0
    assert ran.stdout.isascii()
    assert "####" in ran.stdout
    assert r"Zo\xeb" in ran.stdout


def test_a_terminal_gets_colour_unless_asked_not_to(cluster):
    assert "\x1b[" in _on_terminal(cluster, {})
    plain = _on_terminal(cluster, {"NO_COLOR": "1"})
    assert "█" in plain
    assert "\x1b[36m" not in plain


def _on_terminal(cluster, more):
    """Return what standard output gets when it is a terminal."""
    parent, child = pty.openpty()
    environment = {"TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8", "COLUMNS": "100"} | more
    environment |= {key: os.environ[key] for key in ("PATH", "PYTHONPATH") if key in os.environ}
    subprocess.run([*PROGRAM, "solve", cluster], stdout=child, stderr=subprocess.DEVNULL, env=environment, timeout=LONG)
    os.close(child)
    pieces = []
    while True:
        try:
            piece = os.read(parent, 65536)
        except OSError:
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(parent)
    return b"".join(pieces).decode()


def test_help_imports_nothing_that_computes():
    show = (
        "import sys\n"
        "from drfopt.cli import main\n"
        "try:\n    main(['--help'])\n"
        "except SystemExit:\n    print({'numpy', 'scipy', 'cvxpy', 'pulp'} & set(sys.modules))\n"
    )
    ran = subprocess.run([sys.executable, "-c", show], capture_output=True, text=True, timeout=LONG)
    assert ran.stdout.splitlines()[-1] == "set()"


def test_completion_knows_policies_and_library(tmp_path):
    def complete(words, word):
        completing = {"_DRFOPT_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(word)}
        return run(env=os.environ | completing).stdout.split()

    assert "utilitarian" in complete("drfopt solve x --policy util", 4)
    assert "nsdi2011" in complete("drfopt solve nsdi", 2)
