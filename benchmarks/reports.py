"""Questions about the page: what it costs to make, and how it answers in a browser."""

import tempfile
from pathlib import Path
from typing import Any

from drfopt.model.instance import Instance
from drfopt.reporting import page, study
from drfopt.solving.comparing import compare

from .browser import chromium, missing
from .families import POOLS
from .measure import Bench, Case, Row, Verdict, Way

__all__ = ["browse", "make"]

SORT = "() => document.querySelector('#table-users thead tr:last-child th:nth-child(4) button').click()"
FILTER = """() => {
    const input = document.querySelector('#table-users input');
    input.value = '7';
    input.dispatchEvent(new Event('input'));
}"""
SETTLED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Ends when the browser has drawn what the last script changed."""


def make(bench: Bench, n: int) -> list[Row]:
    """Measure the document and the page of n users, against the comparison of three policies that they are made of."""

    def judge(instance: Instance, text: str) -> Verdict:
        return Verdict(note=f"{len(text.encode()) / 1e6:.2f} MB")

    ways = (
        Way("compare", "yardstick", compare),
        Way("document", "drfopt", study),
        Way("document and page", "drfopt", lambda instance: page(study(instance)), judge),
    )
    case = Case("made", f"n = {n}", n, lambda: POOLS[0].build(n), ways, yardstick="compare")
    return bench.measure("report-page", case)


def browse(bench: Bench, n: int) -> list[Row]:
    """Measure how long a browser takes until the page of n users can be used, and for one sort and one filter."""
    if reason := missing():
        ways = (
            Way("open", "drfopt", lambda nothing: None, lambda *found: Verdict(note=reason), largest=0, why=reason),
        )
        return bench.measure("report-browser", Case("browser", f"n = {n}", n, lambda: None, ways, yardstick=""))
    text = page(study(POOLS[0].build(n)))
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        path = Path(folder) / "report.html"
        path.write_text(text, encoding="utf-8")
        tab = browser.new_page(viewport={"width": 1440, "height": 900})

        def opened() -> Any:
            tab.goto(path.as_uri())
            return tab

        def rows(_: Any, answer: Any) -> Verdict:
            return Verdict(note=f"{tab.locator('#table-users tbody tr').count()} rows shown")

        ways = (
            Way("open, until it can be used", "drfopt", lambda _: opened()),
            Way("sort the users", "drfopt", lambda _: (tab.evaluate(SORT), tab.evaluate(SETTLED)), rows),
            Way("filter the users", "drfopt", lambda _: (tab.evaluate(FILTER), tab.evaluate(SETTLED)), rows),
        )
        case = Case("browser", f"n = {n}", n, opened, ways, yardstick="")
        return bench.measure("report-browser", case)
