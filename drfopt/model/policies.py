"""The table of policies: which share is compared, and what is done with the shares.

Every built-in policy measures a user by a *level* that is linear in her tasks, ``level_i = rate_i * x_i``, and then
either makes the levels leximin (max-min, then the next lowest, and so on), or maximises a sum of utilities of them.
A new notion is one row here, or one formulation file.
"""

import ast
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import PolicyError, suggestion
from ..base.loops import compiled
from ..base.registry import Registry
from .arrays import columns, in_blocks
from .instance import FEATURES, Instance
from .monopolies import pooled_tasks
from .organisation import Organisation
from .paths import BundlePath, Traveller, path_of

__all__ = [
    "ALIASES",
    "MEASURES",
    "POLICIES",
    "AnyPolicy",
    "Measure",
    "Policy",
    "dominant_rates",
    "exact_shares",
    "parts_per_task",
    "policy_named",
    "policy_on",
    "shares_per_task",
    "without_level",
]


@dataclass(frozen=True)
class Measure:
    """How one task counts towards a user's level, once for float arrays and once for exact rows.

    `floats` takes shares per task, resource by resource (m, n), and returns the level of one task, (n,); `exact` does
    the same for one user's row of `Fraction`s.  The second argument is the resource of a measure of one resource.
    A weight divides what they return; where a user has a weight per resource, it has divided the shares before.

    A measure that has to look at machines one by one gives `machines` besides, from the instance to the level of one
    task of every user, as floats (n,) or, when the second argument says so, as a list of `Fraction`s.
    """

    name: str
    floats: Callable[[np.ndarray, int | None], np.ndarray]
    exact: Callable[[list[Fraction], int | None], Fraction]
    machines: Callable[[Instance, bool], Any] | None = None


def _one_of_alone(instance: Instance, exact: bool) -> Any:
    """Return the part that one task is of all that the user could run if every machine were hers and open to her.

    Tasks are counted as if they were divisible, on machines too small for a whole one as well, as the notion's authors
    do; resources that are excluded as if there were enough of them, so that in a pool this is the dominant share.  Who
    could run nothing at all is unplaced, and her level is 0 at any rate.  Several types run in their proportions.
    """
    counts, counted = instance.counts.tolist(), instance.counted
    if not exact:
        alone = np.zeros(instance.n)
        for capacity, count in zip(instance.machine_capacity, counts, strict=True):
            with np.errstate(divide="ignore", invalid="ignore"):
                each = np.where((instance.demands > 0) & counted, capacity / instance.demands, np.inf).min(axis=1)
            alone += each * count
        for i, mine in enumerate(instance.alone):
            if mine is not None:
                alone[i] = float(mine.tasks)
        uses = np.array([runs > 0 or _uses(instance, i) for i, runs in enumerate(alone.tolist())])
        return uses / np.where(alone > 0, alone, 1.0)
    rates = []
    for i, (row, mine) in enumerate(zip(instance.exact_demands, instance.alone, strict=True)):
        whole = Fraction(0)
        for capacity, count in zip(instance.exact_machine_capacity, counts, strict=True):
            each = (c / d for c, d, there in zip(capacity, row, counted.tolist(), strict=True) if d and there)
            whole += int(count) * min(each, default=Fraction(0))
        whole = whole if mine is None else mine.tasks
        rates.append(1 / whole if whole else Fraction(int(_uses(instance, i))))
    return rates


def _uses(instance: Instance, i: int) -> bool:
    """Say whether all tasks of a user use something that is counted."""
    kinds = instance.task_types and instance.task_types[i]
    rows = [kind.demand for kind in kinds] if kinds else [instance.exact_demands[i]]
    return all(any(d and there for d, there in zip(row, instance.counted.tolist(), strict=True)) for row in rows)


