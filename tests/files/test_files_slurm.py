"""Slurm: text and JSON of its commands, its amounts, its sets of hosts and of jobs."""

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

import drfopt
from drfopt import solve
from drfopt.base.errors import InstanceError
from drfopt.io.readers.asking import read
from drfopt.io.readers.slurm.device_types import kinds, with_totals
from drfopt.io.readers.slurm.tres import array_size, gres, hosts, tres

SINFO = """\
node01|64|515000|gpu:a100:4(S:0-1)|gpu|mixed
node02|128|1031000|(null)|cpu*|idle
node02|128|1031000|(null)|long|idle
node03|128|1031000|(null)|cpu*|down*
node04|128|1031000|(null)|cpu*|idle*
node05|128|1031000|(null)|cpu*|drained
"""
SACCT = """\
JobIDRaw|User|Account|Partition|QOS|State|NNodes|NTasks|ReqTRES|AllocTRES|Elapsed|NodeList
1001|alice|bio|gpu|normal|RUNNING|1||billing=8,cpu=8,gres/gpu=1,mem=64G,node=1|billing=8,cpu=8,gres/gpu:a100=1,gres/gpu=1,mem=64G,node=1|02:10:00|node01
1002|bob|phys|cpu|normal|PENDING|2||billing=256,cpu=256,mem=500000M,node=2||00:00:00|None assigned
1003_[1-3%2]|bob|phys|cpu,long|normal|PENDING|1||cpu=2,mem=1G,node=1||00:00:00|
1004|bob|phys|cpu|normal|CANCELLED by 17|1||cpu=2,mem=1G,node=1||00:00:00|
1001.batch|||||RUNNING|1||||02:10:00|node01
"""
SSHARE = """\
Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare
root||1|1.000000|900000|1.000000|
 bio||2|0.500000|600000|0.666667|
  bio|alice|3|0.250000|600000|0.666667|0.333333
  genes||4||||
   genes|carol|parent||||
 phys||1||||
"""


def saved(folder: Path, **files: str) -> list[Path]:
    paths = []
    for name, content in files.items():
        paths.append(folder / name)
        paths[-1].write_text(content, encoding="utf-8")
    return paths


def told(found) -> str:
    return "\n".join(map(str, found.notes))


def test_text(tmp_path: Path) -> None:
    paths = saved(tmp_path, sinfo=SINFO, sacct=SACCT, sshare=SSHARE)
    found = read("slurm", paths)
    instance, organisation = found.instance, found.instance.organisation
    assert read("slurm", paths[::-1]).instance.exact_demands == instance.exact_demands
    assert instance.users == ("alice", "bob")
    assert instance.resources == ("cpu", "mem", "gres/gpu")
    assert instance.exact_demands[0] == (8, 65536, 1)
    assert [(one.count, tuple(one.demand)) for one in instance.task_types[1]] == [
        (2, (128, 250000, 0)),
        (3, (2, 1024, 0)),
    ]
    assert instance.machine_names == ("64cpu-502.93GiB-4gpu", "128cpu-1006.836GiB")
    assert instance.counts.tolist() == [1, 1]
    assert instance.eligible[0].tolist() == [True, False]
    assert [one.machines for one in instance.task_types[1]] == [("128cpu-1006.836GiB",)] * 2
    assert organisation.paths == ("bio", "phys")
    assert {group.name: group.weight for group in organisation.groups} == {"bio": 2, "phys": 1, "bio/genes": 4}
    assert instance.exact_weights == (3, 1)
    assert found.placement == {"alice": {"64cpu-502.93GiB-4gpu": 1}}
    notes = told(found)
    for line in (
        "node that is down* (node03)",
        "node that is idle* (node04)",
        "node that is drained (node05)",
        "job that is CANCELLED (1004)",
        "step of a job (1001.batch)",
        "queue or user without tasks (carol)",
        "share 'parent' is a weight of 1 (carol)",
    ):
        assert line in notes, notes


def test_accounts_as_users_and_limits(tmp_path: Path) -> None:
    limits = "bio|||cpu=100,gres/gpu=8,mem=1T\nbio|alice|2|cpu=10\nphys||5|\n"
    paths = saved(tmp_path, sinfo=SINFO, sacct=SACCT, assoc=limits)
    by_user = read("slurm", paths).instance
    assert by_user.organisation.ceilings == ({"cpu": 10}, {})
    assert by_user.organisation.groups[0].ceiling == {"cpu": 100, "gres/gpu": 8, "mem": 2**20}
    by_account = read("slurm", paths, "account").instance
    assert by_account.users == ("bio", "phys")
    assert by_account.organisation.ceilings[0] == {"cpu": 100, "gres/gpu": 8, "mem": 2**20}
    assert by_account.exact_weights == (1, 5)


def test_a_job_that_names_no_account_is_of_the_only_one_there_is(tmp_path: Path) -> None:
    header, *jobs = SACCT.splitlines()
    shares = "Account|User|RawShares\nphys||5\nphys|bob|3\n"
    paths = saved(tmp_path, sinfo=SINFO, sacct="\n".join([header, jobs[1].replace("phys", "")]), sshare=shares)
    found = read("slurm", paths)
    assert (found.instance.users, found.instance.exact_weights) == (("bob",), (3,))
    assert found.instance.organisation.paths == ("phys",)
    assert "several accounts" not in told(found)
    assert read("slurm", paths, "account").instance.users == ("phys",)


def test_a_user_of_two_accounts_is_told(tmp_path: Path) -> None:
    header, *jobs = SACCT.splitlines()
    paths = saved(tmp_path, sinfo=SINFO, sacct="\n".join([header, jobs[1], jobs[2].replace("phys", "bio")]))
    found = read("slurm", paths)
    assert found.instance.users == ("bob (phys)", "bob (bio)")
    assert "user of several accounts is a user in each of them (bob)" in told(found)


def test_nodes_that_share_a_line(tmp_path: Path) -> None:
    found = read("slurm", saved(tmp_path, sinfo="n[1-3]|8+|9000|(null)|cpu*|idle\n", sacct=SACCT))
    assert found.instance.counts.tolist() == [3]
    assert "3 x node has no more than the least of its line: give sinfo -N" in told(found)


def test_json_says_the_same(tmp_path: Path) -> None:
    node = {
        "name": "node01",
        "cpus": 64,
        "real_memory": 515000,
        "gres": "gpu:a100:4(S:0-1)",
        "partitions": ["gpu"],
        "state": ["MIXED"],
    }
    drained = node | {"name": "node09", "state": ["IDLE", "DRAIN"]}
    row = {
        "nodes": {"nodes": ["node02"]},
        "partition": {"name": "cpu"},
        "node": {"state": ["IDLE"]},
        "cpus": {"maximum": 128},
        "memory": {"maximum": 1031000},
        "gres": {"total": ""},
    }
    entries = [
        {"type": "cpu", "count": 8},
        {"type": "mem", "count": 65536},
        {"type": "gres", "name": "gpu", "count": 1},
    ]
    done = {"job_id": 1001, "user": "alice", "account": "bio", "partition": "gpu", "state": {"current": ["RUNNING"]}}
    done |= {"allocation_nodes": 1, "nodes": "node01", "tres": {"requested": entries, "allocated": entries}}
    queued = {"job_id": 1002, "user_name": "bob", "account": "phys", "partition": "cpu", "job_state": ["PENDING"]}
    queued |= {"node_count": {"set": True, "number": 2}, "tres_req_str": "cpu=256,mem=500000M,node=2", "nodes": ""}
    shares = [
        {"name": "bio", "parent": "root", "type": ["ASSOCIATION"], "shares": {"set": True, "number": 2}},
        {"name": "alice", "parent": "bio", "type": ["USER"], "shares": {"set": True, "number": 3}},
    ]
    paths = saved(
        tmp_path,
        nodes=json.dumps({"nodes": [node, drained]}),
        sinfo=json.dumps({"sinfo": [row]}),
        jobs=json.dumps({"jobs": [done, queued]}),
        shares=json.dumps({"shares": {"shares": shares}}),
    )
    found = read("slurm", paths)
    assert found.instance.exact_demands == ((8, 65536, 1), (128, 250000, 0))
    assert found.instance.exact_limits == (1, 2)
    assert found.instance.exact_weights == (3, 1)
    assert found.placement == {"alice": {"64cpu-502.93GiB-4gpu": 1}}
    assert found.instance.organisation.paths == ("bio", "phys")
    assert "node that is idle+drain (node09)" in told(found)


HOSTS = {
    "node01": ["node01"],
    "a[1-3],b": ["a1", "a2", "a3", "b"],
    "n[01-03,07]x": ["n01x", "n02x", "n03x", "n07x"],
    "r[1-2]n[1-2]": ["r1n1", "r1n2", "r2n1", "r2n2"],
    "n[1-5:2]": ["n1", "n3", "n5"],
    "None assigned": [],
    "": [],
}


@pytest.mark.parametrize(("text", "expected"), HOSTS.items(), ids=str)
def test_hosts(text: str, expected: list[str]) -> None:
    assert hosts(text, "here") == expected


