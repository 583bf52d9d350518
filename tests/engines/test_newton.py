"""Newton's method on the prices: known optima, awkward pools beside the other engines, samples, layouts, refusals."""

import itertools
import tracemalloc

import numpy as np
import pytest
from markets import awkward_market, known_market

from drfopt.base.errors import CertificateError, DrfoptError, SolverError, TimeLimitError
from drfopt.base.progress import reporting
from drfopt.base.solvers.active_set import bounded_minimum
from drfopt.certificates import prices
from drfopt.engines.nash import newton
from drfopt.engines.problem import Problem
from drfopt.engines.registry import ENGINES, engine_for
from drfopt.model.instance import Instance
from drfopt.model.policies import policy_named
from drfopt.solving.allocating import solve

POLICIES = ["ceei", "alpha:2", "alpha:0.5"]


def agree(instance, one, other):
    """Hold tasks against each other: to 1e-9 of hers, or, for who has little, to 1e-11 of her dominant resource.

    Where a limit binds exactly at the optimum, rounding decides who of two users gives way.
    """
    there = np.where(instance.capacity > 0, instance.capacity, np.inf)
    size = (instance.demands / there).max(axis=1)
    apart = np.abs(one - other)
    assert ((apart <= 1e-9 * np.maximum(one, other)) | (apart * size <= 1e-11)).all()


def by_newton(instance, policy):
    """Return its answer; where that leaves open what somebody has, the proven one, which is no other."""
    try:
        return solve(instance, policy, engine="newton")
    except CertificateError:
        problem = Problem(instance, policy_named(policy))
        found = solve(instance, policy)
        assert found.engine.endswith("after newton")
        tasks = np.zeros(instance.n)
        tasks[problem.members] = newton.solve(problem).tasks
        agree(instance, tasks, found.tasks)
        return found


def check(seed, policy):
    """Hold the answer on one awkward pool against that of the interior point method, where that has one."""
    instance = awkward_market(seed)
    found = by_newton(instance, policy)
    assert found.certificate.violation <= 1e-10
    try:
        second = solve(instance, policy, engine="barrier")
    except (DrfoptError, RuntimeWarning):
        # A tenth of them at alpha = 5: the prices of the poorest overflow, or the start is not believed.
        return
    agree(instance, found.tasks, second.tasks)


@pytest.mark.parametrize("policy", POLICIES)
def test_awkward_pools(policy):
    for seed in range(25):
        check(seed, policy)


@pytest.mark.slow
@pytest.mark.parametrize("policy", [*POLICIES, "alpha:5", "alpha:0.2"])
def test_three_thousand_awkward_pools(policy, some):
    for seed in range(60, 60 + some(2_000)):
        check(seed, policy)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("policy", [*POLICIES, "alpha:7", "alpha:0.2"])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (4, 3), (40, 8), (300, 20), (20_000, 4)])
def test_known_optima(policy, n, m):
    for seed in range(3 if n > 1000 else 20):
        known = known_market(n, m, policy_named(policy).alpha, seed)
        found = by_newton(known.instance, policy)
        assert found.tasks == pytest.approx(known.tasks, rel=1e-9)
        assert found.certificate.violation <= 1e-11


@pytest.mark.parametrize("policy", POLICIES)
def test_a_perturbed_answer_is_rejected(policy):
    chosen = policy_named(policy)
    for seed in range(25):
        instance = awkward_market(seed)
        found = by_newton(instance, policy)
        if found.engine != "newton":
            continue
        priced = found.prices[None, :]
        assert prices.certify(instance, chosen, found.tasks, None, priced).valid
        for i, sign in itertools.product(np.flatnonzero(found.tasks), (1, -1)):
            moved = found.tasks.copy()
            moved[i] *= 1 + sign * 1e-6
            refused = prices.certify(instance, chosen, moved, None, priced)
            assert not refused.valid
            assert refused.reason


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
@pytest.mark.parametrize("policy", POLICIES)
def test_numbers_that_are_none_are_rejected(paper, policy, bad):
    found = solve(paper, policy, engine="newton")
    for place in range(2):
        tasks, priced = found.tasks.copy(), found.prices[None, :].copy()
        tasks[place] = bad
        assert not prices.certify(paper, policy_named(policy), tasks, None, found.prices[None, :]).valid
        # A price below 0 counts as 0, which may be right.
        priced[0, place] = bad if bad > 0 else np.nan
        assert not prices.certify(paper, policy_named(policy), found.tasks, None, priced).valid


