"""The formats of a cluster's own files: `FORMATS` lists what ``drfopt convert`` takes."""

from dataclasses import dataclass

from ...base.errors import InstanceError
from ...base.registry import Registry

__all__ = ["FORMATS", "Format"]


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
        The module of this folder whose ``read(files, asked)`` returns `Contents`, or a `Conversion`.
    users : tuple of str
        What ``--user-by`` may say; the first is the default. Empty where users are what they are.
    queues : bool
        Whether it lists queues or users, which may be without tasks.
    machines : bool
        Whether the machines may be given from another file.
    """

    name: str
    summary: str
    files: str
    module: str
    users: tuple[str, ...] = ()
    queues: bool = True
    machines: bool = True


FORMATS = Registry(
    Format(
        "kubernetes",
        "kubectl get nodes,pods,resourcequotas -A -o json (or yaml)",
        "FILES",
        "kubernetes",
        ("namespace", "label:KEY", "annotation:KEY"),
    ),
    Format(
        "kueue",
        "kubectl get clusterqueues,cohorts,localqueues,workloads,resourceflavors -A -o json",
        "FILES",
        "queues.kueue",
        ("clusterqueue", "localqueue"),
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
        "fair-scheduler.xml or capacity-scheduler.xml, and what /ws/v1/cluster/nodes, apps ... print; or SLS files",
        "FILES",
        "yarn",
        ("queue", "user"),
    ),
    Format(
        "slurm",
        "sinfo, squeue or sacct, sshare -a -P, sacctmgr -P, scontrol show with a header, or their --json; slurm.conf",
        "FILES",
        "slurm",
        ("user", "account"),
    ),
    Format("mesos", "what /state (or /master/state) and /roles print", "FILES", "mesos", ("role", "framework")),
    Format(
        "csv",
        "machines.csv and tasks.csv with a header: machine,count,cpu,... and user,task,count,cpu,...",
        "FILES",
        "csv_tables",
        queues=False,
    ),
    Format(
        "google2011",
        "machine_events and task_events of the Google cluster trace of 2011",
        "FILES",
        "traces.google2011",
        queues=False,
        machines=False,
    ),
    Format(
        "alibaba2018",
        "machine_meta with batch_task, container_meta or both of the Alibaba cluster trace of 2018",
        "FILES",
        "traces.alibaba2018",
        queues=False,
        machines=False,
    ),
    Format(
        "openb",
        "node and pod lists of the openb GPU cluster traces (Weng et al., USENIX ATC 2023)",
        "NODES.csv PODS.csv",
        "traces.openb",
        queues=False,
        machines=False,
    ),
    what="format",
    error=InstanceError,
    package=__package__,
    function="read",
)
