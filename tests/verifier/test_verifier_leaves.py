"""What a leaf of a tree counts: tasks, loads of machines, and what they are worth, by hand and by enumeration."""

import itertools
from fractions import Fraction as F
from types import SimpleNamespace

import pytest
from test_verifier_mutants import file_of

from drfopt import Group, Instance, Machine, Organisation, TaskType
from drfopt.certificates.verifier import trees
from drfopt.certificates.verifier.branches import Undecided
from drfopt.certificates.verifier.claims import Claim
from drfopt.certificates.verifier.cluster import Cluster
from drfopt.certificates.verifier.devices import dealt
from drfopt.certificates.verifier.trees import Carried


def carried(instance):
    found = file_of(instance, integer=True)
    return Carried(Claim(Cluster(found["instance"]), found))


def plain():
    """B runs on n alone, C may run nothing; under a ceiling of the group are A and D, of whom D is as B."""
    users = {"A": {"a": 1, "b": 1}, "B": {"a": 2}, "C": {"a": 1}, "D": {"a": 2}, "E": {"a": 1, "b": 1}}
    rules = Organisation(paths={"A": "g", "D": "g"}, groups=[Group("g", ceiling={"a": 9})])
    machines = [Machine("m", {"a": 2, "b": 9}, 2), Machine("n", {"a": 5, "b": 4})]
    open_to = {"B": ["n"], "D": ["n"]}
    return carried(Instance(users, machines=machines, eligible=open_to, max_tasks={"C": 0}, organisation=rules))


def typed():
    """A user with tasks of two types, one of which is what another's tasks are."""
    kinds = [TaskType({"a": 2}, 2), TaskType({"a": 1}, 4)]
    return carried(Instance({"A": kinds, "B": {"a": 1}}, {"a": 9}))


# ---- tasks -----------------------------------------------------------------------------------------------------------


def test_goods_are_shapes_under_ceilings():
    one = plain()
    assert one.users == [0, 1, 3, 4], "who runs nothing costs nothing"
    assert one.good_at == {"A": 0, "B": 1, "D": 1, "E": 0}
    assert one.goods == {0: (0,), 1: (1,), 3: (2,), 4: (3,)}
    assert one.shape_of == [0, 1, 1, 0]
    assert one.fitting == [[0], [0, 1]]
    assert (one.under, one.ceilings) == ([[1], [0], [2], [0]], [9])


def test_tasks_of_several_types_cost_what_is_among_them():
    one, costs = typed(), [5, 2]
    assert one.goods == {0: (0, 1), 1: (1,)}
    assert one.table(0) == [one.tasks[0].started(x) for x in range(one.tasks[0].most + 1)]
    assert len(one.table(0)) == 7 and one.table(0)[-1] == (2, 4)
    for x, (large, small) in enumerate(one.table(0)):
        assert one.cost(0, x, costs) == 5 * large + 2 * small
    assert one.cost(1, 3, costs) == 6


def test_what_is_listed_is_listed_once():
    one = typed()
    assert one.table(0) is one.table(0)
    rack = plain()
    assert rack.carried(1) is rack.carried(1)


def test_a_sequence_is_listed_up_to_a_length(monkeypatch):
    monkeypatch.setattr(trees, "LONGEST", 6)
    assert len(typed().table(0)) == 7
    monkeypatch.setattr(trees, "LONGEST", 5)
    with pytest.raises(Undecided, match="longer than is looked at"):
        typed().table(0)


# ---- loads -----------------------------------------------------------------------------------------------------------

HALF, ONE = F(1, 2), F(1)

MACHINES = [
    ([[1, 2], [2, 0], [1, 1]], [5, 4], []),
    ([[2, 1], [1, 0]], [5, 1], []),
    ([[3], [5]], [2], []),
    ([], [4], []),
    ([[2, 3], [1, 2], [2, 4]], [6, 8], [(F(2), [F(2, 3), HALF, ONE])]),
    ([[1, 1], [1, 2]], [4, 4], [(F(2), [ONE, F(0)]), (F(1), [F(1, 3), HALF])]),
    ([[1, 1], [1, 1]], [3, 3], [(F(3), [F(0), F(2, 3)])]),
]


