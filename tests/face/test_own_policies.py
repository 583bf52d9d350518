"""A policy as a Python function, and the names that people type for those of the table."""

import pickle
import time
from collections import namedtuple

import cvxpy as cp
import numpy as np
import pulp
import pytest

from drfopt import (
    FormulationError,
    Instance,
    PolicyError,
    TimeLimitError,
    audit,
    compare,
    crosscheck,
    solve,
    sweep,
    what_if,
)
from drfopt.model.policies import ALIASES

NSDI = Instance.library("nsdi2011")
Built = namedtuple("Built", "problem tasks levels")


def largest_sum(data, held):
    """As many tasks as there can be."""
    tasks = cp.Variable(len(data.demands), nonneg=True)
    return Built(cp.Problem(cp.Maximize(cp.sum(tasks)), [data.demands.T @ tasks <= data.capacity]), tasks, None)


def lowest_share(data, held):
    """The dominant shares, the lowest first."""
    tasks, least = cp.Variable(len(data.demands), nonneg=True), cp.Variable()
    levels = cp.multiply((data.demands / data.capacity).max(axis=1), tasks)
    free = np.isnan(held)
    rules = [data.demands.T @ tasks <= data.capacity, levels[free] >= least]
    rules += [levels[~free] >= held[~free]] if (~free).any() else []
    return Built(cp.Problem(cp.Maximize(least), rules), tasks, levels)


def broken(data, held):
    raise ZeroDivisionError("nothing to divide")


def test_a_function_is_a_policy():
    found = solve(NSDI, largest_sum)
    assert found.policy == "largest_sum" and found.status == "solved"
    assert found.tasks.sum() == pytest.approx(solve(NSDI, "throughput").tasks.sum(), rel=1e-6)
    assert solve(NSDI, lowest_share).tasks == pytest.approx([3, 2], rel=1e-6)
    assert '"policy": "largest_sum"' in found.sheet().json() or found.to_dict()["policy"] == "largest_sum"


def test_a_function_goes_wherever_a_name_goes():
    compared = compare(NSDI, ["drf", largest_sum])
    assert compared.policies == ("drf", "largest_sum") and not compared.refusals
    assert what_if(NSDI, ["set-weight A=2"], lowest_share).to_dict()["policy"] == "lowest_share"
    assert str(what_if(NSDI, ["add 9*cpu"], lowest_share))
    assert sweep(NSDI, "cpu=9,12", policy=largest_sum, jobs=1)["12"].policy == "largest_sum"
    assert audit(NSDI, lowest_share, "pareto-efficiency").policy == "lowest_share"
    assert crosscheck(NSDI, "drf", formulation=lowest_share).agree


def test_the_name_of_a_result_is_still_the_policy():
    found = pickle.loads(pickle.dumps(solve(NSDI, largest_sum)))
    assert solve(NSDI, found.policy) == found


def test_what_goes_wrong_in_a_function_is_told_with_its_line():
    line = broken.__code__.co_firstlineno + 1
    with pytest.raises(FormulationError, match=f"broken, line {line}: ZeroDivisionError: nothing to divide"):
        solve(NSDI, broken)


def leaving(data, held):
    raise SystemExit(0)


def less_than_nothing(data, held, integer=False):
    tasks = cp.Variable(2, integer=integer)
    rules = [data.demands.T @ tasks <= data.capacity, tasks >= -1, tasks <= 2]
    return Built(cp.Problem(cp.Maximize(tasks[0] - tasks[1]), rules), tasks, None)


def whole_less_than_nothing(data, held):
    return less_than_nothing(data, held, integer=True)


def falling_levels(data, held):
    built = largest_sum(data, held)
    return built._replace(levels=-built.tasks)


def wordy(data, held):
    program = pulp.LpProblem("wordy", pulp.LpMaximize)
    tasks = pulp.LpVariable("x", 0, 2)
    program += tasks
    return Built(program, [tasks, "a"], None)


@pytest.mark.parametrize(
    ("build", "told"),
    [
        (leaving, "SystemExit: 0"),
        (less_than_nothing, "user 'B' has -1 tasks: bound them by 0"),
        (whole_less_than_nothing, "user 'B' has -1 tasks: bound them by 0"),
        (falling_levels, "below 0: count levels from 0"),
        (wordy, "could not convert string to float: 'a'"),
    ],
)
def test_what_a_function_gives_that_is_no_answer_is_its_own_fault(build, told):
    with pytest.raises(FormulationError, match=told):
        solve(NSDI, build)


def without_end(data, held):
    while True:
        try:
            time.sleep(0.01)
        except Exception:
            continue


def test_a_time_limit_ends_the_code_of_a_function():
    with pytest.raises(TimeLimitError, match=r"the time limit ran out in the code of .*without_end"):
        solve(NSDI, without_end, time_limit=0.1)
    assert solve(NSDI, largest_sum, time_limit=60).tasks == pytest.approx([45 / 11, 18 / 11])


def test_functions_without_a_name_of_their_own_are_refused():
    with pytest.raises(PolicyError, match="has no name"):
        solve(NSDI, lambda data, held: None)

    def drf(data, held):
        return None

    with pytest.raises(PolicyError, match="the name of a policy of the table"):
        solve(NSDI, drf)


@pytest.mark.parametrize("alias", ALIASES)
def test_other_names_of_the_table(alias):
    found = solve(NSDI, alias)
    assert found.policy == ALIASES[alias] and found == solve(NSDI, ALIASES[alias])
    assert compare(NSDI, [alias, ALIASES[alias]]).policies == (ALIASES[alias],)


def test_an_alias_is_suggested():
    with pytest.raises(PolicyError, match="did you mean 'leximin'"):
        solve(NSDI, "leximn")
