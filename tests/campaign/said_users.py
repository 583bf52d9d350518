"""What `explain` says of a user, in its row and in its sentence, and who judges it."""

import itertools
import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from said_world import (
    TINY,
    Template,
    Unjudged,
    World,
    amount_of,
    as_number,
    cell_of,
    near,
    no_less,
    numbers,
    slope,
    stops_of,
    true_by_itself,
    unit_of,
    with_amount,
)

from drfopt import Instance
from drfopt.planning.changes import changed

__all__ = ["ROWS", "TEMPLATES", "at_ceiling", "said_stops"]


def rises(world: World, changes: list[str], i: int) -> str:
    """Return that a user has more after changes that are said to give it none."""
    after, now = world.had(changes, i), float(world.tasks[i])
    return f"{changes} give it {after:.9g}" if after > now * (1 + 2e-9) + 1e-12 else ""


def gives(world: World, changes: list[str], i: int, after: str, now: str | None, will: str = "would") -> str:
    """Return what is wrong with 'so many tasks instead of so many' after changes."""
    if now is not None and not near(now, world.tasks[i]) and not world.sums:
        return f"it has {float(world.tasks[i]):.9g}"
    if world.sums:
        return gives_in_sums(world, changes, i, as_number(after), will)
    there = world.had(changes, i)
    if world.whole and not near(after, there):
        raise Unjudged("of whole tasks another division may be as good")
    return "" if near(after, there) and will == "would" else f"{changes} give it {there:.9g}"


def gives_in_sums(world: World, changes: list[str], i: int, tasks: float, will: str) -> str:
    """Return what is wrong with what a user would, or could, have where a sum decides."""
    if world.whole:
        raise Unjudged("sums of whole tasks leave a choice")
    if not world.as_good_with(changes, i, tasks):
        return f"with {tasks} after {changes} the sum is smaller"
    if world.as_good_with(changes, i, tasks * (1 + 1e-3)):
        return f"after {changes} it could have more"
    rules = world.instance.organisation
    if will == "would" and rules is not None and any(rules.guarantees[i].values()):
        raise Unjudged("what is promised is owed, and a lower limit would lower it")
    must = not world.as_good_without(changes, i, tasks)
    return "" if must is (will == "would") or will == "could" else f"after {changes} it need not have {tasks}"


def said_of_limit(world: World, i: int, m: re.Match) -> str:
    user, end, limit = world.instance.users[i], as_number(m["end"]), float(world.instance.limits[i])
    if not near(m["limit"], limit):
        return f"its limit is {limit}"
    none = world.had([f"set-limit {user}=none"], i)
    for part in (0.3, 0.9, 1 - 1e-5):
        limit_there = Fraction(limit) + (Fraction(end) - Fraction(limit)) * Fraction(part)
        there = world.had([f"set-limit {user}={limit_there}"], i)
        if abs(there - float(limit_there)) > 1e-6 * there:
            return f"with a limit of {float(limit_there)} it has {there:.9g}"
    if not m["least"] and not near(m["end"], none, 1.1e-5):
        return f"without one it has {none:.9g}"
    return ""


def without_limit(world: World, i: int, m: re.Match) -> str:
    user = world.instance.users[i]
    asked = world.instance.max_tasks[i]
    if asked is not None and not near(m["limit"], float(asked)):
        return f"its limit is {asked}"
    return gives(world, [f"set-limit {user}=none"], i, m["after"], None, m["will"])


def same_point(world: World, i: int, m: re.Match) -> str:
    user = world.instance.users[i]
    if m["what"] == "limit":
        return rises(world, [f"set-limit {user}=none"], i)
    held = list(world.rules.ceilings[i])
    return next(filter(None, (rises(world, [f"set-ceiling {user}.{r}=none"], i) for r in held)), "") or rises(
        world, [f"set-ceiling {user}.{r}=none" for r in held], i
    )


