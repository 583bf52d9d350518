"""Slurm: what its commands print, as text with ``|`` between the columns or with ``--json``.

    sinfo -h -N -o '%N|%c|%m|%G|%P|%T'        nodes: cpus, memory in MiB, gres, partition, state
    sacct -a -X -P -o JobIDRaw,User,Account,Partition,State,NNodes,ReqTRES,AllocTRES,NodeList      jobs
    sshare -a -P                              weights (RawShares) of accounts and users
    sacctmgr -nP show assoc format=Account,User,Share,GrpTRES     ceilings (GrpTRES)

and of the JSON: ``scontrol show nodes``, ``sinfo``, ``squeue``, ``sacct``, ``sshare``. A job on N nodes is N tasks,
each an N-th of its TRES; pending jobs are demand, running ones with a NodeList the current allocation. Accounts are
groups and users are users, or with ``--user-by account`` the accounts are. ``mem`` is in MiB.
"""

from .reader import read

__all__ = ["read"]
