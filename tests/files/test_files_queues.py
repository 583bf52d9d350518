"""Queues of Kueue, Volcano, YuniKorn, KAI and Koordinator: one tree of weights, minima and maxima by many names."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from kubernetes_objects import node, pod, write

from drfopt import Instance, solve
from drfopt.base.errors import InstanceError
from drfopt.io.native.writing import dumps
from drfopt.io.readers.asking import read
from drfopt.io.readers.conversion import Notes
from drfopt.io.readers.queues.tree import QueueNode, organised

GIB = 2**30


def told(found) -> str:
    return "\n".join(map(str, found.notes))


def saved(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


# ---- the tree ----------------------------------------------------------------------------------------------


def test_inner_queues_are_groups_and_leaves_are_users() -> None:
    queues = [
        QueueNode("root"),
        QueueNode("eng", "root", Fraction(2), {"cpu": Fraction(4)}),
        QueueNode("dev", "eng", Fraction(0), maximum={"cpu": Fraction(3)}, priority=1),
        QueueNode("sci", "root"),
    ]
    groups, members = organised(queues, ["dev", "sci"], Notes())
    assert groups == [{"name": "eng", "weight": 2, "guarantee": {"cpu": 4}}]
    assert members == {"dev": {"weight": 0, "ceiling": {"cpu": 3}, "tier": 1, "group": "eng"}, "sci": {}}


def test_a_root_with_a_bound_is_a_group() -> None:
    groups, members = organised(
        [QueueNode("root", maximum={"cpu": Fraction(8)}), QueueNode("a", "root")], ["a"], Notes()
    )
    assert groups == [{"name": "root", "ceiling": {"cpu": 8}}]
    assert members == {"a": {"group": "root"}}


def test_tasks_of_an_inner_queue_stand_beside_its_children() -> None:
    groups, members = organised([QueueNode("a"), QueueNode("b", "a")], ["a", "b"], Notes())
    assert [group["name"] for group in groups] == ["a"]
    assert members == {"a": {"group": "a"}, "b": {"group": "a"}}


def test_what_is_wrong_with_a_tree() -> None:
    with pytest.raises(InstanceError, match=r"queue 'a' is listed twice"):
        organised([QueueNode("a"), QueueNode("a")], [], Notes())
    with pytest.raises(InstanceError, match=r"queue '[ab]' is below itself"):
        organised([QueueNode("a", "b"), QueueNode("b", "a")], [], Notes())
    notes = Notes()
    _, members = organised(
        [QueueNode("a", "gone", minimum={"cpu": Fraction(3)}, maximum={"cpu": Fraction(2)})], ["x"], notes
    )
    assert members["a"] == {"guarantee": {"cpu": 2}, "ceiling": {"cpu": 2}, "group": "gone"}
    lines = [str(note) for note in notes.taken()]
    assert any("guarantee of cpu is cut to the ceiling" in line for line in lines)
    assert any("2 x queue that is named and not listed" in line for line in lines)


# ---- the cousins -------------------------------------------------------------------------------------------

NODES = [node("n0", cpu="20", memory="64Gi"), node("n1", cpu="20", memory="64Gi")]


def test_volcano(tmp_path: Path) -> None:
    queues = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: root-eng-dev
  annotations: {volcano.sh/hierarchy: root/eng/dev, volcano.sh/hierarchy-weights: 100/50/30}
spec:
  weight: 1
  parent: root-eng
  capability: {cpu: "20", memory: 40Gi}
  deserved: {cpu: "10"}
  guarantee: {resource: {cpu: "2"}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: default}
spec: {weight: 4, priority: 2}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: pg, namespace: a}
spec: {queue: root-eng-dev}
"""
    pods = write(
        tmp_path / "pods.json",
        *NODES,
        pod("p", annotations={"scheduling.volcano.sh/queue-name": "root-eng-dev"}),
        pod("q", annotations={"scheduling.k8s.io/group-name": "pg"}),
        pod("r", schedulerName="volcano"),
        pod("system", cpu="2", on="n0"),
    )
    found = read("volcano", [pods, saved(tmp_path / "queues.yaml", queues)])
    instance, organisation = found.instance, found.instance.organisation
    assert instance.users == ("root-eng-dev", "default")
    assert instance.exact_limits == (2, 1)
    assert instance.exact_weights == (30, 4)
    assert organisation.paths == ("eng", "")
    assert [(group.name, group.weight) for group in organisation.groups] == [("eng", 50)]
    assert organisation.guarantees[0] == {"cpu": 10}
    assert organisation.ceilings[0] == {"cpu": 20, "memory": 40 * GIB}
    assert organisation.tiers == (0, 2)
    assert [machine.count for machine in instance.machines] == [1, 1], "what is in no queue is subtracted from its node"
    assert "parent of a queue: its hierarchy is annotated too (root-eng-dev)" in told(found)
    assert "not used: weight of a queue: its hierarchy is annotated too (root-eng-dev)" in told(found)


def test_kai(tmp_path: Path) -> None:
    queues = """\
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: dept-1}
spec: {resources: {gpu: {quota: 8, overQuotaWeight: 1, limit: -1}}}
---
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: team-a}
spec:
  parentQueue: dept-1
  priority: 100
  resources:
    gpu: {quota: 4, overQuotaWeight: 2, limit: -1}
    cpu: {quota: 16000, overQuotaWeight: 2, limit: 32000}
    memory: {quota: -1, overQuotaWeight: 2, limit: -1}
"""
    wants = {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 1}, "requests": {"cpu": "4"}}}]}
    machine = node("g0")
    machine["status"]["allocatable"]["nvidia.com/gpu"] = "8"
    pods = write(tmp_path / "pods.json", machine, pod("p", labels={"kai.scheduler/queue": "team-a"}, **wants))
    found = read("kai", [saved(tmp_path / "q.yaml", queues), pods])
    organisation = found.instance.organisation
    assert organisation.guarantees == ({"cpu": 16, "nvidia.com/gpu": 4},)
    assert organisation.ceilings == ({"cpu": 32},)
    assert organisation.tiers == (0,), "which is what a Queue has that says nothing"
    below = read("kai", [saved(tmp_path / "q.yaml", queues.replace("priority: 100", "priority: 0")), pods])
    assert below.instance.organisation.tiers == (-100,)
    assert found.instance.exact_weights == (2,)
    assert organisation.groups[0].guarantee == {"nvidia.com/gpu": 8}
    assert "quota without bound: nothing is promised beyond a fair share (team-a)" in told(found)
    # Beyond a quota without bound there is nothing; beyond one with a bound a weight of 0 is no share.
    unbounded = queues.replace("memory: {quota: -1, overQuotaWeight: 2", "memory: {quota: -1, overQuotaWeight: 0")
    assert read("kai", [saved(tmp_path / "q.yaml", unbounded), pods]).instance.exact_weights == (2,)
    last = queues.replace("gpu: {quota: 4, overQuotaWeight: 2", "gpu: {quota: 4, overQuotaWeight: 0")
    found = read("kai", [saved(tmp_path / "q.yaml", last), pods])
    assert found.instance.organisation.last == (True,)
    assert "queue has weight 0 of nvidia.com/gpu, which its tasks need: it is served last (team-a)" in told(found)
    idle = unbounded.replace("memory: {quota: -1", "memory: {quota: 100")
    found = read("kai", [saved(tmp_path / "q.yaml", idle), pods])
    assert found.instance.exact_weights == ((2, 1, 2),), "its tasks need no memory: that weight has no say"


def test_what_a_queue_of_kai_does_not_say_is_what_kai_takes(tmp_path: Path) -> None:
    """A limit that is not written lets it have nothing beyond its quota, and so does a weight."""
    queues = """\
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: bare}
spec: {resources: {gpu: {quota: 2}, cpu: {quota: -1}}}
---
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: weightless}
spec: {resources: {gpu: {quota: 1, limit: -1}, cpu: {quota: -1, limit: -1}, memory: {quota: -1, limit: -1}}}
---
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: open}
spec: {resources: {gpu: {quota: 1, limit: -1, overQuotaWeight: 3}, cpu: {limit: -1}, memory: {limit: -1}}}
"""
    machine = node("g0")
    machine["status"]["allocatable"]["nvidia.com/gpu"] = "8"
    wants = {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 1}}}]}
    pods = [
        pod(f"{name}{i}", labels={"kai.scheduler/queue": name}, **wants)
        for name in ("bare", "weightless", "open")
        for i in range(8)
    ]
    found = read("kai", [saved(tmp_path / "q.yaml", queues), write(tmp_path / "p.json", machine, *pods)])
    assert "says nothing of memory may use any amount, where KAI lets it have none (bare)" in told(found)
    answer = solve(found.instance, exact=True)
    assert dict(zip(answer.users, answer.tasks.tolist(), strict=True)) == {"bare": 2, "weightless": 1, "open": 5}


