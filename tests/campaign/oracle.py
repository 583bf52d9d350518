"""The exact answers of tiny instances by the definitions alone, in fractions; nothing of the package computes here.

leximin on a pool      progressive filling
leximin elsewhere      linear programs: raise the lowest level, ask of everybody whether more is possible
sums                   one linear program
markets and sums of    guarantees by linear programs, then one more: what the gradient at the answer could gain
  an organisation
whole tasks            all allocations, one after the other
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

from cases import Case, exact
from simplex import Polytope

__all__ = [
    "Bounded",
    "Model",
    "NoLevel",
    "NotDefinedHere",
    "TooMany",
    "best_whole",
    "bounded",
    "largest_sum",
    "leximin",
    "per_server",
    "reachable",
]

BUDGET = 30_000
"""Allocations of whole tasks that are looked at; an instance with more is not judged."""


class TooMany(Exception):
    """There are more allocations than the budget allows."""


class NotDefinedHere(Exception):
    """The rules are beyond this oracle."""


class NoLevel(Exception):
    """Somebody's level is 0 whatever it has, so that there is no answer."""


class Model:
    """A case in fractions: what the rules of the instance say about everybody, read from its plain rows."""

    def __init__(self, case: Case):
        self.case, self.n, self.m = case, case.n, case.m
        self.demands = [[exact(d) for d in row] for row in case.demands]
        self.classes = [([exact(c) for c in row], count) for row, count in case.machines] or [
            ([exact(c) for c in case.capacity or ()], 1)
        ]
        self.pool = not case.machines
        self.capacity = [sum((count * row[j] for row, count in self.classes), Fraction(0)) for j in range(self.m)]
        given = case.weights or [1] * self.n
        rows = [[exact(v) for v in w] if isinstance(w, list) else [exact(w)] * self.m for w in given]
        self.weights = [[v or Fraction(1) for v in row] for row in rows]
        self.whole = case.mode == "whole"

    @cached_property
    def asked(self) -> list[Fraction | None]:
        """Most tasks that everybody asks for: limits and counts of types."""
        found = []
        for i in range(self.n):
            given = (self.case.limits or [None] * self.n)[i]
            bounds = [] if given is None else [exact(given)]
            if i in self.case.types:
                bounds.append(Fraction(sum(kind.count for kind in self.case.types[i])))
            found.append(self._most(bounds))
        return found

    @cached_property
    def limits(self) -> list[Fraction | None]:
        """Most tasks of everybody: limits, counts of types and ceilings."""
        found = []
        for i, asked in enumerate(self.asked):
            bounds = [] if asked is None else [asked]
            for resource, most in self.case.ceilings.get(i, {}).items():
                need = self.demands[i][int(resource[1:])]
                bounds += [exact(most) / need] if need else []
            found.append(self._most(bounds))
        return found

    def _most(self, bounds: Sequence[Fraction]) -> Fraction | None:
        most = min(bounds, default=None)
        return Fraction(math.floor(most)) if self.whole and most is not None else most

    @cached_property
    def kinds(self) -> list[list[tuple[Fraction, list[Fraction], list[bool]]]]:
        """Of every user its types: part of its tasks, demand, and the classes on which one fits."""
        found = []
        for i in range(self.n):
            types = self.case.types.get(i) if not self.pool else None
            total = sum(kind.count for kind in types or ())
            mine = [
                (Fraction(kind.count, total), [exact(d) for d in kind.demand], kind.machines) for kind in types or ()
            ]
            open_to = self.case.open_to[i] if self.case.open_to is not None else [True] * len(self.classes)
            found.append(
                [
                    (part, row, [self._fits(row, k, open_to, only) for k in range(len(self.classes))])
                    for part, row, only in mine or [(Fraction(1), self.demands[i], None)]
                ]
            )
        return found

    def _fits(self, row: Sequence[Fraction], k: int, open_to: Sequence[bool], only: Sequence[int] | None) -> bool:
        room = self.classes[k][0]
        if self.pool and not self.whole:
            return all(c > 0 for d, c in zip(row, room, strict=True) if d)
        return open_to[k] and (only is None or k in only) and all(d <= c for d, c in zip(row, room, strict=True))

    @cached_property
    def placed(self) -> list[bool]:
        """Who can run its tasks somewhere."""
        return [all(any(fits) for _, _, fits in kinds) for kinds in self.kinds]

    @cached_property
    def playing(self) -> list[int]:
        """Who can run its tasks and may."""
        return [i for i in range(self.n) if self.placed[i] and self.limits[i] != 0]

    def shares(self, i: int) -> list[Fraction]:
        """Return the shares of the whole cluster that one task is."""
        return [d / c if c else Fraction(0) for d, c in zip(self.demands[i], self.capacity, strict=True)]

    def counted(self, i: int) -> list[Fraction]:
        """Return its shares, of which those of excluded resources are 0."""
        return [Fraction(0) if f"r{j}" in self.case.excluded else s for j, s in enumerate(self.shares(i))]

    def rate(self, i: int, policy: str) -> Fraction:
        """Return the level of one task."""
        weighted = [s / w for s, w in zip(self.counted(i), self.weights[i], strict=True)]
        if policy == "asset":
            return sum(weighted, Fraction(0))
        if policy.startswith("single:"):
            return weighted[int(policy[len("single:r") :])]
        if policy == "tasks":
            return 1 / self.weights[i][0]
        if policy == "tsf":
            # Of what is excluded there is enough.
            alone = self.alone(i, [j for j in range(self.m) if f"r{j}" not in self.case.excluded])
            return 1 / alone / self.weights[i][0] if alone else Fraction(0)
        return max(weighted)

    def alone(self, i: int, counted: Sequence[int]) -> Fraction:
        """Return the tasks that a user could run, its types in their parts, if all machines were its own and open."""
        able = [
            (t, k)
            for t, (_, row, _) in enumerate(self.kinds[i])
            for k, (room, _) in enumerate(self.classes)
            if any(row[j] for j in counted) and all(room[j] for j in counted if row[j])
        ]
        found = Polytope([*able, "h"])
        for k, (room, count) in enumerate(self.classes):
            for j in counted:
                if use := {(t, k): -row[j] for t, (_, row, _) in enumerate(self.kinds[i]) if (t, k) in able and row[j]}:
                    found.add(("capacity", k, j), use, count * room[j])
        for t in {t for t, _ in able}:
            part = self.kinds[i][t][0]
            found.add(("mix", t), {"h": -part} | {c: Fraction(1) for c in able if c[0] == t}, Fraction(0))
        found.add("tasks", {"h": Fraction(1)}, Fraction(0), free=True)
        return (found.maximise("tasks") or Fraction(0)) if able else Fraction(0)

    def polytope(self) -> Polytope:
        """Return all divisible allocations: a variable for every type and class, and a free row ("X", i) a user."""
        cells = [
            (i, t, k)
            for i in self.playing
            for t, (_, _, fits) in enumerate(self.kinds[i])
            for k in range(len(self.classes))
            if fits[k]
        ]
        found = Polytope(cells)
        for k, (room, count) in enumerate(self.classes):
            for j in range(self.m):
                use = {c: -self.kinds[c[0]][c[1]][1][j] for c in cells if c[2] == k and self.kinds[c[0]][c[1]][1][j]}
                if use:
                    found.add(("capacity", k, j), use, count * room[j])
        for i in self.playing:
            part = self.kinds[i][0][0]
            tasks = {c: 1 / part for c in cells if c[:2] == (i, 0)}
            found.add(("X", i), tasks, Fraction(0), free=True)
            if (most := self.limits[i]) is not None:
                found.add(("limit", i), {("X", i): Fraction(-1)}, most)
            for t, (other, _, _) in enumerate(self.kinds[i][1:], start=1):
                for sign in (1, -1):
                    terms = {("X", i): sign * other} | {c: Fraction(-sign) for c in cells if c[:2] == (i, t)}
                    found.add(("mix", i, t, sign), terms, Fraction(0))
        return found


