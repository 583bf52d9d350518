"""Every notebook runs from top to bottom, is committed as it ran, and tells nothing about who ran it."""

import ast
import builtins
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

REPOSITORY = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((REPOSITORY / "notebooks").glob("*.ipynb"))

SECONDS_A_CELL = 600  # A busy machine is no fault.
IMPORTS = (ast.Import, ast.ImportFrom)
LONG = ("02-three-notions-of-fair", "03-counterexamples", "05-planning-a-gpu-cluster", "06-section-7")  # 8 s and more
LARGEST_PICTURE = 60_000  # bytes

MACHINE_PATH = re.compile(
    r"(?<![\w.:/])/(?:home|root|Users|tmp|work|workspace|mnt|opt|usr|var|private|content)/"
    r"|\b[A-Za-z]:\\|site-packages|ipykernel_\d"
)


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def texts(notebook: nbformat.NotebookNode) -> list[str]:
    """Return all that a reader sees; pictures are left out, for base64 has slashes of its own."""
    found = [str(notebook.metadata)]
    for cell in notebook.cells:
        found += [cell.source, str(cell.metadata)]
        for output in cell.get("outputs", []):
            found += [str(output.get("text", "")), *map(str, output.get("traceback", []))]
            found += [str(data) for kind, data in output.get("data", {}).items() if not kind.startswith("image/")]
    return found


notebooks = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize(
    "path", [pytest.param(p, id=p.stem, marks=pytest.mark.slow if p.stem in LONG else ()) for p in NOTEBOOKS]
)
def test_it_runs(path, monkeypatch, request):
    # The kernel is a process of its own: it must import this checkout, installed or not.
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    notebook = read(path)
    if any("DRFOPT_DATA" in cell.source for cell in code_cells(notebook)):
        monkeypatch.setenv("DRFOPT_DATA", str(request.getfixturevalue("data_folder")))
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=SECONDS_A_CELL, kernel_name="python3", resources=resources).execute()


def test_section_7_runs_without_traces(monkeypatch, tmp_path):
    """What reads traces is left out where there are none, and no other cell uses a name from there."""
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    monkeypatch.setenv("DRFOPT_DATA", str(tmp_path / "missing"))
    notebook = read(REPOSITORY / "notebooks" / "06-section-7.ipynb")
    first, *rest = code_cells(notebook)
    reading = [cell for cell in rest if "TRACES" in cell.source]
    assert len(reading) == 3
    known = {*dir(builtins), "display"}
    for cell in [first, *(cell for cell in rest if cell not in reading)]:
        tree = list(ast.walk(ast.parse(cell.source)))
        names = [node for node in tree if isinstance(node, ast.Name)]
        known |= {name.id for name in names if not isinstance(name.ctx, ast.Load)}
        known |= {alias.asname or alias.name for node in tree if isinstance(node, IMPORTS) for alias in node.names}
        known |= {node.arg for node in tree if isinstance(node, ast.arg)}
        assert not {name.id for name in names} - known
    notebook.cells = [first, *reading]
    resources = {"metadata": {"path": str(REPOSITORY / "notebooks")}}
    NotebookClient(notebook, timeout=SECONDS_A_CELL, kernel_name="python3", resources=resources).execute()
    assert not any(cell.outputs for cell in notebook.cells)


@notebooks
def test_it_is_committed_as_it_ran(path):
    cells = code_cells(read(path))
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1)), "run all cells, in order"
    outputs = [output for cell in cells for output in cell.outputs]
    assert outputs, "commit the notebook with its outputs"
    assert not [output for output in outputs if output.output_type == "error"]
    # The same channel carries warnings, which name the file they come from.
    assert not [output for output in outputs if output.get("name") == "stderr"]


@notebooks
def test_its_pictures_are_small(path):
    for cell in code_cells(read(path)):
        for output in cell.outputs:
            picture = output.get("data", {}).get("image/svg+xml", "")
            assert len(picture.encode()) <= LARGEST_PICTURE


@notebooks
def test_it_names_no_path_of_a_machine(path):
    for text in texts(read(path)):
        assert not (found := MACHINE_PATH.search(text)), text[max(found.start() - 60, 0) : found.end() + 60]


@pytest.mark.parametrize("text", ["File /home/ada/x.py", "'/tmp/a'", r"C:\Users", "lib/site-packages/numpy"])
def test_a_path_of_a_machine_is_found(text):
    assert MACHINE_PATH.search(text)


@pytest.mark.parametrize("text", ["https://example.org/home/page", "9/18", "cpu/memory", "a/usr/b", "share and/or"])
def test_other_slashes_are_left_alone(text):
    assert not MACHINE_PATH.search(text)