@pytest.mark.parametrize(("policy", "tier"), [("", 5), ("priority.policy: fence, ", 2)])
def test_yunikorn_takes_a_parent_for_its_most_urgent_queue(tmp_path: Path, policy: str, tier: int) -> None:
    queues = f"""\
partitions:
- queues:
  - name: root
    queues:
    - name: a
      properties: {{{policy}priority.offset: "2"}}
      queues: [{{name: x, properties: {{priority.offset: "3"}}}}, {{name: y, properties: {{priority.offset: "-9"}}}}]
"""
    pods = write(tmp_path / "pods.json", *NODES, pod("p", labels={"queue": "root.a.x"}))
    found = read("yunikorn", [saved(tmp_path / "queues.yaml", queues), pods])
    organisation = found.instance.organisation
    assert [group.tier for group in organisation.groups] == [tier]
    assert organisation.tiers == (3,)
    urgent = "parent is as urgent as its most urgent queue, though no task may wait in that"
    assert (urgent in str(told(found))) == (not policy)


def test_queues_of_yunikorn_know_no_case(tmp_path: Path) -> None:
    queues = "partitions: [{queues: [{name: root, queues: [{name: Team-A, resources: {max: {vcore: 4}}}]}]}]"
    pods = write(tmp_path / "pods.json", *NODES, pod("p", labels={"queue": "root.team-A"}))
    found = read("yunikorn", [saved(tmp_path / "queues.yaml", queues), pods]).instance
    assert (found.users, found.organisation.ceilings) == (("team-a",), ({"cpu": 4},))


def test_what_names_no_parent_is_below_the_root_of_volcano(tmp_path: Path) -> None:
    def queue(name: str, **spec) -> dict:
        return {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "Queue",
            "metadata": {"name": name},
            "spec": spec,
        }

    names = ("plain", "said", "unlisted")
    pods = [pod(name, annotations={"scheduling.volcano.sh/queue-name": name}) for name in names]
    listed = [queue("root", capability={"cpu": "6"}), queue("plain"), queue("said", parent="root")]
    found = read("volcano", [write(tmp_path / "v.json", *NODES, *listed, *pods)]).instance
    assert dict(zip(found.users, found.organisation.paths, strict=True)) == dict.fromkeys(names, "root")


def test_yunikorn_as_a_file_and_in_its_config_map(tmp_path: Path) -> None:
    queues = """\
partitions:
- name: default
  queues:
  - name: root
    properties: {application.sort.policy: fair}
    queues:
    - name: team-a
      resources: {guaranteed: {vcore: "10", memory: 40Gi}, max: {vcore: "20", memory: 80Gi}}
      limits: [{users: ["alice"], maxresources: {vcore: "4"}}]
      queues: [{name: x, properties: {priority.offset: "3"}}]
    - {name: default}
"""
    pods = write(
        tmp_path / "pods.json",
        *NODES,
        pod("p", labels={"queue": "root.team-a.x"}),
        pod("q", annotations={"yunikorn.apache.org/queue": "team-a.x"}),
        pod("r", schedulerName="yunikorn"),
    )
    mapped = {"kind": "ConfigMap", "metadata": {"name": "yunikorn-configs"}, "data": {"queues.yaml": queues}}
    for file in (saved(tmp_path / "queues.yaml", queues), write(tmp_path / "map.json", mapped)):
        found = read("yunikorn", [file, pods])
        organisation = found.instance.organisation
        assert found.instance.users == ("team-a.x", "default")
        assert found.instance.exact_limits == (2, 1)
        assert organisation.paths == ("team-a", "")
        assert organisation.tiers == (3, 0)
        assert organisation.groups[0].guarantee == {"cpu": 10, "memory": 40 * GIB}
        assert organisation.groups[0].ceiling == {"cpu": 20, "memory": 80 * GIB}
        assert "limits of a queue (root.team-a)" in told(found)
        new = write(tmp_path / "new.json", *NODES, pod("p", labels={"queue": "root.team-a.new"}))
        assert read("yunikorn", [file, new]).instance.organisation.paths == ("team-a",)
    with pytest.raises(InstanceError, match=r"has neither a kind nor partitions"):
        read("yunikorn", [saved(tmp_path / "odd.yaml", "a: 1\n"), pods])


def test_koordinator(tmp_path: Path) -> None:
    prefix = "quota.scheduling.koordinator.sh"

    def quota(name: str, weights: dict, labels: dict | None = None, namespace: str = "x") -> dict:
        marks = {f"{prefix}/shared-weight": json.dumps(weights)} if weights else {}
        metadata = {"name": name, "namespace": namespace, "labels": labels or {}, "annotations": marks}
        spec = {"min": {"cpu": "4"}, "max": {"cpu": "30", "memory": "60Gi"}}
        return {"kind": "ElasticQuota", "metadata": metadata, "spec": spec}

    pods = write(
        tmp_path / "pods.json",
        *NODES,
        quota("top", {}),
        quota("a", {"cpu": "10", "memory": "10Gi"}, {f"{prefix}/parent": "top"}),
        quota("b", {"cpu": "30", "memory": "30Gi"}, {f"{prefix}/parent": "top"}, namespace="b"),
        pod("p", labels={f"{prefix}/name": "a"}),
        pod("q", namespace="b"),
    )
    found = read("koordinator", [pods])
    organisation = found.instance.organisation
    assert found.instance.users == ("a", "b")
    assert found.instance.exact_weights == (Fraction(1, 2), Fraction(3, 2))
    assert organisation.paths == ("top", "top")
    assert organisation.guarantees == ({"cpu": 4}, {"cpu": 4})


def test_shared_weights_of_koordinator_are_its_maximum_where_none_is_above_0(tmp_path: Path) -> None:
    """What is not named beside others weighs 0; a list of zeros is as good as none."""
    prefix = "quota.scheduling.koordinator.sh"

    def quota(name: str, weights: dict | None) -> dict:
        marks = {} if weights is None else {f"{prefix}/shared-weight": json.dumps(weights)}
        metadata = {"name": name, "namespace": name, "annotations": marks}
        return {"kind": "ElasticQuota", "metadata": metadata, "spec": {"max": {"cpu": "30", "memory": "60Gi"}}}

    def weights(**told: dict | None) -> list:
        quotas = [quota(name, one) for name, one in told.items()]
        pods = [pod(f"p{name}", namespace=name) for name in told]
        found = read("koordinator", [write(tmp_path / "k.json", *NODES, *quotas, *pods)])
        return [found.instance.exact_weights, found.instance.organisation.tiers if found.instance.organisation else ()]

    given = {"cpu": "10", "memory": "20Gi"}
    assert weights(a=None, b={"cpu": "0"}, c=given)[0] == (Fraction(9, 7), Fraction(9, 7), Fraction(3, 7))
    _, tiers = weights(a=given, b={"cpu": "20", "memory": "10Gi"}, c={"memory": "10Gi"})
    assert tiers == (0, 0, -1), "its tasks need cpu, of which it weighs nothing: it comes last"


def test_queues_alone_are_no_cluster(tmp_path: Path) -> None:
    queue = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "a"}}
    with pytest.raises(InstanceError, match="no task of a user is waiting or running"):
        read("volcano", [write(tmp_path / "q.json", queue)])
    # Of all notes those are told that are about a task.
    other = pod("p", on="n", priority=5)
    with pytest.raises(InstanceError, match=r"\(assumed: pod that stays where it is: subtracted from its node \(p\)\)"):
        read("volcano", [write(tmp_path / "q.json", queue, node("n"), other)])


