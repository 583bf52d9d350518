"""What was asked for, and how much of it came: who is short, of what, and where.

For user i with a_i tasks to run (infinity for who names no end) and x_i of them running

    met_i      =  x_i / a_i
    missing_i  =  a_i - x_i                        0 where no end is named
    demand met =  sum_i s_i x_i / sum_i s_i a_i    over those who name an end; s_i is the dominant share of one task

Who has all it asked for is not stopped by anything.  A limit or a ceiling below what was asked is something else: it is
a rule that somebody made, and no machine helps against it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ..base.numbers.enclosures import Enclosure, Exact, lower
from ..base.numbers.shown import apart, counted, in_units, number, percent
from ..base.tolerances import LEVEL
from .instance import Instance
from .naming import some
from .policies import dominant_rates, parts_per_task

__all__ = ["HAS_ALL", "Hold", "Shortfall", "asked_by", "cells_of", "counted_as_means", "has_all", "left_out"]

HAS_ALL = "has all it asked for"
"""What a table says of who is stopped by nothing."""

UNPLACED, SHORT, ENDLESS, MET = range(4)
"""How users stand, in the order in which a table lists them: who runs nothing first, who has everything last."""

BELOW_ALL = math.nextafter(1, 0)
"""The most that is met of what is not all met."""

NAMED = 5
"""Users who are short and have a line of their own."""


def counted_as_means(instance: Instance, integer: bool) -> list[str]:
    """Return what is to be said below whole tasks of several types, of which some may run and others not."""
    if not integer or not any(kinds and len(kinds) > 1 for kinds in instance.task_types or ()):
        return []
    return [
        "a task of who has several types counts as the mean of them in levels, in sums of shares and in what is met"
    ]


def left_out(misfits: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what is to be said of task types that fit nowhere, by user, of which whole tasks have none."""
    kinds = [f"task {kind} of {user}" for user, missing in misfits.items() for kind in missing]
    return [f"types left out (a task fits on nothing open to it): {some(kinds)}"] if kinds else []


@dataclass(frozen=True)
class Hold:
    """What holds somebody: a resource (its number) of a machine class, of a pool, or neither but a rule."""

    name: str
    resource: int | None = None
    machine: str | None = None


def cells_of(instance: Instance, bottleneck: Any) -> list[Hold]:
    """Return what a bottleneck of a certificate names: a resource, ``class/resource``, or a group's ceiling."""
    names = () if bottleneck is None else (bottleneck,) if isinstance(bottleneck, str) else tuple(bottleneck)
    return [_cell(instance, name) for name in names]


def _cell(instance: Instance, name: str) -> Hold:
    if instance.machines is None:
        return Hold(name, instance.resources.index(name) if name in instance.resources else None)
    # A name of either may hold a slash of its own, so both are looked up as a whole.
    for j, resource in enumerate(instance.resources):
        if name.endswith(f"/{resource}") and (owner := name[: -len(resource) - 1]) in instance.machine_names:
            return Hold(name, j, owner)
    return Hold(name)


def asked_by(instance: Instance, i: int, integer: bool = False) -> Fraction | None:
    """Return the tasks that user i has to run, None for no end; of whole tasks only whole ones count."""
    kinds = None if instance.task_types is None else instance.task_types[i]
    asked = instance.max_tasks[i] if kinds is None else Fraction(sum(kind.count for kind in kinds))
    return None if asked is None else Fraction(asked.__floor__()) if integer else asked


def has_all(instance: Instance, i: int, tasks: Any, integer: bool = False) -> bool:
    """Say whether user i, who names an end, has all the tasks it asked for; exact tasks are compared exactly."""
    if isinstance(tasks, Fraction | Enclosure):
        asked = asked_by(instance, i, integer)
        return asked is not None and not _missing(asked, tasks)
    end = float(instance.asked[i])
    return float(tasks) >= (np.floor(end) if integer else end * (1 - LEVEL))


def _missing(asked: Fraction, tasks: Exact) -> float:
    return max(float(lower(asked - tasks)), 0.0)


