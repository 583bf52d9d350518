"""Every sentence and number of ``size``, beside all purchases that there are, each divided and looked at by itself.

``python tests/campaign/bought.py --count 2000 --seed 1`` draws clusters, what is for sale, and targets; ``--only N``
shows one.  A purchase is made on plain rows, and what a target asks for is computed from the rows (`plain`).
"""

import copy
import itertools
import json
import math
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

from changed import MARKETS, NUMBER, SUMS, Wrong, by_template, near, need, number, read, shown
from many import judge_many
from plain import POLICIES, Document, Yardstick, asked, demand_of, drawn_cluster, entry_of, resources_of, users_of
from simplex import Polytope

from drfopt import DrfoptError, TimeLimitError, size, solve
from drfopt.planning.sizing.purchase import Purchase

__all__ = ["Case", "drawn", "judged", "main"]

CLOSE = Fraction(1, 10**7)
"""Relative distance of a target within which floats may decide either way."""

SECONDS = 60.0


@dataclass
class Aim:
    """A target: whose, what of, how much."""

    user: str
    measure: str
    least: Fraction

    @property
    def what(self) -> str:
        return self.user if self.measure == "tasks" else f"{self.user}.{self.measure}"

    def __str__(self) -> str:
        return f"{self.what}>={self.least}"


@dataclass
class Case:
    """A cluster, what is for sale, and targets."""

    number: int
    document: Document
    policy: str
    integer: bool
    from_nothing: bool
    costs: dict[str, str]
    most: dict[str, int]
    steps: dict[str, str]
    targets: list[str]
    said: Counter = field(default_factory=Counter)

    def __str__(self) -> str:
        how = f"{self.policy}{' whole' * self.integer}{' from nothing' * self.from_nothing}"
        return (
            f"{json.dumps(self.document)}\n{how}: {self.targets} cost {self.costs} most {self.most} steps {self.steps}"
        )

    @property
    def machines(self) -> bool:
        return "machines" in self.document

    def most_bought(self, name: str) -> int:
        """Return the most steps of an offer."""
        most = Fraction(self.most[name])
        return math.floor(most / Fraction(self.steps[name])) if name in self.steps else int(most)

    def cost(self, counts: dict[str, int]) -> Fraction:
        """Return what steps cost."""
        return sum(
            (Fraction(self.costs[name]) * Fraction(self.steps.get(name, 1)) * n for name, n in counts.items()),
            Fraction(0),
        )

    def after(self, counts: dict[str, int]) -> Document | None:
        """Return the rows after a purchase; None where nothing is there."""
        found = copy.deepcopy(self.document)
        if not self.machines:
            for name, there in found["capacity"].items():
                bought = counts.get(name, 0) * Fraction(self.steps.get(name, 1))
                found["capacity"][name] = str((0 if self.from_nothing else Fraction(there)) + bought)
            return found if any(Fraction(c) for c in found["capacity"].values()) else None
        for entry in found["machines"]:
            entry["count"] = (0 if self.from_nothing else entry["count"]) + counts.get(entry["name"], 0)
        gone = [entry["name"] for entry in found["machines"] if not entry["count"]]
        found["machines"] = [entry for entry in found["machines"] if entry["count"]]
        for user in found["users"]:
            for bearer in (user, *user.get("tasks", ())):
                if "machines" in bearer:
                    bearer["machines"] = [name for name in bearer["machines"] if name not in gone]
        return found if found["machines"] else None

    @cached_property
    def purchases(self) -> list[dict[str, int]]:
        """All that may be bought, in steps."""
        ranges = [range(self.most_bought(name) + 1) for name in self.costs]
        return [dict(zip(self.costs, counts, strict=True)) for counts in itertools.product(*ranges)]

    @cached_property
    def trials(self) -> list["Trial"]:
        """All of them, divided."""
        return [Trial(self, counts) for counts in self.purchases]

    @cached_property
    def aims(self) -> list[Aim]:
        """The targets, one a user and measure: who is named is not meant by ``*``; of several the largest counts."""
        named: dict[tuple[str, str], Aim] = {}
        others: dict[tuple[str, str], Aim] = {}
        homeless = self.homeless
        for text in self.targets:
            left, right = text.split(">=")
            who, _, measure = left.partition(".")
            every = who == "*"
            for name in users_of(self.document) if every else [who]:
                user = users_of(self.document)[name]
                if every and (name in homeless or not self.wanted(user)):
                    continue
                least = Fraction(right.rstrip("%"))
                if right.endswith("%"):
                    least = least / 100 * (self.limit(user) or 1 if not measure else 1)
                aim = Aim(name, measure or "tasks", least)
                found = others if every else named
                key = name, aim.measure
                found[key] = max(found.get(key, aim), aim, key=lambda one: one.least)
        chosen = others | named
        order = list(users_of(self.document))
        return [chosen[key] for key in sorted(chosen, key=lambda key: (order.index(key[0]), key[1]))]

    def limit(self, user: Document) -> Fraction | None:
        """Return the limit that a percentage is of."""
        from plain import limit

        return limit(user, self.integer)

    def wanted(self, user: Document) -> bool:
        most = self.limit(user)
        return most is None or most > 0

    @cached_property
    def homeless(self) -> set[str]:
        """Whose tasks fit on no machine of the instance."""
        if not self.machines:
            return set()
        instance = read(self.document)
        return {u for u, lost in zip(instance.users, instance.unplaced(self.integer), strict=True) if lost}


