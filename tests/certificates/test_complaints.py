"""No justified complaints: who passes, who does not, and in which words."""

from fractions import Fraction

import numpy as np
import pytest

from drfopt.base.errors import PolicyError
from drfopt.certificates.justified_complaints import complaints
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.solving.allocating import solve


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("policy", ["drf", "asset"])
def test_the_paper_gives_a_reason_to_complain(paper, policy, exact):
    """The only thing that has run out is cpu, and A holds a third of it (Dolev et al., on NSDI 2011, section 4.1)."""
    (complaint,) = complaints(paper, solve(paper, policy, exact=exact).tasks)
    assert complaint.user == "A"
    assert complaint.entitlement == Fraction(1, 2)
    if policy == "drf":
        assert str(complaint) == "'A' holds 0.333333 of 'cpu', which has run out, and is entitled to 0.5"


def test_a_market_gives_none(paper):
    """Gutman and Nisan, AAMAS 2012."""
    assert complaints(paper, solve(paper, "ceei").tasks) == ()


@pytest.mark.parametrize("seed", range(20))
def test_no_market_ever_does(seed):
    random = np.random.default_rng(seed)
    n, m = random.integers(1, 7), random.integers(1, 4)
    demands = random.integers(0, 4, (n, m))
    demands[:, 0] += demands.sum(axis=1) == 0
    limits = np.where(random.random(n) < 0.3, random.integers(1, 4, n), np.inf)
    instance = Instance(demands, random.integers(1, 9, m), weights=random.integers(1, 4, n), max_tasks=limits)
    assert complaints(instance, solve(instance, "ceei").tasks) == ()


def test_it_does_not_keep_envy_away():
    instance = Instance([[1, 0], [1, 0], [1, 6]], [1, 1])
    assert complaints(instance, [Fraction(1, 3), Fraction(1, 2), Fraction(1, 6)]) == ()


def test_weights_and_limits_count(paper):
    heavy = Instance(paper.demands, paper.capacity, weights=[1, 3], users=["A", "B"], resources=["cpu", "memory"])
    assert [c.user for c in complaints(heavy, [3, 2])] == ["B"]
    capped = Instance(paper.demands, paper.capacity, max_tasks=[3, None])
    assert complaints(capped, [3, 2]) == ()


def test_something_left_is_a_complaint(paper):
    assert str(complaints(paper, np.array([1.0, 1.0]))[0]) == "'A' could have more, and nothing has run out"
    assert [c.resource for c in complaints(paper, [1, 1])] == [None, None]


def test_machines_are_refused():
    with pytest.raises(PolicyError, match="is a notion for one pool"):
        complaints(Instance([[1]], machines=[Machine("a", [1])]), [1])