def test_amounts() -> None:
    amounts = tres("cpu=8,gres/gpu:a100=1,gres/gpu=1,mem=1.5G,node=2", "x")
    assert amounts == {"cpu": 8, "gres/gpu:a100": 1, "gres/gpu": 1, "mem": 1536}
    assert kinds(amounts) == {"gpu:a100"}
    amounts = tres("gres/gpu:a=1,gres/gpu:b=2,mem=512K", "x")
    assert with_totals(amounts) == {"gres/gpu": 3, "gres/gpu:a": 1, "gres/gpu:b": 2, "mem": Fraction(1, 2)}
    assert gres("gpu:a100:4(S:0-1),gpu:2,shard:8", "x") == {"gres/gpu": 6, "gres/gpu:a100": 4, "gres/shard": 8}
    assert gres("gpu:no_consume:4", "x") == {"gres/gpu": 4}
    assert gres("(null)", "x") == {}
    assert [array_size(job, "x") for job in ("7", "7_[1-3]", "7_[1,5-6%1]", "7_2")] == [1, 3, 3, 1]


BAD = {
    "columns": ("sinfo", SINFO + "a|b\n", r"sinfo: line 7: has 2 columns, but there are 6"),
    "cpus": ("sinfo", SINFO.replace("|64|", "|many|"), r"line 1: CPUS is 'many': write a number"),
    "negative": ("sinfo", SINFO.replace("|64|", "|-64|"), r"CPUS is '-64': write a number, 0 or more"),
    "tres": ("sacct", SACCT.replace("mem=64G", "mem=lots"), r"line 2: 'mem=lots' is no resource and amount"),
    "letter": ("sinfo", SINFO.replace("|515000|", "|2T|"), r"line 1: MEMORY of a node is '2T': write a number of MiB"),
    "letter of a part": (
        "sinfo",
        "NodeName=n CPUs=8 RealMemory=64000 MemSpecLimit=1G\n",
        r"line 1: MemSpecLimit of a node is '1G': write a number of MiB without a letter",
    ),
    "header": ("sacct", "JobId|Users\n1|2\n", r"line 1: is neither a header nor a row"),
    "hosts": ("sacct", SACCT.replace("|node01\n", "|node[1-\n"), None),
    "hosts of a node": (
        "sinfo",
        SINFO.replace("node02|", "node[02-|"),
        r"line 2: 'node\[02-' is no list of hosts: write both",
    ),
    "range from above": (
        "sinfo",
        SINFO.replace("node02|", "node[4-2]|"),
        r"line 2: '4-2' is a range from the higher to the lower: write 2-4",
    ),
    "range without an end": ("sinfo", SINFO.replace("node02|", "node[4-]|"), r"line 2: '4-' is no range of numbers"),
    "device": ("sinfo", SINFO.replace("a100:4", "a100:1.2.3"), r"line 1: gres 'gpu:a100:1.2.3': write gpu:a100:4"),
    "memory of a job": (
        "sacct",
        "JOBID|USER|STATE|NODES|CPUS|MIN_MEMORY\n1|a|PD|1|1|mem=64G\n",
        r"line 2: MIN_MEMORY is 'mem=64G': write an amount, such as 64G$",
    ),
    "nodes of a job": (
        "sacct",
        "JOBID|USER|STATE|NODES|CPUS|MIN_MEMORY\n1|a|PD|two|1|4G\n",
        r"line 2: NODES is 'two': write a number, 0 or more",
    ),
    "nodes of an entry": (
        "sacct",
        "JobId=1 JobState=PENDING NumNodes=two NumCPUs=1 MinMemoryNode=4G\n",
        r"line 1: NumNodes is 'two': write a number, 0 or more",
    ),
    "nodes in json": (
        "sacct",
        '{"jobs": [{"job_id": 1, "job_state": "PENDING", "node_count": "two", "tres_req_str": "cpu=1"}]}',
        r"node_count is 'two': write a number, 0 or more",
    ),
    "devices of a job": (
        "sacct",
        "JOBID|USER|STATE|NODES|CPUS|TRES_PER_NODE\n1|a|PD|1|1|gres/gpu=2x\n",
        r"line 2: gres 'gres/gpu=2x': write gpu:a100:4",
    ),
    "range": ("sacct", SACCT.replace("|node01\n", "|node[1-99999999]\n"), r"is no range of at most 1,000,000"),
    "array": ("sacct", SACCT.replace("1-3%2", "one"), r"'one' is no range of numbers"),
    "json": ("sacct", '{"steps": []}', "has no nodes, sinfo, partitions, jobs, shares or associations"),
    "json list": ("sacct", "[1]", "is a list: give what a command of Slurm prints with --json"),
}


@pytest.mark.parametrize(("which", "content", "pattern"), BAD.values(), ids=BAD)
def test_bad_output(tmp_path: Path, which: str, content: str, pattern: str | None) -> None:
    paths = saved(tmp_path, **{"sinfo": SINFO, "sacct": SACCT} | {which: content})
    if pattern is None:
        assert read("slurm", paths).instance.n == 2
        return
    with pytest.raises(InstanceError, match=pattern) as raised:
        read("slurm", paths)
    assert str(raised.value).isprintable()


# ---- any text with its header ------------------------------------------------------------------------------

JOBS = """\
JOBID|USER|ACCOUNT|PARTITION|STATE|NODES|CPUS|MIN_MEMORY|TRES_PER_NODE|NODELIST
7|ann|bio|cpu|PENDING|2|8|4G|gres/gpu:1|
8|bob|phys|cpu|RUNNING|1|2|500M|N/A|c1
"""

NODE_TEXTS = {
    "bars": "NODELIST|CPUS|MEMORY|GRES|PARTITION|STATE\nc1|8|16000|gpu:a:2|cpu*|idle\nc2|8|16000|gpu:a:2|cpu*|mix\n",
    "words": "NODELIST CPUS MEMORY GRES PARTITION STATE\nc1 8 16000 gpu:a:2 cpu* idle\nc2 8 16000 gpu:a:2 cpu* mix\n",
    "another order": (
        "STATE|HOSTNAMES|REASON|MEMORY|CPUS|GRES|PARTITION\n"
        "idle|c1|none|16000|8|gpu:a:2|cpu\n"
        "idle|c2|x y|16000|8|gpu:a:2|cpu\n"
    ),
    "cpus by state": (
        "NODELIST  CPUS(A/I/O/T)  MEMORY  GRES     PARTITION  STATE\n"
        "c1        2/6/0/8        16000   gpu:a:2  cpu*       idle\n"
        "c2        2/6/0/8        16000   gpu:a:2  cpu*       idle\n"
    ),
    "an empty cell": (
        "NODELIST  CPUS  MEMORY  GRES     PARTITION  REASON  STATE\n"
        "c1        8     16000   gpu:a:2  cpu*               idle\n"
        "c2        8     16000   gpu:a:2  cpu*       a b     idle\n"
    ),
    "scontrol": (
        "NodeName=c1 Arch=x86_64 CoresPerSocket=4\n"
        "   CPUAlloc=0 CPUTot=8 CPULoad=0.1\n"
        "   Gres=gpu:a:2\n"
        "   OS=Linux 5.4 #1 SMP Mon\n"
        "   RealMemory=16000 AllocMem=0\n"
        "   State=IDLE ThreadsPerCore=1\n"
        "   Partitions=cpu\n"
        "   Reason=is = fine\n"
        "\n"
        "NodeName=c2 CPUTot=8 RealMemory=16000 Gres=gpu:a:2 State=MIXED+PLANNED Partitions=cpu,long\n"
    ),
}


@pytest.mark.parametrize("kind", NODE_TEXTS)
def test_nodes_in_any_text(tmp_path: Path, kind: str) -> None:
    found = read("slurm", saved(tmp_path, nodes=NODE_TEXTS[kind], jobs=JOBS))
    assert found.instance.resources == ("cpu", "mem", "gres/gpu")
    assert found.instance.exact_capacity == (16, 32000, 4)
    assert found.instance.users == ("ann", "bob")
    assert found.instance.exact_demands == ((4, 4096, 1), (2, 500, 0))
    assert found.instance.max_tasks == (2, 1)
    assert sum(found.placement["bob"].values()) == 1


def test_the_long_list_of_nodes(tmp_path: Path) -> None:
    text = """\
Wed Nov 22 10:00:00 2026
NODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY TMP_DISK WEIGHT AVAIL_FE REASON
c1             1      cpu*        idle 8       4:1:1  16000        0      1   (null) none
c2             1      cpu*       down* 8       4:1:1  16000        0      1   (null) Not responding at all
"""
    found = read("slurm", saved(tmp_path, nodes=text, jobs=JOBS))
    assert found.instance.counts.tolist() == [1]
    assert "node that is down* (c2)" in told(found)


def test_scontrol_shows_jobs(tmp_path: Path) -> None:
    text = """\
JobId=71 JobName=train me
   UserId=ann(1001) GroupId=x(1) MCS_label=N/A
   Account=bio QOS=normal
   JobState=PENDING Reason=Resources Dependency=(null)
   Partition=cpu AllocNode:Sid=0.0.0.0:1
   NodeList=(null)
   NumNodes=2-2 NumCPUs=8 NumTasks=8
   ReqTRES=cpu=8,mem=8G,node=2,billing=8,gres/gpu=2
JobId=72 ArrayTaskId=1-3%2 JobName=b UserId=bob(2) Account=phys JobState=PENDING Partition=cpu
   NumNodes=1 NumCPUs=1 TRES=cpu=1,mem=1G,node=1
"""
    found = read("slurm", saved(tmp_path, nodes=NODE_TEXTS["bars"], jobs=text))
    assert found.instance.users == ("ann", "bob")
    assert found.instance.exact_demands == ((4, 4096, 1), (1, 1024, 0))
    assert found.instance.max_tasks == (2, 3)


