"""What is saved reads back equal, to the last digit and the oddest name, in the three formats."""

import json
import tomllib
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from drfopt.base.errors import InstanceError
from drfopt.io.native import reading as reader
from drfopt.io.native import writing as writer
from drfopt.io.text import yaml_xml
from drfopt.model.document import document as instance_document
from drfopt.model.instance import Instance
from drfopt.model.machine import Machine
from drfopt.model.organisation import MEANINGS, Group, Organisation
from drfopt.model.users import TaskType

FORMATS = ("toml", "json", "yaml")

ODD = [
    "a.b", 'q"u"o\'t\'e', "back\\slash", "new\nline", "\r\n", "\t", "\x00", "\x7f", "\x85", "\u2028",
    "\ufeff", "日本", "😀", "\uffff", " lead", "trail ", "#hash", "a: b", "- x", "[x]", "{x}", "&a", "*a",
    "!t", "%d", "@", "`", "|", ">", "null", "~", "true", "no", "1", "1e5", "010", ".5e3", "1_000", "0x1f",
    "1:30", ".inf", ".NaN", "<<", "=", "2020-01-01", "nvidia.com/gpu", "users", "x" * 500, "1" * 500,
]  # fmt: skip

NAMES = st.sampled_from(ODD) | st.text(min_size=1, max_size=8)
POSITIVE = (
    st.integers(1, 50)
    | st.fractions(Fraction(1, 1000), 1000, max_denominator=10**9)
    | st.floats(1e-9, 1e9)
    | st.decimals(Decimal("0.001"), 1000, places=25)
    | st.sampled_from([2**53 + 1, 2**63, 10**20 + 1, "1/3", "500m", "64Gi", 0.1, 1e22, 1e-7])
)
AMOUNT = POSITIVE | st.just(0)


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    """Any instance: pool or machines, weights of either kind, limits, eligibility, odd names."""
    users = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    resources = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    n, m = len(users), len(resources)

    def row(values: st.SearchStrategy) -> list:
        return draw(st.lists(values, min_size=m, max_size=m))

    demands = [row(AMOUNT) for _ in users]
    for demand in demands:
        demand[draw(st.integers(0, m - 1))] = draw(POSITIVE)
    rest: dict = {"name": draw(NAMES | st.just("")), "source": draw(NAMES | st.just(""))}
    if draw(st.booleans()):
        names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
        rest["machines"] = [
            Machine(name, dict(zip(resources, row(AMOUNT), strict=True)), draw(st.integers(1, 5))) for name in names
        ]
        listed = st.none() | st.lists(st.sampled_from(names), unique=True)
        rest["eligible"] = {user: draw(listed) for user in users}
    else:
        rest["capacity"] = row(AMOUNT)
    weights = draw(st.sampled_from(["none", "scalar", "table"]))
    if weights != "none":
        rest["weights"] = [draw(POSITIVE) if weights == "scalar" else row(POSITIVE) for _ in users]
    if draw(st.booleans()):
        rest["max_tasks"] = draw(st.lists(st.none() | AMOUNT, min_size=n, max_size=n))
    if draw(st.booleans()):
        demands[draw(st.integers(0, n - 1))] = [
            TaskType(dict(zip(resources, row(POSITIVE), strict=True)), draw(st.integers(1, 5)), name=draw(NAMES))
            for _ in range(draw(st.integers(1, 3)))
        ]
    if draw(st.booleans()):
        rest["organisation"] = draw(organisations(users, resources))
    return Instance(demands, users=users, resources=resources, **rest)


@st.composite
def organisations(draw: st.DrawFn, users: list[str], resources: list[str]) -> Organisation:
    """Promises to some users and groups; a ceiling only where there is no guarantee that it could contradict."""
    paths = st.sampled_from(["", "a", "a/b", "c/d/e"])
    amounts = st.dictionaries(st.sampled_from(resources), AMOUNT, max_size=2)
    groups = [
        Group(name, draw(AMOUNT), draw(amounts), {}, draw(st.integers(-2, 2)))
        for name in draw(st.sampled_from([(), ("a", "a/b", "c/d/e"), ("c/d/e", "a/b")]))
    ]
    return Organisation(
        {users[0]: draw(amounts)},
        {user: draw(amounts) for user in users[1:]},
        {user: draw(st.integers(-2, 2)) for user in users},
        {user: draw(paths) for user in users},
        groups,
        draw(st.sampled_from(list(MEANINGS))),
        draw(st.sampled_from([(), tuple(resources[1:])])),
    )


@settings(max_examples=80)
@given(instances(), st.sampled_from(FORMATS))
def test_what_is_written_reads_back_equal(instance: Instance, form: str) -> None:
    written = writer.dumps(instance, form)
    assert reader.loads(written, form) == instance
    assert reader.loads(written) == instance, "the format is not recognised without its name"


@given(instances())
def test_other_readers_find_the_same_names(instance: Instance) -> None:
    users = list(instance.users)
    assert [user["name"] for user in tomllib.loads(writer.dumps(instance, "toml"))["users"]] == users
    assert [user["name"] for user in json.loads(writer.dumps(instance, "json"))["users"]] == users
    assert [user["name"] for user in yaml.safe_load(writer.dumps(instance, "yaml"))["users"]] == users


