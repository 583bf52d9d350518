"""Tiers, floors and resources that do not count, in a pool: proven from the levels alone, and other answers refused."""

import contextlib
import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from forging import attack, file_of

from drfopt import Group, Instance, Machine, Organisation, TaskType, solve
from drfopt.base.errors import DrfoptError
from drfopt.certificates.document import certificate_document
from drfopt.certificates.verifier import loads, verify
from drfopt.model.organisation import MEANINGS


def drawn(seed):
    """Return a pool with guarantees that fit together, tiers and limits."""
    chance = np.random.default_rng(seed)
    n, m = int(chance.integers(2, 6)), int(chance.integers(1, 4))
    demands = chance.integers(0, 4, (n, m))
    demands[demands.sum(axis=1) == 0, 0] = 1
    room = chance.integers(8, 30, m)
    users, resources = [f"u{i}" for i in range(n)], [f"r{j}" for j in range(m)]
    guarantees = {u: {r: int(room[j]) / 2 / n} for u in users if chance.random() < 0.5 for j, r in enumerate(resources)}
    tiers = {u: int(chance.integers(0, 3)) for u in users if seed % 2}
    limits = [None if chance.random() < 0.6 else int(chance.integers(0, 6)) for _ in users]
    rows = {u: dict(zip(resources, row, strict=True)) for u, row in zip(users, demands.tolist(), strict=True)}
    return Instance(
        rows,
        dict(zip(resources, room.tolist(), strict=True)),
        max_tasks=dict(zip(users, limits, strict=True)),
        organisation=Organisation(guarantees, tiers=tiers),
    )


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("seed", range(15))
def test_the_answer_is_proven_and_none_beside_it(seed, exact):
    instance = drawn(seed)
    for policy in ("drf", "asset", "tasks"):
        found = loads(json.dumps(certificate_document(solve(instance, policy, exact=exact))))
        report = verify(found)
        assert report.valid is True, [check for check in report.checks if not check.holds]
        for user in found["users"]:
            del user["level"]
        for i, user in enumerate(found["users"]):
            own = user["tasks"]
            for factor in (Fraction(1) - Fraction(1, 10**6), Fraction(1, 2), Fraction(1) + Fraction(1, 10**6)):
                moved = Fraction(str(own)) * factor
                found["users"][i]["tasks"] = str(moved) if exact else float(moved)
                assert Fraction(str(own)) == 0 or verify(found).valid is not True
            found["users"][i]["tasks"] = own


def test_what_cannot_be_kept_is_kept_to_one_part():
    promised = Organisation({"A": {"a": 8}, "B": {"a": 8}})
    found = solve(Instance({"A": {"a": 1}, "B": {"a": 1}}, {"a": 10}, organisation=promised), exact=True)
    data = loads(json.dumps(certificate_document(found)))
    assert verify(data).valid is True
    for row, tasks in zip(data["users"], (6, 4), strict=True):
        row |= {"tasks": str(tasks), "level": str(Fraction(tasks, 10))}
    assert verify(data).valid is False


def racked(chance, resources, k):
    rows = [dict(zip(resources, chance.integers(2, 9, len(resources)).tolist(), strict=True)) for _ in range(k)]
    return [Machine(f"c{q}", row, int(chance.integers(1, 4))) for q, row in enumerate(rows)]


