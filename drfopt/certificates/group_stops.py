"""Whole tasks of several groups: is who stops, and when, the best choice?  The verifier's clock says.

The judge is the one of files (`verifier.whole_groups`): all ways that are as good as the one at hand are swept by its
code, not by the finder's (`group_sweep`).  What a pool has room for it knows.  That machines cannot run some tasks it
believes when multipliers refute them; where it asks, those are looked for, and written.  Where only a search of
packings says so, that is no proof, and the certificate says whose word it is.
"""

import contextlib
import math
from fractions import Fraction
from functools import partial
from operator import mul

from ..base.deadline import Deadline
from ..base.errors import TimeLimitError
from ..base.progress import report
from ..model.certificate import Certificate
from ..model.evidence import WholeEvidence
from ..model.whole_values import WholeUsers
from . import group_sweep
from .branch_and_cut import Inconclusive
from .document import level_trees, stated
from .group_sweep import TooManyWays
from .packable import Packable
from .verifier.branches import Tree
from .verifier.claims import Claim
from .verifier.trees import Carried
from .verifier.whole_groups import Cuts, StopProof
from .verifier.whole_turns import Way

__all__ = ["PACKINGS", "certify"]

PACKINGS = "multipliers, and a search of packings"
"""The judge where some tasks are refuted by looking at all packings of machines."""

LATEST = 0.5
"""Seconds in which it is looked for how late the next stop can be, when the time is up."""


def certify(users: WholeUsers, tasks: list[int], deadline: Deadline) -> Certificate:
    """Return the certificate of whole tasks (n,) in several groups: proven, beaten, or how far it is proven."""
    claim = stated(users.instance, users.policy, tasks)
    cluster = Carried(claim)
    cuts = _Found(users, cluster, deadline)
    proof = _Bounded(claim, cluster, cuts)
    try:
        fault = proof.fault()
    except (TooManyWays, TimeLimitError, Inconclusive) as error:
        return _until(proof, error)
    evidence = WholeEvidence(judge=PACKINGS if cuts.searched else "multipliers", trees=partial(list, cuts.written))
    reason = f"who stops, and when, is not the best choice: {fault}" if fault else ""
    return Certificate("bound", not fault, 0.0, gap=None if fault else 0.0, evidence=evidence, reason=reason)


class _Counting(Cuts):
    """What can be counted, as long as there is time."""

    def __init__(self, cluster: Carried, deadline: Deadline):
        super().__init__(cluster)
        self.deadline = deadline

    def refuted(self, tasks: tuple[int, ...]) -> bool:
        """Say whether tasks are refuted."""
        self.deadline.check("the proof of who stops")
        return super().refuted(tasks)


class _Found(_Counting):
    """What refutes tasks, looked for where it is asked for."""

    def __init__(self, users: WholeUsers, cluster: Carried, deadline: Deadline):
        super().__init__(cluster, deadline)
        self.users, self.packable = users, Packable(users, deadline)
        self.written: list[Tree] = []
        self.searched = False
        self.left = math.inf

    def refuted(self, tasks: tuple[int, ...]) -> bool:
        """Say whether tasks are refuted; where that is neither so nor not, `Inconclusive` is raised."""
        self.left -= 1
        if self.left < 0:
            raise TooManyWays(tasks)
        if (known_to_be := super().refuted(tasks)) or self.packable.pool:
            return known_to_be
        known = len(self.packable.refuted)
        try:
            fits = self.packable.fits(tasks)
        except Inconclusive:
            raise Inconclusive("a packing of machines is neither found nor refuted") from None
        for pair in self.packable.refuted[known:]:
            (found,) = level_trees(self.users, self.packable.worth, [pair])
            self.written.append(found)
            self.add(found)
        self.searched |= not fits and not super().refuted(tasks)
        return not fits


class _Bounded(StopProof):
    """The clock, which lists no more ways than a finder does."""

    def __init__(self, claim: Claim, cluster: Carried, found: _Found):
        super().__init__(claim, cluster, found)
        self.found = found
        self.cuts: _Counting = found

    def due(self, way: Way) -> tuple[Way, list[int]]:
        """Return a way with what the clock shows, and whose turn it is, while there is time."""
        self.cuts.deadline.check("the proof of who stops")
        return super().due(way)

    def highest(self) -> Fraction:
        """Return what no level at the root exceeds: somebody's, or a group's, if each of its users had all alone."""
        users = (self.level_of(p, self.most[p]) for i in self.root.users if (p := self.place.get(i)) is not None)
        groups = ((group, [self.most[p] for p in self.members[id(group)]]) for group in self.root.groups)
        rows = (sum(map(mul, row, has)) - offset for g, has in groups for row, offset in self.rows[id(g)])
        return Fraction(max(0, *users, *rows), self.unit)

    def level_of(self, p: int, x: int) -> int:
        """Return the level of so many tasks of a user."""
        return max(slope * x - offset for slope, offset in self.lines[p])

    def stopped(self, ways: list[Way], most: int) -> list[Way] | Way:
        """Return the ways after a stop, or one that is better."""
        report(f"proof: {len(self.users) - len(self.mine.active)} of {len(self.users)} users stopped, {len(ways)} ways")
        self.found.left = group_sweep.TRIED
        found = super().stopped(ways, most)
        self.found.left = math.inf
        if isinstance(found, list) and len(found) > group_sweep.STATES:
            raise TooManyWays(self.own)
        return found


def _until(proof: _Bounded, error: Exception) -> Certificate:
    """Return which stops are proven, and how late the next one can be: where the cluster as a pool is full."""
    reason = f"the allocation is feasible, and that no choice of who stops is better is not proven: {error}"
    reason += f"; {len(proof.proven)} stops are proven, the next is at "
    late, top = isinstance(error, TimeLimitError), proof.highest()
    # Where not even the stop at hand is reached in time, or another could be beyond parts of guarantees: as if alone.
    gap, level, bound, words = 1.0, Fraction(0), top, f"level {float(top):.6g} at most"
    proof.cuts = _Counting(proof.cluster, Deadline.after(LATEST))
    with contextlib.suppress(TimeLimitError):
        at, _ = proof.own_stop()
        latest = max(way.time for each in proof.ways if (way := proof.onward(each)))[0]
        if at.moment[:-1] == latest[:-1]:
            level, bound = proof.level(at.moment), proof.level(latest)
            gap = float(1 - level / bound) if bound > 0 else 0.0
            of = "level" if at.moment[0] else "part of guarantees"
            words = f"{of} {float(level):.6g} and can be at {float(bound):.6g} at most"
    evidence = WholeEvidence(judge="nobody", late=late, level=level, bound=bound)
    return Certificate("bound", None, 0.0, gap=gap, evidence=evidence, reason=reason + words)
