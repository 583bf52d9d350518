"""``drfopt theorems``: the table of claims, proven again as it is printed, or one theorem of the DRF paper told."""

from typing import Annotated

import typer

from . import options
from .output import Output, check, deliver, deliver_proof
from .status import DISAGREED
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
    certificate: options.CertificateFile = None,
    json: options.Json = False,
    format: options.FormatName = None,
    output: options.OutputFile = None,
) -> None:
    """Prove every claim again: its instance audited, or every small one; exit 1 when one does not stand.

    Example: drfopt theorems 4
    """
    out = Output.from_options(format, json, output)
    if certificate is not None:
        check(certificate)
    if number is not None:
        from ..axioms.theorems import theorem
        from ..base.tables import Sheet

        with working(f"theorem {number}"):
            told = theorem(number)
            proof = None if certificate is None else told.certificate()
            found = told.checked()
        if certificate is not None and proof is not None:
            deliver_proof(proof, certificate)
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
        if certificate is not None:
            deliver_proof(claims.certificate(standings), certificate)
    out.write(claims.sheet(standings), rows=len(standings))
    if not all(standing.stands for standing in standings):
        raise typer.Exit(DISAGREED)