def no_larger(world: World, i: int, m: re.Match) -> str:
    user = world.instance.users[i]
    changes = (
        [f"set-limit {user}=none"]
        if m["what"] == "limit"
        else [f"set-ceiling {user}.{r}=none" for r in world.rules.ceilings[i]]
    )
    if world.whole:
        raise Unjudged("sums of whole tasks leave a choice")
    return "" if no_less(world.worth(world.now), world.worth(world.after(changes))) else "the sum is larger"


def without_ceiling(world: World, i: int, m: re.Match) -> str:
    user, resources = world.instance.users[i], list(world.rules.ceilings[i])
    names = m["of"].split(" and ") if m["of"] else resources
    if not m["of"] and len(resources) != 1:
        return "it has several ceilings"
    return gives(world, [f"set-ceiling {user}.{r}=none" for r in names], i, m["after"], m["now"], m["will"])


def more_gives(world: World, i: int, m: re.Match) -> str:
    name, n = m["what"], Fraction(m["n"])
    there = amount_of(world, name)
    if not near(m["there"], there):
        return f"there is {there}"
    if wrong := gives(world, [f"add {n}*{name}"], i, m["after"], m["now"]):
        return wrong
    if m["after"] == m["now"]:
        return "it prints no change"
    end = 10.0 * there if "times" in m["end"] else as_number(m["end"])
    before = stops_of(world.now)
    inside = [there + (end - there) * part for part in (1e-4, 0.35, 0.7, 1 - 2e-5)]
    found = [stops_of(world.divided(with_amount(world, name, amount))) for amount in inside]
    for a, b in itertools.pairwise(found):
        if a != b:
            return f"what stops whom changes between: {a} and {b}"
    if m["how"] == "stays so" and found[0] != before:
        return f"what stops whom is {before} and then {found[0]}"
    if m["how"] != "stays so" and found[0] == before:
        return f"what stops whom does not change at once: {before}"
    if "times" in m["end"]:
        return ""
    return ""  # `price` says the same, and there it is looked at


def begins(world: World, i: int, m: re.Match) -> str:
    name = m["what"]
    kind = "machine" if world.instance.machines is not None else "resource"
    found = slope(world, unit_of(world, kind, name), True, lambda a, times: a.tasks[i] / times)
    return "" if near(m["slope"], float(found), 6e-4) else f"it begins to give it {float(found):.9g}"


def nothing_raises(world: World, i: int, m: re.Match) -> str:
    return any_unit_raises(world, i) or everything_raises(world, i, 0.0)


def cluster_in_vain(world: World, i: int, m: re.Match) -> str:
    return nothing_raises(world, i, m) or said_stops(world, i, m["stops"].split(", "))


def any_unit_raises(world: World, i: int) -> str:
    """Return that a little more of one thing raises a user."""
    instance = world.instance
    kind = "machine" if instance.machines is not None else "resource"
    names = instance.machine_names if kind == "machine" else instance.resources
    for name in names:
        unit = unit_of(world, kind, name)
        if unit.now:
            found = float(slope(world, unit, True, lambda a, times: a.tasks[i] / times))
            if found * float(unit.now) > 1e-7 * max(float(world.tasks[i]), 1e-9):
                return f"a little more of {name} raises it, by {found:.9g} for each"
    return ""


def everything_raises(world: World, i: int, said: float) -> str:
    there = world.divided(changed(world.instance, [f"scale all={1 + TINY}"]))
    found = float((numbers(there)[i] - world.tasks[i]) / (100 * TINY))
    return "" if near(said, found, 6e-4, 1e-6 * float(world.tasks[i])) else f"1 % of everything is worth {found:.9g}"


def together(world: World, i: int, m: re.Match) -> str:
    return any_unit_raises(world, i) or everything_raises(world, i, as_number(m["slope"]))


