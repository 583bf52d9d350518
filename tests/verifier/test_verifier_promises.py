"""What promises are worth in whole tasks to the verifier: scales by enumeration, and files that mutants let pass."""

import itertools
from fractions import Fraction as F
from types import SimpleNamespace

import pytest
from test_verifier_branches import claimed
from test_verifier_mutants import mutant_of, verdict

from drfopt import Group, Instance, Organisation
from drfopt.certificates.verifier import verify
from drfopt.certificates.verifier.branches import Undecided
from drfopt.certificates.verifier.whole_levels import Scale

LINES = [[(F(1, 3), F(0))], [(F(1, 2), F(1)), (F(1, 3), F(0))], [(F(1, 4), F(0)), (F(1, 4), F(1, 2)), (F(1), F(3))]]
USERS = list(itertools.product(LINES, (0, 2, 3), (0, 1)))
"""Slopes and offsets, whole tasks that are promised, and ranks."""

MOST, UNIT, PARTS = 6, 12, 12


def scale(lines, promise, rank):
    claim = SimpleNamespace(
        sequences=[SimpleNamespace(most=MOST)], c=SimpleNamespace(rank=[rank], users=["A"]), lines=[lines]
    )
    return Scale(claim, 0, UNIT, promise, PARTS, rank)


def worth(lines, promise, rank, x):
    """What x tasks are worth: below a promise the part of it and the rank, and then rank and level."""
    if x < promise:
        return (0, F(x, promise), rank)
    return (1, rank, max(slope * x - offset for slope, offset in lines))


def test_values_of_whole_tasks_are_in_the_order_of_what_they_are_worth():
    every = [(scale(*user).value(x), worth(*user, x)) for user in USERS for x in range(MOST + 1)]
    for (value, own), (other, its) in itertools.product(every, repeat=2):
        assert (value < other) == (own < its)


def test_the_fewest_tasks_of_a_value_are_those_of_all_that_are_worth_as_much():
    every = {value for user in USERS for x in range(MOST + 1) if (value := scale(*user).value(x))}
    for user, value in itertools.product(USERS, every):
        mine = scale(*user)
        enough = [x for x in range(MOST + 1) if mine.value(x) >= value]
        assert min(mine.least(value), MOST + 1) == min(enough, default=MOST + 1)
        same = [x for x in range(MOST + 1) if mine.value(x) == value]
        assert mine.at(value) == min(same, default=None)


def test_who_has_no_level_has_no_scale():
    with pytest.raises(Undecided, match="the level of A is 0 whatever it has"):
        scale([(F(0), F(0))], 0, 0)


# ---- promises to groups ----------------------------------------------------------------------------------------------


def promised_together(policy, tasks, trees):
    """A and B, whose task is three times as large, in a group that is promised 6, and C beside them, on 8."""
    rows = {"A": {"a": 1}, "B": {"a": 3}, "C": {"a": "1/2" if policy == "throughput" else 1}}
    groups = [Group("g", guarantee={"a": 6}), Group("h")]
    rules = Organisation(paths={"A": "g", "B": "g", "C": "h"}, groups=groups)
    pool = Instance(rows, {"a": 8}, organisation=rules)
    return claimed(pool, list(tasks), [], trees, policy)


def summed():
    """The most tasks beside three and one, which are promised by shares; of tasks one each is."""
    return promised_together("throughput", (3, 1, 4), [[{"prices": {"a": "1"}}]])


def multiplied():
    """The largest product where one task each is promised, or none; by shares three and one are."""
    return promised_together("ceei", (2, 1, 3), [TREE])


TREE = [
    {"user": "B", "most": 1},
    {"prices": {"a": "3/5"}},
    {"prices": {"a": "1"}},
]

RULES = """{"policy": claim.policy, "integer": False, "users": rows})
    rules.by_weight = claim.by_weight"""

MUTANTS = [
    (RULES, '{"policy": "drf", "integer": False, "users": rows})', summed),
    (RULES, '{"policy": "tasks", "integer": False, "users": rows})', multiplied),
    ("worth.get(i, 0)", "claim.c.floor[i]", multiplied),
]


@pytest.mark.parametrize(("old", "new", "forge"), MUTANTS, ids=[f"{row[0]} {row[1]}"[:40] for row in MUTANTS])
def test_a_mutant_of_what_groups_are_promised_is_found_out(tmp_path, old, new, forge):
    mutant = mutant_of(tmp_path, "whole_levels.py", old, new)
    assert verdict(verify, forge()) is not True
    assert verdict(mutant, forge()) is True
