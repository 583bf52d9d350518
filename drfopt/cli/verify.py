"""``drfopt verify``: is what a file of ``solve --json`` or ``--certificate`` says really so?"""

from pathlib import Path
from typing import Annotated

import typer

from . import options
from .output import Output
from .status import DISAGREED, FAILED
from .working import working

__all__ = ["verify"]

VERDICTS = {True: 0, False: DISAGREED, None: FAILED}
"""Exit status by what was found: proven, refuted, not decided."""

AnswerFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE",
        help="What 'solve --json' or '--certificate' wrote; alone, a certificate file, which has its instance.",
        show_default=False,
    ),
]


def verify(
    instance: options.InstanceName,
    file: AnswerFile = None,
    json: options.Json = False,
    format: options.FormatName = None,
    output: options.OutputFile = None,
) -> None:
    """Check an answer in exact arithmetic, without any solver; exit 1 when it is wrong, 3 when it lacks a proof.

    Example: drfopt verify nsdi2011 answer.json
    """
    out = Output.from_options(format, json, output)
    path = Path(instance) if file is None else file
    from ..solving.verifying import verify as verified

    with working(f"verifying {path}"):
        found = verified(path, None if file is None else options.read(instance))
    out.write(found.sheet())
    if status := VERDICTS[found.valid]:
        raise typer.Exit(status)
