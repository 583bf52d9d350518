"""Whether what a file claims is possible: its checks one by one, in documents by hand."""

import itertools
import re
from fractions import Fraction as F

import pytest

from drfopt.certificates.verifier import loads, verify
from drfopt.certificates.verifier.claims import ACCURACY
from drfopt.certificates.verifier.possible import SMALLEST

POOL = {"capacity": {"a": 8, "b": 4}}
RACK = {
    "machines": [
        {"name": "m", "capacity": {"a": 4, "b": 4}},
        {"name": "n", "capacity": {"a": 4, "b": 0}, "count": 2},
    ]
}
USERS = [{"name": "A", "demand": {"a": 2}}, {"name": "B", "demand": {"a": 1, "b": 1}}]
TYPED = [
    {"name": "A", "tasks": [{"demand": {"a": 2}, "count": 2}, {"demand": {"b": 1}, "count": 1}]},
    {"name": "B", "demand": {"a": 1, "b": 1}},
]


def document(tasks, levels=(None, None), room=POOL, users=USERS, policy="drf", whole=False, **more):
    """A claim of so many tasks of A and B; what else an instance has is under `instance`."""
    rows = [{"name": user["name"], "tasks": x, "level": y} for user, x, y in zip(users, tasks, levels, strict=True)]
    instance = room | {"users": users} | more.pop("instance", {})
    return {"instance": instance, "policy": policy, "integer": whole, "users": rows, "proof": {}} | more


def check_of(data, name, **how):
    """The check of this name."""
    (found,) = (check for check in verify(data, **how).checks if check.name == name)
    return found


CHECKED = [
    ("tasks are not negative", document(["0", "1"]), ""),
    ("tasks are not negative", document(["-1/2", "1"]), "A: -1/2"),
    ("tasks are whole", document([1, 0], whole=True), ""),
    ("tasks are whole", document(["3/2", 0], whole=True), "A: 3/2"),
    ("who can run nothing has nothing", document(["0", "1"], users=[USERS[0] | {"max_tasks": 0}, USERS[1]]), ""),
    ("who can run nothing has nothing", document(["1", "1"], users=[USERS[0] | {"max_tasks": 0}, USERS[1]]), "A: 1"),
    ("limits", document(["2", "1"], users=[USERS[0] | {"max_tasks": 2}, USERS[1]]), ""),
    ("limits", document(["3", "1"], users=[USERS[0] | {"max_tasks": 2}, USERS[1]]), "A: 3, 2"),
    ("capacities", document(["3", "2"]), ""),
    ("capacities", document(["3", "9/4"]), "a: 33/4 of 8"),
    ("capacities", document([2, 1], users=TYPED, whole=True), ""),
    ("capacities", document([3, 3], users=TYPED, whole=True), ""),
    ("capacities", document([3, 4], users=TYPED, whole=True), "b: 5 of 4"),
    ("capacities", document([1, 4], users=TYPED, whole=True), ""),
    ("limits", document([2 + F(1, 10**10), 1], users=[USERS[0] | {"max_tasks": 2}, USERS[1]]), ""),
    ("limits", document([2 + F(1, 10**8), 1], users=[USERS[0] | {"max_tasks": 2}, USERS[1]]), "A: "),
    ("capacities", document([2, 4 + F(1, 10**10)]), ""),
    ("capacities", document([2, 4 + F(1, 10**8)]), "a: "),
    ("capacities", document([-1, 4], users=TYPED, whole=True), ""),
    # Where tasks run, and that nothing is less than nothing there.
    ("tasks are those placed", document(["3", "1"], room=RACK, placement={"A": {"m": 1, "n": 2}, "B": {"m": 1}}), ""),
    ("tasks are those placed", document(["3", "1"], room=RACK, placement={"A": {"m": "1"}, "B": {"m": 1}}), "A: 3, 1"),
    ("tasks are those placed", document(["3", "1"], room=RACK, placement={"A": {"m": "-1", "n": "4"}, "B": {"m": 1}}),
     "A: -1 on m, 4 on n, and nothing negative can be placed"),
    ("tasks run where they fit", document(["3", "1"], room=RACK, placement={"A": {"n": "3"}, "B": {"m": 1}}), ""),
    ("tasks run where they fit", document(["3", "1"], room=RACK, placement={"A": {"n": 3}, "B": {"m": 1, "n": 0}}), ""),
    ("tasks run where they fit", document(["3", "1"], room=RACK, placement={
        "A": {"n": 3}, "B": {"m": "1/2", "n": "1/2"}}), "B: "),
    ("tasks are those placed", document(["3", "1"], room=RACK, placement={
        "A": {"m": "1/2", "n": "5/2"}, "B": {"m": 1, "n": 0}}), ""),
    ("tasks are those placed", document(["0", "1"], room=RACK, placement={"A": {}, "B": {"m": 1}}), ""),
    ("tasks run where they fit", document(["3", "1"], room=RACK, placement={"A": {"n": "3"}, "B": {"n": 1}}), "B: "),
    ("capacities", document(["2", "1"], room=RACK, placement={"A": {"m": "2"}, "B": {"m": 1}}), "m/a: 5 of 4"),
    ("capacities", document(["4", "1"], room=RACK, placement={"A": {"n": "4"}, "B": {"m": 1}}), ""),
    ("capacities", document(["5", "1"], room=RACK, placement={"A": {"n": "5"}, "B": {"m": 1}}), "n/a: 10 of 8"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "data", "worst"), CHECKED)
