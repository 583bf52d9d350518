"""What is added to a cluster's own files: machines, tasks for empty queues; and what of the files fits nowhere."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from kubernetes_objects import node, pod, write

from drfopt import explain, rebalance, solve
from drfopt.base.errors import InstanceError
from drfopt.io.readers.asking import read

GIB = 2**30

CLUSTER = """
[[machines]]
name = "cpu"
count = 4
capacity = { cpu = 8, memory = "32Gi" }

[[machines]]
name = "gpu"
count = 2
capacity = { cpu = 16, memory = "64Gi", gpu = 4 }
"""

CONFIGURATIONS = {
    "yunikorn": "partitions: [{queues: [{name: root, queues: [{name: a}, {name: b}]}]}]",
    "kai": {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "a"}, "spec": {}},
    "volcano": {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "a"}, "spec": {}},
    "koordinator": {"apiVersion": "scheduling.sigs.k8s.io/v1alpha1", "kind": "ElasticQuota", "metadata": {"name": "a"}},
    "yarn": "<allocations><queue name='a'/><queue name='b'><weight>3</weight></queue></allocations>",
    "slurm": "Account|User|RawShares\nroot||1\n a||1\n b||3\n",
    "kueue": {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": "a"},
        "spec": {
            "cohortName": "all",
            "resourceGroups": [{"flavors": [{"name": "x", "resources": [{"name": "cpu", "nominalQuota": 4}]}]}],
        },
    },
    "mesos": {"roles": [{"name": "a", "weight": 1}, {"name": "b", "weight": 3}]},
    "kubernetes": {"kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "a"}, "spec": {"hard": {"cpu": 9}}},
}

WORDS = {
    "yarn": ("vcores", "memory-mb", "yarn.io/gpu", 2**20),
    "slurm": ("cpu", "mem", "gres/gpu", 2**20),
    "mesos": ("cpus", "mem", "gpus", 2**20),
}


def told(found) -> str:
    return "\n".join(map(str, found.notes))


def saved(path: Path, content: str | dict) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", CONFIGURATIONS)
def test_queues_alone_want_everything_of_machines_from_another_file(tmp_path: Path, kind: str) -> None:
    config, cluster = saved(tmp_path / "config", CONFIGURATIONS[kind]), saved(tmp_path / "cluster.toml", CLUSTER)
    with pytest.raises(
        InstanceError,
        match=r"list the tasks too, or say saturate \(--saturate\).*: its (1 queue wants|2 queues want) everything",
    ):
        read(kind, config, machines=cluster) if kind != "kueue" else read(
            "volcano", saved(tmp_path / "v", CONFIGURATIONS["volcano"]), machines=cluster
        )
    if kind not in ("kueue", "kubernetes"):  # quotas are a cluster where no other is known
        with pytest.raises(
            InstanceError, match=r"saturate: there is no machine, .* another file as machines \(--machines\)"
        ):
            read(kind, config, saturate=True)
    found = read(kind, config, saturate=True, machines=cluster)
    cpu, memory, gpu, unit = WORDS.get(kind, ("cpu", "memory", "nvidia.com/gpu", 1))
    total = dict(zip(found.instance.resources, found.instance.exact_capacity, strict=True))
    whole = {cpu: 64, memory: Fraction(256 * GIB, unit), gpu: 8}
    assert total == ({cpu: 64} if kind == "kueue" else whole), "a queue of Kueue may use what its quota covers"
    allocation = solve(found.instance)
    assert allocation.certificate.valid
    if kind not in ("kueue", "kubernetes"):  # a quota bounds these
        assert allocation.utilization == pytest.approx([1, 1, 1])
    if found.instance.n == 2 and kind != "yunikorn":
        assert allocation.usage[:, 0] == pytest.approx([16, 48]), "weights 1 and 3 of everything"
    assert "queue without tasks wants everything, in the mean shape of each kind of machines" in told(found)
    shaped = read(kind, config, saturate=True, machines=cluster, shape={"cpu": 2, "memory": "4Gi"})
    used = dict(zip(shaped.instance.resources, shaped.instance.exact_demands[0], strict=True))
    assert used == {cpu: 2} | ({} if kind == "kueue" else {memory: Fraction(4 * GIB, unit)})
    assert shaped.instance.exact_limits[0] in (None, Fraction(9, 2), 2), "without limit but the queue's ceiling"


def test_who_has_tasks_keeps_them(tmp_path: Path) -> None:
    queues = saved(tmp_path / "q.yaml", CONFIGURATIONS["yunikorn"])
    pods = write(tmp_path / "pods.json", node("n", cpu="8", memory="32Gi"), pod("p", labels={"queue": "root.a"}))
    found = read("yunikorn", [queues, pods], saturate=True, shape={"cpu": 1})
    assert dict(zip(found.instance.users, found.instance.exact_limits, strict=True)) == {"a": 1, "b": None}


def test_machines_may_be_a_table_a_pool_or_in_the_own_words(tmp_path: Path) -> None:
    config = saved(tmp_path / "q.xml", CONFIGURATIONS["yarn"])
    table = saved(tmp_path / "m.csv", "machine,count,cpu,memory\nx,3,8,32Gi\n")
    found = read("yarn", config, saturate=True, machines=table)
    assert [one.count for one in found.instance.machines] == [3]
    assert "machines: memory is called memory-mb here, 1/1048576 of it" in told(found)
    gpus = saved(tmp_path / "g.csv", "machine,cpu,nvidia.com/gpu\nx,8,4\n")
    assert "yarn.io/gpu" in read("yarn", config, saturate=True, machines=gpus).instance.resources
    pool = saved(tmp_path / "pool.toml", "[capacity]\ncpu = 24\nmemory = '96Gi'\n")
    assert read("yarn", config, saturate=True, machines=pool).instance.machines is None
    own = {"nodes": {"node": [{"id": "h", "totalResource": {"memory": 8192, "vCores": 8}}]}}
    found = read("yarn", config, saturate=True, machines=saved(tmp_path / "nodes.json", own))
    assert found.instance.exact_capacity == (8192, 8)
    with pytest.raises(InstanceError, match=r"memory of the whole cluster is 96 bytes: write it with its unit"):
        read("yarn", config, saturate=True, machines=saved(tmp_path / "m2.csv", "machine,cpu,memory\nx,8,96\n"))
    with pytest.raises(InstanceError, match=r"m3\.toml: machines\[0\].*: the key 'capacity' is missing"):
        read("yarn", config, saturate=True, machines=saved(tmp_path / "m3.toml", "[[machines]]\nname = 'x'\n"))
    none = saved(tmp_path / "m5.toml", "[[machines]]\nname = 'x'\ncount = 0\ncapacity = { cpu = 1 }\n")
    with pytest.raises(
        InstanceError, match=r"m5\.toml: machine class 'x': count is 0: write a whole number, 1 or more$"
    ):
        read("yarn", config, saturate=True, machines=none)
    with pytest.raises(InstanceError, match=r"m4\.toml: line 1, column 11"):
        read("yarn", config, saturate=True, machines=saved(tmp_path / "m4.toml", "[[machines]\nname = 'x'\n"))
    with pytest.raises(
        InstanceError, match=r"m5\.csv: has no column 'machine': write 'machine' for 'Machine' in line 1$"
    ):
        read("yarn", config, saturate=True, machines=saved(tmp_path / "m5.csv", "Machine,cpu\nx,8\n"))
    with pytest.raises(InstanceError, match=r"m6\.csv: line 1: is separated by ';'"):
        read("yarn", config, saturate=True, machines=saved(tmp_path / "m6.csv", "machine;cpu\nx;8\n"))


def test_labels_of_a_table_of_machines_count(tmp_path: Path) -> None:
    table = saved(tmp_path / "m.csv", "machine,count,cpu,memory,label:pool\nx,3,8,32Gi,slow\ny,1,8,32Gi,fast\n")
    pods = write(tmp_path / "pods.json", pod("p", nodeSelector={"pool": "fast"}), pod("q", "b"))
    found = read("kubernetes", pods, machines=table)
    assert found.instance.eligible.sum() == 3
    assert solve(found.instance).tasks.tolist() == [1, 1], "who says nothing of pods takes any number"
    assert "machines do not say how many pods they take: any number" in told(found)
    assert sorted(found.instance.counts.tolist()) == [1, 3]


@pytest.mark.parametrize("kind", ["kubernetes", "koordinator", "kueue"])
def test_a_quota_of_pods_holds_on_machines_that_take_any_number(tmp_path: Path, kind: str) -> None:
    """They count in no share: who is bounded by 4 of them has as little as before of all else."""
    quotas = {
        "kubernetes": [{"kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "a"}}],
        "koordinator": [{"kind": "ElasticQuota", "metadata": {"name": name, "namespace": name}} for name in "ab"],
    }
    quotas["kubernetes"][0]["spec"] = {"hard": {"pods": "4"}}
    quotas["koordinator"][0]["spec"], quotas["koordinator"][1]["spec"] = {"max": {"pods": "4"}}, {}
    items = quotas.get(kind, [])
    pods = [pod(f"{name}{i}", name, memory="") for name in "ab" for i in range(20)]
    if kind == "kueue":
        row = {"coveredResources": ["cpu", "pods"], "flavors": [{"name": "f", "resources": []}]}
        row["flavors"][0]["resources"] = [{"name": r, "nominalQuota": n} for r, n in (("cpu", "10"), ("pods", "4"))]
        api = {"apiVersion": "kueue.x-k8s.io/v1beta2"}
        queue = {"kind": "ClusterQueue", "metadata": {"name": "a"}, "spec": {"resourceGroups": [row]}}
        local = {"kind": "LocalQueue", "metadata": {"name": "q", "namespace": "a"}, "spec": {"clusterQueue": "a"}}
        items, pods = [api | queue, api | local], pods[:20]
        for one in pods:
            one["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "q"}
    table = saved(tmp_path / "m.csv", "machine,count,cpu\nx,2,8\n")
    found = read(kind, write(tmp_path / "k.json", *items, *pods), machines=table)
    assert found.instance.organisation.excluded == ("pods",)
    assert solve(found.instance, exact=True).tasks.tolist() == [4, 12][: found.instance.n]
    assert "nobody demands: pods" not in told(found)


def test_what_cannot_be_asked(tmp_path: Path) -> None:
    table = saved(tmp_path / "m.csv", "machine,cpu\nx,8\n")
    with pytest.raises(InstanceError, match="csv: has no use for saturate \\(--saturate\\): leave it out"):
        read("csv", table, saturate=True)
    with pytest.raises(InstanceError, match="openb: has no use for machines \\(--machines\\)"):
        read("openb", table, machines=table)
    config = saved(tmp_path / "q.yaml", CONFIGURATIONS["yunikorn"])
    with pytest.raises(InstanceError, match=r"shape \(--shape\) is of tasks that saturate \(--saturate\) makes"):
        read("yunikorn", config, shape={"cpu": 1}, machines=table)
    with pytest.raises(InstanceError, match=r"shape: no machine has 'gpus.x', they have cpu"):
        read(
            "kai",
            saved(tmp_path / "k", CONFIGURATIONS["kai"]),
            saturate=True,
            shape={"gpus.x": 1},
            machines=table,
        )
    with pytest.raises(InstanceError, match=r"shape: the task needs nothing"):
        read("yunikorn", config, saturate=True, shape={"cpu": 0}, machines=table)
    with pytest.raises(InstanceError, match=r": saturate: no queue is listed"):
        read("kubernetes", write(tmp_path / "n.json", node("n")), saturate=True)


# ---- what fits nowhere -------------------------------------------------------------------------------------


def test_one_impossible_type_does_not_take_the_others_with_it(tmp_path: Path) -> None:
    path = write(
        tmp_path / "list.json",
        node("n0", cpu="8"),
        node("n1", cpu="16", taints=[{"key": "gpu", "effect": "NoSchedule"}]),
        pod("small"),
        pod("large", cpu="64"),
        pod("lonely", nodeSelector={"disk": "ssd"}),
        pod("other", "b", cpu="4"),
    )
    found = read("kubernetes", path)
    assert found.instance.users == ("a", "b", "a: large", "a: lonely")
    allocation = solve(found.instance)
    assert allocation.certificate.valid
    assert allocation.tasks.tolist() == [1, 1, 0, 0]
    assert allocation.unplaced == ("a: large", "a: lonely")
    assert "fits nowhere: 8cpu-32GiB, the nearest class, has 8cpu of 64cpu (a: large)" in told(found)
    assert "has not disk In ssd (a: lonely)" in told(found)


def test_who_fits_nowhere_altogether_stays_one_user(tmp_path: Path) -> None:
    path = write(tmp_path / "list.json", node("n0"), pod("x", cpu="64"), pod("y", cpu="65"), pod("z", "b"))
    found = read("kubernetes", path)
    assert found.instance.users == ("a", "b")
    assert solve(found.instance).unplaced == ("a",)
    assert told(found).count("fits nowhere") == 2


def test_a_type_split_off_stays_in_its_group_and_is_promised_nothing(tmp_path: Path) -> None:
    queues = """
