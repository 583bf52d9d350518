"""The claims of a document and the checks of them, in the order of the specification.

x[i]     tasks, z[i][k] of them on class k              p[k][j]  price of a unit of j on class k, not negative
r[i]     level of one task, y[i] = r[i] * x[i]          q[i]     price of a task on the cheapest class open to i

Of a user with task types on machines z and what is open to her are told kind by kind, and her task is the average one.
"""

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from .reading import Cluster, Report, number, shown, total
from .whole import better, score, unpacked

__all__ = ["SCHEMA", "Claim", "verify"]

SCHEMA = "drfopt certificate 1"
ACCURACY = Fraction(1, 10**9)
"""What a file of floats may be off by, relatively; a file of fractions may be off by nothing."""

ROUNDING = Fraction(1, 2**49)
"""Part of all money that the roundings of a file of floats account for: a few units of their last place."""

CLOSED = Fraction(1, 10**4)
"""Part of her price by which a class must be too dear for a user, in a file of floats, to be closed to her."""

OBJECTIVES = dict.fromkeys(("drf", "asset", "single", "tasks", "tsf"), "leximin")
OBJECTIVES |= {"ceei": "alpha", "utilitarian": "sum", "throughput": "sum", "per-server": "servers"}

ARGUED = ("single", "alpha")
"""Policies whose names have an argument behind a colon."""


