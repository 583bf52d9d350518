"""The judge of products of whole tasks: right on small pools, exact under any weights, no friend of the finder."""

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

from drfopt import CertificateError, Instance, solve
from drfopt.certificates import price_tree
from drfopt.certificates.meet_in_the_middle import MeetInTheMiddle
from drfopt.certificates.price_tree import larger


def drawn(seed):
    random = np.random.default_rng(seed)
    n, m = int(random.integers(2, 5)), int(random.integers(1, 4))
    demands = random.integers(0, 5, (n, m))
    demands[demands.sum(axis=1) == 0, 0] = 1
    weights = [1] * n if seed % 2 else random.integers(1, 5, n).tolist()
    limits = [None if random.random() < 0.7 else int(random.integers(1, 5)) for _ in range(n)]
    return Instance(demands, random.integers(6, 16, m), weights=weights, max_tasks=limits)


def all_served(instance):
    """Return every allocation of the pool in which everybody has a task, by brute force."""
    tops = [int(min(i for i in (limit, 16) if i is not None)) for limit in instance.exact_limits]
    rows, room = instance.exact_demands, instance.exact_capacity
    return [
        tasks
        for tasks in product(*(range(1, top + 1) for top in tops))
        if all(sum(x * row[j] for x, row in zip(tasks, rows, strict=True)) <= c for j, c in enumerate(room))
    ]


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(40))
def test_the_tree_decides_every_small_pool_as_brute_force_does(seed):
    instance = drawn(seed)
    known = all_served(instance)
    members = list(range(instance.n))
    weights = [int(w) for w in instance.exact_weights]

    def value(tasks):
        return prod(int(x) ** w for x, w in zip(tasks, weights, strict=True))

    best = max(map(value, known), default=0)
    for tasks in known[:: max(1, len(known) // 8)] + [t for t in known if value(t) == best][:2]:
        found = price_tree.better(instance, members, list(tasks))
        assert (found is None) == (value(tasks) == best)
        assert found is None or value(found) > value(tasks)


def test_a_tree_that_may_not_grow_says_so():
    with pytest.raises(price_tree.Undecided):
        price_tree.better(Instance([[1, 2], [2, 1]], [99, 100]), [0, 1], [3, 3], nodes=0)
    with pytest.raises(price_tree.Undecided):
        price_tree.better(Instance([[1]], [0]), [0], [0])


def test_a_finder_that_stops_too_early_is_found_out(monkeypatch):
    wide = Instance(np.random.default_rng(1).integers(1, 9, (9, 2)), [300, 280])

    def worse(self, loss, *_, **__):
        tasks = [int(x) for x in self.best]
        while any(sum(x * d[j] for x, d in zip(tasks, self.rows, strict=True)) > c for j, c in enumerate(self.room)):
            tasks[0] -= 1
        return [tasks]

    assert solve(wide, "ceei", integer=True).certificate.rigorous
    monkeypatch.setattr(MeetInTheMiddle, "within", worse)
    with pytest.raises(CertificateError, match="branch and bound on prices finds a strictly better"):
        solve(wide, "ceei", integer=True, engine="nash-halves")
    assert solve(wide, "ceei", integer=True).engine == "climbing after nash-halves"


def test_products_are_compared_exactly_under_any_weights():
    third, most = Fraction(1, 3), Fraction(10**16 + 1, 10**16)
    # 4^(1/2) = 2, and 8^(1/3) = 2: the same in exact numbers, though no power is small.
    assert not larger([Fraction(1, 2), Fraction(1)], [4, 1], [1, 2])
    assert not larger([third, Fraction(1)], [8, 3], [1, 6])
    assert not larger([Fraction(1, 2), Fraction(1)], [1, 2], [4, 1])
    assert larger([most, Fraction(1)], [3, 2], [2, 3])
    assert not larger([most, Fraction(1)], [2, 3], [3, 2])
    assert larger([Fraction(1), Fraction(1)], [10**12 + 1, 10**12 - 1], [10**12 + 2, 10**12 - 2])


def test_weights_that_are_no_small_powers_are_proven_too():
    random = np.random.default_rng(4)
    weights = [Fraction(repr(float(w))) for w in random.uniform(0.5, 2, 8)]
    found = solve(Instance(random.integers(1, 9, (8, 2)), [150, 140], weights=weights), "ceei", integer=True)
    assert found.certificate.valid and found.certificate.rigorous
    assert found.certificate.evidence.judge == "branch and bound on prices"
