"""The arrows of the house: every module imports the floors below its own, and nothing looks up."""

import re
import tomllib

import pytest
from house_source import REPOSITORY, foreign, imports, modules

FLOORS = (
    (
        "errors",
        "tolerances",
        "quantities",
        "enclosures",
        "rationals",
        "verifier",
        "deadline",
        "progress",
        "tables",
        "parallel",
        "threads",
        "rowwise",
    ),
    (
        "arrays",
        "naming",
        "machine",
        "task_types",
        "organisation",
        "users",
        "instance",
        "allocation",
        "library",
        "readers",
        "writers",
    ),
    ("policies", "packings", "ascent", "certificates"),
    ("engines", "reference"),
    ("solve", "schedule", "batch"),
    ("compare", "beside", "crosscheck", "audit", "planning", "simulation", "sweep"),
    ("cli", "report"),
    ("drfopt", "__main__"),
)
"""Files and folders of the package, the ground floor first; on top the package's own face."""

SAME_FLOOR = {
    ("cli", "report"): "a command is the door to the page",
    ("enclosures", "rationals"): "an exact number is written as fast as long integers can be",
    ("quantities", "errors"): "a number that cannot be read is refused in the package's own words",
    ("deadline", "errors"): "a moment that has passed is told in the package's own words",
    ("parallel", "errors"): "what stops workers is told in the package's own words",
    ("parallel", "progress"): "whoever waits for many answers is told how many there are",
    ("instance", "arrays"): "an instance is made of tables",
    ("instance", "naming"): "and of names",
    ("instance", "machine"): "of machines",
    ("instance", "task_types"): "of users with several task types",
    ("instance", "organisation"): "and of what an organisation promises them",
    ("instance", "users"): "and of what is said of each user",
    ("machine", "arrays"): "capacities are a table",
    ("machine", "naming"): "with names",
    ("users", "arrays"): "what is said of users is a table",
    ("users", "naming"): "with names",
    ("users", "task_types"): "or types of tasks",
    ("task_types", "naming"): "a demand is a row by the names of the resources",
    ("organisation", "naming"): "what is promised is told by name",
    ("instance", "readers"): "Instance.load is a door to them, opened inside the method",
    ("instance", "writers"): "Instance.save is a door to them, opened inside the method",
    ("instance", "library"): "Instance.library is a door to it, opened inside the method",
    ("allocation", "instance"): "an allocation is one of an instance, and checks itself against it",
    ("library", "instance"): "what it returns",
    ("library", "readers"): "its files are native instance files",
    ("readers", "instance"): "what they return",
    ("readers", "machine"): "and what it is made of",
    ("readers", "task_types"): "and what it is made of",
    ("readers", "organisation"): "and what it is made of",
    ("writers", "instance"): "what they are given",
    ("writers", "allocation"): "what exporters are given",
    ("writers", "task_types"): "and what it is made of",
    ("writers", "organisation"): "and what it is made of",
    ("writers", "readers"): "keys and grammar of the native file are stated once",
    ("ascent", "policies"): "what rises together is measured by a policy",
    ("certificates", "ascent"): "a proof replays the clock that defines what is fair",
    ("certificates", "policies"): "a proof is one of a policy's claim",
    ("certificates", "packings"): "whole tasks are proven in the same integers in which they were found",
    ("batch", "solve"): "what a batch cannot prove is finished one by one",
    ("sweep", "planning"): "what is swept over is a change with its value left open",
    ("compare", "beside"): "with whole tasks, what stands beside an optimum",
}
"""Arrows between two files or folders of one floor, each with its reason."""

UPWARDS = {
    ("cli", "drfopt"): "the version stands where the build reads it",
}

SHIPPED = {
    "yaml": "PyYAML",
    "jinja2": "Jinja2",
    "markupsafe": "MarkupSafe",
    "distributed": "dask",
    "flint": "python-flint",
}
"""Names of imports that are called otherwise on the package index."""

FLOOR = {unit: number for number, floor in enumerate(FLOORS) for unit in floor}
PACKAGE = modules("drfopt")


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


def test_nothing_imports_from_above():
    wrong = [
        f"{place}: {source} (floor {FLOOR[source]}) imports {target} (floor {FLOOR[target]})"
        for place, source, target in arrows()
        if FLOOR[target] >= FLOOR[source] and (source, target) not in SAME_FLOOR | UPWARDS
    ]
    assert not wrong, "\n".join(wrong)


def test_every_exception_is_one():
    drawn = {(source, target) for _, source, target in arrows()}
    assert set(SAME_FLOOR) | set(UPWARDS) <= drawn
    assert all(FLOOR[source] == FLOOR[target] for source, target in SAME_FLOOR)


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
    assert {name for _, name in foreign(module)} <= {"numpy", "cvxpy", "pulp"}
    assert not [name for _, name in imports(module) if name.startswith("formulations")]


def test_the_reference_and_the_verifier_need_nothing_but_fractions():
    used = {name for module in PACKAGE if module.unit in ("reference", "verifier") for _, name in foreign(module)}
    assert not used


def test_the_verifier_stands_alone():
    files = [module for module in PACKAGE if module.unit == "verifier"]
    assert all(len(module.path.read_text(encoding="utf-8").splitlines()) < 300 for module in files)
    assert not [
        name
        for module in files
        for _, name in imports(module)
        if name.startswith("drfopt") and not name.startswith("drfopt.certificates.verifier.")
    ]