def test_pods_of_another_scheduler_are_named_where_there_are_no_others(tmp_path: Path) -> None:
    ended = pod("e", phase="Succeeded")
    others = [pod(f"p{i}", phase="Pending") for i in range(3)]
    with pytest.raises(
        InstanceError, match=r"\(not used: 3 x pod that is no user's task .*; .* that has ended \(.*\)\)"
    ):
        read("yunikorn", [write(tmp_path / "q.json", *NODES, ended, *others)])


# ---- Kueue -------------------------------------------------------------------------------------------------


def quota(cpu, name="default", resource="cpu", **limits) -> dict:
    return {"name": name, "resources": [{"name": resource, "nominalQuota": cpu, **limits}]}


def cluster_queue(name: str, *flavors: dict, cohort="", weight=None, used=None, told=None, version="v1beta2") -> dict:
    spec = {"resourceGroups": [{"flavors": list(flavors)}]}
    if cohort:
        spec["cohortName" if version == "v1beta2" else "cohort"] = cohort
    if weight is not None:
        spec["fairSharing"] = {"weight": weight}
    status = {"flavorsUsage": [{"name": "default", "resources": [{"name": "cpu", "total": used}]}]} if used else {}
    if told is not None:
        status["fairSharing"] = {"weightedShare": told}
    api = f"kueue.x-k8s.io/{version}"
    return {"apiVersion": api, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec, "status": status}


def cohort(name: str, parent: str = "", *flavors: dict, weight="1") -> dict:
    spec = {"parentName": parent, "fairSharing": {"weight": weight}, "resourceGroups": [{"flavors": list(flavors)}]}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort", "metadata": {"name": name}, "spec": spec}


def local_queue(name: str, queue: str, namespace: str = "a") -> dict:
    metadata = {"name": name, "namespace": namespace}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": metadata,
        "spec": {"clusterQueue": queue},
    }


def workload(name: str, queue: str, *sets: tuple, admitted: str = "", finished: bool = False, **spec) -> dict:
    pod_sets = [
        {"name": label, "count": count, "template": {"spec": pod("x", cpu=cpu, memory="")["spec"]}}
        for label, count, cpu in sets
    ]
    conditions = [{"type": "Admitted", "status": "True"}] if admitted else []
    conditions += [{"type": "Finished", "status": "True"}] if finished else []
    status = {"conditions": conditions}
    if admitted:
        assigned = [{"name": label, "flavors": {"cpu": admitted}} for label, _, _ in sets]
        status["admission"] = {"clusterQueue": queue.upper(), "podSetAssignments": assigned}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": name, "namespace": "a"},
        "spec": {"queueName": queue, "podSets": pod_sets, **spec},
        "status": status,
    }


def test_a_group_that_no_queue_is_in_gets_no_tasks(tmp_path: Path) -> None:
    cohorts = [cohort("hollow"), cohort("lab", "eng", quota("2")), cohort("eng", "all")]
    listed = write(tmp_path / "q.json", *cohorts, cluster_queue("A", quota("8"), cohort="all"))
    found = read("kueue", [listed], saturate=True)
    assert found.instance.users == ("A",) and found.instance.capacity.tolist() == [10]
    assert [group.name for group in found.instance.organisation.groups] == ["all"]
    assert "3 x group that no queue is in (such as hollow)" in told(found)
    marks = {"quota.scheduling.koordinator.sh/is-parent": "true"}
    quotas = [{"kind": "ElasticQuota", "metadata": {"name": "empty", "labels": marks}}]
    quotas += [{"kind": "ElasticQuota", "metadata": {"name": "a"}}]
    found = read("koordinator", [write(tmp_path / "k.json", *NODES, *quotas)], saturate=True)
    assert found.instance.users == ("a",)


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_kueue_of_one_cohort_is_a_pool(tmp_path: Path, version: str) -> None:
    path = write(
        tmp_path / "kueue.json",
        cluster_queue("A", quota("9", borrowingLimit="3", lendingLimit="4"), cohort="all", weight="2", version=version),
        cluster_queue("B", quota("6"), cohort="all", version=version),
        local_queue("a", "A"),
        local_queue("b", "B"),
        workload("w1", "a", ("driver", 1, "1"), ("worker", 8, "2")),
        workload("w2", "b", ("main", 20, "1")),
        workload("w3", "b", ("main", 20, "1"), finished=True),
        workload("w4", "b", ("main", 20, "1"), active=False),
        workload("w5", "nowhere", ("main", 20, "1")),
        local_queue("z", "Z"),
        workload("w6", "z", ("main", 20, "1")),
    )
    found = read("kueue", [path])
    instance, organisation = found.instance, found.instance.organisation
    assert instance.machines is None
    assert instance.exact_capacity == (15,)
    assert instance.users == ("A", "B")
    assert [(one.name, one.count, one.demand[0]) for one in instance.task_types[0]] == [
        ("w1/driver", 1, 1),
        ("w1/worker", 8, 2),
    ]
    assert instance.max_tasks == (9, 20)
    assert instance.exact_weights == (2, 1)
    assert organisation.guarantees == ({"cpu": 9}, {"cpu": 6})
    assert organisation.ceilings == ({"cpu": 12}, {})
    assert not organisation.groups
    notes = told(found)
    for line in (
        "Workload that has ended (a/w3)",
        "Workload that is not active (a/w4)",
        "Workload whose queue is not listed (a/w5, queue 'nowhere')",
        "Workload whose ClusterQueue is not listed (a/w6, ClusterQueue 'Z')",
        "lendingLimit: the whole quota is lent while its queue does not need it (A)",
    ):
        assert line in notes, notes


def test_kueue_quota_that_an_idle_queue_does_not_lend_is_nobodys(tmp_path: Path) -> None:
    path = write(
        tmp_path / "kueue.json",
        cluster_queue("A", quota("10", borrowingLimit="5"), cohort="all"),
        cluster_queue("B", quota("4"), cohort="all"),
        cluster_queue("idle", quota("20", lendingLimit="8"), cohort="all"),
        local_queue("a", "A"),
        local_queue("b", "B"),
        workload("w1", "a", ("main", 30, "1")),
        workload("w2", "b", ("main", 30, "1")),
    )
    found = read("kueue", [path])
    # 10 + 4, and of the 20 the 8 that are lent.
    assert found.instance.exact_capacity == (22,)
    assert "quota that a queue without tasks does not lend is left out (idle)" in told(found)


def test_kueue_flavors_and_cohorts_are_classes(tmp_path: Path) -> None:
    path = write(
        tmp_path / "kueue.json",
        cluster_queue("A", quota("9", "spot"), quota("4", "demand"), cohort="left"),
        cluster_queue("B", quota("6", "spot"), cohort="left"),
        cluster_queue("C", quota("5")),
        cohort("left", "", quota("1", "spot")),
        local_queue("a", "A"),
        local_queue("b", "B"),
        local_queue("c", "C"),
        workload("w1", "a", ("main", 2, "2"), admitted="spot"),
        workload("w2", "b", ("main", 2, "3")),
        workload("w3", "c", ("main", 2, "1")),
    )
    found = read("kueue", [path])
    instance = found.instance
    assert dict(zip(instance.machine_names, [row[0] for row in instance.exact_machine_capacity], strict=True)) == {
        "left/spot-16cpu": 16,
        "left/demand-4cpu": 4,
        "C-5cpu": 5,
    }
    assert instance.eligible.tolist() == [[True, True, False], [True, False, False], [False, False, True]]
    assert found.placement == {"A": {"left/spot-16cpu": 2}}
    assert instance.organisation.ceilings[2] == {"cpu": 5}


def test_kueue_without_workloads(tmp_path: Path) -> None:
    queues = [cluster_queue("A", quota("9"), cohort="all", used="3"), cluster_queue("B", quota("6"), cohort="all")]
    found = read("kueue", [write(tmp_path / "q.json", *queues)])
    assert found.instance.exact_demands == ((3,), (6,))
    assert found.instance.exact_limits == (None, None)
    assert "no Workload is listed: a queue wants ever more of what it uses (A)" in told(found)
    assert "no Workload is listed: a queue wants ever more of what it has as quota (B)" in told(found)
    labelled = pod("p", labels={"kueue.x-k8s.io/queue-name": "a"}, memory="")
    listed = write(tmp_path / "p.json", *queues, local_queue("a", "A"), labelled, pod("q", namespace="b"))
    found = read("kueue", [listed])
    assert found.instance.users == ("A",)
    assert "pod in no queue that is listed (b/q)" in told(found)


