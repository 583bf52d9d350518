"""Machines, limits, zero demands, weights; duals as proofs; whole tasks against enumeration."""

from itertools import product
from math import inf, log

import cvxpy as cp
import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

NAN = np.nan
LEXIMIN = ("drf", "asset", "tsf")
WHOLE = ("drf_integer", "asset_integer", "ceei_integer")
EVERY = (*LEXIMIN, "ceei", "drf_equality", "asset_equality", "efficient_sharing", *WHOLE)


@pytest.mark.parametrize(
    ("demands", "tasks"),
    [
        ([(1, 0), (1, 0), (1, 0.5), (0, 1)], (1 / 3, 1 / 3, 1 / 3, 5 / 6)),  # two levels
        ([(1, 1), (1, 0), (0, 1)], (1 / 2, 1 / 2, 1 / 2)),  # whose duals need not show all three at once
        ([(1, 2), (1, 2), (1, 2)], (1 / 6, 1 / 6, 1 / 6)),  # users alike
        ([(2, 1)], (1 / 2,)),  # one user
    ],
)
def test_drf_to_its_end(lab, demands, tasks):
    assert lab.leximin("drf", lab.make(demands, (1, 1)))[0] == pytest.approx(tasks)


@pytest.mark.parametrize(
    ("name", "weights", "tasks"),
    [
        ("drf", (2, 1), (54 / 13, 18 / 13)),
        ("drf", (1, 2), (9 / 5, 12 / 5)),
        ("ceei", (2, 1), (45 / 11, 18 / 11)),
        ("ceei", (1, 3), (9 / 4, 9 / 4)),
    ],
)
def test_weights(lab, name, weights, tasks):
    found, _ = lab.solve(lab.build(name, lab.make([(1, 4), (3, 1)], (9, 18), weights=weights)))
    assert found == pytest.approx(tasks, rel=1e-4 if name == "ceei" else 1e-8)


def test_weights_per_resource(lab):
    """Both users with weight 1 on the first resource and 2 on the second; then with half of each."""
    demands, capacity = [(1, 2), (1, 1)], (1, 1)
    data = lab.make(demands, capacity, weights=[(1, 2), (1, 2)])
    assert lab.leximin("drf", data)[0] == pytest.approx((1 / 3, 1 / 3))
    data = lab.make(demands, capacity, weights=[(0.5, 0.5), (0.5, 0.5)])
    assert lab.leximin("drf", data)[0] == pytest.approx((1 / 4, 1 / 2))
    data = lab.make(demands, capacity, weights=[(1, 2), (1, 2)])
    tasks, levels = lab.solve(lab.build("asset", data))
    assert levels == pytest.approx((2 * tasks[0], 3 / 2 * tasks[1]))
    assert levels[0] == pytest.approx(levels[1])


@pytest.mark.parametrize("name", EVERY)
def test_a_resource_nobody_uses_and_one_that_is_not_there(lab, name):
    """Neither changes anything; the third user needs what is not there, and can stay as her limit is 0."""
    plain, _ = lab.solve(lab.build(name, lab.make([(1, 4), (3, 1)], (9, 18))))
    data = lab.make([(1, 4, 0), (3, 1, 0)], (9, 18, 7))
    assert lab.solve(lab.build(name, data))[0] == pytest.approx(plain, rel=1e-4)
    if name.endswith("_equality"):
        return  # one user at 0 stops everybody
    data = lab.make([(1, 4, 0), (3, 1, 0), (0, 0, 1)], (9, 18, 0), limits=(inf, inf, 0))
    if not name.startswith(LEXIMIN):
        assert lab.solve(lab.build(name, data))[0] == pytest.approx((*plain, 0), rel=1e-4, abs=1e-6)
    else:
        assert lab.solve(lab.build(name, data, (NAN, NAN, 0)))[0] == pytest.approx((*plain, 0), abs=1e-9)


@pytest.mark.parametrize("name", EVERY)
def test_nobody_may_have_a_task(lab, name):
    tasks, _ = lab.solve(lab.build(name, lab.make([(1, 4), (3, 1)], (9, 18), limits=0)))
    assert tasks == pytest.approx((0, 0), abs=1e-7)


@pytest.mark.parametrize("name", [*LEXIMIN, "drf_integer", "asset_integer"])
def test_everybody_held(lab, name):
    """A valid model still, which keeps the levels."""
    data = lab.make([(1, 4), (3, 1)], (9, 18))
    _, levels = lab.solve(lab.build(name, data, (0.4, 0.5)))
    assert (levels >= np.array((0.4, 0.5)) - 1e-9).all()


@pytest.mark.parametrize("name", LEXIMIN)
def test_a_limit_ends_the_round_and_the_dual_names_who(lab, name):
    program = lab.build(name, lab.make([(1, 4), (3, 1)], (9, 18), limits=(1, inf)))
    tasks, _ = lab.solve(program)
    assert tasks[0] == pytest.approx(1)
    level, capacity, limit, _ = program.problem.constraints
    assert level.dual_value == pytest.approx((1, 0)) and limit.dual_value == pytest.approx((1, 0))
    assert not capacity.dual_value.any()


