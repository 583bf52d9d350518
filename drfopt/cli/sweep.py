"""``drfopt sweep``: one cluster with more or less of a resource."""

from typing import Annotated

import typer

from . import instances, options
from .output import Output
from .status import USAGE_ERROR
from .versions import versions
from .working import working

__all__ = ["sweep"]


def sweep(
    instance: options.InstanceName,
    factors: Annotated[
        str, typer.Option("--factors", metavar="A,B,C", help="What capacities are multiplied by, separated by commas.")
    ] = "1/2,1,2",
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
    out = Output.wished(format, json, output)
    wanted = [factor.strip() for factor in factors.split(",") if factor.strip()]
    if not wanted:
        raise USAGE_ERROR("--factors names no factor: write for example --factors 1/2,1,2")
    cluster = instances.read(instance)
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
    title = instances.title(cluster, instance)
    out.write(found.sheet(), lambda: found.to_dict() | {"instance": title, "version": versions()})
