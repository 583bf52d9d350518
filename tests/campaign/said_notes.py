"""The lines below the tables of `explain` and `solve`, and who judges them."""

import math
import re
from fractions import Fraction
from typing import Any

from said_users import TEMPLATES, at_ceiling, said_stops
from said_world import (
    N,
    Template,
    Unjudged,
    World,
    as_number,
    asked_of,
    judged_line,
    numbers,
    shares_of,
    slope,
    true_by_itself,
    unit_of,
)

from drfopt import Instance

__all__ = ["NOTES"]


def note_counts(world: World, i: int, m: re.Match) -> str:
    """Return that the counts of reasons do not add up."""
    counts = sum(int(n) for n in re.findall(r"(?:^|; )(\d+) ", m[0]))
    return "" if counts == world.instance.n else f"there are {world.instance.n} users"


def met_part(world: World, tasks: list[Any], instance: Instance) -> float | None:
    """Return the part of what is asked for that is met, in shares of a cluster."""
    asked, shares = asked_of(world), shares_of(instance)
    named = [i for i, a in enumerate(asked) if math.isfinite(a)]
    total = sum(float(shares[i]) * asked[i] for i in named)
    return sum(float(shares[i]) * min(float(tasks[i]), asked[i]) for i in named) / total if total else None


def short_of(world: World, tasks: list[Any]) -> list[int]:
    """Return who is placed and short."""
    gone = world.instance.unplaced(world.whole)
    pairs = enumerate(zip(asked_of(world), tasks, strict=True))
    return [i for i, (a, x) in pairs if not gone[i] and math.isfinite(a) and float(x) < a * (1 - 1e-9)]


def percents(text: str) -> float:
    return as_number(text.removesuffix("%").strip()) / 100


def about(printed: float, true: float | None, digits: float = 6e-3) -> bool:
    return true is not None and abs(printed - true) <= digits * abs(true) + 1e-9


def note_short(world: World, i: int, m: re.Match) -> str:
    if world.sums:
        raise Unjudged("sums leave a choice")
    short = short_of(world, world.tasks)
    if int(m["k"]) != len(short) or int(m["n"]) != world.instance.n:
        return f"{len(short)} are short"
    gone = int(world.instance.unplaced(world.whole).sum())
    if int(m["gone"] or 0) != gone:
        return f"{gone} are unplaced"
    met = met_part(world, world.tasks, world.instance)
    if (m["met"] is None) is not (met is None) or (m["met"] and not about(percents(m["met"]), met)):
        return f"{met} is met"
    if world.instance.task_types is not None:
        return ""
    asked = asked_of(world)
    for j, r in enumerate(world.instance.resources):
        lacks = sum((asked[u] - float(world.tasks[u])) * world.instance.demands[u, j] for u in short)
        printed = re.search(rf"(?:^|, )({N}) {re.escape(r)}(?:,|$)", m["amounts"])
        if lacks > 1e-9 and not (printed and about(as_number(printed[1]), lacks, 6e-4)):
            return f"{lacks:.6g} of {r} are missing"
    return ""


def note_one_short(world: World, i: int, m: re.Match) -> str:
    if world.sums:
        raise Unjudged("sums leave a choice")
    u = world.user(m["user"])
    x, asked = float(world.tasks[u]), asked_of(world)[u]
    if not (about(as_number(m["got"]), x, 6e-4) and about(as_number(m["asked"]), asked, 6e-4)):
        return f"it has {x} of {asked}"
    if not about(percents(m["met"]), x / asked):
        return f"{x / asked} is met"
    for text in f"{m['lack']} {m['resource']}{m['others']}".split(", "):
        lack, _, resource = text.partition(" ")
        own = (asked - x) * world.instance.demands[u, world.instance.resources.index(resource)]
        if world.instance.task_types is None and not about(as_number(lack), own, 6e-4):
            return f"it lacks {own:.6g} of {resource}"
    if m["own"]:
        return at_ceiling(world, u, x) if m["own"].startswith("its ceiling") else ""
    if m["rule"]:
        names = m["rule"].split(", ")
        return next(filter(None, (said_stops(world, u, [name]) for name in names if " more" not in name)), "")
    if m["where"] and not world.whole:
        for name in m["where"].split(", "):
            if name in world.instance.machine_names:
                k = world.instance.machine_names.index(name)
                filled = world.filled_now
                if not any(
                    fits[k] and any(d[q] and (k, q) in filled for q in range(world.instance.m))
                    for d, _, fits, _ in world.kinds(u)
                ):
                    return f"nothing stops it on {name}"
    return ""


def note_all_met(world: World, i: int, m: re.Match) -> str:
    short = short_of(world, world.tasks)
    gone = bool(world.instance.unplaced(world.whole).any())
    return f"{short} are short" if short else "" if gone is (m["who"] == "everybody else") else "somebody is unplaced"


