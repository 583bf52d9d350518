"""One word for one thing: no two classes of the package bear one name."""

import ast
from collections import defaultdict

from house_source import modules

SHARED = {
    "Column": "a column of a page is drawn from the document, a column of a sheet from its rows",
}
"""Names of two classes that are the same notion in two rooms, and why."""


def test_no_two_classes_bear_one_name():
    homes = defaultdict(list)
    for module in modules("drfopt"):
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(module.name)
    twice = {name: places for name, places in homes.items() if len(places) > 1}
    assert not {name: places for name, places in twice.items() if name not in SHARED}
    assert set(SHARED) <= set(twice), "no longer needed"
