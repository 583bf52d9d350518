"""``drfopt schedule``: progressive filling, task by task."""

from typing import Annotated

import typer

from ..errors import suggestion
from . import instances, options
from .output import Output
from .working import working

__all__ = ["schedule"]

WHEN_FULL = ("skip", "stop")


def _known(rule: str) -> str:
    if rule not in WHEN_FULL:
        raise typer.BadParameter(f"{rule!r} is not one of {', '.join(WHEN_FULL)}{suggestion(rule, WHEN_FULL)}")
    return rule


def schedule(
    instance: options.InstanceName,
    policy: options.PolicyName = "drf",
    when_full: Annotated[
        str,
        typer.Option(
            "--when-full",
            metavar="RULE",
            help="Who does not fit is passed over (skip), or ends the filling as the paper prints it (stop).",
            callback=_known,
            autocompletion=lambda incomplete: options.matching(incomplete, WHEN_FULL),
        ),
    ] = "skip",
    trace: Annotated[
        bool,
        typer.Option(
            "--trace/--no-trace",
            help="Every task in its order, or the outcome alone: without a trace a pool of billions takes no longer.",
        ),
    ] = True,
    json: options.Json = False,
    format: options.FormatName = None,
    output: options.OutputFile = None,
) -> None:
    """Launch one task after another (Algorithm 1) and show the trace.

    Example: drfopt schedule nsdi2011 --when-full stop
    """
    out = Output.wished(format, json, output)
    cluster = instances.read(instance)
    from ..schedule import schedule as scheduled

    with working(f"scheduling {policy}"):
        found = scheduled(cluster, policy, when_full=when_full, trace=trace)
    out.write(found.sheet(), found.to_dict)