def test_shares_below_a_line_of_hyphens(tmp_path: Path) -> None:
    text = """\
             Account       User  RawShares  NormShares    RawUsage  FairShare
-------------------- ---------- ---------- ----------- ----------- ----------
root                                          0.000000           0
 bio                                     2    0.500000           0
  bio                       ann          3    0.250000           0   0.333333
 phys                                    1    0.500000           0
"""
    limits = "Account|User|Share|GrpTRES|ParentName\nbio|||cpu=4|root\nphys||5||root\n"
    found = read("slurm", saved(tmp_path, nodes=NODE_TEXTS["bars"], jobs=JOBS, shares=text, limits=limits))
    organisation = found.instance.organisation
    assert found.instance.exact_weights == (3, 1)
    assert organisation.paths == ("bio", "phys")
    assert [(group.name, group.weight, group.ceiling) for group in organisation.groups] == [
        ("bio", 2, {"cpu": 4}),
        ("phys", 1, {}),
    ]


def test_one_file_may_hold_what_several_commands_print(tmp_path: Path) -> None:
    found = read("slurm", saved(tmp_path, all=NODE_TEXTS["words"] + "\n" + JOBS))
    assert found.instance.users == ("ann", "bob")


NO_NODES = {
    "accounts": ("|root||||\n|account1|993|15917500||\n", "no header says what its 6 columns are"),
    "one of them like a node": (SINFO + "x|account5|3978|477500|405|301\n", "line 7: is neither a header nor a row"),
    "queue": ("45|root|test.py|PENDING||1|(Resources)|gres/gpu:1|foo\n", "no header says what its 9 columns are"),
    "older limits": (
        "User|Account|GrpCPUs|GrpMem\n|root||\n",
        "columns of limits, without GrpTRES: give sacctmgr -P show assoc format=Account,User,Share,GrpTRES",
    ),
    "a queue that tells no size": (
        "JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n1 a b c PD 0:00 1 (None)\n",
        "columns of jobs, without ReqTRES or AllocTRES or CPUs: give squeue -o",
    ),
    "nodes without memory": (
        "PARTITION AVAIL TIMELIMIT NODES STATE NODELIST\nall up 1 2 idle c1\n",
        "columns of nodes, without CPUS or CPUS_STATE and MEMORY: give sinfo -N -o",
    ),
    "shares in a row": ("root|root|1||0|1.0|0.0|0.0|0.0|1.0|cpu=0|\n", "no header says what its 12 columns are"),
    "an entry of nothing": ("OS=Linux\nNodeName=c1\n", "is before the first NodeName or JobId"),
}


@pytest.mark.parametrize(("text", "pattern"), NO_NODES.values(), ids=NO_NODES)
def test_a_row_of_another_program_is_no_node(tmp_path: Path, text: str, pattern: str) -> None:
    with pytest.raises(InstanceError, match=re.escape(pattern).replace(r"\ ", " ")) as raised:
        read("slurm", saved(tmp_path, text=text, jobs=JOBS))
    assert "text: line " in str(raised.value)


@pytest.mark.parametrize(
    "line, printed, command",
    [
        ("batch*       up 1-00:00:00      4   idle n[1-4]", "sinfo -h", "sinfo -N -o '%N|%c|%m|%G|%P|%T'"),
        ("n1      1    batch* mix ", "sinfo -N -h", "sinfo -N -o '%N|%c|%m|%G|%P|%T'"),
        ("   123_[1-9]     batch   my job    alice PD       0:00      1 (Resources)", "squeue -h", "squeue -o '%i|%u"),
    ],
)
def test_default_rows_without_a_header_name_the_command(tmp_path, line, printed, command):
    path = tmp_path / "printed.txt"
    path.write_text(line + "\n")
    with pytest.raises(InstanceError, match=re.escape(f"line 1: is what {printed} prints")) as error:
        read("slurm", path)
    assert command in str(error.value)


def test_long_nodes_without_a_header_are_read(tmp_path):
    nodes, jobs = tmp_path / "nodes.txt", tmp_path / "jobs.txt"
    nodes.write_text(
        "n1   1   batch*  idle  16  2:8:1  64000  0  1  (null)  none\n"
        "n2   1   batch*  drained  16  2:8:1  64000  0  1  (null)  Not responding at all\n"
    )
    jobs.write_text("JobID|User|Account|Partition|State|NNodes|ReqTRES\n7|ann|a|batch|PENDING|1|cpu=4,mem=8G\n")
    found = read("slurm", [nodes, jobs]).instance
    assert found.capacity.tolist() == [16, 64000]


def test_a_job_in_two_files_counts_once(tmp_path):
    nodes, jobs, again = (tmp_path / name for name in ("nodes.txt", "jobs.txt", "again.txt"))
    nodes.write_text("NODELIST|CPUS|MEMORY|GRES|PARTITION|STATE\nn1|16|64000||batch|idle\n")
    for file in (jobs, again):
        file.write_text("JobID|User|Account|Partition|State|NNodes|ReqTRES\n7|ann|a|batch|PENDING|1|cpu=4,mem=8G\n")
    found = read("slurm", [nodes, jobs, again])
    assert found.instance.limits.tolist() == [1]
    assert any("job that is listed again" in str(note) for note in found.notes)


def test_constraints_and_types_of_devices_decide_where_a_job_runs(tmp_path: Path) -> None:
    sinfo = """\
HOSTNAMES|CPUS|MEMORY|GRES|PARTITION|STATE|AVAIL_FEATURES|WEIGHT
n1|64|256000|gpu:a100:4|gpu*|idle|a100,ib|10
n2|64|256000|gpu:v100:4|gpu*|idle|v100|10
"""
    squeue = """\
JOBID|USER|ACCOUNT|PARTITION|STATE|NODES|CPUS|MIN_MEMORY|TRES_PER_NODE|NODELIST|FEATURES
1|ann|phys|gpu|PENDING|1|8|32G|gres/gpu:v100:1||(null)
2|bob|phys|gpu|PENDING|1|8|32G|gres/gpu:1||a100&ib
3|cid|phys|gpu|PENDING|1|8|32G|gres/gpu:1||a100,ib
4|dan|phys|gpu|PENDING|1|8|32G|gres/gpu:1||h100
5|eve|phys|gpu|PENDING|1|8|32G|gres/gpu:1||[a100*2&ib*1]
"""
    found = read("slurm", saved(tmp_path, sinfo=sinfo, squeue=squeue))
    instance = found.instance
    homes = {
        user: [name.rpartition("=")[2] for name, open_to in zip(instance.machine_names, row, strict=True) if open_to]
        for user, row in zip(instance.users, instance.eligible.tolist(), strict=True)
    }
    assert homes == {
        "ann": ["gpu:v100"],
        "bob": ["gpu:a100"],
        "cid": ["gpu:a100"],
        "dan": [],
        "eve": ["gpu:a100", "gpu:v100"],
    }
    notes = told(found)
    assert "has not the feature h100 (dan)" in notes
    assert "columns of nodes (WEIGHT)" in notes
    assert "its job may run anywhere (5: [a100*2&ib*1])" in notes
    blind = "\n".join(line.rsplit("|", 2)[0] for line in sinfo.splitlines())
    found = read("slurm", saved(tmp_path, blind=blind, squeue=squeue))
    assert "3 x constraint of a job: no node tells its own" in told(found)
    assert found.instance.eligible[found.instance.users.index("dan")].all(), "the files tell no node's features"
    machines = saved(tmp_path, **{"machines.csv": "machine,count,cpu,memory,gpu\nbig,2,64,256Gi,4\n"})[0]
    found = read("slurm", saved(tmp_path, squeue=squeue), machines=machines)
    assert "5 x partition of a job: no node tells its own" in told(found)
    assert all(drfopt.solve(found.instance).tasks)


def test_a_configuration_lists_nodes(tmp_path: Path) -> None:
    conf = """\
# made by hand
ClusterName=small
NodeName=DEFAULT CPUs=64 \\
  RealMemory=256000
NodeName=n[1-2] Gres=gpu:a100:4 Feature=ib
nodename=c1 Sockets=2 CoresPerSocket=24 ThreadsPerCore=2 CoreSpecCount=1 MemSpecLimit=6000 Weight=5
NodeName=c2 State=DOWN
PartitionName=gpu Nodes=n[1-2] AllowAccounts=phys
PartitionName=all Nodes=ALL State=UP
PartitionName=old Nodes=c2 State=DRAIN
"""
    job = "JOBID|USER|PARTITION|STATE|NODES|CPUS|MIN_MEMORY\n1|ann|gpu|PENDING|1|8|32G\n2|bob|all|PENDING|1|8|32G\n"
    found = read("slurm", saved(tmp_path, conf=conf, job=job))
    instance = found.instance
    assert dict(zip(instance.machine_names, instance.exact_machine_capacity, strict=True)) == {
        "64cpu-250GiB": (64, 256000),
        "94cpu-244.141GiB": (94, 250000),
    }
    assert instance.counts.tolist() == [2, 1]
    assert instance.eligible.tolist() == [[True, False], [True, True]]
    for line in (
        "setting of no node and no partition (ClusterName)",
        "weight of nodes (c1)",
        "allowaccounts of partitions (gpu)",
        "partition that is drained runs what is queued in it (old)",
        "node that is down (c2)",
        "assumed: 3 x node is in use: a configuration does not tell its state (such as n1)",
    ):
        assert line in told(found)
    with pytest.raises(InstanceError, match=r"line 1: cpus is 'many': write a whole number"):
        read("slurm", saved(tmp_path, conf="NodeName=a CPUs=many\n", job=job))


