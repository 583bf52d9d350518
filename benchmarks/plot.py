"""The one picture: seconds over users, both scales logarithmic; a series is a way."""

from dataclasses import dataclass
from pathlib import Path

from .measure import Row

__all__ = ["draw"]


@dataclass(frozen=True)
class Line:
    """How a way is drawn; yardsticks are grey and broken."""

    colour: str
    marker: str
    style: str = "-"


LINES = {
    "drfopt filling": Line("#0072B2", "o"),
    "drfopt lp-chain": Line("#56B4E9", "s"),
    "one LP, a row a user, simplex": Line("#999999", "^", "--"),
    "one LP, a row a user, interior point": Line("#777777", "v", "--"),
    "one LP, a row a user, no crossover": Line("#555555", "P", "--"),
    "one LP, no row a user": Line("#222222", "D", "--"),
    "one LP a user": Line("#D55E00", "x"),
    "drfopt newton": Line("#0072B2", "o"),
    "drfopt barrier": Line("#009E73", "P"),
    "drfopt conic": Line("#56B4E9", "s"),
    "cvxpy + Clarabel": Line("#555555", "v", "--"),
    "cvxpy + SCS": Line("#D55E00", "x"),
    "D.sum()": Line("#BBBBBB", ".", ":"),
}

PANELS = (("leximin-pool", "DRF, one pool"), ("ceei-pool", "CEEI, one pool"))
FAMILY = "generic"


def draw(rows: list[Row], path: Path) -> None:
    """Write the picture; a way that gave no answer at some size has no point there."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 4.8), layout="constrained")
    for ax, (question, title) in zip(figure.subplots(1, len(PANELS), sharey=True), PANELS, strict=True):
        for way, line in LINES.items():
            points = [
                (row.n, row.seconds)
                for row in rows
                if (row.question, row.group, row.way) == (question, FAMILY, way) and row.seconds
            ]
            if points:
                ax.plot(*zip(*points, strict=True), color=line.colour, marker=line.marker, ls=line.style, label=way)
        ax.set(xscale="log", yscale="log", xlabel="users", title=f"{title}, {FAMILY} demands")
        ax.grid(which="major", color="#E5E5E5", linewidth=0.6)
        ax.spines[["top", "right"]].set_visible(False)
        if ax.lines:
            ax.legend(frameon=False, fontsize=8, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.14))
    figure.axes[0].set_ylabel("seconds")
    # Without the software's version in it the file changes only when the picture does.
    figure.savefig(path, dpi=90, metadata={"Software": None})
