"""Why nothing is better than what a document claims, in the order of the specification."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from .branches import Undecided
from .clock import by_the_clock
from .markets import MarketClaim, PricedTier
from .order import ROUNDING, in_order, rounds_of
from .reading import number, shown, total
from .rounds import finished_in_rounds
from .trees import Carried
from .whole import better, score
from .whole_groups import Cuts, StopProof
from .whole_levels import LevelProof
from .whole_search import by_search
from .whole_values import value_refuted

__all__ = ["Proof"]


class Proof(MarketClaim):
    """The checks of step 2: nothing is better."""

    why = ""
    """Why the trees of the file do not prove it."""

    def unrounded(self, answer: dict[str, Any]) -> "Proof":
        """Return the proof of the exact answer of which the tasks are roundings; that they are is checked."""
        one = type(self)(self.c, answer | {"policy": self.policy, "integer": self.whole}, exact=True)
        ends = one.ends()
        off = (i for i in self.n if not all(self.near(self.x[i], end[i]) for end in ends))
        self.report.add("tasks are those of the exact answer, rounded", self.names(off, self.x, *ends))
        return one

    def leximin(self) -> None:
        """Everybody is at her limit or finished by a round, whose prices prove that she cannot rise."""
        finished_in_rounds(self)

    def by_rules(self) -> None:
        """Rules of an organisation say who comes before whom, and groups who rises with whom."""
        if not self.c.ruled:
            return in_order(self)
        rounds, missing = rounds_of(self, "rounds")
        if missing and self.below():
            return self.report.add("optimality", [], missing)
        return by_the_clock(self, rounds)

    def servers(self) -> None:
        """Every class of machines is a pool by itself, whose users are stopped there by their bottlenecks."""
        if why := self.no_server():
            return self.report.add("optimality", [], why)
        if self.z is None:
            return self.report.add("optimality", [], "the file does not say on which machines the tasks run")
        for k, room in enumerate(self.c.room):
            here = {i: self.z[i].get(k, number(0)) for i in self.n if k in self.fits[i]}
            if here and (self.c.ruled or self.c.ordered):
                has = [{"name": self.c.users[i], "tasks": x} for i, x in here.items()]
                said = {"policy": "drf", "integer": False, "users": has}
                one = type(self)(self.c.machine(k, list(here), whole=False), said, exact=not self.report.accuracy)
                one.by_rules()
                self.include(one, self.c.classes[k])
                continue
            cells = [(j, c) for j, c in enumerate(room) if j not in self.c.excluded]
            y = {i: x * max(d / c / self.c.w[i][j] for j, c in cells if (d := self.c.d[i][j])) for i, x in here.items()}
            full = [j for j, c in enumerate(room) if c and self.near(self.used(k, j), c)]
            top = {j: max(y[i] for i in here if self.c.d[i][j]) for j in full}
            free = (i for i in here if not any(self.c.d[i][j] and self.near(y[i], top[j]) for j in full))
            self.report.add(f"nobody can rise on {self.c.classes[k]}", self.names(free, y))
        return None

    def no_server(self) -> str:
        """Return why machines are not divided one by one."""
        if limited := [i for i in self.n if self.c.u[i] is not None]:
            return f"{self.policy} is not defined for limits, and {self.c.users[limited[0]]} has one"
        counted = [j for j in range(len(self.c.resources)) if j not in self.c.excluded]
        idle = [i for i in self.n if not any(self.c.d[i][j] for j in counted)]
        return f"{self.c.users[idle[0]]} has no level, whatever it has" if idle else ""

    def each_machine(self) -> None:
        """Of whole tasks one machine of every entry of the packing is a cluster by itself, on which nothing is better.

        Machines that are not in the packing have to be of classes on which nobody can run anything.
        """
        if why := self.no_server():
            return self.report.add("nothing is better", [], why)
        packing, servers = self.proof.get("packing", []), self.proof.get("servers", [])
        divided = Counter[int]()
        for row in packing:
            divided[self.c.classes.index(row["class"])] += int(number(row["machines"]))
        used = {k for i in self.n for k in self.fits[i]}
        left = [f"{self.c.count[k] - divided[k]} of {self.c.classes[k]}" for k in used if divided[k] != self.c.count[k]]
        self.report.add("every machine is divided", left)
        given = [one.get("trees", []) for one in servers] + [[]] * len(packing)
        for row, trees in zip(packing, given, strict=False):
            k = self.c.classes.index(row["class"])
            here = [i for i in self.n if k in self.fits[i]]
            has = [{"name": self.c.users[i], "tasks": row["tasks"].get(self.c.users[i], 0)} for i in here]
            said = {"policy": "drf", "integer": True, "users": has, "proof": {"trees": trees}}
            one = type(self)(self.c.machine(k, here), said)
            one.nothing_better()
            self.include(one, row["class"])
        return None

    def include(self, other: "Proof", of: str) -> None:
        """Add the checks of another proof, which is of a class of machines, or of the exact answer."""
        self.report.checks += [replace(check, name=f"on {of}: {check.name}") for check in other.report.checks]

    def sum(self) -> None:
        """What all capacities cost, and what everybody's tasks gain beyond their cost, bounds every sum of levels."""
        if not any(self.plays):
            return self.report.add("no sum is larger", [])
        stuck = self.promised()
        tiers, missing = self.tiers(stuck)
        faults, unsure, above = list[str](), list[str](), dict[int, Fraction]()
        for tier in tiers:
            faults += self.larger(tier, stuck, above, unsure)
        faults += [] if missing else self.left_out(tiers, stuck)
        return self.report.add("no sum is larger", faults, missing or next(iter(unsure), ""))

    def larger(self, tier: PricedTier, stuck: set[int], above: dict[int, Fraction], unsure: list[str]) -> Iterator[str]:
        """Yield what speaks against the prices of a tier, and add to `unsure` what may be rounding of other amounts.

        By how much the prices of a tier bound its sum above it is noted in `above`.
        """
        q, money, unspent = self.market(tier.p, tier.bounds)
        unspent += self.overspent(tier) if self.report.accuracy else 0
        playing = [i for i in self.n if self.plays[i]]
        mine = [i for i in playing if self.turns[i] == tier.turn]
        free = [i for i in mine if self.u[i] is None and i not in stuck and self.r[i]]
        yield from (f"a task of {self.c.users[i]} costs nothing, and it has no limit" for i in free if not q[i])
        least_rise = max([number(1)] + [self.r[i] / q[i] for i in free if q[i]])
        # Rounding of a price is much to whom its limit would let have far more than it has: a little more proves more.
        within = least_rise * (1 + self.report.accuracy)
        slight = max([least_rise] + [self.r[i] / q[i] for i in mine if q[i] and self.r[i] <= within * q[i]])
        earlier = [turn for turn in tier.held if turn < tier.turn]

        def beyond(rise: Fraction) -> tuple[Fraction, Fraction, dict[int, Fraction]]:
            """Return by how much the prices bound the sum above it, times a rise; that, and what sums before count."""
            held = {turn: self.weight(turn, stuck, q, rise) for turn in earlier}
            worth = held | {tier.turn: number(1)}
            gains = (self.gain(i, stuck, worth.get(self.turns[i], number(0)) * self.r[i], rise * q[i]) for i in playing)
            return rise * unspent + total(gains), rise, held

        more, rise, held = min((beyond(rise) for rise in {least_rise, slight}), key=lambda found: found[0])
        above[tier.turn] = more
        own = value = total(self.r[i] * self.x[i] for i in mine)
        if not own:  # Of a tier that has nothing, a part of what one of it could have.
            own = max((self.r[i] * most for i, most in self.most_of(mine).items()), default=own)
        allowed, rounding = self.report.accuracy * own, ROUNDING * rise * money if self.report.accuracy else 0
        passed = total(weight * self.excess.get(turn, 0) for turn, weight in held.items())
        if mine and more + passed > allowed:
            told = f"the sum is {shown(value)}, the prices prove at most {shown(value + more + passed)}"
            if more > allowed + rounding:
                yield told
            unsure.append(f"{told}, which may be rounding of what others have")
        if value and total(weight * above.get(turn, 0) for turn, weight in held.items()) > allowed:
            yield from self.taken(tier.turn, held, stuck, allowed + rounding)
            unsure.append(f"the sum is {shown(value)}, which may be taken from tiers before it")
        if min([*map(min, tier.p), *tier.bounds, *tier.held.values()]) < 0:
            yield "some price is negative"

    def alpha_fair(self) -> None:
        """Everybody has what she would choose at the prices; or is known to be where the file says."""
        if not any(self.plays):
            return self.report.add("everybody has what it would choose", [])
        stuck = self.promised()
        tiers, missing = self.tiers(stuck)
        if missing:
            return self.report.add("prices", [], missing)
        for tier in tiers:
            if not self.fair(tier, stuck):
                return None
            stuck = self.stopped_after(tier, stuck)
        return self.report.add("every tier is judged", self.left_out(tiers, stuck)) if "tiers" in self.proof else None

    def nothing_better(self) -> None:
        """Of whole tasks trees refute what would be better; in a pool everything is looked at where there are none."""
        if not self.objective:
            return self.unknown()
        playing = [i for i in self.n if self.plays[i]]
        if not playing:
            return self.report.add("nothing is better", [])
        if self.objective == "servers":
            return self.each_machine()
        trees = self.proof.get("trees", [] if "bounds" in self.proof else None)
        self.why = "the file's trees are not followed"
        if self.objective == "leximin" and self.several_groups():
            return self.by_stops(trees or [])
        if trees is not None and self.by_trees(trees):
            return None
        value = score(self.objective, [self.r[i] for i in playing], [self.c.w[i][0] for i in playing])
        ruled = self.c.ruled or self.c.ordered or self.mixed
        if ruled or not self.c.pool or self.alpha not in (0, 1) or value is None:
            if trees is None and self.objective in ("sum", "alpha"):
                return by_search(self)
            unknown = "the file has no trees, which they need" if trees is None else self.why
            return self.report.add("nothing is better", [], unknown)
        demands, limits = [self.c.d[i] for i in playing], [self.u[i] for i in playing]
        found = better(demands, self.c.C[0], limits, [int(self.x[i]) for i in playing], value)
        names = [self.c.users[i] for i in playing]
        if isinstance(found, list):
            return self.report.add("nothing is better", [f"{dict(zip(names, found, strict=True))} is"])
        return self.report.add("nothing is better", [], found or "")

    def several_groups(self) -> bool:
        """Say whether all who can have a task are not directly in one and the same group."""
        return len({self.c.paths[i] for i in self.n if self.plays[i] and i not in self.barred}) > 1

    def by_stops(self, trees: list[Any]) -> None:
        """Of whole tasks in several groups no way to choose who stops is better; trees say what cannot be run."""
        try:
            cluster = Carried(self)
            proof = StopProof(self, cluster, Cuts(cluster, trees))
            why = proof.fault()
        except Undecided as missing:
            return self.report.add("no better choice of who stops", [], str(missing))
        # What a pool has room for is known; what machines can run, only where something refutes it.
        for time, _, count in proof.proven:
            self.report.add(f"no fewer than {count} stop, and no later, at {proof.told(time)}", [])
        if self.c.pool:
            return self.report.add("no better choice of who stops", [why])
        return self.report.add("no better choice of who stops", [], f"{why}, as far as the file says" if why else "")

    def by_trees(self, trees: list[Any]) -> bool:
        """Say whether the trees of the file refute all that would be better; `why` not, where they do not."""
        if self.objective == "leximin":
            return self.by_levels(trees)
        try:
            self.why = value_refuted(self, trees)
        except Undecided as missing:
            self.why = str(missing)
        if not self.why:
            self.report.add("nothing is better", [])
        return not self.why

    def by_levels(self, trees: list[Any]) -> bool:
        """Say whether the trees prove every level; what they prove is noted at any rate."""
        levels: LevelProof | None = None
        try:
            levels = LevelProof(self)
            self.why = levels.fault(trees, self.proof.get("bounds", []))
        except Undecided as missing:
            self.why = str(missing)
            if levels is None:
                return False
        for level, _ in levels.proven:
            self.report.add(f"no fewer users can be at level {shown(level)}", [])
        place = sum(count for _, count in levels.proven)
        for at, (level, count, most) in enumerate(levels.bounded):
            place += count if at else 1
            self.report.add(f"level {shown(level)}, place {place}, can be {shown(most)} at most", [])
            place += 0 if at else count - 1
        return not self.why

    def unknown(self) -> None:
        """A policy that is not one of the table is not judged."""
        why = f"{self.policy} is no policy of the table"
        if self.policy.endswith(".py"):
            why = "what is best is the formulation file's own claim"
        elif self.beyond:
            why = f"{self.beyond} is not followed here"
        self.report.add("optimality", [], f"{why}: only feasibility was checked")
