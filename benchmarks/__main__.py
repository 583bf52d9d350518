"""``python -m benchmarks [--smoke] [--only NAME ... [--keep]] [--page]``."""

import argparse
import sys
import time

from . import page
from .machine import described
from .measure import Bench, Row
from .questions import QUESTIONS, Question, question_named


def main(words: list[str] | None = None) -> int:
    """Measure, print the tables and, after a full run only, write the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="tiny sizes, to see that everything runs; writes nothing")
    parser.add_argument("--only", metavar="NAME", nargs="+", help="these questions; writes nothing")
    parser.add_argument("--keep", action="store_true", help="with --only: write their results in place of the old ones")
    parser.add_argument("--page", action="store_true", help="write the page anew from the results there are")
    asked = parser.parse_args(words)
    if asked.page:
        page.rewrite()
        return 0
    try:
        questions = QUESTIONS if asked.only is None else tuple(map(question_named, asked.only))
    except KeyError as error:
        parser.error(error.args[0])
    machine, begun = described(), time.perf_counter()
    bench = Bench(say=_say)
    if asked.smoke:
        bench = Bench(limit=20.0, budget=0.05, most=3, say=_say)
    rows: list[Row] = []
    for question in questions:
        found = _measured(bench, question, asked.smoke)
        rows += found
        print(page.tables(found), flush=True)
        if asked.keep and not asked.smoke:
            page.keep(found, machine)
    machine["the run took"] = f"{time.perf_counter() - begun:.0f} s"
    if not asked.smoke and asked.only is None:
        page.write(rows, machine)
    return 0


def _measured(bench: Bench, question: Question, smoke: bool) -> list[Row]:
    rows: list[Row] = []
    for size in question.smoke if smoke else question.sizes:
        rows += question.run(bench, size)
    return rows


def _say(text: str) -> None:
    print(f"... {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
