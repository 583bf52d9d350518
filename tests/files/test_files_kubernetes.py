"""The Kubernetes reader: requests and eligibility as its scheduler counts them, and nothing dropped in silence."""

import io
import json
import re
from fractions import Fraction
from pathlib import Path

import pytest
from kubernetes_objects import node, pod, write

from drfopt import rebalance, solve
from drfopt.base.errors import InstanceError
from drfopt.io.readers.asking import read
from drfopt.io.readers.kubernetes.eligibility import allows, features_of, needs_of
from drfopt.io.readers.kubernetes.pods import demand
from drfopt.io.text.parts import TreePart

GIB = 2**30


def told(found) -> str:
    return "\n".join(map(str, found.notes))


def test_yaml_may_begin_with_a_brace(tmp_path: Path) -> None:
    one = '{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: "8"}}}\n'
    other = json.dumps(node("n2", cpu="8")) + "\n"
    work = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: a}\n"
    work += "spec: {containers: [{resources: {requests: {cpu: 1}}}]}\n"
    for first, count in ((one, 1), (other, 1), (one + "---\n" + other, 2)):
        path = tmp_path / "all.yaml"
        path.write_text(first + "---\n" + work, encoding="utf-8")
        assert read("kubernetes", path).instance.counts.sum() == count
    path = tmp_path / "broken.json"
    path.write_text(one, encoding="utf-8")
    with pytest.raises(InstanceError, match=r"line 1, column 2: .*correct the JSON there"):
        read("kubernetes", path)


def test_the_nearest_class_misses_the_fewest_needs(tmp_path: Path) -> None:
    task = pod("p", nodeSelector={"z": "a", "zone": "b"})
    for order in (1, -1):
        machines = [node("n0", cpu="10"), node("n1", cpu="11", labels={"z": "a"})][::order]
        found = read("kubernetes", write(tmp_path / "all.json", *machines, task))
        assert re.search(r"fits nowhere: 11cpu-\S+, the nearest class, has not zone In b \(", told(found)), told(found)


# ---- requests ----------------------------------------------------------------------------------------------


def container(cpu=None, limit=None, **rest) -> dict:
    resources = {"requests": {"cpu": cpu}} if cpu else {}
    return {"resources": resources | ({"limits": {"cpu": limit}} if limit else {}), **rest}


SIDECAR = {"restartPolicy": "Always"}
REQUESTS = {
    "containers add up": ({"containers": [container("1"), container("500m")]}, "1.5"),
    "nothing asked": ({"containers": [{}]}, None),
    "a limit stands for a request": ({"containers": [container(limit="2")]}, "2"),
    "the request counts, not the limit": ({"containers": [container("1", "4")]}, "1"),
    "init containers one by one": (
        {"containers": [container("1")], "initContainers": [container("3"), container("2")]},
        "3",
    ),
    "a sidecar runs on": (
        {"containers": [container("1")], "initContainers": [container("1", **SIDECAR), container("3")]},
        "4",
    ),
    "a later sidecar is not beside an earlier init": (
        {"containers": [container("1")], "initContainers": [container("3"), container("1", **SIDECAR)]},
        "3",
    ),
    "two sidecars": (
        {"containers": [container("1")], "initContainers": [container("1", **SIDECAR), container("2", **SIDECAR)]},
        "4",
    ),
    "overhead": ({"containers": [container("1")], "overhead": {"cpu": "250m"}}, "1.25"),
    "the pod as a whole": (
        {"containers": [container("1")], "resources": {"requests": {"cpu": "3"}}, "overhead": {"cpu": "1"}},
        "4",
    ),
    "a limit of the whole": ({"containers": [{}], "resources": {"limits": {"cpu": "2"}}}, "2"),
    "null is nothing": ({"containers": [{"resources": None}], "initContainers": None, "overhead": None}, None),
}


@pytest.mark.parametrize(("spec", "cpu"), REQUESTS.values(), ids=REQUESTS)
def test_requests(spec: dict, cpu: str | None) -> None:
    found = demand(TreePart(spec, "pod"))
    assert found.get("cpu") == (None if cpu is None else Fraction(cpu))
    assert found["pods"] == 1


# ---- eligibility -------------------------------------------------------------------------------------------


