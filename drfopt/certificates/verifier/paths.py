"""Paths of users who rise together: what they have, knot after knot, and where a path first comes to an amount."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from .reading import number, total
from .work import bits, spend

__all__ = ["Knot", "Path", "Reached", "Tasks", "at_level", "bent", "between", "counted", "first", "last"]

Tasks = dict[int, Fraction]


class Reached(NamedTuple):
    """A point of a path: the one before, how far to the next, and what the users have there."""

    before: int
    way: Fraction
    tasks: Tasks


class Knot(NamedTuple):
    """Where a path bends: the level of its node, and what the users have there that rise along it."""

    level: Fraction
    tasks: Tasks


Path = list[Knot]


def between(one: Tasks, other: Tasks, way: Fraction) -> Tasks:
    """Return what is on the way from some tasks to others."""
    spend(bits(way), 1 + len(one))
    return {i: x if x == other[i] else x + (other[i] - x) * way for i, x in one.items()}


def counted(each: Sequence[Fraction]) -> Callable[[Tasks], Fraction]:
    """Return how tasks are counted, each user's for so much."""
    return lambda tasks: total(each[i] * x for i, x in tasks.items() if each[i])


def at_level(path: Path, level: Fraction) -> Tasks:
    """Return what a path has at a level at which it does not bend."""
    after = next((at for at, knot in enumerate(path) if knot.level > level), len(path))
    if after in (0, len(path)):
        return path[min(after, len(path) - 1)].tasks
    one, other = path[after - 1], path[after]
    return between(one.tasks, other.tasks, (level - one.level) / (other.level - one.level))


def bent(points: list[Tasks], rows: list[tuple[Tasks, Fraction]]) -> Iterator[Knot]:
    """Yield points with their levels, and those between them at which another row becomes the largest."""

    def values(tasks: Tasks) -> list[Fraction]:
        spend(max((bits(x) for x in tasks.values()), default=0), len(rows) * (1 + len(tasks)))
        return [total(x * row[i] for i, x in tasks.items() if row.get(i)) - offset for row, offset in rows]

    before: list[Fraction] = []
    for at, tasks in enumerate(points):
        after = values(tasks)
        pairs, way = list(zip(before, after, strict=True)) if before else [], number(0)
        while pairs:  # From where one row is the largest to where a steeper one is.
            now = [v + (w - v) * way for v, w in pairs]
            level = max(now)
            slope = max(w - v for (v, w), here in zip(pairs, now, strict=True) if here == level)
            steeper = [(v, w, here) for (v, w), here in zip(pairs, now, strict=True) if w - v > slope]
            onward = min(((level - here) / (w - v - slope) for v, w, here in steeper), default=number(1))
            way += onward
            if way >= 1:
                break
            yield Knot(level + slope * onward, between(points[at - 1], tasks, way))
        yield Knot(max(after), tasks)
        before = after


def last(path: list[Tasks], count: Callable[[Tasks], Fraction], amount: Fraction) -> Reached | None:
    """Return the last point of a path before it has more than an amount; None where it never has."""
    before = number(0)
    for at, tasks in enumerate(path):
        here = count(tasks)
        if here > amount:
            if not at:
                return Reached(at, number(0), tasks)
            way = (amount - before) / (here - before)
            return Reached(at - 1, way, between(path[at - 1], tasks, way))
        before = here
    return None


def first(path: list[Tasks], count: Callable[[Tasks], Fraction], amount: Fraction) -> Reached | None:
    """Return where a path first comes to an amount: the point before, how far to the next, and what all have there."""
    before = number(0)
    for at, tasks in enumerate(path):
        here = count(tasks)
        if here >= amount:
            if not at:
                return Reached(0, number(0), tasks)
            way = (amount - before) / (here - before)
            return Reached(at - 1, way, between(path[at - 1], tasks, way))
        before = here
    return None
