"""Slurm: what its commands print, as text with its header, or with ``--json``.

    sinfo -N -o '%N|%c|%m|%G|%P|%T', or any -o and -O with these columns       nodes: cpus, memory in MiB, gres ...
    squeue -o '%i|%u|%a|%P|%T|%D|%C|%m|%b|%N', or any -o and -O with them      jobs that wait or run
    sacct -a -X -P -o JobIDRaw,User,Account,Partition,State,NNodes,ReqTRES,AllocTRES,NodeList      jobs
    scontrol show node, scontrol show job                                      nodes, jobs
    sshare -a -P                                                weights (RawShares) of accounts and users
    sacctmgr -P show assoc format=Account,User,Share,GrpTRES    weights and ceilings (GrpTRES)
    sacctmgr dump                                               the same

and of the JSON: ``scontrol show nodes``, ``sinfo``, ``squeue``, ``sacct``, ``sshare``, ``sacctmgr show assoc``. A job
on N nodes is N tasks, each an N-th of its TRES; pending jobs are demand, running ones with a NodeList the current
allocation. Accounts are groups and users are users, or with ``--user-by account`` the accounts are. ``mem`` is in MiB.
"""

from .reader import read

__all__ = ["read"]
