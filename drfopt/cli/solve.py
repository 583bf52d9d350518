"""``drfopt solve``: one allocation and its certificate."""

from contextlib import nullcontext
from dataclasses import replace
from json import dumps

import typer

from . import options
from .output import Output, check, deliver, versions
from .status import FAILED
from .working import stoppable, working

__all__ = ["solve"]


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
    jobs: options.Jobs = 1,
    dask: options.Dask = None,
    json: options.Json = False,
    format: options.FormatName = None,
    output: options.OutputFile = None,
) -> None:
    """Divide the cluster and prove the answer.

    Example: drfopt solve nsdi2011 --policy ceei --json
    """
    out = Output.from_options(format, json, output)
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
            jobs=jobs,
            dask=dask,
            precision=precision,
        )
    if certificate is not None:
        from ..certificates.document import certificate_document

        deliver(dumps(certificate_document(allocation) | {"program": versions()}, ensure_ascii=False), certificate)
    sheet = allocation.sheet()
    if out.format == "table":
        from ..planning.advice import advise

        with working("looking for what helps"):
            sheet = replace(sheet, notes=(*allocation.notes(unplaced=False), *advise(allocation).sentences()))
    out.write(sheet, lambda: allocation.to_dict(instance=False, proof=True), title=options.title(cluster, instance))
    if not allocation.finished:
        raise typer.Exit(FAILED)
