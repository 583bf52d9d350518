"""The manual is executed: each page's Python says what happens, its console shows what is printed.

Run as a script with names of pages (all without), this file writes into them what the commands print now.
"""

import difflib
import os
import re
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # as a script too
from written import REPOSITORY, TRACES, blocks, commands, laid_out, normal, python_says, reprinted, run

import drfopt
from drfopt import solve
from drfopt.axioms import claims
from drfopt.cli.app import app, program
from drfopt.engines.registry import ENGINES
from drfopt.model.instance import Instance

MANUAL = REPOSITORY / "docs"
FORMULATIONS = ("formulations/README.md",)
PAGES = {
    str(path.relative_to(MANUAL)): path.read_text(encoding="utf-8")
    for path in sorted(MANUAL.rglob("*.md"))
    if not {"generated", "_build"} & set(path.relative_to(MANUAL).parts)
}


def pages_with(language):
    """Return the names of pages with blocks of a language."""
    return [name for name, text in PAGES.items() if blocks(text, language)]


def needs_traces(text):
    """Say whether a page's commands read the public traces."""
    return any(name in block for block in blocks(text, "console") for name in TRACES)


@pytest.mark.slow
@pytest.mark.parametrize("name", pages_with("console"))
def test_the_console_shows_what_is_printed(name, tmp_path, request):
    text = PAGES[name]
    folder = laid_out(tmp_path, request.getfixturevalue("data_folder") if needs_traces(text) else None)
    for block in blocks(text, "console"):
        for command, shown in commands(block):
            printed = normal(run(command, folder))
            difference = difflib.unified_diff(normal(shown).splitlines(), printed.splitlines(), name, command)
            assert normal(shown) == printed, f"python {__file__} {name} rewrites it\n" + "\n".join(difference)


@pytest.mark.parametrize("name", pages_with("python"))
def test_the_python_does_what_its_comments_say(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for code, expected, outcome in python_says(PAGES[name]):
        assert outcome == expected, code


@pytest.mark.parametrize("name", pages_with("toml"))
def test_an_instance_file_shown_is_one(name, tmp_path):
    for number, text in enumerate(blocks(PAGES[name], "toml")):
        path = tmp_path / f"{number}.toml"
        path.write_text(text, encoding="utf-8")
        assert Instance.load(path).n


def test_every_public_name_is_in_the_reference():
    listed = set(re.findall(r"^   (\w+)$", PAGES["api.md"], re.MULTILINE))
    assert listed == set(drfopt.__all__)


def test_every_command_named_is_one():
    known = {command.name or command.callback.__name__ for command in app.registered_commands}
    named = {name for text in PAGES.values() for name in re.findall(r"(?:`|^\$ )drfopt ([a-z][a-z-]*)", text, re.M)}
    assert named <= known


def test_every_option_named_is_one():
    known = {option for command in program.commands.values() for p in command.params for option in p.opts}
    named = {(name, option) for name, text in PAGES.items() for option in re.findall(r"`(--[a-z][a-z-]*)", text)}
    assert {(name, option) for name, option in named if option not in known} == set()


def test_every_page_linked_to_is_there():
    missing = [
        (name, link)
        for name, text in PAGES.items()
        for link in re.findall(r"\]\((?!https?://|#)([^)#\s]+\.md)", text)
        if not ((MANUAL / name).parent / link).exists() and "generated" not in link
    ]
    assert not missing


NAMED = re.compile(r"`((?:drfopt|tests|docs|benchmarks|formulations|notebooks)/[\w./-]*)`")


def test_every_path_named_is_there():
    texts = PAGES | {name: (REPOSITORY / name).read_text("utf-8") for name in ("CONTRIBUTING.md", *FORMULATIONS)}
    missing = [
        (name, path)
        for name, text in texts.items()
        for path in NAMED.findall(text)
        if not (REPOSITORY / path).exists() and "generated" not in path
    ]
    assert not missing


def test_letters_are_those_of_the_code():
    _, cluster, answer, _ = re.split(r"^\| symbol |^## Properties", PAGES["policies/index.md"], flags=re.MULTILINE)
    allocation = solve(Instance([[1, 1]], machines=[[2, 2]]))
    for table, value in ((cluster, allocation.instance), (answer, allocation)):
        names = [
            name
            for row in re.findall(r"^\| \$.*?\| (.*?) \|", table, re.MULTILINE)
            for name in re.findall(r"`(\w+)`", row)
        ]
        assert len(names) > 3
        assert not [name for name in names if not hasattr(value, name)]


def test_engines_that_stand_behind_others_are_those_of_the_code():
    table = PAGES["theory/algorithms.md"].split("| engine | then |")[1].split("\n\n")[0]
    told, known = {}, {engine.name for engine in ENGINES}
    for row in re.findall(r"^\| (`.*?) \| (.*) \|$", table, re.MULTILINE):
        names, behind = (re.findall(r"`([\w-]+)`", cell) for cell in row)
        told |= dict.fromkeys(set(names) & known, tuple(behind))
        most = {name: ENGINES.named(name).most for name in behind}
        assert {f"{number:,}" for number in most.values() if number} == set(re.findall(r"up to ([\d,]+) users", row[1]))
    assert told == {engine.name: engine.then for engine in ENGINES if engine.then}


def test_the_manual_names_no_inner_module():
    inner = re.compile(r"\b(?:from|import) drfopt\.|\bdrfopt/\w+(?:/|\.py)")
    assert not [(n, found[0]) for n, text in PAGES.items() if n != "developers.md" and (found := inner.search(text))]


@pytest.mark.slow
def test_it_is_built_without_a_warning(tmp_path):
    for needed in ("myst_nb", "latex2mathml"):
        pytest.importorskip(needed, reason="the extra docs is not installed")
    ran = run(f"cd '{REPOSITORY}' && '{sys.executable}' -m sphinx -W -q docs '{tmp_path}/html'", tmp_path)
    assert "WARNING" not in ran
    assert (tmp_path / "html/index.html").exists()
    theorems = (tmp_path / "html/theory/theorems.html").read_text(encoding="utf-8")
    assert theorems.count("<p>positive demands</p>") == len(claims.POLICIES)
    for path in (tmp_path / "html").rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r'(?:src|href)="(?:https?:)?//[^"]*\.(?:js|css)"', text), f"{path.name} needs a network"
    assert "<math " in (tmp_path / "html/policies/ceei.html").read_text(encoding="utf-8")
    page = (tmp_path / "html/generated/cli.html").read_text(encoding="utf-8")
    for command in app.registered_commands:
        assert f'id="drfopt-{command.name or command.callback.__name__}"' in page
    for name in drfopt.__all__:
        reference = (tmp_path / f"html/generated/api/drfopt.{name}.html").read_text(encoding="utf-8")
        assert f'id="drfopt.{name}"' in reference
    assert 'id="drfopt.Instance.load"' in (tmp_path / "html/generated/api/drfopt.Instance.html").read_text("utf-8")


if __name__ == "__main__":
    traces = Path(os.environ["DRFOPT_DATA"]).resolve()
    for page in sys.argv[1:] or pages_with("console"):
        with tempfile.TemporaryDirectory() as folder:
            text = PAGES[page]
            new = reprinted(text, laid_out(Path(folder), traces if needs_traces(text) else None))
            (MANUAL / page).write_text(new, encoding="utf-8")
