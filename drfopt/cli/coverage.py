"""Which questions can be asked of which instance: every refusal there is, by what is asked and what the instance has.

A row says when a command has no answer, and why in one line; what no row speaks of is answered, and proven, or with a
bound where `BOUNDED` says so.  The manual's table is made of these rows, a test asks every cell of it on a small
instance, and ``convert`` tells at once what cannot be asked of what it wrote.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from ..certificates.verifier.powers import DEGREE
from ..engines.problem import Problem
from ..engines.registry import engines_for
from ..model.hierarchy.clock import Clock
from ..model.instance import Instance
from ..model.policies import Policy, policy_named, policy_on

__all__ = ["BOUNDED", "QUESTIONS", "ROWS", "Bounded", "Inquiry", "Refusal", "bounded", "refusal", "unanswered"]

QUESTIONS: dict[str, tuple[str, ...]] = {
    "solve": ("divisible", "whole", "exact"),
    "verify": ("divisible", "whole", "exact"),
    "compare": ("divisible", "whole"),
    "crosscheck": ("divisible", "whole"),
    "audit": ("divisible", "whole"),
    "schedule": ("divisible",),
    "explain": ("divisible", "whole"),
    "whatif": ("divisible", "whole", "exact"),
    "price": ("divisible",),
    "sweep": ("divisible", "whole"),
    "size": ("divisible", "whole"),
    "rebalance": ("divisible",),
    "report": ("divisible", "whole"),
    "export": ("divisible", "whole"),
}
"""Commands, and the tasks with which each can be asked; rebalance is about whole tasks, whatever it is asked with."""


@dataclass(frozen=True, eq=False)
class Inquiry:
    """A question: a command on an instance, under a policy, with divisible or whole tasks or in exact numbers."""

    command: str
    tasks: str
    instance: Instance
    policy: Policy

    @property
    def whole(self) -> bool:
        """Whether tasks are whole."""
        return self.tasks == "whole" or self.command == "rebalance"

    @property
    def ruled(self) -> bool:
        """Whether there are rules of an organisation beyond ceilings of single users."""
        return "organisation" in self.instance.features

    @property
    def typed(self) -> bool:
        """Whether some user has several task types."""
        return self.instance.task_types is not None

    @property
    def family(self) -> str:
        """``leximin``, ``alpha``, ``sum``, ``servers`` or ``formulation``."""
        return policy_on(self.policy, self.instance).objective

    @property
    def ordered(self) -> bool:
        """Whether there is one order of all, in which they are served one tier after the other."""
        rules = self.instance.organisation
        return rules is None or rules.in_turn is not None

    @property
    def in_amounts(self) -> bool:
        """Whether rules promise amounts, or forbid groups some."""
        rules = self.instance.organisation
        return rules is not None and bool(rules.amounts)

    @property
    def levelled(self) -> bool:
        """Whether guarantees mean levels rather than floors."""
        rules = self.instance.organisation
        promised = rules is not None and rules.promises
        return bool(promised and rules is not None and rules.meaning != "floor")

    @property
    def typed_and_promised(self) -> bool:
        """Whether to somebody with several task types a guarantee, its own or of a group, is worth some task."""
        kinds = self.instance.task_types
        if self.family != "leximin" or self.instance.organisation is None or kinds is None:
            return False
        promised = Clock(self.instance, policy_on(self.policy, self.instance), exact=True, whole=True).promised
        return any(mine is not None and tasks for mine, tasks in zip(kinds, promised, strict=True))

    @property
    def unasked(self) -> list[str]:
        """What an organisation, or the types of whole tasks, say that a formulation file never names."""
        from ..engines.formulation.user_file import said

        there = said(Problem(self.instance, self.policy, self.whole))
        if self.policy.build is not None:
            return there
        names = set(re.findall(r"\w+", Path(self.policy.argument).read_text(encoding="utf-8")))
        return [name for name in there if name not in names]

    @property
    def overpromised(self) -> bool:
        """Whether users are promised more of a resource than there is."""
        rules = self.instance.organisation
        promised = rules.guarantees if rules is not None else ()
        there = zip(self.instance.resources, self.instance.exact_capacity, strict=True)
        return any(sum(own.get(r, 0) for own in promised) > most for r, most in there)

    @property
    def exact(self) -> bool:
        """Whether an exact answer was asked for and there is an engine for it."""
        return bool(engines_for(Problem(self.instance, policy_on(self.policy, self.instance)), exact=True))


@dataclass(frozen=True)
class Refusal:
    """A row: when there is no answer, why in one line, and what stands against an answer, with its source."""

    name: str
    when: Callable[[Inquiry], bool]
    reason: str
    against: str


MARKETS = ("alpha", "sum")
NOTHING_KNOWN = ("servers", "formulation")

ROWS = (
    Refusal(
        "levels only",
        lambda a: a.command == "schedule" and a.family not in ("leximin", "servers"),
        "Algorithm 1 starts the task of who is lowest, and a market, sum or file compares no levels one by one: "
        "use drf, or solve --integer",
        "serving the lowest is what makes levels leximin (Ghodsi et al., NSDI 2011, section 4.2); the task that "
        "gains most leads to no largest sum: of 4 cpu one of 3 gains most, after which nothing fits, and two of 2 "
        "are worth more",
    ),
    Refusal(
        "best unknown",
        lambda a: a.command == "rebalance" and a.family == "formulation",
        "nothing says which whole tasks are best under the notion, so that there is nothing to move to: use drf, or "
        "another policy of levels, a market or a sum",
        "a file gives one allocation and does not say which others are as good, and the nearest of these is what is "
        "looked for",
    ),
    Refusal(
        "order",
        lambda a: a.family in MARKETS and not a.ordered,
        "inside a group that has others beside it, who wait for none of its tiers, a market or sum has no order of "
        "all: put the tiers at the top, or use drf",
        "turns are defined where all wait for each other (the lexicographic sum or product); no source says whose "
        "part of a sum, or of a group's income, waits for a tier inside of another group",
    ),
    Refusal(
        "levels",
        lambda a: a.family in MARKETS and a.levelled,
        "a market or sum has no levels, and surplus and normalised guarantees are levels: write them as floors, or use "
        "drf",
        "the surplus is a level in Kueue, and the normalised share one in YuniKorn; the first-order conditions of a "
        "product have tasks and prices, which floors and ceilings change and levels do not",
    ),
    Refusal(
        "servers rules",
        lambda a: a.family == "servers" and a.in_amounts,
        "every machine is divided by itself, and a guarantee, or a group's ceiling, is of all of them together: no "
        "source says what part of it is whose; leave it out (weights, tiers and groups alone are taken), or use drf",
        "its source (Wang, Li and Liang, INFOCOM 2014) has neither promises nor ceilings; by size, by what fits, by "
        "who needs it are three ways to split an amount, with three different answers",
    ),
    Refusal(
        "servers groups",
        lambda a: (
            a.command == "rebalance"
            and a.family == "servers"
            and a.instance.organisation is not None
            and bool(a.instance.organisation.groups)
        ),
        "a group has a level on each machine, and moves are sought by one program of all of them, in which it has one: "
        "leave groups out, or use drf",
        "nothing is undefined here: of one machine or of all under one level the nearest best allocation is one "
        "program, of a level on each machine and group it is none that is written",
    ),
    Refusal(
        "formulation rules",
        lambda a: a.family == "formulation" and bool(a.unasked),
        "a formulation file is the notion, and says what of the rules, and of the types of whole tasks, it knows: this "
        "one asks for less than there is; leave that out, or write a file that asks for it",
        "nothing is undefined here: the same rules are answered under every leximin policy of the table",
    ),
    Refusal(
        "promised too much",
        lambda a: a.family == "formulation" and not a.whole and a.overpromised,
        "a formulation file of divisible tasks has guarantees as constraints, and these do not fit together: lower "
        "them, or use drf, which keeps them in part",
        "the file's program is defined, and has no feasible point; that guarantees are then kept to the same part "
        "is a rule beside it (YARN's fair scheduler)",
    ),
    Refusal(
        "servers limits",
        lambda a: a.family == "servers" and a.instance.limited,
        "every machine is divided by itself, and a limit, count of tasks or ceiling is of their sum: which machine's "
        "tasks it stops first has many answers, and no source has one of them (per-server dominant share fairness, "
        "which takes limits, is another notion: on each machine it counts the tasks of all); leave it out, or use drf",
        "Khamse-Ashari, Lambadaris, Kesidis, Urgaonkar and Zhao, ICC 2017, is the other notion",
    ),
    Refusal(
        "scalar",
        lambda a: a.policy.weights == "scalar" and a.instance.weights_per_resource,
        "an income, and a number of tasks, is one number, and weights by resource are of shares of resources: give "
        "everybody one weight, or use drf, asset or single:RESOURCE",
        "as endowments of each resource they make an exchange economy, whose equilibria with Leontief utilities can "
        "be several or none, and are hard to find (Codenotti, Saberi, Varadarajan and Ye, SODA 2006), so that no "
        "product has them; in alpha fairness (Mo and Walrand, 2000) and task shares (Wang et al., SC 2016) a weight "
        "is one number",
    ),
    Refusal(
        "resource",
        lambda a: (
            a.policy.measure == "single" and bool(np.any(a.instance.demands[:, a.policy.column(a.instance) or 0] == 0))
        ),
        "the notion compares shares of one resource, and some user demands none of it, so that its share is 0 whatever "
        "it has: leave it out, or use drf",
        "leximin then decides nothing of what it has: all that is left, and nothing, are as fair by the definition "
        "(NSDI 2011, section 7.2, and Choosy, EuroSys 2013, have one resource that all need)",
    ),
    Refusal(
        "irrational",
        lambda a: a.tasks == "exact" and a.family == "alpha" and Fraction(str(a.policy.alpha)).denominator > DEGREE,
        "irrational powers are bounded by roots whose degree, the denominator of alpha, is 1,000 at most: take an "
        "alpha of fewer digits, or ask in floats",
        "how precise an enclosure may be is a limit of this package and not of the notion",
    ),
    Refusal(
        "exact",
        lambda a: a.tasks == "exact" and not a.exact,
        "a formulation file is solved as it is written, by a modelling language in floats: ask in floats",
        "a file's arrays are computed in floats before any solver sees them, so that fractions of its program would "
        "not be those of the instance",
    ),
    Refusal(
        "priced",
        lambda a: a.command == "price" and a.family == "formulation",
        "a price is the dual of an objective whose program is known, and of a file's rounds it is not: what something "
        "more brings, explain and whatif say",
        "the dual of a round is of that round: how it moves with what earlier rounds have held, each file would "
        "have to say",
    ),
    Refusal(
        "scheduled types",
        lambda a: a.command == "schedule" and a.typed and a.typed_and_promised,
        "which of somebody's task types, started one by one, a guarantee is of is nowhere defined: leave the guarantee "
        "out, or use solve --integer",
        "counted by its average task, as solve --integer does, or by what is used, as queues do, it would end at "
        "different tasks",
    ),
)
"""Every reason, the first that holds being the one that is told."""


@dataclass(frozen=True)
class Bounded:
    """A row of what is answered, but with a bound or in part: when, and in what way."""

    command: str
    when: Callable[[Inquiry], bool]
    reason: str


BOUNDED = (
    Bounded(
        "verify",
        lambda a: a.ruled or (a.whole and a.typed) or a.family == "formulation",
        "of leximin rules, markets and sums are decided; of sums and products of whole tasks that do not keep a "
        "guarantee, and of formulation files feasibility is, and whether nothing is better is not; of other whole "
        "tasks it is, unless their trees grew too large",
    ),
    Bounded(
        "crosscheck",
        lambda a: a.family in NOTHING_KNOWN or (a.whole and a.instance.machines is not None) or a.typed or a.ruled,
        "undecided where fewer than two authors answer",
    ),
    Bounded(
        "audit",
        lambda a: a.ruled or "types on machines" in a.instance.features or (a.whole and a.typed),
        "what compares a user with its part, or with another, is not defined under rules and left out; the rest is "
        "decided of certified floats or of whole tasks, or by trials",
    ),
    Bounded(
        "explain",
        lambda a: a.family in NOTHING_KNOWN,
        "what is used up where a user could run more: of a formulation file nothing else is known that stops it",
    ),
    Bounded("size", lambda a: True, "proven to be the cheapest, or the best known with its bound when the time is up"),
    Bounded(
        "rebalance",
        lambda a: True,
        "proven to be the fewest moves, or those known when the time is up or rounding hides what is best",
    ),
)
"""What may be answered with a bound, or in part; all other answers are proven, whole tasks on machines as far as time
goes."""


def bounded(asked: Inquiry) -> Bounded | None:
    """Return in what way a question may be answered in part; None where its answer is proven."""
    return next((row for row in BOUNDED if row.command == asked.command and row.when(asked)), None)


def refusal(asked: Inquiry) -> Refusal | None:
    """Return why a question has no answer; None where it has one."""
    return next((row for row in ROWS if row.when(asked)), None)


def unanswered(instance: Instance, policies: Iterable[str] = ("drf", "ceei", "utilitarian")) -> list[str]:
    """Return a line for each reason for which something cannot be asked of an instance, and what."""
    lost: dict[tuple[str, str], list[str]] = {}
    for command, kinds in QUESTIONS.items():
        for tasks in kinds:
            option = {"whole": " --integer", "exact": " --exact"}.get(tasks, "")
            for name in policies:
                row = refusal(Inquiry(command, tasks, instance, policy_named(name)))
                if row is not None and row.name != "levels only":
                    lost.setdefault((command + option, row.reason), []).append(name)
    by_reason: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (what, reason), names in lost.items():
        by_reason.setdefault((reason, tuple(names)), []).append(what)
    every = tuple(policies)
    return [
        f"cannot be asked{'' if names == every else ' under ' + ', '.join(names)}: {', '.join(_short(what))} ({reason})"
        for (reason, names), what in by_reason.items()
    ]


def _short(what: list[str]) -> list[str]:
    """Return commands with every command that an option is lost to as that option alone."""
    found = list(what)
    for option, tasks in (("--integer", "whole"), ("--exact", "exact"), ("", "divisible")):
        able = [f"{command} {option}".strip() for command, kinds in QUESTIONS.items() if tasks in kinds]
        able = [name for name in able if name != "schedule"]
        if set(able) <= set(found):
            found = [name for name in found if name not in able] + [option or "every command"]
    return found
