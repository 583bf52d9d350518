"""What an engine is given: the users who take part, their levels per task, and the rows of the cluster, as arrays.

A pool is the cluster of one class on which every task fits, so that every engine speaks of pairs (user, class).
Amounts are fractions of what a class has in total; nothing here has a unit.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ..base.deadline import NEVER, Deadline
from ..base.errors import SolverError
from ..base.parallel import ALONE, Workers
from ..base.solvers.table import DIRECT
from ..certificates.chain_point import ChainPoint
from ..certificates.point_errors import DoublePoint
from ..certificates.task_errors import FinePoint
from ..model.evidence import Evidence
from ..model.instance import Instance
from ..model.packings import maximal_patterns, shapes
from ..model.policies import Policy, parts_per_task
from ..model.whole_values import WholeUsers

__all__ = ["Answer", "ByType", "Problem", "exact_types", "in_floats"]


@dataclass(frozen=True, eq=False)
class Problem:
    """An instance seen by an engine: only users who are placed and may run something take part.

    Attributes
    ----------
    instance, policy : Instance, Policy
    integer : bool
    members : int array (n,)
        Rows of the instance that take part; every array below is in their order.
    deadline : Deadline
    precision : Fraction
        Largest relative width of an enclosure, where an exact answer is one.
    workers : Workers
        Who may be given parts of the problem that have nothing to do with each other.
    solver : str
        Who is asked integer programs, as `drfopt.base.solvers.table.interface` calls it.
    """

    instance: Instance
    policy: Policy
    integer: bool = False
    deadline: Deadline = NEVER
    precision: Fraction = Fraction(1, 10**30)
    workers: Workers = ALONE
    solver: str = DIRECT

    @cached_property
    def unplaced(self) -> np.ndarray:
        """Who can run no task at all, bool (n of the instance,)."""
        return self.instance.unplaced(self.integer)

    @cached_property
    def playing(self) -> np.ndarray:
        """Who is placed and has a limit above 0, bool (n of the instance,)."""
        if not self.instance.limited:
            return ~self.unplaced
        limits = self.instance.whole_limits if self.integer else self.instance.limits
        return ~self.unplaced & (limits > 0)

    @cached_property
    def members(self) -> np.ndarray:
        """Users who are placed and whose limit is not 0, as rows of the instance, (n,)."""
        return np.flatnonzero(self.playing)

    @cached_property
    def n(self) -> int:
        """Number of users who take part."""
        return int(np.count_nonzero(self.playing))

    @property
    def everyone(self) -> bool:
        """Whether all users of the instance take part."""
        return self.n == self.instance.n

    @property
    def m(self) -> int:
        """Number of resources."""
        return self.instance.m

    @property
    def k(self) -> int:
        """Number of machine classes; 1 for a pool."""
        return max(1, self.instance.k)

    @cached_property
    def whole_users(self) -> WholeUsers:
        """The users who take part, with what their whole tasks are worth and need."""
        return WholeUsers(self.instance, self.policy, self.members.tolist())

    @cached_property
    def shares(self) -> np.ndarray:
        """Part of the whole cluster that one task takes, (n, m)."""
        return self.of_members(parts_per_task(self.instance))

    @cached_property
    def all_rates(self) -> np.ndarray:
        """Level of one task of every user of the instance, (n of the instance,)."""
        return self.policy.rates(self.instance)

    @cached_property
    def rates(self) -> np.ndarray:
        """Level of one task, (n,)."""
        return self.of_members(self.all_rates)

    @cached_property
    def weights(self) -> np.ndarray:
        """Scalar weights, (n,); 1 where the policy knows none."""
        if self.policy.weights == "none" or self.instance.weights_per_resource:
            return np.ones(self.n)
        return self.of_members(self.instance.weights)

    @cached_property
    def limits(self) -> np.ndarray:
        """The most tasks of each user, (n,); whole numbers in the integer version; inf for none."""
        return self.of_members(self.instance.whole_limits if self.integer else self.instance.limits)

    @cached_property
    def shapes(self) -> list[list[int]]:
        """Positions of the users whose tasks are alike, shape by shape."""
        return shapes(self.instance, self.members.tolist())

    @cached_property
    def patterns(self) -> list[list[dict[int, int]] | None]:
        """Maximal packings of one machine of each class, tasks of a shape under its first user; None for too many."""
        users = [int(self.members[positions[0]]) for positions in self.shapes]
        return [maximal_patterns(self.instance, k, users, self.deadline) for k in range(self.instance.k)]

    @cached_property
    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Pairs (user, class) on which a task fits: two int arrays (pairs,), user by user."""
        fits = self.instance.fits
        if fits is None:
            return np.arange(self.n), np.zeros(self.n, dtype=np.intp)
        user, machine = np.nonzero(fits[self.members])
        return user, machine

    @cached_property
    def cost(self) -> np.ndarray:
        """Fraction of its class that one task of a pair takes, (pairs, m)."""
        user, machine = self.pairs
        room = self.instance.room[machine]
        demands = self.instance.demands[self.members[user]]
        return np.divide(demands, room, where=room > 0, out=np.zeros_like(room))

    @cached_property
    def user(self) -> np.ndarray:
        """Whose each row is, (n,): by type there may be several of one user."""
        return np.arange(self.n)

    @cached_property
    def part(self) -> np.ndarray:
        """Part of her tasks that each row is, (n,)."""
        return np.ones(self.n)

    @cached_property
    def by_type(self) -> "Problem":
        """The same with every task type as a user of its own; itself where there are none, or they are in a pool."""
        if self.instance.type_table is None:
            return self
        return ByType.of(self)

    def placement(self, amounts: np.ndarray) -> np.ndarray | None:
        """Return tasks per pair (pairs,) as an array (n of the instance, k); None for a pool."""
        if self.instance.machines is None:
            return None
        user, machine = self.pairs
        table = np.zeros((self.instance.n, self.k), dtype=amounts.dtype)
        if table.dtype == object:
            table[:] = Fraction(0)
        table[self.members[user], machine] = amounts
        return table

    def of_members(self, values: np.ndarray) -> np.ndarray:
        """Return the rows of those who take part of something known of every user of the instance."""
        return values if self.everyone else values[self.members]