def tried_in_vain(world: World, i: int, m: re.Match) -> str:
    for change in filter(None, (m["vain"] or "").split(" or ")):
        if world.sums:
            if world.whole or world.now.broken:
                raise Unjudged("sums of whole tasks, and guarantees that do not fit, leave a choice")
            now = float(world.tasks[i])
            if now and not world.as_good_without([change], i, now * 1.01):
                return f"{change} raises it"
            if world.as_good_with([change], i, max(now * 1.01, 1e-3)) and not no_less(
                world.worth(world.now), world.worth(world.after([change]))
            ):
                return f"{change} could raise it"
        elif wrong := rises(world, [change], i):
            return wrong
    for change in filter(None, (m["even"] or "").split(" or ")):
        if not no_less(world.worth(world.now), world.worth(world.after([change]))):
            return f"with {change} the sum is larger"
    return said_stops(world, i, m["stops"].split(", "))


def whole_in_vain(world: World, i: int, m: re.Match) -> str:
    """Return that as much as was tried gives a user another task."""
    names = m["stops"].split(", ")
    if wrong := said_stops(world, i, names):
        return wrong
    return next(filter(None, (rises(world, one.split(", "), i) for one in m["vain"].split(" or "))), "")


def said_stops(world: World, i: int, names: list[str]) -> str:
    """Return which of what is said to stop a user does not: not used up, not needed, or not open to it."""
    filled: set[tuple[int, int]] | None = None
    for name in names:
        if name == "a promise to others":
            continue
        if match := re.fullmatch(r"(.+) ceiling of (.+)", name):
            if wrong := ceiling_stops(world, i, match[1], match[2]):
                return wrong
            continue
        if match := re.fullmatch(r"(.+) weight of 0", name):
            continue
        k, j = cell_of(world, name)
        if not any(demand[j] and fits[k] for demand, _, fits, _ in world.kinds(i)):
            return f"{name} is nothing that it needs where it may run"
        if world.whole:
            continue
        if world.sums:
            raise Unjudged("sums leave a choice")
        filled = filled if filled is not None else world.filled_now
        if (k, j) not in filled:
            return f"{name} is not used up"
    return ""


def ceiling_stops(world: World, i: int, group: str, resource: str) -> str:
    """Return what is wrong with a group's ceiling as what stops a user."""
    rules, instance = world.rules, world.instance
    one = next((g for g in rules.groups if g.name == group), None)
    if one is None or resource not in one.ceiling:
        return f"there is no ceiling of {resource} of {group}"
    if not f"{rules.paths[i]}/".startswith(f"{group}/"):
        return f"it is not in {group}"
    j = instance.resources.index(resource)
    if not any(demand[j] for demand, *_ in world.kinds(i)):
        return f"it needs no {resource}"
    if world.whole or world.sums:
        return ""
    inside = [u for u, path in enumerate(rules.paths) if f"{path}/".startswith(f"{group}/")]
    used = sum(float(world.tasks[u]) * instance.demands[u, j] for u in inside)
    return "" if used >= float(one.ceiling[resource]) * (1 - 1e-7) else f"the ceiling of {group} is not full"


def holds(world: World, i: int, m: re.Match) -> str:
    return said_stops(world, i, m["stops"].split(", "))


def change_gives(world: World, i: int, m: re.Match) -> str:
    changes = re.split(r", (?=set-|add )", m["change"])
    if m["after"] == m["now"]:
        return "it prints no change"
    return gives(world, changes, i, m["after"], m["now"], m["will"])


def profitable(world: World, i: int, m: re.Match) -> str:
    if world.sums:
        user = world.instance.users[i]
        before, after = world.worth(world.now), world.worth(world.after([f"set-limit {user}=none"]))
        return "the sum is no larger without it" if no_less(before, after) else ""
    return "" if rises(world, [f"set-limit {world.instance.users[i]}=none"], i) else "it has no more without it"


def helpless(world: World, i: int) -> bool:
    return not any(any(fits) for _, _, fits, _ in world.kinds(i)) or bool(world.instance.unplaced(world.whole)[i])


def nowhere(world: World, i: int, m: re.Match) -> str:
    without = changed(world.instance, [f"set-limit {world.instance.users[i]}=none"])
    return "" if without.unplaced(world.whole)[i] else "it fits somewhere"


