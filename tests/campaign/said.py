"""Every sentence and number of `explain`, `price` and the advice below a division, judged by doing what it says.

``python tests/campaign/said.py --count 200 --seed 1`` draws so many instances of every family, asks all three of each,
and judges every line by a row of `TEMPLATES`: the cluster is changed as the line says and divided again, in fractions
where that can be, and what is promised is compared with what comes.  ``--only FAMILY NUMBER`` prints one instance;
``--families NAMES`` draws of those.  A line that no template knows is a fault.
"""

import argparse
import itertools
import math
import random
import re
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # as a script too

from kinds import Kind, drawn_of
from said_notes import NOTES
from said_prices import NUMBERS, PRICED
from said_users import ROWS, TEMPLATES
from said_world import Template, Unjudged, World, matched, unit_of

from drfopt import DrfoptError, Instance, solve
from drfopt.planning.advice import advise
from drfopt.planning.explaining.explanation import explain
from drfopt.planning.pricing.unit_price import price

__all__ = ["FAMILIES", "Line", "drawn", "judged", "lines", "main"]

ORGANISED = "guarantees ceilings tiers last excluded group groups weights limits types machines devices"
PLAIN = "weights limits types machines"
LEXIMIN = ("drf", "asset", "tasks", "single:r0", "tsf")
SERVED = "weights excluded limits devices"

FAMILIES: dict[str, Kind] = {
    **{policy: Kind("", f"{PLAIN} each" if policy in ("drf", "asset") else PLAIN, (policy,)) for policy in LEXIMIN},
    **{f"{policy}, machines": Kind("machines", PLAIN.replace("types ", ""), (policy,)) for policy in LEXIMIN},
    **{f"{policy}, organised": Kind("", ORGANISED, (policy,)) for policy in LEXIMIN},
    **{policy: Kind("", f"{PLAIN} devices", (policy,)) for policy in ("ceei", "alpha:2", "utilitarian", "throughput")},
    **{
        f"{policy}, organised": Kind("guarantees", ORGANISED, (policy,))
        for policy in ("ceei", "alpha:2", "utilitarian", "throughput")
    },
    "per-server": Kind("machines", SERVED, ("per-server",)),
}
"""What an instance of a family always has, what it may have, and under which policy."""

MODES = ("divisible", "divisible", "exact", "whole")
LONGEST = 30
"""Seconds for one instance."""

NEAR = 4e-6
"""Relative distance of a number in six digits from what it stands for, with room for floats."""

TINY = Fraction(1, 10**9)
"""Part of an amount at which slopes are taken, in fractions."""


class Hangs(BaseException):
    """It takes too long."""


class Line(NamedTuple):
    """One thing that is said: by whom, of which user, which template it is of, in words, and what is wrong with it."""

    source: str
    template: str
    text: str
    wrong: str | None


def drawn(family: str, number: int) -> tuple[Instance, str, str] | None:
    """Return an instance of a family, its policy and how it is divided, or None where none was drawn."""
    chance = random.Random(f"said {family}/{number}")
    found = drawn_of(FAMILIES[family], chance)
    return None if found is None else (*found, chance.choice(MODES))


def lines(instance: Instance, policy: str, mode: str) -> Iterator[Line]:
    """Yield all that is said of an instance, judged."""
    world = World(instance, policy, mode)
    if mode != "exact":
        said = explain(instance, policy, integer=world.whole, time_limit=5)
        world.said["users"] = said.to_dict()["users"]
        if world.whole:
            world.now = said.allocation  # of several as good the one that is explained
        for i, (row, entry) in enumerate(zip(world.said["users"], said.users, strict=True)):
            for name, judge in ROWS.items():
                text = f"{row['name']}: {row}"
                yield _line("explain", f"row: {name}", text, lambda j=judge, i=i, r=row: j(world, i, r))
            yield _read("explain", entry.remedy, TEMPLATES, world, i)
        for note in said.sheet().notes:
            if not re.match(r"u\d+: ", note):
                yield _read("explain", note, NOTES, world, 0)
    how: dict[str, Any] = {"integer": True, "time_limit": 5} if world.whole else {"exact": mode == "exact"}
    found = solve(instance, policy, **how)
    for note in (*found.shortfall.sentences(), *advise(found).sentences()):
        yield _read("solve", note, NOTES, world, 0)
    if mode == "divisible":
        prices = price(instance, policy)
        document = prices.to_dict()
        sided = {(worth.kind, worth.name) for worth in prices.units if worth.two_sided}
        world.said |= {"units": document["units"], "unranged": prices._unranged, "two-sided": sided}
        for worth in document["units"]:
            for side in ("more", "less"):
                if worth[side] is None:
                    continue
                unit = unit_of(world, worth["kind"], worth["name"])
                for name, number in NUMBERS.items():
                    text = f"{side} of {worth['kind']} {worth['name']}: {worth[side]}"
                    values = worth[side]
                    more = side == "more"
                    yield _line("price", f"number: {name}", text, partial(number, world, unit, more, values))
        for note in prices.sheet().notes:
            yield _read("price", note, PRICED, world, 0)


