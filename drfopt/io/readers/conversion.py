"""What comes of a cluster's own files: the instance, what runs where today, and what could not be used.

The current allocation, ``drfopt convert --current``, has the shape that ``drfopt solve --json`` prints:

    {"placement": {user: {class: tasks}},
     "types": {user: [{"name": type, "tasks": number, "of": count, "placement": {class: tasks}}]}}

``types`` has the users with several task types, whose tasks are added up in ``placement``. What counts is what the
files say runs on a machine that is in the instance. Of a pool it is {"tasks": {user: tasks}}: there are no classes.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from fractions import Fraction
from typing import Any

from ...base.errors import InstanceError
from ...base.results import Result
from ...base.tables import Column, Sheet
from ...model.document import as_text
from ...model.document import document as instance_document
from ...model.instance import MEBIBYTE, MEGABYTES, Instance, in_bytes
from ..text.files import File, one_line
from ..text.parts import CsvRow
from ..writers.amounts import LEAST_MEMORY, MEMORY_WORDS, TargetName

__all__ = [
    "ASSUMED",
    "MACHINE",
    "POOL",
    "TASK",
    "UNUSED",
    "Amounts",
    "Contents",
    "Conversion",
    "ListedMachine",
    "Note",
    "Notes",
    "ReadOptions",
    "Task",
    "named",
    "places",
    "short_names",
]

UNUSED, ASSUMED = "not used", "assumed"

TASK, MACHINE = "task", "machine"
"""What an instance cannot be without."""

POOL = "the pool"
"""What stands for the class of what runs in a pool."""

LONGEST_EXAMPLE = 80
"""Characters of an example in a note: names of pods can be far longer than what tells them apart."""

REASONS = 3
"""Notes that one refusal names."""


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
        self._lost: defaultdict[str, set[str]] = defaultdict(set)

    def unused(self, what: str, example: object = "", count: int = 1) -> None:
        """Note that something in the files plays no part in the instance."""
        self._add(UNUSED, what, example, count)

    def no_task(self, what: str, example: object = "", count: int = 1, kind: str = UNUSED) -> None:
        """Note that something in the files is no task, or nobody's: they are named where there is none at all."""
        self._lost[TASK].add(what)
        self._add(kind, what, example, count)

    def no_machine(self, what: str, example: object = "", count: int = 1) -> None:
        """Note the same of a machine."""
        self._lost[MACHINE].add(what)
        self.unused(what, example, count)

    def why_none(self, kind: str) -> str:
        """Return what was met most that is no `TASK`, or no `MACHINE`, in brackets; empty where nothing was."""
        met = sorted((note for note in self.taken() if note.what in self._lost[kind]), key=lambda note: -note.count)
        return f" ({'; '.join(map(str, met[:REASONS]))})" if met else ""

    def assumed(self, what: str, example: object = "", count: int = 1) -> None:
        """Note what the instance says though the files do not."""
        self._add(ASSUMED, what, example, count)

    def blank(self, row: CsvRow, whose: str, example: object, columns: Sequence[str]) -> None:
        """Note of each column that a row leaves empty that it counts as 0."""
        for column in columns:
            if not row[column]:
                self.assumed(f"{column} of {whose} is empty: it counts as 0", example)

    def _add(self, kind: str, what: str, example: object, count: int) -> None:
        self._counts[kind, what] += count
        self._examples.setdefault((kind, what), str(example)[:LONGEST_EXAMPLE])

    def taken(self) -> tuple[Note, ...]:
        """Return the notes, what is not used first, each kind in the order in which it was met."""
        found = [Note(*key, count, self._examples[key]) for key, count in self._counts.items()]
        return tuple(sorted(found, key=lambda note: note.kind == ASSUMED))


