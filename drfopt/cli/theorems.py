"""``drfopt theorems``: the table of claims, proven again as it is printed, or one theorem of the DRF paper told."""

from typing import Annotated

import typer

from . import options
from .output import Output, deliver
from .status import DISAGREED, USAGE_ERROR
from .working import working

__all__ = ["theorems"]


def theorems(
    number: Annotated[
        str | None,
        typer.Argument(
            metavar="[N]",
            help="A theorem of the DRF paper, or path, kalai-smorodinsky; all claims when left out.",
            show_default=False,
        ),
    ] = None,
    policy: Annotated[str | None, options.valued("--policy", "POLICY", "Claims on one policy.", "-p")] = None,
    property: Annotated[
        str | None,
        options.valued("--property", "NAME", "Claims on one property."),
    ] = None,
    json: options.Json = False,
    format: options.FormatName = None,
    output: options.OutputFile = None,
) -> None:
    """Prove every claim again: its instance audited, or every small one; exit 1 when one does not stand.

    Example: drfopt theorems 4
    """
    out = Output.from_options(format, json, output)
    if number is not None:
        if policy is not None or property is not None:
            raise USAGE_ERROR(f"theorem {number} is told whole: leave --policy and --property out, or the number")
        from ..axioms.theorems import theorem
        from ..base.tables import Sheet

        with working(f"theorem {number}"):
            found = theorem(number).checked()
        if out.format == "table":
            deliver(str(found), out.path)
        else:
            out.write(Sheet(str(found), (), []), found.to_dict)
        if not found.confirmed:
            raise typer.Exit(DISAGREED)
        return
    from ..axioms import claims
    from ..base.progress import report

    with working("proving claims"):
        standings = []
        chosen = claims.selected(policy, property)
        for k, claim in enumerate(chosen):
            report(f"claim {k + 1} of {len(chosen)}: {claim.policy}, {claim.property}")
            standings.append(claims.proven(claim))
    out.write(claims.sheet(standings), rows=len(standings))
    if not all(standing.stands for standing in standings):
        raise typer.Exit(DISAGREED)