# ---- leximin ---------------------------------------------------------------------------------------------------------


def leximin(case: Case) -> list[Fraction]:
    """Return the tasks of everybody, (n,), whose levels are leximin: by tiers, above what guarantees are worth."""
    model = Model(case)
    promised = any(case.guarantees.values()) or any(group.guarantee for group in case.groups)
    if case.paths or case.groups or (promised and case.meaning != "floor"):
        raise NotDefinedHere("groups, and guarantees that are no floors")
    rates = {i: model.rate(i, case.policy) for i in model.playing}
    if not all(rates.values()):
        raise NoLevel
    if model.pool and not case.guarantees and not any(case.tiers.values()) and not any(case.last):
        return _filled(model, rates)
    return _by_programs(model, rates)


def _filled(model: Model, rates: dict[int, Fraction]) -> list[Fraction]:
    """Fill a pool: find the next moment at which somebody stops, and who stops then."""
    tasks = [Fraction(0)] * model.n
    rising = set(model.playing)
    while rising:
        moments = []
        for j, room in enumerate(model.capacity):
            users = [i for i in rising if model.demands[i][j]]
            settled = sum((model.demands[i][j] * tasks[i] for i in range(model.n) if i not in rising), Fraction(0))
            if users:
                speed = sum(model.demands[i][j] / rates[i] for i in users)
                moments.append(((room - settled) / speed, users))
        moments += [(most * rates[i], [i]) for i in rising if (most := model.limits[i]) is not None]
        now = min(moment for moment, _ in moments)
        for moment, users in moments:
            if moment == now:
                for i in rising & set(users):
                    tasks[i] = now / rates[i]
                rising -= set(users)
    return tasks


