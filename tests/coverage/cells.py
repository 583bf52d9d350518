"""What the package has to answer or to refuse: every command on every kind of instance, one cell each.

``python tests/coverage/cells.py --json table.json`` runs all cells and writes what came of each: ``answered`` with the
exit status, or ``refused`` with the reason.  ``--every N`` takes one cell in N.
"""

import argparse
import contextlib
import io
import itertools
import json
import os
import random
import sys
import tempfile
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

FORMULATIONS = Path(__file__).resolve().parents[2] / "formulations"
FAULT = "drfopt itself is at fault"

POOL = {"capacity": {"cpu": 9, "memory": 18}}
MACHINES = {
    "machines": [
        {"name": "large", "count": 2, "capacity": {"cpu": 4, "memory": 7}},
        {"name": "small", "capacity": {"cpu": 2, "memory": "9/2"}},
    ]
}
CLUSTERS = {"pool": POOL, "machines": MACHINES}

A = {"name": "A", "demand": {"cpu": 1, "memory": 3}}
B = {"name": "B", "demand": {"cpu": 2, "memory": 1}}
TYPES = [{"demand": {"cpu": 1, "memory": 2}, "count": 2}, {"demand": {"cpu": 2}, "count": 1}]

FEATURES: dict[str, tuple[dict, dict, dict]] = {
    # what is added to user A, to user B, and at the top
    "plain": ({}, {}, {}),
    "limits": ({"max_tasks": 1}, {"max_tasks": 0}, {}),
    "weights": ({"weight": 2}, {"weight": "1/3"}, {}),
    "weights per resource": ({"weight": {"cpu": 2, "memory": 1}}, {}, {}),
    "task types": ({"demand": None, "tasks": TYPES}, {}, {}),
    "own ceiling": ({"ceiling": {"cpu": 1}}, {}, {}),
    "guarantee": ({"guarantee": {"cpu": 5}}, {"guarantee": {"cpu": 6}}, {}),
    # Who is served first is stopped by the GPU, and leaves something to the other.
    "tier": ({"tier": 1, "demand": {"cpu": 1, "memory": 3, "gpu": 1}}, {}, {}),
    "weight 0": ({"weight": 0}, {"demand": {"cpu": 2, "memory": 1, "gpu": 1}}, {}),
    "zero demand": ({"demand": {"cpu": 1}}, {"demand": {"memory": 2}}, {}),
    "unplaced": ({"demand": {"cpu": 1, "gpu": 1}}, {}, {}),
    "nobody placed": ({"demand": {"cpu": 1, "gpu": 1}}, {"demand": {"memory": 1, "gpu": 1}}, {}),
    "excluded": ({}, {}, {"excluded": ["memory"]}),
}
GPUS = {"unplaced": 0, "nobody placed": 0, "tier": 1, "weight 0": 1}
"""Of the pool, and of each machine, where a feature speaks of them."""

GROUPS = {
    "none": ({}, {}, {}),
    "groups": (
        {"group": "g"},
        {"group": "h"},
        {"groups": [{"name": "g", "ceiling": {"cpu": 3}, "weight": 2}, {"name": "h", "guarantee": {"cpu": 1}}]},
    ),
}
POLICIES = (
    *("drf", "asset", "single:cpu", "tsf", "tasks", "per-server"),
    *("ceei", "alpha:2", "alpha:0.5", "utilitarian", "throughput", "file"),
)
"""`file` is the formulation that states the notion of the mode and the rules."""

MODES = ("divisible", "whole", "exact")


@dataclass(frozen=True)
class Command:
    """A row of the table: how a command is called, and with which tasks."""

    name: str
    arguments: tuple[str, ...] = ()
    modes: tuple[str, ...] = ("divisible",)


BOTH = ("divisible", "whole")
COMMANDS = (
    Command("solve", modes=MODES),
    Command("verify", modes=MODES),
    Command("verify certificate", modes=MODES),
    Command("compare", modes=BOTH),
    Command("crosscheck", ("--time-limit", "20"), modes=BOTH),
    Command("audit", ("--time-limit", "20"), modes=BOTH),
    Command("schedule"),
    Command("explain", modes=BOTH),
    Command("explain A", ("A",), modes=BOTH),
    Command("whatif", ("--set-limit", "A=1"), modes=MODES),
    Command("whatif --sweep", ("--sweep", "weight:A=1,2", "--jobs", "1"), modes=MODES),
    Command("price"),
    Command("sweep", ("--factors", "1/2,1", "--jobs", "1"), modes=BOTH),
    Command("size", ("--target", "A>=1", "--time-limit", "2"), modes=BOTH),
    Command("rebalance", ("--time-limit", "5")),
    Command("report", ("--sweep", "weight:A=1,2", "--whatif", "set-limit A=1"), modes=BOTH),
    Command("export", ("--to", "csv"), modes=BOTH),
)