@pytest.mark.parametrize(("rows", "room", "devices"), MACHINES)
def test_loads_are_those_to_which_nothing_can_be_added(rows, room, devices):
    def fits(load):
        used = [sum(x * d for x, d in zip(load, column, strict=True)) for column in zip(*rows, strict=True)]
        return all(u <= r for u, r in zip(used, room, strict=False)) and all(
            dealt(count, needs, load) for count, needs in devices
        )

    every = {load for load in itertools.product(range(7), repeat=len(rows)) if fits(load)}
    full = [load for load in sorted(every) if not any(
        (*load[:s], load[s] + 1, *load[s + 1 :]) in every for s in range(len(load)))]  # fmt: skip
    assert sorted(trees._loads(rows, room, devices)) == full


def test_loads_are_listed_up_to_as_many_as_are_looked_at(monkeypatch):
    """Of the first task 0 to 2 run; of the second, beside these, 0 to 2, 0 or 1, and 0."""
    monkeypatch.setattr(trees, "LOADS", 3 + 3 + 2 + 1)
    assert sorted(trees._loads([[1], [1]], [2], [])) == [(0, 2), (1, 1), (2, 0)]
    monkeypatch.setattr(trees, "LOADS", 3 + 3 + 2)
    with pytest.raises(Undecided, match="more loads than are listed"):
        list(trees._loads([[1], [1]], [2], []))


def test_a_load_is_named_by_its_tasks():
    rack = plain()
    assert rack.key({"class": "n", "load": {"A": 1, "D": 2}}) == (1, (1, 2))
    assert rack.key({"class": "m", "load": {"E": 2}}) == (0, (2,))
    assert (
        rack.key({"class": "n", "load": {"A": 4, "B": 0}}) == (1, (4, 0)) == rack.key({"class": "n", "load": {"A": 4}})
    )
    for where, load in (("m", {"A": 1}), ("n", {"B": 1}), ("m", {"A": 2, "B": 1}), ("m", {"A": 1, "B": 1})):
        with pytest.raises(Undecided, match=f"no full load of {where}"):
            rack.key({"class": where, "load": load})


# ---- worth -----------------------------------------------------------------------------------------------------------


def test_what_a_pool_is_worth():
    rules = Organisation(paths={"A": "g"}, groups=[Group("g", ceiling={"a": 4})])
    pool = carried(Instance({"A": {"a": 1}, "B": {"a": 1, "b": 2}}, {"a": 7, "b": 6}, organisation=rules))
    assert pool.priced({"prices": {"a": 5, "b": 2}}, int, {}) == ([5, 7], 5 * 7 + 2 * 3)
    assert pool.priced({"prices": {"a": 5}, "ceilings": {"g": {"a": 3}}}, int, {}) == ([8, 5], 5 * 7 + 3 * 4)
    assert pool.priced({}, int, {}) == ([0, 0], 0)
    with pytest.raises(Undecided, match="'c' is no resource"):
        pool.priced({"prices": {"c": 1}}, int, {})


def test_what_machines_are_worth():
    """Loads of m are (2,) of A, and of n (4, 0), (3, 1) and (1, 2) of A and B."""
    rack, both = plain(), {"tasks": {"A": 3, "B": 5}}
    assert rack.priced({}, int, {}) == ([0, 0, 0, 0], 0)
    assert rack.priced(both, int, {}) == ([3, 5, 5, 3], 2 * 6 + 14)
    assert rack.priced({"tasks": {"B": 5}}, int, {}) == ([0, 5, 5, 0], 10)
    assert rack.priced(both | {"ceilings": {"g": {"a": 2}}}, int, {}) == ([5, 5, 9, 3], 26 + 18)
    # Raised until a task of B costs 5 on n, and one of A 3.
    assert rack.priced(both | {"classes": {"n": {"a": 1, "b": 0}}}, int, {}) == ([3, 5, 5, 3], 12 + 3 * 5)