def affinity(*terms) -> dict:
    required = {"nodeSelectorTerms": [dict([term]) if isinstance(term, tuple) else term for term in terms]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


def asks(operator: str, *values: str, key: str = "zone") -> dict:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


LABELS = {"zone": "b", "cores": "64", "metadata.name": "n1"}
ELIGIBLE = {
    "selector": ({"nodeSelector": {"zone": "b"}}, True),
    "other value": ({"nodeSelector": {"zone": "a"}}, False),
    "selector without label": ({"nodeSelector": {"disk": "ssd"}}, False),
    "in": (affinity(asks("In", "a", "b")), True),
    "not in": (affinity(asks("NotIn", "a", "b")), False),
    "not in without the label": (affinity(asks("NotIn", "x", key="disk")), True),
    "exists": (affinity(asks("Exists")), True),
    "does not exist": (affinity(asks("DoesNotExist", key="disk")), True),
    "greater": (affinity(asks("Gt", "63", key="cores")), True),
    "not greater": (affinity(asks("Gt", "64", key="cores")), False),
    "less": (affinity(asks("Lt", "65", key="cores")), True),
    "greater than a word": (affinity(asks("Gt", "many", key="cores")), False),
    "a word is not greater": (affinity(asks("Gt", "1")), False),
    "terms are alternatives": (affinity(asks("In", "x"), asks("In", "b")), True),
    "requirements are not": (
        affinity({"matchExpressions": [*asks("In", "b")["matchExpressions"], *asks("In", "x")["matchExpressions"]]}),
        False,
    ),
    "an empty term holds nowhere": (affinity({}), False),
    "no term holds nowhere": (affinity(), False),
    "field": (affinity({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}), True),
    "other field": (affinity({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}), False),
    "selector and affinity": ({"nodeSelector": {"zone": "a"}, **affinity(asks("Exists"))}, False),
}


@pytest.mark.parametrize(("spec", "expected"), ELIGIBLE.values(), ids=ELIGIBLE)
def test_eligible(spec: dict, expected: bool) -> None:
    needs = needs_of(TreePart(spec, "pod"))
    assert allows(needs, features_of(LABELS, [], needs.labels)) is expected


def taint(key="gpu", value="yes", effect="NoSchedule") -> dict:
    return {"key": key, "value": value, "effect": effect}


TOLERATED = {
    "none": ([], [taint()], False),
    "no taint": ([], [], True),
    "equal": ([{"key": "gpu", "value": "yes"}], [taint()], True),
    "unequal": ([{"key": "gpu", "value": "no"}], [taint()], False),
    "exists": ([{"key": "gpu", "operator": "Exists"}], [taint()], True),
    "everything": ([{"operator": "Exists"}], [taint(), taint("other", effect="NoExecute")], True),
    "no key and equal": ([{"value": "yes"}], [taint()], False),
    "other effect": ([{"key": "gpu", "operator": "Exists", "effect": "NoExecute"}], [taint()], False),
    "one of two": ([{"key": "gpu", "operator": "Exists"}], [taint(), taint("x")], False),
    "preferred": ([], [taint(effect="PreferNoSchedule")], True),
    "above": ([{"key": "gpu", "operator": "Gt", "value": "900"}], [taint(value="950")], True),
    "not above": ([{"key": "gpu", "operator": "Gt", "value": "950"}], [taint(value="950")], False),
    "below": ([{"key": "gpu", "operator": "Lt", "value": "900"}], [taint(value="-5")], True),
    "no number": ([{"key": "gpu", "operator": "Lt", "value": "900"}], [taint()], False),
    "for a while": ([{"key": "gpu", "operator": "Exists", "tolerationSeconds": 30}], [taint(effect="NoExecute")], True),
}


def test_a_taint_that_only_asks_is_told(tmp_path: Path) -> None:
    soft = node("soft")
    soft["spec"] = {"taints": [{"key": "old", "effect": "PreferNoSchedule"}]}
    found = read("kubernetes", [write(tmp_path / "k.json", soft, node("n"), pod("p"))])
    assert "taint that only asks (PreferNoSchedule) (soft)" in "\n".join(map(str, found.notes))
    assert len(found.instance.machines) == 1


@pytest.mark.parametrize(("tolerations", "taints", "expected"), TOLERATED.values(), ids=TOLERATED)
def test_tolerated(tolerations: list, taints: list, expected: bool) -> None:
    needs = needs_of(TreePart({"tolerations": tolerations}, "pod"))
    features = features_of({}, list(TreePart(taints, "taints").each()), [])
    assert allows(needs, features) is expected


# ---- clusters ----------------------------------------------------------------------------------------------


def test_identical_nodes_are_a_class_and_unlike_pods_are_types(tmp_path: Path) -> None:
    fast = {"disk": "ssd", "node.kubernetes.io/instance-type": "m5"}
    path = write(
        tmp_path / "list.json",
        *[node(f"n{i}", labels=fast) for i in range(3)],
        node("n3", labels={"disk": "hdd", "node.kubernetes.io/instance-type": "m5"}),
        node("n4", cpu="16"),
        pod("p1", on="n0"),
        pod("p2", on="n1"),
        pod("p3", cpu="2", nodeSelector={"disk": "ssd"}, on="n2"),
        pod("p4", cpu="2", nodeSelector={"disk": "ssd"}),
        pod("q1", "b"),
    )
    found = read("kubernetes", [path])
    instance = found.instance
    assert instance.machine_names == ("m5-8cpu-32GiB-disk=ssd", "m5-8cpu-32GiB-disk=hdd", "16cpu-32GiB")
    assert instance.counts.tolist() == [3, 1, 1]
    assert instance.resources == ("cpu", "memory", "pods")
    assert instance.users == ("a", "b")
    small, large = instance.task_types[0]
    assert (small.name, small.count, tuple(small.demand)) == ("p1 and 1 more", 2, (1, GIB, 1))
    assert (large.name, large.count, tuple(large.demand)) == ("p3 and 1 more", 2, (2, GIB, 1))
    assert instance.task_types[1] is None
    assert instance.exact_limits == (4, 1)
    assert found.current() == {
        "placement": {"a": {"m5-8cpu-32GiB-disk=ssd": 3}},
        "types": {
            "a": [
                {"name": "p1 and 1 more", "tasks": 2, "of": 2, "placement": {"m5-8cpu-32GiB-disk=ssd": 2}},
                {"name": "p3 and 1 more", "tasks": 1, "of": 2, "placement": {"m5-8cpu-32GiB-disk=ssd": 1}},
            ]
        },
    }
    assert not found.notes, told(found)


def test_labels_that_nobody_looks_at_tell_nothing_apart(tmp_path: Path) -> None:
    path = write(tmp_path / "l.json", node("n0", labels={"x": "1"}), node("n1", labels={"x": "2"}), pod("p"))
    instance = read("kubernetes", [path]).instance
    assert instance.counts.tolist() == [2]


def test_what_is_left_out_is_told(tmp_path: Path) -> None:
    path = write(
        tmp_path / "list.json",
        node("n0"),
        node("n1", unschedulable=True),
        node("n2", ready="Unknown"),
        pod("running-elsewhere", on="n1"),
        pod("done", phase="Succeeded", on="n0"),
        pod("broken", phase="Failed", on="n0"),
        pod("apart", affinity={"podAntiAffinity": {}}, priority=10),
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "a"}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 3}},
    )
    found = read("kubernetes", [path])
    notes = told(found)
    assert found.instance.exact_limits == (2,)
    assert found.placement == {}
    for line in (
        "not used: node that is cordoned off (n1)",
        "not used: node that is not ready (n2)",
        "not used: 2 x pod that has ended (such as a/done, Succeeded)",
        "not used: affinity to or against other pods of a pod (a/apart)",
        "not used: priority of a pod (a/apart)",
        "not used: object of kind Service (web)",
        "not used: Deployment none of whose pods is listed, beside pods that are (default/web)",
        "assumed: running task counts as waiting: its machine is not in use or not listed (a/running-elsewhere on n1)",
    ):
        assert line in notes, notes


