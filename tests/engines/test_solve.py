"""The one door: what it takes, what it says no to, and what it returns."""

from fractions import Fraction

import numpy as np
import pytest

from drfopt.base.errors import EngineError, PolicyError, SolverError, TimeLimitError
from drfopt.base.tolerances import LEVEL
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.solving.allocating import solve


def test_the_paper(paper):
    drf = solve(paper)
    assert drf.tasks == pytest.approx([3, 2])
    assert drf.dominant_shares == pytest.approx([2 / 3, 2 / 3])
    assert drf.dominant_resources == ("memory", "cpu")
    assert drf.used == pytest.approx([9, 14])
    assert drf.certificate.bottlenecks == ("cpu", "cpu")
    assert drf.prices is None
    ceei = solve(paper, "ceei")
    assert ceei.tasks == pytest.approx([45 / 11, 18 / 11], rel=1e-12)
    assert ceei.prices == pytest.approx([1 / 5, 1 / 90], rel=1e-12)


@pytest.mark.parametrize("exact", [False, True])
def test_what_is_paid_most_for_is_told_from_prices_of_a_unit(exact):
    """At prices of 1/3 and 1/30 A pays 1/3 for CPU and 2/3 for memory, and B the other way round."""
    cluster = Instance({"A": {"cpu": 1, "mem": 20}, "B": {"cpu": 2, "mem": 10}}, capacity={"cpu": 4, "mem": 50})
    assert solve(cluster, "throughput", exact=exact).certificate.bottlenecks == ("mem", "cpu")


def test_exact_answers_are_fractions(paper):
    asset = solve(paper, "asset", exact=True)
    assert asset.tasks.tolist() == [Fraction(63, 25), Fraction(54, 25)]
    assert asset.levels.tolist() == [Fraction(21, 25)] * 2
    assert asset.usage[0].tolist() == [Fraction(63, 25), Fraction(252, 25)]
    assert asset.to_dict()["users"][0]["tasks"] == "63/25"


def test_answers_do_not_change(paper):
    with pytest.raises(AttributeError):
        solve(paper).tasks = 1
    with pytest.raises(AttributeError, match="does not change"):
        paper.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        paper.demands[0, 0] = 5


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"policy": "drff"}, PolicyError, "no policy 'drff': did you mean 'drf'"),
        ({"policy": "single:gpu"}, PolicyError, "cluster does not have.*cpu, memory"),
        ({"policy": "single:"}, PolicyError, "names no resource"),
        ({"policy": "alpha:-1"}, PolicyError, "0 or more"),
        ({"policy": "alpha:nan"}, PolicyError, "0 or more"),
        ({"policy": "alpha:1/0"}, PolicyError, "0 or more, such as alpha:2 or alpha:1/2"),
        ({"policy": "alpha:1/3"}, PolicyError, "1/3 is none: write alpha:0.333"),
        ({"policy": "missing.py"}, PolicyError, "no formulation file 'missing.py'"),
        ({"engine": "fillin"}, EngineError, "no engine 'fillin': did you mean 'filling'"),
        ({"engine": "conic"}, EngineError, "takes alpha.*engines that do: filling, lp-chain"),
        ({"policy": "alpha:0.1234", "exact": True}, EngineError, "roots of degree 5,000, .* 1,000 at most"),
        (
            {"policy": "ceei", "exact": True, "precision": 2},
            PolicyError,
            r"precision \(--precision\) is 2: write a relative width",
        ),
        ({"policy": "ceei", "exact": True, "precision": -1}, PolicyError, "write a relative width such as 1e-30"),
        (
            {"policy": "ceei", "exact": True, "precision": "x"},
            PolicyError,
            "'x' is not a number: write a relative width",
        ),
        ({"time_limit": 0}, PolicyError, "positive number of seconds"),
    ],
)
def test_what_it_says_no_to(paper, arguments, error, words):
    with pytest.raises(error, match=words):
        solve(paper, **arguments)


def test_an_exponent_is_a_number_as_any_other(paper):
    half = solve(paper, "alpha:1/2")
    assert half.policy == "alpha:0.5"
    assert half.tasks.tolist() == solve(paper, "alpha:0.5").tasks.tolist()
    assert solve(paper, "alpha:4/2", exact=True) == solve(paper, "alpha:2", exact=True)


def test_scalar_weights_are_asked_for():
    instance = Instance([[1, 1]], [1, 1], weights=[[1, 2]])
    assert solve(instance, "drf").levels == pytest.approx([1.0])
    for policy in ("ceei", "tasks", "alpha:2"):
        with pytest.raises(PolicyError, match="one weight a user"):
            solve(instance, policy)