@dataclass(frozen=True)
class Cell:
    """One command on one kind of instance."""

    command: str
    mode: str
    cluster: str
    feature: str
    groups: str
    policy: str


@dataclass(frozen=True)
class Outcome:
    """What came of it: exit status, and what was said of a refusal or a fault."""

    status: int
    words: str

    @property
    def sound(self) -> bool:
        """Whether the package is not at fault."""
        return self.status in (0, 1, 2, 3) and FAULT not in self.words and "Traceback" not in self.words

    @property
    def answered(self) -> bool:
        """Whether there was an answer, good or bad."""
        return self.status != 2 and not self.words.startswith("error:")


def cells() -> list[Cell]:
    """Return all of them."""
    return [
        Cell(command.name, mode, *rest)
        for command in COMMANDS
        for mode in command.modes
        for rest in itertools.product(CLUSTERS, FEATURES, GROUPS, POLICIES)
    ]


def covering(seed: int = 0) -> list[Cell]:
    """Return few cells in which all pairs of values of two axes are, a command with its mode being one axis.

    But of commands with features and with policies: `triples` has those.
    """

    def axes(cell: Cell) -> tuple:
        return ((cell.command, cell.mode), cell.cluster, cell.feature, cell.groups, cell.policy)

    def pairs(cell: Cell) -> set:
        command, cluster, feature, groups, policy = enumerate(axes(cell))
        kinds = itertools.combinations((cluster, feature, groups, policy), 2)
        return {*kinds, (command, cluster), (command, groups)}

    chance = random.Random(seed)
    every = {cell: pairs(cell) for cell in cells()}
    missing = set().union(*every.values())
    by_pair: dict[Any, list[Cell]] = {}
    for cell, found in every.items():
        for pair in found:
            by_pair.setdefault(pair, []).append(cell)
    chosen = []
    while missing:
        wanted = min(missing, key=repr)
        candidates = chance.sample(by_pair[wanted], min(40, len(by_pair[wanted])))
        best = max(candidates, key=lambda cell: len(every[cell] & missing))
        chosen.append(best)
        missing -= every[best]
    return chosen


def triples(seed: int = 0) -> list[Cell]:
    """Return one cell for every other one of a command's mode, feature and policy, with all pairs of the three.

    Cluster and groups are drawn.
    """
    chance = random.Random(seed)
    called = [(command.name, mode) for command in COMMANDS for mode in command.modes]
    by_triple: dict[tuple, list[Cell]] = {}
    for cell in cells():
        axes = ((called, (cell.command, cell.mode)), (list(FEATURES), cell.feature), (POLICIES, cell.policy))
        if sum(axis.index(value) for axis, value in axes) % 2 == 0:
            by_triple.setdefault(tuple(value for _, value in axes), []).append(cell)
    return [chance.choice(candidates) for candidates in by_triple.values()]


def document(cell: Cell) -> dict[str, Any]:
    """Return the instance of a cell as the data of its file."""
    data: dict[str, Any] = json.loads(json.dumps(CLUSTERS[cell.cluster]))
    users = [dict(A), dict(B)]
    for parts in (FEATURES[cell.feature], GROUPS[cell.groups]):
        for user, more in zip(users, parts, strict=False):
            user |= more
        data |= parts[2]
    data["users"] = [{key: value for key, value in user.items() if value is not None} for user in users]
    if cell.feature in GPUS:
        for table in (data["capacity"],) if "capacity" in data else [m["capacity"] for m in data["machines"]]:
            table["gpu"] = GPUS[cell.feature]
    return data


def by_itself(cell: Cell) -> bool:
    """Say whether a cell is of machines that are divided one by one."""
    return cell.policy == "per-server" and cell.cluster == "machines"


def policy(cell: Cell) -> str:
    """Return the policy as the command line takes it."""
    if cell.policy != "file":
        return cell.policy
    whole = cell.mode == "whole" or cell.command == "rebalance"
    ruled = cell.feature in ("guarantee", "tier", "weight 0", "excluded") or (whole and cell.feature == "task types")
    name = "hierarchy" if cell.groups != "none" else "guarantees" if ruled else "drf"
    return str(FORMULATIONS / f"{name}{'_integer' if whole else ''}.py")


def call(arguments: list[str], printed: list[str] | None = None) -> Outcome:
    """Run the program in this process; a RuntimeWarning is a fault, and so is whatever is no exit."""
    from drfopt.cli import main

    out, err = io.StringIO(), io.StringIO()
    status = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        kept, sys.warnoptions = sys.warnoptions, ["error"]
        try:
            main(arguments)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 0 if end.code is None else 99
        except Exception as error:
            return Outcome(99, f"Traceback: {type(error).__name__} {error}")
        finally:
            sys.warnoptions = kept
    if printed is not None:
        printed.append(out.getvalue())
    return Outcome(status, err.getvalue().strip())