MEASURES = {
    measure.name: measure
    for measure in (
        Measure("dominant", lambda shares, j: reduce(np.maximum, shares), lambda shares, j: max(shares)),
        Measure("asset", lambda shares, j: shares.sum(axis=0), lambda shares, j: sum(shares, Fraction(0))),
        Measure("single", lambda shares, j: shares[j], lambda shares, j: shares[j or 0]),
        Measure("tasks", lambda shares, j: np.ones(shares.shape[1:]), lambda shares, j: Fraction(1)),
        Measure("alone", lambda shares, j: reduce(np.maximum, shares), lambda shares, j: max(shares), _one_of_alone),
    )
}


@dataclass(frozen=True)
class Policy:
    """One notion of a fair (or efficient) division.

    Attributes
    ----------
    name : str
        As the user writes it.
    measure : str
        Which share is compared: ``dominant``, ``asset``, ``single`` (one resource), ``tasks``, ``alone`` (of the
        tasks that she could run alone) or ``path`` (where on a path of bundles she is).
    objective : str
        ``leximin``, ``alpha`` (the Nash product at alpha = 1), ``sum``, ``servers`` (leximin on every machine by
        itself), ``path`` (leximin of levels along a path of bundles), or ``formulation`` for a user's file.
    weights : str
        ``per resource`` or ``scalar`` (what the notion takes), or ``none`` where weights play no part.
    summary, source : str
    argument : str
        The resource of ``single:RESOURCE``, the number of ``alpha:A``, the bundles of ``path:BUNDLES``, the path of a
        formulation file.
    build : callable or None
        A user's own function ``build(data, held)``, where it is not in a file.
    path : BundlePath or None
        Along which ``path:BUNDLES`` measures what a user has.
    """

    name: str
    measure: str
    objective: str
    weights: str
    summary: str
    source: str
    argument: str = ""
    build: Callable[..., Any] | None = field(default=None, repr=False)
    # Not compared, as the name says it: NaN is not equal to the NaN of a policy that was pickled.
    alpha: float = field(default=math.nan, compare=False)
    path: BundlePath | None = field(default=None, repr=False, compare=False)

    def check(self, instance: Instance, integer: bool = False, knows: Collection[str] = ("types",)) -> None:
        """Raise `PolicyError` when the policy cannot take the instance.

        `knows` are the features of an instance (`drfopt.model.instance.FEATURES`) that whoever asks has been taught.
        """
        if not isinstance(instance, Instance):
            what = type(instance).__name__
            raise PolicyError(f"{self.name} takes an Instance, not {what}: build one, or use Instance.load(path)")
        if self.path is not None:
            self._check_path(self.path, instance, integer)
        if (here := policy_on(self, instance)) is not self:
            here.check(instance, integer, knows)
            return
        taught = set(knows)
        if self.objective == "path" or (self.objective == "servers" and not self._on_each_machine(instance)):
            taught -= {"organisation"}
        if unknown := sorted(instance.features - taught):
            if unknown[0] == "organisation" and instance.organisation is not None:
                self._refuse_rules(instance.organisation)
            raise PolicyError(
                f"{self.name} is asked of an instance with {FEATURES[unknown[0]]}, which is not built here: leave them "
                "out"
            )
        if instance.organisation is not None and self.objective in ("alpha", "sum"):
            self._refuse_order(instance.organisation)
        if self.weights == "scalar" and instance.weights_per_resource:
            raise PolicyError(
                f"{self.name} takes one weight a user, but this instance has weights per resource: use drf, or one each"
            )
        if self.objective == "servers" and instance.limited:
            i = int(np.isfinite(instance.limits).argmax())
            counted = instance.task_types is not None and instance.task_types[i] is not None
            what = "count of tasks" if counted else "limit" if instance.max_tasks[i] is not None else "ceiling"
            raise PolicyError(
                f"{self.name} divides every machine by itself and knows no {what} on all of them, but user "
                f"{instance.users[i]!r} has one: leave {'task type' if counted else what}s out, or use drf"
            )
        if self.measure == "single":
            j = self.column(instance)
            without = np.flatnonzero(instance.demands[:, j] == 0)
            if without.size:
                raise PolicyError(
                    f"{self.name} compares shares of {self.argument!r}, but user {instance.users[without[0]]!r} "
                    "demands none of it: leave it out, or use drf"
                )

    def _on_each_machine(self, instance: Instance) -> bool:
        """Say whether rules have a meaning on each machine, and leave everybody a level."""
        rules = instance.organisation
        if rules is None or rules.amounts:
            return False
        uncounted = (instance.demands[:, instance.counted] == 0).all(axis=1)
        if uncounted.any():
            raise PolicyError(without_level(instance.users[int(uncounted.argmax())]))
        return True

    def _check_path(self, path: BundlePath, instance: Instance, integer: bool) -> None:
        what = "machines" if instance.machines is not None else "whole tasks" if integer else ""
        if what:
            raise PolicyError(
                f"{self.name} measures what a user has of one pool in divisible tasks, and is not defined for {what}: "
                "use drf"
            )
        if path.m != instance.m:
            raise PolicyError(
                f"{self.name} is a path of {path.m} resources, but the cluster has {instance.m} "
                f"({', '.join(instance.resources)}): give its bundles a number for each, in this order"
            )

    def _refuse_rules(self, rules: Organisation) -> None:
        """Raise the error of a policy asked of an organisation, with what can be asked instead."""
        words = rules.rules
        if self.objective in ("servers", "path"):
            # Who counts tasks knows guarantees as floors only.
            counting = ("tasks", "alone") if rules.promises and rules.meaning != "floor" else ()
            able = ", ".join(row.name for row in POLICIES if row.objective == "leximin" and row.measure not in counting)
            divides = "goes along one path for all"
            if self.objective == "servers":
                divides, words = "divides every machine by itself", rules.amounts
            why = f"it {divides}, where these are of the whole cluster: use {able}"
        else:
            why = "that is not built here: leave them out"
        raise PolicyError(f"{self.name} is asked of an instance with {words}, and {why}")

    def _refuse_order(self, rules: Organisation) -> None:
        """Raise the error of a market or sum asked of an order that is none of all, or of levels nobody can buy."""
        if rules.in_turn is None:
            raise PolicyError(
                f"{self.name} serves one tier after the other, but some group has tiers or weights of 0 inside and has "
                "others beside it, who wait for none of them: use drf, or put the tiers at the top"
            )
        promised = rules.promises
        if promised and rules.meaning != "floor":
            raise PolicyError(
                f"{self.name} knows guarantees as floors, and not that guarantees are {rules.meaning!r}: "
                'write guarantees = "floor", or use drf'
            )

    def rates(self, instance: Instance) -> np.ndarray:
        """Return the level of one task of each user, (n,): shares of the whole cluster, divided by the weight.

        Raises
        ------
        PolicyError
            When levels do not double with the tasks, as along a path.
        """
        self._linear()
        whole, weighted = MEASURES[self.measure].machines, self.weights != "none" and instance.weighted
        if whole is not None and instance.machines is not None:
            return whole(instance, False) / (instance.weights if weighted else 1.0)
        measure, column = MEASURES[self.measure].floats, self.column(instance)
        # What is not there has share 0: its users are unplaced.
        capacity = np.where((instance.capacity > 0) & instance.counted, instance.capacity, np.inf)[:, None]
        per_resource = weighted and instance.weights_per_resource
        rates, demands = np.empty(instance.n), instance.demands
        if self.measure == "alone" and (alone := pooled_tasks(instance)) is not None:
            demands = np.array(alone, dtype=np.float64)

        def look(rows: slice) -> None:
            shares = columns(demands, rows) / capacity
            if per_resource:
                shares /= columns(instance.weights, rows)
            rates[rows] = measure(shares, column)

        loops: Any = compiled(instance.demands) if self.measure == "dominant" and not per_resource else None
        if loops is None:
            in_blocks(instance.n, look)
        else:
            loops.dominant(instance.demands.T, capacity[:, 0], rates)
        if weighted and not per_resource:
            rates /= instance.weights
        return rates

    def exact_rates(self, instance: Instance) -> list[Fraction]:
        """Return the same as `rates`, as `Fraction`s."""
        self._linear()
        whole = MEASURES[self.measure].machines
        if whole is not None and instance.machines is not None:
            rates = whole(instance, True)
            if self.weights == "none":
                return list(rates)
            return [rate / w for rate, w in zip(rates, instance.exact_weights, strict=True)]
        if self.measure == "alone" and (alone := pooled_tasks(instance)) is not None:
            shares = [exact_shares(row, instance) for row in alone]
        else:  # Of many users alike one is computed.
            known = {i: exact_shares(instance.exact_demands[i], instance) for i in set(instance.same_demands)}
            shares = [known[i] for i in instance.same_demands]
        return self.exact_levels(shares, instance.exact_weights, instance.weights_per_resource, self.column(instance))

    def exact_levels(
        self, shares: Sequence[list[Fraction]], weights: Sequence, per_resource: bool, column: int | None
    ) -> list[Fraction]:
        """Return the level of one task of each user, (n,), from shares per task, n rows of m, and weights.

        Weights are n numbers, or n rows of m where they are per resource; `column` is the resource of a measure of one.
        """
        self._linear()
        measure = MEASURES[self.measure].exact
        if self.weights == "none":
            return [measure(row, column) for row in shares]
        if not per_resource:
            return [measure(row, column) / w for row, w in zip(shares, weights, strict=True)]
        return [
            measure([s / w for s, w in zip(row, rows, strict=True)], column)
            for row, rows in zip(shares, weights, strict=True)
        ]

    def _linear(self) -> None:
        if self.path is not None:
            raise PolicyError(f"{self.name}: twice the tasks is not twice the level along a path: use drf here")

    def levels(self, instance: Instance, tasks: np.ndarray) -> np.ndarray:
        """Return the levels of tasks (n,): `Fraction`s of those, floats of floats."""
        exact = tasks.dtype == object
        if self.path is None:
            rates: Any = self.exact_rates(instance) if exact else self.rates(instance)
            return np.array(rates, dtype=tasks.dtype if exact else np.float64) * tasks
        found = [user.level(Fraction(x)) for user, x in zip(self.travellers(instance), tasks.tolist(), strict=True)]
        return np.array(found, dtype=object if exact else np.float64)

    def travellers(self, instance: Instance) -> list[Traveller]:
        """Return the users of an instance on the path of a policy that has one, (n,)."""
        shares = [exact_shares(row, instance) for row in instance.exact_demands]
        return self.on_path(shares, instance.exact_weights)

    def on_path(self, shares: Sequence[Sequence[Fraction]], weights: Sequence) -> list[Traveller]:
        """Return the same from shares per task, n rows of m, and weights: n numbers, or n rows of m."""
        if self.path is None:
            raise PolicyError(f"{self.name} measures nobody along a path")
        rows = [weight if isinstance(weight, tuple) else (weight,) * self.path.m for weight in weights]
        return [
            Traveller(self.path, tuple(s / w for s, w in zip(row, own, strict=True)))
            for row, own in zip(shares, rows, strict=True)
        ]

    def column(self, instance: Instance) -> int | None:
        """Return the number of the resource of ``single:RESOURCE``, None for other policies."""
        if self.measure != "single":
            return None
        if self.argument not in instance.resources:
            raise PolicyError(
                f"{self.name} names a resource that the cluster does not have: it has "
                f"{', '.join(instance.resources)}{suggestion(self.argument, instance.resources)}"
            )
        return instance.resources.index(self.argument)


