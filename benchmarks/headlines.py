"""What README and the manual say of speed: one line a result, taken from the rows that are kept."""

from dataclasses import dataclass

from .measure import Row

__all__ = ["HEADLINES", "PEERS", "Headline", "Peer", "compared", "table"]


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
        return _found(rows, self.question, self.group, self.case, self.way)


@dataclass(frozen=True)
class Peer:
    """A line that compares: the same instance in the same run, by this package and in another way."""

    words: str
    question: str
    group: str
    case: str
    way: str
    other: str
    said: str
    """The other way, in README's words."""

    def line(self, rows: list[Row]) -> str:
        """Return the line of the table."""
        ours, theirs = (_found(rows, self.question, self.group, self.case, way) for way in (self.way, self.other))
        cells = (self.words, f"{ours.seconds:.2g}", error(ours), self.said, f"{theirs.seconds:.2g}", error(theirs))
        return f"| {' | '.join(cells)} |"


def error(row: Row) -> str:
    """Return the largest relative error of a row, where a reference was near."""
    return "" if row.error is None else f"{row.error:.0e}"


def _found(rows: list[Row], *wanted: str) -> Row:
    for row in rows:
        if (row.question, row.group, row.case, row.way) == wanted:
            return row
    raise LookupError(f"no result is called {wanted}: measure {wanted[0]} again")


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
"""The lines of the manual."""

LOWEST, CLARABEL = "one LP, the lowest level only", "cvxpy + Clarabel"
PEERS = (
    Peer(
        "DRF, 100,000 users",
        "leximin-pool",
        "generic",
        "n = 100,000",
        "drfopt filling",
        "one LP, no row a user",
        LOWEST,
    ),
    Peer(
        "DRF, 10 users",
        "leximin-pool",
        "generic",
        "n = 10",
        "drfopt filling",
        "cvxpy-leximin saturation",
        "cvxpy-leximin (in a pool it stops with an error from 40 users on)",
    ),
    Peer(
        "DRF, 1,000 users, 100 classes of machines, 31 levels",
        LARGE,
        "drf",
        "1,000 x 100, 25 regions",
        CHAIN,
        "water-filling, one MILP a level",
        "water-filling, one MILP a level",
    ),
    Peer("CEEI, 100,000 users", "ceei-pool", "generic", "n = 100,000", "drfopt newton", CLARABEL, CLARABEL),
    Peer(
        "CEEI, 12 users, 3 classes", "small-markets", "ceei", "12 x 3, 60% open", "drfopt barrier", CLARABEL, CLARABEL
    ),
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


def compared(rows: list[Row]) -> str:
    """Return the lines of README as a Markdown table."""
    heading = "| what | seconds | error | the other way | seconds | error |\n|---|---:|---:|---|---:|---:|\n"
    return heading + "".join(peer.line(rows) + "\n" for peer in PEERS)