@dataclass(frozen=True, eq=False)
class ByType(Problem):
    """A problem whose users are task types: every type is a user of its own, and types of one user rise together.

    Type t of user i is ``part_t`` of her tasks, so her level is ``rate_i / part_t`` for each task of it.  Programs that
    hold or raise levels say the same of her types as of her, and only who is finished has to be told user by user: when
    one of her types cannot rise, none does.

    Attributes
    ----------
    whole : Problem
        The same, user by user.
    """

    whole: Any = None

    @classmethod
    def of(cls, problem: Problem) -> "ByType":
        """Return the types of a problem's users as users."""
        instance = problem.instance
        types, kinds = instance.type_table, instance.task_types
        rows: list = []
        limits: list = []
        for i, (mine, limit) in enumerate(zip(kinds or (), instance.exact_limits, strict=True)):
            total = sum(kind.count for kind in mine) if mine else 1
            rows += [list(kind.demand) for kind in mine] if mine else [list(instance.exact_demands[i])]
            limits += [
                None if limit is None else limit * Fraction(count, total)
                for count in ([kind.count for kind in mine] if mine else [1])
            ]
        parts = instance.parts()
        expanded = Instance(
            rows,
            machines=parts["machines"],
            resources=instance.resources,
            max_tasks=limits,
            eligible=np.array(types.fits),
        )
        given = {field.name: getattr(problem, field.name) for field in fields(Problem)}
        return cls(**(given | {"instance": expanded}), whole=problem)

    @property
    def owner(self) -> np.ndarray:
        """Whose each type is, as rows of the whole instance, of all types, (q,)."""
        return self.whole.instance.type_table.owner

    @cached_property
    def user(self) -> np.ndarray:
        """Whose each type is, as positions among the users who take part, of the types that do, (n,)."""
        return np.searchsorted(self.whole.members, self.owner[self.members])

    @cached_property
    def part(self) -> np.ndarray:
        """Part of her tasks that each type is, (n,)."""
        return self.whole.instance.type_table.part[self.members]

    @cached_property
    def unplaced(self) -> np.ndarray:
        """Types of users who are unplaced: of who cannot run one type none is run."""
        return self.whole.unplaced[self.owner]

    @cached_property
    def playing(self) -> np.ndarray:
        """Types of users who take part."""
        return self.whole.playing[self.owner]

    @cached_property
    def all_rates(self) -> np.ndarray:
        """What one task of a type adds to the level of its user, if her other types go with it."""
        return self.whole.all_rates[self.owner] / self.whole.instance.type_table.part


