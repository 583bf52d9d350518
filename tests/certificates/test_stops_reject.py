"""The stops of a clock can fail: changed tasks, dropped or forged stops, users finished early, wrong stages."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from drfopt import Group, Instance, Machine, Organisation, solve
from drfopt.certificates import stops
from drfopt.model.hierarchy import Clock
from drfopt.model.policies import policy_named

SIZES = [1e-8, 1e-6, 1e-3, 0.3]

RULES = Organisation(
    guarantees={"A": {"cpu": 4}},
    ceilings={"C": {"memory": 3}},
    tiers={"F": 1},
    paths={"A": "eng/dev", "B": "eng/dev", "C": "eng", "D": "sci", "E": "sci"},
    groups=[Group("eng", 2), Group("eng/dev"), Group("sci", 1, {"memory": 2}, {"cpu": 5})],
)
DEMANDS = {
    "A": {"cpu": 1, "memory": 1},
    "B": {"cpu": 1},
    "C": {"memory": 1},
    "D": {"cpu": 1, "memory": 2},
    "E": {"cpu": 1},
    "F": {"cpu": 1, "memory": 1},
    "G": {"memory": 1},
}
LIMITS = {"F": 2}


@pytest.fixture(scope="module", params=["pool", "exact pool", "machines"])
def proven(request):
    """A cluster with every kind of rule: its clock, tasks, placement and stops."""
    rest = {"max_tasks": LIMITS, "organisation": RULES}
    if request.param == "machines":
        machines = [
            Machine("a", {"cpu": 8, "memory": 4}),
            Machine("b", {"cpu": 4, "memory": 12}),
        ]
        instance = Instance(DEMANDS, machines=machines, eligible={"B": ["a"]}, **rest)
    else:
        instance = Instance(DEMANDS, {"cpu": 12, "memory": 16}, **rest)
    found = solve(instance, exact=request.param == "exact pool")
    clock = Clock(instance, policy_named("drf"), exact=found.exact)
    assert len(found.certificate.evidence.breakpoints) >= 3
    return clock, found.tasks, found.placement, found.certificate.evidence.breakpoints


def judged(proven, **changed):
    clock, tasks, placement, breakpoints = proven
    given = {"tasks": tasks, "placement": placement, "breakpoints": breakpoints} | changed
    return stops.certify(clock, given["tasks"], given["placement"], given["breakpoints"])


def test_the_answer_itself_is_proven(proven):
    found = judged(proven)
    assert found.valid
    assert found.violation <= 1e-12


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("sign", [1, -1])
def test_changed_tasks_are_refused(proven, size, sign):
    clock, tasks, placement, _ = proven
    for i in np.flatnonzero(tasks > 0).tolist():
        factor = 1 + sign * (Fraction(size) if clock.exact else size)
        moved = tasks.copy()
        moved[i] = moved[i] * factor
        spread = placement
        if placement is not None:
            spread = placement.copy()
            spread[i] *= factor
        refused = judged(proven, tasks=moved, placement=spread)
        assert not refused.valid, clock.instance.users[i]
        assert refused.reason


def test_what_one_gives_another_cannot_keep(proven):
    clock, tasks, placement, _ = proven
    if placement is not None:
        return
    users = clock.instance.users.index
    moved = tasks.copy()
    little = Fraction(1, 10**6) if clock.exact else 1e-6
    moved[users("B")] += little
    moved[users("E")] -= little
    assert not judged(proven, tasks=moved).valid


def test_no_stop_can_be_left_out_doubled_or_moved(proven):
    breakpoints = proven[3]
    for number in range(len(breakpoints)):
        assert not judged(proven, breakpoints=breakpoints[:number] + breakpoints[number + 1 :]).valid
    assert not judged(proven, breakpoints=(*breakpoints, breakpoints[-1])).valid
    assert not judged(proven, breakpoints=breakpoints[::-1]).valid
    assert not judged(proven, breakpoints=()).valid


def test_forged_stops_are_refused(proven):
    clock, _, _, breakpoints = proven
    everybody = np.arange(clock.instance.n)
    for number, breakpoint in enumerate(breakpoints):
        forged = [replace(breakpoint, finished=everybody), replace(breakpoint, promising=not breakpoint.promising)]
        if len(breakpoint.finished):
            forged += [
                replace(breakpoint, finished=breakpoint.finished[:0]),
                replace(breakpoint, prices=breakpoint.prices * 0, bounds=breakpoint.bounds * 0),
                replace(breakpoint, prices=-breakpoint.prices - 1),
                replace(breakpoint, point=replace(breakpoint.point, time=breakpoint.point.time * 2)),
                replace(breakpoint, point=replace(breakpoint.point, time=breakpoint.point.time / 2)),
            ]
            if number + 1 < len(breakpoints):  # at the last stop everything is full, and may have a price
                forged.append(replace(breakpoint, prices=breakpoint.prices + 1))
        for other in forged:
            assert not judged(proven, breakpoints=(*breakpoints[:number], other, *breakpoints[number + 1 :])).valid
