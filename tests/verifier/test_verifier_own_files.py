"""Every file that the package writes itself is accepted, or left undecided for a true reason; a forged one never is."""

import copy
import json
from pathlib import Path

import pytest

from drfopt import Group, Instance, Machine, Organisation, TaskType, solve
from drfopt.base.errors import EngineError, PolicyError
from drfopt.certificates.document import certificate_document
from drfopt.certificates.verifier import loads, number, verify
from drfopt.model.document import document

FORMULATIONS = Path(__file__).parents[2] / "formulations"
ROWS = {"A": {"a": 4, "b": 1}, "B": {"a": 1, "b": 16}, "C": {"a": 16, "b": 1}}
TIED = {"A": {"a": 1}, "B": {"a": 1}, "C": {"b": 2}}
POOL = {"a": 100, "b": 100}
ONE = [Machine("m", POOL)]
IDLE = [Machine("m", {"a": 20, "b": 20}, 2), Machine("tiny", {"a": "1/2", "b": 100}, 3)]
TYPES = {
    "A": [TaskType({"a": 2, "b": 1}, 4), TaskType({"b": 5}, 2, ["small"])],
    "B": {"a": 1, "b": 1},
    "C": [TaskType({"a": 1}, 3)],
}
SMALL = [Machine("small", {"a": 6, "b": 20}, 2), Machine("large", {"a": 16, "b": 16})]
POOLED = {"A": [TaskType({"a": 2, "b": 1}, 4), TaskType({"b": 5}, 2)], "B": {"a": 1, "b": 1}, "C": {"a": 3}}

