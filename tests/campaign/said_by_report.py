"""What the page of `report` says, judged, without its what-ifs: sentences, key figures, and numbers of its tables."""

import html
import itertools
import math
import random
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

from said_by_audit import Audited
from said_by_compare import shares as shares_of
from said_by_compare import taking_part, unplaced
from sayings import Book, Template, close
from world import TooLarge, World, changed, middle

from drfopt import DrfoptError, Instance, Machine, report, solve
from drfopt.reporting import contents
from drfopt.reporting.figures import figures
from drfopt.reporting.findings import LEFT
from drfopt.reporting.palette import title_of

__all__ = ["BOOK", "judged"]

ACCURACY = Fraction(1, 10**7)


class Paged:
    """A page, its instance, and the answers that it shows."""

    def __init__(self, instance: Instance, policies: list[str], whole: bool, document: dict[str, Any], text: str):
        self.instance, self.whole, self.document, self.text = instance, whole, document, text
        self.world = World(instance, whole)
        self.policies = document["policies"]
        self.first = solve(instance, self.policies[0], integer=whole)
        self.tasks = [middle(x) for x in self.first.tasks.tolist()]

    @cached_property
    def asked(self) -> list[Fraction | None]:
        """Tasks that everybody has to run, None for no end."""
        return [None if a is None else Fraction(math.floor(a)) if self.whole else a for a in self.world.asked]

    @cached_property
    def missing(self) -> list[Fraction]:
        """Tasks that are asked for and do not run."""
        return [
            Fraction(0) if a is None or x >= a * (1 - Fraction(1, 10**9)) else a - x
            for a, x in zip(self.asked, self.tasks, strict=True)
        ]

    @cached_property
    def out(self) -> list[int]:
        return [self.world.users.index(u) for u in unplaced(self.world)]

    @cached_property
    def short(self) -> list[int]:
        return [i for i in range(self.world.n) if self.missing[i] and i not in self.out]

    @cached_property
    def endless(self) -> list[int]:
        return [i for i in range(self.world.n) if self.asked[i] is None and i not in self.out]

    @cached_property
    def met(self) -> list[int]:
        return [i for i in range(self.world.n) if i not in self.out + self.short + self.endless]

    def demand_met(self, tasks: Sequence[Fraction]) -> Fraction | None:
        """Return the part of what is asked for that runs, in dominant shares."""
        named = [i for i in range(self.world.n) if self.asked[i] is not None]
        worth = {i: self.world.dominant(i) for i in named}
        whole = sum(worth[i] * self.asked[i] for i in named)
        return sum(worth[i] * min(tasks[i], self.asked[i]) for i in named) / whole if whole else None


# ---- numbers of the document -----------------------------------------------------------------------------------------


def _numbers(case: Paged) -> Iterator[tuple[str, str | None]]:
    """Yield each number of the document that is judged, and what is false of it."""
    document, world = case.document, case.world
    short = document["short"]
    for key, should in (("users", case.short), ("endless", case.endless), ("met", case.met), ("unplaced", case.out)):
        yield f"short: {key}", None if short[key] == len(should) else f"{short[key]} is {len(should)}"
    met = case.demand_met(case.tasks)
    same = (
        short["demand_met"] is None
        if met is None
        else short["demand_met"] is not None and close(short["demand_met"], met, ACCURACY)
    )
    yield "short: demand met", None if same else f"{short['demand_met']} is {met and float(met)}"
    if not world.case.types or not case.whole:
        for j, name in enumerate(world.resources):
            lacks = sum((case.missing[i] * world.demands[i][j] for i in case.short), Fraction(0))
            told = next((row for row in short["missing"] if row["name"] == name), None)
            if told is None:
                yield "short: missing", f"{float(lacks)} {name}" if lacks and world.capacity[j] else None
            else:
                right = close(told["amount"], lacks, ACCURACY) and close(
                    told["part"], lacks / world.capacity[j], ACCURACY
                )
                yield "short: missing", None if right else f"{told} is {float(lacks)}"
    listed = case.short or case.endless
    yield "short: listed", None if sorted(row["user"] for row in short["listed"]) == listed else f"{listed}"
    for row in short["listed"]:
        i = row["user"]
        fault = None
        if not close(row["got"], case.tasks[i], ACCURACY) or (row["asked"] is None) != (case.asked[i] is None):
            fault = f"{row} runs {float(case.tasks[i])} of {case.asked[i]}"
        elif row["asked"] is not None and not close(row["met"], case.tasks[i] / case.asked[i], ACCURACY):
            fault = f"{row}: {float(case.tasks[i] / case.asked[i])}"
        yield "short: row", fault
    for place, policy in enumerate(case.policies):
        yield from _measures(case, place, policy)
    yield from _titles(case)
    yield from _stops(case)
    yield from _tables(case)
    yield from _bought(case)
    yield from _drawn(case)


