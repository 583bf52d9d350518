"""Pictures of allocations: their columns are the usage, and they stay readable from 2 to 500 users."""

import sys

import numpy as np
import pytest

from drfopt.base.errors import DrfoptError
from drfopt.model.instance import Instance
from drfopt.reporting import plot_comparison, plot_shares
from drfopt.reporting.palette import STYLES
from drfopt.solving.allocating import solve

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

NSDI = Instance(
    {"A": {"cpu": 1, "memory": 4}, "B": {"cpu": 3, "memory": 1}}, {"cpu": 9, "memory": 18}, name="NSDI 2011"
)


@pytest.fixture(autouse=True)
def closed():
    yield
    from matplotlib import pyplot

    pyplot.close("all")


def crowd(n, m=3):
    random = np.random.default_rng(n)
    return Instance(random.integers(1, 20, (n, m)), random.integers(50, 90, m) * n)


def heights(ax):
    """Return the height of every drawn part, a row a user, the outline left out."""
    bars = [[bar.get_height() for bar in container] for container in ax.containers]
    return np.array(bars[:-1])


def labels(ax):
    return [text.get_text() for text in ax.texts]


def test_columns_are_the_shares_and_carry_their_amounts():
    ax = plot_shares(solve(NSDI, "drf"))
    np.testing.assert_allclose(heights(ax), [[100 / 3, 200 / 3], [200 / 3, 100 / 9]])
    assert labels(ax) == ["3 cpu", "12 memory", "6 cpu", "2 memory"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["cpu", "memory"]
    assert [entry.get_text() for entry in ax.get_legend().get_texts()] == ["unused", "B", "A"]


def test_the_three_panels_of_figure_4():
    panels = plot_comparison([solve(NSDI, policy) for policy in ("drf", "asset", "ceei")])
    assert [ax.get_title() for ax in panels] == ["(a) DRF", "(b) Asset fairness", "(c) CEEI"]
    assert labels(panels[1]) == ["2.52 cpu", "10.1 memory", "6.48 cpu", "2.16 memory"]
    (legend,) = panels[0].figure.legends
    assert [entry.get_text() for entry in legend.get_texts()] == ["A", "B", "unused"]


def test_given_axes_are_used_and_returned():
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2)
    allocations = [solve(NSDI, "drf"), solve(NSDI, "asset")]
    assert list(plot_comparison(allocations, axes)) == list(axes)
    assert plot_shares(allocations[0], axes[0]) is axes[0]
    figure.canvas.draw()


def test_a_comparison_is_drawn_from_its_allocations():
    class Comparison:
        allocations = (solve(NSDI, "drf"),)

    assert plot_comparison(Comparison())[0].get_title() == "DRF"


@pytest.mark.parametrize("n", [12, 13, 500])
def test_many_users_are_gathered_without_losing_anything(n):
    allocation = solve(crowd(n), "drf")
    ax = plot_shares(allocation)
    drawn = heights(ax)
    assert len(drawn) <= len(STYLES)
    np.testing.assert_allclose(drawn.sum(axis=0), 100 * allocation.utilization, atol=1e-6)
    names = [entry.get_text() for entry in ax.get_legend().get_texts()]
    assert (f"{n - len(STYLES) + 1} others" in names) == (n > len(STYLES))
    ax.figure.canvas.draw()


def test_a_user_keeps_her_colour_from_panel_to_panel():
    instance = crowd(40)
    first, second = plot_comparison([solve(instance, "drf"), solve(instance, "asset")])
    colours = [[c.patches[0].get_facecolor() for c in ax.containers] for ax in (first, second)]
    assert colours[0] == colours[1]


def test_whole_and_exact_tasks_and_an_absent_resource_are_drawn():
    absent = Instance([[1, 0], [2, 0]], [9, 0])
    ax = plot_shares(solve(absent, "drf", exact=True))
    assert heights(ax)[:, 1].tolist() == [0, 0]


def test_dollar_signs_are_not_mathematics():
    odd = Instance({"$A$": {"$x_$": 1}}, {"$x_$": 2})
    plot_shares(solve(odd, "drf")).figure.canvas.draw()


def test_wrong_calls_say_what_is_wrong():
    from matplotlib import pyplot

    with pytest.raises(DrfoptError, match="no allocation to draw"):
        plot_comparison([])
    with pytest.raises(DrfoptError, match="1 axes for 2 allocations"):
        plot_comparison([solve(NSDI, "drf")] * 2, [pyplot.subplots()[1]])


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(DrfoptError, match=r'pip install "drfopt\[plot\]"'):
        plot_shares(solve(NSDI, "drf"))
