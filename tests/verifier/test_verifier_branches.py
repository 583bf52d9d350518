"""Leaves and branches of the verifier's trees: by enumeration, and by the smallest file that each mutant lets pass."""

import itertools
from types import SimpleNamespace

import pytest
from test_verifier_mutants import file_of, mutant_of, verdict, without_levels

from drfopt import Group, Instance, Machine, Organisation
from drfopt.certificates.verifier import trees, verify
from drfopt.certificates.verifier.branches import Undecided, cheapest, leaves, tightened

COSTS = [(0, 1, 3), (2, 0, 1), (1, 1, 0), (-2, 0, 3)]
ENDS = list(itertools.product([(0, 1), (0, 3), (1, 2)], repeat=3))


def choices(ends, n):
    """Return all ways in which n choose within bounds."""
    ways = itertools.product(*(range(low, high + 1) for low, high in ends))
    return [way for way in ways if sum(way) == n]


def cost_of(each, way):
    return sum(cost * x for cost, x in zip(each, way, strict=True))


@pytest.mark.parametrize("each", COSTS)
def test_the_least_cost_is_that_of_all_choices(each):
    for ends, n in itertools.product([*ENDS, ((2, 1), (0, 3), (0, 3)), ((0, 3), (1, 1), (3, 2))], range(6)):
        least = min((cost_of(each, way) for way in choices(ends, n)), default=None)
        assert cheapest(each, ends, n) == least


@pytest.mark.parametrize("each", COSTS)
def test_what_is_beyond_closer_bounds_costs_more(each):
    for ends, n, slack in itertools.product(ENDS, range(6), range(4)):
        if not (ways := choices(ends, n)):
            continue
        closer, least = tightened(each, ends, n, slack), min(cost_of(each, way) for way in ways)
        for way in ways:
            inside = all(low <= x <= high for x, (low, high) in zip(way, closer, strict=True))
            assert inside or cost_of(each, way) > least + slack


def test_bounds_are_as_close_as_one_exchange_shows():
    assert tightened([0, 1], [(0, 3), (0, 3)], 3, 1) == [(2, 3), (0, 1)]
    assert tightened([0, 2], [(0, 3), (0, 3)], 3, 5) == [(1, 3), (0, 2)]
    # Of the last option none is had with so little to spare, and of the first none is left.
    assert tightened([0, 1, 3], [(0, 1), (0, 1), (0, 2)], 2, 1) == [(1, 1), (1, 1), (0, 0)]


# ---- prices ----------------------------------------------------------------------------------------------------------


def test_all_numbers_of_a_leaf_are_integers_in_one_proportion():
    leaf = {
        "prices": {"a": "1/2"}, "tasks": {"A": "1/3"}, "classes": {"m": {"a": "1/5"}}, "ceilings": {"g": {"a": "1/7"}},
        "devices": {"m": {"a": {"1/2": "1/11"}}}, "levels": ["1/13"], "rounds": ["1/17"], "held": {"a": "1/19"},
    }  # fmt: skip
    assert trees.scale_of(leaf)(1) == 2 * 3 * 5 * 7 * 11 * 13 * 17 * 19
    assert trees.scale_of({})("3") == 3


def test_no_price_is_negative():
    assert [trees.price_of(price, int) for price in (0, 1)] == [0, 1]
    with pytest.raises(Undecided, match="a price is negative"):
        trees.price_of(-1, int)


def test_a_good_costs_what_its_shape_does_and_what_it_takes_of_ceilings():
    """The second shape is of two goods, of which one takes three of a ceiling."""
    carried = SimpleNamespace(shape_of=[0, 1, 1], under=[[0], [0], [3]])
    assert trees.Carried.by_goods(carried, [4, 5], [2]) == [4, 5, 11]
    assert trees.Carried.by_goods(carried, [4, 5], [0]) == [4, 5, 5]


def test_a_machine_is_worth_its_room_where_no_task_is_worth_more_than_it_uses():
    carried = SimpleNamespace(rows=[([[1, 0], [2, 1]], [4, 1])], classes=["m"])
    assert trees.Carried.by_resources(carried, 0, [3, 2], [1, 0], []) == 12
    assert trees.Carried.by_resources(carried, 0, [0, 3], [0, 1], [([0, 2], 5)]) == 6
    assert trees.Carried.by_resources(carried, 0, [0, 0], [1, 0], []) == 0
    with pytest.raises(Undecided, match="uses of m nothing"):
        trees.Carried.by_resources(carried, 0, [1, 1], [0, 1], [])


