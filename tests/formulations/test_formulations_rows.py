"""The rows themselves against matrices written by hand: an optimum may be right by accident."""

import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

NAN, INF = np.nan, np.inf

# DRF: a task is level 2/9 and 1/3; level 1 takes (9/2, 18) and (9, 3), together (27/2, 21); hence the unit
# g = min(9 / (27/2), 18 / 21) = 2/3.
POOL = {"demands": [(1, 4), (3, 1)], "capacity": (9, 18)}
# In all (12, 20); user 2 may use the second class only.
MACHINES = {
    "demands": [(1, 2), (2, 2)],
    "machines": [(4, 4), (4, 12)],
    "counts": [2, 1],
    "eligible": [(1, 1), (0, 1)],
}

# The rows of two users without a limit, 0 <= 1, and the row where every class is open to all, 0 == 0.
NO_LIMIT, ALL_ELIGIBLE = (0, (1, 1)), (0, [0])


def affine(program, expression):
    """Return (A, r): the expression is ``A @ variables + r``, with z in the order of its rows and t last."""
    variables = [program.problem.var_dict[name] for name in ("z", "t") if name in program.problem.var_dict]
    for variable in variables:
        variable.value = np.zeros(variable.shape)
    r, columns = expression.value.ravel(), []
    for variable in variables:
        for index in np.ndindex(variable.shape):
            variable.value = np.array([i == index for i in np.ndindex(variable.shape)]).reshape(variable.shape) * 1.0
            columns.append(expression.value.ravel() - r)
        variable.value = np.zeros(variable.shape)
    return np.array(columns).T, r


def check(program, *expected):
    """Compare each constraint with ``A @ variables <= r`` (or ``==``), given as (A, r)."""
    assert len(program.problem.constraints) == len(expected)
    for constraint, (A, r) in zip(program.problem.constraints, expected, strict=True):
        found, constant = affine(program, constraint.expr)
        assert -constant == pytest.approx(np.array(r, dtype=float))
        assert found == pytest.approx(np.broadcast_to(np.array(A, dtype=float), found.shape))


def coefficients(program, expression):
    A, r = affine(program, expression)
    assert not r.any()
    return A


def test_drf_on_a_pool(lab):
    program = lab.build("drf", lab.make(**POOL, limits=(2, INF)))  # columns z1, z2, t
    check(
        program,
        ([(-1, 0, 1), (0, -1, 1)], (0, 0)),
        ([(1 / 3, 2 / 3, 0), (2 / 3, 1 / 9, 0)], (1, 1)),
        ([(1, 0, 0), (0, 0, 0)], (2 / 3, 1)),  # two tasks are level 4/9, or 2/3 of g; no limit is 0 <= 1
        ([(0, 0, 0)], [0]),
    )
    assert coefficients(program, program.problem.objective.expr) == pytest.approx(np.array([(0, 0, 1)]))
    assert coefficients(program, program.levels) == pytest.approx(np.array([(2 / 3, 0, 0), (0, 2 / 3, 0)]))
    assert coefficients(program, program.tasks) == pytest.approx(np.array([(3, 0, 0), (0, 2, 0)]))


def test_drf_with_a_user_held(lab):
    program = lab.build("drf", lab.make(**POOL), held=(1 / 3, NAN))
    check(
        program,
        ([(-1, 0, 0), (0, -1, 1)], (-1 / 2, 0)),  # held at 1/3, half of g
        ([(1 / 3, 2 / 3, 0), (2 / 3, 1 / 9, 0)], (1, 1)),
        NO_LIMIT,
        ALL_ELIGIBLE,
    )


def test_asset_on_a_pool(lab):
    """A task is level 1/3 and 7/18; level 1 takes (3, 12) and (54/7, 18/7), in all (75, 102)/7; g = 21/25."""
    program = lab.build("asset", lab.make(**POOL))
    check(
        program,
        ([(-1, 0, 1), (0, -1, 1)], (0, 0)),
        ([(7 / 25, 18 / 25, 0), (14 / 25, 3 / 25, 0)], (1, 1)),
        NO_LIMIT,
        ALL_ELIGIBLE,
    )
    assert coefficients(program, program.tasks) == pytest.approx(np.array([(63 / 25, 0, 0), (0, 54 / 25, 0)]))