def test_auto_takes_it_for_pools(paper):
    assert solve(paper, "ceei").engine == "newton"
    assert solve(paper, "alpha:3").engine == "newton"
    names = [engine.name for engine in ENGINES]
    assert names.index("newton") < names.index("barrier")


@pytest.mark.parametrize("policy", POLICIES)
def test_samples_that_mislead(monkeypatch, policy):
    # Prices start from a sample that sees one user in four, and none who is different.
    monkeypatch.setattr(newton, "FEWEST", 64)
    monkeypatch.setattr(newton, "EVERY", 4)
    random = np.random.default_rng(5)
    usual = random.integers(1, 9, (2000, 3)) * [1.0, 1.0, 0.0]
    lone, giant, sorted_ = usual.copy(), np.ones(2000), usual[np.lexsort(usual.T)]
    lone[1777] = [0, 0, 1]
    giant[999] = 1e9
    periodic = np.where((np.arange(2000) % 256 < 64)[:, None], [0.0, 5.0, 0.0], usual)
    most = np.where(np.arange(2000) % 256 < 64, 0.0, np.inf)
    room = np.array([9000.0, 7000.0, 3.0])
    for instance in (
        Instance(lone, room),
        Instance(usual, room, weights=giant),
        Instance(sorted_, room),
        Instance(periodic, room),
        Instance(usual, room, max_tasks=most),
        Instance(usual, room, max_tasks=np.full(2000, 1e-3)),
    ):
        found = solve(instance, policy, engine="newton")
        assert found.certificate.violation <= 1e-11
        agree(instance, found.tasks, solve(instance, policy, engine="barrier").tasks)


def test_what_was_free_in_a_sample_is_not_next_to_free():
    """Few of all users need only resources that were free: prices of a thousandth of one's money double ten times."""
    random, n = np.random.default_rng(0), 20_000
    demands = random.integers(1, 100, (n, 8)) * (random.random((n, 8)) < 0.9)
    demands[~demands.any(axis=1), 0] = 50
    said = []
    with reporting(said.append):
        solve(Instance(demands, random.integers(3000, 9000, 8) * n), "ceei", engine="newton")
    assert sum(text.startswith(f"{n} users, pass") for text in said) <= 14


def test_a_sample_is_a_sample():
    seen = []
    with reporting(seen.append):
        solve(known_market(20_000, 4, 1.0, 0).instance, "ceei", engine="newton")
    assert any(text.startswith("1216 users, pass") for text in seen)
    assert any(text.startswith("20000 users, pass") for text in seen)


def test_rows_columns_and_files_are_the_same(tmp_path):
    known = known_market(20_000, 4, 1.0, 1)
    rows = np.ascontiguousarray(known.instance.demands)
    rows.flags.writeable = False
    np.save(tmp_path / "demands.npy", rows)
    mapped = np.load(tmp_path / "demands.npy", mmap_mode="r")
    rest = {"weights": known.instance.weights, "max_tasks": known.instance.limits}
    for demands in (np.asfortranarray(rows), rows, mapped):
        found = solve(Instance(demands, known.instance.capacity, **rest), "ceei", engine="newton")
        assert found.tasks == pytest.approx(known.tasks, rel=1e-9)


