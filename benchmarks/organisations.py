"""Questions about organisations: a tree of groups in a pool, and every rule at once on the openb trace."""

import random
from typing import Any

import numpy as np

from drfopt.io.readers.asking import read
from drfopt.model.allocation import Allocation
from drfopt.model.instance import Instance
from drfopt.model.organisation import Group, Organisation
from drfopt.model.users import TaskType
from drfopt.solving.allocating import solve

from .clusters import data_folder
from .measure import Absent, Bench, Case, Row, Verdict, Way, proven

__all__ = ["departments", "every_rule", "teams", "tree"]

Both = tuple[Instance, Instance]

EXACTLY = 1_000
"""Users up to whom fractions are asked as well."""

TEAMS = 3
"""Groups below each department."""


def tree(bench: Bench, size: tuple[int, int]) -> list[Row]:
    """Measure a pool of (users, departments), with the same users in no group as the yardstick."""
    n, departments = size

    def off(both: Both, found: Allocation) -> Verdict:
        if n > EXACTLY:
            return proven(found.certificate)
        exact = np.array([float(x) for x in solve(both[0], exact=True).tasks])
        return proven(
            found.certificate, float(np.abs(found.tasks / np.where(exact > 0, exact, 1) - 1)[exact > 0].max())
        )

    ways = (
        Way("drfopt tree-filling", "drfopt", _with_rules, off),
        Way(
            "drfopt rational-tree",
            "drfopt",
            lambda both: solve(both[0], exact=True),
            lambda instance, found: proven(found.certificate),
            largest=EXACTLY,
            why="minutes in fractions",
        ),
        Way("no groups", "yardstick", _without_rules),
    )
    case = Case(
        "tree", f"{n:,} in {departments}", n, lambda: _both(_pool(n, departments)), ways, "fractions", "no groups"
    )
    return bench.measure("organisations", case)


def every_rule(bench: Bench, pods: str) -> list[Row]:
    """Measure guarantees, tiers, ceilings and groups together on the openb trace, against the trace without them."""
    ways = (
        Way("drfopt tree-chain", "drfopt", _with_rules, lambda both, found: proven(found.certificate)),
        Way("no rules", "yardstick", _without_rules),
    )
    case = Case("openb", pods, 457, lambda: _both(_openb(pods)), ways, yardstick="no rules")
    return bench.measure("organisations-openb", case)


def departments(cluster: Instance) -> Instance:
    """Return a cluster with its users dealt out to ten departments."""
    rules = Organisation(
        paths={user: f"d{i % 10}" for i, user in enumerate(cluster.users)}, groups=[Group(f"d{g}") for g in range(10)]
    )
    return Instance(**(cluster.parts() | {"organisation": rules}))


def teams(cluster: Instance) -> Instance:
    """Return a cluster with its users dealt out to 45 teams, as their task types; without who fits nowhere."""
    found: dict[str, list[TaskType]] = {}
    rows = zip(cluster.exact_demands, cluster.max_tasks, cluster.eligible, cluster.unplaced(), strict=True)
    for i, (demand, count, open_to, unplaced) in enumerate(rows):
        if unplaced or count is None:
            continue
        need = {r: d for r, d in zip(cluster.resources, demand, strict=True) if d}
        names = [name for name, is_open in zip(cluster.machine_names, open_to, strict=True) if is_open]
        found.setdefault(f"t{i % 45}", []).append(TaskType(need, int(count), names))
    return Instance(found, machines=cluster.machines, resources=list(cluster.resources))


def _pool(n: int, departments: int) -> Instance:
    chance = np.random.default_rng(n)
    demands = chance.integers(0, 5, (n, 4)).astype(float)
    demands[np.arange(n), chance.integers(0, 4, n)] += 1
    capacity = 3 * demands.sum(axis=0)
    above = [f"d{k}" for k in range(departments)]
    teams = [f"{name}/t{t}" for name in above for t in range(TEAMS)]
    groups = [Group(name, int(chance.integers(1, 4))) for name in above + teams]
    groups[0] = Group(above[0], 1, ceiling={"r1": float(capacity[0] / departments)})
    users = [f"u{i}" for i in range(n)]
    return Instance(
        demands,
        capacity,
        users=users,
        max_tasks=chance.integers(1, 20, n).astype(float),
        organisation=Organisation(
            paths={u: teams[k] for u, k in zip(users, chance.integers(0, len(teams), n).tolist(), strict=True)},
            groups=groups,
            tiers={u: int(chance.random() < 0.1) for u in users},
        ),
    )


def _both(instance: Instance) -> Both:
    """Return the instance and the same without any rule."""
    return instance, Instance(**(instance.parts() | {"organisation": None, "weights": None}))


def _with_rules(both: Both) -> Allocation:
    return solve(both[0])


def _without_rules(both: Both) -> Allocation:
    return solve(both[1])


def _openb(pods: str) -> Instance:
    folder = data_folder() / "openb"
    if not folder.is_dir():
        raise Absent(f"{folder} is not there")
    plain = read("openb", [folder / "openb_node_list_all_node.csv", folder / pods]).instance
    chance = random.Random(1)
    gpus: Any = [user for user, demand in zip(plain.users, plain.demands, strict=True) if demand[2] > 0]
    teams = ["research/nlp", "research/vision", "prod/serving", "prod/batch"]
    research = Group("research", 2, guarantee={"gpu": 2000}, ceiling={"gpu": 3000})
    rules = Organisation(
        paths={user: chance.choice(teams) for user in plain.users},
        groups=[
            research,
            Group("prod", 3),
            Group(teams[0]),
            Group(teams[1]),
            Group(teams[2], tier=1),
            Group(teams[3], 0),
        ],
        guarantees={user: {"gpu": 20} for user in gpus[:50]},
        tiers={user: chance.choice([0, 1]) for user in plain.users},
        meaning="surplus",
    )
    return Instance(**(plain.parts() | {"organisation": rules}))
