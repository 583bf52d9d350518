"""How the verifier reads numbers and instances: what each text and each table is worth, and what is refused."""

import itertools
import json
import math
from fractions import Fraction as F

import pytest

from drfopt.certificates.verifier import answers, cluster, exact_sums, monopoly, reading, work

# ---- numbers ---------------------------------------------------------------------------------------------------------

LONG = "7" * reading.LONG

NUMBERS = {
    "5": 5, "-5/3": F(-5, 3), "0x10/0x3": F(16, 3), "-0x10": -16, "0x3": 3, ".5": F(1, 2), "1e3": 1000,
    "25E-1": F(5, 2),
    "1e400": 10**400, "-1e-400": F(-1, 10**400), "1" + "0" * 5_000: 10**5_000, "1/1" + "0" * 4_999: F(1, 10**4_999),
    LONG[2:] + ".5": F(int("7" * 3_998) * 2 + 1, 2),
}  # fmt: skip

NO_NUMBERS = {
    "1e401": "beyond the range", "1e-401": "beyond the range", LONG + "e9": "too long", LONG[1:] + ".5": "too long",
    "2*L": "not under 'long'", "x": "", "1/0": "", "nan": "",
}  # fmt: skip


@pytest.mark.parametrize("text", NUMBERS, ids=lambda text: text[:9])
def test_a_text_is_a_number(text):
    found = reading.number(text)
    assert found == NUMBERS[text] and isinstance(found, F)


@pytest.mark.parametrize("text", NO_NUMBERS, ids=lambda text: text[:9])
def test_a_text_is_no_number(text):
    with pytest.raises((ValueError, ArithmeticError), match=NO_NUMBERS[text] or None):
        reading.number(text)


def test_what_else_is_a_number():
    assert [reading.number(v) for v in (3, 0.1, F(2, 7), 2.0**-9)] == [3, F(1, 10), F(2, 7), F(1, 512)]
    for value in (True, None, [1], {"lower": 1}):
        with pytest.raises(ValueError, match="is not a number"):
            reading.number(value)


def test_long_numbers_are_known_while_their_document_is_read():
    with reading.with_long(reading.long_numbers({"long": {"L": "9/7"}})):
        assert reading.number("2*L") == F(18, 7)
        with reading.with_long({}), pytest.raises(ValueError, match="not under 'long'"):
            reading.number("2*L")
        assert reading.number("-1/3*L") == F(-3, 7)
    with pytest.raises(ValueError, match="not under 'long'"):
        reading.number("2*L")
    assert reading.long_numbers({}) == {}
    for low in ("0", "-1"):
        with pytest.raises(ValueError, match="'L' is not positive"):
            reading.long_numbers({"long": {"K": "1", "L": low}})


def granted(reads):
    with work.metered(bounded=True):
        reads()
        return work.LONG_GRANTS - work.LEFT.get().grants


def test_what_takes_longer_to_read_is_granted_more():
    assert granted(lambda: reading.number("7" * 3_000)) == work.LONG_GRANT
    assert granted(lambda: reading.number("0x" + "7" * 2_998)) == work.LONG_GRANT + (2 * 3_000) ** 2
    for size in (3_000, reading.MULTIPLE + 99):
        with reading.with_long({"L": F(2 ** (size - 2))}):
            once = granted(lambda: reading.number("0"))
            assert granted(lambda: reading.number("1*L")) - once == work.LONG_GRANT + min(size, reading.MULTIPLE) ** 2