class Trial:
    """A purchase, the fair allocation after it, and what the targets reach."""

    def __init__(self, case: Case, counts: dict[str, int]):
        self.case, self.counts, self.cost = case, counts, case.cost(counts)
        document = case.after(counts)
        self.reached: list[Fraction] = [Fraction(0)] * len(case.aims)
        self.exact, self.unplaced = True, ()
        self.tasks: dict[str, Fraction] = {}
        if document is None:
            return
        found = self._divided(document)
        self.unplaced = found.unplaced
        self.exact = found.integer or found.exact
        self.tasks = {u: number(x) for u, x in zip(found.users, found.tasks.tolist(), strict=True)}
        stick, users = Yardstick(document, case.policy), users_of(document)
        for row, aim in enumerate(case.aims):
            user, x = users[aim.user], self.tasks[aim.user]
            if aim.measure == "tasks":
                self.reached[row] = x
            elif aim.measure == "level":
                self.reached[row] = stick.level(user, x, aim.user not in found.unplaced, case.integer)
            elif case.integer and "tasks" in user:
                i = found.users.index(aim.user)
                rows = zip(stick.resources, found.usage[i].tolist(), strict=True)
                self.reached[row] = max(
                    (number(held) / stick.capacity[r] for r, held in rows if r in stick.there), default=Fraction(0)
                )
            else:
                self.reached[row] = stick.share(user) * x

    def _divided(self, document: Document) -> Any:
        case, instance = self.case, read(document)
        if case.integer or case.policy in SUMS or case.policy.startswith(MARKETS):
            return solve(instance, case.policy, integer=case.integer)
        try:
            return solve(instance, case.policy, exact=True)
        except DrfoptError:
            return solve(instance, case.policy)

    @cached_property
    def missed(self) -> list[Aim]:
        """Targets that are surely missed."""
        pairs = zip(self.case.aims, self.reached, strict=True)
        return [aim for aim, got in pairs if got < aim.least * (1 - CLOSE)]

    @cached_property
    def close(self) -> bool:
        """Whether floats may decide about some target either way."""
        pairs = zip(self.case.aims, self.reached, strict=True)
        return not self.case.integer and any(
            got != aim.least and abs(got - aim.least) <= CLOSE * aim.least for aim, got in pairs
        )

    @property
    def part(self) -> Fraction:
        """The smallest part of a target that is reached."""
        return min(got / aim.least for aim, got in zip(self.case.aims, self.reached, strict=True))


