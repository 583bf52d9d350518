"""A headless Chromium for benchmarks and tests of the page, or the reason why there is none."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["chromium", "missing"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def missing() -> str:
    """Return why no browser can be started; empty where one can."""
    try:
        import playwright  # noqa: F401
    except ModuleNotFoundError:
        return "playwright is not installed: pip install playwright"
    if not any(map(shutil.which, NAMES)):
        return "there is no Chromium: apt-get install chromium"
    return ""


@contextmanager
def chromium() -> Iterator[Any]:
    """Start Chromium with an empty folder of its own, and end it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = next(path for path in map(shutil.which, NAMES) if path)
        browser = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()
