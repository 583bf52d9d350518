"""``drfopt audit``: which fairness properties the outcome of a policy has.

``drfopt search``: small counterexamples to one, found without being told where.
"""

from pathlib import Path
from typing import Annotated

import typer

from ..base.errors import PolicyError
from . import options
from .output import Output, check, deliver_proof
from .status import DISAGREED, FAILED, USAGE_ERROR
from .working import working

__all__ = ["PropertyNames", "audit", "search"]


def _properties(incomplete: str) -> list[str]:
    from ..axioms.properties.property_table import PROPERTIES

    return options.matching(incomplete, (row.name for row in PROPERTIES))


PropertyNames = Annotated[
    list[str] | None,
    options.valued(
        "--property",
        "NAME",
        "A property, such as envy-freeness; may be given several times. The eight of the paper by default.",
        autocompletion=_properties,
    ),
]


def audit(
    instance: Annotated[
        str | None,
        typer.Argument(
            metavar="[INSTANCE]",
            help="A file, - for standard input, or a library instance; what holds everywhere when left out.",
            autocompletion=options.library_names,
            show_default=False,
        ),
    ] = None,
    policy: options.PolicyName = "drf",
    property: PropertyNames = None,
    integer: options.WholeTasks = False,
    time_limit: options.TimeLimit = None,
    certificate: options.CertificateFile = None,
    json: options.Json = False,
    format: options.FormatName = None,
    output: options.OutputFile = None,
) -> None:
    """Say which fairness properties hold, and show who loses where one fails; exit 1 then, 3 when the time ran out.

    Example: drfopt audit thm4 --policy ceei --property strategy-proofness
    """
    out = Output.from_options(format, json, output)
    from ..axioms.properties.property_table import properties_named

    properties_named(property)
    if certificate is not None:
        check(certificate)
    if instance is None:
        if certificate is not None:
            raise PolicyError("--certificate proves verdicts on one instance: name one, or use 'drfopt theorems'")
        from ..axioms.claims import audit_policy

        with working(f"auditing {policy}"):
            found = audit_policy(policy, property, integer=integer, time_limit=time_limit)
        out.write(found.sheet())
    else:
        cluster = options.read(instance)
        from ..axioms.auditing import audit as audited

        with working(f"auditing {policy}"):
            found = audited(cluster, policy, property, integer=integer, time_limit=time_limit)
        if certificate is not None:
            with working("proving the verdicts"):
                deliver_proof(found.certificate(), certificate)
        title = options.title(cluster, instance)
        out.write(found.sheet(), lambda: found.to_dict() | {"instance": title})
    if found.failed:
        raise typer.Exit(DISAGREED)
    if any(finding.cut_short for finding in found.results):
        raise typer.Exit(FAILED)


def _number(flag: str, help: str, least: int = 1) -> typer.models.OptionInfo:
    return typer.Option(flag, metavar="N", min=least, help=help)


def search(
    context: typer.Context,
    policy: options.PolicyName = "drf",
    property: PropertyNames = None,
    users: Annotated[int, _number("--users", "How many users.")] = 2,
    resources: Annotated[int, _number("--resources", "How many resources.")] = 2,
    max_demand: Annotated[int, _number("--max-demand", "Demands are whole numbers up to here.")] = 4,
    max_capacity: Annotated[
        int | None,
        typer.Option("--max-capacity", metavar="N", min=1, help="Capacities likewise.", show_default="--max-demand"),
    ] = None,
    zero_demands: Annotated[bool, typer.Option("--zero-demands", help="Users may need nothing of a resource.")] = False,
    integer: options.WholeTasks = False,
    weights: Annotated[int, _number("--weights", "Weights up to here.")] = 1,
    limits: Annotated[int, _number("--limits", "Limits up to here, and none.", 0)] = 0,
    machines: Annotated[int, _number("--machines", "So many machines; 0 for a pool.", 0)] = 0,
    formulation: Annotated[
        Path | None,
        typer.Option("--formulation", metavar="FILE", help="A notion of your own: short for --policy FILE."),
    ] = None,
    sample: Annotated[int, _number("--sample", "Draw so many instances; 0 for all of them.", 0)] = 0,
    seed: Annotated[int, _number("--seed", "Seed of the sample.", 0)] = 0,
    first: Annotated[bool, typer.Option("--first", help="Stop when every property has failed once.")] = False,
    jobs: Annotated[
        int | None, typer.Option("--jobs", metavar="N", min=1, help="Processes.", show_default="one a core")
    ] = None,
    dask: Annotated[
        str | None,
        options.valued("--dask", "ADDRESS", "Address of a Dask scheduler."),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        options.valued("--checkpoint", "FILE", "A log to go on from when run again."),
    ] = None,
    into: Annotated[
        Path | None,
        options.valued("--into", "FOLDER", "Write counterexamples as instance files into a folder that is there."),
    ] = None,
    time_limit: options.TimeLimit = None,
    json: options.Json = False,
    format: options.FormatName = None,
    output: options.OutputFile = None,
) -> None:
    """Audit every small instance, or a sample, and show small counterexamples; exit 1 when there are any.

    Example: drfopt search --policy ceei --property strategy-proofness --users 2 --resources 2 --max-demand 4
    """
    out = Output.from_options(format, json, output)
    if formulation is not None:
        if options.written(context, "policy"):
            raise USAGE_ERROR("--policy and --formulation name two policies: give one of them")
        policy = str(formulation)
    if checkpoint is not None:
        check(checkpoint)
    if into is not None and not into.is_dir():
        raise USAGE_ERROR(f"--into names {str(into)!r}, which is no folder: make it first")
    from ..axioms.counterexamples.searching import search as searched
    from ..axioms.counterexamples.space import Space

    space = Space(
        users=users,
        resources=resources,
        max_demand=max_demand,
        max_capacity=max_capacity or max_demand,
        zero_demands=zero_demands,
        max_weight=weights,
        max_limit=limits,
        machines=machines,
        sample=sample,
        seed=seed,
    )
    with working(f"searching {policy}"):
        found = searched(
            policy,
            property,
            space,
            integer=integer,
            first=first,
            jobs=jobs,
            dask=dask,
            checkpoint=checkpoint,
            time_limit=time_limit,
        )
        if into is not None:
            for counterexample in found.counterexamples:
                counterexample.save(into)
    out.write(found.sheet())
    if found.counterexamples:
        raise typer.Exit(DISAGREED)
    if not found.complete:
        raise typer.Exit(FAILED)
