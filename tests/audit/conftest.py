"""Small clusters for the audits: degenerate on purpose, in whole numbers."""

import random

import pytest

from drfopt.axioms.counterexamples.space import Case, SpaceUser


def drawn(seed, *, users=(1, 4), resources=(1, 3), zero=True, weights=3, limits=False):
    """Return a random case: small numbers, so that ties, equal users and saturations at once are frequent."""
    dice = random.Random(seed)
    n, m = dice.randint(*users), dice.randint(*resources)
    low = 0 if zero else 1
    rows = []
    while len(rows) < n:
        row = tuple(dice.randint(low, 3) for _ in range(m))
        if any(row):
            rows.append(row)
    kinds = [SpaceUser(row, dice.randint(1, weights), dice.choice((0, 0, 1)) if limits else 0) for row in rows]
    return Case((tuple(dice.randint(1, 4) for _ in range(m)),), tuple(kinds))


@pytest.fixture
def draw():
    return drawn
