"""Slurm: what its commands print, as text with its header, or with ``--json``.

    sinfo -N -o '%N|%c|%m|%G|%P|%T', or any -o and -O with these columns       nodes: cpus, memory in MiB, gres ...
    squeue -o '%i|%u|%a|%P|%T|%D|%C|%m|%b|%N', or any -o and -O with them      jobs that wait or run
    sacct -a -X -P -o JobID,User,Account,Partition,State,NNodes,ReqTRES,AllocTRES,NodeList      jobs
    scontrol show node, scontrol show job, scontrol show partition             nodes, jobs, partitions
    sshare -a -P                                                weights (RawShares) of accounts and users
    sacctmgr -P show assoc format=Account,User,Share,GrpTRES    weights and ceilings (GrpTRES)
    sacctmgr dump                                               the same
    slurm.conf                                                  nodes and partitions, where nothing tells how they are

and of the JSON: ``scontrol show nodes`` and ``show partitions``, ``sinfo``, ``squeue``, ``sacct``, ``sshare``,
``sacctmgr show assoc``. A job on N nodes is N tasks, each an N-th of its TRES; pending jobs are demand, running ones
with a NodeList the current allocation. Users are users, and accounts groups where shares or limits list them; or with
``--user-by account`` the accounts are the users. ``mem`` is in MiB.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, cast

from ....base.numbers.quantities import only_digits
from ...text.files import File, failure, shown
from ...writers.amounts import SLURM
from ..conversion import Contents, ListedMachine, Notes, ReadOptions, Task, named, short_names
from ..queues.tree import QueueNode, organised
from .configuration import UNTOLD, homes
from .device_types import Features, kinds, told_of_machine, types_apart, with_totals
from .row import NOTHING, OUT_OF_USE, UNMODELLED, SlurmRow
from .rows import DOWN, POWER, RESERVED, UP, node_states, rows
from .tres import PLAIN, array_size, cut_off, gres, hosts, read_count, read_memory, tres

__all__ = ["read"]

NO_DEVICES = (*PLAIN, "cpu", "mem")

WAITING = ("PENDING", "REQUEUED")
HELD = re.compile("held|JobHold", re.IGNORECASE)
"""What the reasons of a job that is not scheduled before somebody releases it have in them (squeue(1), job reasons)."""

PART = re.compile(r"[+][0-9]+$")
"""How the name of a part of a heterogeneous job ends."""

NEVER = "DependencyNeverSatisfied"

RUNNING = ("RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "RESIZING")


Needs = tuple[frozenset[str], frozenset[str], frozenset[frozenset[str]]]
"""Partitions, one of which will do, types of devices, all of them, and sets of features, one of which will do, all of
it; nothing for any."""


def read(files: Sequence[File], asked: ReadOptions) -> Contents:
    """Read nodes, jobs, shares and limits.

    Parameters
    ----------
    files : sequence of File
        In any order.
    asked : ReadOptions
        Users by ``user`` (the default) or ``account``.

    Raises
    ------
    InstanceError
        With file and line.
    """
    notes = Notes()
    kinds_of_rows = ("nodes", "configured", "partitions", "sets", "jobs", "shares", "limits")
    found: dict[str, list[SlurmRow]] = {kind: [] for kind in kinds_of_rows}
    for file in files:
        for row in rows(file, notes):
            found[row.kind].append(row)
    names = _Names(found, by_account=asked.user_by == "account", notes=notes)
    tasks = [task for row in _once(found["jobs"], notes) for task in _tasks(row, names, notes)]
    shares, limits = (_associations(found[kind], kind, tasks, names, notes) for kind in ("shares", "limits"))
    queues = _queues(shares, limits, names, notes)
    if not queues and names.several:
        notes.assumed("users are compared one by one, whatever their accounts: give sshare -a -P")
    for part in ("gres/shard", "gres/mps"):
        if {part, "gres/gpu"} <= {resource for task in tasks for resource in task.demand}:
            notes.assumed(f"{part} is counted beside gres/gpu, of which it is a part in Slurm")
    used = {r for task in tasks for r in task.demand}.union(*(queue.maximum for queue in queues))
    asked = asked.called(SLURM, used, notes)
    # Of nodes that are not used nothing is told.
    nodes = asked.nodes(_nodes(found, Notes() if asked.given else notes), _features, notes)
    if asked.given:
        nodes = [told_of_machine(node, notes) for node in _in_partitions(nodes, found, notes)]
    tasks, nodes, queues = types_apart(tasks, nodes, asked.pool, queues, notes)
    groups: list[dict[str, Any]] = []
    members: dict[str, dict[str, Any]] = {}
    if queues:
        groups, members = organised(queues, dict.fromkeys(task.user for task in tasks), notes)
    return Contents(
        f"slurm, {files[0].stem}",
        f"Slurm ({named(files)}): nodes {sum(node.count for node in nodes):,}; mem in MiB",
        nodes,
        _comparable(tasks, nodes, notes),
        notes,
        lambda needs, features: not _missing(needs, features),
        pool=asked.pool,
        groups=groups,
        members=members,
        shape=asked.shape,
        wants=lambda queue: (frozenset(), frozenset(), frozenset()),
        missing=_missing,
    )


def _once(jobs: Iterable[SlurmRow], notes: Notes) -> Iterable[SlurmRow]:
    """Yield every job once, as it is listed first: two files may list the same."""
    seen = set()
    for row in jobs:
        job = row["JobID"] or row["JobIDRaw"]
        # Which jobs of an array are none yet differs between commands, and with the time.
        if job and job.partition("[")[0] in seen:
            notes.unused("job that is listed again", job)
            continue
        seen.add(job.partition("[")[0])
        yield row


def _missing(needs: Needs, features: Features) -> list[str]:
    """Return in words why a node does not take a task: it is in no such partition, has no such device or feature."""
    stated = []
    if needs[0] and not needs[0] & features[0]:
        out = [home for home in sorted(features[0]) if home.partition(OUT_OF_USE)[0] in needs[0]]
        stated.append(f"is {'' if out else 'not '}in partition {' or '.join(out or sorted(needs[0]))}")
    if not needs[1] <= features[1]:
        stated += [f"has no {kind}" for kind in sorted(needs[1] - features[1])]
    if needs[2] and not any(some <= features[2] for some in needs[2]):
        ways = sorted("&".join(sorted(some)) for some in needs[2])
        stated.append(f"has not the feature {' or '.join(ways)}")
    return stated


def _comparable(tasks: list[Task], nodes: Sequence[ListedMachine], notes: Notes) -> list[Task]:
    """Return the tasks without needs that no node can meet because the files tell that of no node."""
    stated: list[Any] = [node.features for node in nodes]
    for place, what in enumerate(("partition", "type of device", "constraint")):
        wanting = [task for task in tasks if isinstance(task.needs, tuple) and task.needs[place]]
        if nodes and wanting and not any(features[place] for features in stated):
            notes.unused(f"{what} of a job: no node tells its own", wanting[0].name, len(wanting))
            tasks = [
                replace(task, needs=(*task.needs[:place], frozenset(), *task.needs[place + 1 :]))
                if isinstance(task.needs, tuple)
                else task
                for task in tasks
            ]
    return tasks


def _features(name: str, labels: Mapping[str, str]) -> Features:
    """Return the features of a machine of another file, by its columns ``label:partition``, ``:gres``, ``:feature``."""
    stated = [
        frozenset(filter(None, labels.get(key, "").replace("+", ",").split(",")))
        for key in ("partition", "gres", "feature")
    ]
    return stated[0], stated[1], stated[2]


def _in_partitions(
    machines: Iterable[ListedMachine], found: Mapping[str, Sequence[SlurmRow]], notes: Notes
) -> list[ListedMachine]:
    """Return the machines of another file in the partitions that list them, too, by their names or short names."""
    own = {machine.name: cast(Features, machine.features) for machine in machines}
    called = {name: {name, short} for short, name in short_names(own).items()}
    told = {name: set(own[full][0]) for full in own for name in called.get(full, {full})}
    marked: dict[str, set[str]] = {}
    for full, features in own.items():
        for mark in features[2]:
            marked.setdefault(mark, set()).update(called.get(full, {full}))
    homes_of = homes(told, found["partitions"], found["sets"], marked, notes)
    placed = []
    for machine in machines:
        partitions, types, marks = own[machine.name]
        more = partitions.union(*(homes_of[name] for name in called.get(machine.name, {machine.name})))
        labels = {**machine.labels, **({"partition": "+".join(sorted(more))} if more else {})}
        placed.append(replace(machine, features=(more, types, marks), labels=labels))
    return placed


# ---- nodes -------------------------------------------------------------------------------------------------


def _nodes(found: Mapping[str, Sequence[SlurmRow]], notes: Notes) -> list[ListedMachine]:
    """Return the nodes in use; a node is printed once for each of its partitions.

    A configuration lists nodes where nothing prints how they are.
    """
    told: dict[str, set[str]] = {}
    marked: dict[str, set[str]] = {}
    first: dict[str, SlurmRow] = {}
    available: dict[str, SlurmRow] = {}
    for row in (*found["nodes"], *found["configured"]):
        # Without -N several hosts share a line, and what they have at least is printed with a plus.
        for name in hosts(row["NODELIST"], row.place):
            told.setdefault(name, set()).update(part.strip("*") for part in row["PARTITION"].split(",") if part)
            first.setdefault(name, row)
            for mark in _marks(row):
                marked.setdefault(mark, set()).add(name)
            if row["CPUS"].endswith("+") or row["MEMORY"].endswith("+"):
                notes.assumed("node has no more than the least of its line: give sinfo -N", name)
        if row["AVAIL"]:
            cells = {"PARTITION": row["PARTITION"].strip("*"), "STATE": row["AVAIL"], "COUNTED": "by sinfo"}
            available.setdefault(cells["PARTITION"], SlurmRow(row.place, "partitions", cells))
    partitions = homes(told, [*available.values(), *found["partitions"]], found["sets"], marked, notes)
    nodes = []
    for name, row in first.items():
        states = node_states(row["STATE"])
        if row.kind == "configured" and row["STATE"] in UNTOLD:
            notes.assumed("node is in use: a configuration does not tell its state", name)
            states = ["idle"]
        if not states or states[0] not in UP or set(states) & set(DOWN):
            notes.no_machine(f"node that is {row['STATE'].lower() or 'in no state'}", name)
            continue
        if set(states) & set(RESERVED):
            notes.assumed("node that is reserved takes any job", name)
        if set(states) & set(POWER):
            notes.assumed("node that is powered down, or about to be, or starting, is in use", name)
        devices = gres(row["GRES"], row.place)
        types = kinds(devices)
        memory = _mebibytes(row, "MEMORY") - (_mebibytes(row, "MEMSPEC") if row["MEMSPEC"] else 0)
        capacity = {"cpu": _cpus(row, notes, name), "mem": max(Fraction(0), memory)} | devices
        marks = _marks(row)
        features = (frozenset(partitions[name]), types, marks)
        labels = {"gres": types, "partition": partitions[name], "feature": marks}
        nodes.append(
            ListedMachine(name, capacity, features=features, labels={k: "+".join(sorted(v)) for k, v in labels.items()})
        )
    return nodes


def _marks(row: SlurmRow) -> frozenset[str]:
    """Return the features of a node."""
    return frozenset(part.strip() for part in row["FEATURES"].split(",") if part.strip() and "(" not in part)


def _cpus(row: SlurmRow, notes: Notes, name: str) -> Fraction:
    """Return the CPUs of a node; ``CPUS(A/I/O/T)`` counts those of all hosts of its line."""
    amount = _amount(row, "CPUS")
    sharing = 1 if row["CPUS"] != row["CPUS_TOTAL"] else len(hosts(row["NODELIST"], row.place))
    if amount % sharing:
        notes.assumed("node has the mean CPUs of its line: give sinfo -N", name)
    return amount / sharing


def _amount(row: SlurmRow, column: str) -> Fraction:
    amount = read_count(row[column].rstrip("+"))
    if amount is None:
        raise failure(row.place, f"{row.called(column)} is {shown(row[column])}: write a number, 0 or more")
    return amount


def _mebibytes(row: SlurmRow, column: str) -> Fraction:
    """Return memory of a node, which Slurm prints and takes without a letter."""
    if not only_digits(row[column].rstrip("+")[-1:]):
        raise failure(
            row.place, f"{row.called(column)} of a node is {shown(row[column])}: write a number of MiB without a letter"
        )
    return _amount(row, column)


# ---- jobs --------------------------------------------------------------------------------------------------


class _Names:
    """What users and accounts are called: a user of several accounts is told apart by them."""

    def __init__(self, found: dict[str, list[SlurmRow]], by_account: bool, notes: Notes):
        self.by_account = by_account
        self.accounts: dict[str, set[str]] = {}
        for row in [*found["jobs"], *found["shares"], *found["limits"]]:
            if row["User"]:
                self.accounts.setdefault(row["User"], set()).update([row["Account"]] if row["Account"] else [])
        self.several = not by_account and len(set().union(*self.accounts.values())) > 1
        several = [user for user, some in self.accounts.items() if len(some) > 1]
        if several and not by_account:
            notes.assumed("user of several accounts is a user in each of them", several[0], len(several))

    def user(self, user: str, account: str) -> str:
        """Return what tasks of a user in an account are called after; where a row names none, in the only one."""
        mine = self.accounts.get(user, set())
        account = account or (min(mine) if len(mine) == 1 else "no account")
        if self.by_account or not user:
            return account
        return f"{user} ({account})" if len(mine) > 1 else user

    def group(self, account: str) -> str:
        """Return the name of an account as a queue."""
        return account if self.by_account else f"account {account}"


def _tasks(row: SlurmRow, names: _Names, notes: Notes) -> list[Task]:
    job = row["JobID"] or row["JobIDRaw"]
    state = (row["State"].split() or [""])[0]
    if "." in job:
        notes.no_task("step of a job", job)
        return []
    if state not in WAITING + RUNNING:
        notes.no_task(f"job that is {state or 'in no state'}", job)
        return []
    if state in WAITING and HELD.search(row["Reason"]):
        notes.no_task("job that is held", job)
        return []
    if state in WAITING and NEVER in row["Reason"]:
        notes.no_task("job whose dependency is never met", job)
        return []
    if state in WAITING and not row["JobID"]:
        notes.assumed("waiting job is no array of jobs: JobID tells, and JobIDRaw does not", job)
    asked = [option for option, one in UNMODELLED.items() if row[option] not in one.nothing]
    if state in WAITING and row["Reason"] in UNMODELLED.keys() - asked:
        asked.append(row["Reason"])
    for option in asked:
        notes.unused(UNMODELLED[option].words, job)
    running = state in RUNNING
    size = max(1, int(_amount(row, "NNodes"))) if row["NNodes"] else 1
    demand, types = _demand(row, running, size, job, notes)
    user = names.user(row["User"], row["Account"])
    needs = (frozenset(part for part in row["Partition"].split(",") if part), types, _constraint(row, job, notes))
    if PART.search(job):
        notes.unused("gang of a heterogeneous job: its parts start together or not at all", job)
    if "%" in job:
        notes.unused("most of an array's jobs at once (after %)", job)
    title = row["JobName"] or f"job {job}"
    homes = hosts(row["NodeList"], row.place) if running and not cut_off(row["NodeList"]) else []
    if running and len(homes) == size:
        return [Task(user, demand, 1, needs, title, home) for home in homes]
    if running:
        notes.unused("where a running job runs: its NodeList is not given, or cut off", job)
    return [Task(user, demand, size * array_size(job, row.place), needs, title)]


def _devices(row: SlurmRow, column: str) -> dict[str, Fraction]:
    """Return the devices that a job asks for, ``gres/gpu:a100:2``, by their types too."""
    if row[column] in NOTHING:
        return {}
    return gres(row[column], row.place, besides=NO_DEVICES)


def _constraint(row: SlurmRow, job: str, notes: Notes) -> frozenset[frozenset[str]]:
    """Return the sets of features of which a node has to have one, of ``a&b`` and ``a|b``; nothing for any node."""
    text = row["Constraint"]
    if text in NOTHING:
        return frozenset()
    if set(text) & set("[]()*") or ("|" in text and set(text) & set("&,")):
        notes.unused("constraint with brackets, counts, or both & and |: its job may run anywhere", f"{job}: {text}")
        return frozenset()
    return frozenset(frozenset(part.strip() for part in re.split("[&,]", way)) for way in text.split("|"))


def _demand(
    row: SlurmRow, running: bool, size: int, job: str, notes: Notes
) -> tuple[dict[str, Fraction], frozenset[str]]:
    """Return what a job needs of each of its nodes, and the types of devices that it asks for.

    Its TRES say it, or where these are not told its CPUs, memory and devices. Not every cluster counts TRES by type: of
    a job that asks for one type of a device, all of them are.
    """
    stated = (row["AllocTRES"] if running else "") or row["ReqTRES"] or row["AllocTRES"]
    devices = _devices(row, "NodeGRES")
    devices |= {name: amount / size for name, amount in _devices(row, "JobGRES").items()}
    if stated:
        counted = tres(stated, row.place)
        for name in [name for name in counted if name not in ("cpu", "mem") and not name.startswith("gres/")]:
            notes.unused(f"{name} of a job: no node has it", job)
            del counted[name]
        demand = with_totals({resource: amount / size for resource, amount in counted.items()})
        # Slurm counts CPUs and memory; devices only where AccountingStorageTRES lists them.
        demand |= {name: amount for name, amount in devices.items() if name.partition(":")[0] not in demand}
    else:
        demand = {"cpu": (_amount(row, "CPUs") if row["CPUs"] else Fraction(0)) / size} | devices
    if "mem" not in demand:
        demand |= _memory(row, demand.get("cpu", Fraction(0)), size, job, notes)
    each = _devices(row, "TaskGRES")
    if not {name.partition(":")[0] for name in each} <= demand.keys():
        notes.unused("devices for each task of a job: TRES tell how many it has", job)
    types = kinds(tres(row["ReqTRES"], row.place)) | kinds(devices) | kinds(each)
    counted_by_type = {name.partition(":")[0] for name in demand if ":" in name}
    for base in sorted({f"gres/{kind.partition(':')[0]}" for kind in types} - counted_by_type):
        mine = [f"gres/{kind}" for kind in sorted(types) if f"gres/{kind}".startswith(f"{base}:")]
        if len(mine) == 1 and base in demand:
            demand[mine[0]] = demand[base]
        else:
            demand |= {name: devices[name] for name in mine if name in devices}
    return demand, types


def _memory(row: SlurmRow, cpus: Fraction, size: int, job: str, notes: Notes) -> dict[str, Fraction]:
    """Return the memory that a job needs of each of its nodes, of each of which it needs so many CPUs."""
    column = next((name for name in ("ReqMem", "CoreMem", "NodeMem", "SomeMem") if row[name]), "")
    memory = row[column] if column else ""
    if row["SomeMem"] and cpus > 1:
        notes.assumed("MIN_MEMORY is of a node: with --mem-per-cpu it is of a CPU, which -O tres-alloc takes in", job)
    if not memory:
        notes.assumed("job needs no memory: the columns do not tell", job)
        return {}
    amount = read_memory(memory)
    if amount is None:
        raise failure(row.place, f"{row.called(column)} is {shown(memory)}: write an amount, such as 64G")
    # c stands behind what is for a core, n behind what is for a node; squeue tells of a node, sacct of the job.
    per = "c" if column == "CoreMem" else memory[-1].lower()
    each = {"c": cpus, "n": Fraction(1)}.get(per, Fraction(1, size if row["ReqMem"] else 1))
    if not amount:
        notes.assumed("job of memory 0 needs none: in Slurm it may be all of its node's", job)
    return {"mem": amount * each}


# ---- accounts ----------------------------------------------------------------------------------------------


@dataclass
class _Entry:
    name: str
    parent: str
    weight: Fraction = Fraction(1)
    ceiling: dict[str, Fraction] = field(default_factory=dict)
    label: str = ""


def _associations(
    rows: Iterable[SlurmRow], kind: str, tasks: Iterable[Task], names: _Names, notes: Notes
) -> list[SlurmRow]:
    """Return one row of each account and user: that of a partition where all that the user has is kept to this one."""
    asked: dict[str, set[frozenset[str]]] = {}
    for task in tasks:
        asked.setdefault(task.user, set()).add(cast(Needs, task.needs)[0])
    found: dict[tuple[str, str], SlurmRow] = {}
    for row in rows:
        user, partition = row["User"], row["Partition"]
        if user and names.by_account:
            continue
        known = found.get((row["Account"], user))
        if partition and asked.get(names.user(user, row["Account"])) != {frozenset([partition])}:
            notes.unused(f"{kind} of a user in one partition, whose jobs are not all there", f"{user} in {partition}")
        elif known is None or (partition and not known["Partition"]):
            found[row["Account"], user] = row
        elif partition == known["Partition"]:
            notes.unused(f"{kind} of an account or user that are listed again", user or row["Account"])
    return list(found.values())


def _queues(shares: list[SlurmRow], limits: list[SlurmRow], names: _Names, notes: Notes) -> list[QueueNode]:
    """Return accounts and users as queues: shares say the tree and the weights, limits the ceilings."""
    entries: dict[str, _Entry] = {}
    above: list[tuple[int, str]] = [(-1, "")]
    for row in shares:
        account, user = row["Account"], row["User"]
        if account == "root" and not user:
            continue
        if user:
            if names.by_account:
                continue
            entry = _Entry(names.user(user, account), names.group(account) if account != "root" else "")
        else:
            # sshare shows the tree by spaces before the account.
            depth = len(row.cells["Account"]) - len(row.cells["Account"].lstrip())
            while above[-1][0] >= depth:
                above.pop()
            parent = row["Parent"] if row["Parent"] != "root" else ""
            entry = _Entry(names.group(account), names.group(parent) if parent else above[-1][1], label=account)
            above.append((depth, entry.name))
        entry.weight = _weight(row, "RawShares", notes)
        entries[entry.name] = entry
    for row in limits:
        account, user = row["Account"], row["User"]
        if account == "root" and not user and row["GrpTRES"]:
            notes.unused("GrpTRES of root, for all accounts together", row["GrpTRES"])
        if (user and names.by_account) or (account == "root" and not user):
            continue
        name = names.user(user, account) if user else names.group(account)
        over = (account if user else row["Parent"]).removeprefix("root")
        parent = names.group(over) if over else ""
        known = entries.setdefault(name, _Entry(name, parent, _weight(row, "Share", notes), label=user or account))
        known.ceiling = tres(row["GrpTRES"], row.place)
        for resource in (limit.partition("=")[0].strip() for limit in row["GrpTRES"].split(",")):
            if resource in PLAIN:
                notes.unused(f"GrpTRES of {resource}", user or account)
    for user, accounts in names.accounts.items() if entries and not names.by_account else ():
        for account in accounts or {""}:
            name = names.user(user, account)
            entries.setdefault(name, _Entry(name, names.group(account) if account not in ("", "root") else ""))
    for account in {entry.parent for entry in entries.values()} - entries.keys() - {""}:
        notes.assumed("account without a share has weight 1", account)
        entries[account] = _Entry(account, "", label=account.removeprefix("account "))
    return [
        QueueNode(entry.name, entry.parent, entry.weight, maximum=entry.ceiling, label=entry.label or entry.name)
        for entry in entries.values()
    ]


def _weight(row: SlurmRow, column: str, notes: Notes) -> Fraction:
    text = row[column]
    if text in ("", "parent"):
        if text:
            notes.assumed("share 'parent' is a weight of 1", row["User"] or row["Account"])
        return Fraction(1)
    return _amount(row, column)
