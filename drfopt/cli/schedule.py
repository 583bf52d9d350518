"""``drfopt schedule``: progressive filling, task by task."""

from collections.abc import Callable
from typing import Annotated

import typer

from ..base.errors import suggestion
from . import options
from .output import Output
from .working import working

__all__ = ["schedule"]

WHEN_FULL = ("skip", "stop")

RULES = ("algorithm-1", "sequential-min-max")


def _one_of(names: tuple[str, ...]) -> Callable[[str], str]:
    def known(name: str) -> str:
        if name not in names:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(names)}{suggestion(name, names)}")
        return name

    return known


def schedule(
    instance: options.InstanceName,
    policy: options.PolicyName = "drf",
    rule: Annotated[
        str,
        typer.Option(
            metavar="RULE",
            help="Served is whose level is lowest (algorithm-1), or will be after the task (sequential-min-max).",
            callback=_one_of(RULES),
            autocompletion=lambda incomplete: options.matching(incomplete, RULES),
        ),
    ] = "algorithm-1",
    when_full: Annotated[
        str,
        typer.Option(
            "--when-full",
            metavar="RULE",
            help="Who does not fit is passed over (skip), or ends the filling as the paper prints it (stop).",
            callback=_one_of(WHEN_FULL),
            autocompletion=lambda incomplete: options.matching(incomplete, WHEN_FULL),
        ),
    ] = "skip",
    ties: Annotated[
        str,
        typer.Option(
            metavar="A,B", help="Who is served first of equals. [default: who is listed first]", show_default=False
        ),
    ] = "",
    trace: Annotated[
        bool,
        typer.Option(
            "--trace/--no-trace",
            help="Every task in its order, or the outcome alone: without a trace a pool of billions takes no longer.",
        ),
    ] = True,
    optimum: Annotated[
        bool, typer.Option("--optimum", help="Say how far it is from the proven optimum of whole tasks.")
    ] = False,
    time_limit: options.TimeLimit = None,
    json: options.Json = False,
    format: options.FormatName = None,
    output: options.OutputFile = None,
) -> None:
    """Launch one task after another (Algorithm 1) and show the trace.

    Example: drfopt schedule nsdi2011 --ties B,A
    """
    out = Output.from_options(format, json, output)
    cluster = options.read(instance)
    from ..solving.scheduling import schedule as scheduled

    names = [name.strip() for name in ties.split(",")] if ties else []
    with working(f"scheduling {policy}"):
        found = scheduled(
            cluster,
            policy,
            rule=rule,
            when_full=when_full,
            ties=names,
            trace=trace,
            optimum=optimum,
            time_limit=time_limit,
        )
    out.write(found.sheet(), found.to_dict)