SHARES = {
    "nothing borrowed": ([cluster_queue("A", quota("4"), cohort="all", used="4", told=0)], True),
    "without a cohort": ([cluster_queue("A", quota("4"), used="9", told=0)], True),
    # 2 above 4 of 10 that can be lent: 200 thousandths, halved by the weight.
    "borrowed": ([cluster_queue("A", quota("4"), cohort="all", used="6", told=100, weight="2")], True),
    "another number": ([cluster_queue("A", quota("4"), cohort="all", used="6", told=200, weight="2")], False),
    # Of 4 only 1 is lent: 2 above 4 of 1 + 6.
    "less is lent": ([cluster_queue("A", quota("4", lendingLimit="1"), cohort="all", used="6", told=286)], True),
    "older versions cut": ([cluster_queue("A", quota("4", lendingLimit="1"), cohort="all", used="6", told=285)], True),
    "weight 0": ([cluster_queue("A", quota("4"), cohort="all", used="6", told=2**63 - 1, weight="0")], True),
    # Below a cohort that lends 2 of its 10 + 4: the local part is 12, the root has 2 + 6.
    "two floors": (
        [
            cluster_queue("A", quota("4"), cohort="inner", used="8", told=200),
            cohort("inner", "all", quota("10", lendingLimit="2")),
        ],
        True,
    ),
}


def test_kueue_counts_parts_of_gpus_as_its_quotas_do(tmp_path: Path) -> None:
    asked = {"nvidia.com/gpu": "1", "nvidia.com/gpucores": "30"}
    sharing = pod("p", labels={"kueue.x-k8s.io/queue-name": "a"})
    sharing["spec"]["containers"][0]["resources"] = {"requests": asked}
    queue = cluster_queue("A", quota("9"))
    group = queue["spec"]["resourceGroups"][0]
    group["coveredResources"] = [*asked]
    group["flavors"][0]["resources"] = [{"name": name, "nominalQuota": "60"} for name in asked]
    found = read("kueue", [write(tmp_path / "q.json", queue, local_queue("a", "A"), sharing)])
    assert found.instance.demands.tolist() == [[1, 30]]
    assert found.instance.exact_capacity == (60, 60)


@pytest.mark.parametrize(("items", "same"), SHARES.values(), ids=SHARES)
def test_kueue_shares_are_computed_again(tmp_path: Path, items: list, same: bool) -> None:
    path = write(tmp_path / "kueue.json", *items, cluster_queue("Z", quota("6"), cohort="all"))
    notes = told(read("kueue", [path]))
    assert ("weighted share in the status is not what these quotas give" in notes) is not same, notes


def test_kueue_refuses(tmp_path: Path) -> None:
    with pytest.raises(InstanceError, match=r"n\.json: no ClusterQueue is listed: give"):
        read("kueue", [write(tmp_path / "n.json", node("n"))])
    twice = write(tmp_path / "t.json", *[cluster_queue("A", quota("1"))] * 2)
    assert "ClusterQueue that was listed before (default/A)" in told(read("kueue", [twice]))
    circle = [cohort("x", "y"), cohort("y", "x"), cluster_queue("A", quota("1"), cohort="x")]
    with pytest.raises(InstanceError, match=r"cohort '[xy]' is below itself"):
        read("kueue", [write(tmp_path / "c.json", *circle)])
    with pytest.raises(InstanceError, match=r"nominalQuota: 'many' is not a number"):
        read("kueue", [write(tmp_path / "m.json", cluster_queue("A", quota("many")))])


def test_kueue_pool_is_solved_once_without_promises(tmp_path: Path) -> None:
    queues = [cluster_queue("A", quota("9"), used="3"), local_queue("a", "A"), workload("w", "a", ("main", 4, "2"))]
    instance = read("kueue", [write(tmp_path / "q.json", *queues)]).instance
    assert instance.organisation.ceilings == ({"cpu": 9},)
    plain = type(instance)(instance.demands, instance.capacity, max_tasks=instance.limits)
    assert solve(plain).tasks.tolist() == [4]


# ---- what makes pods ---------------------------------------------------------------------------------------

TEMPLATE = {"spec": pod("x", memory="")["spec"]}


def owner(api: str, kind: str, spec: dict, name: str = "o", **metadata) -> dict:
    metadata = {"name": name, "namespace": "a", "labels": {"kueue.x-k8s.io/queue-name": "a"}} | metadata
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec}


OWNERS = {
    "Job": (owner("batch/v1", "Job", {"parallelism": 5, "completions": 3, "suspend": True, "template": TEMPLATE}), 3),
    "Job of which some is done": (
        owner("batch/v1", "Job", {"parallelism": 5, "completions": 6, "suspend": True, "template": TEMPLATE})
        | {"status": {"succeeded": 4}},
        2,
    ),
    "JobSet": (
        owner(
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            {
                "replicatedJobs": [
                    {"name": "w", "replicas": 2, "template": {"spec": {"parallelism": 4, "template": TEMPLATE}}}
                ]
            },
        ),
        8,
    ),
    "RayJob": (
        owner(
            "ray.io/v1",
            "RayJob",
            {
                "rayClusterSpec": {
                    "headGroupSpec": {"template": TEMPLATE},
                    "workerGroupSpecs": [{"groupName": "g", "replicas": 3, "template": TEMPLATE}],
                }
            },
        ),
        4,
    ),
    "PyTorchJob": (
        owner(
            "kubeflow.org/v1",
            "PyTorchJob",
            {
                "pytorchReplicaSpecs": {
                    "Master": {"template": TEMPLATE},
                    "Worker": {"replicas": 2, "template": TEMPLATE},
                }
            },
        ),
        3,
    ),
    "LeaderWorkerSet": (
        owner(
            "leaderworkerset.x-k8s.io/v1",
            "LeaderWorkerSet",
            {"replicas": 2, "leaderWorkerTemplate": {"size": 3, "workerTemplate": TEMPLATE}},
        ),
        6,
    ),
    "AppWrapper": (
        owner(
            "workload.codeflare.dev/v1beta2",
            "AppWrapper",
            {"components": [{"template": owner("batch/v1", "Job", {"parallelism": 4, "template": TEMPLATE})}]},
        ),
        4,
    ),
    "Deployment": (owner("apps/v1", "Deployment", {"replicas": 2, "template": TEMPLATE}), 2),
}


@pytest.mark.parametrize("kind", OWNERS)
def test_the_label_of_an_owner_says_the_queue_of_its_pods(tmp_path: Path, kind: str) -> None:
    item, count = OWNERS[kind]
    queues = [cluster_queue("A", quota("9")), local_queue("a", "A")]
    found = read("kueue", [write(tmp_path / "k.json", *queues, item)])
    assert found.instance.users == ("A",)
    assert found.instance.max_tasks == (count,)
    # Pods of it that are listed have the label of their owner, and are not counted twice.
    reference = [{"kind": item["kind"], "name": "o"}]
    listed = pod("p", memory="", ownerReferences=reference)
    found = read("kueue", [write(tmp_path / "k2.json", *queues, item, listed)])
    assert found.instance.max_tasks == (1,)


def test_the_priority_of_an_owner_is_told(tmp_path: Path) -> None:
    mark = "kueue.x-k8s.io/priority-class"
    job = owner("batch/v1", "Job", {"parallelism": 2, "template": TEMPLATE})
    job["metadata"]["labels"] |= {mark: "research"}
    queues = [cluster_queue("A", quota("9")), local_queue("a", "A")]
    notes = told(read("kueue", [write(tmp_path / "k.json", *queues, job)]))
    assert f"not used: 2 x priority of a pod (label {mark}) (such as a/o)" in notes
    task = {"name": "w", "replicas": 3, "template": TEMPLATE}
    job = owner("batch.volcano.sh/v1alpha1", "Job", {"queue": "q", "priorityClassName": "high", "tasks": [task]})
    notes = told(read("volcano", [write(tmp_path / "v.json", *NODES, job)]))
    assert "not used: 3 x priority of a pod (such as a/o)" in notes


