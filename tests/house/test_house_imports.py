"""The arrows of the house: every module imports the floors below its own, and nothing looks up."""

import re
import tomllib

import pytest
from house_source import REPOSITORY, foreign, imports, modules

FLOORS = (
    ("base",),
    ("model",),
    ("io", "certificates"),
    ("engines",),
    ("solving",),
    ("axioms", "planning", "simulation"),
    ("reporting",),
    ("drfopt",),
    ("cli",),
    ("__main__",),
)
"""Rooms of the package, the ground floor first; the package's own face is below the commands that are made of it."""

SHIPPED = {
    "cvxpy": "cvxpy-base",
    "yaml": "PyYAML",
    "jinja2": "Jinja2",
    "markupsafe": "MarkupSafe",
    "distributed": "dask",
    "flint": "python-flint",
    "vl_convert": "vl-convert-python",
}
"""Names of imports that are called otherwise on the package index."""

FLOOR = {unit: number for number, floor in enumerate(FLOORS) for unit in floor}
PACKAGE = modules("drfopt")
VERIFIER = "drfopt.certificates.verifier"
ALONE = (VERIFIER, "drfopt.engines.reference")


def arrows():
    """Yield place, from and to of every import that leaves its file or folder."""
    names = {module.name for module in PACKAGE}
    for module in PACKAGE:
        for line, name in imports(module):
            if name.partition(".")[0] != "drfopt":
                continue
            target = name if name in names else name.rpartition(".")[0]
            unit = target.split(".")[1] if "." in target else "drfopt"
            if unit != module.unit:
                yield f"{module.place}, line {line}", module.unit, unit


def test_every_file_and_folder_has_a_floor():
    assert {module.unit for module in PACKAGE} <= set(FLOOR)


def test_contributors_are_told_the_same_floors():
    text = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
    told = {
        unit: int(floor)
        for floor, units in re.findall(r"^(\d)  (.+)$", text, re.MULTILINE)
        for unit in units.replace("/", "").split()
    }
    roof = len(FLOORS) - 1
    assert told == {unit: FLOOR[unit] for unit in {module.unit for module in PACKAGE} if FLOOR[unit] < roof}


def test_nothing_imports_from_above_nor_from_beside():
    wrong = [
        f"{place}: {source} (floor {FLOOR[source]}) imports {target} (floor {FLOOR[target]})"
        for place, source, target in arrows()
        if FLOOR[target] >= FLOOR[source]
    ]
    assert not wrong, "\n".join(wrong)


def test_no_files_import_each_other_in_a_circle():
    names = {module.name for module in PACKAGE}
    below = {
        module.name: {
            found
            for _, name in imports(module)
            if (found := name if name in names else name.rpartition(".")[0]) in names - {module.name}
        }
        for module in PACKAGE
    }
    while free := {name for name, targets in below.items() if not targets & below.keys()}:
        below = {name: targets for name, targets in below.items() if name not in free}
    assert not below, "\n".join(
        f"{name}: {', '.join(sorted(targets & below.keys()))}" for name, targets in below.items()
    )


def test_what_lies_at_the_top_is_rooms():
    top = {path.name for path in (REPOSITORY / "drfopt").iterdir() if path.name != "__pycache__"}
    files = {"__init__.py", "__main__.py", "py.typed"}
    assert files <= top and len(top) <= 14
    assert all((REPOSITORY / "drfopt" / name).is_dir() for name in top - files)


def test_the_package_imports_what_it_declares_and_nothing_of_the_repository():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    optional = [requirement for name, extra in extras.items() if name != "dev" for requirement in extra]
    declared = [*project["dependencies"], *optional]
    allowed = {re.match(r"[\w-]+", requirement)[0] for requirement in declared}
    wrong = [
        f"{module.place}, line {line}: {name}"
        for module in PACKAGE
        for line, name in foreign(module)
        if SHIPPED.get(name, name) not in allowed
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("module", modules("formulations"), ids=lambda module: module.path.stem)
def test_a_formulation_can_be_copied_anywhere(module):
    assert {name for _, name in foreign(module)} <= {"numpy", "cvxpy", "pulp", "rounds"}, "rounds: to run by itself"
    assert not [name for _, name in imports(module) if name.startswith("formulations")]


def test_the_reference_and_the_verifier_need_nothing_but_fractions():
    used = {name for module in PACKAGE if module.name.startswith(ALONE) for _, name in foreign(module)}
    assert not used


def test_the_verifier_stands_alone():
    files = [module for module in PACKAGE if module.name.startswith(VERIFIER)]
    assert all(len(module.path.read_text(encoding="utf-8").splitlines()) < 300 for module in files)
    assert not [
        name
        for module in files
        for _, name in imports(module)
        if name.startswith("drfopt") and not name.startswith(f"{VERIFIER}.")
    ]