def test_pods_that_belong_to_a_node_are_subtracted(tmp_path: Path) -> None:
    daemon = {"ownerReferences": [{"kind": "DaemonSet", "name": "proxy"}]}
    path = write(
        tmp_path / "list.json",
        node("n0", cpu="8"),
        node("n1", cpu="1"),
        pod("proxy-0", "kube-system", cpu="500m", on="n0", **daemon),
        pod("proxy-1", "kube-system", cpu="2", on="n1", **daemon),
        pod("static", "kube-system", cpu="1", on="n0", annotations={"kubernetes.io/config.mirror": "x"}),
        pod("proxy-2", "kube-system", **daemon),
        pod("p"),
    )
    found = read("kubernetes", [path])
    assert found.instance.users == ("a",)
    assert [row[0] for row in found.instance.exact_machine_capacity] == [Fraction(13, 2), 0]
    assert [row[2] for row in found.instance.exact_machine_capacity] == [108, 109]
    assert "node has no cpu left: its fixed pods ask for more than it has (n1)" in told(found)
    assert "no user's task and has no node yet (kube-system/proxy-2)" in told(found)


def test_users_by_label_and_annotation(tmp_path: Path) -> None:
    path = write(
        tmp_path / "list.json",
        node("n0"),
        pod("p1", labels={"team": "red"}),
        pod("p2", labels={"team": "blue"}, annotations={"queue": "q"}),
        pod("p3"),
    )
    found = read("kubernetes", [path], "label:team")
    assert found.instance.users == ("red", "blue", "no team")
    assert "pod without the label team: its user is 'no team' (a/p3)" in told(found)
    assert read("kubernetes", [path], "annotation:queue").instance.users == ("no queue", "q")
    for wrong in ("label", "label:", "colour", "namespaces", "annotation"):
        with pytest.raises(InstanceError, match=r"users by .*: use namespace, label:KEY, annotation:KEY"):
            read("kubernetes", [path], wrong)