def test_a_configuration_names_sets_of_nodes_and_those_that_are_down(tmp_path: Path) -> None:
    conf = """\
NodeName=s[0-2] CPUs=2 RealMemory=1800
NodeName=m[0-1] CPUs=4 RealMemory=1800 Feature=big
DownNodes=s0,m1 State=DRAIN Reason="to be mended"
DownNodes=m0 State=UNKNOWN
NodeSet=large Feature=big
NodeSet=every Nodes=\\
s[0-2],\\
m[0-1]
PartitionName=m Nodes=large
PartitionName=all Nodes=every
"""
    job = "JOBID|USER|PARTITION|STATE|NODES|CPUS|MIN_MEMORY\n1|ann|m|PENDING|1|1|1G\n2|bob|all|PENDING|1|1|0\n"
    found = read("slurm", saved(tmp_path, conf=conf, job=job))
    assert "job of memory 0 needs none: in Slurm it may be all of its node's (2)" in told(found)
    assert found.instance.counts.tolist() == [2, 1]
    assert found.instance.eligible.tolist() == [[False, True], [True, True]]
    assert sorted(str(note) for note in found.notes if note.kind == "not used") == [
        "not used: 2 x node that is drain (such as s0)"
    ]


def test_cpus_by_state_are_those_of_all_nodes_of_a_line(tmp_path: Path) -> None:
    sinfo = "STATE|NODELIST|CPUS(A/I/O/T)|MEMORY\nmixed|g[1-5]|20/30/0/50|512\nidle|c[1-2]|0/5/0/5|512\n"
    job = "JOBID|USER|STATE|NODES|CPUS|MIN_MEMORY\n1|ann|PENDING|1|1|100M\n"
    found = read("slurm", saved(tmp_path, sinfo=sinfo, job=job))
    assert found.instance.exact_machine_capacity == ((10, 512), (Fraction(5, 2), 512))
    assert "assumed: 2 x node has the mean CPUs of its line: give sinfo -N (such as c1)" in told(found)


def test_memory_of_a_cpu_and_memory_that_may_be_of_one(tmp_path: Path) -> None:
    node = "NodeName=n CPUTot=64 RealMemory=512000 State=IDLE Partitions=p\n"
    job = "JobId=7 UserId=ann(1) JobState=PENDING NumNodes=2 NumCPUs=8 MinMemoryCPU=3G TresPerTask=gres/gpu:1\n"
    found = read("slurm", saved(tmp_path, node=node, job=job))
    assert found.instance.exact_demands == ((4, 4 * 3072),)
    assert "devices for each task of a job: TRES tell how many it has (7)" in told(found)
    assert "needs no memory" not in told(found)
    queue = "JOBID|USER|STATE|NODES|CPUS|MIN_MEMORY\n7|ann|PENDING|2|8|3G\n8|bob|PENDING|1|1|3G\n"
    found = read("slurm", saved(tmp_path, node=node, queue=queue))
    assert found.instance.exact_demands[0] == (4, 3072)
    told_once = "assumed: MIN_MEMORY is of a node: with --mem-per-cpu it is of a CPU, which -O tres-alloc takes in (7)"
    assert told_once in told(found)


def test_what_a_node_keeps_back_is_not_divided(tmp_path: Path) -> None:
    node = """\
NodeName=n1 Arch=x86_64 CoresPerSocket=32
   CPUAlloc=8 CPUEfctv=62 CPUTot=64 CPULoad=1.00
   ActiveFeatures=a100,ib
   Gres=gpu:a100:4(S:0-1)
   RealMemory=256000 AllocMem=0 MemSpecLimit=6000
   State=MIXED Partitions=gpu
"""
    job = """\
JobId=11 JobName=train UserId=ann(1000) Account=phys JobState=PENDING Dependency=afterok:10(unfulfilled)
   Partition=gpu ReqNodeList=(null) NumNodes=1-1 NumCPUs=8 Licenses=matlab:1 Features=ib|ethernet
   ReqTRES=cpu=8,mem=32G,node=1,billing=8,gres/gpu:a100=2
"""
    found = read("slurm", saved(tmp_path, node=node, job=job))
    assert found.instance.exact_machine_capacity[0] == (62, 250000, 4)
    assert "licence of a job (11)" in told(found)
    assert "dependency of a job: it is there at once (11)" in told(found)
    over = read(
        "slurm", saved(tmp_path, node=node, job=job + job.replace("=11", "=12").replace("PENDING", "COMPLETED"))
    )
    assert told(over).replace("not used: job that is COMPLETED (12)\n", "").splitlines()[:2] == told(found).splitlines()


ONE_JOB = "JOBID|USER|ACCOUNT|PARTITION|STATE|NODES|CPUS|MIN_MEMORY|TRES_PER_NODE\n1|a|x|p|PENDING|1|1|1G|N/A\n"


@pytest.mark.parametrize(
    ("mark", "word", "used"),
    [
        ("idle", "IDLE", True),
        ("idle~", "IDLE+POWERED_DOWN", True),
        ("idle#", "IDLE+POWERING_UP", True),
        ("idle%", "IDLE+POWERING_DOWN", True),
        ("mixed-", "MIXED+PLANNED", True),
        ("allocated+", "ALLOCATED+COMPLETING", True),
        ("idle@", "IDLE+REBOOT_REQUESTED", True),
        ("idle^", "IDLE+REBOOT_ISSUED", False),
        ("maint", "IDLE+MAINTENANCE", False),
        ("allocated$", "ALLOCATED+MAINTENANCE", False),
        ("inval", "IDLE+INVALID_REG", False),
        ("idle*", "IDLE+NOT_RESPONDING", False),
        ("down~", "DOWN+POWERED_DOWN", False),
    ],
)
def test_every_command_says_the_same_of_a_node(tmp_path: Path, mark: str, word: str, used: bool) -> None:
    other = "NodeName=n2 CPUTot=8 RealMemory=1000 State=IDLE Partitions=p\n"
    node = {"name": "n1", "cpus": 8, "real_memory": 1000, "partitions": ["p"], "state": word.split("+")}
    texts = {
        "sinfo": f"NODELIST|CPUS|MEMORY|GRES|PARTITION|STATE\nn1|8|1000|(null)|p|{mark}\nn2|8|1000|(null)|p|idle\n",
        "scontrol": f"NodeName=n1 CPUTot=8 RealMemory=1000 State={word} Partitions=p\n{other}",
        "json": json.dumps({"nodes": [node, node | {"name": "n2", "state": ["IDLE"]}]}),
    }
    for kind, text in texts.items():
        found = read("slurm", saved(tmp_path, nodes=text, jobs=ONE_JOB))
        assert found.instance.counts.tolist() == [1 + used], (kind, told(found))
        assert ("powered down, or about to be, or starting, is in use (n1)" in told(found)) == (
            used and "POWER" in word
        ), kind


def test_counts_may_have_a_letter(tmp_path: Path) -> None:
    nodes = "NODELIST|CPUS|MEMORY|GRES|PARTITION|STATE\nn1|1.5K|512000|(null)|p|idle\n"
    found = read("slurm", saved(tmp_path, nodes=nodes, jobs=ONE_JOB.replace("|1|1|1G", "|1|1K|1G"))).instance
    assert (found.exact_capacity, found.exact_demands) == ((1536, 512000), ((1024, 1024),))


def test_jobs_of_a_partition_that_is_down_run_nowhere_and_of_a_drained_one_there(tmp_path: Path) -> None:
    """Whether or not another partition is in use."""
    jobs = "JOBID|USER|PARTITION|STATE|CPUS|MIN_MEMORY|NODELIST\n1_[1-30]|a|p|PENDING|1|1M|\n"
    for state, other, tasks in (("DOWN", "UP", 0), ("INACTIVE", "DOWN", 0), ("DRAIN", "UP", 8), ("DRAIN", "DOWN", 8)):
        nodes = "NodeName=n1 CPUs=8 RealMemory=9000\nNodeName=n2 CPUs=16 RealMemory=9000\n"
        nodes += f"PartitionName=p Nodes=n1 State={state}\nPartitionName=q Nodes=n2 State={other}\n"
        found = read("slurm", saved(tmp_path, nodes=nodes, jobs=jobs))
        assert solve(found.instance, exact=True).tasks.sum() == tasks
        assert (f"is in partition p ({state.lower()})" in told(found)) == (not tasks)


PLAIN_NODES = "NODELIST|CPUS|MEMORY|STATE|AVAIL_FEATURES\nn1|8|9000|idle|\nn2|16|9000|idle|big\n"
WAITING = "JOBID|USER|PARTITION|STATE|CPUS|MIN_MEMORY|NODELIST\n1_[1-30]|a|p|PENDING|1|1M|\n"
SHOWN_PARTITION = """\
PartitionName={0}
   AllowGroups=ALL AllowAccounts=phys AllowQos=ALL
   AllocNodes=ALL Default=YES QoS=N/A
   DefaultTime=NONE DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO
   MaxNodes=UNLIMITED MaxTime=UNLIMITED MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED
   Nodes={1}
   State={2} TotalCPUs=8 TotalNodes=1 SelectTypeParameters=NONE
   JobDefaults=(null)
   DefMemPerNode=UNLIMITED MaxMemPerNode=UNLIMITED
   TRES=cpu=8,mem=9000M,node=1

"""


