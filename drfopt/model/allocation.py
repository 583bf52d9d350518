"""The answer: tasks of every user, what follows from them, and the certificate that proves them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from operator import itemgetter
from typing import Any

import numpy as np

from ..base.numbers.enclosures import Enclosure, LongNumbers, beginning, text
from ..base.numbers.rationals import integer_columns, weighted_sums
from ..base.numbers.shown import DIGITS, apart, in_units, tenths, written_in
from ..base.registry import door
from ..base.results import Parts, Result
from ..base.tables import Bar, Column, Percent, Sheet
from ..base.tolerances import LEVEL
from .certificate import Certificate
from .document import as_text
from .document import document as instance_document
from .instance import Instance
from .monopolies import monopolies_written
from .naming import some
from .organisation import Broken
from .policies import exact_shares, policy_named, shares_per_task
from .shortfall import HAS_ALL, Shortfall, asked_by, counted_as_means, has_all, left_out

__all__ = ["STATUSES", "Allocation", "Portion", "stopped"]

UNFINISHED = ("time_limit", "feasible")
"""Statuses of an answer that whoever gave it does not call the best."""

STATUSES = ("optimal", "solved", *UNFINISHED)
"""All statuses of an answer."""

IN_FILES = ("branch and bound on prices", "multipliers", "nobody to judge")
"""Judges of whole tasks under rules, or of several types, whose proofs are written into files."""

LONG_BITS = 64
"""A table shows a fraction whose denominator is longer than this as a decimal."""

WRITTEN_ONCE = 8_192
"""Bits from which a fraction stands once in JSON: up to there, of some 250 users of 16 digits, whoever reads it needs
no more than that."""


@dataclass(frozen=True)
class Portion:
    """What one user has: its row of an allocation.

    Attributes
    ----------
    user : str
    tasks, level, dominant_share : number
        Floats, whole tasks ints; fractions, or enclosures of what is irrational, when asked for exact values.
    dominant_resource : str
    usage : dict from resource to number
    bottleneck : str, tuple of str, or None
        What stopped it: a resource, or ``class/resource`` on machines; of a leximin all that ran out together; None at
        its limit or where it is not known.
    placement : dict from machine class to number, or None
        Where its tasks run; None for a pool.
    asked : number or None
        Tasks that it has to run; None for no end.
    met : float or None
        Part of them that runs.
    """

    user: str
    tasks: Any
    level: Any
    dominant_resource: str
    dominant_share: Any
    usage: dict[str, Any]
    bottleneck: Any
    placement: dict[str, Any] | None
    asked: Any = None
    met: float | None = None


def _nowhere() -> None:
    """Return the placement of a pool."""


@dataclass(frozen=True, eq=False)
class Allocation(Result):
    """An allocation of the instance under a policy. Everything but the first fields is computed from the tasks.

    Attributes
    ----------
    instance : Instance
    policy : str
    tasks : array (n,)
        Tasks of each user: floats; integers where tasks are whole; fractions and enclosures (dtype object) when asked
        for exact values.
    leveled : callable
        Returns the level of each user; `levels` asks it once.
    placed : callable
        Returns the tasks of each user on each machine class, (n, k), None for a pool; `placement` asks it once.
    placed_by_type : array (q, k) or None
        The same by task type, where users have several on machines; rows as in ``instance.type_table``.
    prices : array (m,) or (k, m), or None
        Duals of the capacities in the stated objective; None for leximin and for whole tasks.
    unplaced : tuple of str
        Users whose task fits on nothing open to them.
    integer : bool
    engine : str
        Which engine answered: the one that was asked, or the one that it fell back on.
    status : str
        ``optimal`` where that is proven; ``solved``, a formulation file's own claim; ``feasible`` or ``time_limit``.
    solver : str
        Who was asked the engine's integer programs, where somebody was named.
    seconds : float
        Time to solve and to prove.
    certificate : Certificate
    """

    _schema = "drfopt allocation 1"

    instance: Instance
    policy: str
    tasks: np.ndarray
    leveled: Callable[[], np.ndarray] = field(repr=False, compare=False)
    certificate: Certificate
    placed: Callable[[], np.ndarray | None] = field(default=_nowhere, repr=False, compare=False)
    placed_by_type: np.ndarray | None = None
    prices: np.ndarray | None = None
    unplaced: tuple[str, ...] = ()
    integer: bool = False
    engine: str = ""
    solver: str = ""
    status: str = "optimal"
    seconds: float = field(default=0.0, compare=False)

    @cached_property
    def levels(self) -> np.ndarray:
        """The policy's weighted share of each user, (n,); for ``ceei`` the weighted dominant share."""
        return self.leveled()

    @cached_property
    def placement(self) -> np.ndarray | None:
        """Tasks of each user on each machine class, (n, k), on few classes where there is a choice; None for a pool.

        Found when asked for: it takes as long as another program of the size of the cluster.
        """
        return self.placed()

    @property
    def users(self) -> tuple[str, ...]:
        """Names of the users, (n,)."""
        return self.instance.users

    @property
    def resources(self) -> tuple[str, ...]:
        """Names of the resources, (m,)."""
        return self.instance.resources

    @property
    def finished(self) -> bool:
        """Whether the search for the best came to its end, and was not cut short."""
        return self.status not in UNFINISHED

    @property
    def unmet(self) -> str:
        """How guarantees are called that are broken: of a search that was cut short nobody says that they must be."""
        return "guarantees that cannot be met" if self.finished else "guarantees that are not met here"

    @property
    def exact(self) -> bool:
        """Whether tasks and levels are fractions, or enclosures of what is irrational, and no floats."""
        return self.tasks.dtype == object

    @property
    def broken(self) -> tuple[Broken, ...]:
        """Guarantees that cannot be met, with what is held instead; `status` is that of the rules' division."""
        instance, rows = self.instance, self.certificate.evidence.broken
        return tuple(replace(row, unit=instance.units[instance.resources.index(row.resource)]) for row in rows)

    @property
    def misfits(self) -> dict[str, list[str]]:
        """Of whole tasks the task types that fit nowhere and are left out, by the user who has them and is placed."""
        return self.instance.misfits if self.integer else {}

    @property
    def unpriced(self) -> tuple[str, ...]:
        """Users whom guarantees, or earlier tiers, leave no more, and who would pay for more than prices say."""
        return self.certificate.evidence.unpriced

    @property
    def broken_guarantees(self) -> list[dict[str, Any]]:
        """The same as data: whose, of what, held and promised."""
        return [
            {
                "group" if row.of_group else "user": row.owner,
                "resource": row.resource,
                "held": _plain(row.held),
                "promised": _plain(row.promised),
            }
            for row in self.broken
        ]

    @cached_property
    def shortfall(self) -> Shortfall:
        """What was asked for beside what came of it: `asked`, `met` and `missing` of every user, and who is short."""
        # Of whole tasks some types of a user may be missing and others not.
        used = self.usage.astype(float) if self.integer and self.instance.task_types is not None else None
        return Shortfall.of(self.instance, self.tasks, self.integer, self.certificate.bottlenecks, used)

    @cached_property
    def usage(self) -> np.ndarray:
        """What each user holds of each resource, (n, m); of whole tasks of several types what those types need."""
        held = self._demands * self.tasks[:, None]
        for i, counts in self._started.items():
            kinds = (self.instance.task_types or ())[i] or ()
            columns = zip(*(kind.demand for kind in kinds), strict=True)
            held[i] = [float(sum(x * need for x, need in zip(counts, column, strict=True))) for column in columns]
        return held

    @cached_property
    def _started(self) -> dict[int, list[int]]:
        """Of every user with task types, where tasks are whole: how many of each type run."""
        if not self.integer or self.instance.task_types is None:
            return {}
        return {i: self.instance.types_started(i, int(self.tasks[i])) for i in self.instance.type_fits}

    @cached_property
    def used(self) -> np.ndarray:
        """What all users hold together of each resource, (m,)."""
        if not self.exact or any(isinstance(x, Enclosure) for x in self.tasks):
            return self.usage.sum(axis=0)
        rows, scales = integer_columns(self.instance.exact_demands, self.instance.m)
        sums = weighted_sums(self.tasks, rows, self.instance.m)
        return np.array([total / scale for total, scale in zip(sums, scales, strict=True)], dtype=object)

    @cached_property
    def utilization(self) -> np.ndarray:
        """Used fraction of each resource, (m,); 0 where there is none of it."""
        return np.array([u / c if c else 0 * u for u, c in zip(self.used, self._capacity, strict=True)])

    @cached_property
    def dominant_resources(self) -> tuple[str, ...]:
        """The resource each user needs most, as a share of the cluster, (n,); ties go to the one listed first."""
        return tuple(self.resources[j] for j in self._dominant)

    @cached_property
    def dominant_shares(self) -> np.ndarray:
        """Each user's share of its dominant resource, (n,); weights are ignored, and excluded resources no shares."""
        rows = np.arange(self.instance.n)
        capacity = self._counted[self._dominant]
        held = self.usage[rows, self._dominant] if self._started else self._demands[rows, self._dominant] * self.tasks
        return np.array([h / c if c else 0 * h for h, c in zip(held, capacity, strict=True)])

    @cached_property
    def _dominant(self) -> np.ndarray:
        found = self._needed_most
        for i in self._started:  # what its types that run hold, which need not be so many of their mean
            shares = [float(u / c) if c else 0.0 for u, c in zip(self.usage[i], self._counted, strict=True)]
            if any(shares):
                found[i] = int(np.argmax(shares))
        return found

    @property
    def _needed_most(self) -> np.ndarray:
        if not self.exact:
            return np.asarray(shares_per_task(self.instance).argmax(axis=1))
        shares = [exact_shares(row, self.instance) for row in self.instance.exact_demands]
        return np.array([row.index(max(row)) for row in shares])

    @property
    def _demands(self) -> np.ndarray:
        return np.array(self.instance.exact_demands, dtype=object) if self.exact else self.instance.demands

    @property
    def _counted(self) -> np.ndarray:
        """What there is of the resources that are counted in shares, (m,); 0 of the others."""
        return np.where(self.instance.counted, self._capacity, 0 * self._capacity)

    @property
    def _capacity(self) -> np.ndarray:
        return np.array(self.instance.exact_capacity, dtype=object) if self.exact else self.instance.capacity

    # ---- as data ----------------------------------------------------------------------------------------------

    def named(self) -> Mapping[str, Portion]:
        """Return what each user has, by its name: ``allocation["A"].tasks``."""
        return Parts(self._index, self._portion)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {user: i for i, user in enumerate(self.users)}

    def _portion(self, i: int) -> Portion:
        bottlenecks, placement = self.certificate.bottlenecks, self.placement
        classes = self.instance.machine_names
        return Portion(
            self.users[i],
            self.tasks.item(i),
            self.levels.item(i),
            self.dominant_resources[i],
            self.dominant_shares.item(i),
            dict(zip(self.resources, self.usage[i].tolist(), strict=True)),
            bottlenecks[i] if bottlenecks else None,
            None
            if placement is None
            else {name: z for name, z in zip(classes, placement[i].tolist(), strict=True) if z},
            self._asked(i),
            _number(self.shortfall.met[i]),
        )

    def _asked(self, i: int) -> Any:
        """Return what user i asked for, in the kind of number in which its tasks are; None for no end."""
        if not np.isfinite(self.shortfall.asked[i]):
            return None
        if self.exact:
            return asked_by(self.instance, i, self.integer)
        asked = float(self.shortfall.asked[i])
        return int(asked) if self.integer else asked

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], instance: Instance | None = None) -> "Allocation":
        """Return the allocation that `to_dict` wrote, with its instance; `instance` takes the place of that.

        Whether it is possible is checked, and what follows from its tasks computed again.  What its certificate says is
        repeated, without the proof: `drfopt.verify` decides it.

        Raises
        ------
        InstanceError
            When the document is no answer, not one for this instance, or not possible.

        Examples
        --------
        >>> found = solve(Instance([[1, 4], [3, 1]], [9, 18]), exact=True)
        >>> Allocation.from_dict(found.to_dict()) == found
        True
        """
        found: Allocation = door("answers").allocation_of(document, instance)
        return found

    def to_dict(self, *, instance: bool = True, proof: bool | None = None) -> dict[str, Any]:
        """Return the object that ``drfopt solve --json`` prints; exact values are strings such as ``"63/25"``.

        One of more than 8192 bits stands once, under ``long``, in hexadecimal (``"0x3f/0x19"``), and others by their
        short multiples of it: ``"63/25*L1"``.
        Besides, `from_dict` needs the `instance`, under ``cluster`` with the keys of its file, and what the certificate
        says in full.  Under ``proof`` stands what `drfopt.verify` needs beyond prices of a pool; it is left out where
        the instance is, unless it is asked for.
        """
        long = LongNumbers(WRITTEN_ONCE)
        found = self._document(long)
        plain = partial(_plain, long=long)
        written = self.certificate.evidence.written(self.instance, plain)
        written |= monopolies_written(self.instance, self.policy, plain)
        if (instance if proof is None else proof) and written.keys() - {"prices"}:
            found["proof"] = written
        if instance:
            found["certificate"] |= {"rigorous": self.certificate.rigorous, "reason": self.certificate.reason}
            found["cluster"] = as_text(instance_document(self.instance))
        return found | ({"long": long.table} if long.table else {})

    def _document(self, long: LongNumbers) -> dict[str, Any]:
        plain, short = partial(_plain, long=long), self.shortfall
        document = {
            "schema": self._schema,
            "instance": self.instance.name,
            "policy": self.policy,
            "integer": self.integer,
            "engine": self.engine,
            "status": self.status,
            "users": self._user_rows(long),
            "resources": self._resource_rows(long),
            "unplaced": list(self.unplaced),
            **({"misfits": misfits} if (misfits := self.misfits) else {}),
            "short": [self.users[i] for i in short.short.tolist()],
            "demand_met": short.demand_met,
            "certificate": self.certificate.to_dict(),
            "seconds": self.seconds,
        }
        if self.broken:
            document["broken_guarantees"] = self.broken_guarantees
        if self.unpriced:
            document["unpriced"] = list(self.unpriced)
        if self.solver:
            document["solver"] = self.solver
        classes = self.instance.machine_names
        if self.placement is not None:
            document["placement"] = {
                user: {c: plain(z) for c, z in zip(classes, row, strict=True) if z}
                for user, row in zip(self.users, self.placement, strict=True)
            }
            document["other_placements"] = self.other_placements
        if (types := self.types) is not None:
            document["types"] = types
        if forms := self._closed_forms():
            document["closed_forms"] = forms
        if self.prices is not None and self.prices.ndim > 1:
            document["prices"] = {
                c: {r: plain(p) for r, p in zip(self.resources, row, strict=True)}
                for c, row in zip(classes, self.prices, strict=True)
            }
        return document

    def _user_rows(self, long: LongNumbers) -> list[dict[str, Any]]:
        plain = partial(_plain, long=long)
        bottlenecks = self.certificate.bottlenecks or (None,) * self.instance.n
        short, weights = self.shortfall, self.weights
        levels, shares = ([plain(y) for y in ys] for ys in (self.levels, self.dominant_shares))  # Tasks are multiples.
        demands = None if self._started or not self.exact else self._demands

        def usage(i: int) -> dict[str, Any]:  # Of long fractions the products are not made: they would fill the memory.
            if demands is None:
                return dict(zip(self.resources, map(plain, self.usage[i]), strict=True))
            return {r: long.product(d, self.tasks[i]) for r, d in zip(self.resources, demands[i], strict=True)}

        # A pool's bottleneck is one resource: the first where several run out together, which `explain` lists.
        one = itemgetter(0) if self.instance.machines is None else list
        return [
            {
                "name": name,
                "tasks": (tasks := plain(self.tasks[i])),
                "level": levels[i],
                "dominant_resource": self.dominant_resources[i],
                "dominant_share": shares[i],
                "usage": usage(i),
                "bottleneck": one(stop) if isinstance(stop := bottlenecks[i], tuple) else stop,
                "weight": weights[i],
                "asked": None if (asked := self._asked(i)) is None else plain(asked),
                "got": tasks,
                "met": _number(short.met[i]),
            }
            for i, name in enumerate(self.users)
        ]

    def _resource_rows(self, long: LongNumbers) -> list[dict[str, Any]]:
        plain = partial(_plain, long=long)
        return [
            {
                "name": name,
                "capacity": float(self.instance.capacity[j]),
                "used": plain(self.used[j]),
                "utilization": float(self.utilization[j]),
                "price": None if self.prices is None or self.prices.ndim > 1 else plain(self.prices[j]),
            }
            for j, name in enumerate(self.resources)
        ]

    @property
    def other_placements(self) -> bool:
        """Whether somebody who has tasks may use several classes, so that other placements may give the same tasks."""
        # Where every machine is divided by itself the placement is the answer.
        if self.instance.machines is None or policy_named(self.policy).objective == "servers":
            return False
        kinds = self.instance.type_table
        fits, tasks = (self.instance.fits, self.tasks) if kinds is None else (kinds.fits, self.tasks[kinds.owner])
        return bool(((fits.sum(axis=1) > 1) & (tasks != 0)).any())

    @property
    def weights(self) -> list[Any]:
        """Each user's weight, (n,), or its weights by resource."""
        rows = self.instance.weights.tolist()
        if self.instance.organisation is not None:
            rows = [0.0 if last else row for last, row in zip(self.instance.organisation.last, rows, strict=True)]
        if not self.instance.weights_per_resource:
            return rows
        return [dict(zip(self.resources, row, strict=True)) for row in rows]

    @cached_property
    def types(self) -> dict[str, list[dict[str, Any]]] | None:
        """Of each user with task types on machines how many of each run, and where; None where there are none."""
        if self.placed_by_type is None:
            return self._types_in_pool() if self._started else None
        classes, found = self.instance.machine_names, {}
        of_user = np.split(self.placed_by_type, np.flatnonzero(np.diff(self.instance.type_table.owner)) + 1)
        for user, kinds, rows in zip(self.users, self.instance.task_types or (), of_user, strict=True):
            if kinds:
                found[user] = [
                    ({"name": kind.name} if kind.name else {})
                    | {"tasks": _plain(row.sum()), "of": kind.count}
                    | {"placement": {c: _plain(z) for c, z in zip(classes, row, strict=True) if z}}
                    for kind, row in zip(kinds, rows, strict=True)
                ]
        return found

    def _types_in_pool(self) -> dict[str, list[dict[str, Any]]]:
        kinds = self.instance.task_types or ()
        return {
            self.users[i]: [
                ({"name": kind.name} if kind.name else {}) | {"tasks": x, "of": kind.count}
                for kind, x in zip(kinds[i] or (), counts, strict=True)
            ]
            for i, counts in self._started.items()
        }

    def to_frame(self) -> Any:
        """Return a pandas frame, one row a user. Needs pandas (``pip install drfopt[frame]``)."""
        import pandas

        columns: dict[str, Any] = {
            "tasks": self.tasks,
            "asked": self.shortfall.asked,
            "met": self.shortfall.met,
            "level": self.levels,
            "dominant_resource": self.dominant_resources,
            "dominant_share": self.dominant_shares,
            **{resource: self.usage[:, j] for j, resource in enumerate(self.resources)},
            "bottleneck": list(self.certificate.bottlenecks or (None,) * self.instance.n),
        }
        return pandas.DataFrame(columns, index=pandas.Index(self.users, name="user"))

    def __eq__(self, other: object) -> bool:
        alike = super().__eq__(other)
        if alike is not True or not isinstance(other, Allocation):
            return alike
        # Found when asked for, so asked for last.
        here, there = self.placement, other.placement
        return here is there if here is None or there is None else np.array_equal(here, there)

    __hash__ = Result.__hash__

    def __repr__(self) -> str:
        return f"<Allocation {self.policy} of {self.instance!r}: {self.status}, {self.engine}>"

    # ---- as a table -------------------------------------------------------------------------------------------

    def sheet(self) -> Sheet:
        """Return the table of the allocation: a row a user, who is most short first, and what was proven below it."""
        bottlenecks = self.certificate.bottlenecks or (None,) * self.instance.n
        short, helpless, weights = self.shortfall, set(self.unplaced), self.weights
        ends, each = bool(np.isfinite(short.asked).any()), self.instance.weights_per_resource
        rules = self.instance.organisation
        tiers = (0,) * self.instance.n if rules is None else rules.tiers
        rows = [
            (
                self.users[i],
                tiers[i],
                ", ".join(f"{w:g} {r}" for r, w in weights[i].items()) if each else weights[i],
                _number(short.asked[i]),
                _cell(self.tasks[i]),
                _cell(self.tasks[i]),
                None if np.isnan(short.met[i]) else Percent(100 * short.met[i]),
                _cell(self.levels[i]),
                Bar(float(self.dominant_shares[i])),
                self.dominant_resources[i],
                stopped(self.instance, i, bottlenecks[i], self.tasks[i], self.users[i] in helpless, self.integer),
            )
            for i in short.order.tolist()
        ]
        return Sheet(
            title=self._title(),
            columns=(
                Column("user"),
                Column("tier", number=True, shown=len(set(tiers)) > 1),
                Column("weight", number=not each, shown=self.instance.told_weights),
                Column("asked", number=True, shown=ends),
                Column("got", number=True, shown=ends),
                Column("tasks", number=True, shown=not ends),
                Column("met %", number=True, shown=ends),
                Column("level", number=True),
                Column("dominant share", number=True),
                Column("of"),
                Column("stopped by"),
            ),
            rows=rows,
            notes=tuple(self.notes()),
        )

    def _closed_forms(self) -> dict[str, str]:
        """Return tasks of enclosed users as numbers with a root, where that was proven."""
        return {self.users[i]: form for i, form in self.certificate.evidence.closed_forms.items()}

    def _title(self) -> str:
        kind = "whole tasks" if self.integer else "divisible tasks"
        return f"{self.policy}, {kind}" + (f" - {self.instance.name}" if self.instance.name else "")

    def notes(self, unplaced: bool = True) -> list[str]:
        """Return the lines below the table, without who fits nowhere where somebody says more of it."""
        used = ", ".join(
            f"{resource} {_used_of(float(u), c, unit)} ({tenths(float(z))})"
            for resource, unit, u, c, z in zip(
                self.resources,
                self.instance.units,
                self.used,
                self.instance.capacity.tolist(),
                self.utilization,
                strict=True,
            )
        )
        notes = [f"used: {used}"]
        if self.prices is not None and self.prices.ndim == 1:
            prices = ", ".join(f"{r} {float(p):.6g}" for r, p in zip(self.resources, self.prices, strict=True))
            notes.append(f"prices: {prices}")
        if self.unpriced:
            notes.append(f"the prices leave out who is left no more and would pay more: {some(self.unpriced)}")
        if forms := self._closed_forms():
            first = [f"{user} {form}" for user, form in forms.items()][:10]
            notes.append(f"closed forms, proven: {', '.join(first)}")
        if self.broken:
            # All of them: each is a promise to somebody.
            notes.append(f"{self.unmet}: {', '.join(map(str, self.broken))}")
        if self.instance.has_devices and not self.integer:
            notes.append("devices are pooled: half-free ones add up, which whole tasks (--integer) cannot use")
        if self.instance.source:
            notes.append(f"source: {self.instance.source}")
        notes += self._proven()
        notes += counted_as_means(self.instance, self.integer)
        # Last, since that is what a planner reads first.
        notes += self.shortfall.sentences()
        notes += left_out(self.misfits)
        if self.unplaced and unplaced:
            notes.append("unplaced (a task fits on nothing open to it): " + _listed(self.unplaced))
        return notes

    def _proven(self) -> list[str]:
        """Return how it was proven, or what is missing, as the lines below the table say it."""
        proof = self.certificate
        verdict = {True: "valid", False: "NOT valid", None: "feasibility checked, optimality not proven"}[proof.valid]
        if proof.kind == "feasibility" and proof.valid is None:
            verdict = "feasible, and what is best is the file's own claim"
        gap = "" if proof.gap is None else f", gap {proof.gap:.1e}"
        notes = [
            f"{self.status}; certificate ({proof.kind}) {verdict}: violation {proof.violation:.1e}{gap}; "
            f"engine {self.engine}{f' by {self.solver}' if self.solver else ''}, {self.seconds:.3g} s"
        ]
        if proof.valid is None and proof.reason:
            notes.append(proof.reason)
        if proof.valid and proof.kind == "bound" and not proof.rigorous:
            notes.append(f"that nothing is better is the word of {proof.evidence.judge}: nobody else has proven it")
        elif proof.valid and proof.kind == "bound" and self.instance.features and proof.evidence.judge not in IN_FILES:
            # Files hold proofs by multipliers and prices.
            judge = proof.evidence.judge
            notes.append(f"that nothing is better is decided by {judge}, which no file holds: 'verify' searches again")
        if short := proof.evidence.below_continuous:
            # All of them: a promise of the continuous optimum is broken to each.
            each = ", ".join(f"{user} {tasks} of {promised}" for user, tasks, promised in short)
            placed = self.instance.n - len(self.unplaced)
            notes.append(
                f"{len(short)} of {placed} placed users below the whole part of their continuous optimum: {each}"
            )
        return notes


