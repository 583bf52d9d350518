"""``drfopt whatif``: before and after some changes, winners and losers; or a sweep along one of them.

``drfopt sweep``: one cluster with more or less of a resource.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .output import Output, check
from .status import FAILED, USAGE_ERROR
from .working import working

__all__ = ["sweep", "whatif"]


if TYPE_CHECKING:
    from ..planning.sweeping import Sweep


Texts = list[str] | None

FACTORS = "1/2,1,2"


def _change(flag: str, grammar: str, help: str) -> Any:
    return options.valued(flag, grammar, f"{help} May be given several times.")


def whatif(
    instance: options.InstanceName,
    add: Annotated[
        Texts,
        _change(
            "--add",
            "10*CLASS",
            "Machines more, or 2*NEW{cpu=64,gpu=8}, open to whom no class is closed; of a pool 10*cpu.",
        ),
    ] = None,
    remove: Annotated[Texts, _change("--remove", "3*CLASS", "Machines less; of a pool 3*cpu.")] = None,
    set_count: Annotated[Texts, _change("--set-count", "CLASS=12", "How many machines of a class.")] = None,
    set_capacity: Annotated[
        Texts, _change("--set-capacity", "R=100", "Of a pool, or CLASS/R=8 of each machine.")
    ] = None,
    scale: Annotated[Texts, _change("--scale", "R=1.5", "Every capacity of a resource, or of all, multiplied.")] = None,
    add_user: Annotated[
        Texts, _change("--add-user", "X{cpu=1}", "A user comes; X{cpu=1;weight=2;max_tasks=9}.")
    ] = None,
    remove_user: Annotated[Texts, _change("--remove-user", "X", "A user leaves.")] = None,
    set_demand: Annotated[Texts, _change("--set-demand", "X.cpu=2", "What a task needs.")] = None,
    set_weight: Annotated[Texts, _change("--set-weight", "X=2", "A user's weight.")] = None,
    set_guarantee: Annotated[Texts, _change("--set-guarantee", "X.cpu=4", "What a user is promised; =none.")] = None,
    set_ceiling: Annotated[Texts, _change("--set-ceiling", "X.cpu=4", "The most a user may use; =none.")] = None,
    set_limit: Annotated[
        Texts, _change("--set-limit", "X=10", "The most tasks of a user; X=none for no limit.")
    ] = None,
    sweep: Annotated[
        str | None,
        options.valued(
            "--sweep",
            "NAME=A..B/STEP",
            "A row for each value, such as cpu=100..200/10, v100=10,20 or weight:A=1..4/1, after the changes; "
            "NAME is a resource, a class, CLASS/RESOURCE, or follows weight:, limit:, demand:, guarantee:, ceiling:, "
            "capacity:, scale:, count:.",
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        options.valued("--plot", "FILE", "Draw the sweep, as .svg, .png or .pdf."),
    ] = None,
    policy: options.PolicyName = "drf",
    integer: options.WholeTasks = False,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact", help="Compute in fractions, as is done anyway where that is cheap; --json prints them."
        ),
    ] = False,
    time_limit: options.TimeLimit = None,
    jobs: options.Jobs = None,
    dask: options.Dask = None,
    json: options.Json = False,
    format: options.FormatName = None,
    output: options.OutputFile = None,
) -> None:
    """Divide the cluster before and after some changes: who wins, who loses, and by how much.

    The cluster is changed first, machines before users and added before removed; changes of one kind in the order
    given. With a sign what is set is a difference: =+10, =-10, =+10%.

    Example: drfopt whatif nsdi2011 --set-weight A=2 --set-capacity cpu=+10%
    """
    given = dict(locals())
    out = Output.from_options(format, json, output)
    if plot is not None:
        _drawable(plot, sweep)
    if sweep is None and (jobs is not None or dask is not None):
        raise USAGE_ERROR("--jobs and --dask divide the values of a sweep among workers: ask for --sweep, or drop them")
    from ..planning.changes import KINDS, Change

    changes = [Change(row.name, text) for row in KINDS for text in given[row.name.replace("-", "_")] or ()]
    if not changes and sweep is None:
        raise USAGE_ERROR("no change is given: write for example --set-weight A=2, or --sweep cpu=100..200/10")
    cluster = options.read(instance)
    how: dict[str, Any] = {"integer": integer, "time_limit": time_limit}
    if sweep is None:
        from ..planning.before_and_after import what_if as compared

        with working("solving before and after"):
            found: Any = compared(cluster, changes, policy, exact=exact or None, **how)
    else:
        from ..planning.sweeping import sweep as swept

        with working("sweeping"):
            found = swept(cluster, sweep, changes=changes, policy=policy, jobs=jobs, dask=dask, exact=exact, **how)
            if plot is not None:
                _draw(found, plot)
    out.write(found.sheet(), found.to_dict, title=options.title(cluster, instance))
    if not found.finished:
        raise typer.Exit(FAILED)


def _drawable(path: Path, sweep: str | None) -> None:
    if sweep is None:
        raise USAGE_ERROR("--plot draws a sweep: ask for one, such as --sweep cpu=100..200/10")
    from ..reporting.charts import checked_picture

    check(checked_picture(path))


def _draw(found: "Sweep", path: Path) -> None:
    from ..reporting.figures.changes import sweep_figure
    from ..reporting.whatifs import sweep_to_dict

    sweep_figure(sweep_to_dict(found), 1).whole().save(path)


def sweep(
    instance: options.InstanceName,
    factors: Annotated[
        Texts,
        typer.Option(
            "--factors",
            metavar="A,B,C",
            help="What capacities are multiplied by, separated by commas or given again.",
            show_default=FACTORS,
        ),
    ] = None,
    resource: Annotated[
        str | None, typer.Option("--resource", metavar="R", help="Multiply this resource only.", show_default="all")
    ] = None,
    policy: options.PolicyName = "drf",
    integer: options.WholeTasks = False,
    engine: options.EngineName = "auto",
    time_limit: options.TimeLimit = None,
    jobs: options.Jobs = None,
    dask: options.Dask = None,
    json: options.Json = False,
    format: options.FormatName = None,
    output: options.OutputFile = None,
) -> None:
    """Divide the cluster again and again, with its capacities multiplied.

    Example: drfopt sweep nsdi2011 --resource cpu --factors 1/2,1,3/2,2
    """
    out = Output.from_options(format, json, output)
    wanted = options.listed(factors, FACTORS, "--factors", "factor")
    cluster = options.read(instance)
    from ..planning.sweeping import sweep as swept

    with working("sweeping"):
        found = swept(
            cluster,
            wanted,
            resource=resource,
            policy=policy,
            integer=integer,
            engine=engine,
            time_limit=time_limit,
            jobs=jobs,
            dask=dask,
        )
    out.write(found.sheet(), found.to_dict, title=options.title(cluster, instance))
    if not found.finished:
        raise typer.Exit(FAILED)