def placed(folder: Path, **files: str) -> tuple[float, str]:
    """Return how many tasks run, and the notes."""
    found = read("slurm", saved(folder, **files))
    return solve(found.instance, exact=True).tasks.sum(), told(found)


def test_partitions_as_scontrol_shows_them(tmp_path: Path) -> None:
    """In several lines or one, beside nodes without partitions or below those of the same command."""
    shown = SHOWN_PARTITION.format("p", "n1", "UP") + SHOWN_PARTITION.format("q", "(null)", "UP")
    nodes = "NodeName=n1 CPUTot=8 RealMemory=9000 State=IDLE\nNodeName=n2 CPUTot=16 RealMemory=9000 State=IDLE\n"
    one_line = "\n".join(" ".join(entry.split()) for entry in shown.split("\n\n"))
    ways = [{"nodes": PLAIN_NODES, "parts": shown}, {"nodes": PLAIN_NODES, "parts": one_line}]
    listed = [
        {
            "name": name,
            "nodes": {"configured": some, "total": len(some) // 2, "allowed_allocation": "ALL"},
            "partition": {"state": ["UP"]},
            "accounts": {"allowed": "phys", "deny": ""},
            "groups": {"allowed": "ALL"},
        }
        for name, some in (("p", "n1"), ("q", ""))
    ]
    ways.append({"nodes": PLAIN_NODES, "parts": json.dumps({"partitions": listed})})
    for files in (*ways, {"nodes": nodes + shown}, {"nodes": shown + nodes}):
        tasks, notes = placed(tmp_path, jobs=WAITING, **files)
        assert tasks == 8
        assert [note for note in notes.splitlines() if "of partitions" in note] == [
            "not used: 2 x allowaccounts of partitions (such as p)"
        ]


def test_a_table_among_the_entries_of_scontrol_is_refused(tmp_path: Path) -> None:
    shown = SHOWN_PARTITION.format("p", "n1", "UP")
    for text in (shown + WAITING, PLAIN_NODES + shown):
        with pytest.raises(InstanceError, match=r"is the header of another command: give what it prints in a file of"):
            read("slurm", saved(tmp_path, nodes=PLAIN_NODES, text=text))


@pytest.mark.parametrize(
    ("partitions", "tasks"),
    [
        ("PartitionName=p Nodes=n1 State=UP\nPartitionName=q Nodes=n2\n", 8),
        ("PartitionName=p \\\n  Nodes=n1\n", 8),
        ("NodeSet=large Feature=big\nPartitionName=p Nodes=large\n", 16),
        ("PartitionName=p Nodes=ALL\n", 24),
        ("PartitionName=p Nodes=n1 State=DOWN\nPartitionName=q Nodes=n2\n", 0),
    ],
)
def test_partitions_of_a_configuration_are_those_of_nodes_that_do_not_tell_theirs(
    tmp_path: Path, partitions: str, tasks: int
) -> None:
    listed = "NodeName=n1 CPUs=8 RealMemory=9000\nNodeName=n2 CPUs=16 RealMemory=9000 Feature=big\n"
    for nodes in (PLAIN_NODES, listed):
        assert placed(tmp_path, nodes=nodes, parts=partitions, jobs=WAITING)[0] == tasks


def test_how_a_cluster_is_counts_before_how_it_is_configured(tmp_path: Path) -> None:
    """In any order of the files."""
    conf = "NodeName=n[1-2] CPUs=16 RealMemory=9000\nPartitionName=p Nodes=ALL\nPartitionName=h Nodes=n1\n"
    sinfo = "NODELIST|CPUS|MEMORY|STATE|PARTITION\nn1|8|9000|idle|p\nn2|16|9000|drained|q\n"
    for first, second in ((conf, sinfo), (sinfo, conf)):
        tasks, notes = placed(tmp_path, first=first, second=second, jobs=WAITING)
        assert tasks == 8
        assert "node that is drained (n2)" in notes
        assert "does not tell its state" not in notes
        # A partition that sinfo hides is there all the same.
        assert placed(tmp_path, first=first, second=second, jobs=WAITING.replace("|p|", "|h|"))[0] == 8
    down = SHOWN_PARTITION.format("p", "n1", "DOWN")
    for first, second in ((conf, down), (down, conf)):
        tasks, notes = placed(tmp_path, first=first, second=second, nodes=sinfo, jobs=WAITING)
        assert tasks == 0
        assert "partition that is down (p)" in notes
        assert "partition that is listed again (p)" in notes


def test_sinfo_says_which_partitions_are_in_use(tmp_path: Path) -> None:
    for avail, tasks in (("up", 8), ("drain", 8), ("down", 0), ("inact", 0)):
        text = f"PARTITION|AVAIL|NODELIST|CPUS|MEMORY|STATE\np*|{avail}|n1|8|9000|idle\nq|up|n2|16|9000|idle\n"
        entries = [
            {
                "partition": {"name": name, "partition": {"state": [state.upper()]}},
                "cpus": {"minimum": cpus, "maximum": cpus},
                "memory": {"minimum": 9000, "maximum": 9000},
                "node": {"state": ["IDLE"]},
                "nodes": {"nodes": [host]},
            }
            for name, state, cpus, host in (("p", avail, 8, "n1"), ("q", "up", 16, "n2"))
        ]
        for nodes in (text, json.dumps({"sinfo": entries})):
            got, notes = placed(tmp_path, nodes=nodes, jobs=WAITING)
            assert got == tasks
            assert (f"is in partition p ({avail})" in notes) == (not tasks)
            assert "AVAIL" not in notes


@pytest.mark.parametrize(
    "held",
    [
        "JobHeldUser",
        "JobHoldMaxRequeue",
        "launch failed requeued held",
        "launch_failed_requeued_held",
        "job requeued in held state",
    ],
)
def test_whatever_holds_a_job_is_told_by_its_reason(tmp_path: Path, held: str) -> None:
    nodes = "NodeName=n[1-3] CPUs=8 RealMemory=9000\nPartitionName=p Nodes=ALL\n"
    squeue = "JOBID|USER|PARTITION|STATE|CPUS|MIN_MEMORY|NODELIST(REASON)\n"
    squeue += f"1|a|p|PENDING|1|1M|({held})\n2|a|p|PENDING|1|1M|(Priority)\n"
    assert read("slurm", saved(tmp_path, nodes=nodes, jobs=squeue)).instance.max_tasks == (1,)


def test_a_job_that_is_held_is_none(tmp_path: Path) -> None:
    nodes = "NodeName=n[1-3] CPUs=8 RealMemory=9000\nPartitionName=p Nodes=ALL\n"
    squeue = "JOBID|USER|PARTITION|STATE|CPUS|MIN_MEMORY|NODELIST(REASON)\n"
    squeue += "1|a|p|PENDING|1|1M|(JobHeldUser)\n2|a|p|PENDING|1|1M|(Priority)\n"
    scontrol = (
        "JobId={0} UserId=a(1) JobState=PENDING Reason={1} Partition=p NumCPUs=1 NumNodes=1 ReqTRES=cpu=1,mem=1M\n"
    )
    rest = {"user_name": "a", "job_state": ["PENDING"], "partition": "p", "tres_req_str": "cpu=1,mem=1M"}
    reasons = enumerate(("JobHeldAdmin", "Resources"), start=1)
    listed = json.dumps({"jobs": [rest | {"job_id": k, "state_reason": why} for k, why in reasons]})
    for jobs in (squeue, scontrol.format(1, "JobHeldUser") + scontrol.format(2, "None"), listed):
        found = read("slurm", saved(tmp_path, nodes=nodes, jobs=jobs))
        assert found.instance.max_tasks == (1,)
        assert "not used: job that is held (1)" in told(found)


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)])
def test_what_is_of_a_user_in_one_partition_is_of_its_jobs_there(tmp_path: Path, order: slice) -> None:
    """In whatever order: of jobs elsewhere the association without a partition tells, whose limit is another."""
    nodes = "NodeName=n[1-3] CPUs=8 RealMemory=9000\nPartitionName=p Nodes=ALL\nPartitionName=q Nodes=ALL\n"
    mine = ["x|a||2|cpu=6", "x|a|p|5|cpu=2"][order]
    limits = "\n".join(["Account|User|Partition|Share|GrpTRES", "x|||1|", "x|b||1|", *mine, "x|b||7|cpu=1", ""])
    jobs = "JOBID|USER|ACCOUNT|PARTITION|STATE|NODES|CPUS|MIN_MEMORY|NODELIST\n1|b|x|p|PENDING|1|1|1M|\n"
    there, elsewhere, told_of = "2_[1-9]|a|x|p|PENDING|1|1|1M|\n", "3|a|x|q|PENDING|1|1|1M|\n", []
    for asked, ceiling, weight in ((there, 2, 5), (there + elsewhere, 6, 2), (elsewhere, 6, 2)):
        found = read("slurm", saved(tmp_path, nodes=nodes, jobs=jobs + asked, limits=limits))
        at = found.instance.users.index("a")
        assert found.instance.organisation.ceilings[at] == {"cpu": ceiling}
        assert found.instance.exact_weights[at] / found.instance.exact_weights[1 - at] == weight
        assert "limits of an account or user that are listed again (b)" in told(found)
        told_of.append("limits of a user in one partition, whose jobs are not all there (a in p)" in told(found))
    assert told_of == [False, True, True]
    dump = "Parent - 'x'\nUser - 'a':Partition='p':Fairshare=5:GrpTRES=cpu=2\nUser - 'a':Fairshare=2:GrpTRES=cpu=6\n"
    one = {"account": "x", "user": "a", "partition": "p", "shares_raw": 5}
    one["max"] = {"tres": {"total": [{"type": "cpu", "name": "", "count": 2}]}}
    for text in (dump, json.dumps({"associations": [one]})):
        found = read("slurm", saved(tmp_path, nodes=nodes, jobs=jobs + there, limits=text)).instance
        assert found.organisation.ceilings[found.users.index("a")] == {"cpu": 2}