def clusters(seed, machines, meaning):
    """Return a small cluster: promises that may not fit together, tiers, weights of 0, excluded resources."""
    chance = np.random.default_rng(seed)
    n, m, k = int(chance.integers(2, 6)), int(chance.integers(1, 4)), int(chance.integers(1, 4))
    users, resources, scale = [f"u{i}" for i in range(n)], [f"r{j}" for j in range(m)], int(chance.choice([2, 4, 10]))
    demands = chance.integers(0, 4, (n, m))
    demands[demands.sum(axis=1) == 0, 0] = 1
    rows = {u: dict(zip(resources, row, strict=True)) for u, row in zip(users, demands.tolist(), strict=True)}
    given = {u: {r: int(chance.integers(0, 10)) / scale for r in resources if chance.random() < 0.7} for u in users}
    given = {u: {r: v for r, v in row.items() if v} for u, row in given.items() if chance.random() < 0.6}
    rules = Organisation(
        {u: row for u, row in given.items() if row},
        tiers={u: int(chance.integers(0, 3)) for u in users} if seed % 2 else {},
        meaning=meaning,
        excluded=[resources[0]] if m > 1 and seed % 5 == 0 else [],
    )
    more = {"weights": {u: int(chance.integers(0, 3)) for u in users}} if seed % 3 == 0 else {}
    more |= {"max_tasks": {u: int(chance.integers(0, 6)) for u in users if chance.random() < 0.3}}
    if not machines:
        return Instance(
            rows, dict(zip(resources, chance.integers(4, 16, m).tolist(), strict=True)), organisation=rules, **more
        )
    racks = [
        Machine(
            f"c{q}", dict(zip(resources, chance.integers(2, 9, m).tolist(), strict=True)), int(chance.integers(1, 4))
        )
        for q in range(k)
    ]
    open_to = {u: [f"c{q}" for q in range(k) if chance.random() < 0.7] for u in users}
    if seed % 4 == 0:
        for u in users[:2]:
            rows[u] = [
                TaskType({r: int(v) for r, v in rows[u].items()}, int(chance.integers(1, 4))),
                TaskType({resources[0]: 1}, 2),
            ]
            del open_to[u]
    return Instance(rows, machines=racks, eligible=open_to, organisation=rules, **more)


def answered(seeds, exact=True, policies=("drf", "asset", "single:r0", "tasks")):
    """Yield the files of all answers to the clusters of some seeds."""
    for seed in seeds:
        for machines, meaning in itertools.product((False, True), MEANINGS):
            for policy in policies:
                with contextlib.suppress(DrfoptError):
                    yield file_of(clusters(seed, machines, meaning), policy, exact=exact)


@pytest.mark.parametrize("exact", [True, False])
def test_rules_on_pools_and_machines_are_decided(exact):
    assert proven(answered(range(2), exact)) > 10


@pytest.mark.slow
@pytest.mark.parametrize("exact", [True, False])
def test_hundreds_of_answers_under_rules_are_decided(exact, some):
    assert proven(answered(range(2, 2 + some(150)), exact)) > some(1_400)


def test_forged_answers_under_rules_prove_nothing_that_is_not_so():
    assert attack(list(answered(range(2), policies=("drf",))), 150, seed=1) > 75


@pytest.mark.slow
def test_ten_thousand_forged_answers_under_rules_prove_nothing_that_is_not_so(some):
    assert attack(list(answered(range(12), policies=("drf", "asset"))), some(10_000), seed=2) > some(5_000)


# ---- groups --------------------------------------------------------------------------------------------------------


def trees(seed, machines, meaning):
    """Return a small cluster of groups in two storeys: promises, ceilings, tiers, weights of 0, excluded resources."""
    chance = np.random.default_rng(seed)
    n, m = int(chance.integers(2, 7)), int(chance.integers(1, 4))
    users, resources = [f"u{i}" for i in range(n)], [f"r{j}" for j in range(m)]
    demands = chance.integers(0, 4, (n, m))
    demands[demands.sum(axis=1) == 0, 0] = 1
    rows = {u: dict(zip(resources, row, strict=True)) for u, row in zip(users, demands.tolist(), strict=True)}

    def some(part, most):
        return {r: int(chance.integers(1, most)) / 2 for r in resources if chance.random() < part}

    given = {u: some(0.5, 6) for u in users if chance.random() < 0.3}
    paths = {u: str(chance.choice(["a", "b", "a/x", "a/y"])) for u in users if chance.random() < 0.8}
    groups = []
    for name in sorted({name for path in paths.values() for name in (path.split("/")[0], path)}):
        cap = some(0.2, 16)
        promise = {r: v for r, v in some(0.2, 8).items() if v <= cap.get(r, v)}
        tier = int(chance.integers(0, 2)) if seed % 3 == 0 else 0
        groups.append(Group(name, int(chance.integers(seed % 4 != 0, 4)), promise, cap, tier))
    more = {
        "organisation": Organisation(
            {u: row for u, row in given.items() if row},
            tiers={u: int(chance.integers(0, 3)) for u in users} if seed % 5 == 0 else {},
            paths=paths,
            groups=groups,
            meaning=meaning,
            excluded=[resources[0]] if m > 1 and seed % 7 == 0 else [],
        ),
        "weights": {u: int(chance.integers(seed % 4 != 1, 4)) for u in users},
        "max_tasks": {u: int(chance.integers(0, 6)) for u in users if chance.random() < 0.3},
    }
    if not machines:
        return Instance(rows, dict(zip(resources, chance.integers(4, 16, m).tolist(), strict=True)), **more)
    open_to = {u: [f"c{q}" for q in range(3) if chance.random() < 0.7] for u in users}
    return Instance(rows, machines=racked(chance, resources, 3), eligible=open_to, **more)