def drawn(seed: int, at: int) -> Case:
    """Return the case of that number."""
    chance = random.Random(f"bought {seed}/{at}")
    policy = chance.choice(POLICIES)
    document = drawn_cluster(chance, policy)
    pool = "capacity" in document
    names = resources_of(document) if pool else [entry["name"] for entry in document["machines"]]
    offers = [name for name in names if chance.random() < 0.6] or [chance.choice(names)]
    costs = {name: chance.choice(("1", "1", "2", "3", "3/2", "10")) for name in offers[:3]}
    most = {name: chance.choice((1, 2, 3, 4)) for name in costs}
    steps = {name: chance.choice(("1", "1", "2", "1/2")) for name in costs} if pool else {}
    users = [user["name"] for user in document["users"]]
    targets = []
    for _ in range(chance.choice((1, 1, 2, 2, 3))):
        who = chance.choice((*users, *users, "*"))
        measure = chance.choice(("", "", "", ".share", ".level"))
        limited = who != "*" and asked(users_of(document)[who], False) is not None
        much = (
            chance.choice(("1/2", "1/3", "1/5", "1/4", "0.1"))
            if measure
            else chance.choice(("1", "2", "3", "1/2", "4", "5/3"))
        )
        if limited and not measure and chance.random() < 0.4:
            much = chance.choice(("50%", "100%", "30%"))
        if who == "*" and not measure and chance.random() < 0.5:
            much = "50%"
        targets.append(f"{who}{measure}>={much}")
    return Case(at, document, policy, chance.random() < 0.25, chance.random() < 0.1, costs, most, steps, targets)


# ---- what is said ----------------------------------------------------------------------------------------------------


@dataclass
class Asked:
    """What was found, and the purchase that it names."""

    case: Case
    found: Purchase

    @cached_property
    def trial(self) -> Trial | None:
        """The purchase that is told, or that came nearest."""
        amounts = self.found.bought or self.found.nearest
        if not amounts:
            return None
        counts = {name: amount / Fraction(self.case.steps.get(name, 1)) for name, amount in amounts.items()}
        return next((one for one in self.case.trials if one.counts == counts), None)


def _cheaper(asked: Asked, bound: Fraction, what: str) -> None:
    for one in asked.case.trials:
        if not one.missed and not one.close and one.cost < bound:
            raise Wrong(f"{what}: {one.counts} costs {one.cost} and meets the targets")


def _cost(asked: Asked, match: re.Match) -> None:
    found = asked.found
    near(shown(match["cost"]), found.cost, "cost", 9)
    need(asked.trial is not None, f"{found.bought} is not for sale")
    need(asked.trial.cost == found.cost, f"{found.bought} costs {asked.trial.cost}, not {found.cost}")
    need(not asked.trial.missed, f"{found.bought} misses {list(map(str, asked.trial.missed))}")
    need((found.status == "optimal") == ("no purchase is cheaper" in match[0]), match[0])
    if found.status == "optimal":
        gap = Fraction(match["gap"])
        _cheaper(asked, found.cost * (1 - gap), match[0])
        need(bool(match["more"]) == bool(gap), match[0])
    else:
        _cheaper(asked, found.bound, match[0])
        near(shown(match["bound"]), found.bound, "the bound", 9)


def _nothing(asked: Asked, match: re.Match) -> None:
    need(asked.found.status == "infeasible", match[0])
    met = [one for one in asked.case.trials if not one.missed and not one.close]
    need(not met, f"{match[0]}: {met[0].counts if met else ''} meets them")
    need(bool(match["nearest"]) == bool(asked.found.nearest), match[0])


