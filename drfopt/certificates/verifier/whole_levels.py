"""Leximin of whole tasks: one tree for each level that somebody has."""

import math
from collections import Counter
from fractions import Fraction
from itertools import takewhile
from operator import mul
from typing import Any

from .branches import Bounds, Tree, Undecided, cheapest, leaves, rounded, tightened
from .claims import Claim
from .clock import RuleClock
from .reading import number, shown
from .trees import CELLS_A_STEP, Carried, price_of, scale_of
from .whole import without_misfits
from .work import spend

__all__ = ["LevelProof", "whole_promises"]


Value = tuple[Any, int]
"""What whole tasks are worth: a stage, and a number in it; larger is better."""


def whole_promises(claim: Claim) -> list[int]:
    """Return the whole tasks that guarantees are worth to everybody: those of divisible ones, rounded down.

    Types that fit nowhere are left out, though users' levels count the average of all.
    """
    # In a market, or a sum, members of a group rise to its promise by the shares, or tasks, that are summed.
    rows = [{"name": name, "tasks": "0"} for name in claim.c.users]
    rules = Claim(without_misfits(claim.c), {"policy": claim.policy, "integer": False, "users": rows})
    rules.by_weight = claim.by_weight
    worth = RuleClock(rules).promised
    return [math.floor(worth.get(i, 0)) for i in claim.n]