class Claim:
    """What the document says of the cluster, and the checks; lists are in the order of the cluster's users."""

    def __init__(self, cluster: Cluster, data: dict[str, Any]):
        self.c, self.policy, self.whole = cluster, str(data["policy"]), data["integer"] is True
        word, colon, argument = self.policy.partition(":")
        known = not self.policy.endswith(".py") and bool(colon) == (word in ARGUED)
        self.alpha = number(argument) if known and word == "alpha" else number(1)
        self.objective = ("alpha" if self.alpha else "sum") if word == "alpha" else OBJECTIVES.get(word, "")
        # Rules say what is fair, and what a level is.
        self.objective = "" if cluster.ruled or not known else self.objective
        self.rows, self.proof = data["users"], data.get("proof") or {}
        scalar = self.objective == "alpha" or (self.objective == "leximin" and word in ("tasks", "tsf"))
        if scalar and any(len(set(w)) > 1 for w in cluster.w):
            raise ValueError(f"{self.policy} is not defined for weights per resource")
        if self.whole and cluster.typed:
            raise ValueError("whole tasks of several types of one user are not defined")
        if [row["name"] for row in self.rows] != cluster.users:
            raise ValueError("the users are not those of the instance, in its order")
        self.enclosed = any(isinstance(row["tasks"], dict) for row in self.rows)
        self.fits = [cluster.fits(kind, self.whole) for kind in cluster.kinds]
        self.open = list(self.fits)
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
        floats = not self.whole and not self.enclosed and not any(isinstance(value, str) for value in given)
        self.report = Report(ACCURACY if floats else number(0))
        self.u: list[Any] = [u if u is None or not self.whole else number(math.floor(u)) for u in cluster.u]
        self.plays = [all(self.fits[q] for q in cluster.kinds_of[i]) and self.u[i] != 0 for i in self.n]
        self.r = [cluster.rate(i, self.policy) for i in self.n] if self.objective else []
        self.y = [r * x for r, x in zip(self.r, self.x, strict=bool(self.r))]
        prices = self.proof.get("prices", data.get("prices"))
        if prices is None and all(row.get("price") is not None for row in data.get("resources", [{}])):
            prices = {row["name"]: row["price"] for row in data["resources"]}
        self.p = None if prices is None or (self.enclosed and not point) else self.prices(prices)
        self.z = [{0: x} for x in self.x] if cluster.pool else place

    def placed(self, data: dict[str, Any]) -> list[dict[int, Fraction]] | None:
        """Return what of every kind runs on which class, None where the file does not say."""
        at, place = {name: k for k, name in enumerate(self.c.classes)}, data.get("placement")
        types, typed = data.get("types") or {}, set(self.c.typed)
        if place is None or not {self.c.users[i] for i in typed} <= set(types):
            return None
        rows: list[Any] = []
        for i, name in enumerate(self.c.users):
            mine = [kind["placement"] for kind in types[name]] if i in typed else [place.get(name, {})]
            if len(mine) != len(self.c.kinds_of[i]):
                raise ValueError(f"{name!r} has {len(self.c.kinds_of[i])} task types, of which {len(mine)} are placed")
            rows += mine
        return [{at[c]: number(z) for c, z in row.items()} for row in rows]

    def names(self, users: Iterable[int], *amounts: Any) -> Iterator[str]:
        """Yield users with their amounts, for a sentence."""
        return (f"{self.c.users[i]}: {', '.join(shown(a[i]) for a in amounts)}" for i in users)

    def near(self, value: Fraction, target: Fraction) -> bool:
        """Say whether two numbers are the same to the accuracy of the file."""
        return abs(value - target) <= self.report.accuracy * abs(target)

    def used(self, k: int, j: int) -> Fraction:
        """Return what the tasks placed on class k use of resource j."""
        kinds = zip(self.z or [], self.c.kinds, strict=True)
        return total(z[k] * kind.d[j] for z, kind in kinds if kind.d[j] and z.get(k))

    def feasible(self) -> None:
        """Step 1: the allocation is possible, and what the file says of it is so."""
        x, u, add, over = self.x, self.u, self.report.add, 1 + self.report.accuracy
        add("tasks are not negative", self.names((i for i in self.n if x[i] < 0), x))
        if self.whole:
            add("tasks are whole", self.names((i for i in self.n if x[i].denominator > 1), x))
        add("limits", self.names((i for i in self.n if u[i] is not None and x[i] > u[i] * over), x, u))
        if self.c.ceilings:
            add("ceilings of groups", self.c.over_ceilings(x, over))
        add("who can run nothing has nothing", self.names((i for i in self.n if not self.plays[i] and x[i]), x))
        levels = [row.get("level") for row in self.rows]
        stated: list[Any] = [None if y is None or isinstance(y, dict) else number(y) for y in levels]
        fine = [0 if isinstance(row.get("level"), str) else ACCURACY for row in self.rows]
        off = (i for i, v in enumerate(stated) if self.r and v is not None and abs(v - self.y[i]) > fine[i] * self.y[i])
        unmeasured = "" if self.r else "how they are measured is not known here"
        add("levels are those of the tasks", self.names(off, stated, self.y), unmeasured)
        if self.enclosed:
            self.in_enclosures()
        if self.whole and not self.c.pool:
            packing = self.proof.get("packing")
            unknown = "the file does not say how the tasks are packed" if packing is None else ""
            return add("machines", [] if packing is None else unpacked(self.c, self.fits, x, packing), unknown)
        if self.z is None:
            return add("capacities", [], "the file does not say on which machines the tasks run")
        kinds, held = list(enumerate(self.c.kinds)), [total(z.values()) for z in self.z]
        asked = [kind.part * x[kind.owner] for _, kind in kinds]
        lost = (q for q, _ in kinds if not self.near(held[q], asked[q]) or min(self.z[q].values(), default=0) < 0)
        owners = [self.c.users[kind.owner] for _, kind in kinds]
        add("tasks are those placed", (f"{owners[q]}: {shown(asked[q])}, {shown(held[q])}" for q in lost))
        astray = (q for q, _ in kinds if any(z and k not in self.fits[q] for k, z in self.z[q].items()))
        add("tasks run where they fit", (f"{owners[q]}: {shown(self.z[q])}" for q in astray))
        cells = ((k, j) for k in range(len(self.c.C)) for j in range(len(self.c.resources)))
        full = ((k, j, used) for k, j in cells if (used := self.used(k, j)) > self.c.room[k][j] * over)
        return add(
            "capacities", (f"{self.cell(k, j)}: {shown(used)} of {shown(self.c.room[k][j])}" for k, j, used in full)
        )

    def cell(self, k: int, j: int) -> str:
        """Return the name of a resource of a class."""
        return self.c.resources[j] if self.c.pool else f"{self.c.classes[k]}/{self.c.resources[j]}"

    # ---- step 2: nothing is better --------------------------------------------------------------------------------

    def prices(self, given: dict[str, Any]) -> list[list[Fraction]]:
        """Return prices (k, m) from ``{resource: price}`` of a pool or ``{class: {resource: price}}``."""
        rows = [given] if self.c.pool else [given.get(name, {}) for name in self.c.classes]
        return [[number(row.get(r, 0)) for r in self.c.resources] for row in rows]

    def market(self, p: list[list[Fraction]]) -> tuple[list[Fraction], Fraction, Fraction]:
        """Return q, the money P that all capacities cost, and the part of it that is not spent at least prices q."""
        self.paid = [[(j, price) for j, price in enumerate(row) if price] for row in p]
        least = [min((self.cost(at, k) for k in ks), default=number(0)) for at, ks in enumerate(self.open)]
        q = [total(self.c.kinds[at].part * least[at] for at in kinds) for kinds in self.c.kinds_of]
        money = total(v * self.c.room[k][j] for k, row in enumerate(self.paid) for j, v in row)
        return q, money, money - total(q[i] * self.x[i] for i in self.n if q[i] and self.plays[i])

    def cost(self, at: int, k: int) -> Fraction:
        """Return what a task of a kind costs on class k, at the prices of the last `market`."""
        return sum((self.c.kinds[at].d[j] * v for j, v in self.paid[k]), number(0))

    def rounds(self) -> list[tuple[Fraction, list[int], list[list[Fraction]]]] | None:
        """Return levels, who is finished, and prices: the file's or, of a pool, one a saturated resource."""
        if "rounds" in self.proof:
            at = {name: i for i, name in enumerate(self.c.users)}
            steps = self.proof["rounds"]
            return [(number(s["level"]), [at[u] for u in s["finished"]], self.prices(s["prices"])) for s in steps]
        found, waiting, m = [], set(self.n), range(len(self.c.resources))
        full = [j for j in m if self.c.room[0][j] and self.near(self.used(0, j), self.c.room[0][j])]
        highest = {
            j: max((self.y[i] for i in self.n if self.c.d[i][j] and self.plays[i]), default=number(0)) for j in full
        }
        for j in full:
            stop = [i for i in waiting if self.c.d[i][j] and self.plays[i] and self.near(self.y[i], highest[j])]
            found.append((highest[j], stop, [[number(int(j == other)) for other in m]]))
            waiting -= set(stop)
        return found if self.c.pool else None

    def leximin(self) -> None:
        """Everybody is at her limit or finished by a round, whose prices prove that she cannot rise."""
        rounds, times, e, last = self.rounds(), [0] * len(self.n), self.report.accuracy, number(0)
        for t, finished, p in rounds or []:
            q, money, unspent = self.market(p)
            top = total(q[i] * self.x[i] for i in self.n if self.plays[i] and self.y[i] >= t * (1 - e))
            faults = ["some price is negative"] if min(map(min, p)) < 0 else []
            if abs(unspent) > e * top + (ROUNDING * money if e else 0):
                faults.append(f"of the {shown(money)} that all capacities cost, {shown(unspent)} is not spent")
            faults += self.names((i for i in self.n if q[i] and self.plays[i] and self.y[i] > t * (1 + e)), self.y, q)
            faults += self.names((i for i in finished if not q[i] or not self.near(self.y[i], t)), self.y, q)
            faults += [f"the round before has level {shown(last)}"] * (not self.c.pool and t * (1 + e) < last)
            self.report.add(f"nobody finished at level {shown(t)} can rise", faults)
            last, spare = t, max(unspent - (ROUNDING * money if e else 0), number(0))
            for i in set(finished):
                times[i] += 1
            for at, kind in enumerate(self.c.kinds):
                if len(self.open[at]) > 1:
                    costs = {k: self.cost(at, k) for k in self.open[at]}
                    least, lost = min(costs.values()), 10 * self.r[kind.owner] / kind.part * spare
                    slight = {
                        k: e and (v - least < CLOSED * least or lost > e * t * (v - least)) for k, v in costs.items()
                    }
                    self.open[at] = [k for k, v in costs.items() if v == least or slight[k]]
        below = [self.u[i] is None or not self.near(self.x[i], self.u[i]) for i in self.n]
        astray = [i for i in self.n if self.plays[i] and (times[i] > 1 or (below[i] and not times[i]))]
        unknown = "the file has no rounds, which machines need" if astray and rounds is None else ""
        alone: Iterable[str] = [] if unknown else self.names(astray, self.y)
        self.report.add("everybody is at its limit or finished once", alone, unknown)

    def sum(self) -> None:
        """What all capacities cost, and what the limited would gain, bounds every sum of levels."""
        if (p := self.p) is None:
            return self.report.add("no sum is larger", [], "the file has no prices")
        q, money, _ = self.market(p)
        free = [i for i in self.n if self.plays[i] and self.u[i] is None]
        idle = [f"a task of {self.c.users[i]} costs nothing, and it has no limit" for i in free if not q[i]]
        rise = max([number(1)] + [self.r[i] / q[i] for i in free if q[i]])
        gain = total(max(self.r[i] - rise * q[i], number(0)) * (self.u[i] or 0) for i in self.n if self.plays[i])
        value, bound = total(self.y[i] for i in self.n if self.plays[i]), rise * money + gain
        short = [f"the sum is {shown(value)}, the prices prove at most {shown(bound)}"] * (
            bound - value > self.report.accuracy * value
        )
        return self.report.add(
            "no sum is larger", [*["some price is negative"] * (min(map(min, p)) < 0), *idle, *short]
        )

    def alpha_fair(self) -> None:
        """Everybody has what she would choose at the prices; or is known to be where the file says."""
        if (p := self.p) is None:
            return self.report.add("prices", [], "the file has no prices, or no point in the enclosures")
        q, money, unspent = self.market(p)
        e, a, x, wrong = self.report.accuracy, self.alpha, self.x, ["some price is negative"] * (min(map(min, p)) < 0)
        playing = [i for i in self.n if self.plays[i]]
        wrong += self.names((i for i in playing if not x[i]), x)
        if wrong or a.denominator > (1 if self.enclosed else 64):
            return self.report.add("prices", wrong, f"the power {a} is not rational")
        b, w = a.denominator, [row[0] for row in self.c.w]
        if self.enclosed:
            return self.enclosures(q, unspent, {i: w[i] * self.r[i] * self.y[i] ** -int(a) for i in playing})
        # (q / marginal utility) to the power b, which is rational.
        ratio = {i: (q[i] / (w[i] * self.r[i])) ** b * self.y[i] ** a.numerator for i in playing}
        full = {i for i in playing if self.u[i] is not None and self.near(x[i], self.u[i])}
        off = (i for i in playing if ratio[i] > (1 + a * e) ** b or (i not in full and ratio[i] < (1 - a * e) ** b))
        self.report.add("everybody has what it would choose", self.names(off, x, q))
        cells = [(k, j) for k, row in enumerate(p) for j, price in enumerate(row) if price]
        idle = (self.cell(k, j) for k, j in cells if not self.near(self.used(k, j), self.c.room[k][j]))
        self.report.add("what has a price is used up", idle)
        lost = [f"{shown(unspent)} of {shown(money)}"] * (abs(unspent) > e * money)
        return self.report.add("nobody uses a class that is dear to it", lost)

    def enclosures(self, q: list[Fraction], unspent: Fraction, m: dict[int, Fraction]) -> None:
        """The optimum is in every enclosure: outside of one, more would be lost than there is to gain."""
        x, a, c = self.x, self.alpha, self.c
        alone = {i: min(self.alone(at) / c.kinds[at].part for at in c.kinds_of[i]) for i in m}
        most = {i: alone[i] if self.u[i] is None else min(alone[i], self.u[i]) for i in m}
        gain = unspent + total(_up(max((m[i] - q[i]) * (most[i] - x[i]), (q[i] - m[i]) * x[i])) for i in m)

        def loss(i: int, s: Fraction) -> Fraction:
            return m[i] * x[i] * a * (s - 1) ** 2 / (2 if s < 1 else 2 + 2 * a * (s - 1))

        low, high = self.ends()
        wide = (
            i
            for i in m
            if (low[i] > 0 and loss(i, low[i] / x[i]) < gain) or (high[i] < most[i] and loss(i, high[i] / x[i]) < gain)
        )
        self.report.add("no optimum is outside of an enclosure", self.names(wide, low, high))

    def alone(self, at: int) -> Fraction:
        """Return the tasks of a kind for which there would be room if everything were theirs."""
        d = self.c.kinds[at].d
        return total(min(r / n for n, r in zip(d, self.c.room[k], strict=True) if n) for k in self.fits[at])

    def ends(self) -> tuple[list[Fraction], list[Fraction]]:
        """Return the ends of the enclosures, a number of tasks being both of its own."""
        low = [number(_lower(row["tasks"])) for row in self.rows]
        return low, [number(t["upper"] if isinstance(t := row["tasks"], dict) else t) for row in self.rows]

    def in_enclosures(self) -> None:
        """Tasks and levels are where the enclosures say."""
        low, high = self.ends()
        out = (i for i in self.n if not low[i] <= self.x[i] <= high[i])
        self.report.add("the point is in every enclosure", self.names(out, low, self.x, high))
        if self.r:
            stated = {i: row["level"] for i, row in enumerate(self.rows) if isinstance(row.get("level"), dict)}
            ends = {i: (number(y["lower"]), number(y["upper"])) for i, y in stated.items()}
            off = (i for i, (a, b) in ends.items() if a > self.r[i] * low[i] or b < self.r[i] * high[i])
            self.report.add("levels enclose those of the tasks", self.names(off, ends))

    def servers(self) -> None:
        """Every class of machines is a pool by itself, whose users are stopped there by their bottlenecks."""
        if limited := [i for i in self.n if self.u[i] is not None]:
            why = f"{self.policy} is not defined for limits, and {self.c.users[limited[0]]} has one"
            return self.report.add("optimality", [], why)
        if self.z is None:
            return self.report.add("optimality", [], "the file does not say on which machines the tasks run")
        for k, room in enumerate(self.c.room):
            here = {i: self.z[i].get(k, number(0)) for i in self.n if k in self.fits[i]}
            rows = {i: list(zip(self.c.d[i], room, self.c.w[i], strict=True)) for i in here}
            y = {i: x * max(d / c / w for d, c, w in rows[i] if d) for i, x in here.items()}
            full = [j for j, c in enumerate(room) if c and self.near(self.used(k, j), c)]
            top = {j: max((y[i] for i in here if self.c.d[i][j]), default=number(0)) for j in full}
            free = (i for i in here if not any(self.c.d[i][j] and self.near(y[i], top[j]) for j in full))
            self.report.add(f"nobody can rise{'' if self.c.pool else f' on {self.c.classes[k]}'}", self.names(free, y))
        return None

    def unknown(self) -> None:
        """A policy that is not one of the table is not judged."""
        why = f"{self.policy} is no policy of the table"
        if self.policy.endswith(".py"):
            why = "what is best is the formulation file's own claim"
        elif self.c.ruled:
            why = "what is fair is for the rules of its organisation to say, which are not followed here"
        self.report.add("optimality", [], f"{why}: only feasibility was checked")

    def nothing_better(self) -> None:
        """Of whole tasks in a pool, everything is looked at; on machines, nothing is said of what is better."""
        if not self.objective:
            return self.unknown()
        playing = [i for i in self.n if self.plays[i]]
        value = score(self.objective, [self.r[i] for i in playing], [self.c.w[i][0] for i in playing])
        if not playing:
            return self.report.add("nothing is better", [])
        if not self.c.pool or self.alpha not in (0, 1) or self.objective == "servers" or value is None:
            return self.report.add(
                "nothing is better", [], "that is not searched for in a cluster or claim of this kind"
            )
        demands, limits = [self.c.d[i] for i in playing], [self.u[i] for i in playing]
        found = better(demands, self.c.C[0], limits, [int(self.x[i]) for i in playing], value)
        names = [self.c.users[i] for i in playing]
        worse = [f"{dict(zip(names, found, strict=True))} is"] if isinstance(found, list) else []
        return self.report.add("nothing is better", worse, found if isinstance(found, str) else "")


