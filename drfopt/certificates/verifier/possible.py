"""Is what a document claims possible at all, and is what it says of that so?"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any

from .claims import ACCURACY, Claim
from .reading import number, shown, total
from .whole import Row, unpacked

__all__ = ["PossibleClaim"]


SMALLEST = Fraction(1, 2**1074)
"""The smallest float above 0: a level below it is written as 0."""


class PossibleClaim(Claim):
    """The checks of step 1: the allocation is possible."""

    def feasible(self) -> None:
        """Step 1: the allocation is possible, and what the file says of it is so."""
        x, u, add, over = self.x, self.u, self.report.add, 1 + self.report.accuracy
        add("tasks are not negative", self.names((i for i in self.n if x[i] < 0), x))
        if self.whole:
            add("tasks are whole", self.names((i for i in self.n if x[i].denominator > 1), x))
        add("limits", self.names((i for i in self.n if u[i] is not None and x[i] > u[i] * over), x, u))
        if self.c.ceilings:
            add("ceilings of groups", self.over_ceilings(over))
        add("who can run nothing has nothing", self.names((i for i in self.n if not self.plays[i] and x[i]), x))
        levels = [row.get("level") for row in self.rows]
        stated: list[Any] = [None if y is None or isinstance(y, dict) else number(y) for y in levels]
        fine = [0 if self.exact or isinstance(row.get("level"), str) else ACCURACY for row in self.rows]
        given = (i for i, v in enumerate(stated) if self.r and v is not None and v != self.y[i])
        size = [r * x + max(o for _, o in line) for r, x, line in zip(self.r, x, self.lines, strict=bool(self.r))]
        off = (i for i in given if abs(stated[i] - self.y[i]) > fine[i] * size[i] + (SMALLEST if fine[i] else 0))
        if self.alone_said:
            add("what users run alone is the most", (fault for _, fault in self.alone_said.values() if fault))
        unmeasured = "" if self.objective else f"{self.beyond or 'how they are measured'} is not known here"
        add("levels are those of the tasks", self.names(off, stated, self.y), unmeasured)
        if self.enclosed or any(isinstance(y, dict) for y in levels):
            self.in_enclosures()
        if self.whole and not self.c.pool:
            packing = self.proof.get("packing")
            if packing is None:
                return add("machines", [], "the file does not say how the tasks are packed")
            add("machines", unpacked(self.c, self.packed(), packing))
            return add("tasks are those placed", [*self.misplaced(packing), *self.missummed()])
        if self.mixed:
            needed = [(j, self.held_of(j, self.n), most) for j, most in enumerate(self.c.cluster)]
            over_it = (f"{self.cell(0, j)}: {shown(used)} of {shown(most)}" for j, used, most in needed if used > most)
            return add("capacities", over_it)
        if self.z is None:
            return add("capacities", [], "the file does not say on which machines the tasks run")
        kinds, held = list(enumerate(self.c.kinds)), [total(z.values()) for z in self.z]
        asked = [kind.part * x[kind.owner] for _, kind in kinds]
        # In a pool what is negative are the tasks, which has been said.
        below = [not self.c.pool and min(z.values(), default=0) < 0 for z in self.z]
        lost = (q for q, _ in kinds if not self.near(held[q], asked[q]) or below[q])
        owners = [self.c.users[kind.owner] for _, kind in kinds]
        unlike = (
            f"{owners[q]}: {self.where(self.z[q])}, and nothing negative can be placed"
            if self.near(held[q], asked[q])
            else f"{owners[q]}: {shown(asked[q])}, {shown(held[q])}"
            for q in lost
        )
        add("tasks are those placed", [*unlike, *self.missummed()])
        astray = (q for q, _ in kinds if any(z and k not in self.fits[q] for k, z in self.z[q].items()))
        add("tasks run where they fit", (f"{owners[q]}: {self.where(self.z[q])}" for q in astray))
        cells = ((k, j) for k in range(len(self.c.C)) for j in range(len(self.c.resources)))
        full = ((k, j, used) for k, j in cells if (used := self.used(k, j)) > self.c.room[k][j] * over)
        return add(
            "capacities", (f"{self.cell(k, j)}: {shown(used)} of {shown(self.c.room[k][j])}" for k, j, used in full)
        )

    def misplaced(self, packing: list[dict[str, Any]]) -> Iterator[str]:
        """Yield where the file says that whole tasks run otherwise than its packing does."""
        if self.z is None:
            return
        at: dict[str, dict[int, Fraction]] = {}
        for entry in packing:
            for name, x in entry["tasks"].items():
                k, here = self.c.classes.index(entry["class"]), at.setdefault(name, {})
                here[k] = here.get(k, number(0)) + number(entry["machines"]) * number(x)
        for i, user in enumerate(self.c.users):
            for t, q in enumerate(self.c.kinds_of[i]):
                name = f"{user}:{t}" if i in self.c.typed else user
                said, packed = self.z[q], at.get(name, {})
                if any(said.get(k, 0) != packed.get(k, 0) for k in {*said, *packed}):
                    yield f"{name}: {self.where(said)}, packed {self.where(packed)}"

    def missummed(self) -> Iterator[str]:
        """Yield users whose task types add up to something else than what the file says of them."""
        z: Any = self.z
        for i, place in self.sums_said.items():
            rows = [z[q] for q in self.c.kinds_of[i]]
            held = [total(row.get(k, number(0)) for row in rows) for k in range(len(self.c.classes))]
            if not all(self.near(here, place.get(k, number(0))) for k, here in enumerate(held)):
                yield f"{self.c.users[i]}: {self.where(place)}, by types {'; '.join(map(self.where, rows))}"

    def where(self, row: dict[int, Any]) -> str:
        """Return on which classes tasks run, in words."""
        return ", ".join(f"{shown(z)} on {self.c.classes[k]}" for k, z in row.items() if z) or "nowhere"

    def packed(self) -> dict[str, Row]:
        """Return what is to be packed: of every type what a task needs, where it fits, and how many there are."""
        found: dict[str, Row] = {}
        for i, mine in enumerate(self.sequences):
            for name, kind, fits, n in zip(
                mine.names, mine.kinds, mine.fits, mine.started(int(self.x[i])) if mine.kinds else (), strict=True
            ):
                found[name] = kind.d, fits, n
        return found

    def held_of(self, j: int, users: Iterable[int]) -> Fraction:
        """Return what some users hold of a resource: of whole tasks, what those of each type need that have started."""
        x = self.x
        if not self.mixed:
            return total(x[i] * self.c.d[i][j] for i in users)
        return total(self.sequences[i].uses(int(x[i]), j) for i in users if x[i] > 0 and self.sequences[i].kinds)

    def over_ceilings(self, over: Fraction) -> Iterator[str]:
        """Yield the ceilings of groups that tasks break, `over` being how often they may be used up."""
        for group, j, most, members in self.c.ceilings:
            if (used := self.held_of(j, members)) > most * over:
                yield f"{group}: {shown(used)} of {shown(most)}"

    def in_enclosures(self) -> None:
        """Tasks and levels are where the enclosures say."""
        low, high = self.ends()
        out = (i for i in self.n if not low[i] <= self.x[i] <= high[i])
        self.report.add("the point is in every enclosure", self.names(out, low, self.x, high))
        if self.r:
            stated = {i: row["level"] for i, row in enumerate(self.rows) if isinstance(row.get("level"), dict)}
            ends = {i: (number(y["lower"]), number(y["upper"])) for i, y in stated.items()}
            off = (i for i, (a, b) in ends.items() if a > self.level(i, low[i]) or b < self.level(i, high[i]))
            told = ({i: both[end] for i, both in ends.items()} for end in (0, 1))
            self.report.add("levels enclose those of the tasks", self.names(off, *told))
