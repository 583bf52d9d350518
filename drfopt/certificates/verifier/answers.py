"""Answers as verdicts on fairness properties speak of them: everybody's tasks between two ends, in one cluster."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .cluster import Cluster
from .possible import PossibleClaim
from .reading import long_numbers, number, total, with_long
from .work import spend

__all__ = ["Answered", "Asked", "Ends", "Open", "Verdict", "instance_in", "told"]

Ends = tuple[Fraction, Fraction]
Asked = tuple[tuple[str, ...], Ends, Ends]
"""Who, what it has at least and at most, and what it would have (or had): the property fails where that is more."""


def told(cluster: Cluster) -> dict[str, Any]:
    """Return all that is said of a cluster, however its numbers are written."""
    return {name: value for name, value in vars(cluster).items() if name != "data"}


def instance_in(document: Mapping[str, Any]) -> Any:
    """Return the data of the instance that a document is about, None where it has none with it."""
    return document.get("cluster", document.get("instance"))


class Open(Exception):
    """Nothing is decided, and why."""


class Answered:
    """A proven answer, as verdicts speak of it: everybody's tasks between two ends, in one cluster."""

    def __init__(self, claim: PossibleClaim, data: dict[str, Any]):
        self.claim, self.c, self.instance = claim, claim.c, instance_in(data)
        with with_long(long_numbers(data)):
            self.ends: list[Ends] = list(zip(*claim.ends(), strict=True))
        self.at = {name: i for i, name in enumerate(self.c.users)}
        c = self.c
        if claim.report.accuracy:
            raise Open("its numbers are floats, by which no comparison is decided")
        if c.ruled or c.ordered or c.excluded or c.typed or any(c.caps) or any(c.devices):
            raise Open("of rules, several types of tasks and devices no verdict is decided here")

    def carried(self, i: int, each: Fraction, held: "Answered", k: int, less: int = 0) -> Ends:
        """Return what user i runs with what user k of an answer holds, of whose tasks one carries so many of i's.

        So many of i's tasks less than it carries, if that is asked for.
        """
        claim, other, mine = self.claim, held.claim, set(self.claim.fits[i])
        if not mine:  # A weight may scale what is held to more than there is.
            found = number(0), number(0)
        elif claim.whole and not self.c.pool:  # Parts of a task on two machines are none.
            packed, name, classes = other.proof["packing"], other.c.users[k], other.c.classes
            rows = ((row["machines"], number(row["tasks"].get(name, 0)), classes.index(row["class"])) for row in packed)
            amount = total(machines * number(math.floor(each * tasks)) for machines, tasks, at in rows if at in mine)
            found = amount, amount
        elif set(other.fits[k]) <= mine:
            low, high = held.ends[k]
            found = each * low, each * high
        elif other.enclosed or other.z is None:
            raise Open("where its tasks run is known of a point only")
        else:
            amount = each * total(z for at, z in other.z[k].items() if at in mine)
            found = amount, amount
        low, high = (max(end - less, number(0)) for end in found)
        return self.useful(i, low, high)

    def useful(self, i: int, low: Fraction, high: Fraction) -> Ends:
        """Return how many of so many tasks user i can make use of."""
        most = self.claim.u[i]
        if most is not None:
            low, high = min(low, number(most)), min(high, number(most))
        return (number(math.floor(low)), number(math.floor(high))) if self.claim.whole else (low, high)

    def per_task(self, i: int, bundle: Sequence[Fraction]) -> Fraction:
        """Return how many tasks of user i amounts (m,) carry, fractions of a task counted."""
        spend(0, len(bundle))
        return min(b / d for b, d in zip(bundle, self.c.d[i], strict=True) if d)


@dataclass(frozen=True)
class Verdict:
    """A verdict, the answer of which it speaks, and the answers of other clusters."""

    truth: Answered
    after: list[Answered]
    finding: dict[str, Any]

    @property
    def who(self) -> tuple[str, ...]:
        """Who is said to lose: one user or more, and whom they envy or who leaves."""
        named = self.finding.get("users") or [self.finding["user"]]
        return (*named, *([self.finding["other"]] if "other" in self.finding else []))

    @property
    def fails(self) -> bool:
        """Whether the property is said to fail."""
        return bool(self.finding["verdict"] == "fails")

    def same(self, after: Answered, **changed: Any) -> None:
        """Refuse another cluster that differs in more than what is `changed` in the instance of the answer."""
        if told(Cluster(self.truth.instance | changed)) != told(after.c):
            raise ValueError("the two clusters differ in more than the property speaks of")
        if (after.claim.policy, after.claim.whole) != (self.truth.claim.policy, self.truth.claim.whole):
            raise ValueError("the two answers are of different policies")

    def only(self) -> Answered:
        """Return the one other answer there has to be."""
        if not self.after:
            raise Open("the file has no other answer")
        if len(self.after) > 1:
            raise ValueError(f"{self.finding['property']} compares two answers, not {1 + len(self.after)}")
        return self.after[0]
