"""Why nobody can rise in the rounds of a file: the prices of each, or what is used up in a pool."""

from collections.abc import Iterable
from fractions import Fraction
from functools import reduce

from .claims import Claim
from .order import ROUNDING, could_rise, firm
from .reading import number, shown, total
from .work import bits, spend

__all__ = ["above", "finished_in_rounds"]

CLOSED = Fraction(1, 10**4)
"""Part of her price by which a class must be too dear for a user, in a file of floats, to be closed to her."""

NO_TELLING = (
    "floats do not tell, since prices that rounding may have made decide ('solve --exact' has none): without them"
)

Prices = list[list[Fraction]]
"""What a unit of every resource of every class costs."""


def finished_in_rounds(claim: Claim) -> None:
    """Everybody is at her limit or finished by a round, whose prices prove that she cannot rise."""
    found, times, e, last = _rounds(claim), [0] * len(claim.n), claim.report.accuracy, number(0)
    below = claim.below()
    for t, named, given in found or []:
        finished = [i for i in named if i in below]  # Who is at her limit needs no proof.
        late = [f"the round before has level {shown(last)}"] * (not claim.c.pool and t * (1 + e) < last)
        faults, missing = _risers(claim, t, finished, given[0]) + late, ""
        if len(given) > 1 and faults and not (late or _risers(claim, t, finished, given[1])):
            faults, missing = [], f"{NO_TELLING} {faults[0]}"
        claim.report.add(f"nobody finished at level {shown(t)} can rise", faults, missing)
        _, money, unspent = claim.market(given[1 if missing else 0])
        last, spare = t, max(unspent - (ROUNDING * money if e else 0), number(0))
        for i in set(finished):
            times[i] += 1
        for at, kind in enumerate(claim.c.kinds):
            if len(claim.open[at]) > 1:
                costs = {k: claim.cost(at, k) for k in claim.open[at]}
                least, lost = min(costs.values()), 10 * claim.r[kind.owner] / kind.part * spare * claim.unit
                slight = {k: e and (v - least < CLOSED * least or lost > e * t * (v - least)) for k, v in costs.items()}
                claim.open[at] = [k for k, v in costs.items() if v == least or slight[k]]
    astray = [i for i in claim.n if (claim.plays[i] and times[i] > 1) or (i in below and not times[i])]
    unknown = "the file has no rounds, which machines need" if astray and found is None else ""
    alone: Iterable[str] = [] if unknown else claim.names(astray, claim.y)
    claim.report.add("everybody is at its limit or finished once", alone, unknown)


def _risers(claim: Claim, t: Fraction, finished: list[int], p: Prices) -> list[str]:
    """Return what speaks against the prices of a round of level t, by which some users are finished."""
    e = claim.report.accuracy
    q, money, unspent = claim.market(p)
    top = (q[i] * claim.x[i] for i in claim.n if claim.y[i] >= t * (1 - e))
    faults = ["some price is negative"] if min(map(min, p)) < 0 else []
    if abs(unspent) > (e * total(top) + ROUNDING * money if e else 0):
        faults.append(f"of the {shown(money)} that all capacities cost, {shown(unspent)} is not spent")
    most = t * (1 + e)
    faults += claim.names((i for i in claim.n if q[i] and above(claim.y[i], most)), claim.y, q)
    faults += claim.names((i for i in finished if not q[i] or not claim.near(claim.y[i], t)), claim.y, q)
    return [*faults, *claim.names((i for i in finished if could_rise(claim, i, q, money, unspent)), claim.y, q)]


def _rounds(claim: Claim) -> list[tuple[Fraction, list[int], list[Prices]]] | None:
    """Return levels, who is finished, and prices: the file's or, of a pool, one a saturated resource.

    Of a file of floats they come without those that rounding may have made; then, if these are of what is used up,
    as they are.  Of machines there are none but those.
    """
    if "rounds" in claim.proof:
        at = {name: i for i, name in enumerate(claim.c.users)}
        found, rising = [], claim.below()
        for step in claim.proof["rounds"]:
            finished = [at[u] for u in step["finished"]]
            given = claim.prices(step["prices"])
            paid, _ = firm(claim, given, claim.ceilings({}), rising)
            slight = [(k, j) for k, row in enumerate(paid) for j, v in enumerate(row) if v != given[k][j]]
            spent = all(claim.near(claim.used(k, j), claim.c.room[k][j]) for k, j in slight)
            found.append((number(step["level"]), finished, [paid, given] if spent else [paid]))
            rising -= set(finished)
        return found
    if not claim.c.pool:
        return None
    found, waiting, [room] = [], set(claim.n), claim.c.room
    for j in (j for j, most in enumerate(room) if most and claim.near(claim.used(0, j), most)):
        using = [i for i in claim.n if claim.c.d[i][j]]
        highest = reduce(lambda one, other: other if above(other, one) else one, (claim.y[i] for i in using))
        stop = [i for i in using if i in waiting and claim.near(claim.y[i], highest)]
        found.append((highest, stop, [[[number(int(j == other)) for other in range(len(room))]]]))
        waiting.difference_update(stop)
    return found


def above(one: Fraction, other: Fraction) -> bool:
    """Say whether one number is larger: rounding keeps the order, and multiplying out long fractions is slow."""
    if one == other:
        return False
    try:
        a, b = float(one), float(other)
    except OverflowError:
        a = b = 0.0
    if a == b:
        spend((bits(one) + bits(other)) // 2)
        return one > other
    return a > b