def test_a_check_says_what_is_wrong(name, data, worst):
    found = check_of(data, name)
    assert found.holds is (not worst) and found.worst.startswith(worst) and (worst or not found.worst)


def test_only_what_there_is_is_checked():
    names = ["tasks are not negative", "limits", "who can run nothing has nothing", "levels are those of the tasks"]
    placed = ["tasks are those placed", "tasks run where they fit", "capacities"]
    for data, more in (
        (document(["9", "9"]), placed),
        (document(["9", "9"], room=RACK), placed[-1:]),
        (document(["9", "9"], room=RACK, placement={"A": {}, "B": {}}), placed),
    ):
        found = [check.name for check in verify(data).checks]
        assert found[: len(names) + len(more)] == names + more
    missing = check_of(document(["1", "1"], room=RACK), "capacities")
    assert (missing.holds, missing.worst) == (None, "the file does not say on which machines the tasks run")
    missing = check_of(document([1, 1], room=RACK, whole=True), "machines")
    assert (missing.holds, missing.worst) == (None, "the file does not say how the tasks are packed")
    unknown = check_of(document(["1", "1"], ["1", 2], policy="fair"), "levels are those of the tasks")
    assert (unknown.holds, unknown.worst) == (None, "how they are measured is not known here")


# ---- levels ----------------------------------------------------------------------------------------------------------


def levels(written, tasks=("2", "1"), **more):
    """What is said of A's level, which of two tasks is a half."""
    found = check_of(document(list(tasks), [written, "1/4"], **more), "levels are those of the tasks")
    assert found.holds is not False or found.worst.startswith("A: ")
    return found.holds


def test_a_level_is_exact_where_it_is_a_text_and_near_where_it_is_a_float():
    half, near, far = F(1, 2), ACCURACY / 2 + SMALLEST, ACCURACY / 2 + SMALLEST + F(1, 10**400)
    assert levels("1/2") and levels(F(1, 2)) and levels(None)
    for sign in (1, -1):
        assert levels(half + sign * near) and not levels(half + sign * far)
        assert not levels(str(half + sign * F(1, 10**30)))
    data = document(["2", "1"], [half + near, "1/4"])
    assert check_of(data, "levels are those of the tasks").holds is True
    assert check_of(data, "levels are those of the tasks", exact=True).holds is False


