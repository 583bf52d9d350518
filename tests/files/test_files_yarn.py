"""YARN: the XML of the fair scheduler, the REST files, and the simulator's, in any order."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from drfopt import solve
from drfopt.base.errors import InstanceError
from drfopt.io.readers.asking import read
from drfopt.io.readers.conversion import Notes
from drfopt.io.readers.yarn.queues import amounts, read_queues
from drfopt.io.text.files import read_file
from drfopt.io.text.yaml_xml import root

WHOLE = {"memory-mb": Fraction(16384), "vcores": Fraction(8), "yarn.io/gpu": Fraction(2)}

AMOUNTS = {
    "10000 mb, 10 vcores": {"memory-mb": 10000, "vcores": 10},
    "10000mb,10vcores": {"memory-mb": 10000, "vcores": 10},
    "50% memory, 25% cpu": {"memory-mb": 8192, "vcores": 2},
    "50%": {"memory-mb": 8192, "vcores": 4, "yarn.io/gpu": 1},
    "vcores=50%, memory-mb=4096, yarn.io/gpu=1": {"vcores": 4, "memory-mb": 4096, "yarn.io/gpu": 1},
    "memory=10Gi, vcores=4": {"memory-mb": 10240, "vcores": 4},
    "memory=1G, yarn.io/gpu=2": {"memory-mb": Fraction(10**9, 2**20), "yarn.io/gpu": 2},
    "0.5% cpu": {"vcores": Fraction(1, 25)},
    "": {},
}


@pytest.mark.parametrize(("text", "expected"), AMOUNTS.items(), ids=str)
def test_amounts(text: str, expected: dict) -> None:
    assert amounts(text, WHOLE, "here") == expected


@pytest.mark.parametrize(
    "text", ["lots", "10", "10 mb 10 vcores", "mb=ten", "1.2.3 mb", "-5 mb", "memory=2w", "vcores=4 cores"]
)
def test_bad_amounts(text: str) -> None:
    with pytest.raises(InstanceError, match=r"^here: "):
        amounts(text, WHOLE, "here")


XML = """<?xml version="1.0"?>
<allocations>
  <defaultQueueSchedulingPolicy>drf</defaultQueueSchedulingPolicy>
  <queueMaxResourcesDefault>vcores=7</queueMaxResourcesDefault>
  <queue name="root">
    <queue name="eng" type="parent">
      <weight>2.0</weight>
      <minResources>4096 mb, 1 vcores</minResources>
      <maxResources>vcores=50%, memory-mb=50%, yarn.io/gpu=4</maxResources>
      <schedulingPolicy>drf</schedulingPolicy>
      <queue name="dev"><weight>0.5</weight><maxRunningApps>20</maxRunningApps></queue>
    </queue>
    <pool name="sci"><weight>0</weight></pool>
  </queue>
  <user name="alice"><maxRunningApps>6</maxRunningApps></user>
