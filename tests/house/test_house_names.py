"""The public face: what ``drfopt`` exports, in whatever order modules are imported, and how little that costs."""

import ast
import importlib
import re
import subprocess
import sys
from collections import Counter

import pytest
from house_source import REPOSITORY, Module, modules

import drfopt
from drfopt.base.tables import FORMATS
from drfopt.engines.registry import ENGINES

PUBLIC = [
    "Allocation",
    "Audit",
    "Certificate",
    "CertificateError",
    "Comparison",
    "Conversion",
    "CrossCheck",
    "DrfoptError",
    "EngineError",
    "Explanation",
    "FormulationError",
    "Group",
    "Instance",
    "InstanceError",
    "Machine",
    "Organisation",
    "Page",
    "PartitionedAllocation",
    "PolicyError",
    "PoolSolution",
    "Portion",
    "Prices",
    "Purchase",
    "Rebalancing",
    "Run",
    "Scenario",
    "Schedule",
    "Search",
    "Solutions",
    "SolverError",
    "Space",
    "Sweep",
    "TaskType",
    "TimeLimitError",
    "Trials",
    "Verification",
    "WhatIf",
    "audit",
    "compare",
    "crosscheck",
    "explain",
    "export",
    "price",
    "read",
    "rebalance",
    "report",
    "schedule",
    "schema",
    "search",
    "show_progress",
    "simulate",
    "simulate_each",
    "size",
    "solve",
    "solve_many",
    "solve_partitions",
    "sweep",
    "verify",
    "what_if",
]

HEAVY = (
    "cvxpy",
    "pulp",
    "vl_convert",
    "pandas",
    "scipy",
    "highspy",
    "pydantic",
    "typer",
    "rich",
    "joblib",
    "distributed",
)
"""Packages that are imported when they are needed and not before."""

SUBMODULES = [module.name for module in modules("drfopt") if not module.path.stem.startswith("__main__")]


def fresh(code: str) -> str:
    """Return what a new interpreter prints."""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, cwd=REPOSITORY)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def test_the_public_names_are_these():
    assert drfopt.__all__ == PUBLIC
    assert dir(drfopt) == sorted([*PUBLIC, "__version__"])


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_what_its_module_says(name):
    value = getattr(drfopt, name)
    assert value.__name__ == name
    assert value is getattr(importlib.import_module(value.__module__), name)
    assert value.__doc__


def test_type_checkers_are_told_the_same_names():
    (module,) = (module for module in modules("drfopt") if module.name == "drfopt")
    (block,) = (node for node in module.tree.body if isinstance(node, ast.If))
    assert sorted(name.name for node in block.body for name in node.names) == PUBLIC


def test_a_name_that_is_none_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'drfopt' has no attribute 'slove'"):
        drfopt.slove  # noqa: B018


def test_no_module_bears_the_name_of_a_public_function():
    # Commands may: a file of ``drfopt.cli`` is called as what is typed, and nobody imports it for the function.
    functions = {name for name in PUBLIC if name.islower()}
    rooms = [name for name in SUBMODULES if not name.startswith("drfopt.cli.")]
    assert not [name for name in rooms if name.rpartition(".")[2] in functions]


def test_importing_the_package_imports_nothing_heavy():
    code = f"import sys, drfopt; print([name for name in ('numpy', *{HEAVY}) if name in sys.modules])"
    assert fresh(code) == "[]"


def test_solving_a_pool_imports_no_solver():
    code = "from drfopt import Instance, Machine, solve, compare, schedule; import sys; "
    code += f"solve(Instance([[1, 4], [3, 1]], [9, 18])); print([name for name in {HEAVY} if name in sys.modules])"
    assert fresh(code) == "[]"


@pytest.mark.parametrize("name", SUBMODULES)
def test_every_module_lists_what_is_public_in_it(name):
    module = importlib.import_module(name)
    assert module.__doc__
    if module.__doc__ and not hasattr(module, "__all__"):
        # A folder that only holds modules has nothing of its own to list.
        assert not [key for key in vars(module) if callable(vars(module)[key]) and not key.startswith("_")]
        return
    assert len(set(module.__all__)) == len(module.__all__)
    for public in module.__all__:
        assert getattr(module, public) is not None


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_every_engine_of_the_table_has_its_function(engine):
    assert callable(ENGINES.implementation(engine))


def test_engines_have_different_names_and_every_format_writes():
    assert len({engine.name for engine in ENGINES}) == len(ENGINES)
    assert tuple(FORMATS) == ("table", "json", "csv", "markdown", "latex")
    assert all(callable(write) for write in FORMATS.values())


def mentioned(tree):
    """Yield every word of a file that may mean something of another: names that are read, imported, or in tables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value.split()) == 1:
            # A row names its function as "sums:solve".
            yield from re.findall(r"\w+", node.value)


def defined(tree):
    """Yield the names of functions, classes and constants at the top of a file, and those that it lists."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def unused(package, others, texts):
    """Return what of a package nothing mentions but the line that defines it, and the list of its module."""
    counts = Counter(word for module in [*package, *others] for word in mentioned(module.tree))
    told = {word for text in texts for word in re.findall(r"\w+", text)}
    lists = Counter()
    for module in package:
        for node in module.tree.body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                lists.update(ast.literal_eval(node.value))
    return [
        f"{module.place}: {name}"
        for module in package
        for name in defined(module.tree)
        if not name.startswith("__") and name not in told and counts[name] <= lists[name]
    ]


def test_nothing_is_there_for_the_tests_alone():
    """What only tests import is used by the package, by a benchmark, or by the manual; or it is deleted."""
    texts = [
        path.read_text(encoding="utf-8")
        for pattern in ("docs/**/*.md", "notebooks/*.ipynb", "README.md")
        for path in REPOSITORY.glob(pattern)
        if "generated" not in path.parts
    ]
    assert not unused(modules("drfopt"), [*modules("benchmarks"), *modules("docs")], texts)


def test_what_is_there_for_the_tests_alone_would_be_found():
    text = '__all__ = ["alone", "asked"]\ndef alone(): return asked()\ndef asked(): return 1'
    (found,) = unused([Module(REPOSITORY / "x.py", "x", text)], [], [])
    assert found == "x.py: alone"
