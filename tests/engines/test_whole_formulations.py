"""The programs that state whole tasks once more: each equals enumeration, under every rule, with types and devices."""

import random
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from organised import organised_pool
from test_packed_devices import shared
from whole_reference import Enumeration, Groups, awkward

from drfopt import FormulationError, Group, Instance, Machine, Organisation, PolicyError, TaskType, crosscheck, solve
from drfopt.engines.reference.enumeration import TooManyToListError, packable
from drfopt.model import packings
from drfopt.model.policies import policy_named
from drfopt.solving.crosschecking import beside

FOLDER = Path(__file__).parents[2] / "formulations"
VALUES, GROUPS, MARKET = (str(FOLDER / f"{name}_integer.py") for name in ("guarantees", "hierarchy", "market"))
KINDS = {
    "rules": {},
    "rules on machines": {"machines": True},
    "types": {"types": True, "rules": False},
    "types on machines": {"types": True, "rules": False, "machines": True},
    "types under rules": {"types": True},
    "types under rules on machines": {"types": True, "machines": True},
}
LEXIMIN, MARKETS = ("drf", "asset", "tasks", "drf"), ("ceei", "utilitarian", "alpha:2", "alpha:1/2")
MOST = 16
"""Tasks of all users alone, beyond which an instance is left out."""


class Packed(Enumeration):
    """What fits is looked up among all that the reference lists, which knows devices."""

    def _packed(self, tasks: list) -> bool:
        instance = self.instance
        kinds = sorted({(demand, tuple(classes)) for mine in self.tasks for demand, classes in mine})
        if not hasattr(self, "listed"):
            fits = [[k in classes for k in range(instance.k)] for _, classes in kinds]
            none: list = [None] * len(kinds)
            self.listed = packable([demand for demand, _ in kinds], packings.machine_rows(instance), none, fits)
        asked = [(demand, tuple(classes)) for demand, classes in tasks]
        run = [asked.count(kind) for kind in kinds]
        return any(all(y >= x for y, x in zip(row, run, strict=True)) for row in self.listed)


def stated_again(instance: Instance, policy: str, file: str, which: object) -> bool:
    """Compare a formulation with enumeration; say whether both take the instance."""
    several = file == GROUPS
    try:
        reference = (Packed if instance.has_devices else Enumeration)(instance, policy)
        if sum(reference.most) > MOST:
            return False
        found = solve(instance, beside(policy_named(file), policy_named(policy)), integer=True)
    except TooManyToListError:
        return False
    except PolicyError as error:
        assert "count" in str(error) or "excluded" in str(error), which
        return False
    assert found.certificate.valid is None, which
    if several:
        ways = Groups(instance, policy)
        ways.packing = reference
        assert tuple(found.tasks.tolist()) in ways.best(), which
    else:
        assert reference.score(found.tasks) == reference.best(), which
    return bool(reference.playing)


def drawn(seed: int, machines: bool, types: bool, devices: bool, market: bool) -> Instance:
    """Return an organisation with several groups, on one of the clusters."""
    chance, pool = random.Random(seed), organised_pool(seed)
    rules = pool.organisation
    assert rules is not None
    cluster: dict = {}
    if devices:
        cluster = {"machines": [Machine("c", {"r0": 2}, 2, {"r0": 2}), Machine("b", {"r0": 3}, 1)]}
        for row in cluster["machines"]:
            row.capacity.update({r: 4 for r in pool.resources if r != "r0"})
    elif machines:
        rooms = [dict.fromkeys(pool.resources, 2 + (seed + k) % 3) for k in range(2)]
        cluster = {"machines": [Machine(f"c{k}", room, 1 + k) for k, room in enumerate(rooms)]}
    users: dict = {}
    for u, row in zip(pool.users, pool.exact_demands, strict=True):
        demand = dict(zip(pool.resources, row, strict=True))
        if devices:
            demand["r0"] = min(demand["r0"], 2) if chance.random() < 0.5 else Fraction(1, chance.choice([1, 2, 3]))
        other = {r: chance.choice([0, 1, 2]) for r in pool.resources}
        several = [TaskType(demand, chance.choice([1, 2])), TaskType(other, chance.choice([1, 2, 3]))]
        users[u] = several if types and any(other.values()) and chance.random() < 0.6 else demand
    names = ("guarantees", "ceilings", "paths") if market else ("guarantees", "ceilings", "tiers", "paths")
    by_user = {name: dict(zip(pool.users, getattr(rules, name), strict=True)) for name in names}
    groups, meaning = rules.groups, "floor" if market else rules.meaning
    if market:
        groups = [replace(group, weight=group.weight or 1, tier=0) for group in groups]
    weights = [0 if last and not market else w or 1 for w, last in zip(pool.exact_weights, rules.last, strict=True)]
    limits = {
        u: None if isinstance(users[u], list) else limit for u, limit in zip(users, pool.exact_limits, strict=True)
    }
    return Instance(
        users,
        None if cluster else dict(zip(pool.resources, pool.exact_capacity, strict=True)),
        weights=dict(zip(users, weights, strict=True)),
        max_tasks=limits,
        organisation=Organisation(**by_user, groups=groups, meaning=meaning, excluded=rules.excluded),
        **cluster,
    )


