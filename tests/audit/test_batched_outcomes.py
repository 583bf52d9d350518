"""A search that asks a batch first finds what it finds without: batched outcomes decide only what is clear."""

from fractions import Fraction

import pytest

from drfopt import Instance
from drfopt.axioms.case import AuditCase
from drfopt.axioms.counterexamples.searching import search
from drfopt.axioms.counterexamples.space import Question, Space
from drfopt.axioms.economy import cluster_of, high, low
from drfopt.axioms.outcomes import batched, outcome, pays
from drfopt.axioms.properties.property_table import PROPERTIES
from drfopt.model.policies import policy_named

CEEI = policy_named("ceei")
PM, RM = "population-monotonicity", "resource-monotonicity"


def clusters(seeds, draw, **rest):
    return [draw(seed, resources=(2, 3), limits=True, **rest).cluster() for seed in seeds]


def test_batched_outcomes_enclose_the_exact_ones(draw):
    several = clusters(range(12), draw)
    found = batched(several, CEEI)
    assert set(found) == set(several)
    for cluster in several:
        for x, y in zip(found[cluster].tasks, outcome(cluster, CEEI).tasks, strict=True):
            assert low(x) <= high(y)
            assert low(y) <= high(x)
        assert found[cluster].computed


def test_what_no_batch_takes_is_left_out():
    nothing = cluster_of(Instance([[1, 0], [1, 1]], [1, 0]))
    assert not batched([nothing], CEEI)


def test_it_pays_where_the_market_is_no_single_line():
    two, three = cluster_of(Instance([[1, 2]], [3, 3])), cluster_of(Instance([[1, 2, 1]], [3, 3, 3]))
    assert not pays(two, CEEI)
    assert pays(three, CEEI)
    assert pays(cluster_of(Instance([[1, 2]], [3, 3], max_tasks=[1])), CEEI)
    assert not pays(three, policy_named("drf"))


@pytest.mark.parametrize("name", [PM, RM])
def test_a_search_finds_the_same_without_a_batch(name, monkeypatch):
    space = Space(3, 3, 3, 2, sample=15, seed=2)
    with_batch = search("ceei", name, space).to_dict()
    monkeypatch.setattr(Question, "batched", lambda self, cases: {})
    assert search("ceei", name, space).to_dict() == with_batch


def test_a_comparison_that_is_not_clear_is_left_to_the_exact_market():
    # Nobody shares anything: when u1 leaves, u2 keeps exactly what she has, and no error decides that.
    apart = cluster_of(Instance([[1, 0, 0], [0, 1, 1]], [1, 1, 1]))
    asked = list(next(row for row in PROPERTIES if row.name == PM).asks(AuditCase(apart, CEEI)))
    assert len(asked) == 3
    audit_case = AuditCase(apart, CEEI, batched=batched(asked, CEEI))
    assert not audit_case.nobody_loses(asked[1], [1])
    together = cluster_of(Instance([[1, 1, 1], [2, 1, 1]], [1, 1, 1]))
    left = together.without(0)
    assert AuditCase(together, CEEI, batched=batched([together, left], CEEI)).nobody_loses(left, [1])
    assert not AuditCase(together, CEEI).nobody_loses(left, [1])


@pytest.mark.parametrize("seed", range(6))
def test_more_of_what_is_not_used_up_changes_nothing(seed, draw):
    cluster = draw(seed, resources=(2, 3), users=(2, 3)).cluster()
    tasks = outcome(cluster, CEEI).tasks
    for j, c in enumerate(cluster.pool):
        used = sum((high(x) * row[j] for x, row in zip(tasks, cluster.demands, strict=True)), Fraction(0))
        if used < c:
            more = outcome(cluster.with_capacity(j, 3 * c), CEEI).tasks
            assert [float(x) for x in more] == pytest.approx([float(x) for x in tasks], rel=1e-12)
