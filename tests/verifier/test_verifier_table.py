"""The table of what a file decides, cell by cell: what it says is so, of an answer of each kind."""

import itertools
from pathlib import Path

import pytest
from forging import file_of

from drfopt import Group, Instance, Machine, Organisation, TaskType
from drfopt.base.errors import DrfoptError
from drfopt.certificates.verifier import verify

README = Path(__file__).parents[2] / "formulations" / "README.md"
ROWS = {"A": {"a": 2, "b": 1}, "B": {"a": 1, "b": 2}, "C": {"a": 1}}
POOL, RACKS = {"a": 12, "b": 9}, [Machine("m", {"a": 4, "b": 3}, 2), Machine("n", {"a": 4, "b": 3})]
PARTS = {"A": {"a": "0.6", "b": 1}, "B": {"a": "0.4"}, "C": {"a": 1}}
CARDS = [Machine("m", {"b": 3}, 2, devices={"a": 2}), Machine("n", {"b": 3}, devices={"a": 1})]
TREE = {"paths": {"A": "g", "B": "h", "C": "h"}, "groups": [Group("g", 2), Group("h", 1, ceiling={"a": 5})]}
SERVED = [
    {"guarantees": {"A": {"a": 6}}},
    {"guarantees": {"A": {"a": 6}}, "meaning": "surplus"},
    {"guarantees": {"A": {"a": 6}}, "meaning": "normalised"},
    {"tiers": {"A": 1}},
    {"excluded": ["b"]},
]
CAPPED = {"paths": dict.fromkeys("ABC", "g"), "groups": [Group("g", ceiling={"a": 7})], "ceilings": {"A": {"a": 5}}}
EACH = [None, *SERVED[-2:], "last", {"paths": TREE["paths"], "groups": [Group("g", 2), Group("h", 1)]}]
FORMULATION = str(README.parent / "drf.py")

CASES = {
    "leximin": (["drf", "asset", "single:a", "tasks", "tsf"], [None], {}),
    "leximin: guarantees, surplus, normalised, tiers, weights of 0, excluded": (["drf"], [*SERVED, "last"], {}),
    "leximin: groups": (["drf"], [TREE], {}),
    "leximin: task shares of several types of one user": (["tsf"], ["types", {"tiers": {"B": 1}}], {}),
    "sum": (["utilitarian", "throughput"], [None], {}),
    "sum: guarantees of users, groups, ceilings of groups, tiers, weights of 0": (
        ["utilitarian"],
        [TREE | SERVED[0], SERVED[3], "last"],
        {},
    ),
    "ceei, alpha": (["ceei", "alpha:2", "alpha:0.5"], [None], {}),
    "ceei, alpha: guarantees of users, groups, ceilings of groups, tiers, weights of 0": (
        ["ceei", "alpha:0.5"],
        [TREE | SERVED[0], SERVED[3], "last"],
        {},
    ),
    "per-server; tiers, weights of 0, excluded, groups without amounts": (["per-server"], EACH, {}),
    "whole tasks, leximin": (["drf", "asset"], [None], {"integer": True}),
    "whole tasks, leximin: guarantees, surplus, normalised, tiers, weights of 0, ceilings, excluded": (
        ["drf"],
        [*SERVED, "last", CAPPED],
        {"integer": True},
    ),
    "whole tasks, leximin: several types of one user": (["drf"], ["types"], {"integer": True}),
    "whole tasks, leximin: several groups": (["drf"], [TREE], {"integer": True}),
    "whole tasks, per-server; the same rules": (["per-server"], EACH, {"integer": True}),
    "whole tasks, sum, Nash product and alpha": (
        ["throughput", "ceei", "alpha:2", "alpha:0.5"],
        [None],
        {"integer": True},
    ),
    "whole tasks, sum, Nash product and alpha: rules or several types": (
        ["throughput", "ceei", "alpha:2"],
        [SERVED[0], "types"],
        {"integer": True},
    ),
    "whole tasks with devices, all of these": (
        ["drf", "throughput", "ceei"],
        [None, {"guarantees": {"A": {"a": 1}}}, TREE, "types"],
        {"integer": True},
    ),
    "a formulation file": ([FORMULATION], [None], {}),
}


def cells():
    """Return the table as it is written: by row what a file of a pool, and of machines, decides."""
    text = README.read_text(encoding="utf-8").partition("<!-- decided -->")[2].partition("<!-- end of decided -->")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.strip().splitlines()[2:]]
    return {name: {"pool": pool, "machines": machines} for name, pool, machines in rows}


def cluster(rules, machines, devices):
    how = {"machines": CARDS if devices else RACKS} if machines else {"capacity": POOL}
    rows, more = dict(PARTS if devices else ROWS), {}
    if rules == "types":
        rows["A"] = [TaskType({"a": 2}, 2), TaskType({"b": 1}, 1)]
    elif rules == "last":
        more = {"weights": {"A": 0}}
    elif rules:
        more = {"organisation": Organisation(**rules)}
    return Instance(rows, **how, **more)


def decided(name, machines):
    """Return what is decided of every answer of a kind: both, fractions, floats, whole, or nothing."""
    policies, rules, options = CASES[name]
    devices = "devices" in name
    if devices and not machines:
        return "-"  # a pool has none
    modes = {"whole": options} if options else {"fractions": {"exact": True}, "floats": {"exact": False}}
    found = set(modes)
    for (mode, how), policy, rule in itertools.product(modes.items(), policies, rules):
        try:
            valid = verify(file_of(cluster(rule, machines, devices), policy, **how)).valid
        except DrfoptError:
            valid = None
        assert valid is not False
        found -= set() if valid else {mode}
    return "both" if found == {"fractions", "floats"} else "".join(found) or "-"


def test_the_table_has_a_case_for_every_row():
    assert list(cells()) == list(CASES)


@pytest.mark.parametrize("where", ["pool", "machines"])
@pytest.mark.parametrize("name", CASES)
def test_a_cell_says_what_is_so(name, where):
    assert decided(name, where == "machines") == cells()[name][where]
