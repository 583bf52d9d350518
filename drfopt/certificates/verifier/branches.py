"""Branches of a tree and what they bound, and the least cost at which users choose within bounds."""

from collections.abc import Callable, Iterator, Sequence
from operator import mul
from typing import Any

from .work import spend

__all__ = ["Bounds", "Tree", "Undecided", "cheapest", "leaves", "rounded", "tightened"]

Bounds = dict[Any, tuple[int, int]]
"""Least and most that do something; what is not there is free."""

Tree = list[dict[str, Any]]

Ends = Sequence[tuple[int, int]]
"""Least and most of each option."""


class Undecided(Exception):
    """A tree does not say enough, which is no fault of the answer; in words."""


def filled(each: Sequence[int], ends: Ends, n: int) -> list[int] | None:
    """Return how many take each option where n choose at the least cost within bounds; None where they cannot."""
    taken, left = [low for low, _ in ends], n - sum(low for low, _ in ends)
    if left < 0 or any(low > high for low, high in ends):
        return None
    for place in sorted(range(len(each)), key=lambda place: each[place]):
        more = min(left, ends[place][1] - taken[place])
        taken[place], left = taken[place] + more, left - more
    return None if left else taken


def cheapest(each: Sequence[int], ends: Ends, n: int) -> int | None:
    """Return the least cost at which n choose, so many each option as its bounds allow; None where they cannot."""
    taken = filled(each, ends, n)
    return None if taken is None else sum(map(mul, each, taken))


def tightened(each: Sequence[int], ends: Ends, n: int, slack: int) -> list[tuple[int, int]]:
    """Return the bounds beyond which n choose at more than the least cost and the slack.

    One more of an option that is dearer than all of which one less may be taken costs the difference at least; so does
    one less of an option that is cheaper than all of which one more may be.
    """
    taken = filled(each, ends, n) or []
    rows = list(zip(each, ends, taken, strict=True))
    less = max((cost for cost, (low, _), x in rows if x > low), default=None)
    more = min((cost for cost, (_, high), x in rows if x < high), default=None)
    found = []
    for cost, (low, high), x in rows:
        if less is not None and cost > less:
            high = min(high, x + slack // (cost - less))
        if more is not None and cost < more:
            low = max(low, x - slack // (more - cost))
        found.append((low, high))
    return found


def rounded(change: int, most: int, divisor: int) -> int:
    """Return what a change costs of the row that one with so much room is rounded to: itself, what there is of it.

    Theorem.  If a . x <= b for whole numbers x >= 0, and a, b are integers, f(a) . x <= f(b), where r = b mod d and
    f(a) = (a div d) (d - r) + max(0, a mod d - r).

    Proof.  Let S be where a mod d > r, y the sum of (a div d) x, with one x more of each of S: it is whole; and t >= 0
    the sum of (d - a mod d) x over S.  Then d y - t <= a . x <= b, and f(a) . x <= (d - r) y - t.  With q = b div d,
    f(b) is (d - r) q.  If y <= q, (d - r) y - t is no more, as t >= 0.  If y > q, t >= d y - b = d (y - q) - r, so
    that (d - r) y - t <= (d - r) q - r (y - q - 1), which is no more either.  []
    """
    rest = most % divisor
    return change // divisor * (divisor - rest) + max(0, change % divisor - rest)


def leaves(
    tree: list[dict[str, Any]],
    key: Callable[[dict[str, Any]], Any],
    free: Callable[[Any], tuple[int, int]],
    tighten: Callable[[dict[str, Any], Bounds], Bounds] | None = None,
) -> Iterator[Any]:
    """Yield every leaf of a tree with the bounds that hold there, each key at its `free` ones at first.

    What only tightens bounds is no leaf: what is below it follows.
    """
    waiting: list[Bounds] = [{}]
    for node in tree:
        if not waiting:
            raise Undecided("a tree goes on behind its last leaf")
        bounds = waiting.pop()
        spend(0, 1 + len(bounds))
        if "most" in node:
            what, most = key(node), int(node["most"])
            low, high = bounds.get(what, free(what))
            waiting += [bounds | {what: (max(low, most + 1), high)}, bounds | {what: (low, min(high, most))}]
        elif node.get("tightens") and tighten is not None:
            waiting.append(tighten(node, bounds))
        else:
            yield node, bounds
    if waiting:
        raise Undecided("a tree ends before all its branches do")