NSDI = "Ghodsi et al., Dominant Resource Fairness, NSDI 2011"

ALIASES = {"nash": "ceei", "mnw": "ceei", "leximin": "drf"}
"""Names that people type, and the table's: maximum Nash welfare, and leximin on dominant shares."""

POLICIES = Registry(
    Policy(
        "drf",
        "dominant",
        "leximin",
        "per resource",
        "max-min fairness on dominant shares; on machines these are of the whole cluster (DRFH)",
        f"{NSDI}, section 4; on machines Wang, Li and Liang, INFOCOM 2014",
    ),
    Policy(
        "asset",
        "asset",
        "leximin",
        "per resource",
        "max-min fairness on the sum of a user's shares of all resources",
        f"{NSDI}, section 5.1",
    ),
    Policy(
        "ceei",
        "dominant",
        "alpha",
        "scalar",
        "a market with equal incomes: the largest Nash product",
        f"{NSDI}, section 5.2",
        alpha=1.0,
    ),
    Policy(
        "single:RESOURCE",
        "single",
        "leximin",
        "per resource",
        "max-min fairness on the share of one resource; on machines constrained max-min fairness (Choosy)",
        f"{NSDI}, section 7.2 (CPU-only fairness); on machines Ghodsi et al., Choosy, EuroSys 2013",
    ),
    Policy(
        "tsf",
        "alone",
        "leximin",
        "scalar",
        "task-share fairness: max-min fairness on tasks as a part of those (in fractions) it could run alone anywhere",
        "Wang, Li, Liang and Li, Multi-resource fair sharing for datacenter jobs with placement constraints, SC 2016",
    ),
    Policy(
        "per-server",
        "dominant",
        "servers",
        "per resource",
        "drf on every machine by itself, with shares of that machine",
        "the yardstick of Wang, Li and Liang, DRF in cloud computing systems with heterogeneous servers, INFOCOM 2014",
    ),
    Policy(
        "path:BUNDLES",
        "path",
        "path",
        "per resource",
        "max-min fairness on levels along a path of bundles, such as path:1/2:1/2..3/4:1; drf is the straight path",
        "Li and Xue, Egalitarian division under Leontief preferences, Economic Theory 2013",
    ),
    Policy("tasks", "tasks", "leximin", "scalar", "max-min fairness on numbers of tasks", "a yardstick"),
    Policy("utilitarian", "dominant", "sum", "none", "the largest sum of dominant shares", "a yardstick"),
    Policy("throughput", "tasks", "sum", "none", "the largest number of tasks", "a yardstick"),
    Policy(
        "alpha:A",
        "dominant",
        "alpha",
        "scalar",
        "alpha fairness of dominant shares: 0 utilitarian, 1 ceei, towards drf as A grows",
        "Mo and Walrand, Fair end-to-end window-based congestion control, ToN 2000",
    ),
    what="policy",
    error=PolicyError,
    also="the path of a *.py file",
    aliases=ALIASES,
)
"""The rows; a name in capitals stands for an argument."""


