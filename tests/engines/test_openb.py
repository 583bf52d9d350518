"""A real cluster end to end: the openb trace, 27 machine classes and 457 users, all limits."""

import numpy as np
import pytest

from drfopt.io.readers.asking import read
from drfopt.solving.allocating import solve
from drfopt.solving.comparing import compare
from drfopt.solving.crosschecking import crosscheck

PLACED = 456


@pytest.fixture(scope="module")
def openb(data_folder):
    folder = data_folder / "openb"
    return read("openb", [folder / "openb_node_list_all_node.csv", folder / "openb_pod_list_gpuspec33.csv"]).instance


def test_the_complete_leximin(openb):
    allocation = solve(openb)
    assert allocation.placement.shape == (457, 27)
    assert allocation.certificate.kind == "chain"
    assert allocation.certificate.valid
    assert len(allocation.unplaced) == 1
    assert "120" in allocation.unplaced[0] and "G2" in allocation.unplaced[0]
    assert (allocation.levels > 0).sum() == PLACED
    assert "pooled" in str(allocation)


def test_published_figures(openb):
    assert solve(openb, "throughput").tasks.sum() == pytest.approx(7960.73, abs=5e-3)


def test_first_level_without_limits(openb):
    from drfopt.model.instance import Instance

    free = Instance(openb.demands, machines=openb.machines, resources=openb.resources, eligible=openb.eligible)
    levels = solve(free).levels
    assert np.sort(levels)[1] == pytest.approx(8.08090e-4, rel=1e-5)


def test_policies_side_by_side(openb):
    found = compare(openb, ["drf", "asset", "ceei", "utilitarian"])
    assert not found.refusals
    assert all(allocation.certificate.valid for allocation in found.allocations)
    assert all(0 <= price < 0.01 for price in found.price_of_fairness.values())


@pytest.mark.parametrize(
    "policy",
    [
        "drf",
        "throughput",
        *(pytest.param(p, marks=pytest.mark.slow) for p in ("asset", "tasks", "ceei", "utilitarian", "alpha:2")),
    ],
)
def test_two_ways_agree(openb, policy):
    found = crosscheck(openb, policy)
    assert found.agree is True
    assert found.max_disagreement <= 1e-9
    if policy in ("ceei", "alpha:2"):
        # Engines that end with the same Newton steps are one author; the second shares nothing with them.
        assert found["smoothed dual"].levels is not None