def _missed(asked: Asked, match: re.Match) -> None:
    aims, trial = asked.case.aims, asked.trial
    need(match["all"] == str(len(aims)), f"{match[0]}: {len(aims)} targets")
    need(trial is not None, f"{match[0]}: {asked.found.nearest}")
    surely = len(trial.missed)
    need(surely <= int(match["missed"]) <= surely + trial.close * len(aims), f"{match[0]}: {trial.missed}")
    told = re.findall(r"(\S+>=\S+) has ([^,\s]+)", match["shown"])
    need(len(told) == min(5, len(aims)), match[0])
    parts = []
    for text, got in told:
        row = next((row for row, aim in enumerate(aims) if str(aim) == text), None)
        need(row is not None, f"no target is {text}")
        if asked.case.policy not in SUMS or asked.case.integer:
            near(shown(got), trial.reached[row], text, 7, Fraction(1, 10**7))
        parts.append(shown(got) / aims[row].least)
    need(all(a <= b * (1 + CLOSE) for a, b in itertools.pairwise(parts)), f"{match[0]} is in no order")


def _proven(asked: Asked, match: re.Match) -> None:
    found = asked.found.allocation
    need(
        ("in fractions" in match[0]) == bool(found.exact) and ("valid" in match[0]) == bool(found.certificate.valid),
        match[0],
    )


def _unplaced(asked: Asked, match: re.Match) -> None:
    whose = {aim.user for aim in asked.case.aims}
    told = re.split(r", ", match["users"])
    need(
        asked.trial and told == [u for u in asked.trial.unplaced if u not in whose],
        f"{match[0]}: {asked.trial.unplaced}",
    )


def _judged(asked: Asked, match: re.Match) -> None:
    found = asked.found
    need(match["status"] == found.status and int(match["judged"].replace(",", "")) == found.judged, match[0])
    need((match["judged"] == "1") == (match["s"] == "") == (match["its"] == "its"), match[0])


def _at_most(asked: Asked, match: re.Match) -> None:
    most = Fraction(match["most"]) / 100 * (1 + CLOSE) + Fraction(1, 10**6)
    for one in asked.case.trials:
        need(one.part <= most, f"{match[0]}: {one.counts} reaches {float(one.part):.6%}")
    if "each machine" in match[0]:
        need(asked.case.policy == "per-server" and asked.case.machines, match[0])


def _giving_up(asked: Asked, match: re.Match) -> None:
    for what, down in re.findall(r"(\S+) down to ([^\s,]+)", match["text"]):
        row = next(row for row, aim in enumerate(asked.case.aims) if aim.what == what)
        for one in asked.case.trials:
            if not [aim for aim in one.missed if aim is not asked.case.aims[row]] and not one.close:
                need(
                    one.reached[row] <= shown(down) * (1 + Fraction(1, 10**5)),
                    f"{match[0]}: {one.counts} reaches {float(one.reached[row])}",
                )


def _no_fair(asked: Asked, match: re.Match) -> None:
    case = asked.case
    met = [one for one in case.trials if not one.missed and not one.close]
    need(not met, match[0])
    several = case.integer or case.policy in SUMS
    need(several == bool(match["several"]), match[0])
    if match["room"]:
        need(_room(case) >= 1 - CLOSE, f"{match[0]}: {float(_room(case))}")


def _room(case: Case) -> Fraction:
    """Return what part of all targets in tasks has room where everything is bought, fairness apart."""
    document = case.after({name: case.most_bought(name) for name in case.costs})
    if document is None:
        return Fraction(0)
    stick, users = Yardstick(document, "drf"), users_of(document)
    cells = []
    kinds = {}
    for aim in case.aims:
        user = users[aim.user]
        rows = user.get("tasks") or [{"demand": user["demand"], "count": 1}]
        if not case.machines:
            rows = [{"demand": {r: demand_of(user, r) for r in stick.resources}, "count": 1}]
        kinds[aim.user] = rows
        for t, kind in enumerate(rows):
            for k, entry in enumerate(stick.classes):
                may = (user.get("machines"), kind.get("machines"))
                fits = all(
                    Fraction(kind["demand"].get(r, 0)) <= Fraction(entry["capacity"][r]) for r in stick.resources
                )
                if all(only is None or entry["name"] in only for only in may) and (fits or not case.machines):
                    cells.append((aim.user, t, k))
    program = Polytope([*cells, "h"])
    for k, entry in enumerate(stick.classes):
        for r in stick.resources:
            use = {c: -Fraction(kinds[c[0]][c[1]]["demand"].get(r, 0)) for c in cells if c[2] == k}
            use = {c: x for c, x in use.items() if x}
            if use:
                program.add((k, r), use, entry.get("count", 1) * Fraction(entry["capacity"][r]))
    for aim in case.aims:
        total = sum(kind.get("count", 1) for kind in kinds[aim.user])
        for t, kind in enumerate(kinds[aim.user]):
            terms = {c: Fraction(1) for c in cells if c[:2] == (aim.user, t)}
            program.add((aim.user, t), terms | {"h": -aim.least * kind.get("count", 1) / total}, Fraction(0))
    program.add("part", {"h": Fraction(1)}, Fraction(0), free=True)
    found = program.maximise("part")
    return Fraction(1) if found is None else found


