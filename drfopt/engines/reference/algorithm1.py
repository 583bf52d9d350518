"""Algorithm 1 of the DRF paper: whole tasks, one at a time, always to the user whose level is lowest.

Given   demands         n rows of m, what one task of each user needs; every user needs something
        machines        k rows: what one machine of a class has (m), and their count; a pool is one machine; where it
                        has devices (see `device_by_device`), by resource how many, and how much of it is on each
        rates, limits   n, level of one task under the policy; most tasks, rounded down, None for no limit
        eligible        n rows of k, the classes each user may use; None for all

Repeat: take the user with the lowest level ``rates[i] * tasks[i]`` who is below her limit (of equals, the one listed
first, or of the lowest rank where `ranks` are given); start one task of hers on the first machine on which it fits, in
the order of the file, copies of a class one after the other.  What happens when it fits nowhere is one choice more:

    skip   she is passed over for good, since what is free only shrinks; Pareto efficient on one pool
    stop   everything ends, as printed in the paper, though there may be room for others; of two users below
           their limits the higher is then at most one task of hers ahead

On devices a task has the first ones on which it fits, a part of one or whole ones, and stays there.

A user with several task types starts those of the first, then those of the second and so on; of a type that fits
nowhere any more she is passed over, and her next type is tried.

SequentialMinMax is the same with one difference, `ahead`: it takes the user whose level *after* her next task would be
lowest, which matters where tasks are of different sizes.  Of the mechanisms for whole tasks in one pool it gives each
user what she could run alone on her part (rounded down), wastes nothing, and leaves no envy beyond one bundle.

Sources: Ghodsi et al., Dominant Resource Fairness, NSDI 2011, Algorithm 1, Table 1 and Theorem 7;
Parkes, Procaccia and Shah, Beyond Dominant Resource Fairness, EC 2012, section 5, for SequentialMinMax.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from heapq import heapify, heappop, heappush
from itertools import islice
from typing import NamedTuple, Protocol

from .device_by_device import DevicesOf, FreeDevices

__all__ = ["Free", "Lines", "Machines", "Mix", "ServingLine", "Step", "discrete_filling", "kinds_started", "placements"]

Row = Sequence[Fraction]
Machines = Sequence[tuple[Row, int] | tuple[Row, int, DevicesOf]]
Limits = Sequence[Fraction | None]
Free = list[list[tuple[list[Fraction], FreeDevices]]]
NO_MIX: Mapping[int, "Mix"] = {}
Classes = Sequence[Sequence[bool]] | None


class Step(NamedTuple):
    """A row of the paper's Table 1: who is served, where, and what there is after it; and the type of task.

    Dominant shares (n,), use (m,), and each user's share of each resource, n rows of m.
    """

    user: int
    machine: int
    dominant_shares: tuple[Fraction, ...]
    used: tuple[Fraction, ...]
    kind: int = 0
    shares: tuple[tuple[Fraction, ...], ...] = ()


class Mix(NamedTuple):
    """A user with several task types: what each needs, how many there are, its classes; and her level with so many.

    Her ceilings are by column: of unlike tasks no number of them says what they use.
    """

    kinds: Sequence[tuple[Row, Fraction | int | None, Sequence[bool] | None]]
    level: Callable[[Sequence[int]], Fraction]
    ceilings: Sequence[tuple[int, Fraction]] = ()

    def exhausted(self, started: Sequence[int], t: int) -> bool:
        """Say whether one more of a type is more than there are, or than a ceiling allows."""
        most = self.kinds[t][1]
        if most is not None and started[t] + 1 > most:
            return True
        after = [count + (t == other) for other, count in enumerate(started)]
        return any(
            sum(count * kind[0][j] for count, kind in zip(after, self.kinds, strict=True)) > ceiling
            for j, ceiling in self.ceilings
        )


class ServingLine(Protocol):
    """Who is served next; somebody taken out of it is out until she is put back."""

    def take(self) -> int | None:
        """Take out the user whose turn it is; None when nobody is left."""

    def back(self, i: int) -> None:
        """Put back a user, who may have more tasks now."""

    def bars(self, i: int, demand: Row) -> bool:
        """Say whether a task of a user that needs so much is one that rules forbid, for good."""


Lines = Callable[[Sequence[Sequence[int]]], ServingLine]
"""What makes a line of users, of whom it may look at the tasks that each has started, by type."""


class _ByLevel:
    """The line of the paper: the user with the lowest key comes first, of equals the one of the lowest rank."""

    def __init__(self, key: Callable[[int], Fraction], ranks: Sequence[int]):
        self.key, self.ranks = key, ranks
        self.queue = [(key(i), rank, i) for i, rank in enumerate(ranks)]
        heapify(self.queue)

    def take(self) -> int | None:
        return heappop(self.queue)[2] if self.queue else None

    def back(self, i: int) -> None:
        heappush(self.queue, (self.key(i), self.ranks[i], i))

    def bars(self, i: int, demand: Row) -> bool:
        return False


def placements(
    demands: Sequence[Row],
    machines: Machines,
    rates: Row,
    limits: Limits,
    when_full: str,
    eligible: Classes,
    ahead: int = 0,
    mixes: Mapping[int, Mix] = NO_MIX,
) -> Iterator[tuple[int, int]]:
    """Yield the tasks in the order in which they start: which user, on which machine class."""
    steps = kinds_started(demands, machines, rates, limits, when_full, eligible, ahead, mixes)
    return ((user, machine) for user, _, machine in steps)


def kinds_started(
    demands: Sequence[Row],
    machines: Machines,
    rates: Row,
    limits: Limits,
    when_full: str,
    eligible: Classes,
    ahead: int = 0,
    mixes: Mapping[int, Mix] = NO_MIX,
    lines: Lines | None = None,
    ranks: Sequence[int] | None = None,
    free: Free | None = None,
) -> Iterator[tuple[int, int, int]]:
    """Yield the same with the type of the task: user, type, machine class; of equals the lowest of `ranks` first.

    In `free`, a list, is then what is left on the machines of each class on which some task was tried.
    """
    free = [] if free is None else free
    free += [[] for _ in machines]

    def rooms(demand: Row, classes: Sequence[bool] | None) -> Iterator[tuple[int, tuple[list[Fraction], FreeDevices]]]:
        """Yield the machine for each further task of a kind; one that refused it never takes one again."""
        for k, (row, count, *devices) in enumerate(machines):
            if (classes is None or classes[k]) and _fits(demand, row):
                for copy in range(count):
                    if copy == len(free[k]):
                        free[k].append((list(row), FreeDevices(*devices or [{}])))
                    room, held = free[k][copy]
                    while _fits(demand, room) and held.places(demand) is not None:
                        yield k, free[k][copy]

    def plain(i: int) -> Mix:
        classes = None if eligible is None else eligible[i]
        return Mix([(demands[i], limits[i], classes)], lambda started: rates[i] * started[0])

    users = [mixes.get(i) or plain(i) for i in range(len(demands))]
    search = [[rooms(demand, classes) for demand, _, classes in user.kinds] for user in users]
    started = [[0] * len(user.kinds) for user in users]
    at = [0] * len(users)

    def key(i: int) -> Fraction:
        if not ahead:
            return users[i].level(started[i])
        return users[i].level([count + ahead * (t == at[i]) for t, count in enumerate(started[i])])

    line = _ByLevel(key, ranks or range(len(users))) if lines is None else lines(started)
    while (i := line.take()) is not None:
        if (limit := limits[i]) is not None and sum(started[i]) + 1 > limit:
            continue
        t = at[i]
        demand = users[i].kinds[t][0]
        exhausted = users[i].exhausted(started[i], t) or line.bars(i, demand)
        found = None if exhausted else next(search[i][t], None)
        if found:
            k, (room, held) = found
            held.take(demand)
            room[:] = [amount - need for amount, need in zip(room, demand, strict=True)]
            started[i][t] += 1
            line.back(i)
            yield i, t, k
        elif when_full == "stop" and not exhausted:
            return
        elif t + 1 < len(users[i].kinds):
            at[i] += 1
            line.back(i)


def discrete_filling(
    demands: Sequence[Row],
    machines: Machines,
    rates: Row,
    limits: Limits,
    when_full: str = "skip",
    eligible: Classes = None,
    ahead: int = 0,
    mixes: Mapping[int, Mix] = NO_MIX,
    lines: Lines | None = None,
    ranks: Sequence[int] | None = None,
    most: int | None = None,
) -> tuple[list[int], list[Step]]:
    """Return the tasks of each user, (n,), and every step on the way, or so many; `placements` alone keeps none.

    >>> tasks, steps = discrete_filling([[3, 1], [1, 4]], [([9, 18], 1)], [3, 2], [None, None])
    >>> tasks, ["BA"[step.user] for step in steps]
    ([2, 3], ['B', 'A', 'A', 'B', 'A'])
    """
    total = [sum((row[j] * count for row, count, *_ in machines), Fraction(0)) for j in range(len(demands[0]))]
    tasks, shares = [0] * len(demands), [Fraction(0)] * len(demands)
    own = [[Fraction(0)] * len(total) for _ in demands]
    rows = [tuple(row) for row in own]
    used, steps = [Fraction(0)] * len(total), []
    run = (demands, machines, rates, limits, when_full, eligible, ahead, mixes, lines, ranks)
    for user, t, machine in islice(kinds_started(*run), most):
        demand = mixes[user].kinds[t][0] if user in mixes else demands[user]
        tasks[user] += 1
        own[user] = [u + d for u, d in zip(own[user], demand, strict=True)]
        rows[user] = tuple(u / c if c else Fraction(0) for u, c in zip(own[user], total, strict=True))
        shares[user] = max(rows[user])
        used = [u + d for u, d in zip(used, demand, strict=True)]
        steps.append(Step(user, machine, tuple(shares), tuple(used), t, tuple(rows)))
    return tasks, steps


def _fits(task: Row, room: Row) -> bool:
    return all(need <= amount for need, amount in zip(task, room, strict=True))
