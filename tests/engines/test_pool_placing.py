"""Clusters that are one pool in disguise: tasks placed without a program, and the rounds of progressive filling."""

import numpy as np
import pytest
from test_interior_chain import many_levels, scattered, solved

from drfopt.certificates.feasibility import infeasibility
from drfopt.engines import pool_placing
from drfopt.engines.leximin.interior_chain import InteriorRound
from drfopt.engines.pool_placing import placed
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.solving.allocating import solve


def random_placement(seed, n, k, open_to, tight):
    """Return groups with a placement known to fit: all of it, or with resources to spare."""
    random = np.random.default_rng(seed)
    need = random.random((n, 3)) * (random.random((n, 3)) < 0.7) + 1e-3
    opened = random.random((n, k)) < open_to
    opened[np.arange(n), random.integers(0, k, n)] = True
    parts = np.where(opened, random.random((n, k)), 0.0)
    parts /= parts.sum(axis=1, keepdims=True)
    room = parts.T @ need * np.where(tight, 1.0, random.uniform(1.05, 2, (k, 3)))
    return need, room, opened


@pytest.mark.parametrize("tight", [(True, True, True), (True, False, False), (False, False, False)])
@pytest.mark.parametrize(("n", "k", "open_to"), [(40, 5, 0.6), (60, 8, 1.0), (400, 60, 0.1)])
def test_what_is_known_to_fit_is_placed(n, k, open_to, tight):
    need, room, opened = random_placement(n + k, n, k, open_to, tight)
    owner, place = np.nonzero(opened)
    parts = placed(need, room, owner, place, np.array(tight), lambda state: None)
    assert parts is not None
    table = np.zeros((n, k))
    table[owner, place] = parts
    assert (parts >= 0).all()
    assert table.sum(axis=1) == pytest.approx(np.ones(n), rel=1e-13)
    used = table.T @ need / room
    assert used.max() <= 1 + 1e-12
    assert used[:, np.array(tight)] == pytest.approx(np.ones((k, sum(tight))), rel=1e-12)


@pytest.mark.parametrize("full", [True, False])
def test_what_does_not_fit_is_not_placed(full):
    """Who needs as much of one resource as of the other cannot fill classes that have little of one each."""
    need, room = np.ones((6, 2)), np.array([[5.0, 1.0], [1.0, 5.0]])
    owner, place = np.nonzero(np.ones((6, 2)))
    assert placed(need, room, owner, place, np.full(2, full), lambda state: None) is None
    # Nor does who may use one class only, if that is too small.
    room = np.array([[0.5, 0.5], [9.0, 9.0]])
    assert placed(need[:2], room, np.arange(2), np.arange(2), np.full(2, full), lambda state: None) is None


@pytest.fixture
def asked(monkeypatch):
    """Return what parts said when they were asked whether they are one pool."""
    answers = []
    original = InteriorRound.as_pool

    def noted(self, *arguments):
        answers.append(original(self, *arguments))
        return answers[-1]

    monkeypatch.setattr(InteriorRound, "as_pool", noted)
    return answers


@pytest.mark.parametrize("limited", [0.0, 0.5])
def test_one_pool_in_disguise_has_the_pool_s_rounds(asked, limited):
    instance = many_levels(150, 10, 0.6, limited)
    allocation = solved(instance)
    assert [answer is not None for answer in asked] == [True]
    assert allocation.levels == pytest.approx(solve(instance, engine="lp-chain").levels, rel=1e-11)
    pool = Instance(instance.demands, instance.room.sum(axis=0), max_tasks=instance.limits)
    assert allocation.levels == pytest.approx(solve(pool).levels, rel=1e-11)
    used = allocation.placement.T @ instance.demands
    assert (used <= instance.room * (1 + 1e-12)).all()
    for link in allocation.certificate.evidence.rounds:
        share = link.prices / instance.room
        assert share == pytest.approx(np.broadcast_to(share.max(axis=0), share.shape), rel=1e-12)


def test_what_is_no_pool_is_solved_as_machines(asked):
    instance = scattered(1)
    allocation = solved(instance)
    assert asked[0] is None
    pool = Instance(instance.demands, instance.room.sum(axis=0))
    assert not np.allclose(allocation.levels, solve(pool).levels, rtol=1e-6)


def test_parts_that_closed_pairs_leave_are_pools(asked):
    """Two crowds with little in common: the cluster is no pool, its halves are."""
    random = np.random.default_rng(3)
    home = np.arange(60) % 3 == 0
    eligible = np.where(home[:, None], np.arange(8) < 4, np.arange(8) >= 4)
    eligible[:3] = True
    machines = [Machine(f"c{q}", row) for q, row in enumerate(random.integers(900, 1100, (8, 2)))]
    instance = Instance(random.integers(1, 10, (60, 2)), machines=machines, eligible=eligible)
    allocation = solved(instance)
    assert asked[0] is None
    assert any(answer is not None for answer in asked)
    assert allocation.levels == pytest.approx(solve(instance, engine="lp-chain").levels, rel=1e-11)


def on_few_classes(instance, policy):
    """Ask for the placement; return how many users it splits, after looking that it is one of the same tasks."""
    allocation = solve(instance, policy)
    placement = allocation.placement
    assert infeasibility(instance, allocation.tasks, placement)[0] <= 1e-12
    assert placement.sum(axis=1) == pytest.approx(allocation.tasks, rel=1e-13)
    assert not placement[~instance.fits].any()
    return int(((placement > 0).sum(axis=1) > 1).sum())


@pytest.mark.parametrize("policy", ["drf", "ceei"])
@pytest.mark.parametrize(("n", "k", "open_to"), [(1500, 12, 1.0), (600, 30, 0.4)])
def test_all_but_a_user_a_row_are_on_one_class(n, k, open_to, policy):
    assert on_few_classes(many_levels(n, k, open_to, 0.3), policy) <= 4 * k


def test_where_rounding_does_not_fit_programs_are_asked(monkeypatch):
    monkeypatch.setattr(pool_placing, "placed", lambda *arguments: None)
    assert on_few_classes(many_levels(1500, 12, 1.0), "drf") <= 4 * 12


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["drf", "ceei"])
@pytest.mark.parametrize(("open_to", "limited"), [(1.0, 0.5), (0.3, 0.0)])
def test_twenty_thousand_users_are_on_one_class_but_for_a_few(open_to, limited, policy):
    assert on_few_classes(many_levels(20_000, 30, open_to, limited), policy) <= 4 * 30


def test_nobody_rises_beyond_limits_that_all_meet(asked):
    machines = [Machine("a", [40, 40]), Machine("b", [60, 20])]
    instance = Instance([[1, 0], [0, 1], [2, 1]], machines=machines, max_tasks=[3, 4, 0])
    assert solved(instance).tasks == pytest.approx([3, 4, 0], rel=1e-13)
    assert asked[0] is not None
    assert not asked[0].rounds
