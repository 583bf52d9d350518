"""Every sentence of `explain`, `price` and the advice is judged by doing what it says; and the judges can fail."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest
import said
import said_world
from said_notes import NOTES
from said_prices import NUMBERS, PRICED
from said_users import ROWS, TEMPLATES

from drfopt import Instance, Machine, Organisation, explain, price

TABLES = (TEMPLATES, NOTES, PRICED)
CLAIMS_NOTHING = {
    *("untried", "not known", "unplaced, device", "alone", "means", "unproven", "pooled", "--json", "buy by size"),
    *("unplaced more", "total price of", "unpriced", "hidden", "market", "drawn", "how far", "range"),
    "unknown",
}
"""Lines that say where something is found, or what a number is."""


def wrong(families, numbers) -> list:
    found = [line for family in families for number in numbers for line in said.judged(family, number)]
    assert not any(isinstance(line, str) and line.startswith("fault") for line in found)
    return [line for line in found if isinstance(line, said.Line) and line.wrong]


def test_every_template_has_a_judge_that_claims_something():
    for table in TABLES:
        for name, pattern, judge in table:
            assert callable(judge), name
            assert (judge is said_world.true_by_itself) is (name in CLAIMS_NOTHING), pattern
    assert all(map(callable, (*ROWS.values(), *NUMBERS.values())))


@pytest.mark.parametrize("family", said.FAMILIES)
def test_a_few_of_every_family_say_what_is_so(family):
    assert not wrong([family], range(1))


@pytest.mark.slow
@pytest.mark.sampled(3)
@pytest.mark.parametrize("family", said.FAMILIES)
def test_many_of_every_family_say_what_is_so(family, some):
    assert not wrong([family], range(100, 100 + some(200)))


def test_a_sentence_that_no_template_knows_is_a_fault(monkeypatch):
    monkeypatch.setattr(said, "TEMPLATES", TEMPLATES[:2])
    cluster = Instance({"u0": {"cpu": 1}, "u1": {"cpu": 2}}, {"cpu": 4})
    assert Counter(line.template for line in said.lines(cluster, "drf", "divisible") if line.wrong) == {"?": 2}


@pytest.mark.parametrize(("classes", "left"), [(1, Fraction(1, 10**9)), (2, Fraction(1, 10**7))])
def test_a_cell_is_full_when_nothing_is_left_of_it_and_of_floats_almost_nothing(classes, left):
    """Next to where another resource is used up less than a millionth of it was left, and it was called full."""
    rooms = [Machine(f"c{k}", {"r0": 1, "r1": 2}) for k in range(classes)]
    place = said_world.Places(Instance({"u0": {"r0": 1, "r1": 1}}, machines=rooms))
    full = {(k, 0) for k in range(classes)}
    assert place.filled([Fraction(classes)]) == place.filled([float(classes - left)]) == full
    assert not place.filled([classes - left])


def test_other_numbers_than_those_that_are_so_are_called_wrong(monkeypatch):
    """Of each sentence with a number another one is told, of each row another."""
    users, machines = {"u0": {"cpu": 1}, "u1": {"cpu": 2}}, [Machine("m", {"cpu": 4}, 2), Machine("k", {"cpu": 3})]
    for cluster in (Instance(users, {"cpu": 7}, max_tasks=[1, None]), Instance(users, machines=machines)):
        right = explain(cluster)
        assert not [line for line in said.lines(cluster, "drf", "divisible") if line.wrong]
        for at, row in enumerate(right.users):
            remedy = row.remedy.replace("give it ", "give it 1").replace("up to ", "up to 1")
            for other in (
                replace(row, tasks=row.tasks * 1.01),
                replace(row, alone_tasks=row.alone_tasks * 2),
                replace(row, reason="ceiling" if row.reason == "capacity" else "capacity"),
                replace(row, others=row.others + 1),
                replace(row, advice=partial(str, remedy)),
            ):
                then = replace(right, users=(*right.users[:at], other, *right.users[at + 1 :]))
                monkeypatch.setattr(said, "explain", partial(_same, then))
                assert [line for line in said.lines(cluster, "drf", "divisible") if line.wrong], other
            monkeypatch.undo()


def test_another_price_of_a_side_under_rules_is_called_wrong_and_a_kink_of_which_nothing_is_said(monkeypatch):
    """A task fills a whole machine, and a limit is met as the cluster is full."""
    rules, machines = Organisation(guarantees={"u1": {"gpu": 2}}), [Machine("m", {"gpu": 2}, 4)]
    users = {"u0": {"gpu": 1}, "u1": {"gpu": 2}}
    cluster = Instance(users, machines=machines, max_tasks=[4, None], organisation=rules)
    right = price(cluster)
    assert not [line for line in said.lines(cluster, "drf", "divisible") if line.wrong]
    for worth in right.units:
        half = replace(worth, more=replace(worth.more, price=worth.more.price / 2))
        others = [half] if worth.less is None else [half, replace(worth, less=worth.more)]
        for other in others:
            units = tuple(other if one is worth else one for one in right.units)
            monkeypatch.setattr(said, "price", partial(_same, replace(right, units=units)))
            assert [line for line in said.lines(cluster, "drf", "divisible") if line.wrong], other
            monkeypatch.undo()


def _same(found, *_, **__):
    return found
