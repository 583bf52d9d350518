"""Every sentence and number of ``whatif``, ``sweep`` and their part of ``report``, beside an oracle of its own.

``python tests/campaign/changed.py --count 2000 --seed 1`` draws clusters and changes, asks, and judges all that is
said: each note by the template that it matches (`NOTES`), each key of the documents by its own judge (`KEYS`).  What no
judge knows is wrong too.  ``--only N`` shows one.  The changes are made on plain rows, both clusters are divided once
more in fractions, and levels, sums, winners and the rest are computed from the rows (`plain`).
"""

import json
import random
import re
import sys
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # as a script too

from many import judge_many
from plain import (
    POLICIES,
    Document,
    Edit,
    Yardstick,
    asked,
    demand_of,
    drawn_changes,
    drawn_cluster,
    entry_of,
    limit,
    resized,
    resources_of,
    setting,
    users_of,
)

from drfopt import Allocation, DrfoptError, Instance, solve, sweep, what_if
from drfopt.base.numbers.enclosures import Enclosure
from drfopt.io.native import reading
from drfopt.planning.before_and_after import WhatIf
from drfopt.planning.sweeping import Sweep
from drfopt.reporting.figures.changes import figure, sweep_figure
from drfopt.reporting.whatifs import sweep_to_dict, whatif_to_dict

__all__ = ["Case", "Wrong", "by_template", "drawn", "judged", "main"]

MARKETS = ("ceei", "alpha:")
SUMS = ("utilitarian", "throughput")
MODES: dict[str, dict[str, Any]] = {"divisible": {}, "exact": {"exact": True}, "whole": {"integer": True}}
NEAR = Fraction(1, 10**7)
"""Relative difference below which numbers of a market, or of floats, are the same."""

NUMBER = r"-?[\d,.]+(?:e[+-]?\d+)?"


class Wrong(Exception):
    """Something that is said is not so."""


@dataclass
class Case:
    """What is asked: a cluster, changes, a policy, and how."""

    number: int
    document: Document
    edits: list[Edit]
    policy: str
    mode: str
    axis: tuple[str, list[str], Callable[[str], Edit]] | None = None
    said: Counter = field(default_factory=Counter)

    unplaced_before: set[str] = field(default_factory=set)
    took_part: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        along = f"\n--sweep {self.axis[0]}={','.join(self.axis[1])}" if self.axis else ""
        return f"{json.dumps(self.document)}\n{self.policy} {self.mode} {self.edits}{along}"

    @property
    def whole(self) -> bool:
        return self.mode == "whole"

    @cached_property
    def yardstick(self) -> Yardstick:
        return Yardstick(self.document, self.policy)

    @cached_property
    def after(self) -> Document:
        now = self.document
        for edit in self.edits:
            now = edit.made(now)
        return now


def read(document: Document) -> Instance:
    """Return the instance of rows."""
    return reading.loads(json.dumps(document), "json", "drawn")


def drawn(seed: int, number: int) -> Case:
    """Return the case of that number."""
    chance = random.Random(f"changed {seed}/{number}")
    policy = chance.choice(POLICIES)
    mode = chance.choice(("divisible", "divisible", "exact", "whole"))
    document = drawn_cluster(chance, policy)
    case = Case(number, document, drawn_changes(chance, document), policy, mode)
    if chance.random() < 0.4:
        case.edits = case.edits if chance.random() < 0.3 else []
        case.axis = _axis(chance, case.after)
    return case


def _axis(chance: random.Random, document: Document) -> tuple[str, list[str], Callable[[str], Edit]]:
    values = chance.choice((["1/2", "1", "2"], ["1", "2", "4"], ["1", "3"]))
    name = chance.choice([user["name"] for user in document["users"]])
    resource = chance.choice(resources_of(document))

    def scaled(value: str) -> Edit:
        def edit(after: Document) -> None:
            for entry in [after] if "capacity" in after else after["machines"]:
                resized(entry, resource, Fraction(entry["capacity"][resource]) * Fraction(value))

        return Edit(f"scale {resource}={value}", edit)

    user = users_of(document)[name]
    if "tasks" not in user and chance.random() < 0.4:
        return (
            f"limit:{name}",
            values,
            lambda value: Edit(f"set-limit {name}={value}", setting(name, "max_tasks", value)),
        )
    if not isinstance(user.get("weight"), dict) and chance.random() < 0.3:
        return (
            f"weight:{name}",
            values,
            lambda value: Edit(f"set-weight {name}={value}", setting(name, "weight", value)),
        )
    if "machines" in document and chance.random() < 0.5:
        there = chance.choice([entry["name"] for entry in document["machines"]])

        def counted(value: str) -> Edit:
            return Edit(
                f"set-count {there}={value}", lambda after: entry_of(after["machines"], there).update(count=int(value))
            )

        return f"count:{there}", ["1", "2", "3"], counted
    return f"scale:{resource}", values, scaled


