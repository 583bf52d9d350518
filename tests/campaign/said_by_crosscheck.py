"""What `crosscheck` says, judged: its rows by levels that are worked out again, its verdict by what the rows say."""

import random
from fractions import Fraction
from typing import Any

from sayings import NUMBER, Book, Template, agrees
from world import World, divided, middle

from drfopt import Instance, crosscheck
from drfopt.base.tolerances import GAP, LEVEL, LEVEL_CEEI
from drfopt.model.policies import policy_named
from drfopt.solving.methods.second_methods import AUTHORS

__all__ = ["BOOK", "judged"]


class Checked:
    """A cross-check, and the levels that its methods should give."""

    def __init__(self, instance: Instance, policy: str, whole: bool, found: Any):
        self.instance, self.policy, self.whole, self.found = instance, policy, whole, found
        self.world = World(instance, whole)
        self.unique = policy_named(policy).objective in ("leximin", "servers", "alpha") and not whole

    @property
    def given(self) -> list[Any]:
        return [answer for answer in self.found.methods if answer.levels is not None]

    @property
    def authors(self) -> set[str]:
        """Whose answers there are, by the table of who shares what."""
        return {answer.author or AUTHORS.get(answer.engine, answer.engine) for answer in self.given}


def _row(case: Checked, row: tuple, answer: Any) -> str | None:
    name, lowest, total, seconds, reason = row
    if name != answer.engine or ((answer.levels is None) != (lowest == "" and total == "") and any(case.world.placed)):
        return f"{row} is of {answer.engine}"
    if float(seconds) < 0 or reason != answer.reason:
        return "other seconds, or another reason"
    if answer.levels is None or not lowest:
        return None
    placed = [i for i in range(case.world.n) if case.world.placed[i] or case.world.asked[i] == 0]
    levels = [Fraction(float(v)) for i, v in enumerate(answer.by_user) if i in placed]
    if not agrees(lowest, min(levels), Fraction(1, 10**8)) or not agrees(total, sum(levels), Fraction(1, 10**10)):
        return f"lowest {float(min(levels))}, sum {float(sum(levels))}"
    if case.unique and not answer.unpolished:
        should = [middle(v) for v in divided(case.instance, case.policy, case.whole).levels.tolist()]
        for i in placed:
            if abs(levels[i if len(placed) == case.world.n else placed.index(i)] - should[i]) > 2e-8 * max(
                abs(should[i]), 1e-9
            ):
                return f"the level of user {i} is {float(should[i])}"
    return None


def _agree(case: Checked, size: str, of: str, silent: str | None) -> str | None:
    if case.found.agree is not True or len(case.authors) < 2:
        return f"agree is {case.found.agree}, with {len(case.authors)} authors"
    without = ", ".join(answer.engine for answer in case.found.methods if answer.levels is None)
    if (silent or "") != without:
        return f"without an answer are {without}"
    if not agrees(size, Fraction(case.found.max_disagreement or 0), Fraction(1, 10)):
        return f"it is {case.found.max_disagreement}"
    most = max(GAP, LEVEL_CEEI, LEVEL)
    return None if float(size) <= most else f"that is more than {most}"


def _differ(case: Checked, **_: str) -> str | None:
    return "every engine is right, says `campaign.py`"


def _few(case: Checked, more: str | None) -> str | None:
    if case.found.agree is not None or len(case.authors) > 1:
        return f"agree is {case.found.agree}, with {len(case.authors)} authors"
    if any(answer.levels is None and not answer.refused for answer in case.found.methods):
        return "somebody failed"
    return None if bool(more) == case.whole else "a formulation is named, or not"


def _late(case: Checked, late: str, given: str | None) -> str | None:
    failed = ", ".join(answer.engine for answer in case.found.methods if answer.levels is None and not answer.refused)
    beside = ", ".join(answer.engine for answer in case.given)
    return None if (failed, beside) == (late, given or "") else f"{failed} beside {beside}"


BOOK = Book(
    (
        Template(
            "they agree",
            rf"they agree: largest relative difference (?P<size>{NUMBER})(?P<of> of the objective(?: \(levels of "
            r"'[^']*' are a solver's own\))?|)(?:; no answer of (?P<silent>.*))?",
            _agree,
        ),
        Template("they disagree", r"THEY DISAGREE: .*", _differ),
        Template(
            "undecided, few",
            r"undecided: fewer than two independent computations can take this instance"
            r"(?P<more>: a formulation would be one more)?",
            _few,
        ),
        Template(
            "undecided, late",
            r"undecided: fewer than two independent computations: no answer of (?P<late>.*?)(?: beside (?P<given>.*))?",
            _late,
        ),
        Template("undecided, silent", r"undecided: (?P<names>.*) gave no answer",
                 lambda case, names: None if names == case.found.silent else "somebody else is silent"),
    )
)  # fmt: skip


def judged(instance: Instance, policy: str, whole: bool, chance: random.Random) -> list[str]:
    """Cross-check an answer and return what is false of what is said."""
    exact = not whole and chance.random() < 0.3
    found = crosscheck(instance, policy, integer=whole, exact=exact)
    case, sheet = Checked(instance, policy, whole, found), found.sheet()
    users = f"{instance.n} user{'s' * (instance.n != 1)}"
    title = f"{found.policy}, {'whole' if whole else 'divisible'} tasks, {users}"
    wrong = BOOK.told("title", None if sheet.title == title else sheet.title)
    for row, answer in zip(sheet.rows, found.methods, strict=True):
        wrong += [f"{row[0]}: {w}" for w in BOOK.told("row", _row(case, row, answer))]
    document = found.to_dict()
    same = [e["levels"] for e in document["engines"]] == [
        None if a.levels is None else [float(v) for v in a.levels] for a in found.methods
    ]
    alike = same and (document["agree"], document["max_disagreement"]) == (found.agree, found.max_disagreement)
    wrong += BOOK.told("json", None if alike else str(document))
    return wrong + BOOK.judged(case, sheet.notes)
