"""Files that people wrote: every set with machines and queues is converted, solved, verified, explained, reported."""

import json
from pathlib import Path

import pytest

import drfopt
from drfopt.base.errors import InstanceError
from drfopt.certificates.document import certificate_document
from drfopt.certificates.verifier import loads, verify
from drfopt.io.readers.asking import read
from drfopt.model.document import document

NODES = "kubernetes/k9s-no.json"
REST = ("yarn/rmdoc-08-nodes.json",)

SETS: dict[str, tuple[str, tuple[str, ...], dict]] = {
    "yarn, capacity scheduler": ("yarn", ("yarn/rm-capacity.xml", *REST), {"saturate": True}),
    "yarn, pages": (
        "yarn",
        ("yarn/rmdoc-02-scheduler.json", "yarn/rmdoc-03-scheduler.json", "yarn/rmdoc-04-apps.json", *REST),
        {"saturate": True},
    ),
    "yarn, fair scheduler": ("yarn", ("yarn/sls-sample-fair.xml", *REST), {"saturate": True}),
    "yarn, simulator": (
        "yarn",
        ("yarn/sls-nodes-with-resources.json", "yarn/sls_dag.json", "yarn/sls-sample-fair.xml"),
        {},
    ),
    "slurm": (
        "slurm",
        tuple(f"slurm/V0040Openapi{what}Resp.json" for what in ("JobInfo", "Nodes", "Shares")),
        {},
    ),
    "slurm, shares alone": (
        "slurm",
        ("slurm/V0040OpenapiNodesResp.json", "slurm/V0040OpenapiSharesResp.json"),
        {"saturate": True},
    ),
    "volcano": (
        "volcano",
        (
            "volcano/example_deployment_queue.yaml",
            "volcano/example_hierarchical-jobs_jobs.yaml",
            "volcano/example_hierarchical-jobs_queues.yaml",
            "volcano/example_job.yaml",
            "volcano/staging_src_volcano.sh_apis_artifacts_podgroup.yaml",
        ),
        {"machines": NODES},
    ),
    "volcano, queues alone": (
        "volcano",
        ("volcano/example_hierarchical-jobs_queues.yaml",),
        {"machines": NODES, "saturate": True},
    ),
    "kueue, two groups": (
        "kueue",
        tuple(
            f"kueue/kueueviz-0{name}.yaml"
            for name in ("0-resource-flavor", "1-cluster-queues", "2-local-queues", "3-agi-job", "4-llm-job")
        ),
        {},
    ),
    "kueue, two flavors": ("kueue", ("kueue/shared-quota-setup.yaml", "kueue/shared-quota-sample-job.yaml"), {}),
    "kueue, one queue": ("kueue", ("kueue/single-clusterqueue-setup.yaml",), {"saturate": True}),
    "kueue, topology": ("kueue", ("kueue/sample-gpu-queues.yaml",), {"saturate": True}),
    "kueue, its own fallback": ("kueue", ("kueue/shared-quota-setup.yaml",), {}),
    "kubernetes, popeye": (
        "kubernetes",
        tuple(f"kubernetes/popeye-{what}.yaml" for what in ("nodes", "pods1", "pods2")),
        {},
    ),
    "kubernetes, k9s": ("kubernetes", (NODES, "kubernetes/k9s-po.json"), {}),
    "mesos, roles": ("mesos", ("mesos/dcos-state.json",), {}),
    "mesos, frameworks": ("mesos", ("mesos/dcos-state.json",), {"user_by": "framework"}),
    "koordinator": ("koordinator", ("koordinator/multi-tree.yaml",), {"saturate": True}),
    **{
        f"{kind}, {name}": (kind, (f"{kind}/{name}.yaml",), {"machines": NODES, "saturate": True})
        for kind, names in {
            "yunikorn": ("core-queues", "namespace-queues", "preemption", "resource-limits"),
            "kai": ("default-queues", "limited-queue"),
        }.items()
        for name in names
    },
}

REFUSED: dict[str, tuple[str, str, str]] = {
    "yarn/rm-capacity.xml": (
        "yarn",
        "there are none",
        "no task of a user is waiting or running.*or say saturate \\(--saturate\\)",
    ),
    "yarn/rmdoc-03-scheduler.json": ("yarn", "", "queues of a scheduler of type fifoScheduler"),
    "kai/default-queues.yaml": (
        "kai",
        "",
        "saturate \\(--saturate\\), with a file of machines as machines \\(--machines\\): its 1 queue wants everything",
    ),
    "kubernetes/popeye-nodes.yaml": ("kubernetes", "", "no task of a user.*give the files that list the tasks too"),
    **{
        f"slurm/{name}.txt": (
            "slurm",
            "",
            rf"{name}.txt: line 1: is neither a header nor a row .* no header says what its",
        )
        for name in ("dd-sacct", "dd-sinfo", "dd-squeue", "dd-sshare", "rivos-sacctmgr")
    },
}


@pytest.fixture(scope="module")
def real(data_folder: Path) -> Path:
    folder = data_folder.parent / "formats/real"
    if not folder.is_dir():
        pytest.skip(f"the folder of real files {folder} is missing")
    return folder


@pytest.mark.parametrize("name", SETS)
def test_a_set_is_converted_solved_verified_explained_and_reported(real: Path, name: str) -> None:
    kind, files, options = SETS[name]
    options = options | ({"machines": real / options["machines"]} if "machines" in options else {})
    found = read(kind, [real / file for file in files], **options)
    allocation = drfopt.solve(found.instance)
    assert allocation.certificate.valid
    assert drfopt.verify(allocation).valid is True, "what --certificate writes is proven, of floats too"
    written = loads(json.dumps(certificate_document(allocation)))
    assert verify(written, document(found.instance)).valid is True, "and read beside the instance's own file"
    assert any(allocation.tasks), "somebody has something"
    assert len(str(drfopt.explain(found.instance, "drf")).splitlines()) > found.instance.n
    page = drfopt.report(found.instance, ["drf"]).html
    assert all(user in page for user in found.instance.users if user.isalnum())


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_names_file_place_and_remedy(real: Path, name: str) -> None:
    kind, _, pattern = REFUSED[name]
    with pytest.raises(InstanceError, match=pattern) as raised:
        read(kind, [real / name])
    assert str(raised.value).isprintable()


def test_every_file_is_in_a_set(real: Path) -> None:
    listed = {path for _, files, options in SETS.values() for path in (*files, options.get("machines", ""))}
    there = {str(path.relative_to(real)) for path in real.glob("*/*")}
    assert there <= listed | REFUSED.keys()


def test_the_numbers_of_some(real: Path) -> None:
    found = read("yarn", [real / "yarn/rm-capacity.xml", real / REST[0]], saturate=True)
    assert found.instance.organisation.guarantees == ({"memory-mb": 16384, "vcores": 16},)
    found = read("volcano", [real / file for file in SETS["volcano"][1]], machines=real / NODES)
    asked = dict(zip(found.instance.users, found.instance.max_tasks, strict=True))
    assert asked["root-eng-prod"] == asked["root-sci-dev"] == 6
    assert asked["default"] == 7, "six pods of a Job, and a PodGroup"
    weights = {group.name: group.weight for group in found.instance.organisation.groups}
    assert (weights["eng"], weights["sci"]) == (2, 8)
    found = read("kueue", [real / file for file in SETS["kueue, two groups"][1]])
    assert dict(zip(found.instance.users, found.instance.max_tasks, strict=True)) == {
        "agi-cluster-queue": 3,
        "llm-cluster-queue": 3,
    }
