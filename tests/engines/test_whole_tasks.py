"""Whole tasks: every engine finds what writing all allocations down finds, and says so when it does not know."""

import itertools
import math
from fractions import Fraction
from operator import gt

import numpy as np
import pytest
from whole_pools import tied, tiny

from drfopt.base.deadline import Deadline, stopping
from drfopt.base.errors import PolicyError, TimeLimitError
from drfopt.certificates import group_stops, second_solver, whole
from drfopt.certificates.group_sweep import GroupSweep
from drfopt.certificates.level_claims import HighestValues
from drfopt.certificates.meet_in_the_middle import MeetInTheMiddle
from drfopt.engines.problem import Problem
from drfopt.engines.registry import engine_for, engines_for
from drfopt.engines.whole import frontier, rounding, totals
from drfopt.engines.whole.user_kinds import KindPool
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.model.organisation import Organisation
from drfopt.model.policies import policy_named
from drfopt.model.whole_values import WholeUsers
from drfopt.solving.allocating import solve
from drfopt.solving.methods import second_methods
from drfopt.solving.scheduling import schedule


def score_of(instance, policy, engine):
    problem = Problem(instance, policy, True)
    tasks = np.zeros(instance.n, dtype=int)
    tasks[problem.members] = engine_for(engine, problem).solve(problem).tasks if problem.n else []
    return whole.score(instance, policy, tasks.tolist())


def enumerated(instance, policy):
    problem = Problem(instance, policy, True)
    return second_methods._enumeration(problem)[1] if problem.n else whole.score(instance, policy, [0] * instance.n)


def check(seeds, policies, machines=False):
    for seed, name in itertools.product(seeds, policies):
        instance, policy = tiny(seed, machines), policy_named(name)
        expected = enumerated(instance, policy)
        for engine in engines_for(Problem(instance, policy, True)):
            if not engine.heuristic:
                assert score_of(instance, policy, engine.name) == expected, (seed, name, engine.name)


def test_all_engines_find_the_best_of_all():
    check(range(15), ("drf", "asset", "tasks", "ceei", "utilitarian", "throughput"))


def test_all_engines_find_the_best_of_all_on_machines():
    check(range(10), ("drf", "asset", "tasks", "ceei", "utilitarian"), machines=True)


@pytest.mark.slow
def test_five_thousand_instances(some):
    for seed, name in itertools.product(range(some(5_000)), ("drf", "asset")):
        instance, policy = tiny(1000 + seed), policy_named(name)
        expected = enumerated(instance, policy)
        assert score_of(instance, policy, "frontier") == expected, (seed, name)
        tasks = solve(instance, policy, integer=True)
        assert tasks.certificate.valid
        assert whole.score(instance, policy, tasks.tasks.tolist()) == expected


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("policy", ["drf", "asset", "tasks"])
def test_states_that_explode_are_counted_on(monkeypatch, seed, policy):
    # With no room for states the counting program takes over at the first tie; the answer is the same.
    instance, chosen = tied(14, seed), policy_named(policy)
    swept = score_of(instance, chosen, "frontier")
    monkeypatch.setattr(frontier, "STATES", 1)
    assert score_of(instance, chosen, "frontier") == swept
    monkeypatch.setattr(frontier, "STEPS", 0)
    assert score_of(instance, chosen, "frontier") == swept
    assert score_of(instance, chosen, "leximin-milp") == swept


@pytest.mark.parametrize("policy", ["drf", "asset"])
def test_many_tied_users_are_proven(policy):
    allocation = solve(tied(60, 1), policy, integer=True)
    assert allocation.status == "optimal"
    assert allocation.certificate.valid
    assert allocation.certificate.evidence.judge == "multipliers"


def test_of_users_alike_only_the_number_counts():
    instance = Instance([[1, 2]] * 400 + [[2, 1]] * 400, [3001, 2999])
    allocation = solve(instance, integer=True)
    assert allocation.certificate.valid
    assert sorted(set(allocation.tasks.tolist())) == [2, 3]


def test_whose_demands_are_less_goes_on_first():
    # The third task of whoever needs less of both fits, the other's does not: no need to try stopping the first.
    pool = KindPool(Problem(Instance([[2, 2], [2, 1]], [10, 8]), policy_named("single:r1"), True))
    spot = pool.next_spot(*pool.after([]), -1)
    assert spot.level == pool.scales[0].value(2)
    assert pool.fewest(spot, 2, 1000) == [(1, 0)]


