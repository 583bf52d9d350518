"""Figures: their rows are the document's numbers, told in words, in known inks, and every one is a picture."""

import json
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from clusters_to_show import HOSTILE, NSDI, crowd, hostile, machines

from drfopt import Instance, Machine, what_if
from drfopt.base.errors import InstanceError
from drfopt.base.numbers.shown import fixed, in_full, number, percent, towards
from drfopt.base.tables import clean
from drfopt.planning.sweeping import sweep
from drfopt.reporting import vega
from drfopt.reporting.charts import Key, named, room_for, span, thinned, unkeyed
from drfopt.reporting.figures import figures
from drfopt.reporting.findings import study
from drfopt.reporting.palette import DASHES, HATCHES, INKS, PAGE, POLICY_SHAPES, USER_INKS, contrast, hatches
from drfopt.reporting.vega import library
from drfopt.reporting.views import collapsed

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


def rows_of(spec):
    """Return every row of data, wherever it stands in the specification."""
    if isinstance(spec, dict):
        own = spec.get("data", {}).get("values", [])
        return own + [row for name, value in spec.items() if name != "data" for row in rows_of(value)]
    return [row for value in spec for row in rows_of(value)] if isinstance(spec, list) else []


def texts_of(spec):
    """Return every text of the specification outside its data."""
    if isinstance(spec, dict):
        return [text for name, value in spec.items() if name != "values" for text in texts_of(value)]
    if isinstance(spec, list):
        return [text for value in spec for text in texts_of(value)]
    return [spec] if isinstance(spec, str) else []


cases = pytest.mark.parametrize("case", CASES)


@cases
def test_bars_add_up_to_what_is_used(drawn, case):
    document, found = collapsed(drawn[case][0]), drawn[case][1]
    for allocation, panel in zip(document["comparison"]["allocations"], found["holdings"].panels, strict=True):
        rows = [row for row in rows_of(panel.spec) if "share" in row]
        for place, resource in enumerate(allocation["resources"]):
            mine = [row for row in rows if row["place"] == place]
            assert sum(row["share"] for row in mine) == pytest.approx(resource["utilization"], abs=1e-12)
            assert sum(row["held"] for row in mine) == pytest.approx(resource["used"], rel=1e-12)
            # Each stands on the one before.
            assert [row["from"] for row in mine] == [0.0, *(row["to"] for row in mine[:-1])]
        if len(document["users"]) <= len(USER_INKS):
            for row in rows:
                user = allocation["users"][row["key"]]
                assert row["held"] == pytest.approx(list(user["usage"].values())[row["place"]], rel=1e-12)


@cases
def test_points_and_lines_are_the_documents_numbers(drawn, case):
    document, found = collapsed(drawn[case][0]), drawn[case][1]
    allocations, n = document["comparison"]["allocations"], len(document["users"])
    rows = [rows_of(panel.spec) for panel in found["shares"].panels]
    for key, allocation in enumerate(allocations):
        shares = [user["dominant_share"] for user in allocation["users"]]
        if n <= 24:
            mine = {row["place"]: row["share"] for row in rows[0] if row.get("key") == key}
            assert [mine[place] for place in range(n)] == shares
        else:
            ranked = sorted(share for share in shares if share > 0)
            mine = [(row["across"], row["share"]) for row in rows[0] if row["key"] == key]
            assert all(ranked[rank - 1] == share for rank, share in mine)
            assert mine[0][0] == 1
            assert mine[-1][0] == len(ranked)
            assert [row["share"] for row in rows[1] if row.get("key") == key][-1] == pytest.approx(1)
    planes = (("sum_of_shares", "lowest"), ("sum_of_shares", "nash"), ("utilization", "jain"))
    assert ("fairness" in found) == (len(allocations) > 1)
    for panel, (across, upwards) in zip(found["fairness"].panels, planes, strict=True) if "fairness" in found else ():
        points = {row["key"]: (row["across"], row["upwards"]) for row in rows_of(panel.spec) if "key" in row}
        assert [points[k] for k in range(len(allocations))] == [(m[across], m[upwards]) for m in document["measures"]]
    for place, panel in enumerate(found["stops"].panels):
        counts = [row["count"] for row in rows_of(panel.spec)]
        assert counts[: len(document["resources"])] == [r["stopped"][place] for r in document["resources"]]
    (swept,) = document["sweeps"]
    lowest, total, used = (rows_of(panel.spec) for panel in found["sweep-1"].panels)
    assert [(row["at"], row["value"]) for row in lowest] == [(step["at"], step["lowest"]) for step in swept["steps"]]
    assert [row["value"] for row in total] == [step["sum_of_shares"] for step in swept["steps"]]
    for row in used:
        (step,) = (step for step in swept["steps"] if step["at"] == row["at"])
        assert row["value"] == step["used"][row["key"]]


