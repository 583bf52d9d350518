"""Readers: a cluster's own files into an `Instance`; `FORMATS` lists what ``drfopt convert`` takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...base.errors import InstanceError, suggestion
from ...base.registry import Registry

if TYPE_CHECKING:
    from .conversion import Conversion

__all__ = ["FORMATS", "Format", "read"]


@dataclass(frozen=True)
class Format:
    """A format of files that a cluster already has.

    Parameters
    ----------
    name : str
        What ``--from`` calls it.
    summary : str
        One line on what it is.
    files : str
        The files it is read from, as a usage line shows them.
    module : str
        The module of this folder whose ``read(files, user_by)`` returns a `Conversion`.
    users : tuple of str
        What ``--user-by`` may say; the first is the default. Empty where users are what they are.
    """

    name: str
    summary: str
    files: str
    module: str
    users: tuple[str, ...] = ()


FORMATS = Registry(
    Format(
        "kubernetes",
        "kubectl get nodes,pods,resourcequotas -A -o json (or yaml)",
        "FILES",
        "kubernetes.reader",
        ("namespace", "label:KEY", "annotation:KEY"),
    ),
    Format(
        "kueue",
        "kubectl get clusterqueues,cohorts,localqueues,workloads,resourceflavors -A -o json",
        "FILES",
        "queues.kueue",
    ),
    Format(
        "volcano",
        "kubectl get nodes,pods,podgroups,queues.scheduling.volcano.sh -A -o json",
        "FILES",
        "queues.volcano",
    ),
    Format(
        "yunikorn", "kubectl get nodes,pods -A -o json, and queues.yaml or its ConfigMap", "FILES", "queues.yunikorn"
    ),
    Format("kai", "kubectl get nodes,pods,queues.scheduling.run.ai -A -o json", "FILES", "queues.kai"),
    Format("koordinator", "kubectl get nodes,pods,elasticquotas -A -o json", "FILES", "queues.koordinator"),
    Format(
        "yarn",
        "fair-scheduler.xml, and what /ws/v1/cluster/nodes, apps and scheduler print; or SLS nodes and jobs",
        "FILES",
        "yarn",
        ("queue", "user"),
    ),
    Format(
        "slurm",
        "sinfo -h -N -o '%N|%c|%m|%G|%P|%T', sacct -a -X -P -o ..., sshare -a -P, sacctmgr; or their --json",
        "FILES",
        "slurm",
        ("user", "account"),
    ),
    Format("mesos", "what /state (or /master/state) and /roles print", "FILES", "mesos", ("role", "framework")),
    Format(
        "csv",
        "machines.csv and tasks.csv with a header: machine,count,cpu,... and user,task,count,cpu,...",
        "FILES",
        "table",
    ),
    Format(
        "google2011", "machine_events and task_events of the Google cluster trace of 2011", "FILES", "traces.google2011"
    ),
    Format(
        "alibaba2018",
        "machine_meta with batch_task, container_meta or both of the Alibaba cluster trace of 2018",
        "FILES",
        "traces.alibaba2018",
    ),
    Format(
        "openb",
        "node and pod lists of the openb GPU cluster traces (Weng et al., USENIX ATC 2023)",
        "NODES.csv PODS.csv",
        "traces.openb",
    ),
    what="format",
    error=InstanceError,
    package=__package__,
    function="read",
)


def read(format: str, files: Sequence[str | Path] | str | Path, user_by: str | None = None) -> "Conversion":
    """Read a cluster's own files: the instance, what was not used, and what runs where today.

    Parameters
    ----------
    format : str
        The name of one of `FORMATS` (``drfopt formats`` lists them): ``kubernetes``, ``slurm``, ``yarn``, ``csv`` ...
    files : path, or several
        In any order: what a file holds is found out from it; ``-`` is standard input.
    user_by : str, optional
        What makes a user, one of the format's `users`.

    Returns
    -------
    Conversion
        Its ``instance``, ``notes`` on what was not used or was assumed, and ``current()``, what runs where today.

    Raises
    ------
    InstanceError
        On an unknown format, or files that are not what the format says.

    Examples
    --------
    >>> found = read("csv", ["machines.csv", "tasks.csv"])  # doctest: +SKIP
    >>> found.instance, [str(note) for note in found.notes]  # doctest: +SKIP
    """
    known = FORMATS.named(format)
    if user_by is not None and user_by.partition(":")[0] not in {user.partition(":")[0] for user in known.users}:
        ways = f"use {', '.join(known.users)}" if known.users else "leave it out"
        raise InstanceError(f"{format}: users by {user_by!r}: {ways}{suggestion(user_by, known.users)}")
    paths = [files] if isinstance(files, str | Path) else list(files)
    if not paths:
        raise InstanceError(f"{format}: no files are given: name {known.files}")
    from ..text.files import read_file

    opened = [read_file(path) for path in paths]
    found: Conversion = FORMATS.implementation(known)(opened, user_by)
    return found
