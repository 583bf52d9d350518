"""What verdicts on properties compare, case by case: amounts by their definitions, and what is refused or left open."""

import itertools
import math
from fractions import Fraction as F
from types import SimpleNamespace

import pytest

from drfopt.certificates.verifier import answers, audited, cluster
from drfopt.certificates.verifier.reading import Report

USERS = [
    {"name": "A", "demand": {"a": 1, "b": 2}, "weight": {"a": 2, "b": 3}},
    {"name": "B", "demand": {"a": 3, "b": 1}, "max_tasks": 3},
    {"name": "C", "demand": {"a": 2}, "weight": "1/2"},
]
POOL = {"capacity": {"a": 24, "b": 16}, "users": USERS}
RACK = {
    "machines": [{"name": "m", "capacity": {"a": 8, "b": 5}, "count": 2}, {"name": "n", "capacity": {"a": 9, "b": 4}}],
    "users": [USERS[0] | {"machines": ["m"]}, *USERS[1:]],
}
ENDS = [(F(1), F(2)), (F(5, 2), F(3)), (F(3), F(7, 2))]


def points(*tasks):
    return [(F(x), F(x)) for x in tasks]


def answered(data=POOL, ends=ENDS, **more):
    """An answer in which everybody has tasks between such ends."""
    c = cluster.Cluster(data)
    x = [low for low, _ in ends]
    claim = {
        "c": c, "report": SimpleNamespace(accuracy=F(0)), "ends": lambda: zip(*ends, strict=True), "whole": False,
        "fits": [sorted(kind.open) for kind in c.kinds], "u": c.u, "z": None, "enclosed": False, "policy": "drf",
        "objective": "leximin", "r": [F(1)] * len(x), "proof": {}, "x": x,
        "below": lambda: {i for i, u in enumerate(c.u) if u is None or x[i] < u},
        "used": lambda k, j: sum(c.d[i][j] * x[i] for i in range(len(x))) if k == 0 else 1 / 0,
    }  # fmt: skip
    return answers.Answered(SimpleNamespace(**(claim | more)), {"instance": data})


def rows_of(property, truth, *after, verdict="holds", **finding):
    given = answers.Verdict(truth, list(after), {"property": property, "verdict": verdict} | finding)
    return list(audited.TABLE[property](given))


def within(i, ends, whole=False, data=POOL):
    """So many tasks, up to the limit, and whole ones of them."""
    most = cluster.Cluster(data).u[i]
    ends = [max(end, F(0)) if most is None else min(max(end, F(0)), most) for end in ends]
    return tuple(F(math.floor(end)) if whole else end for end in ends)


WEIGHTS = [(2, 3), (1, 1), (F(1, 2), F(1, 2))]
DEMANDS = [(1, 2), (3, 1), (2, 0)]


def carried(i, k):
    """How many tasks of i are run with what a task of k holds, by weight."""
    scaled = [F(d) * wi / wk for d, wi, wk in zip(DEMANDS[k], WEIGHTS[i], WEIGHTS[k], strict=True)]
    return min(held / d for held, d in zip(scaled, DEMANDS[i], strict=True) if d)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize(("property", "less"), [("envy-freeness", 0), ("envy-up-to-one-task", 1)])
def test_envy_is_of_what_others_hold_by_weight(property, less, whole):
    found = rows_of(property, answered(whole=whole))
    wanted = [
        (("ABC"[i], "ABC"[k]), ENDS[i], within(i, [carried(i, k) * end - less for end in ENDS[k]], whole))
        for i, k in itertools.permutations(range(3), 2)
    ]
    assert found == wanted and len({more for _, _, more in wanted}) > 2


def test_envy_in_a_pool_is_of_what_is_held():
    asked = rows_of("envy-freeness", answered())
    found = rows_of("envy-freeness", answered(fits=[[], [0], [0]]))  # But of A, whose task does not fit.
    assert [row for row in found if row[0][0] != "A"] == [row for row in asked if row[0][0] != "A"]
    assert {row[2] for row in found if row[0][0] == "A"} == {(0, 0)} != {row[2] for row in asked if row[0][0] == "A"}


