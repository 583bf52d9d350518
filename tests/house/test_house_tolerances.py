"""A numeric tolerance has a name, a reason and one home: the top of its module, or `tolerances` where it is shared."""

import ast
from collections import defaultdict

from house_source import REPOSITORY, Module, modules

SMALL = 1e-3
"""A float of this size or smaller, and not 0, is a tolerance."""

ALONE = "drfopt.certificates.verifier"
"""Imports nothing: what it asks of a file stands in it again."""


def small(node):
    """Say whether a node is a number that is a tolerance."""
    return isinstance(node, ast.Constant) and isinstance(node.value, float) and 0 < node.value <= SMALL


def named(tree):
    """Yield name and node of every number that is a constant of its own at the top of a module, a reason below it."""
    for node, reason in zip(tree.body, [*tree.body[1:], None], strict=True):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else ()
        )
        said = (
            isinstance(reason, ast.Expr)
            and isinstance(reason.value, ast.Constant)
            and isinstance(reason.value.value, str)
        )
        for target in targets if said else ():
            for name in [target] if isinstance(target, ast.Name) else getattr(target, "elts", ()):
                yield name.id, node.value


def bare(module):
    """Return the tolerances of a module that are no constant with a reason."""
    allowed = {id(number) for _, value in named(module.tree) for number in ast.walk(value)}
    return [
        f"{module.place}:{node.lineno}: {node.value!r}"
        for node in module.nodes
        if small(node) and id(node) not in allowed
    ]


def shared(package):
    """Return the names under which one tolerance has several homes."""
    homes = defaultdict(list)
    for module in package:
        for name, value in named(module.tree):
            if small(value):
                homes[name, value.value].append(module.name)
    return {name: places for (name, _), places in homes.items() if len(places) > 1}


def judged():
    """Return the modules whose tolerances are looked at."""
    return [module for module in modules("drfopt") if not module.name.startswith(ALONE)]


def test_every_tolerance_has_a_name_and_a_reason():
    assert not [line for module in judged() for line in bare(module)]


def test_no_tolerance_has_two_homes():
    assert not shared(judged())


def test_a_bare_tolerance_and_a_second_home_would_be_found():
    tree = ast.parse('NEAR = 1e-9\n"""Why."""\nLOST = 1e-7\nx = max(y, 1e-12) if NEAR else 0.5\n')
    module = Module(REPOSITORY / "x.py", "x", tree)
    assert [line.partition(": ")[2] for line in bare(module)] == ["1e-07", "1e-12"]
    assert shared([module, Module(REPOSITORY / "y.py", "y", tree)]) == {"NEAR": ["x", "y"]}
