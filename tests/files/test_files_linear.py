"""Writing costs the same for every user, however many there are."""

import pytest

from drfopt import explain
from drfopt.base.tables import Sheet
from drfopt.io.native import writing
from drfopt.model.arrays import ExactTable
from drfopt.model.instance import Instance
from drfopt.planning.explaining.remedies import Remedies
from drfopt.solving.scheduling import schedule


@pytest.mark.parametrize("use", [writing.dumps, lambda instance: schedule(instance, trace=False)])
def test_exact_values_are_made_once_and_not_for_every_user(use, monkeypatch):
    asked = []
    made = ExactTable.exact
    monkeypatch.setattr(ExactTable, "exact", lambda table: asked.append(table) or made(table))
    counts = []
    for n in (2, 20):
        asked.clear()
        use(Instance([[1.0, 2.0]] * n, [90.0, 90.0], max_tasks=[3.0] * n))
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_a_table_makes_no_document_and_few_sentences(monkeypatch):
    """Of many users a sentence each and the document are for those who ask for JSON."""
    sentences = []
    monkeypatch.setattr(Remedies, "limit", lambda self, i: sentences.append(i) or "")
    found = explain(Instance([[1.0]] * 40, [90.0], max_tasks=[2.0] * 40)).sheet()
    assert found.csv().count("\n") == 40 and not sentences
    assert found.json() and len(sentences) == 40
    asked = []
    sheet = Sheet("", (), [], document=lambda: asked.append("made") or {})
    assert not (sheet.text() or sheet.csv() or asked)
    assert sheet.json() == "{}" and asked == ["made"]