def test_envy_is_of_what_runs_where_one_can_run():
    """A, who runs on m only, and has no use for what others have on n."""
    placed = answered(RACK, points(1, 2, 3), z=[{0: F(1)}, {0: F(1, 2), 1: F(3, 2)}, {0: F(1), 1: F(2)}])
    found = {who: more for who, _, more in rows_of("envy-freeness", placed)}
    assert found["A", "B"] == (carried(0, 1) / 2,) * 2 and found["A", "C"] == (carried(0, 2),) * 2
    assert found["B", "C"] == within(1, [carried(1, 2) * 3] * 2) and found["C", "A"] == (carried(2, 0),) * 2
    for more in ({"enclosed": True, "z": placed.claim.z}, {"z": None}):
        with pytest.raises(answers.Open, match="known of a point only"):
            rows_of("envy-freeness", answered(RACK, points(1, 2, 3), **more))
    # Of who runs on no other machines it need not be known.
    anywhere = RACK | {"users": USERS}
    for more in ({"enclosed": True, "z": placed.claim.z}, {"z": None}):
        assert rows_of("envy-freeness", answered(anywhere, **more)) == rows_of("envy-freeness", answered())


def test_envy_of_whole_tasks_is_of_whole_ones_on_each_machine():
    packing = [
        {"class": "m", "machines": 2, "tasks": {"C": 2, "A": 1}},
        {"class": "n", "machines": 1, "tasks": {"B": 1, "C": 1}},
        {"class": "m", "machines": 1, "tasks": {"B": 1}},
    ]
    rack = RACK | {
        "users": [user | {"demand": d} for user, d in zip(RACK["users"], ({"a": 2}, {"a": 3}, {"a": 1}), strict=True)]
    }
    rack["users"] = [
        {key: user[key] for key in ("name", "demand", "machines") if key in user} for user in rack["users"]
    ]
    found = {
        who: more
        for who, _, more in rows_of(
            "envy-freeness", answered(rack, points(2, 2, 5), whole=True, proof={"packing": packing})
        )
    }
    # Two machines on which C holds 2 carry a task of A each, B's on m one; on n A runs nothing.
    assert found == {
        ("A", "B"): (1, 1), ("A", "C"): (2, 2), ("B", "A"): (0, 0), ("B", "C"): (0, 0), ("C", "A"): (4, 4),
        ("C", "B"): (6, 6),
    }  # fmt: skip


def test_what_nobody_decides_is_open():
    for data in (
        POOL | {"users": [USERS[0], USERS[1] | {"tier": 1}]}, POOL | {"excluded": ["a"]},
        POOL | {"users": [USERS[1] | {"group": "g"}]}, POOL | {"users": [USERS[0], USERS[1] | {"ceiling": {"a": 9}}]},
        POOL | {"users": [{"name": "A", "tasks": [{"demand": {"a": 1}, "count": 1}]}]},
        RACK | {"machines": [RACK["machines"][0] | {"devices": {"a": 8}}, RACK["machines"][1]]},
    ):  # fmt: skip
        with pytest.raises(answers.Open, match="no verdict is decided here"):
            answered(data, ENDS[: len(data["users"])])
    with pytest.raises(answers.Open, match="floats"):
        answered(report=SimpleNamespace(accuracy=F(1, 10**9)))


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("data", [POOL, RACK])
def test_alone_everybody_has_its_part_of_every_machine(data, whole):
    found = rows_of("sharing-incentive", answered(data, whole=whole))
    rooms = [(1, (24, 16))] if data is POOL else [(2, (8, 5)), (1, (9, 4))]
    wholes = [sum(column) for column in zip(*WEIGHTS, strict=True)]
    for i, (who, mine, (low, high)) in enumerate(found):
        alone = F(0)
        for count, room in rooms[:1] if i == 0 else rooms:
            parts = [F(w) / all_of * c for w, all_of, c in zip(WEIGHTS[i], wholes, room, strict=True)]
            each = min(part / d for part, d in zip(parts, DEMANDS[i], strict=True) if d)
            alone += count * (math.floor(each) if whole else each)
        assert (who, mine) == (("ABC"[i],), ENDS[i]) and low == high == within(i, [alone], whole)[0]
    assert len(found) == 3


# ---- shares of what all need most -----------------------------------------------------------------------------------


def even(*limits, capacity=None, demands=((2, 1), (3, 0), (1, "1/2"))):
    """Users who all need most of the first resource, with limits."""
    users = [
        {"name": name, "demand": dict(zip("ab", d, strict=True)), "weight": w, "max_tasks": most}
        for name, d, w, most in zip("ABC", demands, (1, 2, 1), limits or (None,) * 3, strict=False)
    ]
    return {"capacity": capacity or {"a": 12, "b": 12}, "users": users}