def test_limits_that_bound_nothing_here_are_told(tmp_path: Path) -> None:
    nodes = "NodeName=n[1-3] CPUs=8 RealMemory=9000\nPartitionName=p Nodes=ALL\n"
    limits = "Account|User|Share|GrpTRES|MaxTRES\nx||1|node=1,billing=100|\nx|a|1|node=1,cpu=4|cpu=2\n"
    found = read("slurm", saved(tmp_path, nodes=nodes, jobs=ONE_JOB, limits=limits))
    assert found.instance.organisation.ceilings == ({"cpu": 4},)
    for line in ("2 x GrpTRES of node (such as x)", "GrpTRES of billing (x)", "columns of limits (MaxTRES)"):
        assert f"not used: {line}" in told(found)
    dump = "Parent - 'root'\nAccount - 'x':Fairshare=2:GrpTRES=cpu=4:GrpJobs=7\nParent - 'x'\nUser - 'a':Fairshare=1\n"
    found = read("slurm", saved(tmp_path, nodes=nodes, jobs=ONE_JOB, limits=dump))
    assert found.instance.organisation.groups[0].ceiling == {"cpu": 4}
    assert "not used: GrpJobs of an account or user (x)" in told(found)
    unset = {"set": False, "infinite": True, "number": 0}
    largest = {
        "jobs": {"total": {"set": True, "number": 3}, "active": unset},
        "per": {"account": {"wall_clock": unset}},
    }
    largest |= {"tres": {"total": [{"type": "cpu", "name": "", "count": 4}], "per": {"job": [{"type": "cpu"}]}}}
    one = {"account": "x", "user": "a", "parent_account": "", "shares_raw": 1, "max": largest}
    found = read("slurm", saved(tmp_path, nodes=nodes, jobs=ONE_JOB, limits=json.dumps({"associations": [one]})))
    assert found.instance.organisation.ceilings == ({"cpu": 4},)
    assert [str(note) for note in found.notes if "account or user" in str(note)] == [
        "not used: max.tres.per of an account or user (a)",
        "not used: max.jobs of an account or user (a)",
    ]


def test_accounts_are_groups_where_a_file_lists_them(tmp_path: Path) -> None:
    nodes = "NodeName=n[1-3] CPUs=8 RealMemory=9000\nPartitionName=p Nodes=ALL\n"
    alone = "users are compared one by one, whatever their accounts: give sshare -a -P"
    assert alone not in told(read("slurm", saved(tmp_path, nodes=nodes, jobs=ONE_JOB)))
    jobs = ONE_JOB + "2|b|y|p|PENDING|1|1|1G|N/A\n3|c|y|p|PENDING|1|1|1G|N/A\n"
    found = read("slurm", saved(tmp_path, nodes=nodes, jobs=jobs))
    assert alone in told(found) and not found.instance.organisation
    assert alone not in told(read("slurm", saved(tmp_path, nodes=nodes, jobs=jobs), "account"))
    shares = "Account|User|RawShares\nx||1\nx|a|1\ny||1\ny|b|1\ny|c|1\n"
    found = read("slurm", saved(tmp_path, nodes=nodes, jobs=jobs, shares=shares))
    assert alone not in told(found) and found.instance.organisation.paths == ("x", "y", "y")


MIXED = "NODELIST|CPUS|MEMORY|GRES|PARTITION|STATE\nn1|64|512000|gpu:a100:2,gpu:h100:6|gpu|idle\n"
EACH_ITS_OWN = MIXED.replace(",gpu:h100:6", "") + "n2|64|512000|gpu:h100:6|gpu|idle\n"
TYPED_JOBS = """\
JOBID|USER|ACCOUNT|PARTITION|STATE|NODES|CPUS|MIN_MEMORY|TRES_PER_NODE
1|ann|phys|gpu|PENDING|1|1|1G|gres/gpu:a100:4
2|bob|phys|gpu|PENDING|1|1|1G|gres/gpu:h100:1
3|bob|phys|gpu|PENDING|1|1|1G|gres/gpu:h100:1
4|cid|phys|gpu|PENDING|1|1|1G|gres/gpu:7
"""
ANY, A100, H100 = "gres/gpu", "gres/gpu:a100", "gres/gpu:h100"


def test_types_of_devices_on_one_node_are_resources_of_their_own(tmp_path: Path) -> None:
    found = read("slurm", saved(tmp_path, nodes=MIXED, jobs=TYPED_JOBS))
    assert found.instance.resources == ("cpu", "mem", ANY, A100, H100)
    assert found.instance.exact_capacity == (64, 512000, 8, 2, 6)
    assert [row[2:] for row in found.instance.exact_demands] == [(4, 4, 0), (1, 0, 1), (7, 0, 0)]
    assert "has 2gpu:a100 of 4gpu:a100 (ann)" in told(found)
    assert f"assumed: {A100} is a resource of its own beside {ANY}: some node has others too" in told(found)
    tasks = drfopt.solve(found.instance, integer=True).tasks.tolist()
    assert tasks in ([0, 1, 1], [0, 2, 0]), "seven of any type leave one of eight"
    found = read("slurm", saved(tmp_path, nodes=EACH_ITS_OWN, jobs=TYPED_JOBS))
    assert found.instance.resources == ("cpu", "mem", ANY), "which nodes a job may use says it all"


@pytest.mark.parametrize(
    ("nodes", "jobs", "limit", "ceiling", "note"),
    {
        "of one node": (MIXED, TYPED_JOBS, f"{A100}=1,{H100}=2", {A100: 1, H100: 2}, "job that names no type"),
        "of one node, and any": (MIXED, TYPED_JOBS, f"{ANY}=5,{H100}=2", {ANY: 5, H100: 2}, "job that names no type"),
        "of other nodes": (EACH_ITS_OWN, TYPED_JOBS, f"{H100}=1", {H100: 1}, "a limit is on it"),
        "that nobody asks for": (
            MIXED,
            TYPED_JOBS.replace("a100:4", "h100:4"),
            f"{A100}=1",
            {},
            f"not used: limit on a type of device: no job names it ({A100} of bob)",
        ),
        "that every device is of": (MIXED.replace("h100", "a100"), TYPED_JOBS, f"{A100}=3,{ANY}=4", {ANY: 3}, ""),
        "that no node tells": (
            MIXED.replace(":a100:2,gpu:h100", ""),
            TYPED_JOBS,
            f"{A100}=1",
            {},
            f"limit on a type of device: no node tells its own ({A100} of bob)",
        ),
    }.values(),
)
def test_a_limit_on_a_type_bounds_that_type(tmp_path: Path, nodes, jobs, limit, ceiling, note) -> None:
    limits = f"Account|User|Share|GrpTRES\nphys|||\nphys|bob|1|{limit}\n"
    found = read("slurm", saved(tmp_path, nodes=nodes, jobs=jobs, limits=limits))
    users = found.instance.users
    assert dict(zip(users, found.instance.organisation.ceilings, strict=True)).get("bob", {}) == ceiling
    assert set(found.instance.resources) == {"cpu", "mem", ANY} | {r for r in (A100, H100) if r in told_own(found)}
    assert note in told(found)


def told_own(found) -> set[str]:
    return {str(note).split()[1] for note in found.notes if "is a resource of its own" in str(note)}


def test_types_of_devices_by_every_way_to_ask(tmp_path: Path) -> None:
    job = {"job_id": 1, "user_name": "ann", "account": "x", "partition": "gpu", "job_state": ["PENDING"]}
    job |= {"node_count": 2, "tres_req_str": "cpu=2,mem=2G,node=2,gres/gpu=4"}
    ways = {
        "of a node": json.dumps({"jobs": [job | {"tres_per_node": "gres/gpu:h100:2"}]}),
        "of a job": json.dumps({"jobs": [job | {"tres_per_job": "gres/gpu:h100=4"}]}),
        "of a task": json.dumps({"jobs": [job | {"tres_per_task": "cpu=1,gres/gpu:h100=2"}]}),
        "in its TRES": json.dumps({"jobs": [job | {"tres_req_str": "cpu=2,mem=2G,gres/gpu:h100=4"}]}),
        "as text": "JOBID|USER|PARTITION|STATE|NODES|CPUS|MIN_MEMORY|TRES_PER_JOB\n1|a|gpu|PD|2|2|1G|gres:gpu:h100:4\n",
        "by scontrol": (
            "JobId=1 UserId=ann(7) JobState=PENDING Partition=gpu NumNodes=2 NumCPUs=2 "
            "ReqTRES=cpu=2,mem=2G,node=2,gres/gpu=4 TresPerJob=gres/gpu:h100:4\n"
        ),
        "of what it has": (
            "JobIDRaw|User|Partition|State|NNodes|ReqTRES|AllocTRES|NodeList\n"
            f"1|ann|gpu|RUNNING|2|cpu=2,{H100}=4|cpu=2,mem=2G,gres/gpu=4,{H100}=4|n[1-2]\n"
        ),
    }
    nodes = MIXED.replace("n1|", "n[1-2]|")
    for way, jobs in ways.items():
        found = read("slurm", saved(tmp_path, nodes=nodes, jobs=jobs)).instance
        assert (found.resources, found.exact_demands) == (("cpu", "mem", ANY, H100), ((1, 1024, 2, 2),)), way
        assert found.max_tasks == (2,)


