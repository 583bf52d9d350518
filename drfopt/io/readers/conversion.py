"""What comes of a cluster's own files: the instance, what runs where today, and what could not be used.

The current allocation, ``drfopt convert --current``, has the shape that ``drfopt solve --json`` prints:

    {"placement": {user: {class: tasks}},
     "types": {user: [{"name": type, "tasks": number, "of": count, "placement": {class: tasks}}]}}

``types`` has the users with several task types, whose tasks are added up in ``placement``. What counts is what the
files say runs on a machine that is in the instance.

What the files of a cluster tell: nodes and tasks one by one, and what could not be used.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..text.files import one_line

__all__ = ["ASSUMED", "UNUSED", "Amounts", "Contents", "Conversion", "ListedMachine", "Note", "Notes", "Task"]


if TYPE_CHECKING:
    from ...model.instance import Instance


UNUSED, ASSUMED = "not used", "assumed"

LONGEST_EXAMPLE = 80
"""Characters of an example in a note: names of pods can be far longer than what tells them apart."""


@dataclass(frozen=True)
class Note:
    """Something in the files that the instance does not say, or says though the files do not.

    Attributes
    ----------
    kind : str
        `UNUSED` or `ASSUMED`.
    what : str
        In words, in the singular where `count` counts it.
    count : int
        How often.
    example : str
        The first one.
    """

    kind: str
    what: str
    count: int = 1
    example: str = ""

    def __str__(self) -> str:
        such = f" ({'such as ' if self.count > 1 else ''}{self.example})" if self.example else ""
        times = f"{self.count:,} x " if self.count > 1 else ""
        return one_line(f"{self.kind}: {times}{self.what}{such}")


class Notes:
    """Notes being taken while files are read: equal ones are counted, and the first example is kept."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()
        self._examples: dict[tuple[str, str], str] = {}

    def unused(self, what: str, example: object = "", count: int = 1) -> None:
        """Note that something in the files plays no part in the instance."""
        self._add(UNUSED, what, example, count)

    def assumed(self, what: str, example: object = "", count: int = 1) -> None:
        """Note what the instance says though the files do not."""
        self._add(ASSUMED, what, example, count)

    def _add(self, kind: str, what: str, example: object, count: int) -> None:
        self._counts[kind, what] += count
        self._examples.setdefault((kind, what), str(example)[:LONGEST_EXAMPLE])

    def taken(self) -> tuple[Note, ...]:
        """Return the notes, what is not used first, each kind in the order in which it was met."""
        found = [Note(*key, count, self._examples[key]) for key, count in self._counts.items()]
        return tuple(sorted(found, key=lambda note: note.kind == ASSUMED))


@dataclass(frozen=True)
class Conversion:
    """An instance made of a cluster's own files.

    Attributes
    ----------
    instance : Instance
    notes : tuple of Note
        What was not used, and what was assumed.
    placement : mapping from user to {machine class: tasks}
        What runs where today; users of whom nothing runs are left out.
    by_type : mapping from user to {task type: {machine class: tasks}}
        The same for users with several task types, of types that run somewhere.
    """

    instance: "Instance"
    notes: tuple[Note, ...] = ()
    placement: Mapping[str, Mapping[str, Fraction]] = field(default_factory=dict)
    by_type: Mapping[str, Mapping[str, Mapping[str, Fraction]]] = field(default_factory=dict)

    def current(self) -> dict[str, Any]:
        """Return what runs where today as plain data, in the shape at the top of this module."""
        document: dict[str, Any] = {"placement": _plain(self.placement)}
        types = {
            user: [
                {"name": kind.name, "tasks": _plain(sum(homes.values())), "of": kind.count, "placement": _plain(homes)}
                for kind in kinds
                for homes in [self.by_type.get(user, {}).get(kind.name, {})]
            ]
            for user, kinds in zip(self.instance.users, self.instance.task_types or (), strict=False)
            if kinds
        }
        if types:
            document["types"] = types
        return document


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    return int(value) if value == int(value) else float(value)


Amounts = Mapping[str, Fraction]


@dataclass(frozen=True)
class ListedMachine:
    """A machine.

    Parameters
    ----------
    name : str
    capacity : mapping from resource to Fraction
    kind : str
        What it is sold as, to begin the name of its class; may be empty.
    features : hashable
        All of it that decides which tasks it takes.
    labels : mapping
        What `features` says, in words, for names of classes that differ in nothing else.
    count : int
    """

    name: str
    capacity: Amounts
    kind: str = ""
    features: Hashable = None
    labels: Mapping[str, str] = field(default_factory=dict)
    count: int = 1


@dataclass(frozen=True)
class Task:
    """Tasks of a user that are alike, because they are one or were submitted as one.

    Parameters
    ----------
    user : str
    demand : mapping from resource to Fraction
        Of one of them.
    count : Fraction or int
    needs : hashable
        What it asks of a node; compared with the node's features.
    name : str
        What the user would call it.
    node : str or None
        The machine on which they run now.
    """

    user: str
    demand: Amounts
    count: Fraction | int = 1
    needs: Hashable = None
    name: str = ""
    node: str | None = None


@dataclass
class Contents:
    """Everything a reader found.

    Attributes
    ----------
    title, source : str
    nodes : list of ListedMachine
        Empty where `pool` is given.
    tasks : list of Task
    notes : Notes
    allows : callable
        Whether tasks with these needs may run on a node with these features.
    pool : mapping or None
        One divisible capacity instead of nodes.
    members : mapping from user to the further keys of her entry (weight, group, guarantee, ceiling, tier)
    groups : list of entries of groups
    unlimited : bool
        Whether users want ever more tasks of their kind; otherwise the tasks listed are all there are.
    """

    title: str
    source: str
    nodes: list[ListedMachine]
    tasks: list[Task]
    notes: Notes
    allows: Callable[[Any, Any], bool] = lambda needs, features: True
    pool: Amounts | None = None
    members: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    groups: Sequence[Mapping[str, Any]] = ()
    unlimited: bool = False
