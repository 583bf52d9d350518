"""README is executed: its Python says what happens, its console shows what is printed, its set-up is what CI runs.

Run as a script, this file writes into README what the commands print now, and its tables.
"""

import difflib
import os
import re
import sys
import tempfile
from pathlib import Path

import pytest
from written import REPOSITORY, TRACES, blocks, commands, laid_out, normal, python_says, reprinted, run

from benchmarks import headlines, page
from drfopt.cli.app import app
from drfopt.model.instance import Instance
from drfopt.model.policies import POLICIES

README = REPOSITORY / "README.md"
TABLE = re.compile(r"(<!-- (policies|comparison) -->\n)(.*?)(<!-- end of \2 -->)", re.DOTALL)
WRITTEN = README.read_text(encoding="utf-8")


def policies_table():
    """Return the table of policies as README has it."""
    heading = "| policy | what it is | share compared | objective | weights |\n|---|---|---|---|---|\n"
    return heading + "".join(
        f"| [`{row.name}`](docs/policies/{row.name.partition(':')[0]}.md) | {row.summary} | {row.measure} "
        f"| {row.objective} | {row.weights} |\n"
        for row in POLICIES
    )


def comparison_table():
    """Return the table of peers as README has it."""
    return headlines.compared(page.read())


TABLES = {"policies": policies_table, "comparison": comparison_table}


@pytest.mark.parametrize("block", blocks(WRITTEN, "console"), ids=lambda block: commands(block)[0][0])
def test_the_console_shows_what_is_printed(block, tmp_path, request):
    needs_traces = any(name in block for name in TRACES)
    folder = laid_out(tmp_path, request.getfixturevalue("data_folder") if needs_traces else None)
    for command, shown in commands(block):
        printed = run(command, folder)
        difference = difflib.unified_diff(normal(shown).splitlines(), normal(printed).splitlines(), "README", command)
        assert normal(shown) == normal(printed), "python tests/test_readme.py rewrites it\n" + "\n".join(difference)


def test_the_picture_is_what_the_package_draws(tmp_path):
    pytest.importorskip("vl_convert")
    drawn = run(f"'{sys.executable}' '{REPOSITORY}/docs/_ext/picture.py' drawn.svg && cat drawn.svg", tmp_path)
    shown = (REPOSITORY / "docs/_static/policies.svg").read_text(encoding="utf-8")
    amounts = re.compile(r"<text[^>]*>([^<]*)</text>")
    assert amounts.findall(drawn) == amounts.findall(shown), "python docs/_ext/picture.py draws it anew"
    assert {"3 cpu", "12 memory", "4.09 cpu"} <= set(amounts.findall(shown))


def test_it_is_short():
    assert WRITTEN.count("\n") <= 160


def test_a_wrong_number_would_be_noticed():
    shown = commands(blocks(WRITTEN, "console")[0])[0][1]
    assert "3  0.666667" in shown
    assert normal(shown.replace("3  0.666667", "4  0.666667")) != normal(shown)
    assert normal("violation 2.2e-09") != normal("violation 2.2e-16") == normal("violation 0.0e+00")


def test_the_python_does_what_its_comments_say(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = python_says(WRITTEN)
    for code, expected, outcome in said:
        assert outcome == expected, code
    assert len(said) > 2


def test_an_instance_file_shown_is_one(tmp_path):
    for number, text in enumerate(blocks(WRITTEN, "toml")):
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


def test_set_up_is_two_commands_and_ci_runs_the_second_before_all_else():
    use, tests = (block.strip() for block in blocks(WRITTEN, "sh"))
    assert "\n" not in use + tests
    assert use.endswith("drfopt solve nsdi2011")
    assert tests.endswith(" && .venv/bin/pytest")
    script = REPOSITORY / ".ci/run"
    longer = ".venv/bin/python tests/run.py"
    assert script.read_text(encoding="utf-8").splitlines()[-1] == f"{tests} && {longer}"
    assert os.access(script, os.X_OK)
    shown = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8").splitlines()
    assert tests in shown
    assert longer in shown


def rewritten(folder):
    """Return README with what its commands print now, and with the tables of the registries."""

    return TABLE.sub(lambda match: match[1] + TABLES[match[2]]() + match[4], reprinted(WRITTEN, folder))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        traces = Path(os.environ["DRFOPT_DATA"]).resolve()
        README.write_text(rewritten(laid_out(Path(name), traces)), encoding="utf-8")