def _measures(case: Paged, place: int, policy: str) -> Iterator[tuple[str, str | None]]:
    world, told = case.world, case.document["measures"][place]
    found = solve(case.instance, policy, integer=case.whole)
    tasks = [middle(x) for x in found.tasks.tolist()]
    there = taking_part(world)
    counted = [j for j in range(world.m) if f"r{j}" not in world.case.excluded]
    rate = {i: max((world.shares(i)[j] / world.weights[i][j] for j in counted), default=Fraction(0)) for i in there}
    levels = {i: rate[i] * tasks[i] for i in there}

    def judged(key: str, should: Any) -> tuple[str, str | None]:
        value = told[key]
        same = value is None if should is None else value is not None and close(value, should, ACCURACY)
        return f"measure: {key}", None if same else f"{policy}: {value} is {None if should is None else float(should)}"

    yield judged("lowest", min(levels.values(), default=Fraction(0)))
    squares = sum(v * v for v in levels.values())
    yield judged("jain", sum(levels.values()) ** 2 / (len(levels) * squares) if squares else None)
    yield judged("sum_of_shares", sum(shares_of(world, tasks), Fraction(0)))
    weights = {i: Fraction(0) if world.case.last[i] else world.weights[i][0] for i in there}
    if case.instance.weights_per_resource or not there or not any(weights.values()):
        yield judged("nash", None)
    elif any(weights[i] and not levels[i] for i in there):
        yield judged("nash", 0)
    else:
        logs = sum(float(weights[i]) * math.log(levels[i]) for i in there if weights[i])
        yield judged("nash", math.exp(logs / float(sum(weights.values()))))
    if not (case.whole and world.case.types):
        used = [sum(d[j] * x for d, x in zip(world.demands, tasks, strict=True)) for j in range(world.m)]
        parts = [u / c for u, c in zip(used, world.capacity, strict=True) if c]
        yield judged("utilization", sum(parts) / len(parts) if parts else 0)
    asked = Audited(case.instance, policy, case.whole, None, random.Random(0))
    asked.__dict__["truth"] = found
    defined = not asked.beyond and not (world.case.types and not world.pool)
    if not defined:
        yield "measure: envious", "it means nothing here" if told["envious"] is not None and asked.ruled else None
        return
    if told["envious"] is None:
        yield "measure: envious", None if case.instance.task_types else "it is not counted"
        return
    try:
        envious = [
            i
            for i in there
            if any(asked.less(tasks[i], asked.with_bundle(i, k)) for k in range(world.n) if k != i)
        ]  # fmt: skip
        yield "measure: envious", None if told["envious"] == len(envious) else f"{policy}: {told['envious']}, {envious}"
    except TooLarge:
        pass


def _titles(case: Paged) -> Iterator[tuple[str, str | None]]:
    document = case.document
    tasks = [[middle(x) for x in solve(case.instance, p, integer=case.whole).tasks.tolist()] for p in case.policies]
    for one, other in itertools.combinations(range(len(tasks)), 2):
        noise = max(tasks[other], default=Fraction(0)) / 10**7
        pairs = zip(tasks[one], tasks[other], strict=True)
        alike = all(close(a, b, Fraction(1, 10**7)) or abs(a - b) <= noise for a, b in pairs)
        names = [title_of(case.policies[p]) for p in (one, other)]
        together = any(set(names) <= set(title.split(" = ")) for title in document["titles"])
        yield "titles", None if alike == together else f"{names} give {tasks[one]} and {tasks[other]}"
    at = {p for p in range(len(tasks)) if p in document["shown"]}
    yield "shown", None if all(document["titles"][p] for p in at) else "a title is missing"


