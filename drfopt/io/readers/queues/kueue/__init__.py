"""Kueue: ``kubectl get clusterqueues,cohorts,localqueues,workloads,resourceflavors -A -o json``, v1beta1 or v1beta2.

What is divided are the quotas: a cohort with all below it is a pool, of one class for each flavor where queues have
several flavors of a resource (named ``cohort/flavor-size``). A ClusterQueue is a user and a Cohort a group; with
``--user-by localqueue`` a LocalQueue is a user and its ClusterQueue a group.

    nominalQuota                    guarantee, summed over the flavors
    nominalQuota + borrowingLimit   ceiling; of a queue without cohort its nominal quota
    fairSharing.weight              weight
    Workloads                       tasks: one type a pod set; admitted ones are the current allocation

Without Workloads, pods that name their LocalQueue, or whose owner does (Job, JobSet, RayJob ...), are the tasks;
without these either, a queue wants ever more of what it uses, or of its quota, flavor by flavor. Where the status tells
a weighted share, it is computed again and a difference is noted.
"""

from .reader import read

__all__ = ["read"]
