"""``drfopt convert``: a cluster's own files into an instance file."""

from pathlib import Path
from typing import Annotated

import typer

from ..readers import FORMATS
from . import options
from .output import check, deliver
from .working import working

__all__ = ["convert"]

NAMES = tuple(format.name for format in FORMATS)


def convert(
    files: Annotated[list[Path], typer.Argument(metavar="FILES", help="The cluster's own files.", show_default=False)],
    origin: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help="What the files are: "
            + "; ".join(f"{row.name} ({row.files}), {row.summary}" for row in FORMATS)
            + ".",
            autocompletion=lambda incomplete: options.matching(incomplete, NAMES),
            show_default=False,
        ),
    ],
    output: options.OutputFile = None,
) -> None:
    """Turn a cluster's own files into an instance file.

    Without -o the instance is printed as TOML.

    Example: drfopt convert --from openb nodes.csv pods.csv -o cluster.toml
    """
    from ..readers import convert as converted

    if output is not None:
        check(output)
    with working(f"reading {origin}"):
        instance = converted(origin, files)
    from ..writers import native

    if output is None:
        deliver(native.dumps(instance, "toml"))
    else:
        native.save(instance, output)
