"""What sums a division up in one number, before and after a change and along a sweep."""

from collections.abc import Callable
from typing import Any

from ..base.numbers.enclosures import least
from ..model.allocation import Allocation

__all__ = ["TOTALS"]


def _lowest(allocation: Allocation) -> Any:
    """Return the lowest level of those who are placed and may run something."""
    instance = allocation.instance
    taking_part = ~instance.unplaced(allocation.integer) & (instance.limits > 0)
    return least(allocation.levels[taking_part].tolist())


TOTALS: dict[str, Callable[[Allocation], Any]] = {
    "lowest level": _lowest,
    "sum of dominant shares": lambda allocation: sum(allocation.dominant_shares.tolist()),
    "tasks": lambda allocation: sum(allocation.tasks.tolist()),
}
"""The numbers by name."""