def test_owners_stand_for_pods_where_none_are_listed(tmp_path: Path) -> None:
    template = {"spec": pod("x")["spec"], "metadata": {"labels": {"team": "red"}}}

    def owner(kind: str, name: str, size: dict, **metadata) -> dict:
        spec = size | {"template": template}
        return {"kind": kind, "metadata": {"name": name, "namespace": "a", **metadata}, "spec": spec}

    path = write(
        tmp_path / "list.json",
        node("n0"),
        owner("Deployment", "web", {"replicas": 3}),
        owner("ReplicaSet", "web-1", {"replicas": 3}, ownerReferences=[{"kind": "Deployment", "name": "web"}]),
        owner("Job", "train", {"parallelism": 2}),
        owner("StatefulSet", "db", {}),
    )
    assert read("kubernetes", [path]).instance.exact_limits == (6,)
    assert read("kubernetes", [path], "label:team").instance.users == ("red",)


def test_a_quota_is_a_ceiling(tmp_path: Path) -> None:
    def quota(name: str, hard: dict, namespace: str = "a", **spec) -> dict:
        return {
            "kind": "ResourceQuota",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"hard": hard, **spec},
        }

    path = write(
        tmp_path / "list.json",
        node("n0"),
        pod("p"),
        pod("q", "b"),
        quota("one", {"requests.cpu": "12", "memory": "48Gi", "limits.cpu": "24", "pods": 50, "count/jobs.batch": 3}),
        quota("two", {"cpu": "10", "requests.nvidia.com/gpu": "4", "hugepages-2Mi": "1Gi"}),
        quota("some", {"cpu": "1"}, scopes=["BestEffort"]),
        quota("nobody", {"cpu": "1"}, namespace="c"),
    )
    found = read("kubernetes", [path])
    assert found.instance.organisation.ceilings == ({"cpu": 10, "memory": 48 * GIB, "pods": 50}, {})
    notes = told(found)
    for line in (
        "quota on limits.cpu (a/one)",
        "quota on count/jobs.batch",
        "quota for some of the pods only (it has scopes) (a/some)",
        "ceiling of a resource that nobody demands: nvidia.com/gpu",
        "ceiling of a resource that nobody demands: hugepages-2Mi",
        "queue or user without tasks (c)",
    ):
        assert line in notes, notes
    by_label = read("kubernetes", [path], "label:team")
    assert by_label.instance.organisation is None
    assert "2 x quota of a namespace: users are not namespaces" in told(by_label)


