"""``capacity-scheduler.xml``: a tree of queues with their capacities, by partition of the nodes.

    <path>.queues                          the queues below a queue
    <path>.capacity                        guarantee: "40" percent of the queue above, "[memory=8192,vcores=4]", or
                                           "3w", a weight: the queues of a parent share it in proportion
    <path>.maximum-capacity                ceiling, percent of the most that the queue above may use, or absolute
    <path>.user-limit-factor               most of one user, in capacities of the queue: 1 by default, -1 for no limit
    <path>.accessible-node-labels[.<label>.capacity, .maximum-capacity]        the same of the nodes of a label
    <path>.default-node-label-expression   where tasks of the queue run that name no label

all below ``yarn.scheduler.capacity.``. What is left over goes to queues in proportion to their capacities, so a queue's
capacity is its weight too. A partition are the nodes of a label; nodes without one are a partition of their own.

Source: Apache Hadoop, Capacity Scheduler.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from ....base.errors import InstanceError
from ....base.numbers.quantities import parse
from ...text.files import failure, shown
from ...text.yaml_xml import Element
from ..conversion import Notes
from ..queues.tree import QueueNode
from .queues import amounts

__all__ = ["DEFAULT", "EVERY", "CapacityQueue", "properties_of", "read_capacities", "total_of"]

PREFIX = "yarn.scheduler.capacity."
ROOT = "root"
DEFAULT = ""
"""The partition of the nodes without a label."""

EVERY = "*"

TAKEN = (
    "queues",
    "capacity",
    "maximum-capacity",
    "user-limit-factor",
    "accessible-node-labels",
    "default-node-label-expression",
)
LABELLED = re.compile(r"accessible-node-labels\.(?P<label>[^.]+)\.(?P<what>capacity|maximum-capacity)")

USER_LIMIT_FACTOR = "1"
"""What YARN takes where the file says none: one user has no more than the capacity of its queue."""

PERCENT = "percent"
WHOLE = Fraction(100)
NEARLY = Fraction(1, 100)
"""Percent by which capacities may miss 100 that are written with two decimals."""


@dataclass(frozen=True)
class CapacityQueue:
    """A leaf or an inner queue.

    Attributes
    ----------
    node : QueueNode
    factor : Fraction or None
        Most of one user, in guarantees; None for no limit.
    written : bool
        Whether the file says the factor; otherwise it is YARN's own.
    labels : frozenset of str or None
        Partitions that it may use beside the one without a label; None for all.
    expression : str
        The label of tasks that name none.
    """

    node: QueueNode
    factor: Fraction | None = None
    written: bool = True
    labels: frozenset[str] | None = None
    expression: str = ""


@dataclass(frozen=True)
class _Above:
    """What a queue divides: by partition its guarantee and the most that it may use, and whom it lets in."""

    promised: Mapping[str, Mapping[str, Fraction]]
    most: Mapping[str, Mapping[str, Fraction]]
    labels: frozenset[str] | None = None
    expression: str = ""


def properties_of(top: Element, place: str) -> dict[str, str]:
    """Return the properties of a ``<configuration>``; the last of several of one name counts, as in Hadoop."""
    found = {}
    for one in top.children:
        if one.tag != "property":
            continue
        name, value = one.child("name"), one.child("value")
        if name is None or not name.text:
            raise failure(place, "a <property> has no <name>: write <property><name>...</name><value>...</value>")
        found[name.text] = "" if value is None else value.text
    return found


def read_capacities(
    properties: Mapping[str, str],
    partitions: Mapping[str, Mapping[str, Fraction]],
    notes: Notes,
    place: str,
    units: Mapping[str, Fraction] | None = None,
) -> list[CapacityQueue]:
    """Return the queues, parents first, called by their path without ``root.``.

    Parameters
    ----------
    properties : mapping from name to value
    partitions : mapping from label to {resource: Fraction}
        What the nodes of each label have; `DEFAULT` for those without.
    notes : Notes
    place : str
    units : mapping from resource to Fraction, optional
        What a number without a unit counts of a type of resource.

    Raises
    ------
    InstanceError
        With file and property.
    """
    settings = {key.removeprefix(PREFIX): value for key, value in properties.items() if key.startswith(PREFIX)}
    if not settings.get(f"{ROOT}.queues", "").strip():
        raise failure(
            place, f"has no property {PREFIX}{ROOT}.queues: give the file with the queues of the capacity scheduler"
        )
    scheduler = _Capacities(settings, notes, place, units)
    whole = {label: dict(partitions.get(label, {})) for label in {DEFAULT, *partitions, *scheduler.labels}}
    found = list(scheduler.below(ROOT, _Above(whole, whole)))
    scheduler.tell_rest([ROOT, *(f"{ROOT}.{queue.node.name}" for queue in found)])
    return found


class _Capacities:
    def __init__(
        self, settings: Mapping[str, str], notes: Notes, place: str, units: Mapping[str, Fraction] | None = None
    ):
        self.settings, self.notes, self.place, self.units = settings, notes, place, units
        self.labels = {match["label"] for key in settings for match in [LABELLED.search(key)] if match}

    def below(self, path: str, above: _Above) -> Iterator[CapacityQueue]:
        """Yield the queues below one, each before what is below it."""
        names = [name.strip() for name in self.settings.get(f"{path}.queues", "").split(",") if name.strip()]
        paths = [f"{path}.{name}" for name in names]
        if twice := next((name for name, times in Counter(names).items() if times > 1), None):
            raise failure(self._at(f"{path}.queues"), f"names {shown(twice)} twice: keep one of them")
        promised = {label: self._promised(paths, label, has) for label, has in above.promised.items()}
        for name, own in zip(names, paths, strict=True):
            yield from self._queue(name, own, path, above, {label: of[own] for label, of in promised.items()})

    def _queue(
        self, name: str, path: str, parent: str, above: _Above, promised: dict[str, dict[str, Fraction]]
    ) -> Iterator[CapacityQueue]:
        labels, expression = (
            self._labels(path, above.labels),
            self._of(path, "default-node-label-expression", above.expression),
        )
        for label in promised:
            if label != DEFAULT and labels is not None and label not in labels:
                promised[label] = {}
        most, capped = {}, False
        for label, has in above.most.items():
            key = _key(path, label, "maximum-capacity")
            value = self.settings.get(key, "").strip()
            most[label] = self._amounts(key, value, has) if value and value != "-1" else dict(has)
            if label != DEFAULT and labels is not None and label not in labels:
                most[label] = {}
            capped = capped or most[label] != dict(has)
        total = total_of(promised.values())
        ceiling = total_of(most.values()) if capped else {}
        if sum(any(has.values()) for has in (most if capped else promised).values()) > 1:
            self.notes.assumed("capacities of the partitions are added up: of one of them it may use more", path)
        weight = self._weight(path, promised, above)
        factor = self._of(path, "user-limit-factor", USER_LIMIT_FACTOR).strip()
        limit = None if factor == "-1" else self._parsed(f"{path}.user-limit-factor", factor)
        written = bool(self._of(path, "user-limit-factor", ""))
        if self._of(path, "state", "RUNNING").upper() != "RUNNING":
            self.notes.assumed("queue that is stopped takes part with what is in it", path)
        called, held = path.removeprefix(f"{ROOT}."), "" if parent == ROOT else parent.removeprefix(f"{ROOT}.")
        node = QueueNode(called, held, weight, {r: v for r, v in total.items() if v}, ceiling, label=name)
        yield CapacityQueue(node, limit, written, labels, expression)
        yield from self.below(path, _Above(promised, most, labels, expression))

    def _promised(self, paths: list[str], label: str, has: Mapping[str, Fraction]) -> dict[str, dict[str, Fraction]]:
        """Return what each of the queues of a parent is promised of a partition."""
        texts = {path: self.settings.get(_key(path, label, "capacity"), "0").strip() for path in paths}
        weights = {
            path: self._parsed(_key(path, label, "capacity"), text[:-1])
            for path, text in texts.items()
            if text.endswith("w")
        }
        total = sum(weights.values(), Fraction(0))
        found: dict[str, dict[str, Fraction]] = {}
        percent = Fraction(0)
        kinds = {_kind(text): path for path, text in texts.items() if text.strip("0.")}
        if len(kinds) > 1:
            raise failure(
                self._at(_key(next(iter(kinds.values())), label, "capacity")),
                f"is {next(iter(kinds))}, and that of {list(kinds.values())[1]} {list(kinds)[1]}: "
                "write those of all queues of a parent as weights, as percent or as amounts",
            )
        for path, text in texts.items():
            key = _key(path, label, "capacity")
            if path in weights:
                found[path] = {r: amount * weights[path] / total for r, amount in has.items()} if total else {}
            else:
                found[path] = self._amounts(key, text, has)
                percent += Fraction(0) if text.startswith("[") else self._parsed(key, text)
        if label == DEFAULT and paths and not kinds.keys() - {PERCENT} and abs(percent - WHOLE) > NEARLY:
            self.notes.assumed(
                f"capacities below a queue add up to {float(percent):g} %, not 100", paths[0].rpartition(".")[0]
            )
        return found

    def _amounts(self, key: str, text: str, has: Mapping[str, Fraction]) -> dict[str, Fraction]:
        if text.startswith("[") and text.endswith("]"):
            return amounts(text[1:-1], has, self._at(key), self.units)
        part = self._parsed(key, text) / 100
        return {resource: amount * part for resource, amount in has.items()}

    def _weight(self, path: str, promised: Mapping[str, Mapping[str, Fraction]], above: _Above) -> Fraction:
        """Return a queue's capacity as its weight: as written, and of amounts their largest part of what is above."""
        text = self.settings.get(f"{path}.capacity", "0").strip()
        if not text.startswith("["):
            return self._parsed(f"{path}.capacity", text.removesuffix("w"))
        has, own = total_of(above.promised.values()), total_of(promised.values())
        return max((amount / has[r] for r, amount in own.items() if has.get(r)), default=Fraction(0)) * 100

    def _labels(self, path: str, above: frozenset[str] | None) -> frozenset[str] | None:
        text = self.settings.get(f"{path}.accessible-node-labels")
        if text is None:
            return above
        return None if text.strip() == EVERY else frozenset(part.strip() for part in text.split(",") if part.strip())

    def _of(self, path: str, what: str, missing: str) -> str:
        return self.settings.get(f"{path}.{what}", "").strip() or missing

    def _parsed(self, key: str, text: str) -> Fraction:
        try:
            found = parse(text.strip().removesuffix("%").strip())
        except InstanceError:
            found = Fraction(-1)
        if found < 0:
            raise failure(
                self._at(key),
                f"is {shown(text)}: write percent such as 40, [memory=8192,vcores=4] or a weight such as 3w",
            )
        return found

    def _at(self, key: str) -> str:
        return f"{self.place}: {PREFIX}{key}"

    def tell_rest(self, paths: Collection[str]) -> None:
        """Note every setting that was not used."""
        known = set(paths)
        for key, value in self.settings.items():
            heads = (key[:at] for at in range(len(key) - 1, 0, -1) if key[at] == ".")
            path = next((head for head in heads if head in known), "")
            what = key.removeprefix(f"{path}.") if path else key
            labelled = LABELLED.fullmatch(what)
            if path and (what in TAKEN or what == "state" or (labelled and path)):
                continue
            self.notes.unused(f"setting {what} of {'a queue' if path else 'the capacity scheduler'}", path or value)


def _kind(text: str) -> str:
    return "a weight" if text.endswith("w") else "amounts" if text.startswith("[") else PERCENT


def _key(path: str, label: str, what: str) -> str:
    return f"{path}.{what}" if label == DEFAULT else f"{path}.accessible-node-labels.{label}.{what}"


def total_of(some: Collection[Mapping[str, Fraction]]) -> dict[str, Fraction]:
    """Return amounts by resource, added up."""
    total: dict[str, Fraction] = {}
    for one in some:
        for resource, amount in one.items():
            total[resource] = total.get(resource, Fraction(0)) + amount
    return total
