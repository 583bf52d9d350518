"""Slurm: text and JSON of its commands, its amounts, its sets of hosts and of jobs."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from drfopt.base.errors import InstanceError
from drfopt.io.readers.formats import read
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
    assert tres("cpu=8,gres/gpu:a100=1,gres/gpu=1,mem=1.5G,node=2", "x") == (
        {"cpu": 8, "gres/gpu": 1, "mem": 1536},
        {"gpu:a100"},
    )
    assert tres("gres/gpu:a=1,gres/gpu:b=2,mem=512K", "x")[0] == {"gres/gpu": 3, "mem": Fraction(1, 2)}
    assert gres("gpu:a100:4(S:0-1),gpu:2,shard:8", "x") == ({"gres/gpu": 6, "gres/shard": 8}, {"gpu:a100"})
    assert gres("(null)", "x") == ({}, frozenset())
    assert [array_size(job, "x") for job in ("7", "7_[1-3]", "7_[1,5-6%1]", "7_2")] == [1, 3, 3, 1]


BAD = {
    "columns": ("sinfo", SINFO + "a|b\n", r"sinfo: line 7: has 2 columns, but there are 6"),
    "cpus": ("sinfo", SINFO.replace("|64|", "|many|"), r"line 1: CPUS is 'many': write a number"),
    "negative": ("sinfo", SINFO.replace("|64|", "|-64|"), r"CPUS is '-64': write 0 or more"),
    "tres": ("sacct", SACCT.replace("mem=64G", "mem=lots"), r"line 2: 'mem=lots' is no resource and amount"),
    "header": ("sacct", "JobId|Users\n1|2\n", r"line 1: is neither a header nor a row"),
    "hosts": ("sacct", SACCT.replace("|node01\n", "|node[1-\n"), None),
    "range": ("sacct", SACCT.replace("|node01\n", "|node[1-99999999]\n"), r"is no range of at most 1,000,000"),
    "array": ("sacct", SACCT.replace("1-3%2", "one"), r"'one' is no range of numbers"),
    "json": ("sacct", '{"steps": []}', "has neither nodes, sinfo, jobs nor shares"),
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
