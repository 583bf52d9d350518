"""Columns of shares: every number drawn is the allocation's, for 2 users and for 500."""

import json
import sys

import numpy as np
import pytest
from clusters_to_show import NSDI, crowd

from drfopt.base.errors import DrfoptError
from drfopt.model.instance import Instance
from drfopt.reporting import plot_comparison, plot_shares
from drfopt.reporting.palette import USER_INKS
from drfopt.solving.allocating import solve

pytest.importorskip("vl_convert")


def rows(chart, panel=0):
    return chart.spec["concat"][panel]["data"]["values"]


def heights(chart, panel=0):
    """Return the height of every part in percent, a row a part."""
    values = rows(chart, panel)
    keys, places = ({row[name] for row in values} for name in ("key", "place"))
    found = {(row["key"], row["place"]): row["share"] for row in values}
    return np.array([[100 * found[key, place] for place in sorted(places)] for key in sorted(keys)])


def labels(chart, panel=0):
    return [row["text"] for row in sorted(rows(chart, panel), key=lambda row: row["key"]) if row["text"]]


def legend(chart, panel=0):
    bars = chart.spec["concat"][panel]["layer"][0]["encoding"]["color"]
    return bars["legend"]["labelExpr"], bars["scale"]["range"]


def test_columns_are_the_shares_and_carry_their_amounts():
    chart = plot_shares(solve(NSDI, "drf"))
    np.testing.assert_allclose(heights(chart), [[100 / 3, 200 / 3], [200 / 3, 100 / 9]])
    assert labels(chart) == ["3 cpu", "12 memory", "6 cpu", "2 memory"]
    assert chart.spec["concat"][0]["encoding"]["x"]["axis"]["labelExpr"] == '["cpu", "memory"][datum.value]'
    assert legend(chart)[0] == '["A", "B", "unused"][datum.value]'


def test_the_three_panels_of_figure_4():
    chart = plot_comparison([solve(NSDI, policy) for policy in ("drf", "asset", "ceei")])
    assert [panel["title"] for panel in chart.spec["concat"]] == ["(a) DRF", "(b) Asset fairness", "(c) CEEI"]
    assert labels(chart, 1) == ["2.52 cpu", "10.1 memory", "6.48 cpu", "2.16 memory"]
    assert legend(chart, 0) == legend(chart, 2)


def test_a_comparison_is_drawn_from_its_allocations():
    class Comparison:
        allocations = (solve(NSDI, "drf"),)

    assert plot_comparison(Comparison()).spec["concat"][0]["title"] == "DRF"


@pytest.mark.parametrize("n", [12, 13, 500])
def test_many_users_are_gathered_without_losing_anything(n):
    allocation = solve(crowd(n), "drf")
    chart = plot_shares(allocation)
    drawn = heights(chart)
    assert len(drawn) <= len(USER_INKS)
    np.testing.assert_allclose(drawn.sum(axis=0), 100 * allocation.utilization, atol=1e-6)
    assert (f"{n - len(USER_INKS) + 1} others" in legend(chart)[0]) == (n > len(USER_INKS))
    assert chart.svg().startswith("<svg")


def test_a_user_keeps_its_colour_from_panel_to_panel():
    instance = crowd(40)
    chart = plot_comparison([solve(instance, "drf"), solve(instance, "asset")])
    assert legend(chart, 0) == legend(chart, 1)
    tips = [[row["tip"].partition(":")[0] for row in rows(chart, panel)] for panel in (0, 1)]
    assert tips[0] == tips[1]


def test_whole_and_exact_tasks_and_an_absent_resource_are_drawn():
    absent = Instance([[1, 0], [2, 0]], [9, 0])
    chart = plot_shares(solve(absent, "drf", exact=True))
    assert heights(chart)[:, 1].tolist() == [0, 0]
    assert plot_shares(solve(NSDI, "drf", integer=True)).png().startswith(b"\x89PNG")


def test_a_notebook_shows_the_picture():
    chart = plot_shares(solve(NSDI, "drf"))
    assert chart._repr_svg_() == chart.svg()


def test_wrong_calls_say_what_is_wrong():
    with pytest.raises(DrfoptError, match="no allocation to draw"):
        plot_comparison([])


def test_without_the_extra_the_error_names_it(monkeypatch):
    chart = plot_shares(solve(NSDI, "drf"))
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(DrfoptError, match=r'pip install "drfopt\[plot\]"'):
        chart.svg()


def test_panels_of_one_policy_are_told_apart():
    truth, report = (solve(Instance(rows, [100, 100]), "ceei") for rows in ([[16, 1], [1, 2]], [[16, 8], [1, 2]]))
    drawn = json.dumps(plot_comparison([truth, report], titles=["(a) the truth", "(b) a report"]).spec)
    assert "(a) the truth" in drawn and "(b) a report" in drawn
    with pytest.raises(DrfoptError, match="give one title each"):
        plot_comparison([truth, report], titles=["one"])