def values(kind: str, seeds: range) -> int:
    """Return of how many instances the leximin's program was compared with enumeration."""
    return sum(stated_again(awkward(seed, **KINDS[kind]), LEXIMIN[seed % 4], VALUES, (kind, seed)) for seed in seeds)


def markets(kind: str, seeds: range) -> int:
    """Return the same of the market's."""
    return sum(
        stated_again(awkward(seed, **KINDS[kind], market=True), MARKETS[seed % 4], MARKET, (kind, seed))
        for seed in seeds
    )


def organised(seeds: range, *, market: bool) -> int:
    """Return the same of organisations with several groups, on pools, machines and devices, some of several types."""
    number = 0
    for seed in seeds:
        machines, types, devices = ((seed // place) % 2 > 0 for place in (1, 2, 4))
        pool = organised_pool(seed)
        if not pool.organisation or (max(pool.exact_capacity) > 12 and not (machines or devices)):
            continue
        instance = drawn(seed, machines, types, devices, market)
        policy, file = (MARKETS[seed % 4], MARKET) if market else (LEXIMIN[seed % 4], GROUPS)
        number += stated_again(instance, policy, file, seed)
    return number


def on_devices(seeds: range) -> int:
    """Return the same of guarantees, tiers and ceilings beside devices."""
    number = 0
    for seed in seeds:
        chance, instance = random.Random(seed), shared(seed)
        users = list(instance.users)
        promised = {u: {"gpu": chance.choice([1, Fraction(1, 2), 2])} for u in users if chance.random() < 0.5}
        rules = {"guarantees": promised, "paths": dict.fromkeys(users, "g")}
        groups = [Group("g", ceiling={"cpu": 5})] if chance.random() < 0.5 else [Group("g")]
        market = seed % 2 > 0
        if not market:
            rules["tiers"] = {u: chance.choice([0, 0, 1]) for u in users}
        ruled = Instance(**(instance.parts() | {"organisation": Organisation(**rules, groups=groups)}))
        policy, file = (MARKETS[seed // 2 % 4], MARKET) if market else (LEXIMIN[seed // 2 % 4], VALUES)
        number += stated_again(ruled, policy, file, seed)
    return number


@pytest.mark.parametrize("kind", KINDS)
def test_the_values_of_whole_tasks_equal_enumeration(kind):
    assert values(kind, range(5)) > 2


def test_what_a_group_is_promised_is_worth_what_the_policy_counts():
    for kind, seed in (("types under rules", 386), ("types under rules on machines", 517)):
        assert values(kind, range(seed, seed + 1)) == 1
    assert markets("types under rules on machines", range(213, 214)) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_markets_equal_enumeration(kind):
    assert markets(kind, range(5)) > 2


@pytest.mark.parametrize("market", [False, True], ids=["hierarchy", "market"])
def test_several_groups_equal_enumeration(market):
    assert organised(range(140, 147), market=market) > 1


def test_rules_on_devices_equal_enumeration():
    assert on_devices(range(8)) > 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_values_of_whole_tasks_equal_enumeration_at_length(kind, some):
    assert values(kind, range(100, 100 + some(600))) > some(300)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_markets_equal_enumeration_at_length(kind, some):
    assert markets(kind, range(100, 100 + some(600))) > some(300)


@pytest.mark.slow
@pytest.mark.parametrize("market", [False, True], ids=["hierarchy", "market"])
def test_several_groups_equal_enumeration_at_length(market, some):
    assert organised(range(200, 200 + some(1600)), market=market) > some(300)


@pytest.mark.slow
def test_rules_on_devices_equal_enumeration_at_length(some):
    assert on_devices(range(100, 100 + some(600))) > some(200)


@pytest.mark.parametrize("policy", ["drf", "asset", "ceei", "utilitarian", "alpha:2"])
def test_they_are_second_authors(policy):
    market = policy not in LEXIMIN
    for seed in range(3):
        instance = awkward(seed, types=True, machines=True, market=market)
        found = crosscheck(instance, policy, integer=True, formulation=MARKET if market else VALUES)
        assert found.agree is True and found.methods[-1].levels is not None


def test_the_formulation_of_groups_is_a_second_author():
    found = crosscheck(Instance.library("tree-of-departments"), "drf", integer=True, formulation=GROUPS)
    assert found.agree is True and found.methods[-1].levels is not None


def test_levels_that_stand_still_are_one_notion_to_all_authors():
    """Of 12 cpus left y has tasks of 1 until it gained as much as x by one of 3; by turns each had three."""
    groups = Organisation(
        paths={"a": "g", "x": "g", "b": "h", "y": "h"}, groups=[Group("g"), Group("h")], guarantees={"z": {"cpu": 13}}
    )
    demands = {"a": {"gpu": 1}, "x": {"cpu": 3}, "b": {"gpu": 1}, "y": {"cpu": 1}, "z": {"cpu": 1}}
    limits = {"a": 1, "b": 1, "z": 13}
    instance = Instance(demands, {"gpu": 2, "cpu": 25}, max_tasks=limits, organisation=groups)
    found = solve(instance, integer=True)
    assert found.tasks.tolist() == [1, 2, 1, 6, 13] and found.certificate.rigorous
    assert Groups(instance, "drf").best() == {(1, 2, 1, 6, 13)}
    assert crosscheck(instance, "drf", integer=True, formulation=GROUPS).agree


def test_a_promise_of_parts_of_tasks_is_kept_by_whole_ones():
    """A guarantee of 5/2 tasks is worth 2, of which none is missing."""
    rules = Organisation(guarantees={"u1": {"r1": 5}})
    found = solve(Instance([[2], [1]], [6], organisation=rules), VALUES, integer=True)
    assert found.tasks.tolist() == [2, 2] and not found.broken


def test_a_formulation_of_one_type_refuses_several():
    instance = Instance({"A": [TaskType([1, 2], 2), TaskType([2, 1], 1)]}, [5, 5])
    with pytest.raises(
        FormulationError, match=r"no use of task types \(data.kinds\): .*formulations/guarantees_integer.py"
    ):
        solve(instance, str(FOLDER / "drf_integer.py"), integer=True)


@pytest.mark.parametrize(
    ("policy", "file"), [("single:r0", VALUES), ("single:r0", GROUPS), ("tsf", VALUES), ("throughput", MARKET)]
)
def test_files_are_told_what_is_compared(policy, file):
    agreed = 0
    for seed in range(8):
        kinds = {"rules": seed % 4 > 0, "machines": seed % 2 > 0, "types": seed % 3 > 1}
        instance = awkward(seed, **kinds, market=policy == "throughput")
        try:
            found = crosscheck(instance, policy, integer=True, formulation=file)
        except PolicyError as error:
            assert "count" in str(error) or "demands none" in str(error)
            continue
        assert found.agree is True or found.silent, seed
        agreed += found.agree is True
    assert agreed > 3
