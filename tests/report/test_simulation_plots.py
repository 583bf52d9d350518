"""Pictures of simulations: their lines are the samples, step by step."""

import numpy as np
import pytest

from drfopt.base.errors import DrfoptError, InstanceError
from drfopt.reporting import simulations
from drfopt.simulation import Job, Scenario, Stage, User, simulate
from drfopt.simulation.distance import MEASURES, distance

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    from matplotlib import pyplot

    pyplot.close("all")


@pytest.fixture
def run():
    return simulate(Scenario.library("two-users"), every=0)


def test_lines_are_the_shares(run):
    ax = simulations.plot_shares_over_time(run)
    assert [line.get_label() for line in ax.get_lines()[:2]] == ["A", "B"]
    for line, shares in zip(ax.get_lines(), run.samples.dominant_shares.T, strict=False):
        assert np.allclose(line.get_ydata(), 100 * shares)
        assert line.get_drawstyle() == "steps-post"
    cpu = simulations.plot_shares_over_time(run, resource="cpu").get_lines()[0]
    assert np.allclose(cpu.get_ydata(), 100 * run.samples.shares[:, 0, 0])
    with pytest.raises(InstanceError, match="no 'gpu'"):
        simulations.plot_shares_over_time(run, resource="gpu")


def test_a_panel_a_rule_and_a_line_a_resource(run):
    axes = simulations.plot_runs([run, simulate(Scenario.library("two-users"), "fifo", every=0)])
    assert axes.shape == (2, 2)
    assert [ax.get_title() for ax in axes[0]] == ["drf", "fifo"]
    assert np.allclose(axes[1, 0].get_lines()[1].get_ydata(), 100 * run.samples.utilization[:, 1])


def test_distances_have_a_panel_a_measure(run):
    axes = simulations.plot_distances([distance(run)])
    assert [ax.get_ylabel() for ax in axes] == list(MEASURES)


def test_runs_and_distances_share_a_picture(run, tmp_path):
    axes = simulations.plot_runs([run], [distance(run)])
    assert [ax.get_ylabel() for ax in axes[2:, 0]] == list(MEASURES)
    simulations.save_runs([run], tmp_path / "runs.png", optimum=True)
    assert (tmp_path / "runs.png").stat().st_size > 10_000


def test_bars_stand_side_by_side():
    ax = simulations.plot_jobs(
        {"published": {"DRF": 35, "3 slots": 33}, "simulated": {"DRF": 60, "3 slots": 50}}, "jobs"
    )
    assert [[bar.get_height() for bar in bars] for bars in ax.containers] == [[35, 33], [60, 50]]


def test_a_crowd_is_grey_and_names_do_not_do_mathematics():
    users = tuple(User(f"${i}$", Job(Stage({"cpu": 1}, 1, 1))) for i in range(40))
    ax = simulations.plot_shares_over_time(simulate(Scenario({"cpu": 4}, users)))
    assert ax.get_legend() is None
    few = simulate(Scenario({"cpu": 4}, users[:2]))
    simulations.plot_shares_over_time(few).figure.canvas.draw()


def test_nothing_to_draw_is_said():
    for draw in (simulations.plot_runs, simulations.plot_distances):
        with pytest.raises(DrfoptError, match="there is no"):
            draw([])