def grouped(seeds, policies=("drf", "asset", "single:r0", "tasks")):
    """Yield the files of all answers to the trees of some seeds; in floats too in pools, on machines every third."""
    for seed, machines, meaning, policy in itertools.product(seeds, (False, True), MEANINGS, policies):
        for exact in (True,) if machines and seed % 3 else (True, False):
            with contextlib.suppress(DrfoptError):
                yield file_of(trees(seed, machines, meaning), policy, exact=exact)


def test_groups_are_decided():
    assert proven(grouped(range(2))) > 20


@pytest.mark.slow
def test_hundreds_of_answers_of_groups_are_decided(some):
    assert proven(grouped(range(2, 2 + some(100)))) > some(1_800)


def test_forged_answers_of_groups_prove_nothing_that_is_not_so():
    assert attack(list(grouped(range(2, 3), policies=("drf",))), 60, seed=7) > 25


@pytest.mark.slow
def test_ten_thousand_forged_answers_of_groups_prove_nothing_that_is_not_so(some):
    assert attack(list(grouped(range(12), policies=("drf", "asset"))), some(10_000), seed=8) > some(4_000)


def test_a_group_promised_nothing_of_a_resource_is_promised_nothing():
    """As a user is: it has used up the first of what it is promised before it begins."""
    group = Group("g", guarantee={"a": 0, "b": 4})
    rules = Organisation(paths={"A": "g"}, groups=[group])
    rows = {"A": {"a": 1, "b": 1}, "B": {"a": 1, "b": 1}}
    assert verify(file_of(Instance(rows, {"a": 4, "b": 5}, organisation=rules), exact=True)).valid is True


IDLE = {
    "no rules": {},
    "tiers": {"tiers": {"A": 0, "B": 0, "C": 1}},
    "groups": {"paths": {"A": "g", "B": "g", "C": "h"}, "groups": [Group("g"), Group("h")]},
}