def _by_programs(model: Model, rates: dict[int, Fraction]) -> list[Fraction]:
    polytope, tasks, last = model.polytope(), [Fraction(0)] * model.n, model.case.last
    worth = {i: _worth(model, i) for i in model.playing}
    promised = {i: 1 / g for i, g in worth.items() if g}
    if promised:
        _raised(polytope, promised, ("promise",), Fraction(1))
    ranks = sorted({(-model.case.tiers.get(i, 0), last[i]) for i in model.playing})
    for rank in ranks:
        users = [i for i in model.playing if (-model.case.tiers.get(i, 0), last[i]) == rank]
        for i, level in _raised(polytope, {i: rates[i] for i in users}, ("rank", rank), None).items():
            tasks[i] = level / rates[i]
    return tasks


def _worth(model: Model, i: int) -> Fraction:
    """Return the tasks that a guarantee is worth."""
    amounts = model.case.guarantees.get(i, {})
    needs = {resource: model.demands[i][int(resource[1:])] for resource in amounts}
    found = [exact(amount) / needs[resource] for resource, amount in amounts.items() if needs[resource]]
    if found and (most := model.limits[i]) is not None:
        found.append(most)
    return min(found, default=Fraction(0))


def _raised(polytope: Polytope, rates: dict[int, Fraction], stage: tuple, top: Fraction | None) -> dict[int, Fraction]:
    """Make levels leximin, none above `top`, and hold them; return them."""
    levels, level, rising = {}, Fraction(0), set(rates)
    for i, rate in rates.items():
        polytope.add((*stage, i), {("X", i): rate}, Fraction(0))
    for number in itertools.count():
        if not rising or level == top:
            return levels | dict.fromkeys(rising, level)
        time, watched, end = (*stage, "t", number), (*stage, "top", number), (*stage, "end", number)
        polytope.lower(time, [(*stage, i) for i in rising])
        polytope.add(watched, {time: Fraction(1)}, Fraction(0), free=True)
        if top is not None:
            polytope.add(end, {time: Fraction(-1)}, top - level)
        more = polytope.maximise(watched)
        assert more is not None
        level += more
        polytope.add((*stage, "held", number), {watched: Fraction(1)}, -more)
        polytope.fix((*stage, "held", number))
        for name in (time, watched, end):
            # They are constants now.
            polytope.rows.pop(name, None)
        if level == top:
            continue
        for i in sorted(rising):
            if (most := polytope.maximise(("X", i))) is not None and most * rates[i] == level:
                levels[i] = level
                rising.remove(i)
    raise AssertionError


def per_server(case: Case) -> list[Fraction]:
    """Return tasks when every machine is filled by itself, with shares of that machine."""
    model = Model(case)
    tasks = [Fraction(0)] * model.n
    for k, (room, count) in enumerate(model.classes):
        alone = Model(case)
        alone.classes, alone.capacity = [(room, 1)], room
        here = [i for i in range(model.n) if model.kinds[i][0][2][k]]
        alone.__dict__["playing"] = here
        for i, x in enumerate(_filled(alone, {i: alone.rate(i, "drf") for i in here})):
            tasks[i] += count * x
    return tasks


def best_on_one(case: Case, k: int) -> tuple[Any, Callable[[Sequence[int]], Any]]:
    """Return the best sorted levels on one machine of a class, of who fits there, and how tasks are valued."""
    model, alone = Model(case), Model(case)
    here = [i for i in range(model.n) if model.kinds[i][0][2][k]]
    room = model.classes[k][0]
    alone.classes, alone.capacity = [(room, 1)], room
    alone.__dict__["kinds"] = [[(part, row, [fits[k]]) for part, row, fits in kinds] for kinds in model.kinds]
    rates = {i: alone.rate(i, "drf") for i in here}

    def value(tasks: Sequence[int]) -> list[Fraction]:
        return sorted(rates[i] * tasks[i] for i in here)

    return max(map(value, reachable(alone))), value


