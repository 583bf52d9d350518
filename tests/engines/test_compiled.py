"""Compiled loops find what numpy's passes find; they are asked for where there are many users, and numba is there."""

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from awkward_pools import awkward_pools

from drfopt.base import loops as kernels
from drfopt.base.errors import InstanceError
from drfopt.certificates import prices
from drfopt.certificates.bottleneck import certify
from drfopt.certificates.holders import Holders
from drfopt.certificates.marks import Marks
from drfopt.certificates.prices import Buyers
from drfopt.engines.leximin import filling, saturation
from drfopt.model.arrays import BLOCK, Gathered, needed_sets
from drfopt.model.instance import Instance
from drfopt.model.policies import policy_named
from drfopt.solving.allocating import solve


def nothing():
    """Stand for an installation without numba."""


@pytest.fixture
def loops(monkeypatch):
    """Ask for loops however small the table is, and for sums by set."""
    pytest.importorskip("numba")
    monkeypatch.setattr(kernels, "NUMBERS", 1)
    monkeypatch.setattr(filling, "PER_SET", 0)


def crowd(n, m=5, seed=3):
    random = np.random.default_rng(seed)
    demands = random.integers(0, 7, (n, m)) * random.random((n, m)).round(3)
    demands[:, 0] += demands.sum(axis=1) == 0
    return demands, random.integers(1, 9, m) * n / 4, random.lognormal(0, 1, n) * np.where(np.arange(n) % 5, 1, np.inf)


@pytest.mark.parametrize("policy", ["drf", "asset"])
def test_awkward_pools(loops, policy):
    for what, pool, tasks in awkward_pools(17, 50, policy):
        found = solve(pool, policy)
        rates = policy_named(policy).exact_rates(pool)
        levels = [float(rate * x) for rate, x in zip(rates, tasks, strict=True)]
        assert found.levels == pytest.approx(levels, rel=1e-12, abs=0), what
        assert found.certificate.valid


