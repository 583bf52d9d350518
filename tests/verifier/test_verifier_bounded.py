"""Files that ask for endless work: not decided, or refused, within seconds; and what they say can be shown."""

import time

import pytest

from drfopt.certificates.verifier import number, verify

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


@pytest.mark.parametrize(
    "document",
    [pytest.param(d, id=name, marks=pytest.mark.slow if name in COSTLY else ()) for name, d in ENDLESS.items()],
)
def test_endless_work_ends_undecided(document):
    began = time.process_time()
    report = verify(document)
    assert report.valid is None
    assert "more work" in report.checks[-1].worst or "branches" in report.checks[-1].worst
    assert time.process_time() - began < 20


def test_a_number_that_no_float_holds_is_shown():
    report = verify(pool(1, [1], "drf", ["9" * 380 + "e300"]))
    assert report.valid is False
    assert "a number of some" in report.checks[-1].worst


@pytest.mark.parametrize("text", ["7" * 5_000 + ".5", "x" * 5_000, "1/" + "0" * 5_000, "nan", "1e9999999"])
def test_what_is_no_number_is_refused(text):
    with pytest.raises(ValueError, match=r"number|fraction|certificate|literal"):
        verify(pool(1, [1], "drf", [text]))
