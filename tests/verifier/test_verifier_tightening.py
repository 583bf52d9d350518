"""Bounds that multipliers tighten: nothing that the slack allows is beyond them, and both authors have the same."""

import copy
import itertools
import json
import math
import random
from fractions import Fraction
from functools import partial
from operator import mul

import numpy as np
import pytest

from drfopt import Instance, solve
from drfopt.certificates.claim_options import Bounds, ClaimOptions
from drfopt.certificates.document import certificate_document
from drfopt.certificates.level_claims import ABOVE, Choice, LevelClaim
from drfopt.certificates.verifier import loads, verify, work
from drfopt.certificates.verifier.branches import cheapest, tightened
from drfopt.model.users import TypeSequence
from drfopt.model.whole_values import LevelScale


def sparse(n, seed):
    """Return users who tie in demands, half of which are 0: multipliers alone leave much open."""
    chance = np.random.default_rng([n, seed])
    demands = chance.integers(1, 51, (n, 4)) * (chance.random((n, 4)) < 0.5)
    demands[np.arange(n), chance.integers(0, 4, n)] = 50
    return Instance(demands, np.full(4, int(40 * demands.sum(axis=0).mean())))


def drawn(chance):
    """Return prices, bounds and a number of users who choose."""
    k, n = chance.randint(1, 4), chance.randint(1, 4)
    ends = [tuple(sorted((chance.randint(0, n), chance.randint(0, n)))) for _ in range(k)]
    return [chance.randint(0, 6) for _ in range(k)], ends, n


@pytest.mark.parametrize("seed", range(10))
def test_nothing_within_the_slack_is_beyond_tightened_bounds(seed):
    chance = random.Random(seed)
    for _ in range(30):
        each, ends, n = drawn(chance)
        least, slack = cheapest(each, ends, n), chance.randint(0, 8)
        every = itertools.product(*(range(low, high + 1) for low, high in ends))
        costs = {taken: sum(map(mul, each, taken)) for taken in every if sum(taken) == n}
        assert least == min(costs.values(), default=None)
        if least is None:
            continue
        new = tightened(each, ends, n, slack)
        for taken, cost in costs.items():
            if cost <= least + slack:
                assert all(low <= x <= high for x, (low, high) in zip(taken, new, strict=True))
        assert all(a <= low and high <= b for (low, high), (a, b) in zip(new, ends, strict=True))
        choice = Choice(TypeSequence((0,)), n, LevelScale(9, ((1, 0),)), tuple((x, ABOVE) for x in each))
        options = ClaimOptions(LevelClaim(0, Fraction(0), 0, (), (0,), (choice,)))
        for kind in (np.int64, object):
            bounds = Bounds(*np.array(ends, dtype=np.int64).T)
            prices = options.prices([1], ()).astype(kind)
            cost, taken = options.least(prices, bounds)
            assert cost == least
            found = options.tightened(prices, bounds, taken, slack)
            assert list(zip(found.low.tolist(), found.high.tolist(), strict=True)) == new
        large = options.prices([2**70], ())
        found = options.tightened(large, bounds, taken, slack * 2**70)  # More than numpy's integers hold.
        assert list(zip(found.low.tolist(), found.high.tolist(), strict=True)) == new


def test_a_file_with_tightened_bounds_is_read_and_not_believed(monkeypatch):
    data = loads(json.dumps(certificate_document(solve(sparse(12, 7), integer=True))))
    trees = data["proof"]["trees"]
    held = [(t, p) for t, tree in enumerate(trees) for p, node in enumerate(tree) if node.get("tightens")]
    assert held and verify(data).valid is True
    # What a tree does not show is searched for; so little work decides nothing, and soon.
    monkeypatch.setattr(work, "_Left", partial(work._Left, steps=20_000))
    for t, p in held:
        forged = copy.deepcopy(data)
        node = forged["proof"]["trees"][t][p]
        node["prices"] = dict.fromkeys(node["prices"], "0")
        node["levels"] = ["0"] * len(node["levels"])
        # Nothing is tightened then; what follows is of other bounds, or proves it all the same.
        assert verify(forged).valid in (None, True)
        forged["proof"]["trees"][t][p:] = []
        assert verify(forged).valid is None


def test_ties_that_multipliers_leave_open_are_proven_without_a_second_solver():
    found = solve(sparse(40, 0), integer=True)
    assert found.certificate.rigorous and found.certificate.evidence.judge == "multipliers"


def test_a_level_that_an_integer_program_missed_is_found_by_search():
    # Counting programs over HiGHS called an answer optimal here that is not, which ended in an error.
    chance = np.random.default_rng([50, 4, 50, 1, 40, 1])
    demands = chance.integers(1, 51, (50, 4)) * (chance.random((50, 4)) < 0.5)
    demands[np.arange(50), chance.integers(0, 4, 50)] = 50
    room = np.full(4, int(40 * demands.sum(axis=0).mean()))
    limits = np.where(chance.random(50) < 0.5, chance.integers(1, 80, 50), np.inf)
    found = solve(Instance(demands, room, max_tasks=limits), integer=True)
    assert found.status == "optimal" and found.certificate.rigorous
    assert verify(loads(json.dumps(certificate_document(found)))).valid is True


def test_room_left_over_does_not_pay_for_too_many_who_stop():
    cluster = Instance(
        [[0, 0, 6], [6, 2, 2], [1, 6, 2], [6, 0, 0], [2, 6, 1]], [7, 21, 37], max_tasks=[math.inf] * 3 + [3, 5]
    )
    found = solve(cluster, integer=True)
    assert found.certificate.rigorous and found.certificate.evidence.judge == "multipliers"