def test_whoever_is_below_its_limit_has_as_large_a_share_as_others():
    ends, rates = [(F(1), F(2)), (F(2), F(2)), (F(3), F(4))], [F(2, 12), F(3, 24), F(1, 12)]
    shares = [(rate * low, rate * high) for rate, (low, high) in zip(rates, ends, strict=True)]
    for limits, less in (((None,) * 3, ""), ((2, 3, 4), "AC"), ((1, 2, 3), "ABC"), ((3, None, 3), "C")):
        found = rows_of("bottleneck-fairness", answered(even(*limits), ends))
        # Who may be at its limit may have no wish for more.
        wanted = [
            (("ABC"[i], "ABC"[k]), shares[i], (shares[k][0] if "ABC"[i] not in less else 0, shares[k][1]))
            for i, k in itertools.permutations(range(3), 2)
            if limits[i] is None or ends[i][0] < limits[i]
        ]
        assert found == wanted


def test_shares_are_compared_of_a_pool_and_of_what_all_need_most():
    uneven = [even(demands=((2, 1), (3, 0), (1, 2))), even(capacity={"a": 12, "b": 0}), RACK]
    uneven.append({"machines": [{"name": "m", "capacity": even()["capacity"]}], "users": even()["users"]})
    assert [rows_of("bottleneck-fairness", answered(data)) for data in uneven] == [[]] * 4
    assert rows_of("single-resource-fairness", answered(even())) == []
    users = [{"name": name, "demand": {"a": 1}} for name in "AB"]
    alone = {"capacity": {"a": 4}, "users": users}
    rows = [(("A", "B"), (F(1, 4),) * 2, (F(1, 2),) * 2), (("B", "A"), (F(1, 2),) * 2, (F(1, 4),) * 2)]
    for property in ("single-resource-fairness", "bottleneck-fairness"):
        assert rows_of(property, answered(alone, points(1, 2))) == rows
    both = {"capacity": {"a": 4, "b": 4}, "users": [user | {"demand": {"a": 1, "b": 1}} for user in users]}
    assert rows_of("bottleneck-fairness", answered(both, points(1, 2))) == rows * 2


def test_whole_tasks_are_fair_where_no_other_division_is_fairer():
    truth = answered(even(), points(3, 1, 3), whole=True)
    with pytest.raises(answers.Open, match="not decided here"):
        rows_of("bottleneck-fairness", truth)
    with pytest.raises(answers.Open, match="has no other answer"):
        rows_of("bottleneck-fairness", truth, verdict="fails", user="B")

    def fairer(*tasks, data=None, **more):
        after = answered(data or even(), points(*tasks), whole=True, **more)
        return rows_of("bottleneck-fairness", truth, after, verdict="fails", user="B")

    # Shares 1/2, 1/8, 1/4; and 1/3, 1/4, 1/3.
    assert fairer(2, 2, 4) == [(("B",), (F(1, 8),) * 2, (F(1, 4),) * 2)]
    assert fairer(3, 1, 4) == [(("C",), (F(1, 4),) * 2, (F(1, 3),) * 2)]
    assert fairer(3, 1, 3) == []
    for more in ({"data": even(5, 5, 5)}, {"policy": "ceei"}):
        with pytest.raises(ValueError, match="the two"):
            fairer(2, 2, 4, **more)


def test_complaints_are_of_who_holds_less_than_its_weight_of_what_is_used_up():
    # All of a, and nine tenths of b, are used; C is at its limit.
    data = even(None, None, 3, capacity={"a": 12, "b": 5})
    tasks = (F(3), F(1), F(3))
    found = rows_of("no-justified-complaints", answered(data, points(*tasks)))
    held = [F(2 * 3, 12) * 4 / 1, F(3 * 1, 12) * 4 / 2]
    assert found == [(("AB"[i],), (held[i],) * 2, (1, 1)) for i in range(2)]
    assert rows_of("no-justified-complaints", answered(even(), points(3, 0, 3)))[1] == (("B",), (0, 0), (1, 1))
    # Of both that are used up the larger part counts; what is not there is not used up.
    both = even(capacity={"a": 6, "b": 3}, demands=((2, 1), (4, 2), (1, 1)))
    held = [(who, mine) for who, mine, _ in rows_of("no-justified-complaints", answered(both, points(1, 0, 2)))]
    assert held == [(("A",), (F(1, 3) * 4,) * 2), (("B",), (0, 0)), (("C",), (F(8, 3),) * 2)]
    both = even(capacity={"a": 4, "b": 3}, demands=((2, 1), (4, 2), (1, 1)))
    held = [(who, mine) for who, mine, _ in rows_of("no-justified-complaints", answered(both, points(1, 0, 2)))]
    assert held == [(("A",), (2, 2)), (("B",), (0, 0)), (("C",), (F(8, 3),) * 2)]
    none = even(capacity={"a": 6, "b": 0}, demands=((2, 0), (4, 0), (1, 0)))
    held = [(who, mine) for who, mine, _ in rows_of("no-justified-complaints", answered(none, points(1, 0, 4)))]
    assert held == [(("A",), (F(4, 3),) * 2), (("B",), (0, 0)), (("C",), (F(8, 3),) * 2)]
    for wrong in (answered(RACK, points(1, 1, 1)), answered(enclosed=True)):
        with pytest.raises(answers.Open, match="in a pool and in fractions only"):
            rows_of("no-justified-complaints", wrong)


