"""The page: one HTML file that needs no network, made of the document and of nothing else.

Names of users are not trusted: jinja2 escapes everything it is given, the JSON is kept from ending its element, and
the page's own policy lets no script run but those it came with, and nothing be fetched. The library that draws comes
compressed; the page unpacks it, and its policy names it by its hash as well. It reads expressions instead of compiling
them, so that no text ever becomes a program.
"""

import base64
import hashlib
import json
import re
from functools import cache, partial
from importlib import resources
from typing import Any

from jinja2 import Environment, StrictUndefined

from ..base.tables import clean
from . import contents
from .charts import CONFIG, Figure, Panel, library, unkeyed
from .figures import figures
from .palette import INKS, hatches, title_of
from .views import shown

__all__ = ["page"]

SECTIONS = (
    ("summary", "The answer"),
    ("queues", "Queues"),
    ("bottlenecks", "Bottlenecks"),
    ("prices", "Prices and explanations"),
    ("allocations", "Who gets what"),
    ("policies", "Fairness and efficiency"),
    ("sweeps", "What if"),
    ("everybody", "Every user"),
    ("words", "Words"),
)
"""Anchors of the page and what leads to them."""

ON_PAGE = CONFIG | {"padding": 3}

SWATCHES = {
    "square": "M3 0H17V14H3Z",
    "circle": "M10 2A5 5 0 1 1 9.99 2Z",
    "triangle-up": "M10 1L16 12H4Z",
    "triangle-down": "M10 13L16 2H4Z",
    "diamond": "M10 0L17 7L10 14L3 7Z",
    "cross": "M8 1H12V5H16V9H12V13H8V9H4V5H8Z",
}
"""Points of a legend's entry, 20 by 14."""

UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
"""Letters that could end the element that holds the JSON, or a line of it, and halves of pairs, which no file holds."""


def page(document: dict[str, Any]) -> str:
    """Return the page of a document that `study` returned."""
    script, (drawer, packed) = _source("page.js"), library()
    drawn = figures(document)
    text = _template().render(
        document=document,
        figures=drawn,
        tables=contents.tables(document),
        tiles=contents.tiles(document),
        gist=contents.gist(document),
        verdict=contents.verdict(document),
        amount_of=partial(contents.amount_of, document),
        number=partial(shown, document),
        glossary=contents.GLOSSARY,
        sections=[row for row in SECTIONS if _there(document, row[0])],
        style=_style() + _source("page.css"),
        script=script,
        script_hashes=f"{_digest(script)} {_digest(drawer)}",
        hatches=hatches(),
        shapes=SWATCHES,
        json=_json(document),
        drawings=_json({"config": ON_PAGE, "figures": {name: _specs(figure) for name, figure in drawn.items()}}),
        library=packed,
    )
    return text + "\n"


def _there(document: dict[str, Any], section: str) -> bool:
    """Say whether there is anything to stand in a section."""
    needs = {
        "queues": document["queues"],
        "prices": document["prices"],
        "sweeps": document["sweeps"] or document["whatifs"],
        "policies": len(document["policies"]) > 1,
    }
    return bool(needs.get(section, True))


def _specs(figure: Figure) -> list[dict[str, Any]]:
    return [_spec(panel, figure) for panel in figure.panels]


def _spec(panel: Panel, figure: Figure) -> dict[str, Any]:
    """Return a panel as wide as its place on the page, with what is chosen in the legend."""
    return {
        "description": clean(": ".join(filter(None, (figure.title, panel.title)))),
        "width": "container",
        "autosize": {"type": "fit-x", "contains": "padding"},
        "params": [{"name": "chosen", "value": []}],
        **unkeyed(panel.spec),
    }


def _digest(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _json(document: dict[str, Any]) -> str:
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


@cache
def _template() -> Any:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters |= {"clean": clean, "titled": title_of}
    return environment.from_string(_source("page.html"))


@cache
def _source(name: str) -> str:
    return resources.files(__package__).joinpath("template", name).read_text(encoding="utf-8")


@cache
def _style() -> str:
    """Return the inks as variables of both themes."""
    light, dark = (
        " ".join(f"--{name}: {colour};" for name, colour in INKS[theme].items()) for theme in ("light", "dark")
    )
    return (
        f":root {{ {light} }}\n"
        f'@media screen and (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {{ {dark} }} }}\n'
        f'@media screen {{ :root[data-theme="dark"] {{ {dark} }} }}\n'
    )
