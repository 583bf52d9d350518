"""A policy as a Python function, and the names that people type for those of the table."""

import pickle
from collections import namedtuple

import cvxpy as cp
import numpy as np
import pytest

from drfopt import FormulationError, Instance, PolicyError, audit, compare, crosscheck, solve, sweep, what_if
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
