"""What an organisation promises and forbids its users: guarantees, ceilings, tiers, and a tree of groups.

An `Organisation` is written with names and mappings; `Instance` settles it at the door, and behind the door it has one
entry a user, exact amounts, and every group of the tree, parents before children.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..base.errors import InstanceError, listed, suggestion
from ..base.numbers.quantities import MOST_COUNTED
from ..base.numbers.shown import DIGITS, apart, changing, written_in
from .arrays import amount_in_range
from .naming import by_user, some, with_names

__all__ = ["DEEPEST", "MEANINGS", "Broken", "Group", "Organisation", "check_path"]

MEANINGS = {
    "floor": "nobody is below its guarantee; levels count all that it has",
    "surplus": "guarantees come first; levels count what is above them",
    "normalised": "levels are measured in guarantees instead of capacities",
}
"""What a guarantee means."""

HIGHEST_TIER = MOST_COUNTED
"""Programs that read JSON keep no larger whole number."""

SEPARATOR = "/"

DEEPEST = 64
"""Levels of groups; a company has six, and what goes down the tree calls itself."""


@dataclass(frozen=True)
class Group:
    """A node of the tree of groups.

    Parameters
    ----------
    name : str
        Its path from the root, such as ``eng/dev``.
    weight : number
        Against its siblings, 0 or more; at 0 it is served after them.
    guarantee, ceiling : mapping from resource to number
        What all its members together are promised, and the most that they may use.
    tier : int
        Its members are served before those of siblings of a lower tier.
    """

    name: str
    weight: Any = 1
    guarantee: Mapping[str, Any] = field(default_factory=dict)
    ceiling: Mapping[str, Any] = field(default_factory=dict)
    tier: int = 0

    @property
    def parent(self) -> str:
        """Path of the group above; empty for one below the root."""
        return self.name.rpartition(SEPARATOR)[0]


@dataclass(frozen=True)
class Broken:
    """A guarantee that does not fit beside the others: so much of a resource is held of so much that was promised.

    The resource is the one that the guarantee's owner, a user or a group, would use up first; what is promised of it is
    at most what the limits of users let them have.  `unit` is what it is counted in, as in `Instance.units`.
    """

    owner: str
    of_group: bool
    resource: str
    held: Any
    promised: Any
    unit: str = field(default="", compare=False)

    def __str__(self) -> str:
        word, amounts = "group " if self.of_group else "", (float(self.held), float(self.promised))
        held, promised = apart(*amounts, DIGITS + 1, written_in(self.unit)) if self.unit else changing(*amounts)
        return f"{word}{self.owner} has {held} of {promised} {self.resource}"


@dataclass(frozen=True)
class Organisation:
    """Guarantees, ceilings, tiers and groups.

    Parameters
    ----------
    guarantees, ceilings : mapping from user to {resource: number}
        What a user is promised, and the most of a resource that it may use; a resource not listed has neither.
        Behind the door a tuple of one dict of fractions a user.
    tiers : mapping from user to int
        Higher ones are served first; 0 by default. Behind the door (n,).
    paths : mapping from user to str
        The group it is in. Behind the door (n,), empty for who is in none.
    groups : sequence of Group
    meaning : str
        What a guarantee means, one of `MEANINGS`.
    excluded : sequence of str
        Resources that are not counted in shares, though their capacity binds.
    last : tuple of bool
        Who has weight 0 and is served after everybody else of its tier; set by `Instance` from the weights.
    """

    guarantees: Any = field(default_factory=dict)
    ceilings: Any = field(default_factory=dict)
    tiers: Any = field(default_factory=dict)
    paths: Any = field(default_factory=dict)
    groups: Sequence[Group] = ()
    meaning: str = "floor"
    excluded: Sequence[str] = ()
    last: tuple[bool, ...] = ()

    @property
    def plain(self) -> bool:
        """Whether nothing is promised, forbidden or ordered."""
        return not (
            any(self.guarantees)
            or any(self.ceilings)
            or any(self.tiers)
            or any(self.paths)
            or self.groups
            or self.excluded
            or any(self.last)
        )

    @property
    def empty(self) -> bool:
        """Whether it says nothing at all, not even what a guarantee would mean."""
        return self.plain and self.meaning == "floor"

    def named(self, users: Sequence[str]) -> "Organisation":
        """Return a settled organisation as it is written, by names of users."""
        by_name: dict[str, Any] = {
            key: {user: value for user, value in zip(users, getattr(self, key), strict=True) if value}
            for key in ("guarantees", "ceilings", "tiers", "paths")
        }
        return replace(self, **by_name, last=())

    def times(self, factor: int) -> "Organisation":
        """Return an organisation as it is written in which every amount is so many times as large."""

        def larger(amounts: Mapping[str, Any]) -> dict[str, Any]:
            return {resource: factor * most for resource, most in amounts.items()}

        groups = [replace(g, guarantee=larger(g.guarantee), ceiling=larger(g.ceiling)) for g in self.groups]
        guarantees, ceilings = (
            {user: larger(amounts) for user, amounts in rows.items()} for rows in (self.guarantees, self.ceilings)
        )
        return replace(self, guarantees=guarantees, ceilings=ceilings, groups=groups)

    @property
    def promises(self) -> bool:
        """Whether anything is promised, to a user or to a group."""
        return any(self.guarantees) or any(group.guarantee for group in self.groups)

    @property
    def rules(self) -> str:
        """What kinds of rules there are, in words."""
        capped = any(self.ceilings) or any(group.ceiling for group in self.groups)
        late = any(self.last) or any(not group.weight for group in self.groups)
        there = {
            "guarantees": self.promises,
            "ceilings": capped,
            "tiers": any(self.tiers) or any(group.tier for group in self.groups),
            "groups": bool(self.groups),
            "excluded resources": bool(self.excluded),
            "weights of 0": late,
        }
        return ", ".join(kind for kind, given in there.items() if given)

    def above(self, path: str) -> Iterator[Group]:
        """Yield the groups on a path."""
        return (group for group in self.groups if f"{path}/".startswith(f"{group.name}/"))

    def bars(self, path: str, needs: Mapping[str, Fraction]) -> bool:
        """Say whether ceilings of the groups on a path are too low for what something needs."""
        return any(needs[resource] > most for group in self.above(path) for resource, most in group.ceiling.items())

    @property
    def in_turn(self) -> tuple[int, ...] | None:
        """In which turn everybody is served, (n,), from 0 on, where that is one order of all; None where it is not.

        Ranks of siblings are turns, and so are those inside a group that is alone in its rank.  Inside a group that has
        others beside it a lower rank waits for its siblings and not for them: there is no one order then.
        """
        return _turns(self)

    @property
    def only_ceilings(self) -> bool:
        """Whether all there is are the most that single users may have, which are limits of their tasks."""
        return replace(self, ceilings=()).plain

    @property
    def amounts(self) -> str:
        """What is promised, and forbidden but for single users, in words: amounts of the whole cluster; "" for nothing.

        All else means the same on one machine.
        """
        there = {"guarantees": self.promises, "ceilings": any(group.ceiling for group in self.groups)}
        return ", ".join(kind for kind, given in there.items() if given)

    @property
    def only_excludes(self) -> bool:
        """Whether all there is, but for the most that single users may have, are resources that do not count."""
        return replace(self, ceilings=(), excluded=()).plain

    def of_one_machine(self, rows: Sequence[int], names: Sequence[str]) -> "Organisation | None":
        """Return what holds on a machine for the users of some rows, by their names there, as it is written.

        That is the order, the tree and what is excluded; amounts are of the whole cluster.  None where nothing holds.
        """
        pairs = list(zip(names, rows, strict=True))
        tiers, paths = ({name: told[i] for name, i in pairs if told[i]} for told in (self.tiers, self.paths))
        groups = [replace(group, guarantee={}, ceiling={}) for group in self.groups]
        found = Organisation(tiers=tiers, paths=paths, groups=groups, excluded=self.excluded)
        return None if found.plain else found

    def most_tasks(self, resources: Sequence[str], demands: Sequence[Sequence[Fraction]]) -> list[Fraction | None]:
        """Return the tasks at which each user, (n,), meets the first of its ceilings; None for who has none."""
        found: list[Fraction | None] = []
        for ceiling, demand in zip(self.ceilings, demands, strict=True):
            needs = dict(zip(resources, demand, strict=True)) if ceiling else {}
            found.append(min((most / needs[r] for r, most in ceiling.items() if needs[r]), default=None))
        return found

    def settled(self, users: Sequence[str], resources: Sequence[str], last: Sequence[bool]) -> "Organisation":
        """Return the same with one entry a user, exact amounts and all groups of the tree.

        Raises
        ------
        InstanceError
            On an unknown user, resource, group or meaning, a guarantee above its ceiling, or a tier that is no integer.
        """
        if not isinstance(self.meaning, str) or self.meaning not in MEANINGS:
            known = f"{suggestion(str(self.meaning), MEANINGS)} (known: {', '.join(MEANINGS)})"
            raise InstanceError(f"guarantees mean {self.meaning!r}{known}")
        owners = [f"user {user!r}" for user in users]
        rows = {
            what: tuple(
                _amounts(given, resources, f"{owner}: {what}")
                for owner, given in zip(owners, by_user(values, users, f"{what}s", {}), strict=True)
            )
            for what, values in (("guarantee", self.guarantees), ("ceiling", self.ceilings))
        }
        for owner, guarantee, ceiling in zip(owners, rows["guarantee"], rows["ceiling"], strict=True):
            _check_ceiling(owner, guarantee, ceiling)
        tiers = tuple(
            _tier(tier, owner) for owner, tier in zip(owners, by_user(self.tiers, users, "tiers", 0), strict=True)
        )
        groups = [_group(group, resources) for group in listed(self.groups, "groups", InstanceError)]
        known_paths = list(dict.fromkeys(name for group in groups for name in (*_above(group.name), group.name)))
        paths = tuple(
            _member(path, owner, known_paths)
            for owner, path in zip(owners, by_user(self.paths, users, "groups", ""), strict=True)
        )
        return replace(
            self,
            guarantees=rows["guarantee"],
            ceilings=rows["ceiling"],
            tiers=tiers,
            paths=paths,
            groups=_tree(groups, paths),
            excluded=_excluded(self.excluded, resources),
            last=tuple(map(bool, last)),
        )


def _amounts(given: Any, resources: Sequence[str], place: str) -> dict[str, Fraction]:
    given = with_names(given, place)
    if not isinstance(given, dict):
        raise InstanceError(f"{place} is {given!r}: write a table of resource and amount, such as {{ cpu = 4 }}")
    amounts = {}
    for resource, value in given.items():
        if resource not in resources:
            raise InstanceError(
                f"{place} names {str(resource)!r}, but the cluster has {some(resources)}"
                f"{suggestion(str(resource), resources)}"
            )
        amounts[str(resource)] = amount_in_range(value, f"{place} of {resource!r}")
    return amounts


def _check_ceiling(owner: str, guarantee: Mapping[str, Fraction], ceiling: Mapping[str, Fraction]) -> None:
    for resource, promised in guarantee.items():
        if resource in ceiling and promised > ceiling[resource]:
            told, most = changing(float(promised), float(ceiling[resource]))
            raise InstanceError(
                f"{owner} is guaranteed {told} of {resource!r}, but its ceiling is {most}: lower the guarantee or "
                "raise the ceiling"
            )


def _tier(value: Any, owner: str) -> int:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or abs(int(value)) > HIGHEST_TIER:
        raise InstanceError(
            f"{owner}: tier is {value!r}: write a whole number from "
            f"{-HIGHEST_TIER:,} to {HIGHEST_TIER:,}, higher is served first"
        )
    return int(value)


def _group(group: Any, resources: Sequence[str]) -> Group:
    if not isinstance(group, Group):
        raise InstanceError(f"{group!r} is not a group: use Group(name=..., weight=...)")
    check_path(group.name, "a group")
    owner = f"group {group.name!r}"
    guarantee = _amounts(group.guarantee, resources, f"{owner}: guarantee")
    ceiling = _amounts(group.ceiling, resources, f"{owner}: ceiling")
    _check_ceiling(owner, guarantee, ceiling)
    return Group(
        group.name, amount_in_range(group.weight, f"{owner}: weight"), guarantee, ceiling, _tier(group.tier, owner)
    )


def check_path(path: Any, owner: str) -> None:
    """Raise when a path of groups is too deep, empty, or has an empty step; `owner` begins the sentence."""
    if isinstance(path, str) and path.count(SEPARATOR) >= DEEPEST:
        levels = path.count(SEPARATOR) + 1
        raise InstanceError(f"{owner} is called {path[:40]!r}..., {levels} levels deep: groups have at most {DEEPEST}")
    if not isinstance(path, str) or not path or any(not part.strip() for part in path.split(SEPARATOR)):
        raise InstanceError(f"{owner} is called {path!r}: write its path from the root, such as 'eng/dev'")


def _turns(rules: Organisation) -> tuple[int, ...] | None:
    children: dict[str, dict[tuple[int, bool], list[int | str]]] = {"": {}}
    for group in rules.groups:
        rank = (-group.tier, not group.weight)
        children.setdefault(group.parent, {}).setdefault(rank, []).append(group.name)
    for i, path in enumerate(rules.paths):
        children.setdefault(path, {}).setdefault((-rules.tiers[i], rules.last[i]), []).append(i)

    def served(name: str) -> list[list[int]] | None:
        """Return who of a group is served in which turn."""
        turns: list[list[int]] = []
        for _, siblings in sorted(children.get(name, {}).items()):
            each = [served(one) if isinstance(one, str) else [[one]] for one in siblings]
            there = [one for one in each if one != []]
            if any(one is None or (len(one) > 1 and len(there) > 1) for one in there):
                return None
            longest = max(map(len, filter(None, there)), default=0)
            turns += [[i for one in there if one for i in one[t]] for t in range(longest)]
        return turns

    turns = served("")
    if turns is None:
        return None
    return tuple(t for _, t in sorted((i, t) for t, users in enumerate(turns) for i in users))


def _above(path: str) -> list[str]:
    """Return the paths of the groups above one."""
    parts = path.split(SEPARATOR)
    return [SEPARATOR.join(parts[:depth]) for depth in range(1, len(parts))]


def _member(path: Any, owner: str, known: Sequence[str]) -> str:
    if isinstance(path, str) and not path:
        return ""
    check_path(path, f"the group of {owner}")
    if known and path not in known:
        raise InstanceError(f"{owner} is in group {path!r}, but the groups are {some(known)}{suggestion(path, known)}")
    return path


def _tree(groups: Sequence[Group], paths: Sequence[str]) -> tuple[Group, ...]:
    """Return all groups, those that are only named on the way to another included, parents before children."""
    tree: dict[str, Group] = {}
    for group in groups:
        if group.name in tree:
            raise InstanceError(f"group {group.name!r} is listed twice: give each group one entry")
        tree[group.name] = group
    for path in [*tree, *paths]:
        parts = path.split(SEPARATOR) if path else []
        for depth in range(1, len(parts) + 1):
            name = SEPARATOR.join(parts[:depth])
            tree.setdefault(name, Group(name, Fraction(1)))
    return tuple(sorted(tree.values(), key=lambda group: group.name.count(SEPARATOR)))


def _excluded(names: Sequence[str], resources: Sequence[str]) -> tuple[str, ...]:
    names = listed(names, "excluded", InstanceError)
    for name in names:
        if not isinstance(name, str) or name not in resources:
            raise InstanceError(
                f"excluded names {str(name)!r}, but the cluster has {some(resources)}{suggestion(str(name), resources)}"
            )
    if resources and set(names) >= set(resources):
        raise InstanceError("every resource is excluded from the shares: leave one in")
    return tuple(resource for resource in resources if resource in names)
