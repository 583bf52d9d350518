"""A formulation, an engine and a second author, each off by a millionth: crosscheck finds every one of them out.

For every policy, divisible and whole tasks and exact answers, a pool and machines.  The formulations are stated here,
in cvxpy and PuLP; per-server (a leximin on every machine) and path (levels that are not concave) have none.
"""

import sys
from collections import namedtuple
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pulp
import pytest

from drfopt import Instance, Machine, Organisation, PolicyError, solve
from drfopt.certificates import whole
from drfopt.certificates.second_solver import variable
from drfopt.model import packings
from drfopt.model.certificate import Certificate
from drfopt.model.policies import policy_named
from drfopt.solving.crosschecking import crosscheck
from drfopt.solving.methods import slow_dual, slow_market

MODULE = sys.modules["drfopt.solving.crosschecking"]
MILLIONTH = 1e-6
Stated = namedtuple("Stated", "problem tasks levels")

# Full to the last unit, so that a task a millionth larger fits no more.
POOL, RACKS = Instance([[1, 1], [1, 1]], [4, 4]), Instance([[1, 1], [1, 1]], machines=[[2, 2], [2, 2]])
ODD_POOL, ODD_RACKS = Instance([[1, 4], [3, 1]], [9, 18]), Instance([[1, 2], [2, 1]], machines=[[4, 6], [6, 4]])
WHERE = {"pool": (ODD_POOL, POOL), "machines": (ODD_RACKS, RACKS)}
POLICIES = ("drf", "asset", "single:r1", "tsf", "tasks", "ceei", "utilitarian", "throughput", "alpha:2", "per-server")
KINDS = ("divisible", "whole", "exact")


def able(policy, kind, instance):
    try:
        policy_named(policy).check(instance, kind == "whole")
    except PolicyError:
        return False
    return not (policy == "per-server" and kind != "divisible")


CELLS = [
    pytest.param(instance, policy, kind, id=f"{policy}-{kind}-{where}")
    for kind in KINDS
    for where, instance in (
        ("pool", POOL if kind == "whole" else ODD_POOL),
        ("machines", RACKS if kind == "whole" else ODD_RACKS),
    )
    for policy in (*POLICIES, "path:1/2:1/2..3/4:1")
    if able(policy, kind, instance)
]


def checked(instance, policy, kind, **options):
    return crosscheck(instance, policy, integer=kind == "whole", exact=kind == "exact", **options)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("instance", "policy", "kind"), CELLS)
def test_every_engine_and_second_author_that_is_off_is_found_out(instance, policy, kind, monkeypatch):
    found = checked(instance, policy, kind)
    assert found.agree is True, found
    answered = [answer for answer in found.methods if answer.levels is not None]
    assert len({answer.author for answer in answered}) > 1
    said = {answer.engine: (answer.by_user, answer.value, answer.author) for answer in answered}

    def repeated(name, compute, engine="", unpolished=False):
        # What was said before, but by one of them a millionth more.
        if name not in said:
            return MODULE.MethodAnswer(name, None, None, 0.0, "refused")
        levels, value, author = said[name]
        if name == spoiled:
            levels = levels * (1 + MILLIONTH)
            if isinstance(value, tuple):
                value = (*value[:-1], value[-1] * Fraction(1 + MILLIONTH))
            elif value is not None:
                value *= 1 + MILLIONTH
        return MODULE.MethodAnswer(
            name, np.sort(levels), value, 0.0, author=author, by_user=levels, unpolished=unpolished
        )

    monkeypatch.setattr(MODULE, "_timed", repeated)
    for spoiled in said:
        after = checked(instance, policy, kind)
        assert after.agree is False, (spoiled, after)
        assert spoiled in (after.between.one, after.between.other)
        assert after.max_disagreement >= 0.9 * MILLIONTH
        assert "THEY DISAGREE" in str(after)
    spoiled = ""
    assert checked(instance, policy, kind).agree is True