def run(cell: Cell, folder: Path) -> Outcome:
    """Run a cell with its files in a folder."""
    path = folder / "instance.json"
    path.write_text(json.dumps(document(cell)))
    row = next(row for row in COMMANDS if row.name == cell.command)
    mode = {"divisible": [], "whole": ["--integer"], "exact": ["--exact"]}[cell.mode]
    if row.name.startswith("verify"):
        answer = folder / "answer.json"
        answer.unlink(missing_ok=True)
        option = ["--certificate", str(answer)] if "certificate" in row.name else ["--json", "-o", str(answer)]
        solved = call(["solve", str(path), "-p", policy(cell), *mode, *option])
        if solved.status == 2 or not solved.sound or not answer.exists():
            return solved
        found = call(["verify", str(path), str(answer), "--json"])
        # What the package wrote itself is never wrong.
        return Outcome(99, f"{FAULT}: it calls its own answer wrong") if found.status == 1 else found
    option = {"compare": "--policies", "report": "--policies"}.get(row.name, "--policy")
    given = row.arguments
    if by_itself(cell):
        # What single machines know no limit of is asked for more of a resource.
        instead = {"--set-limit": "--scale", "A=1": "cpu=3/2", "set-limit A=1": "scale cpu=3/2"}
        given = tuple(instead.get(word, word) for word in given)
    arguments = [row.name.split()[0], str(path), *given, option, policy(cell), *mode]
    if row.name == "rebalance":
        current = folder / "current.json"
        runs = {"placement": {"B": {"large": 1}}} if cell.cluster == "machines" else {"tasks": {"B": 1}}
        current.write_text(json.dumps(runs))
        arguments += ["--current", str(current)]
    if row.name == "size":
        arguments += ["--cost", "cpu=1,memory=1" if cell.cluster == "pool" else "large=3,small=1"]
    if row.name in ("report", "export"):
        arguments += ["-o", str(folder / "written")]
    if row.name == "export" or zlib.crc32(repr(cell).encode()) % 2:
        return call(arguments)
    # Every other cell is asked for JSON, and that is what its schema says.
    printed: list[str] = []
    found = call([*(arguments[: arguments.index("-o")] if "-o" in arguments else arguments), "--json"], printed)
    if found.answered and printed and printed[0].strip() and (wrong := faults(json.loads(printed[0]))):
        return Outcome(99, f"{FAULT}: {wrong[0]}")
    return found


@cache
def validator(name: str) -> Any:
    """Return who holds a document to its schema."""
    from jsonschema import Draft202012Validator

    from drfopt import schema

    return Draft202012Validator(schema(name))


def faults(document: dict[str, Any]) -> list[str]:
    """Return what of a document its schema forbids."""
    name = document["schema"].split()[1]
    return [f"{name}{error.json_path}: {error.message[:200]}" for error in validator(name).iter_errors(document)]


def asked(cell: Cell, limited: bool = False) -> Any:
    """Return a cell as the package's own table of what can be asked takes it; `limited` as whatif changes it."""
    from drfopt.cli.coverage import Inquiry
    from drfopt.io.native.reading import built
    from drfopt.model.policies import policy_named

    data = document(cell)
    if limited:
        data["users"][0]["max_tasks"] = 1
    instance = built(data, cell.feature)
    return Inquiry(cell.command.split()[0], cell.mode, instance, policy_named(policy(cell)))


def told(cell: Cell, changes: bool = False) -> str:
    """Return why that table says that a cell is refused, its `changes` made too; empty where it is answered."""
    from drfopt.cli.coverage import refusal

    row = refusal(asked(cell))
    if row is None and cell.command in ("whatif", "report") and changes and not by_itself(cell):
        row = refusal(asked(cell, limited=True))
    return "" if row is None else row.name


def mark(cell: Cell) -> str:
    """Return how the manual's table shows a cell that is answered."""
    from drfopt.cli.coverage import bounded

    return "✓" if bounded(asked(cell)) is None else "~"


def outcomes(chosen: list[Cell]) -> Iterator[tuple[Cell, Outcome]]:
    """Run cells one after the other."""
    with tempfile.TemporaryDirectory() as name:
        for cell in chosen:
            yield cell, run(cell, Path(name))


def main() -> None:
    """Run all cells and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    asked = parser.parse_args()
    os.environ.pop("DRFOPT_TRACEBACK", None)
    table, faults = [], 0
    chosen = cells()[asked.first :: asked.every]
    for cell, outcome in outcomes(chosen):
        verdict = "answered" if outcome.answered else "refused"
        table.append(asdict(cell) | {"status": outcome.status, "verdict": verdict, "words": outcome.words})
        if not outcome.sound:
            faults += 1
            print(cell, outcome, flush=True)
    asked.json.write_text("[\n" + ",\n".join(map(json.dumps, table)) + "\n]\n")
    print(len(table), "cells", dict(Counter(row["verdict"] for row in table)), faults, "faults")


if __name__ == "__main__":
    main()
