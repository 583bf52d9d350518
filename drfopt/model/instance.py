"""A cluster and its users: the one input of everything, checked once, here, and never again behind this door."""

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import InstanceError
from ..base.numbers.double_double import DoubleDouble
from ..base.numbers.rationals import integer_columns
from ..base.numbers.shown import counted
from ..base.registry import door
from ..base.tolerances import RATIOS
from .arrays import MOST_IN_SETS, as_float, in_mid_range, needed_sets, table
from .machine import Machine, accepts, capacity_table, devices_of, named_classes, resources_of
from .monopolies import monopolies
from .naming import Places, aligned, as_sequence, labels, resource_names, row_of, rows_of_users, unique
from .organisation import Organisation
from .users import (
    TaskType,
    TypeSequence,
    TypeTable,
    bounded,
    demand_table,
    eligible_classes,
    limit_table,
    types_of_users,
    weight_table,
)

__all__ = ["FEATURES", "MEBIBYTE", "MEGABYTES", "Instance", "checked_instance", "in_bytes"]

FEATURES = {
    "organisation": "guarantees, ceilings, tiers, groups, excluded resources and weights of 0",
    "types": "several task types of one user",
    "types on machines": "several task types of one user on machines",
}
"""What an instance may have beyond one demand, weight and limit a user."""

MEGABYTES = ("memory-mb", "mem")
"""What YARN, Slurm and Mesos call memory in MiB."""

LEAST_MANY = 100
"""MiB that most tasks need at least, and GiB that they do not."""

BYTES, MEBIBYTE = re.compile("mem|storage|disk|hugepages", re.IGNORECASE), 2**20
"""Names of resources that may be counted in bytes, and the least that a task needs of such."""

NO_TASK, NO_MACHINE, NO_POOL = 2**24, 2**27, 2**32
"""So many MiB no task needs, no machine has, and no cluster."""

MOST_CELLS, MOST_EMPTY = 50_000_000, 20_000_000
"""Users or classes times resources by name, and how many of these amounts may be left out: a small file could name so
many users and resources that no memory holds the table, though it says of each pair nothing."""


def in_bytes(tasks: Iterable[Any] = (), machines: Iterable[Any] = (), pool: Any = 0) -> bool:
    """Say whether amounts of a resource whose name says MiB elsewhere, such as ``mem``, are of bytes.

    They are where some amount was written with its unit: so many MiB no task needs, no machine has, and no cluster.
    """
    return any(x >= NO_TASK for x in tasks) or any(x >= NO_MACHINE for x in machines) or pool >= NO_POOL


