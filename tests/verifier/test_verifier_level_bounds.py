"""Files of whole tasks that are not all proven: what they prove of levels is so by enumeration, forged or not."""

import copy
import itertools
import json
import random
from fractions import Fraction
from functools import cache

import jsonschema
import numpy as np
import pytest

from drfopt import Instance, Machine, Organisation, schema, solve
from drfopt.certificates import packing_bound, whole
from drfopt.certificates.branch_and_cut import Inconclusive, refute
from drfopt.certificates.document import document
from drfopt.certificates.feasibility import exactly_feasible
from drfopt.certificates.verifier import loads, verify
from drfopt.engines.problem import Problem
from drfopt.engines.whole import rounding
from drfopt.model.policies import policy_named
from drfopt.model.whole_values import WholeUsers


def rack(seed):
    """Return two machines with devices, or a pool; with limits, or promises and tiers."""
    rng = np.random.default_rng(seed)
    limits = [None if rng.random() < 0.5 else int(rng.integers(1, 4)) for _ in range(3)]
    rules = Organisation(guarantees={"A": {"cpu": 2}}, tiers={"C": 1}) if seed % 3 == 2 else None
    names = dict(zip("ABC", rng.integers(1, 4, 3).tolist(), strict=True))
    if seed % 2:
        needs = {name: {"cpu": need, "gpu": int(rng.integers(0, 3))} for name, need in names.items()}
        return Instance(needs, {"cpu": 9, "gpu": 7}, max_tasks=limits, organisation=rules)
    parts = rng.choice(["0", "2/3", "1/2", "1/3", "1"], 3)
    needs = {name: {"cpu": need, "gpu": part} for (name, need), part in zip(names.items(), parts, strict=True)}
    machines = [
        Machine("a", {"cpu": 5, "gpu": 2}, devices={"gpu": 2}),
        Machine("b", {"cpu": 4, "gpu": 1}, devices={"gpu": 1}),
    ]
    return Instance(needs, machines=machines, max_tasks=limits, organisation=rules)


def possible(instance):
    """Yield all whole tasks that the cluster can run."""
    most = WholeUsers(instance, policy_named("drf"), range(3)).most
    for tasks in itertools.product(*(range(x + 1) for x in most)):
        if instance.machines is None:
            if (np.array(tasks) @ instance.demands <= instance.capacity).all():
                yield list(tasks)
            continue
        for first in itertools.product(*(range(x + 1) for x in tasks)):
            loads = [dict(enumerate(first)), dict(enumerate(x - y for x, y in zip(tasks, first, strict=True)))]
            if not exactly_feasible(instance, list(tasks), [(0, 1, loads[0]), (1, 1, loads[1])]):
                yield list(tasks)
                break


@cache
def best_of(seed):
    return solve(rack(seed), "drf", integer=True)


@cache
def partly(seed, proven):
    """Return the file of the best answer of which so many levels are proven, and the rest is bounded."""
    instance, best, left = rack(seed), best_of(seed), [proven]

    def some(*arguments, **options):
        left[0] -= 1
        if left[0] < 0:
            raise Inconclusive
        return refute(*arguments, **options)

    def too_large(*arguments):
        raise whole.TooLargeToAsk

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(whole, "refute", some)
        patched.setattr(whole.second_solver, "fewer", too_large)
        patched.setattr(packing_bound, "LOADS", 0)
        proof = whole.certify(instance, policy_named("drf"), best.tasks, best.certificate.evidence.packing)
        told = [None] * 3
        data = document(instance, "drf", best.tasks, told, None, proof.evidence, integer=True)
    for one in data["users"]:
        del one["level"]
    return proof, json.dumps(data)


def told(report):
    """Return how many levels are proven, and the bounds of places."""
    names = [check.name for check in report.checks if check.holds]
    bounds = [name.removeprefix("level ").split(", ") for name in names if name.startswith("level ")]
    bounds = [(int(place[6:]), Fraction(most.split()[2])) for _, place, most in bounds]
    return sum(name.startswith("no fewer users can be at level") for name in names), bounds