def zero_limit(world: World, i: int, m: re.Match) -> str:
    if world.instance.limits[i]:
        return "its limit is another"
    there = changed(world.instance, [f"set-limit {world.instance.users[i]}=1"])
    return "it fits nowhere" if there.unplaced(world.whole)[i] else ""


def all_run(world: World, i: int, m: re.Match) -> str:
    count = sum(kind.count for kind in world.instance.task_types[i])
    return "" if near(m["n"], float(world.tasks[i])) and near(m["n"], count) else f"{world.tasks[i]} of {count} run"


def placed_then(world: World, i: int, there: Instance, kind: str | None = None) -> str:
    """Return that a user runs nothing in a cluster that is said to let it in: alone there, whatever others have."""
    parts = there.parts()
    alone = {name: parts[name] for name in ("resources", "capacity", "machines")}
    row: Any = parts["demands"][i]
    if kind is not None:
        row = next([one] for t, one in enumerate(world.instance.task_types[i]) if kind in (one.name, str(t + 1)))
    eligible = None if there.machines is None else there.eligible[[i]]
    one = Instance([row], users=[there.users[i]], eligible=eligible, **alone)
    return "" if not one.unplaced(world.whole).any() else "it fits nowhere even then"


def add_some(world: World, i: int, m: re.Match) -> str:
    names = m["names"].split(" and ")
    if any(world.instance.capacity[world.instance.resources.index(name)] for name in names):
        return "there is some"
    there = changed(world.instance, [f"set-capacity {name}=1000" for name in names])
    return placed_then(world, i, there, m["kind"])


def pool_has_to(world: World, i: int, m: re.Match) -> str:
    needs = re.findall(r"(\S+) of (\S+) instead of (\S+?)(?= and |, for |$)", m["needs"])
    changes = [f"set-capacity {r}={amount}" for amount, r, _ in needs]
    return placed_then(world, i, changed(world.instance, changes), m["kind"]) or fewer_do(world, i, changes, m["kind"])


def machine_has_to(world: World, i: int, m: re.Match) -> str:
    name, text = m["name"], m["needs"]
    if " devices" in text:
        raise Unjudged("devices are counted")
    needs = re.findall(r"(\S+) of (\S+) instead of (\S+?)(?= and |, and |, for |$)", text)
    changes = [f"set-capacity {name}/{r}={amount}" for amount, r, _ in needs]
    there = changed(world.instance, changes)
    if "to be open" in text:
        there = Instance(**(there.parts() | {"eligible": np.ones_like(there.eligible)}))
    return placed_then(world, i, there, m["kind"]) or fewer_do(world, i, changes, m["kind"])


def fewer_do(world: World, i: int, changes: list[str], kind: str | None) -> str:
    """Return that a little less than what a cluster has to have would do."""
    for at, change in enumerate(changes):
        name, _, amount = change.removeprefix("set-capacity ").rpartition("=")
        less = [*changes[:at], f"set-capacity {name}={Fraction(amount) * (1 - TINY)}", *changes[at + 1 :]]
        if not placed_then(world, i, changed(world.instance, less), kind):
            return f"less of {name} would do"
    return ""


def open_it(world: World, i: int, m: re.Match) -> str:
    names = re.split(r", | or | and ", re.sub(r" and \d+ other classes", "", m["names"]))
    for name in names:
        if name not in world.instance.machine_names:
            return f"{name} is no class"
        k = world.instance.machine_names.index(name)
        open_to = np.array(world.instance.eligible)
        if open_to[i, k] and world.instance.task_types is None:
            return f"it may use {name}"
        open_to[i, k] = True
        if placed_then(world, i, Instance(**(world.instance.parts() | {"eligible": open_to})), m["kind"]):
            return f"it does not fit on {name}"
    return ""


def room_left(world: World, i: int, m: re.Match) -> str:
    """Return that there is no room for more of a user's tasks: with what all others have it could have no more."""
    if world.whole:
        raise Unjudged("whole tasks may be packed otherwise")
    filled = world.filled_now
    for demand, _, fits, _ in world.kinds(i):
        open_to = [k for k, fit in enumerate(fits) if fit]
        if any(not any(demand[j] and (k, j) in filled for j in range(world.instance.m)) for k in open_to):
            return ""
    return "nothing is left for it"