# ---- the oracle ------------------------------------------------------------------------------------------------------


def number(value: Any) -> Fraction:
    """Return a number as a fraction: of an enclosure its middle, of a text what it says."""
    if isinstance(value, Enclosure):
        return (Fraction(value.lower) + Fraction(value.upper)) / 2
    if isinstance(value, dict):
        return (Fraction(value["lower"]) + Fraction(value["upper"])) / 2
    return Fraction(value)


def shown(text: str) -> Fraction:
    """Return a number that was printed."""
    return Fraction(text.replace(",", ""))


def near(said: Any, true: Any, what: str, digits: int = 9, floor: Fraction = Fraction(0)) -> None:
    """Raise where a number is not the true one to so many digits."""
    said, true = number(said), number(true)
    if abs(said - true) > max(abs(true), abs(said)) * Fraction(6, 10**digits) + floor:
        raise Wrong(f"{what}: {float(said):.10g} is said, and it is {float(true):.10g}")


def need(holds: Any, what: str) -> None:
    """Raise unless it holds."""
    if not holds:
        raise Wrong(what)


class Division:
    """A division of a document, as it was told, and what can be said of it in the cluster before the changes."""

    def __init__(self, case: Case, document: Document, found: Allocation):
        self.case, self.document, self.found = case, document, found
        self.users = users_of(document)
        self.tasks = {u: number(x) for u, x in zip(found.users, found.tasks.tolist(), strict=True)}
        self.same_as_solved()

    def same_as_solved(self) -> None:
        """Compare with the division of the rows, in fractions; of sums and whole tasks what it is worth."""
        case = self.case
        need(list(self.tasks) == list(self.users), f"users {list(self.tasks)}")
        instance = read(self.document)
        self.unplaced = set(solve(instance, case.policy, integer=case.whole).unplaced)
        if case.whole:
            truth = solve(instance, case.policy, integer=True)
        else:
            try:
                truth = solve(instance, case.policy, exact=True)
            except DrfoptError:
                truth = solve(instance, case.policy)
        self.truth = {u: number(x) for u, x in zip(truth.users, truth.tasks.tolist(), strict=True)}
        self.broken = {str(row) for row in truth.broken}
        if case.whole or case.policy in SUMS:
            mine, best = (sorted(self.levels_of(t).values()) for t in (self.tasks, self.truth))
            if case.policy in SUMS and not case.yardstick.ruled:
                near(sum(mine), sum(best), "the sum")
            return
        for user, x in self.tasks.items():
            near(x, self.truth[user], f"tasks of {user}", 6, NEAR)

    def levels_of(self, tasks: dict[str, Fraction]) -> dict[str, Fraction]:
        stick = self.case.yardstick
        lost = self.case.unplaced_before
        return {u: stick.level(self.users[u], x, u not in lost, self.case.whole) for u, x in tasks.items()}

    @cached_property
    def levels(self) -> dict[str, Fraction]:
        return self.levels_of(self.tasks)

    @cached_property
    def drf(self) -> dict[str, Fraction]:
        """Weighted dominant shares, as the page has them."""
        stick = Yardstick(self.case.document, "drf")
        found = {}
        for u, x in self.tasks.items():
            weights = stick.weights(self.users[u])
            each = (demand_of(self.users[u], r) / stick.capacity[r] / weights[r] for r in stick.there)
            found[u] = max(each, default=Fraction(0)) * x
        return found

    def wants(self, user: str) -> bool:
        return wanted(self.document, user, self.case.whole)

    def known(self, user: str, policy: str) -> bool:
        """Whether the cluster before has some of what it needs, or it runs nothing."""
        stick = self.case.yardstick
        counts = policy in ("tasks", "throughput") or any(demand_of(self.users[user], r) for r in stick.there)
        if policy == "tsf":
            counts = bool(stick.alone(self.users[user]))
        if policy == "single:cpu":
            counts = bool(stick.capacity["cpu"])
        return counts or not self.tasks[user]

    def counted(self, policy: str) -> list[str]:
        """Return who is in the lowest level: who wants anything, and fits, or took part before."""
        before = self.case.took_part
        there = [u for u in self.users if self.wants(u) and (u not in self.unplaced or u in before)]
        return [u for u in there if self.known(u, policy)]

    @cached_property
    def counting(self) -> list[str]:
        """Who is in the lowest level of the policy."""
        return self.counted(self.case.policy)

    @cached_property
    def page_levels(self) -> list[Fraction]:
        """The levels among which the page tells the lowest."""
        return [self.drf[u] for u in self.counted("drf")]

    @cached_property
    def totals(self) -> dict[str, Fraction | None]:
        """What sums it up."""
        stick, whole = self.case.yardstick, self.case.whole
        shares = {u: stick.share(self.users[u]) for u in self.users}
        ends = {u: end for u in self.users if (end := asked(self.users[u], whole)) is not None}
        all_of_it = sum(shares[u] * end for u, end in ends.items())
        got = sum(shares[u] * min(end, self.tasks[u]) for u, end in ends.items())
        return {
            "lowest level": min((self.levels[u] for u in self.counting), default=Fraction(0)),
            "sum of dominant shares": sum(shares[u] * x for u, x in self.tasks.items()),
            "tasks": sum(self.tasks.values()),
            "demand met": got / all_of_it if all_of_it else None,
        }


