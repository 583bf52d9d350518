"""What users are to have after a purchase: ``A>=100`` tasks, ``A.share>=1/5``, ``*>=50%`` of everybody's limit
(or of what a ceiling allows, where that is less).

A target names a user, or ``*`` for everybody who can run a task somewhere.  What is compared is her number of tasks, or
after a dot her dominant ``share`` or her ``level`` under the policy, both of the cluster as it is after the purchase.
A number of tasks may be given as a percentage of her limit.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from numbers import Rational
from typing import Any

import numpy as np

from ...base.errors import InstanceError, listed, suggestion
from ...base.numbers.enclosures import Enclosure
from ...base.numbers.quantities import exact
from ...base.numbers.shown import changing
from ...base.tolerances import FILE_ERROR, LEVEL
from ...model.allocation import Allocation
from ...model.instance import Instance
from ...model.naming import some
from .clock_needs import guaranteed_tasks

__all__ = ["EVERYBODY", "MEASURES", "Target", "check_tiers", "left_nothing", "served_before", "targets_of"]

EVERYBODY = "*"

MEASURES = ("tasks", "share", "level")
"""What a target may be about."""

LARGEST = 10**12
"""Most tasks that a target asks for: floats tell the next one from it, with something to spare."""


@dataclass(frozen=True)
class Target:
    """The least that one user is to have.

    Attributes
    ----------
    user : int
        Row of the instance.
    name : str
    measure : str
        One of `MEASURES`.
    least : Fraction
        Positive.
    """

    user: int
    name: str
    measure: str
    least: Fraction

    def reached(self, allocation: Allocation) -> Any:
        """Return what an allocation gives her, in the target's measure; of an enclosure the lower end."""
        values = {"tasks": allocation.tasks, "level": allocation.levels}
        value = values[self.measure][self.user] if self.measure in values else allocation.dominant_shares[self.user]
        # Who has just that may be enclosed from a little below: it is no more sure than a float.
        return float(value.lower) if isinstance(value, Enclosure) else value

    def met(self, reached: Any, claimed: bool = False) -> bool:
        """Say whether so much is enough; of a float, but for the error of a level, or of a formulation file's claim."""
        if isinstance(reached, Rational):
            return bool(reached >= self.least)
        return bool(reached >= float(self.least) * (1 - (FILE_ERROR if claimed else LEVEL)))

    @property
    def what(self) -> str:
        """Return whose and what it is, as it is written."""
        return self.name if self.measure == "tasks" else f"{self.name}.{self.measure}"

    def __str__(self) -> str:
        return f"{self.what}>={self.least}"


def targets_of(wanted: str | Iterable[str | Target], instance: Instance, integer: bool = False) -> tuple[Target, ...]:
    """Return the targets written in a text (separated by commas) or in several, one a user and measure.

    Of several for one user the largest, but one that names it replaces that of everybody.

    Raises
    ------
    InstanceError
        When a text is no target, nobody is called so, or she may not or cannot have that much.
    """
    texts = [wanted] if isinstance(wanted, str | Target) else listed(wanted, "targets", InstanceError)
    if odd := [text for text in texts if not isinstance(text, str | Target)]:
        raise InstanceError(f"{odd[0]!r} is no target: write for example 'A>=100' or '*>=50%'")
    # Who is named besides everybody is meant to differ.
    named, everybody = dict[tuple[int, str], Target](), dict[tuple[int, str], Target]()
    for part in (part for text in texts for part in ([text] if isinstance(text, Target) else text.split(","))):
        of_all, read = (False, [part]) if isinstance(part, Target) else _read(part, instance, integer)
        found = everybody if of_all else named
        for target in read:
            key = target.user, target.measure
            found[key] = max(found.get(key, target), target, key=lambda one: one.least)
    found = everybody | named
    if not found:
        raise InstanceError("no target is given: write for example A>=100 or *>=50%")
    return tuple(sorted(found.values(), key=lambda target: (target.user, target.measure)))