def _stops(case: Paged) -> Iterator[tuple[str, str | None]]:
    """Judge who is stopped by what: a resource is used up where one can run, and needed; nothing stops who has all."""
    document, world = case.document, case.world
    users, counts = document["users"], document["stops"][0]
    if counts["met"] != sum(user["stopped"][0] == "has all it asked for" for user in users):
        yield "stops: met", f"{counts}"
    for i, user in enumerate(users):
        said = user["stopped"][0]
        if said == "has all it asked for":
            yield "stopped: by nothing", None if i in case.met else f"{user['name']} has {float(case.tasks[i])}"
        elif said == "unplaced":
            yield "stopped: unplaced", None if i in case.out else f"{user['name']} fits somewhere"
        elif said == LEFT:
            lost = case.whole and any(not any(fits) for _, _, fits in world.kinds[i])
            yield "stopped: what is left", None if lost and i in case.short else f"{user['name']}"
        elif said == "its limit":
            most = world.asked[i]
            yield "stopped: limit", None if most is not None and not case.missing[i] else f"{user['name']}"
        elif not case.whole:
            yield "stopped: by", _stopped(case, i, said)
    few = not any(re.search(r" \+\d+$", user["stopped"][0]) for user in users)  # of many stops the first are named
    for j, resource in enumerate(document["resources"] if few else ()):
        named = sum(
            any(
                part == resource["name"] or part.endswith(f"/{resource['name']}")
                for part in user["stopped"][0].split(", ")
            )
            for user in users
        )
        yield "stops: resource", None if resource["stopped"][0] == named else f"r{j}: {resource['stopped'][0]}, {named}"


def _stopped(case: Paged, i: int, said: str) -> str | None:
    world = case.world
    for part in said.split(", "):
        where, _, name = part.rpartition("/")
        if name not in world.resources:
            continue
        j = world.resources.index(name)
        if not any(row[j] for _, row, _ in world.kinds[i]):
            return f"user {i} needs no {name}"
        k = case.instance.machine_names.index(where) if where else 0
        row, count = world.classes[k]
        used = sum((world.held(case.first, h)[k][j] for h in range(world.n)), Fraction(0))
        if used < row[j] * count * (1 - Fraction(1, 10**6)):
            return f"{part} is not used up: {float(used)} of {row[j] * count}"
        if not any(fits[k] for _, _, fits in world.kinds[i]):
            return f"user {i} cannot run on {where}"
    if i in case.met and said != "its ceiling":
        return f"user {i} has all"
    return None


def _tables(case: Paged) -> Iterator[tuple[str, str | None]]:
    document, world = case.document, case.world
    for i, user in enumerate(document["users"]):
        fault = None
        if [Fraction(repr(v)) if isinstance(v, float) else v for v in user["demand"].values()] and not all(
            close(v, d, ACCURACY) for v, d in zip(user["demand"].values(), world.demands[i], strict=True)
        ):
            fault = f"demand of {i}"
        limit = case.instance.max_tasks[i] if i not in world.case.types else world.asked[i]
        if (user["limit"] is None) != (limit is None) or (
            limit is not None and not close(user["limit"], limit, ACCURACY)
        ):
            fault = f"limit of {i} is {limit}"
        weight = None if case.instance.weights_per_resource else 0 if world.case.last[i] else world.weights[i][0]
        if (user["weight"] is None) != (weight is None) or (
            weight is not None and not close(user["weight"], weight, ACCURACY)
        ):
            fault = f"weight of {i} is {weight}"
        yield "table: users", fault
    for j, resource in enumerate(document["resources"]):
        yield "table: resources", None if close(resource["capacity"], world.capacity[j], ACCURACY) else f"{resource}"
    if document["machines"] is not None and not case.whole:
        for k, row in enumerate(document["machines"]):
            for j, cell in enumerate(row["resources"]):
                used = sum((world.held(case.first, h)[k][j] for h in range(world.n)), Fraction(0))
                told = cell["allocations"][0]
                right = close(told["used"], used, Fraction(1, 10**6)) and close(
                    cell["capacity"], world.classes[k][0][j] * world.classes[k][1], ACCURACY
                )  # fmt: skip
                yield "table: machines", None if right else f"{row['name']}/{j}: {told['used']} is {float(used)}"
    for row in document["queues"] or ():
        if row["kind"] == "user" and not (case.whole and world.case.types):
            i = world.users.index(row["name"])
            for j, cell in enumerate(row["resources"]):
                right = close(cell["used"], case.tasks[i] * world.demands[i][j], ACCURACY)
                lacks = None if case.asked[i] is None else case.missing[i] * world.demands[i][j]
                lacks = lacks if world.demands[i][j] else Fraction(0)
                told = cell["pending"]
                if (told is None) != (lacks is None) or (lacks is not None and not close(told, lacks, ACCURACY)):
                    right = False
                yield "table: queues", None if right else f"{row['name']}: {cell}, pending {lacks}"


