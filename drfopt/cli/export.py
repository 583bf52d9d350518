"""``drfopt export``: an allocation as quotas, weights and minimums of another scheduler."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from ..base.errors import InstanceError
from . import options
from .output import check, deliver
from .status import FAILED
from .working import stoppable, working

__all__ = ["export"]

MOST_LINES = 12
"""Notes on names and rounding that a terminal shows."""


def _names() -> tuple[str, ...]:
    from ..io.writers.exports import EXPORTS

    return EXPORTS.names


def export(
    context: typer.Context,
    instance: options.InstanceName,
    to: Annotated[
        str,
        options.valued(
            "--to",
            "FORMAT",
            "csv, resourcequota, kueue, volcano, yunikorn, kai, koordinator (Kubernetes), fair-scheduler, "
            "capacity-scheduler (YARN), slurm, slurm-accounts or mesos.",
            autocompletion=lambda incomplete: options.matching(incomplete, _names()),
        ),
    ],
    policy: options.PolicyName = "drf",
    integer: options.WholeTasks = False,
    engine: options.EngineName = "auto",
    resource: Annotated[
        list[str] | None,
        options.valued(
            "--resource",
            "NAME=TARGET[:UNIT]",
            "What a resource is called there, and in which unit the instance counts it: memory=memory:Gi.",
        ),
    ] = None,
    leave_out: Annotated[
        list[str] | None,
        options.valued("--leave-out", "NAME", "A resource that the other program does not get: it has no name for it."),
    ] = None,
    answer: Annotated[
        Path | None,
        options.valued(
            "--answer", "FILE", "Take the allocation from FILE, which 'solve --json' wrote, instead of solving again."
        ),
    ] = None,
    time_limit: options.TimeLimit = None,
    output: options.OutputFile = None,
) -> None:
    """Divide the cluster, and write what each user gets for another scheduler.

    Amounts of resources are rounded so that they never add up to more than there is. Weights are those of the instance.

    Example: drfopt export nsdi2011 --to kueue --resource memory=memory:Gi
    """
    from ..io.writers.exports import EXPORTS
    from ..io.writers.exports import export as exported

    if output is not None:
        check(output)
    names = _renamed(resource or [])
    EXPORTS.named(to)
    cluster = options.read(instance)
    if answer is not None:
        from ..io.text.files import read_file
        from ..io.text.parts import parts
        from ..solving.answers import allocation_of

        found = parts(read_file(answer))
        if len(found) != 1:
            raise InstanceError(f"{answer}: is no answer: give what 'drfopt solve --json' wrote")
        allocation = allocation_of(found[0], cluster, exact=False)
        if options.written(context, "policy") and policy != allocation.policy:
            raise InstanceError(f"{answer}: is the answer of {allocation.policy}: leave --policy {policy} out")
        if engine != "auto":
            raise InstanceError(f"{answer}: is an answer, and nothing is solved: leave --engine {engine} out")
        if integer and not allocation.integer:
            raise InstanceError(f"{answer}: is an answer in divisible tasks: leave --integer out")
    else:
        from ..solving.allocating import solve

        with stoppable() if integer else nullcontext(), working(f"solving {policy}"):
            allocation = solve(cluster, policy, integer=integer, engine=engine, time_limit=time_limit)
    left_out = [name.strip() for text in leave_out or () for name in text.split(",") if name.strip()]
    lines: list[str] = []
    deliver(exported(allocation, to, names, left_out, lines), output)
    for line in lines[:MOST_LINES]:
        typer.echo(f"note: {line}", err=True)
    if len(lines) > MOST_LINES:
        typer.echo(f"note: and {len(lines) - MOST_LINES:,} more, which the file says", err=True)
    if not allocation.finished:
        raise typer.Exit(FAILED)


def _renamed(texts: list[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for text in texts:
        for pair in text.split(","):
            resource, equal, target = (part.strip() for part in pair.partition("="))
            if not (resource and equal and target):
                raise InstanceError(
                    f"--resource {text!r}: write NAME=TARGET or NAME=TARGET:UNIT, such as memory=memory:Gi"
                )
            if (other := names.setdefault(resource, target)) != target:
                raise InstanceError(f"--resource calls {resource!r} {other!r} and {target!r}: keep one of them")
    return names
