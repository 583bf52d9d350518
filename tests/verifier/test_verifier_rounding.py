"""Rounded rows: whole numbers keep them, and a file that has them proves what no multipliers alone do."""

import copy
import itertools
import json
import random
from fractions import Fraction
from operator import mul

import numpy as np
import pytest
from test_verifier_mutants import mutant_of, verdict

from drfopt import Instance, solve
from drfopt.certificates import branch_and_cut, refutation
from drfopt.certificates.claim_options import ClaimOptions
from drfopt.certificates.document import certificate_document
from drfopt.certificates.exhaustive_search import playing
from drfopt.certificates.level_claims import ABOVE, Choice, ClaimList, LevelClaim
from drfopt.certificates.packing_bound import worth_of
from drfopt.certificates.rounded_rows import rounded
from drfopt.certificates.verifier import branches, loads, verify
from drfopt.model.policies import policy_named
from drfopt.model.users import TypeSequence
from drfopt.model.whole_values import LevelScale, WholeUsers


@pytest.mark.parametrize("seed", range(10))
def test_whole_numbers_that_keep_a_row_keep_what_it_is_rounded_to(seed):
    chance = random.Random(seed)
    for _ in range(60):
        row, most = [chance.randint(-9, 9) for _ in range(3)], chance.randint(-9, 20)
        divisor = chance.randint(1, 12)
        costs, least = [branches.rounded(a, most, divisor) for a in row], branches.rounded(most, most, divisor)
        for numbers in itertools.product(range(5), repeat=3):
            if sum(map(mul, row, numbers)) <= most:
                assert sum(map(mul, costs, numbers)) <= least


@pytest.mark.parametrize("seed", range(10))
def test_both_authors_round_alike(seed):
    chance = random.Random(seed)
    sizes = [chance.randint(1, 3) for _ in range(3)]
    scale, choices = LevelScale(99, ((1, 0),)), []
    for size in sizes:
        some = tuple((x, ABOVE) for x in range(size))
        choices.append(Choice(TypeSequence((0,)), chance.randint(1, 3), scale, some))
    options = ClaimOptions(LevelClaim(0, Fraction(0), 0, (), (0,), tuple(choices)))
    prices = np.array([chance.randint(0, 30) for _ in options.choice])
    base = np.array([options.first[k] + chance.randrange(size) for k, size in enumerate(sizes)])
    total, divisor = chance.randint(0, 60), chance.randint(1, 12)
    costs, most = rounded(options, prices, total, divisor, base)
    room = total - sum(choice.number * int(prices[b]) for choice, b in zip(choices, base, strict=True))
    left = branches.rounded(room, room, divisor)
    for k, choice in enumerate(choices):
        mine = range(options.first[k], options.first[k + 1])
        each = [branches.rounded(int(prices[o] - prices[base[k]]), room, divisor) for o in mine]
        assert [int(costs[o]) for o in mine] == [cost - min(each) for cost in each]
        left -= choice.number * min(each)
    assert most == left


def three():
    """Return users of whom no single one can give up its second task for both others, though parts of one could."""
    return Instance([[7, 1], [1, 7], [7, 0]], [25, 14])


def test_a_rounded_row_refutes_what_multipliers_alone_do_not(monkeypatch):
    users = WholeUsers(three(), policy_named("tasks"), playing(three()))
    claim, worth = ClaimList(users).claim(users.unit, 2), worth_of(users)
    proof = branch_and_cut.refute(claim, worth)
    assert proof.rows and proof.leaves == 1 and refutation.holds(claim, worth, proof)
    monkeypatch.setattr(branch_and_cut.RowFinder, "violated", lambda *args: [])
    tree = branch_and_cut.refute(claim, worth)
    assert not tree.rows and tree.leaves > 1 and refutation.holds(claim, worth, tree)