def wanted(document: Document, user: str, whole: bool) -> bool:
    """Return whether a user may run anything."""
    entry = users_of(document)[user]
    if whole and "tasks" in entry and entry.get("ceiling"):
        # Which of its types come first is the package's own sequence.
        instance = read(document)
        return bool(instance.whole_limits[instance.users.index(user)] >= 1)
    most = limit(entry, whole)
    return most is None or most > 0


def _prepare(case: Case) -> None:
    """Find who fits in the cluster as it is, and took part there."""
    case.unplaced_before = set(solve(read(case.document), case.policy, integer=case.whole).unplaced)
    users = users_of(case.document)
    case.took_part = {u for u in users if u not in case.unplaced_before and wanted(case.document, u, case.whole)}


# ---- what is said ----------------------------------------------------------------------------------------------------


@dataclass
class Asked:
    """A comparison, and the two divisions as they should be."""

    case: Case
    found: WhatIf
    before: Division
    after: Division

    @cached_property
    def verdicts(self) -> dict[str, str]:
        """Who wins and who loses, by what is told to run; of levels and markets by the truth as well."""
        old, new = self.before.tasks, self.after.tasks
        loose = not self.found.exact or (not self.case.whole and self.case.policy.startswith(MARKETS))
        said = {}
        for user in dict.fromkeys([*old, *new]):
            if user not in old or user not in new:
                said[user] = "joins" if user in new else "leaves"
                continue
            gap = new[user] - old[user]
            if loose and abs(gap) <= NEAR * max(new[user], old[user]):
                gap = Fraction(0)
            said[user] = "wins" if gap > 0 else "loses" if gap < 0 else "same"
        if not self.case.whole and self.case.policy not in SUMS:
            for user, verdict in said.items():
                if verdict in ("wins", "loses", "same"):
                    gap = self.after.truth[user] - self.before.truth[user]
                    if abs(gap) <= NEAR * max(self.after.truth[user], self.before.truth[user]):
                        gap = Fraction(0) if loose else gap
                    true = "wins" if gap > 0 else "loses" if gap < 0 else "same"
                    need(true == verdict, f"{user} {verdict}, and it {true}")
        return said


def _counts(asked: Asked, match: re.Match) -> None:
    count = Counter(asked.verdicts.values())
    told = tuple(map(int, match.groups()))
    need(told == (count["wins"], count["loses"], count["same"]), f"{match[0]}: {count}")


def _total(asked: Asked, match: re.Match) -> None:
    name = match["name"]
    percent = 100 if name == "demand met" else 1
    for when, division in (("before", asked.before), ("after", asked.after)):
        true = division.totals[name]
        need(true is not None, f"{name} is told, and nobody names an end {when}")
        near(shown(match[when]), true * percent, f"{name} {when}", 3 if percent == 100 else 6, Fraction(1, 10**9))


def _used(asked: Asked, match: re.Match) -> None:
    rows = re.findall(rf"(\w+) ({NUMBER})% -> ({NUMBER})%", match[0])
    need([row[0] for row in rows] == resources_of(asked.case.after), f"resources of {match[0]}")
    for name, *both in rows:
        for said, division in zip(both, (asked.before, asked.after), strict=True):
            near(shown(said), _part_used(division, name) * 100, f"{name} used", 12, Fraction(501, 10000))


def _part_used(division: Division, resource: str) -> Fraction:
    """Return the used part; of whole tasks of several types what is told of them."""
    room = Yardstick(division.document, "drf").capacity[resource]
    held = Fraction(0)
    for row in division.found.to_dict(instance=False)["users"]:
        user = division.users[row["name"]]
        if "tasks" in user and division.case.whole:
            j = division.found.resources.index(resource)
            held += number(division.found.usage[list(division.users).index(row["name"])][j])
        else:
            held += demand_of(user, resource) * division.tasks[row["name"]]
    return held / room if room else Fraction(0)


