"""Simulations, searches, lists, theorems: every kind is answered or refused in a line."""

import others
import pytest


def unsound(outcomes):
    return [f"{asked}: {found}" for asked, found in outcomes if not found.sound]


def step_of(request, step):
    """Return the step of a test, a third of it with ``--every-case``."""
    return step // 3 if request.config.getoption("--every-case") else step


@pytest.mark.parametrize("step", [211, pytest.param(23, marks=pytest.mark.slow)])
def test_no_simulation_is_at_fault(tmp_path, step, request):
    # In steps that share no factor with the numbers of rules, ways and kinds, so that all of them come up.
    chosen = others.simulations()[:: step_of(request, step)]
    faults = unsound((row, others.simulated(*row, tmp_path)) for row in chosen)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("step", [101, pytest.param(17, marks=pytest.mark.slow)])
def test_no_search_is_at_fault(step, request):
    faults = unsound((row, others.judged(row)) for row in others.searches()[:: step_of(request, step)])
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_no_list_is_at_fault(step):
    found = [(row, others.judged(row)) for row in others.listings()[::step]]
    assert not unsound(found)
    assert {outcome.status for _, outcome in found} == {0}


@pytest.mark.parametrize("step", [61, pytest.param(31, marks=pytest.mark.slow)])
def test_no_theorem_is_at_fault(step):
    found = [(row, others.judged(row)) for row in others.theorems()[::step]]
    assert not unsound(found)
    assert {outcome.status for _, outcome in found} == {0}


def test_a_theorem_is_told_whole():
    found = others.judged(["theorems", "4", "-p", "drf"])
    assert found.status == 2
    assert "leave --policy and --property out" in found.words
