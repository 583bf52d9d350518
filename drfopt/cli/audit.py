"""``drfopt audit``: which fairness properties the outcome of a policy has."""

from typing import Annotated

import typer

from ..base.errors import PolicyError
from . import options
from .output import Output, check, deliver_proof
from .status import DISAGREED, FAILED
from .working import working

__all__ = ["PropertyNames", "audit"]


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