def test_drf_on_machines(lab):
    """A task is level 1/10 and 1/6; level 1 takes (10, 20) and (12, 12), in all (22, 32); g = 6/11.

    So b = (60/11, 120/11), (72/11, 72/11); the classes have (8, 8), (4, 12). Columns z11, z12, z21, z22, t.
    """
    program = lab.build("drf", lab.make(**MACHINES))
    check(
        program,
        ([(-1, -1, 0, 0, 1), (0, 0, -1, -1, 1)], (0, 0)),
        (
            [
                (15 / 22, 0, 9 / 11, 0, 0),
                (15 / 11, 0, 9 / 11, 0, 0),
                (0, 15 / 11, 0, 18 / 11, 0),
                (0, 10 / 11, 0, 6 / 11, 0),
            ],
            (1, 1, 1, 1),
        ),
        NO_LIMIT,
        ([(0, 0, 1, 0, 0)], [0]),
    )


def test_equalities_differ_from_leximin_in_one_block(lab):
    for name in ("drf", "asset"):
        data = lab.make(**MACHINES, weights=[(1, 2), (3, 1)], limits=(1, 2))
        equal, round_ = lab.build(f"{name}_equality", data), lab.build(name, data)
        A, r = affine(equal, equal.problem.constraints[0].expr)
        assert np.array([(1, 1, 0, 0, -1), (0, 0, 1, 1, -1)]) == pytest.approx(A) and not r.any()
        for mine, theirs in zip(equal.problem.constraints[1:], round_.problem.constraints[1:], strict=True):
            for here, there in zip(affine(equal, mine.expr), affine(round_, theirs.expr), strict=True):
                assert here == pytest.approx(there)


def test_ceei_rows_and_objective(lab):
    """Weights 1, 2: a third of the pool runs min(3, 6/4) tasks of user 1, two thirds min(2, 12) of user 2."""
    program = lab.build("ceei", lab.make(**POOL, weights=(1, 2), limits=(INF, 1)))
    check(program, ([(1 / 6, 2 / 3), (1 / 3, 1 / 9)], (1, 1)), ([(0, 0), (0, 1)], (1, 1 / 2)), ALL_ELIGIBLE)
    program.problem.var_dict["z"].value = np.array([[2.0], [0.5]])
    assert program.tasks.value == pytest.approx((3, 1))
    assert program.problem.objective.value == pytest.approx(np.log(3) + 2 * np.log(1))


def test_efficient_sharing_rows(lab):
    """Half of each class: user 1 runs min(4, 2) + min(2, 3) tasks on it, user 2, on the second, min(1, 3)."""
    program = lab.build("efficient_sharing", lab.make(**MACHINES))
    check(
        program,
        ([(-1, -1, 0, 0), (0, 0, -1, -1)], (-4, -1)),
        (
            [(1 / 8, 0, 1 / 4, 0), (1 / 4, 0, 1 / 4, 0), (0, 1 / 4, 0, 1 / 2), (0, 1 / 6, 0, 1 / 6)],
            (1, 1, 1, 1),
        ),
        NO_LIMIT,
        ([(0, 0, 1, 0)], [0]),
    )
    assert coefficients(program, program.problem.objective.expr) == pytest.approx(
        np.array([(1 / 10, 1 / 10, 1 / 6, 1 / 6)])
    )


def test_efficient_sharing_gives_each_her_part_of_each_resource(lab):
    """A third of the CPUs and two thirds of the memory run 3 tasks of user 1; the rest runs 2 of user 2."""
    program = lab.build("efficient_sharing", lab.make(**POOL, weights=[(1, 2), (2, 1)], limits=(2.5, INF)))
    A, r = affine(program, program.problem.constraints[0].expr)
    assert pytest.approx(np.array([(-1, 0), (0, -1)])) == A and r == pytest.approx((2.5, 2))


def table(problem):
    """Return {name: ({variable: coefficient}, sense, right-hand side)} of a PuLP problem."""
    sense = {-1: "<=", 0: "==", 1: ">="}
    return {
        name: ({v.name: a for v, a in row.items() if a}, sense[row.sense], -row.constant)
        for name, row in problem.constraints.items()
    }


def check_table(problem, expected):
    found = table(problem)
    assert found.keys() == expected.keys()
    for name, (coefficients, sense, right) in expected.items():
        assert found[name][0] == pytest.approx(coefficients), name
        assert found[name][1] == sense and found[name][2] == pytest.approx(right), name


