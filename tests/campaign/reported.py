"""Every sentence of `compare`, `report`, `crosscheck`, `audit`, `search`, `schedule` and `simulate`, judged on random
instances.

``python tests/campaign/reported.py --count 1000 --seed 1`` judges what every command says of so many instances,
``--only audit`` that of one command, ``--show audit 17`` prints an instance and what is false of what is said.
"""

import argparse
import contextlib
import random
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # as a script too

import kinds
import said_by_audit
import said_by_compare
import said_by_crosscheck
import said_by_report
import said_by_schedule
import said_by_search
import said_by_simulate
from sayings import Book
from world import TooLarge

from drfopt import DrfoptError, Instance

__all__ = ["COMMANDS", "Drawn", "drawn", "main", "run"]

POLICIES = (
    *("drf", "drf", "drf", "asset", "tasks", "tsf", "single:r0", "ceei", "ceei", "utilitarian"),
    *("throughput", "alpha:2", "alpha:0.5", "per-server"),
)
LONGEST = 40
"""Seconds after which an instance of a few users is not judged."""


class Drawn(NamedTuple):
    """An instance, the policy and the kind of tasks it is asked about, and chance for the judge."""

    instance: Instance
    policy: str
    whole: bool
    chance: random.Random


def drawn(seed: int, number: int) -> Drawn:
    """Return the instance of that number."""
    chance = random.Random(f"said {seed}/{number}")
    while True:
        name = chance.choice(list(kinds.KINDS))
        if (one := kinds.drawn(name, chance.randrange(10**9))) is None:
            continue
        instance, policy = one
        whole = chance.random() < 0.4
        if chance.random() < 0.6:
            policy = chance.choice(POLICIES)
        return Drawn(instance, policy, whole, chance)


class Command(NamedTuple):
    """What a command says, and how it is judged."""

    book: Book
    judged: Callable[..., list[str]]


COMMANDS = {
    name: Command(module.BOOK, module.judged)
    for name, module in {
        "compare": said_by_compare,
        "audit": said_by_audit,
        "schedule": said_by_schedule,
        "simulate": said_by_simulate,
        "crosscheck": said_by_crosscheck,
        "report": said_by_report,
        "search": said_by_search,
    }.items()
}


class Hangs(BaseException):
    """It takes too long; no handler of errors catches it."""


@contextlib.contextmanager
def _bounded(seconds: int) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise Hangs

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run(command: str, seed: int, number: int) -> tuple[str, list[str]]:
    """Return ``judged``, ``false``, ``refused``, ``not judged`` or ``fault``, and what is false."""
    asked = drawn(seed, number)
    try:
        with _bounded(LONGEST), warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            wrong = COMMANDS[command].judged(asked.instance, asked.policy, asked.whole, asked.chance)
    except DrfoptError as error:
        return "refused", [str(error)]
    except TooLarge:
        return "not judged", []
    except Hangs:
        return "not judged", ["it takes too long"]
    except Exception as error:
        return "fault", [f"{error!r}\n{traceback.format_exc()}"]
    return ("false" if wrong else "judged"), wrong


def main() -> int:
    """Judge some and print counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=list(COMMANDS), default=list(COMMANDS))
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of CPU, for each command")
    parser.add_argument("--show", nargs=2, help="a command and a number")
    asked = parser.parse_args()
    if asked.show:
        command, number = asked.show[0], int(asked.show[1])
        print(drawn(asked.seed, number).instance.parts(), drawn(asked.seed, number)[1:3])
        word, wrong = run(command, asked.seed, number)
        print(word, *wrong, sep="\n")
        return 0
    bad, stopped = 0, list[int]()
    # Who stops it early is told what there is until then.
    signal.signal(signal.SIGTERM, lambda number, _: stopped.append(number))
    for command in asked.only:
        words: Counter = Counter()
        begun = time.process_time()
        for number in range(asked.first, asked.first + asked.count):
            if stopped or time.process_time() - begun > asked.seconds:
                break
            word, wrong = run(command, asked.seed, number)
            words[word] += 1
            if word in ("false", "fault"):
                one = drawn(asked.seed, number)
                print(
                    command, number, one.policy, "whole" if one.whole else "divisible", *wrong, sep="\n    ", flush=True
                )
        book = COMMANDS[command].book
        print(
            f"{command}: {dict(words)}, {sum(book.seen.values())} sayings, {time.process_time() - begun:.0f} s of CPU"
        )
        print("   ", dict(sorted(book.seen.items())))
        print("    false:", dict(book.false))
        bad += words["false"] + words["fault"]
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
