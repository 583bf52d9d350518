"""``drfopt verify``: is a file of ``solve --json`` or ``solve --certificate`` really the answer?"""

from pathlib import Path
from typing import Annotated, Any

import typer

from ..base.errors import InstanceError
from ..base.tables import Column, Sheet
from ..certificates.verifier import Report, loads
from ..certificates.verifier import verify as verified
from ..io.text.input import read_text
from . import instances, options
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
        help="What 'solve --json' or 'solve --certificate' wrote; alone, a certificate file, which has its instance.",
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
    out = Output.wished(format, json, output)
    path = Path(instance) if file is None else file
    from ..model.document import document

    with working(f"verifying {path}"):
        given = None if file is None else document(instances.read(instance))
        text = read_text(path)
        try:
            report = verified(loads(text), given)
        except (ValueError, RecursionError) as error:
            raise InstanceError(f"{path}: {error}: give a file of 'solve --json' or 'solve --certificate'") from None
    out.write(_sheet(report, str(path)), lambda: _document(report))
    if status := VERDICTS[report.valid]:
        raise typer.Exit(status)


def _document(report: Report) -> dict[str, Any]:
    checks = [{"name": check.name, "holds": check.holds, "worst": check.worst} for check in report.checks]
    return {"valid": report.valid, "accuracy": float(report.accuracy), "checks": checks}


def _sheet(report: Report, title: str) -> Sheet:
    words = {True: "holds", False: "FAILS", None: "not decided"}
    verdict = {True: "valid", False: "NOT valid", None: "feasibility checked, optimality not proven"}[report.valid]
    floats = f"to {float(report.accuracy):.0e}, which is what floats are held to" if report.accuracy else "exactly"
    return Sheet(
        title=title,
        columns=(Column("check"), Column(""), Column("first fault")),
        rows=[(check.name, words[check.holds], check.worst) for check in report.checks],
        notes=(f"{verdict}: decided in fractions, {floats}",),
    )