def test_types_of_devices_of_machines_of_another_file(tmp_path: Path) -> None:
    jobs = saved(tmp_path, jobs=TYPED_JOBS)
    counted = f"machine,cpu,mem,{A100},{H100}\nn1,64,512000,2,6\n"
    found = read("slurm", jobs, machines=saved(tmp_path, **{"counted.csv": counted})[0]).instance
    assert [found.exact_capacity[found.resources.index(name)] for name in (ANY, A100, H100)] == [8, 2, 6]
    labelled = "machine,cpu,memory,gpu,label:gres\nn1,64,500Gi,8,gpu:a100+gpu:h100\n"
    found = read("slurm", jobs, machines=saved(tmp_path, **{"labelled.csv": labelled})[0])
    assert found.instance.resources == ("cpu", "mem", ANY)
    assert "machine with several types of a device: each may be all of them, as none is counted (n1)" in told(found)


def test_what_nodes_of_an_entry_have_at_least_by_text_and_json(tmp_path: Path) -> None:
    entry = {"nodes": {"nodes": ["n1", "n2"]}, "partition": {"name": "p"}, "node": {"state": ["IDLE"]}}
    entry |= {
        "cpus": {"minimum": 8, "maximum": 16},
        "memory": {"minimum": 1000, "maximum": 1000},
        "gres": {"total": ""},
    }
    text = "NODELIST|CPUS|MEMORY|GRES|PARTITION|STATE\nn[1-2]|8+|1000|(null)|p|idle\n"
    for nodes in (json.dumps({"sinfo": [entry]}), text):
        found = read("slurm", saved(tmp_path, nodes=nodes, jobs=ONE_JOB))
        assert found.instance.exact_capacity == (16, 2000)
        assert "2 x node has no more than the least of its line: give sinfo -N (such as n1)" in told(found)


def test_a_limit_on_everybody_is_told(tmp_path: Path) -> None:
    nodes = "NodeName=n[1-3] CPUs=8 RealMemory=9000\nPartitionName=p Nodes=ALL\n"
    dump = "Cluster - 'c':Fairshare=1:GrpTRES=cpu=4\nParent - 'root'\nUser - 'root':AdminLevel='Administrator'\n"
    for limits in ("Account|User|Share|GrpTRES\nroot||1|cpu=4\nx|||\n", dump + "Account - 'x':Fairshare=1\n"):
        found = read("slurm", saved(tmp_path, nodes=nodes, jobs=ONE_JOB, limits=limits))
        assert "not used: GrpTRES of root, for all accounts together (cpu=4)" in told(found)


def test_shards_are_parts_of_devices(tmp_path: Path) -> None:
    nodes = "NODELIST|CPUS|MEMORY|GRES|PARTITION|STATE\nn1|8|9000|gpu:2,shard:8|p|idle\n"
    jobs = ONE_JOB.replace("N/A", "gres/shard:1")
    note = "gres/shard is counted beside gres/gpu, of which it is a part in Slurm"
    assert note not in told(read("slurm", saved(tmp_path, nodes=nodes, jobs=jobs)))
    jobs += "2|b|x|p|PENDING|1|1|1G|gres/gpu:1\n"
    assert note in told(read("slurm", saved(tmp_path, nodes=nodes, jobs=jobs)))


GPU_NODE = "NODELIST|CPUS|MEMORY|GRES|PARTITION|STATE\nn1|8|9000|gpu:2|p|idle\n"


def test_jobs_of_an_array_that_are_none_yet_are_told_by_its_name(tmp_path: Path) -> None:
    """``JobIDRaw`` of them all is that of the array."""
    waiting = "1003_[2-20%4]|1003|ann|p|PENDING|1|cpu=1,mem=1G,node=1||None assigned\n"
    running = "1003_1|1010|ann|p|RUNNING|1|cpu=1,mem=1G,node=1|cpu=1,mem=1G,node=1|n1\n"
    jobs = "JobID|JobIDRaw|User|Partition|State|NNodes|ReqTRES|AllocTRES|NodeList\n" + waiting + running
    queue = "JOBID|USER|PARTITION|STATE|NODES|CPUS|MIN_MEMORY\n1003_[5-20%4]|ann|p|PD|1|1|1G\n1003_1|ann|p|R|1|1|1G\n"
    shown = "JobId=1010 ArrayJobId=1003 ArrayTaskId=1 UserId=ann(7) JobState=RUNNING ReqTRES=cpu=1,mem=1G,node=1\n"
    number = {"set": True, "number": 1003}
    job = {"job_id": 1010, "array_job_id": number, "array_task_id": number | {"number": 1}, "job_state": ["RUNNING"]}
    listed = json.dumps({"jobs": [job | {"user_name": "ann", "tres_req_str": "cpu=1,mem=1G,node=1"}]})
    for files in ({}, {"b": queue}, {"b": shown}, {"b": listed}):
        found = read("slurm", saved(tmp_path, nodes=GPU_NODE, a=jobs, **files))
        assert found.instance.max_tasks == (20,)
    raw = re.sub("(?m)^[^|]*[|]", "", jobs)
    found = read("slurm", saved(tmp_path, nodes=GPU_NODE, jobs=raw))
    assert found.instance.max_tasks == (2,)
    assert "waiting job is no array of jobs: JobID tells, and JobIDRaw does not (1003)" in told(found)


@pytest.mark.parametrize(
    ("text", "key", "note"),
    [
        (
            "OverSubscribe=NO",
            {"exclusive": ["true"]},
            "job that has its nodes for itself: it takes what it asks for (1)",
        ),
        ("OverSubscribe=OK", {"exclusive": ["false"]}, None),
        ("MinTmpDiskNode=100G", {"minimum_tmp_disk_per_node": 102400}, "disk for temporary files of a job (1)"),
        ("MinTmpDiskNode=0", {"minimum_tmp_disk_per_node": 0}, None),
        ("Reason=Dependency", {"state_reason": "Dependency"}, "dependency of a job: it is there at once (1)"),
        ("Licenses=ansys:1", {"licenses": "ansys:1"}, "licence of a job (1)"),
        ("Reason=BeginTime", {"state_reason": "BeginTime"}, "time before which a job does not begin"),
    ],
)
def test_what_no_instance_can_say_of_a_job_is_told(tmp_path: Path, text: str, key: dict, note: str | None) -> None:
    shown = f"JobId=1 UserId=ann(7) JobState=PENDING Partition=p ReqTRES=cpu=1,mem=1G,node=1 {text}\n"
    job = {"job_id": 1, "user_name": "ann", "job_state": ["PENDING"], "tres_req_str": "cpu=1,mem=1G,node=1"} | key
    for jobs in (shown, json.dumps({"jobs": [job]})):
        lines = told(read("slurm", saved(tmp_path, nodes=GPU_NODE, jobs=jobs)))
        assert note in lines if note else "of a job" not in lines and "job that" not in lines


def test_columns_of_squeue_say_what_no_instance_can(tmp_path: Path) -> None:
    jobs = "JOBID|USER|PARTITION|STATE|NODES|CPUS|MIN_MEMORY|OVER_SUBSCRIBE|REASON\n"
    jobs += "1|a|p|PD|1|1|1G|NO|Priority\n2|a|p|PD|1|1|1G|OK|DependencyNeverSatisfied\n"
    found = read("slurm", saved(tmp_path, nodes=GPU_NODE, jobs=jobs))
    assert found.instance.max_tasks == (1,)
    assert "not used: job that has its nodes for itself: it takes what it asks for (1)" in told(found)
    assert "not used: job whose dependency is never met (2)" in told(found)


def test_devices_that_tres_do_not_count_are_those_asked_for(tmp_path: Path) -> None:
    """``AccountingStorageTRES`` lists no devices by default."""
    shown = "JobId=1 UserId=a(7) JobState=PENDING Partition=p NumNodes=2 ReqTRES=cpu=2,mem=2G,node=2 "
    for way in ("TresPerNode=gres/gpu:1", "TresPerJob=gres/gpu:2"):
        found = read("slurm", saved(tmp_path, nodes=GPU_NODE, jobs=f"{shown}{way}\n")).instance
        assert (found.resources, found.exact_demands) == (("cpu", "mem", "gres/gpu"), ((1, 1024, 1),))
    found = read("slurm", saved(tmp_path, nodes=GPU_NODE, jobs=f"{shown}TresPerTask=gres/gpu:1\n"))
    assert "not used: devices for each task of a job: TRES tell how many it has (1)" in told(found)


def test_nodes_that_are_reserved_and_reservations_are_told(tmp_path: Path) -> None:
    reserved = GPU_NODE.replace("idle", "resv")
    entry = (
        "ReservationName=r Nodes=n1 NodeCnt=1 Features=(null) PartitionName=(null)\n   TRES=cpu=8\n   State=ACTIVE\n"
    )
    shown = "JobId=1 UserId=ann(7) JobState=PENDING Partition=p NumNodes=1 NumCPUs=1 MinMemoryNode=1G\n"
    listed = json.dumps({"reservations": [{"name": "r"}]})
    for more in (shown + entry, entry + shown, entry, listed):
        found = read("slurm", saved(tmp_path, nodes=reserved, jobs=ONE_JOB.replace("1|", "7|"), more=more))
        assert found.instance.exact_demands[0][0] == 1
        assert "not used: reservation: its nodes take any job (r)" in told(found)
        assert "assumed: node that is reserved takes any job (n1)" in told(found)
        assert ("ann" in found.instance.users) == (shown in more)