@pytest.mark.parametrize("policy", ["utilitarian", "throughput", "ceei"])
def test_a_packing_that_the_engines_do_not_list_is_missed_by_somebody(policy, monkeypatch):
    # One engine, and more vectors of tasks than are enumerated: CBC alone is left to say so, with a list of its own.
    racks = Instance([[2, 1], [1, 2]], machines=[Machine("m", [3, 3], 90)])

    def one_kept(instance, k, members, *rest):
        return [{i: 1} for i in members]

    assert crosscheck(racks, policy, integer=True).agree is True
    monkeypatch.setattr(packings, "maximal_patterns", one_kept)
    monkeypatch.setattr("drfopt.engines.problem.maximal_patterns", one_kept)
    monkeypatch.setattr("drfopt.certificates.second_solver.maximal_patterns", one_kept)
    monkeypatch.setattr(whole, "certify", lambda *arguments: Certificate("bound", True, 0.0, gap=0.0))
    found = crosscheck(racks, policy, integer=True)
    assert found.agree is False
    # Who lists packings of its own disagrees: CBC's program here, or the engine that finds them by their prices.
    assert {"CBC", "priced-halves"} & {found.between.one, found.between.other}


def test_a_market_is_found_out_by_who_is_no_engine():
    random = np.random.default_rng(7)
    racks = Instance(random.integers(1, 9, (30, 3)), machines=random.integers(10, 40, (4, 3)))
    for policy in ("ceei", "alpha:3"):
        found = crosscheck(racks, policy)
        assert found.agree is True and found["smoothed dual"].author == "smoothed dual"
        assert found.max_disagreement < 1e-9


@pytest.mark.parametrize("seed", range(24))
def test_the_smoothed_dual_is_right_or_says_nothing(seed):
    random = np.random.default_rng(seed)
    n, k, m = int(random.integers(1, 25)), int(random.integers(0, 6)), int(random.integers(1, 5))
    demands = random.integers(0, 9, (n, m))
    demands[demands.sum(axis=1) == 0, 0] = 1
    limits = [None if random.random() < 0.7 else int(random.integers(1, 20)) for _ in range(n)]
    machines = [Machine(f"m{q}", random.integers(5, 30, m), int(random.integers(1, 9))) for q in range(k)]
    room = None if k else random.integers(20, 100, m)
    instance = Instance(demands, room, machines=machines or None, weights=random.integers(1, 5, n), max_tasks=limits)
    policy = policy_named(("ceei", "alpha:2", "alpha:0.5", "alpha:5")[seed % 4])
    found = slow_dual.tasks(instance, policy.alpha, instance.weights, policy.rates(instance))
    assert found == pytest.approx(solve(instance, policy).tasks, rel=1e-8, abs=1e-12)


def promised(cpu, promises, needs, *, racks=False):
    """Return a cluster of so much cpu, where the last user is a tier before the others and some are promised cpu."""
    rules = Organisation(guarantees={name: {"cpu": p} for name, p in promises.items()}, tiers={max(needs): 1})
    where = {"machines": [Machine("m", {"cpu": cpu / 2}, 2)]} if racks else {"capacity": {"cpu": cpu}}
    return Instance({name: {"cpu": need} for name, need in needs.items()}, organisation=rules, **where)


TIERS = {
    "half a task": (12, {"a": 2}, {"a": 4, "b": 1, "c": 1}),
    "a thousandth": (1000, {"a": 1}, {"a": 2, "b": 1, "c": 3}),
    "nearly all": (8, {"a": 7.99}, {"a": 1, "b": 2, "c": 1}),
    "two promises": (100, {"a": 3, "b": 2}, {"a": 7, "b": 3, "c": 1}),
}


@pytest.mark.parametrize("policy", ["utilitarian", "throughput"])
@pytest.mark.parametrize("racks", [False, True])
@pytest.mark.parametrize("case", TIERS)
def test_a_later_tier_is_not_given_what_an_earlier_one_could_spare(case, racks, policy, monkeypatch):
    instance = promised(*TIERS[case], racks=racks)
    found = crosscheck(instance, policy)
    assert found.agree is True and found.max_disagreement < 1e-12
    by_hand = [float(x) for x in solve(instance, policy, exact=True).levels]
    assert found["linprog"].by_user == pytest.approx(by_hand, rel=1e-12, abs=1e-15)
    # An earlier tier that lets so little go, or a later one that has so little more, is found out.
    tasks = slow_market.sum_tasks
    for i in np.flatnonzero(by_hand):
        off = np.where(np.arange(instance.n) == i, 2e-9 * instance.n, 0.0)
        for sign in (1, -1):
            monkeypatch.setattr(slow_market, "sum_tasks", lambda p, o=1 + sign * off: tasks(p) * o)
            assert crosscheck(instance, policy).agree is False


