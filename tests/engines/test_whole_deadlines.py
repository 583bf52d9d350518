"""Whole tasks on machines when time has run out: every loop asks, and what is known so far is returned."""

from collections.abc import Iterator

import numpy as np
import pytest

from drfopt import Instance, Machine, solve
from drfopt.base.deadline import NEVER, Deadline, ending
from drfopt.certificates.packable import Packable
from drfopt.certificates.packing_bound import Machines
from drfopt.engines.problem import Problem
from drfopt.engines.whole import rounding
from drfopt.engines.whole.machine_by_machine import SingleMachines
from drfopt.model.policies import policy_on
from drfopt.planning import advice

PASSED = Deadline(0.0)


def _cluster() -> Instance:
    machines = [Machine("small", [40, 90], 20), Machine("large", [70, 60], 20)]
    return Instance([[1, 3], [2, 1], [3, 4], [1, 1]], machines=machines)


def _problem(deadline: Deadline = NEVER) -> Problem:
    return Problem(_cluster(), policy_on("drf", _cluster()), True, deadline)


@pytest.fixture
def placed(monkeypatch) -> Iterator[list[int]]:
    """What was placed at a time, from now on."""
    numbers, place = [], SingleMachines.place

    def counted(self, p, number):
        numbers.append(number)
        return place(self, p, number)

    monkeypatch.setattr(SingleMachines, "place", counted)
    yield numbers


def test_tasks_are_given_several_at_a_time_when_time_has_run_out(placed):
    tasks = {}
    for deadline in (NEVER, PASSED):
        placed.clear()
        cluster = SingleMachines(_problem(), np.zeros(2))
        cluster.fill_up(cluster.most, deadline, NEVER)
        tasks[deadline] = cluster.tasks, len(placed)
    (even, slow), (hurried, quick) = tasks[NEVER], tasks[PASSED]
    assert quick < slow / 2
    assert (hurried > 0.8 * even).all()


def test_nothing_is_placed_after_the_end(placed):
    cluster = SingleMachines(_problem(), np.zeros(2))
    cluster.fill_up(cluster.most, PASSED, PASSED)
    cluster.pack(np.array([3, 3, 3, 3]), [0, 1, 2, 3], PASSED)
    assert not placed and not cluster.tasks.any()


def test_wishes_are_packed_once_at_a_level_when_time_has_run_out():
    cluster = SingleMachines(_problem(), np.zeros(2))
    packed, pack = [], cluster.pack
    cluster.pack = lambda wishes, order, deadline=NEVER: (packed.append(wishes), pack(wishes, order, deadline))
    wishes = np.array(cluster.most)
    assert rounding._packed(cluster, wishes, np.zeros(4), PASSED, NEVER) is None and len(packed) == 1
    assert rounding._packed(cluster, wishes, np.zeros(4), NEVER, NEVER) is None
    assert len(packed) == 1 + rounding.ROUNDS


def test_rounding_after_the_deadline_still_serves_everybody_about_alike():
    """Nothing is known of the continuous optimum, so that levels are halved until one is packed."""
    answer = rounding.solve(_problem(PASSED))
    levels = _problem().rates * answer.tasks
    assert answer.whole_part is None and levels.min() > 0.5 * levels.max()
    assert levels.min() > 0.8 * solve(_cluster(), integer=True).levels.min()


def test_loads_are_not_listed_for_a_question_of_packing_after_the_deadline():
    small = Instance([[1, 3], [2, 1]], machines=[Machine("a", [7, 9], 2), Machine("b", [5, 9], 2)])
    users = Problem(small, policy_on("drf", small), True).whole_users
    worths = [Packable(users, deadline).worth for deadline in (NEVER, PASSED)]
    assert all(isinstance(worth, Machines) for worth in worths)
    listed, skipped = ([loads is not None for loads in worth.loads] for worth in worths)
    assert all(listed) and not any(skipped)


def test_no_purchase_is_tried_when_time_has_run_out(monkeypatch):
    cluster = Instance([[1, 3], [2, 1]], machines=[Machine("m", [7, 9], 2)], max_tasks=[50, 50])
    allocation = solve(cluster, integer=True)
    assert advice.advise(allocation).purchases
    monkeypatch.setattr(advice, "solve", lambda *_, **__: pytest.fail("a purchase is tried"))
    with ending(1e-9):
        assert not advice.advise(allocation).purchases
