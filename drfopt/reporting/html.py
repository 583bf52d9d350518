"""The page: one HTML file that needs no network, made of the document and of nothing else.

Names of users are not trusted: jinja2 escapes everything it is given, the JSON is kept from ending its element, and
the page's own policy lets no script run but the one it came with, and nothing be fetched.
"""

import base64
import hashlib
import json
import re
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from ..base.tables import clean
from . import contents, svg
from .drawing import Drawing, Key, swatch
from .figures import figures
from .holdings import title_of
from .palette import INKS

__all__ = ["page"]

SECTIONS = (
    ("summary", "In short"),
    ("allocations", "Who gets what"),
    ("policies", "Fairness and efficiency"),
    ("bottlenecks", "Bottlenecks"),
    ("sweeps", "What if"),
    ("everybody", "Every user"),
    ("words", "Words"),
)
"""Anchors of the page and what leads to them."""

UNSAFE = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
"""Letters that could end the element that holds the JSON, or a line of it, and halves of pairs, which no file holds."""


def page(document: dict[str, Any]) -> str:
    """Return the page of a document that `study` returned."""
    script = _source("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = _template().render(
        document=document,
        figures=figures(document),
        tables=contents.tables(document),
        tiles=contents.tiles(document),
        gist=contents.gist(document),
        glossary=contents.GLOSSARY,
        sections=[row for row in SECTIONS if row[0] != "sweeps" or document["sweeps"] or document["whatifs"]],
        style=_style() + _source("page.css"),
        script=script,
        script_hash=f"sha256-{digest}",
        patterns=svg.patterns(),
        json=_json(document),
    )
    return text + "\n"


def _json(document: dict[str, Any]) -> str:
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


@cache
def _template() -> Any:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters |= {"clean": clean, "drawn": _drawn, "swatch": _swatch, "titled": title_of}
    return environment.from_string(_source("page.html"))


@cache
def _source(name: str) -> str:
    return resources.files(__package__).joinpath("template", name).read_text(encoding="utf-8")


@cache
def _style() -> str:
    """Return the inks as variables of both themes, and a class for each."""
    light, dark = (
        " ".join(f"--{name}: {colour};" for name, colour in INKS[theme].items()) for theme in ("light", "dark")
    )
    names = "".join(
        f".f-{name} {{ fill: var(--{name}) }} .s-{name}, .h-{name} {{ stroke: var(--{name}) }}\n"
        for name in INKS["light"]
    )
    return (
        f":root {{ {light} }}\n"
        f'@media screen and (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {{ {dark} }} }}\n'
        f'@media screen {{ :root[data-theme="dark"] {{ {dark} }} }}\n'
        f"{names}{svg.RULES}\n"
    )


def _drawn(drawing: Drawing, label: str) -> Markup:
    return Markup(svg.inline(drawing, label))


def _swatch(key: Key) -> Markup:
    drawn = svg.inline(Drawing(14, 14, swatch(key)), "").replace('class="drawing"', 'aria-hidden="true"')
    return Markup(drawn.replace(' role="img" aria-label=""', ""))
