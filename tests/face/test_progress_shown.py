"""What long work says of itself: under a notebook's cell, in the log, and nowhere unasked."""

import logging
import sys
from types import SimpleNamespace

from drfopt import Instance, compare, show_progress
from drfopt.base import progress

NSDI = Instance.library("nsdi2011")


def test_a_notebook_shows_one_line_that_changes(monkeypatch):
    shown = []
    handle = SimpleNamespace(update=lambda data, raw: shown.append(data["text/plain"]))
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=lambda data, raw, display_id: handle))
    monkeypatch.setattr(progress, "APART", 0)
    with show_progress():
        compare(NSDI, ["drf"])
    assert "solving drf" in shown and shown[-1] == ""


def test_a_terminal_that_is_none_shows_nothing(capsys):
    with show_progress():
        compare(NSDI, ["drf"])
    assert capsys.readouterr().out == ""


def test_the_log_is_told(caplog):
    with caplog.at_level(logging.INFO, logger="drfopt"):
        compare(NSDI, ["drf"])
    assert "solving drf" in caplog.messages