INSTANCES = {
    "pool": Instance(ROWS, POOL),
    "pool, tied": Instance(TIED, {"a": 7, "b": 7}),
    "pool, limits": Instance(ROWS, POOL, max_tasks={"A": 0, "B": "3/2"}),
    "pool, all at their limits": Instance(ROWS, POOL, max_tasks={"A": 1, "B": 1, "C": 1}),
    "pool, weights": Instance(ROWS, POOL, weights={"A": 2, "B": "1/3"}),
    "pool, weights per resource": Instance(ROWS, POOL, weights={"A": {"a": 2}, "B": {"b": 3}}),
    "pool, unplaced": Instance(ROWS | {"C": {"a": 1, "c": 1}}, POOL | {"c": 0}),
    "pool, nobody": Instance(ROWS, {"a": 0, "b": 1}),
    "pool, types": Instance(POOLED, POOL),
    "pool, ceiling": Instance(ROWS, POOL, organisation=Organisation(ceilings={"A": {"a": 10}})),
    "pool, guarantee": Instance(ROWS, POOL, organisation=Organisation(guarantees={"A": {"a": 60}})),
    "pool, tier": Instance(ROWS, POOL, organisation=Organisation(tiers={"B": 1}), max_tasks={"B": 2}),
    "pool, excluded": Instance(ROWS, POOL, organisation=Organisation(excluded=["b"])),
    "pool, excluded, limit": Instance(
        {"A": {"a": 1}, "B": {"a": 1, "b": 1}},
        {"a": 10, "b": 10},
        max_tasks={"B": 2},
        organisation=Organisation(excluded=["b"]),
    ),
    "pool, equal tiers, limit": Instance(
        {"A": {"b": 3}, "B": {"a": 2, "b": "1/3"}},
        {"a": 12, "b": 4},
        max_tasks={"B": 2},
        organisation=Organisation(tiers={"A": 1, "B": 1}),
    ),
    "pool, surplus of nobody": Instance(
        {"A": {"a": 1}, "B": {"a": 1}},
        {"a": 4},
        max_tasks={"B": 0},
        organisation=Organisation(guarantees={"B": {"a": 2}}, meaning="surplus"),
    ),
    "pool, last": Instance(ROWS, POOL, weights={"A": 0}, max_tasks={"B": 1, "C": 1}),
    "pool, groups": Instance(
        ROWS,
        POOL,
        organisation=Organisation(
            paths={"A": "g", "B": "g", "C": "h"}, groups=[Group("g", ceiling={"a": 9}), Group("h")]
        ),
    ),
    "pool, groups of fractions": Instance(
        ROWS,
        POOL,
        organisation=Organisation(paths={"A": "g"}, groups=[Group("g", weight="3/2", guarantee={"a": "1/5"})]),
    ),
    "machine": Instance(ROWS, machines=ONE),
    "machines, idle": Instance(ROWS, machines=IDLE),
    "machines, tied": Instance(TIED, machines=IDLE),
    "machines, limits": Instance(ROWS, machines=IDLE, max_tasks={"A": 0, "B": "3/2"}),
    "machines, all at their limits": Instance(ROWS, machines=IDLE, max_tasks={"A": 1, "B": 1, "C": 1}),
    "machines, weights": Instance(ROWS, machines=SMALL, weights={"A": 2, "B": "1/3"}),
    "machines, weights per resource": Instance(ROWS, machines=SMALL, weights={"A": {"a": 2}, "B": {"b": 3}}),
    "machines, closed": Instance(ROWS, machines=SMALL, eligible={"A": ["small"], "B": [], "C": ["large"]}),
    "machines, nobody": Instance(ROWS, machines=[Machine("m", {"a": 0, "b": 1})]),
    "machines, excluded, exact by chance": Instance(
        {"A": {"a": 3, "b": 1}, "B": {"a": "1/2", "b": 2}},
        machines=[Machine("m0", {"a": 8, "b": "1/2"}), Machine("m1", {"a": 3, "b": 1})],
        weights=["1/2", "1/2"],
        organisation=Organisation(paths={"B": "g"}, excluded=["b"]),
    ),
    "machines, types that fit nowhere": Instance(
        {"A": [TaskType({"a": 3, "b": "1/2"}, 4)]}, machines=[Machine("m", {"a": 1, "b": 1})]
    ),
    "machines, types": Instance(TYPES, machines=SMALL),
    "machines, types unplaced": Instance(
        TYPES | {"C": [TaskType({"a": 1}, 3), TaskType({"a": 99}, 1)]}, machines=SMALL
    ),
    "machines, ceiling": Instance(ROWS, machines=SMALL, organisation=Organisation(ceilings={"A": {"a": 10}})),
    "machines, guarantee": Instance(ROWS, machines=SMALL, organisation=Organisation(guarantees={"A": {"a": 60}})),
    "machines, types guaranteed": Instance(
        TYPES, machines=SMALL, organisation=Organisation(guarantees={"A": {"a": 60}})
    ),
    "machines, devices": Instance(
        {"A": {"a": "1/2", "b": 1}, "B": {"a": "3/4"}, "C": {"a": 1, "b": 2}},
        machines=[Machine("m", {"a": 3, "b": 5}, 2, devices={"a": 3})],
    ),
    "machines, devices and types": Instance(
        {"A": [TaskType({"a": "1/2", "b": 1}, 4), TaskType({"a": 1}, 1)], "B": {"a": "1/3"}, "C": {"b": 1}},
        machines=[Machine("m", {"a": 2, "b": 5}, 2, devices={"a": 2}), Machine("other", {"a": 4, "b": 1})],
    ),
}
POLICIES = [
    *("drf", "asset", "single:a", "tasks", "tsf", "per-server", "ceei", "alpha:2", "alpha:0.5", "alpha:0"),
    *("utilitarian", "throughput"),
]
LEVELLED = ("drf", "asset", "single:a", "tasks", "tsf")

FILES = ["drf.py", "ceei.py", "drf_integer.py", "ceei_integer.py"]
MODES = {"floats": {}, "exact": {"exact": True}, "whole": {"integer": True}}

