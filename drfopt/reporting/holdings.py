"""Which users a picture shows by name: all of a few, of many the largest, and all the others together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .palette import USER_INKS

__all__ = ["Part", "parts_of", "title_of"]

TITLES = {"drf": "DRF", "asset": "Asset fairness", "ceei": "CEEI"}
"""How the paper calls the policies; others go by their own name."""


@dataclass(frozen=True)
class Part:
    """What one user, or all the others together, hold in one picture."""

    name: str
    ink: str
    members: np.ndarray


def title_of(policy: str, integer: bool = False) -> str:
    """Return what a picture of the policy is called."""
    return TITLES.get(policy, policy) + (", whole tasks" if integer else "")


def parts_of(users: Sequence[str], shares: Sequence[np.ndarray]) -> list[Part]:
    """Return the parts of the columns, from the shares (n, m) of every picture they stand in."""
    room, everyone = len(USER_INKS), np.arange(len(users))
    if len(users) <= room:
        return [
            Part(user, ink, everyone[i : i + 1]) for i, (user, ink) in enumerate(zip(users, USER_INKS, strict=False))
        ]
    # One ranking for all pictures, so that a user keeps its colour from one to the next.
    largest = np.max([share.max(axis=1) for share in shares], axis=0)
    chosen = np.sort(np.argsort(-largest, kind="stable")[: room - 1])
    others = np.setdiff1d(everyone, chosen)
    named = [Part(users[i], ink, everyone[i : i + 1]) for i, ink in zip(chosen.tolist(), USER_INKS, strict=False)]
    return [*named, Part(f"{len(others)} others", "others", others)]