def test_bounds_that_no_machines_keep_leave_nothing():
    rack, both = plain(), {"tasks": {"A": 3, "B": 5}}
    full, one, other = (0, (2,)), (1, (4, 0)), (1, (3, 1))
    for leaf in ({}, both):
        assert rack.priced(leaf, int, {one: (2, 1)}) is None
        assert rack.priced(leaf, int, {one: (1, 1), other: (1, 1)}) is None
        assert rack.priced(leaf, int, {full: (0, 1), one: (0, 1)}) is None
        assert rack.priced(leaf, int, {full: (0, 2), one: (0, 1)}) is not None
    assert rack.priced(both, int, {one: (1, 1)}) == ([3, 5, 5, 3], 12 + 12)
    assert rack.priced(both, int, {other: (0, 0)}) == ([3, 5, 5, 3], 12 + 13)


def test_machines_of_which_nothing_is_said_may_carry_whatever_they_can(monkeypatch):
    """On n more loads than are listed: they count where some task there is worth something, or some are bounded."""
    users, rooms = {"A": {"a": 1}, "B": {"a": 1}}, [Machine("m", {"a": 1}), Machine("n", {"a": 4})]
    rack = carried(Instance(users, machines=rooms, eligible={"A": ["m"], "B": ["n"]}))
    rack.carried(0)
    monkeypatch.setattr(trees, "LOADS", 0)
    assert rack.priced({"tasks": {"A": 7}}, int, {(0, (1,)): (0, 1)}) == ([7, 0], 7)
    with pytest.raises(Undecided, match="more loads"):
        rack.priced({"tasks": {"B": 1}}, int, {})


@pytest.mark.parametrize("values", [[3, 5], [1, 0], [0, 0]])
def test_machines_are_worth_the_best_choice_of_loads_within_bounds(values):
    loads, count = [(0, 2), (1, 1), (3, 0)], 3
    one = SimpleNamespace(carried=lambda k: loads, count=[9, count])
    ends = [None, (0, 1), (2, 3), (1, 2), (0, 0), (4, 5)]
    for said in itertools.product(ends, repeat=3):
        bounds = {(1, load): mine for load, mine in zip(loads, said, strict=True) if mine}
        ways = (way for way in itertools.product(range(count + 1), repeat=3) if sum(way) == count)
        kept = [way for way in ways if all(not e or e[0] <= x <= e[1] for x, e in zip(way, said, strict=True))]
        worth = [sum(v * x for v, x in zip(values, load, strict=True)) for load in loads]
        best = max((sum(n * w for n, w in zip(way, worth, strict=True)) for way in kept), default=None)
        other = {(0, loads[0]): (0, 0)}
        assert Carried.by_loads(one, 1, values, bounds | other) == best


def test_tasks_that_are_worth_nothing_may_use_what_costs_nothing():
    one = SimpleNamespace(rows=[([[1, 0], [2, 1]], [4, 1])], classes=["m"])
    assert Carried.by_resources(one, 0, [0, 2], [0, 1], []) == 2


def test_tasks_pay_for_their_parts_of_devices_and_for_whole_ones():
    """Tasks of a half, of two, of a third and of none; the half is dear, and two of it are on one device."""
    needs = [HALF, F(2), F(1, 3), F(0)]
    one = SimpleNamespace(owned=[["gpu"]], classes=["m"], devices=[[(F(3), needs)]])
    priced = {"1/2": 4, "1": 7}
    assert Carried.by_filling(one, 0, "gpu", priced, int) == ([4, 14, 0, 0], 3 * 8)
    with pytest.raises(Undecided, match="m has no devices of 'tpu'"):
        Carried.by_filling(one, 0, "tpu", priced, int)
    with pytest.raises(Undecided, match="parts of a device are none"):
        Carried.by_filling(one, 0, "gpu", {"3/2": 1}, int)


def test_devices_are_counted_in_their_sizes():
    """Two devices with 10 each: a task of 5 takes half of one."""
    rack = carried(Instance({"A": {"mem": 5}}, machines=[Machine("m", {"mem": 20}, devices={"mem": 2})]))
    assert rack.devices == [[(2, [HALF])]]
    assert rack.priced({"tasks": {"A": 3}, "classes": {"m": {}}, "devices": {"m": {"mem": {"1/2": 3}}}}, int, {}) == (
        [3], 12,
    )  # fmt: skip


def test_prices_are_of_the_resources_there_are():
    assert trees._row({"b": 4}, ["a", "b"], int) == [0, 4]
    with pytest.raises(Undecided, match="'c' is no resource"):
        trees._row({"c": 4, "b": 1}, ["a", "b"], int)