def _drawn(case: Paged) -> Iterator[tuple[str, str | None]]:
    """Judge what stands below drawings, and what is said of them in words."""
    document, world = case.document, case.world
    drawn = figures(document)
    allocations = document["comparison"]["allocations"]

    ends = re.findall(r": from (\S+) % to (\S+) %\.", _plain(drawn["shares"].alternative))
    for (low, high), allocation in zip(ends, [allocations[place] for place in document["shown"]], strict=True):
        shares = [user["dominant_share"] for user in allocation["users"]]
        right = _percent(low, min(shares)) and _percent(high, max(shares))
        yield "drawing: shares", None if right else f"from {low} to {high} beside {shares}"
    rest = _plain(drawn["stops"].alternative)
    for place, allocation in enumerate(allocations):
        tasks = [Fraction(user["tasks"]) for user in allocation["users"]]
        if not (case.whole and world.case.types):
            should = shares_of(world, tasks)
            right = all(
                close(u["dominant_share"], s, ACCURACY) for u, s in zip(allocation["users"], should, strict=True)
            )
            yield "table: dominant shares", None if right else f"{list(map(float, should))}"
        if place not in document["shown"]:
            continue
        counts = [f"{resource['name']} {resource['stopped'][place]}" for resource in document["resources"]]
        begins = ": " + ", ".join(counts)
        yield "drawing: stops", None if begins in rest else f"{rest} beside {begins}"
    if "classes" in drawn and not case.whole:
        caption = _plain(drawn["classes"].caption)
        free = any(
            user["tasks"] and sum(fits) > 1
            for allocation in allocations
            for user, kinds in zip(allocation["users"], world.kinds, strict=True)
            for _, _, fits in kinds
        )
        if "Nobody who has tasks has a choice of classes" in caption:
            yield "drawing: no choice", "somebody has" if free else None
        else:
            yield "drawing: choice", None if free else "nobody has"


def _bought(case: Paged) -> Iterator[tuple[str, str | None]]:
    """Divide again after each purchase, and count."""
    instance = case.instance
    for bought in case.document["advice"]["to_buy"]:
        amount = Fraction(repr(bought["amount"])) if isinstance(bought["amount"], float) else Fraction(bought["amount"])
        if bought["kind"] == "machine":
            machines = instance.parts()["machines"]
            k = instance.machine_names.index(bought["name"])
            old = machines[k]
            machines[k] = Machine(old.name, old.capacity, old.count + int(amount), old.devices)
            larger = changed(instance, machines=machines)
        else:
            j = instance.resources.index(bought["name"])
            room = [c + amount * (h == j) for h, c in enumerate(instance.exact_capacity)]
            larger = changed(instance, capacity=room)
        found = solve(larger, case.policies[0], integer=case.whole)
        after = [middle(x) for x in found.tasks.tolist()]
        lacking = [
            i
            for i in range(case.world.n)
            if (a := case.asked[i]) is not None and after[i] < a * (1 - Fraction(1, 10**8)) and i not in case.out
        ]
        fault = None
        if bought["short"] != {"before": len(case.short), "after": len(lacking)}:
            fault = f"short are {lacking} after, {case.short} before: {bought['short']}"
        noise = max(case.tasks, default=Fraction(0)) / 10**8 + Fraction(1, 10**9)
        change = {u: a - b for u, a, b in zip(case.world.users, after, case.tasks, strict=True)}
        wins, loses = ({u for u, x in change.items() if sign * x > noise} for sign in (1, -1))
        told = set(bought["winners"]), set(bought["losers"])
        wrong = (
            wins - told[0]
            or loses - told[1]
            or any(change[u] <= 0 for u in told[0])
            or any(change[u] >= 0 for u in told[1])
        )
        if not fault and wrong:
            fault = f"winners {wins}, losers {loses}: {bought['winners']}, {bought['losers']}"
        yield "to buy", fault


# ---- sentences -------------------------------------------------------------------------------------------------------


def _plain(text: Any) -> str:
    return html.unescape(re.sub("<[^>]*>", "", str(text)))


