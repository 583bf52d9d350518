"""The same question many times: instances one after the other, or one cluster along an axis of changes.

An axis is a change with a value that is left open: what a resource is multiplied by, the number of machines of a
class, a user's weight.

The instances are independent, so they may be divided among processes or over a Dask cluster; the answers are those of
a loop, in its order.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

from ..base.deadline import Deadline
from ..base.errors import InstanceError, listed, suggestion
from ..base.numbers.quantities import NUMBERS, exact
from ..base.numbers.shown import counted, tenths
from ..base.parallel import spread
from ..base.results import Result
from ..base.tables import Column, PartOfAll, Sheet
from ..model.allocation import Allocation
from ..model.instance import Instance
from ..model.naming import some
from ..model.policies import AnyPolicy, Policy, policy_named
from ..model.shortfall import counted_as_means
from ..solving.allocating import solve
from ..solving.neighbours import none_worse, searching
from .baseline import TOTALS, Baseline, unproven
from .before_and_after import as_data
from .changes import Change, changed

__all__ = ["Axis", "Sweep", "axis_of", "multiplied", "sweep"]

MOST_VALUES = 10_000
"""Values of an axis; who writes more has mistaken the step."""

USERS_SHOWN = 6
"""With so many users at most, the table has a column of tasks for each."""

KINDS = {"count": "set-count", "capacity": "set-capacity", "scale": "scale"} | {
    word: f"set-{word}" for word in ("weight", "limit", "demand", "guarantee", "ceiling")
}
"""Changes that can be swept, by the word before the colon of an axis."""

RANGE = re.compile(r"(?P<first>[^.]+(?:\.\d+)?)\.\.(?P<last>.+?)/(?P<step>[^/]+(?:/\d+)?)")


def _changed(
    instance: Instance,
    policy: Policy,
    how: dict[str, Any],
    deadline: Deadline,
    value: tuple[int, tuple[Change | str, ...]],
) -> Allocation:
    left, changes = value
    return solve(changed(instance, changes), policy, time_limit=deadline.share(left), **how)


@dataclass(frozen=True)
class Axis:
    """A change with its value left open.

    Attributes
    ----------
    kind, target : str
        Of the change: ``set-weight`` and ``A``.
    name : str
        What the values are called.
    """

    kind: str
    target: str
    name: str

    def at(self, value: Fraction) -> Change:
        """Return the change with a value."""
        return Change(self.kind, f"{self.target}={value}")


def multiplied(resource: str | None = None) -> Axis:
    """Return the axis on which the capacities of a resource, or all, are multiplied."""
    return Axis("scale", resource or "all", f"factor of {resource or 'all capacities'}")


def axis_of(instance: Instance, text: str) -> tuple[Axis, tuple[Fraction, ...]]:
    """Return the axis and the values of ``cpu=100..200/10``, ``v100=10,20,40`` or ``weight:A=1..4/1``.

    A name by itself is a resource of a pool, a machine class (how many), or ``CLASS/RESOURCE`` of each machine; others
    are written after ``count:``, ``capacity:``, ``scale:``, ``weight:``, ``limit:``, ``demand:``, ``guarantee:`` or
    ``ceiling:``.

    Raises
    ------
    InstanceError
        When it cannot be read, or names what is not there.
    """
    name, equals, values = (part.strip() for part in text.rpartition("="))
    if not equals or not name or not values:
        raise InstanceError(f"{text!r} cannot be read: write NAME=FROM..TO/STEP or NAME=A,B,C, such as cpu=100..200/10")
    word, colon, target = name.partition(":")
    if colon and word in KINDS:
        return Axis(KINDS[word], target, name), _values(values)
    if name in instance.machine_names:
        return Axis("set-count", name, f"machines of {name}"), _values(values)
    if instance.machines is None and name in instance.resources:
        return Axis("set-capacity", name, name), _values(values)
    if instance.machines is not None and name in instance.resources:
        raise InstanceError(f"the cluster has machines: write scale:{name}=1,1.5,2 for what {name!r} is multiplied by")
    if instance.machines is not None and "/" in name:
        return Axis("set-capacity", name, name), _values(values)
    words = [f"{word}:" for word in KINDS if word != "count" or instance.machines is not None]
    known = [*instance.resources, *instance.machine_names, *words]
    near = suggestion(name, known) or f" (there are {', '.join(known)})"
    raise InstanceError(f"there is nothing called {name!r} to sweep over{near}")


def _value(value: Any, what: str = "values to sweep over", write: str = NUMBERS) -> Fraction:
    try:
        return exact(value, write)
    except InstanceError as error:
        raise InstanceError(f"{what}: {error}") from None


def _values(text: str) -> tuple[Fraction, ...]:
    if signed := [part.strip() for part in text.split(",") if part.strip().startswith("+")]:
        raise InstanceError(f"{signed[0]!r} is a difference, and a sweep is over amounts: write what there is to be")
    match = RANGE.fullmatch(text)
    if not match:
        if ".." in text:
            raise InstanceError(f"{text!r} has no step: write FROM..TO/STEP, such as 100..200/10")
        if "none" in (part.strip() for part in text.split(",")):
            raise InstanceError(f"{text!r}: a sweep is over amounts, and none is not one: ask 'drfopt whatif' for that")
        return tuple(_value(part.strip()) for part in text.split(",") if part.strip())
    first, last, step = (_value(match[name]) for name in ("first", "last", "step"))
    if not step > 0 or last < first:
        raise InstanceError(f"{text!r} has no values: write FROM..TO/STEP with FROM below TO and a positive STEP")
    count = (last - first) // step + 1
    if count > MOST_VALUES:
        raise InstanceError(f"{text!r} has more than {MOST_VALUES} values: take a larger step")
    return tuple(first + step * i for i in range(count))


@dataclass(frozen=True, eq=False)
class Sweep(Result):
    """Allocations of one cluster along an axis.

    Attributes
    ----------
    instance : Instance
        As it is, before any change.
    policy : str
    axis : Axis
        What is changed.
    values : tuple of Fraction
    allocations : tuple of Allocation
        One a value, in their order.
    """

    _schema = "drfopt sweep 1"

    instance: Instance
    policy: str
    axis: Axis
    values: tuple[Fraction, ...]
    allocations: tuple[Allocation, ...]

    def named(self) -> dict[str, Any]:
        """Return the allocations by value, as it is printed: ``sweep["3/2"]``."""
        return {str(value): allocation for value, allocation in zip(self.values, self.allocations, strict=True)}

    @property
    def finished(self) -> bool:
        """Whether no search for the best was cut short."""
        return all(allocation.finished for allocation in self.allocations)

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``drfopt sweep --json`` prints."""
        return {
            "schema": self._schema,
            "instance": self.instance.name,
            "policy": self.policy,
            "axis": self.axis.name,
            "values": [str(value) for value in self.values],
            "changes": [str(self.axis.at(value)) for value in self.values],
            "measured_in": self.baseline.measured_in,
            "totals": [{name: as_data(x) for name, x in totals.items()} for totals in self.totals],
            "allocations": [allocation.to_dict(instance=False) for allocation in self.allocations],
        }

    @cached_property
    def totals(self) -> tuple[dict[str, Any], ...]:
        """What sums each division up, in shares of the cluster as it is: see `Baseline`."""
        return tuple(self.baseline.totals(allocation) for allocation in self.allocations)

    @cached_property
    def baseline(self) -> Baseline:
        """The cluster as it is, in which all are measured."""
        return Baseline(self.instance, self.policy)

    def to_frame(self) -> Any:
        """Return a pandas frame, one row a value and user. Needs pandas (``pip install drfopt[frame]``)."""
        import pandas

        frames = [allocation.to_frame() for allocation in self.allocations]
        return pandas.concat(frames, keys=list(map(str, self.values)), names=[self.axis.name])

    def sheet(self) -> Sheet:
        """Return the table: a row a value, levels and shares in those of the cluster as it is."""
        seen = [any(totals[name] is not None for totals in self.totals) for name in TOTALS]
        # Changes before the sweep may let users come and go.
        there = tuple(dict.fromkeys(user for found in self.allocations for user in found.users))
        users = there if len(there) <= USERS_SHOWN else ()
        columns = (
            Column(self.axis.name, number=True),
            *(Column(name, number=True, shown=shown) for name, shown in zip(TOTALS, seen, strict=True)),
            *(Column(f"tasks of {user}", number=True) for user in users),
            *(Column(f"{name} used", number=True) for name in self.instance.resources),
        )
        rows = [
            (
                str(value),
                *(
                    None if total is None else (PartOfAll if name == "demand met" else float)(total)
                    for name, total in totals.items()
                ),
                *(None if user not in tasks else float(tasks[user]) for user in users),
                *(tenths(float(used)) for used in found.utilization),
            )
            for value, totals, found in zip(self.values, self.totals, self.allocations, strict=True)
            for tasks in [dict(zip(found.users, found.tasks, strict=True))]
        ]
        title = f"{self.policy} as {self.axis.name} changes, {counted(self.instance.n, 'user')}"
        return Sheet(title, columns, rows, self._notes(), document=self.to_dict)

    def caveats(self) -> list[str]:
        """Return what is to be said beside the numbers: what is counted as what, and where nothing is proven."""
        means = (counted_as_means(found.instance, found.integer) for found in self.allocations)
        return [*next(filter(None, means), []), *unproven(self.named())]

    def _notes(self) -> tuple[str, ...]:
        """Say what is measured in what, at which values promises are broken, and at the first of them whose."""
        said: tuple[str, ...] = ("levels and shares are of the cluster as it is, whatever the value",)
        said += (*self.baseline.joining(self.allocations), *self.caveats())
        pairs = zip(map(str, self.values), self.allocations, strict=True)
        if not (broken := {value: found for value, found in pairs if found.broken}):
            return said
        first, found = next(iter(broken.items()))
        text = f"at {first}: {some(tuple(map(str, found.broken)))}"
        # What a search that was cut short leaves unkept at one of them might be kept.
        unmet = next((found.unmet for found in broken.values() if not found.finished), found.unmet)
        return (*said, f"{unmet}, at {len(broken)} of {len(self.values)} values; {text}")


