"""The registry of questions is well-formed, instances are the same on every run, and the clock's rules hold."""

import itertools

import numpy as np
import pytest

from benchmarks import page
from benchmarks.__main__ import main
from benchmarks.families import POOLS, cluster, whole_pool
from benchmarks.measure import Absent, Bench, Case, Failure, Row, Verdict, Way
from benchmarks.peers import Market, nash_product, tidied
from benchmarks.pools import STATEMENTS, market
from benchmarks.questions import QUESTIONS, question_named
from benchmarks.reference import ceei_tasks, leximin_levels, lowest, off
from drfopt.base.errors import SolverError
from drfopt.solving.allocating import solve

# The first row of demands and the first class. Should numpy ever draw other numbers from a seed, then the committed
# results are of other instances, and have to be made anew.
GENERIC_3 = [34, 16, 0, 32, 80, 27, 4, 98]
CLUSTER_12 = [96, 384, 8, 500]

QUICK = {"limit": 20.0, "budget": 0.0, "most": 1}

BUILDERS = {
    **{family.name: lambda family=family: family.build(30) for family in POOLS},
    "cluster": lambda: cluster(12, 4, limited=True),
    "whole": lambda: whole_pool(5),
}


# ---- the registry ---------------------------------------------------------------------------------


def test_names_are_different():
    names = [question.name for question in QUESTIONS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_a_question_has_all_it_needs(question):
    assert question.question.endswith("?")
    assert len(question.expectation) > 100, "an expectation says what and why"
    assert question.happened, "after the committed run somebody writes what happened"
    assert question.sizes and question.smoke
    assert callable(question.run)


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_a_question_is_measured_in_small(question, capsys, monkeypatch):
    rows, tables = list[Row](), page.tables

    def kept(found):
        rows.extend(found)
        return tables(found)

    monkeypatch.setattr(page, "tables", kept)
    assert main(["--smoke", "--only", question.name]) == 0
    assert capsys.readouterr().out.startswith("### ")
    # What peers and yardsticks cannot do is a result; what drfopt cannot is a fault.
    assert [r for r in rows if r.role == "drfopt" and (r.note.startswith("failed") or r.proof == "invalid")] == []


def test_an_unknown_question_is_told_the_known_ones(capsys):
    with pytest.raises(KeyError, match="leximin-pool"):
        question_named("leximn")
    with pytest.raises(SystemExit):
        main(["--only", "leximn"])
    assert "leximin-pool" in capsys.readouterr().err


# ---- families -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BUILDERS)
def test_an_instance_is_the_same_every_time(name):
    assert BUILDERS[name]() == BUILDERS[name]()


def test_an_instance_is_the_same_in_every_process():
    assert POOLS[0].build(3).demands[0].tolist() == GENERIC_3
    assert cluster(12, 4, limited=True).machine_capacity[0].tolist() == CLUSTER_12


def test_families_are_what_they_say():
    made = {family.name: family.build(200) for family in POOLS}
    assert len(np.unique(made["tied"].demands, axis=0)) <= 5
    assert ((made["zero-heavy"].demands > 0).sum(axis=1) <= 2).all()
    limits = made["limits"].limits
    assert (limits == 0).any() and (limits == np.inf).any() and ((limits > 0) & (limits < np.inf)).any()
    needed = made["ill-scaled"].demands[made["ill-scaled"].demands > 0]
    assert needed.max() / needed.min() > 1e16
    assert all(instance.demands.any(axis=1).all() for instance in made.values())


# ---- references -----------------------------------------------------------------------------------


@pytest.mark.parametrize("family", POOLS, ids=lambda family: family.name)
def test_the_reference_in_long_double_is_the_one_in_fractions(family, monkeypatch):
    instance = family.build(25)
    exact, source = leximin_levels(instance)
    assert source == "fractions"
    monkeypatch.setattr("benchmarks.reference.FRACTIONS", 0)
    wide, source = leximin_levels(instance)
    assert source == "long double"
    assert off(wide, exact) < 1e-14


@pytest.mark.parametrize("family", POOLS, ids=lambda family: family.name)
def test_the_reference_of_ceei_corrects_where_it_begins(family):
    instance = family.build(25)
    prices = solve(instance, "ceei").prices
    assert off(ceei_tasks(instance, prices * (1 + 1e-4)), ceei_tasks(instance, prices)) < 1e-14


def test_a_difference_is_seen():
    assert off(np.array([0.0, 1.0]), np.array([0.0, 1.0])) == 0
    assert off(np.array([0.0, 1.0]), np.array([0.0, 1.1])) > 0.09
    assert off(np.array([0.0]), np.array([1.0])) == 1
    assert off(np.array([1.0]), None) is None


# ---- the clock ------------------------------------------------------------------------------------


def case(*ways: Way, n: int = 1) -> Case:
    return Case("group", f"n = {n}", n, lambda: None, ways)


def test_failures_are_rows():
    def failing(error):
        def run(instance):
            raise error

        return run

    ways = [
        Way("own", "drfopt", failing(SolverError("no optimum\nand more"))),
        Way("peer", "peer", failing(Failure("stopped"))),
        Way("absent", "peer", failing(Absent("not installed"))),
        Way("large", "peer", lambda instance: None, largest=0, why="it is slow"),
    ]
    rows = Bench(**QUICK).measure("question", case(*ways))
    assert [row.seconds for row in rows] == [None] * 4
    assert [row.note.partition(" after ")[0] for row in rows[:2]] == ["failed"] * 2
    assert rows[0].note.endswith("no optimum")
    assert rows[2].note == "not installed"
    assert rows[3].note == "left out above n = 0: it is slow"


def test_a_slip_in_a_way_is_not_a_row():
    with pytest.raises(ZeroDivisionError):
        Bench(**QUICK).measure("question", case(Way("way", "peer", lambda instance: 1 / 0)))


def test_what_would_take_too_long_is_left_out():
    bench = Bench(limit=-1.0, budget=0.0, most=1)
    way = Way("slow", "peer", lambda instance: None)
    first, second = (bench.measure("question", case(way, n=n))[0] for n in (1, 10))
    assert first.seconds is not None
    assert second.seconds is None and second.note.startswith("left out: it took")


def test_ratios_are_to_the_fastest_yardstick_and_to_the_sum():
    ticks = itertools.count()
    ways = [
        Way("D.sum()", "yardstick", lambda instance: next(ticks)),
        Way("one", "yardstick", lambda instance: next(ticks)),
        Way("other", "yardstick", lambda instance: next(ticks)),
        Way("own", "drfopt", lambda instance: next(ticks), lambda instance, answer: Verdict(0.5)),
    ]
    total, one, other, own = Bench(**QUICK).measure("question", case(*ways))
    assert own.ratio == own.seconds / min(one.seconds, other.seconds)
    assert own.sum_ratio == own.seconds / total.seconds
    assert own.error == 0.5


# ---- a question, and what is kept -----------------------------------------------------------------


def test_a_tiny_question_runs_and_its_rows_survive_the_file(tmp_path, monkeypatch):
    rows = question_named("leximin-pool").run(Bench(**QUICK), ("limits", 12))
    own = {row.way: row for row in rows if row.role == "drfopt"}
    assert own["drfopt filling"].proof == own["drfopt lp-chain"].proof == "valid"
    assert own["drfopt filling"].error < 1e-12
    assert {row.way for row in rows if row.role == "yardstick"} >= {"D.sum()", "one LP, no row a user"}

    pytest.importorskip("vl_convert")
    monkeypatch.setattr(page, "RESULTS", tmp_path)
    page.write(rows, {"date": "today"})
    kept = page.read()
    assert [row.way for row in kept] == [row.way for row in rows]
    assert all(isinstance(row, Row) for row in kept)
    np.testing.assert_allclose([row.seconds or 0 for row in kept], [row.seconds or 0 for row in rows], rtol=1e-5)
    assert "**drfopt filling**" in (tmp_path / page.PAGE).read_text(encoding="utf-8")


def test_an_inaccurate_answer_of_a_peer_is_rejected():
    instance = POOLS[0].build(10)
    found = solve(instance, "ceei")
    judge = market("CLARABEL", "peer", 20.0, found.tasks).judge
    for change, verdict in ((0.0, "valid"), (-1e-6, "invalid")):
        tasks = found.tasks * (1 + change * np.eye(10)[3])
        judged = judge(instance, Market(tasks, tasks[:, None], found.prices[None, :], "optimal"))
        assert judged.proof == verdict
        assert judged.error == pytest.approx(-change)


def test_what_a_tolerance_leaves_behind_is_not_held_against_a_peer():
    instance = POOLS[3].build(40)
    found = solve(instance, "ceei")
    dusty = found.tasks * np.where(found.tasks == instance.limits, 1 - 1e-6, 1)
    duals = found.prices * instance.capacity
    cleared = tidied(instance, dusty[:, None], duals[None, :] + 1e-9 * duals.sum(), "optimal")
    np.testing.assert_allclose(cleared.tasks, found.tasks, rtol=1e-12)
    assert (cleared.prices[0] > 0).tolist() == (found.prices > 0).tolist()


def test_a_conic_solver_is_asked_the_right_question():
    for instance in (POOLS[3].build(12), cluster(12, 4, limited=True)):
        theirs = nash_product(instance, "CLARABEL", 20.0)
        assert off(theirs.tasks, solve(instance, "ceei").tasks) < 1e-3


def test_one_program_is_stated_rightly_in_every_way():
    for instance in (POOLS[0].build(12), POOLS[3].build(12)):
        expected = lowest(leximin_levels(instance)[0], instance)
        for statement in STATEMENTS.values():
            assert statement(instance, 20.0) == pytest.approx(expected, rel=1e-6)


def test_a_missing_trace_is_a_row(tmp_path, monkeypatch):
    monkeypatch.setenv("DRFOPT_DATA", str(tmp_path))
    (row,) = question_named("openb").run(Bench(**QUICK), None)
    assert row.seconds is None and "DRFOPT_DATA" in row.note


def test_the_committed_results_are_of_these_questions():
    assert {row.question for row in page.read()} == {question.name for question in QUESTIONS}
    text = (page.RESULTS / page.PAGE).read_text(encoding="utf-8")
    assert all(question.expectation in text and question.happened in text for question in QUESTIONS)