def _short_of(case: Paged, count: str, of: str, verb: str, **_: Any) -> str | None:
    if int(count) != len(case.short) or int(of) != case.world.n:
        return f"{len(case.short)} of {case.world.n}"
    return None if (verb == "gets") == (len(case.short) == 1) else "number of the verb"


def _besides(case: Paged, besides: str | None) -> str | None:
    return None if int(besides or 0) == len(case.out) else f"{len(case.out)} fit nowhere"


def _missing_of(case: Paged, amount: str | None, name: str | None) -> str | None:
    if amount is None:
        return None
    row = next((row for row in case.document["short"]["missing"] if row["name"] == name), None)
    return (
        None
        if row is not None and close(Fraction(amount.replace(",", "")), row["amount"], Fraction(1, 1000))
        else "not missing"
    )


def _first(
    case: Paged,
    count: str,
    of: str,
    noun: str,
    besides: str | None,
    verb: str,
    amount: str | None,
    name: str | None,
    where: str | None,
    rest: str,
) -> str | None:
    del noun, where
    who = _short_of(case, count, of, verb) or _besides(case, besides)
    return who or _missing_of(case, amount, name) or _rest(case, rest)


def _rest(case: Paged, rest: str) -> str | None:
    """Judge what follows in the verdict: a purchase, and who fits nowhere."""
    rest = rest.strip()
    if match := re.search(r"(\d+) users? fits? nowhere\.$", rest):
        if int(match[1]) != len(case.out):
            return f"{len(case.out)} fit nowhere"
        rest = rest[: match.start()].strip()
    elif case.out:
        return f"{case.out} fit nowhere"
    bought = case.document["advice"]["to_buy"]
    if not rest:
        return "a purchase is not told" if bought else None
    if match := re.fullmatch(r"With (\S+)(?: \S+)? more (\S+?) (nobody would be|only (\d+) would be) short\.", rest):
        after = bought[0]["short"]["after"]
        return None if int(match[4] or 0) == after and match[2] == bought[0]["name"] else f"{bought[0]}"
    if match := re.fullmatch(
        r"With (\S+)(?: \S+)? more (\S+?) (\S+) % of what is asked for would be met instead of (\S+) %\.", rest
    ):
        told = bought[0]["demand_met"]
        same = all(
            close(Fraction(match[at].replace(",", "")) / 100, told[key], Fraction(1, 100))
            for at, key in ((3, "after"), (4, "before"))
        )
        return None if same else f"{told}"
    if match := re.fullmatch(r"With (\S+)(?: \S+)? more (\S+?) ([\d,]+) would have more\.", rest):
        return None if int(match[3]) == len(bought[0]["winners"]) else f"{bought[0]['winners']}"
    if match := re.fullmatch(r"What to buy: (.*)\.", rest):
        return None if match[1] == case.document["advice"]["reason"] and not bought else "another reason"
    return f"no template for {rest!r}"


def _endless(
    case: Paged,
    count: str,
    of: str,
    besides: str | None,
    verb: str,
    names: str | None,
    whom: str | None,
    rest: str,
) -> str | None:
    if wrong := _besides(case, besides):
        return wrong
    if int(count) != len(case.endless) or int(of) != case.world.n or case.short:
        return f"{len(case.endless)} of {case.world.n} ask for tasks without an end, {len(case.short)} are short"
    if (verb == "asks") != (len(case.endless) == 1):
        return "number of the verb"
    holding = [r["name"] for r in case.document["resources"] if r["stopped"][0]]
    if (names or "") != ", ".join(holding):
        return f"{holding} stop them"
    said = {i: case.document["users"][i]["stopped"][0].split(", ") for i in case.endless}
    stopped = [i for i in said if any(part.rpartition("/")[2] in case.world.resources for part in said[i])]
    if any(re.search(r" \+\d+$", words[-1]) for words in said.values()):
        return _rest(case, rest)  # more are named than are shown
    if whom in ("them", "it") and len(stopped) < len(case.endless):
        return f"only {stopped} are stopped by resources"
    if whom == "some of them" and len(stopped) == len(case.endless):
        return "all of them are"
    return _rest(case, rest)


def _all(case: Paged, who: str, rest: str) -> str | None:
    if case.short or case.endless or not case.met:
        return f"short {case.short}, endless {case.endless}"
    if (who == "Everybody else") != bool(case.out):
        return f"{case.out} fit nowhere"
    return _rest(case, rest)


def _nobody(case: Paged, rest: str) -> str | None:
    return _rest(case, rest) or (f"{case.met} have all" if case.met or case.short or case.endless else None)


