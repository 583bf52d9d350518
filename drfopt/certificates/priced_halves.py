"""Nash products and alpha fairness of whole tasks on machines, near a bound of a pool that contains all packings.

Whatever prices tasks have, those of a packing cost no more than all machines with their most valuable loads are worth
(`machine_loads`).  So each set of prices is a resource of a pool, beside all that the machines have, and what is worth
most in the pool bounds what is on machines; as long as that cannot be carried, in fractions of machines, the prices
that show it become one more resource.  What is not less than some allocation is listed near the bound of this pool
(`meet_in_the_middle`).
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property

from ..base.deadline import NEVER, Deadline
from ..base.errors import SolverError, TimeLimitError
from ..base.progress import report
from ..model.whole_values import WholeUsers
from .machine_loads import MachineLoads
from .meet_in_the_middle import MeetInTheMiddle, TooManyChoices

__all__ = ["PricedHalves"]

RESOURCES = 60
"""Sets of prices that are learned at most before anything is listed."""

CELLS = 100_000
"""Pairs of a shape and a class beyond which no loads are searched."""


class PricedHalves:
    """The pool that is known to contain all packings, and the search near its bound.

    Parameters
    ----------
    users : WholeUsers
        Of one type each, on machines without devices and without rules.

    Attributes
    ----------
    halves : MeetInTheMiddle
        The search in the pool as it is known: its bound can be carried in fractions of machines, where time allows.
    """

    def __init__(self, users: WholeUsers, deadline: Deadline = NEVER):
        if len(users.shapes) * users.cluster.k > CELLS:
            raise TooManyChoices
        self.users, self.deadline = users, deadline
        self.shape_of = [users.goods[goods[0]][1] for goods in users.goods_of]
        self.more: list[tuple[list[int], int]] = []
        self.halves = MeetInTheMiddle(users, deadline=deadline)
        # What is learned of it by the deadline bounds what is on machines.
        with suppress(TimeLimitError):
            for _ in range(RESOURCES):
                if not self.halves.fit or not self.learn(self.halves.mixed.tasks.tolist()):
                    break

    @cached_property
    def loads(self) -> MachineLoads:
        """The loads of its machines, begun where they are asked for: without them the pool of all machines is known."""
        return MachineLoads(self.users.cluster, [rows[0] for rows in self.users.shapes], self.deadline)

    def whole(self, tasks: Sequence[int]) -> list[int]:
        """Return how many tasks of each shape are these of the members."""
        return list(map(int, self.asked(tasks)))

    def asked(self, tasks: Sequence[float]) -> list[float]:
        """Return the same of tasks in fractions."""
        found: list[float] = [0] * len(self.users.shapes)
        for s, x in zip(self.shape_of, tasks, strict=True):
            found[s] += x
        return found

    def learn(self, tasks: Sequence[float]) -> bool:
        """Add the prices that show that machines cannot carry tasks of the members; say whether there are any."""
        if (priced := self.loads.prices(self.asked(tasks))) is None:
            return False
        prices, worth = priced
        self.more.append(([prices[s] for s in self.shape_of], worth))
        report(f"{len(self.more)} sets of prices that all packings keep to")
        self.halves = MeetInTheMiddle(self.users, self.more, self.deadline)
        return True

    def better(self, own: Sequence[int]) -> list[int] | None:
        """Return tasks that are worth more and are not known not to fit; None where there are none.

        Raises
        ------
        TooManyChoices, TimeLimitError
        """
        while True:
            found = self.halves.within(self.halves.loss(own), self.deadline)
            if not found:
                raise SolverError("the search near a bound does not find the allocation at hand: it is not believed")
            if not self.halves.value(found[0]) > self.halves.value(own):
                return None
            if not self.learn(found[0]):
                return found[0]