def sweep(
    instance: Instance,
    values: str | Iterable[Fraction | float | str],
    *,
    axis: Axis | None = None,
    resource: str | None = None,
    changes: Iterable[Change | str] = (),
    policy: AnyPolicy = "drf",
    time_limit: float | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    **how: Any,
) -> Sweep:
    """Return what a policy does with a cluster along an axis: by default with more or less of a resource, or of all.

    Parameters
    ----------
    instance : Instance
    values : str, or iterable of numbers or strings such as ``"3/2"``
        With its name before it a text says the axis as well: ``"cpu=100..200/10"``, ``"weight:A=1,2"`` (see `axis_of`).
    axis : Axis, optional
        What the values are of; by default what the capacities are multiplied by.
    resource : str, optional
        The resource whose capacities are multiplied; by default all.
    changes : iterable of Change or str
        Made before, at every value alike.
    time_limit : float, optional
        Seconds for all values together.
    policy, jobs, dask, **how
        Processes (by default one a core; 1 works in this one), or the address of a Dask scheduler.

    Returns
    -------
    Sweep
        ``sweep["3/2"]`` is the allocation at that value.

    Raises
    ------
    InstanceError
        When the text cannot be read, names what is not there, or a change cannot be made.

    Examples
    --------
    >>> cluster = Instance({"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}}, {"cpu": 9, "memory": 18})
    >>> [found.tasks.tolist() for found in sweep(cluster, "cpu=9,12", jobs=1).allocations]
    [[3.0, 2.0], [3.272727272727273, 2.909090909090909]]
    """
    first = listed(changes, "changes", InstanceError)
    if not isinstance(instance, Instance):
        raise InstanceError(f"a sweep is of an Instance, not {instance!r}: build one, or use Instance.load(path)")
    if isinstance(values, str):
        if axis is not None or resource is not None:
            raise InstanceError(f"{values!r} names its own axis: leave axis and resource out")
        along, wanted = axis_of(instance, values)
    else:
        along = axis or multiplied(resource)
        told = () if axis else ("factors to sweep over (--factors)", "a decimal or a fraction, such as 1.5 or 1/2")
        wanted = tuple(_value(value, *told) for value in listed(values, "values", InstanceError))
    if negative := [value for value in wanted if value < 0]:
        raise InstanceError(f"{along.name}={negative[0]}: a sweep is over amounts: give positive numbers")
    chosen = policy_named(policy)
    # A change is made where the answer is found: in one pool it may take longer than the answer.
    each = [(*first, along.at(value)) for value in wanted]
    # Who is asked next has its part of the time that is left, as many at once as there are processes.
    at_once = jobs if isinstance(jobs, int) and jobs > 0 else 1
    turns = [(math.ceil((len(each) - place) / at_once), changes) for place, changes in enumerate(each)]
    deadline = Deadline.asked(time_limit)
    one = partial(_changed, instance, chosen, how, searching(deadline, bool(how.get("integer"))))
    found = none_worse(spread(one, turns, jobs=jobs, dask=dask, what="instances"), deadline)
    return Sweep(instance, chosen.name, along, wanted, tuple(found))