def _line(source: str, template: str, text: str, judge: Callable[[], str]) -> Line:
    try:
        return Line(source, template, text, judge())
    except Unjudged as why:
        return Line(source, template, f"{text} [{why}]", None)
    except DrfoptError as error:
        return Line(source, template, f"{text} [{type(error).__name__}: {error}]", None)


def _read(source: str, text: str, table: tuple[Template, ...], world: World, i: int) -> Line:
    found = matched(text, table)
    if found is None:
        return Line(source, "?", text, "no template reads so")
    template, match = found
    return _line(source, template.name, f"{world.instance.users[i]}: {text}", lambda: template.judge(world, i, match))


def judged(family: str, number: int) -> list[Line] | str:
    """Return all lines that are said of an instance, or in one word why there are none."""
    drew = drawn(family, number)
    if drew is None:
        return "not drawn"

    def stop(*_: Any) -> None:
        raise Hangs

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONGEST)
    found: list[Line] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for line in lines(*drew):
                found.append(line)
    except DrfoptError as error:
        return found or f"refused: {type(error).__name__}"
    except (Hangs, Unjudged):
        return found or "not judged"
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        found.append(Line("fault", "fault", f"{place.filename}:{place.lineno}", f"{type(error).__name__}: {error}"))
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return found


def main() -> int:
    """Judge some and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20, help="instances of each family")
    parser.add_argument("--seed", type=int, default=0, help="the first number, in hundreds of thousands")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=math.inf, help="end after so much of CPU time")
    parser.add_argument("--families", nargs="+", choices=list(FAMILIES), default=list(FAMILIES))
    parser.add_argument("--only", nargs=2, metavar=("FAMILY", "NUMBER"), help="print this instance and its lines")
    parser.add_argument("--unjudged", action="store_true", help="print why lines are not judged, too")
    asked = parser.parse_args()
    if asked.only:
        print(*(drawn(asked.only[0], int(asked.only[1])) or ("none",)))
        found = judged(asked.only[0], int(asked.only[1]))
        print(found if isinstance(found, str) else "\n".join(f"{line.wrong!r:40} {line}" for line in found))
        return 0
    count: dict[str, Counter] = {}
    came: Counter = Counter()
    why: Counter = Counter()
    first = asked.seed * 100_000 + asked.first
    each = itertools.product(range(first, first + asked.count), asked.families)
    for number, family in itertools.takewhile(lambda _: time.process_time() < asked.seconds, each):
        found = judged(family, number)
        came[family, found if isinstance(found, str) else "said"] += 1
        for line in [] if isinstance(found, str) else found:
            word = "not judged" if line.wrong is None else "wrong" if line.wrong else "true"
            count.setdefault(f"{line.source}, {line.template}", Counter())[word] += 1
            if line.wrong:
                print(f"{family!r} {number} {line.source}, {line.template}: {line.text[:230]}")
                print(f"    -> {line.wrong[:230]}", flush=True)
            if line.wrong is None:
                why[f"{line.source}, {line.template}", line.text.rpartition("[")[2][:90]] += 1
    print(f"{'':40} {'true':>8} {'wrong':>8} {'not judged':>10}")
    for name, c in sorted(count.items()):
        print(f"{name:40} {c['true']:8} {c['wrong']:8} {c['not judged']:10}")
    total = sum(count.values(), Counter())
    print(f"{'all':40} {total['true']:8} {total['wrong']:8} {total['not judged']:10}")
    if asked.unjudged:
        print(*(f"    {name}: {n} {reason}" for (name, reason), n in why.most_common(60)), sep="\n")
    for (family, word), n in sorted(came.items()):
        if word != "said":
            print(f"    {family}: {word} {n}")
    print(f"{time.process_time():.0f} s of CPU")
    return int(bool(total["wrong"]))


if __name__ == "__main__":
    sys.exit(main())
