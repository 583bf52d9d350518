"""The theorems of the DRF paper, each told as an instance, a claim, a computation and a verdict.

Source: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, in its numbering; `appendix` tells Theorem 7 and all from
Lemma 8 on, and what is not in the paper: that DRF is not the only policy with its properties (an explainer says that it
is; the paper leaves it open), and which solution of bargaining theory it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..base.errors import PolicyError, suggestion
from ..base.tables import Column, Sheet
from ..model.instance import Instance
from ..model.policies import policy_named
from . import appendix
from .auditing import audit
from .case import AuditCase
from .economy import Economy, cluster_of, shown
from .manipulation.misreports import worth
from .outcomes import outcome
from .properties.sharing_incentive import part
from .verdicts import FAILS, row

__all__ = ["THEOREMS", "CheckedTheorem", "Theorem", "theorem"]


@dataclass(frozen=True)
class CheckedTheorem:
    """A theorem told: what it says, the numbers, and whether they bear it out."""

    number: int | str
    claim: str
    instance: str
    computation: tuple[str, ...]
    verdict: str
    confirmed: bool
    word: str = "Theorem"

    def __str__(self) -> str:
        return "\n".join(
            (
                f"{self.word} {self.number}",
                f"claim        {self.claim}",
                f"instance     {self.instance}",
                *(f"{'computation' if k == 0 else '':<11}  {line}" for k, line in enumerate(self.computation)),
                f"verdict      {self.verdict}",
            )
        )

    def sheet(self) -> Sheet:
        """Return it as a table: a row for each part, and of the computation for each line."""
        parts = [("claim", self.claim), ("instance", self.instance)]
        parts += [*(("computation", line) for line in self.computation), ("verdict", self.verdict)]
        return Sheet(f"{self.word} {self.number}", (Column("part"), Column("text")), parts, document=self.to_dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``drfopt theorems N --json`` prints."""
        return {
            "schema": "drfopt theorem 1",
            "theorem": self.number,
            "claim": self.claim,
            "instance": self.instance,
            "computation": list(self.computation),
            "verdict": self.verdict,
            "confirmed": self.confirmed,
        }


@dataclass(frozen=True)
class Theorem:
    """A theorem of the paper, and how it is told: ``tell(cluster)`` gives lines, a verdict, and whether it stands.

    `audited` are the policy and the properties whose verdicts on the instance a file proves; without any, `unwritten`
    says why there is none.
    """

    number: int | str
    claim: str
    instance: str
    tell: Callable[[Economy], tuple[Sequence[str], str, bool]]
    word: str = "Theorem"
    audited: tuple[str, ...] = ()
    unwritten: str = ""

    def certificate(self) -> dict[str, Any]:
        """Return what ``drfopt theorems N --certificate`` writes: the verdicts that are told, for `drfopt.verify`.

        Raises
        ------
        PolicyError
            When what is told is no verdict on an answer; the message says what it is.
        """
        if not self.audited:
            raise PolicyError(f"no file proves what theorem {self.number} tells: {self.unwritten}")
        policy, *properties = self.audited
        return audit(Instance.library(self.instance), policy, properties).certificate()

    def checked(self) -> CheckedTheorem:
        """Compute it."""
        cluster = cluster_of(Instance.library(self.instance))
        lines, verdict, confirmed = self.tell(cluster)
        users = ", ".join(f"{u} {row(d)}" for u, d in zip(cluster.users, cluster.demands, strict=True))
        instance = f"{self.instance}: capacities {row(cluster.pool)}, demands {users}"
        return CheckedTheorem(self.number, self.claim, instance, tuple(lines), verdict, confirmed, self.word)


def theorem(number: int | str) -> Theorem:
    """Return the theorem of that number, or the note of that name.

    Raises
    ------
    PolicyError
        When none of that number is told; the message lists those that are.
    """
    known = {str(t.number): t for t in THEOREMS}
    if str(number) not in known:
        raise PolicyError(
            f"theorem {number} is not told here{suggestion(str(number), known)} (known: {', '.join(known)})"
        )
    return known[str(number)]


def _tasks(cluster: Economy, policy: str) -> str:
    return row(outcome(cluster, policy_named(policy)).tasks)


def _fails(cluster: Economy, policy: str, property: str) -> tuple[str, bool]:
    (finding,) = audit(cluster.instance(), policy, property).results
    return str(finding.witness), finding.verdict == FAILS


def _first(cluster: Economy) -> tuple[Sequence[str], str, bool]:
    witness, fails = _fails(cluster, "asset", "sharing-incentive")
    lines = (f"asset fairness gives {_tasks(cluster, 'asset')} tasks", f"drf gives {_tasks(cluster, 'drf')} tasks")
    return lines, witness, fails


def _second(cluster: Economy) -> tuple[Sequence[str], str, bool]:
    witness, fails = _fails(cluster, "asset", "bottleneck-fairness")
    lines = (f"asset fairness gives {_tasks(cluster, 'asset')} tasks", f"drf gives {_tasks(cluster, 'drf')} tasks")
    return lines, witness, fails


def _third(cluster: Economy) -> tuple[Sequence[str], str, bool]:
    grown = cluster.with_capacity(1, 2 * cluster.pool[1])
    before, after = (outcome(c, policy_named("asset")).tasks for c in (cluster, grown))
    lines = (f"asset fairness gives {row(before)} tasks", f"with capacities {row(grown.pool)}: {row(after)}")
    loser = next((i for i, (x, y) in enumerate(zip(before, after, strict=True)) if y < x), None)  # type: ignore[operator]
    if loser is None:
        return lines, "nobody runs fewer tasks", False
    return lines, f"{cluster.users[loser]} runs {shown(after[loser])} tasks instead of {shown(before[loser])}", True


