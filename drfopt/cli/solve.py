"""``drfopt solve``: one allocation and its certificate."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from . import options
from .output import Output, check, deliver_proof, versions
from .status import FAILED, USAGE_ERROR
from .working import stoppable, working

__all__ = ["solve"]


def in_tables(instance: str) -> bool:
    """Say whether INSTANCE is Parquet: a folder, or one such file."""
    return Path(instance).is_dir() or instance.endswith(".parquet")


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
    json: options.Json = False,
    format: options.FormatName = None,
    output: options.OutputFile = None,
) -> None:
    """Divide the cluster and prove the answer.

    Example: drfopt solve nsdi2011 --policy ceei --json
    """
    out = Output.from_options(format, json, output)
    if in_tables(instance) or cluster_file is not None or answer is not None:
        others = {
            "--integer": integer,
            "--exact": exact,
            "--precision": precision is not None,
            "--certificate": certificate is not None,
            "--engine": engine != "auto",
            "--solver": solver != "highs",
        }
        not_built = [option for option, given in others.items() if given]
        limits = {"time_limit": time_limit, "jobs": jobs, "dask": dask}
        _divide_tables(instance, policy, cluster_file, answer, not_built, out, limits)
        return
    if certificate is not None:
        check(certificate)
    cluster = options.read(instance)
    from ..solving.allocating import solve as solved

    with stoppable() if integer else nullcontext(), working(f"solving {policy}"):
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

        with working("looking for what helps"):
            sheet = replace(sheet, notes=(*allocation.notes(unplaced=False), *advise(allocation).sentences()))
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
        raise USAGE_ERROR("--cluster and --answer go with a folder of Parquet files as INSTANCE: leave them out")
    if cluster is None:
        raise USAGE_ERROR(f"{users} is Parquet, with users only: say --cluster FILE, an instance file without users")
    if not_built:
        raise USAGE_ERROR(f"{not_built[0]} is not built for users in Parquet: leave it out")
    from ..solving.partitioned import solve_partitions

    with working(f"solving {policy}"):
        found = solve_partitions(users, cluster, policy, output=answer, **limits)
    out.write(found.sheet(), lambda: found.to_dict() | {"version": versions()})
