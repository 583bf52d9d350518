"""The command line of the campaigns that draw cases by seed and number, and judge each."""

import argparse
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

__all__ = ["judge_many"]


def judge_many(
    words: str | None,
    drawn: Callable[[int, int], Any],
    judged: Callable[[Any], tuple[str, str]],
    counted: Callable[[Any, str, str], str],
    printed: tuple[str, ...] = ("wrong",),
) -> int:
    """Judge some and print what came of them, `counted` by verdict and more; 1 where one is wrong."""
    parser = argparse.ArgumentParser(description=words)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="print this one and what comes of it")
    given = parser.parse_args()
    if given.only is not None:
        case = drawn(given.seed, given.only)
        print(case, *judged(case), sep="\n")
        return 0
    verdicts, said = Counter[tuple[str, str]](), Counter[str]()
    for at in range(given.first, given.first + given.count):
        case = drawn(given.seed, at)
        word, why = judged(case)
        verdicts[word, counted(case, word, why)] += 1
        said += case.said
        if word in printed:
            print(at, word, why, flush=True)
    print(*sorted(verdicts.items()), sep="\n")
    print(*(f"{count:8} {what}" for what, count in said.most_common()), sep="\n")
    print(f"{sum(said.values())} judged, {time.process_time():.0f} s of CPU")
    return int(any(word == "wrong" for word, _ in verdicts))
