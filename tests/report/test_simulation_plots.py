"""Pictures of simulations: their lines are the samples, step by step."""

import numpy as np
import pytest

from drfopt.base.errors import DrfoptError, InstanceError
from drfopt.reporting import simulations
from drfopt.simulation import Job, Scenario, Stage, User, simulate
from drfopt.simulation.distance import MEASURES, distance

pytest.importorskip("vl_convert")


def lines(panel):
    """Return what is drawn of every line, as pairs of second and value."""
    found = {}
    for row in panel["data"]["values"]:
        found.setdefault(row["key"], []).append((row["seconds"], row["value"]))
    return list(found.values())


def at(line, seconds):
    """Return where the line stands at each second: at its last value."""
    return [[value for second, value in line if second <= now][-1] for now in seconds]


@pytest.fixture
def run():
    return simulate(Scenario.library("two-users"), every=0)


def test_lines_are_the_shares(run):
    (panel,) = simulations.plot_shares_over_time(run).spec["concat"]
    assert '["A", "B"]' in str(panel)
    assert panel["layer"][0]["mark"]["interpolate"] == "step-after"
    times = run.samples.times
    for line, shares in zip(lines(panel), run.samples.dominant_shares.T, strict=True):
        assert np.allclose(at(line, times), shares)
    (cpu,) = simulations.plot_shares_over_time(run, resource="cpu").spec["concat"]
    assert np.allclose(at(lines(cpu)[0], times), run.samples.shares[:, 0, 0])
    with pytest.raises(InstanceError, match="no 'gpu'"):
        simulations.plot_shares_over_time(run, resource="gpu")


def test_a_panel_a_rule_and_a_line_a_resource(run):
    chart = simulations.plot_runs([run, simulate(Scenario.library("two-users"), "fifo", every=0)])
    assert chart.spec["columns"] == 2
    assert [panel.get("title") for panel in chart.spec["concat"]] == ["drf", "fifo", None, None]
    assert np.allclose(at(lines(chart.spec["concat"][2])[1], run.samples.times), run.samples.utilization[:, 1])


def test_distances_have_a_panel_a_measure(run):
    found = distance(run)
    chart = simulations.plot_distances([found])
    panels = chart.spec["concat"]
    assert [panel["encoding"]["y"]["axis"]["title"] for panel in panels] == list(MEASURES)
    for panel, values in zip(panels, found.columns().values(), strict=True):
        (line,) = lines(panel)
        drawn = [np.nan if value is None else value for value in at(line, found.times)]
        assert np.allclose(drawn, values, equal_nan=True)


def test_what_ends_is_drawn_to_its_end():
    nan = float("nan")
    drawn = list(simulations._news([0.0, 1.0, 2.0, 3.0, 4.0], [1.0, 1.0, nan, nan, 2.0]))
    assert drawn == [(0.0, 1.0), (2.0, 1.0), (2.0, None), (4.0, 2.0)]


def test_runs_and_distances_share_a_picture(run, tmp_path):
    chart = simulations.plot_runs([run], [distance(run)])
    assert [panel["encoding"]["y"]["axis"]["title"] for panel in chart.spec["concat"][2:]] == list(MEASURES)
    simulations.save_runs([run], tmp_path / "runs.png", optimum=True)
    assert (tmp_path / "runs.png").stat().st_size > 10_000


def test_bars_stand_side_by_side():
    chart = simulations.plot_jobs(
        {"published": {"DRF": 35, "3 slots": 33}, "simulated": {"DRF": 60, "3 slots": 50}}, "jobs"
    )
    (panel,) = chart.spec["concat"]
    assert panel["encoding"]["xOffset"]["field"] == "key"
    assert [row["value"] for row in panel["data"]["values"]] == [35, 33, 60, 50]
    assert chart.svg()


def test_a_crowd_is_grey_and_has_no_legend():
    users = tuple(User(f"${i}$", Job(Stage({"cpu": 1}, 1, 1))) for i in range(40))
    chart = simulations.plot_shares_over_time(simulate(Scenario({"cpu": 4}, users)))
    color = chart.spec["concat"][0]["layer"][0]["encoding"]["color"]
    assert color["legend"] is None
    assert set(color["scale"]["range"]) == {"var(--others)"}
    few = simulate(Scenario({"cpu": 4}, users[:2]))
    assert "$1$" in simulations.plot_shares_over_time(few).svg()


def test_nothing_to_draw_is_said():
    for draw in (simulations.plot_runs, simulations.plot_distances, simulations.plot_shares_over_time):
        with pytest.raises(DrfoptError, match="there is no"):
            draw([])
