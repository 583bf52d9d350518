"""What is done with users who lie in parts, by objective: what is found, what each part writes, what proves it.

Every pass is a sum over parts.  What travels has the size of the resources, or of their sets; who owns a part keeps its
users, and makes their tasks from a few numbers whenever they are asked for.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..base.deadline import Deadline
from ..base.errors import PolicyError, SolverError
from ..base.numbers.double_double import DoubleDouble
from ..base.partitions import Partitions
from ..base.states import OnDisk, PartStates
from ..certificates import bottleneck, prices
from ..certificates.chain import ChainUsers, cell_name, certify_parts
from ..certificates.holders import Holders
from ..certificates.point_errors import PointUsers, parts_error
from ..certificates.prices import Buyers
from ..engines.leximin.parted_chain import ChainPart, chain
from ..engines.leximin.saturation import Rising, saturation, tasks_at
from ..engines.nash.demand_response import DemandResponse, PartedResponse, common_level, crowd, worth
from ..engines.nash.newton import descended
from ..engines.nash.parted_market import MarketUsers, clear
from ..engines.placing import fewest
from ..engines.problem import Problem
from ..io.user_tables.cluster import BareCluster
from ..io.user_tables.columns import at_row, load, names_of, read_columns, write_columns
from ..io.user_tables.rows import UserRows
from ..model.certificate import Certificate
from ..model.instance import Instance
from ..model.policies import Policy

__all__ = ["OBJECTIVES", "Division", "LoadedPart", "PartedAnswer", "loaded"]

REMEDY = "solve these users in memory, where other methods are asked, or there with exact=True"

SAMPLED = 1 << 16
"""Users of the largest sample: they are all that travels."""


@dataclass(frozen=True, eq=False)
class LoadedPart:
    """The users of a part, where they come from, and what is made of them."""

    rows: UserRows
    instance: Instance
    policy: Policy

    @cached_property
    def rates(self) -> np.ndarray:
        """Level of one task of each user, (n,); kept with the part."""
        return self.policy.rates(self.instance)


@dataclass(frozen=True, eq=False)
class Division:
    """What is to be divided: the parts, their sources, how many users, about what money they have, whether somebody has
    a limit, how many bytes of users may be kept, and whether users are to be on few classes of machines."""

    parts: Partitions
    rows: list[UserRows]
    cluster: BareCluster
    policy: Policy
    n: int
    money: float
    limited: bool
    memory: float
    deadline: Deadline
    few_classes: bool = False

    def called(self, part: int, i: int) -> str:
        """Return what a user is called in a sentence."""
        return f"{self.rows[part].path}: row {self.rows[part].first + i}"


def loaded(rows: UserRows, cluster: BareCluster, policy: Policy) -> LoadedPart:
    """Return a part, read from where it is and checked."""
    instance = load(rows, cluster)
    try:
        policy.check(instance)
    except PolicyError as error:
        raise at_row(error, rows) from None
    return LoadedPart(rows, instance, policy)


@dataclass(frozen=True, eq=False)
class PartedAnswer:
    """What is known of all users together.

    Attributes
    ----------
    engine : str
    proof : Certificate
    users : int
    used : array (k, m)
        Of a pool k is 1.
    unplaced : int
    levels : array (m,) or None
        The highest level on each resource.
    prices : array (m,), on machines (k, m), or None
        What a unit costs.
    """

    engine: str
    proof: Certificate
    users: int
    used: np.ndarray
    unplaced: int
    levels: np.ndarray | None = None
    prices: np.ndarray | None = None


@dataclass(frozen=True)
class PoolObjective:
    """How the few numbers are found from which everybody's tasks in a pool follow, and how they are proven.

    Attributes
    ----------
    engine : str
    find : callable
        From a `Division` to the numbers.
    held : callable
        From a part and the numbers to what users hold, which has `tasks` and `seen`.
    prove : callable
        From a `Division`, the numbers, parts of what is held and what was seen of each to the certificate.
    priced : bool
        Whether the numbers are prices of a unit, (m,).
    """

    engine: str
    find: Callable[[Division], np.ndarray]
    held: Callable[[LoadedPart, np.ndarray], Any]
    prove: Callable[[Division, np.ndarray, Partitions, list], Certificate]
    priced: bool

    def divide(self, division: Division, folder: str) -> PartedAnswer:
        """Write everybody's tasks to files of a folder, and prove them."""
        numbers = self.find(division)
        wrote = division.parts.each(self.written, numbers, folder, what="writing")
        held = division.parts.then(self.held, numbers)
        seen = [found for found, _ in wrote]
        return PartedAnswer(
            self.engine,
            self.prove(division, numbers, held, seen),
            division.n,
            np.sum([part.used for part in seen], axis=0).reshape(1, -1),
            sum(unplaced for _, unplaced in wrote),
            levels=None if self.priced else np.max([part.highest for part in seen], axis=0),
            prices=numbers if self.priced else None,
        )

    def written(self, part: LoadedPart, numbers: np.ndarray, folder: str) -> tuple[Any, int]:
        """Write the answer of a part; return what its certificate sees first, and how many users are unplaced."""
        held = self.held(part, numbers)
        columns = _named(part.rows) | {"tasks": held.tasks, "level": part.rates * held.tasks}
        write_columns(folder, part.rows.stem, columns)
        return held.seen(), int(np.count_nonzero(part.instance.unplaced()))


