"""Whole tasks: in which order types start, are they packed as the file says, and is anything better?

A user with c[t] tasks of type t starts them in one sequence: task k of type t stands at (2 k - 1) / (2 c[t]), of equals
the type listed first (Webster's apportionment).  Types that fit nowhere, on no empty machine, are left out.

The search for something better is exhaustive, and bounded.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .cluster import Cluster, Kind, taken
from .reading import number, shown, total
from .work import bits, spend

__all__ = ["Sequence", "better", "score", "sequences", "unpacked", "without_misfits"]

LONGEST = 20_000
"""Tasks of one sequence; of a longer one nothing is said."""


@dataclass(frozen=True)
class Sequence:
    """Types of one user that fit somewhere: their kinds, classes, counts, and what they are called in a file."""

    kinds: list[Kind]
    fits: list[list[int]]
    counts: tuple[int, ...]
    names: list[str]
    most: int

    def started(self, x: int) -> tuple[int, ...]:
        """Return how many of each type are among the first x tasks."""
        if len(self.counts) == 1:
            return (x,)
        spend(0, 1 + len(self.counts))
        all_of_them = sum(self.counts)
        found = [(2 * x * c + all_of_them) // (2 * all_of_them) for c in self.counts]
        while (over := sum(found) - x) != 0:  # Rounding is a few tasks too long or too short.
            spend(0, len(self.counts))
            step = -1 if over > 0 else 1
            ends = enumerate(zip(found, self.counts, strict=True))
            places = [(Fraction(2 * (y + (step > 0)) - 1, 2 * c), t) for t, (y, c) in ends]
            at = max(places) if over > 0 else min(places)
            found[at[1]] += step
        return tuple(found)

    def uses(self, x: int, j: int) -> Fraction:
        """Return what the first x tasks use of a resource."""
        return total(n * kind.d[j] for n, kind in zip(self.started(x), self.kinds, strict=True))


def sequences(cluster: Cluster) -> list[Sequence]:
    """Return the tasks of every user; names of types are the user's and the type's number."""
    found, named = [], set(cluster.users)
    for i, name in enumerate(cluster.users):
        typed = cluster.types.get(i, [])
        told = [(kind, count, f"{name}:{t}") for t, (kind, count) in enumerate(typed)]
        if any(each in named for _, _, each in told):
            raise ValueError("a user is called what a type of another is")
        if not told:
            (kind,) = (cluster.kinds[q] for q in cluster.kinds_of[i])
            told = [(kind, 1, name)]
        rows = [(kind, open_to, n, each) for kind, n, each in told if (open_to := cluster.fits(kind, True))]
        kinds, names = [kind for kind, *_ in rows], [each for *_, each in rows]
        fits, counts = [ks for _, ks, _, _ in rows], tuple(n for _, _, n, _ in rows)
        plain = Sequence(kinds, fits, counts, names, 0)
        found.append(Sequence(kinds, fits, counts, names, _most(cluster, i, plain) if rows else 0))
    return found


def without_misfits(cluster: Cluster) -> Cluster:
    """Return the cluster without the types of tasks that fit nowhere, of who has others; itself without such."""
    users = list(cluster.data["users"])
    for i, mine in cluster.types.items():
        left = [said for said, (kind, _) in zip(users[i]["tasks"], mine, strict=True) if cluster.fits(kind, True)]
        users[i] = users[i] | {"tasks": left or users[i]["tasks"]}
    return cluster if users == cluster.data["users"] else Cluster(cluster.data | {"users": users})


def _most(cluster: Cluster, i: int, tasks: Sequence) -> int:
    """Return the most tasks that a user can have: what its limit and ceilings allow and, but for types, what fits."""
    alone = [
        sum(cluster.count[k] * _on_one(cluster, k, kind.d) for k in fits)
        for kind, fits in zip(tasks.kinds, tasks.fits, strict=True)
    ]
    if i not in cluster.types:
        u = cluster.u[i]
        return alone[0] if u is None else min(alone[0], math.floor(u))

    def possible(x: int) -> bool:
        pool = not cluster.pool or all(tasks.uses(x, j) <= c for j, c in enumerate(cluster.cluster))
        return pool and all(y <= most for y, most in zip(tasks.started(x), alone, strict=True))

    return _largest(allowed(cluster, i, tasks), possible)


def allowed(cluster: Cluster, i: int, tasks: Sequence) -> int:
    """Return the most tasks that the limit and the ceilings of a user with several types allow, by what these need."""
    limit = min(sum(tasks.counts), math.floor(cluster.max_tasks[i] or 0))  # Whoever has types has a limit.

    def below(x: int) -> bool:
        return all(tasks.uses(x, cluster.resources.index(r)) <= most for r, most in cluster.caps[i].items())

    return _largest(limit, below)


def _largest(high: int, possible: Callable[[int], bool]) -> int:
    """Return the largest number up to which something is possible; 0 always is."""
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if possible(middle) else (low, middle - 1)
    return low


BRANCHES = 100_000
"""Branches of the search for better whole tasks after which nothing is said: some seconds."""


POWER = 64
"""Largest power in the exact product of whole tasks; weights that need more are not decided."""


Row = tuple[list[Fraction], list[int], int]
"""What a task needs, the classes on which it fits, and how many there are."""


def _on_one(cluster: Cluster, k: int, d: list[Fraction]) -> int:
    """Return how many tasks of one kind one machine of class k holds: of parts each device so many as fit on it."""
    shared = [
        math.floor(count) * math.floor(size / d[j]) if d[j] < size else math.floor(count * size / d[j])
        for j, (count, size) in cluster.devices[k].items()
        if d[j]
    ]
    return min([*shared, *(math.floor(c / need) for c, need in zip(cluster.C[k], d, strict=True) if need)])


def unpacked(cluster: Cluster, rows: dict[str, Row], packing: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what is wrong with a packing: a list of class, number of machines, and the tasks on each of them.

    By the names of users, or of their types, it is known what a task needs, where it fits, and how many there are.
    """
    held, machines = dict.fromkeys(rows, number(0)), [number(0)] * len(cluster.classes)
    for entry in packing:
        k, count = cluster.classes.index(entry["class"]), number(entry["machines"])
        pattern = {name: number(x) for name, x in entry["tasks"].items()}
        if not {c.denominator for c in (count, *pattern.values())} <= {1} or min([count, *pattern.values()]) < 0:
            yield f"{entry['class']}: {shown(count)} machines with {', '.join(map(shown, pattern.values()))} tasks"
        machines[k] += count
        for name, x in pattern.items():
            held[name] += count * x
            if x and k not in rows[name][1]:
                yield f"{name} does not fit on {entry['class']}"
        for j, room in enumerate(cluster.C[k]):
            if (used := total(x * rows[name][0][j] for name, x in pattern.items())) > room:
                yield f"a machine of {entry['class']}: {shown(used)} of {shown(room)} {cluster.resources[j]}"
        yield from _torn(cluster, rows, k, pattern, entry.get("devices", {}))
    for k, name in enumerate(cluster.classes):
        if machines[k] > cluster.count[k]:
            yield f"{shown(machines[k])} machines of {name}, of {cluster.count[k]}"
    for name, (_, _, asked) in rows.items():
        if held[name] != asked:
            yield f"{name}: {shown(asked)} tasks, {shown(held[name])} packed"


