"""Has anything a larger sum, product or alpha utility than these whole tasks?  Branch and bound on prices, in integers.

For prices p >= 0 at which a task of user i costs q_i, and all that the cluster can run is worth W, any whole tasks x
within a box l <= x <= u have

    sum_i f_i(x_i)  <=  W  +  sum_i max over l_i <= v <= u_i of ( f_i(v) - v q_i )

where f_i is what tasks are worth, and concave: r_i v in a sum, w_i log v in a product, w_i U(r_i v) in alpha fairness;
from alpha = 1 on with more for the first task than all else together, so that users served come first.  A leaf of the
tree is a box with prices at which the right side is no more than the tasks at hand are worth, or a box of one
allocation, which is compared exactly.  A branch splits the tasks of one user, or the machines with some load.

Of tiers that are served in turn each has a tree, of all that is worth no less to those before it: these are added to
f_i at weights that are prices too, and what the tasks at hand are worth to them is taken off.

Prices come from the duals of a linear program, by HiGHS: any prices are right.  What they prove is decided in integers,
by the verifier (`verifier.whole_values`) that also reads the tree when it is written.  The largest right side of what
is left bounds the optimum whenever the search ends.
"""

import contextlib
import heapq
import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Context, Decimal
from fractions import Fraction
from itertools import chain
from operator import itemgetter
from typing import Any

from ..base.deadline import NEVER, Deadline
from ..base.progress import report
from ..model.instance import Instance
from ..model.policies import Policy, policy_named
from ..model.whole_values import WholeUsers
from .document import Names, Node, stated
from .exhaustive_search import powers
from .machine_loads import MachineLoads
from .packable import Packable
from .packing_bound import Machines, worth_of
from .price_program import BoxPoint, BoxProgram, OutOfTime
from .verifier.branches import Bounds, Undecided
from .verifier.whole_values import ValueProof

__all__ = ["Searched", "Undecided", "better", "larger", "search"]

NODES = 4_000
"""Boxes that are looked at before the search gives up: some seconds."""

LATE = 2e-5
"""Seconds that a pair of user and class takes before the first bound; what takes longer than is left is not begun."""

CURVED = 1e-3
"""Seconds that the chords of a user's product or utility take beside that."""

QUICK = 0.4
"""Seconds that a first bound may take where time has run out already."""

PACE = ((50, 0.78), (100, 0.68), (200, 0.55))
"""Boxes split, and the part of the first bound that is left then of trees that end within `NODES`."""

FARTHER = (1, 10**3, 10**6, 10**9)
"""Times that prices of what is not possible are raised: they prove it, and have to outweigh what is worth much."""

FINER = 16
"""Times that users' choices are worth less in a part of a box, from which on it is looked at in a smaller unit."""

DIVES = 20
"""Allocations that are worth more of which a packing is looked for, where first fit finds none."""

SIMPLE = (100, 10**4, 10**7)
"""Denominators of prices that are tried where those of floats do not suffice: duals of a sum are often simple."""


@dataclass(frozen=True)
class Searched:
    """What a search found: tasks (n,) that are worth more, or trees that prove that there are none, one a tier.

    `more` is by how much the value can be exceeded at most to a tier to which nothing is proven, the first of them: in
    levels of a sum, in logarithms of a product.  `slow` says that the search ended only as it came on too slowly.
    """

    better: list[int] | None
    trees: list[list[Node]] | None
    more: Fraction
    tier: int = 0
    slow: bool = False


def search(
    instance: Instance,
    policy: Policy,
    tasks: list[int],
    deadline: Deadline = NEVER,
    nodes: int | None = None,
    impatient: bool = False,
) -> Searched:
    """Look for whole tasks (n,) with a larger sum or product; a deadline ends it as too many nodes do.

    Where others can be asked, an impatient search ends as soon as its bound moves too slowly to end at all.

    Raises
    ------
    Undecided
        When not even a bound is known.
    """
    found, trees = _Search(instance, policy, tasks, deadline), list[list[Node]]()
    for tier in range(len(found.whole.tiers)):
        of_tier = found.grow(tier, deadline, NODES if nodes is None else nodes, impatient)
        if of_tier.trees is None:
            return of_tier
        trees += of_tier.trees
    return Searched(None, trees, Fraction(0))


