"""What `search` says, judged: how many cases there are and differ, what holds of them, and the smallest that fails."""

import random
import re
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product

import said_by_audit
from sayings import Book, Template

from drfopt import Instance, audit
from drfopt.axioms.counterexamples.searching import Search, search
from drfopt.axioms.counterexamples.space import Space

__all__ = ["BOOK", "judged"]

POLICIES = ("drf", "asset", "tasks", "ceei", "utilitarian", "throughput")
PROPERTIES = (
    "sharing-incentive",
    "envy-freeness",
    "pareto-efficiency",
    "bottleneck-fairness",
    "population-monotonicity",
)


class Looked:
    """A search, and the cases of its space written down once more."""

    def __init__(self, policy: str, whole: bool, space: Space, found: Search):
        self.policy, self.whole, self.space, self.found = policy, whole, space, found
        least, m = int(not space.zero_demands), space.resources
        rows = [row for row in product(range(least, space.max_demand + 1), repeat=m) if any(row)]
        self.cases = [
            (room, users)
            for room in product(range(1, space.max_capacity + 1), repeat=m)
            for users in combinations_with_replacement(rows, space.users)
        ]

    def alike(self, room: tuple, users: tuple) -> tuple:
        """Return what is the same for all cases that differ in names, order, units, or the size of a share only."""
        shares = [[Fraction(d, c) for d, c in zip(row, room, strict=True)] for row in users]
        if not self.whole and self.policy not in ("tasks", "throughput"):
            shares = [[share / max(row) for share in row] for row in shares]
        return min(
            tuple(sorted(tuple(row[j] for j in order) for row in shares)) for order in permutations(range(len(room)))
        )


def _counts(case: Looked, seen: str, total: str, audited: str) -> str | None:
    there, kinds = len(case.cases), len({case.alike(*one) for one in case.cases})
    if (int(seen.replace(",", "")), int(total.replace(",", ""))) != (there, there):
        return f"there are {there}"
    # Of resources with parts of their own, or sizes that are kept, more are audited than differ.
    return None if kinds <= int(audited.replace(",", "")) <= there else f"{kinds} differ"


BOOK = Book(
    (
        Template(
            "cases",
            r"(?P<seen>[\d,]+) of (?P<total>[\d,]+) cases, (?P<audited>[\d,]+) audited: one stands for all that differ "
            "by symmetry",
            _counts,
        ),
        Template(
            "one of several",
            "fails of the optimum given here, one of several, of which the others are not asked: (?P<names>.*)",
            lambda case, names: (
                None if case.whole or case.policy in ("utilitarian", "throughput") else "there is one optimum"
            ),
        ),
    )
)


def judged(instance: Instance, policy: str, whole: bool, chance: random.Random) -> list[str]:
    """Search a small space and return what is false of what is said."""
    policy, name = chance.choice(POLICIES), chance.choice(PROPERTIES)
    users, resources = chance.choice(((1, 1), (2, 1), (2, 2), (2, 2), (3, 1)))
    space = Space(users, resources, chance.choice((1, 2, 2)), chance.choice((1, 2, 2)), chance.random() < 0.4)
    found = search(policy, name, space, integer=whole)
    case, sheet = Looked(policy, whole, space, found), found.sheet()
    counts = f"{users} user{'s' * (users > 1)}, {resources} resource{'s' * (resources > 1)}"
    title = f"{policy}, {'whole' if whole else 'divisible'} tasks: {counts}, demands up to {space.max_demand}"
    wrong = BOOK.told("title", None if sheet.title == title else sheet.title)
    verdicts: Counter = Counter()
    failing = []
    for room, rows in {case.alike(*one): one for one in case.cases}.values():
        one = audit(Instance([list(row) for row in rows], list(room)), policy, name, integer=whole).results[0]
        verdicts[one.verdict] += 1
        if one.verdict == "fails" and not one.tied:
            failing.append(sum(room) + sum(map(sum, rows)))
    (row,) = sheet.rows
    told = dict(zip(("holds", "fails", "no violation found"), row[1:4], strict=True))
    # What fails of some case fails of what is told, and the other way round.
    off = [word for word, count in told.items() if bool(count) != bool(verdicts[word])]
    wrong += BOOK.told("verdicts", f"{told} beside {dict(verdicts)}" if off else None)
    wrong += BOOK.told("sum", None if sum(told.values()) == found.audited else f"{found.audited} were audited")
    for one in found.counterexamples:
        wrong += BOOK.told("small counterexample", _smallest(one, failing))
        seen = said_by_audit.Audited(one.instance, policy, whole, found, chance)
        seen.finding = one.finding
        said = said_by_audit.BOOK.judged(seen, [str(one.finding.witness)])
        wrong += BOOK.told("witness", "; ".join(said))
        numbers = [Fraction(n) for n in re.findall(r"[\d/]+", row[4].partition(": ")[0])]
        exact = [*one.instance.exact_capacity, *(d for demand in one.instance.exact_demands for d in demand)]
        wrong += BOOK.told("in one line", None if numbers == exact else f"{row[4]} is {exact}")
    return wrong + BOOK.judged(case, sheet.notes)


def _smallest(one, failing: list[int]) -> str | None:
    """Say whether some case of the space that fails is smaller."""
    size = sum(one.instance.exact_capacity) + sum(map(sum, one.instance.exact_demands))
    return None if size <= min(failing, default=size) else f"there is one of {min(failing)}, and this is of {size}"
