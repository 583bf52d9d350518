"""Random degenerate instances beside an oracle of its own; and the oracle can fail."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import cases
import kinds
import numpy as np
import pytest
from campaign import BAD, Result, refusals, results
from judge import Verdict, judge
from simplex import Polytope

from drfopt import Instance, solve


def bad(seed: int, numbers: range) -> list:
    return [result for result in results(seed, numbers) if result.verdict.word in BAD]


def test_markets_of_numbers_a_million_apart_are_answered():
    words = [result.verdict.word for result in results(5, range(60), cases.skewed)]
    assert set(words) <= {"right", "not judged"}
    assert words.count("right") > 50


def test_a_few_markets_and_sums_under_rules_are_right_or_refused():
    words = Counter(result.verdict.word for result in results(6, range(60), cases.bounded))
    assert words["right"] > 45 and not words["wrong"] and not words["fault"]


@pytest.mark.parametrize(("seed", "number"), [*((2, n) for n in (1289, 1497, 5971, 14700, 18957, 26360)), (17, 3290)])
def test_a_market_or_sum_under_rules_that_was_wrong_or_refused_once_is_right(seed, number):
    assert [result.verdict.word for result in results(seed, range(number, number + 1), cases.bounded)] == ["right"]


@pytest.mark.slow
def test_many_markets_and_sums_under_rules_are_right_or_refused(some):
    assert not [r for r in results(7, range(some(5_000)), cases.bounded) if r.verdict.word in BAD]


def test_a_few_whole_tasks_under_rules_on_machines_and_utilities_of_several_types_are_right():
    words = Counter(result.verdict.word for result in results(31, range(60), cases.whole))
    assert words["right"] > 50 and not words["wrong"] and not words["fault"]


def test_whole_tasks_that_were_a_fault_once_are_right():
    assert [result.verdict.word for result in results(31, range(9452, 9453), cases.whole)] == ["right"]


def test_a_few_divisions_of_every_machine_by_itself_are_right_or_refused_and_so_are_their_files():
    words = Counter(result.verdict.word for result in results(41, range(40), cases.servers, files=True))
    assert words["right"] > 30 and set(words) <= {"right", "not judged", "refused: PolicyError"}


@pytest.mark.slow
@pytest.mark.parametrize("draw", [cases.servers, cases.drawn, cases.skewed, cases.bounded, cases.whole])
def test_files_of_right_answers_are_accepted_and_those_of_less_are_not(draw, some):
    assert not [result for result in results(42, range(some(600)), draw, files=True) if result.verdict.word in BAD]


def test_another_division_of_a_machine_is_called_wrong():
    case = cases.Case("small", "per-server", "whole", [[1, 3], [2, 1]], None, machines=[([7, 11], 2)])
    found = solve(case.instance(), "per-server", integer=True)
    assert judge(case, found) == ("right", "")
    proof = found.certificate
    other = replace(proof, evidence=replace(proof.evidence, packing=[(0, 2, {0: 1, 1: 3})]))
    assert judge(case, replace(found, certificate=other)).word == "wrong"


@pytest.mark.parametrize("name", kinds.KINDS)
def test_a_few_of_every_kind_of_whole_tasks_are_right_and_so_are_their_files(name):
    words = Counter(kinds.judged(name, number, files=True)[0] for number in range(5))
    assert words["right"] > 1 and set(words) <= {"right", "refused", "not drawn"}


@pytest.mark.slow
@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", kinds.KINDS)
def test_thousands_of_every_kind_of_whole_tasks_are_right(name, some):
    words = Counter(kinds.judged(name, number)[0] for number in range(100, 100 + some(5_000)))
    assert words["right"] > some(3_500) and set(words) <= {"right", "refused", "not drawn"}


@pytest.mark.parametrize("name", ["leximin, drf, pool", "devices", "groups, pool", "tiers of sums", "per-server"])
def test_less_than_the_best_of_a_kind_is_called_wrong(name, monkeypatch):
    def less(instance, policy, **how):
        found = solve(instance, policy, **how)
        fewer = found.tasks - (np.arange(instance.n) == found.tasks.argmax())
        evidence = found.certificate.evidence
        packing = [(k, count, {}) for k, count, _ in evidence.packing or ()]
        return replace(
            found, tasks=fewer, certificate=replace(found.certificate, evidence=replace(evidence, packing=packing))
        )

    monkeypatch.setattr(kinds, "solve", less)
    words = Counter(kinds.judged(name, number)[0] for number in range(10))
    assert words["wrong"] > 3 and set(words) <= {"wrong", "refused", "not drawn", "right"}


@pytest.mark.slow
def test_many_whole_tasks_under_rules_on_machines_and_utilities_of_several_types_are_right_or_refused(some):
    assert not [r for r in results(32, range(some(10_000)), cases.whole) if r.verdict.word in BAD]


def test_whole_tasks_under_rules_that_are_placed_where_they_do_not_fit_are_called_wrong():
    machines = [([3, 3], 1), ([2, 2], 1)]
    case = cases.Case("small", "drf", "whole", [[2, 1]], None, machines=machines, guarantees={0: {"r0": 2}})
    found = solve(case.instance(), "drf", integer=True)
    assert judge(case, found) == ("right", "")
    assert judge(case, replace(found, placed=lambda: np.array([[2, 0]]))).word == "wrong"


def test_a_few_random_instances_are_right_or_refused():
    assert not bad(20, range(80))


@pytest.mark.parametrize(
    ("seed", "number"),
    [
        (5, 6726),
        (63, 6956),
        (77, 51328),
        (77, 61841),
        (77, 65839),
        (77, 70029),
        (41, 13988),
        (1, 38671),
        (102, 81108),
        (900, 352),
        (900, 17127),
        (900, 23571),
        (900, 38825),
        (1001, 6706),
        (1002, 7749),
        (1002, 16159),
        (801, 50099),
        (801, 80333),
    ],
)
def test_what_was_wrong_once_is_right_or_refused(seed, number):
    assert not bad(seed, range(number, number + 1))


@pytest.mark.slow
def test_many_random_instances_are_right_or_refused(some):
    assert not bad(21, range(some(10_000)))


def test_who_spends_next_to_nothing_has_the_right_tasks():
    market = Instance([[1, 1], [1, 0], [1, 1]], [10, 10], weights=[2, 1e-15, 1e-15])
    exact = solve(market, "ceei", exact=True).tasks
    assert solve(market, "ceei").tasks == pytest.approx([float(tasks) for tasks in exact], rel=1e-8, abs=0)


def test_a_wrong_answer_is_called_wrong():
    judged = 0
    for number in range(60):
        case = cases.drawn(22, number)
        if case.mode != "divisible" or case.organised or case.machines:
            continue
        try:
            found = solve(case.instance(), case.policy)
        except Exception:
            continue
        if not found.tasks.any():
            continue
        factor = np.where(np.arange(case.n) == found.tasks.argmax(), 1 - 1e-6, 1)
        assert judge(case, found).word == "right"
        assert judge(case, replace(found, tasks=found.tasks * factor)).word == "wrong"
        judged += 1
    assert judged > 10


def test_an_answer_where_somebody_has_no_level_is_called_wrong():
    case = cases.Case("small", "tsf", "divisible", [[0, 1]], None, machines=[([1, 1], 1)], tiers={0: 1})
    found = solve(case.instance(), "tsf")
    assert judge(case, found).word == "right"
    assert judge(replace(case, excluded=("r1",)), found).word == "wrong"


def test_a_wrong_market_under_rules_is_called_wrong():
    case = cases.Case("small", "ceei", "divisible", [[1], [1]], [10], guarantees={0: {"r0": 4}}, weights=[1, 3])
    found = solve(case.instance(), "ceei")
    assert judge(case, found) == ("right", "")
    for tasks in ([5.0, 5.0], [3.9, 6.1], [4.0, 5.9], [4.0, 6.1]):
        assert judge(case, replace(found, tasks=np.array(tasks))).word == "wrong"


def test_the_simplex_ends_at_the_optimum_and_knows_what_has_no_end():
    # max x + y, x + 2 y <= 4, 3 x + y <= 6: at (8/5, 6/5); without the first row still, without both never.
    plane = Polytope(["x", "y"])
    plane.add("one", {"x": Fraction(-1), "y": Fraction(-2)}, Fraction(4))
    plane.add("two", {"x": Fraction(-3), "y": Fraction(-1)}, Fraction(6))
    plane.add("sum", {"x": Fraction(1), "y": Fraction(1)}, Fraction(0), free=True)
    assert plane.maximise("sum") == Fraction(14, 5)
    assert (plane.value("x"), plane.value("y")) == (Fraction(8, 5), Fraction(6, 5))
    line = Polytope(["x"])
    line.add("all", {"x": Fraction(1)}, Fraction(0), free=True)
    assert line.maximise("all") is None


def test_refusals_are_counted_by_what_they_say():
    said = "single:r0 compares shares of 'r0', but user 'u1' demands none of it"
    refused = Verdict("refused: PolicyError", said)
    found = [
        Result(3, "pool, exact", refused, 0.0),
        Result(5, "pool, exact", Verdict("right"), 0.0),
        Result(8, "pool, exact", refused._replace(why=said.replace("0", "2")), 0.0),
    ]
    sentence = "PolicyError: single:~ compares shares of ~, but user ~ demands none of it"
    assert refusals(found).split() == ["2", *sentence.split(), "(the", "first", "is", "3)"]
