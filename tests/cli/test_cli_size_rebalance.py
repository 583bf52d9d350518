"""``drfopt size`` and ``drfopt rebalance`` as they are typed: tables, JSON, files and exit statuses."""

import json

import pytest

from drfopt import Instance

SIZE = ("size", "nsdi2011", "--target", "A>=5,B>=4", "--cost", "cpu=1,memory=1", "--unit", "cpu=2,memory=4")


def test_what_to_buy(drfopt, tmp_path):
    larger = tmp_path / "larger.toml"
    ran = drfopt(*SIZE, "--cluster", larger)
    assert ran.status == 0
    assert "cost 22: no purchase is cheaper (gap 0)" in ran.out
    assert Instance.load(larger).exact_capacity == (23, 26)


def test_what_to_buy_as_json(drfopt):
    document = json.loads(drfopt(*SIZE, "--json").out)
    assert (document["status"], document["cost"], document["bound"]) == ("optimal", 22, 22)
    assert document["instance"] == "NSDI 2011, section 4.1" and "drfopt" in document["version"]


def test_targets_that_cannot_be_met_are_status_1(drfopt):
    ran = drfopt(*SIZE, "--max", "cpu=3")
    assert ran.status == 1
    assert "nothing that may be bought meets the targets" in ran.out


def test_no_time_is_status_3(drfopt):
    ran = drfopt(*SIZE, "--time-limit", "1e-9")
    assert ran.status == 3
    assert ran.err.startswith("error: the time limit ran out before a purchase was found")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--cost", "cpu"), "--cost: 'cpu' is no amount"),
        (("--cost", "cpu=1,cpu=2"), "'cpu' is given twice"),
        (("--cost", "cpus=1"), "did you mean 'cpu'"),
        (("--cost", "gpu=1"), "cost of 'gpu': the cluster has cpu, memory"),
        (("--cost", "cpu=1", "--policy", "drff"), "there is no policy 'drff'"),
        (("--cost", "cpu=1", "--cluster", "nowhere/x.toml"), "there is no folder"),
        (("--cost", "cpu=1", "--cluster", "x.text"), "the suffix '.text' is not known"),
    ],
)
def test_bad_usage_is_one_line_and_status_2(drfopt, arguments, message):
    ran = drfopt("size", "nsdi2011", "--target", "A>=4", *arguments)
    assert ran.status == 2
    assert message in ran.err and ran.err.count("\n") == 1


@pytest.fixture
def today(tmp_path):
    path = tmp_path / "today.json"
    path.write_text('{"tasks": {"B": 3}}')
    return path


def test_what_to_move(drfopt, today):
    ran = drfopt("rebalance", "nsdi2011", "--current", today)
    assert ran.status == 0
    assert "evict 1 of B from the pool" in ran.out and "(proven)" in ran.out
    document = json.loads(drfopt("rebalance", "nsdi2011", "--current", today, "--moves", "0", "--json").out)
    assert (document["moves"], document["evictions"], document["starts"]) == (0, 0, 0)
    assert document["status"] == "optimal" and document["at_most"] == 0


def test_what_runs_today_that_is_no_file(drfopt, tmp_path):
    ran = drfopt("rebalance", "nsdi2011", "--current", tmp_path / "none.json")
    assert ran.status == 2 and "no such file" in ran.err