# ---- files by hand ---------------------------------------------------------------------------------------------------


def claimed(instance, tasks, packing, trees, policy="drf"):
    """A file that claims these tasks (n,), packed so, with these trees."""
    found = without_levels(file_of(instance, policy, integer=True))
    found.pop("placement", None)
    for user, x in zip(found["users"], tasks, strict=True):
        user["tasks"] = x
    on = [{"class": k, "machines": n, "tasks": load, **more} for k, n, load, *rest in packing for more in rest or [{}]]
    found["proof"] = {"trees": trees} | ({"packing": on} if on else {})
    return found


def alike(*leaves):
    """A task each of two users on two machines with room for one: right, if the tree says so."""
    rack = Instance({"A": {"a": 1}, "B": {"a": 1}}, machines=[Machine("m", {"a": 1}, 2)])
    return claimed(rack, [1, 1], [("m", 1, {"A": 1}), ("m", 1, {"B": 1})], [list(leaves)])


BOTH = {"tasks": {"A": "1", "B": "1"}, "levels": ["1"]}
NOTHING = {"levels": ["0"]}


def at_most(most, load, where="m"):
    return {"class": where, "load": load, "most": most}


A = {"A": 1}


def test_what_is_on_no_side_of_its_branches_needs_no_prices():
    assert verify(alike(BOTH)).valid is True
    assert verify(alike(NOTHING)).valid is None
    # None has a load and more than none do: nothing is there.
    assert verify(alike(at_most(0, A), BOTH, at_most(0, A), NOTHING, BOTH)).valid is True
    assert verify(alike(at_most(0, A), BOTH, at_most(0, A), BOTH, NOTHING)).valid is None


def test_a_branch_is_on_a_load_to_which_nothing_can_be_added():
    assert verify(alike(at_most(0, {}), BOTH, BOTH)).valid is None
    assert verify(alike(at_most(0, {"A": 2}), BOTH, BOTH)).valid is None


def test_a_tree_ends_with_its_last_leaf():
    assert verify(alike(BOTH, BOTH)).valid is None
    assert verify(alike(at_most(0, A), BOTH)).valid is None


def test_what_tightens_is_a_leaf_where_nothing_can_be_tightened():
    leaf = {"tightens": True}
    assert list(leaves([leaf], None, None)) == [(leaf, {})]


def test_loads_are_listed_up_to_a_number_of_them(monkeypatch):
    monkeypatch.setattr(trees, "LOADS", 1)
    (check,) = (check for check in verify(alike(BOTH)).checks if check.holds is None)
    assert "more loads than are listed" in check.worst


def priced(tasks, limits=None, trees=(), count=1, room=4, demands=(1, 2)):
    """Tasks of users on machines of one class, which resources price."""
    rack = Instance(
        {u: {"a": d} for u, d in zip("AB", demands, strict=False)}, machines=[Machine("m", {"a": room}, count)]
    )
    load = dict(zip("AB", tasks, strict=False))
    return claimed(rack, list(tasks), [("m", 1, {u: x for u, x in load.items() if x})], list(trees))


def test_a_leaf_prices_what_there_is():
    leaf = {"tasks": {"A": "1"}, "levels": ["0"], "classes": {"m": {"a": "1"}}}
    assert verify(priced([4], trees=[[leaf]], demands=[1])).valid is True
    for wrong in (
        {"classes": {"m": {"a": "1", "b": "1"}}},
        {"classes": {"m": {}}},
        {"devices": {"m": {"a": {"1": "1"}}}},
    ):
        assert verify(priced([4], trees=[[leaf | wrong]], demands=[1])).valid is None


def devices(tasks, leaf, **more):
    """Tasks of a part of a device, on one machine of three of these."""
    rack = Instance({"A": {"gpu": "2/3"}}, machines=[Machine("m", {}, devices={"gpu": 3})], **more)
    on = [("m", 1, {"A": tasks}, {"devices": {"gpu": [{"A": 1}] * tasks}})]
    return claimed(rack, [tasks], on, [[leaf]])


