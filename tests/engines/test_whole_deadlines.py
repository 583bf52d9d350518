"""Whole tasks on machines when time has run out: every loop asks, and what is known so far is returned."""

import time
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest

from drfopt import Instance, Machine, TaskType, TimeLimitError, solve
from drfopt.base.deadline import NEVER, Deadline, ending, stopping
from drfopt.certificates import price_tree, utility_losses
from drfopt.certificates.branch_and_cut import Inconclusive, refute
from drfopt.certificates.claim_program import ClaimProgram
from drfopt.certificates.level_claims import claims
from drfopt.certificates.machine_loads import MachineLoads
from drfopt.certificates.packable import Packable
from drfopt.certificates.packing_bound import Machines, worth_of
from drfopt.certificates.price_program import BoxProgram, OutOfTime
from drfopt.certificates.priced_halves import PricedHalves
from drfopt.engines.problem import Problem
from drfopt.engines.whole import device_packing, filling_up, rounding
from drfopt.engines.whole.filling_up import filled
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


def _out_of_time(*_, **__):
    raise TimeLimitError("the time limit ran out")


def test_parts_that_are_not_packed_anew_in_time_stay_as_they_are(monkeypatch):
    monkeypatch.setattr(device_packing, "_alike", lambda cluster, p: [(0, np.arange(2))])
    monkeypatch.setattr(device_packing, "_repacked", _out_of_time)
    assert not device_packing.repacked(SingleMachines(_problem(), np.zeros(2)), 0, NEVER)


def test_loads_are_not_begun_after_the_deadline_and_the_pool_of_all_machines_bounds_the_product():
    problem = Problem(_cluster(), policy_on("ceei", _cluster()), True)
    users, tasks = problem.whole_users, [10, 10, 10, 10]
    late, known = PricedHalves(users, PASSED), PricedHalves(users)
    assert late.halves.room_above(tasks) >= known.halves.room_above(tasks) > 0
    with pytest.raises(TimeLimitError):
        late.learn(tasks)
    with pytest.raises(TimeLimitError):
        MachineLoads(users.cluster, [0, 1, 2, 3], PASSED)
    loads = MachineLoads(users.cluster, [0, 1, 2, 3])
    loads.deadline = PASSED
    with pytest.raises(TimeLimitError):
        loads.pack(tasks)


def test_what_is_not_proven_after_the_deadline_has_a_bound_where_that_is_quick(monkeypatch):
    cluster, policy = _cluster(), policy_on("ceei", _cluster())
    assert price_tree.search(cluster, policy, [10, 10, 10, 10], PASSED).more > 0
    monkeypatch.setattr(price_tree, "LATE", 1)
    with pytest.raises(price_tree.Undecided):
        price_tree.search(cluster, policy, [10, 10, 10, 10], PASSED)


def test_a_tree_whose_programs_run_out_of_time_keeps_its_bound(monkeypatch):
    pool = Instance([[3, 7], [5, 2], [4, 4]], [101, 97])
    tasks = solve(pool, "ceei", integer=True).tasks.tolist()
    solved, programs = BoxProgram.solve, []

    def stopped(self, bounds, deadline):
        programs.append(bounds)
        if len(programs) > 1:
            raise OutOfTime("the time limit ran out in the program of a box")
        return solved(self, bounds, deadline)

    assert price_tree.search(pool, policy_on("ceei", pool), tasks).trees
    monkeypatch.setattr(BoxProgram, "solve", stopped)
    found = price_tree.search(pool, policy_on("ceei", pool), tasks)
    assert len(programs) > 1 and found.trees is None and found.more > 0


def test_windows_of_tasks_near_a_bound_hear_the_deadline():
    halves = PricedHalves(Problem(_cluster(), policy_on("ceei", _cluster()), True).whole_users).halves
    limit = halves.loss([10, 10, 10, 10])
    assert len(halves.window([0], limit)[0]) > 1
    with pytest.raises(TimeLimitError):
        halves.window([0], limit, PASSED)


def test_who_stops_before_anything_is_known_has_tasks_all_the_same():
    """The seconds of grace had passed as well when somebody asked to stop: nobody had a task."""
    with stopping(lambda: True):
        stopped = _problem(NEVER)
        assert not stopped.deadline.left() and stopped.deadline.grace(1.0).left() > 0.5
        assert rounding.solve(stopped).tasks.min() > 0 and filled(stopped).tasks.min() > 0
    grace = NEVER.grace(1.0)
    assert grace.left() == np.inf
    with stopping(lambda: True):
        assert not grace.left()


def test_the_program_of_a_claim_ends_with_the_time(monkeypatch):
    """A linear program of a hundred thousand columns ran seconds beyond the limit."""
    users = _problem().whole_users
    claim = next(claims(users, [10, 10, 10, 10]))
    with pytest.raises(Inconclusive):
        refute(claim, worth_of(users), NEVER)
    late = Deadline(time.monotonic() + 1000)
    run = ClaimProgram._run

    def slow(self):
        object.__setattr__(late, "moment", 0.0)
        run(self)

    monkeypatch.setattr(ClaimProgram, "_run", slow)
    with pytest.raises(TimeLimitError):
        refute(claim, worth_of(users), late)


@pytest.mark.parametrize("machines", [None, [Machine("m", [5, 6], 3)]])
def test_prices_of_the_largest_product_hear_the_deadline(monkeypatch, machines):
    allowed = []

    def late(*args, options, **rest):
        allowed.append(options["time_limit"])
        return SimpleNamespace(status=utility_losses.OUT_OF_TIME)

    monkeypatch.setattr("scipy.optimize.linprog", late)
    cluster = Instance([[1, 3], [2, 1], [3, 4]], None if machines else [15, 18], machines=machines)
    allocation = solve(cluster, "ceei", integer=True, time_limit=60)
    assert allocation.tasks.min() >= 1
    assert 0 < min(allowed) <= max(allowed) <= 60


def test_millions_of_tasks_of_several_types_are_placed_in_strides_when_time_has_run_out(monkeypatch):
    monkeypatch.setattr(filling_up, "GRACE", 0.05)
    kinds = [TaskType({"cpu": 1, "memory": 2}, count=10**8), TaskType({"cpu": 2, "memory": 1}, count=10**8)]
    cluster = Instance({"A": kinds}, machines=[Machine("m", {"cpu": 10**7, "memory": 10**7})])
    found = filled(Problem(cluster, policy_on("drf", cluster), True, PASSED))
    assert found.tasks[0] == 2 * 10**7 // 3