def exact_types(problem: Problem) -> tuple[list[Fraction], list[tuple[Fraction, ...]]]:
    """Return of every row of a problem by type its part of its user's tasks, and its demand (m,), as `Fraction`s."""
    kinds = problem.instance.task_types if problem.instance.type_table is not None else None
    parts: list[Fraction] = []
    demands: list[tuple[Fraction, ...]] = []
    for i in problem.members.tolist():
        mine = None if kinds is None else kinds[i]
        total = sum(kind.count for kind in mine) if mine else 1
        parts += [Fraction(kind.count, total) for kind in mine] if mine else [Fraction(1)]
        demands += [tuple(kind.demand) for kind in mine] if mine else [problem.instance.exact_demands[i]]
    return parts, demands


@dataclass(frozen=True, eq=False)
class Answer:
    """What an engine returns, for the users who take part.

    Attributes
    ----------
    tasks : array (n,)
    amounts : array (pairs,) or None
        Tasks of each pair (user, class), for machines.
    prices : array (k, m) or None
        Price of one unit of each resource of each class, in the stated objective.
    evidence : Evidence
        What the certificate needs besides: rounds of a chain, packings of whole tasks.
    status : str
    engine : str
        Name of the engine that answered, where it is not the one that was asked: a search that fell back on another.
    exact : Answer or None
        The answer in fractions of which these are the nearest floats.
    fine : FinePoint, DoublePoint or None
        Of a market the point of more digits of which these are the nearest floats.
    chain_point : ChainPoint or None
        The same of a chain of rounds.
    finer : callable or None
        Makes the answer with such a point, for a proof that floats do not make.
    levels : array (n,) or None
        Where they do not follow from the tasks by the policy's rates.
    whole_part : int array (n,) or None
        Of whole tasks that were rounded: whole parts of the continuous optimum.
    reason : str
        What a user's formulation says of its own answer.
    """

    tasks: np.ndarray
    amounts: np.ndarray | None = None
    prices: np.ndarray | None = None
    evidence: Evidence = field(default_factory=Evidence)
    status: str = "optimal"
    engine: str = ""
    exact: "Answer | None" = None
    fine: FinePoint | DoublePoint | None = None
    chain_point: ChainPoint | None = None
    finer: "Callable[[], Answer | None] | None" = None
    levels: np.ndarray | None = None
    whole_part: np.ndarray | None = None
    reason: str = ""


def in_floats(answer: Answer) -> Answer:
    """Return the floats nearest to an exact answer, which goes with them as evidence.

    Raises
    ------
    SolverError
        When a number is beyond the range of floats.
    """
    try:
        tasks = answer.tasks.astype(np.float64)
        amounts, prices = (None if v is None else v.astype(np.float64) for v in (answer.amounts, answer.prices))
    except OverflowError:
        raise SolverError("the answer is beyond the range of floats: use exact=True, or change the units") from None
    levels = None if answer.levels is None else answer.levels.astype(np.float64)
    return Answer(tasks, amounts, prices, exact=answer, levels=levels)