def _fourth(cluster: Economy) -> tuple[Sequence[str], str, bool]:
    case = AuditCase(cluster, policy_named("ceei"))
    printed = (Fraction(16), Fraction(8))
    value, _ = worth(case, 0, printed)
    witness, fails = _fails(cluster, "ceei", "strategy-proofness")
    lines = (
        f"the market gives {row(case.truth.tasks)} tasks",
        f"after the misreport of the paper, {row(printed)}, u1 runs {shown(value)} of its tasks",
        "over all prices that a report of u1 can bring about, the most is found and proven",
    )
    return lines, witness, fails


def _fifth(cluster: Economy) -> tuple[Sequence[str], str, bool]:
    witness, fails = _fails(cluster, "ceei", "population-monotonicity")
    lines = (
        f"the market gives {_tasks(cluster, 'ceei')} tasks, irrational numbers known between fractions",
        f"without {cluster.users[-1]}: {_tasks(cluster.without(cluster.n - 1), 'ceei')}",
        f"drf: {_tasks(cluster, 'drf')}, and then {_tasks(cluster.without(cluster.n - 1), 'drf')}",
    )
    return lines, witness, fails


def _sixth(cluster: Economy) -> tuple[Sequence[str], str, bool]:
    grown = cluster.with_capacity(1, 4 * cluster.pool[1])
    case = AuditCase(grown, policy_named("drf"))
    alone = [
        case.per_task(i, tuple(p * c for p, c in zip(part(grown, i), grown.pool, strict=True))) for i in range(grown.n)
    ]
    used = sum((x * d[0] for x, d in zip(alone, grown.demands, strict=True)), Fraction(0))
    # Any Pareto-efficient division before gives somebody at least what both have in the even one.
    before = outcome(cluster, policy_named("drf")).tasks
    lines = (
        f"before, drf and the market give {row(before)}; who is Pareto efficient gives one of them at least 1/3",
        f"with capacities {row(grown.pool)} sharing incentive asks for {row(alone)}",
        f"that takes {shown(used)} of {shown(grown.pool[0])} r1: no other division has it, and u1 falls to 1/4",
        "had it been u2 who held 1/3 before, more r1 would do the same to it",
    )
    both = used == grown.pool[0] and alone[0] < Fraction(1, 3)
    return lines, "no policy has sharing incentive, Pareto efficiency and resource monotonicity", both


ABOUT = "it is a statement about an answer and no property; 'drfopt solve nsdi2011 --certificate' proves that answer"

THEOREMS = (
    Theorem(1, "asset fairness can violate sharing incentive", "thm1", _first, audited=("asset", "sharing-incentive")),
    Theorem(
        2, "asset fairness can violate bottleneck fairness", "thm2", _second, audited=("asset", "bottleneck-fairness")
    ),
    Theorem(
        3,
        "asset fairness can violate resource monotonicity",
        "thm3",
        _third,
        audited=("asset", "resource-monotonicity"),
    ),
    Theorem(4, "CEEI is not strategy-proof", "thm4", _fourth, audited=("ceei", "strategy-proofness")),
    Theorem(5, "CEEI is not population monotonic", "thm5", _fifth, audited=("ceei", "population-monotonicity")),
    Theorem(
        6,
        "no policy has sharing incentive, Pareto efficiency and resource monotonicity",
        "thm6",
        _sixth,
        unwritten="it speaks of all policies, not of an answer",
    ),
    Theorem(
        7,
        "serving the lowest share keeps shares within one task of each other",
        "thm7-skip",
        appendix.one_task_apart,
        unwritten="it tells a run, task by task, which is no optimum",
    ),
    Theorem(8, "every user needs a resource that is used up", "nsdi2011", appendix.saturated, "Lemma", unwritten=ABOUT),
    Theorem(9, "drf is Pareto efficient", "nsdi2011", appendix.efficient, audited=("drf", "pareto-efficiency")),
    Theorem(
        10,
        "drf has sharing incentive and bottleneck fairness",
        "nsdi2011",
        appendix.sharing,
        audited=("drf", "sharing-incentive", "bottleneck-fairness"),
    ),
    Theorem(11, "drf is envy-free", "nsdi2011", appendix.envy_free, audited=("drf", "envy-freeness")),
    Theorem(
        12,
        "drf is strategy-proof",
        "nsdi2011",
        appendix.strategy_proof,
        unwritten="that no report brings more is a theorem, and its comparisons are infinitely many",
    ),
    Theorem(
        13, "with positive demands all dominant shares are equal", "nsdi2011", appendix.equal_shares, unwritten=ABOUT
    ),
    Theorem(
        14,
        "with positive demands drf is population monotonic",
        "thm5",
        appendix.more_for_others,
        audited=("drf", "population-monotonicity"),
    ),
    Theorem(
        "path",
        "drf is not the only policy with its properties",
        "thm6",
        appendix.not_the_only_one,
        "Note",
        unwritten="it compares policies by their claims, one of which is a search",
    ),
    Theorem(
        "kalai-smorodinsky",
        "drf in a pool is the lexicographic Kalai-Smorodinsky solution",
        "nsdi2011",
        appendix.kalai_smorodinsky,
        "Note",
        unwritten=ABOUT,
    ),
)
"""What is told, by its number in the paper; beyond the paper, by a name."""
