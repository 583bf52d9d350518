"""``drfopt rebalance``: from what runs today to the fair allocation in few moves."""

from pathlib import Path
from typing import Annotated

import typer

from . import options
from .output import Output
from .status import FAILED
from .working import stoppable, working

__all__ = ["rebalance"]


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
    policy: options.PolicyName = "drf",
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
