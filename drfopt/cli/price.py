"""``drfopt price``: what one more unit is worth, to whom, and how far that holds."""

from typing import Annotated

import typer

from . import options
from .output import Output
from .working import working

__all__ = ["price"]


def price(
    instance: options.InstanceName,
    policy: options.PolicyName = "drf",
    of: Annotated[
        list[str] | None,
        typer.Option(
            "--of",
            metavar="UNIT",
            help="A resource, a machine class, or CLASS/RESOURCE; may be given several times.",
            show_default="all",
        ),
    ] = None,
    json: options.Json = False,
    format: options.FormatName = None,
    output: options.OutputFile = None,
) -> None:
    """Say what one more of every resource and machine is worth, to whom, and how far that holds.

    Example: drfopt price nsdi2011
    """
    out = Output.from_options(format, json, output)
    cluster = options.read(instance)
    from ..planning.pricing.unit_price import price as priced

    with working("pricing"):
        found = priced(cluster, policy, units=of)
    out.write(found.sheet(), found.to_dict, title=options.title(cluster, instance))
