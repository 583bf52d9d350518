"""The objects in files that kubectl or a manifest wrote, by kind; in any order, one to a document or in lists."""

from collections.abc import Callable, Iterable, Iterator

from ...text.files import File, failure
from ...text.parts import TreePart, parts
from ..conversion import Notes

__all__ = ["OWNERS", "Objects", "Template", "annotations", "labels", "name", "namespace", "tell_unused"]


class Objects:
    """All objects of some files; what no reader takes can be told.

    Parameters
    ----------
    files : iterable of File
        JSON or YAML; a kind that ends in ``List`` is unpacked, an object that is listed again passed over.
    notes : Notes

    Attributes
    ----------
    loose : list of TreePart
        Documents that are no objects of Kubernetes: they have no kind.
    """

    def __init__(self, files: Iterable[File], notes: Notes):
        self._notes = notes
        self._found: dict[tuple[str, str], list[TreePart]] = {}
        self._seen: set[tuple[str, str, str, str]] = set()
        self._taken: set[tuple[str, str]] = set()
        self.loose: list[TreePart] = []
        for file in files:
            for part in parts(file):
                self._add(part, "", "")

    def take(self, kind: str, group: str | None = None) -> list[TreePart]:
        """Return the objects of a kind, of one group of the interface (``kueue.x-k8s.io``) or any; ``""`` is v1."""
        found = []
        for key, some in self._found.items():
            if key[1] == kind and group in (None, key[0]):
                self._taken.add(key)
                found += some
        return found

    def refuse_loose(self) -> None:
        """Raise `InstanceError` when some document is no object of Kubernetes."""
        for part in self.loose:
            raise failure(part.place, "is no object of Kubernetes, it has no kind: write it with 'kubectl get -o json'")

    def tell_rest(self) -> None:
        """Note what nobody took."""
        for key, some in self._found.items():
            if key not in self._taken:
                self._notes.no_task(f"object of kind {key[1]}", name(some[0]), len(some))

    def _add(self, part: TreePart, kind: str, version: str) -> None:
        if isinstance(part.value, list):
            for item in part.each():
                self._add(item, kind, version)
            return
        kind, version = part["kind"].text(kind), part["apiVersion"].text(version)
        if kind.endswith("List"):
            # The items of a raw list (kubectl get --raw) do not repeat what they are.
            for item in part["items"].each():
                self._add(item, kind.removesuffix("List"), version)
        elif kind:
            key = (version.rpartition("/")[0], kind)
            identity = (*key, namespace(part), part["metadata"]["name"].text())
            if identity[-1] and identity in self._seen:
                self._notes.unused(f"{kind} that was listed before", f"{identity[2]}/{identity[3]}")
                return
            self._seen.add(identity)
            self._found.setdefault(key, []).append(part)
        elif part._parent is None:
            self.loose.append(part)
        else:
            raise failure(part.place, "has no kind: write the objects as 'kubectl get ... -o json' does")


def name(item: TreePart) -> str:
    """Return the name of an object, or how a name will begin that is still to be made up."""
    metadata = item["metadata"]
    return metadata["name"].text() or metadata["generateName"].text().rstrip("-")


def namespace(item: TreePart) -> str:
    """Return the namespace of an object."""
    return item["metadata"]["namespace"].text("default")


def labels(item: TreePart) -> dict[str, str]:
    """Return the labels of an object."""
    return dict(_texts(item["metadata"]["labels"]))


def annotations(item: TreePart) -> dict[str, str]:
    """Return the annotations of an object."""
    return dict(_texts(item["metadata"]["annotations"]))


def tell_unused(part: TreePart, used: Iterable[str], whose: str, example: str, notes: Notes) -> None:
    """Note the keys of a table that say something and play no part."""
    for key, one in part.pairs():
        if key not in used and one.value not in ("", [], {}):
            notes.unused(f"{key} of {whose}", example)