def test_drf_integer_on_a_pool(lab):
    program = lab.build("drf_integer", lab.make(**POOL, limits=(2, INF)))
    check_table(
        program.problem,
        {
            "level_0": ({"z_0_0": 1, "t": -1}, ">=", 0),
            "level_1": ({"z_1_0": 1, "t": -2 / 3}, ">=", 0),
            "capacity_0_0": ({"z_0_0": 1, "z_1_0": 3}, "<=", 9),
            "capacity_0_1": ({"z_0_0": 4, "z_1_0": 1}, "<=", 18),
            "limit_0": ({"z_0_0": 1}, "<=", 2),
        },
    )
    assert {v.name: a for v, a in program.problem.objective.items()} == {"t": 1}
    assert {v.name: v.cat for v in program.problem.variables()} == {
        "z_0_0": "Integer",
        "z_1_0": "Integer",
        "t": "Continuous",
    }


def test_asset_integer_on_machines_has_a_column_for_every_machine(lab):
    """Tasks are worth 1/12 + 1/10 = 11/60 and 1/6 + 1/10 = 4/15; user 2, held at 4/15, has a task."""
    program = lab.build("asset_integer", lab.make(**MACHINES), held=(NAN, 4 / 15))
    check_table(
        program.problem,
        {
            "level_0": ({"z_0_0": 1, "z_0_1": 1, "z_0_2": 1, "t": -1}, ">=", 0),
            "level_1": ({"z_1_2": 1}, ">=", 1),
            "capacity_0_0": ({"z_0_0": 1}, "<=", 4),
            "capacity_0_1": ({"z_0_0": 1}, "<=", 2),
            "capacity_1_0": ({"z_0_1": 1}, "<=", 4),
            "capacity_1_1": ({"z_0_1": 1}, "<=", 2),
            "capacity_2_0": ({"z_0_2": 1, "z_1_2": 2}, "<=", 4),
            "capacity_2_1": ({"z_0_2": 1, "z_1_2": 1}, "<=", 6),
        },
    )
    assert [s.name for s in program.levels[1]] == ["z_1_2"]
    assert list(program.levels[1].values()) == pytest.approx([4 / 15])


def test_ceei_integer_rows(lab):
    """Of 6 units user 1 (weight 2, two units a task) runs 3 alone, user 2 (three units) 2, user 3 none."""
    program = lab.build("ceei_integer", lab.make([[2], [3], [1]], [6], weights=(2, 1, 1), limits=(INF, INF, 0)))
    K = 1 + 2 * np.log(3) + np.log(2)
    check_table(
        program.problem,
        {
            "worth_0_0": ({"v_0": 1, "z_0_0": -K}, "<=", 0),
            "worth_0_1": ({"v_0": 1, "z_0_0": -2 * np.log(2)}, "<=", K - 2 * np.log(2)),
            "worth_0_2": (
                {"v_0": 1, "z_0_0": -2 * np.log(3 / 2)},
                "<=",
                K + 2 * np.log(2) - 4 * np.log(3 / 2),
            ),
            "worth_1_0": ({"v_1": 1, "z_1_0": -K}, "<=", 0),
            "worth_1_1": ({"v_1": 1, "z_1_0": -np.log(2)}, "<=", K - np.log(2)),
            "capacity_0_0": ({"z_0_0": 2, "z_1_0": 3, "z_2_0": 1}, "<=", 6),
            "limit_2": ({"z_2_0": 1}, "<=", 0),
        },
    )
    assert {v.name: a for v, a in program.problem.objective.items()} == {"v_0": 1, "v_1": 1}


def test_no_chord_is_lost_to_rounding(lab):
    """0.3 / 0.1 is a little less than 3 in floats; the third task needs its chord all the same."""
    program = lab.build("ceei_integer", lab.make([[0.1]], [0.3]))
    assert {"worth_0_1", "worth_0_2"} <= program.problem.constraints.keys()


def test_the_helpers_notice_a_wrong_coefficient(lab):
    program = lab.build("drf", lab.make(**POOL))
    right = (
        ([(-1, 0, 1), (0, -1, 1)], (0, 0)),
        ([(1 / 3, 2 / 3, 0), (2 / 3, 1 / 9, 0)], (1, 1)),
        NO_LIMIT,
        ALL_ELIGIBLE,
    )
    check(program, *right)
    wrong = (right[0], ([(1 / 3, 2 / 3, 0), (2 / 3, 1 / 9 + 1e-4, 0)], (1, 1)), *right[2:])
    with pytest.raises(AssertionError):
        check(program, *wrong)
    with pytest.raises(AssertionError):
        check_table(lab.build("drf_integer", lab.make(**POOL)).problem, {})