@pytest.mark.parametrize("price", [1e-30, 1e-15, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("rules", IDLE)
def test_in_floats_a_price_of_next_to_nothing_stops_nobody(rules, price):
    """C could have all GPUs, of which half are idle: what that costs is less than what others lose in rounding."""
    rows = {"A": {"cpu": 1}, "B": {"cpu": 1, "memory": 1}, "C": {"gpu": 1}}
    racks = [Machine("m", {"cpu": 4, "gpu": 4, "memory": 7}, 2)]
    how = {"organisation": Organisation(**IDLE[rules])} if rules != "no rules" else {}
    found = file_of(Instance(rows, machines=racks, **how))
    assert verify(found).valid is True
    for user in found["users"]:
        user |= {"tasks": 4.0, "level": 0.5}
    found["placement"] = {user: {"m": 4.0} for user in rows}
    stop = next(step for step in found["proof"]["rounds"] if "A" in step["finished"])
    assert verify(found).valid is False
    stop |= {"finished": list(rows), "prices": {"m": {**stop["prices"]["m"], "gpu": price / 8}}}
    found["proof"]["rounds"] = [stop]
    assert verify(found).valid is False


# ---- markets and sums ---------------------------------------------------------------------------------------------

MARKETS = ("ceei", "alpha:2", "alpha:0.5", "utilitarian", "throughput")


def companies(seed, machines):
    """Return a small cluster of groups with weights and ceilings, and users, or groups, that are promised something."""
    chance = np.random.default_rng(seed)
    n, m = int(chance.integers(2, 6)), int(chance.integers(1, 4))
    users, resources = [f"u{i}" for i in range(n)], [f"r{j}" for j in range(m)]
    demands = chance.integers(0, 4, (n, m))
    demands[demands.sum(axis=1) == 0, 0] = 1
    rows = {u: dict(zip(resources, row, strict=True)) for u, row in zip(users, demands.tolist(), strict=True)}
    given = {u: {r: int(chance.integers(1, 6)) / 2 for r in resources if chance.random() < 0.5} for u in users[::2]}
    paths = {u: str(chance.choice(["a", "b", "a/x", "a/y"])) for u in users if chance.random() < 0.7}
    names = sorted({name for path in paths.values() for name in (path.split("/")[0], path)})
    caps = [{r: int(chance.integers(1, 8)) for r in resources if chance.random() < 0.3} for _ in names]
    sizes = chance.integers(1, 4, len(names)).tolist()
    own = [{r: min(int(chance.integers(1, 6)), cap.get(r, 9)) for r in resources if seed % 2} for cap in caps]
    groups = [Group(*each) for each in zip(names, sizes, own, caps, strict=True)]
    more = {
        "organisation": Organisation({u: row for u, row in given.items() if row}, paths=paths, groups=groups),
        "weights": {u: int(chance.integers(1, 4)) for u in users},
        "max_tasks": {u: int(chance.integers(0, 6)) for u in users if chance.random() < 0.3},
    }
    if not machines:
        return Instance(rows, dict(zip(resources, chance.integers(4, 16, m).tolist(), strict=True)), **more)
    open_to = {u: [f"c{q}" for q in range(3) if chance.random() < 0.7] for u in users}
    return Instance(rows, machines=racked(chance, resources, 3), eligible=open_to, **more)


def traded_files(seeds):
    """Yield the files of all markets and sums on the clusters of some seeds."""
    for seed, machines, policy in itertools.product(seeds, (False, True), MARKETS):
        with contextlib.suppress(DrfoptError):
            yield file_of(companies(seed, machines), policy)


def proven(files):
    """Say how many files there are, each of which is accepted."""
    found = [(data, verify(data)) for data in files]
    for data, report in found:
        assert report.valid is True, (data["policy"], [check for check in report.checks if not check.holds])
    return len(found)


def test_markets_and_sums_under_rules_are_decided():
    assert proven(traded_files(range(2))) == 20


@pytest.mark.slow
def test_hundreds_of_markets_and_sums_under_rules_are_decided(some):
    assert proven(traded_files(range(3, 3 + some(100)))) > some(700)


def test_forged_markets_and_sums_under_rules_prove_nothing_that_is_not_so():
    assert attack(list(traded_files(range(1, 2))), 40, seed=3) > 20


@pytest.mark.slow
def test_ten_thousand_forged_markets_and_sums_under_rules_prove_nothing_that_is_not_so(some):
    assert attack(list(traded_files(range(12))), some(10_000), seed=4) > some(5_000)


def test_a_price_that_rounding_lowers_proves_a_sum_though_a_limit_is_far_away():
    pool = Instance([[10**12]], [7], max_tasks=[0.1])
    found = loads(json.dumps(certificate_document(solve(pool, "utilitarian"))))
    assert verify(found).valid is True
    found["users"][0] |= {"tasks": str(Fraction(found["users"][0]["tasks"]) * Fraction(999_999, 10**6))}
    found["users"][0].pop("level", None)
    assert verify(found).valid is False


def test_a_price_of_next_to_nothing_counts_where_all_money_is_spent():
    users, sizes = ["u0", "u1", "u2"], [1, 10**12, 1]
    cluster = Instance(
        dict(zip(users, ([1], [1], [3]), strict=True)),
        machines=[
            Machine(f"c{k}", [size], count) for k, (size, count) in enumerate(zip(sizes, (1, 2, 3), strict=True))
        ],
        weights=[1, 10**6, 0],
        max_tasks={"u1": "1/2"},
    )
    found = file_of(cluster)
    assert verify(found).valid is True
    found["users"][2] |= {"tasks": "1"}
    assert verify(found).valid is False


def test_a_chain_of_classes_far_apart_in_size_is_proven_by_all_of_its_prices():
    cluster = Instance(
        [[3], [10**6], ["1e-6"]], machines=[Machine("a", [3]), Machine("b", [1], 2), Machine("c", [10**12], 2)]
    )
    found = file_of(cluster)
    assert verify(found).valid is True
    for i, row in enumerate(found["users"]):
        forged = json.loads(json.dumps(found, default=str))
        forged["users"][i] |= {"tasks": str(Fraction(row["tasks"]) * Fraction(999_999, 10**6))}
        for user in forged["users"]:
            user.pop("level", None)
        assert verify(loads(json.dumps(forged))).valid is False


@pytest.mark.parametrize(
    "cluster, policy",
    [
        # A has all it asks for, and pays less than a rounding of what B does.
        (
            Instance(
                [["1e-12", "1e-12"], ["1e-12", 1]],
                machines=[Machine("a", [10**6, 10**12]), Machine("b", [3, 7], 2)],
                max_tasks=[1, None],
            ),
            "tasks",
        ),
        # A stops first, and pays less than a rounding of what B and C do when they stop.
        (
            Instance(
                [["1e-12"], ["1e-12"], ["1e-12"]],
                machines=[Machine("a", ["1e-6"], 3), Machine("b", [1], 2), Machine("c", [10**12])],
                eligible=[[False, True, False], [True, False, True], [True, True, True]],
            ),
            "asset",
        ),
        # A pays little of the money, and far more than is left of it.
        (
            Instance(
                [[1], [10**6], [10**6]],
                machines=[Machine("a", [10**12], 2), Machine("b", [3], 3)],
                weights=["1e-6", "1e-6", 1],
            ),
            "tsf",
        ),
    ],
)
def test_who_pays_next_to_nothing_and_needs_no_proof_does_not_make_prices_slight(cluster, policy):
    assert verify(file_of(cluster, policy)).valid is True


def noisy(policy="drf"):
    """Return a file in which B could have twice as much, and pays a price that is less than a rounding of A's."""
    users = {"A": {"cpu": 1}, "B": {"memory": 1}}
    machines = [Machine("a", {"cpu": 4, "memory": 8})]
    found = file_of(Instance(users, machines=machines, weights={"A": 2}), policy)
    assert verify(found).valid is True
    found["users"][1] |= {"tasks": 4.0, "level": 0.5}
    found["placement"]["B"]["a"] = 4.0
    prices = {"a": {"cpu": "1/4", "memory": "1/1000000000000000000"}}
    found["proof"]["rounds"] = [{"level": "1/2", "finished": ["A", "B"], "prices": prices}]
    return found


def test_a_price_of_next_to_nothing_finishes_nobody():
    assert verify(noisy()).valid is False


@pytest.mark.parametrize(
    "cluster, policy",
    [
        (  # The small class is full, and what it costs is less than what rounding may make of the other's price.
            Instance(
                [[1], [1], [1], ["1e-6"]],
                machines=[Machine("a", ["1e-6"]), Machine("b", [7], 2)],
                weights=["1e-6", 3, 1, 10**6],
            ),
            "tsf",
        ),
        (
            Instance(
                [["1e-6", 10**6], [10**6, 0], [1, 10**6], [1, "1e-6"]],
                machines=[Machine("a", [10**6, 10**6]), Machine("b", ["1e-6", 10**6], 3)],
            ),
            "tasks",
        ),
    ],
)
def test_where_prices_that_may_be_rounding_decide_floats_do_not_tell(cluster, policy):
    report = verify(file_of(cluster, policy))
    assert report.valid is None
    assert any("floats do not tell" in check.worst for check in report.checks)
    assert verify(file_of(cluster, policy, exact=True)).valid is True


def unlit(left):
    """Return a market's file in which nothing runs on a class with so much of what there is."""
    cluster = Instance([["1e-20"], ["1e-20"]], machines=[Machine("a", [1]), Machine("b", [left])])
    found = file_of(cluster, "ceei")
    for user in found["users"]:
        user["tasks"] = found["placement"][user["name"]]["a"]
        found["placement"][user["name"]] = {"a": user["tasks"]}
        del user["level"]
    return found


def test_what_is_left_of_a_small_class_matters_to_who_would_notice():
    assert verify(unlit(1e-11)).valid is True
    assert verify(unlit(1e-7)).valid is False