AnyPolicy = str | Policy | Callable[..., Any]
"""How a policy is named in Python: by its name, the path of a formulation file, or a function ``build(data, held)``."""


class _OwnName(str):
    """The name of a policy that is a function: whoever has the name, a result above all, can ask for the policy."""

    __slots__ = ("build",)
    build: Callable[..., Any]


def policy_named(name: AnyPolicy) -> Policy:
    """Return the policy of that name: a row of the table, with its argument, or a user's own formulation.

    A formulation is the path of a file (``*.py``) that defines ``build(data, held)``, or such a function itself.

    Raises
    ------
    PolicyError
        When nothing is called so; the message lists what there is.
    """
    if isinstance(name, Policy):
        return name
    if isinstance(name, _OwnName):
        return _of_function(name.build)
    if callable(name):
        return _of_function(name)
    text = str(name)
    if text.endswith(".py"):
        return _formulation(text)
    head, colon, argument = text.partition(":")
    row = POLICIES.get(head)
    if row is not None and bool(colon) == (":" in row.name):
        return _with_argument(row, text, argument) if colon else row
    raise POLICIES.unknown(text)


def policy_on(name: AnyPolicy, instance: Any) -> Policy:
    """Return the policy of that name as it is on a cluster: a pool is one machine, where `per-server` is a leximin."""
    policy = policy_named(name)
    pool = isinstance(instance, Instance) and instance.machines is None
    return replace(policy, objective="leximin") if pool and policy.objective == "servers" else policy


