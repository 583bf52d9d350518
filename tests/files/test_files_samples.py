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
from drfopt.io.readers.conversion import POOL
from drfopt.io.readers.formats import FORMATS, read

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


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_read_written_and_read_again(tmp_path: Path, name: str) -> None:
    paths = []
    for i, content in enumerate(SAMPLES[name]):
        paths.append(tmp_path / f"file{i}")
        paths[-1].write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
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
