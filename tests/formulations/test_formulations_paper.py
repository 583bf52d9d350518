"""Every file on the numbers of the NSDI 2011 paper (Ghodsi et al., Dominant Resource Fairness)."""

import cvxpy as cp
import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:pulp")

SECTION_4_1 = ([(1, 4), (3, 1)], (9, 18))
THREE_USERS = ([(1, 1), (1, 2), (3, 1)], (1, 1))
APPENDIX = ([(1, 0)] + 9 * [(0, 1)], (1, 1))
TWO_AND_ONE = ([(1, 0), (0, 1), (0, 1)], (1, 1))

ONCE = [
    ("drf", SECTION_4_1, (3, 2)),
    ("asset", SECTION_4_1, (63 / 25, 54 / 25)),
    ("ceei", SECTION_4_1, (45 / 11, 18 / 11)),
    ("drf_integer", SECTION_4_1, (3, 2)),
    ("asset_integer", SECTION_4_1, (3, 2)),
    ("ceei_integer", SECTION_4_1, (3, 2)),
    ("drf_equality", SECTION_4_1, (3, 2)),
    ("asset_equality", SECTION_4_1, (63 / 25, 54 / 25)),
    ("efficient_sharing", SECTION_4_1, (45 / 11, 18 / 11)),
    ("asset", ([(1, 3), (1, 1)], (30, 30)), (6, 12)),  # theorem 1
    ("drf", ([(1, 3), (1, 1)], (30, 30)), (5, 15)),
    ("ceei", ([(1, 3), (1, 1)], (30, 30)), (5, 15)),
    ("asset", ([(3, 2), (4, 1)], (21, 21)), (3, 3)),  # theorem 2
    ("drf", ([(3, 2), (4, 1)], (21, 21)), (7 / 2, 21 / 8)),
    ("ceei", ([(3, 2), (4, 1)], (21, 21)), (7 / 2, 21 / 8)),
    ("ceei", ([(16, 1), (1, 2)], (100, 100)), (100 / 31, 1500 / 31)),  # theorem 4
    ("drf", THREE_USERS, (2 / 5, 1 / 5, 2 / 15)),
    ("asset", THREE_USERS, (6 / 19, 4 / 19, 3 / 19)),
    ("ceei", THREE_USERS, (1 / 3, 4 / 15, 2 / 15)),
    ("efficient_sharing", THREE_USERS, (1 / 3, 4 / 15, 2 / 15)),
]


@pytest.mark.parametrize(("name", "instance", "tasks"), ONCE)
def test_tasks(lab, name, instance, tasks):
    found, _ = lab.solve(lab.build(name, lab.make(*instance)))
    assert found == pytest.approx(tasks, rel=1e-4 if "ceei" in name else 1e-8)


def test_levels_of_the_first_round(lab):
    _, levels = lab.solve(lab.build("drf", lab.make(*SECTION_4_1)))
    assert levels == pytest.approx((2 / 3, 2 / 3))
    _, levels = lab.solve(lab.build("asset", lab.make(*SECTION_4_1)))
    assert levels == pytest.approx((21 / 25, 21 / 25))
    _, levels = lab.solve(lab.build("drf_integer", lab.make(*SECTION_4_1)))
    assert levels == pytest.approx((2 / 3, 2 / 3))


def test_prices_of_section_5_2(lab):
    program = lab.build("ceei", lab.make(*SECTION_4_1))
    lab.solve(program)
    prices = program.problem.constraints[0].dual_value / SECTION_4_1[1]
    assert prices == pytest.approx(np.array([[1 / 5, 1 / 90]]), rel=1e-3)
    assert program.problem.value == pytest.approx(np.log(45 / 11) + np.log(18 / 11))


def test_the_irrational_equilibrium_of_theorem_5(lab):
    tasks, _ = lab.solve(lab.build("ceei", lab.make([(4, 1), (1, 16), (16, 1)], (100, 100))))
    root = np.sqrt(373)
    expected = 125 * (25 - root) / 63, 100 * (38 + root) / 1071, 25 * (root - 13) / 51
    assert tasks == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("demands", [((2, 1), (1, 2)), ((1, 1), (1, 2), (3, 1)), ((5, 3), (2, 7), (1, 1), (4, 4))])
@pytest.mark.parametrize("name", ["drf", "asset"])
def test_positive_demands_finish_in_one_round_at_the_closed_form(lab, name, demands):
    """Theorem 13 and its like for asset fairness: everybody rises until the first resource is full."""
    d, c = np.array(demands, dtype=float), np.array((3.0, 5.0))
    level = (d / c).max(axis=1) if name == "drf" else (d / c).sum(axis=1)
    tasks, rounds = lab.leximin(name, lab.make(d, c))
    assert tasks == pytest.approx(1 / level / ((d / level[:, None]).sum(axis=0) / c).max())
    assert lab.build(name, lab.make(d, c)).problem.solve(solver=cp.HIGHS) == pytest.approx(1)
    assert rounds <= len(d)


@pytest.mark.parametrize(
    ("name", "instance", "limits", "equality", "leximin"),
    [
        ("drf", APPENDIX, np.inf, 10 * [1 / 9], [1] + 9 * [1 / 9]),
        ("asset", TWO_AND_ONE, np.inf, (1 / 2, 1 / 2, 1 / 2), (1, 1 / 2, 1 / 2)),
        ("drf", SECTION_4_1, (2, np.inf), (2, 4 / 3), (2, 7 / 3)),
        ("asset", SECTION_4_1, (2, np.inf), (2, 12 / 7), (2, 7 / 3)),
        ("drf", SECTION_4_1, (0, np.inf), (0, 0), (0, 3)),
    ],
)
def test_the_printed_equality_is_not_pareto_efficient(lab, name, instance, limits, equality, leximin):
    data = lab.make(*instance, limits=limits)
    stopped, levels = lab.solve(lab.build(f"{name}_equality", data))
    assert levels is None
    assert stopped == pytest.approx(equality, abs=1e-9)
    risen, _ = lab.leximin(name, data)
    assert risen == pytest.approx(leximin, abs=1e-9)
    assert (risen >= stopped - 1e-9).all() and risen.sum() > stopped.sum() + 0.1


def test_whole_tasks_of_three_users(lab):
    data = lab.make([(1, 1), (1, 2), (3, 1)], (30, 30))
    assert lab.whole_leximin("drf_integer", data) == pytest.approx((12 / 30, 12 / 30, 12 / 30))
    assert lab.whole_leximin("asset_integer", data) == pytest.approx((18 / 30, 18 / 30, 20 / 30))
    tasks, _ = lab.solve(lab.build("ceei_integer", data))
    assert tasks.prod() == 320


def test_the_cluster_of_section_7_1(lab):
    """48 machines of 4 CPU, 14 GB; two jobs in three phases, pooled as in the paper's figure 8."""
    for demands, share in [
        ([(1, 10), (1, 1)], 20 / 27),
        ([(2, 4), (1, 3)], 1 / 2),
        ([(1, 7), (1, 4)], 1 / 2),
    ]:
        _, levels = lab.solve(lab.build("drf", lab.make(demands, (192, 672))))
        assert levels == pytest.approx((share, share))
        _, levels = lab.solve(lab.build("drf", lab.make(demands, machines=[(4, 14)], counts=[48])))
        assert levels == pytest.approx((share, share))
