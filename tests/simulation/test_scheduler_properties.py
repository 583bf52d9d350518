"""What the schedulers' decisions promise, on small random cases with ties, zeros and nothing to share."""

import random
from fractions import Fraction

import pytest

from drfopt import Instance, solve
from drfopt.base.errors import InstanceError
from drfopt.simulation.rules import armada, dynamic, kai, koordinator, kueue, yarn
from drfopt.simulation.rules.karma import karma

CASES = range(60)


def rows(chance, n, m, least=0):
    """Return demands with ties and, if least is 0, zeros; everybody needs something."""
    found = [[Fraction(chance.randint(least, 3)) for _ in range(m)] for _ in range(n)]
    return [row if any(row) else [Fraction(1)] * m for row in found]


@pytest.mark.parametrize("number", CASES)
def test_dynamic_drf_takes_from_nobody_and_keeps_room_for_those_to_come(number):
    chance = random.Random(number)
    n, m = chance.randint(1, 5), chance.randint(1, 3)
    demands, capacity = rows(chance, n, m), [Fraction(chance.choice((1, 2, 7))) for _ in range(m)]
    steps = dynamic.arrivals(demands, capacity)
    before = []
    for k, shares in enumerate(steps, start=1):
        assert all(now >= then for now, then in zip(shares, before, strict=False))
        assert all(share >= Fraction(1, n) for share in shares)
        tasks = [
            share / max(d / c for d, c in zip(row, capacity, strict=True))
            for share, row in zip(shares, demands, strict=False)
        ]
        used = [sum(x * row[j] for x, row in zip(tasks, demands, strict=False)) for j in range(m)]
        room = [c * Fraction(k, n) for c in capacity]
        assert all(u <= r for u, r in zip(used, room, strict=True))
        # Nothing is wasted: whoever is here needs something of which no more may be used.
        full = [u == r for u, r in zip(used, room, strict=True)]
        assert all(any(row[j] and full[j] for j in range(m)) for row in demands[:k])
        before = shares


@pytest.mark.parametrize("number", CASES)
def test_raising_from_nothing_is_drf(number):
    chance = random.Random(number)
    n, m = chance.randint(1, 6), chance.randint(1, 4)
    demands, capacity = rows(chance, n, m), [Fraction(chance.choice((1, 3, 10))) for _ in range(m)]
    found = dynamic.raised(demands, capacity, [Fraction(0)] * n, capacity)
    expected = solve(Instance(demands, capacity), "drf", exact=True)
    assert found == list(expected.levels)


def test_a_user_who_demands_nothing_that_there_is_is_refused():
    with pytest.raises(InstanceError, match="demands nothing that there is"):
        dynamic.arrivals([[Fraction(0), Fraction(1)]], [Fraction(1), Fraction(0)])


@pytest.mark.parametrize("number", CASES)
def test_karma_gives_everybody_her_part_and_loses_no_credit(number):
    chance = random.Random(number)
    n, rounds = chance.randint(1, 4), chance.randint(1, 5)
    slices = chance.randint(0, 12)
    public, credits = chance.randint(0, slices), chance.choice((0, 2, 50))
    demands = {f"u{i}": [chance.choice((0, 0, 3, slices)) for _ in range(rounds)] for i in range(n)}
    found, left = karma(demands, slices, public=public, credits=credits)
    part = (slices - public) // n
    for user, row in demands.items():
        assert all(min(wanted, part) <= got <= wanted for wanted, got in zip(row, found[user], strict=True))
    for t in range(rounds):
        total = sum(row[t] for row in found.values())
        assert total <= slices
        if credits == 50 and n * part + public == slices:
            assert total == min(slices, sum(row[t] for row in demands.values()))
    assert all(amount >= 0 for amount in left.values())
    assert sum(left.values()) <= n * credits


@pytest.mark.parametrize(
    ("demands", "how", "words"),
    [
        ({"a": [1], "b": [1, 2]}, {}, "give every user one number a round"),
        ({}, {}, "give every user one number a round"),
        ({"a": [1]}, {"public": 9}, "9 of 4 slices are public"),
    ],
)
def test_karma_refuses_what_it_cannot_divide(demands, how, words):
    with pytest.raises(InstanceError, match=words):
        karma(demands, 4, **how)


@pytest.mark.parametrize("number", CASES)
def test_kai_divides_everything_that_is_asked_for(number):
    chance = random.Random(number)
    total = chance.choice((0, 1, 7, Fraction(5, 2), 20))
    queues = {
        f"q{i}": kai.KaiQueue(
            chance.choice((0, 1, 3)),
            chance.choice((0, 2, 6)),
            chance.choice((None, 0, 4)),
            chance.choice((1, 1, 3)),
            chance.randint(0, 1),
            i,
        )
        for i in range(chance.randint(1, 5))
    }
    shares, rest = kai.divide(total, queues)
    deserved = {name: min(queue.deserved, queue.wanted) for name, queue in queues.items()}
    assert all(shares[name] >= deserved[name] for name in queues)
    # A unit is handed out whole, so that a queue may get up to one more than she wanted.
    assert all(shares[name] < queue.wanted + 1 for name, queue in queues.items())
    if sum(deserved.values()) <= total:
        assert sum(shares.values()) + rest == total
        assert not rest or all(shares[name] >= queue.wanted for name, queue in queues.items())


