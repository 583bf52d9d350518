"""From what an answer was written as back to the allocation: `Allocation.from_dict`, and ``export --answer``.

Names, shapes and feasibility are checked, and what follows from the tasks is computed again.  What the document says
of its certificate is repeated; whether it is true, `drfopt.verify` says.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from ..base.errors import InstanceError, PolicyError, suggestion
from ..base.numbers.enclosures import Enclosure
from ..base.tolerances import NOTICED
from ..certificates.feasibility import infeasibility
from ..certificates.verifier import Multiple, long_numbers, number, with_long
from ..io.native.reading import built
from ..io.text.files import refuse_newer
from ..io.text.parts import TreePart
from ..model.allocation import STATUSES, Allocation
from ..model.certificate import Certificate
from ..model.evidence import QuotedEvidence
from ..model.instance import Instance, checked_instance
from ..model.naming import some
from ..model.organisation import Broken
from ..model.policies import policy_named, policy_on

__all__ = ["allocation_of"]

READ = ("drfopt allocation 1", "drfopt certificate 1")
"""Documents that are read, with their newest versions."""

REMEDY = "give what 'drfopt solve --json' or Allocation.to_dict wrote"

Number = Callable[[TreePart], Any]


def allocation_of(
    document: TreePart | Mapping[str, Any], instance: Instance | None = None, *, exact: bool = True
) -> Allocation:
    """Return the allocation that a document tells of.

    Parameters
    ----------
    document : mapping
        What `Allocation.to_dict` returned, or ``drfopt solve --json`` printed; the latter has no instance.
    instance : Instance, optional
        By default the document's own, under ``cluster``.
    exact : bool
        Keep fractions and enclosures; otherwise floats, of an enclosure its lower end.

    Raises
    ------
    InstanceError
        When it is no answer, not one for this instance, or not possible.
    """
    if not isinstance(document, TreePart | Mapping):
        raise InstanceError(f"the answer is a {type(document).__name__}: give what Allocation.to_dict returned")
    if instance is not None:
        checked_instance(instance)
    part = document if isinstance(document, TreePart) else TreePart(dict(document), "the answer")
    if not isinstance(part.value, dict) or not {"users", "policy"} <= part.value.keys():
        raise InstanceError(f"{part.place}: is no answer: {REMEDY}")
    refuse_newer(part["schema"].value, READ, part.place)
    _check_claims(part)
    if instance is None:
        if "cluster" not in part:
            raise InstanceError(f"{part.place}: has no 'cluster': give the instance that it is the answer of")
        instance = built(part["cluster"].value, part["cluster"].place)
    read: Number = _number if exact else _float
    try:
        table = long_numbers(part.value)
    except (AttributeError, TypeError, ValueError) as error:
        raise InstanceError(f"{part['long'].place}: {error}: write positive numbers by their names") from None
    with with_long(table):
        reading = _Reading(instance, part, read)
        tasks, levels = reading.columns("tasks"), reading.columns("level")
        placement, by_type = reading.placement(), None
        if placement is not None and instance.type_table is not None:
            by_type = reading.by_type(placement)
        _, reason = infeasibility(
            instance, _ends(tasks), _ends(placement if by_type is None else by_type), part["integer"].true()
        )
        if reason := reason or _unlike(instance, part["policy"].text("drf"), _ends(tasks), _ends(levels)):
            raise InstanceError(f"{part.place}: {reason}: it is no answer for this instance")
        return Allocation(
            instance,
            part["policy"].text("drf"),
            tasks,
            partial(_as_it_is, levels),
            reading.certificate(),
            placed=partial(_as_it_is, placement),
            placed_by_type=by_type,
            prices=reading.prices(),
            unplaced=tuple(part["unplaced"].texts()),
            integer=part["integer"].true(),
            engine=part["engine"].text(),
            solver=part["solver"].text(),
            status=part["status"].text("optimal"),
            seconds=float(part["seconds"].number()),
        )


def _check_claims(part: TreePart) -> None:
    """Refuse an answer of a policy that nobody knows, or that says of itself that it is none."""
    name, status = part["policy"], part["status"]
    if status.text("optimal") not in STATUSES:
        raise status.wrong(f"give an answer that is {' or '.join(STATUSES)}")
    if name.text("drf").endswith(".py") or part["certificate"]["kind"].text() == "formulation":
        return  # a notion of somebody's own, of which only the name is known
    try:
        policy_named(name.text("drf"))
    except PolicyError as error:
        raise InstanceError(f"{name.place}: {error}") from None


def _unlike(instance: Instance, name: str, tasks: np.ndarray, levels: np.ndarray) -> str:
    """Return which level is not that of the tasks here, as with the answer of other weights or of a larger cluster."""
    if instance.features or name.endswith(".py"):
        return ""
    try:
        policy = policy_on(name, instance)
    except PolicyError:  # a notion of somebody's own, of which only the name is known
        return ""
    if policy.objective in ("servers", "formulation"):
        return ""
    expected = policy.levels(instance, np.asarray(tasks, dtype=float))
    off = np.flatnonzero(np.abs(levels - expected) > NOTICED * expected)
    if not len(off):
        return ""
    i = int(off[0])
    return f"level of user {instance.users[i]!r} is {levels[i]:.6g}, and of its {tasks[i]:.6g} tasks {expected[i]:.6g}"


class _Reading:
    """One document, and the instance whose names it uses."""

    def __init__(self, instance: Instance, document: TreePart, read: Number):
        self.instance, self.document, self.read = instance, document, read
        self.users = {name: i for i, name in enumerate(instance.users)}
        self.classes = {name: k for k, name in enumerate(instance.machine_names)}
        self.resources = {name: j for j, name in enumerate(instance.resources)}

    def columns(self, key: str) -> np.ndarray:
        """Return a number of every user, (n,)."""
        found: dict[int, Any] = {}
        for entry in self.document["users"].each():
            if key not in entry:
                raise InstanceError(f"{entry.place}: has no {key!r}: {REMEDY}")
            i = _index(self.users, name := entry["name"].text(), entry)
            if i in found:
                raise InstanceError(f"{entry.place}: user {name!r} is listed twice: {REMEDY}")
            found[i] = self.read(entry[key])
        if missing := [name for name, i in self.users.items() if i not in found]:
            raise InstanceError(f"{self.document.place}: says nothing of {some(missing)}: give an answer of all users")
        return _array([found[i] for i in range(self.instance.n)])

    def placement(self) -> np.ndarray | None:
        """Return the tasks of every user on every class, (n, k); None for a pool."""
        if self.instance.machines is None:
            return None
        found: list[list[Any]] = [[0] * self.instance.k for _ in range(self.instance.n)]
        for user, row in self.document["placement"].pairs():
            for name, held in row.pairs():
                found[_index(self.users, user, row)][_index(self.classes, name, row)] = self.read(held)
        return _array(found)

    def by_type(self, placement: np.ndarray) -> np.ndarray:
        """Return what runs of each type, (q, k); users with one type have it in their placement."""
        table = self.instance.type_table
        found: list[list[Any]] = [[0] * self.instance.k for _ in range(len(table.fits))]
        first = np.searchsorted(table.owner, np.arange(self.instance.n)).tolist()
        for i, kinds in enumerate(self.instance.task_types or ()):
            if kinds is None:
                found[first[i]] = placement[i].tolist()
        for user, listed in self.document["types"].pairs():
            i = _index(self.users, user, listed)
            kinds = (self.instance.task_types or ())[i] or ()
            for t, entry in enumerate(listed.each()):
                if t >= len(kinds):
                    raise InstanceError(f"{listed.place}: user {user!r} has {len(kinds)} task types in this instance")
                for name, held in entry["placement"].pairs():
                    found[first[i] + t][_index(self.classes, name, entry)] = self.read(held)
        return _array(found)

    def prices(self) -> np.ndarray | None:
        """Return prices of a pool (m,), or of machines (k, m); None where there are none."""
        if "prices" in self.document:
            table: list[list[Any]] = [[0] * self.instance.m for _ in range(self.instance.k)]
            for name, row in self.document["prices"].pairs():
                for resource, price in row.pairs():
                    table[_index(self.classes, name, row)][_index(self.resources, resource, row)] = self.read(price)
            return _array(table)
        entries = list(self.document["resources"].each())
        if not entries or any("price" not in entry for entry in entries):
            return None
        found: list[Any] = [0] * self.instance.m
        for entry in entries:
            found[_index(self.resources, entry["name"].text(), entry)] = self.read(entry["price"])
        return _array(found)

    def certificate(self) -> Certificate:
        """Return what is said of the proof; the proof itself is not in the document."""
        part = self.document["certificate"]
        if part.value is not None and not isinstance(part.value, dict):
            raise part.wrong(REMEDY)
        said = part.value or {"kind": "none", "valid": None, "violation": 0.0, "gap": 0.0}
        stops: list[Any] = [None] * self.instance.n
        for entry in self.document["users"].each():
            stop = entry["bottleneck"].value
            stops[_index(self.users, entry["name"].text(), entry)] = tuple(stop) or None if _many(stop) else stop
        quoted = {key: said[key] for key in said if key not in ("rigorous", "reason")}
        if said.get("kind") == "bound" and "judge" in said and "rigorous" in said:
            quoted["rigorous"] = said["rigorous"]
        if said.get("valid") is None and said.get("reason"):
            quoted["reason"] = said["reason"]
        evidence = QuotedEvidence(
            quoted=quoted,
            proof=self.document["proof"].value if "proof" in self.document else {},
            judge=said.get("judge", ""),
            broken=tuple(map(self._broken, self.document["broken_guarantees"].each()))
            if "broken_guarantees" in self.document
            else (),
            below_continuous=[(row["user"], row["tasks"], row["whole_part"]) for row in said["below_continuous"]]
            if "below_continuous" in said
            else None,
            closed_forms={
                _index(self.users, user, form): form.text() for user, form in self.document["closed_forms"].pairs()
            }
            if "closed_forms" in self.document
            else {},
        )
        return Certificate(
            part["kind"].text("none"),
            part["valid"].value,
            _plain(part["violation"]) or 0.0,
            _plain(part["gap"]),
            partial(tuple, stops) if any(stops) else tuple,
            evidence,
            part["reason"].text(),
            part["rigorous"].true(),
        )

    def _broken(self, row: TreePart) -> Broken:
        of_group = "group" in row
        owner = row["group" if of_group else "user"].text()
        return Broken(owner, of_group, row["resource"].text(), self.read(row["held"]), self.read(row["promised"]))


def _plain(part: TreePart) -> float | None:
    """Return a number of a certificate as a float; None where there is none."""
    try:
        return None if part.value is None else float(part.value)
    except (TypeError, ValueError):
        raise part.wrong("write a number") from None


def _number(part: TreePart) -> Any:
    """Return a number as it was meant: whole, a float, a fraction or an enclosure."""
    value = part.value
    try:
        if isinstance(value, dict):
            return Enclosure(number(value["lower"]), number(value["upper"]))
        if isinstance(value, str):
            found = number(value)
            return found.value() if isinstance(found, Multiple) else found
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        raise part.wrong("write a number, a fraction such as '63/25', or its lower and upper ends") from None
    if value is None:
        return 0
    return value if type(value) in (int, float) else float(part.number())


def _float(part: TreePart) -> float:
    found = _number(part)
    return float(found.lower if isinstance(found, Enclosure) else found)


def _array(values: list[Any]) -> np.ndarray:
    """Return numbers as an array: whole ones, floats, or fractions and enclosures as objects."""
    flat: Iterable[Any] = (x for row in values for x in row) if values and isinstance(values[0], list) else values
    kinds = {type(x) for x in flat}
    if kinds <= {int, float}:
        return np.array(values, dtype=np.int64 if kinds == {int} else np.float64)
    return np.array(values, dtype=object)


def _ends(values: np.ndarray | None) -> Any:
    """Return an array to check: of enclosures the lower ends, which are possible."""
    if values is None or values.dtype != object:
        return values
    flat = [x.lower if isinstance(x, Enclosure) else x for x in values.ravel().tolist()]
    return np.array(flat, dtype=float).reshape(values.shape)


def _many(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _as_it_is(found: Any) -> Any:
    return found


def _index(known: dict[str, int], name: str, part: TreePart) -> int:
    if name not in known:
        raise InstanceError(f"{part.place}: {name!r} is not in this instance{suggestion(name, known)}")
    return known[name]