def test_a_level_is_near_by_the_size_of_what_it_is_made_of():
    """Above a guarantee of 2 the level of 2 tasks is a half less a quarter: rounded by three quarters.

    So it is where as much of b, of which nothing is promised, is in its level beside.
    """
    rows = [{"a": 2}, {"a": 2, "b": "1/2"}]
    for row, (off, right) in itertools.product(rows, ((F(3, 4), True), (F(3, 4) + F(1, 1000), False))):
        users = [{"name": "A", "demand": row, "guarantee": {"a": 2}}, USERS[1]]
        assert levels(F(1, 4) + ACCURACY * off, users=users, instance={"guarantees": "surplus"}) is right


def test_a_level_below_the_smallest_float_may_be_nothing():
    one = {"capacity": {"a": 2}}
    for tasks, right in ((SMALLEST, True), (SMALLEST + F(1, 2**1080), False), (SMALLEST * F(3, 2), False)):
        found = check_of(document([str(tasks)], [F(0)], room=one, users=USERS[:1]), "levels are those of the tasks")
        assert found.holds is right
    found = check_of(document([str(SMALLEST)], ["0"], room=one, users=USERS[:1]), "levels are those of the tasks")
    assert found.holds is False
    assert F(5e-324) == SMALLEST


def test_enclosures_hold_what_is_claimed():
    def enclosed(ends, level, point):
        data = document(
            [dict(zip(("lower", "upper"), ends, strict=True)), "1"],
            [level, "1/4"],
            policy="ceei",
            proof={"point": {"A": point}},
        )
        return [check_of(data, f"{what}").holds for what in (
            "the point is in every enclosure", "levels enclose those of the tasks")]  # fmt: skip

    def level(low, high):
        return {"lower": low, "upper": high}

    # A's levels are quarters of its tasks.
    assert enclosed(("1", "3"), level("1/4", "3/4"), "2") == [True, True]
    assert enclosed(("1", "3"), level("1/5", "1"), "1") == [True, True]
    assert enclosed(("1", "3"), level("1/4", "3/4"), "4") == [False, True]
    assert enclosed(("1", "3"), level("1/4", "3/4"), "1/2") == [False, True]
    assert enclosed(("1", "3"), level("1/3", "3/4"), "2") == [True, False]
    assert enclosed(("1", "3"), level("1/4", "2/3"), "2") == [True, False]
    names = [check.name for check in verify(document([{"lower": 1, "upper": 2}, 1], policy="fair")).checks]
    assert "the point is in every enclosure" in names and "levels enclose those of the tasks" not in names


# ---- whole tasks on machines -----------------------------------------------------------------------------------------


def on_machines(*packing, placement=None, users=USERS, **more):
    rows = [{"class": k, "machines": count, "tasks": tasks} for k, count, tasks in packing]
    tasks = [3, 1]
    how = more | ({} if placement is None else {"placement": placement})
    return document(tasks, room=RACK, users=users, whole=True, proof={"packing": rows}, **how)


PACKED = ("m", 1, {"A": 1, "B": 1}), ("n", 2, {"A": 1})


def test_tasks_run_where_the_packing_has_them():
    def told(placement):
        return check_of(on_machines(*PACKED, placement=placement), "tasks are those placed").worst

    assert (
        told({"A": {"m": 1, "n": 2}, "B": {"m": 1}})
        == told(None)
        == told({"A": {"m": 1, "n": 2}, "B": {"m": 1, "n": 0}})
        == ""
    )
    assert told({"A": {"m": 1, "n": 2}, "B": {}}) == "B: nowhere, packed 1 on m"
    assert told({"A": {"n": 3}, "B": {"m": 1}}) == "A: 3 on n, packed 1 on m, 2 on n"
    assert told({"A": {"m": 1, "n": 2}, "B": {"m": 1, "n": 1}}) == "B: 1 on m, 1 on n, packed 1 on m"
    assert told({"A": {"m": 1, "n": 2}}) == "B: nowhere, packed 1 on m"
    none = on_machines(PACKED[0], ("n", 2, {"A": 1, "B": 0}), placement={"A": {"m": 1, "n": 2}, "B": {"m": 1}})
    assert check_of(none, "tasks are those placed").holds is True


