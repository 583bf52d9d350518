"""Mistakes in a TOML file: the error names the file, the place, the value and the remedy."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from drfopt import Instance, InstanceError, solve

POOL = "[capacity]\ncpu = 9\ngpu = 2\nmemory = 18\n"
A = '[[users]]\nname = "A"\ndemand = { cpu = 1 }\n'
B = '[[users]]\nname = "B"\n'
NODES = '[[machines]]\nname = "xl"\ncapacity = { cpu = 4 }\n'

TOML = {
    "resource": (
        POOL + A + B + "demand = { gpus = 1 }",
        r"user 'B' demands 'gpus', but the cluster has cpu, gpu, memory: did you mean 'gpu'\?",
    ),
    "key at the top": (POOL + A + "[user]\n", r"unknown key 'user': .*: did you mean 'users'\?"),
    "key of a user": (
        POOL + A + B + "demands = { cpu = 1 }",
        r"users\[1\] \('B'\): unknown key 'demands': .* did you mean 'demand'\?",
    ),
    "key of a machine": (
        NODES + "capacities = 3\n" + A,
        r"machines\[0\] \('xl'\): unknown key 'capacities'.* did you mean 'capacity'\?",
    ),
    "no demand": (POOL + B, r"users\[0\] \('B'\): the key 'demand' is missing: write a table"),
    "empty demand": (POOL + B + "demand = {}", r"user 'B' demands nothing: give it"),
    "zero demand": (POOL + B + "demand = { cpu = 0 }", r"user 'B' demands nothing"),
    "no name": (
        POOL + "[[users]]\ndemand = { cpu = 1 }",
        r"users\[0\]: the key 'name' is missing: write a text",
    ),
    "name is a number": (
        POOL + "[[users]]\nname = 7\ndemand = { cpu = 1 }",
        r"users\[0\]: name is 7: write a text in quotes",
    ),
    "empty name": (POOL + '[[users]]\nname = ""\ndemand = { cpu = 1 }', r"a user has an empty name"),
    "no users": (POOL, r"the key 'users' is missing: write a list of tables"),
    "empty users": ("users = []\n" + POOL, r"no users: list at least one"),
    "users a table": (POOL + "[users]\nA = 1", r"users is a table: write a list of tables"),
    "users a list of numbers": ("users = [1, 2]\n" + POOL, r"users\[0\] is 1: write a table with a name"),
    "no resources": ("[capacity]\n" + A, r"no resources: list at least one"),
    "both": (POOL + NODES + A, r"either a capacity .* or machines: give one of them, not both"),
    "neither": (A, r"either a capacity .* or machines: give one of them, not none"),
    "no machines": ("machines = []\n" + A, r"no machines: list at least one"),
    "two users": (POOL + A + A, r"user 'A' is listed twice"),
    "two machines": (NODES + NODES + A, r"machine class 'xl' is listed twice"),
    "not a number": (
        POOL + A + B + 'demand = { cpu = "four" }',
        r"users\[1\] \('B'\): demand of 'cpu': 'four' is not a number",
    ),
    "boolean": (POOL + B + "demand = { cpu = true }", r"demand of 'cpu': true is not a number"),
    "date": (POOL + B + "demand = { cpu = 2020-02-02 }", r"demand of 'cpu': .*2020.* is not a number"),
    "list": (POOL + B + "demand = { cpu = [1] }", r"demand of 'cpu': a list is not a number"),
    "table": ("capacity.gpu.a = 1\n" + A, r"capacity of 'gpu': a table is not a number"),
    "negative": (
        POOL + B + "demand = { cpu = -1 }",
        r"user 'B': demand of 'cpu' is -1: it must not be negative",
    ),
    "negative fraction": (POOL + B + 'demand = { cpu = "-1/3" }', r"is -1/3: it must not be negative"),
    "by zero": (POOL + B + 'demand = { cpu = "1/0" }', r"'1/0' divides by zero"),
    "infinite": (POOL + B + "demand = { cpu = inf }", r"Infinity is not finite: write a finite number"),
    "nan": (POOL + B + "demand = { cpu = -nan }", r"NaN is not finite: write a finite number"),
    "exponent": (POOL + B + "demand = { cpu = 1e999999999 }", r"1E\+999999999 is beyond the range"),
    "exponent of a text": (
        POOL + B + 'demand = { cpu = "1e999999999" }',
        r"'1e999999999' is beyond the range",
    ),
    "exponent of many digits": (
        POOL + B + f"demand = {{ cpu = 1e{'9' * 30} }}",
        r"line 7, column 18: 1e9+ is no number",
    ),
    "beyond floats": (
        POOL + B + f"demand = {{ cpu = 1{'0' * 350} }}",
        r"about 1e\+350, outside the range of floats",
    ),
    "guarantee beyond floats": (
        POOL + B + 'demand = { cpu = 1 }\nguarantee = { cpu = "1e400" }',
        r"user 'B': guarantee of 'cpu' is about 1e\+400, outside the range of floats",
    ),
    "ceiling beyond floats": (
        POOL + B + 'demand = { cpu = 1 }\nceiling = { cpu = "1e400" }',
        r"user 'B': ceiling of 'cpu' is about 1e\+400, outside the range of floats",
    ),
    "group beyond floats": (
        POOL + B + 'demand = { cpu = 1 }\ngroup = "g"\n[[groups]]\nname = "g"\nweight = "1e400"\n',
        r"group 'g': weight is about 1e\+400, outside the range of floats",
    ),
    "hexadecimal": (POOL + B + f"demand = {{ cpu = 0x{'f' * 390} }}", r"outside the range of floats"),
    "many digits": (
        POOL + B + f"demand = {{ cpu = {'1' * 10**6} }}",
        r"line 7, column 18: a word of 1000000 characters",
    ),
    "many decimals": (
        POOL + B + f"demand = {{ cpu = 0.{'1' * 10**6} }}",
        r"line 7, column 20: a word of 1000000 characters",
    ),
    "many digits in quotes": (POOL + B + f'demand = {{ cpu = "{"1" * 10**6}" }}', r"too long for a number"),
    "weight for another": (
        POOL + A + "weight = { gpus = 1 }",
        r"user 'A': weight names 'gpus'.* did you mean 'gpu'\?",
    ),
    "weight in words": (POOL + A + 'weight = { cpu = "much" }', r"weight of 'cpu': 'much' is not a number"),
    "limit": (POOL + A + "max_tasks = -2", r"user 'A': max_tasks is -2: it must not be negative"),
    "no limit": (POOL + A + "max_tasks = inf", r"max_tasks: Infinity is not finite.*leave max_tasks out"),
    "classes without machines": (
        POOL + A + 'machines = ["xl"]',
        r"user 'A' lists machines, but the cluster is one pool",
    ),
    "unknown class": (
        NODES + A + 'machines = ["xxl"]',
        r"user 'A' may use machine class 'xxl', but the cluster has xl: did you mean 'xl'\?",
    ),
    "class without list": (NODES + A + 'machines = "xl"', r"machines is 'xl': write a list"),
    "class a number": (NODES + A + "machines = [1]", r"machines\[0\] is 1: write the name"),
    "count of zero": (
        NODES + "count = 0\n" + A,
        r"machine class 'xl': count is 0: write a whole number, 1 or more",
    ),
    "count beyond counting": (
        NODES + f"count = {2**53 + 1}\n" + A,
        r"machine class 'xl': count is 9007199254740993: write at most 9,007,199,254,740,992$",
    ),
    "count of a half": (
        NODES + "count = 0.5\n" + A,
        r"machines\[0\] \('xl'\): count: 0.5 is not a whole number",
    ),
    "count of letters": (
        NODES + 'count = "x"\n' + A,
        r"machines\[0\] \('xl'\): count: 'x' is not a number: write 1, 2, 3 \.\.\.$",
    ),
    "guarantee of what is not there": (
        POOL + A + "guarantee = { cpus = 1 }",
        r"user 'A': guarantee names 'cpus', but the cluster has .*did you mean 'cpu'\?",
    ),
    "guarantee above ceiling": (
        POOL + A + "guarantee = { cpu = 2 }\nceiling = { cpu = 1 }",
        r"user 'A' is guaranteed 2 of 'cpu', but its ceiling is 1: lower",
    ),
    "ceiling a number": (POOL + A + "ceiling = 1", r"users\[0\] \('A'\): ceiling: 1 is no table"),
    "tier of a half": (POOL + A + "tier = 1.5", r"tier is 1.5: write a whole number"),
    "tier far away": (POOL + A + "tier = 10000000000000000", r"tier is 10000000000000000: write .* from -9,.* to 9,"),
    "group without name": (POOL + A + 'group = "a//b"', r"the group of user 'A' is called 'a//b': write its path"),
    "group not listed": (
        POOL + A + 'group = "eng/de"\n[[groups]]\nname = "eng/dev"',
        r"user 'A' is in group 'eng/de', but the groups are eng, eng/dev: did you mean 'eng/dev'\?",
    ),
    "group twice": (POOL + A + '[[groups]]\nname = "a"\n' * 2, r"group 'a' is listed twice"),
    "group with unknown key": (
        POOL + A + '[[groups]]\nname = "a"\nweigth = 1',
        r"groups\[0\] \('a'\): unknown key 'weigth': .*did you mean 'weight'\?",
    ),
    "meaning of guarantees": ('guarantees = "flor"\n' + POOL + A, r"guarantees is 'flor': write one of \"floor\""),
    "everything excluded": (
        'excluded = ["cpu", "memory", "gpu"]\n' + POOL + A,
        r"every resource is excluded from the shares: leave one in",
    ),
    "excluded and not there": ('excluded = ["gpus"]\n' + POOL + A, r"excluded names 'gpus', .*did you mean 'gpu'\?"),
    "weight of 0 for one resource": (POOL + A + "weight = { cpu = 0 }", r"user 'A': weight of 'cpu' is 0: weights per"),
    "demand and tasks": (POOL + A + "tasks = [{ demand = { cpu = 1 }, count = 30 }]", r"both 'demand' and 'tasks'"),
    "neither demand nor tasks": (POOL + B, r"users\[0\] \('B'\): the key 'demand' is missing: write a table"),
    "no types": (POOL + B + "tasks = []", r"users\[0\] \('B'\): tasks is an empty list: list at least one type"),
    "type without count": (
        POOL + B + "tasks = [{ demand = { cpu = 1 } }]",
        r"users\[0\] \('B'\): tasks\[0\]: the key 'count' is missing: write a whole number",
    ),
    "type with unknown key": (
        POOL + B + "tasks = [{ demand = { cpu = 1 }, cuont = 1 }]",
        r"users\[0\] \('B'\): tasks\[0\]: unknown key 'cuont': .*did you mean 'count'\?",
    ),
    "type of zero tasks": (
        POOL + B + "tasks = [{ demand = { cpu = 1 }, count = 0 }]",
        r"user 'B': tasks\[0\]: count is 0: write a whole number, 1 or more",
    ),
    "type of more tasks than are counted": (
        POOL + B + "tasks = [{ demand = { cpu = 1 }, count = 1" + "0" * 30 + " }]",
        r"user 'B': tasks\[0\]: count is 1e\+30: write at most 9,007,199,254,740,992$",
    ),
    "type that needs nothing": (
        POOL + B + "tasks = [{ demand = { cpu = 1 }, count = 1 }, { demand = { cpu = 0 }, count = 1 }]",
        r"user 'B': tasks\[1\] demands nothing",
    ),
    "type in words": (
        POOL + B + 'tasks = [{ demand = { cpu = "much" }, count = 1 }]',
        r"users\[0\] \('B'\): tasks\[0\].demand of 'cpu': 'much' is not a number",
    ),
    "type with machines in a pool": (
        POOL + B + 'tasks = [{ demand = { cpu = 1 }, count = 1, machines = ["xl"] }]',
        r"user 'B': tasks\[0\] lists machines, but the cluster is one pool",
    ),
    "type on an unknown class": (
        NODES + B + 'tasks = [{ demand = { cpu = 1 }, count = 1, machines = ["xxl"] }]',
        r"user 'B' may use machine class 'xxl', but the cluster has xl: did you mean 'xl'\?",
    ),
    "key twice": (POOL + "cpu = 1\n" + A, r"line 5, column 8: a key is written twice"),
    "single brackets twice": (POOL + "[users]\nname = 1\n[users]\n", r"line 7, column 7: .*double brackets"),
    "single brackets beside double ones": (
        POOL + "[users]\nname = 1\n[[users]]\n",
        r"line 7, column 8: users is there already: .*\[\[users\]\]",
    ),
    "quantity without quotes": (
        "[capacity]\nmemory = 64Gi\n",
        r"line 2, column 12: .*\"4Gi\" .*stand in quotes",
    ),
    "parts": (POOL + "a." * 10**5 + "b = 1", r"line 5, column 1: a dotted key of more than 8 parts"),
    "nesting": ("users = " + "[" * 10**6, r"nested deeper than 32 levels"),
    "unclosed": ('name = "A\n', r"line 1, column 10: .*correct the TOML there"),
}


@pytest.mark.parametrize(("content", "pattern"), TOML.values(), ids=TOML)
def test_bad_toml(tmp_path: Path, error_of: Callable, content: str, pattern: str) -> None:
    path = tmp_path / "cluster.toml"
    path.write_text(content, encoding="utf-8")
    message = error_of(path)
    assert message.startswith(f"{path}: ")
    assert re.search(pattern, message), message


def read(folder: Path, text: str) -> Instance:
    (folder / "x.toml").write_text(text)
    return Instance.load(folder / "x.toml")


@pytest.mark.parametrize(
    "devices, words",
    [
        ("{ count = 4, sizes = 1 }", "unknown key 'sizes': the keys here are count, size: did you mean 'size'?"),
        ("{ count = 4 }", "the key 'size' is missing: write 8, or { count = 8, size = 1 }"),
    ],
)
def test_a_key_of_devices_that_is_wrong_is_named(tmp_path: Path, devices: str, words: str) -> None:
    text = f'machines = [{{ name = "m", capacity = {{ gpu = 5 }}, devices = {{ gpu = {devices} }} }}]\n'
    with pytest.raises(InstanceError, match=re.escape(words)):
        read(tmp_path, text + 'users = [{ name = "A", demand = { gpu = 1 } }]')


def test_a_tier_may_be_as_large_as_files_keep_a_whole_number(tmp_path: Path) -> None:
    text = 'capacity = { cpu = 9 }\nusers = [{ name = "A", demand = { cpu = 1 }, tier = %d }]'
    assert solve(read(tmp_path, text % 2_000_000_000)).tasks == [9]
    with pytest.raises(InstanceError, match=f"from {-(2**53):,} to {2**53:,}"):
        read(tmp_path, text % 2**60)
