"""``drfopt report``: everything about a cluster on one page, which opens without a network."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ..base.errors import InstanceError
from ..base.tables import Sheet
from . import options
from .output import Output, check, check_folder, deliver, versions
from .status import FAILED, USAGE_ERROR
from .working import working

__all__ = ["report"]

PAGES = ("", ".html", ".htm", ".json")
"""How the name of a file may end: the last has the numbers of the page."""

SECONDS = 100.0
"""Of whole tasks, in which a search may know no end; of divisible ones there is none."""


def report(
    instance: options.InstanceName,
    policies: options.PolicyNames = None,
    integer: options.WholeTasks = False,
    sweep: Annotated[
        list[str] | None,
        options.valued(
            "--sweep",
            "NAME=A..B/STEP",
            "Divide again at every value, such as cpu=100..200/10 or scale:gpu=1,3/2,2 (see 'drfopt whatif'); may "
            "be given several times. Under the first policy.",
        ),
    ] = None,
    whatif: Annotated[
        list[str] | None,
        options.valued(
            "--whatif",
            "CHANGES",
            "Show who wins and who loses by changes, such as 'add 10*xl; set-weight A=2'; may be given several "
            "times. Under the first policy.",
        ),
    ] = None,
    plots: Annotated[
        Path | None,
        options.valued("--plots", "DIR", "Also write every plot as PNG and SVG."),
    ] = None,
    title: Annotated[
        str, typer.Option("--title", metavar="TEXT", help="Of the page.", show_default="the instance's name")
    ] = "",
    date: Annotated[
        str,
        options.valued("--date", "TEXT", "A date for its head; without one the same cluster gives the same bytes."),
    ] = "",
    time_limit: options.TimeLimit = None,
    json: Annotated[bool, typer.Option("--json", help="The numbers of the page instead of the page.")] = False,
    output: options.OutputFile = None,
) -> None:
    """Put shares, bottlenecks, policies side by side and what-ifs on one page that opens without a network.

    Whole tasks stop after 100 seconds, or --time-limit, with the best known of each policy.

    Example: drfopt report nsdi2011 -o report.html
    """
    names = options.listed(policies, options.COMPARED, "--policies", "policy")
    if any(not text.strip(" ;") for text in whatif or ()):
        raise USAGE_ERROR("--whatif names no change: write for example --whatif 'set-weight A=2'")
    if output is not None:
        check(output)
        if not json and (ending := output.suffix.lower()) not in PAGES:
            raise InstanceError(
                f"{output}: a page is not written as {ending!r}: let the name end in .html, or .json for its numbers"
            )
    elif not json and sys.stdout is not None and sys.stdout.isatty():
        raise USAGE_ERROR("a page is no text for a terminal: name its file with -o report.html, or ask for --json")
    if plots is not None:
        _folder(plots)
    numbers = json or (output is not None and output.suffix.lower() == ".json")
    if plots is not None or not numbers:
        from ..reporting.vega import converter

        converter()
    cluster = options.read(instance)
    from ..reporting.pages import report as reported

    with working("solving"):
        page = reported(
            cluster,
            names,
            integer=integer,
            time_limit=SECONDS if time_limit is None and integer else time_limit,
            sweeps=sweep or (),
            what_ifs=whatif or (),
            name=options.title(cluster, instance),
            title=title,
            date=date,
            version=versions(),
        )
        if plots is not None:
            _write(plots, page.document)
        written = None if numbers else page.html
    if written is None:
        Output("json", output).write(Sheet(page.document["title"], (), [], document=page.to_dict))
    else:
        deliver(written, output)
    if not page.complete:
        told = page.document["comparison"]
        late = {a["policy"]: f"not proven, {a['status']}" for a in told["allocations"] if a["status"] != "optimal"}
        changed = [(f"sweep of {found['axis']}", found) for found in page.document["sweeps"]]
        changed += [(f"what if {', '.join(found['changes'])}", found) for found in page.document["whatifs"]]
        late |= {what: "not proven" for what, found in changed if not found["finished"]}
        for what, reason in (told.get("refusals", {}) | late).items():
            typer.echo(f"incomplete: {what}: {reason}", err=True)
        raise typer.Exit(FAILED)


def _folder(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise InstanceError(f"{path} is a file: give --plots the name of a folder")
    check_folder(path)


def _write(folder: Path, document: dict[str, Any]) -> None:
    from ..reporting.figures import figures

    folder.mkdir(exist_ok=True)
    for name, figure in figures(document).items():
        for ending in ("svg", "png"):
            figure.whole().save(folder / f"{name}.{ending}")
