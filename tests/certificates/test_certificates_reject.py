"""Every certificate can fail: perturbed answers, merged rounds, users finished early and forged proofs are rejected."""

import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from drfopt.certificates import bottleneck, chain, duals, prices, whole
from drfopt.certificates.branch_and_cut import Inconclusive
from drfopt.certificates.chain import Round
from drfopt.certificates.exact import certify_filling, certify_rounded
from drfopt.certificates.level_errors import LevelErrors
from drfopt.engines.leximin import filling
from drfopt.engines.problem import Problem
from drfopt.engines.registry import engine_for
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.model.policies import policy_named
from drfopt.solving.allocating import solve

SIZES = [1e-6, 1e-3, 0.3]


@pytest.fixture
def two_levels():
    """Levels 1/3, 1/3, 1/3, 5/6: two rounds, in a pool and on one machine."""
    demands = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 0.5], [0.0, 1.0]])
    return Instance(demands, machines=[Machine("m", [1.0, 1.0])])


@pytest.fixture
def classes():
    demands = np.array([[1.0, 1.0], [1.0, 2.0], [3.0, 1.0], [1.0, 0.0]])
    machines = [Machine("a", [4.0, 6.0], 2), Machine("b", [6.0, 4.0], 1)]
    return Instance(demands, machines=machines, max_tasks=[np.inf, np.inf, np.inf, 1.0])


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("policy", ["drf", "asset", "tasks", "single:cpu"])
def test_bottleneck(paper, policy, size, sign):
    chosen = policy_named(policy)
    tasks = solve(paper, policy).tasks
    assert bottleneck.certify(paper, chosen, tasks).valid
    for i in range(paper.n):
        moved = tasks.copy()
        moved[i] *= 1 + sign * size
        refused = bottleneck.certify(paper, chosen, moved)
        assert not refused.valid
        assert refused.reason


def test_bottleneck_sees_limits_and_the_unplaced():
    instance = Instance([[1, 1], [1, 0], [0, 1]], [1, 0], max_tasks=[None, 0.25, None])
    tasks = solve(instance).tasks
    assert tasks.tolist() == [0, 0.25, 0]
    assert not bottleneck.certify(instance, policy_named("drf"), tasks * (1 - 1e-6)).valid
    assert not bottleneck.certify(instance, policy_named("drf"), np.array([0.1, 0.25, 0])).valid
    assert not bottleneck.certify(instance, policy_named("drf"), np.array([0, 0.3, 0])).valid


def test_rational(paper):
    tasks = solve(paper, "asset", exact=True).tasks
    assert certify_filling(paper, policy_named("asset"), tasks).valid
    for i in range(paper.n):
        moved = tasks.copy()
        moved[i] *= 1 - type(tasks[0])(1, 10**30)
        assert not certify_filling(paper, policy_named("asset"), moved).valid


def rounds_of(allocation):
    return list(allocation.certificate.evidence.rounds)


def certified(instance, allocation, rounds, tasks=None, placement=None):
    return chain.certify(
        instance,
        policy_named("drf"),
        allocation.tasks if tasks is None else tasks,
        allocation.placement if placement is None else placement,
        rounds,
    )


def test_chain_of_two_levels(two_levels):
    allocation = solve(two_levels)
    assert allocation.levels == pytest.approx([1 / 3, 1 / 3, 1 / 3, 5 / 6])
    rounds = rounds_of(allocation)
    assert len(rounds) >= 2
    assert certified(two_levels, allocation, rounds).valid
    assert not certified(two_levels, allocation, rounds[:-1]).valid, "a round is missing"
    assert not certified(two_levels, allocation, [*rounds, rounds[-1]]).valid, "users are finished twice"


def test_chain_rejects_merged_rounds(two_levels):
    allocation = solve(two_levels)
    rounds = rounds_of(allocation)
    everybody = np.arange(4)
    for one in rounds:
        merged = replace(one, finished=everybody)
        assert not certified(two_levels, allocation, [merged]).valid
        # The same with all levels forged down to the lowest: now the last user could rise.
        flat = np.array([1 / 3, 1 / 3, 1 / 3, 1 / 3])
        assert not certified(two_levels, allocation, [merged], tasks=flat, placement=flat[:, None]).valid


def test_chain_rejects_a_user_finished_early(two_levels):
    allocation = solve(two_levels)
    low = allocation.tasks.copy()
    low[3] = 0.5
    rounds = rounds_of(allocation)
    early = Round(0.5, np.array([3]), np.array([0.0, 0.0, 0.0, 1e-9]), np.array([[0.0, 1e-9]]))
    for forged in (early, replace(early, multipliers=np.ones(4), prices=np.array([[1.0, 1.0]]))):
        assert not certified(two_levels, allocation, [*rounds[:-1], forged], tasks=low, placement=low[:, None]).valid


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("sign", [1, -1])
def test_chain_rejects_moved_tasks(classes, size, sign):
    allocation = solve(classes)
    rounds = rounds_of(allocation)
    assert allocation.certificate.valid
    for i in range(classes.n):
        factor = np.ones(classes.n)
        factor[i] += sign * size
        moved = certified(
            classes, allocation, rounds, allocation.tasks * factor, allocation.placement * factor[:, None]
        )
        assert not moved.valid
        assert moved.reason


