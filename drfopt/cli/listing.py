"""``drfopt engines``, ``drfopt policies``, ``drfopt library``, ``drfopt formats``: what there is.

``drfopt new``: an instance file to begin with, or a scenario.
"""

from dataclasses import asdict
from typing import Annotated

import typer

from ..base.tables import Column, Sheet
from . import options
from .output import Output, check, deliver

__all__ = ["engines", "formats", "library", "new", "policies"]


def engines(json: options.Json = False, format: options.FormatName = None, output: options.OutputFile = None) -> None:
    """List the engines and what each can take.

    Example: drfopt engines
    """
    out = Output.wished(format, json, output)
    from ..engines.registry import ENGINES

    columns = (Column("engine"), Column("what it is"), Column("takes"))
    rows: list[tuple] = [(engine.name, engine.summary, engine.takes) for engine in ENGINES]
    out.write(Sheet("engines", columns, rows), rows=len(rows))


def policies(json: options.Json = False, format: options.FormatName = None, output: options.OutputFile = None) -> None:
    """List the policies: which share is compared, and what is done with it.

    Example: drfopt policies
    """
    out = Output.wished(format, json, output)
    from ..model.policies import POLICIES

    columns = tuple(map(Column, ("policy", "what it is", "weights", "source")))
    rows: list[tuple] = [(row.name, row.summary, row.weights, row.source) for row in POLICIES]
    notes = ("the path of a formulation file (*.py) is a policy too",)
    out.write(Sheet("policies", columns, rows, notes), rows=len(rows))


def library(json: options.Json = False, format: options.FormatName = None, output: options.OutputFile = None) -> None:
    """List the instances that are shipped with the package.

    Example: drfopt library
    """
    out = Output.wished(format, json, output)
    from ..io.library import load, summaries

    columns = (
        Column("instance"),
        Column("users", number=True),
        Column("machines", number=True),
        Column("resources"),
        Column("title"),
    )
    rows: list[tuple] = []
    document = []
    for summary in summaries():
        found = load(summary.name)
        machines = None if found.counts is None else int(found.counts.sum())
        rows.append((summary.name, found.n, machines, ", ".join(found.resources), summary.title))
        size = {"users": found.n, "resources": list(found.resources), "machines": machines}
        document.append(asdict(summary) | size)
    notes = ("their sources, and what to expect of each: drfopt library --json",)
    out.write(Sheet("library", columns, rows, notes), lambda: document, rows=len(rows))


def formats(json: options.Json = False, format: options.FormatName = None, output: options.OutputFile = None) -> None:
    """List the formats that 'drfopt convert' reads, and what makes a user of each.

    Example: drfopt formats
    """
    out = Output.wished(format, json, output)
    from ..io.readers.formats import FORMATS

    columns = tuple(map(Column, ("format", "files", "users by")))
    rows: list[tuple] = [(row.name, row.summary, ", ".join(row.users)) for row in FORMATS]
    notes = ("files may come in any order, also packed with gzip; drfopt convert --from FORMAT FILES",)
    out.write(Sheet("formats", columns, rows, notes), rows=len(rows))


def new(
    scenario: Annotated[bool, typer.Option("--scenario", help="A scenario to simulate instead.")] = False,
    output: options.OutputFile = None,
) -> None:
    """Print a commented instance file that solves as it is.

    Example: drfopt new -o cluster.toml
    """
    if output is not None:
        check(output)
    from ..io.native import writing
    from ..simulation import scenario_files

    deliver(scenario_files.template() if scenario else writing.text(), output)
