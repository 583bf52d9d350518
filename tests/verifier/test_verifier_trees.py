"""Trees that prove whole tasks: what they prove is so by enumeration, and nothing that is forged is accepted."""

import copy
import itertools
import json
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from drfopt import Instance, Machine, Organisation, solve
from drfopt.certificates import packing_bound, whole
from drfopt.certificates.branch_and_cut import Better, Inconclusive, refute
from drfopt.certificates.document import certificate_document, document
from drfopt.certificates.exhaustive_search import playing
from drfopt.certificates.feasibility import exactly_feasible
from drfopt.certificates.level_claims import claims
from drfopt.certificates.verifier import loads, verify
from drfopt.engines.problem import Problem
from drfopt.io.native.reading import loads as read
from drfopt.model.evidence import Evidence
from drfopt.model.policies import policy_named
from drfopt.model.whole_values import WholeUsers
from drfopt.solving.methods import second_methods

POLICIES = ["drf", "asset", "tasks", "tsf", "ceei", "utilitarian", "throughput"]
PARTS = np.array(["3/5", "1/3", "1/2", "2/3", 1], dtype=object)


def drawn(seed, pool=False):
    """Return a small cluster, with ties, closed classes and limits."""
    chance = np.random.default_rng(seed)
    n, m, k = int(chance.integers(2, 5)), int(chance.integers(1, 3)), int(chance.integers(1, 4))
    demands = chance.integers(0, 5, (n, m))
    demands[demands.sum(axis=1) == 0, 0] = 1
    limits = [None if chance.random() < 0.7 else int(chance.integers(1, 9)) for _ in range(n)]
    weights = None if seed % 3 else chance.integers(1, 4, n).tolist()
    if pool:
        return Instance(demands, chance.integers(5, 20, m), max_tasks=limits, weights=weights)
    machines = [Machine(f"c{q}", chance.integers(4, 12, m).tolist(), int(chance.integers(1, 4))) for q in range(k)]
    open_to = chance.random((n, k)) < 0.8
    return Instance(demands, machines=machines, eligible=open_to, max_tasks=limits, weights=weights)


def written(instance, policy):
    return loads(json.dumps(certificate_document(solve(instance, policy, integer=True))))


def claimed(instance, policy, tasks, packing, trees):
    """Return a document that claims other tasks, with the trees of the best ones."""
    chosen = policy_named(policy)
    levels = [rate * x for rate, x in zip(chosen.exact_rates(instance), tasks, strict=True)]
    counts = np.array(tasks, dtype=np.int64)
    data = document(instance, policy, counts, levels, None, Evidence(packing=packing), integer=True)
    data["proof"]["trees"] = trees
    for row in data["users"]:
        del row["level"]
    return loads(json.dumps(data))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("policy", POLICIES)
def test_every_answer_is_proven_without_a_solver(seed, policy):
    for pool in (False, True):
        found = written(drawn(seed, pool), policy)
        report = verify(found)
        assert report.valid is True, [check for check in report.checks if not check.holds]


@pytest.mark.parametrize("policy", POLICIES)
def test_a_worse_answer_has_no_tree(policy):
    """All allocations of a small rack: the trees of the best ones prove no other."""
    rack = Instance([[2, 1], [1, 2], [1, 1]], machines=[Machine("a", [4, 4], 1), Machine("b", [3, 2], 1)])
    best = written(rack, policy)
    own = whole.score(rack, policy_named(policy), [row["tasks"] for row in best["users"]])
    for tasks in itertools.product(range(5), repeat=3):
        packing = packed(rack, tasks)
        if packing is None:
            continue
        score = whole.score(rack, policy_named(policy), list(tasks))
        assert score <= own, "what the engine found is the best"
        valid = verify(claimed(rack, policy, tasks, packing, best["proof"]["trees"])).valid
        assert valid is not True or score == own


def packed(rack, tasks):
    """Return a packing of some tasks on two machines, None where there is none."""
    for first in itertools.product(*(range(x + 1) for x in tasks)):
        rest = [x - y for x, y in zip(tasks, first, strict=True)]
        packing = [(0, 1, dict(enumerate(first))), (1, 1, dict(enumerate(rest)))]
        if not exactly_feasible(rack, list(tasks), packing):
            return packing
    return None


def test_a_question_of_packing_is_decided_by_branches_on_loads():
    # Two machines have room for 59 of 60, and no way to pack it: 15; 10, 10; 6, 6, 6, 6.  Multipliers do not suffice.
    rack = Instance([[15], [10], [6]], machines=[Machine("m", [30], 2)], max_tasks=[1, 2, 4])
    for policy in POLICIES:
        found = solve(rack, policy, integer=True)
        assert found.certificate.rigorous and sum(found.tasks) == 6
        data = written(rack, policy)
        branches = [node for tree in data["proof"]["trees"] for node in tree if "class" in node]
        assert branches
        assert verify(data).valid is True
        branches[0]["load"] = {rack.users[0]: 1, rack.users[2]: 1}
        assert verify(data).valid is None, "one more fits beside it"


