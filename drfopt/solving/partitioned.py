"""Users who lie in Parquet files or in a Dask frame, divided and proven part by part, with an answer of such files.

Every pass is a sum over parts.  What travels has the size of the resources, or of their sets; who owns a part keeps its
users, makes their tasks from a few numbers whenever they are asked for, and writes them.
"""

import contextlib
import json
import secrets
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..base.deadline import Deadline
from ..base.errors import CertificateError, InstanceError, PolicyError
from ..base.parallel import cores
from ..base.partitions import Parts, Place, place
from ..base.results import Result
from ..base.tables import Bar, Column, Sheet, finite
from ..certificates.bottleneck import certify_parts
from ..certificates.holders import Holders, Seen
from ..engines.leximin.saturation import MOST_RESOURCES, Pace, saturation, tasks_at
from ..engines.problem import Problem
from ..io.user_tables.cluster import Cluster
from ..io.user_tables.columns import at_row, load, names_of, write_columns
from ..io.user_tables.rows import Rows, parquet, rows_of_files, rows_of_frame
from ..model.allocation import Certificate
from ..model.evidence import BottleneckEvidence
from ..model.instance import Instance
from ..model.policies import AnyPolicy, Policy, policy_named

__all__ = ["PartitionedAllocation", "solve_partitions"]

PROOF = "certificate.json"
"""What the sums of the certificate are called, beside the answer."""

KEPT = 0.4
"""Part of the memory that users may fill: as much again is needed while a part is read and worked on."""

REMEDY = "solve these users in memory, with exact=True, or round their numbers"


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
    capacity, used : arrays (m,)
    levels : array (m,)
        The highest level on each resource; 0 where nobody uses it.
    certificate : Certificate
        Made of the same sums over the parts as that of an `Allocation`.
    engine : str
    folder : str
        Where the answer is: for each part of the users a file ``*.parquet`` with the columns ``tasks``, ``level`` and,
        if they have one, ``name``, in the order of the input; and ``certificate.json``, which is `to_dict`.
    seconds : float
    """

    _schema = "drfopt partitioned-allocation 1"
    _rows = "resources"

    policy: str
    users: int
    partitions: int
    unplaced: int
    resources: tuple[str, ...]
    capacity: np.ndarray
    used: np.ndarray
    levels: np.ndarray
    certificate: Certificate
    engine: str
    folder: str = field(compare=False)
    seconds: float = field(compare=False)

    @property
    def utilization(self) -> np.ndarray:
        """Part of each resource that is used, (m,)."""
        return np.divide(self.used, self.capacity, where=self.capacity > 0, out=np.zeros(len(self.used)))

    def named(self) -> dict[str, float]:
        """Return what is used of each resource, by its name."""
        return dict(zip(self.resources, self.used.tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the sums as plain data: resources, the certificate, and where the users' tasks are."""
        columns = (self.resources, self.capacity.tolist(), self.used.tolist(), self.utilization.tolist())
        document = {
            "schema": self._schema,
            "policy": self.policy,
            "engine": self.engine,
            "status": "optimal",
            "users": self.users,
            "partitions": self.partitions,
            "unplaced": self.unplaced,
            "resources": [
                {"name": name, "capacity": capacity, "used": used, "utilization": part, "level": level}
                for name, capacity, used, part, level in zip(*columns, self.levels.tolist(), strict=True)
            ],
            "certificate": self.certificate.to_dict() | {"error": self.certificate.proof(BottleneckEvidence).error},
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
            Column("highest level", number=True),
        )
        rows: list[tuple] = [
            (name, capacity, used, Bar(part), level)
            for name, capacity, used, part, level in zip(
                self.resources,
                self.capacity.tolist(),
                self.used.tolist(),
                self.utilization.tolist(),
                self.levels.tolist(),
                strict=True,
            )
        ]
        error = self.certificate.proof(BottleneckEvidence).error
        notes = [
            f"{self.users:,} users in {self.partitions:,} partitions; levels proven to {error:.1e} "
            f"({self.certificate.kind}); answer in {self.folder}"
        ]
        if self.unplaced:
            notes.append(f"{self.unplaced:,} users can run no task at all: they need what there is nothing of")
        return Sheet(f"{self.policy}, by {self.engine}", columns, rows, tuple(notes), document=self.to_dict)


