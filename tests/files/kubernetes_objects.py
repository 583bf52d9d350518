"""Small objects of Kubernetes to put into files: a node, a pod, and lists of them."""

import json
from pathlib import Path


def node(name: str, cpu: str = "8", memory: str = "32Gi", labels=None, taints=(), ready="True", **spec) -> dict:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": dict(labels or {}) | {"kubernetes.io/hostname": name}},
        "spec": {"taints": list(taints), **spec},
        "status": {
            "allocatable": {"cpu": cpu, "memory": memory, "pods": "110"},
            "conditions": [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": ready}],
        },
    }


def pod(name: str, namespace: str = "a", cpu: str = "1", memory: str = "1Gi", on=None, phase=None, **rest) -> dict:
    metadata = {"name": name, "namespace": namespace}
    metadata |= {key: rest.pop(key) for key in ("labels", "annotations", "ownerReferences") if key in rest}
    requests = {key: amount for key, amount in (("cpu", cpu), ("memory", memory)) if amount}
    spec = {"containers": [{"name": "main", "resources": {"requests": requests}}]} | rest
    if on:
        spec["nodeName"] = on
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": spec,
        "status": {"phase": phase or ("Running" if on else "Pending")},
    }


def write(path: Path, *items: dict) -> Path:
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(items)}), encoding="utf-8")
    return path
