"""What proves an answer: a dataclass for each kind of proof, which its engine fills in and its certificate reads.

Prices of whole classes are of all that a class has; those of one
unit are what the stated objective would gain by it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from .devices import Dealt
from .instance import Instance
from .packings import dealt
from .whole_values import by_types

__all__ = [
    "BottleneckEvidence",
    "BoundsEvidence",
    "ChainEvidence",
    "Evidence",
    "PriceEvidence",
    "QuotedEvidence",
    "Round",
    "StopEvidence",
    "TierEvidence",
    "Unrounded",
    "WholeEvidence",
    "type_names",
]


Text = Callable[[Any], Any]
"""What an exact value becomes in a document."""


@dataclass(frozen=True, eq=False)
class Round:
    """One round of a chain, in floats or in fractions.

    Attributes
    ----------
    level : number
    finished : int array
        Users finished by their multiplier in this round, as rows of the instance.
    multipliers : array (n,) or None
        None where the prices say them: a user's is then what a task of it costs where it is cheapest, over its rate.
    prices : array (k, m)
        Of the whole capacity of each class, so that their sum is the bound.
    """

    level: Any
    finished: np.ndarray
    multipliers: np.ndarray | None
    prices: np.ndarray


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """What an answer of any kind may have beside its proof; of an answer that is only feasible there is no more.

    Attributes
    ----------
    packing : list of (class, machines, {user: tasks}) or None
        How whole tasks are put on machines.
    broken : tuple of Broken
        Guarantees that do not fit together.
    below_continuous : list of (name, tasks, whole part) or None
        Of whole tasks that were rounded: who has fewer than the whole part of its continuous optimum.
    unpriced : tuple of str
        Users of a market whom guarantees or earlier tiers leave no more than they have, and who would pay for more than
        the prices say.
    closed_forms : dict from user's row to str
        Irrational tasks as numbers with a root.
    judge : str
        Who says that nothing is better, where it is no theorem.
    unrounded : Unrounded or None
        Of floats that are roundings of an exact answer that answer, of which alone the proof is.
    """

    packing: list[Any] | None = None
    broken: tuple[Any, ...] = ()
    below_continuous: list[tuple[str, int, int]] | None = None
    unpriced: tuple[str, ...] = ()
    closed_forms: dict[int, str] = field(default_factory=dict)
    judge: str = ""
    unrounded: "Unrounded | None" = None

    def devices(self, instance: Instance) -> list[Dealt | None]:
        """Return entry by entry of the packing the devices of one machine that are shared, each with its tasks."""
        packing = self.packing or []
        return dealt(by_types(instance), packing) if instance.has_devices else [None] * len(packing)

    def written(self, instance: Instance, text: Text) -> dict[str, Any]:
        """Return the proof as data, in names: ``proof`` of a certificate file."""
        if self.packing is None or instance.machines is None:
            return {}
        names = type_names(instance)
        rows: list[dict[str, Any]] = []
        for (k, count, pattern), shared in zip(self.packing, self.devices(instance), strict=True):
            row = {"class": instance.machine_names[k], "machines": int(count), "tasks": _by_name(names, pattern)}
            if shared:
                row["devices"] = {r: [_by_name(names, on) for on in all_of_it] for r, all_of_it in shared.items()}
            rows.append(row)
        return {"packing": rows}


@dataclass(frozen=True, eq=False)
class Unrounded:
    """An exact answer: tasks and levels (n,), fractions or enclosures, placed as (n, k) or by type, with its proof."""

    tasks: np.ndarray
    levels: np.ndarray
    placement: np.ndarray | None
    evidence: Evidence


@dataclass(frozen=True, eq=False, kw_only=True)
class BottleneckEvidence(Evidence):
    """A pool's levels are their own proof; `error` bounds that of every level, relative to it."""

    error: float = 0.0


@dataclass(frozen=True, eq=False, kw_only=True)
class ChainEvidence(Evidence):
    """The rounds of a leximin, in the order of their levels."""

    rounds: Sequence[Round] = ()

    def written(self, instance: Instance, text: Text) -> dict[str, Any]:
        """Return the rounds, with prices of one unit."""
        rounds = [
            {
                "level": text(Fraction(link.level)),
                "finished": [instance.users[i] for i in link.finished],
                "prices": prices_by_name(instance, link.prices, text, of_whole_classes=True),
            }
            for link in self.rounds
        ]
        return {"rounds": rounds} | super().written(instance, text)