def _limited(asked: Asked, match: re.Match) -> None:
    need((match["count"] == "1") == ("target is" in match[0]), match[0])
    need(int(match["count"]) == len(asked.found.concessions.limited), match[0])


def _limits(asked: Asked, match: re.Match) -> None:
    for down, text in re.findall(r"(\S+) for (\S+>=[^\s,]+)", match["text"]):
        row = next(row for row, aim in enumerate(asked.case.aims) if str(aim) == text)
        for one in asked.case.trials:
            need(
                one.reached[row] <= shown(down) * (1 + Fraction(1, 10**5)),
                f"{match[0]}: {one.counts} reaches {float(one.reached[row])}",
            )


NOTES: dict[str, Callable[[Asked, re.Match], None]] = {
    rf"cost (?P<cost>{NUMBER}): (?:no purchase is cheaper(?P<more> by more than \S+ of it)?|meets the targets, but is "
    rf"not proven the cheapest: none costs less than (?P<bound>{NUMBER}), so at most \S+ % of it could be saved) "
    r"\(gap (?P<gap>\S+)\)": _cost,
    r"nothing that may be bought meets the targets"
    r"(?P<nearest>; above is what came nearest of [\d,]+ purchases? judged)?": _nothing,
    r"targets missed: (?P<missed>\d+) of (?P<all>\d+); nearest to it: (?P<shown>.*)": _missed,
    r"fair allocation afterwards: certificate \(.*\) (?:valid|not proven.*), (?:in fractions|to \S+)": _proven,
    r"unplaced \(a task fits on nothing open to it\), without a target: (?P<users>.*)": _unplaced,
    r"(?P<status>optimal|infeasible|time_limit); (?P<judged>[\d,]+) purchase(?P<s>s?) judged by (?P<its>its|their) "
    r"fair allocation, [\d,]+ linear programs?, \S+ s": _judged,
    r"even without fairness at most (?P<most>\S+)% of every target fits": _at_most,
    r"all for sale, each machine divided by itself, gives at most (?P<most>\S+)% of every target": _at_most,
    r"at most (?P<most>\S+)% of every target can be met together": _at_most,
    r"giving up one alone, at least: (?P<text>.*)": _giving_up,
    r"(?P<room>there is room for all numbers of tasks, but )?no fair allocation of anything for sale meets the targets"
    r"(?P<several>, as far as solve\(\) returns one of several that are best)?": _no_fair,
    r"(?P<count>\d+) targets? (?:is|are) above what a user's own limit allows, whatever is bought": _limited,
    r"raise (?:this limit|these limits), or ask for no more than (?:it allows|they allow): (?P<text>.*)": _limits,
}  # fmt: skip