@pytest.mark.parametrize("last", ["gres/gpu:p40:4 n1", "gres/gpu:a100_80gb:4"])
def test_columns_of_squeue_without_a_width_cut_nothing_off(tmp_path: Path, last: str) -> None:
    """``squeue -o '... %b'`` puts one space between columns, wherever its header has them."""
    header = "JOBID USER PARTITION STATE NODES CPUS MIN_MEMORY TRES_PER_NODE" + " NODELIST" * (" " in last)
    row = f"1001 ann p RUNNING 1 4 8G {last}"
    node = GPU_NODE.replace("gpu:a100:", f"gpu:{last.split(':')[1]}:")
    found = read("slurm", saved(tmp_path, nodes=node, jobs=f"{header}\n{row}\n"))
    assert found.instance.users == ("ann",)


@pytest.mark.parametrize(
    ("cell", "pattern"),
    [
        ("cpu=16,mem=128G,node", "as wide as its column"),
        ("cpu=8,mem=64G,node=1", "as wide as its column"),
        ("cpu=8,mem=6G,node=1", None),
    ],
)
@pytest.mark.parametrize("end", [" " * 10, ""])
def test_a_list_of_tres_that_is_cut_off_is_refused(tmp_path: Path, cell: str, pattern: str | None, end: str) -> None:
    """``squeue -O`` prints 20 characters of it."""
    jobs = "".join(word.ljust(20) for word in ("JOBID", "USER", "PARTITION", "STATE")) + f"TRES_ALLOC{end}\n"
    jobs += "".join(word.ljust(20) for word in ("1", "ann", "p", "PENDING")) + f"{cell}\n"
    paths = saved(tmp_path, nodes=GPU_NODE, jobs=jobs)
    if pattern is None:
        assert read("slurm", paths).instance.exact_demands == ((8, 6144),)
        return
    with pytest.raises(InstanceError, match=pattern):
        read("slurm", paths)
    with pytest.raises(InstanceError, match="'node' without an amount: it is cut off"):
        tres("cpu=16,mem=128G,node", "here")


def test_partitions_reach_machines_of_another_file(tmp_path: Path) -> None:
    """By their names, their short names and their features."""
    conf = (
        "NodeSet=big Feature=fat\nPartitionName=p Nodes=n[1-2]\nPartitionName=q Nodes=n3\nPartitionName=r Nodes=big\n"
    )
    jobs = ONE_JOB + "2|b|x|q|PENDING|1|1|1G|N/A\n3|c|x|r|PENDING|1|1|1G|N/A\n"
    for end in ("", ".cluster.local"):
        table = (
            "machine,cpu,mem,label:feature\n"
            + "".join(f"n{k}{end},{k},9000,fat\n" for k in (1, 2))
            + f"n3{end},3,9000,\n"
        )
        found = read("slurm", saved(tmp_path, conf=conf, jobs=jobs), machines=saved(tmp_path, **{"m.csv": table})[0])
        assert found.instance.eligible.tolist() == [[True, True, False], [False, False, True], [True, True, False]]
    assert "no node tells its own" not in told(found)


@pytest.mark.parametrize(("listed", "said"), [("n1.cluster.local", "n1"), ("n1", "n1.cluster.local"), ("n1", "n1.a")])
def test_a_host_by_its_short_name_is_the_one_of_the_full_name(tmp_path: Path, listed: str, said: str) -> None:
    table = f"machine,cpu,mem\n{listed},8,9000\nn2,4,9000\n"
    jobs = f"JobID|User|State|NNodes|ReqTRES|NodeList\n1|ann|RUNNING|1|cpu=1,mem=1G|{said}\n"
    machines, tasks, jobs = saved(tmp_path, m=table, t=f"user,machine,cpu,mem\nann,{said},1,1024\n", jobs=jobs)
    for found in (read("csv", [machines, tasks]), read("slurm", jobs, machines=machines)):
        assert list(found.placement["ann"]) == [found.instance.machine_names[0]]
        assert f"machine is the one of that short name, or full name ({said}: {listed})" in told(found)


@pytest.mark.parametrize("listed", [("n1.a", "n1.b"), ("10.0.0.1", "n2")])
def test_a_short_name_of_several_hosts_or_of_an_address_is_none(tmp_path: Path, listed: tuple[str, str]) -> None:
    table = "machine,cpu\n" + "".join(f"{name},8\n" for name in listed)
    said = listed[0].partition(".")[0]
    files = {"m.csv": table, "t.csv": f"user,machine,cpu\nann,{said},1\n"}
    found = read("csv", saved(tmp_path, **files))
    assert not found.placement
    assert "running task counts as waiting" in told(found)


def test_memory_that_tres_do_not_list_is_what_the_job_asks_for(tmp_path: Path) -> None:
    shown = "JobId=1 UserId=a(7) JobState=PENDING Partition=p NumNodes=2 NumCPUs=8 TRES=cpu=8,node=2,billing=8 "
    for way in ("MinMemoryCPU=1G", "MinMemoryNode=4G"):
        found = read("slurm", saved(tmp_path, nodes=GPU_NODE, jobs=f"{shown}{way}\n")).instance
        assert (found.resources, found.exact_demands) == (("cpu", "mem"), ((4, 4096),))
    notes = told(read("slurm", saved(tmp_path, nodes=GPU_NODE, jobs=f"{shown}\n")))
    assert "assumed: job needs no memory: the columns do not tell (1)" in notes


def test_licences_among_tres_are_of_no_node(tmp_path: Path) -> None:
    jobs = "JobID|User|State|NNodes|ReqTRES\n7+1|a|PENDING|1|cpu=1,fs/lustre=2,license/matlab=1,mem=1G,node=1\n"
    found = read("slurm", saved(tmp_path, nodes=GPU_NODE, jobs=jobs))
    assert found.instance.resources == ("cpu", "mem")
    for line in ("license/matlab of a job: no node has it (7+1)", "fs/lustre of a job", "gang of a heterogeneous job"):
        assert f"not used: {line}" in told(found)


def test_scontrol_shows_jobs_in_detail(tmp_path: Path) -> None:
    """With ``-d`` it names the nodes, with what the job has on each."""
    shown = "JobId=1 UserId=a(7) JobState=RUNNING Partition=p\n   NodeList=n1\n   NumNodes=1 NumCPUs=4\n"
    shown += "   AllocTRES=cpu=4,mem=4G,node=1,gres/gpu=1\n   JOB_GRES=gpu:1\n"
    shown += "     Nodes=n1 CPU_IDs=0-3 Mem=4096 GRES=gpu:1(IDX:0)\n"
    found = read("slurm", saved(tmp_path, nodes=GPU_NODE, jobs=shown))
    assert found.instance.exact_demands == ((4, 4096, 1),)
    assert found.placement["a"] == {found.instance.machine_names[0]: 1}


def test_priorities_of_partitions_are_told_where_they_are_not_the_usual_ones(tmp_path: Path) -> None:
    part = "PartitionName=p Nodes=n1 PriorityJobFactor=1 PriorityTier={} State=UP TotalNodes=1\n"
    for tier, said in (("1", False), ("10", True)):
        found = read("slurm", saved(tmp_path, nodes=GPU_NODE, jobs=ONE_JOB, parts=part.format(tier)))
        assert ("prioritytier of partitions (p)" in told(found)) == said
        assert "priorityjobfactor" not in told(found)


def test_parts_of_a_heterogeneous_job_have_one_name_by_every_command(tmp_path: Path) -> None:
    number = {"set": True, "infinite": False, "number": 7}
    none = {"set": False, "infinite": False, "number": 0}
    job = {"job_id": 8, "user_name": "a", "job_state": ["PENDING"], "tres_req_str": "cpu=1,node=1"}
    job |= {
        "memory_per_node": number | {"number": 1024},
        "memory_per_cpu": none,
        "array_job_id": number | {"number": 0},
    }
    part = {"het_job_id": number, "het_job_offset": number | {"number": 1}, "array_task_id": none}
    of_sacct = {
        "het": {"job_id": 7, "job_offset": number | {"number": 1}},
        "array": {"job_id": 0, "task_id": none, "task": ""},
    }
    shown = "JobId=8 HetJobId=7 HetJobOffset=1 UserId=a(7) JobState=PENDING ReqTRES=cpu=1,mem=1G,node=1\n"
    listed = "JOBID|USER|STATE|NODES|CPUS|MIN_MEMORY\n7+1|a|PENDING|1|1|1G\n"
    ways = [shown, listed, *(json.dumps({"jobs": [job | more]}) for more in (part, of_sacct))]
    for way in ways:
        found = read("slurm", saved(tmp_path, nodes=GPU_NODE, jobs=way, more=shown))
        assert (found.instance.max_tasks, found.instance.exact_demands) == ((1,), ((1, 1024),))
        assert "not used: gang of a heterogeneous job: its parts start together or not at all (7+1)" in told(found)
    plain = job | {"het_job_id": number | {"number": 0}, "array_task_id": 0}
    found = read(
        "slurm", saved(tmp_path, nodes=GPU_NODE, jobs=json.dumps({"jobs": [plain]}), more=listed.replace("7+1", "8"))
    )
    assert found.instance.max_tasks == (1,)
    assert "gang" not in told(found)
