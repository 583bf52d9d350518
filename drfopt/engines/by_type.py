"""Users with several task types on machines: every type is a user of its own, and types of one user rise together.

Type t of user i is ``part_t`` of her tasks, so her level is ``rate_i / part_t`` for each task of it.  Programs that
hold or raise levels say the same of her types as of her, and only who is finished has to be told user by user: when
one of her types cannot rise, none does.
"""

from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ..instance import Instance
from .problem import Problem

__all__ = ["ByType"]


@dataclass(frozen=True, eq=False)
class ByType(Problem):
    """A problem whose users are task types.

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