@dataclass(frozen=True, eq=False)
class Conversion(Result):
    """An instance made of a cluster's own files.

    Attributes
    ----------
    instance : Instance
    notes : tuple of Note
        What was not used, and what was assumed.
    placement : mapping from user to {machine class: tasks}
        What runs where today; users of whom nothing runs are left out. In a pool it runs on `POOL`.
    by_type : mapping from user to {task type: {machine class: tasks}}
        The same for users with several task types, of types that run somewhere.
    """

    _schema = "drfopt conversion 1"
    _rows = "users"

    instance: Instance
    notes: tuple[Note, ...] = ()
    placement: Mapping[str, Mapping[str, Fraction]] = field(default_factory=dict)
    by_type: Mapping[str, Mapping[str, Mapping[str, Fraction]]] = field(default_factory=dict)

    def named(self) -> dict[str, dict[str, Any]]:
        """Return what runs of each user today, by its name: ``{class: tasks}``."""
        return {user: _plain(self.placement.get(user, {})) for user in self.instance.users}

    def to_dict(self) -> dict[str, Any]:
        """Return the instance with the keys of its file, its users in short, what runs today, and the notes."""
        return {
            "schema": self._schema,
            "cluster": as_text(instance_document(self.instance)),
            "users": [
                {"name": name, "limit": limit, "running": running, "demand": demand}
                for name, limit, running, demand in self._users()
            ],
            "notes": [asdict(note) for note in self.notes],
            **self.current(),
        }

    def sheet(self) -> Sheet:
        """Return the table: a row a user, what one task of it needs; below it what was not used, and what assumed."""
        resources = self.instance.resources
        columns = (
            Column("user"),
            Column("limit", number=True),
            Column("running", number=True),
            *(Column(resource, number=True) for resource in resources),
        )
        rows = [
            (name, limit, running, *(demand[resource] for resource in resources))
            for name, limit, running, demand in self._users()
        ]
        return Sheet(self.instance.name, columns, rows, tuple(map(str, self.notes)), document=self.to_dict)

    def _users(self) -> Iterator[tuple[str, Any, Any, dict[str, float]]]:
        """Yield of each user its name, its limit (None for no limit), how many of its tasks run, and its demand."""
        instance, running = self.instance, self.named()
        for name, limit, row in zip(instance.users, instance.exact_limits, instance.demands.tolist(), strict=True):
            demand = dict(zip(instance.resources, row, strict=True))
            yield name, None if limit is None else _plain(limit), sum(running[name].values()), demand

    def current(self) -> dict[str, Any]:
        """Return what runs where today as plain data, in the shape at the top of this module."""
        pool = self.instance.machines is None
        document: dict[str, Any] = {"placement": _plain(self.placement)}
        if pool:
            document = {"tasks": {user: _plain(sum(there.values())) for user, there in self.placement.items()}}
        types = {
            user: [
                {"name": kind.name, "tasks": _plain(sum(homes.values())), "of": kind.count}
                | ({} if pool else {"placement": _plain(homes)})
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


# ---- what a reader finds ------------------------------------------------------------------------------------

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
    needs : any hashable
        What it asks of a node; compared with the node's features.
    name : str
        What the user would call it.
    node : str or None
        The machine on which they run now.
    """

    user: str
    demand: Amounts
    count: Fraction | int = 1
    needs: Any = None
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
    endless : collection of str
        Users who want ever more tasks of their kind; of the others the tasks listed are all there are.
    shape : mapping from resource to Fraction
        What a task of a queue needs that wants everything, in the words of this cluster; empty for the mean shapes.
    wants : callable
        What tasks of a queue ask of a node where the queue is all that is known of them.
    usable : callable
        The resources that a queue may use; None for all.
    missing : callable
        The needs that a node with these features does not meet, each in words.
    excluded : collection of str
        Resources that count in no share.
    place : str
        The files, as a refusal names them.
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
    endless: Collection[str] = frozenset()
    shape: Amounts = field(default_factory=dict)
    wants: Callable[[str], Hashable] = lambda queue: None
    usable: Callable[[str], frozenset[str] | None] = lambda queue: None
    missing: Callable[[Any, Any], Sequence[str]] = lambda needs, features: ["is not open to it"]
    excluded: Collection[str] = ()
    place: str = ""


@dataclass(frozen=True)
class ReadOptions:
    """What is asked of a reader beside its files.

    Attributes
    ----------
    user_by : str or None
        What makes a user.
    saturate : bool
        Whether queues without tasks want everything.
    shape : mapping from resource to Fraction
        What their tasks need; empty for the mean shapes of the machines.
    machines : list of ListedMachine or None
        Given beside the files; `features` are not set yet, `labels` are as written.
    pool : mapping or None
        One divisible capacity given instead.
    """

    user_by: str | None = None
    saturate: bool = False
    shape: Amounts = field(default_factory=dict)
    machines: list[ListedMachine] | None = None
    pool: Amounts | None = None

    @property
    def given(self) -> bool:
        """Whether the cluster comes from another file."""
        return self.machines is not None or self.pool is not None

    def nodes(
        self, own: list[ListedMachine], features: Callable[[str, Mapping[str, str]], Hashable], notes: Notes
    ) -> list[ListedMachine]:
        """Return the machines of the other file where there is one, with the format's features, or the `own` ones."""
        if not self.given:
            return own
        if own:
            notes.unused(
                "machine of the files: the cluster is that of machines", own[0].name, sum(n.count for n in own)
            )
        return [replace(node, features=features(node.name, node.labels)) for node in self.machines or ()]

    def called(self, known: Mapping[str, TargetName], used: Collection[str], notes: Notes) -> "ReadOptions":
        """Return the same in the words and units of a format.

        Parameters
        ----------
        known : mapping from resource to TargetName
            What a word is called there, and how much of it one is.
        used : collection of str
            Words of the files, which are kept.
        """
        total = dict(self.pool or {})
        for node in self.machines or ():
            for resource, amount in node.capacity.items():
                total[resource] = total.get(resource, Fraction(0)) + amount * node.count

        def target(resource: str) -> TargetName:
            own = known.get(resource, TargetName(resource))
            return TargetName(resource, unit=own.unit) if resource in used else own

        def scale(resource: str) -> Fraction:
            nodes = [node.capacity.get(resource, 0) for node in self.machines or ()] + [self.shape.get(resource, 0)]
            given = resource in MEGABYTES and in_bytes((), nodes, (self.pool or {}).get(resource, 0))
            return target(resource).scale / (MEBIBYTE if given else 1)

        def moved(amounts: Amounts, what: str) -> dict[str, Fraction]:
            found: dict[str, Fraction] = {}
            for resource, amount in amounts.items():
                new = target(resource)
                if new.name in found:
                    raise InstanceError(
                        f"{what}: {resource!r} would be called {new.name!r} as another one is: keep one"
                    )
                found[new.name] = amount * scale(resource)
            return found

        for what, words in (("machines", total), ("shape", self.shape)):
            for resource in words:
                new = target(resource)
                if new.name != resource:
                    notes.assumed(f"{what}: {resource} is called {new.name} here{_times(scale(resource))}")
        for resource, amount in total.items():
            new = target(resource)
            if new.name in MEMORY_WORDS and 0 < amount * new.scale * new.unit < LEAST_MEMORY:
                raise InstanceError(
                    f"machines: {resource} of the whole cluster is {float(amount * new.scale * new.unit):g} bytes: "
                    f'write it with its unit, such as {resource} = "64Gi"'
                )
        machines = self.machines
        if machines is not None:
            machines = [replace(node, capacity=moved(node.capacity, "machines")) for node in machines]
        pool = None if self.pool is None else moved(self.pool, "machines")
        return replace(self, machines=machines, pool=pool, shape=moved(self.shape, "shape"))


def _times(scale: Fraction) -> str:
    return "" if scale == 1 else f", {scale} times" if scale > 1 else f", 1/{1 / scale} of it"


def short_names(hosts: Iterable[str]) -> dict[str, str]:
    """Return the hosts that are called by their full names, by the part up to the first dot, which no other has."""
    hosts = set(hosts)
    firsts = [(host.partition(".")[0], host) for host in hosts]
    counts = Counter(first for first, _ in firsts)
    # Addresses have no short names.
    return {first: host for first, host in firsts if counts[first] == 1 and first != host and not first.isdecimal()}


def places(files: Sequence[File]) -> str:
    """Return the places of files as a refusal of all of them names them: the first three, and how many more."""
    rest = [f"and {len(files) - 3:,} more"] if len(files) > 3 else []
    return ", ".join([*(file.place for file in files[:3]), *rest])


def named(files: Iterable[File]) -> str:
    """Return the names of files for the source of an instance."""
    return ", ".join(file.name for file in files)