def note_endless(world: World, i: int, m: re.Match) -> str:
    gone, asked = world.instance.unplaced(world.whole), asked_of(world)
    endless = [world.instance.users[u] for u, a in enumerate(asked) if math.isinf(a) and not gone[u]]
    if m["count"]:
        told = int(m["count"]), int(m["besides"] or 0)
        return "" if told == (len(endless), int(gone.sum())) else f"{endless} ask so, besides {int(gone.sum())}"
    if m["who"].split(" and ") != endless:
        return f"{endless} ask so"
    if m["stops"] and not world.sums:
        text = re.sub(r" and \d+ more$", "", m["stops"])
        for name in text.split(", "):
            if not any(not said_stops(world, world.user(u), [name]) for u in endless):
                return f"{name} stops none of them"
    return ""


def note_buy(world: World, i: int, m: re.Match) -> str:
    """Return what is wrong with what a purchase brings."""
    if world.sums:
        raise Unjudged("sums leave a choice")
    amount, name = as_number(m["n"]), m["what"]
    there = world.after([f"add {Fraction(m['n'].replace(',', ''))}*{name}"])
    tasks = numbers(there)
    if m["met"]:
        met, now = (met_part(world, one, world.instance) for one in (tasks, world.tasks))
        if not (about(percents(m["met"]), met) and about(percents(m["instead"]), now)):
            return f"{met} is met instead of {now}"
        if (int(m["short"]), int(m["before"])) != (len(short_of(world, tasks)), len(short_of(world, world.tasks))):
            return f"{short_of(world, tasks)} are short instead of {short_of(world, world.tasks)}"
        if m["own"] and not about(percents(m["own"]), met_part(world, tasks, there.instance)):
            return f"{met_part(world, tasks, there.instance)} in those of the larger one"
    for user, after, before in re.findall(rf"(\S+) ({N}) tasks? instead of ({N})", m["winners"] or ""):
        u = world.user(user)
        had = float(world.tasks[u])
        if not (about(as_number(after), float(tasks[u]), 6e-4) and about(as_number(before), had, 6e-4)):
            return f"{user} has {tasks[u]} instead of {world.tasks[u]}"
    lose = sum(float(a) < float(b) * (1 - 1e-8) for a, b in zip(tasks, world.tasks, strict=True))
    return "" if lose == int(m["lose"] or 0) else f"{lose} lose by {amount} {name}"


def note_one_more(world: World, i: int, m: re.Match) -> str:
    if world.sums:
        raise Unjudged("sums leave a choice")
    for user, gain in re.findall(rf"(u\d+) ({N})(?=,| and|$)", m["each"]):
        u = world.user(user)
        if m["begins"]:
            unit = unit_of(world, "machine", m["what"])
            found = float(slope(world, unit, True, lambda a, times, u=u: a.tasks[u] / times))
        else:
            found = world.had([f"add 1*{m['what']}"], u) - float(world.tasks[u])
        if not about(as_number(gain), found):
            return f"it brings {user} {found:.6g}"
    return ""


def note_nothing(world: World, i: int, m: re.Match) -> str:
    """Return that ten times the cluster helps who is short by rules, or comes after somebody."""
    there = world.after(["scale all=10"])
    short = short_of(world, world.tasks)
    if "is served before" in m[0]:
        short = [world.user(m["last"])]
    for u in short:
        if float(numbers(there)[u]) > float(world.tasks[u]) * (1 + 1e-8) + 1e-12:
            return f"ten times the cluster gives {world.instance.users[u]} {float(numbers(there)[u]):.6g}"
    return ""


def note_unplaced(world: World, i: int, m: re.Match) -> str:
    u = world.user(m["user"])
    _, why = judged_line(world, u, m["why"], TEMPLATES)
    return why if world.instance.unplaced(world.whole)[u] else "it fits somewhere"


def note_of_user(world: World, i: int, m: re.Match) -> str:
    return judged_line(world, world.user(m["user"]), m["why"], TEMPLATES)[1]


def note_broken(world: World, i: int, m: re.Match) -> str:
    """Return that a guarantee that is said not to be met is met."""
    for user, gets, promised, r in re.findall(rf"(u\d+) has ({N}) of ({N}) (\S+?)(?=,|$|;)", m["each"]):
        u, j = world.user(user), world.instance.resources.index(r)
        used = float(world.now.usage[u, j])
        if not about(as_number(gets), used, 6e-4) or used >= as_number(promised) * (1 - 1e-9):
            return f"{user} has {used} of {r}"
    return ""


def note_left_out(world: World, i: int, m: re.Match) -> str:
    """Return that others are the types of which no task fits anywhere, of users who have one that does."""
    should, pool = [], world.rooms[0] if world.instance.machines is None else None
    for u, user in enumerate(world.instance.users):
        kinds = (world.instance.task_types or {u: None})[u] or ()
        rows = [
            any(fits) if pool is None else all(d <= c for d, c in zip(demand, pool, strict=True))
            for demand, _, fits, _ in world.kinds(u)
        ]
        if kinds and any(rows):
            should += [f"task {k.name or t + 1} of {user}" for t, k in enumerate(kinds) if not rows[t]]
    return "" if m["names"].split(", ") == should else f"{should} are left out"