def test_chain_rejects_lost_multipliers_and_prices(classes):
    allocation = solve(classes)
    rounds = rounds_of(allocation)
    for r, one in enumerate(rounds):
        for broken in (
            replace(one, multipliers=one.multipliers * 0),
            replace(one, prices=one.prices * 0),
            replace(one, prices=one.prices * (1 + 1e-6)),
            replace(one, level=one.level * (1 + 1e-6)),
            replace(one, level=one.level * (1 - 1e-6)),
            replace(one, finished=one.finished[:-1]),
        ):
            assert not certified(classes, allocation, [*rounds[:r], broken, *rounds[r + 1 :]]).valid


@pytest.mark.parametrize("off", [1e-12, 3e-9])
def test_chain_sees_errors_that_cancel(off):
    """A price that is off makes one class too dear; the level that it proves is off by as much, and meets its bound."""
    instance = Instance([[1, 1], [1, 2], [2, 1]], machines=[Machine("a", [6, 8]), Machine("b", [9, 7])])
    allocation = solve(instance)
    (link,) = rounds_of(allocation)
    wrong = link.prices.copy()
    wrong[0] *= 1 + off
    costs = chain.unit_costs(instance, wrong)
    rates = policy_named("drf").rates(instance)
    multipliers = costs.min(axis=1) / rates
    level = wrong.sum() / multipliers.sum()
    scale = level / link.level
    found = certified(
        instance,
        allocation,
        [Round(level, link.finished, multipliers, wrong)],
        allocation.tasks * scale,
        allocation.placement * scale,
    )
    assert scale > 1 + off / 100
    assert found.valid == (off < 1e-9)
    assert found.violation >= scale - 1 - 1e-14


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("policy", ["ceei", "alpha:2", "alpha:0.5"])
@pytest.mark.parametrize("where", ["paper", "classes"])
def test_prices(request, where, policy, size, sign):
    instance = request.getfixturevalue(where)
    chosen = policy_named(policy)
    answer = engine_for("auto", Problem(instance, chosen)).solve(Problem(instance, chosen))
    placement = Problem(instance, chosen).placement(answer.amounts)
    fine = answer.fine
    assert prices.certify(instance, chosen, answer.tasks, placement, answer.prices, fine=fine).valid
    for i in range(instance.n):
        factor = np.ones(instance.n)
        factor[i] += sign * size
        moved = None if placement is None else placement * factor[:, None]
        assert not prices.certify(instance, chosen, answer.tasks * factor, moved, answer.prices, fine=fine).valid
    dearer = answer.prices * (1 + sign * size)
    assert not prices.certify(instance, chosen, answer.tasks, placement, dearer, fine=fine).valid


def test_prices_reject_a_dear_class(classes):
    # Prices that differ by class: a user moved to the dearer one pays more than she has to.
    instance = Instance(
        [[1, 0], [1, 0]], machines=[Machine("a", [1, 1]), Machine("b", [3, 1])], eligible=[[True, True], [True, False]]
    )
    allocation = solve(instance, "ceei")
    assert allocation.prices[0, 0] == pytest.approx(1.0)
    assert allocation.prices[1, 0] == pytest.approx(1 / 3)
    forged = np.array([[0.5, 2.5], [0.5, 0.0]])
    assert not prices.certify(instance, policy_named("ceei"), np.array([3.0, 0.5]), forged, allocation.prices).valid


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("policy", ["utilitarian", "throughput"])
def test_duals(paper, policy, size):
    allocation = solve(paper, policy)
    priced = allocation.prices[None, :]
    chosen = policy_named(policy)
    assert duals.certify(paper, chosen, allocation.tasks, None, priced).valid
    for i in range(paper.n):
        for sign in (1, -1):
            moved = allocation.tasks.copy()
            moved[i] *= 1 + sign * size
            assert not duals.certify(paper, chosen, moved, None, priced).valid
    assert not duals.certify(paper, chosen, allocation.tasks, None, priced * 0).valid


@pytest.mark.parametrize("policy", ["drf", "asset", "tasks", "ceei", "utilitarian", "throughput"])
def test_whole_tasks_in_a_pool(paper, policy):
    chosen = policy_named(policy)
    best = solve(paper, policy, integer=True).tasks
    score = whole.score(paper, chosen, best.tolist())
    for a in range(10):
        for b in range(10):
            proof = whole.certify(paper, chosen, np.array([a, b]), None)
            feasible = a + 3 * b <= 9 and 4 * a + b <= 18
            assert proof.valid == (feasible and whole.score(paper, chosen, [a, b]) == score)