class Scale:
    """What the whole tasks of a user are worth, (0, part of its promise, rank) below that, then (1 + its rank, level).

    Below a promise the number is ``part * x + place``, where `parts` is all of it and the place that of the rank.
    """

    def __init__(self, claim: Claim, i: int, unit: int, promise: int, parts: int, place: int):
        self.most, self.rank = claim.sequences[i].most, claim.c.rank[i]
        lines = {(int(slope * unit), int(offset * unit)) for slope, offset in claim.lines[i]}
        below = {(a, o) for a, o in lines for b, q in lines if b >= a and q <= o and (a, o) != (b, q)}
        self.lines = tuple(sorted(lines - below))
        if lines == {(0, 0)}:
            raise Undecided(f"the level of {claim.c.users[i]} is 0 whatever it has")
        self.promise = promise
        self.part, self.place = parts // max(promise, 1), place
        self.alike = (self.most, self.rank, self.lines, self.promise)

    def value(self, x: int) -> Value:
        """Return the value of x tasks."""
        if x < self.promise:
            return (0,), self.part * x + self.place
        return (1, self.rank), max(slope * x - offset for slope, offset in self.lines)

    def least(self, value: Value) -> int:
        """Return the fewest tasks that are worth so much, which may be more than there can be."""
        stage, level = value
        if stage == (0,):
            return min(max(0, -((self.place - level) // self.part)), self.promise)
        if stage < (1, self.rank):
            return self.promise
        if stage > (1, self.rank):
            return max(self.most, self.promise) + 1
        return max(self.promise, min(-((-level - offset) // slope) for slope, offset in self.lines))

    def at(self, value: Value) -> int | None:
        """Return the tasks that are worth exactly so much."""
        x = self.least(value)
        return x if x <= self.most and self.value(x) == value else None


class LevelProof:
    """Every level that somebody has, from the lowest, with the options that users have up to it.

    Sorted values are the best when at none of them fewer users can be: with at most as many at each lower one, and all
    others above.  Everybody then chooses one of a few numbers of tasks.  Where all who could be at a lower value are
    there, they are known to be; where as many are there as can be nowhere else, nobody else is.

    Attributes
    ----------
    proven : list of (level, users)
        Levels at which fewer users cannot be.
    bounded : list of (level, users, most)
        Those above, and the most that the next user could have, or the last of the users at a later one.
    """

    def __init__(self, claim: Claim):
        self.cluster = Carried(claim)
        users = self.cluster.users
        self.unit = math.lcm(*(v.denominator for i in users for line in claim.lines[i] for v in line))
        promised = whole_promises(claim)
        places = {rank: place for place, rank in enumerate(sorted({claim.c.rank[i] for i in users}))}
        self.ranks, rank = len(places), claim.c.rank
        self.parts = math.lcm(*(promise for i in users if (promise := promised[i]))) * self.ranks
        self.scale = {i: Scale(claim, i, self.unit, promised[i], self.parts, places[rank[i]]) for i in users}
        self.alike = {i: (self.cluster.goods[i], claim.sequences[i].counts, self.scale[i].alike) for i in users}
        self.first = {kind: i for i, kind in reversed(self.alike.items())}
        self.waiting = Counter(self.alike.values())
        self.own = sorted(Counter(self.scale[i].value(int(claim.x[i])) for i in users).items())
        self.stops: list[tuple[Value, int]] = []
        self.fixed: Counter[tuple[int, int]] = Counter()
        self.proven: list[tuple[Fraction, int]] = []
        self.bounded: list[tuple[Fraction, int, Fraction]] = []

    def shown(self, value: Value) -> Fraction:
        """Return a value as its number is told: a level, or below a promise the part of it."""
        if value[0] == (0,):
            return Fraction(value[1] - value[1] % self.ranks, self.parts)
        return Fraction(value[1], self.unit)

    def fault(self, trees: list[Tree], bounds: list[dict[str, Any]]) -> str:
        """Return why the trees do not prove every level; "" where they do. Behind them are bounds of the others."""
        for (level, count), tree in zip(self.own, trees, strict=False):
            if why := self._fewer(level, count, tree):
                return f"{why}, at level {shown(self.shown(level))}"
            self.proven.append((self.shown(level), count))
            self._settle(level, count)
        unproven = self.own[len(self.proven) :]
        for place, (row, bound) in enumerate(zip(unproven, bounds, strict=False)):
            if why := self._bound(unproven, place, bound):
                return why
            self.bounded.append((self.shown(row[0]), row[1], self.shown(self._most(bound))))
        known = f"{len(self.proven)} levels, of {sum(count for _, count in self.proven)} users, are proven"
        return f"{known}, and {len(self.bounded)} of the {len(unproven)} above are bounded" if unproven else ""

    def _fewer(self, level: Value, count: int, tree: Tree) -> str:
        """Return why a tree does not refute that fewer users can be at a level."""
        rows = [*self.stops, (level, count - 1)]
        return self._refuted(tree, rows, {kind: self._above(kind, level) for kind in self.waiting})

    def _bound(self, unproven: list[tuple[Value, int]], place: int, bound: dict[str, Any]) -> str:
        """Return why a tree does not refute that a level that is not proven could be above a bound.

        All others reach the first of these levels. If all but those before the place exceeded the bound, the rest would
        be there at least.
        """
        before = sum(count for _, count in unproven[: place + 1]) - 1 if place else 0
        here, spared, most = unproven[0][0], len(self.stops), self._most(bound)
        # Options differ in their tasks, or a branch on some would be of two: above the bound nobody stops.
        if most < unproven[place][0]:
            raise Undecided(f"a bound is below the level {shown(self.shown(unproven[place][0]))} that it is of")
        options: dict[Any, list[tuple[int, int | None]]] = {}
        for kind in self.waiting:
            mine, above = self.scale[self.first[kind]], self._above(kind, most)
            least = mine.least(here)
            # Whose fewest tasks are above the bound already is not spared.
            spare = [(least, spared)] if before and least <= mine.most and above != [(least, None)] else []
            options[kind] = [*spare, *above]
        return self._refuted(bound["tree"], [*self.stops, (here, before)], options, spared)

    def _most(self, bound: dict[str, Any]) -> Value:
        """Return the value that a bound says, as what so many tasks are worth to a user."""
        said = bound["most"]
        return self.scale[self.cluster.at[said["user"]]].value(int(said["tasks"]))

    def _above(self, kind: Any, level: Value) -> list[tuple[int, int | None]]:
        """Return the option of users to be above a level."""
        mine = self.scale[self.first[kind]]
        above = mine.least((level[0], level[1] + 1))
        return [(above, None)] if above <= mine.most else []

    def _refuted(
        self,
        tree: Tree,
        rows: list[tuple[Value, int]],
        further: dict[Any, list[tuple[int, int | None]]],
        known: int | None = None,
    ) -> str:
        """Return why a tree does not refute that users choose so, or stop at the `known` first of the rows."""
        options = {}
        for kind, more in further.items():
            mine = self.scale[self.first[kind]]
            spend(0, 1 + len(rows))
            stay = [(x, row) for row, (at, n) in enumerate(rows[:known]) if n and (x := mine.at(at)) is not None]
            options[kind] = [*stay, *more]
        allowed = [n for _, n in rows]
        return _level(self.cluster, tree, options, self.waiting, allowed, self.fixed, self.alike, self.first)

    def _settle(self, level: Value, count: int) -> None:
        """Note who surely stops at a proven level."""
        may = {kind: n for kind, n in self.waiting.items() if self.scale[self.first[kind]].at(level) is not None}
        must = {
            kind: n
            for kind, n in may.items()
            if (mine := self.scale[self.first[kind]]).at(level) == mine.most
            and all(mine.at(at) is None for at, _ in self.stops)
        }
        surely = next((those for those in (may, must) if sum(those.values()) == count), None)
        if surely is None:
            self.stops.append((level, count))
            return
        for kind, n in surely.items():
            self.fixed[self.first[kind], self.scale[self.first[kind]].least(level)] += n
            del self.waiting[kind]


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

    rows: list[tuple[dict[Any, list[int]], int]] = []  # Rounded rows: what each option costs, and all at most.

    def costed(leaf: dict[str, Any], bounds: Bounds) -> tuple[int, dict[Any, list[int]]] | None:
        """Return what everybody's options cost, and may cost in all; None where nothing that runs is within bounds."""
        integer = scale_of(leaf)
        counts = [price_of(v, integer) for v in leaf.get("levels", ())]
        times = [price_of(v, integer) for v in leaf.get("rounds", ())]
        if len(counts) != len(allowed):
            raise Undecided(f"a leaf has {len(counts)} multipliers of {len(allowed)} levels")
        if len(times) > len(rows):
            raise Undecided(f"a leaf has {len(times)} multipliers of {len(rows)} rounded rows")
        if (found := cluster.priced(leaf, integer, bounds)) is None:
            return None
        costs, worth = found
        left = (
            worth + sum(map(mul, counts, allowed)) - sum(n * cluster.cost(i, x, costs) for (i, x), n in fixed.items())
        )
        some = [(t, *row) for t, row in zip(times, rows, strict=False) if t]
        prices = {}
        for kind, mine in options.items():
            prices[kind] = [
                cluster.cost(first[kind], x, costs) + (0 if row is None else counts[row]) for x, row in mine
            ]
            spend(0, 1 + len(mine) * (1 + len(some)) // CELLS_A_STEP)
            for t, each, _ in some:
                prices[kind] = [price + t * cost for price, cost in zip(prices[kind], each[kind], strict=True)]
        return left + sum(t * most for t, _, most in some), prices

    def add(node: dict[str, Any]) -> None:
        """Add a rounded row; of each kind of users what others pay more than those who take its base is rounded.

        The base of a kind that is not named is that of the row before, of the first one the last of its options.
        """
        divisor, found = int(number(node["divisor"])), costed(node, {})
        if divisor < 1 or found is None:
            raise Undecided("a row is divided by nothing, or says nothing")
        most, prices = found
        for name, tasks in node.get("base", {}).items():
            kind = alike[cluster.at[name]]
            base[kind] = [x for x, _ in options[kind]].index(int(tasks))
        most = math.floor(most) - sum(number_of[kind] * prices[kind][place] for kind, place in base.items())
        each = {
            kind: [rounded(price - mine[base[kind]], most, divisor) for price in mine] for kind, mine in prices.items()
        }
        rows.append((each, rounded(most, most, divisor)))

    def chosen(leaf: dict[str, Any], bounds: Bounds) -> tuple[int, dict[Any, list[int]]] | None:
        """Return what is left at least, and what options cost; None where nobody can choose so, or nothing runs."""
        if (found := costed(leaf, bounds)) is None:
            return None
        left, prices = found
        for kind, mine in prices.items():
            cost = cheapest(mine, ends(kind, bounds), number_of[kind])
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
            new = tightened(each, ends(kind, bounds), number_of[kind], left)
            closer |= {("user", kind, x): both for (x, _), both in zip(options[kind], new, strict=True)}
        return closer

    base = {kind: len(mine) - 1 for kind, mine in options.items() if mine}
    given = sum(1 for _ in takewhile(lambda node: "divisor" in node, tree))
    for node in tree[:given]:
        add(node)
    for leaf, bounds in leaves(tree[given:], key, free, tighten):
        if (found := chosen(leaf, bounds)) is not None and found[0] >= 0:
            return f"tasks cost no more than all that can be run is worth: {shown(found[0])} less"
    return ""
