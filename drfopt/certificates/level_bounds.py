"""How high the levels of whole tasks that are not proven can be at most: multipliers checked in integers, no branching.

Let the levels below a claim be proven, and so many users stop there.  In whatever is at least as good, all others reach
the claim's level.  The level in a place above is no higher than L where a claim is refuted that all of them but the
*spare* ones, as many as are in places before it, exceed L.
"""

from collections import Counter
from fractions import Fraction

from ..base.deadline import Deadline
from ..model.whole_values import WholeUsers
from .level_claims import LevelClaim, highest
from .packing_bound import Machines, Pool
from .refutation import Better, Inconclusive, refute

__all__ = ["LevelBound", "levels_above", "reached"]

SECONDS = 20.0
"""For the bounds of the levels above the first that is not proven: later ones have that of each resource alone."""

HALVINGS = 25
"""Times that the interval of a bound is halved: a few parts in ten million of it are left."""

LevelBound = tuple[Fraction, int, Fraction]
"""A level, how many users have it, and the most that the place of the last of them could be."""


def reached(claim: LevelClaim, worth: Pool | Machines, high: int, spare: int = 0) -> int:
    """Return a level that the next user but so many cannot exceed, as high is one: a highest below what is refuted."""
    low, high = claim.level, high + 1
    for _ in range(HALVINGS):
        if high - low <= 1:
            break
        middle = (low + high) // 2
        if _refuted(claim.raised(middle, spare), worth):
            high = middle
        else:
            low = middle
    scales = [choice.scale for choice in claim.choices]
    return max(scale.value(scale.least(high) - 1) for scale in scales if scale.least(high))


def _refuted(claim: LevelClaim, worth: Pool | Machines) -> bool:
    try:
        refute(claim, worth, branch=False)
    except (Better, Inconclusive):
        return False
    return True


def levels_above(
    users: WholeUsers, tasks: list[int], claim: LevelClaim, below: int, worth: Pool | Machines, deadline: Deadline
) -> tuple[list[LevelBound], int]:
    """Return the levels above that of a claim, below which so many users stop, and how many tasks more can be had.

    One task more of a user is tried first: mostly it is refuted.
    """
    values = users.values(tasks)
    levels = sorted(Counter(value for value in values if value > claim.level).items())
    own = [[users.scales[p] for p, value in enumerate(values) if value == level] for level, _ in levels]
    ends, seen = deadline.sooner(SECONDS), below + claim.count
    one: list[int] = []
    spare: list[int] = []
    bounds: list[int] = []
    for (level, count), scales in zip(levels, own, strict=True):
        seen += count
        spare.append(seen - 1 - below)
        one.append(max(scale.value(scale.least(level) + 1) for scale in scales))
        bounds.append(highest(users, seen - 1))
        if one[-1] < bounds[-1] and ends.left() > 0 and _refuted(claim.raised(one[-1] + 1, spare[-1]), worth):
            bounds[-1] = one[-1]
    for place in reversed(range(len(levels))):
        # No place is above the next one.
        bounds[place] = min(bounds[place : place + 2])
        if bounds[place] > one[place] and ends.left() > 0:
            found = reached(claim, worth, bounds[place], spare[place])
            bounds[place] = min(bounds[place], max(one[place], found))
    told: list[LevelBound] = []
    apart = 0
    for (level, count), bound, scales in zip(levels, bounds, own, strict=True):
        apart = max(apart, *(scale.least(max(level, bound) + 1) - 1 - scale.least(level) for scale in scales))
        told.append((users.told(level), count, users.told(max(level, bound))))
    return told, apart