def test_a_suspended_job_waits_beside_the_pods_of_others(tmp_path: Path) -> None:
    queues = [cluster_queue("A", quota("9")), local_queue("a", "A")]
    running = owner("batch/v1", "Job", {"parallelism": 3, "template": TEMPLATE}, "r")
    waiting = owner("batch/v1", "Job", {"parallelism": 4, "suspend": True, "template": TEMPLATE}, "w")
    over = owner("batch/v1", "Job", {"parallelism": 7, "suspend": True, "template": TEMPLATE}, "e")
    over["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
    listed = pod("p", memory="", on="n", ownerReferences=[{"kind": "Job", "name": "r"}])
    replicas = {"Worker": {"replicas": 2, "template": TEMPLATE}}
    policy = {"runPolicy": {"suspend": True}, "pytorchReplicaSpecs": replicas}
    torch = owner("kubeflow.org/v1", "PyTorchJob", policy, "t")
    found = read("kueue", [write(tmp_path / "k.json", *queues, running, waiting, over, torch, listed)])
    assert found.instance.max_tasks == (7,)
    assert "Job that has ended (a/e)" in told(found)


def test_jobs_without_a_name_are_not_one(tmp_path: Path) -> None:
    queues = [cluster_queue("A", quota("9")), local_queue("a", "A")]
    jobs = []
    for _ in range(2):
        jobs.append(owner("batch/v1", "Job", {"parallelism": 2, "template": TEMPLATE}, generateName="run-"))
        del jobs[-1]["metadata"]["name"]
    found = read("kueue", [write(tmp_path / "k.json", *queues, *jobs)])
    assert found.instance.max_tasks == (4,)


def test_kueue_falls_back_on_quotas_flavor_by_flavor(tmp_path: Path) -> None:
    queue = cluster_queue("A", quota("9", "spot"), quota("4", "fixed"), cohort="all")
    found = read("kueue", [write(tmp_path / "k.json", queue, cluster_queue("B", quota("2", "spot"), cohort="all"))])
    assert found.instance.machine_names == ("all/spot-11cpu", "all/fixed-4cpu")
    allocation = solve(found.instance)
    assert allocation.certificate.valid
    assert not allocation.unplaced
    assert allocation.utilization == pytest.approx([1])


def test_a_job_of_volcano_is_known_by_its_version(tmp_path: Path) -> None:
    job = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "j", "namespace": "a"},
        "spec": {
            "queue": "q",
            "minAvailable": 2,
            "tasks": [
                {"name": "ps", "replicas": 1, "template": TEMPLATE},
                {
                    "name": "worker",
                    "replicas": 4,
                    "dependsOn": {"name": ["ps"]},
                    "template": {"spec": pod("x", cpu="2", memory="")["spec"]},
                },
            ],
        },
    }
    plain = owner("batch/v1", "Job", {"parallelism": 9, "template": TEMPLATE}, "k8s")
    group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup"}
    of_job = group | {"metadata": {"name": "j-1", "namespace": "a", "ownerReferences": [{"kind": "Job", "name": "j"}]}}
    of_job["spec"] = {"queue": "q", "minMember": 2, "minResources": {"cpu": "4"}}
    alone = group | {"metadata": {"name": "g", "namespace": "a"}}
    alone["spec"] = {"queue": "g", "minMember": 3, "minResources": {"cpu": "6"}}
    found = read("volcano", [write(tmp_path / "v.json", *NODES, job, plain, of_job, alone)])
    instance = found.instance
    assert instance.users == ("q", "g")
    assert [(one.name, one.count, one.demand[0]) for one in instance.task_types[0]] == [
        ("j/ps", 1, 1),
        ("j/worker", 4, 2),
    ]
    assert (instance.max_tasks[1], instance.exact_demands[1][0]) == (3, 2)
    assert "gang of a Job: that many of its pods start together or none (minAvailable) (a/j)" in told(found)
    assert "order of the tasks of a Job (dependsOn): they are there at once (a/j)" in told(found)
    assert "PodGroup without pods: minMember tasks of an equal part of its minResources (g)" in told(found)


def test_the_whole_of_a_tree_of_quotas_is_a_pool(tmp_path: Path) -> None:
    prefix = "quota.scheduling.koordinator.sh"
    item = {
        "kind": "ElasticQuota",
        "metadata": {"name": "r", "annotations": {f"{prefix}/total-resource": '{"cpu":"8","memory":"4Gi"}'}},
        "spec": {"min": {"cpu": "8"}, "max": {"cpu": "4611686018427387", "memory": "3Gi"}},
    }
    found = read("koordinator", [write(tmp_path / "k.json", item)], saturate=True)
    assert found.instance.machines is None
    assert found.instance.exact_capacity == (8, 4 * GIB)
    assert found.instance.organisation.ceilings == ({"memory": 3 * GIB},)


def test_local_queues_may_be_the_users(tmp_path: Path) -> None:
    heavy = local_queue("heavy", "A")
    heavy["spec"]["fairSharing"] = {"weight": "3"}
    items = [cluster_queue("A", quota("8")), heavy, local_queue("light", "A"), local_queue("other", "gone")]
    works = [workload("w1", "heavy", ("main", 20, "1")), workload("w2", "light", ("main", 20, "1"))]
    path = write(tmp_path / "k.json", *items, *works)
    assert read("kueue", path).instance.users == ("A",)
    assert "weight of a LocalQueue: users are ClusterQueues, see user_by localqueue (--user-by) (heavy)" in told(
        read("kueue", path)
    )
    found = read("kueue", path, "localqueue").instance
    assert found.users == ("a/heavy", "a/light")
    assert found.organisation.paths == ("A", "A")
    assert solve(found).tasks == pytest.approx([6, 2])
    alone = read("kueue", write(tmp_path / "q.json", *items), "localqueue", saturate=True).instance
    assert solve(alone).tasks == pytest.approx([6, 2])


def test_a_queue_without_quota_has_nothing_of_the_others(tmp_path: Path) -> None:
    stray = cluster_queue("stray")
    items = [cluster_queue("A", quota("8")), stray, local_queue("a", "A"), local_queue("s", "stray")]
    wanted = [workload("w1", "a", ("main", 20, "1")), workload("w2", "s", ("main", 20, "1"))]
    found = read("kueue", write(tmp_path / "k.json", *items, *wanted))
    assert solve(found.instance).unplaced == ("stray",)
    assert solve(found.instance).tasks.tolist() == [8, 0]
    assert "is of no use to stray, which has no quota of cpu (stray)" in told(found)
    alone = read("kueue", write(tmp_path / "q.json", *items), saturate=True)
    assert alone.instance.users == ("A",)
    assert "queue that may use nothing there is (stray)" in told(alone)
    assert "in the mean shape of each kind of machines (A)" in told(alone), "stray wants nothing"
    assert "queue or user without tasks" not in told(alone), "it is told once"


def test_a_queue_wants_only_what_its_quota_covers(tmp_path: Path) -> None:
    both = cluster_queue("B", cohort="all")
    both["spec"]["resourceGroups"] = [
        {
            "flavors": [
                {"name": "x", "resources": [{"name": "cpu", "nominalQuota": 4}, {"name": "gpu", "nominalQuota": 2}]}
            ]
        }
    ]
    found = read(
        "kueue", write(tmp_path / "k.json", cluster_queue("A", quota("4", "x"), cohort="all"), both), saturate=True
    )
    assert found.instance.exact_demands == ((1, 0), (1, Fraction(1, 4)))


def test_what_a_flavor_tolerates_is_no_obstacle_to_its_pods(tmp_path: Path) -> None:
    taint = {"key": "spot", "value": "true", "effect": "NoSchedule"}

    def reading(**beside: object):
        flavor = {"nodeTaints": [taint], **beside}
        path = write(
            tmp_path / "kueue.json",
            {
                "apiVersion": "kueue.x-k8s.io/v1beta1",
                "kind": "ResourceFlavor",
                "metadata": {"name": "spot"},
                "spec": flavor,
            },
            cluster_queue("A", quota("9", "spot"), quota("4", "demand"), cohort="left"),
            local_queue("a", "A"),
            workload("w1", "a", ("main", 2, "2")),
        )
        return read("kueue", [path]).instance.eligible.tolist()

    assert reading() == [[False, True]]
    assert reading(tolerations=[{"key": "spot", "operator": "Exists"}]) == [[True, True]]
    assert reading(tolerations=[{"key": "other", "operator": "Exists"}]) == [[False, True]]