def test_long_amounts_are_shown_by_the_nearest_float():
    edge = 2**exact_sums.LONG_BITS
    assert reading.shown(F(3, 7)) == "3/7" and reading.shown(edge // 2) == str(edge // 2)
    assert reading.shown(F(edge - 1)) == str(edge - 1) and reading.shown(F(1, edge - 1)) == f"1/{edge - 1}"
    assert reading.shown(F(edge)) == f"about {edge:.17g}" and reading.shown(F(1, edge)) == f"about {1 / edge:.17g}"
    assert reading.shown(F(10**999, 3)) == "a number of some 995 digits" and reading.shown("text") == "text"


def test_a_text_of_json_is_read_once_and_exactly():
    assert reading.loads('{"a": 0.1, "b": {"a": 2}}') == {"a": F(1, 10), "b": {"a": 2}}
    for text, said in (
        ('{"a": 1, "b": 2, "a": 1}', "stands twice among a, b, a"),
        ("[1]", "an object"),
        ("3", "an obj"),
    ):
        with pytest.raises(ValueError, match=said):
            reading.loads(text)
    with pytest.raises(ValueError, match="'NaN' is not a number"):
        reading.loads('{"a": NaN}')


def test_a_report_is_valid_where_all_checks_hold():
    report = reading.Report()
    assert report.accuracy == 0 and report.valid is True
    report.add("one", iter([]))
    assert report.valid is True
    report.add("two", [], "who knows")
    assert report.valid is None
    report.add("three", ["wrong", "more"], "who knows")
    assert report.valid is False
    assert [(c.name, c.holds, c.worst) for c in report.checks] == [
        ("one", True, ""), ("two", None, "who knows"), ("three", False, "wrong"),
    ]  # fmt: skip


# ---- instances -------------------------------------------------------------------------------------------------------


def pool(*users, **more):
    rows = [{"name": "AB"[i], "demand": {"a": 1}} | user for i, user in enumerate(users or ({},))]
    return {"capacity": {"a": 8, "b": 4}, "users": rows} | more


def rack(*users, machine=None, **more):
    machines = [{"name": "m", "capacity": {"a": 4, "b": 2}, "count": 2} | (machine or {})]
    machines.append({"name": "n", "capacity": {"a": 2}})
    found = pool(*users, **more) | {"machines": machines}
    return {key: value for key, value in found.items() if key != "capacity"}


def kind(**more):
    return {"demand": {"a": 1}, "count": 1} | more


NOTHING = cluster.NOTHING_OR_LESS

REFUSED = {
    "machines and a half": (rack(machine={"count": "3/2"}), "count of machines is no whole"),
    "half a machine": (rack(machine={"count": "1/2"}), "count of machines is no whole"),
    "no machine": (rack(machine={"count": 0}), NOTHING),
    "more machines than are counted": (rack(machine={"count": 2**53 + 1}), "no whole number up to 9,007,199,25"),
    "more tasks than are counted": (pool({"tasks": [kind(count=10**30)]}), "whole number from 1 to 9,007,199,254,740"),
    "more devices than are dealt out": (rack(machine={"capacity": {"a": 10_001}, "devices": {"a": 10_001}}), "10001"),
    "a tier out of sight": (pool({"tier": -(2**53) - 1}), "a tier is no whole number from -9,007,199,254,740,992"),
    "classes alike": (rack(machine={"name": "n"}), "have one name"),
    "users alike": (pool({"name": "B"}, {}), "have one name"),
    "a class without a name": (rack(machine={"name": ""}), "some name is empty"),
    "a number for a name": (pool({"name": 7}), "under .name. is no text"),
    "a tier in halves": (pool({"tier": 0.5}), "a tier is no whole"),
    "a tier as a text": (pool({"tier": "1"}), "a tier is no whole"),
    "a tier of a group": (pool({}, groups=[{"name": "g", "tier": "1"}]), "a tier is no whole"),
    "machines of a pool": (pool({"machines": []}), "lists machines that are none"),
    "machines that are not there": (rack({"machines": ["m", "k"]}), "lists machines that are none"),
    "machines of a type": (rack({"tasks": [kind(machines=["k"])]}), "lists machines that are none"),
    "a promise above a ceiling": (pool({"guarantee": {"a": 3}, "ceiling": {"a": 2}}), "above its ceiling"),
    "a group that is not there": (pool({"group": "g"}, {"group": "h"}, groups=[{"name": "h"}]), "group that is not"),
    "a meaning": (pool(guarantees="more"), "nothing that the verifier knows"),
    "a resource": (pool({"demand": {"c": 1}}), "'c' is no resource"),
    "a pool and machines": (rack() | {"capacity": {"a": 8}}, "one pool, or machines"),
    "a key of an instance": (pool(weights={}), "'weights' of an instance is nothing"),
    "a key of a class": (rack(machine={"cost": 1}), "'cost' of a class of machines is nothing"),
    "a key of a group": (pool({}, groups=[{"name": "g", "max_tasks": 1}]), "'max_tasks' of a group is nothing"),
    "a class that is no table": (rack() | {"machines": ["m"]}, "stands for a class of machines is no table"),
    "a key of a type": (pool({"tasks": [kind(max_tasks=1)]}), "'max_tasks' of a task type is nothing"),
    "a weight of less": (pool({"weight": -1}, {}), NOTHING),
    "a weight of nothing for one resource": (pool({"weight": {"a": 0}}), NOTHING),
    "a weight of a group": (pool({}, groups=[{"name": "g", "weight": "-1/2"}]), NOTHING),
    "a demand of nothing": (pool({"demand": {"a": 0}}), NOTHING),
    "one demand of nothing": (pool({}, {"demand": {}}), NOTHING),
    "a demand of less": (pool({"demand": {"a": 1, "b": "-1/2"}}), NOTHING),
    "less room": (pool({}, capacity={"a": 8, "b": "-1/2"}), NOTHING),
    "a limit of less": (pool({"max_tasks": "-1/2"}), NOTHING),
    "a promise of less": (pool({"guarantee": {"a": "-1/2"}}), NOTHING),
    "a ceiling of less": (pool({"ceiling": {"b": "-1/2"}}), NOTHING),
    "a ceiling of a group": (pool({}, groups=[{"name": "g", "ceiling": {"a": "-1/2"}}]), NOTHING),
    "no types": (pool({"tasks": []}), NOTHING),
    "none of a type": (pool({"tasks": [kind(count=0), kind()]}), NOTHING),
    "less of a type": (pool({"tasks": [kind(count="-1/2"), kind()]}), NOTHING),
    "half a task of a type": (pool({"tasks": [kind(count="1/2"), kind()]}), "count of tasks is no whole"),
    "a type of nothing": (pool({"tasks": [kind(), kind(demand={})]}), NOTHING),
    "a type of less, beside one of more": (pool({"tasks": [
        kind(demand={"a": 1, "b": "-1/2"}), kind(demand={"b": 9})]}), NOTHING),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_an_instance_is_refused(what):
    data, said = REFUSED[what]
    with pytest.raises(ValueError, match=said):
        cluster.Cluster(data)


LETTERS = {
    "counts": (rack(), {"count": [2, 1], "room": [[8, 4], [2, 0]], "cluster": [10, 4], "pool": False}),
    "as many machines as are counted": (rack(machine={"count": 2**53}), {"count": [2**53, 1]}),
    "as many tasks as are counted": (pool({"tasks": [kind(count=2**53)]}), {"u": [2**53]}),
    "tiers as far apart as they may be": (pool({"tier": 2**53}, {"tier": -(2**53)}), {
        "rank": [(-(2**53), False), (2**53, False)]}),
    "weights": (pool({"weight": {"b": 3}}, {"weight": 0}), {"w": [[1, 3], [1, 1]], "weighed": True}),
    "one weight": (pool({"weight": "1/2"}, {}), {"w": [["1/2", "1/2"], [1, 1]], "weighed": False, "ordered": False}),
    "last": (pool({"weight": 0}), {"rank": [(0, True)], "ordered": True}),
    "a ceiling": (pool(
        {"demand": {"a": 2}, "ceiling": {"a": 6, "b": 0}, "max_tasks": 5}, {"ceiling": {"a": 6}, "max_tasks": 5}), {
            "u": [3, 5]}),
    "a promise up to a ceiling": (pool({"ceiling": {"a": 3}, "guarantee": {"a": 3}}), {"u": [3], "floor": [3]}),
    "tiers": (pool({"tier": 1}, {}), {"rank": [(-1, False), (0, False)], "ordered": True}),
    "one tier": (pool({"tier": 1}, {"tier": 1}), {"ordered": False}),
    "a promise": (pool({"guarantee": {"a": 3, "b": 1}, "max_tasks": 2}, {}, ), {
        "floor": [2, 0], "ordered": True, "amounts": True}),
    "a promise of tasks": (pool({"demand": {"a": 2}, "guarantee": {"a": 3}}), {"floor": ["3/2"], "amounts": True}),
    "no rules": (pool({}, {}), {"ruled": False, "ordered": False, "amounts": False, "u": [None, None]}),
    "one in a group": (pool({"group": "g"}, {}), {"ruled": True, "amounts": False}),
    "a group of nobody": (pool({}, groups=[{"name": "g"}]), {"ruled": True, "amounts": False}),
    "a group's promise": (pool({}, groups=[{"name": "g", "guarantee": {"a": 1}}]), {"amounts": True}),
    "a group's ceiling": (pool({"group": "g/h"}, {"group": "gh"}, groups=[
        {"name": "g", "ceiling": {"b": 1}}, {"name": "g/h"}, {"name": "gh"}]), {
            "amounts": True, "ceilings": [("g", 1, 1, [0])]}),
    "types": (pool({"tasks": [kind(count=3), kind(demand={"b": 4})]}), {"d": [["3/4", 1]], "u": [4], "typed": [0]}),
    "types, limited": (pool({"tasks": [kind(count=3)], "max_tasks": "5/2"}), {"u": ["5/2"], "max_tasks": ["5/2"]}),
    "devices": (rack(machine={"devices": {"a": 2, "b": {"count": 1, "size": "3/2"}}}), {"devices": [
        {0: (2, 2), 1: (1, F(3, 2))}, {}]}),
    "as many devices as are dealt out": (rack(machine={"capacity": {"a": 10_000}, "devices": {"a": 10_000}}), {
        "devices": [{0: (10_000, 1)}, {}]}),
}  # fmt: skip


@pytest.mark.parametrize("what", LETTERS)
def test_an_instance_is_read(what):
    data, letters = LETTERS[what]

    def plain(value):
        if isinstance(value, list | tuple):
            return [plain(v) for v in value]
        if isinstance(value, dict):
            return {key: plain(v) for key, v in value.items()}
        return reading.number(value) if isinstance(value, int | str | F) and value not in (True, False, "g") else value

    found = cluster.Cluster(data)
    for letter, value in letters.items():
        assert plain(getattr(found, letter)) == plain(value), letter


def test_types_are_kinds_on_machines_and_one_average_in_a_pool():
    tasks = {"tasks": [kind(count=3, machines=["n"]), kind(demand={"b": 1})], "machines": ["m", "n"]}
    found = cluster.Cluster(rack(tasks, {}))
    assert [(k.owner, k.part, k.d, k.open) for k in found.kinds] == [
        (0, F(3, 4), [1, 0], {1}), (0, F(1, 4), [0, 1], {0, 1}), (1, 1, [1, 0], {0, 1}),
    ]  # fmt: skip
    assert found.kinds_of == [[0, 1], [2]] and [n for _, n in found.types[0]] == [3, 1]
    assert found.needs == [[1, 0], [0, 1], [1, 0]] and found.unit == 1
    assert len(cluster.Cluster(pool({"tasks": [kind(), kind(demand={"b": 1})]})).kinds) == 1


def test_devices_make_up_an_amount():
    def of(given):
        return cluster.devices_of({"a": given}, [F(6)], ["a"], reading.number)

    assert of(3) == {0: (3, 2)} and of({"count": 2, "size": "5/2"}) == {0: (2, F(5, 2))}
    assert of({"count": 1, "size": 6}) == {0: (1, 6)}
    for wrong in (0, -1, "3/2", *({"count": c, "size": s} for c, s in ((0, 1), (4, 2), ("5/2", 1), (2, 0), (2, -1)))):
        with pytest.raises(ValueError, match="do not make up"):
            of(wrong)


def test_a_task_takes_parts_of_one_device_or_whole_ones():
    for count, size, d in itertools.product(range(1, 4), (F(1), F(2, 3), F(2)), (F(k, 6) for k in range(20))):
        need = d / size
        fine = need <= count and (need <= 1 or need == math.floor(need))
        assert cluster.taken({0: (F(count), size)}, [d]) == ({0: need} if fine else None)
    assert cluster.taken({}, [F(5)]) == {}


def test_units_are_integers_in_which_as_much_can_be_run():
    assert cluster.integers([], [F(1)]) == ([], [0]) or cluster.integers([], [F(3)])[0] == []
    for rows in itertools.product([(F(0), F(1, 2)), (F(2, 3), F(0)), (F(4), F(2))], repeat=2):
        for capacity in ((F(5), F(5, 3)), (F(0), F(7, 2))):
            demands, room = cluster.integers([list(row) for row in rows], capacity)
            for x, y in itertools.product(range(9), repeat=2):
                fine = all(x * a + y * b <= c for a, b, c in zip(*rows, capacity, strict=True))
                assert fine == all(x * a + y * b <= c for a, b, c in zip(*demands, room, strict=True))
            for column in zip(*demands, strict=True):
                assert math.gcd(*column) in (0, 1) and all(isinstance(v, int) for v in column)


def test_a_kind_fits_on_a_machine_and_in_part_into_a_pool():
    def fits(data, whole):
        found = cluster.Cluster(data)
        return found.fits(found.kinds[0], whole)

    assert fits(rack({"demand": {"a": 4, "b": 1}}), True) == fits(rack({"demand": {"a": 4, "b": 1}}), False) == [0]
    assert fits(rack({"demand": {"a": 5}}), False) == []
    assert fits(rack({"machines": ["n"]}), True) == [1]
    assert fits(rack({"demand": {"a": 3}}, machine={"devices": {"a": 4}}), True) == [0]
    assert fits(rack({"demand": {"a": "3/2"}}, machine={"devices": {"a": 4}}), True) == [1]
    assert fits(pool({"demand": {"a": 9}}), True) == [] and fits(pool({"demand": {"a": 9}}), False) == [0]
    assert fits(pool({}, capacity={"a": 0}), False) == [] and fits(pool({}, capacity={"a": "1/2"}), False) == [0]


LINES = [
    (pool({"demand": {"a": 2, "b": 2}, "weight": 2}), {
        "drf": [("1/4", 0)], "asset": [("3/8", 0)], "single:b": [("1/4", 0)], "single:a": [("1/8", 0)],
        "utilitarian": [("1/2", 0)], "alpha:0": [("1/2", 0)], "alpha:2": [("1/4", 0)], "alpha:-1": [("1/4", 0)],
        "alpha:1": [("1/4", 0)], "tasks": [("1/2", 0)], "throughput": [(1, 0)], "tsf": [("1/4", 0)]}),
    (pool({"demand": {"a": 2, "b": 2}}, excluded=["b"]), {
        "drf": [("1/4", 0)], "asset": [("1/4", 0)], "single:b": [(0, 0)], "tsf": [("1/4", 0)]}),
    (pool({"demand": {"b": 2}}, excluded=["b"]), {"tsf": [(0, 0)], "drf": [(0, 0)]}),
    (pool({"demand": {"a": 2, "b": 2}}, capacity={"a": 8, "b": 0}), {"drf": [("1/4", 0)], "tsf": [(0, 0)]}),
    (rack({"demand": {"a": 1, "b": 1}}, machine={"capacity": {"a": 1, "b": 0}}), {"tsf": [(0, 0)]}),
    (rack({"demand": {"a": 1, "b": 1}}), {"tsf": [("1/4", 0)], "drf": [("1/4", 0)]}),
    (pool({"demand": {"a": 2, "b": 2}, "guarantee": {"a": 4}}, guarantees="surplus"), {
        "drf": [("1/4", "1/2"), ("1/2", 0)], "asset": [("3/4", "1/2")], "single:b": [("1/2", 0)]}),
    (pool({"demand": {"a": 2}, "guarantee": {"a": 4}}, guarantees="surplus"), {"drf": [("1/4", "1/2")]}),
    (pool({"demand": {"a": 2, "b": 2}, "guarantee": {"a": 2}}, guarantees="normalised"), {"drf": [(1, 0)]}),
]  # fmt: skip


@pytest.mark.parametrize(("data", "policies"), LINES)
def test_levels_are_the_largest_of_lines(data, policies):
    found = cluster.Cluster(data)
    for policy, lines in policies.items():
        assert found.lines(0, policy, {}) == [tuple(map(reading.number, line)) for line in lines], policy
    assert found.lines(0, "tsf", {0: F(9)}) == [(1 / F(9) / found.w[0][0], 0)]


def test_one_machine_is_a_cluster_of_its_own():
    users = {"weight": {"b": 3}, "tier": 2, "max_tasks": 1}, {"weight": 0, "demand": {"a": "1/2", "b": 1}}
    found = cluster.Cluster(rack(*users, machine={"devices": {"b": {"count": 1, "size": "3/2"}}}, excluded=["a"]))
    for k, whole, room in ((0, True, [[4, 2]]), (0, False, [[8, 4]]), (1, True, [[2, 0]])):
        one = found.machine(k, [1, 0], whole)
        assert (one.room, one.pool, one.users) == (room, k > 0 or not whole, ["B", "A"])
        assert (one.w, one.rank, one.d) == (found.w[::-1], found.rank[::-1], found.d[::-1])
        assert (one.u, one.excluded) == ([None, None], {0})
    assert found.machine(0, [0]).devices == found.devices[:1] and found.machine(0, [0]).classes == ["m"]


# ---- what a user could run alone -------------------------------------------------------------------------------------


def of_types(**more):
    """Two tasks of the one type for each of the other, and types that nothing has everything for: no and n, p of e."""
    tasks = [
        {"demand": {"a": 1, "b": 1}, "count": 1},
        {"demand": {"a": 1}, "count": 2},
        {"demand": {"b": 1, "c": 1}, "count": 1},
        {"demand": {"e": 1}, "count": 4},
    ]
    machines = [{"name": "m", "capacity": {"a": 2, "b": 1, "e": 9}}, {"name": "n", "capacity": {"a": 1, "c": 0}}]
    return cluster.Cluster({"machines": machines, "users": [{"name": "A", "tasks": tasks}], "excluded": ["e"]} | more)


def said(placement, prices):
    return {"placement": placement, "prices": prices}


def placements(largest):
    """Yield where tasks of the two types that run might be: on machines m and n."""
    for m0, n0, m1, n1 in itertools.product(range(-1, largest + 1), repeat=4):
        yield [{"m": m0, "n": n0}, {"m": m1, "n": n1}, {}, {}]


def test_what_is_said_to_run_alone_is_the_most():
    """On 2 + 1 of a, and 1 of b: one task of the first type, and two of the second, which are 3/8 of eight."""
    c, right = of_types(), said([{"m": 1}, {"m": 1, "n": 1}, {}, {}], {"m": {"a": 1}, "n": {"a": 1}})
    assert monopoly.alone(c, 0, right) == (8, "")
    some = [({"m": {"a": a, "b": b}, "n": {"a": n}}) for a, b, n in itertools.product(range(-1, 2), repeat=3)]
    accepted = 0
    for placement in placements(1):
        for prices in some:
            h, fault = monopoly.alone(c, 0, said(placement, prices))
            assert fault or h == 8, (placement, prices)
            accepted += not fault
    assert accepted == 3  # Of both there is just enough.
    for prices in ({}, {"m": {"a": 2}, "n": {"a": 1}}, {"m": {"a": 1, "e": 1}, "n": {"a": 1}}):
        assert "all there is costs" in monopoly.alone(c, 0, right | {"prices": prices})[1]
    halves = [{"m": "1/2"}, {"m": "1/2", "n": "1/2"}, {}, {}]
    assert monopoly.alone(c, 0, right | {"placement": halves})[0] == 4
    assert monopoly.alone(c, 0, right | {"prices": {"m": {"a": "1/2"}, "n": {"a": "1/2"}}}) == (8, "")
    with pytest.raises(ValueError, match="has 4 task types, of which 3 are placed alone"):
        monopoly.alone(c, 0, right | {"placement": halves[:3]})


def test_nothing_that_is_too_much_or_negative_is_the_most():
    c = of_types(machines=[{"name": "m", "capacity": {"a": 9, "b": 1, "e": 9}}, {"name": "n", "capacity": {"c": 0}}])
    prices, two = {"m": {"b": 1}}, [{"m": 2}, {"m": 4}, {}, {}]
    assert monopoly.alone(c, 0, said([{"m": 1}, {"m": 2}, {}, {}], prices)) == (8, "")
    assert "2 of 1 b on m" in monopoly.alone(c, 0, said(two, prices))[1]
    # Less than none of a type that cannot run would leave room for others.
    assert "nothing negative" in monopoly.alone(c, 0, said([*two[:2], {"m": -1}, {}], prices))[1]


def test_who_can_run_nothing_alone_runs_nothing():
    machines = [{"name": "m", "capacity": {"a": 1, "b": 0, "e": 9}}]
    tasks = [{"demand": {"a": 1, "b": 1}, "count": 1}]
    c = cluster.Cluster({"machines": machines, "users": [{"name": "A", "tasks": tasks}]})
    assert monopoly.alone(c, 0, said([], {})) == (0, "")


def test_a_file_is_read_as_it_was_written():
    data = pool({"max_tasks": 0.5}, {"weight": "1/3"})
    once, again = (cluster.Cluster(d) for d in (data, reading.loads(json.dumps(data))))
    assert answers.told(once) == answers.told(again)
    data = pool({"max_tasks": "1/2"}, {"weight": "2/6"})
    assert answers.told(once) == answers.told(cluster.Cluster(data))
    assert answers.told(once)["u"] == [F(1, 2), None]
