"""What stops users where nothing is known of the notion but its answer: a formulation file, or every machine by itself.

A user is stopped by what is used up where it could run more: on each class on which its task fits, a resource that it
needs and of which nothing is left.  If there is a class with room for more of its tasks, the notion gives it no more.

Sets    J_k   resources of class k (of the pool) of which nothing is left: what runs there uses all, up to rounding
        K_i   classes on which a task of user i fits

        i is stopped   iff   for every k in K_i some j in J_k has d_ij > 0
"""

import numpy as np

from ...model.allocation import Allocation
from .tried_remedies import RemedyTrials

__all__ = ["UsedUpTrials", "used_up"]

LEFT = 1e-6
"""Part of a capacity that a modelling language's solver may leave of what is used up."""


def used_up(allocation: Allocation) -> list[tuple[str, ...]]:
    """Return what stops each user, by name; nothing for those of whose tasks more would fit."""
    instance = allocation.instance
    demands, placement = instance.demands, allocation.placement
    fits = np.ones((instance.n, 1), dtype=bool) if instance.fits is None else instance.fits
    used = (allocation.used if placement is None else placement.T.astype(float) @ demands).reshape(fits.shape[1], -1)
    full = used >= instance.room * (1 - LEFT)
    names = instance.machine_names if instance.machines is not None else ("",)
    found = []
    for i in range(instance.n):
        held = fits[i][:, None] & full & (demands[i] > 0)
        stopped = bool((held.any(axis=1) | ~fits[i]).all())
        cells = np.argwhere(held).tolist() if stopped else []
        found.append(tuple(f"{names[k]}/{instance.resources[j]}".lstrip("/") for k, j in cells))
    return found


class UsedUpTrials(RemedyTrials):
    """Sentences for the users of an answer that is all that is known of its notion."""

    def __init__(self, allocation: Allocation, thorough: bool, stopping: list[tuple[str, ...]]):
        super().__init__(allocation, thorough)
        self.stopping = stopping

    def held_by(self, i: int) -> tuple[str, ...]:
        """Return what stops user i."""
        return self.stopping[i]