def test_parts_of_devices_are_priced_as_they_are_dealt_out():
    leaf = {"tasks": {"A": "10"}, "levels": ["0"], "classes": {"m": {}}, "devices": {"m": {"gpu": {"2/3": "10"}}}}
    assert verify(devices(3, leaf)).valid is True
    assert verify(devices(2, leaf)).valid is None
    assert verify(devices(3, leaf | {"devices": {"m": {"gpu": {"1/20011": "1"}}}})).valid is None


# ---- mutants ---------------------------------------------------------------------------------------------------------


def one_served(machines, *leaves):
    """A task of A and none of B, where there is room for one of each."""
    users = {"A": {"a": 1}, "B": {"a": 1, "b": 1}}
    rack = Instance(users, machines=[Machine(k, {"a": 1, "b": 2}, n) for k, n in machines], max_tasks=[1, 1])
    return claimed(rack, [1, 0], [("m", 1, A)], [list(leaves), [{"levels": ["1", "0"]}]])


def twice_the_same(*leaves):
    """Two classes with the same loads."""
    return one_served([("m", 1), ("n", 1)], *leaves)


def on_two_machines(*leaves):
    """One class of two machines."""
    return one_served([("m", 2)], *leaves)


def of(a="0", b="0"):
    return {"tasks": {"A": a, "B": b}, "levels": ["0"]}


def beside_a_ceiling():
    """A group whose ceiling is reached, and a user outside who could have one more."""
    rules = Organisation(paths={"A": "g"}, groups=[Group("g", ceiling={"a": 1})])
    pool = Instance({"A": {"a": 1}, "B": {"a": 1}}, {"a": 3}, organisation=rules)
    return claimed(pool, [1, 1], [], [[{"ceilings": {"g": {"a": "1"}}}]], "throughput")


DEAR = {"a": "1"}


def dear(a, b, rows=1):
    return [{"tasks": {"A": a, "B": b}, "classes": {"m": DEAR}, "levels": ["0"] * rows}]


MUTANTS = [
    ("rise = max(", "rise = min(", lambda: priced([1, 1], trees=[dear("1", "1/999"), dear("1/999", "1")])),
    ("for v, cost in zip(values, paid, strict=True) if v), default=Fraction(0))", None, lambda: priced(
        [1], trees=[[{"classes": {"m": DEAR}, "levels": ["0"]}]], demands=[1])),
    ("self.count[k] * self.by_resources", "self.count[k] + self.by_resources", lambda: priced(
        [4], trees=[[{"tasks": {"A": "9"}, "classes": {"m": {"a": "9"}}, "levels": ["0"]}]], count=3, demands=[1])),
    ("int(count) * worth", "int(count) + worth", lambda: devices(2, {
        "tasks": {"A": "10"}, "levels": ["0"], "classes": {"m": {}}, "devices": {"m": {"gpu": {"2/3": "10"}}}})),
    ("min(need, one), 0)", "min(need, one), 1)", lambda: devices(2, {
        "tasks": {"A": "10"}, "levels": ["0"], "classes": {"m": {}}, "devices": {"m": {"gpu": {"1/2": "0"}}}})),
    (" if key[0] == k}", "}", lambda: twice_the_same(at_most(0, A), of(a="1"), of(b="1"))),
    ("each = [-sum(", "each = [sum(", lambda: on_two_machines(at_most(0, A), of(a="1"), of(b="1"))),
    ("else -found", "else found", lambda: on_two_machines(at_most(0, A), of(a="1"), of(b="1"))),
    ("demands[s][j] if b in under else zero", "demands[s][j]", beside_a_ceiling),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "forge"), MUTANTS, ids=[row[0].strip()[:24] for row in MUTANTS])
def test_a_mutant_of_the_leaves_is_found_out(tmp_path, old, new, forge):
    mutant = mutant_of(tmp_path, "trees.py", old, old.replace("Fraction(0)", "Fraction(-1)") if new is None else new)
    assert verdict(verify, forge()) not in (True, "refused")
    assert verdict(mutant, forge()) is True
