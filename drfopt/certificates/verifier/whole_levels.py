"""Leximin of whole tasks: one tree for each level that somebody has."""

import math
from collections import Counter
from collections.abc import Iterator
from copy import copy
from fractions import Fraction
from operator import mul
from typing import Any

from .branches import Bounds, Tree, Undecided, cheapest, leaves, tightened
from .claims import Claim
from .clock import RuleClock
from .reading import number, shown
from .trees import CELLS_A_STEP, Carried, price_of, scale_of
from .work import spend

__all__ = ["levels_refuted", "whole_promises"]


Value = tuple[Any, int]
"""What whole tasks are worth: a stage, and a number in it; larger is better."""


def whole_promises(claim: Claim) -> list[int]:
    """Return the whole tasks that guarantees are worth to everybody: those of divisible ones, rounded down."""
    # In a market, or a sum, members of a group rise to its promise by the shares, or tasks, that are summed.
    rising = "tasks" if claim.policy == "throughput" else "drf"
    policy, cluster = claim.policy if claim.objective == "leximin" else rising, copy(claim.c)
    if claim.objective == "sum":  # Weights of users play no part.
        cluster.w = [[number(1)] * len(row) for row in cluster.w]
    rows = [{"name": name, "tasks": "0"} for name in cluster.users]
    divisible = Claim(cluster, {"policy": policy, "integer": False, "users": rows})
    grouped = any(group.get("guarantee") for group in cluster.groups)
    worth = RuleClock(divisible).promised if grouped else dict(enumerate(cluster.floor))
    return [math.floor(worth[i]) if plays else 0 for i, plays in enumerate(divisible.plays)]