def _broken(asked: Asked, match: re.Match) -> None:
    division = asked.before if match["when"] == "before" else asked.after
    need(
        {row.strip() for row in match["owed"].split(", ")} == set(division.broken),
        f"{match[0]}: {division.broken}",
    )


def _joining(asked: Asked, match: re.Match) -> None:
    _joined(asked.case, [asked.after], match)


def _joined(case: Case, divisions: list[Division], match: re.Match) -> None:
    told = set(re.split(r", | and ", match["users"]))
    counted = "only" in match["how"]
    true = {
        u
        for division in divisions
        for u in division.users
        if u in case.unplaced_before and (u in division.counting) == counted and (counted or division.tasks[u])
    }
    need(told == true, f"{match[0]}: {sorted(true)}")


def _several(asked: Any, match: re.Match) -> None:
    case = asked.case
    need(case.whole and any(len(user.get("tasks", ())) > 1 for user in asked.after.users.values()), match[0])


def _not_unique(asked: Asked, match: re.Match) -> None:
    need((match["what"] == "in whole tasks") == asked.case.whole, match[0])
    need(asked.case.whole or asked.case.policy in SUMS, match[0])


def _compared(asked: Asked, match: re.Match) -> None:
    case, how = asked.case, match["how"]
    need((how == "in whole tasks") == case.whole, match[0])
    exact = asked.found.before.exact and asked.found.after.exact
    need(case.whole or (how == "in fractions") == exact, match[0])
    need(bool(match["less"]) == (how == "in floats"), match[0])


UNPROVEN = r"not proven the best, so that changes may be those of the search and not of the cluster"

NOTES: dict[str, Callable[[Asked, re.Match], None]] = {
    r"(\d+) win, (\d+) lose, (\d+) keep what they have \(tasks\); levels and shares below are of the cluster as it was":
        _counts,
    rf"(?P<name>lowest level|sum of dominant shares|tasks): (?P<before>{NUMBER}) before, (?P<after>{NUMBER}) after":
        _total,
    rf"(?P<name>demand met): (?P<before>{NUMBER}) % before, (?P<after>{NUMBER}) % after": _total,
    r"(?P<how>in the lowest level only) where it fits, which is nowhere in the cluster unchanged: (?P<users>.*)":
        _joining,
    r"(?P<how>not in the lowest level), as its tasks have no level in the cluster unchanged: (?P<users>.*)":
        _joining,
    r"used: .*": _used,
    r"guarantees that (?:cannot be met|are not met here) (?P<when>before|after): (?P<owed>.*)": _broken,
    r"a task of who has several types counts as the mean of them in levels, .*": _several,
    r"optima (?P<what>of a sum|in whole tasks) need not be unique: these are the differences between the two .*":
        _not_unique,
    r"compared (?P<how>in fractions|in floats|in whole tasks)(?P<less>; a difference of less than \S+ of the tasks "
    r"counts as none)?; \S+ s": _compared,
    rf"{UNPROVEN}, (?P<which>before|after|before and after); .*": lambda asked, match: need(
        not asked.found.finished, match[0]
    ),
}  # fmt: skip
"""Every sentence below the table of a comparison, and who judges it."""


def by_template(notes: Any, templates: dict[str, Callable], asked: Any, said: Counter) -> list[str]:
    """Judge every sentence; return the templates that were met."""
    met = []
    for note in notes:
        for template, judge in templates.items():
            if match := re.fullmatch(template, note):
                judge(asked, match)
                said[template] += 1
                met.append(template)
                break
        else:
            raise Wrong(f"no judge knows: {note}")
    return met


def _told(asked: Asked) -> None:
    """Judge the table of a comparison and what stands below."""
    case, found = asked.case, asked.found
    sheet = found.sheet()
    met = by_template(sheet.notes, NOTES, asked, case.said)
    text = "\n".join(sheet.notes)
    for when, division in (("before", asked.before), ("after", asked.after)):
        need(bool(division.broken) == (f"met {when}:" in text), f"broken {when}: {division.broken}")
    for name in ("lowest level", "sum of dominant shares", "tasks"):
        need(f"{name}: " in text, f"{name} is not told")
    need(len(met) == len(set(met)) or "guarantees" in text or "lowest" in text, "a sentence twice")
    for counted in (True, False):
        told = ("in the lowest level only" if counted else "not in the lowest level,") in text
        true = any(
            u in case.unplaced_before and (u in asked.after.counting) == counted and (counted or asked.after.tasks[u])
            for u in asked.after.users
        )
        need(told == true, f"who is in the lowest level: {told}")
    several = case.whole and any(len(user.get("tasks", ())) > 1 for user in asked.after.users.values())
    need(several == ("several types" in text), "several types")
    headings = [column.heading for column in sheet.columns]
    for row in sheet.rows:
        cells = dict(zip(headings, row, strict=True))
        _row(asked, cells)
        case.said["row of a comparison"] += 1
    need(sorted(row[0] for row in sheet.rows) == sorted(asked.verdicts), "rows")
    edits = ", ".join(edit.text for edit in case.edits)
    need(sheet.title == f"{case.policy}, what if: {edits or 'nothing changed'}", sheet.title)
    case.said["title of a comparison"] += 1


