"""What planning says beside oracles of its own; and no sentence is without a judge."""

from collections import Counter
from dataclasses import replace

import bought
import changed
import moved
import pytest
from plain import Edit

from drfopt import rebalance, size
from drfopt.planning.before_and_after import WhatIf
from drfopt.planning.changes import KINDS
from drfopt.planning.rebalancing.rebalancing import MoveStep


def wrong(draw, judge, seed: int, numbers: range) -> tuple[list, Counter]:
    """Return what was wrong, and how often each sentence was judged."""
    found, said = [], Counter()
    for number in numbers:
        case = draw(seed, number)
        word, why = judge(case)
        said += case.said
        if word == "wrong":
            found.append((number, why))
    return found, said


def test_a_few_comparisons_and_sweeps_say_what_is_so():
    found, said = wrong(changed.drawn, changed.judged, 1, range(40))
    assert not found and said["row of a comparison"] > 40 and said["row of a sweep"] > 20


@pytest.mark.slow
def test_many_comparisons_and_sweeps_say_what_is_so(some):
    numbers = range(some(3_000))
    found, said = wrong(changed.drawn, changed.judged, 2, numbers)
    assert not found
    rare = {template for template in changed.NOTES if "not proven" in template}
    assert len(numbers) < 3_000 or not set(changed.NOTES) - set(said) - rare


@pytest.mark.parametrize(("campaign", "row"), [(bought, "row of a purchase"), (moved, "row of a plan")])
def test_a_few_purchases_and_plans_say_what_is_so(campaign, row):
    found, said = wrong(campaign.drawn, campaign.judged, 1, range(25))
    assert not found and said[row] > 10


@pytest.mark.slow
@pytest.mark.parametrize("campaign", [bought, moved])
def test_many_purchases_and_plans_say_what_is_so(campaign, some):
    assert not wrong(campaign.drawn, campaign.judged, 2, range(some(1_500)))[0]


def test_a_dearer_purchase_and_a_longer_way_are_called_wrong(monkeypatch):
    def dearer(*asked, **how):
        found = size(*asked, **how)
        return found if found.cost is None else replace(found, bound=found.cost * 2, cost=found.cost + 1)

    def longer(*asked, **how):
        found = rebalance(*asked, **how)
        return replace(found, steps=(*found.steps, MoveStep("u", 1, None, "the pool")))

    monkeypatch.setattr(bought, "size", dearer)
    monkeypatch.setattr(moved, "rebalance", longer)
    for campaign in (bought, moved):
        assert len(wrong(campaign.drawn, campaign.judged, 1, range(15))[0]) > 3


def test_every_kind_of_change_is_drawn():
    kinds = {str(edit).partition(" ")[0] for number in range(150) for edit in changed.drawn(3, number).edits}
    assert kinds == {kind.name for kind in KINDS}


def test_a_sentence_that_no_judge_knows_is_wrong(monkeypatch):
    monkeypatch.setattr(WhatIf, "caveats", lambda self: ["this is new"])
    found, said = wrong(changed.drawn, changed.judged, 1, range(10))
    assert len(found) > 3 and {why for _, why in found} == {"no judge knows: this is new"} and said


def test_a_change_that_is_made_otherwise_is_called_wrong():
    case = changed.drawn(1, 0)
    case.edits, case.axis = [Edit("add-user n{cpu=1}", lambda after: None)], None
    assert changed.judged(case)[0] == "wrong"
