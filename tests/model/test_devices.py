"""Devices of machines: the key, what fits on them, and bin packing against trying everything."""

import json
from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drfopt import Instance, InstanceError, Machine, solve
from drfopt.base.deadline import Deadline
from drfopt.certificates import feasibility
from drfopt.certificates.document import certificate_document
from drfopt.certificates.feasibility import exactly_feasible
from drfopt.certificates.verifier import verify
from drfopt.engines.reference.device_by_device import fit_together
from drfopt.io.native import reading, writing
from drfopt.model.devices import DeviceRoom
from drfopt.model.machine import Devices
from drfopt.model.packings import dealt, maximal_patterns, most_alone
from drfopt.planning.changes import changed

FILE = """
[[machines]]
name = "node"
count = 2
capacity = { cpu = 16, gpu = 8 }
KEY

[[users]]
name = "A"
demand = { cpu = 1, gpu = 0.5 }
"""


def cluster(demands, gpu=2, devices=None, count=1):
    return Instance(
        {f"u{i}": {"gpu": d} for i, d in enumerate(demands, 1)},
        machines=[Machine("node", {"gpu": gpu}, count, {"gpu": devices or gpu})],
    )


@pytest.mark.parametrize("format", ["toml", "json", "yaml"])
@pytest.mark.parametrize(
    "key, expected",
    [
        ("devices = { gpu = 8 }", Devices(8, F(1))),
        ("devices = { gpu = 4 }", Devices(4, F(2))),
        ('devices = { gpu = "16" }', Devices(16, F(1, 2))),
        ("devices = { gpu = { count = 7, size = 1 } }", Devices(7, F(1))),
    ],
)
def test_a_file_with_devices_comes_back(format, key, expected):
    instance = reading.loads(FILE.replace("KEY", key))
    assert instance.machines[0].devices == {"gpu": expected}
    again = reading.loads(writing.dumps(instance, format), format)
    assert again == instance and again.machines[0].devices == {"gpu": expected}
    assert Instance(**instance.parts()) == instance
    assert instance != reading.loads(FILE.replace("KEY", ""))


def test_one_unit_on_each_device_where_the_capacity_does_not_say():
    instance = Instance({"A": {"gpu": 1}}, machines=[Machine("m", {"cpu": 4}, devices={"gpu": 8})])
    assert instance.resources == ("cpu", "gpu") and instance.capacity.tolist() == [4, 8]
    assert instance.machines[0].devices == {"gpu": Devices(8, F(1))}


@pytest.mark.parametrize(
    "key, message",
    [
        ("device = { gpu = 8 }", r"unknown key 'device': .*did you mean 'devices'\?"),
        ("devices = { gpus = 8 }", r"'node' has devices of 'gpus', .*did you mean 'gpu'\?"),
        ("devices = { gpu = 0 }", r"devices of 'gpu': their number is 0: write a whole number, 1 or more"),
        ("devices = { gpu = { count = 2, size = 0 } }", r"of 'gpu': size is 0: write what each of the 2 has, above 0"),
        ("devices = { gpu = 1.5 }", r"devices of 'gpu': 1.5 is not a whole number"),
        ("devices = { gpu = 'x' }", r"devices of 'gpu': 'x' is not a number: write 1, 2, 3 \.\.\.$"),
        ("devices = 8", r"devices: 8 is no table: write a table of resource and number of devices"),
        ("devices = { gpu = { count = 9, size = 1 } }", r"are 9 of 1 each, but the capacity is 8"),
        ("devices = { gpu = { count = 9 } }", r"devices of 'gpu': .* write 8, or \{ count = 8, size = 1 \}"),
        ("devices = { gpu = 20000 }", r"their number is 20000: write at most 10,000"),
    ],
)
def test_what_is_wrong_with_devices_is_named(key, message):
    with pytest.raises(InstanceError, match=message):
        reading.loads(FILE.replace("KEY", key))


def test_a_task_takes_a_part_of_one_device_or_whole_ones():
    instance = cluster(["0.5", 1, "1.5", 2, 3])
    assert instance.fits[:, 0].tolist() == [True, True, False, True, False]
    assert solve(instance).unplaced == ("u3", "u5")
    assert "pooled" in str(solve(instance)) and "pooled" not in str(solve(instance, integer=True))


def test_another_capacity_keeps_the_size_of_devices():
    instance = cluster([1], gpu=4)
    assert changed(instance, ["scale gpu=1.5"]).machines[0].devices == {"gpu": Devices(6, F(1))}
    more = changed(instance, ["set-capacity node/gpu=+10%"])
    assert more.machines[0].devices == {"gpu": Devices(4, F(1))} and more.capacity.tolist() == [4.4]
    assert changed(more, ["set-capacity node/gpu=2"]).machines[0].devices == {"gpu": Devices(2, F(1))}
    assert changed(instance, ["set-capacity node/gpu=0"]).machines[0].devices is None
    assert reading.loads(writing.dumps(more)) == more


PARTS = st.sampled_from([F(n, d) for d in (2, 3, 4, 5, 7) for n in range(1, d)] + [F(1), F(2), F(81, 100), F(47, 100)])


