"""Files as schedulers and traces list their machines, tasks and queues: n tasks of n / 10 users on n / 10 machines."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["LISTINGS"]


class _Draws:
    """What is drawn of n tasks: who has it, where it runs (of every third), and what it needs."""

    def __init__(self, n: int):
        random = np.random.default_rng([2018, n])
        self.few = max(2, n // 10)
        self.users, self.nodes = (random.integers(0, self.few, n).tolist() for _ in range(2))
        self.cpu, self.memory = (random.integers(1, 9, n).tolist() for _ in range(2))

    def tasks(self) -> Iterable[tuple[int, str, str | None, int, int]]:
        """Yield number, user, machine (None where it waits), processors and gigabytes."""
        drawn = enumerate(zip(self.users, self.nodes, self.cpu, self.memory, strict=True))
        for i, (user, node, cpu, memory) in drawn:
            yield i, f"u{user}", f"m{node}" if i % 3 == 0 else None, cpu, memory

    def machines(self) -> Iterable[tuple[str, int, int]]:
        """Yield name, processors and gigabytes of as many machines, of eight kinds."""
        for k in range(self.few):
            yield f"m{k}", 32 + 8 * (k % 8), 128

    def names(self) -> list[str]:
        """Return the users."""
        return [f"u{i}" for i in range(self.few)]


def _kind(api: str, kind: str, name: str, spec: dict[str, Any], space: str | None = None, **more: Any) -> dict:
    space_of = {} if space is None else {"namespace": space}
    labels = more.pop("labels", {})
    metadata = {"name": name, "labels": labels} | space_of
    return {"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec} | more


def _nodes(draws: _Draws) -> list[dict]:
    ready = [{"type": "Ready", "status": "True"}]
    return [
        _kind("v1", "Node", name, {}, labels={"zone": f"z{cpu}"}, status={
            "allocatable": {"cpu": str(cpu), "memory": f"{memory}Gi", "pods": "110"}, "conditions": ready,
        })
        for name, cpu, memory in draws.machines()
    ]  # fmt: skip


def _pods(draws: _Draws, of: Callable[[str], dict[str, Any]] = lambda user: {}) -> list[dict]:
    found = []
    for i, user, node, cpu, memory in draws.tasks():
        spec: dict[str, Any] = {
            "containers": [{"name": "c", "resources": {"requests": {"cpu": str(cpu), "memory": f"{memory}Gi"}}}]
        }
        if i % 5 == 0:
            spec["nodeSelector"] = {"zone": f"z{32 + 8 * (i % 8)}"}
        if node:
            spec["nodeName"] = node
        spec |= of(user).get("spec", {})
        phase = {"phase": "Running" if node else "Pending"}
        found.append(_kind("v1", "Pod", f"p{i}", spec, user, labels=of(user).get("labels", {}), status=phase))
    return found


def _listed(folder: Path, *items: dict) -> list[Path]:
    (folder / "all.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    return [folder / "all.json"]


def _kubernetes(folder: Path, draws: _Draws) -> list[Path]:
    quotas = [_kind("v1", "ResourceQuota", "q", {"hard": {"requests.cpu": "64"}}, u) for u in draws.names()]
    return _listed(folder, *_nodes(draws), *_pods(draws), *quotas)


def _kueue(folder: Path, draws: _Draws) -> list[Path]:
    api = "kueue.x-k8s.io/v1beta1"
    items = [_kind(api, "ResourceFlavor", "plain", {})]
    quotas = [{"name": "cpu", "nominalQuota": 64}, {"name": "memory", "nominalQuota": "256Gi"}]
    flavors = {"coveredResources": ["cpu", "memory"], "flavors": [{"name": "plain", "resources": quotas}]}
    for user in draws.names():
        items += [
            _kind(api, "ClusterQueue", user, {"cohort": f"c{user[-1]}", "resourceGroups": [flavors]}),
            _kind(api, "LocalQueue", "lq", {"clusterQueue": user}, user),
        ]
    for i, user, _, cpu, memory in draws.tasks():
        requests = {"cpu": str(cpu), "memory": f"{memory}Gi"}
        template = {"spec": {"containers": [{"name": "c", "resources": {"requests": requests}}]}}
        sets = [{"name": "main", "count": 1 + i % 3, "template": template}]
        items.append(_kind(api, "Workload", f"w{i}", {"queueName": "lq", "podSets": sets}, user))
    return _listed(folder, *_nodes(draws), *items)


def _volcano(folder: Path, draws: _Draws) -> list[Path]:
    queues = [_kind("scheduling.volcano.sh/v1beta1", "Queue", user, {"weight": 1}) for user in draws.names()]
    jobs = [
        _kind("batch.volcano.sh/v1alpha1", "Job", f"j{i}", {"queue": user, "tasks": [{
            "name": "t", "replicas": 1 + i % 3, "template": {"spec": {"containers": [
                {"name": "c", "resources": {"requests": {"cpu": str(cpu), "memory": f"{memory}Gi"}}}
            ]}},
        }]}, user)
        for i, user, _, cpu, memory in draws.tasks()
    ]  # fmt: skip
    return _listed(folder, *_nodes(draws), *queues, *jobs)


def _kai(folder: Path, draws: _Draws) -> list[Path]:
    free = {"quota": 1, "limit": -1, "overQuotaWeight": 1}
    resources = {"gpu": free, "cpu": free, "memory": free}
    queues = [_kind("scheduling.run.ai/v2", "Queue", u, {"resources": resources}) for u in draws.names()]
    pods = _pods(draws, lambda user: {"labels": {"kai.scheduler/queue": user}})
    return _listed(folder, *_nodes(draws), *queues, *pods)


def _koordinator(folder: Path, draws: _Draws) -> list[Path]:
    api = "scheduling.sigs.k8s.io/v1alpha1"
    most = {"min": {"cpu": "4", "memory": "16Gi"}, "max": {"cpu": "64", "memory": "256Gi"}}
    quotas = [_kind(api, "ElasticQuota", user, most, user) for user in draws.names()]
    pods = _pods(draws, lambda user: {"labels": {"quota.scheduling.koordinator.sh/name": user}})
    return _listed(folder, *_nodes(draws), *quotas, *pods)


def _yunikorn(folder: Path, draws: _Draws) -> list[Path]:
    queues = "".join(f"          - name: {user}\n" for user in draws.names())
    file = folder / "queues.yaml"
    file.write_text(
        f"partitions:\n  - name: default\n    queues:\n      - name: root\n        queues:\n{queues}", encoding="utf-8"
    )
    return [file, *_listed(folder, *_nodes(draws), *_pods(draws, lambda user: {"labels": {"queue": f"root.{user}"}}))]


def _slurm(folder: Path, draws: _Draws) -> list[Path]:
    nodes = "".join(f"{name}|{cpu}|{memory * 1024}|(null)|cpu*|idle\n" for name, cpu, memory in draws.machines())
    head = "JobIDRaw|User|Account|Partition|QOS|State|NNodes|NTasks|ReqTRES|AllocTRES|Elapsed|NodeList\n"
    jobs = "".join(
        f"{i}|{user}|a{user[-1]}|cpu|normal|{'RUNNING' if node else 'PENDING'}|1||"
        f"cpu={cpu},mem={memory}G,node=1|{f'cpu={cpu},mem={memory}G,node=1' if node else ''}|00:00:00|{node or ''}\n"
        for i, user, node, cpu, memory in draws.tasks()
    )
    for name, text in (("sinfo", nodes), ("sacct", head + jobs)):
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / "sinfo", folder / "sacct"]


def _yarn(folder: Path, draws: _Draws) -> list[Path]:
    nodes = [
        {"id": f"{name}:1", "nodeHostName": name, "rack": "/r", "state": "RUNNING",
         "totalResource": {"memory": memory * 1024, "vCores": cpu}}
        for name, cpu, memory in draws.machines()
    ]  # fmt: skip
    apps = [
        {"id": f"application_1_{i}", "user": user, "queue": f"root.{user}", "state": "RUNNING",
         "allocatedMB": 0, "allocatedVCores": 0, "resourceRequests": [{
             "priority": 1, "resourceName": "*", "capability": {"memory": memory * 1024, "vCores": cpu},
             "numContainers": 1 + i % 3}]}
        for i, user, _, cpu, memory in draws.tasks()
    ]  # fmt: skip
    for name, content in (("nodes", {"nodes": {"node": nodes}}), ("apps", {"apps": {"app": apps}})):
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return [folder / "nodes.json", folder / "apps.json"]


def _mesos(folder: Path, draws: _Draws) -> list[Path]:
    slaves = [
        {"id": name, "hostname": name, "active": True, "attributes": {}, "resources": {"cpus": cpu, "mem": 1024 * mem}}
        for name, cpu, mem in draws.machines()
    ]
    tasks: dict[str, list[dict[str, Any]]] = {user: [] for user in draws.names()}
    for i, user, node, cpu, memory in draws.tasks():
        resources = {"cpus": cpu, "mem": 1024 * memory}
        tasks[user].append(
            {"id": f"t{i}", "framework_id": user, "slave_id": node or "m0", "role": user, "state": "TASK_RUNNING",
             "resources": resources}
        )  # fmt: skip
    frameworks = [{"id": u, "name": u, "roles": [u], "active": True, "tasks": mine} for u, mine in tasks.items()]
    state = {"version": "1.11.0", "slaves": slaves, "frameworks": frameworks}
    (folder / "state.json").write_text(json.dumps(state), encoding="utf-8")
    return [folder / "state.json"]


def _lines(folder: Path, **files: Iterable[str]) -> list[Path]:
    for name, rows in files.items():
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return [folder / f"{name}.csv" for name in files]


def _csv(folder: Path, draws: _Draws) -> list[Path]:
    return _lines(
        folder,
        machines=["machine,cpu,memory", *(f"{name},{cpu},{memory}" for name, cpu, memory in draws.machines())],
        tasks=[
            "user,task,count,machine,cpu,memory",
            *(f"{user},t{i},1,{node or ''},{cpu},{mem}" for i, user, node, cpu, mem in draws.tasks()),
        ],
    )


def _google(folder: Path, draws: _Draws) -> list[Path]:
    return _lines(
        folder,
        machine_events=(f"0,{name[1:]},0,p,{cpu / 128},{mem / 256}" for name, cpu, mem in draws.machines()),
        task_events=(
            f"0,,{user[1:]},{i},,0,{user},0,9,{cpu / 256},{mem / 512},0,0" for i, user, _, cpu, mem in draws.tasks()
        ),
    )


def _alibaba(folder: Path, draws: _Draws) -> list[Path]:
    tasks = list(draws.tasks())
    return _lines(
        folder,
        machine_meta=(f"{name},0,1,1,{cpu},{mem / 2},USING" for name, cpu, mem in draws.machines()),
        batch_task=(f"t{i},{1 + i % 3},{user},1,Running,0,1,{cpu}00,{mem / 8}" for i, user, _, cpu, mem in tasks),
        container_meta=(
            f"c{i},{node},0,app{user},started,{cpu}00,{cpu}00,{mem / 8}" for i, user, node, cpu, mem in tasks if node
        ),
    )


def _openb(folder: Path, draws: _Draws) -> list[Path]:
    nodes = [
        f"{name},{1000 * cpu},{1024 * memory},{cpu % 3 * 2},{'P100' if cpu % 3 else ''}"
        for name, cpu, memory in draws.machines()
    ]
    pods = [
        f"p{i},{1000 * cpu},{1024 * memory},{i % 2},{500 * (i % 2)},,LS,Running,0,1,0"
        for i, _, _, cpu, memory in draws.tasks()
    ]
    times = "creation_time,deletion_time,scheduled_time"
    return _lines(
        folder,
        nodes=["sn,cpu_milli,memory_mib,gpu,model", *nodes],
        pods=[f"name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,{times}", *pods],
    )


def _written(write: Callable[[Path, _Draws], list[Path]]) -> Callable[[Path, int], list[Path]]:
    return lambda folder, n: write(folder, _Draws(n))


LISTINGS: dict[str, Callable[[Path, int], list[Path]]] = {
    name: _written(write)
    for name, write in (
        ("kubernetes", _kubernetes),
        ("kueue", _kueue),
        ("volcano", _volcano),
        ("kai", _kai),
        ("koordinator", _koordinator),
        ("yunikorn", _yunikorn),
        ("slurm", _slurm),
        ("yarn", _yarn),
        ("mesos", _mesos),
        ("csv", _csv),
        ("google2011", _google),
        ("alibaba2018", _alibaba),
        ("openb", _openb),
    )
}
"""By the format's name: writes so many tasks into a folder, and returns the files."""