def _plain(value: Any, long: LongNumbers | None = None) -> float | str | int | dict[str, str]:
    """Return a number as JSON prints it: a float in full precision, a Fraction as text, an Enclosure as its ends."""
    if isinstance(value, Fraction) and long is not None:
        return long.text(value)
    if isinstance(value, Fraction | Enclosure):
        return text(value)
    if isinstance(value, int | np.integer):
        return int(value)
    return float(value)


def _cell(value: Any) -> Any:
    """Return a number as a table shows it: of an enclosure or a long fraction, the beginning says enough."""
    if isinstance(value, Enclosure) or (isinstance(value, Fraction) and value.denominator.bit_length() > LONG_BITS):
        return beginning(value)
    return _plain(value)


def _used_of(used: float, capacity: float, unit: str) -> str:
    """Return an amount used and what there is, which print alike only where all is used."""
    if used < capacity * (1 - LEVEL):
        return " of ".join(apart(used, capacity, DIGITS + 1, written_in(unit)))
    return f"{in_units(used, unit)} of {in_units(capacity, unit)}"


def _number(value: Any) -> float | None:
    """Return a float, None for one that says nothing: no end, or not defined."""
    return float(value) if np.isfinite(value) else None


def _listed(names: tuple[str, ...], most: int = 20) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def stopped(instance: Instance, i: int, bottleneck: Any, tasks: Any, unplaced: bool, integer: bool = False) -> str:
    """Return what stopped user i, as a table says it; empty where it is not known."""
    if unplaced:
        return "unplaced"
    if has_all(instance, i, tasks, integer):
        return HAS_ALL
    if bottleneck is None:
        tops = {"its ceiling": instance.ceilings[i], "its limit": instance.limits[i]}
        tops = {words: np.floor(top) if integer else top for words, top in tops.items()}
        error = 0 if integer else LEVEL
        return next((words for words, top in tops.items() if float(tasks) >= top * (1 - error)), "")
    if isinstance(bottleneck, str):
        return bottleneck
    first = ", ".join(bottleneck[:2])
    return first if len(bottleneck) <= 2 else f"{first} +{len(bottleneck) - 2}"
