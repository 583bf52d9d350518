"""How far the limit of a user can rise until something else stops her, as the links tell it.

The room stays as it is, so all rates do, and with the limit of user i higher by s the levels t_r of the links follow in
straight lines:

    W_r t_r  =  const  -  q_ri s  -  sum_{q < r} V_rq t_q        W_r = sum of q_rl / rate_l over those stopped at r,
                                                                 V_rq the same over those who pay at r, stopped at q.

It ends where two such lines meet. Sums over all users are made once, so that a user costs a few numbers and not a look
at everybody.
"""

import numpy as np

from ..pricing.binding_rounds import Held
from ..pricing.feasible_growth import TIGHT, Room

__all__ = ["Raising"]


class Raising:
    """Limits that rise, each by itself, in the room there is."""

    def __init__(self, held: Held, room: Room):
        links, instance = held.links, held.instance
        self.held, self.room, self.place = held, room, held.at(room.now)
        levels, rates = self.place.levels, self.place.rates
        self.costs = np.array([np.maximum(link.costs, 0.0) for link in links]).reshape(len(links), instance.n)
        # Tasks for each unit of the level of every link (links, n).
        self.each = np.zeros((len(links), instance.n))
        for r, link in enumerate(links):
            self.each[r, link.finished] = 1 / rates[link.finished]
        spent = self.costs @ self.each.T
        self.turns = -np.linalg.inv(np.tril(spent))
        highest = [(rates * self.place.tasks)[held.capped & (row > 0)].max(initial=0.0) for row in self.costs]
        stops = [(instance.limits[link.finished] * rates[link.finished]).min() for link in links]
        # Who pays at a link is stopped there, or below; and it is above those that closed classes before.
        higher, lower = np.nonzero((spent > 0) & ~np.eye(len(links), dtype=bool))
        after = [(r, q) for r, link in enumerate(links) for q in link.after]
        higher, lower = np.append(higher, [r for r, _ in after]).astype(int), np.append(lower, [q for _, q in after])
        lower = lower.astype(int)
        with np.errstate(divide="ignore", invalid="ignore"):
            unit = np.eye(len(links)) / levels[:, None]
            between = unit[higher] - unit[lower] * (levels[lower] / levels[higher])[:, None]
            # What has to stay at 0 or above, relative to levels: now, and for each unit of the levels.
            self.now = np.concatenate(
                [np.ones(len(links)), 1 - highest / levels, stops / levels - 1, 1 - levels[lower] / levels[higher]]
            )
        self.growing = np.vstack([unit, unit, -unit, between])
        self.crowding, self.cuts_each = np.zeros(0), np.zeros((0, len(links)))

    def until(self, i: int, end: float) -> float:
        """Return by how many tasks the limit of user i, who is at it, can rise; `end` at most."""
        levels, rate = self.place.levels, self.place.rates[i]
        if not (levels > 0).all():
            return 0.0
        turns = self.turns @ self.costs[:, i]
        paid = levels[self.costs[:, i] > 0]
        now = np.concatenate([self.now, 1 - rate * self.place.tasks[i] / paid])
        slopes = np.concatenate([self.growing @ turns, (turns[self.costs[:, i] > 0] - rate) / paid])
        while True:
            self._see_cuts()
            crowding = self.cuts_each @ turns + self.room.costs[:, i]
            reached = _first(np.append(now, 1 - self.crowding), np.append(slopes, -crowding), end)
            tasks = self.place.tasks + reached * (turns @ self.each)
            tasks[i] += reached
            # Tasks change in straight lines: if there is a place for them at the end, there is one before.
            if reached <= 0 or self.room.asked(tasks, self.room.now) <= 1 + 2 * TIGHT:
                return reached

    def _see_cuts(self) -> None:
        if len(self.crowding) < len(self.room.costs):
            self.crowding, self.cuts_each = self.room.costs @ self.place.tasks, self.room.costs @ self.each.T


def _first(now: np.ndarray, slopes: np.ndarray, end: float) -> float:
    """Return where the first of some lines falls below 0, rounding aside; `end` at most."""
    if (now < -TIGHT).any():
        return 0.0
    falling = now + slopes * end < -TIGHT
    return min(end, float((np.maximum(now[falling], 0.0) / -slopes[falling]).min(initial=np.inf)))