@pytest.mark.parametrize("large", [1, 10**12, 10**25])
@pytest.mark.parametrize("seed", range(8))
def test_where_the_next_must_stop_is_the_first_level_that_not_all_can_be_above(seed, large):
    # Said once more, level by level of what anybody can have; in numbers beyond numpy's as well.
    chance = np.random.default_rng(seed)
    demands = [[int(d) * large + i for d in row] for i, row in enumerate(chance.integers(1, 5, (6, 2)).tolist())]
    limits = [2, None, 7, None, None, None] if seed % 2 else None
    pool = KindPool(Problem(Instance(demands, [60 * large] * 2, max_tasks=limits), policy_named("drf"), True))
    (active, left), level = pool.after([]), -1
    while (spot := pool.next_spot(active, left, level)) is not None:
        rising = [kind for kind, number in enumerate(active) if number]
        had = sorted({pool.scales[kind].value(x) for kind in rising for x in range(pool.scales[kind].most + 1)})

        def over(level, active=active, left=left, rising=rising):
            above = [scale.least(level + 1) for scale in pool.scales]
            used = [sum(int(active[k]) * above[k] * pool.rows[k][0][j] for k in rising) for j in range(2)]
            return any(above[k] > pool.scales[k].most for k in rising) or any(map(gt, used, left.tolist()))

        assert spot.level == next(value for value in had if value > level and over(value))
        stopping = np.array(pool.greedy(spot))
        active, left, level = active - stopping, pool.minus(left, stopping, spot.tasks), spot.level


@pytest.mark.parametrize("n", [6, 12])
def test_halves_are_the_program(n):
    rng = np.random.default_rng(n)
    instance = Instance(rng.integers(1, 10, (n, 3)), rng.integers(12, 18, 3) * n, weights=rng.integers(1, 4, n))
    policy = policy_named("ceei")
    assert score_of(instance, policy, "nash-halves") == score_of(instance, policy, "nash-milp")


def test_the_paper_on_its_nodes():
    printed = {
        "sec71-phase1": [48, 144],
        "sec71-phase2": [48, 96],
        "sec71-phase3": [44, 78],
        "sec72": [21] * 4 + [54] * 4,
    }
    for name, tasks in printed.items():
        allocation = solve(Instance.library(name), integer=True)
        assert sorted(allocation.tasks.tolist()) == tasks
        assert allocation.certificate.evidence.judge == "multipliers", "no solver had to be believed"
    shares = solve(Instance.library("sec71-phase1"), integer=True).dominant_shares
    assert shares == pytest.approx([5 / 7, 3 / 4]), "the paper: about 70 and 75 percent"


# ---- when time runs out -----------------------------------------------------------------------------------------


@pytest.fixture
def out_of_time(monkeypatch):
    """Make every proof by multipliers end at once, as if time had run out."""

    def late(*arguments, **options):
        raise TimeLimitError("the time limit ran out")

    monkeypatch.setattr(whole, "refute", late)


def test_what_is_not_proven_has_a_bound(out_of_time):
    paper = Instance.library("nsdi2011")
    allocation = solve(paper, integer=True)
    assert allocation.status == "time_limit"
    assert allocation.tasks.tolist() == [3, 2]
    proof = allocation.certificate
    assert proof.valid is None
    assert proof.gap == 0
    assert proof.evidence.bound == proof.evidence.level == Fraction(2, 3)
    assert proof.to_dict()["proven_users"] == 0
    assert "time ran out: 0 levels" in str(allocation)


def test_time_that_runs_out_while_a_better_answer_is_checked_is_no_error(monkeypatch):
    """What a second solver found was to be packed when time ran out: more time gave an error, less an answer."""
    monkeypatch.setattr(whole, "refute", lambda *given, **named: (_ for _ in ()).throw(whole.Inconclusive))
    monkeypatch.setattr(whole.second_solver, "fewer", lambda *given: [3, 2])

    def late(*given):
        raise TimeLimitError("the time limit ran out in the proof of the optimum")

    monkeypatch.setattr(whole, "_can_run", late)
    allocation = solve(Instance.library("nsdi2011"), integer=True, time_limit=100)
    assert (allocation.status, allocation.tasks.tolist()) == ("time_limit", [3, 2])
    assert "time ran out: 0 levels" in allocation.certificate.reason


def test_a_stopped_search_returns_its_incumbent():
    instance = tied(40, 0)
    with stopping(lambda: True):
        allocation = solve(instance, integer=True)
        product = solve(instance, "ceei", integer=True)
    assert allocation.status in ("time_limit", "optimal")
    assert product.status == "time_limit"
    assert 0 < product.certificate.gap < 0.01
    best = solve(instance, integer=True)
    assert sorted(allocation.levels) <= sorted(best.levels)