@pytest.mark.parametrize("limited", [False, True])
def test_many_users_have_the_same_tasks_with_and_without(loops, monkeypatch, limited):
    demands, capacity, limits = crowd(2 * BLOCK + 17)
    given = {"max_tasks": limits * capacity.mean() / BLOCK / 5} if limited else {}
    for module in (filling, saturation):
        monkeypatch.setattr(module, "MANY", 5_000)
    monkeypatch.setattr(saturation, "SAMPLE", 500)
    with_loops = solve(Instance(demands, capacity, **given))
    monkeypatch.setattr(kernels, "_loops", nothing)
    without = solve(Instance(demands, capacity, **given))
    assert with_loops.tasks == pytest.approx(without.tasks, rel=1e-13)
    one, other = with_loops.certificate, without.certificate
    assert one.valid and other.valid
    assert one.evidence.error == pytest.approx(other.evidence.error, rel=0.5)
    assert one.bottlenecks == other.bottlenecks


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("limited", [False, True])
def test_the_certificate_adds_up_the_same(loops, seed, limited):
    """Ties, levels near two marks, limits that are met, and users who are at no mark."""
    random = np.random.default_rng(seed)
    demands = random.integers(0, 3, (700, 4)).astype(float)
    demands[~demands.any(axis=1), 0] = 1
    tasks = random.integers(0, 4, 700) / 4 * (1 - 1e-9 * random.integers(0, 4, 700))
    limits = np.where(random.random(700) < 0.2, np.inf, np.maximum(tasks, random.integers(0, 4, 700)))
    instance = Instance(demands, np.full(4, 60.0), max_tasks=limits if limited else None)
    by_loop, by_block = (Holders(instance, np.ones(700), tasks) for _ in range(2))
    by_block.by_set = False
    one, other = by_loop.seen(), by_block.seen()
    assert one.used == pytest.approx(other.used, rel=1e-14)
    assert (one.highest == other.highest).all() and one.in_range and other.in_range
    tops = np.array([0.25, 0.5, 0.5 * (1 + 1e-9), 0.75])[random.permutation(4)]
    for marks in (Marks.of_tops(tops, tops > 0, 1e-12), Marks.of_tops(one.highest, one.highest > 2, 1e-12)):
        inverse = np.divide(1, tops, where=marks.of >= 0, out=np.zeros(4))[:, None]
        for found, expected in zip(by_loop.held(marks, inverse), by_block.held(marks, inverse), strict=True):
            assert np.asarray(found) == pytest.approx(np.asarray(expected), rel=1e-13, abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("far", [False, True])
def test_sums_by_set_say_what_a_second_look_says(loops, monkeypatch, seed, limited, far):
    """Of who is at a limit they know the level about: they may say that less is at a mark, and more is near one."""
    random = np.random.default_rng(seed)
    demands = random.integers(0, 3, (900, 4)).astype(float)
    demands[~demands.any(axis=1), 0] = 1
    tops = np.array([0.25, 0.5, 0.5, 0.75])[random.permutation(4)]
    tasks = np.where(demands > 0, tops, 1).min(axis=1) * (1 - 1e-16 * random.integers(0, 4, 900))
    limits = np.full(900, np.inf)
    for some, below in ((5, 0), (6, 3e-10), (7, 0.1), (8, 1)):
        mine = np.arange(900) % 20 == some
        tasks[mine] *= 1 - below
        limits[mine] = tasks[mine]
    if not limited:
        tasks[limits < np.inf] = np.where(demands > 0, tops, 1).min(axis=1)[limits < np.inf]
    if far:
        monkeypatch.setattr(kernels, "_loops", nothing)
    pool = Instance(demands, demands.sum(axis=0), max_tasks=limits if limited else None)
    users = Holders(pool, np.ones(900), tasks, far)
    sums, marks = users.seen().by_set, Marks.of_tops(tops, tops > 0, 1e-14)
    inverse = 1 / tops[:, None]
    at, free, near, needed, unclear, short = sums.at(marks, inverse)
    exact_at, exact_free, exact_near, *who, exact_short, _ = users.held(marks, inverse)
    assert free == pytest.approx(exact_free, rel=1e-13)
    assert (at <= exact_at * (1 + 1e-13)).all() and (near >= exact_near * (1 - 1e-13)).all()
    assert (needed == who[0]).all() and not unclear.any() and max(short, exact_short) <= marks.window
    for g in range(len(marks.low)):
        tied = np.flatnonzero(marks.of >= g)
        for found, expected in zip(sums.by_pattern(marks, tied, g), users.by_pattern(marks, tied, g), strict=True):
            assert found == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("n", [1, 63, 64, 3_001])
def test_what_is_used_is_known_to_twice_the_digits(loops, monkeypatch, n):
    random = np.random.default_rng(n)
    demands, tasks = np.asfortranarray(random.lognormal(0, 9, (n, 3))), random.lognormal(0, 9, n)
    exact = [sum(Fraction(d) * Fraction(x) for d, x in zip(row, tasks, strict=True)) for row in demands.T]
    for _ in range(2):
        users = Holders(Instance(demands, np.ones(3)), np.ones(n), tasks, far=True)
        for found, rest, truth in zip(*users.exactly_used(np.array([2, 0])), (exact[2], exact[0]), strict=True):
            assert abs(Fraction(found) + Fraction(rest) - truth) <= truth / 2**95
        monkeypatch.setattr(kernels, "_loops", nothing)


@pytest.mark.parametrize("far", [False, True])
def test_sums_by_set_do_not_tell_who_is_below_a_mark_or_hardly_below_a_limit(loops, monkeypatch, far):
    if far:
        monkeypatch.setattr(kernels, "_loops", nothing)
    demands, tops = np.ones((40, 2)), np.array([0.5, 0.5])
    marks, inverse = Marks.of_tops(tops, tops > 0, 1e-14), 1 / tops[:, None]
    for tasks, limit in ((0.5 * (1 - 1e-10), np.inf), (0.5, 0.5 * (1 + 1e-10)), (0.4, 1.0)):
        users = np.full(40, 0.5)
        users[3] = tasks
        pool = Instance(demands, [20, 20], max_tasks=np.where(np.arange(40) == 3, limit, np.inf))
        assert Holders(pool, np.ones(40), users, far).seen().by_set.at(marks, inverse) is None


def market(n, limited):
    demands, capacity, limits = crowd(n)
    most = np.where(np.arange(n) % 7, limits * 3, 0) if limited else None
    return Instance(demands, capacity, max_tasks=most, weights=1 + np.arange(n) % 3 if limited else None)


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("policy", ["ceei", "alpha:2"])
def test_markets_have_the_same_prices_with_and_without(loops, monkeypatch, policy, limited):
    pool = market(BLOCK + 17, limited)
    with_loops = solve(pool, policy)
    monkeypatch.setattr(kernels, "_loops", nothing)
    without = solve(pool, policy)
    assert with_loops.prices == pytest.approx(without.prices, rel=1e-11)
    assert with_loops.tasks == pytest.approx(without.tasks, rel=1e-11)


@pytest.mark.parametrize("limited", [False, True])
def test_the_proof_of_a_market_sees_the_same(loops, monkeypatch, limited):
    pool, policy = market(BLOCK + 17, limited), policy_named("ceei")
    answer = solve(pool, "ceei")
    random = np.random.default_rng(1)
    for size in (0, 1e-7, 1e-3):
        tasks = answer.tasks * (1 + size * random.normal(size=pool.n))
        monkeypatch.setattr(kernels, "NUMBERS", 1)
        one = Buyers(pool, policy, answer.prices[None, :], tasks).seen()
        monkeypatch.setattr(kernels, "NUMBERS", np.inf)
        other = Buyers(pool, policy, answer.prices[None, :], tasks).seen()
        # Who is off most is rounding where nobody is.
        other = other if size else other._replace(user=one.user)
        for found, expected in zip(one[:-1], other[:-1], strict=True):
            assert found == pytest.approx(expected, rel=1e-7, abs=1e-14)


@pytest.mark.parametrize("change", [1 - 1e-6, 1 + 1e-6, np.nan, -1.0, np.inf])
@pytest.mark.parametrize("limited", [False, True])
def test_wrong_tasks_of_a_market_are_not_proven(loops, limited, change):
    pool, policy = market(BLOCK + 17, limited), policy_named("ceei")
    answer = solve(pool, "ceei")
    user = int(np.flatnonzero(answer.tasks > 0)[-1])
    wrong = answer.tasks.copy()
    wrong[user] *= change
    assert prices.certify(pool, policy, answer.tasks, None, answer.prices[None, :]).valid
    assert not prices.certify(pool, policy, wrong, None, answer.prices[None, :]).valid


@pytest.mark.parametrize("limited", [False, True])
def test_wrong_tasks_are_not_proven(loops, limited):
    demands, capacity, limits = crowd(BLOCK + 3)
    limits[BLOCK + 1] = np.inf
    pool, policy = Instance(demands, capacity, max_tasks=limits if limited else None), policy_named("drf")
    tasks = solve(pool).tasks.copy()
    assert certify(pool, policy, tasks).valid
    for change in (1 - 1e-6, 1 + 1e-6, np.nan, -1.0):
        wrong = tasks.copy()
        wrong[BLOCK + 1] *= change
        wrong[: BLOCK // 2] *= 1 if change != 1 - 1e-6 else change
        assert not certify(pool, policy, wrong).valid


@pytest.mark.parametrize(
    ("value", "told"),
    [(np.nan, "is nan: write a finite number"), (np.inf, "is inf: write a finite"), (-1e-3, "is -0.001: it must not")],
)
def test_bad_numbers_are_told_as_ever(loops, value, told):
    demands, capacity, _ = crowd(BLOCK + 9)
    demands[BLOCK + 3, 2] = value
    with pytest.raises(InstanceError, match=f"user 'u{BLOCK + 4}': demand of 'r3' {told}"):
        Instance(demands, capacity)


def test_the_door_finds_what_it_found(loops, monkeypatch):
    demands, capacity, _ = crowd(BLOCK + 9)
    demands[5] = 0
    with pytest.raises(InstanceError, match="user 'u6' demands nothing"):
        Instance(demands, capacity)
    demands[5, 2] = 1e-9
    looped = Instance(demands, capacity)
    monkeypatch.setattr(kernels, "_loops", nothing)
    plain = Instance(demands, capacity)
    assert (looped.demands == plain.demands).all() and (looped.needs == needed_sets(plain.demands)).all()
    one, other = looped._demands.extent, plain._demands.extent
    assert (one.highest == other.highest).all() and (one.lowest == other.lowest).all()


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
def test_a_table_of_pieces_knows_what_a_look_at_the_whole_finds(loops, monkeypatch, kind):
    demands = (crowd(3_000, m=9)[0].round(2) + 1 * (np.arange(9) == 4)).astype(kind).astype(float)
    table = Gathered(*demands.shape)
    for start, stop in ((0, 1_100), (1_100, 2_900), (2_900, 3_000)):
        for j, column in enumerate(demands[start:stop].T):
            assert table.put(j, start, column.astype(kind)) is None
    found, looked = Instance(table.table(), np.ones(9)), Instance(demands, np.ones(9))
    assert type(found.demands) is np.ndarray and not found.demands.flags.writeable
    assert (found.demands == demands).all() and found.mid_range == looked.mid_range
    assert (found.needs == needed_sets(demands)).all() and found.needs.dtype == needed_sets(demands).dtype
    for one, other in zip(vars(found._demands.extent).values(), vars(looked._demands.extent).values(), strict=True):
        assert np.array_equal(one, other)
    table = Gathered(*demands.shape)
    for j, column in enumerate(demands.T):
        table.put(j, 0, column * (np.arange(3_000) != 17))
    with pytest.raises(InstanceError, match="'u18' demands nothing"):
        Instance(table.table(), np.ones(9))


@pytest.mark.parametrize("with_loops", [False, True])
def test_a_table_of_pieces_says_what_may_be_wrong(loops, monkeypatch, with_loops):
    if not with_loops:
        monkeypatch.setattr(kernels, "_loops", nothing)
    for bad, told in ((-1, "'r1' is -1"), (np.nan, "is nan"), (np.inf, "is inf"), (-0.0, "'u8' demands nothing")):
        table, column = Gathered(50, 1), np.ones(50)
        column[7] = bad
        odd = table.put(0, 0, column)
        assert odd is None if bad == 0 and not with_loops else np.array_equal(odd, column, equal_nan=True)
        with pytest.raises(InstanceError, match=told):
            Instance(table.table(), [1.0])


def test_minus_zero_is_zero(loops):
    demands, capacity, _ = crowd(BLOCK + 9)
    demands[BLOCK + 3] = -0.0
    with pytest.raises(InstanceError, match=f"user 'u{BLOCK + 4}' demands nothing"):
        Instance(demands, capacity)
    demands[BLOCK + 3, 1] = 1
    assert solve(Instance(demands, capacity)).certificate.valid


def test_small_tables_and_an_installation_without_numba_load_nothing():
    demands, *_ = crowd(50)
    assert kernels.compiled(np.asfortranarray(demands)) is None
    program = (
        "import sys; sys.modules['numba'] = None\n"
        "import numpy as np; from drfopt.base import loops; loops.NUMBERS = 1\n"
        "from drfopt import Instance, solve\n"
        "print(solve(Instance(np.ones((9, 2)), [9, 9])).certificate.valid, loops._loops())\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["True", "None"]
