"""Changes to a cluster as a planner writes them: ``add 10*v100``, ``set-weight A=2``, one row of a table each.

A change edits the instance as its file would be edited, so that whatever a file can say is kept, and what comes out is
checked like any file.  Numbers are exact; a name that is unknown is answered with the nearest.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ...base.errors import InstanceError
from ...base.registry import Registry
from ...io.native import reading as reader
from ...model.document import document as instance_document
from ...model.instance import Instance
from . import cluster, users
from .grammar import Document

__all__ = ["KINDS", "Change", "ChangeKind", "changed"]


@dataclass(frozen=True)
class ChangeKind:
    """A row of the table: what a change is called, how it is written, and how it edits the document."""

    name: str
    grammar: str
    summary: str
    edit: Callable[[Document, str], None]


@dataclass(frozen=True)
class Change:
    """One change to a cluster.

    Attributes
    ----------
    kind : str
        The name of a row of `KINDS`.
    text : str
        What is changed, in the grammar of that row.
    """

    kind: str
    text: str

    def __post_init__(self) -> None:
        KINDS.named(self.kind)

    @classmethod
    def of(cls, change: "Change | str") -> "Change":
        """Return a change written in one line, such as ``"set-weight A=2"``."""
        if isinstance(change, Change):
            return change
        kind, _, text = str(change).strip().removeprefix("--").partition(" ")
        return cls(kind, text.strip())

    def __str__(self) -> str:
        return f"{self.kind} {self.text}"


def changed(instance: Instance, changes: Iterable[Change | str]) -> Instance:
    """Return the instance after the changes, made one after the other.

    Raises
    ------
    InstanceError
        On a change that cannot be read or made; the message names it.
    """
    document = instance_document(instance)
    for change in map(Change.of, changes):
        row = KINDS.named(change.kind)
        try:
            row.edit(document, change.text)
        except InstanceError as error:
            raise InstanceError(f"{change}: {error}") from None
    return reader.loads(json.dumps(document), "json", "after the changes")


KINDS = Registry(
    ChangeKind("remove", "3*CLASS", "machines less; of a pool 3*RESOURCE", cluster.remove),
    ChangeKind("add", "10*CLASS or 2*NEW{cpu=64}", "machines more; of a pool 10*RESOURCE", cluster.add),
    ChangeKind("set-count", "CLASS=12", "how many machines of a class", cluster.set_count),
    ChangeKind("set-capacity", "RESOURCE=100 or CLASS/RESOURCE=8", "a pool, or each machine; or =+10%",
               cluster.set_capacity),
    ChangeKind("scale", "RESOURCE=1.5 or all=1.5", "every capacity of a resource, or of all, multiplied",
               cluster.scale),
    ChangeKind("remove-user", "USER", "a user leaves", users.remove_user),
    ChangeKind("add-user", "NAME{cpu=1,memory=4;weight=2;max_tasks=9}", "a user comes", users.add_user),
    ChangeKind("set-demand", "USER.RESOURCE=2", "what one task needs; also =+10%", users.set_demand),
    ChangeKind("set-weight", "USER=2", "a user's weight", users.set_weight),
    ChangeKind("set-guarantee", "USER.RESOURCE=4 or =none", "what a user is promised", users.promise("guarantee")),
    ChangeKind("set-ceiling", "USER.RESOURCE=4 or =none", "the most that a user may use", users.promise("ceiling")),
    ChangeKind("set-limit", "USER=10 or USER=none", "the most tasks of a user", users.set_limit),
    what="change", error=InstanceError,
)  # fmt: skip
"""Every change there is, in the order in which the command line makes them."""
