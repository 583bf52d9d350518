"""Whole tasks under rules and of several types by enumeration: seeded clusters, awkward on purpose, and what they run.

Values are stated here once more, in fractions and pairs, from the file's own words; `drfopt.model.whole_values` is not
used, and packing is tried machine by machine.
"""

import itertools
import math
import random
from collections.abc import Callable
from dataclasses import replace
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property

from drfopt import Group, Instance, Machine, Organisation, PolicyError, TaskType, solve
from drfopt.model.hierarchy import Clock
from drfopt.model.policies import policy_named

MEANINGS = ("floor", "floor", "surplus", "normalised")
PROMISE = (-(10**7), False)
"""Before every tier."""

MANY = 60
"""More tasks than any of these clusters runs."""


def awkward(
    seed: int,
    types: bool = False,
    rules: bool = True,
    machines: bool = False,
    market: bool = False,
    tiers: bool = False,
) -> Instance:
    """Return a cluster of a few users: ties, zero demands, limits and promises of 0, promises that do not fit.

    `market` leaves out what a market or a sum does not know, levels in terms of guarantees, and `tiers` says whether
    there are tiers and weights of 0 then.
    """
    chance = random.Random(seed)
    resources = [f"r{j}" for j in range(chance.randint(1, 2))]
    users = [f"u{i}" for i in range(chance.randint(1, 4))]
    demands = {
        u: [TaskType(_demand(chance, resources), chance.choice([1, 1, 2, 3])) for _ in range(chance.randint(1, 3))]
        if types and chance.random() < 0.7
        else _demand(chance, resources)
        for u in users
    }
    cluster: dict = {"capacity": {r: chance.choice([1, 2, 3, 5, 7, 9]) for r in resources}}
    if machines:
        names = [f"c{k}" for k in range(chance.randint(1, 2))]
        rooms = [{r: chance.choice([1, 2, 3, 4]) for r in resources} for _ in names]
        listed = [Machine(c, room, chance.randint(1, 2)) for c, room in zip(names, rooms, strict=True)]
        open_to = {u: [chance.choice(names)] for u in users} if chance.random() < 0.3 else None
        cluster = {"machines": listed, "eligible": open_to}
    limits = {u: chance.choice([None, None, 0, 1, 2, Fraction(5, 2)]) for u in users}
    weights = {u: chance.choice([0, 1, 1, 2, Fraction(1, 2)] if rules else [1, 2]) for u in users}
    organisation = _rules(chance, users, resources) if rules else None
    if market:
        weights = weights if tiers else {u: w or 3 for u, w in weights.items()}
        changed = {"meaning": "floor"} | ({} if tiers else {"tiers": {}})
        organisation = None if organisation is None else replace(organisation, **changed)
    return Instance(
        demands,
        **cluster,
        weights=weights,
        max_tasks={u: None if isinstance(demands[u], list) else limit for u, limit in limits.items()},
        organisation=organisation,
    )


def _demand(chance: random.Random, resources: list[str]) -> dict:
    demand = {r: chance.choice([0, 1, 1, 2, 3]) for r in resources}
    return demand if any(demand.values()) else {resources[0]: 1}


def _rules(chance: random.Random, users: list[str], resources: list[str]) -> Organisation:
    amounts = [0, 1, 2, 3, Fraction(1, 2), 5]
    promised = {
        u: {r: chance.choice(amounts) for r in resources if chance.random() < 0.7}
        for u in users
        if chance.random() < 0.6
    }
    together = chance.random() < 0.3
    of_group = {r: chance.choice([1, 2, 4]) for r in resources if chance.random() < 0.4}
    most = {r: max(of_group.get(r, 0), chance.choice([2, 3, 5])) for r in resources if chance.random() < 0.6}
    ceilings = {
        u: {r: max(promised.get(u, {}).get(r, 0), chance.choice([1, 2, 4])) for r in resources if chance.random() < 0.4}
        for u in users
        if chance.random() < 0.3
    }
    return Organisation(
        guarantees=promised,
        ceilings=ceilings,
        tiers={u: chance.choice([0, 0, 1]) for u in users},
        paths=dict.fromkeys(users, "g") if together else {},
        groups=[Group("g", chance.choice([1, 2]), of_group, most)] if together else (),
        meaning=chance.choice(MEANINGS),
        excluded=resources[-1:] if len(resources) > 1 and chance.random() < 0.15 else (),
    )


