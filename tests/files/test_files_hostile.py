"""Files that nobody should write, given to every reader: one line, in bounded time, and never another exception."""

import gzip
import json
import random
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kubernetes_objects import node, pod

from drfopt.base.errors import InstanceError
from drfopt.io.readers.asking import read
from drfopt.io.readers.formats import FORMATS

NAMES = [row.name for row in FORMATS if row.name != "openb"]

BOMB = '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "' + "&a;" * 1000 + '">]><allocations>&b;</allocations>'
HOSTILE = {
    "empty": b"",
    "blank": b" \n\n",
    "zero bytes": b"\0" * 1000,
    "a zero byte": b'{"kind": "Pod\0"}',
    "latin": "{'größe': 1}".encode("latin-1"),
    "utf-16": '{"kind": "Pod"}'.encode("utf-16"),
    "deep json": b"[" * 10**6,
    "deep json objects": b'{"a":' * 10**6,
    "deep yaml": b"- " * 10**5,
    "deep flow yaml": b"a: " + b"[" * 10**6,
    "deep xml": b"<a>" * 10**6,
    "entities": BOMB.encode(),
    "yaml aliases": b"a: &a [x]\nb: &b [*a, *a]\n",
    "huge number": b'{"kind": "Node", "status": {"allocatable": {"cpu": 1' + b"0" * 10**5 + b"}}}",
    "huge exponent": b'{"kind": "Node", "status": {"allocatable": {"cpu": 1e999999999}}}',
    "one long line": b"x" * 10**6,
    "many columns": b"," * 10**5,
    "pipes": b"|" * 10**5,
    "quotes": b'"' * 99_999,
    "gzip": gzip.compress(b"0" * 10**6),
    "broken gzip": gzip.compress(b"words")[:-6],
    "zip": b"PK\x03\x04" + bytes(range(256)),
    "scalar": b"42",
    "list of numbers": b"[1, 2, 3]",
    "nulls": b"[null, null]",
    "documents": b"---\n" * 1000,
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_one_line(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    began = time.process_time()
    with pytest.raises(InstanceError) as raised:
        read(name, [path])
    message = str(raised.value)
    assert message.isprintable()
    assert len(message) < 2000
    assert time.process_time() - began < 60


@pytest.mark.parametrize("name", NAMES)
def test_no_file_at_all(tmp_path: Path, name: str) -> None:
    for path in (tmp_path, tmp_path / "none", "", "a\0b"):
        with pytest.raises(InstanceError):
            read(name, [path])
    with pytest.raises(InstanceError, match="no files are given"):
        read(name, [])


def test_a_small_gzip_that_fills_the_memory_is_refused(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("drfopt.io.text.files.LARGEST", 10**6)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b" " * 10**7))
    with pytest.raises(InstanceError, match="MiB when unpacked"):
        read("csv", [path])


LIST = {
    "kind": "List",
    "items": [
        node("n0", labels={"zone": "a"}, taints=[{"key": "k", "effect": "NoSchedule"}]),
        pod("p", nodeSelector={"zone": "a"}, tolerations=[{"operator": "Exists"}], on="n0", overhead={"cpu": "1"}),
        {"kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "a"}, "spec": {"hard": {"cpu": "4"}}},
        {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "ClusterQueue",
            "metadata": {"name": "A"},
            "spec": {
                "cohortName": "c",
                "resourceGroups": [{"flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": "4"}]}]}],
            },
        },
        {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "Queue",
            "metadata": {"name": "v"},
            "spec": {"weight": 1},
        },
        {
            "apiVersion": "scheduling.run.ai/v2",
            "kind": "Queue",
            "metadata": {"name": "r"},
            "spec": {"resources": {"cpu": {"quota": 1}}},
        },
        {"kind": "ElasticQuota", "metadata": {"name": "e", "namespace": "a"}, "spec": {"min": {"cpu": 1}}},
        {
            "kind": "ConfigMap",
            "metadata": {"name": "y"},
            "data": {"queues.yaml": "partitions: [{queues: [{name: root}]}]"},
        },
    ],
}
ODD = (None, True, -1, 0, 1e300, "x", "", [], {}, [None], {"a": None}, "1e400", "NaN", [[]], "\ud800")


def places(tree, path=()):
    """Yield the path of everything in a tree."""
    yield path
    steps = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in steps:
        yield from places(value, (*path, key))


def changed(tree, path, value):
    if not path:
        return value
    key, *rest = path
    copy = dict(tree) if isinstance(tree, dict) else list(tree)
    copy[key] = changed(tree[key], rest, value)
    return copy


@pytest.mark.parametrize("name", ["kubernetes", "kueue", "volcano", "yunikorn", "kai", "koordinator"])
def test_any_value_anywhere_is_an_instance_or_one_line(tmp_path: Path, name: str) -> None:
    random_state = random.Random(8)
    path = tmp_path / "list.json"
    every = list(places(LIST))
    for _ in range(250):
        tree = changed(LIST, random_state.choice(every), random_state.choice(ODD))
        path.write_text(json.dumps(tree), encoding="utf-8")
        try:
            read(name, [path])
        except InstanceError as error:
            assert str(error).isprintable()


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(NAMES),
    content=st.one_of(
        st.text(alphabet='{}[]":,|=<>/ \n-a1%.e', max_size=60),
        st.text(alphabet="user,machine|cpu=1\n", max_size=60),
        st.binary(max_size=60),
    ),
)
def test_any_text_is_refused_in_one_line(tmp_path: Path, name: str, content: str | bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InstanceError) as raised:
        read(name, [path])
    assert str(raised.value).isprintable()
