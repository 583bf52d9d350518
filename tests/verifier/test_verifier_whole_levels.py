"""What whole tasks are worth on the way to a leximin, and what guarantees are worth in whole tasks, by enumeration."""

import itertools
from fractions import Fraction as F
from types import SimpleNamespace

import pytest
from test_verifier_mutants import file_of

from drfopt import Group, Instance, Organisation
from drfopt.certificates.verifier.branches import Undecided
from drfopt.certificates.verifier.claims import Claim
from drfopt.certificates.verifier.cluster import Cluster
from drfopt.certificates.verifier.whole_levels import Scale, whole_promises

UNIT = 6
LINES = {
    "one": [(F(1, 2), F(0))],
    "one, and others below it": [(F(1, 2), F(0)), (F(1, 3), F(0)), (F(1, 2), F(1, 6)), (F(1, 3), F(1, 2))],
    "two": [(F(1, 3), F(0)), (F(1), F(3, 2))],
    "two above nothing": [(F(1, 3), F(1, 2)), (F(1), F(3))],
    "steep": [(F(5, 6), F(1, 3))],
}


def scale(lines, most=7, rank=(1, 0), promise=0, parts=24, place=0):
    cluster = SimpleNamespace(rank=[rank], users=["A"])
    claim = SimpleNamespace(sequences=[SimpleNamespace(most=most)], lines=[lines], c=cluster)
    return Scale(claim, 0, UNIT, promise, parts, place)


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize(("promise", "place"), [(0, 0), (3, 0), (3, 1), (4, 1), (8, 1)])
def test_tasks_are_worth_their_part_of_a_promise_and_then_their_level(name, promise, place):
    mine = scale(LINES[name], promise=promise, place=place)

    def worth(x):
        if x < promise:
            return (0,), 24 // promise * x + place
        return (1, (1, 0)), max(UNIT * (slope * x - offset) for slope, offset in LINES[name])

    every = [worth(x) for x in range(200)]
    assert [mine.value(x) for x in range(200)] == every
    asked = itertools.product([(0,), (1, (0, 5)), (1, (1, 0)), (1, (1, 1))], range(-30, 50))
    for value in asked:
        least = mine.least(value)
        if value[0] == (1, (1, 1)):  # Nothing is worth so much.
            assert least > 7 and mine.at(value) is None
            continue
        assert least == next(x for x, of in enumerate(every) if of >= value)
        assert mine.at(value) == (least if least <= 7 and every[least] == value else None)


def test_alike_are_those_whose_levels_rise_alike():
    alike = {name: scale(lines).alike for name, lines in LINES.items()}
    assert alike["one"] == alike["one, and others below it"]
    assert len(set(alike.values())) == len(LINES) - 1
    for other in ({"most": 8}, {"rank": (1, 1)}, {"promise": 2}):
        assert scale(LINES["two"], **other).alike != alike["two"]


def test_without_a_level_nothing_is_said():
    with pytest.raises(Undecided, match="the level of A is 0 whatever it has"):
        scale([(F(0), F(0))])


ROWS = {"A": {"a": 1}, "B": {"a": 2}}
SIX = {"groups": [Group("g", guarantee={"a": 6})], "paths": {"A": "g", "B": "g"}}

PROMISES = [
    # Of 6 together, what each has when all have as much by weight; of shares, or of tasks.
    ("drf", ROWS, {"weights": [2, 1]}, SIX, [4, 1]),
    ("ceei", ROWS, {"weights": [2, 1]}, SIX, [4, 1]),
    ("utilitarian", ROWS, {"weights": [2, 1]}, SIX, [3, 1]),
    ("tasks", ROWS, {"weights": [2, 1]}, SIX, [3, 1]),
    ("throughput", ROWS, {"weights": [2, 1]}, SIX, [2, 2]),
    ("drf", ROWS, {"max_tasks": [F(5, 2), None]}, SIX, [2, 1]),
    ("drf", ROWS, {}, {"guarantees": {"A": {"a": 3}, "B": {"a": 5}}}, [3, 2]),
    ("drf", ROWS, {"max_tasks": [0, None]}, {"guarantees": {"A": {"a": 3}, "B": {"a": 5}}}, [0, 2]),
]


@pytest.mark.parametrize(("policy", "rows", "more", "rules", "promised"), PROMISES)
def test_a_promise_is_worth_what_divisible_tasks_are_rounded_down(policy, rows, more, rules, promised):
    found = file_of(Instance(rows, {"a": 30}, organisation=Organisation(**rules), **more), policy, integer=True)
    assert whole_promises(Claim(Cluster(found["instance"]), found)) == promised