@given(st.lists(PARTS, min_size=1, max_size=4, unique=True), st.data(), st.integers(1, 4))
def test_bin_packing_is_what_trying_everything_says(sizes, data, count):
    load = [data.draw(st.integers(0, 3)) for _ in sizes]
    rows, room = [(size * 2,) for size in sizes], DeviceRoom({"gpu": Devices(count, F(2))}, ("gpu",), [])
    room = DeviceRoom({"gpu": Devices(count, F(2))}, ("gpu",), rows)
    expected = fit_together(rows, load, {0: (count, F(2))})
    assert room.fit(dict(enumerate(load))) is expected
    shared = room.deal(dict(enumerate(load)))
    assert (shared is not None) is expected
    if shared is not None:
        on = shared.get("gpu", [])
        entire = sum(size * x for size, x in zip(sizes, load, strict=True) if size >= 1)
        assert entire + len(on) <= count
        assert all(sum(sizes[i] * x for i, x in device.items()) <= 1 for device in on)
        for i, (size, x) in enumerate(zip(sizes, load, strict=True)):
            assert sum(device.get(i, 0) for device in on) == (x if size < 1 else 0)


def test_first_fit_is_not_the_last_word():
    # First fit, the largest first, needs three devices: 9 9 2, 7 5 5 and 5. Two are enough: 9 7 5 and 9 5 5 2.
    sizes = [9, 9, 7, 5, 5, 5, 2]
    parts = sorted(set(sizes))
    room = DeviceRoom({"gpu": Devices(2, F(21))}, ("gpu",), [(F(size),) for size in parts])
    load = {p: sizes.count(size) for p, size in enumerate(parts)}
    assert room.deal(load) is not None
    assert room.deal(load | {0: 2}) is None


def test_half_free_devices_do_not_add_up():
    instance = cluster(["0.6"], gpu=4)
    assert solve(instance).tasks.tolist() == pytest.approx([4 / 0.6])
    assert most_alone(instance, 0) == 4
    assert solve(instance, integer=True).tasks.tolist() == [4]
    assert maximal_patterns(cluster(["0.6", 1, "0.4"]), 0, [0, 1, 2]) == [
        {0: 2, 2: 2}, {0: 1, 1: 1, 2: 1}, {0: 1, 2: 3}, {1: 2}, {1: 1, 2: 2}, {2: 4},
    ]  # fmt: skip
    many = cluster(["0.6", 1, "0.4", "0.3"], gpu=5)
    assert maximal_patterns(many, 0, range(4))
    assert maximal_patterns(many, 0, range(4), Deadline.after(0)) is None


@pytest.mark.parametrize(
    "pattern, shared, message",
    [
        ({0: 3}, None, "its tasks do not fit on its devices"),
        ({0: 2}, {"gpu": [{0: 2}]}, r"6/5 of one 'gpu' is used"),
        ({0: 2}, {"gpu": [{0: 1}]}, r"not all 2 tasks of user 'u1' are on one 'gpu' each"),
        ({0: 2}, {"gpu": [{0: 1}, {0: 1}, {0: 0}]}, "0 whole 'gpu' and 3 shared ones are used, of 2"),
        ({0: 1, 1: 1}, {"gpu": [{0: 1}, {2: 0}]}, "1 whole 'gpu' and 2 shared ones are used"),
        ({0: 1}, {"gpu": [{0: -1}, {0: 2}]}, "a shared 'gpu' holds"),
        ({0: 1}, {"gpu": [{0: 1, 2: 1}]}, "a shared 'gpu' holds"),
        ({0: 2}, {"gpu": [{0: 1}, {0: 1}]}, ""),
        ({0: 1, 1: 1}, {"gpu": [{0: 1}]}, ""),
    ],
)
def test_devices_that_are_torn_are_seen(pattern, shared, message, monkeypatch):
    monkeypatch.setattr(feasibility, "dealt", lambda *_: [shared])
    instance = cluster(["0.6", 1, "0.4"], gpu=2, devices=2)
    tasks = [pattern.get(i, 0) for i in range(3)]
    found = exactly_feasible(instance, tasks, [(0, 1, pattern)])
    assert (message in found) if message else not found


def test_who_shares_a_device_is_in_the_proof():
    instance = cluster(["0.6", "0.4"], gpu=2, count=2)
    evidence = solve(instance, integer=True).certificate.evidence
    assert evidence.devices(instance) == dealt(instance, evidence.packing)
    assert exactly_feasible(instance, [4, 4], [(0, 2, {0: 2, 1: 2})]) == ""
    assert "do not fit on its devices" in exactly_feasible(instance, [6, 0], [(0, 2, {0: 3})])


def test_the_verifier_adds_devices_up():
    written = certificate_document(solve(cluster(["0.6", "0.4", 1], gpu=3, count=2), integer=True))

    def machines(at=0, **edit):
        data = json.loads(json.dumps(written))
        data["proof"]["packing"][at] |= edit
        return next(check for check in verify(data).checks if check.name == "machines")

    assert machines().holds
    at, entry = next((at, row) for at, row in enumerate(written["proof"]["packing"]) if "devices" in row)
    parts = {name: x for name, x in entry["tasks"].items() if name != "u3"}
    assert "are on one gpu each" in machines(at, devices={}).worst
    assert "of one gpu" in machines(at, devices={"gpu": [parts | {"u1": 2}]}).worst
    assert "devices of 3 gpu" in machines(at, devices={"gpu": [*entry["devices"]["gpu"], {}, {}, {}]}).worst
    assert "cannot be" in machines(at, devices={"gpu": [{"u1": -1}]}).worst
    written["instance"]["machines"][0]["device"] = {"gpu": 1}
    with pytest.raises(ValueError, match="'device' of a class of machines"):
        verify(written)
