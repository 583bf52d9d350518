"""Allocations to look at: one page for a browser, and pictures (``drfopt[plot]``).

>>> from drfopt.reporting import page, study
>>> text = page(study(Instance.library("nsdi2011"), ["drf", "ceei"]))
"""

from importlib import import_module
from typing import Any

__all__ = ["page", "plot_comparison", "plot_shares", "study"]

HOMES = {"page": "pages", "plot_comparison": "plots", "plot_shares": "plots", "study": "findings"}
"""Where the public names live; opened when they are asked for."""


def __getattr__(name: str) -> Any:
    if name in HOMES:
        return getattr(import_module(f".{HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