def test_json_lines_single_objects_raw_lists_and_yaml_say_the_same(tmp_path: Path) -> None:
    items = [node("n0"), node("n1", cpu="4"), pod("p", on="n0"), pod("q", "b", cpu="2")]
    listed = read("kubernetes", [write(tmp_path / "list.json", *items)])
    lines = tmp_path / "lines.json"
    lines.write_text("\n".join(map(json.dumps, items)))
    raw = tmp_path / "raw.json"
    bare = [{key: part for key, part in item.items() if key not in ("kind", "apiVersion")} for item in items]
    raw.write_text(json.dumps({"kind": "NodeList", "apiVersion": "v1", "items": bare[:2]}))
    pods = tmp_path / "pods.json"
    pods.write_text(json.dumps({"kind": "PodList", "apiVersion": "v1", "items": bare[2:]}))
    documents = tmp_path / "all.yaml"
    documents.write_text("---\n" + "\n---\n".join(json.dumps(item, indent=1).replace("\t", " ") for item in items))
    for paths in ([lines], [raw, pods], [pods, raw], [documents]):
        found = read("kubernetes", paths)
        assert found.instance.exact_demands == listed.instance.exact_demands
        assert found.instance.machine_names == listed.instance.machine_names
        assert found.placement == listed.placement == {"a": {"8cpu-32GiB": 1}}


def test_a_cluster_is_solved(tmp_path: Path) -> None:
    path = write(
        tmp_path / "list.json",
        node("n0", cpu="9", memory="18Gi"),
        pod("a", "A", cpu="1", memory="4Gi"),
        *[pod(f"a{i}", "A", cpu="1", memory="4Gi") for i in range(9)],
        *[pod(f"b{i}", "B", cpu="3", memory="1Gi") for i in range(9)],
    )
    allocation = solve(read("kubernetes", [path]).instance, "drf")
    assert allocation.tasks.tolist() == pytest.approx([3, 2])
    assert allocation.certificate.valid


BAD = {
    "no objects": ('{"a": 1}', "is no object of Kubernetes, it has no kind"),
    "a text": ('"words"', "holds 'words', no object or list in JSON or YAML: give what 'drfopt formats' names"),
    "item without kind": ('{"kind": "List", "items": [{"a": 1}]}', r"items\[0\]: has no kind"),
    "items": ('{"kind": "List", "items": {"a": 1}}', r"items: is a table: a list belongs here"),
    "quantity": (json.dumps(pod("p", cpu="much")), r"containers\[0\]\.resources\.requests\.cpu: 'much' is no"),
    "negative": (json.dumps(pod("p", cpu="-1")), r"requests\.cpu: is '-1': write 0 or more"),
    "operator": (
        json.dumps(pod("p", **affinity(asks("Inn", "x")))),
        r"matchExpressions\[0\]: operator 'Inn': use In, NotIn.*did you mean 'In'",
    ),
    "field": (
        json.dumps(pod("p", **affinity({"matchFields": [{"key": "spec.x", "operator": "In", "values": []}]}))),
        "only metadata.name can be matched",
    ),
    "toleration": (json.dumps(pod("p", tolerations=[{"operator": "Is"}])), "a toleration has Equal, Exists, Gt, Lt"),
    "no node": (json.dumps(pod("p")), "there is no machine to run on"),
    "no pod": (json.dumps(node("n")), "no task of a user is waiting or running"),
    "only ended pods": (json.dumps([node("n"), pod("p", phase="Failed")]), r"not used: pod that has ended"),
    "labels": ('{"kind": "Pod", "metadata": {"labels": [1]}}', "labels: is a list: a table belongs here"),
    "spec": ('{"kind": "Node", "spec": 3}', "spec: is 3: a table belongs here"),
    "flag": ('{"kind": "Node", "spec": {"unschedulable": "no"}}', "unschedulable: is 'no': write true or false"),
    "huge": (json.dumps([node("n", cpu="1e400"), pod("p")]), "capacity"),
}


@pytest.mark.parametrize(("content", "pattern"), BAD.values(), ids=BAD)
def test_bad_objects(tmp_path: Path, content: str, pattern: str) -> None:
    path = tmp_path / "list.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InstanceError) as raised:
        read("kubernetes", [path])
    message = str(raised.value)
    assert message.isprintable()
    assert re.search(pattern, message), message


def test_an_object_that_is_listed_again_counts_once(tmp_path: Path) -> None:
    path = write(tmp_path / "list.json", node("n0"), pod("p"), pod("p"), pod("p", "b"))
    again = write(tmp_path / "again.json", pod("p"))
    found = read("kubernetes", [path, again])
    assert found.instance.exact_limits == (1, 1)
    assert "2 x Pod that was listed before (such as a/p)" in told(found)