def _percent(text: str, value: Any) -> bool:
    return close(Fraction(text.replace(",", "").removesuffix(" %")) / 100, value, Fraction(6, 1000))


def _under(case: Paged, policy: str, some: str, lowest: str, aside: str, total: str, used: str) -> str | None:
    measures = case.document["measures"][0]
    if bool(aside) != bool(case.world.case.excluded):
        return "excluded resources are told, or are not"
    if policy != title_of(case.policies[0]) or bool(some) != bool(case.out):
        return "another policy, or some fit nowhere"
    right = _percent(lowest, measures["lowest"]) and _percent(used, measures["utilization"])
    return (
        None
        if right and close(Fraction(total.replace(",", "")), measures["sum_of_shares"], Fraction(6, 10000))
        else str(measures)
    )


def _users_stopped(case: Paged, policy: str, counts: str) -> str | None:
    """Compare counts with what the table of users says of each."""
    words = [user["stopped"][0] for user in case.document["users"]]
    for part in counts.split(", ") if counts else []:
        match = re.fullmatch(r"(\d+) by (.*)", part)
        if match is None:
            continue  # a name with a comma: "nothing, having all they asked for"
        count, name = int(match[1]), match[2]
        kinds = {
            "nothing": lambda w: w == "has all it asked for",
            "their own limit": lambda w: w == "its limit",
            "a task that fits on nothing open to it": lambda w: w in ("unplaced", LEFT),
        }
        if name in case.world.resources:
            if any(re.search(r" \+\d+$", w) for w in words):
                continue
            should = sum(any(p == name or p.endswith(f"/{name}") for p in w.split(", ")) for w in words)
        elif name in kinds:
            should = sum(map(kinds[name], words))
        else:
            continue
        if should != count:
            return f"{should} by {name}"
    return None if policy == title_of(case.policies[0]) else "another policy"


def _gives_most(case: Paged, policy: str, level: str) -> str | None:
    return _largest(case, policy, "lowest", Fraction(level.replace(",", "").removesuffix(" %")) / 100)


def _makes_most(case: Paged, policy: str, total: str) -> str | None:
    return _largest(case, policy, "sum_of_shares", Fraction(total.replace(",", "")))


def _largest(case: Paged, policy: str, key: str, value: Fraction) -> str | None:
    values = {title_of(p): m[key] for p, m in zip(case.policies, case.document["measures"], strict=True)}
    best = max(values.values())
    if not close(values[policy], best, Fraction(1, 10**6)):
        return f"{values}"
    return None if close(value, best, Fraction(6, 1000)) and min(values.values()) < best else f"{values}"


def _all_same(case: Paged, what: str) -> str | None:
    for words, key in (("lowest level", "lowest"), ("sum of dominant shares", "sum_of_shares")):
        if words in what:
            values = [m[key] for m in case.document["measures"]]
            if not close(min(values), max(values), Fraction(1, 10**5)):
                return f"{words}: {values}"
    return None


def _once(case: Paged, titles: str) -> str | None:
    told = [t for t in case.document["titles"] if " = " in t]
    return None if titles == "; ".join(told) else f"{told}"


def _owed(case: Paged, owed: str) -> str | None:
    rows = case.document["comparison"]["allocations"][0].get("broken_guarantees", [])
    return None if rows and len(owed.split(", ")) == len(rows) == len(case.first.broken) else f"{rows}"


def _refused(case: Paged, policy: str, why: str) -> str | None:
    return None if case.document["comparison"].get("refusals", {}).get(policy) == why else "it is not the reason"