def test_one_resource_that_somebody_does_not_need():
    with pytest.raises(PolicyError, match="user 'u2' demands none of it"):
        solve(Instance([[1, 1], [0, 1]], [1, 1]), "single:r1")


@pytest.mark.parametrize("policy", ["drf", "asset", "ceei", "tasks", "utilitarian", "throughput"])
@pytest.mark.parametrize("integer", [False, True])
def test_nobody_can_run_anything(policy, integer):
    for instance in (
        Instance([[1, 1], [2, 0]], [0, 0]),
        Instance([[1, 1], [2, 0]], [5, 5], max_tasks=[0, 0]),
        Instance([[1, 1], [2, 0]], machines=[Machine("m", [0.5, 0.5])]),
    ):
        allocation = solve(instance, policy, integer=integer)
        assert allocation.tasks.tolist() == [0, 0]
        assert allocation.certificate.valid
        assert (allocation.unplaced == ("u1", "u2")) == (instance.limits[0] > 0)


def test_the_unplaced_are_named_and_drag_nobody_down():
    machines = [Machine("small", [2, 2], 2)]
    allocation = solve(Instance([[1, 1], [3, 1]], machines=machines))
    assert allocation.unplaced == ("u2",)
    assert allocation.tasks == pytest.approx([4, 0])
    pool = Instance([[1, 1], [3, 1]], [2, 9])
    assert solve(pool).unplaced == ()
    assert solve(pool, integer=True).unplaced == ("u2",)


def test_limits_round_down_for_whole_tasks():
    instance = Instance([[1], [1]], [10], max_tasks=[2.9, 0.5])
    allocation = solve(instance, integer=True)
    assert allocation.tasks.tolist() == [2, 0]
    assert allocation.unplaced == ()


def test_classes_on_which_no_task_fits_are_no_room():
    # A whole task must fit on one machine, in the continuous version too.
    machines = [Machine("big", [4, 4]), Machine("small", [1, 1], 100)]
    allocation = solve(Instance([[2, 1]], machines=machines))
    assert allocation.tasks == pytest.approx([2])
    assert allocation.placement == pytest.approx(np.array([[2.0, 0.0]]))


def test_huge_counts_are_no_matter():
    instance = Instance([[1, 4], [3, 1]], [9e12, 18e12])
    assert solve(instance, integer=True).tasks.tolist() == [3 * 10**12, 2 * 10**12]


def test_time_limits_end_in_an_exception():
    rng = np.random.default_rng(0)
    machines = [Machine(f"m{k}", row) for k, row in enumerate(rng.random((40, 4)) + 1)]
    instance = Instance(rng.random((300, 4)), machines=machines)
    with pytest.raises(TimeLimitError, match="time limit"):
        solve(instance, "drf", time_limit=1e-3)
    assert issubclass(TimeLimitError, SolverError)


def test_ugly_weights_and_many_ties_end_in_time():
    thirds = Instance([[1, 4], [3, 1]], [9, 18], weights=[1 / 3, 2 / 3])
    assert solve(thirds, "ceei", integer=True).tasks.tolist() == [3, 2]
    n = 24
    ties = Instance([[1, 1 + i / 100] for i in range(n)], [2 * n - 1, 1000], max_tasks=[2] * n)
    assert sorted(solve(ties, "tasks", integer=True).tasks.tolist()) == [1] + [2] * (n - 1)


def test_levels_six_decades_apart_on_one_machine():
    instance = Instance([[0.0042], [0.942], [1e-6]], machines=[Machine("a", [1.0])])
    levels = solve(instance, "tasks").levels
    assert levels == pytest.approx(np.full(3, levels[0]), rel=1e-12)


def test_what_floats_cannot_hold_is_refused_by_their_engine_and_answered_in_fractions():
    demands = np.zeros((11, 2))
    demands[:10, 0] = 0.1
    demands[10] = [1e-13, 1]
    instance = Instance(demands, machines=[Machine("a", [10.0, 10.0]), Machine("b", [10.0, 5.0])])
    with pytest.raises(SolverError, match="differ too much"):
        solve(instance, engine="lp-chain")
    found = solve(instance)
    assert found.engine == "rational-chain after lp-chain"
    assert found.levels == pytest.approx(solve(instance, exact=True).levels.astype(float), rel=LEVEL)