def test_rows_at_branches_hold_in_the_whole_tree(monkeypatch):
    rows = [[10, 7, 0], [0, 10, 0], [4, 10, 0], [3, 10, 2], [6, 2, 10], [1, 0, 10], [4, 0, 10], [2, 5, 10]]
    instance = Instance(rows, [154] * 3)
    monkeypatch.setattr(branch_and_cut, "PATIENCE", 0)  # None before the first branch.

    def proofs():
        answer = solve(instance, "drf", integer=True)
        assert verify(answer.to_dict()).valid
        return [proof for _, _, proof in answer.certificate.evidence.claims if proof is not None]

    few = proofs()
    assert any(proof.rows and proof.leaves > 1 for proof in few)
    monkeypatch.setattr(branch_and_cut, "ROUNDS", 0)
    monkeypatch.setattr(branch_and_cut._Tree.grow, "__defaults__", (True, 0))
    many = proofs()
    assert not any(proof.rows for proof in many)
    assert sum(proof.leaves for proof in few) < sum(proof.leaves for proof in many)


def file_of(instance):
    return loads(json.dumps(certificate_document(solve(instance, "tasks", integer=True))))


def with_rows(data):
    return [tree for tree in data["proof"]["trees"] if any("divisor" in node for node in tree)]


def said(rows, room, row, leaf):
    """Return a file that says that both have one task, of a pool where one could have two, and why."""
    data = file_of(Instance([[d] for d in rows], [room]))
    assert sum(user["tasks"] for user in data["users"]) > 2
    for user in data["users"]:
        user["tasks"] = 1
        del user["level"]
    data["proof"]["trees"] = [[row, leaf]]
    return data


COSTS = "change // divisor * (divisor - rest) + max(0, change % divisor - rest)"

MUTANTS = [
    ("branches.py", COSTS, "change // divisor * (divisor - rest) + change % divisor", (4, 2), 9,
        {"prices": {"r1": "2"}, "levels": ["0"], "divisor": "3", "base": {"u2": 1}},
        {"prices": {"r1": "1"}, "levels": ["3"], "rounds": ["1"]}),
    ("branches.py", COSTS, "-(-change // divisor) * (divisor - rest)", (4, 2), 9,
        {"prices": {"r1": "1"}, "levels": ["5"], "divisor": "6", "base": {"u2": 1}},
        {"prices": {"r1": "1"}, "levels": ["1"], "rounds": ["2"]}),
    ("whole_levels.py", "return left + sum(t * most for t, _, most in some), prices", "return left, prices", (3, 3), 12,
        {"prices": {"r1": "2"}, "levels": ["0"], "divisor": "1", "base": {"u1": 1}},
        {"prices": {"r1": "0"}, "levels": ["3"], "rounds": ["1"]}),
    ("whole_levels.py", "[price_of(v, integer) for v in leaf.get(\"rounds\", ())]",
        "[integer(v) for v in leaf.get(\"rounds\", ())]", (4, 3), 14,
        {"prices": {"r1": "2"}, "levels": ["5"], "divisor": "3", "base": {"u2": 1}},
        {"prices": {"r1": "0"}, "levels": ["0"], "rounds": ["-1"]}),
    ("whole_levels.py", "if divisor < 1 or found is None", "if found is None", (1, 3), 6,
        {"prices": {"r1": "1"}, "levels": ["0"], "divisor": "-5", "base": {"u2": 1}},
        {"prices": {"r1": "0"}, "levels": ["2"], "rounds": ["1"]}),
]  # fmt: skip


@pytest.mark.parametrize(("file", "old", "new", "rows", "room", "row", "leaf"), MUTANTS)
def test_a_mutant_of_rounded_rows_is_found_out(tmp_path, file, old, new, rows, room, row, leaf):
    data = said(rows, room, row, leaf)
    assert verdict(verify, data) is not True
    assert verdict(mutant_of(tmp_path, file, old, new), data) is True


@pytest.mark.parametrize(
    "changes", [{"divisor": "0"}, {"divisor": "-7"}, {"divisor": "x"}, {"base": {"u1": 9}}, {"base": {"nobody": 1}}]
)
def test_rows_that_are_none_are_not_read(changes):
    data = file_of(three())
    (tree,) = with_rows(data)
    tree[0] |= changes
    assert verdict(verify, data) is not False


def test_multipliers_of_rows_that_are_not_there_prove_nothing(monkeypatch):
    data = file_of(three())
    assert verify(data).valid is True
    (tree,) = with_rows(data)
    for forged in (tree[1:], [tree[1], tree[2]], [*tree[:2], tree[2] | {"rounds": ["1"]}]):
        other = copy.deepcopy(data)
        other["proof"]["trees"][data["proof"]["trees"].index(tree)] = forged
        assert verdict(verify, other) is not False