def _read(text: str, instance: Instance, integer: bool) -> tuple[bool, list[Target]]:
    """Return whether a text is about everybody, and the targets that it says."""
    left, sign, right = text.rpartition(">=")
    left, right = left.strip(), right.strip()
    if not sign or not left or not right:
        raise InstanceError(f"{text.strip()!r} is no target: write for example A>=100, A.share>=1/5 or *>=50%")
    name, measure = _whose(left, instance)
    if name == EVERYBODY:
        limits = np.floor(instance.limits) if integer else instance.limits
        users = np.flatnonzero((limits > 0) & ~_homeless(instance, integer)).tolist()
        if not users:
            raise InstanceError(f"target {text.strip()!r}: nobody can run a task here, so there is nobody to meet it")
    else:
        users = [instance.users.index(name)]
    homeless = _homeless(instance, integer)
    for i in users:
        if homeless[i]:
            kinds = "a task" if instance.task_types is None or instance.task_types[i] is None else "one type of task"
            raise InstanceError(
                f"target {text.strip()!r}: {kinds} of user {instance.users[i]!r} fits on no machine that it may use"
            )
    return name == EVERYBODY, [_target(instance, i, measure, right, text.strip(), integer) for i in users]


def _whose(left: str, instance: Instance) -> tuple[str, str]:
    """Return the name and the measure before the sign; a name with a dot in it wins over a measure."""
    if left in instance.users or left == EVERYBODY:
        return left, "tasks"
    name, dot, measure = left.rpartition(".")
    if dot and measure in MEASURES and (name in instance.users or name == EVERYBODY):
        return name, measure
    if dot and (name in instance.users or name == EVERYBODY):
        raise InstanceError(
            f"a target is about {', '.join(MEASURES)}, not about {measure!r}{suggestion(measure, MEASURES)}"
        )
    near = suggestion(left, instance.users)
    raise InstanceError(f"there is no user {left!r} to have a target{near} (there are {some(instance.users)})")


def _homeless(instance: Instance, integer: bool) -> np.ndarray:
    """Say whose tasks, of divisible ones those of some type, fit on no machine: bool (n,); a pool may grow."""
    return np.zeros(instance.n, dtype=bool) if instance.machines is None else instance.unplaced(integer)


def _target(instance: Instance, i: int, measure: str, right: str, text: str, integer: bool) -> Target:
    name, limit = instance.users[i], instance.exact_limits[i]
    if integer and limit is not None:
        limit = Fraction(math.floor(limit))  # A part of a task is none.
    try:
        least = exact(right.removesuffix("%"))
    except InstanceError as error:
        raise InstanceError(f"target {text!r}: {error}") from None
    if right.endswith("%"):
        if measure == "tasks" and limit is None:
            raise InstanceError(
                f"target {text!r}: user {name!r} has no limit of which this could be a part: give a number of tasks"
            )
        if measure == "tasks" and not limit:
            asked = instance.max_tasks[i]
            low = "ceiling" if asked is None or asked >= 1 or (asked and not integer) else "max_tasks"
            raise InstanceError(
                f"target {text!r}: user {name!r} may have no {'whole ' * integer}task of which this could be a part: "
                f"raise its {low}"
            )
        least = least / 100 * (limit if measure == "tasks" and limit is not None else 1)
    if not least > 0:
        raise InstanceError(f"target {text!r}: ask for a positive number: everybody has at least {right}")
    if measure == "tasks" and least > LARGEST:
        raise InstanceError(f"target {text!r}: nobody needs over {LARGEST:.0e} tasks: check the number")
    if measure == "tasks":
        _check_ceilings(instance, i, least, text)
    if measure == "tasks" and limit is not None and least > limit:
        raise InstanceError(
            f"target {text!r}: user {name!r} has at most {limit} tasks: raise its max_tasks, or ask for less"
        )
    if measure == "share" and least > 1:
        raise InstanceError(f"target {text!r}: no share exceeds 1: give a number up to 1")
    return Target(i, name, measure, least)


