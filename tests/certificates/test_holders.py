"""What the bottleneck certificate adds up: the same by sets of resources as user by user."""

import numpy as np
import pytest

from drfopt.certificates.holders import Holders
from drfopt.certificates.marks import Marks
from drfopt.model.instance import Instance


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("limited", [False, True])
def test_sets_of_resources_say_what_the_demands_say(seed, limited):
    random = np.random.default_rng(seed)
    demands = random.integers(0, 3, (50, 4)).astype(float)
    demands[~demands.any(axis=1), 0] = 1
    tasks = random.integers(0, 4, 50) / 4
    limits = np.maximum(tasks, random.integers(0, 4, 50)) if limited else None
    instance = Instance(demands, np.full(4, 60.0), max_tasks=limits)
    by_set, by_demand = (Holders(instance, np.ones(50), tasks) for _ in range(2))
    by_demand.by_set = False
    one, other = by_set.seen(), by_demand.seen()
    assert one.highest == pytest.approx([tasks[row > 0].max(initial=0) for row in demands.T])
    assert (one.highest == other.highest).all()
    marks = Marks.of_tops(one.highest, one.highest > 0, 1e-12)
    inverse = np.divide(1, one.highest, where=one.highest > 0, out=np.zeros(4))[:, None]
    for found, expected in zip(by_set.held(marks, inverse), by_demand.held(marks, inverse), strict=True):
        assert np.asarray(found) == pytest.approx(np.asarray(expected))
