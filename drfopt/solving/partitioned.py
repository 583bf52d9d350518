"""Users who lie in Parquet files or in a Dask frame, divided and proven part by part, with an answer of such files."""

import contextlib
import json
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..base.deadline import Deadline
from ..base.errors import CertificateError, InstanceError, PolicyError, checked_flags
from ..base.numbers.shown import counted
from ..base.parallel import Workers, cores, one_thread
from ..base.partitions import Partitions, Place, place
from ..base.results import Result
from ..base.tables import Bar, Column, Sheet, finite
from ..certificates.chain import cell_name
from ..io.text.files import unfinished
from ..io.user_tables.cluster import BareCluster
from ..io.user_tables.columns import check_names
from ..io.user_tables.rows import UserRows, parquet, rows_of_files, rows_of_frame
from ..model.arrays import MOST_IN_SETS
from ..model.certificate import Certificate
from ..model.evidence import BottleneckEvidence, ChainEvidence, PriceEvidence
from ..model.policies import AnyPolicy, Policy, policy_named
from .partition_passes import OBJECTIVES, Division, LoadedPart, loaded

__all__ = ["PartitionedAllocation", "solve_partitions"]

PROOF = "certificate.json"
"""What the sums of the certificate are called, beside the answer."""

KEPT = 0.4
"""Part of the memory that users may fill: as much again is needed while a part is read and worked on."""


