"""Clusters that a page has to bear: hostile names, many users, machines, refusals."""

import numpy as np

from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.model.organisation import Group, Organisation
from drfopt.model.users import TaskType

NSDI = Instance(
    {"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}}, {"cpu": 9, "memory": 18}, name="NSDI 2011"
)

HOSTILE = (
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 1'>",
    '" onmouseover="window.hacked = 1" x="',
    "'; window.hacked = 1; //",
    "<!-- ]]> --> {{ 7 * 7 }} {% raw %} ${7*7}",
    "\u202eright to left\u202d",
    "שלום עולם",
    "😀👩‍🚀 𝔘𝔫𝔦",
    "tab\tbell\x07escape\x1b[31m",
    "half \ud800 of a pair",
    "a" * 400,
    "  spaces  ",
    "&amp;&lt;",
    "$x_1$ %s \\n",
)
"""Names that a page must show and must not obey."""


def hostile() -> Instance:
    """Return a cluster in which everything that can be named has a hostile name."""
    demands = {name: {"<b>cpu</b>": 1 + i % 3, "a/b c": 1 + i % 2} for i, name in enumerate(HOSTILE)}
    machines = [
        Machine("xl</script><b>", {"<b>cpu</b>": 9, "a/b c": 12}, 2),
        Machine("s", {"<b>cpu</b>": 4, "a/b c": 4}),
    ]
    return Instance(demands, machines=machines, name="<script>window.hacked = 1</script>", source="</style>&")


def typed() -> Instance:
    """Return machines and a user with two task types, one of which fits on one class only."""
    driver = TaskType({"cpu": 4, "memory": 64}, 1, machines=["big"], name="driver")
    return Instance(
        {"A": [driver, TaskType({"cpu": 1, "memory": 1}, 30)], "B": {"cpu": 2, "memory": 4}},
        machines=[
            Machine("big", {"cpu": 32, "memory": 128}, 4),
            Machine("small", {"cpu": 8, "memory": 16}, 10),
        ],
        name="types",
    )


def organised() -> Instance:
    """Return a pool with a group, a guarantee, a ceiling, a tier and a limit."""
    return Instance(
        {"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}, "C": {"cpu": 1, "memory": 1}},
        {"cpu": 100, "memory": 200},
        max_tasks={"A": None, "B": None, "C": 5},
        organisation=Organisation(
            guarantees={"A": {"cpu": 4}},
            ceilings={"B": {"cpu": 20}},
            tiers={"C": 1},
            paths={"A": "eng", "B": "eng"},
            groups=[Group("eng", 2, ceiling={"memory": 160})],
        ),
        name="an organisation",
    )


def crowd(n: int, m: int = 3) -> Instance:
    """Return a pool of many unlike users."""
    random = np.random.default_rng(n)
    users = [f"team-{i % 7}/user-{i}" for i in range(n)]
    resources = ["cpu", "memory", "gpu", "disk", "net", "fpga", "tape", "ports", "leases"][:m]
    return Instance(
        random.integers(1, 20, (n, m)), random.integers(50, 90, m) * n, users=users, resources=resources, name="crowd"
    )


def machines() -> Instance:
    """Return three classes, a limit, a weight, and a user who fits nowhere."""
    return Instance(
        {
            "web": {"cpu": 2, "memory": 4},
            "train": {"cpu": 4, "memory": 8, "gpu": 1},
            "batch": {"cpu": 1, "memory": 6},
            "huge": {"cpu": 500},
        },
        machines=[
            Machine("big", {"cpu": 32, "memory": 128, "gpu": 4}, 4),
            Machine("small", {"cpu": 16, "memory": 32, "gpu": 0}, 10),
            Machine("fat", {"cpu": 8, "memory": 256, "gpu": 0}, 2),
        ],
        weights={"train": 2, "web": 1, "batch": 1, "huge": 1},
        max_tasks={"web": 20, "train": None, "batch": None, "huge": None},
        name="three classes",
    )