@pytest.mark.parametrize("policy", ["ceei", "alpha:2"])
def test_it_needs_less_memory_than_the_demands(policy):
    instance = known_market(100_000, 8, 1.0, 2).instance
    chosen = policy_named(policy)
    problem = Problem(instance, chosen)
    _ = problem.members, problem.all_rates
    tracemalloc.start()
    answer = newton.solve(problem)
    proof = prices.certify(instance, chosen, answer.tasks, None, answer.prices, problem.all_rates)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert proof.valid
    assert peak < 0.8 * instance.demands.nbytes


def test_prices_beyond_floats_are_refused():
    instance = Instance(np.full((400, 1), 1.0), [1.0])
    with pytest.raises(SolverError, match="beyond the range of floats: take a smaller alpha"):
        solve(instance, "alpha:200", engine="newton")


def test_time_runs_out():
    instance = known_market(20_000, 4, 1.0, 3).instance
    with pytest.raises(TimeLimitError, match="Newton's method on the prices; resources were off by"):
        solve(instance, "ceei", engine="newton", time_limit=1e-9)


def test_it_says_when_it_does_not_arrive(monkeypatch, paper):
    monkeypatch.setattr(newton, "PASSES", 2)
    with pytest.raises(SolverError, match="did not arrive in 2 passes: off by"):
        solve(paper, "ceei", engine="newton")
    with pytest.raises(
        SolverError, match=r"did not arrive in 2 passes.*: next to alpha 0 take utilitarian, or a larger"
    ):
        solve(paper, "alpha:0.05", engine="newton")


def test_it_takes_what_it_declares(paper):
    problem = Problem(paper, policy_named("ceei"))
    assert engine_for("newton", problem).takes == "alpha on pool, divisible tasks"


def test_bounded_minimum_is_the_best_of_all_guesses():
    random = np.random.default_rng(0)
    for _ in range(300):
        m = int(random.integers(1, 6))
        rows = random.integers(-2, 3, (int(random.integers(1, 7)), m)).astype(float) * 10.0 ** random.integers(-4, 5, m)
        matrix, right = rows.T @ rows, rows.T @ random.normal(size=len(rows))
        low = -random.choice([0, 0, 0.1, 1, 10], m) / np.abs(rows).max(axis=0, initial=1)
        y = bounded_minimum(matrix, right, low)
        force, size = matrix @ y - right, np.abs(matrix) @ np.abs(y) + np.abs(right) + 1e-300
        assert (y >= low).all()
        assert (force >= -1e-9 * size).all()
        assert (np.where(y > low * (1 - 1e-9), force, 0) <= 1e-9 * size).all()


@pytest.mark.slow
def test_prices_of_huge_weights_are_refused():
    weights, limits = [1e150, 1e150, 1e150, 2], [0.1, np.inf, 2, 0.1]
    demands = [[0, 3e-140], [0, 3e-140], [0, 3e-140], [1e-141, 0]]
    with pytest.raises(SolverError, match="beyond the range of floats"):
        solve(Instance(demands, [1.7e-138, 2.2e-139], weights=weights, max_tasks=limits), "alpha:7")


@pytest.mark.slow
def test_a_polish_without_anything_to_begin_with_is_no_fault():
    """Found by the campaign: shares that differ by 1e300 leave the start of forty digits without tasks of somebody."""
    ends = Instance([["1e-141"], ["3e-140"]], ["2.2e-139"], weights=["1e-150", "1e150"], max_tasks=[1, 1_000_000])
    with pytest.raises(SolverError, match="beyond the range of floats: take a smaller alpha"):
        solve(ends, "alpha:7")


def test_what_users_would_pay_beyond_floats_is_said():
    tiny = Instance([[1], [1]], [1], max_tasks=[1e-18, None])
    for answered in ("alpha:10", "alpha:20"):  # the latter in decimals
        assert solve(tiny, answered).tasks == pytest.approx([1e-18, 1], rel=1e-9)
    with pytest.raises(CertificateError, match="what users would pay is beyond the range of floats: take a smaller"):
        solve(tiny, "alpha:40")
