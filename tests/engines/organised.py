"""Seeded clusters of organisations, awkward on purpose: ties, limits and promises of 0, nested groups, tiers."""

import random
from fractions import Fraction

from drfopt import Group, Instance, Machine, Organisation

PATHS = ("", "a", "b", "a/x", "a/y", "b/z", "a/x/q")
MEANINGS = ("floor", "floor", "surplus", "normalised")


def organised_pool(seed: int) -> Instance:
    """Return a pool of a few users, with some rules of every kind."""
    chance = random.Random(seed)
    resources = [f"r{j}" for j in range(chance.randint(1, 3))]
    capacity = {r: chance.choice([1, 2, 3, 6, 12, 30, 1000]) for r in resources}
    demands = {f"u{i}": _demand(chance, resources) for i in range(chance.randint(1, 6))}
    users = list(demands)
    grouped = chance.random() < 0.8
    paths = {u: chance.choice(PATHS) for u in users} if grouped else {}
    promised = {u: _promise(chance, resources, 0.6) for u in users if chance.random() < 0.3}
    return Instance(
        demands,
        capacity,
        weights={u: chance.choice([0, 1, 1, 1, 2, 5]) for u in users},
        max_tasks={u: chance.choice([None, None, None, 0, 1, 2, Fraction(7, 2)]) for u in users},
        organisation=Organisation(
            guarantees=promised,
            ceilings={u: _ceiling(chance, resources, promised.get(u, {})) for u in users if chance.random() < 0.2},
            tiers={u: chance.choice([0, 0, 0, 1]) for u in users},
            paths=paths,
            groups=_groups(chance, resources, set(paths.values())) if chance.random() < 0.7 else (),
            meaning=chance.choice(MEANINGS),
            excluded=resources[-1:] if len(resources) > 1 and chance.random() < 0.15 else (),
        ),
    )


def on_machines(pool: Instance, seed: int, classes: int) -> Instance:
    """Return the same users on so many classes of machines, each open to some of them."""
    chance = random.Random(seed)
    machines = [
        Machine(
            f"c{k}",
            {r: 5 * chance.choice([1, 2, 4, 8, 30, Fraction(9, 2)]) for r in pool.resources},
            chance.randint(1, 5),
        )
        for k in range(classes)
    ]
    names = [machine.name for machine in machines]
    open_to = {u: [name for name in names if chance.random() < 0.7] or names[:1] for u in pool.users}
    return again(pool, machines=machines, eligible=open_to)


def again(instance: Instance, capacity: object = None, **cluster: object) -> Instance:
    """Return the same users and rules in another cluster."""
    users, rules = instance.users, instance.organisation
    by_user = {
        name: dict(zip(users, getattr(rules, name), strict=True))
        for name in ("guarantees", "ceilings", "tiers", "paths")
    }
    return Instance(
        {
            u: dict(zip(instance.resources, row, strict=True))
            for u, row in zip(users, instance.exact_demands, strict=True)
        },
        capacity,
        weights={u: 0 if last else w for u, w, last in zip(users, instance.exact_weights, rules.last, strict=True)},
        max_tasks=dict(zip(users, instance.exact_limits, strict=True)),
        organisation=Organisation(**by_user, groups=rules.groups, meaning=rules.meaning, excluded=rules.excluded),
        **cluster,
    )


def _demand(chance: random.Random, resources: list[str]) -> dict:
    demand = {r: chance.choice([0, 0, 1, 1, 2, 3, 5]) for r in resources}
    return demand if any(demand.values()) else demand | {resources[0]: 1}


def _promise(chance: random.Random, resources: list[str], often: float) -> dict:
    return {r: chance.choice([0, 1, 2, 5, Fraction(1, 2)]) for r in resources if chance.random() < often}


def _ceiling(chance: random.Random, resources: list[str], promise: dict) -> dict:
    return {r: max(promise.get(r, 0), chance.choice([1, 2, 4, 8])) for r in resources if chance.random() < 0.4}


def _groups(chance: random.Random, resources: list[str], paths: set[str]) -> list[Group]:
    names = {"/".join(path.split("/")[:depth]) for path in paths if path for depth in range(1, path.count("/") + 2)}
    groups = []
    for name in sorted(names):
        promise = _promise(chance, resources, 0.3)
        weight, tier = chance.choice([0, 1, 1, 2, 3, Fraction(1, 3)]), chance.choice([0, 0, 0, 1])
        groups.append(Group(name, weight, promise, _ceiling(chance, resources, promise), tier))
    return groups
