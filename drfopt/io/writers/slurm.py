"""A file for ``sacctmgr load``: accounts and users with their share (Fairshare) and what they are given (GrpTRES).

    Cluster - 'cluster':Fairshare=1
    Parent - 'root'
    Account - 'bio':Fairshare=2:GrpTRES=cpu=48,mem=256000
    Parent - 'bio'
    User - 'ann':DefaultAccount='bio':Fairshare=3:GrpTRES=cpu=24

Groups are accounts. A user in a group is a user of that account; one in none is an account of its own, and so is
everybody for `accounts`. GrpTRES is the most that an association may use at a time: Slurm keeps no minimum. The
instance's weights are the shares, in whole numbers.
"""

import re

from ...model.allocation import Allocation
from .amounts import Names, Shares, slurm
from .exports import by_resource
from .kubernetes import heading
from .queues import ExportedQueue, exported_queues, refuse_root, whole_weights

__all__ = ["accounts", "text"]


def text(allocation: Allocation, names: Names, lines: list[str]) -> str:
    """Return the file.

    Raises
    ------
    InstanceError
        On names of users or resources that Slurm does not take.
    """
    return _written(allocation, names, lines, users=True)


def accounts(allocation: Allocation, names: Names, lines: list[str]) -> str:
    """Return the file with an account for everybody."""
    return _written(allocation, names, lines, users=False)


def _written(allocation: Allocation, names: Names, lines: list[str], users: bool) -> str:
    shares = slurm(allocation, names)
    lines += by_resource(allocation, "Slurm")
    queues = exported_queues(allocation, shares, _name, lines, ("groups", "weights of 0"))
    # A user of an account may be root.
    refuse_root(queue for queue in queues if not (users and queue.user is not None and queue.parent))
    weights = dict(zip(map(id, queues), whole_weights([queue.weight for queue in queues], lines), strict=True))
    called = {queue.path: queue.label for queue in queues if queue.user is None}
    alike = [label for label in called.values() if list(called.values()).count(label) > 1]
    if alike:
        lines.append(f"accounts of one name in several others are one in Slurm: {', '.join(dict.fromkeys(alike))}")
    written = ["Cluster - 'cluster':Fairshare=1"]
    for parent in ["", *called]:
        members = [queue for queue in queues if queue.parent == parent]
        if members:
            written.append(f"Parent - '{called.get(parent, 'root')}'")
            written += [_line(queue, called, shares, weights[id(queue)], users) for queue in members]
    return heading(allocation, lines) + "\n".join(written) + "\n"


def _line(queue: ExportedQueue, called: dict[str, str], shares: Shares, weight: int, users: bool) -> str:
    amounts = ",".join(f"{shares.targets[j].name}={amount}" for j, amount in queue.steps.items())
    text = f"Fairshare={weight}" + (f":GrpTRES={amounts}" if amounts else "")
    if users and queue.user is not None and queue.parent:
        return f"User - '{queue.label}':DefaultAccount='{called[queue.parent]}':{text}"
    return f"Account - '{queue.label}':Description='{queue.label}':Organization='{queue.label}':{text}"


def _name(name: str) -> str:
    """Return a name without what the file gives a meaning, in small letters as Slurm keeps it.

    The reader tells accounts by a word before their name, and users of several by the account behind it.
    """
    name = re.sub(r" \([^()]*\)$", "", name.removeprefix("account "))
    return "_".join(name.lower().replace("'", " ").replace(":", " ").replace("|", " ").replace(",", " ").split())