@pytest.mark.parametrize("policy", ["drf", "ceei", "utilitarian"])
def test_whole_tasks_on_machines(policy):
    instance = Instance([[1, 7], [1, 4]], machines=[Machine("node", [4, 14], 3)])
    chosen = policy_named(policy)
    allocation = solve(instance, policy, integer=True)
    packing = (
        engine_for("auto", Problem(instance, chosen, True)).solve(Problem(instance, chosen, True)).evidence.packing
    )
    assert whole.certify(instance, chosen, allocation.tasks, packing).valid
    less = allocation.tasks.copy()
    less[np.argmax(less)] -= 1
    assert not whole.certify(instance, chosen, less, packing).valid, "the packing is of other tasks"
    k, count, pattern = packing[0]
    assert not whole.certify(instance, chosen, allocation.tasks, [(k, count + 3, pattern), *packing[1:]]).valid
    crowded = [(0, 1, {i: int(x) for i, x in enumerate(allocation.tasks) if x})]
    assert not whole.certify(instance, chosen, allocation.tasks, crowded).valid, "all on one machine"


def test_whole_tasks_judged_by_the_second_solver(monkeypatch, paper):
    from drfopt.certificates import exhaustive_search, meet_in_the_middle, price_tree

    def inconclusive(*arguments, **options):
        raise Inconclusive

    monkeypatch.setattr(whole, "refute", inconclusive)
    monkeypatch.setattr(meet_in_the_middle, "CHOICES", 0)
    monkeypatch.setattr(exhaustive_search, "NODES", 0)
    monkeypatch.setattr(price_tree, "NODES", 0)
    for policy in ("drf", "asset", "ceei", "utilitarian"):
        chosen = policy_named(policy)
        proof = whole.certify(paper, chosen, solve(paper, policy, integer=True).tasks, None)
        assert proof.valid
        assert proof.evidence.judge == "CBC"
        worse = whole.certify(paper, chosen, np.array([2, 2]), None)
        assert worse.valid is False
        assert "strictly better" in worse.reason


def test_infeasible_answers_are_infeasible(classes):
    from drfopt.certificates.feasibility import infeasibility

    allocation = solve(classes)
    tasks, placement = allocation.tasks, allocation.placement
    assert infeasibility(classes, tasks, placement)[0] <= 1e-9
    for spoiled, words in (
        ((tasks, placement * 0.99), "differ from placement"),
        ((tasks * 1.5, placement * 1.5), "exceeded|limit"),
        ((-tasks, -placement), "negative"),
        ((tasks * np.nan, placement), "not finite"),
    ):
        violation, reason = infeasibility(classes, *spoiled)
        assert violation > 1e-9
        assert re.search(words, reason)


def test_small_amounts_of_huge_tasks_count():
    throughput, drf = policy_named("throughput"), policy_named("drf")
    huge = Instance([[1.0], [1e9]], [1.0])
    assert not duals.certify(huge, throughput, np.array([2.0, -1e-9]), None, np.array([[1.0]])).valid
    nothing = Instance([[1.0], [1e9]], [1.0], max_tasks=[None, 0])
    assert not bottleneck.certify(nothing, drf, np.array([0.5, 0.5e-9])).valid


def test_nan_hides_nothing(classes):
    allocation = solve(classes)
    nowhere = np.full_like(allocation.placement, np.nan)
    assert not certified(classes, allocation, rounds_of(allocation), allocation.tasks * 5, nowhere).valid


@pytest.mark.parametrize(
    "packing",
    [
        [(0, 5, {0: 1, 1: 1}), (0, -3, {})],
        [(0, 2, {0: 3, 1: 3}), (0, 1, {0: -1, 1: -1})],
        [(3, 1, {0: 5, 1: 5})],
        [(0, 1, {7: 1})],
    ],
)
def test_packings_that_cannot_be(packing):
    instance = Instance([[1, 0], [0, 1]], machines=[Machine("a", [1, 1], 2)])
    assert not whole.certify(instance, policy_named("drf"), np.array([5, 5]), packing).valid


def test_fractions_of_whole_tasks_are_none(paper):
    assert not whole.certify(paper, policy_named("drf"), np.array([3.9, 2.9]), None).valid


