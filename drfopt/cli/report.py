"""``drfopt report``: everything about a cluster on one page, which opens without a network."""

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InstanceError
from ..tables import Sheet
from . import instances, options
from .output import Output, check, deliver
from .status import FAILED, USAGE_ERROR
from .versions import versions
from .working import working

if TYPE_CHECKING:
    from ..instance import Instance
    from ..planning.whatif import WhatIf
    from ..sweep import Sweep

__all__ = ["report"]

EVERYTHING = "all"
"""What ``--sweep`` calls all resources together."""


def report(
    instance: options.InstanceName,
    policies: Annotated[
        str, typer.Option("--policies", "-p", metavar="A,B,C", help="Policies, separated by commas.")
    ] = "drf,asset,ceei",
    integer: options.WholeTasks = False,
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            "--sweep",
            metavar="R=A,B,C",
            help="Divide again with resource R, or with 'all', multiplied by each factor, such as gpu=1/2,1,2; may be "
            "given several times. Under the first policy.",
            show_default=False,
        ),
    ] = None,
    whatif: Annotated[
        list[str] | None,
        typer.Option(
            "--whatif",
            metavar="CHANGES",
            help="Show who wins and who loses by changes, such as 'add 10*xl; set-weight A=2'; may be given several "
            "times. Under the first policy.",
            show_default=False,
        ),
    ] = None,
    plots: Annotated[
        Path | None,
        typer.Option("--plots", metavar="DIR", help="Also write every plot as PNG and SVG.", show_default=False),
    ] = None,
    title: Annotated[
        str, typer.Option("--title", metavar="TEXT", help="Of the page.", show_default="the instance's name")
    ] = "",
    date: Annotated[
        str,
        typer.Option(
            "--date",
            metavar="TEXT",
            help="A date for its head; without one the same cluster gives the same bytes.",
            show_default=False,
        ),
    ] = "",
    time_limit: options.TimeLimit = None,
    json: Annotated[bool, typer.Option("--json", help="The numbers of the page instead of the page.")] = False,
    output: options.OutputFile = None,
) -> None:
    """Put shares, bottlenecks, policies side by side and what-ifs on one page that opens without a network.

    Example: drfopt report nsdi2011 -o report.html
    """
    names = [name.strip() for name in policies.split(",") if name.strip()]
    if not names:
        raise USAGE_ERROR("--policies names no policy: write for example --policies drf,ceei")
    wanted = [_factors(text) for text in sweep or ()]
    changes = [_changes(text) for text in whatif or ()]
    if output is not None:
        check(output)
    elif not json and sys.stdout is not None and sys.stdout.isatty():
        raise USAGE_ERROR("a page is no text for a terminal: name its file with -o report.html, or ask for --json")
    if plots is not None:
        from ..report import raster

        raster.matplotlib()
        _folder(plots)
    cluster = instances.read(instance)
    from ..report import page, study

    with working("solving"):
        document = study(
            cluster,
            names,
            integer=integer,
            time_limit=time_limit,
            sweeps=[_swept(cluster, names[0], factors, integer, time_limit) for factors in wanted],
            whatifs=[_whatif(cluster, names[0], changes_, integer, time_limit) for changes_ in changes],
            name=instances.title(cluster, instance),
            title=title,
            date=date,
            version=versions(),
        )
        if plots is not None:
            _write(plots, document)
        written = None if json or (output is not None and output.suffix.lower() == ".json") else page(document)
    if written is None:
        Output("json", output).write(Sheet(document["title"], (), [], document=document))
    else:
        deliver(written, output)
    if not document["complete"]:
        raise typer.Exit(FAILED)


def _factors(text: str) -> tuple[str | None, list[str]]:
    resource, equals, factors = text.rpartition("=")
    found = [factor.strip() for factor in factors.split(",") if factor.strip()]
    if not equals or not resource.strip() or not found:
        raise USAGE_ERROR(f"--sweep {text!r} is not RESOURCE=A,B,C: write for example --sweep gpu=1/2,1,2")
    return None if resource.strip() == EVERYTHING else resource.strip(), found


def _changes(text: str) -> list[str]:
    # A semicolon in braces belongs to the description of a user.
    found = [change.strip() for change in re.split(r";(?![^{]*})", text) if change.strip()]
    if not found:
        raise USAGE_ERROR("--whatif names no change: write for example --whatif 'set-weight A=2'")
    return found


def _swept(
    cluster: "Instance", policy: str, wanted: tuple[str | None, list[str]], integer: bool, time_limit: float | None
) -> "Sweep":
    from ..sweep import sweep

    resource, factors = wanted
    return sweep(cluster, factors, resource=resource, policy=policy, integer=integer, time_limit=time_limit, jobs=1)


def _whatif(cluster: "Instance", policy: str, changes: list[str], integer: bool, time_limit: float | None) -> "WhatIf":
    from ..planning import whatif

    return whatif(cluster, changes, policy, integer=integer, time_limit=time_limit)


def _folder(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise InstanceError(f"{path} is a file: give --plots the name of a folder")
    if not path.parent.is_dir():
        raise InstanceError(f"{path}: there is no folder {str(path.parent)!r}: make it first")


def _write(folder: Path, document: dict[str, Any]) -> None:
    from ..report.figures import figures
    from ..report.raster import png
    from ..report.svg import standalone
    from ..writers.files import write_whole

    folder.mkdir(exist_ok=True)
    for name, figure in figures(document).items():
        drawing = figure.whole()
        write_whole(folder / f"{name}.svg", standalone(drawing))
        write_whole(folder / f"{name}.png", png(drawing))