def _named(rows: UserRows) -> dict[str, Any]:
    names = names_of(rows)
    return {} if names is None else {"name": names}


# ---- leximin ---------------------------------------------------------------------------------------------------------


def _paced(part: LoadedPart) -> Rising:
    problem = Problem(part.instance, part.policy)
    with np.errstate(divide="ignore"):
        pace = 1 / part.rates
    if not problem.everyone:
        pace[~problem.playing] = 0
    limits = part.instance.limits if part.instance.limited else None
    return Rising(part.instance.demands, pace, limits, part.instance.needs)


def _saturation(division: Division) -> np.ndarray:
    """Return the levels (m,) at which resources run out."""
    paces = division.parts.then(_paced)
    return saturation(paces, division.cluster.total, division.n, division.limited).levels


def _held(part: LoadedPart, levels: np.ndarray) -> Holders:
    return Holders(part.instance, part.rates, tasks_at(_paced(part), levels, np.empty(part.instance.n)), far=True)


def _bottlenecks(division: Division, levels: np.ndarray, held: Partitions, seen: list) -> Certificate:
    cluster = division.cluster
    return bottleneck.certify_parts(
        held, cluster.total, cluster.resources, division.n, division.called, REMEDY, seen=seen
    )


# ---- markets ---------------------------------------------------------------------------------------------------------


def _responding(part: LoadedPart, level: float) -> DemandResponse:
    return DemandResponse.of(Problem(part.instance, part.policy), level)[0]


def _crowd(part: LoadedPart) -> np.ndarray:
    return crowd(Problem(part.instance, part.policy))


def _clearing(division: Division) -> np.ndarray:
    """Return the prices (m,) of a unit at which nothing is overfull, and what has a price is used up."""
    total, alpha, level = division.cluster.total, division.policy.alpha, 1.0
    if alpha != 1:
        crowds = division.parts.each(_crowd, what="scales")
        level = common_level(total, np.sum(crowds, axis=0))
    responding = division.parts.then(_responding, level)
    market = PartedResponse(responding, division.n, total, alpha, division.money * level, division.limited)
    with np.errstate(all="ignore"):
        found = descended(division.deadline, market, largest=SAMPLED) * market.unit * worth(level, alpha)
    if not np.isfinite(found).all():
        raise SolverError(f"the prices of {division.policy.name} are beyond the range of floats: take a smaller alpha")
    return found


def _bought(part: LoadedPart, prices_of: np.ndarray) -> Buyers:
    tasks = np.empty(part.instance.n)
    with np.errstate(all="ignore"):
        # At prices in the units of the objective levels are counted as they are.
        _responding(part, 1.0).look(prices_of * part.instance.capacity, tasks=tasks)
    return Buyers(part.instance, part.policy, prices_of[None, :], tasks)


def _prices(division: Division, prices_of: np.ndarray, held: Partitions, seen: list) -> Certificate:
    cluster = division.cluster
    return prices.certify_parts(
        held,
        cluster.total[None, :],
        prices_of[None, :],
        division.n,
        division.called,
        lambda k, j: repr(cluster.resources[j]),
        REMEDY,
        seen=seen,
    )


# ---- leximin on machines ---------------------------------------------------------------------------------------------


ON = "on "
"""What stands before the name of a class in the column of the tasks that are there."""

