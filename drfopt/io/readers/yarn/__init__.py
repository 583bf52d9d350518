"""YARN: the resource manager's REST files with the XML of a scheduler's queues, or the files of its simulator SLS.

    GET /ws/v1/cluster/nodes                           machines (those that run)
    GET /ws/v1/cluster/apps?states=ACCEPTED,RUNNING    tasks: containers that run and those that are asked for
    GET /ws/v1/cluster/scheduler                       minimum and maximum of queues, where no XML gives them
    GET /ws/v1/cluster/metrics                         what there is altogether, where no nodes are listed
    fair-scheduler.xml                                 weight, minResources (guarantee), maxResources (ceiling)
    capacity-scheduler.xml                             capacity (guarantee and weight), maximum-capacity (ceiling)
    SLS nodes and jobs                                 machines and tasks of a simulated cluster

A user is a queue, or with ``--user-by user`` who submitted. Resources are called as YARN calls them: ``memory-mb``,
``vcores``, ``yarn.io/gpu``. An app with a node label runs on nodes with that label, one without on any that its queue
may use; in the simulator a node with an exclusive label takes only who asks for it.
"""

from .reader import read

__all__ = ["read"]