@dataclass(frozen=True, eq=False, kw_only=True)
class PriceEvidence(Evidence):
    """Prices (m,) or (k, m) of one unit, and a bound on the relative `error` of every user's tasks.

    Of enclosures a `point` (n,) in them, and who gave the `start`.
    """

    prices: np.ndarray
    error: float | None = None
    point: np.ndarray | None = None
    start: str = ""

    def written(self, instance: Instance, text: Text) -> dict[str, Any]:
        """Return the prices, and the point."""
        table = np.asarray(self.prices)
        found = {"prices": prices_by_name(instance, table[None, :] if table.ndim == 1 else table, text)}
        if self.point is not None:
            found["point"] = {user: text(x) for user, x in zip(instance.users, self.point, strict=True)}
        return found | super().written(instance, text)


@dataclass(frozen=True, eq=False, kw_only=True)
class StopEvidence(Evidence):
    """The breakpoints of the clock of guarantees, tiers and groups, in their order."""

    breakpoints: tuple[Any, ...] = ()

    def written(self, instance: Instance, text: Text) -> dict[str, Any]:
        """Return the stops that finish somebody as rounds, with prices of one unit of resources and of ceilings."""
        rounds = self._rounds(instance, text)
        return ({"rounds": rounds} if rounds else {}) | super().written(instance, text)

    def _rounds(self, instance: Instance, text: Text) -> list[dict[str, Any]]:
        return [
            {
                "level": text(Fraction(stop.level)),
                "finished": [instance.users[i] for i in stop.finished],
                **_paid(instance, stop.prices, stop.bounds, text),
            }
            for stop in self.breakpoints
            if len(stop.finished)
        ]