@pytest.mark.parametrize("number", CASES)
def test_koordinator_hands_out_no_more_than_there_is(number):
    chance = random.Random(number)
    total = chance.choice((0, 10, 100))
    groups = {
        f"g{i}": koordinator.QuotaGroup(chance.choice((0, 5, 60)), chance.choice((0, 2, 5)), chance.choice((0, 1, 7)))
        for i in range(chance.randint(1, 5))
    }
    quotas = koordinator.runtime_quotas(total, groups)
    floors = sum(min(group.request, group.minimum) for group in groups.values())
    assert all(quotas[name] <= group.request for name, group in groups.items())
    assert sum(quotas.values()) <= max(total, floors)
    hungry = [name for name, group in groups.items() if quotas[name] < group.request and group.weight]
    assert not hungry or sum(quotas.values()) >= total


@pytest.mark.parametrize("number", CASES)
def test_numbers_beyond_a_machines_integers_are_divided_as_well(number):
    # In units of 2**70 nothing changes but the size of the numbers, when parts are rounded to that unit too.
    chance, unit = random.Random(number), 2**70
    total, names = chance.randint(0, 40), [f"q{i}" for i in range(chance.randint(1, 8))]
    queues = {
        name: (chance.randint(0, 5), chance.randint(0, 9), chance.choice((None, 4)), chance.choice((0, 1, 3)))
        for name in names
    }
    small, large = (
        kai.divide(
            total * step,
            {
                name: kai.KaiQueue(deserved * step, request * step, most and most * step, weight)
                for name, (deserved, request, most, weight) in queues.items()
            },
            step,
        )
        for step in (1, unit)
    )
    assert large == ({name: share * unit for name, share in small[0].items()}, small[1] * unit)
    assert {type(share) for shares, rest in (small, large) for share in (*shares.values(), rest)} == {int}
    # Weights have no unit: quotas are the same whatever they are counted in.
    same = [
        koordinator.runtime_quotas(
            total,
            {
                name: koordinator.QuotaGroup(request, low, weight * step)
                for name, (low, request, _, weight) in queues.items()
            },
        )
        for step in (1, unit)
    ]
    assert same[0] == same[1]


@pytest.mark.parametrize("number", CASES)
def test_yarns_shares_keep_their_bounds(number):
    chance = random.Random(number)
    total = chance.choice((0, 1, 40, 10**9))
    claims = [
        yarn.ShareBounds(low, chance.choice((None, low, low + 11)), chance.choice((0, 1, 1, Fraction(1, 3), 1000)))
        for low in (chance.choice((0, 0, 3)) for _ in range(chance.randint(1, 5)))
    ]
    shares = yarn.fair_shares(total, claims)
    for share, claim in zip(shares, claims, strict=True):
        assert claim.minimum <= share and (claim.maximum is None or share <= claim.maximum)


@pytest.mark.parametrize("number", CASES)
def test_armadas_entitlements_divide_the_whole(number):
    chance = random.Random(number)
    queues = {
        f"q{i}": armada.ArmadaQueue(
            chance.choice((1, 1, Fraction(1, 2), 10)), Fraction(chance.choice((0, 1, 4, 30)), 10)
        )
        for i in range(chance.randint(1, 6))
    }
    found = armada.entitlements(queues)
    assert sum(row.fair for row in found.values()) == 1
    assert all(row.capped <= queues[name].demand for name, row in found.items())
    assert all(row.uncapped >= row.capped for row in found.values())
    asked = sum(queue.demand for queue in queues.values())
    assert sum(row.capped for row in found.values()) <= min(1, asked)
    assert sum(row.capped for row in found.values()) >= min(1, asked) - armada.ENOUGH


@pytest.mark.parametrize("number", CASES)
def test_kueue_sees_an_admission_as_the_tree_does(number):
    chance = random.Random(number)
    nodes = {"root": kueue.CohortNode(None, {"gpu": chance.randint(0, 9)})}
    for name, parent in (("a", "root"), ("b", "root"), ("c", "a"), ("x", "c"), ("y", "c"), ("z", "a"), ("w", "b")):
        limits = [{"gpu": chance.randint(0, 4)} if chance.random() < 0.3 else {} for _ in range(2)]
        weight = chance.choice((1, 2, Fraction(1, 2), 0))
        nodes[name] = kueue.CohortNode(parent, {"gpu": chance.randint(0, 5), "cpu": 3}, weight, *limits)
    usage = {name: {"gpu": chance.randint(0, 6), "cpu": chance.randint(0, 5)} for name in "xyzw"}
    tree = kueue.CohortTree(nodes)
    need = {"gpu": chance.randint(0, 3), "cpu": chance.randint(0, 3)}
    for queue in usage:
        grown = {name: amount + need[name] for name, amount in usage[queue].items()}
        whole = kueue.tree_shares(nodes, {**usage, queue: grown})
        after = tree.after(queue, need, tree.used(usage))
        assert after == {name: whole[name] for name in after}
        assert list(after) == list(tree.upwards(queue))