def of_sums(world: World, i: int, m: re.Match) -> str:
    if not world.sums:
        return "no sum decides"
    promises = world.rules is not None and world.rules.promises
    return "there are no promises" if "it nothing" in m[0] and not promises else ""


def at_guarantee(world: World, i: int, m: re.Match) -> str:
    if not world.sums:
        return "no sum decides"
    return ""


TEMPLATES: tuple[Template, ...] = (
    Template(
        "limit, nowhere",
        r"its limit is (?P<limit><N>), and its task fits on nothing open to it",
        nowhere,
    ),
    Template(
        "limit of 0",
        r"its limit is 0: raise it",
        zero_limit,
    ),
    Template(
        "all run",
        r"all of its (?P<n><N>) tasks? run",
        all_run,
    ),
    Template(
        "same point",
        r"its (?P<what>limit|ceiling) stops it, and something else does at the same point: a higher "
        r"(?:limit|one) alone does not help",
        same_point,
    ),
    Template(
        "limit, up to",
        r"raise its limit of (?P<limit><N>): it would have every task more that it allows, (?P<least>at "
        r"least )?up to (?P<end><N>)",
        said_of_limit,
    ),
    Template(
        "limit, profit",
        r"raise its limit of (?P<limit><N>): at the prices there are a task more is worth more than it "
        r"costs",
        profitable,
    ),
    Template(
        "no larger",
        r"its (?P<what>limit|ceiling) stops it, and the sum would be no larger without one",
        no_larger,
    ),
    Template(
        "limit, prices",
        r"its (?P<what>limit) stops it, and prices do at the same point: a higher limit alone does not "
        r"help",
        same_point,
    ),
    Template(
        "without limit",
        r"raise its limit of (?P<limit><N>): without one it (?P<will>would|could) have (?P<after><N>) "
        r"tasks?",
        without_limit,
    ),
    Template(
        "without ceiling",
        r"raise its ceiling(?: of (?P<of>.+?))?: without (?:one|that|these) it (?P<will>would|could) have "
        r"(?P<after><N>) tasks? instead of (?P<now><N>)",
        without_ceiling,
    ),
    Template(
        "more gives",
        r"(?P<n><N>) more of (?P<what>\S+)(?: machines)? \(now (?P<there><N>)\) would give it "
        r"(?P<after><N>) tasks? instead of (?P<now><N>); what stops whom (?P<how>stays so|changes at once,"
        r" and then stays so) up to (?P<end><N>|10 times as much)",
        more_gives,
    ),
    Template(
        "begins",
        r"more of (?P<what>\S+)(?: machines)? \(now (?P<there><N>)\) would begin to give it (?P<slope><N>)"
        r" tasks? for (?:each|a whole one: what it gives in all, 'drfopt whatif --add 1\*\S+' says)",
        begins,
    ),
    Template(
        "nothing raises",
        r"no little more of one thing, nor of everything, raises it by an amount to be seen",
        nothing_raises,
    ),
    Template(
        "ceiling beside the cluster",
        r"no little more of the cluster raises it by an amount to be seen: what stops it is (?P<stops>.+)",
        cluster_in_vain,
    ),
    Template(
        "together",
        r"several things run out together, and more of one alone does not help: 1 % more of everything "
        r"would begin to give it (?P<slope><N>) tasks?",
        together,
    ),
    Template(
        "untried",
        r"what would raise its tasks is found by dividing the cluster again: name the user",
        true_by_itself,
    ),
    Template(
        "tried in vain",
        r"(?:(?P<vain>(?:set-|add ).+?) would not raise it)?(?:, and )?(?:with (?P<even>.+?) the sum is no"
        r" larger)?: what stops it is (?P<stops>.+)",
        tried_in_vain,
    ),
    Template(
        "search",
        r"another of its tasks fits beside the others', and what is the best is not proven: give it more time",
        lambda world, i, m: "it is proven" if world.now.finished else "",
    ),
    Template(
        "whole in vain",
        r"what stops it is (?P<stops>.+); (?P<vain>(?:set-|add ).+) would not raise it",
        whole_in_vain,
    ),
    Template(
        "holds",
        r"what stops it is (?P<stops>[^;]+)",
        holds,
    ),
    Template(
        "change gives",
        r"(?P<change>(?:set-|add ).+?) (?P<will>would|could) give it (?P<after><N>) tasks? instead of "
        r"(?P<now><N>)",
        change_gives,
    ),
    Template(
        "unplaced, none",
        r"its task(?: (?P<kind>\S+))? needs (?P<names>.+), of which the cluster has none: add some(?:; its"
        r" ceiling of .*)?",
        add_some,
    ),
    Template(
        "unplaced, pool",
        r"the pool would have to have (?P<needs>.+?)(?:, for its task (?P<kind>\S+?))?(?:; its ceiling of "
        r".*)?",
        pool_has_to,
    ),
    Template(
        "unplaced, machine",
        r"a machine of (?P<name>\S+) would have to have (?P<needs>.+?)(?:, for its task "
        r"(?P<kind>\S+?))?(?:; (?:its ceiling of|it takes neither) .*)?",
        machine_has_to,
    ),
    Template(
        "unplaced, closed",
        r"its task(?: (?P<kind>\S+))? fits on (?P<names>.+), which it may not use: open one of them to "
        r"it(?:; its ceiling of .*)?",
        open_it,
    ),
    Template(
        "unplaced, device",
        r"its task(?: \S+)? takes neither a part of one device of .+ nor whole ones: ask for one or the "
        r"other(?:; its ceiling of .*)?",
        true_by_itself,
    ),
    Template(
        "notion",
        r"there is room for more of its tasks, and \S+ gives it none",
        room_left,
    ),
    Template(
        "efficiency",
        r"\S+ owes (?:nobody anything|it nothing beyond its guarantee|it nothing): (?:its tasks|more of "
        r"its tasks) come as long as they add the most to (?:the sum|the sum of its tier) for what they "
        r"take",
        of_sums,
    ),
    Template(
        "guarantee",
        r"it has what its guarantee is worth: a task more would add no more to the sum than what it takes "
        r"adds elsewhere",
        at_guarantee,
    ),
    Template(
        "not known",
        r"what would help is not known: .+",
        true_by_itself,
    ),
)