def _row(asked: Asked, cells: dict[str, Any]) -> None:
    user, verdict = cells["user"], asked.verdicts[cells["user"]]
    need(cells["verdict"] == verdict, f"{user} {cells['verdict']}, and it {verdict}")
    old, new = asked.before.tasks.get(user), asked.after.tasks.get(user)
    for name, true in (("before", old), ("after", new)):
        need((cells[name] is None) == (true is None), f"{user} {name}")
        if true is not None:
            near(cells[name], true, f"{user} {name}")
    if old is None or new is None:
        need(cells["change"] is None and not cells["by"], f"{user} {verdict} and changes")
    else:
        gap = Fraction(0) if verdict == "same" else new - old
        near(cells["change"], gap, f"change of {user}", 6)
        by = cells["by"]
        if verdict == "same":
            need(by in ("", "0"), f"{user} by {by}")
        elif not old:
            need(by == "from 0", f"{user} by {by}")
        else:
            near(shown(by.rstrip("%").lstrip("+")), 100 * gap / old, f"{user} by", 12, Fraction(501, 10000))
    for name, division in (("met % before", asked.before), ("met % after", asked.after)):
        if name not in cells:
            continue
        end = asked_end(division, user)
        need((cells[name] is None) == (end is None), f"{user} {name}: {cells[name]}")
        if end is not None:
            near(cells[name], 100 * min(division.tasks[user] / end, 1) if end else 100, f"{user} {name}", 8, NEAR)


def asked_end(division: Division, user: str) -> Fraction | None:
    """Return what a user of a division asked for."""
    return asked(division.users[user], division.case.whole) if user in division.users else None


# ---- documents -------------------------------------------------------------------------------------------------------


def _document(asked: Asked) -> None:
    """Judge every key of ``whatif --json``."""
    document = json.loads(json.dumps(asked.found.to_dict()))
    _by_key(document, KEYS, asked)


def _by_key(document: dict, judges: dict[str, Callable], asked: Any) -> None:
    for key, value in document.items():
        need(key in judges, f"no judge knows the key {key}")
        judges[key](asked, value)
        asked.case.said[f"key {key}"] += 1


def _named(verdict: str) -> Callable[[Asked, Any], None]:
    return lambda asked, value: need(
        value == [user for user, word in asked.verdicts.items() if word == verdict], f"{verdict}: {value}"
    )


def _rows(asked: Asked, value: Any) -> None:
    need([row["name"] for row in value] == list(asked.verdicts), "users")
    for row in value:
        user, verdict = row["name"], asked.verdicts[row["name"]]
        need(row["verdict"] == verdict, f"{user} {row['verdict']}")
        old, new = asked.before.tasks.get(user), asked.after.tasks.get(user)
        for key, true in (("before", old), ("after", new)):
            need((row[key] is None) == (true is None), f"{user} {key}")
            if true is not None:
                near(row[key], true, f"{user} {key}")
        gap = None if old is None or new is None else Fraction(0) if verdict == "same" else new - old
        need((row["change"] is None) == (gap is None), f"change of {user}")
        if gap is not None:
            near(row["change"], gap, f"change of {user}", 6)


def _all_totals(asked: Asked, value: Any) -> None:
    for name, pair in value.items():
        for when, division in (("before", asked.before), ("after", asked.after)):
            _same_total(pair[when], division.totals[name], f"{name} {when}")


def _same_total(said: Any, true: Fraction | None, what: str) -> None:
    need((said is None) == (true is None), f"{what}: {said} is said, and it is {true}")
    if true is not None:
        near(said, true, what, 9, Fraction(1, 10**12))


def _measured_in(asked: Any, value: Any) -> None:
    policy = "drf" if asked.case.policy.endswith(".py") else asked.case.policy
    need(value == {"cluster": "before the changes", "levels": policy, "shares": "dominant"}, f"measured in {value}")


def _measured_on_the_page(asked: Any, value: Any) -> None:
    need(value == {"cluster": "before the changes", "levels": "drf", "shares": "dominant"}, f"measured in {value}")