BYTES = 8 * 4
"""What a pair takes at most while it is worked on: an amount and a reduced cost, each before and after a step."""

DIGITS = 8 * 12
"""The same of a market, which ends with amounts of 32 digits, before and after a step, and what they miss."""

Source = tuple[int, UserRows, bool]
"""Number of a part, where it comes from, and whether its state lies in a file."""


def _owned(division: Division, size: int) -> Partitions:
    """Return sources of states that take `size` bytes a pair."""
    size *= sum(rows.n for rows in division.rows) * len(division.cluster.room)
    # So many parts, of each worker's as many as of another's, stay in memory; what the others are at lies in files.
    kept = min(1.0, division.memory / size) if size else 1.0
    sources = [(q, rows, int((q + 1) * kept) == int(q * kept)) for q, rows in enumerate(division.rows)]
    return Partitions(sources, (), division.parts.place)


@dataclass(frozen=True, eq=False)
class MachineObjective:
    """Leximin on machines: iterates stay with whoever owns a part, and the proof is made of what was written."""

    engine: str = "interior-chain"

    def divide(self, division: Division, folder: str) -> PartedAnswer:
        """Write everybody's tasks and where they are to files of a folder, and prove them."""
        cluster, policy = division.cluster, division.policy
        room = cluster.room
        owned = _owned(division, BYTES)
        states = PartStates(owned.then(_chained, cluster, policy, folder))
        rounds = chain(states, room, division.deadline)
        unplaced, n = _write_all(division, states, folder)
        users = PartStates(owned.then(_judged, cluster, policy, folder))
        users.said = "proof"
        proof = certify_parts(
            users, room, rounds, division.called, partial(cell_name, cluster.classes, cluster.resources)
        )
        seen = users.parts.each(_seen, what="proof")
        used: np.ndarray = np.sum([used for used, _ in seen], axis=0)
        return PartedAnswer(self.engine, proof, n, used, unplaced, levels=np.max([top for _, top in seen], axis=0))


def _chained(source: Source, cluster: BareCluster, policy: Policy, folder: str) -> Any:
    """Return the state of a part at the beginning of the chain."""
    number, rows, on_disk = source
    part = ChainPart(Problem(loaded(rows, cluster, policy).instance, policy), number)
    return OnDisk(part, folder) if on_disk else part


def _opened(state: Any) -> Any:
    return state.open() if isinstance(state, OnDisk) else state


def _write_all(division: Division, states: PartStates, folder: str, *told: Any) -> tuple[int, int]:
    """Write the answer of all parts, `told` what they need for it; return how many users are unplaced, and all."""
    cluster, share = division.cluster, None
    if division.few_classes:
        (used,) = states.parts.total(_filled, division.rows, cluster, *told, what="what is used")
        # Of what is left of a row each part has as much as it uses of it.
        share = np.divide(cluster.room, used, where=used > 0, out=np.ones_like(used))
    unplaced, n = states.parts.total(_written, division.rows, cluster, folder, share, *told, what="writing")
    return unplaced, n


def _filled(state: Any, rows: list[UserRows], cluster: BareCluster, *told: Any) -> tuple[np.ndarray]:
    """Return what the users of a part use of each row, (k, m)."""
    part = _opened(state)
    used: np.ndarray = part.tasks(*told)[2].T @ load(rows[part.number], cluster).demands
    return (used,)


def _written(
    state: Any, rows: list[UserRows], cluster: BareCluster, folder: str, share: np.ndarray | None, *told: Any
) -> tuple[int, int]:
    """Write the answer of a part; return how many users are unplaced, and how many there are.

    A `share` (k, m), which times what the part uses is what it may, says that users are to be on few classes.
    """
    part = _opened(state)
    tasks, levels, placement = part.tasks(*told)[:3]
    if share is not None:
        instance = load(rows[part.number], cluster)
        used = placement.T @ instance.demands
        placement = fewest(instance, tasks, placement, np.where(used > 0, used * share, cluster.room))
    _write(rows[part.number], cluster, folder, tasks, levels, placement)
    return int(part.unplaced), len(tasks)


def _write(
    rows: UserRows, cluster: BareCluster, folder: str, tasks: np.ndarray, levels: np.ndarray, placement: np.ndarray
) -> None:
    columns = _named(rows) | {"tasks": tasks, "level": levels}
    columns |= {ON + name: column for name, column in zip(cluster.classes or (), placement.T, strict=True)}
    write_columns(folder, rows.stem, columns)