</allocations>
"""


def node(name: str, memory: int = 16384, cores: int = 8, labels=(), state="RUNNING", gpus: int = 0) -> dict:
    detail = [
        {"name": "memory-mb", "units": "Mi", "value": memory},
        {"name": "vcores", "units": "", "value": cores},
        {"name": "yarn.io/gpu", "units": "", "value": gpus},
    ]
    total = {"memory": memory, "vCores": cores, "resourceInformations": {"resourceInformation": detail}}
    return {"id": name, "nodeHostName": name, "state": state, "totalResource": total, "nodeLabels": list(labels)}


def request(memory: int, cores: int, count: int, name: str = "*", label: str = "") -> dict:
    capability = {"memory": memory, "vCores": cores}
    return {"resourceName": name, "capability": capability, "numContainers": count, "nodeLabelExpression": label}


def app(
    name: str, queue: str, *requests: dict, running: int = 0, size=(2048, 1), user="alice", state="RUNNING"
) -> dict:
    held = {"runningContainers": running, "allocatedMB": running * size[0], "allocatedVCores": running * size[1]}
    return {"id": name, "user": user, "queue": queue, "state": state, **held, "resourceRequests": list(requests)}


def write(folder: Path, **files) -> list[Path]:
    paths = []
    for name, content in files.items():
        path = folder / f"{name}.{'xml' if isinstance(content, str) else 'json'}"
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        paths.append(path)
    return paths


def nodes(*some: dict) -> dict:
    return {"nodes": {"node": list(some)}}


def apps(*some: dict) -> dict:
    return {"apps": {"app": list(some)}}


def told(found) -> str:
    return "\n".join(map(str, found.notes))


def test_xml_and_rest_make_a_cluster(tmp_path: Path) -> None:
    paths = write(
        tmp_path,
        queues=XML,
        nodes=nodes(node("h1"), node("h2"), node("h3", state="LOST")),
        apps=apps(
            app("a1", "root.eng.dev", request(2048, 1, 8), request(2048, 1, 8, "host1"), running=3),
            app("a2", "root.sci", request(4096, 2, 4), user="bob"),
            app("a3", "root.sci", running=2, size=(1024, 1), user="bob"),
            app("a4", "root.sci", state="FINISHED", running=-1),
        ),
    )
    found = read("yarn", paths)
    assert read("yarn", paths[::-1]).instance.exact_demands == found.instance.exact_demands
    instance, organisation = found.instance, found.instance.organisation
    assert instance.users == ("eng.dev", "sci")
    assert instance.counts.tolist() == [2]
    assert instance.max_tasks == (11, 6), "rows of a host repeat the same containers"
    assert [one.count for one in instance.task_types[1]] == [4, 2]
    assert instance.exact_weights == (Fraction(1, 2), 1)
    assert organisation.last == (False, True), "weight 0 is served last"
    assert organisation.paths == ("eng", "")
    assert organisation.groups[0].guarantee == {"memory-mb": 4096, "vcores": 1}
    assert organisation.groups[0].ceiling == {"memory-mb": 16384, "vcores": 8}
    assert organisation.ceilings == ({"vcores": 7}, {"vcores": 7})
    assert found.placement == {"eng.dev": {"16GiB-8cpu": 3}, "sci": {"16GiB-8cpu": 2}}
    notes = told(found)
    for line in (
        "node that is LOST (h3)",
        "app that is FINISHED (a4)",
        "limit on running apps (alice)",
        "maxRunningApps of a queue (eng.dev)",
        "running containers of an app are alike: each is its allocation over their number (a3)",
    ):
        assert line in notes, notes


def test_users_by_user_and_labels(tmp_path: Path) -> None:
    paths = write(
        tmp_path,
        nodes=nodes(node("h1", gpus=2, labels=["gpu"]), node("h2")),
        apps=apps(
            app("a1", "root.x", request(1024, 1, 2, label="gpu"), user="bob"),
            app("a2", "root.x", request(1024, 1, 2), running=1, size=(1024, 1)),
        ),
    )
    found = read("yarn", paths, "user")
    assert found.instance.users == ("bob", "alice")
    assert found.instance.eligible.tolist() == [[True, False], [True, True]]
    assert found.instance.machine_names == ("16GiB-8cpu-label=gpu", "16GiB-8cpu")
    assert found.placement == {}
    assert "on which of the unlike nodes is not told" in told(found)


def test_what_the_manager_prints_for_no_label(tmp_path: Path) -> None:
    paths = write(
        tmp_path,
        nodes=nodes(node("h1", labels=["gpu"]), node("h2")),
        apps=apps(
            app("a1", "x", request(1024, 1, 2, label="<Not set>")) | {"appNodeLabelExpression": "gpu"},
            app("a2", "y", request(1024, 1, 2)) | {"appNodeLabelExpression": "<Not set>"},
            app("a3", "z", request(1024, 1, 2)) | {"appNodeLabelExpression": "<DEFAULT_PARTITION>"},
        ),
    )
    assert read("yarn", paths).instance.eligible.tolist() == [[True, False], [True, True], [False, True]]


def test_the_scheduler_page_tells_bounds(tmp_path: Path) -> None:
    def queue(name: str, least: int, most: int, *below: dict) -> dict:
        bounds = {"minResources": {"memory": least, "vCores": 0}, "maxResources": {"memory": most, "vCores": 8}}
        return {"queueName": name, **bounds, "childQueues": {"queue": list(below)}}

    root = queue("root", 0, 16384, queue("root.a", 1024, 8192, queue("root.a.b", 0, 16384)))
    page = {"scheduler": {"schedulerInfo": {"type": "fairScheduler", "rootQueue": root}}}
    files = {"nodes": nodes(node("h1")), "apps": apps(app("a1", "root.a.b", request(1024, 1, 2)))}
    found = read("yarn", write(tmp_path, page=page, **files))
    (group,) = found.instance.organisation.groups
    assert (group.name, group.guarantee, group.ceiling) == ("a", {"memory-mb": 1024}, {"memory-mb": 8192})
    assert found.instance.organisation.ceilings == ({},)
    assert "the page does not tell weights" in told(found)

    leaf = {"queueName": "x", "capacity": 30, "absoluteCapacity": 25, "absoluteMaxCapacity": 50}
    info = {"type": "capacityScheduler", "queueName": "root", "queues": {"queue": [leaf]}}
    files["apps"] = apps(app("a1", "root.x", request(1024, 1, 2)))
    found = read("yarn", write(tmp_path, page={"scheduler": {"schedulerInfo": info}}, **files))
    assert found.instance.organisation.guarantees == ({"memory-mb": 4096, "vcores": 2},)
    assert found.instance.organisation.ceilings == ({"memory-mb": 8192, "vcores": 4},)
    assert found.instance.exact_weights == (30,)
    leaf |= {"capacity": 0, "weight": 10, "mode": "weight"}
    found = read("yarn", write(tmp_path, page={"scheduler": {"schedulerInfo": info}}, **files))
    assert found.instance.exact_weights == (10,)


def test_the_simulator(tmp_path: Path) -> None:
    rack = {
        "rack": "r1",
        "nodes": [{"node": "n1", "memory-mb": 8192, "vcores": 4}, {"node": "n2", "memory-mb": 8192, "vcores": 4}],
    }
    job = {
        "job.id": "j1",
        "job.queue.name": "root.q",
        "job.user": "carol",
        "job.tasks": [
            {"container.type": "map", "count": 3, "container.memory": 2048, "container.vcores": 2},
            {"container.type": "reduce"},
        ],
    }
    path = tmp_path / "sls.json"
    path.write_text(json.dumps(rack) + "\n" + json.dumps(job), encoding="utf-8")
    found = read("yarn", [path])
    assert found.instance.users == ("q",)
    assert [(one.count, tuple(one.demand)) for one in found.instance.task_types[0]] == [(3, (2048, 2)), (1, (1024, 1))]
    assert found.instance.counts.tolist() == [2]
    assert read("yarn", [path], "user").instance.users == ("carol",)
    for size in ("memory-mb has 1024", "vcores has 1"):
        assert f"container of the simulator that does not say its {size} (j1)" in told(found)


def test_the_simulator_says_sizes_nodes_and_labels_as_its_documentation_does(tmp_path: Path) -> None:
    container = {"count": 2, "container.duration.ms": 5, "container.memory-mb": 2048, "container.gpu-type": 1}
    job = {"job.id": "j", "job.count": 0, "am.memory-mb": 512, "job.tasks": [container]}
    path = tmp_path / "sls.json"
    path.write_text(json.dumps({"num.nodes": 3, "num.racks": 1}) + "\n" + json.dumps(job), encoding="utf-8")
    found = read("yarn", [path])
    assert found.instance.counts.tolist() == [3]
    assert found.instance.machine_capacity.tolist() == [[10240, 10, 0]]
    assert found.instance.demands.tolist() == [[2048, 1, 1]]
    assert found.instance.max_tasks == (2,)
    unused = [str(note) for note in found.notes if note.kind == "not used"]
    master = "container of the application master of a job of the simulator, 512 MB and 1 vcores each"
    assert f"not used: {master} (j)" in unused
    assert not any("container." in note for note in unused)


def test_times_and_priorities_of_the_simulator_are_told(tmp_path: Path) -> None:
    rack = {"rack": "r", "nodes": [{"node": "n"}]}
    container = {"container.start.ms": 0, "container.end.ms": 900, "container.priority": 20, "container.yarn.io/gpu": 0}
    job = {"job.id": "j", "job.start.ms": 0, "job.end.ms": 1000, "job.priority": 5, "job.tasks": [container] * 2}
    path = tmp_path / "sls.json"
    path.write_text(json.dumps(rack) + "\n" + json.dumps(job), encoding="utf-8")
    unused = [str(note) for note in read("yarn", [path]).notes if note.kind == "not used"]
    assert unused == [
        "not used: times of a job of the simulator: all of them are there at once (j)",
        "not used: job.priority of a job of the simulator (j)",
        "not used: container of the application master of a job of the simulator, 1024 MB and 1 vcores each (j)",
        "not used: 2 x times of a container of the simulator: all of them are there at once (such as j)",
        "not used: 2 x container.priority of a container of the simulator (such as j)",
    ]


def test_the_priority_of_an_app_is_told(tmp_path: Path) -> None:
    some = [app(name, "root.a", request(1024, 1, 2)) | {"priority": at} for at, name in enumerate("ab")]
    notes = told(read("yarn", write(tmp_path, nodes=nodes(node("h")), apps=apps(*some))))
    assert "not used: priority of an app (b)" in notes


BAD_XML = {
    "entity": ('<!DOCTYPE a [<!ENTITY b "c">]><allocations>&b;</allocations>', "declares a document type or an entity"),
    "laughs": (
        '<!DOCTYPE l [<!ENTITY a "ha">'
        + "".join(f'<!ENTITY a{i} "&a{i - 1 or ""};&a{i - 1 or ""};">' for i in range(1, 40))
        + "]><allocations>&a39;</allocations>",
        "declares a document type or an entity",
    ),
    "external": ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><allocations/>', "declares a document type"),
    "deep": ("<allocations>" + "<queue name='a'>" * 10**6, "elements are nested deeper than 64 levels"),
    "unclosed": ("<allocations>\n<queue name='a'>\n</allocations>", r"line 3, column \d+: mismatched tag"),
    "other root": ("<configuration/>", "has no property yarn.scheduler.capacity.root.queues"),
    "no name": ("<allocations><queue><weight>1</weight></queue></allocations>", "a <queue> has no name"),
    "weight": ("<allocations><queue name='a'><weight>heavy</weight></queue></allocations>", "queue a: weight: 'heavy'"),
    "negative": ("<allocations><queue name='a'><weight>-1</weight></queue></allocations>", "weight: is -1: write 0"),
    "huge": (
        f"<allocations><queue name='a'><weight>{'9' * 10**5}</weight></queue></allocations>",
        "too long for a number",
    ),
    "twice": ("<allocations><queue name='a'/><queue name='a'/></allocations>", "queue 'a' is listed twice"),
    "resources": (
        "<allocations><queue name='a'><maxResources>all</maxResources></queue></allocations>",
        "'all' is no amount",
    ),
    "empty": ("<allocations/>", None),
}


@pytest.mark.parametrize(("xml", "pattern"), BAD_XML.values(), ids=BAD_XML)
def test_bad_xml(tmp_path: Path, xml: str, pattern: str | None) -> None:
    paths = write(tmp_path, queues=xml, nodes=nodes(node("h")), apps=apps(app("a", "root.a", request(1024, 1, 2))))
    if pattern is None:
        assert read("yarn", paths).instance.users == ("a",)
        return
    with pytest.raises(InstanceError, match=pattern) as raised:
        read("yarn", paths)
    assert str(raised.value).isprintable()


def test_bad_rest(tmp_path: Path) -> None:
    with pytest.raises(InstanceError, match="is neither nodes, apps nor scheduler"):
        read("yarn", write(tmp_path, other={"cluster": 1}))
    with pytest.raises(InstanceError, match=r"nodes\.json, .*apps\.json: no task of a user is waiting or running"):
        read("yarn", write(tmp_path, nodes=nodes(node("h")), apps={"apps": None}))
    with pytest.raises(InstanceError, match="there is no machine to run on"):
        read("yarn", write(tmp_path, apps=apps(app("a", "q", request(1, 1, 1))), nodes={"nodes": None}))
    broken = node("h")
    broken["totalResource"]["resourceInformations"]["resourceInformation"][0]["units"] = "furlongs"
    with pytest.raises(InstanceError, match=r"units: is 'furlongs': use one of p, n, u, m, k"):
        read("yarn", write(tmp_path, nodes=nodes(broken)))


def test_queues_may_be_named_in_full(tmp_path: Path) -> None:
    (path,) = write(
        tmp_path, queues="<allocations><queue name='root.a'/><queue name='b'><queue name='c'/></queue></allocations>"
    )
    assert [queue.name for queue in read_queues(root(read_file(path)), "", WHOLE, Notes())] == ["a", "b", "b.c"]


# ---- the capacity scheduler --------------------------------------------------------------------------------


def capacities(**settings: str) -> str:
    rows = "".join(
        f"<property><name>yarn.scheduler.capacity.{key.replace('__', '.').replace('_', '-')}</name>"
        f"<value>{value}</value></property>"
        for key, value in settings.items()
    )
    return f"<?xml version='1.0'?><configuration>{rows}</configuration>"


def test_capacities_in_percent_weights_and_amounts(tmp_path: Path) -> None:
    text = capacities(
        root__queues="eng, sci,ops",
        root__eng__capacity="60",
        root__eng__maximum_capacity="80",
        root__eng__queues="a,b",
        root__eng__a__capacity="25%",
        root__eng__a__maximum_capacity="50",
        root__eng__b__capacity="75",
        root__sci__capacity="30.0",
        root__sci__queues="x,y",
        root__sci__x__capacity="1w",
        root__sci__y__capacity="2w",
        root__ops__capacity="10",
        root__ops__maximum_capacity="[memory=3000,vcores=1]",
        root__ops__state="STOPPED",
        maximum_am_resource_percent="0.1",
    )
    paths = write(tmp_path, queues=text, nodes=nodes(node("h1"), node("h2")))
    found = read("yarn", paths, saturate=True)
    whole = found.instance.organisation
    assert found.instance.users == ("eng.a", "eng.b", "sci.x", "sci.y", "ops")
    assert found.instance.exact_weights == (25, 75, 1, 2, 10)
    assert [(g.name, g.weight, g.guarantee["vcores"], g.ceiling) for g in whole.groups] == [
        ("eng", 60, Fraction(96, 10), {"memory-mb": Fraction(262144, 10), "vcores": Fraction(128, 10)}),
        ("sci", 30, Fraction(48, 10), {}),
    ]
    assert [one.get("vcores") for one in whole.guarantees] == [
        Fraction(12, 5),
        Fraction(36, 5),
        Fraction(8, 5),
        Fraction(16, 5),
        1,
    ]
    assert whole.ceilings[0] == {"memory-mb": Fraction(131072, 10), "vcores": Fraction(64, 10)}, (
        "half of its parent's most"
    )
    assert whole.ceilings[4] == {"memory-mb": 3000, "vcores": 1}
    assert "guarantee of vcores is cut to the ceiling: it was above it (ops)" in told(found)
    assert "queue that is stopped takes part with what is in it (root.ops)" in told(found)
    assert "setting maximum-am-resource-percent of the capacity scheduler (0.1)" in told(found)
    assert solve(found.instance).certificate.valid


def test_the_users_of_a_queue_bound_it(tmp_path: Path) -> None:
    text = capacities(
        root__queues="a,b", root__a__capacity="50", root__b__capacity="50", root__a__user_limit_factor="0.5"
    )
    files = {"queues": text, "nodes": nodes(node("h1"))}
    alone = apps(app("a1", "root.a", request(1024, 1, 9)), app("a2", "root.b", request(1024, 1, 9)))
    both = apps(*alone["apps"]["app"], app("a3", "root.a", request(1024, 1, 9), user="bob"))
    for some, most in ((alone, 2), (both, 4)):
        found = read("yarn", write(tmp_path, apps=some, **files))
        assert found.instance.organisation.ceilings[0] == {"memory-mb": 2048 * most, "vcores": most}
        assert found.instance.organisation.ceilings[1] == {"memory-mb": 8192, "vcores": 4}, "YARN's own factor is 1"
        assert "queue has no more than user-limit-factor lets its users of today have (a)" in told(found)
        own = "user-limit-factor, which is not written and 1 in YARN,"
        assert f"queue has no more than {own} lets its users of today have (b)" in told(found)
    # -1 is no limit. As users of their own they have that each, and who is in such a queue too may have all.
    shares = {"root__queues": "a,b", "root__a__capacity": "50", "root__b__capacity": "50"}
    files["queues"] = capacities(**shares, root__a__user_limit_factor="0.5", root__b__user_limit_factor="-1")
    both["apps"]["app"].append(app("a4", "root.b", request(1024, 1, 9), user="bob"))
    both["apps"]["app"].append(app("a5", "root.a", request(1024, 1, 9), user="eve"))
    found = read("yarn", write(tmp_path, apps=both, **files), "user")
    ceilings = dict(zip(found.instance.users, found.instance.organisation.ceilings, strict=True))
    assert ceilings["eve"] == {"memory-mb": 4096, "vcores": 2} and ceilings["bob"] == {}
    assert "user has no more than user-limit-factor of its queues' capacities (eve)" in told(found)


def test_apps_name_a_leaf_of_the_capacity_scheduler(tmp_path: Path) -> None:
    """An app of the queue root.b.b1 says "b1"; a parent's name, or one that two queues have, is nobody's short name."""
    text = capacities(
        root__queues="a,b",
        root__a__capacity="25",
        root__b__capacity="75",
        root__b__queues="b1,b2",
        root__b__b1__capacity="50",
        root__b__b2__capacity="50",
    )
    wanted = apps(app("a1", "b1", request(1024, 1, 9)), app("a2", "root.a", request(1024, 1, 9)))
    found = read("yarn", write(tmp_path, queues=text, nodes=nodes(node("h1")), apps=wanted)).instance
    assert found.users == ("b.b1", "a")
    assert found.organisation.paths == ("b", "")
    leaf = {"queueName": "b1", "capacity": 50, "absoluteCapacity": 25}
    top = {"queueName": "b", "capacity": 75, "absoluteCapacity": 75, "queues": {"queue": [leaf]}}
    page = {"type": "capacityScheduler", "queueName": "root", "queues": {"queue": [top]}}
    (tmp_path / "page").mkdir()
    files = {"page": {"scheduler": {"schedulerInfo": page}}, "nodes": nodes(node("h1")), "apps": wanted}
    assert read("yarn", write(tmp_path / "page", **files)).instance.users == ("b.b1", "a")
    leaf["userLimitFactor"] = 0.5  # of 25 % of 16384 MiB and 8 cores
    bounded = read("yarn", write(tmp_path / "page", **files))
    assert bounded.instance.organisation.ceilings[0] == {"memory-mb": 2048, "vcores": 1}
    del files["apps"]
    assert "how many users a queue has is not told" in told(
        read("yarn", [tmp_path / "page" / "page.json", tmp_path / "page" / "nodes.json"], saturate=True)
    )


def test_partitions_of_labelled_nodes(tmp_path: Path) -> None:
    text = capacities(
        root__queues="a,b",
        root__a__capacity="50",
        root__b__capacity="50",
        root__accessible_node_labels__gpu__capacity="100",
        root__a__accessible_node_labels="gpu",
        root__a__accessible_node_labels__gpu__capacity="100",
        root__b__accessible_node_labels=" ",
        root__a__default_node_label_expression="gpu",
    )
    paths = write(
        tmp_path,
        queues=text,
        nodes=nodes(node("h1", gpus=2, labels=["gpu"]), node("h2")),
        apps=apps(app("a1", "root.a", request(1024, 1, 9)), app("a2", "root.b", request(1024, 1, 9))),
    )
    found = read("yarn", paths)
    assert found.instance.organisation.guarantees == (
        {"memory-mb": 8192 + 16384, "vcores": 4 + 8},
        {"memory-mb": 8192, "vcores": 4},
    )
    assert found.instance.eligible.tolist() == [[True, False], [False, True]]
    assert "capacities of the partitions are added up: of one of them it may use more (root.a)" in told(found)
    said = "request without a node label can run on any node of its queue that is not exclusive (a2)"
    assert said in told(found), "a's are kept to its queue's label"


@pytest.mark.parametrize(
    ("settings", "pattern"),
    [
        ({"root__queues": "a,a"}, r"root\.queues: names 'a' twice"),
        ({"root__queues": "a", "root__a__capacity": "much"}, r"root\.a\.capacity: is 'much': write percent such as 40"),
        ({"root__queues": "a", "root__a__capacity": "-3"}, r"root\.a\.capacity: is '-3'"),
        (
            {"root__queues": "a,b,c", "root__a__capacity": "3w", "root__b__capacity": "[vcores=1]"},
            r"root\.a\.capacity: is a weight, and that of root\.b amounts: write those of all queues of a parent as",
        ),
        ({"root__queues": "a", "root__a__maximum_capacity": "[all]"}, r"maximum-capacity: 'all' is no amount"),
    ],
)
def test_bad_capacities(tmp_path: Path, settings: dict, pattern: str) -> None:
    with pytest.raises(InstanceError, match=pattern) as raised:
        read("yarn", write(tmp_path, queues=capacities(**settings), nodes=nodes(node("h1"))), saturate=True)
    assert "queues.xml: " in str(raised.value)


def test_capacities_that_miss_a_hundred_are_told(tmp_path: Path) -> None:
    text = capacities(root__queues="a,b", root__a__capacity="30", root__b__capacity="30")
    found = read("yarn", write(tmp_path, queues=text, nodes=nodes(node("h1"))), saturate=True)
    assert "capacities below a queue add up to 60 %, not 100 (root)" in told(found)


def test_metrics_are_a_pool_where_no_node_is_listed(tmp_path: Path) -> None:
    metrics = {"clusterMetrics": {"totalMB": 8192, "totalVirtualCores": 8}}
    found = read(
        "yarn",
        write(tmp_path, m=metrics, apps=apps(app("a1", "root.x", request(1024, 1, 2), running=3, size=(1024, 1)))),
    )
    assert found.instance.machines is None
    assert found.instance.exact_capacity == (8192, 8)
    assert found.current() == {"tasks": {"x": 3}}


def test_the_simulator_says_labels_in_a_text(tmp_path: Path) -> None:
    rack = {
        "rack": "r",
        "nodes": [
            {"node": "n1", "labels": "fast, big(exclusive=false)"},
            {"node": "n2", "labels": "big(exclusive=false)"},
            {"node": "n3"},
        ],
    }
    job = {"job.queue.name": "q", "job.count": 2, "job.tasks": [{"count": 3}]}
    labelled = {"job.queue.name": "l", "job.label.expression": "big", "job.tasks": [{"count": 1}]}
    path = tmp_path / "sls.json"
    path.write_text("\n".join(map(json.dumps, (rack, job, labelled))), encoding="utf-8")
    found = read("yarn", [path])
    assert found.instance.max_tasks == (6, 1)
    assert dict(zip(found.instance.machine_names, found.instance.eligible.T.tolist(), strict=True)) == {
        "10GiB-10cpu-label=big+fast": [False, True],
        "10GiB-10cpu-label=big": [True, True],
        "10GiB-10cpu": [True, False],
    }


def divided(tmp_path: Path, xml: str, *queues: str):
    """Return what is read of queues whose apps want forty containers each, on a node of 100 cores."""
    wanted = [app(f"a{i}", name, request(1024, 1, 40)) for i, name in enumerate(queues)]
    return read("yarn", write(tmp_path, queues=xml, nodes=nodes(node("h", 10**6, 100)), apps=apps(*wanted)))


def test_queues_of_apps_that_no_file_lists_are_below_the_root(tmp_path: Path) -> None:
    xml = "<allocations><queue name='root'><weight>3</weight><maxResources>vcores=20</maxResources><queue name='x'/>"
    found = divided(tmp_path, f"{xml}</queue></allocations>", "root.x", "root.new", "root.y.z")
    organisation = found.instance.organisation
    assert dict(zip(found.instance.users, organisation.paths, strict=True)) == {
        "x": "root",
        "new": "root",
        "y.z": "root/y",
    }
    assert solve(found.instance).tasks.tolist() == pytest.approx([20 / 3] * 3)
    assert "assumed: 3 x queue that is named and not listed has weight 1 and no bounds (such as new)" in told(found)


def test_a_default_maximum_is_of_every_queue(tmp_path: Path) -> None:
    xml = """<allocations><queueMaxResourcesDefault>vcores=10</queueMaxResourcesDefault>
    <queue name='eng' type='parent'><maxChildResources>vcores=3</maxChildResources><queue name='a'/><queue name='b'/>
    </queue><queue name='x'><minResources>1 mb, 15 vcores</minResources></queue></allocations>"""
    found = divided(tmp_path, xml, "root.eng.a", "root.eng.b", "root.eng.c", "root.new", "root.x")
    ceilings = dict(zip(found.instance.users, found.instance.organisation.ceilings, strict=True))
    ten = {"vcores": 10}
    assert ceilings == {"eng.a": ten, "eng.b": ten, "eng.c": {"vcores": 3}, "new": ten, "x": {"vcores": 15}}
    assert [(group.name, group.ceiling) for group in found.instance.organisation.groups] == [("eng", ten)]
    for line in (
        "not used: queueMaxResourcesDefault of the root queue, for all queues together: give root maxResources",
        "2 x queue that is named and not listed has weight 1 and the most that such queues may use (such as eng.c)",
        "assumed: maxResources below minResources count as these, as in YARN: vcores (x)",
    ):
        assert line in told(found)
    found = divided(tmp_path, xml, "root.eng.a")
    assert "not used: maxChildResources: it is for queues that users make (eng)" in told(found)


def test_an_app_of_which_no_container_is_told_is_called_by_its_state(tmp_path: Path) -> None:
    waiting = app("a1", "root.a", running=-1, state="ACCEPTED")
    paths = write(tmp_path, nodes=nodes(node("h")), apps=apps(waiting, app("a2", "root.a", request(1, 1, 1))))
    assert "not used: app that is ACCEPTED, and no container of it is told (a1)" in told(read("yarn", paths))


def test_numbers_of_files_count_in_the_unit_of_the_cluster(tmp_path: Path) -> None:
    disk = {"name": "disk", "units": "G", "value": 500}
    big = node("h1")
    big["totalResource"]["resourceInformations"]["resourceInformation"].append(disk)
    wants = request(1024, 1, 3)
    details = [{"name": "memory-mb", "units": "Mi", "value": 1024}, {"name": "vcores", "units": "m", "value": 500}]
    details.append({"name": "disk", "units": "M", "value": 250})
    wants["capability"]["resourceInformations"] = {"resourceInformation": details}
    work = apps(app("a1", "root.eng.dev", wants))
    fair = "<allocations><queue name='eng'><queue name='dev'><maxResources>memory-mb=9999, disk=100</maxResources>"
    settings = {
        "root.queues": "eng",
        "root.eng.queues": "dev",
        "root.eng.capacity": "100",
        "root.eng.dev.capacity": "100",
    }
    settings["root.eng.dev.maximum-capacity"] = "[memory=9999,disk=100]"
    lines = "".join(
        f"<property><name>yarn.scheduler.capacity.{key}</name><value>{value}</value></property>"
        for key, value in settings.items()
    )
    for xml in (f"{fair}</queue></queue></allocations>", f"<configuration>{lines}</configuration>"):
        found = read("yarn", write(tmp_path, queues=xml, nodes=nodes(big), apps=work)).instance
        assert dict(zip(found.resources, found.exact_demands[0], strict=True)) == {
            "memory-mb": 1024,
            "vcores": Fraction(1, 2),
            "disk": 250 * 10**6,
        }
        assert found.organisation.ceilings[0]["disk"] == 100 * 10**9
