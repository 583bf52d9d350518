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


SAME = {
    "the table of a folder: what there is in it, a row each": {"table", "registry"},
    "a program: what reads its files, and the rule that divides as it does": {
        "mesos",
        "kai",
        "koordinator",
        "yunikorn",
    },
    "reads the files of one program": {"rows"},
    "one subject: the engine, and what else is to be said of it": {"document", "hierarchy"},
    "trees and amounts of a program's queues, read and written": {"queues", "tree"},
    "drawn, or read, from what bears the name": {"changes", "columns"},
}
"""Names of modules in several rooms, and what they mean in each of them."""


def test_no_two_modules_bear_one_name_for_two_things():
    homes = defaultdict(list)
    for module in modules("drfopt"):
        # The verifier imports nothing: its files are called as what they judge.
        if module.path.stem != "__init__" and "verifier" not in module.name:
            homes[module.path.stem].append(module.name)
    known = set().union(*SAME.values())
    twice = {name: places for name, places in homes.items() if len(places) > 1}
    assert not {name: places for name, places in twice.items() if name not in known}
    assert known <= set(twice), "no longer needed"


WAS = {
    "Ascent",
    "Beside",
    "Crowd",
    "Halt",
    "Halves",
    "Lie",
    "Moment",
    "Opinion",
    "Scene",
    "Shelf",
    "Told",
    "Yardstick",
    "halts",
    "lies",
    "opinions",
    "wished",
}
"""Words of the package's own that the field has others for: the glossary says which."""


def test_the_field_has_words_for_it():
    found = []
    for module in modules("drfopt"):
        for node in module.nodes:
            name = getattr(node, "name", None) or getattr(node, "id", None) or getattr(node, "attr", None)
            if name in WAS:
                found.append(f"{module.place}:{node.lineno}: {name}")
    assert not found
