"""``drfopt size``: what to buy so that the fair allocation gives users what they need.

``drfopt rebalance``: from what runs today to the fair allocation in few moves.
"""

from pathlib import Path
from typing import Annotated

import typer

from . import options
from .output import Output, check
from .status import DISAGREED, FAILED, USAGE_ERROR
from .working import stoppable, working

__all__ = ["rebalance", "size"]

SECONDS = 100.0
"""After which the command stops with the best purchase in pieces known and a bound, unless told otherwise."""


def size(
    instance: options.InstanceName,
    target: Annotated[
        list[str],
        options.valued(
            "--target",
            "TARGETS",
            "A>=100 (tasks), A>=50% (of its limit, or of what its ceiling allows), A.share>=1/5, A.level>=0.1; * for A "
            "is everybody else who can run a task, each with its own limit; commas, or again.",
            "-t",
        ),
    ],
    cost: Annotated[
        list[str],
        options.valued(
            "--cost",
            "NAME=COST",
            "What one machine of a class, or one unit of a pool's resource, costs; commas, or again.",
        ),
    ],
    most: Annotated[
        list[str] | None,
        options.valued("--max", "NAME=N", "The most of it that may be bought."),
    ] = None,
    unit: Annotated[
        list[str] | None,
        typer.Option(
            "--unit",
            metavar="RESOURCE=AMOUNT",
            help="Pieces in which a resource of a pool is sold.",
            show_default="any amount",
        ),
    ] = None,
    from_nothing: Annotated[
        bool, typer.Option("--from-nothing", help="Build the cluster of what is bought alone.")
    ] = False,
    policy: options.ProvenPolicy = "drf",
    integer: options.WholeTasks = False,
    time_limit: options.TimeLimit = None,
    cluster_file: Annotated[
        Path | None,
        options.valued("--cluster", "FILE", "Write the cluster after the purchase to FILE."),
    ] = None,
    json: options.Json = False,
    format: options.FormatName = None,
    output: options.OutputFile = None,
) -> None:
    """Find the cheapest machines to buy so that the fair allocation meets the targets.

    It stops after 100 seconds, or 20 where any amount may be bought, or --time-limit, with the best purchase known
    and a bound for all.

    Example: drfopt size nsdi2011 --target "A>=5,B>=4" --cost cpu=1,memory=1 --unit cpu=2,memory=4
    """
    out = Output.from_options(format, json, output)
    if cluster_file is not None:
        from ..io.text.files import format_of

        check(cluster_file)
        format_of(cluster_file)
    costs, bounds, steps = _amounts(cost, "--cost"), _amounts(most, "--max"), _amounts(unit, "--unit")
    cluster = options.read(instance)
    from ..planning.sizing.purchase import size as sized

    if time_limit is None and (cluster.machines is not None or costs.keys() <= steps.keys()):
        time_limit = SECONDS
    with stoppable(), working(f"sizing for {policy}"):
        found = sized(
            cluster,
            target,
            costs,
            policy=policy,
            most=bounds,
            steps=steps,
            from_nothing=from_nothing,
            integer=integer,
            time_limit=time_limit,
        )
    if cluster_file is not None and (larger := found.cluster) is not None:
        from ..io.native import writing

        writing.save(larger, cluster_file)
    out.write(found.sheet(), found.to_dict, title=options.title(cluster, instance))
    if found.status != "optimal":
        raise typer.Exit(DISAGREED if found.status == "infeasible" else FAILED)


def _amounts(texts: list[str] | None, option: str) -> dict[str, str]:
    """Return what ``A=1,B=2`` says, by name."""
    found: dict[str, str] = {}
    for part in (part.strip() for text in texts or () for part in text.split(",")):
        name, sign, amount = part.rpartition("=")
        if not sign or not name.strip() or not amount.strip():
            raise USAGE_ERROR(f"{option}: {part!r} is no amount: write for example {option} cpu=10")
        if name.strip() in found:
            raise USAGE_ERROR(f"{option}: {name.strip()!r} is given twice: give it once")
        found[name.strip()] = amount.strip()
    return found


def rebalance(
    instance: options.InstanceName,
    current: Annotated[
        Path,
        options.valued(
            "--current", "FILE", 'What runs today: JSON, {"placement": {user: {class: tasks}}} or machine by machine.'
        ),
    ],
    moves: Annotated[
        int | None,
        typer.Option(
            "--moves",
            metavar="K",
            min=0,
            help="The fairest that at most K moves and evictions reach.",
            show_default="the optimum",
        ),
    ] = None,
    policy: options.ProvenPolicy = "drf",
    time_limit: options.TimeLimit = None,
    json: options.Json = False,
    format: options.FormatName = None,
    output: options.OutputFile = None,
) -> None:
    """Find the fewest moves and evictions that make what runs today fair, in whole tasks.

    Example: drfopt rebalance cluster.toml --current today.json --moves 10
    """
    out = Output.from_options(format, json, output)
    cluster = options.read(instance)
    from ..planning.rebalancing.rebalancing import rebalance as rebalanced

    with stoppable(), working(f"rebalancing {policy}"):
        found = rebalanced(cluster, current, moves=moves, policy=policy, time_limit=time_limit)
    out.write(found.sheet(), found.to_dict, title=options.title(cluster, instance))
    if found.status != "optimal":
        raise typer.Exit(FAILED)
