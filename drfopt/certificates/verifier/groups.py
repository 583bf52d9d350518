"""The tree of groups: who is in which, and what a group's weight is worth to its members in a market."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from .cluster import Cluster
from .reading import number, total
from .work import spend

__all__ = ["TreeNode", "incomes", "tree", "turns"]


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

    def nodes(self) -> Iterator["TreeNode"]:
        """Yield it and the groups below it, each after its parent."""
        yield self
        for group in self.groups:
            yield from group.nodes()

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
    """Return what everybody has to spend: its weight, or in a group its part, by weight, of what the group has.

    Those share who come at once; whoever comes later has all of it again, where something is left.
    """
    found = [row[0] for row in cluster.w]

    def divide(group: TreeNode, rate: Fraction) -> None:
        ranks: dict[Any, list[tuple[Fraction, int | TreeNode]]] = {}
        for i in group.users:
            ranks.setdefault(cluster.rank[i], []).append((cluster.w[i][0], i))
        for child in group.groups:
            ranks.setdefault(child.rank, []).append((child.weight or number(1), child))
        for siblings in ranks.values():
            each = rate / total(weight for weight, _ in siblings) if group.name else rate
            for weight, one in siblings:
                if isinstance(one, TreeNode):
                    divide(one, weight * each)
                else:
                    found[one] = weight * each

    divide(tree(cluster), number(1))
    return found


def turns(cluster: Cluster) -> list[int] | None:
    """Return when everybody is served, from 0 on; None where some come before others in a group beside others."""

    def served(group: TreeNode) -> list[list[int]] | None:
        """Return who is served first, and next, and so on."""
        ranks: dict[Any, list[list[list[int]] | None]] = {}
        for i in group.users:
            ranks.setdefault(cluster.rank[i], []).append([[i]])
        for child in group.groups:
            if any(True for _ in child.everyone()):
                ranks.setdefault(child.rank, []).append(served(child))
        found: list[list[int]] = []
        for rank in sorted(ranks):
            siblings = ranks[rank]
            if any(one is None or (len(one) > 1 and len(siblings) > 1) for one in siblings):
                return None
            together = [one for one in siblings if one]
            found += [[i for one in together for i in one[0]]] if len(together) > 1 else together[0]
        return found

    if (found := served(tree(cluster))) is None:
        return None
    at = {i: turn for turn, users in enumerate(found) for i in users}
    return [at[i] for i in range(len(cluster.users))]