class Scale:
    """What the whole tasks of a user are worth, (0, part of its promise) below that, then (1 + its rank, level)."""

    def __init__(self, claim: Claim, i: int, unit: int, promise: int, parts: int):
        self.most, self.rank = claim.sequences[i].most, claim.c.rank[i]
        lines = {(int(slope * unit), int(offset * unit)) for slope, offset in claim.lines[i] if slope}
        below = {(a, o) for a, o in lines for b, q in lines if b >= a and q <= o and (a, o) != (b, q)}
        self.lines = tuple(sorted(lines - below))
        if not lines:
            raise Undecided(f"the level of {claim.c.users[i]} is 0 whatever it has")
        self.promise = promise
        self.part = parts // self.promise if self.promise else 0
        self.alike = (self.most, self.rank, self.lines, self.promise)

    def value(self, x: int) -> Value:
        """Return the value of x tasks."""
        if x < self.promise:
            return (0,), self.part * x
        return (1, self.rank), max(slope * x - offset for slope, offset in self.lines)

    def least(self, value: Value) -> int:
        """Return the fewest tasks that are worth so much, which may be more than there can be."""
        stage, level = value
        if stage == (0,):
            return min(-(-level // self.part), self.promise) if self.promise else 0
        if stage < (1, self.rank):
            return self.promise
        if stage > (1, self.rank):
            return max(self.most, self.promise) + 1
        return max(self.promise, min(-((-level - offset) // slope) for slope, offset in self.lines), 0)

    def at(self, value: Value) -> int | None:
        """Return the tasks that are worth exactly so much."""
        x = self.least(value)
        return x if x <= self.most and self.value(x) == value else None


def levels_refuted(claim: Claim, trees: list[Tree]) -> Iterator[tuple[Fraction, str]]:
    """Yield every level that somebody has, from the lowest, with why its tree does not prove it; "" where it does.

    Sorted values are the best when at none of them fewer users can be: with at most as many at each lower one, and all
    others above.  Everybody then chooses one of a few numbers of tasks.  Where all who could be at a lower value are
    there, they are known to be; where as many are there as can be nowhere else, nobody else is.
    """
    cluster = Carried(claim)
    unit = math.lcm(*(v.denominator for i in cluster.users for line in claim.lines[i] for v in line))
    promised = whole_promises(claim)
    parts = math.lcm(*(promised[i] or 1 for i in cluster.users))
    scale = {i: Scale(claim, i, unit, promised[i], parts) for i in cluster.users}
    alike = {i: (cluster.goods[i], claim.sequences[i].counts, scale[i].alike) for i in cluster.users}
    first = {kind: i for i, kind in reversed(alike.items())}
    waiting, own = Counter(alike.values()), Counter(scale[i].value(int(claim.x[i])) for i in cluster.users)
    stops: list[tuple[Value, int]] = []
    fixed: Counter[tuple[int, int]] = Counter()
    given = iter(trees)
    for level, count in sorted(own.items()):
        rows = [*stops, (level, count - 1)]
        options: dict[Any, list[tuple[int, int | None]]] = {}
        for kind in waiting:
            mine = scale[first[kind]]
            spend(0, 1 + len(rows))
            stay = [(x, row) for row, (at, n) in enumerate(rows) if n and (x := mine.at(at)) is not None]
            above = mine.least((level[0], level[1] + 1))
            options[kind] = [*stay, *([(above, None)] if above <= mine.most else [])]
        tree = next(given, [])
        shown_as = Fraction(level[1], unit if level[0] != (0,) else parts)
        yield shown_as, _level(cluster, tree, options, waiting, [n for _, n in rows], fixed, alike, first)
        may = {kind: n for kind, n in waiting.items() if scale[first[kind]].at(level) is not None}
        must = {
            kind: n
            for kind, n in may.items()
            if (mine := scale[first[kind]]).at(level) == mine.most and all(mine.at(at) is None for at, _ in stops)
        }
        surely = next((those for those in (may, must) if sum(those.values()) == count), None)
        if surely is None:
            stops.append((level, count))
            continue
        for kind, n in surely.items():
            fixed[first[kind], scale[first[kind]].least(level)] += n
            del waiting[kind]


def _level(
    cluster: Carried,
    tree: Tree,
    options: dict[Any, list[tuple[int, int | None]]],
    number_of: Counter[Any],
    allowed: list[int],
    fixed: Counter[tuple[int, int]],
    alike: dict[int, Any],
    first: dict[Any, int],
) -> str:
    def key(node: dict[str, Any]) -> Any:
        return cluster.key(node) if "class" in node else ("user", alike[cluster.at[node["user"]]], int(node["tasks"]))

    def free(what: Any) -> tuple[int, int]:
        return 0, number_of[what[1]] if what[0] == "user" else cluster.count[what[0]]

    def chosen(leaf: dict[str, Any], bounds: Bounds) -> tuple[int, dict[Any, list[int]]] | None:
        """Return what is left at least, and what options cost; None where nobody can choose so, or nothing runs."""
        integer = scale_of(leaf)
        counts = [price_of(v, integer) for v in leaf.get("levels", ())]
        if len(counts) != len(allowed):
            raise Undecided(f"a leaf has {len(counts)} multipliers of {len(allowed)} levels")
        if (found := cluster.priced(leaf, integer, bounds)) is None:
            return None
        costs, worth = found
        left = (
            worth + sum(map(mul, counts, allowed)) - sum(n * cluster.cost(i, x, costs) for (i, x), n in fixed.items())
        )
        prices = {}
        for kind, mine in options.items():
            prices[kind] = [
                cluster.cost(first[kind], x, costs) + (0 if row is None else counts[row]) for x, row in mine
            ]
            spend(0, 1 + len(mine) // CELLS_A_STEP)
            cost = cheapest(prices[kind], ends(kind, bounds), number_of[kind])
            if cost is None:
                return None
            left -= cost
        return left, prices

    def ends(kind: Any, bounds: Bounds) -> list[tuple[int, int]]:
        return [bounds.get(("user", kind, x), (0, number_of[kind])) for x, _ in options[kind]]

    def tighten(node: dict[str, Any], bounds: Bounds) -> Bounds:
        if (found := chosen(node, bounds)) is None or found[0] < 0:
            return bounds  # Whatever follows refutes what is not there.
        left, prices = found
        closer = dict(bounds)
        for kind, each in prices.items():
            new = tightened(each, ends(kind, bounds), number_of[kind], math.floor(left))
            closer |= {("user", kind, x): both for (x, _), both in zip(options[kind], new, strict=True)}
        return closer

    for leaf, bounds in leaves(tree, key, free, tighten):
        if (found := chosen(leaf, bounds)) is not None and found[0] >= 0:
            return f"tasks cost less than all that can be run is worth, by {shown(found[0])}"
    return ""