def test_standard_input_is_read(tmp_path: Path, monkeypatch) -> None:
    text = write(tmp_path / "list.json", node("n0"), pod("p")).read_text()
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert read("kubernetes", ["-"]).instance.users == ("a",)


# ---- what runs ---------------------------------------------------------------------------------------------


def test_where_a_pod_runs_is_open_to_it_whatever_the_labels_of_today_say(tmp_path: Path) -> None:
    path = write(
        tmp_path / "list.json",
        node("n0", labels={"zone": "a"}),
        node("n1", cpu="4", labels={"zone": "moved"}),
        pod("runs", "one", on="n1", nodeSelector={"zone": "gone"}),
        pod("runs", "two", on="n1", nodeSelector={"zone": "a"}),
        pod("waits", "three", nodeSelector={"zone": "gone"}),
    )
    found = read("kubernetes", [path])
    assert found.instance.eligible.tolist() == [[False, True], [True, True], [False, False]]
    assert found.instance.unplaced().tolist() == [False, False, True]
    (note,) = (note for note in found.notes if "constraints of today" in note.what)
    assert note.count == 2 and note.example == "one/runs on n1"
    today = tmp_path / "today.json"
    today.write_text(json.dumps(found.current()), encoding="utf-8")
    assert not rebalance(found.instance, today).steps


def test_a_pod_that_runs_without_room_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "list.json", node("n0", cpu="1"), pod("large", cpu="2", on="n0"), pod("small", "b"))
    notes = [str(note) for note in read("kubernetes", [path]).notes]
    assert any("has no room for it (a/large on n0)" in note for note in notes), notes


def shared(name, part=None, **rest):
    """Return a pod that asks for a part of a GPU as KAI, HAMi or Volcano has it."""
    found = pod(name, **({"annotations": {"gpu-fraction": part}} if part else {}))
    found["spec"]["containers"][0]["resources"]["limits"] = rest
    return found


def gpu_node(name, resource="nvidia.com/gpu", number="2", **marks):
    found = node(name)
    found["status"]["allocatable"][resource] = number
    found["metadata"]["annotations"] = marks
    return found


REGISTER = "GPU-1,10,32768,100,NVIDIA-A100,0,true:GPU-2,10,32768,100,NVIDIA-A100,0,true:"


@pytest.mark.parametrize(
    "kind, asked",
    {
        "fraction": (gpu_node("n"), shared("p", "0.6")),
        "hami": (
            gpu_node("n", number="20", **{"hami.io/node-nvidia-register": REGISTER}),
            shared("p", **{"nvidia.com/gpu": "1", "nvidia.com/gpucores": "60", "nvidia.com/gpumem": "3000"}),
        ),
        "volcano": (
            gpu_node("n", "volcano.sh/vgpu-number"),
            shared(
                "p",
                **{
                    "volcano.sh/vgpu-number": "1",
                    "volcano.sh/vgpu-cores": "60",
                    "volcano.sh/vgpu-memory-percentage": "9",
                },
            ),
        ),
        "koordinator": (
            gpu_node("n", "koordinator.sh/gpu-core", "200"),
            shared("p", **{"koordinator.sh/gpu.shared": "1", "koordinator.sh/gpu-core": "60"}),
        ),
    }.values(),
    ids=lambda item: item["kind"],
)
def test_parts_of_gpus_are_packed_on_devices(tmp_path, kind, asked):
    pods = [asked | {"metadata": asked["metadata"] | {"name": f"p{x}"}} for x in range(3)]
    found = read("kubernetes", [write(tmp_path / "all.json", kind, *pods)]).instance
    (gpu,) = found.machines[0].devices
    assert found.machines[0].devices[gpu].count == 2
    # Three parts of .6 are less than two GPUs, and a device has room for one of them.
    assert solve(found).tasks.sum() == 3 and solve(found, integer=True).tasks.sum() == 2


