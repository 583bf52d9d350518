"""The stops of a clock can fail: changed tasks, dropped or forged stops, users finished early, wrong stages."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from drfopt import Group, Instance, Machine, Organisation, solve
from drfopt.certificates import stops
from drfopt.model.hierarchy import Ascent
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
    ascent = Ascent(instance, policy_named("drf"), exact=found.exact)
    assert len(found.certificate.evidence.breakpoints) >= 3
    return ascent, found.tasks, found.placement, found.certificate.evidence.breakpoints


def judged(proven, **changed):
    ascent, tasks, placement, halts = proven
    given = {"tasks": tasks, "placement": placement, "halts": halts} | changed
    return stops.certify(ascent, given["tasks"], given["placement"], given["halts"])


def test_the_answer_itself_is_proven(proven):
    found = judged(proven)
    assert found.valid
    assert found.violation <= 1e-12


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("sign", [1, -1])
def test_changed_tasks_are_refused(proven, size, sign):
    ascent, tasks, placement, _ = proven
    for i in np.flatnonzero(tasks > 0).tolist():
        factor = 1 + sign * (Fraction(size) if ascent.exact else size)
        moved = tasks.copy()
        moved[i] = moved[i] * factor
        spread = placement
        if placement is not None:
            spread = placement.copy()
            spread[i] *= factor
        refused = judged(proven, tasks=moved, placement=spread)
        assert not refused.valid, ascent.instance.users[i]
        assert refused.reason


def test_what_one_gives_another_cannot_keep(proven):
    ascent, tasks, placement, _ = proven
    if placement is not None:
        return
    users = ascent.instance.users.index
    moved = tasks.copy()
    little = Fraction(1, 10**6) if ascent.exact else 1e-6
    moved[users("B")] += little
    moved[users("E")] -= little
    assert not judged(proven, tasks=moved).valid


def test_no_stop_can_be_left_out_doubled_or_moved(proven):
    halts = proven[3]
    for number in range(len(halts)):
        assert not judged(proven, halts=halts[:number] + halts[number + 1 :]).valid
    assert not judged(proven, halts=(*halts, halts[-1])).valid
    assert not judged(proven, halts=halts[::-1]).valid
    assert not judged(proven, halts=()).valid


def test_forged_stops_are_refused(proven):
    ascent, _, _, halts = proven
    everybody = np.arange(ascent.instance.n)
    for number, halt in enumerate(halts):
        forged = [replace(halt, finished=everybody), replace(halt, promising=not halt.promising)]
        if len(halt.finished):
            forged += [
                replace(halt, finished=halt.finished[:0]),
                replace(halt, prices=halt.prices * 0, bounds=halt.bounds * 0),
                replace(halt, prices=-halt.prices - 1),
                replace(halt, place=replace(halt.place, time=halt.place.time * 2)),
                replace(halt, place=replace(halt.place, time=halt.place.time / 2)),
            ]
            if number + 1 < len(halts):  # at the last stop everything is full, and may have a price
                forged.append(replace(halt, prices=halt.prices + 1))
        for other in forged:
            assert not judged(proven, halts=(*halts[:number], other, *halts[number + 1 :])).valid