class Enumeration:
    """What the users of a cluster can run, and what it is worth to them."""

    def __init__(self, instance: Instance, policy: str):
        self.instance, self.policy, self.n = instance, policy_named(policy), instance.n
        self._known: dict[tuple[int, int], Decimal] = {}
        pool = instance.machines is None
        rooms = [instance.exact_capacity] if pool else instance.exact_machine_capacity
        self.machines = list(zip(rooms, [1] if pool else map(int, instance.counts), strict=True))
        self.devices = [
            [(instance.resources.index(r), Fraction(one.size), one.count) for r, one in (machine.devices or {}).items()]
            for machine in instance.machines or [Machine("pool", {})]
        ]
        self.tasks = [self._sequence(i) for i in range(self.n)]
        self.ruled = "organisation" in instance.features
        self.rules = instance.organisation
        self.promised = self._promises() if self.ruled else [0] * self.n
        self.playing = [i for i in range(self.n) if self.tasks[i] and self._allowed(i, 1)]
        self.most = [self._most(i) if i in self.playing else 0 for i in range(self.n)]
        if self.policy.objective != "leximin":
            self._incomes = {i: self.income(i) for i in self.playing}
            self._rates = [self._share(i) for i in range(self.n)]

    def _classes(self, i: int, demand: tuple, named: object = None) -> list[int]:
        instance = self.instance
        return [
            k
            for k, (room, _) in enumerate(self.machines)
            if all(d <= c for d, c in zip(demand, room, strict=True))
            and (instance.machines is None or (instance.eligible[i][k] and _open(instance.machine_names[k], named)))
            and all(_takes(demand[j], size, count) for j, size, count in self.devices[k])
        ]

    def _promises(self) -> list[int]:
        """Return the whole tasks that guarantees are worth; those of groups are worked out by their clock."""
        instance, rules = self.instance, self.rules
        if any(group.guarantee for group in rules.groups):
            clock = Clock(instance, replace(self.policy, objective="leximin"), exact=True, whole=True)
            return [int(p // 1) for p in clock.promised]
        found = []
        for i in range(self.n):
            # Of divisible tasks, but of the types that fit somewhere.
            row, limit = instance.exact_demands[i], instance.exact_limits[i]
            kinds = (self.instance.task_types and self.instance.task_types[i]) or ()
            if able := [kind for kind in kinds if self._classes(i, kind.demand, kind.machines)]:
                total = sum(kind.count for kind in able)
                row = [
                    sum(n) / total for n in zip(*([kind.count * d for d in kind.demand] for kind in able), strict=True)
                ]
                own = [
                    most / d
                    for r, d in zip(instance.resources, row, strict=True)
                    if d and (most := rules.ceilings[i].get(r)) is not None
                ]
                limit = min([total, *own, *([] if instance.max_tasks[i] is None else [instance.max_tasks[i]])])
            pool = instance.machines is None
            placed = all(c or not d for d, c in zip(row, instance.exact_capacity, strict=True))
            placed = placed if pool else bool(able or (not kinds and self._classes(i, row)))
            needs = {r: d for r, d in zip(instance.resources, row, strict=True) if d}
            above = [group for group in rules.groups if f"{rules.paths[i]}/".startswith(f"{group.name}/")]
            barred = limit == 0 or any(r in needs and not most for group in above for r, most in group.ceiling.items())
            worth = [amount / needs[r] for r, amount in rules.guarantees[i].items() if r in needs]
            least = min(worth if limit is None else [*worth, limit]) if worth and placed and not barred else 0
            found.append(int(least // 1))
        return found

    def _sequence(self, i: int) -> list[tuple[tuple, list[int]]]:
        kinds = self.instance.task_types and self.instance.task_types[i]
        if not kinds:
            demand = self.instance.exact_demands[i]
            return [(demand, classes)] * MANY if (classes := self._classes(i, demand)) else []
        able = [(kind, classes) for kind in kinds if (classes := self._classes(i, kind.demand, kind.machines))]
        places = sorted(
            (Fraction(2 * k - 1, 2 * kind.count), t)
            for t, (kind, _) in enumerate(able)
            for k in range(1, kind.count + 1)
        )
        return [(able[t][0].demand, able[t][1]) for _, t in places]

    def _allowed(self, i: int, x: int) -> bool:
        """Say whether a user's own limit and ceilings allow it x tasks, by what these need."""
        limit, rules = self.instance.max_tasks[i], self.instance.organisation
        if limit is not None and x > limit:
            return False
        tasks, resources = [x * (h == i) for h in range(self.n)], self.instance.resources
        return rules is None or all(
            self.used(tasks, [i], resources.index(r)) <= most for r, most in rules.ceilings[i].items()
        )

    def _most(self, i: int) -> int:
        limit, x = self.instance.max_tasks[i], 0
        top = len(self.tasks[i]) if limit is None else min(len(self.tasks[i]), int(limit))
        while x < top and self.possible([x + 1 if p == i else 0 for p in range(self.n)]):
            x += 1
        return x

    def used(self, tasks: list[int], users: list[int], j: int) -> Fraction:
        """Return what some users hold of a resource."""
        return sum((demand[j] for i in users for demand, _ in self.tasks[i][: tasks[i]]), Fraction(0))

    def possible(self, tasks: list[int]) -> bool:
        """Say whether tasks (n,) can be run, and rules allow them."""
        instance = self.instance
        rules, resources = instance.organisation, instance.resources
        if rules is not None:
            bounds = [(rules.ceilings[i], [i]) for i in range(self.n)]
            below = {
                g.name: [i for i, p in enumerate(rules.paths) if f"{p}/".startswith(f"{g.name}/")] for g in rules.groups
            }
            bounds += [(group.ceiling, below[group.name]) for group in rules.groups]
            for ceiling, users in bounds:
                if any(self.used(tasks, users, resources.index(r)) > most for r, most in ceiling.items()):
                    return False
        everybody = list(range(self.n))
        if any(self.used(tasks, everybody, j) > c for j, c in enumerate(instance.exact_capacity)):
            return False
        return instance.machines is None or self._packed(
            sorted((task for i in everybody for task in self.tasks[i][: tasks[i]]), key=lambda t: -sum(t[0]))
        )

    def _packed(self, tasks: list[tuple[tuple, list[int]]]) -> bool:
        rooms = [
            (k, tuple(room), tuple((Fraction(1),) * number for _, _, number in self.devices[k]))
            for k, (room, count) in enumerate(self.machines)
            for _ in range(count)
        ]

        failed = set()
        alike = [sum(task == other for other in tasks[at:]) for at, task in enumerate(tasks)]

        def place(at: int, rooms: list) -> bool:
            if at == len(tasks):
                return True
            if (state := (at, tuple(sorted(rooms)))) in failed:
                return False
            demand, classes = tasks[at]
            # More of the same than there is room for, were the rest of the machines theirs.
            fit = (min(c // d for d, c in zip(demand, room, strict=True) if d) for k, room, _ in rooms if k in classes)
            if sum(fit) < alike[at]:
                return False
            for one in dict.fromkeys(rooms):
                k, room, free = one
                if k not in classes or any(d > c for d, c in zip(demand, room, strict=True)):
                    continue
                left = tuple(c - d for d, c in zip(demand, room, strict=True))
                rest = list(rooms)
                rest.remove(one)
                ways = (_dealt(demand[j] / size, row) for (j, size, _), row in zip(self.devices[k], free, strict=True))
                if any(place(at + 1, [*rest, (k, left, after)]) for after in itertools.product(*ways)):
                    return True
            failed.add(state)
            return False

        return place(0, rooms)

    def _share(self, i: int) -> Fraction:
        """Return the dominant share of a task; where tasks are counted, 1."""
        if self.policy.measure == "tasks":
            return Fraction(1)
        excluded = self.rules.excluded if self.ruled and self.rules else ()
        rows = zip(self.instance.resources, self.instance.exact_demands[i], self.instance.exact_capacity, strict=True)
        return max((d / c for r, d, c in rows if c and r not in excluded), default=Fraction(0))

    def level(self, i: int, x: int) -> Fraction:
        """Return the level of x tasks, rules and weights included."""
        instance, rules = self.instance, self.rules
        levels = []
        weight = instance.exact_weights[i]
        weights = weight if isinstance(weight, tuple) else (weight,) * instance.m
        for j, r in enumerate(instance.resources):
            d, unit, off = instance.exact_demands[i][j], instance.exact_capacity[j], Fraction(0)
            if not unit or (self.ruled and rules is not None and r in rules.excluded):
                continue
            if self.policy.measure == "single" and r != self.policy.argument:
                continue
            if self.ruled and rules is not None and (promise := rules.guarantees[i].get(r)):
                unit = promise if rules.meaning == "normalised" else unit
                off = promise if rules.meaning == "surplus" else off
            levels.append((d, (d * x - off) / (unit * weights[j])))
        if self.policy.measure == "asset":
            return sum((level for _, level in levels), Fraction(0))
        if self.policy.measure == "tasks":
            return x / weight
        if self.policy.measure == "alone":
            return x / (self.alone(i) * weight) if x else Fraction(0)
        # Who uses nothing that counts may have nothing, or would have been refused.
        return max((level for d, level in levels if d), default=Fraction(0))

    def alone(self, i: int) -> Fraction:
        """Return the divisible tasks that a user could run if every machine were its own, with all that is excluded."""
        if self.instance.type_table is not None and self.instance.alone[i] is not None:
            return self.instance.alone[i].tasks  # a program, which has its own tests
        out = self.rules.excluded if self.ruled and self.rules else ()
        instance, kinds = self.instance, (self.instance.task_types or (None,) * self.instance.n)[i]
        counted = [j for j, resource in enumerate(instance.resources) if resource not in out]
        # A type that needs what is not there at all is left out.
        total = sum(kind.count for kind in kinds or ())
        parts = [(Fraction(k.count, total), k.demand) for k in kinds or ()] or [(1, instance.exact_demands[i])]
        runs = [(p, row) for p, row in parts if all(instance.exact_capacity[j] for j in counted if row[j])]
        needs = [(j, d) for j in counted if (d := sum(p * row[j] for p, row in runs))]
        return sum((count * min(room[j] / d for j, d in needs) for room, count in self.machines), Fraction(0))

    def value(self, i: int, x: int) -> tuple:
        """Return what x tasks are worth."""
        if x < self.promised[i]:
            return PROMISE, Fraction(x, self.promised[i]), self.rank(i)
        return self.rank(i), self.level(i, x)

    def rank(self, i: int) -> tuple:
        """Return when a user is served: by tier, with a weight of 0 last in it."""
        return (-self.rules.tiers[i], self.rules.last[i]) if self.ruled and self.rules else (0, False)

    def _siblings(self, path: str) -> list[tuple[tuple, Fraction, object]]:
        """Return rank, weight and name of who is directly in a group: its users, as numbers, and its groups."""
        rules, weights = self.rules, self.instance.exact_weights
        found: list = [(self.rank(h), Fraction(weights[h]), h) for h in range(self.n) if rules.paths[h] == path]
        found += [((-g.tier, not g.weight), Fraction(g.weight or 1), g.name) for g in rules.groups if g.parent == path]
        return found

    def _above(self, i: int) -> list[tuple[str, object]]:
        """Return the groups that a user is in from the root down, each with who in it leads to the user."""
        if not self.ruled or self.rules is None:
            return []
        names = self.rules.paths[i].split("/") if self.rules.paths[i] else []
        inside = ["/".join(names[:at]) for at in range(len(names) + 1)]
        return list(zip(inside, [*inside[1:], i], strict=True))

    def turn(self, i: int) -> tuple:
        """Return when a user is served by a market: by its rank, and those of its groups, among siblings."""
        found = []
        for path, mine in self._above(i):
            siblings = self._siblings(path)
            ranks = sorted({rank for rank, _, _ in siblings})
            found.append(ranks.index(next(rank for rank, _, name in siblings if name == mine)))
        while found and not found[-1]:
            found.pop()
        return tuple(found)

    def income(self, i: int) -> Fraction:
        """Return the weight of a user in a product: of siblings of one rank their part of what the group has."""
        part = Fraction(self.instance.exact_weights[i])
        for path, mine in self._above(i):
            siblings = self._siblings(path)
            rank, weight = next((rank, weight) for rank, weight, name in siblings if name == mine)
            total = sum((w for r, w, _ in siblings if r == rank), Fraction(0))
            part = part * weight / total if path else weight
        return part

    def total(self, tasks: list[int]) -> list:
        """Return what is kept of guarantees, and then tier by tier the sum, or users served and what that is worth."""
        promised = [(i, f) for i in self.playing if (f := self.promised[i])]
        kept = sorted((min(Fraction(tasks[i], f), Fraction(1)), self.rank(i)) for i, f in promised)
        return [kept, *itertools.chain.from_iterable(self._to(users, tasks) for users in self._turns)]

    @cached_property
    def _turns(self) -> list[list[int]]:
        """Who is served in each turn."""
        turns = {i: self.turn(i) for i in self.playing}
        return [[i for i in self.playing if turns[i] == turn] for turn in sorted({*turns.values()})]

    def _to(self, users: list[int], tasks: list[int]) -> list:
        """Return what tasks are worth to users who are served together: a product has integer powers."""
        if self.policy.objective == "sum":
            return [sum((self._rates[i] * int(tasks[i]) for i in users), Fraction(0))]
        served = sum(tasks[i] > 0 for i in users)
        if (power := 1 - Fraction(str(self.policy.alpha))) != 0:
            worth = [self._utility(i, int(tasks[i]), power) for i in users if tasks[i]]
            with localcontext(Context(prec=90)):
                total = sum(worth, Decimal(0))
            return [served if power < 0 else 0, Context(prec=60).plus(total)]
        scale = math.lcm(*(w.denominator for w in self._incomes.values()))
        product = math.prod(int(tasks[i]) ** int(self._incomes[i] * scale) for i in users if tasks[i])
        return [served, product]

    def _utility(self, i: int, x: int, power: Fraction) -> Decimal:
        """Return income times U(level), to 90 digits."""
        if (i, x) in self._known:
            return self._known[i, x]
        with localcontext(Context(prec=90)):
            level, income = self._rates[i] * x / self._incomes[i], self._incomes[i]
            base, b, w = (Decimal(f.numerator) / Decimal(f.denominator) for f in (level, power, income))
            self._known[i, x] = w * base**b / b
        return self._known[i, x]

    def score(self, tasks: list[int]) -> list:
        """Return the sorted values; of a sum or a product what is larger when it is better."""
        if self.policy.objective != "leximin":
            return self.total(tasks)
        return sorted(self.value(i, int(tasks[i])) for i in self.playing)

    def best(self) -> list:
        """Return the largest score of all that is possible."""
        score: Callable = self.score
        if self.policy.objective == "leximin":
            # Of values, which take long to compare, their places in the order of all.
            values = {i: [self.value(i, x) for x in range(self.most[i] + 1)] for i in self.playing}
            place = {value: at for at, value in enumerate(sorted({v for row in values.values() for v in row}))}
            places = [[place[v] for v in values.get(i, ())] for i in range(self.n)]

            def score(tasks: list[int]) -> list:
                return sorted(places[i][tasks[i]] for i in self.playing)

        found, top = [], [0] * self.n
        for tasks in itertools.product(*(range(most + 1) for most in self.most)):
            if (worth := score(list(tasks))) > found and self.possible(list(tasks)):
                found, top = worth, list(tasks)
        return self.score(top)


def equal(instance: Instance, policy: str, which: object) -> bool:
    """Compare an answer with enumeration; say whether the policy takes the instance."""
    try:
        found = solve(instance, policy, integer=True)
    except PolicyError as error:
        assert "count" in str(error) or "excluded" in str(error)
        return False
    reference = Enumeration(instance, policy)
    assert reference.score(found.tasks) == reference.best(), which
    assert found.certificate.valid, which
    assert found.certificate.rigorous, which
    return True


def _open(name: str, named: object) -> bool:
    return named is None or name in named  # type: ignore[operator]


def _takes(need: Fraction, size: Fraction, count: int) -> bool:
    """Say whether a machine has the devices for a task: a part of one, or whole ones."""
    return need < size or (need % size == 0 and need // size <= count)


def _dealt(need: Fraction, free: tuple[Fraction, ...]) -> list[tuple[Fraction, ...]]:
    """Return what can be left of devices after a task: a part is on any that has room, whole ones are untouched."""
    if need < 1:
        ways = {tuple(sorted([*free[:o], rest - need, *free[o + 1 :]])) for o, rest in enumerate(free) if rest >= need}
        return sorted(ways) if need else [free]
    untouched = [o for o, rest in enumerate(free) if rest == 1]
    taken = untouched[: int(need)]
    return [tuple(0 if o in taken else rest for o, rest in enumerate(free))] if len(taken) == need else []


class Groups:
    """Whole tasks in several groups by plain recursion: every set of users tried who could stop."""

    def __init__(self, instance: Instance, policy: str):
        plain = instance.machines is None and instance.task_types is None
        self.every = Enumeration(instance, policy)
        self.packing = None if plain else self.every
        self.packed: dict = {}
        self.instance, self.policy, self.rules = instance, policy_named(policy), instance.organisation
        self.promised = self.every.promised
        # Own ceilings of who has several types are looked at when tasks are packed.
        limits, unplaced = instance.whole_limits.tolist(), instance.unplaced(integer=True)
        self.most = [None if limit == float("inf") else int(limit) for limit in limits]
        self.playing = tuple(i for i in range(instance.n) if not unplaced[i] and self.most[i] != 0)
        self.known: dict = {}

    def best(self) -> set[tuple[int, ...]]:
        """Return the tasks (n,) at the end of every best way."""
        return self._from((0,) * self.instance.n, self.playing, None, {})[1]

    def _from(self, tasks: tuple, active: tuple, last: tuple | None, came: dict) -> tuple[list, set]:
        if not active:
            return [], {tasks}
        if (key := (tasks, active, last, tuple(sorted(came.items())))) not in self.known:
            moment, turn, came = self._turn(tasks, active, came)
            at = (moment, last[1] + 1 if last and last[0] == moment else 0)
            found: list = []
            ends: set = set()
            for number in range(len(turn) + 1):
                for stops in itertools.combinations(turn, number):
                    after = tuple(x + (i in turn and i not in stops) for i, x in enumerate(tasks))
                    if not self._possible(after):
                        continue
                    rest = tuple(i for i in active if i not in stops)
                    ways, of_ways = self._from(after, rest, at, {} if stops else came)
                    ways = [(at, -number), *ways] if number else ways
                    if not ends or ways > found:
                        found, ends = ways, set(of_ways)
                    elif ways == found:
                        ends |= of_ways
                if not number and ends:
                    break  # nobody has to stop
            self.known[key] = found, ends
        return self.known[key]

    def _turn(self, tasks: tuple, active: tuple, came: dict) -> tuple[tuple, list[int], dict]:
        rules = self.rules
        parts = {i: Fraction(tasks[i], self.promised[i]) for i in active if tasks[i] < self.promised[i]}
        if parts:
            return (0, min(parts.values())), [i for i, part in parts.items() if part == min(parts.values())], {}
        # What a group had when it came to its level: what it has now, where it came to another since it was asked.
        had = {
            g.name: (level, tuple(tasks[i] for i in self._below(g.name)))
            for g in rules.groups
            if any(i in active for i in self._below(g.name))
            for level in [self._level(self._below(g.name), tasks, g)]
        }
        came = {name: came[name] if name in came and came[name][0] == now[0] else now for name, now in had.items()}
        (rank, level), turn = self._lowest("", tasks, active, came)
        return (1, rank, level), turn, came

    def _lowest(self, name: str, tasks: tuple, active: tuple, came: dict) -> tuple[tuple, list[int]]:
        rules = self.rules
        children: list = [
            ((-rules.tiers[i], rules.last[i]), self._level([i], tasks), Fraction(0), [i])
            for i in active
            if rules.paths[i] == name
        ]
        for group in rules.groups:
            if group.parent == name and group.name in came:
                level, before = came[group.name]
                more = zip(self._below(group.name), before, strict=True)
                gain = sum((self._shares(i) * (tasks[i] - x) for i, x in more), Fraction(0)) / (group.weight or 1)
                children.append(((-group.tier, not group.weight), level, gain, group.name))
        rank, level, gain = min(child[:3] for child in children)
        below = [child[3] for child in children if child[:3] == (rank, level, gain)]
        return (rank, level), [
            i
            for child in below
            for i in (child if isinstance(child, list) else self._lowest(child, tasks, active, came)[1])
        ]

    def _shares(self, i: int) -> Fraction:
        cells = zip(self.instance.exact_demands[i], self.instance.exact_capacity, strict=True)
        return sum((Fraction(d) / c for d, c in cells if c), Fraction(0))

    def _below(self, name: str) -> list[int]:
        return [i for i, path in enumerate(self.rules.paths) if f"{path}/".startswith(f"{name}/")]

    def _level(self, users: list[int], tasks: tuple, group: Group | None = None) -> Fraction:
        instance, rules = self.instance, self.rules
        promise = rules.guarantees[users[0]] if group is None else group.guarantee
        weight = instance.exact_weights[users[0]] if group is None else group.weight or 1
        weights = weight if isinstance(weight, tuple) else (weight,) * instance.m
        if self.policy.measure in ("tasks", "alone"):
            whole = {i: self.every.alone(i) if self.policy.measure == "alone" else 1 for i in users if tasks[i]}
            return sum((tasks[i] / Fraction(of) for i, of in whole.items()), Fraction(0)) / weight
        levels = []
        for j, r in enumerate(instance.resources):
            demands = [instance.exact_demands[i][j] for i in users]
            uses = group is not None or any(demands) or self.policy.measure == "asset"
            if not instance.exact_capacity[j] or r in rules.excluded or not uses:
                continue
            if self.policy.measure == "single" and r != self.policy.argument:
                continue
            given = promise.get(r, 0)
            unit = given if given and rules.meaning == "normalised" else instance.exact_capacity[j]
            held = sum((tasks[i] * d for i, d in zip(users, demands, strict=True)), Fraction(0))
            levels.append((held - (given if rules.meaning == "surplus" else 0)) / (unit * weights[j]))
        return sum(levels, Fraction(0)) if self.policy.measure == "asset" else max(levels, default=Fraction(0))

    def _possible(self, tasks: tuple) -> bool:
        instance = self.instance
        if self.packing is not None:
            if tasks not in self.packed:
                within = all(x <= most for x, most in zip(tasks, self.packing.most, strict=True))
                self.packed[tasks] = within and self.packing.possible(list(tasks))
            return self.packed[tasks]
        over = any(most is not None and x > most for x, most in zip(tasks, self.most, strict=True))
        bounds = [(dict(zip(instance.resources, instance.exact_capacity, strict=True)), range(instance.n))]
        bounds += [(group.ceiling, self._below(group.name)) for group in self.rules.groups]
        return not over and all(
            sum((tasks[i] * instance.exact_demands[i][instance.resources.index(r)] for i in users), Fraction(0)) <= most
            for bound, users in bounds
            for r, most in bound.items()
        )