# ---- other clusters --------------------------------------------------------------------------------------------------


def changed(**more):
    """The pool with another A."""
    return POOL | {"users": [{k: v for k, v in (USERS[0] | more).items() if v is not None}, *USERS[1:]]}


@pytest.mark.parametrize("report", [{"demand": {"a": 2, "b": 3}}, {"demand": {"a": 2, "b": 3}, "max_tasks": 4}])
def test_a_report_brings_what_the_true_tasks_are(report):
    truth, after = answered(changed(max_tasks=5)), answered(changed(**report), points(2, 2, 2))
    found = rows_of("strategy-proofness", truth, after, verdict="fails", user="A")
    # Two tasks of 2 and 3 are three of 1 and 2.
    assert found == [(("A",), ENDS[0], (3, 3))]
    found = rows_of("strategy-proofness", answered(changed(max_tasks=2)), after, verdict="fails", user="A")
    assert found == [(("A",), ENDS[0], (2, 2))]


def test_a_group_reports_together():
    users = [USERS[0] | {"demand": {"a": 1, "b": 1}}, USERS[1] | {"demand": {"a": 3}}, USERS[2]]
    after = answered(POOL | {"users": users}, points(4, 2, 2))
    finding = {"verdict": "fails", "users": ["A", "B"]}
    found = rows_of("group-strategy-proofness", answered(), after, **finding)
    assert found == [(("A",), ENDS[0], (2, 2)), (("B",), ENDS[1], (0, 0))]
    with pytest.raises(ValueError, match="one user reports what is not true"):
        rows_of("strategy-proofness", answered(), after, **finding)


def test_what_is_no_report_is_refused():
    def lied(data, who="A", **more):
        return rows_of("strategy-proofness", answered(), answered(data, **more), verdict="fails", user=who)

    for data in (changed(weight=1), POOL | {"capacity": {"a": 25, "b": 16}}):
        with pytest.raises(ValueError, match="differ in more"):
            lied(data)
    with pytest.raises(ValueError, match="differ in more"):
        lied(changed(demand={"a": 5}), who="B")
    for more in ({"policy": "ceei"}, {"whole": True}):
        with pytest.raises(ValueError, match="of different policies"):
            lied(changed(demand={"a": 5}), **more)
    for property, said in (("strategy-proofness", "for a theorem"), ("resource-monotonicity", "for a theorem")):
        with pytest.raises(answers.Open, match=said):
            rows_of(property, answered(), answered())
    for property in ("strategy-proofness", "resource-monotonicity", "pareto-efficiency"):
        with pytest.raises(answers.Open, match="has no other answer"):
            rows_of(property, answered(), verdict="fails", user="A")
        with pytest.raises(ValueError, match="compares two answers, not 3"):
            rows_of(property, answered(), answered(), answered(), verdict="fails", user="A")


def without(i, **more):
    return answered(POOL | {"users": [u for k, u in enumerate(USERS) if k != i]}, points(*range(4, 6)), **more)