NUM = r"[\d.,e+-]+"
PERCENT = rf"{NUM} %"
BESIDES = r"(?:, besides (?P<besides>\d+) unplaced,)?"
BOOK = Book(
    (
        Template(
            "verdict: short",
            rf"(?P<count>\d+) of (?P<of>\d+) (?P<noun>users?){BESIDES} (?P<verb>gets?) less than asked for(?:: "
            rf"(?P<amount>{NUM}) (?P<name>\S+) missing(?P<where> on .*?)?)?\.(?P<rest>.*)",
            _first,
        ),
        Template(
            "verdict: endless",
            rf"(?P<count>\d+) of (?P<of>\d+) users?{BESIDES} (?P<verb>asks?) for tasks without an end"
            r"(?:; (?P<names>.*?) stops? (?P<whom>it|them|some of them))?\.(?P<rest>.*)",
            _endless,
        ),
        Template("verdict: all", r"(?P<who>Everybody(?: else)?) has all it asked for\.(?P<rest>.*)", _all),
        Template("verdict: nobody", r"Nobody can run anything\.(?P<rest>.*)", _nobody),
        Template(
            "gist: first policy",
            rf"Under (?P<policy>.*?) the user who has least(?P<some>, of those whose tasks fit somewhere,|) holds "
            rf"(?P<lowest>{PERCENT}) of the resource it needs most(?P<aside> \(excluded ones aside\)|), by weight; "
            r"all dominant shares together are "
            rf"(?P<total>{NUM}), and (?P<used>{PERCENT}) of the cluster is used on average\.",
            _under,
        ),
        Template("gist: stopped", r"Users stopped under (?P<policy>.*?): (?P<counts>.*)\.", _users_stopped),
        Template("gist: once", r"The same tasks for everybody, and shown once: (?P<titles>.*)\.", _once),
        Template(
            "gist: lowest",
            rf"(?P<policy>.*) gives most to who has least: a lowest level of (?P<level>{PERCENT})\.",
            _gives_most,
        ),
        Template(
            "gist: sum",
            rf"(?P<policy>.*) makes most of the cluster: a sum of dominant shares of (?P<total>{NUM}?)\.",
            _makes_most,
        ),
        Template("gist: all the same", r"All policies give the same (?P<what>.*)\.", _all_same),
        Template("gist: owed", r"Guarantees that cannot be met: (?P<owed>.*)\.", _owed),
        Template("gist: whole tasks", re.escape(_plain(contents.UNPRICED)),
                 lambda case: None if case.whole else "tasks are divisible"),
        Template("gist: refused", r"(?P<policy>\S+) gave no answer: (?P<why>.*)\.", _refused),
    )
)  # fmt: skip


def _tile(case: Paged, label: str, value: str) -> str | None:
    document, world = case.document, case.world
    text = value.replace(",", "")
    if label.partition(",")[0] == "users short":
        if (", besides the unplaced" in label) != bool(case.out):
            return f"{len(case.out)} fit nowhere"
        return None if text == f"{len(case.short)} of {world.n}" else f"{len(case.short)}"
    if label == "of what is asked for is met":
        return None if _percent(text, case.demand_met(case.tasks)) else "another part"
    if label == "users":
        return None if int(text) == world.n else f"{world.n}"
    if label.startswith("lowest level, "):
        return None if _percent(text, document["measures"][0]["lowest"]) else "another level"
    if label.endswith(" to buy"):
        return None if label == f"more {document['advice']['to_buy'][0]['name']} to buy" else "something else"
    if label in ("machine", "machines"):
        return None if int(text) == sum(count for _, count in world.classes) else "another number"
    if match := re.fullmatch(r"of (\S+) used", label):
        parts = [row["utilization"] for row in document["comparison"]["allocations"][0]["resources"]]
        j = world.resources.index(match[1])
        return None if _percent(text, parts[j]) and parts[j] == max(parts) else f"{parts}"
    return f"no judge of {label!r}"


def judged(instance: Instance, policy: str, whole: bool, chance: random.Random) -> list[str]:
    """Make the page and return what is false of it."""
    policies = list(dict.fromkeys([policy, *chance.sample(("drf", "asset", "ceei", "utilitarian"), 2)]))
    page = report(instance, policies, integer=whole)
    document = page.document
    try:
        case = Paged(instance, policies, whole, document, page.html)
    except DrfoptError as error:
        return [f"no answer, but a page: {error}"]
    wrong: list[str] = []
    found = _numbers(case)
    while True:
        try:
            name, fault = next(found)
        except StopIteration:
            break
        wrong += BOOK.told(name, fault)
    said = [contents.verdict(document), *contents.gist(document)]
    body = _plain(page.html)
    for text in map(_plain, said):
        wrong += BOOK.told("on the page", None if text in body else f"{text!r} is not on the page")
    wrong += BOOK.judged(case, map(_plain, said))
    for label, value in contents.tiles(document):
        kind = re.sub(r"r\d|c\d|gpu", "…", label).partition(", ")[0]
        wrong += [
            f"{label} {_plain(value)}: {w}" for w in BOOK.told(f"tile: {kind}", _tile(case, label, _plain(value)))
        ]
    return wrong
