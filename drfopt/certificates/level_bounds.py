"""How high the levels of whole tasks that are not proven can be at most: multipliers checked in integers, no branching.

Let the levels below a claim be proven, and so many users stop there.  In whatever is at least as good, all others reach
the claim's level.  The level in a place above is no higher than L where a claim is refuted that all of them but the
*spare* ones, as many as are in places before it, exceed L.
"""

from collections import Counter
from dataclasses import dataclass

from ..base.deadline import Deadline
from ..model.whole_values import WholeUsers
from .branch_and_cut import Better, Inconclusive, refute
from .level_claims import HighestValues, LevelClaim
from .packing_bound import Machines, Pool
from .refutation import Refutation, holds

__all__ = ["BoundedLevel", "level_bounds"]

SECONDS = 20.0
"""For the bounds of the levels above the first that is not proven: later ones have that of each resource alone."""

HALVINGS = 25
"""Linear programs for one bound: a few parts in ten million of an interval are left."""


@dataclass(frozen=True)
class BoundedLevel:
    """A level that is not proven, and the most that a place in it could be, as values of whole tasks.

    Attributes
    ----------
    level, count : int
        What so many users have.
    bound : int
        Of the first unproven level what the first of them could have, of others what the last could.
    apart : int
        Tasks between the two, of whose are most.
    claim : LevelClaim
        That the place could be above the bound.
    refuted : Refutation or None
        Why it could not; None where that was not asked.
    """

    level: int
    count: int
    bound: int
    apart: int
    claim: LevelClaim
    refuted: Refutation | None


class _Place:
    """One place in the sorted levels, and the bound that it has so far."""

    def __init__(self, claim: LevelClaim, worth: Pool | Machines, level: int, spare: int, bound: int):
        self.claim, self.worth, self.level, self.spare, self.bound = claim, worth, level, spare, bound
        self.scales = [choice.scale for choice in claim.choices]
        self.refuted: Refutation | None = None

    def beyond(self, bound: int) -> LevelClaim:
        """Return the claim that the place could be above a bound."""
        return self.claim.raised(bound + 1, self.spare)

    def lower(self, bound: int) -> bool:
        """Take this bound where multipliers refute that the place could be above it; say whether they do."""
        try:
            self.refuted = refute(self.beyond(bound), self.worth, branch=False)
        except (Better, Inconclusive):
            return False
        self.bound = bound
        return True

    def halve(self, low: int, middle: int, ends: Deadline) -> None:
        """Look for the lowest bound above `low`, which is none: at `middle` first, and at what users can have only."""
        programs = 0
        while self.bound - low > 1 and programs < HALVINGS and ends.left() > 0:
            value = max((scale.value(x - 1) for scale in self.scales if (x := scale.least(middle + 1))), default=low)
            if value <= low:
                low = middle
            else:
                programs += 1
                low = low if self.lower(value) else middle
            middle = (low + self.bound) // 2

    def explained(self, known: Refutation | None) -> None:
        """Say why the place could not be above its bound, by multipliers that may serve, or others."""
        if known is not None and holds(self.beyond(self.bound), self.worth, known):
            self.refuted = known
        else:
            self.lower(self.bound)


def level_bounds(
    users: WholeUsers,
    tasks: list[int],
    claim: LevelClaim,
    worth: Pool | Machines,
    deadline: Deadline,
    above: bool = True,
) -> list[BoundedLevel]:
    """Return what bounds the level of a claim, and the levels `above` it if they are asked.

    One task more of a user is tried first: mostly it is refuted.
    """
    values = users.values(tasks)
    below = sum(value < claim.level for value in values)
    levels = sorted(Counter(value for value in values if value >= claim.level).items())[: None if above else 1]
    own = [[users.scales[p] for p, value in enumerate(values) if value == level] for level, _ in levels]
    one = [
        max(scale.value(scale.least(level) + 1) for scale in scales)
        for (level, _), scales in zip(levels, own, strict=True)
    ]
    highest = HighestValues(users)
    places = [_Place(claim, worth, claim.level, 0, max(claim.level, highest.after(below)))]
    places[0].halve(claim.level - 1, min(one[0], places[0].bound - 1), deadline)
    ends, seen = deadline.sooner(SECONDS), below + claim.count
    for (level, count), more in zip(levels[1:], one[1:], strict=True):
        seen += count
        places.append(_Place(claim, worth, level, seen - 1 - below, max(level, highest.after(seen - 1))))
        if more < places[-1].bound and ends.left() > 0:
            places[-1].lower(more)
    after: _Place | None = None
    for place, more in zip(reversed(places), reversed(one), strict=True):
        known = None if after is None else after.refuted
        if after is not None and after.bound < place.bound:  # No place is above the next one.
            place.bound, place.refuted = after.bound, None
        if place is not places[0] and place.bound > more:
            place.halve(more, (more + place.bound) // 2, ends)
        if place.refuted is None and ends.left() > 0:
            place.explained(known)
        after = place
    return [
        BoundedLevel(
            level,
            count,
            place.bound,
            max(scale.least(place.bound + 1) - 1 - scale.least(level) for scale in scales),
            place.beyond(place.bound),
            place.refuted,
        )
        for place, (level, count), scales in zip(places, levels, own, strict=True)
    ]
