"""The page of published numbers: every fact there is, computed anew, and a wrong one stops the manual's build."""

import importlib.util
import sys
from pathlib import Path

import pytest

MODULE = Path(__file__).resolve().parents[2] / "docs" / "_ext" / "measured.py"


@pytest.fixture(scope="module")
def measured():
    spec = importlib.util.spec_from_file_location("measured", MODULE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["measured"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def rows(measured):
    return measured.rows()


def test_every_number_comes_out_but_those_that_only_their_machines_can_give(measured, rows):
    assert {row.id for row in rows if not row.agrees} == set(measured.MEASURED)


def test_it_has_every_fact_and_figure_once(measured, rows):
    names = [row.id for row in rows]
    assert len({(row.id, row.how) for row in rows}) == len(rows) >= 220
    assert len(set(names)) >= 186
    facts = [fact["id"] for name in ("published", "properties", "more") for fact in measured.load(name)]
    assert set(names) == set(facts)
    assert {fact for facts in measured.SHOWN.values() for fact in facts} <= set(names)
    assert all(row.source and row.how for row in rows)


def test_the_page_has_a_line_for_each(measured, rows, monkeypatch):
    monkeypatch.setattr(measured, "rows", lambda: rows)
    text = measured.page()
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(lines) == len(rows) + 2
    assert all(line.count(" | ") == 5 for line in lines)
    assert "| drf-4.1 | Ghodsi et al., Dominant Resource Fairness, NSDI 2011 | section 4.1" in text


@pytest.mark.parametrize("name", ["drf-4.1", "ceei-4.1", "thm5-ceei-3users", "thm1-asset-SI", "karma-test-inflation"])
def test_a_number_that_differs_stops_the_build(measured, rows, monkeypatch, name):
    def otherwise(value):
        if isinstance(value, dict):
            return {key: otherwise(part) for key, part in value.items()}
        if isinstance(value, list):
            return [otherwise(value[0]), *value[1:]] if value else value
        if isinstance(value, bool):
            return not value
        if value in ("holds", "fails", "u2"):
            return f"not {value}"
        return str(float(measured.exact(str(value))) * (1 + 1e-6))

    changed = list(rows)
    at = [row.id for row in rows].index(name)
    changed[at] = rows[at]._replace(published=otherwise(rows[at].published))
    assert [row.id for row in changed if not row.agrees and row.id not in measured.MEASURED] == [name]
    monkeypatch.setattr(measured, "rows", lambda: changed)
    with pytest.raises(RuntimeError, match=name):
        measured.page()