def _with_argument(row: Policy, text: str, argument: str) -> Policy:
    if row.objective == "path":
        return replace(row, name=text, argument=argument, path=path_of(argument, text))
    if row.objective != "alpha":
        if not argument:
            raise PolicyError(f"{text!r} names no resource: write for example single:cpu")
        return replace(row, name=text, argument=argument)
    try:
        written = argument if argument.isascii() else ""
        alpha = float(Fraction(written)) if "/" in written else float(written)
    except (ValueError, ArithmeticError):
        alpha = math.nan
    if not 0 <= alpha < math.inf:
        raise PolicyError(f"{text!r}: alpha must be a number, 0 or more, such as alpha:2 or alpha:1/2")
    if "/" in argument:
        if Fraction(repr(alpha)) != Fraction(argument):
            known = f"powers are those of decimals, and {argument} is none"
            raise PolicyError(f"{text!r}: {known}: write alpha:{alpha:.3g}")
        # Whoever reads the answer finds the decimal.
        argument = repr(alpha).removesuffix(".0")
        text = f"alpha:{argument}"
    if alpha == 0:
        return replace(row, name=text, argument=argument, objective="sum", weights="none", alpha=0.0)
    return replace(row, name=text, argument=argument, alpha=alpha)


def _formulation(path: str) -> Policy:
    if not Path(path).is_file():
        raise PolicyError(
            f"there is no formulation file {path!r}: give the path of a file that defines build(data, held)"
        )
    return Policy(path, "dominant", "formulation", "per resource", _title(path), path, argument=path)