Row = Callable[[World, int, dict[str, Any]], str]


def row_tasks(world: World, i: int, row: dict[str, Any]) -> str:
    """Return that a table's tasks are not those of the division in fractions."""
    if world.sums:
        return ""
    if world.whole and row["tasks"] != float(world.tasks[i]):
        raise Unjudged("of whole tasks another division may be as good")
    off = abs(row["tasks"] - float(world.tasks[i]))
    return "" if off <= 1e-8 * max(1e-300, *map(float, world.tasks)) else f"it has {float(world.tasks[i]):.9g}"


def row_reason(world: World, i: int, row: dict[str, Any]) -> str:
    """Return what is wrong with why a user has no more."""
    instance, x, why = world.instance, row["tasks"], row["reason"]
    types = instance.task_types
    asked = instance.max_tasks[i] if types is None or types[i] is None else sum(kind.count for kind in types[i])
    asked = None if asked is None else math.floor(asked) if world.whole else asked
    met, placed = asked is not None and x >= float(asked) * (1 - 1e-9), not instance.unplaced(world.whole)[i]
    limit = float(instance.whole_limits[i]) if world.whole else float(instance.limits[i])
    if why == "unplaced":
        return "it runs" if x else "it fits somewhere" if placed else ""
    if why == "misfit":
        left = world.instance.type_fits.get(i) if world.whole and x else None
        return "" if left is not None and not left.any(axis=1).all() else "all its types fit"
    if why == "met":
        return "" if met else f"it asked for {asked}"
    if met and placed:
        return "it has all it asked for"
    if why == "limit":
        return "" if x >= limit * (1 - 1e-9) else f"its limit is {limit}"
    if why == "ceiling":
        return at_ceiling(world, i, x)
    return f"it is at its limit of {limit}" if x >= limit * (1 - 1e-9) and placed else ""


