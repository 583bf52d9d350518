"""What a user with several task types could run alone, were all machines open to it: a file's placement and prices.

p[t]     part of the user's tasks that are of type t        d[t][j]  what one of them needs of what is counted
R[k][j]  room of class k                                    h        tasks of the user in all

Types run in their proportions, y[t] >= p[t] h, as divisible tasks on all classes; one that no class has everything
for is left out.  Whoever runs h' tasks pays h' sum_t p[t] q[t] at least, q[t] being the cost of a task where it is
cheapest, and all there is costs sum_kj R[k][j] v[k][j]: where that is h sum_t p[t] q[t], the h tasks that the file
places are the most.
"""

from fractions import Fraction
from typing import Any

from .cluster import Cluster
from .reading import number, shown, total
from .work import spend

__all__ = ["alone", "pooled"]


def pooled(c: Cluster, i: int) -> Fraction:
    """Return the tasks that user i could run alone in a pool, whose types that need what is not there are left out."""
    spend(0, 1 + len(c.resources) * len(c.types[i]))
    counted = [(j, room) for j, room in enumerate(c.cluster) if j not in c.excluded]
    kept = [kind for kind, _ in c.types[i] if not any(kind.d[j] and not room for j, room in counted)]
    needs = [(total(kind.part * kind.d[j] for kind in kept), room) for j, room in counted]
    return min((room / need for need, room in needs if need), default=number(0))


def alone(c: Cluster, i: int, said: dict[str, Any]) -> tuple[Fraction, str]:
    """Return the tasks that the file places for user i, and what speaks against their being the most, or nothing."""
    kinds, name = [c.kinds[q] for q in c.kinds_of[i]], c.users[i]
    spend(0, 1 + len(c.C) * len(c.resources) * len(kinds))
    needs = [{j: d for j, d in enumerate(kind.d) if d and j not in c.excluded} for kind in kinds]
    runs = [[k for k, row in enumerate(c.room) if need and all(row[j] for j in need)] for need in needs]
    kept = [t for t, classes in enumerate(runs) if classes]
    placed = [{c.classes.index(k): number(y) for k, y in row.items()} for row in said["placement"]]
    prices = {
        c.classes.index(k): {c.resources.index(j): number(v) for j, v in row.items()}
        for k, row in said["prices"].items()
    }
    if not kept:
        return number(0), ""
    if len(placed) != len(kinds):
        raise ValueError(f"{name!r} has {len(kinds)} task types, of which {len(placed)} are placed alone")
    h = min(total(placed[t].values()) / kinds[t].part for t in kept)
    if any(y < 0 for row in placed for y in row.values()):
        return h, f"{name}: nothing negative can be placed"
    for k, row in enumerate(c.room):
        for j, most in enumerate(row):
            used = total(
                need.get(j, number(0)) * mine.get(k, number(0)) for need, mine in zip(needs, placed, strict=True)
            )
            if used > most:
                return h, f"{name}: {shown(used)} of {shown(most)} {c.resources[j]} on {c.classes[k]}"
    if any(v < 0 for row in prices.values() for v in row.values()):
        return h, f"{name}: a price is negative"
    costs = {
        t: min(total(d * prices.get(k, {}).get(j, number(0)) for j, d in needs[t].items()) for k in runs[t])
        for t in kept
    }
    worth = h * total(kinds[t].part * cost for t, cost in costs.items())
    money = total(c.room[k][j] * v for k, row in prices.items() for j, v in row.items())
    return h, "" if 0 < money <= worth else f"{name}: all there is costs {shown(money)}, and its tasks {shown(worth)}"
