"""``drfopt solve``: one allocation and its certificate.

``drfopt schedule``: progressive filling, task by task.
"""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from ..base.deadline import Budget
from ..base.errors import suggestion
from . import options
from .output import Output, check, check_folder, deliver_proof, versions
from .status import FAILED, USAGE_ERROR
from .working import if_not_stopped, stoppable, working

__all__ = ["schedule", "solve"]


def in_tables(instance: str) -> bool:
    """Say whether INSTANCE is Parquet: a folder, or one such file."""
    return (instance != "" and Path(instance).is_dir()) or instance.endswith(".parquet")


def solve(
    instance: options.InstanceName,
    policy: options.PolicyName = "drf",
    integer: options.WholeTasks = False,
    engine: options.EngineName = "auto",
    solver: options.SolverName = "highs",
    exact: options.Exact = False,
    precision: options.Precision = None,
    certificate: options.CertificateFile = None,
    time_limit: options.TimeLimit = None,
    jobs: options.Jobs = None,
    dask: options.Dask = None,
    cluster_file: Annotated[
        Path | None,
        typer.Option(
            "--cluster",
            metavar="FILE",
            help="Where INSTANCE is a folder of Parquet files with users: the cluster, an instance file without users.",
            show_default=False,
        ),
    ] = None,
    answer: Annotated[
        Path | None,
        typer.Option(
            "--answer",
            metavar="FOLDER",
            help="Of users in Parquet: the folder to make, with their tasks and levels and the certificate's sums.",
            show_default="beside INSTANCE",
        ),
    ] = None,
    few_classes: Annotated[
        bool,
        typer.Option("--few-classes", help="Of users in Parquet on machines: put nearly all on one class each."),
    ] = False,
    json: options.Json = False,
    format: options.FormatName = None,
    output: options.OutputFile = None,
) -> None:
    """Divide the cluster and prove the answer.

    Example: drfopt solve nsdi2011 --policy ceei --json
    """
    out = Output.from_options(format, json, output)
    if in_tables(instance) or cluster_file is not None or answer is not None or few_classes:
        others = {
            "--integer": integer,
            "--exact": exact,
            "--precision": precision is not None,
            "--certificate": certificate is not None,
            "--engine": engine != "auto",
            "--solver": solver != "highs",
        }
        not_built = [option for option, given in others.items() if given]
        limits = {"time_limit": time_limit, "jobs": jobs, "dask": dask, "few_classes": few_classes}
        _divide_tables(instance, policy, cluster_file, answer, not_built, out, limits)
        return
    if certificate is not None:
        check(certificate)
    cluster = options.read(instance)
    from ..solving.allocating import solve as solved

    budget = Budget(time_limit)
    with stoppable() if integer else nullcontext(), working(f"solving {policy}"), budget.spent():
        allocation = solved(
            cluster,
            policy,
            integer=integer,
            engine=engine,
            solver=solver,
            exact=exact,
            time_limit=time_limit,
            jobs=jobs or 1,
            dask=dask,
            precision=precision,
        )
    if certificate is not None:
        from ..certificates.document import certificate_document

        deliver_proof(certificate_document(allocation), certificate)
    sheet = allocation.sheet()
    if out.format == "table":
        from ..planning.advice import advise

        helps = if_not_stopped("looking for what helps", lambda: advise(allocation).sentences(), budget.left)
        if helps is not None:
            sheet = replace(sheet, notes=(*allocation.notes(unplaced=False), *helps))
    out.write(sheet, lambda: allocation.to_dict(instance=False, proof=True), title=options.title(cluster, instance))
    if not allocation.finished:
        raise typer.Exit(FAILED)


def _divide_tables(
    users: str,
    policy: str,
    cluster: Path | None,
    answer: Path | None,
    not_built: list[str],
    out: Output,
    limits: dict[str, Any],
) -> None:
    """Divide users in Parquet files, and print what there is to say of all of them together."""
    if not in_tables(users):
        raise USAGE_ERROR(
            "--cluster, --answer and --few-classes go with a folder of Parquet files as INSTANCE: leave them out"
        )
    if Path(users).is_dir() and next(Path(users).glob("*.parquet"), None) is None:
        raise USAGE_ERROR(f"{users} is a folder without files *.parquet: name an instance file, or the users' folder")
    if answer is not None:
        check_folder(answer)
    if cluster is None:
        raise USAGE_ERROR(f"{users} is Parquet, with users only: say --cluster FILE, an instance file without users")
    if not_built:
        raise USAGE_ERROR(f"{not_built[0]} is not built for users in Parquet: leave it out")
    from ..solving.partitioned import solve_partitions

    with working(f"solving {policy}"):
        found = solve_partitions(users, cluster, policy, output=answer, **limits)
    out.write(found.sheet(), lambda: found.to_dict() | {"version": versions()})


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
    policy: options.ProvenPolicy = "drf",
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
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="Who is served first of equals, separated by commas or given again.",
            show_default="who is listed first",
        ),
    ] = None,
    trace: Annotated[
        bool,
        typer.Option(
            "--trace/--no-trace",
            help="Every task in its order, or the outcome alone: fast for billions without groups and devices, too.",
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

    names = [name.strip() for text in ties or () if text for name in text.split(",")]
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
    if found.optimum is not None and not found.optimum.proven:
        raise typer.Exit(FAILED)