def largest_sum(case: Case) -> Fraction:
    """Return the largest sum of dominant shares or of tasks."""
    model = Model(case)
    polytope = model.polytope()
    worth = {("X", i): Fraction(1) if case.policy == "throughput" else max(model.shares(i)) for i in model.playing}
    polytope.add("sum", worth, Fraction(0), free=True)
    most = polytope.maximise("sum")
    assert most is not None
    return most


# ---- markets and sums of an organisation -----------------------------------------------------------------------------


class Bounded(NamedTuple):
    """Who has something to win beside what is promised, its share of one task and its income, and what is possible.

    Of those who have, in the order in which they are served, the ``ranks``.
    """

    free: list[int]
    ranks: list[list[int]]
    floors: list[Fraction]
    shares: list[Fraction]
    incomes: list[Fraction]
    polytope: Polytope
    uses: dict[tuple, tuple[Fraction, dict[int, Fraction]]]

    def ceilings(self, tasks: Sequence[Fraction]) -> list[tuple[tuple, Fraction, Fraction]]:
        """Return every ceiling of a group by name, and what is used of it."""
        return [
            (name, most, sum((d * tasks[i] for i, d in use.items()), Fraction(0)))
            for name, (most, use) in self.uses.items()
        ]

    def most(self, worth: dict[int, Fraction]) -> Fraction:
        """Return the largest sum of tasks of these worths."""
        self.polytope.add("gain", {("X", i): v for i, v in worth.items()}, Fraction(0), free=True)
        found = self.polytope.maximise("gain")
        assert found is not None
        return found

    def in_turn(self, worth: Mapping[int, Fraction]) -> Iterator[tuple[list[int], Fraction]]:
        """Yield those of each rank with the largest sum of theirs while the sums before it are what they are."""
        for at, users in enumerate(self.ranks):
            self.polytope.add(("turn", at), {("X", i): worth[i] for i in users}, Fraction(0), free=True)
            most = self.polytope.maximise(("turn", at))
            assert most is not None
            yield users, most
            self.polytope.hold(("turn", at))


def bounded(case: Case, sums: bool = False) -> Bounded:
    """Return what a market or a sum divides: guarantees held as far as they fit, and ceilings of groups as rows."""
    if any(group.guarantee for group in case.groups):
        raise NotDefinedHere("guarantees of groups")
    turns = any(case.tiers.values()) or 0 in (case.weights or ())
    if any(g.tier or not g.weight for g in case.groups) or (turns and (not sums or case.paths)):
        raise NotDefinedHere("tiers, each of what is left by those before it")
    model = Model(case)
    polytope = model.polytope()
    uses = {}
    for group in case.groups:
        below = [i for i in model.playing if f"{case.paths.get(i, '')}/".startswith(f"{group.name}/")]
        for resource, most in group.ceiling.items():
            uses[group.name, resource] = exact(most), {i: model.demands[i][int(resource[1:])] for i in below}
    for name, (most, use) in uses.items():
        polytope.add(("ceiling", *name), {("X", i): -d for i, d in use.items()}, most)
    promised = {i: 1 / g for i in model.playing if (g := _worth(model, i))}
    parts = _raised(polytope, promised, ("promise",), Fraction(1)) if promised else {}
    floors = [parts[i] / promised[i] if i in parts else Fraction(0) for i in range(model.n)]
    free = [i for i in model.playing if polytope.maximise(("X", i)) != floors[i]]
    places = {i: (-case.tiers.get(i, 0), case.last[i]) for i in free}
    ranks = [[i for i in free if places[i] == place] for place in sorted(set(places.values()))]
    return Bounded(free, ranks, floors, [max(model.counted(i)) for i in range(model.n)],
                   _incomes(model), polytope, uses)  # fmt: skip