def _side(name: str) -> Callable[[Asked, Any], None]:
    def judge(asked: Asked, value: Any) -> None:
        division = getattr(asked, name)
        need(
            {row["name"]: number(row["tasks"]) for row in value["users"]} == division.tasks or not asked.found.exact,
            name,
        )

    return judge


KEYS: dict[str, Callable[[Asked, Any], None]] = {
    "schema": lambda asked, value: need(value == "drfopt what-if 1", value),
    "instance": lambda asked, value: need(not value, value),
    "policy": lambda asked, value: need(value == asked.case.policy, value),
    "integer": lambda asked, value: need(value == asked.case.whole, value),
    "changes": lambda asked, value: need(value == [edit.text for edit in asked.case.edits], value),
    "exact": lambda asked, value: need(
        value == (asked.case.whole or (asked.found.before.exact and asked.found.after.exact)), value
    ),
    "winners": _named("wins"),
    "losers": _named("loses"),
    "users": _rows,
    "measured_in": _measured_in,
    "totals": _all_totals,
    "before": _side("before"),
    "after": _side("after"),
}


def _page(asked: Asked) -> None:
    """Judge what the page tells of a comparison."""
    document = json.loads(json.dumps(whatif_to_dict(asked.found)))
    _by_key(document, PAGE_KEYS, asked)
    drawn = figure(whatif_to_dict(asked.found), 1)
    count = Counter(asked.verdicts.values())
    moved = [row for row in document["users"] if row["part"]]
    need((drawn is None) == (not moved), "a figure")
    if drawn is not None:
        by_template([drawn.alternative], FIGURES, (asked, moved, count), asked.case.said)


def _figure(given: Any, match: re.Match) -> None:
    _asked, moved, count = given
    told = [match["wins"], match["loses"]]
    need(told == [str(count["wins"]), str(count["loses"])], match[0])
    for word, verb in (("wins", "win"), ("loses", "lose")):
        # "1 user wins and 2 lose"
        need((match[f"{word}_verb"] == verb) == (match[word] != "1"), match[0])
    parts = sorted(Fraction(row["part"]) for row in moved)
    ends = [parts[0]] + ([parts[-1]] if match["high"] else [])
    for said, true in zip([match["low"], match["high"]], ends, strict=False):
        near(shown(said), 100 * true, "the figure", 3)
    if not match["high"]:
        near(parts[0], parts[-1], "the figure has one end", 3)


def _page_users(asked: Asked, value: Any) -> None:
    _rows(asked, [{key: x for key, x in row.items() if key != "part"} for row in value])
    for row in value:
        old, new = asked.before.tasks.get(row["name"]), asked.after.tasks.get(row["name"])
        if asked.verdicts[row["name"]] == "same":
            need(row["part"] == 0, "part of who keeps what it has")
        elif not old or new is None:
            need(row["part"] is None, "part of nothing")
        else:
            near(row["part"], new / old - 1, "part", 6, NEAR)


def _page_totals(asked: Asked, value: Any) -> None:
    need([row["when"] for row in value] == ["before", "after"], "when")
    for row, division in zip(value, (asked.before, asked.after), strict=True):
        for name, true in (division.totals | {"lowest level": _page_lowest(division)}).items():
            _same_total(row[name], true, f"{name} {row['when']}")


def _caveats(asked: Any, value: list[str]) -> None:
    """Judge what the page says beside the numbers: the sentences of the table, none left out."""
    templates: dict[str, Callable] = NOTES if isinstance(asked, Asked) else SWEEP_NOTES
    by_template(value, templates, asked, asked.case.said)
    told = [note for note in asked.found.sheet().notes if re.match("a task of|optima|not proven", note)]
    need(value == told, f"{value}, and below the table {told}")


PAGE_KEYS: dict[str, Callable[[Asked, Any], None]] = {
    **{key: KEYS[key] for key in ("policy", "integer", "changes")},
    "measured_in": _measured_on_the_page,
    "verdicts": lambda asked, value: need(Counter(asked.verdicts.values()) == Counter(value), value),
    "totals": _page_totals,
    "users": _page_users,
    "finished": lambda asked, value: need(value == asked.found.finished, value),
    "caveats": _caveats,
}

FIGURES: dict[str, Callable] = {
    rf"(?P<wins>\d+) (?:users? )?(?P<wins_verb>wins?) and (?P<loses>\d+) (?P<loses_verb>loses?); (?:from |by )"
    rf"(?P<low>{NUMBER}) %(?: to (?P<high>{NUMBER}) %)?\.": _figure,
}


# ---- sweeps ----------------------------------------------------------------------------------------------------------


@dataclass
class Swept:
    """A sweep, and the divisions as they should be."""

    case: Case
    found: Sweep
    steps: list[Division]

    @property
    def after(self) -> Division:
        return self.steps[-1]


