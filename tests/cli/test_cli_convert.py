"""``drfopt convert``, ``formats`` and ``export`` as they are typed."""

import json
import tomllib
from pathlib import Path

import pytest

from drfopt import Instance
from drfopt.io.readers.formats import FORMATS
from drfopt.io.writers.exports import EXPORTS

GUIDE = Path(__file__).parents[2] / "docs/guides/real-clusters.md"

MACHINES = "machine,cpu,memory\nbig,9,18\n"
TASKS = "user,task,count,machine,cpu,memory\nA,a,3,big,1,4\nA,c,1,,2,4\nB,b,9,,3,1\n"


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / "machines.csv", tmp_path / "tasks.csv"]
    for path, text in zip(paths, (MACHINES, TASKS), strict=True):
        path.write_text(text)
    return paths


def test_formats_are_listed(drfopt):
    rows = json.loads(drfopt("formats", "--json").out)
    assert [row["format"] for row in rows] == [row.name for row in FORMATS]
    for row in FORMATS:
        assert row.name in drfopt("convert", "--help").out
    export, guide = drfopt("export", "--help").out, GUIDE.read_text(encoding="utf-8")
    for row in EXPORTS:
        assert row.name in export and f"`{row.name}`" in guide


def test_what_is_written_can_be_loaded_in_every_form(drfopt, tmp_path, files):
    printed = drfopt("convert", "--from", "csv", *files)
    assert printed.status == 0
    assert tomllib.loads(printed.out)["users"][0]["tasks"][1] == {
        "name": "c",
        "demand": {"cpu": 2, "memory": 4},
        "count": 1,
    }
    found = []
    for suffix in ("toml", "json", "yaml"):
        path = tmp_path / f"cluster.{suffix}"
        assert drfopt("convert", "--from", "csv", *files, "-o", path).status == 0
        found.append(Instance.load(path))
    assert found[0] == found[1] == found[2]


def test_what_runs_is_written_beside(drfopt, tmp_path, files):
    current = tmp_path / "current.json"
    assert drfopt("convert", "--from", "csv", *files, "-o", tmp_path / "c.toml", "--current", current).status == 0
    assert json.loads(current.read_text()) == {
        "placement": {"A": {"9cpu-18memory": 3}},
        "types": {
            "A": [
                {"name": "a", "tasks": 3, "of": 3, "placement": {"9cpu-18memory": 3}},
                {"name": "c", "tasks": 0, "of": 1, "placement": {}},
            ]
        },
    }


def test_what_is_not_used_is_told_and_kept_in_comments(drfopt, tmp_path, files):
    files[0].write_text("machine,cpu,memory,disk\nbig,9,18,100\n")
    path = tmp_path / "cluster.toml"
    ran = drfopt("convert", "--from", "csv", *files, "-o", path)
    noted, *cannot = ran.err.splitlines()
    assert noted == "not used: resource that nobody demands: disk"
    assert not cannot
    assert path.read_text().startswith("# not used: resource that nobody demands: disk\n\nname = ")


def test_convert_refuses(drfopt, refused, tmp_path, files):
    refused(drfopt("convert", "--from", "csv", *files, "--user-by", "team"), "users by 'team'", "leave it out")
    refused(drfopt("convert", "--from", "slurm", *files, "--user-by", "acount"), "user, account", "did you mean")
    refused(drfopt("convert", "--from", "kubernets", *files), "did you mean 'kubernetes'?")
    refused(drfopt("convert", "--from", "csv", files[0]), "no task of a user")
    refused(drfopt("convert", "--from", "csv", *files, "-o", tmp_path / "x.txt"), "'.txt'")
    refused(drfopt("convert", "--from", "csv", *files, "--current", tmp_path / "no" / "x"), "no folder")
    refused(drfopt("convert", "--from", "csv", *files, "--current", "-"), "'-' names nothing to write here")


def test_export_writes_to_a_file(drfopt, tmp_path):
    path = tmp_path / "queues.yaml"
    ran = drfopt("export", "nsdi2011", "--to", "kueue", "--resource", "memory=memory:Gi", "-o", path)
    assert (ran.status, ran.out) == (0, "")
    assert ran.err == "note: 'A' is called 'a' here\nnote: 'B' is called 'b' here\n", "names never change in silence"
    assert "nominalQuota: 12Gi" in path.read_text()


