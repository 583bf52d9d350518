"""The commands that take no instance: the arguments of every rule on every kind of scenario, of every kind of search,
and of all that is listed or printed, in every form."""

import itertools
import json
from pathlib import Path
from typing import Any

from cells import CLUSTERS, FAULT, FEATURES, GROUPS, POLICIES, Cell, Outcome, call, document, faults, policy

from drfopt.axioms.claims import CLAIMS
from drfopt.axioms.properties.property_table import PROPERTIES
from drfopt.axioms.theorems import THEOREMS
from drfopt.io.documents.published import DOCUMENTS
from drfopt.simulation.rules.table import RULES

__all__ = ["judged", "listings", "scenario", "searches", "simulated", "simulations", "theorems"]

TABLES = ("table", "json", "csv", "markdown", "latex")
FEW = 3
LISTS = ("engines", "policies", "library", "formats", "rules", "scenarios", "schema")

WAYS: dict[str, list[str]] = {
    "plain": [],
    "optimum": ["--optimum"],
    "preempt": ["--preempt", "1"],
    "replications": ["--replications", "2", "--jobs", "1"],
    "until": ["--until", "2", "--every", "0"],
}
"""How a simulation is asked."""

SEARCHED: dict[str, list[str]] = {
    "plain": [],
    "zero demands": ["--zero-demands"],
    "weights": ["--weights", "2"],
    "limits": ["--limits", "2"],
    "machines": ["--machines", "2"],
    "whole": ["--integer"],
    "three users": ["--users", "3", "--resources", "1", "--first"],
}
"""How a search is asked."""


def scenario(cell: Cell) -> dict[str, Any]:
    """Return the instance of a cell as the data of a scenario file: who has no limit has a few tasks."""
    data = document(cell)
    found: dict[str, Any] = {
        key: data[key] for key in ("capacity", "machines", "excluded", "guarantees") if key in data
    }
    if "groups" in data:
        found["groups"] = [{key: group[key] for key in ("name", "weight") if key in group} for group in data["groups"]]
    found["users"] = []
    for user in data["users"]:
        kinds = user.get("tasks") or [{"demand": user["demand"], "count": user.get("max_tasks", FEW)}]
        kept = {key: user[key] for key in ("name", "weight", "guarantee", "group", "tier", "ceiling") if key in user}
        jobs = [{"tasks": kind["count"], "demand": kind["demand"], "duration": 2} for kind in kinds if kind["count"]]
        found["users"].append(kept | {"jobs": jobs or [{"arrival": 1, "tasks": 1, "demand": kinds[0]["demand"]}]})
    return found


def simulations() -> list[tuple[str, str, Cell]]:
    """Return every rule, asked in every way, of every kind of scenario."""
    rules = [row.example or row.name for row in RULES]
    kinds = itertools.product(CLUSTERS, FEATURES, GROUPS)
    return [
        (rule, way, Cell("simulate", "whole", *kind, "drf"))
        for kind, rule, way in itertools.product(kinds, rules, WAYS)
    ]


def simulated(rule: str, way: str, cell: Cell, folder: Path) -> Outcome:
    """Let a rule schedule a scenario."""
    path = folder / "scenario.json"
    path.write_text(json.dumps(scenario(cell)))
    return judged(["simulate", str(path), "--rule", rule, *WAYS[way], "--json"])


def searches() -> list[list[str]]:
    """Return the arguments of a search of every property under every policy, asked in every way."""
    small = ["--sample", "2", "--max-demand", "2", "--jobs", "1", "--time-limit", "20", "--json"]
    return [
        ["search", "-p", policy(_named(name, way)), "--property", row.name, *small, *SEARCHED[way]]
        for name, row, way in itertools.product(POLICIES, PROPERTIES, SEARCHED)
    ]


def _named(name: str, way: str) -> Cell:
    renamed = name.replace("single:cpu", "single:r1")
    return Cell("search", "whole" if way == "whole" else "divisible", "pool", "plain", "none", renamed)


def listings() -> list[list[str]]:
    """Return the arguments of what is listed or printed, in every form."""
    forms = [[command, "--format", form] for command, form in itertools.product(LISTS, TABLES)]
    return [*forms, *(["schema", row.name] for row in DOCUMENTS), ["new"], ["new", "--scenario"]]


def theorems() -> list[list[str]]:
    """Return the arguments of every theorem that is told and every claim that is made, in every form."""
    told = [["theorems", str(theorem.number)] for theorem in THEOREMS]
    pairs = dict.fromkeys((claim.policy, claim.property) for claim in CLAIMS)
    made = [["theorems", "-p", policy, "--property", name] for policy, name in pairs]
    forms = itertools.cycle(("--json", *(f"--format={form}" for form in TABLES)))
    return [[*asked, form] for asked, form in zip([*told, *made], forms, strict=False)]


def judged(arguments: list[str]) -> Outcome:
    """Run the program; JSON that its schema forbids is a fault."""
    printed: list[str] = []
    found = call(arguments, printed)
    if found.answered and "--json" in arguments and printed and printed[0].strip():
        read = json.loads(printed[0])
        if isinstance(read, dict) and "schema" in read and (wrong := faults(read)):
            return Outcome(99, f"{FAULT}: {wrong[0]}")
    return found