def _told(asked: Asked) -> None:
    case, sheet = asked.case, asked.found.sheet()
    by_template(sheet.notes, NOTES, asked, case.said)
    whose = {aim.user for aim in case.aims}
    if asked.trial is not None:
        lost = [u for u in asked.trial.unplaced if u not in whose]
        need(bool(lost) == any("without a target" in note for note in sheet.notes), f"unplaced: {lost}")
    amounts = asked.found.bought or asked.found.nearest or {}
    for name, cost, most, there, buy, price in sheet.rows:
        near(cost, Fraction(case.costs[name]), f"cost of {name}")
        need(most == case.most[name], f"most of {name}")
        true: Any = 0
        if not case.from_nothing:
            true = (
                entry_of(case.document["machines"], name)["count"] if case.machines else case.document["capacity"][name]
            )
        near(there, true, f"{name} there")
        if amounts:
            near(buy, amounts[name], f"{name} to buy")
            near(price, amounts[name] * Fraction(case.costs[name]), f"{name} for")
        case.said["row of a purchase"] += 1
    document = json.loads(json.dumps(asked.found.to_dict()))
    for key, value in document.items():
        need(key in KEYS, f"no judge knows the key {key}")
        KEYS[key](asked, value)
        case.said[f"key {key}"] += 1


def _targets(asked: Asked, value: Any) -> None:
    aims = asked.case.aims
    need(
        [(row["user"], row["measure"], number(row["least"])) for row in value]
        == [(a.user, a.measure, number(_plain(a.least))) for a in aims],
        value,
    )
    for at, row in enumerate(value):
        if asked.trial is not None and row["reached"] is not None:
            if asked.case.policy not in SUMS or asked.case.integer:
                near(row["reached"], asked.trial.reached[at], f"{aims[at]} reached", 7, Fraction(1, 10**7))
            if not asked.trial.close:
                need(row["met"] == (aims[at] not in asked.trial.missed), f"{aims[at]} met {row['met']}")


def _plain(value: Fraction) -> Any:
    return float(value) if Fraction(repr(float(value))) == value else value


def _amounts(asked: Asked, value: Any) -> None:
    for row in value:
        name = row["name"]
        near(row["cost"], Fraction(asked.case.costs[name]), "cost")
        need(row["most"] == asked.case.most[name], "most")
        need((row["amount"] is None) == (not asked.found.bought), "amount")


KEYS: dict[str, Callable[[Asked, Any], None]] = {
    "schema": lambda asked, value: need(value == "drfopt purchase 1", value),
    "instance": lambda asked, value: need(not value, value),
    "policy": lambda asked, value: need(value == asked.case.policy, value),
    "status": lambda asked, value: need(value == asked.found.status, value),
    "cost": lambda asked, value: need((value is None) == (asked.found.cost is None), value),
    "bound": lambda asked, value: _cheaper(asked, number(value) * (1 - CLOSE), f"bound {value}"),
    "gap": lambda asked, value: need(value is None or 0 <= value <= 1, value),
    "from_nothing": lambda asked, value: need(value == asked.case.from_nothing, value),
    "buy": _amounts,
    "targets": _targets,
    "judged": lambda asked, value: need(value == asked.found.judged, value),
    "programs": lambda asked, value: need(value == asked.found.parts, value),
    "seconds": lambda asked, value: need(value >= 0, value),
    "concessions": lambda asked, value: need(asked.found.status == "infeasible", value),
    "nearest": lambda asked, value: need(asked.found.status == "infeasible", value),
    "allocation": lambda asked, value: None,
}


# ---- refusals --------------------------------------------------------------------------------------------------------


def _homeless(case: Case, match: re.Match) -> None:
    need(match["user"] in case.homeless, match[0])


def _never(case: Case, match: re.Match) -> None:
    for one in case.trials:
        need(not one.tasks.get(match["user"]), f"{match[0]}: {one.counts} gives it {one.tasks.get(match['user'])}")


def _ceiling(case: Case, match: re.Match) -> None:
    low = Fraction(match["least"].partition(">=")[2].rstrip("%")) if not match["least"].endswith("%") else None
    for one in case.trials:
        name = match["least"].partition(">=")[0]
        if low is not None and name in one.tasks:
            need(one.tasks[name] < low, f"{match[0]}: {one.counts}")


def _true_of_limits(case: Case, match: re.Match) -> None:
    user = users_of(case.document)[match["user"]]
    most = case.limit(user)
    need(most is not None and number(match["most"]) == most, f"{match[0]}: {most}")


