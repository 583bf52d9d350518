"""Everything about a cluster on one page: the numbers, and the HTML that shows them.

The page is one HTML file that needs no network, made of the document and of nothing else.
Names of users are not trusted: jinja2 escapes everything it is given, the JSON is kept from ending its element, and
the page's own policy lets no script run but those it came with, and nothing be fetched. The library that draws comes
compressed; the page unpacks it, and its policy names it by its hash as well. It reads expressions instead of compiling
them, so that no text ever becomes a program.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined

from ..base.deadline import ending
from ..base.errors import InstanceError, PolicyError, listed
from ..base.results import Result
from ..base.tables import Column, Sheet, clean
from ..io.text.files import path_of, write_whole
from ..model.instance import Instance
from ..model.policies import AnyPolicy
from ..planning.before_and_after import WhatIf, what_if
from ..planning.sweeping import Sweep, sweep
from . import contents, page_tables
from .charts import CONFIG, Figure, Panel, unkeyed
from .figures import figures
from .findings import SCHEMA, study
from .palette import INKS, hatches, title_of
from .vega import library
from .views import shown

__all__ = ["Page", "page", "report"]

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
        tables=page_tables.tables(document),
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


MEASURES = {
    "lowest": "lowest share",
    "sum_of_shares": "sum of shares",
    "price_of_fairness": "price of fairness",
    "jain": "Jain's index",
    "nash": "geometric mean",
    "utilization": "utilization",
    "envious": "users who envy",
}
"""What the page's table shows of each policy, and its heading; `drfopt.reporting.measures` defines them."""


@dataclass(frozen=True, eq=False)
class Page(Result):
    """A page that opens without a network; its text is made of `document` when it is asked for.

    Attributes
    ----------
    document : dict
        All numbers of the page, as ``drfopt report --json`` prints them.
    """

    _schema = SCHEMA
    _rows = "measures"

    document: dict[str, Any]

    @cached_property
    def html(self) -> str:
        """The page: one HTML file."""
        return page(self.document)

    @property
    def complete(self) -> bool:
        """Whether every policy came to its end."""
        return bool(self.document["complete"])

    def save(self, path: str | Path) -> Path:
        """Write the page, whole or not at all."""
        write_whole(path := path_of(path), self.html)
        return path

    def named(self) -> dict[str, Any]:
        """Return the numbers of each policy's allocation, by its name."""
        return {found["policy"]: found for found in self.document["comparison"]["allocations"]}

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of the page."""
        return self.document

    def to_frame(self) -> Any:
        """Return a pandas frame of the measures, one row a policy. Needs pandas (``pip install drfopt[frame]``)."""
        return super().to_frame().set_axis(self.document["policies"])

    def sheet(self) -> Sheet:
        """Return the table: a row a policy, how fair and how efficient it is."""
        columns = (Column("policy"), *(Column(heading, number=True) for heading in MEASURES.values()))
        rows = [
            (policy, *(found[key] for key in MEASURES))
            for policy, found in zip(self.document["policies"], self.document["measures"], strict=True)
        ]
        refused = [f"{policy}: {why}" for policy, why in self.document["comparison"].get("refusals", {}).items()]
        return Sheet(self.document["title"], columns, rows, tuple(refused), document=self.to_dict)

    def _repr_html_(self) -> str:
        # A page has a style of its own, which must not become the notebook's.
        from markupsafe import escape

        return f'<iframe srcdoc="{escape(self.html)}" width="100%" height="640"></iframe>'

    def __repr__(self) -> str:
        return f"<Page {self.document['title']!r}: {', '.join(self.document['policies'])}>"


def report(
    instance: Instance,
    policies: Sequence[AnyPolicy] = ("drf", "asset", "ceei"),
    *,
    integer: bool = False,
    time_limit: float | None = None,
    sweeps: Iterable[str | Sweep] = (),
    what_ifs: Iterable[str | Sequence[str] | WhatIf] = (),
    name: str = "",
    title: str = "",
    date: str = "",
    version: str = "",
) -> Page:
    """Put shares, bottlenecks, policies side by side and what-ifs on one page that opens without a network.

    Parameters
    ----------
    instance : Instance
    policies, integer
        As in `compare`.
    time_limit : float, optional
        Seconds for the whole page, but for its drawing.
    sweeps : iterable of str or Sweep
        Such as ``"cpu=100..200/10"``, under the first policy; or what `sweep` found.
    what_ifs : iterable of str, list of str, or WhatIf
        Changes such as ``"add 10*xl; set-weight A=2"``, under the first policy; or what `what_if` found.
    name : str
        What to call an instance that has no name.
    title, date, version : str
        Stand at the head of the page; by default the instance's name and nothing: the same cluster gives the same page.

    Returns
    -------
    Page
        ``page.html`` is the page, ``page.save(path)`` writes it, ``page.document`` has the numbers.

    Raises
    ------
    PolicyError, InstanceError
        As `compare`, `sweep` and `what_if`.

    Examples
    --------
    >>> report(Instance([[1, 4], [3, 1]], [9, 18]), ["drf"]).html[:15]
    '<!DOCTYPE html>'
    """
    policies = listed(policies, "policies", PolicyError)
    sweeps, what_ifs = listed(sweeps, "sweeps", InstanceError), listed(what_ifs, "what_ifs", InstanceError)
    for what, text in {"name": name, "title": title, "date": date, "version": version}.items():
        if not isinstance(text, str):
            raise InstanceError(f"{what} is {text!r}: give it as text, or leave it out")
    left = len(sweeps) + len(what_ifs) + 1
    along: list[Sweep] = []
    changed: list[WhatIf] = []
    with ending(time_limit) as deadline:
        for asked in sweeps:
            how: dict[str, Any] = {"integer": integer, "time_limit": deadline.share(left - len(along))}
            made = isinstance(asked, Sweep)
            along.append(asked if made else sweep(instance, asked, policy=policies[0], jobs=1, **how))
        for wanted in what_ifs:
            how = {"integer": integer, "time_limit": deadline.share(left - len(along) - len(changed))}
            changes = _changes(wanted) if isinstance(wanted, str) else wanted
            changed.append(changes if isinstance(changes, WhatIf) else what_if(instance, changes, policies[0], **how))
        found = study(
            instance,
            policies,
            integer=integer,
            sweeps=along,
            whatifs=changed,
            name=name,
            title=title,
            date=date,
            version=version,
        )
    return Page(found)


def _changes(text: str) -> list[str]:
    # A semicolon in braces belongs to the description of a user.
    return [change.strip() for change in re.split(r";(?![^{]*})", text) if change.strip()]