def test_who_leaves_takes_nothing_from_others():
    found = rows_of("population-monotonicity", answered(), without(1), without(0), without(2))
    assert found == [
        (("A", "B"), (4, 4), ENDS[0]), (("C", "B"), (5, 5), ENDS[2]), (("B", "A"), (4, 4), ENDS[1]),
        (("C", "A"), (5, 5), ENDS[2]), (("A", "C"), (4, 4), ENDS[0]), (("B", "C"), (5, 5), ENDS[1]),
    ]  # fmt: skip
    with pytest.raises(answers.Open, match="no answer without C"):
        rows_of("population-monotonicity", answered(), without(1), without(0))
    assert len(rows_of("population-monotonicity", answered(), without(1), verdict="fails", user="A", other="B")) == 2
    one = POOL | {"users": USERS[:1]}
    assert rows_of("population-monotonicity", answered(one, ENDS[:1])) == []
    with pytest.raises(answers.Open, match="no answer without A"):
        rows_of("population-monotonicity", answered(POOL | {"users": USERS[:2]}, ENDS[:2]))
    with pytest.raises(ValueError, match="nobody has left"):
        rows_of("population-monotonicity", answered(), answered())
    with pytest.raises(ValueError, match="differ in more"):
        rows_of(
            "population-monotonicity",
            answered(),
            answered(POOL | {"capacity": {"a": 9, "b": 9}, "users": USERS[1:]}, ENDS[1:]),
        )


def grown(data, after):
    return rows_of("resource-monotonicity", answered(data), answered(after, points(1, 2, 3)), verdict="fails", user="A")


def machines(*rows):
    return RACK | {"machines": [one | more for one, more in zip(RACK["machines"], rows, strict=True)]}


def test_growth_takes_nothing_from_anybody():
    wanted = [(("A",), (1, 1), ENDS[0]), (("B",), (2, 2), ENDS[1]), (("C",), (3, 3), ENDS[2])]
    assert grown(POOL, POOL | {"capacity": {"a": 24, "b": 17}}) == wanted
    assert (
        grown(RACK, machines({"count": 3}, {})) == grown(RACK, machines({}, {"capacity": {"a": 9, "b": 5}})) == wanted
    )
    for before, after in (
        (POOL, POOL | {"capacity": {"a": 30, "b": 15}}), (RACK, machines({"count": 1}, {"count": 2})),
        (RACK, machines({"count": 3}, {"capacity": {"a": 8, "b": 9}})), (RACK, machines({}, {"count": 1, "name": "k"})),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="has less of something"):
            grown(before, after)
    for before, after in (
        (POOL, changed(weight=1)), (POOL, POOL | {"users": USERS[::-1]}),
        (RACK, machines({"count": 3}, {}) | {"users": USERS}),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="differ in more"):
            grown(before, after)


def test_a_better_division_takes_nothing_from_anybody():
    truth = answered(POOL, points(1, 2, 3))

    def better(*tasks, data=POOL, who="A"):
        return rows_of("pareto-efficiency", truth, answered(data, points(*tasks)), verdict="fails", user=who)

    assert better(2, 2, 3) == [(("A",), (1, 1), (2, 2)), (("B",), (2, 2), (2, 2)), (("C",), (3, 3), (3, 3))]
    assert better(0, 2, 3)[0] == (("A",), (1, 1), (0, 0)), "who is named loses by what is compared"
    with pytest.raises(ValueError, match="B has less in the other division"):
        better(2, 1, 3)
    with pytest.raises(ValueError, match="differ in more"):
        better(2, 2, 3, data=changed(max_tasks=7))
    # Two ends of which the lower is below what there was.
    wide = answered(POOL, [(F(1), F(1)), (F(1), F(3)), (F(3), F(3))])
    with pytest.raises(ValueError, match="B has less"):
        rows_of("pareto-efficiency", truth, wide, verdict="fails", user="A")
    before = answered(POOL, [(F(1), F(1)), (F(1), F(3)), (F(3), F(3))])
    with pytest.raises(ValueError, match="B has less"):
        rows_of("pareto-efficiency", before, truth, verdict="fails", user="A")


def test_nothing_is_better_where_all_count_or_what_they_need_is_used_up():
    """All of a is used, and not of b, which alone C needs."""
    users = [USERS[0], USERS[1], USERS[2] | {"demand": {"b": 1}}]
    data = {"capacity": {"a": 7, "b": 9}, "users": users}
    ends, counted, not_c = points(1, 2, 2), [F(1)] * 3, [F(1), F(1), F(0)]

    def wasted(data=data, ends=ends, **more):
        return rows_of("pareto-efficiency", answered(data, ends, **more))

    for objective in ("leximin", "sum", "alpha"):
        assert wasted(r=counted, objective=objective) == []
        with pytest.raises(answers.Open, match="does not count"):
            wasted(r=not_c, objective=objective)
    with pytest.raises(answers.Open, match="does not count"):
        wasted(r=counted, objective="servers")
    # Whoever is stopped by what is used up, or at its limit, need not count.
    assert wasted(r=[F(0), F(0), F(1)]) == []
    both = data | {"capacity": {"a": 7, "b": 6}}
    assert wasted(both, r=[F(0)] * 3, objective="servers") == []
    with pytest.raises(answers.Open, match="does not count"):
        wasted(both, points(1, 1, 1), r=[F(0)] * 3)
    limit = data | {"users": [*users[:2], users[2] | {"max_tasks": 2}]}
    assert wasted(limit, r=[F(0)] * 3, objective="servers") == []
    for more in ({"whole": True}, {"enclosed": True}):
        with pytest.raises(answers.Open, match="does not count"):
            wasted(r=[F(0), F(0), F(1)], **more)
        assert wasted(r=counted, **more) == []
    rack = {"machines": [{"name": "m", "capacity": data["capacity"]}], "users": users}
    with pytest.raises(answers.Open, match="does not count"):
        wasted(rack, r=[F(0), F(0), F(1)])