def test_a_gpu_is_one_by_whatever_name_of_koordinator_it_is_asked_for(tmp_path):
    """A node of 2 GPUs lists them under every name; of what a pod has by one, there is so much less by all others."""
    percent = "koordinator.sh/gpu-core", "koordinator.sh/gpu-memory-ratio"
    there = gpu_node("n", number="2")
    there["status"]["allocatable"] |= dict.fromkeys([*percent, "koordinator.sh/gpu"], "200")
    there["status"]["allocatable"]["koordinator.sh/gpu-memory"] = "64Gi"
    whole = {"nvidia.com/gpu": "1"}, {"koordinator.sh/gpu": "100"}, dict.fromkeys(percent, "100")
    memory = {percent[0]: "100", "koordinator.sh/gpu-memory": "32Gi"}
    for asked in (*((one, other) for one in whole for other in whole if one != other), (whole[0], memory)):
        pods = [shared(f"p{i}{k}", **each) for i, each in enumerate(asked) for k in range(2)]
        for each, team in zip(pods, "aabb", strict=True):
            each["metadata"]["namespace"] = team
        found = read("kubernetes", [write(tmp_path / "all.json", there, *pods)])
        assert solve(found.instance, exact=True).tasks.tolist() == [1, 1]
        assert "these are the same GPUs" in " ".join(map(str, found.notes))
    alone = read("kubernetes", [write(tmp_path / "all.json", there, *pods[:2])])
    assert alone.instance.resources[-1] == "nvidia.com/gpu" and not any("same GPUs" in str(n) for n in alone.notes)


def test_more_cores_than_a_gpu_has_are_all_of_it_and_told(tmp_path):
    node = gpu_node("n", number="20", **{"hami.io/node-nvidia-register": REGISTER})
    pod = shared("p", **{"nvidia.com/gpu": "1", "nvidia.com/gpucores": "150"})
    found = read("kubernetes", [write(tmp_path / "all.json", node, pod)])
    assert found.instance.exact_demands[0][found.instance.resources.index("nvidia.com/gpu")] == 1
    assert any("nvidia.com/gpucores above 100 is all of each GPU" in str(note) for note in found.notes)


def test_a_part_of_a_gpu_that_is_not_counted_is_of_one(tmp_path):
    """A template has not been through HAMi's webhook, which counts it; the GPU was lost without a word."""
    node = gpu_node("n", number="20", **{"hami.io/node-nvidia-register": REGISTER})
    pod = shared("p", **{"nvidia.com/gpumem": "8192", "nvidia.com/gpucores": "10"})
    found = read("kubernetes", [write(tmp_path / "all.json", node, pod)])
    assert found.instance.exact_demands[0][found.instance.resources.index("nvidia.com/gpu")] == Fraction(1, 4)
    assert "assumed: part of a GPU without nvidia.com/gpu is of one (a/p)" in told(found)
    volcano = shared("p", **{"volcano.sh/vgpu-memory": "8192"})
    found = read("kubernetes", [write(tmp_path / "all.json", node, volcano)])
    assert "part of a GPU (volcano.sh/vgpu-memory) without volcano.sh/vgpu-number (a/p)" in told(found)


IN_JSON = json.dumps([{"id": f"GPU-{k}", "count": 10, "devmem": 32768, "devcore": 100} for k in range(2)])
UNLIKE = REGISTER.replace("GPU-2,10,32768", "GPU-2,10,16384")


@pytest.mark.parametrize(
    ("register", "asked", "part", "note"),
    [
        (REGISTER, {"gpumem": "8192"}, "1/4", "the larger of those of its cores and of its memory"),
        (IN_JSON, {"gpumem": "8192", "gpucores": "10"}, "1/4", "the larger"),
        (REGISTER, {"gpumem": "8192", "gpucores": "60"}, "3/5", "the larger"),
        (REGISTER, {"gpumem": "99999"}, "1", "the larger"),
        (UNLIKE, {"gpumem-percentage": "30"}, "3/10", "the larger"),
        (REGISTER, {"gpucores": "60"}, "1", "a pod has all memory of its GPU"),
        (UNLIKE, {"gpumem": "8192", "gpucores": "60"}, "3/5", "which nodes do not register alike (a/p)"),
        (UNLIKE, {"gpumem": "8192"}, "1", "register alike: without a part of its cores, a pod holds all of it (a/p)"),
        ("GPU-1:GPU-2", {"gpumem": "8192"}, "1", "which nodes do not register alike"),
        (REGISTER.replace("32768", "0"), {"gpumem": "8192"}, "1", "which nodes do not register alike"),
        (None, {"gpumem": "8192"}, "1", "which nodes do not register alike"),
    ],
)
def test_a_part_of_a_gpu_is_the_larger_of_its_cores_and_its_memory(tmp_path, register, asked, part, note):
    """Who asks for no memory has all of it, and for no cores none, as HAMi has it."""
    marks = {} if register is None else {"hami.io/node-nvidia-register": register}
    one = shared("p", **{"nvidia.com/gpu": "1"}, **{f"nvidia.com/{key}": value for key, value in asked.items()})
    found = read("kubernetes", [write(tmp_path / "a.json", gpu_node("n", number="20", **marks), one)])
    assert found.instance.exact_demands[0][found.instance.resources.index("nvidia.com/gpu")] == Fraction(part)
    assert note in told(found)