def _check_ceilings(instance: Instance, i: int, least: Fraction, text: str) -> None:
    """Refuse what the ceiling of a user, or of a group that she is in, forbids in any cluster."""
    if (organisation := instance.organisation) is None:
        return
    rows = [(f"user {instance.users[i]!r}", organisation.ceilings[i])]
    rows += [(f"group {group.name!r}", group.ceiling) for group in organisation.above(organisation.paths[i])]
    for owner, ceiling in rows:
        for resource, amount in ceiling.items():
            need = least * instance.exact_demands[i][instance.resources.index(resource)]
            if need > amount:
                needs, most = changing(float(need), float(amount))
                raise InstanceError(
                    f"target {text!r} needs {needs} of {resource!r}, and {owner} may use {most}, whatever is bought: "
                    "raise the ceiling, or ask for less"
                )


def check_tiers(instance: Instance, targets: Iterable[Target], integer: bool) -> None:
    """Refuse targets of users to whom an endless user of a higher tier leaves nothing in any cluster."""
    wanted = list(targets)
    promised = guaranteed_tasks(instance)[1]
    if integer and instance.task_types is not None:  # Which types fit says what a guarantee is worth.
        several = np.array([kinds is not None for kinds in instance.task_types])
        promised = np.where(several & (promised > 0), instance.limits, promised)
    # Who is promised something may have so much of it.
    more = [t for t in wanted if not promised[t.user] or (t.measure == "tasks" and t.least > promised[t.user])]
    before = left_nothing(instance, [target.user for target in more], integer)
    for target in more:
        if names := before.get(target.user):
            text = served_before([repr(name) for name in names], repr(target.name), bool(promised[target.user]))
            raise InstanceError(f"target '{target}': user {text}")


def served_before(first: Sequence[str], last: str, promised: bool = False) -> str:
    """Return that each of some endless users leaves nothing more to another in any cluster, and what would help."""
    who = some(first) + " each" * (len(first) > 1)
    more, guarantee = (" beyond its guarantee", "a larger guarantee") if promised else ("", "a guarantee")
    return (
        f"{first[0]} is served before {last}, asks for tasks without an end and leaves nothing that {last} could use"
        f"{more}, whatever is bought: give {who} a max_tasks or a ceiling, or {last} {guarantee}"
    )


def left_nothing(instance: Instance, users: Iterable[int], integer: bool) -> dict[int, list[str]]:
    """Return who of these users has nothing in any cluster, and each endless user of a higher tier that takes it all.

    Of who is promised something that is what it could have beyond.

    Under a leximin, of all or of each machine, that one goes on until something that its task needs is used up wherever
    it may run.  Who needs all of that as well, and may run nowhere else, has nothing then; of whole tasks where it
    needs no less of each.
    """
    rules = instance.organisation
    if rules is None or rules.groups or instance.has_devices or instance.task_types is not None:
        return {}
    served = list(zip([-tier for tier in rules.tiers], rules.last, strict=True))

    def kind(i: int) -> tuple[Any, ...]:
        needs = instance.exact_demands[i] if integer else tuple(map(bool, instance.exact_demands[i]))
        return served[i], needs, None if instance.fits is None else tuple(instance.fits[i].tolist())

    endless = defaultdict[tuple[Any, ...], list[str]](list)
    for h, name in enumerate(instance.users):
        if instance.exact_limits[h] is None and not rules.ceilings[h]:
            endless[kind(h)].append(name)

    @cache
    def takers(mine: tuple[Any, ...]) -> list[str]:
        return [name for other, names in endless.items() if _takes_all(other, mine) for name in names]

    found = {i: takers(kind(i)) for i in users}
    return {i: names for i, names in found.items() if names}


def _takes_all(other: tuple[Any, ...], mine: tuple[Any, ...]) -> bool:
    """Say whether one kind of user is served before another, everywhere, and needs nothing that the other does not."""
    (turn, needs, fits), (own_turn, own_needs, own_fits) = other, mine
    everywhere = fits is None or all(there or not here for there, here in zip(fits, own_fits, strict=True))
    return (
        turn < own_turn and everywhere and all(own >= need for own, need in zip(own_needs, needs, strict=True) if need)
    )
