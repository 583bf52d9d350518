"""``drfopt compare``, ``crosscheck``, ``verify``: policies side by side, and an answer beside others and its proof."""

from pathlib import Path
from typing import Annotated

import typer

from ..base.errors import InstanceError
from . import options
from .output import Output, versions
from .status import DISAGREED, FAILED
from .working import working

__all__ = ["compare", "crosscheck", "verify"]


def compare(
    instance: options.InstanceName,
    policies: options.PolicyNames = None,
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
    names = options.listed(policies, options.COMPARED, "--policies", "policy")
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


VERDICTS = {True: 0, False: DISAGREED, None: FAILED}
"""Exit status by what computations say: they agree, they do not, there are fewer than two; a proof: likewise."""


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
    """Solve again by other engines and the reference; exit 1 when they disagree, 3 when fewer than two could answer.

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


AnswerFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE",
        help="What 'solve --json' or '--certificate' wrote; alone, a certificate file, which has its instance.",
        show_default=False,
    ),
]


def verify(
    instance: options.InstanceName,
    file: AnswerFile = None,
    json: options.Json = False,
    format: options.FormatName = None,
    output: options.OutputFile = None,
) -> None:
    """Check an answer in exact arithmetic, without any solver; exit 1 when it or its proof is wrong, 3 without one.

    Example: drfopt verify nsdi2011 answer.json
    """
    out = Output.from_options(format, json, output)
    path = Path(instance) if file is None else file
    if file is None and not path.exists() and instance in options.library_names(instance):
        raise InstanceError(f"{instance!r} is a library instance and no file: name the answer after it")
    from ..solving.verifying import verify as verified

    with working(f"verifying {path}"):
        found = verified(path, None if file is None else options.read(instance))
    out.write(found.sheet())
    if status := VERDICTS[found.valid]:
        raise typer.Exit(status)