def test_a_bound_on_gpus_of_which_pods_take_parts_is_told(tmp_path):
    one = shared("p", **{"nvidia.com/gpu": "1", "nvidia.com/gpumem-percentage": "25"})
    bound = {"kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "a"}}
    bound["spec"] = {"hard": {"requests.nvidia.com/gpu": "1"}}
    for asked, said in ((one, True), (shared("p", "0.5"), False), (shared("p", **{"nvidia.com/gpu": "1"}), False)):
        notes = told(read("kubernetes", [write(tmp_path / "a.json", gpu_node("n"), asked, bound)]))
        assert ("bound on nvidia.com/gpu is of whole GPUs: the cluster counts each part of one as 1" in notes) == said


def test_pods_that_do_not_start_as_they_are_are_told(tmp_path):
    gated, resized, gone, going = (
        pod("p", schedulingGates=[{"name": "x"}]),
        pod("q", on="n"),
        pod("r"),
        pod("s", on="n"),
    )
    resized["status"]["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]
    for each in (gone, going):
        each["metadata"]["deletionTimestamp"] = "2026-11-27T15:00:00Z"
    found = read("kubernetes", [write(tmp_path / "a.json", node("n"), gated, resized, gone, going)])
    assert found.instance.max_tasks == (3,)
    for line in (
        "not used: scheduling gate of a pod (a/p)",
        "assumed: pod that is being resized has what it is to have (a/q)",
        "not used: pod that is deleted before it runs (a/r)",
    ):
        assert line in told(found)


def test_whole_gpus_are_no_devices_and_parts_are_checked(tmp_path):
    whole = shared("p", **{"nvidia.com/gpu": "1"})
    assert read("kubernetes", [write(tmp_path / "a.json", gpu_node("n"), whole)]).instance.machines[0].devices is None
    for part in ("half", "1.5", "0"):
        with pytest.raises(InstanceError, match=f"a/p: the annotation gpu-fraction is '{part}': write a"):
            read("kubernetes", [write(tmp_path / "b.json", gpu_node("n"), shared("p", part))])
    several = shared("p", "0.5")
    several["metadata"]["annotations"]["gpu-fraction-num-devices"] = "2"
    found = read("kubernetes", [write(tmp_path / "c.json", gpu_node("n"), several)])
    assert found.instance.demands[0].max() and any("several GPUs" in str(note) for note in found.notes)
    memory, both = pod("m", annotations={"gpu-memory": "2000"}), {"koordinator.sh/gpu.shared": "2"}
    both |= {"koordinator.sh/gpu-core": "100"}
    found = read("kubernetes", [write(tmp_path / "d.json", gpu_node("n"), memory, shared("k", **both))])
    notes = " ".join(map(str, found.notes))
    assert "memory of a shared GPU (gpu-memory)" in notes and "several GPUs are counted as of one" in notes
    assert "koordinator.sh/gpu.shared" not in found.instance.resources


def test_what_fixed_pods_use_of_a_quota_is_not_left_to_others(tmp_path):
    agent = pod("agent", cpu="2", memory="", on="n", ownerReferences=[{"kind": "DaemonSet", "name": "agent"}])
    bound = {"kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "a"}, "spec": {"hard": {"cpu": "3"}}}
    pods = [pod(f"p{k}", memory="") for k in range(5)]
    found = read("kubernetes", [write(tmp_path / "a.json", node("n"), bound, agent, *pods)])
    assert found.instance.organisation.ceilings == ({"cpu": 1},)
    assert "pod that stays where it is: taken off its namespace's quota (a/agent)" in told(found)
