"""A row of what Slurm prints, whatever printed it, and what several ways of printing share."""

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["NOTHING", "OUT_OF_USE", "UNMODELLED", "SlurmRow"]

OUT_OF_USE = " ("
"""Behind the name of a partition that runs nothing, before the state that says why: no job asks for it so."""

NOTHING = ("", "(null)", "N/A", "n/a", "None", "none", "Unknown", "UNLIMITED")
"""What is printed for nothing."""

UNMODELLED: Mapping[str, tuple[str, str]] = {
    "licence of a job": ("licenses", "licenses"),
    "dependency of a job: it is there at once": ("dependency", "dependency"),
    "list of nodes that a job asks for: it may run anywhere": ("reqnodelist", "required_nodes"),
    "list of nodes that a job keeps away from: it may run anywhere": ("excnodelist", "excluded_nodes"),
    "reservation of a job": ("reservation", "resv_name"),
}
"""What a job may ask for and no instance can say: the field of ``scontrol show job``, and the key of the JSON."""


@dataclass(frozen=True)
class SlurmRow:
    """A line: where it is, which kind, and its columns by name; what the file calls those that it calls otherwise."""

    place: str
    kind: str
    cells: dict[str, str] = field(default_factory=dict)
    written: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, column: str) -> str:
        """Return a column without spaces around it; empty where the file does not have it."""
        return self.cells.get(column, "").strip()

    def called(self, column: str) -> str:
        """Return what the file calls a column, so that a sentence names what stands there."""
        return self.written.get(column, column)