def test_bounds_are_bounds():
    for seed in range(30):
        instance, policy = tiny(seed), policy_named("drf")
        problem = Problem(instance, policy, True)
        if not problem.n:
            continue
        levels = whole.score(instance, policy, solve(instance, integer=True).tasks.tolist())
        users = WholeUsers(instance, policy, problem.members.tolist())
        highest = HighestValues(users)
        for below in range(problem.n):
            assert levels[below] <= users.told(highest.after(below))


def test_deadlines_leave_time_for_what_comes_after():
    assert 40 < Deadline.after(100).part(0.5).left() <= 50
    assert Deadline.after(None).part(0.5).left() == np.inf


# ---- machines too many for a program ----------------------------------------------------------------------------


def test_rounding_packs_the_whole_part_of_the_continuous_optimum():
    rng = np.random.default_rng(5)
    machines = [Machine(f"m{k}", rng.integers(20, 60, 3), 4) for k in range(3)]
    instance = Instance(rng.integers(1, 9, (15, 3)), machines=machines, max_tasks=rng.integers(1, 30, 15))
    allocation = solve(instance, integer=True, engine="rounding", time_limit=1)
    assert allocation.status in ("optimal", "feasible", "time_limit")  # as far as a machine comes in a second
    assert allocation.certificate.violation == 0
    promised = np.floor(solve(instance).tasks * (1 + 1e-9))
    assert (allocation.tasks >= 0.8 * promised).all()
    if allocation.status != "optimal":
        assert allocation.certificate.valid is None
        assert allocation.certificate.gap >= 0


def test_who_has_less_than_the_whole_part_of_her_continuous_optimum_is_named():
    # One task of 5 fits on a node of 9, whoever's: of the 3.6 tasks that each is promised, 2 are packed.
    instance = Instance([[5], [5]], machines=[Machine("node", [9], 4)], users=["a", "b"])
    assert solve(instance).tasks == pytest.approx([3.6, 3.6])
    allocation = solve(instance, integer=True, engine="rounding")
    assert allocation.to_dict()["certificate"]["below_continuous"] == [
        {"user": "a", "tasks": 2, "whole_part": 3},
        {"user": "b", "tasks": 2, "whole_part": 3},
    ]
    assert "2 of 2 placed users below the whole part of their continuous optimum: a 2 of 3, b 2 of 3" in str(allocation)


def test_where_everybody_has_the_whole_part_nobody_is_named():
    instance = Instance([[5], [3]], machines=[Machine("node", [8], 3)])
    allocation = solve(instance, integer=True, engine="rounding")
    assert allocation.tasks.tolist() == [2, 4]
    assert allocation.to_dict()["certificate"]["below_continuous"] == []
    assert "continuous optimum" not in str(allocation)


def test_where_the_continuous_optimum_is_not_known_nothing_is_said_of_it(monkeypatch):
    def late(problem):
        raise TimeLimitError("the time limit ran out")

    monkeypatch.setattr(rounding.lp_chain, "solve", late)
    allocation = solve(Instance.library("sec72"), integer=True, engine="rounding")
    assert "below_continuous" not in allocation.to_dict()["certificate"]


def test_rounding_gives_everybody_her_limit_where_there_is_room():
    machines = [Machine("small", [4, 4], 30), Machine("large", [16, 8], 3)]
    instance = Instance([[8, 2], [1, 1], [3, 2]], machines=machines, max_tasks=[5, 20, 20])
    allocation = solve(instance, integer=True, engine="rounding")
    assert allocation.tasks.tolist() == [5, 20, 20]
    assert allocation.status == "optimal", "whom her limit stops cannot have more"


def test_rounding_never_beats_the_optimum():
    policy = policy_named("drf")
    for seed in range(15):
        instance = tiny(seed, machines=True)
        best = solve(instance, integer=True, engine="leximin-milp")
        rounded = solve(instance, integer=True, engine="rounding")
        scores = [whole.score(instance, policy, found.tasks.tolist()) for found in (best, rounded)]
        assert scores[1] <= scores[0]
        assert (rounded.status == "optimal") == (scores[0] == scores[1]) or rounded.status == "optimal"


def test_a_resource_that_nobody_needs_has_no_price():
    machine = Machine("m", {"cpu": "0.9", "memory": 2.7})
    found = solve(Instance({"A": {"memory": "0.1"}}, machines=[machine]), integer=True)
    assert found.tasks.tolist() == [27]


# ---- a task among billions --------------------------------------------------------------------------------------

BILLION = 10**9


@pytest.mark.parametrize("policy", ["drf", "tasks", "utilitarian", "throughput"])
def test_a_task_among_billions_is_neither_dropped_nor_hidden(policy):
    cluster = Instance({"u": {"b": BILLION}, "v": {"b": BILLION}, "w": {"b": 1}}, {"b": 2 * BILLION})
    allocation = solve(cluster, policy, integer=True, time_limit=20)
    tasks = sorted(int(x) for x in allocation.tasks)
    assert tasks == [0, 0, 2 * BILLION] if policy in ("utilitarian", "throughput") else [0, 1, BILLION]
    assert allocation.certificate.valid