def _read(rows: UserRows, cluster: BareCluster, folder: str) -> tuple[Instance, np.ndarray, np.ndarray]:
    """Return the users of a part, and the tasks (n,) and the placement (n, k) that were written."""
    instance, found = load(rows, cluster), read_columns(folder, rows.stem)
    placement = np.empty((instance.n, instance.k))
    for k, name in enumerate(cluster.classes or ()):
        placement[:, k] = found[ON + name]
    return instance, found["tasks"], placement


def _judged(source: Source, cluster: BareCluster, policy: Policy, folder: str) -> Any:
    """Return the users of a part with the tasks that were written."""
    number, rows, on_disk = source
    instance, tasks, placement = _read(rows, cluster, folder)
    users = ChainUsers(instance, policy.rates(instance), tasks, placement, number, finds=True)
    return OnDisk(users, folder) if on_disk else users


def _seen(state: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return what users use of each row (k, m), and the highest level on each resource (m,)."""
    users = _opened(state)
    demands = users.instance.demands
    highest = [float(users.levels.max(where=column > 0, initial=0.0)) for column in demands.T]
    return users.placement.T @ demands, np.array(highest)


# ---- markets on machines ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MachineMarket:
    """A market on machines: the same, and the proof has the digits beside what was written."""

    engine: str = "barrier"

    def divide(self, division: Division, folder: str) -> PartedAnswer:
        """Write everybody's tasks and where they are to files of a folder, and prove them."""
        cluster, policy = division.cluster, division.policy
        states = PartStates(_owned(division, DIGITS).then(_trading, cluster, policy, folder))
        fine, prices_of = clear(states, policy, cluster.room.shape, division.called, division.deadline)
        unplaced, n = _write_all(division, states, folder, fine)
        seen = states.parts.then(_buyers, division.rows, cluster, policy, folder, prices_of).each(
            Buyers.seen, what="proof"
        )
        points = states.parts.then(_points, division.rows, cluster, policy, folder, fine)
        proof = prices.certify_parts(
            points,
            cluster.room,
            prices_of,
            n,
            division.called,
            partial(cell_name, cluster.classes, cluster.resources),
            "round these users' numbers",
            fine=lambda: parts_error(points, n),
            pool=False,
            seen=seen,
        )
        top = points.each(_highest, policy, what="proof")
        used: np.ndarray = np.sum([part.used for part in seen], axis=0)
        return PartedAnswer(
            self.engine, proof, n, used, unplaced, levels=np.max(top, axis=0), prices=np.maximum(prices_of, 0)
        )


def _trading(source: Source, cluster: BareCluster, policy: Policy, folder: str) -> Any:
    number, rows, on_disk = source
    users = MarketUsers(Problem(loaded(rows, cluster, policy).instance, policy), number)
    return OnDisk(users, folder) if on_disk else users


def _buyers(
    state: Any, rows: list[UserRows], cluster: BareCluster, policy: Policy, folder: str, prices_of: np.ndarray
) -> Buyers:
    """Return the users of a part with the tasks that were written."""
    instance, tasks, placement = _read(rows[_opened(state).number], cluster, folder)
    return Buyers(instance, policy, np.maximum(prices_of, 0), tasks, placement)


def _points(
    state: Any, rows: list[UserRows], cluster: BareCluster, policy: Policy, folder: str, fine: DoubleDouble
) -> PointUsers:
    """Return the same with the point near them."""
    users: MarketUsers = _opened(state)
    instance, tasks, _ = _read(rows[users.number], cluster, folder)
    return PointUsers(instance, policy, tasks, users.tasks(fine)[3])


def _highest(users: PointUsers, policy: Policy) -> np.ndarray:
    """Return the highest level on each resource, (m,)."""
    levels = policy.rates(users.instance) * users.tasks
    return np.array([float(levels.max(where=column > 0, initial=0.0)) for column in users.instance.demands.T])


OBJECTIVES: dict[tuple[str, bool], PoolObjective | MachineObjective | MachineMarket] = {
    ("leximin", False): PoolObjective("saturation", _saturation, _held, _bottlenecks, priced=False),
    ("alpha", False): PoolObjective("newton", _clearing, _bought, _prices, priced=True),
    ("leximin", True): MachineObjective(),
    ("alpha", True): MachineMarket(),
}
"""By objective, and whether the cluster has machines."""
