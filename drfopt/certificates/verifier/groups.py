"""The tree of groups: who is in which, and what a group's weight is worth to its members in a market."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .cluster import Cluster
from .reading import number, total
from .work import spend

__all__ = ["TreeNode", "incomes", "tree"]


@dataclass
class TreeNode:
    """A group, or with no name the root of all: its users, as rows of the instance, and the groups in it."""

    name: str
    given: dict[str, Any] = field(default_factory=dict)
    users: list[int] = field(default_factory=list)
    groups: list["TreeNode"] = field(default_factory=list)

    @property
    def weight(self) -> Fraction:
        """Its weight among its siblings."""
        return number(self.given.get("weight", 1))

    @property
    def rank(self) -> tuple[Fraction, bool]:
        """When its turn comes among its siblings: higher tiers first, in each whoever has no weight last."""
        return -number(self.given.get("tier", 0)), not self.weight

    def everyone(self) -> Iterator[int]:
        """Yield the users in it and in the groups below it."""
        yield from self.users
        for group in self.groups:
            yield from group.everyone()


def tree(cluster: Cluster) -> TreeNode:
    """Return the root; groups that are named only on the way to others have the weight 1."""
    given = {group["name"]: group for group in cluster.groups}
    found = {"": TreeNode("")}
    if len(given) < len(cluster.groups):
        raise ValueError("two groups have one name")

    def at(path: str) -> TreeNode:
        spend(0)
        if path not in found:
            found[path] = TreeNode(path, given.get(path, {}))
            at(path.rpartition("/")[0]).groups.append(found[path])
        return found[path]

    for path in given:
        at(path)
    for i, path in enumerate(cluster.paths):
        at(path).users.append(i)
    return found[""]


def incomes(cluster: Cluster) -> list[Fraction]:
    """Return what everybody has to spend: its weight, or in a group its part, by weight, of what the group has."""
    found = [row[0] for row in cluster.w]

    def divide(group: TreeNode, rate: Fraction) -> None:
        for i in group.users:
            found[i] = cluster.w[i][0] * rate
        for child in group.groups:
            sharing = total([*(cluster.w[i][0] for i in child.users), *(each.weight for each in child.groups)])
            divide(child, child.weight * rate / sharing if sharing else number(0))

    divide(tree(cluster), number(1))
    return found
