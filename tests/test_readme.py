"""README is executed: its Python says what happens, its console shows what is printed, its set-up is what CI runs.

Run as a script, this file writes into README what the commands print now, and its tables.
"""

import ast
import contextlib
import difflib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tokenize
from pathlib import Path

import pytest

from benchmarks import headlines, page
from drfopt.audit import claims
from drfopt.cli.app import app
from drfopt.instance import Instance
from drfopt.policies import POLICIES

REPOSITORY = Path(__file__).resolve().parent.parent
README = REPOSITORY / "README.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"(<!-- (policies|claims|figures) -->\n)(.*?)(<!-- end of \2 -->)", re.DOTALL)
TRACES = {"nodes.csv": "openb_node_list_all_node.csv", "pods.csv": "openb_pod_list_gpuspec33.csv"}

WRITTEN = README.read_text(encoding="utf-8")


def blocks(language):
    """Return the fenced blocks of a language."""
    return [body for found, body in BLOCK.findall(WRITTEN) if found == language]


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
    text = re.sub(r"\b(?:0(?:\.0)?e\+00|\d(?:\.\d+)?e-[1-3]\d)\b", "0", text)
    text = re.sub(r"[\d.e-]+ s$", "T s", text, flags=re.MULTILINE)
    text = re.sub(r'("seconds": )[\d.e-]+', r"\1T", text)
    text = re.sub(r"(numpy|highspy) [\d.]+\w*", r"\1 V", text)
    if "seconds\n" in text:
        text = re.sub(r"(?<= )[\d.]+(?:e-\d+)?$", "T", text, flags=re.MULTILINE)
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
        timeout=120,
        cwd=folder,
        env=os.environ | {"PATH": path, "PYTHONPATH": imports, "PYTHONUTF8": "1"},
    )
    assert ran.returncode == 0, f"{command}: exit status {ran.returncode}\n{ran.stdout}"
    return ran.stdout


def laid_out(folder, data):
    """Lay out in a folder what the commands of README are run beside; `data` returns the folder of traces."""
    shutil.copytree(REPOSITORY / "formulations", folder / "formulations", ignore=shutil.ignore_patterns("__pycache__"))
    if data is not None:
        for name, trace in TRACES.items():
            shutil.copy(data / "openb" / trace, folder / name)
    return folder


def claims_table():
    """Return the table of claims as README has it."""
    return claims.table((claims.POSITIVE,))


def policies_table():
    """Return the table of policies as README has it."""
    heading = "| policy | what it is | share compared | objective | weights |\n|---|---|---|---|---|\n"
    return heading + "".join(
        f"| `{row.name}` | {row.summary} | {row.measure} | {row.objective} | {row.weights} |\n" for row in POLICIES
    )


def figures_table():
    """Return the table of figures as README has it."""
    return headlines.table(page.read())


TABLES = {"policies": policies_table, "claims": claims_table, "figures": figures_table}


@pytest.mark.parametrize("block", blocks("console"), ids=lambda block: commands(block)[0][0])
def test_the_console_shows_what_is_printed(block, tmp_path, request):
    needs_traces = any(name in block for name in TRACES)
    folder = laid_out(tmp_path, request.getfixturevalue("data_folder") if needs_traces else None)
    for command, shown in commands(block):
        printed = run(command, folder)
        difference = difflib.unified_diff(normal(shown).splitlines(), normal(printed).splitlines(), "README", command)
        assert normal(shown) == normal(printed), "python tests/test_readme.py rewrites it\n" + "\n".join(difference)


def test_a_wrong_number_would_be_noticed():
    shown = commands(blocks("console")[0])[0][1]
    assert "3  0.666667" in shown
    assert normal(shown.replace("3  0.666667", "4  0.666667")) != normal(shown)
    assert normal("violation 2.2e-09") != normal("violation 2.2e-16") == normal("violation 0.0e+00")


def test_the_python_does_what_its_comments_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace, said = {}, 0
    for block in blocks("python"):
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
                assert (printed.getvalue().strip() or repr(value)) == expected, code
                said += 1
    assert said > 5


def test_an_instance_file_shown_is_one(tmp_path):
    for number, text in enumerate(blocks("toml")):
        path = tmp_path / f"{number}.toml"
        path.write_text(text, encoding="utf-8")
        assert Instance.load(path).n


def test_tables_are_those_of_the_registries():
    shown = {match[2]: match[3] for match in TABLE.finditer(WRITTEN)}
    assert shown == {name: table() for name, table in TABLES.items()}, "python tests/test_readme.py rewrites it"


def test_every_command_named_is_one():
    known = {command.name or command.callback.__name__ for command in app.registered_commands}
    assert set(re.findall(r"`drfopt ([a-z][a-z-]*)", WRITTEN)) <= known


def test_every_file_linked_to_is_there():
    links = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", WRITTEN)
    assert links
    assert not [link for link in links if not (REPOSITORY / link).exists()]


def test_set_up_is_two_commands_and_ci_runs_the_second():
    use, tests = (block.strip() for block in blocks("sh"))
    assert "\n" not in use + tests
    assert use.endswith("drfopt solve nsdi2011")
    assert tests.endswith("tests/run.py")
    script = REPOSITORY / ".ci/run"
    assert script.read_text(encoding="utf-8").splitlines()[-1] == tests
    assert os.access(script, os.X_OK)
    assert tests in (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()


def rewritten(folder):
    """Return README with what its commands print now, and with the tables of the registries."""

    def shown(match):
        if match[1] != "console":
            return match[0]
        lines = []
        for command, before in commands(match[2]):
            printed = "".join(line.rstrip() + "\n" for line in run(command, folder).splitlines())
            # What differs only in time and rounding stays as it was.
            lines.append(f"$ {command}\n{before if normal(before) == normal(printed) else printed}")
        return f"```console\n{''.join(lines)}```"

    return TABLE.sub(lambda match: match[1] + TABLES[match[2]]() + match[4], BLOCK.sub(shown, WRITTEN))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        traces = Path(os.environ.get("DRFOPT_DATA") or REPOSITORY / "../shared/data").resolve()
        README.write_text(rewritten(laid_out(Path(name), traces)), encoding="utf-8")
