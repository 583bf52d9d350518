"""A campaign of random degenerate instances: every answer beside an oracle that shares no code with the engines.

``python tests/campaign/campaign.py --count 1000 --seed 1`` draws instances number 0 to 999 of seed 1, solves each, and
prints what came of them by kind.  ``--first N`` begins at another number, ``--only N`` prints one instance.  Answers
that are wrong, faults, and what takes more than a minute of CPU make the exit status 1.  ``--markets`` draws `ceei` and
`alpha:A` with numbers up to 10^6 apart instead, to see how many are refused; ``--bounded`` markets and sums under
guarantees, ceilings and groups; ``--whole`` whole tasks under rules on machines, and alpha fairness of several types;
``--servers`` every machine by itself; ``--style`` numbers of one style only.  With ``--files`` the file of each right
answer is verified too, and so is one in which somebody has less.  ``--refusals`` prints every refusal that is no
`PolicyError`, and at the end counts all of them by their sentences, names and numbers left out.
"""

import argparse
import contextlib
import re
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import cases
from filed import filed
from judge import Verdict, judge

from drfopt import DrfoptError, solve

__all__ = ["Result", "main", "results", "run"]

LONGEST = 60
"""Seconds of CPU after which an instance of a few users is said to hang."""

WRITTEN = 2
"""Seconds of CPU that an enumeration of whole tasks under rules may take."""

BAD = ("wrong", "fault")

REFUSED = "refused: "

NAMES_AND_NUMBERS = re.compile(r"'[^']*'|\b[cru]\d+\b|\b\d[\d,./e+-]*|\binf\b")
"""What differs between sentences that say the same."""


class Result(NamedTuple):
    """One instance: its kind, and what came of it."""

    number: int
    kind: str
    verdict: Verdict
    seconds: float


class Hangs(BaseException):
    """It takes too long; no handler of errors catches it."""


@contextlib.contextmanager
def _bounded(seconds: int) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise Hangs

    # Of its own time: beside a dozen others a second takes ten.
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def run(case: cases.Case, files: bool = False) -> Verdict:
    """Solve one and judge it, and its file; a RuntimeWarning and every error not the package's own are faults."""
    try:
        with _bounded(LONGEST), warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            found = solve(case.instance(), case.policy, **cases.MODES[case.mode])
    except DrfoptError as error:
        return Verdict(f"{REFUSED}{type(error).__name__}", str(error))
    except Hangs:
        return Verdict("fault", f"more than {LONGEST} s")
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return Verdict("fault", f"{type(error).__name__}: {error} ({place.filename}:{place.lineno})")
    try:
        # What whole tasks under rules are is written down in full, which may be too much.
        with _bounded(WRITTEN if case.mode == "whole" and (case.types or case.organised) else LONGEST):
            verdict = judge(case, found)
            return filed(found) if files and verdict.word in ("right", "feasible") else verdict
    except Hangs:
        return Verdict("not judged", "its oracle takes too long")


def results(
    seed: int, numbers: range, draw: Callable[[int, int], cases.Case] = cases.drawn, files: bool = False
) -> Iterator[Result]:
    """Yield what comes of each instance."""
    for number in numbers:
        case = draw(seed, number)
        begun = time.process_time()
        yield Result(number, case.kind, run(case, files), time.process_time() - begun)


def table(found: list[Result]) -> str:
    """Return counts by kind and verdict."""
    words = sorted({result.verdict.word for result in found})
    kinds = sorted({result.kind for result in found})
    count = Counter((result.kind, result.verdict.word) for result in found)
    rows = [["", *words, "all"]]
    rows += [
        [kind, *(str(count[kind, word]) for word in words), str(sum(count[kind, word] for word in words))]
        for kind in kinds
    ]
    rows.append(["all", *(str(sum(count[kind, word] for kind in kinds)) for word in words), str(len(found))])
    wide = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(w) if at == 0 else cell.rjust(w) for at, (cell, w) in enumerate(zip(row, wide, strict=True))
        )
        for row in rows
    )


def refusals(found: list[Result]) -> str:
    """Return the refusals, counted by error and sentence, and of each sentence the number of the first instance."""
    count, first = Counter[str](), dict[str, int]()
    for number, _, verdict, _ in found:
        if verdict.word.startswith(REFUSED):
            said = f"{verdict.word.removeprefix(REFUSED)}: {NAMES_AND_NUMBERS.sub('~', verdict.why)}"
            count[said] += 1
            first.setdefault(said, number)
    return "\n".join(f"{times:6} {said} (the first is {first[said]})" for said, times in count.most_common())


def main() -> int:
    """Run some and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="print this instance and what comes of it")
    parser.add_argument("--refusals", action="store_true", help="print refusals, and count all by sentence")
    parser.add_argument("--markets", action="store_true", help="draw markets with numbers up to 10^6 apart")
    parser.add_argument("--bounded", action="store_true", help="draw markets and sums under guarantees and groups")
    parser.add_argument("--whole", action="store_true", help="draw whole tasks under rules and of several types")
    parser.add_argument("--servers", action="store_true", help="draw every machine by itself")
    parser.add_argument("--style", choices=list(cases.AMOUNTS), help="draw numbers of this style only")
    parser.add_argument("--files", action="store_true", help="verify the files of right answers, and forged ones")
    asked = parser.parse_args()
    draws = {"markets": cases.skewed, "bounded": cases.bounded, "whole": cases.whole, "servers": cases.servers}
    if asked.style:
        cases.OFTEN = (asked.style,)
    draw = next((draw for name, draw in draws.items() if getattr(asked, name)), cases.drawn)
    if asked.only is not None:
        case = draw(asked.seed, asked.only)
        print(case, run(case, asked.files), sep="\n")
        return 0
    found = []
    for result in results(asked.seed, range(asked.first, asked.first + asked.count), draw, asked.files):
        found.append(result)
        failed = result.verdict.word.startswith(REFUSED) and result.verdict.word != f"{REFUSED}PolicyError"
        if result.verdict.word in BAD or (asked.refusals and failed):
            print(result, flush=True)
    print(table(found), *([refusals(found)] if asked.refusals else []), sep="\n")
    print(f"{sum(result.seconds for result in found):.0f} s of CPU")
    return int(any(result.verdict.word in BAD for result in found))


if __name__ == "__main__":
    sys.exit(main())
