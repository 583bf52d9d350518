"""Files that ask for endless work: not decided, or refused, within seconds; and what they say can be shown."""

import json
import time

import numpy as np
import pytest

from drfopt import Allocation, Instance, solve
from drfopt.certificates.document import certificate_document
from drfopt.certificates.verifier import loads, number, verify

LONG = "7" * 2_000


def pool(capacity, demands, policy, tasks, whole=False, **proof):
    """Return a document of one pool, of one resource, users being called after their places."""
    users = [{"name": f"u{i}", "demand": {"cpu": d}} for i, d in enumerate(demands)]
    rows = [{"name": f"u{i}", "tasks": x, "level": None} for i, x in enumerate(tasks)]
    instance = {"capacity": {"cpu": capacity}, "users": users}
    return {"instance": instance, "policy": policy, "integer": whole, "users": rows, "proof": proof}


ENDLESS = {
    "a large power": pool(4, [1, 3], "alpha:99999999", ["2", "2/3"], prices={"cpu": 1}),
    "a large power of floats": pool(4, [1, 3], "alpha:99999999", [number("1.9"), number("0.7")], prices={"cpu": 1}),
    "a large power of an enclosure": pool(
        4, [1, 3], "alpha:99999999", [{"lower": "1", "upper": "2"}, "2/3"], prices={"cpu": 1}, point={"u0": "2"}
    ),
    "a number without end": pool("7" * 3_000_000, [1, 3], "drf", [2, "2/3"]),
    "a sum of long fractions": pool(4, [1] * 1_000, "drf", [f"1/{LONG}{i:04}1" for i in range(1_000)]),
    "whole tasks without end": pool(10**15, [1, 1], "drf", [5 * 10**14 - 1, 5 * 10**14 - 1], whole=True),
    "rounds without end": pool(
        300, [1] * 300, "drf", ["1"] * 300, rounds=[{"level": "1", "finished": [], "prices": {"cpu": 1}}] * 30_000
    ),
}


COSTLY = {"a sum of long fractions", "whole tasks without end", "rounds without end"}
"""Seconds each."""

ENOUGH = 150
"""Seconds of work: ten times what the longest takes; without a bound each would take hours."""


@pytest.mark.parametrize(
    "document",
    [pytest.param(d, id=name, marks=pytest.mark.slow if name in COSTLY else ()) for name, d in ENDLESS.items()],
)
def test_endless_work_ends_undecided(document):
    began = time.process_time()
    report = verify(document)
    assert report.valid is None
    assert "more work" in report.checks[-1].worst or "branches" in report.checks[-1].worst
    assert time.process_time() - began < ENOUGH


def test_a_number_that_no_float_holds_is_shown():
    report = verify(pool(1, [1], "drf", ["9" * 380 + "e300"]))
    assert report.valid is False
    assert "a number of some" in report.checks[-1].worst


@pytest.mark.parametrize("text", ["7" * 5_000 + ".5", "x" * 5_000, "1/" + "0" * 5_000, "nan", "1e9999999"])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(ValueError, match=r"number|fraction|certificate|literal"):
        verify(pool(1, [1], "drf", [text]))


def empty(users, resources):
    """Return a document that says nothing of most pairs of a user and a resource."""
    demands = [{"name": f"u{i}", "demand": {f"r{i}": 1}} for i in range(users)]
    instance = {"capacity": {f"r{j}": 1 for j in range(resources)}, "users": demands}
    rows = [{"name": f"u{i}", "tasks": 1} for i in range(users)]
    return {"instance": instance, "policy": "drf", "integer": False, "users": rows}


def classes(users, names):
    """Return a document in which every user may use a class of its own of very many."""
    machines = [{"name": f"m{k}", "capacity": {"cpu": 1}} for k in range(names)]
    demands = [{"name": f"u{i}", "demand": {"cpu": 1}, "machines": [f"m{i}"]} for i in range(users)]
    rows = [{"name": f"u{i}", "tasks": 1} for i in range(users)]
    return {
        "instance": {"machines": machines, "users": demands},
        "policy": "drf",
        "integer": False,
        "users": rows,
        "placement": {f"u{i}": {f"m{i}": 1} for i in range(users)},
    }


def groups(users, names):
    """Return a document in which very many groups have a ceiling, and nobody is in them."""
    document = pool(users, [1] * users, "drf", ["1"] * users)
    document["instance"]["groups"] = [{"name": f"g{k}", "ceiling": {"cpu": 1}} for k in range(names)]
    return document


@pytest.mark.parametrize("document", [empty(4_000, 4_000), classes(4_000, 4_000), groups(4_000, 4_000)])
def test_a_table_of_which_a_file_says_nothing_ends_undecided(document):
    began = time.process_time()
    assert verify(document).valid is None
    assert time.process_time() - began < ENOUGH


@pytest.mark.parametrize(
    ("shape", "written"),
    [
        ((300, 8), certificate_document),
        ((400, 8), Allocation.to_dict),
        pytest.param((2_000, 4), certificate_document, marks=pytest.mark.slow),
    ],
)
def test_a_genuine_certificate_of_long_fractions_is_decided(shape, written):
    """Demands of 16 digits make levels of thousands, of which all tasks are short multiples: files of a megabyte."""
    n, m = shape
    chance = np.random.default_rng(0)
    instance = Instance(chance.uniform(1, 9, shape), chance.uniform(5, 9, m) * n)
    text = json.dumps(written(solve(instance, "drf", exact=True)))
    assert len(text) < 2_500_000
    began = time.process_time()
    assert verify(loads(text)).valid
    assert time.process_time() - began < ENOUGH
    times, _, long = json.loads(text)["users"][7]["tasks"].partition("*")
    wrong = text.replace(f'"{times}*{long}"', f'"1{times}*{long}"')
    assert wrong != text and verify(loads(wrong)).valid is False


def test_levels_that_no_level_is_a_multiple_of():
    """Limits that are met, and resources that some users need none of: several levels, and short numbers between."""
    chance = np.random.default_rng(1)
    demands = chance.uniform(1, 9, (300, 3)) * (chance.uniform(size=(300, 3)) < 0.5)
    demands[~demands.any(axis=1)] = 1
    instance = Instance(demands, [50, 60, 70], max_tasks=[0.1 if i % 4 == 0 else np.inf for i in range(300)])
    found = solve(instance, "drf", exact=True)
    document = certificate_document(found)
    assert len(document["long"]) >= 1
    assert verify(loads(json.dumps(document))).valid
    assert Allocation.from_dict(json.loads(json.dumps(found.to_dict()))).tasks.tolist() == found.tasks.tolist()