def _of_function(build: Callable[..., Any]) -> Policy:
    """Return the policy that a function states, called as the function is."""
    called = getattr(build, "__name__", type(build).__name__)
    if not called.isidentifier():
        raise PolicyError(f"the function {called} has no name: define it with def, its policy is called so")
    if POLICIES.get(called) is not None:
        raise PolicyError(f"the function {called!r} has the name of a policy of the table: call it otherwise")
    name = _OwnName(called)
    name.build = build
    words = (getattr(build, "__doc__", None) or "").strip()
    summary = words.splitlines()[0] if words else "a formulation of the user's own"
    return Policy(name, "dominant", "formulation", "per resource", summary, "a function", argument=called, build=build)


def _title(path: str) -> str:
    """Return the first line of a formulation file's docstring; the file is read and not run."""
    try:
        words = ast.get_docstring(ast.parse(Path(path).read_text(encoding="utf-8")))
    except (OSError, SyntaxError, ValueError):
        words = None
    return words.splitlines()[0] if words else "a formulation file"


def parts_per_task(instance: Instance, users: Any = slice(None)) -> np.ndarray:
    """Return the part of each capacity that one task takes, (n, m), or of some users; 0 of what there is none of."""
    return np.asarray(instance.demands[users] / np.where(instance.capacity > 0, instance.capacity, np.inf))


def shares_per_task(instance: Instance) -> np.ndarray:
    """Return the same as it is counted in shares: 0 of the resources that are excluded from them."""
    return np.where(instance.counted, parts_per_task(instance), 0.0)


def dominant_rates(instance: Instance) -> np.ndarray:
    """Return the dominant share of one task of each user, (n,), weights ignored."""
    return np.asarray(shares_per_task(instance).max(axis=1))


NO_SHARE = Fraction(0)


def exact_shares(row: Sequence[Fraction], instance: Instance) -> list[Fraction]:
    """Return the share of every resource that a task with these demands, (m,), is; 0 of what is excluded from them."""
    cells = zip(row, instance.exact_capacity, instance.counted.tolist(), strict=True)
    return [d / c if d and c and counts else NO_SHARE for d, c, counts in cells]


def without_level(user: str) -> str:
    """Return the sentence that refuses a user whose level nothing makes rise."""
    return (
        f"user {user!r} uses only resources that are excluded from the shares, so that its level would be 0 whatever "
        "it has: count one of them, or leave it out"
    )
