"""The openb reader: the facts of the published trace, and one line for whatever is wrong with a list."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from drfopt.base.errors import InstanceError
from drfopt.io.native import reading as reader
from drfopt.io.native import writing as writer
from drfopt.io.readers.asking import read
from drfopt.io.readers.formats import FORMATS

GIB = 2**30
NODES = "sn,cpu_milli,memory_mib,gpu,model\n"
PODS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos\n"
TWO_NODES = NODES + "n1,8000,32768,2,T4\nn2,8000,32768,2,T4\nn3,4000,1000,0,\n"


def write(folder: Path, nodes: str, pods: str) -> list[Path]:
    paths = [folder / "nodes.csv", folder / "pods.csv"]
    for path, content in zip(paths, (nodes, pods), strict=True):
        path.write_text(content, encoding="utf-8")
    return paths


def test_the_published_trace(data_folder: Path) -> None:
    folder = data_folder / "openb"
    files = [folder / "openb_pod_list_gpuspec33.csv", folder / "openb_node_list_all_node.csv"]
    instance = read("openb", files).instance
    assert (instance.k, instance.n, instance.fits.sum()) == (27, 457, 3414)
    assert instance.resources == ("cpu", "memory", "gpu")
    assert instance.exact_capacity == (125_514, 597_684 * GIB, 6_212)
    assert sum(instance.exact_limits) == 8152
    unplaced = [instance.users[i] for i in instance.unplaced().nonzero()[0]]
    assert unplaced == ["120cpu-720GiB-8gpu-G2"]
    assert {one.devices["gpu"].count for one in instance.machines if one.devices} == {1, 2, 4, 8}
    assert "cpu in cores, memory in bytes" in instance.source
    assert instance.units == ("", "bytes", ""), "told as 5.5 TiB, not as a number"
    assert "V100M32-96cpu-768GiB-8gpu" in instance.machine_names
    assert read("openb", files[::-1]).instance == instance
    assert reader.loads(writer.dumps(instance)) == instance


def test_the_pods_without_constraints(data_folder: Path) -> None:
    folder = data_folder / "openb"
    instance = read("openb", [folder / "openb_node_list_all_node.csv", folder / "openb_pod_list_default.csv"]).instance
    assert instance.n == 151
    assert instance.eligible.all()


def test_merging_and_names(tmp_path: Path) -> None:
    pods = PODS + "p1,1500,2048,1,460,T4|A10,LS\np2,1500,2048,1,460,T4|A10,BE\n"
    pods += "p3,1500,2000,2,1000,,LS\np4,1,0,0,0,G9,LS\n"
    instance = read("openb", write(tmp_path, TWO_NODES, pods)).instance
    assert instance.machine_names == ("T4-8cpu-32GiB-2gpu", "4cpu-1000MiB")
    assert instance.counts.tolist() == [2, 1]
    assert instance.users == ("1.5cpu-2GiB-0.46gpu-T4|A10", "1.5cpu-2000MiB-2gpu", "0.001cpu-0GiB-G9")
    assert instance.exact_limits == (2, 1, 1)
    assert instance.exact_demands[0] == (Fraction(3, 2), 2 * GIB, Fraction(46, 100))
    assert instance.exact_demands[1] == (Fraction(3, 2), 2000 * GIB / 1024, 2)
    assert instance.eligible.tolist() == [[True, False], [True, True], [False, False]]
    assert instance.unplaced().tolist() == [False, False, True], "a model the cluster has not: she fits nowhere"


def test_short_lists(tmp_path: Path) -> None:
    pods = "\ufeffname,cpu_milli,memory_mib,num_gpu,gpu_milli\r\np1,1000,1024,0,\r\n\r\np2,1000,1024,0,\r\n"
    instance = read("openb", write(tmp_path, TWO_NODES, pods)).instance
    assert instance.users == ("1cpu-1GiB",)
    assert instance.exact_limits == (2,)
    assert instance.eligible.all()


BAD = {
    "column missing": (
        NODES,
        "name,cpu_milli,memory_mib,gpu_milli\n",
        r"pods\.csv: line 1: the column 'num_gpu' is missing",
    ),
    "column in other letters": (
        NODES.replace("sn", "SN"),
        PODS,
        r"nodes\.csv: line 1: the column 'sn' is missing: write 'sn' for 'SN': a list of nodes has",
    ),
    "no header": (
        TWO_NODES,
        "p1,1,2,3\n",
        r"pods\.csv: line 1: the column 'name' is missing.*a list of pods",
    ),
    "no rows": (NODES, PODS + "p,1,1,0,0,,\n", r"nodes\.csv: has a header and no rows"),
    "empty": ("", PODS, r"nodes\.csv: is empty"),
    "short row": (
        TWO_NODES,
        PODS + "p,1,1,0,0,,\np,1\n",
        r"pods\.csv: line 3: has 2 columns, but the header has 7",
    ),
    "long row": (TWO_NODES, PODS + "p,1,1,0,0,,,,\n", r"pods\.csv: line 2: has 9 columns"),
    "word": (
        TWO_NODES,
        PODS + "p,1,much,0,0,,\n",
        r"pods\.csv: line 2: memory_mib is 'much': write a whole number",
    ),
    "negative": (
        TWO_NODES,
        PODS + "p,-5,1,0,0,,\n",
        r"pods\.csv: line 2: cpu_milli is '-5': write a whole number, 0 or more",
    ),
    "decimal": (NODES + "n,1.5,1,0,\n", PODS + "p,1,1,0,0,,\n", r"nodes\.csv: line 2: cpu_milli is '1.5'"),
    "nan": (NODES + "n,nan,1,0,\n", PODS + "p,1,1,0,0,,\n", r"nodes\.csv: line 2: cpu_milli is 'nan'"),
    "digits": (NODES + f"n,{'9' * 10**5},1,0,\n", PODS, r"nodes\.csv: line 2: cpu_milli is '9+"),
    "no amount": (TWO_NODES, PODS + "p,1,1,2,,,\n", r"pods\.csv: line 2: gpu_milli is ''"),
    "nothing": (TWO_NODES, PODS + "p,0,0,0,0,,\n", r"pods\.csv: line 2: the pod demands nothing"),
    "quote": (TWO_NODES, PODS + '"' + "x" * 200_000, r"pods\.csv: line \d: field larger than field limit"),
    "pod twice": (
        TWO_NODES,
        PODS + "p,1,1,0,0,,\nq,1,1,0,0,,\np,1,1,0,0,,\n",
        r"pods\.csv: line 4: pod 'p' is listed above: keep one of them",
    ),
    "node twice": (
        NODES + "n,1,1,0,\nn,2,1,0,\n",
        PODS + "p,1,1,0,0,,\n",
        r"nodes\.csv: line 3: node 'n' is listed above",
    ),
    "two nodes": (
        TWO_NODES,
        TWO_NODES,
        r"both are lists of nodes: give one of pods too, with the columns name,",
    ),
    "two pods": (PODS, PODS, r"both are lists of pods: give one of nodes too, with the columns sn,"),
}


@pytest.mark.parametrize(("nodes", "pods", "pattern"), BAD.values(), ids=BAD)
def test_bad_lists(tmp_path: Path, nodes: str, pods: str, pattern: str) -> None:
    with pytest.raises(InstanceError) as raised:
        read("openb", write(tmp_path, nodes, pods))
    message = str(raised.value)
    assert message.isprintable()
    assert re.search(pattern, message), message


def test_formats(tmp_path: Path) -> None:
    with pytest.raises(InstanceError, match=r"there is no format 'opnb': did you mean 'openb'\? .known: .*openb"):
        read("opnb", [])
    with pytest.raises(InstanceError, match="openb takes two files, a node list and a pod list: 1 given"):
        read("openb", write(tmp_path, NODES, PODS)[:1])
    with pytest.raises(InstanceError, match="there is no such file"):
        read("openb", [tmp_path / "a.csv", tmp_path / "b.csv"])
    assert len({known.name for known in FORMATS}) == len(FORMATS)
    assert all(known.summary and known.files for known in FORMATS)
