"""What the files of a cluster tell: nodes and tasks one by one, and what could not be used."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .conversion import Notes

__all__ = ["Amounts", "Contents", "ListedMachine", "Task"]

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
