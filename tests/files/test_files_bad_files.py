"""Files that are missing, unreadable, huge or nonsense: one line each, and soon."""

import io
import json
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drfopt.base.errors import InstanceError
from drfopt.io.native import reading
from drfopt.io.text import files
from drfopt.model.instance import Instance

POOL = "[capacity]\ncpu = 9\ngpu = 2\nmemory = 18\n"
A = '[[users]]\nname = "A"\ndemand = { cpu = 1 }\n'
JSON_USER = '"users": [{"name": "A", "demand": {"cpu": 1}}]'
YAML_USERS = "users: [{name: A, demand: {cpu: 1}}]\n"

FILES = {
    "empty": ("cluster.toml", b"", "is empty: 'drfopt new' prints"),
    "blank": ("cluster.yaml", b" \n\n", "is empty: 'drfopt new' prints"),
    "binary": ("cluster.toml", b"\x7fELF\x02\x01\x01\x00\x00\x00", r"line 1 holds a zero byte"),
    "latin-1": (
        "cluster.toml",
        b'name = "a"\nsource = "caf\xe9"\n',
        r"line 2 is not text in UTF-8 \(byte 0xe9\)",
    ),
    "parquet": ("users.parquet", b"PAR1\x15\x04", r"is Parquet: users in tables are read by 'drfopt solve --cluster'"),
    "utf-16": ("cluster.json", "{}".encode("utf-16"), r"line 1 is not text in UTF-8"),
    "suffix": ("cluster.tml", b"a = 1", r"the suffix '.tml' is not known: use .*: did you mean '.toml'\?"),
    "no suffix": ("cluster", b"a = 1", r"the name has no suffix: use .toml, .json, .yaml, .yml"),
}


@pytest.mark.parametrize(("name", "data", "pattern"), FILES.values(), ids=FILES)
def test_bad_files(tmp_path: Path, error_of: Callable, name: str, data: bytes, pattern: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    assert re.search(pattern, error_of(path))


def test_missing_files(tmp_path: Path, error_of: Callable) -> None:
    (tmp_path / "cluster.toml").write_text(POOL + A)
    assert error_of(tmp_path / "clutser.toml").endswith("there is no such file: did you mean 'cluster.toml'?")
    assert "the folder" in error_of(tmp_path / "nowhere" / "cluster.toml")
    assert error_of(tmp_path).endswith("is a folder: name a file in it")
    assert error_of("") == ".: is this folder, and so is an empty name: name a file in it"
    assert "cannot be read" in error_of("a\0b.toml")
    assert "cannot be read" in error_of(tmp_path / ("a" * 5000 + ".toml"))
    assert "cannot be read" in error_of(tmp_path / "cluster.toml" / "more.toml")
    strange = error_of(tmp_path / "two\nlines.toml")
    assert "two\\nlines" in strange


def test_permission(tmp_path: Path, error_of: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cluster.toml"
    path.write_text(POOL + A)

    def refuse(self: Path, *mode: str) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    assert "cannot be read (Permission denied): check its name and its permissions" in error_of(path)


def test_too_large(tmp_path: Path, error_of: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cluster.toml"
    path.write_text(POOL + A)
    monkeypatch.setattr(files, "LARGEST", 10)
    assert "is larger than" in error_of(path)


def test_standard_input(error_of: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    def typed(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    for content in (POOL + A, "# a comment\n\n" + POOL + A, A.replace("1", "3.0") + POOL):
        typed(content.encode())
        assert Instance.load("-").resources == ("cpu", "gpu", "memory")
    for content in (
        '\ufeff {"capacity": {"cpu": 1},' + JSON_USER + "}",
        "capacity: {cpu: 1}\n" + YAML_USERS,
        "---\n" + YAML_USERS + "capacity:\n  cpu: 1\n",
        '"name": "a = b"\ncapacity: {cpu: 1}\n' + YAML_USERS,
    ):
        typed(content.encode())
        assert Instance.load("-").resources == ("cpu",)
    typed(b"")
    assert error_of("-") == "standard input: is empty: 'drfopt new' prints an instance file to start from"
    typed(b"\xff")
    assert error_of("-").startswith("standard input: line 1 is not text in UTF-8")
    typed(b"[1, 2]")
    assert error_of("-").startswith("standard input: holds a list")
    for heading in (b"[capacity", b"[[users]", b"['users'"):
        typed(heading + b"\ncpu = 1\n")
        assert error_of("-").endswith("correct the TOML there")
    monkeypatch.setattr(sys, "stdin", None)
    assert error_of("-") == "standard input: is closed: name a file instead"


def test_long_names_stay_on_a_short_line() -> None:
    with pytest.raises(InstanceError) as raised:
        reading.loads(POOL + A.replace("cpu", "x" * 10**5), "toml")
    assert len(str(raised.value)) < 700


def test_unknown_format() -> None:
    with pytest.raises(
        InstanceError, match=r"there is no format 'tomml': did you mean 'toml'\? .known: json, toml, yaml"
    ):
        reading.loads(POOL, "tomml")


BULK = 4 * 10**6
# A beginning, what is repeated after it until 4 MB are full; anything quadratic would take hours.
NONSENSE = {
    "letters": ("", "a"),
    "brackets": ("", "["),
    "braces": ("", "{"),
    "lists in a key": ("users = ", "["),
    "tables in tables": ("", '{"a":'),
    "digits": ("", "1"),
    "dots": ("", "a."),
    "quotes": ("", '"'),
    "escaped quotes": ("", '\\"'),
    "escapes": ('name = "', "\\n"),
    "dashes": ("", "- "),
    "question marks": ("", "? "),
    "colons": ("", ": "),
    "anchors": ("", "&a "),
    "one-letter lines": ("", "a\n"),
    "hashes": ("", "#"),
    "a bit of all": ("", "abc[]{}=:.,'\"#\n -_019\\"),
}


@pytest.mark.parametrize("form", [pytest.param("toml", marks=pytest.mark.slow), "json", "yaml"])
def test_megabytes_of_nonsense(form: str) -> None:
    for name, (beginning, again) in NONSENSE.items():
        content = beginning + again * (BULK // len(again))
        start = time.process_time()
        with pytest.raises(InstanceError):
            reading.loads(content, form)
        assert time.process_time() - start < 60, name


def test_a_million_wrong_entries_are_one_error() -> None:
    users = ",".join(["1"] * 10**6)
    with pytest.raises(InstanceError, match=r"users\[0\] is 1"):
        reading.loads(f'{{"capacity": {{"cpu": 1}}, "users": [{users}]}}', "json")


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["1/3", "4Gi", "A"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "name",
                    "users",
                    "machines",
                    "capacity",
                    "demand",
                    "weight",
                    "max_tasks",
                    "count",
                    "cpu",
                    "x",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@given(JUNK)
def test_wrong_types_anywhere(junk: object) -> None:
    try:
        reading.loads(json.dumps(junk), "json")
        reading.loads(json.dumps(junk), "yaml")
    except InstanceError as error:
        assert str(error).isprintable()


@given(st.text(), st.sampled_from(["toml", "json", "yaml", None]))
def test_any_text(content: str, form: str | None) -> None:
    try:
        reading.loads(content, form)
    except InstanceError as error:
        assert str(error).isprintable()


@given(st.binary(max_size=40))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.getbasetemp()
    path = folder / f"any-{os.getpid()}.toml"
    path.write_bytes(data)
    try:
        Instance.load(path)
    except InstanceError as error:
        assert str(error).isprintable()