def test_who_fits_on_no_machine_has_nothing():
    data = on_machines(("m", 1, {"A": 1}), PACKED[1], users=[USERS[0], {"name": "B", "demand": {"a": 9}}])
    assert check_of(data, "who can run nothing has nothing").worst == "B: 1"


def test_types_run_where_the_packing_has_them():
    packing = ("m", 1, {"A:0": 1, "A:1": 1, "B": 1}), ("n", 1, {"A:0": 1})
    types = {"A": [{"placement": {"m": 1, "n": 1}}, {"placement": {"m": 1}}]}

    def told(name, types=types, **placement):
        where = {"A": {"m": 2, "n": 1}, "B": {"m": 1}} | placement
        return check_of(on_machines(*packing, placement=where, users=TYPED, types=types), name)

    assert told("machines").holds is True and told("tasks are those placed").holds is True
    assert told("tasks are those placed", A={"m": 3}).worst.startswith("A: 3 on m, by types")
    assert told("tasks are those placed", A={"m": 2, "n": 2}).worst.startswith("A: 2 on m, 2 on n, by types")
    assert told("tasks are those placed", A={"m": 1, "n": 1}).worst.startswith("A: 1 on m, 1 on n, by types")
    here = on_machines(
        ("m", 1, {"A:0": 2, "A:1": 1}), placement={"A": {"m": 3}}, users=TYPED,
        types={"A": [{"placement": {"m": 2}}, {"placement": {"m": 1}}]},
    )  # fmt: skip
    assert check_of(here, "tasks are those placed").holds is True
    other = {"A": [{"placement": {"m": 2}}, {"placement": {"n": 1}}]}
    assert told("tasks are those placed", types=other).worst == "A:0: 2 on m, packed 1 on m, 1 on n"


def test_a_ceiling_is_of_what_tasks_that_have_started_need():
    groups = {"groups": [{"name": "g", "ceiling": {"a": 4}}]}
    inside = [user | {"group": "g"} for user in TYPED]

    def held(tasks, users=inside, whole=True):
        return check_of(document(tasks, users=users, whole=whole, instance=groups), "ceilings of groups").worst

    # A's tasks are 2 of a, of b, and 2 of a.
    assert held([2, 2]) == "" and held([2, 3]) == "g: 5 of 4" and held([3, 0]) == "" and held([3, 1]) == "g: 5 of 4"
    assert held([0, 5]) == "g: 5 of 4" and held([1, 2]) == ""
    assert held([-1, 5]) == "g: 5 of 4"
    plain = [user | {"group": "g"} for user in USERS]
    assert held(["1", "2"], plain, False) == "" and held(["1", "9/4"], plain, False) == "g: 17/4 of 4"
    # Who fits nowhere, with a type that is called nothing.
    nowhere = [inside[0], USERS[1] | {"demand": {"a": 9}, "group": "g"}]
    assert held([1, 0], nowhere) == "" and held([1, 7], nowhere) == ""


def test_each_user_of_several_types_runs_the_most_alone():
    kinds = [{"demand": {"a": 1}, "count": 1}]
    right, wrong = ({"placement": [{"m": 4, "n": 8}], "prices": {"m": {"a": price}, "n": {"a": 1}}} for price in (1, 2))
    for said, holds in (((right, right), True), ((right, wrong), False), ((wrong, right), False)):
        users = [{"name": name, "tasks": kinds} for name in "AB"]
        proof = {"alone": dict(zip("AB", said, strict=True))}
        data = document(["1", "1"], room=RACK, users=users, policy="tsf", proof=proof)
        assert check_of(data, "what users run alone is the most").holds is holds


