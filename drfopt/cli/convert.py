"""``drfopt convert``: a cluster's own files into an instance file."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..base.errors import InstanceError
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
        options.valued(
            "--from",
            "FORMAT",
            f"What the files are: {', '.join(NAMES)}; what they are read from: drfopt formats.",
            autocompletion=lambda incomplete: options.matching(incomplete, NAMES),
        ),
    ],
    user_by: Annotated[
        str | None,
        options.valued("--user-by", "WHAT", "What makes a user; see drfopt formats."),
    ] = None,
    saturate: Annotated[
        bool,
        typer.Option("--saturate", help="Queues without tasks want everything: tasks like the mean of the machines."),
    ] = False,
    shape: Annotated[
        str | None,
        options.valued("--shape", "TASK", "With --saturate: what a task needs instead, such as cpu=1,memory=4Gi."),
    ] = None,
    machines: Annotated[
        Path | None,
        options.valued(
            "--machines", "FILE", "The cluster from another file: an instance file, machines.csv, or one of the format."
        ),
    ] = None,
    current: Annotated[
        Path | None,
        options.valued("--current", "FILE", "Write what runs where today to FILE, as JSON that rebalance reads."),
    ] = None,
    output: options.OutputFile = None,
) -> None:
    """Turn a cluster's own files into an instance file.

    Without -o the instance is printed as TOML. What could not be used is told on standard error and in comments.

    Example: drfopt convert --from openb nodes.csv pods.csv -o cluster.toml
    """
    from ..io.readers.asking import read
    from ..io.text.files import format_of

    for path in (output, current):
        if path is not None:
            check(path)
    form = "toml" if output is None else format_of(output)
    with working(f"reading {origin}"):
        found = read(origin, files, user_by, saturate=saturate, shape=_shape(shape), machines=machines)
    deliver(_text(found, form), output)
    if current is not None:
        deliver(json.dumps(found.current(), indent=2, ensure_ascii=False), current)
    # A terminal shows the comments of the instance already.
    if output is not None or not sys.stdout.isatty():
        for note in found.notes:
            typer.echo(str(note), err=True)
    from .coverage import unanswered

    for line in unanswered(found.instance):
        typer.echo(line, err=True)


def _shape(text: str | None) -> dict[str, str]:
    """Return the amounts of a task as ``cpu=1,memory=4Gi`` says them."""
    found: dict[str, str] = {}
    for part in text.split(",") if text is not None else ():
        resource, equal, value = (word.strip() for word in part.partition("="))
        if not (resource and equal and value) or resource in found:
            raise InstanceError(f"--shape {text!r}: write each resource once, such as cpu=1,memory=4Gi")
        found[resource] = value
    return found


def _text(found: "Conversion", form: str) -> str:
    from ..io.native import writing

    text = writing.dumps(found.instance, form)
    if form == "json" or not found.notes:
        return text
    return "".join(f"# {note}\n" for note in found.notes) + "\n" + text