def undivided():
    """Return three users whose parts of a device leave nothing for each other, and one of whole devices."""
    needs = [{"cpu": 1, "gpu": part} for part in ("3/5", "3/5", "1/3", 1)]
    return Instance(needs, machines=[Machine("m", {"cpu": 9, "gpu": 3}, 2, {"gpu": 3})], max_tasks=[None] * 3 + [2])


@pytest.mark.parametrize("policy", POLICIES)
def test_fillings_of_devices_prove_what_pooled_ones_leave_open(policy, monkeypatch):
    rack = undivided()
    best = whole.score(rack, policy_named(policy), solve(rack, policy, integer=True).tasks.tolist())
    monkeypatch.setattr(packing_bound, "LOADS", 0)
    found = solve(rack, policy, integer=True)
    assert whole.score(rack, policy_named(policy), found.tasks.tolist()) == best
    data = loads(json.dumps(certificate_document(found)))
    leaves = [node for tree in data["proof"].get("trees", ()) for node in tree if "devices" in node]
    assert verify(data).valid is True
    assert leaves or policy == "throughput", "the sum of tasks is searched"
    for node in leaves:
        for row in node["devices"]["m"].values():
            priced = dict(row)
            for forged in ({"1/2": str(10**30)}, {"6/5": "9"}, {"-1/2": "9"}, {"0": "9"}, {"1/20011": "1"}):
                row.update(forged)
                assert verify(data).valid is not True
                row.clear()
                row.update(priced)
        real = node["devices"]
        node["devices"] = {"m": {"cpu": {"1": "1"}}}
        assert verify(data).valid is not True
        node["devices"] = real


@pytest.mark.parametrize("seed", range(12))
def test_what_fillings_prove_is_so_by_enumeration(seed, monkeypatch):
    monkeypatch.setattr(packing_bound, "LOADS", 0)
    rng = np.random.default_rng([seed, 7])
    needs = [{"cpu": int(c), "gpu": g} for c, g in zip(rng.integers(0, 3, 3), rng.choice(PARTS, 3), strict=True)]
    machines = [Machine("m", {"cpu": 6, "gpu": 2}, 2, {"gpu": 2}), Machine("s", {"cpu": 2, "gpu": 1}, 1, {"gpu": 1})]
    rack = Instance(needs, machines=machines, max_tasks=[4, None, 3])
    policy = policy_named("drf")
    users = WholeUsers(rack, policy, playing(rack))
    worth = packing_bound.worth_of(users)
    assert worth.loads == [None, None]
    best = [int(x) for x in solve(rack, integer=True).tasks]
    assert whole.score(rack, policy, best) == second_methods._enumeration(Problem(rack, policy, True))[1]
    for claim in claims(users, best):
        # Everybody else reaches the level in the best of all: nothing may refute it.
        with pytest.raises((Better, Inconclusive)):
            refute(claim.raised(claim.level), worth, branch=False)


# ---- forged --------------------------------------------------------------------------------------------------------


def forged(chance, found):
    """Return the file with one thing of its trees or tasks changed, and what."""
    found = copy.deepcopy(found)
    trees = found["proof"]["trees"]
    tree = chance.choice(trees)
    node = chance.choice(tree)
    kind = chance.choice(["number", "number", "most", "drop", "swap", "tasks", "tasks", "tree", "names", "instance"])
    if kind == "number" and "most" not in node:
        rows = [row for row in (node.get("prices"), node.get("tasks"), *node.get("classes", {}).values()) if row]
        if rows:
            row = chance.choice(rows)
            name = chance.choice(list(row))
            row[name] = chance.choice(
                ["0", "1", "-1", str(-Fraction(row[name])), str(Fraction(row[name]) * 2), "1/0x7"]
            )
        elif node.get("levels"):
            place = chance.randrange(len(node["levels"]))
            node["levels"][place] = chance.choice(["0", "-5", "7"])
    elif kind == "most" and "most" in node:
        node["most"] += chance.choice([-1, 1, 100])
    elif kind == "drop":
        tree.remove(node)
    elif kind == "swap" and len(tree) > 1:
        one, other = chance.sample(range(len(tree)), 2)
        tree[one], tree[other] = tree[other], tree[one]
    elif kind == "tree":
        trees.remove(tree)
    elif kind == "names" and len(found["users"]) > 1 and "tasks" in node and isinstance(node["tasks"], dict):
        names = [row["name"] for row in found["users"]]
        node["tasks"] = {chance.choice(names): price for price in node["tasks"].values()}
    elif kind == "instance":
        user = chance.choice(found["instance"]["users"])
        resource = chance.choice(list(user["demand"]))
        user["demand"][resource] = chance.choice(["1", "1/2", "9"])
    else:
        changed(chance, found)
        kind = "tasks"
    return found, kind