@dataclass(frozen=True, eq=False)
class PartitionedAllocation(Result):
    """The proven answer for users in tables, who are not here: their tasks are in the files of a folder.

    Attributes
    ----------
    policy : str
    users, partitions : int
        How many there are.
    unplaced : int
        Users who can run no task at all.
    resources : tuple of str (m,)
    classes : tuple of str (k,) or None
        Names of the classes of machines; None for a pool.
    capacity, used : arrays (m,)
        Of the whole cluster.
    levels : array (m,) or None
        The highest level on each resource, 0 where nobody uses it; None for ``ceei`` and ``alpha:A`` on a pool.
    prices : array (m,), on machines (k, m), or None
        What a unit of each resource costs; None for leximin.
    certificate : Certificate
        Made of the same sums over the parts as that of an `Allocation`.
    engine : str
    folder : str
        Where the answer is: for each part of the users a file ``*.parquet`` with the columns ``tasks``, ``level``, on
        machines ``on CLASS`` for each of them and, if users have one, ``name``, in the order of the input; and
        ``certificate.json``, which is `to_dict`.
    seconds : float
    """

    _schema = "drfopt partitioned-allocation 1"
    _rows = "resources"

    policy: str
    users: int
    partitions: int
    unplaced: int
    resources: tuple[str, ...]
    classes: tuple[str, ...] | None
    capacity: np.ndarray
    used: np.ndarray
    levels: np.ndarray | None
    prices: np.ndarray | None
    certificate: Certificate
    engine: str
    folder: str = field(compare=False)
    seconds: float = field(compare=False)

    @property
    def utilization(self) -> np.ndarray:
        """Part of each resource that is used, (m,)."""
        return np.divide(self.used, self.capacity, where=self.capacity > 0, out=np.zeros(len(self.used)))

    @property
    def error(self) -> float:
        """What the certificate proves: by how much any user's level can be off at most, relative to it."""
        evidence = self.certificate.evidence
        if isinstance(evidence, ChainEvidence):
            return self.certificate.violation
        known = evidence.error if isinstance(evidence, BottleneckEvidence | PriceEvidence) else None
        return float("nan") if known is None else known

    def _numbers(self) -> list[float]:
        """Return what is known of each resource beside its use: its highest level, or its price, (m,)."""
        known = self.prices if self.levels is None else self.levels
        return [] if known is None else known.tolist()

    def _priced(self) -> dict[str, Any]:
        """Return what resources of classes cost: the whole of them in the rounds of a chain, a unit in a market."""
        evidence, names = self.certificate.evidence, self.classes
        if names is None:
            return {}

        def told(table: np.ndarray) -> dict[str, float]:
            there = np.argwhere(table > 0).tolist()
            return {cell_name(names, self.resources, k, j): float(table[k, j]) for k, j in there}

        if isinstance(evidence, ChainEvidence):
            return {"rounds": [{"level": float(link.level), "prices": told(link.prices)} for link in evidence.rounds]}
        return {} if self.prices is None else {"prices": told(self.prices)}

    def named(self) -> dict[str, float]:
        """Return what is used of each resource, by its name."""
        return dict(zip(self.resources, self.used.tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the sums as plain data: resources, the certificate, and where the users' tasks are."""
        columns = (self.resources, self.capacity.tolist(), self.used.tolist(), self.utilization.tolist())
        last = "price" if self.levels is None else "level"
        document = {
            "schema": self._schema,
            "policy": self.policy,
            "engine": self.engine,
            "status": "optimal",
            "users": self.users,
            "partitions": self.partitions,
            "unplaced": self.unplaced,
            "resources": [
                {"name": name, "capacity": capacity, "used": used, "utilization": part, last: number}
                for name, capacity, used, part, number in zip(*columns, self._numbers(), strict=True)
            ],
            "certificate": self.certificate.to_dict() | {"error": self.error} | self._priced(),
            "folder": self.folder,
            "seconds": self.seconds,
        }
        found: dict[str, Any] = finite(document)
        return found

    def sheet(self) -> Sheet:
        """Return the table: a row a resource."""
        columns = (
            Column("resource"),
            Column("capacity", number=True),
            Column("used", number=True),
            Column("utilization"),
            Column("price" if self.levels is None else "highest level", number=True),
        )
        rows: list[tuple] = [
            (name, capacity, used, Bar(part), number)
            for name, capacity, used, part, number in zip(
                self.resources,
                self.capacity.tolist(),
                self.used.tolist(),
                self.utilization.tolist(),
                self._numbers(),
                strict=True,
            )
        ]
        notes = [
            f"{counted(self.users, 'user')} in {counted(self.partitions, 'partition')}; "
            f"levels proven to {self.error:.1e} ({self.certificate.kind}); answer in {self.folder}"
        ]
        if self.unplaced:
            notes.append(
                f"{counted(self.unplaced, 'user')} can run no task at all, for want of what there is nothing of"
            )
        return Sheet(f"{self.policy}, by {self.engine}", columns, rows, tuple(notes), document=self.to_dict)


def _beside(users: str | Path, policy: Policy) -> Path:
    """Return the folder of the answer beside the users, also where they are called ``users/`` or ``.``."""
    there = Path(users)
    there = there if there.name not in ("", "..") else there.resolve()
    return Path(f"{there}-{policy.name.replace(':', '-')}")


def solve_partitions(
    users: Any,
    cluster: Any,
    policy: AnyPolicy = "drf",
    *,
    output: str | Path | None = None,
    time_limit: float | None = None,
    jobs: int | None = None,
    dask: str | None = None,
    few_classes: bool = False,
) -> PartitionedAllocation:
    """Divide a cluster among users who need not fit in memory, prove it, and write the answer as Parquet.

    Parameters
    ----------
    users : path or dask.dataframe.DataFrame
        A folder of Parquet files (or one such file), or a Dask frame. A column for each resource says what one task
        needs; ``weight``, ``max_tasks`` and ``name`` may be there besides. Rows are users.
    cluster : path, mapping or sequence of Machine
        An instance file without users, or the capacity of each resource.
    policy : str
        ``drf``, ``asset``, ``tasks``, ``tsf``, ``single:RESOURCE``, ``ceei`` or ``alpha:A`` with A above 0;
        divisible tasks.
    output : path, optional
        The folder that the answer makes; by default beside the users, called after them and the policy. It comes into
        being when everything is proven, or not at all.
    time_limit : float, optional
        Seconds.
    jobs : int, optional
        Worker processes on this machine; one a core by default, 1 works in this process, without Dask.
    dask : str, optional
        Address of a Dask scheduler, such as ``tcp://10.0.0.1:8786``, whose workers see the same files.
    few_classes : bool
        On machines: put everybody on one class, but for at most as many users of a part as there are classes times
        resources. With 30 classes it takes some 75 microseconds a user more.

    Returns
    -------
    PartitionedAllocation

    Raises
    ------
    InstanceError
        With the file, the column, the row (counted from 0), the value and the remedy.
    PolicyError, EngineError, SolverError, TimeLimitError, CertificateError
        As `solve` does.

    Notes
    -----
    Users stay in the memory of the workers as far as `KEPT` of it reaches; every pass reads the others again. Passes
    are two without limits and about four with them; a worker that dies is replaced, and what it had is made again.
    """
    begun = time.perf_counter()
    checked_flags(few_classes=few_classes)
    chosen = policy_named(policy)
    deadline = Deadline.asked(time_limit)
    Workers(jobs, dask)
    if output is not None and not isinstance(output, str | Path):
        raise InstanceError(f"output is of type {type(output).__name__}: give the folder that is to be made")
    parquet()
    shared = BareCluster.of(cluster)
    pool = shared.machines is None
    objective = OBJECTIVES.get((chosen.objective, not pool))
    if objective is None:
        raise PolicyError(
            f"{chosen.name} is not built for users in tables: use drf, asset, tasks, tsf, single:RESOURCE, "
            "ceei or alpha:A with A above 0"
        )
    if pool and few_classes:
        raise InstanceError("the cluster is one pool: few_classes (--few-classes) is for machines, leave it out")
    if pool and chosen.objective == "leximin" and shared.m > MOST_IN_SETS:
        raise InstanceError(
            f"the cluster has {shared.m} resources: users in tables are added up by the set that they need, of "
            f"{MOST_IN_SETS} at most: leave out those that are never scarce"
        )
    files = isinstance(users, str | Path)
    if files and dask is not None:
        users = Path(users).resolve()
    rows = rows_of_files(users, shared) if files else _partitions(users)
    if output is None and not files:
        raise InstanceError("users in a frame have no place beside which to write: give output, the folder to make")
    target = _beside(users, chosen) if output is None else Path(output)
    processes = min(cores() if jobs is None else jobs, len(rows))
    with _folder(target) as folder, place(processes, dask, deadline) as where, one_thread():
        check_names(Partitions(rows, (), where), sum(part.n for part in rows))
        division = replace(_division(rows, where, shared, chosen, deadline), few_classes=few_classes)
        found = objective.divide(division, str(folder))
        if not found.proof.valid:
            raise CertificateError(f"an allocation was found that its certificate does not prove: {found.proof.reason}")
        answer = PartitionedAllocation(
            policy=chosen.name,
            users=found.users,
            partitions=len(rows),
            unplaced=found.unplaced,
            resources=shared.resources,
            classes=shared.classes,
            capacity=shared.total,
            used=found.used.sum(axis=0),
            levels=found.levels,
            prices=found.prices,
            certificate=found.proof,
            engine=found.engine,
            folder=str(target),
            seconds=time.perf_counter() - begun,
        )
        _finish(folder, target, rows, answer)
    return answer


def _partitions(frame: Any) -> list[UserRows]:
    if not hasattr(frame, "to_delayed"):
        raise InstanceError(
            f"users are a {type(frame).__name__}: give the folder of their Parquet files, or a Dask frame"
        )
    return rows_of_frame(frame)


# ---- from users to a folder ------------------------------------------------------------------------------------------


def _counted(part: LoadedPart) -> tuple[int, float, bool]:
    """Return how many users there are, their weight, and whether somebody has a limit."""
    instance = part.instance
    weight = float(np.sum(instance.weights)) if instance.weighted else float(instance.n)
    return instance.n, weight, instance.limited


def _division(rows: list[UserRows], where: Place, cluster: BareCluster, policy: Policy, deadline: Deadline) -> Division:
    """Return what is to be divided; users of a pool are kept where they are read, as many as there is room for."""
    parts, n = Partitions(rows, (), where).then(loaded, cluster, policy), sum(part.n for part in rows)
    money, memory = float(n), where.memory() * KEPT
    limited, weighted = (any(name in part.columns for part in rows) for name in ("max_tasks", "weight"))
    # Demands, rates, and a weight and a limit; what else a pass takes is there for one part at a time.
    size = n * (cluster.m + 1 + weighted + limited) * 8
    if cluster.machines is None:
        there = int(len(rows) * memory / size) if n and memory < size else len(rows)
        first = Partitions(rows[:there], (), where).then(loaded, cluster, policy).kept()
        parts = Partitions([*first.sources, *rows[there:]], (), where).then(_recalled, cluster, policy)
        if there == len(rows) and (limited or weighted):
            counts = parts.each(_counted, what="reading")
            n, money = sum(count for count, _, _ in counts), sum(weight for _, weight, _ in counts)
            limited = any(has for *_, has in counts)
    return Division(parts, rows, cluster, policy, n, money, limited, memory, deadline)


def _recalled(part: UserRows | LoadedPart, cluster: BareCluster, policy: Policy) -> LoadedPart:
    """Return a part that was kept, or read it again."""
    return part if isinstance(part, LoadedPart) else loaded(part, cluster, policy)


@contextlib.contextmanager
def _folder(target: Path) -> Iterator[Path]:
    """Make a folder beside the target, which is taken away again with all that is in it unless it takes its place."""
    if target.exists():
        raise InstanceError(f"{target} exists already: remove it, or name another folder for the answer")
    folder = target.absolute().with_name(f".{target.name}.{secrets.token_hex(6)}.part")
    with unfinished(folder):
        try:
            folder.mkdir()
        except FileNotFoundError:
            raise InstanceError(f"{target}: the folder {str(target.parent)!r} does not exist: make it first") from None
        except OSError as error:
            raise InstanceError(f"{target}: cannot be written ({error.strerror}): name another folder") from None
        yield folder


def _finish(folder: Path, target: Path, rows: list[UserRows], answer: PartitionedAllocation) -> None:
    """Give the folder its name, when every part is there."""
    wanted = {f"{part.stem}.parquet" for part in rows}
    for path in folder.iterdir():
        if path.name not in wanted:
            # What a worker that died had begun.
            path.unlink()
    if missing := sorted(wanted - {path.name for path in folder.iterdir()}):
        raise InstanceError(f"{target}: {missing[0]} is not here: let all workers see this folder")
    (folder / PROOF).write_text(json.dumps(answer.to_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    folder.rename(target)
