"""The claims of a document: what it says of the cluster, and whether that is possible at all.

x[i]     tasks, z[i][k] of them on class k              p[k][j]  price of a unit of j on class k, not negative
r[i]     level of one task, y[i] = r[i] * x[i]          q[i]     price of a task on the cheapest class open to i

Of a user with task types on machines z and what is open to her are told kind by kind, and her task is the average one.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

from .cluster import Cluster
from .groups import incomes, turns
from .monopoly import alone, pooled
from .reading import Report, dot, number, over_one, products, shown, total
from .whole import allowed, sequences
from .work import bits, spend

__all__ = ["ACCURACY", "SCHEMA", "Claim"]

SCHEMA = "drfopt certificate 1"
READ = (SCHEMA, "drfopt allocation 1")
"""What a document may say that it is."""

ACCURACY = Fraction(1, 10**9)
"""What a file of floats may be off by, relatively; a file of fractions may be off by nothing."""

OBJECTIVES = dict.fromkeys(("drf", "asset", "single", "tasks", "tsf"), "leximin")
OBJECTIVES |= {"ceei": "alpha", "utilitarian": "sum", "throughput": "sum", "per-server": "servers", "path": "leximin"}

TASKS = ("tasks", "tsf")
"""Policies that count tasks, not resources."""

ARGUED = ("single", "alpha", "path")
"""Policies whose names have an argument behind a colon."""


class Claim:
    """What the document says of the cluster, and the checks; lists are in the order of the cluster's users."""

    def __init__(self, cluster: Cluster, data: dict[str, Any], exact: bool = False):
        if data.get("schema", SCHEMA) not in READ:
            raise ValueError(f"its schema is {data['schema']!r}, and {' and '.join(map(repr, READ))} are read here")
        if not isinstance(data["integer"], bool):
            raise ValueError("'integer' says whether tasks are whole: true or false")
        self.c, self.policy, self.whole = cluster, str(data["policy"]), data["integer"]
        word, colon, argument = self.policy.partition(":")
        known = not self.policy.endswith(".py") and bool(colon) == (word in ARGUED)
        self.alpha = number(argument) if known and word == "alpha" else number(1)
        known = known and self.alpha >= 0
        self.objective = ("alpha" if self.alpha else "sum") if word == "alpha" else OBJECTIVES.get(word, "")
        if word == "per-server" and cluster.pool:  # A pool is one machine.
            self.objective = "leximin"
        self.rows, self.proof = data["users"], data.get("proof") or {}
        self.alone_said = self.said_alone(word)
        self.beyond = self.not_followed(word)
        if not known or self.beyond:
            self.objective = ""
        scalar = self.objective == "alpha" or (self.objective == "leximin" and word in ("tasks", "tsf"))
        # What is asked of a cluster on the way to a proof has no instance.
        if scalar and cluster.weighed and "instance" in data:
            raise ValueError(f"{self.policy} is not defined for weights per resource")
        self.mixed = self.whole and bool(cluster.typed)
        if [row["name"] for row in self.rows] != cluster.users:
            raise ValueError(
                "its users are not those of the instance, in its order: name the instance it is the answer of"
            )
        self.enclosed = any(isinstance(row["tasks"], dict) for row in self.rows)
        if self.enclosed and self.whole:
            raise ValueError("whole tasks are numbers, and lie between no two")
        self.fits = [cluster.fits(kind, self.whole) for kind in cluster.kinds]
        self.open = list(self.fits)
        self.sums_said: dict[int, dict[int, Any]] = {}
        """Where the file says that tasks of users with several types run, all types together."""
        place, self.n = None if cluster.pool else self.placed(data), range(len(self.rows))
        # A point in the enclosures: the file's, or where its placement puts everybody.
        point = self.proof.get("point") or {} if self.enclosed else {}
        if self.enclosed and not point and place is not None:
            point = {
                name: total(total(place[at].values()) for at in cluster.kinds_of[i])
                for i, name in enumerate(cluster.users)
            }
        given = [point.get(row["name"], _lower(row["tasks"])) for row in self.rows]
        self.x = [number(value) for value in given]
        # Numbers as text were meant exactly, and so are all others beside them.
        self.exact = exact
        written = exact or any(isinstance(value, str) for value in given)
        floats = not self.whole and not self.enclosed and not written
        self.report = Report(ACCURACY if floats else number(0))
        self.u: list[Any] = [u if u is None or not self.whole else number(math.floor(u)) for u in cluster.u]
        self.plays = [all(self.fits[q] for q in cluster.kinds_of[i]) and self.u[i] != 0 for i in self.n]
        if self.whole:
            self.sequences = sequences(cluster)
            for i in cluster.typed:
                self.u[i] = number(allowed(cluster, i, self.sequences[i]))
            self.plays = [bool(mine.kinds) and u != 0 for mine, u in zip(self.sequences, self.u, strict=True)]
            for i in cluster.typed:
                self.u[i] = number(self.sequences[i].most)
        # Along a path a task is worth what it is at this place: the bottleneck condition asks for the order only.
        if word == "path" and (self.whole or not cluster.pool):
            raise ValueError(f"{self.policy} is defined for one pool and divisible tasks")
        most = {i: h for i, (h, _) in self.alone_said.items()}
        if word == "tsf" and cluster.pool:
            most = {i: pooled(cluster, i) for i in cluster.typed}
        lines = self.on_path if word == "path" else partial(cluster.lines, policy=self.policy, most=most)
        self.lines = self.by_weight = [lines(i) for i in self.n] if self.objective else []
        self.floor = list(cluster.floor)
        # What everybody has to spend in a market, of which a group's members have their parts.
        self.income = [row[0] for row in cluster.w]
        if cluster.ruled and self.objective == "alpha":
            self.income = incomes(cluster)
            self.lines = [
                [(s * w[0] / m, o) for s, o in mine]
                for mine, w, m in zip(self.lines, cluster.w, self.income, strict=True)
            ]
        self.turns = turns(cluster) or [0] * len(self.rows)
        self.r = [max(slope for slope, _ in mine) for mine in self.lines]
        # Who can run nothing by itself has no level, not one below 0 for a guarantee it cannot use.
        self.y = [self.level(i, self.x[i]) if self.plays[i] else number(0) for i in self.n if self.lines]
        if not self.whole:  # Who is below a ceiling of 0 is at its limit.
            empty = [(j, members) for _, j, most, members in cluster.ceilings if not most]
            for i in (i for j, members in empty for i in members if cluster.d[i][j]):
                self.u[i], self.plays[i] = number(0), False
        prices = self.proof.get("prices", data.get("prices"))
        if prices is None and all(row.get("price") is not None for row in data.get("resources", [{}])):
            prices = {row["name"]: row["price"] for row in data["resources"]}
        self.bounds = self.ceilings(self.proof.get("ceilings", {}))
        self.p = None if prices is None or (self.enclosed and not point) else self.prices(prices)
        self.z = [{0: x} for x in self.x] if cluster.pool else place
        self.sums: dict[tuple[int, int], Fraction] = {}
        self.held: dict[int, tuple[int, list[tuple[int, Any]]]] = {}
        """What is placed on a class, over a common denominator: of long fractions that is worth doing once."""

    def said_alone(self, word: str) -> dict[int, tuple[Fraction, str]]:
        """Return what the file says that users with several types run alone on machines, and what is wrong with it."""
        said = self.proof.get("alone", {}) if word == "tsf" and not self.c.pool else {}
        return {i: alone(self.c, i, said[name]) for i in self.c.typed if (name := self.c.users[i]) in said}

    def not_followed(self, word: str) -> str:
        """Return what of rules, which say what is fair and what a level is, is not followed, not said or not there."""
        c = self.c
        if word == "tsf" and not c.pool and (silent := [i for i in c.typed if i not in self.alone_said]):
            return f"what {c.users[silent[0]]} could run alone, of which the file says nothing,"
        _, colon, counted = self.policy.partition(":")
        if word == "single" and colon and counted not in c.resources:
            return f"the share of {counted!r}, a resource that the instance does not have,"
        promised = any(map(any, c.guarantee)) or any(group.get("guarantee") for group in c.groups)
        if not (c.ruled or c.ordered or c.excluded) or (self.objective == "servers" and not c.amounts):
            return ""
        if word == "path" or self.objective in ("", "servers"):
            return f"what {self.policy} makes of the rules of an organisation"
        meant = f"what {self.policy} makes of guarantees that are {c.meaning}"
        if self.objective == "leximin":
            return "" if c.meaning == "floor" or not promised or word not in TASKS else meant
        # A market knows floors, incomes, ceilings, and one order of all.
        if turns(c) is None:
            return f"tiers inside of groups in {self.policy}"
        return "" if c.meaning == "floor" or not promised else meant

    def level(self, i: int, tasks: Fraction) -> Fraction:
        """Return the level of user i with so many tasks."""
        return max(slope * tasks - offset for slope, offset in self.lines[i])

    def on_path(self, i: int) -> list[tuple[Fraction, Fraction]]:
        """Return the part of the level of user i along a path of bundles that one of its tasks makes, as a line."""
        cells = zip(self.c.d[i], self.c.cluster, self.c.w[i], strict=True)
        shares = [d / c / w * self.x[i] if c else number(0) for d, c, w in cells]
        bundles = self.policy.partition(":")[2].split("..")
        knots = [[number(0)] * len(shares), *([number(v) for v in bundle.split(":")] for bundle in bundles)]
        if any(len(knot) != len(shares) for knot in knots):
            raise ValueError(f"{self.policy} is no path of {len(shares)} resources")
        columns = list(zip(*knots, strict=True))
        if any(one >= other for column in columns for one, other in pairwise(column)):
            raise ValueError(f"{self.policy} does not grow from bundle to bundle")
        heights = [total(knot) / len(knot) for knot in knots]
        level = max((_between(column, heights, s) for column, s in zip(columns, shares, strict=True) if s), default=0)
        return [(level / self.x[i] if self.x[i] else number(1), number(0))]

    @cached_property
    def barred(self) -> set[int]:
        """Who may not have one whole task, for a ceiling of a group that it is in."""
        rows = [(j, most, i) for _, j, most, inside in self.c.ceilings for i in inside if self.plays[i]]
        return {i for j, most, i in rows if self.sequences[i].uses(1, j) > most}

    @cached_property
    def scaled(self) -> tuple[int, Any]:
        """All tasks over a common denominator."""
        return over_one(self.x)

    def placed(self, data: dict[str, Any]) -> list[dict[int, Fraction]] | None:
        """Return what of every kind runs on which class, None where the file does not say."""
        at, place = {name: k for k, name in enumerate(self.c.classes)}, data.get("placement")
        types, typed = data.get("types") or {}, set(self.c.typed)
        if place is None or not {self.c.users[i] for i in typed} <= set(types):
            return None
        rows: list[Any] = []
        self.sums_said = {
            i: {at[c]: number(z) for c, z in place[self.c.users[i]].items()} for i in typed if self.c.users[i] in place
        }
        for i, name in enumerate(self.c.users):
            mine = [kind["placement"] for kind in types[name]] if i in typed else [place.get(name, {})]
            if len(mine) != len(self.c.kinds_of[i]):
                raise ValueError(f"{name!r} has {len(self.c.kinds_of[i])} task types, of which {len(mine)} are placed")
            rows += mine
        return [{at[c]: number(z) for c, z in row.items()} for row in rows]

    def names(self, users: Iterable[int], *amounts: Any) -> Iterator[str]:
        """Yield users with their amounts, for a sentence."""
        return (f"{self.c.users[i]}: {', '.join(shown(a[i]) for a in amounts)}" for i in users)

    def below(self) -> set[int]:
        """Return who plays and is not at a limit."""
        return {i for i in self.n if self.plays[i] and (self.u[i] is None or not self.near(self.x[i], self.u[i]))}

    def near(self, value: Fraction, target: Fraction) -> bool:
        """Say whether two numbers are the same to the accuracy of the file."""
        e = self.report.accuracy
        return value == target or (e > 0 and abs(value - target) <= e * abs(target))

    def used(self, k: int, j: int) -> Fraction:
        """Return what the tasks placed on class k use of resource j."""
        if (k, j) in self.sums:
            return self.sums[k, j]
        if k not in self.held:
            here = [at for at, z in enumerate(self.z or []) if z.get(k) or self.c.pool]
            unit, scaled = self.scaled if self.c.pool else over_one([(self.z or [])[at][k] for at in here])
            self.held[k] = unit, list(zip(here, scaled, strict=True))
        unit, tasks = self.held[k]
        terms = [(z, need) for at, z in tasks if (need := self.c.needs[at][j])]
        self.sums[k, j] = dot((unit, [z for z, _ in terms]), (self.c.unit, [need for _, need in terms]))
        return self.sums[k, j]

    def ends(self) -> tuple[list[Fraction], list[Fraction]]:
        """Return the ends of the enclosures, a number of tasks being both of its own."""
        low = [number(_lower(row["tasks"])) for row in self.rows]
        return low, [number(t["upper"] if isinstance(t := row["tasks"], dict) else t) for row in self.rows]

    def cell(self, k: int, j: int) -> str:
        """Return the name of a resource of a class."""
        return self.c.resources[j] if self.c.pool else f"{self.c.classes[k]}/{self.c.resources[j]}"

    def prices(self, given: dict[str, Any]) -> list[list[Fraction]]:
        """Return prices (k, m) from ``{resource: price}`` of a pool or ``{class: {resource: price}}``."""
        rows = [given] if self.c.pool else [given.get(name, {}) for name in self.c.classes]
        return [[number(row.get(r, 0)) for r in self.c.resources] for row in rows]

    def ceilings(self, given: dict[str, Any]) -> list[Fraction]:
        """Return prices of the ceilings of groups, in their order, from ``{group: {resource: price}}``."""
        rows = ((given.get(group, {}), self.c.resources[j]) for group, j, *_ in self.c.ceilings)
        return [number(row.get(resource, 0)) for row, resource in rows]

    def market(self, p: list[list[Fraction]], bounds: Sequence[Fraction] = ()) -> tuple[list[Fraction], Any, Any]:
        """Return q, the money P that all capacities cost, and the part of it that is not spent at least prices q.

        `bounds` are prices of the ceilings of groups, which their members pay and which cost money as capacities do.
        """
        cells = [(k, j, price) for k, row in enumerate(p) for j, price in enumerate(row) if price]
        unit, scaled = over_one([price for _, _, price in cells])
        self.paid: list[list[tuple[int, Any]]] = [[] for _ in p]
        for (k, j, _), price in zip(cells, scaled, strict=True):
            self.paid[k].append((j, price))
        self.unit = unit * self.c.unit
        least = [min((self.cost(at, k) for k in ks), default=0) for at, ks in enumerate(self.open)]
        parts = [[self.c.kinds[at].part * least[at] for at in kinds] for kinds in self.c.kinds_of]
        q = [total(mine) / self.unit if len(mine) > 1 else Fraction(mine[0]) / self.unit for mine in parts]
        money = products([price for _, _, price in cells], [self.c.room[k][j] for k, j, _ in cells])
        for price, (_, j, most, members) in zip(bounds, self.c.ceilings, strict=False):
            money += price * most
            for i in members if price else ():
                q[i] += price * self.c.d[i][j]
        spent = [i for i in self.n if q[i] and self.plays[i]]
        unit, scaled = self.scaled
        return q, money, money - dot((unit, [scaled[i] for i in spent]), over_one([q[i] for i in spent]))

    def cost(self, at: int, k: int) -> Any:
        """Return what `unit` tasks of a kind cost on class k, at the prices of the last `market`."""
        found = sum(self.c.needs[at][j] * v for j, v in self.paid[k])
        spend(bits(found))
        return found

    def alone(self, at: int) -> Fraction:
        """Return the tasks of a kind for which there would be room if everything were theirs."""
        d = self.c.kinds[at].d
        return total(min(r / n for n, r in zip(d, self.c.room[k], strict=True) if n) for k in self.fits[at])


def _lower(tasks: Any) -> Any:
    return tasks["lower"] if isinstance(tasks, dict) else tasks


def _between(knots: Sequence[Fraction], heights: Sequence[Fraction], at: Fraction) -> Fraction:
    """Return the height at a place on a line through knots, which goes on beyond the last as it came."""
    q = next((q for q, knot in enumerate(knots[1:]) if at <= knot), len(knots) - 2)
    return heights[q] + (at - knots[q]) * (heights[q + 1] - heights[q]) / (knots[q + 1] - knots[q])