@cases
def test_maps_and_changes_are_the_documents_numbers(drawn, case):
    document, found = collapsed(drawn[case][0]), drawn[case][1]
    for place, panel in enumerate(found["classes"].panels if document["machines"] else ()):
        for row in rows_of(panel.spec):
            cell = document["machines"][row["row"]]["resources"][row["column"]]["allocations"][place]
            assert (row["used"], row["stopped"]) == (cell["utilization"], cell["stopped"])
    if "whatif-1" in found:
        parts = {clean(user["name"]): user["part"] for user in document["whatifs"][0]["users"]}
        rows = [row for row in rows_of(found["whatif-1"].panels[0].spec) if "tip" in row]
        assert [row["part"] for row in rows] == sorted((row["part"] for row in rows), reverse=True)
        assert all(parts[row["tip"].rpartition(": ")[0]] == row["part"] for row in rows)


@cases
def test_every_figure_is_told_in_words_and_uses_known_inks(drawn, case):
    _, found = drawn[case]
    assert {"holdings", "shares", "stops", "sweep-1"} <= found.keys()
    assert ("classes" in found) == (case in ("machines", "hostile"))
    for figure in found.values():
        assert figure.title
        assert figure.caption.endswith(".")
        assert figure.alternative.endswith(".")
        for panel in figure.panels:
            json.dumps(panel.spec, allow_nan=False)
            inks = {
                name for text in texts_of(panel.spec) for name in re.findall(r"^(?:var\(--|url\(#)([\w-]+)\)$", text)
            }
            assert inks
            assert inks <= INKS["light"].keys()
            assert not [text for text in texts_of(panel.spec) if re.match("#[0-9A-Fa-f]{3}", text)]


@cases
def test_a_legend_names_every_key_and_no_two_look_alike(drawn, case):
    for figure in drawn[case][1].values():
        looks = [(key.paint, key.shape, key.dash) for key in figure.keys]
        assert len(set(looks)) == len(looks)
        keys = {row["key"] for panel in figure.panels for row in rows_of(panel.spec) if "key" in row}
        assert not figure.keys or max(keys) < len(figure.keys)
        if figure.name in ("shares", "fairness"):
            # Told apart without colour too.
            assert len({(key.shape, key.dash) for key in figure.keys}) == len(figure.keys)


@cases
def test_every_figure_is_a_picture(drawn, case):
    for figure in drawn[case][1].values():
        text = figure.whole().svg()
        tree = ElementTree.fromstring(text.encode("utf-8", "surrogatepass"))
        assert len(list(tree.iter("{http://www.w3.org/2000/svg}text"))) >= 3
        # Colours are written out: a file has no page around it.
        assert "var(--" not in text
        for ink in re.findall(r"url\(#(user\d+)\)", text):
            assert f'<pattern id="{ink}"' in text


