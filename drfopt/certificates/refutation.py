"""Refuting a claim by multipliers and branches: what such a refutation is, and whether it contradicts the claim.

With any multipliers, >= 0, for what the cluster can run (prices) and for the numbers of users who may stop at each
level, a claim is contradicted by

    sum over users of the price of her cheapest option: tasks times price, plus the multiplier of its level
        >  what all that the cluster can run is worth + sum of multipliers times numbers allowed

Both sides are integers, and this is all that is believed.  Multipliers that do not contradict still say how many users
at most can take an option, or at least have to (`claim_options`).  A branch is upon how many take some option, or how
many machines of a class have some load: at most so many, or more; each leaf of the tree has multipliers of its own.
Rows that whole numbers of users keep (`rounded_rows`) hold in the whole tree of a pool, and have multipliers too.

How one is found is of no concern here: `drfopt.certificates.branch_and_cut`.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from operator import mul
from typing import Any

import numpy as np

from ..model.whole_values import SAFE
from .claim_options import Bounds, ClaimOptions, OptionNeeds
from .level_claims import LevelClaim
from .packing_bound import Bounds as LoadBounds
from .packing_bound import Machines, Pool, Prices
from .rounded_rows import Rounding, Row, rounded

__all__ = ["Checks", "Left", "Refutation", "holds"]


@dataclass(frozen=True)
class Refutation:
    """A leaf (multipliers), a branch of the tree that refutes a claim, or multipliers that tighten bounds for `then`.

    Attributes
    ----------
    prices, counts, rounds
        Of a leaf, or what tightens: multipliers of what can be run, of the rows of the claim, and of rounded rows.
    column : int or (class, load)
        At a branch: the option, or the load, that at most
    most : int
        users, or machines, have below `low`, and more of them below `high`.
    rows : tuple of Rounding
        Of the whole tree: rows that may have multipliers in it.
    """

    prices: Prices = ()
    counts: tuple[int, ...] = ()
    rounds: tuple[int, ...] = ()
    column: Any = -1
    most: int = 0
    low: "Refutation | None" = None
    high: "Refutation | None" = None
    then: "Refutation | None" = None
    rows: tuple[Rounding, ...] = ()

    @property
    def parts(self) -> "tuple[Refutation, ...]":
        """What is below it, in the order in which it is written."""
        return tuple(part for part in (self.low, self.high, self.then) if part is not None)

    @property
    def alone(self) -> bool:
        """Whether it is one leaf, which needs no rounded rows."""
        return not self.parts and not self.rows

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return sum(part.leaves for part in self.parts) or 1


def holds(claim: LevelClaim, worth: Pool | Machines, proof: Refutation) -> bool:
    """Say whether a refutation contradicts a claim; in integers, and without a solver."""
    return Checks(claim, worth).prove(proof)


class Checks:
    """What multipliers say of a claim within bounds, in integers."""

    def __init__(self, claim: LevelClaim, worth: Pool | Machines, options: ClaimOptions | None = None):
        self.claim, self.worth, self.options = claim, worth, options or ClaimOptions(claim)
        self.rows: list[Row] = []

    @cached_property
    def needs(self) -> OptionNeeds | None:
        """What options need of a pool; None on machines."""
        return OptionNeeds.of(self.options, self.worth) if isinstance(self.worth, Pool) else None

    def only(self, kept: np.ndarray) -> "Checks":
        """Return the checks of some options, where nobody can take another."""
        some = Checks(self.claim, self.worth, self.options.only(kept))
        some.needs = None if self.needs is None else self.needs.only(kept)
        some.rows = [Row(row.costs[kept], row.most) for row in self.rows]
        return some

    def prove(self, proof: Refutation) -> bool:
        """Say whether a refutation contradicts the claim."""
        return self.proven(proof) is not None

    def proven(self, proof: Refutation) -> Refutation | None:
        """Return as much of a refutation as contradicts the claim, so that no more follows; None where it does not."""
        self.rows = []
        for row in proof.rows:
            self.add(row)
        chain, node, bounds = list[Refutation](), proof, self.options.free
        while node.then is not None and (left := self.left(node, bounds, {})) is not None:
            chain.append(node)
            node, bounds = node.then, left.bounds
        held = node.then is not None or self.hold(node, bounds)
        self.rows = []
        if held and node.then is not None:
            proof = replace(node, then=None)
            for before in reversed(chain):
                proof = replace(before, then=proof)
        return proof if held else None

    def add(self, how: Rounding) -> None:
        """Add a rounded row; one that says nothing where its multipliers do not."""
        found = self._priced(Refutation(how.prices, how.counts), self.options.free, {})
        prices, total = (None, 0) if found is None else found
        if prices is None or how.divisor < 1:
            row = Row(np.zeros(len(self.options.choice), dtype=np.int64), 0)
        else:
            prices = prices if total < SAFE else prices.astype(object)
            costs, most = rounded(self.options, prices, total, how.divisor, np.array(how.base))
            row = Row(costs, int(most))
        self.rows.append(row)

    def hold(self, proof: Refutation, bounds: Bounds | None = None, loads: LoadBounds | None = None) -> bool:
        """Say whether a refutation contradicts the claim within bounds."""
        bounds, loads = self.options.free if bounds is None else bounds, {} if loads is None else loads
        if proof.low is not None and proof.high is not None:
            below, beyond = self.branches(proof.column, proof.most, bounds, loads)
            return self.hold(proof.low, *below) and self.hold(proof.high, *beyond)
        if proof.then is None:
            return self.contradict(proof, bounds, loads)
        left = self.left(proof, bounds, loads)
        return left is None or self.hold(proof.then, left.bounds, loads)

    def branches(
        self, column: Any, most: int, bounds: Bounds, loads: LoadBounds
    ) -> tuple[tuple[Bounds, LoadBounds], tuple[Bounds, LoadBounds]]:
        """Return the bounds on both sides of a branch."""
        if not isinstance(column, tuple):
            return (bounds.below(column, most), loads), (bounds.beyond(column, most), loads)
        low, high = loads.get(column, (0, self.worth.counts[column[0]] if isinstance(self.worth, Machines) else 0))
        below, beyond = {column: (low, min(high, most))}, {column: (max(low, most + 1), high)}
        return (bounds, loads | below), (bounds, loads | beyond)

    def left(self, leaf: Refutation, bounds: Bounds, loads: LoadBounds) -> "Left | None":
        """Return what multipliers leave of the claim within bounds: None where they contradict it."""
        found = self._priced(leaf, bounds, loads)
        if found is None:
            return None
        prices, total = found
        if prices is None:
            return Left(0, bounds)
        least, taken = self.options.least(prices, bounds)
        if least > total:
            return None
        return Left(total - least, self.options.tightened(prices, bounds, taken, total - least))

    def contradict(self, leaf: Refutation, bounds: Bounds, loads: LoadBounds) -> bool:
        """Say whether multipliers contradict the claim within bounds."""
        found = self._priced(leaf, bounds, loads)
        if found is None:
            return True
        prices, total = found
        return prices is not None and self.options.cost(prices, bounds) > total

    def _priced(self, leaf: Refutation, bounds: Bounds, loads: LoadBounds) -> tuple[np.ndarray | None, int] | None:
        """Return what options cost, and may cost in all; None where nobody can choose so, no costs that say nothing."""
        if not self.options.able(bounds):
            return None
        if min((0, *leaf.counts, *leaf.rounds, *chain(*leaf.prices))) < 0:
            return None, 0
        if (found := self.worth.priced(leaf.prices, loads)) is None:
            # No machines have such loads; or, without bounds, prices say nothing.
            return None if loads and self.worth.priced(leaf.prices) is not None else (None, 0)
        costs, total = found
        total += sum(map(mul, leaf.counts, self.claim.allowed)) - sum(map(mul, costs, self.claim.fixed))
        prices = self.options.prices(costs, leaf.counts)
        for times, row in zip(leaf.rounds, self.rows, strict=False):
            if times:
                prices = _sum(prices, times, row.costs, int(self.options.number.sum()))
                total += times * row.most
        return prices, total


def _sum(prices: np.ndarray, times: int, costs: np.ndarray, users: int) -> np.ndarray:
    """Return prices with so many times other costs, in Python's integers where numpy's do not suffice."""
    most = int(prices.max(initial=0)) + times * int(costs.max(initial=0))
    if most * max(1, users) >= SAFE:
        prices, costs = prices.astype(object), costs.astype(object)
    return prices + times * costs


@dataclass(frozen=True)
class Left:
    """By how much multipliers miss a contradiction, and the bounds that they tighten."""

    slack: int
    bounds: Bounds