partitions:
- queues:
  - name: root
    queues:
    - {name: g, queues: [{name: a, resources: {guaranteed: {vcore: 4}, max: {vcore: 6}}}]}
    - name: b
"""
    path = write(
        tmp_path / "pods.json",
        node("n"),
        *(
            pod(f"p{i}", cpu=cpu, labels={"queue": f"root.{queue}"})
            for i, (cpu, queue) in enumerate([("9", "g.a"), ("1", "g.a"), ("1", "b")])
        ),
    )
    organisation = read("yunikorn", [saved(tmp_path / "q.yaml", queues), path]).instance.organisation
    assert organisation.paths == ("g", "", "g")
    assert organisation.guarantees == ({"cpu": 4}, {}, {})
    assert organisation.ceilings == ({"cpu": 6}, {}, {})


def test_a_running_pod_fits_where_it_runs(tmp_path: Path) -> None:
    path = write(
        tmp_path / "list.json",
        node("n0", cpu="1", labels={"pool": "new"}),
        node("n1", cpu="1", labels={"pool": "old"}),
        pod("p", cpu="2", on="n0", nodeSelector={"pool": "gone"}),
    )
    found = read("kubernetes", path)
    assert solve(found.instance).tasks.tolist() == [1]
    assert found.placement == {"a": {"2cpu-32GiB": 1}}
    assert "against its constraints of today (a/p on n0)" in told(found)
    assert "has no room for it (a/p on n0)" in told(found)


# ---- what runs in a pool -----------------------------------------------------------------------------------


def test_what_runs_in_a_pool_is_what_rebalance_reads(tmp_path: Path) -> None:
    queue = json.loads(json.dumps(CONFIGURATIONS["kueue"]))
    local = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue", "metadata": {"name": "l", "namespace": "a"}}
    local["spec"] = {"clusterQueue": "a"}

    def workload(name: str, count: int, admitted: bool) -> dict:
        status = {"conditions": [{"type": "Admitted", "status": "True"}]} if admitted else {}
        if admitted:
            status["admission"] = {
                "clusterQueue": "a",
                "podSetAssignments": [{"name": "main", "flavors": {"cpu": "x"}}],
            }
        sets = [{"name": "main", "count": count, "template": {"spec": pod("x", memory="")["spec"]}}]
        return {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "Workload",
            "metadata": {"name": name, "namespace": "a"},
            "spec": {"queueName": "l", "podSets": sets},
            "status": status,
        }

    del queue["spec"]["cohortName"]
    path = write(tmp_path / "k.json", queue, local, workload("w1", 3, True), workload("w2", 2, False))
    found = read("kueue", path)
    assert found.instance.machines is None
    assert found.current() == {"tasks": {"a": 3}}
    plain = found.instance.parts() | {"organisation": None}
    assert rebalance(type(found.instance)(**plain), found.current()).status == "optimal"


def test_what_is_missing_is_explained_where_users_have_types(tmp_path: Path) -> None:
    path = write(
        tmp_path / "list.json",
        node("n0", cpu="8"),
        node("n1", cpu="16", taints=[{"key": "gpu", "effect": "NoSchedule"}]),
        *(pod(f"p{i}", cpu=cpu) for i, cpu in enumerate(["1", "2", "64"])),
        *(pod(f"q{i}", "b", cpu=cpu) for i, cpu in enumerate(["12", "13"])),
    )
    told = str(explain(read("kubernetes", path).instance))
    assert "a machine of 16cpu-32GiB would have" not in told
    assert "a: p2: a machine of 8cpu-32GiB would have to have 64 of cpu instead of 8" in told
    assert "b: its task q0 fits on 16cpu-32GiB, which it may not use" in told, told


def test_who_wants_everything_fills_machines_of_unlike_proportions(tmp_path: Path) -> None:
    rows = "".join(f"m{i},{i + 1},{8 + 4 * (i % 3)},{16 * 2 ** (i % 5)}Gi,{i % 4}\n" for i in range(40))
    table = saved(tmp_path / "m.csv", "machine,count,cpu,memory,gpu\n" + rows)
    found = read("yarn", saved(tmp_path / "q.xml", CONFIGURATIONS["yarn"]), saturate=True, machines=table)
    assert len(found.instance.task_types[0]) <= 20
    used = solve(found.instance).utilization
    assert min(used) > 0.6
    few = saved(tmp_path / "f.csv", "machine,count,cpu,memory\na,3,8,16Gi\nb,2,8,64Gi\nc,1,7,1Gi\n")
    found = read("yarn", saved(tmp_path / "q.xml", CONFIGURATIONS["yarn"]), saturate=True, machines=few)
    assert solve(found.instance).utilization == pytest.approx([1, 1], abs=1e-5)