@pytest.mark.parametrize("suffix", [".toml", ".json", ".yaml", ".yml", ".TOML"])
def test_files(tmp_path: Path, suffix: str) -> None:
    instance = Instance({"A": {"cpu": "1/3", "日本": 0.1}}, {"cpu": 9, "日本": "4Gi"}, name="a", source="b")
    path = tmp_path / f"cluster{suffix}"
    instance.save(path)
    assert Instance.load(path) == instance == Instance.load(str(path))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert Instance.load(path) == instance
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert Instance.load(path) == instance


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("form", FORMATS)
def test_odd_names(name: str, form: str) -> None:
    machine = Machine(name, {name: 3, "other": 1})
    instance = Instance(
        {name: {name: 1}, "other": {"other": 2}}, machines=[machine], eligible={name: [name]}, name=name
    )
    assert reader.loads(writer.dumps(instance, form), form) == instance


@pytest.mark.parametrize("form", FORMATS)
def test_without_the_c_library(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(yaml, "CSafeDumper", raising=False)
    monkeypatch.setattr(yaml_xml, "LOADER", yaml.SafeLoader)
    for name in ODD:
        instance = Instance({name: {name: 1}}, {name: 0.5}, source=name)
        assert reader.loads(writer.dumps(instance, form), form) == instance
    for bad in ("a: [", "a: \x07", "{a: 1, a: 2}", "&a b", "- " * 10**4):
        with pytest.raises(InstanceError):
            reader.loads(bad, "yaml")


VALUES = {
    "1": Fraction(1),
    "0.1": Fraction(1, 10),
    "0.12345678901234567890123": Fraction("0.12345678901234567890123"),
    "1e3": Fraction(1000),
    "9007199254740993": Fraction(2**53 + 1),
    '"1/3"': Fraction(1, 3),
    '" 2 / 3 "': Fraction(2, 3),
    '"500m"': Fraction(1, 2),
    '"64Gi"': Fraction(64 * 2**30),
    '"0.1"': Fraction(1, 10),
    '"1E"': Fraction(10**18),
}


@pytest.mark.parametrize(("literal", "value"), VALUES.items())
def test_values_are_kept_exactly(literal: str, value: Fraction) -> None:
    texts = {
        "toml": f'capacity.cpu = {literal}\n[[users]]\nname = "A"\ndemand.cpu = {literal}\n',
        "json": f'{{"capacity": {{"cpu": {literal}}}, "users": [{{"name": "A", "demand": {{"cpu": {literal}}}}}]}}',
        "yaml": f"capacity:\n  cpu: {literal}\nusers:\n- name: A\n  demand:\n    cpu: {literal}\n",
    }
    for form, text in texts.items():
        instance = reader.loads(text, form)
        assert instance.exact_capacity == (value,)
        assert instance.exact_demands == ((value,),)


def test_document() -> None:
    instance = Instance(
        {"A": {"cpu": 1, "memory": 0.1}, "B": {"memory": "1/3"}},
        {"cpu": "0.1234567890123456789", "memory": 10**20},
        weights={"A": 2},
        max_tasks={"B": 5},
    )
    assert instance_document(instance) == {
        "capacity": {"cpu": "0.1234567890123456789", "memory": 1e20},
        "users": [
            {"name": "A", "demand": {"cpu": 1, "memory": 0.1}, "weight": 2},
            {"name": "B", "demand": {"memory": "1/3"}, "max_tasks": 5},
        ],
    }


def test_toml_is_pleasant_to_read() -> None:
    instance = Instance(
        {"A": {"cpu": 1, "memory": 10}, "B": {"cpu": 1}},
        machines=[Machine("xl", {"cpu": 4, "memory": 14}, 48), Machine("s", {"cpu": 1, "memory": 2})],
        eligible={"A": ["xl"]},
        weights={"B": {"cpu": 2}, "A": {}},
        name="two",
    )
    assert (
        writer.dumps(instance)
        == """\
name = "two"

[[machines]]
name = "xl"
count = 48
capacity = { cpu = 4, memory = 14 }

[[machines]]
name = "s"
capacity = { cpu = 1, memory = 2 }

[[users]]
name = "A"
demand = { cpu = 1, memory = 10 }
weight = { cpu = 1, memory = 1 }
machines = ["xl"]

[[users]]
name = "B"
demand = { cpu = 1 }
weight = { cpu = 2, memory = 1 }
"""
    )


def test_more_digits_than_a_file_may_hold() -> None:
    long = Fraction(3**1000, 3**1000 + 1)
    with pytest.raises(InstanceError, match=r"user 'A' has an amount near 1 with more than 400 digits: round it first"):
        writer.dumps(Instance({"A": {"cpu": long}}, {"cpu": 1}))


def test_unknown_formats(tmp_path: Path) -> None:
    instance = Instance.library("nsdi2011")
    with pytest.raises(InstanceError, match=r"the suffix '\.jsn' is not known: .*did you mean '\.json'"):
        instance.save(tmp_path / "a.jsn")
    with pytest.raises(InstanceError, match=r"there is no format 'yml': .*did you mean 'yaml'"):
        writer.dumps(instance, "yml")
    with pytest.raises(InstanceError, match=r"U\+D800, half of a pair"):
        Instance({"\ud800": {"cpu": 1}}, {"cpu": 1}).save(tmp_path / "a.toml")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("limit", [0, Fraction(10, 3), 20], ids=str)
def test_a_limit_at_or_above_a_ceiling_is_kept(limit: Fraction) -> None:
    asked = Organisation(ceilings={"A": {"cpu": 10 if limit else 0}})
    instance = Instance({"A": {"cpu": 3}, "B": {"cpu": 1}}, {"cpu": 99}, max_tasks=[limit, None], organisation=asked)
    assert instance.exact_limits == (min(limit, Fraction(10, 3)), None)
    again = reader.loads(writer.dumps(instance))
    assert again == instance
    assert again.max_tasks == (limit, None)
