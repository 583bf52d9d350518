"""Everything about a cluster on one page: the numbers, and the HTML that shows them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ..base.results import Result
from ..base.tables import Column, Sheet
from ..io.text.files import write_whole
from ..model.instance import Instance
from ..model.policies import AnyPolicy
from ..planning.before_and_after import WhatIf, what_if
from ..planning.sweeping import Sweep, sweep
from .findings import SCHEMA, study
from .html import page

__all__ = ["Page", "report"]

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
        write_whole(Path(path), self.html)
        return Path(path)

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
    policies, integer, time_limit
        As in `compare`.
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
    how: dict[str, Any] = {"integer": integer, "time_limit": time_limit}
    along = [
        asked if isinstance(asked, Sweep) else sweep(instance, asked, policy=policies[0], jobs=1, **how)
        for asked in sweeps
    ]
    changed = [
        asked
        if isinstance(asked, WhatIf)
        else what_if(instance, _changes(asked) if isinstance(asked, str) else asked, policies[0], **how)
        for asked in what_ifs
    ]
    found = study(
        instance,
        policies,
        sweeps=along,
        whatifs=changed,
        name=name,
        title=title,
        date=date,
        version=version,
        **how,
    )
    return Page(found)


def _changes(text: str) -> list[str]:
    # A semicolon in braces belongs to the description of a user.
    return [change.strip() for change in re.split(r";(?![^{]*})", text) if change.strip()]