def _up(value: Fraction) -> Fraction:
    """Return a number that is not below the value, of 64 bits: thousands of long fractions have no short sum."""
    scale = 2 ** (64 + max(0, value.denominator.bit_length() - value.numerator.bit_length()))
    return Fraction(math.ceil(value * scale), scale)


def _lower(tasks: Any) -> Any:
    return tasks["lower"] if isinstance(tasks, dict) else tasks


def verify(document: dict[str, Any], instance: dict[str, Any] | None = None) -> Report:
    """Return what was checked of a document: a certificate file's data, or the data of an instance and an allocation.

    Raises
    ------
    ValueError
        When it is no such document: a key is missing, or something is not what it should be.
    """
    try:
        given: Any = document.get("instance")
        cluster = Cluster(given if instance is None else instance)
        claim = Claim(cluster, document)
        if instance is not None and isinstance(given, dict):
            same = vars(Cluster(given)) == vars(cluster)
            claim.report.add("the instance is the one of the file", [] if same else ["they differ"])
        claim.feasible()
        steps = {
            "leximin": claim.leximin,
            "sum": claim.sum,
            "alpha": claim.alpha_fair,
            "servers": claim.servers,
        }
        if claim.report.valid is not False:
            claim.nothing_better() if claim.whole else steps.get(claim.objective, claim.unknown)()
    except (KeyError, TypeError, AttributeError, IndexError, ZeroDivisionError) as error:
        raise ValueError(f"not a certificate: {type(error).__name__} {error}") from None
    return claim.report
