"""The data model: what an Instance takes, keeps exactly, refuses in one sentence, and never changes."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas
import pytest

from drfopt.base.errors import InstanceError
from drfopt.base.numbers.quantities import exact, parse
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.model.organisation import Organisation

PAPER = {"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}}


def test_mappings_and_arrays_are_the_same_instance():
    named = Instance(PAPER, {"cpu": 9, "memory": 18})
    arrays = Instance(np.array([[1, 4], [3, 1]]), np.array([9, 18]), users=["A", "B"], resources=["cpu", "memory"])
    assert named == arrays
    assert hash(named) == hash(arrays)
    assert named.demands.tolist() == [[1, 4], [3, 1]]
    assert (named.n, named.m, named.k) == (2, 2, 0)
    assert repr(named) == "<Instance 2 users, cpu, memory; one pool>"


def test_names_are_made_where_none_are_given():
    instance = Instance([[1, 2]], machines=[[4, 5], [6, 7]])
    assert (instance.users, instance.resources, instance.machine_names) == (("u1",), ("r1", "r2"), ("m1", "m2"))


def test_a_resource_not_listed_is_none_of_it():
    instance = Instance({"A": {"gpu": 1}, "B": {"cpu": 1}}, {"cpu": 9, "gpu": 2})
    assert instance.demands.tolist() == [[0, 1], [1, 0]]
    classes = [Machine("plain", {"cpu": 4}), Machine("fast", {"gpu": 1, "cpu": 2}, 3)]
    machines = Instance({"A": {"gpu": 1}}, machines=classes)
    assert machines.resources == ("cpu", "gpu")
    assert machines.machine_capacity.tolist() == [[4, 0], [2, 1]]
    assert machines.capacity.tolist() == [10, 3]
    assert machines.fits.tolist() == [[False, True]]


def test_values_are_kept_as_written():
    instance = Instance({"A": {"cpu": "1/3", "memory": "4Gi"}}, {"cpu": Decimal("0.1"), "memory": 2**60 + 1})
    assert instance.exact_demands == ((Fraction(1, 3), Fraction(2**32)),)
    assert instance.exact_capacity == (Fraction(1, 10), Fraction(2**60 + 1))


def test_a_float_stands_for_its_shortest_decimal():
    instance = Instance(np.array([[0.1, 0.25]]), [0.3, np.float64(1e22)])
    assert instance.exact_demands == ((Fraction(1, 10), Fraction(1, 4)),)
    assert instance.exact_capacity == (Fraction(3, 10), Fraction(10**22))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("500m", Fraction(1, 2)),
        ("4Gi", Fraction(2**32)),
        ("1.5G", Fraction(15 * 10**8)),
        ("1E", Fraction(10**18)),
        ("1E3", Fraction(1000)),
        ("1e3", Fraction(1000)),
        ("1Ei", Fraction(2**60)),
        ("100n", Fraction(1, 10**7)),
        ("7u", Fraction(7, 10**6)),
        ("3k", Fraction(3000)),
        (".5", Fraction(1, 2)),
        ("+2.", Fraction(2)),
        ("-6/4", Fraction(-3, 2)),
        (" 12 ", Fraction(12)),
    ],
)
def test_the_grammar_of_quantities(text, value):
    assert parse(text) == value == exact(text)


@pytest.mark.parametrize(
    "text", ["", "x", "1/0", "1 Gi", "1K", "0x10", "1e", "--1", "1_000", "nan", "inf", "1e999999999", "9" * 500]
)
def test_what_is_no_quantity(text):
    with pytest.raises(InstanceError):
        parse(text)


@pytest.mark.parametrize("value", [True, np.True_, None, [1], 1j, float("nan"), float("inf"), Decimal("nan"), object()])
def test_what_is_no_number(value):
    with pytest.raises(InstanceError):
        exact(value)


def test_weights_and_limits_by_name():
    instance = Instance(PAPER, {"cpu": 9, "memory": 18}, weights={"B": {"cpu": 2}}, max_tasks={"A": "5/2"})
    assert instance.weights.tolist() == [[1, 1], [2, 1]]
    assert instance.exact_limits == (Fraction(5, 2), None)
    assert instance.limits.tolist() == [2.5, np.inf]


def test_eligibility_by_name():
    machines = [Machine("a", {"cpu": 4}), Machine("b", {"cpu": 4})]
    instance = Instance({"A": {"cpu": 1}, "B": {"cpu": 1}}, machines=machines, eligible={"B": ["b"]})
    assert instance.eligible.tolist() == [[True, True], [False, True]]


def test_equal_floats_of_unequal_fractions_are_told_apart():
    just_above = Fraction(1) + Fraction(1, 10**30)
    instance = Instance([[just_above]], machines=[Machine("m", [1])])
    assert instance.demands[0, 0] == instance.machine_capacity[0, 0]
    assert instance.unplaced().tolist() == [True]


def test_from_a_frame():
    frame = pandas.DataFrame(
        {"cpu": [1, 3], "memory": [4, 1], "weight": [1.0, 2.0], "max_tasks": [np.nan, 7]}, index=["A", "B"]
    )
    instance = Instance.from_frame(frame, {"memory": 18, "cpu": 9})
    assert (instance.users, instance.resources) == (("A", "B"), ("cpu", "memory"))
    assert instance.capacity.tolist() == [9, 18]
    assert instance.weights.tolist() == [1, 2]
    assert instance.limits.tolist() == [np.inf, 7]


def test_arrays_are_copied_once_and_read_only():
    demands = np.array([[1.0, 4.0], [3.0, 1.0]])
    instance = Instance(demands, [9.0, 18.0])
    demands[0, 0] = 100
    assert instance.demands[0, 0] == 1
    for array in (instance.demands, instance.capacity, instance.weights, instance.limits):
        assert not array.flags.writeable
    frozen = np.array([[1.0, 4.0]])
    frozen.flags.writeable = False
    assert Instance(frozen, [9.0, 18.0]).demands is frozen


BAD = [
    ({"demands": PAPER}, "either a capacity.*not none"),
    ({"demands": PAPER, "capacity": [1, 2], "machines": [[1, 2]]}, "not both"),
    ({"demands": {}, "capacity": {"cpu": 1}}, "no users"),
    ({"demands": [[]], "capacity": []}, "no resources"),
    (
        {"demands": {"A": {"gpus": 1}}, "capacity": {"cpu": 1, "gpu": 1}},
        "'A' demands 'gpus'.*cpu, gpu: did you mean 'gpu'",
    ),
    ({"demands": {"A": {}}, "capacity": {"cpu": 1}}, "user 'A' demands nothing"),
    ({"demands": {"A": 5}, "capacity": {"cpu": 1}}, "user 'A': demand is 5"),
    (
        {"demands": {"A": {"cpu": -1}}, "capacity": {"cpu": 1}},
        "user 'A': demand of 'cpu' is -1: it must not be negative",
    ),
    ({"demands": {"A": {"cpu": "x"}}, "capacity": {"cpu": 1}}, "user 'A': demand of 'cpu': 'x' is not a number"),
    (
        {"demands": {"A": {"cpu": "１/٢"}}, "capacity": {"cpu": 1}},
        "'cpu': '１/٢' has digits of another script.* 0 to 9",
    ),
    ({"demands": {"A": {"cpu": 1}}, "capacity": {"cpu": float("nan")}}, "capacity of 'cpu': nan is not finite"),
    ({"demands": np.array([[np.inf]]), "capacity": [1]}, "'u1': demand of 'r1' is inf"),
    ({"demands": np.array([[1.0, -2.0]]), "capacity": [1, 1]}, "'u1': demand of 'r2' is -2"),
    ({"demands": [[1, 2], [3]], "capacity": [1, 1]}, r"row 2 has shape \(1,\), but \(2,\) is needed"),
    ({"demands": [[1, [2]]], "capacity": [1, 1]}, r"row 1 has rows of different lengths, but \(2,\) is needed"),
    ({"demands": [[1], 3], "capacity": [1]}, r"row 2 has shape \(\), but \(1,\) is needed"),
    ({"demands": [[1]], "capacity": [1], "users": ["a", "b"]}, "2 names for 1 rows"),
    ({"demands": [[1], [1]], "capacity": [1], "users": ["a", "a"]}, "user 'a' is listed twice"),
    ({"demands": [[1, 1]], "capacity": [1, 1], "resources": ["cpu", "cpu"]}, "resource 'cpu' is listed twice"),
    ({"demands": [[1]], "capacity": [1], "users": [""]}, "empty name"),
    (
        {"demands": [[1]], "capacity": [1], "weights": [[0]]},
        "weight of 'r1' is 0: weights per resource must be positive",
    ),
    ({"demands": [[1]], "capacity": [1], "weights": [-1]}, "weight is -1"),
    ({"demands": [[1]], "capacity": [1], "weights": {"x": 1}}, "weights are given for 'x'"),
    ({"demands": [[1]], "capacity": [1], "max_tasks": [-1]}, "max_tasks is -1"),
    ({"demands": [[1]], "capacity": [1], "max_tasks": [float("nan")]}, "max_tasks: nan is not finite"),
    ({"demands": [[1]], "capacity": [1], "eligible": [[True]]}, "the cluster is one pool"),
    ({"demands": [[1]], "machines": [[1]], "eligible": [[1]]}, "bool of shape"),
    ({"demands": [[1]], "machines": [[1]], "eligible": {"u1": ["m2"]}}, "class 'm2'.*has m1: did you mean 'm1'"),
    ({"demands": [[1]], "machines": []}, "no machines"),
    ({"demands": [[1]], "machines": [Machine("m", [1], 0)]}, "count is 0"),
    ({"demands": [[1]], "machines": [Machine("m", [1], 1.5)]}, "count is 1.5"),
    ({"demands": [[1]], "machines": [Machine("m", [1]), Machine("m", [2])]}, "machine class 'm' is listed twice"),
    ({"demands": [[1]], "machines": [Machine("m", [1, 2]), Machine("n", [1])]}, "has"),
    ({"demands": [[1e-200]], "capacity": [1]}, "check the units"),
    ({"demands": [[1e-200]], "capacity": [1e200]}, "are 1e-400 to 1e-400 of its capacity"),
    ({"demands": [[1e200]], "capacity": [1e-200]}, "are 1e[+]400 to 1e[+]400 of its capacity"),
    ({"demands": [[Fraction(1, 10**400)]], "capacity": [1]}, "outside the range of floats"),
    ({"demands": 5, "capacity": [1]}, "demands must be"),
    ({"demands": "abc", "capacity": [1]}, "demands must be"),
    ({"demands": [[1]], "capacity": 5}, "capacity must be"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD, ids=[words[:30] for _, words in BAD])
def test_bad_input_is_one_sentence(arguments, words):
    with pytest.raises(InstanceError, match=words) as caught:
        Instance(**arguments)
    assert "\n" not in str(caught.value)


def test_zero_capacity_is_normal():
    instance = Instance([[1, 1], [0, 1]], [0, 10])
    assert instance.unplaced().tolist() == [True, False]


@pytest.mark.parametrize("ceiling", [None, 0, 4])
@pytest.mark.parametrize(
    ("cluster", "divisible"),
    [
        ({"capacity": {"cpu": 5}}, False),
        ({"capacity": {"cpu": 0}}, True),
        ({"machines": [Machine("m", {"cpu": 5})]}, True),
    ],
)
def test_whose_task_fits_nowhere_is_unplaced_whatever_its_ceiling_is(ceiling, cluster, divisible):
    """It was said to be at its ceiling, which hid that a higher one would not help."""
    rules = None if ceiling is None else Organisation(ceilings={"A": {"cpu": ceiling}})
    instance = Instance({"A": {"cpu": 6}}, organisation=rules, **cluster)
    assert instance.unplaced(integer=True).tolist() == [True]
    assert instance.unplaced().tolist() == [divisible]


def test_a_limit_of_zero_is_not_unplaced():
    instance = Instance([[1, 1], [1, 1]], [0, 10], max_tasks=[0, 0.5])
    assert instance.unplaced().tolist() == [False, True]
    assert instance.unplaced(integer=True).tolist() == [False, False]


def test_a_single_weight_or_limit_counts():
    alone = Instance([[1.0]], [1.0], weights=np.broadcast_to(2.0, (1,)), max_tasks=np.broadcast_to(0.5, (1,)))
    assert alone.weighted
    assert alone.limited
    plain = Instance([[1.0]], [1.0], weights=[1], max_tasks=[None])
    assert not plain.weighted
    assert not plain.limited


def test_one_machine_is_no_list_of_machines():
    with pytest.raises(InstanceError, match="give a list of them"):
        Instance({"A": {"cpu": 1}}, machines=Machine("m", {"cpu": 1}))
