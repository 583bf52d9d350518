"""``drfopt crosscheck``: every engine that can take it, and the reference, against each other."""

from typing import Annotated

import typer

from . import options
from .output import Output
from .status import DISAGREED, FAILED
from .working import working

__all__ = ["crosscheck"]

VERDICTS = {True: 0, False: DISAGREED, None: FAILED}
"""Exit status by what the computations say: they agree, they do not, there are fewer than two."""


def crosscheck(
    instance: options.InstanceName,
    policy: options.PolicyName = "drf",
    integer: options.WholeTasks = False,
    exact: options.Exact = False,
    time_limit: options.TimeLimit = None,
    formulation: Annotated[
        str | None,
        options.valued("--formulation", "FILE", "A *.py file that states the same."),
    ] = None,
    json: options.Json = False,
    format: options.FormatName = None,
    output: options.OutputFile = None,
) -> None:
    """Solve with every engine and the reference; exit 1 when they disagree.

    Example: drfopt crosscheck nsdi2011 --policy asset
    """
    out = Output.from_options(format, json, output)
    cluster = options.read(instance)
    from ..solving.crosschecking import crosscheck as checked

    with working(f"cross-checking {policy}"):
        found = checked(cluster, policy, integer=integer, exact=exact, time_limit=time_limit, formulation=formulation)
    out.write(found.sheet(), found.to_dict)
    if status := VERDICTS[found.agree]:
        raise typer.Exit(status)
