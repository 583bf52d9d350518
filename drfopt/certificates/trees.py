"""The proof of whole tasks as data: trees of multipliers in names, which `drfopt.certificates.verifier` reads.

A tree is a list: a branch, its part below, its part above, down to the leaves.  Numbers are text, since they are longer
than floats are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..model.evidence import type_names
from ..model.instance import Instance
from ..model.whole_values import WholeUsers
from .level_claims import LevelClaim
from .packing_bound import Machines, Pool
from .refutation import Refutation

__all__ = ["Names", "level_trees"]

Node = dict[str, Any]


@dataclass(frozen=True)
class Names:
    """What rows of a proof are called: users (n,), resources, classes, and the user that stands for each shape."""

    instance: Instance
    shapes: Sequence[int]

    def prices(self, prices: Sequence[Sequence[Any]], worth: Pool | Machines) -> Node:
        """Return the prices of a leaf; those that are 0 are left out."""
        resources, rows = self.instance.resources, [list(row) for row in prices]
        if isinstance(worth, Pool):
            m = len(resources)
            return {"prices": _row(resources, rows[0][:m])} | self.capped(rows[0][m:])
        capped = self.capped(rows.pop() if worth.ceilings else [])
        tasks = _row([self.labels[i] for i in self.shapes], rows[0])
        named = zip(self.instance.machine_names, worth.loads, rows[1:], strict=True)
        classes = {name: _row(resources, row) for name, loads, row in named if loads is None}
        return {"tasks": tasks} | ({"classes": classes} if classes else {}) | capped

    def capped(self, prices: Sequence[Any]) -> Node:
        """Return the prices of the ceilings of groups."""
        groups = () if self.instance.organisation is None else self.instance.organisation.groups
        named = [(group.name, resource) for group in groups for resource in group.ceiling]
        found: Node = {}
        for (group, resource), price in zip(named, prices, strict=False):
            if price:
                found.setdefault(group, {})[resource] = str(price)
        return {"ceilings": found} if found else {}

    @property
    def labels(self) -> list[str]:
        """What the rows of the cluster by types are called: users, or their types."""
        return type_names(self.instance)

    def load(self, key: tuple[int, tuple[int, ...]], worth: Machines) -> Node:
        """Return which load of which class a branch is about."""
        k, load = key
        who = (self.labels[self.shapes[s]] for s in worth.fitting[k])
        return {
            "class": self.instance.machine_names[k],
            "load": {name: x for name, x in zip(who, load, strict=True) if x},
        }


def _row(names: Sequence[str], prices: Sequence[Any]) -> dict[str, str]:
    return {name: str(price) for name, price in zip(names, prices, strict=True) if price}


def level_trees(
    users: WholeUsers, worth: Pool | Machines, proven: Sequence[tuple[LevelClaim, Refutation]]
) -> list[list[Node]]:
    """Return the trees of all levels."""
    instance = users.instance
    names = Names(instance, [rows[0] for rows in users.shapes])
    kinds: dict[Any, str] = {}
    for p, i in enumerate(users.members):
        counts = users.sequences[p].counts if len(users.goods_of[p]) > 1 else (1,)
        kinds.setdefault((users.goods_of[p], counts, users.scales[p]), instance.users[i])

    def nodes(claim: LevelClaim, proof: Refutation) -> Iterator[Node]:
        options = [(choice, tasks) for choice in claim.choices for tasks, _ in choice.options]
        waiting = [proof]
        while waiting:
            tree = waiting.pop()
            if tree.low is None or tree.high is None:
                yield names.prices(tree.prices, worth) | {"levels": list(map(str, tree.counts))}
                continue
            waiting += [tree.high, tree.low]
            if isinstance(tree.column, tuple) and isinstance(worth, Machines):
                yield names.load(tree.column, worth) | {"most": tree.most}
            else:
                choice, tasks = options[tree.column]
                yield {
                    "user": kinds[choice.sequence.rows, choice.sequence.counts, choice.scale],
                    "tasks": tasks,
                    "most": tree.most,
                }

    return [list(nodes(claim, proof)) for claim, proof in proven]