def _torn(
    cluster: Cluster,
    rows: dict[str, Row],
    k: int,
    pattern: dict[str, Fraction],
    shared: dict[str, list[dict[str, Any]]],
) -> Iterator[str]:
    """Yield what is wrong with the devices of one machine: parts are on one each, and whole ones carry nothing else."""
    needs, where = {i: taken(cluster.devices[k], rows[i][0]) or {} for i in pattern}, cluster.classes[k]
    for j, (count, _) in cluster.devices[k].items():
        resource, zero, name = cluster.resources[j], number(0), f"a machine of {where}"
        on = [{user: number(x) for user, x in said.items()} for said in shared.get(resource, ())]
        spend(0, 1 + len(on) * (1 + len(pattern)))
        if any(x < 0 or x.denominator > 1 or i not in pattern for device in on for i, x in device.items()):
            yield f"{name}: a shared {resource} carries tasks that cannot be"
            return
        used = len(on) + total(x * needs[i][j] for i, x in pattern.items() if needs[i].get(j, 0) >= 1)
        if used > count:
            yield f"{name}: {shown(used)} devices of {shown(count)} {resource}"
        for device in on:
            if (part := total(x * needs[i].get(j, zero) for i, x in device.items())) > 1:
                yield f"{name}: {shown(part)} of one {resource}"
        for i, x in pattern.items():
            if 0 < needs[i].get(j, 0) < 1 and total(device.get(i, zero) for device in on) != x:
                yield f"{name}: not all {shown(x)} tasks of {i} are on one {resource} each"


def score(objective: str, rates: list[Fraction], weights: list[Fraction]) -> Callable[[list[int]], Any] | None:
    """Return what is compared, larger is better: sorted levels, the sum, or users served and the product of tasks."""
    if objective == "leximin":
        return lambda tasks: sorted(r * x for r, x in zip(rates, tasks, strict=True))
    if objective == "sum":
        return lambda tasks: sum(r * x for r, x in zip(rates, tasks, strict=True))
    scale = math.lcm(*(w.denominator for w in weights))
    powers = [int(w * scale) for w in weights]
    powers = [p // math.gcd(*powers) for p in powers]
    if max(powers, default=1) > POWER:
        return None
    return lambda tasks: (sum(map(bool, tasks)), math.prod(x**p for x, p in zip(tasks, powers, strict=True) if x))


def better(
    demands: list[list[Fraction]],
    room: list[Fraction],
    most: list[Any],
    own: list[int],
    value: Callable[[list[int]], Any],
) -> list[int] | str | None:
    """Return whole tasks of a pool that are worth more than `own`, None when there are none, or why that is unknown.

    Users in turn, each with every number of tasks; what the others could have alone of what is left bounds a branch.
    """
    least, branches, n = value(own), 0, len(own)

    def alone(i: int, left: list[Fraction]) -> int:
        fit = min(math.floor(c / d) for c, d in zip(left, demands[i], strict=True) if d)
        return fit if most[i] is None else min(fit, int(most[i]))

    def extend(left: list[Fraction], chosen: list[int]) -> list[int] | None:
        nonlocal branches
        branches += 1
        spend(max(map(bits, left)), n)
        if branches > BRANCHES or not value([*chosen, *(alone(i, left) for i in range(len(chosen), n))]) > least:
            return None
        if len(chosen) == n:
            return chosen
        row = demands[len(chosen)]
        for x in range(alone(len(chosen), left), -1, -1):
            if found := extend([c - x * d for c, d in zip(left, row, strict=True)], [*chosen, x]):
                return found
            if branches > BRANCHES:
                break
        return None

    if n > BRANCHES // 1000:
        return f"{n} users are too many to look at everything they could have"
    found = extend(room, [])
    return f"more than {BRANCHES} branches would have to be looked at" if branches > BRANCHES else found