NOTES: tuple[Template, ...] = (
    Template(
        "counts",
        r"(?:\d+ (?:stopped by|with all|at their|left where|with nothing left|unplaced)[^;]*(?:; )?)+",
        note_counts,
    ),
    Template(
        "alone",
        r"alone: tasks in its part of every machine by weight, if it were its own; gain: above that(?:; "
        r"devices are pooled in it for who has several task types)?",
        true_by_itself,
    ),
    Template(
        "means",
        r"a task of who has several types counts as the mean of them in levels.*",
        true_by_itself,
    ),
    Template(
        "unproven",
        r"not proven the best, so that changes may be those of the search.*",
        true_by_itself,
    ),
    Template(
        "pooled",
        r"devices are pooled here; how much of them whole tasks lose: --fragmentation",
        true_by_itself,
    ),
    Template(
        "broken",
        r"guarantees that (?:cannot be met|are not met here): (?P<each>.+)",
        note_broken,
    ),
    Template(
        "of a user",
        r"(?P<user>u\d+): (?P<why>.+)",
        note_of_user,
    ),
    Template(
        "--json",
        r"a sentence on each of the \d+ users: --json, or name the user",
        true_by_itself,
    ),
    Template(
        "short",
        r"short: (?P<k>\d+) of (?P<n>\d+) users?(?:, besides (?P<gone>\d+) unplaced,)? (?:has less than "
        r"it|have less than they) asked for, (?P<amounts>.+) in all(?:; (?P<met><N> %) of what is asked "
        r"for is met \(in dominant shares\))?",
        note_short,
    ),
    Template(
        "one short",
        r"  (?P<user>u\d+): (?P<got><N>) of (?P<asked><N>) tasks? \((?P<met><N> %)\), short of "
        r"(?P<lack><N>) (?P<resource>[^\s,]+)(?P<others>(?:, <N> [^\s,]+)*)(?: and \d+ more)?"
        r"(?:(?:, stopped)? on (?P<where>[^,]+(?:, c\d+)*(?: and \d+ more)?))?"
        r"(?:, stopped by a ceiling: (?P<rule>.+))?(?:, which (?P<own>.+) does not let it have)?",
        note_one_short,
    ),
    Template(
        "all met",
        r"(?P<who>everybody|everybody else) has all it asked for",
        note_all_met,
    ),
    Template(
        "endless",
        r"(?:(?P<count>\d+) users(?:, besides (?P<besides>\d+) unplaced,)? ask|"
        r"(?P<who>.+?) asks?) for tasks without an end(?:: stopped by "
        r"(?P<stops>(?!its own|their own).+?))?(?:, \d+ by (?:its|their) own ceilings?)?(?:: (?:\d+ "
        r")?stopped by (?:its|their) own ceilings?)?",
        note_endless,
    ),
    Template(
        "to buy",
        r"to buy: (?P<n><N>) more (?P<what>\S+?)(?: \(now <N>\))?: (?:(?P<met><N> %) of what is asked for "
        r"is met instead of (?P<instead><N> %), (?P<short>\d+) short instead of (?P<before>\d+)(?: \(in "
        r"shares of the cluster as it is; (?P<own><N> %) in those of the larger one\))?|(?P<winners>.+?));"
        r" (?:nobody loses|(?P<lose>\d+) loses? by it)",
        note_buy,
    ),
    Template(
        "one more",
        r"one more (?P<what>\S+) (?P<begins>begins to )?brings?(?:, in tasks(?: for a whole one)?): "
        r"(?P<each>.+?)(?: \(drfopt price\))?",
        note_one_more,
    ),
    Template(
        "buy nothing, rules",
        r"to buy: nothing: ceilings and limits hold those who are short(?: \(.+\))?",
        note_nothing,
    ),
    Template(
        "buy nothing, turns",
        r"to buy: nothing: (?P<first>\S+) is served before (?P<last>\S+), asks for tasks without an end "
        r"and leaves nothing that \S+ could use, whatever is bought: give .+",
        note_nothing,
    ),
    Template(
        "buy by size",
        r"to buy: 'drfopt (?:size|whatif|price)' .+",
        true_by_itself,
    ),
    Template(
        "unplaced",
        r"unplaced: (?P<user>u\d+): (?P<why>.+)",
        note_unplaced,
    ),
    Template(
        "left out",
        r"types left out \(a task fits on nothing open to it\): (?P<names>.*)",
        note_left_out,
    ),
    Template(
        "unplaced more",
        r"unplaced: \d+ more",
        true_by_itself,
    ),
)
"""Lines below the tables of `explain` and `solve`."""
