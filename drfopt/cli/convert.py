"""``drfopt convert``: a cluster's own files into an instance file."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..io.readers.formats import FORMATS
from . import options
from .output import check, deliver
from .working import working

if TYPE_CHECKING:
    from ..io.readers.conversion import Conversion

__all__ = ["convert"]

NAMES = tuple(format.name for format in FORMATS)


def convert(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILES", help="The cluster's own files, in any order.", show_default=False)
    ],
    origin: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help=f"What the files are: {', '.join(NAMES)}; what they are read from: drfopt formats.",
            autocompletion=lambda incomplete: options.matching(incomplete, NAMES),
            show_default=False,
        ),
    ],
    user_by: Annotated[
        str | None,
        typer.Option(
            "--user-by",
            metavar="WHAT",
            help="What makes a user; see drfopt formats.",
            show_default=False,
        ),
    ] = None,
    current: Annotated[
        Path | None,
        typer.Option(
            "--current",
            metavar="FILE",
            help="Write what runs where today to FILE, as JSON: {placement: {user: {class: tasks}}}.",
            show_default=False,
        ),
    ] = None,
    output: options.OutputFile = None,
) -> None:
    """Turn a cluster's own files into an instance file.

    Without -o the instance is printed as TOML. What could not be used is told on standard error and in comments.

    Example: drfopt convert --from openb nodes.csv pods.csv -o cluster.toml
    """
    from ..io.readers.formats import read

    for path in (output, current):
        if path is not None:
            check(path)
    with working(f"reading {origin}"):
        found = read(origin, files, user_by)
    from ..io.text.files import format_of

    form = "toml" if output is None else format_of(output)
    deliver(_text(found, form), output)
    if current is not None:
        deliver(json.dumps(found.current(), indent=2, ensure_ascii=False), current)
    # A terminal shows the comments of the instance already.
    if output is not None or not sys.stdout.isatty():
        for note in found.notes:
            typer.echo(str(note), err=True)


def _text(found: "Conversion", form: str) -> str:
    from ..io.native import writing

    text = writing.dumps(found.instance, form)
    if form == "json" or not found.notes:
        return text
    return "".join(f"# {note}\n" for note in found.notes) + "\n" + text