def _incomes(model: Model) -> list[Fraction]:
    """Return incomes: of who is in no group its weight, else the weight's part of what its group has."""
    paths, found = model.case.paths, [row[0] for row in model.weights]
    weights = {"/".join(path.split("/")[: at + 1]): Fraction(1) for path in paths.values() for at in range(2)}
    weights |= {group.name: exact(group.weight) for group in model.case.groups}

    def part(weight: Fraction, above: str) -> Fraction:
        """Return what a weight is worth among the children of a group; below the root it is worth itself."""
        if not above:
            return weight
        users = sum((row[0] for i, row in enumerate(model.weights) if paths.get(i) == above), Fraction(0))
        groups = sum((w for name, w in weights.items() if name.rpartition("/")[0] == above), Fraction(0))
        return weight * part(weights[above], above.rpartition("/")[0]) / (users + groups)

    return [part(found[i], paths.get(i, "")) for i in range(model.n)]


# ---- whole tasks -----------------------------------------------------------------------------------------------------


def reachable(model: Model) -> set[tuple[int, ...]]:
    """Return every vector of whole tasks that can be packed."""
    none = (0,) * model.n
    sums = {none}
    for k, (room, count) in enumerate(model.classes):
        loads = _loads(model, k, room)
        for _ in range(count):
            if len(sums) * len(loads) > 20 * BUDGET:
                raise TooMany
            sums = {
                total
                for one in sums
                for load in loads
                if within(total := tuple(map(int.__add__, one, load)), model.limits)
            }
            if len(sums) > BUDGET:
                raise TooMany
    return sums


def within(tasks: Sequence[int], limits: Sequence[Fraction | None]) -> bool:
    """Say whether nobody has more tasks than its limit."""
    return all(most is None or x <= most for x, most in zip(tasks, limits, strict=True))


def _loads(model: Model, k: int, room: Sequence[Fraction]) -> list[tuple[int, ...]]:
    found = [()]
    for i in range(model.n):
        fits = model.kinds[i][0][2][k]
        row, longer = model.demands[i], []
        for load in found:
            used = [sum((x * model.demands[q][j] for q, x in enumerate(load)), Fraction(0)) for j in range(model.m)]
            most = min(math.floor((room[j] - used[j]) / row[j]) for j in range(model.m) if row[j]) if fits else 0
            if (limit := model.limits[i]) is not None:
                most = min(most, int(limit))
            if len(longer) + most > BUDGET:
                raise TooMany
            longer += [(*load, x) for x in range(most + 1)]
        found = longer
    return found


def best_whole(case: Case) -> tuple[Any, Callable[[Sequence[int]], Any]]:
    """Return the best value there is, and how allocations are valued."""
    model = Model(case)
    value = _value(model)
    return max(map(value, reachable(model))), value


def _utility(model: Model, alpha: Fraction) -> Callable[[Sequence[int]], Any]:
    """Return users served, above 1, and the sum of w U(level): of roots to 60 digits, to which equal ones are equal."""
    power, weights = 1 - alpha, [row[0] for row in model.weights]
    rates = [max(model.shares(i)) / w for i, w in enumerate(weights)]

    def worth(i: int, x: int) -> Any:
        if power.denominator == 1:
            return weights[i] * (rates[i] * x) ** int(power) / power
        level, w, p = (Decimal(f.numerator) / f.denominator for f in (rates[i] * x, weights[i], power))
        return w * level**p / p

    def total(tasks: Sequence[int]) -> tuple[int, Any]:
        with localcontext(Context(prec=90)):
            served = [worth(i, x) for i, x in enumerate(tasks) if x]
            found = sum(served, Decimal(0) if power.denominator != 1 else Fraction(0))
        return (len(served) if power < 0 else 0), found if power.denominator == 1 else Context(prec=60).plus(found)

    return total


def _value(model: Model) -> Callable[[Sequence[int]], Any]:
    policy = model.case.policy
    if policy == "throughput":
        return lambda tasks: sum(tasks)
    if policy == "utilitarian":
        worth = [max(model.shares(i)) for i in range(model.n)]
        return lambda tasks: sum((w * x for w, x in zip(worth, tasks, strict=True)), Fraction(0))
    if policy == "ceei":
        weights = [row[0] for row in model.weights]
        scale = math.lcm(*(w.denominator for w in weights))
        powers = [int(w * scale) for w in weights]

        def product(tasks: Sequence[int]) -> tuple[int, int]:
            served = [(x, p) for x, p in zip(tasks, powers, strict=True) if x]
            return len(served), math.prod(x**p for x, p in served)

        return product
    if policy.startswith("alpha:"):
        return _utility(model, Fraction(policy.partition(":")[2]))
    rates = [model.rate(i, policy) if model.placed[i] else Fraction(0) for i in range(model.n)]
    return lambda tasks: sorted(r * x for r, x in zip(rates, tasks, strict=True))