def test_export_takes_a_policy_and_whole_tasks(drfopt):
    ran = drfopt("export", "nsdi2011", "--to", "csv", "--policy", "asset", "--integer")
    assert ran.status == 0
    assert ran.out.splitlines()[0] == "user,tasks,cpu,memory"


def test_export_refuses(drfopt, refused):
    refused(drfopt("export", "nsdi2011", "--to", "kueu"), "there is no export 'kueu'", "did you mean 'kueue'?")
    refused(drfopt("export", "nsdi2011", "--to", "kueue"), "--resource memory=memory:Gi")
    refused(drfopt("export", "nsdi2011", "--to", "kueue", "--resource", "memory"), "write NAME=TARGET")
    refused(drfopt("export", "nsdi2012", "--to", "csv"), "did you mean 'nsdi2011'?")


@pytest.mark.parametrize("name", ["nsdi2011", "drfh-two-servers", "typed"])
def test_export_of_a_saved_answer_is_that_of_solving(drfopt, tmp_path, files, name):
    if name == "typed":
        name = tmp_path / "typed.toml"
        assert drfopt("convert", "--from", "csv", *files, "-o", name).status == 0
    answer = tmp_path / "answer.json"
    assert drfopt("solve", name, "--json", "-o", answer).status == 0
    solved = drfopt("export", name, "--to", "csv")
    assert solved.status == 0
    assert drfopt("export", name, "--to", "csv", "--answer", answer).out == solved.out


def test_an_answer_that_is_none_is_refused(drfopt, refused, tmp_path):
    answer = tmp_path / "answer.json"
    assert drfopt("solve", "nsdi2011", "--json", "-o", answer).status == 0
    document = json.loads(answer.read_text())

    def exported(text):
        answer.write_text(text)
        return drfopt("export", "nsdi2011", "--to", "csv", "--answer", answer)

    other = ("export", "nsdi2011-weighted", "--to", "csv", "--answer", answer)
    refused(drfopt(*other), "level of user 'A' is", "it is no answer for this instance")
    asked = drfopt("export", "nsdi2011", "--to", "csv", "--answer", answer, "--policy", "ceei")
    refused(asked, "is the answer of drf: leave --policy ceei out")
    document["users"][0]["tasks"] = 4
    refused(exported(json.dumps(document)), "capacity of", "is exceeded", "it is no answer for this instance")
    document["users"][0]["name"] = "C"
    refused(exported(json.dumps(document)), "'C' is not in this instance")
    refused(exported("{}"), "is no answer")
    refused(exported("[]"), "is no answer")
    refused(exported("null"), "is no answer")
    refused(exported('{"policy": "drf", "users": [{"name": "A", "tasks": "many"}]}'), "is 'many': write a number")


def test_queues_that_want_everything_of_another_files_machines(drfopt, tmp_path):
    queues, cluster, out = tmp_path / "q.yaml", tmp_path / "cluster.toml", tmp_path / "out.toml"
    queues.write_text("partitions: [{queues: [{name: root, queues: [{name: a}, {name: b}]}]}]")
    cluster.write_text("[[machines]]\nname = 'm'\ncount = 3\ncapacity = { cpu = 8, memory = '32Gi' }\n")
    given = ("convert", "--from", "yunikorn", queues, "--machines", cluster, "-o", out)
    refused = drfopt(*given)
    assert refused.status == 2
    assert "or say saturate (--saturate): its 2 queues want everything" in refused.err
    told = drfopt(*given, "--saturate", "--shape", "cpu=2,memory=4Gi")
    assert told.status == 0
    assert Instance.load(out).exact_demands == ((2, 2**32), (2, 2**32))
    assert "nodes 3, pods 0" in Instance.load(out).source
    assert json.loads(drfopt("solve", out, "--json").out)["certificate"]["valid"]
    assert "--shape 'cpu': write each resource once" in drfopt(*given, "--saturate", "--shape", "cpu").err