def at_ceiling(world: World, i: int, x: float) -> str:
    """Return that none of a user's own ceilings stops it."""
    most = world.rules.ceilings[i] if world.rules else {}
    for r, amount in most.items():
        j = world.instance.resources.index(r)
        demand = world.instance.exact_demands[i][j]
        if world.instance.task_types is not None and world.instance.task_types[i]:
            return ""
        if demand and (x + world.whole) * float(demand) >= float(amount) * (1 - 1e-9):
            return ""
    return "no ceiling of its own stops it"


def row_stops(world: World, i: int, row: dict[str, Any]) -> str:
    """Return what is wrong with what a row says stops a user."""
    if not row["stopped_by"]:
        return "nothing stops it" if row["reason"] == "capacity" and not world.whole else ""
    if len(set(row["stopped_by"])) < len(row["stopped_by"]):
        return "it is named twice"
    if world.sums:
        return ""
    return said_stops(world, i, row["stopped_by"]) or (
        unnamed(world, i, row["stopped_by"]) if row["reason"] == "capacity" else ""
    )


def unnamed(world: World, i: int, names: list[str]) -> str:
    """Return what is full at the level of a user, and full for good only there, and is not named; leximin alone."""
    if world.chosen.objective != "leximin" or world.whole or "organisation" in world.instance.features:
        return ""
    if not world.now.exact or float(world.tasks[i]) == 0:
        return ""
    full = set(stops_of(world.now)[i])
    missing, extra = full - set(names), set(names) - full
    if missing and world.instance.machines is None:
        return f"{sorted(missing)} are full at its level as well, and not named beside {names}"
    return f"{sorted(extra)} are not full at its level" if extra and full else ""


def row_others(world: World, i: int, row: dict[str, Any]) -> str:
    """Return that others are not as many, or not those, that are stopped by one of the same."""
    rows = world.said["users"]
    same = [r["name"] for r in rows if r is not row and set(r["stopped_by"]) & set(row["stopped_by"])]
    return "" if row["others"] == len(same) and row["shared_with"] == same else f"{same} are stopped there"


def row_alone(world: World, i: int, row: dict[str, Any]) -> str:
    """Return what is wrong with what a user would have alone: its part of every machine by weight."""
    if row["alone"] is None:
        return ""
    instance, said = world.instance, row["alone"]["tasks"]
    if world.whole and (instance.task_types is not None or instance.has_devices):
        return ""
    if instance.task_types is not None and instance.task_types[i] and instance.machines is not None:
        return ""
    weights = [w if isinstance(w, tuple) else (w,) * instance.m for w in instance.exact_weights]
    part = [weights[i][j] / sum(w[j] for w in weights) for j in range(instance.m)]
    total, demand = Fraction(0), instance.exact_demands[i]
    each = [list(instance.exact_capacity)] if instance.machines is None else instance.exact_machine_capacity
    for k, row_k in enumerate(each):
        count = 1 if instance.machines is None else int(instance.counts[k])
        if instance.fits is not None and not instance.fits[i, k]:
            continue
        one = min(part[j] * row_k[j] / d for j, d in enumerate(demand) if d)
        total += count * (one.__floor__() if world.whole else one)
    limit = instance.exact_limits[i]
    limit = limit.__floor__() if world.whole and limit is not None else limit
    total = total if limit is None else min(total, Fraction(limit))
    if not near(said, float(total)):
        return f"alone it has {float(total):.9g}"
    if total and row["gain"] is not None and abs(row["gain"] - (row["tasks"] / float(total) - 1)) > 1e-6:
        return "its gain is another"
    return ""


ROWS: dict[str, Row] = {
    "tasks": row_tasks,
    "reason": row_reason,
    "stopped by": row_stops,
    "with": row_others,
    "alone": row_alone,
}
"""Judges of what a row of `explain` says beside its sentence."""
