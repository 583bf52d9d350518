"""A counterexample made small: fewest users, fewest resources, then the smallest whole numbers that still do.

Every move makes the case smaller and is taken when the property still fails, decided exactly and without a tie.  When
no single move helps, all smaller cases of that many users and resources are looked at, where they are few enough; then
the result is the smallest there is.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from .space import Case, Space, SpaceUser

__all__ = ["FEW", "smaller", "smallest"]

FEW = 2000
"""Cases of the size reached that are looked at for a smaller one that no single move leads to: about a second."""


def smallest(case: Case, fails: Callable[[Case], bool], few: int = FEW) -> Case:
    """Return a case reached from this one by moves that keep the property failing, or the smallest of `few`."""
    while (found := next((c for c in sorted(smaller(case), key=lambda c: c.size) if fails(c)), None)) is not None:
        case = found
    space = Space(
        users=len(case.users),
        resources=len(case.rooms[0]),
        max_demand=max(d for user in case.users for d in user.demand),
        max_capacity=max(c for row in case.rooms for c in row),
        zero_demands=not all(all(user.demand) for user in case.users),
        max_weight=max(user.weight for user in case.users),
        max_limit=max(user.limit for user in case.users),
        machines=0 if case.pool else len(case.rooms),
    )
    if space.total > few:
        return case
    every = sorted((c for unit in range(space.units) for c in space.cases(unit)), key=lambda c: c.size)
    return next((c for c in every if c.size < case.size and fails(c)), case)


def smaller(case: Case) -> Iterator[Case]:
    """Yield the cases one move away that are smaller."""
    n, m = len(case.users), len(case.rooms[0])
    for i in range(n if n > 1 else 0):
        yield replace(case, users=case.users[:i] + case.users[i + 1 :])
    for j in range(m if m > 1 else 0):
        users = tuple(replace(user, demand=_drop(user.demand, j)) for user in case.users)
        if all(any(user.demand) for user in users):
            yield Case(tuple(_drop(row, j) for row in case.rooms), users, case.pool)
    for k in range(len(case.rooms) if len(case.rooms) > 1 else 0):
        yield replace(case, rooms=case.rooms[:k] + case.rooms[k + 1 :])
    for i, user in enumerate(case.users):
        for kind in _simpler(user):
            yield replace(case, users=tuple(sorted([*case.users[:i], kind, *case.users[i + 1 :]])))
    for k, row in enumerate(case.rooms):
        for j, capacity in enumerate(row):
            for less in range(1, capacity):
                changed = (*row[:j], less, *row[j + 1 :])
                yield replace(case, rooms=(*case.rooms[:k], changed, *case.rooms[k + 1 :]))


def _simpler(user: SpaceUser) -> Iterator[SpaceUser]:
    if user.weight > 1:
        yield replace(user, weight=1)
    if user.limit:
        yield replace(user, limit=0)
        yield from (replace(user, limit=limit) for limit in range(1, user.limit))
    for j, d in enumerate(user.demand):
        # A zero stays what the searcher allowed: positive demands stay positive.
        for less in range(1, d):
            yield replace(user, demand=(*user.demand[:j], less, *user.demand[j + 1 :]))


def _drop(row: tuple[int, ...], j: int) -> tuple[int, ...]:
    return row[:j] + row[j + 1 :]