def test_limits_of_the_nash_product(lab):
    tasks, _ = lab.solve(lab.build("ceei", lab.make([(1, 4), (3, 1)], (9, 18), limits=(2, inf))))
    assert tasks == pytest.approx((2, 7 / 3), rel=1e-5)


@pytest.mark.parametrize("name", ["ceei", "ceei_integer"])
def test_who_may_have_nothing_is_left_out_of_the_product(lab, name):
    tasks, _ = lab.solve(lab.build(name, lab.make([(1, 4), (3, 1), (1, 1)], (9, 18), limits=(inf, inf, 0))))
    expected = (3, 2, 0) if name == "ceei_integer" else (45 / 11, 18 / 11, 0)
    assert tasks == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_two_kinds_of_servers(lab):
    """Wang, Li, Liang, INFOCOM 2014: servers (2, 12) and (12, 2); server by server each user would have 6."""
    data = lab.make([(0.2, 1), (1, 0.2)], machines=[(2, 12), (12, 2)])
    tasks, levels = lab.solve(lab.build("drf", data))
    assert tasks == pytest.approx((10, 10)) and levels == pytest.approx((5 / 7, 5 / 7))
    assert lab.solve(lab.build("drf_integer", data))[0] == pytest.approx((10, 10))


@pytest.mark.parametrize("name", ["drf", "asset", "drf_integer", "asset_integer"])
def test_nested_classes_are_shared_out(lab, name):
    """One task fits on each of three machines; open to the users are one, two and all three of them."""
    data = lab.make(3 * [[1]], machines=3 * [[1]], eligible=[(1, 0, 0), (1, 1, 0), (1, 1, 1)])
    assert lab.solve(lab.build(name, data))[0] == pytest.approx((1, 1, 1))


def test_a_crowded_class(lab):
    data = lab.make(3 * [[1]], machines=2 * [[1]], eligible=[(1, 0), (1, 0), (1, 1)])
    assert lab.leximin("drf", data)[0] == pytest.approx((1 / 2, 1 / 2, 1))
    assert lab.solve(lab.build("ceei", data))[0] == pytest.approx((1 / 2, 1 / 2, 1), rel=1e-5)
    assert lab.solve(lab.build("drf_equality", data))[0] == pytest.approx((1 / 2, 1 / 2, 1 / 2))


def test_a_task_runs_on_one_machine(lab):
    """Three machines of 3, tasks of 2: three whole tasks, though 9 units hold four; or 4.5 divisible."""
    data = lab.make([[2]], machines=[[3]], counts=[3])
    for name in WHOLE:
        assert lab.solve(lab.build(name, data))[0] == pytest.approx([3])
    assert lab.solve(lab.build("drf", data))[0] == pytest.approx([4.5])


def test_efficient_sharing_keeps_its_promise_and_is_no_known_policy(lab):
    demands, capacity = np.array([(1, 1), (1, 2), (3, 1), (1, 5)], dtype=float), np.array((1.0, 1.0))
    tasks, _ = lab.solve(lab.build("efficient_sharing", lab.make(demands, capacity)))
    own = (capacity / 4 / demands).min(axis=1)
    assert (tasks >= own - 1e-9).all() and (tasks @ demands <= capacity + 1e-9).all()
    equilibrium, _ = lab.solve(lab.build("ceei", lab.make(demands, capacity)))
    share = demands.max(axis=1)
    assert share @ tasks > share @ equilibrium + 1e-3
    x = cp.Variable(4)
    cp.Problem(cp.Maximize(share @ x), [demands.T @ x <= capacity, x >= own]).solve(solver=cp.HIGHS)
    assert share @ tasks == pytest.approx(share @ x.value)


@pytest.mark.parametrize("size", [1e-9, 1, 1e12])
@pytest.mark.parametrize("name", ["drf", "asset", "ceei", "drf_equality"])
def test_units_and_the_size_of_weights_do_not_matter(lab, name, size):
    rng = np.random.default_rng(1)
    demands, weights = rng.integers(1, 9, (40, 3)), rng.integers(1, 4, 40)
    plain, _ = lab.solve(lab.build(name, lab.make(demands, (50, 60, 70), weights=weights)))
    units = np.array((size, 1, 1 / size))
    data = lab.make(demands * units, np.array((50, 60, 70)) * units, weights=weights * 1e5)
    assert lab.solve(lab.build(name, data))[0] == pytest.approx(plain, rel=1e-3 if name == "ceei" else 1e-7)


def clusters(lab, seeds, *, users, highest, **more):
    """Yield small clusters with zero demands, limits, classes that do not fit, and everybody placed."""
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        demands = rng.integers(0, 4, (users, 2))
        demands[demands.sum(axis=1) == 0] = (1, 2)
        machines, counts = rng.integers(0, highest, (2, 2)), rng.integers(1, 3, 2)
        machines[0] += 3
        open_to = rng.random((users, 2)) < 0.7
        open_to[:, 0] = True
        limits = np.where(rng.random(users) < 0.3, rng.integers(1, 3, users), np.inf)
        yield lab.make(demands, machines=machines, counts=counts, eligible=open_to, limits=limits, **more)