def _owed(asked: Swept, match: re.Match) -> None:
    broken = [(value, step.broken) for value, step in zip(asked.found.values, asked.steps, strict=True) if step.broken]
    need(match["count"] == str(len(broken)) and match["all"] == str(len(asked.steps)), match[0])
    need(match["first"] == str(broken[0][0]), match[0])
    told = set(match["owed"].split(", "))
    need(told <= broken[0][1] or "more" in match["owed"], f"{match[0]}: {broken[0]}")


SWEEP_NOTES: dict[str, Callable[[Swept, re.Match], None]] = {
    r"levels and shares are of the cluster as it is, whatever the value": lambda asked, match: None,
    r"(?P<how>in the lowest level only) where it fits, which is nowhere in the cluster unchanged: (?P<users>.*)":
        lambda asked, match: _joined(asked.case, asked.steps, match),
    r"(?P<how>not in the lowest level), as its tasks have no level in the cluster unchanged: (?P<users>.*)":
        lambda asked, match: _joined(asked.case, asked.steps, match),
    r"a task of who has several types counts as the mean of them in levels, .*": _several,
    r"guarantees that (?:cannot be met|are not met here), at (?P<count>\d+) of (?P<all>\d+) "
    r"values; at (?P<first>\S+): (?P<owed>.*)": _owed,
    rf"{UNPROVEN}, .*": lambda asked, match: need(not asked.found.finished, match[0]),
}  # fmt: skip


def _swept(asked: Swept) -> None:
    case, sheet = asked.case, asked.found.sheet()
    by_template(sheet.notes, SWEEP_NOTES, asked, case.said)
    text = "\n".join(sheet.notes)
    need(("guarantees" in text) == any(step.broken for step in asked.steps), "broken guarantees")
    headings = [column.heading for column in sheet.columns]
    for row, step, value in zip(sheet.rows, asked.steps, asked.found.values, strict=True):
        cells = dict(zip(headings, row, strict=True))
        for heading, cell in cells.items():
            if heading in step.totals:
                _same_total(cell, step.totals[heading], f"{heading} at {value}")
            elif heading.startswith("tasks of "):
                user = heading.removeprefix("tasks of ")
                need((cell is None) == (user not in step.tasks), f"{heading}: {cell}")
                if user in step.tasks:
                    near(cell, step.tasks[user], heading)
            elif heading.endswith(" used"):
                part = _part_used(step, heading.removesuffix(" used"))
                near(shown(cell.rstrip("%")), 100 * part, heading, 12, Fraction(501, 10000))
            else:
                need(heading == asked.found.axis.name and cell == str(value), f"{heading}: {cell}")
        case.said["row of a sweep"] += 1
    users = len(case.document["users"])
    title = f"{case.policy} as {asked.found.axis.name} changes, {users} user{'s' * (users > 1)}"
    need(sheet.title == title, sheet.title)
    document = json.loads(json.dumps(asked.found.to_dict()))
    _by_key(document, SWEEP_KEYS, asked)
    page = sweep_to_dict(asked.found)
    _by_key(page, SWEEP_PAGE_KEYS, asked)
    by_template([sweep_figure(page, 1).alternative], SWEEP_FIGURES, asked, case.said)


def _sweep_figure(asked: Swept, match: re.Match) -> None:
    ends = (asked.steps[0], asked.steps[-1])
    for name, step in zip(("first", "last"), ends, strict=True):
        near(shown(match[f"{name}_lowest"]), 100 * _page_lowest(step), f"lowest at the {name}", 3, Fraction(1, 10**6))
        total = step.totals["sum of dominant shares"]
        near(shown(match[f"{name}_sum"]), total, f"sum at the {name}", 4, Fraction(1, 10**6))


def _page_lowest(step: Division) -> Fraction:
    """Return the lowest level that the page tells."""
    return min(step.page_levels, default=Fraction(0))


def _page_steps(asked: Swept, value: Any) -> None:
    for row, step, at in zip(value, asked.steps, asked.found.values, strict=True):
        for key, x in row.items():
            case = asked.case
            if key == "at":
                near(x, at, "at")
            elif key == "lowest":
                near(x, _page_lowest(step), f"lowest at {at}", 8, Fraction(1, 10**12))
            elif key == "jain":
                levels = step.page_levels
                squares = sum(level**2 for level in levels)
                need((x is None) == (not squares), f"jain {x}")
                if squares:
                    near(x, sum(levels) ** 2 / len(levels) / squares, f"jain at {at}", 7)
            elif key == "sum_of_shares":
                near(x, step.totals["sum of dominant shares"], "sum of shares", 8, Fraction(1, 10**12))
            elif key == "tasks":
                near(x, step.totals["tasks"], "tasks", 8)
            elif key == "demand_met":
                _same_total(x, step.totals["demand met"], "demand met")
            elif key == "used":
                for j, resource in enumerate(case.yardstick.resources):
                    near(x[j], _part_used(step, resource), "used", 8)
            else:
                # No table and no drawing of a sweep has it: what the page tells of divisions is judged elsewhere.
                need(key in ("nash", "utilization", "envious", "envy"), f"no judge knows the key {key} of a step")


