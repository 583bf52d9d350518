"""Is there room for one whole task more of anybody, beside all that run, as they are packed?  Decided in integers."""

from collections.abc import Sequence

import numpy as np

from ..model.packings import Packing, device_room
from ..model.whole_values import WholeUsers

__all__ = ["room_for_more"]


def room_for_more(users: WholeUsers, tasks: Sequence[int], packing: Sequence[Packing] | None) -> list[int]:
    """Return the users, as rows of the instance, of whom one task more of whole tasks (n,) has room.

    Of several types that is the next one of the user's sequence.  On machines, of which a packing is given, all that
    runs stays where it is: whether there would be room after moving tasks is not asked.
    """
    goods, used = dict[int, list[int]](), [0] * len(users.goods)
    for p, (i, sequence) in enumerate(zip(users.members, users.sequences, strict=True)):
        now = sequence.started(tasks[i])
        for good, count in zip(users.goods_of[p], now, strict=True):
            used[good] += count
        if tasks[i] < users.most[p]:
            after = sequence.started(tasks[i] + 1)
            grown = (good for good, x, y in zip(users.goods_of[p], now, after, strict=True) if y > x)
            goods.setdefault(next(grown), []).append(i)
    rows, room = users.pool_rows if users.instance.machines is None else users.ceiling_rows
    left = [total - sum(x * row[b] for x, row in zip(used, rows, strict=True)) for b, total in enumerate(room)]
    able = [good for good in goods if all(need <= rest for need, rest in zip(rows[good], left, strict=True))]
    if users.instance.machines is not None:
        machines = _Machines(users, packing or ())
        able = [good for good in able if machines.take(users.goods[good][0])]
    return sorted(i for good in able for i in goods[good])


class _Machines:
    """What is left on machines, of those that are alike and run the same on one of them."""

    def __init__(self, users: WholeUsers, packing: Sequence[Packing]):
        self.cluster, self.members = users.cluster, users.rows
        self.loads: list[tuple[int, dict[int, int]]] = []
        idle = [int(count) for count in self.cluster.counts]
        for k, count, load in packing:
            idle[k] -= count
            if count:
                self.loads.append((k, load))
        self.loads += [(k, {}) for k, count in enumerate(idle) if count > 0]
        self.classes = np.array([k for k, _ in self.loads], dtype=np.int64)
        self.demands, rooms = self.cluster.whole_amounts
        self.left = rooms[self.classes]
        for left, (_, load) in zip(self.left, self.loads, strict=True):
            for q, x in load.items():
                left -= x * self.demands[q]

    def take(self, q: int) -> bool:
        """Say whether a machine has room for a task of a row of the cluster."""
        open_to = self.cluster.fits[q][self.classes] & (self.left >= self.demands[q]).all(axis=1)
        return any(self._devices_take(*self.loads[at], q) for at in np.flatnonzero(open_to).tolist())

    def _devices_take(self, k: int, load: dict[int, int], q: int) -> bool:
        if not self.cluster.has_devices:
            return True
        here = [*dict.fromkeys([*load, q])]
        after = {at: load.get(row, 0) + (row == q) for at, row in enumerate(here)}
        return device_room(self.cluster, k, here).fit(after)
