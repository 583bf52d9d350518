"""``drfopt engines``, ``policies``, ``library``, ``formats`` and ``schema``: what there is.

``drfopt theorems``: the table of claims, proven again as it is printed, or one theorem of the DRF paper told.

``drfopt new``: an instance file to begin with, or a scenario.
"""

from dataclasses import asdict
from json import dumps
from typing import Annotated

import typer

from ..base.errors import InstanceError
from ..base.tables import Column, Sheet
from . import options
from .output import Output, check, deliver, deliver_proof
from .status import DISAGREED, USAGE_ERROR
from .working import working

__all__ = ["engines", "formats", "library", "new", "policies", "schema", "theorems"]


def _documents(incomplete: str) -> list[str]:
    from ..io.documents.published import DOCUMENTS

    return options.matching(incomplete, DOCUMENTS.names)


def engines(json: options.Json = False, format: options.FormatName = None, output: options.OutputFile = None) -> None:
    """List the engines and what each can take.

    Example: drfopt engines
    """
    out = Output.from_options(format, json, output)
    from ..engines.registry import ENGINES

    columns = (Column("engine"), Column("what it is"), Column("takes"))
    rows: list[tuple] = [(engine.name, engine.summary, engine.takes) for engine in ENGINES]
    out.write(Sheet("engines", columns, rows), rows=len(rows))


def policies(json: options.Json = False, format: options.FormatName = None, output: options.OutputFile = None) -> None:
    """List the policies: which share is compared, and what is done with it.

    Example: drfopt policies
    """
    out = Output.from_options(format, json, output)
    from ..model.policies import POLICIES

    columns = tuple(map(Column, ("policy", "what it is", "weights", "source")))
    rows: list[tuple] = [(row.name, row.summary, row.weights, row.source) for row in POLICIES]
    notes = ("the path of a formulation file (*.py) is a policy too",)
    out.write(Sheet("policies", columns, rows, notes), rows=len(rows))


def library(json: options.Json = False, format: options.FormatName = None, output: options.OutputFile = None) -> None:
    """List the instances that are shipped with the package.

    Example: drfopt library
    """
    out = Output.from_options(format, json, output)
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
    out = Output.from_options(format, json, output)
    from ..io.readers.formats import FORMATS

    columns = tuple(map(Column, ("format", "files", "users by")))
    rows: list[tuple] = [(row.name, row.summary, ", ".join(row.users)) for row in FORMATS]
    notes = ("files may come in any order, also packed with gzip; drfopt convert --from FORMAT FILES",)
    out.write(Sheet("formats", columns, rows, notes), rows=len(rows))


def schema(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="A document, or a command: whatever its --json prints; all are listed when left out.",
            autocompletion=_documents,
            show_default=False,
        ),
    ] = None,
    json: options.Json = False,
    format: options.FormatName = None,
    output: options.OutputFile = None,
) -> None:
    """Print the JSON Schema of a document: instance files, certificates, and what every --json prints.

    Example: drfopt schema allocation
    """
    from ..io.documents.published import DOCUMENTS
    from ..io.documents.published import schema as published

    out = Output.from_options(format, json, output)
    if name is None:
        columns = tuple(map(Column, ("document", "schema", "printed by")))
        rows: list[tuple] = [(row.name, row.schema, row.printed_by) for row in DOCUMENTS]
        out.write(Sheet("documents", columns, rows), rows=len(rows))
        return
    if format not in (None, "json"):
        raise USAGE_ERROR(f"a schema is JSON and no {format}: leave --format out")
    deliver(dumps(published(name), indent=2), out.path)


def new(
    scenario: Annotated[bool, typer.Option("--scenario", help="A scenario to simulate instead.")] = False,
    output: options.OutputFile = None,
) -> None:
    """Print a commented instance file that solves as it is.

    Example: drfopt new -o cluster.toml
    """
    if output is not None:
        check(output)
        if output.suffix.lower() != ".toml":
            raise InstanceError(f"{output}: what is written with its comments is TOML: let the name end in .toml")
    from ..io.native import writing
    from ..simulation import scenario_files

    deliver(scenario_files.template() if scenario else writing.text(), output)


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
        if policy is not None or property is not None:
            raise USAGE_ERROR(f"theorem {number} is told whole: leave --policy and --property out, or the number")
        from ..axioms.theorems import theorem

        with working(f"theorem {number}"):
            told = theorem(number)
            proof = None if certificate is None else told.certificate()
            found = told.checked()
        if certificate is not None and proof is not None:
            deliver_proof(proof, certificate)
        if out.format == "table":
            deliver(str(found), out.path)
        else:
            out.write(found.sheet())
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
