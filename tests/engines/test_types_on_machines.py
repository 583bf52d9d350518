"""Users with several task types on machines: every type on its own classes, all in one proportion, proven."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from drfopt import Instance, Machine, Organisation, PolicyError, TaskType, compare, crosscheck, solve
from drfopt.certificates import chain, duals
from drfopt.certificates.document import certificate_document
from drfopt.engines.problem import Problem
from drfopt.model.policies import policy_named
from drfopt.solving.methods import slow_market
from drfopt.solving.verifying import verify

MACHINES = [Machine("cpu", {"cpu": 16, "memory": 64}, 2), Machine("gpu", {"cpu": 8, "memory": 32, "gpu": 4})]
TRAINING = [
    TaskType({"cpu": 2, "memory": 8, "gpu": 1}, 6, name="worker"),
    TaskType({"cpu": 4, "memory": 4}, 3, ["cpu"], name="reader"),
]


def cluster(**rest):
    users = {"team": TRAINING, "batch": {"cpu": 1, "memory": 4}, "gpus": {"cpu": 1, "gpu": 1}}
    return Instance(users, machines=MACHINES, **rest)


def literal(instance: Instance, policy: str) -> np.ndarray:
    """Return the levels by programs written out: one row a type, and one question a user and round."""
    rates, types = policy_named(policy).rates(instance), instance.type_table
    playing = [i for i in range(instance.n) if not instance.unplaced()[i] and instance.limits[i] > 0]
    pairs = [(q, k) for q, i in enumerate(types.owner) if i in playing for k in np.flatnonzero(types.fits[q])]
    size = len(pairs) + instance.n + 1
    fill = np.zeros((instance.k, instance.m, size))
    mixed = np.zeros((len(types.owner), size))
    for p, (q, k) in enumerate(pairs):
        fill[k, :, p] = types.demands[q]
        mixed[q, p] = 1
    mixed[np.arange(len(types.owner)), len(pairs) + types.owner] = -types.part
    most = [instance.limits[i] if i in playing else 0 for i in range(instance.n)]
    bounds = [(0, None)] * len(pairs) + [(0, None if top == np.inf else top) for top in most] + [(0, None)]

    def highest(objective, rows, least):
        found = linprog(
            -objective,
            A_ub=np.vstack([fill.reshape(-1, size), -np.array(rows).reshape(-1, size)]),
            b_ub=np.concatenate([instance.room.ravel(), -np.array(least)]),
            A_eq=mixed[np.isin(types.owner, playing)],
            b_eq=np.zeros(int(np.isin(types.owner, playing).sum())),
            bounds=bounds,
            method="highs",
            options={"presolve": False, "primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        assert found.status == 0, found.message
        return -found.fun

    level_of = np.zeros((instance.n, size))
    level_of[np.arange(instance.n), len(pairs) + np.arange(instance.n)] = rates
    common = np.eye(size)[-1]
    levels, rising = np.zeros(instance.n), set(playing)
    while rising:
        held = [i for i in playing if i not in rising]
        waiting = sorted(rising)
        rows = [level_of[i] for i in held]
        least = [levels[i] * (1 - 1e-9) for i in held]
        t = highest(common, [*rows, *(level_of[i] - common for i in waiting)], [*least, *[0.0] * len(waiting)])
        rows += [level_of[i] for i in waiting]
        least += [t * (1 - 1e-9)] * len(waiting)
        stuck = [i for i in waiting if highest(level_of[i], rows, least) <= t * (1 + 1e-6)]
        assert stuck
        levels[stuck] = t
        rising -= set(stuck)
    return levels


def test_every_type_runs_in_its_proportion_on_its_own_classes():
    allocation = solve(cluster())
    assert allocation.certificate.valid
    document = json.loads(json.dumps(allocation.to_dict()))
    workers, readers = document["types"]["team"]
    assert (workers["name"], readers["name"]) == ("worker", "reader")
    assert workers["tasks"] == pytest.approx(2 * readers["tasks"])
    assert set(readers["placement"]) == {"cpu"}
    assert workers["tasks"] + readers["tasks"] == pytest.approx(document["users"][0]["tasks"])
    assert sum(allocation.placement[0]) == pytest.approx(allocation.tasks[0])
    assert set(document["types"]) == {"team"}
    assert document["users"][0]["bottleneck"] == ["gpu/gpu"]


def test_a_type_that_fits_nowhere_names_its_user_as_unplaced():
    kinds = [TaskType({"cpu": 1}, 1), TaskType({"gpu": 9}, 1)]
    allocation = solve(Instance({"A": kinds, "B": {"cpu": 1}}, machines=MACHINES))
    assert allocation.unplaced == ("A",)
    assert allocation.tasks.tolist() == [0, 40]


@pytest.mark.parametrize("policy", ["drf", "asset", "tasks", "single:cpu", "tsf"])
def test_one_type_is_a_demand_with_a_limit(policy: str):
    demands = {"A": {"cpu": 2, "memory": 3}, "B": {"cpu": 1, "memory": 4}, "C": {"cpu": 5}}
    plain = solve(Instance(demands, machines=MACHINES, max_tasks={"A": 4}), policy)
    typed = solve(Instance(demands | {"A": [TaskType(demands["A"], 4)]}, machines=MACHINES), policy)
    assert typed.levels == pytest.approx(plain.levels, rel=1e-12)


def test_alike_types_are_one():
    both = [TaskType({"cpu": 2, "memory": 3}, 2), TaskType({"cpu": 2, "memory": 3}, 5)]
    once = [TaskType({"cpu": 2, "memory": 3}, 7)]
    other = {"B": {"cpu": 1, "memory": 4}}
    found = [solve(Instance({"A": kinds} | other, machines=MACHINES)).levels for kinds in (both, once)]
    assert found[0] == pytest.approx(found[1], rel=1e-12)


@st.composite
def clusters(draw: st.DrawFn) -> Instance:
    """Small clusters with ties, empty classes, types that fit nowhere, and limits that bind."""
    m, k = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    names = [f"m{c}" for c in range(k)]
    machines = [
        Machine(name, draw(st.lists(st.integers(0, 8), min_size=m, max_size=m)), draw(st.integers(1, 3)))
        for name in names
    ]
    row = st.lists(st.integers(0, 3), min_size=m, max_size=m).filter(any)
    allowed = st.none() | st.lists(st.sampled_from(names), unique=True)
    kind = st.builds(TaskType, row, st.integers(1, 5), allowed)
    users = draw(st.lists(st.lists(kind, min_size=1, max_size=3) | row, min_size=1, max_size=5))
    users.append(draw(st.lists(kind, min_size=2, max_size=3)))
    demands = {f"u{i}": user for i, user in enumerate(users)}
    limits = draw(st.dictionaries(st.sampled_from(list(demands)), st.integers(0, 5), max_size=2))
    weights = draw(st.lists(st.integers(1, 2), min_size=len(demands), max_size=len(demands)))
    return Instance(demands, machines=machines, max_tasks=limits, weights=weights)


@given(clusters(), st.sampled_from(["drf", "asset", "tasks", "tsf"]))
def test_levels_are_those_of_the_literal_programs(instance: Instance, policy: str):
    allocation = solve(instance, policy)
    assert allocation.certificate.valid
    assert allocation.levels == pytest.approx(literal(instance, policy), rel=1e-6, abs=1e-9)


@given(clusters())
def test_more_for_one_user_is_rejected(instance: Instance):
    allocation = solve(instance)
    rounds = list(allocation.certificate.evidence.rounds)
    policy, placed = policy_named("drf"), allocation.placed_by_type
    again = chain.certify(instance, policy, allocation.tasks, placed, rounds)
    assert again.valid
    rich = [i for i in range(instance.n) if allocation.tasks[i] > 0]
    for i in rich[:2]:
        for factor in (1 + 1e-6, 1 - 1e-6):
            tasks, moved = allocation.tasks.copy(), placed.copy()
            tasks[i] *= factor
            moved[instance.type_table.owner == i] *= factor
            assert not chain.certify(instance, policy, tasks, moved, rounds).valid


def test_a_placement_that_is_out_of_proportion_is_rejected():
    allocation = solve(cluster())
    moved = allocation.placed_by_type.copy()
    moved[0] *= 0.9
    rounds = list(allocation.certificate.evidence.rounds)
    verdict = chain.certify(allocation.instance, policy_named("drf"), allocation.tasks, moved, rounds)
    assert not verdict.valid
    assert "user 'team': tasks differ from placement" in verdict.reason


def test_a_round_that_nobody_has_to_pay_proves_nothing():
    allocation = solve(cluster())
    rounds = [replace(link, prices=link.prices * 0) for link in allocation.certificate.evidence.rounds]
    placed = allocation.placed_by_type
    assert not chain.certify(allocation.instance, policy_named("drf"), allocation.tasks, placed, rounds).valid


def test_types_of_one_user_in_two_processes_are_the_serial_answer():
    islands = Instance(
        {f"u{i}": [TaskType({"cpu": 1 + i}, 3, [f"a{i}"]), TaskType({"cpu": 2}, 2, [f"b{i}"])] for i in range(6)},
        machines=[Machine(f"{side}{i}", {"cpu": 9 + i}) for i in range(6) for side in "ab"],
    )
    one, other = solve(islands), solve(islands, jobs=2)
    assert np.array_equal(one.tasks, other.tasks)
    assert np.array_equal(one.placed_by_type, other.placed_by_type)


def test_the_slow_chain_agrees():
    found = crosscheck(cluster(max_tasks={"batch": 3}))
    assert found.agree
    assert {answer.engine for answer in found.methods} >= {"lp-chain", "one LP a user"}


def test_who_was_not_taught_types_says_so():
    with pytest.raises(PolicyError, match="knows no count of tasks on all"):
        solve(cluster(), "per-server", integer=True)


def alone_by_scipy(instance: Instance, i: int) -> float:
    """Return what a user could run alone by a program written out, types that run nowhere left out; 0 for nothing."""
    kinds = instance.task_types[i] or [TaskType(instance.exact_demands[i], 1)]
    needs, room = np.array([[float(d) for d in kind.demand] for kind in kinds]), instance.room
    runs = [any(((room[k] > 0) | (need == 0)).all() for k in range(instance.k)) for need in needs]
    needs, counts = needs[runs], np.array([kind.count for kind in kinds])[runs]
    t, k = len(needs), instance.k
    fill = [[0, *np.outer(needs[:, j], np.eye(k)[c]).ravel()] for c in range(k) for j in range(instance.m)]
    each = [[counts[q], *np.outer(-np.eye(t)[q], np.ones(k)).ravel()] for q in range(t)]
    tight = {"primal_feasibility_tolerance": 1e-10}
    found = linprog(-np.eye(1 + t * k)[0], fill, room.ravel(), each, np.zeros(t), options=tight) if t else None
    return 0.0 if found is None else -found.fun * sum(kind.count for kind in kinds)


@given(clusters())
def test_what_types_run_alone_anywhere_is_what_their_program_says(instance: Instance):
    rates = policy_named("tsf").exact_rates(instance)
    for i, rate in enumerate(rates):
        alone = alone_by_scipy(instance, i)
        assert float(rate * instance.exact_weights[i]) == pytest.approx(1 / alone if alone else 1.0, rel=1e-7)
    assert policy_named("tsf").rates(instance) == pytest.approx([float(rate) for rate in rates], rel=1e-15)


@pytest.mark.parametrize("rules", [None, Organisation(guarantees={"B": {"a": 1}})])
def test_whole_task_shares_of_a_pool_are_those_of_one_machine_where_a_type_fits_nowhere(rules):
    """Alone A could run twelve tasks that need no b, half of which are those: 1/12 is what one of them is."""
    users = {
        "A": [TaskType({"a": 1, "b": 1, "c": 4}, 2), TaskType({"a": 1, "c": 1}, 2)],
        "B": [TaskType({"a": 2, "c": 1}, 1), TaskType({"a": 7, "c": 1}, 9)],
    }
    room = {"a": 6, "b": 0, "c": 9}
    for where in ({"capacity": room}, {"machines": [Machine("m", room)]}):
        instance = Instance(users, organisation=rules, **where)
        found = solve(instance, "tsf", integer=True)
        assert found.levels.tolist() == [float(Fraction(2, 12)), float(Fraction(13, 12))]
        assert verify(found).valid
        assert crosscheck(instance, "tsf", integer=True).agree
        assert instance.task_types and policy_named("tsf").exact_rates(instance)[0] == Fraction(1, 12)


@pytest.mark.parametrize("where", [{"capacity": {"a": 0, "b": 3}}, {"machines": [Machine("m", {"a": 0, "b": 3})]}])
def test_types_of_which_only_those_run_that_use_what_is_excluded_have_no_level(where):
    users = {"A": [TaskType({"b": 1}, 1), TaskType({"a": 1}, 1)]}
    with pytest.raises(PolicyError, match="user 'A' uses only resources that are excluded from the shares"):
        solve(Instance(users, organisation=Organisation(excluded=["b"]), **where), "tsf", integer=True)


@pytest.mark.parametrize("how", [{}, {"exact": True}, {"integer": True}], ids=str)
def test_types_that_use_only_what_is_excluded_have_no_level(how: dict):
    types = [TaskType({"gpu": 2}, 1), TaskType({"gpu": 1}, 1)]
    machines = [Machine("m", {"cpu": 2, "gpu": 5})]
    instance = Instance({"A": {"cpu": 1}, "B": types}, machines=machines, organisation=Organisation(excluded=["gpu"]))
    with pytest.raises(PolicyError, match="user 'B' uses only resources that are excluded from the shares"):
        solve(instance, "tsf", **how)


def test_what_types_run_alone_by_hand():
    # Of every three tasks two take the memory of one machine and one the cpu of any, though it may use one only.
    kinds = [TaskType({"cpu": 1, "memory": 4}, 2), TaskType({"cpu": 3}, 1, ["b"])]
    machines = [Machine("a", {"cpu": 4, "memory": 8}), Machine("b", {"cpu": 4})]
    instance = Instance({"A": kinds, "B": {"cpu": 1}}, machines=machines)
    assert policy_named("tsf").exact_rates(instance) == [Fraction(1, 3), Fraction(1, 8)]
    # At level t A uses 5 t cpu and B 8 t of the eight there are.
    assert solve(instance, "tsf", exact=True).levels.tolist() == [Fraction(8, 13)] * 2


@given(clusters(), st.booleans())
def test_files_of_task_shares_are_decided(instance: Instance, integer: bool):
    for exact in (False,) if integer else (False, True):
        allocation = solve(instance, "tsf", integer=integer, exact=exact)
        assert allocation.certificate.valid
        assert verify(allocation).valid


@given(clusters(), st.sampled_from(["drf", "asset", "tasks", "tsf"]))
def test_the_clock_of_organisations_places_types_like_the_chain(instance: Instance, policy: str):
    # A guarantee of nothing hands the instance to the other engine, and changes nothing.
    idle = Organisation(guarantees={instance.users[0]: {instance.resources[0]: 0}})
    organised = solve(Instance(**(instance.parts() | {"organisation": idle})), policy)
    assert organised.engine == "tree-chain"
    assert organised.levels == pytest.approx(solve(instance, policy).levels, rel=1e-8, abs=1e-12)


def test_a_ceiling_lowers_all_types_in_proportion():
    asked = Organisation(ceilings={"team": {"cpu": 4}})
    allocation = solve(cluster(organisation=asked))
    # Six workers of 2 cpu and three readers of 4 are 24 of the nine tasks together.
    assert allocation.tasks[0] == pytest.approx(4 * 9 / 24)
    assert allocation.to_dict()["users"][0]["bottleneck"] is None
    assert "its ceiling" in str(allocation)
    assert [kind["tasks"] for kind in allocation.to_dict()["types"]["team"]] == pytest.approx([1, 0.5])


@given(clusters(), st.sampled_from(["utilitarian", "throughput"]))
def test_sums_are_those_of_rows_written_out(instance: Instance, policy: str):
    allocation, chosen = solve(instance, policy), policy_named(policy)
    assert allocation.certificate.valid
    best = chosen.rates(instance) @ slow_market.sum_tasks(Problem(instance, chosen))
    assert allocation.levels.sum() == pytest.approx(best, rel=1e-7, abs=1e-9)


def test_a_smaller_sum_is_rejected():
    allocation = solve(cluster(), "utilitarian")
    policy, placed = policy_named("utilitarian"), allocation.placed_by_type * 0.999
    assert duals.certify(
        allocation.instance, policy, allocation.tasks, allocation.placed_by_type, allocation.prices
    ).valid
    assert not duals.certify(allocation.instance, policy, allocation.tasks * 0.999, placed, allocation.prices).valid


def test_the_price_of_fairness_is_known():
    assert compare(cluster(), ["drf"]).price_of_fairness["drf"] is not None


@pytest.mark.parametrize("policy", ["drf", "asset", "tasks", "utilitarian", "throughput"])
@pytest.mark.parametrize("limits", [None, [3, None, 1]])
def test_exact_answers_with_types_are_proven_by_their_file(policy, limits):
    """The floats beside them are of another engine; the standalone verifier decides the fractions, and a forgery."""
    instance = cluster(max_tasks=limits)
    found = solve(instance, policy, exact=True)
    assert found.certificate.valid and found.certificate.rigorous
    floats = solve(instance, policy)
    worth = policy_named(policy).rates(instance)
    if policy in ("utilitarian", "throughput"):
        assert float(sum(found.levels)) == pytest.approx(float(worth @ floats.tasks), rel=1e-12)
    else:
        assert [float(x) for x in found.tasks] == pytest.approx(floats.tasks, rel=1e-12)
    document = json.loads(json.dumps(certificate_document(found)))
    assert verify(document).valid is True
    first = next(row for row in document["users"] if row["tasks"] != "0")
    first["tasks"] = first["tasks"] + "1/7" if "/" not in first["tasks"] else "1/7"
    assert verify(document).valid is False


@pytest.mark.parametrize("seed", range(6))
def test_exact_answers_equal_programs_written_out(seed):
    r = np.random.default_rng(seed)
    kinds = [[TaskType({"cpu": int(a), "gpu": int(b)}, int(c)) for a, b, c in r.integers(1, 4, (2, 3))] for _ in "xy"]
    instance = Instance(
        {"A": kinds[0], "B": kinds[1], "C": {"cpu": 1}},
        machines=[Machine("m", {"cpu": 7, "gpu": 5}, 2), Machine("n", {"cpu": 4, "gpu": 3})],
        max_tasks=[None, None, int(r.integers(1, 5))],
    )
    levels = [float(level) for level in solve(instance, exact=True).levels]
    assert levels == pytest.approx(literal(instance, "drf"), rel=1e-6)
