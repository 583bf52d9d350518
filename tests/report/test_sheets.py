"""A sheet in every format: what a person sees, what a program gets."""

import copy
import csv
import io
import json
import math
import pickle

import pytest

from drfopt.base.tables import FORMATS, SHOWN, Bar, Column, End, Sheet


def sheet(rows, **rest):
    columns = (Column("user"), Column("tasks", number=True), Column("share", number=True))
    return Sheet("a [title]", columns, rows, **rest)


ONE_THIRD = sheet([("A", 1 / 3, Bar(0.5))])


def test_a_person_sees_six_digits_and_a_program_gets_all():
    assert "0.333333 " in ONE_THIRD.text()
    assert "0.3333333333333333" in ONE_THIRD.csv()
    assert json.loads(ONE_THIRD.json()) == [{"user": "A", "tasks": 1 / 3, "share": 0.5}]


def test_brackets_are_not_markup():
    assert ONE_THIRD.text().startswith("a [title]\n")


@pytest.mark.parametrize(("share", "drawn"), [(0, ""), (0.5, "█" * 8), (1, "█" * 16), (7, "█" * 16), (-1, "")])
def test_a_bar_is_as_long_as_its_share(share, drawn):
    assert Bar(share).drawn().split(" ")[0] == drawn
    assert Bar(share).drawn(blocks=False).split(" ")[0] == "#" * len(drawn)


@pytest.mark.parametrize("width", [20, 40, 80])
def test_a_narrow_screen_folds_names_and_keeps_every_number_whole(width):
    text = sheet([("a-name-longer-than-the-screen" * 3, 123456.0, Bar(0.25))]).text(width=width)
    assert "123,456" in text
    assert "0.2500" in text
    letters = "".join(line.split(" ")[0] for line in text.splitlines()[3:])
    assert letters == "a-name-longer-than-the-screen" * 3


def test_control_characters_are_spelled_out():
    wild = sheet([("A\x1b[31m\nB", 1.0, Bar(1))], notes=("note\x07",))
    for name in ("table", "markdown"):
        assert r"A\x1b[31m\nB" in FORMATS[name](wild)
    assert "\x07" not in wild.text()


def test_many_rows_are_counted_for_a_person_and_complete_in_a_file():
    many = sheet([(f"u{i}", 1.0, Bar(0)) for i in range(SHOWN + 5)])
    assert f"u{SHOWN - 1} " in many.text()
    assert f"u{SHOWN} " not in many.text()
    assert f"5 more of {SHOWN + 5}" in many.text()
    assert f"u{SHOWN + 4} " in many.text(rows=100)
    assert len(list(csv.reader(io.StringIO(many.csv())))) == SHOWN + 6


def test_json_has_no_nan_and_no_infinity():
    document = {"gap": math.inf, "rows": [math.nan, 1.0, {"deep": -math.inf}], "text": "NaN"}
    found = json.loads(sheet([], document=lambda: document).json(), parse_constant=pytest.fail)
    assert found == {"gap": None, "rows": [None, 1.0, {"deep": None}], "text": "NaN"}


def test_latex_and_markdown_escape_what_they_must():
    odd = sheet([("50%_|&", 1.0, None)])
    assert r"50\%\_|\&" in odd.latex()
    assert r"50%_\|&" in odd.markdown()


def test_a_cell_can_be_copied():
    found = copy.deepcopy(pickle.loads(pickle.dumps(End(2469138.5, 2469136.0))))
    assert (found, found.now) == (2469138.5, 2469136.0)
