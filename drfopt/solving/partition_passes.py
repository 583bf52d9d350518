"""What is done with users who lie in parts, by objective: what is found, what each part writes, what proves it.

Every pass is a sum over parts.  What travels has the size of the resources, or of their sets; who owns a part keeps its
users, and makes their tasks from a few numbers whenever they are asked for.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.deadline import Deadline
from ..base.errors import PolicyError
from ..base.partitions import Partitions
from ..certificates import bottleneck, prices
from ..certificates.holders import Holders
from ..certificates.prices import Buyers
from ..engines.leximin.saturation import Rising, saturation, tasks_at
from ..engines.nash.demand_response import DemandResponse, PartedResponse
from ..engines.nash.newton import descended
from ..engines.problem import Problem
from ..io.user_tables.cluster import BareCluster
from ..io.user_tables.columns import at_row, load, names_of, write_columns
from ..io.user_tables.rows import UserRows
from ..model.allocation import Certificate
from ..model.instance import Instance
from ..model.policies import Policy

__all__ = ["OBJECTIVES", "Division", "LoadedPart", "Objective", "loaded"]

REMEDY = "solve these users in memory, with exact=True, or round their numbers"

SAMPLED = 1 << 16
"""Users of the largest sample: they are all that travels."""


@dataclass(frozen=True, eq=False)
class LoadedPart:
    """The users of a part, and where they come from."""

    rows: UserRows
    instance: Instance


@dataclass(frozen=True, eq=False)
class Division:
    """What is to be divided: the parts, their sources, how many users, about what money they have, who has a limit."""

    parts: Partitions
    rows: list[UserRows]
    cluster: BareCluster
    policy: Policy
    n: int
    money: float
    limited: bool
    deadline: Deadline

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
    return LoadedPart(rows, instance)


@dataclass(frozen=True)
class Objective:
    """A row of the table: how the few numbers are found from which everybody's tasks follow, and how they are proven.

    Attributes
    ----------
    engine : str
    find : callable
        From a `Division` to the numbers.
    held : callable
        From a part, the policy and the numbers to what users hold, which has `tasks` and `seen`.
    prove : callable
        From a `Division`, the numbers, parts of what is held and what was seen of each to the certificate.
    priced : bool
        Whether the numbers are prices of a unit, (m,).
    """

    engine: str
    find: Callable[[Division], np.ndarray]
    held: Callable[[LoadedPart, Policy, np.ndarray], Any]
    prove: Callable[[Division, np.ndarray, Partitions, list], Certificate]
    priced: bool

    def written(self, part: LoadedPart, policy: Policy, numbers: np.ndarray, folder: str) -> tuple[Any, int]:
        """Write the answer of a part; return what its certificate sees first, and how many users are unplaced."""
        held, instance = self.held(part, policy, numbers), part.instance
        names = names_of(part.rows)
        columns = {} if names is None else {"name": names}
        columns |= {"tasks": held.tasks, "level": policy.rates(instance) * held.tasks}
        write_columns(folder, part.rows.stem, columns)
        return held.seen(), int(np.count_nonzero(instance.unplaced()))


# ---- leximin ---------------------------------------------------------------------------------------------------------


def _paced(part: LoadedPart, policy: Policy) -> Rising:
    problem = Problem(part.instance, policy)
    with np.errstate(divide="ignore"):
        pace = 1 / problem.all_rates
    pace[~problem.playing] = 0
    return Rising(part.instance.demands, pace, part.instance.limits if part.instance.limited else None)


def _saturation(division: Division) -> np.ndarray:
    """Return the levels (m,) at which resources run out."""
    paces = division.parts.then(_paced, division.policy)
    return saturation(paces, division.cluster.total, division.n, division.limited).levels


def _held(part: LoadedPart, policy: Policy, levels: np.ndarray) -> Holders:
    instance = part.instance
    tasks = tasks_at(_paced(part, policy), levels, np.empty(instance.n))
    return Holders(instance, policy.rates(instance), tasks)


def _bottlenecks(division: Division, levels: np.ndarray, held: Partitions, seen: list) -> Certificate:
    cluster = division.cluster
    return bottleneck.certify_parts(
        held, cluster.total, cluster.resources, division.n, division.called, REMEDY, seen=seen
    )


# ---- markets ---------------------------------------------------------------------------------------------------------


def _responding(part: LoadedPart, policy: Policy) -> DemandResponse:
    return DemandResponse.of(Problem(part.instance, policy))[0]


def _clearing(division: Division) -> np.ndarray:
    """Return the prices (m,) of a unit at which nothing is overfull, and what has a price is used up."""
    responding = division.parts.then(_responding, division.policy)
    market = PartedResponse(
        responding, division.n, division.cluster.total, division.policy.alpha, division.money, division.limited
    )
    with np.errstate(all="ignore"):
        return descended(division.deadline, market, largest=SAMPLED) * market.unit


def _bought(part: LoadedPart, policy: Policy, prices_of: np.ndarray) -> Buyers:
    tasks = np.empty(part.instance.n)
    with np.errstate(all="ignore"):
        _responding(part, policy).look(prices_of * part.instance.capacity, tasks=tasks)
    return Buyers(part.instance, policy, prices_of[None, :], tasks)


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


OBJECTIVES = {
    "leximin": Objective("saturation", _saturation, _held, _bottlenecks, priced=False),
    "alpha": Objective("newton", _clearing, _bought, _prices, priced=True),
}