def test_where_a_rounding_is_much_to_a_later_tier_floats_say_nothing():
    found = crosscheck(promised(3e7, {"a": 1}, {"a": 1, "c": 1}), "throughput")
    assert found.agree is None and "floats cannot decide" in found["linprog"].reason


def test_nothing_is_compared_with_itself():
    # A hundred users along a path are beyond the reference, and one engine is one author.
    many = Instance(np.random.default_rng(0).integers(1, 9, (400, 2)), [900, 900])
    found = crosscheck(many, "path:1/2:1/2..3/4:1")
    assert found.agree is None and found.max_disagreement is None
    assert "undecided" in str(found)


# ---- formulations ------------------------------------------------------------------------------------------------


def stated(policy, instance, larger):
    """Return a function that states the policy, of tasks that are so many times as large."""
    chosen, rates = policy_named(policy), policy_named(policy).rates(instance)

    def rooms(data):
        if data.machines is None:
            return data.capacity[None, :], np.ones((len(data.demands), 1))
        return data.counts[:, None] * data.machines, 1.0 * data.eligible

    def divisible(data, held):
        capacity, eligible = rooms(data)
        z = cp.Variable(eligible.shape, nonneg=True)
        x = cp.sum(z, axis=1)
        levels, rules = (
            cp.multiply(rates, x),
            [z.T @ (larger * data.demands) <= capacity, cp.multiply(1 - eligible, z) == 0],
        )
        if chosen.objective == "leximin":
            t, rising = cp.Variable(), np.isnan(held)
            rules.append(levels >= cp.multiply(1.0 * rising, t) + np.nan_to_num(held))
            return Stated(cp.Problem(cp.Maximize(t if rising.any() else 0), rules), x, levels)
        if chosen.objective == "sum":
            aim = cp.sum(levels)
        else:
            aim = cp.sum(cp.log(levels)) if chosen.alpha == 1 else -cp.sum(cp.inv_pos(levels))
        return Stated(cp.Problem(cp.Maximize(aim), rules), x, None)

    def whole(data, held):
        model = pulp.LpProblem("stated", pulp.LpMaximize)
        machines = [data.capacity] if data.machines is None else [row for row in data.machines for _ in range(1)]
        z = [
            [variable(model, f"z_{i}_{k}", 0, None, "Integer") for k in range(len(machines))] for i in range(len(rates))
        ]
        for k, room in enumerate(machines):
            for j, total in enumerate(room):
                model += pulp.lpSum(larger * float(d[j]) * z[i][k] for i, d in enumerate(data.demands)) <= float(total)
        x = [pulp.lpSum(row) for row in z]
        if chosen.objective == "leximin":
            t = variable(model, "t", 0, None)
            model += t if np.isnan(held).any() else 0
            for i, h in enumerate(held):
                model += float(rates[i]) * x[i] >= (t if np.isnan(h) else float(h))
            return Stated(model, x, [float(rates[i]) * x[i] for i in range(len(x))])
        if chosen.objective == "sum":
            model += pulp.lpSum(float(rates[i]) * x[i] for i in range(len(x)))
        else:
            logs = []
            for i, tasks in enumerate(x):
                logs.append(variable(model, f"log_{i}", None, None))
                for q in range(1, 6):
                    slope = np.log((q + 1) / q)
                    model += logs[-1] <= slope * tasks + np.log(q) - slope * q
            model += pulp.lpSum(logs)
        return Stated(model, x, None)

    return divisible, whole


FORMULATED = [cell for cell in CELLS if not cell.id.startswith(("per-server", "path")) and "exact" not in cell.id]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("instance", "policy", "kind"), FORMULATED)
def test_a_formulation_that_is_off_is_found_out(instance, policy, kind):
    for larger, agree in ((1, True), (1 + MILLIONTH, False)):
        found = checked(instance, policy, kind, formulation=stated(policy, instance, larger)[kind == "whole"])
        assert found.agree is agree, found
        if not agree:
            assert found.between.other in ("divisible", "whole")
            assert found.max_disagreement > 5e-7