def better(
    instance: Instance,
    members: Sequence[int],
    tasks: Sequence[int],
    deadline: Deadline = NEVER,
    nodes: int | None = None,
) -> list[int] | None:
    """Return whole tasks of the members with a larger product, or None where the tree proves that there are none.

    Raises
    ------
    Undecided
        When the tree grows too large.
    """
    own = [0] * instance.n
    for i, x in zip(members, tasks, strict=True):
        own[i] = int(x)
    found = search(instance, policy_named("ceei"), own, deadline, nodes)
    if found.better is None and found.trees is None:
        raise Undecided("the tree grows too large")
    return None if found.better is None else [found.better[i] for i in members]


@dataclass
class _Box:
    """A part of all allocations: its bounds, and what became of it."""

    bounds: Bounds
    leaf: Node | None = None
    branch: Node | None = None
    parts: list["_Box"] = field(default_factory=list)

    def nodes(self) -> Iterator[Node]:
        """Yield the tree below: a branch, its part below, its part above."""
        waiting = [self]
        while waiting:
            box = waiting.pop()
            yield box.branch or box.leaf or {}
            waiting += reversed(box.parts)


class _Search:
    def __init__(self, instance: Instance, policy: Policy, tasks: list[int], deadline: Deadline):
        curved = CURVED * instance.n if policy.objective == "alpha" else 0.0
        if deadline.left(QUICK) < LATE * instance.n * instance.k + curved:
            raise Undecided("many users on many classes take more time than is left")
        try:
            claim = stated(instance, policy, tasks)
        except ValueError as error:
            raise Undecided(str(error)) from None
        if claim.objective not in ("sum", "alpha"):
            raise Undecided("the verifier does not know what is best here")
        if not any(claim.plays):
            raise Undecided("nobody takes part")
        self.proof = ValueProof(claim)  # Undecided, too, where some guarantee is not kept.
        self.instance, self.tasks = instance, tasks
        self.users = self.proof.cluster.users
        whole = WholeUsers(instance, policy, self.users)
        self.worth, self.names = worth_of(whole, deadline), Names(instance, [rows[0] for rows in whole.shapes])
        self.whole, self.packable, self.dives = whole, Packable(whole, deadline), DIVES
        self.turn = {p: t for t, mine in enumerate(self.proof.value.tiers) for p in mine}
        self.free = self.leaf([[Fraction(price) for price in row] for row in self.worth.free], [])

    def grow(self, tier: int, deadline: Deadline, nodes: int, impatient: bool = False) -> Searched:
        """Split the box that leaves most room to a tier, until none does."""
        self.tier, self.programs = tier, dict[int, BoxProgram]()
        self.counted = [p for mine in self.proof.value.tiers[: tier + 1] for p in mine]
        root = _Box({})
        count, most_of_all, left = 0, Fraction(0), Fraction(0)
        waiting: list[tuple[Any, int, _Box, Any]] = []
        unit = self.proof.value.unit

        def look(box: _Box) -> list[int] | None:
            """Refute a box, or have what is left of it wait; return what is better in it."""
            nonlocal count, most_of_all
            # Of sums and products nothing is narrowed.
            first = None if self.proof.value.utility is None else self.narrowed(box, self.free, self.beyond(box))
            inner: _Box | None = first or box
            while inner is not None:
                box, count = inner, count + 1
                program = self.program(box)
                found = program.solve(box.bounds, deadline)
                leaf, room = self.best_leaf(box, found, program)
                if room is None:
                    box.leaf = leaf
                    return None
                most_of_all = most_of_all or Fraction(room, unit)
                if (point := self.point(box, found)) is not None:
                    return point
                inner = self.narrowed(box, leaf, room)
            heapq.heappush(waiting, (-(room or 0), count, box, found))
            return None

        if nodes < 1:
            raise Undecided("the tree may not grow")
        point = look(root)
        pace = [(1 + 2 * split, Fraction(str(part))) for split, part in PACE] if impatient else []
        while waiting and point is None:
            # No box leaves more room than the first.
            known = Searched(None, None, max(Fraction(-waiting[0][0]), left, Fraction(0)) / unit, tier)
            slow = False
            while pace and count >= pace[0][0]:
                slow = -waiting[0][0] > pace.pop(0)[1] * most_of_all * unit
            if slow or count >= nodes or deadline.left() <= 0:
                return replace(known, slow=slow)
            report(f"proof: {count} parts of what could be better looked at, {len(waiting)} left")
            more, _, box, found = heapq.heappop(waiting)
            try:
                parts = self.split(box, found)
            except Undecided:
                # Of one allocation only how it is packed decides.
                left = max(left, Fraction(-more))
                point = self.dived(box)
                continue
            try:
                for part in parts:
                    point = look(part) if point is None else point
            except OutOfTime:
                return known
        if point is not None:
            tasks = [0] * self.instance.n
            for i, x in zip(self.users, point, strict=True):
                tasks[i] = x
            return Searched(tasks, None, most_of_all, tier)
        if left:
            return Searched(None, None, left / unit, tier)
        return Searched(None, [list(root.nodes())], Fraction(0))

    def is_better(self, point: Sequence[int]) -> bool:
        """Say whether tasks are worth more than those at hand: exactly, whatever the weights."""
        value = self.proof.value
        for t in range(self.tier + 1):
            sign = value.compared(list(point), t)
            if sign is None and value.utility is None:
                # Who has nothing is no factor.
                mine = [(self.whole.incomes[p], max(point[p], 1), max(value.own[p], 1)) for p in value.tiers[t]]
                weights, tasks, own = zip(*mine, strict=True)
                sign = larger(weights, tasks, own) - larger(weights, own, tasks)
            if sign != 0:
                return bool(sign and sign > 0)
        return False

    def point(self, box: _Box, found: BoxPoint) -> list[int] | None:
        """Return tasks near a point that are worth more and are known to fit: rounded, or rounded down."""
        ends, tasks = self.ends(box), found.tasks.tolist()
        for near in dict.fromkeys((tuple(round(x) for x in tasks), tuple(math.floor(x) for x in tasks))):
            within = all(low <= x <= high for x, (low, high) in zip(near, ends, strict=True))
            if within and self.is_better(near) and self.packable.placed(near, found.whole_loads):
                return list(near)
        return None

    def dived(self, box: _Box) -> list[int] | None:
        """Return the tasks of a box of one allocation that is worth more, where loads of machines are found for it."""
        tasks, instance = [low for low, _ in self.ends(box)], self.instance
        if not self.is_better(tasks) or instance.machines is None or instance.has_devices or self.dives < 1:
            return None
        self.dives -= 1
        asked = [0] * len(self.whole.shapes)
        for goods, sequence, x in zip(self.whole.goods_of, self.whole.sequences, tasks, strict=True):
            for good, count in zip(goods, sequence.started(x), strict=True):
                asked[self.whole.goods[good][1]] += count
        loads = MachineLoads(self.whole.cluster, [rows[0] for rows in self.whole.shapes], self.packable.deadline)
        return None if loads.pack(asked) is None or not self.packable.within_totals(tasks) else tasks

    def ends(self, box: _Box) -> list[tuple[int, int]]:
        """Return the least and most tasks of each user in a box."""
        keys = [("user", i) for i in self.users]
        return [box.bounds.get(key) or self.proof.free(key) for key in keys]

    def choice(self, ends: Sequence[tuple[int, int]]) -> int:
        """Return how much more utility somebody's most tasks have than its least."""
        value, pairs = self.proof.value, ((self.users[p], *ends[p]) for p in self.counted)
        return max(value.low(i, high) - value.low(i, low) for i, low, high in pairs)

    def beyond(self, box: _Box) -> int:
        """Return how much more than the tasks at hand the most of everybody in a box is worth."""
        value, ends = self.proof.value, self.ends(box)
        mine = value.tiers[self.tier]
        return sum(value.high(self.users[p], ends[p][1]) for p in mine) - value.least[self.tier]

    def program(self, box: _Box) -> BoxProgram:
        """Return the program of a box: of utilities in a unit of what there is to choose in it."""
        unit = 1
        if self.proof.value.utility is not None:
            choice = self.choice(self.ends(box)) or next(iter(self.programs), self.proof.value.unit)
            unit = FINER ** math.ceil(choice.bit_length() / math.log2(FINER))
        if unit not in self.programs:
            self.programs[unit] = BoxProgram(self.proof, self.tier, self.worth, self.whole, unit)
        return self.programs[unit]

    def narrowed(self, box: _Box, leaf: Node, room: Fraction | int) -> _Box | None:
        """Return what is left of a box beside what the prices of a leaf refute, where there is much less to choose.

        `room` is how much more they leave room for.

        Utilities of few tasks are so far below those of many that a program in floats of all sees nothing beside them.
        """
        proof, value, before = self.proof, self.proof.value, self.ends(box)
        # Whoever is let lose all the room keeps as much to choose, or nearly.
        if value.utility is None or room * FINER > self.choice(before):
            return None
        integer, counts = proof.scaled(self.tier, leaf)
        if (priced := proof.cluster.priced(leaf, integer, box.bounds)) is None:
            return None
        costs, _ = priced
        after = list(before)
        for p in self.counted:
            i, count = self.users[p], counts[self.turn[p]]

            def gain(x: int, i: int = i, count: int = count) -> int:
                return count * value.high(i, x) - proof.cluster.cost(i, x, costs)

            low, high = before[p]
            top = low + bisect_left(range(low, high), True, key=lambda x: gain(x + 1) <= gain(x))
            least = gain(top) - room * counts[self.tier]
            first = low + bisect_left(range(low, top), True, key=lambda x: gain(x) >= least)
            after[p] = first, top + bisect_left(range(top, high), True, key=lambda x: gain(x + 1) < least)
        if self.choice(after) * FINER > self.choice(before):
            return None
        inner = box
        for i, (low, high), (first, last) in zip(self.users, before, after, strict=True):
            what = ("user", i)
            for most, ends in ((first - 1, (low, first - 1)), (last, (last + 1, high))):
                if low <= most < high and proof.bound(self.tier, leaf, inner.bounds | {what: ends}) is None:
                    below, above = self.cut(inner, what, most)
                    out, inner = (above, below) if most == last else (below, above)
                    out.leaf = leaf
        return None if inner is box else inner

    def best_leaf(self, box: _Box, found: BoxPoint, program: BoxProgram) -> tuple[Node, Fraction | None]:
        """Return a leaf of the prices that a program found, and how much more they leave room for: None for nothing."""
        known: list[tuple[Fraction, Node]] = []
        for leaf in chain(self.leaves(box, found, program), [self.free]):
            # Prices in floats may leave something of worth for nothing, which proves nothing.
            with contextlib.suppress(Undecided):
                if leaf is self.free and known:
                    break
                if (room := self.proof.bound(self.tier, leaf, box.bounds)) is None:
                    return leaf, None
                known.append((room, leaf))
        if not known:
            raise Undecided("no prices of this box prove anything")
        room, leaf = min(known, key=itemgetter(0))
        return leaf, room

    def leaves(self, box: _Box, found: BoxPoint, program: BoxProgram) -> Iterator[Node]:
        """Yield leaves to try, of the prices that a program found."""

        def fractions(more: int = 1, simple: int = 0) -> Node:
            def exactly(price: float) -> Fraction:
                value = Fraction(repr(price)) * more
                return value.limit_denominator(simple) if simple else value

            return self.leaf([[exactly(p) for p in row] for row in found.prices], [exactly(h) for h in found.held])

        yield fractions()
        if found.ray:
            # Prices of a unit of the program have to outweigh all that what is not possible would be worth.
            room = self.beyond(box) if self.proof.value.utility is not None else 0
            for more in FARTHER:
                yield fractions(more * (1 + max(room, 0) // program.unit))
        elif not self.proof.value.curved:
            for most in SIMPLE:
                yield fractions(simple=most)

    def leaf(self, rows: list[list[Fraction]], held: Sequence[Fraction]) -> Node:
        """Return prices as a leaf."""
        found = self.names.prices(tuple(tuple(row) for row in rows), self.worth)
        turns = {str(turn): str(h) for turn, h in zip(self.proof.value.turns, held, strict=False) if h}
        return found | ({"held": turns} if turns else {})

    def split(self, box: _Box, found: BoxPoint) -> list[_Box]:
        """Return the two parts of a box."""
        better = self.is_better([round(x) for x in found.tasks.tolist()])
        return self.cut(box, *found.branch(self.proof, box.bounds, better))

    def cut(self, box: _Box, what: Any, most: int) -> list[_Box]:
        """Return the part of a box in which there is so much of something at most, and that in which there is more."""
        low, high = box.bounds.get(what) or self.proof.free(what)
        if what[0] == "user":
            box.branch = {"user": self.instance.users[what[1]], "most": most}
        elif isinstance(self.worth, Machines):
            box.branch = self.names.load(what, self.worth) | {"most": most}
        box.parts = [_Box(box.bounds | {what: (low, most)}), _Box(box.bounds | {what: (most + 1, high)})]
        return list(box.parts)


# ---- exact comparisons ---------------------------------------------------------------------------------------------


def larger(weights: Sequence[Fraction], tasks: Sequence[int], others: Sequence[int]) -> bool:
    """Say whether tasks, each 1 or more, have a larger weighted product than others: exactly, whatever the weights.

    Logarithms of more and more digits decide; that two products are the same, their factors do.
    """
    raised = powers(weights)
    changed = [(w, x, y) for w, x, y in zip(raised, tasks, others, strict=True) if x != y]
    for digits in (40, 160, 640):
        context = Context(prec=digits)
        terms = [(w, Fraction(context.ln(Decimal(x))), Fraction(context.ln(Decimal(y)))) for w, x, y in changed]
        total = sum((w * (one - other) for w, one, other in terms), Fraction(0))
        # Each logarithm is rounded to so many digits.
        error = sum((w * (one + other) for w, one, other in terms), Fraction(0)) / 10 ** (digits - 1)
        if abs(total) > error:
            return total > 0
        if _same_product([(w, x) for w, x, _ in changed] + [(-w, y) for w, _, y in changed]):
            return False
    raise ArithmeticError(f"two products are the same to {digits} digits and not equal")


def _same_product(terms: list[tuple[int, int]]) -> bool:
    """Say whether the product of x to the power w is 1: numbers are broken up until none has a factor of another."""
    left = [(w, x) for w, x in terms if x > 1]
    base: dict[int, int] = {}
    while left:
        w, x = left.pop()
        shared = next((b for b in base if math.gcd(b, x) > 1), None)
        if shared is None:
            base[x] = w
            continue
        common = math.gcd(shared, x)
        power = base.pop(shared)
        left += [(power + w, common), (power, shared // common), (w, x // common)]
        left = [(v, b) for v, b in left if b > 1 and v]
    return not any(base.values())
