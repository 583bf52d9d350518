"""A small sample of every format: it is read, written as an instance file, read again, and says the same."""

import json
from pathlib import Path

import pytest
from kubernetes_objects import node, pod
from test_files_queues import cluster_queue, local_queue, quota, workload
from test_files_slurm import SACCT, SINFO, SSHARE
from test_files_tables import MACHINES, ROLES, STATE, TASKS
from test_files_yarn import XML, app, apps, nodes, request
from test_files_yarn import node as yarn_node

from drfopt import solve
from drfopt.io.native import reading as reader
from drfopt.io.native import writing as writer
from drfopt.io.readers.asking import read
from drfopt.io.readers.conversion import POOL
from drfopt.io.readers.formats import FORMATS

LABELS = {"kai.scheduler/queue": "q", "queue": "root.q", "quota.scheduling.koordinator.sh/name": "q"}
PODS = {
    "kind": "List",
    "items": [
        node("n0"),
        node("n1", cpu="16"),
        pod("p", labels=LABELS, annotations={"scheduling.volcano.sh/queue-name": "q"}, on="n0"),
        pod("r", cpu="500m", labels=LABELS, annotations={"scheduling.volcano.sh/queue-name": "q"}),
    ],
}
SPEC = {"weight": 2, "deserved": {"cpu": "2"}, "min": {"cpu": "1"}, "resources": {"cpu": {"quota": 1000, "limit": -1}}}


def queue(api: str, kind: str = "Queue") -> dict:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": "q"}, "spec": SPEC}


SAMPLES = {
    "kubernetes": [PODS],
    "kueue": [
        {
            "kind": "List",
            "items": [
                cluster_queue("A", quota("9"), cohort="all"),
                local_queue("a", "A"),
                workload("w", "a", ("x", 2, "1"), ("y", 1, "2")),
            ],
        }
    ],
    "volcano": [PODS, queue("scheduling.volcano.sh/v1beta1")],
    "yunikorn": [PODS, "partitions: [{queues: [{name: root, queues: [{name: q, resources: {max: {vcore: 9}}}]}]}]"],
    "kai": [PODS, queue("scheduling.run.ai/v2")],
    "koordinator": [PODS, queue("scheduling.sigs.k8s.io/v1alpha1", "ElasticQuota")],
    "yarn": [XML, nodes(yarn_node("h1")), apps(app("a1", "root.eng.dev", request(2048, 1, 8)))],
    "slurm": [SINFO, SACCT, SSHARE],
    "mesos": [STATE, ROLES],
    "csv": [MACHINES, TASKS],
    "google2011": ["0,5,0,P,0.5,0.25\n", "0,,1,0,5,1,ann,3,9,0.1,0.2,0,0\n"],
    "alibaba2018": ["m_1,0,1,2,96,100,USING\n", "c_1,m_1,0,app,started,400,400,1.5\n"],
    "openb": [
        "sn,cpu_milli,memory_mib,gpu,model\nn,4000,4096,0,\n",
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,0,\n",
    ],
}


def test_every_format_has_a_sample() -> None:
    assert set(SAMPLES) == {row.name for row in FORMATS}


def written(folder: Path, name: str) -> list[Path]:
    """Return a sample as files."""
    paths = [folder / f"file{i}" for i in range(len(SAMPLES[name]))]
    for path, content in zip(paths, SAMPLES[name], strict=True):
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return paths


@pytest.mark.sampled(2)
@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.name)
def test_every_format_is_converted_in_every_way_or_refused_in_a_line(tmp_path: Path, row, invoke) -> None:
    files = [str(path) for path in written(tmp_path, row.name)]
    keys = [way.replace("KEY", "queue") for way in row.users]
    ways = [[], ["--saturate"], ["--saturate", "--shape", "cpu=1"], *(["--user-by", key] for key in keys)]
    answered = 0
    for way in [*ways, ["--current", str(tmp_path / "current.json")]]:
        instance = tmp_path / "cluster.toml"
        status, _, said = invoke("convert", "--from", row.name, *files, *way, "-o", str(instance))
        assert status in (0, 2), said
        if status == 2:
            assert len(said.splitlines()) == 1 and said.startswith("error: "), said
            continue
        answered += 1
        status, _, said = invoke("solve", str(instance), "--json")
        assert status in (0, 2) and "at fault" not in said, said
    assert answered


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_read_written_and_read_again(tmp_path: Path, name: str) -> None:
    paths = written(tmp_path, name)
    found = read(name, paths)
    instance = found.instance
    for form in ("toml", "json", "yaml"):
        assert reader.loads(writer.dumps(instance, form), form) == instance
    assert read(name, paths[::-1]).instance.exact_capacity == instance.exact_capacity
    for user, homes in found.placement.items():
        assert user in instance.users
        assert set(homes) <= set(instance.machine_names or [POOL])
        if user in found.by_type:
            types = {one.name for one in instance.task_types[instance.users.index(user)]}
            assert set(found.by_type[user]) <= types
    current = json.loads(json.dumps(found.current()))
    assert current["tasks" if instance.machines is None else "placement"].keys() == found.placement.keys()
    assert solve(instance).certificate.valid