class Instance:
    """A cluster and the users who want to run tasks on it. Immutable.

    Whatever has labels (mapping, pandas Series or frame) is aligned by them in every argument, or refused by the label
    that is missing or unknown; arrays and lists are positional. The index that pandas makes up, 0, 1, 2 ..., is no
    label, unless these are the names.

    Parameters
    ----------
    demands : mapping from user to {resource: number}, or array of shape (n, m)
        What one task of each user needs. A resource not listed is 0. Every user needs something. A user whose tasks are
        not all alike has a list of `TaskType` instead: its demand is then the average task, its limit their number.
    capacity : mapping from resource to number, or array of shape (m,)
        One divisible pool. Give either this or `machines`.
    machines : sequence of Machine, or array of shape (k, m)
        Classes of machines instead of a pool. The index of a frame names them, and its column ``count`` counts them.
    users, resources : sequences of str
        Names; taken from the mappings where these are given, otherwise u1, u2 ... and r1, r2 ...
    weights : number per user (n,), table per resource (n, m), or mapping by user; positive, 1 by default
        A user whose weight is 0 is served after everybody else of its tier.
    max_tasks : number per user (n,) or mapping by user
        The most tasks of each user; None or inf for no limit.
    eligible : array of bool (n, k), or mapping from user to names of machine classes
        The classes each user may use; all by default.
    organisation : Organisation
        Guarantees, ceilings, tiers and groups, if there are any.
    name, source : str
        A title, and where the instance comes from.

    Notes
    -----
    Attributes: ``demands`` (n, m), ``capacity`` (m,) of the whole cluster, ``weights`` (n,) or (n, m), ``limits`` (n,)
    with inf for none; for machines also ``machine_capacity`` (k, m) of one machine, ``counts`` (k,), ``eligible``
    (n, k); for a pool these are None.
    ``task_types`` is None, or one entry a user: None, or its types with exact demands (m,). ``organisation`` is None,
    or settled: one entry a user. A user of weight 0 is in ``organisation.last``, and has 1 in ``weights``.
    All arrays are read-only floats; ``exact_demands`` and its siblings are the same values as fractions.
    An array of demands is copied once, unless it is of float64 and read-only: a memory-mapped file
    (``numpy.load(path, mmap_mode="r")``) stays where it is and is read a block at a time.

    Raises
    ------
    InstanceError
        With the culprit, its value and the remedy.
    """

    def __init__(
        self,
        demands: Any,
        capacity: Any = None,
        *,
        machines: Any = None,
        users: Sequence[str] | None = None,
        resources: Sequence[str] | None = None,
        weights: Any = None,
        max_tasks: Any = None,
        eligible: Any = None,
        organisation: Organisation | None = None,
        name: str = "",
        source: str = "",
    ):
        if (capacity is None) == (machines is None):
            raise InstanceError(
                "the cluster needs either a capacity (one pool) or machines: give one of them, not "
                + ("none" if capacity is None else "both")
            )
        self.name, self.source = str(name), str(source)
        self.machines: tuple[Machine, ...] | None = None
        # Arrays of machines are None for a pool, which no annotation can tie to `machines` being so.
        self.counts: Any = None
        self.machine_capacity: Any = None
        self.capacity: np.ndarray
        classes = None if machines is None else named_classes(machines)
        rows, self._users = rows_of_users(demands, users)
        n = len(rows) if self._users is None else len(self._users)
        if n == 0:
            raise InstanceError("the instance has no users: list at least one")
        columns = resource_names(resources, rows, capacity if classes is None else resources_of(classes))
        self.resources = unique(columns, "resource")
        m = len(self.resources)
        if m == 0:
            raise InstanceError("the cluster has no resources: list at least one")
        if isinstance(rows, list) and _too_many([*rows, *(machine.capacity for machine in classes or ())], m):
            raise InstanceError(
                f"{m} resources for {n} users and {len(classes or ())} classes of machines are too many to list: leave "
                "out those that are never scarce, or give arrays"
            )
        self._n = n

        rows = as_sequence(aligned(rows, "demands", ("user", self._users), ("resource", self.resources)))
        names, labels = _Names(self), [machine.name for machine in classes or ()]
        rows, self.task_types = types_of_users(rows, names, self.resources, labels)
        self._demands = demand_table(rows, names, self.resources)
        self._place_machines(capacity, classes)
        self._weights, last = weight_table(weights, names, self.resources)
        self.organisation = self._organise(organisation, last)
        self._asked = self._limits = limit_table(max_tasks, names, self.task_types)
        if self.organisation is not None and any(self.organisation.ceilings):
            self._limits = bounded(self._asked, self.organisation.most_tasks(self.resources, self.exact_demands), names)
        if classes is None and eligible is not None:
            raise InstanceError("eligible machines are given, but the cluster is one pool: give machines, or drop it")
        self.eligible: Any = None if classes is None else eligible_classes(eligible, names, labels)
        self._check_scale()

    # ---- what there is ----------------------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Number of users."""
        return self._n

    @property
    def m(self) -> int:
        """Number of resources."""
        return len(self.resources)

    @property
    def k(self) -> int:
        """Number of machine classes; 0 for a pool."""
        return 0 if self.machines is None else len(self.machines)

    @cached_property
    def users(self) -> tuple[str, ...]:
        """Names of the users, (n,)."""
        return self._users if self._users is not None else tuple(f"u{i}" for i in range(1, self.n + 1))

    @cached_property
    def machine_names(self) -> tuple[str, ...]:
        """Names of the machine classes, (k,)."""
        return () if self.machines is None else tuple(machine.name for machine in self.machines)

    @property
    def demands(self) -> np.ndarray:
        """What one task needs, (n, m)."""
        return self._demands.floats

    @property
    def weights(self) -> np.ndarray:
        """Weights, (n,) or one per resource (n, m)."""
        return self._weights.floats

    @property
    def limits(self) -> np.ndarray:
        """The most tasks of each user, (n,); inf for no limit."""
        return self._limits.floats

    @cached_property
    def asked(self) -> np.ndarray:
        """Tasks that each user has to run, (n,), inf for no end: its limit, or as many as its task types count."""
        if self.task_types is None:
            return self._asked.floats
        pairs = zip(self.task_types, self._asked.floats.tolist(), strict=True)
        return np.array([limit if kinds is None else sum(kind.count for kind in kinds) for kinds, limit in pairs])

    @cached_property
    def units(self) -> tuple[str, ...]:
        """What each resource is counted in, (m,): ``bytes``, ``MiB``, or empty where nothing says so.

        Kubernetes writes memory in bytes, YARN, Slurm and Mesos in megabytes by names of their own, people in
        gigabytes.  No task needs a million megabytes, and none gets along with less than one: that tells bytes from
        all others.
        """
        found = []
        # Of who has several task types, what they need: a mean of them is a task that nobody runs.
        several = [] if self.task_types is None else [(kinds, i) for i, kinds in enumerate(self.task_types) if kinds]
        demands = np.delete(self.demands, [i for _, i in several], axis=0)
        of_types = [[float(need) for need in kind.demand] for kinds, _ in several for kind in kinds]
        for name, column in zip(self.resources, np.vstack([demands, *of_types]).T, strict=True):
            needed = column[column > 0]
            usual = float(np.median(needed)) if BYTES.search(name) and len(needed) else 0.0
            megabytes = name in MEGABYTES and usual >= LEAST_MANY
            found.append("bytes" if usual >= MEBIBYTE else "MiB" if megabytes else "")
        return tuple(found)

    @cached_property
    def has_devices(self) -> bool:
        """Whether some machines have devices, of which a whole task takes a part of one, or whole ones."""
        return any(machine.devices for machine in self.machines or ())

    @cached_property
    def ceilings(self) -> np.ndarray:
        """Tasks with which each user reaches the first of its own ceilings, (n,); inf for none."""
        if self.organisation is None:
            return np.broadcast_to(np.inf, (self.n,))
        most = self.organisation.most_tasks(self.resources, self.exact_demands)
        return np.array([np.inf if tasks is None else float(tasks) for tasks in most])

    @cached_property
    def needs(self) -> Any:
        """The set of resources that each user needs, a bit each, (n,); None with more resources than `MOST_IN_SETS`."""
        if (found := self._demands.extent.sets) is not None:
            return found
        return needed_sets(self.demands) if self.m <= MOST_IN_SETS else None

    @cached_property
    def limited(self) -> bool:
        """Whether some user has a limit."""
        return bool((_once(self.limits) < np.inf).any())

    @cached_property
    def weighted(self) -> bool:
        """Whether some weight is not 1."""
        return bool((_once(self.weights) != 1).any())

    @property
    def told_weights(self) -> bool:
        """Whether some weight is not 1 or is 0, so that tables have a column of them."""
        return self.weighted or (self.organisation is not None and any(self.organisation.last))

    @cached_property
    def mid_range(self) -> bool:
        """Whether all its numbers are far from the ends of the range of floats, so that computing loses no digits."""
        extent = self._demands.extent
        given = (extent.lowest, extent.highest, self.capacity, _once(self.weights), _once(self.limits))
        return all(map(in_mid_range, given))

    @property
    def weights_per_resource(self) -> bool:
        """Whether some user has different weights on different resources."""
        return self.weights.ndim == 2

    @cached_property
    def features(self) -> frozenset[str]:
        """What the instance has beyond one demand, weight and limit a user: names of `FEATURES`."""
        found = {"organisation"} if self.organisation is not None and not self.organisation.only_ceilings else set()
        if self.task_types is not None:
            found.add("types" if self.machines is None else "types on machines")
        return frozenset(found)

    @cached_property
    def counted(self) -> np.ndarray:
        """Which resources count in shares, bool (m,): all but those that an organisation excludes."""
        excluded = () if self.organisation is None else self.organisation.excluded
        return np.array([name not in excluded for name in self.resources], dtype=bool)

    # ---- the same values, exactly -----------------------------------------------------------------------------

    @cached_property
    def exact_demands(self) -> tuple[tuple[Fraction, ...], ...]:
        """Demands as fractions, n rows of m."""
        return self._demands.exact()

    @cached_property
    def same_demands(self) -> list[int]:
        """The first user whose task needs exactly what each one's does, (n,)."""
        table, first = self._demands, dict[tuple, int]()
        rows = self.exact_demands if table.fractions is not None else map(tuple, table.floats.tolist())
        return [first.setdefault(row, i) for i, row in enumerate(rows)]

    @cached_property
    def exact_capacity(self) -> tuple[Fraction, ...]:
        """Capacity of the whole cluster as fractions, (m,)."""
        if self.machines is None:
            return self._capacity.exact()
        rows, counts = self.exact_machine_capacity, [machine.count for machine in self.machines]
        return tuple(
            sum((count * has for count, has in zip(counts, column, strict=True) if has), Fraction(0))
            for column in zip(*rows, strict=True)
        )

    @cached_property
    def exact_machine_capacity(self) -> tuple[tuple[Fraction, ...], ...]:
        """Capacity of one machine of each class as fractions, k rows of m; empty for a pool."""
        return () if self.machines is None else self._capacity.exact()

    @cached_property
    def whole_amounts(self) -> tuple[np.ndarray, np.ndarray]:
        """Demands (n, m), and what one machine of each class has (k, m), or a pool (1, m), as whole tasks see them.

        They are integers in units in which all demands are, what there is rounded down; Python's beyond 2^62.
        """
        rows, scales = integer_columns(self.exact_demands, self.m)
        steps = [math.gcd(*column) or 1 for column in zip(*rows, strict=True)] or [1] * self.m
        units = list(zip(scales, steps, strict=True))
        rooms = self.exact_machine_capacity or (self.exact_capacity,)
        needs = [[d // step for d, step in zip(row, steps, strict=True)] for row in rows]
        there = [
            [math.floor(c * scale) // step for c, (scale, step) in zip(room, units, strict=True)] for room in rooms
        ]
        largest = max([0, *map(max, needs), *map(max, there)])
        kind = np.int64 if largest < 2**62 else object
        return np.array(needs, dtype=kind).reshape(self.n, self.m), np.array(there, dtype=kind)

    @cached_property
    def exact_weights(self) -> tuple:
        """Weights as fractions, (n,) or n rows of m."""
        return self._weights.exact()

    def fine(self, table: str, rows: Any = slice(None)) -> DoubleDouble:
        """Return ``demands`` (n, m), ``weights`` or ``limits`` (n,) of some users to 32 digits; no limit is inf.

        ``capacity`` is what one machine of each class has, (k, m), or the pool, (m,).
        """
        tables = {
            "demands": self._demands,
            "weights": self._weights,
            "limits": self._limits,
            "capacity": self._capacity,
        }
        return tables[table].fine(rows)

    @cached_property
    def exact_limits(self) -> tuple[Fraction | None, ...]:
        """Limits as fractions, (n,); None for no limit."""
        return self._limits.exact()

    @cached_property
    def max_tasks(self) -> tuple[Fraction | None, ...]:
        """How many tasks each user has, (n,), None for no end: its limit before its ceilings lower it."""
        return self._asked.exact()

    # ---- who can run a task -----------------------------------------------------------------------------------

    @cached_property
    def room(self) -> np.ndarray:
        """What all machines of each class have together, (k, m); a pool is one class."""
        if self.machines is None:
            return self.capacity[None, :]
        return self.machine_capacity * self.counts[:, None]

    @cached_property
    def fits(self) -> Any:
        """Whether a class is eligible and one whole task fits on one of its machines, (n, k); None for a pool."""
        if self.machines is None:
            return None
        fits = np.array(self.eligible)
        for k, machine in enumerate(self.machine_capacity):
            fits[:, k] &= self._whole_task_fits(machine, k)
            for resource, one in (self.machines[k].devices or {}).items():
                fits[:, k] &= self._taken(self.resources.index(resource), one)
        for i, rows in self.type_fits.items():
            fits[i] = rows.any(axis=0)
        fits.flags.writeable = False
        return fits

    @cached_property
    def type_fits(self) -> dict[int, np.ndarray]:
        """Of every user with task types: whether a class is eligible and a task of a type fits, bool (types, k).

        A pool is one class; of what is divisible there, every task fits whose resources are there.
        """
        if self.task_types is None:
            return {}
        rooms = (self.exact_capacity,) if self.machines is None else self.exact_machine_capacity
        devices = [{}] if self.machines is None else [machine.devices or {} for machine in self.machines]
        known: dict[tuple[int, Fraction], np.ndarray] = {}

        def there(j: int, d: Fraction) -> np.ndarray:
            """Return on which classes there is so much of a resource, on devices that accept it where it has any."""
            if (j, d) not in known:
                ones = [given.get(self.resources[j]) for given in devices]
                known[j, d] = np.array(
                    [d <= room[j] and (one is None or accepts(d, one)) for room, one in zip(rooms, ones, strict=True)]
                )
            return known[j, d]

        def open_to(i: int, kind: TaskType) -> np.ndarray:
            allowed = np.ones(1, dtype=bool) if self.machines is None else self.eligible[i].copy()
            if kind.machines is not None:
                allowed &= np.array([name in kind.machines for name in self.machine_names])
            for j, d in enumerate(kind.demand):
                allowed &= there(j, d) if d else True
            return allowed

        return {
            i: np.array([open_to(i, kind) for kind in kinds])
            for i, kinds in enumerate(self.task_types)
            if kinds is not None
        }

    @property
    def misfits(self) -> dict[str, list[str]]:
        """Of users who are placed the task types that fit nowhere, by name or number: whole tasks leave them out."""
        unplaced, found = self.unplaced(integer=True), {}
        for i, rows in self.type_fits.items():
            kinds = enumerate((self.task_types or ())[i] or ())
            missing = [kind.name or f"{t + 1}" for t, kind in kinds if not rows[t].any()]
            if missing and len(missing) < len(rows) and not unplaced[i]:
                found[self.users[i]] = missing
        return found

    @cached_property
    def without_misfits(self) -> "Instance":
        """The same without the task types that whole tasks leave out; itself where there are none."""
        if not (names := self.misfits):
            return self
        parts = self.parts()
        for i in (i for i, user in enumerate(self.users) if user in names):
            parts["demands"][i] = [parts["demands"][i][t] for t in self.type_sequences[i].rows]
        return Instance(**parts)

    @cached_property
    def type_sequences(self) -> dict[int, TypeSequence]:
        """Of every user with task types: in which order whole tasks of those that fit somewhere are started."""
        found = {}
        for i, rows in self.type_fits.items():
            runs = [t for t, row in enumerate(rows) if row.any()]
            kinds = (self.task_types or ())[i] or ()
            found[i] = TypeSequence(tuple(runs), tuple(kinds[t].count for t in runs))
        return found

    @cached_property
    def whole_limits(self) -> np.ndarray:
        """The most whole tasks of each user, (n,); inf for no end.

        Limits are rounded down.  A user's own ceilings count what its types need, not so many times their average.
        """
        found = np.floor(self.limits)
        for i, sequence in self.type_sequences.items():
            if self.organisation is not None and self.organisation.ceilings[i]:

                def beyond(x: int, i: int = i) -> bool:
                    return bool(self.exceeded_ceilings(i, x))

                most = range(1, int(min(sum(sequence.counts), math.floor(self._asked.floats[i]))) + 1)
                found[i] = bisect_left(most, True, key=beyond)
        return found

    @cached_property
    def several_groups(self) -> bool:
        """Whether groups decide whose whole tasks rise with whose: those who can have one are not all in the same."""
        rules = self.organisation
        if rules is None or len(set(rules.paths)) < 2:
            return False
        found = set[str]()
        for i in np.flatnonzero(~self.unplaced(integer=True) & (self.whole_limits >= 1)).tolist():
            if rules.paths[i] not in found and not rules.bars(rules.paths[i], self.whole_use(i, 1)):
                found.add(rules.paths[i])
                if len(found) > 1:  # of a hundred thousand users few have to be looked at
                    return True
        return False

    def whole_use(self, i: int, tasks: int) -> dict[str, Fraction]:
        """Return what so many whole tasks of a user use; nothing where not so many of its types fit somewhere."""
        kinds = None if self.task_types is None else self.task_types[i]
        if kinds is None:
            return {r: tasks * d for r, d in zip(self.resources, self.exact_demands[i], strict=True)}
        if tasks > sum(self.type_sequences[i].counts):
            return {}
        started = [(count, kinds[t].demand) for t, count in enumerate(self.types_started(i, tasks)) if count]
        return {r: sum((x * row[j] for x, row in started), Fraction(0)) for j, r in enumerate(self.resources)}

    def exceeded_ceilings(self, i: int, tasks: int) -> list[str]:
        """Return the resources of which so many whole tasks of a user use more than its own ceilings allow."""
        own = {} if self.organisation is None else self.organisation.ceilings[i]
        used = self.whole_use(i, tasks) if own else {}
        return [resource for resource, most in own.items() if used and used[resource] > most]

    def types_started(self, i: int, tasks: int) -> list[int]:
        """Return how many of each type are among so many whole tasks of a user with several types."""
        sequence, found = self.type_sequences[i], [0] * len(self.type_fits[i])
        for t, x in zip(sequence.rows, sequence.started(tasks), strict=True) if sequence.rows else ():
            found[t] = x
        return found

    @cached_property
    def type_table(self) -> Any:
        """All task types as a `TypeTable`, where some user has several on machines; None otherwise."""
        if self.task_types is None or self.machines is None:
            return None
        owner, part, demands, fits = [], [], [], []
        for i, kinds in enumerate(self.task_types):
            total = sum(kind.count for kind in kinds) if kinds else 1
            for t, kind in enumerate(kinds or (None,)):
                owner.append(i)
                part.append(1.0 if kind is None else kind.count / total)
                demands.append(self.demands[i] if kind is None else [float(d) for d in kind.demand])
                fits.append(self.fits[i] if kind is None else self.type_fits[i][t])
        return TypeTable(np.array(owner), np.array(part), np.array(demands), np.array(fits))

    @cached_property
    def alone(self) -> tuple[Any, ...]:
        """What users with several task types could run alone, were all machines open to them; None of the others."""
        return monopolies(self)

    def _taken(self, j: int, one: Any) -> np.ndarray:
        """Return whose task takes a part of one device of resource j, or whole ones, bool (n,)."""
        amounts, which = self._needs[j]
        return np.array([accepts(amount, one) for amount in amounts], dtype=bool)[which]

    @cached_property
    def _needs(self) -> dict[int, tuple[list[Fraction], np.ndarray]]:
        """What tasks need of each resource with devices, each amount once, and which of them every user's is, (n,)."""
        owned = {r for machine in self.machines or () for r in machine.devices or {}}
        found = {}
        for j in (self.resources.index(r) for r in owned):
            if self._demands.fractions is None:
                needs, which = np.unique(self.demands[:, j], return_inverse=True)
                found[j] = ([Fraction(repr(float(d))) for d in needs], which)
                continue
            at: dict[Fraction, int] = {}
            which = np.array([at.setdefault(row[j], len(at)) for row in self.exact_demands], dtype=np.intp)
            found[j] = (list(at), which)
        return found

    def unplaced(self, integer: bool = False) -> np.ndarray:
        """Who can run no task at all, though it asks for some, whatever its ceilings are: bool (n,)."""
        helpless = self.helpless(integer) if integer or self.machines is not None else self._helpless
        if not self.limited:
            return helpless
        asked = self._asked.floats
        return helpless & ((np.floor(asked) if integer else asked) > 0)

    def helpless(self, integer: bool = False) -> np.ndarray:
        """Who could run no task at all, whatever its limit: bool (n,).

        A pool: a demand for a resource of capacity 0 and, with whole tasks, a demand above the pool.
        Machines: no eligible class on which one whole task fits.  Who has several task types runs all of them in
        proportion or nothing, so that one type that fits nowhere is enough; with whole tasks it takes all of them.
        """
        if self.fits is not None:
            helpless = ~self.fits.any(axis=1)
        elif integer:
            helpless = ~self._whole_task_fits(self.capacity, None)
        else:
            empty = (self.capacity == 0) & (self._demands.extent.highest > 0)
            if not empty.any():
                return np.zeros(self.n, dtype=bool)
            helpless = (self.demands[:, empty] > 0).any(axis=1)
        if integer or self.machines is not None:
            for i, rows in self.type_fits.items():
                placed = rows.any(axis=1)
                helpless[i] = not (placed.any() if integer else placed.all())
        return helpless

    @cached_property
    def _helpless(self) -> np.ndarray:
        """Who could run no part of a task in a pool, bool (n,)."""
        found = self.helpless()
        found.flags.writeable = False
        return found

    def _whole_task_fits(self, capacity: np.ndarray, k: int | None) -> np.ndarray:
        fits = np.asarray((self.demands <= capacity).all(axis=1))
        if self._demands.fractions is None and self._capacity.fractions is None:
            return fits
        # Two exact values may share one float: where floats are equal, the fractions decide.
        room = self.exact_capacity if k is None else self.exact_machine_capacity[k]
        for i in np.flatnonzero(fits & (self.demands == capacity).any(axis=1)):
            fits[i] = all(d <= c for d, c in zip(self.exact_demands[i], room, strict=True))
        return fits

    def resized(self, capacity: Mapping[str, Any]) -> "Instance":
        """Return the same users in a pool of another capacity, by resource; what this one has found out is not kept.

        Raises
        ------
        InstanceError
            When there are machines, or on a bad capacity.
        """
        if self.machines is not None:
            raise InstanceError("the cluster has machines: change their capacity")
        found = object.__new__(Instance)
        vars(found).update(
            (name, value)
            for name, value in vars(self).items()
            if name != "_sealed" and not isinstance(getattr(Instance, name, None), cached_property)
        )
        found._place_machines(capacity, None)
        found._check_scale()
        return found

    # ---- files, frames, the library ---------------------------------------------------------------------------

    @classmethod
    def load(cls, path: str | Path) -> "Instance":
        """Read an instance file (TOML, JSON or YAML by its suffix; ``-`` is standard input)."""
        instance: Instance = door("instance files").load(path)
        return instance

    @classmethod
    def library(cls, name: str) -> "Instance":
        """Return a named instance that is shipped with the package (``drfopt library`` lists them)."""
        instance: Instance = door("instance files").library(name)
        return instance

    def save(self, path: str | Path) -> None:
        """Write the instance to a file (TOML, JSON or YAML by its suffix), whole or not at all."""
        door("instance files").save(self, path)

    @classmethod
    def from_frame(cls, frame: Any, capacity: Any = None, **rest: Any) -> "Instance":
        """Build an instance from a pandas frame: one row a user, one column a resource.

        Columns called ``weight`` and ``max_tasks`` are taken as such (an empty cell is no limit), the index names the
        users; `capacity` and the rest are those of `Instance`.
        """
        if not hasattr(frame, "columns"):
            raise InstanceError(
                f"from_frame takes a pandas frame, not {type(frame).__name__}: use Instance(demands, ...)"
            )
        columns = {"weight": "weights", "max_tasks": "max_tasks"}
        special = [column for column in columns if column in frame.columns]
        for column in special:
            if rest.get(columns[column]) is not None:
                raise InstanceError(
                    f"the frame has a column {column!r}, and {columns[column]} is given as well: drop one of them"
                )
            rest[columns[column]] = frame[column]
        demands = frame.drop(columns=special)
        rest.setdefault("users", [str(user) for user in frame.index])
        names = [str(column) for column in demands.columns]
        if labels(demands)[1] is None:
            rest.setdefault("resources", names)
        found = cls(demands, capacity, **rest)
        if "resources" in rest or list(found.resources) == names:
            return found
        # What the cluster has is known to be the same, and the frame has the order.
        return cls(demands, capacity, **rest, resources=names)

    def parts(self) -> dict[str, Any]:
        """Return the arguments that make an equal instance, exact: ``Instance(**(it.parts() | {"name": "new"}))``."""
        kinds = self.task_types or (None,) * self.n
        machines = None
        if self.machines is not None:
            rows = zip(self.machines, self.exact_machine_capacity, strict=True)
            machines = [Machine(machine.name, list(row), machine.count, machine.devices) for machine, row in rows]
        weights = [list(w) if isinstance(w, tuple) else w for w in self.exact_weights]
        if self.organisation is not None:
            weights = [0 if last else w for last, w in zip(self.organisation.last, weights, strict=True)]
        limits = list(self.max_tasks)
        # What everybody has by default is left out: reading it makes a large instance half as slow again.
        return {
            "demands": [list(types or row) for types, row in zip(kinds, self.exact_demands, strict=True)],
            "capacity": list(self.exact_capacity) if machines is None else None,
            "machines": machines,
            "users": self.users,
            "resources": self.resources,
            "weights": weights if any(w != 1 for w in weights) else None,
            "max_tasks": limits if any(limit is not None for limit in limits) else None,
            "eligible": self.eligible,
            "organisation": None if self.organisation is None else self.organisation.named(self.users),
            "name": self.name,
            "source": self.source,
        }

    # ---- manners ----------------------------------------------------------------------------------------------

    def __setattr__(self, key: str, value: Any) -> None:
        if hasattr(self, "_sealed"):
            raise AttributeError(f"an Instance does not change: make a new one instead of setting {key!r}")
        object.__setattr__(self, key, value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Instance):
            return NotImplemented
        return self._content() == other._content()

    def __hash__(self) -> int:
        return hash((self.users, self.resources, self.exact_capacity))

    def __repr__(self) -> str:
        title = f"{self.name!r}: " if self.name else ""
        cluster = (
            "one pool"
            if self.machines is None
            else f"{counted(int(self.counts.sum()), 'machine')} in {counted(self.k, 'class')}"
        )
        return f"<Instance {title}{counted(self.n, 'user')}, {', '.join(self.resources)}; {cluster}>"

    def _content(self) -> tuple:
        machines = tuple((one.name, one.count, one.devices) for one in self.machines or ())
        eligible = None if self.eligible is None else self.eligible.tobytes()
        room = self._capacity.exact()
        values = (self.exact_demands, room, self.exact_weights, self.max_tasks)
        beyond = (self.task_types, self.organisation)
        return (self.name, self.source, self.users, self.resources, machines, eligible, *values, *beyond)

    # ---- checking ---------------------------------------------------------------------------------------------

    def _place_machines(self, capacity: Any, classes: tuple[Machine, ...] | None) -> None:
        if classes is None:
            if isinstance(capacity, Mapping):
                capacity = row_of(capacity, self.resources, "capacity", missing=None)
            places = Places("capacity", columns=self.resources, row_word="")
            room = as_sequence(aligned(capacity, "capacity", ("resource", self.resources)))
            self._capacity = table(room, (self.m,), places)
            self.capacity = self._capacity.floats
            return
        self._capacity, self.counts = capacity_table(classes, self.resources)
        self.machine_capacity = self._capacity.floats
        exact = self._capacity.exact() if any(one.devices for one in classes) else None
        devices = [
            devices_of(one.name, one.devices, self.resources, exact[k]) or None if exact else None
            for k, one in enumerate(classes)
        ]
        rows = zip(classes, self.machine_capacity, self.counts.tolist(), devices, strict=True)
        self.machines = tuple(Machine(machine.name, row, count, has) for machine, row, count, has in rows)
        totals = zip(self.exact_capacity, self.resources, strict=True)
        self.capacity = np.array([as_float(total, f"capacity of {r!r}") for total, r in totals])
        self.capacity.flags.writeable = False

    def _organise(self, organisation: Organisation | None, last: np.ndarray | None) -> Organisation | None:
        if organisation is None and last is None:
            return None
        if organisation is not None and not isinstance(organisation, Organisation):
            raise InstanceError(
                f"organisation is {organisation!r}: give an Organisation, such as Organisation(tiers=...)"
            )
        served_last = np.zeros(self.n, dtype=bool) if last is None else last
        found = (organisation or Organisation()).settled(self.users, self.resources, served_last.tolist())
        return None if found.empty else found

    def _check_scale(self) -> None:
        """Refuse ratios of demand to capacity that floats cannot hold; everything behind works in those ratios."""
        positive = (self.capacity > 0) & (self._demands.extent.highest > 0)
        with np.errstate(over="ignore", under="ignore"):
            largest = self._demands.extent.highest[positive] / self.capacity[positive]
            smallest = self._demands.extent.lowest[positive] / self.capacity[positive]
        for j, low, high in zip(np.flatnonzero(positive), smallest, largest, strict=True):
            if high > RATIOS[1] or low < RATIOS[0]:
                extent, room = self._demands.extent, Decimal(self.capacity[j])  # floats may have lost the ratio
                low, high = (Decimal(side[j]) / room for side in (extent.lowest, extent.highest))
                raise InstanceError(
                    f"demands of {self.resources[j]!r} are {low:.0e} to {high:.0e} of its capacity "
                    f"{self.capacity[j]:g}, beyond 1e-150 to 1e150: check the units"
                )
        object.__setattr__(self, "_sealed", True)


def checked_instance(given: Any, what: str = "the instance") -> None:
    """Refuse what is no instance: a name, say, or a path.

    Raises
    ------
    InstanceError
        With what it is.
    """
    if not isinstance(given, Instance):
        raise InstanceError(f"{what} is {given!r}: build an Instance, or use Instance.load(path)")


def _too_many(rows: list[Any], m: int) -> bool:
    """Say whether rows of m amounts, given by the names of those that are not 0, are more than is read."""
    cells = len(rows) * m
    return cells > MOST_CELLS or (cells > MOST_EMPTY and cells - sum(map(len, rows)) > MOST_EMPTY)


def _once(values: np.ndarray) -> np.ndarray:
    """Return the values, or one of them where all share its memory."""
    return values if values.strides[0] else values[:1]


class _Names(Sequence):
    """Names of the users, made only when an error needs one: a million of them are not free."""

    def __init__(self, instance: Instance):
        self._instance = instance

    def __len__(self) -> int:
        return self._instance.n

    def __getitem__(self, index: Any) -> Any:
        return self._instance.users[index]
