"""The rules by name: a row each, with the file that has it and where it comes from.

Adding a rule is a class in a file of this folder, and a row that names both; what takes an argument is made by a
function ``build(argument) -> Rule``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...base.errors import PolicyError
from ...base.registry import Registry
from ..scenario import User
from ..turns import Rule

__all__ = ["DIFFERENCES", "RULES", "RuleRow", "disregarded", "rule_named"]


@dataclass(frozen=True)
class RuleRow:
    """A rule as it is called: ``slots:K`` takes an argument in the place of the capitals, as in its example.

    `regards` are those of `DIFFERENCES` between users that it looks at.
    """

    name: str
    module: str
    title: str
    source: str
    example: str = ""
    regards: tuple[str, ...] = ("weights",)

    @property
    def stem(self) -> str:
        """The name without its argument."""
        return self.name.partition(":")[0]

    @property
    def takes(self) -> bool:
        """Whether it takes an argument."""
        return ":" in self.name


NSDI = "Ghodsi et al., Dominant Resource Fairness, NSDI 2011"
ZAHARIA = "Zaharia et al., Job Scheduling for Multi-User MapReduce Clusters, 2009"

RULES = Registry(
    RuleRow(
        "drf",
        "task_by_task:Drf",
        "lowest dominant share first, who does not fit is passed over",
        f"{NSDI}, Algorithm 1",
    ),
    RuleRow(
        "drf-stop",
        "task_by_task:DrfStop",
        "lowest dominant share, and nobody before it is served",
        f"{NSDI}, Algorithm 1",
    ),
    RuleRow("asset", "task_by_task:AssetFairness", "lowest sum of shares first", f"{NSDI}, section 5.1"),
    RuleRow("ceei", "ceei:Ceei", "furthest below the equilibrium of the moment first", f"{NSDI}, section 5.2"),
    RuleRow(
        "sequential-min-max",
        "task_by_task:SequentialMinMax",
        "lowest dominant share after the task first",
        "Parkes, Procaccia and Shah, Beyond Dominant Resource Fairness, EC 2012, section 5",
    ),
    RuleRow(
        "slots:K",
        "task_by_task:slots",
        "fewest tasks first, K slots a machine; machines may be overloaded",
        f"{NSDI}, section 7.2",
        "slots:4",
    ),
    RuleRow(
        "single:RESOURCE",
        "task_by_task:single",
        "lowest share of one resource first; the others may be overloaded",
        f"{NSDI}, section 7.2",
        "single:cpu",
    ),
    RuleRow(
        "fifo",
        "task_by_task:Fifo",
        "first job first",
        ZAHARIA,
        regards=(),
    ),
    RuleRow(
        "mesos",
        "mesos:Mesos",
        "offers of machines to roles and frameworks, quotas first",
        "Apache Mesos, hierarchical.cpp",
        regards=("weights", "guarantees", "groups"),
    ),
    RuleRow(
        "mesos-priority",
        "mesos:strict_priorities",
        "Mesos, roles by tier before share",
        "Apache Mesos, allocation modules",
        regards=("weights", "guarantees", "groups", "tiers"),
    ),
    RuleRow(
        "yarn:VERSION",
        "yarn",
        "YARN's fair scheduler: intended, or with the faults of hadoop-2, hadoop-3, hadoop-3-fixed",
        "Apache Hadoop, fair scheduler",
        "yarn:hadoop-3",
        ("weights", "guarantees", "groups"),
    ),
    RuleRow(
        "kueue",
        "kueue:Kueue",
        "lowest share of what is borrowed, in a tree of cohorts",
        "Kueue, fair_sharing_iterator.go",
        regards=("weights", "guarantees", "groups", "tiers"),
    ),
    RuleRow(
        "kai",
        "kai:Kai",
        "least of its fair share of every resource",
        "NVIDIA KAI-Scheduler, queue_order.go",
        regards=("weights", "guarantees", "tiers"),
    ),
    RuleRow(
        "koordinator",
        "koordinator:Koordinator",
        "first come, within runtime quotas",
        "Koordinator, elasticquota",
        regards=("weights", "guarantees", "tiers"),
    ),
    RuleRow(
        "yunikorn",
        "yunikorn:Yunikorn",
        "higher tiers, then the lowest share of the guarantee, first",
        "Apache YuniKorn, sorters.go and resources.go",
        regards=("guarantees", "groups", "tiers"),
    ),
    RuleRow(
        "hierarchy:MEASURE",
        "hierarchy",
        "groups before members: hdrf, scaled or sum",
        "Bhattacharya et al., SoCC 2013",
        "hierarchy:hdrf",
        ("weights", "groups"),
    ),
    RuleRow(
        "dynamic",
        "dynamic:Dynamic",
        "dynamic DRF: who has come never loses; equal weights",
        "Kash, Procaccia and Shah, AAMAS 2013",
        regards=(),
    ),
    RuleRow(
        "karma:RESOURCE",
        "karma",
        "credits, one resource in slices; equal weights",
        "Vuppalapati et al., Karma, OSDI 2023",
        "karma:cpu",
        (),
    ),
    what="rule",
    error=PolicyError,
    package=__package__,
    function="build",
)


DIFFERENCES: dict[str, Callable[[Sequence[User]], bool]] = {
    "weights": lambda users: len({user.weight for user in users}) > 1,
    "guarantees": lambda users: any(any(user.guarantee.values()) for user in users),
    "groups": lambda users: len({user.group for user in users}) > 1,
    "tiers": lambda users: len({user.tier for user in users}) > 1,
}
"""What can set users apart beside their tasks, and whether it does."""


def disregarded(rule: Rule, users: Sequence[User]) -> tuple[str, ...]:
    """Return what sets users apart and a rule does not look at; nothing is known of a rule of somebody's own."""
    row = RULES.get(rule.name.partition(":")[0])
    regards = () if row is None else (*row.regards, *rule.regards)
    return () if row is None else tuple(w for w, there in DIFFERENCES.items() if w not in regards and there(users))


def rule_named(name: str | Rule) -> Rule:
    """Return the rule of that name, such as ``"drf"`` or ``"slots:4"``; a `Rule` is returned as it is.

    Raises
    ------
    PolicyError
        When there is none, with the nearest name, or its argument is missing or not taken.
    """
    if isinstance(name, Rule):
        return name
    stem, colon, argument = str(name).partition(":")
    row = RULES.get(stem)
    if row is None:
        raise RULES.unknown(name)
    if row.takes and not argument:
        raise PolicyError(f"the rule {row.name} needs its argument: write for example {row.example!r}")
    if colon and not row.takes:
        raise PolicyError(f"the rule {stem} takes no argument: leave {argument!r} out")
    rule: Rule = RULES.implementation(row)(*([argument] if row.takes else []))
    return rule