@pytest.mark.parametrize("name", LEXIMIN)
def test_duals_prove_the_level_of_the_round(lab, name):
    """The bound stated in the README, from the numbers alone; the first user is held below her level."""
    for data in clusters(lab, 12, users=4, highest=9):
        c = np.where(data.capacity > 0, data.capacity, 1)
        room = (data.counts[:, None] * data.machines)[None, :, :]
        need = np.where(data.demands > 0, data.demands, np.nan)[:, None, :]
        a = {
            "drf": (data.demands / c).max(axis=1),
            "asset": (data.demands / c).sum(axis=1),
            "tsf": 1 / np.nanmin(room / need, axis=2).sum(axis=1),
        }[name]
        g = 1 / ((data.demands / a[:, None]).sum(axis=0) / c).max()
        _, levels = lab.solve(lab.build(name, data))
        held = np.array((levels.min() / 2, NAN, NAN, NAN))
        program = lab.build(name, data, held)
        _, levels = lab.solve(program)
        y, prices, mu, _ = (constraint.dual_value for constraint in program.problem.constraints)
        limited = np.isfinite(data.limits)
        assert not mu[~limited].any()
        C = data.counts[:, None] * data.machines
        cost = (g * data.demands / a[:, None]) @ (prices / np.where(C > 0, C, 1)).T + mu[:, None]
        assert min(y.min(), prices.min(), mu.min()) >= -1e-9 and y[1:].sum() == pytest.approx(1)
        assert (y[:, None] <= cost + 1e-9)[data.eligible].all()
        bound = prices.sum() + mu[limited] @ (a * data.limits / g)[limited] - y[0] * held[0] / g
        assert levels[1:].min() / g == pytest.approx(bound)
        assert program.problem.value == pytest.approx(bound)


def test_prices_on_machines(lab):
    for data in clusters(lab, 8, users=3, highest=9):
        program = lab.build("ceei", data)
        tasks, _ = lab.solve(program)
        C = data.counts[:, None] * data.machines
        dual = program.problem.constraints[0].dual_value
        cost = data.demands @ (dual / np.where(C > 0, C, 1)).T
        cheapest = np.where(data.eligible, cost, np.inf).min(axis=1)
        below = tasks < data.limits - 1e-4
        assert (tasks * cheapest)[below] == pytest.approx(np.ones(below.sum()), rel=1e-3)
        assert (tasks * cheapest <= 1 + 1e-3).all()


def whole_tasks(data):
    """Return every vector of whole tasks that fits, machine by machine."""
    reachable = {tuple(0 for _ in data.demands)}
    for capacity, open_to in zip(
        np.repeat(data.machines, data.counts, axis=0),
        np.repeat(data.eligible, data.counts, axis=1).T,
        strict=True,
    ):
        most = [
            int((capacity[d > 0] // d[d > 0]).min()) if e else 0 for d, e in zip(data.demands, open_to, strict=True)
        ]
        here = [x for x in product(*(range(u + 1) for u in most)) if (np.array(x) @ data.demands <= capacity).all()]
        reachable = {tuple(a + b for a, b in zip(x, y, strict=True)) for x in reachable for y in here}
    return [x for x in reachable if (np.array(x) <= data.limits).all()]


@pytest.mark.parametrize("name", ["drf_integer", "asset_integer"])
def test_whole_leximin_against_enumeration(lab, name):
    for data in clusters(lab, 8, users=3, highest=5, weights=[(1, 2), (1, 1), (3, 1)]):
        share = data.demands / (np.where(data.capacity > 0, data.capacity, 1) * data.weights)
        a = share.max(axis=1) if name == "drf_integer" else share.sum(axis=1)
        best = max(sorted((a * x).round(9)) for x in whole_tasks(data))
        _, levels = lab.solve(lab.build(name, data))
        assert levels.min() == pytest.approx(best[0])
        assert lab.whole_leximin(name, data) == pytest.approx(best)


def test_whole_nash_product_against_enumeration(lab):
    crowded = 0
    for data in clusters(lab, 16, users=4, highest=4, weights=(1, 2, 1, 3)):
        w = data.weights[:, 0]

        def worth(x, w=w):
            return sum(i > 0 for i in x), round(sum(v * log(i) for v, i in zip(w, x, strict=True) if i), 9)

        best = max(map(worth, whole_tasks(data)))
        tasks, _ = lab.solve(lab.build("ceei_integer", data))
        assert worth(tasks) == best
        crowded += best[0] < 4
    assert crowded >= 2  # some clusters are too small for a task of everybody


def test_one_user_more_outweighs_any_product(lab):
    """Nine units: four tasks of the first user beside one of another, though nine alone weigh far more."""
    data = lab.make([[1], [5], [5]], [9], weights=(10, 1, 1))
    tasks, _ = lab.solve(lab.build("ceei_integer", data))
    assert tasks[0] == 4 and sorted(tasks[1:]) == [0, 1]
