"""Exporters: an allocation as what other schedulers read; `EXPORTS` lists what ``drfopt export`` writes."""

from collections.abc import Mapping
from dataclasses import dataclass

from ...base.errors import InstanceError, suggestion
from ...base.registry import Registry
from ...model.allocation import Allocation

__all__ = ["EXPORTS", "Export", "export"]


@dataclass(frozen=True)
class Export:
    """A format in which an allocation is handed to another program.

    Parameters
    ----------
    name : str
        What ``--to`` calls it.
    summary : str
        One line on what it is.
    module : str
        The module of this folder whose ``text(allocation, names)`` returns the file.
    """

    name: str
    summary: str
    module: str


EXPORTS = Registry(
    Export("csv", "a row for each user, on machines for each user and class: tasks and resources", "allocation_csv"),
    Export(
        "resourcequota",
        "a ResourceQuota of Kubernetes for each user, in the namespace of its name",
        "kubernetes:resource_quotas",
    ),
    Export(
        "kueue", "a ClusterQueue of Kueue for each user, its resources as nominal quota", "kubernetes:cluster_queues"
    ),
    Export("fair-scheduler", "fair-scheduler.xml of YARN: weights, and its resources as minimum", "fair_scheduler"),
    what="export",
    error=InstanceError,
    package=__package__,
    function="text",
)


def export(allocation: Allocation, to: str, names: Mapping[str, str] | None = None) -> str:
    """Return an allocation in the format of another program; amounts are rounded so that no sum exceeds the capacity.

    Parameters
    ----------
    allocation : Allocation
    to : str
        The name of one of `EXPORTS`.
    names : mapping from resource to ``"target"`` or ``"target:unit"``, optional
        What a resource is called there, and the unit in which the instance counts it, such as
        ``{"memory": "memory:Gi", "gpu": "nvidia.com/gpu"}``.

    Returns
    -------
    str

    Raises
    ------
    InstanceError
        On an unknown format or resource, or a name that the other program cannot take.

    Examples
    --------
    >>> export(solve(Instance({"A": {"cpu": 1}}, {"cpu": 3})), "csv").splitlines()
    ['user,tasks,cpu', 'A,3.0,3']
    """
    row = EXPORTS.named(to)
    for resource in names or ():
        if resource not in allocation.resources:
            near = suggestion(resource, allocation.resources)
            raise InstanceError(f"the cluster has no {resource!r}, it has {', '.join(allocation.resources)}{near}")
    text: str = EXPORTS.implementation(row)(allocation, dict(names or {}))
    return text