# ---- what is read ----------------------------------------------------------------------------------------------------


def of_a_round(**row):
    return {"proof": {"rounds": [row]}}


def test_an_answer_is_of_the_instance_it_has_or_that_is_given():
    data = document(["4", "0"], users=[USERS[0], USERS[1] | {"max_tasks": 0}])
    assert verify(data).valid is True
    given = data["instance"]
    same = "the instance is the one of the file"
    assert check_of(data, same, instance=given).holds is True
    assert check_of(data, same, instance=given | {"capacity": {"a": 8, "b": 5}}).worst == "they differ"
    alone = {key: value for key, value in data.items() if key != "instance"}
    assert same not in [check.name for check in verify(alone, given).checks]
    assert same not in [check.name for check in verify(data).checks]
    assert check_of(alone | {"cluster": given}, same, instance=given).holds is True
    for wrong in (alone, alone | {"instance": "a name"}):
        with pytest.raises(ValueError, match="an answer without its instance: name its instance, too"):
            verify(wrong)
    with pytest.raises(ValueError, match="not a certificate: it has no 'instance'"):
        verify({})
    # The name of an instance is no other instance.
    assert same not in [check.name for check in verify(alone | {"instance": "a name"}, given).checks]
    with pytest.raises(ValueError, match="read alone, and under the schema"):
        verify({"schema": "drfopt audit-certificate 1", "audits": []}, given)
    with pytest.raises(ValueError, match="not a certificate: it has no 'integer'"):
        verify({key: value for key, value in data.items() if key != "integer"})
    for wrong, words in (
        ({"users": 7}, "what it has under 'users' is no list"),
        ({"users": [None]}, "what it has under 'users[0]' is no table"),
        ({"proof": {"rounds": 7}}, "what it has under 'proof.rounds' is no list"),
        (of_a_round(prices={"a": 1}), "it has no 'finished' under 'proof.rounds[0]'"),
        (of_a_round(finished=[], prices={"a": "x"}), "'x' is not a number, under 'proof.rounds[0].prices.a'"),
        (of_a_round(finished=[], prices={"a": []}), "what it has under 'proof.rounds[0].prices.a' is no table"),
        (of_a_round(finished=[], prices=7), "what it has under 'proof.rounds[0].prices' is no table"),
    ):
        with pytest.raises(ValueError, match=f"^not a certificate: {re.escape(words)}"):
            verify(data | wrong)
    with pytest.raises(ValueError, match=r"^an instance has a user at least"):
        verify(data | {"instance": given | {"users": []}})
    with pytest.raises(ValueError, match=r"^what stands for a user is no table"):
        verify(data | {"instance": given | {"users": [7]}})


def test_what_is_impossible_is_not_looked_at_further():
    names = [check.name for check in verify(document([9, 0], whole=True)).checks]
    assert names[-1] == "capacities"
    names = [check.name for check in verify(document([1, 0], whole=True)).checks]
    assert names[-1] != "capacities"


def test_what_is_only_better_has_to_be_possible():
    users = [USERS[0], USERS[1] | {"max_tasks": 0}]
    truth, more = document(["4", "0"], users=users), document(["5", "0"], users=users)
    finding = {"property": "pareto-efficiency", "verdict": "fails", "user": "A", "after": [more]}
    report = verify({"schema": "drfopt audit-certificate 1", "audits": [{"truth": truth, "findings": [finding]}]})
    assert [check.holds for check in report.checks] == [True, False, True]


def test_work_is_bounded_unless_it_is_not_to_be():
    data = document(["7" * 400_000, "1"])
    assert verify(data).checks[-1].name == "all that has to be checked"
    assert verify(document(["1", "1"]), bounded=False).checks[-1].name != "all that has to be checked"
    assert loads('{"a": 1}') == {"a": 1}