def test_who_takes_next_to_nothing_does_not_live_on_rounding():
    # Lowering the ten by 9e-11 would free ten times the level of the last.
    demands = np.zeros((11, 2))
    demands[:10, 0] = 0.1
    demands[10] = [1e-10, 1]
    instance = Instance(demands, machines=[Machine("a", [10.0, 10.0])])
    allocation = solve(instance)
    assert allocation.levels == pytest.approx(np.full(11, 0.1), rel=1e-9)
    low = np.append(np.full(10, 10 * (1 - 9e-11)), 10.0)
    rounds = rounds_of(allocation)
    prices_ = rounds[0].prices
    multipliers = rounds[0].multipliers
    first = Round(0.1 * (1 - 9e-11), np.arange(10), multipliers, prices_)
    last = Round(1.0, np.array([10]), multipliers, prices_)
    assert not certified(instance, allocation, [first, last], low, low[:, None]).valid


def test_rounding_of_a_limit_is_not_believed():
    instance = Instance([[1], [1]], [1], max_tasks=["0." + "9" * 12, None], weights=[10**12, 1])
    drf = policy_named("drf")
    rounded, magnified = filling.fill(Problem(instance, drf))
    assert magnified > 1e11
    refused = bottleneck.certify(instance, drf, rounded)
    assert not refused.valid
    assert "exact=True" in refused.reason
    assert solve(instance).tasks[1] == 1e-12


def test_rounded_tasks_stand_on_exact_ones():
    instance, drf = Instance([[1, 4], [3, 1]], [9, 18]), policy_named("drf")
    exact = np.array([Fraction(3), Fraction(2)])
    tasks = np.array([3.0, 2.0])

    def proof(exact, tasks, levels):
        return certify_rounded(instance, drf, exact, tasks, levels)

    levels = drf.rates(instance) * tasks
    assert proof(exact, tasks, levels).valid
    for size in SIZES:
        assert not proof(exact, np.array([3.0, 2 + 2 * size]), levels).valid
        assert not proof(exact, tasks, levels * np.array([1.0, 1 + size])).valid
        assert not proof(exact - Fraction(size), tasks - size, levels).valid


@pytest.fixture
def two_places():
    """The first user may use both, the second only the small one, which is left to her: levels 3/4 and 1/4."""
    machines = [Machine("a", [3.0]), Machine("b", [1.0])]
    return Instance([[1.0], [1.0]], machines=machines, eligible=[[True, True], [False, True]])


def test_chain_closes_what_an_earlier_round_made_too_dear(two_places):
    """The second user's round makes b too dear for the first, whose own round then speaks of a alone."""
    allocation = solve(two_places)
    assert allocation.levels == pytest.approx([3 / 4, 1 / 4])
    first, second = rounds_of(allocation)
    assert second.prices[1].tolist() == [0.0]
    assert certified(two_places, allocation, [first, second]).valid
    assert not certified(two_places, allocation, [second, first]).valid
    assert not certified(two_places, allocation, [second]).valid


@pytest.mark.parametrize("forged", [1e-12, 1e-3, 0.2, 0.25])
def test_chain_closes_nothing_by_a_bound_that_is_not_met(two_places, forged):
    """In a round that proves nothing b is said to be too dear for the first user, who could have more there."""
    tasks, placement = np.array([3.0, 0.5]), np.array([[3.0, 0.0], [0.0, 0.5]])
    policy = policy_named("drf")
    claim = Round(forged, np.array([], dtype=int), np.zeros(2), np.array([[0.0], [1.0]]))
    mine = Round(0.75, np.array([0]), np.array([1.0, 0.0]), np.array([[0.75], [0.0]]))
    theirs = Round(0.125, np.array([1]), np.array([0.0, 1.0]), np.array([[0.0], [0.125]]))
    for rounds in ([claim, theirs, mine], [claim, mine], [theirs, claim, mine]):
        assert not chain.certify(two_places, policy, tasks, placement, rounds).valid


def test_errors_of_levels_are_bounded_by_the_inverse_of_what_rounds_share():
    random = np.random.default_rng(5)
    for _ in range(20):
        shares = np.tril(random.random((12, 12)) * (random.random((12, 12)) < 0.6), -1) + np.diag(
            random.uniform(0.1, 1, 12)
        )
        missed = random.uniform(0, 1e-12, 12)
        errors = LevelErrors(12)
        bounds = np.array([errors.bound(shares[r, : r + 1], missed[r]) for r in range(12)])
        assert bounds == pytest.approx(np.abs(np.linalg.inv(shares)) @ missed, rel=1e-10)
        # It is met by the worst signs of what is missed.
        signs = np.sign(np.linalg.inv(shares)[-1])
        assert np.linalg.solve(shares, signs * missed)[-1] == pytest.approx(bounds[-1], rel=1e-9)


def test_a_round_that_depends_on_one_without_a_bound_has_none():
    errors = LevelErrors(3)
    assert errors.bound(np.array([0.0]), 1e-15) == np.inf
    assert errors.bound(np.array([0.0, 2.0]), 1e-15) == pytest.approx(5e-16)
    assert errors.bound(np.array([1.0, 0.0, 1.0]), 1e-15) == np.inf
