"""Manners of library code: named tolerances with reasons, docstrings, no printing, no exits, no broad nets."""

import ast
from itertools import pairwise

import pytest
from house_source import modules

PACKAGE = modules("drfopt")
LIBRARY = [module for module in PACKAGE if module.unit not in ("cli", "__main__")]

SMALL, GUARD = 1e-3, 1e-100
"""A float literal between these is a tolerance; below, it keeps a division from dividing by zero."""

NETS = {
    "drfopt/engines/formulation/user_file.py": "the code of a user may raise anything, and all is told with its line",
}
"""Where everything is caught, and why."""


def places(modules, wanted):
    """Return place and code of every node that is wanted."""
    return [
        f"{module.place}, line {node.lineno}: {ast.unparse(node)}"
        for module in modules
        for node in module.nodes
        if wanted(node)
    ]


def constants(module):
    """Return the assignments of upper-case names at the top of a module, each with the statement that follows it."""
    body = [*module.tree.body, ast.Pass()]
    for node, after in pairwise(body):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if all(isinstance(target, ast.Name) and target.id.isupper() for target in targets):
            yield node, after


def tolerances(tree):
    """Return the small float literals in a tree."""
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, float) and GUARD < abs(node.value) < SMALL
    ]


@pytest.mark.parametrize("module", PACKAGE, ids=lambda module: module.name)
def test_every_tolerance_has_a_name_and_a_reason(module):
    named = set()
    for node, after in constants(module):
        found = tolerances(node)
        named.update(map(id, found))
        explained = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        if found:
            assert explained, f"{module.place}, line {node.lineno}: say why in a string below it"
    bare = [f"{module.place}, line {n.lineno}: {n.value}" for n in tolerances(module.tree) if id(n) not in named]
    assert not bare, "name these in drfopt/base/tolerances.py, or at the top of the module:\n" + "\n".join(bare)


def test_a_bare_tolerance_would_be_found():
    (one,) = tolerances(ast.parse("if x < 1e-6 and y > 5e-324 and z < 0.5: pass"))
    assert one.value == 1e-6


@pytest.mark.parametrize("module", PACKAGE, ids=lambda module: module.name)
def test_everything_public_says_what_it_is(module):
    silent = [] if ast.get_docstring(module.tree) else [module.place]
    waiting = list(module.tree.body)
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.ClassDef | ast.FunctionDef) or node.name.startswith("_"):
            continue
        if not ast.get_docstring(node):
            silent.append(f"{module.place}, line {node.lineno}: {node.name}")
        if isinstance(node, ast.ClassDef):
            waiting.extend(node.body)
    assert not silent, "\n".join(silent)


def test_a_library_neither_prints_nor_exits():
    def loud(node):
        return isinstance(node, ast.Call) and ast.unparse(node.func) in {
            "print",
            "exit",
            "quit",
            "sys.exit",
            "os._exit",
            "breakpoint",
            "sys.stdout.write",
            "sys.stderr.write",
        }

    assert not places(LIBRARY, loud)


def test_a_library_does_not_assert():
    assert not places(PACKAGE, lambda node: isinstance(node, ast.Assert))


def test_no_net_is_broader_than_its_reason():
    def broad(node):
        caught = getattr(node, "type", None)
        kinds = caught.elts if isinstance(caught, ast.Tuple) else [caught]
        return isinstance(node, ast.ExceptHandler) and any(
            kind is None or ast.unparse(kind) in ("Exception", "BaseException") for kind in kinds
        )

    found = {module.place for module in LIBRARY if places([module], broad)}
    assert found == set(NETS)


def test_nobody_touches_the_path_of_imports():
    everything = [*PACKAGE, *modules("formulations"), *modules("benchmarks")]
    assert not places(everything, lambda node: isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.path")


def test_nothing_is_left_to_do():
    words = ("TODO", "FIXME", "XXX")
    found = [
        f"{module.place}, line {number}"
        for folder in ("drfopt", "formulations", "benchmarks")
        for module in modules(folder)
        for number, line in enumerate(module.text.splitlines(), start=1)
        if any(word in line for word in words)
    ]
    assert not found
