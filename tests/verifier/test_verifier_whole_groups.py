"""Whole tasks of several groups: of every division of a small pool the verifier says as the sweep of all ways does."""

import copy
import itertools

import pytest
from test_verifier_mutants import file_of, without_levels

from drfopt import Group, Instance, Organisation, TaskType
from drfopt.certificates.exhaustive_search import playing
from drfopt.certificates.group_sweep import GroupSweep
from drfopt.certificates.verifier import verify
from drfopt.model.policies import policy_named
from drfopt.model.whole_values import WholeUsers

SMALL, LARGE, BOTH = {"a": 1}, {"a": 2}, {"a": 1, "b": 1}
GHK = {"A": "g", "B": "g", "C": "h"}


def pool(rows, room, paths, groups, limits=None, weights=None, **rules):
    organisation = Organisation(paths=paths, groups=groups, **rules)
    return Instance(dict(zip("ABCD", rows, strict=False)), room, max_tasks=limits, weights=weights,
                    organisation=organisation)  # fmt: skip


POOLS = {
    "parts of groups": pool([SMALL, LARGE, SMALL], {"a": 6}, GHK, [Group("g", "1/3"), Group("h", "2/7")]),
    "ceilings": pool([SMALL, SMALL, LARGE], {"a": 8}, GHK, [Group("g", ceiling={"a": "5/2"}), Group("h")]),
    "groups in groups": pool(
        [SMALL, SMALL, LARGE],
        {"a": 6},
        {"A": "g/k", "B": "g", "C": "h"},
        [Group("g", 2), Group("g/k", "1/2"), Group("h")],
    ),
    "in turn": pool([SMALL, SMALL, SMALL], {"a": 5}, GHK, [Group("g"), Group("h", tier=1)], {"C": 2}, tiers={"B": 1}),
    "promises": pool(
        [SMALL, LARGE, SMALL], {"a": 7}, GHK, [Group("g"), Group("h")], guarantees={"B": {"a": 4}, "C": {"a": 3}}
    ),
    "a promise to a group": pool([SMALL, LARGE, SMALL], {"a": 7}, GHK, [Group("g", guarantee={"a": 5}), Group("h")]),
    "weights of nothing": pool(
        [SMALL, SMALL, SMALL], {"a": 5}, GHK, [Group("g"), Group("h", 0)], {"A": 2}, weights={"A": 1, "B": 0, "C": 1}
    ),
    "two resources": pool([BOTH, SMALL, {"b": 2}], {"a": 4, "b": 5}, GHK, [Group("g"), Group("h", 2)]),
    "who are alike": pool(
        [LARGE, LARGE, LARGE, SMALL], {"a": 7}, {"A": "g", "B": "g", "C": "g", "D": "h"}, [Group("g", 3), Group("h")]
    ),
    # Where B stops first instead of A, C has to stop before both would.
    "another who stops first": pool(
        [BOTH, SMALL, {"b": 1}],
        {"a": 3, "b": 5},
        {"A": "g", "B": "k", "C": "h"},
        [Group("g"), Group("k"), Group("h", 2)],
    ),
    "types": pool([[TaskType(LARGE, 1), TaskType(SMALL, 2)], SMALL, LARGE], {"a": 6}, GHK, [Group("g"), Group("h")]),
    "who can have nothing": pool([SMALL, {"a": 9}, SMALL], {"a": 4}, GHK, [Group("g"), Group("h")]),
}


@pytest.mark.parametrize("policy", ["drf", "tasks"])
@pytest.mark.parametrize("instance", POOLS.values(), ids=list(POOLS))
def test_a_division_in_groups_is_right_where_no_way_to_stop_is_better(instance, policy):
    found = without_levels(file_of(instance, policy, integer=True))
    users = WholeUsers(instance, policy_named(policy), playing(instance))
    sweep, right = GroupSweep(users), 0
    best, own = sweep.best(), [row["tasks"] for row in found["users"]]
    most = [max(2, int(x) + 1) if i in users.members else 0 for i, x in enumerate(own)]
    for tasks in itertools.product(*(range(x + 1) for x in most)):
        for row, x in zip(found["users"], tasks, strict=True):
            row["tasks"] = x
        valid = verify(copy.deepcopy(found)).valid
        assert valid is (sweep.canonical([tasks[i] for i in users.members]) in best), tasks
        right += valid
    assert right
