"""Can a cluster run exactly these whole tasks?  Packed, or refuted by multipliers: decided in integers either way."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from operator import mul

from ..base.deadline import NEVER, Deadline
from ..model.packings import device_room, integer_rows
from ..model.whole_values import WholeUsers
from .branch_and_cut import Better, Inconclusive, refute
from .level_claims import LevelClaim
from .packing_bound import Machines, Pool, worth_of
from .refutation import Refutation

__all__ = ["Packable"]

PLACED = 3_000
"""Machines, and of tasks on devices these, up to which tasks are put where they fit first, before any are refuted."""

STEPS, DEEP = 50_000, 300
"""Loads that are tried where multipliers do not decide, and machines up to which that is begun."""


class Packable:
    """Asks of numbers of tasks of the members whether a pool has room for them, or machines can be packed with them.

    What is known of some tasks is known of all fewer, or of all more: answers are kept.  Classes whose loads are not
    listed by the deadline are priced by their resources: less is refuted then.
    """

    def __init__(self, users: WholeUsers, deadline: Deadline = NEVER):
        self.users, self.deadline = users, deadline
        self.pool = users.instance.machines is None
        self.rows, self.room = users.pool_rows
        self._yes: list[tuple[int, ...]] = []
        self._no: list[tuple[int, ...]] = []
        self.refuted: list[tuple[LevelClaim, Refutation]] = []
        """Why machines cannot be packed, as far as multipliers said it."""

    @cached_property
    def worth(self) -> Pool | Machines:
        """How the cluster prices tasks."""
        return worth_of(self.users, self.deadline)

    def fits(self, tasks: Sequence[int]) -> bool:
        """Say whether the members' tasks can be run, ceilings of groups kept.

        Raises
        ------
        Inconclusive
            When machines are neither packed nor is it refuted that they can be.
        TimeLimitError
        """
        goods = self._goods(tasks)
        if not self._within(goods):
            return False
        if self.pool:
            return True
        asked = tuple(goods)
        if any(all(x <= y for x, y in zip(asked, known, strict=True)) for known in self._yes):
            return True
        if any(all(x >= y for x, y in zip(asked, known, strict=True)) for known in self._no):
            return False
        found = self._first_fit(asked) or self._packed(asked)
        (self._yes if found else self._no).append(asked)
        return found

    def within_totals(self, tasks: Sequence[int]) -> bool:
        """Say whether the members' tasks are within ceilings of groups, and the cluster as if it were a pool."""
        return self._within(self._goods(tasks))

    def placed(self, tasks: Sequence[int], loads: Iterable[tuple[int, tuple[int, ...], int]] = ()) -> bool:
        """Say whether the members' tasks fit where they are put, machines with some loads first: no search.

        Loads are a class, tasks of each shape that fits on it, and so many of its machines.
        """
        goods = self._goods(tasks)
        return self._within(goods) and (self.pool or self._first_fit(goods, loads))

    def refuted_at_once(self, tasks: Sequence[int]) -> bool:
        """Say whether one linear program has multipliers that refute the members' tasks; if not, nothing is known."""
        try:
            refute(self._claim(self._goods(tasks)), self.worth, branch=False)
        except (Better, Inconclusive):
            return False
        return True

    def _claim(self, goods: Sequence[int]) -> LevelClaim:
        return LevelClaim(0, self.users.told(0), 0, (), tuple(goods), ())

    def _goods(self, tasks: Sequence[int]) -> list[int]:
        goods = [0] * len(self.users.goods)
        for p, x in enumerate(tasks):
            for good, count in zip(self.users.goods_of[p], self.users.sequences[p].started(x), strict=True):
                goods[good] += count
        return goods

    def _within(self, goods: list[int]) -> bool:
        columns = zip(*self.rows, strict=True)
        return all(sum(map(mul, goods, column)) <= c for column, c in zip(columns, self.room, strict=False))

    def _packed(self, goods: tuple[int, ...]) -> bool:
        claim = self._claim(goods)
        try:
            self.refuted.append((claim, refute(claim, self.worth, self.deadline)))
        except Better:
            return True
        except Inconclusive:
            return self._tried(goods)
        return False

    def _tried(self, goods: tuple[int, ...]) -> bool:
        """Say whether loads of the machines, one after the other, run all tasks: every choice is tried.

        Raises
        ------
        Inconclusive
            After so many steps, and where loads of some machine are too many to list.
        """
        worth = self.worth
        if not isinstance(worth, Machines) or any(loads is None for loads in worth.loads):
            raise Inconclusive
        asked = [0] * len(worth.users)
        for shape, x in zip(worth.shapes, goods, strict=True):
            asked[shape] += x
        # A class on which nothing fits runs nothing.
        classes = [c for c in zip(worth.fitting, worth.loads, worth.counts, strict=True) if c[1]]
        if sum(count for _, _, count in classes) > DEEP:
            raise Inconclusive
        machines = list[list[tuple[int, ...]]]()
        for fitting, loads, count in classes:
            held = [dict(zip(fitting, load, strict=True)) for load in loads or ()]
            machines += [[tuple(load.get(s, 0) for s in range(len(asked))) for load in held]] * count
        left, failed = STEPS, set[tuple[int, tuple[int, ...]]]()

        def run(at: int, rest: tuple[int, ...]) -> bool:
            nonlocal left
            if not any(rest):
                return True
            if at == len(machines) or (at, rest) in failed:
                return False
            for load in machines[at]:
                left -= 1
                if left < 0:
                    raise Inconclusive
                if run(at + 1, tuple(max(0, x - y) for x, y in zip(rest, load, strict=True))):
                    return True
            failed.add((at, rest))
            return False

        return run(0, tuple(asked))

    def _first_fit(self, goods: Sequence[int], loads: Iterable[tuple[int, tuple[int, ...], int]] = ()) -> bool:
        """Say whether tasks fit when the largest are put first, each where there is room first, beside these loads."""
        cluster, shapes = self.users.cluster, self.users.shapes
        left = [0] * len(shapes)
        for (_, shape, _), x in zip(self.users.goods, goods, strict=True):
            left[shape] += x
        users = [rows[0] for rows in shapes]
        counts = cluster.counts.tolist()
        for k, load, number in loads:
            counts[k] -= number
            for s, x in zip((s for s, i in enumerate(users) if cluster.fits[i, k]), load, strict=True):
                left[s] = max(0, left[s] - number * x)
        if min(counts) < 0 or (sum(left) > PLACED and cluster.has_devices) or sum(counts) > PLACED:
            return False
        places, sizes = cluster.fits[users].sum(axis=1).tolist(), cluster.demands[users].sum(axis=1).tolist()
        order = sorted(range(len(users)), key=lambda s: (places[s], -sizes[s]))
        for k in range(cluster.k):
            able = [s for s in order if cluster.fits[users[s], k]]
            rows = [cluster.exact_demands[users[s]] for s in able]
            demands, room = integer_rows(rows, cluster.exact_machine_capacity[k])
            devices = device_room(cluster, k, [users[s] for s in able])
            for _ in range(counts[k]):
                free, here = list(room), dict.fromkeys(range(len(able)), 0)
                for at, (s, row) in enumerate(zip(able, demands, strict=True)):
                    most = min([left[s], *(f // d for f, d in zip(free, row, strict=True) if d)])
                    while most and not devices.fit({**here, at: most}):
                        most -= 1
                    here[at] = most
                    left[s] -= most
                    free = [f - most * d for f, d in zip(free, row, strict=True)]
        return not any(left)
