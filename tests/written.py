"""Pages that are executed: their Python does what its comments say, their console shows what is printed.

README and the manual share it. What differs from run to run (times, versions, roundings) is not compared.
"""

import ast
import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tokenize
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TRACES = {"nodes.csv": "openb_node_list_all_node.csv", "pods.csv": "openb_pod_list_gpuspec33.csv"}


def blocks(text, language):
    """Return the fenced blocks of a language."""
    return [body for found, body in BLOCK.findall(text) if found == language]


def commands(block):
    """Return command and shown output of each line of a console block that begins with ``$``."""
    found = []
    for line in block.splitlines(keepends=True):
        if line.startswith("$ "):
            found.append((line[2:].strip(), ""))
        else:
            found[-1] = (found[-1][0], found[-1][1] + line)
    return found


def normal(text):
    """Return the text without what differs from run to run: times, versions, roundings, and the widths they make."""
    text = re.sub(r"\b(?:0(?:\.0)?e\+00|\d(?:\.\d+)?e-[1-9]\d)\b", "0", text)
    text = re.sub(r"[\d.e-]+ s$", "T s", text, flags=re.MULTILINE)
    text = re.sub(r'("seconds": )[\d.e-]+', r"\1T", text)
    text = re.sub(r"(numpy|highspy) [\d.]+\w*", r"\1 V", text)
    if "seconds\n" in text:
        text = re.sub(r"(?<= )[\d.]+(?:e-\d+)?(?=$| +off by)", "T", text, flags=re.MULTILINE)
    lines = (re.sub(r"─+", "─", re.sub(r" +", " ", line)).strip() for line in text.splitlines())
    return "\n".join(lines).strip()


def run(command, folder):
    """Return what a shell prints for a command, with this interpreter's ``drfopt`` on the path."""
    programs = folder / "programs"
    if not programs.exists():
        programs.mkdir()
        (programs / "drfopt").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m drfopt "$@"\n')
        (programs / "drfopt").chmod(0o755)
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    imports = os.pathsep.join([str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])])
    ran = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=900,
        cwd=folder,
        env=os.environ | {"PATH": path, "PYTHONPATH": imports, "PYTHONUTF8": "1"},
    )
    assert ran.returncode == 0, f"{command}: exit status {ran.returncode}\n{ran.stdout}"
    return ran.stdout


def laid_out(folder, data):
    """Lay out in a folder what the commands are run beside; `data` is the folder of traces, or None."""
    shutil.copytree(REPOSITORY / "formulations", folder / "formulations", ignore=shutil.ignore_patterns("__pycache__"))
    if data is not None:
        for name, trace in TRACES.items():
            shutil.copy(data / "openb" / trace, folder / name)
    return folder


def python_says(text):
    """Run the Python blocks of a page one after the other; return code, expectation and outcome of each comment."""
    namespace, said = {}, []
    for block in blocks(text, "python"):
        comments = {
            token.start[0]: token.string.lstrip("# ")
            for token in tokenize.generate_tokens(io.StringIO(block).readline)
            if token.type == tokenize.COMMENT
        }
        for node in ast.parse(block).body:
            code = ast.unparse(node)
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                if not isinstance(node, ast.Expr):
                    exec(code, namespace)
                    continue
                value = eval(code, namespace)
            if (expected := comments.get(node.end_lineno)) is not None:
                said.append((code, expected, printed.getvalue().strip() or repr(value)))
    return said


def reprinted(text, folder):
    """Return a page with what its commands print now; what differs only in time and rounding stays as it was."""

    def shown(match):
        if match[1] != "console":
            return match[0]
        lines = []
        for command, before in commands(match[2]):
            printed = "".join(line.rstrip() + "\n" for line in run(command, folder).splitlines())
            lines.append(f"$ {command}\n{before if normal(before) == normal(printed) else printed}")
        return f"```console\n{''.join(lines)}```"

    return BLOCK.sub(shown, text)