SWEEP_KEYS: dict[str, Callable[[Swept, Any], None]] = {
    "schema": lambda asked, value: need(value == "drfopt sweep 1", value),
    "instance": lambda asked, value: need(not value, value),
    "policy": lambda asked, value: need(value == asked.case.policy, value),
    "axis": lambda asked, value: need(value == asked.case.axis[0], value),
    "values": lambda asked, value: need(list(map(Fraction, value)) == list(map(Fraction, asked.case.axis[1])), value),
    "changes": lambda asked, value: need(value == [asked.case.axis[2](v).text for v in asked.case.axis[1]], value),
    "measured_in": _measured_in,
    "totals": lambda asked, value: [
        _same_total(row[name], step.totals[name], name)
        for row, step in zip(value, asked.steps, strict=True)
        for name in row
    ],
    "allocations": lambda asked, value: need(len(value) == len(asked.steps), "allocations"),
}

SWEEP_PAGE_KEYS: dict[str, Callable[[Swept, Any], None]] = {
    "policy": SWEEP_KEYS["policy"],
    "axis": SWEEP_KEYS["axis"],
    "resources": lambda asked, value: need(value == asked.case.yardstick.resources, value),
    "measured_in": _measured_on_the_page,
    "steps": _page_steps,
    "finished": lambda asked, value: need(value == asked.found.finished, value),
    "caveats": _caveats,
}

SWEEP_FIGURES: dict[str, Callable] = {
    rf"From \S+ {NUMBER} to {NUMBER} the lowest level goes from (?P<first_lowest>{NUMBER}) % to "
    rf"(?P<last_lowest>{NUMBER}) %, the sum of dominant shares from (?P<first_sum>{NUMBER}) to "
    rf"(?P<last_sum>{NUMBER})\.": _sweep_figure,
}


# ---- all of it -------------------------------------------------------------------------------------------------------


def judged(case: Case) -> tuple[str, str]:
    """Return ``right``, ``wrong``, ``refused`` or ``not drawn``, and why."""
    how = MODES[case.mode]
    try:
        instance = read(case.document)
        solve(instance, case.policy, **how)
    except DrfoptError as error:
        return "not drawn", str(error)
    changes = [edit.text for edit in case.edits]
    try:
        if case.axis is None:
            found: Any = what_if(instance, changes, case.policy, **how)
        else:
            along = f"{case.axis[0]}={','.join(case.axis[1])}"
            found = sweep(instance, along, changes=changes, policy=case.policy, jobs=1, **how)
    except DrfoptError as error:
        return _refused(case, str(error))
    except Exception as error:
        return "wrong", "".join(traceback.format_exception(error)[-3:])
    try:
        _prepare(case)
        if case.axis is None:
            told = Asked(
                case, found, Division(case, case.document, found.before), Division(case, case.after, found.after)
            )
            for judge in (_told, _document, _page):
                judge(told)
        else:
            made = [case.axis[2](value).made(case.after) for value in case.axis[1]]
            steps = [Division(case, one, step) for one, step in zip(made, found.allocations, strict=True)]
            _swept(Swept(case, found, steps))
    except Wrong as wrong:
        return "wrong", str(wrong)
    except Exception as error:
        return "wrong", "".join(traceback.format_exception(error)[-3:])
    return "right", ""


def _refused(case: Case, why: str) -> tuple[str, str]:
    """Return whether the rows as they are after the changes are refused as well."""
    made = [case.after] if case.axis is None else [case.axis[2](value).made(case.after) for value in case.axis[1]]
    try:
        for one in made:
            solve(read(one), case.policy, **MODES[case.mode])
    except DrfoptError:
        return "refused", why
    if any(Fraction(after) < 0 for one in made for after in _capacities(one)):
        return "refused", why
    return "wrong", f"refused, and the rows are not: {why}"


def _capacities(document: Document) -> list:
    rows = [document] if "capacity" in document else document["machines"]
    return [value for row in rows for value in row["capacity"].values()]


def main() -> int:
    """Judge some and print what came of them."""
    return judge_many(__doc__, drawn, judged, lambda case, *_: case.mode)


if __name__ == "__main__":
    sys.exit(main())
