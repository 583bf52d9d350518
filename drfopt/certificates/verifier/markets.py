"""Why no market or sum is better than what a document claims: prices that nobody can beat, tier by tier.

Of tiers each has prices of its own.  To a tier nothing counts but itself: whoever comes later has what it is promised,
as if nothing more were there, and pays for the rest out of what the prices leave unspent.  Whoever came before has what
it has; of a sum, which many tasks may make, its sum does not fall, and counts in the tier with a weight that
the file gives.  And where what everybody has after a tier costs all that there is, who pays has no more in the next.
"""

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from .clock import RuleClock
from .order import ROUNDING, Round, firm, kept
from .possible import PossibleClaim
from .powers import DEGREE, digits_between, marginal_between
from .reading import number, shown, total
from .work import bits, spend

__all__ = ["MarketClaim", "PricedTier"]


DIGITS = 40
"""Decimals to which it is known what a task is worth, where that only measures what money is left."""


class PricedTier(NamedTuple):
    """A tier: its turn, its prices, those at which all is spent after it, what each sum before it counts for in it."""

    turn: int
    p: list[list[Fraction]]
    bounds: list[Fraction]
    full: list[Round]
    held: dict[int, Fraction]


class MarketClaim(PossibleClaim):
    """The checks of markets, and the tiers of markets and sums."""

    def tiers(self, stuck: set[int]) -> tuple[list[PricedTier], str]:
        """Return the tiers of the file in their order, of one alone the prices of all; and why there are none."""
        turns, given = self.turns, self.proof.get("tiers")
        rising = {turns[i] for i in self.n if self.plays[i] and i not in stuck and self.u[i] != self.floor[i]}
        if given is None:
            if self.p is None:
                return [], "the file has no prices, or no point in the enclosures"
            if len(rising) > 1:
                return [], "the file does not say at which prices each tier is served"
            return [PricedTier(min(rising, default=0), self.p, self.bounds, [], {})], ""
        found = []
        for row in given:
            full = [
                firm(self, self.prices(step["prices"]), self.ceilings(step.get("ceilings", {})), self.n)
                for step in row.get("full", [])
            ]
            held = {int(turn): number(weight) for turn, weight in row.get("held", {}).items()}
            found.append(
                PricedTier(
                    int(row["turn"]), self.prices(row["prices"]), self.ceilings(row.get("ceilings", {})), full, held
                )
            )
        order = [tier.turn for tier in found]
        if not found or order != sorted(set(order)):
            return [], "the file does not have its tiers in their order"
        return found, ""

    def left_out(self, tiers: list[PricedTier], stuck: set[int]) -> Iterator[str]:
        """Yield who could rise and is in no tier of the file."""
        there = {tier.turn for tier in tiers}
        mine = (i for i in self.n if self.plays[i] and i not in stuck and self.u[i] != self.floor[i])
        return self.names((i for i in mine if self.turns[i] not in there), self.x)

    def weight(self, turn: int, stuck: set[int], q: list[Fraction], rise: Fraction) -> Fraction:
        """Return what the sum of an earlier turn counts for where the bound is least, that of the file being rounded.

        The bound is convex and linear between weights at which a task of somebody costs what it is worth: it falls as
        long as those whose tasks are worth more cannot have the sum.
        """
        there = [i for i in self.n if self.plays[i] and self.turns[i] == turn and i not in stuck and self.r[i]]
        found, rising = number(0), total(self.r[i] * (self.floor[i] - self.x[i]) for i in there)
        for weight, i in sorted((rise * q[i] / self.r[i], i) for i in there):
            found = weight
            if (most := self.u[i]) is None or (rising := rising + self.r[i] * (most - self.floor[i])) >= 0:
                break
        return found

    def gain(self, i: int, stuck: set[int], worth: Fraction, cost: Fraction) -> Fraction:
        """Return what other tasks of a user gain at most, beyond their cost."""
        if i in stuck:
            return number(0)
        best = self.floor[i] if worth < cost else self.u[i] or self.x[i]
        return max(number(0), (worth - cost) * (best - self.x[i]))

    def overspent(self, tier: PricedTier) -> Fraction:
        """Return what is used beyond capacities and ceilings, at their prices: money that is left does not pay it."""
        cells = [
            (price, self.used(k, j) - self.c.room[k][j]) for k, row in enumerate(tier.p) for j, price in enumerate(row)
        ]
        met = zip(tier.bounds, self.c.ceilings, strict=False)
        cells += [(price, self.held_of(j, inside) - most) for price, (_, j, most, inside) in met]
        return total(price * over for price, over in cells if over > 0)

    @cached_property
    def excess(self) -> dict[int, Fraction]:
        """By how much the sum of each turn is above what its tasks are within limits and capacities, which rounding
        passes: so much less than it has would do, and a later one could have more.
        """
        if not self.report.accuracy:
            return {}
        cells = [(self.used(k, j), c) for k, row in enumerate(self.c.room) for j, c in enumerate(row)]
        cells += [(self.held_of(j, inside), most) for _, j, most, inside in self.c.ceilings]
        part = min((c / used for used, c in cells if used > c), default=number(1))
        found = dict.fromkeys(self.turns, number(0))
        for i in (i for i in self.n if self.plays[i]):
            most = self.x[i] if (u := self.u[i]) is None else min(self.x[i], u)
            found[self.turns[i]] += self.r[i] * (self.x[i] - part * most)
        return found

    def taken(self, turn: int, held: dict[int, Fraction], stuck: set[int], allowed: Fraction) -> Iterator[str]:
        """Yield who of an earlier tier of a pool could have more than is allowed if later ones had their promises."""
        later = [i for i in self.n if self.turns[i] >= turn and self.x[i] > self.floor[i]]
        capped = stuck.union(*(members for *_, members in self.c.ceilings))
        there = [i for i in self.n if held.get(self.turns[i]) and i not in capped] if self.c.pool else []
        left = [
            c - self.used(0, j) + total(self.c.d[i][j] * (self.x[i] - self.floor[i]) for i in later)
            for j, c in enumerate(self.c.cluster)
        ]
        for i in there:
            ends = [] if self.u[i] is None else [self.u[i] - self.x[i]]
            more = min([*ends, *(c / need for c, need in zip(left, self.c.d[i], strict=True) if need)])
            if held[self.turns[i]] * self.r[i] * more > allowed:
                yield f"{self.c.users[i]} comes first, and could have {shown(more)} more"

    def fair(self, tier: PricedTier, stuck: set[int]) -> bool:
        """Check that everybody of a tier has what she would choose; say whether its prices could be read."""
        p, turns = tier.p, self.turns
        q, money, unspent = self.market(p, tier.bounds)
        e, a, x = self.report.accuracy, self.alpha, self.x
        wrong = ["some price is negative"] * (min([*map(min, p), *tier.bounds]) < 0)
        playing = [i for i in self.n if self.plays[i] and i not in stuck and turns[i] == tier.turn]
        later = [i for i in self.n if self.plays[i] and i not in stuck and turns[i] > tier.turn and q[i]]
        unspent += total(q[i] * (x[i] - self.floor[i]) for i in later)
        wrong += self.names((i for i in playing if not x[i]), x)
        if wrong or a.denominator > DEGREE:
            self.report.add("prices", wrong, f"the power {a} takes roots of too high a degree")
            return False
        if self.enclosed:
            self.enclosures(q, unspent, playing)
            return True
        b, w = a.denominator, self.income
        for i in playing:
            spend(abs(a.numerator) * bits(self.y[i]) + b * (bits(q[i]) + bits(self.r[i])))
        spend(abs(a.numerator) * b * bits(e))
        # (q / marginal utility) to the power b, which is rational.
        ratio = {i: (q[i] / (w[i] * self.r[i])) ** b * self.y[i] ** a.numerator for i in playing}
        full = {i for i, most in self.most_of(playing).items() if self.near(x[i], most)}
        least = {i for i in playing if x[i] <= self.floor[i] * (1 + e)}
        off = (
            i
            for i in playing
            if (i not in least and ratio[i] > (1 + a * e) ** b) or (i not in full and ratio[i] < (1 - a * e) ** b)
        )
        self.report.add("everybody has what it would choose", self.names(off, x, q))
        cells = [(k, j) for k, row in enumerate(p) for j, price in enumerate(row) if price]
        unnoticed = e * min((q[i] * x[i] for i in playing if i not in full), default=number(0))
        left = {(k, j): self.c.room[k][j] - self.used(k, j) for k, j in cells}
        idle = [
            self.cell(k, j)
            for (k, j), spare in left.items()
            if abs(spare) > e * self.c.room[k][j] and abs(p[k][j] * spare) > unnoticed
        ]
        met = zip(tier.bounds, self.c.ceilings, strict=True)
        held = (
            (group, total(x[i] * self.c.d[i][j] for i in mine), most) for price, (group, j, most, mine) in met if price
        )
        idle += [group for group, used, most in held if not self.near(used, most)]
        self.report.add("what has a price is used up", idle)
        # Most of the money may be that of others, who came before: what rounding leaves of theirs is much here, but
        # nothing to a tier in which everybody has all it could.
        own, told = money, f"{shown(money - unspent)} of {shown(money)}"
        if not full.issuperset(playing):
            own = total(q[i] * x[i] for i in playing)
            if abs(unspent) > e * own:  # What it has may be worth more than it pays: to who is at its limit it is.
                own = total(x[i] * max(q[i], marginal_between(w[i], self.r[i], x[i], a, DIGITS)[0]) for i in playing)
        spent = [told] * (abs(unspent) > e * own + (ROUNDING * money if e else 0))
        unsure = f"{told}, which may be rounding of what others have" if abs(unspent) > e * own else ""
        self.report.add("all money is spent where tasks are cheapest", spent, unsure)
        return True

    def stopped_after(self, tier: PricedTier, stuck: set[int]) -> set[int]:
        """Return who has what it has in all that counts after a tier: it is settled, or nothing it pays for is left.

        An amount between two ends settles nothing.
        """
        settled = stuck | {i for i in self.n if self.turns[i] == tier.turn}
        low, high = self.ends()
        if any(low[i] != high[i] for i in settled):
            return stuck
        e, found = self.report.accuracy, set(settled)
        for p, bounds in tier.full:
            if min([*map(min, p), *bounds]) < 0:
                continue
            q, money, _ = self.market(p, bounds)
            waiting = [i for i in self.n if self.plays[i] and i not in settled]
            left = money - total(q[i] * (self.x[i] if i in settled else self.floor[i]) for i in self.n if self.plays[i])
            most = self.most_of(waiting) if e else {}
            for i in (i for i in waiting if q[i]):
                if left <= (e * q[i] * (self.floor[i] or most[i]) + ROUNDING * money if e else 0):
                    found.add(i)
        return found

    def promised(self) -> set[int]:
        """Return who has no more while guarantees are kept; those of groups promise their users what is worked out."""
        if any(group.get("guarantee") for group in self.c.groups):
            floor = RuleClock(self).promised
            self.floor = [floor.get(i, number(0)) for i in self.n]
        return kept(self)

    def most_of(self, users: Iterable[int]) -> dict[int, Fraction]:
        """Return the most tasks of some users: those that each could run alone, or her limit."""
        alone = {i: min(self.alone(at) / self.c.kinds[at].part for at in self.c.kinds_of[i]) for i in users}
        return {i: most if (u := self.u[i]) is None else min(most, u) for i, most in alone.items()}

    def enclosures(self, q: list[Fraction], unspent: Fraction, playing: list[int]) -> None:
        """The optimum is in every enclosure: outside of one, more would be lost than there is to gain.

        Claim.   With u = s - 1 the tangent at 1 overestimates utility at s, whose derivative is s^-a, by at least
                 a u^2 / 2 below 1, and above it by at least  a u^2 / (2 + 2 c u)  with c = max(a, 1).
        Proof.   Below, s^-a >= 1 - a u, as it is convex.  Above, let a >= 1: with z = 1 / (1 + a u) it is s^-a <= z by
                 Bernoulli's inequality, so that the loss grows by  1 - s^-a >= 1 - z >= (1 - z^2) / 2,  by which the
                 bound grows.  Let a < 1: by the same inequality s^-a = (1 / s)^a <= 1 - a (1 - 1 / s), and the loss is
                 at least a times that of 1.  []
        """
        x, a, w = self.x, self.alpha, self.income
        most = self.most_of(playing)
        low = {i: min(self.floor[i], x[i]) for i in playing}
        first, last = self.ends()
        ends = [(i, first[i]) for i in playing if first[i] > low[i]]
        ends += [(i, last[i]) for i in playing if last[i] < most[i]]
        digits = digits_between(((end, x[i]) for i, end in ends), (q[i] for i in playing))
        m = {i: marginal_between(w[i], self.r[i], x[i], a, digits) for i in playing}
        off = ((m[i][1] - q[i], most[i] - x[i], q[i] - m[i][0], x[i] - low[i]) for i in playing)
        gain = unspent + total(_up(max(more * up, less * down)) for more, up, less, down in off)

        def loss(i: int, s: Fraction) -> Fraction:
            return m[i][0] * x[i] * a * (s - 1) ** 2 / (2 if s < 1 else 2 + 2 * max(a, number(1)) * (s - 1))

        wide = (i for i, end in ends if loss(i, end / x[i]) < gain)
        self.report.add("no optimum is outside of an enclosure", self.names(wide, first, last))


def _up(value: Fraction) -> Fraction:
    """Return a number that is not below the value, of 64 bits: thousands of long fractions have no short sum."""
    scale = 2 ** (64 + max(0, value.denominator.bit_length() - value.numerator.bit_length()))
    return Fraction(math.ceil(value * scale), scale)