def test_keys_that_play_no_part_are_listed(tmp_path: Path) -> None:
    stopped = cluster_queue("A", quota("9", "spot"), quota("4", "demand"), cohort="left")
    stopped["spec"] |= {"stopPolicy": "Hold", "admissionChecks": ["x"], "namespaceSelector": {}}
    limited = stopped["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]
    limited["borrowingLimit"] = "3"
    waiting = workload("w1", "a", ("main", 2, "2"))
    waiting["spec"] |= {"priority": 100}
    waiting["spec"]["podSets"][0]["minCount"] = 1
    notes = told(read("kueue", [write(tmp_path / "kueue.json", stopped, local_queue("a", "A"), waiting)]))
    for line in (
        "admissionChecks of a ClusterQueue (A)",
        "priority of a Workload (a/w1)",
        "minCount of a pod set (a/w1)",
        "borrowingLimit of one flavor: another has none, so that the sum is not bounded (A)",
        "queue that is stopped (stopPolicy) takes part with what is in it (A)",
    ):
        assert line in notes
    assert "namespaceSelector" not in notes, "it says nothing"
    queue = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: ml}
spec: {weight: 1, affinity: {nodeGroupAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [gpu]}}}
"""
    machines = write(tmp_path / "nodes.json", *NODES)
    notes = told(read("volcano", [saved(tmp_path / "q.yaml", queue), machines], saturate=True))
    assert "affinity of a Queue (ml)" in notes


def test_a_shape_that_is_no_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InstanceError, match=r"volcano: shape is 'cpu=1': give a table, such as"):
        read("volcano", [write(tmp_path / "nodes.json", *NODES)], saturate=True, shape="cpu=1")


def test_a_cohort_may_use_what_its_queues_do_not_lend_beside_what_it_borrows(tmp_path: Path) -> None:
    """What is lent is less, and what is used is not: 40 of its own, of which 20 are lent, and 3 from above."""
    items = [
        cluster_queue("A", quota("40", lendingLimit="20"), cohort="eng"),
        cluster_queue("B", quota("10"), cohort="org"),
        cohort("eng", "org", quota("0", borrowingLimit="3")),
    ]
    found = read("kueue", write(tmp_path / "k.json", *items))
    (eng,) = found.instance.organisation.groups
    assert (dict(eng.guarantee), dict(eng.ceiling)) == ({"cpu": 40}, {"cpu": 43})
    assert solve(found.instance, exact=True).tasks.tolist() == [1, 1]


def test_a_limit_of_one_flavor_does_not_bound_a_cohort(tmp_path: Path) -> None:
    items = [
        cluster_queue("A", quota("40"), quota("100", name="ondemand"), cohort="eng"),
        cluster_queue("B", quota("10"), cohort="org"),
        cohort("eng", "org", quota("0", borrowingLimit="3")),
    ]
    found = read("kueue", write(tmp_path / "k.json", *items))
    (eng,) = found.instance.organisation.groups
    assert (dict(eng.guarantee), dict(eng.ceiling or {})) == ({"cpu": 140}, {})
    assert "another has none, so that the sum is not bounded (eng)" in told(found)
    assert "flavors of a resource are added up: of one of them it may use more (A)" in told(found)


def test_a_workload_that_needs_what_its_queue_does_not_cover_is_not_admitted(tmp_path: Path) -> None:
    """The cohort has GPUs, and the second queue no quota of them; pods count where a queue has a quota of them."""
    both = cluster_queue("A", quota("2"), cohort="all")
    for resource in ("nvidia.com/gpu", "pods"):
        both["spec"]["resourceGroups"][0]["flavors"][0]["resources"].append({"name": resource, "nominalQuota": "4"})
    items = [both, cluster_queue("B", quota("10"), cohort="all"), local_queue("a", "A"), local_queue("b", "B")]
    wanted = [workload(f"w{queue}", queue, ("main", 10, "100m")) for queue in "ab"]
    found = read("kueue", write(tmp_path / "k.json", *items, *wanted))
    assert solve(found.instance, exact=True).tasks.tolist() == [4, 10]
    for each in wanted:
        each["spec"]["podSets"][0]["template"]["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/gpu"] = 1
    found = read("kueue", write(tmp_path / "k.json", *items, *wanted))
    answer = solve(found.instance, exact=True)
    assert (answer.tasks.tolist(), answer.unplaced) == ([4, 0], ("B",))
    assert "of no use to B, which has no quota of nvidia.com/gpu (B)" in told(found)


def test_every_tree_of_quotas_divides_its_own_whole(tmp_path: Path) -> None:
    """Of 100 cpu of the nodes, 20 are of one tree; pods that name no quota are of the one that their namespace says."""
    prefix = "quota.scheduling.koordinator.sh"

    def quota(called: str, namespace: str = "kube-system", **marks: str) -> dict:
        metadata = {"name": called, "namespace": namespace}
        metadata["labels"] = {f"{prefix}/{key.replace('_', '-')}": value for key, value in marks.items()}
        metadata["annotations"] = {
            f"{prefix}/{key}": metadata["labels"].pop(f"{prefix}/{key}")
            for key in ("total-resource", "namespaces", "shared-weight")
            if f"{prefix}/{key}" in metadata["labels"]
        }
        return {"kind": "ElasticQuota", "metadata": metadata, "spec": {"max": {"cpu": "90"}}}

    roots = [quota(f"t{cpu}", is_parent="true", total_resource=json.dumps({"cpu": str(cpu)})) for cpu in (20, 80)]
    leaves = [quota("a", parent="t20"), quota("b", parent="t80", namespaces='["y"]'), quota("x", "x", parent="t80")]
    pods = [pod(f"{place}{i}", place, memory="") for place in ("a", "x", "y", "kube-system") for i in range(60)]
    for each in pods[:60]:
        each["metadata"]["labels"] = {f"{prefix}/name": "a"}
    nodes = [node("n0", cpu="100"), quota("koordinator-default-quota")]
    found = read("koordinator", [write(tmp_path / "k.json", *nodes, *roots, *leaves, *pods)]).instance
    assert {group.name: dict(group.ceiling) for group in found.organisation.groups} == {
        "t20": {"cpu": 20},
        "t80": {"cpu": 80},
    }
    paths = dict(zip(found.users, found.organisation.paths, strict=True))
    assert paths == {"a": "t20", "x": "t80", "b": "t80", "koordinator-default-quota": ""}


def test_quotas_bound_a_cohort_on_machines_of_another_file(tmp_path: Path) -> None:
    """Of 100 cpu the 15 of the quotas, as Kueue admits no more; a queue of no cohort has its own."""
    items = [cluster_queue("A", quota("9"), cohort="c"), cluster_queue("B", quota("6"), cohort="c")]
    alone = [cluster_queue("C", quota("5")), local_queue("c", "C"), workload("w3", "c", ("main", 90, "1"))]
    items += [local_queue("a", "A"), local_queue("b", "B")]
    items += [workload("w1", "a", ("main", 90, "1")), workload("w2", "b", ("main", 2, "1"))]
    table = saved(tmp_path / "m.csv", "machine,count,cpu\nm,10,10\n")
    for more, tasks in (([], [13, 2]), (alone, [13, 2, 5])):
        found = read("kueue", [write(tmp_path / "k.json", *items, *more)], machines=table).instance
        assert {group.name: dict(group.ceiling) for group in found.organisation.groups} == {"c": {"cpu": 15}}
        assert solve(found, exact=True).tasks.tolist() == tasks


def test_on_other_machines_a_queue_borrows_of_its_own_flavors_only(tmp_path: Path) -> None:
    """Of 12 cpu of a cohort 3 are of a flavor of which B has no quota; what is not lent is told as without machines."""
    items = [cluster_queue("A", quota("4", lendingLimit="1"), quota("3", "spot"), cohort="c")]
    items += [cluster_queue("B", quota("5"), cohort="c"), local_queue("a", "A"), local_queue("b", "B")]
    items += [workload("w1", "a", ("main", 1, "1")), workload("w2", "b", ("main", 90, "1"))]
    table = saved(tmp_path / "m.csv", "machine,count,cpu\nm,10,10\n")
    found = read("kueue", [write(tmp_path / "k.json", *items)], machines=table)
    assert solve(found.instance, exact=True).tasks.tolist() == [1, 9]
    assert "lendingLimit: the whole quota is lent while its queue does not need it (A)" in told(found)


def test_the_whole_of_a_tree_of_quotas_bounds_it_on_machines_of_another_file(tmp_path: Path) -> None:
    """As on the same nodes among the files: of 50 cpu 20 are of the only tree."""
    prefix = "quota.scheduling.koordinator.sh"
    tree = {
        "kind": "ElasticQuota",
        "metadata": {"name": "t", "annotations": {f"{prefix}/total-resource": '{"cpu":"20"}'}},
        "spec": {"max": {"cpu": "90"}},
    }
    files, nodes = write(tmp_path / "k.json", tree), write(tmp_path / "n.json", node("n", cpu="50", memory="9Gi"))
    table = saved(tmp_path / "m.csv", "machine,count,cpu,memory\nn,1,50,9Gi\n")
    pool = saved(tmp_path / "p.toml", "[capacity]\ncpu = 50\nmemory = '9Gi'\n")
    for machines in (nodes, table, pool):
        found = read("koordinator", [files], saturate=True, machines=machines).instance
        assert found.organisation.ceilings == ({"cpu": 20},)
        assert found.exact_demands[0][0] * solve(found, exact=True).tasks[0] == 20
    # Where nothing else is known, it is all there is.
    assert read("koordinator", [files], saturate=True).instance.exact_capacity == (20,)


def quotas_with_a_tree(least: str = "0", **marks: str) -> list[dict]:
    """Of Koordinator: x in a tree of 20 cpu with these labels, z in no tree; each has 40 pods of 1 cpu."""
    prefix = "quota.scheduling.koordinator.sh"
    kind, tree = {"kind": "ElasticQuota"}, {f"{prefix}/tree-id": "t"}
    labels = tree | {f"{prefix}/{key}": value for key, value in ({"is-root": "true"} | marks).items()}
    total = {f"{prefix}/total-resource": '{"cpu":"20"}'}
    pods = [pod(f"{q}{i}", memory="", labels={f"{prefix}/name": q}) for q in "xz" for i in range(40)]
    return [
        kind | {"metadata": {"name": "r", "labels": labels, "annotations": total}, "spec": {"max": {"cpu": "90"}}},
        kind | {"metadata": {"name": "x", "labels": tree | {f"{prefix}/parent": "r"}}, "spec": {}},
        kind | {"metadata": {"name": "z"}, "spec": {"min": {"cpu": least}, "max": {"cpu": "40"}}},
        *pods,
    ]


def test_quotas_in_no_tree_divide_what_the_trees_leave(tmp_path: Path) -> None:
    """Of 32 cpu a tree has 20 and all others 12; their minimum they have even of less."""
    path = tmp_path / "k.json"
    for cpu, least, tasks in (
        (32, "0", {"x": 20, "z": 12}),
        (18, "0", {"x": 18, "z": 0}),
        (18, "3", {"x": 15, "z": 3}),
    ):
        found = read("koordinator", [write(path, node("n", cpu=str(cpu)), *quotas_with_a_tree(least))]).instance
        assert solve(found, exact=True)["z"].tasks == tasks["z"]
        assert solve(found, exact=True)["x"].tasks == tasks["x"]
    pool = saved(tmp_path / "p.toml", "[capacity]\ncpu = 32\n")
    found = read("koordinator", [write(path, *quotas_with_a_tree())], machines=pool).instance
    assert sorted(solve(found, exact=True).tasks.tolist()) == [12, 20]


def test_a_tree_that_leaves_the_others_all_there_is_shares_it(tmp_path: Path) -> None:
    items = [node("n", cpu="32"), *quotas_with_a_tree(**{"ignore-default-tree": "true"})]
    found = read("koordinator", [write(tmp_path / "k.json", *items)])
    assert solve(found.instance, exact=True).tasks.tolist() == [16, 16]
    assert "tree that takes nothing from what is in none (ignore-default-tree) (r)" in told(found)


def test_of_quotas_in_no_tree_nothing_is_known_without_nodes(tmp_path: Path) -> None:
    found = read("koordinator", [write(tmp_path / "k.json", *quotas_with_a_tree())])
    assert found.instance.users == ("x",)
    assert solve(found.instance, exact=True).tasks.tolist() == [20]
    assert "40 x pod of a quota in no tree: no node is listed, so what such quotas divide is not known" in told(found)


def test_who_names_no_quota_above_it_is_in_the_tree_that_it_names_or_in_none(tmp_path: Path) -> None:
    """Quotas that nobody lists are in none."""
    prefix = "quota.scheduling.koordinator.sh"
    items = quotas_with_a_tree()
    del items[1]["metadata"]["labels"][f"{prefix}/parent"]
    items[2]["metadata"]["labels"] = {f"{prefix}/tree-id": "unlisted", f"{prefix}/parent": "p"}
    items += [pod("w", memory="", labels={f"{prefix}/name": "w"})]
    found = read("koordinator", [write(tmp_path / "k.json", node("n", cpu="32"), *items)])
    organisation = found.instance.organisation
    assert organisation.paths == ("r", "no tree/p", "no tree")
    assert {group.name: dict(group.ceiling) for group in organisation.groups}["no tree"] == {"cpu": 12}
    assert "quota of a tree that names none above it is below the root of the tree (x)" in told(found)


def test_what_a_kueue_queue_uses_is_what_it_runs(tmp_path: Path) -> None:
    one = [cluster_queue("a", quota("9"), cohort="c", used="4"), cluster_queue("b", quota("6"), cohort="c")]
    assert read("kueue", [write(tmp_path / "pool.json", *one)]).current()["tasks"] == {"a": 1}
    two = [
        cluster_queue("a", quota("9"), quota("2", "spot"), cohort="c", used="4"),
        cluster_queue("b", quota("6"), cohort="c"),
    ]
    found = read("kueue", [write(tmp_path / "classes.json", *two)])
    assert [sum(homes.values()) for homes in found.placement.values()] == [1]
    assert all("spot" not in home for home in found.placement["a"])


def test_volcano_weights_that_differ_are_told(tmp_path: Path) -> None:
    marks = {"dev": ("root/eng/dev", "100/50/20"), "prod": ("root/eng/prod", "100/60/80")}
    queues = [
        {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "Queue",
            "metadata": {
                "name": name,
                "annotations": {"volcano.sh/hierarchy": path, "volcano.sh/hierarchy-weights": weights},
            },
        }
        for name, (path, weights) in marks.items()
    ]
    pods = [pod(name, annotations={"scheduling.volcano.sh/queue-name": name}) for name in marks]
    found = read("volcano", [write(tmp_path / "all.json", *NODES, *queues, *pods)])
    assert [(group.name, group.weight) for group in found.instance.organisation.groups] == [("eng", 50)]
    told_once = (
        "queue has the weight that is met first, of several in volcano.sh/hierarchy-weights and its own (root/eng)"
    )
    assert told_once in str(told(found))


def test_a_weight_of_0_is_1_as_volcano_makes_it(tmp_path: Path) -> None:
    queues = [
        {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": name}, "spec": spec}
        for name, spec in (("a", {}), ("b", {"weight": 0}))
    ]
    pods = [pod(name, annotations={"scheduling.volcano.sh/queue-name": name}) for name in "ab"]
    found = read("volcano", [write(tmp_path / "all.json", *NODES, *queues, *pods)])
    assert found.instance.exact_weights == (1, 1)
    assert "assumed: weight of 0 is 1: Volcano makes it so (b)" in told(found)


def test_min_resources_of_volcano_count_requests_as_a_resource_quota_does(tmp_path: Path) -> None:
    """`requests.cpu` is the cpu, `requests.nvidia.com/gpu` stands for the GPUs, and of the rest no machine has any."""
    amounts = {"count/pods": "2", "pods": "2", "cpu": "8", "requests.cpu": "8", "limits.cpu": "16"}
    group = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "g", "namespace": "x"},
        "spec": {"minMember": 2, "queue": "a", "minResources": {**amounts, "requests.nvidia.com/gpu": "2"}},
    }
    machine = node("g0")
    machine["status"]["allocatable"]["nvidia.com/gpu"] = "8"
    found = read("volcano", [write(tmp_path / "all.json", machine, group)])
    demand = dict(zip(found.instance.resources, found.instance.exact_demands[0], strict=True))
    assert demand == {"cpu": 4, "pods": 1, "nvidia.com/gpu": 1}


def test_kueue_pods_that_are_reclaimable_have_ended(tmp_path: Path) -> None:
    one = workload("w", "a", ("main", 8, "1"), ("other", 2, "1"), admitted="default")
    one["status"]["reclaimablePods"] = [{"name": "main", "count": 3}, {"name": "other", "count": 2}]
    items = [cluster_queue("A", quota("10")), local_queue("a", "A"), one]
    found = read("kueue", write(tmp_path / "k.json", *items))
    assert found.instance.exact_limits == (5,)
    assert [sum(there.values()) for there in found.placement.values()] == [5]
    assert "5 x pod of a Workload that has ended (reclaimablePods)" in told(found)


def test_of_a_workload_of_kueue_that_is_admitted_in_part_that_part_runs(tmp_path: Path) -> None:
    """Of 5 pods 3 are admitted; of 4 that have not ended still 3 run, and of 2 these."""
    one = workload("w", "a", ("main", 5, "1"), admitted="default")
    one["status"]["admission"]["podSetAssignments"][0]["count"] = 3
    for ended, running in ((0, 3), (1, 3), (3, 2)):
        one["status"]["reclaimablePods"] = [{"name": "main", "count": ended}]
        items = [cluster_queue("A", quota("9")), local_queue("a", "A"), one]
        found = read("kueue", write(tmp_path / "k.json", *items))
        assert found.current()["tasks"] == {"A": running}
        assert found.instance.exact_limits == (5 - ended,), "the others are wanted"
        waits = "pod that waits, of a Workload that is admitted in part (such as a/w)"
        assert (f"assumed: 2 x {waits}" in told(found)) == (ended == 0)
    one["status"]["conditions"] = []  # evicted
    assert read("kueue", write(tmp_path / "k.json", *items)).current()["tasks"] == {}


def test_kai_counts_mig_devices_in_its_quota_of_gpus(tmp_path: Path) -> None:
    """A device 2g is two GPUs of a quota; whole GPUs count in it, too, and each kind has its own number."""
    machine = node("g0", cpu="64", memory="256Gi")
    machine["status"]["allocatable"] |= {"nvidia.com/gpu": "4", "nvidia.com/mig-2g.10gb": "8"}
    free = {"quota": -1, "limit": -1, "overQuotaWeight": 1}
    items = [machine]
    for queue, device, limit in (
        ("a", "nvidia.com/mig-2g.10gb", 2),
        ("b", "nvidia.com/gpu", 3),
        ("c", "nvidia.com/gpu", -1),
    ):
        gpu = {"quota": 1, "limit": limit, "overQuotaWeight": 1, "lendingLimit": 0}
        spec = {"resources": {"gpu": gpu, "cpu": free, "memory": free}}
        items.append({"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": queue}, "spec": spec})
        wants = {"containers": [{"resources": {"limits": {device: 1}}}]}
        items += [pod(f"{queue}{i}", labels={"kai.scheduler/queue": queue}, **wants) for i in range(6)]
    found = read("kai", [write(tmp_path / "all.json", *items)])
    assert found.instance.organisation.ceilings == ({"gpu": 2}, {"gpu": 3}, {})
    assert solve(found.instance, integer=True).tasks.tolist() == [1, 2, 2]
    assert "3 x lendingLimit of gpu of a Queue" in told(found)


def test_floors_are_told_where_the_scheduler_divides_what_is_above_them(tmp_path: Path) -> None:
    """Of the 10 of an idle queue, each of the others borrows 5."""
    items = [cluster_queue(name, quota(cpu), cohort="all") for name, cpu in (("A", "8"), ("B", "2"), ("C", "10"))]
    items += [one for q in "ab" for one in (local_queue(q, q.upper()), workload(q, q, ("main", 30, "1")))]
    found = read("kueue", write(tmp_path / "k.json", *items))
    note = next(line for line in told(found).splitlines() if "guarantee is a floor" in line)
    assert note.startswith("assumed: 3 x ") and 'guarantees = "surplus"' in note
    assert solve(found.instance, exact=True).tasks.tolist() == [10, 10]
    path = saved(tmp_path / "k.toml", 'guarantees = "surplus"\n' + dumps(found.instance, "toml"))
    assert solve(Instance.load(path), exact=True).tasks.tolist() == [13, 7]


def test_the_default_quota_of_koordinator_is_served_first(tmp_path: Path) -> None:
    """What its pods use is taken off what the others divide; its huge maximum is no weight beside theirs."""
    prefix = "quota.scheduling.koordinator.sh"
    huge = {"cpu": 2**61 - 1, "memory": 2**61 - 1}
    own = [("koordinator-default-quota", huge), ("koordinator-system-quota", huge)]
    quotas = [
        {"kind": "ElasticQuota", "metadata": {"name": name, "namespace": name}, "spec": {"max": most}}
        for name, most in [*own, ("a", {"cpu": "20"}), ("b", {"cpu": "40"})]
    ]
    pods = [pod(f"{place}{i}", place, memory="") for place in ("a", "b", "web", "named") for i in range(60)]
    for each in pods[180:]:
        each["metadata"]["labels"] = {f"{prefix}/name": "nobody"}  # that is no quota
    nodes = [node(f"n{k}", cpu="75") for k in range(2)]
    found = read("koordinator", [write(tmp_path / "k.json", *nodes, *quotas, *pods)])
    users = ("a", "b", "koordinator-default-quota")
    assert found.instance.users == users
    assert [found.instance.organisation.tiers[k] for k in range(3)] == [0, 0, 1]
    assert solve(found.instance).tasks.tolist() == pytest.approx([10, 20, 120])
    assert "120 x default quota is served first: the others divide what its pods leave (" in told(found)
    quotas[2]["spec"]["min"] = {"cpu": "5"}
    found = read("koordinator", [write(tmp_path / "k.json", *nodes, *quotas, *pods)])
    assert "what its pods leave, but for what they are guaranteed, which comes before (" in told(found)


def test_pods_of_a_job_of_volcano_say_its_queue(tmp_path: Path) -> None:
    """Where neither it nor its PodGroup is listed."""
    mark = {"volcano.sh/queue-name": "q"}
    pods = [pod("p", labels=mark), pod("r", annotations=mark), pod("s", schedulerName="volcano")]
    assert read("volcano", [write(tmp_path / "v.json", node("n"), *pods)]).instance.users == ("q", "default")


def test_tasks_of_a_job_of_volcano_that_have_ended_are_none(tmp_path: Path) -> None:
    tasks = [{"name": name, "replicas": 4, "template": TEMPLATE} for name in ("a", "b")]
    job = owner("batch.volcano.sh/v1alpha1", "Job", {"queue": "q", "tasks": tasks})
    job["status"] = {"taskStatusCount": {"b": {"phase": {"Succeeded": 2, "Failed": 1, "Running": 1}}}}
    assert read("volcano", [write(tmp_path / "v.json", *NODES, job)]).instance.max_tasks == (5,)


def test_what_kueue_is_configured_not_to_count_is_no_demand(tmp_path: Path) -> None:
    """``excludeResourcePrefixes``: a Workload that asks for it is admitted, though its queue has no quota of it."""
    queues = [cluster_queue("A", quota("9"), cohort="all"), local_queue("a", "A")]
    for admitted, demand, unplaced in (("default", [[1]], ()), (None, [[1, 7], [1, 7]], ("A",))):
        items = [workload("w", "a", ("main", 2, "1"), admitted=admitted), workload("v", "a", ("main", 3, "1"))]
        for item in items:
            (container,) = item["spec"]["podSets"][0]["template"]["spec"]["containers"]
            container["resources"]["requests"]["ephemeral-storage"] = "7"
        found = read("kueue", [write(tmp_path / "q.json", *queues, *items)])
        assert found.instance.demands.tolist() == demand[:1]
        assert solve(found.instance).unplaced == unplaced
    assert "ephemeral-storage of a Workload" not in told(found)
