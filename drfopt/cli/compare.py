"""``drfopt compare``: policies side by side."""

import typer

from . import options
from .output import Output, versions
from .status import FAILED
from .working import working

__all__ = ["compare"]


def compare(
    instance: options.InstanceName,
    policies: options.PolicyNames = "drf,asset,ceei",
    integer: options.WholeTasks = False,
    time_limit: options.TimeLimit = None,
    json: options.Json = False,
    format: options.FormatName = None,
    output: options.OutputFile = None,
) -> None:
    """Put policies side by side, with the price of fairness.

    Example: drfopt compare nsdi2011 --policies drf,ceei,alpha:2
    """
    out = Output.from_options(format, json, output)
    names = options.listed(policies, "--policies names no policy: write for example --policies drf,ceei")
    cluster = options.read(instance)
    from ..solving.comparing import compare as compared

    with working("comparing"):
        comparison = compared(cluster, names, integer=integer, time_limit=time_limit)
    title, made_with = options.title(cluster, instance), versions()

    def document() -> dict:
        found = comparison.to_dict()
        rows = [row | {"instance": title, "version": made_with} for row in found["allocations"]]
        return found | {"instance": title, "allocations": rows}

    out.write(comparison.sheet(), document)
    if comparison.failed:
        raise typer.Exit(FAILED)
