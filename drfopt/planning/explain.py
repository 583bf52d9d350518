"""Why a user has what she has: her level, what stopped her and whom it stopped besides, and what would raise it."""

from dataclasses import dataclass
from typing import Any

from ..allocation import Allocation
from ..errors import InstanceError, suggestion
from ..instance import Instance
from ..policies import Policy
from ..solve import solve
from ..tables import Bar, Column, Sheet

__all__ = ["Explained", "Explanation", "explain"]


@dataclass(frozen=True)
class Explained:
    """Why one user has what she has.

    Attributes
    ----------
    user : str
    level, tasks, share : float
        Her weighted level under the policy, her tasks, her dominant share.
    reason : str
        ``limit``, ``unplaced``, ``capacity``, or ``efficiency`` where a sum does not owe her anything.
    stopped_by : tuple of str
        The resources, or ``class/resource``, that hold her where she is; empty at her limit and unplaced.
    shared_with : tuple of str
        Others who are held by the same.
    alone_tasks, alone_level : float
        What she would have with her part of every machine, by weight, to herself.
    gain : float or None
        By what part her level is above that; None where she would have nothing alone.
    remedy : str
        One sentence on what would raise her level.
    """

    user: str
    level: float
    tasks: float
    share: float
    reason: str
    stopped_by: tuple[str, ...]
    shared_with: tuple[str, ...]
    alone_tasks: float
    alone_level: float
    gain: float | None
    remedy: str

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of ``drfopt explain --json``."""
        return {
            "name": self.user,
            "level": self.level,
            "tasks": self.tasks,
            "dominant_share": self.share,
            "reason": self.reason,
            "stopped_by": list(self.stopped_by),
            "shared_with": list(self.shared_with),
            "alone": {"tasks": self.alone_tasks, "level": self.alone_level},
            "gain": self.gain,
            "remedy": self.remedy,
        }


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why the users have what they have, one entry each."""

    instance: Instance
    policy: str
    allocation: Allocation
    users: tuple[Explained, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the object that ``drfopt explain --json`` prints."""
        return {
            "instance": self.instance.name,
            "policy": self.policy,
            "users": [row.to_dict() for row in self.users],
            "unplaced": list(self.allocation.unplaced),
        }

    def sheet(self) -> Sheet:
        """Return the table: a row a user."""
        columns = (
            Column("user"),
            Column("tasks", number=True),
            Column("level", number=True),
            Column("dominant share", number=True),
            Column("stopped by"),
            Column("with", number=True),
            Column("alone", number=True),
            Column("gain", number=True),
        )
        rows = [
            (
                row.user,
                row.tasks,
                row.level,
                Bar(row.share),
                ", ".join(row.stopped_by) or row.reason,
                len(row.shared_with),
                row.alone_tasks,
                None if row.gain is None else f"{row.gain:+.1%}",
            )
            for row in self.users
        ]
        return Sheet(f"{self.policy}, why", columns, rows, (), document=self.to_dict())

    def __str__(self) -> str:
        return self.sheet().text()

    def _repr_html_(self) -> str:
        return self.sheet().html()


def explain(instance: Instance, policy: str | Policy = "drf", user: str | None = None) -> Explanation:
    """Return why the users, or one of them, have what they have."""
    if user is not None and user not in instance.users:
        raise InstanceError(f"there is no user {user!r}{suggestion(user, instance.users)}")
    allocation = solve(instance, policy)
    return Explanation(instance, allocation.policy, allocation, ())