@dataclass(frozen=True, eq=False)
class Shortfall:
    """What the users of an allocation asked for beside what they got.

    Attributes
    ----------
    instance : Instance
    got : array (n,)
        Tasks that run, as floats.
    asked : array (n,)
        Tasks there are to run; inf for no end.
    unplaced : bool array (n,)
    bottlenecks : sequence
        What stopped each, as its certificate says; empty where that is not known.
    used : array (n, m), optional
        What runs of each uses, where that is not so many times its demand: of several task types some may be missing.
    whole : bool
        Whether tasks are whole, so that a ceiling stops who has no room for the next one below it.
    exact : array (n,) of `Fraction` or `Enclosure`, optional
        The tasks that run where they are known exactly, so that no shortfall is too small to be one.
    """

    instance: Instance
    got: np.ndarray
    asked: np.ndarray
    unplaced: np.ndarray
    bottlenecks: Sequence[Any]
    used: np.ndarray | None = None
    whole: bool = False
    exact: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        instance: Instance,
        tasks: np.ndarray,
        integer: bool,
        bottlenecks: Sequence[Any],
        used: np.ndarray | None = None,
    ) -> "Shortfall":
        """Return the shortfall of the users when so many tasks of each run."""
        asked = np.floor(instance.asked) if integer else instance.asked
        exact = tasks if tasks.dtype == object else None
        return cls(instance, tasks.astype(float), asked, instance.unplaced(integer), bottlenecks, used, integer, exact)

    @cached_property
    def met(self) -> np.ndarray:
        """Part of what was asked that runs, (n,); NaN where no end is named, 1 where nothing was asked."""
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.where(self.asked > 0, np.minimum(self.got / self.asked, BELOW_ALL), 1.0)
        return np.where(np.isfinite(self.asked), np.where(self.missing > 0, part, 1.0), np.nan)

    @cached_property
    def missing(self) -> np.ndarray:
        """Tasks that are asked for and do not run, (n,); 0 where no end is named."""
        if self.exact is not None:
            ends = (asked_by(self.instance, i, self.whole) for i in range(self.instance.n))
            pairs = zip(ends, self.exact.tolist(), strict=True)
            return np.array([0.0 if end is None else _missing(end, x) for end, x in pairs])
        wanted = np.where(np.isfinite(self.asked), self.asked, 0.0)
        return np.where(self.got >= wanted * (1 - (0 if self.whole else LEVEL)), 0.0, wanted - self.got)

    @cached_property
    def shares(self) -> np.ndarray:
        """Dominant share of one task of each user, (n,)."""
        return dominant_rates(self.instance)

    @cached_property
    def standing(self) -> np.ndarray:
        """How each stands, (n,): `UNPLACED`, `SHORT`, `ENDLESS` or `MET`."""
        found = np.where(self.missing > 0, SHORT, np.where(np.isfinite(self.asked), MET, ENDLESS))
        return np.where(self.unplaced, UNPLACED, found)

    @cached_property
    def order(self) -> np.ndarray:
        """The users, (n,), from the largest shortfall: by the part of the cluster that is missing to each."""
        return np.lexsort((-self.missing * self.shares, self.standing))

    @property
    def short(self) -> np.ndarray:
        """Who has less than it asked for, the largest shortfall first; also who fits nowhere."""
        return self.order[self.standing[self.order] <= SHORT]

    def count(self, standing: int) -> int:
        """Return how many users stand so."""
        return int((self.standing == standing).sum())

    @cached_property
    def demand_met(self) -> float | None:
        """Part of all that is asked for that runs, in dominant shares; None where nobody names an end."""
        named = np.isfinite(self.asked)
        asked = float(self.shares[named] @ self.asked[named])
        # The part that is missing may be all but next to nothing.
        run = np.where(self.missing > 0, np.minimum(self.got, self.asked), self.asked)[named]
        return float(self.shares[named] @ run) / asked if asked else None

    def lacking(self, users: np.ndarray) -> np.ndarray:
        """Return what some users (u,) lack of every resource, (u, m)."""
        demands, missing = self.instance.demands[users], self.missing[users]
        if self.used is None:
            return np.asarray(missing[:, None] * demands)
        wanted = np.where(missing > 0, self.asked[users], 0.0)[:, None] * demands
        short = np.maximum(wanted - np.where(missing[:, None] > 0, self.used[users], 0.0), 0.0)
        return np.where(short > LEVEL * wanted, short, 0.0)

    @cached_property
    def missing_amounts(self) -> np.ndarray:
        """What those who are placed and short lack of every resource, (m,)."""
        if self.used is None:
            return np.asarray(np.where(self.unplaced, 0.0, self.missing) @ self.instance.demands)
        return self.lacking(np.flatnonzero(~self.unplaced & (self.missing > 0))).sum(axis=0)

    def cells(self, i: int) -> list[Hold]:
        """Return what holds user i; nothing where that is not known."""
        return cells_of(self.instance, self.bottlenecks[i]) if len(self.bottlenecks) else []

    def lacks(self, i: int) -> str:
        """Return of what user i is short, and how much: ``62 gpu``; of what holds it, or else of what is used up.

        Where whole tasks lack nothing of the cluster together, machines or rules do not hold one more: all is told.
        """
        if not self.missing[i]:
            return ""
        held = {cell.resource for cell in self.cells(i) if cell.resource is not None} or set(self._own_ceilings(i))
        share = parts_per_task(self.instance, i)
        lacking = self.lacking(np.array([i]))[0]
        holding = [j for j in held if lacking[j] > 0]
        among = holding or np.flatnonzero(lacking).tolist() or list(range(self.instance.m))
        if not holding:  # of whole tasks: whatever fewest of its tasks find free
            demand = self.instance.demands[i]
            tasks = {j: self.free[j] // demand[j] if demand[j] else np.inf for j in among}
            if self.whole and min(tasks.values()):
                return _few([self.amount(j, lacking[j]) for j in sorted(among, key=lambda j: -share[j])])
            among = [j for j in among if tasks[j] == min(tasks.values())]
        j = max(among, key=lambda j: share[j])
        return self.amount(j, lacking[j])

    @cached_property
    def free(self) -> np.ndarray:
        """What of every resource is in no use, (m,)."""
        used = self.got @ self.instance.demands if self.used is None else self.used.sum(axis=0)
        return np.asarray(np.maximum(self.instance.capacity - used, 0.0))

    def amount(self, j: int, value: float) -> str:
        """Return an amount of resource j with its name."""
        return f"{in_units(float(value), self.instance.units[j])} {self.instance.resources[j]}"

    def sentences(self) -> list[str]:
        """Return who is short of what and where, as the last lines of a table."""
        placed = [i for i in self.short.tolist() if not self.unplaced[i]]
        endless = np.flatnonzero(self.standing == ENDLESS).tolist()
        if not np.isfinite(self.asked).any():
            return []
        if not placed and not endless:
            others = "everybody else" if self.unplaced.any() else "everybody"
            return [f"{others} has all it asked for"] if (self.standing == MET).any() else []
        said = []
        besides = f", besides {count:,} unplaced," if (count := int(self.unplaced.sum())) else ""
        if placed:
            lacking = sorted(np.flatnonzero(self.missing_amounts).tolist(), key=lambda j: -self._part_missing(j))
            amounts = ", ".join(self.amount(j, self.missing_amounts[j]) for j in lacking)
            less = "has less than it asked for" if len(placed) == 1 else "have less than they asked for"
            # Of what is in no share alone no part can be told.
            met = (
                ""
                if (part := self.demand_met) is None
                else f"; {_below_all(part)} of what is asked for is met (in dominant shares)"
            )
            said.append(
                f"short: {len(placed):,} of {counted(self.instance.n, 'user')}{besides} {less}, {amounts} in all{met}"
            )
            said += [f"  {self.sentence(i)}" for i in placed[:NAMED]]
        if endless:
            said.append(f"{self._users(endless, besides)} without an end{self._held(endless)}")
        return said

    def sentence(self, i: int) -> str:
        """Return what user i asked for, got, lacks, and where it is stopped."""
        got, asked = number(self.got[i]), number(self.asked[i])
        if got == asked:
            got, asked = apart(self.got[i], self.asked[i])
        text = f"{self.instance.users[i]}: {got} of {counted(asked, 'task')} ({_below_all(self.met[i])})"
        return f"{text}, short of {self.lacks(i)}{self.where(i)}"

    def where(self, i: int) -> str:
        """Return where user i is stopped, to follow what it lacks; empty in a pool, and where that is not known."""
        places = [cell.machine or "" for cell in self.cells(i)]
        classes = list(dict.fromkeys(filter(None, places)))
        rules = [cell.name for cell in self.cells(i) if cell.resource is None]
        kinds = None if self.instance.task_types is None else self.instance.task_types[i]
        # What it lacks is of all its types, of which some may not run there.
        stopped = ", stopped" if kinds is not None and len(kinds) > 1 else ""
        where = f"{stopped} on {_few(classes)}" if classes else ""
        rule = f", stopped by a ceiling: {_few(rules)}" if rules and not classes else ""
        if not self.cells(i) and self._topped(i):
            own = [self.instance.resources[j] for j in self._own_ceilings(i)]
            what = f"its ceiling of {_few(own)}" if own else "a ceiling or limit"
            rule = f", which {what} does not let it have"
        return where + rule

    def _topped(self, i: int) -> bool:
        """Say whether user i has all that its limit and its own ceilings allow, of whole tasks that its ceilings do."""
        if self.whole:
            return bool(self._own_ceilings(i))
        return bool(len(self.bottlenecks) and self.got[i] >= self.instance.limits[i] * (1 - LEVEL))

    def _own_ceilings(self, i: int) -> list[int]:
        """Return the resources of which user i uses all that its own ceilings allow; where nothing else holds it."""
        rules = self.instance.organisation
        if rules is None or self.cells(i) or not (self.whole or len(self.bottlenecks)):
            return []
        if self.whole:
            return list(map(self.instance.resources.index, self.instance.exceeded_ceilings(i, int(self.got[i]) + 1)))
        used = self.got[i] * self.instance.demands[i] if self.used is None else self.used[i]
        most = {self.instance.resources.index(name): float(most) for name, most in rules.ceilings[i].items()}
        return [j for j, most in most.items() if self.instance.demands[i, j] and used[j] >= most * (1 - LEVEL)]

    def _part_missing(self, j: int) -> float:
        capacity = self.instance.capacity[j]
        return float(self.missing_amounts[j] / capacity) if capacity else np.inf

    def _users(self, users: list[int], besides: str) -> str:
        names = [self.instance.users[i] for i in users[:2]]
        if len(users) <= 2:
            return f"{' and '.join(names)} ask{'s' if len(users) == 1 else ''} for tasks"
        return f"{len(users):,} users{besides} ask for tasks"

    def _held(self, users: list[int]) -> str:
        counts: dict[str, int] = {}
        own = 0
        for i in users:
            names = {cell.name for cell in self.cells(i)}
            for name in names:
                counts[name] = counts.get(name, 0) + 1
            # Who names no end has a limit of its ceilings only.
            own += not names and self._topped(i)
        held = f": stopped by {_few(sorted(counts, key=lambda name: -counts[name]))}" if counts else ""
        if not own:
            return held
        ceilings = "its own ceiling" if own == 1 else "their own ceilings"
        if held:
            return f"{held}, {own:,} by {ceilings}"
        return f": stopped by {ceilings}" if own == len(users) else f": {own:,} stopped by {ceilings}"


def _below_all(part: float) -> str:
    """Return a part of what is asked for by who has not all of it."""
    text = percent(part)
    return f"almost {text}" if text == percent(1) else text


def _few(names: Sequence[str], most: int = 3) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
