"""An allocation and its proof as the data of a certificate file: self-contained, every amount exact.

Schema, version 1 (``"schema": "drfopt certificate 1"``).  Every amount is text such as ``"63/25"``, or ``"0x3f/0x19"``
where it is long, or ``"63/25*L1"``, a multiple of what is long; in a file of floats tasks and levels are numbers.

    schema, program           what this is, and what wrote it
    instance                  the keys of an instance file
    policy, integer           the claim: these tasks are the policy's answer, of whole tasks or divisible ones
    users                     in the instance's order: name, tasks (or lower and upper), level
    placement                 {user: {class: tasks}}, for machines
    types                     {user: [{tasks, placement: {class: tasks}}]} of task types on machines, in their order
    long                      {name: amount}: long amounts that others are multiples of, such as L1
    proof.rounds              leximin: a list of level, finished (names), prices of one unit at that level, and of
                              ceilings of groups {group: {resource: price}}
    proof.promises            markets and sums under rules: rounds that keep the guarantees, of prices alone
    proof.alone               tsf of users with several types on machines, what each could run alone: {user: placement,
                              a list of {class: tasks} type by type, and prices {class: {resource: price}}}
    proof.prices              sums, CEEI, alpha: prices of one unit, {resource: price} or {class: {resource: price}}
    proof.ceilings            prices of one unit of the ceilings of groups, beside those of resources
    proof.point               enclosures: an allocation {user: tasks} that is possible, and nearly optimal
    proof.packing             whole tasks on machines: a list of class, machines, tasks of each user on one of them;
                              devices: of each resource those of one machine that are shared, tasks of each user on it
    proof.trees               whole tasks: a tree for each level of a leximin, or tier of a sum or product; its nodes,
                              a branch (user, or class and load; most; for levels tasks), or a leaf (prices of resources
                              or of tasks, of resources of classes and of parts of their devices, and multipliers of
                              levels, and of rounded rows, integers in proportion; of a sum or product `held`, by
                              turn, what tiers before it count for), or what is written as a leaf and `tightens` the
                              bounds of what follows.  In front of a level's are rounded rows: multipliers as of a
                              leaf, the divisor, and whose option that is its base is another than in the row before
                              (base: {user: tasks}; before the first it is that of most tasks)
    proof.bounds              a leximin of whole tasks that is not all proven: of each level from the first that is not
                              the most it can be, as what so many tasks are worth to a user, and the tree of it
    proof.servers             per-server of whole tasks: the trees of one machine of each entry of the packing
    proof.tiers               markets and sums in turns: of each turn prices and ceilings, `full` (prices at which
                              all is spent after it), and of sums `held`, what a unit of each sum before counts for (of
                              which who verifies takes the turns, and works out the numbers)
    proof.answer              of floats that are roundings of an exact answer: its users, placement, types and proof, as
                              they would stand in a file of their own

Prices that are 0 are left out.  A pool needs no rounds: its levels are their own proof.

The proof of whole tasks is trees of multipliers in names.  A tree is a list: a branch, its part below, its part above,
down to the leaves.  Numbers are text, since they are longer than floats are.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np

from ..base.numbers.enclosures import Enclosure, LongNumbers
from ..model.allocation import Allocation
from ..model.document import as_text
from ..model.document import document as instance_document
from ..model.evidence import Evidence, Text, type_names
from ..model.instance import Instance
from ..model.monopolies import monopolies_written
from ..model.policies import Policy
from ..model.whole_values import WholeUsers
from .level_bounds import BoundedLevel
from .level_claims import LevelClaim
from .packing_bound import Machines, Pool
from .refutation import Refutation
from .rounded_rows import Rounding
from .verifier import SCHEMA
from .verifier.claims import Claim
from .verifier.cluster import Cluster

__all__ = ["Names", "bound_trees", "certificate_document", "document", "level_trees", "stated"]

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
        classes: Node = {}
        devices: Node = {}
        for k, (name, row) in enumerate(zip(self.instance.machine_names, rows[1:], strict=True)):
            if worth.loads[k] is None:
                classes[name] = _row(resources, row[: len(resources)])
                sized = [(one.resource, _row(list(map(str, one.parts)), prices)) for one, prices in worth.sized(k, row)]
                if priced := {resource: prices for resource, prices in sized if prices}:
                    devices[name] = priced
        named = {"tasks": tasks, "classes": classes, "devices": devices}
        return {what: prices for what, prices in named.items() if prices or what == "tasks"} | capped

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


class _Trees:
    """Trees of claims about levels, with users as the names of those who are alike."""

    def __init__(self, users: WholeUsers, worth: Pool | Machines):
        self.users, self.worth = users, worth
        self.names = Names(users.instance, [rows[0] for rows in users.shapes])
        first = [users.instance.users[users.members[alike[0]]] for _, _, alike in users.kinds]
        self.kinds = {(sequence, scale): name for (sequence, scale, _), name in zip(users.kinds, first, strict=True)}

    def nodes(self, claim: LevelClaim, proof: Refutation) -> Iterator[Node]:
        """Yield the nodes of the tree that refutes a claim."""
        options = [(choice, tasks) for choice in claim.choices for tasks, _ in choice.options]
        base = np.cumsum([len(choice.options) for choice in claim.choices]) - 1
        for row in proof.rows:
            changed = [options[at] for at in np.array(row.base)[base != row.base].tolist()]
            base = np.array(row.base)
            yield self._multipliers(row) | {
                "divisor": str(row.divisor),
                "base": {self.kinds[choice.sequence, choice.scale]: tasks for choice, tasks in changed},
            }
        waiting = [proof]
        while waiting:
            tree = waiting.pop()
            waiting += reversed(tree.parts)
            if tree.low is None:
                found = self._multipliers(tree) | ({"rounds": list(map(str, tree.rounds))} if any(tree.rounds) else {})
                yield found | ({"tightens": True} if tree.then is not None else {})
                continue
            if isinstance(tree.column, tuple) and isinstance(self.worth, Machines):
                yield self.names.load(tree.column, self.worth) | {"most": tree.most}
            else:
                choice, tasks = options[tree.column]
                yield {
                    "user": self.kinds[choice.sequence, choice.scale],
                    "tasks": tasks,
                    "most": tree.most,
                }

    def _multipliers(self, of: Refutation | Rounding) -> Node:
        return self.names.prices(of.prices, self.worth) | {"levels": list(map(str, of.counts))}

    def worth_so_much(self, value: int) -> Node:
        """Return some user, and how many of its tasks are worth a value."""
        scales = zip(self.users.members, self.users.scales, strict=True)
        i, scale = next((i, scale) for i, scale in scales if scale.value(scale.least(value)) == value)
        return {"user": self.users.instance.users[i], "tasks": scale.least(value)}


def level_trees(
    users: WholeUsers, worth: Pool | Machines, proven: Sequence[tuple[LevelClaim, Refutation]]
) -> list[list[Node]]:
    """Return the trees of all levels."""
    trees = _Trees(users, worth)
    return [list(trees.nodes(claim, proof)) for claim, proof in proven]


def bound_trees(users: WholeUsers, worth: Pool | Machines, bounds: Sequence[BoundedLevel]) -> list[Node]:
    """Return why levels that are not proven are no higher, from the lowest up to the first that nothing refutes."""
    trees = _Trees(users, worth)
    return [
        {"most": trees.worth_so_much(one.bound), "tree": list(trees.nodes(one.claim, one.refuted))}
        for one in takewhile(lambda one: one.refuted is not None, bounds)
        if one.refuted is not None
    ]


def _plain(value: Any) -> Any:
    return {"lower": value.lower, "upper": value.upper} if isinstance(value, Enclosure) else value


def certificate_document(allocation: Allocation) -> dict[str, Any]:
    """Return what ``drfopt solve --certificate`` writes, as plain data."""
    found = document(
        allocation.instance,
        allocation.policy,
        allocation.tasks,
        allocation.levels,
        allocation.placement,
        allocation.certificate.evidence,
        integer=allocation.integer,
    )
    return found | ({"types": types} if (types := allocation.types) is not None else {})


def stated(instance: Instance, policy: Policy, tasks: Sequence[int]) -> Claim:
    """Return the verifier's claim that whole tasks (n,) are the answer.

    Raises
    ------
    ValueError
        When the verifier does not read it.
    """
    counts, unmeasured = np.array(tasks, dtype=np.int64), [None] * instance.n
    data = document(instance, policy.name, counts, unmeasured, None, Evidence(), integer=True)
    return Claim(Cluster(data["instance"]), data)


def document(
    instance: Instance,
    policy: str,
    tasks: np.ndarray,
    levels: Iterable[Any],
    placement: np.ndarray | None,
    evidence: Evidence,
    *,
    integer: bool = False,
    written: bool = True,
) -> dict[str, Any]:
    """Return the data of a certificate: tasks (n,), placed as (n, k), and what the proof is made of.

    What is not to be `written` keeps its fractions as such, for a verifier in the same program.
    """
    long = LongNumbers()
    text: Text = long.text if written else _plain
    found: dict[str, Any] = {
        "schema": SCHEMA,
        "instance": as_text(instance_document(instance)),
        "policy": policy,
        "integer": integer,
    }
    found |= _answer(instance, policy, tasks, levels, placement, evidence, text)
    return found | ({"long": long.table} if long.table else {})


def _answer(
    instance: Instance,
    policy: str,
    tasks: np.ndarray,
    levels: Iterable[Any],
    placement: np.ndarray | None,
    evidence: Evidence,
    text: Text,
) -> dict[str, Any]:
    """Return what everybody has, where that runs, and the proof."""
    exact = tasks.dtype == object

    def amount(value: Any) -> Any:
        return text(value) if exact else value.item() if isinstance(value, np.generic) else value

    rows = zip(instance.users, tasks, levels, strict=True)
    found: dict[str, Any] = {"users": [{"name": name, "tasks": amount(x), "level": amount(y)} for name, x, y in rows]}
    types = instance.type_table
    if placement is not None and types is not None and len(placement) == len(types.owner):
        # Told type by type, as they were placed.
        rows_of = {i: placement[types.owner == i] for i, kinds in enumerate(instance.task_types or ()) if kinds}
        found["types"] = {
            instance.users[i]: [
                {
                    "tasks": amount(sum(row)),
                    "placement": {c: amount(z) for c, z in zip(instance.machine_names, row, strict=True) if z},
                }
                for row in mine
            ]
            for i, mine in rows_of.items()
        }
        placement = types.summed(placement)
    if placement is not None:
        found["placement"] = {
            user: {c: amount(z) for c, z in zip(instance.machine_names, row, strict=True) if z}
            for user, row in zip(instance.users, placement, strict=True)
        }
    if (one := evidence.unrounded) is not None:
        proven = _answer(instance, policy, one.tasks, one.levels, one.placement, one.evidence, text)
        return found | {"proof": {"answer": proven}}
    return found | {"proof": evidence.written(instance, text) | monopolies_written(instance, policy, text)}