# ---- verdicts --------------------------------------------------------------------------------------------------------


INTERVALS = [(F(low), F(high)) for low, high in ((0, 0), (1, 1), (0, 1), (1, 2), (0, 2))]


def judged(monkeypatch, rows, **finding):
    """What is recorded of a finding, where these rows are compared."""
    monkeypatch.setitem(audited.TABLE, "envy-freeness", lambda asking: iter(rows))
    report = Report()
    truth = answered()
    audited._decided({"property": "envy-freeness"} | finding, (truth.claim, {"instance": truth.instance}), [], report)
    (check,) = report.checks
    return check


def test_a_verdict_is_right_where_ends_are_apart(monkeypatch):
    for mine, more, beside in itertools.product(
        INTERVALS, INTERVALS, [(), ((("B", "A"), (F(3), F(3)), (F(0), F(4))),)]
    ):
        rows = [(("A", "B"), mine, more), *beside]
        check = judged(monkeypatch, rows, verdict="fails", user="A", other="B")
        assert check.holds is (mine[1] < more[0])
        assert check.name.startswith("envy-freeness fails; A and B: ") and check.name.count(";") == 1
        check = judged(monkeypatch, rows, verdict="holds")
        assert check.holds is (False if mine[1] < more[0] else None if mine[0] < more[1] or beside else True)
        assert check.name == "envy-freeness holds" and (check.holds is True or " beside " in check.worst)


def test_each_of_a_group_loses(monkeypatch):
    rows = [((name,), (F(0), F(0)), (F(x), F(x))) for name, x in zip("ABC", (1, 0, 2), strict=True)]
    for users, right in ((["A"], True), (["A", "C"], True), (["A", "B"], False), (["A", "D"], False)):
        check = judged(monkeypatch, rows, verdict="fails", users=users)
        assert check.holds is right
    with pytest.raises(KeyError):
        judged(monkeypatch, rows, verdict="fails")
    check = judged(monkeypatch, rows, verdict="fails", user="D")
    assert (check.holds, check.worst) == (False, "that is no loss")
    assert judged(monkeypatch, rows, verdict="fails", users=[], user="A").holds is False
    assert judged(monkeypatch, [], verdict="holds").holds is True


def test_ends_are_told():
    assert audited._ends((F(1, 3), F(1, 3))) == "1/3" and audited._ends((F(1, 3), F(1, 2))) == "about 0.333333333333"


@pytest.mark.parametrize(
    ("finding", "said"),
    [
        ({"verdict": "holds", "property": "beauty"}, "of that nothing is decided here"),
        ({"verdict": "holds", "property": "beauty", "why": "who knows"}, "who knows"),
        ({"verdict": "no violation found", "property": "envy-freeness"}, "of that nothing is decided here"),
    ],
)
def test_what_is_no_verdict_or_no_property_is_left_open(finding, said):
    report, truth = Report(), answered()
    audited._decided(finding, (truth.claim, {"instance": truth.instance}), [], report)
    (check,) = report.checks
    assert (check.holds, check.worst) == (None, said)


def test_one_answer_is_compared_alone():
    truth = answered(even(), points(3, 1, 3))
    for property in ("sharing-incentive", "envy-freeness", "envy-up-to-one-task", "no-justified-complaints",
                     "bottleneck-fairness"):  # fmt: skip
        finding = {"property": property, "verdict": "holds"}
        with pytest.raises(ValueError, match="compares one answer, not 2"):
            audited._decided(
                finding,
                (truth.claim, {"instance": truth.instance}),
                [(truth.claim, {"instance": truth.instance})],
                Report(),
            )