def _texts(part: TreePart) -> Iterator[tuple[str, str]]:
    for key, value in part.pairs():
        # YAML written by hand may leave true without its quotes.
        yield key, str(value.value).lower() if isinstance(value.value, bool) else value.text()


Template = tuple[str, int, TreePart]
"""What a part of an owner is called, its number of pods, and the template of each."""


def _one(count: str) -> Callable[[TreePart], Iterator[Template]]:
    return lambda spec: iter([("", spec[count].count(missing=1), spec["template"])])


def _job(spec: TreePart) -> Iterator[Template]:
    parallel = spec["parallelism"].count(missing=1)
    yield "", min(parallel, spec["completions"].count(missing=parallel)), spec["template"]


def _volcano_job(spec: TreePart) -> Iterator[Template]:
    for task in spec["tasks"].each():
        yield task["name"].text(), task["replicas"].count(missing=1), task["template"]


def _job_set(spec: TreePart) -> Iterator[Template]:
    for part in spec["replicatedJobs"].each():
        for _, count, template in _job(part["template"]["spec"]):
            yield part["name"].text(), part["replicas"].count(missing=1) * count, template


def _ray_cluster(spec: TreePart) -> Iterator[Template]:
    yield "head", 1, spec["headGroupSpec"]["template"]
    for part in spec["workerGroupSpecs"].each():
        hosts = part["numOfHosts"].count(missing=1)
        yield part["groupName"].text("worker"), part["replicas"].count(missing=1) * hosts, part["template"]


def _replica_specs(spec: TreePart) -> Iterator[Template]:
    for key, roles in spec.pairs():
        for role, part in roles.pairs() if key.lower().endswith("replicaspecs") else ():
            yield role.lower(), part["replicas"].count(missing=1), part["template"]


def _leader_and_workers(spec: TreePart) -> Iterator[Template]:
    whole = spec["leaderWorkerTemplate"]
    replicas, size = spec["replicas"].count(missing=1), whole["size"].count(missing=1)
    yield "leader", replicas, whole["leaderTemplate"] or whole["workerTemplate"]
    yield "worker", replicas * max(0, size - 1), whole["workerTemplate"]


def _wrapped(spec: TreePart) -> Iterator[Template]:
    for component in spec["components"].each():
        inner = component["template"]
        kind, group = inner["kind"].text(), inner["apiVersion"].text().rpartition("/")[0]
        if kind == "Pod":
            yield name(inner), 1, inner
        for known, groups, templates in OWNERS:
            if kind == known and group in groups:
                for own, count, template in templates(inner["spec"]):
                    yield f"{name(inner)}/{own}".rstrip("/"), count, template


OWNERS: tuple[tuple[str, tuple[str, ...], Callable[[TreePart], Iterator[Template]]], ...] = (
    ("Deployment", ("apps", "extensions", ""), _one("replicas")),
    ("StatefulSet", ("apps", ""), _one("replicas")),
    ("ReplicaSet", ("apps", "extensions", ""), _one("replicas")),
    ("ReplicationController", ("",), _one("replicas")),
    ("Job", ("batch", ""), _job),
    ("Job", ("batch.volcano.sh",), _volcano_job),
    ("JobSet", ("jobset.x-k8s.io",), _job_set),
    ("RayJob", ("ray.io",), lambda spec: _ray_cluster(spec["rayClusterSpec"])),
    ("RayService", ("ray.io",), lambda spec: _ray_cluster(spec["rayClusterConfig"])),
    ("RayCluster", ("ray.io",), _ray_cluster),
    ("AppWrapper", ("workload.codeflare.dev",), _wrapped),
    ("LeaderWorkerSet", ("leaderworkerset.x-k8s.io",), _leader_and_workers),
    *(
        (kind, ("kubeflow.org",), _replica_specs)
        for kind in ("PyTorchJob", "TFJob", "MPIJob", "XGBoostJob", "PaddleJob", "MXJob", "JAXJob")
    ),
)
"""Kinds that make pods of templates, the groups of the interface that have a kind of that name, and how many."""
