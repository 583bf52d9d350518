"""A time limit is one for all that a function computes: no division in it may end later."""

import math

import pytest

import drfopt
from drfopt import Instance, TimeLimitError
from drfopt.base.deadline import NEVER, SHORTEST, Budget, Deadline, ending
from drfopt.solving import allocating

CLUSTER = Instance({"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}}, {"cpu": 9, "memory": 18})

ASKED = {
    "compare": lambda how: drfopt.compare(CLUSTER, ["drf", "ceei"], **how),
    "compare whole": lambda how: drfopt.compare(CLUSTER, ["drf", "asset"], integer=True, **how),
    "compare each machine": lambda how: drfopt.compare(CLUSTER, ["per-server"], integer=True, **how),
    "what_if": lambda how: drfopt.what_if(CLUSTER, ["set-weight A=2"], **how),
    "sweep": lambda how: drfopt.sweep(CLUSTER, "cpu=6,9", jobs=1, **how),
    "explain": lambda how: str(drfopt.explain(CLUSTER, "asset", **how)),
    "explain whole": lambda how: str(drfopt.explain(CLUSTER, integer=True, **how)),
    "crosscheck": lambda how: drfopt.crosscheck(CLUSTER, **how),
    "crosscheck whole": lambda how: drfopt.crosscheck(CLUSTER, integer=True, **how),
    "report": lambda how: drfopt.report(CLUSTER, ["drf"], sweeps=["cpu=6,9"], what_ifs=["set-weight A=2"], **how),
    "report whole": lambda how: drfopt.report(CLUSTER, ["drf"], integer=True, **how),
}


@pytest.mark.parametrize("asked", ASKED)
def test_no_division_may_end_later_than_the_limit(asked, monkeypatch):
    now, moments, problem = [0.0], [], allocating.Problem

    def seen(*given):
        made = problem(*given)
        moments.append(made.deadline.moment)
        now[0] += 1000.0
        return made

    monkeypatch.setattr("drfopt.base.deadline.time.monotonic", lambda: now[0])
    monkeypatch.setattr(allocating, "Problem", seen)
    ASKED[asked]({"time_limit": 1e6})
    assert moments and max(moments) <= 1e6 + SHORTEST


def test_a_deadline_inside_another_is_the_sooner_one():
    assert Deadline.asked(None) is NEVER and NEVER.share(3) is None
    with ending(100) as outer:
        assert Deadline.asked(None) is outer and Deadline.asked(1000) is outer
        assert Deadline.asked(1).moment < outer.moment
        assert 20 < outer.share(4) <= 25
        with ending(10) as inner:
            assert inner.moment < outer.moment and Deadline.asked(50) is inner
        assert Deadline.asked(None) is outer
    assert Deadline.asked(None) is NEVER
    assert Deadline(0.0).share(2) == SHORTEST


def test_a_budget_counts_only_what_is_spent_in_it(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("drfopt.base.deadline.time.monotonic", lambda: now[0])
    budget = Budget(10)
    with budget.spent() as deadline:
        now[0] = 4.0
    now[0] = 1000.0
    assert deadline.moment == 10
    with budget.spent() as deadline:
        assert deadline.moment == 1006
        now[0] = 2000.0
        with pytest.raises(TimeLimitError):
            deadline.check("a test")
    assert budget.left == SHORTEST
    with Budget(None).spent() as deadline:
        assert deadline.moment == math.inf
