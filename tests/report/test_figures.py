"""Figures: bars add up to what is used, everything stays on its sheet, and nothing is unreadable."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from clusters_to_show import NSDI, crowd, hostile, machines

from drfopt.planning import what_if
from drfopt.planning.sweeping import sweep
from drfopt.reporting.drawing import Box, Dot, Line, Words, fitted, width_of
from drfopt.reporting.figures import axes, figures
from drfopt.reporting.findings import study
from drfopt.reporting.numbers import fixed, number, percent
from drfopt.reporting.palette import INKS, OTHERS, PAGE, STYLES, contrast
from drfopt.reporting.raster import png
from drfopt.reporting.svg import standalone

CASES = {"pool": NSDI, "machines": machines(), "crowd": crowd(60), "nine": crowd(5, 9), "hostile": hostile()}


@pytest.fixture(scope="module")
def drawn():
    found = {}
    for name, instance in CASES.items():
        resource = instance.resources[0]
        document = study(
            instance,
            sweeps=[sweep(instance, ["1/2", "1", "2"], resource=resource, jobs=1)],
            whatifs=[what_if(instance, [f"scale {resource}=2"])],
        )
        found[name] = document, figures(document)
    return found


@pytest.mark.parametrize("case", CASES)
def test_bars_add_up_to_what_is_used(drawn, case):
    document, found = drawn[case]
    for allocation, panel in zip(document["comparison"]["allocations"], found["holdings"].panels, strict=True):
        upright = len(allocation["resources"]) <= 6
        outlines = [mark for mark in panel.marks if isinstance(mark, Box) and not mark.fill]
        parts = [mark for mark in panel.marks if isinstance(mark, Box) and mark.fill]
        for outline, resource in zip(outlines, allocation["resources"], strict=True):
            mine = [p for p in parts if (p.x == outline.x if upright else p.y == outline.y)]
            long = sum(p.height for p in mine) if upright else sum(p.width for p in mine)
            whole = outline.height if upright else outline.width
            # Parts thinner than half a pixel are not drawn.
            assert long / whole == pytest.approx(resource["utilization"], abs=0.4 * len(STYLES) / whole)


@pytest.mark.parametrize("case", CASES)
def test_everything_is_on_its_sheet(drawn, case):
    for figure in drawn[case][1].values():
        for panel in (*figure.panels, figure.whole()):
            for mark in panel.marks:
                points = mark.points if isinstance(mark, Line) else [(mark.x, mark.y)]
                if isinstance(mark, Box):
                    points = [*points, (mark.x + mark.width, mark.y + mark.height)]
                assert all(np.isfinite(points).ravel())
                assert all(-1 <= x <= panel.width + 1 and -1 <= y <= panel.height + 1 for x, y in points), mark
                if isinstance(mark, Words) and not mark.turned and mark.anchor == "start" and mark.size < 13:
                    assert mark.x + 0.8 * width_of(mark.text, mark.size) <= panel.width + 1, mark


@pytest.mark.parametrize("case", CASES)
def test_every_figure_is_told_in_words_and_uses_known_inks(drawn, case):
    _, found = drawn[case]
    assert {"holdings", "shares", "stops", "fairness", "sweep-1"} <= found.keys()
    assert ("classes" in found) == (case in ("machines", "hostile"))
    for figure in found.values():
        assert figure.title
        assert figure.caption.endswith(".")
        assert figure.alternative.endswith(".")
        for panel in figure.panels:
            for mark in panel.marks:
                inks = {mark.fill, mark.stroke} if isinstance(mark, Box) else {mark.ink}
                assert inks - {""} <= INKS["light"].keys()


@pytest.mark.parametrize("case", CASES)
def test_every_figure_is_a_picture_in_both_formats(drawn, case):
    for figure in drawn[case][1].values():
        whole = figure.whole()
        text = standalone(whole)
        tree = ElementTree.fromstring(text.encode("utf-8", "surrogatepass"))
        assert float(tree.get("width")) == pytest.approx(whole.width, abs=0.01)
        assert len(list(tree.iter("{http://www.w3.org/2000/svg}text"))) >= 3


def test_a_png_is_the_same_bytes_again_and_twice_as_many_dots():
    pytest.importorskip("matplotlib")
    whole = figures(study(NSDI))["fairness"].whole()
    first = png(whole)
    assert first == png(whole)
    assert first.startswith(b"\x89PNG")
    wide = int.from_bytes(first[16:20], "big")
    assert wide == pytest.approx(2 * whole.width, abs=2)


def test_hostile_names_are_drawn_too(drawn):
    pytest.importorskip("matplotlib")
    for name in ("holdings", "shares", "classes"):
        assert png(drawn["hostile"][1][name].whole())


def test_policies_at_one_point_are_named_together():
    panel = figures(study(CASES["pool"], ["drf", "alpha:0", "utilitarian"]))["fairness"].panels[0]
    names = [mark.text for mark in panel.marks if isinstance(mark, Words)]
    assert "alpha:0, utilitarian" in names
    dots = [mark for mark in panel.marks if isinstance(mark, Dot)]
    assert len({dot.radius for dot in dots}) == 2


@pytest.mark.parametrize("theme", INKS)
def test_letters_are_readable_and_parts_are_seen(theme):
    inks = INKS[theme]
    for paper in ("paper", "card", "wash"):
        for ink in ("ink", "muted", "accent"):
            assert contrast(inks[ink], inks[paper]) >= 4.5, (ink, paper)
    for name, colour in inks.items():
        if name.startswith("on-"):
            assert contrast(colour, inks[name[3:]]) >= 4.5, name
        if name.startswith("policy") or name == "outline":
            assert contrast(colour, inks["paper"]) >= 3, name
    assert set(PAGE) <= inks.keys()
    assert OTHERS not in STYLES


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize(
    ("values", "zero"),
    [
        ([0.5], False),
        ([0], False),
        ([0], True),
        ([1, 1 + 1e-12], False),
        ([3, 97], True),
        ([-2, 5], True),
        ([1e-9], True),
    ],
)
def test_a_scale_holds_its_values_between_ticks(values, zero):
    scale = axes.linear(values, 10, 110, zero=zero)
    assert all(10 <= scale(value) <= 110 for value in values)
    assert 2 <= len(scale.ticks) <= 7
    names = axes.names_for(scale.ticks)
    assert len(set(names)) == len(names)
    assert [scale(tick) for tick in scale.ticks] == sorted(scale(tick) for tick in scale.ticks)


def test_a_small_difference_is_not_made_to_look_large():
    scale = axes.linear([0.999, 1.0], 0, 100, least=0.1, most=1.0)
    assert scale.high - scale.low == pytest.approx(0.1)
    assert scale.high == 1
    assert scale(1.0) - scale(0.999) < 2


def test_a_scale_of_powers_of_ten():
    scale = axes.logarithmic([2e-5, 0.3], 0, 100)
    assert (scale.low, scale.high) == (1e-5, 1)
    assert scale(0) == 0
    assert scale(1) == 100


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (2 / 3, "0.6667"),
        (1234567.8, "1,234,568"),
        (22.5, "22.5"),
        (1e-9, "1e-09"),
        (0.000123456, "0.0001235"),
    ],
)
def test_a_number_is_short_and_right(value, text):
    assert number(value) == text


def test_percentages_and_columns():
    assert percent(2 / 3) == "66.7 %"
    assert percent(None) == "–"
    assert fixed([3, 2, None]) == ["3", "2", "–"]
    assert fixed([2.52, 2.16]) == ["2.52", "2.16"]
    assert fixed([1 / 3, 2 / 3], share=True) == ["33.3", "66.7"]
    assert fixed([1e-9, 1.0, 2.5]) == ["<0.01", "1.00", "2.50"]
    assert fixed([1, 2], pool=[1, 2, 0.25]) == ["1.00", "2.00"]


def test_a_long_name_is_cut_to_its_room():
    for text in ("a" * 300, "漢" * 300, "W" * 300):
        short = fitted(text, 100)
        assert width_of(short) <= 100
        assert re.fullmatch(r"(.)\1*…", short)
    assert fitted("short", 100) == "short"
