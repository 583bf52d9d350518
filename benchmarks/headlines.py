"""What README says of speed: one line a result, taken from the rows that are kept."""

from dataclasses import dataclass

from .measure import Row

__all__ = ["HEADLINES", "Headline", "table"]


@dataclass(frozen=True)
class Headline:
    """A line: what was done, and the row that says how long it took and beside what."""

    words: str
    question: str
    group: str
    case: str
    way: str

    def found(self, rows: list[Row]) -> Row:
        """Return the row; `LookupError` when the results have none such."""
        wanted = (self.question, self.group, self.case, self.way)
        for row in rows:
            if (row.question, row.group, row.case, row.way) == wanted:
                return row
        raise LookupError(f"no result is called {wanted}: measure {self.question} again")


ARRAYS, MILLION = "from the arrays to the proof", "solve(Instance(...)), {}, n = {:,}"
LARGE, CHAIN = "machines-at-scale", "drfopt lp-chain"

HEADLINES = (
    Headline("DRF, 1,000,000 users", "million-drf", "drf", ARRAYS, MILLION.format("generic", 10**6)),
    Headline("the same, a limit for everybody", "million-drf", "drf", ARRAYS, MILLION.format("limits", 10**6)),
    Headline("the same, 10,000,000 users", "million-drf", "drf", ARRAYS, MILLION.format("generic", 10**7)),
    Headline("CEEI, 1,000,000 users", "million-ceei", "ceei", ARRAYS, MILLION.format("generic", 10**6)),
    Headline("the same, 10,000,000 users", "million-ceei", "ceei", ARRAYS, MILLION.format("generic", 10**7)),
    Headline("DRF, 1,000 users on 100 classes of machines (one level)", LARGE, "drf", "1,000 x 100, 30% open", CHAIN),
    Headline("the same in 25 regions (31 levels)", LARGE, "drf", "1,000 x 100, 25 regions", CHAIN),
    Headline("DRF, 10,000 users on 500 classes (one level)", LARGE, "drf", "10,000 x 500, 5% open", CHAIN),
    Headline("CEEI, 1,000 users on 100 classes", LARGE, "ceei", "1,000 x 100, 30% open", "drfopt barrier"),
    Headline("the same in 25 regions", LARGE, "ceei", "1,000 x 100, 25 regions", "drfopt barrier"),
)
"""The lines of README."""


def table(rows: list[Row]) -> str:
    """Return the lines as a Markdown table."""
    lines = ["| what | seconds | beside it, in the same run | violation |", "|---|---:|---|---:|"]
    for headline in HEADLINES:
        row = headline.found(rows)
        ruler = f"{row.sum_ratio:.0f} x `D.sum()`" if row.sum_ratio else f"{row.ratio:.2g} x {row.yardstick}"
        lines.append(f"| {headline.words} | {row.seconds:.2g} | {ruler} | {row.violation:.0e} |")
    return "\n".join(lines) + "\n"