def test_a_second_solver_that_exceeds_the_pool_is_no_judge():
    cluster = Instance({"u": {"b": BILLION}, "v": {"b": 1}}, {"b": 18 * BILLION}, max_tasks=[math.inf, 3])
    allocation = solve(cluster, "tasks", integer=True)
    assert allocation.tasks.tolist() == [17, 3]
    if not allocation.certificate.valid:
        assert allocation.status == "feasible"
        assert "is no judge here" in allocation.certificate.reason


def test_a_greedy_start_takes_large_steps():
    cluster = Instance({"u": {"b": BILLION}, "v": {"b": BILLION}, "w": {"b": 1}}, {"b": 4 * BILLION})
    u, v, w = totals.greedily(MeetInTheMiddle(WholeUsers(cluster, policy_named("ceei"), [0, 1, 2])))
    assert u + v + Fraction(w, BILLION) <= 4
    assert min(u, v) >= 1
    assert w > BILLION


def test_a_product_of_billions_is_not_written_out_chord_by_chord():
    # CBC's program has a chord for every number of tasks: it was being written for hours.
    cluster = Instance([[1], [10**9]], [2 * 10**9])
    with pytest.raises(second_solver.TooLargeToAsk):
        second_solver.optimum(cluster, policy_named("ceei"), [10**9, 1])


def too_late(self, *_):
    raise TimeLimitError("the time limit ran out in the sweep of groups")


def test_one_way_through_billions_of_tasks_hears_the_time_limit(monkeypatch):
    monkeypatch.setattr(frontier, "ONE_WAY", 0.05)
    cluster = Instance({"A": {"c": 1}, "B": {"c": "1/3"}}, {"c": 10**12}, organisation=Organisation(paths={"B": "a"}))
    monkeypatch.setattr(group_stops, "LATEST", 0.05)
    monkeypatch.setattr(GroupSweep, "best", too_late)
    monkeypatch.setattr(group_stops.StopProof, "fault", too_late)
    found = solve(cluster, integer=True, time_limit=0.05)
    assert found.status == "time_limit"
    assert found.tasks.tolist() == pytest.approx([5 * 10**11, 15 * 10**11], rel=1e-8)
    # What divisible tasks would have, or, where the time was up before they were divided, a whole share.
    assert found.certificate.evidence.bound in (pytest.approx(0.5), 1)


def test_what_is_promised_runs_first_where_the_sweep_of_groups_is_cut_short(monkeypatch):
    """A task of B on each machine, which divisible tasks of A leave no room for."""
    monkeypatch.setattr(GroupSweep, "best", too_late)
    rules = Organisation({"B": {"cpu": 6}}, paths={"A": "a", "B": "b"})
    cluster = Instance({"A": {"cpu": 1}, "B": {"cpu": 3}}, machines=[Machine("m", {"cpu": 5}, 2)], organisation=rules)
    found = solve(cluster, integer=True)
    assert found.engine == "group-sweep" and found.tasks.tolist() == [4, 2] and not found.broken


def test_more_whole_tasks_than_can_be_counted_are_refused_by_name():
    """10^27 tasks of B ended in an OverflowError."""
    pool = Instance({"A": {"cpu": 1e15}, "B": {"cpu": 1e-9}}, {"cpu": 1e18})
    for policy in ("drf", "ceei", "utilitarian", "alpha:2", "per-server"):
        with pytest.raises(PolicyError, match=r"user 'B' could run about 1e\+27 tasks, more than can be counted"):
            solve(pool, policy, integer=True)
    limited = Instance({"A": {"cpu": 1e15}, "B": {"cpu": 1e-9}}, {"cpu": 1e18}, max_tasks={"B": 7})
    assert solve(limited, integer=True).tasks.tolist() == [999, 7]
    with pytest.raises(PolicyError, match=r"a trace of about .* tasks is too long to keep"):
        schedule(pool)


@pytest.mark.parametrize("policy", ["ceei", "utilitarian", "throughput"])
def test_of_more_tasks_than_floats_count_the_bound_is_near(policy):
    """Prices were not found in time, or the solver's answer was none, and a bound was twice what there is."""
    room = {"a": 9 * 10**18 + 7, "b": 18 * 10**18 + 5}
    found = solve(Instance({"A": {"a": 1, "b": 2}, "B": {"a": 3, "b": 1}}, room), policy, integer=True)
    assert found.status == "feasible" and found.certificate.valid is None
    assert found.certificate.gap < 1e-4
