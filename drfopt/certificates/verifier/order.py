"""Guarantees, tiers and weights of 0: who comes before whom, and why nobody could have more.

What a user has begins with what it is promised, in parts of the promise; beyond that it counts by its tier, by whether
its weight is 0, and by its level.  The *place* of an amount is where it comes in that order.  Whoever gives, gives the
last that it has; whoever asks, asks for what comes after that.

*Theorem.* Let prices p >= 0 be spent, sum_i q_i x_i = P, and let nobody who pays have anything at a later place than
the one for which i asks, who pays too.  Then whatever gives i more takes from somebody what comes no later.  An answer
in which that holds of everybody who is below its limit is the one of the rules, and the only one.

*Proof.* What gives i more, and leaves everybody what comes no later, leaves all who pay what they have: it costs more
than P, which nothing possible does.  Let z be what the rules make: they go through all places, give everybody what
comes there while that is possible, and stop whom they must.  Where x and z part, somebody has more at that place in z,
whom x stops there: then x + s (z - x) is possible, gives it more for a small s, and takes from nobody what comes no
later, for up to there both are the same.  Or somebody has more in x, whom the rules have stopped: but x is possible.

A market, or a sum, knows promises only: what somebody has beyond its promise, whoever asks may be given.  Who is
stopped then has what it has in whatever keeps the promises as far as they fit together.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import chain
from typing import Any, NamedTuple

from .claims import Claim
from .reading import number, total

__all__ = ["BEYOND", "ROUNDING", "Round", "could_rise", "firm", "in_order", "kept", "rounds_of"]

ROUNDING = Fraction(1, 2**49)
"""Part of all money that the roundings of a file of floats account for: a few units of their last place."""

FIRM = Fraction(1, 10**7)
"""Part of the dearest that a resource or ceiling must cost, all of it, in a file of floats: what costs less is free."""

BEYOND = 2
"""Times what a user could run alone: so far, or to its limit, it is on its way to what counts above guarantees."""


Round = tuple[list[list[Fraction]], list[Fraction]]
"""Prices of resources, and of the ceilings of groups."""


class OrderKey(NamedTuple):
    """Where an amount comes: in stages, and by a value there, which rounding may have moved by so much."""

    stage: tuple[Any, ...]
    value: Fraction
    slack: Fraction

    def after(self, other: "OrderKey") -> bool:
        """Say whether it comes later, whatever rounding did."""
        beyond = self.slack + other.slack
        return self.stage > other.stage or (self.stage == other.stage and self.value - other.value > beyond)


def place(claim: Claim, i: int, asks: bool) -> OrderKey | None:
    """Return the place of the last that user i has, or of what it asks for; None where it has nothing."""
    x, promised, e = claim.x[i], claim.floor[i], claim.report.accuracy
    if not asks and not x:
        return None
    if x < promised * (1 - e) if asks else x <= promised * (1 + e):
        return OrderKey((0,), x / promised, e * x / promised)
    if claim.objective != "leximin":  # Whoever is in a market takes from nobody's guarantee, and from all beyond.
        return OrderKey((1 if asks else 2,), claim.x[i], claim.x[i])
    stage, value = (1, claim.c.rank[i]), claim.y[i]
    if not value and (start := _counted(claim, i)) > max(x, promised):
        # What guarantees leave uncounted comes before the first level, everybody on its way to that.
        way = start - promised
        return OrderKey(stage, (x - promised) / way - 1, e * x / way)
    return OrderKey(stage, value, e * claim.r[i] * x)


def _counted(claim: Claim, i: int) -> Fraction:
    """Return the tasks from which on the level of user i is more than 0, or which it cannot have."""
    alone = min(c / d for c, d in zip(claim.c.cluster, claim.c.d[i], strict=True) if d)
    most = [BEYOND * alone] if claim.u[i] is None else [BEYOND * alone, claim.u[i]]
    return min([*most, *(offset / slope for slope, offset in claim.lines[i] if slope)])


def stopped(claim: Claim, rounds: list[Round]) -> Iterator[int]:
    """Yield who cannot have more, by the prices of the resources and of the ceilings of some rounds."""
    x, e, playing = claim.x, claim.report.accuracy, [i for i in claim.n if claim.plays[i]]
    gives, asks = ({i: place(claim, i, asks) for i in playing} for asks in (False, True))
    for p, bounds in rounds:
        if min([*map(min, p), *bounds]) < 0:
            continue
        q, money, unspent = claim.market(p, bounds)
        paying = [i for i in playing if q[i]]
        last = max((given for i in paying if (given := gives[i])), default=None)
        floor = claim.floor
        kept = total(q[i] * (x[i] - floor[i]) for i in paying if floor[i] < x[i] <= floor[i] * (1 + e))
        near = {i for i in paying if last and (given := gives[i]) and not last.after(given)}
        most, hidden = total(q[i] * x[i] for i in near), money * (ROUNDING if e else 0)
        for i in (i for i in paying if not could_rise(claim, i, q, money, unspent)):
            first = last is None or not last.after(asks[i] or last)
            if first and abs(unspent) + kept <= e * (most if i in near else q[i] * x[i]) + hidden:
                yield i


def could_rise(claim: Claim, i: int, q: list[Fraction], money: Fraction, unspent: Fraction) -> bool:
    """Say whether the money that is left pays for more of user i than the accuracy of a file of floats.

    A price of next to nothing would else stop it at what others lose in rounding.  In a pool the file has no prices.
    """
    e, left = claim.report.accuracy, unspent - ROUNDING * money
    if not e or claim.c.pool:
        return False
    return left > e * q[i] * (claim.x[i] or min(claim.alone(at) for at in claim.c.kinds_of[i]))


def firm(claim: Claim, p: list[list[Fraction]], bounds: list[Fraction], rising: Iterable[int]) -> Round:
    """Return prices without those that rounding may have made: a file of fractions, and prices all spent, have none.

    `rising` are the users below their limits whom no round has stopped yet: what others have needs no proof here.
    """
    room = [
        [price * r for price, r in zip(row, rooms, strict=True)] for row, rooms in zip(p, claim.c.room, strict=True)
    ]
    most = [price * most for price, (_, _, most, _) in zip(bounds, claim.c.ceilings, strict=True)]
    least = FIRM * max([*map(max, room), *most], default=number(0)) if claim.report.accuracy else number(0)
    slight = any(0 < cost < least for cost in [*chain.from_iterable(room), *most])
    if not slight or _all_spent(claim, p, bounds, rising):
        return p, bounds
    return (
        [
            [v if v < 0 or c >= least else number(0) for v, c in zip(row, cost, strict=True)]
            for row, cost in zip(p, room, strict=True)
        ],
        [v if v < 0 or c >= least else number(0) for v, c in zip(bounds, most, strict=True)],
    )


def _all_spent(claim: Claim, p: list[list[Fraction]], bounds: list[Fraction], rising: Iterable[int]) -> bool:
    """Say whether all money is spent, to rounding at most, and less is left than any who rises would notice."""
    if min([*map(min, p), *bounds]) < 0:
        return False
    q, money, unspent = claim.market(p, bounds)
    least = min((q[i] * claim.x[i] for i in rising if q[i]), default=number(0))
    return not unspent or (abs(unspent) <= ROUNDING * money and abs(unspent) <= claim.report.accuracy * least)


def in_order(claim: Claim) -> None:
    """Everybody is at its limit, or pays where nobody has what comes later."""
    c, x, playing = claim.c, claim.x, [i for i in claim.n if claim.plays[i]]
    if flat := [i for i in playing if not claim.r[i]]:
        return claim.report.add("everybody has a level", [], f"that of {c.users[flat[0]]} is 0 whatever it has")
    given, missing = rounds_of(claim, "rounds")
    left = {i for i in playing if claim.u[i] is None or not claim.near(x[i], claim.u[i])}
    left.difference_update(stopped(claim, given))
    faults = [] if left and missing else claim.names(sorted(left), claim.y)
    return claim.report.add(
        "everybody is at its limit or stopped by who comes before it", faults, missing if left else ""
    )


def rounds_of(claim: Claim, key: str) -> tuple[list[Round], str]:
    """Return the rounds of the file, and why there are none; of a pool the price 1 on every resource and ceiling."""
    c = claim.c
    if not c.pool:
        given = claim.proof.get(key)
        rising = claim.below()
        rounds = [
            firm(claim, claim.prices(step["prices"]), claim.ceilings(step.get("ceilings", {})), rising)
            for step in given or []
        ]
        return rounds, "" if given is not None else "the file has no rounds, which machines need"
    m, b = len(c.resources), len(c.ceilings)
    return [
        ([[number(int(at == j)) for j in range(m)]], [number(int(at == m + q)) for q in range(b)])
        for at in range(m + b)
    ], ""


def kept(claim: Claim) -> set[int]:
    """Return who has no more while all guarantees are kept as far as they fit together, which is checked."""
    x, e, floor = claim.x, claim.report.accuracy, claim.floor
    if not any(floor):
        return set()
    given, missing = rounds_of(claim, "promises")
    found = set(stopped(claim, given))
    short = [i for i in claim.n if claim.plays[i] and x[i] < floor[i] * (1 - e) and i not in found]
    faults = [] if missing else claim.names(short, x, floor)
    claim.report.add("guarantees are kept as far as they fit together", faults, missing if short else "")
    return found