REASONS = (
    "the file has no trees, which they need",
    "how they are measured is not known here",
    "what is best is the formulation file's own claim: only feasibility was checked",
    *(
        f"what {policy} makes of the rules of an organisation is {what}"
        for policy in (
            *(str(FORMULATIONS / name) for name in (*FILES, "guarantees_integer.py")),
            "per-server",
        )
        for what in ("not followed here: only feasibility was checked", "not known here")
    ),
)
"""Why nothing is decided of some file: all there may be."""


def written(name, policy, mode):
    """Return the files of one answer, as data, or nothing where it is refused."""
    try:
        allocation = solve(INSTANCES[name], policy, **MODES[mode])
    except (PolicyError, EngineError):
        return []
    files = {"certificate": certificate_document(allocation), "json": allocation.to_dict()}
    return [(kind, loads(json.dumps(data))) for kind, data in files.items()]


def check(name, policy, mode):
    instance = INSTANCES[name]
    for kind, data in written(name, policy, mode):
        report = verify(data, document(instance))
        open_ = [found for found in report.checks if not found.holds]
        assert report.valid is not False, (kind, open_)
        assert all(found.worst in REASONS for found in open_), (kind, open_)
        rules = {key for table in (document(instance), *document(instance)["users"]) for key in table}
        ruled = rules & {"guarantee", "guarantees", "tier", "group", "groups", "excluded", "tasks"}
        # Of sums and products under rules or of types trees are needed, which there are where promises are kept.
        totals = ruled or name == "pool, last" if policy not in LEVELLED else False
        treeless = mode == "whole" and totals and (kind == "json" or "guarantee" in rules)
        if not (treeless or policy.endswith(".py")):
            assert report.valid is True, open_
        for forged in forgeries(data, mode):
            try:
                assert verify(forged, document(instance)).valid is not True, (kind, forged)
            except ValueError:
                continue


def forgeries(data, mode):
    """Yield the file with one number of tasks changed, alone and with all that hangs on it."""
    for i, row in enumerate(data["users"]):
        for more in (1, -1):
            forged = copy.deepcopy(data)
            own = forged["users"][i]
            if isinstance(row["tasks"], dict):
                ends = {end: number(value) * (1 + more * number("1e-6")) for end, value in row["tasks"].items()}
                own["tasks"] = {end: str(value) for end, value in ends.items()}
                yield forged
                continue
            old = number(row["tasks"])
            step = number(1) if mode == "whole" else max(old, number(1)) * number("1e-6")
            new = old + more * step
            own["tasks"] = float(new) if mode == "floats" else int(new) if mode == "whole" else str(new)
            yield copy.deepcopy(forged)
            own.pop("level")
            for places in (forged.get("placement", {}).get(row["name"]), *_placements(forged, row["name"])):
                for name in list(places or {})[:1]:
                    moved = number(places[name]) * (new / old if old else 1)
                    places[name] = float(moved) if mode == "floats" else str(moved)
            yield forged


def _placements(data, name):
    kinds = (data.get("types") or {}).get(name, ())
    return (kind["placement"] for kind in kinds if "placement" in kind)


@pytest.mark.sampled(10)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", INSTANCES)
def test_what_is_written_is_accepted_and_what_is_forged_is_not(name, mode):
    for policy in POLICIES:
        check(name, policy, mode)


@pytest.mark.parametrize("name", ["machines, devices", "machines, devices and types"])
def test_the_file_of_a_formulation_says_who_shares_a_device(name):
    for kind, data in written(name, str(FORMULATIONS / "guarantees_integer.py"), "whole"):
        assert any("devices" in row for row in data["proof"]["packing"]) or kind == "json"
    check(name, str(FORMULATIONS / "guarantees_integer.py"), "whole")


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["floats", "whole"])
@pytest.mark.parametrize("name", INSTANCES)
def test_files_of_formulations_are_checked_for_feasibility(name, mode):
    for file in FILES:
        check(name, str(FORMULATIONS / file), mode)