REFUSED: dict[str, Callable[[Case, re.Match], None]] = {
    r"target '.*': (?:a task|one type of task) of user '(?P<user>\w+)' fits on no machine that it may use": _homeless,
    r"target '.*': a task of user '(?P<user>\w+)' fits on no machine that is there or for sale: .*": _never,
    r"target '.*': nobody can run a task here, so there is nobody to meet it": lambda case, match: need(
        all(name in case.homeless or not case.wanted(user) for name, user in users_of(case.document).items()), match[0]
    ),
    r"target '.*': user '\w+' is served before '(?P<user>\w+)', asks for tasks without an end and leaves nothing that "
    r"'\w+' could use, whatever is bought: .*": _never,
    r"target '(?P<least>.*)': user '\w+' is served before '\w+', asks for tasks without an end and leaves nothing that "
    r"'\w+' could use beyond its guarantee, whatever is bought: .*": _ceiling,
    r"target '(?P<least>.*)' needs \S+ of '\w+', and (?:user|group) '.*' may use \S+, whatever is bought: .*": _ceiling,
    r"target '.*': user '(?P<user>\w+)' has at most (?P<most>\S+) tasks: .*": _true_of_limits,
    r"target '.*': no share exceeds 1: give a number up to 1": lambda case, match: None,
    r"target '.*': user '(?P<user>\w+)' has no limit of which this could be a part: .*": lambda case, match: need(
        case.limit(users_of(case.document)[match["user"]]) is None, match[0]
    ),
    r"target '.*': user '(?P<user>\w+)' may have no (?:whole )?task of which this could be a part: raise its "
    r"(?:ceiling|max_tasks)": lambda case, match: need(
        not case.limit(users_of(case.document)[match["user"]]), match[0]
    ),
    r"target '.*': ask for a positive number: everybody has at least .*": lambda case, match: None,
}


def judged(case: Case) -> tuple[str, str]:
    """Return ``right``, ``wrong``, ``refused`` or ``not drawn``, and why."""
    try:
        instance = read(case.document)
        solve(instance, case.policy, integer=case.integer)
    except DrfoptError as error:
        return "not drawn", str(error)
    how: dict[str, Any] = {"policy": case.policy, "most": case.most, "steps": case.steps or None, "time_limit": SECONDS}
    try:
        found = size(instance, case.targets, case.costs, integer=case.integer, from_nothing=case.from_nothing, **how)
    except TimeLimitError as error:
        bound = re.search(rf"none costs less than ({NUMBER})", str(error))
        try:
            if bound:
                for one in case.trials:
                    need(one.missed or one.close or one.cost >= shown(bound[1]) * (1 - CLOSE), f"{error}: {one.counts}")
        except Wrong as wrong:
            return "wrong", str(wrong)
        return "late", str(error)
    except DrfoptError as error:
        return _refusal(case, str(error))
    except Exception as error:
        return "wrong", "".join(traceback.format_exception(error)[-3:])
    try:
        _told(Asked(case, found))
    except Wrong as wrong:
        return "wrong", str(wrong)
    except DrfoptError as error:
        return "not judged", f"the oracle is refused: {error}"
    except Exception as error:
        return "wrong", "".join(traceback.format_exception(error)[-3:])
    return "right", found.status


def _refusal(case: Case, why: str) -> tuple[str, str]:
    for template, judge in REFUSED.items():
        if match := re.fullmatch(template, why):
            try:
                judge(case, match)
            except Wrong as wrong:
                return "wrong", f"refused: {wrong}"
            except DrfoptError as error:
                return "not judged", f"the oracle is refused: {error}"
            case.said[template] += 1
            return "refused", why
    return "wrong", f"no judge knows the refusal: {why}"


def main() -> int:
    """Judge some and print what came of them."""
    return judge_many(
        __doc__, drawn, judged, lambda _, word, why: why if word == "right" else "", ("wrong", "late", "not judged")
    )


if __name__ == "__main__":
    sys.exit(main())
