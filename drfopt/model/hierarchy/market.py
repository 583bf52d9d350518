"""What an organisation is to a market, or to a sum: floors, incomes that go down the tree, and ceilings.

A market gives everybody an income and lets it buy tasks at prices.  So

*   a guarantee is a floor: nobody has less than its guarantee is worth, as far as all of them fit together (they are
    kept as in a leximin: to one part of each, as far as that goes; who is stopped there stays there);
*   a group's income is what its weight is worth among its siblings of the income above, and goes on to its members by
    their weights.  Who is in no group has its weight; of sums, in which weights play no part, nothing changes;
*   a ceiling of a group is a capacity with a price of its own, which every member pays for what it uses of it;
*   tiers, and weights of 0, are markets in turn, as they are leximins in turn: the first tier buys as if nobody came
    after it, but for what later ones are promised; then it is held, a market at its tasks, which are unique, and a sum
    at its value, and the next tier buys what is left.  Siblings of one rank share the income of the group above.

Levels above or in terms of guarantees are no amounts that could be bought, and tiers inside a group that has others
beside it are in no one order with these: `Policy.check` refuses them.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..instance import Instance
from ..policies import Policy
from .clock import Clock
from .tree import members_of

__all__ = ["MarketRules", "incomes_of", "market_rules", "sums_in_turn"]


@dataclass(frozen=True, eq=False)
class MarketRules:
    """Rules of an organisation as a market knows them, user by user of the instance.

    Attributes
    ----------
    clock : Clock
        The same organisation under a leximin, whose first stage keeps the guarantees.
    incomes : array (n,)
        Weights in the objective.
    rates : array (n,)
        Level of one task: the policy's share over the income.
    ceilings : array (b, n)
        What one task uses of each ceiling, as a part of it.
    names : tuple of str (b,)
    """

    clock: Clock
    incomes: np.ndarray
    rates: np.ndarray
    ceilings: np.ndarray
    names: tuple[str, ...]

    @property
    def turns(self) -> np.ndarray:
        """In which turn everybody is served, (n,)."""
        turns = self.clock.organisation.in_turn
        return np.array([0] * self.clock.instance.n if turns is None else turns, dtype=np.intp)


def market_rules(instance: Instance, policy: Policy, exact: bool = False) -> MarketRules:
    """Return the rules of an instance's organisation under a market or a sum that takes them (`Policy.check`).

    Numbers are floats, or where it is to be `exact` fractions.
    """
    leximin = replace(policy, objective="leximin")
    clock = Clock(instance, leximin, exact)
    kind: Any = object if exact else np.float64
    weights = np.array([clock.zero + 1] * instance.n, dtype=kind)
    incomes = weights
    if policy.weights != "none":
        weights = np.array(list(instance.exact_weights), dtype=kind) if exact else instance.weights
        incomes = np.array(incomes_of(clock, weights.tolist()), dtype=kind)
    # The clock's rows count what is counted in shares; weighted, a level of a task is the largest of them.
    shares = clock.leaves.rows.max(axis=1) * weights
    first = instance.m + 1
    columns = [clock.columns[:, first + b] / (clock.room[first + b] or 1) for b in range(len(clock.ceilings))]
    return MarketRules(
        clock,
        incomes,
        shares / incomes,
        np.array(columns, dtype=kind).reshape(len(columns), instance.n),
        tuple(f"{group} ceiling of {instance.resources[j]}" for group, j in clock.ceilings),
    )


def incomes_of(clock: Clock, weights: list[Any]) -> list[Any]:
    """Return every user's income: its weight, or its part of its group's; in floats or fractions, as weights are."""
    instance, organisation = clock.instance, clock.organisation
    one = type(weights[0]) if weights else float
    incomes = list(weights)
    parts: dict[str, Any] = {"": one(1)}
    below = members_of(organisation, instance.n)
    for group in organisation.groups:  # parents before children
        parts.setdefault(group.name, one(0))
    # Siblings of one rank share by weight; those of the root have their weights as they are.
    for name in parts:
        ranks: dict[tuple[int, bool], list[tuple[Any, int | str]]] = {}
        for i in (i for i in below[name].tolist() if organisation.paths[i] == name):
            ranks.setdefault((organisation.tiers[i], organisation.last[i]), []).append((weights[i], i))
        for group in (group for group in organisation.groups if group.parent == name):
            rank = (group.tier, not group.weight)
            ranks.setdefault(rank, []).append((one(group.weight or 1), group.name))
        for siblings in ranks.values():
            share = one(1) if not name else parts[name] / sum((weight for weight, _ in siblings), one(0))
            for weight, who in siblings:
                if isinstance(who, str):
                    parts[who] = weight * share
                else:
                    incomes[who] = weight * share
    return incomes


def sums_in_turn(instance: Instance, levels: np.ndarray) -> list[Any]:
    """Return the sums of levels (n,) of each tier, the first one first; one of all where there is no order."""
    rules = instance.organisation
    turns = (0,) * instance.n if rules is None or rules.in_turn is None else rules.in_turn
    found = [levels[0] * 0] * (1 + max(turns))
    for turn, level in zip(turns, levels.tolist(), strict=True):
        found[turn] += level
    return found