@pytest.mark.parametrize("seed", range(6))
def test_what_is_proven_and_what_the_others_can_be_at_most(seed):
    instance = rack(seed)
    users = WholeUsers(instance, policy_named("drf"), range(3))
    levels = sorted(set(users.values(best_of(seed).tasks.tolist())))
    for proven in range(len(levels)):
        proof, text = partly(seed, proven)
        assert proof.valid is None
        number, bounds = told(report := verify(loads(text)))
        assert (number, len(bounds)) == (proven, len(levels) - proven)
        # A small pool is searched besides; on machines the file is all there is.
        assert report.valid is (True if instance.machines is None and not instance.features else None)
        if not instance.features:
            assert [most for _, most in bounds] == [
                proof.evidence.bound,
                *(most for _, _, most in proof.evidence.above),
            ]


def test_bounds_are_what_the_schema_says():
    validator = jsonschema.Draft202012Validator(schema("certificate"))
    for seed, proven in ((0, 0), (0, 1), (1, 0)):  # machines with devices, and a pool
        data = json.loads(partly(seed, proven)[1])
        for user in data["users"]:
            user["level"] = 0
        assert data["proof"]["bounds"] and validator.is_valid(data)
        for broken in ({"most": {"user": "A"}}, {"tree": [{"price": {"cpu": "1"}}]}, {"tree": {}}, {"mots": 1}):
            forged = copy.deepcopy(data)
            forged["proof"]["bounds"][-1] |= broken
            assert not validator.is_valid(forged), broken
        del data["proof"]["bounds"][0]["tree"]
        assert not validator.is_valid(data)


def attack(seeds, times):
    """Forge the bounds of files, and return what is told of some place that is not so."""
    wrong = []
    for seed in seeds:
        instance, chance = rack(seed), random.Random(seed)
        if instance.features:
            continue  # What is below a promise is told by its part, which is no number to compare.
        users = WholeUsers(instance, policy_named("drf"), range(3))
        every = [sorted(users.values(tasks)) for tasks in possible(instance)]
        own = max(every)
        for proven in range(len(set(own))):
            _, text = partly(seed, proven)
            for _ in range(times):
                data = forged(chance, loads(text))
                try:
                    _, bounds = told(verify(data))
                except ValueError:
                    continue
                for place, most in bounds:
                    true = users.told(max(levels[place - 1] for levels in every if levels >= own))
                    if most < true:
                        wrong.append((seed, proven, place, most, true))
    return wrong


def forged(chance, data):
    """Return a file with one number of a bound changed, or one bound left out or in another's place."""
    bounds = data["proof"]["bounds"]
    one = chance.choice(bounds)
    kind = chance.choice(["most", "user", "number", "level", "drop", "leaf"])
    if kind == "most":
        one["most"]["tasks"] = max(0, one["most"]["tasks"] - chance.randint(1, 2))
    elif kind == "user":
        one["most"] = {"user": chance.choice("ABC"), "tasks": chance.randint(0, 3)}
    elif kind == "drop":
        bounds.remove(one)
    elif kind == "leaf":
        one["tree"] = chance.choice(bounds)["tree"]
        one["most"]["tasks"] = max(0, one["most"]["tasks"] - 1)
    else:
        leaf = one["tree"][0]
        rows = [leaf.get("prices"), leaf.get("tasks"), *leaf.get("classes", {}).values()]
        rows += [row for of_class in leaf.get("devices", {}).values() for row in of_class.values()]
        if rows := [row for row in rows if row]:
            row = chance.choice(rows)
            row[chance.choice(list(row))] = chance.choice(["0", "1", "-3", str(10**12)])
        if kind == "level":
            leaf["levels"] = [chance.choice(["0", "1", "-1", str(10**12)]) for _ in leaf["levels"]]
        one["most"]["tasks"] = max(0, one["most"]["tasks"] - chance.randint(0, 1))
    return data


def test_forged_bounds_prove_nothing_that_is_not_so():
    assert not attack((0, 1, 3), 15)


@pytest.mark.slow
def test_ten_thousand_forged_bounds_prove_nothing_that_is_not_so(some):
    assert not attack(range(3, 33), some(10_000) // 70)


@pytest.mark.parametrize("seed", [0, 4])
def test_the_search_skips_only_what_fillings_refute(seed, monkeypatch):
    """With devices the packing asks multipliers first, and ends with what it would have found without them."""
    problem = Problem(rack(seed), policy_named("drf"), True)
    found = rounding.solve(problem).tasks.tolist()
    monkeypatch.setattr(rounding.Packable, "refuted_at_once", lambda *arguments: False)
    assert rounding.solve(problem).tasks.tolist() == found