@dataclass(frozen=True, eq=False, kw_only=True)
class EachStopsEvidence(Evidence):
    """Of every machine by itself the breakpoints, by class; a file needs none, as each class is a pool."""

    classes: Mapping[int, tuple[Any, ...]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class TierEvidence:
    """What proves one tier of a market or sum that is served in turns.

    Attributes
    ----------
    turn : int
        Of `Organisation.in_turn`.
    prices, bounds : arrays (k, m), (b,)
        Of one unit, and of ceilings as wholes.
    full : sequence of (prices (k, m), bounds (b,))
        Of whole classes and ceilings, at which what everybody has after this tier costs all that there is: who pays and
        comes later has no more than it is promised.
    held : dict from turn to number
        Of a sum, what a unit of each earlier tier's sum is worth in this one's, which lets none of them fall.
    """

    turn: int
    prices: np.ndarray
    bounds: np.ndarray | Sequence[Any]
    full: Sequence[tuple[np.ndarray, np.ndarray]] = ()
    held: Mapping[int, Any] = field(default_factory=dict)

    @property
    def in_floats(self) -> "TierEvidence":
        """The same, rounded."""
        prices, bounds = (np.asarray(values, dtype=np.float64) for values in (self.prices, self.bounds))
        full = [(np.asarray(p, dtype=np.float64), np.asarray(b, dtype=np.float64)) for p, b in self.full]
        return replace(self, prices=prices, bounds=bounds, full=full, held={t: float(x) for t, x in self.held.items()})

    def written(self, instance: Instance, text: Text) -> dict[str, Any]:
        """Return the tier as data."""
        ceilings = _ceilings_by_name(instance, self.bounds, text)
        return {
            "turn": self.turn,
            "prices": prices_by_name(instance, self.prices, text),
            **({"ceilings": ceilings} if ceilings else {}),
            **({"full": [_paid(instance, *each, text) for each in self.full]} if self.full else {}),
            **({"held": {str(turn): text(Fraction(x)) for turn, x in self.held.items()}} if self.held else {}),
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class BoundsEvidence(StopEvidence):
    """Prices (k, m) of one unit and `bounds` (b,) of ceilings as wholes; the breakpoints that keep the guarantees.

    `full` has prices (k, m) and (b,) at which the floors cost all that there is.  Of enclosures a `point` (n,) in them.
    Where users are served in turns, `tiers` has what proves each, and prices are those of the last.
    """

    prices: np.ndarray | None = None
    bounds: np.ndarray | Sequence[float] = ()
    full: Sequence[tuple[np.ndarray, np.ndarray]] = ()
    point: np.ndarray | None = None
    tiers: Sequence[TierEvidence] = ()

    @property
    def in_fractions(self) -> bool:
        """Whether how far guarantees are kept is proven in fractions, whatever the tasks are."""
        prices = [stop.prices for stop in self.breakpoints] + [prices for prices, _ in self.full]
        return bool(prices) and all(each.dtype == object for each in prices)

    def written(self, instance: Instance, text: Text) -> dict[str, Any]:
        """Return the prices, and those that keep the guarantees."""
        found = {} if self.prices is None else {"prices": prices_by_name(instance, np.asarray(self.prices), text)}
        if ceilings := _ceilings_by_name(instance, self.bounds, text):
            found["ceilings"] = ceilings
        if self.point is not None:
            found["point"] = {user: text(x) for user, x in zip(instance.users, self.point, strict=True)}
        promises = [*self._rounds(instance, text), *(_paid(instance, *each, text) for each in self.full)]
        in_turn = {"tiers": [tier.written(instance, text) for tier in self.tiers]} if self.tiers else {}
        promised = {"promises": promises} if promises else {}
        return found | in_turn | promised | Evidence.written(self, instance, text)


@dataclass(frozen=True, eq=False, kw_only=True)
class WholeEvidence(Evidence):
    """What is proven of whole tasks, who judged the rest, and in how many seconds.

    Attributes
    ----------
    claims : list of (level, users, refutation)
        Levels of a leximin that are proven, from the lowest.
    level, bound : Fraction or None
        The first level that is not, and the most that it could be.
    above : list of (level, users, bound)
        The levels above that, how many users have each, and the most that the place of the last of them could be.
    score : tuple
        The exact objective.
    late : bool
        Whether it was time that was wanting.
    seconds : float
    trees : callable
        Returns the proof as data, a tree for each level that is proven, or each tier of a sum.
    bounds : callable
        Returns as data why the levels that are not proven are no higher.
    better : list of int
        Tasks of every user, (n,), that are strictly better, where branch and bound met some; else empty.
    maximal : bool or None
        Of tasks not proven to be best whether nobody has room for one more, beside all that run as they are packed.
    """

    claims: list[tuple[Any, int, Any]] = field(default_factory=list)
    better: list[int] = field(default_factory=list)
    maximal: bool | None = None
    level: Any = None
    bound: Any = None
    above: list[tuple[Any, int, Any]] = field(default_factory=list)
    score: tuple = ()
    late: bool = False
    seconds: float = 0.0
    trees: Callable[[], list[Any]] = list
    bounds: Callable[[], list[Any]] = list

    def written(self, instance: Instance, text: Text) -> dict[str, Any]:
        """Return the packing, and the trees that refute whatever would be better."""
        found = {"trees": self.trees(), "bounds": self.bounds()}
        return super().written(instance, text) | {what: trees for what, trees in found.items() if trees}


@dataclass(frozen=True, eq=False, kw_only=True)
class QuotedEvidence(Evidence):
    """What a document says of a proof, and the proof as it stands there."""

    quoted: dict[str, Any]
    proof: dict[str, Any] = field(default_factory=dict)

    def written(self, instance: Instance, text: Text) -> dict[str, Any]:
        """Return the proof as it was read."""
        return self.proof


def _paid(instance: Instance, prices: np.ndarray, bounds: np.ndarray | Sequence[Any], text: Text) -> dict[str, Any]:
    """Return prices of whole classes and ceilings, of one unit of each."""
    ceilings = _ceilings_by_name(instance, bounds, text)
    found = {"prices": prices_by_name(instance, prices, text, of_whole_classes=True)}
    return found | ({"ceilings": ceilings} if ceilings else {})


def _ceilings_by_name(instance: Instance, bounds: np.ndarray | Sequence[Any], text: Text) -> dict[str, dict[str, Any]]:
    """Return prices of ceilings as wholes by the names of their groups, of one unit."""
    groups = () if instance.organisation is None else instance.organisation.groups
    named = ((group.name, resource, most) for group in groups for resource, most in group.ceiling.items())
    found: dict[str, dict[str, Any]] = {}
    for price, (group, resource, most) in zip(bounds, named, strict=False):
        if price > 0 and most:
            found.setdefault(group, {})[resource] = text(Fraction(price) / Fraction(most))
    return found


def type_names(instance: Instance) -> list[str]:
    """Return what the rows of the cluster by types are called: a user, or of one with several types each of them."""
    kinds = instance.task_types or (None,) * instance.n
    rows = zip(instance.users, kinds, strict=True)
    return [label for name, mine in rows for label in ([f"{name}:{t}" for t in range(len(mine))] if mine else [name])]


def _by_name(names: Sequence[str], tasks: Mapping[int, int]) -> dict[str, int]:
    return {names[i]: int(x) for i, x in tasks.items()}


def prices_by_name(instance: Instance, table: np.ndarray, text: Text, of_whole_classes: bool = False) -> dict[str, Any]:
    """Return prices (k, m) of a unit by name; what of them may be rounding, the reader decides."""
    pool = instance.machines is None
    capacity = [instance.exact_capacity] if pool else instance.exact_machine_capacity
    counts = [1] if pool else [machine.count for machine in instance.machines or ()]
    rows = [
        {
            r: text(Fraction(price) / (count * c) if of_whole_classes else Fraction(price))
            for r, price, c in zip(instance.resources, row, room, strict=True)
            if price > 0
        }
        for row, room, count in zip(table, capacity, counts, strict=True)
    ]
    return rows[0] if pool else {name: row for name, row in zip(instance.machine_names, rows, strict=True) if row}