def solve_partitions(
    users: Any,
    cluster: Any,
    policy: AnyPolicy = "drf",
    *,
    output: str | Path | None = None,
    time_limit: float | None = None,
    jobs: int | None = None,
    dask: str | None = None,
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
        ``drf``, ``asset``, ``tasks``, ``tsf`` or ``single:RESOURCE``, in divisible tasks.
    output : path, optional
        The folder that the answer makes; by default beside the users, called after them and the policy. It comes into
        being when everything is proven, or not at all.
    time_limit : float, optional
        Seconds.
    jobs : int, optional
        Worker processes on this machine; one a core by default, 1 works in this process, without Dask.
    dask : str, optional
        Address of a Dask scheduler, such as ``tcp://10.0.0.1:8786``, whose workers see the same files.

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
    Users stay in the memory of the workers if they fit into `KEPT` of it; otherwise every pass reads them again. Passes
    are two without limits and about four with them; a worker that dies is replaced, and what it had is made again.
    """
    begun = time.perf_counter()
    chosen = policy_named(policy)
    if chosen.objective != "leximin":
        raise PolicyError(
            f"{chosen.name} is not built for users in tables: use drf, asset, tasks, tsf or single:RESOURCE"
        )
    if time_limit is not None and not time_limit > 0:
        raise PolicyError(f"the time limit is {time_limit}: give a positive number of seconds")
    parquet()
    shared = Cluster.of(cluster)
    if shared.machines is not None:
        raise PolicyError(f"{chosen.name} of users in tables is built for one pool: give a capacity, not machines")
    if shared.m > MOST_RESOURCES:
        raise InstanceError(
            f"the cluster has {shared.m} resources: users in tables are added up by the set that they need, of "
            f"{MOST_RESOURCES} at most: leave out those that are never scarce"
        )
    files = isinstance(users, str | Path)
    if files and dask is not None:
        users = Path(users).resolve()
    rows = rows_of_files(users, shared) if files else _partitions(users)
    if output is None and not files:
        raise InstanceError("users in a frame have no place beside which to write: give output, the folder to make")
    target = Path(f"{users}-{chosen.name.replace(':', '-')}" if output is None else output)
    with (
        _folder(target) as folder,
        place(min(cores() if jobs is None else jobs, len(rows)), dask, Deadline.after(time_limit)) as where,
    ):
        found = _solved(Parts(rows, (), where).then(_loaded, shared, chosen), where, rows, shared, chosen, folder)
        proof, unplaced, n = found
        evidence = proof.proof(BottleneckEvidence)
        assert evidence.used is not None and evidence.tops is not None
        answer = PartitionedAllocation(
            policy=chosen.name,
            users=n,
            partitions=len(rows),
            unplaced=unplaced,
            resources=shared.resources,
            capacity=shared.total,
            used=evidence.used,
            levels=evidence.tops,
            certificate=proof,
            engine="saturation",
            folder=str(target),
            seconds=time.perf_counter() - begun,
        )
        _finish(folder, target, rows, answer)
    return answer


def _partitions(frame: Any) -> list[Rows]:
    if not hasattr(frame, "to_delayed"):
        raise InstanceError(
            f"users are a {type(frame).__name__}: give the folder of their Parquet files, or a Dask frame"
        )
    return rows_of_frame(frame)


# ---- what is done where the users are --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Part:
    """The users of a part, and where they come from."""

    rows: Rows
    instance: Instance


def _loaded(rows: Rows, cluster: Cluster, policy: Policy) -> _Part:
    instance = load(rows, cluster)
    try:
        policy.check(instance)
    except PolicyError as error:
        raise at_row(error, rows) from None
    return _Part(rows, instance)


def _counted(part: _Part) -> tuple[int, bool]:
    return part.instance.n, part.instance.limited


def _paced(part: _Part, policy: Policy) -> Pace:
    problem = Problem(part.instance, policy)
    with np.errstate(divide="ignore"):
        pace = 1 / problem.all_rates
    pace[~problem.playing] = 0
    return Pace(part.instance.demands, pace, part.instance.limits if part.instance.limited else None)


def _held(part: _Part, policy: Policy, levels: np.ndarray) -> Holders:
    instance = part.instance
    tasks = tasks_at(_paced(part, policy), levels, np.empty(instance.n))
    return Holders(instance, policy.rates(instance), tasks)


def _written(part: _Part, policy: Policy, levels: np.ndarray, folder: str) -> tuple[Seen, int]:
    """Write the answer of a part; return what its certificate sees first, and how many of its users are unplaced."""
    held = _held(part, policy, levels)
    names = names_of(part.rows)
    columns = {} if names is None else {"name": names}
    columns |= {"tasks": held.tasks, "level": held.levels(slice(None))}
    write_columns(folder, part.rows.stem, columns)
    return held.seen(), int(np.count_nonzero(part.instance.unplaced()))


# ---- what is done here -----------------------------------------------------------------------------------------------


def _solved(
    parts: Parts, where: Place, rows: list[Rows], cluster: Cluster, policy: Policy, folder: Path
) -> tuple[Certificate, int, int]:
    """Return the certificate, how many users are unplaced, and how many there are; their tasks are written."""
    n = sum(part.n for part in rows)
    # Demands, weights, limits, and rates and tasks while they are worked on.
    if not n or not where.memory() * KEPT < n * (cluster.m + 4) * 8:
        parts = parts.kept()
    counts = parts.each(_counted, what="reading") if not n or parts.steps == () else [(n, True)]
    n, limited = sum(count for count, _ in counts), any(has for _, has in counts)
    capacity = cluster.total
    found = saturation(parts.then(_paced, policy), capacity, n, limited)
    wrote = parts.each(_written, policy, found.levels, str(folder), what="writing")
    proof = certify_parts(
        parts.then(_held, policy, found.levels),
        capacity,
        cluster.resources,
        n,
        lambda part, i: f"{rows[part].path}: row {rows[part].first + i}",
        REMEDY,
        seen=[seen for seen, _ in wrote],
    )
    if not proof.valid:
        raise CertificateError(f"an allocation was found that its certificate does not prove: {proof.reason}")
    return proof, sum(unplaced for _, unplaced in wrote), n


@contextlib.contextmanager
def _folder(target: Path) -> Iterator[Path]:
    """Make a folder beside the target, which is taken away again with all that is in it unless it takes its place."""
    if target.exists():
        raise InstanceError(f"{target} exists already: remove it, or name another folder for the answer")
    folder = target.absolute().with_name(f".{target.name}.{secrets.token_hex(6)}.part")
    try:
        folder.mkdir()
    except FileNotFoundError:
        raise InstanceError(f"{target}: the folder {str(target.parent)!r} does not exist: make it first") from None
    except OSError as error:
        raise InstanceError(f"{target}: cannot be written ({error.strerror}): name another folder") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _finish(folder: Path, target: Path, rows: list[Rows], answer: PartitionedAllocation) -> None:
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