def test_a_picture_is_written_in_three_formats_and_the_same_again(tmp_path, drawn):
    chart = drawn["hostile"][1]["holdings"].whole()
    assert chart.png() == chart.png()
    for ending, begins in (("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
        chart.save(tmp_path / f"picture.{ending}")
        assert (tmp_path / f"picture.{ending}").read_bytes().startswith(begins)
    with pytest.raises(InstanceError, match=r"\.gif: a picture is written as \.svg, \.png, \.pdf"):
        chart.save(tmp_path / "picture.gif")


def test_names_are_strings_of_a_list_wherever_an_expression_is(drawn):
    for figure in drawn["hostile"][1].values():
        for panel in figure.panels:
            expressions = [text for text in texts_of(panel.spec) if text.endswith("[datum.value]")]
            for text in expressions:
                assert isinstance(json.loads(text.removesuffix("[datum.value]")), list)
    assert json.loads(named(HOSTILE).removesuffix("[datum.value]")) == [clean(name) for name in HOSTILE]


def test_policies_that_give_the_same_are_one():
    document = study(CASES["pool"], ["drf", "alpha:0", "utilitarian"])
    assert document["shown"] == [0, 1]
    assert document["titles"] == ["DRF", "alpha:0 = utilitarian", "utilitarian"]
    found = figures(document)
    assert [panel.title for panel in found["holdings"].panels] == ["DRF", "alpha:0 = utilitarian"]
    rows = rows_of(found["fairness"].panels[0].spec)
    assert "alpha:0 = utilitarian" in [row["text"] for row in rows if "text" in row]
    # A difference that certificates see is one.
    assert study(CASES["pool"], ["drf", "ceei"])["shown"] == [0, 1]
    assert "fairness" not in figures(study(CASES["pool"], ["alpha:0", "utilitarian"]))


def test_labels_do_not_cover_each_other():
    many = ["drf", "asset", "ceei", "utilitarian", "tasks", "alpha:2", "alpha:0.5", "single:cpu"]
    for panel in figures(study(crowd(30), many))["fairness"].panels:
        labels = [row for row in rows_of(panel.spec) if "text" in row]
        named_here = {name for row in labels for name in row["text"].split(", ")}
        assert len(named_here) == len(many)
        assert all(abs(row["lower"]) <= 120 for row in labels)


def test_a_centred_label_covers_no_point():
    """Two policies a hair apart: the lower one's label goes below both points, not over them."""
    from drfopt.reporting.figures import tradeoff

    keys = (Key("one", "policy0"), Key("two", "policy1"))
    at = [(0.5, 0.5), (0.49, 0.48)]
    high, low = tradeoff._labels(at, at, keys)
    for row in (high, low):
        # Pixels downwards from its own point to those of both.
        spaces = [abs(row["lower"] - (row["upwards"] - y) * tradeoff.HEIGHT) for _, y in at]
        assert min(spaces) >= tradeoff.LINE * tradeoff.HEIGHT - 0.1
    assert high["lower"] < 0 < low["lower"]


def test_wide_letters_have_room():
    assert room_for(["memory-mb"]) > room_for(["vcores-ic"])


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
    assert "others" not in USER_INKS


def test_neighbours_differ_by_more_than_colour():
    paths = [HATCHES[ink] for ink in USER_INKS]
    assert all(one != other for one, other in pairwise(paths))
    assert len(set(DASHES)) == len(set(POLICY_SHAPES)) == 6
    assert hatches().count("<pattern") == sum(map(bool, paths))
    ElementTree.fromstring(f"<defs>{hatches(INKS['dark'])}</defs>")


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("values", [[0.5], [0], [1, 1 + 1e-12], [3, 97], [-2, 5], [1e-9]])
def test_a_scale_holds_its_values(values):
    low, high = span(values, 0.1)["domain"]
    assert low < min(values) <= max(values) < high


def test_a_small_difference_is_not_made_to_look_large():
    low, high = span([0.999, 1.0], 0.1, 1.0)["domain"]
    assert high - low >= 0.1
    assert 1.0 <= high < 1.01


def test_a_line_is_thinned_to_what_is_seen():
    points = [(float(i), float(i % 2)) for i in range(5)]
    assert thinned(points) == points
    many = thinned([(float(i), i / 1e5) for i in range(100_001)])
    assert len(many) < 1000
    assert (many[0], many[-1]) == ((0.0, 0.0), (100_000.0, 1.0))
    assert thinned([(1.0, 1.0)]) == [(1.0, 1.0)]


def test_a_legend_is_taken_away_and_rows_are_not():
    spec = {"legend": {"title": None}, "data": {"values": [{"legend": 1}]}, "layer": [{"legend": {}}]}
    assert unkeyed(spec) == {"legend": None, "data": {"values": [{"legend": 1}]}, "layer": [{"legend": None}]}


def test_the_library_is_what_its_letters_unpack_to():
    import base64
    import gzip

    script, packed = library()
    assert gzip.decompress(base64.b64decode(packed)).decode() == script
    assert "vegaEmbed" in script


def test_the_library_is_put_together_once_and_kept(tmp_path, monkeypatch):
    """A file that is damaged, or a folder that cannot be written, costs a second or two and nothing else."""
    asked = []

    class Drawer:
        def javascript_bundle(self, snippet):
            asked.append(snippet)
            return "window.vegaEmbed = 1;"

    monkeypatch.setattr(vega, "converter", Drawer)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = library.__wrapped__()
    (kept,) = (tmp_path / "drfopt").iterdir()
    assert library.__wrapped__() == first and len(asked) == 1
    kept.write_bytes(kept.read_bytes()[:-9])
    assert library.__wrapped__() == first and len(asked) == 2
    assert library.__wrapped__() == first and len(asked) == 2
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert library.__wrapped__() == first and len(asked) == 3


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


def test_a_resource_whose_name_ends_as_another_stops_users_by_itself():
    machine = Machine("m", {"gpu": 9, "nvidia.com/gpu": 2})
    document = study(Instance({"A": {"gpu": 1, "nvidia.com/gpu": 1}}, machines=[machine]), ["drf"])
    assert {row["name"]: row["stopped"] for row in document["resources"]} == {"gpu": [0], "nvidia.com/gpu": [1]}


def test_an_end_is_rounded_to_the_side_of_what_holds_now():
    assert number(*towards(12_345_678.9)) == "12,345,678" and in_full(*towards(12_345_678.9)) == "12345678"
    assert number(*towards(12_345_678.9, 2e7)) == "12,345,679"
    assert number(*towards(99.99996, digits=4)) == "99.99" and number(*towards(12345.6, digits=4)) == "12,345"
    assert number(*towards(1.0000009, 1.0000005)) == "1.0000009"
    assert number(*towards(1.99999e15, digits=4)) == "1.999e+15"
