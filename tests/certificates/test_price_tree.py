"""The judge of products of whole tasks: right on small pools, exact under any weights, no friend of the finder."""

import json
import math
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

from drfopt import CertificateError, Instance, Machine, Organisation, solve
from drfopt.certificates import price_tree
from drfopt.certificates.document import certificate_document
from drfopt.certificates.meet_in_the_middle import MeetInTheMiddle
from drfopt.certificates.price_tree import larger
from drfopt.certificates.verifier import loads, verify
from drfopt.model.policies import policy_named
from drfopt.model.whole_values import WholeUsers


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


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(40))
def test_the_tree_decides_utilities_of_small_pools_as_brute_force_does(seed):
    instance, alpha = drawn(seed), (Fraction(1, 2), 2, 7, 20)[seed % 4]
    policy, weights = policy_named(f"alpha:{alpha}"), instance.exact_weights
    rates = WholeUsers(instance, policy, range(instance.n)).market_rates

    def value(tasks):
        return math.fsum(
            float(w) * float(r * x) ** float(1 - alpha) / float(1 - alpha)
            for w, r, x in zip(weights, rates, tasks, strict=True)
        )

    known = all_served(instance)
    best = max(map(value, known), default=0.0)
    for tasks in known[:: max(1, len(known) // 8)]:
        found = price_tree.search(instance, policy, list(tasks))
        while found.better is not None:
            found = price_tree.search(instance, policy, tasks := found.better)
        assert found.trees is not None
        assert value(tasks) == pytest.approx(best, rel=1e-12)


def test_what_many_tasks_are_worth_is_told_apart_beside_what_few_are():
    # The first of 150 tasks is worth 150^6 times what the last is, which is beyond what a program in floats sees.
    machines = [Machine("m", [10], 3), Machine("n", [10], 2)]
    allowed = [[True, False], [True, True], [True, True]]
    ruled = Organisation(guarantees={"u3": {"r1": Fraction(7, 4)}})
    cluster = Instance([["1/3"], ["0.7"], ["1/3"]], machines=machines, eligible=allowed, organisation=ruled)
    policy = policy_named("alpha:7")
    assert price_tree.search(cluster, policy, [30, 28, 59], nodes=1).better is not None
    found = price_tree.search(cluster, policy, [50, 24, 49], nodes=60)
    assert found.trees is not None
    solved = solve(cluster, "alpha:7", integer=True)
    assert sorted(solved.tasks.tolist()) == [24, 49, 50]
    assert solved.certificate.rigorous and solved.certificate.evidence.judge == "branch and bound on prices"
    assert verify(loads(json.dumps(certificate_document(solved)))).valid is True


def test_what_is_worth_the_same_is_cut_off_by_users_and_not_by_loads():
    # Of 509 tasks somebody has one more; loads that differ in nothing are many.
    machines = [Machine("a", [65], 3), Machine("b", [78], 4), Machine("c", [65], 4)]
    cluster = Instance([["3/2"], ["3/2"]], machines=machines, eligible=[[True, True, True], [True, False, True]])
    assert price_tree.search(cluster, policy_named("alpha:7"), [255, 254], nodes=20).trees is not None


def test_a_point_that_is_better_is_found_where_loads_are_too_many_to_list():
    cluster = Instance(
        [["3/10", "1"], ["3/10", "1/2"], ["11/10", "1/2"], ["3/10", "11/10"]],
        max_tasks=[20] + [None] * 3,
        machines=[Machine("m", [250, 500])],
    )
    assert price_tree.search(cluster, policy_named("alpha:7"), [20, 320, 87, 174], nodes=10).better is not None