def changed(chance, found):
    """Take some tasks away, and from the packing too, so that only the trees can tell."""
    row = chance.choice([row for row in found["users"] if row["tasks"]] or found["users"])
    row.pop("level")
    if not row["tasks"]:
        return
    row["tasks"] -= 1
    for entry in found["proof"].get("packing", []):
        if entry["tasks"].get(row["name"]):
            one = copy.deepcopy(entry) | {"machines": 1}
            entry["machines"] -= 1
            one["tasks"][row["name"]] -= 1
            found["proof"]["packing"].append(one)
            return


def best_score(data, policy):
    """Return the best score of an instance file, found again."""
    instance = read(json.dumps(data), "json")
    return whole.score(instance, policy_named(policy), solve(instance, policy, integer=True).tasks.tolist())


def attack(times, seed):
    chance = random.Random(seed)
    clusters = [drawn(one, pool) for one in range(6) for pool in (True, False)]
    files = [(policy, written(cluster, policy)) for cluster in clusters for policy in POLICIES]
    files = [(policy, found) for policy, found in files if found["proof"].get("trees")]
    best = {}
    accepted = 0
    for _ in range(times):
        policy, found = chance.choice(files)
        other, kind = forged(chance, found)
        try:
            valid = verify(other).valid
        except ValueError:
            continue
        if valid is not True:
            continue
        # Multipliers may be others and prove the same; what is proven must be so.
        accepted += 1
        key = policy, json.dumps(other["instance"], default=str)
        best[key] = best.get(key) or best_score(json.loads(key[1]), policy)
        instance = read(key[1], "json")
        tasks = [int(row["tasks"]) for row in other["users"]]
        assert whole.score(instance, policy_named(policy), tasks) == best[key], (kind, policy)
    assert accepted < times / 2


def test_forged_trees_prove_nothing_that_is_not_so():
    attack(200, seed=3)


@pytest.mark.slow
def test_ten_thousand_forged_trees_prove_nothing_that_is_not_so(some):
    attack(some(10_000), seed=4)


# ---- bounds --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("policy", ["utilitarian", "throughput", "ceei"])
def test_what_is_not_proven_has_a_bound_that_nothing_exceeds(seed, policy, monkeypatch):
    from drfopt.certificates import exhaustive_search, price_tree

    instance = drawn(seed)
    best = solve(instance, policy, integer=True)
    monkeypatch.setattr(price_tree, "NODES", 1)
    monkeypatch.setattr(exhaustive_search, "NODES", 0)

    def no_time(*arguments, **options):
        raise whole.TooLargeToAsk

    monkeypatch.setattr(whole.second_solver, "optimum", no_time)
    packing = [(k, n, {i: min(x, 1) for i, x in row.items()}) for k, n, row in best.certificate.evidence.packing or []]
    tasks = [sum(n * row.get(i, 0) for _, n, row in packing) for i in range(instance.n)]
    proof = whole.certify(instance, policy_named(policy), np.array(tasks), packing)
    if proof.valid is not None or proof.evidence.bound is None:
        return
    members = [i for i, x in enumerate(best.tasks.tolist()) if x]
    if policy == "ceei":
        powers = [float(w) for w in instance.weights[members]]
        logs = [math.log(x) for x in best.tasks[members].tolist()]
        value = math.exp(sum(w * y for w, y in zip(powers, logs, strict=True)) / sum(powers))
    else:
        value = float(whole.score(instance, policy_named(policy), best.tasks.tolist())[0])
    assert value <= float(proof.evidence.bound) * (1 + 1e-12)
    assert 0 <= proof.gap < 1
    assert "at most" in proof.reason


def mixed(promised=None):
    """Three devices: two tasks of 2/3 leave a third of each of two, which nobody who needs more can have."""
    rules = Organisation(guarantees={"A": {"gpu": promised}}) if promised else None
    return Instance(
        {"A": {"gpu": "2/3"}, "B": {"gpu": "1/2"}},
        machines=[Machine("m", {}, devices={"gpu": 3})],
        organisation=rules,
    )


@pytest.mark.parametrize("policy", ["drf", "ceei", "throughput", "alpha:2"])
@pytest.mark.parametrize("promised", [None, 3], ids=["plain", "a promise that cannot be kept"])
def test_what_devices_carry_is_known_device_by_device(policy, promised):
    """By what they have in all there would be room for four tasks of 2/3; a promise of 3 is worth four of them."""
    instance = mixed(promised)
    found = loads(json.dumps(certificate_document(solve(instance, policy, integer=True))))
    assert verify(found).valid is True
    for user in (0, 1):
        if not found["users"][user]["tasks"]:
            continue
        less = json.loads(json.dumps(found, default=str))
        less["users"][user]["tasks"] -= 1
        name = less["users"][user]["name"]
        entry = less["proof"]["packing"][0]
        entry["tasks"][name] -= 1
        holding = next(device for device in entry["devices"]["gpu"] if device.get(name))
        holding[name] -= 1
        less.pop("placement")
        for row in less["users"]:
            row.pop("level")
        assert verify(loads(json.dumps(less))).valid is not True, user
