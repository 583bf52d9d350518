"""How many tasks users in other groups have at least when a user has what it needs.

For groups directly below the root, where nothing is promised, ordered or capped for groups.  When the clock of
`drfopt.model.hierarchy` runs, take the moment at which user i of group g has the tasks that it needs.  User l of group
h who is not stopped before i (`drfopt.planning.sizing.needs`) is at her limit, or h is as high as g:

    level(g)  >=  level of what the members of g have at least, at the level of i
    level(h)  <=  level of what the members of h have at most, each at the level of l or at its limit

so that the level of l in her group is at least where the second reaches the first.  Who is in no group is as high as
such a group herself.  Levels are in parts of the capacity of one resource; those of the others lie between bounds.
"""

from dataclasses import dataclass

import numpy as np

from ...model.instance import Instance

__all__ = ["GroupNeeds", "organised"]

ROUNDED = 1 - 1e-10
"""What a lower bound is multiplied by after sums over many users in floats."""


@dataclass(frozen=True, eq=False)
class GroupNeeds:
    """Groups below the root, and how what their members hold makes levels.

    Attributes
    ----------
    members : tuple of int arrays
        Users of each group.
    home : int array (n,)
        The group of each user; -1 for none.
    weights : array (groups,)
    counted, part : arrays (n, columns)
        What one task counts for, and that over the user's weight.
    limits : array (n,)
    summed, fixed : bool
        Whether levels are sums and not the largest, and whether no capacity is in them.
    """

    members: tuple[np.ndarray, ...]
    home: np.ndarray
    weights: np.ndarray
    counted: np.ndarray
    part: np.ndarray
    limits: np.ndarray
    summed: bool
    fixed: bool

    def raised(self, who: np.ndarray, below: np.ndarray, least: np.ndarray, quotients: np.ndarray) -> np.ndarray:
        """Return the least tasks (n,) that follow for everybody.

        Parameters
        ----------
        who : int array (users,)
            Users i.
        below : array of bool (users, n)
            Who is not stopped before each of them.
        least : array (n,)
            The least tasks as far as is known.
        quotients : array (m, m)
            ``C[g] / C[j]`` is at least ``quotients[j, g]``.
        """
        found = least.copy()
        with np.errstate(divide="ignore"):
            over = 1 / quotients
        for r in range(1 if self.fixed else len(quotients)):
            ends = (np.ones(1), np.ones(1)) if self.fixed else (quotients[r], over[:, r])
            np.maximum(found, self._between(who, below, least, *ends), out=found)
        return found

    def _between(
        self, who: np.ndarray, below: np.ndarray, least: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> np.ndarray:
        """Return the same with the capacity of each column between `low` and `high`."""
        lowest, highest = self._levels(self.part, high), self._levels(self.part, low)
        level = least[who] * lowest[who]
        # What the members of i's own group have at that moment, at least.
        has = self._at(level, highest)
        certain = below.copy()
        certain[np.arange(len(who)), who] = True
        has = np.where(certain, has, np.minimum(has, least))
        has[self.home[who][:, None] != self.home] = 0.0
        grouped = self.home[who] >= 0
        together = self._levels(has @ self.counted, high) / np.where(grouped, self.weights[self.home[who]], 1.0)
        reached = np.where(grouped, together * ROUNDED, level)
        has = self._at(reached, highest)
        for h, users in enumerate(self.members):
            has[:, users] = self._at(self._inner(h, reached, lowest, low), highest[users], users)
        return np.asarray(np.where(below, has, 0.0).max(axis=0, initial=0.0) * ROUNDED)

    def _levels(self, rows: np.ndarray, capacity: np.ndarray) -> np.ndarray:
        """Return the level of each row of what is held (rows, columns)."""
        with np.errstate(divide="ignore"):
            shares = np.where(rows > 0, rows / capacity, 0.0)
        return np.asarray(shares.sum(axis=-1) if self.summed else shares.max(axis=-1, initial=0.0))

    def _at(self, level: np.ndarray, rates: np.ndarray, users: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Return the tasks of users (rows, users) at each level (rows,), at most their limits."""
        with np.errstate(divide="ignore", invalid="ignore"):
            tasks = np.where(rates > 0, level[:, None] / rates, 0.0)
        return np.minimum(np.nan_to_num(tasks, nan=0.0, posinf=np.inf), self.limits[users])

    def _inner(self, h: int, reached: np.ndarray, lowest: np.ndarray, low: np.ndarray) -> np.ndarray:
        """Return the level inside group h (rows,) below which its own is less than `reached`; inf if it always is."""
        users = self.members[h]
        rates, limits, counted = lowest[users], self.limits[users], self.counted[users]
        if not (rates > 0).all() or not (low[(counted > 0).any(axis=0)] > 0).all():
            return np.zeros(len(reached))
        # Each member rises in a line up to her limit: what all hold at the ends of these, and how it grows from there.
        ends = np.concatenate([[0.0], np.sort(limits * rates)])
        ends = ends[np.isfinite(ends)]
        slopes = counted / rates[:, None]
        growing = (limits * rates)[None, :] > ends[:, None]
        grows = growing @ slopes
        held = np.minimum(ends[:, None] / rates, limits) @ counted
        with np.errstate(divide="ignore", invalid="ignore"):
            each, rise = held / low / self.weights[h], grows / low / self.weights[h]
        levels = each.sum(axis=1) if self.summed else each.max(axis=1)
        at = np.maximum(np.searchsorted(levels, reached, "left") - 1, 0)
        if self.summed:
            each, rise = levels[:, None], rise.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            way = np.where(rise[at] > 0, (reached[:, None] - each[at]) / rise[at], np.inf).min(axis=1)
        return np.asarray(np.where(reached <= levels[0], 0.0, ends[at] + np.maximum(way, 0.0)))


def organised(
    instance: Instance, counted: np.ndarray, part: np.ndarray, limits: np.ndarray, summed: bool, fixed: bool
) -> GroupNeeds | None:
    """Return the groups of an instance, with what counts of a task; None where more than their weights orders them."""
    rules = instance.organisation
    if rules is None or not rules.groups:
        return None
    groups = rules.groups
    plain = not any(rules.guarantees) and not any(group.guarantee or group.ceiling for group in groups)
    ranks = {*rules.tiers, *(group.tier for group in groups)}
    ordered = len(ranks) > 1 or any(rules.last) or any(not group.weight for group in groups)
    if not plain or ordered or any(group.parent for group in groups):
        return None
    names = [group.name for group in groups]
    home = np.array([names.index(path) if path else -1 for path in rules.paths])
    members = tuple(np.flatnonzero(home == h) for h in range(len(names)))
    weights = np.array([float(group.weight) for group in groups])
    return GroupNeeds(members, home, weights, counted, part, limits, summed, fixed)
