"""``drfopt explain``: why a user has what it has, and what would raise it.

``drfopt price``: what one more unit is worth, to whom, and how far what decides it stays so.
"""

from dataclasses import replace
from typing import Annotated

import typer

from ..base.deadline import Budget
from . import options
from .output import Output
from .status import FAILED
from .working import if_not_stopped, working

__all__ = ["explain", "price"]


def explain(
    instance: options.InstanceName,
    user: Annotated[
        str | None, typer.Argument(metavar="[USER]", help="Whom to explain.", show_default="everybody")
    ] = None,
    policy: options.ProvenPolicy = "drf",
    integer: options.WholeTasks = False,
    fragmentation: Annotated[
        bool, typer.Option("--fragmentation", help="Pack whole tasks as well: how much of the devices they lose.")
    ] = False,
    time_limit: options.TimeLimit = None,
    json: options.Json = False,
    format: options.FormatName = None,
    output: options.OutputFile = None,
) -> None:
    """Say what stopped each user, who else is stopped there, what sharing gains it, and what would raise it.

    Example: drfopt explain nsdi2011 A
    """
    out = Output.from_options(format, json, output)
    cluster = options.read(instance)
    from ..planning.explaining.explanation import explain as explained

    budget = Budget(time_limit)
    with working("explaining"), budget.spent():
        found = explained(cluster, policy, user, integer=integer, fragmentation=fragmentation, time_limit=time_limit)
        sheet = found.sheet()
    if out.format == "table":
        from ..planning.advice import advise

        short = found.allocation.shortfall.sentences()
        helps = if_not_stopped("looking for what helps", lambda: advise(found.allocation).sentences(), budget.left)
        sheet = replace(sheet, notes=(*sheet.notes, *short, *(helps or ())))
    out.write(sheet, found.to_dict, title=options.title(cluster, instance))
    if not found.allocation.finished:
        raise typer.Exit(FAILED)


def price(
    instance: options.InstanceName,
    policy: options.ProvenPolicy = "drf",
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
    """Say what one more of every resource and machine is worth, to whom, and how far what decides it stays so.

    Example: drfopt price nsdi2011
    """
    out = Output.from_options(format, json, output)
    cluster = options.read(instance)
    from ..planning.pricing.unit_price import price as priced

    with working("pricing"):
        found = priced(cluster, policy, units=of)
    out.write(found.sheet(), found.to_dict, title=options.title(cluster, instance))
