"""Paths of bundles, along which a policy may measure what a user has: straight lines between knots.

    b(t)      bundle at level t, in shares of the cluster; b(0) = 0, every coordinate grows with t
    s[i, j]   share of resource j in one task of user i, divided by the user's weight
    level     L_i(x) = the least t at which b(t) carries x tasks of user i  =  max_j  b_j^-1( s[i, j] x )
    tasks     X_i(t) = min over j with s[i, j] > 0 of  b_j(t) / s[i, j],  the inverse of L_i

The level of a knot is the mean of its coordinates, so that of the straight path a level is the dominant share.  Beyond
the last knot a path goes on as it came.  Only the order of levels matters, and no unit of t changes it.
"""

import itertools
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ..base.errors import InstanceError, PolicyError
from ..base.numbers.quantities import exact

__all__ = ["AMONG", "BETWEEN", "BundlePath", "Traveller", "path_of"]

BETWEEN, AMONG = "..", ":"
"""What stands between the bundles of a path as it is written, and between the numbers of a bundle."""


@dataclass(frozen=True)
class BundlePath:
    """A path through knots, each a bundle (m,) in shares; the first knot is nothing at all."""

    knots: tuple[tuple[Fraction, ...], ...]

    @property
    def m(self) -> int:
        """Number of resources."""
        return len(self.knots[0])

    @cached_property
    def levels(self) -> tuple[Fraction, ...]:
        """The level of each knot."""
        return tuple(sum(knot, Fraction(0)) / self.m for knot in self.knots)

    @cached_property
    def slopes(self) -> tuple[tuple[Fraction, ...], ...]:
        """How much each resource grows with the level on each line, (lines, m); the last line has no end."""
        ends = zip(self.knots, self.knots[1:], self.levels, self.levels[1:], strict=False)
        return tuple(
            tuple((b - a) / (high - low) for a, b in zip(one, other, strict=True)) for one, other, low, high in ends
        )

    @cached_property
    def columns(self) -> tuple[tuple[Fraction, ...], ...]:
        """The shares of each resource at the knots, m rows."""
        return tuple(zip(*self.knots, strict=True))

    def line(self, at: Fraction, among: Sequence[Fraction]) -> int:
        """Return the line on which a value lies, of the values at the knots: at a knot, the one that begins there."""
        return min(bisect_right(among, at), len(self.slopes)) - 1

    def share(self, j: int, level: Fraction) -> Fraction:
        """Return b_j(t)."""
        q = self.line(level, self.levels)
        return self.knots[q][j] + (level - self.levels[q]) * self.slopes[q][j]

    def level(self, j: int, share: Fraction) -> Fraction:
        """Return the level at which the path has that share of resource j."""
        q = self.line(share, self.columns[j])
        return self.levels[q] + (share - self.knots[q][j]) / self.slopes[q][j]

    def meets(self, bundle: Sequence[Fraction]) -> bool:
        """Say whether the path passes through a bundle (m,), in shares."""
        level = self.level(0, bundle[0])
        return all(self.share(j, level) == part for j, part in enumerate(bundle))


@dataclass(frozen=True)
class Traveller:
    """A user on a path: `shares` (m,) of one task, divided by the weight."""

    path: BundlePath
    shares: tuple[Fraction, ...]

    def level(self, tasks: Fraction) -> Fraction:
        """Return L_i(x)."""
        return max((self.path.level(j, s * tasks) for j, s in enumerate(self.shares) if s), default=Fraction(0))

    def tasks(self, level: Fraction) -> Fraction:
        """Return X_i(t)."""
        return min(self.path.share(j, level) / s for j, s in enumerate(self.shares) if s)


def path_of(written: str, name: str) -> BundlePath:
    """Return the path that is written as bundles, such as ``1/2:1/2..3/4:1``; it begins at nothing.

    Raises
    ------
    PolicyError
        When it is no path, or some resource does not grow along it.
    """
    how = "write bundles in shares of the cluster, a number a resource, such as path:1/2:1/2..3/4:1"
    knots: list[tuple[Fraction, ...]] = []
    for bundle in written.split(BETWEEN):
        try:
            knots.append(tuple(exact(part) for part in bundle.split(AMONG)))
        except (InstanceError, ValueError, TypeError, ZeroDivisionError):
            raise PolicyError(f"{name!r}: {bundle!r} is no bundle: {how}") from None
    if len({len(knot) for knot in knots}) > 1:
        raise PolicyError(f"{name!r}: its bundles are of {' and '.join(str(len(k)) for k in knots)} resources: {how}")
    knots.insert(0, (Fraction(0),) * len(knots[0]))
    for one, other in itertools.pairwise(knots):
        for j, (before, after) in enumerate(zip(one, other, strict=True)):
            if after <= before:
                raise PolicyError(
                    f"{name!r}: its resource {j + 1} goes from {before} to {after}, and must grow from bundle to bundle"
                )
    return BundlePath(tuple(knots))
